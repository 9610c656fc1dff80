"""The formulas of page 2, as they are set and as their alternative texts have them, evaluated and
compared with lab3.py's functions."""

import re
from fractions import Fraction

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("numpy")

from formulas import evaluate
from lab3 import ConvLayer, System
from machines import closed_forms
from report.deck import build
from report.question import Question

# Four layers on four nodes, all-to-all, like the lab; all else is different. In the pipeline of
# MACHINE node 4 is the bottleneck, in that of SLOW link 1 to 2.
LAYERS = (
    ConvLayer(8, 5, 2, 3, 12, 11, 3),
    ConvLayer(4, 8, 1, 2, 11, 9, 3),
    ConvLayer(12, 4, 3, 1, 11, 8, 3),
    ConvLayer(16, 12, 2, 4, 9, 8, 3),
)
MACHINE = Question(LAYERS, System(4, 7_000, 3_000, 10**6, "all-to-all"), 9)
SLOW = MACHINE._replace(system=MACHINE.system._replace(link_bytes_per_s=10))
SLIDES = (build.HERE / "slides.typ").read_text(encoding="utf-8")
FORMULAS = re.findall(r'formula\("(\w) = (.*)",\s+\$\1 = (.*)\$\)', SLIDES)


def translate(formula):
    """Translate a formula as it is set, such as N sum_(l=1)^4 S_l / B, into Python."""
    operand = r"(\((?:[^()]|\([^()]*\))*\)|\w_l / \w)"
    formula = re.sub(rf"sum_\(l=1\)\^(\d) {operand}", r"sum(\2 for l in range(\1))", formula)
    formula = re.sub(
        r"max_\(l <= (\d) \\ k <= (\d)\) \((\w_l / \w), (\w_k / \w)\)",
        r"max([*(\3 for l in range(\1)), *(\4 for k in range(\2))])",
        formula,
    )
    formula = re.sub(r"(\w)_([lk])\b", r"\1[\2]", formula)
    formula = re.sub(r"(\w)_(\d)", lambda it: f"{it[1]}[{int(it[2]) - 1}]", formula)
    return re.sub(r"(?<=[A-Z)\d]) (?=[A-Z(]|sum|max)", " * ", formula)


def evaluate_set(formula, question):
    """Evaluate a formula as it is set."""
    network, system, inputs = question
    names = {
        "N": inputs,
        "P": system.nodes,
        "R": Fraction(system.ops_per_s),
        "B": Fraction(system.link_bytes_per_s),
        "C": [layer.ops for layer in network],
        "A": [layer.output_bytes for layer in network],
        "S": [Fraction(layer.output_bytes, system.nodes) for layer in network],
    }
    return eval(translate(formula), names)


def evaluate_plain(formula, question):
    """Evaluate an alternative text, in lab3.py's notation."""
    return evaluate(re.sub(r"_(\d)", lambda it: f"[{int(it[1]) - 1}]", formula), question)


@pytest.mark.parametrize("question", [MACHINE, SLOW])
def test_all_formulas_are_lab3s(question):
    found = [(name, evaluate_plain(plain, question)) for name, plain, _ in FORMULAS]
    tensor_s, tensor_bytes, pipeline_s, pipeline_bytes = closed_forms(*question)
    assert found == [("T", tensor_s), ("T", pipeline_s), ("D", tensor_bytes), ("D", pipeline_bytes)]
    assert [evaluate_set(it, question) for _, _, it in FORMULAS] == [it for _, it in found]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("+ S_4", "+ 2 S_4"),
        ("+ S_4", "+ S_3"),
        ("N sum_(l=1)^4", "(N - 1) sum_(l=1)^4"),
        ("(N - 1) max", "N max"),
        ("k <= 3", "k <= 4"),
        ("A_2 + A_3", "A_2 + A_4"),
        ("sum_(l=1)^3 A_l", "sum_(l=1)^4 A_l"),
        ("C_l / (P R)", "C_l / R"),
    ],
)
def test_a_changed_formula_is_another(old, new):
    changed = [(it, it.replace(old, new)) for _, _, it in FORMULAS if old in it]
    assert changed
    for formula, other in changed:
        cases = [MACHINE, SLOW._replace(network=(*LAYERS[:3], LAYERS[3]._replace(filters=400)))]
        assert any(evaluate_set(formula, it) != evaluate_set(other, it) for it in cases)
