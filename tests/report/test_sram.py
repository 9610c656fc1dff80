"""What nodes hold, byte by byte: every expected number is worked out in a comment."""

import pytest

from lab3 import NETWORK, RING, SYSTEM, ConvLayer, System
from odd_machines import GATHERS, ODD, ODD_ALL_TO_ALL, ONE_LAYER, SENDS
from report import sram

WHOLE_TENSORS = (
    sram.tensor_parallel_sram,
    sram.pipeline_parallel_sram,
    sram.data_parallel_sram,
)
ALL = (*WHOLE_TENSORS, sram.tensor_streamed_sram, sram.pipeline_streamed_sram)


def nodes(layers):
    """Where, layer and work in a pipeline."""
    return [(f"node {layer}", layer, "compute") for layer in range(1, layers + 1)]


def every_node(layers):
    """The same while every node computes."""
    return [("every node", layer, "compute") for layer in range(1, layers + 1)]


def check(uses, places, sizes):
    """Uses against places, and against bytes of weights, input, output and their total."""
    assert uses == [(*place, *size[:3]) for place, size in zip(places, sizes, strict=True)]
    assert [use.total_bytes for use in uses] == [size[3] for size in sizes]


# ------------------------------------------------ the lab

# All weights are 6,912 + 3 * 294,912 = 891,648 bytes, a quarter of them 222,912. The gathering node
# finally holds the whole output, 147,456 bytes.
LAB_GATHER = (222_912, 0, 147_456, 370_368)


@pytest.mark.parametrize("system", [SYSTEM, SYSTEM._replace(topology=RING)])
def test_the_labs_whole_tensors(system):
    # a quarter of each output: 230,400 / 4 = 57,600
    tensor = [
        (222_912, 6_144, 57_600, 286_656),
        (222_912, 230_400, 50_176, 503_488),
        (222_912, 200_704, 43_264, 466_880),
        (222_912, 173_056, 36_864, 432_832),
        LAB_GATHER,
    ]
    places = [*every_node(4), ("gathering node", 4, "gather")]
    check(sram.tensor_parallel_sram(NETWORK, system), places, tensor)
    pipeline = [
        (6_912, 6_144, 230_400, 243_456),
        (294_912, 230_400, 200_704, 726_016),
        (294_912, 200_704, 173_056, 668_672),
        (294_912, 173_056, 147_456, 615_424),
    ]
    check(sram.pipeline_parallel_sram(NETWORK, system), nodes(4), pipeline)
    data = [
        (891_648, 6_144, 230_400, 1_128_192),
        (891_648, 230_400, 200_704, 1_322_752),
        (891_648, 200_704, 173_056, 1_265_408),
        (891_648, 173_056, 147_456, 1_212_160),
    ]
    check(sram.data_parallel_sram(NETWORK, system), every_node(4), data)


def test_the_labs_streamed_rows_in_tensor_parallelism():
    # layer 1 in its last row: 3 input rows of 192, 29 output rows of 7,680 and a share of 1,920;
    # the others in their first: the whole input, and of rows of 7,168, 6,656, 6,144 a quarter
    sizes = [
        (222_912, 576, 224_640, 448_128),
        (222_912, 230_400, 1_792, 455_104),
        (222_912, 200_704, 1_664, 425_280),
        (222_912, 173_056, 1_536, 397_504),
        LAB_GATHER,
    ]
    places = [*every_node(4), ("gathering node", 4, "gather")]
    check(sram.tensor_streamed_sram(NETWORK, SYSTEM), places, sizes)


@pytest.mark.parametrize("system", [SYSTEM, SYSTEM._replace(topology=RING)])
def test_the_labs_streamed_rows_in_a_pipeline(system):
    # three rows of the input, one of the output: layer 2 reads 3 * (128 * 30 * 2) = 23,040 and
    # makes 128 * 28 * 2 = 7,168, layer 1 makes 128 * 30 * 2 = 7,680; but layer 1 has all of its
    # input from the start, 6,144, and layer 4 all of its output in the end, 147,456
    sizes = [
        (6_912, 6_144, 7_680, 20_736),
        (294_912, 23_040, 7_168, 325_120),
        (294_912, 21_504, 6_656, 323_072),
        (294_912, 19_968, 147_456, 462_336),
    ]
    check(sram.pipeline_streamed_sram(NETWORK, system), nodes(4), sizes)


# ------------------------------------------------ a machine that differs in everything


def test_whole_tensors_on_the_odd_machine():
    # a sixth of 10,512 bytes of weights, and of each output: 120, 90, 108
    places = [*every_node(3), ("gathering node", 3, "gather")]
    tensor = [
        (1_752, 216, 120, 2_088),
        (1_752, 720, 90, 2_562),
        (1_752, 540, 108, 2_400),
        (1_752, 0, 648, 2_400),
    ]
    check(sram.tensor_parallel_sram(*ODD[:2]), places, tensor)
    pipeline = [
        (144, 216, 720, 1_080),
        (2_592, 720, 540, 3_852),
        (7_776, 540, 648, 8_964),
    ]
    check(sram.pipeline_parallel_sram(*ODD[:2]), nodes(3), pipeline)
    data = [
        (10_512, 216, 720, 11_448),
        (10_512, 720, 540, 11_772),
        (10_512, 540, 648, 11_700),
    ]
    check(sram.data_parallel_sram(*ODD[:2]), every_node(3), data)


# Rows of input 216 / 8 = 27, 720 / 5 = 144, 540 / 3 = 180 bytes; of output 720 / 5 = 144,
# 540 / 3 = 180, 648 / 2 = 324 bytes, of which a node computes 24, 30, 54.


def test_streamed_rows_of_tensor_parallelism_on_the_odd_machine():
    # Layer 1, first row: 216 + 24 = 240; last: 4 * 27 = 108, and 4 * 144 + 24 = 600. Layer 2, first
    # row: 720 + 30 = 750; last: 3 * 144 = 432, and 2 * 180 + 30 = 390. Layer 3, first row: 540 + 54
    # = 594; last, on the gathering node: 2 * 180 = 360, and 324 + 54 = 378.
    places = [
        ("every node", 1, "compute"),
        ("every node", 2, "compute"),
        ("gathering node", 3, "compute"),
        ("gathering node", 3, "gather"),
    ]
    sizes = [
        (1_752, 108, 600, 2_460),
        (1_752, 432, 390, 2_574),
        (1_752, 360, 378, 2_490),
        (1_752, 0, 648, 2_400),
    ]
    check(sram.tensor_streamed_sram(*ODD_ALL_TO_ALL[:2]), places, sizes)


def test_streamed_rows_of_a_pipeline_on_the_odd_machine():
    # node 1: the whole input and a row; node 2: 3 rows and a row; node 3: 2 rows and all output
    sizes = [
        (144, 216, 144, 504),
        (2_592, 432, 180, 3_204),
        (7_776, 360, 648, 8_784),
    ]
    check(sram.pipeline_streamed_sram(*ODD[:2]), nodes(3), sizes)


# ------------------------------------------------ others


def test_the_gathering_node_holds_most_while_it_gathers():
    # weights 60 / 3 = 20; all of the output, 72, beside a third of it and layer 2's input, 12 + 24
    tensor = sram.tensor_parallel_sram(*GATHERS[:2])
    places = [*every_node(2), ("gathering node", 2, "gather")]
    check(tensor, places, [(20, 6, 4, 30), (20, 12, 24, 56), (20, 0, 72, 92)])
    # Layer 1, last row: a row of input, a row of output and a third of one. Layer 2: the same, but
    # the output's first row is on the gathering node only; in the first row 12 + 12 on every node.
    streamed = sram.tensor_streamed_sram(*GATHERS[:2])
    places[1] = ("gathering node", 2, "compute")
    check(streamed, places, [(20, 3, 8, 31), (20, 6, 48, 74), (20, 0, 72, 92)])


def test_the_gathering_node_holds_most_while_it_computes_the_last_row():
    # weights 48 / 3 = 16; last row: 2 * 8 of input, 3 * 12 + 4 of output; first row: 40 and 4
    uses = sram.tensor_streamed_sram(*ONE_LAYER[:2])
    places = [("gathering node", 1, "compute"), ("gathering node", 1, "gather")]
    check(uses, places, [(16, 16, 40, 72), (16, 0, 48, 64)])


def test_every_node_holds_most_where_the_last_layers_first_row_decides():
    # An input row of 6 * 4 = 24 bytes, three of them; an output row of 3 * 4 = 12, three of them;
    # weights 18 / 3. First row: 72 + 4; last: 24 + 2 * 12 + 4.
    network = (ConvLayer(3, 6, 1, 1, 4, 3, 1),)
    places = [("every node", 1, "compute"), ("gathering node", 1, "gather")]
    uses = sram.tensor_streamed_sram(network, System(nodes=3))
    check(uses, places, [(6, 72, 4, 82), (6, 0, 36, 42)])
    # the first row may be the last: three input rows, a third of 12 bytes, weights 54 / 3
    network = (ConvLayer(3, 6, 1, 3, 4, 3, 1),)
    uses = sram.tensor_streamed_sram(network, System(nodes=3))
    check(uses, places, [(18, 72, 4, 94), (18, 0, 12, 30)])


def test_one_node_is_node_1_whatever_it_does():
    # it holds all: weights 60, 6 + 12 and 12 + 72, then the output; streamed, in the first layer's
    # last row 3 + 12, in the second's 6 + 72
    alone = (GATHERS.network, GATHERS.system._replace(nodes=1))
    places = [("node 1", 1, "compute"), ("node 1", 2, "compute"), ("node 1", 2, "gather")]
    sizes = [(60, 6, 12, 78), (60, 12, 72, 144), (60, 0, 72, 132)]
    check(sram.tensor_parallel_sram(*alone), places, sizes)
    check(sram.data_parallel_sram(*alone), places[:2], sizes[:2])
    streamed = [(60, 3, 12, 75), (60, 6, 72, 138), (60, 0, 72, 132)]
    check(sram.tensor_streamed_sram(*alone), places, streamed)
    one_layer = (ONE_LAYER.network, ONE_LAYER.system._replace(nodes=1))
    for pipeline in (sram.pipeline_parallel_sram, sram.pipeline_streamed_sram):
        check(pipeline(*one_layer), [("node 1", 1, "compute")], [(48, 40, 48, 136)])


# ------------------------------------------------ what is refused


@pytest.mark.parametrize("of", ALL)
def test_what_cannot_be_modelled_is_refused(of):
    for network, system, said in (
        ([], SYSTEM, "network: .* must be a list or tuple of ConvLayers"),
        (NETWORK, None, "system: None must be a System"),
        (NETWORK, SYSTEM._replace(nodes=0), "nodes: 0 must be a positive int"),
    ):
        with pytest.raises(ValueError, match=said):
            of(network, system)


def test_a_strategy_that_is_not_possible_is_refused_with_its_reason():
    six, two = SYSTEM._replace(nodes=6), SYSTEM._replace(nodes=2)
    for of in (sram.tensor_parallel_sram, sram.tensor_streamed_sram):
        for topology in ("all-to-all", RING):
            with pytest.raises(ValueError, match="6 nodes do not divide layer 1's 128 filters"):
                of(NETWORK, six._replace(topology=topology))
    for of in (sram.pipeline_parallel_sram, sram.pipeline_streamed_sram):
        with pytest.raises(ValueError, match="4 layers need 4 nodes or more, not 2"):
            of(NETWORK, two)
    for question, nodes in ((SENDS, 5), (GATHERS.on(topology=RING), 3)):
        with pytest.raises(ValueError, match=f"not modelled on a ring of {nodes} nodes"):
            sram.tensor_streamed_sram(*question[:2])
    # two nodes are neighbours on a ring, too
    ring = two._replace(topology=RING)
    assert sram.tensor_streamed_sram(NETWORK, ring) == sram.tensor_streamed_sram(NETWORK, two)
