"""Links on which a plan is faster than tensor parallelism: by hand, and by trying bandwidths, on
which the law is asked for both latencies, independent of how the range is solved for."""

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lab3 import NETWORK, SYSTEM, ConvLayer, System, tensor_parallel_latency
from oracles.test_plan_search import searches
from report.plans import parse_plan
from report.search import every_plan, faster_between, plan_result

RING = SYSTEM._replace(topology="ring")
TENSOR, PIPELINE = parse_plan("1-4:4"), parse_plan("1,2,3,4")


@pytest.mark.parametrize(
    ("inputs", "bounds"),
    [
        # Tensor parallelism takes 32 * (3,033.30816 us + 187,904 / B). The pipeline: 12,133.23264
        # + 31 * 4,624.22016 = 155,484.0576 us + 604,160 / B, more where B is above 5,408,768 /
        # 58,418.19648 us; or 12,133.23264 us + (604,160 + 31 * 230,400) / B, more where B is below
        # 1,733,632 / 84,932.62848 us.
        (32, (1_733_632 / Fraction("0.08493262848"), 5_408_768 / Fraction("0.05841819648"))),
        (16, (1_053_696 / Fraction("0.03639969792"), 2_402_304 / Fraction("0.03296360448"))),
        (9, None),
        (1, None),
    ],
)
def test_the_labs_pipeline(inputs, bounds):
    assert faster_between(NETWORK, SYSTEM, PIPELINE, inputs) == bounds


def test_other_machines():
    # On the ring tensor parallelism carries 563,712 bytes an input: 17,434,624 / 58,418.19648 us
    high = 17_434_624 / Fraction("0.05841819648")
    assert faster_between(NETWORK, RING, PIPELINE, 32) == (0, high)
    assert faster_between(NETWORK, SYSTEM._replace(nodes=8), PIPELINE, 32) is None
    assert faster_between(NETWORK, SYSTEM, TENSOR, 32) is None
    assert faster_between(NETWORK, RING, PIPELINE) is None  # for one input
    assert faster_between(NETWORK, RING, PIPELINE, 2) is not None


def test_links_without_an_end():
    # Layer 1: 2 filters of 2 weights over 4 x 4 places, 128 ops, 64 bytes; twice. Two nodes in
    # tensor parallelism: 64 + 64 ops and 32 + 32 bytes an input. As a pipeline 3 inputs take 256 +
    # 2 * 128 ops and 64 bytes, less than 3 * 128 ops and 3 * 64 bytes if 128 / 128 < 128 / B; 256
    # ops and 3 * 64 bytes always are.
    network = [ConvLayer(2, 2, 1, 1, 4, 4)] * 2
    system = System(nodes=2, ops_per_s=128)
    assert faster_between(network, system, [(1, 1), (1, 1)], 3) == (0, 128)
    # 2 inputs: 256 ops and 2 * 64 bytes are what tensor parallelism takes.
    assert faster_between(network, system, [(1, 1), (1, 1)], 2) is None
    # Layers of 64 ops and of 8 and 4 bytes. On four nodes 16 + 16 ops and 2 + 1 bytes an input; as
    # two groups of two nodes 32 ops, 4 bytes to send, 32 ops and 2 bytes to gather. 9 inputs: 64 +
    # 8 * 32 ops are more than 9 * 32 by 32, 6 bytes and 8 times the last group's 2 less than 9 * 3
    # by 5: faster if 5 / B > 32 / 32. With 8 times the 4 bytes sent 9 * 32 - 64 = 224 ops less and
    # 38 - 27 = 11 bytes more: faster if 11 / B < 224 / 32.
    network = [ConvLayer(4, 4, 1, 1, 2, 1, 1), ConvLayer(4, 4, 2, 1, 2, 1, 1)]
    system = System(nodes=4, ops_per_s=32)
    assert faster_between(network, system, [(1, 2), (1, 2)], 9) == (Fraction(11, 7), 5)


def test_an_interval_of_one_point_is_none():
    # 8 and 16 ops, 8 and 4 bytes of output, 1 op/s. 3 inputs in tensor parallelism: 3 * (4 + 8) =
    # 36 ops, 3 * (4 + 2) = 18 bytes. As a pipeline 24 ops, 8 bytes, and twice the longest: with 16
    # ops 56 + 8 / B < 36 + 18 / B needs B < 1/2; with 8 bytes 24 + 24 / B < 36 + 18 / B, B > 1/2.
    network = [ConvLayer(2, 1, 1, 1, 2, 1), ConvLayer(2, 2, 2, 1, 2, 1)]
    system = System(nodes=2, ops_per_s=1)
    assert faster_between(network, system, [(1, 1), (1, 1)], 3) is None


@given(searches(), st.data())
def test_where_a_plan_is_faster(search, data):
    network, system, inputs = search
    assume(all(layer.filters % system.nodes == 0 for layer in network))
    plan = data.draw(st.sampled_from(every_plan(network, system)))

    def gap_s(link_bytes_per_s):
        machine = system._replace(link_bytes_per_s=link_bytes_per_s)
        tensor_s = tensor_parallel_latency(network, machine, inputs)
        return plan_result(network, machine, plan, inputs).latency_s - tensor_s

    bounds = faster_between(network, system, plan, inputs)
    drawn = data.draw(st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**6))
    if bounds is None:
        assert gap_s(drawn) >= 0
        return
    low, high = bounds
    assert (gap_s(drawn) < 0) == (low < drawn < high)
    near = (high - low) / 10**9
    assert gap_s(low + near) < 0 and gap_s(high - near) < 0
    assert not low or (gap_s(low) == 0 and gap_s(low - low / 10**9) >= 0)
    assert gap_s(high) == 0 and gap_s(high + near) >= 0
