"""report/text.py: numbers and tables as they are printed, by hand."""

from decimal import Decimal
from fractions import Fraction

import pytest

from report import text


def test_what_is_quoted_is_ascii_and_short():
    assert text.quote("a\u0663") == r"'a\u0663'" and text.format_path("") == "''"
    assert text.quote("a" * 38) == f"'{'a' * 38}'"  # 40 characters
    assert text.quote("a" * 39) == f"'{'a' * 30}'..."
    assert text.quote("\u0663" * 7) == "'" + r"\u0663" * 7 + "'..."  # of 44
    assert [text.count(amount, "node") for amount in (0, 1)] == ["0 nodes", "1 node"]
    assert text.quote("\u0663" * 99) == "'" + r"\u0663" * 30 + "'..."


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (0, "0"),
        (Fraction(1234567890123), "1,234,567,890,123"),
        (Fraction("0.123456789012"), "0.123456789012"),  # 12 digits: exact
        (Fraction("0.1234567890123"), "0.123456789"),  # 13: rounded to 9
        (Fraction(1, 3), "0.333333333"),
        (Fraction(10**12, 3), "333,333,333,333"),  # 9 digits would not be the whole number
        (Fraction(2, 3 * 10**9), "0.000000000666666667"),
    ],
)
def test_a_number_is_exact_or_rounded_once(value, printed):
    assert text.format_number(value) == printed


@pytest.mark.parametrize(
    ("digits", "value", "printed"),
    [
        (3, Fraction(3976, 1000), "3.98"),
        (4, Fraction("2.00005"), "2.000"),
        (2, Fraction(995, 1000), "1.0"),  # half, to even
        (3, Fraction(123_456), "123,000"),
    ],
)
def test_a_rounded_number_has_so_many_digits(digits, value, printed):
    assert text.format_rounded(value, digits) == printed


@pytest.mark.parametrize(
    ("value", "digits", "other", "printed"),
    [
        (Fraction("99.99999999999994"), 4, 100, "99.9999999999999"),
        (Fraction("100.04"), 4, 100, "100.04"),
        (100, 4, 100, "100"),
        (Fraction("100.04"), 4, 1, "100.0"),
    ],
)
def test_a_number_is_rounded_apart_from_what_it_is_not(value, digits, other, printed):
    assert f"{text.round_apart(value, digits, other)}" == printed


@pytest.mark.parametrize(
    ("widths", "lines"),
    [
        ([4, 30, 42], ["a b c", "x 1 2"]),  # with gaps of 2, 80 columns
        ([4, 30, 43], ["a b", "x 1", "a c", "x 2"]),
        ([36, 42, 30], ["a b", "x 1", "a c", "x 2"]),
        ([40, 41, 37], ["a", "x", "b c", "1 2"]),  # the first column has no room beside it
    ],
)
def test_a_table_has_as_many_columns_as_fit(widths, lines):
    heads = [head * width for head, width in zip("abc", widths, strict=True)]
    table = text.format_table(heads, [("x", 1, 2)]).splitlines()
    assert [" ".join(cell[0] for cell in line.split()) for line in table] == lines
    assert max(map(len, table)) <= 80


def test_a_table_aligns_points_wraps_text_and_adds_up():
    rows = [
        ("a", Fraction("1.25"), 1_000, "word " * 20),
        ("long name", Fraction(10), 20, "short"),
        ("b", Decimal("0.5"), 3, ""),
    ]
    lines = text.format_table(["name", "value", "bytes", "what"], rows, ["bytes"]).splitlines()
    assert [line for line in lines if len(line) > 80 or line != line.rstrip()] == []
    point = lines[1].index(".")
    assert lines[4].index(".") == lines[3].index("10 ") + 2 == point
    assert lines[1].split()[:3] == ["a", "1.25", "1,000"]
    assert lines[2].split() == ["word"] * (20 - lines[1].count("word"))
    assert lines[-1].split() == ["sum", "1,023"]
    assert lines[-1].index("1,023") == lines[1].index("1,000")
