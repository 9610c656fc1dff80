"""build.py through its command line: whose deck it is, where it goes, and what goes wrong."""

import errno
import io
import subprocess
import sys
from pathlib import Path

import pytest
from pypdf import PdfReader

import build

SCRIPT = build.REPORT / "build.py"
OUTPUTS = ("slides.pdf", "results.png")
COMMITTED = {name: (build.REPORT / name).read_bytes() for name in OUTPUTS}


def run(*arguments):
    result = subprocess.run(
        [sys.executable, SCRIPT, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.stdout == ""
    return result.returncode, result.stderr


def assert_one_sentence(text, *parts):
    assert text.startswith("build.py: error: ")
    assert text.endswith("\n")
    assert text[:-1].isprintable()
    assert len(text) < 260
    assert all(part in text for part in parts), text


@pytest.fixture
def quick(monkeypatch):
    """What is built is of no concern."""
    monkeypatch.setattr(build, "build", lambda byline: (b"pdf", b"png"))


@pytest.fixture
def old_files(tmp_path):
    """Files of an earlier build, and the means to see that they are as they were."""
    for name in OUTPUTS:
        (tmp_path / name).write_text(f"old {name}")
    yield tmp_path
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        name: f"old {name}" for name in OUTPUTS
    }


# ------------------------------------------------ whose deck it is


def test_name_uid_and_date_have_their_place_on_each_page(tmp_path):
    name = "Zoë O'Neil #[x] $y$ Ωж"
    arguments = ["--date", "June 12", "--uid", " 123 456 789", "--author", name]
    assert run("--output", tmp_path, *arguments) == (0, "")
    reader = PdfReader(tmp_path / "slides.pdf")
    assert reader.metadata.author == name
    for number, page in enumerate(reader.pages, 1):
        foot = f"distributed CNN inference · {name} · 123 456 789 · June 12 {number} / 6"
        assert foot in " ".join(page.extract_text().split())
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(OUTPUTS)


@pytest.mark.parametrize("option", ["--author", "--uid", "--date"])
def test_a_personal_deck_does_not_overwrite_the_committed_one(option):
    code, error = run(option, "X")
    assert code == 2
    assert_one_sentence(error, "--output")
    assert {name: (build.REPORT / name).read_bytes() for name in OUTPUTS} == COMMITTED


def test_empty_texts_are_left_out(quick, old_files, capsys, monkeypatch):
    monkeypatch.setattr(build, "replace", lambda contents: contents.clear())
    assert build.main(["--author", "", "--uid", " ", "--output", str(old_files)]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("byline", "words"),
    [
        ({"author": "Ada 日"}, "lacks 日"),
        ({"uid": "\u0370"}, "lacks \u0370"),
        ({"date": "أ"}, "lacks أ"),
        ({"author": "M" * 60, "uid": "M" * 20}, "too long for one line"),
        ({"author": "i" * 200}, "too long for one line"),
    ],
)
def test_what_cannot_be_printed_at_the_foot_is_refused(byline, words):
    with pytest.raises(build.DeckError, match=words) as raised:
        build.build(byline)
    assert raised.value.status == 2


def test_a_long_name_stays_on_the_page():
    name = "Maximiliana-Wilhelmina Konstantinopolskaya"
    pdf, _ = build.build({"author": name, "uid": "123456789", "date": "June 12"})
    foot = PdfReader(io.BytesIO(pdf)).pages[0].extract_text().splitlines()[-1]
    assert foot.endswith(f"· {name} · 123456789 · June 12 1 / 6")


# ------------------------------------------------ both files or none


def test_both_files_are_replaced(quick, tmp_path):
    (tmp_path / "slides.pdf").write_text("old")
    assert build.main(["--output", str(tmp_path)]) == 0
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "slides.pdf": b"pdf",
        "results.png": b"png",
    }


@pytest.mark.parametrize("failing", OUTPUTS)
def test_a_failure_on_either_file_leaves_both_old_ones(
    failing, quick, old_files, monkeypatch, capsys
):
    real = Path.replace

    def replace(path, target):
        if path.suffix == ".new" and Path(target).name == failing:
            raise OSError(errno.EIO, "Input/output error")
        return real(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    assert build.main(["--output", str(old_files)]) == 1
    assert_one_sentence(capsys.readouterr().err, str(old_files), "Input/output error")


def test_a_full_disk_leaves_the_old_files_whole(quick, old_files, monkeypatch, capsys):
    def write_half(path, content):
        path.open("wb").write(content[: len(content) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", write_half)
    assert build.main(["--output", str(old_files)]) == 1
    assert_one_sentence(capsys.readouterr().err, "No space left on device")


def test_a_folder_in_the_place_of_the_second_file(tmp_path):
    (tmp_path / "slides.pdf").write_text("old")
    (tmp_path / "results.png").mkdir()
    code, error = run("--output", tmp_path)
    assert code == 1
    assert_one_sentence(error, "results.png is a folder")
    assert (tmp_path / "slides.pdf").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(OUTPUTS)


def test_a_folder_that_cannot_be_written(quick, tmp_path, capsys):
    (tmp_path / "file").touch()
    for folder in (tmp_path / "missing\x1b[31m", tmp_path / "file"):
        assert build.main(["--output", str(folder)]) == 1
        assert_one_sentence(capsys.readouterr().err, "cannot write to")


# ------------------------------------------------ what goes wrong


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--autor", "X"], ["--autor", "--help"]),
        (["--author"], ["--author", "expected one argument"]),
        (["slides.pdf"], ["slides.pdf"]),
        (["--output", ""], ["--output", "not a folder"]),
        (["--uid", "1\n2"], ["--uid", r"'1\n2'"]),
        (["--date", "\udcff"], ["--date", r"'\udcff'"]),
        (["--author", "\u202eevil"], ["--author", r"\u202e"]),
        (["\x1b[31m"], [r"\x1b[31m"]),
        (["x" * 100_000], ["xxx...xxx"[:3]]),
    ],
)
def test_bad_usage(arguments, parts, capsys, old_files):
    with pytest.raises(SystemExit) as exit_:
        build.main(["--output", str(old_files), *arguments])
    assert exit_.value.code == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert_one_sentence(output.err, *parts)


def test_typst_is_not_installed(monkeypatch, capsys, old_files):
    monkeypatch.setitem(sys.modules, "typst", None)
    assert build.main(["--output", str(old_files)]) == 1
    error = capsys.readouterr().err
    assert_one_sentence(error, "typst", "pip install -r report/requirements.txt")


def test_an_interrupt(monkeypatch, capsys, old_files):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(build, "build", interrupt)
    assert build.main(["--output", str(old_files)]) == 1
    assert_one_sentence(capsys.readouterr().err, "interrupted")


def test_another_machine_is_named_on_the_command_line(monkeypatch, capsys, old_files):
    import lab3

    monkeypatch.setattr(lab3, "SYSTEM", lab3.System(sram_bytes=1024 * 1024))
    assert build.main(["--output", str(old_files)]) == 1
    assert_one_sentence(capsys.readouterr().err, "no node's SRAM holds all weights")


def test_help_names_every_option(capsys):
    with pytest.raises(SystemExit) as exit_:
        build.main(["--help"])
    assert exit_.value.code == 0
    text = capsys.readouterr().out
    for part in ("--author", "--uid", "--date", "--output", "requirements.txt", "examples"):
        assert part in text
