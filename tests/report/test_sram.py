"""What nodes hold, byte by byte: by the tables of odd_machines.py, and at the edges."""

from fractions import Fraction

import pytest

from lab3 import ALL_TO_ALL, RING, ConvLayer, System
from odd_machines import BOTH, MACHINES, ODD, ONE_LAYER, SENDS
from report import sram
from report.question import LAB, Question

KEEP_UP = {"topology": ALL_TO_ALL, "link_bytes_per_s": 10**15}  # with rows computed
ALL = {
    "tensor": sram.tensor_parallel_sram,
    "tensor, streamed": sram.tensor_streamed_sram,
    "pipeline": sram.pipeline_parallel_sram,
    "pipeline, streamed": sram.pipeline_streamed_sram,
    "data": sram.data_parallel_sram,
}


def held(of, question):
    """Where, layer, work, bytes of weights, input and output, and all of these bytes."""
    return [(*use, use.total_bytes) for use in of(*question[:2])]


@pytest.mark.parametrize("strategy", ALL)
def test_what_the_hand_worked_machines_hold(strategy):
    for machine in (it for it in MACHINES.values() if hasattr(it, "sram")):
        expected = [tuple(vars(row).values())[1:8] for row in machine.sram if row.group == strategy]
        assert expected
        for topology in BOTH:
            question = machine.question.on(topology=topology)
            if strategy == "tensor, streamed":
                question = question.on(**KEEP_UP)
            assert held(ALL[strategy], question) == expected


# ------------------------------------------------ edges


def test_every_node_holds_most_where_the_last_layers_first_row_decides():
    # An input row of 6 * 4 = 24 bytes, three of them; an output row of 3 * 4 = 12, three of them;
    # weights 18 / 3. First row: 72 + 4; last: 24 + 2 * 12 + 4.
    question = Question((ConvLayer(3, 6, 1, 1, 4, 3, 1),), System(nodes=3)).on(**KEEP_UP)
    assert held(sram.tensor_streamed_sram, question) == [
        ("every node", 1, "compute", 6, 72, 4, 82),
        ("gathering node", 1, "gather", 6, 0, 36, 42),
    ]
    # the first row may be the last: three input rows, a third of 12 bytes, weights 54 / 3
    question = question._replace(network=(ConvLayer(3, 6, 1, 3, 4, 3, 1),))
    assert held(sram.tensor_streamed_sram, question) == [
        ("every node", 1, "compute", 18, 72, 4, 94),
        ("gathering node", 1, "gather", 18, 0, 12, 30),
    ]


def test_one_node_is_node_1_whatever_it_does():
    # it holds all: weights 10,512, each layer's input and output, then the last output
    alone = ODD.on(nodes=1)
    whole = [
        ("node 1", 1, "compute", 10_512, 216, 720, 11_448),
        ("node 1", 2, "compute", 10_512, 720, 540, 11_772),
        ("node 1", 3, "compute", 10_512, 540, 648, 11_700),
        ("node 1", 3, "gather", 10_512, 0, 648, 11_160),
    ]
    assert held(sram.tensor_parallel_sram, alone) == whole
    assert held(sram.data_parallel_sram, alone) == whole[:3]
    # streamed, the last rows of input, 4 * 27, 3 * 144 and 2 * 180 bytes, and the whole output
    assert held(sram.tensor_streamed_sram, alone) == [
        ("node 1", 1, "compute", 10_512, 108, 720, 11_340),
        ("node 1", 2, "compute", 10_512, 432, 540, 11_484),
        ("node 1", 3, "compute", 10_512, 360, 648, 11_520),
        whole[3],
    ]
    for pipeline in (sram.pipeline_parallel_sram, sram.pipeline_streamed_sram):
        expected = [("node 1", 1, "compute", 120, 50, 96, 266)]
        assert held(pipeline, ONE_LAYER.on(nodes=1)) == expected


# ------------------------------------------------ what is refused

TENSOR = sram.tensor_parallel_sram, sram.tensor_streamed_sram
PIPELINE = sram.pipeline_parallel_sram, sram.pipeline_streamed_sram


@pytest.mark.parametrize(
    ("functions", "question", "said"),
    [
        (TENSOR, LAB.on(nodes=6), "cannot be split evenly over 6 nodes"),
        (TENSOR, LAB.on(nodes=6, topology=RING), "cannot be split evenly over 6 nodes"),
        (PIPELINE, LAB.on(nodes=2), "4 layers need 4 nodes or more, not 2"),
        (TENSOR[1:], SENDS, "not modelled on a ring of 5 nodes"),
        (TENSOR[1:], ONE_LAYER.on(topology=RING), "not modelled on a ring of 3 nodes"),
    ],
)
def test_a_strategy_that_is_not_possible_is_refused_with_its_reason(functions, question, said):
    for of in functions:
        with pytest.raises(ValueError, match=said):
            of(*question[:2])


def test_two_nodes_are_neighbours_on_a_ring_too():
    two, ring = (LAB.on(nodes=2, topology=topology) for topology in ("all-to-all", RING))
    assert held(sram.tensor_streamed_sram, ring) == held(sram.tensor_streamed_sram, two)


# The lab's longest row to send is one of layer 1, 128 * 30 * 2 bytes, and so is the shortest to
# compute, 6,220,800 / 30 ops: 4.1472 us, in which a link of 7,680 / 4.1472 bytes/us sends it. Of
# SENDS these are of two layers: rows of 10, 20, 10 bytes, of 20, 400, 400 ops at 40 ops/s.
@pytest.mark.parametrize(
    ("question", "enough", "too_few"),
    [
        (LAB, Fraction(7_680 * 10**10, 41_472), Fraction(7_680 * 10**10, 41_473)),
        (LAB.on(nodes=1), 10**6, None),
        (LAB.on(nodes=2), 10**10, 10**6),
        (SENDS.on(topology=ALL_TO_ALL), 40, 39),
    ],
)
def test_where_a_row_takes_longer_to_send_than_another_to_compute(question, enough, too_few):
    assert held(sram.tensor_streamed_sram, question.on(link_bytes_per_s=enough))
    if too_few:
        with pytest.raises(ValueError, match="not modelled on links on which a row takes longer"):
            sram.tensor_streamed_sram(*question.on(link_bytes_per_s=too_few)[:2])
