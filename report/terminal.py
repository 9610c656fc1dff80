"""Numbers, sentences and tables for people, in a terminal of 80 columns; JSON for programs."""

from __future__ import annotations

import re
import textwrap
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import lab3
from lab3 import Rate

COLUMNS = 80
MS, US, NS = 10**3, 10**6, 10**9  # in a second
MB, GIGA, KIB = 10**6, 10**9, 1024
EXACT_DIGITS, ROUNDED_DIGITS, SHORT_DIGITS = 12, 9, 4

# ------------------------------------------------ numbers and sentences


def number(value: Rate) -> str:
    """With thousands grouped. An int is whole; a Fraction exact if 12 digits suffice, else rounded
    to 9 digits, or to a whole number where that has more."""
    if isinstance(value, int):
        return f"{value:,}"
    text = lab3.plain(value, EXACT_DIGITS)
    if Fraction(text) != value:
        text = lab3.plain(value, max(ROUNDED_DIGITS, len(f"{int(value)}")))
    text = f"{Decimal(text):,f}"
    if len(text) <= EXACT_DIGITS + 4:
        return text
    return f"{Decimal(lab3.plain(value, ROUNDED_DIGITS)):.{ROUNDED_DIGITS - 1}e}"


def rounded(value: Rate, digits: int = SHORT_DIGITS) -> Decimal:
    """To so many significant digits, of which zeros at the end stay; with fewer it is exact."""
    quotient = Decimal(value.numerator), Decimal(value.denominator)
    return Context(prec=digits).divide(*quotient)


def short(value: Rate, digits: int = SHORT_DIGITS) -> str:
    """Rounded, for a sentence or a ratio."""
    return _plain(rounded(value, digits))


def _plain(value: Decimal) -> str:
    text = f"{value:,f}"
    return text if len(text) <= EXACT_DIGITS + 4 else f"{value:e}"


def is_exact(value: Rate) -> bool:
    """Whether number prints all of it."""
    return Fraction(number(value).replace(",", "")) == value


def count(amount: int, thing: str) -> str:
    """1 node, 1,000 nodes."""
    return f"{amount:,} {thing}{'s' * (amount != 1)}"


def shown(value: object) -> str:
    """A value in an error message: one line of ASCII, a text in quotes even if it is cut."""
    try:
        text = ascii(value)
    except ValueError:  # Python prints no int of more than 4,300 digits
        return "an int of very many digits"
    start = ascii(value[:30]) if isinstance(value, str) else text[:30]
    return text if len(text) <= 40 else f"{start}..."


def path_text(path: object) -> str:
    """A file's name in printable ASCII; one that has other characters as repr does."""
    text = str(path)
    return text if text.isascii() and text.isprintable() else ascii(text)


def filled(text: str, margin: str = "") -> str:
    """The text on lines of a terminal, those after the first behind the margin."""
    return textwrap.fill(text, COLUMNS, subsequent_indent=margin, break_on_hyphens=False)


# ------------------------------------------------ tables


class Digits(Decimal):
    """A number of which a table shows all digits."""


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns of text flush left and of numbers flush right, decimal points below each other; a
    last column of text is broken between words or after commas. A table too wide for that is a
    block of lines per row."""
    cells = [[_cell(value) for value in row] for row in rows]
    is_text = [any(isinstance(row[n], str) and row[n] for row in rows) for n in range(len(head))]
    columns = [
        (name, *(texts if flush_left else _at_the_point(texts)))
        for name, texts, flush_left in zip(
            head, _transposed(cells, len(head)), is_text, strict=True
        )
    ]
    widths = [max(map(len, column)) for column in columns]
    left_width = sum(widths[:-1]) + 2 * len(widths[:-1])
    words = _words(" ".join(columns[-1])) if is_text[-1] else []
    last_width = max((len(word.rstrip()) for word in words), default=widths[-1])
    if left_width + last_width > COLUMNS:
        return _blocks(head, cells)
    lines = []
    for row in zip(*columns, strict=True):
        aligned = [
            text.ljust(width) if flush_left else text.rjust(width)
            for text, width, flush_left in zip(row, widths, is_text, strict=True)
        ]
        lines += _broken("".join(f"{text}  " for text in aligned[:-1]), aligned[-1].rstrip())
    return "\n".join(lines)


def _cell(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return {None: "-", True: "yes", False: "NO"}[value]
    if isinstance(value, Digits):
        return f"{value:f}"
    if isinstance(value, Decimal):
        return _plain(value)
    assert isinstance(value, (int, Fraction))
    return number(value)


def _transposed(rows: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    return [[row[n] for row in rows] for n in range(width)]


def _at_the_point(texts: Sequence[str]) -> list[str]:
    """Numbers with blanks behind them, so that decimal points are below each other, unless one has
    an exponent."""
    behind = [len(text.partition(".")[2]) + ("." in text) for text in texts]
    most = 0 if any("e" in text for text in texts) else max(behind, default=0)
    return [text + " " * (most - length) for text, length in zip(texts, behind, strict=True)]


def _blocks(head: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    width = max(map(len, head))
    return "\n\n".join(
        "\n".join(
            line
            for name, text in zip(head, row, strict=True)
            if text
            for line in _broken(f"{name:<{width}}  ", text)
        )
        for row in cells
    )


def _words(text: str) -> list[str]:
    """Up to and with a space or a comma."""
    return re.findall("[^ ,]*[ ,]|[^ ,]+", text) or [""]


def _broken(left: str, text: str) -> list[str]:
    """The text behind what is left of it, on as many lines as it needs."""
    lines = [left]
    for word in _words(text):
        if len(lines[-1] + word.rstrip()) > COLUMNS and len(lines[-1]) > len(left):
            lines.append(" " * len(left))
        lines[-1] += word
    return [line.rstrip() for line in lines]


# ------------------------------------------------ names


def one_of(what: str, known: Iterable[str]) -> Callable[[str], str]:
    """The type of an argument that takes one of these names, in small letters or not."""
    names = [*known]

    def parse(word: str) -> str:
        if word.lower() in names:
            return word.lower()
        raise ArgumentTypeError(f"{shown(word)} is not a {what}; {meant(word, names)}")

    return parse


def meant(word: str, known: Iterable[str]) -> str:
    """The end of a refusal: the name that was meant, which begins with the word, has three letters
    or more of it, or is like it; if there is none, all names."""
    from difflib import get_close_matches  # only an error needs it

    names, letters = [*known], word.strip("-").lower()
    starting = [name for name in names if letters and name.strip("-").startswith(letters)]
    having = [name for name in names if len(letters) > 2 and letters in name]
    found = [*starting, *having, *get_close_matches(word.lower(), names, 1, cutoff=0.7)]
    return f"did you mean {found[0]}?" if found else f"there are {', '.join(names)}"


# ------------------------------------------------ JSON


def plain_data(value: Any) -> Any:
    """Records as dictionaries of their fields, and tuples as lists."""
    value = value._asdict() if hasattr(value, "_asdict") else value
    if isinstance(value, dict):
        return {name: plain_data(each) for name, each in value.items()}
    return [plain_data(each) for each in value] if isinstance(value, (list, tuple)) else value


def json_text(value: object) -> str:
    """Ints as they are, Fractions as the nearest floats."""
    import json  # takes as long as some answers

    return json.dumps(plain_data(value), indent=2, default=float)
