"""Numbers, sentences and tables for a terminal of 80 columns, in ASCII; JSON for programs."""

from __future__ import annotations

import sys
import textwrap
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import lab3

Exact = int | Fraction
COLUMNS = 80
MS, US = 10**3, 10**6  # in a second
GIGA, KIB = 10**9, 1024
EXACT_DIGITS, ROUNDED_DIGITS, COMPARED_DIGITS = 12, 9, 25


# ------------------------------------------------ numbers
def format_number(value: Exact) -> str:
    """Format a number with thousands grouped: an int whole; a Fraction exactly if it has 12 digits,
    else rounded to 9 digits, or to a whole number if that has more."""
    if isinstance(value, int):
        return f"{value:,}"
    text = lab3.format_decimal(value, EXACT_DIGITS)
    if Fraction(text) != value:
        text = lab3.format_decimal(value, max(ROUNDED_DIGITS, len(f"{int(value)}")))
    return f"{Decimal(text):,f}"


def format_exactly(value: Any) -> str:
    """Format a number with the digits that tell a float of an edited lab3.py from the exact one."""
    is_number = isinstance(value, (int, float, Fraction)) and value - value == 0  # not inf or NaN
    return lab3.format_decimal(value, COMPARED_DIGITS) if is_number else repr(value)


def round_to(value: Exact, digits: int = 4) -> Decimal:
    """Round to so many significant digits; a value that has fewer stays exact."""
    return Context(prec=digits).divide(Decimal(value.numerator), Decimal(value.denominator))


def format_rounded(value: Exact, digits: int = 4) -> str:
    """Format a value rounded to so many significant digits, for a sentence."""
    return f"{round_to(value, digits):,f}"


def format_places(value: Exact, places: int) -> str:
    """Format a value rounded once to so many decimals."""
    return f"{Decimal(round(value * 10**places)).scaleb(-places):,f}"


def format_short(value: Exact) -> str:
    """Format a value for a sentence or a picture: with two decimals, or below 0.1 two digits."""
    return format_places(value, 2) if value >= Fraction(1, 10) else format_rounded(value, 2)


def format_ms(value_s: Exact) -> str:
    """Format seconds as ms, for a sentence."""
    return f"{format_short(Fraction(value_s) * MS)} ms"


def choose_sign(*values: Exact) -> str:
    """Choose the sign between values: = if format_number prints all of them exactly, else ~."""
    is_whole = all(Fraction(format_number(it).replace(",", "")) == it for it in values)
    return "=" if is_whole else "~"


def count(amount: int, thing: str) -> str:
    """Count things in words: 1 node, 1,000 nodes."""
    return f"{amount:,} {thing}{'s' * (amount != 1)}"


# ------------------------------------------------ sentences and names
def wrap(text: str, margin: str = "") -> str:
    """Break a text into lines of a terminal, those after the first behind the margin."""
    return textwrap.fill(text, COLUMNS, subsequent_indent=margin, break_on_hyphens=False)


def quote(text: str) -> str:
    """Quote a text in an error message: one line of ASCII, shortened if it is long."""
    return ascii(text) if len(ascii(text)) <= 40 else f"{text[:30]!a}..."


def format_path(path: object) -> str:
    """Format a file's name: as it is if it can be printed, else, or if there is none, as repr does
    in ASCII."""
    text = str(path)
    with suppress(UnicodeEncodeError):
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")
        if text and text.isprintable():
            return text
    return ascii(text)


def make_word_parser(what: str, names: Iterable[str]) -> Callable[[str], str]:
    """Make the type of an argument that is one of these names, in small letters or not."""
    known = {name.lower(): name for name in names}

    def parse(word: str) -> str:
        if word.lower() in known:
            return word.lower()
        raise ArgumentTypeError(f"{quote(word)} is not a {what}: {', '.join(known.values())}")

    return parse


def join(*blocks: str) -> str:
    """Join blocks one below the other; those of one line are wrapped."""
    return "\n".join(it if "\n" in it else wrap(it) for it in blocks if it)


def join_paragraphs(*blocks: str) -> str:
    """Join blocks with empty lines between them; those of one line are wrapped."""
    return "\n\n".join(it if "\n" in it else wrap(it) for it in blocks if it)


# ------------------------------------------------ tables
def format_table(
    heads: Sequence[str], rows: Sequence[Sequence[object]], summed: Sequence[str] = ()
) -> str:
    """Format columns of text flush left and of numbers flush right, points below each other.

    A last row adds up the columns whose heads are summed. A last column of text is wrapped. Columns
    that do not fit follow below, behind the first one again, so that 80 columns suffice.
    """
    values = [*zip(*rows, strict=True)]
    if summed:
        sums = [sum(it) if head in summed else "" for head, it in zip(heads, values, strict=True)]
        values = [(*it, total) for it, total in zip(values, ["sum", *sums[1:]], strict=True)]
    columns = [_align(head, it) for head, it in zip(heads, values, strict=True)]
    widths = [len(column[0]) for column in columns]
    if isinstance(values[-1][0], str):
        widths[-1] = max(len(word) for cell in columns[-1] for word in cell.split())
    blocks = [[0]]
    for number in range(1, len(columns)):
        if sum(widths[it] + 2 for it in blocks[-1]) + widths[number] > COLUMNS:
            blocks.append([0] if widths[0] + 2 + widths[number] <= COLUMNS else [])
        blocks[-1].append(number)
    return "\n".join(_format_lines([columns[it] for it in block]) for block in blocks)


def _format_lines(columns: Sequence[Sequence[str]]) -> str:
    """Put columns side by side; the last one is wrapped if it is too wide."""
    lines = []
    for *cells, last in zip(*columns, strict=True):
        left = "  ".join([*cells, ""])
        parts = [last.rstrip()]
        if len(left + parts[0]) > COLUMNS:
            parts = textwrap.wrap(last, COLUMNS - len(left), break_on_hyphens=False)
        lines += [left + parts[0], *(" " * len(left) + more for more in parts[1:])]
    return "\n".join(line.rstrip() for line in lines)


def _align(head: str, values: Sequence[object]) -> list[str]:
    """Format a column's head and values as lines, equally long."""
    cells = [_format_cell(value) for value in values]
    is_text = isinstance(values[0], str)
    if not is_text:
        after = [len(cell.partition(".")[2]) + ("." in cell) for cell in cells]
        most = max(after)
        cells = [cell + " " * (most - own) for cell, own in zip(cells, after, strict=True)]
    cells = [head, *cells]
    width = max(map(len, cells))
    return [cell.ljust(width) if is_text else cell.rjust(width) for cell in cells]


def _format_cell(value: Any) -> str:
    """Format a text, a rounded number or an exact one."""
    if isinstance(value, Decimal):
        return f"{value:,f}"
    return value if isinstance(value, str) else format_number(value)


# ------------------------------------------------ JSON
def to_plain(value: Any) -> Any:
    """Convert records to dictionaries of their fields, and tuples to lists."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {name: to_plain(each) for name, each in value.items()}
    return [to_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def format_json(value: object) -> str:
    """Format JSON: ints as they are, Fractions as the nearest floats."""
    import json  # takes as long as some answers

    return json.dumps(to_plain(value), indent=2, default=float)
