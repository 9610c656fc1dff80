"""`python3 report check`: what it reads, refuses and returns."""

import json
import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lab3
from program import call, output, refusal, sentence, shell
from report.question import LAB
from submissions import LINES, STRATEGIES, answer, judge, write

LAB_TEXT = lab3.answers(*LAB) + "\n"
ROWS = LAB_TEXT.splitlines()
REPEATED = ROWS[9].replace("pipeline", "tensor")  # the pipeline's traffic in Q2
RIGHT = answer()
TENSOR_LATENCY = "Total latency of tensor parallelism is 0.00312726016 seconds"
FP32, SENDS = "an element is 4 bytes (FP32)", "a node does not compute while it sends"
MAC = "1 MAC is 1 op"


def replaced(old, new):
    assert old in LAB_TEXT
    return LAB_TEXT.replace(old, new)


# ------------------------------------------------ the format counts

TABLES = """\
Question 1
strategy | latency (ms)  | network traffic (bytes)
Tensor   | 3.12726016    | 1923072
Pipeline | 12.43531264   | 604160
Question 2
strategy | latency (s)   | network traffic (MB)
TP       | 0.10007232512 | 61.538304
PP       | 0.1557861376  | 19.33312
"""

# fmt: off
RIGHT_FORMATS = [
    LAB_TEXT,
    f"my lab 3\n{LAB_TEXT}bye\n",
    "\n".join([*ROWS[5:], *ROWS[:5]]),
    f"\ufeff{LAB_TEXT}",
    LAB_TEXT.encode("utf-16"),
    replaced("\n", "\n\n"),
    replaced("\n", "\r\n"),
    replaced("0.00312726016 ", "0.003127 "),
    replaced("0.00312726016 ", "0.00312 "),  # truncated
    replaced("1923072 ", "1920000 "),
    replaced("1923072 ", "1920000.0 "),
    replaced("0.00312726016 ", "3.12726016e-03 "),
    replaced("0.00312726016 ", "3.12726016 x 10^-3 "),
    replaced("0.00312726016 ", "0.0031272601600000002 "),
]
OTHER_FORMATS = [
    replaced("-----Q1 single input-----\n", ""),
    replaced("--------Q2 32 inputs------", "Question 2 (32 inputs)"),
    replaced("--------Q2 32 inputs------", "--------Q2 16 inputs------"),
    replaced(" seconds", ""),
    replaced(" bytes", " B"),
    replaced("0.01243531264 seconds", "12435.31264 us"),
    replaced("1923072 bytes", "1923.072 kB"),
    replaced("604160 bytes", "590 KB"),
    replaced("1923072 bytes", "1878 KiB"),
    replaced("1923072 bytes", "15384576 bits"),
    replaced(" is 1923072", ": 1923072"),
    replaced("Total latency", "Latency"),
    replaced("Total latency", "(a) Total latency"),
    replaced(" is 0.1", " for 32 inputs is 0.1"),
    replaced(TENSOR_LATENCY, f"{TENSOR_LATENCY} (3.127 ms)"),
    replaced(TENSOR_LATENCY, f"{TENSOR_LATENCY}\n{TENSOR_LATENCY}"),
    replaced(TENSOR_LATENCY, f"{TENSOR_LATENCY}\nTensor parallelism latency per layer: 0.1 s"),
    LAB_TEXT.upper(),
    re.sub("Total (.+) of (.+ parallelism)", r"Total \2 \1", LAB_TEXT),
    re.sub("Total (.+) of (.+ parallelism) is", r"\2 \1 =", LAB_TEXT),
    re.sub("Total (.+) of (.+ parallelism) is (.+)", r"| \2 \1 | \3 |", LAB_TEXT),
    replaced("tensor parallelism", "TP").replace("pipeline parallelism", "PP"),
    replaced(" is ", "\t"),
    TABLES,
    "\n".join([*ROWS[1:5], *ROWS[6:]]),  # without headings: the second of equal lines is Q2's
]
# fmt: on


@pytest.mark.parametrize("text", RIGHT_FORMATS)
def test_right_numbers_in_the_handouts_format(tmp_path, text):
    status, found = judge(tmp_path, text)
    assert (status, found["right"], found["of"], found["format"]) == (0, 8, 8, [])


@pytest.mark.parametrize("text", OTHER_FORMATS)
def test_right_numbers_in_another_format(tmp_path, text):
    status, found = judge(tmp_path, text)
    assert (status, found["right"], found["of"]) == (1, 8, 8)
    assert found["format"] and found["explanations"] == []


@pytest.mark.parametrize(
    ("unit", "factor"), [("kB", 10**3), ("GB", 10**9), ("KiB", 2**10), ("bits", Fraction(1, 8))]
)
def test_units_in_the_head_of_a_table(tmp_path, unit, factor):
    rows = [f"strategy | latency (us) | network traffic ({unit})"]
    for strategy in STRATEGIES:
        latency_s, traffic_bytes = (RIGHT[f"Q1 {strategy} {of}"] for of in ("latency", "traffic"))
        traffic = Fraction(traffic_bytes) / factor
        rows.append(f"{strategy} | {lab3.plain(latency_s * 10**6, 17)} | {lab3.plain(traffic, 17)}")
    status, found = judge(tmp_path, "\n".join(rows), "--inputs", "1")
    assert (status, found["right"], found["of"]) == (1, 4, 4)


def test_another_number_of_inputs_is_named(tmp_path):
    [fault] = judge(tmp_path, output("whatif --inputs 16").split("\n", 1)[1])[1]["format"]
    assert "--inputs 16" in fault


@pytest.mark.parametrize(
    ("rows", "right"),
    [
        ([*ROWS[:8], REPEATED, ROWS[8], ROWS[8]], 8),  # as in the handout's sample of Q2
        ([*ROWS, REPEATED], 8),  # nothing is missing: the first is judged
        ([*ROWS[:7], REPEATED, *ROWS[7:]], 7),
        (ROWS[:5], 4),
    ],
)
def test_repeated_and_missing_lines(tmp_path, rows, right):
    status, found = judge(tmp_path, "\n".join(rows))
    assert (status, found["right"], found["of"]) == (1, right, 8)
    assert found["format"] and found["explanations"] == []


NUMBERS = [
    *("", "0.0031", "3.127", "0,00312", "0", "nan", "inf", "-0.00312726", "1e999", "xxx"),
    *("0.00312726/1", "0.00312726 27", "9" * 4000, "1," * 2000, "1 111 " * 999, "1e" + "9" * 4000),
]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number[:20])
def test_a_number_that_is_not_right(tmp_path, number):
    status, found = judge(tmp_path, LAB_TEXT.replace("0.00312726016", number))
    assert (status, found["right"], found["explanations"]) == (1, 7, [])


# ------------------------------------------------ what cannot be judged

REFUSED = {
    "a program": b"import sys\n\nprint(f'Total latency of tensor parallelism is {1} seconds')\n",
    "a PDF": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj",
    "an empty text": b"",
    "white space": b" \n\n",
    "no lines": b"hello\n",
    "zeros": bytes(1000),
    "too much": LAB_TEXT.encode() + b"\n" * 10**6,
}


@pytest.mark.parametrize("content", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_judged(tmp_path, content):
    (tmp_path / "bad.txt").write_bytes(content)
    (tmp_path / "right.txt").write_text(LAB_TEXT)
    bad, right = str(tmp_path / "bad.txt"), str(tmp_path / "right.txt")
    assert "bad.txt" in refusal(["check", bad])
    assert "key" in refusal(["check", "--key", bad, right])
    status, out, err = call(["check", bad, right])  # the others are judged
    assert (status, err) == (2, "") and "8 of 8" in out
    refused, judged = json.loads(call(["check", "--json", bad, right])[1])["submissions"]
    assert {*refused} == {"file", "refused"} and judged["right"] == 8


def test_standard_input(tmp_path):
    result = shell("python3 lab3.py | python3 report check")
    assert (result.returncode, result.stderr) == (0, "")
    result = shell("python3 lab3.py | sed 's/1923072/604160/' | python3 report check -")
    assert (result.returncode, result.stderr) == (1, "")
    for command, advice in [
        ("false | python3 report check", "did your program fail?"),
        ("python3 report check <&-", "closed"),
        ("python3 report check lab3.py", "python3 lab3.py | python3 report check"),
        ("python3 report check missing.txt", "missing.txt"),
        ("python3 report check tests", "tests"),
    ]:
        result = shell(command)
        assert (result.returncode, result.stdout) == (2, "") and advice in sentence(result.stderr)


# ------------------------------------------------ questions, keys, many files


@pytest.mark.parametrize(
    "options",
    [
        "--inputs 1",
        "--nodes 8 --link-gbs 0.1 --inputs 5",
        "--topology ring --gops 3",
        "--nodes 6",  # tensor parallelism is impossible
        "--nodes 2",  # the pipeline is
    ],
)
def test_what_whatif_prints_is_right(tmp_path, options):
    status, found = judge(tmp_path, output(f"whatif {options}"), *options.split())
    assert (status, found["format"]) == (0, []) and found["right"] == found["of"] > 0


def test_a_key_that_nothing_explains(tmp_path):
    (tmp_path / "key.txt").write_text(write({**RIGHT, "Q1 tensor latency": "0.0041234567"}))
    (tmp_path / "output.txt").write_text(LAB_TEXT)
    files = [str(tmp_path / name) for name in ("key.txt", "output.txt")]
    assert "Q1 tensor latency" in refusal(["check", "--key", *files])


def test_many_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocking = write(answer([], [SENDS]))
    odd = {"Q1 tensor latency": "0.0071234567"}
    files = {
        "blocking.txt": blocking,
        "as_read.txt": LAB_TEXT,
        "fp32.txt": write(answer([FP32], [FP32, SENDS])),
        "fp32_too.txt": write(answer([FP32], [FP32, SENDS])),
        "odd.txt": write(answer([], [SENDS]) | odd),
        "odd_too.txt": write(answer([], [SENDS]) | odd),
    }
    for name, text in {**files, "key.txt": blocking}.items():
        (tmp_path / name).write_text(text)
    status, out, err = call(["check", "--json", "--key", "key.txt", *files])
    whole = json.loads(out)
    assert (status, err) == (1, "")
    assert {*whole} == {"version", "asked", "key", "occurrences", "submissions"}
    assert [each["changes"] for each in whole["key"]["readings"]] == [[], [SENDS]]
    assert whole["occurrences"][FP32] == 2
    found = {each["file"]: each["right"] for each in whole["submissions"]}
    assert found == dict(zip(files, [8, 7, 0, 0, 7, 7], strict=True))
    status, out, err = call(["check", "--key", "key.txt", *files])
    assert (status, err) == (1, "") and all(name in out for name in files)
    assert "2 files have 0.0071234567" in " ".join(out.split())
    assert call("check as_read.txt as_read.txt")[0] == 0


SLOWEST = "N inputs take N times the slowest stage, also for N = 1"
UNDIVIDED, ALL = "computing is not divided by the nodes", "the last output goes to all nodes"
LATENCIES = {"Q1 tensor latency": "0.0031", "Q2 tensor latency": "0.101"}
PRINTED = {  # what is found, in this order; 0.101 is 1.0093 times the right number
    write(answer([], ["Q2 is of N - 1 inputs"]) | LATENCIES): (
        "4 of 8 | pipeline: Q2 is of 31 inputs | 0.0031 agrees | 2 digits | 0.93 % too long"
        " | explain tensor pipeline | 0.0031 0.00312726016 | 18728960 19333120 explained"
    ),
    write(answer([], [SLOWEST]) | {"Q1 tensor traffic": "none"}): (
        "5 of 8 | pipeline: 32 inputs take 32 times | Q1 tensor traffic: no number"
        " | 1923072 no number | 0.14797504512 0.1557861376 explained"
    ),
    "\n".join([*ROWS[:4], *ROWS[5:]]): "7 of 8 | Q1 pipeline traffic: missing | - 604160 missing",
    write(answer([MAC], [MAC], "Q1")): "6 of 8 | both, in Q1 only: 1 MAC is 1 op",
    write(answer([UNDIVIDED, ALL])): f"4 of 8 | tensor: {ALL} | and {UNDIVIDED}",
    f"{LAB_TEXT}{ROWS[6]}": "All 8 numbers are right | Q2 tensor latency: more than once",
    f"{LAB_TEXT}{ROWS[1]}": "All 8 numbers are right | Q2 tensor latency: two different",
}


def test_what_is_printed_by_hand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number, (text, parts) in enumerate(PRINTED.items(), 1):
        (tmp_path / f"{number}.txt").write_text(text)
        printed = " ".join(call(["check", f"{number}.txt"])[1].split())
        for part in parts.split(" | "):
            assert part in printed
            printed = printed.partition(part)[2]
    files = [f"{number}.txt" for number in range(1, len(PRINTED) + 1)]
    printed = " ".join(call(["check", *files])[1].split())
    for part in (f"1 {UNDIVIDED}", f"1 {ALL}", "1 Q2 is of 31 inputs", "0 of 7 files are right"):
        assert part in printed
    assert printed.endswith("hand: 1.txt, 2.txt, 3.txt")


def test_the_json_of_a_file(tmp_path):
    numbers = answer([FP32], [FP32]) | {"Q1 tensor latency": "0.0071234567"}
    _, found = judge(tmp_path, write(numbers))
    judged = {"right", "of", "numbers", "explanations", "swapped", "units", "unexplained", "format"}
    assert {*found} >= {"file", *judged}
    assert [each["line"] for each in found["numbers"]] == LINES
    first, *others = found["numbers"]
    assert all({*each} >= {"line", "given", "right", "verdict", "times_right"} for each in others)
    assert (first["given"], first["right"]) == ("0.0071234567", 0.00312726016)
    assert first["times_right"] == pytest.approx(0.0071234567 / 0.00312726016)
    [both] = found["explanations"]
    assert both["strategies"] == ["tensor", "pipeline"] and both["changes"] == [[FP32]]
    assert {*both["numbers"]} == {*LINES[1:]}


# ------------------------------------------------ hostile texts

PIECES = [
    *(*LAB_TEXT.splitlines(), "Q1", "Q2", "32 inputs", "TP", "latency", "traffic", "is", ":", "|"),
    *("seconds", "ms", "bytes", "1e9", "-1", "0", "nan", "1" * 4000, "1,", ",111" * 999, "\x1b[2J"),
    *("\ufeff", "\u0661", "\ud7ff", "1/0", "**", "e", "1e-999999999", "%", "\x00", "\n", "\t"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join).map(str.encode)


@settings(max_examples=300, deadline=5000)
@given(st.binary(max_size=300) | TEXTS)
def test_any_bytes_end_with_a_status_and_no_traceback(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes(content)
    status, out, err = call(["check", str(path)])
    if status == 2:
        assert out == "" and sentence(err)
    else:
        assert status in (0, 1) and err == ""
        assert out.isascii() and out.replace("\n", "").isprintable()
        assert max(map(len, out.splitlines())) <= 80
