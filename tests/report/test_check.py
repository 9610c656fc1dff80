"""report/check/: which numbers of a submission are right, and which mistake makes the others.

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
from report.check.pairs import Found
from report.check.submission import Line, Number
from report.check.words import cause
from report.question import LAB

RIGHT = mistakes.numbers()
RING = mistakes.numbers(question=LAB.on(topology="ring"))
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
WHOLE, UNGATHERED = "whole outputs are sent, not shards", "the last output is not gathered"
ALL, LAST = "the last output goes to all nodes", "the last output is sent, too"
SHARED, UNDIVIDED = "the GOPS are shared by all nodes", "computing is not divided by the nodes"
SENDS, RECEIVES = (f"a node does not compute while it {does}" for does in ("sends", "receives"))
DIVIDED = "computing is divided by the nodes"
GOPS = "GOPS are 2^30 ops/s"
SLOTS = "N inputs take N + L - 1 times the slowest stage"
SLOWEST = "N inputs take N times the slowest stage"


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
    """The lab's with changes, and with other numbers: Q1_tensor_latency="0.1"; without None's."""
    others = {name.replace("_", " "): value for name, value in others.items()}
    values = mistakes.numbers(frozenset(changes)) | others
    return text_of({name: value for name, value in values.items() if value is not None})


def mixed(tensor=(), pipeline=(), **others):
    """The lab's with changes of its own in each strategy."""
    made = {"tensor": mistakes.numbers(frozenset(tensor))}
    made["pipeline"] = mistakes.numbers(frozenset(pipeline))
    return text_with(
        **{name.replace(" ", "_"): made[name.split()[1]][name] for name in RIGHT} | others
    )


def few_digits(digits, *changes):
    """The lab's with changes, latencies to so many digits, rounded."""
    made = mistakes.numbers(frozenset(changes))
    return text_of({n: decimal(made[n], digits) if "lat" in n else made[n] for n in made})


def exchanged(one, other, only="", **others):
    """The lab's, where two words of the lines' names are exchanged."""
    swap = {one: other, other: one}
    from_where = {name: " ".join(swap.get(word, word) for word in name.split()) for name in RIGHT}
    values = {name: RIGHT[from_where[name] if only in name else name] for name in RIGHT}
    return text_with(**{name.replace(" ", "_"): values[name] for name in values} | others)


def times(values, kind, factor):
    return {name: value * factor if kind in name else value for name, value in values.items()}


def verdicts(submission):
    return {str(number.line): number.verdict.words for number in submission.numbers}


def explained(text, question=LAB):
    """The sets that are found, as sets of names, each with the lines that it makes."""
    found = check(text, question).explained
    return [([{*names} for names in each.sets], [*map(str, each.lines)]) for each in found]


def said(line, status):
    """What the command prints: ASCII for a terminal of 80 columns, but for its last line."""
    ended, out, err = call(line)
    assert (ended, err) == (status, "")
    assert out.isascii() and out.replace("\n", "").isprintable()
    assert "--json" in line or max(map(len, out.splitlines()[:-1]), default=0) <= 80
    assert out == out.rstrip() + "\n"
    return out


@pytest.fixture
def file_of(tmp_path):
    def file_of(content, name="output.txt"):
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(data)
        return str(tmp_path / name)

    return file_of


# ------------------------------------------------ numbers, what is told

ALL_RIGHT = "All 8 numbers are right, as read here (python3 report explain readings)."
READING = " (another reading of the handout)"
IN_TENSOR, IN_PIPELINE = "in tensor parallelism", "in the pipeline"
NOT = "not explained"
SIXTEEN = mistakes.numbers(question=LAB._replace(inputs=16))
SIXTEEN_ON_A_RING = mistakes.numbers(question=LAB.on(topology="ring")._replace(inputs=16))
ODD_PIPELINE = {
    "Q1_pipeline_latency": "0.0171234567",
    "Q1_pipeline_traffic": "712345",
    "Q2_pipeline_latency": "0.171234567",
    "Q2_pipeline_traffic": "21234567",
}
TENSOR = {
    "Q1_tensor_traffic": "1923072",
    "Q2_tensor_latency": "0.04820628",
    "Q2_tensor_traffic": "61538304",
}
KEPT = {name.replace(" ", "_"): None for name in RIGHT}  # no line but those that are given

# fmt: off
TOLD = [  # a submission; the sentences on it
    # -------- how changes are said
    (LAB_TEXT, ALL_RIGHT),
    (text_with(FP32), "0. You get these 8 numbers with 4 bytes per element (FP32)."),
    (text_with(MAC, BITS), f"0. You get these 8 numbers with 1 op per MAC and if {BITS}."),
    (text_with(ALONE), f"7. You get Q2 pipeline latency if {ALONE}{READING}."),
    (text_with(UNGATHERED), f"4. You get these 4 numbers if {UNGATHERED}."),
    (mixed([ALL], [LAST]),
     f"2. You get these 6 numbers: {IN_TENSOR} if {ALL}{READING}; {IN_PIPELINE} if {LAST}."),
    (text_with(FP32, ALL, ALONE),
     f"0. You get these 8 numbers with 4 bytes per element (FP32); {IN_TENSOR} if {ALL}{READING};"
     f" {IN_PIPELINE} if {ALONE}{READING}."),
    (text_with(FP32, SENDS, SLOTS),
     f"0. You get these 8 numbers with 4 bytes per element (FP32); {IN_PIPELINE} if"
     f" {SENDS}{READING} and {SLOTS}."),
    (text_with(f"{SLOWEST}, also for N = 1"),
     f"6. You get these 2 numbers if {SLOWEST} and Q1 counts only the slowest stage."),
    (text_with(Q1_pipeline_latency="0.00462422016"),
     "7. You get Q1 pipeline latency if Q1 counts only the slowest stage."),
    # -------- exchanged
    (exchanged("tensor", "pipeline"), "0. Tensor and pipeline are exchanged."),
    (exchanged("Q1", "Q2"), "0. Q1 and Q2 are exchanged."),
    (exchanged("latency", "traffic"), "0. Latency and traffic are exchanged."),
    (exchanged("tensor", "pipeline", Q1_tensor_latency="0.012"),
     "0. Tensor and pipeline are exchanged."),
    (exchanged("tensor", "pipeline", "latency", Q1_tensor_latency="0.012"),
     "4. Tensor and pipeline are exchanged in Q2 latency. Q1 tensor latency: not explained, 3.84"
     " times the right number. Q1 pipeline latency: this is Q1 tensor latency."),
    (exchanged("Q1", "Q2", "tensor traffic"), "6. Q1 and Q2 are exchanged in tensor traffic."),
    (text_with(Q1_tensor_latency="0.0124353"),
     "7. Q1 tensor latency: this is Q1 pipeline latency."),
    # -------- of a ring, of other inputs, in ms
    (text_of(RING), "4. These are the right numbers of a ring."),
    (text_of(SIXTEEN, heads=("Q1", "Q2 16 inputs")),
     "4. These are the right numbers for 16 inputs."),
    (text_of({**RING, **SIXTEEN_ON_A_RING}, heads=(Q1, "16 inputs")),
     "2. These are the right numbers of a ring for 16 inputs."),
    (text_of(SIXTEEN, heads=("Q1", "Q2")),
     "4. Q2 tensor: half the right numbers. Q2 pipeline latency: not explained, 52.5 % of the"
     " right number. Q2 pipeline traffic: not explained, 50 % of the right number."),
    (text_of(times(RIGHT, "latency", 1000)), "4. 4 latency numbers: right in ms, not in seconds."),
    *(
        (
            text_of(times(mistakes.numbers(frozenset([FP32])), "latency", factor)),
            f"0. Your latencies are in {unit}. You get these 8 numbers with 4 bytes per element"
            " (FP32).",
        )
        for unit, factor in (("ms", 1000), ("us", 10**6))
    ),
    (text_of(times(RIGHT, "latency", 1300)),
     f"4. Your latencies are in ms. 3 latency numbers: {NOT}, 1.3 times the right number. Q2"
     " tensor latency: 32 times your Q1, which is wrong."),
    (text_of(times(RIGHT, "latency", 1300)).replace("4.065438208 seconds", "4.065438208 s/op"),
     f"4. Your latencies are in ms. 3 latency numbers: {NOT}, 1.3 times the right number. Q2"
     " tensor latency: 32 times your Q1, which is wrong."),
    (text_of(times(RIGHT, "latency", 1300)).replace("4.065438208 seconds", "4.065438208 ms"),
     "4. Q1 tensor latency: not explained, 1.3 times the right number. 3 latency numbers: not"
     " explained, 1,300 times the right number."),
    (text_of(times(RIGHT, "latency", 1_300_000)).replace(" seconds", " ms"),
     f"4. 3 latency numbers: {NOT}, 1,300 times the right number. Q2 tensor latency: 32 times"
     " your Q1, which is wrong."),
    # too far from the right ones to be in ms
    (text_of(times(RIGHT, "latency", 13_000)),
     "4. 3 latency numbers: not explained, 13,000 times the right number. Q2 tensor latency: 32"
     " times your Q1, which is wrong."),
    (text_with(**KEPT | {"Q1_tensor_latency": "3.22121216"}),
     "0 of 8 numbers are right, 7 lines are missing. Q1 tensor latency: not explained, 1,030"
     " times the right number."),
    # -------- pairs
    (text_with(FP32, Q1_tensor_latency="0.00372121216"),
     "0. You get 7 numbers with 4 bytes per element (FP32). Q1 tensor latency: not explained, 19"
     " % too long."),
    # also what carries one of a ring's links; then the latency would be longer
    (text_with(Q1_tensor_traffic="563712", Q2_tensor_traffic="18038784"),
     "6. You get these 2 numbers if traffic counts gathers to one node only."),
    (mixed([ALL, WHOLE], [LAST, ALONE]),
     f"0. You get 6 numbers: {IN_TENSOR} if {ALL}{READING} and {WHOLE}; {IN_PIPELINE} if {LAST}."
     f" You get Q2 pipeline latency and traffic if {LAST}, and {ALONE}{READING}."),
    (mixed([FP32]), "4. You get these 4 numbers with 4 bytes per element (FP32)."),
    # of two changes one is of both strategies, but the pipeline is right
    (mixed([FP32, ALL]),
     "4. Q1 tensor latency: not explained, 3.0 % too long. Q1 tensor traffic: not explained,"
     " 2.35 times the right number. Q2 tensor latency and traffic: 32 times your Q1, which is"
     " wrong."),
    # wrong otherwise
    (mixed([MAC, UNGATHERED], [ALONE]),
     f"3. You get Q2 pipeline latency if {ALONE}{READING}. You get Q1 tensor traffic and Q2"
     f" tensor traffic if {UNGATHERED}. Q1 tensor latency: {NOT}, 50.9 % of the right number. Q2"
     " tensor latency: 32 times your Q1, which is wrong."),
    # wrong by the same, among others
    (mixed([MAC, UNGATHERED], [MAC, LAST, SENDS]),
     f"0. You get 6 numbers with 1 op per MAC; {IN_TENSOR} if {UNGATHERED}; {IN_PIPELINE} if"
     f" {LAST}. You get Q2 pipeline latency and traffic with 1 op per MAC and if {LAST}, and"
     f" {SENDS}{READING}."),
    (mixed([UNDIVIDED]), f"6. You get these 2 numbers if {UNDIVIDED}."),
    (mixed([UNDIVIDED], [DIVIDED]),
     f"4. You get Q1 tensor latency and Q2 tensor latency if {UNDIVIDED}. You get Q1 pipeline"
     f" latency and Q2 pipeline latency if {DIVIDED}."),
    (mixed([UNDIVIDED], **ODD_PIPELINE),
     f"2. You get Q1 tensor latency and Q2 tensor latency if {UNDIVIDED}. "),
    (text_with(UNDIVIDED, **{name: None for name in KEPT if "pipeline" in name}),
     f"2 of 8 numbers are right, 4 lines are missing. You get these 2 numbers either if {SHARED},"
     f" or if {UNDIVIDED}."),
    # without Q1 nothing says which of the two
    ("\n".join([Q2, *text_with(SLOWEST).splitlines()[6:]]),
     "3 of 8 numbers are right, 4 lines are missing. You get Q2 pipeline latency either if"
     f" {SLOWEST}, or if {SLOWEST} and Q1 counts only the slowest stage."),
    # Q1's right numbers contradict "also for N = 1"
    (text_with(SLOWEST), f"7. You get Q2 pipeline latency if {SLOWEST}."),
    # another line's number is no evidence against what makes the rest
    (text_with(FP32, Q1_tensor_latency="0.1557861376"),
     "0. You get 7 numbers with 4 bytes per element (FP32). Q1 tensor latency: this is Q2"
     " pipeline latency."),
    (text_with(Q1_tensor_traffic=1812480, Q2_tensor_traffic=57999360),
     f"6. You get these 2 numbers if {UNGATHERED}, in traffic only."),
    (text_with(Q1_tensor_traffic=1812480, Q2_tensor_traffic=57999360, Q1_tensor_latency=None),
     f"5 of 8 numbers are right, 1 line is missing. You get these 2 numbers if {UNGATHERED}."
     " Q1 tensor latency: missing."),
    # of Q1 by pairs, as few digits do not say whose latency it is
    (text_with(UNGATHERED, Q1_tensor_latency="0.0031", Q2_tensor_latency="0.1001"),
     f"5. You get Q1 tensor traffic and Q2 tensor traffic if {UNGATHERED}, in traffic only. Q1"
     " tensor latency: 0.0031 agrees, but has too few digits to be called right."),
    (text_with(UNGATHERED, Q1_tensor_latency=RIGHT["Q1 tensor latency"]),
     f"5. You get these 3 numbers if {UNGATHERED}."),
    # Q1's right latency rules out that Q1 is L times the slowest stage, too
    (text_with(LAST, SENDS, SLOTS, Q1_pipeline_latency=RIGHT["Q1 pipeline latency"]),
     f"5. You get Q2 pipeline latency and traffic if {LAST}, {SENDS}{READING} and {SLOTS}. You"
     f" get Q1 pipeline traffic if {LAST}, in traffic only."),
    # -------- digits
    (text_with(Q2_pipeline_latency="0.398"),
     f"7. Q2 pipeline latency: {NOT}, 2.55 times the right number."),
    (text_with(Q2_pipeline_latency="0.3979"),
     f"7. You get Q2 pipeline latency if {ALONE}{READING}."),
    (text_with(Q2_pipeline_latency="0.39793", Q2_pipeline_traffic=None),
     f"6 of 8 numbers are right, 1 line is missing. Q2 pipeline latency: {NOT}, 2.55 times the"
     " right number. Q2 pipeline traffic: missing, as in the handout's sample."),
    (text_with(Q2_pipeline_latency="0.397930", Q2_pipeline_traffic=None),
     "6 of 8 numbers are right, 1 line is missing. You get Q2 pipeline latency if"
     f" {ALONE}{READING}. Q2 pipeline traffic: missing, as in the handout's sample."),
    # 1 op per MAC, 2^30 ops/s: Q2's follows, and adds no digits
    (text_with(**KEPT | dict(TENSOR, Q1_tensor_latency="0.001506")),
     f"2 of 8 numbers are right, 4 lines are missing. Q1 tensor latency: {NOT}, 48.2 % of the"
     " right number. Q2 tensor latency: 32 times your Q1, which is wrong."),
    (text_with(**KEPT | dict(TENSOR, Q1_tensor_latency="0.001506446")),
     "2 of 8 numbers are right, 4 lines are missing. You get these 2 numbers with 1 op per MAC"
     f" and if {GOPS}."),
    # under six digits nothing that right pairs contradict
    (text_with(Q1_pipeline_latency="0.01241"),
     f"7. Q1 pipeline latency: {NOT}, 0.20 % too short."),
    (text_with(Q1_pipeline_latency="0.0124146"),
     f"7. You get Q1 pipeline latency if GB/s are 2^30 bytes/s{READING}."),
    # of both strategies, and true of the other as far as that is given
    (mixed([BITS, ALL], Q1_pipeline_traffic=None, Q2_pipeline_traffic=None),
     f"4 of 8 numbers are right, 2 lines are missing. You get these 2 numbers if {BITS} and"
     f" {ALL}{READING}. Q1 pipeline traffic: missing. Q2 pipeline traffic: missing, as in the"
     " handout's sample."),
    # -------- cut or rounded
    (text_with(Q1_tensor_latency="0.00312", Q1_pipeline_latency="0.01241",
               Q2_tensor_latency="0.09987", Q2_pipeline_latency="0.15577"),
     f"4. You get these 4 numbers if GB/s are 2^30 bytes/s{READING}."),
    (text_with(Q1_tensor_latency="0.00312", Q2_pipeline_latency="0.1558"),
     f"7. Q1 tensor latency: {NOT}, 0.23 % too short."),
    (text_with(Q1_tensor_latency="0.00312", Q2_pipeline_latency="0.1557"), ALL_RIGHT),
    (text_with(Q1_tensor_latency="0.0031272601600000002", Q2_pipeline_latency="0.1557"), ALL_RIGHT),
    (text_with(Q2_pipeline_latency="0.1558", Q2_tensor_traffic="61.53 MB"), ALL_RIGHT),
    # -------- traffic of one input, multiples
    (text_with(ONCE), f"6. You get these 2 numbers if {ONCE}."),
    (text_of({name: RIGHT[name.replace("Q2", "Q1")] for name in RIGHT}),
     f"4. You get Q2 tensor traffic and Q2 pipeline traffic if {ONCE}. Q2 tensor latency: this is"
     " Q1 tensor latency. Q2 pipeline latency: this is Q1 pipeline latency."),
    (text_with(Q1_tensor_traffic="3846144", Q2_tensor_traffic="123076608"),
     "6. Q1 tensor traffic and Q2 tensor traffic: twice the right numbers."),
    (text_of({n: RIGHT[n] / Fraction(2) if "Q1 tensor" in n else RIGHT[n] for n in RIGHT}),
     "6. Q1 tensor: half the right numbers."),
    (text_with(Q2_tensor_traffic="246153216"),
     "7. Q2 tensor traffic: four times the right number."),
    (text_with(Q1_tensor_traffic="480768"),
     "7. Q1 tensor traffic: a quarter of the right number."),
    (text_with(INT8, MAC),
     "0. You get these 8 numbers with 1 byte per element (INT8) and 1 op per MAC."),
    # -------- single numbers of a pair
    (text_with(UNGATHERED, Q1_tensor_traffic="1923072"),
     f"5. You get Q2 tensor latency and traffic if {UNGATHERED}. Q1 tensor latency: {NOT}, 0.59 %"
     " too short."),
    (text_with(LAST, Q1_pipeline_traffic="0"),
     f"4. You get 3 pipeline numbers if {LAST}. Q1 pipeline traffic: zero."),
    (text_with(LAST, Q1_pipeline_traffic="0", Q2_pipeline_traffic="0"),
     f"4. Q1 pipeline latency: {NOT}, 0.59 % too long. Q1 pipeline traffic and Q2 pipeline"
     f" traffic: zero. Q2 pipeline latency: {NOT}, 0.047 % too long."),
    # -------- traffic alone, but no latency alone
    (text_with(FP32, Q1_tensor_latency="0.0071234567", Q2_tensor_latency="0.51234567"),
     "0. You get 6 numbers with 4 bytes per element (FP32). Q1 tensor latency: not explained,"
     " 2.28 times the right number. Q2 tensor latency: not explained, 5.12 times the right"
     " number."),
    (mixed([WHOLE], Q1_tensor_latency="0.0071234567", Q2_tensor_latency="0.51234567"),
     f"4. You get Q1 tensor traffic and Q2 tensor traffic if {WHOLE}. Q1 tensor latency: not"
     " explained, 2.28 times the right number. Q2 tensor latency: not explained, 5.12 times the"
     " right number."),
    # of five digits, of one right one that it does not make
    (mixed([WHOLE], Q1_tensor_latency="0.0071234567", Q2_tensor_latency="0.51234567",
           Q1_tensor_traffic="7692300", Q2_tensor_traffic="not"),
     f"4. Q1 tensor latency: {NOT}, 2.28 times the right number. Q1 tensor traffic: {NOT}, 4.00"
     f" times the right number. Q2 tensor latency: {NOT}, 5.12 times the right number. Q2 tensor"
     " traffic: no number."),
    (text_with(Q1_tensor_latency="0.0071234567", Q1_tensor_traffic="7692288"),
     "6. Q1 tensor latency: not explained, 2.28 times the right number. Q1 tensor traffic: not"
     " explained, 4 times the right number."),
    (mixed([WHOLE], Q1_tensor_traffic="1234567", Q2_tensor_traffic="34567891"),
     "4. Q1 tensor latency: not explained, 9.0 % too long. Q1 tensor traffic: not explained,"
     " 64.2 % of the right number. Q2 tensor latency: 32 times your Q1, which is wrong. Q2"
     " tensor traffic: not explained, 56.2 % of the right number."),
    # -------- from the own Q1
    (text_with(Q1_pipeline_latency="0.0124", Q2_pipeline_latency="0.3968"),
     "7. Q2 pipeline latency: 32 times your Q1 (inputs do not overlap)."),
    (text_with(Q1_tensor_latency="0.00313", Q2_tensor_latency="0.1002"),
     "7. Q2 tensor latency: 32 times your Q1."),
    # never cut
    (text_with(Q1_pipeline_latency="0.0124", Q2_pipeline_latency="0.396"),
     f"7. Q2 pipeline latency: {NOT}, 2.54 times the right number."),
    (text_with(Q1_tensor_traffic="1.92e6", Q2_tensor_traffic="61440000"),
     "7. Q2 tensor traffic: 32 times your Q1."),
    (text_with(Q1_pipeline_latency="0.01512345", Q2_pipeline_latency="0.4839504"),
     "6. Q1 pipeline latency: not explained, 22 % too long. Q2 pipeline latency: 32 times your"
     " Q1, which is wrong, and inputs do not overlap."),
    # rounded by more than 1 / 500
    (text_with(Q1_pipeline_latency="0.0151", Q2_pipeline_latency="0.483"),
     f"6. Q1 pipeline latency: {NOT}, 21 % too long. Q2 pipeline latency: {NOT}, 3.10 times the"
     " right number."),
    (text_with(Q1_tensor_traffic="1234567", Q2_tensor_traffic="39506144"),
     f"6. Q1 tensor traffic: {NOT}, 64.2 % of the right number. Q2 tensor traffic: 32 times your"
     " Q1, which is wrong."),
    # kB are rounded, bytes are not
    (text_with(Q1_tensor_traffic="1234.6 kB", Q2_tensor_traffic="39506 kB"),
     f"6. Q1 tensor traffic: {NOT}, 64.2 % of the right number. Q2 tensor traffic: 32 times your"
     " Q1, which is wrong."),
    (text_with(Q1_tensor_traffic="1900000", Q2_tensor_traffic="60800000"),
     "6. Q1 tensor traffic: 1900000 agrees, but has too few digits to be called right. Q2 tensor"
     " traffic: 32 times your Q1."),
    (text_with(Q1_tensor_traffic="1500001", Q2_tensor_traffic="1500001"),
     f"6. Q1 tensor traffic: {NOT}, 78.0 % of the right number. Q2 tensor traffic: the same as"
     " your Q1, which is wrong."),
    (text_with(Q1_tensor_traffic="1500001", Q2_tensor_traffic="1500002"),
     f"6. Q1 tensor traffic: {NOT}, 78.0 % of the right number. Q2 tensor traffic: {NOT}, 2.44 %"
     " of the right number."),
    (text_with(Q1_tensor_latency="0.5", Q2_tensor_latency="0.6"),
     f"6. Q1 tensor latency: {NOT}, 160 times the right number. Q2 tensor latency: {NOT}, 6.00"
     " times the right number."),
]
# fmt: on


@pytest.mark.parametrize(("text", "told"), TOLD)
def test_what_is_told(file_of, text, told):
    all_right = told == ALL_RIGHT
    first, *_ = said(["check", file_of(text)], 0 if all_right else 1).split("\n\n")
    sentences = " ".join(first.split()).partition(" How it is computed")[0]
    told = re.sub(r"^(\d)\. ", r"\1 of 8 numbers are right. ", told)
    is_start = told.endswith(" ")
    assert (f"{sentences} "[: len(told)] if is_start else sentences) == told


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
        # nobody counts ops in one strategy so and in the other otherwise, and more mistakes beside
        own = [scope] if scope in mistakes.THINGS else [*mistakes.THINGS]
        things = [names for of in own for names in mistakes.THINGS[of]]
        self.changes = {chance.choice(it) for it in chance.sample(things, chance.randint(0, 3))}
        if UNDIVIDED in self.changes:
            self.changes.discard(DIVIDED)
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
    made_by = {str(line): it for it in submission.explained for line in it.lines}
    assert len(made_by) == sum(len(it.lines) for it in submission.explained)
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
        elif verdict.startswith(("this is ", "exchanged with ")):
            assert values[name] == RIGHT[re.sub("^(this is|exchanged with) ", "", verdict)]
        elif verdict in [f"{it} the right number" for it in TIMES]:
            times = TIMES[verdict.removesuffix("the right number").strip()]
            assert values[name] == times * RIGHT[name]
        elif verdict == "wrong":
            assert name in made_by, name
        else:  # as far as its digits go
            is_whole = drawn.form not in ("rounded", "cut", "typo", "KiB, not bytes")
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


# ------------------------------------------------ each number by itself


# fmt: off
OF_A_LATENCY = {
    "right": ["0.00312726016 seconds", "0.00312726016", "3.12726016E-03 sec", "+0.00312726016s",
        ": 0.00312726016 s", "~0.00312726016 s", "0.0031272601600000002 seconds",
        "0.0031272601599999998 seconds", "3.12726016 x 10^-3 seconds", "3.12726016*10^-3",
        "**0.00312726016** seconds"],
    "right, in ms": ["3.12726016ms"],
    "right, in us": ["3127.26016 \u00b5s", "3127.26016 usec"],
    "right, rounded to 4 digits": ["0.003127 seconds"],
    "right, cut to 3 digits": ["0.00312 seconds"],
    "right, rounded to 4 digits, in ms": ["3.127 ms"],
    "0.0031 agrees, but has too few digits to be called right": ["0.0031 seconds"],
    "not explained, 1.50 times the right number": ["0.0047 seconds"],
    "right in ms, not in seconds": ["3.12726016 seconds"],
    "right in us, not in seconds": ["3127 seconds"],
    "right in ns, not in seconds": ["3127260.16"],
    "right in seconds, not in ms": ["0.00312726 ms"],
    "not explained, 0.100 % of the right number": ["0.00000312726"],
    "'hours' is not a known unit": ["3.127 hours"],
    "this is Q1 pipeline latency": ["0.0124353 seconds"],
    "this is Q2 tensor latency": ["0.1000723 seconds"],
    "this is Q2 pipeline latency": ["155.786 ms"],
    "this is Q1 tensor traffic": ["1923072 seconds", "1923072 ms"],
    "not explained, 6.5 % too long": ["0.00333 seconds"],
    "no number": ["xxx seconds", "None", "", "0,00312 seconds"],
    "not between 1e-100 and 1e100": ["1e999"],
    "'minutes' is not a known unit": ["0.00312726016 minutes"],
    "an expression, not a number": ["3.12726016/1000"],
    "not read, two numbers": ["0.00312726016 seconds (3.127 ms)"],
    "a number of more than 120 characters": ["0.00312726016" + 120 * "0"],
    "nan": ["nan seconds"],
    "zero": ["0 seconds"],
    "negative": ["-0.00312726016 seconds"],
    "infinite": ["inf seconds"],
}
# fmt: on


@pytest.mark.parametrize(
    ("number", "verdict"),
    [(number, verdict) for verdict, numbers in OF_A_LATENCY.items() for number in numbers],
)
def test_the_verdict_of_a_latency(number, verdict):
    found = verdicts(check(text_with(Q1_tensor_latency=number)))
    assert found == dict.fromkeys(RIGHT, "right") | {"Q1 tensor latency": verdict}


# fmt: off
OF_TRAFFIC = {
    "right": ["1923072.0 bytes", "1,923,072 bytes", "1 923 072 bytes", "1_923_072"],
    "right, rounded to 4 digits": ["1.923e6 B"],
    "right, rounded to 3 digits": ["1920000"],
    "1900000 agrees, but has too few digits to be called right": ["1900000"],
    "right, in kB": ["1923.072 kB"],
    "right, rounded to 3 digits, in MB": ["1.92MB"],
    "right, in KiB": ["1878 KiB", "1878 KB"],
    "right, rounded to 4 digits, in GiB": ["0.001791 GB"],
    "right, in bits": ["15384576 bits"],
    "not explained, 0.0000052 % too many bytes": ["1923072.1 bytes"],
    "not explained, 0.000364 % of the right number": ["7 bytes"],
    "right in MB, not in bytes": ["1.92 bytes"],
    "right in KiB, not in bytes": ["1878"],
    "right in GiB, not in bytes": ["0.001791 bytes"],
    "right in bytes, not in MB": ["1923072 MB"],
    "this is Q1 pipeline traffic": ["604160 bytes"],
    "this is Q2 tensor traffic": ["61538304 bytes"],
    "wrong": ["15384576 bytes"],
}
# fmt: on


@pytest.mark.parametrize(
    ("number", "verdict"),
    [(number, verdict) for verdict, numbers in OF_TRAFFIC.items() for number in numbers],
)
def test_the_verdict_of_traffic(number, verdict):
    found = verdicts(check(text_with(Q1_tensor_traffic=number)))
    assert found == dict.fromkeys(RIGHT, "right") | {"Q1 tensor traffic": verdict}


def test_what_is_exact_needs_no_digits():
    # 604,160 / 1,024
    for number, verdict in {
        "590": "right in KiB, not in bytes",
        "590 KB": "right, in KiB",
        "591": "not explained, 0.0978 % of the right number",
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
    assert [*verdicts(submission).values()] == ["right"] * 8
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
        assert [*verdicts(submission).values()] == ["right"] * 8
        wrong = [head for head, asked in zip(heads, (Q1, Q2), strict=True) if head != asked]
        assert len(submission.form) == len(wrong)


def test_a_head_without_a_question_names_as_many_inputs_as_are_asked():
    for inputs, head, own in [
        (32, "32 inputs", "Q2"),
        (32, "16 inputs", "Q1"),
        (5, "5 inputs", "Q2"),
    ]:
        right = mistakes.numbers(question=LAB._replace(inputs=inputs))
        text = text_of({name: right[name] for name in right if "Q2" in name}, heads=("", head))
        found = verdicts(check(text, LAB._replace(inputs=inputs)))
        assert {name for name in found if found[name] == "right"} == {
            name for name in right if "Q2" in name and own == "Q2"
        }
        missing = {name for name in found if found[name].startswith("missing")}
        assert missing == {name for name in right if own not in name}


def test_the_head_of_q2_names_as_many_inputs_as_are_asked():
    question = LAB._replace(inputs=64)
    right = mistakes.numbers(question=question)
    assert check(text_of(right, heads=(Q1, "--------Q2 64 inputs------")), question).form == []
    [fault] = check(text_of(right, heads=(Q1, Q2)), question).form
    assert fault.endswith("not --------Q2 64 inputs------")


@pytest.mark.parametrize(
    "text",
    [
        LAB_TEXT.replace("Total latency of", "Latency of").replace("network traffic", "traffic"),
        LAB_TEXT.replace("Total network", "Communication").replace(" of ", " for "),
        LAB_TEXT.replace(" parallelism", "-parallelism"),
        LAB_TEXT.replace(" parallelism", " parallel").replace("network", "communication"),
        LAB_TEXT.replace("Total latency", "- Latency"),
        LAB_TEXT.replace("parallelism is", "parallelism**:"),
        LAB_TEXT.replace("traffic", "trafic").replace("parallelism", "parallism"),
        LAB_TEXT.replace("traffic", "Traffics").replace("parallelism", "parralelisim"),
    ],
)
def test_wordings(text):
    assert {*verdicts(check(text)).values()} == {"right"}


@pytest.mark.parametrize(
    "row",
    [
        "Compute latency of tensor parallelism is 0.003 seconds",
        "Tensor latency: 0.003",
        "tensor parallelism's traffic = 1923072",
        "tensor trafic = 1923072",
    ],
)
def test_what_is_almost_a_line_is_quoted(row):
    submission = check(f"{row}\n{LAB_TEXT}{row}")
    assert (submission.right_lines, submission.form) == (8, [f"not read: {row!r}"] * 2)
    many = check(LAB_TEXT + f"{row}\n" * 20).form
    assert (len(many), many[-1]) == (4, "not read: 17 more lines")


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
        (
            LAB_TEXT + f"{TENSOR_TRAFFIC} 7 bytes\n",
            ["Q2 tensor traffic 2 different numbers in a line"],
        ),
        (LAB_TEXT + f"{TENSOR_TRAFFIC} 61,538,304.0\n", []),
        (
            LAB_TEXT + "".join(f"{TENSOR_TRAFFIC} {n} bytes\n" for n in range(101, 116)),
            ["Q2 tensor traffic 16 different numbers in a line"],
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
        ("12345678", "not explained, 20.1 % of the right number", 6),
    ]:
        rows = [*ROWS[:8], f"{TENSOR_TRAFFIC} {number} bytes", ROWS[8], ROWS[8]]
        submission = check("\n".join(rows))
        line = "Q2", "tensor", "traffic"
        assert [it.verdict.words for it in submission.numbers if it.line == line] == [
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
    # a second line of Q1 is not Q2's; of the handout's sample two of five are repeated
    text = "\n".join([*ROWS[:5], ROWS[1].replace("0.003", "0.5")])
    assert (check(text, one).right_lines, check(text, one).lines) == (3, 4)
    sample = "\n".join([*ROWS[:8], ROWS[7], ROWS[8], ROWS[8]])
    assert check(sample, one).form == ["5 lines are not expected. With 1 input there is no Q2"]


@pytest.mark.parametrize("question", [LAB.on(topology="ring"), ODD, LAB._replace(inputs=16)])
def test_variants_of_the_lab_are_judged(question):
    heads = "Q1", f"Q2 {question.inputs} inputs"
    right = mistakes.numbers(question=question)
    submission = check(text_of(right, heads=heads), question)
    assert [*verdicts(submission).values()] == ["right"] * 8
    changes = frozenset([MAC, WHOLE, "the last output is sent, too"])
    made = mistakes.numbers(changes, question)
    [(sets, numbers)] = explained(text_of(made, heads=heads), question)
    assert (sets, numbers) == ([changes], [name for name in RIGHT if made[name] != right[name]])


# ------------------------------------------------ what is no submission

PROGRAM = 'import sys\nt = 1\nprint(f"Total latency of tensor parallelism is {t} seconds")\n'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("hello", "text has no result lines; lines like 'Total latency of tensor parallelism"),
        ("Tensor latency: 0.0031 s", "text has no result lines"),
        ("Q1\nQ2\n32 inputs", "text has no result lines"),
        ("from 32 inputs on\nprint it", "text has no result lines"),
        ("", "text is empty; pipe in"),
        (" \n", "text is empty; pipe in"),
        (PROGRAM, "text is a program; pipe in what it prints: python3 lab3.py | python3 report"),
        ("%PDF-1.7\nimport", "text is a PDF; pipe in"),
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
        assert it.said is None or (it.said.isascii() and it.said.isprintable())
    assert all(fault.isascii() and fault.isprintable() for fault in submission.form)


# ------------------------------------------------ the command


def test_all_is_right_in_one_line(file_of):
    assert said(["check", file_of(LAB_TEXT)], 0) == f"{ALL_RIGHT}\n"
    result = shell("python3 lab3.py | python3 report check")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{ALL_RIGHT}\n", "")


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
        (b"\xff" * 100, "output.txt has no result lines; lines like"),
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
    "".join(f"Q2 {n} inputs\n" for n in range(2, 50_000)) + LAB_TEXT.replace("1923072", "7"),
    f"{LINE}1e9999999999999999999 s\n" * 3,
]


def test_hostile_files_are_answered(file_of):
    files = [file_of(content, f"{number}.txt") for number, content in enumerate(HOSTILE)]
    result = python("report", "check", *files, timeout=60)
    assert result.returncode == 2 and "Traceback" not in result.stderr
    assert len(result.stdout + result.stderr) < 6_000
    _, *rows = result.stdout.split("\n\n")[0].splitlines()
    assert [row.split()[0] for row in rows] == [*map(str, range(len(HOSTILE)))]


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
    assert "'h\\xe9\\x1b[31m'" in said(["check", good, file_of(text_with(FP32))], 1)


def test_several_files_have_a_line_each(file_of):
    swapped = exchanged("tensor", "pipeline")
    rows = [  # name, text, how many are right, why
        ("123_A", LAB_TEXT, "8 of 8", "right"),
        ("124_B", text_with(START), "0 of 8", f"if {START}{READING}"),
        ("125_B", text_with(FP32), "0 of 8", "with 4 bytes per element (FP32)"),
        (
            "125_C",
            text_with(FP32, ALONE),
            "0 of 8",
            f"with 4 bytes per element (FP32); in the pipeline if {ALONE}{READING}",
        ),
        ("126_D", "\n".join(ROWS[:-1]), "7 of 8", "missing (1)"),
        (
            "127_E",
            LAB_TEXT.replace("1923072", "1923071").replace(" bytes", ""),
            "7 of 8",
            "not explained (1); form (1)",
        ),
        ("128_F", swapped, "0 of 8", "tensor and pipeline are exchanged"),
        (
            "129_G",
            text_of(times(RIGHT, "latency", 1000)),
            "4 of 8",
            "right in ms, not in seconds (4)",
        ),
        ("130_H", "hello", "-", "no result lines"),
    ]
    files = [file_of(text, f"lab3_{name}_Lab3.txt") for name, text, _, _ in rows]
    status, out, err = call(["check", *files])
    assert status == 2 and err.count("\n") == 1
    by_file, often, last = out.split("\n\n")
    told = re.sub(r"\n {3,}", " ", by_file).splitlines()[1:]
    assert [re.split("  +", row) for row in told] == [[name, *rest] for name, _, *rest in rows]
    counts = [row.split(maxsplit=1) for row in often.splitlines()[1:]]
    assert counts == [  # most frequent first, then as they come
        ["2", "4 bytes per element (FP32)"],
        ["1", f"{START}{READING}"],
        ["1", f"{ALONE}{READING}"],
        ["1", "missing lines"],
        ["1", NOT],
        ["1", "tensor and pipeline are exchanged"],
        ["1", "right in ms, not in seconds"],
    ]
    assert last.splitlines() == [
        "1 of 9 files has all numbers right.",
        "Look at by hand: 126_D, 127_E, 130_H",
    ]
    assert said(["check", *files[:4]], 1).endswith("Look at by hand: none\n")
    many = [file_of(LAB_TEXT[:-9], f"{number}{'x' * 18}.txt") for number in range(9)]
    assert len(said(["check", *many], 1).splitlines()[-1]) > 80  # is not wrapped


def test_json(file_of):
    files = [
        file_of(text_with(START), "a.txt"),
        file_of(text_with(Q1_tensor_latency="0.004 s"), "b.txt"),
        file_of(exchanged("Q1", "Q2"), "c.txt"),
    ]
    whole = json.loads(said(["check", "--json", *files], 1))
    assert (whole["version"], whole["asked"]["inputs"], whole["key"]) == (7, 32, None)
    one, two, three = whole["submissions"]
    assert [one["file"], two["file"], three["file"]] == files
    assert [(it["right"], it["of"]) for it in (one, two, three)] == [(0, 8), (7, 8), (0, 8)]
    assert one["explained"] == [
        {"numbers": [*RIGHT], "sets": [[START]], "more": 0, "units": [], "in_traffic_only": False}
    ]
    assert one["numbers"][1] == {
        "line": "Q1 tensor traffic", "given": "1941504", "right": 1_923_072, "verdict": "wrong",
        "times_right": None,
    }  # fmt: skip
    assert two["numbers"][0]["times_right"] == pytest.approx(0.004 / 0.00312726016)
    assert two["why"] == ["not explained (1)"]
    assert three["notes"] == ["Q1 and Q2 are exchanged"]
    assert said(["check", "--json", file_of(text_with(Q1_tensor_latency="1e308 s"))], 1)
    assert whole["occurrences"] == {START: 1, NOT: 1, "Q1 and Q2 are exchanged": 1}


def test_of_many_sets_three_are_named_and_the_others_counted(file_of):
    # 1 op and 1 byte/s: communication decides, and 16 s come in many ways
    options = "--nodes 2 --gops 1000 --link-gbs 0.000001 --inputs 1"
    options += " --layer 2,1,3,1,4,1 --layer 2,2,1,1,2,1"
    text = "Q1\nTotal latency of tensor parallelism is 0.01600000 seconds"
    line = ["check", file_of(text), *options.split()]
    [found] = json.loads(said([*line, "--json"], 1))["submissions"][0]["explained"]
    question = LAB._replace(
        network=(ConvLayer(2, 1, 3, 1, 4, 1), ConvLayer(2, 2, 1, 1, 2, 1)),
        system=System(2, 10**12, 1000),
        inputs=1,
    )
    names = [name for of in ("both", "tensor") for its in mistakes.THINGS[of] for name in its]
    names.append("an element is 2 bytes (FP16)")
    ways = [
        name
        for name in names
        if abs(mistakes.Mistaken([name], question).tensor(1)[0] - Fraction("0.016")) < 1e-9
    ]
    assert len(found["sets"]) + found["more"] == len(ways) > 3 == len(found["sets"])
    assert {name for [name] in found["sets"]} <= {*ways}
    assert f"(and {found['more']} more)" in " ".join(said(line, 1).split())


def test_what_sets_have_in_common_is_said_once_if_all_are_known():
    sets = [(MAC, ALL), (MAC, UNGATHERED), (MAC, WHOLE)]
    number = Number(Line("Q1", "tensor", "traffic"), 1, "2", None)
    for more, words in [
        (0, f"with 1 op per MAC and either if {ALL}{READING}, or if {UNGATHERED}, or if {WHOLE}"),
        (
            2,
            f"either with 1 op per MAC and if {ALL}{READING}, or with 1 op per MAC and if"
            f" {UNGATHERED}, or with 1 op per MAC and if {WHOLE} (and 2 more)",
        ),
    ]:
        assert cause(Found(sets + sets[:1] * more, [number])) == words


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["lab3_1_A.txt", "lab3_2_B.txt"], ["1_A", "2_B"]),
        (["a/out.txt", "b/out.txt"], ["a", "b"]),
        (["m\u00fcller", "m\u00f6ller"], [r"'m\xfcller'", r"'m\xf6ller'"]),
        (["x" * 30 + "1.txt", "x" * 30 + "2.txt"], ["x" * 30 + "1", "x" * 30 + "2"]),
        (["{folder}/1.txt", "/dev/null"], ["1.txt", "null"]),
        (["1.txt", "1.txt.txt"], ["1.txt", "1.txt.txt"]),
    ],
)
def test_names_are_as_short_as_distinct(names, short, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, short = ([name.format(folder=tmp_path) for name in its] for its in (names, short))
    for name in names:
        if name != "/dev/null":
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(LAB_TEXT)
    rows = call(["check", *names])[1].split("\n\n")[0].splitlines()
    assert [row.split()[0] for row in rows if "of 8" in row or "empty" in row] == short


# ------------------------------------------------ a course's own key

# fmt: off
KEYS = [  # a key, what its first line says, a submission, what is told of it
    (LAB_TEXT, "as read here (python3 report explain readings)", LAB_TEXT, "8."),
    (text_with(SENDS), f"{IN_PIPELINE} {SENDS}", text_with(SENDS), "8."),
    (text_with(SENDS), f"{IN_PIPELINE} {SENDS}", LAB_TEXT,
     f"7. You get Q2 pipeline latency if the key's reading is left out: {SENDS}."),
    (text_with(SENDS), f"{IN_PIPELINE} {SENDS}", text_with(SENDS, FP32, LAST),
     f"0. You get these 8 numbers with 4 bytes per element (FP32); {IN_PIPELINE} if {LAST}."),
    (text_with(SENDS), f"{IN_PIPELINE} {SENDS}",
     text_with(SENDS, Q2_pipeline_latency="0.3177940992"),
     "7. Q2 pipeline latency: twice the right number."),
    (text_with(FP32, ALL, Q2_tensor_traffic=None, Q2_pipeline_latency=None),
     f"{FP32}; {IN_TENSOR} {ALL}", text_with(FP32, ALL), "8."),
    # what a key lacks is read like the rest of it
    (text_with(FP32, **{name: None for name in KEPT if "pipeline" in name}), FP32, text_with(FP32),
     "8."),
    (text_with(FP32), FP32, LAB_TEXT,
     f"0. You get these 8 numbers if the key's reading is left out: {FP32}."),
    (few_digits(3), "as read here (python3 report explain readings)", LAB_TEXT, "8."),
    (text_of(times(mistakes.numbers(frozenset([SENDS])), "latency", 1000)),
     f"{IN_PIPELINE} {SENDS}", text_with(SENDS), "8."),
]
# fmt: on


@pytest.mark.parametrize(("key", "is_read", "text", "told"), KEYS)
def test_a_key(file_of, key, is_read, text, told):
    line = ["check", "--key", file_of(key, "key.txt"), file_of(text)]
    out = " ".join(said(line, 0 if told == "8." else 1).split())
    told = re.sub(r"^8\.$", "All 8 numbers are right, as in the key.", told)
    told = re.sub(r"^(\d)\. ", r"\1 of 8 numbers are right. ", told)
    assert out.partition(" How it is computed")[0] == f"The key: {is_read}. {told}"


@pytest.mark.parametrize(
    ("key", "why"),
    [
        (text_with(Q1_tensor_latency="0.00412"), "or mistake makes its Q1 tensor latency"),
        (few_digits(3, SENDS), "or mistake makes its Q2 pipeline latency"),
        (text_of(RING), "these are the right numbers of a ring"),
        (exchanged("Q1", "Q2"), "Q1 and Q2 are exchanged"),
        (
            text_with(FP32, Q1_tensor_latency="0.0071", Q2_tensor_latency="0.5123"),
            "or mistake makes its Q1 tensor latency and Q2 tensor latency",
        ),
        ("hello", "has no result lines"),
        (PROGRAM, "is a program"),
    ],
)
def test_a_key_that_nothing_explains(file_of, key, why):
    line = ["check", "--key", file_of(key, "key.txt"), file_of(LAB_TEXT)]
    refused = refusal(line)
    assert refused.startswith("--key ") and why in refused and "key.txt" in refused


def test_a_key_of_another_machine(file_of):
    changes = frozenset([SENDS, UNGATHERED])
    question = LAB.on(nodes=8, link_bytes_per_s=10**8)._replace(inputs=5)
    text = text_of(mistakes.numbers(changes, question), heads=(Q1, "Q2 5 inputs"))
    files = [file_of(text, "key.txt"), file_of(text)]
    options = ["--nodes", "8", "--link-gbs", "0.1", "--inputs", "5"]
    out = said(["check", "--key", *files, *options], 0)
    assert out.splitlines()[2] == "what if: 5 inputs, 8 nodes, 0.1 GB/s"
    whole = json.loads(said(["check", "--json", "--key", *files, *options], 0))
    assert whole["key"] == {"tensor": [UNGATHERED], "pipeline": [SENDS]}


# ------------------------------------------------ more of the command


def test_a_file_that_cannot_be_judged_does_not_stop_others(file_of):
    right, wrong = file_of(LAB_TEXT), file_of("hello", "hello.txt")
    for files in ([right, wrong], [wrong, right], [wrong, file_of(PROGRAM, "lab3.py"), right]):
        status, out, err = call(["check", *files])
        assert status == 2 and "hello.txt has no result lines" in err and "8 of 8" in out
        assert [row.split(maxsplit=2)[1:] for row in out.splitlines() if "no result" in row] == [
            ["-", "no result lines"]
        ]
        status, out, err = call(["check", "--json", *files])
        found = {it["file"]: it.get("refused") for it in json.loads(out)["submissions"]}
        assert (status, found[right], found[wrong]) == (2, None, "no result lines")
    status, out, err = call(["check", wrong, "missing.txt"])
    assert (status, out) == (2, "") and "hello.txt" in err and "missing.txt" in sentence(err)


def test_how_it_is_computed(file_of):
    for text, topics in [
        (text_with(Q1_pipeline_latency="0.0124", Q2_pipeline_latency="0.3968"), "pipeline"),
        (text_with(Q1_tensor_latency="0.004"), "tensor"),
        (mixed([UNGATHERED], [LAST]), "tensor pipeline"),
    ]:
        out = said(["check", file_of(text)], 1)
        assert f"\nHow it is computed: python3 report explain {topics}\n" in out
    assert "How it is computed" not in said(["check", file_of(exchanged("Q1", "Q2"))], 1)


def test_of_equal_sets_the_first_is_counted(file_of):
    text = text_with(UNDIVIDED, **{name: None for name in KEPT if "pipeline" in name})
    found = json.loads(said(["check", "--json", file_of(text)], 1))
    assert found["submissions"][0]["explained"][0]["sets"] == [[SHARED], [UNDIVIDED]]
    assert found["occurrences"] == {SHARED: 1, "missing lines": 1}


def test_standard_input(file_of):
    for files in ("", "-", f"- {file_of(LAB_TEXT)}"):
        result = shell(f"python3 lab3.py | sed 's/1923072/604160/' | python3 report check {files}")
        assert (result.returncode, result.stderr) == (1, "")
        assert "this is Q1 pipeline traffic" in result.stdout
    for command, why in [
        ("python3 report check <&-", "standard input is closed; pipe in"),
        ("python3 report check </dev/null", "standard input is empty; pipe in"),
        ("head -c 1000001 /dev/zero | python3 report check", "has more than 1,000,000 bytes"),
        ("python3 report check <lab3.py", "standard input is a program; pipe in"),
        ("python3 report check lab3.py", "lab3.py is a program; pipe in what it prints: python3"),
    ]:
        result = shell(command)
        assert (result.returncode, result.stdout) == (2, "") and why in sentence(result.stderr)


def test_what_if_options_and_what_was_asked(file_of):
    out = said(["check", file_of(LAB_TEXT), *ODD_OPTIONS.split()], 1)
    assert out.startswith("what if: 8 inputs, 6 nodes, ring")
    assert "All 4 numbers" in said(["check", "--inputs", "1", file_of("\n".join(ROWS[:5]))], 0)
    assert "3 nodes" in refusal(["check", "--nodes", "3", file_of(LAB_TEXT)])
