"""What nodes hold, byte by byte: every expected number is worked out in a comment."""

from fractions import Fraction

import pytest

from lab3 import ALL_TO_ALL, NETWORK, RING, SYSTEM, ConvLayer, System
from odd_machines import GATHERS, ODD, ODD_ALL_TO_ALL, ONE_LAYER, SENDS
from report import sram
from report.question import LAB, Question

ALL = (
    sram.tensor_parallel_sram,
    sram.tensor_streamed_sram,
    sram.pipeline_parallel_sram,
    sram.pipeline_streamed_sram,
    sram.data_parallel_sram,
)


def held(of, question):
    """Where, layer, work, bytes of weights, input and output, and all of these bytes."""
    return [(*use, use.total_bytes) for use in of(*question[:2])]


# ------------------------------------------------ the lab

# All weights are 6,912 + 3 * 294,912 = 891,648 bytes, a quarter of them 222,912. The gathering node
# finally holds the whole output.
LAB_GATHER = ("gathering node", 4, "gather", 222_912, 0, 147_456, 370_368)


def test_the_labs_whole_tensors():
    # a quarter of each output: 230,400 / 4 = 57,600
    assert held(sram.tensor_parallel_sram, LAB) == [
        ("every node", 1, "compute", 222_912, 6_144, 57_600, 286_656),
        ("every node", 2, "compute", 222_912, 230_400, 50_176, 503_488),
        ("every node", 3, "compute", 222_912, 200_704, 43_264, 466_880),
        ("every node", 4, "compute", 222_912, 173_056, 36_864, 432_832),
        LAB_GATHER,
    ]
    assert held(sram.pipeline_parallel_sram, LAB) == [
        ("node 1", 1, "compute", 6_912, 6_144, 230_400, 243_456),
        ("node 2", 2, "compute", 294_912, 230_400, 200_704, 726_016),
        ("node 3", 3, "compute", 294_912, 200_704, 173_056, 668_672),
        ("node 4", 4, "compute", 294_912, 173_056, 147_456, 615_424),
    ]
    assert held(sram.data_parallel_sram, LAB) == [
        ("every node", 1, "compute", 891_648, 6_144, 230_400, 1_128_192),
        ("every node", 2, "compute", 891_648, 230_400, 200_704, 1_322_752),
        ("every node", 3, "compute", 891_648, 200_704, 173_056, 1_265_408),
        ("every node", 4, "compute", 891_648, 173_056, 147_456, 1_212_160),
    ]


def test_the_labs_streamed_rows():
    # layer 1 in its last row: 3 input rows of 192, 29 output rows of 7,680 and a share of 1,920;
    # the others in their first: the whole input, and of rows of 7,168, 6,656, 6,144 a quarter
    assert held(sram.tensor_streamed_sram, LAB) == [
        ("every node", 1, "compute", 222_912, 576, 224_640, 448_128),
        ("every node", 2, "compute", 222_912, 230_400, 1_792, 455_104),
        ("every node", 3, "compute", 222_912, 200_704, 1_664, 425_280),
        ("every node", 4, "compute", 222_912, 173_056, 1_536, 397_504),
        LAB_GATHER,
    ]
    # three rows of the input, one of the output: layer 2 reads 3 * (128 * 30 * 2) = 23,040 and
    # makes 128 * 28 * 2 = 7,168, layer 1 makes 128 * 30 * 2 = 7,680; but layer 1 has all of its
    # input from the start, 6,144, and layer 4 all of its output in the end, 147,456
    pipeline = [
        ("node 1", 1, "compute", 6_912, 6_144, 7_680, 20_736),
        ("node 2", 2, "compute", 294_912, 23_040, 7_168, 325_120),
        ("node 3", 3, "compute", 294_912, 21_504, 6_656, 323_072),
        ("node 4", 4, "compute", 294_912, 19_968, 147_456, 462_336),
    ]
    for question in (LAB, LAB.on(topology=RING)):
        assert held(sram.pipeline_streamed_sram, question) == pipeline


# ------------------------------------------------ a machine that differs in everything


def test_whole_tensors_on_the_odd_machine():
    # a sixth of 10,512 bytes of weights, and of each output: 120, 90, 108
    assert held(sram.tensor_parallel_sram, ODD) == [
        ("every node", 1, "compute", 1_752, 216, 120, 2_088),
        ("every node", 2, "compute", 1_752, 720, 90, 2_562),
        ("every node", 3, "compute", 1_752, 540, 108, 2_400),
        ("gathering node", 3, "gather", 1_752, 0, 648, 2_400),
    ]
    assert held(sram.pipeline_parallel_sram, ODD) == [
        ("node 1", 1, "compute", 144, 216, 720, 1_080),
        ("node 2", 2, "compute", 2_592, 720, 540, 3_852),
        ("node 3", 3, "compute", 7_776, 540, 648, 8_964),
    ]
    assert held(sram.data_parallel_sram, ODD) == [
        ("every node", 1, "compute", 10_512, 216, 720, 11_448),
        ("every node", 2, "compute", 10_512, 720, 540, 11_772),
        ("every node", 3, "compute", 10_512, 540, 648, 11_700),
    ]


def test_streamed_rows_on_the_odd_machine():
    # Rows of input 216 / 8 = 27, 720 / 5 = 144, 540 / 3 = 180 bytes; of output 144, 180, 648 / 2 =
    # 324 bytes, of which a node computes 24, 30, 54.
    # Layer 1, first row: 216 + 24 = 240; last: 4 * 27 = 108, and 4 * 144 + 24 = 600. Layer 2, first
    # row: 720 + 30 = 750; last: 3 * 144 = 432, and 2 * 180 + 30 = 390. Layer 3, first row: 540 + 54
    # = 594; last, on the gathering node: 2 * 180 = 360, and 324 + 54 = 378.
    assert held(sram.tensor_streamed_sram, ODD_ALL_TO_ALL) == [
        ("every node", 1, "compute", 1_752, 108, 600, 2_460),
        ("every node", 2, "compute", 1_752, 432, 390, 2_574),
        ("gathering node", 3, "compute", 1_752, 360, 378, 2_490),
        ("gathering node", 3, "gather", 1_752, 0, 648, 2_400),
    ]
    # node 1: the whole input and a row; node 2: 3 rows and a row; node 3: 2 rows and all output
    assert held(sram.pipeline_streamed_sram, ODD) == [
        ("node 1", 1, "compute", 144, 216, 144, 504),
        ("node 2", 2, "compute", 2_592, 432, 180, 3_204),
        ("node 3", 3, "compute", 7_776, 360, 648, 8_784),
    ]


# ------------------------------------------------ others


def test_the_gathering_node_holds_most_while_it_gathers():
    # weights 60 / 3 = 20; all of the output, 72, beside a third of it and layer 2's input, 12 + 24
    gather = ("gathering node", 2, "gather", 20, 0, 72, 92)
    assert held(sram.tensor_parallel_sram, GATHERS) == [
        ("every node", 1, "compute", 20, 6, 4, 30),
        ("every node", 2, "compute", 20, 12, 24, 56),
        gather,
    ]
    # Layer 1, last row: a row of input, a row of output and a third of one. Layer 2: the same, but
    # the output's first row is on the gathering node only; in the first row 12 + 12 on every node.
    assert held(sram.tensor_streamed_sram, GATHERS) == [
        ("every node", 1, "compute", 20, 3, 8, 31),
        ("gathering node", 2, "compute", 20, 6, 48, 74),
        gather,
    ]


def test_the_gathering_node_holds_most_while_it_computes_the_last_row():
    # weights 48 / 3 = 16; last row: 2 * 8 of input, 3 * 12 + 4 of output; first row: 40 and 4
    assert held(sram.tensor_streamed_sram, ONE_LAYER) == [
        ("gathering node", 1, "compute", 16, 16, 40, 72),
        ("gathering node", 1, "gather", 16, 0, 48, 64),
    ]


def test_every_node_holds_most_where_the_last_layers_first_row_decides():
    # An input row of 6 * 4 = 24 bytes, three of them; an output row of 3 * 4 = 12, three of them;
    # weights 18 / 3. First row: 72 + 4; last: 24 + 2 * 12 + 4.
    question = Question((ConvLayer(3, 6, 1, 1, 4, 3, 1),), System(nodes=3))
    assert held(sram.tensor_streamed_sram, question) == [
        ("every node", 1, "compute", 6, 72, 4, 82),
        ("gathering node", 1, "gather", 6, 0, 36, 42),
    ]
    # the first row may be the last: three input rows, a third of 12 bytes, weights 54 / 3
    question = Question((ConvLayer(3, 6, 1, 3, 4, 3, 1),), System(nodes=3))
    assert held(sram.tensor_streamed_sram, question) == [
        ("every node", 1, "compute", 18, 72, 4, 94),
        ("gathering node", 1, "gather", 18, 0, 12, 30),
    ]


def test_one_node_is_node_1_whatever_it_does():
    # it holds all: weights 60, 6 + 12 and 12 + 72, then the output; streamed, in the first layer's
    # last row 3 + 12, in the second's 6 + 72
    alone = GATHERS.on(nodes=1)
    whole = [
        ("node 1", 1, "compute", 60, 6, 12, 78),
        ("node 1", 2, "compute", 60, 12, 72, 144),
        ("node 1", 2, "gather", 60, 0, 72, 132),
    ]
    assert held(sram.tensor_parallel_sram, alone) == whole
    assert held(sram.data_parallel_sram, alone) == whole[:2]
    assert held(sram.tensor_streamed_sram, alone) == [
        ("node 1", 1, "compute", 60, 3, 12, 75),
        ("node 1", 2, "compute", 60, 6, 72, 138),
        whole[2],
    ]
    for pipeline in (sram.pipeline_parallel_sram, sram.pipeline_streamed_sram):
        expected = [("node 1", 1, "compute", 48, 40, 48, 136)]
        assert held(pipeline, ONE_LAYER.on(nodes=1)) == expected


# ------------------------------------------------ what is refused


@pytest.mark.parametrize("of", ALL)
def test_what_cannot_be_modelled_is_refused(of):
    for network, system, said in (
        ([], SYSTEM, "network: .* must be a list or tuple of at least one ConvLayer"),
        (NETWORK, None, "system: None must be a System"),
        (NETWORK, SYSTEM._replace(nodes=0), "nodes: 0 must be a positive int"),
    ):
        with pytest.raises(ValueError, match=said):
            of(network, system)


@pytest.mark.parametrize(
    ("functions", "question", "said"),
    [
        (ALL[:2], LAB.on(nodes=6), "cannot be split evenly over 6 nodes"),
        (ALL[:2], LAB.on(nodes=6, topology=RING), "cannot be split evenly over 6 nodes"),
        (ALL[2:4], LAB.on(nodes=2), "4 layers need 4 nodes or more, not 2"),
        (ALL[1:2], SENDS, "not modelled on a ring of 5 nodes"),
        (ALL[1:2], GATHERS.on(topology=RING), "not modelled on a ring of 3 nodes"),
    ],
)
def test_a_strategy_that_is_not_possible_is_refused_with_its_reason(functions, question, said):
    for of in functions:
        with pytest.raises(ValueError, match=said):
            of(*question[:2])


def test_two_nodes_are_neighbours_on_a_ring_too():
    two, ring = (LAB.on(nodes=2, topology=topology) for topology in ("all-to-all", RING))
    assert held(sram.tensor_streamed_sram, ring) == held(sram.tensor_streamed_sram, two)


@pytest.mark.parametrize(
    ("link_bytes_per_s", "nodes", "expected"),
    # The lab's longest row to send is one of layer 1, 128 * 30 * 2 bytes, and so is the shortest to
    # compute, 6,220,800 / 30 ops: 4.1472 us, in which a link of 7,680 / 4.1472 bytes/us sends it.
    [
        (Fraction(7_680 * 10**10, 41_472), 4, False),
        (Fraction(7_680 * 10**10, 41_473), 4, True),
        (10**6, 2, True),
        (10**6, 1, False),
    ],
)
def test_row_streaming_has_an_upper_bound_if_a_row_takes_longer_to_send(
    link_bytes_per_s, nodes, expected
):
    question = LAB.on(link_bytes_per_s=link_bytes_per_s, nodes=nodes)
    assert sram.is_upper_bound(*question[:2]) == expected


def test_the_rows_that_are_compared_may_be_of_two_layers():
    # SENDS: rows of 10, 20, 10 bytes at 1 byte/s, of 20, 400, 400 ops at 40 ops/s
    for link_bytes_per_s, expected in ((40, False), (39, True)):
        question = SENDS.on(topology=ALL_TO_ALL, link_bytes_per_s=link_bytes_per_s)
        assert sram.is_upper_bound(*question[:2]) == expected
