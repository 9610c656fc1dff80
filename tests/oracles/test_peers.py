"""Third-party programs: ASTRA-sim's recorded cycles share nothing with lab3.py; heteropipe, run
here, is given the seconds of the pipeline's steps, and has closed forms of its own."""

from fractions import Fraction

import pytest

pytest.importorskip("hypothesis")
pytest.importorskip("heteropipe")

from heteropipe import makespan_async
from hypothesis import given
from hypothesis import strategies as st

from lab3 import pipeline_parallel_latency, tensor_parallel_latency
from machines import NETWORK, SYSTEM
from random_machines import cases_of_both

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


@given(cases_of_both(), st.integers(1, 100))
def test_heteropipe_gives_the_law_less_what_a_send_is_longer_than_all_computations(case, inputs):
    network, system = case
    compute_s = [Fraction(layer.ops) / system.ops_per_s for layer in network]
    send_s = [Fraction(layer.output_bytes) / system.link_bytes_per_s for layer in network[:-1]]
    shortfall_s = (inputs - 1) * (max(compute_s + send_s) - max(compute_s))
    expected_s = pipeline_parallel_latency(*case, inputs) - shortfall_s
    found_s = makespan_async(compute_s, inputs, send_s)
    assert found_s == pytest.approx(float(expected_s), rel=1e-12)
