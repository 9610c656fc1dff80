"""How tests run `python3 report COMMAND`, in this process or in one of its own, and how they play
what a text shows: commands behind "$ ", each with its output."""

import compileall
import os
import re
import shlex
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import lab3
from machines import INPUTS, NETWORK, SYSTEM
from report import options
from report.__main__ import PROG, main

# ------------------------------------------------ lab3.py and report/ as processes get them


def edit(text, old, new):
    """Replace a part of a text, which must be there: else a test would test nothing."""
    assert old in text and old != new, f"{old!r} is not there"
    return text.replace(old, new)


CHECKOUT = Path(lab3.__file__).parent
IN_CHECKOUT = (CHECKOUT / "lab3.py").read_text(encoding="utf-8")


def state_lab(text):
    """Return lab3.py's text with the constants of the tests' lab, whatever they were."""
    layers = "".join(f"    ConvLayer{layer[:6]},\n" for layer in NETWORK)
    constants = f"NETWORK = (\n{layers})\nSYSTEM = System()\nINPUTS = {INPUTS}"
    replacements = {r"NETWORK = (?s:.*?)\nINPUTS = \w+": constants}
    for name, value in [("element_bytes", NETWORK[0].element_bytes), *SYSTEM._asdict().items()]:
        replacements[rf"    ({name}: \w+) = [^#\n]*\b"] = rf"    \1 = {value}"
    for pattern, new in replacements.items():
        text, count = re.subn(f"^{pattern}", new, text, flags=re.MULTILINE)
        assert count == 1, f"{pattern} is there {count} times"
    return text


LAB3 = state_lab(IN_CHECKOUT)
COPY = TemporaryDirectory(prefix="lab3-tests-")  # until the tests end
PROJECT = Path(COPY.name)
(PROJECT / "lab3.py").write_text(LAB3, encoding="utf-8")
shutil.copy(CHECKOUT / ".gitattributes", PROJECT)
shutil.copytree(CHECKOUT / "report", PROJECT / "report", ignore=shutil.ignore_patterns("__py*"))
compileall.compile_dir(PROJECT / "report", quiet=1)  # or each process would compile it


def copy_project(folder, lab3=LAB3):
    """Copy report/, and lab3.py or this text in its place, so that a test can change them."""
    shutil.copytree(PROJECT / "report", folder / "report")
    (folder / "lab3.py").write_text(lab3, encoding="utf-8")
    return folder


# ------------------------------------------------ processes and commands
# Whatever PYTHON* variables the caller has must neither help nor hinder.
PLAIN = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}


def run(*command, **more):
    """A process of its own in a plain environment, in the project's folder."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    options = {"env": PLAIN, "cwd": PROJECT, "encoding": "utf-8", "timeout": 60, **pipes, **more}
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


def ask(line):
    """Parse the question that a line of what-if options asks."""
    parser = ArgumentParser()
    options.add_question_options(parser)
    return options.read_options(parser.parse_args(shlex.split(line)))


SED_EDIT = re.compile("(?<![a-z])(s/[^/]+/[^/]*/)(?:; )?")


def read_sessions(text):
    """Split a text into its commands, one a line behind "$ ", each with what the text shows."""
    sessions = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [session.partition("\n")[::2] for session in sessions]


def shell_edits(command, **more):
    """Run a command of which each `sed` must change something: sed writes what it has changed into
    a file of its own."""
    with TemporaryDirectory() as folder:
        files = [Path(folder, str(number)) for number in range(len(SED_EDIT.findall(command)))]
        rest = iter(files)
        result = shell(SED_EDIT.sub(lambda edit: f"{edit[1]}w {next(rest)}\n", command), **more)
        assert all(file.stat().st_size for file in files), f"a sed changes nothing: {command}"
    return result


def play(command, folder, is_own=False):
    """Return what somebody sees who types this in a copy of the project: stdout, stderr, and a
    line with the exit status if it is not 0.

    A plain `python3 report ...` runs in this process, which is faster, and about the tests' lab,
    unless the copy's lab3.py was edited or a process of its own is wanted.
    """
    is_plain = not is_own and re.fullmatch(r"python3 report(?: [\w ./,'\"=-]*)?", command)
    if is_plain and (folder / "lab3.py").read_text(encoding="utf-8") == LAB3:
        with chdir(folder):
            status, out, err = call(shlex.split(command)[2:])
    else:
        result = shell_edits(command, cwd=folder)
        status, out, err = result.returncode, result.stdout, result.stderr
    check_layout(out)
    return out + err + (f"[exit status {status}]\n" if status else "")


def output(line):
    """What an answered line prints."""
    status, out, err = call(line)
    assert (status, err) == (0, "") and out
    check_layout(out)
    return out


ANSWER = re.compile(r"Total |\w+ parallelism is not possible: ")  # begins a line of lab3.py's


def check_layout(out):
    """Assert that what is printed is ASCII, and for a terminal of 80 columns, which JSON and lines
    of lab3.py may exceed."""
    assert out.isascii() and out[-1:] in ("", "\n") and not out.endswith("\n\n")
    if not out.startswith("{"):
        rows = [row for row in out.splitlines() if not ANSWER.match(row)]
        assert [row for row in rows if len(row) > 80 or row != row.rstrip()] == []


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
