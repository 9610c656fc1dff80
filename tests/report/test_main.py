"""report/__main__.py: what the front door shows, from where it is found, and how commands end."""

import ast
import os
import re
import shutil
import signal
import sys

import pytest

from program import PLAIN, PROJECT, output, python, refusal, run, sentence, shell
from report.__main__ import COMMANDS, INSTALL

REPORT = PROJECT / "report"
ALONE = [sys.executable, "-B", "-I", "-S"]  # without any library

# ------------------------------------------------ what it shows


@pytest.mark.parametrize("line", ["", "-h", "help", "help --help"])
def test_the_overview_has_every_command_and_an_example(line):
    lines = output(line).splitlines()
    for name, (_, does, example, *_) in COMMANDS.items():
        at = lines.index(f"{name:<9}{does}")
        assert lines[at + 1].strip() == f"python3 report {example}"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_needs_no_library(name):
    result = run(*ALONE, REPORT, name, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.isascii() and max(map(len, result.stdout.splitlines())) <= 80
    assert result.stdout.startswith(f"usage: python3 report {name} ")
    examples = "".join(f"  python3 report {example}\n" for example in COMMANDS[name][2:])
    assert result.stdout.endswith(f"\nexamples:\n{examples}")
    assert {output(f"help {name}"), output(f"{name} -h")} == {result.stdout}


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """The project, where what examples write does not stay in it."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(REPORT, folder / "report", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(PROJECT / "lab3.py", folder)
    (folder / "submissions").mkdir()
    shell("python3 lab3.py | tee output.txt submissions/a.txt > submissions/b.txt", cwd=folder)
    return folder


PROMISES = {  # what an example prints or writes
    "whatif --nodes 8 --link-gbs 0.1": "what if: 8 nodes, 0.1 GB/s",
    "whatif --inputs 64 --topology ring": "Q2 64 inputs",
    "whatif --layer 64,3,5,5,32,32 --layer 32,64,3,3,28,28": "64x3x5x5 on 32x32, 32x64x3x3 on",
    "explain": "Q4",
    "explain --nodes 8 --link-gbs 0.1": "what if: 8 nodes, 0.1 GB/s",
    "explain --json": '"latency_s": 0.10007232512',
    "check output.txt": "All 8 numbers are right",
    "check submissions/*.txt": "8 of 8",
    "plans --plan 1-2:2,3,4": "1-2:2,3,4",
    "plans --nodes 8 --link-gbs 0.05 --all": "what if: 8 nodes, 0.05 GB/s",
    "plans --inputs 1 --sram-kib 700 --json": '"sram_bytes": 716800',
    "trace > trace.json": '"traceEvents"',
    "trace --inputs 8 --plan 1-2:2,3,4 > trace.json": "plan 1-2:2,3,4",
    "picture timeline --nodes 8 --plan 1-2:4,3-4:4": "drawn: timeline.svg",
    "picture limits --link-gbs 0.05 --output limits.png": "drawn: limits.png",
    "deck": "slides.pdf",
    "deck --output . --author 'First Last' --uid 123456789": "slides.pdf",
}


@pytest.mark.parametrize("example", [it for row in COMMANDS.values() for it in row[2:]])
def test_an_example_of_the_help_does_what_it_says(copied, example):
    result = shell(f"python3 report {example}", cwd=copied)
    assert (result.returncode, result.stderr) == (0, "")
    _, _, file = example.partition(" > ")
    assert PROMISES[example] in ((copied / file).read_text() if file else result.stdout)


# ------------------------------------------------ from where


@pytest.mark.parametrize("arguments", [["-I", "report"], ["-m", "report"], ["-I", "-S", REPORT]])
def test_it_finds_lab3_from_any_folder(tmp_path, arguments):
    folder = tmp_path if REPORT in arguments else PROJECT
    (tmp_path / "lab3.py").write_text("raise SystemExit('not this one')")
    result = python(*arguments, "whatif", cwd=folder)
    assert (result.returncode, result.stdout, result.stderr) == (0, output("whatif"), "")


# ------------------------------------------------ how commands end


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a full disk")
@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        ("whatif >/dev/full", 1, "cannot write: No space left on device"),
        ("whatif >&-", 1, "cannot write: stdout is closed"),
        ("whatif --help >/dev/full", 1, "cannot write: No space left on device"),
        ("whatif --help >&-", 1, "cannot write: stdout is closed"),
        ("whatif 1</dev/null", 1, "cannot write: Bad file descriptor"),
        ("whatif --nodes 3 >/dev/full", 2, "Tensor parallelism is not possible"),
        ("whatif --inputs 0 >&-", 2, "--inputs"),
        # nobody hears of it, but the status tells
        ("whatif >/dev/full 2>/dev/full", 1, ""),
        ("whatif --nodes 3 2>/dev/full", 2, ""),
        ("whatif --inputs 0 2>/dev/full", 2, ""),
        ("whatif --nodes 3 2>&-", 2, ""),
    ],
)
def test_the_ending_of(command, status, said):
    for python3 in ("python3", "python3 -u"):
        result = shell(f"{python3} report {command}")
        assert (result.returncode, result.stdout) == (status, "")
        assert said in sentence(result.stderr) if said else result.stderr == ""


@pytest.mark.parametrize("line", [["trace"], ["whatif", "--help"]])
def test_a_closed_pipe_is_no_error(line):
    reader, writer = os.pipe()
    os.close(reader)
    result = python("report", *line, stdout=writer)
    os.close(writer)
    assert (result.returncode, result.stderr) == (0, "")


def test_ctrl_c_while_a_library_is_imported(tmp_path):
    interrupt = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(30)\n"
    (tmp_path / "matplotlib.py").write_text(interrupt)
    result = python(
        *("report", "picture", "timeline", "--output", tmp_path / "timeline.svg"),
        env={**PLAIN, "PYTHONPATH": str(tmp_path)},
        # a suite that is started in the background hands on that it ignores Ctrl-C
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (130, "", 1)
    assert sentence(result.stderr) == "interrupted"


@pytest.mark.parametrize("line", [["picture", "timeline"], ["deck"]])
def test_a_missing_library_is_told_how_to_install(tmp_path, line):
    result = run(*ALONE, REPORT, *line, cwd=tmp_path)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert re.match(rf"python3 report: error: {line[0]} needs (matplotlib|typst): ", result.stderr)
    assert INSTALL in result.stderr and f".venv/bin/python report {line[0]}" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_the_terminal_cannot_show_is_escaped(tmp_path):
    picture = tmp_path / "caf\u00e9.svg"
    result = python(
        *("report", "picture", "timeline", "--output", picture),
        env={**PLAIN, "PYTHONIOENCODING": "ascii"},
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert r"caf\xe9.svg" in result.stdout.splitlines()[-1]
    assert picture.exists()


# ------------------------------------------------ what is refused before a command


@pytest.mark.parametrize(
    ("line", "named", "told"),
    [
        ("plns", "plns", "did you mean plans?"),
        ("help explian", "explian", "did you mean explain?"),
        ("zzz", "zzz", "python3 report lists them"),
        ("--nodes 3 whatif", "--nodes", "python3 report COMMAND [options]"),
        ("whatif --inp 3", "--inp", "did you mean --inputs?"),  # abbreviations are none
        ("whatif 3 --link-gb=3", "--link-gb", "did you mean --link-gbs?"),
        ("plans --nodes 4 --zzz", "--zzz", "python3 report plans --help lists them"),
        ("whatif 3", "3", "one word too many for whatif"),
    ],
)
def test_what_is_refused(line, named, told):
    said = refusal(line)
    assert said.startswith(f"'{named}' ") and said.endswith(told)


PYTHONS = {sys.executable}
for minor in range(10, 20):
    found = shutil.which(f"python3.{minor}")
    if found and run(found, "-c", "pass").returncode == 0:
        PYTHONS.add(found)


@pytest.mark.parametrize("interpreter", sorted(PYTHONS))
def test_two_dashes_are_no_value_of_an_option(tmp_path, interpreter):
    for words in (
        ["whatif", "--link-gbs=--"],
        ["whatif", "--layer=8,8,1,1,8,8", "--layer=--"],
        ["trace", "--plan=pipeline", "--plan=--"],
        ["picture", "timeline", "--output=--"],
        ["deck", "--author=--"],
    ):
        result = run(interpreter, "-B", "-I", "-S", REPORT, *words, cwd=tmp_path)
        assert (result.returncode, result.stdout) == (2, ""), words
        assert words[-1].split("=")[0] in sentence(result.stderr)
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------ older Pythons

PRETEND = """
import runpy, sys
sys.version_info, sys.argv = eval(sys.argv[1]), ["report", "whatif"]
runpy.run_path("report", run_name="__main__")
"""


def test_python_3_9_gets_one_sentence():
    result = python("-c", PRETEND, "(3, 9, 18)")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == "report needs Python 3.10 or newer; lab3.py does not\n"
    assert python("-c", PRETEND, "(3, 10, 0)").returncode == 0


def test_without_docstrings_there_is_nothing_to_explain():
    result = python("-OO", "report", "explain")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == "report prints docstrings, which python -OO removes: run it without\n"
    assert python("-O", "report", "explain").stdout == output("explain")


def test_python_3_7_can_read_that_sentence():
    for name in ("__main__.py", "__init__.py"):
        ast.parse((REPORT / name).read_text(encoding="utf-8"), feature_version=(3, 7))
