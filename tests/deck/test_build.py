"""build.py through its command line: whose deck it is, where it goes, and what goes wrong."""

import os
import subprocess
import sys
from importlib.metadata import version
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

import build
import whatif
from reading import Deck

OUTPUTS = ("slides.pdf", "results.png")


@pytest.fixture
def quick(monkeypatch):
    """What is built is of no concern."""
    files = {"slides.pdf": b"pdf", "results.png": b"png"}
    monkeypatch.setattr(build, "build", lambda byline: files)


def run(*arguments):
    """The exit status of the script, in this process."""
    return whatif.run(build.respond, arguments)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_readmes_picture_is_page_1(built, deck):
    with Image.open(BytesIO(built["results.png"])) as image:
        shown = np.asarray(image.convert("RGB"), int)
    pages = [
        Image.fromarray(deck.page(number).pixels).resize(shown.shape[1::-1])
        for number in range(1, 7)
    ]
    differ = [np.abs(shown - np.asarray(page, int)).mean() for page in pages]
    assert differ.index(min(differ)) == 0


def test_from_any_folder_and_in_any_zone(tmp_path, built):
    result = subprocess.run(
        [sys.executable, build.HERE / "build.py", "--output", "."],
        cwd=tmp_path,
        env={**os.environ, "TZ": "Pacific/Auckland", "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [f"wrote {name}" for name in OUTPUTS]
    assert contents(tmp_path) == built


def test_bytes_are_the_committed_ones_where_versions_are_the_pinned_ones(built, committed):
    pins = (build.HERE.parent / "requirements.txt").read_text().split()
    pinned = dict(pin.split("==") for pin in pins if "==" in pin)
    if all(version(name) == number for name, number in pinned.items()):
        assert built == committed


def test_name_uid_and_date_have_their_place_on_each_page():
    name = "Zoë O'Neil #[x] $y$ Ωж"
    pdf = build.build({"author": name, "uid": "123 456 789", "date": "June 12"})["slides.pdf"]
    deck = Deck(pdf)
    assert deck.reader.metadata.author == name
    for number, text in enumerate(deck.texts, 1):
        assert text.endswith(f"inference · {name} · 123 456 789 · June 12 {number} / 6")


@pytest.mark.parametrize(
    ("byline", "words"),
    [
        ({"author": "Ada 日"}, "日"),
        ({"author": "M" * 60, "uid": "M" * 20}, "too long for one line"),
    ],
)
def test_what_cannot_be_printed_at_the_foot_is_refused(byline, words):
    with pytest.raises(ValueError, match=words):
        build.build({**dict.fromkeys(build.BYLINE, ""), **byline})


@pytest.mark.parametrize(
    "arguments",
    [
        ["--author", "Eve"],
        ["--uid=1"],
        ["--date=June 12"],
        ["--author", "Eve", "--output=--"],
        ["--author", "Eve", "--output="],
        ["--output="],
        ["--author=--"],
        ["--author=", "--output=."],
        ["--uid", "1\n2", "--output=."],
        ["--author", "\u202eevil", "--output=."],
    ],
)
def test_the_committed_deck_is_not_overwritten(quick, committed, arguments, tmp_path, monkeypatch):
    """Where argparse takes -- for a value, --author=-- lacks an output, and -- is no folder."""
    monkeypatch.chdir(tmp_path)
    assert run(*arguments) in (1, 2)
    assert contents(tmp_path) == {}
    assert {name: (build.HERE.parent / name).read_bytes() for name in OUTPUTS} == committed


@pytest.mark.parametrize("arguments", [["--autor", "X"], ["--author"], ["slides.pdf"]])
def test_bad_usage(arguments, capsys):
    with pytest.raises(SystemExit) as raised:
        run(*arguments)
    assert raised.value.code == 2
    assert arguments[0] in capsys.readouterr().err


def test_both_files_are_replaced(quick, tmp_path):
    (tmp_path / "slides.pdf").write_text("old")
    assert run("--output", str(tmp_path)) == 0
    assert contents(tmp_path) == {"slides.pdf": b"pdf", "results.png": b"png"}


def test_a_full_disk_leaves_the_old_files_whole(quick, tmp_path, monkeypatch, capfd):
    for name in OUTPUTS:
        (tmp_path / name).write_text("old")

    def write_half(path, content):
        path.open("wb").write(content[:1])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(tmp_path), "write_bytes", write_half)
    assert run("--output", str(tmp_path)) == 1
    assert "No space left on device" in capfd.readouterr().err
    assert contents(tmp_path) == dict.fromkeys(OUTPUTS, b"old")


def test_a_folder_that_is_none(quick, tmp_path, capfd):
    assert run("--output", str(tmp_path / "missing")) == 1
    assert "No such file" in capfd.readouterr().err
