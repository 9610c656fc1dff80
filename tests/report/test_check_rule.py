"""report/check/diagnosis.py and judge.py: which mistakes explain wrong numbers, and what is not
claimed."""

import random
from fractions import Fraction

import pytest

pytest.importorskip("numpy")

import mistakes
from machines import LAB, ODD, ODD_ALL_TO_ALL, ODD_OPTIONS
from report.check.diagnosis import Explanation
from report.check.judge import list_causes
from report.check.mistakes import MISTAKES, Mistake
from report.check.words import describe_cause
from submissions import LINES, STRATEGIES, answer, judge, list_ways, write

TL, TT, PL, PT, TL2, TT2, PL2, PT2 = LINES
RIGHT = answer()
MAC, INT8, FP32 = "1 MAC is 1 op", "an element is 1 byte (INT8)", "an element is 4 bytes (FP32)"
ALL, LAST = "the last output goes to all nodes", "the last output is sent, too"
UNGATHERED, SPREAD = "the last output is not gathered", "the bytes are spread over all links"
SENDS, ALONE = "a node does not compute while it sends", "inputs do not overlap"
ONE_SHARD = "a node sends and receives one shard at a time"
SIZES, BINARY = "ops are counted with the input's x and y", "GB/s are 2^30 bytes/s"
DIVIDED = "computing is divided by the nodes"
UNDIVIDED = "computing is not divided by the nodes"
HALF, ONCE = "links have half the bandwidth", "traffic is that of one input"
SLOWEST = "N inputs take N times the slowest stage"
SLOTS = "N inputs take (N + layers - 1) times the slowest stage, also for N = 1"
UNSENT, NOTHING = "Q2's latency leaves out sending", "communication takes no time"
MS = "latency is 1,000 times that, as if ms were printed as seconds"
KB = "KB are printed as bytes"
NOBODYS, THIRD = {TL: "0.0071234567"}, Fraction(1, 3)


def only(strategy, numbers):
    return {line: numbers[line] for line in numbers if strategy in line}


def multiply(kind, factor, numbers=RIGHT):
    """Multiply the numbers whose line has a word."""
    return {line: value * factor if kind in line else value for line, value in numbers.items()}


def expect(tensor=(), pipeline=()):
    """Expect one way for each strategy; without mistakes it is not explained."""
    of = {"tensor": tensor, "pipeline": pipeline}
    return {strategy: [{*of[strategy]}] for strategy in of if of[strategy]}


@pytest.mark.parametrize(
    ("tensor", "pipeline", "digits", "are_told"),
    [
        ([MAC], [MAC], 17, True),
        ([], [MAC], 17, True),
        ([FP32], [FP32, SENDS], 17, True),
        ([HALF], [HALF], 17, True),  # not FP32 with its traffic mended
        ([ONCE], [ONCE], 17, True),  # not Q1's right numbers in Q2
        ([NOTHING], [NOTHING], 17, True),  # for tensor parallelism alone another is as good
        ([], [SLOTS], 17, True),
        ([], [SLOWEST], 17, True),  # "also for N = 1" has another Q1, which is right
        # of programs that somebody edited, with their digits
        ([ONE_SHARD, SIZES], [SIZES], 17, True),
        ([FP32, UNGATHERED], [FP32, ALONE], 5, True),
        ([BINARY, ONE_SHARD], [BINARY, ALONE], 17, True),
        (["all shards go over one link"], [ALONE], 4, True),
        (["traffic counts each output once"], [LAST], 17, True),
        ([SPREAD], [], 4, True),  # one mistake needs 2 + 2 digits; Q2's are Q1's again
        ([SPREAD], [], 3, False),
        ([], [DIVIDED], 3, True),  # the pipeline's Q2 is another number: 3 + 3 digits
        ([MAC], [MAC], 3, True),  # of what both share, each needs two
        ([MAC], [MAC], 2, False),
        ([UNDIVIDED, ALL], [], 4, True),  # of two mistakes each number needs four
        ([UNDIVIDED, ALL], [], 3, False),
    ],
)
def test_mistakes_are_told_if_there_are_digits_enough(tmp_path, tensor, pipeline, digits, are_told):
    status, found = judge(tmp_path, write(answer(tensor, pipeline), digits))
    assert list_ways(found) == (expect(tensor, pipeline) if are_told else {})
    assert status == 1


def machine(**typed):
    return answer(question=LAB._replace(system=LAB.system._replace(**typed)))


def layer_4(**typed):
    layer = LAB.network[3]._replace(**typed)
    return answer(question=LAB._replace(network=(*LAB.network[:3], layer)))


FAST, NODES = "links have 20 GB/s", "the machine has 8 nodes"
SLOW, FEW = "links have 0.2 GB/s", "Q2 is of 16 inputs"
TWENTY_GBS, EIGHT_NODES = machine(link_bytes_per_s=20 * 10**9), machine(nodes=8)
CHANGED = {  # why: a submission's numbers; the mistakes of tensor parallelism, of the pipeline
    "three are not looked for": (answer([MAC, FP32, UNGATHERED], [MAC, FP32]), [], [MAC, FP32]),
    "a lone number of three digits is not explained": (RIGHT | {PL2: "0.398"}, [], []),
    "of four it is": (RIGHT | {PL2: "0.3979"}, [], [ALONE]),
    "unless it may be a slip in the last digit": (RIGHT | {PL2: "0.1555"}, [], []),
    "which with five it is not": (RIGHT | {PL2: "0.15548"}, [], [UNSENT]),
    "nor in the digit before": (RIGHT | {PL2: "0.1588"}, [], [SENDS]),
    # all-gathers take no time, and node 1 computes layer 1 alone: 0.00312663.. and 0.10005217..
    "unless of two mistakes": (RIGHT | {TL: "0.003127", TL2: "0.100052"}, [], []),
    "a slip is left over": (answer([INT8], [INT8]) | NOBODYS, [INT8], [INT8]),
    "two are not": (answer([INT8], [INT8]) | NOBODYS | {TL2: "0.51234567"}, [], [INT8]),
    "beside two mistakes there is no slip": (answer([UNDIVIDED, ALL]) | NOBODYS, [], []),
    "a right number contradicts": (answer([MAC]) | {TL2: RIGHT[TL2]}, [], []),
    # LAST and ALONE leave nothing, but two mistakes need four digits of each number
    "without the digits the next best": (answer([], [LAST]) | {PL2: "0.400"}, [], [LAST]),
    # of N - 1 inputs, and traffic has Q1's in it: of N inputs again
    "no two that cancel out in right ones": (RIGHT | {TL2: 31 * RIGHT[TL]}, [], []),
    # the pipeline's right number is no slip, so that there may be one
    "set aside": (answer([UNGATHERED]) | {TT: RIGHT[PT]} | NOBODYS, [UNGATHERED], []),
    "set aside it is no evidence": (RIGHT | {TT: RIGHT[PT]}, [], []),
    "Q2's in Q1, and Q1's in Q2": (RIGHT | {TT: RIGHT[TT2], TT2: RIGHT[TT]}, [], []),
    "too few digits are no evidence": (RIGHT | {TL: "0.0032"}, [], []),
    "they agree all the same": (answer([UNGATHERED]) | {TL: "0.0031"}, [UNGATHERED], []),
    "a float's noise": (answer([FP32], [FP32]) | {TL: "0.0032212121600000004"}, [FP32], [FP32]),
    "units": (multiply("traffic", Fraction(1, 1000)), [KB], [KB]),
    "units too": (multiply("latency", 1000, answer([FP32], [FP32])), [FP32, MS], [FP32, MS]),
    "a multiple": (multiply("tensor latency", 3), ["latency is 3 times the right one"], []),
    "a part": (multiply("pipeline traffic", THIRD), [], ["traffic is 1/3 of the right one"]),
    "a multiple is not combined": (multiply("tensor latency", 3, answer([ALL])), [], []),
    "a constant typed wrong": (TWENTY_GBS, [FAST], [FAST]),
    "a rate need not be whole": (machine(link_bytes_per_s=2 * 10**8), [SLOW], [SLOW]),
    "other inputs": (answer(question=LAB._replace(inputs=16)), [FEW], [FEW]),
    "eight nodes": (EIGHT_NODES, [NODES], []),
    "a constant is not combined": (multiply("tensor latency", 7, EIGHT_NODES), [], []),
    "a constant is typed once": (RIGHT | only("pipeline", layer_4(in_channels=64)), [], []),
}


@pytest.mark.parametrize(("numbers", "tensor", "pipeline"), CHANGED.values(), ids=CHANGED)
def test_what_is_told_of_numbers(tmp_path, numbers, tensor, pipeline):
    assert list_ways(judge(tmp_path, write(numbers))[1]) == expect(tensor, pipeline)


def test_a_constant_typed_wrong_needs_two_digits_more(tmp_path):
    for digits, told in ((3, []), (4, [NODES])):
        _, found = judge(tmp_path, write(only("tensor", EIGHT_NODES), digits))
        assert list_ways(found) == expect(told)


def test_equals_are_told_with_or(tmp_path):
    """On the lab, no layer sends longer than it computes."""
    _, found = judge(tmp_path, write(answer([NOTHING])))
    longer = "a layer takes the longer of computing and sending, not both"
    assert list_ways(found) == {"tensor": [{NOTHING}, {longer}]}
    _, found = judge(tmp_path, write(layer_4(in_channels=127), 4))
    equals = [{BINARY}, {"layer 4 has 127 input channels"}]
    assert list_ways(found) == {"tensor": equals, "pipeline": equals}


def test_a_mistake_of_both_that_the_other_strategy_contradicts_costs_more(tmp_path):
    """On 3 nodes, shards one at a time take as long as with half the bandwidth of each link."""
    three_nodes = ODD_ALL_TO_ALL._replace(system=ODD_ALL_TO_ALL.system._replace(nodes=3))
    options = ODD_OPTIONS.replace("--nodes 6", "--nodes 3").replace("ring", "all-to-all").split()
    numbers = answer([ONE_SHARD], question=three_nodes)
    _, found = judge(tmp_path, write(numbers, inputs=8), *options)
    assert list_ways(found) == expect([ONE_SHARD])
    _, found = judge(tmp_path, write(only("tensor", numbers), inputs=8), *options)
    shared = "a node's links share the bandwidth of one"
    assert list_ways(found) == {"tensor": [{HALF}, {shared}, {ONE_SHARD}]}


def test_what_makes_other_numbers_is_no_alternative(tmp_path):
    numbers = RIGHT | {PL: 2 * RIGHT[PL], PL2: answer([], [ALONE])[PL2]}
    _, found = judge(tmp_path, write(numbers))
    causes = [(each["mistakes"], each["numbers"]) for each in found["explanations"]]
    assert causes == [([[ALONE]], [PL2]), ([["latency is twice the right one"]], [PL])]
    assert found["unexplained"] == []


def test_alternatives_that_do_not_go_together_are_told_whole():
    one, two, three, four = all_of_them = [Mistake(clause, clause, {}) for clause in "abcd"]
    pairs = [
        (Explanation("tensor", (one, two), (TL,)), Explanation("pipeline", (one,), (PL,))),
        (Explanation("tensor", (three,)), Explanation("pipeline", (four,))),
    ]
    of_one = [(Explanation("tensor", (it,)), Explanation("pipeline")) for it in all_of_them]
    assert [describe_cause(cause) for cause in list_causes(of_one)] == [
        "tensor parallelism: a, or b, or c (and 1 more)"
    ]
    assert [describe_cause(cause) for cause in list_causes(pairs)] == [
        "both strategies: a; tensor parallelism: b, or tensor parallelism: c; pipeline"
        " parallelism: d"
    ]
    assert list_causes(pairs)[0].lines == [TL, PL]


@pytest.mark.parametrize("times", [2, 3, 4, 8, 10, 12, 32, 1000, 1024])
def test_a_strategys_numbers_may_be_multiples_of_the_right_ones(tmp_path, times):
    for factor in (Fraction(times), Fraction(1, times)):
        for kind in ("tensor latency", "tensor traffic"):
            assert list_ways(judge(tmp_path, write(multiply(kind, factor)))[1])
            nearly = multiply(kind, factor * Fraction(334, 333))
            assert list_ways(judge(tmp_path, write(nearly))[1]) == {}


# ------------------------------------------------ what is told of a number


@pytest.mark.parametrize(("one", "other"), [("tensor", "pipeline"), ("Q1", "Q2")])
def test_swapped_numbers_are_other_lines_right_ones(tmp_path, one, other):
    meant = [line.replace(one, "_").replace(other, one).replace("_", other) for line in LINES]
    numbers = {line: RIGHT[it] for line, it in zip(LINES, meant, strict=True)}
    _, found = judge(tmp_path, write(numbers))
    assert (found["right"], found["explanations"]) == (0, [])
    assert {number["kind"] for number in found["numbers"]} == {"another line's number"}
    words = [f"this is {line}'s right number" for line in meant]
    assert [number["words"] for number in found["numbers"]] == words


MORE = "; with more digits it might be explained"
LACKS = "agrees, but has 1 digit; 3 are needed"


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({TL: "0.0071234"}, "unexplained, 2.28 times the right number"),
        ({TL: "0.007123"}, f"unexplained, 2.28 times the right number{MORE}"),
        ({TL: "0.0032"}, f"unexplained, 2.3 % too long{MORE}"),
        ({TL: "0.00300"}, f"unexplained, 4.1 % too short{MORE}"),
        ({TL: "0.0000000003"}, f"unexplained, 9.59e-8 times the right number{MORE}"),
        ({TT: "1600000"}, "unexplained, 17 % too few bytes"),  # which is exact
        ({TL: "0.00"}, "zero: print more digits"),
        ({TL: "nan"}, "no number"),
        ({TL: "-0.1"}, "no number"),
        ({TL: "0.003"}, f"0.003 {LACKS}"),
        ({TL: "0.16"}, f"unexplained, 51.2 times the right number{MORE}"),  # nor Q2's pipeline's
        ({TL2: "0.1"}, f"0.1 {LACKS}; did a format drop zeros?"),
        # 32 times Q1; 0.1 % off, more than both roundings; within these, but 0.6 % off; 0.07 % off
        (NOBODYS | {TL2: "0.2279506144"}, "32 times your wrong Q1, no further mistake"),
        (NOBODYS | {TL2: "0.2281787"}, "unexplained, 2.28 times the right number"),
        ({TL: "0.0071", TL2: "0.2285"}, f"unexplained, 2.28 times the right number{MORE}"),
        ({TL: "0.00712", TL2: "0.2280"}, "32 times your wrong Q1, no further mistake"),
        (NOBODYS | {TL2: "0.2208271577"}, "unexplained, 2.21 times the right number"),  # 31 times
        (NOBODYS | {TL2: "0.0071234567"}, "the same as your wrong Q1"),
        ({PL: "0.01712345", PL2: "0.5479504"}, "unexplained, 3.52 times the right number"),  # 32
    ],
)
def test_what_is_told_of_the_last_wrong_number(tmp_path, numbers, words):
    _, found = judge(tmp_path, write(RIGHT | numbers))
    wrong = [it for it in found["numbers"] if it["kind"] != "right"]
    assert [it["line"] for it in wrong] == [*numbers] and wrong[-1]["words"] == words


# ------------------------------------------------ a key


def judge_by_key(folder, key, text):
    (folder / "key.txt").write_text(key, encoding="utf-8")
    return judge(folder, text, "--key", str(folder / "key.txt"))


def ignore(clause):
    return f'the course\'s "{clause}" is not followed'


MENDED = answer([FP32], [FP32]) | {TT2: RIGHT[TT2]}


@pytest.mark.parametrize(
    ("key", "made", "told"),
    [
        (answer([], [SENDS]), answer([], [SENDS]), {}),
        (RIGHT | {PL2: "0.159"}, answer([], [SENDS]), {}),  # three digits
        (answer([], [SENDS]), answer([FP32], [FP32, SENDS]), expect([FP32], [FP32])),
        (answer([ALL], [SENDS]), answer([ALL]), expect([], [ignore(SENDS)])),
        # two readings
        (answer([MAC], [MAC, SENDS]), RIGHT, expect([ignore(MAC)], [ignore(MAC), ignore(SENDS)])),
        # a mistake takes the place of the course's reading of the same thing
        (answer([FP32], [FP32]), answer([INT8], [INT8]), expect([INT8], [INT8])),
        # each strategy for itself: what a key lacks is read as this project reads it
        (only("tensor", answer([ALL])), answer([ALL]), {}),
        (only("tensor", answer([UNDIVIDED])), answer([UNDIVIDED], [LAST]), expect([], [LAST])),
        (TWENTY_GBS, RIGHT, expect([ignore(FAST)], [ignore(FAST)])),
        (MENDED, MENDED, {}),  # FP32 would make all but one of its numbers: a key has no slips
    ],
)
def test_a_key_is_what_is_right(tmp_path, key, made, told):
    status, found = judge_by_key(tmp_path, write(key), write(made))
    assert list_ways(found) == told
    assert (status, found["right"] == found["of"]) == ((1, False) if told else (0, True))


def test_each_key_judges_its_own_text_right(tmp_path):
    for number, mistake in enumerate(MISTAKES):
        clauses = [[mistake.clause] if of in mistake.strategies else [] for of in STRATEGIES]
        text = write(answer(*clauses), digits=17 if number % 3 else 3)
        status, found = judge_by_key(tmp_path, text, text)
        zeros = sum(it["kind"] == "zero" for it in found["numbers"])
        assert (status, found["right"]) == (bool(zeros), 8 - zeros), mistake.clause


def test_of_a_strategy_that_nothing_explains_a_keys_numbers_are_right(tmp_path):
    """It lacks two of the pipeline's lines, which are known all the same. What agrees in the digits
    that the key has is right."""
    key = write({line: RIGHT[line] for line in LINES[:6]} | {TL: "0.0041234567"})
    right = ["0.0041234567", "0.00412", "0.004123456749"]
    for number in [*right, "0.00312726016", "0.00413", "0.004124"]:
        text = write(answer([UNGATHERED], [LAST]) | {TL: number})
        _, found = judge_by_key(tmp_path, key, text)
        assert found["of"] == 8 and list_ways(found) == expect([], [LAST])
        assert (found["numbers"][0]["kind"] == "right") == (number in right)
        assert found["numbers"][1]["words"] == "unexplained, 5.8 % too few bytes"


def test_a_key_of_few_digits_tells_no_reading(tmp_path):
    key = write(answer([], [ALONE]) | {PL2: "0.40"})
    _, found = judge_by_key(tmp_path, key, write(RIGHT))
    assert (found["explanations"], found["unexplained"]) == ([], [PL2])


# ------------------------------------------------ many cases


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda it: it.clause)
@pytest.mark.parametrize("case", [(LAB, ""), (ODD, ODD_OPTIONS)], ids=["lab", "odd"])
def test_what_is_told_makes_the_numbers(tmp_path, mistake, case):
    """Whatever is told predicts each number that it claims, by the formulas of mistakes.py."""
    question, options = case
    made = [[mistake.clause] if of in mistake.strategies else [] for of in STRATEGIES]
    numbers, right = answer(*made, question=question), answer(question=question)
    text = write(numbers, inputs=question.inputs)
    _, found = judge(tmp_path, text, *options.split())
    for strategy, ways in list_ways(found).items():
        for clauses in ways:
            if clauses <= {*mistakes.LINES[strategy]}:  # no constant or multiple
                again = answer(*(clauses if of == strategy else () for of in STRATEGIES), question)
                assert only(strategy, again) == only(strategy, numbers)
    told = {line for each in found["explanations"] for line in each["numbers"]}
    for number in found["numbers"]:
        value, digits = numbers[number["line"]], number["given"].strip("0.").replace(".", "")
        is_other = value in right.values() or value == 0  # right, set aside, or none
        is_other = is_other or number["kind"] == "right"  # 135.282 bytes may be 135,282
        assert number["line"] in told or is_other or len(digits) < 6


@pytest.mark.parametrize("lines", [LINES, [TL, TL2], [PL, PL2], [TT2], [PL2]])
def test_random_numbers_are_not_explained(tmp_path, lines):
    for seed in range(25):
        chance = random.Random(seed)
        changed = {line: RIGHT[line] * Fraction(10 ** chance.uniform(-1, 1)) for line in lines}
        text = write(RIGHT | changed, digits=chance.randint(5, 7))
        assert judge(tmp_path, text)[1]["explanations"] == [], text
