"""report/tables.py: how numbers are shown to people, and when a table is narrowed or broken."""

from fractions import Fraction

import pytest

from tables import figure, table


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (True, "yes"),
        (False, "NO"),
        ("node 2", "node 2"),
        (0, "0"),
        (-4_096, "-4,096"),
        (Fraction(1, 8), "0.125"),
        (Fraction("123.456789012"), "123.456789012"),  # 12 digits: exact
        (Fraction("123.4567890123"), "123.456789"),
        (Fraction("1234567890.123"), "1,234,567,890"),  # to a whole number
        (Fraction("123456789012.3"), "123,456,789,012"),
        (123_456_789_012, "123,456,789,012"),
        (1_234_567_890_123, "1.23456789e+12"),
        (Fraction(1, 3 * 10**5), "0.00000333333333"),  # 16 characters
        (Fraction(1, 3 * 10**6), "3.33333333e-7"),
    ],
)
def test_figures(value, text):
    assert figure(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(2, 3), "0.6667"),
        (123_456, "123,500"),  # 8 characters at most
        (1_234_567, "1.235e+6"),
    ],
)
def test_figures_of_four_digits(value, text):
    assert figure(value, 4) == text


def test_text_stands_left_and_numbers_right():
    rows = [["tensor", 8, True, "4"], ["pipeline", 1_024, False, None]]
    assert table(["strategy", "bytes", "fits", "node"], rows).splitlines() == [
        "strategy  bytes  fits  node",
        "tensor        8   yes  4",
        "pipeline  1,024    NO  -",
    ]


@pytest.mark.parametrize(
    ("width", "shown"),
    [(65, "123.456789012"), (66, "123.456789"), (69, "123.45679"), (71, "123.457"), (72, "123.5")],
)
def test_a_table_of_more_than_80_columns_has_fewer_digits(width, shown):
    _, line = table(["", ""], [["x" * width, Fraction("123.456789012")]]).splitlines()
    assert line == f"{'x' * width}  {shown}"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("x" * 77, ["x" * 77]),
        ("x" * 38 + "," + "y" * 38, ["x" * 38 + "," + "y" * 38]),
        ("x" * 38 + "," + "y" * 39, ["x" * 38 + ",", "y" * 39]),
        ("x" * 38 + ", " + "y" * 38, ["x" * 38 + ",", "y" * 38]),
        ("x" * 38 + " " + "y" * 39, ["x" * 38, "y" * 39]),
        ("x" * 90, ["x" * 90]),  # nowhere to break
    ],
)
def test_a_last_column_is_broken_between_words_or_after_commas(text, lines):
    head, *found = table(["n", "plan"], [[7, text]]).splitlines()
    assert head == "n  plan"
    assert [line[:3] for line in found] == ["7  ", *["   "] * (len(lines) - 1)]
    assert [line[3:] for line in found] == lines
