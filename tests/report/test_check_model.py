"""report/check/model.py: the closed forms with changes, against tests/mistakes.py, which sends each
message and passes each input on; without a change, and with constants typed wrong, against lab3.py.
"""

from fractions import Fraction
from itertools import combinations

import pytest

pytest.importorskip("hypothesis")

from hypothesis import given
from hypothesis import strategies as st

import mistakes
from lab3 import ConvLayer, System
from machines import CLOSED_FORMS
from report.check.changes import CHANGES, list_constants
from report.check.model import compute
from report.question import LAB, Question

STRATEGIES = ("tensor", "pipeline")
LAYERS = (  # not square, of 4 bytes an element, the last output the largest
    ConvLayer(12, 5, 2, 3, 11, 9, 4),
    ConvLayer(6, 12, 1, 2, 10, 7, 4),
    ConvLayer(18, 6, 3, 1, 10, 6, 4),
)
SLOW_LINKS = System(6, 3 * 10**6, 10**5, 1000, "ring")  # a send takes longer than a computation
OTHER = Question(LAYERS, SLOW_LINKS, 5)
MACHINES = {
    "lab": LAB,
    "ring": LAB._replace(system=LAB.system._replace(topology="ring")),
    "other": OTHER,
    "balanced": Question(LAYERS, System(3, 3 * 10**6, Fraction(10**6, 3), 1000), 2),
    "one node": Question(LAYERS[:1], System(1, 10**6, 10**5, 1000), 3),
    "one layer": Question(LAYERS[:1], SLOW_LINKS, 3),
}
OF = {of: [change for change in CHANGES if of in change.strategies] for of in STRATEGIES}

# ------------------------------------------------ mistakes


def assert_equal(question, strategy, changes):
    clauses = tuple(change.clause for change in changes)
    found = compute(question, strategy, {change.thing: change.value for change in changes})
    assert found == mistakes.compute(question, strategy, clauses), (strategy, clauses)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("question", MACHINES.values(), ids=MACHINES)
def test_each_change_on_each_machine(question, strategy):
    for change in OF[strategy]:
        assert_equal(question, strategy, [change])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_all_pairs_of_changes(strategy):
    three_nodes = OTHER._replace(system=SLOW_LINKS._replace(nodes=3))  # of six it takes long
    for one, other in combinations(OF[strategy], 2):
        if one.thing != other.thing:
            assert_equal(three_nodes, strategy, [one, other])


@st.composite
def questions(draw):
    """Choose few inputs and layers, where formulas have their edges; links from fast to slow."""
    nodes = draw(st.sampled_from([1, 2, 3, 6]))
    layers = LAYERS[: draw(st.integers(1, min(nodes, 3)))]
    topology = draw(st.sampled_from(["all-to-all", "ring"]))
    system = System(nodes, 3 * 10**6, draw(st.integers(10**4, 10**7)), 1000, topology)
    return Question(layers, system, draw(st.integers(1, 5)))


@given(questions(), st.data())
def test_three_changes_on_any_machine(question, data):
    for strategy in STRATEGIES:
        changes = data.draw(st.lists(st.sampled_from(OF[strategy]), max_size=3))
        assert_equal(question, strategy, {change.thing: change for change in changes}.values())


# ------------------------------------------------ lab3.py


def assert_lab3s(question, asked, values):
    """Compare the numbers of a question with lab3.py's for what is asked."""
    for strategy, functions in CLOSED_FORMS.items():
        found = compute(question, strategy, values)
        for name, inputs in [("Q1", 1), ("Q2", asked.inputs)]:
            right = [function(asked.network, asked.system, inputs) for function in functions]
            assert [found[name, kind] for kind in ("latency", "traffic")] == right


@pytest.mark.parametrize("question", MACHINES.values(), ids=MACHINES)
def test_without_a_change_they_are_lab3s(question):
    assert_lab3s(question, question, {})


def test_constants_typed_wrong_are_lab3s_answers_for_them():
    layer, system = LAYERS[0], SLOW_LINKS
    question = OTHER._replace(network=(layer,))
    typed = {
        "layer 1 has 24 filters": question._replace(network=(layer._replace(filters=24),)),
        "layer 1 has 4 input channels": question._replace(network=(layer._replace(in_channels=4),)),
        "layer 1 has filters of 4 x 6": question._replace(network=(layer._replace(fx=4, fy=6),)),
        "layer 1 has an input of 12 x 10 (output 11 x 8)": question._replace(
            network=(layer._replace(x=12, y=10),)
        ),
        "the machine has 3 nodes": question._replace(system=system._replace(nodes=3)),
        "a node has 0.03 GOPS": question._replace(system=system._replace(ops_per_s=3 * 10**7)),
        "links have 0.00005 GB/s": question._replace(
            system=system._replace(link_bytes_per_s=50_000)
        ),
        "Q2 is of 10 inputs": question._replace(inputs=10),
    }
    constants = {change.clause: change for change in list_constants(question)}
    for clause, asked in typed.items():
        assert_lab3s(question, asked, {constants[clause].thing: constants[clause].value})


def test_a_neighbouring_row_and_amounts_of_inputs_are_constants():
    clauses = [change.clause for change in list_constants(OTHER, [3])]
    for clause in (
        *("layer 2 has 18 filters", "layer 2 has 5 input channels", "layer 2 has filters of 3 x 1"),
        *(
            "layer 3 has an input of 10 x 7 (output 8 x 7)",
            "layer 1 has 12 input channels",
            "Q2 is of 3 inputs",
            "Q2 is of 4 inputs",
        ),
    ):
        assert clauses.count(clause) == 1
    # whole where the question's are: not 2.5 input channels; filters fit in the input
    assert not [it for it in clauses if "." in it and "layer" in it]
    assert "layer 1 has filters of 20 x 30" not in clauses
