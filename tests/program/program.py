"""How these tests run the project's scripts."""

import contextlib
import io
import os
import shlex
import subprocess
import sys
from pathlib import Path

import lab3
import whatif

SCRIPT = Path(lab3.__file__)
PROJECT = SCRIPT.parent
# Whatever PYTHON* variables the caller has must neither help nor hinder.
PLAIN = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}


def run(*command, **more):
    """A process of its own in a plain environment."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    options = {"env": PLAIN, "text": True, "timeout": 60, **pipes, **more}
    return subprocess.run(command, check=False, **options)


def python(*arguments, **more):
    return run(sys.executable, *arguments, **more)


def call(line, respond=whatif.respond):
    """Status, stdout and stderr of a script of report/, in this process."""
    out, err = io.StringIO(), io.StringIO()
    words = shlex.split(line) if isinstance(line, str) else line
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = whatif.run(respond, words)
        except SystemExit as end:  # by argparse
            status = end.code
    return status, out.getvalue(), err.getvalue()


def output(line, respond=whatif.respond):
    """What it prints that is answered: ASCII for a terminal of 80 columns."""
    status, out, err = call(line, respond)
    assert (status, err) == (0, "")
    assert out.isascii() and out.endswith("\n") and not out.endswith("\n\n")
    assert [row for row in out.splitlines() if len(row) > 80 or row != row.rstrip()] == []
    return out


def refusal(line, respond=whatif.respond):
    """The last line of what is refused: one sentence, and status 2."""
    status, out, err = call(line, respond)
    assert (status, out) == (2, "")
    return sentence(err.splitlines()[-1])


def sentence(line):
    """What an error's line says, which is ASCII."""
    script, error, said = line.partition(": error: ")
    assert script and error and said.isascii() and said.isprintable() and len(said) < 300
    return said
