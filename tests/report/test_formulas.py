"""Every formula that lab3.py's docstrings and `explain` print, evaluated as it is printed and
compared with what is computed. tests/deck/test_formulas.py does so with the deck's."""

import re
from fractions import Fraction
from math import ceil

import pytest

pytest.importorskip("numpy")

import lab3
from formulas import evaluate
from machines import CLOSED_FORMS, LAB, ODD, ODD_ALL_TO_ALL, ODD_OPTIONS
from program import output
from report.derivations import LAYER_SIZES
from report.model import Model, compute_bound, slowest_node_bound

ONE_NODE = ODD._replace(network=ODD.network[:1], system=ODD.system._replace(nodes=1))
TWO_NODES = ODD._replace(network=ODD.network[:2], system=ODD.system._replace(nodes=2))
MACHINES = {"ring": ODD, "all-to-all": ODD_ALL_TO_ALL, "1 node": ONE_NODE, "2 nodes": TWO_NODES}
FUNCTIONS = [function for functions in CLOSED_FORMS.values() for function in functions]


def read_formulas(function):
    """Read a docstring's formulas by their names."""
    paragraphs = [" ".join(it.split()) for it in function.__doc__.split("\n\n")]
    return dict(it.split(" = ", 1) for it in paragraphs if re.match(r"\w+ = ", it))


def choose_case(formula, system):
    """Choose the case of a formula such as "1 all-to-all, P - 1 on a ring, 0 for a single node"."""
    cases = {}
    for case in formula.split(", "):
        value, name = re.fullmatch("(.*) (all-to-all|on a ring|for a single node)", case).groups()
        cases[name] = value
    name = {"ring": "on a ring"}.get(system.topology, system.topology)
    single = "for a single node"
    return cases[single if system.nodes == 1 and single in cases else name]


def evaluate_docstring(function, question):
    """Evaluate a docstring's first formula with what the others give."""
    formulas = read_formulas(function)
    first = formulas.pop(next(iter(formulas)))
    more = {
        name: evaluate(choose_case(formula, question.system), question)
        for name, formula in formulas.items()
    }
    return evaluate(first, question, **more)


@pytest.mark.parametrize("question", MACHINES.values(), ids=MACHINES)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda it: it.__name__)
def test_the_formulas_of_the_docstrings(function, question):
    for many in (1, question.inputs):
        asked = question._replace(inputs=many)
        assert evaluate_docstring(function, asked) == function(*asked)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("tensor_parallel_latency", "rounds * sum(S)", "2 * rounds * sum(S)"),
        ("tensor_parallel_latency", "P - 1 on a ring", "P on a ring"),
        ("tensor_parallel_traffic", "gather_hops * S_L", "2 * gather_hops * S_L"),
        ("tensor_parallel_traffic", "P * (P - 1) / 2 on", "P * (P + 1) / 2 on"),
        ("pipeline_parallel_latency", "(N - 1)", "N"),
        ("pipeline_parallel_latency", ", A_L left out", ""),
        ("pipeline_parallel_traffic", "A_(L-1)", "A_(L-1) + A_L"),
    ],
)
def test_a_changed_formula_is_another(monkeypatch, name, old, new):
    function = getattr(lab3, name)
    assert old in function.__doc__
    monkeypatch.setattr(function, "__doc__", function.__doc__.replace(old, new))
    assert evaluate_docstring(function, ODD) != function(*ODD)


# ------------------------------------------------ what `explain` prints


@pytest.mark.parametrize("strategy", CLOSED_FORMS)
def test_explain_prints_the_docstrings_formulas(strategy):
    text = " ".join(output(f"explain {strategy} {ODD_OPTIONS}").split())
    for function in CLOSED_FORMS[strategy]:
        formulas = read_formulas(function)
        assert formulas and all(f"{name} = {it}" in text for name, it in formulas.items())


def test_explain_tensor_says_what_rounds_and_gather_hops_are():
    for question, options in ((LAB, ""), (ODD, ODD_OPTIONS)):
        found = re.search(
            r"rounds = (\d+) and gather_hops = (\d+)\.", output(f"explain tensor {options}")
        )
        formulas = read_formulas(lab3.tensor_parallel_latency)
        formulas |= read_formulas(lab3.tensor_parallel_traffic)
        for told, name in zip(found.groups(), ("rounds", "gather_hops"), strict=True):
            assert int(told) == evaluate(choose_case(formulas[name], question.system), question)


def test_the_sizes_of_layers():
    for layer in ODD.network:
        names = layer._asdict()
        for line in LAYER_SIZES.splitlines():
            name, formula = re.sub(" = [AC] = ", " = ", line).split(" = ")
            names[name] = eval(formula, {}, names)
            assert names[name] == getattr(layer, name)
    assert LAYER_SIZES in output("explain model")


def read_row(text, name):
    """Read a row's numbers and its formula."""
    row = re.search(rf"^{name} {{2,}}(.*)$", text, re.MULTILINE)[1]
    *numbers, formula = re.split(r" {2,}", row)
    return [Fraction(it.replace(",", "")) for it in numbers], formula


def test_the_formulas_of_bounds():
    text = output(f"explain bounds {ODD_OPTIONS}")
    interval_s = Model("pipeline", *ODD[:2]).interval_s
    latencies = [function for function, _ in CLOSED_FORMS.values()]
    for at, inputs in enumerate((1, ODD.inputs)):
        asked = ODD._replace(inputs=inputs)
        bound_s = compute_bound(*asked)
        one = [latency(*ODD[:2]) for latency in latencies]
        words = {
            "lower bound": bound_s,
            "communication": one[0] - compute_bound(*ODD[:2]),
            "1 input": one[1],
            "interval": interval_s,
        }
        expected = {
            "lower bound": bound_s,
            "tensor": latencies[0](*asked),
            "slowest node": slowest_node_bound(*asked),
            "pipeline": latencies[1](*asked),
            "data": ceil(Fraction(inputs, 6)) * compute_bound(*ODD[:2]) * 6,
        }
        for name, value_s in expected.items():
            numbers, formula = read_row(text, name)
            for word, value in words.items():
                formula = formula.replace(word, f"Fraction('{value}')")
            assert (
                numbers[at]
                == value_s * 10**6
                == 10**6 * evaluate(formula, asked, Fraction=Fraction)
            )


def test_the_formulas_of_where_the_time_goes():
    text = output(f"explain pipeline {ODD_OPTIONS}")
    for name in ("ideal compute", "load imbalance"):
        (part_us, _), formula = read_row(text, name)
        assert part_us == 10**6 * evaluate(formula.partition(":")[0], ODD)


def test_what_a_step_takes():
    text = output(f"explain tensor pipeline {ODD_OPTIONS}")
    assert " ".join(text.split()).count("A step takes node ops / R + link bytes / B seconds.") == 2
    steps = re.findall(
        r"^\d  +(?:compute|all-gather|gather|send) +(\S+) +(\S+) +(\S+) ", text, re.M
    )
    assert len(steps) == 6 + 5
    for step in steps:
        ops, size, time_us = (Fraction(it.replace(",", "")) for it in step)
        assert time_us == 10**6 * evaluate("ops / R + size / B", ODD, ops=ops, size=size)
