"""The `deck` command: slides.pdf, and its first page for the README, results.png."""

import json
import re
from argparse import ArgumentParser, Namespace
from fractions import Fraction
from pathlib import Path

import lab3
from lab3 import ConvLayer, System
from report import pictures
from report.deck.facts import compute_facts
from report.deck.verdict import draw_verdict
from report.question import LAB, Question
from report.results import compute_results
from report.text import format_path, quote

HERE = Path(__file__).resolve().parent
README_PIXELS_PER_INCH = 88
TIMELINE_S = Fraction(18, 1000)  # the pipeline has two outputs by then

# slides.typ's sentences are written for this machine and these answers, here in every field.
HANDOUT = Question(
    (
        ConvLayer(128, 3, 3, 3, 32, 32, 2),
        ConvLayer(128, 128, 3, 3, 30, 30, 2),
        ConvLayer(128, 128, 3, 3, 28, 28, 2),
        ConvLayer(128, 128, 3, 3, 26, 26, 2),
    ),
    System(4, 50 * 10**9, 2 * 10**9, 512 * 1024, "all-to-all"),
    32,
)
ANSWERS = ["0.00312726016", "1923072", "0.01243531264", "604160"]
ANSWERS += ["0.10007232512", "61538304", "0.1557861376", "19333120"]


def build(author: str = "", uid: str = "") -> dict[str, bytes]:
    """Build both files, by name. Raises ValueError if lab3's constants or answers are not those of
    the handout, and for an author or UID that cannot be typeset."""
    import typst

    answers = re.findall(r"is (\S+) (?:seconds|bytes)", lab3.answers(*HANDOUT))
    if LAB._replace(network=tuple(LAB.network)) != HANDOUT or answers != ANSWERS:
        raise ValueError(
            "the deck's sentences, such as 'No node can hold all weights', are written for the"
            " handout's numbers, but lab3.py has others"
        )
    results = compute_results(LAB)
    drawn = {
        "timeline": pictures.draw("timeline", LAB, ".svg", TIMELINE_S),
        "limits": pictures.draw("limits", LAB, ".svg"),
        "verdict": pictures.render(lambda: draw_verdict(results), ".svg"),
    }
    passed = {
        "facts": compute_facts(results),
        "pictures": {name: [it.file.decode(), *it[1:]] for name, it in drawn.items()},
        "looks": {
            "tensor": pictures.COLOURS["tensor"],
            "pipeline": pictures.COLOURS["pipeline"],
            "ink": pictures.INK,
            "note": pictures.NOTE,
            "face": pictures.FACES[0],
            "small": pictures.FONT_PT,
        },
        "byline": [author, uid],
    }
    compiler = typst.Compiler(
        HERE / "slides.typ",
        root=HERE,
        ignore_system_fonts=True,
        sys_inputs={name: json.dumps(value) for name, value in passed.items()},
    )
    try:
        # PDF/UA-1 demands a text for each picture and formula, and letters that the fonts have
        pdf = compiler.compile(format="pdf", pdf_standards=["ua-1"])
        pages = compiler.compile(format="png", ppi=README_PIXELS_PER_INCH)
    except typst.TypstError as error:
        lacking = re.search(r"text `\"(.+)\"` could not be displayed", str(error))
        if lacking:
            option = "--author" if lacking[1] in author else "--uid"
            raise ValueError(f"{option}: the deck's font has no {lacking[1]!a}") from error
        raise ValueError(f"the deck cannot be typeset: {error}") from error
    assert isinstance(pdf, bytes)
    assert isinstance(pages, list)
    return {"slides.pdf": pdf, "results.png": pages[0]}


# ------------------------------------------------ the command


def add_options(parser: ArgumentParser) -> None:
    """Add where the deck goes, and whose it is."""
    parser.add_argument(
        "--output",
        metavar="FOLDER",
        help="an existing folder (default: report, whose files are replaced)",
    )
    for name in ("author", "uid"):
        parser.add_argument(f"--{name}", help="at the foot of each page; needs --output")


def run(options: Namespace) -> int:
    """Write both files, and say where they are."""
    for name in ("output", "author", "uid"):
        value = getattr(options, name)
        if value is not None and not (value and value.isprintable()):
            raise ValueError(f"--{name}: {quote(value)} is not one line of printable text")
    if options.output is None and (options.author or options.uid):
        raise ValueError("--output: a deck with an author or UID needs --output FOLDER")
    folder = Path(options.output or HERE.parent)
    if not folder.is_dir():
        raise ValueError(f"--output: {quote(options.output)} is not an existing folder")
    for name, content in build(options.author or "", options.uid or "").items():
        (folder / name).write_bytes(content)
        print(f"wrote {format_path(folder / name)}")
    return 0
