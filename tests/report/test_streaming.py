"""Row streaming and the lower bound: by the tables of odd_machines.py, and at the edges, where the
rows' times are in the comments.
"""

from fractions import Fraction

import pytest

from lab3 import ALL_TO_ALL, NETWORK, RING, SYSTEM, ConvLayer, System
from odd_machines import BOTH, ODD, ONE_LAYER, SENDS, rows
from report import streaming
from report.streaming import compute_bound, streamed_latency


@pytest.mark.parametrize(("question", "row"), rows("streamed"))
def test_what_the_hand_worked_machines_take(question, row):
    for topology in (ALL_TO_ALL,) if row.strategy == "tensor" else BOTH:
        network, system, _ = question.on(topology=topology)
        assert streamed_latency(row.strategy, network, system, row.inputs) == row.latency_s
        if row.inputs == 1:  # unless told
            assert streamed_latency(row.strategy, network, system) == row.latency_s


# ------------------------------------------------ edges


# Recorded from a recurrence of each node and each of the 12 links by itself.
@pytest.mark.parametrize(
    ("megabytes_per_s", "latency_ms"),
    [
        (20, "300.6474368"),
        (40, "150.3242368"),
        (60, "23488243/234375"),
        (80, "98.69935872"),
        (100, "98.17711872"),
        (200, "97.13517312"),
    ],
)
def test_the_labs_tensor_parallelism_on_slower_links(megabytes_per_s, latency_ms):
    system = SYSTEM._replace(link_bytes_per_s=megabytes_per_s * 10**6)
    assert streamed_latency("tensor", NETWORK, system, 32) == Fraction(latency_ms) / 1000


@pytest.mark.parametrize("inputs", [1, 32, 10**9])
def test_the_lab_by_what_never_rests(inputs):
    assert compute_bound(NETWORK, SYSTEM, inputs) == inputs * Fraction("0.00303330816")

    # At 10 MB/s a node computes a row of layer 1, 1.0368 us. Then its link to the gathering node
    # carries 187,904 bytes per input, 18,790.4 us.
    slow = SYSTEM._replace(link_bytes_per_s=10**7)
    tensor_s = streamed_latency("tensor", NETWORK, slow, inputs)
    assert tensor_s == Fraction("0.0000010368") + inputs * Fraction("0.0187904")


def test_nodes_that_do_not_gather_wait_for_each_other():
    # One row per layer, on 3 nodes; a share takes 1, 3, 3, 9 s, on a link 1, 1, 1, 3 s.
    #   Input 1: computed at 1, 5, 9, 19, arrived at 2, 6, 10, 22.
    #   Input 2: the others' first shares are at 20, on the links to node 1 at 23. So node 1 is done
    #   with layer 2 at 26, the others at 24, with layer 3 at 29 and, once node 1's share is there,
    #   at 30. These shares arrive at 31, and after 9 + 3 s more all is done.
    filters = [(1, 3), (3, 3), (3, 3), (3, 9)]
    network = [ConvLayer(after, before, 1, 1, 1, 1, 1) for before, after in filters]
    for inputs, latency_s in ((1, 22), (2, 43)):
        assert streamed_latency("tensor", network, System(3, 2, 1), inputs) == latency_s


@pytest.mark.parametrize("topology", [ALL_TO_ALL, RING])
def test_one_node_and_two_are_alike_on_either_topology(topology):
    # 2,460 ops of SENDS at 40 per second on one node: 61.5 s per input, and nothing sent
    alone = SENDS.on(nodes=1, topology=topology)
    assert streamed_latency("tensor", *alone) == 3 * Fraction("61.5")
    # Two nodes: a share of a row 0.25, 5, 5 s, on a link 5, 10, 5 s. From 0.25 on the link to the
    # gathering node carries 60 s per input.
    two = SENDS.on(nodes=2, topology=topology)
    assert streamed_latency("tensor", *two) == Fraction("180.25")


# ------------------------------------------------ what is refused


TALL = (ConvLayer(4, 1, 1, 1, 1, 50_001),)


@pytest.mark.parametrize(
    ("strategy", "network", "system", "inputs", "said"),
    [
        ("data", NETWORK, SYSTEM, 1, "strategy: 'data' is not tensor or pipeline"),
        (["tensor"], NETWORK, SYSTEM, 1, "strategy: .* is not tensor or pipeline"),
        ("tensor", NETWORK, SYSTEM._replace(nodes=3), 1, "evenly over 3 nodes"),
        ("tensor", *ODD[:2], 1, "not modelled on a ring of 6 nodes"),
        ("tensor", *ONE_LAYER.on(topology=RING)[:2], 1, "not modelled on a ring of 3 nodes"),
        ("pipeline", NETWORK, SYSTEM._replace(nodes=3), 1, "4 layers need 4 nodes"),
        ("tensor", TALL, SYSTEM, 1, "beyond 50,000 rows .* has 50,001"),
        ("pipeline", TALL, SYSTEM, 1, "beyond 50,000 rows .* has 50,001"),
    ],
)
def test_what_cannot_be_modelled_is_refused(strategy, network, system, inputs, said):
    with pytest.raises(ValueError, match=said):
        streamed_latency(strategy, network, system, inputs)


@pytest.mark.parametrize("strategy", ["tensor", "pipeline"])
def test_as_many_rows_as_the_limit_can_be_streamed(monkeypatch, strategy):
    # the lab has 30 + 28 + 26 + 24 rows of output
    monkeypatch.setattr(streaming, "MOST_ROWS", 108)
    assert streamed_latency(strategy, NETWORK, SYSTEM)
    monkeypatch.setattr(streaming, "MOST_ROWS", 107)
    with pytest.raises(ValueError, match="beyond 107 rows of output; this CNN has 108"):
        streamed_latency(strategy, NETWORK, SYSTEM)
