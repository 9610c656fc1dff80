"""report/explain.py and derivations.py: what `explain` says, worked out by hand; which topics it
prints; JSON. What the pages look like is in tests/transcripts."""

import json
import re

import pytest

pytest.importorskip("hypothesis")

from hypothesis import given
from hypothesis import strategies as st

import lab3
from machines import CLOSED_FORMS
from machines import ODD_OPTIONS as ODD
from program import check_layout, output, refusal
from random_machines import questions
from report.check.mistakes import MISTAKES
from report.explain import TOPICS, explain_topics
from report.question import Question, find_impossible


def read(line):
    """What `explain` prints, in one line that begins and ends with a space."""
    return f" {' '.join(output(f'explain {line}').split())} "


# ------------------------------------------------ what is said, worked out by hand
# Of ODD in machines.py, in this order: a table's rows without formulas, and figures of sentences.
# Each further input takes 416.704 ms, or 576 in the pipeline; 162.304 is computing on all nodes.
# Data parallelism takes two rounds of 973.824 ms.
ODD_TOPICS = {
    "Q1": """
        what if: 8 inputs, 6 nodes, 0.0000625 GOPS,
        8 inputs, 3 layers, 6 nodes, 0.0000625 GOPS per node, 0.00000125 GB/s per link
        tensor 0.416704 6,840 162.304 254.4 pipeline 1.981824 1,260 973.824 1,008
        Tensor parallelism is 4.76 times as fast. Tensor parallelism sends 5.43 times the bytes:
        takes 25 % as long, on up to 30 links
    """,
    "Q2": """
        strategy latency s traffic bytes interval ms bottleneck used %
        tensor 3.333632 54,720 416.704 none 38.95
        pipeline 6.013824 10,080 576 link 1 to 2 21.59
        Tensor parallelism is 1.80 times as fast.
        is 1,298 ms.
        tensor 416.7, pipeline 576 + 1,406 / N.
    """,
    "Q3": """
        All weights (10,512) and a layer's input and output, in all up to 11,772 bytes, exceed a
        SRAM of 9,216; the weights alone exceed it by 1,296.
        data parallelism (1,948 ms) is impossible.
        strategy, node layer weights input output sum of 9,216
        tensor, every node 2 1,752 720 90 2,562 6,654 free
        pipeline, node 1 1 144 216 720 1,080 8,136 free
        pipeline, node 2 2 2,592 720 540 3,852 5,364 free
        pipeline, node 3 3 7,776 540 648 8,964 252 free
        data, every node 2 10,512 720 540 11,772 2,556 over
        a node holds 3,012 (6,204 free).
        With 7 waiting inputs in every node, tensor parallelism needs 4,074 (5,142 free).
    """,
    "Q4": """
        tensor all-to-all 1 254.4 0.416704 6,840 tensor ring 1 1,272 1.434304 7,920
        pipeline either 1 1,008 1.981824 1,260
        tensor all-to-all 8 3.333632 54,720 tensor ring 8 11.474432 63,360
        pipeline either 8 6.013824 10,080
        carries 5 shards
        244 % longer.
        1,080 bytes more per input. A pipeline along the ring is unaffected:
    """,
    "model": "sum 30,432 60,864 10,512 1,908",
    "tensor": """
        1 3,840 120 0.01024 0.096 3,600 2 25,920 90 0.06912 0.072 2,700
        3 31,104 108 0.082944 0.0864
        sum 60,864 318 0.162304 0.2544 6,300
        one_input = sum(compute) + sum(transfer) = 0.162304 + 0.2544 = 0.416704
        latency = N * one_input = 8 * 0.416704 = 3.333632
        gather = (P - 1) * S[-1] = (6 - 1) * 108 = 540
        traffic = N * (sum(all_gathers) + gather) = 8 * (6,300 + 540) = 54,720
    """,
    # 8 * (497.664 - 162.304); computing on nodes 1 and 2, 61.44 + 414.72; sends of 576 + 432, and
    # 7 * (576 - 497.664), because a send is the bottleneck
    "pipeline": """
        1 3,840 720 0.06144 0.576 720 2 25,920 540 0.41472 0.432 540 3 31,104 648 0.497664
        sum 60,864 1,908 0.973824 1.008 1,260
        interval = max(compute, transfer) = 0.576
        one_input = sum(compute) + sum(transfer) = 0.973824 + 1.008 = 1.981824
        latency = one_input + (N - 1) * interval = 1.981824 + (8 - 1) * 0.576 = 6.013824
        traffic = N * sum(sent) = 8 * 1,260 = 10,080
        Where the time of 8 inputs goes:
        ideal compute 1.298432 21.59
        load imbalance 2.68288 44.61
        fill and drain 0.47616 7.918
        communication 1.556352 25.88
    """,
    "bounds": """
        lower bound 162,304 1,298,432
        slowest node 497,664 3,981,312
        data 973,824 1,947,648
        tensor 416,704 3,333,632
        pipeline 1,981,824 6,013,824
    """,
    "readings": """
        traffic is for 8 inputs.
        0.416704 3.333632 54,720 (this project's reading)
        54,720 GB/s are 2^30 bytes/s
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
EQUAL = " --layer 4,4,1,1,4,4 --layer 4,4,1,1,4,4"  # 512 ops each
BALANCED = "--nodes 2 --layer 4,1,1,1,4,4 --layer 4,4,1,1,4,4"
TALL = "--nodes 2 --layer 4,1,1,1,10,10 --layer"
WIDE = "--nodes 2 --layer 2,1,1,1,100,1 --layer"
FASTER = f"{ODD} --link-gbs 0.0000015"  # 480 and 360 ms: node 3 is the bottleneck
FULL = "--nodes 1 --layer 32,32,1,1,4,4"  # holds 2,048 + 1,024 + 1,024 bytes


@pytest.mark.parametrize(
    ("line", "said"),
    [
        # the fullest nodes hold 2,562 and 8,964 bytes
        (f"Q1 {ODD} --sram-kib 8", "SRAM is too small for pipeline parallelism (Q3);"),
        (f"Q1 {ODD} --sram-kib 2", "SRAM is too small for tensor and pipeline parallelism (Q3);"),
        # 995 * 64 + 320 and 995 * 64 + 640, in 1 / 995 ns: 1.005 times is about the same
        (f"Q1 {BALANCED} --gops 995", "Both take about the same time."),
        (f"Q1 {BALANCED} --gops 994", "is 1.01 times as fast. Tensor parallelism sends 1.5 times"),
        (f"Q1 --nodes 1 {ONE_LAYER}", "Both take the same time."),
        # on 2 nodes half of the last output is sent, too: 2 elements more than 400; 199 of 200
        (f"Q1 {TALL} 4,4,10,10,10,10", "parallelism sends 1.005 times the bytes:"),
        (f"Q1 {WIDE} 2,2,2,1,100,1", "takes 99.5 % as long, on up to 2 links"),
        # the first takes 14.9026631 ms, each further 5.5713496
        ("Q2 --gops 41.5 --link-gbs 2.125", "pipeline 5.571 + 9.331 / N."),
        # 4.62422016 ms, and 3.12726016 with tensor parallelism
        ("Q2", "Latency / N in ms: tensor 3.127, pipeline 4.624 + 7.811 / N."),
        (f"Q2 {ONE_LAYER} --nodes 1", "pipeline 0.00004096."),  # 2,048 ops
        # nodes compute 2 ops in 2 / 60,000 s, then send 2 bytes in 2 / 10^11: 100 / 1.0000006
        ("Q2 --nodes 2 --gops 6e-5 --link-gbs 100 --layer 2,1,1,1,1,1", "tensor 99.9999"),
        (f"Q3 {ODD} --sram-kib 12", "fit in a node's SRAM of 12,288. So the work need not be"),
        (f"Q3 {ODD} --sram-kib 12", "data parallelism (1,948 ms) is possible."),
        (f"Q3 {ODD} --inputs 2", "With 1 waiting input in every node,"),
        (f"Q3 {FASTER}", "The pipeline's node 3 receives its next input while it computes:"),
        (f"Q3 {FASTER}", "it holds at least 9,504 (288 over)."),  # 7,776 + 2 * 540 + 648
        (f"Q3 {FULL} --sram-kib 4", "data, every node 1 2,048 1,024 1,024 4,096 0 free"),
        (f"Q3 {FULL} --sram-kib 4", "data parallelism (0.02097 ms) is possible."),  # 2^20 / 5e10
        # 64 bytes of weights, 128 of input, 128 of output; longer pipelines tell the fullest only
        (f"Q3 --nodes 8 {f'{ONE_LAYER} ' * 8}--element-bytes 1", "pipeline, node 8 8 64 128 128"),
        ("Q3 --nodes 2", "a node holds 876,928 (352,640 over)."),  # 445,824 + 230,400 + 200,704
        (f"Q3 {FULL} --sram-kib 2", "exceed a node's SRAM of 2,048. So the work must be"),
        (f"Q4 {BALANCED}", "tensor either 1 0.000064"),
        # 281.856 + 606,661,632 / 28,000 us
        ("Q4 --gops 7", "ring 1 0.281856 0.021948342857142857"),
        (f"pipeline --gops 1 --inputs 1000000 --nodes 2{EQUAL}", "ideal compute 0.512 99.9999"),
        ("Q4 --nodes 3 --layer 3,1,1,1,1,1 --layer 3,3,1,1,1,1", "tensor ring 1"),
        ("Q4 --nodes 3 --layer 3,1,1,1,1,1 --layer 3,3,1,1,1,1", "2 bytes more per input."),
        (f"Q4 {BALANCED}", "With fewer than 3 nodes, a ring is all-to-all."),
        ("bounds", "A output bytes of a layer R ops/s of a node"),
        ("bounds --gops 7", "lower bound 21,666.4869"),  # 606,661,632 / 28,000 us
        (f"pipeline {FASTER}", "fill and drain 0.47616 8.988"),  # 973.824 - 497.664
        (f"pipeline {FASTER}", "communication 0.84 15.86"),
        # behind ~ are rounded numbers: of 9 digits, or whole if there are more than 9
        ("tensor --gops 7", "~ 32 * 0.0217604389 ~ 0.696334043"),
        ("tensor --gops 7 --inputs 7", "~ 7 * 0.0217604389 ~ 0.152323072"),  # which is exact
        ("mistakes --inputs 5", "traffic is for 5 inputs."),
        ("readings --inputs 5000", "1 input s 5,000 inputs s traffic bytes if"),
        (f"mistakes {ODD}", "437,760 traffic is counted in bits"),  # 8 * 54,720
    ],
)
def test_what_is_said_of_other_machines(line, said):
    assert f" {said} " in read(line)


@pytest.mark.parametrize(
    ("line", "not_said"),
    [
        (f"Q1 {ODD}", ["too small", "same time"]),
        (f"Q1 {ONE_LAYER}", ["sends"]),  # a pipeline sends nothing
        ("--nodes 2", ["pipeline", "as fast", "sends"]),
        ("--nodes 5", ["tensor", "as fast", "the bytes", "if it is kept"]),
        (f"Q3 {ODD}", ["receives"]),  # a send is the bottleneck
        ("Q3 --inputs 1", ["receives", "waiting"]),
        (f"Q3 {FULL}", ["if it is kept"]),  # nothing is gathered
        (f"Q4 {ONE_LAYER}", ["unaffected"]),
        ("tensor --inputs 1", ["1 inputs"]),
        ("bounds --nodes 5", ["tensor 1"]),
        ("readings --nodes 5", ["Tensor parallelism:"]),
        ("mistakes", ["labelled"]),  # which are printed in another unit
        ("bounds --nodes 2", ["pipeline", "slowest node"]),
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


def test_topics_print_the_formulas_and_the_words_of_the_docstrings():
    for strategy, functions in CLOSED_FORMS.items():
        text, words = output(f"explain {strategy} {ODD}"), read(f"{strategy} {ODD}")
        for function in functions:
            for line in function.__doc__.splitlines():
                formula = re.sub(" (seconds|bytes)$", "", line.strip())
                assert f"{formula}\n" in text if " = " in line else formula in words


def test_the_readings_are_lab3s_list_and_what_others_would_give():
    text = output("explain readings")
    listed = lab3.__doc__.partition("follows:\n\n")[2].partition("\n\n")[0].splitlines()
    printed = {line.strip() for line in text.splitlines()}
    assert len(listed) > 9 and {line.strip() for line in listed} <= printed
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


SIZES = st.sampled_from([1, 64]), st.sampled_from([1, 10**6]), st.integers(1, 10**12)


# "mistakes" takes most of the time: about one case in ten has it
@given(questions(), *SIZES, st.integers(1, 10))
def test_whatever_the_numbers_80_columns_suffice(question, element_bytes, faster, sram_bytes, one):
    network, system, inputs = question
    network = tuple(layer._replace(element_bytes=element_bytes) for layer in network)
    system = system._replace(ops_per_s=faster * system.ops_per_s, sram_bytes=1024 * sram_bytes)
    wide = Question(network, system, inputs)
    left_out = {*find_impossible(wide), *["Q2"] * (inputs == 1), *["mistakes"] * (one > 1)}
    for topic in [topic for topic in TOPICS if topic not in left_out]:
        check_layout(explain_topics(wide, [topic]) + "\n")


def test_the_largest_numbers_fit_in_80_columns():
    line = "--gops 0.000001 --link-gbs 0.000001 --inputs 1000000 --nodes 1000 --element-bytes 64"
    line += " --sram-kib 1000000000 --layer 1000000,1000000,500000,500000,1000000,1000000"
    assert output(f"explain all mistakes {line}")


@pytest.mark.parametrize("line", ["", "--nodes 64 --gops 70", "--sram-kib 2000"])
def test_a_page_fits_a_terminal(line):
    assert output(f"explain {line}").count("\n") <= (62 if line else 53)


# ------------------------------------------------ JSON
def test_the_json_has_everything_whatever_the_topics():
    text = output(f"explain --json {ODD}")
    assert output(f"explain Q4 --json {ODD}") == text
    numbers = json.loads(text)
    assert numbers["version"] == 13 and numbers["bounds"][0]["data"] == 0.973824  # of 1 input
    results = {(row["strategy"], row["topology"], row["inputs"]): row for row in numbers["results"]}
    assert len(results) == len(numbers["results"]) == 8
    tensor, ring = results["tensor", "all-to-all", 8], results["tensor", "ring", 8]
    assert (tensor["latency_s"], tensor["traffic_bytes"]) == (3.333632, 54_720)
    assert (ring["latency_s"], tensor["bottleneck"]) == (11.474432, None)
    assert results["pipeline", "ring", 1]["bottleneck"] == "link 1 to 2"


def test_json_of_one_strategy_and_whole_sizes():
    text = output("explain --json --nodes 2")
    assert re.findall(r'"(?:\w*bytes|\w*ops|layer|inputs|nodes|filters)": .*[.e].*', text) == []
    numbers = json.loads(text)
    assert [*numbers["impossible"]] == ["pipeline"] and numbers["losses"] == {}
    assert {row["strategy"] for row in numbers["results"]} == {"tensor"}
    assert {row["strategy"] for row in numbers["sram"]} == {"tensor", "data"}
