"""report/check/submission.py: what is read of an output, what not, and the diff of its format.

In tables, "|" and ends of lines stand between cases, or between the rows of a text.
"""

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

import pytest

pytest.importorskip("hypothesis")

from hypothesis import assume, example, given
from hypothesis import strategies as st

import lab3
from machines import ODD, ODD_NUMBERS
from report.check.submission import decode, describe_lines, list_lines, read_submission, shorten

TL, TT, PL, PT, TL2, TT2, PL2, PT2 = LINES = list_lines(ODD, ())
ODD_RIGHT = dict(zip(LINES, map(Fraction, ODD_NUMBERS[1] + ODD_NUMBERS[8]), strict=True))
TEXT = lab3.answers(*ODD)
ROWS = TEXT.splitlines()  # of Q1: a heading and four; of Q2


def split(text):
    return [case.strip() for case in re.split("[|\n]", text)]


def read(*rows):
    return read_submission("\n".join(rows), ODD)


def amounts(*rows):
    """Return the numbers that are read, by line."""
    return {line: it.amount for line, it in read(*rows).numbers.items() if not it.fault}


def read_one(text):
    """Read a number whose unit is that of a latency or of a traffic."""
    [number] = read(f"tensor latency: {text}", f"tensor traffic: {text}").numbers.values()
    return number


def replaced(old, new, text=TEXT):
    assert old in text
    return text.replace(old, new)


# ------------------------------------------------ text


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_unicode_is_told_by_a_mark_or_by_zero_bytes(encoding, mark):
    for text in (f"{TEXT}\u00b5\u03c4\u2212", mark and "\u03c4\u2212" * 9):
        assert decode(f"{mark}{text}".encode(encoding)) == text


def test_other_bytes_are_cp1252():
    assert decode(b"3 \xb5s \x81") == "3 \u00b5s \ufffd"
    for data in (b"", b"\0", b"\0" * 9, b"\xff\xfe", bytes(range(256)) * 9):
        assert "\0" not in decode(data)


UNSEEN = ["\0", "\u200b", "\u00ad", "\ufeff", "\x1b[1;35m", "\x1b[?25l\x1b[K"]
UNSEEN += ["\x1b]0;title\a", "\x1b]8;;http://a.b\x1b\\"]


@pytest.mark.parametrize("unseen", UNSEEN)
def test_what_is_not_seen_is_dropped(unseen):
    text = replaced(" of ", f"{unseen} o{unseen}f ", replaced("1", f"1{unseen}")) + unseen
    for dropped in (text, decode(text.encode())):
        assert amounts(dropped) == ODD_RIGHT and not read(dropped).format


# ------------------------------------------------ rows


@pytest.mark.parametrize("end", ["\n", "\r\n\n", "\r", "\u2028", "\u00a0\n "])
def test_the_handouts_rows_are_read(end):
    assert amounts(replaced("\n", end)) == ODD_RIGHT
    assert read(replaced("\n", end))[1:] == ({}, [], [])


RESULTS = {
    TL: """Total latency of tensor parallelism is 3 s|TENSOR PARALLELISM LATENCY: 3|tp latency = 3
        - Latency of the tensor parallelism = 3.|* Total latency for TP: 3 sec.|tensor latency: 3s
        3. total parallel tensor latency is: 3|Latency with tensor-parallelism   is   3
        Latency in Tensor-Parallel: 3.0 seconds (3000000.0 us).|tensor latency: 3 (3.0 s)
        tensor latency: 3000000 \u00b5s|tensor latency: 3000000 \u03bcs|tensor latency: .3e1
        tensor latency:\u00a03\u00a0seconds|tensor latency: 3000000000 ns|tensor latency: 3,0 s
        TP latency (ms): 3000|TP latency(s) = 3. s|Q1: TP latency: 3000 ms|q1:TP latency=3""",
    TL2: "Q2: TP latency: 3|Question 2 TP latency (s): 3",
    PL: "pipeline latency: 3E3 milliseconds|PP total latency = 3",
    TT: """Total network traffic of tensor parallelism is 3 bytes|tp traffic = 0.000003 MB
        total communication traffic for tensor parallelism: 3|tensor traffic: 3 B
        tp traffic = 0.003 kilobytes|tp traffic = 0.000000003 gb|tp traffic = 24 bits""",
    PT: "network traffic in the pipeline: 3 bytes (0.003 KB)",
}


@pytest.mark.parametrize("line", RESULTS, ids=str)
def test_a_row_that_says_a_result_and_nothing_else(line):
    for row in split(RESULTS[line]):
        assert amounts(row) == {line: 3}, row


MISLEADING = {  # what rows begin with: how they end
    "Total latency of tensor parallelism ": """per input is 3 s|in Q2 is 3 s|(8 inputs) is 3 s
        is 3 s on a ring|is 3 s / input|is about 3 s|is ~3 s|is < 3 s|is 3-4 s|is 3 +/- 0.1 s|is 3 %
        is +3 s|is 3 minutes|is 3 bytes|is 3x|is 3 s (4 ms)|is 3 s (3)(3)|is 3 s (32 inputs)
        is 3 s (3 s|is 3/2 s|is 1 + 2 = 3 s|is 3 s, of pipeline 4 s|is 3,,1 s|is 1 923 072 s
        is 12,34,567 s|is 0,123,456 s|is 1,234,56 s|is 1_2 s|is 1,234_567 s|is ,5 s|is 3.1.2 s
        (ms) is 3 s|(MB): 3|(s) (s): 3|(foo): 3 s|(3): 3|was 3 s|- 3 s|in seconds: 3|is 0x3 s
        is 3e5000 s|is 3 x 10^-3 s|is 3j s|is three s|is $3 s|is \u0663 seconds|3 seconds""",
    "": """Average latency of tensor is 3|Q1 and Q2: tensor latency is 3 s|tensor latency\t3
        Q1 single input tensor latency is 3 s|- Q1: tensor latency: 3|Q1, tensor latency: 3
        (a) tensor latency is 3 s|4) tensor latency: 3|tensor network latency: 3
        Total latency is 3 s|Total tensor parallelism is 3 s|tensor latency is lower than 3 s
        Latency of tensor and pipeline parallelism is 3 s|Latency and traffic of tensor is 3
        # tensor latency = 3|tensor_latency = 3|tensor.latency: 3|{'tensor latency': 3}
        tensor latency,3|tensor latency: 3,|**tensor latency**: 3 s|tensor latency is **3** s
        -Total latency of tensor parallelism is 3 seconds, not 4|12:00:01 tensor latency: 1 s
        what if: 16 inputs|Pipeline parallelism is not possible: 3|tensor  1.434304  7920
        Tensor parallelism bandwidth traffic: 3 bytes""",
    "Total traffic of tensor parallelism ": """is 614.9 MB/s|is 3 GB per second|is 3 Mb|is 3 Mbit
        is 3 seconds|per node: 3 bytes|, all-gather: 3 bytes|is 3 bytes more|is 3 bytes x 32
        is 2^3 bytes|is 3 bytes = 0.003 KB|is 3 bytes (0.005 KB)""",
}


@pytest.mark.parametrize("start", MISLEADING)
def test_a_row_that_says_anything_else_is_not_read(start):
    for end in split(MISLEADING[start]):
        row = start + end
        assert amounts(ROWS[0], row, ROWS[3]) == {PL: ODD_RIGHT[PL]}, row
        assert f"- {shorten(row, 78)}" in read(ROWS[0], row, ROWS[3]).format
    for blanks, numbers in ((100, {TL: 3}), (300, {})):  # a row that is too long
        assert amounts(ROWS[3], f"tensor latency:{' ' * blanks}3") == {PL: ODD_RIGHT[PL], **numbers}


SEEMS = {
    TL: "TP latency: 3.1 + 0.02",
    TT: "Total network traffic of tensor parallelism is 1 923 072 bytes",
    PL: "pipeline_latency = 3",
    PT: "PP traffic: 4 bytes  # 4 nodes",
}


@pytest.mark.parametrize(("line", "row"), SEEMS.items(), ids=str)
def test_a_row_that_seems_to_be_about_a_missing_line(line, row):
    rest = [one for one in ROWS if one != ROWS[1 + LINES.index(line)]]
    for rows in ([row, *rest], [ROWS[0], row, f"{row}!", *rest], [*rest, "Q1", "TP and PP", row]):
        assert read(*rows).unread == {line: row}
    for rows in ([*ROWS, "Q1", row], [*rest, "Q3", row], ["TP and PP latency", *rest]):
        assert read(*rows).unread == {}


# ------------------------------------------------ of which line a row is

HEADINGS = {  # of which line a row is below a heading that stands below one of Q1, of Q2
    (TL, TL): """Q1|q1:|-----Q1 single input-----|== Question 1 ==|question1|ONE INPUT|Q1 results:
        for a single input:|Part 1: the Q1|[Q1] one input|1 input, Q1|Q 1""",
    (TL2, TL2): "Q2|8 inputs|Question 2 (8 inputs)|8 inputs: Q2|Results for 8 inputs:|Q2 - 8 input",
    (None, None): """Q3|Q12|16 inputs|Q3: on a ring|Question 4 (report only)|Q1 Q2|Q1/Q3|Q0
        80 inputs|1 input 8 inputs|Q3 8 inputs|-----Q2 2 inputs-----|Q1 8 inputs|Q2 one input""",
    (TL, TL2): """warm-up|Compute only:|------4 nodes------|Q1 and Q3|Q1 per layer|Qs|Q1st|input 8
        8 inputs per node|32 filters, 8 inputs|lab 3|0.8 inputs|8|Part 2|Q1 one input, Q1""",
}


@pytest.mark.parametrize("lines", HEADINGS, ids=str)
def test_headings(lines):
    for heading in split(HEADINGS[lines]):
        for above, line in zip(("Q1", "Q2"), lines, strict=True):
            found = amounts(above, heading, "TP latency: 3", "Q1: PP latency: 5")
            assert found == {PL: 5} | ({line: 3} if line else {}), heading


PLACES = {  # what is noted: rows, and of which line each number is, where 9 is nobody's
    "": [
        ("warm-up|TP latency: 9|TP latency: 9|PP latency: 5|Q1|TP latency: 3", {TL: 3, PL: 5}),
        ("16 inputs|TP latency: 9|Q1|TP latency: 3", {TL: 3}),
        ("TP latency: 9|Q2: PP latency: 5|Q1: TP latency: 3", {TL: 3, PL2: 5}),
        ("TP latency: 4|Q1|PP latency: 5|Q3|TP latency: 9", {TL: 4, PL: 5}),
        ("TP latency: 9|Q1|TP latency: nan|PP latency: 5", {PL: 5}),
        ("Q2|Q1: TP latency: 3|PP latency: 5", {TL: 3, PL2: 5}),
        ("Q2|TP latency: 4|Q1|TP latency: 3", {TL: 3, TL2: 4}),
        ("TP latency: 3|PP latency: 5|TP latency: 4|PP latency: 5", {TL: 3, PL: 5, TL2: 4, PL2: 5}),
        ("TP latency: 3|TP latency: 4|PP latency: 5|Q3|TP latency: 9", {TL: 3, TL2: 4, PL: 5}),
        ("PP latency: 5|TP latency: 3|Q3|TP latency: 9|TP latency: 9", {TL: 3, PL: 5}),
        ("Q2|TP latency: nan|TP latency:|TP latency: 3|TP latency: 3", {TL2: 3}),
    ],
    "no heading of Q2 is read; of two rows with one label the second is taken as Q2's": [
        ("Q1|TP latency: 3|Q2 (N=32)|TP latency: 4", {TL: 3, TL2: 4}),
        ("Q1|TP latency: 3|8 images|TP latency: 4", {TL: 3, TL2: 4}),
    ],
    "Q1 tensor latency is printed 2 times; the first counts": [
        ("TP latency: 3|Total TP latency: 9", {TL: 3}),
        ("TP latency: 3|TP latency: 9|PP latency: 5|Q2", {TL: 3, PL: 5}),
        ("Q1: TP latency: 3|Q1: TP latency: 9|PP latency: 5", {TL: 3, PL: 5}),
    ],
    "Q2 tensor latency is printed 3 times; the first counts": [
        ("Q2|TP latency: 3|PP latency: 5|TP latency: 9|Total TP latency: 3", {TL2: 3, PL2: 5}),
        ("Q2|TP latency: 3|TP latency: 9|TP latency: 8", {TL2: 3}),
    ],
    # as in the handout's sample
    "the second Q2 tensor latency is read as Q2 pipeline latency, which is missing": [
        ("Q2|TP latency: 3|TP latency: 5", {TL2: 3, PL2: 5}),
        ("Q2|TP latency: 3|TP latency: 5|TP traffic: 7|TP latency: 5", {TL2: 3, PL2: 5, TT2: 7}),
    ],
}


@pytest.mark.parametrize("note", PLACES)
def test_of_which_line_a_row_is(note):
    for text, numbers in PLACES[note]:
        assert amounts(*split(text)) == numbers, text
        assert read(*split(text)).notes == [note] * bool(note), text


# ------------------------------------------------ numbers

NUMBERS = {  # numbers: the first amount, its unit, and how many digits count; or a fault
    "1,923,072 bytes|1_923_072 B|1.923.072 bytes": (1923072, "bytes", 7),
    "604.160 bytes|604160 b|604,160 bytes": (604160, "bytes", 5),
    "604160.00000 bytes|604160.000000 bytes": (604160, "bytes", 10),
    "12.0 KB|12.0e+00 kb": (12000, "KB", 3),
    "12 MiB|12 mebibytes": (12 * 2**20, "MiB", 2),
    "0.0031 s|3.1e\u221203 s|3.1e-003 s|0,0031 seconds": (Fraction(31, 10_000), "seconds", 2),
    "0,100 seconds|.100 sec": (Fraction(1, 10), "seconds", 3),
    "3,127.5 us": (Fraction(31275, 10**7), "us", 5),
    "0.000 s": (0, "seconds", 0),
    "-nan s|inf s|None s|xxx seconds": "no number",
    "-3 s": "negative",
}


@pytest.mark.parametrize("texts", NUMBERS)
def test_what_a_number_is(texts):
    for text in split(texts):
        number = read_one(text)
        found = number.fault or (number.amount, number.unit, number.digits)
        assert found == NUMBERS[texts], text
        assert text.replace("\u2212", "-").startswith(f"{number.text} ")
        assert not (number.fault and number.agrees(0))


AGREES = {  # a number: an answer
    "and has digits": """0.6041599999999999 MB: 604160|1923071.9999999998 bytes: 1923072
        1903502 bytes: 1903502.7|1.92e6 bytes: 1923072|604 KB: 604160|590 KiB: 604160|2 s: 2
        0 bytes: 0|3.127 ms: 0.00312786|590 KB: 604160|1.834 MB: 1923072|1.834 GB: 1969225728
        3,127 ms: 0.00312726016|3,127 ms: 3.12726016|0,100 seconds: 0.1000723
        0,00312726016 s: 0.00312726016|604.160 bytes: 604160|604.160 bytes: 604.16""",
    "but lacks digits": "1.9e6 bytes: 1923072|600 KB: 604160|0.0031 s: 0.003127|3,000 s: 3.0004",
    "not": """1923000 bytes: 1923072|1903504 bytes: 1903502.7|604 KiB: 604160|3.127 s: 3127
        0.00 s: 0.00312726016|4833000 bits: 604160|3.127 s: 0.00312726016|3,128 ms: 0.00312726016
        0,100 seconds: 100|604.160 bytes: 604161|604.160 KB: 604160000|1,923,072 bytes: 1.923072
        1.923e6 bytes: 1923000000""",
}


@pytest.mark.parametrize("how", AGREES)
def test_with_what_a_number_agrees(how):
    for text, answer in (pair.split(": ") for pair in split(AGREES[how])):
        number = read_one(text)
        assert number.agrees(Fraction(answer)) == (how != "not"), text
        assert how == "not" or number.has_digits(Fraction(answer)) == ("and" in how), text


def test_two_numbers_that_are_equal_one_way():
    number = read_one("3,127 ms")
    for text, is_equal in {"3.1 ms": True, "3.12726 s": True, "3.2 ms": False}.items():
        assert number.equals(read_one(text)) == read_one(text).equals(number) == is_equal


UNITS = {"s": 1, "ms": 1000, "us": 10**6, "ns": 10**9, "B": 1, "MB": Fraction(1, 10**6)}
UNITS |= {"KiB": Fraction(1, 2**10), "GiB": Fraction(1, 2**30), "bits": 8}
EXACT = st.builds(Fraction, st.integers(1, 10**15), st.integers(1, 10**12))


@given(EXACT, st.sampled_from([*UNITS]), st.integers(3, 9))
def test_what_is_printed_rounded_or_truncated_is_read_again(answer, unit, digits):
    value = answer * UNITS[unit]
    floor, nearest, ceiling = (
        Context(digits, way).divide(Decimal(value.numerator), Decimal(value.denominator))
        for way in (ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_CEILING)
    )
    last_place = Decimal(1).scaleb(floor.adjusted() - digits + 1)
    for number in (floor, nearest, floor - last_place, ceiling + last_place):
        read_again = read_one(f"{number.quantize(last_place):e} {unit}")
        assert read_again.agrees(answer) == (number in (floor, nearest))
        assert read_again.rounding == Fraction(last_place) / UNITS[unit] / 2


@given(st.integers(0, 10**14), st.integers(-2, 2), st.sampled_from(["{}", "{:,}", "{:_}", "{}.0"]))
@example(1920000, 0, "{}")
def test_whole_numbers_of_bytes_are_exact(amount, off, form):
    assume(amount + off > 0 and (form != "{}.0" or amount < 10**9))
    assert read_one(f"{form.format(amount + off)} bytes").agrees(amount) == (off == 0)


# ------------------------------------------------ what is refused, names

TRACEBACK = (
    'Traceback (most recent call last):\n  File "lab3.py", line 3, in <module>\n    print(x)\n'
    "NameError: name 'x' is not defined"
)
PROGRAM = "is a program", "python3 YOURS | python3 report check"
CODE = ["import sys", "from os import path", "def main():\n  pass", "print 'x'", "print(x)"]
FAILED = "your program failed: NameError: name 'x' is not defined"
LOST = "python3: can't open file 'lab3.py'"


@pytest.mark.parametrize(
    ("text", "what", "advice"),
    [
        (" \n\t\n", "is empty", "did your program fail?"),
        (f"\n%PDF-1\n{TEXT}", "is a PDF", "check reads what a program prints, not a report"),
        *((f"{TEXT}\n{code}", *PROGRAM) for code in CODE),
        (f"lab3\n  {LOST} \n\n", "has no results", f"it ends with: {LOST}"),
        (f"Q3\n{ROWS[1]}", "has no results", f"it ends with: {ROWS[1]}"),
        (f"KeyError: 'x'\n{TRACEBACK[:42]}", "has no results", "it ends with: File"),
        (TRACEBACK, "has no results", FAILED),
        (f"KeyError: 'y'\n{TRACEBACK}\ndone", "has no results", FAILED),
        (f"{replaced('Name', 'Key', TRACEBACK)}\n\n{TRACEBACK}", "has no results", FAILED),
        (replaced("NameError", "\x1b[1mNameError\x1b[0m", TRACEBACK), "has no results", FAILED),
    ],
)
def test_what_is_refused(text, what, advice):
    with pytest.raises(ValueError, match=f"^text {what}; ") as caught:
        read(text)
    assert (caught.value.what, caught.value.advice) == (what, advice)


def test_results_count_beside_what_is_no_result():
    assert amounts(f"    import numpy\n  print(x)\nimportant: \n{TEXT}") == ODD_RIGHT
    for rows in ([TEXT, TRACEBACK], [TRACEBACK, TEXT]):
        assert amounts(*rows) == ODD_RIGHT
        assert read(*rows).format and read(*rows).notes == [FAILED]
    for row in ("System.Management.Automation.RemoteException", "RelativeError: 0.0012"):
        assert read(TEXT, row).notes == []


def test_lines_by_their_names():
    assert list_lines(ODD, {"tensor": "why"}) == [PL, PT, PL2, PT2]
    assert list_lines(ODD._replace(inputs=1), ["pipeline"]) == [TL, TT]
    assert describe_lines([TL, TL2]) == "Q1 tensor latency and Q2 tensor latency"
    assert describe_lines([TL, TT, TL2, TT2]) == "4 tensor numbers"
    assert describe_lines(LINES[:4]) == "4 Q1 numbers" and describe_lines(LINES) == "8 numbers"
    assert shorten(" a\tb\u00e9 ") == "a?b?"
    assert shorten("1" * 24) == "1" * 24 and shorten("1" * 25) == f"{'1' * 21}..."


# ------------------------------------------------ the format


def test_the_diff_shows_all_that_is_wanted_if_all_rows_differ():
    rows = read(*(f"- {row}." for row in ROWS)).format
    assert [row[:30] for row in rows[:10]] == [f"+ {row}"[:30] for row in ROWS]
    assert rows[10:] == ["  and 10 more rows"]


ENDS = {  # of the handout's row: of one's own
    "is 1.434304 seconds": "is 1.434304 s|is 1.434304 seconds (1434 ms)|(s) is 1.434304",
    "is 5.5 seconds": "is 5.5|= 5.5 seconds",  # not the right one
    "is ... seconds": f"""is 1434.304 ms|is 1,434.304 seconds|(s) is 1,434304|1.434304 seconds
        is xxx seconds|is: {"1" * 60}""",  # no room
}


@pytest.mark.parametrize("wanted", ENDS)
def test_the_diff_of_a_row(wanted):
    for end in split(ENDS[wanted]):
        row = replaced("is 1.434304 seconds", end, ROWS[1])
        assert read(ROWS[0], row, *ROWS[2:]).format == [
            f"  {ROWS[0]}",
            f"+ Total latency of tensor parallelism {wanted}",
            f"- {row[:75] + '...' if len(row) > 78 else row}",
            f"  {ROWS[2]}",
        ]


def test_a_wrong_number_may_be_right_in_format():
    for number in ("5", "0.25", "0", "0." + "3" * 60):
        assert read(replaced("1.434304", number)).format == []
    found = read(replaced(" 7920 ", " 7.920 "))  # a point of thousands
    assert found.numbers[TT].amount == 7920
    assert "+ Total network traffic of tensor parallelism is ... bytes" in found.format


@pytest.mark.parametrize("own", ["3,127 s", "7.920", "xxx", ""])
def test_no_right_number_is_shown_that_was_not_given(own):
    for rows in ([f"tensor latency: {own}"], [ROWS[0], f"tensor traffic: {own}", *ROWS[5:]]):
        shown = " ".join(read(*rows).format).split()
        assert not {*map(str, ODD_NUMBERS[1])} & {*shown}


@pytest.mark.parametrize(
    "piece",
    [
        *("9", " ", "is ", "(", "1 input ", "Q1\n", "\0", "\x1b[", "\x1b]", "\u00e9\u200b"),
        *("Traceback\n  ", "Traceback (most recent call last):\n  x\n", "what if: \n  "),
        *(f"tensor latency: {'9,999' * 30},9\n", f"tensor latency: {'9' * 4000},"),
    ],
)
def test_a_megabyte_is_read(piece):
    text = f"{ROWS[1]}\n{piece * (10**6 // len(piece))}\n{ROWS[3]} "
    assert amounts(text)[TL] == ODD_RIGHT[TL]
