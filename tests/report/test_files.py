"""Files are written whole or not at all: what was there is still there, and nothing is left."""

import os
from contextlib import suppress
from errno import EACCES
from pathlib import Path
from signal import SIGINT, getsignal

import pytest

pytest.importorskip("matplotlib")

from program import call, output, sentence, shell
from report.files import write_files


def list_files(folder):
    """List what is in a folder, and in its files."""
    return {path.name: path.is_file() and path.read_bytes() for path in folder.iterdir()}


def test_a_picture_goes_where_a_link_leads_with_the_mode_of_a_plain_write(tmp_path, monkeypatch):
    (tmp_path / "plain").write_bytes(b"")
    (tmp_path / "old.svg").write_bytes(b"old")
    (tmp_path / "old.svg").chmod(0o640)
    for link, place in (("a.svg", "old.svg"), ("b.svg", "new.svg")):
        (tmp_path / link).symlink_to(place)
        assert call(f"picture limits --output={tmp_path}/{link}")[0] == 0
        assert (tmp_path / link).is_symlink() and b"<svg" in (tmp_path / place).read_bytes()
    modes = {path.name: path.lstat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes["old.svg"] == 0o640 and modes["new.svg"] == modes["plain"]
    assert len(modes) == 5


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


def test_a_disk_that_is_full_loses_no_picture(tmp_path):
    (tmp_path / "a.svg").write_bytes(b"old")
    result = shell(f"ulimit -f 8; python3 report picture limits --output={tmp_path}/a.svg")
    assert result.returncode == 1 and f"cannot write '{tmp_path}/a.svg'" in sentence(result.stderr)
    assert list_files(tmp_path) == {"a.svg": b"old"}


@pytest.mark.parametrize("before", [{}, {"a": b"old"}, {"b": b"old"}, {"a": b"1", "b": b"2"}])
@pytest.mark.parametrize("error", [KeyboardInterrupt, PermissionError(EACCES, "no", "temporary")])
@pytest.mark.parametrize(("function", "calls"), [("replace", 1), ("replace", 2), ("link", 1)])
def test_files_are_all_new_or_all_old(before, error, function, calls, tmp_path, monkeypatch):
    for name, content in before.items():
        (tmp_path / name).write_bytes(content)
    files = {tmp_path / name: b"new" for name in ("a", "b")}
    done, called = getattr(os, function), []

    def fail(*paths):
        called.append(paths)
        if len(called) == calls:
            raise error
        done(*paths)

    with monkeypatch.context() as patch:
        patch.setattr(os, function, fail)
        with suppress(KeyboardInterrupt, PermissionError):
            write_files(files)
            before = dict.fromkeys("ab", b"new")  # without a link, there is no way back
    assert list_files(tmp_path) == before
    write_files(files)
    assert list_files(tmp_path) == dict.fromkeys("ab", b"new")


def test_ctrl_c_leaves_nothing_half(tmp_path, monkeypatch):
    before, replace = getsignal(SIGINT), os.replace

    def interrupt(*paths):
        os.kill(os.getpid(), SIGINT)
        replace(*paths)

    monkeypatch.setattr(os, "replace", interrupt)
    write_files({tmp_path / name: b"new" for name in ("a", "b")})
    assert list_files(tmp_path) == dict.fromkeys("ab", b"new") and getsignal(SIGINT) == before
