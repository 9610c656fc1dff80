"""report/sram.py against bytes worked out by hand."""

from itertools import pairwise

import pytest

from lab3 import ConvLayer, System
from machines import LAB, ODD, ODD_SRAM
from report import sram
from report.question import Question

WIDER = ODD._replace(network=(*ODD.network[:2], ODD.network[2]._replace(filters=48)))


@pytest.mark.parametrize("strategy", ODD_SRAM)
def test_what_nodes_hold(strategy):
    uses = sram.list_sram(ODD, strategy)
    assert [(*use[1:], use.total_bytes) for use in uses] == ODD_SRAM[strategy]


@pytest.mark.parametrize(
    ("question", "input_kept", "inputs_waiting", "overlapping"),
    [
        # 222,912 + 230,400 + 200,704; 503,488 + 31 * 6,144; 294,912 + 2 * 230,400 + 200,704
        (LAB, 654_016, 693_952, ("node 2", 956_416)),
        # 1,752 + 720 + 540; 2,562 + 7 * 216; the bottleneck is a link
        (ODD, 3_012, 4_074, None),
        # 2,184 + 540 + 864 of layer 3; 2,184 + 864 + 7 * 216; 10,368 + 2 * 540 + 864
        (WIDER, 3_588, 4_560, ("node 3", 12_312)),
    ],
)
def test_what_one_input_at_a_time_does_not_count(question, input_kept, inputs_waiting, overlapping):
    uses = sram.list_uncounted(question)
    assert uses["input kept"].total_bytes == input_kept
    assert uses["inputs waiting"].total_bytes == inputs_waiting
    following = uses.get("next input")
    assert (following and (following.where, following.total_bytes)) == overlapping


@pytest.mark.parametrize(
    ("channels", "overlapping"),  # of each layer of 1 x 1 on 5 x 5, and last the filters
    [
        ((1, 1, 1, 1, 1), ("node 2", 76)),  # all compute 50 ops: 1 + 2 * 25 + 25
        ((1, 1, 1, 1, 2), ("node 4", 102)),  # node 4 computes 100: 2 + 2 * 25 + 50
        ((1, 1, 2, 1), ("node 3", 127)),  # nodes 2 and 3 compute 100: 2 + 2 * 50 + 25, not 102
        ((1, 2, 1, 2), ("node 2", 127)),  # nodes 1 to 3 do
        ((1, 1, 2, 2, 1), ("node 3", 154)),  # node 3 computes 200: 4 + 2 * 50 + 50
        ((10, 1, 1), None),  # node 1 computes 500, and receives nothing
        ((1, 1), None),
    ],
)
def test_a_bottleneck_receives_its_next_input_while_it_computes(channels, overlapping):
    network = [ConvLayer(filters, before, 1, 1, 5, 5, 1) for before, filters in pairwise(channels)]
    question = Question(tuple(network), System(4, ops_per_s=1), 2)
    following = sram.list_uncounted(question).get("next input")
    assert (following and (following.where, following.total_bytes)) == overlapping


def test_two_nodes_gather_and_one_does_not():
    two, one = (ODD._replace(system=ODD.system._replace(nodes=nodes)) for nodes in (2, 1))
    assert sram.list_sram(two, "tensor")[-1] == ("tensor", "one node", 3, 5_256, 0, 648)
    # it holds all weights, 10,512 bytes, and each layer's whole input and output
    uses = sram.list_sram(one, "tensor")
    assert [use[3:] for use in uses] == [row[2:5] for row in ODD_SRAM["data"]]
