"""report/results.py: parts add up, and verdicts are those of lab3.py's closed forms, on random
questions; what happens if lab3.py is changed. test_explain.py has the numbers by hand."""

from fractions import Fraction

import pytest

pytest.importorskip("hypothesis")
pytest.importorskip("matplotlib")

from hypothesis import given
from hypothesis import strategies as st

import lab3
from lab3 import RING, ConvLayer, System
from machines import NETWORK, SYSTEM
from program import output, refusal
from random_machines import cases_of_both, questions
from report.question import LAB, Question
from report.results import compute_results


@given(questions())
def test_nothing_is_faster_than_its_bound_and_what_is_lost_adds_up(question):
    results = compute_results(question)
    for bounds in results.bounds:
        for found in results.find(bounds.inputs).values():
            assert bounds.lower_bound_s == found.utilisation * found.latency_s <= found.latency_s
        if results.losses:
            assert bounds.lower_bound_s <= bounds.slowest_node_s <= found.latency_s
    if results.losses:
        assert sum(results.losses) == found.latency_s and min(results.losses) >= 0


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


# ------------------------------------------------ a changed lab3.py


def change(monkeypatch, name, give=lambda right: right + 1, where=lambda system, inputs: True):
    """Let a function of lab3.py give something else, everywhere or in some cases."""
    before = getattr(lab3, name)

    def changed(network, system, inputs=1):
        right = before(network, system, inputs)
        return give(right) if where(system, inputs) else right

    monkeypatch.setattr(lab3, name, changed)


@pytest.mark.parametrize(
    ("name", "changed", "right"),
    [
        ("tensor_parallel_latency", "1.00312726016 s", "0.00312726016 s"),
        ("tensor_parallel_traffic", "1923073 bytes", "1923072 bytes"),
        ("pipeline_parallel_latency", "1.01243531264 s", "0.01243531264 s"),
        ("pipeline_parallel_traffic", "604161 bytes", "604160 bytes"),
    ],
)
def test_every_command_says_if_lab3_is_not_what_the_model_gives(
    tmp_path, monkeypatch, name, changed, right
):
    monkeypatch.chdir(tmp_path)
    change(monkeypatch, name)
    why = f"for 1 input, lab3.py's {name} gives {changed}, report/model.py gives {right}: change"
    for command in (
        "explain",
        "explain Q3",
        "explain --json",
        "picture timeline",
        "picture limits",
    ):
        assert why in refusal(command)
    assert "handout's numbers" in refusal("deck --output .")
    assert list(tmp_path.iterdir()) == []
    printed = output("whatif")
    assert printed.startswith(f"{lab3.answers(*LAB)}\n") and changed.split()[0] in printed


def is_ring(system, inputs):
    return system.topology == RING


@pytest.mark.parametrize(
    ("options", "where", "case"),
    [
        ("", is_ring, "for 1 input on a ring, lab3.py's"),
        ("--topology ring", is_ring, "for 1 input, lab3.py's"),
        ("--topology ring", lambda *case: not is_ring(*case), "with all-to-all links, lab3.py's"),
        ("", lambda system, inputs: inputs > 1, "for 32 inputs, lab3.py's"),
    ],
)
def test_the_first_case_on_the_page_that_differs_is_named(monkeypatch, options, where, case):
    change(monkeypatch, "tensor_parallel_traffic", where=where)
    assert case in refusal(f"explain {options}")


def test_a_float_is_not_the_exact_number_however_near(monkeypatch):
    change(monkeypatch, "pipeline_parallel_latency", float)
    assert "gives 0.0124353126399999996" in refusal("explain")
