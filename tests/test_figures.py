"""Every figure of report/figures.py against numbers worked out by hand: the working is in the
comments.

The lab's, and those of a machine on which everything differs from the lab. No expected value is
computed by the code under test.
"""

from fractions import Fraction

import pytest

import figures
from lab3 import ConvLayer, System
from whatif import LAB, Question

# Layer 1: 4 filters of 1 x 1 x 2 over 3 x 4, so 3 x 3: 72 MACs, 144 ops; weights 8 bytes, input
# 12, output 36. Layer 2: 2 filters of 4 x 2 x 1 over 3 x 3, so 2 x 3: 96 MACs, 192 ops; weights
# 16, input 36, output 12. Two nodes of 12 ops/s, links of 3 bytes/s, 60 bytes of SRAM.
SMALL = Question(
    (ConvLayer(4, 1, 1, 2, 3, 4, 1), ConvLayer(2, 4, 2, 1, 3, 3, 1)),
    System(nodes=2, ops_per_s=12, link_bytes_per_s=3, sram_bytes=60, topology="ring"),
    3,
)
RING = LAB.on(topology="ring")


def by_count(question):
    """Each result by (inputs, strategy)."""
    return {(it.inputs, it.strategy): it for it in figures.results(question)}


def milliseconds(text):
    """A decimal of milliseconds, in seconds."""
    return Fraction(text) / 1000


# ------------------------------------------------ the strategies


# Tensor: 72 ops in 6 s, a shard of 18 bytes in 6 s, 96 ops in 8 s, a shard of 6 bytes in 2 s: 22 s
# and 2 * 18 + 6 = 42 bytes. Pipeline: 12 s, 36 bytes in 12 s, 16 s: 40 s, then 16 s an input.
# One node: 336 ops in 28 s, so 3 inputs 84 s.
@pytest.mark.parametrize(
    ("inputs", "strategy", "latency_s", "traffic_bytes", "communication_s", "interval_s"),
    [
        (1, "tensor", 22, 42, 8, 22),
        (3, "tensor", 66, 126, 8, 22),
        (1, "pipeline", 40, 36, 12, 16),
        (3, "pipeline", 72, 108, 12, 16),
    ],
)
def test_results_of_a_small_machine(
    inputs, strategy, latency_s, traffic_bytes, communication_s, interval_s
):
    found = by_count(SMALL)[inputs, strategy]
    assert (found.topology, found.reason, found.streamed_reason) == ("ring", None, None)
    assert (found.latency_s, found.traffic_bytes) == (latency_s, traffic_bytes)
    assert (found.communication_s, found.interval_s) == (communication_s, interval_s)
    assert found.compute_s == {"tensor": 14, "pipeline": 28}[strategy]
    assert found.speed_up == Fraction(28 * inputs, latency_s)
    assert found.utilisation == Fraction(14 * inputs, latency_s)
    assert found.limit_s == 14 * inputs


# Pipeline: layer 1's rows, 4 s each, are done at 4, 8, 12 and there at 8, 12, 16; layer 2's, 16/3 s
# each, at 40/3, 56/3, 24: then 16 s an input. Tensor: rows of layer 1, 2 s each, are there at 4, 6,
# 8; the nodes compute on without waiting, 14 s an input, and the last row's share takes 2/3 s.
@pytest.mark.parametrize(
    ("inputs", "strategy", "latency_s"),
    [
        (1, "tensor", Fraction(44, 3)),
        (3, "tensor", Fraction(128, 3)),
        (1, "pipeline", 24),
        (3, "pipeline", 56),
    ],
)
def test_rows_streamed_on_a_small_machine(inputs, strategy, latency_s):
    assert by_count(SMALL)[inputs, strategy].streamed_latency_s == latency_s


def test_the_labs_results():
    found = by_count(LAB)
    assert {key: it.streamed_latency_s for key, it in found.items()} == {
        (1, "tensor"): milliseconds("3.03407616"),
        (1, "pipeline"): milliseconds("4.94232576"),
        (32, "tensor"): milliseconds("97.06662912"),
        (32, "pipeline"): milliseconds("148.29315072"),
    }
    # 606,661,632 ops at 4 * 50 * 10^9 a second
    assert found[32, "tensor"].limit_s == 32 * milliseconds("3.03330816")
    tensor, pipeline = found[32, "tensor"], found[32, "pipeline"]
    assert (tensor.bottleneck, pipeline.bottleneck) == ("all steps", "compute of layer 2")
    equal = Question((ConvLayer(2, 2, 1, 1, 1, 1),) * 2, System(2, link_bytes_per_s=10**12))
    assert by_count(equal)[32, "pipeline"].bottleneck == "compute of layer 1"
    # 3,033.30816 / 3,127.26016, and 32 * 3,033.30816 / 155,786.1376
    assert tensor.utilisation == Fraction("3033.30816") / Fraction("3127.26016")
    assert pipeline.utilisation == 32 * Fraction("3033.30816") / Fraction("155786.1376")
    # 28.8 + 25.088 + 21.632 + 18.432 us; 115.2 + 100.352 + 86.528 us
    assert tensor.communication_s == milliseconds("0.093952")
    assert pipeline.communication_s == milliseconds("0.30208")


def test_what_is_not_possible_has_a_reason():
    found = by_count(LAB.on(nodes=6))
    assert "6 nodes do not divide" in found[32, "tensor"].reason
    assert found[32, "tensor"].latency_s is None
    eight = by_count(LAB.on(nodes=8))
    assert [eight[32, strategy].idle_nodes for strategy in ("tensor", "pipeline")] == [0, 4]
    possible = [need.scheme for need in figures.needs(*LAB.on(nodes=6)[:2])]
    assert possible == ["pipeline", "pipeline, streamed", "data"]
    ring = by_count(RING)[32, "tensor"]
    assert ring.streamed_latency_s is None
    assert "ring" in ring.streamed_reason


def test_other_latencies():
    # 8 rounds of 12.13323264 ms; 35 slots of 3.03330816 ms; 3.03330816 + 3 * 93.952 / 2 us
    lab = (LAB.network, LAB.system)
    assert figures.data_parallel_latency(*lab, 32) == milliseconds("97.06586112")
    assert figures.data_parallel_latency(*lab, 33) == milliseconds("109.19909376")
    assert figures.balanced_pipeline_latency(*lab, 32) == milliseconds("106.1657856")
    assert figures.two_way_ring_latency(*lab) == milliseconds("3.17423616")
    # of one input, unless told
    alone = LAB.on(nodes=1)[:2]
    assert figures.data_parallel_latency(*alone) == milliseconds("12.13323264")
    assert figures.balanced_pipeline_latency(*alone) == milliseconds("12.13323264")
    small = (SMALL.network, SMALL.system)
    # 2 rounds of 28 s; 4 slots of 14 s; for 2 nodes half of 8 s of communication
    assert figures.data_parallel_latency(*small, 3) == 56
    assert figures.balanced_pipeline_latency(*small, 3) == 56
    assert figures.two_way_ring_latency(*small, 3) == 3 * 18


def test_where_the_pipelines_time_goes():
    # 42 s of work on both nodes; 16 - 14 s an input; the other node's 12 s; 12 s of sending
    assert list(figures.losses(SMALL).values()) == [42, 6, 12, 12]
    expected = ["97.06586112", "50.909184", "7.50901248", "0.30208"]
    assert list(figures.losses(LAB).values()) == [milliseconds(text) for text in expected]
    # at 1 byte/s the send of 36 s is the bottleneck, on 3 nodes: 28 s of work, 3 * (36 - 28 / 3)
    slow = SMALL.on(link_bytes_per_s=1, nodes=3)
    assert list(figures.losses(slow).values()) == [28, 80, 28, 0]


# ------------------------------------------------ what would change it


def test_what_doubling_buys():
    # Tensor, 22 s: ops/s 3 + 6 + 4 + 2 = 15 s; links 6 + 3 + 8 + 1 = 18 s; 4 nodes do not divide 2
    # filters. Pipeline, 40 and 72 s: ops/s 6 + 12 + 8 = 26 s, then 12 s each; links 12 + 6 + 16 =
    # 34 s, then 16 s each; more nodes do nothing.
    found = {(it.twice, it.inputs, it.strategy): it.speed_up for it in figures.doubling(SMALL)}
    assert found == {
        ("ops/s", 1, "tensor"): Fraction(22, 15),
        ("ops/s", 3, "tensor"): Fraction(22, 15),
        ("ops/s", 1, "pipeline"): Fraction(40, 26),
        ("ops/s", 3, "pipeline"): Fraction(72, 50),
        ("bytes/s of links", 1, "tensor"): Fraction(22, 18),
        ("bytes/s of links", 3, "tensor"): Fraction(22, 18),
        ("bytes/s of links", 1, "pipeline"): Fraction(40, 34),
        ("bytes/s of links", 3, "pipeline"): Fraction(72, 66),
        ("nodes", 1, "tensor"): None,
        ("nodes", 3, "tensor"): None,
        ("nodes", 1, "pipeline"): 1,
        ("nodes", 3, "pipeline"): 1,
    }


def test_balance():
    # 144 / 36 and 192 / 12 ops a byte; 12 / 3 ops while a byte is sent
    assert [figures.ops_a_byte(layer) for layer in SMALL.network] == [4, 16]
    assert figures.ops_while_a_byte_is_sent(SMALL.system) == 4
    assert [figures.ops_a_byte(layer) for layer in LAB.network] == [27, 1152, 1152, 1152]
    assert figures.ops_while_a_byte_is_sent(LAB.system) == 25


# ------------------------------------------------ readings


def answers(question, inputs):
    """latency_s and traffic_bytes of both strategies by reading."""
    found = {}
    for reading in figures.readings(question.network, question.system):
        for it in reading.answers(inputs):
            assert (type(it.latency_s), type(it.traffic_bytes)) == (Fraction, int)
            found.setdefault(it.reading, []).extend([it.latency_s, it.traffic_bytes])
    return found


def test_readings_of_a_small_machine():
    # Links of 3 * 2^30 / 10^9 or 3 / 8 bytes/s; 12 bytes of input sent first, 4 s; the last shards,
    # 6 bytes each, on both nodes, 2 s as well. The pipeline's nodes hold an input for 12 + 12 and
    # 16 s; or 24 and 12 + 16 s; or 40 s.
    giga = Fraction(10**9, 2**30)
    assert answers(SMALL, 3) == {
        "as read here": [66, 126, 72, 108],
        "1 GB is 2^30 bytes": [3 * (14 + 8 * giga), 126, 28 + 12 * giga + 2 * 16, 108],
        "GB/s are Gbit/s": [3 * (14 + 64), 126, 28 + 96 + 2 * 96, 108],
        "inputs start on one node": [3 * 26, 3 * 54, 72, 108],
        "output on every node": [66, 3 * 48, 72, 108],
        "a send blocks its node": [66, 126, 40 + 2 * 24, 108],
        "sends block both nodes": [66, 126, 40 + 2 * 28, 108],
        "no overlap at all": [66, 126, 3 * 40, 108],
    }


def test_the_labs_readings():
    # As above: 3.072 us and 3 * 6,144 bytes of input; 9 * 36,864 bytes more; 4,624.22016 + 100.352
    # us hold node 2, with the receiving 115.2 us more; 32 * 12.43531264 ms.
    found = answers(LAB, 32)
    here = found.pop("as read here")
    tensor, pipeline = milliseconds("100.07232512"), milliseconds("155.7861376")
    assert here == [tensor, 61_538_304, pipeline, 19_333_120]
    scattered = [milliseconds("100.17062912"), 62_128_128, pipeline, 19_333_120]
    assert found["inputs start on one node"] == scattered
    assert found["output on every node"] == [tensor, 72_155_136, pipeline, 19_333_120]
    for reading, latency_ms in (
        ("a send blocks its node", "158.8970496"),
        ("sends block both nodes", "162.4682496"),
        ("no overlap at all", "397.93000448"),
    ):
        assert found[reading] == [tensor, 61_538_304, milliseconds(latency_ms), 19_333_120]
    # 97,065.86112 + 32 * 8 * 93.952 us; 12,133.23264 + 8 * 302.08 + 31 * 4,624.22016 us
    assert found["GB/s are Gbit/s"][::2] == [
        milliseconds("121.11757312"),
        milliseconds("157.9006976"),
    ]


def test_readings_of_a_pipeline_whose_last_node_is_the_slowest():
    # 2 s, 1 s, 2 s, 1 s and 8 s: 14 s; node 3 is held for 8 s, with what it receives 9 s
    network = [ConvLayer(filters, 1, 1, 1, 1, 1, 1) for filters in (1, 1, 4)]
    found = answers(Question(network, System(3, ops_per_s=1, link_bytes_per_s=1)), 2)
    assert found["a send blocks its node"] == [14 + 8, 4]
    assert found["sends block both nodes"] == [14 + 9, 4]


def test_readings_around_the_labs_ring():
    # From one node the input passes three links, 3 * 3.072 us; in the all-gather at the end the
    # shards of 36,864 bytes pass 12 links instead of 6.
    found = answers(RING, 1)
    assert found["inputs start on one node"][:2] == [
        milliseconds("3.31516416") + milliseconds("0.009216"),
        2_033_664 + 3 * 6_144,
    ]
    assert found["output on every node"][:2] == [milliseconds("3.31516416"), 2_254_848]


# ------------------------------------------------ SRAM


def test_the_fullest_nodes():
    # Whole tensors. Tensor: weights 24 / 2 and at layer 1 12 + 18, at layer 2 36 + 6 bytes: 54.
    # Pipeline: node 1 8 + 12 + 36 = 56, node 2 16 + 36 + 12 = 64. Data: 24 + 12 + 36 = 72 = 24 +
    # 36 + 12.
    found = {need.scheme: need for need in figures.needs(SMALL.network, SMALL.system)}
    assert found["tensor"] == ("tensor", "every node", 2, 54, True, 6, 0)
    assert found["pipeline"] == ("pipeline", "node 2", 2, 64, False, -4, 0)
    assert found["data"] == ("data", "every node", 1, 72, False, -12, 0)
    # Streamed: node 2 16 + 12 + 12 bytes; node 1 8 + 12 + 12, and two inputs fit in the 28 left.
    assert found["pipeline, streamed"] == ("pipeline, streamed", "node 2", 2, 40, True, 20, 2)


def test_the_labs_fullest_nodes():
    found = figures.needs(LAB.network, LAB.system)
    assert found == [
        ("tensor", "every node", 2, 503_488, True, 20_800, 3),
        ("tensor, streamed", "every node", 2, 455_104, True, 69_184, 11),
        ("pipeline", "node 2", 2, 726_016, False, -201_728, 0),
        # (524,288 - 20,736) / 6,144 on node 1
        ("pipeline, streamed", "node 4", 4, 462_336, True, 61_952, 81),
        ("data", "every node", 2, 1_322_752, False, -798_464, 0),
    ]


def test_what_just_fits():
    # beside node 1's 20,736 bytes 71 inputs of 6,144 bytes in 441,600
    for sram_bytes, left in ((462_336, (True, 0, 71)), (462_335, (False, -1, 0))):
        found = {it.scheme: it for it in figures.needs(*LAB.on(sram_bytes=sram_bytes)[:2])}
        assert found["pipeline, streamed"][4:] == left
    # a byte of weights, input and output each: nothing fits, so nothing waits
    tiny = figures.needs([ConvLayer(1, 1, 1, 1, 1, 1, 1)], System(nodes=1, sram_bytes=2))
    assert {(need.free_bytes, need.waiting_inputs) for need in tiny} == {(-1, 0)}


# ------------------------------------------------ all of them


def test_the_dictionary():
    found = figures.figures(LAB)
    assert found["version"] == 2
    assert [layer["layer"] for layer in found["layers"]] == [1, 2, 3, 4]
    # for 1 and 32 inputs: 4 and 35 slots of 3.03330816 ms, and others as above
    for name, latencies_ms in (
        ("data_parallel", "12.13323264 97.06586112"),
        ("balanced_pipeline", "12.13323264 106.1657856"),
        ("two_way_ring", "3.17423616 101.57555712"),
    ):
        assert found[name] == [milliseconds(text) for text in latencies_ms.split()]
    assert [plan.text for plan in found["plans"].fitting] == ["1-4:4"]
    assert sum(found["losses"].values()) == milliseconds("155.7861376")
    assert figures.figures(LAB.on(nodes=2))["losses"] is None
    assert figures.figures(LAB.on(nodes=6))["two_way_ring"] is None
