"""What the deck's pictures draw, through matplotlib's objects; expected values are by hand."""

import re
from math import hypot

import pytest
from matplotlib.colors import to_hex
from matplotlib.markers import CARETLEFTBASE
from matplotlib.patches import Circle

import drawings
from whatif import LAB

TENSOR, PIPELINE, PLAN, ALARM, DARK = "#0069a6", "#b34700", "#00704f", "#c00020", "#222222"


def bars(axes):
    """(name, left, right, row, colour) of each bar."""
    return [
        (
            container.get_label(),
            patch.get_x(),
            patch.get_x() + patch.get_width(),
            patch.get_y() + patch.get_height() / 2,
            to_hex(patch.get_facecolor()),
        )
        for container in axes.containers
        for patch in container
    ]


def texts(axes):
    """(text, x, y, colour) of each."""
    return [
        (it.get_text(), *getattr(it, "xy", it.get_position()), to_hex(it.get_color()))
        for it in axes.texts
        if it.get_text()
    ]


def approx(*values):
    return pytest.approx(values, abs=1e-6)


# ------------------------------------------------ machines

RING = {(1, 2), (2, 3), (3, 4), (4, 1)}
ALL = {(sender, receiver) for sender in range(1, 5) for receiver in range(1, 5)} - {
    (node, node) for node in range(1, 5)
}


@pytest.mark.parametrize(("topology", "links"), [("ring", RING), ("all-to-all", ALL)])
def test_arrows_are_links(topology, links):
    [axes] = drawings.machine(topology, 4).axes
    places = {int(name): (x, y) for name, x, y, _ in texts(axes)}
    assert sorted(it.center for it in axes.patches if isinstance(it, Circle)) == [
        pytest.approx(place) for place in sorted(places.values())
    ]
    assert places[1][0] < places[2][0] == pytest.approx(places[3][0])  # clockwise, 1 top left
    assert places[4][1] < places[1][1] == pytest.approx(places[2][1])

    def nearest(point):
        x, y = point
        return min(places, key=lambda node: hypot(places[node][0] - x, places[node][1] - y))

    arrows = [it for it in axes.texts if not it.get_text()]
    assert {(nearest(it.get_position()), nearest(it.xy)) for it in arrows} == links
    assert len(arrows) == len(links)
    assert {it.arrowprops["arrowstyle"].split(",")[0] for it in arrows} == {"-|>"}


# ------------------------------------------------ timelines, in ms


@pytest.fixture(scope="module")
def timelines():
    [axes] = drawings.timelines(LAB).axes
    return axes


@pytest.mark.parametrize(
    ("name", "spans", "rows", "colour"),
    [
        ("compute 1, input 1", (0, 0.031104), [0, 1, 2, 3], TENSOR),
        ("all-gather 1, input 1", (0.031104, 0.059904), [0, 1, 2, 3], DARK),
        ("compute 2, input 1", (0.059904, 1.21595904), [0, 1, 2, 3], TENSOR),
        ("compute 4, input 1", (2.2594816, 3.10882816), [0, 1, 2, 3], TENSOR),
        ("gather 4, input 1", (3.10882816, 3.12726016), [0, 1, 2, 3], DARK),
        ("compute 1, input 8", (21.89082112, 21.92192512), [0, 1, 2, 3], TENSOR),
        ("gather 4, input 8", (24.99964928, 25.01808128), [0, 1, 2, 3], DARK),
        ("compute 1, input 1", (0, 0.124416), [4.5], PIPELINE),
        ("send 1, input 1", (0.124416, 0.239616), [5], DARK),
        ("compute 2, input 1", (0.239616, 4.86383616), [5.5], PIPELINE),
        ("send 2, input 1", (4.86383616, 4.96418816), [6], DARK),
        ("compute 3, input 2", (9.58840832, 13.57561856), [6.5], PIPELINE),
        ("send 3, input 4", (22.82405888, 22.91058688), [7], DARK),
        ("compute 4, input 4", (22.91058688, 26.30797312), [7.5], PIPELINE),
    ],
)
def test_who_works_when(timelines, name, spans, rows, colour):
    found = [bar for bar in bars(timelines) if bar[0] == name and bar[3] in rows]
    assert [bar[3] for bar in found] == rows
    assert all(bar[1:3] == approx(*spans) and bar[4] == colour for bar in found)


def test_all_inputs_are_drawn_and_named(timelines):
    drawn = bars(timelines)
    assert len(drawn) == 8 * 8 * 4 + 4 * 7
    ticks = dict(zip(timelines.get_yticks(), timelines.get_yticklabels(), strict=True))
    assert {row: label.get_text() for row, label in ticks.items()} == {
        top + node - 1: f"node {node}" for top in (0, 4.5) for node in (1, 2, 3, 4)
    }
    times = [f"{time:.0f}" for time in timelines.get_xticks()]
    assert [label.get_text() for label in timelines.get_xticklabels()] == times
    assert timelines.get_xlim() == approx(0, 26.30797312)
    named = [text for text in texts(timelines) if text[0].startswith("input ")]
    assert len(named) == 8 + 3 * 4
    for name, x, row, _ in named:
        below = [bar for bar in drawn if bar[1] <= x <= bar[2] and (row < 0 or bar[3] == row)]
        assert below[0][0].endswith(f", {name}")


# ------------------------------------------------ the limit, in ms


def test_the_limit_and_the_parts_of_the_pipeline():
    [axes] = drawings.limits(LAB).axes
    (limit,) = [line for line in axes.lines if line.get_linestyle() == "--"]
    assert limit.get_xdata()[0] == pytest.approx(97.06586112)
    parts = [bar[1:3] for bar in bars(axes) if bar[0] == "pipeline parallelism" and bar[3] == 3]
    assert parts == [
        approx(0, 97.06586112),
        approx(97.06586112, 147.97504512),
        approx(147.97504512, 155.4840576),
        approx(155.4840576, 155.7861376),
    ]
    ends = {(name, row): right for name, _, right, row, _ in bars(axes)}
    said = {row: text for text, _, row, _ in texts(axes) if re.fullmatch(r"[0-9.]+ ms", text)}
    for (name, row), right in ends.items():
        assert said[row] == f"{right:.2f} ms", name
    at = {text: (x, row) for text, x, row, _ in texts(axes)}
    assert 147.97504512 < at["fill and drain 7.51 ms"][0] < 155.4840576
    imbalance, row = at["imbalance 50.91 ms"]
    assert row == 3 and 97.06586112 < imbalance < 147.97504512
    assert at["no schedule is faster than 97.07 ms"][0] == pytest.approx(97.06586112)
    names = {row: text for text, x, row, _ in texts(axes) if x == 0}
    assert names[1] == "perfectly balanced pipeline, links ignored"
    assert (names[-0.95], names[4.05]) == ("whole tensors", "rows streamed")


# ------------------------------------------------ plans, in MB and ms

BEST = [
    (61.538304, 100.07232512),
    (28.114944, 123.19973376),
    (19.33312, 133.556736),
    (18.382848, 157.49096448),
    (11.96032, 159.5278336),
    (6.422528, 241.15607552),
    (5.537792, 283.03099904),
    (0, 388.26344448),
]


def test_plans_in_their_places():
    [axes] = drawings.plan_space(LAB).axes
    assert axes.get_xlabel() == "traffic, MB"
    (upwards,) = [(x, y) for text, x, y, _ in texts(axes) if text == "latency of 32 inputs, ms"]
    assert upwards == (0, axes.get_ylim()[1])
    assert axes.get_xlim()[0] < axes.get_xlim()[1] and axes.get_ylim()[0] == 0
    notes = {text for text, *_ in texts(axes)}
    assert notes > {"line: no plan is faster with as few bytes", "filled: fits the SRAM"}
    (step,) = [line for line in axes.lines if line.get_label() == "best"]
    assert list(zip(*step.get_data(), strict=True)) == [approx(*place) for place in BEST]
    assert step.get_drawstyle() == "steps-pre"
    plans = {it.get_label(): it for it in axes.lines if it is not step}
    assert len(plans) == 28
    for plan, place, colour in (
        ("1-4:4", BEST[0], TENSOR),
        ("1,2,3,4", (19.33312, 155.7861376), PIPELINE),
        ("1-2:2,3,4", BEST[2], PLAN),
    ):
        [[x], [y]] = plans[plan].get_data()
        assert (x, y) == approx(*place)
        assert to_hex(plans[plan].get_color()) == colour
        (label,) = [text for text in texts(axes) if text[3] == colour]
        assert abs(label[2] - y) < 36
    filled = [plan for plan, it in plans.items() if it.get_markerfacecolor() != "white"]
    assert filled == ["1-4:4"]
    names = {colour: text for text, _, _, colour in texts(axes)}
    assert names[TENSOR] == "tensor parallelism, the only one that fits"
    assert names[PIPELINE] == "pipeline parallelism"
    assert names[PLAN] == "layers 1-2 on two nodes, 3 and 4 on one each"
    lines = {it.get_text(): it.arrowprops for it in axes.texts if getattr(it, "arrowprops", None)}
    assert {names[it]: it for it in (TENSOR, PIPELINE, PLAN)} == {
        name: to_hex(line["color"]) for name, line in lines.items()
    }


# ------------------------------------------------ SRAM, in bytes

NEEDS = {
    "tensor, each node": (222_912, 230_400, 50_176),
    "tensor, rows streamed, each node": (222_912, 230_400, 1_792),
    "pipeline, node 1": (6_912, 6_144, 230_400),
    "pipeline, node 2": (294_912, 230_400, 200_704),
    "pipeline, node 3": (294_912, 200_704, 173_056),
    "pipeline, node 4": (294_912, 173_056, 147_456),
    "pipeline, rows streamed, node 4": (294_912, 19_968, 147_456),
    "data, each node": (891_648, 230_400, 200_704),
}


def test_what_nodes_hold():
    [axes] = drawings.sram(LAB).axes
    parts = [bar for bar in bars(axes) if bar[0] != "key"]
    rows = {text: row for text, x, row, _ in texts(axes) if x == 0}
    sums = {row: (text, colour) for text, _, row, colour in texts(axes) if " = " in text}
    assert set(rows) == set(NEEDS)
    for name, sizes in NEEDS.items():
        held = [bar for bar in parts if bar[3] == pytest.approx(rows[name])]
        for part, size in zip(("weights", "input", "output"), sizes, strict=True):
            assert sum(bar[2] - bar[1] for bar in held if bar[0] == part) == size
        total = sum(sizes)
        assert max(bar[2] for bar in held) == total
        assert all((bar[4] == ALARM) == (bar[1] >= 524_288) for bar in held if bar[1] < bar[2])
        said, colour = sums[rows[name]]
        assert [int(it.replace(",", "")) for it in re.findall("[0-9,]+", said)] == [*sizes, total]
        assert (colour == ALARM) == (total > 524_288)
    (limit,) = axes.lines
    assert limit.get_xdata()[0] == 524_288
    named = {text.split(",")[0]: colour for text, x, _, colour in texts(axes) if x == 0}
    assert named == {"tensor": TENSOR, "pipeline": PIPELINE, "data": DARK}


def test_the_key_has_the_colours_of_the_parts():
    [axes] = drawings.sram(LAB).axes
    names = {row: text for text, x, row, _ in texts(axes) if 850_000 < x < 1_000_000}
    key = {names[round(bar[3])]: bar[4] for bar in bars(axes) if bar[0] == "key"}
    drawn = {bar[0]: bar[4] for bar in bars(axes) if bar[0] != "key" and bar[4] != ALARM}
    assert key == {**drawn, "more than the SRAM": ALARM}
    patches = [(it.get_label(), patch) for it in axes.containers for patch in it]
    hatches = {part: patch.get_hatch() for part, patch in patches if part != "key"}
    assert len(set(hatches.values())) == 3
    for label, patch in patches:
        row = round(patch.get_y() + patch.get_height() / 2)
        part = names[row] if label == "key" else label
        assert patch.get_hatch() == hatches.get(part, "")


# ------------------------------------------------ links, in MB/s


def test_links_on_which_the_pipeline_is_faster():
    [axes] = drawings.links(LAB).axes
    assert axes.get_xscale() == "log"
    assert axes.get_xlim()[0] < axes.get_xlim()[1]
    shown = axes.xaxis.get_major_formatter()
    assert [shown(tick) for tick in axes.get_xticks()] == ["10", "100", "1,000"]
    found = {name: (left, right) for name, left, right, _, _ in bars(axes)}
    low, high = 1733632 / 0.08493262848 / 10**6, 5408768 / 0.05841819648 / 10**6
    assert found["whole tensors, all-to-all"] == approx(low, high)
    ring = (32 * 563712 - 604160) / 0.05841819648 / 10**6
    assert found["whole tensors, one-way ring"] == approx(10, ring)
    assert found["rows streamed, one-way ring"] == (10, 121)
    assert found["rows streamed, all-to-all"] == (10, 10)
    assert {colour for *_, colour in bars(axes)} == {PIPELINE}
    rows = {row: name for name, _, _, row, _ in bars(axes)}
    by_row = [(rows.get(row), text) for text, _, row, _ in texts(axes)]
    assert ("whole tensors, all-to-all", "21 to 92") in by_row
    assert ("whole tensors, one-way ring", "up to 298") in by_row
    assert ("rows streamed, one-way ring", "surely up to 121") in by_row
    assert ("rows streamed, all-to-all", "never") in by_row
    assert all((name, name) in by_row for name in rows.values())
    *arrows, here = sorted(axes.lines, key=lambda line: line.get_xdata()[0])
    ends = [arrow.get_ydata()[0] for arrow in arrows]
    endless = {name for row, name in rows.items() if any(abs(row - end) < 0.1 for end in ends)}
    assert endless == {"whole tensors, one-way ring", "rows streamed, one-way ring"}
    assert {arrow.get_xdata()[0] for arrow in arrows} == {10}
    assert {arrow.get_marker() for arrow in arrows} == {CARETLEFTBASE}
    assert here.get_xdata()[0] == 2000
    (lab,) = [row for text, _, row, _ in texts(axes) if text == "this lab: 2,000"]
    assert lab < min(rows)
