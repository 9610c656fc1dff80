"""`python3 report check`: what it reads, refuses, prints and returns."""

import csv
import os
import shlex
import sys
from io import BytesIO, StringIO, TextIOWrapper

import pytest

pytest.importorskip("hypothesis")

from hypothesis import example, given, settings
from hypothesis import strategies as st

from machines import ODD_OPTIONS
from program import PROJECT, call, edit, output, python, refusal, sentence, shell
from submissions import OUTPUT, write


# ------------------------------------------------ a file
@pytest.mark.parametrize("content", [b"hello\n", b"", (OUTPUT + 10**6 * "\n").encode()])
def test_what_cannot_be_judged(tmp_path, content):
    bad, right = f"{tmp_path}/./bad.txt", f"{tmp_path}/right.txt"
    (tmp_path / "bad.txt").write_bytes(content)
    (tmp_path / "right.txt").write_text(OUTPUT, encoding="utf-16")
    assert refusal(["check", bad]).startswith(bad)
    assert refusal(["check", "--key", bad, right]).startswith("--key ")
    assert not refusal(["check", "--key", right, "--nodes", "3", right]).startswith("--key ")
    for command in (["check", bad, right], ["check", "--csv", bad]):  # the others are judged
        status, out, err = call(command)
        assert (status, err) == (2, "") and out


def test_a_million_bytes_are_read_and_no_more(tmp_path):
    for more in (0, 1):
        (tmp_path / "a.txt").write_text(OUTPUT + "\n" * (10**6 - len(OUTPUT) + more))
        assert call(f"check {tmp_path}/a.txt")[0] == 2 * more


@pytest.mark.parametrize(
    ("command", "status", "advice"),
    [
        ("python3 lab3.py | python3 report check", 0, ""),
        ("python3 lab3.py | sed 's/1923072/604160/' | python3 report check -", 1, ""),
        ("python3 lab3.py | sed 's/Total latency/Latency/' | python3 report check", 1, ""),
        ("false | python3 report check", 2, "did the program fail?"),
        ("python3 report check <&-", 2, "closed"),
        ("python3 report check --key - a - </dev/null", 2, "standard input cannot be both"),
        ("python3 report check lab3.py", 2, "lab3.py is a program: python3 lab3.py > output.txt"),
        ("python3 report check report/deck", 2, "deck is a folder that has no .txt file"),
        ("python3 report check --key lab3.py", 2, "--key lab3.py is a program"),
        ("echo TP latency: inf | python3 report check --key - a", 2, "none of its numbers"),
        ("echo TP latency: 0.0031 | python3 report check --key - a", 2, "fewer than 3 digits"),
    ],
)
def test_the_exit_status(command, status, advice):
    result = shell(command)
    assert (result.returncode, bool(result.stdout)) == (status, not advice)
    assert advice in sentence(result.stderr) if advice else result.stderr == ""


WHATIF = {"--inputs 1": 4, "--inputs 2": 8, ODD_OPTIONS: 8, "--layer 4,3,3,3,32,32": 8}
WHATIF |= {"--nodes 6": 4, "--nodes 2": 4}  # of which one strategy is impossible


@pytest.mark.parametrize("options", WHATIF)
def test_what_whatif_prints_is_right(tmp_path, options):
    (tmp_path / "a.txt").write_text(output(f"whatif {options}"), encoding="utf-8")
    told = output(f"check {options} {tmp_path}/a.txt")
    assert f"\nAll {WHATIF[options]} numbers are right.\n" in told


def test_a_right_number_may_be_zero(tmp_path):
    text = output("whatif --inputs 1 --layer 4,3,3,3,32,32").replace(" 0 bytes", " 5 bytes")
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    _, told, _ = call(f"check --inputs 1 --layer 4,3,3,3,32,32 {tmp_path}/a.txt")
    assert "- Q1 pipeline traffic: unexplained, the right number is 0\n" in told


# ------------------------------------------------ a key
def test_what_is_noted_of_a_key_and_what_it_lacks(tmp_path):
    (tmp_path / "a.txt").write_text(OUTPUT)
    heading = "--------Q2 32 inputs------\n"
    again = f"{heading}Total latency of tensor parallelism is 1 seconds\n"
    key = write("tensor right right right none").replace(heading, again)
    (tmp_path / "key.txt").write_text(key)
    told = " ".join(output(f"check --key {tmp_path}/key.txt {tmp_path}/a.txt").split())
    assert "The key agrees with lab3.py. It lacks Q2 tensor traffic." in told
    assert "All 8 numbers are right." in told  # not: agree with the key
    assert "Q2 tensor latency was found 2 times; 0.10007232512 is used" in told
    (tmp_path / "key.txt").write_text(write("pipeline right right 0.398 none"))
    told = " ".join(call(f"check --key {tmp_path}/key.txt {tmp_path}/a.txt")[1].split())
    why = "The key's Q2 pipeline latency is not lab3.py's, so causes are not sought for pipeline"
    assert why in told and "It lacks Q2 pipeline traffic. 6 of 7 numbers are right." in told


# ------------------------------------------------ a class
WRONG = "tensor 0.0071234567 right right right"
FOLLOWING = "tensor 0.0071234567 right 0.2279506144 right"  # 32 times
NO_SENDS = "tensor 0.00303330816 right 0.09706586112 right"
CLASS = {  # a file: its text, how many numbers are right, what others are, whether to look at it
    "right.txt": (OUTPUT, 8, "", False),
    f"504123456_{'Long_Name_' * 5}Lab3_pin1234.txt": (OUTPUT, 8, "", False),
    "a blank.txt": (write("pipeline right right 0.398 right"), 7, "explained", False),
    "format.txt": (OUTPUT.replace("--------Q2 32 inputs------", ""), 8, "", False),  # is noted
    "swap.txt": (write("tensor right 604160 right right"), 7, "another line's number", False),
    "or.txt": (write(NO_SENDS), 6, "explained", True),
    "or, too.txt": (write(NO_SENDS), 6, "explained", True),
    # two mistakes that make one number
    "doubt.txt": (write("pipeline right right 0.16362162176 right"), 7, "explained", True),
    "odd.txt": (write(WRONG), 7, "unexplained", True),
    "odd, too.txt": (write(FOLLOWING), 6, "unexplained, follows from Q1", True),
    "few.txt": (write("tensor 0.0031 right right right"), 7, "too few digits", True),
    "half.txt": (OUTPUT.partition("------Q2")[0], 4, "missing", True),
    "two runs.txt": (write(WRONG) + OUTPUT, 8, "", True),
    "runs.txt": (OUTPUT + write("pipeline 0.00637 right 0.0780 right"), 6, "explained", True),
    "=no results.txt": ("hello\n", None, "", True),
}
OVERLAP = "pipeline parallelism: inputs do not overlap (against the handout's words)"


@pytest.fixture
def names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, (text, *_) in CLASS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return [*CLASS]


def test_a_class_is_a_line_per_file(names):
    status, out, err = call(["check", *names])
    assert (status, err) == (2, "")
    files, rights, often, summary = out.split("\n\n")
    rights = [int(row.split()[0]) for row in rights.splitlines()[1:]]
    assert rights == [9, 13, 13, 14, 10, 13, 10, 13]
    lines = [line for line in files.splitlines() if not line.startswith("        ")]
    rights = [f"{right} of 8" if right else "-" for _, right, *_ in CLASS.values()]
    assert lines == [f"{right:8}{name}" for right, name in zip(rights, names, strict=True)]
    # a file that is right is one line; a cause goes on below
    assert files.startswith("\n".join(lines[:2])) and f"\n{' ' * 10}" in files
    words = "Q1 tensor latency: unexplained, 2.28 times the right number"
    assert often.startswith("files  what is wrong\n    2  tensor parallelism: communication takes")
    assert " or tensor parallelism: " in " ".join(often.split())  # its alternative, counted with it
    assert often.endswith(f"\n    2  {words}") and often.count(" 2 ") == 2
    assert "1 file could not be judged." in summary
    by_hand = summary.split("Look at by hand:\n")[1].splitlines()
    assert [line.strip() for line in by_hand] == [name for name in names if CLASS[name][-1]]
    assert summary.startswith("4 of 15 files have every number right, 2 also")


def test_how_many_are_right_in_words(names, tmp_path):
    assert call("check few.txt")[1].startswith("7 of 8 numbers are right, 1 has too few digits.\n")
    (tmp_path / "one.txt").write_text(OUTPUT.partition("Total network")[0])
    told = " ".join(call("check one.txt")[1].split())
    assert told.startswith("1 of 8 numbers is right. Look at:") and " - 1923072 missing " in told
    (tmp_path / "one.txt").write_text(write("tensor 0.0031 right 0.00 right"))
    assert call("check one.txt")[1].startswith("6 of 8 numbers are right, 2 have too few")
    (tmp_path / "one.txt").write_text("tensor latency: 9")
    assert call("check one.txt")[1].startswith("0 of 8 numbers are right.")
    assert " 604160 1923072 wrong Q1 pipeline " in " ".join(call("check swap.txt")[1].split())


def test_at_a_terminal_it_says_what_it_waits_for_and_not_among_the_answers(monkeypatch):
    terminal = TextIOWrapper(BytesIO(OUTPUT.encode()))
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin", terminal)
    status, out, err = call(["check", "--csv"])
    assert (status, err) == (0, "reading standard input; end with Ctrl-D\n")
    assert out.startswith("file,")


def test_nobody_to_look_at_by_hand(names):
    status, out, _ = call(["check", *names[:3]])
    assert status == 1 and out.endswith("Look at by hand: none\n") and "what is wrong" not in out
    assert call(["check", *names[:2]])[0] == 0
    assert call(["check", names[0], names[0]]) == call(["check", names[0]])


def test_a_folder_is_a_class_of_the_texts_in_it(names, tmp_path):
    (tmp_path / "outputs" / "a").mkdir(parents=True)
    os.mkfifo(tmp_path / "outputs" / "pipe.txt")
    for name in ("b.txt", "a.txt", "a.py", "a/c.txt"):
        (tmp_path / "outputs" / name).write_text(OUTPUT)
    status, out, _ = call("check outputs right.txt outputs/a.txt")
    lines = ["8 of 8  a.txt", "8 of 8  b.txt", "-       pipe.txt"]
    assert status == 2 and out.splitlines()[:3] == lines
    assert "pipe.txt is no regular file: it is not read" in " ".join(out.split())
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "a.txt").write_text(f"{OUTPUT}report run: 'main.py' was run\n")
    status, out, _ = call("check one")
    assert status == 0 and out.startswith("8 of 8  a.txt\n        'main.py' was run\n")
    assert "Look at by hand:\n  a.txt\n" in out
    (tmp_path / "one" / "a.txt").write_text(edit(OUTPUT, "0.01243531264", "nan"))
    assert "Look at by hand:\n  a.txt\n" in call("check one")[1]
    assert call("check one/a.txt one") == call("check one one/a.txt") != call("check one")
    same = f"one{os.sep}a.txt", f"outputs{os.sep}a.txt"
    assert [name in call(["check", *same])[1] for name in same] == [True, True]


def test_a_class_as_csv(names):
    status, out, err = call(["check", "--csv", *names])
    assert (status, err) == (2, "")
    head, *rows = csv.reader(StringIO(out))
    assert {len(row) for row in rows} == {len(head)}
    cells = {name: row for name, *row in rows}
    for name, (_, right, kinds, _) in [*CLASS.items()][:-1]:
        assert cells[name][:2] == [str(right), "8"]
        assert {*cells[name][2:10]} == {"right", *filter(None, kinds.split(", "))}
    assert cells["a blank.txt"][8] == "explained"
    assert cells["a blank.txt"][10:] == ["right", OVERLAP, "", "no"]
    differing = [name for name in cells if cells[name][10] == "differs"]
    assert differing == ["format.txt", "half.txt", "two runs.txt", "runs.txt"]
    assert "was found 2 times" in cells["two runs.txt"][-2]
    assert "has no results that can be read: it ends with: hello" in cells["'=no results.txt"][-2]
    by_hand = [name.replace("=", "'=") for name in CLASS if CLASS[name][-1]]
    assert [name for name in cells if cells[name][-1] == "yes"] == by_hand


@pytest.mark.skipif(sys.platform != "linux", reason="other names of files")
@pytest.mark.parametrize(("terminal", "shown"), [("utf-8", "\u00fc"), ("ascii", r"'\xfc'")])
def test_any_name_is_a_row_of_csv(tmp_path, terminal, shown):
    """As what a spreadsheet computes, with an escape, in UTF-8 or not; on any terminal."""
    names = {b"@a": "'@a", b"+a": "'+a", b"-a": "'-a", b"\x1b[1m": r"'\x1b[1m'"}
    names |= {b"\xc3\xbc": shown, b"a\xfc": r"'a\udcfc'"}
    for name in names:
        (tmp_path / os.fsdecode(name)).write_text(OUTPUT)
    options = {"cwd": tmp_path, "encoding": "utf-8", "env": {"PYTHONIOENCODING": terminal}}
    result = python(PROJECT / "report", "check", "--csv", "--", *names, **options)
    _, *rows = csv.reader(result.stdout.splitlines())
    assert [row[:2] for row in rows] == [[cell, "8"] for cell in names.values()]


# ------------------------------------------------ hostile names and texts
NAMES = ["a b.py", "it's; x.py", '"$(x)`y`.py', "-.py", "\x1b[31m\a.py", "\u202e.py"]


@pytest.mark.skipif(sys.platform != "linux", reason="other names of files")
@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_name_is_printable_and_a_command_to_copy_has_it_whole(name, tmp_path):
    name = os.fsdecode(name.encode())
    (tmp_path / name).write_text("import sys\nprint('x')\n")
    path = str(tmp_path / name)
    program = shlex.split(refusal(["check", path]).rpartition("python3 ")[2])[0]
    assert program == path or not (path.isascii() and path.isprintable())
    assert refusal(["check", "--key", path]).startswith("--key ")
    _, told, _ = call(["check", path, f"{path}!"])  # which is not there
    assert told.isascii() and told.replace("\n", "").isprintable()


PIECES = [
    *(*OUTPUT.splitlines(), "Q1", "Q2", "32 inputs", "TP", "latency", "traffic", "is", ":", "|"),
    *("seconds", "ms", "bytes", "1e9", "-1", "0", "nan", "1" * 4000, "1,", ",111" * 999, "\x1b[2J"),
    *("\ufeff", "\u0661", "\ud7ff", "1/0", "**", "e", "1e-999999999", "%", "\x00", "\n", "\t"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join).map(str.encode)


@settings(max_examples=300, deadline=5000)
@example("\u202eR\u00e9sultats\n".encode() + OUTPUT.encode())  # in the diff
@example("\u202eR\u00e9sultats\n".encode())  # nothing else
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
