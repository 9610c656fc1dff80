"""The deck: what it says, that each build gives the same bytes, and build.py's bad inputs."""

import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pypdf import PdfReader

import analysis
import build
import figures
import lab3

REPORT = Path(build.__file__).parent
OUTPUTS = ("slides.pdf", "results.png")
PDF_BYTES, PNG_BYTES = ((REPORT / name).read_bytes() for name in OUTPUTS)


def run(*arguments, script=REPORT / "build.py", **environment):
    return subprocess.run(
        [sys.executable, script, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def pages_of(pdf):
    return [page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages]


PAGES = pages_of(PDF_BYTES)


# ------------------------------------------------ what it says


def test_four_to_six_pages_of_16_to_9():
    reader = PdfReader(io.BytesIO(PDF_BYTES))
    assert 4 <= len(reader.pages) <= 6
    for page in reader.pages:
        assert float(page.mediabox.width / page.mediabox.height) == pytest.approx(16 / 9, rel=1e-3)


def test_answers_are_in_it_as_lab3_prints_them():
    answers = lab3.answers(lab3.NETWORK, lab3.SYSTEM, lab3.INPUTS)
    answered = re.findall(r" is (\S+) (?:seconds|bytes)", answers)
    assert len(answered) == 8
    assert set(answered) <= set(PAGES[1].split())


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        (1, ["12 one-way links", "230,400", "one-way, like the 12 links"]),
        (2, ["3.98", "1.56", "3.18", "97.0 %", "62.3 %"]),
        (3, ["97 %", "3,033.30816", "93.952", "1,923,072", "all-gather 28.8 µs"]),
        (4, ["12,435.31264", "4,624.22016", "62 %", "65.6 %", "35 slots", "106.2 ms"]),
        (5, ["20.41", "92.59", "28.95", "72.88", "9 or fewer", "148.293", "ASTRA-sim"]),
        (6, ["891,648", "524,288", "1,024 bytes", "462,336", "97.07", "281.856", "6 %"]),
    ],
)
def test_each_page_has_its_figures(page, texts):
    words = " ".join(PAGES[page - 1].split())
    assert [text for text in texts if text not in words] == []


def test_no_name_is_invented():
    assert PdfReader(io.BytesIO(PDF_BYTES)).metadata.author is None


def test_author_uid_and_date_are_on_each_page():
    pdf, _ = build.build("Zoë O'Neil #[x]", "123 456 789", "June 12")
    assert PdfReader(io.BytesIO(pdf)).metadata.author == "Zoë O'Neil #[x]"
    pages = pages_of(pdf)
    assert len(pages) == len(PAGES)
    for page in pages:
        assert "· Zoë O'Neil #[x] · 123 456 789 · June 12" in page


def test_charts_are_plain_svg():
    for svg in figures.draw_all().values():
        ElementTree.fromstring(svg)
        assert figures.DRAWN_FONT in svg or "<text" not in svg
        assert figures.MEASURED_FONT not in svg


def test_the_machine_has_as_many_arrows_as_links():
    nodes = lab3.SYSTEM.nodes
    pairs = [(a, b) for a in range(nodes) for b in range(nodes) if a != b]
    figure = figures.machine(pairs)
    arrows = [text for text in figure.axes[0].texts if text.get_text() == ""]
    assert len(arrows) == lab3.SYSTEM.links


# ------------------------------------------------ the same bytes each time


def test_committed_files_are_what_the_build_makes(tmp_path):
    result = run("--output", tmp_path, TZ="Pacific/Auckland", LC_ALL="C", SOURCE_DATE_EPOCH="86400")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(OUTPUTS)
    assert (tmp_path / "slides.pdf").read_bytes() == PDF_BYTES
    assert (tmp_path / "results.png").read_bytes() == PNG_BYTES


def test_building_again_in_another_folder(tmp_path):
    shutil.copytree(REPORT, tmp_path / "report", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(lab3.__file__, tmp_path)
    for name in OUTPUTS:
        (tmp_path / "report" / name).unlink()
    result = run(script=tmp_path / "report" / "build.py")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert (tmp_path / "report" / "slides.pdf").read_bytes() == PDF_BYTES
    assert (tmp_path / "report" / "results.png").read_bytes() == PNG_BYTES


def test_building_twice_in_one_process():
    assert build.build() == build.build() == (PDF_BYTES, PNG_BYTES)


def test_the_picture_is_small():
    assert len(PNG_BYTES) <= 100_000


# ------------------------------------------------ bad input


@pytest.fixture
def old_files(tmp_path):
    """Files of an earlier build, and the means to see that they are as they were."""
    for name in OUTPUTS:
        (tmp_path / name).write_text("old")
    yield tmp_path
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(OUTPUTS)
    assert all((tmp_path / name).read_text() == "old" for name in OUTPUTS)


def assert_one_sentence(text, *parts):
    assert text.startswith("build.py: error: ")
    assert text.endswith("\n")
    assert text.count("\n") == 1
    assert all(part in text for part in parts), text


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--autor", "X"], ["--autor X", "--help"]),
        (["--author"], ["--author", "expected one argument"]),
        (["slides.pdf"], ["slides.pdf"]),
        (["--uid", "1\n2"], ["--uid", r"'1\n2'", "is not a line"]),
        (["--date", "\udcff"], ["--date", r"'\udcff'", "is not a line"]),
        (["--author", "\u65e5\u672c"], ["--author", "at most 60 Latin, Greek or Cyrillic letters"]),
        (["--author", "A" * 61], ["--author", f"'{'A' * 30}...'", "at most 60"]),
    ],
)
def test_bad_usage(arguments, parts, capsys, old_files):
    with pytest.raises(SystemExit) as exit_:
        build.main(["--output", str(old_files), *arguments])
    assert exit_.value.code == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert_one_sentence(output.err, *parts)


@pytest.mark.parametrize("module", ["typst", "matplotlib"])
def test_a_module_is_not_installed(module, monkeypatch, capsys, old_files):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "figures")
    assert build.main(["--output", str(old_files)]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert_one_sentence(output.err, module, "pip install -r report/requirements.txt")


def test_an_interrupt(monkeypatch, capsys, old_files):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(build, "build", interrupt)
    assert build.main(["--output", str(old_files)]) == 1
    assert_one_sentence(capsys.readouterr().err, "interrupted")


def test_a_folder_that_cannot_be_written(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(build, "build", lambda *_: (b"pdf", b"png"))
    (tmp_path / "file").touch()
    for folder in (tmp_path / "missing", tmp_path / "file"):
        assert build.main(["--output", str(folder)]) == 1
        assert_one_sentence(capsys.readouterr().err, str(folder))


def test_a_full_disk_leaves_the_old_files_whole(monkeypatch, capsys, old_files):
    def write_half(path, content):
        path.open("wb").write(content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(build, "build", lambda *_: (b"pdf", b"png"))
    monkeypatch.setattr(Path, "write_bytes", write_half)
    assert build.main(["--output", str(old_files)]) == 1
    assert_one_sentence(capsys.readouterr().err, "No space left on device")


def test_help_names_every_option(capsys):
    with pytest.raises(SystemExit) as exit_:
        build.main(["--help"])
    assert exit_.value.code == 0
    text = capsys.readouterr().out
    for part in ("--author", "--uid", "--date", "--output", "requirements.txt", "examples"):
        assert part in text


def test_every_figure_of_the_analysis_can_be_written_as_json():
    assert set(analysis.summary()) <= set(re.findall(r'"(\w+)":', lab3.to_json(analysis.summary())))
