"""report/terminal.py: an int is printed whole, a Fraction is rounded once, 80 columns hold."""

import json
from argparse import ArgumentTypeError
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest

from report.terminal import (
    count,
    filled,
    is_exact,
    json_text,
    meant,
    number,
    one_of,
    path_text,
    rounded,
    short,
    shown,
    table,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (10**30 + 1, "1" + ",000" * 9 + ",001"),  # whole at any size
        (Fraction(-1, 8), "-0.125"),
        (Fraction("123.456789012"), "123.456789012"),
        (Fraction("123.4567890123"), "123.456789"),  # not exact: 9 digits
        (Fraction("123456789012.3"), "123,456,789,012"),  # or a whole number
        (Fraction("999999999.9996"), "1,000,000,000"),
        (Fraction(1, 3 * 10**5), "0.00000333333333"),  # 16 characters at most
        (Fraction(1, 3 * 10**6), "3.33333333e-7"),
        # once: by way of 12 digits, 9.33236234500, it would end in 4
        (Fraction("9.332362345000001"), "9.33236235"),
        (Fraction("93323623449999999.9"), "9.33236234e+16"),
    ],
)
def test_an_int_is_whole_and_a_fraction_rounded_once(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        ("2/3", 4, "0.6667"),
        ("1.99999", 4, "2.000"),  # of what is rounded zeros stay
        ("123456.7", 4, "123,500"),
        ("97", 4, "97"),
        ("3.12726016", 5, "3.1273"),
        ("1/30000000000000", 4, "3.333e-14"),
        ("123456789012345678", 3, "1.23e+17"),
    ],
)
def test_a_ratio_has_so_many_digits_or_is_exact(value, digits, text):
    assert short(Fraction(value), digits) == text


@pytest.mark.parametrize(
    ("value", "exact"), [("1/8", True), ("1/3", False), ("0.1234567890123", False), ("-5", True)]
)
def test_whether_a_number_is_printed_in_full(value, exact):
    assert is_exact(Fraction(value)) is exact


def test_one_thing_is_singular():
    assert [count(n, "node") for n in (0, 1, 1_000)] == ["0 nodes", "1 node", "1,000 nodes"]


def test_a_long_value_is_cut_in_a_message():
    assert [shown("x" * 38), shown("x" * 39)] == [f"'{'x' * 38}'", f"'{'x' * 30}'..."]
    assert [shown("\n\u0661"), shown([10**50])] == [r"'\n\u0661'", f"[1{'0' * 28}..."]


def test_a_paragraph_is_broken_at_spaces_only():
    assert filled("x" * 39 + " " + "y" * 40) == "x" * 39 + " " + "y" * 40
    assert filled("x" * 75 + " all-to-all", "  ") == "x" * 75 + "\n  all-to-all"


# ------------------------------------------------ tables


def test_text_stands_left_and_numbers_right():
    rows = [["tensor", 8, True, "4"], ["pipeline", 1_024, False, None], ["all", "", None, ""]]
    assert table(["strategy", "bytes", "fits", "node"], rows).splitlines() == [
        "strategy  bytes  fits  node",
        "tensor        8   yes  4",
        "pipeline  1,024    NO  -",
        "all                 -",
    ]
    assert table(["strategy", "bytes"], []) == "strategy  bytes"


def test_decimal_points_stand_below_each_other_unless_there_is_an_exponent():
    rows = [[Fraction("97.06586112"), rounded(Fraction(1, 3))], [8, Fraction(1, 8)], [None, 0]]
    assert table(["ms", "%"], rows).splitlines() == [
        "         ms       %",
        "97.06586112  0.3333",
        " 8           0.125",
        " -           0",
    ]
    rows = [[Fraction("2.5"), 7], [Fraction(1, 3 * 10**6), 8]]
    assert table(["ms", "n"], rows).splitlines()[1:] == ["          2.5  7", "3.33333333e-7  8"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("x" * 38 + "," + "y" * 35, ["x" * 38 + "," + "y" * 35]),  # 80 columns
        ("x" * 38 + "," + "y" * 36, ["x" * 38 + ",", "y" * 36]),
        ("x" * 38 + ", " + "y" * 35, ["x" * 38 + ",", "y" * 35]),
        ("x" * 38 + " " + "y" * 33 + "-zz", ["x" * 38, "y" * 33 + "-zz"]),
        ("x" * 74 + " y", ["x" * 74, "y"]),
    ],
)
def test_a_last_column_of_text_is_broken_between_words_or_after_commas(text, lines):
    head, *found = table(["n", "m", "plan"], [[7, 8, text]]).splitlines()
    assert head == "n  m  plan"
    assert [line[:6] for line in found] == ["7  8  ", *["      "] * (len(lines) - 1)]
    assert [line[6:] for line in found] == lines


def test_a_table_that_is_too_wide_becomes_blocks_with_the_same_numbers():
    wide, rows = "x" * 40, [[10**20, Fraction(1, 3)], [7, ""]]
    assert len(table([wide, "y" * 38], rows).splitlines()) == 3  # 80 columns
    assert table([wide, "y" * 39], rows).splitlines() == [
        f"{wide}  100{',000' * 6}",
        f"{'y' * 39}   0.333333333",
        "",
        f"{wide}  7",
    ]


def test_a_last_column_of_numbers_is_not_broken():
    head = ["x" * 30, "y" * 30, "n"]
    assert len(table(head, [["a", "b", 10**9], ["a", "b", Fraction("0.5")]]).splitlines()) == 3


# ------------------------------------------------ names


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("--gbs", "did you mean --link-gbs?"),  # has it
        ("--n", "did you mean --nodes?"),  # begins with it
        ("--I", "did you mean --inputs?"),
        ("--link", "did you mean --link-gbs?"),
        ("--gb", "there are --inputs, --nodes, --link-gbs"),  # two letters could be of any
        ("--inuts", "did you mean --inputs?"),
        ("--ndo", "there are --inputs, --nodes, --link-gbs"),
        ("--nodse", "did you mean --nodes?"),  # is like it
        ("--zzz", "there are --inputs, --nodes, --link-gbs"),
        ("--", "there are --inputs, --nodes, --link-gbs"),
    ],
)
def test_what_was_meant(word, told):
    assert meant(word, ["--inputs", "--nodes", "--link-gbs"]) == told


def test_two_letters_exchanged_are_like_a_short_name():
    assert [meant(word, ["ring", "sram"]) for word in ("rign", "sarm")] == [
        "did you mean ring?",
        "did you mean sram?",
    ]


def test_one_of_some_names_is_taken():
    taken = one_of("topic", ["ring", "sram"])
    assert taken("Ring") == "ring"
    with pytest.raises(ArgumentTypeError, match=r"^'sra' is not a topic; did you mean sram"):
        taken("sra")


# ------------------------------------------------ JSON


class Record(NamedTuple):
    bytes: int
    seconds: Fraction
    others: tuple


def test_json_has_names_exact_ints_and_the_nearest_floats():
    record = Record(10**30, Fraction(1, 3), (Record(1, Fraction(2), ()), None))
    one = {"bytes": 1, "seconds": 2.0, "others": []}
    all_of_it = {"bytes": 10**30, "seconds": 1 / 3, "others": [one, None]}
    assert json.loads(json_text({"it": record})) == {"it": all_of_it}


@pytest.mark.parametrize(
    ("path", "text"), [("a b.svg", "a b.svg"), ("\x1b[31m", r"'\x1b[31m'"), ("\xe9", r"'\xe9'")]
)
def test_a_path_is_told_in_printable_ascii(path, text):
    assert path_text(path) == path_text(Path(path)) == text
