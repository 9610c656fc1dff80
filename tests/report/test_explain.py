"""report/explain.py and derivations.py: what `explain` says, worked out by hand; which topics it
prints; JSON. What the pages look like is in tests/transcripts."""

import json
import re

import pytest

pytest.importorskip("hypothesis")

from hypothesis import given
from hypothesis import strategies as st

import lab3
from machines import ODD_OPTIONS as ODD
from program import check_layout, output, python, refusal
from random_machines import questions
from report.check.mistakes import MISTAKES
from report.explain import TOPICS, explain_topics
from report.question import Question, find_impossible


def read(line):
    """What `explain` prints, in one line that begins and ends with a space."""
    return f" {' '.join(output(f'explain {line}').split())} "


# ------------------------------------------------ what is said, worked out by hand

# Of ODD in machines.py, in this order: a table's rows without formulas, and figures of sentences.
# Each further input takes 1,434.304 ms, or 576 in the pipeline; 162.304 is computing on all nodes.
# Data parallelism takes two rounds of 973.824 ms.
ODD_TOPICS = {
    "Q1": """
        what if: 8 inputs, 6 nodes, ring, 0.0000625 GOPS,
        8 inputs, 3 layers, 6 nodes, ring, 0.0000625 GOPS per node, 0.00000125 GB/s per link
        tensor 1.434304 7,920 162.304 1,272 pipeline 1.981824 1,260 973.824 1,008
        Tensor parallelism is 1.38 times as fast. It sends 6.29 times the bytes, because each part
    """,
    "Q2": """
        tensor 11.474432 63,360 1,434.304 none 11.32
        pipeline 6.013824 10,080 576 link 1 to 2 21.59
        Pipeline parallelism is 1.91 times as fast.
        is 1,298.43 ms.
        1,434 ms with tensor parallelism; in the pipeline 576.0 ms + 1,405.8 / N ms
    """,
    "Q3": """
        All weights, 10,512 bytes, exceed a node's SRAM of 9,216 by 1,296:
        data parallelism (it would take 1,947.65 ms) is impossible.
        tensor, every node 2 1,752 720 90 2,562 6,654 free
        pipeline, node 1 1 144 216 720 1,080 8,136 free
        pipeline, node 2 2 2,592 720 540 3,852 5,364 free
        pipeline, node 3 3 7,776 540 648 8,964 252 free
        data, every node 2 10,512 720 540 11,772 2,556 over
        a node holds 3,012 (6,204 free).
        With 7 waiting inputs in every node, tensor parallelism needs 4,074 (5,142 free).
    """,
    "Q4": """
        tensor all-to-all 254.4 0.416704 6,840 tensor ring 1,272 1.434304 7,920
        pipeline either 1,008 1.981824 1,260
        5 shards
        for 5 times as long: 162.304 (compute) + 5 * 254.4 (communication) = 1,434.304 ms,
        244 % more.
        which adds 1,080 bytes. A pipeline is unaffected:
    """,
    "model": "sum 30,432 60,864 10,512 1,908",
    "tensor": """
        sum 10,144 1,590 1,434,304 7,920
        10,144 / R + 1,590 / B = 162,304 (compute) + 1,272,000 (communication) = 1,434,304 us
        8 inputs: 8 * 1,434,304 = 11,474,432 us 8 inputs: 8 * 7,920 = 63,360 bytes
    """,
    # 8 * (497.664 - 162.304); all computing, because a send is the bottleneck; 432 and
    # 8 * (576 - 497.664)
    "pipeline": """
        sum 60,864 1,260 1,981,824 1,260
        60,864 / R + 1,260 / B = 973,824 (compute) + 1,008,000 (communication) = 1,981,824 us
        1,981,824 (1 input) + 7 * 576,000 (the interval, link 1 to 2) = 6,013,824 us
        8 inputs: 8 * 1,260 = 10,080 bytes
        Where the time of 8 inputs goes:
        ideal compute 1,298,432 21.59
        load imbalance 2,682,880 44.61
        fill and drain 973,824 16.19
        communication 1,058,688 17.60
    """,
    # a ring, in ms: 162.304 + 1,590 / B = 973.824 + 1,260 / B, and for 8 inputs
    # 8 * (162.304 + 1,590 / B) = 973.824 + 7 * 497.664 + 1,260 / B
    "bounds": """
        lower bound 162,304 1,298,432
        tensor 1,434,304 11,474,432
        slowest node 497,664 3,981,312
        pipeline 1,981,824 6,013,824
        data 973,824 1,947,648
        1 input, all-to-all tensor no link bandwidth 8 inputs, all-to-all tensor no link bandwidth
        1 input, ring pipeline, tensor 0.000000406644322
        8 inputs, ring pipeline, tensor 0.00000362768436
    """,
    "readings": """
        traffic is that of 8 inputs.
        1.434304 11.474432 63,360 (this project's reading)
        1.981824 6.013824 10,080 (this project's reading)
    """,
}


@pytest.mark.parametrize("topic", ODD_TOPICS)
def test_what_a_topic_says_of_a_machine_that_differs_in_everything(topic):
    text = read(f"{topic} {ODD}")
    for phrase in ODD_TOPICS[topic].strip().splitlines():
        assert f" {phrase.strip()} " in text
        text = f" {text.partition(f' {phrase.strip()} ')[2]}"


ONE_LAYER = "--layer 8,8,1,1,4,4"
BALANCED = "--nodes 2 --layer 4,1,1,1,4,4 --layer 4,4,1,1,4,4"
EQUAL = "--layer 4,4,1,1,4,4 --layer 4,4,1,1,4,4"
TALL = "--nodes 2 --layer 4,1,1,1,10,10 --layer"
WIDE = "--nodes 2 --layer 2,1,1,1,100,1 --layer"
FASTER = f"{ODD} --link-gbs 0.0000015"  # 480 and 360 ms: node 3 is the bottleneck
FULL = "--nodes 1 --layer 32,32,1,1,4,4"  # holds 2,048 + 1,024 + 1,024 bytes


@pytest.mark.parametrize(
    ("line", "said"),
    [
        # 416.704 and 1,981.824 ms; 6,840 and 1,260 bytes; 254.4 and 1,008 ms on 6 * 5 links
        (f"Q1 {ODD} --topology all-to-all", "4.76 times as fast. It sends 5.43 times the bytes,"),
        (f"Q1 {ODD} --topology all-to-all", "25 % as long as the pipeline's, on up to 30 links"),
        # the fullest nodes hold 2,562 and 8,964 bytes
        (f"Q1 {ODD} --sram-kib 8", "The pipeline does not fit in SRAM (Q3);"),
        (f"Q1 {ODD} --sram-kib 2", "Tensor parallelism does not fit in SRAM (Q3);"),
        # 995 * 64 + 320 and 995 * 64 + 640, in 1 / 995 ns: 1.005 times is about the same
        (f"Q1 {BALANCED} --gops 995", "Both take about the same time. Tensor parallelism sends"),
        (f"Q1 {BALANCED} --gops 994", "is 1.01 times as fast. It sends 1.5 times the bytes,"),
        (f"Q1 --nodes 1 {ONE_LAYER}", "Both take the same time."),
        # on 2 nodes half of the last output is sent, too: 2 and 3 elements more than 400
        (
            "Q1 --layer 8,3,3,3,9,9 --layer 8,8,3,3,7,7",
            "because each part of an output goes to all",
        ),
        (f"Q1 {TALL} 4,4,10,10,10,10", "slightly more bytes, because half of the last output"),
        (f"Q1 {TALL} 6,4,10,10,10,10", "1.01 times the bytes, because half of the last output"),
        (f"Q1 {WIDE} 2,2,3,1,100,1", "takes 99 % as long"),  # 198 of 200 elements
        # the first takes 14.9026631 ms, each further 5.5713496: the roundings add up to 14.903
        ("Q2 --gops 41.5 --link-gbs 2.125", "in the pipeline 5.571 ms + 9.332 / N ms"),
        ("Q2", "more for any N."),  # 4.62422016 ms, and 3.12726016 with tensor parallelism
        # 230,400 bytes / 0.044 GB/s, less than the 7.304 ms of tensor parallelism
        ("Q2 --link-gbs 0.044 --inputs 2", "in the pipeline 5.236 ms + 20.628 / N ms"),
        (f"Q3 {ODD} --sram-kib 11", "fit in a node's SRAM of 11,264, but 508 bytes of"),
        (f"Q3 {ODD} --sram-kib 12", "parallelism is possible: 1,947.65 ms for 8 inputs."),
        ("Q3 --nodes 2", "a node holds 876,928 (352,640 over)."),  # 445,824 + 230,400 + 200,704
        (f"Q3 {ODD} --inputs 2", "With 1 waiting input in every node,"),
        (f"Q3 {ODD} --inputs 99", "99 outputs, 64,152 bytes, exceed the SRAM of all nodes"),
        (f"Q3 {ODD} --inputs 99", "together (55,296),"),
        (f"Q3 {FASTER}", "In the pipeline, node 3 computes without a break,"),
        (f"Q3 {FASTER}", "it holds at least 9,504 (288 over)."),  # 7,776 + 2 * 540 + 648
        (f"Q3 {FULL} --sram-kib 4", "data, every node 1 2,048 1,024 1,024 4,096 0 free"),
        (f"Q3 {FULL} --sram-kib 4", "data parallelism is possible:"),
        (f"Q3 {FULL} --sram-kib 4 --inputs 5", "5 outputs, 5,120 bytes, exceed"),
        (f"Q3 {FULL} --sram-kib 2", "fit in a node's SRAM of 2,048, but 2,048 bytes of"),
        (f"Q4 {BALANCED}", "tensor either 0.000064"),
        (f"tensor {ODD} --topology all-to-all", "1 all-gather 0 120 96,000 3,600"),
        (f"Q4 {BALANCED}", "A ring of 2 nodes is all-to-all."),
        (f"Q4 --nodes 1 {ONE_LAYER}", "One node has no links."),
        (f"pipeline {FASTER}", "fill and drain 476,160 8.988"),  # 973.824 - 497.664
        (f"pipeline {FASTER}", "communication 840,000 15.86"),
        # of equal nodes one is the bottleneck: 0.512 of 3 * 0.512 + 0.064 us
        (f"pipeline {EQUAL} --gops 1 --inputs 2", "fill and drain 0.512 32"),
        (f"bounds --nodes 1 {ONE_LAYER}", "32 inputs, ring neither every link bandwidth"),
        ("bounds --inputs 1", "1 input, ring tensor no link bandwidth"),
        # behind ~ are rounded numbers: of 9 digits, or whole if there are more than 9
        ("tensor", "= 3,033.30816 (compute) + 93.952 (communication) = 3,127.26016 us"),
        ("tensor --gops 7", "~ 21,666.4869 (compute) + 93.952 (communication) ~"),
        (  # two rounded parts of an exact sum
            "tensor --nodes 5 --topology ring --gops 3 --link-gbs 3 --element-bytes 1"
            " --layer 5,1,1,1,2,2",
            "~ 0.00266666667 (compute) + 0.00533333333 (communication) ~ 0.008 us",
        ),
        ("tensor --link-gbs 7", "~ 3,033.30816 (compute) + 26.8434286 (communication) ~"),
        (
            "tensor --gops 65.536 --link-gbs 0.0001",
            "= 2,314.23046875 (compute) + 1,879,040 (communication) ~ 1,881,354.23 us",
        ),
        ("tensor --gops 64 --inputs 999999", "999,999 * 2,463.724 ~ 2,463,721,536 us"),
        ("Q4 --gops 7", "21.6664869 (compute) + 3 * 0.093952 (communication) ~ 21.9483429 ms,"),
        ("mistakes --inputs 5", "traffic is that of 5 inputs."),
    ],
)
def test_what_is_said_of_other_machines(line, said):
    assert f" {said} " in read(line)


@pytest.mark.parametrize(
    ("line", "not_said"),
    [
        (f"Q1 {ODD}", ["does not fit", "same time"]),
        ("Q1 --topology ring", ["Yet"]),
        (f"Q1 {ONE_LAYER}", ["sends"]),  # a pipeline sends nothing
        (f"Q1 {WIDE} 2,2,2,1,100,1", ["Yet"]),  # 199 of 200 elements are about as long
        ("Q1 --nodes 2", ["pipeline", "as fast", "sends"]),
        ("Q1 --nodes 5", ["tensor", "as fast", "sends"]),
        (f"Q2 {ODD}", ["more for any N"]),
        (f"Q2 {ONE_LAYER}", ["/ N ms"]),  # and never fills
        ("Q2 --nodes 2", ["pipeline", "Averaged"]),
        ("Q2 --nodes 5", ["tensor", "more for any N"]),
        (f"Q3 {ODD}", ["without a break"]),  # a send is the bottleneck
        (f"Q3 {ODD} --inputs 60", ["must leave"]),  # 38,880 bytes of outputs
        (f"Q3 {ODD} --inputs 1", ["waiting"]),
        ("Q3 --inputs 1", ["without a break", "must leave"]),
        ("Q3 --nodes 5", ["tensor", "if it is kept"]),
        ("Q3 --nodes 2", ["pipeline"]),
        (f"Q3 {FULL} --sram-kib 4 --inputs 1", [" over"]),
        (f"Q3 {FULL} --sram-kib 4 --inputs 4", ["must leave"]),
        (f"Q3 {FULL}", ["if it is kept"]),  # nothing is gathered
        ("Q4 --nodes 5", ["tensor"]),
        ("Q4 --nodes 2", ["pipeline"]),
        (f"Q4 {ONE_LAYER}", ["unaffected"]),
        ("tensor --inputs 1", ["1 inputs"]),
        ("bounds --nodes 5", ["tensor 1", "verdict"]),
        ("readings --nodes 5", ["Tensor parallelism:"]),
        ("bounds --nodes 2", ["slowest node 1", "verdict"]),
    ],
)
def test_what_is_not_said(line, not_said):
    text = read(line).partition("per link")[2]
    assert [words for words in not_said if words in text] == []


@given(questions())
def test_the_page_has_the_answers_as_lab3_prints_them(question):
    text = " ".join(explain_topics(question).replace(",", "").split())
    answers = re.findall(r"is (\S+) seconds\nTotal .* is (\d+) bytes", lab3.answers(*question))
    assert answers and all(f" {latency} {traffic} " in text for latency, traffic in answers)


def test_without_docstrings_topics_say_nothing_in_their_place():
    result = python("-OO", "report", "explain", "tensor", "pipeline", "readings")
    assert (result.returncode, result.stderr) == (0, "") and "None" not in result.stdout


def test_the_readings_are_lab3s_list_and_what_others_would_give():
    text = output("explain readings")
    listed = lab3.__doc__.partition("follows:\n\n")[2].partition("\n\n")[0].splitlines()
    printed = {line.strip() for line in text.splitlines()}
    assert len(listed) > 12 and {line.strip() for line in listed} <= printed
    for mistake in MISTAKES:
        words = " ".join(mistake.clause.split()[-4:])
        assert (words in " ".join(text.split())) == bool(mistake.handout)


# ------------------------------------------------ which topics, on how many lines and columns


@pytest.mark.parametrize(
    ("line", "headings"),
    [
        ("", "Q1 Q2 Q3 Q4"),
        ("--inputs 1", "Q1 Q3 Q4"),
        ("q4 model Q4", "Q4 MODEL"),
        ("all", "Q1 Q2 Q3 Q4 MODEL TENSOR PIPELINE BOUNDS READINGS"),
        ("mistakes all", "MISTAKES Q1 Q2 Q3 Q4 MODEL TENSOR PIPELINE BOUNDS READINGS"),
        ("all --nodes 5", "Q1 Q2 Q3 Q4 MODEL PIPELINE BOUNDS READINGS"),
        ("all --nodes 2", "Q1 Q2 Q3 Q4 MODEL TENSOR BOUNDS READINGS"),
    ],
)
def test_topics_come_in_the_order_asked_and_once(line, headings):
    heading = r"^(?:THE |LOWER |COMMON )?(Q\d|[A-Z]+)[A-Z :,0-9-]*$"
    found = re.findall(heading, output(f"explain {line}"), re.MULTILINE)
    assert " ".join(found) == headings


@pytest.mark.parametrize(("topic", "nodes"), [("tensor", 5), ("pipeline", 2)])
def test_a_topic_of_an_impossible_strategy_is_refused(topic, nodes):
    reason = refusal(f"explain {topic} --nodes {nodes}")
    assert topic in reason.lower() and read(f"all --nodes {nodes}").count(f" {reason}. ") == 1


def test_q2_is_about_several_inputs():
    assert "--inputs 2 or more" in refusal("explain Q2 --inputs 1")


@given(questions(), st.sampled_from([1, 64]), st.sampled_from([1, 10**6]), st.integers(1, 10**12))
def test_whatever_the_numbers_80_columns_suffice(question, element_bytes, faster, sram_bytes):
    network, system, inputs = question
    network = tuple(layer._replace(element_bytes=element_bytes) for layer in network)
    system = system._replace(ops_per_s=faster * system.ops_per_s, sram_bytes=1024 * sram_bytes)
    wide = Question(network, system, inputs)
    impossible = {*find_impossible(wide), *["q2"] * (inputs == 1)}
    for topic in [it for it in TOPICS if it not in impossible]:
        check_layout(explain_topics(wide, [topic]) + "\n")


def test_the_largest_numbers_fit_in_80_columns():
    line = "--gops 0.000001 --link-gbs 0.000001 --inputs 1000000 --nodes 1000 --element-bytes 64"
    line += " --sram-kib 1000000000 --layer 1000000,1000000,500000,500000,1000000,1000000"
    assert output(f"explain all mistakes {line}")


@pytest.mark.parametrize("line", ["", "--nodes 64 --topology ring --gops 70", "--sram-kib 2000"])
def test_a_page_fits_a_terminal(line):
    assert output(f"explain {line}").count("\n") <= (60 if line else 53)


# ------------------------------------------------ JSON


def test_the_json_has_everything_whatever_the_topics():
    text = output(f"explain --json {ODD}")
    assert output(f"explain Q4 --json {ODD}") == text
    found = json.loads(text)
    *_, tensor = found["strategies"]["tensor"]["results"]
    assert (tensor["latency_s"], tensor["traffic_bytes"]) == (11.474432, 63_360)
    *_, verdict = found["verdicts"]
    assert verdict["equal_bytes_per_s"] == [11_460 / 3.15904]
    assert verdict["faster"] == ["pipeline", "tensor"]
    assert {it["strategy"] for it in found["readings"]} == {"tensor", "pipeline"}


def test_json_of_one_strategy_and_whole_sizes():
    text = output("explain --json --nodes 2")
    sizes, _ = text.split('"readings"')
    assert re.findall(r'"(?:\w*bytes|\w*ops|layer|inputs|nodes|filters)": .*[.e].*', sizes) == []
    found = json.loads(text)
    assert [*found["impossible"]] == ["pipeline"] and found["losses"] is None
    assert [*found["strategies"]] == ["tensor"] and [*found["sram"]] == ["tensor", "data"]
