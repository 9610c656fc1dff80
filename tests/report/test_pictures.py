"""The pictures: of the lab, and of a machine that differs from it in everything."""

import xml.etree.ElementTree as ET
from collections import Counter
from fractions import Fraction
from io import BytesIO
from itertools import pairwise

import matplotlib as mpl
import pytest
from PIL import Image

from lab3 import ConvLayer, System
from program import output, python, refusal
from report import pictures
from report.question import LAB, Question
from report.results import compute_results

# Worked out by hand: ops 2 * 8 * 2 * 3 * 3 * 8 * 8 = 18,432 and 2 * 4 * 8 * 3 * 3 * 6 * 6 = 20,736,
# outputs 8 * 8 * 8 = 512 bytes and 4 * 6 * 6 = 144. Times in us:
# tensor 0.9216, 0.512, 1.0368, 0.144: 2.6144 in all; pipeline 1.8432, 1.024, 2.0736: 4.9408
OTHER = Question(
    (ConvLayer(8, 2, 3, 3, 10, 10, 1), ConvLayer(4, 8, 3, 3, 8, 8, 1)),
    System(2, 10 * 10**9, 5 * 10**8, 64 * 1024, "ring"),
    5,
)
OPTIONS = [
    *("--inputs=5", "--nodes=2", "--gops=10", "--link-gbs=0.5", "--sram-kib=64", "--topology=ring"),
    *("--element-bytes=1", "--layer=8,2,3,3,10,10", "--layer=4,8,3,3,8,8"),
]


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

    def draw(*arguments, name="picture.svg"):
        assert output(["picture", *arguments, f"--output={name}"]) == f"wrote {name}\n"
        return (tmp_path / name).read_bytes()

    return draw


# ------------------------------------------------ who works when


def find_bars(axes):
    """Find each bar's line, work, start and length, in the unit of the axis."""
    names = {label.get_position()[1]: label.get_text() for label in axes.get_yticklabels()}
    for bars in axes.containers:
        for bar in bars:
            line = names[max(place for place in names if place < bar.get_y() + 0.4)]
            yield line, bars.get_label(), round(bar.get_x(), 6), round(bar.get_width(), 6)


def test_the_labs_timeline_ends_with_the_pipelines_second_output():
    figure, alt = pictures.draw_timeline(compute_results(LAB), None)
    [axes] = figure.axes
    assert axes.get_xlim() == pytest.approx((0, 12.43531264 + 4.62422016))
    bars = [it for it in find_bars(axes) if it[0].startswith("node ")]
    assert [it for it in bars if it[1] == "compute"][:4] == [
        ("node 1", "compute", 0, 0.124416),
        ("node 2", "compute", 0.239616, 4.62422),
        ("node 3", "compute", 4.964188, 3.98721),
        ("node 4", "compute", 9.037926, 3.397386),
    ]
    assert "an output every 3.13 ms" in alt and "after 12.44 ms, then one every 4.62 ms" in alt


def test_another_machines_timeline_has_its_own_jobs():
    figure, alt = pictures.draw_timeline(compute_results(OTHER), None)
    [axes] = figure.axes
    assert axes.get_xlim() == pytest.approx((0, 4.9408 + 2.0736))
    bars = list(find_bars(axes))
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
    assert "2.61 µs" in alt and "after 4.94 µs, then one every 2.07 µs" in alt


def test_bars_have_the_numbers_of_their_inputs(draw_file):
    texts = find_texts(draw_file("timeline", "--until=18"))
    # all nodes' bars, and node 2's to 4's; node 1's are too narrow
    numbers, axis = Counter("123456" + "1234" + "123" + "12"), {f"{ms}" for ms in range(0, 20, 2)}
    assert Counter(it for it in texts if it.isdigit()) == numbers + Counter(axis)
    assert {*texts} > {"nodes 1 to 4", "node 1", "node 4", "time, ms"} | axis


@pytest.mark.parametrize(
    ("options", "labels"),
    [
        (["--nodes=5"], ["node 4", "node 5"]),
        (["--nodes=8"], ["node 4", "nodes 5 to 8"]),
        ([*OPTIONS, "--nodes=4"], ["node 2", "nodes 3 to 4"]),
    ],
)
def test_nodes_without_a_layer_are_idle_in_one_line(options, labels, draw_file):
    texts = find_texts(draw_file("timeline", *options))
    assert [it for it in texts if it.startswith("node")][-2:] == labels and "idle" in texts
    assert "idle" not in find_texts(draw_file("timeline"))


@pytest.mark.parametrize(
    ("options", "bottleneck"),
    [
        ([], "node 2"),
        (OPTIONS, "node 2"),
        (["--link-gbs=0.01"], "link 1 to 2"),
        (["--inputs=1"], None),
        (["--nodes=2"], None),  # no pipeline
        (["--layer=4,4,1,1,9,9", "--layer=4,4,1,1,9,9", "--link-gbs=1000"], None),  # both alike
    ],
)
def test_it_says_why_the_first_node_idles_if_it_does(options, bottleneck, draw_file):
    texts = [it for it in find_texts(draw_file("timeline", *options)) if "Node 1 idles" in it]
    assert [it.endswith(f" before {bottleneck}.") for it in texts] == [True] * bool(bottleneck)


def test_until_ends_a_timeline(draw_file):
    figure, _ = pictures.draw_timeline(compute_results(LAB), Fraction(1, 1000))
    assert figure.axes[0].get_xlim() == (0, 1)
    assert "Timeline of the first 500.00 µs" in draw_file("timeline", "--until", "0.5").decode(
        "utf-8"
    )


@pytest.mark.parametrize(
    "options",
    [
        ["--inputs=1000000", "--until=100000"],
        ["--nodes=128", "--inputs=1000000"],
        [*["--layer=2,2,1,1,9,9"] * 100, "--nodes=100"],
    ],
)
def test_a_timeline_of_too_many_bars_is_refused(options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "--until" in refusal(["picture", "timeline", *options])
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
    ("question", "most", "bound", "tensor", "pipeline", "floor"),
    [
        # 606,661,632 / 200,000 us; (12.43531264 + 319 * 4.62422016) / 320
        (LAB, 320, 3.03330816, 3.12726016, (12.43531264, 4.648629848), 4.62422016),
        # 39,168 / 20,000; (4.9408 + 49 * 2.0736) / 50
        (OTHER, 50, 1.9584, 2.6144, (4.9408, 2.130944), 2.0736),
    ],
)
def test_limits_go_to_ten_times_what_is_asked(question, most, bound, tensor, pipeline, floor):
    figure, _ = pictures.draw_limits(compute_results(question))
    [axes] = figure.axes
    assert axes.get_xlim() == (1, most) and axes.get_xscale() == "log"
    lines = find_lines(axes)
    [area] = (it for it in axes.patches if it.get_label() == "lower bound")
    assert area.get_y() + area.get_height() == pytest.approx(bound)
    assert [y for _, y in lines["tensor"]] == pytest.approx([tensor, tensor])
    assert [y for _, y in lines["pipeline"]] == pytest.approx(pipeline)
    assert [y for _, y in lines["pipeline floor"]] == pytest.approx([floor, floor])
    assert "tensor floor" not in lines  # it is the curve


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        ([], "12.44 4.87 3.13 3.13 1 10 32 100"),  # 155.7861376 / 32 = 4.8683..
        (OPTIONS, "4.94 2.65 2.61 2.61 1 5 10"),  # (4.9408 + 4 * 2.0736) / 5 = 2.64704
        (["--inputs=1"], "12.44 3.13 1"),
    ],
)
def test_limits_mark_what_is_asked(arguments, texts, draw_file):
    found = find_texts(draw_file("limits", *arguments))
    assert Counter(found) >= Counter(texts.split())


def test_labels_of_limits_are_in_order_and_apart():
    labels = ["lower bound: 0.095", "tensor stays at 0.098", "pipeline falls to 4.62"]
    results = compute_results(Question(system=System(nodes=128)))  # 0.0977 and 0.0948 ms
    figure, _ = pictures.draw_limits(results)
    axes = figure.axes[0]
    places = {it.get_text(): it.get_position()[1] for it in axes.texts}
    heights = [places[label] for label in labels]
    gap = min(after - before for before, after in pairwise(heights))
    assert gap * axes.bbox.height / axes.get_ylim()[1] * 72 / figure.dpi > pictures.FONT_PT


# ------------------------------------------------ files


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_picture_says_what_is_asked(name, draw_file):
    asked = "5 inputs, 2 nodes, ring, 10 GOPS, 0.5 GB/s, 64 KiB of SRAM, elements of 1 byte"
    other = " ".join(find_texts(draw_file(name, *OPTIONS)))
    assert asked in other and "8x2x3x3 on 10x10" in other
    assert "what if" not in " ".join(find_texts(draw_file(name)))


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_an_impossible_strategy_is_named_and_not_drawn(name, draw_file):
    texts = " ".join(find_texts(draw_file(name, "--nodes=5")))
    assert "Tensor parallelism is not possible" in texts and "tensor stays" not in texts
    texts = " ".join(find_texts(draw_file(name, "--nodes=2")))
    assert "Pipeline parallelism is not possible" in texts and "node 2" not in texts


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_files_open_and_are_the_same_on_every_run(name, draw_file, monkeypatch):
    monkeypatch.setitem(mpl.rcParams, "axes.grid", True)  # the user's own setting
    image = Image.open(BytesIO(draw_file(name, name="picture.PNG")))
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
        ("picture", "timeline"),
        ("picture sram", "timeline"),
        ("picture limits --output limits.pdf", ".svg or .png"),
        ("picture limits --output=", ".svg or .png"),
        ("picture limits --until 3", "--until"),
        ("picture timeline --until 0", "--until"),
        ("picture timeline --nodes 3", "3 nodes"),
    ],
)
def test_bad_input_is_named(line, named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert named in refusal(line)
    assert list(tmp_path.iterdir()) == []


def test_help_says_what_each_picture_is_without_matplotlib():
    blocked = "import sys; sys.modules['matplotlib'] = None;"
    run = "from report.__main__ import main; sys.exit(main(['picture', '--help']))"
    done = python("-c", blocked + run)
    assert done.returncode == 0
    assert "who works when" in done.stdout and "the time per input" in done.stdout
