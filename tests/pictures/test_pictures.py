"""What is drawn, read from matplotlib's own objects, against numbers worked out by hand."""

import warnings
from itertools import combinations, pairwise

import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.text import Annotation, Text

import pictures
from lab3 import NETWORK, SYSTEM, ConvLayer, System
from pictures import COLOURS, PARTS
from plans import parse_plan
from whatif import Question

TENSOR, PIPELINE = parse_plan("1-4:4"), parse_plan("1,2,3,4")
RING = SYSTEM._replace(topology="ring")
ONE = [ConvLayer(1, 1, 1, 1, 1, 1)]
BLUE, ORANGE, GREEN, INK, RED = "#0069A6", "#B34700", "#00704F", "#222222", "#C00020"


def near(values, tolerance=1e-6):
    return pytest.approx(values, abs=tolerance)


def colour(value):
    return to_hex(value).upper()


def rows(axes):
    """What each row of bars is called."""
    names = [label.get_text() for label in axes.get_yticklabels()]
    return dict(zip(map(round, axes.get_yticks()), names, strict=True))


def bars(axes, row):
    """Start, end and colour of the bars in a row, from the left."""
    found = [
        (bar.get_x(), bar.get_x() + bar.get_width(), colour(bar.get_facecolor()))
        for bar in axes.patches
        if bar.get_y() < row < bar.get_y() + bar.get_height()
    ]
    return sorted(found)


def texts(axes, row):
    """The middle of each text in a row, and what it says, from the left."""
    found = [(*text.get_position(), text.get_text()) for text in axes.texts]
    return sorted((x, said) for x, y, said in found if abs(y - row) < 0.3)


def box(text):
    """Where it is on the page, an annotation without its arrow."""
    return Text.get_window_extent(text)


# ------------------------------------------------ timeline

# In ms: 6,220,800 ops, 230,400 bytes, 231,211,008 ops, 200,704 bytes, 199,360,512 ops, 173,056
# bytes, 169,869,312 ops; of tensor parallelism a quarter of all of these, and of 147,456 bytes.
PIPELINE_ROWS = {
    "node 1": (0, 0.124416),
    "link 1 to 2": (0.124416, 0.239616),
    "node 2": (0.239616, 4.86383616),
    "link 2 to 3": (4.86383616, 4.96418816),
    "node 3": (4.96418816, 8.9513984),
    "link 3 to 4": (8.9513984, 9.0379264),
    "node 4": (9.0379264, 12.43531264),
}
TENSOR_EDGES = [
    0,
    0.031104,
    0.059904,
    1.21595904,
    1.24104704,
    2.2378496,
    2.2594816,
    3.10882816,
    3.12726016,
]


@pytest.fixture(scope="module")
def timeline():
    return pictures.timeline(NETWORK, SYSTEM, [TENSOR, PIPELINE], 32)


def test_timeline_of_pipeline_parallelism(timeline):
    _, axes = timeline.axes
    assert list(rows(axes).values()) == list(PIPELINE_ROWS)
    for row, name in rows(axes).items():
        start, end = PIPELINE_ROWS[name]
        paces = [number * 4.62422016 for number in range(4)]
        dark, light = ("#222222", "#7A7A7A") if "link" in name else (ORANGE, "#D9702B")
        assert bars(axes, row) == [
            (near(start + pace), near(end + pace), shade)
            for pace, shade in zip(paces, (dark, light, dark, light), strict=True)
        ]
        if name in ("node 2", "node 3", "node 4"):
            middles = [(start + end) / 2 + pace for pace in paces]
            assert texts(axes, row) == [
                (near(middle), f"input {number}") for number, middle in enumerate(middles, 1)
            ]
        else:
            assert texts(axes, row) == []


def test_timeline_of_tensor_parallelism(timeline):
    axes, _ = timeline.axes
    assert list(rows(axes).values()) == [*(f"node {n}" for n in (1, 2, 3, 4)), "links among 1-4"]
    spans = list(pairwise(TENSOR_EDGES))
    for row, name in rows(axes).items():
        steps, shades = (
            (spans[1::2], ("#222222", "#7A7A7A"))
            if "link" in name
            else (
                spans[::2],
                (BLUE, "#3D97CC"),
            )
        )
        assert bars(axes, row) == [
            (near(start + number * 3.12726016), near(end + number * 3.12726016), shades[number % 2])
            for number in range(4)
            for start, end in steps
        ]
        if "node" in name:
            half = 3.10882816 / 2
            assert texts(axes, row) == [
                (near(half + number * 3.12726016), f"input {number + 1}") for number in range(4)
            ]


def test_words_of_the_timeline(timeline):
    tensor, pipeline = timeline.axes
    assert tensor.get_xlim() == pipeline.get_xlim() == (0, near(12.43531264 + 3 * 4.62422016))
    assert pipeline.get_xlabel() == "time of the first 4 of 32 inputs, ms"
    said = [axes.get_title("left") for axes in timeline.axes]
    assert said == [
        "tensor parallelism: an output after 3.127 ms, then one every 3.127 ms",
        "pipeline parallelism: an output after 12.44 ms, then one every 4.624 ms",
    ]
    for axes, hue in zip(timeline.axes, (BLUE, ORANGE), strict=True):
        assert hue in [
            colour(text.get_color()) for text in axes.findobj(Text) if text.get_text() in said
        ]
        assert axes.yaxis_inverted()  # node 1 on top


def test_timeline_of_one_input_names_layers():
    (axes,) = pictures.timeline(NETWORK, SYSTEM, [PIPELINE], 1).axes
    assert {name: [said for _, said in texts(axes, row)] for row, name in rows(axes).items()} == {
        **{name: [] for name in PIPELINE_ROWS},
        "node 2": ["layer 2"],
        "node 3": ["layer 3"],
        "node 4": ["layer 4"],
    }
    assert axes.get_xlabel() == "time of 1 input, ms"
    assert axes.get_title("left") == "pipeline parallelism: an output after 12.44 ms"


def test_timeline_of_another_plan():
    (axes,) = pictures.timeline(NETWORK, SYSTEM, [parse_plan("1-2:2,3,4")], 2).axes
    names = rows(axes)
    assert list(names.values()) == [
        "node 1",
        "node 2",
        "links among 1-2",
        "links 1-2 to 3",
        "node 3",
        "link 3 to 4",
        "node 4",
    ]
    # halves: 3,110,400 ops, 115,200 bytes, 115,605,504 ops, 100,352 bytes on each of two links
    halves = [(0, 0.062208), (0.119808, 2.43191808)]
    assert [bar[:2] for bar in bars(axes, 1)[:2]] == [tuple(map(near, span)) for span in halves]
    assert bars(axes, 0) == bars(axes, 1)
    assert bars(axes, 3)[0][:2] == (near(2.43191808), near(2.48209408))
    assert bars(axes, 4)[0] == (near(2.48209408), near(6.46930432), GREEN)


def test_a_group_of_many_nodes_has_one_row():
    network = [
        layer._replace(filters=120, in_channels=3 if number == 0 else 120)
        for number, layer in enumerate(NETWORK)
    ]
    plan = parse_plan("1-2:8,3-4")
    (axes,) = pictures.timeline(network, SYSTEM._replace(nodes=9), [plan], 2).axes
    assert list(rows(axes).values()) == ["nodes 1-8", "links among 1-8", "links 1-8 to 9", "node 9"]


def test_of_eight_nodes_each_has_a_row():
    (axes,) = pictures.timeline(NETWORK, SYSTEM._replace(nodes=8), [parse_plan("1-4:8")]).axes
    assert list(rows(axes).values()) == [*(f"node {n}" for n in range(1, 9)), "links among 1-8"]


@pytest.mark.parametrize(("ops_per_s", "unit"), [(200, "ms"), (201, "µs")])
def test_the_unit_is_the_largest_of_which_there_are_ten(ops_per_s, unit):
    (axes,) = pictures.timeline(ONE, System(1, ops_per_s), [parse_plan("1")]).axes  # 2 ops
    assert axes.get_xlabel() == f"time of 1 input, {unit}"


def test_labels_stay_out_of_the_gaps_of_slow_links():
    slow = SYSTEM._replace(link_bytes_per_s=4 * 10**7)
    (axes,) = pictures.timeline(NETWORK, slow, [TENSOR], 2).axes
    for row in (0, 1, 2, 3):
        drawn = bars(axes, row)
        assert texts(axes, row)
        for place, _ in texts(axes, row):
            assert any(start < place < end for start, end, _ in drawn)


# ------------------------------------------------ latency per input


def test_latency():
    (axes,) = pictures.latency(NETWORK, SYSTEM, 32).axes
    curves = {}  # by what is written at their ends
    for text in axes.texts:
        assert isinstance(text, Annotation)
        assert text.xy[0] == 32
        curves[text.get_text()] = text
    # 1 input, and 32 over 32: whole tensors 3.12726016, and (12.43531264 + 31 * 4.62422016) / 32;
    # rows streamed 97.06662912 / 32, and 148.29315072 / 32; 606,661,632 ops on 4 nodes
    assert {name: text.xy[1] for name, text in curves.items()} == {
        "tensor, whole tensors 3.127 ms": near(3.12726016),
        "tensor, rows streamed 3.033 ms": near(3.03333216),
        "pipeline, whole tensors 4.868 ms": near(4.86831680),
        "pipeline, rows streamed 4.634 ms": near(4.63416096),
        "no schedule is faster 3.033 ms": near(3.03330816),
    }
    limit, *lines = axes.lines
    assert list(limit.get_ydata()) == near([3.03330816] * 2)
    first = {
        "tensor, whole": 3.12726016,
        "tensor, rows": 3.03407616,
        "pipeline, whole": 12.43531264,
        "pipeline, rows": 4.94232576,
    }
    for line in lines:
        (name,) = [name for name, text in curves.items() if text.xy[1] == line.get_ydata()[-1]]
        assert list(line.get_xdata()) == [1, 2, 4, 8, 16, 32]
        assert line.get_ydata()[0] == near(first[" ".join(name.split()[:2])])
        assert colour(line.get_color()) == (BLUE if "tensor," in name else ORANGE)
        assert colour(curves[name].get_color()) == colour(line.get_color())
        is_whole = "whole" in name
        assert (line.get_linestyle(), line.get_marker()) == (
            ("-", "o") if is_whole else ("--", "s")
        )
        assert (colour(line.get_markerfacecolor()) != "#FFFFFF") == is_whole
    assert len(lines) == 4
    whole = next(line for line in lines if line.get_ydata()[0] > 12)
    assert whole.get_ydata()[2] == near((12.43531264 + 3 * 4.62422016) / 4)
    assert axes.get_ylabel() == "latency per input, ms"
    assert axes.get_xlabel() == "inputs"
    assert axes.get_ylim()[0] == 0
    assert [label.get_text() for label in axes.get_xticklabels()] == [
        "32",
        "16",
        "8",
        "4",
        "2",
        "1",
    ]


def test_names_of_curves_are_in_their_order():
    (axes,) = pictures.latency(NETWORK, SYSTEM, 32).axes
    by_height = sorted(axes.texts, key=lambda text: text.xyann[1])
    assert [text.xy[1] for text in by_height] == sorted(text.xy[1] for text in axes.texts)


def test_latency_of_what_is_possible():
    (axes,) = pictures.latency(NETWORK, SYSTEM._replace(nodes=2), 20).axes
    assert {text.get_text() for text in axes.texts} == {
        "tensor, whole tensors 6,255 µs",
        "tensor, rows streamed 6,067 µs",
        "no schedule is faster 6,067 µs",
    }
    (axes,) = pictures.latency(NETWORK, RING, 20).axes  # on which streamed shares are not modelled
    names = [text.get_text().rsplit(" ", 2)[0] for text in axes.texts]
    assert sorted(names) == [
        "no schedule is faster",
        "pipeline, rows streamed",
        "pipeline, whole tensors",
        "tensor, whole tensors",
    ]
    with pytest.raises(ValueError, match="not possible"):
        pictures.latency(NETWORK, SYSTEM._replace(nodes=3))


# ------------------------------------------------ plans

# latency of 32 inputs in ms, and MB; those that no other beats
BEST = {
    "1-4:4": (61.538304, 100.07232512),
    "1-2:2,3-4:2": (28.114944, 123.19973376),
    "1-2:2,3,4": (19.333120, 133.556736),
    "1-2,3:2,4": (18.382848, 157.49096448),
    "1-2,3,4": (11.960320, 159.5278336),
    "1-2,3-4": (6.422528, 241.15607552),
    "1-3,4": (5.537792, 283.03099904),
    "1-4": (0, 388.26344448),
}


@pytest.fixture(scope="module")
def plan_space():
    return pictures.plans(NETWORK, SYSTEM, 32)


def marks(axes):
    """Points by the name that the legend has for them."""
    return {
        line.get_label(): [(near(x), near(y)) for x, y in line.get_xydata()] for line in axes.lines
    }


def test_plans(plan_space):
    (axes,) = plan_space.axes
    found = marks(axes)
    assert found["tensor parallelism, fits"] == [BEST["1-4:4"]]
    assert found["pipeline parallelism, too large"] == [(19.333120, 155.7861376)]
    assert found["no plan is better in both"] == list(BEST.values())
    others = found["other plans, too large"]
    assert len(others) == 26
    assert all(point in others for text, point in BEST.items() if text != "1-4:4")
    assert (19.333120, 146.66302464) in others  # 1-3:2,4
    assert len(found) == 4
    assert axes.get_xlabel() == "traffic of 32 inputs, MB"
    assert axes.get_ylabel() == "latency of 32 inputs, ms"
    assert (
        axes.get_title("left")
        == "1 of 28 plans can run in 524,288 bytes of SRAM, one input at a time"
    )
    assert axes.get_xlim()[0] == axes.get_ylim()[0] == 0


def test_looks_of_plans(plan_space):
    (axes,) = plan_space.axes
    looks = {line.get_label(): line for line in axes.lines}
    for name, shape, hue, is_filled in (
        ("tensor parallelism, fits", "s", BLUE, True),
        ("pipeline parallelism, too large", "D", ORANGE, False),
        ("other plans, too large", "o", GREEN, False),
    ):
        line = looks[name]
        fill = hue if is_filled else "#FFFFFF"
        assert (line.get_marker(), line.get_linestyle()) == (shape, "None")
        assert (colour(line.get_markeredgecolor()), colour(line.get_markerfacecolor())) == (
            hue,
            fill,
        )
    assert looks["no plan is better in both"].get_drawstyle() == "steps-pre"


def test_legend_of_plans(plan_space):
    (axes,) = plan_space.axes
    (legend,) = plan_space.legends
    looks = {line.get_label(): line for line in axes.lines}
    assert [text.get_text() for text in legend.get_texts()] == list(looks)
    for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
        line = looks[text.get_text()]
        for look in ("marker", "linestyle", "markeredgecolor", "markerfacecolor"):
            assert getattr(handle, f"get_{look}")() == getattr(line, f"get_{look}")()


def test_names_of_plans(plan_space):
    (axes,) = plan_space.axes
    named = {text.get_text(): text.xy for text in axes.texts}
    assert named.pop("1,2,3,4") == (near(19.333120), near(155.7861376))
    assert len(named) >= 6
    for name, place in named.items():
        assert place == tuple(map(near, BEST[name]))
    points = axes.transData.transform(
        [point for line in axes.lines[:-1] for point in line.get_xydata()]
    )
    for text in axes.texts:
        assert not any(box(text).contains(*point) for point in points)


def test_plans_that_fit():
    (axes,) = pictures.plans(NETWORK, SYSTEM._replace(nodes=8, sram_bytes=400_000), 5).axes
    for name, points in marks(axes).items():
        assert points
        assert name.endswith((", fits", ", too large", "in both"))
    # eight nodes: 111,456 of weights, 230,400 of input, 25,088 of output
    assert marks(axes)["tensor parallelism, fits"]


def test_too_many_plans():
    network = [ConvLayer(720720, 3, 1, 1, 1, 1), *[ConvLayer(720720, 720720, 1, 1, 1, 1)] * 3]
    (axes,) = pictures.plans(network, SYSTEM._replace(nodes=30), 5).axes
    assert "best plans can run" in axes.get_title("left")
    others = [p for n, points in marks(axes).items() if "no plan" not in n for p in points]
    assert len(others) == len(marks(axes)["no plan is better in both"])


@pytest.mark.parametrize(("most", "said"), [(28, "of 28 plans"), (27, "of 8 best plans")])
def test_so_many_plans_are_drawn(monkeypatch, most, said):
    monkeypatch.setattr(pictures, "MOST_PLANS", most)
    (axes,) = pictures.plans(NETWORK, SYSTEM, 32).axes
    assert said in axes.get_title("left")


# ------------------------------------------------ what nodes must hold

# weights, input and output; a quarter of 891,648 bytes of weights for tensor parallelism
NEEDS = [
    ("tensor parallelism, whole tensors", "every node", (222_912, 230_400, 50_176)),
    ("tensor parallelism, rows streamed", "every node", (222_912, 230_400, 1_792)),
    ("pipeline parallelism, whole tensors", "node 1", (6_912, 6_144, 230_400)),
    ("pipeline parallelism, whole tensors", "node 2", (294_912, 230_400, 200_704)),
    ("pipeline parallelism, whole tensors", "node 3", (294_912, 200_704, 173_056)),
    ("pipeline parallelism, whole tensors", "node 4", (294_912, 173_056, 147_456)),
    ("pipeline parallelism, rows streamed", "node 1", (6_912, 6_144, 7_680)),
    ("pipeline parallelism, rows streamed", "node 2", (294_912, 23_040, 7_168)),
    ("pipeline parallelism, rows streamed", "node 3", (294_912, 21_504, 6_656)),
    ("pipeline parallelism, rows streamed", "node 4", (294_912, 19_968, 147_456)),
    ("data parallelism, whole tensors", "every node", (891_648, 230_400, 200_704)),
]
LIMIT = 524_288


@pytest.fixture(scope="module")
def needs():
    return pictures.sram(NETWORK, SYSTEM)


def headed(axes):
    """Rows by what heads them, and their own names."""
    heads = {
        round(text.get_position()[1]): text.get_text()
        for text in axes.texts
        if text.get_position()[0] == 0 and not isinstance(text, Annotation)
    }
    return {
        (heads[max(head for head in heads if head < row)], name): row
        for row, name in rows(axes).items()
    }


def test_sram(needs):
    (axes,) = needs.axes
    found = headed(axes)
    assert list(found) == [(head, name) for head, name, _ in NEEDS]
    for head, name, sizes in NEEDS:
        row, start, expected = found[head, name], 0, []
        looks = [("#505050", ""), ("#7A7A7A", "///"), ("#949494", "\\\\\\")]
        for size, (grey, hatch) in zip(sizes, looks, strict=True):
            end = start + size
            if start < LIMIT:
                expected.append((near(start / 1000), near(min(end, LIMIT) / 1000), grey, hatch))
            if end > LIMIT:
                expected.append((near(max(start, LIMIT) / 1000), near(end / 1000), RED, hatch))
            start = end
        drawn = [
            (
                bar.get_x(),
                bar.get_x() + bar.get_width(),
                colour(bar.get_facecolor()),
                bar.get_hatch() or "",
            )
            for bar in axes.patches
            if bar.get_y() < row < bar.get_y() + bar.get_height()
        ]
        assert drawn == expected


def test_totals_of_sram(needs):
    (axes,) = needs.axes
    totals = {round(text.xy[1]): text for text in axes.texts if isinstance(text, Annotation)}
    for head, name, sizes in NEEDS:
        text, total = totals[headed(axes)[head, name]], sum(sizes)
        beyond = f", {total - LIMIT:,} too many" if total > LIMIT else ""
        assert text.get_text() == f"{total:,} bytes{beyond}"
        assert colour(text.get_color()) == (RED if beyond else INK)
        assert text.xy[0] == near(max(total, LIMIT) / 1000)
    for head, _, _ in NEEDS:
        (text,) = [text for text in axes.texts if text.get_text() == head]
        kind = head.split()[0]
        assert colour(text.get_color()) == {"tensor": BLUE, "pipeline": ORANGE, "data": INK}[kind]


def test_limit_and_axis_of_sram(needs):
    (axes,) = needs.axes
    lines = [path.vertices[:, 0] for lines in axes.collections for path in lines.get_paths()]
    assert len(lines) == len(NEEDS)
    assert all(list(line) == near([LIMIT / 1000] * 2) for line in lines)
    (said,) = [text for text in axes.texts if text.get_text() == "SRAM of a node, 524,288 bytes"]
    assert said.get_position()[0] == near(LIMIT / 1000)
    assert axes.get_xlabel() == "what a node holds with one input at a time, kB"
    assert axes.get_xlim()[0] == 0


def test_legend_of_sram(needs):
    (legend,) = needs.legends
    handles = zip(legend.get_texts(), legend.get_patches(), strict=True)
    assert [
        (text.get_text(), colour(patch.get_facecolor()), patch.get_hatch() or "")
        for text, patch in handles
    ] == [
        ("weights", "#505050", ""),
        ("input", "#7A7A7A", "///"),
        ("output", "#949494", "\\\\\\"),
        ("more than the SRAM", RED, ""),
    ]


def test_sram_far_from_what_is_held():
    (axes,) = pictures.sram(NETWORK, SYSTEM._replace(sram_bytes=10**12)).axes
    assert RED not in {colour(bar.get_facecolor()) for bar in axes.patches}
    assert not axes.collections
    assert "SRAM of a node, 1,000,000,000,000 bytes →" in [text.get_text() for text in axes.texts]


def test_fullest_of_many_nodes():
    network = [
        ConvLayer(4, 3, 1, 1, 9, 9),
        *[ConvLayer(4, 4, 3, 3, 9, 9)],
        *(ConvLayer(4, 4, 1, 1, 7, 7) for _ in range(10)),
    ]
    (axes,) = pictures.sram(network, SYSTEM._replace(nodes=12)).axes
    heads = {head for head, _ in headed(axes)}
    head = "pipeline parallelism, whole tensors, fullest 8 of 12 nodes"
    assert head in heads
    shown = [name for of, name in headed(axes) if of == head]
    assert len(shown) == 8
    assert shown[:2] == ["node 1", "node 2"]  # 9 * 9 * 7 * 2 + 24, and 81 * 8 + 49 * 8 + 288


# ------------------------------------------------ looks


def texts_in_sight(figure):
    """All that is written, but for ticks beyond the end of their axis."""
    figure.draw_without_rendering()
    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            slack = 1e-9 * (high - low)
            ticks = axis.get_major_ticks()
            hidden |= {
                tick.label1 for tick in ticks if not low - slack <= tick.get_loc() <= high + slack
            }
    return [
        text
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and text not in hidden
    ]


def check_texts(figure):
    """None covers another, and none is cut off."""
    boxes = [(box(text), text.get_text()) for text in texts_in_sight(figure)]
    assert len(boxes) > 5
    page = figure.bbox.padded(1)
    for extent, text in boxes:
        assert page.contains(*extent.p0) and page.contains(*extent.p1), text
    for (one, text), (other, other_text) in combinations(boxes, 2):
        assert not one.padded(-1).overlaps(other.padded(-1)), (text, other_text)


LAB = Question(NETWORK, SYSTEM, 32)
DEEP = [ConvLayer(64, 64, 3, 3, 200 - 2 * number, 200 - 2 * number) for number in range(64)]
WIDE = [layer._replace(filters=1000, in_channels=1000) for layer in NETWORK]
MACHINES = {
    "lab": LAB,
    "one input, no SRAM": Question(NETWORK, SYSTEM._replace(sram_bytes=1), 1),
    "ring, 17 inputs": Question(NETWORK, RING, 17),
    "a billion inputs": LAB._replace(inputs=10**9),
    "slowest links": Question(NETWORK, SYSTEM._replace(link_bytes_per_s=1000), 10**9),
    "1 layer, fastest": Question(NETWORK[:1], System(8, 10**17, 10**14, 10**12), 32),
    "1 node": LAB._replace(system=SYSTEM._replace(nodes=1)),
    "1 element": Question(ONE, SYSTEM._replace(nodes=1), 1),
    "64 layers": Question(DEEP, SYSTEM._replace(nodes=64), 32),
    "1,000 nodes": Question(WIDE, SYSTEM._replace(nodes=1000), 32),
    "a million nodes": Question(WIDE, SYSTEM._replace(nodes=10**6), 32),
}


@pytest.mark.parametrize("picture", pictures.PICTURES)
@pytest.mark.parametrize("machine", MACHINES)
def test_any_machine(machine, picture):
    question = MACHINES[machine]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as a layout without room
        try:
            figure = pictures.draw(picture, question)
        except ValueError as error:
            assert picture == "plans" and "too many" in str(error)
            assert len(question.network) == 64 or question.system.nodes > 8
        else:
            check_texts(figure)


def luminance(hue):
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(hue)
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one, other):
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast():
    for first, *others in [*COLOURS.values(), (pictures.ALARM,), (pictures.INK,)]:
        assert contrast(first, "white") > 4.5  # text is written in it, and white on it
        for second in others:
            assert contrast(second, "white") > 3
            assert contrast(second, "black") > 4.5  # is written on it
    assert all(contrast(grey, "white") > 3 for grey, _ in PARTS.values())


def test_labels_of_bars_can_be_read(timeline):
    for axes in timeline.axes:
        for text in axes.texts:
            x, y = text.get_position()
            (behind,) = [shade for start, end, shade in bars(axes, y) if start < x < end] or [None]
            patch = colour(text.get_bbox_patch().get_facecolor())
            assert behind in (patch, None)  # in a gap there is none
            assert contrast(text.get_color(), patch) > 4.5


def test_a_colour_has_one_meaning():
    firsts = [shades[0] for name, shades in COLOURS.items() if name not in ("link", "data")]
    assert len({*firsts, pictures.ALARM, pictures.INK}) == len(firsts) + 2
