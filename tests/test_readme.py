"""README.md: its commands work, and what it shows is what comes out; the files that it names exist.
Each case runs alone, in a copy of the project."""

import doctest
import io
import re
import tarfile
from fnmatch import fnmatch

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("typst")

from program import PROJECT, copy_project, play, read_sessions, shell

README = (PROJECT / "README.md").read_text(encoding="utf-8")
TESTS_README = (PROJECT / "tests" / "README.md").read_text(encoding="utf-8")


def blocks(language, text=README):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


SCRIPTS = [block for block in blocks("sh") if block.startswith("for ")]
LINES = [
    line
    for block in blocks("sh") + blocks("sh", TESTS_README)
    if block not in SCRIPTS
    for line in block.splitlines()
]
INSTALLING = [line for line in LINES if "pip install" in line]  # is for people and for .ci/run
COMMANDS = [line for line in LINES if line not in INSTALLING and "tests" not in line]
SESSIONS = [session for block in blocks("console") for session in read_sessions(block)]
IGNORED = (PROJECT / ".gitignore").read_text(encoding="utf-8").splitlines()


@pytest.fixture
def copied(tmp_path):
    copy_project(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("command", "shown"), SESSIONS)
def test_what_it_shows_is_what_comes_out(copied, command, shown):
    printed = play(command, copied)
    # a line of three dots stands for any others
    assert doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS), printed


@pytest.mark.parametrize("command", COMMANDS)
def test_its_commands_work(copied, command):
    result = shell(command.replace(".venv/bin/python", "python3"), cwd=copied)
    assert (result.returncode, result.stderr) == (0, "")
    written = {path.name for path in copied.iterdir()} - {"lab3.py", "report"}
    # .gitignore has names or patterns for them, so this also holds in a folder without git
    assert [it for it in written if not any(fnmatch(f"/{it}", row) for row in IGNORED)] == []
    for packed in copied.glob("*.tar.gz"):
        with tarfile.open(packed) as archive:
            assert archive.getnames() == ["lab3.py"]


CODE = (PROJECT / "lab3.py").read_text(encoding="utf-8")
SUBMITTED = {
    "111_Right_Rae": CODE,
    "222_Wrong_Will": CODE.replace("return 2 * self.macs", "return self.macs"),
    "333_Crash_Cy": "print(latency)",
    "444_Slow_Sue": f"import time\n\ntime.sleep(9)\n{CODE}",
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_its_script_checks_the_tarballs_of_a_class(copied, script):
    folder = copied / "submissions"
    folder.mkdir()
    for student, code in SUBMITTED.items():
        packed = tarfile.TarInfo("lab3.py")
        packed.size = len(code.encode())
        with tarfile.open(folder / f"{student}_Lab3_pin1234.tar.gz", "w:gz") as archive:
            archive.addfile(packed, io.BytesIO(code.encode()))
    result = shell(script.replace("timeout 10", "timeout 2"), cwd=copied)
    assert result.returncode == 2  # two of these files cannot be judged
    table = result.stdout.partition("\n\n")[0].splitlines()
    rows = [row for row in table if row.startswith("submissions/")]
    assert [row.split("_Lab3")[0] for row in rows] == [f"submissions/{it}" for it in SUBMITTED]
    assert "8 of 8" in rows[0] and "4 of 8" in rows[1] and " of 8" not in rows[2] + rows[3]
    assert "1 MAC is 1 op" in result.stdout
    crashed = folder / "333_Crash_Cy_Lab3_pin1234.txt"
    assert "NameError: name 'latency' is not defined" in crashed.read_text(encoding="utf-8")


@pytest.mark.parametrize("block", blocks("python"))
def test_its_python_works(block):
    test = doctest.DocTestParser().get_doctest(block, {}, "README", "README.md", 0)
    assert test.examples
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_ci_runs_the_three_steps():
    testing = [line for line in INSTALLING if "pytest" in line]
    run = (PROJECT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    alone = testing[0].partition(" && ")[2].replace(".venv", '"$small"')
    assert len(testing) == 3 and {alone, *testing[1:]} <= {*run}


def test_every_file_that_a_text_names_exists():
    texts = [PROJECT / "README.md", PROJECT / ".ci" / "run"]
    for folder in ("report", "tests"):
        texts += [it for it in (PROJECT / folder).rglob("*") if it.suffix in (".py", ".md", ".typ")]
    named = {
        path
        for text in texts
        for path in re.findall(
            r"(?<![\w/.-])(?:tests|report)/[\w./-]*\w\*?", text.read_text("utf-8")
        )
    }
    assert [path for path in named if not any(PROJECT.glob(path))] == []
    assert len(named) > 10
