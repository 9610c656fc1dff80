"""report/model.py: the formulas of lab3.py's docstrings, evaluated, against numbers worked out by
hand and against its code."""

import re
from fractions import Fraction

import pytest

pytest.importorskip("hypothesis")

from hypothesis import given
from hypothesis import strategies as st

import machines
from machines import CLOSED_FORMS, ODD
from program import LAB3, PROJECT, copy_project, edit, output, python, refusal, sentence
from random_machines import cases_of_both
from report import InputError
from report.model import CODE, FORMULAS, RING, Model, check_lab3, list_layers

INPUTS = st.sampled_from([1, 2, 3, 32, 10**6])
BY_HAND = [([], machines.ODD_NUMBERS), ([RING], machines.ODD_RING_NUMBERS)]
LATENCY_T = "tensor_parallel_latency"
STATED = FORMULAS["tensor", "latency"]


def find_totals(network, system, inputs, *edits):
    """Find seconds and bytes of tensor parallelism, with edits, then of the pipeline."""
    tensor = Model("tensor", network, system, inputs).edit(*edits)
    pipeline = Model("pipeline", network, system, inputs)
    return [tensor["latency"], tensor["traffic"], pipeline["latency"], pipeline["traffic"]]


# ------------------------------------------------ by hand
@pytest.mark.parametrize(("edits", "expected"), BY_HAND)
def test_the_totals_by_hand(edits, expected):
    for inputs, (tensor_s, tensor_bytes, pipeline_s, pipeline_bytes) in expected.items():
        exact = [Fraction(tensor_s), tensor_bytes, Fraction(pipeline_s), pipeline_bytes]
        assert find_totals(*ODD[:2], inputs, *edits) == exact
        if not edits:
            assert machines.closed_forms(*ODD[:2], inputs) == exact


def test_numbers_by_their_names():
    tensor, pipeline = Model("tensor", *ODD), Model("pipeline", *ODD)
    assert tensor["S"] == (120, 90, 108) and tensor["L"] == 3 and tensor["links"] == 30
    assert tensor["one_input"] == tensor["interval"] == Fraction("0.416704")
    assert pipeline["interval"] == Fraction("0.576")
    with pytest.raises(KeyError, match="gather"):
        pipeline["gather"]


def test_the_sizes_of_layers():
    sizes = {"out_x": 3, "out_y": 2, "weights": 2_592, "macs": 15_552, "ops": 31_104}
    sizes |= {"weight_bytes": 7_776, "input_bytes": 540, "output_bytes": 648}
    assert list_layers(ODD.network)[2] == {"layer": 3, **ODD.network[2]._asdict(), **sizes}


@pytest.mark.parametrize(
    ("edit", "latency_s", "traffic_bytes"),
    [  # of ODD's pipeline: computing 973.824 ms, the longest 497.664; sends 576 and 432 ms
        ("compute = 2 * compute", "9.922944", 10_080),  # 2,955.648 ms, and 7 times 2 * 497.664
        ("latency = latency + 1; traffic = traffic + P", "7.013824", 10_086),
        ("transfer = transfer, 0; sent = 9, sent", "6.013824", 10_152),
        ("sent = 1 + 3 * sent // 2 - 1", "6.013824", 15_120),  # 8 * (1,080 + 810)
        ("ops = put(ops, 0, 0)", "5.952384", 10_080),  # without layer 1's 61.44 ms
        ("element_bytes = 6", "11.053824", 20_160),  # sends 1,152 and 864 ms: 2,989.824 + 7 * 1,152
        ("x = x - 1", None, None),  # layers need not follow from each other
    ],
)
def test_an_edit_changes_what_depends_on_its_names(edit, latency_s, traffic_bytes):
    model = Model("pipeline", *ODD)
    before = model["latency"], model["traffic"]
    edited = model.edit(edit)
    if latency_s:
        assert (edited["latency"], edited["traffic"]) == (Fraction(latency_s), traffic_bytes)
    else:
        assert edited["latency"] != before[0]
    assert (model["latency"], model["traffic"]) == before
    floats = Model("pipeline", *ODD, float).edit(edit)
    assert floats["latency"] == pytest.approx(float(edited["latency"]), rel=1e-12)


def test_what_is_asked_of_an_edited_model_first_does_not_matter():
    # 8 * 973.824 + 1,008 + 7 * 8 * 497.664 ms
    model = Model("pipeline", *ODD)
    assert model["latency"] and model["interval"]
    edited = model.edit("compute = N * compute")
    assert edited["latency"] == Fraction("36.667776")
    assert edited["interval"] == 8 * Fraction("0.497664")


def test_an_edit_is_exact_or_refused():
    # 1 / max(1, 1) would be the float 1.0, as would 1 / N, of an int
    two = Model("tensor", ODD.network, ODD.system._replace(nodes=2), 8)
    with pytest.raises(ValueError, match=r"latency = .* is not exact"):
        two.edit("latency = latency * (1 / max(1, P - 1))")["latency"]
    edited = two.edit("N = 3", "traffic = (N + 1) / N * traffic")
    assert isinstance(edited["traffic"], Fraction) and edited["traffic"] == 4 * two["traffic"] / 8


@pytest.mark.parametrize("formula", ["compute = compute + transfer", "latency = latency + nodes"])
def test_an_edit_that_does_not_fit_is_an_error(formula):
    with pytest.raises((ValueError, NameError), match=r"3 and 2 numbers do not fit|nodes"):
        Model("pipeline", *ODD).edit(formula)["latency"]


# ------------------------------------------------ docstrings and code
@given(cases_of_both(), INPUTS)
def test_formulas_and_code_are_two_statements_of_the_same(case, inputs):
    assert find_totals(*case, inputs) == machines.closed_forms(*case, inputs)
    for strategy in CLOSED_FORMS:
        check_lab3(Model(strategy, *case, inputs))


def test_a_lab3_that_computes_anything_else_is_named_with_both_numbers(tmp_path):
    # half of 3,033.30816 us of computing, and 93.952 of communication
    folder = copy_project(tmp_path, edit(LAB3, "return 2 * self.macs", "return self.macs"))
    whatif = python("report", "whatif", cwd=folder).stdout
    assert whatif.startswith(python(folder / "lab3.py").stdout)
    before = {*folder.iterdir()}
    for command in ("explain --json", "picture limits", "check", "deck --output ."):
        done = python("report", *command.split(), cwd=folder)
        assert (done.returncode, done.stdout) == (2, "")
        told = f"{LATENCY_T} gives 0.00161060608 seconds, but its docstring 0.00312726016: "
        assert told in sentence(done.stderr)
    assert {*folder.iterdir()} == before


@pytest.mark.parametrize("value", [float("inf"), float("nan"), None, "1", 0, -1.5])
def test_a_function_that_returns_no_latency_is_named_by_every_command(monkeypatch, value):
    monkeypatch.setitem(CODE, ("tensor", "latency"), value if value is None else lambda *_: value)
    told = f"{LATENCY_T} must be a function that returns a positive number, not {value!r}"
    for command in ("whatif", "explain", "check", "picture limits"):
        assert told in refusal(f"{command} --inputs 77")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("compute = C / (P * R)", "compute = C / (P * R", "SyntaxError: '(' was never closed"),
        ("compute = C / (P * R)", "computing = C / (P * R)", "NameError: name 'compute'"),
        ("compute = C / (P * R)", "compute = C / (P * 0)", "ZeroDivisionError"),
        ("compute = C / (P * R)", "compute = compute", "RecursionError"),
        ("compute = C / (P * R)", "compute = abs(C)", "NameError: name 'abs'"),
        ("compute = C / (P * R)", "compute = C / (P * R)\nunused = 1 +", "SyntaxError"),
        ("latency = N * one_input", "", "NameError: name 'latency'"),
        ("one_input", "one", "NameError: name 'one_input'"),  # which other modules use
        ("latency = N * one_input", "latency = compute", "TypeError"),
        ("latency = N * one_input", "latency = 2 / 3", "ValueError: latency = 2 / 3 is not exact"),
        (STATED, "", "has no formulas, which are lines such as: sent = A[:-1]"),
    ],
)
def test_a_docstring_that_states_no_number_is_named(monkeypatch, old, new, why):
    monkeypatch.setitem(FORMULAS, ("tensor", "latency"), edit(STATED, old, new))
    told = rf"lab3.py: the docstring of {LATENCY_T} (cannot be evaluated: )?{re.escape(why)}"
    with pytest.raises(InputError, match=told):
        check_lab3(Model("tensor", *ODD))


@pytest.mark.parametrize(
    ("case", "edit", "why"),
    [  # of ODD: the bound is 8 * 162.304 ms
        (("tensor", "latency"), "latency = 1", "less than its lower bound, 1.298432"),
        (("tensor", "latency"), "latency = latency + 1", "interval is 3.333632"),
        (("pipeline", "latency"), "interval = 2 * interval", "interval is 10.045824"),
        (("pipeline", "traffic"), "traffic = traffic / 9_999", "must be an int"),
        (("pipeline", "traffic"), "traffic = -traffic", "must be an int"),
    ],
)
def test_code_and_docstring_that_are_wrong_alike_are_named(monkeypatch, case, edit, why):
    edited = Model(case[0], *ODD).edit(edit)
    value = Model(case[0], *ODD)["latency"] if "interval" in edit else edited[case[1]]
    value = value if value % 1 else int(value)
    monkeypatch.setitem(CODE, case, lambda *_: value)
    if "interval" in edit:
        edited = edited.edit(f"latency = {6013824} * one_input / {1981824}")
    with pytest.raises(InputError, match=f"for 8 inputs, lab3.py's .*{case[1]} gives .*{why}"):
        check_lab3(edited)


def test_without_docstrings_whatif_works_and_explain_says_what_is_missing():
    assert python("-OO", "report", "whatif").stdout == output("whatif")
    done = python("-OO", "report", "explain", "model")
    assert (done.returncode, done.stdout) == (2, "")
    told = f"the docstring of {LATENCY_T} is missing; python -OO removes it"
    assert told in sentence(done.stderr)


def test_one_module_evaluates_texts():
    sources = {path: path.read_text(encoding="utf-8") for path in PROJECT.glob("report/**/*.py")}
    evaluating = r"(?<!re\.)\b(?:eval|exec|compile)\("
    found = {path.name for path, text in sources.items() if re.search(evaluating, text)}
    assert found - {"build.py"} == {"model.py"}  # build.py compiles slides.typ
