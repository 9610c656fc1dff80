"""The pictures: of the lab, of a machine that differs from it in everything, and of unusual
questions."""

import re
import xml.etree.ElementTree as ET
from collections import Counter
from fractions import Fraction
from io import BytesIO
from itertools import pairwise
from math import ceil

import pytest

pytest.importorskip("matplotlib")

import matplotlib as mpl
from matplotlib.colors import to_hex
from matplotlib.text import Annotation
from PIL import Image

from program import ask, output, python, refusal
from report import pictures
from report.question import LAB
from report.results import compute_results

# Worked out by hand: ops 2 * 8 * 2 * 3 * 3 * 8 * 8 = 18,432 and 2 * 4 * 8 * 3 * 3 * 6 * 6 = 20,736,
# outputs 8 * 8 * 8 = 512 bytes and 4 * 6 * 6 = 144. Times in us:
# tensor 0.9216, 0.512, 1.0368, 0.144: 2.6144 in all; pipeline 1.8432, 1.024, 2.0736: 4.9408
OTHER = (
    "--inputs=5 --nodes=2 --gops=10 --link-gbs=0.5 --sram-kib=64 --topology=ring --element-bytes=1"
    " --layer=8,2,3,3,10,10 --layer=4,8,3,3,8,8"
)
# 2 * 8 * 8 * 16 = 2,048 ops, 256 bytes: tensor 10.24 + 32 ns, pipeline 40.96 ns
LAB_TIMES = 3.03330816, 3.12726016, 12.43531264, 4.62422016  # bound, tensor, pipeline, interval
ONE_LAYER = "--layer=8,8,1,1,4,4 --inputs=3"
EIGHT = " ".join(["--nodes=8", *["--layer=8,8,1,1,4,4"] * 8])


def find_texts(svg):
    """Find each text that is drawn."""
    return [
        "".join(it.itertext()).strip()
        for it in ET.fromstring(svg).iter()
        if it.tag.endswith("}text")
    ]


@pytest.fixture
def draw_file(tmp_path, monkeypatch):
    """Draw with the command, and read the file."""
    monkeypatch.chdir(tmp_path)

    def draw(line, name="picture.svg"):
        assert output(f"picture {line} --output={name}") == f"wrote {name}\n"
        return (tmp_path / name).read_bytes()

    return draw


def draw_timeline(line, until_ms=None):
    """Draw a timeline; return its axes and its message."""
    until_s = until_ms and Fraction(until_ms) / 1000
    figure, alt = pictures.draw_timeline(compute_results(ask(line)), until_s)
    return figure.axes[0], alt


def draw_limits(line):
    figure, alt = pictures.draw_limits(compute_results(ask(line)))
    return figure.axes[0], alt


# ------------------------------------------------ who works when


def find_bars(axes):
    """Find each bar's line, work, start and length, in the unit of the axis."""
    names = {label.get_position()[1]: label.get_text() for label in axes.get_yticklabels()}
    for bars in axes.containers:
        for bar in bars:
            line = names[max(place for place in names if place < bar.get_y() + 0.4)]
            yield line, bars.get_label(), round(bar.get_x(), 6), round(bar.get_width(), 6)


@pytest.mark.parametrize(
    ("line", "until_ms", "end", "inputs", "pace"),
    [
        ("", None, 12.43531264 + 4.62422016, (6, 4), "after 12.44 ms, then one every 4.62 ms"),
        (OTHER, None, 4.9408 + 2.0736, (3, 4), "after 4.94 µs, then one every 2.07 µs"),
        ("--inputs=1", None, 12.43531264, (1, 1), "after 12.44 ms"),  # nothing follows
        (ONE_LAYER, None, 2 * 42.24, (2, 3), "every 40.96 ns"),
        ("--nodes=8", None, 17.0595328, (11, 4), "after 12.44 ms, then one every 4.62 ms"),
        # 8 * 40.96 + 7 * 128 ns
        (EIGHT, "0.001", 1, (6, 8), "after 1.22 µs, then one every 128.00 ns"),
        ("--nodes=5", "1", 1, (0, 1), "after 12.44 ms, then one every 4.62 ms"),
        # all is done after 17 ms
        ("--inputs=2", "99", 99, (2, 2), "after 12.44 ms, then one every 4.62 ms"),
    ],
)
def test_a_timeline_has_its_lines_its_end_and_its_inputs(line, until_ms, end, inputs, pace):
    axes, alt = draw_timeline(line, until_ms)
    assert axes.get_xlim() == pytest.approx((0, end))
    assert re.search(rf"Pipeline parallelism: an output {pace}\.", alt)
    assert ("an output every" in alt) == (ask(line).inputs > 1 and inputs[0] > 0)
    network, system, _ = ask(line)
    computing = Counter(where for where, work, *_ in find_bars(axes) if work == "compute")
    alike = computing[f"nodes 1 to {system.nodes}"]
    assert (ceil(alike / len(network)), computing["node 1"]) == inputs
    assert all(start < end for _, _, start, _ in find_bars(axes))
    alone = [f"node {number}" for number in range(1, len(network) + 1)]
    labels = [f"nodes 1 to {system.nodes}"] * bool(alike) + alone
    if system.nodes > len(network):
        first = len(network) + 1
        labels.append(
            f"nodes {first} to {system.nodes}" if first < system.nodes else f"node {first}"
        )
    assert [it.get_text() for it in axes.get_yticklabels() if it.get_text()] == labels
    is_idle = "idle" in {it.get_text() for it in axes.texts}
    assert is_idle == (system.nodes > len(network))


def test_bars_by_hand():
    bars = [*find_bars(draw_timeline(OTHER)[0])]
    tensor = [it for it in bars if it[0] == "nodes 1 to 2"]
    assert tensor[:5] == [
        ("nodes 1 to 2", "compute", 0, 0.9216),
        ("nodes 1 to 2", "all-gather", 0.9216, 0.512),
        ("nodes 1 to 2", "compute", 1.4336, 1.0368),
        ("nodes 1 to 2", "gather", 2.4704, 0.144),
        ("nodes 1 to 2", "compute", 2.6144, 0.9216),
    ]
    # the third input's second layer is cut at the end, and its gather is not drawn
    assert tensor[-1] == ("nodes 1 to 2", "compute", 6.6624, 0.352) and len(tensor) == 11
    assert [it for it in bars if it[1] == "send"][:2] == [
        ("node 1", "send", 1.8432, 1.024),
        ("node 1", "send", 3.9168, 1.024),
    ]
    assert ("node 2", "compute", 2.8672, 2.0736) in bars


def test_bars_look_as_the_legend_says():
    axes, _ = draw_timeline(OTHER)
    bars = {(it.get_label(), round(it[0].get_x(), 4)): it[0] for it in axes.containers}
    colour = {place: to_hex(bar.get_facecolor()).upper() for place, bar in bars.items()}
    # inputs are dark and pale in turn, from the first; what is sent is black
    dark, pale = pictures.COLOURS["tensor"]
    assert [colour["compute", it] for it in (0.9216 + 0.512, 2.6144, 2 * 2.6144)] == [
        *(dark, pale, dark),
    ]
    assert {colour[it] for it in colour if it[0] != "compute"} == {pictures.INK}
    # a node computes while it sends, so a send is between two lines; all nodes wait for the others
    heights = {work: round(bar.get_height(), 6) for (work, _), bar in bars.items()}
    assert heights["send"] < heights["compute"] == heights["all-gather"] == heights["gather"]


def test_bars_have_the_numbers_of_their_inputs(draw_file):
    texts = find_texts(draw_file("timeline --until=18"))
    # all nodes' bars, and node 2's to 4's; node 1's are too narrow
    numbers, axis = Counter("123456" + "1234" + "123" + "12"), {f"{ms}" for ms in range(0, 20, 2)}
    assert Counter(it for it in texts if it.isdigit()) == numbers + Counter(axis)
    assert {*texts} > {"nodes 1 to 4", "node 1", "node 4", "time, ms"} | axis
    # layer 2 of all nodes, 1.156 ms of 60, has room for a digit, but not for two
    axes, _ = draw_timeline("", 60)
    line, *_ = axes.get_yticks()
    numbered = [it.get_text() for it in axes.texts if it.get_position()[1] == line]
    assert [it for it in numbered if it.isdigit()] == [*"123456789"]


@pytest.mark.parametrize(
    ("line", "bottleneck"),
    [
        ("", "node 2"),
        (OTHER, "node 2"),
        ("--link-gbs=0.01", "link 1 to 2"),
        (f"--nodes=10 {'--layer=10,10,1,1,8,8 ' * 9}--layer=100,10,1,1,8,8", "node 10"),
        ("--inputs=1", None),
        ("--nodes=2", None),  # no pipeline
        ("--layer=4,4,1,1,9,9 --layer=4,4,1,1,9,9 --link-gbs=1000", None),  # both alike
    ],
)
def test_it_says_why_the_first_node_idles_if_it_does(line, bottleneck):
    axes, alt = draw_timeline(line)
    texts = [it.get_text() for it in axes.texts if "Node 1 idles" in it.get_text()]
    assert [it.endswith(f" before {bottleneck}.") for it in texts] == [True] * bool(bottleneck)
    assert ("Node 1 idles" in alt) == bool(bottleneck)


def test_a_timeline_has_at_most_1000_bars(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # tensor parallelism alone: 125 times 8
    assert sum(1 for _ in find_bars(draw_timeline("--nodes=2 --inputs=125", 10**6)[0])) == 1000
    for line in (
        "--nodes=2 --inputs=126 --until=1000000",
        "--inputs=67 --until=1000",  # 67 times 8 + 7
        "--nodes=128 --inputs=1000000",
    ):
        assert "--until" in refusal(f"picture timeline {line}")
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------ time per input


def find_lines(axes):
    """Find each curve's first and last point, by its name."""
    curves = {}
    for line in axes.lines:
        x, y = line.get_xdata(), line.get_ydata()
        curves.setdefault(line.get_label(), [(x[0], y[0]), (x[-1], y[-1])])
    return curves


@pytest.mark.parametrize(
    ("line", "ticks", "bound", "tensor", "first", "floor", "dots"),
    [
        # 606,661,632 / 200,000 us; 155.7861376 / 32 = 4.868
        ("", "1 32 10 100", *LAB_TIMES, "3.13 3.13 12.44 4.87"),
        # 39,168 / 20,000; (4.9408 + 4 * 2.0736) / 5 = 2.64704
        (OTHER, "1 5 10", 1.9584, 2.6144, 4.9408, 2.0736, "2.61 2.61 4.94 2.65"),
        ("--inputs=1", "1", *LAB_TIMES, "3.13 12.44"),
        # 100 would be beside 101; (12.43531264 + 100 * 4.62422016) / 101 = 4.70
        ("--inputs=101", "1 101 10 1,000", *LAB_TIMES, "3.13 3.13 12.44 4.70"),
        (ONE_LAYER, "1 3 10", 10.24, 42.24, 40.96, 40.96, "42.24 42.24 40.96 40.96"),
    ],
)
def test_limits_go_to_ten_times_what_is_asked(line, ticks, bound, tensor, first, floor, dots):
    axes, alt = draw_limits(line)
    most = 10 * ask(line).inputs
    assert axes.get_xlim() == (1, most) and axes.get_xscale() == "log"
    assert [it.get_text() for it in axes.get_xticklabels()] == ticks.split()
    lines = find_lines(axes)
    [area] = (it for it in axes.patches if it.get_label() == "lower bound")
    assert area.get_y() + area.get_height() == pytest.approx(bound)
    assert [y for _, y in lines["tensor"]] == pytest.approx([tensor, tensor])
    last = (first + (most - 1) * floor) / most
    assert [y for _, y in lines["pipeline"]] == pytest.approx([first, last])
    assert "tensor floor" not in lines  # it is the curve
    assert ("pipeline floor" in lines) == (first > floor)
    if first > floor:
        assert [y for _, y in lines["pipeline floor"]] == pytest.approx([floor, floor])
    falls = f"{'falls to' if first > floor else 'stays at'} {floor:.2f}"
    assert f"tensor stays at {tensor:.2f}; pipeline {falls}." in alt
    texts = [it.get_text() for it in axes.texts if isinstance(it, Annotation)]
    assert [it for it in texts if it[0].isdigit()] == dots.split()


def test_labels_of_limits_are_in_order_and_apart():
    axes, _ = draw_limits("--nodes=128")  # 0.0977 and 0.0948 ms
    labels = ["lower bound: 0.095", "tensor stays at 0.098", "pipeline falls to 4.62"]
    places = {it.get_text(): it.get_position()[1] for it in axes.texts}
    heights = [places[label] for label in labels]
    gap = min(after - before for before, after in pairwise(heights))
    assert gap * axes.bbox.height / axes.get_ylim()[1] * 72 / axes.figure.dpi > pictures.FONT_PT


@pytest.mark.parametrize(
    ("line", "is_in_area"),
    [("", True), ("--nodes=8", False), ("--nodes=128", False)],  # of 14.3: 3.03, 1.52 and 0.095
)
def test_labels_of_limits_do_not_meet(line, is_in_area):
    axes, _ = draw_limits(line)
    [bound] = [it for it in axes.texts if it.get_text().startswith("lower bound")]
    assert isinstance(bound, Annotation) == is_in_area
    # a dot's number is below it only if the axis is far enough
    dots = [it for it in axes.texts if isinstance(it, Annotation) and it.get_text()[0].isdigit()]
    assert {it.get_va() for it in dots if it.xy[1] < 2} == ({"bottom"} if not is_in_area else set())
    assert is_in_area == any(it.get_va() == "top" for it in dots)


@pytest.mark.parametrize(
    "line",
    [
        *("", "--gops 0.64", "--gops 0.00064", "--gops 0.000001", "--link-gbs 0.05"),
        *("--link-gbs 0.0926 --inputs 1000", "--link-gbs 0.000001", "--nodes 128 --link-gbs 0.01"),
        "--inputs 3 --link-gbs 0.09",
    ],
)
def test_labels_of_limits_are_whole_and_no_line_goes_through_them(line):
    axes, _ = draw_limits(line)
    figure = axes.figure
    figure.canvas.draw()
    texts = [*axes.texts, *axes.get_yticklabels(), *axes.get_xticklabels(), axes.title]
    for text in (it for it in texts if it.get_text()):
        box = text.get_window_extent()
        assert box.x0 >= 0 and box.x1 <= figure.bbox.width, text.get_text()
    numbers = [it for it in axes.texts if it.get_text()[0].isdigit()]
    floors = {it.get_ydata()[0] for it in axes.lines if len({*it.get_ydata()}) == 1}
    for number in numbers:
        box = number.get_window_extent().transformed(axes.transData.inverted())
        assert not [it for it in floors if box.y0 < it < box.y1], number.get_text()


# ------------------------------------------------ files


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_picture_says_what_is_asked(name, draw_file):
    asked = "5 inputs, 2 nodes, ring, 10 GOPS, 0.5 GB/s, 64 KiB of SRAM, elements of 1 byte"
    other = " ".join(find_texts(draw_file(f"{name} {OTHER}")))
    assert asked in other and "8x2x3x3 on 10x10" in other
    assert "what if" not in " ".join(find_texts(draw_file(name)))


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_an_impossible_strategy_is_named_and_not_drawn(name, draw_file):
    texts = " ".join(find_texts(draw_file(f"{name} --nodes=5")))
    assert "Tensor parallelism is not possible" in texts and "tensor stays" not in texts
    texts = " ".join(find_texts(draw_file(f"{name} --nodes=2")))
    assert "Pipeline parallelism is not possible" in texts and "node 2" not in texts


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_files_open_and_are_the_same_on_every_run(name, draw_file, monkeypatch):
    monkeypatch.setitem(mpl.rcParams, "axes.grid", True)  # the user's own setting
    image = Image.open(BytesIO(draw_file(name, "picture.PNG")))
    picture = pictures.draw(name, LAB, ".svg")
    assert image.size == pytest.approx((picture.width_pt / 0.36, picture.height_pt / 0.36), abs=1)
    assert image.info["Title"] == picture.alt
    assert mpl.rcParams["axes.grid"]
    monkeypatch.undo()
    assert pictures.draw(name, LAB, ".svg") == picture


def test_by_default_it_is_an_svg_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert output("picture limits") == "wrote limits.svg\n"
    assert find_texts((tmp_path / "limits.svg").read_bytes())


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("", "timeline"),
        ("sram", "timeline"),
        ("limits --output limits.pdf", ".svg or .png"),
        ("limits --output=", ".svg or .png"),
        ("limits --until 3", "--until"),
        ("timeline --until 0", "--until"),
        ("timeline --nodes 3", "3 nodes"),
    ],
)
def test_bad_input_is_named(line, named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert named in refusal(f"picture {line}")
    assert list(tmp_path.iterdir()) == []


def test_help_says_what_each_picture_is_without_matplotlib():
    blocked = "import sys; sys.modules['matplotlib'] = None;"
    run = "from report.__main__ import main; sys.exit(main(['picture', '--help']))"
    done = python("-c", blocked + run)
    assert done.returncode == 0
    assert "who works when" in done.stdout and "the time per input" in done.stdout
