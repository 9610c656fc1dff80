"""report/__main__.py: help, where it is found, what was meant, other constants, how it ends."""

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
from machines import ODD
from program import LAB3, PROJECT, copy_project, output, python, refusal, run, sentence, shell
from report.__main__ import COMMANDS, INSTALL

REPORT = PROJECT / "report"
ALONE = [sys.executable, "-B", "-I", "-S"]  # without any library


def check_failure(result, status, *words):
    """Assert that a process ended with this status and a sentence that has these words."""
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (status, "", 1)
    assert all(word in sentence(result.stderr) for word in words)


# ------------------------------------------------ help, from where


@pytest.mark.parametrize("line", ["", "-h", "--help"])
def test_the_overview_names_every_command_with_an_example(line):
    lines = output(line).splitlines()
    assert {*COMMANDS} <= {row.split()[0] for row in lines if row.strip()}
    assert {f"  python3 report {it[2]}" for it in COMMANDS.values()} <= {*lines}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_needs_no_library_and_ends_with_examples(name):
    result = run(*ALONE, REPORT, name, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"usage: python3 report {name} ")
    examples = [f"  python3 report {example}" for example in COMMANDS[name][2:]]
    assert result.stdout.splitlines()[-len(examples) :] == examples
    assert output(f"{name} -h") == result.stdout


# the README's test and tests/deck build the deck, which takes seconds
@pytest.mark.parametrize(
    "example", [it for name in COMMANDS if name != "deck" for it in COMMANDS[name][2:]]
)
def test_an_example_of_the_help_works(tmp_path, example):
    (copy_project(tmp_path) / "submissions").mkdir()
    shell("python3 lab3.py | tee output.txt key.txt submissions/a.txt", cwd=tmp_path)
    result = shell(f"python3 report {example}", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "") and result.stdout


@pytest.mark.parametrize("arguments", [["-I", "report"], ["-m", "report"], ["-I", "-S", REPORT]])
def test_it_finds_lab3_from_any_folder(tmp_path, arguments):
    folder = tmp_path if REPORT in arguments else PROJECT
    (tmp_path / "lab3.py").write_text("raise SystemExit('not this one')")
    result = python(*arguments, "whatif", cwd=folder)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(lab3.answers(lab3.NETWORK, lab3.SYSTEM, lab3.INPUTS))


# ------------------------------------------------ another lab3.py


def edit_lab3(constants):
    """Put other constants in the text of lab3.py."""
    main = 'if __name__ == "__main__":'
    return LAB3.replace(main, f"{constants}\n\n\n{main}")


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("print('Total latency of tensor parallelism is 1 seconds')\n", "YOURS"),
        ("raise SystemExit(0)\n", "YOURS"),
        ("INPUTS = (32\n", "SyntaxError"),
        ("INPUTS = inputs\n", "NameError"),
        ("import laboratory\n", "laboratory"),
        (edit_lab3("NETWORK = ()"), "network must be a list"),
        (edit_lab3("INPUTS = 0"), "inputs: 0 must be"),
        (edit_lab3("SYSTEM = System(ops_per_s=25e9)"), "ops_per_s: 25000000000.0"),
    ],
)
def test_a_lab3_that_cannot_be_used_is_told_in_one_sentence(tmp_path, source, named):
    copy_project(tmp_path, source)
    for command in ("whatif", "check", "explain --help"):
        result = python("report", *command.split(), cwd=tmp_path, input="")
        check_failure(result, 2, "lab3.py", named)


def test_changed_constants_hold_in_every_command(tmp_path):
    system = ODD.system._replace(ops_per_s=Fraction(10**6, 3))
    question = network, _, inputs = ODD._replace(system=system)
    copy_project(tmp_path, edit_lab3(f"NETWORK = {network}\nSYSTEM = {system}\nINPUTS = {inputs}"))

    def printed(line, **more):
        result = python(*line.split(), cwd=tmp_path, **more)
        assert (result.returncode, result.stderr) == (0, "")
        return result.stdout

    answers = f"{lab3.answers(*question)}\n"
    assert printed("lab3.py") == answers
    assert printed("report whatif").startswith(f"{answers}Fits in ")
    assert printed("report check", input=answers)  # status 0: all right
    found = json.loads(printed("report explain --json"))["strategies"]["tensor"]["results"]
    assert float(lab3.tensor_parallel_latency(*question)) == found[-1]["latency_s"]  # on a ring
    # what no option names stays lab3.py's
    more = f"what if: 9 inputs\n{lab3.answers(network, system, 9)}\n"
    assert printed("report whatif --inputs 9").startswith(more)
    shown = printed("report whatif --help")
    assert all(f"(default: {value})" in shown for value in (8, 6, 9, "ring", "0.00000125"))


@pytest.mark.parametrize(
    ("line", "wrong", "meant"),
    [
        ("WhatIf", "'WhatIf'", "whatif?"),
        ("deks", "'deks'", "did you mean deck?"),
        ("''", "''", "there are whatif, explain, check, picture, deck"),
        ("chart", "'chart'", "there are whatif"),  # "hat" is in whatif, but that is not enough
        ("q1 --nodes 8", "'q1'", "explain q1?"),
        ("timeline", "'timeline'", "picture timeline?"),
        ("explain bounds pipline --json", "'pipline'", "pipeline?"),
        ("explain T", "'T'", "tensor?"),
        ("sram", "'sram'", "explain Q3?"),
        ("ring", "'ring'", "explain Q4?"),
        ("explain --top=ring tensor", "'--top'", "--topology?"),
        ("whatif --topology star", "'star'", "'all-to-all', 'ring'"),
        ("deck --nodes 8", "'--nodes'", "--author"),  # it has no such option
        ("whatif -n 8", "-n", ""),
        ("explain -- --zzz", "'--zzz'", "is not a topic"),  # what follows -- is no option
    ],
)
def test_a_mistyped_word_is_answered_with_what_was_meant(line, wrong, meant):
    message = refusal(line)
    assert wrong in message and meant in message


# ------------------------------------------------ how commands end


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a full disk")
@pytest.mark.parametrize("command", ["whatif", "explain all", "explain --json", "--help"])
def test_a_full_disk_is_told_in_one_sentence_and_a_closed_stdout_is_no_error(command):
    for python3 in ("python3", "python3 -u"):
        check_failure(shell(f"{python3} report {command} >/dev/full"), 1, "No space left")
    closed = shell(f"python3 report {command} >&-")
    assert (closed.returncode, closed.stderr) == (0, "")
    check_failure(shell("python3 report whatif --nodes 3 >/dev/full"), 2, "3 nodes")


@pytest.mark.parametrize("line", ["explain", "whatif --help"])
def test_a_closed_pipe_is_no_error(line):
    reader, writer = os.pipe()
    os.close(reader)
    result = python("report", *line.split(), stdout=writer)
    os.close(writer)
    assert (result.returncode, result.stderr) == (0, "")


def test_ctrl_c_ends_quietly(tmp_path):
    interrupt = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(30)\n"
    (tmp_path / "matplotlib.py").write_text(interrupt)
    result = shell(
        f"PYTHONPATH={tmp_path} python3 report picture timeline --output {tmp_path}/timeline.svg",
        # a suite that is started in the background hands on that it ignores Ctrl-C
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "")


@pytest.mark.parametrize(
    ("line", "library"), [("picture timeline", "matplotlib"), ("deck", "typst")]
)
def test_a_missing_library_is_told_how_to_install(tmp_path, line, library):
    result = run(*ALONE, REPORT, *line.split(), cwd=tmp_path)
    check_failure(result, 1, library, f"{INSTALL} in the project")
    assert result.stderr.endswith(f" .venv/bin/python report {line}\n")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    place = tmp_path / "no" / "timeline.svg"
    check_failure(python("report", "picture", "timeline", "--output", place), 1, "timeline.svg")


def find_pythons(*versions):
    """Find the Pythons of these versions that run, on the path or beside this one."""
    beside = Path(sys.base_prefix).parent
    found = [shutil.which(f"python{version}") for version in versions]
    found += [str(it) for version in versions for it in beside.glob(f"{version}.*/bin/python")]
    return [it for it in found if it and run(it, "-c", "pass").returncode == 0]


@pytest.mark.parametrize("interpreter", find_pythons("3.6", "3.8", "3.10"))
def test_an_older_python_gets_one_sentence(interpreter):
    result = run(interpreter, "-B", REPORT, "whatif")
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert "3.11" in result.stderr


@pytest.mark.parametrize("interpreter", find_pythons("3.12", "3.13", "3.14"))
def test_a_newer_python_gives_the_same(interpreter):
    assert run(interpreter, *ALONE[1:], REPORT, "explain", "all").stdout == output("explain all")
    refused = run(interpreter, *ALONE[1:], REPORT, "whatif", "--inputs=--")
    check_failure(refused, 2, "--inputs: '--'")
