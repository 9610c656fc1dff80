"""report/blocks.py: what is printed of a name, and what is left out."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

from report.blocks import AsIs, Table, Topic, When, sentence, texts, topic_texts

ABOUT = {
    "nodes": 1_000,
    "one": 1,
    "layers": [7, 8, 9],
    "none": None,
    "many": None,
    "name": "ring",
    "short_s": Fraction("0.00000123456789"),
    "long_s": Fraction("1234.56"),
    "third_s": Fraction(1, 3),
    "milli_s": Fraction(1, 1000),
    "ratio_times": Fraction("3.97642"),
    "rate": 2 * 10**9,
    "inside": SimpleNamespace(value=5, none=None, more={"value": 6}),
    "late": lambda: 4,
    "rows": [
        {
            "layer": 1,
            "time_s": Fraction("0.0000015"),
            "share": Fraction(2, 3),
            "where": None,
            "all_s": 1,
        },
        {
            "layer": 2,
            "time_s": Fraction("0.00025"),
            "share": Fraction(1, 3),
            "where": None,
            "all_s": 1,
        },
    ],
    "thirds": [{"layer": 1, "time_s": Fraction(1, 3), "latency_s": Fraction(1, 3)}],
}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{nodes} and {name}", "1,000 and ring"),
        ("{nodes:node}, {one:node}, {layers:layer}", "1,000 nodes, 1 node, 3 layers"),
        ("{short_s}, {milli_s}, {long_s}", "1.2346 us, 1 ms, 1,234.6 s"),
        ("{ratio_times} times", "3.98 times"),
        ("{rate:GB/s} GB/s, {short_s:us} us", "2 GB/s, 1.23456789 us"),
        ("{inside.value} {inside.more.value} {late}", "5 6 4"),
        ("{nodes} = {short_s:us}", "1,000 = 1.23456789"),
        ("{nodes} = {third_s:us}", "1,000 ~ 333,333.333"),  # is rounded
        ("{nodes} and {none}", ""),
        ("{none.value}, {inside.none.value}", ""),
    ],
)
def test_a_name_is_printed_as_what_it_is(text, said):
    assert sentence(text, ABOUT) == said


@pytest.mark.parametrize(
    ("text", "error"), [("{nothing}", KeyError), ("{inside.nothing}", AttributeError)]
)
def test_a_name_that_does_not_exist_is_an_error(text, error):
    with pytest.raises(error):
        sentence(text, ABOUT)


def test_what_has_no_value_is_left_out():
    blocks = [
        ("First.", "Of {none}.", When("none", ["No."]), When("name", ["Of a {name}.", "{none}"])),
        "{none} alone",
        When("none", ["Nothing.", AsIs("0 = 0")]),
        When("one", [AsIs("a = b  \n{as it is}"), ("In the end.",)]),
        Table("none", ("layer",)),
    ]
    assert [*texts(blocks, ABOUT)] == ["First. Of a ring.", "a = b  \n{as it is}", "In the end."]
    assert topic_texts(Topic("A {name}", blocks[:1]), ABOUT) == ["A RING", "First. Of a ring."]
    assert topic_texts(Topic("A {none}", blocks), ABOUT) == []


def test_a_table_has_a_row_per_record_and_a_sum():
    heads = ("layer", "time us", "%", "fullest node", "{many:input}")
    [text] = texts([Table("rows", heads, summed=("time us",))], ABOUT)
    assert [line.split() for line in text.splitlines()] == [
        ["layer", "time", "us", "%"],
        ["1", "1.5", "66.67"],
        ["2", "250", "33.33"],
        ["sum", "251.5"],
    ]


def test_a_latency_in_seconds_has_all_digits_and_a_rounded_sum_says_so():
    table = Table("thirds", ("layer", "latency s", "time us"), summed=("time us",))
    [text] = texts([table], ABOUT)
    assert [line.split() for line in text.splitlines()[1:]] == [
        ["1", "0.33333333333333333", "333,333.333"],
        ["~", "sum", "333,333.333"],
    ]
