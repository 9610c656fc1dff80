"""report/__main__.py: help, where it is found, other constants, wrong words, how it ends."""

import os
import re
import signal
import sys
from fractions import Fraction
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

import lab3
from machines import LAB, ODD
from program import LAB3, PROJECT, call, copy_project, edit, output, python, sentence, shell
from report.__main__ import COMMANDS, EXAMPLES, INSTALL, PROG

REPORT = PROJECT / "report"
ALONE = "-I", "-S", REPORT  # without any library


def check_end(result, status, *words):
    """Assert that a process printed nothing and ended with this status, and with a sentence that
    has these words if there are any."""
    assert (result.returncode, result.stdout) == (status, "")
    assert result.stderr.count("\n") == bool(words)
    assert all(word in sentence(result.stderr) for word in words)


# ------------------------------------------------ help, from where
@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_needs_no_library_and_has_examples(name):
    result = python(*ALONE, *name.split(), "--help")
    assert result.stdout == output(f"{name} -h")
    assert COMMANDS[name or "run"][1][1:] in " ".join(result.stdout.split())
    assert name or f"\n{PROG} COMMAND --help shows " in result.stdout
    own = [f"  {example}" for example in EXAMPLES if f" {name or 'explain'}" in example]
    assert own and {*own[: None if name else 1]} <= {*result.stdout.splitlines()}


# the README's test and tests/deck build the deck, which takes seconds
@pytest.mark.parametrize("example", [it for it in EXAMPLES if " deck" not in it])
def test_an_example_of_the_help_works(tmp_path, monkeypatch, example):
    monkeypatch.chdir(tmp_path)
    os.mkdir("submissions")
    Path("submissions/lab3.py").write_text(LAB3)
    for name in ("output.txt", "key.txt", "submissions/a.txt"):
        Path(name).write_text(f"{lab3.answers(*LAB)}\n")
    assert output(edit(example, "python3 report ", "").replace("*.txt", "a.txt"))


@pytest.mark.parametrize("arguments", [["-I", "report"], ["-m", "report"], ALONE])
def test_it_finds_lab3_from_any_folder(tmp_path, arguments):
    folder = tmp_path if arguments is ALONE else PROJECT
    (tmp_path / "lab3.py").write_text("raise SystemExit('not this one')")
    answers = lab3.answers(*LAB)
    assert python(*arguments, "whatif", cwd=folder).stdout.startswith(answers)


# ------------------------------------------------ another lab3.py, other words
ALL = "whatif", "check", "explain --json"


@pytest.mark.parametrize(
    ("source", "named", "commands"),
    [
        ("print('Total latency of tensor parallelism is 1 seconds')\n", "YOURS", ALL),
        ("raise SystemExit(0)\n", "YOURS", ALL),
        ("INPUTS = (32\n", "SyntaxError", ALL),
        (edit(LAB3, "sram_bytes", "memory"), "has no attribute 'sram_bytes'; restore", ALL),
        (edit(LAB3, "fx", "width"), "has no attribute 'fx'; restore", ALL),
        (edit(LAB3, "return inputs * (c", "sys.exit(0) * (c"), ": SystemExit: 0", ALL),
        (edit(LAB3, "latency(network: Network, s", "latency(network, *, s"), "takes 1 pos", ALL),
        (edit(LAB3, "compute = C / (P * R)", "compute = C / ("), "never closed", ALL[1:]),
        (f"{LAB3}\nINPUTS = 0\n", "lab3.py: inputs: 0 must be", ALL),
    ],
)
def test_a_lab3_that_cannot_be_used_is_told_in_one_sentence(tmp_path, source, named, commands):
    copy_project(tmp_path, source)
    for command in commands:
        result = python("report", *command.split(), cwd=tmp_path, input="")
        check_end(result, 2, "lab3.py", named)


def test_fields_of_a_lab3_may_stand_in_another_order(tmp_path):
    fields = edit(LAB3, "fx: int  # width of a filter\n    fy", "fy: int\n    fx")
    first, second = "    nodes: int = 4\n", "    ops_per_s: Rate = 50000000000  # per node\n"
    copy_project(tmp_path, edit(fields, first + second, second + first))
    for line in ("whatif --nodes 2 --link-gbs 7", "explain --sram-kib 300 --layer 8,2,3,1,9,7"):
        assert python("report", *line.split(), cwd=tmp_path).stdout == output(line)


def test_changed_constants_hold_in_every_command(tmp_path):
    system = ODD.system._replace(ops_per_s=Fraction(10**6, 3))
    question = network, _, inputs = ODD._replace(system=system)
    constants = f"NETWORK = {network}\nSYSTEM = {system}\nINPUTS = {inputs}\n"
    copy_project(tmp_path, edit(LAB3, "if __name__", f"{constants}\n\nif __name__"))

    def printed(line, **more):
        result = python(*line.split(), cwd=tmp_path, **more)
        assert (result.returncode, result.stderr) == (0, "")
        return result.stdout

    answers = f"{lab3.answers(*question)}\n"
    assert printed("lab3.py") == answers
    assert printed("report whatif").startswith(f"{answers}Fits in ")
    assert printed("report check", input=answers)  # status 0: all right
    assert printed("report explain").startswith("8 inputs, 3 layers, 6 nodes, ")
    # what no option names stays lab3.py's
    more = f"what if: 9 inputs\n{lab3.answers(network, system, 9)}\n"
    assert printed("report whatif --inputs 9").startswith(more)
    shown = printed("report whatif --help")
    assert all(f"(default: {value})" in shown for value in (8, 6, 9, "0.00000125"))


HOSTILE = ["", " ", "a b", "it's", '"', "$(x)", "`x`", "-", "-h.", "\x1b[31m\a", "1\n2"]
HOSTILE += ["caf\u00e9", "\u202e", "\udcff", "x" * 9_999, "\x1b" * 9_999, "\u0663" * 9_999]


@pytest.mark.parametrize("word", HOSTILE)
def test_a_hostile_word_is_refused_in_one_printable_line(word, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)  # which `check -` reads
    for name in COMMANDS:
        options = re.findall(r"^  (--[a-z-]+)", output(f"{name} --help"), re.MULTILINE)
        options = [option for option in options if (name, option) != ("deck", "--output")]  # made
        assert options
        for line in ([word], [name, word], *([name, f"{option}={word}"] for option in options)):
            status, out, err = call(line)
            assert status in (1, 2) and out == "" and err.startswith("python3 report: error: ")
            assert err[-1:] == "\n" and err[:-1].isascii() and err[:-1].isprintable(), line


@pytest.mark.parametrize(
    ("line", "wrong", "right"),
    [
        ("chart", "'chart'", "whatif, explain, run, check, picture, deck"),
        ("explain bounds pipline --json", "'pipline'", "tensor, pipeline, bounds"),
        ("explain --link=1 tensor", "'--link=1'", "--link-gbs"),
        ("explain Q2 --inputs 1", "Q2", "--inputs 2 or more"),
        ("whatif --gops -1e3", "--gops: '-1e3'", "from 0.000001"),
        ("whatif --gops -.5e3", "--gops: '-.5e3'", "from 0.000001"),
        ("picture limits --output=--", "'--'", "not a value"),
        ("picture limits --output=", "''", ".svg or .png"),
    ],
)
def test_a_wrong_word_is_answered_with_those_that_are_right(line, wrong, right):
    status, out, err = call(line)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert wrong in sentence(err) and right in sentence(err)


@pytest.mark.parametrize("error", [ValueError, TypeError])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_bug_is_a_traceback_and_no_sentence_for_the_user(monkeypatch, name, error):
    def fail(options):
        raise error("zip() argument 2 is longer than argument 1")

    monkeypatch.setattr(f"report.{COMMANDS[name][0]}.run", fail)
    line = {"run": "run a.py --output b", "picture": "picture limits"}.get(name, name)
    with pytest.raises(error, match=r"zip\(\)"):
        call(line)


# ------------------------------------------------ how commands end
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a full disk")
@pytest.mark.parametrize(
    "words", ["report", "-u report whatif", "report explain all", "report explain --help"]
)
def test_a_full_disk_is_told_and_a_closed_stdout_or_pipe_is_no_error(words):
    check_end(shell(f"python3 {words} >/dev/full"), 1, "No space left")
    check_end(shell(f"python3 {words} >&-"), 0)
    piped = shell(f"{{ python3 {words}; echo $? >&2; }} | :")
    assert (piped.stdout, piped.stderr) == ("", "0\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a full disk")
def test_an_error_is_on_stderr_or_nowhere():
    check_end(shell("python3 report whatif --nodes 3 >/dev/full"), 2, "3 nodes")
    check_end(shell("python3 report picture limits --output no/lab3.py.svg >&-"), 1, "cannot write")
    for stderr in ("2>/dev/full", "2>&-", "2>&- >&-"):
        check_end(shell(f"python3 report whatif --nodes 3 {stderr}"), 2)


@pytest.mark.parametrize(
    ("module", "source", "ctrl_c", "status", "why"),
    [
        ("argparse", "time.sleep(30)", signal.SIG_DFL, 130, []),  # the first that is imported
        ("matplotlib", "time.sleep(30)", signal.SIG_DFL, 130, []),  # the last
        # in the background, where Ctrl-C is ignored; nor can matplotlib write
        ("matplotlib", "raise OSError('no\\nfolder')", signal.SIG_IGN, 1, [r"no\nfolder"]),
    ],
)
def test_what_ends_while_it_imports_is_no_traceback(tmp_path, module, source, ctrl_c, status, why):
    interrupt = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\n"
    (tmp_path / f"{module}.py").write_text(interrupt + source)
    draw = f"PYTHONPATH={tmp_path} python3 report picture limits --output {tmp_path}/a.svg"
    result = shell(f"{draw}; exit $?", preexec_fn=lambda: signal.signal(signal.SIGINT, ctrl_c))
    check_end(result, status, *why)


@pytest.mark.parametrize(("line", "need"), [("picture timeline", "matplotlib"), ("deck", "typst")])
def test_a_missing_library_is_told_how_to_install(tmp_path, line, need):
    assert (PROJECT / INSTALL.partition(" -r ")[2]).is_file()
    result = python(*ALONE, *line.split(), cwd=tmp_path)
    check_end(result, 1, need, f"run {INSTALL} in the project's folder", ".venv/bin/python")
    assert list(tmp_path.iterdir()) == []


def find_pythons(versions):
    """Find the Pythons of these versions, a pattern, beside this one."""
    return [str(it) for it in Path(sys.base_prefix).parent.glob(f"{versions}.*/bin/python")]


@pytest.mark.parametrize("interpreter", find_pythons("3.[6-9]"))
def test_an_older_python_gets_one_sentence(interpreter):
    result = shell(f"{interpreter} {REPORT} whatif")
    told = "report needs Python 3.10 or newer; lab3.py needs 3.6\n"
    assert (result.returncode, result.stdout, result.stderr) == (1, "", told)


@pytest.mark.parametrize("interpreter", [sys.executable, *find_pythons("3.1[02-9]")])
def test_every_other_python_gives_the_same(interpreter):
    report = f"{interpreter} -B -I -S {REPORT}"
    assert shell(f"{report} explain all").stdout == output("explain all")
    mixed = shell(f"{report} explain Q1 --nodes 8 Q2 --inputs=3").stdout
    assert mixed == output("explain Q1 Q2 --nodes 8 --inputs 3")
    check_end(shell(f"{report} explain -- --zzz"), 2, "'--zzz' is not a topic")
    check_end(shell(f"{report} whatif --inputs=--"), 2, "--inputs: '--' is not a value")
