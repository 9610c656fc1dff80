"""How the scripts of report/ end, whatever is wrong with their streams or their Python."""

import ast
import errno
import os
import sys

import pytest

from program import PLAIN, PROJECT, python, run, sentence

WHATIF = PROJECT / "report" / "whatif.py"
MODULES = sorted(PROJECT.glob("report/*.py"))
NO_ROOM = "ulimit -f 0; "  # for files of any size: a full disk
TOO_LARGE, CLOSED = os.strerror(errno.EFBIG), os.strerror(errno.EBADF)


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        ("whatif >&-", 1, "cannot write: stdout is closed"),
        ("whatif 1</dev/null", 1, f"cannot write: {CLOSED}"),
        (NO_ROOM + "whatif >full", 1, f"cannot write: {TOO_LARGE}"),
        ("whatif --nodes 3 >&-", 2, "Tensor parallelism is not possible"),
        (NO_ROOM + "whatif --nodes 3 >full", 2, "Tensor parallelism is not possible"),
        ("whatif --inputs 0 >&-", 2, "--inputs"),
        # where nobody hears of it, the status tells
        ("whatif >&- 2>&-", 1, None),
        ("whatif 1</dev/null 2</dev/null", 1, None),
        (NO_ROOM + "whatif >full 2>full", 1, None),
        ("whatif --nodes 3 2>&-", 2, None),
        ("whatif --nodes 3 2</dev/null", 2, None),
        (NO_ROOM + "whatif --nodes 3 2>full", 2, None),
        ("whatif >/dev/null 2>&-", 0, None),
    ],
)
def test_what_cannot_be_written(tmp_path, command, status, said):
    python_b = 'whatif() { "$python" -B "$script" "$@"; }; '
    environment = {**PLAIN, "python": sys.executable, "script": str(WHATIF)}
    result = run("sh", "-c", python_b + command, env=environment, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (status, "")
    if said:
        line = result.stderr.splitlines()[-1]
        assert line.startswith("whatif.py: error: ") and said in sentence(line)
    else:
        assert result.stderr == ""


def test_a_reader_that_has_seen_enough():
    reader, writer = os.pipe()
    os.close(reader)
    result = python("-B", WHATIF, stdout=writer)
    os.close(writer)
    assert (result.returncode, result.stderr) == (0, "")


def test_ctrl_c():
    code = "import os, signal, whatif; interrupt = lambda _: os.kill(os.getpid(), signal.SIGINT)"
    result = python(
        "-B", "-c", f"{code}; raise SystemExit(whatif.run(interrupt))", cwd=WHATIF.parent
    )
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (130, "", 1)
    assert "interrupted" in sentence(result.stderr[:-1])


# ------------------------------------------------ older Pythons


PRETEND = """
import runpy, sys
sys.version_info, sys.argv = eval(sys.argv[1]), sys.argv[2:]
sys.path.insert(0, "report")
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_an_older_python_gets_one_sentence(module):
    result = python("-B", "-c", PRETEND, "(3, 9, 18)", module, "--nodes", "8", cwd=PROJECT)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith(f"{module.name} needs Python 3.10 or newer")


def test_python_3_10_is_enough():
    assert python("-B", "-c", PRETEND, "(3, 10, 0)", WHATIF, cwd=PROJECT).returncode == 0


@pytest.mark.parametrize("module", [PROJECT / "lab3.py", *MODULES], ids=lambda module: module.name)
def test_an_older_python_can_read_it(module):
    ast.parse(module.read_text(encoding="utf-8"), feature_version=(3, 7))
