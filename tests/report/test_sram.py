"""report/sram.py against bytes worked out by hand."""

from fractions import Fraction
from itertools import pairwise

import pytest

import machines
from lab3 import ConvLayer, System
from machines import LAB, ODD
from program import output
from report import sram

FUNCTIONS = {
    "tensor": sram.tensor_sram,
    "pipeline": sram.pipeline_sram,
    "data": sram.data_sram,
}


@pytest.mark.parametrize("strategy", FUNCTIONS)
@pytest.mark.parametrize(
    ("question", "expected"), [(LAB, machines.LAB_SRAM), (ODD, machines.ODD_SRAM)]
)
def test_what_nodes_hold(question, expected, strategy):
    network, system, _ = question
    for topology in ("all-to-all", "ring"):
        uses = FUNCTIONS[strategy](network, system._replace(topology=topology))
        assert [(*use, use.total_bytes) for use in uses] == expected[strategy]


@pytest.mark.parametrize(
    ("question", "input_kept", "inputs_waiting", "overlapping"),
    [
        # 222,912 + 230,400 + 200,704; 503,488 + 31 * 6,144; 294,912 + 2 * 230,400 + 200,704
        (LAB, 654_016, 693_952, ("node 2", 956_416)),
        # 1,752 + 720 + 540; 2,562 + 7 * 216; the bottleneck is a link
        (ODD, 3_012, 4_074, None),
    ],
)
def test_what_one_input_at_a_time_does_not_count(question, input_kept, inputs_waiting, overlapping):
    machine = question[:2]
    assert sram.tensor_sram_input_kept(*machine) == input_kept
    assert sram.tensor_sram_inputs_waiting(*question) == inputs_waiting
    following = sram.pipeline_sram_overlapping(*machine)
    assert (following and (following.where, following.total_bytes)) == overlapping


def connect(channels):
    """Layers of so many input channels each, and last the filters, of 1 x 1 on 5 x 5."""
    return [ConvLayer(filters, before, 1, 1, 5, 5, 1) for before, filters in pairwise(channels)]


@pytest.mark.parametrize(
    ("channels", "overlapping"),
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
    network = connect(channels)
    following = sram.pipeline_sram_overlapping(network, System(4, ops_per_s=1))
    assert (following and (following.where, following.total_bytes)) == overlapping


def test_behind_a_link_that_is_the_bottleneck_nodes_pause():
    # nodes 2 and 3 compute 100 s, but link 2 to 3 carries 50 bytes in 125 s
    system = System(4, ops_per_s=1, link_bytes_per_s=Fraction(2, 5))
    assert sram.pipeline_sram_overlapping(connect((1, 1, 2, 1)), system) is None


def test_a_bottleneck_on_odds_nodes():
    system = ODD.system._replace(link_bytes_per_s=1_500)  # 720 / 1,500 < 31,104 / 62,500 s
    following = sram.pipeline_sram_overlapping(ODD.network, system)
    assert (following.where, following.total_bytes) == ("node 3", 9_504)  # 7,776 + 2 * 540 + 648


def test_two_nodes_gather_and_one_does_not():
    gather = sram.tensor_sram(ODD.network, ODD.system._replace(nodes=2))[-1]
    assert gather == ("one node", 3, "gather", 5_256, 0, 648)
    # it holds all weights, 10,512 bytes, and each layer's whole input and output
    uses = sram.tensor_sram(ODD.network, ODD.system._replace(nodes=1))
    assert [use[2:] for use in uses] == [row[2:6] for row in machines.ODD_SRAM["data"]]


def test_what_fits_exactly_fits():
    # 2,048 bytes of weights, 1,024 of input and 1,024 of output
    def explain(kib, inputs):
        options = f"--inputs {inputs} --sram-kib {kib} --nodes 1 --layer 32,32,1,1,4,4"
        return output(f"explain Q3 {options}")

    assert explain(4, 1).count(" 0 free") == 3
    assert not any(word in explain(4, 1) for word in (" over", "impossible"))
    assert "4,096 bytes" not in explain(4, 4) and "5,120 bytes" in explain(4, 5)  # of outputs
    assert "by 0" not in explain(2, 1) and "impossible" in explain(2, 1)
