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
from PIL import Image, ImageChops, ImageStat
from pypdf import PdfReader
from pypdfium2 import raw

from program import LAB3, PLAIN, PROJECT, copy_project, python, refusal, sentence
from report import pictures
from report.deck import build

OUTPUTS = ("slides.pdf", "results.png")
NAME = "Zoë O'Neil #[x] $y$ Ωж"


def find_letters(page):
    """Yield each letter and the box of its ink in points: left, bottom, right, top."""
    text = page.get_textpage()
    for index in range(text.count_chars()):
        letter = chr(raw.FPDFText_GetUnicode(text.raw, index))
        if not letter.isspace():
            yield letter, text.get_charbox(index)


def find_colour(get_colour, item):
    """Find the red, green and blue of a shape or text."""
    parts = [c_uint() for _ in range(4)]
    get_colour(item.raw, *parts)
    return tuple(part.value for part in parts[:3])


def find_shapes(page):
    """Yield the bounds, fill, line's colour and number of dashes of each shape."""
    for it in page.get_objects([raw.FPDF_PAGEOBJ_PATH]):
        fill = find_colour(raw.FPDFPageObj_GetFillColor, it)
        line = find_colour(raw.FPDFPageObj_GetStrokeColor, it)
        yield it.get_bounds(), fill, line, raw.FPDFPageObj_GetDashCount(it.raw)


def find_bars(page):
    """Find the left and right ends of each filled rectangle that is lower than 25 points."""
    for (left, bottom, right, top), fill, *_ in find_shapes(page):
        if any(fill) and top - bottom < 25:
            yield left, right


def find_upright_lines(page):
    """Find each vertical line's place, colour and number of dashes."""
    for (left, bottom, right, top), fill, colour, dashes in find_shapes(page):
        if right - left < 4 < top - bottom and not any(fill):
            yield (left + right) / 2, colour, dashes


def read(pdf):
    return [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(pdf)]


# ------------------------------------------------ form


def test_it_has_six_wide_pages_and_is_accessible(reader, elements):
    sizes = [page.mediabox for page in reader.pages]
    assert [round(float(it.width / it.height), 2) for it in sizes] == [1.78] * 6
    root, kinds = reader.trailer["/Root"], [element["/S"] for element in elements]
    assert root["/Lang"] == "en" and root["/MarkInfo"]["/Marked"]
    assert b"pdfuaid:part" in root["/Metadata"].get_data()
    assert kinds.count("/H1") == 6
    assert {"/Figure", "/Formula", "/P", "/Table", "/TH", "/TD"} <= {*kinds}


def test_digits_are_at_least_11_pixels_high(pages):
    for page in pages:
        scale = 1024 / page.get_width()  # of a page on a screen
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


def test_bars_and_lines_of_page_4_are_where_their_milliseconds_say(pages):
    bars, bound, slowest, drained = [*find_bars(pages[3])], 97.06586112, 147.97504512, 155.4840576
    left, scale = bars[0][0], (bars[-1][1] - bars[-1][0]) / 155.7861376
    wanted = [
        (0, bound),
        (bound, 100.07232512),
        (0, 100.07232512),
        (0, bound),
        (bound, slowest),
        (slowest, drained),
        (155.7861376 - 1.09, 155.7861376),  # a sliver, wider to be seen
        (0, 155.7861376),
    ]
    found = [((start - left) / scale, (end - left) / scale) for start, end in bars]
    assert numpy.array(found) == pytest.approx(numpy.array(wanted), abs=0.02)
    lines = [at for at, _, dashes in find_upright_lines(pages[3]) if dashes]
    assert lines == pytest.approx([left + bound * scale] * len(bars), abs=0.02)


def test_bars_and_lines_of_page_5_are_where_their_bytes_say(pages):
    parts = list(find_bars(pages[4]))[3:]  # behind the key
    bytes_held = [
        *(222_912, 230_400, 50_176, 6_912, 6_144, 230_400, 294_912, 230_400, 200_704),
        *(294_912, 200_704, 173_056, 294_912, 173_056, 147_456, 891_648, 230_400, 200_704),
    ]
    lengths = [end - start for start, end in parts]
    per_byte = sum(lengths) / sum(bytes_held)
    assert lengths == pytest.approx([it * per_byte for it in bytes_held], abs=0.01)
    sram = parts[0][0] + 524_288 * per_byte
    lines = [at for at, colour, _ in find_upright_lines(pages[4]) if is_red(*colour)]
    assert lines == pytest.approx([sram] * 6, abs=0.02)
    text = pages[4].get_textpage()
    at, length = text.search("SRAM: 524,288").get_next()
    middle = (text.get_charbox(at)[0] + text.get_charbox(at + length - 1)[2]) / 2
    assert middle == pytest.approx(sram, abs=2)
    # "too many": all but tensor parallelism and node 1
    texts = pages[4].get_objects([raw.FPDF_PAGEOBJ_TEXT])
    assert sum(is_red(*find_colour(raw.FPDFPageObj_GetFillColor, it)) for it in texts) == 4


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


def test_colours_differ_in_grey_and_can_be_read_on_white():
    def luminance(colour):
        red, green, blue = ((part / 255) ** 2.2 for part in bytes.fromhex(colour[1:]))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05

    (tensor, *pale_tensor), (pipeline, *pale_pipeline) = (
        [luminance(it) for it in both] for both in pictures.COLOURS.values()
    )
    assert 1.05 / pipeline > 4.3  # contrast of text on white
    assert pipeline / tensor > 2 and min(pale_tensor + pale_pipeline) / pipeline > 2


def test_the_readmes_picture_is_page_1(built, pages):
    picture = Image.open(BytesIO(built["results.png"])).convert("L")
    rendered = [page.render().to_pil().convert("L").resize(picture.size) for page in pages]
    differences = [ImageStat.Stat(ImageChops.difference(picture, it)).mean for it in rendered]
    assert min(differences) == differences[0] < sorted(differences)[1]


def test_committed_files_are_what_is_built(built):
    committed = {name: (PROJECT / "report" / name).read_bytes() for name in OUTPUTS}
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
    ("old", "new"),
    [
        ("element_bytes: int = 2", "element_bytes: int = 4"),
        ("return 2 * self.macs", "return self.macs"),
        ("nodes - 1) * sum(shards[:-1])", "nodes + 1) * sum(shards[:-1])"),
        ("sram_bytes: int = 512 * 1024", "sram_bytes: int = 512 * 1024 + 1"),
        ("INPUTS = 32", "INPUTS = 31"),
    ],
)
def test_another_lab3_is_refused(tmp_path, old, new):
    """It is told before anything is typeset, also if the model was changed in the same way."""
    assert LAB3.count(old) == 1
    copy_project(tmp_path, LAB3.replace(old, new))
    result = python("report", "deck", "--output=.", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert not (tmp_path / "slides.pdf").exists()
    assert "handout's numbers" in sentence(result.stderr)


@pytest.mark.skipif(sys.getfilesystemencoding() != "utf-8", reason="there is no such folder")
def test_it_writes_both_files_into_any_folder_whatever_matplotlibs_settings(tmp_path, built):
    folder = tmp_path / "caf\u00e9"
    folder.mkdir()
    (tmp_path / "matplotlibrc").write_text("font.size: 40\nbackend: nonsense\nno: sense\n")
    backend = "module://matplotlib_inline.backend_inline"
    environment = PLAIN | {"MPLBACKEND": backend, "MPLCONFIGDIR": str(tmp_path)}
    command = (PROJECT / "report", "deck", f"--output={folder.name}")
    result = python(*command, cwd=tmp_path, env=environment)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [rf"wrote 'caf\xe9/{name}'" for name in OUTPUTS]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == built


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--author", "Eve"], "--output"),
        (["--uid", "1"], "--output"),
        (["--output=missing"], "is not an existing folder"),
        ([f"--output={__file__}"], "is not an existing folder"),
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
