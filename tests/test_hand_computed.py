"""The lab's figures against numbers worked out by hand: the working is in the comments.

No expected value here is computed by the code under test. Exact decimals are written as strings,
since Fraction("0.1") is 1/10. Times of steps are in microseconds: a node does 50,000 ops in one, a
link moves 2,000 bytes.
"""

from fractions import Fraction

import pytest

from lab3 import (
    NETWORK,
    SYSTEM,
    ConvLayer,
    all_gather,
    duration,
    gather,
    pipeline_parallel_latency,
    pipeline_parallel_stages,
    pipeline_parallel_traffic,
    tensor_parallel_latency,
    tensor_parallel_stages,
    tensor_parallel_traffic,
)
from plans import Group, plan_latency, plan_sram, plan_stages, plan_traffic
from sram import (
    data_parallel_sram,
    pipeline_parallel_sram,
    pipeline_streamed_sram,
    tensor_parallel_sram,
)

RING = SYSTEM._replace(topology="ring")


def microseconds(text):
    """A decimal of microseconds, in seconds."""
    return Fraction(text) / 10**6


def check_stages(stages, system, expected):
    """Each step against (layer, work, ops of a node, bytes of the busiest link, bytes of all) and
    its microseconds.
    """
    assert stages == [[step for step, _ in stage] for stage in expected]
    for stage, expected_stage in zip(stages, expected, strict=True):
        for step, (_, step_us) in zip(stage, expected_stage, strict=True):
            assert duration([step], system) == microseconds(step_us)
            assert {type(number) for number in step[2:]} == {int}


def test_the_handouts_machine():
    assert SYSTEM == (4, 50_000_000_000, 2_000_000_000, 524_288, "all-to-all")  # 512 * 1,024


# ------------------------------------------------ the network


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


def test_a_layer_whose_numbers_all_differ():
    # 2 filters of 3 x 4 x 5 = 60 weights over 11 x 13, so an output of 8 x 9 = 72 places;
    # MACs 120 * 72, weights 120 * 7 B, input 3 * 143 = 429 * 7 B, output 2 * 72 = 144 * 7 B
    layer = ConvLayer(filters=2, in_channels=3, fx=4, fy=5, x=11, y=13, element_bytes=7)
    assert (layer.out_x, layer.out_y, layer.macs, layer.ops) == (8, 9, 8_640, 17_280)
    assert (layer.weight_bytes, layer.input_bytes, layer.output_bytes) == (840, 3_003, 1_008)


# ------------------------------------------------ tensor parallelism

# A node computes a quarter: 6,220,800 / 4 = 1,555,200 ops in 31.104 us.
# All-to-all: it sends a quarter of the output to three others at once: 230,400 / 4 = 57,600 bytes
#   a link, 28.8 us; 12 links carry 691,200. After layer 4, three nodes send their quarter,
#   147,456 / 4 = 36,864 bytes, to the fourth: 18.432 us, 3 * 36,864 = 110,592 bytes.
COMPUTE = [
    ((1, "compute", 1_555_200, 0, 0), "31.104"),
    ((2, "compute", 57_802_752, 0, 0), "1156.05504"),
    ((3, "compute", 49_840_128, 0, 0), "996.80256"),
    ((4, "compute", 42_467_328, 0, 0), "849.34656"),
]
ALL_TO_ALL_EXCHANGES = [
    ((1, "all-gather", 0, 57_600, 691_200), "28.8"),
    ((2, "all-gather", 0, 50_176, 602_112), "25.088"),
    ((3, "all-gather", 0, 43_264, 519_168), "21.632"),
    ((4, "gather", 0, 36_864, 110_592), "18.432"),
]
# Ring: each link carries three quarters one after the other, 3 * 57,600 = 172,800 bytes in 86.4 us;
#   4 links carry the same 691,200. In the gather the quarters of 36,864 bytes pass 1 + 2 + 3 = 6
#   links, 221,184 bytes, three of them the last link: 110,592 bytes in 55.296 us.
RING_EXCHANGES = [
    ((1, "all-gather", 0, 172_800, 691_200), "86.4"),
    ((2, "all-gather", 0, 150_528, 602_112), "75.264"),
    ((3, "all-gather", 0, 129_792, 519_168), "64.896"),
    ((4, "gather", 0, 110_592, 221_184), "55.296"),
]


@pytest.mark.parametrize(
    ("system", "exchanges"), [(SYSTEM, ALL_TO_ALL_EXCHANGES), (RING, RING_EXCHANGES)]
)
def test_each_step_of_tensor_parallelism(system, exchanges):
    one_stage = [step for pair in zip(COMPUTE, exchanges, strict=True) for step in pair]
    check_stages(tensor_parallel_stages(NETWORK, system), system, [one_stage])


def test_tensor_parallelism():
    # compute 31.104 + 1,156.05504 + 996.80256 + 849.34656 = 3,033.30816 us
    # communication 28.8 + 25.088 + 21.632 + 18.432 = 93.952 us
    assert tensor_parallel_latency(NETWORK, SYSTEM) == Fraction("0.00312726016")
    # 32 * 3,127.26016 us
    assert tensor_parallel_latency(NETWORK, SYSTEM, 32) == Fraction("0.10007232512")
    # 691,200 + 602,112 + 519,168 + 110,592, and 32 times that
    assert tensor_parallel_traffic(NETWORK, SYSTEM) == 1_923_072
    assert tensor_parallel_traffic(NETWORK, SYSTEM, 32) == 61_538_304


def test_tensor_parallelism_on_the_ring():
    # 86.4 + 75.264 + 64.896 + 55.296 = 281.856 us; 3,033.30816 + 281.856 us, and 32 times that
    assert tensor_parallel_latency(NETWORK, RING) == Fraction("0.00331516416")
    assert tensor_parallel_latency(NETWORK, RING, 32) == Fraction("0.10608525312")
    # 691,200 + 602,112 + 519,168 + 221,184, and 32 times that
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
    system = SYSTEM._replace(nodes=nodes, topology=topology)
    work = "gather" if collective is gather else "all-gather"
    expected = (7, work, 0, shards_in_turn * 10, shards_moved * 10)
    assert collective(layer=7, shard_bytes=10, system=system) == expected


# ------------------------------------------------ pipeline parallelism

# 6,220,800 ops of one node take 124.416 us, 230,400 bytes on one link 115.2 us.
PIPELINE = [
    [((1, "compute", 6_220_800, 0, 0), "124.416")],
    [((1, "send", 0, 230_400, 230_400), "115.2")],
    [((2, "compute", 231_211_008, 0, 0), "4624.22016")],
    [((2, "send", 0, 200_704, 200_704), "100.352")],
    [((3, "compute", 199_360_512, 0, 0), "3987.21024")],
    [((3, "send", 0, 173_056, 173_056), "86.528")],
    [((4, "compute", 169_869_312, 0, 0), "3397.38624")],
]


@pytest.mark.parametrize("system", [SYSTEM, RING])
def test_each_step_of_pipeline_parallelism(system):
    check_stages(pipeline_parallel_stages(NETWORK, system), system, PIPELINE)


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


def test_a_pipeline_whose_bottleneck_is_a_send():
    # At 20,000,000 bytes/s, a hundredth, the sends take 11,520, 10,035.2 and 8,652.8 us, and
    # 12,133.23264 + 30,208 = 42,341.23264 us; 31 more inputs 31 * 11,520 = 357,120 us.
    slow = SYSTEM._replace(link_bytes_per_s=20_000_000)
    assert pipeline_parallel_latency(NETWORK, slow) == Fraction("0.04234123264")
    assert pipeline_parallel_latency(NETWORK, slow, 32) == Fraction("0.39946123264")


# ------------------------------------------------ plans between the two

# 1-2:2,3,4: layers 1 and 2 on two nodes, layer 3 on the third, layer 4 on the fourth.
# Each of the two computes a half, 6,220,800 / 2 = 3,110,400 ops in 62.208 us, and sends the other
# its 230,400 / 2 = 115,200 bytes in 57.6 us, 230,400 bytes on both links; then a half of layer 2,
# 2,312.11008 us: one stage of 2,431.91808 us. Then both send their half of layer 2's output,
# 200,704 / 2 = 100,352 bytes, to the third node at once: 50.176 us. From there on as above.
TWO_ONE_ONE = [Group(2, 2), Group(1), Group(1)]
LAYERS_1_AND_2 = [
    ((1, "compute", 3_110_400, 0, 0), "62.208"),
    ((1, "all-gather", 0, 115_200, 230_400), "57.6"),
    ((2, "compute", 115_605_504, 0, 0), "2312.11008"),
]
TWO_ONE_ONE_STAGES = [LAYERS_1_AND_2, [((2, "send", 0, 100_352, 200_704), "50.176")], *PIPELINE[4:]]

# 1-2:2,3-4:2: each of the first two sends its half to both of the others, over four links: again
# 50.176 us, but 4 * 100,352 = 401,408 bytes. They compute halves, 3,987.21024 / 2 and
# 3,397.38624 / 2 us; exchange 173,056 / 2 = 86,528 bytes each in 43.264 us; and in the end one
# sends the other its 147,456 / 2 = 73,728 bytes in 36.864 us: a stage of 3,772.42624 us.
TWO_TWO = [Group(2, 2), Group(2, 2)]
TWO_TWO_STAGES = [
    LAYERS_1_AND_2,
    [((2, "send", 0, 100_352, 401_408), "50.176")],
    [
        ((3, "compute", 99_680_256, 0, 0), "1993.60512"),
        ((3, "all-gather", 0, 86_528, 173_056), "43.264"),
        ((4, "compute", 84_934_656, 0, 0), "1698.69312"),
        ((4, "gather", 0, 73_728, 73_728), "36.864"),
    ],
]


@pytest.mark.parametrize(
    ("plan", "stages"), [(TWO_ONE_ONE, TWO_ONE_ONE_STAGES), (TWO_TWO, TWO_TWO_STAGES)]
)
def test_each_step_of_plans(plan, stages):
    check_stages(plan_stages(NETWORK, SYSTEM, plan), SYSTEM, stages)


def test_plans():
    # 2,431.91808 + 50.176 + 3,987.21024 + 86.528 + 3,397.38624 us
    assert plan_latency(NETWORK, SYSTEM, TWO_ONE_ONE) == Fraction("0.00995321856")
    # 9,953.21856 + 31 * 3,987.21024 = 9,953.21856 + 123,603.51744 us
    assert plan_latency(NETWORK, SYSTEM, TWO_ONE_ONE, 32) == Fraction("0.133556736")
    # 230,400 + 200,704 + 173,056, and 32 times that
    assert plan_traffic(NETWORK, SYSTEM, TWO_ONE_ONE) == 604_160
    assert plan_traffic(NETWORK, SYSTEM, TWO_ONE_ONE, 32) == 19_333_120
    # 2,431.91808 + 50.176 + 3,772.42624 us, and 31 * 3,772.42624 = 116,945.21344 us more
    assert plan_latency(NETWORK, SYSTEM, TWO_TWO) == Fraction("0.00625452032")
    assert plan_latency(NETWORK, SYSTEM, TWO_TWO, 32) == Fraction("0.12319973376")
    # 230,400 + 401,408 + 173,056 + 73,728, and 32 times that
    assert plan_traffic(NETWORK, SYSTEM, TWO_TWO) == 878_592
    assert plan_traffic(NETWORK, SYSTEM, TWO_TWO, 32) == 28_114_944


# ------------------------------------------------ SRAM

# All weights are 6,912 + 3 * 294,912 = 891,648 bytes, a quarter of them 222,912.
# Rows are (layer, work, weights, input, output) and their total.
SRAM = {
    # a quarter of the output, 230,400 / 4 = 57,600; all of it in the gather
    tensor_parallel_sram: [
        ((1, "compute", 222_912, 6_144, 57_600), 286_656),
        ((2, "compute", 222_912, 230_400, 50_176), 503_488),
        ((3, "compute", 222_912, 200_704, 43_264), 466_880),
        ((4, "compute", 222_912, 173_056, 36_864), 432_832),
        ((4, "gather", 222_912, 0, 147_456), 370_368),
    ],
    pipeline_parallel_sram: [
        ((1, "compute", 6_912, 6_144, 230_400), 243_456),
        ((2, "compute", 294_912, 230_400, 200_704), 726_016),
        ((3, "compute", 294_912, 200_704, 173_056), 668_672),
        ((4, "compute", 294_912, 173_056, 147_456), 615_424),
    ],
    # three rows of the input, one of the output: layer 2 reads 3 * (128 * 30 * 2) = 23,040 and
    # makes 128 * 28 * 2 = 7,168, layer 1 makes 128 * 30 * 2 = 7,680; but layer 1 has all of its
    # input from the start, 6,144, and layer 4 all of its output in the end, 147,456
    pipeline_streamed_sram: [
        ((1, "compute", 6_912, 6_144, 7_680), 20_736),
        ((2, "compute", 294_912, 23_040, 7_168), 325_120),
        ((3, "compute", 294_912, 21_504, 6_656), 323_072),
        ((4, "compute", 294_912, 19_968, 147_456), 462_336),
    ],
    data_parallel_sram: [
        ((1, "compute", 891_648, 6_144, 230_400), 1_128_192),
        ((2, "compute", 891_648, 230_400, 200_704), 1_322_752),
        ((3, "compute", 891_648, 200_704, 173_056), 1_265_408),
        ((4, "compute", 891_648, 173_056, 147_456), 1_212_160),
    ],
}


@pytest.mark.parametrize("sram", SRAM)
@pytest.mark.parametrize("system", [SYSTEM, RING])
def test_sram(sram, system):
    assert [(use, use.total_bytes) for use in sram(NETWORK, system)] == SRAM[sram]


# Two nodes: halves of 6,912 + 294,912 bytes of weights are 150,912, of 2 * 294,912 are 294,912.
PLAN_SRAM = [
    [
        ((1, "compute", 150_912, 6_144, 115_200), 272_256),
        ((2, "compute", 150_912, 230_400, 100_352), 481_664),
    ],
    [
        ((3, "compute", 294_912, 200_704, 86_528), 582_144),
        ((4, "compute", 294_912, 173_056, 73_728), 541_696),
        ((4, "gather", 294_912, 0, 147_456), 442_368),
    ],
]


def test_sram_of_plans():
    two_two, two_one_one = (
        [[(use, use.total_bytes) for use in uses] for uses in plan_sram(NETWORK, SYSTEM, plan)]
        for plan in (TWO_TWO, TWO_ONE_ONE)
    )
    assert two_two == PLAN_SRAM
    assert two_one_one == [PLAN_SRAM[0], *([use] for use in SRAM[pipeline_parallel_sram][2:])]


def test_rows_of_a_network_that_is_not_square():
    # A byte an element, rows along x. Layer 1: 2 filters of 1 x 2 x 3 over 5 x 7, so 4 x 5; weights
    # 2 * 6 = 12, the whole input 35, an output row 2 * 4 = 8. Layer 2: 3 filters of 2 x 3 x 2 over
    # 4 x 5, so 2 x 4; weights 3 * 12 = 36, two input rows 2 * 8 = 16, an output row 3 * 2 = 6.
    # Layer 3: a filter of 3 x 1 x 4 over 2 x 4, so 2 x 1; weights 12, four input rows 4 * 6 = 24,
    # the whole output 2.
    network = [
        ConvLayer(2, 1, 2, 3, 5, 7, element_bytes=1),
        ConvLayer(3, 2, 3, 2, 4, 5, element_bytes=1),
        ConvLayer(1, 3, 1, 4, 2, 4, element_bytes=1),
    ]
    uses = [(use[2:], use.total_bytes) for use in pipeline_streamed_sram(network, SYSTEM)]
    assert uses == [((12, 35, 8), 55), ((36, 16, 6), 58), ((12, 24, 2), 38)]


# ------------------------------------------------ one node


def test_one_node():
    # 606,661,632 ops at 50 a ns
    one_node = SYSTEM._replace(nodes=1)
    assert tensor_parallel_latency(NETWORK, one_node) == Fraction("0.01213323264")
    assert tensor_parallel_latency(NETWORK, one_node, 3) == Fraction("0.03639969792")
