"""report/check: which mistakes explain wrong numbers, and what is not claimed."""

import random
from fractions import Fraction
from pathlib import Path

import pytest

import lab3
from program import ask
from report.check.diagnosis import Explanation, list_causes
from report.check.judge import judge
from report.check.mistakes import MISTAKES, Line, Mistake, list_printed
from report.check.words import list_alternatives, list_rest
from report.question import LAB, Question
from submissions import OUTPUT, find_causes, write

RULE = Path(__file__).with_name("rule.txt")
_, *CASES = RULE.read_text(encoding="utf-8").strip().split("\n\n")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.partition("\n")[0])
def test_what_is_told(case, pytestconfig):
    rows = [row for row in case.split("\n") if row[0] not in "-?"]
    text = write(*rows[1:])
    rows += [f"- {cause}" for cause in find_causes(text)]
    told = "\n".join([*rows, *(f"? {words}" for words in list_rest(judge(text)))])
    if pytestconfig.getoption("update"):
        RULE.write_text(RULE.read_text(encoding="utf-8").replace(case, told), encoding="utf-8")
    assert told in RULE.read_text(encoding="utf-8").strip().split("\n\n")


def test_alternatives_that_do_not_go_together_are_told_whole():
    a, b, c, d = (Mistake(clause, f"{clause} = 1") for clause in "abcd")
    lines = (Line("Q1", "tensor", "latency"),)
    one = Explanation((a, b), lines), Explanation((a,))
    other = Explanation((c, d), lines), Explanation((d,))
    [cause] = list_causes([one, other])
    assert list_alternatives(cause, LAB) == [
        "both strategies: a; and tensor parallelism: b",
        "or both strategies: d; and tensor parallelism: c",
    ]


TINY = "--nodes 2 --layer 10,1,1,1,5,10 --layer 10,10,1,1,5,10"


@pytest.mark.parametrize(
    ("line", "row", "told"),
    [
        # 12,435.31264 us and once 4,624.22016, which are taken twice
        ("--inputs 2", "pipeline right right 0.00924844032 right", "2 inputs take 2 times the"),
        # 104.78375 us, and 32 times that: half a place is rounded up
        ("--gops 40 --link-gbs 2.5", "tensor 0.0001047838 right 0.00335308 right", "the filters"),
        # 1e3 is right, for 1,000, and agrees with less than 2,000, of the last output sent, too
        (f"{TINY} --inputs 5", "pipeline right 1e3 right 10000", ""),
    ],
)
def test_what_is_told_of_other_questions(line, row, told):
    question = ask(line)
    causes = find_causes(write(row, output=lab3.answers(*question)), question)
    assert [cause.partition(": ")[2][: len(told)] for cause in causes] == [told] * bool(told)


@pytest.mark.parametrize("layers", [20, 21])
def test_two_mistakes_are_not_tried_in_more_than_20_layers(layers):
    """Each of 100 nodes does 20,000 ops in 20/3 us, and sends 2 bytes to 99 others in 99 ns."""
    network = (lab3.ConvLayer(100, 100, 1, 1, 1, 1, element_bytes=2),) * layers
    question = Question(network, lab3.System(100, 3 * 10**9, link_bytes_per_s=2 * 10**9), 1)
    latency_s = lab3.format_decimal(layers * Fraction(20_297, 3 * 10**9))
    right = lab3.format_decimal(lab3.tensor_parallel_latency(*question))
    causes = find_causes(lab3.answers(*question).replace(right, latency_s), question)
    told = ["tensor parallelism: a node uses one link at a time"] * (layers == 20)
    assert [cause.split(";")[0] for cause in causes] == told


# ------------------------------------------------ a key
MAC = "tensor 0.00161060608 right 0.05153939456 right"
SERIAL = "pipeline right right 0.39793000448 right"
RIGHT = "tensor right right right right"
NO_PIPELINE = "pipeline none none none none"


@pytest.mark.parametrize(
    ("key", "strategy", "causes", "right"),
    [
        # a rounded key; its other strategy is lab3.py's, so causes are sought
        (SERIAL, SERIAL, [], 8),
        (SERIAL, MAC, ["tensor parallelism: a MAC counts as 1 op"], 5),
        # of which three digits agree, or two
        (SERIAL.replace("793000448", "8"), SERIAL, [], 8),
        (SERIAL, SERIAL.replace("793000448", "8"), [], 8),
        (SERIAL, SERIAL.replace("9793000448", "9"), [], 7),
        # a line that a key lacks is lab3.py's if the strategy's others are, else nobody's
        (NO_PIPELINE, RIGHT, [], 8),
        (NO_PIPELINE, SERIAL, ["pipeline parallelism: inputs do not overlap"], 7),
        (SERIAL.replace("448 right", "448 none"), SERIAL, [], 7),
    ],
)
def test_a_key_is_right_as_it_is_printed(key, strategy, causes, right):
    text = write(strategy)
    assert find_causes(text, key=write(key)) == causes
    assert judge(text, key=write(key)).right == right


# ------------------------------------------------ many outputs
LONGER = "takes the longer of computing and sending, not their sum"
BY_TURNS = "a later input takes the longest computing, then the longest transfer"
WHILE_SENT = "the next input is computed while this one's outputs are sent"
SAME_ON_THE_LAB = [  # where no layer takes longer to send than to compute
    *({f"a {part} {LONGER}", "communication takes no time"} for part in ("layer", "stage")),
    {"a node does not compute while it receives", BY_TURNS},
    {WHILE_SENT, "in Q2, communication is counted once"},
]


@pytest.mark.parametrize("clause", dict.fromkeys(mistake.clause for mistake in MISTAKES))
def test_each_mistake_is_told(clause):
    """Its numbers are those that test_mistakes.py has from a second source."""
    numbers = {
        strategy: map(lab3.format_decimal, list_printed(LAB, strategy, mistake))
        for mistake in MISTAKES[::-1]
        for strategy in mistake.strategies
        if mistake.clause == clause
    }
    causes = judge(write(*(" ".join([name, *numbers[name]]) for name in numbers))).causes
    told = {mistake.clause for cause in causes for each in cause for mistake in each.mistakes}
    assert told == {clause} or (clause in told and told in SAME_ON_THE_LAB)


@pytest.mark.parametrize("changed", ["0 1 2 3 4 5 6 7", "0 4", "1 5", "2 6", "5", "6"])
def test_random_numbers_are_not_explained(changed):
    right = [float(row.split()[-2]) for row in OUTPUT.splitlines() if row.startswith("Total")]
    for seed in range(50):
        chance, numbers = random.Random(seed), right.copy()
        for place in map(int, changed.split()):
            numbers[place] *= 10 ** chance.uniform(-1, 1)
        digits = chance.randint(5, 9)
        shown = [f"{number:.{digits}g}" for number in numbers]
        tensor, pipeline = shown[:2] + shown[4:6], shown[2:4] + shown[6:]
        text = write(" ".join(["tensor", *tensor]), " ".join(["pipeline", *pipeline]))
        assert find_causes(text) == [], text


def test_a_clause_has_a_questions_numbers_and_the_handouts_own_words():
    told = {mistake.describe(LAB._replace(inputs=123_457)): mistake.handout for mistake in MISTAKES}
    assert "123,457 inputs take 30,864.25 times as long as one" in told  # N / nodes
    assert "123,457 inputs take 30,865 times as long as one" in told  # (N + 3) / layers
    assert all("SRAM" in it.handout for it in MISTAKES if it.clause.startswith("the network's"))
    quotes = "giga is 10^9", "on the next batch", "already in the SRAM", "in bytes", "single node"
    assert all(any(quote in handout for handout in told.values()) for quote in quotes)
