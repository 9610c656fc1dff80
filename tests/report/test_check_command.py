"""`python3 report check`: what it reads, refuses and returns."""

import csv
import json
from io import StringIO

import pytest

pytest.importorskip("hypothesis")
pytest.importorskip("numpy")

from hypothesis import given, settings
from hypothesis import strategies as st

import lab3
from program import call, copy_project, output, python, refusal, sentence, shell
from report.question import LAB
from submissions import LINES, answer, judge, write

LAB_TEXT = lab3.answers(*LAB) + "\n"
FP32, SENDS = "an element is 4 bytes (FP32)", "a node does not compute while it sends"


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
    assert "--key" in refusal(["check", "--key", bad, right])
    assert "--key" not in refusal(["check", "--key", right, "--nodes", "3", right])
    status, out, err = call(["check", bad, right])  # the others are judged
    assert (status, err) == (2, "") and "8 of 8" in out
    refused, judged = json.loads(call(["check", "--json", bad, right])[1])["submissions"]
    assert {*refused} == {"file", "refused"} and judged["right"] == 8


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le"])
def test_the_encoding_of_a_file_does_not_matter(tmp_path, encoding, mark):
    status, found = judge(tmp_path, f"{mark}{LAB_TEXT}".encode(encoding))
    assert (status, found["right"], found["format"]) == (0, 8, [])


def test_a_row_that_is_not_read_is_quoted(tmp_path):
    row = f"TP latency: 3.1 \u00b1 0.02 {'.' * 150}"
    numbers = judge(tmp_path, LAB_TEXT.replace(LAB_TEXT.splitlines()[1], row))[1]["numbers"]
    assert [number["kind"] for number in numbers] == ["missing"] + ["right"] * 7
    words = numbers[0]["words"]
    assert "'TP latency: 3.1 ? 0.02 ..." in words and words.isascii() and len(words) < 120


def test_too_few_digits_by_a_format_that_drops_zeros(tmp_path):
    text = LAB_TEXT.replace("0.10007232512", "0.1").replace("0.00312726016", "0.003")
    numbers = [judge(tmp_path, text)[1]["numbers"][place] for place in (0, 4)]
    assert [number["kind"] for number in numbers] == ["too few digits"] * 2
    assert ["zeros" in number["words"] for number in numbers] == [False, True]


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


def test_one_layer_sends_nothing_in_a_pipeline(tmp_path):
    text = output("whatif --gops 100 --layer 4,3,3,3,32,32").split("\n", 1)[1]
    status, found = judge(tmp_path, text, "--layer=4,3,3,3,32,32")
    assert (status, found["right"]) == (1, 4)
    assert [it["mistakes"] for it in found["explanations"]] == [[["1 MAC is 1 op"]]]
    zeros = [it["line"] for it in found["numbers"] if it["given"] == "0"]
    assert zeros == ["Q1 pipeline traffic", "Q2 pipeline traffic"]


def edit_lab3(folder, old, new):
    """Copy the project, with another formula in lab3.py, and return what that prints."""
    copy_project(folder)
    text = (folder / "lab3.py").read_text(encoding="utf-8")
    assert text.count(old) == 1
    (folder / "lab3.py").write_text(text.replace(old, new))
    (folder / "output.txt").write_text(python("lab3.py", cwd=folder).stdout)


EDITS = {  # of each of lab3.py's functions; whether a known reading makes the strategy's numbers
    ("return inputs * (compute_s + communication_s)", "return inputs * compute_s"): True,
    ("gather_hops * shards[-1])", "2 * gather_hops * shards[-1])"): False,
    (
        "(inputs - 1) * max([*compute_s, *send_s])",
        "(inputs - 1) * sum([*compute_s, *send_s])",
    ): True,
    ("return inputs * sum(layer", "return 3 * inputs * sum(layer"): True,
}


@pytest.mark.parametrize(("edit", "is_explained"), EDITS.items())
def test_an_edited_lab3_is_the_key(tmp_path, edit, is_explained):
    edit_lab3(tmp_path, *edit)
    (tmp_path / "as_read.txt").write_text(LAB_TEXT)
    result = python("report", "check", "--json", "output.txt", "as_read.txt", cwd=tmp_path)
    found = json.loads(result.stdout)
    own, as_read = found["submissions"]
    assert own["right"] == 8 > as_read["right"]
    assert found["key"]["explained"] == ["tensor", "pipeline"][not is_explained :]
    assert is_explained or as_read["explanations"] == []


def test_what_a_key_lacks_is_told(tmp_path):
    numbers = answer()
    del numbers["Q2 tensor traffic"]
    (tmp_path / "key.txt").write_text(write(numbers))
    (tmp_path / "right.txt").write_text(LAB_TEXT)
    key, right = str(tmp_path / "key.txt"), str(tmp_path / "right.txt")
    status, out, err = call(["check", "--json", "--key", key, right])
    assert (status, err) == (0, "")
    assert json.loads(out)["key"]["missing"] == ["Q2 tensor traffic"]


def test_many_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocking = write(answer([], [SENDS]))
    files = {
        "blocking.txt": blocking,
        "as_read.txt": LAB_TEXT,
        "fp32.txt": write(answer([FP32], [FP32, SENDS])),
        "fp32_too.txt": write(answer([FP32], [FP32, SENDS])),
    }
    odd = {name: write(answer() | {"Q1 tensor latency": "0.0071234567"}) for name in ("a", "b")}
    for name, text in {**files, **odd, "key.txt": blocking}.items():
        (tmp_path / name).write_text(text)
    status, out, err = call(["check", "--json", "--key", "key.txt", *files])
    whole = json.loads(out)
    assert (status, err) == (1, "")
    assert {*whole} == {"version", "asked", "key", "occurrences", "submissions"}
    assert whole["key"]["readings"] == {"tensor": [], "pipeline": [SENDS]}
    assert whole["key"]["explained"] == ["tensor", "pipeline"] and whole["key"]["missing"] == []
    assert whole["occurrences"][FP32] == 2
    found = {each["file"]: each["right"] for each in whole["submissions"]}
    assert found == dict(zip(files, [8, 7, 0, 0], strict=True))
    status, out, err = call(["check", *odd])
    assert (status, err) == (1, "")
    often = "2  0.0071234567 seconds for Q1 tensor latency, unexplained"
    assert often in [line.strip() for line in out.splitlines()]
    assert call("check as_read.txt as_read.txt")[0] == 0


# ------------------------------------------------ a class


def write_class(folder):
    """Write a class of files whose numbers and causes are known."""
    tensor_ms = {"Q1 tensor latency": "0.0071234567"}
    others = {"Q2 pipeline latency": "0.16362162176"}  # two mistakes that make one number
    files = {
        "right.txt": LAB_TEXT,
        "504123456_Some_Long_Family_Name_Some_Long_Given_Name_Lab3_pin1234.txt": LAB_TEXT,
        "with blanks in it.txt": write(answer([FP32], [FP32])),
        "or.txt": write(answer(["communication takes no time"])),
        "few.txt": write(answer() | {"Q1 tensor latency": "0.0031"}),
        "odd.txt": write(answer() | tensor_ms),
        "zero.txt": write(answer() | {"Q1 tensor latency": "0.00"}),
        "nan.txt": write(answer() | {"Q1 tensor latency": "nan"}),
        "below.txt": write(answer() | {"Q1 tensor latency": "-0.1"}),
        "half.txt": "\n".join(LAB_TEXT.splitlines()[:5]),
        "doubt.txt": write(answer() | others),
        "format.txt": LAB_TEXT.replace("-----Q1", "Q1"),
        "no results.txt": "hello\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [*files]


def test_a_class_is_a_line_per_file_whatever_the_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = write_class(tmp_path)
    status, out, err = call(["check", *names])
    assert (status, err) == (2, "")
    files, *_, summary = out.split("\n\n")
    lines = [line for line in files.splitlines() if not line.startswith("        ")]
    assert [line[8:] for line in lines] == names
    right = ["8 of 8"] * 2 + [
        "0 of 8",
        "6 of 8",
        *["7 of 8"] * 5,
        "4 of 8",
        "7 of 8",
        "8 of 8",
        "-",
    ]
    assert [line[:8].strip() for line in lines] == right
    below = files.split(names[0])[1].split(names[1])[0]
    assert below.splitlines()[1:] == ["8 of 8  "]  # a file that is right is one line
    # read by hand: what is not read, not explained, by this or that, or by more than it makes
    by_hand = summary.split("Look at by hand:\n")[1].splitlines()
    wanted = [*names[3:-2], "no results.txt"]  # from "or.txt" on, but not "format.txt"
    assert [line.strip() for line in by_hand] == wanted
    assert "3 of 13 files have every number right, 2 also" in summary


def test_nobody_to_look_at_by_hand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [
        name for name in write_class(tmp_path) if name in ("right.txt", "with blanks in it.txt")
    ]
    status, out, _ = call(["check", *names])
    assert status == 1 and out.endswith("Look at by hand: none\n")


def test_a_class_as_csv(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = write_class(tmp_path)
    status, out, err = call(["check", "--csv", *names])
    assert (status, err) == (2, "")
    rows = list(csv.DictReader(StringIO(out)))
    assert [row["file"] for row in rows] == names
    assert [row["right"] for row in rows] == ["8", "8", "0", "6", *"77777", "4", "7", "8", ""]
    differs = {"nan.txt", "below.txt", "half.txt", "format.txt"}
    assert {row["file"] for row in rows if row["format"] == "differs"} == differs
    assert [row["format"] for row in rows].count("right") == 8
    assert rows[2]["causes"] == f"both strategies: {FP32}" and rows[0]["what else"] == ""
    assert "hello" in rows[-1]["what else"]
    (tmp_path / "note.txt").write_text(LAB_TEXT.replace("Q2 32", "Q2: 32 of"), encoding="utf-8")
    [row] = csv.DictReader(StringIO(call("check --csv note.txt")[1]))
    assert (row["right"], "heading of Q2" in row["what else"]) == ("8", True)


def test_what_follows_from_q1_is_not_counted_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    q1 = {"Q1 tensor latency": "0.0071234567", "Q2 tensor latency": "0.2279506144"}
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(write(answer() | q1), encoding="utf-8")
    found = json.loads(call("check --json a.txt b.txt")[1])["occurrences"]
    assert found == {"0.0071234567 seconds for Q1 tensor latency, unexplained": 2}


def test_two_hundred_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [f"{number:09}_Lab3.txt" for number in range(200)]
    for name in names:
        (tmp_path / name).write_text(LAB_TEXT, encoding="utf-8")
    status, out, _ = call(["check", *names])
    assert status == 0 and out.splitlines()[:200] == [f"8 of 8  {name}" for name in names]


def test_a_refused_file_is_json_too(tmp_path):
    path = tmp_path / "bad.txt"
    path.write_text("hello\n", encoding="utf-8")
    status, out, err = call(["check", "--json", str(path)])
    [found] = json.loads(out)["submissions"]
    assert (status, err, {*found}) == (2, "", {"file", "refused"}) and "hello" in found["refused"]


def test_right_numbers_in_another_format_end_with_1(tmp_path):
    status, found = judge(tmp_path, LAB_TEXT.replace("-----Q1", "Q1"))
    assert (status, found["right"], found["format"] != []) == (1, 8, True)


def test_a_reading_is_marked_and_has_a_footnote(tmp_path):
    """What the handout says for this project's reading stands in the footnote, once."""
    path = tmp_path / "output.txt"
    for made, is_marked in (([SENDS], True), (["inputs do not overlap"], True), ([FP32], False)):
        path.write_text(write(answer([], made)), encoding="utf-8")
        _, out, _ = call(["check", str(path)])
        assert out.count("[reading]") == (2 if is_marked else 0)
        assert ("simultaneously working" in " ".join(out.split())) == is_marked


def test_the_json_of_a_file(tmp_path):
    numbers = answer([FP32], [FP32]) | {"Q1 tensor latency": "0.0071234567"}
    _, found = judge(tmp_path, write(numbers))
    judged = {"right", "of", "numbers", "explanations", "unexplained", "notes", "format"}
    assert {*found} == {"file", *judged}
    assert [each["line"] for each in found["numbers"]] == LINES
    first, *others = found["numbers"]
    fields = {"line", "given", "right", "kind", "words", "times_right"}
    assert all({*each} == fields for each in others)
    assert (first["given"], first["right"]) == ("0.0071234567", 0.00312726016)
    assert first["times_right"] == pytest.approx(0.0071234567 / 0.00312726016)
    [both] = found["explanations"]
    assert both["strategies"] == ["tensor", "pipeline"] and both["mistakes"] == [[FP32]]
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
