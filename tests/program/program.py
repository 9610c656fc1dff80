"""How these tests run lab3.py, and read what it prints for people."""

import contextlib
import functools
import io
import os
import re
import subprocess
import sys
from decimal import Decimal
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
SUM = re.compile(rf"\(?{FIGURE.pattern}(?:\)? [-+*] \(?{FIGURE.pattern}\)?)+ = {FIGURE.pattern}")
LABELS = re.compile(r"[A-Za-z]\w*(?:  +[A-Za-z]\w*){2,}")
CELL = re.compile(r"\S+(?: \S+)*")


def figures(line):
    """The numbers in it, as they are written, without the commas between thousands."""
    return [figure.replace(",", "") for figure in FIGURE.findall(line)]


def shows(cell, value):
    """Does it show the value: exactly, or rounded once to 9 digits where 12 or its width fail?"""
    if not isinstance(value, int | Fraction):
        return cell == ("-" if value is None else value)
    if cell is None or not FIGURE.fullmatch(cell):
        return False
    shown = Decimal(cell.replace(",", ""))
    last_digit = Fraction(10) ** (shown.adjusted() - 8)
    takes_more = "e" in cell or (value / last_digit * 1000).denominator > 1
    return abs(Fraction(shown) - value) <= (last_digit / 2 if takes_more else 0)


@functools.lru_cache(maxsize=4)
def parsed(text):
    """Its tables, as (strategy, rows), a row being cells by the labels of their columns; and its
    sums, as (strategy, sum). The strategy is the one that the text named last.
    """
    strategy, labels, tables, prose = None, [], [], {}
    lines = text.splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if LABELS.fullmatch(line.strip()) and (figures(below) or below.endswith("-")):
            labels = [(label[0], label.start(), label.end()) for label in CELL.finditer(line)]
            tables.append((strategy, []))
        elif labels and line:
            tables[-1][1].append(dict(labelled(cell, labels) for cell in CELL.finditer(line)))
        else:
            labels = []
            named = re.findall(r"\b(?:tensor|pipeline|streamed|data)\b", line.lower())
            strategy = named[-1] if named else strategy
            prose[strategy] = f"{prose.get(strategy, '')} {line.strip()}"
    return tables, [(about, each[0]) for about in prose for each in SUM.finditer(prose[about])]


def labelled(cell, labels):
    """The label of its column, and the cell: text is flush left with it, numbers flush right."""
    is_left, is_right = not FIGURE.fullmatch(cell[0]), cell[0] in ("-", "sum")
    for label, start, end in labels:
        if (is_left and start == cell.start()) or ((is_right or not is_left) and end == cell.end()):
            return label, cell[0]
    raise AssertionError(f"{cell[0]} is aligned with no label: {cell.string}")


def rows_with(text, strategy=None, /, **facts):
    """The rows of tables, of all or those about the strategy, that show each fact by its label."""
    return [
        row
        for about, rows in parsed(text)[0]
        for row in rows
        if strategy in (None, about)
        and all(shows(row.get(label), value) for label, value in facts.items())
    ]


def sums_with(text, strategy, *terms):
    """The sums about the strategy that show each of these numbers: what they add up to, and say."""
    for about, line in parsed(text)[1]:
        shown = FIGURE.findall(line)
        if about == strategy and all(any(shows(each, term) for each in shown) for term in terms):
            exact = FIGURE.sub(lambda each: f"Fraction('{each[0].replace(',', '')}')", line)
            yield tuple(map(eval, exact.split(" = ")))
