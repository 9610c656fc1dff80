"""Figures and tables for people, in a terminal of 80 columns, and the same as JSON for programs."""

from __future__ import annotations

import whatif  # first, since it finds lab3

# isort: split
import json
import textwrap
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import lab3

DIGITS = (12, 10, 8, 6, 4)  # of the figures in a table: as many as there is room for


def figure(value: object, digits: int = DIGITS[0]) -> str:
    """A number with thousands grouped: exact where so many digits suffice, else rounded to 9 or
    fewer, or to a whole number. Of what is no number: the text, yes or NO, a dash for None."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return {None: "-", True: "yes", False: "NO"}[value]
    assert isinstance(value, int | Fraction)
    exact = lab3.plain(value, digits)
    rounded = lab3.plain(value, min(digits, max(9, len(f"{int(value)}"))))
    grouped = f"{Decimal(exact if Fraction(exact) == value else rounded):,f}"
    if len(grouped) <= digits + 4:
        return grouped
    return f"{Decimal(rounded):.{min(digits, 9) - 1}e}"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns of text flush left and of numbers flush right, with as many digits as there is room
    for; the last column, if of text, is broken between words or after commas."""
    columns = [*zip(head, *rows, strict=True)]
    for digits in DIGITS:
        lines = _lines(columns, digits)
        if max(map(len, lines)) <= whatif.COLUMNS:
            break
    return "\n".join(lines)


def _lines(columns: Sequence[Sequence[object]], digits: int) -> list[str]:
    lines: list[str] = []
    for *cells, last in zip(*(_column(cells, digits) for cells in columns), strict=True):
        left = "  ".join([*cells, ""])
        if len(left + last.rstrip()) <= whatif.COLUMNS or not _is_text(columns[-1]):
            lines.append(left + last.rstrip())
        else:
            lines += _broken(left, last)
    return lines


def _column(cells: Sequence[object], digits: int) -> list[str]:
    texts = [figure(cell, digits) for cell in cells]
    width = max(map(len, texts))
    adjust = str.ljust if _is_text(cells) else str.rjust
    return [adjust(text, width) for text in texts]


def _is_text(cells: Sequence[object]) -> bool:
    return any(isinstance(cell, str) and cell for cell in cells[1:])


def _broken(left: str, text: str) -> list[str]:
    after_comma = "\0 "  # a place that may be broken, and leaves no trace
    wrapped = textwrap.wrap(
        text.replace(",", f",{after_comma}").replace(f"{after_comma} ", " "),
        whatif.COLUMNS,
        initial_indent=left,
        subsequent_indent=" " * len(left),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(after_comma, "").replace("\0", "") for line in wrapped]


def json_text(value: object, of_fraction: Callable[[Fraction], object] = float) -> str:
    """Records as objects with their fields, ints as they are, Fractions as the nearest floats."""
    return json.dumps(_plain_data(value), indent=2, default=of_fraction)


def _plain_data(value: Any) -> Any:
    value = value._asdict() if hasattr(value, "_asdict") else value
    if isinstance(value, dict):
        return {name: _plain_data(each) for name, each in value.items()}
    return [_plain_data(each) for each in value] if isinstance(value, (list, tuple)) else value
