"""What `python3 lab3.py` prints, to the byte, and how it writes numbers."""

import functools
import os
import shutil
import subprocess
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import lab3

SCRIPT = Path(lab3.__file__)
ANSWERS = b"""\
-----Q1 single input-----
Total latency of tensor parallelism is 0.00312726016 seconds
Total network traffic of tensor parallelism is 1923072 bytes
Total latency of pipeline parallelism is 0.01243531264 seconds
Total network traffic of pipeline parallelism is 604160 bytes
--------Q2 32 inputs------
Total latency of tensor parallelism is 0.10007232512 seconds
Total network traffic of tensor parallelism is 61538304 bytes
Total latency of pipeline parallelism is 0.1557861376 seconds
Total network traffic of pipeline parallelism is 19333120 bytes
"""


def run(*command, **options):
    return subprocess.run(command, capture_output=True, timeout=60, check=False, **options)


def test_from_any_folder(tmp_path):
    result = run(sys.executable, SCRIPT, cwd=tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (0, ANSWERS, b"")


@pytest.mark.parametrize("flags", [["-I"], ["-S"], ["-OO"], ["-W", "error"], ["-b", "-b"]])
def test_however_the_interpreter_is_started(flags):
    result = run(sys.executable, *flags, SCRIPT)
    assert (result.returncode, result.stdout, result.stderr) == (0, ANSWERS, b"")


@pytest.mark.parametrize(
    "environment", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}, {"PYTHONUTF8": "0"}]
)
def test_in_any_locale(environment):
    result = run(sys.executable, SCRIPT, env={**os.environ, **environment})
    assert (result.returncode, result.stdout, result.stderr) == (0, ANSWERS, b"")


def test_import_has_no_side_effects(tmp_path):
    code = """
import sys
before = set(sys.modules)
import lab3
print(*set(sys.modules) - before, file=sys.stderr)"""
    environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    result = run(sys.executable, "-c", code, env=environment, cwd=tmp_path)
    imported = set(result.stderr.decode().split())
    assert (result.returncode, result.stdout) == (0, b"")
    assert "lab3" in imported
    assert not imported & {
        "argparse",
        "dataclasses",
        "getopt",
        "json",
        "typing",
    }  # a run would be slower
    assert list(tmp_path.iterdir()) == []


@functools.cache
def pythons():
    """Every CPython 3 of the machine that starts, oldest first, by version."""
    found = {}
    folders = [*os.environ.get("PATH", "").split(os.pathsep)]
    folders += map(str, Path.home().glob(".pyenv/versions/3*/bin"))
    for minor in range(6, 30):
        for folder in folders:
            python = shutil.which(f"python3.{minor}", path=folder)
            if python and run(python, "-c", "pass").returncode == 0:
                found[minor] = python
    return [found[minor] for minor in sorted(found)]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--help"],
        ["--explain", "--nodes", "8", "--link-gbs", "1/3"],
        ["--json", "--topology", "ring", "--inputs=" + "7" * 400],
        ["--inputs", "9" * 5000],
        ["--gops", "-1e5"],
        ["--inputs"],
        ["--explain", "--json"],
    ],
    ids=lambda arguments: " ".join(arguments)[:40],
)
def test_the_oldest_and_the_newest_python_agree(arguments):
    found = pythons()
    if len(found) < 2:
        pytest.skip("needs two versions of Python on the machine")
    oldest, newest = (run(python, SCRIPT, *arguments) for python in (found[0], found[-1]))
    assert (oldest.returncode, oldest.stdout, oldest.stderr) == (
        newest.returncode,
        newest.stdout,
        newest.stderr,
    )


# ------------------------------------------------ numbers as text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (100, "100"),
        (Fraction(1, 8), "0.125"),
        (Fraction(1, 3), "0.33333333333333333"),
        (Fraction(2, 3), "0.66666666666666667"),
        (Fraction(10**20, 3), "33333333333333333000"),
        (Fraction(12345678901234567, 10**17), "0.12345678901234567"),  # 17 digits: exact
        (Fraction(123456789012345675, 10**18), "0.12345678901234568"),  # half, to even
        (Fraction(123456789012345665, 10**18), "0.12345678901234566"),
        (Fraction(1, 2) + Fraction(1, 10**30), "0.5"),
        (Fraction(1, 10**30), "0." + "0" * 29 + "1"),
    ],
)
def test_plain(value, text):
    assert lab3.plain(value) == text


def test_plain_has_no_limits():
    assert lab3.plain(10**5000) == "1" + "0" * 5000
    assert lab3.plain(Fraction(1, 10**5000)) == "0." + "0" * 4999 + "1"


@given(st.fractions(min_value=0))
@example(Fraction(10**400, 7))
def test_plain_is_the_nearest_number_of_17_digits(value):
    with localcontext() as context:
        context.prec = 2000
        text = Decimal(lab3.plain(value))
        digits = text.normalize().as_tuple().digits
        error = abs(Fraction(text) - value)
        assert len(digits) <= 17
        if value:
            last_digit = Fraction(10) ** (Decimal(text).adjusted() - 16)
            assert error <= last_digit / 2
    assert "e" not in lab3.plain(value).lower()
