"""Every number of an analysis, worked out by hand in comments, and the names in its dictionary.

odd_machines.py has the sizes of the layers. Expected seconds are written as decimals in texts.
"""

import inspect
import json
import math
import re
from fractions import Fraction

import numpy
import pytest

import lab3
from lab3 import ALL_TO_ALL, NETWORK, RING, SYSTEM, ConvLayer, System
from odd_machines import GATHERS, ODD, ODD_ALL_TO_ALL, ONE_LAYER, SENDS
from report import analysis, streaming, terminal
from report.analysis import Analysis
from report.question import LAB, Impossible, Question


def no_ring(nodes):
    """Why tensor parallelism has no latency with row streaming."""
    where = f"on a ring of {nodes} nodes, only all-to-all"
    return {"reason": f"Tensor parallelism with row streaming is not modelled {where}"}


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


def fullest(question):
    """The fullest nodes by strategy, as tuples."""
    needs = analysis.as_dict(question)["sram"].items()
    return {name: tuple(it["fullest"].values()) for name, it in needs if "reason" not in it}


# ------------------------------------------------ layers and machine


LAYER = (
    "layer filters in_channels fx fy x y element_bytes out_x out_y weights macs ops weight_bytes"
    " input_bytes output_bytes ops_per_byte"
)


def test_the_odd_machines_layers():
    found = analysis.as_dict(ODD)
    assert found["layers"] == [
        dict(zip(LAYER.split(), numbers, strict=True))
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

STEP = "layer work node_ops link_bytes traffic_bytes time_s"


def steps(*rows):
    """Records of steps."""
    return [dict(zip(STEP.split(), (*row[:5], Fraction(row[5])), strict=True)) for row in rows]


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


TENSOR, BOTH = ("tensor", "all steps", 0), (ALL_TO_ALL, RING)


# Bottleneck, idle nodes, topologies; one input's computing and communication, and the interval;
# by inputs: latency, bytes, latency with row streaming and how far it is above the lower bound.
@pytest.mark.parametrize(
    ("question", "strategy", "bottleneck", "idle_nodes", "topologies", "one_input_s", "by_inputs"),
    [
        # 48 + 36 + 43.2 = 127.2 s of communication; bytes 30 * 120 + 30 * 90 + 5 * 108 = 6,840.
        # test_streaming.py has the streamed rows' working; the lower bound is 475.5 and 3,804 s.
        (
            *(ODD, *TENSOR, [ALL_TO_ALL], "475.5 127.2 602.7"),
            {1: ("602.7", 6_840, "501.9 26.4"), 8: ("4821.6", 54_720, "3910.8 106.8")},
        ),
        (
            *(ODD, *TENSOR, [RING], "475.5 636 1111.5"),
            {1: ("1111.5", 7_920, None), 8: ("8892", 63_360, None)},
        ),
        # 288 + 216 = 504 s of sends, then 1,458 s for each of 7 inputs; 720 + 540 bytes each
        (
            *(ODD, "pipeline", "compute of layer 3", 3, BOTH, "2853 504 1458"),
            {1: ("3357", 1_260, "2548.8 2073.3"), 8: ("13563", 10_080, "12754.8 8950.8")},
        ),
        # shards 6 + 12 + 6 s; 20 * 18 + 4 * 6 = 384 bytes; on the ring four times as long, slower
        # than one node's 61.5 s, and 360 + 10 * 6 = 420 bytes; streamed 0.1 + 3 * 24 s
        (
            *(SENDS, *TENSOR, [ALL_TO_ALL], "12.3 24 36.3"),
            {3: ("108.9", 1_152, "72.1 35.2")},
        ),
        (SENDS, *TENSOR, [RING], "12.3 96 108.3", {3: ("324.9", 1_260, None)}),
        # 30 + 60 s of sends, then the send of layer 2, 60 s, for each of 2 inputs
        (
            *(SENDS, "pipeline", "send of layer 2", 2, BOTH, "61.5 90 60"),
            {3: ("271.5", 270, "210.5 173.6")},
        ),
        # 768 ops: 12 s on one node; 4 s on three, and a shard of 16 bytes in 8 s
        (ONE_LAYER, *TENSOR, [ALL_TO_ALL], "4 8 12", {2: ("24", 64, "17 9")}),
        (
            *(ONE_LAYER, "pipeline", "compute of layer 1", 2, BOTH, "12 0 12"),
            {2: ("24", 0, "24 16")},
        ),
        # shards 28.8 + 25.088 + 21.632 + 18.432 us, on the ring three times as long; sends 115.2 +
        # 100.352 + 86.528 us; streamed rows 0.768 us above the lower bound
        (
            *(LAB, *TENSOR, [ALL_TO_ALL], "0.00303330816 0.000093952 0.00312726016"),
            {
                1: ("0.00312726016", 1_923_072, "0.00303407616 0.000000768"),
                32: ("0.10007232512", 61_538_304, "0.09706662912 0.000000768"),
            },
        ),
        (
            *(LAB, *TENSOR, [RING], "0.00303330816 0.000281856 0.00331516416"),
            {1: ("0.00331516416", 2_033_664, None), 32: ("0.10608525312", 65_077_248, None)},
        ),
        (
            *(LAB, "pipeline", "compute of layer 2", 0, BOTH),
            "0.01213323264 0.00030208 0.00462422016",
            {
                1: ("0.01243531264", 604_160, "0.00494232576 0.0019090176"),
                32: ("0.1557861376", 19_333_120, "0.14829315072 0.0512272896"),
            },
        ),
    ],
)
def test_results(question, strategy, bottleneck, idle_nodes, topologies, one_input_s, by_inputs):
    nodes, found = question.system.nodes, results(question, strategy)
    assert [*found] == [(where, it) for where in BOTH for it in sorted({1, question.inputs})]
    times = seconds("compute_s communication_s interval_s", one_input_s)
    for inputs, (latency_s, traffic_bytes, streamed) in by_inputs.items():
        for topology in topologies:
            one_node_s = inputs * times["compute_s"] * (nodes if strategy == "tensor" else 1)
            streamed_s = streamed and seconds("latency_s above_limit_s", streamed)
            assert found[topology, inputs] == {
                "topology": topology,
                "inputs": inputs,
                "latency_s": Fraction(latency_s),
                "traffic_bytes": traffic_bytes,
                **times,
                "bottleneck": bottleneck,
                "idle_nodes": idle_nodes,
                "speed_up": one_node_s / Fraction(latency_s),
                "utilisation": one_node_s / nodes / Fraction(latency_s),
                "streamed": streamed_s or no_ring(nodes),
            }


def test_the_first_of_equally_long_stages_is_the_bottleneck():
    equal = Question((ConvLayer(2, 2, 1, 1, 1, 1),) * 2, System(2, link_bytes_per_s=10**12))
    assert results(equal, "pipeline")[ALL_TO_ALL, 32]["bottleneck"] == "compute of layer 1"


def test_a_result_by_its_topology_or_that_of_the_machine():
    it = Analysis(ODD)
    assert it.result("tensor", 8).latency_s == 8_892
    assert it.result("tensor", 8, ALL_TO_ALL).latency_s == Fraction("4821.6")
    assert it.result("pipeline", 1).latency_s == 3_357
    reason = "4 layers need 4 nodes or more, not 2"
    found = Analysis(LAB.on(nodes=2)).result("pipeline", 32)
    assert found == Impossible(f"Pipeline parallelism is not possible: {reason}")


# ------------------------------------------------ what would change it


# seconds as it is, and with twice as much
@pytest.mark.parametrize(
    ("question", "strategy", "expected"),
    [
        # 1,111.5 s on the ring: 237.75 + 636 and 475.5 + 318 s; 12 nodes do not divide 6 filters
        (
            *(ODD, "tensor"),
            {
                ("ops/s", 1): "1111.5 873.75",
                ("ops/s", 8): "1111.5 873.75",
                ("link bandwidth", 1): "1111.5 793.5",
                ("link bandwidth", 8): "1111.5 793.5",
            },
        ),
        # ops/s 1,426.5 + 504 s and 7 * 729; links 2,853 + 252 s and 7 * 1,458; nodes do nothing
        (
            *(ODD, "pipeline"),
            {
                ("ops/s", 1): "3357 1930.5",
                ("ops/s", 8): "13563 7033.5",
                ("link bandwidth", 1): "3357 3105",
                ("link bandwidth", 8): "13563 13311",
                ("nodes", 1): "1 1",
                ("nodes", 8): "1 1",
            },
        ),
        # 10 nodes on a ring: 6.15 s of computing, 9 shards of 3, of 6 and of 3 bytes, 108 s
        (SENDS, "tensor", {("nodes", 3): "108.3 114.15"}),
        (SENDS.on(topology=ALL_TO_ALL), "tensor", {("nodes", 3): "2 1"}),
        # two stages are equally long, 30 s: 61.5 + 45 + 2 * 30 s
        (SENDS, "pipeline", {("link bandwidth", 3): "271.5 166.5"}),
    ],
)
def test_what_doubling_buys(question, strategy, expected):
    doubling = analysis.as_dict(question)["strategies"][strategy]["doubling"]
    found = {(it["twice"], it["inputs"]): it["speed_up"] for it in doubling}
    for case, times in expected.items():
        before, after = map(Fraction, times.split())
        assert found[case] == before / after
    if question is ODD:
        assert [*found] == [*expected]


# ------------------------------------------------ other latencies


# Each formula as its docstring gives it, and explain prints it: seconds for one input and for all
# of ODD, milliseconds for the lab.
@pytest.mark.parametrize(
    ("name", "of", "odd_s", "lab_ms"),
    [
        # N * sum(C) / R: 60,864 / (64/3); 606,661,632 ops at 50 per ns
        ("one_node", analysis.one_node_latency, "2853 22824", "12.13323264 388.26344448"),
        # ceil(N / P) * sum(C) / R: ceil(8 / 6) * 2,853; 8 rounds of 12.13323264 ms
        ("data_parallel", analysis.data_parallel_latency, "2853 5706", "12.13323264 97.06586112"),
        # (P + N - 1) * sum(C) / (P * R): (6 + 8 - 1) * 475.5; 35 slots of 3.03330816 ms
        (
            *("balanced_pipeline", analysis.balanced_pipeline_latency),
            *("2853 6181.5", "12.13323264 106.1657856"),
        ),
        # N * sum(C / (P * R) + (P - 1) * S / (2 * B)): 475.5 + 5 * (120 + 90 + 108) / 5; 3.03330816
        # ms and 3 * 93.952 / 2 us
        ("two_way_ring", analysis.two_way_ring_latency, "793.5 6348", "3.17423616 101.57555712"),
        ("lower_bound", streaming.compute_bound, "475.5 3804", "3.03330816 97.06586112"),
    ],
)
def test_other_latencies(name, of, odd_s, lab_ms):
    for question, texts, unit in ((ODD, odd_s, 1), (ODD_ALL_TO_ALL, odd_s, 1), (LAB, lab_ms, 1000)):
        one_s, all_s = (Fraction(text) / unit for text in texts.split())
        assert (of(*question[:2]), of(*question)) == (one_s, all_s)
        found = analysis.as_dict(question)[name]
        assert found == latencies((1, one_s), (question.inputs, all_s))
        # one input is counted once
        assert analysis.as_dict(question._replace(inputs=1))[name] == latencies((1, one_s))


def test_other_latencies_at_their_edges():
    # 9 rounds for 33 inputs on 4 nodes
    assert analysis.data_parallel_latency(NETWORK, SYSTEM, 33) == ms("109.19909376")
    assert Analysis(ODD).lower_bound_s == 3_804


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [(1, "A ring of 1 node has no links"), (2, "A ring of 2 nodes has both links already")],
)
def test_a_ring_of_fewer_than_three_nodes_has_no_two_way_variant(nodes, reason):
    for topology in BOTH:
        question = ODD.on(nodes=nodes, topology=topology)
        found = analysis.as_dict(question)["two_way_ring"]
        assert found == {"reason": f"{reason}, so none is two-way"}
        with pytest.raises(ValueError, match=reason):
            analysis.two_way_ring_latency(*question)
    # three nodes: 2,853 / 3 s and 2 * (240 + 180 + 216) / (2 * 5 / 2) s
    assert analysis.two_way_ring_latency(*ODD.on(nodes=3)[:2]) == 951 + Fraction("254.4")


def test_the_last_rows_share():
    # A / (P * out_y * B) = 648 / (6 * 2 * 5/2); the lab's 147,456 / (4 * 24 * 2 * 10^9) = 0.768 us
    assert analysis.as_dict(ODD_ALL_TO_ALL)["last_row_share_s"] == Fraction("21.6")
    assert analysis.as_dict(LAB)["last_row_share_s"] == ms("0.000768")
    # one node sends nothing, and what is not streamed has no last row
    assert analysis.as_dict(ODD_ALL_TO_ALL.on(nodes=1))["last_row_share_s"] == 0
    assert analysis.as_dict(ODD)["last_row_share_s"] == no_ring(6)


# ------------------------------------------------ where the pipeline's time goes

LOSSES = (
    "ideal_compute_s idle_nodes_s load_imbalance_s waiting_for_a_link_s fill_and_drain_s sending_s"
)


@pytest.mark.parametrize(
    ("question", "expected_s"),
    [
        # N * sum(C) / (P * R) = 3,804; 3 of 6 nodes have a layer: 8 * (2,853 / 3 - 475.5); N *
        # (longest C / R - sum(C) / (L * R)) = 8 * (1,458 - 951); N * (interval - longest C / R)
        # = 0; layers 1 and 2: 180 + 1,215; sends: 288 + 216
        (ODD, "3804 3804 4056 0 1395 504"),
        # 3 * 12.3; 3 * (61.5 / 3 - 12.3); 3 * (30 - 20.5); 3 * (60 - 30); all three layers: 61.5;
        # the other send: 30
        (SENDS, "36.9 24.6 28.5 90 61.5 30"),
        # one layer: 2 * 4; on one of three nodes: 2 * (12 - 4)
        (ONE_LAYER, "8 16 0 0 0 0"),
        (LAB, "0.09706586112 0 0.050909184 0 0.00750901248 0.00030208"),
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
    assert analysis.as_dict(ODD)["sram"]["tensor, streamed"] == no_ring(6)
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


TOTALS = "weight_bytes excess_bytes input_bytes output_bytes sram_bytes"


def test_totals():
    # 10,512 - 9,216; 8 * 216; 8 * 648; 6 * 9,216
    assert analysis.as_dict(ODD)["totals"] == seconds(TOTALS, "10512 1296 1728 5184 55296")
    # 891,648 - 524,288; 32 * 6,144; 32 * 147,456; 4 * 524,288
    expected = seconds(TOTALS, "891648 367360 196608 4718592 2097152")
    assert analysis.as_dict(LAB)["totals"] == expected


def test_what_fits_to_the_byte():
    for sram_bytes, expected in (
        (8_784, (True, 0, 38)),  # beside node 1's 504: 8,280 = 38 * 216 + 72
        (8_783, (False, -1, 0)),
    ):
        found = fullest(ODD.on(sram_bytes=sram_bytes))["pipeline, streamed"]
        assert found[3:6] == expected


# ------------------------------------------------ the dictionary

# What programs rely on: the names of every record by its path, where * is any strategy.
OTHER_LATENCIES = ("lower_bound", "one_node", "data_parallel", "balanced_pipeline", "two_way_ring")
PLANS = ("fitting[]", "best[]", "compared.*")
NAMES = {
    "": "version asked layers machine_balance_ops_per_byte strategies lower_bound last_row_share_s"
    " losses one_node data_parallel balanced_pipeline two_way_ring totals sram plans readings",
    ".asked": "network system inputs",
    ".asked.network[]": "filters in_channels fx fy x y element_bytes",
    ".asked.system": "nodes ops_per_s link_bytes_per_s sram_bytes topology",
    ".layers[]": LAYER,
    ".strategies": "tensor pipeline",
    ".strategies.*": "steps results doubling",
    ".strategies.*.steps[]": STEP,
    ".strategies.*.results[]": "topology inputs latency_s traffic_bytes compute_s communication_s"
    " interval_s bottleneck idle_nodes speed_up utilisation streamed",
    ".strategies.*.results[].streamed": "latency_s above_limit_s",
    ".strategies.*.doubling[]": "twice inputs speed_up",
    **{f".{name}[]": "inputs latency_s" for name in OTHER_LATENCIES},
    ".losses": LOSSES,
    ".totals": TOTALS,
    ".sram": "tensor tensor, streamed pipeline pipeline, streamed data",
    ".sram.*": "uses fullest",
    ".sram.*.uses[]": "where layer work weight_bytes input_bytes output_bytes",
    ".sram.*.fullest": "where layer total_bytes fits free_bytes waiting_inputs waiting_where",
    ".plans": "fitting best compared faster",
    **{
        f".plans.{plan}": "plan text latency_s traffic_bytes nodes sram_bytes fits"
        for plan in PLANS
    },
    **{f".plans.{plan}.plan[]": "layers nodes" for plan in PLANS},
    ".plans.compared": "tensor pipeline",
    ".plans.faster": "pipeline",
    ".plans.faster.pipeline[]": "inputs links",
    ".plans.faster.pipeline[].links": "low_bytes_per_s high_bytes_per_s",
    ".readings[]": "strategy inputs latency_s traffic_bytes changes",
}
MAY_BE_A_REASON = (
    *(".strategies.*", ".strategies.*.results[].streamed", ".last_row_share_s", ".losses"),
    *(".two_way_ring", ".sram.*", ".plans.fitting", ".plans.best", ".plans.compared.*"),
)
TEXTS = ("where", "work", "text", "topology", "bottleneck", "twice", "strategy", "waiting_where")


def records(value, path=""):
    """Each record with its path."""
    if isinstance(value, dict):
        yield path, value
        for name, each in value.items():
            yield from records(each, f"{path}.{name}")
    for each in value if isinstance(value, list) else ():
        yield from records(each, f"{path}[]")


def is_of_its_type(name, value):
    """Whether such a thing may stand at this name."""
    if name in (*TEXTS, "reason"):
        return type(value) is str and value
    if name == "fits":
        return type(value) is bool
    if name in ("ops_per_s", "link_bytes_per_s"):
        return type(value) in (int, Fraction)
    if name.endswith(("_s", "_per_byte", "speed_up", "utilisation")):
        return type(value) is Fraction
    return type(value) is int


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
    paths = set()
    for place, found in records(analysis.as_dict(question)):
        path = re.sub(r"(strategies|sram|compared)\.[a-z, ]+", r"\1.*", place)
        paths.add(path)
        if path in MAY_BE_A_REASON and "reason" in found:
            assert [*found] == ["reason"]
        elif path != ".plans.faster" or found:  # without two there is nothing to compare
            assert {*found} == {*re.split("(?<!,) ", NAMES[path])}, place
        for name, value in found.items():
            may_be_none = path.startswith(".plans.faster") and value is None
            assert may_be_none or type(value) in (dict, list) or is_of_its_type(name, value), place
    assert question is not LAB or paths == {*NAMES}


def test_what_is_asked_is_said():
    found = analysis.as_dict(ODD)
    assert found["version"] == 4
    layer = dict(zip(NAMES[".asked.network[]"].split(), (12, 6, 4, 3, 8, 5, 3), strict=True))
    assert found["asked"]["network"][1] == layer
    system = (6, Fraction(64, 3), Fraction(5, 2), 9_216, RING)
    assert tuple(found["asked"]["system"].values()) == system
    assert found["asked"]["inputs"] == 8


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


@pytest.mark.parametrize(
    ("nodes", "reason", "places"),
    [
        (
            6,
            "Tensor parallelism is not possible: layer 1's 128 filters cannot be split evenly over"
            " 6 nodes",
            ".strategies.tensor .last_row_share_s .two_way_ring .plans.compared.tensor",
        ),
        (
            *(2, "Pipeline parallelism is not possible: 4 layers need 4 nodes or more, not 2"),
            ".strategies.pipeline .losses .plans.compared.pipeline",
        ),
    ],
)
def test_what_is_not_possible_has_its_reason_at_each_place(nodes, reason, places):
    found = records(analysis.as_dict(LAB.on(nodes=nodes)))
    strategy = places.rpartition(".")[2]
    expected = [*places.split(), f".sram.{strategy}", f".sram.{strategy}, streamed"]
    assert {place for place, record in found if record.get("reason") == reason} == {*expected}


# ------------------------------------------------ what is refused

WRONG = {
    "no layers": (Question(()), "network"),
    "a layer of no filters": (Question((NETWORK[0]._replace(filters=0),)), "layer 1 filters: 0"),
    "no inputs": (LAB._replace(inputs=0), "inputs: 0"),
    "-3 inputs": (LAB._replace(inputs=-3), "inputs: -3"),
    "no nodes": (LAB.on(nodes=0), "nodes: 0"),
    "a float": (LAB.on(ops_per_s=5e10), "ops_per_s"),
    "no system": (LAB._replace(system=None), "system"),
    "a tuple": ((NETWORK, SYSTEM, 1), "is not a Question"),
    "nothing": (None, "question: None is not a Question"),
}


@pytest.mark.parametrize(("question", "said"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_refused(question, said):
    calls = [(of, [question]) for of in (Analysis, analysis.as_dict, analysis.losses)]
    if isinstance(question, Question):
        calls += [
            (analysis.one_node_latency, question),
            (analysis.data_parallel_latency, question),
            (analysis.balanced_pipeline_latency, question),
            (analysis.two_way_ring_latency, question),
        ]
        if "inputs" not in said:
            calls.append((analysis.last_row_share_s, question[:2]))
            calls += [(analysis.sram_result, [name, *question[:2]]) for name in analysis.SRAM]
    for of, arguments in calls:
        with pytest.raises(ValueError, match=said):
            of(*arguments)


@pytest.mark.parametrize(
    ("of", "arguments", "said"),
    [
        (analysis.as_dict, [LAB.on(nodes=3)], "evenly over 3 nodes.* 4 layers need 4 nodes"),
        (analysis.losses, [LAB.on(nodes=2)], "4 layers need 4 nodes"),
        (analysis.sram_result, ["rows", NETWORK, SYSTEM], "strategy: 'rows' is not one of 'ten"),
        (analysis.sram_result, [["tensor"], NETWORK, SYSTEM], "strategy: .* is not one of 'ten"),
        (analysis.machine_balance, [System(link_bytes_per_s=0)], "link_bytes_per_s: 0"),
        (analysis.machine_balance, [None], "system: None"),
    ],
)
def test_what_is_not_possible_is_refused(of, arguments, said):
    with pytest.raises(ValueError, match=said):
        of(*arguments)


# ------------------------------------------------ formulas, as explain prints them


# Of ODD all-to-all, by layer: ops, bytes of output and of a shard, rows of output.
SYMBOLS = {
    "C": numpy.array([3_840, 25_920, 31_104]) * Fraction(1),
    "A": numpy.array([720, 540, 648]) * Fraction(1),
    "S": numpy.array([120, 90, 108]) * Fraction(1),
    "A_L": Fraction(648),
    "out_y": numpy.array([5, 3, 2]),
    "N": 8,
    "P": 6,
    "L": 3,
    "R": Fraction(64, 3),
    "B": Fraction(5, 2),
    "interval": 1_458,
    "sum": sum,
    "max": max,
    "ceil": math.ceil,
}


def value_of(formula):
    """Of a formula as explain prints it."""
    return eval(formula.replace("longest C", "max(C)"), {}, SYMBOLS)


@pytest.mark.parametrize(
    ("function", "expected_s"),
    [
        (analysis.one_node_latency, "22824"),
        (analysis.data_parallel_latency, "5706"),
        (analysis.balanced_pipeline_latency, "6181.5"),
        (analysis.two_way_ring_latency, "6348"),
        (streaming.compute_bound, "3804"),
    ],
)
def test_a_printed_formula_gives_the_number_worked_by_hand(function, expected_s):
    [formula] = re.findall(r" = (.*?) seconds", inspect.getdoc(function))
    assert value_of(formula) == Fraction(expected_s)


def test_the_printed_formula_of_the_last_rows_share():
    [formula] = re.findall(r" = (.*?) seconds", inspect.getdoc(analysis.last_row_share_s))
    assert value_of(formula)[-1] == Fraction("21.6")


def test_printed_formulas_of_rows_give_their_times():
    # of a node and of a link, tensor parallelism first
    formulas = re.findall(r"\b[CA] / \(.*?\)", inspect.getdoc(streaming.streamed_latency))
    expected_s = "6 67.5 121.5", "9.6 12 21.6", "36 405 729", "57.6 72 129.6"
    assert [[*value_of(it)] for it in formulas] == [
        [*map(Fraction, it.split())] for it in expected_s
    ]


def test_printed_formulas_of_losses_give_the_parts():
    told = re.findall(r"^(\w.+?)  +(N \*.+?):", inspect.getdoc(analysis.Losses), re.MULTILINE)
    expected = {
        "ideal compute": 3_804,
        "idle nodes": 3_804,
        "load imbalance": 4_056,
        "waiting for a link": 0,
    }
    assert {name: value_of(formula) for name, formula in told} == expected
