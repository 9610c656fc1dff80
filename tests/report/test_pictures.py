"""What is drawn, read from matplotlib's own objects, against numbers worked out by hand and against
the schedule. odd_machines.py has the sizes of a machine that differs from the lab's in everything.
"""

import xml.etree.ElementTree as ElementTree
from fractions import Fraction
from functools import cache

import pytest
from matplotlib.colors import to_hex
from matplotlib.transforms import Bbox

from lab3 import NETWORK, RING, ConvLayer
from odd_machines import GATHERS, ODD_ALL_TO_ALL, ODD_OPTIONS, SENDS
from program import output, python, refusal
from report import pictures, plans, schedule
from report.analysis import Analysis
from report.pictures import ALARM, COLOURS, INK
from report.question import LAB

EIGHT = (NETWORK[0], *(ConvLayer(128, 128, 3, 3, size, size) for size in range(30, 16, -2)))
QUESTIONS = {
    "the lab": LAB,
    "8 nodes, 8 layers": LAB.on(nodes=8)._replace(network=EIGHT),
    "1 node": LAB.on(nodes=1),
    "a ring": LAB.on(topology=RING),
    "slow links": LAB.on(link_bytes_per_s=2 * 10**7),
    "64 nodes": LAB.on(nodes=64)._replace(network=NETWORK[:3]),
    "5 nodes": LAB.on(nodes=5),
    "odd": ODD_ALL_TO_ALL,
    "sends": SENDS,
    "gathers": GATHERS,
}


@cache
def drawn(name, which):
    """Each picture of each question, drawn once."""
    picture = pictures.PICTURES[name](Analysis(QUESTIONS[which]))
    picture.figure.draw_without_rendering()  # which finds the numbers of axes
    return picture


def near(values):
    return pytest.approx(values, rel=1e-9, abs=1e-9)


def colour(value):
    return to_hex(value).upper()


def ticks(axis):
    """The numbers of an axis that are in the picture, by their place on it."""
    low, high = sorted(axis.get_view_interval())
    found = zip(axis.get_majorticklocs(), axis.get_major_ticks(), strict=True)
    return {place: tick.label1 for place, tick in found if low <= place <= high}


def texts(figure):
    """All that can be read in a picture."""
    found = [text for axes in figure.axes for text in axes.texts]
    for axes in figure.axes:
        found += [*ticks(axes.xaxis).values(), *ticks(axes.yaxis).values()]
    for key in [*figure.legends, *(axes.get_legend() for axes in figure.axes)]:
        found += [*key.get_texts(), key.get_title()] if key else []
    return [text for text in found if text.get_text()]


def said(figure):
    return [text.get_text() for text in texts(figure)]


def row_of(figure, axes, y):
    """What is said on the left of a height of the axes."""
    height = axes.transData.transform((0, y))[1]
    left = axes.get_window_extent().x0
    said = [text for text in figure.axes[0].texts if text.get_text()]
    names = [text for text in said if text.get_window_extent().x1 < left]
    middle = {text.get_transform().transform(text.get_position())[1]: text for text in names}
    nearest = min(middle, key=lambda place: abs(place - height))
    assert nearest == near(height)
    return middle[nearest].get_text()


def values(figure):
    """What is said last in the row of a name, and its colour."""
    rows = {}
    for text in sorted(figure.axes[0].texts, key=lambda text: text.get_window_extent().x1):
        rows.setdefault(round(text.get_position()[1], 3), []).append(text)
    rows = {row[0].get_text(): row[-1] for row in rows.values() if len(row) > 1}
    return {name: (text.get_text(), colour(text.get_color())) for name, text in rows.items()}


def bars(figure):
    """Of each row its bar's parts, from the left: name, start, length, colour."""
    rows = {}
    for bar in figure.axes[1].patches:
        row, _, part = bar.get_label().rpartition(": ")
        assert row == row_of(figure, figure.axes[1], bar.get_y() + bar.get_height() / 2)
        length = (part, bar.get_x(), bar.get_width(), colour(bar.get_facecolor()))
        rows.setdefault(row, []).append(length)
    return rows


def limit_of(figure):
    """The place of the line across the bars, and its label, which stands at it."""
    lines = figure.axes[1].collections
    (label,) = {line.get_label() for line in lines}
    (place,) = {path.vertices[0][0] for line in lines for path in line.get_paths()}
    (text,) = [text for text in figure.axes[0].texts if text.get_text() == label]
    extent = text.get_window_extent()
    at = figure.axes[1].transData.transform((place, 0))[0]
    assert abs(extent.x0 - at) < 4 or extent.x1 > 0.97 * figure.bbox.x1
    return place, label


# ------------------------------------------------ all of them


@pytest.mark.parametrize("which", QUESTIONS)
@pytest.mark.parametrize("name", pictures.PICTURES)
def test_texts_are_inside_the_picture_and_apart(name, which):
    figure = drawn(name, which).figure
    extents = [text.get_window_extent() for text in texts(figure)]
    page = figure.bbox.padded(1)
    assert Bbox.union([page, *extents]).bounds == page.bounds
    inner = [extent.padded(-0.12 * extent.height) for extent in extents]
    for number, box in enumerate(inner):
        assert not box.count_overlaps(inner[:number]), said(figure)[number]


def test_what_differs_from_the_lab_is_said():
    shapes = "128x3x3x3 on 32x32, 128x128x3x3 on 30x30, 128x128x3x3 on 28x28"
    for name in pictures.PICTURES:
        assert not any("what if" in text for text in said(drawn(name, "the lab").figure))
        assert f"what if: 64 nodes, {shapes}" in said(drawn(name, "64 nodes").figure)


def test_a_style_sets_size_and_type():
    style = pictures.Style(770, 13, "No such Serif", 200)
    for draw in pictures.PICTURES.values():
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


def assert_shows(figure, axes, question, plan, kind, end_s, factor):
    """What is busy in a window of a schedule is drawn busy in its shade, and nothing else is."""
    wanted = set()
    for job in schedule.schedule(*question[:2], plan, min(question.inputs, 60)):
        if job.start_s < end_s:
            is_compute = job.work == "compute"
            shade = COLOURS[kind if is_compute else "link"][1 - job.input % 2]
            span = [f"{float(it * factor):.7g}" for it in (job.start_s, min(job.end_s, end_s))]
            wanted |= {(it, *span, shade) for it in (job.where if is_compute else [job.work])}
    found = set()
    for start, end, top, bottom, shade, work in marks(axes):
        name = row_of(figure, axes, (top + bottom) / 2) if work == "compute" else work
        found.add((name, f"{start:.7g}", f"{end:.7g}", shade))
    assert found == wanted


def test_the_labs_window_is_filled_with_all_inputs_that_run_in_it():
    figure = drawn("timeline", "the lab").figure
    end_ms = 13.678843904  # the pipeline's first output, after 12.43531264 ms, and a tenth
    plans_of = plans.strategy_plans(*LAB[:2]).items()
    for axes, (kind, plan) in zip(figure.axes[1:], plans_of, strict=True):
        assert axes.get_xlim() == (0, near(end_ms))
        assert_shows(figure, axes, LAB, plan, kind, Fraction(str(end_ms)) / 1000, 1000)
    numbers = ticks(axes.xaxis)
    assert len(numbers) > 4
    assert all(text.get_text() == f"{place:,g} ms" for place, text in numbers.items())


@pytest.mark.parametrize(
    ("text", "kind", "until_s"),
    [("1-2:2,3:3", "plan", 9_000), ("1,2-3:4", "plan", 400), ("1-3:6", "tensor", 10_000)],
)
def test_any_plan_of_an_odd_machine_is_drawn_as_it_is_scheduled(text, kind, until_s):
    plan = plans.parse_plan(text)
    figure = pictures.timeline(Analysis(ODD_ALL_TO_ALL), [plan], until_s).figure
    assert figure.axes[1].get_xlim() == (0, until_s)  # in s
    assert_shows(figure, figure.axes[1], ODD_ALL_TO_ALL, plan, kind, until_s, 1)


def test_a_number_is_in_each_bar_that_has_room_and_says_its_input():
    _, *both = drawn("timeline", "the lab").figure.axes
    for axes, interval, starts in (
        (both[0], 3.12726016, [0] * 4),
        (both[1], 4.62422016, [0, 0.239616, 4.96418816, 9.0379264]),
    ):
        room = {it[:4] for it in marks(axes) if it[5] == "compute"}
        for text in axes.texts:
            x, y = text.get_position()
            (bar,) = [it for it in room if it[0] < x < it[1] and it[2] < y < it[3]]
            assert int(text.get_text()) == 1 + int((bar[0] - starts[round(y)] + 1e-9) // interval)
            box = text.get_window_extent().transformed(axes.transData.inverted())
            assert bar[0] < box.x0 and box.x1 < bar[1]
            room.remove(bar)
        assert all(end - start < 0.4 for start, end, *_ in room)


def test_exchanges_are_dark_across_rows_and_sends_between_two():
    figure = pictures.timeline(Analysis(ODD_ALL_TO_ALL), [plans.parse_plan("1-2:2,3:3")]).figure
    _, axes = figure.axes
    dark = {it[5]: it for it in sorted(marks(axes), reverse=True) if it[4] in COLOURS["link"]}
    # two nodes: C / (2 R) 90, 607.5 s; A / 2 / B 144, 108 s; three nodes: 486 s; A_3 / 3 / B 86.4 s
    assert dark["all-gather"][:4] == near((90, 234, -0.42, 1.42))  # rows 0 and 1
    assert dark["send"][:4] == near((841.5, 949.5, 1.35, 1.65))  # between rows 1 and 2
    assert dark["gather"][:4] == near((1435.5, 1521.9, 1.58, 4.42))  # rows 2 to 4


def test_of_more_than_eight_nodes_a_group_has_one_row():
    found = said(drawn("timeline", "64 nodes").figure)
    assert "nodes 1-64" in found and {"node 1", "node 2", "node 3"} <= {*found}
    assert "node 4" not in found and "node 64" not in found
    assert said(drawn("timeline", "8 nodes, 8 layers").figure).count("node 8") == 2


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


def test_a_timeline_of_very_much_has_few_marks_and_says_so():
    many = tuple(ConvLayer(64, 64, 1, 1, 3, 3) for _ in range(1_000))
    question = LAB.on(nodes=1_000)._replace(network=many, inputs=10**9)
    picture = pictures.timeline(Analysis(question), until_s=10**6)
    _, axes = picture.figure.axes
    assert pictures.MOST_BARS / 4 < len(marks(axes)) <= pictures.MOST_BARS  # halved until they fit
    left_out = "pipeline parallelism: only the first 32 of 1,000 layers are shown"
    assert left_out in said(picture.figure) and "time ends here" in picture.alt
    end_s = Fraction(axes.get_xlim()[1]) / 10**6
    interval_s = schedule.interval(many, question.system, [plans.Group(1)] * 1_000)
    first = [it for it in marks(axes) if it[2] < 0 and it[5] == "compute"]
    assert len(first) == -(-end_s // interval_s)  # all inputs that node 1 starts in the window


# ------------------------------------------------ limits


def test_limits_of_the_lab():
    figure = drawn("limits", "the lab").figure
    blue, orange, pale, green = "#0069A6", "#B34700", "#D9702B", "#00704F"
    # 32 * 3.03330816; 32 * 0.093952; parts of the pipeline as design gives them by its law
    assert bars(figure) == {
        "tensor parallelism": [
            ("computing", 0, near(0.09706586112), blue),
            ("exchanging", near(0.09706586112), near(0.003006464), INK),
        ],
        "layers 1-2 on 2 nodes, 3 on 1, 4 on 1": [("latency", 0, near(0.133556736), green)],
        "pipeline parallelism": [
            ("ideal compute", 0, near(0.09706586112), orange),
            # 32 * (4.62422016 - 3.03330816) ms
            ("load imbalance", near(0.09706586112), near(0.050909184), pale),
            # 0.124416 + 3.98721024 + 3.39738624 ms
            ("fill and drain", near(0.14797504512), near(0.00750901248), "#FFFFFF"),
            ("sending", near(0.1554840576), near(0.00030208), INK),
        ],
        "tensor, row streaming": [("latency", 0, near(0.09706662912), blue)],
        "pipeline, row streaming": [("latency", 0, near(0.14829315072), orange)],
    }
    assert limit_of(figure) == (near(0.09706586112), "lower bound 97.07 ms")


def test_values_stand_at_their_own_bars_and_the_key_has_the_parts():
    figure = drawn("limits", "the lab").figure
    wanted = zip(bars(figure), (100.07, 133.56, 155.79, 97.07, 148.29), strict=True)
    assert values(figure) == {name: (f"{value} ms", INK) for name, value in wanted}
    keys = {text.get_text() for key in figure.legends for text in key.get_texts()}
    parts = {"computing 97.07", "exchanging 3.01", "ideal compute 97.07", "load imbalance 50.91"}
    assert keys == {f"{part} ms" for part in parts | {"fill and drain 7.51", "sending 0.30"}}
    told = "tensor parallelism: 100.07 ms (computing 97.07 ms"
    assert told in drawn("limits", "the lab").alt


def test_limits_of_a_machine_that_differs_in_everything():
    figure = drawn("limits", "sends").figure
    rows = bars(figure)
    # 3 * 12.3, 3 * 4 * 24; 3 * 12.3, 3 * (20.5 - 12.3), 3 * (30 - 20.5), 3 * (60 - 30), 61.5, 30 s
    assert [part[2] for part in rows["tensor parallelism"]] == near([36.9, 288])
    pipeline = {part[0]: part[2] for part in rows["pipeline parallelism"]}
    assert [*pipeline.values()] == near([36.9, 24.6, 28.5, 90, 61.5, 30])
    assert [*pipeline][3] == "waiting for a link" and limit_of(figure)[0] == near(36.9)


def test_the_best_other_plan_sends_no_more_than_the_pipeline():
    inputs, sent = ODD_ALL_TO_ALL.inputs, 8 * (720 + 540)
    every = plans.every_plan(*ODD_ALL_TO_ALL[:2])
    results = [plans.plan_result(*ODD_ALL_TO_ALL[:2], plan, inputs) for plan in every]
    best_s = min(float(it.latency_s) for it in results if it.traffic_bytes <= sent)
    found = bars(drawn("limits", "odd").figure).values()
    assert [it[2] for (it, *_) in found if it[3] == COLOURS["plan"][0]] == [near(best_s)]


@pytest.mark.parametrize(
    ("which", "start", "reason"),
    [
        ("1 node", "pipeline", "not possible: 4 layers need 4 nodes or more, not 1"),
        (
            "5 nodes",
            "tensor",
            "not possible: layer 1's 128 filters cannot be split evenly over 5 nodes",
        ),
        ("a ring", "tensor, row", "not modelled on a ring of 4 nodes, only all-to-all"),
    ],
)
def test_what_is_not_possible_has_its_reason_in_place_of_the_bar(which, start, reason):
    figure = drawn("limits", which).figure
    found = {name: text for name, (text, _) in values(figure).items() if name.startswith(start)}
    assert {*found.values()} == {reason} and not set(found) & set(bars(figure))
    if which == "5 nodes":
        figure, alt = drawn("timeline", which)
        assert f"Tensor parallelism is {reason}" in said(figure) and reason in alt
        assert len(figure.axes) == 2


def test_a_pipeline_that_no_plan_of_its_bytes_beats_has_one_bar():
    # two layers on two nodes: one node takes longer, tensor parallelism sends A_2 / 2 more
    question = LAB.on(nodes=2, link_bytes_per_s=2 * 10**12)._replace(network=NETWORK[:2])
    figure = pictures.limits(Analysis(question)).figure
    assert said(figure).count("pipeline parallelism") == 1 and len(values(figure)) == 4
    # 32 * (230,400 + 200,704) / 2 bytes at 2 * 10**12 a second are 3.45 us
    assert "exchanging 0.0034 ms" in said(figure)


def test_a_search_that_is_refused_leaves_the_strategies():
    many = tuple(ConvLayer(64, 64, 1, 1, 1, 3) for _ in range(100))
    analysis = Analysis(LAB.on(nodes=100)._replace(network=many))
    picture = pictures.limits(analysis)
    found = bars(picture.figure)
    assert values(picture.figure).keys() - found.keys() >= {"best other plan"}
    assert "pipeline parallelism" in found and "have too many plans" in picture.alt
    picture = pictures.plans(analysis)
    assert [it[2] for it in dots(picture.figure).values()] == ["D"]
    assert "too many plans" in picture.alt


# ------------------------------------------------ plans


def dots(figure):
    """Place, marker, colour and filling of each plan."""
    found = {}
    for line in figure.axes[1].lines:
        if line.get_gid():
            assert line.get_gid() not in found
            look = (line.get_marker(), colour(line.get_color()))
            is_filled = colour(line.get_markerfacecolor()) == look[1]
            found[line.get_gid()] = (*line.get_xydata()[0], *look, is_filled)
    return found


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
    found = dots(drawn("plans", "the lab").figure)
    assert len(found) == 28
    assert all(found[text][:2] == near(at) for text, at in LAB_FRONT.items())
    assert found["1,2,3,4"][:2] == near((19.33312, 155.7861376))
    assert [text for text, it in found.items() if it[4]] == ["1-4:4"]
    assert found["1-4:4"][2:4] == ("s", COLOURS["tensor"][0])
    assert found["1,2,3,4"][2:4] == ("D", COLOURS["pipeline"][0])
    latencies = ticks(drawn("plans", "the lab").figure.axes[1].yaxis)
    assert latencies[100].get_text() == "100"


def test_plans_of_a_machine_that_differs_in_everything():
    figure = drawn("plans", "odd").figure
    found = dots(figure)
    assert len(found) == len(plans.every_plan(*ODD_ALL_TO_ALL[:2]))
    # kB, and s: 8 * (30 * (120 + 90) + 5 * 108) bytes; 8 * (720 + 540) bytes
    assert found["1-3:6"][:2] == near((54.72, 4821.6))
    assert found["1,2,3"][:2] == near((10.08, 13563))
    assert ticks(figure.axes[1].xaxis)[20].get_text() == "20 kB"
    # 9,216 bytes: 2,562 on each of six nodes; 8,964 on node 3; 11,772 on one node
    assert [found[text][4] for text in ("1-3:6", "1,2,3", "1-3")] == [True, True, False]


@pytest.mark.parametrize("which", QUESTIONS)
def test_numbers_are_left_below_their_own_best_plan_where_no_other_can_be(which):
    question, figure = QUESTIONS[which], drawn("plans", which).figure
    axes, found = figure.axes[1], dots(figure)
    best = [found[it.text][:2] for it in plans.best_plans(*question)]  # fastest first
    places = axes.transData.transform([it[:2] for it in found.values()])
    numbers = axes.texts
    assert 0 < len(numbers) <= 10
    assert [it.get_text() for it in numbers] == [f"{n}" for n in range(1, len(numbers) + 1)]
    order = [best.index(text.xy) for text in numbers]
    assert order == sorted({*order}) and order[0] == 0
    for text in numbers:
        extent, (x, y) = text.get_window_extent(), axes.transData.transform(text.xy)
        assert extent.x1 < x and extent.y1 < y
        assert not any(extent.contains(*place) for place in places)


def test_the_key_names_plans_by_their_numbers_and_lines():
    picture = drawn("plans", "the lab")
    found, axes = said(picture.figure), picture.figure.axes[1]
    words = ["tensor parallelism", "layers 1-2 on 2 nodes, 3-4 on 2"]
    words += ["layers 1-2 on 2 nodes, 3 on 1, 4 on 1"]
    for number, (name, at) in enumerate(zip(words, LAB_FRONT.values(), strict=False), 1):
        assert axes.texts[number - 1].xy == near(at)
        assert f"{number} {name}" in found
    assert "28 plans; filled: fits in the SRAM (1)" in found
    assert "tensor parallelism (100.07 ms, 61,538,304 bytes)" in picture.alt
    lines = {line.get_label(): line for line in axes.lines}
    keys = ("1 tensor parallelism", "pipeline parallelism")
    assert [lines[key].get_gid() for key in keys] == ["1-4:4", "1,2,3,4"]
    front = lines["Pareto front"]
    assert [*map(tuple, front.get_xydata())] == [near(at) for at in LAB_FRONT.values()]
    assert front.get_drawstyle() == "steps-pre"  # fastest first: left at its latency
    assert list(lines["lower bound 97.07 ms"].get_ydata()) == near([97.06586112] * 2)


def test_plans_at_one_point_are_shown_as_several():
    # with 1 x 1 layers of equal size, 1,2-3 and 1-2,3 take the same time and send the same
    alike = tuple(ConvLayer(1, 1, 1, 1, 3, 3) for _ in range(3))
    picture = pictures.plans(Analysis(LAB.on(nodes=3)._replace(network=alike)))
    lines = picture.figure.axes[1].lines
    one, other = (line for line in lines if line.get_gid() in ("1,2-3", "1-2,3"))
    assert one.get_xydata().tolist() == other.get_xydata().tolist()
    assert abs(one.get_markersize() - other.get_markersize()) > 1


# ------------------------------------------------ what nodes must hold


def test_sram_of_the_lab():
    figure = drawn("sram", "the lab").figure
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
        is_told = f"{name}: {sum(sizes):,}, too many" in drawn("sram", "the lab").alt
        assert is_told == (sum(sizes) > 524_288)
    assert limit_of(figure) == (524_288, "SRAM of a node: 524,288 bytes")


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
    assert "pipeline: the 8 fullest of 10 nodes" in said(picture.figure)


@pytest.mark.parametrize(("sram_bytes", "arrow"), [(1_900_000, ""), (10**12, " →")])
def test_a_limit_beyond_the_axis_is_labelled(sram_bytes, arrow):
    figure = pictures.sram(Analysis(LAB.on(sram_bytes=sram_bytes))).figure
    label = f"SRAM of a node: {sram_bytes:,} bytes"
    assert [it.get_label() for it in figure.axes[1].collections] == [label] * 8 * (not arrow)
    assert f"{label}{arrow}" in said(figure) and "more than the SRAM" not in said(figure)


@pytest.mark.parametrize(
    ("speed", "unit"), [(1, "ms"), (1_000, "µs"), (10**6, "ns"), (Fraction(1, 1_000), "s")]
)
def test_units_go_with_the_size_of_numbers(speed, unit):
    ops, link = LAB.system.ops_per_s, LAB.system.link_bytes_per_s
    analysis = Analysis(LAB.on(ops_per_s=speed * ops, link_bytes_per_s=speed * link))
    assert values(pictures.limits(analysis).figure)["tensor parallelism"][0] == f"100.07 {unit}"
    assert f"latency of 32 inputs, {unit}, against traffic" in said(pictures.plans(analysis).figure)


# ------------------------------------------------ files and the command

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_an_svg_has_its_text_and_its_alternative_text(name, folder):
    told = output(f"picture {name} {ODD_OPTIONS}").replace("\n", " ")
    assert told.startswith("what if: 8 inputs, 6 nodes, ring,")
    assert told.endswith(f"drawn: {name}.svg ")
    root = ElementTree.parse(folder / f"{name}.svg").getroot()
    alt = root.find(f"{SVG}desc").text
    assert alt.startswith(root.find(f"{SVG}title").text)
    assert alt.replace("µ", "u") in told
    written = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert any(text.startswith("what if: 8 inputs") for text in written)


def test_the_ending_chooses(folder):
    for name, start in (("a.b.png", b"\x89PNG"), ("a.SVG", b"<?xml")):
        output(f"picture limits --output {name}")
        assert (folder / name).read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("limits --output a.pdf", ".png"),
        ("limits --plan tensor", "--plan"),
        ("plans --until 3", "--until"),
        ("timeline --until 0", "ms"),
        ("timeline --plan 1-3", "layer 3"),
        ("timeline --nodes 3", "evenly over 3 nodes"),
        ("timeline --plan pipeline" + "".join(f" --plan {it}" for it in LAB_FRONT), "8"),
        ("all", "timeline"),
    ],
)
def test_what_is_refused_writes_nothing(folder, line, named):
    assert named in refusal(f"picture {line}")
    assert not [*folder.iterdir()]


def test_until_and_plan_are_a_timelines(folder):
    line = "picture timeline --plan 1-2:2,3,4 --plan pipeline --until 7.5 --inputs 1"
    told = output(line).replace("\n", " ")
    assert "first 7.50 ms: layers 1-2 on 2 nodes, 3 on 1, 4 on 1, an output after" in told
    assert "pipeline parallelism, an output after 12.44 ms." in told


def test_same_bytes_whatever_the_users_settings(folder):
    (folder / "matplotlibrc").write_text("font.size: 30\nsvg.fonttype: path\nbackend: pdf\n")
    env = {"MATPLOTLIBRC": str(folder / "matplotlibrc"), "HOME": str(folder)}
    for ending in ("svg", "png"):
        there = folder / f"there.{ending}"
        output(f"picture sram --output here.{ending}")
        done = python("report", "picture", "sram", "--output", str(there), env=env)
        assert done.returncode == 0, done.stderr
        assert there.read_bytes() == (folder / f"here.{ending}").read_bytes()


def test_help_needs_no_matplotlib_and_a_picture_says_what_it_needs(folder):
    (folder / "matplotlib.py").write_text("raise ModuleNotFoundError(name='matplotlib')")
    env = {"PYTHONPATH": str(folder), "HOME": str(folder)}
    done = python("report", "picture", "--help", env=env)
    assert done.returncode == 0 and "--until MS" in done.stdout
    done = python("report", "picture", "sram", "--output", str(folder / "a.svg"), env=env)
    assert done.returncode == 1 and "needs matplotlib" in done.stderr


def test_what_just_fits_and_how_many_plans_fit_are_told():
    told = pictures.sram(Analysis(LAB.on(sram_bytes=503_488))).alt
    assert "tensor, every node: 503,488;" in told  # and not: too many
    assert "fits in the SRAM (25)" in pictures.plans(Analysis(LAB.on(sram_bytes=2**20))).alt
    assert "7 of 8 Pareto-optimal plans" in pictures.plans(Analysis(LAB)).alt
