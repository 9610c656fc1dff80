"""Numbers, sentences and tables for a terminal of 80 columns; JSON for programs."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import lab3
from report import InputError

Exact = int | Fraction
COLUMNS = 80
MS, US = 10**3, 10**6  # in a second
GIGA, KIB = 10**9, 1024
EXACT_DIGITS, ROUNDED_DIGITS = 12, 9


# ------------------------------------------------ numbers
def format_number(value: Exact | Decimal) -> str:
    """Format a number with thousands grouped: an int or Decimal whole; a Fraction exactly if it is
    short, else rounded to 9 digits, or to a whole number if that has more."""
    if isinstance(value, Decimal):
        return f"{value:,f}"
    if value.denominator == 1:
        return f"{int(value):,}"
    digits = EXACT_DIGITS if is_short(value) else max(ROUNDED_DIGITS, len(f"{int(value)}"))
    return f"{Decimal(lab3.format_decimal(value, digits)):,f}"


def is_short(value: Exact) -> bool:
    """Return whether a number is whole or has at most 12 digits."""
    return value.denominator == 1 or round_to(value, EXACT_DIGITS) == value


def format_rounded(value: Exact, digits: int) -> str:
    """Format a number rounded to this many significant digits, for sentences and pictures."""
    return f"{round_to(value, digits):,f}"


def round_to(value: Exact, digits: int) -> Decimal:
    """Round to this many significant digits; a number that has fewer stays exact."""
    return Context(prec=digits).divide(Decimal(value.numerator), Decimal(value.denominator))


def round_apart(value: Exact, digits: int, other: int) -> Decimal:
    """Round to this many significant digits, or to as many more as tell the value from `other`:
    99.9996 to four digits, apart from 100, is 99.9996."""
    while round_to(value, digits) == other != value:
        digits += 1
    return round_to(value, digits)


def count(amount: int, noun: str) -> str:
    """Return an amount in words: 1 node, 1,000 nodes."""
    return f"{amount:,} {noun}{'s' * (amount != 1)}"


# ------------------------------------------------ sentences and names
def wrap(text: str, margin: str = "") -> str:
    """Wrap a text at 80 columns; lines after the first begin with the margin."""
    return textwrap.fill(text, COLUMNS, subsequent_indent=margin, break_on_hyphens=False)


def quote(text: str) -> str:
    """Quote a text in an error message: one line of ASCII, shortened if it is long."""
    return ascii(text) if len(ascii(text)) <= 40 else f"{text[:30]!a}..."


def format_path(path: object) -> str:
    """Format a file's name as it is if it is printable and not empty, else quoted in ASCII."""
    text = str(path)
    with suppress(UnicodeEncodeError):
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")
        if text and text.isprintable():
            return text
    return ascii(text)


def find_name(word: str, what: str, names: Iterable[str]) -> str:
    """Find the name that equals a word, ignoring case. Raises InputError if there is none."""
    for name in names:
        if name.lower() == word.lower():
            return name
    raise InputError(f"{quote(word)} is not a {what}: {', '.join(names)}")


def join_blocks(*blocks: str, gap: str = "\n\n") -> str:
    """Join blocks, by default with empty lines between them; those of one line are wrapped."""
    return gap.join(block if "\n" in block else wrap(block) for block in blocks if block)


# ------------------------------------------------ tables
def format_table(
    heads: Sequence[str], rows: Sequence[Sequence[object]], summed: Sequence[str] = ()
) -> str:
    """Format columns of text flush left and of numbers aligned at their decimal points.

    A last row adds up the columns whose heads are summed. A last column of text is wrapped. Columns
    beyond a width of 80 characters follow below, after the first column again.
    """
    values = [*zip(*rows, strict=True)]
    if summed:
        columns = zip(heads[1:], values[1:], strict=True)
        sums = [sum(column) if head in summed else "" for head, column in columns]
        values = [(*column, total) for column, total in zip(values, ["sum", *sums], strict=True)]
    cells = [_align(head, column) for head, column in zip(heads, values, strict=True)]
    widths = [len(column[0]) for column in cells]
    if isinstance(values[-1][0], str):
        widths[-1] = max(len(word) for cell in cells[-1] for word in cell.split())
    blocks = [[0]]
    for number in range(1, len(cells)):
        if sum(widths[other] + 2 for other in blocks[-1]) + widths[number] > COLUMNS:
            blocks.append([0] if widths[0] + 2 + widths[number] <= COLUMNS else [])
        blocks[-1].append(number)
    return "\n".join(_format_lines([cells[number] for number in block]) for block in blocks)


def _format_lines(columns: Sequence[Sequence[str]]) -> str:
    """Put columns side by side; the last one is wrapped if it is too wide."""
    lines = []
    for *cells, last in zip(*columns, strict=True):
        left = "  ".join([*cells, ""])
        parts = [last.rstrip()]
        if len(left + parts[0]) > COLUMNS:
            parts = textwrap.wrap(last, COLUMNS - len(left), break_on_hyphens=False)
        lines += [left + parts[0], *(" " * len(left) + line for line in parts[1:])]
    return "\n".join(line.rstrip() for line in lines)


def _align(head: str, values: Sequence[Any]) -> list[str]:
    """Format a column's head and values as lines, equally long."""
    cells = [value if isinstance(value, str) else format_number(value) for value in values]
    is_text = isinstance(values[0], str)
    if not is_text:
        widths = [len(cell.partition(".")[2]) + ("." in cell) for cell in cells]
        pairs = zip(cells, widths, strict=True)
        cells = [cell + " " * (max(widths) - width) for cell, width in pairs]
    cells = [head, *cells]
    width = max(map(len, cells))
    return [cell.ljust(width) if is_text else cell.rjust(width) for cell in cells]


# ------------------------------------------------ JSON
def to_plain(value: Any) -> Any:
    """Convert records to dictionaries of their fields, and tuples to lists."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {name: to_plain(part) for name, part in value.items()}
    return [to_plain(part) for part in value] if isinstance(value, (list, tuple)) else value


def format_json(value: object, default: Callable[[Any], object] = float) -> str:
    """Format JSON: ints as they are, Fractions as `default` converts them."""
    import json  # takes as long as some answers

    return json.dumps(to_plain(value), indent=2, default=default)
