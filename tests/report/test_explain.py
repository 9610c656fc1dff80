"""explain: what is printed against the JSON, and the words that depend on a number by hand."""

import json
import re

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import lab3
import reader
from machines import TOPOLOGIES, questions
from program import call, output, python, refusal
from report.analysis import as_dict
from report.explain import TOPICS, explain
from report.question import LAB, headed


def said(line):
    """Everything that explain says, as one line."""
    return " ".join(output(f"explain {line}").split())


# ------------------------------------------------ numbers


@settings(
    max_examples=settings.default.max_examples * 5 // 6,  # 100, thorough 2,000
    phases=[Phase.generate],  # a failure names the sentence: a smaller question takes minutes
)
@given(is_lab=st.booleans(), topology=TOPOLOGIES, data=st.data())
def test_what_is_printed_is_what_the_json_says(is_lab, topology, data):
    __tracebackhide__ = True
    question = data.draw(questions(is_lab, topology))
    text = f"{explain(question)}\n\n{explain(question, ['all'])}"
    assert text.isascii()
    assert max(map(len, headed(question, text).splitlines())) <= 80
    tables = reader.check(text, as_dict(question))
    assert all(table.rows for table in tables)
    assert handed_in(text) == answers(question)


def handed_in(text):
    """Seconds and bytes below Q1 and Q2, by question and strategy."""
    found = {}
    for number, block in re.findall(r"^Q([12]): .*\n((?:.+\n)+)", text, re.MULTILINE):
        line = r"(\w+) parallelism:\s+(\S+)\s+seconds,\s+(\d+)\s+bytes"
        found |= {(int(number), name): (s, size) for name, s, size in re.findall(line, block)}
    return found


def answers(question):
    """The same as lab3.py prints them."""
    found = {}
    for line in lab3.answers(*question).splitlines():
        if line.startswith("-"):
            number = 1 + ("Q2" in line)
        elif line.startswith("Total"):
            strategy, value = re.search(r"of (\w+) parallelism is (\S+)", line).groups()
            case = number, strategy.capitalize()
            found[case] = (*found.get(case, ()), value)
    return found


def test_the_lab_hands_in_its_answers():
    assert handed_in(explain(LAB)) == {
        (1, "Tensor"): ("0.00312726016", "1923072"),
        (1, "Pipeline"): ("0.01243531264", "604160"),
        (2, "Tensor"): ("0.10007232512", "61538304"),
        (2, "Pipeline"): ("0.1557861376", "19333120"),
    }


def test_the_labs_tables_have_a_row_for_each_record():
    tables = reader.check(explain(LAB, ["all"]), as_dict(LAB))
    rows = {(table.strategy, *table.heads[:3]): len(table.rows) for table in tables}
    assert rows["tensor", "layer", "step", "ops of a node"] == 9  # 4 layers, 2 steps each, the sum
    assert rows["pipeline", "layer", "step", "ops of a node"] == 8  # nothing is sent at the end
    assert rows["", "strategy", "layer", "work"] == 5 + 5 + 4 + 4 + 4  # the gather twice
    assert rows["", "topology", "inputs", "strategy"] == 8  # 1 and 32 inputs, both of all
    assert rows["pipeline", "part of 32 inputs", "ms", "% of the latency"] == 6
    assert rows["tensor", "one input s", "all inputs s", "all inputs bytes"] > 10  # readings
    assert rows["pipeline", "one input s", "all inputs s", "all inputs bytes"] > 10


def test_a_wrong_number_is_told_by_its_heading_and_sentence():
    text = explain(LAB, ["ring"])
    for right, wrong, named in (
        ("281.86 us", "281.87 us", "RING (Q4): Tensor parallelism communicates for 281.87 us"),
        ("3.31516416", "3.31516417", "RING (Q4): ring  1  tensor  281.856  3.31516417"),
    ):
        assert right in text
        with pytest.raises(AssertionError) as failure:
            reader.check(text.replace(right, wrong), as_dict(LAB))
        assert str(failure.value).startswith(named)


def test_the_json_is_that_of_the_question_whatever_the_topics():
    found = json.loads(output("explain --nodes 2 --inputs 5 --json"))
    assert found["asked"]["system"]["nodes"] == 2
    assert found["asked"]["inputs"] == 5
    # 5 * 6,254,520.32 ns; a float prints as it was computed
    assert found["strategies"]["tensor"]["results"][1]["latency_s"] == 0.0312726016
    assert set(found["strategies"]["pipeline"]) == {"reason"}
    assert output("explain ring --json") == output("explain --json")


# ------------------------------------------------ a page, and topics


def test_the_page_is_short_and_lists_every_topic():
    lines = output("explain").splitlines()
    assert len(lines) <= 45
    heads = [line.split(":")[0] for line in lines if re.match(r"Q\d", line)]
    assert heads == ["Q1", "Q2", "Q3", "Q4"]
    assert [line.split()[0] for line in lines[-len(TOPICS) :]] == [*TOPICS]


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_is_short_and_uses_no_symbol_that_it_does_not_define(topic):
    text = output(f"explain {topic}")
    assert text.count("\n") <= (95 if topic == "readings" else 65)
    defined = re.findall(
        r"\b([A-Z]) = |\b([A-Z]): |\b([A-Z]) (?:ops|bytes) ", text.split("\n\n")[0]
    ) + re.findall(r"^([A-Z]) is ()()", text, re.MULTILINE)
    used = {*re.findall(r"\b([A-Z])(?:_\w+)?\b", text)}
    assert used <= {letter for found in defined for letter in found}


def test_topics_are_told_in_the_order_asked_for_and_once():
    symbols, *blocks = explain(LAB, ["ring", "plans", "ring"]).split("\n\n")
    both = [explain(LAB, [topic]).split("\n\n") for topic in ("ring", "plans")]
    assert all(found[0] == symbols for found in both)
    assert blocks == [*both[0][1:], *both[1][1:]]
    alone = [block for topic in TOPICS for block in explain(LAB, [topic]).split("\n\n")[1:]]
    assert explain(LAB, ["ring", "all"]).split("\n\n")[1:] == alone


def test_an_unknown_topic_is_refused_with_all_that_there_are():
    for line in ("explain what", "explain ring what", "explain what --json"):
        assert all(name in refusal(line) for name in ("TOPIC", "'what'", *TOPICS, "all"))
    with pytest.raises(ValueError, match=r"'what' is not one of model, tensor, .*, all"):
        explain(LAB, ["all", "what"])


def test_the_page_imports_nothing_that_it_does_not_need():
    unneeded = "{'inspect', 'matplotlib', 'report.plans', 'report.readings', 'report.compare'}"
    program = "import sys; from report.explain import explain; from report.question import LAB"
    done = python("-c", f"{program}; explain(LAB); print({unneeded} & set(sys.modules))")
    assert done.stdout == "set()\n"


# ------------------------------------------------ sentences

RING = "--nodes 8 --topology ring --link-gbs 0.05 --inputs 1"
# 1 KiB of SRAM, a layer of one input channel: weights 1,024 bytes, and 2 of input, 1,024 of output
TO_THE_BYTE = "--sram-kib 1 --layer 512,1,1,1,1,1"
ROOM = "sram --nodes 1 --sram-kib 1 --layer 3,9,1,1,10,1"  # 970 bytes beside 54 of weights
ROOM_TO_THE_BYTE = "sram --nodes 1 --sram-kib 1 --inputs 1"
# a layer of 25 ops per byte of output, as many as a node does while a link carries a byte
EVEN = "--layer 2,25,1,1,1,1"
# Two layers of 8 * 10^6 ops and outputs of 4 * 10^6 bytes. Tensor: a node computes 160 us an input,
# and shards of 2 * 10^6 bytes are twice on links, 0.02 us each: 160.04 s in all. Pipeline: 160 +
# 0.04 + 160 us, and 160 us for each of 999,999 more: 160.00016004 s.
CLOSE = "--nodes 2 --link-gbs 100000 --inputs 1000000 " + "--layer 2,2,1,1,1000,1000 " * 2
MS = "--nodes 1 --inputs 1 --layer 5000,5000,1,1,1,1"  # 50,000,000 ops

SENTENCES = [
    # Q1 and Q2: 12.43531264 / 3.12726016, 1,923,072 / 604,160, 155.7861376 / 100.07232512
    ("", "Tensor parallelism is 3.976 times as fast, but sends 3.183 times as many bytes."),
    ("", "Tensor parallelism is 1.557 times as fast. Inputs"),
    ("", "3.0333 ms (all nodes share each layer) and communicates for 93.952 us."),
    ("", "12.133 ms (at most one node at a time) and communicates for 302.08 us."),
    # 3.03330816 / 3.12726016 for any N; 32 * 3.03330816 / 155.7861376
    ("", "every 3.1273 ms with tensor parallelism (all its steps; utilisation 97 %)"),
    ("", "every 4.6242 ms with pipeline parallelism (its bottleneck, compute of layer 2;"),
    ("", "utilisation 62.31 %)"),
    # on a ring: 3.03330816 + 3 * 0.093952 ms and 2,033,664 bytes, also below the steps
    ("--topology ring", "is 3.751 times as fast, but sends 3.366 times as many bytes."),
    ("--topology ring", "(all nodes share each layer) and communicates for 281.86 us."),
    ("--topology ring", "every 3.3152 ms with tensor parallelism"),
    ("tensor --topology ring", "3,033.30816 + 281.856 + 31 * 3,315.16416 = 106,085.25312 us"),
    ("tensor --topology ring", "32 * 2,033,664 = 65,077,248 bytes"),
    # 40 times slower links. Tensor: 32 * (3.03330816 + 40 * 0.093952) = 217.32442112 ms. Pipeline:
    # 12.13323264 + 40 * 0.30208 + 31 * max(4.62422016, 40 * 0.1152) = 167.5672576 ms
    ("--link-gbs 0.05", "Pipeline parallelism is 1.297 times as fast. Inputs"),
    # at 0.02 GB/s layer 1's 230,400 bytes take 11.52 ms
    (
        "--link-gbs 0.02",
        "every 11.52 ms with pipeline parallelism (its bottleneck, send of layer 1;",
    ),
    # 2 * 2 bytes of output on two nodes, half of which is sent; 50 ops in 1 ns, 2 bytes in 1 ns
    (f"--nodes 2 {EVEN}", "Both take the same time; tensor parallelism sends 2 bytes more."),
    (f"--nodes 2 {EVEN}", "Both take the same time. Inputs"),
    (CLOSE, "Pipeline parallelism is faster by 39.84 ms. Inputs"),
    # 2 * 2 * 90,000 + 2 bytes against 4 * 90,000
    (
        "--nodes 2 --layer 2,1,1,1,300,300 --layer 2,2,300,300,300,300",
        "sends 2 bytes more. Tensor",
    ),
    ("--nodes 4 --layer 128,3,3,3,32,32", "at most one node at a time) and sends nothing."),
    ("--nodes 1", "One node does all the work and sends nothing."),
    # at the edges of units and shares
    (MS, "Lower bound for any schedule: 1 ms for 1 input."),
    (f"{MS} --gops 0.05", "Lower bound for any schedule: 1 s for 1 input."),
    (f"{MS} --gops 50.01", "Lower bound for any schedule: 999.8 us for 1 input."),
    ("--nodes 1", "(all its steps; utilisation 100 %)"),
    ("--link-gbs 100000", "(all its steps; utilisation over 99.99 %)"),
    # what is faster than both: 8 times 12.13323264 ms where 1,291.75 KiB fit
    (
        "--sram-kib 1292",
        "Faster than both: data parallelism (97.066 ms), tensor parallelism with row",
    ),
    (RING, "Faster than both: pipeline parallelism with row streaming (5.6606 ms), one node"),
    (RING, "(5.6606 ms), one node alone, if all fitted its SRAM (12.133 ms). Q3"),
    (f"{RING} --sram-kib 1292", "(5.6606 ms), one node alone (12.133 ms). Q3"),
    (
        "--nodes 5",
        "Faster: pipeline parallelism with row streaming (4.9423 ms), one node alone, if",
    ),
    ("--link-gbs 0.05", "tensor parallelism with row streaming (3.7591 ms), pipeline parallelism"),
    ("--link-gbs 0.05", "pipeline parallelism with row streaming (5.6606 ms). Q2"),
    ("--link-gbs 0.02", "Faster than both: tensor parallelism with row streaming (9.3962 ms), one"),
    ("--link-gbs 0.04", "Faster than both: tensor parallelism with row streaming (150.32 ms)"),
    # the weights alone would fit
    ("--nodes 5 --sram-kib 1000", "one node alone, if all fitted its SRAM (12.133 ms)"),
    # Q3: 891,648 and 1,322,752 bytes, less 524,288
    ("", "All weights, 891,648 bytes, alone exceed the 524,288 bytes of SRAM per node by 367,360"),
    ("", "by 367,360 bytes, and by 798,464 bytes with the largest layer's input and output."),
    ("", "So the work must be distributed, and data parallelism is not possible."),
    ("", "One input at a time, whole-tensor transfers: tensor fits (every node: 503,488 bytes),"),
    ("", "pipeline does not fit (node 2: 726,016 bytes). With row streaming: tensor fits (every"),
    ("", "(every node: 455,104 bytes), pipeline fits (node 4: 462,336 bytes)."),
    (
        "--sram-kib 400",
        "(every node: 455,104 bytes), pipeline does not fit (node 4: 462,336 bytes).",
    ),
    ("--topology ring", "With row streaming: pipeline fits (node 4: 462,336 bytes)."),
    ("--link-gbs 1.85", "With row streaming: tensor fits (every node: at most 455,104 bytes),"),
    ("--link-gbs 1.85 --sram-kib 444", "tensor may fit (every node: at most 455,104 bytes),"),
    # 1,322,752 - 1,024,000
    ("--sram-kib 1000", "but not with the largest layer's input and output: it is 298,752 bytes"),
    ("--sram-kib 1000", "So the work must be distributed, and data parallelism is not possible."),
    # row by row one node holds at most 891,648 + 230,400 + 7,168 bytes, which is 1,102.75 KiB
    ("--sram-kib 1103", "not possible. With input rows freed after their last use, one node"),
    ("--nodes 1 --sram-kib 1103", "Holding whole tensors, the work must be distributed, and data"),
    (
        "--sram-kib 1292",
        "so the work need not be distributed. Data parallelism is possible: 97.066",
    ),
    (f"--nodes 2 {TO_THE_BYTE}", "All weights, 1,024 bytes, fit the 1,024 bytes of SRAM per node,"),
    (
        f"--nodes 2 {TO_THE_BYTE}",
        "but not with the largest layer's input and output: it is 1,026 bytes short.",
    ),
    # weights 680, input 4, output 340 bytes
    ("--nodes 1 --sram-kib 1 --layer 170,2,1,1,1,1", "so the work need not be distributed."),
    ("--nodes 1 --sram-kib 1 --layer 171,2,1,1,1,1", "input and output: it is 6 bytes short."),
    # Q4: 3 * 93.952 us; 7 * (14.4 + 12.544 + 10.816 + 9.216) us
    ("", "for 281.86 us per input instead of 93.952 us, 3 times as long"),
    ("", "3 times as long (the busiest link carries 3 shards), so 1 input takes 6.009 % longer."),
    ("--nodes 8", "for 328.83 us per input instead of 46.976 us, 7 times as long"),
    ("--nodes 8 --topology ring", "for 328.83 us per input instead of 46.976 us, 7 times as long"),
    (
        "",
        "Pipeline parallelism is unaffected if its layers follow the ring.",
    ),
    ("--nodes 1", "A ring of 1 node has no links, so it changes nothing."),
    ("--nodes 2", "A ring of 2 nodes has the same links as all-to-all, so it changes nothing."),
    (
        "ring --nodes 2",
        "A ring of 2 nodes has the same links as all-to-all, so it changes nothing.",
    ),
    # the last lines
    ("", "Lower bound for any schedule: 3.0333 ms for 1 input, 97.066 ms for 32 inputs."),
    ("", "Row streaming: tensor 3.0341 ms and 97.067 ms, pipeline 4.9423 ms and 148.29 ms."),
    ("--topology ring", "Row streaming: pipeline 4.9423 ms and 148.29 ms. Tensor parallelism with"),
    # topics
    ("model", "R / B = 25 ops. A layer with more ops per byte takes longer to compute than its"),
    ("model", "on a ring, the threshold is P - 1 times as high."),
    ("model", "R: ops/s of a node (GOPS: 10^9). B: bytes/s of a one-way link (GB/s: 10^9)."),
    ("model", "1 MAC is 2 ops"),
    ("model", "time of steps = sum(node ops) / R + sum(link bytes) / B seconds, one after the"),
    ("model", "sum 303,330,816 606,661,632 891,648 751,616"),  # none of inputs, 610,304
    ("tensor", "longest stage (consecutive steps on the same nodes and links), here all steps."),
    ("pipeline", "longest stage (consecutive steps on the same nodes and links), here compute of"),
    ("pipeline", "Each later input finishes one interval after the one before"),
    ("pipeline", "free communication. For 32 inputs that is 106,165.7856 us."),  # 35 * 3.03330816
    # 12.13323264 ms 32 times, and 8 times
    (
        "speedup",
        "sends nothing. That takes 12,133.23264 us for 1 input and 388,263.44448 us for 32",
    ),
    ("speedup", "sends nothing. That takes 12,133.23264 us for 1 input and 97,065.86112 us for 32"),
    ("sram", "More: further inputs that also fit (pipeline: on node 1; others: a copy on every"),
    ("sram", "one copy of the weights leaves 1,205,504 bytes. So outputs must leave the machine"),
    # 10 * 147,456 bytes; 65,536 inputs of 6,144 bytes are 402,653,184
    ("sram --inputs 10", "So outputs must leave the machine during the run (not timed)."),
    (
        "sram --inputs 65536",
        "So inputs must arrive and outputs must leave the machine during the run",
    ),
    ("sram --inputs 1", "1 input: 6,144 bytes; 1 output: 147,456 bytes;"),
    ("sram --nodes 1", "524,288 bytes of SRAM, less than all weights."),
    # an input of 180 bytes, an output of 60
    (f"{ROOM} --inputs 5", "Activations of the current input need part of this, too."),
    (f"{ROOM} --inputs 6", "So inputs must arrive during the run (not timed)."),
    # weights and an input of 512 bytes each, then of 514
    (f"{ROOM_TO_THE_BYTE} --layer 1,256,1,1,1,1", "Activations of the current input need"),
    (f"{ROOM_TO_THE_BYTE} --layer 1,257,1,1,1,1", "So inputs must arrive during the run"),
    (f"sram --nodes 1 {TO_THE_BYTE}", "one copy of the weights leaves 0 bytes. So inputs must"),
    # rows of layer 1 take 3.84 us to send at 2 GB/s, 4.1472 us to compute
    (
        "sram --link-gbs 1.85",
        "the fullest node of tensor, row streaming holds at most 455,104 bytes.",
    ),
    ("sram", "tensor, row streaming every node 2 455,104 yes 69,184 11"),
    ("sram --link-gbs 1.85 --sram-kib 444", "holds at most 455,104 bytes, so it may fit."),
    ("ring", "Communication is that of one input; in a pipeline it overlaps with the computing"),
    # 3.03330816 ms and 3 * 93.952 / 2 us
    ("ring", "That takes 3,174.23616 us for 1 input and 101,575.55712 us for 32 inputs."),
    ("streaming", "tensor every node computes its share of a row, C / (P * out_y * R), and"),
    ("streaming --nodes 8 --topology ring", "pipeline each node computes its layer's rows,"),
    ("streaming", "97,065.86112 us (lower bound) + 0.768 us (last row's share) = 97,066.62912 us"),
    ("streaming", "4,942.32576 us (the first input) + 31 * 4,624.22016 us (interval) = 148,293.15"),
    # 300.6474368 - 97.06586112 - 0.0768 ms
    (
        "streaming --link-gbs 0.02",
        "76.8 us (last row's share) + 203,504.77568 us (waiting for links)",
    ),
    ("streaming --nodes 1", "388,263.44448 us (lower bound) = 388,263.44448 us"),
    ("speedup", "Idle: nodes without a layer. Bottleneck: the longest stage"),
    ("speedup", "Utilisation: speed-up / P, the share of the time in which the nodes compute."),
    # 1,733,632 / 0.08493262848 and 5,408,768 / 0.05841819648 bytes/s
    ("plans", "20.4118491 to 92.5870418 MB/s 14.0097866 to 118.11087 MB/s pipeline"),
    ("plans", "ends excluded (MB/s: 10^6 bytes/s; here: 2,000 MB/s)."),
    ("plans --link-gbs 0.05", "here: 50 MB/s"),
    ("plans", "With row streaming or detours over idle links, they could differ."),
    ("plans --topology ring", "With row streaming, they could differ."),
    ("plans --topology ring", "groups of one node are modelled: 9 plans in all."),
    ("plans --nodes 8", "2 more: `python3 report plans --all`"),
    ("readings", "10^9 ops/s, 10^9 bytes/s, 1,024 bytes"),
    ("readings", "one-way, like the 12 links all-to-all"),
    ("readings", "no batches; tensor parallelism takes one input at a time"),
    ("readings", "without queued inputs or stored outputs"),
    ("readings", "Other readings and common mistakes, one change at a time: seconds for 1 input"),
    ("readings", "seconds for 1 input and for 32 inputs, bytes for 32 inputs."),
    ("readings", "four lines as in Q1 (the sample repeats two and omits one)"),
]


@pytest.mark.parametrize(("line", "phrase"), SENTENCES)
def test_what_a_sentence_says(line, phrase):
    assert phrase in said(line)


@pytest.mark.parametrize(
    ("line", "phrase"),
    [
        ("", "Faster"),  # than tensor parallelism is nothing but its own row streaming
        ("--sram-kib 1291", "data parallelism ("),
        (f"{RING} --sram-kib 1292", "data parallelism ("),  # of 1 input is one node alone
        (f"--nodes 2 {EVEN}", "one node alone"),  # takes as long as the pipeline
        ("--nodes 8 --topology ring", "With row streaming: tensor"),
        ("--sram-kib 1102", "one node suffices"),
        ("--sram-kib 1102", "Holding whole tensors"),
        ("", "at most 455"),
        ("--nodes 5", " than both"),
        (f"--nodes 2 {EVEN}", "times as fast"),
        ("--nodes 5", "times as fast"),
        ("--inputs 1", "Q2"),
        ("streaming", "waiting for links"),
        ("streaming --topology ring", "last row's share"),
        ("sram", "at most"),
        ("sram --nodes 1 --link-gbs 0.01", "at most"),
        ("plans", "groups of one node are modelled"),
        ("plans --nodes 2 --topology ring", "groups of one node are modelled"),
        ("plans --topology ring", "detours"),
        ("plans --nodes 5", "faster than tensor parallelism"),
        ("model --nodes 1", "threshold"),
        ("model --nodes 2", "threshold"),
        ("model --nodes 5", "threshold"),
        ("streaming --nodes 5", "its share of a row"),
        ("streaming --nodes 8 --topology ring", "a link of its own"),
        ("streaming --nodes 2", "each node computes its layer's rows"),
        ("ring --nodes 2", "two-way"),
    ],
)
def test_what_is_not_said_where_it_is_not_so(line, phrase):
    assert phrase not in said(line)


# ------------------------------------------------ what is not possible, what is refused


@pytest.mark.parametrize(
    ("line", "topic", "reason"),
    [
        ("--nodes 6", "tensor", "128 filters"),
        ("--nodes 1", "pipeline", "4 layers need 4 nodes or more, not 1"),
        ("--nodes 2 --topology ring", "pipeline", "4 layers need 4 nodes or more, not 2"),
    ],
)
def test_a_strategy_that_is_not_possible_has_one_line_and_no_derivation(line, topic, reason):
    *_, heading, told = output(f"explain {topic} {line}").split("\n\n")
    assert heading == f"{topic.upper()} PARALLELISM"
    assert told.startswith(f"{topic.capitalize()} parallelism is not possible: ")
    assert reason in " ".join(told.split())
    page = said(line)
    assert page.count(reason) == 2  # below Q1, below Q2
    assert f"{topic.capitalize()} parallelism:" not in page


def test_row_streaming_that_is_not_modelled_has_its_reason():
    for line in ("--topology ring", "streaming --topology ring", "sram --topology ring"):
        assert said(line).count("not modelled on a ring of 4 nodes") == 1


@pytest.mark.parametrize(
    ("line", "phrase"),
    [
        ("sram --nodes 6", "cannot be split evenly over 6 nodes"),  # with row streaming or without
        ("--nodes 1", "One node does all the work and sends nothing."),  # below Q1, not again at Q2
    ],
)
def test_what_is_said_once(line, phrase):
    assert said(line).count(phrase) == 1


def test_where_neither_strategy_is_possible_there_is_nothing_to_explain():
    for line in ("explain --nodes 3", "explain ring --nodes 3"):
        status, out, err = call(line)
        assert (status, out) == (2, "")
        assert "3 nodes" in err and "4 layers need 4 nodes" in err
