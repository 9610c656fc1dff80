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
from machines import ODD_OPTIONS
from program import LAB3, call, copy_project, output, python, refusal, sentence, shell
from report.question import LAB
from submissions import LINES, answer, judge, write

LAB_TEXT = lab3.answers(*LAB) + "\n"
FP32, SENDS = "an element is 4 bytes (FP32)", "a node does not compute while it sends"


def write_with(number):
    """Write the right numbers, but another latency of tensor parallelism in Q1."""
    return write(answer() | {"Q1 tensor latency": number})


# ------------------------------------------------ a file


@pytest.mark.parametrize("content", [b"hello\n", b"", LAB_TEXT.encode() + b"\n" * 10**6])
def test_what_cannot_be_judged(tmp_path, content):
    bad, right = str(tmp_path / "bad.txt"), str(tmp_path / "right.txt")
    (tmp_path / "bad.txt").write_bytes(content)
    (tmp_path / "right.txt").write_text(LAB_TEXT, encoding="utf-16")
    assert "bad.txt" in refusal(["check", bad])
    assert "--key" in refusal(["check", "--key", bad, right])
    assert "--key" not in refusal(["check", "--key", right, "--nodes", "3", right])
    status, out, err = call(["check", "--json", bad, right])  # the others are judged
    refused, judged = json.loads(out)["submissions"]
    assert (status, err, {*refused}, judged["right"]) == (2, "", {"file", "refused"}, 8)
    status, out, err = call(["check", "--json", bad])
    assert (status, err, json.loads(out)["submissions"]) == (2, "", [refused])


def test_standard_input():
    for command, status, advice in [
        ("python3 lab3.py | python3 report check", 0, ""),
        ("python3 lab3.py | sed 's/1923072/604160/' | python3 report check -", 1, ""),
        ("false | python3 report check", 2, "did your program fail?"),
        ("python3 report check <&-", 2, "closed"),
        ("python3 report check --key - </dev/null", 2, "standard input cannot be both"),
        ("python3 report check lab3.py", 2, "python3 lab3.py | python3 report check"),
        ("python3 report check missing.txt", 2, "missing.txt"),
        ("python3 report check tests", 2, "tests"),
    ]:
        result = shell(command)
        assert (result.returncode, bool(result.stdout)) == (status, not advice), command
        assert advice in sentence(result.stderr) if advice else result.stderr == ""


def test_of_a_missing_line_it_is_told_what_is_there_instead(tmp_path):
    row = f"TP latency: 3.1 \u00b1 0.02 {'.' * 150}"
    numbers = judge(tmp_path, LAB_TEXT.replace(LAB_TEXT.splitlines()[1], row))[1]["numbers"]
    assert [number["kind"] for number in numbers] == ["missing"] + ["right"] * 7
    words = numbers[0]["words"]
    assert "'TP latency: 3.1 ? 0.02 ..." in words and words.isascii() and len(words) < 120
    _, found = judge(tmp_path, LAB_TEXT[: LAB_TEXT.rindex("Total")])  # as the handout's sample
    assert found["numbers"][-1]["words"].startswith("missing; the handout's sample of Q2 lacks it")


def test_a_reading_is_marked_and_has_a_footnote(tmp_path):
    """What the handout says for this project's reading stands in the footnote, once."""
    path = tmp_path / "output.txt"
    for made, is_marked in ((SENDS, True), ("inputs do not overlap", True), (FP32, False)):
        path.write_text(write(answer([], [made])), encoding="utf-8")
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
    assert found["unexplained"] == LINES[:1]
    [both] = found["explanations"]
    assert both["strategies"] == ["tensor", "pipeline"] and both["mistakes"] == [[FP32]]
    assert {*both["numbers"]} == {*LINES[1:]}


# ------------------------------------------------ questions, keys


WHATIF = [ODD_OPTIONS, "--inputs 1", "--layer 4,3,3,3,32,32"]  # one layer sends nothing
WHATIF += ["--nodes 6", "--nodes 2"]  # of which one strategy is impossible


@pytest.mark.parametrize("options", WHATIF)
def test_what_whatif_prints_is_right(tmp_path, options):
    status, found = judge(tmp_path, output(f"whatif {options}"), *options.split())
    assert (status, found["notes"], found["format"]) == (0, [], [])
    assert found["right"] == found["of"] > 0


@pytest.mark.parametrize(
    ("old", "new", "is_explained"),  # of each of lab3.py's functions
    [
        ("return inputs * (compute_s + communication_s)", "return inputs * compute_s", True),
        ("gather_hops * shards[-1])", "7 * gather_hops * shards[-1])", False),
        ("(inputs - 1) * max([*compute_s", "(inputs - 1) * sum([*compute_s", True),
        ("return inputs * sum(layer", "return 3 * inputs * sum(layer", True),
    ],
)
def test_an_edited_lab3_is_the_key(tmp_path, old, new, is_explained):
    assert LAB3.count(old) == 1
    copy_project(tmp_path, LAB3.replace(old, new))
    (tmp_path / "output.txt").write_text(python("lab3.py", cwd=tmp_path).stdout)
    (tmp_path / "as_read.txt").write_text(LAB_TEXT)
    result = python("report", "check", "--json", "output.txt", "as_read.txt", cwd=tmp_path)
    found = json.loads(result.stdout)
    own, as_read = found["submissions"]
    assert own["right"] == 8 > as_read["right"]
    assert found["key"]["explained"] == ["tensor", "pipeline"][not is_explained :]
    assert is_explained or as_read["explanations"] == []


def test_a_key_and_what_it_lacks_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    key = {line: it for line, it in answer([], [SENDS]).items() if line != "Q2 tensor traffic"}
    fp32 = write(answer([FP32], [FP32, SENDS]))
    files = {"key.txt": write(key), "as_read.txt": LAB_TEXT, "fp32.txt": fp32}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    status, out, err = call(["check", "--json", "--key", *files, "key.txt"])
    whole = json.loads(out)
    assert (status, err) == (1, "")
    assert {*whole} == {"version", "asked", "key", "occurrences", "submissions"}
    assert whole["key"] == {
        "explained": ["tensor", "pipeline"],
        "readings": {"tensor": [], "pipeline": [SENDS]},
        "missing": ["Q2 tensor traffic"],
    }
    assert [each["right"] for each in whole["submissions"]] == [7, 0, 7]
    assert "It lacks Q2 tensor traffic.\n" in call(["check", "--key", *files])[1]


# ------------------------------------------------ a class

FOLLOWING = write_with("0.0071234567").replace("0.10007232512", "0.2279506144")  # 32 times
CLASS = {  # a file: its text, how many numbers are right, format, whether to look at it by hand
    "right.txt": (LAB_TEXT, "8", "right", False),
    f"504123456_{'Long_Name_' * 5}Lab3_pin1234.txt": (LAB_TEXT, "8", "right", False),
    "with blanks in it.txt": (write(answer([FP32], [FP32])), "0", "right", False),
    "format.txt": (LAB_TEXT.replace("-----Q1", "Q1"), "8", "differs", False),
    "note.txt": (LAB_TEXT.replace("Q2 32 inputs", "all of them"), "8", "differs", False),
    "or.txt": (write(answer(["communication takes no time"])), "6", "right", True),
    # two mistakes that make one number
    "doubt.txt": (write(answer() | {"Q2 pipeline latency": "0.16362162176"}), "7", "right", True),
    "odd.txt": (write_with("0.0071234567"), "7", "right", True),
    "odd, too.txt": (FOLLOWING, "6", "right", True),
    "few.txt": (write_with("0.0031"), "7", "right", True),
    "zero.txt": (write_with("0.00"), "7", "right", True),
    "nan.txt": (write_with("nan"), "7", "differs", True),
    "below.txt": (write_with("-0.1"), "7", "differs", True),
    "half.txt": (LAB_TEXT.partition("------Q2")[0], "4", "differs", True),
    "no results.txt": ("hello\n", "", "", True),
}
ODD_OFTEN = "0.0071234567 seconds for Q1 tensor latency, unexplained"


@pytest.fixture
def names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, (text, *_) in CLASS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return [*CLASS]


def test_a_class_is_a_line_per_file_whatever_the_names(names):
    status, out, err = call(["check", *names])
    assert (status, err) == (2, "")
    files, often, summary = out.split("\n\n")
    lines = [line for line in files.splitlines() if not line.startswith("        ")]
    rights = [f"{right} of 8" if right else "-" for _, right, *_ in CLASS.values()]
    assert lines == [f"{right:8}{name}" for right, name in zip(rights, names, strict=True)]
    assert files.startswith("\n".join(lines[:2]))  # a file that is right is one line
    assert often.splitlines()[1:] == [f"    2  {ODD_OFTEN}", "    2  no number"]
    by_hand = summary.split("Look at by hand:\n")[1].splitlines()
    assert [line.strip() for line in by_hand] == [name for name in names if CLASS[name][3]]
    assert summary.startswith("4 of 15 files have every number right, 2 also")
    assert files.count("the format differs") == 5


def test_nobody_to_look_at_by_hand(names):
    status, out, _ = call(["check", *names[:3]])
    assert status == 1 and out.endswith("Look at by hand: none\n")
    assert call(["check", *names[:2]])[0] == 0
    assert call(["check", "format.txt"])[0] == 1
    assert call(["check", names[0], names[0]]) == call(["check", names[0]])


def test_a_class_as_csv(names):
    status, out, err = call(["check", "--csv", *names])
    assert (status, err) == (2, "")
    rows = {row.pop("file"): row for row in csv.DictReader(StringIO(out))}
    assert [*rows] == names
    for name, (_, *right_and_format, _) in CLASS.items():
        assert [rows[name]["right"], rows[name]["format"]] == right_and_format
    assert rows["with blanks in it.txt"]["causes"] == f"both strategies: {FP32}"
    assert rows["right.txt"]["causes"] == rows["right.txt"]["what else"] == ""
    assert rows["odd.txt"]["what else"].startswith("Q1 tensor latency: unexplained, 2.28 times")
    assert "hello" in rows["no results.txt"]["what else"]
    assert "heading of Q2" in rows["note.txt"]["what else"]


def test_a_class_as_json(names):
    """The most frequent stands first. What follows from a wrong number of Q1 is not counted."""
    found = json.loads(call(["check", "--json", *names])[1])
    assert next(iter(found["occurrences"].items())) == (ODD_OFTEN, 2)
    assert found["occurrences"].keys() > {FP32, "communication takes no time", "zero", "missing"}
    assert "follows from Q1" not in found["occurrences"]
    differing = [it["file"] for it in found["submissions"] if it.get("format")]
    assert differing == [name for name in names if CLASS[name][2] == "differs"]
    assert [it["file"] for it in found["submissions"] if it.get("notes")] == ["note.txt"]


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
