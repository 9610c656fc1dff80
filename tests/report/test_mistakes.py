"""report/check/mistakes.py: what each mistake makes of the numbers, against formulas."""

from fractions import Fraction
from itertools import combinations

import pytest

pytest.importorskip("numpy")


import mistakes
from lab3 import ConvLayer, System
from machines import CLOSED_FORMS, LAB, ODD, ODD_ALL_TO_ALL
from report.check.mistakes import CONSTANT, MISTAKES, compute, list_constants, list_mistakes
from report.question import Question

STRATEGIES = ("tensor", "pipeline")
MACHINES = {
    "lab": LAB,
    "its ring": LAB._replace(system=LAB.system._replace(topology="ring")),
    "odd": ODD,
    "odd, all-to-all": ODD_ALL_TO_ALL,
    "two inputs": ODD_ALL_TO_ALL._replace(inputs=2),
    "one input": ODD._replace(inputs=1),
    "one node": ODD._replace(network=ODD.network[:1], system=ODD.system._replace(nodes=1)),
    "one layer": ODD._replace(network=ODD.network[:1]),
    "two layers": ODD._replace(network=ODD.network[:2]),
}
OF = {of: [it for it in MISTAKES if of in it.strategies] for of in STRATEGIES}


def are_equal(question, strategy, *made):
    """Compare the numbers with mistakes with those of the formulas."""
    expected = mistakes.compute(question, strategy, [it.clause for it in made])
    return compute(question, strategy, made) == expected


@pytest.mark.parametrize("question", MACHINES.values(), ids=MACHINES)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_each_mistake_on_each_machine(strategy, question):
    assert are_equal(question, strategy)
    wrong = [it.clause for it in OF[strategy] if not are_equal(question, strategy, it)]
    assert wrong == []


def list_names(strategy, mistake):
    """List what a mistake's formulas take the place of."""
    return {name for name, _ in mistakes.split(mistakes.LINES[strategy][mistake.clause])}


# Formulas of the first are written out, so that they know nothing of some of the others.
WRITTEN_OUT = {
    "tensor": {
        "overlap": {"rate", "link", "start", "sent", "weights", "divided", "end"},
        "count": {"sent", "end"},
        "sent": {"inputs", "divided"},
        "link": {"weights", "inputs"},
    },
    "pipeline": {
        "weights": {"size", "channels", "loop", "link", "last"},
        "last": {"start", "sent"},
        "formula": {"first", "many"},
    },
}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_two_mistakes_are_those_of_both_formulas(strategy):
    pairs = [
        (one, other)
        for one, other in combinations(OF[strategy], 2)
        if one.thing != other.thing
        and not list_names(strategy, one) & list_names(strategy, other)
        and other.thing not in WRITTEN_OUT[strategy].get(one.thing, ())
        and one.thing not in WRITTEN_OUT[strategy].get(other.thing, ())
    ]
    assert len(pairs) > 4000
    for question in (LAB, ODD_ALL_TO_ALL):
        assert [pair for pair in pairs if not are_equal(question, strategy, *pair)] == []


def test_of_two_that_edit_the_same_the_tables_order_is_the_order_by_hand():
    """On the lab: whole outputs 1 to 3 are sent, but shards of the last go to all nodes."""
    whole, to_all = (
        next(it for it in MISTAKES if it.clause == clause)
        for clause in ("whole outputs are sent, not shards", "the last output goes to all nodes")
    )
    # of shards 57,600, 50,176, 43,264 and 36,864: 4 * 151,040 + 36,864 = 641,024 bytes over a link,
    # 320.512 us; over all links 12 times as much. The other way round it were 751,616.
    found = compute(LAB, "tensor", (whole, to_all))
    assert found["Q1", "traffic"] == 12 * 641_024
    assert found["Q1", "latency"] == Fraction("0.00303330816") + Fraction("0.000320512")


# ------------------------------------------------ constants and multiples

LAYERS = (
    ConvLayer(12, 5, 2, 3, 11, 9, 4),
    ConvLayer(6, 12, 1, 2, 10, 7, 4),
    ConvLayer(18, 6, 3, 1, 10, 6, 4),
)
OTHER = Question(LAYERS, System(6, 3 * 10**6, 10**5, 1000, "ring"), 5)


def assert_lab3s(mistake, question, asked):
    """Compare the numbers of a constant typed wrong with lab3.py's for what was typed."""
    for strategy, functions in CLOSED_FORMS.items():
        found = compute(question, strategy, [mistake])
        for name, inputs in [("Q1", 1), ("Q2", asked.inputs)]:
            right = [function(asked.network, asked.system, inputs) for function in functions]
            assert [found[name, kind] for kind in ("latency", "traffic")] == right


def test_constants_typed_wrong_are_lab3s_answers_for_them():
    layer, system = LAYERS[0], OTHER.system
    question = OTHER._replace(network=(layer,))
    typed = {
        "layer 1 has 24 filters": question._replace(network=(layer._replace(filters=24),)),
        "layer 1 has 4 input channels": question._replace(network=(layer._replace(in_channels=4),)),
        "layer 1 has filters of 4 x 6": question._replace(network=(layer._replace(fx=4, fy=6),)),
        "layer 1 has an input of 12 x 10": question._replace(network=(layer._replace(x=12, y=10),)),
        "the machine has 3 nodes": question._replace(system=system._replace(nodes=3)),
        "a node has 0.03 GOPS": question._replace(system=system._replace(ops_per_s=3 * 10**7)),
        "links have 0.00005 GB/s": question._replace(
            system=system._replace(link_bytes_per_s=50_000)
        ),
        "Q2 is of 10 inputs": question._replace(inputs=10),
    }
    constants = {it.clause: it for it in list_constants(question)}
    for clause, asked in typed.items():
        assert_lab3s(constants[clause], question, asked)


def test_a_constant_may_be_wrong_in_ops_or_in_bytes_alone():
    constants = {it.clause: it for it in list_constants(ODD)}
    wrong, in_ops, in_bytes = (
        compute(ODD, "pipeline", [constants[f"layer 2 has 24 filters{words}"]])
        for words in ("", " (in ops only)", " (in bytes only)")
    )
    right = compute(ODD, "pipeline")
    assert right["Q1", "traffic"] == in_ops["Q1", "traffic"] != wrong["Q1", "traffic"]
    assert in_bytes["Q1", "traffic"] == wrong["Q1", "traffic"]
    # its 25,920 ops once more at 62.5 per ms; its 540 bytes once more at 1.25 per ms
    assert in_ops["Q1", "latency"] - right["Q1", "latency"] == Fraction("0.41472")
    assert in_bytes["Q1", "latency"] - right["Q1", "latency"] == Fraction("0.432")


def test_what_may_be_typed_instead():
    clauses = [it.clause for it in list_constants(OTHER)]
    for clause in (
        "layer 2 has 18 filters",  # of the next row
        "layer 2 has 5 input channels",  # of the row before
        "layer 2 has filters of 3 x 1",
        "layer 3 has an input of 10 x 7",
        "layer 1 has 11 filters",  # one less
        "layer 1 has 12,000 filters",
        "layer 1 has 36 filters",
        "layer 1 has 1 filter",  # a twelfth
        "a node has 0.001 GOPS",
        "links have 0.1 GB/s",
        "Q2 is of 4 inputs",
        "Q2 is of 64 inputs",
    ):
        assert clauses.count(clause) == 1, clause
    # not 2.5 input channels; filters fit in the input
    assert not [it for it in clauses if "." in it and "layer" in it]
    assert "layer 1 has filters of 20 x 30" not in clauses
    assert not [it for it in list_constants(OTHER._replace(inputs=1)) if "Q2" in it.clause]


def test_multiples_are_of_one_strategys_latency_or_traffic():
    known = {it.clause: it for it in list_mistakes(ODD) if it.thing == "multiple"}
    right, made = (
        compute(ODD, "tensor", it) for it in ((), [known["latency is 3 times the right one"]])
    )
    for question in ("Q1", "Q2"):
        assert made[question, "latency"] == 3 * right[question, "latency"]
        assert made[question, "traffic"] == right[question, "traffic"]
    assert "latency is 1/6 of the right one" in known  # ODD has six nodes


def test_a_constant_or_multiple_that_a_row_before_it_makes_is_not_listed():
    listed = list_mistakes(LAB)
    clauses = [it.clause for it in listed]
    assert {it.clause for it in MISTAKES} < {*clauses}
    assert "links have 1 GB/s" not in clauses  # "links have half the bandwidth"
    assert "links have 4 GB/s" not in clauses  # "links have twice the bandwidth, or ..."
    assert "links have 6 GB/s" in clauses
    assert "Q2 is of 31 inputs" not in clauses and "Q2 is of 16 inputs" in clauses
    assert [it.is_alone for it in listed].index(True) == len(MISTAKES)
    assert {it.thing for it in listed if it.is_alone} == {CONSTANT, "multiple"}
