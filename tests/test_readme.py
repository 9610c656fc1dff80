"""README.md: its commands work, and what it shows is what comes out; the files that it names exist.
Each case runs alone, in a copy of the project unless it tests lab3.py."""

import doctest
import re
import tarfile
from fnmatch import fnmatch

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("typst")

from program import CHECKOUT, IN_CHECKOUT, LAB3, copy_project, edit, play, read_sessions, shell

README = (CHECKOUT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


CLASS = ["python3 report run submissions/ --output outputs/", "python3 report check outputs/"]
LINES = [line for block in blocks("sh") for line in block.splitlines()]
INSTALLING = [line for line in LINES if "pip install" in line]  # is for people and for .ci/run
COMMANDS = [line for line in LINES if line not in INSTALLING and line not in CLASS]
SESSIONS = [session for block in blocks("console") for session in read_sessions(block)]
PYTHON = ".venv/bin/python"  # here it is the Python of the tests
IGNORED = (CHECKOUT / ".gitignore").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(("command", "shown"), SESSIONS)
def test_what_it_shows_is_what_comes_out(tmp_path, command, shown):
    copied = copy_project(tmp_path)
    (copied / "lab3.py").write_text(IN_CHECKOUT, encoding="utf-8")
    printed = play(command.replace(PYTHON, "python3"), copied, is_own=True)
    # a line of three dots stands for any others
    assert doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS), printed


@pytest.mark.parametrize("command", COMMANDS)
def test_its_commands_work(tmp_path, command):
    folder = copied = copy_project(tmp_path)
    if command.startswith("pytest"):  # these tests run anyway
        command, folder = f"{command} --collect-only", CHECKOUT
    result = shell(command.replace(PYTHON, "python3"), cwd=folder)
    assert (result.returncode, result.stderr) == (0, "")
    written = {path.name for path in copied.iterdir()} - {"lab3.py", "report"}
    # .gitignore has names or patterns for them, so this also holds in a folder without git
    assert [name for name in written if not any(fnmatch(f"/{name}", row) for row in IGNORED)] == []
    for packed in copied.glob("*.tar.gz"):
        with tarfile.open(packed) as archive:
            assert archive.getnames() == ["lab3.py"]


def test_its_two_lines_check_a_class(tmp_path):
    copied = copy_project(tmp_path)
    (copied / "submissions" / "b").mkdir(parents=True)
    wrong = edit(LAB3, "return 2 * self.macs", "return self.macs")
    for name, program in {"a.py": LAB3, "b/lab3.py": wrong}.items():
        (copied / "submissions" / name).write_text(program, encoding="utf-8")
    assert set(CLASS) < {*LINES} and {"/submissions/", "/outputs/"} < {*IGNORED}
    assert shell(CLASS[0], cwd=copied).returncode == 0
    checked = shell(CLASS[1], cwd=copied)
    assert checked.returncode == 1 and checked.stderr == ""
    verdicts = re.findall(r"(\d of 8) +(\w)", checked.stdout)
    assert verdicts[:2] == [("8 of 8", "a"), ("4 of 8", "b")]


def test_ci_runs_its_tests():
    [testing] = [line for line in INSTALLING if "pytest" in line]
    assert testing in (CHECKOUT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_every_file_that_a_text_names_exists():
    texts = [CHECKOUT / "README.md", CHECKOUT / ".ci" / "run"]
    for pattern in ("report/**/*.py", "report/**/*.typ", "tests/**/*.py", "tests/**/*.md"):
        texts += CHECKOUT.glob(pattern)
    path = re.compile(r"(?<![\w/.-])(?:tests|report)/[\w./-]*\w\*?")
    named = {name for text in texts for name in path.findall(text.read_text(encoding="utf-8"))}
    assert [path for path in named if not any(CHECKOUT.glob(path))] == []
