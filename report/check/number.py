"""How a number is read: its units, its digits, and the answers with which it agrees."""

import re
from ctypes import c_float
from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import NamedTuple

from lab3 import Rate

LEAST_DIGITS = 3  # of a number that is called right
MOST_DIGITS = 10  # that count: beyond, floats are noise
FLOAT32_DIGITS = 7  # that count of a latency that is a float32, whose ten digits or more are exact
ASKED_UNIT = {"latency": "seconds", "traffic": "bytes"}
UNITS: dict[str, tuple[str, list[Rate], str]] = {
    "seconds": ("latency", [1], "s sec secs second seconds"),
    "ms": ("latency", [Fraction(1, 10**3)], "ms msec millisecond milliseconds"),
    "us": ("latency", [Fraction(1, 10**6)], "us usec microsecond microseconds"),
    "ns": ("latency", [Fraction(1, 10**9)], "ns nsec nanosecond nanoseconds"),
    "bytes": ("traffic", [1], "b byte bytes"),
    "KB": ("traffic", [10**3, 2**10], "kb kilobyte kilobytes"),
    "MB": ("traffic", [10**6, 2**20], "mb megabyte megabytes"),
    "GB": ("traffic", [10**9, 2**30], "gb gigabyte gigabytes"),
    "KiB": ("traffic", [2**10], "kib kibibyte kibibytes"),
    "MiB": ("traffic", [2**20], "mib mebibyte mebibytes"),
    "GiB": ("traffic", [2**30], "gib gibibyte gibibytes"),
    "bits": ("traffic", [Fraction(1, 8)], "bit bits"),
}  # what they measure, how many seconds or bytes they are (one or the other), how they are spelt
WHOLE = ("bytes", "bits")  # whole numbers of them are exact
THOUSANDS = re.compile(r"[1-9]\d{0,2}([,_.])\d{3}(?:\1\d{3})*(?:(?!\1)\.\d+)?")
DECIMAL = re.compile(r"\d+(?:[.,]\d+)?|\.\d+")
ZERO_PLACE = Fraction(1, 10**200)  # the last place of a zero, with which nothing else agrees
WIDENING = 1e-9  # of a span, in parts of its ends: more than floats are off


class Number(NamedTuple):
    """A number of a line; without amounts, what is there and is no number."""

    text: str = ""  # as it is written, without its unit
    unit: str = ""  # as it is written: one of UNITS, or empty
    digits: int = 0  # that count, of the first amount
    amounts: tuple[Rate, ...] = ()  # in seconds or bytes: one of them is meant
    rounding: Fraction = Fraction(0)  # half of what the last digit counts for, of the first amount
    spans: tuple[tuple[Fraction, Fraction], ...] = ()  # of answers that agree: least, and above all
    near: tuple[tuple[float, float], ...] = ()  # the spans a little wider, for a first test

    @property
    def amount(self) -> Fraction:
        """The first of the amounts, where 1 KB is 1,000 bytes; 0 if there are none."""
        return Fraction(self.amounts[0] if self.amounts else 0)

    def agrees(self, answer: Rate) -> bool:
        """Return whether the answer, rounded or truncated to these digits, is this number."""
        return any(low <= answer < high for low, high in self.spans)

    def equals(self, other: "Number") -> bool:
        """Return whether two numbers are the same, or one agrees with the other."""
        if self == other:
            return True
        return any(map(self.agrees, other.amounts)) or any(map(other.agrees, self.amounts))

    def suffices_for(self, answer: Rate) -> bool:
        """Return whether the digits suffice to call this number an answer with which it agrees."""
        return answer in self.amounts or self.digits >= LEAST_DIGITS


def read_number(text: str, unit: str, kind: str) -> Number | None:
    """Read a number of a unit, by default the asked one; None if its form is unknown."""
    size = unit or ASKED_UNIT[kind]
    mantissa, power, exponent = text.lower().lstrip("-").partition("e")
    written = []  # groups of thousands, then a decimal point or comma
    groups = None if power else THOUSANDS.fullmatch(mantissa)
    if groups and (groups[1] != "." or size in WHOLE):  # 3.127 ms are never 3127 ms
        written.append(mantissa.replace(groups[1], ""))
    if DECIMAL.fullmatch(mantissa):
        written.append(mantissa.replace(",", ".") + power + exponent)
    if not written or text.startswith("-"):
        return Number(text, unit) if written or not re.search(r"\d", text) else None
    ways = [_measure(it, size, Fraction(times)) for it in written for times in UNITS[size][1]]
    digits, amounts, places = zip(*ways, strict=True)
    spans = tuple((amount - place / 2, amount + place) for _, amount, place in ways)
    near = tuple((float(low) * (1 - WIDENING), float(high) * (1 + WIDENING)) for low, high in spans)
    return Number(text, unit, digits[0], amounts, places[0] / 2, spans, near)


def _measure(written: str, unit: str, size: Fraction) -> tuple[int, Fraction, Fraction]:
    """Measure a number such as 3.1e-3: digits that count, amount, and place of the last digit."""
    value = Decimal(written)
    counted = "".join(map(str, value.as_tuple().digits)).lstrip("0")
    most = (
        FLOAT32_DIGITS
        if UNITS[unit][0] == "latency" and _is_float32(counted, value)
        else MOST_DIGITS
    )
    digits = min(len(counted if "." in written else counted.rstrip("0")), most)
    is_exact = unit in WHOLE and written.isdigit()
    place = 1 if is_exact else Fraction(10) ** (value.adjusted() - digits + 1)
    return digits, Fraction(value) * size, place * size if value else ZERO_PLACE


def _is_float32(digits: str, value: Decimal) -> bool:
    """Return whether a number of ten digits or more is exactly a float32's value."""
    is_long = len(digits.rstrip("0")) >= MOST_DIGITS
    return is_long and float(value) == c_float(float(value)).value < inf
