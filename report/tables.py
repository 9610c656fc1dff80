"""Figures and tables for people, in a terminal of 80 columns."""

from __future__ import annotations

import whatif  # first, since it finds lab3

# isort: split
import textwrap
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import lab3

WIDEST = 16  # a figure


def figure(value: object) -> str:
    """An exact number where 12 digits suffice, else rounded to 9, and thousands grouped; what is
    neither a number nor a text is a dash (None), or yes or NO."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return {None: "-", True: "yes", False: "NO"}[value]
    assert isinstance(value, int | Fraction)
    exact = lab3.plain(value, 12)
    text = exact if Fraction(exact) == value else lab3.plain(value, 9)
    grouped = f"{Decimal(text):,f}"
    return grouped if len(grouped) <= WIDEST else f"{Decimal(lab3.plain(value, 9)):.8e}"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns of text flush left and of numbers flush right; the last, if of text, is broken after
    commas where it is too wide for the terminal."""
    columns = []
    for name, *values in zip(head, *rows, strict=True):
        is_text = any(isinstance(value, str) and value for value in values)
        cells = [name, *map(figure, values)]
        width = max(map(len, cells))
        columns.append([cell.ljust(width) if is_text else cell.rjust(width) for cell in cells])
    lines = []
    for *cells, last in zip(*columns, strict=True):
        left = "  ".join([*cells, ""])
        lines.append(_broken(left, last.rstrip()))
    return "\n".join(lines)


def _broken(left: str, text: str) -> str:
    if len(left + text) <= whatif.COLUMNS:
        return left + text
    wrapper = textwrap.TextWrapper(
        whatif.COLUMNS,
        initial_indent=left,
        subsequent_indent=" " * len(left),
        break_on_hyphens=False,
    )
    return wrapper.fill(text.replace(",", ", ")).replace(", ", ",").replace(",\n", ",\n")
