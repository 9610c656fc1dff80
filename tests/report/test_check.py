"""report/check.py: which numbers of a submission are right, and which mistake makes the others.

Submissions are made from mistakes.py, which computes numbers with mistakes in its own way.
"""

import json
import random
import re
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mistakes
from lab3 import ConvLayer, System
from odd_machines import ODD, ODD_OPTIONS
from program import call, python, refusal, sentence, shell
from report.check import check
from report.question import LAB, Question

RIGHT = mistakes.numbers()
Q1, Q2 = "-----Q1 single input-----", "--------Q2 32 inputs------"
LAB_TEXT = """\
-----Q1 single input-----
Total latency of tensor parallelism is 0.00312726016 seconds
Total network traffic of tensor parallelism is 1923072 bytes
Total latency of pipeline parallelism is 0.01243531264 seconds
Total network traffic of pipeline parallelism is 604160 bytes
--------Q2 32 inputs------
Total latency of tensor parallelism is 0.10007232512 seconds
Total network traffic of tensor parallelism is 61538304 bytes
Total latency of pipeline parallelism is 0.1557861376 seconds
Total network traffic of pipeline parallelism is 19333120 bytes
"""
ROWS = LAB_TEXT.splitlines()
TENSOR_TRAFFIC = "Total network traffic of tensor parallelism is"
FP32, ALONE = "an element is 4 bytes (FP32)", "inputs do not overlap"
INT8, MAC, BITS = "an element is 1 byte (INT8)", "1 MAC is 1 op", "traffic is counted in bits"
ONCE, START = "traffic is that of one input", "the network's input is sent, too"
WHOLE = "whole outputs are sent, not shards"


def decimal(value, digits=17, rounding=ROUND_HALF_EVEN):
    with localcontext() as context:
        context.prec, context.rounding = digits, rounding
        return f"{Decimal(value.numerator) / Decimal(value.denominator):f}"


def text_of(values, shuffle=None, heads=(Q1, Q2)):
    """A submission of these numbers, by line; of texts as they are."""
    rows = []
    for question, head in zip(("Q1", "Q2"), heads, strict=True):
        below = []
        for name, value in values.items():
            asked, strategy, kind = name.split()
            if asked == question:
                what, unit = {
                    "latency": ("latency", "seconds"),
                    "traffic": ("network traffic", "bytes"),
                }[kind]
                said = value if isinstance(value, str) else f"{decimal(Fraction(value))} {unit}"
                below.append(f"Total {what} of {strategy} parallelism is {said}")
        if shuffle:
            shuffle(below)
        rows += [head, *below]
    return "\n".join(filter(None, rows)) + "\n"


def text_with(*changes, **others):
    """The lab's with changes, and with other numbers: Q1_tensor_latency="0.1"."""
    others = {name.replace("_", " "): value for name, value in others.items()}
    return text_of(mistakes.numbers(frozenset(changes)) | others)


def verdicts(submission):
    return {it.line: it.verdict for it in submission.numbers}


def explained(text, question=LAB):
    """The sets that are found, as sets of names, each with the lines that it makes."""
    return [([{*names} for names in it.sets], it.numbers) for it in check(text, question).explained]


def said(line, status):
    """What the command prints: ASCII for a terminal of 80 columns."""
    ended, out, err = call(line)
    assert (ended, err) == (status, "")
    assert out.isascii() and out.replace("\n", "").isprintable()
    assert "--json" in line or max(map(len, out.splitlines())) <= 80
    assert out == out.rstrip() + "\n"
    return out


# ------------------------------------------------ 300 submissions

SCOPES = ("", "tensor", "pipeline", "Q1", "Q2")
FORMS = ("exact", "rounded", "cut", "in ms", "in kB", "ms, not seconds", "KiB, not bytes", "typo")
UNITS = {"ms": ("latency", 1000), "kB": ("traffic", Fraction(1, 1000))}
UNITS["KiB"] = ("traffic", Fraction(1, 1024))
TIMES = {"twice": 2, "half": Fraction(1, 2), "four times": 4, "a quarter of": Fraction(1, 4)}


class Drawn:
    """Up to three changes for both strategies, for one or for one question; the numbers that they
    make, and a text that has them in some form."""

    def __init__(self, seed):
        chance = random.Random(seed)
        scope, self.form = chance.choice(SCOPES), FORMS[seed % len(FORMS)]
        other = {"tensor": "pipeline", "pipeline": "tensor"}.get(scope)
        things = [it for of in mistakes.THINGS if of != other for it in mistakes.THINGS[of]]
        self.changes = {chance.choice(it) for it in chance.sample(things, chance.randint(0, 3))}
        made = mistakes.numbers(frozenset(self.changes))
        self.values = {name: made[name] if scope in name else RIGHT[name] for name in RIGHT}
        self.digits = chance.randint(5, 9) if self.form in ("rounded", "cut") else 17
        rounding = ROUND_DOWN if self.form == "cut" else ROUND_HALF_EVEN
        texts = {}
        for name, value in self.values.items():
            times, said = 1, "seconds" if "latency" in name else "bytes"
            if self.unit_of(name):
                times = UNITS[self.unit_of(name)][1]
                said = said if "not" in self.form else self.unit_of(name)
            digits = self.digits if "latency" in name else 17
            texts[name] = f"{decimal(Fraction(value * times), digits, rounding)} {said}"
        self.mistyped = ""
        if self.form == "typo":
            self.mistyped = chance.choice([name for name in RIGHT if "latency" in name])
            front, number = texts[self.mistyped].split(".", 1)
            at = next(n for n in range(2, 9) if number[n] not in "0 ")
            digit = (int(number[at]) + 5) % 10
            texts[self.mistyped] = f"{front}.{number[:at]}{digit}{number[at + 1 :]}"
        heads = (Q1, Q2) if chance.random() < 0.8 else ("", "")
        self.text = text_of(texts, chance.shuffle, heads)

    def unit_of(self, name):
        """In which a number is, whatever it says."""
        return next((it for it in UNITS if it in self.form and UNITS[it][0] in name), "")

    def are_units_known(self):
        """As they are said, or from right numbers."""
        others = [it for it in RIGHT if "not" in self.form and self.unit_of(it)]
        return not others or any(self.values[it] == RIGHT[it] for it in others)


def allowed(numbers, values, digits):
    """How many changes the wrong ones of these numbers hold up, at most."""
    total = 0
    for name in numbers:
        question, *rest = name.split()
        follows = " ".join(["Q1", *rest]) in numbers and rest != ["pipeline", "latency"]
        if question == "Q1" or not follows:
            whole = str(values[name]).rstrip("0")
            total += min(digits, 10) if "latency" in name else len(whole)
    return 0 if total < 4 else min(max((total - 3) // 2, 1), 3)


def assert_told(submission, drawn):
    """Right numbers are called so; wrong ones are made by each of the sets that are said to."""
    values = drawn.values
    wrong = {name for name in values if values[name] != RIGHT[name]}
    made_by = {name: it for it in submission.explained for name in it.numbers}
    assert len(made_by) == sum(len(it.numbers) for it in submission.explained)
    assert {*made_by} <= wrong | {drawn.mistyped}
    for name, it in made_by.items():
        most_off = abs(values[name]) / Fraction(10) ** (min(drawn.digits, 10) - 1)
        for names in it.sets:
            off = abs(mistakes.numbers(frozenset(names))[name] - values[name])
            assert name == drawn.mistyped or off <= most_off * ("latency" in name), (name, names)
        assert it.sets
    for name, verdict in verdicts(submission).items():
        if name == drawn.mistyped:
            continue
        if name not in wrong:
            in_other = "not" in drawn.form and drawn.unit_of(name)
            assert verdict.startswith(f"right in {in_other}, not in " if in_other else "right"), (
                name
            )
            assert in_other or not verdict.startswith("right in"), name
        elif verdict.startswith("this is "):
            assert values[name] == RIGHT[verdict.removeprefix("this is ")]
        elif verdict.endswith("right number"):
            times = TIMES[verdict.removesuffix("the right number").strip()]
            assert values[name] == times * RIGHT[name]
        elif verdict == "wrong":
            assert name in made_by, name
        else:  # as far as its digits go
            is_whole = drawn.form not in ("rounded", "cut", "typo")
            assert not is_whole or not drawn.are_units_known(), (name, verdict)
    return wrong, made_by


@pytest.mark.parametrize("form", range(len(FORMS)), ids=FORMS)
def test_what_comes_back_is_what_went_in(form):
    whole = 0
    for seed in range(form, 304, len(FORMS)):
        drawn = Drawn(seed)
        submission = check(drawn.text)
        try:
            wrong, made_by = assert_told(submission, drawn)
            if drawn.form == "typo" or not wrong or not drawn.are_units_known():
                continue
            if len(drawn.changes) > allowed(wrong, drawn.values, drawn.digits):
                continue
            assert sum(len(it.sets[0]) for it in submission.explained) <= len(drawn.changes)
            assert len(submission.explained) <= 1
            whole += wrong == {*made_by}
        except AssertionError as error:
            raise AssertionError(f"{seed}: {drawn.changes}\n{drawn.text}") from error
    assert whole > 10 or FORMS[form] == "typo"


@pytest.mark.parametrize(
    ("verdict", "values"),
    [
        ("right", {"Q1 tensor latency": Fraction(1)}),  # called right, but is not
        ("not explained", {}),  # right, but not called so
        ("this is Q2 tensor latency", {"Q1 tensor latency": RIGHT["Q1 tensor latency"] * 3}),
        ("twice the right number", {"Q1 tensor latency": RIGHT["Q1 tensor latency"] * 3}),
        ("wrong", {"Q1 tensor latency": RIGHT["Q1 tensor latency"] * 3}),  # by nothing
        ("wrong", mistakes.numbers(frozenset([FP32]))),  # by one of the two that are told
    ],
)
def test_a_wrong_telling_is_noticed(verdict, values):
    is_set = len(values) == len(RIGHT)
    drawn, submission = Drawn(0), check(text_with(FP32) if is_set else LAB_TEXT)
    drawn.form, drawn.values, drawn.mistyped = "exact", {**RIGHT, **values}, ""
    if is_set:
        assert_told(submission, drawn)
        submission.explained[0].sets.append((INT8,))
    submission.numbers[0] = submission.numbers[0]._replace(verdict=verdict)
    with pytest.raises(AssertionError):
        assert_told(submission, drawn)


@pytest.mark.parametrize("digits", range(5, 9))
def test_random_numbers_are_not_explained(digits):
    # a factor of its own for each number, or one for all latencies
    for seed in range(8):
        chance = random.Random(f"{digits} {seed}")
        of_all = Fraction(10 ** chance.uniform(-1, 1))
        each = {name: Fraction(10 ** chance.uniform(-1, 1)) for name in RIGHT}
        one = {name: of_all if "latency" in name else 1 for name in RIGHT}
        for factors in (each, one):
            values = {name: decimal(RIGHT[name] * factors[name], digits) for name in RIGHT}
            assert check(text_of(values)).explained == []


# ------------------------------------------------ the rule of pairs


def test_a_set_makes_all_that_is_given_of_a_pair():
    # 563,712 bytes are also what one of a ring's links carries; then the latency would be longer
    assert explained(text_with(Q1_tensor_traffic="563712", Q2_tensor_traffic="18038784")) == [
        ([{"traffic counts gathers to one node only"}], ["Q1 tensor traffic", "Q2 tensor traffic"])
    ]
    # elements of 4 bytes, but with latencies to which no set of changes leads
    pair = {"Q1_tensor_latency": "0.0071234567", "Q1_tensor_traffic": "3846144"}
    [(sets, numbers)] = explained(text_with(**pair))
    assert (sets, numbers) == ([{FP32}], ["Q1 tensor traffic"])
    assert check(text_with(**pair)).explained[0].only == "traffic"


def test_the_set_that_makes_most_pairs_is_taken_then_the_next():
    tensor = {START, "the last output goes to all nodes", WHOLE}
    pipeline = {MAC, "the last output is sent, too", ALONE}
    made, other = (mistakes.numbers(frozenset(changes)) for changes in (tensor, pipeline))
    text = text_of({name: (made if "tensor" in name else other)[name] for name in RIGHT})
    assert [sets for sets, _ in explained(text)] == [[pipeline], [tensor]]  # as in the table


def test_of_equal_sets_the_one_that_contradicts_fewest_right_pairs():
    # any number of inputs takes N times the slowest stage would change Q1, too
    slowest = "N inputs take N times the slowest stage"
    assert explained(text_with(slowest)) == [([{slowest}], ["Q2 pipeline latency"])]
    # without Q1 there is nothing to contradict
    text = "\n".join([Q2, *text_with(slowest).splitlines()[6:]])
    assert [{*sets[0]} | {*sets[1]} for sets, _ in explained(text)] == [
        {slowest, slowest.replace("N inputs take", "any number of inputs takes")}
    ]


def test_a_change_of_both_strategies_is_in_both_parts_of_a_set_or_in_neither():
    # FP32 in tensor parallelism, INT8 and no overlap in the pipeline
    fp32, other = (mistakes.numbers(frozenset(it)) for it in ([FP32], [INT8, ALONE]))
    text = text_of({name: (fp32 if "tensor" in name else other)[name] for name in RIGHT})
    assert explained(text) == [([{INT8, ALONE, WHOLE}], [*RIGHT])]


@pytest.mark.parametrize(
    ("numbers", "sets"),
    [  # digits of evidence: 4 allow one change, 7 two, 9 three; a number alone needs 6
        ({"Q2_pipeline_latency": "0.398"}, []),
        ({"Q2_pipeline_latency": "0.3979"}, [[{ALONE}]]),
        ({"Q2_pipeline_latency": "0.39793", "Q2_pipeline_traffic": "xxx"}, []),
        ({"Q2_pipeline_latency": "0.397930", "Q2_pipeline_traffic": "xxx"}, [[{ALONE}]]),
        ({"Q2_pipeline_latency": "0.203798"}, []),  # with 1 op for a MAC
        ({"Q2_pipeline_latency": "0.2037983"}, [[{MAC, ALONE}]]),
        # 1 op for a MAC, 2^30 ops/s: that of Q2 follows, and adds no digits
        ({"Q1_tensor_latency": "0.001506", "Q2_tensor_latency": "0.04820628"}, []),
        (
            {"Q1_tensor_latency": "0.001506446", "Q2_tensor_latency": "0.0482062"},
            [[{MAC, "GOPS are 2^30 ops/s"}]],
        ),
    ],
)
def test_how_many_changes_the_digits_allow(numbers, sets):
    assert [found for found, _ in explained(text_with(**numbers))] == sets


def test_traffic_of_q1_that_is_wrong_and_latency_of_q2_are_counted_together():
    # 5 + 5 digits of the pipeline's latencies: three changes, where tensor parallelism's allow one
    changes = [MAC, "GOPS are 2^30 ops/s", "each layer takes as long as the slowest"]
    made = mistakes.numbers(frozenset(changes))
    texts = {n: decimal(made[n], 5) for n in RIGHT if "pipeline latency" in n}
    assert explained(text_of(RIGHT | texts)) == [([{*changes}], [*texts])]


def test_q2_traffic_that_is_q1s_is_judged_by_changes_first():
    q2 = ["Q2 tensor traffic", "Q2 pipeline traffic"]
    assert explained(text_with(ONCE)) == [([{ONCE}], q2)]
    copied = check(text_of({name: RIGHT[name.replace("Q2", "Q1")] for name in RIGHT}))
    assert copied.explained == []
    assert verdicts(copied)["Q2 tensor traffic"] == "this is Q1 tensor traffic"
    assert verdicts(copied)["Q2 pipeline latency"] == "this is Q1 pipeline latency"


def test_a_multiple_of_the_right_numbers_is_said_to_be_one():
    # with elements of 4 bytes latencies would be longer, too
    for times, word in [(2, "twice"), (4, "four times"), (Fraction(1, 2), "half")]:
        for questions in (["Q1"], ["Q2"], ["Q1", "Q2"]):
            wrong = {f"{q} tensor traffic": times * RIGHT[f"{q} tensor traffic"] for q in questions}
            submission = check(text_of(RIGHT | wrong))
            told = {line: it for line, it in verdicts(submission).items() if it != "right"}
            assert told == dict.fromkeys(wrong, f"{word} the right number")
            assert submission.explained == []
    # Q1's traffic per node; eight times as much would be Q2's in bits, not multiplied
    quarter = check(text_with(Q1_tensor_traffic="480768", Q2_tensor_traffic="15384576"))
    assert verdicts(quarter)["Q2 tensor traffic"] == "a quarter of the right number"
    # as with elements of 1 byte and 1 op for a MAC, which right numbers contradict
    half = {name: RIGHT[name] / Fraction(2) for name in RIGHT if name.startswith("Q2 tensor")}
    assert check(text_of(RIGHT | half)).explained == []
    assert explained(text_with(INT8, MAC)) == [([{INT8, MAC}], [*RIGHT])]


def test_of_equal_sets_those_remain_that_make_another_number_too():
    # Q2's slowest stages: N inputs, or any number; Q1's latency decides, beside a wrong traffic
    slowest = "any number of inputs takes N times the slowest stage"
    rows = text_with(slowest).replace("604160", "612345").splitlines()
    [(sets, numbers)] = explained("\n".join([*rows[:1], *rows[3:6], *rows[8:]]))
    assert (sets, numbers) == ([{slowest}], ["Q1 pipeline latency", "Q2 pipeline latency"])


def test_one_kind_of_number_needs_six_digits():
    odd = {"Q1 tensor traffic": "1234567", "Q2 tensor traffic": "34567891"}
    for change in (FP32, MAC):
        made = mistakes.numbers(frozenset([change]))
        for digits in (5, 6):
            texts = {n: decimal(made[n], digits) for n in made if "tensor latency" in n}
            found = check(text_of(RIGHT | odd | texts)).explained
            assert [(it.numbers, it.only) for it in found] == [([*texts], "latency")] * (digits - 5)


def test_what_follows_from_a_wrong_number_of_q1():
    its = check(text_with(Q1_pipeline_latency="0.01512345", Q2_pipeline_latency="0.4839504"))
    assert verdicts(its)["Q1 pipeline latency"] == "not explained"
    assert verdicts(its)["Q2 pipeline latency"] == "32 times your Q1 (inputs do not overlap)"
    its = check(text_with(Q1_tensor_traffic="1234567", Q2_tensor_traffic="39506144"))
    assert verdicts(its)["Q2 tensor traffic"] == "32 times your Q1"
    its = check(text_with(Q2_pipeline_latency="0.398"))  # of a right one it is said by changes
    assert verdicts(its)["Q2 pipeline latency"] == "not explained"
    its = check(text_with(Q1_tensor_traffic="1234567", Q2_tensor_traffic="1234567"))
    assert verdicts(its)["Q2 tensor traffic"] == "the same as your Q1"


def test_a_mistake_in_the_wrong_unit_of_right_numbers():
    for change, kind, times, unit in [
        *((ALONE, "latency", 1000, "ms"), (ONCE, "traffic", Fraction(1, 2**10), "KiB")),
    ]:
        made = mistakes.numbers(frozenset([change]))
        texts = {name: decimal(Fraction(made[name] * times)) for name in made if kind in name}
        [found] = check(text_of(made | texts)).explained
        assert (found.sets, found.units) == ([(change,)], [unit])
        # another unit elsewhere says nothing of this one, nor does one number alone
        del texts["Q1 tensor " + kind]
        assert check(text_of(made | texts)).explained == []
    row = "Total latency of pipeline parallelism is 397.93000448 seconds"
    assert check(f"Q2\n{row}").explained == []


def test_a_kb_may_be_1024_bytes_of_a_wrong_number_too():
    text = text_with(Q1_tensor_traffic="3756 KB", Q2_tensor_traffic="120192 KB")
    assert {*verdicts(check(text)).values()} == {"right", "twice the right number"}


def test_of_many_sets_three_are_named():
    # Two layers of 1 op each, links of 1 byte/s: the shards of 2 bytes take 8 s, 6 elements; twice
    # as long in many ways
    layers = (ConvLayer(2, 1, 3, 1, 4, 1), ConvLayer(2, 2, 1, 1, 2, 1))
    question = Question(layers, System(2, 10**12, 1), 1)
    text = "Q1\nTotal latency of tensor parallelism is 16.00000 seconds"
    [found] = check(text, question).explained
    assert len(found.sets) == 3 == len({*found.sets}) and found.more > 0
    assert (FP32,) in found.sets


# ------------------------------------------------ each number by itself


@pytest.mark.parametrize(
    ("number", "verdict"),
    [
        ("0.00312726016 seconds", "right"),
        ("0.00312726016", "right"),
        ("3.12726016E-03 sec", "right"),
        ("+0.00312726016s", "right"),
        (": 0.00312726016 s", "right"),
        ("~0.00312726016 s", "right"),
        ("0.0031272601600000002 seconds", "right"),
        ("0.0031272601599999998 seconds", "right"),
        ("3.12726016ms", "right, in ms"),
        ("3127.26016 \u00b5s", "right, in us"),
        ("3127.26016 usec", "right, in us"),
        ("0.003127 seconds", "right, rounded to 4 digits"),
        ("0.00312 seconds", "right, cut to 3 digits"),
        ("3.127 ms", "right, rounded to 4 digits, in ms"),
        ("0.0031 seconds", "too few digits to be called right"),
        ("0.0047 seconds", "not explained"),
        ("3.12726016 seconds", "right in ms, not in seconds"),
        ("3127 seconds", "right in us, not in seconds"),
        ("3127260.16", "right in ns, not in seconds"),
        ("0.00312726 ms", "right in seconds, not in ms"),
        ("0.00000312726", "not explained"),
        ("3.127 hours", "right in ms, not in hours"),
        ("0.0124353 seconds", "this is Q1 pipeline latency"),
        ("0.1000723 seconds", "this is Q2 tensor latency"),
        ("155.786 ms", "this is Q2 pipeline latency"),
        ("1923072 seconds", "this is Q1 tensor traffic"),
        ("1923072 ms", "this is Q1 tensor traffic"),
        ("0.00333 seconds", "not explained"),
        *((it, "no number") for it in ("xxx seconds", "None", "", "0,00312 seconds", "0x3")),
        *((it, "no number") for it in ("1e999", "1e9999999999999999999 s")),
        ("nan seconds", "nan"),
        ("0 seconds", "zero"),
        ("-0.00312726016 seconds", "negative"),
        ("inf seconds", "infinite"),
    ],
)
def test_the_verdict_of_a_latency(number, verdict):
    found = verdicts(check(text_with(Q1_tensor_latency=number)))
    assert found == dict.fromkeys(RIGHT, "right") | {"Q1 tensor latency": verdict}


@pytest.mark.parametrize(
    ("number", "verdict"),
    [
        ("1923072.0 bytes", "right"),
        ("1,923,072 bytes", "right"),
        ("1 923 072 bytes", "right"),
        ("1_923_072", "right"),
        ("1.923e6 B", "right, rounded to 4 digits"),
        ("1920000", "right, rounded to 3 digits"),
        ("1900000", "too few digits to be called right"),
        ("1923.072 kB", "right, in kB"),
        ("1.92MB", "right, rounded to 3 digits, in MB"),
        ("1878 KiB", "right, in KiB"),
        ("1878 KB", "right, in KiB"),
        ("0.001791 GB", "right, rounded to 4 digits, in GiB"),
        ("15384576 bits", "right, in bits"),
        ("1923072.1 bytes", "not explained"),
        ("7 bytes", "not explained"),
        ("1.92 bytes", "right in MB, not in bytes"),
        ("1878", "right in KiB, not in bytes"),
        ("0.001791 bytes", "right in GiB, not in bytes"),
        ("1923072 MB", "right in bytes, not in MB"),
        ("604160 bytes", "this is Q1 pipeline traffic"),
        ("61538304 bytes", "this is Q2 tensor traffic"),
        ("15384576 bytes", "wrong"),  # in bits, but for the number of Q2
    ],
)
def test_the_verdict_of_traffic(number, verdict):
    found = verdicts(check(text_with(Q1_tensor_traffic=number)))
    assert found == dict.fromkeys(RIGHT, "right") | {"Q1 tensor traffic": verdict}


def test_what_is_exact_needs_no_digits():
    # 604,160 / 1,024
    for number, verdict in {
        "590": "right in KiB, not in bytes",
        "590 KB": "right, in KiB",
        "591": "not explained",
    }.items():
        found = verdicts(check(text_with(Q1_pipeline_traffic=number)))
        assert found["Q1 pipeline traffic"] == verdict


def test_a_traffic_of_0_is_right_where_nothing_is_sent():
    one = LAB.on(nodes=1)._replace(inputs=1)
    text = "Total network traffic of tensor parallelism is 0 bytes\n"
    text += "Total latency of tensor parallelism is 0.01213323264 seconds"
    assert [*verdicts(check(text, one)).values()] == ["right", "right"]


def test_right_counts_lines(file_of):
    for number, right in [
        ("1923072 bytes", 8), ("1.923 MB", 8), ("604160", 7), ("xxx", 7), ("1.9 MB", 7),
    ]:  # fmt: skip
        submission = check(text_with(Q1_tensor_traffic=number))
        assert (submission.right_lines, submission.lines) == (right, 8)
    # of a line with two numbers both must be right
    text = LAB_TEXT.replace(ROWS[2], f"{ROWS[2]}\n{TENSOR_TRAFFIC} 1923071 bytes")
    [found] = json.loads(said(["check", "--json", file_of(text)], 1))["submissions"]
    assert (found["right"], found["of"], len(found["numbers"])) == (7, 8, 9)


# ------------------------------------------------ how it is written


@pytest.mark.parametrize(
    "text",
    [
        LAB_TEXT.upper(),
        LAB_TEXT.replace("\n", "\r\n"),
        LAB_TEXT.rstrip(),
        LAB_TEXT.replace(" ", " \t "),
        LAB_TEXT.replace(" ", "\u00a0"),
        "".join(f"  > {row}  \n\n" for row in ROWS),
        LAB_TEXT.replace(" seconds", "s").replace(" bytes", "bytes"),
        "\n".join(ROWS[5:] + ROWS[:5]),
        f"Simulating 32 inputs on 4 nodes: Q2\n{LAB_TEXT}Done: 32 inputs\n",
        LAB_TEXT.replace("\n", "\n(12 inputs, 7 inputs)\n"),
        LAB_TEXT.replace("\n", "\nSlowest stage for one input: 0.0046 s\nmax, one input, in s\n"),
        LAB_TEXT + LAB_TEXT,
    ],
)
def test_lines_are_known_however_they_are_written(text):
    submission = check(text)
    assert [it.verdict for it in submission.numbers] == ["right"] * 8
    assert [it for it in submission.form if "unit" not in it and " in " not in it] == []


@pytest.mark.parametrize(
    "heads",
    [
        *(
            ("Q1", "Q2"),
            ("question 1:", "Question 2 (32 inputs, 4 nodes)"),
            ("1 input:", "32 inputs"),
        ),
        *(("Single input", "b) 32 Inputs"), ("one input =", "== 32 inputs ==")),
        *((Q1, ""), ("", Q2), ("", "")),
    ],
)
def test_heads(heads):
    for of in (RIGHT, dict(reversed(RIGHT.items()))):
        submission = check(text_of(of, heads=heads))
        assert [it.verdict for it in submission.numbers] == ["right"] * 8
        wrong = [head for head, asked in zip(heads, (Q1, Q2), strict=True) if head != asked]
        assert len(submission.form) == len(wrong)


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        (LAB_TEXT, []),
        (LAB_TEXT.replace("-", "").upper(), []),
        (LAB_TEXT.replace(Q1, ""), [f"{Q1} missing"]),
        (LAB_TEXT.replace(Q2, "Q2"), [f"'Q2' not {Q2}"]),
        (LAB_TEXT.replace("32 inputs", "16 inputs"), [f"Q2 16 inputs {Q2}"]),
        (LAB_TEXT.replace("is 0.003", "= 0.003"), ["'=' before number Q1 tensor latency"]),
        (LAB_TEXT.replace("is 0.003", "is ~0.003"), ["'~' before number Q1 tensor latency"]),
        (LAB_TEXT.replace("0.00312726016 seconds", "3.12726016 ms"), ["'ms' Q1 tensor latency"]),
        (LAB_TEXT.replace(" seconds", " s"), []),
        (LAB_TEXT.replace(" bytes", ""), ["unit bytes 4 traffic numbers"]),
        (LAB_TEXT.replace("1923072 bytes", "1.923072 MB"), ["'MB' bytes Q1 tensor traffic"]),
        (
            LAB_TEXT.replace("1923072 bytes", "1923.072 kB").replace("604160 bytes", "604.16 kB"),
            ["'kB' bytes Q1 tensor traffic and Q1 pipeline traffic"],
        ),
        ("\n".join(ROWS[:-2]), []),  # what is missing stands in the table
        (LAB_TEXT + f"{TENSOR_TRAFFIC} 7 bytes\n", ["Q2 tensor traffic 2 different numbers"]),
        (
            LAB_TEXT + "".join(f"{TENSOR_TRAFFIC} {n} bytes\n" for n in range(101, 116)),
            ["Q2 tensor traffic 4 different numbers 12 more numbers"],
        ),
    ],
)
def test_faults_of_the_form(text, faults):
    form = check(text).form
    assert len(form) == len(faults)
    for said_of, named in zip(form, faults, strict=True):
        assert all(word in said_of for word in named.split()), said_of


def test_the_handouts_own_sample():
    # it repeats two lines of Q2 and omits the pipeline's traffic
    same = check("\n".join([*ROWS[:8], ROWS[7], ROWS[8], ROWS[8]]))
    missing = {"Q2 pipeline traffic": "missing, as in the handout's sample"}
    assert verdicts(same) == dict.fromkeys(RIGHT, "right") | missing
    assert (same.right_lines, same.form) == (7, [])
    other = check("\n".join(row for row in ROWS if row != ROWS[2]))
    assert verdicts(other)["Q1 tensor traffic"] == "missing"

    # the repeated line with the omitted one's number; with another line's; with a wrong one
    for number, verdict, right in [
        ("19333120", "this is Q2 pipeline traffic", 6),
        ("604160", "this is Q1 pipeline traffic", 6),
        ("12345678", "not explained", 6),
    ]:
        rows = [*ROWS[:8], f"{TENSOR_TRAFFIC} {number} bytes", ROWS[8], ROWS[8]]
        submission = check("\n".join(rows))
        assert [it.verdict for it in submission.numbers if it.line == "Q2 tensor traffic"] == [
            *("right", verdict)
        ]
        assert (submission.right_lines, submission.lines) == (right, 8)


def test_a_strategy_that_is_impossible_has_no_lines():
    # 5 nodes do not divide 128 filters, 4 layers need 4 nodes
    for nodes, expected, why in [(5, "pipeline", "over 5 nodes"), (2, "tensor", "more, not 2")]:
        submission = check(LAB_TEXT, LAB.on(nodes=nodes))
        assert {name.split()[1] for name in verdicts(submission)} == {expected}
        [fault] = submission.form
        assert fault.startswith("4 lines are not expected. ") and fault.endswith(why)
        assert submission.lines == 4


def test_with_one_input_there_is_no_q2():
    one = LAB._replace(inputs=1)
    assert check("\n".join(ROWS[:5]), one).form == []
    submission = check(LAB_TEXT, one)
    assert submission.right_lines == submission.lines == 4
    assert submission.form == ["4 lines are not expected. With 1 input there is no Q2"]


@pytest.mark.parametrize("question", [LAB.on(topology="ring"), ODD, LAB._replace(inputs=16)])
def test_variants_of_the_lab_are_judged(question):
    heads = "Q1", f"Q2 {question.inputs} inputs"
    right = mistakes.numbers(question=question)
    submission = check(text_of(right, heads=heads), question)
    assert [it.verdict for it in submission.numbers] == ["right"] * 8
    changes = frozenset([MAC, WHOLE, "the last output is sent, too"])
    made = mistakes.numbers(changes, question)
    [(sets, numbers)] = explained(text_of(made, heads=heads), question)
    assert (sets, numbers) == ([changes], [name for name in RIGHT if made[name] != right[name]])


# ------------------------------------------------ what is no submission

PROGRAM = 'import sys\nt = 1\nprint(f"Total latency of tensor parallelism is {t} seconds")\n'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("hello", "text has none of the lines; lines like 'Total latency of tensor parallelism"),
        ("Tensor latency: 0.0031 s", "text has none of the lines"),
        ("Q1\nQ2\n32 inputs", "text has none of the lines"),
        ("from 32 inputs on\nprint it", "text has none of the lines"),
        ("", "text is empty; pipe in"),
        (" \n", "text is empty; pipe in"),
        (PROGRAM, "text is a program; pipe in what it prints: python3 lab3.py | python3 report"),
        ("%PDF-1.7\nimport", "text is a PDF; pipe in"),
        *((it, "is not a text") for it in (None, 5, b"Q1")),
    ],
)
def test_a_text_that_is_refused(text, why):
    with pytest.raises(ValueError, match=re.escape(why)):
        check(text)


def test_what_a_program_prints_is_judged_even_if_it_looks_like_one():
    assert check(f"import of numpy took 0.1 s\n{LAB_TEXT}").right_lines == 8
    words = re.sub(r"is \S+", "is xxx", LAB_TEXT)
    assert {*verdicts(check(words)).values()} == {"no number"}


@settings(max_examples=settings.default.max_examples // 4)
@given(st.data())
def test_a_submission_with_anything_in_it_is_judged(data):
    rows = [*ROWS]
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(rows) - 1))
        start = data.draw(st.integers(0, len(rows[at])))
        end = data.draw(st.integers(start, len(rows[at])))
        rows[at] = rows[at][:start] + data.draw(st.text(max_size=5)) + rows[at][end:]
    submission = check("\n".join(rows))
    assert 0 <= submission.right_lines <= submission.lines == 8
    for it in submission.numbers:
        assert it.given is None or (it.given.isascii() and it.given.isprintable())
    assert all(fault.isascii() and fault.isprintable() for fault in submission.form)


# ------------------------------------------------ the command

ALL_RIGHT = "All 8 numbers are right, as read here (python3 report explain readings)."


@pytest.fixture
def file_of(tmp_path):
    def file_of(content, name="output.txt"):
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(data)
        return str(tmp_path / name)

    return file_of


def test_all_is_right_in_one_line(file_of):
    assert said(["check", file_of(LAB_TEXT)], 0) == f"{ALL_RIGHT}\n"
    result = shell("python3 lab3.py | python3 report check")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{ALL_RIGHT}\n", "")


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (
            text_with(ALONE),
            [
                "7 of 8 numbers are right.",
                "Q2 pipeline latency comes out as yours if inputs do not overlap.",
                "How it is computed: python3 report explain pipeline",
            ],
        ),
        (
            text_with(FP32).replace("0.00322121216", "0.00372121216"),
            [
                "0 of 8 numbers are right.",
                "7 wrong numbers come out as yours if an element is 4 bytes (FP32).",
                "Q1 tensor latency: not explained.",
                "How it is computed: python3 report explain tensor pipeline",
            ],
        ),
        (
            text_with(ONCE),
            [
                "6 of 8 numbers are right.",
                "Q2 tensor traffic and Q2 pipeline traffic come out as yours if traffic is that",
            ],
        ),
        (
            text_of({n: RIGHT[n] / Fraction(2) if "Q1 tensor" in n else RIGHT[n] for n in RIGHT}),
            ["6 of 8 numbers are right.", "Q1 tensor: half the right numbers."],
        ),
        (
            text_with(Q1_tensor_traffic="3846144", Q1_tensor_latency="0.0071234567"),
            ["6 of 8 numbers are right.", f"Q1 tensor traffic comes out as yours if {FP32}, in"],
        ),
        (
            "\n".join([Q2, *text_with("N inputs take N times the slowest stage").splitlines()[6:]]),
            [
                "3 of 8 numbers are right, 4 lines are missing.",
                "Q2 pipeline latency comes out as yours if either N inputs take",
            ],
        ),
        ("\n".join(ROWS[:2]), ["1 of 8 numbers is right, 7 lines are missing.", ""]),
        ("\n".join(ROWS[:-1]), ["7 of 8 numbers are right, 1 line is missing.", ""]),
        (
            text_of({n: RIGHT[n] * 1000 if "latency" in n else RIGHT[n] for n in RIGHT}),
            ["4 of 8 numbers are right.", "4 latency numbers: right in ms, not in seconds.", ""],
        ),
        (LAB_TEXT.replace("1923072", "1.923e6"), [ALL_RIGHT, "", ""]),  # and the table
        (LAB_TEXT.replace(" bytes", ""), [ALL_RIGHT, "", "Form:"]),
    ],
)
def test_what_is_told_first(file_of, text, first):
    rows = said(["check", file_of(text)], 0 if first[0] == ALL_RIGHT else 1).splitlines()
    for row, start in zip(rows, first, strict=False):
        assert row.startswith(start) and (start or not row or "yours" in row), rows


def test_the_table_has_all_lines(file_of):
    _, table, *_ = said(["check", file_of(text_with(FP32))], 1).split("\n\n")
    head, *rows = table.splitlines()
    assert head.split() == ["yours", "right"]
    wrong, right = (text.splitlines() for text in (text_with(FP32), LAB_TEXT))
    assert [row.split()[-3:] for row in rows] == [
        [a.split()[-2], b.split()[-2], "wrong"]
        for a, b in zip(wrong, right, strict=True)
        if a[0] != "-"
    ]
    assert [row.split()[:3] for row in rows] == [name.split() for name in RIGHT]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (LAB_TEXT + " " * 10**6, "output.txt has more than 1,000,000 bytes; an output"),
        (b"\xff" * 100, "output.txt has none of the lines; lines like"),
        (b"%PDF-1.7 \xff", "output.txt is a PDF; pipe in"),
    ],
)
def test_a_file_that_cannot_be_judged(file_of, content, why):
    assert why in refusal(["check", file_of(content)])


def test_a_folder_and_a_missing_file(tmp_path):
    assert refusal(["check", str(tmp_path)]).endswith(": Is a directory")
    assert refusal(["check", str(tmp_path / "missing.txt")]).endswith(": No such file or directory")
    assert "No such file" in refusal(["check", "missing\x1b[31m\u00e9.txt"])
    assert refusal(["check", "a\0b"])


LINE = "Total latency of tensor parallelism is "


HOSTILE = [
    LAB_TEXT.ljust(10**6),
    *(LINE + it * (900_000 // len(it)) for it in ("1", ",111", "1_", "1e9", "1 ", " ", "=")),
    LINE + "1" * 4000 + ",5\n" + LAB_TEXT,
    "".join(f"{LINE}{n}\n" for n in range(20_000)),
    "".join(f"{LINE}{n} x\n" for n in range(20_000)),
    "total latency of " * 50_000,
    "total" + " " * 900_000 + "\n" + LAB_TEXT,
    "1 input " * 100_000,
    "Q2\n" * 300_000 + LAB_TEXT,
    "\n" * 900_000 + "import",
    f"{LINE}1e9999999999999999999 s\n" * 3,
]


def test_hostile_files_are_answered(file_of):
    files = [file_of(content, f"{number}.txt") for number, content in enumerate(HOSTILE)]
    result = python("report", "check", *files, timeout=60)
    assert result.returncode == 2 and "Traceback" not in result.stderr
    assert len(result.stdout + result.stderr) < 6_000
    numbers = [row.split()[0] for row in result.stdout.splitlines()]
    assert [it for it in numbers if it.isdigit()] == [str(it) for it in range(len(HOSTILE))]


@pytest.mark.parametrize(
    "data",
    [
        LAB_TEXT.encode("utf-16"),  # with a byte order mark, as PowerShell writes it
        b"\xfe\xff" + LAB_TEXT.encode("utf-16-be"),
        LAB_TEXT.encode("utf-8-sig"),
        LAB_TEXT.encode() + b"\xff\xfe\n",
        LAB_TEXT.replace("\n", "\r\n").rstrip().encode(),
    ],
)
def test_files_of_other_systems(file_of, data):
    assert said(["check", file_of(data)], 0) == f"{ALL_RIGHT}\n"


def test_what_is_repeated_is_printable_ascii(file_of):
    for number in ("\x1b[31m3\x07 s", "3\u00e9", "\u0663", "\u00e9" * 500, "\x9b31m", "3\u017f"):
        text = LAB_TEXT.replace("1923072 bytes", number).replace(Q2, f"Q2 {number} \x1b]0;x\x07")
        for options in ([], ["--json"]):
            assert said(["check", *options, file_of(text)], 1)
    good = file_of(LAB_TEXT, "h\u00e9\x1b[31m.txt")
    assert "h?" in said(["check", good, file_of(text_with(FP32))], 1)


def test_several_files_have_a_line_each(file_of):
    texts = [
        *(LAB_TEXT, text_with(START), text_with(FP32), text_with(FP32, ALONE)),
        *("\n".join(ROWS[:-1]), LAB_TEXT.replace("1923072", "1923071").replace(" bytes", "")),
    ]
    names = ["123_A", "124_B", "125_B", "125_C", "126_D", "127_E"]
    files = [
        file_of(text, f"lab3_{name}_Lab3.txt") for text, name in zip(texts, names, strict=True)
    ]
    by_file, by_change = said(["check", *files], 1).split("\n\n")
    rows = [row.split(maxsplit=4) for row in by_file.splitlines()[1:]]
    assert [row[:4] for row in rows] == [
        [name, right, "of", "8"]
        for name, right in zip(names, ["8", "0", "0", "0", "7", "7"], strict=True)
    ]
    assert [row[4] for row in rows] == [
        *("right", START, FP32, f"{FP32} and {ALONE}"),
        *("missing (1)", "not explained (1); form (1)"),
    ]
    counts = [row.split(maxsplit=1) for row in by_change.splitlines()[1:]]
    assert counts == [["2", FP32], ["1", START], ["1", ALONE]]  # most frequent first

    whole = json.loads(said(["check", "--json", *files], 1))
    assert (whole["version"], whole["asked"]["inputs"]) == (5, 32)
    submissions = whole["submissions"]
    assert [it["file"] for it in submissions] == files
    assert [(it["right"], it["of"]) for it in submissions] == [(n, 8) for n in (8, 0, 0, 0, 7, 7)]
    assert whole["occurrences"] == {FP32: 2, START: 1, ALONE: 1}
    assert submissions[1]["explained"] == [
        {"numbers": [*RIGHT], "sets": [[START]], "more": 0, "units": [], "only": ""}
    ]
    assert submissions[5]["why"] == ["not explained (1)", "form (1)"]
    assert submissions[1]["numbers"][1] == {
        "line": "Q1 tensor traffic", "given": "1941504", "right": 1_923_072, "verdict": "wrong"
    }  # fmt: skip


def test_a_file_that_cannot_be_judged_does_not_stop_others(file_of):
    right, wrong = file_of(LAB_TEXT), file_of("hello", "hello.txt")
    for files in ([right, wrong], [wrong, right], [wrong, file_of(PROGRAM, "lab3.py"), right]):
        status, out, err = call(["check", *files])
        assert status == 2 and "hello.txt has none of the lines" in err and "8 of 8" in out
        assert [row.split(maxsplit=2)[1:] for row in out.splitlines() if "none" in row] == [
            ["-", "none of the lines"]
        ]
        status, out, err = call(["check", "--json", *files])
        found = {it["file"]: it.get("refused") for it in json.loads(out)["submissions"]}
        assert (status, found[right], found[wrong]) == (2, None, "none of the lines")
    status, out, err = call(["check", wrong, "missing.txt"])
    assert (status, out) == (2, "") and "hello.txt" in err and "missing.txt" in sentence(err)


def test_standard_input(file_of):
    for files in ("", "-", f"- {file_of(LAB_TEXT)}"):
        result = shell(f"python3 lab3.py | sed 's/1923072/604160/' | python3 report check {files}")
        assert (result.returncode, result.stderr) == (1, "")
        assert "this is Q1 pipeline traffic" in result.stdout
    for command, why in [
        ("python3 report check <&-", "standard input is closed; pipe in"),
        ("python3 report check </dev/null", "standard input is empty; pipe in"),
        ("python3 report check <lab3.py", "standard input is a program; pipe in"),
        ("python3 report check lab3.py", "lab3.py is a program; pipe in what it prints: python3"),
    ]:
        result = shell(command)
        assert (result.returncode, result.stdout) == (2, "") and why in sentence(result.stderr)


def test_a_single_line(file_of):
    out = said(["check", file_of(f"Q2\n{ROWS[8].replace('0.1557861376', '0.39793000448')}")], 1)
    assert out.startswith("0 of 8 numbers are right, 7 lines are missing.\nQ2 pipeline latency")
    assert "inputs do not overlap.\n" in out


def test_what_if_options_and_what_was_asked(file_of):
    out = said(["check", file_of(LAB_TEXT), *ODD_OPTIONS.split()], 1)
    assert out.startswith("what if: 8 inputs, 6 nodes, ring")
    assert "All 4 numbers" in said(["check", "--inputs", "1", file_of("\n".join(ROWS[:5]))], 0)
    assert "3 nodes" in refusal(["check", "--nodes", "3", file_of(LAB_TEXT)])
