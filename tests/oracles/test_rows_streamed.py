"""The row-streamed pipeline: by pencil, by a recurrence, by audits of its jobs, on the lab."""

from fractions import Fraction
from itertools import accumulate, groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab3 import (
    NETWORK,
    SYSTEM,
    ConvLayer,
    System,
    pipeline_parallel_latency,
    pipeline_parallel_traffic,
    sram_uses,
    tensor_parallel_latency,
)
from rows_streamed import StalledError, simulate

AMPLE_BYTES = 10**9

# ---------------------------------------------------------------------------- by pencil

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


def machine(ops_per_s, link_bytes_per_s, sram_bytes=AMPLE_BYTES):
    """Three nodes."""
    return System(3, ops_per_s, link_bytes_per_s, sram_bytes)


def test_rows_flow_with_ample_sram():
    # node 1  0 1 2 3            link    1 2 3 4            node 2    2 4 6 8
    run = simulate(WIDENING, machine(2, 1))
    assert run.jobs == (
        ("compute", 1, 0, 0, 1),
        ("compute", 1, 1, 1, 2),
        ("send", 1, 0, 1, 2),
        ("compute", 1, 2, 2, 3),
        ("send", 1, 1, 2, 3),
        ("compute", 2, 0, 2, 4),
        ("send", 1, 2, 3, 4),
        ("compute", 2, 1, 4, 6),
        ("compute", 2, 2, 6, 8),
    )
    assert run.latency_s == 8
    assert run.traffic_bytes == 3
    # Node 1 at 0: weights 1 + input 3 + row 1. Node 2 at 6: weights 2 + last row 1 + output 6.
    assert run.peak_bytes == (5, 9)


def test_a_row_waits_for_room():
    # Node 2 keeps 6 bytes for its output and 2 are weights: of 9 bytes 1 is left for one row.
    # The link carries the next as soon as the last is used up, at 4 and 7: 1 + 3 * (1 + 2) s.
    run = simulate(WIDENING, machine(2, 1, sram_bytes=9))
    assert [job.start_s for job in run.jobs if job.kind == "send"] == [1, 4, 7]
    assert run.latency_s == 10
    assert run.peak_bytes == (5, 9)


def test_rows_of_the_next_input_leave_room_for_the_output():
    # As above for 6 rows. If no room were kept, node 2 would be full from 6 s on and for ever:
    # weights 2 + two output rows 4 + input rows 2, 3 and 4, and output row 2 needs 2 bytes more.
    assert simulate(WIDENING, machine(2, 1, sram_bytes=9), inputs=2).latency_s == 1 + 6 * 3


def test_a_row_waits_for_the_rows_that_its_filter_covers():
    # Node 2's filter is 3 wide and 2 high: row 0 starts with the second row's arrival at 3.
    run = simulate(OBLONG, machine(6, 3))
    assert [job[2:] for job in run.jobs if job.layer == 2] == [(0, 3, 5), (1, 5, 7)]
    # Node 1 at 0: 1 + 9 + 3. Node 2 at 3: weights 6 + three rows 9 + output row 1.
    assert run.peak_bytes == (13, 16)


def test_a_row_leaves_with_its_last_use():
    # Of 14 bytes node 2 has 6 for input rows. Row 0 is used up at 5, and row 2 is sent then.
    run = simulate(OBLONG, machine(6, 3, sram_bytes=14))
    assert [job[2:] for job in run.jobs if job.layer == 2] == [(0, 3, 5), (1, 6, 8)]
    # Node 2 at 6: weights 6 + rows 1 and 2 + output rows 0 and 1.
    assert run.peak_bytes == (13, 14)


def test_too_little_sram_stalls():
    # Of 13 bytes 5 are left for input rows, where the filter needs 6. In the end node 1 holds
    # weights 1 + output rows 1 and 2, which node 2 cannot take, and node 2 weights 6 + row 0.
    with pytest.raises(StalledError, match=r"after 0 of 2 rows .* of 13 bytes .* hold 7, 9$"):
        simulate(OBLONG, machine(6, 3, sram_bytes=13))


@pytest.mark.parametrize(("sram_bytes", "latency_s"), [(14, 28), (15, 31), (16, 28)])
def test_more_sram_may_delay(sram_bytes, latency_s):
    # With 14 bytes node 2 computes from 4 to 22 without a pause, and 3 + 3 s later all is done. At
    # 10 it holds weights 6 + input row 1 + output rows 0 and 1 = 14. With 15 it has admitted
    # input row 2 as well, so that output row 1 must wait until row 0 has left at 13; with 16
    # there is room for all.
    assert simulate(CONTENDED, machine(2, 1, sram_bytes)).latency_s == latency_s


def test_one_layer_computes_only():
    # In the first input's last row: weights 2 + input rows 4 of 6 + a whole output 6.
    network = WIDENING[1:]
    run = simulate(network, machine(2, 1), inputs=2)
    assert (run.latency_s, run.traffic_bytes) == (12, 0)
    assert run.peak_bytes == (12,)


# ---------------------------------------------------------------------------- any pipeline


@st.composite
def pipelines(draw, fewest_layers=1, one_row=False):
    """Draw network, system with ample SRAM, inputs; every tensor is a single row if one_row."""
    small = st.integers(1, 3)
    single = st.just(1) if one_row else small
    filters, x, y = draw(small), draw(small), draw(single)
    element_bytes = draw(small)
    network = []
    for _ in range(draw(st.integers(fewest_layers, 4))):  # from the last layer to the first
        in_channels, fx, fy = draw(small), draw(small), draw(single)
        x, y = x + fx - 1, y + fy - 1
        network.insert(0, ConvLayer(filters, in_channels, fx, fy, x, y, element_bytes))
        filters = in_channels
    rates = st.builds(Fraction, st.integers(1, 200), st.integers(1, 9))
    system = System(4, draw(rates), draw(rates), AMPLE_BYTES, "ring")
    return network, system, draw(st.integers(1, 4))


any_pipeline = given(pipelines())


def row_seconds(kind, layer, system):
    """Return ops or bytes of an output row / rate."""
    work, rate = {
        "compute": (layer.ops, system.ops_per_s),
        "send": (layer.output_bytes, system.link_bytes_per_s),
    }[kind]
    return Fraction(work) / layer.out_y / rate


def unlimited_sram_ends(network, system, inputs):
    """Return when each (kind, layer, row) ends.

    That is row_seconds after the worker's previous row and the last row needed have ended.
    """
    ends = {}
    arrived = [Fraction(0)] * (inputs * network[0].y)
    for number, layer in enumerate(network, 1):
        needed = [
            arrived[index * layer.y + row + layer.fy - 1]
            for index in range(inputs)
            for row in range(layer.out_y)
        ]
        for kind in ("compute", "send")[: 1 if number == len(network) else 2]:
            end = Fraction(0)
            for row, ready in enumerate(needed):
                end = max(end, ready) + row_seconds(kind, layer, system)
                ends[kind, number, row] = needed[row] = end
        arrived = needed
    return ends


@any_pipeline
def test_ample_sram_meets_the_recurrence(pipeline):
    network, _, inputs = pipeline
    run = simulate(*pipeline)
    assert {job[:3]: job.end_s for job in run.jobs} == unlimited_sram_ends(*pipeline)
    assert run.traffic_bytes == pipeline_parallel_traffic(*pipeline)
    busiest_s = max(
        layer.out_y * row_seconds(kind, layer, pipeline[1])
        for kind, layers in (("compute", network), ("send", network[:-1]))
        for layer in layers
    )
    assert inputs * busiest_s <= run.latency_s <= pipeline_parallel_latency(*pipeline)


@given(pipelines(one_row=True))
def test_tensors_of_one_row_meet_the_closed_form(pipeline):
    assert simulate(*pipeline).latency_s == pipeline_parallel_latency(*pipeline)


def needs_bytes(network, system, inputs):
    """What each node needs by lab3, and on node 1 the inputs that wait besides the first."""
    first, *others = [use.total_bytes for use in sram_uses("streamed", network, system)]
    return [first + (inputs - 1) * network[0].input_bytes, *others]


@any_pipeline
def test_it_finishes_with_what_lab3_says_that_it_needs(pipeline):
    network, system, inputs = pipeline
    for spare_bytes in (0, 1, 7):
        enough = system._replace(sram_bytes=max(needs_bytes(*pipeline)) + spare_bytes)
        run = simulate(network, enough, inputs)
        audit(network, enough, inputs, run)
        audit_waiting(network, enough, inputs, run)
        assert run.latency_s >= simulate(*pipeline).latency_s


@given(pipelines(fewest_layers=2))
def test_it_stalls_with_less(pipeline):
    network, system, inputs = pipeline
    enough_bytes = max(needs_bytes(*pipeline))
    for too_few_bytes in (1, enough_bytes // 2, enough_bytes - 1):
        with pytest.raises(StalledError):
            simulate(network, system._replace(sram_bytes=too_few_bytes), inputs)


# ---------------------------------------------------------------------------- audits


class Books:
    """What a node holds over time, from nothing but the jobs."""

    def __init__(self, network, inputs, jobs, number):
        """Enter each row of each input as (from_s, until_s, bytes)."""
        layer = network[number - 1]
        self.weight_bytes = layer.weight_bytes
        self.input_rows, self.output_rows = [], []
        for index in range(inputs):
            outputs = [jobs["compute", number, index * layer.out_y + y] for y in range(layer.out_y)]
            for y in range(layer.y):
                from_s = jobs["send", number - 1, index * layer.y + y].start_s if number > 1 else 0
                users = [job for row, job in enumerate(outputs) if row <= y < row + layer.fy]
                row_bytes = layer.in_channels * layer.x * layer.element_bytes
                self.input_rows.append((from_s, users[-1].end_s, row_bytes))
            for job in outputs:
                is_last = number == len(network)
                until_s = (outputs[-1] if is_last else jobs["send", number, job.row]).end_s
                row_bytes = layer.filters * layer.out_x * layer.element_bytes
                self.output_rows.append((job.start_s, until_s, row_bytes))

    def levels(self):
        """Return the bytes held after each instant at which that changes."""
        changes = [(0, self.weight_bytes)]
        for from_s, until_s, row_bytes in self.input_rows + self.output_rows:
            changes += [(from_s, row_bytes), (until_s, -row_bytes)]
        instants = groupby(sorted(changes), key=lambda change: change[0])
        return list(accumulate(sum(change for _, change in group) for _, group in instants))

    def held_bytes(self, instant):
        """Return the bytes of input rows and of output rows."""
        return [
            sum(row_bytes for from_s, until_s, row_bytes in rows if from_s <= instant < until_s)
            for rows in (self.input_rows, self.output_rows)
        ]


def audit(network, system, inputs, run):
    """Check a run by its jobs.

    They are complete, in order, at full rate, and use no row before it is there; what the nodes
    hold is never above the SRAM, peaks as reported, and comes down to the weights.
    """
    jobs = {job[:3]: job for job in run.jobs}
    assert len(jobs) == len(run.jobs)
    assert jobs.keys() == unlimited_sram_ends(network, system, inputs).keys()
    for job in run.jobs:
        layer = network[job.layer - 1]
        assert job.end_s - job.start_s == row_seconds(job.kind, layer, system)
        assert all(job.start_s >= end_s for end_s in prerequisite_ends(network, jobs, job))
    for number, layer in enumerate(network, 1):
        levels = Books(network, inputs, jobs, number).levels()
        assert max(levels) == run.peak_bytes[number - 1] <= system.sram_bytes
        assert levels[-1] == layer.weight_bytes


def audit_waiting(network, system, inputs, run):
    """Check that a row whose turn has come waits only as long as there is no room for it."""
    jobs = {job[:3]: job for job in run.jobs}
    for job in run.jobs:
        ready_s = max(prerequisite_ends(network, jobs, job))
        number = job.layer if job.kind == "compute" else job.layer + 1
        layer = network[number - 1]
        books = Books(network, inputs, jobs, number)
        for instant in {ready_s, *(other.end_s for other in run.jobs)}:
            if ready_s <= instant < job.start_s:
                input_bytes, output_bytes = books.held_bytes(instant)
                if job.kind == "compute":
                    output_bytes += layer.output_bytes // layer.out_y
                else:
                    kept_rows = layer.out_y if number == len(network) else 1
                    input_bytes += layer.input_bytes // layer.y
                    output_bytes = max(output_bytes, layer.output_bytes // layer.out_y * kept_rows)
                assert layer.weight_bytes + input_bytes + output_bytes > system.sram_bytes


def prerequisite_ends(network, jobs, job):
    """Return when the worker's previous row, and each row that this one needs, have ended."""
    kind, number, row = job[:3]
    layer = network[number - 1]
    ends = [jobs[kind, number, row - 1].end_s] if row else [Fraction(0)]
    if kind == "send":
        return [*ends, jobs["compute", number, row].end_s]
    if number == 1:
        return ends
    index, y = divmod(row, layer.out_y)
    covered = range(index * layer.y + y, index * layer.y + y + layer.fy)
    return ends + [jobs["send", number - 1, input_row].end_s for input_row in covered]


# ---------------------------------------------------------------------------- the lab

LAB_SMALLEST_BYTES = 462_336


@pytest.mark.parametrize(("inputs", "latency_s"), [(1, "0.00494232576"), (32, "0.14829315072")])
@pytest.mark.parametrize("sram_bytes", [LAB_SMALLEST_BYTES, SYSTEM.sram_bytes, AMPLE_BYTES])
def test_lab_latency(inputs, latency_s, sram_bytes):
    system = SYSTEM._replace(sram_bytes=sram_bytes)
    run = simulate(NETWORK, system, inputs)
    audit(NETWORK, system, inputs, run)
    assert run.latency_s == Fraction(latency_s)
    assert run.traffic_bytes == pipeline_parallel_traffic(NETWORK, SYSTEM, inputs)


@pytest.mark.parametrize("inputs", [1, 32])
def test_lab_latency_is_filling_bottleneck_and_draining(inputs):
    # Node 2 never waits: three rows reach it, it works, its last row passes nodes 3 and 4.
    compute = [row_seconds("compute", layer, SYSTEM) for layer in NETWORK]
    send = [row_seconds("send", layer, SYSTEM) for layer in NETWORK]
    filling_s = 3 * compute[0] + send[0]
    draining_s = send[1] + compute[2] + send[2] + compute[3]
    latency_s = filling_s + inputs * 28 * compute[1] + draining_s
    assert simulate(NETWORK, SYSTEM, inputs).latency_s == latency_s


@pytest.mark.parametrize("inputs", [1, 32])
def test_lab_latency_is_between_tensor_parallelism_and_whole_tensors(inputs):
    case = (NETWORK, SYSTEM, inputs)
    latency_s = simulate(*case).latency_s
    assert tensor_parallel_latency(*case) < latency_s < pipeline_parallel_latency(*case)


@pytest.mark.parametrize(
    ("inputs", "sram_bytes", "peak_bytes"),
    [
        (1, SYSTEM.sram_bytes, (28_224, 524_288, 323_072, 462_336)),
        (32, SYSTEM.sram_bytes, (524_160, 524_288, 323_072, 462_336)),
        (32, LAB_SMALLEST_BYTES, (462_336, 455_680, 323_072, 462_336)),
    ],
)
def test_lab_peaks(inputs, sram_bytes, peak_bytes):
    system = SYSTEM._replace(sram_bytes=sram_bytes)
    assert simulate(NETWORK, system, inputs).peak_bytes == peak_bytes


def test_lab_needs_what_node_4_does():
    # Node 1's weights, 32 inputs and a row: 6,912 + 196,608 + 7,680. The others as in one input.
    assert needs_bytes(NETWORK, SYSTEM, 32) == [211_200, 325_120, 323_072, LAB_SMALLEST_BYTES]
    with pytest.raises(StalledError):
        simulate(NETWORK, SYSTEM._replace(sram_bytes=LAB_SMALLEST_BYTES - 1), 32)


def test_lab_node_1_has_room_for_82_inputs():
    # 6,912 + 82 * 6,144 + 7,680 = 518,400 bytes; with one more, 524,544, 256 too many
    simulate(NETWORK, SYSTEM, 82)
    with pytest.raises(StalledError):
        simulate(NETWORK, SYSTEM, 83)


# ---------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("network", "system", "inputs", "named"),
    [
        ((), SYSTEM, 1, "network"),
        (NETWORK, SYSTEM._replace(nodes=3), 1, "4 layers.* 3"),
        (NETWORK, SYSTEM, 0, "inputs.* 0"),
    ],
)
def test_what_cannot_be_modelled_raises_value_error(network, system, inputs, named):
    with pytest.raises(ValueError, match=named):
        simulate(network, system, inputs)
