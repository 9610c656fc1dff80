"""The pictures, read back: each bar's length and dot's place, by the axis beside it, with its name.

What is read is compared with numbers worked out by hand.
"""

from itertools import pairwise
from math import log

import pytest

import figures
from analysis import Analysis

PICTURES = figures.draw_all(Analysis())


def marks(picture, kind):
    return [mark for mark in PICTURES[picture]["marks"] if mark["mark"] == kind]


def texts(picture, **fields):
    found = marks(picture, "text")
    return [mark for mark in found if all(mark[key] == value for key, value in fields.items())]


def place(picture, text):
    (found,) = texts(picture, text=text)
    return found["x"], found["y"]


def reader(picture, first, last, numbers, axis="x", of=float):
    """What a point along the axis stands for, by two of its ticks."""
    at = "xy".index(axis)
    start, end = place(picture, first)[at], place(picture, last)[at]
    low, high = map(of, numbers)
    return lambda point: low + (point - start) / (end - start) * (high - low)


def bars(picture, row, fills=None):
    """Start and end of the bars around the line y, from the left."""
    found = [
        (mark["x"], mark["x"] + mark["width"])
        for mark in marks(picture, "bar")
        if mark["y"] + mark["height"] / 2 == pytest.approx(row, abs=0.02)
        and (fills is None or mark["fill"] in fills)
    ]
    return sorted(found)


# ------------------------------------------------ page 1


# Latency of N inputs over N, in ms: 3.12726016; (12.43531264 + (N - 1) * 4.62422016) / N; and by
# rows 4.94232576 for 1 and 148.29315072 / 32.
@pytest.mark.parametrize(
    ("name", "colour", "is_filled", "first", "last"),
    [
        ("tensor parallelism", "tensor", True, 3.12726, 3.12726),
        ("pipeline, whole tensors", "pipeline", False, 12.43531, 4.86832),
        ("pipeline, rows streamed", "pipeline", True, 4.94233, 4.63416),
    ],
)
def test_latency_per_input(name, colour, is_filled, first, last):
    dots = [
        dot
        for dot in marks("latency", "dot")
        if dot["colour"] == colour and (dot["fill"] == colour) == is_filled
    ]
    inputs = reader("latency", "1", "32", (1, 32), of=log)
    assert [inputs(dot["x"]) for dot in dots] == pytest.approx(
        [log(count) for count in (1, 2, 4, 8, 16, 32)], abs=1e-3
    )
    ms = reader("latency", "0", "10", (0, 10), axis="y")
    values = [ms(dot["y"]) for dot in dots]
    assert (values[0], values[-1]) == pytest.approx((first, last), abs=2e-3)
    (label,) = texts("latency", text=name)
    assert label["colour"] == colour
    assert abs(label["y"] - dots[1]["y"]) < 12  # beside its curve
    numbers = [mark for mark in texts("latency", colour=colour) if mark["text"] == f"{first:.2f}"]
    assert any(abs(mark["y"] - dots[0]["y"]) < 12 for mark in numbers)
    numbers = [mark for mark in texts("latency", colour=colour) if mark["text"] == f"{last:.2f}"]
    assert any(abs(mark["y"] - dots[-1]["y"]) < 12 for mark in numbers)


# ------------------------------------------------ pages 2 and 6


@pytest.mark.parametrize(("name", "links"), [("all-to-all", 12), ("ring", 4)])
def test_machine(name, links):
    arrows = {tuple(map(tuple, mark["points"])) for mark in marks(name, "line")}
    assert len(arrows) == len(marks(name, "area")) == links
    corners = {mark["text"]: (mark["x"], mark["y"]) for mark in texts(name)}

    def nearest(point):
        return min(corners, key=lambda node: abs(complex(*point) - complex(*corners[node])))

    pairs = {(nearest(start), nearest(end)) for start, end in arrows}
    everyone = {(one, other) for one in "1234" for other in "1234" if one != other}
    assert pairs == (everyone if links == 12 else {("1", "2"), ("2", "3"), ("3", "4"), ("4", "1")})


# ------------------------------------------------ pages 3 and 4


def test_tensor_steps():
    us = reader("tensor-steps", "0", "3,000", (0, 3000))
    nodes = place("tensor-steps", "nodes 1 to 4")[1]
    links = place("tensor-steps", "links")[1]
    computing = [tuple(map(us, ends)) for ends in bars("tensor-steps", nodes)]
    sending = [tuple(map(us, ends)) for ends in bars("tensor-steps", links)]
    edges = [0, 31.104, 59.904, 1215.959, 1241.047, 2237.850, 2259.482, 3108.828, 3127.260]
    assert sum(zip(computing, sending, strict=True), ()) == tuple(
        pytest.approx(ends, abs=0.1) for ends in pairwise(edges)
    )
    for layer, (start, end) in zip((2, 3, 4), computing[1:], strict=True):
        x, y = place("tensor-steps", f"layer {layer}")
        assert (us(x), y) == (pytest.approx((start + end) / 2, abs=0.1), nodes)
    named = [
        ("all-gather on 12 links, 28.8 µs", 17),
        ("25.1 µs", 17),
        ("21.6 µs", 17),
        ("gather on 3 links, 18.4 µs", 17 / 4),
    ]
    heights = sorted(
        (mark["x"], mark["height"])
        for mark in marks("tensor-steps", "bar")
        if mark["fill"] == "ink"
    )
    for (text, height), (left, drawn) in zip(named, heights, strict=True):
        assert abs(place("tensor-steps", text)[0] - left) < 12
        assert drawn == pytest.approx(height, abs=0.01)


def test_timelines_have_the_same_scale():
    places = [
        [(mark["text"], mark["x"]) for mark in texts(name, align="center", colour="grey")]
        for name in ("tensor-timeline", "pipeline-timeline")
    ]
    assert places[0] == places[1]
    assert [text for text, _ in places[0]] == ["0", "5", "10", "15", "20", "25"]


@pytest.mark.parametrize("name", ["tensor-steps", "tensor-timeline", "pipeline-timeline"])
def test_the_axis_reaches_the_last_bar(name):
    ends = [point[0] for mark in marks(name, "line") for point in mark["points"]]
    assert max(ends) >= max(mark["x"] + mark["width"] for mark in marks(name, "bar"))


def test_tensor_timeline():
    ms = reader("tensor-timeline", "0", "25", (0, 25))
    for number in range(8):  # that are done before the pipeline's fourth, at 26.31 ms
        middle = (number + 0.5) * 3.12726016
        assert ms(place("tensor-timeline", f"input {number + 1}")[0]) == pytest.approx(
            middle, abs=0.01
        )
    assert len(texts("tensor-timeline", align="center", colour="ink")) == 8
    computing = bars("tensor-timeline", place("tensor-timeline", "nodes 1 to 4")[1])
    assert ms(computing[0][1] - computing[0][0] + 78) == pytest.approx(0.031104, abs=0.01)
    assert ms(computing[-1][1]) == pytest.approx(25.01808 - 0.018432, abs=0.01)
    assert len(computing) == 4 * 8


# When the first input is on each node, in ms: each send follows, then the next node.
BUSY = {
    "node 1": (0, 0.124416),
    "node 2": (0.239616, 4.863836),
    "node 3": (4.964188, 8.951398),
    "node 4": (9.037926, 12.435313),
}


def test_pipeline_timeline():
    ms = reader("pipeline-timeline", "0", "25", (0, 25))
    for node, (start, end) in BUSY.items():
        row = place("pipeline-timeline", node)[1]
        found = [tuple(map(ms, ends)) for ends in bars("pipeline-timeline", row)]
        assert found == [
            pytest.approx((start + later, end + later), abs=0.01)
            for later in (0, 4.624220, 9.248440, 13.872660)
        ]
    nodes = list(BUSY)
    for node, following in pairwise(nodes):
        between = (
            place("pipeline-timeline", node)[1] + place("pipeline-timeline", following)[1]
        ) / 2
        (left, right), *_ = bars("pipeline-timeline", between, {"ink"})
        ends = (BUSY[node][1], BUSY[following][0])
        assert (ms(left), ms(right)) == pytest.approx(ends, abs=0.01)
    for output in (12.44, 17.06, 21.68, 26.31):
        assert ms(place("pipeline-timeline", f"out at {output:.2f}")[0]) == pytest.approx(
            output, abs=0.02
        )


def test_losses():
    (key,) = marks("losses", "key")
    widths = {mark["fill"]: mark["width"] for mark in marks("losses", "bar")}
    a_point = 155.7861376 / sum(widths.values())
    title, *entries = key["entries"]
    assert list(title) == ["latency of 32 inputs:", ""]
    assert {name: widths[fill] * a_point for name, fill in entries} == {
        "work ÷ 4 nodes 97.07 ms": pytest.approx(97.066, abs=0.01),
        "imbalance 50.91 ms": pytest.approx(50.909, abs=0.01),
        "fill and drain 7.51 ms": pytest.approx(7.509, abs=0.01),
        "sending 0.30 ms": pytest.approx(0.302, abs=0.01),
    }


# ------------------------------------------------ page 5


@pytest.mark.parametrize(
    ("name", "weights", "inputs", "outputs", "total"),
    [
        ("tensor, each node", 222_912, 230_400, 50_176, "503,488"),
        ("pipeline, node 1", 6_912, 6_144, 230_400, "243,456"),
        ("pipeline, node 2", 294_912, 230_400, 200_704, "726,016"),
        ("pipeline, node 3", 294_912, 200_704, 173_056, "668,672"),
        ("pipeline, node 4", 294_912, 173_056, 147_456, "615,424"),
        ("streamed, node 4", 294_912, 19_968, 147_456, "at least 462,336"),
        ("data, each node", 891_648, 230_400, 200_704, "1,322,752"),
    ],
)
def test_sram(name, weights, inputs, outputs, total):
    row = place("sram", name)[1]
    (limit,) = marks("sram", "line")
    start = min(mark["x"] for mark in marks("sram", "bar"))
    a_point = 524_288 / (limit["points"][0][0] - start)
    found = {
        fill: (right - left) * a_point
        for fill in ("weights", "input", "output")
        for left, right in bars("sram", row, {fill})
    }
    assert found == pytest.approx({"weights": weights, "input": inputs, "output": outputs}, abs=60)
    (shown,) = texts("sram", align="right", y=row)
    assert shown["text"] == total
    assert (shown["colour"] == "alarm") == (weights + inputs + outputs > 524_288)


def test_plans():
    mb = reader("plans", "20", "60", (20, 60))
    ms = reader("plans", "100", "300", (100, 300), axis="y")
    legend = [mark for mark in marks("plans", "dot") if mark["x"] == figures.KEY_PT]
    dots = [mark for mark in marks("plans", "dot") if mark not in legend]
    assert len(dots) == 28
    found = {}
    for dot in dots:
        found.setdefault(dot["colour"], []).append((mb(dot["x"]), ms(dot["y"])))
    named, fills = {}, {}
    for mark in legend:
        name, *latencies = texts("plans", y=mark["y"])
        assert name["colour"] == mark["colour"]
        if latencies:
            ((traffic, latency),) = found[mark["colour"]]
            named[name["text"]] = (latencies[0]["text"], round(traffic, 1), round(latency))
        else:
            fills[name["text"]] = mark["fill"]
    assert fills == {"fits the SRAM": "ink", "does not fit": "white"}
    assert named == {
        "tensor, 1-4:4": ("100.07", 61.5, 100),
        "pipeline, 1,2,3,4": ("155.79", 19.3, 156),
        "1-3:2,4": ("146.66", 19.3, 147),
        "1-2:2,3,4": ("133.56", 19.3, 134),
    }
    assert [dot["colour"] for dot in dots if dot["fill"] != "white"] == ["tensor"]
    (front,) = (mark["points"] for mark in marks("plans", "line") if len(mark["points"]) > 7)
    best = [
        (61.5, 100.1),
        (28.1, 123.2),
        (19.3, 133.6),
        (18.4, 157.5),
        (12.0, 159.5),
        (6.4, 241.2),
        (5.5, 283.0),
        (0.0, 388.3),
    ]
    assert [(mb(x), ms(y)) for x, y in front[::2]] == [pytest.approx(it, abs=0.1) for it in best]


# ------------------------------------------------ page 6


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        ("whole tensors, 9 inputs or fewer", None),
        ("whole tensors, 32 inputs", (21, 92)),
        ("rows streamed, 1 input", (22, 79)),
        ("rows streamed, 32 inputs", (15, 116)),
    ],
)
def test_links(name, bounds):
    mb = reader("links", "10", "1,000", (10, 1000), of=log)
    row = place("links", name)[1]
    (said,) = texts("links", y=row, colour="pipeline")
    assert said["text"] == ("never" if bounds is None else f"{bounds[0]} to {bounds[1]}")
    drawn = [tuple(map(mb, ends)) for ends in bars("links", row)]
    expected = [] if bounds is None else [tuple(map(log, bounds))]
    assert drawn == [pytest.approx(ends, abs=0.01) for ends in expected]
    (here,) = (mark for mark in marks("links", "line") if mark["dash"])
    assert mb(here["points"][0][0]) == pytest.approx(log(2000), abs=0.01)


# ------------------------------------------------ looks


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one, other):
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def test_text_can_be_read():
    in_use = {mark["colour"] for name in PICTURES for mark in texts(name)} | {"grey"}
    for colour in in_use:
        assert contrast(figures.COLOURS[colour], "#FFFFFF") >= 4.5, colour
    for tint in ("tensor-tint", "tensor-light", "pipeline-tint", "pipeline-light", "idle"):
        assert contrast(figures.COLOURS["ink"], figures.COLOURS[tint]) >= 4.5, tint


def test_every_picture_says_what_it_shows():
    for name, words in {
        "latency": "tensor parallelism 3.13 ms for 1 and 3.13 ms for 32",
        "all-to-all": "4 nodes",
        "ring": "4 nodes joined by a ring",
        "tensor-steps": "compute of layer 2 1,156.1 µs, all-gather of layer 2 25.1 µs",
        "tensor-timeline": "8 inputs, one after the other, the last output at 25.02 ms",
        "pipeline-timeline": "12.44, 17.06, 21.68, 26.31 ms. Only node 2",
        "losses": "imbalance 50.91 ms",
        "sram": "pipeline, node 2: 726,016",
        "plans": "1-4:4; 1-2:2,3-4:2; 1-2:2,3,4;",
        "links": "whole tensors, 32 inputs: 21 to 92",
    }.items():
        assert words in PICTURES[name]["alt"]
    assert len(PICTURES) == 10
