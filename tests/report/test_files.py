"""Files are written whole or not at all: what was there is still there, and nothing is left."""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from signal import SIGINT, getsignal
from subprocess import Popen

import pytest

pytest.importorskip("matplotlib")

from program import call, sentence
from report.files import write_files


def list_files(folder):
    """List what is in a folder, and in its files."""
    return {path.name: path.is_file() and path.read_bytes() for path in folder.iterdir()}


def test_a_picture_goes_where_a_link_leads_with_the_mode_of_a_plain_write(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    (tmp_path / "old.svg").write_bytes(b"old")
    (tmp_path / "old.svg").chmod(0o640)
    for link, place in (("a.svg", "old.svg"), ("b.svg", "new.svg")):
        (tmp_path / link).symlink_to(place)
        assert call(f"picture limits --output={tmp_path}/{link}")[0] == 0
        assert (tmp_path / link).is_symlink() and b"<svg" in (tmp_path / place).read_bytes()
    modes = {path.name: path.lstat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes["old.svg"] == 0o640 and modes["new.svg"] == modes["plain"] and len(modes) == 5


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (os.mkfifo, "not a regular file"),
        (Path.mkdir, "not a regular file"),
        (lambda path: path.symlink_to(os.devnull), "not a regular file"),
        (lambda path: path.symlink_to(path.name), "symbolic links"),
        (lambda path: path.symlink_to("no/a.svg"), "No such file"),
    ],
)
def test_what_is_in_the_way_of_a_picture_stays(make, why, tmp_path):
    make(tmp_path / "a.svg")
    before = (tmp_path / "a.svg").lstat()[:3]
    status, out, err = call(f"picture limits --output={tmp_path}/a.svg")
    assert (status, out) == (1, "") and why in sentence(err)
    assert f"cannot write '{tmp_path}/a.svg'" in err
    assert (tmp_path / "a.svg").lstat()[:3] == before and len([*tmp_path.iterdir()]) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it can be written")
def test_a_program_that_runs_is_not_replaced(tmp_path):
    """Nobody may write to it, not even root."""
    program = Path(shutil.copy(shutil.which("sleep"), tmp_path / "a.svg"))
    before = program.read_bytes()
    with Popen([program, "30"]) as process:
        status, out, err = call(f"picture limits --output={program}")
        process.kill()
    assert (status, out) == (1, "") and "busy" in sentence(err) and program.read_bytes() == before


def test_several_files_are_all_old_if_one_cannot_be_written(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "b").mkdir()
    with pytest.raises(OSError, match="not a regular file") as refused:
        write_files({tmp_path / name: b"new" for name in "acb"})
    assert refused.value.filename == str(tmp_path / "b")
    assert list_files(tmp_path) == {"a": b"old", "b": False}


def test_ctrl_c_leaves_nothing_half_and_no_other_folder_is_needed(tmp_path, monkeypatch):
    before, replace = getsignal(SIGINT), os.replace

    def interrupt(*paths):
        os.kill(os.getpid(), SIGINT)
        replace(*paths)

    monkeypatch.setattr(os, "replace", interrupt)
    # from a folder on another file system, nothing could be moved at once
    monkeypatch.setattr(tempfile, "tempdir", "missing")
    with pytest.raises(KeyboardInterrupt):  # is not lost
        write_files({tmp_path / name: b"new" for name in ("a", "b")})
    assert list_files(tmp_path) == dict.fromkeys("ab", b"new") and getsignal(SIGINT) == before
