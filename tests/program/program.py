"""How these tests run lab3.py, and read what it prints for people."""

import contextlib
import functools
import io
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import lab3

SCRIPT = Path(lab3.__file__)
# Whatever PYTHON* variables the caller has must neither help nor hinder.
PLAIN = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}


def run(*arguments, command=(sys.executable, SCRIPT), **more):
    """A process of its own in a plain environment."""
    options = {"env": PLAIN, "capture_output": True, "text": True, "timeout": 60, **more}
    return subprocess.run([*command, *arguments], check=False, **options)


def call(*arguments):
    """lab3.main in this process: status, stdout, stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = lab3.main(arguments)
    return status, out.getvalue(), err.getvalue()


def output(*arguments):
    """What a command line prints that is answered."""
    status, out, err = call(*arguments)
    assert (status, err) == (0, "")
    assert out.endswith("\n") and not out.endswith("\n\n")
    return out


def refusal(*arguments):
    """The message for a command line that is refused: one short line, and status 2."""
    status, out, err = call(*arguments)
    assert (status, out) == (2, "")
    check_message(err)
    return err


def check_message(err):
    assert err.startswith("lab3.py: error: ")
    assert err.endswith("\n") and err.count("\n") == 1
    assert err.isascii() and err[:-1].isprintable() and len(err) < 300


# ------------------------------------------------ figures in a text for people

FIGURE = re.compile(r"(?<![\w.,^])-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w^])")


def figures(line):
    """The numbers in it, as they are written, without the commas between thousands."""
    return [figure.replace(",", "") for figure in FIGURE.findall(line)]


@functools.lru_cache(maxsize=4)
def parsed(text):
    """Each line, with its figures as exact numbers and how many digits they are rounded to."""
    return [
        (line, [(Fraction(figure), 5 if "e" in figure else 12) for figure in figures(line)])
        for line in text.splitlines()
    ]


def lines_with(text, *facts, units=(1, 10**3, 10**6)):
    """The lines that name each of these words, and show each of these numbers: ints as they are,
    Fractions of seconds in s, ms or us. What else a line says, and in what order, is its own.
    """
    words = [re.compile(rf"\b{fact}\b", re.IGNORECASE) for fact in facts if isinstance(fact, str)]
    numbers = [fact for fact in facts if not isinstance(fact, str)]
    return [
        line
        for line, shown in parsed(text)
        if all(word.search(line) for word in words)
        and all(
            any(is_rounded(*figure, number * unit) for figure in shown for unit in units)
            if isinstance(number, Fraction)
            else any(is_rounded(*figure, number) for figure in shown)
            for number in numbers
        )
    ]


def is_rounded(shown, digits, value):
    """Is it the value, if need be rounded to so many digits?"""
    return shown == value or 2 * 10 ** (digits - 1) * abs(shown - value) <= abs(value)
