"""The deck, built once. Imports are below: this file is read without report/, too."""

from io import BytesIO

import pytest


@pytest.fixture(scope="session")
def built():
    """Build both files, by name, without a byline."""
    for package in ("matplotlib", "pypdf", "pypdfium2", "typst"):
        pytest.importorskip(package)
    from report.deck import build

    return build.build()


@pytest.fixture(scope="session")
def pages(built):
    """Open slides.pdf's pages, as a viewer has them."""
    import pypdfium2

    return list(pypdfium2.PdfDocument(built["slides.pdf"]))


@pytest.fixture(scope="session")
def reader(built):
    """Open slides.pdf's structure, fonts and metadata."""
    from pypdf import PdfReader

    return PdfReader(BytesIO(built["slides.pdf"]))


@pytest.fixture(scope="session")
def elements(reader):
    """List the elements of slides.pdf's structure."""
    objects = (reader.get_object(number) for number in range(1, reader.trailer["/Size"]))
    return [it for it in objects if isinstance(it, dict) and it.get("/Type") == "/StructElem"]
