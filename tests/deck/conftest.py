"""The deck, built once for all tests of a process, and what takes most of that time.

Imports are below because this file is read where report/ cannot be imported, too.
"""

import pytest


@pytest.fixture(scope="session")
def built():
    """Both files by name, without a byline."""
    from report.deck import build

    return build.build(dict.fromkeys(build.BYLINE, ""))


@pytest.fixture(scope="session")
def pdf(built):
    return built["slides.pdf"]


@pytest.fixture(scope="session")
def pictures_of_the_lab():
    from report.analysis import Analysis
    from report.deck import build
    from report.question import LAB

    return build.drawn(Analysis(LAB))


@pytest.fixture
def drawn_once(monkeypatch, pictures_of_the_lab):
    monkeypatch.setattr("report.deck.build.drawn", lambda analysis: pictures_of_the_lab)
