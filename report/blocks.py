"""Texts as data: paragraphs, formulas, and tables. Each is told of named values, a dictionary.

A sentence with a value that is None is left out; a name that does not exist is a KeyError.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from string import Formatter
from typing import Any, NamedTuple

from lab3 import Rate
from report.terminal import GIGA, MS, NS, US, count, filled, is_exact, number, short, table

Named = Mapping[str, Any]


class Table(NamedTuple):
    """Rows of cells, if there are any."""

    heads: Sequence[str]
    rows: Sequence[Sequence[Any]]
    summed: Sequence[str] = ()  # heads of columns that a last row adds up


class When(NamedTuple):
    """Blocks that are left out where a value is None."""

    name: str
    blocks: Sequence[Block]


# A string is a sentence, or the name of a table in braces; one of several lines is printed as it
# stands. A tuple is a paragraph.
Block = str | tuple[str, ...] | When


def texts(blocks: Sequence[Block], named: Named) -> Iterator[str]:
    """Each block that is not left out, for a terminal."""
    for block in blocks:
        if isinstance(block, When):
            yield from texts(block.blocks, named) if named[block.name] is not None else ()
            continue
        if not isinstance(block, str):
            text = filled(" ".join(texts(block, named)))
        elif "\n" in block:
            text = block
        elif isinstance(value := named.get(block.strip("{}")), Table):
            text = _table_text(value)
        else:
            text = filled(sentence(block, named))
        if text:
            yield text


# ------------------------------------------------ sentences

UNITS: dict[str, Rate] = {"s": 1, "ms": MS, "us": US, "ns": NS}
UNITS |= {"GOPS": Fraction(1, GIGA), "GB/s": Fraction(1, GIGA)}


def sentence(text: str, named: Named) -> str:
    """The sentence with its values, empty if it is left out. In a sum of which a number is rounded,
    = is ~."""
    parts, equals = [], " = "
    for words, name, form, _ in Formatter().parse(text):
        parts.append(words)
        if name:
            value = named[name]
            if value is None:
                return ""
            parts.append(_said(name, value, form or ""))
            if form in UNITS and not is_exact(value * UNITS[form]):
                equals = " ~ "
    return "".join(parts).replace(" = ", equals)


def _said(name: str, value: Any, form: str) -> str:
    """The form is a unit that follows, or what is counted. Without one, Fractions are rounded,
    times in the largest unit of which there is one or more."""
    if isinstance(value, str):
        return value
    if form in UNITS:
        return number(Fraction(value * UNITS[form]))
    if isinstance(value, int):
        return count(value, form) if form else number(value)
    if not name.endswith("_s"):
        return short(value, 3)
    unit = next((unit for unit in ("s", "ms", "us") if value * UNITS[unit] >= 1), "ns")
    return f"{short(value * UNITS[unit], 5)} {unit}"


# ------------------------------------------------ tables


def _table_text(block: Table) -> str:
    if not block.rows:
        return ""
    rows = [[*row] for row in block.rows]
    if block.summed:
        columns = dict(zip(block.heads, zip(*block.rows, strict=True), strict=True))
        sums = [sum(columns[head]) if head in block.summed else "" for head in block.heads]
        every = [cell for row in [*rows, sums] for cell in row]
        is_rounded = any(isinstance(cell, Fraction) and not is_exact(cell) for cell in every)
        rows.append(["~ sum" if is_rounded else "sum", *sums[1:]])
    return table(block.heads, rows)
