"""The `deck` command: slides.pdf, and its first page for the README, results.png."""

import json
import os
import re
from argparse import ArgumentParser, Namespace
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import lab3
from lab3 import System
from report import pictures
from report.deck.facts import compute_facts
from report.deck.verdict import draw_verdict
from report.question import LAB
from report.results import Results, compute_results
from report.text import format_path, quote

HERE = Path(__file__).resolve().parent
PAGES, README_PIXELS_PER_INCH = 6, 88
TIMELINE_S = Fraction(18, 1000)  # the pipeline has two outputs by then

# slides.typ's sentences are written for these constants and answers.
HANDOUT = """\
ConvLayer(filters=128, in_channels=3, fx=3, fy=3, x=32, y=32, element_bytes=2)
ConvLayer(filters=128, in_channels=128, fx=3, fy=3, x=30, y=30, element_bytes=2)
ConvLayer(filters=128, in_channels=128, fx=3, fy=3, x=28, y=28, element_bytes=2)
ConvLayer(filters=128, in_channels=128, fx=3, fy=3, x=26, y=26, element_bytes=2)
System(nodes=4, ops_per_s=50000000000, link_bytes_per_s=2000000000, sram_bytes=524288)
-----Q1 single input-----
Total latency of tensor parallelism is 0.00312726016 seconds
Total network traffic of tensor parallelism is 1923072 bytes
Total latency of pipeline parallelism is 0.01243531264 seconds
Total network traffic of pipeline parallelism is 604160 bytes
--------Q2 32 inputs------
Total latency of tensor parallelism is 0.10007232512 seconds
Total network traffic of tensor parallelism is 61538304 bytes
Total latency of pipeline parallelism is 0.1557861376 seconds
Total network traffic of pipeline parallelism is 19333120 bytes
"""


def build(author: str = "", uid: str = "") -> dict[str, bytes]:
    """Build both files, by name. Raises ValueError if lab3's constants or answers are not those of
    the handout, if something does not fit on its page, and for an author or UID that does not."""
    import typst

    results = compute_results(LAB)
    check_handout()
    compiler = typst.Compiler(
        HERE / "slides.typ",
        root=HERE,
        ignore_system_fonts=True,
        sys_inputs=pass_on(results, [author, uid]),
    )
    try:
        # PDF/UA-1 demands a text for each picture and formula, and letters that the fonts have
        pdf = compiler.compile(format="pdf", pdf_standards=["ua-1"])
        pages = compiler.compile(format="png", ppi=README_PIXELS_PER_INCH)
    except typst.TypstError as error:
        lacking = re.search(r"text `\"(.+)\"` could not be displayed", error.message)
        if lacking:
            option = "--author" if lacking[1] in author else "--uid"
            raise ValueError(f"{option}: the deck's font has no {lacking[1]!a}") from error
        raise ValueError(error.message.removeprefix("assertion failed: ")) from error
    assert isinstance(pdf, bytes)
    assert isinstance(pages, list)
    if len(pages) != PAGES:
        raise ValueError(f"the deck has {len(pages)} pages, not {PAGES}: one has too many lines")
    return {"slides.pdf": pdf, "results.png": pages[0]}


def check_handout() -> None:
    """Raise ValueError for the first constant or answer that is not the handout's."""
    answers = lab3.answers(*LAB).splitlines()
    constants = [*map(str, LAB.network), str(System(*map(int, LAB.system)))]
    pairs = zip_longest([*constants, *answers], HANDOUT.splitlines(), fillvalue="nothing")
    for own, wanted in pairs:
        if own != wanted:
            raise ValueError(
                f"the deck's sentences are written for the handout's machine and '{wanted}', but"
                f" lab3.py has '{own}'"
            )


def pass_on(results: Results, byline: list[str]) -> dict[str, str]:
    """Pass on to slides.typ, by name and as JSON, all that it takes from elsewhere."""
    drawn = {
        "timeline": pictures.draw("timeline", LAB, ".svg", TIMELINE_S),
        "limits": pictures.draw("limits", LAB, ".svg"),
        "verdict": pictures.render(lambda: draw_verdict(results), ".svg"),
    }
    looks: dict[str, Any] = {**pictures.COLOURS, "ink": pictures.INK, "note": pictures.NOTE}
    passed = {
        "facts": compute_facts(results),
        "pictures": {name: [it.file.decode(), *it[1:]] for name, it in drawn.items()},
        "looks": looks | {"face": pictures.FACES[0], "small": pictures.FONT_PT},
        "byline": byline,
    }
    return {name: json.dumps(value) for name, value in passed.items()}


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
    files = build(options.author or "", options.uid or "")
    with TemporaryDirectory(prefix=".deck-", dir=folder) as beside:  # a failure loses nothing
        for name, content in files.items():
            Path(beside, name).write_bytes(content)
        for name in files:
            os.replace(Path(beside, name), folder / name)
            print(f"wrote {format_path(folder / name)}")
    return 0
