"""The deck, built once from the sources; the committed one is compared with it."""

import pytest

import build
from reading import Deck


@pytest.fixture(scope="session")
def built():
    """Both files by name."""
    return build.build(dict.fromkeys(build.BYLINE, ""))


@pytest.fixture(scope="session")
def deck(built):
    """The built deck, to be read."""
    return Deck(built["slides.pdf"])


@pytest.fixture(scope="session")
def committed():
    """Both files by name."""
    names = ("slides.pdf", "results.png")
    return {name: (build.HERE.parent / name).read_bytes() for name in names}
