"""report/check/numbers.py: how a number is read, and which answers agree with it."""

from decimal import Decimal
from fractions import Fraction

import pytest

from program import python
from report.check.numbers import SPELLINGS, UNITS, given


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("0.5", "0.5", ""),
        (" 1,923,072 bytes", "1923072", "bytes"),
        ("1_923_072", "1923072", ""),
        ("1,234.50ms", "1234.50", "ms"),
        ("+3.5E-3  S.", "0.0035", "seconds"),
        ("-2e+1", "-20", ""),
        (".5 ms (rounded)", "0.5", "ms"),
        ("5. seconds", "5", "seconds"),
        ("3 \u00b5s", "3", "us"),
        ("3\u03bcs", "3", "us"),
        ("2s/op", "2", "seconds"),
        ("3.127 x 10^-3 s", "0.003127", "seconds"),
        ("3.127*10^-3", "0.003127", ""),
        ("3.127 \u00d7 10**-3", "0.003127", ""),
        ("**0.0031** seconds", "0.0031", "seconds"),
        ("`0.0031 s`", "0.0031", "seconds"),
        ("1 923 072 bytes", "1923072", "bytes"),
        ("1e100", "1e100", ""),
        ("0e9", "0", ""),
        ("0." + "1" * 118, "0." + "1" * 118, ""),
        ("inf", "inf", ""),
        ("-Infinity seconds", "-inf", "seconds"),
    ],
)
def test_a_number_and_its_unit(text, value, unit):
    found = given(text)
    assert (found.value, found.unit) == (Decimal(value), unit)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        *((text, "no number") for text in ("", "xxx", "s 5", "1,23", "1.2.3", "--5", "\u0663")),
        *((text, "no number") for text in ("1,2345", "1e9999999999999999999")),
        *(
            (text, "not between 1e-100 and 1e100")
            for text in ("1e309", "1e-400", "1e999", "9 x 10^400")
        ),
        *((text, "an expression") for text in ("3.127/1000", "32*0.0124", "2 + 2", "1-1", "2^8")),
        *((text, "two numbers") for text in ("2 3", "0.25 123", "0.0031 s (3.1 ms)", "1 s, 32 s")),
        *((text, "is not a known unit") for text in ("3 minutes", "3s2", "3\u00e9", "3 h", "0x1")),
        *((text, "more than 120 characters") for text in ("0." + "1" * 119, "1" * 10**6)),
    ],
)
def test_what_is_no_number(text, why):
    with pytest.raises(ValueError, match=why):
        given(text)


def test_not_a_number_is_told_from_no_number():
    assert given("NaN seconds").value.is_nan()


MILLION = """
from report.check.numbers import given
for text in ("1", "1,", ",111", "1_", "_", "1e", "e9", "1 111 ", "1.", " ", "\\u017f"):
    for front in ("", "1", "1" * 119, "1.5e"):
        try:
            given(front + text * (10**6 // len(text)))
        except ValueError:
            pass
"""


def test_a_million_characters_are_read_in_no_time():
    assert python("-c", MILLION, timeout=30).returncode == 0  # 44 of them


def test_digits_that_count():
    for text, digits in [
        ("100.10", 5), ("0.0012", 2), ("1,000", 1), ("1,020", 3), ("100.0", 4), ("1.00e3", 3),
        ("1e3", 1), ("1.50e-7", 3), ("7", 1),
    ]:  # fmt: skip
        assert given(text).digits == digits


UNIT_SIZES = {  # in seconds or bytes
    "seconds": 1, "ms": "1e-3", "us": "1e-6", "ns": "1e-9", "bytes": 1, "kB": 10**3, "MB": 10**6,
    "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "bits": "0.125",
}  # fmt: skip


def test_units_and_their_words():
    assert {name: 1 / Fraction(it.factor) for name, it in UNITS.items()} == {
        name: Fraction(size) for name, size in UNIT_SIZES.items()
    }
    assert {it for it in UNITS if UNITS[it].kind == "latency"} == {"seconds", "ms", "us", "ns"}
    for word, name in [
        ("s", "seconds"), ("sec", "seconds"), ("millisecond", "ms"), ("microseconds", "us"),
        ("usec", "us"), ("gb", "GB"), ("gib", "GiB"),
        ("b", "bytes"), ("kb", "kB"), ("megabytes", "MB"), ("mib", "MiB"), ("bit", "bits"),
    ]:  # fmt: skip
        assert SPELLINGS[word] == name


@pytest.mark.parametrize(
    ("text", "kind", "least", "beyond"),
    [  # half a unit of the last digit below, up to a whole one above
        ("3.1", "latency", "3.05", "3.2"),
        ("3.10", "latency", "3.095", "3.11"),
        ("100.", "traffic", "50", "200"),  # zeros of a whole number do not count
        ("120", "traffic", "115", "130"),
        ("1.0e2", "traffic", "95", "110"),
        ("1234567.89012", "latency", "1234567.88962", "1234567.89112"),  # of ten digits
        ("1234567890123", "traffic", "1234567890122.5", "1234567890124"),
    ],
)
def test_which_answers_agree(text, kind, least, beyond):
    number = given(text)
    assert number.span(kind, 1) == (Fraction(least), Fraction(beyond))
    assert number.span(kind, 1000) == (Fraction(least) / 1000, Fraction(beyond) / 1000)


def test_which_answers_agree_if_it_is_not_cut():
    low, high = given("3.12").span("latency", 1, may_be_cut=False)
    assert low == Fraction("3.115") and Fraction("3.125") < high < Fraction("3.12500001")


def test_how_a_number_agrees():
    answer = Fraction("0.10007232512")
    for text, how in [
        ("0.10007232512", ""),
        ("0.10007232512000001", ""),
        ("0.1000723251", "rounded to 10 digits"),
        ("0.1001", "rounded to 4 digits"),
        ("0.1000", "cut to 4 digits"),
        ("0.1", "rounded to 1 digit"),
    ]:
        assert given(text).how(answer, "latency", 1) == how
    assert given("100.1").how(answer, "latency", 1000) == "rounded to 4 digits"
    assert given("2.5").how(Fraction("2.55"), "latency", 1) == "rounded to 2 digits"  # a half
    assert given("2.5").how(Fraction("2.5500001"), "latency", 1) == "cut to 2 digits"
