"""The deck as its readers have it, and the command that builds it."""

import sys
from functools import cache

import pytest

from program import LAB3, PLAIN, PROJECT, call, copy_project, python, refusal, sentence
from report.deck import build

pypdfium2 = pytest.importorskip("pypdfium2")
pytestmark = pytest.mark.usefixtures("built")  # skips them if a package is missing

OUTPUTS = ("slides.pdf", "results.png")
COLLECT = cache(build.collect)  # the same for all sources
NAME = "Zoë O'Neil #[x] $y$ Ωж"


def read(pdf):
    return [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(pdf)]


def render(pdf):
    return [page.render(scale=0.5).to_pil().tobytes() for page in pypdfium2.PdfDocument(pdf)]


# ------------------------------------------------ form
def test_it_has_six_wide_pages_and_is_accessible(built, pages, reader, elements):
    assert [round(page.get_width() / page.get_height(), 2) for page in pages] == [1.78] * 6
    assert int.from_bytes(built["results.png"][16:20], "big") == 1029  # 841.89 / 72 * 88 pixels
    root, kinds = reader.trailer["/Root"], [element["/S"] for element in elements]
    assert root["/Lang"] == "en" and root["/MarkInfo"]["/Marked"]
    assert b"pdfuaid:part" in root["/Metadata"].get_data()
    assert kinds.count("/H1") == 6 and {"/Figure", "/Formula", "/P", "/Table"} <= {*kinds}
    # heads: two lines on pages 1, 3 and 6, one on 2 and 5
    firsts = [row["/K"][0].get_object() for row in elements if row["/S"] == "/TR"]
    scopes = [cell["/A"][0]["/Scope"] for cell in firsts if cell["/S"] == "/TH"]
    assert scopes == ["/Column"] * 8


def test_committed_files_are_what_is_built(built):
    committed = {name: (PROJECT / "report" / name).read_bytes() for name in OUTPUTS}
    assert render(committed["slides.pdf"]) == render(built["slides.pdf"])
    assert committed["results.png"] == built["results.png"]


# ------------------------------------------------ what is refused
@pytest.mark.parametrize(
    ("byline", "words"),
    [
        (("Ada \N{CJK UNIFIED IDEOGRAPH-65E5}",), r"--author: the deck's font has no '\\u65e5'"),
        (("Ada", "\N{CJK UNIFIED IDEOGRAPH-65E5}"), "--uid: the deck's font"),
        (("o" * 67 + "m",), "^the line of --author and --uid on page 1 is 1 pt too wide$"),
    ],
)
def test_a_byline_that_cannot_be_printed_is_refused(byline, words):
    with pytest.raises(build.InputError, match=words):
        build.build(*byline)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("*The pipeline does not fit,*", "A \\\n" * 8, r"the text on page 5 is \d+ pt too high$"),
        ("output 4 is gathered.", "Inputs " * 90, r"the text beside .* page 1 is \d+ pt too high$"),
        ("[*Peak bytes, 1 input*]", f"[{'M' * 50}]", r"a table on page 5 is \d+ pt too wide$"),
        ("[Split every layer", f"[{'M' * 50}", r"the title on page 2 is \d+ pt too wide$"),
        ('where: "node 2"', 'where: "node 5"', r'sram has 0 rows of \(where: "node 5"\)$'),
        ('k == "node 2"', 'k == "node 1"', 'the deck says "node 2", which is not so: change'),
        ("sent + (out", "sent + 1 + (out", 'the deck says "traffic = N [*] .sum.all_gathers'),
        ("A-1 == calc.max(", "A-1 > calc.max(", 'the deck says "node 1.s send is the longest'),
        ("== gather)", "== 0)", 'the deck says "Only the gather\u2019s traffic doubles", which'),
        ("== p1.latency_s)", "== 0)", 'the deck says "is unaffected", which is not so'),
    ],
)
def test_what_does_not_fit_or_is_not_so_is_refused(tmp_path, monkeypatch, old, new, why):
    texts = {path.name: path.read_text(encoding="utf-8") for path in build.HERE.glob("*.typ")}
    assert "".join(texts.values()).count(old) == 1
    for name, text in texts.items():
        (tmp_path / name).write_text(text.replace(old, new), encoding="utf-8")
    monkeypatch.setattr(build, "HERE", tmp_path)
    monkeypatch.setattr(build, "collect", COLLECT)
    with pytest.raises(ValueError, match=f"^{why}"):
        build.build()


@pytest.mark.parametrize(
    ("edits", "why"),
    [
        ({"element_bytes: int = 2": "element_bytes: int = 4"}, "2 bytes; lab3.py has others"),
        ({"sram_bytes: int = ": "sram_bytes: int = 1 + "}, "the handout's 512 KiB of SRAM"),
        ({"nodes: int = 4": "nodes: int = 0"}, "nodes"),
        ({"NETWORK = (": "NETWORK = [", "\n)\nSYSTEM": "\n]\nSYSTEM", "= 32": "= 31"}, "32 inputs"),
        ({"return 2 * self.macs": "return self.macs"}, "but its docstring"),
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
def test_author_and_uid_are_at_the_foot_of_each_page_and_nothing_else_differs(built, tmp_path):
    assert call(["deck", "--author", NAME, "--uid", "123 456 789", f"--output={tmp_path}"])[0] == 0
    pdf = (tmp_path / "slides.pdf").read_bytes()
    for file, author in ((pdf, NAME), (built["slides.pdf"], "")):
        assert pypdfium2.PdfDocument(file).get_metadata_value("Author") == author
    byline = f" · {NAME} · 123 456 789"
    for text, plain in zip(read(pdf), read(built["slides.pdf"]), strict=True):
        assert byline in text and text.replace(byline, "") == plain


@pytest.mark.skipif(sys.getfilesystemencoding() != "utf-8", reason="there is no such folder")
def test_it_writes_both_files_into_any_folder_whatever_matplotlibs_settings(tmp_path, built):
    folder = tmp_path / "new" / "caf\u00e9"
    (tmp_path / "matplotlibrc").write_text("font.size: 40\nbackend: nonsense\nno: sense\n")
    backend = "module://matplotlib_inline.backend_inline"
    environment = PLAIN | {"MPLBACKEND": backend, "MPLCONFIGDIR": str(tmp_path)}
    command = (PROJECT / "report", "deck", "--output=new/caf\u00e9")
    result = python(*command, cwd=tmp_path, env=environment)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [f"wrote new/caf\u00e9/{name}" for name in OUTPUTS]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == built


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--author", "Eve"], "--output"),
        (["--uid", "1"], "--output"),
        ([f"--output={__file__}"], "is not a folder"),
        (["--author=", "--output=."], "--author"),
        (["--uid", "1\n2", "--output=."], r"--uid: '1\n2'"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(tmp_path, monkeypatch, arguments, named):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(build, "build", lambda *_: pytest.fail("it is built"))
    assert named in refusal(["deck", *arguments])
    assert list(tmp_path.iterdir()) == []
