"""Pictures of the lab, of a machine that differs from it in everything, of unusual questions."""

from collections import Counter
from contextlib import suppress
from fractions import Fraction
from itertools import combinations
from math import ceil
from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib")

import matplotlib as mpl
from hypothesis import example, given, settings
from matplotlib.colors import to_hex
from PIL import Image

from lab3 import System
from program import LAB3, ask, copy_project, output, python, refusal, sentence
from random_machines import questions
from report import pictures
from report.question import LAB
from report.results import compute_results

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


@pytest.fixture
def draw_svg(tmp_path, monkeypatch):
    """Draw with the command, by default an SVG in this folder, and find each text in it."""
    monkeypatch.chdir(tmp_path)

    def draw(line):
        name = f"{line.split()[0]}.svg"
        assert output(f"picture {line}") == f"wrote {name}\n"
        elements = ElementTree.parse(name).iter("{http://www.w3.org/2000/svg}text")
        return ["".join(it.itertext()).strip() for it in elements]

    return draw


def draw_timeline(line, until_ms=None):
    until_s = until_ms and Fraction(until_ms) / 1000
    figure, alt = pictures.draw_timeline(compute_results(ask(line)), until_s)
    return figure.axes[0], alt


def find_bars(axes):
    """Find each bar's line, work, start and length, in the unit of the axis."""
    names = {label.get_position()[1]: label.get_text() for label in axes.get_yticklabels()}
    for bars in axes.containers:
        for bar in bars:
            line = names[max(place for place in names if place < bar.get_y() + 0.4)]
            yield line, bars.get_label(), round(bar.get_x(), 6), round(bar.get_width(), 6)


FOUR = "node 1, node 2, node 3, node 4"


@pytest.mark.parametrize(
    ("line", "until_ms", "end", "inputs", "labels"),
    [
        ("", None, 12.43531264 + 4.62422016, (6, 4), f"nodes 1 to 4, layer, {FOUR}"),
        (OTHER, None, 4.9408 + 2.0736, (3, 4), "nodes 1 to 2, layer, node 1, node 2"),
        ("--inputs=1", None, 12.43531264, (1, 1), f"nodes 1 to 4, layer, {FOUR}"),  # one output
        (ONE_LAYER, None, 2 * 42.24, (2, 3), "nodes 1 to 4, layer, node 1, nodes 2 to 4"),
        ("--nodes=8", None, 17.0595328, (11, 4), f"nodes 1 to 8, layer, {FOUR}, nodes 5 to 8"),
        ("--nodes=5", "1", 1, (0, 1), f"{FOUR}, node 5"),
        # all is done after 17 ms, and no layer has room for its number; 125 times 8 bars are as
        # many as there may be
        ("--inputs=2", "999", 999, (2, 2), f"nodes 1 to 4, {FOUR}"),
        ("--nodes=2 --inputs=125", "1000000", 1000, (125, 0), "nodes 1 to 2"),
    ],
)
def test_a_timeline_has_its_end_its_inputs_and_its_lines(line, until_ms, end, inputs, labels):
    axes, _ = draw_timeline(line, until_ms)
    assert axes.get_xlim() == pytest.approx((0, end))
    assert ", ".join(it.get_text() for it in axes.get_yticklabels() if it.get_text()) == labels
    network, system, _ = ask(line)
    bars = list(find_bars(axes))
    computing = Counter(where for where, work, *_ in bars if work == "compute")
    alike = computing[f"nodes 1 to {system.nodes}"]
    assert (ceil(alike / len(network)), computing["node 1"]) == inputs
    assert all(start < end for _, _, start, _ in bars)
    assert ("idle" in {it.get_text() for it in axes.texts}) == (system.nodes > len(network))


@pytest.mark.parametrize(
    ("line", "pace", "bottleneck"),
    [
        ("", "after 12.44 ms, then one every 4.62 ms", "node 2"),
        (OTHER, "after 4.94 µs, then one every 2.07 µs", "node 2"),
        ("--inputs=1", "after 12.44 ms", None),
        (ONE_LAYER, "every 40.96 ns", None),
        # on such links, the 302.08 us of all sends are 60.416 ms, those of the first 23.04 ms
        ("--link-gbs=0.01", "after 72.55 ms, then one every 23.04 ms", "link 1 to 2"),
        ("--nodes=2", "every 6.25 ms", None),  # no pipeline
        (f"{ONE_LAYER} --nodes=1", "every 40.96 ns", None),
    ],
)
def test_it_says_when_outputs_are_done_why_the_first_node_idles_and_what_is_sent(
    line, pace, bottleneck
):
    axes, alt = draw_timeline(line)
    assert f"parallelism: an output {pace}." in alt
    drawn = " ".join(it.get_text() for it in axes.texts)
    for text in (alt, drawn):
        assert ("Node 1 starts" in text) == bool(bottleneck)
        assert (f" in time for {bottleneck}." in text) == bool(bottleneck)
    assert "number: input" in drawn and ("black" in drawn) == ("--nodes=1" not in line)


def test_bars_are_where_the_working_says_and_look_as_the_legend_says():
    axes, _ = draw_timeline(OTHER)
    bars = list(find_bars(axes))
    assert {*bars} >= {
        ("nodes 1 to 2", "compute", 0, 0.9216),
        ("nodes 1 to 2", "all-gather", 0.9216, 0.512),
        ("nodes 1 to 2", "compute", 1.4336, 1.0368),
        ("nodes 1 to 2", "gather", 2.4704, 0.144),
        # the third input's second layer is cut at the end, and its gather is not drawn
        ("nodes 1 to 2", "compute", 6.6624, 0.352),
        ("node 1", "send", 1.8432, 1.024),
        ("node 1", "send", 3.9168, 1.024),
        ("node 2", "compute", 2.8672, 2.0736),
    }
    assert len(bars) == 11 + 4 + 3 + 2  # of all nodes; node 1, its sends, node 2
    drawn = {(it.get_label(), round(it[0].get_x(), 4)): it[0] for it in axes.containers}
    colour = {place: to_hex(bar.get_facecolor()).upper() for place, bar in drawn.items()}
    # inputs are dark and pale in turn, from the first; what is sent is black
    dark, pale = pictures.COLOURS["tensor"]
    assert [colour["compute", it] for it in (1.4336, 2.6144, 5.2288)] == [dark, pale, dark]
    assert {colour[it] for it in colour if it[0] != "compute"} == {pictures.INK}


def test_bars_have_the_numbers_of_their_inputs_and_layers(draw_svg):
    texts = draw_svg("timeline --until=18")
    # all nodes' bars, and node 2's to 4's; node 1's and layer 1's are too narrow
    inputs, layers = [*"123456", *"1234", *"123", *"12"], [*"234"]
    axis = [f"{ms}" for ms in range(0, 20, 2)]
    assert sorted(it for it in texts if it.isdigit()) == sorted(inputs + layers + axis)
    assert "time, ms" in texts
    # what goes on at the end: all nodes, node 2 and node 3; not node 4, done after 17.06 ms
    assert texts.count("\N{HORIZONTAL ELLIPSIS}") == 3
    # layer 2 of all nodes, 1.156 ms of 60, has room for a digit, but not for two
    axes, _ = draw_timeline("", 60)
    numbered = [it.get_text() for it in axes.texts if it.xy[1] == 1 and it.get_text().isdigit()]
    assert numbered == [*"123456789"]


@pytest.mark.parametrize(
    ("line", "ticks", "bound", "tensor", "first", "floor", "dots"),
    [
        # 606,661,632 / 200,000 us; 155.7861376 / 32 = 4.868
        ("", "1 32 10 100", *LAB_TIMES, "4.87 3.13 12.44 3.13"),
        # 39,168 / 20,000; (4.9408 + 4 * 2.0736) / 5 = 2.64704
        (OTHER, "1 5 10", 1.9584, 2.6144, 4.9408, 2.0736, "2.65 2.61 4.94 2.61"),
        ("--inputs=1", "1", *LAB_TIMES, "12.44 3.13"),
        # 100 and 1,000 would be beside 101 and the end; (12.43531264 + 100 * 4.62422016) / 101
        ("--inputs=101", "1 101 10", *LAB_TIMES, "4.70 3.13 12.44 3.13"),
        (ONE_LAYER, "1 3 10", 10.24, 42.24, 40.96, 40.96, "42.24 40.96 42.24 40.96"),
    ],
)
def test_limits_go_to_ten_times_what_is_asked(line, ticks, bound, tensor, first, floor, dots):
    figure, alt = pictures.draw_limits(compute_results(ask(line)))
    [axes] = figure.axes
    most = 10 * ask(line).inputs
    assert axes.get_xlim() == (1, most) and axes.get_xscale() == "log"
    assert [it.get_text() for it in axes.get_xticklabels()] == ticks.split()
    [area] = (it for it in axes.patches if it.get_label() == "lower bound")
    assert area.get_y() + area.get_height() == pytest.approx(bound)
    [label] = (it for it in axes.texts if it.get_text().startswith("lower bound"))
    assert label.get_window_extent().x1 < axes.bbox.x1  # in the area, because there is room
    ends = {it.get_label(): (it.get_ydata()[0], it.get_ydata()[-1]) for it in axes.lines}
    assert ends["tensor"] == pytest.approx((tensor, tensor)) and "tensor floor" not in ends
    assert ends["pipeline"] == pytest.approx((first, (first + (most - 1) * floor) / most))
    wanted = pytest.approx((floor, floor)) if first > floor else None  # else it is the curve
    assert ends.get("pipeline floor") == wanted
    falls = f"{'falls to' if first > floor else 'stays at'} {floor:.2f}"
    assert f"tensor stays at {tensor:.2f}; pipeline {falls}." in alt
    assert [it.get_text() for it in axes.texts if it.get_text()[0].isdigit()] == dots.split()


@settings(max_examples=30 if settings().derandomize else 1_000)
@given(questions())
@example(ask("--link-gbs=0.1"))  # 5.05 and 4.91
@example(ask("--nodes=128"))
@example(ask("--gops=0.000001"))  # 606,661.63 s
@example(ask("--link-gbs=0.05 --inputs=1000000"))  # a curve close above its floor
def test_no_text_is_on_another_on_a_line_or_outside(question):
    nodes, *rates, sram_bytes = question.system
    if min(rates) < 1_000:  # less than options take
        rates = [min(max(10**9 * Fraction(rate), 1_000), 10**17) for rate in rates]
    results = compute_results(question._replace(system=System(nodes, *rates, sram_bytes)))
    with mpl.rc_context({"font.family": pictures.FACES, "font.size": pictures.FONT_PT}):
        check_boxes(pictures.draw_limits(results)[0])
        with suppress(ValueError):  # too many bars
            check_boxes(pictures.draw_timeline(results, None)[0])


def check_boxes(figure):
    figure.canvas.draw()
    [axes] = figure.axes
    texts = [*figure.texts, *(it for it in axes.get_children() if isinstance(it, mpl.text.Text))]
    for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        ticks = zip(axis.get_major_ticks(), axis.get_majorticklocs(), strict=True)
        texts += [tick.label1 for tick, at in ticks if min(limits) <= at <= max(limits)]
    boxes = [(it, it.get_window_extent()) for it in texts if it.get_text()]
    for (one, box), (other, beside) in combinations(boxes, 2):
        assert measure_overlap(box, beside) < 1, (one, other)
    paths = [it.get_transform().transform_path(it.get_path()) for it in axes.lines]
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
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    return min(width, min(one.y1, other.y1) - max(one.y0, other.y0))


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_picture_says_what_is_asked_and_which_strategy_is_not_possible(name, draw_svg):
    asked = "5 inputs, 2 nodes, 10 GOPS, 0.5 GB/s, 64 KiB of SRAM, elements of 1 byte"
    lab, other, no_tensor, no_pipeline = (
        " ".join(draw_svg(f"{name} {line}")) for line in ("", OTHER, "--nodes=5", "--nodes=2")
    )
    assert "what if" not in lab and asked in other and "8x2x3x3 on 10x10" in other
    assert "Tensor parallelism is not possible" in no_tensor and "tensor stays" not in no_tensor
    assert "Pipeline parallelism is not possible" in no_pipeline and "node 2" not in no_pipeline


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_png_opens_and_an_svg_is_the_same_on_every_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    output(f"picture {name} --output=picture.PNG")
    image, picture = Image.open("picture.PNG"), pictures.draw(name, LAB, ".svg")
    assert image.size == pytest.approx((picture.width_pt / 0.36, picture.height_pt / 0.36), abs=1)
    assert image.info["Title"] == picture.alt
    monkeypatch.setitem(mpl.rcParams, "axes.grid", True)  # a setting of the user
    assert pictures.draw(name, LAB, ".svg") == picture


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("sram", "timeline"),
        ("limits --output=", ".svg or .png"),
        ("limits --until 3", "--until"),
        ("timeline --until 0", "--until"),
        ("timeline --nodes 3", "3 nodes"),
        # all steps of 126 inputs, 126 times 8, and 67 times 8 + 7
        ("timeline --nodes=2 --inputs=126 --until=1000000", "1,008 bars"),
        ("timeline --inputs=67 --until=1000", "1,005 bars"),
    ],
)
def test_bad_input_is_named(line, named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert named in refusal(f"picture {line}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_formulas_that_are_not_as_delivered_are_not_drawn(name, tmp_path):
    delivered = "latency = N * one_input seconds"
    assert LAB3.count(delivered) == 1
    copy_project(tmp_path, LAB3.replace(delivered, "latency = one_input * N seconds"))
    result = python("report", "picture", name, cwd=tmp_path)
    assert result.returncode == 2 and not list(tmp_path.glob("*.svg"))
    assert "'latency = one_input * N' in lab3.py's tensor" in sentence(result.stderr)
