"""What pages show by places and colours: letters, bars, boxes and arrows of the PDF."""

import math
import re
from ctypes import c_float, c_int, c_uint
from functools import cache

import pytest

pytest.importorskip("pypdfium2")

import numpy
import pypdfium2
from pypdfium2 import raw

from report.deck import build

pytestmark = pytest.mark.usefixtures("built")  # skips them if a package is missing

BLUE, ORANGE, INK, GREY, RED = "#003A70", "#C25700", "#222222", "#595959", "#B00020"


def read_colour(function, *arguments):
    """Read a colour that pdfium gives in numbers."""
    values = [c_uint() for _ in range(4)]
    assert function(*arguments, *values)
    return "#{:02X}{:02X}{:02X}".format(*(value.value for value in values[:3]))


@cache
def find_letters(page):
    """List each letter, the box of its ink in points (left, bottom, right, top), and its colour."""
    text = page.get_textpage()
    return [
        (letter, text.get_charbox(at), read_colour(raw.FPDFText_GetFillColor, text.raw, at))
        for at in range(text.count_chars())
        if not (letter := chr(raw.FPDFText_GetUnicode(text.raw, at))).isspace()
    ]


@cache
def find_shapes(page, height=None):
    """List the box, fill and stroke, or None, of each shape, or of those of one height."""
    shapes = []
    for path in page.get_objects([raw.FPDF_PAGEOBJ_PATH]):
        box, fill, stroke = path.get_bounds(), c_int(), c_int()
        raw.FPDFPath_GetDrawMode(path.raw, fill, stroke)
        filled = read_colour(raw.FPDFPageObj_GetFillColor, path.raw) if fill.value else None
        drawn = read_colour(raw.FPDFPageObj_GetStrokeColor, path.raw) if stroke.value else None
        if height is None or box[3] - box[1] == pytest.approx(height, abs=0.2):
            shapes.append((box, filled, drawn))
    return shapes


def find_middle(box):
    """Find the middle of a box, to a tenth of a point."""
    return round((box[0] + box[2]) / 2, 1), round((box[1] + box[3]) / 2, 1)


def read_at(page, place, right=25, up=11):
    """Read the letters that are at most so far from a place."""
    (x, y), letters = place, [(it, *find_middle(box)) for it, box, _ in find_letters(page)]
    return "".join(it for it, at, high in letters if abs(at - x) < right and abs(high - y) < up)


def test_digits_are_11_pixels_high_and_no_letter_is_on_another_or_outside_the_margins(pages):
    for page in pages:
        letters, boxes, _ = zip(*find_letters(page), strict=True)
        left, bottom, right, top = numpy.array(boxes).T
        digits = numpy.array([letter.isdigit() for letter in letters])
        assert min((top - bottom)[digits]) * 1024 / page.get_width() >= 10.99  # on a screen
        assert left.min() > 33 and right.max() < page.get_width() - 33
        assert bottom.min() > 12 and top.max() < page.get_height() - 12
        shared = [
            numpy.minimum(ends[:, None], ends) - numpy.maximum(starts[:, None], starts)
            for starts, ends in ((left, right), (bottom, top))
        ]
        clashes = numpy.argwhere((shared[0] > 0.6) & (shared[1] > 0.6))
        # neighbours may lean on each other, and are one in a ligature
        assert [(letters[one], letters[other]) for one, other in clashes if other - one > 3] == []


@pytest.mark.parametrize(
    ("paint", "nodes", "output"), [(BLUE, [4, 3, 2, 1] * 4, 1), (ORANGE, [1, 2, 3, 4], 4)]
)
def test_layers_of_page_2_are_on_their_nodes(pages, elements, paint, nodes, output):
    """Filled boxes column by column, from the bottom; a hollow one is the output."""
    boxes = [(box, fill) for box, fill, drawn in find_shapes(pages[1]) if drawn == paint]
    work = sorted(find_middle(box) for box, fill in boxes if fill == paint)
    [hollow] = [find_middle(box) for box, fill in boxes if fill is None]
    numbers = {y: int(read_at(pages[1], (work[0][0] - 22, y), 6, 6)) for _, y in [*work, hollow]}
    assert [numbers[y] for _, y in work] == nodes
    assert numbers[hollow[1]] == output and hollow[0] > work[-1][0]
    # arrows point to what the next layer is computed from, through an exchange, or to the next node
    heads = sorted(place for place, fill in find_heads(pages[1]) if fill == INK)
    places = [(x - 18, y) for x, y in [*work[4:], hollow]] + [(x + 23, y) for x, y in work[-4:-1]]
    if paint == ORANGE:
        places = [(x - 18, y) for x, y in work[1:]]  # the output stays
    drawn = [place for place in heads if (place[0] < 430) == (paint == BLUE)]
    assert numpy.array(drawn) == pytest.approx(numpy.array(sorted(places)), abs=2)
    exchanges = [box for box, fill, _ in find_shapes(pages[1], 58) if fill == "#BFBFBF"]
    assert len(exchanges) == 4
    assert any(f"output is on node {output}." in element.get("/Alt", "") for element in elements)


def test_page_3_marks_the_longest_step(pages):
    [box] = [box for box, fill, _ in find_shapes(pages[2]) if fill == "#FCE7D3"]
    assert read_at(pages[2], find_middle(box), 40, 6) == "4,624.22016"


def test_bars_of_page_4_are_where_their_milliseconds_say(pages):
    bound, tensor, slowest, drained, end = 97.065861, 100.072325, 147.975045, 155.484058, 155.786138
    starts = [0, bound, 0, 0, bound, slowest, drained, 0]
    ends = [bound, tensor, tensor, bound, slowest, drained, end, end]
    shapes = find_shapes(pages[3], 15)
    bars = numpy.array([box for box, *_ in shapes])[:, [0, 2]]
    shown_ms = (bars - bars[-1, 0]) * end / (bars[-1, 1] - bars[-1, 0])
    assert shown_ms == pytest.approx(numpy.array([starts, ends]).T, abs=0.02)
    fills = [GREY, INK, BLUE, GREY, *["#DDA373"] * 2, INK, ORANGE]
    assert [fill for _, fill, _ in shapes] == fills


def find_points(path):
    """List the points of a path, in points of its page."""
    x, y = c_float(), c_float()
    for at in range(raw.FPDFPath_CountSegments(path.raw)):
        raw.FPDFPathSegment_GetPoint(raw.FPDFPath_GetPathSegment(path.raw, at), x, y)
        yield path.get_matrix().on_point(x.value, y.value)


def test_curves_of_page_4_are_where_their_latencies_say(pages):
    dots = sorted(find_middle(box) for box, fill, _ in find_shapes(pages[3], 6) if fill == INK)
    right, low = dots[-1]  # 2 GB/s, 155.786 ms; scales are logarithmic
    curves = map(find_points, pages[3].get_objects([raw.FPDF_PAGEOBJ_PATH]))
    curves = [numpy.array(curve) for points in curves if len(curve := [*points]) > 60]
    gbs = [2 * 10 ** ((curve[:, 0] - right) / 134) for curve in curves]
    shown_ms = [155.786 * 10 ** ((curve[:, 1] - low) / 84) for curve in curves]
    assert shown_ms[0] == pytest.approx(97.066 + 32 * 0.187904 / gbs[0], rel=0.01)
    assert shown_ms[1] == pytest.approx(97.066 + 96 * 0.187904 / gbs[1], rel=0.01)
    sends_ms = 12.133 + (0.604160 + 31 * 0.230400) / gbs[2]  # if a send is the longest step
    longer_ms = numpy.maximum(155.484 + 0.604160 / gbs[2], sends_ms)
    assert shown_ms[2] == pytest.approx(longer_ms, rel=0.01)
    for (x, y), mark in zip(dots, (0.0204, 0.0926, 0.298, 2), strict=True):
        assert 134 * math.log10(2 / mark) == pytest.approx(right - x, abs=0.2)
        assert y == pytest.approx(numpy.interp(x, *curves[2].T), abs=0.2)
        assert read_at(pages[3], (x, low - 40), 32, 8).startswith(f"{mark}")
    for ms in (100, 200, 500):
        y = low + 84 * math.log10(ms / 155.786)
        assert read_at(pages[3], (dots[0][0] - 55, y), 16, 6) == f"{ms}"


def test_bars_of_page_5_and_the_srams_line_are_where_their_bytes_say(pages):
    text = pages[4].get_textpage().get_text_range().replace(",", "")
    rows = re.findall(r"(\d+) (\d+) (\d+) \d+\s+\d+ (?:free|over)", text)
    held = [int(size) for row in rows for size in row]
    parts = [part for part in zip(held, [INK, "#7C7C7C", "#BDBDBD"] * 8, strict=True) if part[0]]
    bars, fills, _ = zip(*find_shapes(pages[4], 15), strict=True)
    lengths = [right - left for left, _, right, _ in bars]
    per_byte = sum(lengths) / sum(held)
    assert lengths == pytest.approx([size * per_byte for size, _ in parts], abs=0.01)
    assert [*fills] == [shade for _, shade in parts]
    keys = [(box[2] + 20, box[1], fill) for box, fill, _ in find_shapes(pages[4], 9)]
    words = [(read_at(pages[4], (x, y), 16, 8)[:2], fill) for x, y, fill in keys]
    assert words == [("we", INK), ("in", "#7C7C7C"), ("ou", "#BDBDBD")]
    lines = [find_middle(box)[0] for box, *_ in find_shapes(pages[4], 30)]
    assert lines == pytest.approx([bars[0][0] + 524_288 * per_byte] * 8, abs=0.05)
    red = "".join(letter for letter, _, paint in find_letters(pages[4]) if paint == RED)
    assert red == "129,728over201,728over1,024over144,384over91,136over798,464over"


def test_a_name_from_right_to_left_leaves_the_foot_in_order():
    pdf = build.build("\u05e2\u05d3\u05d4", "12 345")["slides.pdf"]
    for number, page in enumerate(pypdfium2.PdfDocument(pdf), 1):
        foot = sorted((box[0], letter) for letter, box, _ in find_letters(page) if box[3] < 33)
        text = "".join(letter for _, letter in foot)
        assert text == f"Lab3:distributedCNNinference·\u05d4\u05d3\u05e2·12345{number}/6"


# ------------------------------------------------ arrows
def find_heads(page):
    """List the middle and the colour of each arrow's head."""
    shapes = [(box, (box[2] - box[0], box[3] - box[1]), fill) for box, fill, _ in find_shapes(page)]
    return [(find_middle(box), fill) for box, (x, y), fill in shapes if 5 < x < 9 and 5 < y < 9]


def test_a_ring_passes_shards_on(pages, elements):
    """A node sends its own shard first, then the one that has arrived, clockwise."""
    alternatives = [element.get("/Alt") for element in elements]
    boxes = [find_middle(box) for box, _, drawn in find_shapes(pages[5]) if drawn == GREY]
    heads, paints = zip(*find_heads(pages[5]), strict=True)
    assert [*paints] == [BLUE] * (2 * 6 + 3 * 4) + [ORANGE] * 3  # two on each of 6 lines, then one
    assert "".join(read_at(pages[5], box) for box in boxes[:4]) == "abcd"
    assert "".join(read_at(pages[5], box) for box in boxes[16:]) == "layer1layer2layer3layer4"
    held, sent = ["a", "b", "c", "d"], "abcd"
    for step in (1, 2, 3):
        words = f"nodes hold {' '.join(held)} and send {' '.join(sent)}."
        assert f"Ring, step {step}: {words}" in alternatives
        corners = boxes[4 * step : 4 * step + 4]
        (left, high), (right, low) = corners[0], corners[2]
        assert corners == [(left, high), (right, high), (right, low), (left, low)]
        assert [read_at(pages[5], corner) for corner in corners] == held
        x, y = (left + right) / 2, (low + high) / 2
        beside = (x, high - 11), (right - 10, y), (x, low + 11), (left + 10, y)
        assert "".join(read_at(pages[5], place, 7, 8) for place in beside) == sent
        # at the right end, at the lower, left, upper one
        tips = [(at[0] - x, at[1] - y) for at in heads if abs(at[0] - x) < 60]
        assert [min(tip, key=abs) > 0 for tip in tips] == [True, False, False, True]
        held = ["".join(sorted({*has, sent[at - 1]})) for at, has in enumerate(held)]
        sent = sent[-1] + sent[:-1]
