"""The lab's figures against numbers worked out by hand: the working is in the comments.

No expected value here is computed by the code under test. Exact decimals of seconds are written as
strings, since Fraction("0.1") is 1/10.
"""

from fractions import Fraction

import pytest

from lab3 import (
    NETWORK,
    SYSTEM,
    all_gather,
    data_parallel_latency,
    data_parallel_sram,
    gather,
    pipeline_parallel_latency,
    pipeline_parallel_sram,
    pipeline_parallel_stages,
    pipeline_parallel_traffic,
    single_node_latency,
    tensor_parallel_latency,
    tensor_parallel_sram,
    tensor_parallel_stages,
    tensor_parallel_traffic,
)

RING = SYSTEM._replace(topology="ring")


def test_the_handouts_machine():
    assert SYSTEM == (4, 50_000_000_000, 2_000_000_000, 524_288, "all-to-all")  # 512 * 1,024
    assert SYSTEM.links == 12  # each of 4 nodes to 3 others
    assert RING.links == 4
    assert SYSTEM._replace(topology="".join(["ri", "ng"])).links == 4  # equal, not identical
    assert RING._replace(nodes=1).links == 0
    assert RING._replace(nodes=2).links == 2


# Layer 1: 128 filters of 3 x 3 x 3 = 27 weights each, on an output of 30 x 30 = 900 places.
#   MACs 128 * 27 * 900 = 3,456 * 900; weights 3,456 * 2 B
#   input 3 * 32 * 32 = 3,072 * 2 B; output 128 * 900 = 115,200 * 2 B
# Layers 2, 3, 4: 128 filters of 128 * 9 = 1,152 weights each, 147,456 weights in all.
#   places 28 * 28 = 784, 26 * 26 = 676, 24 * 24 = 576
#   MACs 147,456 * 784, * 676, * 576; outputs 128 * 784, * 676, * 576 elements
@pytest.mark.parametrize(
    ("number", "out", "macs", "ops", "weight_bytes", "input_bytes", "output_bytes"),
    [
        (1, 30, 3_110_400, 6_220_800, 6_912, 6_144, 230_400),
        (2, 28, 115_605_504, 231_211_008, 294_912, 230_400, 200_704),
        (3, 26, 99_680_256, 199_360_512, 294_912, 200_704, 173_056),
        (4, 24, 84_934_656, 169_869_312, 294_912, 173_056, 147_456),
    ],
)
def test_each_layers_figures(number, out, macs, ops, weight_bytes, input_bytes, output_bytes):
    layer = NETWORK[number - 1]
    assert (layer.out_x, layer.out_y) == (out, out)
    assert (layer.macs, layer.ops) == (macs, ops)
    assert layer.weight_bytes == weight_bytes
    assert (layer.input_bytes, layer.output_bytes) == (input_bytes, output_bytes)


# Compute: 4 nodes do 4 * 50 = 200 ops a nanosecond, so ops / 200 ns: 6,220,800 / 200 = 31,104 ns.
# All-to-all: each node sends a quarter of the output, 2 bytes a ns, to three others at once:
#   230,400 / 4 / 2 = 28,800 ns; bytes 3 * 230,400 = 691,200. After layer 4, three nodes send their
#   quarter, 147,456 / 4 = 36,864 bytes, to the fourth: 18,432 ns and 3 * 36,864 = 110,592 bytes.
TENSOR_STAGES = [
    (1, "compute", Fraction("31.104e-6"), 0),
    (1, "all-gather", Fraction("28.8e-6"), 691_200),
    (2, "compute", Fraction("1156.05504e-6"), 0),
    (2, "all-gather", Fraction("25.088e-6"), 602_112),
    (3, "compute", Fraction("996.80256e-6"), 0),
    (3, "all-gather", Fraction("21.632e-6"), 519_168),
    (4, "compute", Fraction("849.34656e-6"), 0),
    (4, "gather", Fraction("18.432e-6"), 110_592),
]


def test_each_stage_of_tensor_parallelism():
    assert tensor_parallel_stages(NETWORK, SYSTEM) == TENSOR_STAGES


def test_tensor_parallelism():
    # compute 31.104 + 1,156.05504 + 996.80256 + 849.34656 = 3,033.30816 us
    # communication 28.8 + 25.088 + 21.632 + 18.432 = 93.952 us
    assert tensor_parallel_latency(NETWORK, SYSTEM) == Fraction("0.00312726016")
    # 32 * 3,127.26016 us
    assert tensor_parallel_latency(NETWORK, SYSTEM, 32) == Fraction("0.10007232512")
    # 691,200 + 602,112 + 519,168 + 110,592, and 32 times that
    assert tensor_parallel_traffic(NETWORK, SYSTEM) == 1_923_072
    assert tensor_parallel_traffic(NETWORK, SYSTEM, 32) == 61_538_304


# One node does 50 ops a ns: 6,220,800 / 50 = 124,416 ns. A link moves 2 bytes a ns:
# 230,400 / 2 = 115,200 ns.
PIPELINE_STAGES = [
    (1, "compute", Fraction("124.416e-6"), 0),
    (1, "send", Fraction("115.2e-6"), 230_400),
    (2, "compute", Fraction("4624.22016e-6"), 0),
    (2, "send", Fraction("100.352e-6"), 200_704),
    (3, "compute", Fraction("3987.21024e-6"), 0),
    (3, "send", Fraction("86.528e-6"), 173_056),
    (4, "compute", Fraction("3397.38624e-6"), 0),
]


@pytest.mark.parametrize("system", [SYSTEM, RING])
def test_each_stage_of_pipeline_parallelism(system):
    assert pipeline_parallel_stages(NETWORK, system) == PIPELINE_STAGES


@pytest.mark.parametrize("system", [SYSTEM, RING])
def test_pipeline_parallelism(system):
    # compute 124.416 + 4,624.22016 + 3,987.21024 + 3,397.38624 = 12,133.23264 us
    # sends 115.2 + 100.352 + 86.528 = 302.08 us
    assert pipeline_parallel_latency(NETWORK, system) == Fraction("0.01243531264")
    # 12,435.31264 + 31 * 4,624.22016 = 12,435.31264 + 143,350.82496 us
    assert pipeline_parallel_latency(NETWORK, system, 32) == Fraction("0.1557861376")
    # 230,400 + 200,704 + 173,056, and 32 times that
    assert pipeline_parallel_traffic(NETWORK, system) == 604_160
    assert pipeline_parallel_traffic(NETWORK, system, 32) == 19_333_120


def test_tensor_parallelism_on_the_ring():
    # Each link carries three quarters one after the other: 3 * 93.952 = 281.856 us.
    # 3,033.30816 + 281.856 us, and 32 times that
    assert tensor_parallel_latency(NETWORK, RING) == Fraction("0.00331516416")
    assert tensor_parallel_latency(NETWORK, RING, 32) == Fraction("0.10608525312")
    # All-gathers as before, 691,200 + 602,112 + 519,168 = 1,812,480; in the gather the quarters of
    # 36,864 bytes travel 1 + 2 + 3 = 6 links: 221,184.
    assert tensor_parallel_traffic(NETWORK, RING) == 2_033_664
    assert tensor_parallel_traffic(NETWORK, RING, 32) == 65_077_248


@pytest.mark.parametrize(
    ("collective", "nodes", "topology", "shards_in_turn", "shards_moved"),
    [
        (all_gather, 1, "all-to-all", 0, 0),
        (all_gather, 2, "all-to-all", 1, 2),
        (all_gather, 4, "all-to-all", 1, 12),
        (all_gather, 1, "ring", 0, 0),
        (all_gather, 2, "ring", 1, 2),
        (all_gather, 4, "ring", 3, 12),
        (gather, 1, "all-to-all", 0, 0),
        (gather, 2, "all-to-all", 1, 1),
        (gather, 4, "all-to-all", 1, 3),
        (gather, 1, "ring", 0, 0),
        (gather, 2, "ring", 1, 1),
        (gather, 5, "ring", 4, 10),  # 1 + 2 + 3 + 4 links
    ],
)
def test_collectives(collective, nodes, topology, shards_in_turn, shards_moved):
    topology = "".join(list(topology))  # equal, not identical
    # A shard of 10 bytes takes 10 / 2,000,000,000 s = 5 ns on a link.
    system = SYSTEM._replace(nodes=nodes, topology=topology)
    latency_s, traffic_bytes = collective(10, system)
    assert latency_s == shards_in_turn * Fraction("5e-9")
    assert traffic_bytes == shards_moved * 10


# All weights are 6,912 + 3 * 294,912 = 891,648 bytes, a quarter of them 222,912.
# weights, input, output (a quarter: 230,400 / 4 = 57,600; all of it in the gather), total, and what
# is left of 524,288
TENSOR_SRAM = [
    ("layer 1", 222_912, 6_144, 57_600, 286_656, 237_632, True),
    ("layer 2", 222_912, 230_400, 50_176, 503_488, 20_800, True),
    ("layer 3", 222_912, 200_704, 43_264, 466_880, 57_408, True),
    ("layer 4", 222_912, 173_056, 36_864, 432_832, 91_456, True),
    ("gather", 222_912, 0, 147_456, 370_368, 153_920, True),
]
PIPELINE_SRAM = [
    ("layer 1", 6_912, 6_144, 230_400, 243_456, 280_832, True),
    ("layer 2", 294_912, 230_400, 200_704, 726_016, -201_728, False),
    ("layer 3", 294_912, 200_704, 173_056, 668_672, -144_384, False),
    ("layer 4", 294_912, 173_056, 147_456, 615_424, -91_136, False),
]
# Three rows of the input, one of the output; layer 1: 3 * (3 * 32 * 2) = 576, 128 * 30 * 2 = 7,680;
# layer 2: 3 * (128 * 30 * 2) = 23,040, 128 * 28 * 2 = 7,168
PIPELINE_ROWS_SRAM = [
    ("layer 1", 6_912, 576, 7_680, 15_168, 509_120, True),
    ("layer 2", 294_912, 23_040, 7_168, 325_120, 199_168, True),
    ("layer 3", 294_912, 21_504, 6_656, 323_072, 201_216, True),
    ("layer 4", 294_912, 19_968, 6_144, 321_024, 203_264, True),
]
DATA_SRAM = [
    ("layer 1", 891_648, 6_144, 230_400, 1_128_192, -603_904, False),
    ("layer 2", 891_648, 230_400, 200_704, 1_322_752, -798_464, False),
    ("layer 3", 891_648, 200_704, 173_056, 1_265_408, -741_120, False),
    ("layer 4", 891_648, 173_056, 147_456, 1_212_160, -687_872, False),
]


def test_sram():
    assert tensor_parallel_sram(NETWORK, SYSTEM) == TENSOR_SRAM
    assert pipeline_parallel_sram(NETWORK, SYSTEM) == PIPELINE_SRAM
    assert pipeline_parallel_sram(NETWORK, SYSTEM, rows_streamed=True) == PIPELINE_ROWS_SRAM
    assert data_parallel_sram(NETWORK, SYSTEM) == DATA_SRAM


def test_sram_that_is_just_enough_fits():
    enough = SYSTEM._replace(sram_bytes=503_488)
    assert tensor_parallel_sram(NETWORK, enough)[1].fits
    assert not tensor_parallel_sram(NETWORK, enough._replace(sram_bytes=503_487))[1].fits


def test_rows_of_a_network_that_is_not_square():
    # 2 filters of 1 x 2 x 3 over an input of 5 x 7, a byte an element: rows along x, 3 of them of
    # 5 bytes each; the output is 4 x 5, a row of it 2 * 4 = 8 bytes; weights 2 * 6 = 12.
    layer = NETWORK[0]._replace(filters=2, in_channels=1, fx=2, fy=3, x=5, y=7, element_bytes=1)
    (use,) = pipeline_parallel_sram([layer], SYSTEM, rows_streamed=True)
    assert use[:5] == ("layer 1", 12, 15, 8, 35)


def test_yardsticks():
    # 606,661,632 ops at 50 a ns
    assert single_node_latency(NETWORK, SYSTEM) == Fraction("0.01213323264")
    assert single_node_latency(NETWORK, RING, 3) == 3 * Fraction("0.01213323264")
    # 32 inputs on 4 nodes: 8 each; 33: one node has a ninth
    assert data_parallel_latency(NETWORK, SYSTEM, 32) == Fraction("0.09706586112")
    assert data_parallel_latency(NETWORK, SYSTEM, 33) == 9 * Fraction("0.01213323264")
    one_node = SYSTEM._replace(nodes=1)
    assert data_parallel_latency(NETWORK, one_node) == Fraction("0.01213323264")
