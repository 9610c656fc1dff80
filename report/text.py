"""Numbers, sentences and tables for a terminal of 80 columns, in ASCII; JSON and files."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from decimal import Context, Decimal
from errno import EINVAL
from fractions import Fraction
from pathlib import Path
from signal import SIG_IGN, SIGINT, signal
from stat import S_IMODE, S_ISREG
from typing import Any

import lab3

Exact = int | Fraction
COLUMNS = 80
MS, US = 10**3, 10**6  # in a second
GIGA, KIB = 10**9, 1024
EXACT_DIGITS, ROUNDED_DIGITS = 12, 9
TINY = Fraction(1, 1_000)  # less is not written out in a picture
Unit = tuple[str, int]  # of time: its name, and how many make a second
UNITS = {"s": 1, "ms": 10**3, "µs": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15}


# ------------------------------------------------ numbers
def round_to(value: Exact, digits: int) -> Decimal:
    """Round to so many significant digits; a value that has fewer stays exact."""
    return Context(prec=digits).divide(Decimal(value.numerator), Decimal(value.denominator))


def is_short(value: Exact) -> bool:
    """Tell whether format_number prints all digits: of a whole number, or if 12 suffice."""
    return value.denominator == 1 or round_to(value, EXACT_DIGITS) == value


def format_number(value: Exact, digits: int = 0) -> str:
    """Format a number with thousands grouped, rounded to so many significant digits; by default
    exactly if it is short, else to 9 digits, or to a whole number if that has more."""
    if digits:
        return f"{round_to(value, digits):,f}"
    if value.denominator == 1:
        return f"{int(value):,}"
    digits = EXACT_DIGITS if is_short(value) else max(ROUNDED_DIGITS, len(f"{int(value)}"))
    return f"{Decimal(lab3.format_decimal(value, digits)):,f}"


def find_unit(most_s: Fraction) -> Unit:
    """Choose the largest unit of which there is at least one."""
    return next((unit for unit in UNITS.items() if most_s * unit[1] >= 1), ("fs", UNITS["fs"]))


def format_short(value: Fraction) -> str:
    """Format a number for a label: with three digits, four from 10 on, none if it is tiny."""
    return format_number(value, 4 if value >= 10 else 3) if value >= TINY else f"<{float(TINY)}"


def format_time(value_s: Fraction, unit: Unit) -> str:
    """Format a time in the unit of its picture."""
    return f"{format_short(value_s * unit[1])} {unit[0]}"


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


def find_name(word: str, what: str, names: Iterable[str]) -> str:
    """Find the name that a word is, in small letters or not. Raises ValueError if there is none."""
    for name in names:
        if name.lower() == word.lower():
            return name
    raise ValueError(f"{quote(word)} is not a {what}: {', '.join(names)}")


def join(*blocks: str) -> str:
    """Join blocks one below the other; those of one line are wrapped."""
    return "\n".join(block if "\n" in block else wrap(block) for block in blocks if block)


def join_paragraphs(*blocks: str) -> str:
    """Join blocks with empty lines between them; those of one line are wrapped."""
    return "\n\n".join(block if "\n" in block else wrap(block) for block in blocks if block)


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
        lines += [left + parts[0], *(" " * len(left) + more for more in parts[1:])]
    return "\n".join(line.rstrip() for line in lines)


def _align(head: str, values: Sequence[object]) -> list[str]:
    """Format a column's head and values as lines, equally long."""
    cells = [_format_cell(value) for value in values]
    is_text = isinstance(values[0], str)
    if not is_text:
        after = [len(cell.partition(".")[2]) + ("." in cell) for cell in cells]
        most = max(after)
        cells = [cell + " " * (most - places) for cell, places in zip(cells, after, strict=True)]
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


def format_json(value: object, default: Callable[[Any], object] = float) -> str:
    """Format JSON: ints as they are, Fractions as the nearest floats, or otherwise."""
    import json  # takes as long as some answers

    return json.dumps(to_plain(value), indent=2, default=default)


# ------------------------------------------------ files
def write_files(files: Mapping[str | Path, bytes]) -> None:
    """Write files beside their places, and move them there when all are written: then all of them
    are new, or none is. Raises OSError with the name of the file that was asked for. Ctrl-C is
    ignored meanwhile, so that nothing is left behind."""
    from tempfile import TemporaryDirectory  # takes as long as some answers

    with ExitStack() as folders, ExitStack() as undo:
        folders.callback(signal, SIGINT, signal(SIGINT, SIG_IGN))
        moves = {}
        try:
            for path, content in files.items():
                place = Path(os.path.realpath(path))  # of a link, where it leads
                check_place(place)
                folder = TemporaryDirectory(prefix=".lab3-", dir=place.parent)
                new = Path(folders.enter_context(folder), place.name)
                new.write_bytes(content)
                if place.exists():
                    new.chmod(S_IMODE(place.stat().st_mode))
                moves[path] = new, place
            for path in moves:
                move(*moves[path], undo)
        except OSError as error:
            raise OSError(error.errno, error.strerror or str(error), str(path)) from None
        undo.pop_all()


def check_place(place: Path) -> None:
    """Raise OSError if a file cannot be written there: it is protected, or no regular file."""
    try:
        is_file = S_ISREG(place.stat().st_mode)
    except FileNotFoundError:
        return
    if not is_file:
        raise OSError(EINVAL, "it is not a regular file")
    with place.open("ab"):
        pass


def move(new: Path, place: Path, undo: ExitStack) -> None:
    """Move a file to its place; note how to undo that, where the file system has hard links."""
    if not place.exists():
        undo.callback(place.unlink, missing_ok=True)
    else:
        old = new.with_name("old")
        with suppress(OSError):
            os.link(place, old)
            undo.callback(os.replace, old, place)
    os.replace(new, place)
