"""report/check/diagnosis.py and judge.py: which mistakes explain wrong numbers, and what is not
claimed. Numbers that a case does not name are the lab's right ones."""

import json
import random
from fractions import Fraction
from pathlib import Path

import pytest

import lab3
from report.check.diagnosis import Explanation
from report.check.judge import judge, list_causes
from report.check.mistakes import Mistake
from report.check.submission import Line
from report.check.words import describe_cause
from report.question import Question
from submissions import LINES, OUTPUT, find_causes, find_words, write

MADE = json.loads((Path(__file__).parent / "mistakes.json").read_text(encoding="utf-8"))

# ------------------------------------------------ 1: what an explanation is

MAC = {
    "Q1 tensor latency": "0.00161060608",
    "Q1 pipeline latency": "0.00636869632",
    "Q2 tensor latency": "0.05153939456",
    "Q2 pipeline latency": "0.0780441088",
}
FP32 = {
    "Q1 tensor latency": "0.00322121216",
    "Q1 tensor traffic": "3846144",
    "Q1 pipeline latency": "0.01273739264",
    "Q1 pipeline traffic": "1208320",
    "Q2 tensor latency": "0.10307878912",
    "Q2 tensor traffic": "123076608",
    "Q2 pipeline latency": "0.1560882176",
    "Q2 pipeline traffic": "38666240",
}
UNGATHERED = {  # 18.432 us and 110,592 bytes less
    "Q1 tensor latency": "0.00310882816",
    "Q1 tensor traffic": "1812480",
    "Q2 tensor latency": "0.09948250112",
    "Q2 tensor traffic": "57999360",
}


def test_one_mistake_of_one_strategy_or_of_both():
    assert find_causes(write(MAC)) == ["both strategies: 1 MAC is 1 op"]
    pipeline = {line: number for line, number in MAC.items() if "pipeline" in line}
    assert find_causes(write(pipeline)) == ["pipeline parallelism: 1 MAC is 1 op"]


def test_two_mistakes_one_of_which_both_share():
    """The pipeline's interval is layer 2's 4,624.22016 us, and 200.704 us of sending it."""
    assert find_causes(write(FP32 | {"Q2 pipeline latency": "0.1623100416"})) == [
        "both strategies: an element is 4 bytes (FP32)",
        "pipeline parallelism: a node does not compute while it sends",
    ]


def test_a_right_number_contradicts():
    assert find_causes(write({"Q1 tensor latency": "0.00161060608"})) == []


def test_one_mistake_may_leave_a_slip_but_not_two():
    slip = {"Q1 tensor latency": "0.0071234567"}
    assert find_causes(write(UNGATHERED | slip)) == [
        "tensor parallelism: the last output is not gathered"
    ]
    assert find_causes(write(UNGATHERED | slip | {"Q2 tensor latency": "0.51234567"})) == []


def test_two_mistakes_leave_none():
    """The last output goes to all nodes, and each node computes all: 12.13323264 + 0.093952 ms."""
    two = {
        "Q1 tensor latency": "0.01222718464",
        "Q1 tensor traffic": "2254848",
        "Q2 tensor latency": "0.39126990848",
        "Q2 tensor traffic": "72155136",
    }
    assert find_causes(write(two)) == [
        "tensor parallelism: the last output goes to all nodes and computing is not divided by the"
        " nodes"
    ]
    assert find_causes(write(two | {"Q1 tensor latency": "0.0071234567"})) == []


def test_each_mistake_has_a_part():
    """Of 33 inputs is the latency, 33 * 3.12726016 ms; that traffic is of one less makes it right,
    but makes no wrong number."""
    assert find_causes(write({"Q2 tensor latency": "0.10319958528"})) == []


def test_a_number_of_fewer_than_three_digits_is_no_evidence():
    assert find_causes(write({"Q1 tensor latency": "0.0031"} | UNGATHERED)) != []
    short = {line: f"{float(number):.2g}" for line, number in MAC.items()}
    assert find_causes(write(short)) == []


# ------------------------------------------------ 2: both strategies

NO_SENDS = {  # 93.952 us less per input; 302.08 us less
    "Q1 tensor latency": "0.00303330816",
    "Q2 tensor latency": "0.09706586112",
    "Q1 pipeline latency": "0.01213323264",
    "Q2 pipeline latency": "0.1554840576",
}
UNDIVIDED = {"Q1 tensor latency": "0.01222718464", "Q2 tensor latency": "0.39126990848"}


def test_equals_are_told_with_or():
    """No layer of the lab takes longer to send than to compute."""
    assert find_causes(write(NO_SENDS)) == [
        "both strategies: communication takes no time, or a layer takes the longer of computing and"
        " sending, not both"
    ]


def test_what_both_share_counts_once():
    """FP32 alone, not half the bandwidth with other traffic, which is as good for latencies."""
    no_traffic = {line: None for line in LINES if "traffic" in line}
    assert find_causes(write(FP32)) == ["both strategies: an element is 4 bytes (FP32)"]
    assert find_causes(write(FP32 | no_traffic)) == [
        "both strategies: an element is 4 bytes (FP32), or links have half the bandwidth"
    ]


def test_what_the_other_strategy_contradicts_counts_twice():
    alone = "tensor parallelism: computing is not divided by the nodes"
    assert find_causes(write(UNDIVIDED)) == [alone]
    no_pipeline = {line: None for line in LINES if "pipeline" in line}
    assert find_causes(write(UNDIVIDED | no_pipeline)) == [
        "tensor parallelism: all nodes together have the GOPS of one, or computing is not divided"
        " by the nodes"
    ]


def test_layers_are_of_one_size_in_both_strategies():
    """FP32 and 1 MAC is 1 op; tensor parallelism also does not divide computing, which as "1 MAC is
    4 ops" could be explained."""
    third = {"Q1 tensor latency": "0.006255", "Q2 tensor latency": "0.2002"}
    pipeline = {"Q1 pipeline latency": "0.006671", "Q2 pipeline latency": "0.07835"}
    causes = find_causes(write(FP32 | third | pipeline))
    assert causes == [
        "pipeline parallelism: an element is 4 bytes (FP32) and 1 MAC is 1 op",
    ]


def test_causes_of_different_numbers_are_no_alternatives():
    numbers = {"Q1 pipeline latency": "0.00462422016", "Q2 pipeline latency": "0.39793000448"}
    assert find_causes(write(numbers)) == [
        "pipeline parallelism: inputs do not overlap",
        "pipeline parallelism: one input takes as long as the slowest stage",
    ]


def test_alternatives_that_do_not_go_together_are_told_whole():
    a, b, c, d = (Mistake(clause, f"{clause} = 1") for clause in "abcd")
    line = Line("Q1", "tensor", "latency")

    def pair(tensor, pipeline):
        return Explanation(("tensor",), tensor, (line,)), Explanation(("pipeline",), pipeline)

    assert [*map(describe_cause, list_causes([pair((a, b), (a,)), pair((c,), (d,))]))] == [
        "both strategies: a; tensor parallelism: b, or tensor parallelism: c; pipeline"
        " parallelism: d"
    ]
    of_one = [pair((mistake,), ()) for mistake in (a, b, c, d)]
    assert [*map(describe_cause, list_causes(of_one))] == [
        "tensor parallelism: a, or b, or c (and 1 more)"
    ]


# ------------------------------------------------ 3: digits

TENSOR, PIPELINE = "tensor parallelism: ", "pipeline parallelism: "
DIGITS = [
    # one mistake needs 4; those of Q2 are Q1's again, but not the pipeline's
    ({"Q1 tensor latency": "0.01223", "Q2 tensor latency": "0.3913"}, "not divided"),
    ({"Q1 tensor latency": "0.0122", "Q2 tensor latency": "0.391"}, ""),
    ({"Q1 pipeline latency": "0.00334", "Q2 pipeline latency": "0.0392"}, "is divided"),
    # two need 6
    (
        {"Q1 tensor latency": "0.0124151", "Q2 tensor latency": "0.397283"},
        "one shard at a time and",
    ),
    ({"Q1 tensor latency": "0.012415", "Q2 tensor latency": "0.39728"}, ""),
    # one that both strategies share needs 2, of a number that has 3
    ({line: f"{float(number):.3g}" for line, number in MAC.items()}, "1 MAC is 1 op"),
    # the only one that explains a strategy needs 3
    ({"Q2 pipeline latency": "0.398"}, "inputs do not overlap"),
    ({"Q2 pipeline latency": "0.40"}, ""),
    # one more if it may be a slip of the pen: 0.1555 for 0.1558, and 0.00311 for 0.00313
    ({"Q2 pipeline latency": "0.1555"}, ""),
    ({"Q2 pipeline latency": "0.15548"}, "Q2's latency leaves out sending"),
    ({"Q1 tensor latency": "0.003113", "Q2 tensor latency": "0.09963"}, "over all links"),
    ({"Q1 tensor latency": "0.00311", "Q2 tensor latency": "0.0996"}, ""),
]


@pytest.mark.parametrize(("numbers", "words"), DIGITS)
def test_an_explanation_needs_digits(numbers, words):
    causes = find_causes(write(numbers))
    assert [words in cause for cause in causes] == ([True] if words else [])


def test_without_digits_the_next_best_is_told():
    """The filters are forgotten in the ops: 23.69772 + 93.952 us; Q2 is of 31 inputs."""
    no_traffic = {"Q1 tensor traffic": None, "Q2 tensor traffic": None}
    two = {"Q1 tensor latency": "0.0001176497", "Q2 tensor latency": "0.003647141"} | no_traffic
    one = {"Q1 tensor latency": "0.000118", "Q2 tensor latency": "0.00365"} | no_traffic
    forgotten = "tensor parallelism: the filters are forgotten in the ops"
    assert find_causes(write(two)) == [f"{forgotten} and Q2 is of N - 1 inputs"]
    assert find_causes(write(one)) == [forgotten]


# ------------------------------------------------ 4: what is told of a number

MORE = "; with more digits it might be explained"
WRONG = {"Q1 tensor latency": "0.0071234567"}


@pytest.mark.parametrize(
    ("numbers", "words"),  # of the last of them
    [
        ({"Q1 tensor latency": "0.0071234"}, "unexplained, 2.28 times the right number"),
        ({"Q1 tensor latency": "0.007123"}, f"unexplained, 2.28 times the right number{MORE}"),
        ({"Q1 tensor latency": "0.0032"}, f"unexplained, 2.3 % too long{MORE}"),
        ({"Q1 tensor latency": "0.00300"}, f"unexplained, 4.1 % too short{MORE}"),
        ({"Q1 tensor traffic": "1600000"}, "unexplained, 17 % too few bytes"),
        ({"Q1 tensor latency": "0.00"}, "'0.00' is no positive number"),
        ({"Q1 tensor latency": "nan"}, "'nan' is no positive number"),
        ({"Q1 tensor latency": "-0.1"}, "'-0.1' is no positive number"),
        ({"Q1 tensor latency": "0.0031"}, "0.0031 agrees, but has too few digits"),
        ({"Q2 tensor traffic": None}, "missing"),
        (
            {"Q2 pipeline traffic": None},
            "missing; the handout's sample lacks it, too, but not its objectives",
        ),
        # 32 times; 0.1 % off, more than the roundings; within them, but 0.6 % off; 0.07 % off
        (WRONG | {"Q2 tensor latency": "0.2279506144"}, "32 times your wrong Q1"),
        (WRONG | {"Q2 tensor latency": "0.2281787"}, "unexplained, 2.28 times the right number"),
        (
            {"Q1 tensor latency": "0.0071", "Q2 tensor latency": "0.2285"},
            f"unexplained, 2.28 times the right number{MORE}",
        ),
        ({"Q1 tensor latency": "0.00712", "Q2 tensor latency": "0.2280"}, "32 times your wrong Q1"),
        (WRONG | {"Q2 tensor latency": "0.0071234567"}, "the same as your wrong Q1"),
        # of the pipeline, 32 times Q1 would be a mistake of its own
        (
            {"Q1 pipeline latency": "0.01712345", "Q2 pipeline latency": "0.5479504"},
            "unexplained, 3.52 times the right number",
        ),
    ],
)
def test_what_is_told_of_a_number(numbers, words):
    *_, last = find_words(write(numbers)).items()
    assert last == ([*numbers][-1], words)


@pytest.mark.parametrize(("one", "other"), [("tensor", "pipeline"), ("Q1", "Q2")])
def test_swapped_numbers_are_other_lines_right_ones(one, other):
    right = dict(
        zip(LINES, (row.split()[-2] for row in OUTPUT.splitlines() if "is" in row), strict=True)
    )
    meant = {line: line.replace(one, "_").replace(other, one).replace("_", other) for line in LINES}
    text = write({line: right[meant[line]] for line in LINES})
    assert find_causes(text) == []
    assert find_words(text) == {line: f"this is {meant[line]}'s right number" for line in LINES}


def test_a_number_of_another_line_is_no_evidence_and_no_slip():
    """Q1's number in Q2 is a mistake, unless Q2's is in Q1."""
    swapped = UNGATHERED | {"Q1 tensor traffic": "604160", "Q1 tensor latency": "0.0071234567"}
    assert find_causes(write(swapped)) == ["tensor parallelism: the last output is not gathered"]
    assert find_causes(
        write({"Q2 tensor traffic": "1923072", "Q2 pipeline traffic": "604160"})
    ) == ["both strategies: traffic is that of one input"]


def test_q2_of_other_inputs_is_the_cause_if_its_numbers_are():
    """64 times; 12.43531264 + 63 * 4.62422016 ms."""
    numbers = {
        "Q2 tensor latency": "0.20014465024",
        "Q2 tensor traffic": "123076608",
        "Q2 pipeline latency": "0.30376118272",
        "Q2 pipeline traffic": "38666240",
    }
    of_64 = OUTPUT.replace("Q2 32 inputs", "Q2 64 inputs")
    assert find_causes(write(numbers, of_64)) == ["both strategies: Q2 is of 64 inputs"]
    assert find_causes(write(numbers)) == []
    assert find_causes(of_64) == []


def test_two_mistakes_are_not_tried_in_more_than_20_layers():
    """Each of 100 nodes does 20,000 ops in 20/3 us, and sends 2 bytes to 99 others in 99 ns."""
    for layers, clauses in ((20, "a node sends and receives one shard at a time and"), (21, "")):
        network = (lab3.ConvLayer(100, 100, 1, 1, 1, 1),) * layers
        question = Question(network, lab3.System(nodes=100, ops_per_s=3 * 10**9), 1)
        latency_s = lab3.format_decimal(layers * Fraction(20_297, 3 * 10**9))
        text = write({"Q1 tensor latency": latency_s}, lab3.answers(*question))
        assert [clauses in it for it in find_causes(text, question)] == [True] * (layers == 20)
        assert any("20 layers" in note for note in judge(text, question).notes) == (layers == 21)


# ------------------------------------------------ a key

NOT_OVERLAPPED = {"Q2 pipeline latency": "0.39793000448"}
IGNORED = 'pipeline parallelism: the course\'s "inputs do not overlap" is not followed'
CLOSE = {"Q1 tensor traffic": "1923456"}  # which no mistake makes


@pytest.mark.parametrize(
    ("key", "numbers", "causes", "right"),
    [
        ({}, {}, [], 8),
        (NOT_OVERLAPPED, NOT_OVERLAPPED, [], 8),
        (NOT_OVERLAPPED, {}, [IGNORED], 7),
        (NOT_OVERLAPPED, MAC, ["both strategies: 1 MAC is 1 op", IGNORED], 4),
        ({"Q2 pipeline latency": "0.3979"}, NOT_OVERLAPPED, [], 8),
        # three digits tell no reading, but are right
        ({"Q2 pipeline latency": "0.398"}, NOT_OVERLAPPED, [], 8),
        ({"Q2 pipeline latency": "0.398"}, {}, [], 7),
        # two readings; a mistake takes the place of one that edits the same
        (
            FP32 | {"Q2 pipeline latency": "0.1623100416"},
            {},
            [
                'both strategies: the course\'s "an element is 4 bytes (FP32)" is not followed',
                'pipeline parallelism: the course\'s "a node does not compute while it sends" is not'
                " followed",
            ],
            0,
        ),
        # each strategy for itself: what a key lacks is read as lab3.py does
        ({line: None for line in LINES if "pipeline" in line}, {}, [], 8),
        # a key has no slips
        (CLOSE, CLOSE, [], 8),
        (CLOSE, CLOSE | NOT_OVERLAPPED, ["pipeline parallelism: inputs do not overlap"], 7),
        (CLOSE, CLOSE | UNDIVIDED, [], 6),
        (FP32 | {"Q2 tensor traffic": "61538304"}, FP32, [], 7),
    ],
)
def test_a_key_is_what_is_right(key, numbers, causes, right):
    text = write(numbers)
    assert find_causes(text, key=write(key)) == causes
    assert judge(text, key=write(key)).right == right


def test_links_on_the_ring_may_be_a_reading():
    """On the ring of Q4 all-gathers and gather take 3 * 93.952 us, and 110,592 bytes more."""
    ring = {
        "Q1 tensor latency": "0.00331516416",
        "Q1 tensor traffic": "2033664",
        "Q2 tensor latency": "0.10608525312",
        "Q2 tensor traffic": "65077248",
    }
    assert find_causes(write(ring)) == ["tensor parallelism: links form the ring of Q4"]
    assert find_causes(write(ring | MAC), key=write(ring)) != []


# ------------------------------------------------ many outputs


def name_mistake(clause):
    """Write the lab's output with the recorded numbers of a mistake, and find what is told."""
    numbers = {}
    for row_clause, strategy, on_lab, _ in MADE:
        if row_clause == clause:
            lines = [line for line in LINES if strategy in line]
            exact = map(Fraction, on_lab.split())
            numbers |= zip(lines, map(lab3.format_decimal, exact), strict=True)
    causes = judge(write(numbers)).causes
    return {
        mistake.clause
        for alternatives in causes
        for parts in alternatives
        for part in parts
        for mistake in part.mistakes
    }


LONGER = "a layer takes the longer of computing and sending, not both"
SAME_ON_THE_LAB = [  # where no layer takes longer to send than to compute
    {LONGER, "communication takes no time"},
    {"a stage takes the longer of computing and sending, not both", "communication takes no time"},
    {
        "the next input is computed while this one's outputs are sent",
        "in Q2, communication is counted once",
    },
]


@pytest.mark.parametrize("clause", {clause: None for clause, *_ in MADE})
def test_each_mistake_is_told(clause):
    named = name_mistake(clause)
    assert named == {clause} or (clause in named and named in SAME_ON_THE_LAB)


@pytest.mark.parametrize(
    "lines",
    [LINES, ["Q1 tensor latency", "Q2 tensor latency"], ["Q2 tensor traffic"], LINES[-2:-1]],
)
def test_random_numbers_are_not_explained(lines):
    right = dict(
        zip(LINES, (row.split()[-2] for row in OUTPUT.splitlines() if "is" in row), strict=True)
    )
    for seed in range(50):
        chance = random.Random(seed)
        numbers = {line: float(right[line]) * 10 ** chance.uniform(-1, 1) for line in lines}
        digits = chance.randint(5, 9)
        text = write({line: f"{number:.{digits}g}" for line, number in numbers.items()})
        assert find_causes(text) == [], text
