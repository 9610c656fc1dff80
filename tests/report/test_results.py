"""report/results.py: parts add up, and verdicts are those of the formulas, on random questions.
test_explain.py has the numbers by hand."""

from fractions import Fraction

import pytest

pytest.importorskip("hypothesis")
pytest.importorskip("matplotlib")

from hypothesis import given
from hypothesis import strategies as st

from lab3 import ConvLayer, System
from random_machines import cases_of_both, questions
from report.model import RING, Model
from report.question import ALL_TO_ALL, ONE_WAY_RING, Question, list_possible
from report.results import compute_bound, compute_losses, find_results, list_verdicts


@given(questions())
def test_nothing_is_faster_than_its_bound_and_what_is_lost_adds_up(question):
    for inputs in question.amounts:
        bound_s, node_s = (
            compute_bound(question, name, inputs) for name in ("lower bound", "slowest node")
        )
        for found in find_results(question, inputs).values():
            assert bound_s == found.utilisation * found.latency_s <= found.latency_s
        if "pipeline" in list_possible(question):
            assert bound_s <= node_s <= found.latency_s
    if "pipeline" in list_possible(question):
        losses = compute_losses(question).values()
        assert sum(losses) == found.latency_s and min(losses) >= 0


# ------------------------------------------------ which is faster on which links
def find_verdict(network, system, inputs, topology=ALL_TO_ALL):
    verdicts = list_verdicts(Question(tuple(network), system, inputs))
    [verdict] = [it for it in verdicts if it[:2] == (topology, inputs)]
    return verdict


def find_faster(network, system, inputs, topology, bandwidth):
    """Compare the formulas on links of this bandwidth."""
    case = network, system._replace(link_bytes_per_s=bandwidth), inputs
    tensor = Model("tensor", *case).edit(*[RING] * (topology == ONE_WAY_RING))
    lead_s = Model("pipeline", *case)["latency"] - tensor["latency"]
    return "tensor" if lead_s > 0 else "pipeline" if lead_s < 0 else "neither"


ALIKE = ConvLayer(6, 6, 1, 1, 2, 2)  # 288 ops and 48 bytes: a machine with R / B = 6 is balanced


@given(
    cases_of_both(),
    st.sampled_from([1, 2, 3, 5, 32, 10**6]),
    st.sampled_from([ALL_TO_ALL, ONE_WAY_RING]),
)
def test_verdicts_are_those_of_the_formulas(case, inputs, topology):
    verdict = find_verdict(*case, inputs, topology)
    equal = verdict.equal_bytes_per_s
    assert equal == sorted({*equal}) and len(verdict.faster) == len(equal) + 1
    for bandwidth in equal:
        assert find_faster(*case, inputs, topology, bandwidth) == "neither"
    # close to each of them on both sides, and far from all
    distances = [1 + Fraction(1, 10**6), *(Fraction(3, 2) ** n for n in range(1, 60, 3))]
    for start in [min(equal, default=10**6), max(equal, default=10**6)]:
        for bandwidth in [start * it for far in distances for it in (far, 1 / far)]:
            if bandwidth not in equal:
                place = sum(it < bandwidth for it in equal)
                assert verdict.faster[place] == find_faster(*case, inputs, topology, bandwidth)


@pytest.mark.parametrize(
    ("network", "system", "inputs", "equal", "faster"),
    [
        # 3 layers on 3 nodes take 3 + 2 + 3 times 288 ops at R / B = 6, and 4 * (1 + 1) times
        ([ALIKE] * 3, System(3, 600), 4, [100], ["tensor", "tensor"]),
        # below, both take 288 + 288 ops and 48 + 48 bytes
        ([ALIKE] * 2, System(2, 600), 2, [100], ["neither", "tensor"]),
        ([ALIKE], System(1, 600), 3, [], ["neither"]),
    ],
)
def test_both_may_be_equal_once_everywhere_or_never(network, system, inputs, equal, faster):
    assert find_verdict(network, system, inputs)[2:] == (equal, faster)
