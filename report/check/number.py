"""How a number is read: its unit, its digits, and the answers with which it agrees."""

import re
from ctypes import c_float
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import inf
from typing import NamedTuple

from lab3 import Rate

LEAST_DIGITS = 3  # of a number that is called right
MOST_DIGITS = 10  # that count: beyond, floats are noise
FLOAT32_DIGITS = 7  # that count of a latency that is a float32, whose ten digits or more are exact
ASKED_UNIT = {"latency": "seconds", "traffic": "bytes"}
UNITS: dict[str, tuple[str, list[int | Fraction], str]] = {
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
}  # what a unit measures, how many seconds or bytes it has (any of them), how it is spelt
WHOLE = ("bytes", "bits")  # whole numbers of them are exact
THOUSANDS = re.compile(r"[1-9]\d{0,2}([,_.])\d{3}(?:\1\d{3})*(?:(?!\1)\.\d+)?")
DECIMAL = re.compile(r"\d+(?:[.,]\d+)?|\.\d+")
ZERO_PLACE = Fraction(1, 10**200)  # the last place of a zero, with which nothing else agrees
WIDENING = 1e-9  # of a span, relative to its ends: more than the error of a float


class Number(NamedTuple):
    """The number of a line. A text that is no number, such as "nan", has no amounts."""

    text: str = ""  # as it is written, without its unit
    unit: str = ""  # one of UNITS, or empty if none is written
    digits: int = 0  # that count, of the first amount
    amounts: tuple[Rate, ...] = ()  # in seconds or bytes: any of them may be meant
    rounding: Fraction = Fraction(0)  # half of the last digit's place, of the first amount
    spans: tuple[tuple[Fraction, Fraction], ...] = ()  # of answers that agree: least, above all
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
        agreeing = [*map(self.agrees, other.amounts), *map(other.agrees, self.amounts)]
        return self == other or any(agreeing)

    def suffices_for(self, answer: Rate) -> bool:
        """Return whether a number that agrees with the answer has enough digits to be right."""
        return answer in self.amounts or self.digits >= LEAST_DIGITS


def read_number(text: str, unit: str, kind: str) -> Number | None:
    """Read a number in its unit, by default the one asked for; None if its form is unknown."""
    unit_name = unit or ASKED_UNIT[kind]
    mantissa, power, exponent = text.lower().lstrip("-").partition("e")
    plain = []  # without groups of thousands, and with a decimal point
    groups = None if power else THOUSANDS.fullmatch(mantissa)
    if groups and (groups[1] != "." or unit_name in WHOLE):  # 3.127 ms are never 3127 ms
        plain.append(mantissa.replace(groups[1], ""))
    if DECIMAL.fullmatch(mantissa):
        plain.append(mantissa.replace(",", ".") + power + exponent)
    if text.startswith("-") or not plain:
        return Number(text, unit) if plain or not re.search(r"\d", text) else None
    ways = [_measure(*way, unit_name) for way in product(plain, UNITS[unit_name][1])]
    digits, amounts, places = zip(*ways, strict=True)
    spans = tuple((amount - place / 2, amount + place) for _, amount, place in ways)
    near = tuple((float(low) * (1 - WIDENING), float(high) * (1 + WIDENING)) for low, high in spans)
    return Number(text, unit, digits[0], amounts, places[0] / 2, spans, near)


def _measure(plain: str, size: int | Fraction, unit: str) -> tuple[int, Fraction, Fraction]:
    """Return the digits that count, the amount, and the place of the last digit that counts."""
    value = Decimal(plain)
    written = "".join(map(str, value.as_tuple().digits)).lstrip("0")
    significant = written.rstrip("0")
    is_long_latency = UNITS[unit][0] == "latency" and len(significant) >= MOST_DIGITS
    is_float32 = is_long_latency and float(value) == c_float(float(value)).value < inf
    most = FLOAT32_DIGITS if is_float32 else MOST_DIGITS
    digits = min(len(written if "." in plain else significant), most)
    is_exact = unit in WHOLE and plain.isdigit()
    place = Fraction(1) if is_exact else Fraction(10) ** (value.adjusted() - digits + 1)
    return digits, Fraction(value) * size, place * size if value else ZERO_PLACE
