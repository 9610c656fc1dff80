"""Row streaming by pencil, and the lower bound: the rows' times are in the comments."""

from fractions import Fraction

import pytest

from lab3 import ALL_TO_ALL, NETWORK, RING, SYSTEM, ConvLayer, System
from odd_machines import GATHERS, ODD, ODD_ALL_TO_ALL, ONE_LAYER, SENDS
from report import streaming
from report.streaming import compute_bound, streamed_latency


def ms(text):
    """A decimal of milliseconds, in seconds."""
    return Fraction(text) / 1000


# ------------------------------------------------ the lab


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
    assert streamed_latency("tensor", NETWORK, system, 32) == ms(latency_ms)


@pytest.mark.parametrize("inputs", [1, 32, 10**9])
def test_the_lab_by_what_never_rests(inputs):
    # All nodes compute 3,033.30816 us per input, and the last share of a row takes 0.768 us more.
    bound_s = inputs * ms("3.03330816")
    assert compute_bound(NETWORK, SYSTEM, inputs) == bound_s
    assert streamed_latency("tensor", NETWORK, SYSTEM, inputs) == bound_s + ms("0.000768")

    # At 10 MB/s a node computes a row of layer 1, 1.0368 us. Then its link to the gathering node
    # carries 187,904 bytes per input, 18,790.4 us.
    slow = SYSTEM._replace(link_bytes_per_s=10**7)
    tensor_s = streamed_latency("tensor", NETWORK, slow, inputs)
    assert tensor_s == ms("0.0010368") + inputs * ms("18.7904")

    # After three rows of 4.1472 us, the last one's send 3.84, node 2 computes 4,624.22016 us per
    # input. Its last row goes on: sent 3.584, node 3's 153.35424, sent 3.328, node 4's 141.55776.
    pipeline_s = streamed_latency("pipeline", NETWORK, SYSTEM, inputs)
    assert pipeline_s == ms("0.3181056") + inputs * ms("4.62422016")


def test_one_input_unless_told():
    assert compute_bound(NETWORK, SYSTEM) == ms("3.03330816")
    assert streamed_latency("tensor", NETWORK, SYSTEM) == ms("3.03407616")
    assert streamed_latency("pipeline", NETWORK, SYSTEM) == ms("4.94232576")


# ------------------------------------------------ a machine that differs in everything

# Tensor parallelism, all-to-all. A node computes its share of a row in C / (P * out_y * R) =
# 3,840 / (6 * 5 * 64/3) = 6, 67.5 and 121.5 s, and sends it in A / (P * out_y * B) =
# 720 / (6 * 5 * 5/2) = 9.6, 12 and 21.6 s.
#   Input 1: layer 1's rows are done at 6, 12, 18, 24, 30 and have arrived at 15.6, 25.2, 34.8, ...
#     Layer 2 starts with three of them, at 34.8, and computes to 237.3; rows are there at 114.3,
#     181.8, 249.3. Layer 3 needs two for its first row, 237.3 to 358.8, and the third for its
#     second, to 480.3, which has arrived at 501.9.
#   Input 2: links to the gathering node are free at 501.9, so that it has three rows of layer 1 at
#     530.7, the others at 515.1. It computes layer 2 to 733.2 and layer 3 to 976.2. The others
#     compute layer 2 to 717.6, layer 3 to 960.6, and the last row has arrived at 982.2.
#   Input 3: the gathering node is free at 976.2, links to it at 982.2. Three rows of the others
#     are on it at 982.2 + 3 * 9.6 = 1,011, and three of its own on the others at 976.2 + 6 + 3 *
#     9.6 = 1,011. So all compute layer 2 to 1,213.5, layer 3 to 1,456.5, and the last row has
#     arrived at 1,478.1.
#   All nodes are free 21.6 s before that, as after input 1, 976.2 s earlier: odd inputs add
#   495.9 s, even ones 480.3 s.
# The pipeline, on either topology. Rows take C / (out_y * R) = 3,840 / (5 * 64/3) = 36, 405 and 729
# s, their sends A / (out_y * B) = 720 / (5 * 5/2) = 57.6 and 72 s.
#     Layer 1's rows are done at 36, 72, 108, ... and have arrived at 93.6, 151.2, 208.8, ...
#     Layer 2's, from 208.8 on, are done at 613.8, 1,018.8, 1,423.8, arrived at 685.8, 1,090.8,
#     1,495.8. Layer 3's, from 1,090.8 on, are done at 1,819.8 and 2,548.8. Node 3 takes 1,458 s
#     for each further input.


@pytest.mark.parametrize(
    ("inputs", "tensor_s", "pipeline_s"),
    [
        (1, "501.9", "2548.8"),
        (2, "982.2", "4006.8"),
        (3, "1478.1", "5464.8"),
        (8, "3910.8", "12754.8"),  # 501.9 + 4 * 480.3 + 3 * 495.9; 2,548.8 + 7 * 1,458
        (10**9, "488100000006", "1458000001090.8"),  # half of them 976.2, and 501.9 - 495.9
    ],
)
def test_the_odd_machines_latencies(inputs, tensor_s, pipeline_s):
    network, system, _ = ODD_ALL_TO_ALL
    assert streamed_latency("tensor", network, system, inputs) == Fraction(tensor_s)
    for question in (ODD, ODD_ALL_TO_ALL):
        assert streamed_latency("pipeline", *question[:2], inputs) == Fraction(pipeline_s)


def test_the_lower_bound():
    # N * sum(C) / (P * R) = 8 * (3,840 + 25,920 + 31,104) / (6 * 64 / 3) = 8 * 60,864 / 128
    assert compute_bound(*ODD) == compute_bound(*ODD_ALL_TO_ALL) == 3_804


# ------------------------------------------------ others


def test_a_slow_link_to_the_gathering_node_is_never_idle():
    # A node's share of a row takes 0.1, 2, 2 s, on a link 2, 4, 2 s. From 0.1 on each link to the
    # gathering node carries 3 * 8 s per input.
    slow = SENDS.on(topology=ALL_TO_ALL)
    for inputs in (1, 2, 3, 100):
        latency_s = streamed_latency("tensor", *slow[:2], inputs)
        assert latency_s == Fraction("0.1") + 24 * inputs


def test_a_send_is_the_bottleneck_of_a_streaming_pipeline():
    # Rows 0.5, 10, 10 s, sends 10 and 20 s. Layer 1's rows have arrived at 10.5, 20.5, 30.5, layer
    # 2's are done at 20.5, 30.5, 40.5, arrived at 40.5, 60.5, 80.5, layer 3's last done at 90.5.
    for inputs, latency_s in ((1, "90.5"), (3, "210.5")):
        assert streamed_latency("pipeline", *SENDS[:2], inputs) == Fraction(latency_s)


def test_one_layer_is_gathered_row_by_row():
    # a share of a row: 768 / 3 / 4 / 64 = 1 s, on its link 48 / 3 / 4 / 2 = 2 s, without a pause
    for inputs in (1, 2, 7):
        assert streamed_latency("tensor", *ONE_LAYER[:2], inputs) == 1 + 8 * inputs
        assert streamed_latency("pipeline", *ONE_LAYER[:2], inputs) == 12 * inputs


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
        ("tensor", *GATHERS.on(topology=RING)[:2], 1, "not modelled on a ring of 3 nodes"),
        ("pipeline", NETWORK, SYSTEM._replace(nodes=3), 1, "4 layers need 4 nodes"),
        ("tensor", TALL, SYSTEM, 1, "beyond 50,000 rows .* has 50,001"),
        ("pipeline", TALL, SYSTEM, 1, "beyond 50,000 rows .* has 50,001"),
    ],
)
def test_what_cannot_be_modelled_is_refused(strategy, network, system, inputs, said):
    with pytest.raises(ValueError, match=said):
        streamed_latency(strategy, network, system, inputs)


@pytest.mark.parametrize(
    ("network", "system", "inputs", "said"),
    [
        ([], SYSTEM, 1, "network"),
        (NETWORK, System(ops_per_s=0), 1, "ops_per_s: 0"),
        (NETWORK, (4, 1, 1), 1, "system"),
        (NETWORK, SYSTEM, 0, "inputs: 0"),
        (NETWORK, SYSTEM, -3, "inputs: -3"),
    ],
)
def test_what_is_wrong_is_refused(network, system, inputs, said):
    with pytest.raises(ValueError, match=said):
        compute_bound(network, system, inputs)
    for strategy in ("tensor", "pipeline"):
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
