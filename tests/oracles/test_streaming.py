"""Row streaming in the pipeline: report/streaming.py and report/sram.py against numbers worked out
by hand and against row_simulation.py, which starts every row by itself and accounts for every byte.
They share a layer's sizes (lab3.ConvLayer) and nothing else: no start times, no closed form, no
needs."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab3 import NETWORK, SYSTEM, ConvLayer, System, pipeline_parallel_traffic
from machines import networks
from oracles.row_simulation import StalledError, simulate
from report.sram import pipeline_streamed_sram
from report.streaming import streamed_pipeline_latency

AMPLE_BYTES = 10**9


def times(run, *places):
    """When the jobs of a node or a link start and end."""
    return [[(job.start_s, job.end_s) for job in run.jobs[place]] for place in places]


# ------------------------------------------------ pipelines by pencil

# Weights, input row, output row: node 1 has 1, 1, 1 bytes, node 2 has 2, 1, 2.
# At 2 ops/s and 1 byte/s a row takes node 1 one second, the link one, node 2 two.
WIDENING = (ConvLayer(1, 1, 1, 1, 1, 3, 1), ConvLayer(2, 1, 1, 1, 1, 3, 1))

# Weights, input row, output row: node 1 has 1, 3, 3 bytes, node 2 has 6, 3, 1.
# At 6 ops/s and 3 bytes/s a row takes node 1 one second, the link one, node 2 two.
OBLONG = (ConvLayer(1, 1, 1, 1, 3, 3, 1), ConvLayer(1, 1, 3, 2, 3, 3, 1))

# Weights, input row, output row: node 1 has 2, 1, 2 bytes, node 2 has 6, 2, 3, node 3 has 3, 3, 1.
# At 2 ops/s and 1 byte/s a row takes 2 s, on its link 2 s, 6 s, on its link 3 s, 3 s.
CONTENDED = (
    ConvLayer(2, 1, 1, 1, 1, 3, 1),
    ConvLayer(3, 2, 1, 1, 1, 3, 1),
    ConvLayer(1, 3, 1, 1, 1, 3, 1),
)


def machine(ops_per_s, link_bytes_per_s, sram_bytes=AMPLE_BYTES, nodes=3):
    return System(nodes, ops_per_s, link_bytes_per_s, sram_bytes)


def test_pipeline_with_ample_sram():
    run = simulate(WIDENING, machine(2, 1))
    assert times(run, 1, (1, 2), 2) == [
        [(0, 1), (1, 2), (2, 3)],
        [(1, 2), (2, 3), (3, 4)],
        [(2, 4), (4, 6), (6, 8)],
    ]
    assert run.traffic_bytes == 3
    # Node 1 at 0: weights 1 + input 3 + row 1. Node 2 at 6: weights 2 + last row 1 + output 6.
    assert run.peak_bytes == {1: 5, 2: 9}
    # of the next input node 2 starts the first row at 8, and ends the last at 14
    for inputs, latency_s in [(1, 8), (2, 14), (10, 62)]:
        assert streamed_pipeline_latency(WIDENING, machine(2, 1), inputs) == latency_s


def test_a_row_waits_for_room():
    # Node 2 keeps 6 bytes for its output and 2 are weights: of 9 bytes 1 is left for one row.
    # The link carries the next as soon as the last is used up, at 4 and 7: 1 + 3 * (1 + 2) s.
    run = simulate(WIDENING, machine(2, 1, sram_bytes=9))
    assert times(run, (1, 2)) == [[(1, 2), (4, 5), (7, 8)]]
    assert run.latency_s == 10
    assert run.peak_bytes == {1: 5, 2: 9}


def test_a_row_waits_for_the_rows_that_its_filter_covers():
    # Node 2's filter is 3 wide and 2 high: row 0 starts with the second row's arrival at 3.
    run = simulate(OBLONG, machine(6, 3))
    assert times(run, 2) == [[(3, 5), (5, 7)]]
    # Node 1 at 0: 1 + 9 + 3. Node 2 at 3: weights 6 + three rows 9 + output row 1.
    assert run.peak_bytes == {1: 13, 2: 16}
    assert streamed_pipeline_latency(OBLONG, machine(6, 3)) == 7


def test_a_row_leaves_with_its_last_use():
    # Of 14 bytes node 2 has 6 for input rows. Row 0 is used up at 5, and row 2 is sent then.
    run = simulate(OBLONG, machine(6, 3, sram_bytes=14))
    assert times(run, 2) == [[(3, 5), (6, 8)]]
    # Node 2 at 6: weights 6 + rows 1 and 2 + output rows 0 and 1.
    assert run.peak_bytes == {1: 13, 2: 14}


def test_too_little_sram_stalls():
    # Of 13 bytes 5 are left for input rows, where the filter needs 6. In the end node 1 holds
    # weights 1 + output rows 1 and 2, which node 2 cannot take, and node 2 weights 6 + row 0.
    with pytest.raises(StalledError, match=r"of 13 bytes .* {1: 7, 2: 9}"):
        simulate(OBLONG, machine(6, 3, sram_bytes=13))


@pytest.mark.parametrize(("sram_bytes", "latency_s"), [(14, 28), (15, 31), (16, 28)])
def test_more_sram_may_delay(sram_bytes, latency_s):
    # With 14 bytes node 2 computes from 4 to 22 without a pause, and 3 + 3 s later all is done. At
    # 10 it holds weights 6 + input row 1 + output rows 0 and 1 = 14. With 15 it has admitted
    # input row 2 as well, so that output row 1 must wait until row 0 has left at 13; with 16
    # there is room for all.
    assert simulate(CONTENDED, machine(2, 1, sram_bytes)).latency_s == latency_s


# ------------------------------------------------ random


@st.composite
def streams(draw):
    """A random network, system with ample SRAM, inputs: from fast links to slow ones."""
    network = draw(networks(4))
    nodes = draw(st.integers(len(network), 6))
    ops_per_s = draw(st.builds(Fraction, st.integers(1, 200), st.integers(1, 9)))
    ops_a_byte = draw(st.builds(Fraction, st.integers(1, 200), st.sampled_from([1, 3, 20, 200])))
    system = System(nodes, ops_per_s, ops_per_s / ops_a_byte, AMPLE_BYTES)
    return network, system, draw(st.integers(1, 12))


@given(streams())
def test_latency_and_traffic_are_as_simulated(stream):
    run = simulate(*stream)
    assert run.latency_s == streamed_pipeline_latency(*stream)
    assert run.traffic_bytes == pipeline_parallel_traffic(*stream)


def pipeline_needs(network, system, inputs):
    """The most that a node needs, where the inputs that wait do so on node 1."""
    first, *others = [use.total_bytes for use in pipeline_streamed_sram(network, system)]
    return max(first + (inputs - 1) * network[0].input_bytes, *others, 0)


@given(streams())
def test_a_pipeline_needs_so_much_sram_and_no_less(stream):
    network, system, inputs = stream
    needed_bytes = pipeline_needs(*stream)
    for sram_bytes in (needed_bytes, needed_bytes + 1, needed_bytes + 7):
        run = simulate(network, system._replace(sram_bytes=sram_bytes), inputs)
        assert run.latency_s >= streamed_pipeline_latency(*stream)
        assert max(run.peak_bytes.values()) <= sram_bytes
    if len(network) > 1:
        with pytest.raises(StalledError):
            simulate(network, system._replace(sram_bytes=needed_bytes - 1), inputs)


# ------------------------------------------------ the lab


@pytest.mark.parametrize("inputs", [1, 32])
def test_sram_of_the_lab_with_pipeline_parallelism(inputs):
    # Node 1's weights, its inputs and a row: 6,912 + 32 * 6,144 + 7,680 = 211,200. The others as in
    # one input.
    assert pipeline_needs(NETWORK, SYSTEM, inputs) == 462_336
    least = SYSTEM._replace(sram_bytes=462_336)
    run = simulate(NETWORK, least, inputs)
    assert run.latency_s == streamed_pipeline_latency(NETWORK, SYSTEM, inputs)
    assert max(run.peak_bytes.values()) == 462_336
    with pytest.raises(StalledError):
        simulate(NETWORK, least._replace(sram_bytes=462_335), inputs)


def test_the_labs_node_1_has_room_for_82_inputs():
    # 6,912 + 82 * 6,144 + 7,680 = 518,400 bytes; with one more, 524,544, 256 too many
    simulate(NETWORK, SYSTEM, 82)
    with pytest.raises(StalledError):
        simulate(NETWORK, SYSTEM, 83)
