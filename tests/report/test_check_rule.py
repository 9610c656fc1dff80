"""report/check/diagnosis.py: which changes explain wrong numbers, and what is not claimed."""

import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab3 import ConvLayer, System
from report.check.changes import CHANGES
from report.question import LAB, Question
from submissions import LINES, STRATEGIES, answer, explain, judge, write

RIGHT = answer()
MAC, INT8, FP32 = "1 MAC is 1 op", "an element is 1 byte (INT8)", "an element is 4 bytes (FP32)"
ALL, LAST = "the last output goes to all nodes", "the last output is sent, too"
UNGATHERED, SPREAD = "the last output is not gathered", "the bytes are spread over all links"
SENDS, ALONE = "a node does not compute while it sends", "inputs do not overlap"
DIVIDED = "computing is divided by the nodes"
SHARED, UNDIVIDED = "the GOPS are shared by all nodes", "computing is not divided by the nodes"
START, ONCE = "the network's input is sent, too", "traffic is that of one input"
INPUTS = "each layer's input is sent, not its output"
ONE_MORE = "N times the slowest stage is added to the first input, not N - 1 times"
FEWER, SLOWEST = "Q2 is of N - 1 inputs", "N inputs take N times the slowest stage"
ODD = {"Q1 tensor latency": "0.0071234567"}  # is nobody's
ODD_BOTH = {**ODD, "Q2 tensor latency": "0.51234567"}


def of_tensor(numbers):
    return {line: numbers[line] for line in numbers if "tensor" in line}


def swap(one, other, numbers):
    """The numbers of lines whose names have one word in place of the other."""
    words = {one: other, other: one}
    return {
        line: numbers[" ".join(words.get(word, word) for word in line.split())] for line in numbers
    }


def told(tensor=None, pipeline=None, only=None):
    """One way per strategy; None: it is not explained."""
    of = {"tensor": tensor, "pipeline": pipeline}
    return {strategy: [({*of[strategy]}, only)] for strategy in of if of[strategy]}


# fmt: off
CASES = {  # why: a submission, what is told
    "right numbers need no change": (write(RIGHT), {}),
    "a change of both strategies is one": (write(answer([MAC], [MAC])), told([MAC], [MAC])),
    "each strategy has its own": (write(answer([ALL], [LAST])), told([ALL], [LAST])),
    "a shared one and one more": (
        write(answer([FP32], [FP32, SENDS])), told([FP32], [FP32, SENDS])),
    "three of different things": (
        write(answer([MAC, START, UNGATHERED], [MAC, START, LAST])),
        told([MAC, START, UNGATHERED], [MAC, START, LAST])),
    "the fewest changes: half the bandwidth is not FP32 with its traffic mended": (
        write(answer(["links have half the bandwidth"], ["links have half the bandwidth"])),
        told(["links have half the bandwidth"], ["links have half the bandwidth"])),
    # one change needs 2 + 2 digits; Q2's are tensor parallelism's Q1 again
    "four digits are evidence of one change": (
        write(answer([SPREAD]), 4), told([SPREAD])),
    "three digits are not": (write(answer([SPREAD]), 3), {}),
    # the pipeline's Q2 is another number: 3 + 3 digits
    "what both strategies share needs two digits each": (
        write(answer([MAC], [MAC]), 3), told([MAC], [MAC])),
    "the pipeline's Q2 is no other number of Q1": (
        write(answer([], [DIVIDED]), 3), told(None, [DIVIDED])),
    "two digits are no evidence": (write(answer([MAC], [MAC]), 2), {}),
    "a scope needs two digits more": (write(answer([SPREAD], [], "Q1"), 4), {}),
    "one wrong number of three digits is never explained": (
        write({**RIGHT, "Q2 pipeline latency": "0.398"}), {}),
    "of four it is": (write({**RIGHT, "Q2 pipeline latency": "0.3979"}), told(None, [ALONE])),
    # of two changes each number needs four
    "two changes of four digits": (write(answer([UNDIVIDED, ALL]), 4), told([UNDIVIDED, ALL])),
    "two changes of three digits": (write(answer([UNDIVIDED, ALL]), 3), {}),
    "a slip is left over": (
        write(answer([INT8], [INT8]) | ODD), told([INT8], [INT8])),
    "two slips in a strategy are none": (
        write(answer([INT8], [INT8]) | ODD_BOTH), told(None, [INT8])),
    "in Q1 only": (
        write(answer([MAC], [MAC], "Q1")), told([MAC], [MAC], "Q1")),
    "in Q2 only": (
        write(answer([INT8], [INT8], "Q2")), told([INT8], [INT8], "Q2")),
    "in traffic only": (
        write(answer([INPUTS], [INPUTS], "traffic")), told([INPUTS], [INPUTS], "traffic")),
    "latency only is no scope": (write(answer([INPUTS], [INPUTS], "latency")), {}),
    "a change of both in one strategy": (write(answer([], [MAC])), told(None, [MAC])),
    # {LAST, ALONE} misses nothing, but two changes need four digits of each number
    "without the digits the next best is told": (
        write(answer([], [LAST]) | {"Q2 pipeline latency": "0.400"}), told(None, [LAST])),
    "one change in a scope and two everywhere cost the same": (
        write(answer([], [FEWER], "traffic")),
        {"pipeline": [({FEWER}, "traffic"), ({FEWER, ONE_MORE}, None)]}),
    # no pipeline that contradicts the first; with its right numbers the second costs less
    "equals are told with or": (
        write(of_tensor(answer([UNDIVIDED]))),
        {"tensor": [({SHARED}, None), ({UNDIVIDED}, None)]}),
    "a change of both that the other strategy contradicts costs more": (
        write(answer([UNDIVIDED])), told([UNDIVIDED])),
    # the pipeline's right number is no slip, so that there may be one
    "another line's right number is set aside": (
        write(answer([UNGATHERED]) | {"Q1 tensor traffic": "604160"} | ODD), told([UNGATHERED])),
    "set aside it is no evidence": (write({**RIGHT, "Q1 tensor traffic": "604160"}), {}),
    "the right Q1 in Q2 is not set aside": (
        write(answer([ONCE], [ONCE])), told([ONCE], [ONCE])),
    "unless Q1 has Q2's": (
        write({**RIGHT, "Q1 tensor traffic": "61538304", "Q2 tensor traffic": "1923072"}), {}),
    "too few digits are no evidence": (write({**RIGHT, "Q1 tensor latency": "0.0032"}), {}),
    "too few digits agree all the same": (
        write(answer([UNGATHERED]) | {"Q1 tensor latency": "0.0031"}), told([UNGATHERED])),
    # as N times the slowest stage, also for N = 1, has another Q1
    "right numbers are evidence, too": (write(answer([], [SLOWEST])), told(None, [SLOWEST])),
    "more digits than ten are a float's noise": (
        write(answer([FP32], [FP32]) | {"Q1 tensor latency": "0.0032212121600000004"}),
        told([FP32], [FP32])),
    "nothing is the whole of random numbers": (
        write(dict(zip(LINES, ["0.00472", "1357913", "0.0213", "424242",
                               "0.1618", "27182818", "0.3141", "14142135"], strict=True))), {}),
}
# fmt: on


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_what_is_told(tmp_path, text, expected):
    status, found = judge(tmp_path, text)
    assert explain(found) == expected
    assert found["swapped"] == []
    assert status == (0 if text == write(RIGHT) else 1)


@pytest.mark.parametrize(("one", "other"), [("tensor", "pipeline"), ("Q1", "Q2")])
def test_swapped_lines(tmp_path, one, other):
    for clauses, slip in [((), {}), ((MAC,), {}), ((), ODD)]:
        numbers = swap(one, other, answer(clauses, clauses)) | slip
        _, found = judge(tmp_path, write(numbers))
        assert (found["swapped"], found["right"]) == ([one, other], 0)
        assert explain(found) == told(clauses, clauses)
    assert judge(tmp_path, write(numbers | ODD_BOTH))[1]["swapped"] == []


@pytest.mark.parametrize("clauses", [[], [FP32]])
@pytest.mark.parametrize(("kind", "times"), [("latency", 1000), ("latency", 10**6)])
def test_a_unit_that_is_not_named(tmp_path, kind, times, clauses):
    numbers = answer(clauses, clauses)
    numbers = {line: numbers[line] * (times if kind in line else 1) for line in numbers}
    status, found = judge(tmp_path, write(numbers))
    assert status == 1 and found["units"]
    assert explain(found) == told(clauses, clauses)


def test_numbers_far_from_the_right_ones_are_in_no_other_unit(tmp_path):
    for factor in (13_000, 49):
        numbers = {line: RIGHT[line] * (factor if "latency" in line else 1) for line in RIGHT}
        assert not judge(tmp_path, write(numbers))[1]["units"]


@pytest.mark.parametrize("times", [3, 4, 8, 10, 12, 32, 1000, Fraction(1, 3), Fraction(1, 32)])
def test_multiples_of_the_right_number(tmp_path, times):
    for off, unexplained in [(0, []), (1, ["Q1 tensor latency"])]:
        number = f"{float(RIGHT['Q1 tensor latency'] * times * (1 + off / 500)):.9g}"
        _, found = judge(tmp_path, write({**RIGHT, "Q1 tensor latency": number}))
        assert (found["unexplained"], found["explanations"]) == (unexplained, [])


@pytest.mark.parametrize("times", [32, 31, 1, 30])
def test_multiples_of_the_own_q1(tmp_path, times):
    numbers = RIGHT | ODD | {"Q2 tensor latency": f"{times * 0.0071234567:.7g}"}
    left = judge(tmp_path, write(numbers))[1]["unexplained"]
    assert left == [line for line in numbers if line in ODD or (times == 30 and line in ODD_BOTH)]


# ------------------------------------------------ a key


@pytest.mark.parametrize(
    ("key", "made", "expected"),
    [
        (answer([], [SENDS]), answer([], [SENDS]), {}),
        ({**RIGHT, "Q2 pipeline latency": "0.159"}, answer([], [SENDS]), {}),  # three digits
        (answer([], [SENDS]), answer([FP32], [FP32, SENDS]), told([FP32], [FP32])),
        (answer([ALL], [SENDS]), answer([ALL]), told(None, [f"without the key's: {SENDS}"])),
        (answer([FP32], [FP32]), answer([INT8], [INT8]), told([INT8], [INT8])),
        (of_tensor(answer([FP32])), answer([FP32], [FP32]), {}),  # what it lacks is read like it
    ],
)
def test_a_key_is_what_is_right(tmp_path, key, made, expected):
    (tmp_path / "key.txt").write_text(write(key))
    status, found = judge(tmp_path, write(made), "--key", str(tmp_path / "key.txt"))
    assert explain(found) == expected
    assert (status, found["right"] == found["of"]) == ((1, False) if expected else (0, True))


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
    _, found = judge(folder, write(numbers, inputs=question.inputs), *options)
    for strategy, ways in explain(found).items():
        for clauses, only in ways:
            again = answer(clauses, clauses, only or "", question)
            off = [line for line in numbers if strategy in line and again[line] != numbers[line]]
            assert off == []
    right = answer(question=question)
    others = {line for line in numbers if numbers[line] in right.values()}  # right or set aside
    assert {line for line in numbers if line not in others} <= {
        line for each in found["explanations"] for line in each["numbers"]
    }


def test_random_numbers_are_not_explained(tmp_path):
    explained = 0
    for seed in range(50):
        chance = random.Random(seed)
        numbers = {line: RIGHT[line] * Fraction(10 ** chance.uniform(-1, 1)) for line in LINES}
        text = write(numbers, digits=chance.randint(3, 6))
        explained += judge(tmp_path, text)[1]["explanations"] != []
    assert explained <= 1
