"""report/check/diagnosis.py and judge.py: which mistakes explain wrong numbers, and what is not
claimed."""

import random
from fractions import Fraction

import pytest

pytest.importorskip("numpy")

import mistakes
from lab3 import ConvLayer, System
from machines import LAB
from report.check.mistakes import MISTAKES, list_constants
from report.question import Question
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
MS = "latency is 1,000 times that, as if ms were printed as seconds"
KB = "KB are printed as bytes"
HALF = "links have half the bandwidth"
FAST, FEWER = "links have 4 GB/s", "Q2 is of 24 inputs"
BINARY, CHANNELS = "GB/s are 2^30 bytes/s", "layer 4 has 127 input channels"
ONCE = "traffic is that of one input"
SLOTS = "N inputs take (N + layers - 1) times the slowest stage, also for N = 1"
SLOWEST = "N inputs take N times the slowest stage"
ONE_LESS = "N - 2 times the slowest stage is added to the first input, not N - 1 times"
SHARED = "a node's links share the bandwidth of one"
NOTHING = "communication takes no time"
LONGER = "a layer takes the longer of computing and sending, not both"
ODD = {"Q1 tensor latency": "0.0071234567"}  # is nobody's
ODD_BOTH = {**ODD, "Q2 tensor latency": "0.51234567"}


def of_tensor(numbers):
    return {line: numbers[line] for line in numbers if "tensor" in line}


def typed(clause):
    """Compute the numbers of somebody who types a constant of the lab wrong."""
    network, system, _ = LAB
    layer = network[3]
    questions = {
        FAST: LAB._replace(system=system._replace(link_bytes_per_s=4 * 10**9)),
        "links have 0.2 GB/s": LAB._replace(system=system._replace(link_bytes_per_s=2 * 10**8)),
        CHANNELS: LAB._replace(network=(*network[:3], layer._replace(in_channels=127))),
        "layer 4 has filters of 6 x 6": LAB._replace(
            network=(*network[:3], layer._replace(fx=6, fy=6))
        ),
        "the machine has 8 nodes": LAB._replace(system=system._replace(nodes=8)),
        "Q2 is of 16 inputs": LAB._replace(inputs=16),
    }
    assert clause in {it.clause for it in list_constants(LAB)}
    return answer(question=questions[clause])


def swap(one, other, numbers):
    """Give each line the number of the line that has one word in place of the other."""
    words = {one: other, other: one}
    return {
        line: numbers[" ".join(words.get(word, word) for word in line.split())] for line in numbers
    }


def multiply(kind, factor, numbers=RIGHT):
    """Multiply the numbers whose line has a word."""
    return {line: value * factor if kind in line else value for line, value in numbers.items()}


def expect(tensor=None, pipeline=None):
    """Expect one way for each strategy; None: it is not explained."""
    of = {"tensor": tensor, "pipeline": pipeline}
    return {strategy: [{*of[strategy]}] for strategy in of if of[strategy]}


# fmt: off
CASES = {  # why: a submission, its ways
    "right numbers need no mistake": (write(RIGHT), {}),
    "a mistake of both strategies is one": (write(answer([MAC], [MAC])), expect([MAC], [MAC])),
    "each strategy has its own": (write(answer([ALL], [LAST])), expect([ALL], [LAST])),
    "a shared one and one more": (
        write(answer([FP32], [FP32, SENDS])), expect([FP32], [FP32, SENDS])),
    "three are not looked for": (
        write(answer([MAC, FP32, UNGATHERED], [MAC, FP32])), expect(None, [MAC, FP32])),
    "the fewest mistakes: half the bandwidth is not FP32 with its traffic mended": (
        write(answer([HALF], [HALF])), expect([HALF], [HALF])),
    # one mistake needs 2 + 2 digits; Q2's are tensor parallelism's Q1 again
    "four digits are evidence of one mistake": (
        write(answer([SPREAD]), 4), expect([SPREAD])),
    "three digits are not": (write(answer([SPREAD]), 3), {}),
    # the pipeline's Q2 is another number: 3 + 3 digits
    "what both strategies share needs two digits each": (
        write(answer([MAC], [MAC]), 3), expect([MAC], [MAC])),
    "the pipeline's Q2 is no other number of Q1": (
        write(answer([], [DIVIDED]), 3), expect(None, [DIVIDED])),
    "two digits are no evidence": (write(answer([MAC], [MAC]), 2), {}),
    "one wrong number of three digits is never explained": (
        write({**RIGHT, "Q2 pipeline latency": "0.398"}), {}),
    "of four it is": (write({**RIGHT, "Q2 pipeline latency": "0.3979"}), expect(None, [ALONE])),
    "a lone number that may be a slip in the last of four digits is not": (
        write({**RIGHT, "Q2 pipeline latency": "0.1555"}), {}),
    "with five it is": (
        write({**RIGHT, "Q2 pipeline latency": "0.15548"}),
        expect(None, ["Q2's latency leaves out sending"])),
    # of two mistakes each number needs four
    "two mistakes of four digits": (
        write(answer([UNDIVIDED, ALL]), 4), expect([UNDIVIDED, ALL])),
    "two mistakes of three digits": (write(answer([UNDIVIDED, ALL]), 3), {}),
    "a slip is left over": (
        write(answer([INT8], [INT8]) | ODD), expect([INT8], [INT8])),
    "two slips in a strategy are none": (
        write(answer([INT8], [INT8]) | ODD_BOTH), expect(None, [INT8])),
    "beside two mistakes there is no slip": (
        write(answer([UNDIVIDED, ALL]) | ODD), {}),
    "a mistake that a right number contradicts is none": (
        write(answer([MAC], []) | {"Q2 tensor latency": RIGHT["Q2 tensor latency"]}), {}),
    "a mistake of both in one strategy": (write(answer([], [MAC])), expect(None, [MAC])),
    # {LAST, ALONE} leaves nothing, but two mistakes need four digits of each number
    "without the digits the next best is told": (
        write(answer([], [LAST]) | {"Q2 pipeline latency": "0.400"}), expect(None, [LAST])),
    "equals are told with or": (
        write(typed(CHANNELS), 4),
        {of: [{BINARY}, {CHANNELS}] for of in STRATEGIES}),
    "on the lab, no layer sends longer than it computes": (
        write(answer([NOTHING])), {"tensor": [{NOTHING}, {LONGER}]}),
    "forgotten for both, it is one mistake": (
        write(answer([NOTHING], [NOTHING])), expect([NOTHING], [NOTHING])),
    "printed units are mistakes": (
        write(multiply("latency", 1000, multiply("traffic", Fraction(1, 1000)))),
        expect([MS, KB], [MS, KB])),
    "they combine with others": (
        write(multiply("latency", 1000, answer([FP32], [FP32]))), expect([FP32, MS], [FP32, MS])),
    "a multiple": (
        write(multiply("tensor latency", 3)), expect(["latency is 3 times the right one"])),
    "a part": (
        write(multiply("pipeline traffic", Fraction(1, 3))),
        expect(None, ["traffic is 1/3 of the right one"])),
    "a multiple is not combined": (
        write(multiply("tensor latency", 3, answer([ALL]))), {}),
    "a constant typed wrong": (write(typed(FAST)), expect([FAST], [FAST])),
    "a constant typed wrong is not combined": (
        write(multiply("tensor latency", 7, typed("the machine has 8 nodes"))), {}),
    "a constant typed wrong needs two digits more": (
        write(of_tensor(typed("the machine has 8 nodes")), 3), {}),
    "with four it is named": (
        write(of_tensor(typed("the machine has 8 nodes")), 4), expect(["the machine has 8 nodes"])),
    "a constant is typed once: it is not one that the other strategy contradicts": (
        write(answer() | {line: typed("layer 4 has filters of 6 x 6")[line]
                          for line in LINES if line == "Q1 pipeline latency"}), {}),
    "a rate typed a tenth need not be whole": (
        write(typed("links have 0.2 GB/s")), expect(*[["links have 0.2 GB/s"]] * 2)),
    "another amount of inputs": (
        write(typed("Q2 is of 16 inputs")), expect(*[["Q2 is of 16 inputs"]] * 2)),
    # all but one of N - 1 inputs, and Q1's traffic: 32 times as much, as it should be
    "two that cancel each other out in a right number are none": (
        write(RIGHT | {"Q2 pipeline latency": Fraction("0.15116191744")}),
        expect(None, [ONE_LESS])),
    "a formula of N inputs may be used for one, too": (
        write(answer([], [SLOTS])), expect(None, [SLOTS])),
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


def test_a_mistake_of_both_that_the_other_strategy_contradicts_costs_more(tmp_path):
    """On 3 nodes, shards one at a time take as long as with half the bandwidth of each link."""
    question = THREE_NODES
    one_shard = "a node sends and receives one shard at a time"
    numbers = answer([one_shard], question=question)
    _, found = judge(tmp_path, write(numbers, inputs=5), *THREE_NODES_OPTIONS)
    assert list_ways(found) == expect([one_shard])
    _, found = judge(tmp_path, write(of_tensor(numbers), inputs=5), *THREE_NODES_OPTIONS)
    assert list_ways(found) == {"tensor": [{HALF}, {SHARED}, {one_shard}]}


@pytest.mark.parametrize(("one", "other"), [("tensor", "pipeline"), ("Q1", "Q2")])
def test_swapped_numbers_are_other_lines_right_ones(tmp_path, one, other):
    _, found = judge(tmp_path, write(swap(one, other, RIGHT)))
    assert {number["kind"] for number in found["numbers"]} == {"another line's number"}
    assert (found["right"], found["explanations"]) == (0, [])
    for number in found["numbers"]:
        swapped = {one: other, other: one}
        meant = " ".join(swapped.get(word, word) for word in number["line"].split())
        assert meant in number["words"]


@pytest.mark.parametrize("times", [2, 3, 4, 8, 10, 12, 32, 1024])
@pytest.mark.parametrize("kind", ["latency", "traffic"])
def test_a_strategys_numbers_may_be_multiples_of_the_right_ones(tmp_path, kind, times):
    for factor in (Fraction(times), Fraction(1, times)):
        for off in (0, 1):
            numbers = multiply(f"tensor {kind}", factor * (1 + Fraction(off, 333)))
            told = {clause for it in list_ways(judge(tmp_path, write(numbers))[1]).values()
                    for way in it for clause in way}  # fmt: skip
            assert any("the right one" in clause for clause in told) <= (off == 0)
            assert bool(told) == (off == 0), (told, factor)


@pytest.mark.parametrize(
    ("own", "number", "kind"),
    [
        ("0.0071234567", "0.2279506144", "follows from Q1"),  # 32 times
        ("0.0071234567", "0.2281787", "unexplained"),  # 0.1 % off, more than both roundings
        ("0.0071", "0.2285", "unexplained"),  # within these, but 0.6 % off
        ("0.00712", "0.2280", "follows from Q1"),  # 0.07 % off
        ("0.0071234567", "0.2208271577", "unexplained"),  # 31 times
        ("0.0071234567", "0.0071234567", "the same as your wrong Q1"),
    ],
)
def test_a_number_follows_from_q1_within_roundings_and_a_limit(tmp_path, own, number, kind):
    numbers = {**RIGHT, "Q1 tensor latency": own, "Q2 tensor latency": number}
    kinds = {it["line"]: it["kind"] for it in judge(tmp_path, write(numbers))[1]["numbers"]}
    assert kinds["Q2 tensor latency"] == kind


def test_the_pipelines_latency_does_not_follow_from_q1(tmp_path):
    numbers = {
        **RIGHT,
        "Q1 pipeline latency": "0.0171234567",
        "Q2 pipeline latency": "0.5479506144",
    }
    kinds = {it["line"]: it["kind"] for it in judge(tmp_path, write(numbers))[1]["numbers"]}
    assert kinds["Q2 pipeline latency"] == "unexplained"


@pytest.mark.parametrize(
    ("line", "number", "is_told"),
    [
        ("Q1 tensor latency", "0.007123", True),
        ("Q1 tensor latency", "0.0071234", False),
        ("Q1 tensor traffic", "1500000", False),  # which is exact
    ],
)
def test_of_four_digits_or_fewer_more_may_tell_more(tmp_path, line, number, is_told):
    _, found = judge(tmp_path, write({**RIGHT, line: number}))
    [words] = [it["words"] for it in found["numbers"] if it["line"] == line]
    assert words.startswith("unexplained") and ("more digits" in words) == is_told


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("0.007123456", "unexplained, 2.28 times the right number"),
        ("0.0032", "unexplained, 2.3 % too long"),
        ("0.00300", "unexplained, 4.1 % too short"),
        ("0.0000000003", "unexplained, 9.59e-8 times the right number"),
    ],
)
def test_how_far_a_number_is_off(tmp_path, number, words):
    _, found = judge(tmp_path, write({**RIGHT, "Q1 tensor latency": number}))
    assert found["numbers"][0]["words"].startswith(words)


@pytest.mark.parametrize(
    ("number", "kind", "words"),
    [
        ("0.00", "zero", "zero: print more digits"),
        ("nan", "no number", "no number"),
        ("-0.1", "negative", "negative"),
    ],
)
def test_what_is_no_number(tmp_path, number, kind, words):
    _, found = judge(tmp_path, write({**RIGHT, "Q1 tensor latency": number}))
    assert (found["numbers"][0]["kind"], found["numbers"][0]["words"]) == (kind, words)


# ------------------------------------------------ a key


def ignore(clause):
    return f'the course\'s "{clause}" is not followed'


@pytest.mark.parametrize(
    ("key", "made", "expected"),
    [
        (answer([], [SENDS]), answer([], [SENDS]), {}),
        ({**RIGHT, "Q2 pipeline latency": "0.159"}, answer([], [SENDS]), {}),  # three digits
        (answer([], [SENDS]), answer([FP32], [FP32, SENDS]), expect([FP32], [FP32])),
        (answer([ALL], [SENDS]), answer([ALL]), expect(None, [ignore(SENDS)])),
        (
            answer([MAC], [MAC, SENDS]),  # two readings
            RIGHT,
            expect([ignore(MAC)], [ignore(MAC), ignore(SENDS)]),
        ),
        # a mistake takes the place of the course's reading of the same thing
        (answer([FP32], [FP32]), answer([INT8], [INT8]), expect([INT8], [INT8])),
        # each strategy for itself: what a key lacks is read as this project reads it
        (of_tensor(answer([FP32])), answer([FP32]), {}),
        (of_tensor(answer([UNDIVIDED])), answer([UNDIVIDED], [LAST]), expect(None, [LAST])),
        (of_tensor(answer([ALL])), answer([ALL]), {}),
        (
            typed(FAST),
            RIGHT,
            {of: [{ignore(FAST)}, {HALF}] for of in STRATEGIES},
        ),
    ],
)
def test_a_key_is_what_is_right(tmp_path, key, made, expected):
    (tmp_path / "key.txt").write_text(write(key), encoding="utf-8")
    status, found = judge(tmp_path, write(made), "--key", str(tmp_path / "key.txt"))
    assert list_ways(found) == expected
    assert (status, found["right"] == found["of"]) == ((1, False) if expected else (0, True))


def test_a_key_has_no_slips(tmp_path):
    """FP32 would make all but one of its numbers."""
    key = answer([FP32], [FP32]) | {"Q2 tensor traffic": RIGHT["Q2 tensor traffic"]}
    (tmp_path / "key.txt").write_text(write(key), encoding="utf-8")
    status, found = judge(tmp_path, write(key), "--key", str(tmp_path / "key.txt"))
    assert (status, found["right"]) == (0, 8)


def test_each_key_judges_its_own_text_right(tmp_path):
    for number, mistake in enumerate(MISTAKES):
        clauses = [[mistake.clause] if of in mistake.strategies else [] for of in STRATEGIES]
        text = write(answer(*clauses), digits=17 if number % 3 else 3)
        (tmp_path / "key.txt").write_text(text, encoding="utf-8")
        status, found = judge(tmp_path, text, "--key", str(tmp_path / "key.txt"))
        zeros = sum(it["kind"] == "zero" for it in found["numbers"])
        assert (status, found["right"]) == (bool(zeros), 8 - zeros), mistake.clause


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
def test_of_a_strategy_that_nothing_explains_a_keys_numbers_are_right(tmp_path, number, is_right):
    """It lacks two of the pipeline's lines, which are known all the same."""
    key = {line: RIGHT[line] for line in LINES[:6]} | {"Q1 tensor latency": "0.0041234567"}
    (tmp_path / "key.txt").write_text(write(key), encoding="utf-8")
    numbers = answer([UNGATHERED], [LAST]) | {"Q1 tensor latency": number}
    _, found = judge(tmp_path, write(numbers), "--key", str(tmp_path / "key.txt"))
    assert found["of"] == 8 and list_ways(found) == expect(None, [LAST])
    assert (found["numbers"][0]["kind"] == "right") == is_right
    assert found["numbers"][1]["words"] == "unexplained, 5.8 % too few bytes"


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


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda it: it.clause)
@pytest.mark.parametrize("case", [(LAB, []), (OTHER, OPTIONS)], ids=["lab", "other"])
def test_what_is_told_makes_the_numbers(tmp_path, mistake, case):
    """Whatever is told predicts each number that it claims, by the formulas of mistakes.py."""
    question, options = case
    made = [[mistake.clause] if of in mistake.strategies else [] for of in STRATEGIES]
    numbers = answer(*made, question=question)
    _, found = judge(tmp_path, write(numbers, inputs=question.inputs), *options)
    for strategy, ways in list_ways(found).items():
        for clauses in ways:
            if clauses <= {*mistakes.LINES[strategy]}:  # no constant or multiple
                again = answer(*(clauses if of == strategy else () for of in STRATEGIES), question)
                off = [
                    line for line in numbers if strategy in line and again[line] != numbers[line]
                ]
                assert off == []
    right = answer(question=question)
    told = {line for each in found["explanations"] for line in each["numbers"]}
    for number in found["numbers"]:
        value, digits = numbers[number["line"]], number["given"].strip("0.").replace(".", "")
        is_other = value in right.values() or value == 0  # right, set aside, or none
        is_other = is_other or number["kind"] == "right"  # 135.282 bytes may be 135,282
        assert number["line"] in told or is_other or len(digits) < 6


def test_random_numbers_are_not_explained(tmp_path):
    explained = 0
    for seed in range(25):
        chance = random.Random(seed)
        numbers = {line: RIGHT[line] * Fraction(10 ** chance.uniform(-1, 1)) for line in LINES}
        text = write(numbers, digits=chance.randint(3, 6))
        explained += judge(tmp_path, text)[1]["explanations"] != []
    assert explained == 0
