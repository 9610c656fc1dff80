"""report/check/submission.py: what is read of an output, what not, and the diff of its format."""

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from itertools import product

import pytest

pytest.importorskip("hypothesis")

from hypothesis import assume, example, given
from hypothesis import strategies as st

import lab3
from machines import LAB_NUMBERS, ODD, ODD_NUMBERS, ODD_OPTIONS
from program import output
from report.check.submission import (
    Line,
    NoSubmissionError,
    decode,
    describe_lines,
    list_lines,
    read_submission,
    shorten,
)
from report.question import LAB

WORDS = ("Q1", "Q2"), ("tensor", "pipeline"), ("latency", "traffic")
LINES = [Line(*words) for words in product(*WORDS)]
TL, TT, PL, PT, TL2, TT2, PL2, PT2 = LINES
ODD_RIGHT = dict(zip(LINES, map(Fraction, ODD_NUMBERS[1] + ODD_NUMBERS[8]), strict=True))
ODD_TEXT = """\
-----Q1 single input-----
Total latency of tensor parallelism is 1.434304 seconds
Total network traffic of tensor parallelism is 7920 bytes
Total latency of pipeline parallelism is 1.981824 seconds
Total network traffic of pipeline parallelism is 1260 bytes
--------Q2 8 inputs------
Total latency of tensor parallelism is 11.474432 seconds
Total network traffic of tensor parallelism is 63360 bytes
Total latency of pipeline parallelism is 6.013824 seconds
Total network traffic of pipeline parallelism is 10080 bytes
"""
ROWS = ODD_TEXT.splitlines()


def read(text, question=ODD):
    """Return the numbers that are read, by line."""
    numbers = read_submission(text, question).numbers
    return {line: number.amount for line, number in numbers.items() if not number.fault}


def read_one(text):
    """Return what is read behind a label of the value's kind."""
    kind = "traffic" if re.search(r"(?i)b|^[\d.]+$", text) else "latency"
    [number] = read_submission(f"tensor {kind}: {text}", ODD).numbers.values()
    return number


def refuse(text):
    with pytest.raises(NoSubmissionError) as caught:
        read_submission(text, ODD)
    return caught.value.what, caught.value.advice


def list_repeats(found):
    """List of which lines the notes say that they are printed, and how often."""
    return [" ".join(re.findall(r"Q\d \w+ \w+|\d+(?= times)", note)) for note in found.notes]


def replaced(old, new, text=ODD_TEXT):
    assert old in text
    return text.replace(old, new)


# ------------------------------------------------ text


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_unicode_is_told_by_a_mark_or_by_zero_bytes(encoding, mark):
    for text in (f"{ODD_TEXT}\u00b5\u03c4\u2212", mark and "\u03c4\u2212" * 9):
        assert decode(f"{mark}{text}".encode(encoding)) == text


def test_other_bytes_are_cp1252():
    assert decode(b"3 \xb5s \x81") == "3 \u00b5s \ufffd"
    assert read(decode(b"tensor latency: 3000000 \xb5s")) == {TL: 3}
    for data in (b"", b"\0", b"\0" * 9, b"\xff\xfe", bytes(range(256)) * 9):
        assert "\0" not in decode(data)


UNSEEN = ["\0", "\u200b", "\u00ad", "\ufeff", "\x1b[1;35m", "\x1b[?25l\x1b[K"]
UNSEEN += ["\x1b]0;title\a", "\x1b]8;;http://a.b\x1b\\"]


@pytest.mark.parametrize("unseen", UNSEEN)
def test_what_is_not_seen_is_dropped(unseen):
    text = replaced(" of ", f"{unseen} o{unseen}f ", replaced("1", f"1{unseen}")) + unseen
    for dropped in (text, decode(text.encode())):
        assert read(dropped) == ODD_RIGHT and not read_submission(dropped, ODD).format


# ------------------------------------------------ rows


def test_the_handouts_rows_are_read():
    ends = [ODD_TEXT.replace("\n", end) for end in ("\r\n\n", "\r", "\u2028", "\u00a0\n ")]
    for text in (ODD_TEXT, lab3.answers(*ODD), *ends):
        assert read(text) == ODD_RIGHT
        assert read_submission(text, ODD)[1:] == ({}, [], [])
    assert [*read(lab3.answers(*LAB), LAB).values()] == [
        Fraction(it) for it in LAB_NUMBERS[1] + LAB_NUMBERS[32]
    ]


RESULTS = {  # rows, each between "|" or newlines
    TL: "Total latency of tensor parallelism is 3 s|TENSOR PARALLELISM LATENCY: 3|tp latency = 3\n"
    "- Latency of the tensor parallelism = 3.|* Total latency for TP: 3 sec.|tensor latency: 3s\n"
    "3. total parallel tensor latency is: 3 seconds|Latency with tensor-parallelism   is   3\n"
    "Latency in Tensor-Parallel: 3.0 seconds (3000000.0 us).|tensor latency: 3 (3.0 s)\n"
    "tensor latency: 3000 ms|tensor latency: 3000000 \u00b5s|tensor latency: 3000000 \u03bcs\n"
    "tensor latency:\u00a03\u00a0seconds|tensor latency: 3000000000 ns|tensor latency: .3e1\n"
    "TP latency (ms): 3000|TP latency(s) = 3 s|tensor latency: 3,0 s\n"
    "Q1: TP total latency: 3000 ms|Q1 tensor latency: 3|Question 1: TP latency: 3|q1:TP latency=3",
    TL2: "Q2: TP latency: 3|Question 2 TP latency (s): 3",
    PL: "pipeline latency: 3E3 milliseconds|PP total latency = 3",
    TT: "Total network traffic of tensor parallelism is 3 bytes|tp traffic = 0.000003 MB\n"
    "total communication traffic for tensor parallelism: 3|tensor traffic: 3 B\n"
    "tp traffic = 0.003 kilobytes|tp traffic = 0.000000003 gb|tp traffic = 24 bits",
    PT: "network traffic in the pipeline: 3 bytes (0.003 KB)",
}


@pytest.mark.parametrize("line", RESULTS, ids=str)
def test_a_row_that_says_a_result_and_nothing_else(line):
    for row in re.split("[|\n]", RESULTS[line]):
        assert read(row) == {line: 3}, row


MISLEADING = {  # what rows begin with: how they end, each between "|" or newlines
    "Total latency of tensor parallelism ": "per input is 3 seconds|per layer: 3 s|in Q2 is 3 s\n"
    "for 8 inputs is 3 seconds|(8 inputs) is 3 seconds|is 3 seconds on a ring|is 3 s, or 3000 ms\n"
    "is 3 seconds / input|is about 3 seconds|is ~3 seconds|is < 3 seconds|is >= 3 seconds\n"
    "is 3-4 seconds|is 3 - 4 seconds|is 3 to 4 seconds|is 3 +/- 0.1 seconds|is +3 seconds\n"
    "is not 3 seconds|is 3 minutes|is 3 bytes|is 3 %|is 3x|is 3 times as long|is [3] seconds\n"
    "is 3 seconds (4 ms)|is 3 seconds (3)(3)|is 3 seconds (32 inputs)|is 3 seconds (3 s\n"
    "is 3/2 seconds|is 1 + 2 seconds|is 1 + 2 = 3 seconds|= 2 s + 1 s|= C / R = 3 seconds\n"
    "is 3 seconds, of pipeline 4 seconds|is 3 3 seconds|is 3,,1 seconds|is 1 923 072 seconds\n"
    "is 12,34,567 seconds|is 0,123,456 seconds|is 1,234,56 s|is 1_2 s|is 1,234_567 s|is ,5 s\n"
    "(ms) is 3 s|(MB): 3|(s) (s): 3|(foo): 3 s|(3): 3|was 3 seconds|- 3 seconds|is 3.1.2 seconds\n"
    "in seconds: 3|is 0x3 seconds|is 3e5000 seconds|is 3 x 10^-3 s|"
    "is 3j seconds|is three seconds|is $3 seconds|is \u0663 seconds|3 seconds",
    "": "Latency per input of tensor parallelism is 3 s|Average latency of tensor is 3\n"
    "Q1 and Q2: tensor latency is 3 s|Q1 single input tensor latency is 3 seconds\n"
    "- Q1: tensor latency: 3|Q1 - tensor latency: 3|Q1, tensor latency: 3\n"
    "(a) Total latency of tensor parallelism is 3 s|a) tensor latency is 3|4) tensor latency: 3\n"
    "tensor compute latency is 3 s|tensor network latency is 3|tensor communication latency is 3\n"
    "Total latency is 3 seconds|Total tensor parallelism is 3 s|tensor latency is lower than 3 s\n"
    "Latency of tensor and pipeline parallelism is 3 s|Latency and traffic of tensor is 3\n"
    "# tensor latency = 3|// tensor latency: 3 s\n"
    'tensor_latency = 3|>>> tensor latency = 3|tensor.latency: 3|"tensor latency": 3,\n'
    "'tensor latency': 3|{\"tensor latency\": 3}|tensor latency\t3|tensor latency,3\n"
    "tensor latency: 3,|tensor latency: 3;|**tensor latency**: 3 s|tensor latency is **3** s\n"
    "Lower bound: tensor latency = 3 s|--tensor-latency=3\n"
    "-Total latency of tensor parallelism is 3 seconds, not 4|12:00:01 tensor latency: 1 s",
    "Total traffic of tensor parallelism ": "is 614.9 MB/s|is 3 GB per second|is 3 Mb|is 3 Mbit\n"
    "is 3 elements|is 3 seconds|is 3 links x 4 bytes|per link is 3 bytes|per node: 3 bytes\n"
    "of layer 2: 3 bytes|, all-gather: 3 bytes|is 3 bytes more|is 3 bytes x 32|is 3 * 4 bytes\n"
    "is 2^3 bytes|is 3 bytes = 0.003 KB|is 3 bytes (0.005 KB)|is 3 bytes (each input)",
    "Tensor ": "parallelism bandwidth traffic: 3 bytes|weight traffic: 3 bytes",
}


@pytest.mark.parametrize("start", MISLEADING)
def test_a_row_that_says_anything_else_is_not_read(start):
    for end in re.split("[|\n]", MISLEADING[start]):
        found = read_submission(f"{ROWS[0]}\n{start}{end}\n{ROWS[3]}\n", ODD)
        assert {line: it.amount for line, it in found.numbers.items()} == {PL: ODD_RIGHT[PL]}, end
        assert f"- {shorten(start + end, 78)}" in found.format


SEEMS = ["TP latency: 3.1 + 0.02", "Total network traffic of tensor parallelism is 1 923 072 bytes"]
SEEMS += ["pipeline_latency = 3", "PP traffic: 4 bytes  # 4 nodes"]


@pytest.mark.parametrize(("line", "row"), [*zip(LINES, SEEMS, strict=False)])
def test_a_row_that_seems_to_be_about_a_missing_line(line, row):
    rest = [one for one in ROWS if one != ROWS[1 + LINES.index(line)]]
    for rows in ([row, *rest], [ROWS[0], row, f"{row}!", *rest], [*rest, "Q1", "TP and PP", row]):
        assert read_submission("\n".join(rows), ODD).unread == {line: row}
    for rows in (
        [*ROWS, "Q1", row],
        [*rest, row],
        [*rest, "Q3", row],
        ["TP and PP latency", *rest],
    ):
        assert read_submission("\n".join(rows), ODD).unread == {}


def test_outputs_of_which_little_is_read():
    for row in ("tensor  1.434304  7920", "| tensor latency: 1 |", "tensor latency:\n1.434304 s"):
        assert read(f"strategy  latency (s)  traffic\n{row}\n{ROWS[3]}") == {PL: ODD_RIGHT[PL]}
    for blanks, numbers in ((100, {TL: 3, PL: 4}), (300, {PL: 4})):  # a row that is too long
        assert read(f"tensor latency:{' ' * blanks}3\npipeline latency: 4") == numbers
    another = f"Q2\n{ROWS[6]}\n64 inputs\n{ROWS[8]}\nQ4: on a ring\n{ROWS[8]}\n1 input\n{ROWS[1]}"
    assert read(another) == {TL: ODD_RIGHT[TL], TL2: ODD_RIGHT[TL2]}


# ------------------------------------------------ headings

BLOCK = "tensor latency: 3\n"
HEADINGS = {
    "Q1": "Q1|q1:|-----Q1 single input-----|== Question 1 ==|question1|Single input|ONE INPUT|"
    "Q1 results:|for a single input:|Part 1: the Q1|[Q1] one input|1 input, Q1|Q 1",
    "Q2": "Q2|8 inputs|Question 2 (8 inputs)|8 inputs: Q2|Results for 8 inputs:|"
    "Part 2: 8 inputs|Q2 - 8 input",
    "another": "Q3|Q12|16 inputs|Q3: on a ring|Question 4 (report only)|Q1 Q2|Q1/Q3|"
    "1 input 8 inputs|Q0|80 inputs|Q3 8 inputs|------Q2 2 inputs------|Q1 8 inputs|Q2 one input",
    "none": "warm-up|Compute only:|------4 nodes------|Q1 and Q3|Tensor parallelism|Q1 per layer|"
    "8 inputs per node|Qs|Q1st|32 filters, 8 inputs|lab 3|0.8 inputs|8|input 8|Part 2|eight inputs",
}


@pytest.mark.parametrize("question", HEADINGS)
def test_headings(question):
    for heading in HEADINGS[question].split("|"):
        if question == "another":  # what follows is nobody's
            assert "results" in refuse(f"{heading}\n{BLOCK}")[0]
            assert read(f"Q2\n{heading}\n{BLOCK}Q1\n{BLOCK}") == {TL: 3}, heading
        elif question == "none":
            assert read(f"{heading}\n{BLOCK}") == {TL: 3}
            assert read(f"Q2\n{heading}\n{BLOCK}") == {TL2: 3}, heading
        else:
            assert read(f"Q3\n{heading}\n{BLOCK}") == {TL._replace(question=question): 3}


@pytest.mark.parametrize("start", ["", "warm-up", "------8 nodes------", "------Q2 2 inputs------"])
def test_rows_below_a_heading_count_before_rows_above(start):
    for rows in (BLOCK, f"{BLOCK}{BLOCK}", f"{BLOCK}tensor traffic: 9\n"):
        found = read_submission(f"{start}\n{rows}{ODD_TEXT}", ODD)
        assert read(f"{start}\n{rows}{ODD_TEXT}") == ODD_RIGHT
        assert found.notes == [] and f"- {BLOCK.strip()}" in found.format
    assert read(f"tensor latency: 4\nQ2: pipeline latency: 5\nQ1: {BLOCK}") == {TL: 3, PL2: 5}
    assert read(f"tensor latency: 4\nQ1\npipeline latency: 5\nQ3\n{BLOCK}") == {TL: 4, PL: 5}
    assert read("tensor latency: 4\nQ1\ntensor latency: nan\npipeline latency: 5") == {PL: 5}
    assert read(f"Q2\nQ1: {BLOCK}pipeline latency: 5") == {TL: 3, PL2: 5}


def test_without_headings_the_second_rows_are_q2s():
    pairs = [row for place in range(1, 5) for row in (ROWS[place], ROWS[place + 5])]
    for rows in ([*ROWS[1:5], *ROWS[6:]], pairs, [*ROWS[1:5], *ROWS[6:], "Q3", ROWS[1], ROWS[1]]):
        assert read("\n".join(rows)) == ODD_RIGHT
    assert read("tensor latency: 3\nTotal tensor latency: 4") == {TL: 3}  # not the same row
    for heading in ("Q2 (N=32)", "Q2: batch of 8", "8 images", "second part"):  # none is read
        found = read_submission(replaced("Q2 8 inputs", heading), ODD)
        assert read(replaced("Q2 8 inputs", heading)) == ODD_RIGHT and len(found.notes) == 1
    for text in ("{}{}{}Q2", "Q1: {}Q1: {}{}", "{2}{0}Q3\n{1}{1}"):
        rows = BLOCK, "tensor latency: 4\n", "pipeline latency: 5\n"
        assert read(text.format(*rows)) == {TL: 3, PL: 5}
    one = ODD._replace(inputs=1)
    assert read("\n".join(ROWS[1:5] * 2), one) == {line: ODD_RIGHT[line] for line in LINES[:4]}


def test_the_first_row_of_a_line_counts():
    assert read("\n".join([*ROWS[5:], *ROWS[:5]])) == ODD_RIGHT
    for extra, notes in (
        ([ROWS[7]], []),
        ([replaced("63360", "5", ROWS[7])], [f"{TT2} 2"]),
        (["tensor traffic: 5", "TP traffic = 6"], [f"{TT2} 3"]),
    ):
        text = "\n".join([*ROWS, *extra])
        found = read_submission(text, ODD)
        assert read(text) == ODD_RIGHT and list_repeats(found) == notes
        assert found.format == [f"  {ROWS[9]}", *(f"- {row}" for row in extra)]
    assert read(replaced(ROWS[1], f"tensor latency: nan\n{ROWS[1]}")) == ODD_RIGHT  # the number


def test_a_label_twice_is_the_missing_lines():
    """The second row of a label that is there twice, as in the handout's sample of Q2."""
    repeated = replaced("pipeline", "tensor", ROWS[9])
    for rows in ([*ROWS[:8], repeated, ROWS[8], ROWS[8]], [*ROWS[:8], repeated, ROWS[8]]):
        found = read_submission("\n".join(rows), ODD)
        assert read("\n".join(rows)) == ODD_RIGHT
        assert found.notes == [f"the second {TT2} is read as {PT2}, which is missing"]
        assert f"- {repeated}" in found.format and f"+ {ROWS[9]}" in found.format
    for others, times in (
        ([repeated, replaced("10080", "3", repeated)], [f"{TT2} 3"]),
        ([replaced("Total ", "", repeated)], [f"{TT2} 2"]),  # another label
        ([ROWS[7]], []),  # the same number
    ):
        text = "\n".join([*ROWS[:9], *others])
        assert read(text) == {line: ODD_RIGHT[line] for line in LINES[:7]}
        assert list_repeats(read_submission(text, ODD)) == times


# ------------------------------------------------ numbers


NUMBERS = {  # the first amount, unit and digits that count: of what, each between "|"
    "1923072 bytes 7": "1,923,072 bytes|1_923_072 B|1.923.072 bytes",
    "604160 bytes 5": "604.160 bytes|604160 b|604,160 bytes",
    "604160 bytes 10": "604160.00000 bytes|604160.000000 bytes",
    "12000 KB 3": "12.0 KB|12.0e+00 kb",
    "12582912 MiB 2": "12 MiB|12 mebibytes",
    "0.0031 seconds 2": "0.0031 s|3.1e\u221203 s|3.1e-003 s|0,0031 seconds",
    "0.1 seconds 3": "0,100 seconds|.100 sec",
    "0.0031275 us 5": "3,127.5 us",
    "0 seconds 0": "0.000 s",
}


@pytest.mark.parametrize("wanted", NUMBERS)
def test_numbers(wanted):
    amount, unit, digits = wanted.split()
    for text in NUMBERS[wanted].split("|"):
        number = read_one(text)
        assert (number.fault, number.amount, number.unit) == ("", Fraction(amount), unit), text
        assert number.digits == int(digits) and not read_one("3.").unit
        assert text.replace("\u2212", "-").startswith(f"{number.text} ")


@pytest.mark.parametrize("text", ["-nan", "inf s", "None s", "xxx seconds", "", "-3"])
def test_no_numbers(text):
    number = read_submission(f"tensor latency: {text}", ODD).numbers[TL]
    assert number.fault == ("negative" if "3" in text else "no number")
    assert not number.agrees(ODD_RIGHT[TL]) and not number.agrees(0)


AGREES = {  # "a number: an answer", each between "|"
    "and has digits": "0.6041599999999999 MB: 604160|1923071.9999999998 bytes: 1923072|"
    "1903502 bytes: 1903502.7|1.92e6 bytes: 1923072|604 KB: 604160|590 KiB: 604160|2 s: 2|"
    "0 bytes: 0|3.127 ms: 0.00312786|"  # truncated
    # of 1,024 bytes; 1,923,072 is 1.833984375 * 2^20, and 1.834 * 2^30 is 1,969,242,500.1
    "590 KB: 604160|1.834 MB: 1923072|1.834 GB: 1969225728|"
    "3,127 ms: 0.00312726016|3,127 ms: 3.12726016|0,100 seconds: 0.1000723|"
    "0,00312726016 s: 0.00312726016|604.160 bytes: 604160|604.160 bytes: 604.16",
    "": "1.9e6 bytes: 1923072|600 KB: 604160|0.0031 s: 0.00312726016|3,000 s: 3.0004",
    "not": "1923000 bytes: 1923072|1903504 bytes: 1903502.7|604 KiB: 604160|0.00 s: 0.00312726016|"
    "4833000 bits: 604160|3.127 s: 0.00312726016|3,128 ms: 0.00312726016|3.127 s: 3127|"
    "0,100 seconds: 100|604.160 bytes: 604161|604.160 KB: 604160000|1,923,072 bytes: 1.923072|"
    "1.923e6 bytes: 1923000000",
}


@pytest.mark.parametrize("how", AGREES)
def test_with_what_a_number_agrees(how):
    for text, answer in (pair.split(": ") for pair in AGREES[how].split("|")):
        number = read_one(text)
        assert number.agrees(Fraction(answer)) == (how != "not"), text
        assert how == "not" or number.has_digits(Fraction(answer)) == bool(how), text


def test_two_numbers_that_are_equal_one_way():
    number = read_one("3,127 ms")
    for text, is_equal in {"3.1 ms": True, "3.12726 s": True, "3.2 ms": False}.items():
        assert number.equals(read_one(text)) == read_one(text).equals(number) == is_equal


UNITS = {"s": 1, "ms": 1000, "us": 10**6, "ns": 10**9, "B": 1, "MB": Fraction(1, 10**6)}
UNITS |= {"KiB": Fraction(1, 2**10), "GiB": Fraction(1, 2**30), "bits": 8}
EXACT = st.builds(Fraction, st.integers(1, 10**15), st.integers(1, 10**12))


@given(EXACT, st.sampled_from([*UNITS]), st.integers(3, 10), st.booleans())
def test_what_is_printed_is_read_again(answer, unit, digits, is_plain):
    value = answer * UNITS[unit]
    printed = {}
    for way in (ROUND_HALF_EVEN, ROUND_FLOOR, ROUND_CEILING):
        context = Context(prec=digits, rounding=way)
        printed[way] = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    floor = printed[ROUND_FLOOR]
    last_place = Decimal(1).scaleb(floor.adjusted() - digits + 1)
    is_plain = is_plain and last_place < 1
    floor = floor.quantize(last_place)

    def read_again(number):
        number = number.quantize(last_place)
        number = f"{number:,f}" if is_plain else f"{number:.{len(number.as_tuple().digits) - 1}e}"
        is_whole = unit in ("B", "bits")  # then points may be those of thousands
        assume(not (is_whole and re.fullmatch(r"\d{1,3}\.\d{3}", number)))
        kind = "latency" if "s" in unit and unit != "bits" else "traffic"
        [found] = read_submission(f"pipeline {kind}: {number} {unit}", ODD).numbers.values()
        return found

    for number in (floor, printed[ROUND_HALF_EVEN]):
        assert read_again(number).agrees(answer)
        assert read_again(number).digits >= digits or not number
        assert read_again(number).rounding == Fraction(last_place) / UNITS[unit] / 2
    for number in (floor - last_place, printed[ROUND_CEILING] + last_place):
        assert not read_again(number).agrees(answer)


@given(st.integers(0, 10**14), st.integers(-2, 2), st.sampled_from(["{}", "{:,}", "{:_}", "{}.0"]))
@example(1920000, 0, "{}")
def test_whole_numbers_of_bytes_are_exact(amount, off, form):
    assume(amount + off > 0 and (form != "{}.0" or amount < 10**9))
    assert read_one(f"{form.format(amount + off)} bytes").agrees(amount) == (off == 0)


# ------------------------------------------------ what is refused, notes, names

TRACEBACK = (
    'Traceback (most recent call last):\n  File "lab3.py", line 3, in <module>\n    print(x)\n'
    "NameError: name 'x' is not defined\n"
)


def test_what_is_refused():
    assert refuse(" \n\t\n") == ("is empty", "did your program fail?")
    what, advice = refuse(f"\n%PDF-1.4\n{ODD_TEXT}")
    assert what == "is a PDF" and "python3" not in advice and "YOURS" not in advice
    for code in (
        "import sys",
        "from os import path",
        "def main():\n  pass",
        "print 'x'",
        "print(x)",
    ):
        assert refuse(f'"""\n{ODD_TEXT}"""\n{code}\n') == (
            "is a program",
            "python3 YOURS | python3 report check",
        )
    assert read(f"    import numpy\n  print(x)\nimportant: \n{ODD_TEXT}") == ODD_RIGHT
    missing = "python3: can't open file 'lab3.py'"
    for text, last in (
        (f"lab3\n  {missing} \n\n", missing),
        (f"Q3\n{ROWS[1]}", ROWS[1]),
        ("KeyError: 'x'\nTraceback (most recent call last):\n  File", "File"),
    ):
        assert refuse(text) == ("has no results", f"it ends with: {last}")
    long = refuse("\u00e9" * 1000)[1]
    assert long.isascii() and long.isprintable() and len(long) < 200
    assert str(NoSubmissionError("is x", "do y")) == "text is x; do y"


def test_why_a_program_failed():
    error = "your program failed: NameError: name 'x' is not defined"
    for text in (TRACEBACK, f"KeyError: 'y'\n{TRACEBACK}\ndone", f"{TRACEBACK}KeyError: 'y'"):
        assert refuse(text) == ("has no results", error)
    assert refuse(f"{TRACEBACK}\n{replaced('NameError', 'KeyError', TRACEBACK)}")[1] != error
    assert refuse(replaced("NameError", "\x1b[1;35mNameError\x1b[0m", TRACEBACK))[1] == error
    for text in (f"{ODD_TEXT}{TRACEBACK}", f"{TRACEBACK}{ODD_TEXT}"):
        found = read_submission(text, ODD)
        assert read(text) == ODD_RIGHT and found.format and found.notes == [error]
    for row in ("System.Management.Automation.RemoteException", "RelativeError: 0.0012"):
        assert read_submission(f"{ODD_TEXT}{row}", ODD).notes == []


def test_lines_by_their_names():
    assert list_lines(ODD, {"tensor": "why"}) == [PL, PT, PL2, PT2]
    assert list_lines(ODD._replace(inputs=1), ["pipeline"]) == [TL, TT]
    assert describe_lines([TL, TL2]) == "Q1 tensor latency and Q2 tensor latency"
    assert describe_lines([TL, TT, TL2, TT2]) == "4 tensor numbers"
    assert describe_lines(LINES[:4]) == "4 Q1 numbers" and describe_lines(LINES) == "8 numbers"
    assert shorten(" a\tb\u00e9 ") == "a?b?"
    assert shorten("1" * 24) == "1" * 24 and shorten("1" * 25) == f"{'1' * 21}..."


# ------------------------------------------------ the format


def test_the_diff_by_hand():
    rows = ["my lab 3", *ROWS[:4], replaced(" bytes", "", ROWS[4]), "Question 2", *ROWS[6:9]]
    rows[3] = replaced("7920 bytes", "7.92 KB", ROWS[2])
    assert read_submission("\n".join(rows), ODD).format == [
        "- my lab 3",
        f"  {ROWS[0]}",
        f"  {ROWS[1]}",
        "+ Total network traffic of tensor parallelism is ... bytes",
        "- Total network traffic of tensor parallelism is 7.92 KB",
        f"  {ROWS[3]}",
        f"+ {ROWS[4]}",
        f"+ {ROWS[5]}",
        "- Total network traffic of pipeline parallelism is 1260",
        "- Question 2",
        "  and 3 more rows",
    ]


ENDS = {  # of the handout's row: of one's own, each between "|"
    "is 1.434304 seconds": "is 1.434304 s|is 1.434304 seconds (1434 ms)|(s) is 1.434304",
    "is 5.5 seconds": "is 5.5|= 5.5 seconds",  # not the right one
    "is ... seconds": "is 1434.304 ms|is 1,434.304 seconds|(s) is 1,434304|1.434304 seconds|"
    f"is xxx seconds|is: {'1' * 60}",  # no room
}


def test_the_diff_shows_all_that_is_wanted_if_all_rows_differ():
    rows = read_submission("\n".join(f"- {row}." for row in ROWS), ODD).format
    assert [row[:30] for row in rows[:10]] == [f"+ {row}"[:30] for row in ROWS]
    assert rows[10:] == ["  and 10 more rows"]


@pytest.mark.parametrize("wanted", ENDS)
def test_the_diff_of_a_row(wanted):
    for end in ENDS[wanted].split("|"):
        row = replaced("is 1.434304 seconds", end, ROWS[1])
        assert read_submission("\n".join([ROWS[0], row, *ROWS[2:]]), ODD).format == [
            f"  {ROWS[0]}",
            f"+ Total latency of tensor parallelism {wanted}",
            f"- {row[:75] + '...' if len(row) > 78 else row}",
            f"  {ROWS[2]}",
        ]
    for number in ("5", "0.25", "0", "0." + "3" * 60):  # wrong, but in the right format
        assert read_submission(replaced("1.434304", number), ODD).format == []
    assert read(text := replaced(" 7920 ", " 7.920 ")) == ODD_RIGHT
    assert "+ Total network traffic of tensor parallelism is ... bytes" in (
        read_submission(text, ODD).format
    )


def test_what_this_project_prints_is_right_in_format():
    for options, question, impossible in [
        (ODD_OPTIONS, ODD, ()),
        ("--nodes 6", LAB._replace(system=LAB.system._replace(nodes=6)), ["tensor"]),
        ("--nodes 2", LAB._replace(system=LAB.system._replace(nodes=2)), ["pipeline"]),
        ("--inputs 1", LAB._replace(inputs=1), ()),
    ]:
        for text in (output(f"whatif {options}"), lab3.answers(*question)):
            found = read_submission(text, question, impossible)
            assert (found.notes, found.format) == ([], [])
            assert [*found.numbers] == list_lines(question, impossible)
    for remark in ("what if: 16 inputs, 6 nodes", "Tensor parallelism is not possible: layer 1"):
        found = read_submission(f"{remark}\n{ODD_TEXT}", LAB._replace(inputs=16))  # not true
        assert found.format[0] == f"- {remark}"


@pytest.mark.parametrize("own", ["3,127 s", "7.920", "xxx", ""])
def test_no_right_number_is_shown_that_was_not_given(own):
    for rows in ([f"tensor latency: {own}"], [ROWS[0], f"tensor traffic: {own}", *ROWS[5:]]):
        diff = read_submission("\n".join(rows), ODD).format
        assert not any(f" {number} " in row for row in diff for number in ODD_NUMBERS[1])


LONG = [
    *("9", " ", "1,111", "is ", "(", "1 input ", "Error", "x\n", "Q1\n", "what if: \n  "),
    *("\0", "\x1b[", "\x1b]", "\u00e9\u200b", f"tensor latency: {'9' * 4000},", "Traceback\n  "),
    *("Traceback (most recent call last):\n  x\n", f"tensor latency: {'9,999' * 30},9\n"),
    *("tensor latency:\t", f"in tensor latency is -{'9' * 150}\n"),
]


@pytest.mark.parametrize("piece", LONG)
def test_a_megabyte_is_read(piece):
    text = f"{ROWS[1]}\n{piece * (10**6 // len(piece))}\n{ROWS[3]} "
    assert read(text)[TL] == ODD_RIGHT[TL]
