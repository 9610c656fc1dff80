"""Pictures of the lab, of a machine that differs from it in everything, of unusual questions."""

import re
from collections import Counter
from contextlib import suppress
from fractions import Fraction
from itertools import combinations
from math import ceil

import pytest

pytest.importorskip("matplotlib")

import matplotlib as mpl
import numpy
from hypothesis import example, given, settings
from matplotlib.colors import to_hex
from matplotlib.transforms import Bbox
from PIL import Image

from lab3 import System
from machines import closed_forms
from program import ask, output, refusal
from random_machines import questions
from report import pictures
from report.question import LAB

# Worked out by hand: ops 2 * 8 * 2 * 3 * 3 * 8 * 8 = 18,432 and 2 * 4 * 8 * 3 * 3 * 6 * 6 = 20,736,
# outputs 8 * 8 * 8 = 512 bytes and 4 * 6 * 6 = 144. Times in us:
# tensor 0.9216, 0.512, 1.0368, 0.144: 2.6144 in all; pipeline 1.8432, 1.024, 2.0736: 4.9408
OTHER = (
    "--inputs=5 --nodes=2 --gops=10 --link-gbs=0.5 --sram-kib=64 --element-bytes=1"
    " --layer=8,2,3,3,10,10 --layer=4,8,3,3,8,8"
)
# 2 * 8 * 8 * 16 = 2,048 ops, 256 bytes: tensor 10.24 + 32 ns, pipeline 40.96 ns
ONE_LAYER = "--layer=8,8,1,1,4,4 --inputs=3"
LAB_TIMES = 3.03330816, 3.12726016, 12.43531264, 4.62422016  # bound, tensor, pipeline, interval
OTHER_TIMES = 1.9584, 2.6144, 4.9408, 2.0736
SLOW_TIMES = 3.03330816, 6.79138816, 24.21643264, 4.62422016
SLOW_DOTS = "24.22 6.79 6.79 5.24"
ONE_DOTS = "42.24 40.96 42.24 40.96"
PIPELINE = "node 1, node 2, node 3, node 4"
SLOW = "--link-gbs=0.0005"  # sends of 1,208.32 ms, the first of 460.8
NARROW = "--nodes=63 --inputs=8" + 63 * " --layer=1,1,1,1,1,1"  # 8 * (63 + 62) bars
NODES = ", ".join(f"node {node}" for node in range(1, 64))
NUMBER, BLACK = "Number: input.", "Black: communication."


def draw(draw_figure, line):
    """Draw a figure, and return its axes and alternative text."""
    figure, alt = draw_figure(ask(line))
    return figure.axes[0], alt


def find_bars(axes):
    """Find each bar's line, work, start and length, in the unit of the axis."""
    lines = [label.get_text() for label in axes.get_yticklabels()]
    for bars in axes.containers:
        line, (bar,) = lines[int(bars[0].get_y() + 0.5)], bars
        yield line, bars.get_label(), round(bar.get_x(), 6), round(bar.get_width(), 6)


@pytest.mark.parametrize(
    ("line", "end", "inputs", "labels", "dots"),
    [
        # titles are in lines 0 and 2
        ("", 12.43531264 + 4.62422016, (6, 4), f"all nodes, {PIPELINE}", [1, 3, 4, 5, 6]),
        (OTHER, 4.9408 + 2.0736, (3, 4), "all nodes, node 1, node 2", [1, 3, 4]),
        # two more intervals than 4.86, 8.95 and 12.44 ms are 14.11, 18.20 and 21.68
        ("--inputs=3", 17.0595328, (3, 3), f"all nodes, {PIPELINE}", [5, 6]),
        ("--inputs=1", 12.43531264, (1, 1), f"all nodes, {PIPELINE}", []),
        (ONE_LAYER, 2 * 42.24, (2, 3), "all nodes, node 1, 3 idle nodes", [1, 3]),
        (f"{ONE_LAYER} --nodes=1", 2 * 40.96, (0, 2 + 2), "node 1, node 1", [1, 3]),
        ("--nodes=5 --inputs=2", 17.0595328, (0, 2), f"{PIPELINE}, 1 idle node", []),
        (SLOW, 1.22045323264 + 0.4608, (5, 4), f"all nodes, {PIPELINE}", [1, 3, 4, 5, 6]),
        # 2 / 50 and 2 / 2 ns: 1,000 bars, the most; node 57 has sent at 57 * 1.04 + 7 of 65.52 ns
        (NARROW, 63 * 0.04 + 63, (0, 8), NODES, [*range(57, 64)]),
    ],
)
def test_a_timeline_has_its_end_its_inputs_and_its_lines(line, end, inputs, labels, dots):
    axes, _ = draw(pictures.draw_timeline, line)
    assert axes.get_xlim() == pytest.approx((0, end))
    drawn = [label.get_text() for label in axes.get_yticklabels()]
    assert ", ".join(filter(None, drawn)) == labels
    bars = list(find_bars(axes))
    computing = Counter(where for where, work, *_ in bars if work == "compute")
    assert (ceil(computing["all nodes"] / len(ask(line).network)), computing["node 1"]) == inputs
    assert all(start < end for _, _, start, _ in bars)
    sends = numpy.array([bar[2:] for bar in bars if bar[:2] == ("node 1", "send")] or [(0, 1)])
    assert (numpy.diff(sends.cumsum(axis=1).ravel()) > 0).all()  # with gaps, also without a pause
    texts = [text for text in axes.texts if text.get_text() == "\N{HORIZONTAL ELLIPSIS}"]
    assert [text.xy for text in texts] == [(axes.get_xlim()[1], place) for place in dots]


@pytest.mark.parametrize(
    ("line", "pace", "is_early", "notes"),
    [
        (OTHER, "after 4.94 µs, then one every 2.07 µs", True, f"{NUMBER} {BLACK}"),
        ("--inputs=1", "after 12.44 ms", False, BLACK),
        (f"{ONE_LAYER} --inputs=2", "every 40.96 ns", False, f"{NUMBER} {BLACK}"),  # never waits
        (SLOW, "after 1.22 s, then one every 0.461 s", True, BLACK),
        ("--nodes=2 --inputs=1", "after 6.25 ms", False, BLACK),  # no pipeline
        (f"{ONE_LAYER} --nodes=1", "every 40.96 ns", False, NUMBER),
        (f"{ONE_LAYER} --nodes=1 --gops=2560000", "every 0.8 ps", False, NUMBER),
        (f"{ONE_LAYER} --nodes=1 --gops=80000000", "every 25.6 fs", False, NUMBER),
    ],
)
def test_it_says_when_outputs_are_done_and_what_is_seen(line, pace, is_early, notes):
    axes, alt = draw(pictures.draw_timeline, line)
    starts = "Inputs from 2 on could start earlier, but would not be done earlier." * is_early
    assert alt.endswith(f"parallelism: an output {pace}. {starts}".strip())
    assert axes.texts[-1].get_text() == f"{notes} {starts}".strip()


def test_a_communication_is_wide_enough_to_be_seen():
    # equal layers: 131,072 and 8,192 ops, 8,192 and 512 bytes; of 45.17888 us 0.5 of 632 pt are
    # 0.035743, more than an all-gather's 0.00256 and less than a send's 0.04096
    many = "--inputs=15 --nodes=16 --link-gbs=200" + 16 * " --layer=16,16,1,1,16,16"
    axes, _ = draw(pictures.draw_timeline, many)
    widths = [(work, width) for _, work, _, width in find_bars(axes) if work != "compute"]
    assert {*widths} == {("all-gather", 0.035743), ("gather", 0.035743), ("send", 0.04096)}
    # 128 nodes compute layers 1 and 2 in 0.972 and 36.12672 us: a quarter is black
    axes, _ = draw(pictures.draw_timeline, "--nodes=128 --inputs=3 --link-gbs=2000")
    widths = [width for _, work, _, width in find_bars(axes) if work == "all-gather"]
    assert widths[:2] == [0.000243, 0.009032]


def test_bars_are_where_the_working_says_and_look_as_the_legend_says():
    axes, _ = draw(pictures.draw_timeline, OTHER)
    numbers = {text.get_text(): text.get_color() for text in axes.texts if text.xy[1] == 1}
    assert numbers["1"] == "white" and numbers["2"] == pictures.INK  # on dark and on pale bars
    bars = list(find_bars(axes))
    assert {*bars} >= {
        ("all nodes", "compute", 0, 0.9216),
        ("all nodes", "all-gather", 0.9216, 0.512),
        ("all nodes", "compute", 1.4336, 1.0368),
        ("all nodes", "gather", 2.4704, 0.144),
        # the third input's second layer is cut at the end, and its gather is not drawn
        ("all nodes", "compute", 6.6624, 0.352),
        ("node 1", "send", 1.8432, 1.024),
        ("node 1", "send", 3.9168, 1.024),
        ("node 2", "compute", 2.8672, 2.0736),
    }
    assert len(bars) == 11 + 4 + 3 + 2  # of all nodes; node 1, its sends, node 2
    drawn = {(bars.get_label(), round(bars[0].get_x(), 4)): bars[0] for bars in axes.containers}
    colour = {place: to_hex(bar.get_facecolor()).upper() for place, bar in drawn.items()}
    titles = [text.get_color() for text in axes.texts if "parallelism" in text.get_text()]
    assert titles == ["#003A70", "#C25700"]
    # inputs are dark and pale in turn, from the first; communication is black
    dark, pale = pictures.COLOURS["tensor"]
    assert [colour["compute", start] for start in (1.4336, 2.6144, 5.2288)] == [dark, pale, dark]
    assert {colour[place] for place in colour if place[0] != "compute"} == {pictures.INK}


@pytest.mark.parametrize(
    ("line", "numbers"),
    [
        # node 1's bars are too narrow; the axis is last
        ("", "123456 1234 123 12 0 2 4 6 8 10 12 14 16 18"),
        # layer 2, 0.578 ms of 20.8 on 632 pt, has room for one digit
        ("--nodes=8 --link-gbs=0.15", "123456789 12345 123 12 0 5 10 15 20"),
    ],
)
def test_each_input_has_its_number_once_on_a_line_if_there_is_room(line, numbers):
    axes, _ = draw(pictures.draw_timeline, line)
    _, _, layer_2, *_ = [bar[2:] for bar in find_bars(axes) if bar[0] == "all nodes"]
    [number] = [text for text in axes.texts if text.get_text() == "1" and text.xy[1] == 1]
    assert number.xy[0] == pytest.approx(layer_2[0] + layer_2[1] / 2)  # on the widest bar
    texts = [text.get_text() for text in [*axes.texts, *axes.get_xticklabels()]]
    assert "".join(text for text in texts if text.isdigit()) == numbers.replace(" ", "")
    assert "time, ms" in texts


@pytest.mark.parametrize(
    ("line", "ticks", "numbers", "floors", "dots", "lead"),
    [
        # 606,661,632 / 200,000 us; 155.7861376 / 32 = 4.868
        ("", "1 10 32 100 320", LAB_TIMES, "3.13 4.62 ms", "12.44 3.13 4.87 3.13", 0),
        # 39,168 / 20,000; (4.9408 + 4 * 2.0736) / 5 = 2.64704, of 6: 2.55
        (OTHER, "1 5 10 50", OTHER_TIMES, "2.61 2.07 µs", "4.94 2.61 2.65 2.61", 6),
        # (12.43531264 + 139 * 4.62422016) / 140; 100 is too near
        ("--inputs=140", "1 10 140 1,400", LAB_TIMES, "3.13 4.62 ms", "12.44 3.13 4.68 3.13", 0),
        (ONE_LAYER, "1 3 10 30", (10.24, 42.24, 40.96, 40.96), "42.24 40.96 ns", ONE_DOTS, 1),
        # 2,048 ops in exactly 1 ms, with each strategy
        (f"{ONE_LAYER} --nodes=1 --gops=0.002048", "1 3 10 30", (1,) * 4, "1 1 ms", "1 1", 0),
        ("--inputs=1 --link-gbs=0.05", "1 10", SLOW_TIMES, "6.79 4.62 ms", "24.22 6.79", 10),
        # 40 times the lab's 93.952 and 302.08 us; 19.59221248 / (6.79138816 - 4.62422016) = 9.04
        ("--link-gbs=0.05", "1 10 32 100 320", SLOW_TIMES, "6.79 4.62 ms", SLOW_DOTS, 10),
    ],
)
def test_limits_go_to_ten_times_what_is_asked(line, ticks, numbers, floors, dots, lead):
    bound, tensor, first, floor = numbers
    axes, alt = draw(pictures.draw_limits, line)
    most = 10 * ask(line).inputs
    assert axes.get_xlim() == (1, most) and axes.get_xscale() == "log"
    assert [text.get_text() for text in axes.get_xticklabels()] == ticks.split()
    marks = {mark.get_markersize(): mark.get_markerfacecolor() for mark in axes.lines}
    assert 7 in marks and marks.get(11) == ("none" if line.startswith((OTHER, ONE_LAYER)) else None)
    [area] = (patch for patch in axes.patches if patch.get_label() == "lower bound")
    assert area.get_y() + area.get_height() == pytest.approx(bound)
    curves = {curve.get_label(): curve for curve in axes.lines}
    assert curves["tensor"].get_ydata()[[0, -1]] == pytest.approx([tensor, tensor])
    ends = [first, (first + (most - 1) * floor) / most]
    assert curves["pipeline"].get_ydata()[[0, -1]] == pytest.approx(ends)
    assert curves["pipeline floor"].get_ydata() == pytest.approx([floor, floor])
    *labels, unit = floors.split()
    nears = "nears" if first > floor else "stays at"
    assert f"tensor stays at {labels[0]} {unit}; pipeline {nears} {labels[1]} {unit}." in alt
    assert f", {unit} (latency" in alt and "inputs: lower bound: " in alt
    words = re.findall(r"the pipeline is faster from (1 input|\d+ inputs) on", alt)
    assert words == ([f"{lead} input{'s' * (lead > 1)}"] if lead else [])
    leads = [{*curve.get_xdata()} for name, curve in curves.items() if name == "lead"]
    assert leads == ([{lead}] if lead > 1 else [])
    assert [text.get_text() for text in axes.texts if text.get_text()[0].isdigit()] == dots.split()


@settings(max_examples=12 if settings().derandomize else 1_000)
@given(questions())
@example(ask("--link-gbs=0.1"))  # 5.05 and 4.91
@example(ask("--inputs=1 --nodes=8 --gops=251.157064 --link-gbs=1"))  # words close to a curve
@example(ask("--nodes=128"))
@example(ask("--inputs=1 --nodes=2 --gops=40021 --layer=2,1,1,1,1,1"))  # 0.0001 of 1 ns
@example(ask("--gops=0.000001"))  # 606,661.63 s
@example(ask("--link-gbs=0.05 --inputs=1000000"))  # a curve close above its floor
def test_no_text_is_on_another_on_a_line_outside_or_false(question):
    nodes, *rates, sram_bytes = question.system
    if min(rates) < 1_000:  # less than options take
        rates = [min(max(10**9 * Fraction(rate), 1_000), 10**17) for rate in rates]
    question = question._replace(system=System(nodes, *rates, sram_bytes))
    with mpl.rc_context({"font.family": pictures.FACES, "font.size": pictures.FONT_PT}):
        figure, alt = pictures.draw_limits(question)
        check_boxes(figure)
        with suppress(ValueError):  # too many bars
            check_boxes(pictures.draw_timeline(question)[0])
    stated = re.search(r"faster from ([\d,]+)", alt)
    lead = int(stated[1].replace(",", "")) if stated else 10**18
    with suppress(ValueError):  # one is impossible
        for inputs in {max(1, lead - 1), lead}:
            tensor_s, _, pipeline_s, _ = closed_forms(*question[:2], inputs)
            assert (pipeline_s < tensor_s) == (stated is not None and inputs == lead)


def check_boxes(figure):
    figure.draw_without_rendering()
    [axes] = figure.axes
    texts = [*figure.texts, *axes.texts]
    for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        ticks = zip(axis.get_major_ticks(), axis.get_majorticklocs(), strict=True)
        texts += [tick.label1 for tick, place in ticks if min(limits) <= place <= max(limits)]
    boxes = [(text, text.get_window_extent()) for text in texts if text.get_text()]
    for (one, box), (other, beside) in combinations(boxes, 2):
        assert measure_overlap(box, beside) < 1, (one, other)
    paths = [line.get_transform().transform_path(line.get_path()) for line in axes.lines]
    bars = [bar.get_window_extent() for container in axes.containers for bar in container]
    for text, box in boxes:
        assert figure.bbox.x0 < box.x0 + 1 and box.x1 < figure.bbox.x1 + 1, text
        for path in paths:
            assert not path.intersects_bbox(box, filled=False), text
            assert not box.padded(4).count_contains(path.vertices), text  # a dot
        for bar in bars:  # a digit is lower than its box
            is_its_own = bar.contains(*box.get_points().mean(axis=0)) and box.width < bar.width
            assert is_its_own or measure_overlap(box, bar) < 4, text


def measure_overlap(one, other):
    """Measure how wide and high two boxes are on each other, whichever is less."""
    shared = Bbox.intersection(one, other)
    return min(shared.size) if shared else 0


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_picture_says_what_is_asked_and_which_strategy_is_not_possible(name):
    texts = []
    for line in ("", OTHER, "--nodes=5", "--nodes=2 --gops=0.000001"):
        svg, _ = pictures.render(pictures.PICTURES[name], ask(line), ".svg")
        texts.append(" ".join(re.findall(r">([^<]+)</text>", svg.decode())))
    lab, other, no_tensor, no_pipeline = texts
    assert pictures.format_time(Fraction(1, 2 * 10**6), ("ms", 1000)) == "<0.001 ms"
    assert "what if" not in lab
    assert "what if: 5 inputs, 2 nodes, 10 GOPS" in other
    assert "elements of 1 byte, 8x2x3x3 on 10x10, 4x8x3x3" in other  # in one line
    assert "Tensor parallelism is not possible" in no_tensor and "tensor stays" not in no_tensor
    assert "Pipeline parallelism is not possible" in no_pipeline and "node 2" not in no_pipeline
    assert " 200,000 300,000 " in no_pipeline  # of 303,330.816 s


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_png_opens_and_an_svg_is_the_same_on_every_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert output(f"picture {name} --output=picture.PNG") == "wrote picture.PNG\n"
    image = Image.open("picture.PNG")
    svg, alt = pictures.render(pictures.PICTURES[name], LAB, ".svg", 10)
    assert image.width == pytest.approx((770 + 2 * 10) / 0.36, abs=1)  # with a margin
    assert image.info["Title"] == alt
    is_white = numpy.asarray(image.convert("L")) > 250
    assert is_white[:, :25].all() and not is_white[:, 25:35].all()
    monkeypatch.setitem(mpl.rcParams, "axes.grid", True)  # a setting of the user
    assert output(f"picture {name}") == f"wrote {name}.svg\n"
    assert (tmp_path / f"{name}.svg").read_bytes() == svg


def test_a_picture_that_is_refused_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    longer = f"{NARROW} --layer=1,1,1,1,1,1 --nodes=64"
    why = refusal(f"picture timeline {longer}")
    assert why.startswith("--inputs: ") and "1,000 bars, not 1,016" in why
    assert list(tmp_path.iterdir()) == []
