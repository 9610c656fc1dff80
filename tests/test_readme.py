"""README.md: its commands work, and what it shows is what comes out; the files that it names exist.
Each case runs alone, in a copy of the project unless it tests lab3.py."""

import doctest
import io
import re
import tarfile
from fnmatch import fnmatch

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("typst")

from program import LAB3, PROJECT, copy_project, play, read_sessions, shell

README = (PROJECT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


[SCRIPT] = [block for block in blocks("sh") if "for " in block]
LINES = [line for block in blocks("sh") if block != SCRIPT for line in block.splitlines()]
INSTALLING = [line for line in LINES if "pip install" in line]  # is for people and for .ci/run
COMMANDS = [line for line in LINES if line not in INSTALLING]
SESSIONS = [session for block in blocks("console") for session in read_sessions(block)]
PYTHON = ".venv/bin/python"  # here it is the Python of the tests
IGNORED = (PROJECT / ".gitignore").read_text(encoding="utf-8").splitlines()


@pytest.fixture
def copied(tmp_path):
    copy_project(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("command", "shown"), SESSIONS)
def test_what_it_shows_is_what_comes_out(copied, command, shown):
    printed = play(command.replace(PYTHON, "python3"), copied)
    # a line of three dots stands for any others
    assert doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS), printed


@pytest.mark.parametrize("command", COMMANDS)
def test_its_commands_work(copied, command):
    folder = PROJECT if "pytest" in command else copied
    result = shell(command.replace(PYTHON, "python3"), cwd=folder)
    assert (result.returncode, result.stderr) == (0, "")
    written = {path.name for path in copied.iterdir()} - {"lab3.py", "report"}
    # .gitignore has names or patterns for them, so this also holds in a folder without git
    assert [it for it in written if not any(fnmatch(f"/{it}", row) for row in IGNORED)] == []
    for packed in copied.glob("*.tar.gz"):
        with tarfile.open(packed) as archive:
            assert archive.getnames() == ["lab3.py"]


WRONG = LAB3.replace("return 2 * self.macs", "return self.macs")
READING = f"assert open('data.txt').read() == 'data'\n{LAB3}"
OLD = {f"{folder}/old/lab3.py": WRONG for folder in "abdef"}
PRINTING = "while True: print('x' * 10**6)"
LAST, MISSING = "is 19333120 bytes", "lab3.py is missing"
SUBMITTED = {  # a tarball: its files, how much is right, and what is in the last row of its output
    "right.tar.gz": ({"lab3.py": LAB3}, ["8 of 8"], LAST),
    "a folder.tgz": ({"Lab 3/src/lab3.py": WRONG}, ["4 of 8"], LAST),
    "its own folder.tar": ({"Lab 3/lab3.py": READING, "Lab 3/data.txt": "data"}, ["8 of 8"], LAST),
    "six.tar.gz": ({**OLD, "c/lab3.py": LAB3}, ["8 of 8"], LAST),
    "macos.tgz": ({"__MACOSX/lab3.py": WRONG, "lab3.py/lab3.py": LAB3}, ["8 of 8"], LAST),
    "missing.tar": ({"__MACOSX/lab3.py": LAB3, "lab.py": LAB3}, [], MISSING),
    "damaged.tar.gz": ({"lab3.py": LAB3}, [], "tar: Error is not recoverable: exiting now"),
    "crash.tar.gz": ({"lab3.py": "print(latency)"}, [], "NameError: name 'latency'"),
    "endless.tar.gz": ({"lab3.py": PRINTING}, [], "xxx"),
    "asleep.tar.gz": ({"lab3.py": "import time\ntime.sleep(9)"}, [], "timeout: sending signal"),
}


def pack(folder, tarball, files):
    """Pack files as macOS does, with headers that other systems do not know."""
    mode = "w" if tarball.endswith(".tar") else "w:gz"
    with tarfile.open(folder / tarball, mode) as archive:
        for name, text in files.items():
            packed = tarfile.TarInfo(name)
            packed.size, packed.pax_headers = len(text.encode()), {"SCHILY.fflags": "hidden"}
            archive.addfile(packed, io.BytesIO(text.encode()))
    if tarball.startswith("damaged"):
        (folder / tarball).write_bytes((folder / tarball).read_bytes()[:-99])


def check_class(project):
    """Run the script; return for each tarball how much is right, and the output; then what the
    script did not run."""
    before = {*project.glob("class-*")}
    result = shell(SCRIPT.replace("-k 1 10", "-k 1 1"), cwd=project)
    [folder] = {*project.glob("class-*")} - before
    found = {}
    for path in folder.glob("*.txt"):
        row = next(row for row in result.stdout.splitlines() if f"{folder.name}/{path.name}" in row)
        found[path.stem] = re.findall("[1-8] of 8", row), path.read_text()
    return found, re.findall(f"^Not run, .*: {folder.name}/(.*)", result.stdout, re.MULTILINE)


def test_its_script_checks_the_tarballs_of_a_class_whenever_it_is_run(copied):
    (folder := copied / "submissions").mkdir()
    for tarball, (files, _, _) in SUBMITTED.items():
        pack(folder, tarball, files)
    found, not_run = check_class(copied)
    assert {*found} == {*SUBMITTED} and found["right.tar.gz"][1] == shell("python3 lab3.py").stdout
    for tarball, (_, verdict, last) in SUBMITTED.items():
        assert found[tarball][0] == verdict and last in found[tarball][1].splitlines()[-1]
    assert not_run == [f"six.tar.gz/{folder}/old" for folder in "abdef"]
    assert 10**6 < len(found["endless.tar.gz"][1]) <= 10**7
    # one is taken back, and in another the program is wrong, and elsewhere
    (folder / "asleep.tar.gz").unlink()
    pack(folder, "right.tar.gz", {"src/lab3.py": WRONG})
    again, _ = check_class(copied)
    assert {*again} == {*SUBMITTED} - {"asleep.tar.gz"} and again["right.tar.gz"][0] == ["4 of 8"]
    assert {"/submissions/", "/class-*/"} <= {*IGNORED}


@pytest.mark.parametrize("block", blocks("python"))
def test_its_python_works(block):
    test = doctest.DocTestParser().get_doctest(block, {}, "README", "README.md", 0)
    assert test.examples
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_ci_runs_its_tests():
    [testing] = [line for line in INSTALLING if "pytest" in line]
    assert testing in (PROJECT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_every_file_that_a_text_names_exists():
    texts = [PROJECT / "README.md", PROJECT / ".ci" / "run"]
    for folder in ("report", "tests"):
        texts += [it for it in (PROJECT / folder).rglob("*") if it.suffix in (".py", ".md", ".typ")]
    path = re.compile(r"(?<![\w/.-])(?:tests|report)/[\w./-]*\w\*?")
    named = {it for text in texts for it in path.findall(text.read_text(encoding="utf-8"))}
    assert [path for path in named if not any(PROJECT.glob(path))] == []
