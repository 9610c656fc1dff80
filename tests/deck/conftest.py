"""The deck, built once for all tests of a process, and what takes most of that time."""

import pytest

from report.analysis import Analysis
from report.deck import build
from report.question import LAB


@pytest.fixture(scope="session")
def built():
    """Both files by name, without a byline."""
    return build.build(dict.fromkeys(build.BYLINE, ""))


@pytest.fixture(scope="session")
def pdf(built):
    return built["slides.pdf"]


@pytest.fixture(scope="session")
def pictures_of_the_lab():
    return build.drawn(Analysis(LAB))


@pytest.fixture
def drawn_once(monkeypatch, pictures_of_the_lab):
    monkeypatch.setattr(build, "drawn", lambda analysis: pictures_of_the_lab)
