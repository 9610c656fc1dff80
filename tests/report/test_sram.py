"""report/sram.py against bytes worked out by hand."""

import pytest

import machines
from machines import ODD
from report import sram
from report.question import LAB

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
    ("strategy", "question", "where", "free_bytes"),
    [
        ("tensor", LAB, ("every node", 2), 20_800),
        ("pipeline", LAB, ("node 2", 2), -201_728),
        ("data", LAB, ("every node", 2), -798_464),
        ("tensor", ODD, ("every node", 2), 6_654),
        ("pipeline", ODD, ("node 3", 3), 252),
        ("data", ODD, ("every node", 2), -2_556),
    ],
)
def test_the_fullest_node(strategy, question, where, free_bytes):
    network, system, _ = question
    fullest = sram.find_fullest(FUNCTIONS[strategy](network, system))
    assert (fullest.where, fullest.layer) == where
    assert system.sram_bytes - fullest.total_bytes == free_bytes


def test_one_node_gathers_nothing():
    # it holds all weights, 10,512 bytes, and each layer's whole input and output
    uses = sram.tensor_sram(ODD.network, ODD.system._replace(nodes=1))
    assert [use[2:] for use in uses] == [row[2:6] for row in machines.ODD_SRAM["data"]]


@pytest.mark.parametrize(("strategy", "nodes"), [("tensor", 5), ("pipeline", 2)])
def test_an_impossible_strategy_is_refused(strategy, nodes):
    with pytest.raises(ValueError, match=f"^{strategy.title()} parallelism is not possible: "):
        FUNCTIONS[strategy](ODD.network, ODD.system._replace(nodes=nodes))
