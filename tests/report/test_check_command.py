"""`python3 report check`: what it reads, refuses and returns."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lab3
from program import call, python, refusal, sentence, shell
from report.question import LAB
from submissions import LINES, answer, judge, write

LAB_TEXT = lab3.answers(*LAB) + "\n"
RIGHT = answer()
TENSOR_LATENCY = "Total latency of tensor parallelism is 0.00312726016 seconds"
FP32, SENDS = "an element is 4 bytes (FP32)", "a node does not compute while it sends"


@pytest.fixture
def file_of(tmp_path):
    def file_of(content, name="output.txt"):
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(data)
        return str(tmp_path / name)

    return file_of


def replaced(old, new):
    assert old in LAB_TEXT
    return LAB_TEXT.replace(old, new)


# ------------------------------------------------ the format counts

# fmt: off
RIGHT_FORMATS = [
    LAB_TEXT,
    f"my lab 3\n{LAB_TEXT}bye\n",
    f"\ufeff{LAB_TEXT}",
    LAB_TEXT.encode("utf-16"),
    replaced("\n", "\n\n"),
    replaced("\n", "\r\n"),
    replaced("0.00312726016 ", "0.003127 "),
    replaced("0.00312726016 ", "0.00312 "),  # truncated
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
    replaced(TENSOR_LATENCY, f"{TENSOR_LATENCY} (3.127 ms)"),
    replaced(TENSOR_LATENCY, f"{TENSOR_LATENCY}\n{TENSOR_LATENCY}"),
    replaced(TENSOR_LATENCY, f"{TENSOR_LATENCY}\nTensor parallelism latency per layer: 0.1 s"),
    LAB_TEXT.upper(),
    re.sub("Total (.+) of (.+ parallelism)", r"Total \2 \1", LAB_TEXT),
    re.sub("Total (.+) of (.+ parallelism) is", r"\2 \1 =", LAB_TEXT),
    re.sub("Total (.+) of (.+ parallelism) is (.+)", r"| \2 \1 | \3 |", LAB_TEXT),
    replaced("tensor parallelism", "TP").replace("pipeline parallelism", "PP"),
    replaced(" is ", "\t"),
]
# fmt: on


@pytest.mark.parametrize("text", RIGHT_FORMATS)
def test_right_numbers_in_the_handouts_format(file_of, text):
    status, found = judge(file_of(text))
    assert (status, found["right"], found["of"], found["format"]) == (0, 8, 8, [])


@pytest.mark.parametrize("text", OTHER_FORMATS)
def test_right_numbers_in_another_format(file_of, text):
    status, found = judge(file_of(text))
    assert (status, found["right"], found["of"]) == (1, 8, 8)
    assert found["format"] and found["explanations"] == []


def test_q2_before_q1(file_of):
    rows = LAB_TEXT.splitlines()
    assert judge(file_of("\n".join([*rows[5:], *rows[:5]])))[1]["right"] == 8


def test_the_handouts_faulty_sample(file_of):
    rows = LAB_TEXT.splitlines()
    # its Q2 repeats tensor parallelism's traffic, where the pipeline's belongs
    pipeline_traffic = rows[9].replace("pipeline", "tensor")
    sample = [*rows[:8], pipeline_traffic, rows[8], rows[8]]
    status, found = judge(file_of("\n".join(sample)))
    assert (status, found["right"]) == (1, 8) and found["format"]
    # nothing is missing: the first is judged
    status, found = judge(file_of("\n".join([*rows, pipeline_traffic])))
    assert (status, found["right"]) == (1, 8) and found["format"]
    status, found = judge(file_of("\n".join([*rows[:7], pipeline_traffic, *rows[7:]])))
    assert (status, found["right"]) == (1, 7) and found["format"]


@pytest.mark.parametrize(
    ("number", "is_right"),
    [("0.0031", False), ("3.127 ms", True), ("3.127", False), ("0,00312", False), ("0", False)]
    + [(text, False) for text in ("nan", "inf", "-0.00312726", "1e999", "xxx", "3.127/1000", "")]
    + [("0.0031 27", False), ("9" * 4000, False), ("1" * 2000 + "," + "1" * 1999, False)],
)
def test_one_number(file_of, number, is_right):
    text = LAB_TEXT.replace("0.00312726016", number)
    if number.endswith("ms"):
        text = text.replace("ms seconds", "ms")
    status, found = judge(file_of(text))
    assert (status, found["right"]) == (1, 7 + is_right)
    assert found["explanations"] == []


def test_missing_lines(file_of):
    status, found = judge(file_of("\n".join(LAB_TEXT.splitlines()[:5])))
    assert (status, found["right"], found["of"]) == (1, 4, 8)


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
def test_what_cannot_be_judged(file_of, content):
    path = file_of(content)
    assert "output.txt" in refusal(["check", path])
    status, out, err = call(["check", path, file_of(LAB_TEXT, "right.txt")])
    assert status == 2 and "Traceback" not in err and "8 of 8" in out
    _, out, _ = call(["check", "--json", path, file_of(LAB_TEXT, "right.txt")])
    refused, right = json.loads(out)["submissions"]
    assert refused["refused"] and "right" not in refused
    assert right["right"] == 8 and "refused" not in right


def test_files_that_are_not_there(tmp_path):
    assert "missing.txt" in refusal(["check", "missing.txt"])
    refusal(["check", str(tmp_path)])


def test_a_program_is_told_how_to_run_it(file_of):
    assert "python3 two.py | python3 report check" in refusal(
        ["check", file_of(REFUSED["a program"], "two.py")]
    ).replace(file_of("", "two.py"), "two.py")


def test_standard_input():
    result = shell("python3 lab3.py | python3 report check")
    assert (result.returncode, result.stderr) == (0, "")
    result = shell("python3 lab3.py | sed 's/1923072/604160/' | python3 report check -")
    assert (result.returncode, result.stderr) == (1, "")
    for command in ("check </dev/null", "check <&-", "check <lab3.py", "check lab3.py"):
        result = shell(f"python3 report {command}")
        assert (result.returncode, result.stdout) == (2, "") and sentence(result.stderr)
    result = shell("false | python3 report check")
    assert "did your program fail?" in sentence(result.stderr)


# ------------------------------------------------ questions, keys, many files


def test_one_input(file_of):
    text = "\n".join(LAB_TEXT.splitlines()[:5])
    status, found = judge(file_of(text), "--inputs", "1")
    assert (status, found["right"], found["of"], found["format"]) == (0, 4, 4, [])


def test_what_whatif_prints_is_right(file_of):
    for options in (
        "--nodes 8 --link-gbs 0.1 --inputs 5",
        "--topology ring --gops 3",
        "--nodes 3",  # impossible: tensor parallelism, and the pipeline of 4 layers
        "--nodes 6",  # tensor parallelism is impossible
        "--nodes 2",  # the pipeline is
    ):
        status, out, _ = call(f"whatif {options}")
        if options == "--nodes 3":
            assert status == 2
            assert refusal(["check", *options.split(), file_of(LAB_TEXT)])
            continue
        status, found = judge(file_of(out), *options.split())
        assert (status, found["format"]) == (0, []) and found["right"] == found["of"]


@pytest.mark.parametrize(
    "text", [*REFUSED.values(), write({**RIGHT, "Q1 tensor latency": "0.0041234567"})]
)
def test_a_key_that_is_refused(file_of, text):
    line = ["check", "--key", file_of(text, "key.txt"), file_of(LAB_TEXT)]
    assert "key" in refusal(line)


def test_a_key_and_many_files(file_of):
    files = [
        file_of(text, name)
        for name, text in [
            ("right.txt", write(answer([], [SENDS]))),
            ("as read.txt", LAB_TEXT),
            ("fp32.txt", write(answer([FP32], [FP32, SENDS]))),
            ("fp32 again.txt", write(answer([FP32], [FP32, SENDS]))),
            ("empty.txt", ""),
        ]
    ]
    key = file_of(write(answer([], [SENDS])), "key.txt")
    status, out, err = call(["check", "--json", "--key", key, *files])
    assert status == 2 and err == ""
    whole = json.loads(out)
    assert {"version", "asked", "key", "occurrences", "submissions"} == {*whole}
    assert [each["changes"] for each in whole["key"]["readings"]] == [[], [SENDS]]
    assert whole["occurrences"][FP32] == 2
    assert [each["file"] for each in whole["submissions"]] == files
    assert [each.get("right") for each in whole["submissions"]] == [8, 7, 0, 0, None]
    status, out, err = call(["check", "--key", key, *files])
    assert status == 2
    for name in ("right", "as read", "fp32", "fp32 again", "empty"):
        assert name in out
    assert call(["check", *files[:2]])[0] == 1
    assert call(["check", files[1], files[1]])[0] == 0


def test_equal_unexplained_numbers_are_grouped(file_of):
    odd = write({**RIGHT, "Q1 tensor latency": "0.0071234567"})
    files = [file_of(odd, f"{number}.txt") for number in range(3)]
    assert "3 files have 0.0071234567" in " ".join(call(["check", *files])[1].split())


def test_the_json_of_a_file(file_of):
    numbers = answer([FP32], [FP32]) | {"Q1 tensor latency": "0.0071234567"}
    _, found = judge(file_of(write(numbers)))
    judged = {"right", "of", "numbers", "explanations", "swapped", "units", "unexplained", "format"}
    assert {*found} >= {"file", *judged}
    assert [each["line"] for each in found["numbers"]] == LINES
    for each in found["numbers"]:
        assert {*each} >= {"line", "given", "right", "verdict", "times_right"}
    first, *_ = found["numbers"]
    assert "0.0071234567" in str(first["given"]) and "0.00312726016" in str(first["right"])
    assert first["times_right"] == pytest.approx(0.0071234567 / 0.00312726016, rel=1e-3)
    [both] = found["explanations"]
    assert {*both} == {"strategies", "changes", "only", "numbers"}
    assert both["strategies"] == ["tensor", "pipeline"] and both["changes"] == [[FP32]]
    assert both["only"] is None and {*both["numbers"]} == {*LINES[1:]}


def test_a_person_reads_ascii_of_80_columns(file_of):
    for text, status in [
        (LAB_TEXT, 0),
        (write(answer([FP32], [FP32, SENDS]) | {"Q1 tensor latency": "0.0071234567"}), 1),
        (replaced("bytes", "byt\u00e9s\x1b[31m"), 1),
    ]:
        ended, out, err = call(["check", file_of(text)])
        assert (ended, err) == (status, "")
        assert out.isascii() and out.replace("\n", "").isprintable()
        assert max(map(len, out.splitlines())) <= 80


# ------------------------------------------------ hostile texts

PIECES = [
    *(*LAB_TEXT.splitlines(), "Q1", "Q2", "32 inputs", "TP", "latency", "traffic", "is", ":", "|"),
    *("seconds", "ms", "bytes", "1e9", "-1", "0", "nan", "1" * 4000, "1,", ",111" * 999, "\x1b[2J"),
    *("\ufeff", "\u0661", "\ud7ff", "1/0", "**", "e", "1e-999999999", "%", "\x00", "\n", "\t"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join).map(str.encode)


@settings(max_examples=300)
@given(st.binary(max_size=300) | TEXTS)
def test_any_bytes_end_with_a_status_and_no_traceback(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes(content)
    status, out, err = call(["check", str(path)])
    assert status in (0, 1, 2)
    assert out.isascii() and out.replace("\n", "").isprintable()
    if status == 2:
        assert out == "" and sentence(err)
    else:
        assert err == ""


HANGS = """
import sys
sys.path.insert(0, "tests")
from pathlib import Path
from program import call
numbers = ["1" * 4000 + ",", "1," * 2000, "1 111 " * 4000, "1" * 10**5, "1e" + "9" * 4000]
for number in numbers:
    line = f"Total latency of tensor parallelism is {number} seconds\\n"
    Path(sys.argv[1]).write_text("Q1\\n" + 5 * line)
    assert call(["check", sys.argv[1]])[0] in (1, 2)
"""


def test_long_numbers_do_not_hang(tmp_path):
    result = python("-c", HANGS, str(tmp_path / "long.txt"), timeout=30)
    assert (result.returncode, result.stderr) == (0, "")
