"""What another simulator found for the same lab: recorded figures, nothing is run here."""

from fractions import Fraction

import pytest

from lab3 import NETWORK, SYSTEM, pipeline_parallel_latency, tensor_parallel_latency

# ASTRA-sim, commit 518bd51, was run once on the lab: analytical congestion-aware backend, Chakra
# traces, all-to-all links set to exactly 2 * 10^9 bytes/s, a cycle to 10 ps. These are the cycles
# at which it finished. (With its defaults it reads 2 GB/s as 2 * 2^30 bytes/s and cuts to whole ns,
# which is 0.2 % off.)
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
