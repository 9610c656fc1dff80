"""What is drawn, read from matplotlib's own objects, against numbers worked out by hand and against
the schedule. odd_machines.py has the sizes of a machine that differs from the lab's in everything.
"""

import re
import xml.etree.ElementTree as ElementTree
from fractions import Fraction
from functools import cache
from itertools import accumulate

import matplotlib
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from lab3 import NETWORK, RING, ConvLayer
from odd_machines import GATHERS, ODD_ALL_TO_ALL, ONE_LAYER, SENDS
from program import call, output, refusal, sentence
from report import pictures, plans, schedule, search
from report.analysis import Analysis
from report.pictures import ALARM, COLOURS, INK, PALE_ALARM
from report.plans import STRATEGIES
from report.question import LAB

EIGHT = (NETWORK[0], *(ConvLayer(128, 128, 3, 3, size, size) for size in range(30, 16, -2)))
QUESTIONS = {
    "the lab": LAB,
    "1 input": LAB._replace(inputs=1),
    "128 nodes": LAB.on(nodes=128),
    "8 layers": LAB.on(nodes=8)._replace(network=EIGHT),
    "1 node": LAB.on(nodes=1),
    "a ring": LAB.on(topology=RING),
    "slow links": LAB.on(link_bytes_per_s=2 * 10**7),
    "5 nodes": LAB.on(nodes=5),
    "slow": LAB.on(ops_per_s=1, link_bytes_per_s=1),
    "odd": ODD_ALL_TO_ALL,
    "sends": SENDS,
    "gathers": GATHERS,
}
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@cache
def drawn(name, which, **options):
    """Each picture of each question, drawn once."""
    return pictures.PICTURES[name](Analysis(QUESTIONS[which]), **options)


def near(values):
    return pytest.approx(values, rel=1e-9, abs=1e-9)


def colour(value):
    return to_hex(value).upper()


def ticks(axis):
    """The texts of an axis that are in the picture, by their place on it."""
    low, high = sorted(axis.get_view_interval())
    return {
        tick.get_loc(): text
        for tick in axis.get_major_ticks()
        for text in (tick.label1, tick.label2)
        if text.get_visible() and low <= tick.get_loc() <= high
    }


def texts(figure):
    """All that can be read in a picture."""
    found = list(figure.texts)
    for axes in figure.axes:
        found += [text for text in axes.get_children() if isinstance(text, Text)]
        found += [axes.xaxis.label, axes.yaxis.label]
        for each in (axes, *axes.child_axes):
            found += [*ticks(each.xaxis).values(), *ticks(each.yaxis).values()]
    for key in [*figure.legends, *(axes.get_legend() for axes in figure.axes)]:
        found += [*key.get_texts(), key.get_title()] if key else []
    return [text for text in found if text.get_text()]


def said(figure):
    return [line for text in texts(figure) for line in text.get_text().split("\n")]


def rows_of(axes):
    return [text.get_text() for text in axes.get_yticklabels()]


def bars(figure):
    """Of each row its bar's parts, one after the other from 0: name, length, colour."""
    rows, ends = {}, {}
    for bar in figure.axes[0].patches:
        row, _, part = bar.get_label().rpartition(": ")
        assert row == rows_of(figure.axes[0])[round(bar.get_y() + bar.get_height() / 2)]
        assert bar.get_x() == near(ends.get(row, 0))
        ends[row] = bar.get_x() + bar.get_width()
        rows.setdefault(row, []).append((part, bar.get_width(), colour(bar.get_facecolor())))
    return rows


def lengths(figure):
    return {row: [length for _, length, _ in parts] for row, parts in bars(figure).items()}


def sums(figure):
    """All that is written on a bar and right of it, from the left."""
    axes = figure.axes[0]
    found = {}
    for text in sorted(axes.texts, key=lambda text: text.get_position()[0]):
        row = rows_of(axes)[round(text.get_position()[1])]
        found.setdefault(row, []).append(" ".join(text.get_text().split()))
    return found


def limit_of(figure):
    """The place of the line across the bars, and its label, which stands at it."""
    [axes] = figure.axes
    (label,) = {line.get_label() for line in axes.collections}
    (place,) = {path.vertices[0][0] for it in axes.collections for path in it.get_paths()}
    assert {at: text.get_text() for at, text in ticks(axes.xaxis).items()} == {place: label}
    return place, label


# ------------------------------------------------ all of them


@pytest.mark.parametrize(
    ("name", "which"),
    [(name, "the lab") for name in pictures.PICTURES] + [("limits", "slow"), ("plans", "8 layers")],
)
def test_texts_are_inside_the_picture_and_apart(name, which):
    figure = drawn(name, which).figure
    figure.draw_without_rendering()
    extents = [text.get_window_extent() for text in texts(figure)]
    page = figure.bbox.padded(1)
    assert Bbox.union([page, *extents]).bounds == page.bounds
    inner = [extent.padded(-0.12 * extent.height) for extent in extents]
    for number, box in enumerate(inner):
        assert not box.count_overlaps(inner[:number]), said(figure)[number]


def test_what_differs_from_the_lab_is_said():
    shapes = "128x3x3x3 on 32x32, 128x128x3x3 on 30x30, 128x128x3x3 on 28x28, and 5 more layers"
    for name in ("timeline", "plans"):
        assert not any("what if" in text for text in said(drawn(name, "the lab").figure))
        assert f"what if: 8 nodes, {shapes}" in said(drawn(name, "8 layers").figure)


def test_a_style_sets_size_and_type_and_one_with_a_height_is_brief():
    style = pictures.Style(770, 200, 13, ("No such Serif", "DejaVu Sans"))
    for name, draw in pictures.PICTURES.items():
        figure = draw(Analysis(LAB), style).figure
        assert figure.get_size_inches() * 72 == near([770, 200])
        assert {text.get_fontsize() for text in texts(figure)} == {13}
        assert {text.get_fontfamily()[0] for text in texts(figure)} == {"No such Serif"}
        left_out = {*said(drawn(name, "the lab").figure)} - {*said(figure)}
        for text in NOT_BRIEF[name]:
            assert any(line.startswith(text) for line in left_out)


NOT_BRIEF = {
    "timeline": ["Number: the input; black or grey: a transfer"],
    "limits": ["Latency of 32 inputs", "pipeline, row streaming"],
    "plans": [],
    "sram": ["Bytes that a node holds", "pipeline, row streaming, node 4"],
}


# ------------------------------------------------ timeline


def marks(axes):
    """Each mark: start, end, top, bottom, colour, work."""
    return [
        (*box.intervalx, *box.intervaly, colour(bar.get_facecolor()), bar.get_label())
        for bar in axes.patches
        for box in [bar.get_bbox()]
    ]


def assert_shows(axes, question, plan, kind, end_s, factor):
    """What is busy in a window of a schedule is drawn busy in its shade, and nothing else is."""
    wanted = set()
    for job in schedule.schedule(*question[:2], plan, min(question.inputs, 60)):
        if job.start_s < end_s:
            is_compute, first, last = job.work == "compute", job.where[0], job.where[-1]
            shade = COLOURS[kind if is_compute else "link"][1 - job.input % 2]
            span = [f"{float(it * factor):.7g}" for it in (job.start_s, min(job.end_s, end_s))]
            line = first if first == last else f"nodes {first[5:]} to {last[5:]}"
            wanted.add((line if is_compute else job.work, *span, shade))
    found = set()
    for start, end, top, bottom, shade, work in marks(axes):
        name = rows_of(axes)[round((top + bottom) / 2)] if work == "compute" else work
        found.add((name, f"{start:.7g}", f"{end:.7g}", shade))
    assert found == wanted


@pytest.mark.parametrize(
    ("which", "end_ms"),
    [
        # the pipeline's second output, after 12.43531264 + 4.62422016 ms, and a twentieth
        ("the lab", "17.91250944"),
        ("1 input", "13.057078272"),
    ],
)
def test_a_window_is_filled_with_all_inputs_that_run_in_it(which, end_ms):
    figure, question = drawn("timeline", which).figure, QUESTIONS[which]
    for axes, (kind, plan_of) in zip(figure.axes, STRATEGIES.items(), strict=True):
        assert axes.get_xlim() == (0, near(float(end_ms)))
        assert_shows(axes, question, plan_of(*LAB[:2]), kind, Fraction(end_ms) / 1000, 1000)
    assert ticks(axes.xaxis)[8].get_text() == "8" and "time, ms" in said(figure)


def test_a_plan_of_an_odd_machine_is_drawn_as_it_is_scheduled():
    plan = plans.parse_plan("1-2:2,3:3")
    [axes] = pictures.timeline(Analysis(ODD_ALL_TO_ALL), plans=[plan], until_s=9_000).figure.axes
    assert axes.get_xlim() == (0, 9_000)  # in s
    assert_shows(axes, ODD_ALL_TO_ALL, plan, "plan", 9_000, 1)
    dark = {it[5]: it for it in sorted(marks(axes), reverse=True) if it[4] in COLOURS["link"]}
    # two nodes: C / (2 R) 90, 607.5 s; A / 2 / B 144, 108 s; three nodes: 486 s; A_3 / 3 / B 86.4 s
    # across a row, and sends between two
    assert dark["all-gather"][:4] == near((90, 234, -0.45, 0.45))
    assert dark["send"][:4] == near((841.5, 949.5, 0.35, 0.65))
    assert dark["gather"][:4] == near((1435.5, 1521.9, 0.55, 1.45))
    # node 1 of a pipeline starts an input every 1,458 s; one that starts with the end is not there
    for until_s, inputs in ((2 * 1_458, 2), (2 * 1_458 + 1, 3)):
        pipeline = [plans.parse_plan("1,2,3")]
        figure, _ = pictures.timeline(Analysis(ODD_ALL_TO_ALL), plans=pipeline, until_s=until_s)
        assert sum(it[2] < 0 and it[5] == "compute" for it in marks(*figure.axes)) == inputs
    # nor is a send that does: node 1 computes for C / R = 180 s
    figure, _ = pictures.timeline(Analysis(ODD_ALL_TO_ALL), plans=pipeline, until_s=180)
    assert [it[5] for it in marks(*figure.axes)] == ["compute"]


@pytest.mark.parametrize("which", ["the lab", "8 layers"])
def test_a_number_is_in_each_bar_that_has_room_and_says_its_input(which):
    network, system, _ = QUESTIONS[which]
    for axes, plan_of in zip(
        drawn("timeline", which).figure.axes, STRATEGIES.values(), strict=True
    ):
        jobs = schedule.schedule(network, system, plan_of(network, system), 32)
        numbers = [text for text in axes.texts if text.get_text().isdigit()]
        for bar in (bar for bar in axes.patches if bar.get_label() == "compute"):
            node = rows_of(axes)[round(bar.get_y() + 0.38)].replace("nodes", "node").split(" to")[0]
            middle_s = (bar.get_x() + bar.get_width() / 2) / 1000
            box = bar.get_window_extent()
            inside = [it for it in numbers if box.contains(*axes.transData.transform(it.xy))]
            [job] = [
                job for job in jobs if node in job.where and job.start_s < middle_s < job.end_s
            ]
            assert [text.get_text() for text in inside] in ([f"{job.input}"], [])
            assert all(text.get_window_extent().width < box.width for text in inside)
            assert inside or box.width < 18


def test_a_plans_name_and_pace_are_above_it_in_its_colour():
    picture = drawn("timeline", "odd")
    colours = {it.get_text()[:22]: colour(it.get_color()) for it in texts(picture.figure)}
    assert colours["tensor parallelism: an"] == COLOURS["tensor"][0]
    assert colours["pipeline parallelism: "] == COLOURS["pipeline"][0]
    # 30 + 48 + 202.5 + 36 + 243 + 43.2; 180 + 288 + 1215 + 216 + 1458 s
    title = "tensor parallelism: an output after 602.70 s, then one every 602.70 s"
    assert title in said(picture.figure)
    title = "pipeline parallelism: an output after 3,357.00 s, then one every 1,458.00 s"
    assert f"{title}; 3 idle nodes." in picture.alt


def test_a_long_name_is_broken_inside_the_picture():
    layers = (ConvLayer(1, 1, 1, 1, 1, 1),) * 32
    plan, case = [plans.Group(1)] * 32, LAB.on(nodes=40)._replace(network=layers)
    figure, _ = pictures.timeline(Analysis(case), plans=[plan], until_s=Fraction(1, 10**9))
    (title,) = (text for text in texts(figure) if "an output after" in text.get_text())
    assert title.get_window_extent().x1 < figure.bbox.x1


def test_times_are_rounded_exactly_in_the_largest_unit_of_which_there_is_one():
    # an op of 1 x 1 layers takes 1 s / ops_per_s, and one has 2 ops
    one = LAB.on(nodes=1)._replace(network=(ConvLayer(1, 1, 1, 1, 1, 1),), inputs=1)
    for latency_s, text in (
        ("0.001", "1.00 ms."),
        ("0.000999996", "1,000.00 \N{MICRO SIGN}s."),
        ("5485638102345688874.015", "5,485,638,102,345,688,874.02 s."),
    ):
        question = one.on(ops_per_s=2 / Fraction(latency_s))
        assert pictures.timeline(Analysis(question)).alt.endswith(f"an output after {text}")


# ------------------------------------------------ limits


def test_limits_of_the_lab():
    figure, alt = drawn("limits", "the lab")
    blue, orange = "#0069A6", "#B34700"
    # 32 * 3.03330816; 32 * 0.093952; 32 * (4.62422016 - 3.03330816) ms; 0.124416 + 3.98721024
    # + 3.39738624 ms; by rows 4.94232576 + 31 * 4.62422016 ms in all
    tensor = [("ideal compute", 0.09706586112, blue), ("communication", 0.003006464, INK)]
    pipeline = [
        ("ideal compute", 0.09706586112, orange),
        ("load imbalance", 0.050909184, pictures.PALE_PIPELINE),
        ("fill and drain", 0.00750901248, "#FFFFFF"),
        ("communication", 0.00030208, INK),
    ]
    streamed = [
        ("ideal compute", 0.09706586112, orange),
        ("waiting", 0.0512272896, "#FFFFFF"),
    ]
    wanted = {"tensor": tensor, "pipeline": pipeline, "pipeline, row streaming": streamed}
    assert bars(figure) == {
        row: [(name, near(size), shade) for name, size, shade in parts]
        for row, parts in wanted.items()
    }
    assert limit_of(figure) == (near(0.09706586112), "lower bound 97.066 ms")
    told = "tensor, ideal compute 97.066 + communication 3.006 = 100.072 ms; pipeline, ideal"
    assert told in alt and "= 148.293 ms. The lower bound is 97.066 ms." in alt
    # what has no room on the bar is right of it, up to the sum
    compute = "ideal compute 97.066"
    assert sums(figure) == {
        "tensor": [compute, "+ communication 3.006 = 100.072 ms"],
        "pipeline": [
            compute,
            "+ load imbalance 50.909 + fill and drain 7.509 + communication 0.302 = 155.786 ms",
        ],
        "pipeline, row streaming": [compute, "waiting 51.227", "= 148.293 ms"],
    }


@pytest.mark.parametrize("which", ["the lab", "1 input", "slow links", "8 layers", "sends"])
def test_a_name_is_inside_its_part_and_a_sum_right_of_its_bar(which):
    figure = drawn("limits", which).figure
    [axes] = figure.axes
    limit = axes.transData.transform((limit_of(figure)[0], 0))[0]
    parts = {}
    for bar in axes.patches:
        row = round(bar.get_y() + bar.get_height() / 2)
        parts.setdefault(row, {})[bar.get_label().rpartition(": ")[2]] = bar
    dark = {INK, *COLOURS["link"], *(shades[0] for shades in COLOURS.values())}
    for text in axes.texts:
        box, row = text.get_window_extent(), round(text.get_position()[1])
        name = re.sub(r" [\d.,]+$", "", text.get_text())
        if name in parts[row]:
            inside = parts[row][name].get_window_extent()
            assert inside.x0 < box.x0 and box.x1 < inside.x1
            assert not box.x0 < limit < box.x1
            is_dark = colour(parts[row][name].get_facecolor()) in dark
            assert colour(text.get_color()) == ("#FFFFFF" if is_dark else "#000000")
        else:
            assert max(bar.get_window_extent().x1 for bar in parts[row].values()) < box.x0
            assert box.x1 < figure.bbox.x1


def test_limits_of_a_machine_that_differs_in_everything():
    figure = drawn("limits", "sends").figure
    # 3 * 12.3, 3 * 4 * 24; 3 * 12.3, 3 * (20.5 - 12.3), 3 * (30 - 20.5), 3 * (60 - 30), 61.5, 30 s
    assert lengths(figure)["tensor"] == near([36.9, 288])
    assert lengths(figure)["pipeline"] == near([36.9, 24.6, 28.5, 90, 61.5, 30])
    names = [part[0] for part in bars(figure)["pipeline"]]
    assert names[1::2] == ["idle nodes", "waiting for a link", "communication"]
    assert limit_of(figure)[0] == near(36.9)


FILTERS = "not possible: layer 1's 128 filters cannot be split evenly over 5 nodes"
LAYERS = "not possible: 4 layers need 4 nodes or more, not 1"


@pytest.mark.parametrize(
    ("which", "start", "reason"), [("1 node", "pipeline", LAYERS), ("5 nodes", "tensor", FILTERS)]
)
def test_what_is_not_possible_has_its_reason_in_place_of_the_bar(which, start, reason):
    for name in ("limits", "sram"):
        figure, alt = drawn(name, which)
        rows = [row for row in rows_of(figure.axes[0]) if row.startswith(start)]
        assert rows and all(sums(figure)[row] == [reason] for row in rows) and reason in alt
        assert not {*rows} & bars(figure).keys()


def test_a_timeline_without_a_strategy_says_why():
    figure, alt = drawn("timeline", "5 nodes")
    assert f"Tensor parallelism is {FILTERS}" in said(figure) and FILTERS in alt
    assert len(figure.axes) == 1


def test_a_value_has_two_digits_at_least():
    # 32 * (230,400 + 200,704) / 2 bytes at 2 * 10**12 a second are 3.45 us
    question = LAB.on(nodes=2, link_bytes_per_s=2 * 10**12)._replace(network=NETWORK[:2])
    assert "communication 0.0034 = " in pictures.limits(Analysis(question)).alt


# ------------------------------------------------ what is too large


@pytest.mark.parametrize(
    ("name", "most", "found", "instead"),
    [
        ("timeline", 32, "33 lines", "ask for fewer layers or plans"),
        # one each of tensor, of the pipeline with row streaming, and of data
        ("sram", 29, "33 bars", "`python3 report explain sram` has them all"),
    ],
)
def test_more_than_32_lines_or_bars_are_refused(name, most, found, instead):
    # with one filter only the pipeline is possible
    case, layer = LAB.on(nodes=40)._replace(inputs=1), ConvLayer(1, 1, 1, 1, 1, 1)
    draw = pictures.PICTURES[name]
    assert draw(Analysis(case._replace(network=(layer,) * most))).alt
    sentence = f"{found} are too many to draw: the limit is 32; {instead}"
    with pytest.raises(ValueError, match=re.escape(sentence)):
        draw(Analysis(case._replace(network=(layer,) * (most + 1))))


def test_more_bars_of_a_timeline_than_the_limit_are_refused(monkeypatch):
    monkeypatch.setattr(pictures, "MOST_BARS", 16)
    case = {"plans": [STRATEGIES["tensor"](*LAB[:2])], "until_s": 2 * Fraction("0.00312726016")}
    analysis = Analysis(LAB._replace(inputs=10**9))
    assert len(marks(*pictures.timeline(analysis, **case).figure.axes)) == 2 * 8
    case["until_s"] += Fraction(1, 10**9)
    with pytest.raises(ValueError, match=r"24 bars .* end the timeline earlier, with --until"):
        pictures.timeline(analysis, **case)


# ------------------------------------------------ plans


def is_filled(line):
    return colour(line.get_markerfacecolor()) == colour(line.get_color())


def dots(figure):
    """Where a plan is, and if it fits, of all plans."""
    lines = [line for line in figure.axes[0].lines if line.get_linestyle() == "None"]
    return sorted((*at, is_filled(line)) for line in lines for at in line.get_xydata().tolist())


def dot(figure, name):
    """That of a plan in the key, with its number or without."""
    [line] = [it for it in figure.axes[0].lines if name in it.get_label().partition(": ")]
    return line


def best_plans(question):
    return search.unbeaten(search.every_result(*question))


LAB_FRONT = {  # MB and ms of 32 inputs
    "1-4:4": (61.538304, 100.07232512),
    "1-2:2,3-4:2": (28.114944, 123.19973376),
    "1-2:2,3,4": (19.333120, 133.556736),
    "1-2,3:2,4": (18.382848, 157.49096448),
    "1-2,3,4": (11.960320, 159.5278336),
    "1-2,3-4": (6.422528, 241.15607552),
    "1-3,4": (5.537792, 283.03099904),
    "1-4": (0, 388.26344448),
}


@pytest.mark.parametrize(
    ("which", "name", "look", "place"),
    [
        ("the lab", "tensor parallelism", ("s", "tensor", True), (61.538304, 100.07232512)),
        ("the lab", "pipeline parallelism", ("D", "pipeline", False), (19.33312, 155.7861376)),
        ("the lab", "plan 1-3,4", ("o", "plan", False), (5.537792, 283.03099904)),
        # kB, and s: 8 * (30 * (120 + 90) + 5 * 108) bytes; 8 * (720 + 540) bytes
        # 8 * (180 + 1215 + 1458) s on one node
        # 9,216 bytes: 2,562 on each of six nodes; 8,964 on node 3; 11,772 on one node
        ("odd", "tensor parallelism", ("s", "tensor", True), (54.72, 4821.6)),
        ("odd", "pipeline parallelism", ("D", "pipeline", True), (10.08, 13563)),
        ("odd", "plan 1-3", ("o", "plan", False), (0, 22824)),
    ],
)
def test_a_plan_in_the_key_is_at_its_place_and_filled_if_it_fits(which, name, look, place):
    line = dot(drawn("plans", which).figure, name)
    marker, kind, fits = look
    assert line.get_xydata().tolist() == [near([*place])]
    assert (line.get_marker(), line.get_color()) == (marker, COLOURS[kind][0])
    assert is_filled(line) == fits


@pytest.mark.parametrize(
    ("which", "x", "y"),
    [
        ("the lab", ("traffic, MB", 10**6), ("latency of 32 inputs, ms", 10**3)),
        ("odd", ("traffic, kB", 10**3), ("latency of 8 inputs, s", 1)),
    ],
)
def test_every_plan_is_drawn_and_those_that_fit_are_counted(which, x, y):
    figure, alt = drawn("plans", which)
    [axes] = figure.axes
    assert (axes.get_xlabel(), axes.get_title(loc="left")) == (x[0], y[0])
    assert min(ticks(axes.xaxis)) == min(ticks(axes.yaxis)) == 0
    every = search.every_result(*QUESTIONS[which])
    assert dots(figure) == sorted(
        (float(Fraction(it.traffic_bytes, x[1])), float(it.latency_s * y[1]), it.fits)
        for it in every
    )
    fit = sum(it.fits for it in every)
    assert f"{len(every)} plans; filled: {fit} that fit in the SRAM" in alt


@pytest.mark.parametrize("which", ["the lab", "1 input", "slow links", "8 layers", "128 nodes"])
def test_numbers_are_the_tables_and_left_below_their_plan_where_no_other_can_be(which):
    question, figure = QUESTIONS[which], drawn("plans", which).figure
    axes, numbers = figure.axes[0], figure.axes[0].texts
    best = best_plans(question)  # fastest first, as in the table
    others = axes.transData.transform([it[:2] for it in dots(figure)])
    [limit] = [it for it in axes.lines if it.get_label().startswith("lower bound")]
    _, bound = axes.transData.transform((0, limit.get_ydata()[0]))
    assert 0 < len(numbers) <= 10 and (numbers[0].get_text() == "1") == (which != "128 nodes")
    for text in numbers:
        plan = schedule.plan_name(*question[:2], best[int(text.get_text()) - 1].plan)
        assert text.xy == near(dot(figure, plan).get_xydata()[0])
        extent, (x, y) = text.get_window_extent(), axes.transData.transform(text.xy)
        assert extent.x1 < x and extent.y1 < y and not extent.y0 < bound < extent.y1
        assert axes.bbox.y0 < extent.y0  # and so above the axis
        assert not any(extent.contains(*place) for place in others)


def test_the_key_names_plans_by_their_numbers_in_the_table():
    picture = drawn("plans", "the lab")
    found, axes = said(picture.figure), picture.figure.axes[0]
    lines = {line.get_label(): line for line in axes.lines}
    for number, (text, place) in enumerate(LAB_FRONT.items(), 1):
        name = "tensor parallelism" if text == "1-4:4" else f"plan {text}"
        assert f"{number}: {name}" in found
        assert lines[f"{number}: {name}"].get_xydata()[0].tolist() == near([*place])
        assert all(it.xy == near(place) for it in axes.texts if it.get_text() == f"{number}")
    assert [*lines].index("pipeline parallelism") == len(LAB_FRONT)  # behind the numbers
    assert "28 plans; filled: 1 that fit in the SRAM" in found and "pipeline parallelism" in found
    assert "number: 1: tensor parallelism (100.07 ms, 61,538,304 bytes); 2: plan" in picture.alt
    assert "pipeline" not in picture.alt
    front = lines["Pareto front"]
    assert [*map(tuple, front.get_xydata())] == [near(at) for at in LAB_FRONT.values()]
    assert front.get_drawstyle() == "steps-pre"  # fastest first: left at its latency
    assert list(lines["lower bound 97.07 ms"].get_ydata()) == near([97.06586112] * 2)


@pytest.mark.parametrize(("which", "step"), [("1 node", 1), ("1 input", 1), ("8 layers", 4)])
def test_up_to_ten_pareto_optimal_plans_are_in_the_key(which, step):
    figure = drawn("plans", which).figure
    best = best_plans(QUESTIONS[which])
    names = [line.partition(":")[0] for line in said(figure) if re.match(r"\d+: ", line)]
    assert names == [f"{number}" for number in range(1, len(best) + 1, step)]
    assert all(
        dot(figure, schedule.plan_name(*QUESTIONS[which][:2], it.plan)) for it in best[::step]
    )
    assert (len(figure.axes[0].texts) < len(names)) == (which == "8 layers")
    assert ("Pareto front" in said(figure)) == (len(best) > 1)
    assert ("other plans" in said(figure)) == (which != "1 node")  # which has one plan


def test_plans_without_traffic_are_drawn_without_a_warning(recwarn):
    pictures.pareto(Analysis(QUESTIONS["1 node"]))
    assert not recwarn.list


def test_no_picture_without_a_search_but_the_reason(monkeypatch):
    monkeypatch.setattr(search, "MOST_PLANS", 27)
    with pytest.raises(ValueError, match="more than 27 plans"):
        pictures.pareto(Analysis(LAB))


# ------------------------------------------------ what nodes must hold


def test_sram_of_the_lab():
    figure, alt = drawn("sram", "the lab")
    held = {
        "tensor, every node": (222_912, 230_400, 50_176),
        "pipeline, node 1": (6_912, 6_144, 230_400),
        "pipeline, node 2": (294_912, 230_400, 200_704),
        "pipeline, node 3": (294_912, 200_704, 173_056),
        "pipeline, node 4": (294_912, 173_056, 147_456),
        "pipeline, row streaming, node 4": (294_912, 19_968, 147_456),
        "data, every node": (891_648, 230_400, 200_704),
    }
    head, *values = figure.axes[0].child_axes[0].get_yticklabels()
    assert head.get_text() == "weights + input + output, bytes"
    assert [*lengths(figure)] == rows_of(figure.axes[0]) == [*held]
    for value, (name, sizes) in zip(values, held.items(), strict=True):
        is_too_many = sum(sizes) > 524_288
        text = f"{' + '.join(f'{size:,}' for size in sizes)} = {sum(sizes):,}"
        assert (value.get_text(), value.get_color()) == (text, ALARM if is_too_many else INK)
        assert sum(lengths(figure)[name]) == sum(sizes)
        assert f"{name}, {sum(sizes):,}{' (too many)' * is_too_many}" in alt
    assert limit_of(figure) == (524_288, "SRAM of a node: 524,288 bytes")
    ends = [end for line in figure.axes[0].collections for end in line.get_paths()[0].vertices]
    assert [min(y for _, y in ends), max(y for _, y in ends)] == [*figure.axes[0].get_ylim()][::-1]


def test_sram_of_a_machine_that_differs_in_everything_is_pale_red_beyond_it():
    figure = drawn("sram", "odd").figure
    # the parts inside the 9,216 bytes and beyond; weights 10,512, a sixth of them 1,752
    assert lengths(figure)["tensor, every node"] == [1_752, 720, 90]
    assert lengths(figure)["pipeline, node 2"] == [2_592, 720, 540]
    assert lengths(figure)["data, every node"] == [9_216, 1_296, 720, 540]
    for parts in bars(figure).values():
        ends = accumulate(length for _, length, _ in parts)
        assert [shade == PALE_ALARM for *_, shade in parts] == [end > 9_216 for end in ends]
    hatches = {bar.get_label()[-7:]: bar.get_hatch() or "" for bar in figure.axes[0].patches}
    assert hatches == {"weights": "", ": input": "///", " output": 3 * "\\"}
    gathers = lengths(drawn("sram", "gathers").figure)  # weights 60 / 3, output 18 * 4
    assert gathers["tensor, gathering node"] == [20, 72]


@pytest.mark.parametrize(("sram_bytes", "is_red"), [(266, False), (265, True)])
def test_a_key_has_what_exceeds_only_if_something_does(sram_bytes, is_red):
    picture = pictures.sram(Analysis(ONE_LAYER.on(sram_bytes=sram_bytes)))  # 266 bytes in all
    assert ("excess" in said(picture.figure)) == is_red
    assert ("data, every node, 266 (too many)" in picture.alt) == is_red
    assert any(text.get_color() == ALARM for text in texts(picture.figure)) == is_red


def test_a_bound_has_one_of_its_unit_and_the_slowest_plan_ten():
    analysis = Analysis(LAB.on(ops_per_s=5 * 10**15, link_bytes_per_s=2 * 10**14))
    # 0.97 us; one node takes 3.88 us
    assert sums(pictures.limits(analysis).figure)["tensor"][-1].endswith("= 1,000.723 ns")
    assert "latency of 32 inputs, ns" in said(pictures.pareto(analysis).figure)


# ------------------------------------------------ files and the command


def test_an_svg_has_its_text_and_says_in_words_what_it_shows(folder):
    line = "picture timeline --plan 1-2:2,3,4 --plan pipeline --until 7.5 --inputs 1"
    assert output(line) == "what if: 1 input\n\nwrote timeline.svg\n"
    root = ElementTree.parse(folder / "timeline.svg").getroot()
    alt = root.find(f"{SVG}title").text
    assert alt.startswith("Timeline of the first 7.50 ms: plan 1-2:2,3,4: an output after ")
    assert "pipeline parallelism: an output after 12.44 ms." in alt
    written = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert "what if: 1 input" in written


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("limits --output a.pdf", ".png"),
        ("limits --plan tensor", "--plan works only with timeline, not limits"),
        ("plans --until 3", "--until works only with timeline"),
        ("timeline --until 0", "ms"),
        ("timeline --plan 1-3", "layer 3"),
        ("timeline --nodes 3", "cannot be split evenly over 3 nodes"),
        ("timeline --inputs 1000 --until 1000", "with --until"),
        ("all", "timeline"),
    ],
)
def test_what_is_refused_writes_nothing(folder, line, named):
    assert named in refusal(f"picture {line}")
    assert not [*folder.iterdir()]


@pytest.mark.parametrize(
    ("name", "start", "printed"),
    [
        ("a b.c.png", b"\x89PNG", "a b.c.png"),
        ("\x1b[31m\u00e9.SVG", b"<?xml", r"'\x1b[31m\xe9.SVG'"),
    ],
)
def test_the_ending_chooses_and_the_files_name_is_told_in_printable_ascii(
    folder, name, start, printed
):
    told = output(["picture", "sram", "--output", name])
    content = (folder / name).read_bytes()
    assert told == f"wrote {printed}\n" and content.startswith(start)
    assert b"Bytes that a node holds" in content


def test_a_file_that_cannot_be_written_is_told_in_printable_ascii(folder):
    status, out, err = call(["picture", "sram", "--output", "\x1b[31m/a.svg"])
    assert (status, out) == (1, "")
    assert sentence(err) == r"cannot write '\x1b[31m/a.svg': No such file or directory"


def test_same_bytes_whatever_the_users_settings():
    with matplotlib.rc_context({"lines.linewidth": 5, "svg.fonttype": "path"}):
        there = pictures.image(pictures.limits(Analysis(LAB)), ".svg")
    assert there == pictures.image(drawn("limits", "the lab"), ".svg")
