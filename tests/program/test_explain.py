"""What report/explain.py tells people, and programs.

Its figures are tested in tests/test_figures.py; here, that each stands where it is promised. The
small machine is the one of that file with 1,000 times the rates, so that its seconds are ms here.
"""

import json
import re
from fractions import Fraction

import pytest

import explain
from program import call, output, refusal
from whatif import LAB

SMALL = (
    "--nodes 2 --gops 0.000012 --link-gbs 0.000003 --sram-kib 1 --element-bytes 1 --topology ring"
    " --inputs 3 --layer 4,1,1,2,3,4 --layer 2,4,2,1,3,3"
)


def told(line=""):
    return output(line, explain.respond)


def section(text, start, end):
    """The part between two headings, each at the start of a line."""
    return re.search(rf"^{start}.*?^(?={end})", text, re.DOTALL | re.MULTILINE)[0]


def lines_with(text, *parts):
    return [line.split() for line in text.splitlines() if all(part in line for part in parts)]


def flat(text):
    """Without the breaks of lines."""
    return " ".join(text.split())


# ------------------------------------------------ in short


def test_the_labs_answers_stand_first():
    start = flat(section(told(), "IN SHORT", "1[.] THE LAW"))
    for row in (
        "1 tensor 3.12726016 1,923,072 3.03407616 3.03330816",
        "1 pipeline 12.43531264 604,160 4.94232576 3.03330816",
        "32 tensor 100.07232512 61,538,304 97.06662912 97.06586112",
        "32 pipeline 155.7861376 19,333,120 148.29315072 97.06586112",
    ):
        assert row in start
    for sentence in (
        "Q1: For 1 input with whole tensors tensor parallelism is 3.976 times as fast",
        "Q2: For 32 inputs with whole tensors tensor parallelism is 1.557 times as fast",
        "keeps the nodes computing 97 % of the time, pipeline parallelism 62.31 %",
        "an output every 4.62422016 ms, the time of its bottleneck (compute of layer 2), tensor"
        " parallelism every 3.12726016 ms",
        "For 1 input with rows streamed tensor parallelism is 1.629 times as fast",
        "For 32 inputs with rows streamed tensor parallelism is 1.528 times as fast",
        "sends 3.183 times the bytes of pipeline parallelism, and communicates for 93.952 us an"
        " input instead of 302.08 us",
        "Tensor parallelism with rows streamed is 0.768 us above the limit",
        "lacks 367,360 bytes for the weights alone, 798,464 with",
        "it would take 97.06586112 ms for 32 inputs",
        "281.856 us for 1 input instead of 93.952 us, 3 times as long",
        "its latency is 6.009 % longer",
        "Q4: A ring changes nothing for pipeline parallelism",
    ):
        assert sentence in start
    fits, lacks = re.search("What fits(.*?)What does not fit(.*?)Q3", start).groups()
    assert re.findall(r"(\w[\w, ]*) \((.*?)\)", fits) == [
        ("tensor", "every node, 503,488 bytes"),
        ("tensor, streamed", "every node, 455,104 bytes"),
        ("pipeline, streamed", "node 4, 462,336 bytes"),
    ]
    assert re.findall(r"(\w+) \((.*?)\)", lacks) == [
        ("pipeline", "node 2, 726,016 bytes"),
        ("data", "every node, 1,322,752 bytes"),
    ]


def test_a_small_machines_answers():
    text = told(SMALL)
    assert text.startswith("what if: 3 inputs, 2 nodes, ring, 0.000012 GOPS, 0.000003 GB/s")
    start = flat(section(text, "IN SHORT", "1[.] THE LAW"))
    for row in (
        "1 tensor 22 42 14.6666667 14",
        "1 pipeline 40 36 24 14",
        "3 tensor 66 126 42.6666667 42",
        "3 pipeline 72 108 56 42",
    ):
        assert row in start
    # 72 / 66, 56 / (128 / 3), 126 / 108
    for sentence in (
        "3 inputs, 2 layers, 2 nodes ring, R = 12,000 ops/s a node, B = 3,000 bytes/s a link,"
        " 1,024 bytes of SRAM a node",
        "For 3 inputs with whole tensors tensor parallelism is 1.091 times as fast",
        "For 3 inputs with rows streamed tensor parallelism is 1.312 times as fast",
        "sends 1.167 times the bytes",
        "Q3: A node can hold all weights, 24 bytes, and the tensors",
        "data parallelism is possible: 56 ms",
        "A ring of 2 nodes is all-to-all",
        "What does not fit the 1,024 bytes of SRAM of a node, one input at a time: nothing.",
    ):
        assert sentence in start


def test_the_faster_one_is_named():
    slow = flat(told("--link-gbs 0.05"))  # 137.19 against 217.35 ms, by the crossovers' formulas
    assert re.search("32 inputs with whole tensors pipeline parallelism is 1[.]2", slow)
    assert "32 inputs with rows streamed tensor parallelism is" in slow
    alone = flat(told("--nodes 1 --layer 2,1,1,1,1,1 --inputs 2 --gops 0.000004"))  # 4 ops, 1 ms
    for sentence in (
        "For 2 inputs with whole tensors both take 2 ms.",
        "an output every 1 ms, the time of its bottleneck (compute of layer 1), tensor parallelism"
        " every 1 ms.",
        "Q4: A ring of 1 node is all-to-all, so nothing changes.",
    ):
        assert sentence in alone


# 891,648 bytes of weights, 1,322,752 with layer 2's input and output
@pytest.mark.parametrize(
    ("sram_bytes", "said"),
    [
        (891_647, "since no node can hold all weights, 891,648 bytes"),
        (891_648, "can hold all weights, 891,648 bytes, but lacks 431,104"),
        (1_322_751, "can hold all weights, 891,648 bytes, but lacks 1 "),
        (1_322_752, "and the tensors, so distribution only saves time"),
        (1, "of SRAM of a node, one input at a time: nothing. What does not fit"),
    ],
)
def test_what_a_node_can_hold(sram_bytes, said):
    assert said in flat(explain.explain(LAB.on(sram_bytes=sram_bytes)))


def test_a_strategy_that_is_not_possible():
    text = told("--nodes 2")
    assert "Pipeline parallelism is not possible" in text
    assert lines_with(text, "32  pipeline")[0][2:] == ["-"] * 4
    start = section(text, "IN SHORT", "1[.] THE LAW")
    assert "both" not in start and "times the bytes" not in start
    assert "tensor parallelism on a ring with links both ways" in flat(text)
    text = told("--nodes 6")
    assert lines_with(text, "32  tensor")[0][2:5] == ["-"] * 3
    assert "changes nothing for pipeline" in text and "both ways" not in text
    assert "changes nothing" not in told("--layer=8,8,1,1,4,4 " * 5)
    # of one layer the pipeline sends nothing; the ring is no longer all-to-all
    text = told("--nodes 3 --layer 3,1,1,1,1,1")
    assert "times the bytes" not in text and "Q4: On a one-way ring" in text
    assert "do not divide" in refusal("--nodes 3", explain.respond)


def test_one_input_around_a_ring():
    text = flat(told("--topology ring --inputs 1"))
    assert "Q1:" in text and "Q2:" not in text
    assert "Tensor parallelism with rows streamed is not modelled on a ring of 4 nodes" in text
    # 4.94232576 - 3.03330816 ms
    assert "Pipeline parallelism with rows streamed is 1.9090176 ms above the limit" in text
    assert "The interval is that of the bottleneck: all steps." in text


# ------------------------------------------------ derived

PROMISED = {
    "2[.] THE NETWORK": ["606,661,632", "25 ops", "layer: 27, 1,152, 1,152, 1,152."],
    "3[.] TENSOR": ["1,156.05504", "25.088", "32 * 1,923,072 = 61,538,304", "3,033.30816 + 93.952"],
    "4[.] PIPELINE": ["4,624.22016", "32 * 604,160 = 19,333,120", "155,786.1376 us", "106.1657856"],
    "5[.] ROWS": ["3,033.30816 us (the limit) + 0.768 us (the last row's", "4,942.32576 us"],
    "6[.] UTILISATION": ["96.9957089", "1.94166668", "1.99612937", "1.01525054", "1.00097048"],
    "7[.] SRAM": ["20,800", "69,184", "325,120", "1,128,192", "196,608", "4,718,592", "2,097,152"],
    "8[.] RING": ["281.856", "106.08525312", "65,077,248", "3.17423616", "101.57555712"],
    "9[.] WHICH PLAN": [
        "1-2:2,3-4:2",
        "123.19973376",
        "133.556736",
        "668,672",
        "20.4118491 to 92.5870418",
    ],
    "10[.] READINGS": ["3.12080778", "121.11757312", "72,155,136", "158.8970496", "397.93000448"],
}


@pytest.fixture(scope="module")
def lab():
    return told()


@pytest.mark.parametrize("start", PROMISED)
def test_each_promised_number_stands_in_its_section(lab, start):
    ends = [*list(PROMISED)[1:], r"\Z"]
    part = flat(section(lab, start, ends[list(PROMISED).index(start)]))
    assert [number for number in PROMISED[start] if number not in part] == []


def test_it_speaks_to_students(lab):
    for word in ("Raises", "Returns", "ValueError", "Fraction", "lab3.", "int "):
        assert word not in lab


def test_symbols_stand_before_they_are_used(lab):
    assert lab.index("R  ops/s of a node") < lab.index("C / (P * R)")


def test_sums_add_up(lab):
    number = r"([\d,.]+)"
    sums = re.findall(rf"^{number} \+ {number} \+ (\d+) \* {number} = {number} us$", lab, re.M)
    first = rf"N = (\d+): {number} us \(the first input\)"
    streamed = re.findall(rf"{first} \+ (\d+) \* {number} us = {number} us", flat(lab))
    assert [it[0] for it in streamed] == ["1", "32"]
    assert [it[2] for it in [*sums, *streamed]] == ["0", "31"] * 3
    for texts in [*sums, *(("0", *it[1:]) for it in streamed)]:
        first, second, times, interval, total = (Fraction(text.replace(",", "")) for text in texts)
        assert first + second + times * interval == total


def test_the_ring_beside_all_to_all(lab):
    ring = section(lab, "8[.] RING", "9[.] WHICH")
    found = re.findall(r"^(?:all-to-all|ring) +(\d+) +\w+ +([\d.,]+)", ring, re.M)
    assert [inputs for inputs, _ in found] == ["1"] * 4 + ["32"] * 4
    # of one input: tensor parallelism all-to-all and around the ring, and the pipeline
    assert [us for _, us in found] == ["93.952", "281.856", "302.08", "302.08"] * 2


def test_each_layer_and_step():
    text = section(told(SMALL), "2[.] THE NETWORK", "5[.] ROWS")
    for row in (
        ["1", "4", "1", "1", "2", "3", "4", "1", "3", "3"],
        ["2", "96", "192", "16", "36", "12"],
        ["sum", "168", "336", "24", "48"],
        ["1", "compute", "72", "0", "6,000", "0"],
        ["1", "all-gather", "0", "18", "6,000", "36"],
        ["2", "compute", "96", "0", "8,000", "0"],
        ["2", "gather", "0", "6", "2,000", "6"],
        ["1", "send", "0", "36", "12,000", "36"],
        ["2", "compute", "192", "0", "16,000", "0"],
        ["sum", "168", "24", "22,000", "42"],
        ["sum", "336", "36", "40,000", "36"],
        ["imbalance", "6", "8.33333333"],
    ):
        assert row in [line.split() for line in text.splitlines()]


# ------------------------------------------------ for programs


def test_json():
    data = json.loads(told(f"{SMALL} --json"))
    assert data["version"] == 2
    assert data["inputs"] == 3
    assert data["system"] == {
        "nodes": 2,
        "ops_per_s": 12_000,
        "link_bytes_per_s": 3_000,
        "sram_bytes": 1_024,
        "topology": "ring",
    }
    assert [layer["ops_a_byte"] for layer in data["layers"]] == [4.0, 16.0]
    assert [step["duration_s"] for step in data["steps"]["tensor"]] == [0.006, 0.006, 0.008, 0.002]
    found = {(it["topology"], it["inputs"], it["strategy"]): it for it in data["results"]}
    assert len(found) == 8
    ring = found["ring", 3, "tensor"]
    assert (ring["latency_s"], ring["traffic_bytes"]) == (0.066, 126)
    assert ring["streamed_latency_s"] == 0.128 / 3
    assert data["needs"][0]["waiting_inputs"] == (1_024 - 54) // 12
    assert data["sram"]["pipeline"][1]["input_bytes"] == 36
    assert data["data_parallel"] == [0.028, 0.056]
    assert data["losses"] == {
        "work / P": 0.042,
        "imbalance": 0.006,
        "fill and drain": 0.012,
        "sending": 0.012,
    }
    texts = [plan["text"] for plan in data["plans"]["best"]]
    assert texts == ["1-2:2", "1,2", "1-2"]
    # 14 + 24 / B ms an input against 16 or 36 / B, where B is in bytes/ms; of 3 inputs it never is
    assert data["plans"]["faster"] == {"pipeline": [None, [6_000 / 7, 12_000.0]]}
    assert data["ops_while_a_byte_is_sent"] == 4
    answers = {(it["reading"], it["inputs"], it["strategy"]): it for it in data["readings"]}
    assert answers["no overlap at all", 3, "pipeline"]["latency_s"] == 0.12


def test_json_keeps_large_ints_and_says_what_is_not_possible():
    data = json.loads(call("--nodes 2 --inputs 1000000000 --json", explain.respond)[1])
    tensor, pipeline = data["results"][2:4]
    assert tensor["traffic_bytes"] == 677_888 * 10**9
    assert pipeline["latency_s"] is None
    assert "4 layers need 4 nodes" in pipeline["reason"]
    assert data["losses"] is None
    line = "--nodes 1 --json" + " --layer 1,1,1,1,1,1" * 65
    many = json.loads(call(line, explain.respond)[1])
    assert "65 layers" in many["plans"]["best"]
