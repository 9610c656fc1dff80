"""What is drawn, read from matplotlib's own objects, against numbers worked out by hand and against
the schedule. odd_machines.py has the sizes of a machine that differs from the lab's in everything.
"""

import re
import xml.etree.ElementTree as ElementTree
from fractions import Fraction
from functools import cache

import matplotlib
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from lab3 import NETWORK, RING, ConvLayer
from odd_machines import GATHERS, ODD_ALL_TO_ALL, ODD_OPTIONS, ONE_LAYER, SENDS
from program import call, output, refusal, sentence
from report import pictures, plans, schedule
from report.analysis import Analysis
from report.pictures import ALARM, COLOURS, INK
from report.question import LAB

EIGHT = (NETWORK[0], *(ConvLayer(128, 128, 3, 3, size, size) for size in range(30, 16, -2)))
QUESTIONS = {
    "the lab": LAB,
    "1 input": LAB._replace(inputs=1),
    "8 layers": LAB.on(nodes=8)._replace(network=EIGHT),
    "1 node": LAB.on(nodes=1),
    "a ring": LAB.on(topology=RING),
    "slow links": LAB.on(link_bytes_per_s=2 * 10**7),
    "5 nodes": LAB.on(nodes=5),
    "slow": LAB.on(ops_per_s=Fraction(1, 10**30)),
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


def values(figure):
    """What is said right of the row of a name, and its colour."""
    [axes] = figure.axes
    _, *found = axes.child_axes[0].get_yticklabels()
    said = [(text.get_text(), colour(text.get_color())) for text in found]
    return dict(zip(rows_of(axes), said, strict=True))


def bars(figure):
    """Of each row its bar's parts, from the left: name, start, length, colour, which of what
    exceeds the SRAM is its edge's."""
    rows = {}
    for bar in figure.axes[0].patches:
        row, _, part = bar.get_label().rpartition(": ")
        assert row == rows_of(figure.axes[0])[round(bar.get_y() + bar.get_height() / 2)]
        face, edge = colour(bar.get_facecolor()), colour(bar.get_edgecolor())
        length = (part, bar.get_x(), bar.get_width(), edge if edge == ALARM else face)
        rows.setdefault(row, []).append(length)
    return rows


def key_of(figure):
    """The entries of a key: face and hatch."""
    key = figure.legends[0]
    return {
        text.get_text(): (colour(it.get_facecolor()), it.get_hatch() or "")
        for text, it in zip(key.get_texts(), key.get_patches(), strict=True)
    }


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


def test_a_style_sets_size_and_type():
    style = pictures.Style(770, 13, "No such Serif", 200)
    for draw in (pictures.limits, pictures.pareto):
        figure = draw(Analysis(LAB), style=style).figure
        assert figure.get_size_inches() * 72 == near([770, 200])
        assert {text.get_fontsize() for text in texts(figure)} == {13}
        assert {text.get_fontfamily()[0] for text in texts(figure)} == {"No such Serif"}


# ------------------------------------------------ timeline


def marks(axes):
    """Each mark: start, end, top, bottom, colour, work."""
    return [
        (box.x0, box.x1, box.y0, box.y1, colour(drawn.get_facecolor()[0]), drawn.get_label())
        for drawn in axes.collections
        for box in (path.get_extents() for path in drawn.get_paths())
    ]


def assert_shows(axes, question, plan, kind, end_s, factor):
    """What is busy in a window of a schedule is drawn busy in its shade, and nothing else is."""
    wanted = set()
    for job in schedule.schedule(*question[:2], plan, min(question.inputs, 60)):
        if job.start_s < end_s:
            is_compute, first, last = job.work == "compute", job.where[0], job.where[-1]
            shade = COLOURS[kind if is_compute else "link"][1 - job.input % 2]
            span = [f"{float(it * factor):.7g}" for it in (job.start_s, min(job.end_s, end_s))]
            line = first if first == last else f"nodes {first[5:]}-{last[5:]}"
            wanted.add((line if is_compute else job.work, *span, shade))
    found = set()
    for start, end, top, bottom, shade, work in marks(axes):
        name = rows_of(axes)[round((top + bottom) / 2)] if work == "compute" else work
        found.add((name, f"{start:.7g}", f"{end:.7g}", shade))
    assert found == wanted


def test_the_labs_window_is_filled_with_all_inputs_that_run_in_it():
    figure = drawn("timeline", "the lab").figure
    end_ms = 13.678843904  # the pipeline's first output, after 12.43531264 ms, and a tenth
    plans_of = plans.strategy_plans(*LAB[:2]).items()
    for axes, (kind, plan) in zip(figure.axes, plans_of, strict=True):
        assert axes.get_xlim() == (0, near(end_ms))
        assert_shows(axes, LAB, plan, kind, Fraction(str(end_ms)) / 1000, 1000)
    assert ticks(axes.xaxis)[8].get_text() == "8" and "time, ms" in said(figure)
    blue = COLOURS["tensor"][0]
    assert key_of(figure) == {"computing; number: the input": (blue, ""), "transfer": (INK, "")}


def test_a_plan_of_an_odd_machine_is_drawn_as_it_is_scheduled():
    plan = plans.parse_plan("1-2:2,3:3")
    [axes] = pictures.timeline(Analysis(ODD_ALL_TO_ALL), [plan], until_s=9_000).figure.axes
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
        [axes] = pictures.timeline(Analysis(ODD_ALL_TO_ALL), pipeline, until_s).figure.axes
        assert sum(it[2] < 0 and it[5] == "compute" for it in marks(axes)) == inputs


def test_a_number_is_in_each_bar_that_has_room_and_says_its_input():
    both = drawn("timeline", "the lab").figure.axes
    for axes, interval, starts in (
        (both[0], 3.12726016, [0]),
        (both[1], 4.62422016, [0, 0.239616, 4.96418816, 9.0379264]),
    ):
        room = {it[:4] for it in marks(axes) if it[5] == "compute"}
        for text in filter(lambda text: text.get_text().isdigit(), axes.texts):
            x, y = text.get_position()
            (bar,) = [it for it in room if it[0] < x < it[1] and it[2] < y < it[3]]
            assert int(text.get_text()) == 1 + int((bar[0] - starts[round(y)] + 1e-9) // interval)
            room.remove(bar)
        assert all(end - start < 0.4 for start, end, *_ in room)


def test_nodes_that_work_alike_have_one_line():
    one, several = map(rows_of, drawn("timeline", "8 layers").figure.axes)
    assert one == ["nodes 1-8"] and several == [f"node {number}" for number in range(1, 9)]


def test_a_plans_name_and_pace_are_above_it_in_its_colour():
    picture = drawn("timeline", "odd")
    colours = {it.get_text()[:22]: colour(it.get_color()) for it in texts(picture.figure)}
    assert colours["tensor parallelism: an"] == COLOURS["tensor"][0]
    assert colours["pipeline parallelism: "] == COLOURS["pipeline"][0]
    # 30 + 48 + 202.5 + 36 + 243 + 43.2; 180 + 288 + 1215 + 216 + 1458 s
    title = "tensor parallelism: an output after 602.70 s, then one every 602.70 s"
    assert title in said(picture.figure)
    title = "pipeline parallelism, an output after 3,357.00 s, then one every 1,458.00 s"
    assert f"{title}; 3 idle nodes." in picture.alt


def test_a_timeline_of_very_much_shows_a_part_and_says_so(monkeypatch):
    monkeypatch.setattr(pictures, "MOST_BARS", 40)
    monkeypatch.setattr(pictures, "MOST_LINES", 4)
    both = [plans.parse_plan("1,2,3,4")] * 2  # two lines each
    picture = pictures.timeline(Analysis(LAB._replace(inputs=10**9)), both, until_s=10**6)
    for axes in picture.figure.axes:
        assert rows_of(axes) == ["node 1", "node 2"]
        # of compute, send and compute 13 inputs each
        assert len(marks(axes)) == 39 and axes.get_xlim() == (0, near(13 * 4.62422016))
    assert "pipeline parallelism: only the first 2 of 4 layers are shown" in said(picture.figure)
    early = "The window ends early, because 1,000,000.00 s would have too many bars"
    assert early in said(picture.figure) and f"{early}." in picture.alt
    monkeypatch.setattr(pictures, "MOST_LINES", 1)  # three layers on one
    picture = pictures.timeline(Analysis(LAB), [plans.parse_plan("1-3,4")])
    assert "only the first 3 of 4 layers are shown" in picture.alt


@pytest.mark.parametrize(("inputs", "lengths"), [(30, {pictures.HAIR_PT}), (300, set())])
def test_short_exchanges_are_hairs_unless_these_would_cover_all(inputs, lengths):
    plan, until_s = plans.strategy_plans(*LAB[:2])["tensor"], inputs * Fraction("0.00312726016")
    question = LAB._replace(inputs=10**6)
    [axes] = pictures.timeline(Analysis(question), [plan], until_s).figure.axes
    to_pt = axes.bbox.width / axes.get_xlim()[1]
    found = [(it[1] - it[0]) * to_pt for it in marks(axes) if it[5] != "compute"]
    assert len(found) == 4 * inputs and {round(it, 5) for it in found if it > 0.5} == lengths


def test_a_plan_is_named_as_it_is_asked_for_if_need_be_cut():
    one = LAB.on(nodes=12)._replace(network=(ConvLayer(1, 1, 1, 1, 1, 1),) * 24, inputs=1)
    chosen = [plans.parse_plan("1-12,13-24"), [plans.Group(2)] * 12]
    figure, alt = pictures.timeline(Analysis(one), chosen)
    assert "plan 1-12,13-24, an output after" in alt
    cut = "plan 1-2,3-4,5-6,7-8,9-10,11-12,13-14..."
    assert f"; {cut}, an output" in alt and any(it.startswith(f"{cut}: an") for it in said(figure))


def test_times_are_rounded_exactly_in_the_largest_unit_of_which_there_is_one():
    # an op of 1 x 1 layers takes 1 s / ops_per_s, and one has 2 ops
    one = LAB.on(nodes=1)._replace(network=(ConvLayer(1, 1, 1, 1, 1, 1),), inputs=1)
    for latency_s, text in (
        ("0.001", "1.00 ms."),
        ("0.000999996", "1,000.00 µs."),
        ("5485638102345688874.015", "5,485,638,102,345,688,874.02 s."),
    ):
        question = one.on(ops_per_s=2 / Fraction(latency_s))
        assert pictures.timeline(Analysis(question)).alt.endswith(f"an output after {text}")


# ------------------------------------------------ limits


def test_limits_of_the_lab():
    figure, alt = drawn("limits", "the lab")
    blue, orange, pale = "#0069A6", "#B34700", "#D9702B"
    # 32 * 3.03330816; 32 * 0.093952; parts of the pipeline as design gives them by its law
    assert bars(figure) == {
        "tensor parallelism": [
            ("computing 97.066 ms", 0, near(0.09706586112), blue),
            ("communication 3.006 ms", near(0.09706586112), near(0.003006464), INK),
        ],
        "pipeline parallelism": [
            ("ideal compute 97.066 ms", 0, near(0.09706586112), orange),
            # 32 * (4.62422016 - 3.03330816) ms
            ("load imbalance 50.909 ms", near(0.09706586112), near(0.050909184), pale),
            # 0.124416 + 3.98721024 + 3.39738624 ms
            ("fill and drain 7.509 ms", near(0.14797504512), near(0.00750901248), "#FFFFFF"),
            ("sending 0.302 ms", near(0.1554840576), near(0.00030208), INK),
        ],
        "tensor, row streaming": [("row streaming, total", 0, near(0.09706662912), "#FFFFFF")],
        "pipeline, row streaming": [("row streaming, total", 0, near(0.14829315072), "#FFFFFF")],
    }
    assert limit_of(figure) == (near(0.09706586112), "lower bound 97.066 ms")
    wanted = zip(bars(figure), (100.072, 155.786, 97.067, 148.293), strict=True)
    assert values(figure) == {name: (f"{value:.3f} ms", INK) for name, value in wanted}
    told = "tensor parallelism, 100.072 ms (computing 97.066 ms, communication 3.006 ms); pipeline"
    assert told in alt and "streaming, 148.293 ms. The lower bound is 97.066 ms." in alt


@pytest.mark.parametrize(
    ("which", "is_brief"), [("the lab", True), ("the lab", False), ("1 input", False)]
)
def test_parts_are_named_on_their_bars_or_in_the_key(which, is_brief):
    figure = drawn("limits", which, is_brief=is_brief).figure
    [axes] = figure.axes
    key, limit = key_of(figure), limit_of(figure)[0]
    names = {(text.get_position()[1], text.get_text()): text for text in axes.texts}
    for bar in axes.patches:
        row, part = round(bar.get_y() + bar.get_height() / 2), bar.get_label().rpartition(": ")[2]
        if text := names.pop((row, part), None):
            box = text.get_window_extent().transformed(axes.transData.inverted())
            assert bar.get_x() < box.x0 and box.x1 < bar.get_x() + bar.get_width()
            assert not box.x0 < limit < box.x1 and not bar.get_hatch()
            is_dark = colour(bar.get_facecolor()) in {dark for dark, _ in COLOURS.values()}
            assert colour(text.get_color()) == ("#FFFFFF" if is_dark else "#000000")
        else:
            assert key[part] == (colour(bar.get_facecolor()), bar.get_hatch() or "")
    assert not names
    on_bars = {text.get_text() for text in axes.texts}
    assert not on_bars & key.keys() and len(axes.get_yticks()) == (2 if is_brief else 4)
    assert ("load imbalance 50.909 ms" in on_bars) == (which == "the lab")
    what = f"Latency of {'32 inputs' if which == 'the lab' else which}"
    assert (what in said(figure)) == (not is_brief)


def test_limits_of_a_machine_that_differs_in_everything():
    figure = drawn("limits", "sends").figure
    rows = bars(figure)
    # 3 * 12.3, 3 * 4 * 24; 3 * 12.3, 3 * (20.5 - 12.3), 3 * (30 - 20.5), 3 * (60 - 30), 61.5, 30 s
    assert [part[2] for part in rows["tensor parallelism"]] == near([36.9, 288])
    pipeline = {part[0]: part[2] for part in rows["pipeline parallelism"]}
    assert [*pipeline.values()] == near([36.9, 24.6, 28.5, 90, 61.5, 30])
    assert [*pipeline][3] == "waiting for a link 90.000 s" and limit_of(figure)[0] == near(36.9)


FILTERS = "not possible: layer 1's 128 filters cannot be split evenly over 5 nodes"


@pytest.mark.parametrize(
    ("which", "start", "reason"),
    [
        ("1 node", "pipeline", "not possible: 4 layers need 4 nodes or more, not 1"),
        ("5 nodes", "tensor", FILTERS),
        ("a ring", "tensor, row", "not modelled on a ring of 4 nodes, only all-to-all"),
    ],
)
def test_what_is_not_possible_has_its_reason_in_place_of_the_bar(which, start, reason):
    figure = drawn("limits", which).figure
    rows = {number for number, name in enumerate(rows_of(figure.axes[0])) if name.startswith(start)}
    reasons = {(text.get_position()[1], text.get_text().strip()) for text in figure.axes[0].texts}
    assert {(row, reason) for row in rows} <= reasons
    assert not any(name.startswith(start) for name in bars(figure))


def test_a_timeline_without_a_strategy_says_why():
    figure, alt = drawn("timeline", "5 nodes")
    assert f"Tensor parallelism is {FILTERS}" in said(figure) and FILTERS in alt
    assert len(figure.axes) == 1


def test_a_value_has_two_digits_at_least():
    # 32 * (230,400 + 200,704) / 2 bytes at 2 * 10**12 a second are 3.45 us
    question = LAB.on(nodes=2, link_bytes_per_s=2 * 10**12)._replace(network=NETWORK[:2])
    assert "communication 0.0034 ms" in pictures.limits(Analysis(question)).alt


# ------------------------------------------------ plans


def dots(figure):
    """Place, marker, colour and filling of each plan with a name."""
    found = {}
    for line in figure.axes[0].lines:
        if line.get_gid():
            assert line.get_gid() not in found
            look = (line.get_marker(), colour(line.get_color()))
            is_filled = colour(line.get_markerfacecolor()) == look[1]
            found[line.get_gid()] = (*line.get_xydata()[0], *look, is_filled)
    return found


def places(figure):
    """Where a plan is, and if it fits, of all plans."""
    found = []
    for line in figure.axes[0].lines:
        if line.get_linestyle() == "None":
            is_filled = colour(line.get_markerfacecolor()) == colour(line.get_color())
            found += [(*place, is_filled) for place in line.get_xydata().tolist()]
    return sorted(found)


def expected_places(question, times, sizes):
    """The same, from the plans."""
    every = plans.every_plan(*question[:2])
    results = [plans.plan_result(*question[:2], plan, question.inputs) for plan in every]
    return sorted(
        (float(it.traffic_bytes / Fraction(sizes)), float(it.latency_s * times), it.fits)
        for it in results
    )


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


def test_every_plan_is_at_its_place_and_filled_if_it_fits():
    figure = drawn("plans", "the lab").figure
    found, everywhere = dots(figure), places(figure)
    assert len(everywhere) == 28 and everywhere == expected_places(LAB, 10**3, 10**6)
    assert {it[:2] for it in everywhere if it[2]} == {LAB_FRONT["1-4:4"]}
    assert "fits in the SRAM (25)" in pictures.pareto(Analysis(LAB.on(sram_bytes=2**20))).alt
    assert found["1,2,3,4"][:2] == near((19.33312, 155.7861376))
    assert found["1-4:4"][2:] == ("s", COLOURS["tensor"][0], True)
    assert found["1,2,3,4"][2:] == ("D", COLOURS["pipeline"][0], False)
    assert found["1-3,4"][2:] == ("o", COLOURS["plan"][0], False)


def test_axes_of_plans_start_at_zero():
    axes = drawn("plans", "the lab").figure.axes[0]
    assert min(ticks(axes.xaxis)) == min(ticks(axes.yaxis)) == 0
    assert ticks(axes.yaxis)[100].get_text() == "100"
    assert axes.get_title(loc="left") == "latency of 32 inputs, ms"


def test_plans_of_a_machine_that_differs_in_everything():
    figure = drawn("plans", "odd").figure
    found = dots(figure)
    assert places(figure) == expected_places(ODD_ALL_TO_ALL, 1, 10**3)
    # kB, and s: 8 * (30 * (120 + 90) + 5 * 108) bytes; 8 * (720 + 540) bytes
    assert found["1-3:6"][:2] == near((54.72, 4821.6))
    assert found["1,2,3"][:2] == near((10.08, 13563))
    assert figure.axes[0].get_xlabel() == "traffic, kB"
    # 9,216 bytes: 2,562 on each of six nodes; 8,964 on node 3; 11,772 on one node
    assert [found[text][4] for text in ("1-3:6", "1,2,3", "1-3")] == [True, True, False]


@pytest.mark.parametrize("which", ["the lab", "1 input", "slow links", "8 layers"])
def test_numbers_are_the_tables_and_left_below_their_plan_where_no_other_can_be(which):
    question, figure = QUESTIONS[which], drawn("plans", which).figure
    axes, numbers = figure.axes[0], figure.axes[0].texts
    best = [it.text for it in plans.best_plans(*question)]  # fastest first, as in the table
    others = axes.transData.transform([it[:2] for it in places(figure)])
    (limit,) = [it for it in axes.lines if it.get_label().startswith("lower bound")]
    _, bound = axes.transData.transform((0, limit.get_ydata()[0]))
    assert 0 < len(numbers) <= 10 and numbers[0].get_text() == "1"
    for text in numbers:
        assert text.xy == near(dots(figure)[best[int(text.get_text()) - 1]][:2])
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
    assert "28 plans; filled: fits in the SRAM (1)" in found and "pipeline parallelism" in found
    assert "number: 1: tensor parallelism (100.07 ms, 61,538,304 bytes); 2: plan" in picture.alt
    assert "pipeline" not in picture.alt
    front = lines["Pareto front"]
    assert [*map(tuple, front.get_xydata())] == [near(at) for at in LAB_FRONT.values()]
    assert front.get_drawstyle() == "steps-pre"  # fastest first: left at its latency
    assert list(lines["lower bound 97.07 ms"].get_ydata()) == near([97.06586112] * 2)


@pytest.mark.parametrize(("which", "step"), [("1 input", 1), ("8 layers", 4)])
def test_up_to_ten_pareto_optimal_plans_are_in_the_key(which, step):
    figure = drawn("plans", which).figure
    best = [it.text for it in plans.best_plans(*QUESTIONS[which])]
    names = [line.partition(":")[0] for line in said(figure) if re.match(r"\d+: ", line)]
    assert names == [f"{number}" for number in range(1, len(best) + 1, step)]
    assert {*best[::step]} < {*dots(figure)}  # also where a number has no room
    assert len(figure.axes[0].texts) < len(names)


def test_one_plan_has_no_front():
    figure, alt = drawn("plans", "1 node")
    assert "Pareto front" not in said(figure) and "1 plan; filled" in alt


@pytest.mark.parametrize(("most", "which"), [(28 * 4, "28 plans"), (28 * 4 - 1, "9 of very many")])
def test_of_too_many_plans_the_best_and_both_strategies_are_drawn(monkeypatch, most, which):
    monkeypatch.setattr(pictures, "MOST_LAYERS", most)
    assert f"traffic: {which}" in pictures.pareto(Analysis(LAB)).alt


def test_no_picture_without_a_search_but_the_reason(monkeypatch):
    monkeypatch.setattr(plans, "MOST_COMPARISONS", 1)
    with pytest.raises(ValueError, match="too many plans"):
        pictures.pareto(Analysis(LAB))


# ------------------------------------------------ what nodes must hold


def test_sram_of_the_lab():
    figure, alt = drawn("sram", "the lab")
    held = {
        "tensor, every node": (222_912, 230_400, 50_176),
        "tensor, row streaming, every node": (222_912, 230_400, 1_792),
        "pipeline, node 1": (6_912, 6_144, 230_400),
        "pipeline, node 2": (294_912, 230_400, 200_704),
        "pipeline, node 3": (294_912, 200_704, 173_056),
        "pipeline, node 4": (294_912, 173_056, 147_456),
        "pipeline, row streaming, node 4": (294_912, 19_968, 147_456),
        "data, every node": (891_648, 230_400, 200_704),
    }
    rows, found = bars(figure), values(figure)
    assert rows.keys() == held.keys()
    for name, sizes in held.items():
        text = f"{' + '.join(f'{size:,}' for size in sizes)} = {sum(sizes):,}"
        assert found[name] == (text, ALARM if sum(sizes) > 524_288 else INK)
        assert sum(part[2] for part in rows[name]) == sum(sizes)
        assert f"{name}, {sum(sizes):,}{' (too many)' * (sum(sizes) > 524_288)}" in alt
    assert limit_of(figure) == (524_288, "SRAM of a node: 524,288 bytes")
    assert "weights + input + output, bytes" in said(figure)
    assert any("one input at a time" in line for line in said(figure))
    brief = bars(drawn("sram", "the lab", is_brief=True).figure)
    assert [*brief] == [name for name in held if "row streaming" not in name]


def test_sram_of_a_machine_that_differs_in_everything_is_red_beyond_it():
    rows = bars(drawn("sram", "odd").figure)
    # the parts inside the 9,216 bytes and beyond; weights 10,512, a sixth of them 1,752
    lengths = {name: [part[2] for part in parts] for name, parts in rows.items()}
    assert lengths["tensor, every node"] == [1_752, 720, 90]
    assert lengths["pipeline, node 2"] == [2_592, 720, 540]
    assert lengths["data, every node"] == [9_216, 1_296, 720, 540]
    for parts in rows.values():
        ends = [start + length for _, start, length, _ in parts]
        assert [part[1] for part in parts] == [0, *ends[:-1]]
        assert [part[3] == ALARM for part in parts] == [end > 9_216 for end in ends]
    gathers = bars(drawn("sram", "gathers").figure)  # weights 60 / 3, output 18 * 4
    assert [part[2] for part in gathers["tensor, gathering node"]] == [20, 72]


def test_of_many_nodes_the_fullest_are_shown():
    growing = tuple(ConvLayer(size + 1, size, 1, 1, 2, 2) for size in range(1, 11))
    picture = pictures.sram(Analysis(LAB.on(nodes=10)._replace(network=growing)))
    nodes = [name for name in bars(picture.figure) if name.startswith("pipeline, node")]
    assert nodes == [f"pipeline, node {number}" for number in range(3, 11)]
    assert "pipeline: the 8 fullest of 10" in said(picture.figure)


def test_what_fills_the_sram_to_the_byte_is_not_red():
    # of the pipeline's node 2 the weights, 294,912 bytes, then with its input and output
    for sram_bytes, red in ((294_912, [230_400, 200_704]), (726_016, [])):
        rows = bars(pictures.sram(Analysis(LAB.on(sram_bytes=sram_bytes))).figure)
        parts = rows["pipeline, node 2"]
        assert [length for _, _, length, face in parts if face == ALARM] == red
        assert sum(length for _, _, length, _ in parts) == 726_016


@pytest.mark.parametrize(("sram_bytes", "is_red"), [(266, False), (265, True)])
def test_a_key_has_what_exceeds_only_where_something_does(sram_bytes, is_red):
    picture = pictures.sram(Analysis(ONE_LAYER.on(sram_bytes=sram_bytes)))  # 266 bytes in all
    assert ("excess" in said(picture.figure)) == is_red
    assert ("data, every node, 266 (too many)" in picture.alt) == is_red


def test_units_go_with_the_size_of_numbers():
    analysis = Analysis(LAB.on(ops_per_s=5 * 10**16, link_bytes_per_s=2 * 10**15))
    assert values(pictures.limits(analysis).figure)["tensor parallelism"][0] == "100.072 ns"
    assert "latency of 32 inputs, ns" in said(pictures.pareto(analysis).figure)


# ------------------------------------------------ files and the command


def test_an_svg_has_its_text_and_its_alternative_text(folder):
    told = output(f"picture timeline {ODD_OPTIONS} --plan 1-3:6").replace("\n", " ")
    assert told.startswith("what if: 8 inputs, 6 nodes, ring,")
    assert told.endswith("drawn: timeline.svg ")
    root = ElementTree.parse(folder / "timeline.svg").getroot()
    alt = root.find(f"{SVG}desc").text
    assert alt.startswith(root.find(f"{SVG}title").text)
    assert alt.replace("µ", "u") in told
    written = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert any(text.startswith("what if: 8 inputs") for text in written)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("limits --output a.pdf", ".png"),
        ("limits --plan tensor", "--plan works only with timeline, not limits"),
        ("plans --until 3", "--until works only with timeline"),
        ("timeline --until 0", "ms"),
        ("timeline --plan 1-3", "layer 3"),
        ("timeline --nodes 3", "cannot be split evenly over 3 nodes"),
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
    assert told.endswith(f"drawn: {printed}\n") and (folder / name).read_bytes().startswith(start)


def test_a_file_that_cannot_be_written_is_told_in_printable_ascii(folder):
    status, out, err = call(["picture", "sram", "--output", "\x1b[31m/a.svg"])
    assert (status, out) == (1, "")
    assert sentence(err) == r"cannot write '\x1b[31m/a.svg': No such file or directory"


def test_until_and_plan_are_a_timelines(folder):
    line = "picture timeline --plan 1-2:2,3,4 --plan pipeline --until 7.5 --inputs 1"
    told = output(line).replace("\n", " ")
    assert "first 7.50 ms: plan 1-2:2,3,4, an output after" in told
    assert "pipeline parallelism, an output after 12.44 ms." in told


def test_same_bytes_whatever_the_users_settings():
    with matplotlib.rc_context({"font.size": 30, "svg.fonttype": "path"}):
        there = pictures.image(pictures.limits(Analysis(LAB)), ".svg")
    assert there == pictures.image(drawn("limits", "the lab"), ".svg")
