"""What other tools say of the same lab."""

from fractions import Fraction

import pytest

from lab3 import NETWORK, SYSTEM, pipeline_parallel_latency, tensor_parallel_latency

# ASTRA-sim, commit 518bd51: its analytical congestion-aware backend, fed with Chakra traces of the
# lab, links set to exactly 2 * 10^9 bytes/s, a cycle to 10 ps. The cycle at which each case ends.
# (By default it reads 2 GB/s as 2 * 2^30 bytes/s and cuts to whole ns, which is 0.2 % off.)
ASTRA_SIM_CYCLE_S = Fraction(10, 10**12)


@pytest.mark.parametrize(
    ("latency", "inputs", "cycles"),
    [
        (tensor_parallel_latency, 1, 312_726_016),
        (pipeline_parallel_latency, 1, 1_243_531_264),
        (tensor_parallel_latency, 32, 10_007_232_512),
        (pipeline_parallel_latency, 32, 15_578_613_760),
    ],
)
def test_astra_sim_ends_at_the_same_cycle(latency, inputs, cycles):
    assert latency(NETWORK, SYSTEM, inputs) == cycles * ASTRA_SIM_CYCLE_S
