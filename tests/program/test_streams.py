"""Whatever is wrong with stdout or stderr: status 0, 1 or 2, and never a traceback."""

import errno
import io
import os
import shutil
import sys
from pathlib import Path

import pytest

from lab3 import main
from program import SCRIPT, check_message, run

BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None, reason="no bash on PATH")
needs_full = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="no /dev/full on this system"
)


def shell(line):
    """The line in bash, where `lab3` is the program."""
    lab3 = f'"{sys.executable}" "{SCRIPT}"'
    return run("-o", "pipefail", "-c", line.replace("lab3", lab3), command=[BASH])


@needs_bash
@pytest.mark.parametrize("arguments", ["", "--explain", "--json", "--help"])
def test_a_reader_that_has_seen_enough(arguments):
    result = shell(f"lab3 {arguments} | head -n 1")
    assert (result.returncode, result.stderr) == (0, "")
    assert len(result.stdout.splitlines()) == 1


@needs_bash
def test_a_reader_that_is_gone():
    result = shell("{ sleep 0.2; lab3 --explain; } | true")
    assert (result.returncode, result.stderr) == (0, "")
    assert shell("{ sleep 0.2; lab3 --inputs 0; } 2>&1 >/dev/null | true").returncode == 2


@needs_bash
@needs_full
@pytest.mark.parametrize("arguments", ["", "--explain", "--json", "--help"])
def test_a_full_disk(arguments):
    result = shell(f"lab3 {arguments} >/dev/full")
    assert (result.returncode, result.stdout) == (1, "")
    check_message(result.stderr)
    assert os.strerror(errno.ENOSPC) in result.stderr


@needs_bash
@needs_full
@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("lab3 --inputs 0 2>/dev/full", 2),
        ("lab3 >/dev/full 2>&1", 1),
        ("lab3 >&- 2>/dev/full", 1),
        ("lab3 --inputs 0 >&- 2>/dev/full", 2),
    ],
)
def test_a_full_disk_that_nobody_hears_of(line, status):
    result = shell(line)
    assert (result.returncode, result.stdout, result.stderr) == (status, "", "")


@needs_bash
@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("lab3 --inputs 0 2</dev/null", 2),
        ("lab3 --inputs 0 2>&-", 2),
        ("lab3 --inputs 0 >&- 2>&-", 2),
        ("lab3 >&- 2>&-", 1),
        ("lab3 >&- 2</dev/null", 1),
        ("lab3 1</dev/null 2>&-", 1),
    ],
)
def test_closed_streams(line, status):
    result = shell(line)
    assert (result.returncode, result.stdout, result.stderr) == (status, "", "")


@needs_bash
def test_a_closed_stdout_is_told():
    for line, why in (("lab3 >&-", "stdout"), ("lab3 1</dev/null", os.strerror(errno.EBADF))):
        result = shell(line)
        assert (result.returncode, result.stdout) == (1, "")
        check_message(result.stderr)
        assert why in result.stderr


@needs_bash
def test_a_closed_stderr_does_not_matter_to_answers():
    result = shell("lab3 2>&-")
    assert result.returncode == 0 and result.stdout.count("\n") == 10


# ------------------------------------------------ in this process


def write_to(descriptor, monkeypatch):
    with os.fdopen(descriptor, "w") as stream:  # its end, as at exit, must not fail again
        monkeypatch.setattr(sys, "stdout", stream)
        return main([])


def test_a_pipe_that_is_closed(monkeypatch, capsys):
    reader, writer = os.pipe()
    os.close(reader)
    assert write_to(writer, monkeypatch) == 0
    assert capsys.readouterr().err == ""


@needs_full
def test_a_failed_write_leaves_no_open_file(monkeypatch, capsys):
    folder = Path("/proc/self/fd")
    if not folder.exists():
        pytest.skip("no /proc to count open files in")
    before = len(list(folder.iterdir()))
    for _ in range(3):
        assert write_to(os.open("/dev/full", os.O_WRONLY), monkeypatch) == 1
        check_message(capsys.readouterr().err)
    assert len(list(folder.iterdir())) == before


def test_no_streams_at_all(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", None)
    assert main([]) == 1
    check_message(capsys.readouterr().err)
    monkeypatch.setattr(sys, "stderr", None)
    assert main([]) == 1
    assert main(["--inputs", "0"]) == 2


def test_ascii_is_enough(monkeypatch):
    for arguments in ([], ["--explain"], ["--json"], ["--help"]):
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
        assert main(arguments) == 0


def test_a_stream_that_a_program_has_closed(monkeypatch, capsys):
    stream = io.StringIO()
    stream.close()
    monkeypatch.setattr(sys, "stdout", stream)
    assert main([]) == 1
    check_message(capsys.readouterr().err)
