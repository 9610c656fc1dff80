"""README.md: its commands work, and what it shows is what comes out; the files that it names exist.
Each case runs alone, in a copy of the project."""

import doctest
import io
import re
import tarfile
from fnmatch import fnmatch
from fractions import Fraction

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("typst")

import machines
from program import LAB3, PROJECT, copy_project, play, read_sessions, shell

README = (PROJECT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


SCRIPTS = [block for block in blocks("sh") if block.startswith("for ")]
LINES = [line for block in blocks("sh") if block not in SCRIPTS for line in block.splitlines()]
INSTALLING = [line for line in LINES if "pip install" in line]  # is for people and for .ci/run
COMMANDS = [line for line in LINES if line not in INSTALLING]
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


# ------------------------------------------------ a class

WRONG = LAB3.replace("return 2 * self.macs", "return self.macs")
MACOS = {"._lab3.py": "\0", "__MACOSX/._lab3.py": "\0"}
SUBMITTED = {  # how it is packed, its files, and what is in the last row of its output
    "111_Right_Rae": ("w:gz", {"lab3.py": LAB3}, "19333120 bytes"),
    "222_Wrong_Will": ("w", {**MACOS, "Lab 3/src/lab3.py": WRONG}, "19333120 bytes"),
    "333_Crash_Cy": ("w:gz", {"lab3.py": "print(latency)"}, "NameError: name 'latency'"),
    "444_Slow_Sue": ("w:gz", {"lab3.py": "import time\ntime.sleep(9)"}, "timeout: sending signal"),
    "555_Other_Ole": ("w:gz", {**MACOS, "lab.py": LAB3}, "lab3.py is missing"),
}


def pack(tarball, mode, files):
    with tarfile.open(tarball, mode) as archive:
        for name, text in files.items():
            packed = tarfile.TarInfo(name)
            packed.size = len(text.encode())
            archive.addfile(packed, io.BytesIO(text.encode()))


@pytest.mark.parametrize("script", SCRIPTS)
def test_its_script_checks_the_tarballs_of_a_class(copied, script):
    folder = copied / "submissions"
    folder.mkdir()
    for student, (mode, files, _) in SUBMITTED.items():
        pack(folder / f"{student}_Lab3_pin1234.tar.gz", mode, files)
    result = shell(script.replace("timeout -v 10", "timeout -v 2"), cwd=copied)
    assert result.returncode == 2  # three of these files cannot be judged
    lines = result.stdout.splitlines()
    rows = [next(line for line in lines if student in line) for student in SUBMITTED]
    judged = [re.findall(r"[1-8] of 8", row) for row in rows]
    assert judged == [["8 of 8"], ["4 of 8"], [], [], []]
    assert "1 MAC is 1 op" in result.stdout
    for student, (_, _, why) in SUBMITTED.items():
        printed = (folder / f"{student}_Lab3_pin1234.txt").read_text(encoding="utf-8")
        assert why in printed.splitlines()[-1]
    assert "/submissions/" in IGNORED


# ------------------------------------------------ its Python, its figures, its files


@pytest.mark.parametrize("block", blocks("python"))
def test_its_python_works(block):
    test = doctest.DocTestParser().get_doctest(block, {}, "README", "README.md", 0)
    assert test.examples
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def evaluate(formula):
    """Compute "3 nodes * 57,600 bytes / 2,000 bytes/us" exactly."""
    plain = re.sub(r"\b[a-z]+(/[a-z]+)?|,", "", formula)
    return eval(re.sub(r"[\d.]+", r"Fraction('\g<0>')", plain), {"Fraction": Fraction})


def test_its_figures_were_worked_out_by_hand():
    text = re.sub(r"^```.*?^```$|`.*?`", "", README, flags=re.DOTALL | re.MULTILINE)
    equations = re.findall(r"^    \w+ +(.+) = (.+)$", text, re.MULTILINE)
    assert equations and all(evaluate(left) == evaluate(right) for left, right in equations)
    latency_s, traffic_bytes, *_ = machines.LAB_NUMBERS[1]
    results = [evaluate(right) for _, right in equations]
    assert (results[0], results[-1]) == (traffic_bytes, Fraction(latency_s) * 10**6)
    steps = machines.LAB_TENSOR_STEPS + machines.LAB_PIPELINE_STEPS
    by_hand = {size for row in steps + machines.LAB_SRAM["tensor"] for size in row}
    by_hand |= {sum(step[2] for step in machines.LAB_PIPELINE_STEPS), machines.SYSTEM.sram_bytes}
    by_hand |= {50_000, 2_000} | {*results}  # rates per us
    figures = {evaluate(it) for it in re.findall(r"\d[\d,]*,\d{3}(?:\.\d+)?", text)}
    assert len(figures) > 10 and figures <= by_hand


def test_ci_runs_its_tests():
    [testing] = [line for line in INSTALLING if "pytest" in line]
    assert testing in (PROJECT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


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
