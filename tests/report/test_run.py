"""`python3 report run`: what is handed in is unpacked and run, and nothing of it vanishes."""

import csv
import functools
import os
import re
import signal
import sys
import tarfile
import time
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import BytesIO, StringIO
from pathlib import Path
from subprocess import PIPE, Popen
from zipfile import ZipFile

import pytest

from program import PLAIN, PROJECT, call, refusal, run, sentence
from report.__main__ import main
from submissions import OUTPUT

RIGHT, WRONG = f"print({OUTPUT!r}, end='')\n", "print('wrong')\n"
SLEEP = "import signal, time\nsignal.signal(15, signal.SIG_IGN)\ntime.sleep(20)\n"
START = "import os, subprocess, sys\nchild = subprocess.Popen([sys.executable, '-c', {!r}]{})\n"
CHILD = START.format(SLEEP, "") + "open(os.environ['IDS'], 'a').write(f'{child.pid} ')\n"
DAEMON = START.format("import time; time.sleep(9)", ", start_new_session=True")


def pack(files, kind="gz"):
    """Pack files as .zip, .tar or a compressed .tar. A file is a text, bytes, or a list that has
    the target of a link."""
    packed = BytesIO()
    if kind == "zip":
        with ZipFile(packed, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return packed.getvalue()
    with tarfile.open(None, f"w:{kind}", packed) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            if isinstance(content, list):
                member.type, [member.linkname] = tarfile.SYMTYPE, content
            data = b"" if isinstance(content, list) else content
            data = data.encode() if isinstance(data, str) else data
            member.size = len(data)
            archive.addfile(member, BytesIO(data))
    return packed.getvalue()


# ------------------------------------------------ a class, and what `check` says of it
BOTH, ONE_LEFT = "there are 2 lab3.py that differ, ", "1 unsafe name left out, such as "
NOT_RUN, MISSING = "was not run: ", "lab3.py is missing, "
NO_LAB3, NO_ARCHIVE = f"{NOT_RUN}there is no lab3.py, but ", "is no archive, program or folder"
STOPPED, MANY = "stopped after 1 s", "printed more than 900,000 bytes"
LAB3, TWO = {"lab3.py": RIGHT}, {"a/lab3.py": WRONG, "lab3.py": RIGHT}
NESTED = {"a/lab.tar.gz": pack(LAB3), "a/report.pdf": "", "a/report.docx": pack({}, "zip")}
ROOT_LINKS = {"lab3.py": RIGHT, "b": ["/b"], "c": ["../../c"]}
FOUND = {  # a submission: its content (of a folder: its files), notes; OUTPUT is printed
    "flat.tar.gz": (pack(LAB3), ""),
    "data.tar": (pack({"a/lab3.py": "print(end=open('c').read())", "a/c": OUTPUT}, ""), ""),
    "BZh.tar": (pack({"BZh/lab3.py": RIGHT}, ""), ""),
    "zip.tar": (pack({"PK/lab3.py": RIGHT, "z": pack({"lab3.py": WRONG}, "zip")}, ""), ""),
    "a.tar.bz2": (pack(LAB3, "bz2"), ""),
    "a.tar.xz": (pack({"Lab3.py": RIGHT, "test.py": WRONG}, "xz"), ""),
    "a.tar (1).GZ": (pack(LAB3), ""),
    "a": (pack(LAB3), ""),
    "a.zip": (pack({"a/b/lab3.py": RIGHT, "__MACOSX/lab3.py": WRONG}, "zip"), ""),
    "a zip.tar.gz": (pack(LAB3, "zip"), ""),
    "mac.tgz": (pack({"._lab3.py": "", "a.py/._lab3.py": "", "a.py/lab3.py": RIGHT}), ""),
    "blanks.zip": (pack({" a /lab3.py ": RIGHT, " a /b.py": WRONG}, "zip"), ""),
    "equal.tgz": (pack({"lab3.py": RIGHT, "old/lab3.py": RIGHT}), ""),
    "two.zip": (pack(TWO, "zip"), f"{BOTH}'lab3.py' was run"),
    "tie.tgz": (pack({"b/lab3.py": WRONG, "a/lab3.py": RIGHT}), f"{BOTH}'a/lab3.py' was run"),
    "odd.tgz": (pack({"\x1b'\n/lab3.py": RIGHT, "a/b/lab3.py": ""}), f'{BOTH}"\\x1b\'\\n/lab3.py"'),
    "other.tgz": (pack({"a/my lab.py": RIGHT, "._b.py": ""}), f"{MISSING}'a/my lab.py' was run"),
    "folder": ({"b/lab3.py": RIGHT.encode(), "c/data": b""}, ""),
    "moodle": ({"lab.tar.gz": NESTED["a/lab.tar.gz"]}, ""),
    "twice.zip": (pack(NESTED, "zip"), ""),
    "a.py": (RIGHT.encode(), ""),
    "a.PY ": (RIGHT.encode(), ""),
    "link.tgz": (pack({"a/b.py": RIGHT, "lab3.py": ["a/b.py"]}), ""),
    "up.tgz": (pack({"../lab3.py": WRONG, "lab3.py": RIGHT}), f"{ONE_LEFT}'../lab3.py'"),
    "up.zip": (
        pack({"a/../../lab3.py": "", "lab3.py": RIGHT}, "zip"),
        f"{ONE_LEFT}'a/../../lab3.py'",
    ),
    "root.tgz": (pack({"/lab3.py": RIGHT}), ""),
    "root.zip": (pack({"/lab3.py": RIGHT}, "zip"), ""),
    "links.tgz": (pack(ROOT_LINKS), "2 unsafe names left out, such as 'b'"),
}
NAMES = ["a b .tgz  ", "it's; x.tgz", '"$(x)`y`.tgz', "-.tgz", "\x1b[31m\a.tgz", "\u202e\n.tgz"]
NAMES += ["\udcff.tgz", "\u00e9.tgz", "x" * 247 + ".tgz"]
FOUND |= {name: (pack(LAB3), "") for name in NAMES if sys.platform == "linux"}
NOT_FOUND = {  # a submission: its content, why it was not run; nothing is printed
    "others.tgz": (pack({"b.py": RIGHT, "a.py": RIGHT, "c": ""}), f"{NO_LAB3}2 other programs"),
    "none": ({"a/data": b""}, f"{NO_LAB3}0 other programs"),
    "none.zip": (pack({}, "zip"), f"{NO_LAB3}0 other programs"),
    "hosts.tgz": (pack({"lab3.py": ["/etc/hosts"]}), f"{ONE_LEFT}'lab3.py'; {NO_LAB3}"),
    "empty.tgz": (b"", f"{NOT_RUN}'empty.tgz' {NO_ARCHIVE}"),
    "twice.tgz": (pack({"a.zip": b"PK"}), f"{NOT_RUN}'a.zip' {NO_ARCHIVE}"),
    "a.pdf": (b"%PDF-1.7", f"{NOT_RUN}'a.pdf' {NO_ARCHIVE}"),
    "a.txt": (RIGHT.encode(), f"{NOT_RUN}'a.txt' {NO_ARCHIVE}"),
    "gone.tgz": (Path("nowhere"), f"{NOT_RUN}No such file or directory"),
    "flip.zip": (pack(LAB3, "zip").replace(b"Total", b"total", 1), f"{NOT_RUN}Bad CRC-32"),
}
for kind in ("", "gz", "bz2", "xz", "zip"):
    packed = pack({"lab3.py": RIGHT, "\u00e9" * 40 + "\n": os.urandom(9000)}, kind)
    NOT_FOUND |= {f"half.{kind}": (packed[: len(packed) // 2], NOT_RUN)}
PROGRAMS = {  # a program: how what it prints ends, notes
    f"{RIGHT}{SLEEP}": (OUTPUT, STOPPED),
    "while True: pass": ("", STOPPED),
    f"{RIGHT}while True: print('x' * 99)": ("x\n", MANY),
    f"{RIGHT}print('x' * 10**8)": ("x\n", MANY),
    f"print('x' * (899_999 - {len(OUTPUT)}))\n{RIGHT}": (f"x\n{OUTPUT}", ""),
    f"print('x' * (900_000 - {len(OUTPUT)}))\n{RIGHT}": (f"x\n{OUTPUT}", MANY),
    f"import os\nprint({OUTPUT[:-1]!r}, end='')\nos.kill(os.getpid(), 11)": (
        OUTPUT,
        "killed: SIGSEGV",
    ),
    f"{RIGHT}raise SystemExit(1)": (OUTPUT, ""),
    f"{RIGHT}print(x)": ("NameError: name 'x' is not defined\n", ""),
    "print(": ("SyntaxError: '(' was never closed\n", ""),
    "import no": ("ModuleNotFoundError: No module named 'no'\n", ""),
    "input()": ("EOFError: EOF when reading a line\n", ""),
    "": ("", ""),
    f"{CHILD}{RIGHT}": (OUTPUT, ""),
    f"{CHILD}{RIGHT}{SLEEP}": (OUTPUT, STOPPED),
    f"{DAEMON}{RIGHT}": (OUTPUT, ""),
    f"{RIGHT}open('b', 'x').write('b')": (OUTPUT, ""),
    f"import sys\n{WRONG}print(1, file=sys.stderr)\n{RIGHT}": (f"wrong\n1\n{OUTPUT}", ""),
    "import sys\nsys.stdout.write(chr(181))": ("\u00b5", ""),
}
CLASS = {  # a submission: its content, how what it prints ends, how its notes begin
    **{name: (content, OUTPUT, notes) for name, (content, notes) in FOUND.items()},
    **{name: (content, "", notes) for name, (content, notes) in NOT_FOUND.items()},
    **{f"{number}.py": (text.encode(), *PROGRAMS[text]) for number, text in enumerate(PROGRAMS)},
}


def write(path, content):
    """Write a submission: a file, a folder of files, or a link."""
    if isinstance(content, Path):
        path.symlink_to(content)
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        for name, data in content.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(data)


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """A program runs for a second, not in UTF-8 by itself; no temporary folder is left."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "tmp").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("report.run.MOST_SECONDS", 1)
        patch.setattr("tempfile.tempdir", f"{folder}/tmp")
        patch.delenv("PYTHONUNBUFFERED", raising=False)
        for name, value in {"IDS": f"{folder}/ids", "LC_ALL": "C", "PYTHONUTF8": "0"}.items():
            patch.setenv(name, value)
        yield folder
    assert [*(folder / "tmp").iterdir()] == []


@pytest.fixture(scope="module")
def judged(folder):
    """The text of each submission of the class, and what `check` says of it: right numbers, the
    rows below, whether it is to be looked at by hand, its row as CSV."""
    (folder / "all").mkdir()
    for name, (content, _, _) in CLASS.items():
        write(folder / "all" / name, content)
    (folder / "all" / ".DS_Store").touch()
    start = time.monotonic()
    status, out, err = call(["run", f"{folder}/all", "--output", f"{folder}/out"])
    assert time.monotonic() - start < 30  # what a program started is not waited for
    ran = len(CLASS) - len(NOT_FOUND)
    assert (status, err) == (1, "") and out.startswith(f"{ran} of {len(CLASS)} submissions")
    check_ended(folder / "ids", 2)
    names = sorted(path.name for path in (folder / "out").iterdir())
    assert names == sorted(f"{name}.txt" for name in CLASS)
    with chdir(folder):
        rows, _, by_hand = call("check out/")[1].partition("Look at by hand:")
        csv_rows = [*csv.DictReader(StringIO(call("check --csv out/")[1]))]
    told = re.findall(r"^(?:(\d) of 8  |-       )(.*)\n((?: {8}.*\n)*)", rows, re.M)
    return {
        name[:-4]: (
            (folder / "out" / name).read_bytes().decode(),
            right,
            " ".join(below.split()),
            f"  {shown}\n" in by_hand,
            row,
        )
        for name, (right, shown, below), row in zip(names, told, csv_rows, strict=True)
    }


def split_notes(text):
    """Split what a program printed from the notes behind it, each in a row of its own."""
    rows = text.splitlines(keepends=True)
    notes = [row for row in rows if row.startswith("report run: ")]
    assert rows[len(rows) - len(notes) :] == notes
    return "".join(rows[: len(rows) - len(notes)]), "; ".join(note[12:-1] for note in notes)


@pytest.mark.parametrize("name", CLASS, ids=ascii)
def test_a_text_has_what_is_printed_and_notes_which_check_tells(judged, name):
    text, right, below, is_by_hand, row = judged[name]
    printed, notes = split_notes(text)
    _, end, start = CLASS[name]
    assert printed.endswith(end) and bool(printed) == bool(end) and len(printed) <= 900_001
    assert name not in FOUND or printed == OUTPUT
    assert notes.startswith(start) and bool(notes) == bool(start)
    assert notes.isascii() and (notes == "" or notes.isprintable()) and len(notes) < 150
    assert right == row["right"] == "8" * (OUTPUT.rstrip() in printed)
    assert all(note in below and note in row["notes"] for note in notes.split("; "))
    assert (below == "") == (printed == OUTPUT and not notes)
    assert "is read: Total" not in below and ("is empty" in below) == (text == "")
    assert "Error: " not in printed or printed.splitlines()[-1] in below
    assert is_by_hand == (row["by hand"] == "yes") == bool(notes or not right)


@pytest.mark.parametrize("kind", ["", "gz", "bz2", "zip"])
def test_what_is_too_large_is_not_unpacked(tmp_path, monkeypatch, kind):
    size = len(RIGHT) + 1
    (tmp_path / "a").write_bytes(pack({"lab3.py": RIGHT, "a": "", "b": "x"}, kind))
    for number, limits in enumerate([(size - 1, 3), (size, 2), (size, 3)]):
        for limit, most in zip(("MOST_UNPACKED", "MOST_MEMBERS"), limits, strict=True):
            monkeypatch.setattr(f"report.run.{limit}", most)
        out = tmp_path / f"{number}"
        assert call(f"run {tmp_path}/a --output {out}")[0] == (number < 2)
        too_large = f"report run: {NOT_RUN}it has more than "
        assert (out / "a.txt").read_text().startswith(too_large if number < 2 else OUTPUT)


# ------------------------------------------------ how the command ends
@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("", "--output"),
        ("all", "--output"),
        ("--output new", "FILE"),
        ("missing --output new", "missing does not exist or"),
        ("'' --output new", "'' does not exist or"),
        ("empty --output new", "empty has no submission"),
        ("all all/a.py --output new", "called 'a.py'"),
        ("all --output old", "'a.py.txt'"),
        ("all --output ''", "cannot write: No such file"),
        ("all --output all/a.py", "cannot write 'all/a.py': File exists"),
        ("all --output all/a.py/b", "cannot write 'all/a.py/b': Not a directory"),
    ],
)
def test_submissions_or_outputs_that_cannot_be_are_refused(tmp_path, monkeypatch, words, named):
    monkeypatch.chdir(tmp_path)
    for name in ("all/a.py", "all/b.py", "old/a.py.txt", "empty/.hidden"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(RIGHT)
    status, out, err = call(f"run {words}")
    assert (status, out) == (1 if "cannot write" in named else 2, "") and named in sentence(err)
    assert not [*tmp_path.glob("new/*")] and len([*(tmp_path / "old").iterdir()]) == 1


def test_a_python_that_does_not_unpack_safely_is_refused(tmp_path, monkeypatch):
    monkeypatch.delattr("tarfile.data_filter")
    assert "3.10.12" in refusal(f"run {tmp_path}/all --output {tmp_path}/out")


def test_output_without_end_is_stopped_before_the_time_is_over(tmp_path, monkeypatch):
    monkeypatch.setattr("report.run.MOST_SECONDS", 30)
    (tmp_path / "a.py").write_text("while True: print('.' * 999)")
    start = time.monotonic()
    assert call(f"run {tmp_path}/a.py --output {tmp_path}")[0] == 0
    assert time.monotonic() - start < 20


def test_a_terminal_shows_which_submission_runs(tmp_path, monkeypatch):
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(RIGHT)
    monkeypatch.setattr(terminal := StringIO(), "isatty", lambda: True)
    with redirect_stdout(StringIO()), redirect_stderr(terminal):
        assert main(["run", str(tmp_path), "--output", f"{tmp_path}/out"]) == 0
    assert terminal.getvalue() == "1 of 2: 'a.py'\n2 of 2: 'b.py'\n"


PYTHONS = sorted(Path(sys.base_prefix).parent.glob("3.1[0-9].*/bin/python"))


@pytest.mark.parametrize("interpreter", [sys.executable, *map(str, PYTHONS)])
def test_the_command_itself_does_the_same_on_every_python(tmp_path, interpreter):
    """And nothing can be typed, though somebody types."""
    has_filter = run(interpreter, "-c", "import tarfile; tarfile.data_filter").returncode == 0
    (tmp_path / "all").mkdir()
    for name in ("a.tar.gz", "b.zip"):
        text = "import sys\nprint(sys.version, len(sys.stdin.read()))"
        files = {"x/lab3.py": text, "old/a/lab3.py": RIGHT}
        (tmp_path / "all" / name).write_bytes(pack(files, name[-3:].strip(".")))
    command = [interpreter, "-B", "report", "run", tmp_path / "all", "--output", tmp_path / "out"]
    assert run(*command, input="5\n").returncode == (0 if has_filter else 2)
    version = run(interpreter, "-c", "import sys; print(sys.version, 0)").stdout
    texts = [split_notes(path.read_text()) for path in (tmp_path / "out").glob("*.txt")]
    assert texts == [(version, f"{BOTH}'x/lab3.py' was run")] * 2 * has_filter


def check_ended(ids, amount):
    """Assert that all processes whose numbers are in a file have ended, or soon have."""
    numbers = ids.read_text().split()
    end = time.monotonic() + 5  # for who inherits them to see it
    while any(map(is_running, numbers)) and time.monotonic() < end:
        time.sleep(0.01)
    assert len(numbers) == amount and not any(map(is_running, numbers))


def is_running(number):
    """Return whether there is a process of this number which is not only waited for."""
    state = run("ps", "-o", "stat=", "-p", number).stdout.strip()
    return state != "" and not state.startswith("Z")


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_ends_what_runs_and_leaves_no_folder(tmp_path):
    (tmp_path / "a.py").write_text(CHILD + SLEEP)
    (ids := tmp_path / "ids").touch()
    (folder := tmp_path / "tmp").mkdir()
    command = [sys.executable, "-B", "report", "run", tmp_path / "a.py", "--output", tmp_path]
    not_ignored = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    settings = {**PLAIN, "TMPDIR": str(folder), "IDS": str(ids)}
    more = {"stdout": PIPE, "stderr": PIPE, "preexec_fn": not_ignored}
    with Popen(command, cwd=PROJECT, env=settings, **more) as process:
        while " " not in ids.read_text():
            time.sleep(0.01)
        assert [*folder.iterdir()]
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=20) == (b"", b"")
    assert process.returncode == -signal.SIGINT and not [*folder.iterdir()]
    assert not (tmp_path / "a.py.txt").exists()
    check_ended(ids, 1)
