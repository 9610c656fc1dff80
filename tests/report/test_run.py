"""`python3 report run`: what is handed in is unpacked and run, and nothing of it vanishes."""

import csv
import functools
import os
import re
import signal
import sys
import tarfile
import time
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, StringIO
from pathlib import Path
from subprocess import PIPE, Popen
from zipfile import ZipFile

import pytest

from program import PLAIN, PROJECT, call, refusal, run, sentence
from report.__main__ import main
from submissions import OUTPUT

RIGHT = f"print({OUTPUT!r}, end='')\n"
WRONG = "print('wrong')\n"
SLEEP = "import signal, time\nsignal.signal(15, signal.SIG_IGN)\ntime.sleep(60)\n"
START = "import subprocess, sys\nchild = subprocess.Popen([sys.executable, '-c', {!r}]{})\n"
WRITE_ID = "import os\nopen(os.environ['IDS'], 'a').write(f'{os.getpid()} {child.pid} ')\n"
CHILD = START.format(SLEEP, ", env={}") + WRITE_ID  # which only its group tells
DAEMON = START.format(SLEEP, ", start_new_session=True") + WRITE_ID


def pack(path, files):
    """Pack files, each a text, or in a list where a link leads, as the path's name says."""
    kind = path.name.strip().lower().rpartition(".")[2]
    if "." not in path.name:
        for name, text in files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_text(text)
    elif kind == "zip":
        with ZipFile(path, "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
    else:
        mode = {"tar": "w", "bz2": "w:bz2", "xz": "w:xz"}.get(kind, "w:gz")
        with tarfile.open(path, mode) as archive:
            for name, text in files.items():
                member = tarfile.TarInfo(name)
                if isinstance(text, list):
                    member.type, [member.linkname] = tarfile.SYMTYPE, text
                data = b"" if isinstance(text, list) else text.encode()
                member.size = len(data)
                archive.addfile(member, BytesIO(data))


def run_class(folder, *files):
    """Run what is in folder/all, or these files. Return the status, what the command printed, and
    the texts by name, those of notes apart."""
    files = files or [folder / "all"]
    status, out, err = call(["run", *map(str, files), "--output", str(folder / "out")])
    assert err == ""
    texts = {path.name[:-4]: path.read_bytes().decode() for path in (folder / "out").iterdir()}
    return status, out, {name: split_notes(text) for name, text in texts.items()}


def split_notes(text):
    """Split what a program printed from the notes behind it, each in a row of its own."""
    rows = text.splitlines(keepends=True)
    notes = [row for row in rows if row.startswith("report run: ")]
    assert rows[len(rows) - len(notes) :] == notes
    return "".join(rows[: len(rows) - len(notes)]), "; ".join(note[12:-1] for note in notes)


@pytest.fixture(autouse=True)
def limits(tmp_path, monkeypatch):
    """A program runs for a second, not in UTF-8 by itself; no temporary folder is left."""
    monkeypatch.setattr("report.run.MOST_SECONDS", 1)
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    for name, value in {"IDS": str(tmp_path / "ids"), "LC_ALL": "C", "PYTHONUTF8": "0"}.items():
        monkeypatch.setenv(name, value)
    (folder := tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    (tmp_path / "all").mkdir()
    yield
    assert [*folder.iterdir()] == []


# ------------------------------------------------ what is handed in
BOTH, ONE_LEFT = "there are 2 lab3.py that differ, ", "1 unsafe name left out, such as "
MISSING, NO_LAB3 = "lab3.py is missing, ", "was not run: there is no lab3.py, but "
FILES = {  # a submission: the files in it, notes
    "flat.tar.gz": ({"lab3.py": RIGHT}, ""),
    "data.tar": ({"a b/lab3.py": "print(open('c').read())", "a b/c": OUTPUT.rstrip()}, ""),
    "BZh.tar": ({"BZh/lab3.py": RIGHT}, ""),
    "PK.tar": ({"PK/lab3.py": RIGHT}, ""),
    "a.tar.bz2": ({"lab3.py": RIGHT}, ""),
    "a.tar.xz": ({"Lab3.py": RIGHT, "test.py": WRONG}, ""),
    "a.tar (1).GZ": ({"lab3.py": RIGHT}, ""),
    "a.zip": ({"a/b/lab3.py": RIGHT, "__MACOSX/lab3.py": WRONG}, ""),
    "macos.tgz": ({"._lab3.py": "\0", "a.py/._lab3.py": "", "a.py/lab3.py": RIGHT}, ""),
    "blanks.zip": ({" a /lab3.py ": RIGHT, " a /b.py": WRONG}, ""),
    "folder": ({"b/lab3.py": RIGHT, "c/data": ""}, ""),
    "none": ({"a/data": ""}, f"{NO_LAB3}'a/data'"),
    "equal.tgz": ({"lab3.py": RIGHT, "old/lab3.py": RIGHT}, ""),
    "two.zip": ({"a/lab3.py": WRONG, "lab3.py": RIGHT}, f"{BOTH}'lab3.py' was run"),
    "tie.tgz": ({"b/lab3.py": WRONG, "a/lab3.py": RIGHT}, f"{BOTH}'a/lab3.py' was run"),
    "other.tgz": ({"a/my lab.py": RIGHT, "._b.py": ""}, f"{MISSING}'a/my lab.py' was run"),
    "others.tgz": ({"b.py": RIGHT, "a.py": RIGHT, "c": ""}, f"{NO_LAB3}'a.py', 'b.py'"),
    "report.tgz": ({"a/report.pdf": ""}, f"{NO_LAB3}'a/report.pdf'"),
    "empty.tgz": ({}, f"{NO_LAB3}no file"),
    "empty.zip": ({}, f"{NO_LAB3}no file"),
    # links, and names that leave the folder
    "link.tgz": ({"a/b.py": RIGHT, "lab3.py": ["a/b.py"]}, ""),
    "hosts.tgz": ({"lab3.py": ["/etc/hosts"]}, f"{ONE_LEFT}'lab3.py'; {NO_LAB3}no file"),
    "up.tgz": ({"../lab3.py": WRONG, "lab3.py": RIGHT}, f"{ONE_LEFT}'../lab3.py'"),
    "up.zip": ({"a/../../lab3.py": WRONG, "lab3.py": RIGHT}, f"{ONE_LEFT}'a/../../lab3.py'"),
    "root.tgz": ({"/lab3.py": RIGHT}, ""),
    "root.zip": ({"/lab3.py": RIGHT}, ""),
    "venv.tgz": (
        {"lab3.py": RIGHT, "b": ["/b"], "c": ["../../c"]},
        "2 unsafe names left out, such as 'b'",
    ),
}
STOPPED, MANY = "stopped after 1 s", "printed more than 900,000 bytes"
PROGRAMS = {  # a program: how what it prints ends, notes
    f"{RIGHT}{SLEEP}": (OUTPUT, STOPPED),
    "while True: pass": ("", STOPPED),
    f"{RIGHT}while True: print('x' * 99)": ("x\n", MANY),
    f"{RIGHT}print('x' * 10**7)": (OUTPUT, MANY),
    "print('x' * 10**6)": ("x\n", MANY),
    f"print('x' * (899_999 - {len(OUTPUT)}))\n{RIGHT}": (f"x\n{OUTPUT}", ""),
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
    f"{DAEMON}{RIGHT}": (OUTPUT, ""),
    f"{RIGHT}open('b', 'x').write('b')": (OUTPUT, ""),
    f"import sys\n{WRONG}print(1, file=sys.stderr)\n{RIGHT}": (f"wrong\n1\n{OUTPUT}", ""),
    "import sys\nsys.stdout.write(chr(181))": ("\u00b5", ""),
}


def pack_files(folder):
    """Pack FILES, each under its name."""
    for name, (files, _) in FILES.items():
        pack(folder / name, files)


def test_a_program_is_found_in_whatever_is_handed_in(tmp_path):
    pack_files(tmp_path / "all")
    printed = {name: "" if NO_LAB3 in notes else OUTPUT for name, (_, notes) in FILES.items()}
    status, out, texts = run_class(tmp_path)
    assert texts == {name: (printed[name], notes) for name, (_, notes) in FILES.items()}
    not_run = [*printed.values()].count("")
    assert status == 1 and f"wrote {len(FILES)} files" in out and f" {not_run} submissions" in out


def pack_programs(folder):
    """Pack PROGRAMS, each in an archive that has its number."""
    for number, program in enumerate(PROGRAMS):
        pack(folder / f"{number}.tgz", {"lab3.py": program})


def test_a_text_has_what_a_program_prints_and_how_it_is_ended(tmp_path):
    pack_programs(tmp_path / "all")
    status, _, texts = run_class(tmp_path)
    assert status == 0 and len(texts) == len(PROGRAMS)
    for number, (end, notes) in enumerate(PROGRAMS.values()):
        printed, found = texts[f"{number}.tgz"]
        assert (printed[-len(end) :], found) == (end, notes)
        assert len(printed) <= 900_001 and bool(printed) == bool(end)
    lengths = [len(texts[f"{number}.tgz"][0]) for number in (3, 4, 5)]
    assert lengths == [len(OUTPUT), 900_001, 900_000] and len(texts["2.tgz"][0]) > 899_900
    check_ended(tmp_path / "ids", 4)


OTHERS = {"a.pdf": "%PDF-1.7", "a.ipynb": "{}", "a.rar": "Rar!", "a.txt": RIGHT, "a": RIGHT}


def test_what_is_no_archive_is_named_and_a_program_is_run(tmp_path):
    folder = tmp_path / "all"
    for name, text in {**OTHERS, "a.py": RIGHT, ".DS_Store": ""}.items():
        (folder / name).write_text(text)
    (folder / "gone.tgz").symlink_to("nowhere")
    (folder / "link.tgz").symlink_to(tmp_path / "elsewhere")
    pack(tmp_path / "elsewhere", {"lab3.py": RIGHT})
    os.mkfifo(folder / "fifo.tgz")
    no_file = "cannot be unpacked: it is neither a file nor a folder"
    assert run_class(tmp_path)[2] == {
        **{name: ("", f"{NO_LAB3}'{name}'") for name in OTHERS},
        **dict.fromkeys(("gone.tgz", "fifo.tgz"), ("", no_file)),
        **dict.fromkeys(("a.py", "link.tgz"), (OUTPUT, "")),
    }


def test_an_archive_in_an_archive_or_folder_is_unpacked_too(tmp_path):
    folder = tmp_path / "all"
    pack(inner := tmp_path / "lab.tar.gz", {"lab3.py": RIGHT})
    for name in ("moodle", "programs"):
        (folder / name).mkdir()
        (folder / name / "lab.tar.gz").write_bytes(inner.read_bytes())
    (folder / "programs" / "a.py").write_text(WRONG)
    with ZipFile(folder / "a.zip", "w") as archive:
        archive.write(inner, "a/lab.tar.gz")
        archive.writestr("a/report.pdf", "")
    (folder / "is a zip.tar.gz").write_bytes((folder / "a.zip").read_bytes())
    missing = f"{MISSING}'a.py' was run"
    right = dict.fromkeys(("moodle", "a.zip", "is a zip.tar.gz"), (OUTPUT, ""))
    assert run_class(tmp_path)[2] == {**right, "programs": ("wrong\n", missing)}


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "tar.bz2", "tar.xz", "zip"])
def test_a_damaged_archive_is_not_unpacked(tmp_path, kind):
    odd = "\u00e9" * 40 + "\n"  # which reasons name
    pack(path := tmp_path / f"whole.{kind}", {"lab3.py": RIGHT, "a": "", odd: "content"})
    data = path.read_bytes()
    damaged = [data[: min(len(data) // 2, 520)], data[:3], b"", b"<html>" * 99]
    if kind != "tar":  # which has no checksum
        end = {"tar.gz": 7, "tar.bz2": 40, "tar.xz": 40}
        place = data.find(b"content") if kind == "zip" else len(data) - end[kind]
        damaged.append(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
    for number, content in enumerate(damaged):
        (tmp_path / "all" / f"{number}.{kind}").write_bytes(content)
    status, _, texts = run_class(tmp_path)
    assert status == 1 and len(texts) == len(damaged)
    for printed, note in texts.values():
        assert printed == "" and note.startswith("cannot be unpacked: ") and 30 < len(note) <= 120
        assert note.isascii() and "recursion" not in note


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.tar.bz2", "a.zip", "folder"])
def test_what_is_too_large_is_not_unpacked(tmp_path, monkeypatch, name):
    pack(tmp_path / "all" / name, {"lab3.py": RIGHT, "a": "", "b": "x"})
    size = len(RIGHT) + 1
    for number, limits in enumerate([(size - 1, 3), (size, 2), (size, 3)]):
        for limit, most in zip(("MOST_UNPACKED", "MOST_MEMBERS"), limits, strict=True):
            monkeypatch.setattr(f"report.run.{limit}", most)
        (folder := tmp_path / str(number)).mkdir()
        [(printed, note)] = run_class(folder, tmp_path / "all")[2].values()
        too_large = "cannot be unpacked: it has more than "
        assert printed == "" and note.startswith(too_large) if number < 2 else printed == OUTPUT


NAMES = ["a b .tgz  ", "it's; x.tgz", '"$(x)`y`.tgz', "-.tgz", "\x1b[31m\a.tgz", "\u202e\n.tgz"]
NAMES += ["\udcff.tgz", "\u00e9.tgz", "x" * 247 + ".tgz"]


@pytest.mark.skipif(sys.platform != "linux", reason="other names of files")
def test_hostile_names_are_kept_and_notes_are_printable_rows(tmp_path):
    for name in NAMES:
        pack(tmp_path / "all" / name, {f"{name}/lab3.py": RIGHT, f"{name}/a/lab3.py": WRONG})
    status, _, texts = run_class(tmp_path)
    assert status == 0 and texts.keys() == {*NAMES}
    for printed, note in texts.values():
        assert printed == OUTPUT and note.startswith(BOTH)
        assert note.isascii() and note.isprintable() and len(note) < 100
    (tmp_path / "all" / ("x" * 248 + ".tgz")).touch()  # whose text has too long a name
    status, out, err = call(f"run {tmp_path}/all --output {tmp_path}/new")
    assert (status, out) == (1, "") and "name too long" in err
    assert [*(tmp_path / "new").iterdir()] == []


# ------------------------------------------------ how the command ends
@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("", "--output"),
        ("all", "--output"),
        ("--output new", "FILE"),
        ("missing --output new", "missing cannot be read: No such file"),
        ("'' --output new", "'' cannot be read: No such file"),
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
    (tmp_path / "all" / "a.py").write_text("while True: print('.' * 999)")
    start = time.monotonic()
    assert run_class(tmp_path)[2]["a.py"][1] == MANY
    assert time.monotonic() - start < 20


def test_a_terminal_shows_which_one_runs(tmp_path, monkeypatch):
    for name in ("a.py", "b.py"):
        (tmp_path / "all" / name).write_text(RIGHT)
    monkeypatch.setattr(terminal := StringIO(), "isatty", lambda: True)
    with redirect_stdout(StringIO()), redirect_stderr(terminal):
        assert main(["run", f"{tmp_path}/all", "--output", f"{tmp_path}/out"]) == 0
    shown = [text.strip() for text in terminal.getvalue().split("\r")]
    assert shown == ["1 of 2: 'a.py'", "2 of 2: 'b.py'", "", ""]


PYTHONS = sorted(Path(sys.base_prefix).parent.glob("3.1[0-9].*/bin/python"))


@pytest.mark.parametrize("interpreter", [sys.executable, *map(str, PYTHONS)])
def test_the_command_itself_does_the_same_on_every_python(tmp_path, interpreter):
    """And nothing can be typed, though somebody types."""
    has_filter = run(interpreter, "-c", "import tarfile; tarfile.data_filter").returncode == 0
    for name in ("a.tar.gz", "b.zip", "c"):
        text = "import sys\nprint(sys.version, len(sys.stdin.read()))"
        pack(tmp_path / "all" / name, {"x/lab3.py": text, "old/a/lab3.py": RIGHT})
    command = [interpreter, "-B", "report", "run", tmp_path / "all", "--output", tmp_path / "out"]
    result = run(*command, input="5\n")
    assert result.returncode == (0 if has_filter else 2)
    version = run(interpreter, "-c", "import sys; print(sys.version, 0)").stdout
    texts = [split_notes(path.read_text()) for path in (tmp_path / "out").glob("*.txt")]
    assert texts == [(version, f"{BOTH}'x/lab3.py' was run")] * 3 * has_filter


def check_ended(ids, amount):
    """Assert that all processes whose numbers are in a file have ended, or soon have."""
    numbers = ids.read_text().split()
    end = time.monotonic() + 5  # for who inherits them to see it
    while any(map(is_running, numbers)) and time.monotonic() < end:
        time.sleep(0.01)
    assert len(numbers) == amount and not any(map(is_running, numbers))


def is_running(number):
    """Return whether there is a process of this number which is not only waited for."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_ctrl_c_ends_what_runs_and_leaves_no_folder(tmp_path):
    (tmp_path / "all" / "a.py").write_text(CHILD + DAEMON + SLEEP)
    (folder := tmp_path / "tmp").mkdir()
    command = [sys.executable, "-B", "report", "run", tmp_path / "all", "--output", tmp_path]
    not_ignored = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    settings = {**PLAIN, "TMPDIR": str(folder), "IDS": str(tmp_path / "ids")}
    more = {"stdout": PIPE, "stderr": PIPE, "preexec_fn": not_ignored}
    with Popen(command, cwd=PROJECT, env=settings, **more) as process:
        while not (tmp_path / "ids").exists() or len((tmp_path / "ids").read_text().split()) < 4:
            time.sleep(0.01)
        assert [*folder.iterdir()]
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=20) == (b"", b"")
    assert process.returncode == -signal.SIGINT and not [*folder.iterdir()]
    assert not (tmp_path / "a.py.txt").exists()
    check_ended(tmp_path / "ids", 4)


# ------------------------------------------------ what check says of it
def test_check_tells_the_notes_of_each_and_judges_what_stands_above(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pack_files(tmp_path / "all")
    pack_programs(tmp_path / "all")
    (tmp_path / "all" / "damaged.tgz").write_bytes(b"")
    texts = {f"out/{name}.txt": text for name, text in run_class(tmp_path)[2].items()}
    rights = {name: "8" * (OUTPUT.rstrip() in printed) for name, (printed, _) in texts.items()}
    status, out, err = call("check out/")
    assert (status, err) == (2, "")
    rows, _, by_hand = out.partition("Look at by hand:")
    pattern = r"^(?:(\d) of 8  |-       )(out/.*)\n((?: {8}.*\n)*)"
    told = {
        name: (right, " ".join(below.split()))
        for right, name, below in re.findall(pattern, rows, re.M)
    }
    assert {name: right for name, (right, _) in told.items()} == rights
    for name, (printed, notes) in texts.items():
        below = told[name][1]
        assert all(note in below for note in notes.split("; "))
        assert (below == "") == (printed == OUTPUT and not notes)
        assert "is read: Total" not in below and ("is empty" in below) == (printed == notes == "")
        assert "Error: " not in printed or printed.splitlines()[-1] in below
    odd = {name for name, (_, notes) in texts.items() if notes or not rights[name]}
    assert {row.strip() for row in by_hand.splitlines()[1:]} == odd
    for row in csv.DictReader(StringIO(call("check --csv out/")[1])):
        assert row["right"] == rights[row["file"]]
        assert all(note in row["notes"] for note in texts[row["file"]][1].split("; "))
