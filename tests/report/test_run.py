"""`python3 report run`: what is handed in is unpacked and run, and nothing of it vanishes."""

import csv
import os
import re
import signal
import sys
import tarfile
import time
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import BytesIO, StringIO
from pathlib import Path
from shutil import which
from stat import S_IFLNK
from subprocess import PIPE, Popen
from zipfile import ZipFile, ZipInfo

import pytest

from program import PLAIN, PROJECT, call, sentence, shell
from report.__main__ import main
from report.run import LIMIT, MOST_FILES, MOST_PRINTED, MOST_SECONDS, MOST_UNPACKED, run_submission
from submissions import OUTPUT

RIGHT, WRONG = f"print({OUTPUT!r}, end='')\n", "print('wrong')\n"
SLEEP = "import os, signal, time\nsignal.signal(15, signal.SIG_IGN)\ntime.sleep(20)\n"
START = "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {!r}]{})\n"
MARK = "import os, time\ntime.sleep({})\nopen('MARKS/{}', 'w')\n"
CHILD = START.format(MARK.format(0, "started") + MARK.format(2, "survived"), "")
DAEMON = START.format("import time\ntime.sleep(9)", ", start_new_session=True")


def pack(files, kind="gz"):
    """Pack texts and bytes by name as .zip, .tar or a compressed .tar; a list is a link."""
    packed, is_zip = BytesIO(), kind == "zip"
    with ZipFile(packed, "w") if is_zip else tarfile.open(None, f"w:{kind}", packed) as archive:
        for name, content in files.items():
            link = content[0] if isinstance(content, list) else ""
            data = content.encode() if isinstance(content, str) else link or content
            if is_zip:
                (member := ZipInfo()).filename = name  # keeps backslashes
                member.external_attr = (S_IFLNK if link else 0) << 16
                archive.writestr(member, data)
            else:
                member = tarfile.TarInfo(name)
                member.type, member.linkname = (tarfile.SYMTYPE if link else tarfile.REGTYPE), link
                member.size = 0 if link else len(data)
                archive.addfile(member, None if link else BytesIO(data))
    return packed.getvalue()


# ------------------------------------------------ a class, and what `check` says of it
BOTH, ONE_LEFT = "there are 2 lab3.py that differ, ", "1 name left out, such as "
NOT_RUN, MISSING = "was not run: ", "lab3.py is missing, "
NO_LAB3, NO_ARCHIVE = "programs, none called lab3.py", "is not a .tar, .zip, program or folder"
STOPPED, MANY = "stopped after 1 s", "printed more than 900,000 bytes"
LIMITS = MOST_SECONDS, MOST_PRINTED, MOST_FILES, MOST_UNPACKED
FAILED, ENCODING = "ended with status 1: ", {"LC_ALL": "C", "PYTHONUTF8": "0"}
LAB3, LAB3_UP = {"lab3.py": RIGHT}, {"lab3.py": RIGHT, "a/../../lab3.py": WRONG}
NESTED = {"a/lab.tar.gz": pack(LAB3), "a/b.pdf": "", "a/b.docx": pack({}, "zip")}
ARCHIVES = (".tar", ".gz", ".tgz", ".bz2", ".xz", ".zip")
LINKS = {"a/b.py": f"{RIGHT}exit(1)", "lab3.py": ["a/b.py"], "c": ["../../c"], "d": ["/d"]}
LINKED = f"3 names left out, such as 'lab3.py'; {MISSING}'a/b.py' was run; {FAILED[:-2]}"
NAMES = ["a b .tgz  ", "it's; x.tgz", '"$(x)`y`.tgz', "-.tgz", "\x1b[31m\a.tgz", "\u202e\n.tgz"]
NAMES += ["\udcff.tgz", "\u00e9.tgz", "x" * 247 + ".tgz"] if sys.platform == "linux" else []
FOUND = {  # a submission, or a file in a folder: its content, notes; it prints OUTPUT
    **{name: (pack(LAB3), "") for name in NAMES},
    "data.tar": (pack({"a/lab3.py": "print(end=open('c').read())", "a/c": OUTPUT}, ""), ""),
    "zip.tar": (pack({"PK/lab3.py": RIGHT, "z": pack({"lab3.py": WRONG}, "zip")}, ""), ""),
    "a.zip": (pack({"a/b/Lab3.py": RIGHT, "__MACOSX/lab3.py": WRONG}, "zip"), ""),
    "a zip.tar.gz": (pack(LAB3, "zip"), ""),
    "mac.tgz": (pack({"._lab3.py": "", "a.py/._lab3.py": "", "a.py/lab3.py": RIGHT}), ""),
    "blanks.zip": (pack({" a /lab3.py ": RIGHT, " a /b.zip": WRONG}, "zip"), ""),
    "equal.tgz": (pack({"lab3.py": RIGHT, "old/lab3.py": RIGHT, "my_lab3.py": ""}), ""),
    "tie.tgz": (pack({"b/lab3.py": WRONG, "a/lab3.py": RIGHT}), f"{BOTH}'a/lab3.py' was run"),
    "odd.tgz": (pack({"b\x1b\n/lab3.py": RIGHT, "a/b/lab3.py": ""}), f"{BOTH}'b\\x1b\\n/lab3.py'"),
    "other.tgz": (pack({"a/my lab.py": RIGHT, "._b.py": ""}), f"{MISSING}'a/my lab.py' was run"),
    "folder/b/lab3.py": (RIGHT.encode(), f"{ONE_LEFT}'pipe'"),
    **{f"in{kind}.zip": (pack({f"a{kind}": pack(LAB3)}, "zip"), "") for kind in ARCHIVES},
    "twice.zip": (pack(NESTED, "zip"), ""),
    "a.PY ": (RIGHT.encode(), ""),
    **{f"links.{kind}": (pack(LINKS, kind), LINKED) for kind in ("gz", "zip")},
    "back.zip": (pack({"a\\": "", "a\\lab3.py": RIGHT, "a\\b.py": WRONG}, "zip"), ""),
    "up.tgz": (pack(LAB3_UP), f"{ONE_LEFT}'a/../../lab3.py'"),
}
HALVED = {kind: pack({**LAB3, "b\n": os.urandom(9000)}, kind) for kind in ("", "gz", "xz", "zip")}
LOCKED = pack({f"{'x' * 99}/lab3.py": RIGHT}, "zip").replace(b"\x14\0\0", b"\x14\0\1")  # its flags
NOT_FOUND = {  # a submission, or a file in a folder: its content, notes; it prints nothing
    **{f"half.{kind}": (data[: len(data) // 2], NOT_RUN) for kind, data in HALVED.items()},
    "others.tgz": (pack({"b.py": RIGHT, "a.py": RIGHT, "c": ""}), f"{NOT_RUN}it has 2 {NO_LAB3}"),
    "none/data": (b"", f"{NOT_RUN}it has 0 {NO_LAB3}"),
    "root.tgz": (pack({"/lab3.py": RIGHT}), f"{ONE_LEFT}'/lab3.py'"),
    "linked/lab3.py": (str(PROJECT / "lab3.py"), f"{ONE_LEFT}'lab3.py'"),
    "linked.py": (str(PROJECT / "lab3.py"), f"{NOT_RUN}it is a link or a pipe"),
    "lock.zip": (LOCKED, f"{NOT_RUN}it is encrypted"),
    "deep.zip": (pack({"a.zip": pack({"b.zip": pack(LAB3)})}), f"{NOT_RUN}it has 0 {NO_LAB3}"),
    "empty.tgz": (b"", f"{NOT_RUN}'empty.tgz' {NO_ARCHIVE}"),
    "twice.tgz": (pack({"a.zip": b"PK"}), f"{NOT_RUN}'a.zip' {NO_ARCHIVE}"),
    "flip.zip": (pack({"\u00e9 " * 50: "a"}, "zip").replace(b"a", b"b", 1), f"{NOT_RUN}Bad CRC-32"),
    "long.tgz": (pack({**LAB3, "x" * 256: ""}), f"{NOT_RUN}File name too long"),
}
CRASH = f"print({OUTPUT[:-1]!r}, end='')\nimport os\nos.kill(os.getpid(), 11)"
UTF_16 = f"import sys\nsys.stdout.buffer.write({OUTPUT!r}.encode('utf-16'))\nsys.stdout.flush()\n"
VARIABLES = ["LD_LIBRARY_PATH", "LANG", "MPLBACKEND", "OMP_NUM_THREADS", "PYTHONUSERBASE", "TMPDIR"]
PROGRAMS = {  # a program: how its output ends, notes
    "import time\ntime.sleep(1.5)\nprint(1)\nwhile True: pass": ("", STOPPED),
    f"{RIGHT}while True: print('x' * 99)": ("x\n", MANY),
    f"print('x' * (899_999 - {len(OUTPUT)}))\n{RIGHT}": (f"x\n{OUTPUT}", ""),
    f"print('x' * (900_000 - {len(OUTPUT)}))\n{RIGHT}": (f"x\n{OUTPUT}", MANY),
    CRASH: (OUTPUT, "ended by signal 11 (Segmentation fault"),
    f"{RIGHT}raise SystemExit(3)": (OUTPUT, "ended with status 3"),
    f"{RIGHT}print(x)": (OUTPUT, f"{FAILED}NameError: name 'x' is not defined"),
    f"{RIGHT}import os\nos.system('echo a >/dev/stderr')\nopen('/dev/stdout', 'w')": (OUTPUT, ""),
    f"import os\n{RIGHT}[os.environ[name] for name in {VARIABLES}]": (OUTPUT, ""),
    f"import os\n{RIGHT}'' in os.environ['TOKEN']": (OUTPUT, f"{FAILED}KeyError: 'TOKEN'"),
    f"{UTF_16}{SLEEP}": (OUTPUT, STOPPED),
    UTF_16.replace("'-", r"'\ufeff-").replace("-16'", "-16-be'"): (OUTPUT, ""),
    "": ("", ""),
    f"{CHILD}{RIGHT}": (OUTPUT, ""),
    f"{CHILD}{RIGHT}{SLEEP}": (OUTPUT, STOPPED),
    f"{DAEMON}{RIGHT}": (OUTPUT, ""),
    f"import sys\n{WRONG}print(1, file=sys.stderr)\n{RIGHT}": (f"wrong\n{OUTPUT}", ""),
    "import sys\nsys.stdout.write(chr(181))": ("\u00b5", ""),
}
CLASS = {  # a submission, or a file in a folder: its content, how its output ends, notes
    **{name: (content, OUTPUT, notes) for name, (content, notes) in FOUND.items()},
    **{name: (content, "", notes) for name, (content, notes) in NOT_FOUND.items()},
    **{f"{number}.py": (text.encode(), *PROGRAMS[text]) for number, text in enumerate(PROGRAMS)},
}


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """A program runs for a second, not in UTF-8 by itself; no temporary folder is left."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "tmp").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("report.run.MOST_SECONDS", 1)
        patch.setattr("tempfile.tempdir", f"{folder}/tmp")
        patch.delenv("PYTHONUNBUFFERED", raising=False)
        for name, value in {"TOKEN": "secret", "LD_LIBRARY_PATH": "/x", **ENCODING}.items():
            patch.setenv(name, value)
        yield folder
    time.sleep(2)  # until a survivor leaves its mark
    assert [*(folder / "tmp").iterdir()] == [] and not (folder / "survived").exists()


@pytest.fixture(scope="module")
def judged(folder):
    """For each submission its text, and what `check` tells of it."""
    for name, (content, _, _) in {**CLASS, ".hidden": (b"", "", "")}.items():
        (path := folder / "all" / name).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.symlink_to(content)
        else:
            path.write_bytes(content.replace(b"MARKS", os.fsencode(folder)))
    os.mkfifo(folder / "all" / "folder" / "pipe")
    start = time.monotonic()
    status, out, err = call(["run", f"{folder}/all", "--output", f"{folder}/out"])
    assert time.monotonic() - start < 30 and (folder / "started").exists()
    noted = sum(notes != "" for *_, notes in CLASS.values())
    ran = f"{len(CLASS) - len(NOT_FOUND)} of {len(CLASS)} ran, notes on {noted};"
    assert (status, err) == (1, "") and out.startswith(ran)
    with chdir(folder):
        told = csv.DictReader(StringIO(call("check --csv out/")[1]))
    paths = sorted((folder / "out").iterdir())
    return {it.stem: (it.read_text("utf-8"), row) for it, row in zip(paths, told, strict=True)}


def split_notes(text):
    """Split what a program printed from the notes behind it, each in a row of its own."""
    printed, *notes = re.split("^report run: ", text, flags=re.MULTILINE)
    assert all(note.find("\n") == len(note) - 1 for note in notes)
    return printed, "; ".join(note[:-1] for note in notes)


@pytest.mark.parametrize("name", CLASS, ids=ascii)
def test_a_text_has_what_is_printed_and_notes_which_check_tells(judged, name):
    text, row = judged[name.partition("/")[0]]
    printed, notes = split_notes(text)
    _, end, start = CLASS[name]
    assert printed.endswith(end) and bool(printed) == bool(end) and len(printed) <= 900_001
    assert name not in FOUND or printed == OUTPUT
    assert notes.startswith(start) and bool(notes) == bool(start)
    assert notes.isascii() and (notes == "" or notes.isprintable()) and len(notes) < 150
    assert row["right"] == "8" * (OUTPUT.rstrip() in printed)
    assert notes in row["notes"] and ("is empty" in row["notes"]) == (text == "")
    assert (row["format"] == "right") == (printed == OUTPUT)
    assert row["by hand"] == ("yes" if notes or not row["right"] else "no")


@pytest.mark.parametrize("kind", ["", "gz", "bz2", "zip"])
def test_what_is_too_large_is_not_unpacked(tmp_path, monkeypatch, kind):
    """An archive in an archive counts, and what is in it, too."""
    inner = pack({"lab3.py": RIGHT, "a": "", "b": "x"}, kind)
    (tmp_path / "a").write_bytes(pack({"a.zip": inner}, kind))
    size = len(inner) + len(RIGHT) + 1
    for number, limits in enumerate([(size - 1, 4), (size, 3), (size, 4)]):
        for limit, most in zip(("MOST_UNPACKED", "MOST_FILES"), limits, strict=True):
            monkeypatch.setattr(f"report.run.{limit}", most)
        out = tmp_path / f"{number}"
        status, told, _ = call(f"run {tmp_path}/a --output {out}")
        assert status == (number < 2) and "is one submission" not in told
        too_large = f"report run: {NOT_RUN}it has more than "
        assert (out / "a.txt").read_text().startswith(too_large if number < 2 else OUTPUT)


@pytest.mark.parametrize("shell", [*filter(None, map(which, ("sh", "dash")))])
def test_limits_are_what_help_says_whatever_the_shell(tmp_path, monkeypatch, shell):
    told = re.search(r"At most .*unpacked. No sandbox: a", call("run --help")[1], re.DOTALL)[0]
    numbers = [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?= )", told)]
    seconds, printed, file_mb, memory_gb, files, unpacked_mb = numbers
    assert (seconds, printed, files, unpacked_mb * 10**6) == LIMITS
    monkeypatch.setattr("report.run.LIMIT", [shell, *LIMIT[1:]])
    kinds = "(resource.RLIMIT_FSIZE, resource.RLIMIT_AS)"
    text = f"import resource\nfor kind in {kinds}: print(resource.getrlimit(kind)[0])"
    _, (printed, _) = run_class(tmp_path, {"a.py": text}).popitem()
    file_bytes, memory_bytes = map(int, printed.split())
    assert 0.9 < file_bytes / (file_mb * 10**6) <= 1
    assert 0.9 < memory_bytes / (memory_gb * 10**9) <= 1


# ------------------------------------------------ a folder, and what stands in a text's way
def run_class(folder, files):
    """Run files as a class. Return what each text has: printed, and notes."""
    for name, content in files.items():
        (path := folder / "all" / name).parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    status, out, err = call(["run", f"{folder}/all", "--output", f"{folder}/out"])
    assert (status, err) == (0, "")
    assert ("is one submission" in out) == (folder / "out/all.txt").exists()
    texts = {path.name: split_notes(path.read_text()) for path in (folder / "out").iterdir()}
    noted = sum(notes != "" for _, notes in texts.values())
    assert f"{len(texts)} of {len(texts)} ran, notes on {noted};" in out
    return texts


@pytest.mark.parametrize(
    ("files", "names"),
    [
        ({"Lab3.py": "import b.c\n", "b/c.py": RIGHT, "notes.pdf": "%PDF"}, ["all.txt"]),
        ({"lab3.py": RIGHT, "b.zip": pack(LAB3)}, ["b.zip.txt", "lab3.py.txt"]),
    ],
)
def test_a_folder_with_a_lab3_py_and_no_archive_is_one_submission(tmp_path, files, names):
    assert run_class(tmp_path, files) == dict.fromkeys(names, (OUTPUT, ""))


@pytest.mark.parametrize("way", ["mkdir({!r})", "symlink('/dev/null', {!r})", "mkfifo({!r})"])
def test_what_another_submission_put_in_a_texts_place_is_replaced(tmp_path, way):
    text = f"import os\nos.{way.format(f'{tmp_path}/out/b.py.txt')}\n{RIGHT}"
    texts = run_class(tmp_path, {"a.py": text, "b.py": RIGHT, "c.py": RIGHT})
    printed, notes = texts.pop("b.py.txt")
    assert printed == OUTPUT and notes.endswith("was replaced")
    assert texts == dict.fromkeys(["a.py.txt", "c.py.txt"], (OUTPUT, ""))


def test_a_full_disk_is_named_and_keeps_what_is_written(tmp_path):
    """A limit of a file's size stands for it."""
    for name, printed in {"a.py": "a", "b.py": "b" * 2000, "c.py": "c"}.items():
        (tmp_path / name).write_text(f"print({printed[0]!r} * {len(printed)})")
    command = f"python3 report run {tmp_path}/[abc].py --output {tmp_path}/out"
    result = shell(f"ulimit -f 1; {command}")
    assert result.returncode == 1 and "b.py.txt': File too large" in sentence(result.stderr)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.py.txt"]


# ------------------------------------------------ how the command ends
LONG = f"long/{'x' * 249}.py"


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("all", "--output"),
        ("--output new", "FILE"),
        ("missing --output new", "missing does not exist or"),
        ("empty --output new", "empty has no submission"),
        ("all other/A.py --output new", "called 'a.py'"),
        ("other/A.py all --output new", "called 'a.py'"),
        ("long --output new", "'... is too long"),
        ("all --output old", "'a.py.txt'"),
        ("all --output ''", "cannot write: No such file"),
        ("all --output all/a.py", "cannot write 'all/a.py': File exists"),
    ],
)
def test_submissions_or_outputs_that_cannot_be_are_refused(tmp_path, monkeypatch, words, named):
    monkeypatch.chdir(tmp_path)
    for name in ("all/a.py", "other/A.py", "old/a.py.txt", "empty/.hidden", LONG):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(RIGHT)
    status, out, err = call(f"run {words}")
    assert (status, out) == (1 if "cannot write" in named else 2, "") and named in sentence(err)
    assert not [*tmp_path.glob("new/*")] and len([*(tmp_path / "old").iterdir()]) == 1


def test_a_terminal_shows_which_submission_runs(tmp_path, monkeypatch):
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(RIGHT)
    monkeypatch.setattr(terminal := StringIO(), "isatty", lambda: True)
    with redirect_stdout(StringIO()), redirect_stderr(terminal):
        assert main(["run", str(tmp_path), "--output", f"{tmp_path}/out"]) == 0
    first, *rest = terminal.getvalue().splitlines()
    assert "No sandbox" in first and rest == ["1 of 2: 'a.py'", "2 of 2: 'b.py'"]


def test_a_folder_that_cannot_be_removed_stops_nothing(tmp_path, monkeypatch):
    (tmp_path / "a.py").write_text(RIGHT)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("os.rmdir", lambda *_, **__: os.listdir(os.devnull))  # fails
    assert run_submission(tmp_path / "a.py") == (OUTPUT.encode(), [], True)


PYTHONS = sorted(Path(sys.base_prefix).parent.glob("3.1[0-9].*/bin/python"))


@pytest.mark.parametrize("interpreter", [sys.executable, *map(str, PYTHONS)])
def test_the_command_itself_does_the_same_on_every_python(tmp_path, interpreter):
    """And nothing can be typed, though somebody types."""
    (tmp_path / "all").mkdir()
    for name in ("a.tar.gz", "b.zip"):
        text = "import sys\nprint(sys.version, len(sys.stdin.read()))"
        files = {"x/lab3.py": text, "old/a/lab3.py": RIGHT}
        (tmp_path / "all" / name).write_bytes(pack(files, name[-3:].strip(".")))
    command = f"{interpreter} report run {tmp_path}/all --output {tmp_path}/out"
    assert shell(command, input="5\n").returncode == 0
    version = shell(f"{interpreter} -c 'import sys; print(sys.version, 0)'").stdout
    texts = [split_notes(path.read_text()) for path in (tmp_path / "out").glob("*.txt")]
    assert texts == [(version, f"{BOTH}'x/lab3.py' was run")] * 2


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_ends_what_runs_and_leaves_no_folder(folder, tmp_path, number):
    (tmp_path / "a.py").write_text((CHILD + SLEEP).replace("MARKS", str(folder)))
    (folder / "started").unlink(missing_ok=True)
    (temporary := tmp_path / "tmp").mkdir()
    command = [sys.executable, "-B", "report", "run", tmp_path / "a.py", "--output", tmp_path]
    settings = {"cwd": PROJECT, "env": {**PLAIN, "TMPDIR": str(temporary)}}
    settings["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    with Popen(command, stdout=PIPE, stderr=PIPE, **settings) as process:
        while not (folder / "started").exists():
            time.sleep(0.01)
        assert [*temporary.iterdir()]
        process.send_signal(number)
        assert process.communicate(timeout=20) == (b"", b"")
    assert process.returncode == -signal.SIGINT and not [*temporary.iterdir()]
    assert not (tmp_path / "a.py.txt").exists()
