"""What nodes hold, byte by byte: by the tables of odd_machines.py, and at the edges."""

from itertools import chain

import pytest

from lab3 import RING
from odd_machines import BOTH, MACHINES, ODD, ONE_LAYER, OTHER, SEVEN
from report import sram
from report.plans import STRATEGIES
from report.question import LAB


def strategy_sram(strategy):
    def uses(network, system):
        return [*chain(*sram.plan_sram(network, system, STRATEGIES[strategy](network, system)))]

    return uses


ALL = {
    "tensor": strategy_sram("tensor"),
    "pipeline": strategy_sram("pipeline"),
    "pipeline, streamed": sram.pipeline_streamed_sram,
    "data": sram.data_parallel_sram,
}


def held(of, question):
    """Where, layer, work, bytes of weights, input and output, and all of these bytes."""
    return [(*use, use.total_bytes) for use in of(*question[:2])]


@pytest.mark.parametrize("strategy", ALL)
def test_what_the_hand_worked_machines_hold(strategy):
    for machine in (each for each in MACHINES.values() if hasattr(each, "sram")):
        expected = [tuple(vars(row).values())[1:8] for row in machine.sram if row.group == strategy]
        assert expected
        for topology in BOTH:
            assert held(ALL[strategy], machine.question.on(topology=topology)) == expected


def test_the_nodes_of_each_group():
    # test_search.py has the working
    assert sram.plan_sram(OTHER, SEVEN, [(1, 3), (2, 2)]) == [
        [("every node", 1, "compute", 24, 90, 72)],
        [
            ("every node", 2, "compute", 108, 216, 48),
            ("every node", 3, "compute", 108, 96, 12),
            ("gathering node", 3, "gather", 108, 0, 24),
        ],
    ]
    uses = chain(*sram.plan_sram(OTHER, SEVEN, [(1, 2), (1, 1), (1, 2)]))
    assert [use.where for use in uses] == ["every node", "node 3", "every node", "gathering node"]


def test_one_node_is_node_1_whatever_it_does():
    # it holds all: weights 10,512, each layer's input and output
    alone = ODD.on(nodes=1)
    whole = [
        ("node 1", 1, "compute", 10_512, 216, 720, 11_448),
        ("node 1", 2, "compute", 10_512, 720, 540, 11_772),
        ("node 1", 3, "compute", 10_512, 540, 648, 11_700),
    ]
    assert held(ALL["tensor"], alone) == whole
    assert held(ALL["data"], alone) == whole
    for strategy in ("pipeline", "pipeline, streamed"):
        expected = [("node 1", 1, "compute", 120, 50, 96, 266)]
        assert held(ALL[strategy], ONE_LAYER.on(nodes=1)) == expected


@pytest.mark.parametrize(
    ("strategy", "question", "said"),
    [
        ("tensor", LAB.on(nodes=6), "cannot be split evenly over 6 nodes"),
        ("tensor", LAB.on(nodes=6, topology=RING), "cannot be split evenly over 6 nodes"),
        ("pipeline", LAB.on(nodes=2), "4 layers need 4 nodes or more, not 2"),
        ("pipeline, streamed", LAB.on(nodes=2), "4 layers need 4 nodes or more, not 2"),
    ],
)
def test_a_strategy_that_is_not_possible_is_refused_with_its_reason(strategy, question, said):
    with pytest.raises(ValueError, match=said):
        ALL[strategy](*question[:2])
