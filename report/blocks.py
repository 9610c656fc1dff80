"""Texts as data: paragraphs of sentences with named values, formulas, and tables of records.

A name leads into what is told about, an object or a dictionary: {inputs}, {tensor.one.latency_s}.
Where its value is None, the sentence or column is left out, or all of a topic whose title it is in.
A name that does not exist at all is a KeyError or an AttributeError.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from string import Formatter
from typing import Any, NamedTuple

import lab3
from report.terminal import (
    GIGA,
    MS,
    NS,
    US,
    Digits,
    count,
    filled,
    is_exact,
    number,
    rounded,
    short,
    table,
)


class AsIs(str):
    """Lines that are printed as they stand, such as formulas."""

    __slots__ = ()


class Table(NamedTuple):
    """A row for each of some records, if there are any."""

    records: str  # their name
    heads: Sequence[str]  # each the name of a value of a record in words, then its unit
    unit: str = ""  # of heads that have none
    summed: Sequence[str] = ()  # heads of columns that a last row adds up


class When(NamedTuple):
    """What is left out where a value is None: blocks, or sentences of a paragraph."""

    name: str
    parts: Sequence[Block]


Block = str | tuple[str | When, ...] | Table | When  # a tuple is a paragraph


class Topic(NamedTuple):
    """A title, and what stands below it."""

    title: str
    blocks: Sequence[Block]
    has_symbols: bool = False  # of formulas


def topic_texts(topic: Topic, about: Any) -> list[str]:
    """The title in capitals, and each block, for a terminal; none if the title is left out."""
    title = sentence(topic.title, about)
    return [title.upper(), *texts(topic.blocks, about)] if title else []


def texts(blocks: Sequence[Block], about: Any) -> Iterator[str]:
    """Each block that is not left out, for a terminal."""
    for block in blocks:
        if isinstance(block, When):
            yield from texts(block.parts, about) if value(block.name, about) is not None else ()
        elif isinstance(block, Table):
            yield from _table_text(block, about)
        else:
            if isinstance(block, AsIs):
                text: str = block
            elif isinstance(block, str):
                text = filled(sentence(block, about))
            else:
                text = filled(" ".join(texts(block, about)))
            if text:
                yield text


# ------------------------------------------------ sentences

UNITS: dict[str, lab3.Rate] = {"s": 1, "ms": MS, "us": US, "ns": NS, "%": 100, "bytes": 1}
UNITS |= {"GOPS": Fraction(1, GIGA), "GB/s": Fraction(1, GIGA)}


def sentence(text: str, about: Any) -> str:
    """The sentence with its values, empty if it is left out. In a sum of which a number is rounded,
    = is ~."""
    parts, equals = [], " = "
    for words, name, form, _ in Formatter().parse(text):
        parts.append(words)
        if name:
            found = value(name, about)
            if found is None:
                return ""
            parts.append(_said(name, found, form or ""))
            if form in UNITS and not is_exact(found * UNITS[form]):
                equals = " ~ "
    return "".join(parts).replace(" = ", equals)


def value(name: str, about: Any) -> Any:
    """What the name leads to; None if it leads into None. Functions are called."""
    for each in name.split("."):
        if about is not None:
            about = about[each] if isinstance(about, dict) else getattr(about, each)
        if callable(about):
            about = about()
    return about


def _said(name: str, found: Any, form: str) -> str:
    """In a sentence: the form is a unit that follows, or what is counted. Without one, Fractions
    are rounded, times in the largest unit of which there is one or more."""
    if isinstance(found, str):
        return found
    if form in UNITS:
        return number(Fraction(found * UNITS[form]))
    if form:
        return count(found if isinstance(found, int) else len(found), form)
    if isinstance(found, int):
        return f"{found:,}"
    if not name.endswith("_s"):
        return short(found, 3)
    unit = next((unit for unit in ("s", "ms", "us") if found * UNITS[unit] >= 1), "ns")
    return f"{short(found * UNITS[unit], 5)} {unit}"


# ------------------------------------------------ tables

NAMES = {  # of heads that are no names in words
    "step": "work",
    "ops of a node": "node_ops",
    "bytes of a link": "link_bytes",
    "computing s": "compute_s",
    "used %": "utilisation",
    "speed-up": "speed_up",
    "times as fast": "speed_up",
    "fullest node": "where",
    "#": "rank",
    "SRAM bytes": "sram_bytes",
    "link GB/s": "links",
    "plan": "text",
    "weights": "weight_bytes",
    "input": "input_bytes",
    "output": "output_bytes",
    "total": "total_bytes",
    "free": "free_bytes",
    "us": "time_s",
    "us per row": "row_s",
    "%": "share",
    "latency, us": "what",
    "1 input": "one_s",
    "1 input s": "one_s",
    "{many:input}": "all_s",
    "{many:input} s": "all_s",
}


def _name(head: str) -> str:
    words = head.split()
    return NAMES.get(head) or "_".join(
        [*words[:-1], "s" if words[-1] in ("ms", "us") else words[-1]]
    )


def _table_text(block: Table, about: Any) -> Iterator[str]:
    records = value(block.records, about) or ()
    heads, columns, sums = [], [], []
    for head in block.heads:
        title, unit = sentence(head, about), head.rpartition(" ")[2]
        found = [value(_name(head), record) for record in records]
        if title and any(each is not None for each in found):
            unit = unit if unit in UNITS else block.unit
            heads.append(title)
            columns.append([_cell(each, head, unit) for each in found])
            sums.append(_cell(sum(found), head, unit) if head in block.summed else "")
    if not heads:
        return
    rows: list[list[object]] = [list(row) for row in zip(*columns, strict=True)]
    if block.summed:
        every = [*sums, *(each for column in columns for each in column)]
        is_rounded = any(isinstance(each, Fraction) and not is_exact(each) for each in every)
        rows.append(["~ sum" if is_rounded else "sum", *sums[1:]])
    yield table(heads, rows)


def _cell(found: Any, head: str, unit: str) -> object:
    """Latencies in seconds have all their digits, as lab3.py prints them; shares and ratios are
    rounded."""
    if not isinstance(found, Fraction):
        return found
    if head == "latency s":
        return Digits(lab3.plain(found))
    return rounded(found * UNITS.get(unit, 1)) if unit in ("%", "") else found * UNITS[unit]
