"""explain: what is printed against the JSON, and the words that depend on a number by hand."""

import json
import math
import re
from fractions import Fraction
from functools import reduce

import numpy
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import lab3
import reader
from lab3 import ConvLayer
from machines import TOPOLOGIES, questions
from odd_machines import EVERYTHING, ODD, ODD_OPTIONS, SENDS
from program import call, output, python, refusal
from report.analysis import BYTES, as_dict
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
    tables = reader.check(f"{explain(LAB)}\n\n{explain(LAB, ['all'])}", as_dict(LAB))
    rows = {(table.strategy, *table.heads[:3]): len(table.rows) for table in tables}
    assert rows["", "latency", "1 input ms", "32 inputs ms"] == 3
    assert rows["tensor", "layer", "step", "ops of a node"] == 9  # 4 layers, 2 steps each, the sum
    assert rows["pipeline", "layer", "step", "ops of a node"] == 8  # nothing is sent at the end
    assert rows["", "strategy", "where", "layer"] == 5
    assert rows["", "topology", "inputs", "strategy"] == 8  # 1 and 32 inputs, both of all
    assert rows["pipeline", "part of 32 inputs", "ms", "%"] == 4  # of six, two are 0
    assert rows["", "#", "latency ms", "traffic bytes"] == 8
    assert rows["tensor", "1 input s", "32 inputs s", "bytes"] > 10  # readings
    assert rows["pipeline", "1 input s", "32 inputs s", "bytes"] > 10


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


def test_the_page_is_short_and_names_every_topic():
    text = output("explain")
    assert text.count("\n") <= 45
    assert re.findall(r"^(Q\d): ", text, re.M) == ["Q1", "Q2", "Q3", "Q4"]
    assert [name for name in TOPICS if name not in text.split("`python3 report explain")[1]] == []


@pytest.mark.parametrize("number", range(1, 5))
def test_a_question_as_a_topic_is_its_block_of_the_page(number):
    for line in ("", "--nodes 5 --inputs 3"):
        [block] = re.findall(rf"^Q{number}: .*\n(?:.+\n)+", output(f"explain {line}"), re.M)
        for name in (f"Q{number}", f"q{number}"):
            assert output(f"explain {name} {line}").endswith(f"\n\n{block}")


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_is_short_and_uses_no_symbol_that_it_does_not_define(topic):
    text = output(f"explain {topic}")
    assert text.count("\n") <= (105 if topic == "readings" else 60)
    defined = re.findall(r"\b([A-Z]) = |\b([A-Z]):\s", text.split("\n\n")[0])
    used = {*re.findall(r"\b([A-Z])(?:_\w+)?\b", text)}
    assert used <= {letter for found in defined for letter in found}


def test_topics_are_told_in_the_order_asked_for_and_once():
    symbols, *blocks = explain(LAB, ["ring", "plans", "ring"]).split("\n\n")
    both = [explain(LAB, [topic]).split("\n\n") for topic in ("ring", "plans")]
    assert all(found[0] == symbols for found in both)
    assert blocks == [*both[0][1:], *both[1][1:]]
    alone = [block for topic in TOPICS for block in explain(LAB, [topic]).split("\n\n")[1:]]
    q1 = explain(LAB, ["q1"]).split("\n\n")[1:]
    assert explain(LAB, ["q1", "all", "ring"]).split("\n\n")[1:] == q1 + alone


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("tenser", "did you mean tensor?"),
        ("stream", "did you mean streaming?"),
        ("q5", f"there are {', '.join(TOPICS)}, all, q1, q2, q3, q4"),
    ],
)
def test_an_unknown_topic_is_refused_with_the_nearest_or_all(word, told):
    for line in (f"explain {word}", f"explain ring {word} --json"):
        assert refusal(line) == f"argument TOPIC: '{word}' is not a topic; {told}"
    with pytest.raises(ValueError, match=rf"^topic: '{word}' is not a topic; "):
        explain(LAB, ["all", word])


def test_there_is_no_q2_of_one_input():
    assert "Q2" in refusal("explain Q2 --inputs 1")
    assert "Q2:" not in output("explain --inputs 1")


def test_the_page_imports_nothing_that_it_does_not_need():
    unneeded = "{'matplotlib', 'report.plans', 'report.check.readings', 'report.compare'}"
    program = "import sys; from report.explain import explain; from report.question import LAB"
    done = python("-c", f"{program}; explain(LAB); print({unneeded} & set(sys.modules))")
    assert done.stdout == "set()\n"


# ------------------------------------------------ sentences

# 1 KiB of SRAM, a layer of one input channel: weights 1,024 bytes, and 2 of input, 1,024 of output
TO_THE_BYTE = "--sram-kib 1 --layer 512,1,1,1,1,1"
# a layer of 25 ops per byte of output, as many as a node does while a link carries a byte
EVEN = "--layer 2,25,1,1,1,1"

SENTENCES = [
    # the gravest that were false, each where it was
    ("Q3", "pipeline fits if a row is sent only when the next node has room (node 4: 462,336"),
    ("model", "A stage is a run of steps that one input must finish before the next may start it."),
    # 1,322,752 - 1,116,160: row by row one node would do with 1,109,760
    (
        "Q3 --sram-kib 1090",
        "leave 206,592 bytes too few for the largest layer's input and output. So with",
    ),
    (
        "Q3 --nodes 2 --sram-kib 1",
        "(every node: 679,808 bytes). None of these fits on this machine.",
    ),
    ("Q3 --nodes 1 --sram-kib 1", "(node 1: 1,322,752 bytes). None of these fits on this machine."),
    ("Q4 --topology ring", "for 281.86 us per input on a ring, for 93.952 us all-to-all:"),
    ("Q2", "(all steps), 4.6242 ms with pipeline parallelism (compute of"),
    ("speedup", "2 nodes (and their links)"),
    # at 3 GB/s layer 4's last row takes 147,456 / 4 / 24 / 3 ns
    (
        "streaming --link-gbs 3",
        "97,065.86112 (lower bound) + 0.512 (last row's part) = 97,066.37312",
    ),
    # 3.03330816 ms and 0.01536 ns
    ("streaming --link-gbs 100000", "+ 0.00001536 (last row's part) ~ 97,065.8611 us"),
    ("readings", "0.00312726016 0.10007232512 1,923,072 traffic is that of one input"),
    (
        "plans",
        "SRAM bytes: what the fullest node holds, of 524,288; whole-tensor transfers, one input at",
    ),
    # Q1 and Q2: 12.43531264 / 3.12726016, 1,923,072 / 604,160, 155.7861376 / 100.07232512
    ("", "Tensor parallelism is 3.976 times as fast, but sends 3.183 times as many bytes."),
    (
        "",
        "Tensor parallelism is 1.557 times as fast. Each further input adds 3.1273 ms with",
    ),
    ("", "3.0333 ms (all nodes share each layer) and communicates for 93.952 us."),
    ("", "12.133 ms (one node at a time) and communicates for 302.08 us."),
    # 3.03330816 / 3.12726016 for any N; 32 * 3.03330816 / 155.7861376
    ("", "adds 3.1273 ms with tensor parallelism (all steps),"),
    ("", "4.6242 ms with pipeline parallelism (compute of layer 2). Utilisation: 97.00 %"),
    ("", "97.00 % (tensor), 62.31 % (pipeline)."),
    # on a ring: 3.03330816 + 3 * 0.093952 ms and 2,033,664 bytes, also below the steps
    ("--topology ring", "is 3.751 times as fast, but sends 3.366 times as many bytes."),
    ("--topology ring", "(all nodes share each layer) and communicates for 281.86 us."),
    (
        "tensor --topology ring",
        "3,033.30816 (computing) + 281.856 (communicating) = 3,315.16416 us",
    ),
    (
        "tensor --topology ring",
        "3,315.16416 (1 input) + 31 * 3,315.16416 (the longest stage, all steps) = 106,085.25312",
    ),
    ("tensor --topology ring", "32 * 2,033,664 = 65,077,248 bytes"),
    ("pipeline", "31 * 4,624.22016 (the longest stage, compute of layer 2) = 155,786.1376 us"),
    # 40 times slower links. Tensor: 32 * (3.03330816 + 40 * 0.093952) = 217.32442112 ms. Pipeline:
    # 12.13323264 + 40 * 0.30208 + 31 * max(4.62422016, 40 * 0.1152) = 167.5672576 ms
    ("--link-gbs 0.05", "Pipeline parallelism is 1.297 times as fast. Each"),
    # at 0.02 GB/s layer 1's 230,400 bytes take 11.52 ms
    ("--link-gbs 0.02", "11.52 ms with pipeline parallelism (send of layer 1)."),
    # 2 * 2 bytes of output on two nodes, half of which is sent; 50 ops in 1 ns, 2 bytes in 1 ns
    (f"--nodes 2 {EVEN}", "Both take the same time; tensor parallelism sends 2 bytes more."),
    (f"--nodes 2 {EVEN}", "Both take the same time. Each"),
    ("--nodes 4 --layer 128,3,3,3,32,32", "one node at a time) and sends nothing."),
    ("--nodes 1", "One node does all the work and sends nothing."),
    # in the unit of which there is one or more
    (f"--nodes 2 {EVEN} --gops 0.0001", "parallelism computes for 1 ms (one"),
    (f"--nodes 2 {EVEN} --gops 0.000102", "parallelism computes for 980.39 us (one"),
    ("--nodes 1", "Utilisation: 100 % (tensor)."),
    ("--link-gbs 100000", "Utilisation: 100.0 % (tensor),"),
    # Q3: 891,648 bytes, less 524,288
    ("", "All weights, 891,648 bytes, exceed the 524,288 bytes of SRAM per node by 367,360 bytes."),
    ("", "So the work must be distributed, and data parallelism is not possible."),
    ("", "One input at a time, whole-tensor transfers: tensor fits (every node: 503,488 bytes),"),
    ("", "pipeline does not fit (node 2: 726,016 bytes). Row streaming: tensor fits (every"),
    ("", "(every node: 455,104 bytes), pipeline fits if"),
    (
        "--sram-kib 400",
        "(every node: 455,104 bytes), pipeline does not fit (node 4: 462,336 bytes).",
    ),
    ("--topology ring", "Row streaming: pipeline fits if a row"),
    # rows of layer 1 take 3.84 us to send at 2 GB/s, 4.1472 us to compute
    ("--link-gbs 1.85", "Row streaming: pipeline fits if a row"),
    ("sram --link-gbs 1.85", "links on which a row takes longer to send than another to compute."),
    # 1,322,752 - 1,024,000
    (
        "--sram-kib 1000",
        "but leave 298,752 bytes too few for the largest layer's input and output. So with",
    ),
    # 8 times 12.13323264 ms where 1,291.75 KiB fit
    (
        "--sram-kib 1292",
        "so the work need not be distributed. Data parallelism is possible: 97.066",
    ),
    (
        f"--nodes 2 {TO_THE_BYTE}",
        "All weights, 1,024 bytes, fit in the 1,024 bytes of SRAM per node,",
    ),
    (f"--nodes 2 {TO_THE_BYTE}", "but leave 1,026 bytes too few"),
    # weights 680, input 4, output 340 bytes
    ("--nodes 1 --sram-kib 1 --layer 170,2,1,1,1,1", "so the work need not be distributed."),
    ("--nodes 1 --sram-kib 1 --layer 171,2,1,1,1,1", "but leave 6 bytes too few"),
    # Q4: 3 * 93.952 us; 7 * (14.4 + 12.544 + 10.816 + 9.216) us
    ("", "3 times as long, because the busiest link carries 3 shards one after the other. So an"),
    ("", "So an input takes 6.009 % longer. Pipeline parallelism is unaffected if its layers"),
    ("--nodes 8", "for 328.83 us per input on a ring, for 46.976 us all-to-all: 7 times as long"),
    ("Q4 --nodes 3 --layer 3,1,1,1,1,1", "all-to-all: 2 times as long, because the busiest link"),
    ("--nodes 1", "A ring of 1 node has no links, so it changes nothing."),
    ("--nodes 2", "A ring of 2 nodes has the same links as all-to-all, so it changes nothing."),
    ("ring --nodes 2", "A ring of 2 nodes has the same links as all-to-all"),
    # topics
    (
        f"model {ODD_OPTIONS}",
        "N = 8 inputs, L = 3 layers, P = 6 nodes, ring, R = 0.0000128 GOPS, B = 0.0000015 GB/s",
    ),
    (f"sram {ODD_OPTIONS}", "A node has 9,216 bytes;"),
    ("model", "sum 303,330,816 606,661,632 891,648 751,616"),  # none of inputs, 610,304
    ("pipeline", "(P * R) seconds: 106,165.7856 us for 32 inputs."),  # 35 * 3.03330816
    # 12.13323264 ms 32 times, and 8 times
    ("speedup", "sum(C) / R seconds: 12,133.23264 us for 1 input, 388,263.44448 us for 32 inputs"),
    ("speedup", "sum(C) / R seconds: 12,133.23264 us for 1 input, 97,065.86112 us for 32 inputs"),
    ("sram", "tensor, row streaming every node 2 455,104 yes 69,184"),
    ("sram", "pipeline, row streaming 294,912 19,968 147,456 462,336"),
    ("streaming", "97,065.86112 (lower bound) + 0.768 (last row's part) = 97,066.62912 us"),
    ("streaming", "4,942.32576 (1 input) + 31 * 4,624.22016 (interval) = 148,293.15"),
    # 300.6474368 - 97.06586112 - 0.0768 ms
    (
        "streaming --link-gbs 0.02",
        "76.8 (last row's part) + 203,504.77568 (waiting for links)",
    ),
    # 1,733,632 / 0.08493262848 bytes/s
    ("plans", "20.4 to 92.6 MB/s pipeline"),
    ("plans --link-gbs 0.05", "here 50 MB/s"),
    ("plans --topology ring", "groups of one node are modelled: 9 plans in all."),
    ("plans --nodes 8", "2 more: `python3 report plans --all`"),
]


@pytest.mark.parametrize(("line", "phrase"), SENTENCES)
def test_what_a_sentence_says(line, phrase):
    assert phrase in said(line)


@pytest.mark.parametrize(
    ("line", "phrase"),
    [
        # what does not apply is left out
        ("Q3 --sram-kib 1090", "must be distributed"),
        ("Q3 --nodes 1 --sram-kib 1", "must be distributed"),
        ("--sram-kib 1291", "Data parallelism is possible"),
        ("--nodes 1 --sram-kib 1292", "Data parallelism is possible"),
        ("--nodes 1", "treaming: "),
        ("--nodes 1", "Shard"),
        ("--nodes 5", "hard"),
        ("--nodes 1", "sent"),
        ("--layer 128,3,3,3,32,32", "pipeline parallelism, row streaming"),
        ("Q4 --layer 128,3,3,3,32,32", "follow the ring"),
        ("--nodes 8 --topology ring", "Row streaming: tensor"),
        ("", "None of these fits"),
        (f"--nodes 2 {EVEN}", "times as fast"),
        ("--nodes 5", "times as fast"),
        ("streaming", "waiting for links"),
        ("streaming --topology ring", "last row's part"),
        ("streaming --nodes 5", "its part of a row"),
        ("streaming --nodes 2", "Pipeline parallelism:"),
        ("streaming --nodes 1", "row r"),
        ("sram --nodes 1", "data "),
        ("sram --nodes 1", "1 / P"),
        ("sram --nodes 2", "the pipeline needs"),
        ("sram", "longer to send"),
        ("sram --nodes 1 --link-gbs 0.01", "longer to send"),
        ("pipeline", "idle nodes"),
        ("pipeline --layer 128,3,3,3,32,32", "A_L"),
        ("tensor --nodes 1", "gather"),
        ("speedup --nodes 1", "Data parallelism"),
        ("plans", "groups of one node are modelled"),
        ("plans --nodes 2 --topology ring", "groups of one node are modelled"),
        ("plans --nodes 5", "faster than tensor parallelism"),
    ],
)
def test_what_does_not_apply_is_not_said(line, phrase):
    assert phrase not in said(line)


# ------------------------------------------------ formulas

# Of ODD, by layer: ops, bytes of output and of a shard, rows of output.
SYMBOLS = {
    "C": numpy.array([3_840, 25_920, 31_104]) * Fraction(1),
    "A": numpy.array([720, 540, 648]) * Fraction(1),
    "S": numpy.array([120, 90, 108]) * Fraction(1),
    "S_L": 108,
    "out_y": numpy.array([5, 3, 2]),
    "N": 8,
    "P": 6,
    "L": 3,
    "R": Fraction(64, 3),
    "B": Fraction(5, 2),
    "interval": 1_458,
    "sum": sum,
    "max": lambda *several: max(map(max, several)),
    "ceil": math.ceil,
}
SENT = {**SYMBOLS, "A": SYMBOLS["A"][:-1]}  # in a pipeline


def value_of(formula, symbols=SYMBOLS):
    """Of a formula as it is printed."""
    written = " ".join(formula.split())
    written = written.replace("S_1 + ... + S_(L-1)", "sum(S) - S_L").replace("longest C", "max(C)")
    return eval(written.replace("A_1 + ... + A_(L-1)", "sum(A)"), {}, symbols)


RING, DIRECT = ODD_OPTIONS, ODD_OPTIONS.replace(" ring ", " all-to-all ")


@pytest.mark.parametrize(
    ("line", "before", "after", "value", "symbols"),
    [
        # the tables of odd_machines.py have the working
        (f"tensor {DIRECT}", "latency = ", " seconds", Fraction("4821.6"), SYMBOLS),
        (f"tensor {RING}", "latency = ", " seconds", 8_892, SYMBOLS),
        (f"tensor {DIRECT}", "traffic = ", " bytes", 54_720, SYMBOLS),
        (f"tensor {RING}", "traffic = ", " bytes", 63_360, SYMBOLS),
        (f"pipeline {RING}", "latency = ", " seconds", 13_563, SENT),
        (f"pipeline {RING}", "traffic = ", " bytes", 10_080, SENT),
        (f"pipeline {RING}", "would take ", " seconds", Fraction("6181.5"), SYMBOLS),
        (f"pipeline {RING}", "ideal compute ", ": all", 3_804, SYMBOLS),
        (f"pipeline {RING}", "idle nodes ", ": only", 3_804, SYMBOLS),
        (f"pipeline {RING}", "load imbalance ", ": the L", 4_056, SYMBOLS),
        (f"streaming {RING}", "lower bound = ", " seconds", 3_804, SYMBOLS),
        (f"speedup {RING}", "One node alone takes ", " seconds", 22_824, SYMBOLS),
        (f"speedup {RING}", "Data parallelism takes ", " seconds", 5_706, SYMBOLS),
    ],
)
def test_a_printed_formula_gives_the_number_worked_by_hand(line, before, after, value, symbols):
    text = said(line).split(before)[1].split(after)[0]
    formula = text[text.index("N *") :] if text[0].isdigit() else text
    assert value_of(formula, symbols) == value


def test_the_models_formulas_give_sizes_and_sums_worked_by_hand():
    formulas = dict(re.findall(r"^([a-z_ ]+) = (?:[CA] = )?(.*)$", explain(ODD, ["model"]), re.M))
    sizes = {row.layer: [*vars(row).values()][2:] for row in EVERYTHING.layers}
    for values in zip(*sizes.values(), strict=True):
        expected = dict(zip(sizes, values, strict=True))
        scope = {name: expected[name] for name in ConvLayer._fields}
        for name in ("out_x", "out_y", "weights", "macs", "ops", *BYTES):
            scope[name] = eval(formulas[name], {}, scope)
        assert scope == expected

    steps = [step for step in EVERYTHING.steps if step.group == "pipeline"]
    words = {"ops of a node": "ops", "bytes of the busiest link": "sent", "step times": "times"}
    words["traffic bytes of the steps"] = "sent_bytes"
    named = {
        name: reduce(lambda text, each: text.replace(*each), words.items(), formula)
        for name, formula in formulas.items()
    }
    for step in steps:
        scope = {**SYMBOLS, "ops": step.node_ops, "sent": step.link_bytes}
        assert eval(named["step time"].removesuffix(" seconds"), {}, scope) == step.time_s
    scope = {**SYMBOLS, "times": [step.time_s for step in steps]}
    scope["sent_bytes"] = [step.traffic_bytes for step in steps]
    assert eval(named["latency"], {}, scope) == 13_563
    assert eval(named["traffic"], {}, scope) == 10_080


def test_the_printed_formula_of_waiting_for_a_link():
    [formula] = re.findall(r"waiting for a link +\S+ +\S+ +(N.*?):", explain(SENDS, ["pipeline"]))
    sends = {"N": 3, "C": [60, 1_200, 1_200], "R": 40, "interval": 60, "max": max}
    assert value_of(formula, sends) == 90


def test_printed_formulas_of_an_exchange_give_its_time_and_bytes():
    for options, times, exchanged in (
        (DIRECT, [[48, 36, Fraction("43.2")]] * 2, (3_600, 540)),
        (RING, [[240, 180, 216]] * 2, (3_600, 1_620)),
    ):
        text = said(f"tensor {options}")
        found = [
            (value_of(seconds), value_of(sent))
            for seconds, sent in re.findall(r"gather (\S[^,]*?) seconds, (.*?) bytes", text)
        ]
        assert [[*seconds] for seconds, _ in found] == times
        (first, *_), (*_, last) = (sent for _, sent in found)
        assert (first, last) == exchanged


def test_printed_formulas_of_rows_give_their_times():
    # of a node and of a link, tensor parallelism first
    formulas = re.findall(r"\b[CA] / \(.*?\)", said(f"streaming {DIRECT}"))
    expected_s = "6 67.5 121.5", "9.6 12 21.6", "36 405 729", "57.6 72 129.6"
    assert [[*value_of(it)] for it in formulas] == [
        [*map(Fraction, it.split())] for it in expected_s
    ]


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
    for line in ("streaming --topology ring", "sram --topology ring"):
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
