"""report/__main__.py: help, where it is found, what was meant, other constants, how it ends."""

import ast
import json
import os
import shutil
import signal
import sys
from fractions import Fraction
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

import lab3
from lab3 import System
from machines import ODD
from program import (
    LAB3,
    PLAIN,
    PROJECT,
    copy_project,
    output,
    python,
    refusal,
    run,
    sentence,
    shell,
)
from report.__main__ import COMMANDS, INSTALL

REPORT = PROJECT / "report"
ALONE = [sys.executable, "-B", "-I", "-S"]  # without any library

# ------------------------------------------------ help


@pytest.mark.parametrize("line", ["", "-h", "--help"])
def test_the_overview_names_every_command_with_an_example(line):
    lines = output(line).splitlines()
    for name, (_, _, example, *_) in COMMANDS.items():
        assert [name] in [row.split()[:1] for row in lines]
        assert f"  python3 report {example}" in lines


@pytest.mark.parametrize("name", COMMANDS)
def test_help_needs_no_library_and_ends_with_examples(name):
    result = run(*ALONE, REPORT, name, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.isascii() and max(map(len, result.stdout.splitlines())) <= 80
    assert result.stdout.startswith(f"usage: python3 report {name} ")
    examples = [f"  python3 report {example}" for example in COMMANDS[name][2:]]
    assert result.stdout.splitlines()[-len(examples) :] == examples
    assert output(f"{name} -h") == result.stdout


EXAMPLES = [example for _, _, *examples in COMMANDS.values() for example in examples]


# the README's test and tests/deck build the deck, which takes seconds
@pytest.mark.parametrize("example", [it for it in EXAMPLES if not it.startswith("deck")])
def test_an_example_of_the_help_works(tmp_path, example):
    (copy_project(tmp_path) / "submissions").mkdir()
    shell("python3 lab3.py | tee output.txt key.txt submissions/a.txt", cwd=tmp_path)
    result = shell(f"python3 report {example}", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "") and result.stdout


# ------------------------------------------------ from where


@pytest.mark.parametrize("arguments", [["-I", "report"], ["-m", "report"], ["-I", "-S", REPORT]])
def test_it_finds_lab3_from_any_folder(tmp_path, arguments):
    folder = tmp_path if REPORT in arguments else PROJECT
    (tmp_path / "lab3.py").write_text("raise SystemExit('not this one')")
    result = python(*arguments, "whatif", cwd=folder)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(lab3.answers(lab3.NETWORK, lab3.SYSTEM, lab3.INPUTS))


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("print('Total latency of tensor parallelism is 1 seconds')\n", "YOURS"),
        ("raise SystemExit(0)\n", "YOURS"),
        ("INPUTS = (32\n", "SyntaxError"),
        ("INPUTS = inputs\n", "NameError"),
        ("import laboratory\n", "laboratory"),
    ],
)
def test_another_lab3_is_told_in_one_sentence(tmp_path, source, named):
    copy_project(tmp_path, source)
    for command in ("whatif", "check", "explain --help"):
        result = python("report", *command.split(), cwd=tmp_path, input="")
        assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
        assert "lab3.py" in sentence(result.stderr) and named in result.stderr


# ------------------------------------------------ other constants of lab3.py

MAIN = 'if __name__ == "__main__":'


def change_lab3(folder, **constants):
    """Copy the project with other constants in lab3.py."""
    before, main = LAB3.split(MAIN)
    lines = "".join(f"{name} = {value!r}\n" for name, value in constants.items())
    return copy_project(folder, f"{before}{lines}\n{MAIN}{main}")


@pytest.mark.parametrize(
    "constants",
    [
        {"SYSTEM": System(4, Fraction(10**11, 3), 25 * 10**8, 500_000, "ring"), "INPUTS": 1},
        {"NETWORK": ODD.network, "SYSTEM": ODD.system, "INPUTS": ODD.inputs},
    ],
)
def test_changed_constants_hold_in_every_command(tmp_path, constants):
    project = change_lab3(tmp_path, **constants)
    question = [
        constants.get(name, getattr(lab3, name)) for name in ("NETWORK", "SYSTEM", "INPUTS")
    ]

    def printed(*arguments, **more):
        result = python(*arguments, cwd=project, **more)
        assert (result.returncode, result.stderr) == (0, "")
        return result.stdout

    answers = f"{lab3.answers(*question)}\n"
    assert printed("lab3.py") == answers
    whatif = printed("report", "whatif")
    assert whatif.startswith(answers) and whatif.count("\n") == answers.count("\n") + 1
    assert printed("report", "check", input=answers)  # status 0: all right
    found = json.loads(printed("report", "explain", "--json"))["strategies"]["tensor"]["results"]
    latencies_s = [it["latency_s"] for it in found if it["topology"] == question[1].topology]
    assert latencies_s[-1] == float(lab3.tensor_parallel_latency(*question))
    # what no option names stays lab3.py's
    more = f"what if: 9 inputs\n{lab3.answers(*question[:2], 9)}\n"
    assert printed("report", "whatif", "--inputs", "9").startswith(more)
    shown = printed("report", "whatif", "--help")
    assert f"(default: {question[2]})" in shown and f"(default: {question[1].nodes})" in shown


@pytest.mark.parametrize(
    ("name", "value"), [("NETWORK", ()), ("INPUTS", 0), ("SYSTEM", System(ops_per_s=25e9))]
)
def test_wrong_constants_are_named_in_one_sentence(tmp_path, name, value):
    project = change_lab3(tmp_path, **{name: value})
    expected = run(*ALONE, project / "lab3.py").stderr.partition(": error: ")[2]
    for command in ("whatif --nodes 8", "explain --help"):
        result = python("report", *command.split(), cwd=project)
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr == f"python3 report: error: lab3.py: {expected}"


# ------------------------------------------------ what was meant


@pytest.mark.parametrize(
    ("line", "wrong", "meant"),
    [
        ("WhatIf", "'WhatIf'", "whatif?"),
        ("zzz", "'zzz'", "whatif, explain, check, picture, deck"),
        ("q1 --nodes 8", "'q1'", "explain q1?"),
        ("timeline", "'timeline'", "picture timeline?"),
        ("explain bounds pipline --json", "'pipline'", "pipeline?"),
        ("explain q", "'q'", "Q1?"),
        ("explain T", "'T'", "tensor?"),
        ("explain zzz", "'zzz'", "tensor, pipeline"),
        ("sram", "'sram'", "explain Q3?"),
        ("ring", "'ring'", "explain Q4?"),
        ("explain --top=ring tensor", "'--top'", "--topology?"),
        ("whatif --topology star", "'star'", "'all-to-all', 'ring'"),
        ("deck --nodes 8", "'--nodes'", "--author"),  # it has no such option
        ("whatif 3", "3", ""),
        ("whatif -n 8", "-n", ""),
        ("whatif --nodes", "--nodes", ""),
    ],
)
def test_a_mistyped_word_is_answered_with_what_was_meant(line, wrong, meant):
    message = refusal(line)
    assert wrong in message and meant in message


def test_what_follows_two_dashes_is_no_option():
    assert "'--zzz' is not a topic" in refusal("explain -- --zzz")


# ------------------------------------------------ how commands end


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a full disk")
@pytest.mark.parametrize("command", ["whatif", "explain all", "explain --json", "--help"])
def test_a_full_disk_is_told_in_one_sentence(command):
    for python3 in ("python3", "python3 -u"):
        result = shell(f"{python3} report {command} >/dev/full")
        assert (result.returncode, result.stderr.count("\n")) == (1, 1)
        assert "No space left" in sentence(result.stderr)
    closed = shell(f"python3 report {command} >&-")
    assert (closed.returncode, closed.stderr) == (0, "")
    refused = shell("python3 report whatif --nodes 3 >/dev/full")
    assert refused.returncode == 2 and "3 nodes" in sentence(refused.stderr)


@pytest.mark.parametrize("line", [["explain"], ["whatif", "--help"]])
def test_a_closed_pipe_is_no_error(line):
    reader, writer = os.pipe()
    os.close(reader)
    result = python("report", *line, stdout=writer)
    os.close(writer)
    assert (result.returncode, result.stderr) == (0, "")


def test_ctrl_c_ends_quietly(tmp_path):
    interrupt = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(30)\n"
    (tmp_path / "matplotlib.py").write_text(interrupt)
    result = python(
        *("report", "picture", "timeline", "--output", tmp_path / "timeline.svg"),
        env={**PLAIN, "PYTHONPATH": str(tmp_path)},
        # a suite that is started in the background hands on that it ignores Ctrl-C
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "")


@pytest.mark.parametrize("line", [["picture", "timeline"], ["deck"]])
def test_a_missing_library_is_told_how_to_install(tmp_path, line):
    result = run(*ALONE, REPORT, *line, cwd=tmp_path)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert any(name in sentence(result.stderr) for name in ("matplotlib", "typst"))
    assert f"{INSTALL} in the project" in result.stderr and list(tmp_path.iterdir()) == []
    assert result.stderr.endswith(f" .venv/bin/python report {' '.join(line)}\n")


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    place = tmp_path / "no" / "timeline.svg"
    result = python("report", "picture", "timeline", "--output", place)
    assert (result.returncode, result.stdout) == (1, "")
    assert "timeline.svg" in sentence(result.stderr)


# ------------------------------------------------ other Pythons


def find_pythons(*versions):
    """Find the Pythons of these versions that run, on the path or beside this one."""
    beside = Path(sys.base_prefix).parent
    found = [shutil.which(f"python{version}") for version in versions]
    found += [str(it) for version in versions for it in beside.glob(f"{version}.*/bin/python")]
    return [it for it in found if it and run(it, "-c", "pass").returncode == 0]


@pytest.mark.parametrize("interpreter", find_pythons("3.6", "3.8", "3.10"))
def test_an_older_python_gets_one_sentence(interpreter):
    for words in (["whatif"], []):
        result = run(interpreter, "-B", REPORT, *words)
        assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
        assert "3.11" in result.stderr


def test_python_3_6_can_read_that_sentence():
    for name in ("__main__.py", "__init__.py"):
        text = (REPORT / name).read_text(encoding="utf-8")
        assert ast.parse(text, feature_version=(3, 6)) and "__future__" not in text


@pytest.mark.parametrize("interpreter", find_pythons("3.12", "3.13", "3.14"))
def test_a_newer_python_gives_the_same(interpreter):
    for line in ("whatif --topology ring", "explain tensor pipeline", "whatif --link-gbs=--"):
        words = "-B", "-I", "-S", REPORT, *line.split()
        newer, this = run(interpreter, *words), run(sys.executable, *words)
        assert (newer.returncode, newer.stdout) == (this.returncode, this.stdout)
        assert newer.stderr == this.stderr
