"""A number that somebody has, its unit, and which answers agree with it as far as its digits go."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import NamedTuple

from lab3 import Rate
from report.terminal import count

LEAST_DIGITS = 3  # of a number that is called right, or right in another unit
FULL_DIGITS = 10  # of a time: beyond, floats are noise
MOST_LENGTH = 120  # characters that are read, so that an overlong number costs nothing


class Unit(NamedTuple):
    """Of a latency or of traffic."""

    kind: str
    factor: Rate  # so many are a second or a byte
    spellings: str


UNITS = {
    "seconds": Unit("latency", 1, "s sec second seconds"),
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
MICRO = dict.fromkeys(map(ord, "\u00b5\u03bc"), "u")
NUMBER = re.compile(
    r"(?P<number>[+-]?(?:(?:(?:\d{1,3}(?:[, ]\d{3})+|\d[\d_]*)(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?"
    r"|inf(?:inity)?|nan))(?![\d_.,]*\d|e[+-]?\d)\s*(?P<unit>[a-z]*)(?!\w)",
    re.ASCII | re.IGNORECASE,
)


class Given(NamedTuple):
    """A number as it is written."""

    text: str  # without its unit
    value: Decimal  # which may be infinite, or no number at all
    unit: str  # as it is written, in small letters

    @property
    def digits(self) -> int:
        """Those that count: zeros at the end do, but for those of a whole number; zeros before the
        first other digit do not."""
        digits = "".join(map(str, self.value.as_tuple().digits))
        is_whole = self.value.as_tuple().exponent == 0
        return len(digits.rstrip("0") if is_whole else digits)

    def span(self, kind: str, factor: Rate) -> tuple[Fraction, Fraction]:
        """The answers, in seconds or bytes, of which so many times as many, rounded (a half either
        way) or cut, are this number: from half a unit of its last digit below it up to a whole one
        above it, which is excluded."""
        digits = min(self.digits, FULL_DIGITS) if kind == "latency" else self.digits
        last_place = Fraction(10) ** (self.value.adjusted() - digits + 1)
        value = Fraction(self.value)
        return (value - last_place / 2) / factor, (value + last_place) / factor

    def how(self, answer: Rate, kind: str, factor: Rate) -> str:
        """How it agrees: "rounded to 4 digits", "cut to ..."; empty if it is the whole answer."""
        off = abs(Fraction(self.value) / factor - answer)
        if not off or (kind == "latency" and self.digits > FULL_DIGITS):
            return ""
        low, high = self.span(kind, factor)  # one and a half units of the last digit
        return f"{'rounded' if 3 * off <= high - low else 'cut'} to {count(self.digits, 'digit')}"


def given(text: str) -> Given | None:
    """The number that the text begins with; None if there is none, or one that no float has."""
    found = NUMBER.match(text[:MOST_LENGTH].translate(MICRO).strip())
    if not found:
        return None
    value = Decimal(re.sub("[, _]", "", found["number"]))
    if value.is_finite() and value and not 0 < abs(float(value)) < inf:
        return None
    return Given(found["number"], value, found["unit"].lower())
