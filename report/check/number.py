"""Printed numbers: their units, significant digits, and the answers that they agree with."""

import re
from ctypes import c_float
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import inf
from typing import NamedTuple

from lab3 import Rate

LEAST_DIGITS = 3  # needed to call a number right
MOST_DIGITS = 10  # that are significant: further digits of a float are noise
FLOAT32_DIGITS = 7  # significant in a latency that has at least 10 digits and is exactly a float32
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
}  # by unit: its kind, its possible sizes in seconds or bytes, its spellings
WHOLE = ("bytes", "bits")  # a whole number of these units is exact
THOUSANDS = re.compile(r"[1-9]\d{0,2}([,_.])\d{3}(?:\1\d{3})*(?:(?!\1)\.\d+)?")
DECIMAL = re.compile(r"\d+(?:[.,]\d+)?|\.\d+")
ZERO_PLACE = Fraction(1, 10**200)  # the last place of a zero: so small that only 0 agrees
WIDENING = 1e-9  # of a span, relative to its ends: more than a float's rounding error


class Number(NamedTuple):
    """A printed number. A text that is not a number, such as "nan", has no amounts."""

    text: str = ""  # as printed, without its unit
    unit: str = ""  # a key of UNITS, or empty if none is printed
    digits: int = 0  # significant digits of the first amount
    amounts: tuple[Rate, ...] = ()  # in seconds or bytes, one per possible reading
    rounding: Fraction = Fraction(0)  # half a unit in the first amount's last place
    spans: tuple[tuple[Fraction, Fraction], ...] = ()  # answers that agree: from low to below high
    near: tuple[tuple[float, float], ...] = ()  # the spans, slightly wider, for a first test

    @property
    def amount(self) -> Fraction:
        """Return the first amount, in which 1 KB is 1,000 bytes, or 0 if there is none."""
        return Fraction(self.amounts[0] if self.amounts else 0)

    def agrees(self, answer: Rate) -> bool:
        """Return whether this number is the answer, rounded or truncated to its digits."""
        return any(low <= answer < high for low, high in self.spans)

    def equals(self, other: "Number") -> bool:
        """Return whether two numbers are the same, or one agrees with the other."""
        agreeing = [*map(self.agrees, other.amounts), *map(other.agrees, self.amounts)]
        return self == other or any(agreeing)

    def suffices_for(self, answer: Rate) -> bool:
        """Return whether a number that agrees with the answer has enough digits to be right."""
        return answer in self.amounts or self.digits >= LEAST_DIGITS


def read_number(text: str, unit: str, kind: str) -> Number | None:
    """Read a number in its unit (default: the unit asked for), or None if its form is unknown."""
    unit_name = unit or ASKED_UNIT[kind]
    mantissa, power, exponent = text.lower().lstrip("-").partition("e")
    plain = []  # without thousands separators, with a decimal point
    groups = None if power else THOUSANDS.fullmatch(mantissa)
    if groups and (groups[1] != "." or unit_name in WHOLE):  # 3.127 ms is never 3127 ms
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
    """Return the number of significant digits, the amount, and the last one's place value."""
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
