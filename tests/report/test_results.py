"""report/results.py: steps worked out by hand; at random, nothing is used before it is there, nor
twice at once, the last end is the latency of lab3.py, and parts add up. test_explain.py has the
numbers by hand."""

from fractions import Fraction
from itertools import pairwise

import pytest

pytest.importorskip("hypothesis")
pytest.importorskip("matplotlib")

from hypothesis import given
from hypothesis import strategies as st

from machines import CLOSED_FORMS, LAB, ODD, ODD_PIPELINE_STEPS, ODD_TENSOR_STEPS
from random_machines import cases_of_both, questions
from report.model import RING, Model
from report.question import list_possible
from report.results import (
    compute_bound,
    compute_losses,
    find_bottleneck,
    find_results,
    list_numbers,
    list_steps,
)


# ------------------------------------------------ steps by hand
@pytest.mark.parametrize(
    ("strategy", "rows", "later_s"),
    [  # the next input starts when the one before is done, or a bottleneck after it
        ("tensor", ODD_TENSOR_STEPS, Fraction("0.416704")),
        ("pipeline", ODD_PIPELINE_STEPS, Fraction("0.576")),
    ],
)
def test_each_step_by_hand(strategy, rows, later_s):
    expected, ends_s = [], []
    for number in (1, 2, 3):
        clock_s = (number - 1) * later_s
        for *what, time_us, link_bytes, traffic_bytes in rows:
            time_s = Fraction(time_us) / 10**6
            step = strategy, number, *what, clock_s, time_s, link_bytes, traffic_bytes
            clock_s += time_s  # when the next step starts
            expected.append(step)
            ends_s.append(clock_s)
    listed = list_steps(Model(strategy, *ODD), 3)
    assert listed == expected and [step.end_s for step in listed] == ends_s
    assert {type(size) for step in listed for size in step[-2:]} == {int}


def test_steps_on_a_ring():
    # five shards cross each link; in the gather, 15 links are crossed
    listed = list_steps(Model("tensor", *ODD).edit(RING))[1::2]
    sent = [(step.link_bytes, step.traffic_bytes) for step in listed]
    assert sent == [(600, 3_600), (450, 2_700), (540, 1_620)]


def test_the_bottleneck_is_the_first_longest_step():
    def find(strategy, network, system):
        return find_bottleneck(Model(strategy, network, system))

    assert find("pipeline", *LAB[:2]) == "node 2"
    assert find("pipeline", *ODD[:2]) == "link 1 to 2"
    assert find("tensor", *ODD[:2]) is None
    assert find("pipeline", ODD.network[:1], ODD.system) == "node 1"
    # on links of 720 / 0.41472 bytes/s send 1 takes as long as node 2 computes; node 3 is faster
    rate = Fraction(720) / Fraction("0.41472")
    faster = ODD.network[2]._replace(filters=6)
    system = ODD.system._replace(link_bytes_per_s=rate)
    assert find("pipeline", (*ODD.network[:2], faster), system) == "link 1 to 2"


# ------------------------------------------------ random
def assert_in_turn(steps):
    assert all(one.start_s <= one.end_s <= after.start_s for one, after in pairwise(steps))


@given(cases_of_both(), st.sampled_from([*CLOSED_FORMS]), st.integers(1, 5))
def test_the_steps_are_possible_and_end_at_the_latency(case, strategy, inputs):
    listed = list_steps(Model(strategy, *case), inputs)
    latency, _ = CLOSED_FORMS[strategy]
    assert max(step.end_s for step in listed) == latency(*case, inputs)
    # an input's steps wait for each other, as do a node's; with tensor parallelism all steps do
    for number in range(1, inputs + 1):
        steps = [step for step in listed if step.input == number]
        layers = [step.layer for step in steps if step.work == "compute"]
        assert layers == [*range(1, len(case[0]) + 1)]
        assert_in_turn(steps)
    for where in {step.where for step in listed}:
        assert_in_turn([step for step in listed if strategy == "tensor" or step.where == where])


# ------------------------------------------------ parts add up
@given(questions())
def test_nothing_is_faster_than_its_bound_and_what_is_lost_adds_up(question):
    assert [row["inputs"] for row in list_numbers(question)["bounds"]] == [*question.amounts]
    for inputs in question.amounts:
        names = "lower bound", "slowest node"
        bound_s, node_s = (compute_bound(question, name, inputs) for name in names)
        for result in find_results(question, inputs).values():
            assert bound_s == result.utilisation * result.latency_s <= result.latency_s
        if "pipeline" in list_possible(question):
            assert bound_s <= node_s <= result.latency_s
    if "pipeline" in list_possible(question):
        losses = compute_losses(question).values()
        assert sum(losses) == result.latency_s and min(losses) >= 0
