"""Numbers as somebody writes them, their units, and which answers agree with them."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from lab3 import Rate
from report.terminal import count

LEAST_DIGITS = 3  # of a number that is called right, or another line's
FULL_DIGITS = 10  # of a time: beyond, floats are noise
MOST_LENGTH = 120  # characters of a number
HALF_AND_TIE = Fraction(1, 2) + Fraction(1, 10**9)  # of the last digit: ties may be rounded down
MOST_POWER = 100  # of ten: beyond, results of arithmetic may be more than a float can have


class Unit(NamedTuple):
    """A unit of latency or of traffic."""

    kind: str
    factor: Rate  # how many are a second or a byte
    spellings: str


UNITS = {
    "seconds": Unit("latency", 1, "s sec secs second seconds"),
    "ms": Unit("latency", 10**3, "ms msec millisecond milliseconds"),
    "us": Unit("latency", 10**6, "us usec microsecond microseconds"),
    "ns": Unit("latency", 10**9, "ns nsec nanosecond nanoseconds"),
    "bytes": Unit("traffic", 1, "b byte bytes"),
    "kB": Unit("traffic", Fraction(1, 10**3), "kb kilobyte kilobytes"),
    "MB": Unit("traffic", Fraction(1, 10**6), "mb megabyte megabytes"),
    "GB": Unit("traffic", Fraction(1, 10**9), "gb gigabyte gigabytes"),
    "KiB": Unit("traffic", Fraction(1, 2**10), "kib kibibyte kibibytes"),
    "MiB": Unit("traffic", Fraction(1, 2**20), "mib mebibyte mebibytes"),
    "GiB": Unit("traffic", Fraction(1, 2**30), "gib gibibyte gibibytes"),
    "bits": Unit("traffic", 8, "bit bits"),
}
SPELLINGS = {word: name for name, unit in UNITS.items() for word in unit.spellings.split()}
BINARY = {"kB": "KiB", "MB": "MiB", "GB": "GiB"}  # which some write like the decimal ones
ASKED = {"latency": "seconds", "traffic": "bytes"}  # by the handout

ONE_LETTER = {"\u00b5": "u", "\u03bc": "u", "\u00d7": "x", "\u2212": "-"}  # micro, times, minus
MARKS = "*_`\"'"  # that may be around a number
NUMBER = re.compile(
    r"(?P<mantissa>[+-]?(?:(?:\d{1,3}(?:[, ]\d{3})+|\d[\d_]*)(?:\.\d*)?|\.\d+"
    r"|(?:inf(?:inity)?|nan)\b))"
    r"(?:e(?P<e>[+-]?\d{1,3})|\s*[x*]\s*10\s*(?:\^|\*\*)\s*(?P<power>[+-]?\d{1,3}))?"
    r"(?![\d_.,]*\d|e[+-]?\d)",
    re.ASCII | re.IGNORECASE,
)
OPERATOR = re.compile(r"(?:\s*[-+*/^]+|\s+x)\s*[\d(.]", re.ASCII | re.IGNORECASE)
ANOTHER = re.compile(r"(?<![\w.])\.?\d", re.ASCII)


class Given(NamedTuple):
    """A number as it is written."""

    text: str  # without its unit
    value: Decimal  # which may be infinite, or no number at all
    unit: str  # one of UNITS, or empty

    @property
    def digits(self) -> int:
        """How many digits count: without zeros before the first other digit, and without those at
        the end of a whole number."""
        digits = "".join(map(str, self.value.as_tuple().digits))
        is_whole = self.value.as_tuple().exponent == 0
        return len(digits.rstrip("0") if is_whole else digits)

    def span(self, kind: str, factor: Rate, may_be_cut: bool = True) -> tuple[Fraction, Fraction]:
        """The answers, in seconds or bytes, that are this number once they are multiplied by the
        factor and rounded, or cut: from half a unit of its last digit below it up to half a unit,
        or one, above it, where the upper end is excluded."""
        digits = min(self.digits, FULL_DIGITS) if kind == "latency" else self.digits
        last_place = Fraction(10) ** (self.value.adjusted() - digits + 1)
        value = Fraction(self.value)
        above = 1 if may_be_cut else HALF_AND_TIE
        return (value - last_place / 2) / factor, (value + above * last_place) / factor

    def is_full(self, kind: str) -> bool:
        """Whether its last digits are a float's noise."""
        return kind == "latency" and self.digits > FULL_DIGITS

    def how(self, answer: Rate, kind: str, factor: Rate) -> str:
        """How it agrees: "rounded to 4 digits", "cut to ..."; empty if it is the whole answer."""
        off = abs(Fraction(self.value) / factor - answer)
        if not off or self.is_full(kind):
            return ""
        low, high = self.span(kind, factor)  # one and a half units of the last digit
        return f"{'rounded' if 3 * off <= high - low else 'cut'} to {count(self.digits, 'digit')}"


def given(text: str) -> Given:
    """The number that the text begins with. Raises ValueError with what is there instead."""
    for letter, plain in ONE_LETTER.items():
        text = text.replace(letter, plain)
    text = text.strip().lstrip(MARKS)
    found = NUMBER.match(text[: 3 * MOST_LENGTH])
    length = found.end() if found else len(text) - len(text.lstrip("+-0123456789.,_"))
    if length > MOST_LENGTH:
        raise ValueError(f"a number of more than {MOST_LENGTH} characters")
    if not found:
        raise ValueError("no number")
    behind = text[found.end() :]
    if OPERATOR.match(behind):
        raise ValueError("an expression, not a number")
    behind = behind.lstrip(f"{MARKS} \t")
    if ANOTHER.search(behind):
        raise ValueError("not read, two numbers")
    word = re.split(r"\W", behind, maxsplit=1)[0]
    if word and word.lower() not in SPELLINGS:
        raise ValueError(f"{start(word)!r} is not a known unit")
    exponent = found["e"] or found["power"]
    value = Decimal(re.sub("[, _]", "", found["mantissa"]) + (f"e{exponent}" if exponent else ""))
    if value and value.is_finite() and abs(value.adjusted()) > MOST_POWER:
        raise ValueError(f"not between 1e-{MOST_POWER} and 1e{MOST_POWER}")
    return Given(found[0], value, SPELLINGS.get(word.lower(), ""))


def start(text: str, most: int = 22) -> str:
    """The start of a text as it may be repeated: printable ASCII, and not too much."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text[: most + 1])
    said = printable.encode("ascii", "replace").decode().strip()
    return said if len(text) <= most else f"{said[: most - 3]}..."
