"""report/steps.py against steps worked out by hand, and against the closed forms of lab3.py."""

from fractions import Fraction

import pytest

pytest.importorskip("hypothesis")

from hypothesis import given
from hypothesis import strategies as st

import machines
from machines import NETWORK, ODD, ODD_ALL_TO_ALL, SYSTEM, closed_forms
from random_machines import cases_of_both
from report.question import LAB
from report.steps import (
    compute_bound,
    find_interval,
    pipeline_steps,
    slowest_node_bound,
    tensor_steps,
)

INPUTS = st.sampled_from([1, 2, 3, 32, 10**6])


def numbers(network, system, inputs):
    """Add up steps: seconds and bytes of tensor parallelism, then of the pipeline."""
    tensor, pipeline = tensor_steps(network, system), pipeline_steps(network, system)
    found = []
    for strategy, steps in (("tensor", tensor), ("pipeline", pipeline)):
        first_s = sum(step.time_s for step in steps)
        found.append(first_s + (inputs - 1) * find_interval(strategy, steps))
        found.append(inputs * sum(step.traffic_bytes for step in steps))
    return found


# ------------------------------------------------ by hand


@pytest.mark.parametrize(
    ("steps", "network", "system", "expected"),
    [
        (tensor_steps, NETWORK, SYSTEM, machines.LAB_TENSOR_STEPS),
        (pipeline_steps, NETWORK, SYSTEM, machines.LAB_PIPELINE_STEPS),
        (tensor_steps, *ODD[:2], machines.ODD_TENSOR_STEPS),
        (tensor_steps, *ODD_ALL_TO_ALL[:2], machines.ODD_TENSOR_STEPS_ALL_TO_ALL),
        (pipeline_steps, *ODD[:2], machines.ODD_PIPELINE_STEPS),
        (pipeline_steps, *ODD_ALL_TO_ALL[:2], machines.ODD_PIPELINE_STEPS),
    ],
)
def test_each_step(steps, network, system, expected):
    found = steps(network, system)
    assert found == [(*sizes, Fraction(time_us) / 10**6) for *sizes, time_us in expected]
    assert {type(size) for step in found for size in step[2:5]} == {int}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (LAB, machines.LAB_NUMBERS),
        (ODD, machines.ODD_NUMBERS),
        (ODD_ALL_TO_ALL, machines.ODD_NUMBERS_ALL_TO_ALL),
    ],
)
def test_what_the_steps_add_up_to(question, expected):
    for inputs, (tensor_s, tensor_bytes, pipeline_s, pipeline_bytes) in expected.items():
        exact = [Fraction(tensor_s), tensor_bytes, Fraction(pipeline_s), pipeline_bytes]
        assert numbers(*question[:2], inputs) == exact
        assert closed_forms(*question[:2], inputs) == exact


def test_the_lower_bounds():
    # 606,661,632 ops by four nodes in 3,033.30816 us; node 2 computes 4,624.22016 us per input
    assert compute_bound(NETWORK, SYSTEM, 32) == Fraction("0.09706586112")
    assert slowest_node_bound(NETWORK, SYSTEM, 32) == 32 * Fraction("0.00462422016")
    # 60,864 ops by six nodes, 31,104 by one, at 62.5 per ms; one input unless told
    assert compute_bound(*ODD) == 8 * compute_bound(*ODD[:2]) == 8 * Fraction("0.162304")
    assert slowest_node_bound(*ODD) == 8 * slowest_node_bound(*ODD[:2]) == 8 * Fraction("0.497664")


# ------------------------------------------------ against lab3.py


@given(cases_of_both(), INPUTS)
def test_steps_add_up_to_the_closed_forms(case, inputs):
    assert numbers(*case, inputs) == closed_forms(*case, inputs)
    system = case[1]
    for step in [*tensor_steps(*case), *pipeline_steps(*case)]:
        compute_s = Fraction(step.node_ops) / system.ops_per_s
        assert step.time_s == compute_s + Fraction(step.link_bytes) / system.link_bytes_per_s
