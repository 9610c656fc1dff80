#!/usr/bin/env python3
"""Build the deck, slides.pdf, and a picture of its first page for the README, results.png.

Every number is computed at that moment, and every claim that the words make is checked first.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import whatif  # first, since it finds lab3

# isort: split
import argparse
import json
import os
from collections.abc import Iterator, Sequence
from fractions import Fraction
from io import BytesIO
from typing import Any

try:
    import typst
    from pypdf import PdfReader, PdfWriter
    from pypdf.generic import DictionaryObject, NameObject, TextStringObject
except ImportError as error:
    sys.exit(f"the deck needs python3 -m pip install -r report/requirements.txt: {error}")

import drawings
import facts
import lab3
from tables import json_text

HERE = Path(__file__).resolve().parent
PAGES = 6
DIGITS = 20  # of a ratio that does not end; all other numbers are exact
README_PIXELS_PER_INCH = 80
BYLINE = ("author", "uid", "date")


def build(byline: dict[str, str]) -> dict[str, bytes]:
    """The deck of lab3's network, machine and inputs, and a picture of its first page, by name.

    Raises ValueError that lists all that the words claim and does not hold, and for what cannot be
    typeset.
    """
    false = [claim for claim in facts.claims(whatif.LAB) if not claim.holds]
    if false:
        listed = "".join(f"\n  page {claim.page}: {claim.words}" for claim in false)
        raise ValueError(f"the deck would say what does not hold:{listed}")
    compiler = typst.Compiler(
        HERE / "slides.typ",
        root=HERE,
        ignore_system_fonts=True,  # typst brings the deck's own
        sys_inputs={
            **byline,
            "facts": json_text(facts.facts(whatif.LAB), _exact),
            "pictures": json.dumps(drawings.pictures(whatif.LAB)),
            "looks": json.dumps(drawings.looks()),
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
    if len(pages) != PAGES:
        raise ValueError(f"the deck would have {len(pages)} pages, not {PAGES}")
    return {"slides.pdf": with_row_headers(pdf), "results.png": pages[0]}


def _exact(value: Fraction) -> str:
    return lab3.plain(value, DIGITS)


def with_row_headers(pdf: bytes) -> bytes:
    """The first cell of each row of a table marked as its header, and named by the other cells
    besides their column's, as Typst cannot yet do."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf)))
    writer.pdf_header = "%PDF-1.7"
    root: Any = writer.root_object["/StructTreeRoot"]
    names = root["/IDTree"]["/Names"]  # sorted, and Typst's begin with U
    rows = [element for element in _elements(root) if element.get("/S") == "/TR"]
    for number, row in enumerate(rows):
        header, *others = (it for it in _elements(row) if it.get("/S") in ("/TH", "/TD"))
        if header["/S"] == "/TD":
            name = TextStringObject(f"row {number:03}")
            header[NameObject("/S")] = NameObject("/TH")
            header[NameObject("/ID")] = name
            header["/A"][0][NameObject("/Scope")] = NameObject("/Row")
            names += [name, header.indirect_reference]
            for cell in others:
                cell["/A"][0]["/Headers"].append(name)
    file = BytesIO()
    writer.write(file)
    return file.getvalue()


def _elements(parent: Any) -> Iterator[Any]:
    """All below one of the structure of a document, in reading order."""
    kids = parent.get("/K", [])
    for kid in kids if isinstance(kids, list) else [kids]:
        element = kid.get_object()
        if isinstance(element, DictionaryObject):
            yield element
            yield from _elements(element)


def write(folder: Path, contents: dict[str, bytes]) -> None:
    """Write all files beside their places, and then put them there."""
    beside = {folder / name: folder / f".{name}.new" for name in contents}
    try:
        for new, content in zip(beside.values(), contents.values(), strict=True):
            new.write_bytes(content)
        for path, new in beside.items():
            os.replace(new, path)
    finally:
        for new in beside.values():
            new.unlink(missing_ok=True)


def respond(argv: Sequence[str] | None) -> str:
    """Build, and say what was written."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    for name in BYLINE:
        parser.add_argument(f"--{name}", help="at the foot of each page; needs --output")
    parser.add_argument("--output", metavar="FOLDER", help="an existing folder (report)")
    options = vars(parser.parse_args(argv))
    for name, value in options.items():
        # of "--" alone some versions of argparse make an empty list
        if value is not None and not (value and value.isprintable()):
            raise ValueError(f"--{name}: {whatif.shown(value)} is not a text of one line")
    byline = {name: options[name] or "" for name in BYLINE}
    if any(byline.values()) and not options["output"]:
        raise ValueError("a deck with a name, UID or date needs --output FOLDER")
    folder = Path(options["output"] or HERE.parent)
    contents = build(byline)
    write(folder, contents)
    return "\n".join(f"wrote {folder / name}" for name in contents)


if __name__ == "__main__":
    sys.exit(whatif.run(respond))
