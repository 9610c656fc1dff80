"""The deck as its readers have it, and the command that builds it."""

import sys
from ctypes import c_uint
from io import BytesIO

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("pypdf")
pytest.importorskip("pypdfium2")
pytest.importorskip("typst")

import numpy
import pypdfium2
from PIL import Image
from pypdf import PdfReader
from pypdfium2.raw import (
    FPDF_PAGEOBJ_PATH,
    FPDF_PAGEOBJ_TEXT,
    FPDFPageObj_GetDashCount,
    FPDFPageObj_GetFillColor,
    FPDFPageObj_GetStrokeColor,
    FPDFText_GetUnicode,
)

from deck.conftest import find_elements
from program import LAB3, PLAIN, PROJECT, copy_project, output, python, refusal, sentence
from report import pictures
from report.deck import build
from report.question import LAB

ROOT = build.HERE.parents[1]
OUTPUTS = ("slides.pdf", "results.png")
NAME = "Zoë O'Neil #[x] $y$ Ωж"
WIDTH_PX = 1024  # of a page on a screen


def find_letters(page):
    """Yield each letter and the box of its ink in points: left, bottom, right, top."""
    text = page.get_textpage()
    for index in range(text.count_chars()):
        letter = chr(FPDFText_GetUnicode(text.raw, index))
        if not letter.isspace():
            yield letter, text.get_charbox(index)


def find_colour(get_colour, item):
    """Find the red, green and blue of a shape or text."""
    parts = [c_uint() for _ in range(4)]
    get_colour(item.raw, *parts)
    return tuple(part.value for part in parts[:3])


def find_bars(page):
    """Yield the bounds of each filled rectangle that is lower than 25 points."""
    for it in page.get_objects([FPDF_PAGEOBJ_PATH]):
        left, bottom, right, top = it.get_bounds()
        if any(find_colour(FPDFPageObj_GetFillColor, it)) and top - bottom < 25:
            yield left, bottom, right, top


def find_upright_lines(page):
    """Yield each vertical line's place, colour and number of dashes."""
    for it in page.get_objects([FPDF_PAGEOBJ_PATH]):
        left, bottom, right, top = it.get_bounds()
        if right - left < 4 < top - bottom and not any(find_colour(FPDFPageObj_GetFillColor, it)):
            colour = find_colour(FPDFPageObj_GetStrokeColor, it)
            yield (left + right) / 2, colour, FPDFPageObj_GetDashCount(it.raw)


def find_texts(page):
    """Yield each piece of text's box and colour."""
    for it in page.get_objects([FPDF_PAGEOBJ_TEXT]):
        yield it.get_bounds(), find_colour(FPDFPageObj_GetFillColor, it)


def read(pdf):
    return [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(pdf)]


# ------------------------------------------------ form


def test_it_has_six_wide_pages_and_is_accessible(reader):
    sizes = [page.mediabox for page in reader.pages]
    assert [round(float(it.width / it.height), 2) for it in sizes] == [1.78] * 6
    root = reader.trailer["/Root"]
    assert root["/Lang"] == "en" and root["/MarkInfo"]["/Marked"]
    assert b"pdfuaid:part" in root["/Metadata"].get_data()
    kinds = [element["/S"] for element in find_elements(root["/StructTreeRoot"])]
    assert kinds.count("/H1") == 6
    assert {"/Figure", "/Formula", "/P", "/Table", "/TH", "/TD"} <= {*kinds}


def test_pictures_and_formulas_have_alternative_texts(reader):
    elements = list(find_elements(reader.trailer["/Root"]["/StructTreeRoot"]))
    limits, tensor, pipeline, timeline, *ring = (
        it["/Alt"] for it in elements if it["/S"] == "/Figure"
    )
    assert "pipeline falls to 4.62" in limits and "tensor stays at 3.13" in limits
    assert "all-gather" in tensor and "stays on node 4" in pipeline
    assert "then one every 4.62 ms" in timeline
    assert len(ring) == 5 and all(ring)
    assert all(it["/Alt"] for it in elements if it["/S"] == "/Formula")


def test_fonts_are_embedded_and_few(reader):
    names = set()
    for page in reader.pages:
        for font in page["/Resources"]["/Font"].values():
            for descendant in font.get_object()["/DescendantFonts"]:
                described = descendant.get_object()["/FontDescriptor"].get_object()
                assert {"/FontFile2", "/FontFile3"} & {*described}
                names.add(described["/FontName"].split("+")[-1].split("-")[0])
    assert {name[:6] for name in names} == {"Libert", "NewCMM", "NewCM1"}


def test_digits_are_at_least_11_pixels_high(pages):
    for page in pages:
        scale = WIDTH_PX / page.get_width()
        heights = [(box[3] - box[1]) * scale for it, box in find_letters(page) if it.isdigit()]
        assert min(heights) >= 10.99


def test_no_letter_is_on_another_or_outside_the_margins(pages):
    for page in pages:
        letters, boxes = zip(*find_letters(page), strict=True)
        left, bottom, right, top = numpy.array(boxes).T
        assert left.min() > 33 and right.max() < page.get_width() - 33
        assert bottom.min() > 12 and top.max() < page.get_height() - 12
        is_foot = top < 38
        assert bottom[~is_foot].min() > 40 and "".join(letters).endswith("/6")
        shared = [
            numpy.minimum(ends[:, None], ends) - numpy.maximum(starts[:, None], starts)
            for starts, ends in ((left, right), (bottom, top))
        ]
        clashes = numpy.argwhere((shared[0] > 0.6) & (shared[1] > 0.6))
        # neighbours may lean on each other, and are one in a ligature
        found = [(letters[one], letters[other]) for one, other in clashes if other - one > 3]
        assert found == []


def test_bars_and_lines_are_where_their_numbers_say(pages):
    """On page 4 in ms, but for a sliver, which is made wider to be seen; on page 5 in bytes."""
    bars = list(find_bars(pages[3]))
    left, scale = bars[0][0], (bars[-1][2] - bars[-1][0]) / 155.7861376
    found = [((start - left) / scale, (end - left) / scale) for start, _, end, _ in bars]
    bound, slowest, drained = 97.06586112, 147.97504512, 155.4840576
    wanted = [(0, bound), (bound, 100.07232512), (0, 100.07232512), (bound, slowest)]
    wanted.insert(3, (0, bound))
    wanted += [(slowest, drained), (155.7861376 - 1.09, 155.7861376), (0, 155.7861376)]
    assert numpy.array(found) == pytest.approx(numpy.array(wanted), abs=0.02)
    lines = [at for at, _, dashes in find_upright_lines(pages[3]) if dashes]
    assert lines == pytest.approx([left + bound * scale] * len(bars), abs=0.02)

    parts = list(find_bars(pages[4]))
    lengths = [end - start for start, _, end, _ in parts][3:]  # behind the key
    bytes_held = [
        *(222_912, 230_400, 50_176, 6_912, 6_144, 230_400, 294_912, 230_400, 200_704),
        *(294_912, 200_704, 173_056, 294_912, 173_056, 147_456, 891_648, 230_400, 200_704),
    ]
    per_byte = sum(lengths) / sum(bytes_held)
    assert lengths == pytest.approx([it * per_byte for it in bytes_held], abs=0.01)
    sram = parts[3][0] + 524_288 * per_byte
    lines = [at for at, colour, _ in find_upright_lines(pages[4]) if is_red(*colour)]
    assert lines == pytest.approx([sram] * 6, abs=0.02)
    text = pages[4].get_textpage()
    at, length = text.search("SRAM: 524,288").get_next()
    middle = (text.get_charbox(at)[0] + text.get_charbox(at + length - 1)[2]) / 2
    assert middle == pytest.approx(sram, abs=2)
    # "too many": all but tensor parallelism and node 1
    assert sum(is_red(*colour) for _, colour in find_texts(pages[4])) == 4


def is_red(red, green, blue):
    return red > 4 * green + blue


def test_page_3_highlights_the_bottlenecks_layer(pages):
    page, scale = pages[2], 2
    picture = numpy.asarray(page.render(scale=scale).to_pil().convert("RGB"))
    text, tinted = page.get_textpage(), []
    for row in ("layer: ", "1: 128", "2: 128", "3: 128", "4: 128", "sum", "latency of 1"):
        _, bottom, _, top = text.get_charbox(text.search(row).get_next()[0])
        rows = slice(*(round((page.get_height() - height) * scale) for height in (top, bottom)))
        background = numpy.median(picture[rows, 40 * scale : -40 * scale], axis=(0, 1))
        tinted += [row] if (background < 255).any() else []
    assert tinted == ["2: 128"]


def test_the_readmes_picture_is_page_1(built):
    picture = numpy.asarray(Image.open(BytesIO(built["results.png"])).convert("RGB"), dtype=int)
    size = picture.shape[1::-1]
    differences = []
    for page in pypdfium2.PdfDocument(built["slides.pdf"]):
        other = page.render(scale=build.README_PIXELS_PER_INCH / 72).to_pil().convert("RGB")
        differences.append(abs(picture - numpy.asarray(other.resize(size), dtype=int)).mean())
    assert min(differences) == differences[0] < sorted(differences)[1] / 2


def test_a_strategys_colour_is_darker_than_the_others_and_both_can_be_read_on_white():
    def luminance(colour):
        parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
        linear = (it / 12.92 if it <= 0.04045 else ((it + 0.055) / 1.055) ** 2.4 for it in parts)
        red, green, blue = linear
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    shades = [luminance(it) for both in pictures.COLOURS.values() for it in both]
    tensor, pale_tensor, pipeline, pale_pipeline = shades
    assert 1.05 / (pipeline + 0.05) > 4.3  # contrast of text on white
    assert (pipeline + 0.05) / (tensor + 0.05) > 2
    assert (min(pale_tensor, pale_pipeline) + 0.05) / (pipeline + 0.05) > 2


def test_committed_files_are_what_is_built(built):
    committed = {name: (ROOT / "report" / name).read_bytes() for name in OUTPUTS}
    assert read(committed["slides.pdf"]) == read(built["slides.pdf"])
    assert committed["results.png"] == built["results.png"]


# ------------------------------------------------ whose it is


def test_author_and_uid_are_at_the_foot_of_each_page_and_nothing_else_differs(built, reader):
    pdf = build.build(NAME, "123 456 789")["slides.pdf"]
    assert (PdfReader(BytesIO(pdf)).metadata.author, reader.metadata.author) == (NAME, None)
    byline = f" · {NAME} · 123 456 789"
    for text, plain in zip(read(pdf), read(built["slides.pdf"]), strict=True):
        assert byline in text and text.replace(byline, "") == plain


@pytest.mark.parametrize(
    ("byline", "words"),
    [
        (("Ada \N{CJK UNIFIED IDEOGRAPH-65E5}",), r"--author: the deck's font has no '\\u65e5'"),
        (("Ada", "\N{CJK UNIFIED IDEOGRAPH-65E5}"), "--uid: the deck's font"),
        (("M" * 60, "M" * 20), "too long for one line"),
    ],
)
def test_a_byline_that_cannot_be_printed_is_refused(byline, words):
    with pytest.raises(ValueError, match=words):
        build.build(*byline)


# ------------------------------------------------ the command


@pytest.mark.parametrize(
    "other", [LAB._replace(inputs=31), LAB._replace(system=LAB.system._replace(sram_bytes=524_289))]
)
def test_other_numbers_than_the_handouts_are_refused(other, monkeypatch, tmp_path):
    monkeypatch.setattr(build, "LAB", other)
    assert "handout's numbers" in refusal(["deck", f"--output={tmp_path}"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("element_bytes: int = 2", "element_bytes: int = 4"),
        ("return 2 * self.macs", "return self.macs"),
        ("nodes - 1) * sum(shards[:-1])", "nodes + 1) * sum(shards[:-1])"),
        ("sram_bytes: int = 512 * 1024", "sram_bytes: int = 512 * 1000"),
        ("INPUTS = 32", "INPUTS = 16"),
    ],
)
def test_another_lab3_is_refused(tmp_path, old, new):
    """It is told before anything is typeset, also if the model was changed in the same way."""
    assert LAB3.count(old) == 1
    copy_project(tmp_path, LAB3.replace(old, new))
    result = python("report", "deck", "--output=.", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert "handout's numbers" in sentence(result.stderr)


def test_settings_of_matplotlib_change_nothing(tmp_path, built):
    (tmp_path / "matplotlibrc").write_text("font.size: 40\nbackend: nonsense\nno: sense\n")
    environment = PLAIN | {
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MPLCONFIGDIR": str(tmp_path),
    }
    command = (PROJECT / "report", "deck", f"--output={tmp_path}")
    result = python(*command, cwd=tmp_path, env=environment)
    assert (result.returncode, result.stderr) == (0, "")
    assert {name: (tmp_path / name).read_bytes() for name in OUTPUTS} == built


@pytest.mark.skipif(sys.getfilesystemencoding() != "utf-8", reason="there is no such folder")
def test_it_writes_both_files_into_any_folder(tmp_path, monkeypatch, built):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "caf\u00e9"
    folder.mkdir()
    told = output(["deck", f"--output={folder.name}"])
    assert told.splitlines() == [rf"wrote 'caf\xe9/{name}'" for name in OUTPUTS]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == built


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--author", "Eve"], "--output"),
        (["--output=missing"], "is not an existing folder"),
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
    monkeypatch.setattr(build, "build", lambda *_: pytest.fail("it is built"))
    assert named in refusal(["deck", *arguments])
    assert list(tmp_path.iterdir()) == []
