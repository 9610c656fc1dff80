"""How tests run `python3 report COMMAND`, in this process or in one of its own."""

import os
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import lab3
from report.__main__ import PROG, main

PROJECT = Path(lab3.__file__).parent
# Whatever PYTHON* variables the caller has must neither help nor hinder.
PLAIN = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}


def run(*command, **more):
    """A process of its own in a plain environment, in the project's folder."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    options = {"env": PLAIN, "cwd": PROJECT, "text": True, "timeout": 60, **pipes, **more}
    return subprocess.run(command, check=False, **options)


def python(*arguments, **more):
    return run(sys.executable, "-B", *arguments, **more)


def shell(command, **more):
    """A command as a reader types it, where python3 is this Python."""
    folders = os.pathsep.join([str(Path(sys.executable).parent), PLAIN["PATH"]])
    environment = {**PLAIN, "PATH": folders, "PYTHONDONTWRITEBYTECODE": "1"}
    return run("sh", "-c", command, env=environment, **more)


def call(line):
    """Status, stdout and stderr of `python3 report` with this line or words, in this process."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main(shlex.split(line) if isinstance(line, str) else line)
    return status, out.getvalue(), err.getvalue()


def output(line):
    """What an answered line prints: ASCII, and unless it is JSON for a terminal of 80 columns."""
    status, out, err = call(line)
    assert (status, err) == (0, "")
    assert out.isascii() and out.endswith("\n") and not out.endswith("\n\n")
    if not out.startswith("{"):
        assert [row for row in out.splitlines() if len(row) > 80 or row != row.rstrip()] == []
    return out


def refusal(line):
    """Why a line is refused: one sentence, and status 2."""
    status, out, err = call(line)
    assert (status, out, err.count("\n")) == (2, "", 1)
    return sentence(err)


def sentence(err):
    """The message of the last line of stderr, which is ASCII."""
    program, error, message = err.splitlines()[-1].partition(": error: ")
    assert program.startswith(PROG) and error
    assert message.isascii() and message.isprintable() and 0 < len(message) < 300
    return message
