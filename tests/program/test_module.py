"""lab3 for programs that import it."""

import ast
import inspect
import sys
import typing
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import lab3
from program import PLAIN, SCRIPT, run

PROJECT = SCRIPT.parent
PUBLIC = {name: getattr(lab3, name) for name in lab3.__all__}


def test_all_names_what_is_public():
    assert sorted(lab3.__all__) == sorted(set(lab3.__all__))
    defined = {
        name
        for name, value in vars(lab3).items()
        if (inspect.isfunction(value) or inspect.isclass(value)) and value.__module__ == "lab3"
    }
    assert {name for name in defined if not name.startswith("_")} <= set(lab3.__all__)
    assert not [name for name in lab3.__all__ if name.startswith("_")]


def test_what_is_public_has_a_docstring():
    for name, value in PUBLIC.items():
        if inspect.isfunction(value) or inspect.isclass(value):
            assert value.__doc__ and "\n\n\n" not in value.__doc__, name


def names_used(source):
    """The names of lab3 that a file imports or uses."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module == "lab3":
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) == "lab3":
            yield node.attr


def test_only_public_names_are_used_elsewhere():
    files = [*PROJECT.glob("report/*.py"), *PROJECT.glob("tests/**/*.py")]
    assert len(files) > 10
    for file in files:
        used = set(names_used(file.read_text(encoding="utf-8")))
        assert used <= {*lab3.__all__, "__all__", "__file__"}, file.name


def test_type_hints_can_be_read():
    for value in PUBLIC.values():
        if inspect.isfunction(value):
            assert "return" in typing.get_type_hints(value)
        if inspect.isclass(value):
            members = vars(value).values()
            for getter in [member.fget for member in members if isinstance(member, property)]:
                assert typing.get_type_hints(getter) == {"return": int}


def test_import_has_no_side_effects(tmp_path):
    code = """
import sys
before = set(sys.modules)
import lab3
print(*set(sys.modules) - before, file=sys.stderr)"""
    environment = {**PLAIN, "PYTHONPATH": str(PROJECT), "PYTHONDONTWRITEBYTECODE": "1"}
    result = run(command=[sys.executable, "-c", code], env=environment, cwd=tmp_path)
    imported = set(result.stderr.split())
    assert (result.returncode, result.stdout) == (0, "")
    assert "lab3" in imported
    # each would slow down every start
    assert not imported & {"argparse", "dataclasses", "difflib", "inspect", "json", "typing"}
    assert list(tmp_path.iterdir()) == []


def test_records_are_tuples_that_compare():
    assert lab3.ConvLayer(128, 3, 3, 3, 32, 32) == lab3.NETWORK[0]
    assert lab3.System() == lab3.SYSTEM
    assert hash(lab3.System(nodes=8)) == hash(lab3.SYSTEM._replace(nodes=8))


def test_a_list_is_as_good_as_a_tuple():
    for strategy in lab3.STRATEGIES.values():
        assert strategy(list(lab3.NETWORK), lab3.SYSTEM) == strategy(lab3.NETWORK, lab3.SYSTEM)


def test_one_input_is_the_default():
    for name, stages_of in lab3.STRATEGIES.items():
        stages = stages_of(lab3.NETWORK, lab3.SYSTEM)
        latency_of = getattr(lab3, f"{name}_parallel_latency")
        traffic_of = getattr(lab3, f"{name}_parallel_traffic")
        once = latency_of(lab3.NETWORK, lab3.SYSTEM, 1)
        assert once == latency_of(lab3.NETWORK, lab3.SYSTEM) == lab3.latency(stages, lab3.SYSTEM)
        once = traffic_of(lab3.NETWORK, lab3.SYSTEM, 1)
        assert once == traffic_of(lab3.NETWORK, lab3.SYSTEM) == lab3.traffic(stages)


# ------------------------------------------------ numbers as text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (100, "100"),
        (Fraction(1, 8), "0.125"),
        (Fraction(-1, 8), "-0.125"),
        (Fraction(1, 3), "0.33333333333333333"),
        (Fraction(2, 3), "0.66666666666666667"),
        (Fraction(10**20, 3), "33333333333333333000"),
        (Fraction(12345678901234567, 10**17), "0.12345678901234567"),  # 17 digits: exact
        (Fraction(123456789012345675, 10**18), "0.12345678901234568"),  # half, to even
        (Fraction(123456789012345665, 10**18), "0.12345678901234566"),
        (Fraction(1, 2) + Fraction(1, 10**30), "0.5"),
        (Fraction(1, 10**30), "0." + "0" * 29 + "1"),
    ],
)
def test_plain(value, text):
    assert lab3.plain(value) == text


def test_plain_rounds_to_the_digits_asked_for():
    assert [lab3.plain(Fraction(2, 3), digits) for digits in (1, 2, 5)] == [
        "0.7",
        "0.67",
        "0.66667",
    ]
    assert lab3.plain(99_999, 4) == "100000"


@given(st.fractions(min_value=0))
@example(Fraction(10**400, 7))
def test_plain_is_the_nearest_number_of_17_digits(value):
    text = lab3.plain(value)
    assert set(text) <= set("0123456789.")
    with localcontext() as context:
        context.prec = 2000
        shown = Decimal(text)
        assert len(shown.normalize().as_tuple().digits) <= 17
        last_digit = Fraction(10) ** (shown.adjusted() - 16) if value else 0
        assert abs(Fraction(shown) - value) <= last_digit / 2
