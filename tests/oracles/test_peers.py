"""Third-party programs: ASTRA-sim's recorded cycles share nothing with lab3.py; heteropipe, run
here, is given the seconds of the pipeline's steps, and has closed forms of its own."""

from fractions import Fraction

import pytest
from heteropipe import makespan_async, makespan_blocking
from hypothesis import given
from hypothesis import strategies as st

from lab3 import NETWORK, SYSTEM, pipeline_parallel_latency, tensor_parallel_latency
from machines import pipeline_parallel_cases
from oracles.simulation import simulate
from report.steps import pipeline_steps

# ------------------------------------------------ ASTRA-sim, recorded

# ASTRA-sim, commit 518bd51, was run once on the lab: analytical congestion-aware backend, Chakra
# workloads, all-to-all links set to exactly 2 * 10^9 bytes/s, a cycle to 10 ps. These are the
# cycles at which it finished. (With its defaults it reads 2 GB/s as 2 * 2^30 bytes/s and cuts to
# whole ns, which is 0.2 % off.)
CYCLE_S = Fraction(10, 10**12)


@pytest.mark.parametrize(
    ("latency", "inputs", "recorded_cycles"),
    [
        (tensor_parallel_latency, 1, 312_726_016),
        (pipeline_parallel_latency, 1, 1_243_531_264),
        (tensor_parallel_latency, 32, 10_007_232_512),
        (pipeline_parallel_latency, 32, 15_578_613_760),
    ],
)
def test_cycles_that_astra_sim_recorded(latency, inputs, recorded_cycles):
    assert latency(NETWORK, SYSTEM, inputs) == recorded_cycles * CYCLE_S


# ------------------------------------------------ heteropipe
#
# It has closed forms for pipelines of unequal stages, in floats. It takes a send for a delay, which
# several inputs can have at once. So it is the law where the bottleneck is a node; where it is a
# send, it falls short by the difference for each further input.


def run_heteropipe(makespan, network, system, inputs):
    """Its makespan, for the seconds of each node and of each send."""
    seconds = [step.time_s for step in pipeline_steps(network, system)]
    return makespan(seconds[::2], inputs, seconds[1::2])


def close_to(value):
    return pytest.approx(float(value), rel=1e-12)


@given(pipeline_parallel_cases(), st.integers(1, 100))
def test_heteropipe_gives_the_law_less_what_a_send_is_longer_than_all_computations(case, inputs):
    seconds = [step.time_s for step in pipeline_steps(*case)]
    shortfall_s = (inputs - 1) * (max(seconds) - max(seconds[::2]))
    expected_s = pipeline_parallel_latency(*case, inputs) - shortfall_s
    assert run_heteropipe(makespan_async, *case, inputs) == close_to(expected_s)


@pytest.mark.parametrize(
    ("bandwidth", "law_s", "heteropipe_s"),
    [
        (2 * 10**9, "0.1557861376", 0.1557861376),
        (40 * 10**6, "0.20579723264", 0.17058805760),
        (20 * 10**6, "0.39946123264", 0.18569205760),
    ],
)
def test_heteropipe_the_law_and_a_simulation_for_the_lab(bandwidth, law_s, heteropipe_s):
    # 40 MB/s: 5.76 ms a send, 4.62422016 a computation, 31 times the difference of 1.13577984
    lab = NETWORK, SYSTEM._replace(link_bytes_per_s=bandwidth)
    assert run_heteropipe(makespan_async, *lab, 32) == close_to(heteropipe_s)
    assert pipeline_parallel_latency(*lab, 32) == Fraction(law_s)
    assert simulate(*lab, "pipeline", 32)[0] == Fraction(law_s)


def test_heteropipe_gives_the_reading_in_which_a_node_that_sends_does_not_compute():
    assert run_heteropipe(makespan_blocking, NETWORK, SYSTEM, 32) == close_to("0.1588970496")
