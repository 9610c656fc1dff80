"""The deck's own figures, against working by hand and step-by-step schedules."""

from fractions import Fraction
from itertools import pairwise

import pytest

import analysis
from lab3 import (
    INPUTS,
    NETWORK,
    SYSTEM,
    data_parallel_sram,
    pipeline_parallel_latency,
    pipeline_parallel_sram,
    tensor_parallel_latency,
    tensor_parallel_sram,
)
from rows_streamed import simulate, smallest_sram_bytes

COMPUTE_S = [Fraction(layer.ops, SYSTEM.ops_per_s) for layer in NETWORK]
SEND_S = [Fraction(layer.output_bytes, SYSTEM.link_bytes_per_s) for layer in NETWORK[:-1]]
READINGS = {reading.name: reading for reading in analysis.readings()}


# ------------------------------------------------ schedules


def test_tensor_schedule_ends_with_the_latency():
    jobs = analysis.tensor_schedule()
    assert [job.start_s for job in jobs] == [0, *(job.end_s for job in jobs[:-1])]
    assert jobs[-1].end_s == tensor_parallel_latency(NETWORK, SYSTEM)


@pytest.mark.parametrize("inputs", [1, 2, 4, INPUTS])
def test_pipeline_schedule_ends_with_the_latency(inputs):
    jobs = analysis.pipeline_schedule(inputs)
    assert jobs[-1].end_s == pipeline_parallel_latency(NETWORK, SYSTEM, inputs)
    for before, after in pairwise(jobs):  # of an input, stage after stage
        assert after.input > before.input or after.start_s >= before.end_s
    stages = len(jobs) // inputs
    for before, after in zip(jobs, jobs[stages:], strict=False):  # of a stage, input after input
        assert after.stage == before.stage
        assert after.start_s >= before.end_s


# ------------------------------------------------ the pipeline's losses


def test_balanced_stages():
    # 606,661,632 ops / (4 nodes * 50 * 10^9 ops/s) = 3.03330816 ms, in 4 + 32 - 1 = 35 slots
    assert analysis.balanced_pipeline_s(32) == Fraction("0.1061657856")
    assert analysis.balanced_pipeline_s(1) == Fraction("0.01213323264")


def test_losses():
    # 32 * 3.03330816 ms, then 3 slots more, then sends of 115.2 + 100.352 + 86.528 us. Imbalance:
    # 12.13323264 + 31 * 4.62422016 ms of compute, of which balanced stages take 106.1657856 ms.
    losses_s = analysis.pipeline_losses_s(32)
    assert losses_s == {
        "compute_bound_s": Fraction("0.09706586112"),
        "filling_s": Fraction("0.00909992448"),
        "imbalance_s": Fraction("0.049318272"),
        "sending_s": Fraction("0.00030208"),
    }
    assert sum(losses_s.values()) == Fraction("0.1557861376")


# ------------------------------------------------ crossovers

# With x = 1 / bandwidth, all in seconds and bytes: tensor parallelism takes
# N * (0.00303330816 + 187904 x), as 751,616 bytes / 4 nodes = 187,904. The pipeline takes
# 0.01213323264 + 604160 x + (N - 1) * max(0.00462422016, 230400 x).
CROSSOVERS = [
    # 32 * 0.00303330816 - 0.01213323264 = (604160 + 31 * 230400 - 32 * 187904) x
    (32, 0, 1733632 / Fraction("0.08493262848")),
    # 0.01213323264 + 31 * 0.00462422016 - 32 * 0.00303330816 = (32 * 187904 - 604160) x
    (32, 1, 5408768 / Fraction("0.05841819648")),
    # 16 * 0.00303330816 - 0.01213323264 = (604160 + 15 * 230400 - 16 * 187904) x
    (16, 0, 1053696 / Fraction("0.03639969792")),
    # 0.01213323264 + 15 * 0.00462422016 - 16 * 0.00303330816 = (16 * 187904 - 604160) x
    (16, 1, 2402304 / Fraction("0.03296360448")),
]


@pytest.mark.parametrize(("inputs", "index", "bytes_per_s"), CROSSOVERS)
def test_crossovers_by_hand(inputs, index, bytes_per_s):
    assert analysis.crossovers_bytes_per_s(inputs)[index] == bytes_per_s


@pytest.mark.parametrize("inputs", [10, 16, 32, 1000])
def test_latencies_are_equal_at_crossovers(inputs):
    low, high = analysis.crossovers_bytes_per_s(inputs)
    for bytes_per_s, pipeline_is_faster in (
        (low / 2, False),
        (low, None),
        ((low + high) / 2, True),
        (high, None),
        (high * 2, False),
    ):
        system = analysis.with_bandwidth(bytes_per_s)
        tensor_s = tensor_parallel_latency(NETWORK, system, inputs)
        pipeline_s = pipeline_parallel_latency(NETWORK, system, inputs)
        expected = None if pipeline_s == tensor_s else pipeline_s < tensor_s
        assert expected == pipeline_is_faster


def test_few_inputs_have_no_crossovers():
    assert [analysis.crossovers_bytes_per_s(inputs) for inputs in range(1, 10)] == [[]] * 9
    assert analysis.fewest_inputs_with_crossovers() == 10


def test_crossovers_of_ever_more_inputs():
    # 0.00303330816 = (230400 - 187904) x, and 187904 x = 0.00462422016 - 0.00303330816
    limit = [42496 / Fraction("0.00303330816"), 187904 / Fraction("0.001590912")]
    assert analysis.limit_crossovers_bytes_per_s() == limit
    distances = [
        [abs(edge - end) for edge, end in zip(edges, limit, strict=True)]
        for edges in map(analysis.crossovers_bytes_per_s, (100, 10_000, 1_000_000))
    ]
    assert distances == sorted(distances, reverse=True)
    assert max(distances[-1]) < 10_000  # bytes/s


# ------------------------------------------------ other readings


def test_tensor_parallelism_wins_in_every_reading():
    assert all(reading.tensor_wins for reading in READINGS.values())
    slow_links = analysis.with_bandwidth(50 * 10**6)
    assert not analysis.of_system("50 MB/s", slow_links).tensor_wins


@pytest.mark.parametrize(
    ("name", "figure", "seconds"),
    [
        # 3,033.30816 us of compute + 187,904 bytes / (2 * 2^30 bytes/s)
        ("1 GB = 2³⁰ bytes", "tensor_q1_s", Fraction("0.00303330816") + Fraction(187904, 2**31)),
        # ... + 187,904 bytes / (0.25 * 10^9 bytes/s) = 751.616 us
        ("2 Gbit/s links", "tensor_q1_s", "0.00378492416"),
        # 6,144 bytes / (2 * 10^9 bytes/s) = 3.072 us more for an input
        ("inputs on one node", "tensor_q1_s", "0.00313033216"),
        ("inputs on one node", "tensor_q2_s", "0.10017062912"),
        # 12,435.31264 + 31 * (4,624.22016 + 100.352) us
        ("sending blocks a node", "pipeline_q2_s", "0.1588970496"),
        # 12,435.31264 + 31 * (115.2 + 4,624.22016 + 100.352) us
        ("receiving does too", "pipeline_q2_s", "0.1624682496"),
        # 32 * 12,435.31264 us
        ("one input at a time", "pipeline_q2_s", "0.39793000448"),
    ],
)
def test_readings_by_hand(name, figure, seconds):
    assert getattr(READINGS[name], figure) == Fraction(seconds)


def test_readings_that_add_traffic():
    # 3 * 6,144 bytes; 3 * 147,456 - 3/4 * 147,456 bytes
    added_bytes = {name: reading.added_bytes for name, reading in READINGS.items()}
    assert added_bytes.pop("inputs on one node") == 18_432
    assert added_bytes.pop("output on all nodes") == 331_776
    assert set(added_bytes.values()) == {0}


def test_output_on_all_nodes_takes_no_longer():
    other = READINGS["output on all nodes"]
    assert other[1:5] == analysis.AS_READ[1:5]


def test_a_node_that_cannot_compute_while_sending():
    free_s = [Fraction(0)] * len(NETWORK)
    for _ in range(INPUTS):
        arrival_s = Fraction(0)
        for node, (compute_s, send_s) in enumerate(zip(COMPUTE_S, [*SEND_S, 0], strict=True)):
            arrival_s = free_s[node] = max(arrival_s, free_s[node]) + compute_s + send_s
    assert READINGS["sending blocks a node"].pipeline_q2_s == free_s[-1]


def test_a_node_that_cannot_compute_while_sending_or_receiving():
    free_s = [Fraction(0)] * len(NETWORK)
    for _ in range(INPUTS):
        free_s[0] += COMPUTE_S[0]
        for node, send_s in enumerate(SEND_S):
            free_s[node] = max(free_s[node], free_s[node + 1]) + send_s
            free_s[node + 1] = free_s[node] + COMPUTE_S[node + 1]
    assert READINGS["receiving does too"].pipeline_q2_s == free_s[-1]


def test_streaming_rows_is_the_simulation():
    streamed = READINGS["rows streamed"]
    assert streamed.pipeline_q1_s == simulate(NETWORK, SYSTEM).latency_s
    assert streamed.pipeline_q2_s == simulate(NETWORK, SYSTEM, INPUTS).latency_s
    assert streamed.pipeline_q1_s < analysis.AS_READ.pipeline_q1_s
    assert streamed.pipeline_q2_s < analysis.AS_READ.pipeline_q2_s


@pytest.mark.parametrize(
    "sram_of", [tensor_parallel_sram, pipeline_parallel_sram, data_parallel_sram]
)
def test_kilobytes_of_1000_bytes_change_no_verdict(sram_of):
    smaller = SYSTEM._replace(sram_bytes=512_000)
    assert [use.fits for use in sram_of(NETWORK, smaller)] == [
        use.fits for use in sram_of(NETWORK, SYSTEM)
    ]
    assert max(smallest_sram_bytes(NETWORK, SYSTEM)) <= smaller.sram_bytes


def test_two_way_ring():
    # 3,033.30816 us of compute and half of the one-way ring's 281.856 us
    latency_s = tensor_parallel_latency(NETWORK, analysis.two_way_ring())
    assert latency_s == Fraction("0.00317423616")


# ------------------------------------------------ SRAM


def test_node_srams():
    # Weights, input, output. Tensor parallelism is fullest in layer 2: 891,648 / 4, the whole
    # input, 200,704 / 4. With rows streamed: 3 rows of 7,680, 7,168 and 6,656 bytes and one of
    # 7,168, 6,656 and 6,144; but node 1 has its whole input, and node 4 its whole output.
    assert [tuple(node)[1:] for node in analysis.node_srams()] == [
        ("all 4", 222_912, 230_400, 50_176, 503_488),
        ("1", 6_912, 6_144, 230_400, 243_456),
        ("2", 294_912, 230_400, 200_704, 726_016),
        ("3", 294_912, 200_704, 173_056, 668_672),
        ("4", 294_912, 173_056, 147_456, 615_424),
        ("1", 6_912, 6_144, 7_680, 20_736),
        ("2", 294_912, 23_040, 7_168, 325_120),
        ("3", 294_912, 21_504, 6_656, 323_072),
        ("4", 294_912, 19_968, 147_456, 462_336),
        ("all 4", 891_648, 230_400, 200_704, 1_322_752),
    ]


def test_streamed_rows_need_what_the_simulation_needs():
    streamed = [node for node in analysis.node_srams() if node.strategy == "rows"]
    assert tuple(node.total_bytes for node in streamed) == smallest_sram_bytes(NETWORK, SYSTEM)
    assert analysis.summary()["rows_smallest_sram_bytes"] == 462_336


def test_rows_streamed_on_slow_links():
    # At 50 MB/s tensor parallelism takes 3,033.30816 us + 187,904 bytes / 50 MB/s. By rows: one of
    # node 1 and three sends of 7,680 bytes, 4.1472 + 3 * 153.6 us; then node 2 without a pause,
    # 4,624.22016; its last row's send 143.36, node 3's row 153.35424, its send 133.12, node 4's row
    # 141.55776.
    slow = analysis.summary()["rows_on_slow_links"]
    assert slow["link_bytes_per_s"] == 50_000_000
    assert slow["tensor_s"] == Fraction("0.00303330816") + Fraction("0.00375808")
    assert slow["rows_s"] == Fraction("0.00566055936") < slow["tensor_s"]
