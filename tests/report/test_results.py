"""report/results.py: the lab and a machine that differs in everything by hand; random questions
against the closed forms of lab3.py and the jobs of the timeline."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab3
import machines
from lab3 import ALL_TO_ALL, RING, System
from machines import ODD, ODD_ALL_TO_ALL, TOPOLOGIES, questions
from report.question import LAB, Question
from report.results import Losses, compute_results
from report.timeline import jobs


def exact(text, unit=1):
    return [Fraction(number) / unit for number in text.split()]


# ------------------------------------------------ by hand


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (LAB, machines.LAB_NUMBERS),
        (ODD, machines.ODD_NUMBERS),
        (ODD_ALL_TO_ALL, machines.ODD_NUMBERS_ALL_TO_ALL),
    ],
)
def test_latency_and_traffic(question, expected):
    strategies = compute_results(question).strategies
    assert [*strategies] == ["tensor", "pipeline"]
    for inputs, (tensor_s, tensor_bytes, pipeline_s, pipeline_bytes) in expected.items():
        found = [it.find(inputs, question.system.topology) for it in strategies.values()]
        assert [it.latency_s for it in found] == exact(f"{tensor_s} {pipeline_s}")
        assert [it.traffic_bytes for it in found] == [tensor_bytes, pipeline_bytes]


# Of one input: microseconds of compute, communication, interval; the bottleneck; and of all inputs
# the milliseconds that the nodes would take if they all computed all the time.
@pytest.mark.parametrize(
    ("question", "strategy", "times_us", "bottleneck", "busy_ms"),
    [
        (LAB, "tensor", "3033.30816 93.952 3127.26016", "all steps", "97.06586112"),
        (LAB, "pipeline", "12133.23264 302.08 4624.22016", "node 2", "97.06586112"),
        (ODD, "tensor", "162304 1272000 1434304", "all steps", "1298.432"),
        (ODD, "pipeline", "973824 1008000 576000", "link 1 to 2", "1298.432"),
        (ODD_ALL_TO_ALL, "tensor", "162304 254400 416704", "all steps", "1298.432"),
        (ODD_ALL_TO_ALL, "pipeline", "973824 1008000 576000", "link 1 to 2", "1298.432"),
    ],
)
def test_parts_of_a_latency(question, strategy, times_us, bottleneck, busy_ms):
    for inputs in (1, question.inputs):
        found = compute_results(question).strategies[strategy].find(
            inputs, question.system.topology
        )
        times_s = [found.compute_s, found.communication_s, found.interval_s]
        assert times_s == exact(times_us, 10**6)
        assert found.bottleneck == bottleneck
    assert found.utilisation == exact(busy_ms, 1000)[0] / found.latency_s


@pytest.mark.parametrize(
    ("question", "losses_us"),
    [
        # 32 * 3,033.30816; 32 * (4,624.22016 - 3,033.30816); 12,133.23264 - 4,624.22016; sends
        (LAB, "97065.86112 50909.184 7509.01248 302.08"),
        # 8 * 162,304; 8 * (497,664 - 162,304); all of 973,824, because a send is the bottleneck;
        # 432,000 and 8 * (576,000 - 497,664)
        (ODD, "1298432 2682880 973824 1058688"),
    ],
)
def test_where_the_time_of_the_pipeline_goes(question, losses_us):
    assert compute_results(question).losses == Losses(*exact(losses_us, 10**6))


@pytest.mark.parametrize(
    ("question", "one_ms", "all_ms"),  # lower bound, slowest node, data parallelism
    [
        (LAB, "3.03330816 4.62422016 12.13323264", "97.06586112 147.97504512 97.06586112"),
        # two rounds of data parallelism for 8 inputs on 6 nodes
        (ODD, "162.304 497.664 973.824", "1298.432 3981.312 1947.648"),
    ],
)
def test_the_lower_bounds(question, one_ms, all_ms):
    one, many = compute_results(question).bounds
    assert [*one] == [1, *exact(one_ms, 1000)]
    assert [*many] == [question.inputs, *exact(all_ms, 1000)]


@pytest.mark.parametrize(
    ("question", "fullest", "totals"),
    [
        (
            LAB,
            {
                "tensor": ("every node", 2, 503_488, 20_800),
                "pipeline": ("node 2", 2, 726_016, -201_728),
                "data": ("every node", 2, 1_322_752, -798_464),
            },
            (891_648, 367_360, 32 * 147_456, 4 * 524_288),
        ),
        (
            ODD,
            {
                "tensor": ("every node", 2, 2_562, 6_654),
                "pipeline": ("node 3", 3, 8_964, 252),
                "data": ("every node", 2, 11_772, -2_556),
            },
            (10_512, 1_296, 8 * 648, 6 * 9_216),
        ),
    ],
)
def test_the_fullest_nodes_and_totals(question, fullest, totals):
    results = compute_results(question)
    assert {
        name: (it.fullest.where, it.fullest.layer, it.total_bytes, it.free_bytes)
        for name, it in results.sram.items()
    } == fullest
    assert results.totals == totals


def test_sizes_of_a_layer():
    first, *_ = compute_results(ODD).layers
    assert first == {
        **{"layer": 1, "filters": 6, "in_channels": 1, "fx": 2, "fy": 4, "x": 9, "y": 8},
        **{"element_bytes": 3, "out_x": 8, "out_y": 5, "weights": 48, "macs": 1_920},
        **{"ops": 3_840, "weight_bytes": 144, "input_bytes": 216, "output_bytes": 720},
    }


@pytest.mark.parametrize(("nodes", "impossible"), [(2, "pipeline"), (5, "tensor")])
def test_an_impossible_strategy_has_a_reason_and_no_numbers(nodes, impossible):
    results = compute_results(LAB._replace(system=System(nodes)))
    assert [*results.impossible] == [impossible] and results.impossible[impossible]
    assert impossible not in results.strategies and impossible not in results.sram
    assert "data" in results.sram
    no_pipeline = impossible == "pipeline"
    assert (results.losses is None) == (results.bounds[0].slowest_node_s is None) == no_pipeline


def test_if_neither_strategy_is_possible_there_are_no_results():
    with pytest.raises(ValueError, match="^3 nodes "):
        compute_results(LAB._replace(system=System(3)))


def test_one_input_has_one_result_per_topology():
    results = compute_results(LAB._replace(inputs=1))
    assert [it.inputs for it in results.bounds] == [1]
    for strategy in results.strategies.values():
        cases = [(it.topology, it.inputs) for it in strategy.results]
        assert cases == [(ALL_TO_ALL, 1), (RING, 1)]


# ------------------------------------------------ random

CLOSED_FORMS = {
    "tensor": (lab3.tensor_parallel_latency, lab3.tensor_parallel_traffic),
    "pipeline": (lab3.pipeline_parallel_latency, lab3.pipeline_parallel_traffic),
}
QUESTIONS = st.tuples(st.booleans(), TOPOLOGIES).flatmap(lambda drawn: questions(*drawn))


@given(QUESTIONS)
def test_results_are_those_of_the_closed_forms(question):
    results = compute_results(question)
    network, system, inputs = results.asked
    assert results.strategies
    for name, strategy in results.strategies.items():
        latency, traffic = CLOSED_FORMS[name]
        assert sum(step.time_s for step in strategy.steps) == latency(network, system)
        for topology in (ALL_TO_ALL, RING):
            machine = system._replace(topology=topology)
            for many in {1, inputs}:
                found = strategy.find(many, topology)
                assert found.latency_s == latency(network, machine, many)
                assert found.traffic_bytes == traffic(network, machine, many)
                assert found.compute_s + found.communication_s == latency(network, machine)
                assert found.latency_s + found.interval_s == latency(network, machine, many + 1)


@given(QUESTIONS)
def test_what_is_lost_and_used_adds_up(question):
    results = compute_results(question)
    for bounds in results.bounds:
        for name in results.strategies:
            found = results.strategies[name].find(bounds.inputs, question.system.topology)
            lost_s = (1 - found.utilisation) * found.latency_s
            assert lost_s >= 0 and bounds.lower_bound_s + lost_s == found.latency_s
        if results.losses:
            assert bounds.lower_bound_s <= bounds.slowest_node_s <= found.latency_s
    if results.losses:
        assert sum(results.losses) == found.latency_s
        assert min(results.losses) >= 0
        assert results.losses.ideal_compute_s == results.bounds[-1].lower_bound_s


@given(QUESTIONS, st.integers(1, 4))
def test_nodes_are_used_while_they_compute(question, inputs):
    network, system, _ = question
    for name, strategy in compute_results(Question(network, system, inputs)).strategies.items():
        working = system.nodes if name == "tensor" else 1
        busy_s = sum(
            working * (job.end_s - job.start_s)
            for job in jobs(network, system, name, inputs)
            if job.work == "compute"
        )
        found = strategy.find(inputs, system.topology)
        assert found.utilisation == busy_s / (system.nodes * found.latency_s)
