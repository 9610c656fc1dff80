"""The README's commands work, and what it shows is what comes out."""

import doctest
import os
import re
import shlex
import sys
import tarfile
from pathlib import Path

import pytest

from program import PLAIN, SCRIPT, run

PROJECT = SCRIPT.parent
README = (PROJECT / "README.md").read_text(encoding="utf-8")
TESTS_RUN_BY = "-m pytest --cov"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


SHELL_LINES = [
    re.split(r"\s{2,}#", line)[0].strip()
    for block in blocks("sh")
    for line in block.replace("\\\n", "").splitlines()
]


def shell(line, **options):
    """The line as a reader types it, in a plain shell whose Python is this one."""
    path = os.pathsep.join([str(Path(sys.executable).parent), PLAIN["PATH"]])
    words = re.sub(r"(?<!\S)(\.venv/bin/)?python3?(?!\S)", shlex.quote(sys.executable), line)
    options = {"cwd": PROJECT, "env": {**PLAIN, "PATH": path}, **options}
    return run("-c", words, command=["sh"], **options)


def shown_sessions():
    """(command, output) of each console block, where a block may hold several."""
    for block in blocks("console"):
        for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = session.partition("\n")
            yield pytest.param(command, printed, id=command)


@pytest.mark.parametrize(("command", "printed"), list(shown_sessions()))
def test_what_it_shows_is_what_comes_out(command, printed):
    result = shell(command)
    assert result.stdout + result.stderr == printed


# Those of the deck and of the tests take long, or write into the project.
EXAMPLE = re.compile(r"\S*python3? (lab3|report/plans)\.py")


@pytest.mark.parametrize("line", [line for line in SHELL_LINES if EXAMPLE.match(line)])
def test_its_examples_work(line):
    result = shell(line)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout


@pytest.mark.parametrize("block", blocks("python"))
def test_its_python_works(block):
    results = doctest.DocTestRunner(verbose=False)
    test = doctest.DocTestParser().get_doctest(block, {}, "README", "README.md", 0)
    assert test.examples
    results.run(test)
    assert results.summarize(verbose=False).failed == 0


def test_it_shows_output_commands_and_python():
    assert [blocks(language) for language in ("console", "sh", "python")].count([]) == 0


def test_ci_runs_its_test_command():
    (command,) = [line for line in SHELL_LINES if TESTS_RUN_BY in line]
    assert command in (PROJECT / ".ci" / "run").read_text().splitlines()


def test_the_submission(tmp_path):
    (command,) = [line for line in SHELL_LINES if line.startswith("tar ")]
    (tmp_path / "lab3.py").write_bytes(SCRIPT.read_bytes())
    assert shell(command, cwd=tmp_path).returncode == 0
    (packed,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        assert archive.getnames() == ["lab3.py"]
        assert archive.extractfile("lab3.py").read() == SCRIPT.read_bytes()


def test_every_path_that_it_names_exists():
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", README)
    paths = re.findall(r"(?<![\w/])(?:(?:tests|report)/[\w./-]*\w|lab3\.py)", README)
    assert len(paths) > 5
    assert [path for path in [*links, *paths] if not (PROJECT / path).exists()] == []
