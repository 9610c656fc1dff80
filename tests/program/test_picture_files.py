"""report/pictures.py as a command: the files that it writes, and what is refused."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import pictures
from program import PLAIN, output, python, refusal

SCRIPT = Path(pictures.__file__)
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(path):
    """The texts of an SVG."""
    return ["".join(text.itertext()) for text in ElementTree.parse(path).iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("timeline", "link 3 to 4"),
        ("timeline --inputs 1", "layer 3"),
        ("timeline --nodes 8 --plan 1-2:4,3-4:4", "links 1-4 to 5-8"),
        ("latency", "pipeline, rows streamed 4.634 ms"),
        ("plans --inputs 7", "latency of 7 inputs, ms"),
        ("sram --sram-kib 1", "1,321,728 too many"),
    ],
)
def test_svg(line, said):
    name = f"{line.split()[0]}.svg"
    assert output(line, pictures.respond).splitlines()[-1] == f"drawn: {name}"
    assert any(said in text for text in written(name))


def test_question_is_repeated():
    assert output("sram --nodes 8", pictures.respond).splitlines() == [
        "what if: 8 nodes",
        "drawn: sram.svg",
    ]


def test_the_ending_chooses(folder):
    output("latency --output a.b.png", pictures.respond)
    assert (folder / "a.b.png").read_bytes().startswith(b"\x89PNG")
    output("latency --output b.svg", pictures.respond)
    assert (folder / "b.svg").read_text().startswith("<?xml")
    for name in ("a.pdf", "a", ".svg", "svg"):
        said = refusal(f"latency --output {name}", pictures.respond)
        assert f"'{name}'" in said and ".png" in said


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("timeline --nodes 3", "3 nodes do not divide"),
        ("timeline --plan 1-3", "layer 3"),
        ("latency --plan tensor", "--plan"),
        ("plans --layer 1,1,1,1,1,1 --inputs 0", "--inputs"),
        ("", "picture"),
        ("all", "timeline"),
    ],
)
def test_refusals(folder, line, said):
    assert said in refusal(line, pictures.respond)
    assert not list(folder.iterdir())


def test_what_cannot_be_written(folder):
    done = python(SCRIPT, "sram", "--output", "none/sram.svg")
    assert (done.returncode, done.stdout) == (1, "")
    assert "cannot write" in done.stderr and done.stderr.count("\n") == 1
    assert not list(folder.iterdir())


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_same_bytes_whatever_the_users_settings(folder, ending):
    settings = folder / "matplotlibrc"
    settings.write_text(
        "font.size: 30\nsvg.fonttype: path\nbackend: pdf\nsavefig.dpi: 10\naxes.grid: True\n"
    )
    output(f"plans --output here.{ending}", pictures.respond)
    env = {**PLAIN, "MATPLOTLIBRC": str(settings)}
    done = python(SCRIPT, "plans", "--output", f"there.{ending}", env=env)
    assert done.returncode == 0, done.stderr
    assert (folder / f"there.{ending}").read_bytes() == (folder / f"here.{ending}").read_bytes()


def test_without_matplotlib(folder):
    (folder / "matplotlib.py").write_text("raise ImportError('none')")
    done = python(SCRIPT, "sram", env={**PLAIN, "PYTHONPATH": str(folder)})
    assert done.returncode == 1 and done.stdout == ""
    assert "pip install" in done.stderr and done.stderr.count("\n") == 1
