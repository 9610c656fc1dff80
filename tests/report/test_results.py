"""report/results.py on random questions, against the closed forms of lab3.py and the jobs of the
timeline. test_explain.py has its numbers by hand."""

from hypothesis import given
from hypothesis import strategies as st

from lab3 import ALL_TO_ALL, RING
from machines import CLOSED_FORMS, questions
from report.question import LAB, Question
from report.results import compute_results
from report.steps import compute_bound
from report.timeline import jobs


@given(questions())
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


@given(questions())
def test_what_is_lost_and_used_adds_up(question):
    results = compute_results(question)
    for bounds in results.bounds:
        for strategy in results.strategies.values():
            found = strategy.find(bounds.inputs, question.system.topology)
            assert bounds.lower_bound_s == found.utilisation * found.latency_s <= found.latency_s
        if results.losses:
            assert bounds.lower_bound_s <= bounds.slowest_node_s <= found.latency_s
        rounds = len(range(0, bounds.inputs, question.system.nodes))
        alone_s = compute_bound(question.network, question.system._replace(nodes=1))
        assert bounds.data_parallel_s == rounds * alone_s
    if results.losses:
        assert sum(results.losses) == found.latency_s and min(results.losses) >= 0
        assert results.losses.ideal_compute_s == bounds.lower_bound_s


@given(questions())
def test_what_is_free_and_too_much_adds_up(question):
    results, nodes = compute_results(question), question.system.nodes
    room, totals, last = question.system.sram_bytes, results.totals, results.sram["data"].uses[-1]
    for held in results.sram.values():
        most = max(sum(use[3:]) for use in held.uses)
        assert held.fullest in held.uses and held.total_bytes == most == room - held.free_bytes
    assert totals.weight_bytes == last.weight_bytes == room + totals.weights_excess_bytes
    assert totals[2:] == (question.inputs * last.output_bytes, nodes * room)


@given(questions(), st.integers(1, 4))
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


def test_one_input_has_one_result_per_topology():
    results = compute_results(LAB._replace(inputs=1))
    assert [it.inputs for it in results.bounds] == [1]
    for strategy in results.strategies.values():
        cases = [(it.topology, it.inputs) for it in strategy.results]
        assert cases == [(ALL_TO_ALL, 1), (RING, 1)]
