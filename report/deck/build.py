"""The `deck` command: slides.pdf, and its first page for the README, results.png."""

import json
import re
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

import lab3
from lab3 import ConvLayer, System
from report import InputError, pictures
from report.files import write_files
from report.model import FORMULAS
from report.question import LAB, Question, describe_question
from report.results import list_numbers
from report.text import format_json, format_path, quote

HERE = Path(__file__).resolve().parent

# slides.typ's sentences are written for this question.
SIZES = ((3, 32), (128, 30), (128, 28), (128, 26))  # each layer's input channels, and its x and y
NETWORK = tuple(ConvLayer(128, channels, 3, 3, x, x, element_bytes=2) for channels, x in SIZES)
SYSTEM = System(nodes=4, ops_per_s=50 * 10**9, link_bytes_per_s=2 * 10**9, sram_bytes=512 * 1024)
HANDOUT = Question(NETWORK, SYSTEM, 32)


def build(author: str = "", uid: str = "") -> dict[str, bytes]:
    """Build both files, by name. Raises InputError if lab3.py's constants are not the handout's, a
    text does not fit or is not so, or the font lacks a letter of the author or UID."""
    import typst

    if difference := describe_question(HANDOUT):
        raise InputError(f"the deck is written for the handout's {difference}; lab3.py has others")
    compiler = typst.Compiler(
        HERE / "slides.typ",
        root=HERE,
        ignore_system_fonts=True,
        sys_inputs={"passed": json.dumps(collect() | {"byline": [author, uid]})},
    )
    try:
        # PDF/UA-1 requires alternative texts for pictures and formulas, and glyphs for all letters
        pdf = compiler.compile(format="pdf", pdf_standards=["ua-1"])
        pages = compiler.compile(format="png", ppi=88)
    except typst.TypstError as error:
        why = error.message.removeprefix("assertion failed: ")
        if lacking := re.search(r"text `\"(.+)\"` could not be displayed", why):
            option = "--author" if lacking[1] in author else "--uid"
            why = f"{option}: the deck's font has no {lacking[1]!a}"
        raise InputError(why) from error
    assert isinstance(pdf, bytes) and isinstance(pages, list)
    return {"slides.pdf": pdf, "results.png": pages[0]}


def collect() -> dict[str, Any]:
    """Collect the data for slides.typ: numbers, formulas, pictures, and the style of pictures."""
    drawn = {name: pictures.render(draw, LAB, ".svg") for name, draw in pictures.PICTURES.items()}
    return {
        "results": json.loads(format_json(list_numbers(LAB), lab3.format_decimal)),
        "formulas": {" ".join(names): text.splitlines() for names, text in FORMULAS.items()},
        "pictures": {name: {"svg": svg.decode(), "alt": alt} for name, (svg, alt) in drawn.items()},
        "chart-width": pictures.WIDTH_PT,
        "colours": pictures.COLOURS | {"ink": pictures.INK, "note": pictures.NOTE},
        "face": pictures.FACES[0],
        "small": pictures.FONT_PT,
    }


# ------------------------------------------------ the command
def add_options(parser: ArgumentParser) -> None:
    """Add the output folder, the author and the UID."""
    folder = "made if it does not exist (default: report, whose files are replaced)"
    parser.add_argument("--output", metavar="FOLDER", help=folder)
    for name in ("author", "uid"):
        parser.add_argument(f"--{name}", help="at the foot of each page; needs --output")


def run(options: Namespace) -> int:
    """Write both files, and print their paths."""
    for name in ("output", "author", "uid"):
        value = getattr(options, name)
        if value is not None and not (value and value.isprintable()):
            raise InputError(f"--{name}: {quote(value)} is not one line of printable text")
    if options.output is None and (options.author or options.uid):
        raise InputError("--output: a deck with an author or UID needs --output FOLDER")
    folder = Path(options.output or HERE.parent)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--output: {quote(options.output)} is not a folder")
    files = build(options.author or "", options.uid or "")
    folder.mkdir(parents=True, exist_ok=True)
    write_files({folder / name: content for name, content in files.items()})
    for name in files:
        print(f"wrote {format_path(folder / name)}")
    return 0
