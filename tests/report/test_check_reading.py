"""How report/check reads an output: results, headings, tables, numbers, failures, and the format.

The question is ODD, whose Q2 has 8 inputs. The numbers of outputs are made up.
"""

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from pathlib import Path
from textwrap import dedent

import pytest

pytest.importorskip("hypothesis")

from hypothesis import given
from hypothesis import strategies as st

from machines import ODD, ODD_NUMBERS
from report.check.command import decode
from report.check.judge import compare_rows
from report.check.reading import NO_Q2, SAMPLE, NoSubmissionError, list_lines, read_submission

OUTPUT = """\
-----Q1 single input-----
Total latency of tensor parallelism is 1.25 seconds
Total network traffic of tensor parallelism is 1200 bytes
Total latency of pipeline parallelism is 2.5 seconds
Total network traffic of pipeline parallelism is 640 bytes
--------Q2 8 inputs------
Total latency of tensor parallelism is 10 seconds
Total network traffic of tensor parallelism is 9600 bytes
Total latency of pipeline parallelism is 7.75 seconds
Total network traffic of pipeline parallelism is 5120 bytes
"""
ROWS = OUTPUT.splitlines()
LINES = [str(line) for line in list_lines(ODD)]
AMOUNTS = dict(zip(LINES, [1.25, 1200, 2.5, 640, 10, 9600, 7.75, 5120], strict=True))  # exact


def read(text):
    return read_submission(dedent(text), ODD)


def find_amounts(text):
    """Return the amounts that are read, in seconds or bytes, by line."""
    return {str(line): number.amount for line, number in read(text).numbers.items()}


def read_number(text):
    """Read a number whose unit is one of a latency or of a traffic."""
    [number] = read(f"tensor latency: {text}\ntensor traffic: {text}").numbers.values()
    return number


def list_changes(text):
    """List what to change in the rows of a text, below a title."""
    return compare_rows(read(text), ODD)


def refuse(text):
    """Return what is wrong with a text, and what is said to help."""
    with pytest.raises(NoSubmissionError) as refused:
        read(text)
    return refused.value.args


def replace(old, new):
    assert old in OUTPUT
    return OUTPUT.replace(old, new)


# ------------------------------------------------ text
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_unicode_is_told_by_its_mark(encoding):
    text = replace("1.25 seconds", "1250000 \u03bcs")
    text += "\u03c4" * 999 * ("16" in encoding)  # without zero bytes
    assert find_amounts(decode(f"\ufeff{text}".encode(encoding))) == AMOUNTS


def test_a_byte_that_is_not_utf_8_is_latin_1_and_leaves_other_rows_as_they_are():
    row = "TP latency: 3 \u00b5s".encode()
    for data in (b"\xff\xfc\n" + row, b"TP latency: 3 \xb5s", row + b"\nPP latency: 3 \xff s"):
        assert find_amounts(decode(data)) == {"Q1 tensor latency": Fraction(3, 10**6)}


UNSEEN = ["\0", "\u200b", "\u00ad", "\ufeff", "\x1b[1;35m", "\x1b[?25l"]
ENDS = ["\n", "\r\n\n", "\r", "\u2028", "\u00a0\n  ", *(f"{unseen}\n{unseen}" for unseen in UNSEEN)]
WHITESPACE = [("\n", end) for end in ENDS] + [(" ", "\u00a0")]


@pytest.mark.parametrize(("old", "new"), WHITESPACE, ids=ascii)
def test_the_handouts_rows_are_read_with_other_whitespace_and_invisible_characters(old, new):
    text = replace(old, new).replace("of", f"o{new.partition(chr(10))[2].strip()}f")
    assert find_amounts(text) == AMOUNTS and not read(text).notes and not list_changes(text)


# ------------------------------------------------ a row
TENSOR_LATENCIES = [
    *("Total latency of tensor parallelism is 3 s", "TENSOR PARALLELISM LATENCY = 3 sec"),
    *("Total inference latency of tensor paralelism is: 3.", "tp_latency: 3", "TP: 3 s"),
    *("Latency with tensor-parallelism   is   3", "TP latency (ms): 3000", "tensor latency\t3"),
    *("- Latency of tensor parallelism = 3.0 seconds (3000000.0 us)", "\u2022 TP latency -> 3"),
    *("12) The overall latency for TP ~ 3 s", "**Tensor parallel** inference time: 3s"),
    *("TP latency: 3 s (3.2 s)", "'tp': {'latency': 3}", "tensor latency:\u00a03,0\u00a0seconds"),
    *("TP latency \u2248 3 s for 1 input", "Question 1: TP \u2014 3 s", "TP: 3000000 \u00b5s"),
    *("Q1 (one input): TP latency: 3", "TP par. latency = 3 s", "Q1,TP,latency,3"),
    *("TP latency is approximately 3000 msec", "End-to-end latency of TP: 3", "TP running time: 3"),
    *("TP total time: 3 secs", "tensor execution_time: 3 s", "TP la\u00adtency: 3 s"),
    *("TP latency: np.float64(3.0)", "TP latency: Decimal('3') s", "Q1 \u2013 TP latency is 3 s"),
]
PIPELINE_TRAFFICS = [
    *("Total network traffic of pipeline parallelism is 3 bytes", "PP traffic (KB): 0.003"),
    *("total communication traffic, pipelined = 3", "PP bytes sent: 3", "PP: 3 bytes sent"),
    *("PP data moved: 3 B", "Bits of pipeline traffic: 24", "pipeline traffic between nodes: 3"),
]
TENSOR_BOTH = [
    *("TP needs 3 s  /  7 B over the network", "TP: 3 s, 7 B sent over the links"),
    *("TP: time(s) = 3  bytes = 7", "Tensor: latency 3 s, traffic (KB) 0.007"),
]
HARMLESS = """a about all and approximately are by for has in inference input is it method needs of
    on only over overall par parallel parallelism paralelism result results strategy takes the to
    total uses using volume while with"""
PARTS = "network links communication comm cross moved moves puts sends sent transferred"
EIGHT = ["Tensor x8: 4 s", "TP delay (N=8) 4", "N = 8: TP: 4 s", "batch of 8: TP 4 s"]
RESULTS = {row: {"Q1 tensor latency": 3} for row in TENSOR_LATENCIES}
RESULTS |= {row: {"Q1 pipeline traffic": 3} for row in PIPELINE_TRAFFICS}
RESULTS |= {row: {"Q1 tensor latency": 3, "Q1 tensor traffic": 7} for row in TENSOR_BOTH}
RESULTS |= {f"{word} TP latency {word}: 3 s": {"Q1 tensor latency": 3} for word in HARMLESS.split()}
RESULTS |= {f"{word} PP traffic {word}: 3 B": {"Q1 pipeline traffic": 3} for word in PARTS.split()}
RESULTS |= {
    "TP latency for 8 inputs: 4 s (4.25 s)": {"Q2 tensor latency": 4},
    "TP latency is 4.25 s (4 s, 8 inputs)": {"Q2 tensor latency": 4.25},
    "Latency: TP 3 s | PP 5 s": {"Q1 tensor latency": 3, "Q1 pipeline latency": 5},
    "TP latency: Q1 = 3, Q2 = 4": {"Q1 tensor latency": 3, "Q2 tensor latency": 4},
    "| Q1 | TP | PP\n| traffic | 0 | 3 |": {"Q1 tensor traffic": 0, "Q1 pipeline traffic": 3},
    "TP: 3 s / 7 B": {"Q1 tensor latency": 3, "Q1 tensor traffic": 7},
    "TP puts 7 B, PP only 5 s": {"Q1 tensor traffic": 7, "Q1 pipeline latency": 5},
    f"TP latency: {' ' * 185}3 s": {"Q1 tensor latency": 3},  # 200 characters
    **{row: {"Q2 tensor latency": 4} for row in EIGHT},
}
NO_RESULTS = [  # for their words, signs, units, numbers, two meanings or none
    *("Average latency of tensor parallelism: 3 s", "Total latency of data parallelism is 3 s"),
    *("TP latency per input is 3 s", "TP compute latency: 3 s", "TP latency: 3x", "tensor\n3"),
    *("TP latency: 3 minutes", "TP latency: 3 s, not 4", "12:00:01 tensor latency: 3 s"),
    *("TP latency: 3 + 0.1 s", "TP latency: 1 + 2 = 3 s", "TP latency: 3 \u00b1 0.1 s"),
    *("TP latency: < 3 s", "TP latency: +3 s", "TP latency: 3-3.1 s", "TP latency: 3\u20133.1 s"),
    *("TP latency: 3 %", "TP latency: 3/2 s", "TP latency: 3 x 10^-3 s", "TP traffic: 3 MB/s"),
    *("TP latency: 3 bytes", "TP latency (ms) is 3 s", "TP traffic: 3 Mb", "TP traffic: 3 Mib"),
    *("TP latency: 3,,1 s", "TP traffic: 1.234.5 B", "TP latency: 12,34,567 us"),
    *("TP latency: 0,123,456 s", "TP latency: 1 923 ms", "TP latency: 1_2 s", "TP latency: \u0663"),
    *("TP latency: 1,234_567 us", "TP latency: 3e5000 s", "TP latency: ,3 s", "TP traffic: 0.2 Gb"),
    *("TP latency: 3 s (4 ms)", "TP latency: 3 4", "TP traffic: 3 bytes (0.005 KB)", "3 s (TP)"),
    *("TP and PP latency: 3 s", "Latency and traffic of TP: 3", "tensor 3 1200", "Q1: 3 s"),
    *("TP latency: 3 s (Q1), 4 s (Q2)", "Q1 and Q2: TP latency: 3 s", "3 s is the TP latency"),
    *("Q3: TP latency: 3 s", "16 inputs: TP latency: 3 s", "Total latency: 3 s", "TP: 3", "3 s"),
    *("TP: 3 s / 8 inputs", "TP sent in 3 s", "Total data moved: 3 B", "TP (4): 3 s", "TP q: 3 s"),
    *("TP takes 3 s for one input and 4 s for 8 inputs", "TP delay on the network: 3 s"),
    *("TP latency / PP latency: 3 s", "32x TP: 3 s", "single node: TP: 3 s", "+ TP latency: 3 s"),
    *("TP latency of layer (1): 3 s", "tensor\nQ1: 3, 7", f"TP latency: {' ' * 186}3 s"),
    *("tensor\nTotal time: 3 s", "TP latency (s, ms): 3", "TP traffic, B / KB: 3", "TP time:\n3 s"),
    *(f"TP {word} latency: 3 s" for word in PARTS.split()),
]
NO_TABLES = [  # a number may be something else
    *("Layer | TP latency | PP latency\n1 | 3 | 5", "  TP latency   PP latency\n1   3   5"),
    *("Latency (s) | Traffic (bytes)\nCompute only\nTP | 3 | 5", "TP | PP\n3 | 5"),
    *("Latency (s), traffic\nTP 3,127", "Latency | Traffic\nTP | 3 | 5 | 7"),
    *("Method | Latency | Traffic\nTP | 3 | in all 7", "Q1 | TP | PP\ntraffic | 3 Mb | 5 Mb"),
]


@pytest.mark.parametrize("row", [*RESULTS, *NO_RESULTS, *NO_TABLES])
def test_a_row_is_read_if_it_says_results_and_nothing_else(row):
    amounts = find_amounts(f"{row}\nQ2\nPP latency: 5")
    assert amounts == {"Q2 pipeline latency": 5} | RESULTS.get(row, {})


@pytest.mark.parametrize("heading", ["All latencies in ms", "Latency (us), traffic (Mb)"])
def test_a_row_without_a_unit_is_not_read_if_a_heading_has_another(heading):
    rows = "\nTP latency: 3\nTP latency: 5 s"
    assert find_amounts(f"{heading}{rows}") == {"Q1 tensor latency": 5}


# ------------------------------------------------ headings and tables
_, *LAYOUTS = Path(__file__).with_name("layouts.txt").read_text(encoding="utf-8").split("\n\n")
OTHER_HEADINGS = [  # another question or other inputs; unknown words, or two meanings
    *("Q3", "16 inputs", "Q1/Q2", "1 input, 8 inputs", "Simulating tensor parallelism", "Tensor 2"),
    *("Communication", "Data parallelism", "TP and PP", "Latency (s)", "Latency, traffic"),
    *("8 inputs per node", "TP (2.5 x PP)", "TP, 0.5 MB of SRAM"),
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.partition("\n")[0])
def test_headings_and_columns_say_what_rows_leave_open(layout):
    for sign in "|\t;":
        text = layout.partition("\n")[2].replace("|", sign)
        assert find_amounts(text) == AMOUNTS and read(text).notes == []


@pytest.mark.parametrize("heading", OTHER_HEADINGS)
def test_what_stands_above_another_heading_ends_there(heading):
    text = f"Q1\nTP latency: 3\nPipeline\nlatency: 5\n{heading}\nlatency: 9\ntraffic: 9"
    assert [*find_amounts(f"{text}\nQ2\nTP: 4 s").values()] == [3, 5, 4]


def test_a_question_that_is_named_wins_over_other_inputs():
    text = replace(ROWS[5], "--------Q2 64 inputs, 512 KiB of SRAM------")
    assert find_amounts(text) == AMOUNTS and read(text).notes == []


# ------------------------------------------------ which number counts
LABEL = "Total latency of tensor parallelism is"
REPEATED = {
    "the handout's label, not the last": f"Q1\n{LABEL.upper()} 3000 ms\ntensor latency: 9\nQ2",
    "the handout's label, even in doubt": f"Q1\ntensor latency: 9\nSummary:\n{LABEL} 3 s",
    "the last of two headings": "Q1\nTP latency: 9\nQ2\nQ1\nTP latency: 3\nRing topology\nTP: 5 s",
    "the last of two that name the question": "Q1: TP latency: 9\nQ1: TP latency: 3",
}
COUNTED_ONCE = {
    "above a heading": "TP latency: 9\nQ1\nTP latency: 3",
    "below unknown words": "Q1\nTP latency: 3\nRing topology\nTP latency: 9\nQ2",
    "below other inputs": "Q1\nTP latency: 3\nQ1 (64 inputs)\nTP latency: 9\nQ2",
    "below what may be a heading": "Q1\nTP latency: 3\nQ2, 0.5 MB of SRAM\nTP latency: 9",
    "of no strategy, kind or unit of its own": "Q1\nTP latency\nTP: 3\nQ1: 9\nQ2",
    "the same": "Q1\nTP latency: 3\nTP latency: 3.0 s",
    "no number": "Q1\nTP latency: nan\nTP latency: 3\nTP latency: None\nQ2",
}


@pytest.mark.parametrize("which", REPEATED | COUNTED_ONCE)
def test_which_of_several_numbers_counts(which):
    text, repeated = (REPEATED | COUNTED_ONCE)[which], which in REPEATED
    assert find_amounts(text) == {"Q1 tensor latency": 3}
    assert read(text).is_odd == repeated
    assert sum(" was found 2 times" in note for note in read(text).notes) == repeated


@pytest.mark.parametrize("labels", ["01122", "0112", "0122", "0121"])
def test_q2_with_the_labels_of_the_handouts_sample(labels):
    sample = [ROWS[6 + int(label)] for label in labels]
    place = labels.index("11") + 1 if "11" in labels else 3
    for unit in ("bytes", "seconds")[: 1 + (place == 3)]:
        sample[place] = f"{sample[place].rsplit(' ', 2)[0]} 5,120.0 {unit}"
        text = "\n".join([*ROWS[:6], *sample])
        assert find_amounts(text) == AMOUNTS and read(text).notes == [SAMPLE]


@pytest.mark.parametrize("between", ["", "Q1\n", "many\n", "The TP latency: 3.0 s\n"])
def test_without_a_heading_of_q2_the_second_of_two_equal_labels_is_of_q2(between):
    text = f"Q1\nTP latency: 3\n{between}TP latency: 4"
    assert find_amounts(text) == {"Q1 tensor latency": 3, "Q2 tensor latency": 4}
    assert read(text).notes == [NO_Q2]
    one_input = read_submission(text, ODD._replace(inputs=1))
    assert [*map(str, one_input.numbers)] == ["Q1 tensor latency"]


# ------------------------------------------------ numbers
NUMBERS = [  # a number: its unit, how many digits count, what it agrees with, and with what not
    ("1,923,072 bytes", "bytes", 7, "1923072", "1923071"),
    ("1_923_072 B", "bytes", 7, "1923072", "1923071"),
    ("1.923.072 bytes", "bytes", 7, "1923072", "1923071"),
    ("604160.000000 bytes", "bytes", 10, "604160", "604161"),
    ("604.160 bytes", "bytes", 6, "604160 604.16", "604161"),  # groups, or a decimal point
    ("0.6041599999999999 MB", "MB", 10, "0.6041599999999999e6 604160", "604161"),  # a float
    ("604 KB", "KB", 3, "604000 604160 618496", "604160000"),  # of 1,000 or of 1,024 bytes
    ("0.576 MB", "MB", 3, "576000 604160", "575000 606000"),
    ("0.00192 GB", "GB", 3, "1920000 1923072 2061584", "1930000"),
    ("4833000 bits", "bits", 7, "604125", "604160"),
    ("3.127 ms", "ms", 4, "0.003127 0.0031265 0.0031279", "0.003128 3.127"),
    ("3,127 ms", "ms", 4, "3.127 0.003127", "0.003128 3.128"),
    ("3,127.5 us", "us", 5, "0.0031275", "0.003127"),
    ("3.1E\u2212003 s", "seconds", 2, "0.0031 0.003127", "0.0032"),
    ("0,100 seconds", "seconds", 3, "0.1", "100"),
    ("0.003127260133624077 s", "seconds", 7, "0.003127260133624077 0.00312726016", "0.003127262"),
    ("0.003127260133624078 s", "seconds", 10, "0.003127260133624078", "0.00312726016"),
    ("1048576.125 B", "bytes", 10, "1048576.125", "1048576.2"),  # a float32, too
    ("0.000 s", "seconds", 0, "0", "1e-99"),
    ("0.100072324 s", "seconds", 7, "0.100072324 0.10007232512", "0.1000725"),  # a float32
    ("0.100072326 s", "seconds", 9, "0.100072326", "0.10007232512"),
    *((f"{text} s", "seconds", 0, "", "0 3") for text in ("-3", "-nan", "inf", "None", "xxx")),
]


@pytest.mark.parametrize(("text", "unit", "digits", "answers", "others"), NUMBERS)
def test_what_a_number_is_and_with_which_answers_it_agrees(text, unit, digits, answers, others):
    number, exact = read_number(text), [Fraction(answer) for answer in answers.split()]
    assert (number.unit, number.digits, number.amount) == (unit, digits, [*exact, 0][0])
    assert text.replace("\u2212", "-").startswith(f"{number.text} ")
    assert all(map(number.agrees, exact))
    assert not any(number.agrees(Fraction(other)) for other in others.split())


def test_three_digits_or_an_exact_number_suffice():
    for text, answer in {"1.92e6 bytes": 1923072, "2 s": 2, "0 bytes": 0}.items():
        assert read_number(text).suffices_for(answer)
    for text, answer in {"1.9e6 bytes": 1923072, "600 KB": 604160, "3,000 s": 3.0004}.items():
        assert read_number(text).agrees(answer) and not read_number(text).suffices_for(answer)


UNITS = {"s sec secs second seconds B byte bytes": 1, "ms msec millisecond milliseconds": 10**3}
UNITS |= {"us usec microsecond microseconds": 10**6, "ns nsec nanosecond nanoseconds": 10**9}
UNITS |= {"KB kilobyte kilobytes": Fraction(1, 10**3), "MB megabyte megabytes": Fraction(1, 10**6)}
UNITS |= {"GB gigabyte gigabytes": Fraction(1, 10**9), "KiB": Fraction(1, 2**10), "bit bits": 8}
UNITS |= {"MiB": Fraction(1, 2**20), "GiB": Fraction(1, 2**30)}
UNITS = {unit: each for spellings, each in UNITS.items() for unit in spellings.split()}
SAMPLED = ["s", "ms", "us", "ns", "B", "MB", "KiB", "MiB", "bits"]
EXACT = st.builds(Fraction, st.integers(1, 10**15), st.integers(1, 10**12))


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_is_read_in_each_spelling(unit):
    assert read_number(f"12.5 {unit}").amount == Fraction(25, 2) / UNITS[unit]


@given(EXACT, st.sampled_from(SAMPLED), st.integers(3, 9))
def test_what_is_printed_rounded_or_truncated_is_read_again(answer, unit, digits):
    value = answer * UNITS[unit]
    floor, nearest, ceiling = (
        Context(digits, way).divide(Decimal(value.numerator), Decimal(value.denominator))
        for way in (ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_CEILING)
    )
    last_place = Decimal(1).scaleb(floor.adjusted() - digits + 1)
    for printed in (floor, nearest, floor - last_place, ceiling + last_place):
        number = read_number(f"{printed.quantize(last_place):e} {unit}")
        assert number.agrees(answer) == (printed in (floor, nearest))
        assert number.places[0] == Fraction(last_place) / UNITS[unit]


# ------------------------------------------------ what is missing, refused, or failed
SEEMS = {
    "TP latancy: 3 s": "Q1 tensor latency",
    "latency: 3 # 4 nodes": "Q1 tensor latency",
    "Total network traffic of tensor parallelism is 1 923 072 bytes": "Q1 tensor traffic",
}
TRACEBACK = """\
Traceback (most recent call last):
  File "lab3.py", line 3, in <module>
    print(x)
NameError: name 'x' is not defined
"""
FAILURES = {
    "KeyError: name 'x'": TRACEBACK + TRACEBACK.replace("Name", "Key"),
    "KeyboardInterrupt": TRACEBACK[: TRACEBACK.index("Name")] + "KeyboardInterrupt\n",
}
REFUSED = {  # what it is, and what is said to help
    " \n\t\n": ("empty", "did the program fail"),
    "import sys\n\nprint('TP latency: 3')": ("program", "python3 YOURS >"),
    "def main():\n    pass\nfrom os import path": ("program", "python3 YOURS >"),
    "print('x')\nhello": ("no results", "it ends with: hello"),
    "import time: self [us]\nimport time: 3 | io": ("no results", "import time: 3 | io"),
    "Q3\nTP latency: 3": ("no results", "Total latency of tensor parallelism is xxx seconds"),
}


@pytest.mark.parametrize("row", SEEMS)
def test_a_row_that_seems_to_be_of_a_missing_line(row):
    missing = ROWS[1 + LINES.index(SEEMS[row])]
    [why, _, _] = read(replace(missing, f"TP latency ?\n{row}" + f"\n{row}!" * 3)).notes  # of 4
    assert row in why
    assert read(f"{OUTPUT}Q1\n{row}").notes == []


@pytest.mark.parametrize("reason", FAILURES)
def test_how_a_program_failed(reason):
    [note] = read(OUTPUT + FAILURES[reason]).notes
    assert note.startswith(f"the program failed: {reason}") and note == refuse(FAILURES[reason])[1]


def test_the_rows_that_report_run_writes_are_notes():
    notes = ["'main.py' was run", "stopped after 10 s"]
    rows = "".join(f"report run: {note}\n" for note in notes)
    submission = read(OUTPUT + rows)
    assert (submission.notes, submission.is_odd, submission.rows) == (notes, True, ROWS)
    assert read(rows + OUTPUT).notes == []  # for they are the program's own
    assert refuse(rows) == ("has no results that can be read", "; ".join(notes))


@pytest.mark.parametrize("rows", ["Exception ignored in: <f>\n" + TRACEBACK, "RelativeError: 0.1"])
def test_an_ignored_exception_is_no_failure(rows):
    assert read(OUTPUT + rows).notes == []


@pytest.mark.parametrize("text", REFUSED)
def test_a_text_without_results_is_refused(text):
    what, advice = refuse(text)
    assert REFUSED[text][0] in what and REFUSED[text][1] in advice


# ------------------------------------------------ the format
OWN_NUMBERS = {  # in the row that is wanted
    "TP latency: 9.50": "9.50",
    f"{LABEL} 1250 ms": "1.25",
    f"{LABEL} 1.25e0 seconds": "1.25",
    f"{LABEL} 1,250 seconds": "...",
    f"{LABEL} xxx seconds": "...",
}


@pytest.mark.parametrize("row", OWN_NUMBERS)
def test_the_diff_of_a_row(row):
    wanted = f"Total latency of tensor parallelism is {OWN_NUMBERS[row]} seconds"
    assert list_changes(replace(ROWS[1], row))[1:] == [f"- {row}", f"+ {wanted}"]


def test_the_diff_shows_what_is_wanted():
    dots = [f"{row} {'.' * 90}" for row in ROWS]
    assert list_changes("\n".join(dots))[1:] == [f"+ {row}" for row in ROWS]
    for many, wanted in ((5, ROWS[-5:]), (6, ROWS)):  # of more than five only the handout's
        diff = list_changes("\n".join([*ROWS[:-many], *dots[-many:]]))
        assert [row for row in diff if row[0] == "+"] == [f"+ {row}" for row in wanted]
        assert len(diff) == 11
    for number in ("0.25", "0", f"0.{'3' * 60}"):  # wrong ones may be right in format
        assert list_changes(replace("1.25", number)) == []
    for number in ("1.200 bytes", "9601 bits", "1.2e3 B"):  # 1.2 or 1200, a fraction, rounded
        assert list_changes(replace("1200 bytes", number))[2].endswith(" is ... bytes")
    assert len(list_changes(replace(ROWS[1], f"{ROWS[1]} {'.' * 90}"))[1]) == 80
    shown = " ".join(list_changes(f"tensor latency: 9\n{ROWS[5]}")).split()
    assert not {*shown} & {*map(str, ODD_NUMBERS[1] + ODD_NUMBERS[8])}  # no right one is told


@pytest.mark.parametrize("piece", [" ", "Q1\n", "\x1b[", "\x1b]", "1,", "a is is (\n", "sh: "])
def test_a_megabyte_is_read(piece):
    half = piece * (10**6 // len(piece) // 2)
    assert find_amounts(f"{half}\n{OUTPUT}\n{half}\n") == AMOUNTS
