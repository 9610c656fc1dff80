"""The README's commands work, and what it shows is what comes out."""

import re
import shlex
import subprocess
import sys
import tarfile
from fractions import Fraction
from pathlib import Path

import pytest

import lab3

PROJECT = Path(lab3.__file__).parent
README = (PROJECT / "README.md").read_text()
SHELL_LINES = [
    line.split("  #")[0].strip()
    for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
]
TARBALL = "UID_Lastname_Firstname_Lab3_pinXXXX.tar.gz"


def test_the_output_is_the_real_one():
    (shown,) = re.findall(r"```console\n\$ python3 lab3.py\n(.*?)```", README, re.DOTALL)
    result = subprocess.run([sys.executable, PROJECT / "lab3.py"], capture_output=True, check=True)
    assert result.stdout.decode() == shown


@pytest.mark.parametrize("line", [line for line in SHELL_LINES if "python3 lab3.py" in line])
def test_the_examples_work(line):
    _, script, *arguments = shlex.split(line)
    command = [sys.executable, PROJECT / script, *arguments]
    result = subprocess.run(command, capture_output=True, check=True)
    assert result.stdout
    assert result.stderr == b""


def test_the_python_example_works():
    (expression,) = re.findall(r"`(lab3\.tensor_parallel_latency\(.*?\))`", README)
    # On 8 nodes compute takes 3,033.30816 / 2 us, communication 93.952 / 2 us; 64 inputs
    assert eval(expression) == 32 * Fraction("0.00312726016")


def test_ci_runs_the_readmes_test_command():
    (command,) = [line for line in SHELL_LINES if "-m pytest" in line]
    assert command in (PROJECT / ".ci" / "run").read_text().splitlines()


def test_the_submission(tmp_path):
    (command,) = [line for line in SHELL_LINES if TARBALL in line]
    (tmp_path / "lab3.py").write_bytes((PROJECT / "lab3.py").read_bytes())
    subprocess.run(shlex.split(command), cwd=tmp_path, check=True)
    unpacked = tmp_path / "unpacked"
    with tarfile.open(tmp_path / TARBALL) as tarball:
        assert tarball.getnames() == ["lab3.py"]
        tarball.extractall(unpacked, filter="data")
    result = subprocess.run(
        [sys.executable, "lab3.py"], cwd=unpacked, capture_output=True, check=True
    )
    assert result.stdout.decode() == lab3.answers(lab3.NETWORK, lab3.SYSTEM, 32) + "\n"


def test_every_path_that_it_names_exists():
    for path in re.findall(r"\b(?:tests|report)/[\w.]+", README):
        assert (PROJECT / path).exists(), path
