"""Every number of an analysis, worked out by hand in comments, and the names in its dictionary.

odd_machines.py has the sizes of the layers. Expected seconds are written as decimals in texts.
"""

import json
from fractions import Fraction
from typing import NamedTuple

import pytest

import lab3
from lab3 import ALL_TO_ALL, NETWORK, RING, SYSTEM, ConvLayer, System
from odd_machines import GATHERS, ODD, ODD_ALL_TO_ALL, ONE_LAYER, SENDS
from report import analysis, terminal
from report.analysis import Analysis
from report.question import LAB, Impossible, Question

NO_RING = {
    "reason": "Tensor parallelism with row streaming is not modelled on a ring of 6 nodes,"
    " only all-to-all"
}


def ms(text):
    """A decimal of milliseconds, in seconds."""
    return Fraction(text) / 1000


def seconds(names, texts):
    """Named decimals."""
    return dict(zip(names.split(), map(Fraction, texts.split()), strict=True))


def latencies(*pairs):
    """Records of inputs and latencies."""
    return [{"inputs": inputs, "latency_s": Fraction(text)} for inputs, text in pairs]


def results(question, strategy):
    """Each result by topology and inputs."""
    found = analysis.as_dict(question)["strategies"][strategy]["results"]
    return {(it["topology"], it["inputs"]): it for it in found}


def speed_ups(question, strategy):
    """What doubling buys, by what is doubled and inputs."""
    found = analysis.as_dict(question)["strategies"][strategy]["doubling"]
    return {(it["twice"], it["inputs"]): it["speed_up"] for it in found}


def fullest(question):
    """The fullest nodes by strategy, as tuples."""
    needs = analysis.as_dict(question)["sram"].items()
    return {name: tuple(it["fullest"].values()) for name, it in needs if "reason" not in it}


# ------------------------------------------------ layers and machine


def test_the_odd_machines_layers():
    names = (
        "layer filters in_channels fx fy x y element_bytes out_x out_y weights macs ops"
        " weight_bytes input_bytes output_bytes ops_per_byte"
    )
    found = analysis.as_dict(ODD)
    assert found["layers"] == [
        dict(zip(names.split(), numbers, strict=True))
        for numbers in (  # 3,840 / 720; 25,920 / 540; 31,104 / 648
            (1, 6, 1, 2, 4, 9, 8, 3, 8, 5, 48, 1_920, 3_840, 144, 216, 720, Fraction(16, 3)),
            (2, 12, 6, 4, 3, 8, 5, 3, 5, 3, 864, 12_960, 25_920, 2_592, 720, 540, 48),
            (3, 36, 12, 3, 2, 5, 3, 3, 3, 2, 2_592, 15_552, 31_104, 7_776, 540, 648, 48),
        )
    ]
    # R / B = 64/3 / (5/2)
    assert found["machine_balance_ops_per_byte"] == Fraction(128, 15)


def test_the_labs_balance():
    # 2 * 27 and 2 * 1,152 ops for an element of 2 bytes; 50 / 2
    assert [analysis.ops_per_byte(layer) for layer in NETWORK] == [27, 1152, 1152, 1152]
    assert analysis.machine_balance(SYSTEM) == 25


# ------------------------------------------------ the strategies

STEP = ("layer", "work", "node_ops", "link_bytes", "traffic_bytes", "time_s")


def steps(*rows):
    """Records of steps."""
    return [dict(zip(STEP, (*row[:5], Fraction(row[5])), strict=True)) for row in rows]


def test_the_odd_machines_steps():
    # On the ring a link carries five shards one after the other: 600, 450, 540 bytes in 240, 180,
    # 216 s. Six links carry 3,600 and 2,700 bytes; in the gather shards pass 1 + 2 + 3 + 4 + 5 = 15
    # links: 1,620 bytes.
    strategies = analysis.as_dict(ODD)["strategies"]
    assert strategies["tensor"]["steps"] == steps(
        (1, "compute", 640, 0, 0, "30"),
        (1, "all-gather", 0, 600, 3_600, "240"),
        (2, "compute", 4_320, 0, 0, "202.5"),
        (2, "all-gather", 0, 450, 2_700, "180"),
        (3, "compute", 5_184, 0, 0, "243"),
        (3, "gather", 0, 540, 1_620, "216"),
    )
    assert strategies["pipeline"]["steps"] == steps(
        (1, "compute", 3_840, 0, 0, "180"),
        (1, "send", 0, 720, 720, "288"),
        (2, "compute", 25_920, 0, 0, "1215"),
        (2, "send", 0, 540, 540, "216"),
        (3, "compute", 31_104, 0, 0, "1458"),
    )


def test_the_odd_machines_tensor_parallelism():
    # All-to-all: 475.5 s of computing, 48 + 36 + 43.2 = 127.2 s of communication; bytes 30 * 120 +
    # 30 * 90 + 5 * 108 = 6,840. Ring: 475.5 + 636 s, 7,920 bytes. One node takes 2,853 s: speed-up
    # 2,853 / 602.7 and 2,853 / 1,111.5, a sixth of it the utilisation. test_streaming.py has the
    # streamed rows' working; the lower bound is 475.5 and 3,804 s.
    of_both = {"compute_s": Fraction("475.5"), "bottleneck": "all steps", "idle_nodes": 0}
    all_to_all = {
        **of_both,
        **seconds("communication_s interval_s", "127.2 602.7"),
        "speed_up": Fraction(28530, 6027),
        "utilisation": Fraction(4755, 6027),
    }
    ring = {
        **of_both,
        **seconds("communication_s interval_s", "636 1111.5"),
        "speed_up": Fraction(28530, 11115),
        "utilisation": Fraction(4755, 11115),
        "streamed": NO_RING,
    }
    found = results(ODD, "tensor")
    assert list(found) == [(ALL_TO_ALL, 1), (ALL_TO_ALL, 8), (RING, 1), (RING, 8)]
    for inputs, latency_s, traffic_bytes, streamed in (
        (1, "602.7", 6_840, "501.9 26.4"),
        (8, "4821.6", 54_720, "3910.8 106.8"),
    ):
        assert found[ALL_TO_ALL, inputs] == {
            **all_to_all,
            "topology": ALL_TO_ALL,
            "inputs": inputs,
            "latency_s": Fraction(latency_s),
            "traffic_bytes": traffic_bytes,
            "streamed": seconds("latency_s above_limit_s", streamed),
        }
    for inputs, latency_s, traffic_bytes in ((1, "1111.5", 7_920), (8, "8892", 63_360)):
        assert found[RING, inputs] == {
            **ring,
            "topology": RING,
            "inputs": inputs,
            "latency_s": Fraction(latency_s),
            "traffic_bytes": traffic_bytes,
        }


def test_the_odd_machines_pipeline_parallelism():
    # 2,853 s of computing and 288 + 216 = 504 s of sends, then 1,458 s for each of 7 inputs; 720 +
    # 540 bytes each. Three of six nodes have no layer, but count in the utilisation: one node takes
    # 2,853 and 22,824 s, a sixth of it is 475.5 and 3,804 s. The ring changes nothing.
    found = results(ODD, "pipeline")
    assert list(found) == [(ALL_TO_ALL, 1), (ALL_TO_ALL, 8), (RING, 1), (RING, 8)]
    for (topology, inputs), result in found.items():
        one = inputs == 1
        latency_s, streamed = (
            (Fraction(3_357), "2548.8 2073.3") if one else (Fraction(13_563), "12754.8 8950.8")
        )
        assert result == {
            "topology": topology,
            "inputs": inputs,
            "latency_s": latency_s,
            "traffic_bytes": 1_260 if one else 10_080,
            **seconds("compute_s communication_s interval_s", "2853 504 1458"),
            "bottleneck": "compute of layer 3",
            "idle_nodes": 3,
            "speed_up": (2_853 if one else 22_824) / latency_s,
            "utilisation": (Fraction("475.5") if one else 3_804) / latency_s,
            "streamed": seconds("latency_s above_limit_s", streamed),
        }


def test_a_send_can_be_the_longest_stage():
    # 61.5 s of computing and 30 + 60 s of sends; then the send of layer 2, 60 s, for each of 2
    # inputs: 271.5 s. One node takes 184.5 s. Streamed 210.5 s, lower bound 36.9 s.
    for topology in (ALL_TO_ALL, RING):
        assert results(SENDS, "pipeline")[topology, 3] == {
            "topology": topology,
            "inputs": 3,
            "latency_s": Fraction("271.5"),
            "traffic_bytes": 270,
            **seconds("compute_s communication_s interval_s", "61.5 90 60"),
            "bottleneck": "send of layer 2",
            "idle_nodes": 2,
            "speed_up": Fraction(1845, 2715),
            "utilisation": Fraction(369, 2715),
            "streamed": seconds("latency_s above_limit_s", "210.5 173.6"),
        }


def test_communication_can_be_most_of_tensor_parallelism():
    # 12.3 s of computing, shards 6 + 12 + 6 s: 36.3 s all-to-all, 20 * 18 + 4 * 6 = 384 bytes; on
    # the ring 12.3 + 4 * 24 = 108.3 s, 360 + 10 * 6 = 420 bytes: slower than one node's 61.5 s
    found = results(SENDS, "tensor")
    for topology, communication_s, latency_s, traffic_bytes in (
        (ALL_TO_ALL, 24, "108.9", 1_152),
        (RING, 96, "324.9", 1_260),
    ):
        result = found[topology, 3]
        assert (result["compute_s"], result["communication_s"]) == (
            Fraction("12.3"),
            communication_s,
        )
        assert (result["latency_s"], result["traffic_bytes"]) == (
            Fraction(latency_s),
            traffic_bytes,
        )
        assert result["speed_up"] == Fraction("184.5") / Fraction(latency_s)
    # streamed: 0.1 + 3 * 24 s
    assert found[ALL_TO_ALL, 3]["streamed"] == seconds("latency_s above_limit_s", "72.1 35.2")


def test_the_first_of_equally_long_stages_is_the_bottleneck():
    equal = Question((ConvLayer(2, 2, 1, 1, 1, 1),) * 2, System(2, link_bytes_per_s=10**12))
    assert results(equal, "pipeline")[ALL_TO_ALL, 32]["bottleneck"] == "compute of layer 1"


def test_one_layer_is_one_stage_of_a_pipeline_and_two_steps_of_tensor_parallelism():
    # 768 ops: 12 s on one node; 4 s on three, and a shard of 16 bytes in 8 s
    pipeline, tensor = (results(ONE_LAYER, it)[ALL_TO_ALL, 2] for it in ("pipeline", "tensor"))
    assert (pipeline["latency_s"], pipeline["bottleneck"]) == (24, "compute of layer 1")
    assert (pipeline["communication_s"], pipeline["idle_nodes"]) == (0, 2)
    assert (tensor["latency_s"], tensor["bottleneck"]) == (24, "all steps")
    assert (tensor["communication_s"], tensor["traffic_bytes"]) == (8, 64)


# Tensor: all-to-all 3.12726016 ms, 28.8 + 25.088 + 21.632 + 18.432 us of it communication; ring
# three times 93.952 us. Pipeline: 115.2 + 100.352 + 86.528 us.
@pytest.mark.parametrize(
    ("strategy", "topology", "inputs", "latency_ms", "traffic_bytes", "communication_ms"),
    [
        ("tensor", ALL_TO_ALL, 1, "3.12726016", 1_923_072, "0.093952"),
        ("tensor", ALL_TO_ALL, 32, "100.07232512", 61_538_304, "0.093952"),
        ("tensor", RING, 1, "3.31516416", 2_033_664, "0.281856"),
        ("tensor", RING, 32, "106.08525312", 65_077_248, "0.281856"),
        ("pipeline", ALL_TO_ALL, 1, "12.43531264", 604_160, "0.30208"),
        ("pipeline", ALL_TO_ALL, 32, "155.7861376", 19_333_120, "0.30208"),
        ("pipeline", RING, 1, "12.43531264", 604_160, "0.30208"),
        ("pipeline", RING, 32, "155.7861376", 19_333_120, "0.30208"),
    ],
)
def test_the_labs_results(strategy, topology, inputs, latency_ms, traffic_bytes, communication_ms):
    for question in (LAB, LAB.on(topology=RING)):
        found = results(question, strategy)[topology, inputs]
        assert (found["latency_s"], found["traffic_bytes"]) == (ms(latency_ms), traffic_bytes)
        assert found["communication_s"] == ms(communication_ms)
        # 606,661,632 ops at 50 per ns on one node, a quarter on each of four
        assert found["compute_s"] == ms(
            {"tensor": "3.03330816", "pipeline": "12.13323264"}[strategy]
        )
        assert found["speed_up"] == inputs * ms("12.13323264") / ms(latency_ms)
        assert found["utilisation"] == inputs * ms("3.03330816") / ms(latency_ms)


def test_the_labs_streamed_rows():
    # 0.768 us above the lower bound, a node's share of the last row; the pipeline 1.90901760 ms and
    # 148.29315072 - 97.06586112 ms
    tensor, pipeline = results(LAB, "tensor"), results(LAB, "pipeline")
    for inputs, tensor_ms, pipeline_ms in (
        (1, ("3.03407616", "0.000768"), ("4.94232576", "1.9090176")),
        (32, ("97.06662912", "0.000768"), ("148.29315072", "51.2272896")),
    ):
        for found, expected in ((tensor, tensor_ms), (pipeline, pipeline_ms)):
            assert tuple(found[ALL_TO_ALL, inputs]["streamed"].values()) == tuple(map(ms, expected))


def test_a_result_by_its_topology_or_that_of_the_machine():
    it = Analysis(ODD)
    assert it.result("tensor", 8).latency_s == 8_892
    assert it.result("tensor", 8, ALL_TO_ALL).latency_s == Fraction("4821.6")
    assert it.result("pipeline", 1).latency_s == 3_357
    reason = "4 layers need 4 nodes or more, not 2"
    found = Analysis(LAB.on(nodes=2)).result("pipeline", 32)
    assert found == Impossible(f"Pipeline parallelism is not possible: {reason}")


# ------------------------------------------------ what would change it


def test_what_doubling_buys_on_the_odd_machines_ring():
    # Tensor, 1,111.5 s: 237.75 + 636 = 873.75 s, 475.5 + 318 = 793.5 s; 12 nodes do not divide 6
    # filters. Pipeline, 3,357 and 13,563 s: ops/s 1,426.5 + 504 = 1,930.5 s, and 7 * 729 more;
    # links 2,853 + 252 = 3,105 s, and 7 * 1,458 more; more nodes do nothing.
    tensor_ops, tensor_links = Fraction(111150, 87375), Fraction(11115, 7935)
    assert speed_ups(ODD, "tensor") == {
        ("ops/s", 1): tensor_ops,
        ("ops/s", 8): tensor_ops,
        ("link bandwidth", 1): tensor_links,
        ("link bandwidth", 8): tensor_links,
    }
    assert speed_ups(ODD, "pipeline") == {
        ("ops/s", 1): Fraction(33570, 19305),
        ("ops/s", 8): Fraction(135630, 70335),
        ("link bandwidth", 1): Fraction(3357, 3105),
        ("link bandwidth", 8): Fraction(13563, 13311),
        ("nodes", 1): 1,
        ("nodes", 8): 1,
    }


def test_twice_the_nodes_of_a_ring_can_cost_time():
    # 10 nodes: 6.15 s of computing, on each link 9 shards of 3, of 6 and of 3 bytes, 108 s
    found = speed_ups(SENDS, "tensor")
    assert found["nodes", 3] == Fraction("108.3") / Fraction("114.15")
    # all-to-all everything halves
    assert speed_ups(SENDS.on(topology=ALL_TO_ALL), "tensor")["nodes", 3] == 2
    # with faster links two stages are equally long, 30 s: 61.5 + 45 + 2 * 30 s
    assert speed_ups(SENDS, "pipeline")["link bandwidth", 3] == Fraction("271.5") / Fraction(
        "166.5"
    )


def test_what_doubling_buys_the_lab():
    # Tensor: 1,516.65408 + 93.952 us; 3,033.30816 + 46.976 us. Pipeline, 1 input: 6,066.61632 +
    # 302.08 us; 12,133.23264 + 151.04 us; 32 inputs: 31 * 2,312.11008 us more; 31 * 4,624.22016.
    tensor, pipeline = speed_ups(LAB, "tensor"), speed_ups(LAB, "pipeline")
    assert tensor["ops/s", 32] == ms("3.12726016") / ms("1.61060608")
    assert tensor["link bandwidth", 1] == ms("3.12726016") / ms("3.08028416")
    assert tensor["nodes", 32] == 2
    assert pipeline["ops/s", 1] == ms("12.43531264") / ms("6.36869632")
    assert pipeline["ops/s", 32] == ms("155.7861376") / ms("78.0441088")
    assert pipeline["link bandwidth", 1] == ms("12.43531264") / ms("12.28427264")
    assert pipeline["link bandwidth", 32] == ms("155.7861376") / ms("155.6350976")
    assert pipeline["nodes", 32] == 1


# ------------------------------------------------ other latencies

# Each formula as its docstring gives it, and explain prints it.


def test_one_nodes_latency():
    # N * sum(C) / R = 8 * 60,864 / (64/3); the lab's 606,661,632 ops at 50 per ns
    assert analysis.one_node_latency(*ODD) == 22_824
    assert analysis.as_dict(ODD)["one_node"] == latencies((1, "2853"), (8, "22824"))
    assert analysis.one_node_latency(NETWORK, SYSTEM) == ms("12.13323264")


def test_data_parallel_latency():
    # ceil(N / P) * sum(C) / R = ceil(8 / 6) * 60,864 / (64/3) = 2 * 2,853
    assert analysis.data_parallel_latency(*ODD) == 5_706
    assert analysis.as_dict(ODD)["data_parallel"] == latencies((1, "2853"), (8, "5706"))
    # the lab: 8 rounds of 12.13323264 ms; 9 for 33 inputs
    assert analysis.data_parallel_latency(*LAB) == ms("97.06586112")
    assert analysis.data_parallel_latency(NETWORK, SYSTEM, 33) == ms("109.19909376")
    assert analysis.data_parallel_latency(NETWORK, SYSTEM) == ms("12.13323264")


def test_balanced_pipeline_latency():
    # (P + N - 1) * sum(C) / (P * R) = (6 + 8 - 1) * 60,864 / (6 * 64/3) = 13 * 475.5
    assert analysis.balanced_pipeline_latency(*ODD) == Fraction("6181.5")
    assert analysis.as_dict(ODD)["balanced_pipeline"] == latencies((1, "2853"), (8, "6181.5"))
    # the lab: 35 slots of 3.03330816 ms; 4 for one input
    assert analysis.balanced_pipeline_latency(*LAB) == ms("106.1657856")
    assert analysis.balanced_pipeline_latency(NETWORK, SYSTEM) == ms("12.13323264")


def test_two_way_ring_latency():
    # N * sum(C / (P * R) + (P - 1) * S / (2 * B)): 475.5 + 5 * (120 + 90 + 108) / 5 = 793.5
    assert analysis.two_way_ring_latency(*ODD) == 6_348
    for question in (ODD, ODD_ALL_TO_ALL):
        assert analysis.as_dict(question)["two_way_ring"] == latencies((1, "793.5"), (8, "6348"))
    # the lab: 3.03330816 ms and 3 * 93.952 / 2 us
    assert analysis.two_way_ring_latency(NETWORK, SYSTEM) == ms("3.17423616")
    assert analysis.two_way_ring_latency(*LAB) == ms("101.57555712")
    # one node sends nothing: 2,853 s
    assert analysis.two_way_ring_latency(*ODD.on(nodes=1)[:2]) == 2_853


def test_the_lower_bound():
    assert analysis.as_dict(ODD)["lower_bound"] == latencies((1, "475.5"), (8, "3804"))
    assert Analysis(ODD).limit_s == 3_804
    expected = latencies((1, "0.00303330816"), (32, "0.09706586112"))
    assert analysis.as_dict(LAB)["lower_bound"] == expected


def test_the_last_rows_share():
    # A / (P * out_y * B) = 648 / (6 * 2 * 5/2); the lab's 147,456 / (4 * 24 * 2 * 10^9) = 0.768 us
    assert analysis.as_dict(ODD_ALL_TO_ALL)["last_row_share_s"] == Fraction("21.6")
    assert analysis.as_dict(LAB)["last_row_share_s"] == ms("0.000768")
    # one node sends nothing, and what is not streamed has no last row
    assert analysis.as_dict(ODD_ALL_TO_ALL.on(nodes=1))["last_row_share_s"] == 0
    assert analysis.as_dict(ODD)["last_row_share_s"] == NO_RING


def test_one_input_is_counted_once():
    found = analysis.as_dict(ODD._replace(inputs=1))
    for name in ("lower_bound", "data_parallel", "balanced_pipeline", "two_way_ring"):
        assert [it["inputs"] for it in found[name]] == [1]
    assert [it["inputs"] for it in found["strategies"]["tensor"]["results"]] == [1, 1]


# ------------------------------------------------ where the pipeline's time goes

LOSSES = "ideal_compute_s load_imbalance_s busiest_link_s fill_and_drain_s sending_s"


@pytest.mark.parametrize(
    ("question", "expected_s"),
    [
        # N * sum(C) / (P * R) = 3,804; N * (longest C / R - sum(C) / (P * R)) = 8 * (1,458 -
        # 475.5); N * (interval - longest C / R) = 0; layers 1 and 2: 180 + 1,215; sends: 288 + 216
        (ODD, "3804 7860 0 1395 504"),
        # 3 * 12.3; 3 * (30 - 12.3); 3 * (60 - 30); all three layers: 61.5; the other send: 30
        (SENDS, "36.9 53.1 90 61.5 30"),
        # one layer: 2 * 4; 2 * (12 - 4)
        (ONE_LAYER, "8 16 0 0 0"),
        (LAB, "0.09706586112 0.050909184 0 0.00750901248 0.00030208"),
    ],
)
def test_losses(question, expected_s):
    found = analysis.as_dict(question)["losses"]
    assert found == seconds(LOSSES, expected_s)
    # together they are all of the latency
    assert sum(found.values()) == lab3.pipeline_parallel_latency(*question)


# ------------------------------------------------ SRAM


def test_the_odd_machines_fullest_nodes():
    # test_sram.py has the totals; 9,216 bytes less 2,562 are room for 30 inputs of 216 bytes. In
    # the pipelines inputs wait on node 1: 9,216 - 1,080 = 37 * 216 + 144, 9,216 - 504 = 40 * 216
    # + 72.
    assert fullest(ODD) == {
        "tensor": ("every node", 2, 2_562, True, 6_654, 30, "every node"),
        "pipeline": ("node 3", 3, 8_964, True, 252, 37, "node 1"),
        "pipeline, streamed": ("node 3", 3, 8_784, True, 432, 40, "node 1"),
        "data": ("every node", 2, 11_772, False, -2_556, 0, "every node"),
    }
    assert analysis.as_dict(ODD)["sram"]["tensor, streamed"] == NO_RING
    streamed = fullest(ODD_ALL_TO_ALL)["tensor, streamed"]
    assert streamed == ("every node", 2, 2_574, True, 6_642, 30, "every node")


def test_inputs_wait_on_every_node_where_the_gathering_node_is_the_fullest():
    # 100 - 92 = 8 bytes beside it, an input is 6
    found = fullest(GATHERS)
    gathering = ("gathering node", 2, 92, True, 8, 1, "every node")
    assert (found["tensor"], found["tensor, streamed"]) == (gathering, gathering)
    # 150 - 72 = 78, an input is 40
    found = fullest(ONE_LAYER)
    assert found["tensor"] == ("every node", 1, 72, True, 78, 1, "every node")
    assert found["tensor, streamed"] == ("gathering node", 1, 72, True, 78, 1, "every node")


def test_one_node_is_node_1():
    # whole tensors 10,512 + 720 + 540; 8,228 bytes are left, 38 * 216 + 20
    alone = ODD.on(nodes=1, sram_bytes=20_000)
    node_1 = ("node 1", 2, 11_772, True, 8_228, 38, "node 1")
    assert (fullest(alone)["tensor"], fullest(alone)["data"]) == (node_1, node_1)


def test_the_labs_fullest_nodes():
    assert fullest(LAB) == {
        "tensor": ("every node", 2, 503_488, True, 20_800, 3, "every node"),
        "tensor, streamed": ("every node", 2, 455_104, True, 69_184, 11, "every node"),
        "pipeline": ("node 2", 2, 726_016, False, -201_728, 0, "node 1"),
        # (524,288 - 20,736) / 6,144 on node 1
        "pipeline, streamed": ("node 4", 4, 462_336, True, 61_952, 81, "node 1"),
        "data": ("every node", 2, 1_322_752, False, -798_464, 0, "every node"),
    }


def test_totals():
    # 10,512 - 9,216; 8 * 216; 8 * 648; 6 * 9,216
    names = "weight_bytes excess_bytes input_bytes output_bytes sram_bytes"
    assert analysis.as_dict(ODD)["totals"] == seconds(names, "10512 1296 1728 5184 55296")
    # 891,648 - 524,288; 32 * 6,144; 32 * 147,456; 4 * 524,288
    expected = seconds(names, "891648 367360 196608 4718592 2097152")
    assert analysis.as_dict(LAB)["totals"] == expected


def test_what_fits_to_the_byte():
    for sram_bytes, expected in (
        (8_784, (True, 0, 38)),  # beside node 1's 504: 8,280 = 38 * 216 + 72
        (8_783, (False, -1, 0)),
    ):
        found = fullest(ODD.on(sram_bytes=sram_bytes))["pipeline, streamed"]
        assert found[3:6] == expected


# ------------------------------------------------ the dictionary

# What programs rely on: every name, and what stands there. A set is one of several types.


class OrReason(NamedTuple):
    """A shape, or a reason in its place."""

    shape: object


def record(**names_of_type):
    """The names of each type."""
    types = {"int": int, "str": str, "bool": bool, "number": Fraction}
    return {name: types[it] for it, names in names_of_type.items() for name in names.split()}


REASON = record(str="reason")
LATENCIES = [record(int="inputs", number="latency_s")]
STREAMED = record(number="latency_s above_limit_s")
RESULT = {
    **record(str="topology bottleneck", int="inputs traffic_bytes idle_nodes"),
    **record(number="latency_s compute_s communication_s interval_s speed_up utilisation"),
    "streamed": OrReason(STREAMED),
}
STRATEGY = {
    "steps": [
        record(int="layer node_ops link_bytes traffic_bytes", str="work", number="time_s"),
    ],
    "results": [RESULT],
    "doubling": [record(str="twice", int="inputs", number="speed_up")],
}
HELD = {
    "uses": [record(str="where work", int="layer weight_bytes input_bytes output_bytes")],
    "fullest": record(
        str="where waiting_where",
        int="layer total_bytes free_bytes waiting_inputs",
        bool="fits",
    ),
}
PLAN = {
    **record(str="text", int="traffic_bytes nodes sram_bytes", bool="fits", number="latency_s"),
    "plan": [record(int="layers nodes")],
}
LINKS = {"low_bytes_per_s": Fraction, "high_bytes_per_s": {Fraction, type(None)}}
SHAPE = {
    "version": int,
    "asked": {
        "network": [record(int="filters in_channels fx fy x y element_bytes")],
        "system": {
            **record(int="nodes sram_bytes", str="topology"),
            "ops_per_s": {int, Fraction},
            "link_bytes_per_s": {int, Fraction},
        },
        "inputs": int,
    },
    "layers": [
        record(
            int="layer filters in_channels fx fy x y element_bytes out_x out_y weights macs ops"
            " weight_bytes input_bytes output_bytes",
            number="ops_per_byte",
        )
    ],
    "machine_balance_ops_per_byte": Fraction,
    "strategies": dict.fromkeys(("tensor", "pipeline"), OrReason(STRATEGY)),
    "lower_bound": LATENCIES,
    "last_row_share_s": OrReason(Fraction),
    "losses": OrReason(record(number=LOSSES)),
    "one_node": LATENCIES,
    "data_parallel": LATENCIES,
    "balanced_pipeline": LATENCIES,
    "two_way_ring": OrReason(LATENCIES),
    "totals": record(int="weight_bytes excess_bytes input_bytes output_bytes sram_bytes"),
    "sram": dict.fromkeys(
        ("tensor", "tensor, streamed", "pipeline", "pipeline, streamed", "data"), OrReason(HELD)
    ),
    "plans": {
        "fitting": OrReason([PLAN]),
        "best": OrReason([PLAN]),
        "compared": dict.fromkeys(("tensor", "pipeline"), OrReason(PLAN)),
        "faster": {"pipeline": [{"inputs": {int, type(None)}, "links": {type(None), dict}}]},
    },
    "readings": [
        {**record(str="strategy", int="inputs traffic_bytes", number="latency_s"), "changes": [str]}
    ],
}


def check_shape(value, shape, path="as_dict"):
    """Assert that a value has a shape."""
    if isinstance(shape, OrReason):
        is_reason = isinstance(value, dict) and set(value) == set(REASON)
        check_shape(value, REASON if is_reason else shape.shape, path)
    elif isinstance(shape, dict):
        assert set(value) == set(shape), path
        for name, part in shape.items():
            check_shape(value[name], part, f"{path}.{name}")
    elif isinstance(shape, list):
        assert isinstance(value, list), path
        for part in value:
            check_shape(part, shape[0], f"{path}[]")
    else:
        assert type(value) in (shape if isinstance(shape, set) else {shape}), path
        assert shape is not str or value, path


QUESTIONS = {
    "the lab": LAB,
    "odd": ODD,
    "odd, all-to-all": ODD_ALL_TO_ALL,
    "sends": SENDS,
    "gathers": GATHERS,
    "one layer": ONE_LAYER,
    "one node and one layer": ONE_LAYER.on(nodes=1),
    "two nodes on a ring": GATHERS.on(nodes=2, topology=RING),
    "pipeline impossible": LAB.on(nodes=2),
    "tensor impossible": LAB.on(nodes=6),
    "nothing fits": LAB.on(sram_bytes=1),
    "one input": LAB._replace(inputs=1),
}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_each_name_is_there_and_is_one_kind_of_thing(question):
    found = analysis.as_dict(question)
    if any(list(it) == list(REASON) for it in found["strategies"].values()):
        assert found["plans"]["faster"] == {}  # there are no two to compare
        found["plans"]["faster"]["pipeline"] = []
    check_shape(found, SHAPE)
    for each in found["plans"]["faster"]["pipeline"]:
        if each["links"] is not None:
            check_shape(each["links"], LINKS)


def test_what_is_asked_is_said():
    found = analysis.as_dict(ODD)
    assert found["version"] == 3
    asked = found["asked"]
    assert asked["network"][1] == {
        "filters": 12,
        "in_channels": 6,
        "fx": 4,
        "fy": 3,
        "x": 8,
        "y": 5,
        "element_bytes": 3,
    }
    assert asked["system"] == {
        "nodes": 6,
        "ops_per_s": Fraction(64, 3),
        "link_bytes_per_s": Fraction(5, 2),
        "sram_bytes": 9_216,
        "topology": RING,
    }
    assert asked["inputs"] == 8


def floats(value):
    """Fractions as the nearest floats, all else as it is."""
    if isinstance(value, dict):
        return {name: floats(each) for name, each in value.items()}
    if isinstance(value, list):
        return [floats(each) for each in value]
    return value.numerator / value.denominator if isinstance(value, Fraction) else value


@pytest.mark.parametrize("question", [LAB, ODD, LAB.on(nodes=6)])
def test_json_is_the_same_with_floats(question):
    found = analysis.as_dict(question)
    assert json.loads(terminal.json_text(found)) == floats(found)


def test_what_is_not_possible_has_its_reason_at_each_place():
    six, two = (analysis.as_dict(LAB.on(nodes=nodes)) for nodes in (6, 2))
    tensor, pipeline = (
        {"reason": f"{strategy} parallelism is not possible: {why}"}
        for strategy, why in (
            ("Tensor", "6 nodes do not divide layer 1's 128 filters"),
            ("Pipeline", "4 layers need 4 nodes or more, not 2"),
        )
    )
    for found in (
        six["strategies"]["tensor"],
        six["last_row_share_s"],
        six["two_way_ring"],
        six["sram"]["tensor"],
        six["sram"]["tensor, streamed"],
        six["plans"]["compared"]["tensor"],
    ):
        assert found == tensor
    for found in (
        two["strategies"]["pipeline"],
        two["losses"],
        two["sram"]["pipeline"],
        two["sram"]["pipeline, streamed"],
        two["plans"]["compared"]["pipeline"],
    ):
        assert found == pipeline
    # what the other does is there
    assert six["losses"]["sending_s"] == ms("0.30208")
    assert two["two_way_ring"][0]["inputs"] == 1


# ------------------------------------------------ what is refused

WRONG = {
    "no layers": (Question(()), "network"),
    "a layer of no filters": (Question((NETWORK[0]._replace(filters=0),)), "layer 1 filters: 0"),
    "no inputs": (LAB._replace(inputs=0), "inputs: 0"),
    "-3 inputs": (LAB._replace(inputs=-3), "inputs: -3"),
    "no nodes": (LAB.on(nodes=0), "nodes: 0"),
    "a float": (LAB.on(ops_per_s=5e10), "ops_per_s"),
    "no system": (LAB._replace(system=None), "system"),
}


@pytest.mark.parametrize(("question", "said"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_refused(question, said):
    for function in (Analysis, analysis.as_dict, analysis.losses):
        with pytest.raises(ValueError, match=said):
            function(question)
    for function in (
        analysis.one_node_latency,
        analysis.data_parallel_latency,
        analysis.balanced_pipeline_latency,
        analysis.two_way_ring_latency,
    ):
        with pytest.raises(ValueError, match=said):
            function(*question)
    if "inputs" not in said:
        network, system, _ = question
        with pytest.raises(ValueError, match=said):
            analysis.last_row_share_s(network, system)
        for strategy in analysis.SRAM:
            with pytest.raises(ValueError, match=said):
                analysis.sram_result(strategy, network, system)


def test_where_neither_strategy_is_possible_both_reasons_are_given():
    with pytest.raises(ValueError, match=r"3 nodes do not divide .* 4 layers need 4 nodes"):
        analysis.as_dict(LAB.on(nodes=3))


def test_an_unknown_strategy_is_refused():
    for strategy in ("rows", ["tensor"]):
        with pytest.raises(ValueError, match=r"strategy: .* is not one of 'tensor', "):
            analysis.sram_result(strategy, NETWORK, SYSTEM)


def test_the_balance_of_a_machine_that_is_none_is_refused():
    for system in (System(link_bytes_per_s=0), None):
        with pytest.raises(ValueError, match=r"link_bytes_per_s: 0|system: None"):
            analysis.machine_balance(system)


def test_losses_of_a_pipeline_that_is_not_possible_are_refused():
    with pytest.raises(ValueError, match="4 layers need 4 nodes"):
        analysis.losses(LAB.on(nodes=2))
