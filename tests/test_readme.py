"""README.md: its commands work, and what it shows is what comes out; the files that it names exist.
Each case runs alone, in a copy of the project."""

import doctest
import re
import shutil
import tarfile

import pytest

from program import PROJECT, shell

README = (PROJECT / "README.md").read_text(encoding="utf-8")
TESTS_README = (PROJECT / "tests" / "README.md").read_text(encoding="utf-8")


def blocks(language, text=README):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


LINES = "".join(blocks("sh") + blocks("sh", TESTS_README)).splitlines()
INSTALLING = [line for line in LINES if "pip install" in line]  # is for people and for .ci/run
COMMANDS = [line for line in LINES if line not in INSTALLING and "tests" not in line]
SESSIONS = [  # a command and what it prints, of which a block may hold several
    session.split("\n", 1)
    for block in blocks("console")
    for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
]


@pytest.fixture
def copied(tmp_path):
    """The project, where what the commands write does not stay in it."""
    shutil.copytree(PROJECT / "report", tmp_path / "report")
    shutil.copy2(PROJECT / "lab3.py", tmp_path)
    return tmp_path


@pytest.mark.parametrize(("command", "shown"), SESSIONS)
def test_what_it_shows_is_what_comes_out(command, shown):
    result = shell(command)
    printed = result.stdout + result.stderr
    # a line of three dots stands for any others
    assert doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS), printed


@pytest.mark.parametrize("command", COMMANDS)
def test_its_commands_work(copied, command):
    result = shell(command.replace(".venv/bin/python", "python3"), cwd=copied)
    assert (result.returncode, result.stderr) == (0, "")
    written = {path.name for path in copied.iterdir()} - {"lab3.py", "report"}
    assert {*shell(f"git check-ignore . {' '.join(written)}").stdout.split()} == written
    for packed in copied.glob("*.tar.gz"):
        with tarfile.open(packed) as archive:
            assert archive.getnames() == ["lab3.py"]


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
