"""The deck as its readers have it, and the command that builds it."""

import math
import os
from io import BytesIO
from itertools import chain
from pathlib import Path

import numpy
import pypdfium2
import pytest
from PIL import Image
from pypdf import PdfReader
from pypdfium2.raw import FPDF_PAGEOBJ_PATH

from program import output, refusal
from report import pictures
from report.analysis import Analysis
from report.deck import build
from report.deck.diagram import flow, ring
from report.question import LAB

ROOT = build.HERE.parents[1]
NOBODY = dict.fromkeys(build.BYLINE, "")
OUTPUTS = ("slides.pdf", "results.png")
NAME = "Zoë O'Neil #[x] $y$ Ωж"


@pytest.fixture(scope="module")
def deck(pdf):
    return PdfReader(BytesIO(pdf))


def texts(deck):
    """Of each page, with single blanks."""
    pages = (page.extract_text() for page in deck.pages)
    return [" ".join(page.replace("\u00a0", " ").split()) for page in pages]


def elements(parent):
    """All of a document's structure, in reading order."""
    kids = parent.get("/K", [])
    for kid in kids if isinstance(kids, list) else [kids]:
        element = kid.get_object()
        if isinstance(element, dict) and "/S" in element:
            yield element
            yield from elements(element)


def structure(deck):
    return list(elements(deck.trailer["/Root"]["/StructTreeRoot"]))


def pixels(pdf):
    return [page.render(scale=1).to_numpy() for page in pypdfium2.PdfDocument(pdf)]


# ------------------------------------------------ what is built


def test_it_has_six_wide_pages_and_is_accessible(deck):
    sizes = [page.mediabox for page in deck.pages]
    assert [round(float(it.width / it.height), 2) for it in sizes] == [1.78] * 6
    root = deck.trailer["/Root"]
    assert root["/Lang"] == "en"
    assert b"pdfuaid:part" in root["/Metadata"].get_data()
    kinds = [element["/S"] for element in structure(deck)]
    assert kinds.count("/H1") == 6
    assert {"/Figure", "/Formula", "/P", "/Table", "/TH", "/TD"} <= {*kinds}


def test_the_readmes_picture_is_page_1(built):
    picture = numpy.asarray(Image.open(BytesIO(built["results.png"])).convert("RGB"), dtype=int)
    scale = build.README_PIXELS_PER_INCH / 72
    pages = [page.render(scale=scale) for page in pypdfium2.PdfDocument(built["slides.pdf"])]
    size = picture.shape[1::-1]
    others = (numpy.asarray(it.to_pil().convert("RGB").resize(size), dtype=int) for it in pages)
    differences = [abs(picture - other).mean() for other in others]
    assert min(differences) == differences[0] < sorted(differences)[1] / 2


def test_bars_of_page_1_are_as_long_as_their_values(pdf):
    page = pypdfium2.PdfDocument(pdf)[0]
    places = (shape.get_bounds() for shape in page.get_objects([FPDF_PAGEOBJ_PATH]))
    lengths = [right - left for left, low, right, high in places if high - low > 10]
    most = max(lengths)
    pairs = [(3.13, 12.44), (100.07, 155.79), (1.92, 0.60)]  # tensor, pipeline
    wanted = [value / max(pair) for pair in pairs for value in pair]
    assert [length / most for length in lengths] == pytest.approx(wanted, abs=1e-3)


def test_a_rings_links_carry_shards_in_the_order_of_an_all_gather():
    [axes] = ring(4, pictures.DEFAULT).figure.axes
    places = {it.get_text(): it.get_position() for it in axes.texts if it.get_text()}
    nodes = {text[0]: at for text, at in places.items() if text.endswith(":")}
    shards = {text: at for text, at in places.items() if len(text) == 1}
    carried = {text: at for text, at in places.items() if "," in text}

    def nearest(found, place):
        return min(found, key=lambda text: math.dist(found[text], place))

    clockwise = sorted(nodes, key=lambda number: (-nodes[number][1], nodes[number][0]))
    assert clockwise == [*"1243"]  # row by row
    assert [nearest(shards, nodes[number]) for number in "1234"] == [*"abcd"]
    found = {}
    for arrow in (it for it in axes.texts if not it.get_text()):
        assert arrow.arrowprops["arrowstyle"].startswith("-|>")  # tail to tip
        ends = arrow.get_position(), arrow.xy
        middle = [sum(pair) / 2 for pair in zip(*ends, strict=True)]
        found["".join(nearest(nodes, end) for end in ends)] = nearest(carried, middle)
    # its own shard first, then what came from the node before
    assert found == {"12": "a, d, c", "23": "b, a, d", "34": "c, b, a", "41": "d, c, b"}
    assert all(it.get_rotation() == 0 for it in axes.texts)


def test_pictures_have_their_alternative_texts_in_reading_order(deck):
    analysis = Analysis(LAB)
    style = pictures.Style(height_pt=200)  # brief
    timeline = pictures.timeline(analysis, style, until_s=build.TIMELINE_S)
    charts = (draw(analysis, style) for draw in (pictures.limits, pictures.sram))
    tensor, pipeline, *three, ringed = (
        it["/Alt"] for it in structure(deck) if it["/S"] == "/Figure"
    )
    assert three == [picture.alt for picture in (timeline, *charts)]
    assert "shard" in tensor and "node 1 alone" in tensor and "a layer" in pipeline
    assert "from the last to the first" in ringed
    formulas = [it["/Alt"] for it in structure(deck) if it["/S"] == "/Formula"]
    assert len(formulas) == 2 and "plus N minus 1 times" in formulas[1]


@pytest.mark.parametrize(
    ("strategy", "layers", "nodes", "arrows", "cells", "output"),
    [
        ("tensor", 4, 4, 3 * 12 + 3, 16, (5, 1)),
        ("tensor", 2, 3, 6 + 2, 6, (3, 1)),
        ("pipeline", 4, 4, 3, 4, (5, 4)),
        ("pipeline", 2, 3, 1, 2, (3, 2)),  # node 3 is idle
    ],
)
def test_a_flow_has_an_arrow_for_each_transfer(strategy, layers, nodes, arrows, cells, output):
    [axes] = flow(strategy, layers, nodes, pictures.DEFAULT).figure.axes
    ways = {(it.get_position(), it.xy) for it in axes.texts if not it.get_text()}
    assert len(ways) == arrows
    for (x, sender), (to_x, receiver) in ways:  # from a layer to the next, to another node
        assert sender != receiver and 0 < to_x - x < 1
    places = {tuple(map(round, it.get_center())): it.get_facecolor() for it in axes.patches}
    white = places.pop(output)
    assert len(places) == cells and white not in places.values()


def test_text_of_pictures_is_in_the_decks_own_face(deck):
    fonts = (page["/Resources"]["/Font"].values() for page in deck.pages)
    names = {str(font.get_object()["/BaseFont"]) for font in chain(*fonts)}
    faces = {name.split("+")[-1].split("-")[0] for name in names}
    assert faces <= {"LibertinusSerif", "NewCMMath"}


def test_committed_files_are_what_is_built(built, deck):
    committed = {name: (ROOT / "report" / name).read_bytes() for name in OUTPUTS}
    old = PdfReader(BytesIO(committed["slides.pdf"]))
    assert texts(old) == texts(deck)
    tags = [[(it["/S"], it.get("/Alt")) for it in structure(one)] for one in (old, deck)]
    assert tags[0] == tags[1]
    both = (pixels(each["slides.pdf"]) for each in (committed, built))
    assert all((before != after).mean() < 1e-3 for before, after in zip(*both, strict=True))
    assert committed["results.png"] == built["results.png"]


@pytest.mark.usefixtures("drawn_once")
def test_author_uid_and_date_are_at_the_foot_of_each_page_and_nothing_else_differs(built, deck):
    byline = {"author": NAME, "uid": "123 456 789", "date": "June 12"}
    named = build.build(byline)["slides.pdf"]
    handed_in = PdfReader(BytesIO(named))
    assert (handed_in.metadata.author, deck.metadata.author) == (NAME, None)
    foot = f" · {NAME} · 123 456 789 · June 12"
    for number, (text, plain) in enumerate(zip(texts(handed_in), texts(deck), strict=True), 1):
        assert text.endswith(f"{foot} {number} / 6") and text.replace(foot, "") == plain
    for mine, plain in zip(pixels(named), pixels(built["slides.pdf"]), strict=True):
        differs = (mine != plain).any(axis=(1, 2)).nonzero()[0]  # in these rows
        assert differs.min() > 440


# ------------------------------------------------ what is not built


@pytest.mark.usefixtures("drawn_once")
@pytest.mark.parametrize(
    ("byline", "words"),
    [
        ({"author": "Ada \N{CJK UNIFIED IDEOGRAPH-65E5}"}, "\N{CJK UNIFIED IDEOGRAPH-65E5}"),
        ({"author": "M" * 60, "uid": "M" * 20}, "too long for one line"),
    ],
)
def test_a_byline_that_cannot_be_printed_is_refused(byline, words):
    with pytest.raises(ValueError, match=words):
        build.build(NOBODY | byline)


@pytest.mark.parametrize("other", [LAB._replace(inputs=31), LAB.on(sram_bytes=524_289)])
def test_other_numbers_than_the_handouts_are_refused(other, monkeypatch):
    monkeypatch.setattr(build, "LAB", other)
    with pytest.raises(ValueError, match=r"handout's numbers"):
        build.build(NOBODY)


@pytest.mark.usefixtures("drawn_once")
def test_a_misspelt_name_stops_the_build(monkeypatch):
    without = {name: text for name, text in build.facts(Analysis(LAB)).items() if name != "sram"}
    monkeypatch.setattr(build, "facts", lambda analysis: without)
    with pytest.raises(ValueError, match='"sram"'):
        build.build(NOBODY)


# ------------------------------------------------ the command


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_it_writes_both_files_into_any_folder(tmp_path, monkeypatch, built):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "caf\u00e9"
    folder.mkdir()
    told = output(["deck", f"--output={folder.name}"])
    assert told.splitlines() == [rf"wrote 'caf\xe9/{name}'" for name in OUTPUTS]
    assert contents(folder) == built


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--author", "Eve"], "--output"),
        (["--date=June 12"], "--output"),
        (["--output=missing"], "is not an existing folder"),
        ([f"--output={'x' * 300}"], "is not an existing folder"),
        (["--output=\N{LATIN SMALL LETTER E WITH ACUTE}"], "is not an existing folder"),
        (["--output="], "--output"),
        (["--author=", "--output=."], "--author"),
        (["--uid", "1\n2", "--output=."], "--uid"),
        (["--author", "\u202eevil", "--output=."], "--author"),
        (["--nodes", "8"], "--nodes"),
        (["slides.pdf"], "slides.pdf"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(tmp_path, monkeypatch, arguments, named):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(build, "write", lambda *_: pytest.fail("it is written"))
    assert named in refusal(["deck", *arguments])
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.parametrize(("owner", "call"), [(Path, "write_bytes"), (os, "replace")])
def test_whatever_ends_it_each_file_is_whole(tmp_path, monkeypatch, error, name, owner, call):
    """Half a file is written, or one is not moved into its place."""
    for output_name in OUTPUTS:
        (tmp_path / output_name).write_bytes(b"old")
    real = getattr(owner, call)

    def failing(path, *more):
        if name not in path.name:
            return real(path, *more)
        if call == "write_bytes":
            real(path, b"n")
        raise error

    monkeypatch.setattr(owner, call, failing)
    with pytest.raises(type(error)) as raised:
        build.write(tmp_path, dict.fromkeys(OUTPUTS, b"new"))
    assert getattr(raised.value, "filename", str(tmp_path)) == str(tmp_path)
    assert contents(tmp_path).keys() == {*OUTPUTS}
    assert {*contents(tmp_path).values()} <= {b"old", b"new"}
