"""report/results.py on random questions, against the closed forms of lab3.py and the jobs of the
timeline; verdicts; and what happens if lab3.py is changed. test_explain.py has numbers by hand."""

from fractions import Fraction

import pytest

pytest.importorskip("hypothesis")

from hypothesis import example, given
from hypothesis import strategies as st

import lab3
from lab3 import ALL_TO_ALL, RING, ConvLayer, System
from machines import CLOSED_FORMS, NETWORK, ODD, SYSTEM
from program import output, refusal
from random_machines import cases_of_both, questions
from report.model import compute_bound
from report.question import LAB, Question
from report.results import compute_results
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


# ------------------------------------------------ which is faster on which links


def find_verdict(network, system, inputs):
    results = compute_results(Question(network, system, inputs))
    [verdict] = [it for it in results.verdicts if it[:2] == (system.topology, inputs)]
    return verdict


def find_faster(network, system, inputs, bandwidth):
    """Compare lab3.py's closed forms on links of this bandwidth."""
    case = network, system._replace(link_bytes_per_s=bandwidth), inputs
    lead_s = lab3.pipeline_parallel_latency(*case) - lab3.tensor_parallel_latency(*case)
    return "tensor" if lead_s > 0 else "pipeline" if lead_s < 0 else "neither"


ALIKE = ConvLayer(6, 6, 1, 1, 2, 2)  # 288 ops and 48 bytes: a machine with R / B = 6 is balanced


@given(cases_of_both(), st.sampled_from([1, 2, 3, 5, 32, 10**6]))
@example((NETWORK, SYSTEM), 32)
@example(([ALIKE] * 3, System(3, 600)), 4)
@example(([ALIKE] * 2, System(2, 600)), 2)
def test_verdicts_are_those_of_the_closed_forms(case, inputs):
    verdict = find_verdict(*case, inputs)
    equal = verdict.equal_bytes_per_s
    assert equal == sorted({*equal}) and len(verdict.faster) == len(equal) + 1
    for bandwidth in equal:
        assert find_faster(*case, inputs, bandwidth) == "neither"
    # close to each of them on both sides, and far from all
    distances = [1 + Fraction(1, 10**6), *(Fraction(3, 2) ** n for n in range(1, 60))]
    for start in [min(equal, default=10**6), max(equal, default=10**6)]:
        for bandwidth in [start * it for far in distances for it in (far, 1 / far)]:
            if bandwidth not in equal:
                place = sum(it < bandwidth for it in equal)
                assert verdict.faster[place] == find_faster(*case, inputs, bandwidth)


@pytest.mark.parametrize(
    ("network", "system", "inputs", "equal", "faster"),
    [
        (NETWORK, SYSTEM, 1, [], ["tensor"]),
        (NETWORK, SYSTEM._replace(topology=RING), 1, [], ["tensor"]),
        # 3 layers on 3 nodes take 3 + 2 + 3 times 288 ops at R / B = 6, and 4 * (1 + 1) times
        ([ALIKE] * 3, System(3, 600), 4, [100], ["tensor", "tensor"]),
        # below, both take 288 + 288 ops and 48 + 48 bytes
        ([ALIKE] * 2, System(2, 600), 2, [100], ["neither", "tensor"]),
        ([ALIKE], System(1, 600), 3, [], ["neither"]),
        ([ALIKE] * 2, System(3, 600), 1, [], ["tensor"]),
    ],
)
def test_both_may_be_equal_once_everywhere_or_never(network, system, inputs, equal, faster):
    assert find_verdict(network, system, inputs)[2:] == (equal, faster)


def test_one_strategy_has_no_verdict():
    assert compute_results(LAB._replace(system=System(nodes=2))).verdicts == []


# ------------------------------------------------ what is possible


@pytest.mark.parametrize(("strategy", "nodes"), [("tensor", 5), ("pipeline", 2)])
def test_an_impossible_strategy_has_a_reason_and_no_results(strategy, nodes):
    system = ODD.system._replace(nodes=nodes, link_bytes_per_s=1_500)  # node 3 is the bottleneck
    results = compute_results(ODD._replace(system=system))
    assert [*results.impossible] == [strategy]
    assert strategy not in results.strategies and strategy not in results.sram
    is_tensor = strategy == "tensor"
    assert (results.losses is None, results.bounds[0].slowest_node_s is None) == (
        (not is_tensor,) * 2
    )
    assert [it is None for it in results.uncounted] == [is_tensor, is_tensor, not is_tensor]


# ------------------------------------------------ a changed lab3.py


@pytest.fixture
def change(monkeypatch):
    """Change what a function of lab3.py gives, everywhere or in some cases."""

    def change_function(name, convert, is_changed=lambda system, inputs: True):
        before = getattr(lab3, name)

        def changed(network, system, inputs=1):
            right = before(network, system, inputs)
            return convert(right) if is_changed(system, inputs) else right

        monkeypatch.setattr(lab3, name, changed)

    return change_function


def add_one(right):
    return right + 1


@pytest.mark.parametrize(
    ("name", "given", "added"),
    [
        ("tensor_parallel_latency", "1.00312726016 s", "0.00312726016 s"),
        ("tensor_parallel_traffic", "1923073 bytes", "1923072 bytes"),
        ("pipeline_parallel_latency", "1.01243531264 s", "0.01243531264 s"),
        ("pipeline_parallel_traffic", "604161 bytes", "604160 bytes"),
    ],
)
def test_every_command_says_if_lab3_is_not_what_the_model_gives(
    change, tmp_path, monkeypatch, name, given, added
):
    monkeypatch.chdir(tmp_path)
    change(name, add_one)
    why = f"lab3.py's {name} gives {given}, report/model.py gives {added}:"
    for command in ("explain", "explain Q3", "explain all", "explain --json"):
        assert f"for 1 input, {why} change both" in refusal(command)
    for command in ("picture timeline", "picture limits"):
        assert why in refusal(command)
    assert "handout's numbers" in refusal("deck --output .")
    assert list(tmp_path.iterdir()) == []
    printed = output("whatif")
    assert printed.startswith(f"{lab3.answers(*LAB)}\n") and given.split()[0] in printed


@pytest.mark.parametrize(
    ("options", "changed", "why"),
    [
        (
            "",
            ("tensor_parallel_traffic", add_one, lambda system, _: system.topology == RING),
            "for 1 input on a ring, lab3.py's tensor_parallel_traffic gives 2033665 bytes",
        ),
        (
            "--topology ring",
            ("tensor_parallel_traffic", add_one, lambda system, _: system.topology == RING),
            "for 1 input, lab3.py's tensor_parallel_traffic gives 2033665 bytes",
        ),
        (
            "--topology ring --inputs 2",
            (
                "tensor_parallel_traffic",
                add_one,
                lambda system, n: system.topology != RING and n > 1,
            ),
            "for 2 inputs with all-to-all links, lab3.py's tensor_parallel_traffic gives 3846145",
        ),
        # a float is not the exact number, however near
        ("", ("pipeline_parallel_latency", float), "gives 0.0124353126399999996"),
    ],
)
def test_the_sentence_names_the_case(change, options, changed, why):
    change(*changed)
    assert why in refusal(f"explain {options}")


def test_of_several_differences_the_first_on_the_page_is_told(change):
    change("pipeline_parallel_traffic", add_one)
    assert "for 1 input, lab3.py's pipeline_parallel_traffic" in refusal("explain")
    change("tensor_parallel_traffic", add_one, lambda _, inputs: inputs > 1)
    change("tensor_parallel_latency", add_one, lambda system, _: system.topology == RING)
    assert "for 1 input, lab3.py's pipeline_parallel_traffic" in refusal("explain")
    ring = refusal("explain --topology ring")
    assert "for 1 input, lab3.py's tensor_parallel_latency" in ring
