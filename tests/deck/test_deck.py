"""The deck as its readers have it, and the command that builds it."""

import sys
from errno import ENOSPC

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("pypdf")
pytest.importorskip("pypdfium2")
pytest.importorskip("typst")

import numpy
import pypdfium2
from pypdfium2 import raw

from program import LAB3, PLAIN, PROJECT, call, copy_project, python, refusal, sentence
from report.deck import build

OUTPUTS = ("slides.pdf", "results.png")
NAME = "Zoë O'Neil #[x] $y$ Ωж"


def find_letters(page):
    """List each letter and the box of its ink in points: left, bottom, right, top."""
    text = page.get_textpage()
    letters = [chr(raw.FPDFText_GetUnicode(text.raw, at)) for at in range(text.count_chars())]
    return [(it, text.get_charbox(at)) for at, it in enumerate(letters) if not it.isspace()]


def find_shapes(page, height):
    """List the left, bottom, right and top of each shape that is so many points high."""
    bounds = [it.get_bounds() for it in page.get_objects([raw.FPDF_PAGEOBJ_PATH])]
    return [it for it in bounds if it[3] - it[1] == pytest.approx(height, abs=0.2)]


def read(pdf):
    return [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(pdf)]


# ------------------------------------------------ form
def test_it_has_six_wide_pages_and_is_accessible(pages, reader, elements):
    assert [round(page.get_width() / page.get_height(), 2) for page in pages] == [1.78] * 6
    root, kinds = reader.trailer["/Root"], [element["/S"] for element in elements]
    assert root["/Lang"] == "en" and root["/MarkInfo"]["/Marked"]
    assert b"pdfuaid:part" in root["/Metadata"].get_data()
    assert kinds.count("/H1") == 6 and {"/Figure", "/Formula", "/P", "/Table"} <= {*kinds}
    # heads: two lines on pages 1, 3 and 6, one on 5
    firsts = [row["/K"][0].get_object() for row in elements if row["/S"] == "/TR"]
    scopes = [cell["/A"][0]["/Scope"] for cell in firsts if cell["/S"] == "/TH"]
    assert scopes == ["/Column"] * 7


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
        shared = [
            numpy.minimum(ends[:, None], ends) - numpy.maximum(starts[:, None], starts)
            for starts, ends in ((left, right), (bottom, top))
        ]
        clashes = numpy.argwhere((shared[0] > 0.6) & (shared[1] > 0.6))
        # neighbours may lean on each other, and are one in a ligature
        found = [(letters[one], letters[other]) for one, other in clashes if other - one > 3]
        assert found == []


def test_bars_of_page_4_are_where_their_milliseconds_say(pages):
    bound, tensor, slowest, drained = 97.06586112, 100.07232512, 147.97504512, 155.4840576
    end = 155.7861376
    starts = [0, bound, 0, 0, bound, slowest, drained, 0]
    ends = [bound, tensor, tensor, bound, slowest, drained, end, end]
    bars = numpy.array(find_shapes(pages[3], 10.6))[:, [0, 2]]
    found = (bars - bars[-1, 0]) * end / (bars[-1, 1] - bars[-1, 0])
    assert found == pytest.approx(numpy.array([starts, ends]).T, abs=0.02)


def test_bars_of_page_5_and_the_srams_line_are_where_their_bytes_say(pages):
    bytes_held = [
        *(222_912, 230_400, 50_176, 6_912, 6_144, 230_400, 294_912, 230_400, 200_704),
        *(294_912, 200_704, 173_056, 294_912, 173_056, 147_456, 891_648, 230_400, 200_704),
    ]
    bars = find_shapes(pages[4], 20)
    lengths = [right - left for left, _, right, _ in bars]
    per_byte = sum(lengths) / sum(bytes_held)
    assert lengths == pytest.approx([it * per_byte for it in bytes_held], abs=0.01)
    lines = [(left + right) / 2 for left, _, right, _ in find_shapes(pages[4], 34)]
    assert lines == pytest.approx([bars[0][0] + 524_288 * per_byte] * 6, abs=0.02)


def test_arrows_have_their_heads(pages):
    """Into each exchange and out of it, and sends; two on each of 6 lines, and three times four."""
    for page, heads in ((pages[1], 4 * 4 + 3 * 4 + 1 + 3), (pages[5], 2 * 6 + 3 * 4 + 3)):
        bounds = [it.get_bounds() for it in page.get_objects([raw.FPDF_PAGEOBJ_PATH])]
        sizes = [(right - left, top - bottom) for left, bottom, right, top in bounds]
        assert sum(min(size) > 5 and max(size) < 9 for size in sizes) == heads


def test_a_number_is_in_the_middle_of_its_bar(pages):
    letters, numbers = find_letters(pages[2]), 0
    for left, bottom, right, top in find_shapes(pages[2], 0.76 * 17):
        for _, box in letters:
            if abs(box[0] + box[2] - left - right) < 2 and bottom < box[1] < top:
                assert (box[1] + box[3]) / 2 == pytest.approx((bottom + top) / 2, abs=0.7)
                numbers += 1
    assert numbers == 6 + 4 + 3 + 2  # of all nodes, and of node 2's, 3's and 4's inputs


def test_committed_files_are_what_is_built():
    built = build.build()
    committed = {name: (PROJECT / "report" / name).read_bytes() for name in OUTPUTS}
    assert read(committed["slides.pdf"]) == read(built["slides.pdf"])
    assert committed["results.png"] == built["results.png"]


# ------------------------------------------------ what is refused
@pytest.mark.parametrize(
    ("byline", "words"),
    [
        (("Ada \N{CJK UNIFIED IDEOGRAPH-65E5}",), r"--author: the deck's font has no '\\u65e5'"),
        (("Ada", "\N{CJK UNIFIED IDEOGRAPH-65E5}"), "--uid: the deck's font"),
        (("Ada \N{CJK UNIFIED IDEOGRAPH-65E5}",) * 2, "--author: the deck's font"),
        (("M" * 60, "M" * 20), "the line of --author and --uid on page 1 is larger than its place"),
    ],
)
def test_a_byline_that_cannot_be_printed_is_refused(byline, words):
    with pytest.raises(ValueError, match=words):
        build.build(*byline)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("#point[Results must leave:]", "A line \\\n" * 5, "the deck has 7 pages, not 6"),
        ("Inputs overlap,", "Inputs " * 30, "the text beside a chart on page 1"),
        ("[*Bytes, fullest layer*]", f"[{'M' * 50}]", "a table on page 5"),
        ("[each sends its own]", f"[{'M' * 20}]", "a label of the deck on page 6"),
        ("[gather]", f"[{'gather ' * 9}]", "a label of the deck on page 2"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, monkeypatch, old, new, why):
    texts = {path.name: path.read_text(encoding="utf-8") for path in build.HERE.glob("*.typ")}
    assert "".join(texts.values()).count(old) == 1
    for name, text in texts.items():
        (tmp_path / name).write_text(text.replace(old, new), encoding="utf-8")
    monkeypatch.setattr(build, "HERE", tmp_path)
    with pytest.raises(ValueError, match=why):
        build.build()


@pytest.mark.parametrize(
    ("edits", "why"),
    [
        ({"element_bytes: int = 2": "element_bytes: int = 4"}, "2 bytes; lab3.py has others"),
        ({"sram_bytes: int = 512": "sram_bytes: int = 511"}, "the handout's 512 KiB of SRAM"),
        ({"INPUTS = 32": "INPUTS = 31"}, "the handout's 32 inputs"),
        ({"nodes: int = 4": "nodes: int = 0"}, "nodes"),
        ({"NETWORK = (": "NETWORK = [", "\n)\nSYSTEM": "\n]\nSYSTEM", "= 32": "= 31"}, "32 inputs"),
        ({"return 2 * self.macs": "return self.macs"}, "report/model.py, too"),
    ],
)
def test_another_lab3_is_refused(tmp_path, edits, why):
    text = LAB3
    for old, new in edits.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    copy_project(tmp_path, text)
    result = python("report", "deck", "--output=.", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert not (tmp_path / "slides.pdf").exists()
    assert why in sentence(result.stderr)


# ------------------------------------------------ the command
def test_author_and_uid_are_at_the_foot_of_each_page_and_nothing_else_differs(built):
    pdf = build.build(NAME, "123 456 789")["slides.pdf"]
    for file, author in ((pdf, NAME), (built["slides.pdf"], "")):
        assert pypdfium2.PdfDocument(file).get_metadata_value("Author") == author
    byline = f" · {NAME} · 123 456 789"
    for text, plain in zip(read(pdf), read(built["slides.pdf"]), strict=True):
        assert byline in text and text.replace(byline, "") == plain


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
    assert result.stdout.splitlines() == [f"wrote caf\u00e9/{name}" for name in OUTPUTS]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == built


def test_a_failure_loses_nothing(tmp_path, monkeypatch, built):
    def fill_disk(path, content):
        if path.name == "results.png":
            raise OSError(ENOSPC, "No space left on device")
        path.write_text("new")

    (tmp_path / "slides.pdf").write_bytes(b"old")
    monkeypatch.setattr(build, "build", lambda *_: built)
    monkeypatch.setattr(build.Path, "write_bytes", fill_disk)
    status, out, err = call(["deck", f"--output={tmp_path}"])
    assert (status, out) == (1, "") and "No space left on device" in err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"slides.pdf": b"old"}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--author", "Eve"], "--output"),
        (["--uid", "1"], "--output"),
        (["--output=missing"], "is not an existing folder"),
        ([f"--output={__file__}"], "is not an existing folder"),
        (["--author=", "--output=."], "--author"),
        (["--uid", "1\n2", "--output=."], "--uid"),
        (["--author", "\u202eevil", "--output=."], "--author"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(tmp_path, monkeypatch, arguments, named):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(build, "build", lambda *_: pytest.fail("it is built"))
    assert named in refusal(["deck", *arguments])
    assert list(tmp_path.iterdir()) == []
