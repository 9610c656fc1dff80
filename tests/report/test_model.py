"""report/model.py against steps worked out by hand, and against the closed forms of lab3.py."""

from fractions import Fraction

import pytest

pytest.importorskip("hypothesis")

from hypothesis import given
from hypothesis import strategies as st

import machines
from lab3 import ConvLayer
from machines import CLOSED_FORMS, LAB, ODD, ODD_ALL_TO_ALL, closed_forms
from random_machines import cases_of_both
from report.model import Model, compute_bound, slowest_node_bound

INPUTS = st.sampled_from([1, 2, 3, 32, 10**6])


def find_totals(network, system, inputs):
    """Find the model's seconds and bytes of tensor parallelism, then of the pipeline."""
    totals = [Model(strategy, network, system).compute_total(inputs) for strategy in CLOSED_FORMS]
    return [*totals[0], *totals[1]]


# ------------------------------------------------ by hand


@pytest.mark.parametrize(
    ("strategy", "question", "expected"),
    [
        ("tensor", LAB, machines.LAB_TENSOR_STEPS),
        ("pipeline", LAB, machines.LAB_PIPELINE_STEPS),
        ("tensor", ODD, machines.ODD_TENSOR_STEPS),
        ("tensor", ODD_ALL_TO_ALL, machines.ODD_TENSOR_STEPS_ALL_TO_ALL),
        ("pipeline", ODD, machines.ODD_PIPELINE_STEPS),
        ("pipeline", ODD_ALL_TO_ALL, machines.ODD_PIPELINE_STEPS),
    ],
)
def test_each_step_by_hand(strategy, question, expected):
    found = Model(strategy, *question[:2]).steps
    assert [step[:-1] for step in found] == [
        (*sizes, Fraction(time_us) / 10**6) for *sizes, time_us in expected
    ]
    assert {type(size) for step in found for size in step[2:5]} == {int}
    nodes, links = ("all nodes", "all links"), ("node {}", "link {} to {}")
    for step in found:
        words = (nodes if strategy == "tensor" else links)[step.work != "compute"]
        assert step.where == words.format(step.layer, step.layer + 1)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (LAB, machines.LAB_NUMBERS),
        (ODD, machines.ODD_NUMBERS),
        (ODD_ALL_TO_ALL, machines.ODD_NUMBERS_ALL_TO_ALL),
    ],
)
def test_the_totals_by_hand(question, expected):
    for inputs, (tensor_s, tensor_bytes, pipeline_s, pipeline_bytes) in expected.items():
        exact = [Fraction(tensor_s), tensor_bytes, Fraction(pipeline_s), pipeline_bytes]
        assert find_totals(*question[:2], inputs) == exact
        assert closed_forms(*question[:2], inputs) == exact


def test_the_bottleneck_is_the_first_longest_step():
    assert Model("pipeline", *LAB[:2]).bottleneck == "node 2"
    assert Model("pipeline", *ODD[:2]).bottleneck == "link 1 to 2"
    assert Model("tensor", *ODD[:2]).bottleneck == "none"
    assert Model("pipeline", ODD.network[:1], ODD.system).bottleneck == "node 1"
    # on links of 720 / 0.41472 bytes/s send 1 takes as long as node 2 computes; node 3 is faster
    rate = Fraction(720) / Fraction("0.41472")
    faster = ODD.network[2]._replace(filters=6)
    system = ODD.system._replace(link_bytes_per_s=rate)
    assert Model("pipeline", (*ODD.network[:2], faster), system).bottleneck == "link 1 to 2"


def test_the_lower_bounds():
    # 606,661,632 ops by four nodes in 3,033.30816 us; node 2 computes 4,624.22016 us per input
    assert compute_bound(*LAB) == Fraction("0.09706586112")
    assert slowest_node_bound(*LAB) == 32 * Fraction("0.00462422016")
    # 60,864 ops by six nodes, 31,104 by one, at 62.5 per ms; one input unless told
    assert compute_bound(*ODD) == 8 * compute_bound(*ODD[:2]) == 8 * Fraction("0.162304")
    first = ODD.network[0], ConvLayer(6, 6, 1, 1, 8, 5, 3)  # 3,840 and 2,880 ops
    assert slowest_node_bound(first, ODD.system) == Fraction("0.06144")
    assert slowest_node_bound(*ODD) == 8 * slowest_node_bound(*ODD[:2]) == 8 * Fraction("0.497664")


# ------------------------------------------------ edits


def test_an_edit_puts_another_value_in_the_place_of_a_quantity():
    network, system, _ = ODD
    edits = [
        {"op_s": lambda model: 2 * model.op_s},
        {"input_traffic": lambda model: model.input_traffic + model.peers},
    ]
    latency_s, traffic_bytes = Model("pipeline", network, system, edits).compute_total(1)
    assert (latency_s, traffic_bytes) == (Fraction("0.973824") * 2 + Fraction("1.008"), 1_260 + 5)


# ------------------------------------------------ against lab3.py


@given(cases_of_both(), INPUTS)
def test_the_model_gives_the_closed_forms(case, inputs):
    assert find_totals(*case, inputs) == closed_forms(*case, inputs)
    system = case[1]
    for strategy in CLOSED_FORMS:
        model = Model(strategy, *case)
        assert sum(step.time_s for step in model.steps) == model.first_s
        assert sum(step.traffic_bytes for step in model.steps) == model.input_traffic
        for step in model.steps:
            compute_s = Fraction(step.node_ops) / system.ops_per_s
            assert step.time_s == compute_s + Fraction(step.link_bytes) / system.link_bytes_per_s
