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
SUBMITTED = [  # how it is packed, its files, the verdict, and what is in the last row of its output
    ("w:gz", {"lab3.py": LAB3}, ["8 of 8"], "19333120 bytes"),
    ("w", {**MACOS, "Lab 3/src/lab3.py": WRONG}, ["4 of 8"], "19333120 bytes"),
    ("w:gz", {"lab3.py": "print(latency)"}, [], "NameError: name 'latency'"),
    ("w:gz", {"lab3.py": "import time\ntime.sleep(9)"}, [], "timeout: sending signal"),
    ("w:gz", {**MACOS, "lab.py": LAB3}, [], "lab3.py is missing"),
]


@pytest.mark.parametrize("script", SCRIPTS)
def test_its_script_checks_the_tarballs_of_a_class(copied, script):
    folder = copied / "submissions"
    folder.mkdir()
    for number, (mode, files, *_) in enumerate(SUBMITTED):
        with tarfile.open(folder / f"{number}_Lab3_pin1234.tar.gz", mode) as archive:
            for name, text in files.items():
                packed = tarfile.TarInfo(name)
                packed.size = len(text.encode())
                archive.addfile(packed, io.BytesIO(text.encode()))
    result = shell(script.replace("-k 1 10", "-k 1 2"), cwd=copied)
    assert result.returncode == 2  # three of these files cannot be judged
    assert "1 MAC is 1 op" in result.stdout
    for number, (_, _, verdict, why) in enumerate(SUBMITTED):
        student = f"{number}_Lab3_pin1234.txt"
        row = next(line for line in result.stdout.splitlines() if student in line)
        assert re.findall(r"[1-8] of 8", row) == verdict
        assert why in (folder / student).read_text(encoding="utf-8").splitlines()[-1]
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


def test_its_figures_are_right():
    text = re.sub(r"^```.*?^```$|`.*?`", "", README, flags=re.DOTALL | re.MULTILINE)
    equations = re.findall(r"^    \w+ +(.+) = (.+)$", text, re.MULTILINE)
    assert [evaluate(left) for left, _ in equations] == [evaluate(right) for _, right in equations]
    figures = {evaluate(it) for it in re.findall(r"\d[\d,]*,\d{3}(?:\.\d+)?", text)}
    assert equations and figures <= {
        *(230_400, 57_600, 50_176, 43_264, 36_864, 1_923_072),  # outputs, shards, traffic
        *(606_661_632, 50_000, 2_000, Fraction("3033.30816"), Fraction("3127.26016")),
        *(503_488, 524_288),  # bytes in the SRAM: 222,912 + 230,400 + 50,176, and 512 * 1,024
    }


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
    assert len(named) > 10
