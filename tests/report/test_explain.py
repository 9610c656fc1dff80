"""explain: what is printed against the JSON, and the words that depend on a number by hand."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reader
from machines import questions
from program import call, output
from report.analysis import as_dict
from report.explain import explain
from report.question import LAB, headed


def said(line):
    """Everything that explain says, as one line."""
    return " ".join(output(f"explain {line}").split())


# ------------------------------------------------ numbers


@pytest.mark.parametrize("is_lab", [False, True])
@pytest.mark.parametrize("topology", ["all-to-all", "ring"])
@settings(max_examples=50)
@given(data=st.data())
def test_what_is_printed_is_what_the_json_says(is_lab, topology, data):
    question = data.draw(questions(is_lab, topology))
    text = headed(question, explain(question))
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 80
    tables = reader.check(text, as_dict(question))
    assert all(rows for _, _, rows in tables)


def test_the_labs_tables_have_a_row_for_each_record():
    tables = reader.check(explain(LAB), as_dict(LAB))
    rows = {(heading, *heads[:3]): len(rows) for heading, heads, rows in tables}
    assert rows["", "inputs", "strategy", "latency ms"] == 4  # 1 and 32 inputs, both strategies
    assert rows["tensor", "layer", "step", "ops of a node"] == 9  # 4 layers, 2 steps each, the sum
    assert rows["pipeline", "layer", "step", "ops of a node"] == 8  # nothing is sent at the end
    assert rows["", "topology", "inputs", "strategy"] == 8  # and both topologies
    assert rows["tensor", "one input s", "all inputs s", "bytes per input"] == 16  # readings
    assert rows["pipeline", "one input s", "all inputs s", "bytes per input"] == 15


def test_the_json_is_that_of_the_question():
    found = json.loads(output("explain --nodes 2 --inputs 5 --json"))
    assert found["asked"]["system"]["nodes"] == 2
    assert found["asked"]["inputs"] == 5
    # 5 * 6,254,520.32 ns; a float prints as it was computed
    assert found["strategies"]["tensor"]["results"][1]["latency_s"] == 0.0312726016
    assert set(found["strategies"]["pipeline"]) == {"reason"}


# ------------------------------------------------ who is faster

FASTER = re.compile(
    r"For (1 input|[\d,]+ inputs) with (whole-tensor transfers|row streaming), (\w+) parallelism is"
    r" ([\d.,]+) times as fast as (\w+) parallelism: ([\d.,]+ [mu]s) against ([\d.,]+ [mu]s)"
)


def test_who_is_faster_and_by_how_much_on_the_lab():
    # 12.43531264 / 3.12726016, 4.94232576 / 3.03407616, 155.7861376 / 100.07232512,
    # 148.29315072 / 97.06662912
    assert [", ".join(found) for found in FASTER.findall(said(""))] == [
        "1 input, whole-tensor transfers, tensor, 3.976, pipeline, 3.1273 ms, 12.435 ms",
        "1 input, row streaming, tensor, 1.629, pipeline, 3.0341 ms, 4.9423 ms",
        "32 inputs, whole-tensor transfers, tensor, 1.557, pipeline, 100.07 ms, 155.79 ms",
        "32 inputs, row streaming, tensor, 1.528, pipeline, 97.067 ms, 148.29 ms",
    ]


def test_the_pipeline_is_said_to_be_faster_where_it_is():
    # 40 times slower links. Tensor: 32 * (3.03330816 + 40 * 0.093952) = 217.32442112 ms. Pipeline:
    # 12.13323264 + 40 * 0.30208 + 31 * max(4.62422016, 40 * 0.1152) = 167.5672576 ms
    whole = [it for it in FASTER.findall(said("--link-gbs 0.05")) if "whole" in it[1]]
    assert whole[1][2:] == ("pipeline", "1.297", "tensor", "167.57 ms", "217.32 ms")


def test_a_tie_has_no_winner():
    text = said("--nodes 1 --layer 1,1,1,1,1,1")  # one layer, one node: the same in both
    assert "For 1 input with whole-tensor transfers, both strategies take 0.04 ns" in text
    assert FASTER.findall(text) == []


def test_a_lead_too_small_for_a_ratio_is_said_in_time():
    # Two layers of 8 * 10^6 ops and outputs of 4 * 10^6 bytes. Tensor: a node computes 160 us an
    # input, and shards of 2 * 10^6 bytes are twice on links, 0.02 us each: 160.04 s in all.
    # Pipeline: 160 + 0.04 + 160 us, and 160 us for each of 999,999 more: 160.00016004 s.
    layers = "--layer 2,2,1,1,1000,1000 " * 2
    text = said(f"--nodes 2 --link-gbs 100000 --inputs 1000000 {layers}")
    assert "transfers, pipeline parallelism is faster by 39.84 ms" in text


# ------------------------------------------------ SRAM (Q3)


@pytest.mark.parametrize(
    ("line", "fit", "lack"),  # data parallelism needs 1,322,752 bytes, 1,291.75 KiB
    [
        ("", "tensor; tensor, streamed; pipeline, streamed", "pipeline; data"),
        ("--sram-kib 1292", "tensor; tensor, streamed; pipeline; pipeline, streamed; data", ""),
        ("--sram-kib 1291", "tensor; tensor, streamed; pipeline; pipeline, streamed", "data"),
        ("--sram-kib 1 --nodes 2", "", "tensor; tensor, streamed; data"),
    ],
)
def test_what_fits_and_what_does_not(line, fit, lack):
    text = said(line)
    for words, names in (("fits", fit), ("does not fit", lack)):
        found = re.search(rf"This {words} in the [^:]*: (.*?)\. ", text)
        assert re.sub(r" \([^)]*\)", "", found[1] if found else "") == names


@pytest.mark.parametrize(
    ("line", "distributed", "data"),
    [
        ("", True, False),  # the weights alone are too much
        ("--sram-kib 1000", True, False),  # weights of 870.75 KiB fit, not with layer 2's tensors
        ("--sram-kib 1292", False, True),
    ],
)
def test_whether_the_work_must_be_distributed(line, distributed, data):
    text = said(line)
    assert ("the work must be distributed" in text) == distributed
    assert ("one node alone takes 388.26 ms" in text) == (not distributed)
    assert ("data parallelism is possible: 97.066 ms for 32 inputs" in text) == data
    assert ("If everything fitted" in text) == (not data)


def test_how_much_is_lacking():
    # 891,648 and 1,322,752 bytes, less 524,288
    text = said("")
    assert "weights alone exceed a node's SRAM by 367,360 bytes, with" in text
    assert "by 798,464 bytes" in text
    # 1,322,752 - 1,024,000
    text = said("--sram-kib 1000")
    assert "by 298,752 bytes" in text
    assert "alone exceed" not in text


def test_that_nothing_fits_is_said_where_it_is_so():
    assert "No strategy counted here fits on 4 nodes." in said("--sram-kib 1")
    assert "No strategy counted here fits on 1 node." in said("--nodes 1")
    assert "No strategy counted here fits" not in said("")


ROOM = "--nodes 1 --sram-kib 1 --layer 3,9,1,1,10,1"


@pytest.mark.parametrize(
    ("line", "conclusion"),
    [
        ("", "So outputs must leave during the run."),
        # 65,536 inputs of 6,144 bytes are 402,653,184
        ("--inputs 65536", "So inputs must arrive and outputs must leave during the run."),
        (f"--inputs 5 {ROOM}", "Layers in work need some of it."),
        (f"--inputs 6 {ROOM}", "So inputs must arrive during the run."),
        ("--nodes 1", "less than all weights"),  # 524,288 < 891,648
    ],
)
def test_whether_inputs_and_outputs_have_room(line, conclusion):
    # the node has 1,024 - 54 = 970 bytes beside the weights; an input is 180 bytes, an output 60
    assert conclusion in said(line)


def test_one_input_and_its_output_are_singular():
    assert "1 input: 6,144 bytes; 1 output: 147,456 bytes;" in said("--inputs 1")


# ------------------------------------------------ the ring (Q4), the lower bound


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        (1, "A ring of 1 node has no links, so it changes nothing."),
        (2, "A ring of 2 nodes has the same links as all-to-all, so it changes nothing."),
        # 3 * 93.952 us; 7 * (14.4 + 12.544 + 10.816 + 9.216) us
        (4, "for 281.86 us per input instead of 93.952 us, 3 times as long"),
        (8, "for 328.83 us per input instead of 46.976 us, 7 times as long"),
    ],
)
def test_what_a_ring_changes(nodes, words):
    assert words in said(f"--nodes {nodes}")
    assert words in said(f"--nodes {nodes} --topology ring")


def test_bytes_and_times_on_links_are_those_of_one_input():
    text = said("")  # whatever the number of inputs
    assert "3.183 times as many bytes as pipeline parallelism: 1,923,072 against 604,160" in text


def test_the_distance_to_the_lower_bound():
    assert "Tensor parallelism with row streaming is 768 ns above the lower bound" in said("")
    assert "Tensor parallelism with row streaming reaches the lower bound" in said("--nodes 1")
    # 0.768 us is the last row's share; on slow links rows wait for others, too
    assert "0.768 us (the last row's share" in said("")
    assert "the last row's share" not in said("--link-gbs 0.02")


# ------------------------------------------------ what is not possible, what is refused


def test_what_is_not_possible_has_a_reason_and_no_comparison():
    text = said("--nodes 6")
    assert "cannot be split evenly over 6 nodes" in text
    assert FASTER.findall(text) == []
    assert "4 layers need 4 nodes or more, not 2" in said("--nodes 2")
    assert "not modelled on a ring of 4 nodes" in said("--topology ring")


def test_where_neither_strategy_is_possible_there_is_nothing_to_explain():
    status, out, err = call("explain --nodes 3")
    assert (status, out) == (2, "")
    assert "evenly over 3 nodes" in err and "4 layers need 4 nodes" in err


# ------------------------------------------------ how far nodes are used, and what is sent


def test_how_long_nodes_compute_and_how_often_an_input_is_done():
    # 3.03330816 / 3.12726016 = 0.96996 for any N; 32 * 3.03330816 / 155.7861376 = 0.62307
    text = said("")
    assert "Tensor parallelism keeps the nodes computing 97 % of the time for 32 inputs" in text
    assert "every 3.1273 ms, the time of all its steps" in text
    assert "Pipeline parallelism keeps the nodes computing 62.31 % of the time for 32" in text
    assert "every 4.6242 ms, the time of its bottleneck, the compute of layer 2" in text
    # at 0.02 GB/s layer 1's 230,400 bytes take 11.52 ms
    assert "every 11.52 ms, the time of its bottleneck, the send of layer 1" in said(
        "--link-gbs 0.02"
    )


def test_how_long_each_strategy_communicates():
    said_once = "It communicates for 93.952 us, pipeline parallelism for 302.08 us"
    assert said_once in said("")


def test_outputs_must_leave_if_they_do_not_fit_beside_the_weights():
    # 10 * 147,456 bytes, of 2,097,152 less 891,648
    assert "So outputs must leave during the run." in said("--inputs 10")
