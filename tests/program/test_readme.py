"""The README's commands work, and what it shows is what comes out."""

import doctest
import os
import re
import shutil
import sys
import tarfile
from pathlib import Path

import pytest

from program import PLAIN, PROJECT, run

README = (PROJECT / "README.md").read_text(encoding="utf-8")
CI = (PROJECT / ".ci" / "run").read_text(encoding="utf-8")
LASTING = re.compile(
    "pip install|pytest|tests/tools|build[.]py"
)  # long, or writing into the project


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


COMMANDS = [
    re.split(r"\s{2,}#", line)[0].strip()
    for block in blocks("sh")
    for line in block.replace("\\\n", "").splitlines()
]
SESSIONS = [  # a command and what it prints, of which a block may hold several
    session.split("\n", 1)
    for block in blocks("console")
    for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The project, where what the commands write does not stay in it."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(PROJECT / "report", folder / "report")
    shutil.copy2(PROJECT / "lab3.py", folder)
    return folder


def shell(command, folder):
    """The command as a reader types it, where python3 is this Python."""
    path = os.pathsep.join([str(Path(sys.executable).parent), PLAIN["PATH"]])
    command = command.replace(".venv/bin/python", "python3")
    return run("sh", "-c", command, cwd=folder, env={**PLAIN, "PATH": path})


@pytest.mark.parametrize(("command", "shown"), SESSIONS)
def test_what_it_shows_is_what_comes_out(folder, command, shown):
    result = shell(command, folder)
    printed = result.stdout + result.stderr
    # a line of three dots stands for any others
    assert doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS), printed


@pytest.mark.parametrize("command", [line for line in COMMANDS if not LASTING.search(line)])
def test_its_commands_work(folder, command):
    result = shell(command, folder)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("block", blocks("python"))
def test_its_python_works(block):
    test = doctest.DocTestParser().get_doctest(block, {}, "README", "README.md", 0)
    assert test.examples
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_ci_runs_its_test_command():
    (command,) = [line for line in COMMANDS if "-m pytest --cov" in line]
    assert command in CI.splitlines()


def test_the_submission(folder):
    (command,) = [line for line in COMMANDS if line.startswith("tar ")]
    assert shell(command, folder).returncode == 0
    (packed,) = folder.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        assert archive.getnames() == ["lab3.py"]
        submitted = archive.extractfile("lab3.py").read()
    assert submitted == (PROJECT / "lab3.py").read_bytes()


def test_every_path_that_it_names_exists():
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", README)
    paths = re.findall(r"(?<![\w/])(?:(?:tests|report)/[\w./-]*\w|lab3\.py)", README)
    assert len(paths) > 5
    assert [path for path in [*links, *paths] if not (PROJECT / path).exists()] == []
