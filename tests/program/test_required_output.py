"""What `python3 lab3.py` prints, to the byte: it is what is handed in."""

import functools
import os
import shutil
import sys
from pathlib import Path

import pytest

import lab3
from program import PLAIN, SCRIPT, output, run

ANSWERS = """\
-----Q1 single input-----
Total latency of tensor parallelism is 0.00312726016 seconds
Total network traffic of tensor parallelism is 1923072 bytes
Total latency of pipeline parallelism is 0.01243531264 seconds
Total network traffic of pipeline parallelism is 604160 bytes
--------Q2 32 inputs------
Total latency of tensor parallelism is 0.10007232512 seconds
Total network traffic of tensor parallelism is 61538304 bytes
Total latency of pipeline parallelism is 0.1557861376 seconds
Total network traffic of pipeline parallelism is 19333120 bytes
"""


def check_answers(result):
    assert (result.returncode, result.stdout, result.stderr) == (0, ANSWERS.encode(), b"")


def test_from_any_folder(tmp_path):
    check_answers(run(cwd=tmp_path, text=False))
    assert list(tmp_path.iterdir()) == []


def test_as_a_program(tmp_path):
    (tmp_path / "python3").symlink_to(sys.executable)
    path = os.pathsep.join([str(tmp_path), PLAIN["PATH"]])
    check_answers(run(command=[SCRIPT], env={**PLAIN, "PATH": path}, text=False))


@pytest.mark.parametrize("flags", [["-I", "-S"], ["-OO"], ["-W", "error", "-b", "-b", "-X", "dev"]])
def test_however_the_interpreter_is_started(flags):
    check_answers(run(command=[sys.executable, *flags, SCRIPT], text=False))


@pytest.mark.parametrize(
    "environment", [{"LC_ALL": "C", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "ascii"}]
)
def test_in_any_locale(environment):
    check_answers(run(env={**PLAIN, **environment}, text=False))


def test_in_this_process():
    assert output() == ANSWERS == lab3.answers(lab3.NETWORK, lab3.SYSTEM, lab3.INPUTS) + "\n"


def test_other_inputs():
    lines = output("--inputs", "5").splitlines()
    assert lines[:5] == ANSWERS.splitlines()[:5]
    # 5 * 3,127.26016 and 12,435.31264 + 4 * 4,624.22016 us; 5 * 1,923,072 and 5 * 604,160 bytes
    assert lines[5:] == [
        "--------Q2 5 inputs------",
        "Total latency of tensor parallelism is 0.0156363008 seconds",
        "Total network traffic of tensor parallelism is 9615360 bytes",
        "Total latency of pipeline parallelism is 0.03093219328 seconds",
        "Total network traffic of pipeline parallelism is 3020800 bytes",
    ]


def test_two_inputs_are_another_question():
    lines = output("--inputs", "2").splitlines()
    assert [line for line in lines if "parallelism" not in line] == [
        "-----Q1 single input-----",
        "--------Q2 2 inputs------",
    ]


def test_one_input_is_asked_for_once():
    assert output("--inputs", "1") == "".join(ANSWERS.splitlines(keepends=True)[:5])


# ------------------------------------------------ other Pythons

COMMAND_LINES = [
    "",
    "--help",
    "--explain --nodes 8 --link-gbs 0.3",
    "--json --topology ring --inputs 7",
    "--nodes 3",
    "--gops -1e5",
    "--explian",
    "--layer 8,3,\u0663,3,9,9",
]
RUN_ALL = """
import sys
import lab3
for line in sys.argv[1:]:
    sys.stdout.flush()
    print(lab3.main(line.split()), flush=True)
"""


def python(minor):
    """Where Python 3.minor is, on PATH or with pyenv, if it starts."""
    on_path = [shutil.which(f"python3.{minor}")]
    with_pyenv = (Path.home() / ".pyenv" / "versions").glob(f"3.{minor}.*/bin/python3")
    for found in (*on_path, *with_pyenv):
        if found and run("-c", "pass", command=[found]).returncode == 0:
            return found
    return None


@functools.cache
def printed_by(executable):
    """Status, stdout and stderr of all command lines, from one process."""
    command = [executable, "-B", "-W", "error", "-c", RUN_ALL]
    result = run(*COMMAND_LINES, command=command, cwd=SCRIPT.parent, text=False)
    assert result.returncode == 0
    return result.stdout, result.stderr


def test_python_3_7_prints_the_same():
    oldest = python(7)
    if oldest is None:
        pytest.skip("no python3.7 on PATH or in ~/.pyenv/versions")
    assert printed_by(oldest) == printed_by(sys.executable)


def test_the_newest_python_prints_the_same():
    running = sys.version_info.minor
    newest = next(filter(None, map(python, range(running + 9, running, -1))), None)
    if newest is None:
        pytest.skip(f"no Python newer than 3.{running} on PATH or in ~/.pyenv/versions")
    assert printed_by(newest) == printed_by(sys.executable)
