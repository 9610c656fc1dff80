"""report/results.py on random questions, against the closed forms of lab3.py and the jobs of the
timeline. test_explain.py has its numbers by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab3
from lab3 import ALL_TO_ALL, RING, System
from machines import TOPOLOGIES, questions
from report.question import LAB, Question
from report.results import compute_results
from report.timeline import jobs

CLOSED_FORMS = {
    "tensor": (lab3.tensor_parallel_latency, lab3.tensor_parallel_traffic),
    "pipeline": (lab3.pipeline_parallel_latency, lab3.pipeline_parallel_traffic),
}
QUESTIONS = st.tuples(st.booleans(), TOPOLOGIES).flatmap(lambda drawn: questions(*drawn))


@given(QUESTIONS)
def test_results_are_those_of_the_closed_forms(question):
    network, system, inputs = question
    results = compute_results(question)
    assert results.asked == question and results.strategies
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
        for strategy in results.strategies.values():
            found = strategy.find(bounds.inputs, question.system.topology)
            assert bounds.lower_bound_s == found.utilisation * found.latency_s <= found.latency_s
        if results.losses:
            assert bounds.lower_bound_s <= bounds.slowest_node_s <= found.latency_s
    if results.losses:
        assert sum(results.losses) == found.latency_s and min(results.losses) >= 0
        assert results.losses.ideal_compute_s == bounds.lower_bound_s


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


@pytest.mark.parametrize(("nodes", "impossible"), [(2, "pipeline"), (5, "tensor")])
def test_an_impossible_strategy_has_a_reason_and_no_numbers(nodes, impossible):
    results = compute_results(LAB._replace(system=System(nodes)))
    assert [*results.impossible] == [impossible] and results.impossible[impossible]
    (possible,) = {*CLOSED_FORMS} - {impossible}
    assert [*results.strategies] == [possible] and [*results.sram] == [possible, "data"]
    no_pipeline = impossible == "pipeline"
    assert (results.losses is None) == (results.bounds[0].slowest_node_s is None) == no_pipeline


def test_one_input_has_one_result_per_topology():
    results = compute_results(LAB._replace(inputs=1))
    assert [it.inputs for it in results.bounds] == [1]
    for strategy in results.strategies.values():
        cases = [(it.topology, it.inputs) for it in strategy.results]
        assert cases == [(ALL_TO_ALL, 1), (RING, 1)]
