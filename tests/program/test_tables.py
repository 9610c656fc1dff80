"""report/tables.py: how numbers are shown to people, and when a table is narrowed or broken."""

from fractions import Fraction

import pytest

from tables import figure, table


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (None, 12, "-"),
        (True, 12, "yes"),
        (False, 12, "NO"),
        ("node 2", 12, "node 2"),
        (0, 12, "0"),
        (Fraction(-1, 8), 12, "-0.125"),
        (Fraction("123.456789012"), 12, "123.456789012"),
        (Fraction("123.4567890123"), 12, "123.456789"),  # not exact: 9 digits
        (Fraction("123456789012.3"), 12, "123,456,789,012"),  # or a whole number
        (1_234_567_890_123, 12, "1.23456789e+12"),
        (Fraction(1, 3 * 10**5), 12, "0.00000333333333"),  # 16 characters at most
        (Fraction(1, 3 * 10**6), 12, "3.33333333e-7"),
        (Fraction(2, 3), 4, "0.6667"),
        (123_456, 4, "123,500"),
        (1_234_567, 4, "1.235e+6"),
    ],
)
def test_figures(value, digits, text):
    assert figure(value, digits) == text
    assert digits != 12 or figure(value) == text


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
        ("x" * 38 + "," + "y" * 35, ["x" * 38 + "," + "y" * 35]),  # 80 columns
        ("x" * 38 + "," + "y" * 36, ["x" * 38 + ",", "y" * 36]),
        ("x" * 38 + ", " + "y" * 35, ["x" * 38 + ",", "y" * 35]),
        ("x" * 38 + " " + "y" * 33 + "-zz", ["x" * 38, "y" * 33 + "-zz"]),
        ("x" * 90, ["x" * 90]),  # nowhere to break
    ],
)
def test_a_last_column_is_broken_between_words_or_after_commas(text, lines):
    head, *found = table(["n", "m", "plan"], [[7, 8, text]]).splitlines()
    assert head == "n  m  plan"
    assert [line[:6] for line in found] == ["7  8  ", *["      "] * (len(lines) - 1)]
    assert [line[6:] for line in found] == lines
