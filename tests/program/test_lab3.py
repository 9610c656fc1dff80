"""What `python3 lab3.py` prints, to the byte: it is what is handed in."""

import re
import runpy
import sys

import pytest

from program import PLAIN, PROJECT, SCRIPT, python, run, sentence

ANSWERS = """\
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


@pytest.mark.parametrize("flags", [[], ["-I", "-S"], ["-OO"], ["-W", "error", "-bb", "-X", "dev"]])
def test_the_answers(tmp_path, flags):
    result = python(*flags, SCRIPT, cwd=tmp_path, text=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, ANSWERS.encode(), b"")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("settings", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}])
def test_the_answers_in_any_locale(settings):
    assert python(SCRIPT, env={**PLAIN, **settings}, text=False).stdout == ANSWERS.encode()


def test_it_is_a_program():
    path = f"{sys.exec_prefix}/bin:{PLAIN['PATH']}"
    assert run(SCRIPT, env={**PLAIN, "PATH": path}).stdout == ANSWERS


@pytest.mark.parametrize(("arguments", "status"), [([], 0), (["--json"], 2)])
def test_its_exit_status(monkeypatch, capsys, arguments, status):
    monkeypatch.setattr(sys, "argv", ["lab3.py", *arguments])
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    assert caught.value.code == status
    assert capsys.readouterr().out == ("" if status else ANSWERS)


def test_its_import_prints_nothing():
    result = python("-B", "-c", "import lab3", cwd=PROJECT)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def check_refused(result, *facts):
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    said = sentence(result.stderr[:-1])
    assert [fact for fact in facts if fact not in said] == []
    return said


@pytest.mark.parametrize("arguments", [["--nodes", "8"], ["--json"], ["--help"], [""]])
def test_an_argument_is_told_where_to_go(arguments):
    said = check_refused(python(SCRIPT, *arguments), "report/", "--json")
    scripts = re.findall(r"\w+\.py", said)
    assert scripts == ["whatif.py", "explain.py"]
    assert [name for name in scripts if not (PROJECT / "report" / name).exists()] == []


# ------------------------------------------------ its constants, changed in a copy


def edited(tmp_path, before, after):
    source = SCRIPT.read_text(encoding="utf-8")
    assert source.count(before) == 1
    (tmp_path / "lab3.py").write_text(source.replace(before, after), encoding="utf-8")
    return python("-B", tmp_path / "lab3.py", cwd=tmp_path)


@pytest.mark.parametrize(
    ("before", "after", "numbers"),
    [
        # N * 3,127.26016 and 12,435.31264 + (N - 1) * 4,624.22016 us; N * 1,923,072 and N * 604,160
        ("INPUTS = 32", "INPUTS = 2", "2 0.00625452032 3846144 0.0170595328 1208320"),
        ("INPUTS = 32", "INPUTS = 5", "5 0.0156363008 9615360 0.03093219328 3020800"),
        # with two nodes each step of tensor parallelism takes twice as long, each all-gather moves
        # 2 shards and the gather one, of halves: 230,400 + 200,704 + 173,056 + 73,728 bytes
        ("nodes: int = 4", "nodes: int = 2", "32 0.20014465024 21692416 4 4 2"),
        ("nodes: int = 4", "nodes: int = 5", "32 5 1 128 0.1557861376 19333120"),
        (
            "str = ALL_TO_ALL",
            "str = RING",
            "32 0.10608525312 65077248 0.1557861376 19333120",
        ),
    ],
)
def test_other_constants(tmp_path, before, after, numbers):
    result = edited(tmp_path, before, after)
    assert (result.returncode, result.stderr) == (0, "")
    of_q2 = result.stdout.split("Q2")[1]
    assert re.findall(r"[\d.]+", of_q2) == numbers.split()


def test_one_input_is_asked_for_once(tmp_path):
    result = edited(tmp_path, "INPUTS = 32", "INPUTS = 1")
    assert result.stdout == "".join(ANSWERS.splitlines(keepends=True)[:5])


@pytest.mark.parametrize(
    ("before", "after", "facts"),
    [
        ("INPUTS = 32", "INPUTS = 0", ["inputs", "0"]),
        ("50 * 10**9", "5e10", ["ops_per_s", "50000000000.0", "int", "Fraction"]),
        ("str = ALL_TO_ALL", "str = 'star'", ["topology", "'star'", "all-to-all", "ring"]),
        ("128, 128, 3, 3, 28, 28", "128, 128, 3, 3, 28, 27", ["layer 3", "28", "27", "padding"]),
        ("nodes: int = 4", "nodes: int = 3", ["Tensor", "128 filters", "Pipeline", "3", "4 nodes"]),
    ],
)
def test_constants_that_cannot_be_modelled(tmp_path, before, after, facts):
    check_refused(edited(tmp_path, before, after), *facts)
