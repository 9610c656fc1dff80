"""report/check.py: which numbers of a submission are right, and which mistake makes the others.

Submissions are made from mistakes.py, which computes numbers with mistakes in its own way.
"""

import json
import random
import re
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mistakes
from lab3 import ConvLayer, System
from mistakes import OF_BOTH, OF_PIPELINE, OF_TENSOR
from odd_machines import ODD, ODD_ALL_TO_ALL, ODD_OPTIONS
from program import call, refusal, sentence, shell
from report.check import check
from report.question import LAB, Question

RIGHT = mistakes.numbers()
HEADS = {"Q1": "-----Q1 single input-----", "Q2": "--------Q2 32 inputs------"}
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


def lines_of(texts, heads=HEADS, shuffle=None):
    """A submission of these numbers, by line."""
    rows = []
    for question in ("Q1", "Q2"):
        rows += [heads[question]] if heads else []
        below = []
        for name, text in texts.items():
            asked, strategy, kind = name.split()
            if asked == question:
                what = "latency" if kind == "latency" else "network traffic"
                below.append(f"Total {what} of {strategy} parallelism is {text}")
        if shuffle:
            shuffle(below)
        rows += below
    return "\n".join(rows) + "\n"


def decimal(value, digits, rounding=ROUND_HALF_EVEN):
    with localcontext() as context:
        context.prec, context.rounding = digits, rounding
        return f"{Decimal(value.numerator) / Decimal(value.denominator):f}"


def verdicts(submission):
    return {it.line: it.verdict for it in submission.numbers}


def said(line, status):
    """What the command prints: ASCII for a terminal of 80 columns."""
    ended, out, err = call(line)
    assert (ended, err) == (status, "")
    assert out.isascii() and out.replace("\n", "").isprintable()
    assert "--json" in line or max(map(len, out.splitlines())) <= 80
    assert out == out.rstrip() + "\n"
    return out


# ------------------------------------------------ mistakes that are known

SCOPES = {
    "both": OF_BOTH + OF_TENSOR + OF_PIPELINE,
    "tensor": OF_BOTH + OF_TENSOR,
    "pipeline": OF_BOTH + OF_PIPELINE,
    "Q2": OF_BOTH + OF_TENSOR + OF_PIPELINE,
}
FORMS = ("exact", "rounded", "cut", "in ms", "in kB", "ms, not seconds", "kB, not bytes")
IN_UNITS = {"ms": ("latency", 1000), "kB": ("traffic", Fraction(1, 1000))}


def drawn(seed, scope):
    """Up to three changes; by line the numbers that they make; a text that has them in some form,
    and to how many digits."""
    chance = random.Random(f"{scope} {seed}")
    while True:
        things = chance.sample(SCOPES[scope], chance.randint(0, 3))
        changes = frozenset(map(chance.choice, things))
        if all(len(changes & excluding) < 2 for excluding in mistakes.EXCLUDING):
            break
    made = mistakes.numbers(changes)
    values = {
        name: made[name] if scope == "both" or scope in name.split() else RIGHT[name]
        for name in RIGHT
    }
    form, digits = FORMS[seed % len(FORMS)], chance.randint(5, 8)
    if form not in ("rounded", "cut"):
        digits = 17
    texts = {}
    for name, value in values.items():
        kind, scale = name.split()[-1], 1
        said, rounded = ("seconds", digits) if kind == "latency" else ("bytes", 17)
        for unit, (of, times) in IN_UNITS.items():
            if unit in form and of == kind:
                scale, said = times, unit if form.startswith("in") else said
        rounding = ROUND_DOWN if form == "cut" else ROUND_HALF_EVEN
        texts[name] = f"{decimal(Fraction(value * scale), rounded, rounding)} {said}"
    heads = HEADS if chance.random() < 0.8 else None
    return changes, values, form, digits, lines_of(texts, heads, chance.shuffle)


def assert_told(submission, changes, values, form="exact", digits=17, besides=()):
    """Right numbers are called so, wrong ones are explained by sets no larger that make them."""
    unsaid = {of: unit for unit, (of, _) in IN_UNITS.items() if form.startswith(f"{unit}, not")}
    explained = {}
    for each in submission.explained:
        assert each.sets and not explained.keys() & {*each.numbers}
        explained |= dict.fromkeys(each.numbers, each)
        for names in each.sets:
            assert len(names) <= len(changes)
            made = mistakes.numbers(frozenset(names))
            for name in each.numbers:
                most_off = Fraction(values[name]) / 10 ** (min(digits, 10) - 1)
                assert abs(made[name] - values[name]) <= most_off, (name, names)
        wrong_kinds = {name.split()[-1] for name in each.numbers if values[name] != RIGHT[name]}
        assert [*each.units] == [unit for of, unit in unsaid.items() if of in wrong_kinds]
    for name, verdict in verdicts(submission).items():
        if name in besides:
            continue
        if values[name] == RIGHT[name]:
            unit = unsaid.get(name.split()[-1])
            assert verdict.startswith(f"wrong unit ({unit})" if unit else "right"), name
        elif verdict.startswith("this is "):  # as of traffic that is not multiplied by N
            assert values[name] in RIGHT.values()
        elif not verdict.startswith("right"):  # as far as its digits go
            assert verdict == "wrong" and name in explained, (name, verdict)


@pytest.mark.parametrize("scope", SCOPES)
def test_what_comes_back_is_what_went_in(scope):
    for seed in range(56):
        changes, values, form, digits, text = drawn(seed, scope)
        try:
            submission = check(text)
            assert_told(submission, changes, values, form, digits)
            assert scope == "Q2" or len(submission.explained) <= 1
        except AssertionError as error:
            raise AssertionError(f"{scope} {seed}: {sorted(changes)} {form}\n{text}") from error


@pytest.mark.parametrize("scope", SCOPES)
def test_a_mistyped_digit_is_not_explained(scope):
    surprises = 0
    for seed in range(0, 12 * len(FORMS), len(FORMS)):  # of exact ones
        changes, values, _, _, text = drawn(seed, scope)
        chance = random.Random(f"mistyped {scope} {seed}")
        rows = text.splitlines()
        at = chance.choice([n for n, row in enumerate(rows) if " is 0." in row])
        front, number = rows[at].split(" is 0.")
        place = chance.choice([n for n in range(2, 8) if number[n] != "0"])
        rows[at] = (
            f"{front} is 0.{number[:place]}{(int(number[place]) + 5) % 10}{number[place + 1 :]}"
        )
        submission = check("\n".join(rows))
        [name] = [it.line for it in submission.numbers if it.given == rows[at].split()[-2]]
        assert_told(submission, changes, values, besides=[name])
        surprises += verdicts(submission)[name] != "not explained"
    assert surprises <= 1  # three changes may give it by chance


def test_right_numbers_under_other_labels():
    for seed in range(20):
        chance = random.Random(seed)
        texts = {name: f"{decimal(Fraction(value), 17)}" for name, value in RIGHT.items()}
        kind = chance.choice(["latency", "traffic"])
        one, other = chance.sample([name for name in RIGHT if kind in name], 2)
        texts[one], texts[other] = texts[other], texts[one]
        submission = check(lines_of(texts))
        found = verdicts(submission)
        assert found.pop(one) == f"this is {other.removesuffix(f' {kind}')}'s"
        assert found.pop(other) == f"this is {one.removesuffix(f' {kind}')}'s"
        assert {*found.values()} == {"right"}
        assert (submission.explained, submission.right_lines) == ([], 6)


FP32, FP32_TEXT = (
    "an element is 4 bytes (FP32)",
    """\
-----Q1 single input-----
Total latency of tensor parallelism is 0.00322121216 seconds
Total network traffic of tensor parallelism is 3846144 bytes
Total latency of pipeline parallelism is 0.01273739264 seconds
Total network traffic of pipeline parallelism is 1208320 bytes
--------Q2 32 inputs------
Total latency of tensor parallelism is 0.10307878912 seconds
Total network traffic of tensor parallelism is 123076608 bytes
Total latency of pipeline parallelism is 0.1560882176 seconds
Total network traffic of pipeline parallelism is 38666240 bytes
""",
)


def test_one_mistake_in_everything():
    [explained] = check(FP32_TEXT).explained
    assert ({*explained.numbers}, explained.sets) == ({*RIGHT}, [(FP32,)])
    assert (explained.more, explained.units) == (0, ())


def test_a_mistake_in_one_number():
    # half of 1,923,072 and 3 * 6,144 bytes, once: INT8 would change the latency, too
    submission = check(LAB_TEXT.replace(" 1923072 ", " 970752 "))
    [explained] = submission.explained
    assert explained.numbers == ("Q1 tensor traffic",)
    int8 = "an element is 1 byte (INT8)"
    assert explained.sets[0] == (int8, "inputs start on one node")
    assert submission.right_lines == 7


def test_a_mistake_in_q2_alone():
    # tensor parallelism started on one node, the pipeline's last output sent
    start, last = "inputs start on one node", "the last output is sent, too"
    text = LAB_TEXT
    for old, new in [
        ("0.10007232512", "0.10017062912"),
        ("61538304", "62128128"),
        ("0.1557861376", "0.1558598656"),
        ("19333120", "24051712"),
    ]:
        text = text.replace(old, new)
    [explained] = check(text).explained
    assert {*explained.numbers} == {name for name in RIGHT if name.startswith("Q2")}
    assert explained.sets == [(start, last)]


def test_a_mistake_in_one_latency_is_held_against_the_traffic_beside_it():
    # (4 + 31) * (4.62422016 + 0.100352) ms
    stages = "a node that sends does not compute", "every stage takes as long as the longest"
    text = LAB_TEXT.replace("0.1557861376", "0.1653600256")
    for each in (text, text.replace("0.10007232512", "0.10607232512")):  # which nothing explains
        [explained] = check(each).explained
        assert {*explained.numbers} == {"Q2 pipeline latency", "Q2 pipeline traffic"}
        assert explained.sets == [stages]


def test_a_mistake_in_wrong_units():
    # 3,846,144 / 1,024 ...
    text = FP32_TEXT
    for old, new in [
        ("3846144", "3756"),
        ("1208320", "1180"),
        ("123076608", "120192"),
        ("38666240", "37760"),
    ]:
        text = text.replace(old, new)
    [explained] = check(text).explained
    assert (explained.sets, explained.units, len(explained.numbers)) == ([(FP32,)], ("KiB",), 8)


def text_with(numbers):
    """The lab's, with other numbers."""
    texts = {name: decimal(Fraction(value), 17) for name, value in RIGHT.items()}
    return lines_of(texts | numbers)


def test_more_than_three_changes_are_told_of_each_strategy():
    start, last = "inputs start on one node", "the last output is sent, too"
    tensor = {start, "the output ends on every node", "whole outputs are sent, not shards"}
    pipeline = {last, "inputs do not overlap", "nodes take as long as the slowest"}
    made = mistakes.numbers(frozenset(tensor | pipeline))
    explained = check(
        text_with({name: decimal(Fraction(it), 17) for name, it in made.items()})
    ).explained
    assert [{*names} for each in explained for names in each.sets] == [tensor, pipeline]


def test_what_follows_from_another_number_is_no_evidence():
    # 1 MAC is 1 op, 2^30 ops/s: 1.506446 ms, 32 times 48.2063: three digits hold up one change
    few = {"Q1 tensor latency": "0.00151", "Q2 tensor latency": "0.0482"}
    assert check(text_with(few)).explained == []
    more = {"Q1 tensor latency": "0.001506", "Q2 tensor latency": "0.04821"}
    assert len(check(text_with(more)).explained[0].sets[0]) == 2


def test_a_mistake_in_both_questions_is_not_explained_in_one_by_chance():
    # traffic per node: a quarter, as bits, 8 times as much, if not multiplied by 32
    q1, q2 = {"Q1 tensor traffic": "480768"}, {"Q2 tensor traffic": "15384576"}
    assert check(text_with(q1 | q2)).explained == []
    [explained] = check(text_with(q2)).explained
    assert explained.sets == [("traffic is counted in bits", "traffic is not multiplied by N")]


def test_a_mistake_in_one_kind_of_number_is_not_explained_by_another_kinds_by_chance():
    # whole outputs in the latency alone, 3,033.30816 + 4 * 93.952 us; the right traffic of 32
    # inputs is 8 * 7,692,288, bits of whole outputs that are not multiplied
    latencies = {"Q1 tensor latency": "0.00340911616", "Q2 tensor latency": "0.10909171712"}
    [explained] = check(text_with(latencies)).explained
    assert (explained.numbers, explained.sets) == (
        tuple(latencies),
        [("whole outputs are sent, not shards",)],
    )


def test_a_multiple_of_the_right_numbers_is_said_to_be_one():
    # with elements of 4 bytes latencies would be longer, too
    twice = {"Q1 tensor traffic": "3846144", "Q2 tensor traffic": "123076608"}
    for wrong in (twice, {"Q2 tensor traffic": "123076608"}):
        submission = check(text_with(wrong))
        said = {it.line: it.verdict for it in submission.numbers if it.line in wrong}
        assert said == dict.fromkeys(wrong, "twice the right number")
        assert submission.explained == []
    half, *_ = check(text_with({"Q1 tensor latency": "0.00156363008"})).numbers
    assert half.verdict == "half the right number"


def test_one_number_alone_is_not_tried_in_other_units():
    # 397.93000448 ms: inputs do not overlap
    alone = {"Q2 pipeline latency": "397.93000448"}
    assert check(text_with(alone)).explained == []
    in_ms = {name: decimal(Fraction(RIGHT[name]) * 1000, 17) for name in RIGHT if "latency" in name}
    [explained] = check(text_with(in_ms | alone)).explained
    assert (explained.sets, explained.units) == ([("inputs do not overlap",)], ("ms",))


def test_one_number_of_few_digits_is_not_explained_by_chance():
    # 203.7982... ms: 1 MAC is 1 op, inputs do not overlap
    for number, sets in [("0.204", 0), ("0.2038", 1), ("0.20380", 1), ("0.2037983", 1)]:
        text = LAB_TEXT.replace("0.1557861376", number)
        assert len(check(text).explained) == sets


def test_of_many_sets_three_are_named():
    # Two layers, each with shards of 2 * 2 / 2 elements of 2 bytes: 8 s. FP32, whole outputs and
    # padding, from 2 to 4 places, double that; so do an input of 4 elements that is sent, and layer
    # 1's output that is collected, then sent.
    layers = (ConvLayer(2, 1, 3, 1, 4, 1), ConvLayer(2, 2, 1, 1, 2, 1))
    question = Question(layers, System(2, 10**12, 1), 1)
    [explained] = check("Total latency of tensor parallelism is 16.0 seconds", question).explained
    assert (len(explained.sets), explained.more) == (3, 2)
    assert (FP32,) in explained.sets and len(set(explained.sets)) == 3


# ------------------------------------------------ which numbers are right

LATENCY, TRAFFIC, OTHER = "0.00312726016 seconds", "1923072 bytes", "0.10007232512 seconds"


def verdict_of(number, line="Q1 tensor latency", question=LAB):
    """If all others are right."""
    old = {"Q1 tensor latency": LATENCY, "Q1 tensor traffic": TRAFFIC, "Q2 tensor latency": OTHER}
    return verdicts(check(LAB_TEXT.replace(old[line], number), question))[line]


@pytest.mark.parametrize(
    ("number", "verdict"),
    [
        ("0.00312726016 seconds", "right"),
        ("0.00312726016", "right"),
        ("3.12726016E-03 sec", "right"),
        ("+0.00312726016s", "right"),
        (": 0.00312726016 s", "right"),
        ("0.0031272601600000002 seconds", "right"),
        ("3.12726016ms", "right, in ms"),
        ("3127.26016 \u00b5s", "right, in us"),
        ("0.003127 seconds", "right, rounded to 4 digits"),
        ("0.00312 seconds", "right, cut to 3 digits"),
        ("3.127 ms", "right, rounded to 4 digits, in ms"),
        ("0.0031 seconds", "agrees, with too few digits"),
        ("0.003 seconds", "agrees, with too few digits"),
        ("0.007 seconds", "too few digits to say more"),
        ("3.12726016 seconds", "wrong unit (ms)"),
        ("3127 seconds", "wrong unit (us)"),
        ("3127260.16 seconds", "wrong unit (ns)"),
        ("0.00000312726 ms", "wrong unit (1000 seconds)"),
        ("3.127 hours", "wrong unit (ms)"),
        ("0.0124353 seconds", "this is Q1 pipeline's"),
        ("0.1000723 seconds", "this is Q2 tensor's"),
        ("155.786 ms", "this is Q2 pipeline's"),
        ("1923072 seconds", "this is Q1 tensor traffic"),
        ("0.00333 seconds", "not explained"),
        ("xxx seconds", "no number"),
        ("nan seconds", "no number"),
        ("None", "no number"),
        ("", "no number"),
        ("0,00312726016 seconds", "no number"),
        ("0x3", "no number"),
        ("0 seconds", "zero, negative or too large"),
        ("-0.00312726016 seconds", "zero, negative or too large"),
        ("inf seconds", "zero, negative or too large"),
        ("1e999 seconds", "zero, negative or too large"),
    ],
)
def test_the_verdict_of_a_latency(number, verdict):
    assert verdict_of(number) == verdict


@pytest.mark.parametrize(
    ("number", "verdict"),
    [
        ("1923072.0 bytes", "right"),
        ("1,923,072 bytes", "right"),
        ("1 923 072 bytes", "right"),
        ("1_923_072", "right"),
        ("1.923072e+06", "right"),
        ("1.923e6 B", "right, rounded to 4 digits"),
        ("1923.072 kB", "right, in kB"),
        ("1.92MB", "right, rounded to 3 digits, in MB"),
        ("1878 KiB", "right, in KiB"),
        ("15384576 bits", "right, in bits"),
        ("1923072.1 bytes", "not explained"),
        ("7 bytes", "not explained"),
        ("1.92 bytes", "wrong unit (MB)"),
        ("1878 bytes", "wrong unit (KiB)"),
        ("1878 KB", "right, in KiB"),
        ("1.834 MB", "right, rounded to 4 digits, in MiB"),
        ("1923072 MB", "wrong unit (bytes)"),
        ("604160 bytes", "this is Q1 pipeline's"),
        ("61538304 bytes", "this is Q2 tensor's"),
        ("15384576 bytes", "wrong"),  # explained: in bits
        ("0 bytes", "zero, negative or too large"),
    ],
)
def test_the_verdict_of_traffic(number, verdict):
    assert verdict_of(number, "Q1 tensor traffic") == verdict


def test_right_counts_lines():
    for number, right in [
        ("1923072 bytes", 8),
        ("1.923 MB", 8),
        ("604160", 7),
        ("xxx", 7),
        ("1.9", 7),
    ]:
        submission = check(LAB_TEXT.replace("1923072 bytes", number))
        assert (submission.right_lines, submission.lines) == (right, 8)


# ------------------------------------------------ how it is written


@pytest.mark.parametrize(
    "text",
    [
        LAB_TEXT.upper(),
        LAB_TEXT.lower(),
        LAB_TEXT.replace("\n", "\r\n"),
        LAB_TEXT.rstrip(),
        LAB_TEXT.replace(" ", " \t "),
        "".join(f"  > {row}  \n\n" for row in LAB_TEXT.splitlines()),
        LAB_TEXT.replace(" seconds", "s").replace(" bytes", "bytes"),
        "\n".join(LAB_TEXT.splitlines()[5:] + LAB_TEXT.splitlines()[:5]),
        f"Simulating 32 inputs on 4 nodes: Q2\n{LAB_TEXT}Done: 32 inputs\n",
        LAB_TEXT.replace("\n", "\n(12 inputs, 7 inputs)\n"),
        LAB_TEXT + LAB_TEXT,
    ],
)
def test_lines_are_known_however_they_are_written(text):
    submission = check(text)
    assert [it.verdict for it in submission.numbers] == ["right"] * 8
    assert [it for it in submission.form if "unit" not in it and " in " not in it] == []


# ------------------------------------------------ form

ROWS = LAB_TEXT.splitlines()
Q2_TRAFFIC = "Total network traffic of tensor parallelism is"


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        (LAB_TEXT, []),
        (LAB_TEXT.replace("-", "").upper(), []),
        (LAB_TEXT.replace(HEADS["Q1"], ""), [HEADS["Q1"]]),
        (LAB_TEXT.replace(HEADS["Q2"], "Q2"), ["'Q2' " + HEADS["Q2"]]),
        (LAB_TEXT.replace("32 inputs", "16 inputs"), ["Q2 16 inputs " + HEADS["Q2"]]),
        ("\n".join(row for row in ROWS if row[0] != "-"), [HEADS["Q1"], HEADS["Q2"]]),
        (LAB_TEXT.replace("is 0.003", "= 0.003"), ["sign Q1 tensor latency"]),
        (LAB_TEXT.replace("is 0.00312726016 seconds", "= 3.12726016 ms"), ["'ms'", "sign"]),
        (LAB_TEXT.replace(" seconds", " s"), []),
        (LAB_TEXT.replace(" bytes", ""), ["unit bytes 4 numbers"]),
        (LAB_TEXT.replace("1923072 bytes", "1.923072 MB"), ["'MB' bytes Q1 tensor traffic"]),
        (LAB_TEXT.replace("1923072 bytes", "1923072 seconds"), ["'seconds' bytes Q1"]),
        ("\n".join(ROWS[:-1]), ["Q2 pipeline traffic missing sample"]),
        ("\n".join(ROWS[:-2]), ["Q2 pipeline latency missing", "Q2 pipeline traffic missing"]),
    ],
)
def test_faults_of_the_form(text, faults):
    form = check(text).form
    assert len(form) == len(faults)
    for said_of, named in zip(form, faults, strict=True):
        assert all(word in said_of for word in named.split())
        assert "sample" in named or "sample" not in said_of


def test_the_handouts_own_sample():
    # it repeats two lines of Q2 and omits the pipeline's traffic
    same = check("\n".join([*ROWS[:8], ROWS[7], ROWS[8], ROWS[8]]))
    assert verdicts(same) == dict.fromkeys(RIGHT, "right") | {"Q2 pipeline traffic": "missing"}
    assert (same.right_lines, len(same.form)) == (7, 1)
    assert "sample" in same.form[0]

    # the repeated line with the omitted one's number
    other = check("\n".join([*ROWS[:8], f"{Q2_TRAFFIC} 19333120 bytes", ROWS[8], ROWS[8]]))
    assert [(it.given, it.verdict) for it in other.numbers if it.line == "Q2 tensor traffic"] == [
        ("61538304", "right"),
        ("19333120", "the number of the missing line"),
    ]
    assert (other.right_lines, other.lines) == (7, 8)
    assert any("Q2 tensor traffic has 2" in fault for fault in other.form)

    # with another line's
    other = check("\n".join([*ROWS[:8], f"{Q2_TRAFFIC} 604160 bytes", ROWS[8], ROWS[8]]))
    assert "this is Q1 pipeline's" in [it.verdict for it in other.numbers]

    # and with a wrong one
    wrong = check("\n".join([*ROWS[:8], f"{Q2_TRAFFIC} 12345678 bytes", ROWS[8], ROWS[8]]))
    assert [it.verdict for it in wrong.numbers if it.line == "Q2 tensor traffic"] == [
        "right",
        "not explained",
    ]
    assert wrong.right_lines == 6


def test_a_strategy_that_is_impossible_has_no_lines():
    # 5 nodes do not divide 128 filters, 4 layers need 4 nodes
    for nodes, expected in [(5, "pipeline"), (2, "tensor")]:
        question = LAB.on(nodes=nodes)
        submission = check(LAB_TEXT, question)
        assert {name.split()[1] for name in verdicts(submission)} == {expected}
        assert sum("is not expected" in fault for fault in submission.form) == 4
        assert f"{nodes} nodes" in submission.form[0] or f"not {nodes}" in submission.form[0]


def test_with_one_input_there_is_no_q2():
    one = LAB._replace(inputs=1)
    assert check("\n".join(ROWS[:5]), one).form == []
    submission = check(LAB_TEXT, one)
    assert submission.right_lines == submission.lines == 4
    assert sum("is not expected" in fault for fault in submission.form) == 4


def test_variants_of_the_lab_are_judged():
    # 16 inputs take 16 * 3.12726016 and 12.43531264 + 15 * 4.62422016 ms
    text = LAB_TEXT.replace("32 inputs", "16 inputs")
    for old, new in [
        ("0.10007232512", "0.05003616256"),
        ("61538304", "30769152"),
        ("0.1557861376", "0.08179861504"),
        ("19333120", "9666560"),
    ]:
        text = text.replace(old, new)
    submission = check(text, LAB._replace(inputs=16))
    assert (submission.right_lines, submission.form, submission.explained) == (8, [], [])
    # ODD on its ring: test_readings.py has the working
    text = (
        "Q1\nTotal latency of tensor parallelism is 1003.5 s\n"
        "Total network traffic of tensor parallelism is 7920 bytes\nQ2\n"
        "Total latency of tensor parallelism is 8028 s\n"
        "Total latency of pipeline parallelism is 13143 s\n"
    )
    [explained] = check(text, ODD).explained
    assert explained.sets == [("the bytes are spread over all links",)]
    assert check(text, ODD_ALL_TO_ALL).explained[0].sets != explained.sets


# ------------------------------------------------ what is no submission


@pytest.mark.parametrize(
    "text", ["", "hello", "Total latency", "Q1\nQ2\n32 inputs", None, 5, b"Q1"]
)
def test_a_text_without_any_line_is_refused(text):
    with pytest.raises(ValueError, match=r"none of the required lines|not a text"):
        check(text)


def test_a_wrong_question_is_refused():
    for question, named in [
        (None, "Question"),
        (LAB._replace(inputs=0), "inputs: 0"),
        (LAB.on(nodes=3), "3 nodes"),
    ]:
        with pytest.raises(ValueError, match=named):
            check(LAB_TEXT, question)


PIECES = st.sampled_from(
    [*ROWS, *LAB_TEXT.split(), "\n", " ", "\r", "\x1b[31m", "\u00e9", "1e400", "\0"]
)


@given(st.one_of(st.text(), st.lists(PIECES | st.text(max_size=3)).map(" ".join)))
def test_any_text_is_judged_or_refused(text):
    try:
        submission = check(text)
    except ValueError:
        return
    assert 0 <= submission.right_lines <= submission.lines == 8


@given(st.data())
def test_a_submission_with_anything_in_it_is_judged(data):
    rows = [*ROWS]
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(rows) - 1))
        start = data.draw(st.integers(0, len(rows[at])))
        end = data.draw(st.integers(start, len(rows[at])))
        rows[at] = rows[at][:start] + data.draw(st.text(max_size=5)) + rows[at][end:]
    text = "\n".join(rows)
    try:
        submission = check(text)
    except ValueError:
        return
    for it in submission.numbers:
        assert it.given is None or (it.given.isascii() and it.given.isprintable())
    assert all(fault.isascii() and fault.isprintable() for fault in submission.form)


# ------------------------------------------------ the command


@pytest.fixture
def file_of(tmp_path):
    def file_of(content, name="output.txt"):
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(data)
        return str(tmp_path / name)

    return file_of


def test_all_is_right_in_one_line(file_of):
    assert said(["check", file_of(LAB_TEXT)], 0) == "All 8 numbers are right.\n"
    result = shell("python3 lab3.py | python3 report check")
    assert (result.returncode, result.stdout) == (0, "All 8 numbers are right.\n")
    assert result.stderr == ""


def test_a_file_is_told_from_what_explains_it(file_of):
    out = said(["check", file_of(FP32_TEXT)], 1)
    first, gap, head, *rows = out.splitlines()
    assert first == "An element is 4 bytes (FP32): that explains all 8 numbers."
    assert (gap, head.split()) == ("", ["yours", "right"])
    wrong, right = ([row.split() for row in text.splitlines()] for text in (FP32_TEXT, LAB_TEXT))
    assert [row.split()[-3:] for row in rows] == [
        [a[-2], b[-2], "wrong"]
        for a, b in zip(wrong, right, strict=True)
        if a[-1] in ("seconds", "bytes")
    ]
    assert [row.split()[:2] for row in rows] == [
        [question, strategy]
        for question in ("Q1", "Q2")
        for strategy in ("tensor", "tensor", "pipeline", "pipeline")
    ]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (LAB_TEXT.replace("1923072", "1.923e6"), "All 8 numbers are right, as far as they go."),
        (LAB_TEXT.replace("1923072 bytes", "1923.072 kB"), "All 8 numbers are right."),
        (LAB_TEXT.replace("Q1", ""), "All 8 numbers are right."),
    ],
)
def test_faults_of_the_form_do_not_count(file_of, text, first):
    assert said(["check", file_of(text)], 0).splitlines()[0] == first


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (LAB_TEXT.replace("1923072", "xxx"), "No number: Q1 tensor traffic."),
        (LAB_TEXT.replace("0.00312726016", "3.12726016"), "Wrong unit (ms): Q1 tensor latency."),
        (LAB_TEXT.replace("1923072", "604160"), "Another line's number: Q1 tensor traffic."),
        (LAB_TEXT.replace("1923072", "1923071"), "Not explained: Q1 tensor traffic."),
        ("\n".join(ROWS[:-1]), "Missing: Q2 pipeline traffic."),
        (
            "\n".join([*ROWS[:-1], f"{Q2_TRAFFIC} 19333120"]),
            "Missing: Q2 pipeline traffic.",
        ),
        ("\n".join(ROWS[:5]), "Missing: 4 numbers."),
    ],
)
def test_what_is_wrong_is_told_first(file_of, text, first):
    assert said(["check", file_of(text)], 1).splitlines()[:2] == [first, ""]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (LAB_TEXT + " " * 10**6, "1,000,000 bytes"),
        ("hello\n", "none of the required lines"),
        (b"\xff" * 100, "none of the required lines"),
        (b"", "none of the required lines"),
    ],
)
def test_a_file_that_cannot_be_judged(file_of, content, why):
    because = refusal(["check", file_of(content)])
    assert because.startswith("FILE '") and why in because


def test_a_folder_and_a_missing_file(tmp_path):
    assert "directory" in refusal(["check", str(tmp_path)])
    assert "No such file" in refusal(["check", str(tmp_path / "missing.txt")])
    assert "No such file" in refusal(["check", "missing\x1b[31m\u00e9.txt"])
    assert refusal(["check", "a\0b"])


def test_a_million_bytes_are_judged(file_of):
    assert said(["check", file_of(LAB_TEXT.ljust(10**6))], 0)


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
    assert said(["check", file_of(data)], 0) == "All 8 numbers are right.\n"


def test_what_is_repeated_is_printable_ascii(file_of):
    for number in (
        "\x1b[31m3\x07 s",
        "3\u00e9",
        "\u0663\u0664",
        "\u00e9" * 500,
        "\x9b31m",
        "\u202e3",
    ):
        text = LAB_TEXT.replace("1923072 bytes", number).replace(
            HEADS["Q2"], f"Q2 {number} \x1b]0;x\x07"
        )
        for options in ([], ["--json"]):
            assert said(["check", *options, file_of(text)], 1)
    good = file_of(LAB_TEXT, "h\u00e9\x1b[31m.txt")
    assert "h?" in said(["check", good, file_of(FP32_TEXT)], 1)


def test_several_files_have_a_line_each(file_of):
    start = "inputs start on one node"
    made = mistakes.numbers(frozenset([start]))
    started = text_with({name: decimal(Fraction(value), 17) for name, value in made.items()})
    texts = [LAB_TEXT, started, FP32_TEXT, FP32_TEXT, "\n".join(ROWS[:-1])]
    files = [file_of(text, f"{number}.txt") for number, text in enumerate(texts)]
    by_file, by_reason = said(["check", *files], 1).split("\n\n")
    assert re.findall("([0-9]) of 8", by_file) == ["8", "4", "0", "0", "7"]
    assert [f"{n}.txt" in row for n, row in enumerate(by_file.splitlines()[1:3])] == [True, True]
    counts = [row.split(maxsplit=1) for row in by_reason.splitlines()[1:]]
    assert counts[0] == ["2", FP32]  # most frequent first
    assert sorted(counts[1:]) == [["1", start], ["1", "missing"], ["1", "right"]]

    whole = json.loads(said(["check", "--json", *files], 1))
    submissions = whole["submissions"]
    assert [(it["right"], it["of"]) for it in submissions] == [(n, 8) for n in (8, 4, 0, 0, 7)]
    assert whole["occurrences"] == {FP32: 2, "right": 1, start: 1, "missing": 1}
    assert submissions[1]["explained"][0]["sets"] == [[start]]
    assert submissions[1]["numbers"][1] == {
        "line": "Q1 tensor traffic", "given": "1941504", "right": 1_923_072, "verdict": "wrong"
    }  # fmt: skip
    assert whole["asked"]["inputs"] == 32


def test_a_file_that_cannot_be_judged_does_not_stop_others(file_of):
    right, wrong, other = (
        file_of(LAB_TEXT),
        file_of("hello", "hello.txt"),
        file_of(FP32_TEXT, "fp32.txt"),
    )
    for files in ([right, wrong], [wrong, right], [wrong, other]):
        status, out, err = call(["check", *files])
        assert status == 2 and err.count("\n") == 1 and "hello.txt" in sentence(err)
        assert ("8 of 8" in out) is (right in files)
    status, out, err = call(["check", wrong, "missing.txt"])
    assert (status, out) == (2, "") and "hello.txt" in err and "missing.txt" in err


def test_standard_input(file_of):
    for files in ("", "-", f"- {file_of(LAB_TEXT)}"):
        result = shell(f"python3 lab3.py | sed 's/1923072/604160/' | python3 report check {files}")
        assert (result.returncode, result.stderr) == (1, "")
        assert "nother line's number" in result.stdout
    result = shell("python3 report check <&-")
    assert (result.returncode, result.stdout) == (2, "") and "standard input" in result.stderr


def test_what_if_options_and_what_was_asked(file_of):
    out = said(["check", file_of(LAB_TEXT), *ODD_OPTIONS.split()], 1)
    assert out.startswith("what if: 8 inputs, 6 nodes, ring")
    assert said(["check", "--nodes", "2", file_of(LAB_TEXT)], 1).count("is not expected") == 4
    assert said(["check", "--inputs", "1", file_of("\n".join(ROWS[:5]))], 0)
    assert "3 nodes" in refusal(["check", "--nodes", "3", file_of(LAB_TEXT)])


def test_whose_numbers_are_explained(file_of):
    # tensor parallelism with 1 op for a MAC, the pipeline with FP32
    text = FP32_TEXT
    for old, new in [
        ("0.00322121216", "0.00161060608"),
        ("3846144", "1923072"),
        ("0.10307878912", "0.05153939456"),
        ("123076608", "61538304"),
    ]:
        text = text.replace(old, new)
    first, second, *_ = said(["check", file_of(text)], 1).splitlines()
    assert first == "1 MAC is 1 op: that explains 4 tensor numbers."
    assert second == "An element is 4 bytes (FP32): that explains 4 pipeline numbers."


def test_kill17():
    assert verdict_of("1923072 ms") == "this is Q1 tensor traffic"


def test_kill18():
    # FP32 in tensor parallelism, in ms and KiB, and in ms inputs that do not overlap
    mixed = {
        "Q1 tensor latency": "3.22121216",
        "Q1 tensor traffic": "3756",
        "Q2 tensor latency": "103.07878912",
        "Q2 tensor traffic": "120192",
        "Q2 pipeline latency": "397.93000448",
    }
    explained = check(text_with(mixed)).explained
    assert [(it.sets, it.units) for it in explained] == [
        ([(FP32,)], ("ms", "KiB")),
        ([("inputs do not overlap",)], ("ms",)),
    ]


def test_kill21():
    from report.check import reasons

    layers = (ConvLayer(2, 1, 3, 1, 4, 1), ConvLayer(2, 2, 1, 1, 2, 1))
    question = Question(layers, System(2, 10**12, 1), 1)
    submission = check("Total latency of tensor parallelism is 16.0 seconds", question)
    assert reasons(submission)[0].endswith(" (or 4 other sets)")
