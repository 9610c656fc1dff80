"""report/check/diagnosis.py: which changes explain wrong numbers, and what is not claimed."""

import random
import re
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import mistakes
from lab3 import ConvLayer, System
from report.check.changes import CHANGES, list_constants
from report.question import LAB, Question
from submissions import LINES, STRATEGIES, answer, judge, list_ways, write

THREE_NODES = Question(
    (ConvLayer(9, 4, 3, 3, 12, 12, 2), ConvLayer(6, 9, 3, 2, 10, 10, 2)),
    System(3, 10**9, 10**8),
    5,
)
THREE_NODES_OPTIONS = [
    *("--layer=9,4,3,3,12,12", "--layer=6,9,3,2,10,10", "--nodes=3", "--gops=1"),
    *("--link-gbs=0.1", "--inputs=5"),
]
RIGHT = answer()
MAC, INT8, FP32 = "1 MAC is 1 op", "an element is 1 byte (INT8)", "an element is 4 bytes (FP32)"
ALL, LAST = "the last output goes to all nodes", "the last output is sent, too"
UNGATHERED, SPREAD = "the last output is not gathered", "the bytes are spread over all links"
SENDS, ALONE = "a node does not compute while it sends", "inputs do not overlap"
DIVIDED = "computing is divided by the nodes"
UNDIVIDED = "computing is not divided by the nodes"
MS, KB = "ms are printed as seconds", "KB are printed as bytes"
HEIGHT = "a filter's height is forgotten"
HALF = "links have half the bandwidth"
FAST, AMOUNT = "links have 4 GB/s", "Q2 is of 24 inputs"
BINARY, CHANNELS = "GB/s are 2^30 bytes/s", "layer 4 has 127 input channels"
START, ONCE = "the network's input is sent, too", "traffic is that of one input"
INPUTS = "each layer's input is sent, not its output"
SLOTS = "N inputs take (N + layers - 1) times the slowest stage, also for N = 1"
FEWER, SLOWEST = "Q2 is of N - 1 inputs", "N inputs take N times the slowest stage"
ODD = {"Q1 tensor latency": "0.0071234567"}  # is nobody's
ODD_BOTH = {**ODD, "Q2 tensor latency": "0.51234567"}


def of_tensor(numbers):
    return {line: numbers[line] for line in numbers if "tensor" in line}


def typed(clause, *amounts):
    """Compute the numbers of somebody who types a constant of the lab wrong."""
    [change] = [it for it in list_constants(LAB, amounts) if it.clause == clause]
    numbers = {}
    for strategy in STRATEGIES:
        for (asked, kind), value in mistakes.compute(change.value, strategy, ()).items():
            numbers[f"{asked} {strategy} {kind}"] = value
    return {line: numbers[line] for line in LINES}


def swap(one, other, numbers):
    """Give each line the number of the line that has one word in place of the other."""
    words = {one: other, other: one}
    return {
        line: numbers[" ".join(words.get(word, word) for word in line.split())] for line in numbers
    }


def expect(tensor=None, pipeline=None, only=None):
    """Expect one way for each strategy; None: it is not explained."""
    of = {"tensor": tensor, "pipeline": pipeline}
    return {strategy: [({*of[strategy]}, only)] for strategy in of if of[strategy]}


INT8_LATENCY = {line: value for line, value in answer([INT8]).items() if "latency" in line}

# fmt: off
CASES = {  # why: a submission, its ways
    "right numbers need no change": (write(RIGHT), {}),
    "a change of both strategies is one": (write(answer([MAC], [MAC])), expect([MAC], [MAC])),
    "each strategy has its own": (write(answer([ALL], [LAST])), expect([ALL], [LAST])),
    "a shared one and one more": (
        write(answer([FP32], [FP32, SENDS])), expect([FP32], [FP32, SENDS])),
    "three of different things": (
        write(answer([MAC, START, UNGATHERED], [MAC, START, LAST])),
        expect([MAC, START, UNGATHERED], [MAC, START, LAST])),
    "the fewest changes: half the bandwidth is not FP32 with its traffic mended": (
        write(answer([HALF], [HALF])), expect([HALF], [HALF])),
    # one change needs 2 + 2 digits; Q2's are tensor parallelism's Q1 again
    "four digits are evidence of one change": (
        write(answer([SPREAD]), 4), expect([SPREAD])),
    "three digits are not": (write(answer([SPREAD]), 3), {}),
    # the pipeline's Q2 is another number: 3 + 3 digits
    "what both strategies share needs two digits each": (
        write(answer([MAC], [MAC]), 3), expect([MAC], [MAC])),
    "the pipeline's Q2 is no other number of Q1": (
        write(answer([], [DIVIDED]), 3), expect(None, [DIVIDED])),
    "two digits are no evidence": (write(answer([MAC], [MAC]), 2), {}),
    "a scope needs two digits more": (write(answer([SPREAD], [], "Q1"), 4), {}),
    "one wrong number of three digits is never explained": (
        write({**RIGHT, "Q2 pipeline latency": "0.398"}), {}),
    "of four it is": (write({**RIGHT, "Q2 pipeline latency": "0.3979"}), expect(None, [ALONE])),
    # of two changes each number needs four
    "two changes of four digits": (write(answer([UNDIVIDED, ALL]), 4), expect([UNDIVIDED, ALL])),
    "two changes of three digits": (write(answer([UNDIVIDED, ALL]), 3), {}),
    "a slip is left over": (
        write(answer([INT8], [INT8]) | ODD), expect([INT8], [INT8])),
    "two slips in a strategy are none": (
        write(answer([INT8], [INT8]) | ODD_BOTH), expect(None, [INT8])),
    "in Q1 only": (
        write(answer([MAC], [MAC], "Q1")), expect([MAC], [MAC], "Q1")),
    "in Q2 only": (
        write(answer([INT8], [INT8], "Q2")), expect([INT8], [INT8], "Q2")),
    "a scope that both strategies share needs no digits": (
        write(answer([HEIGHT], [HEIGHT], "Q2"), 3), expect([HEIGHT], [HEIGHT], "Q2")),
    "a change in two scopes is not shared": (
        write({line: (answer([MAC], [], "Q1") if "tensor" in line else answer([], [MAC]))[line]
               for line in LINES}),
        expect([MAC], None, "Q1") | expect(None, [MAC])),
    "in traffic only": (
        write(answer([INPUTS], [INPUTS], "traffic")), expect([INPUTS], [INPUTS], "traffic")),
    "latency only is no scope": (write(answer([INPUTS], [INPUTS], "latency")), {}),
    "a change of both in one strategy": (write(answer([], [MAC])), expect(None, [MAC])),
    # {LAST, ALONE} misses nothing, but two changes need four digits of each number
    "without the digits the next best is told": (
        write(answer([], [LAST]) | {"Q2 pipeline latency": "0.400"}), expect(None, [LAST])),
    # not FEWER and ONE_MORE, which cancel each other out in the right latency
    "a scope is told, not a change that takes another back": (
        write(answer([], [FEWER], "traffic")), expect(None, [FEWER], "traffic")),
    "equals are told with or": (
        write(typed(CHANNELS), 4),
        {of: [({BINARY}, None), ({CHANNELS}, None)] for of in STRATEGIES}),
    "printed units are changes": (
        write({line: RIGHT[line] * (1000 if "latency" in line else Fraction(1, 1000))
               for line in LINES}),
        expect([MS, KB], [MS, KB])),
    "they combine with others": (
        write({line: value * (1000 if "latency" in line else 1)
               for line, value in answer([FP32, ALL], [FP32, LAST]).items()}),
        expect([FP32, ALL, MS], [FP32, LAST, MS])),
    "a constant typed wrong": (write(typed(FAST)), expect([FAST], [FAST])),
    "a constant typed wrong is not combined": (
        write({line: value * (1000 if "latency" in line else 1)
               for line, value in typed("the machine has 8 nodes").items()}), expect(None, [MS])),
    "a constant typed wrong needs two digits more": (
        write(of_tensor(typed("the machine has 8 nodes")), 3), {}),
    "with four it is named": (
        write(of_tensor(typed("the machine has 8 nodes")), 4), expect(["the machine has 8 nodes"])),
    "a constant is typed once: it is not one that the other strategy contradicts": (
        write(answer() | {line: typed("layer 4 has filters of 6 x 6")[line]
                          for line in LINES if line == "Q1 pipeline latency"}), {}),
    "a rate typed a tenth need not be whole": (
        write(typed("links have 0.2 GB/s")), expect(*[["links have 0.2 GB/s"]] * 2)),
    # twice half the right traffic is the right traffic
    "two that cancel each other out are no explanation of the rest": (
        write(RIGHT | INT8_LATENCY), {}),
    "a formula of N inputs may be used for one, too": (
        write(answer([], [SLOTS])), expect(None, [SLOTS])),
    "inputs are as many as Q2's traffic is times Q1's": (
        write(typed(AMOUNT, 24)), expect([AMOUNT], [AMOUNT])),
    # the pipeline's right number is no slip, so that there may be one
    "another line's right number is set aside": (
        write(answer([UNGATHERED]) | {"Q1 tensor traffic": "604160"} | ODD), expect([UNGATHERED])),
    "set aside it is no evidence": (write({**RIGHT, "Q1 tensor traffic": "604160"}), {}),
    "the right Q1 in Q2 is not set aside": (
        write(answer([ONCE], [ONCE])), expect([ONCE], [ONCE])),
    "unless Q1 has Q2's": (
        write({**RIGHT, "Q1 tensor traffic": "61538304", "Q2 tensor traffic": "1923072"}), {}),
    "too few digits are no evidence": (write({**RIGHT, "Q1 tensor latency": "0.0032"}), {}),
    "too few digits agree all the same": (
        write(answer([UNGATHERED]) | {"Q1 tensor latency": "0.0031"}), expect([UNGATHERED])),
    # as N times the slowest stage, also for N = 1, has another Q1
    "right numbers are evidence, too": (write(answer([], [SLOWEST])), expect(None, [SLOWEST])),
    "more digits than ten are a float's noise": (
        write(answer([FP32], [FP32]) | {"Q1 tensor latency": "0.0032212121600000004"}),
        expect([FP32], [FP32])),
    "nothing is the whole of random numbers": (
        write(dict(zip(LINES, ["0.00472", "1357913", "0.0213", "424242",
                               "0.1618", "27182818", "0.3141", "14142135"], strict=True))), {}),
}
# fmt: on


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_the_ways(tmp_path, text, expected):
    status, found = judge(tmp_path, text)
    assert list_ways(found) == expected
    assert status == (0 if text == write(RIGHT) else 1)


def test_a_change_of_both_that_the_other_strategy_contradicts_costs_more(tmp_path):
    """On 3 nodes, shards one at a time take as long as with half the bandwidth."""
    question = THREE_NODES
    one_shard = "a node sends and receives one shard at a time"
    numbers = answer([one_shard], question=question)
    _, found = judge(tmp_path, write(numbers, inputs=5), *THREE_NODES_OPTIONS)
    assert list_ways(found) == expect([one_shard])
    _, found = judge(tmp_path, write(of_tensor(numbers), inputs=5), *THREE_NODES_OPTIONS)
    assert list_ways(found) == {"tensor": [({HALF}, None), ({one_shard}, None)]}


@pytest.mark.parametrize(("one", "other"), [("tensor", "pipeline"), ("Q1", "Q2")])
def test_swapped_numbers_are_other_lines_right_ones(tmp_path, one, other):
    _, found = judge(tmp_path, write(swap(one, other, RIGHT)))
    assert {number["kind"] for number in found["numbers"]} == {"another line's number"}
    assert (found["right"], found["explanations"]) == (0, [])
    for number in found["numbers"]:
        swapped = {one: other, other: one}
        meant = " ".join(swapped.get(word, word) for word in number["line"].split())
        assert meant in number["words"]


@pytest.mark.parametrize("times", [3, 4, 8, 10, 12, 32, 1024, Fraction(1, 8), Fraction(1, 32)])
def test_multiples_of_the_right_number(tmp_path, times):
    for off, unexplained in [(0, []), (1, ["Q1 pipeline latency"])]:
        number = f"{float(RIGHT['Q1 pipeline latency'] * times * (1 + off / 500)):.9g}"
        _, found = judge(tmp_path, write({**RIGHT, "Q1 pipeline latency": number}))
        assert (found["unexplained"], found["explanations"]) == (unexplained, [])


def test_two_digits_are_no_multiple(tmp_path):
    _, found = judge(tmp_path, write({**RIGHT, "Q1 tensor traffic": "3.8e6"}))
    assert found["unexplained"] == ["Q1 tensor traffic"]


@pytest.mark.parametrize("times", [32, 31, 1, 30])
def test_multiples_of_the_own_q1(tmp_path, times):
    numbers = RIGHT | ODD | {"Q2 tensor latency": f"{times * 0.0071234567:.7g}"}
    left = judge(tmp_path, write(numbers))[1]["unexplained"]
    assert left == [line for line in numbers if line in ODD or (times == 30 and line in ODD_BOTH)]


@pytest.mark.parametrize(
    ("own", "number", "kind"),
    [
        ("0.0071234567", "0.2281787", "unexplained"),  # 0.1 % off, more than both roundings
        ("0.0071", "0.2285", "unexplained"),  # within these, but 0.6 % off
        ("0.00712", "0.2280", "follows from Q1"),  # 0.07 % off
        ("0.0071234567", "0.2208271577", "31 times your wrong Q1"),
        ("0.0071234567", "0.0071234567", "the same as your wrong Q1"),
    ],
)
def test_a_number_follows_from_q1_within_roundings_and_a_limit(tmp_path, own, number, kind):
    numbers = {**RIGHT, "Q1 tensor latency": own, "Q2 tensor latency": number}
    kinds = {it["line"]: it["kind"] for it in judge(tmp_path, write(numbers))[1]["numbers"]}
    assert kinds["Q2 tensor latency"] == kind


@pytest.mark.parametrize(
    ("line", "number", "is_told"),
    [
        ("Q1 tensor latency", "0.0071234", True),
        ("Q1 tensor latency", "0.00712345", False),
        ("Q1 tensor traffic", "1500000", False),  # which is exact
    ],
)
def test_of_fewer_than_six_digits_more_may_tell_more(tmp_path, line, number, is_told):
    _, found = judge(tmp_path, write({**RIGHT, line: number}))
    [words] = [it["words"] for it in found["numbers"] if it["line"] == line]
    assert words.startswith("unexplained") and ("more digits" in words) == is_told


@pytest.mark.parametrize(
    ("number", "kind", "words"),
    [
        ("0.00", "zero", "zero: print more digits"),
        ("nan", "no number", "no number"),
        ("-0.1", "no number", "negative"),
    ],
)
def test_what_is_no_number(tmp_path, number, kind, words):
    _, found = judge(tmp_path, write({**RIGHT, "Q1 tensor latency": number}))
    assert (found["numbers"][0]["kind"], found["numbers"][0]["words"]) == (kind, words)


# ------------------------------------------------ a key


@pytest.mark.parametrize(
    ("key", "made", "expected"),
    [
        (answer([], [SENDS]), answer([], [SENDS]), {}),
        ({**RIGHT, "Q2 pipeline latency": "0.159"}, answer([], [SENDS]), {}),  # three digits
        (answer([], [SENDS]), answer([FP32], [FP32, SENDS]), expect([FP32], [FP32])),
        (answer([ALL], [SENDS]), answer([ALL]), expect(None, [f"without the key's: {SENDS}"])),
        (answer([FP32], [FP32]), answer([INT8], [INT8]), expect([INT8], [INT8])),
        (of_tensor(answer([FP32])), answer([FP32], [FP32]), {}),  # what it lacks is read like it
        (of_tensor(answer([FP32], [], "Q2")), answer([FP32], [FP32], "Q2"), {}),
        (of_tensor(answer([UNDIVIDED])), answer([UNDIVIDED]), {}),
        (of_tensor(answer([ALL])), answer([ALL]), {}),  # but a change of tensor parallelism is not
        (
            typed(FAST),
            RIGHT,
            {of: [({f"without the key's: {FAST}"}, None), ({HALF}, None)] for of in STRATEGIES},
        ),
        # in Q2 alone it has the key's reading; mistakes count from there
        (answer([], [SENDS], "Q2"), answer([FP32], [FP32, SENDS]), expect([FP32], [FP32])),
        (answer([FP32], [FP32], "Q2"), answer([FP32], [FP32], "Q2"), {}),
    ],
)
def test_a_key_is_what_is_right(tmp_path, key, made, expected):
    (tmp_path / "key.txt").write_text(write(key))
    status, found = judge(tmp_path, write(made), "--key", str(tmp_path / "key.txt"))
    assert list_ways(found) == expected
    assert (status, found["right"] == found["of"]) == ((1, False) if expected else (0, True))


def test_a_key_has_no_slips(tmp_path):
    """FP32 would make all but one of its numbers."""
    key = answer([FP32], [FP32]) | {"Q2 tensor traffic": RIGHT["Q2 tensor traffic"]}
    (tmp_path / "key.txt").write_text(write(key))
    status, found = judge(tmp_path, write(key), "--key", str(tmp_path / "key.txt"))
    assert (status, found["right"]) == (0, 8)


@pytest.mark.parametrize("only", ["", "Q1", "Q2", "traffic"])
def test_each_key_judges_its_own_text_right(tmp_path, only):
    scopes = ["", "Q1", "Q2", "traffic"]
    for number, change in enumerate(CHANGES):
        if scopes[number % 4] == only:
            clauses = [[change.clause] if of in change.strategies else [] for of in STRATEGIES]
            text = write(answer(*clauses, only), digits=17 if number % 3 else 3)
            (tmp_path / "key.txt").write_text(text)
            status, found = judge(tmp_path, text, "--key", str(tmp_path / "key.txt"))
            assert (status, found["right"]) == (0, 8), change.clause


@pytest.mark.parametrize(
    ("number", "is_right"),
    [
        ("0.0041234567", True),
        ("0.00412", True),
        ("0.004123456749", True),  # agrees in the digits that the key has
        ("0.00312726016", False),
        ("0.00413", False),
        ("0.004124", False),
    ],
)
def test_a_key_that_nothing_explains_is_right_as_it_is_printed(tmp_path, number, is_right):
    """It lacks three lines, which are not judged, and mistakes are not looked for."""
    key = {line: RIGHT[line] for line in LINES[:5]} | {"Q1 tensor latency": "0.0041234567"}
    (tmp_path / "key.txt").write_text(write(key))
    for others in (answer(), answer([], [LAST])):
        numbers = others | {"Q1 tensor latency": number}
        _, found = judge(tmp_path, write(numbers), "--key", str(tmp_path / "key.txt"))
        assert found["of"] == 5 and found["explanations"] == []
        assert (found["numbers"][0]["kind"] == "right") == is_right
    assert [it["kind"] for it in found["numbers"][2:4]] == ["unexplained"] * 2


# ------------------------------------------------ another machine, many cases

OTHER = Question(
    (
        ConvLayer(7, 4, 2, 3, 22, 20),
        ConvLayer(21, 7, 1, 2, 21, 18),
        ConvLayer(7, 21, 3, 1, 21, 17),
    ),
    System(7, 9 * 10**6, 40_000, 10**6, "ring"),
    9,
)
OPTIONS = [
    *("--layer=7,4,2,3,22,20", "--layer=21,7,1,2,21,18", "--layer=7,21,3,1,21,17"),
    *("--nodes=7", "--gops=0.009", "--link-gbs=0.00004", "--topology=ring", "--inputs=9"),
]
OF = {of: [change for change in CHANGES if of in change.strategies] for of in STRATEGIES}


@settings(max_examples=40)
@given(st.data(), st.sampled_from([(LAB, []), (OTHER, OPTIONS)]))
def test_what_is_told_makes_the_numbers(tmp_path_factory, data, case):
    """Whatever is told predicts each number that it claims, in the other way of mistakes.py."""
    question, options = case
    drawn = data.draw(st.lists(st.sampled_from(CHANGES), max_size=2))
    made = {change.thing: change for change in drawn}.values()
    parts = ([change.clause for change in made if of in change.strategies] for of in STRATEGIES)
    numbers = answer(*parts, question=question)
    folder = tmp_path_factory.getbasetemp()
    text = write(numbers, inputs=question.inputs)
    assume(not re.search(r" \d{1,3}\.\d{3} bytes", text))  # KB, or bytes with a point in them
    _, found = judge(folder, text, *options)
    for strategy, ways in list_ways(found).items():
        for clauses, only in ways:
            again = answer(clauses, clauses, only or "", question)
            off = [line for line in numbers if strategy in line and again[line] != numbers[line]]
            assert off == []
    right = answer(question=question)
    made = {line for each in found["explanations"] for line in each["numbers"]}
    for number in found["numbers"]:
        line, digits = number["line"], number["given"].strip("0.").replace(".", "")
        is_other = numbers[line] in right.values()  # right or set aside
        assert line in made or is_other or len(digits) < 6


def test_random_numbers_are_not_explained(tmp_path):
    explained = 0
    for seed in range(25):
        chance = random.Random(seed)
        numbers = {line: RIGHT[line] * Fraction(10 ** chance.uniform(-1, 1)) for line in LINES}
        text = write(numbers, digits=chance.randint(3, 6))
        explained += judge(tmp_path, text)[1]["explanations"] != []
    assert explained <= 1
