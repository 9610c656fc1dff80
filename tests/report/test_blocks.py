"""report/blocks.py: what is printed of a name, and what is left out."""

from fractions import Fraction

import pytest

from report.blocks import Table, When, sentence, texts

NAMED = {
    "nodes": 1_000,
    "one": 1,
    "none": None,
    "name": "ring",
    "short_s": Fraction("0.00000123456789"),
    "long_s": Fraction("1234.56"),
    "third_s": Fraction(1, 3),
    "milli_s": Fraction(1, 1000),
    "ratio_times": Fraction("3.97642"),
    "rate": 2 * 10**9,
    "empty": Table(("layer", "bytes"), [], ("bytes",)),
    "times": Table(
        ("layer", "time us", "used"),
        [(1, Fraction("1.5"), "yes"), (2, Fraction(250), "")],
        ("time us",),
    ),
    "thirds": Table(("layer", "us"), [(1, Fraction(1, 3)), (2, Fraction(2, 3))], ("us",)),
}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{nodes} and {name}", "1,000 and ring"),
        ("{nodes:node}, {one:node}", "1,000 nodes, 1 node"),
        ("{short_s}, {milli_s}, {long_s}", "1.2346 us, 1 ms, 1,234.6 s"),
        ("{ratio_times} times", "3.98 times"),
        ("{rate:GB/s} GB/s, {short_s:us} us", "2 GB/s, 1.23456789 us"),
        ("{nodes} = {short_s:us}", "1,000 = 1.23456789"),
        ("{nodes} = {third_s:us}", "1,000 ~ 333,333.333"),  # is rounded
        ("{nodes} and {none}", ""),
    ],
)
def test_a_name_is_printed_as_what_it_is(text, said):
    assert sentence(text, NAMED) == said


def test_a_name_that_does_not_exist_is_an_error():
    for block in ("{nothing}", "Of {nothing}.", When("nothing", ["No."])):
        with pytest.raises(KeyError):
            [*texts([block], NAMED)]


def test_what_has_no_value_is_left_out():
    blocks = [
        ("First.", "Of {none}.", "Of a {name}."),
        "{none} alone",
        When("none", ["Nothing.", "0 = 0\n1 = 1"]),
        When("one", ["a = b  \n{as it is}", ("In the end.",)]),
        "{none}",
        "{empty}",
    ]
    assert [*texts(blocks, NAMED)] == ["First. Of a ring.", "a = b  \n{as it is}", "In the end."]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("times", ["layer time us used", "1 1.5 yes", "2 250", "sum 251.5"]),
        ("thirds", ["layer us", "1 0.333333333", "2 0.666666667", "~ sum 1"]),
    ],
)
def test_a_table_has_a_sum_that_says_if_it_is_rounded(name, rows):
    [text] = texts([f"{{{name}}}"], NAMED)
    assert [line.split() for line in text.splitlines()] == [row.split() for row in rows]
