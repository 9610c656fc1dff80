"""Build the deck, slides.pdf, and a picture of its first page for the README, results.png."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace
from fractions import Fraction
from pathlib import Path

from lab3 import ConvLayer, System
from report.analysis import Analysis
from report.deck.facts import facts
from report.question import LAB, Question
from report.terminal import path_text, shown

HERE = Path(__file__).resolve().parent
README_PIXELS_PER_INCH = 80
BYLINE = ("author", "uid", "date")
FACES, SMALL_PT = ("Libertinus Serif", "STIXGeneral"), 15  # Typst brings the first
LETTER = 0.45  # of its size, how wide a letter is
TIMELINE_S = Fraction(18, 1000)  # the pipeline has two outputs by then

# Each word of slides.typ is true of these numbers; tests/deck/test_pages.py says why.
WRITTEN_FOR = Question(
    (
        ConvLayer(128, 3, 3, 3, 32, 32),
        ConvLayer(128, 128, 3, 3, 30, 30),
        ConvLayer(128, 128, 3, 3, 28, 28),
        ConvLayer(128, 128, 3, 3, 26, 26),
    ),
    System(4, 50 * 10**9, 2 * 10**9, 512 * 1024, "all-to-all"),
    32,
)


def build(byline: dict[str, str]) -> dict[str, bytes]:
    """Both files by name. Raises ValueError where lab3's constants are not the handout's, and for
    what cannot be typeset."""
    import typst

    if LAB != WRITTEN_FOR:
        raise ValueError("the deck's words hold for the handout's numbers, and lab3.py has others")
    analysis = Analysis(LAB)
    compiler = typst.Compiler(
        HERE / "slides.typ",
        root=HERE,
        ignore_system_fonts=True,
        sys_inputs={
            **byline,
            "face": FACES[0],
            "small": f"{SMALL_PT}",
            "facts": json.dumps(facts(analysis)),
            **drawn(analysis),
        },
    )
    try:
        # PDF/UA-1 demands a text for each picture and formula, and letters that the fonts have
        pdf = compiler.compile(format="pdf", pdf_standards=["ua-1"])
        pages = compiler.compile(format="png", ppi=README_PIXELS_PER_INCH)
    except typst.TypstError as error:
        raise ValueError(f"the deck cannot be typeset: {error}") from error
    assert isinstance(pdf, bytes)
    assert isinstance(pages, list)
    return {"slides.pdf": pdf, "results.png": pages[0]}


def drawn(analysis: Analysis) -> dict[str, str]:
    """The looks and pictures for slides.typ, as JSON; a picture is SVG, its size and alternative
    text."""
    from report import pictures
    from report.deck.diagram import flow, ring

    def style(width_pt: float, height_pt: float) -> pictures.Style:
        return pictures.Style(width_pt, height_pt, SMALL_PT, FACES, LETTER)

    layers, nodes = len(analysis.network), analysis.system.nodes
    found = {
        **{name: flow(name, layers, nodes, style(350, 96)) for name in ("tensor", "pipeline")},
        "timeline": pictures.timeline(analysis, style(770, 142), until_s=TIMELINE_S),
        "limits": pictures.limits(analysis, style(770, 90)),
        "sram": pictures.sram(analysis, style(770, 190)),
        "ring": ring(nodes, style(190, 130)),
    }
    svgs = {
        name: [pictures.image(it, ".svg").decode(), *it.figure.get_size_inches() * 72, it.alt]
        for name, it in found.items()
    }
    return {"pictures": json.dumps(svgs), "colours": json.dumps(pictures.COLOURS)}


def write(folder: Path, contents: dict[str, bytes]) -> None:
    """Write all files beside their places, and then put them there, so that an interruption leaves
    each old file or each new one whole."""
    beside = {folder / name: folder / f".{name}.new" for name in contents}
    try:
        for new, content in zip(beside.values(), contents.values(), strict=True):
            new.write_bytes(content)
        for path, new in beside.items():
            os.replace(new, path)
    except OSError as error:  # names a file that nobody knows
        raise OSError(error.errno, error.strerror, str(folder)) from error
    finally:
        for new in beside.values():
            new.unlink(missing_ok=True)


# ------------------------------------------------ the command: deck


def add_options(parser: ArgumentParser) -> None:
    """Where the deck goes, and whose it is."""
    parser.add_argument(
        "--output",
        metavar="FOLDER",
        help="an existing folder (default: report, whose files are replaced)",
    )
    for name in BYLINE:
        parser.add_argument(f"--{name}", help="at the foot of each page; needs --output")


def run(options: Namespace) -> str:
    """Build, and say what was written."""
    given = {name: getattr(options, name) for name in ("output", *BYLINE)}
    for name, value in given.items():
        if value is not None and not (value and value.isprintable()):
            raise ValueError(f"--{name}: {shown(value)} is not one line of printable text")
    if options.output is None and any(given.values()):
        raise ValueError("a deck with an author, UID or date needs --output FOLDER")
    folder = Path(options.output or HERE.parent)
    if not os.path.isdir(folder):  # False for a name that is too long, which Path.is_dir() raises
        raise ValueError(f"--output: {shown(options.output)} is not an existing folder")
    contents = build({name: given[name] or "" for name in BYLINE})
    write(folder, contents)
    return "\n".join(f"wrote {path_text(folder / name)}" for name in contents)
