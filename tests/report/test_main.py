"""report/__main__.py: what the front door shows, from where it is found, and how commands end."""

import ast
import os
import re
import shutil
import signal
import sys

import pytest

import lab3
from program import PLAIN, PROJECT, output, python, refusal, run, sentence, shell
from report.__main__ import COMMANDS, INSTALL

REPORT = PROJECT / "report"
ALONE = [sys.executable, "-B", "-I", "-S"]  # without any library

# ------------------------------------------------ what it shows


@pytest.mark.parametrize("line", ["", "-h", "help", "help --help"])
def test_the_overview_has_every_command_and_an_example(line):
    lines = output(line).splitlines()
    for name, (_, does, example, *_) in COMMANDS.items():
        at = lines.index(f"{name:<9}{does}")
        assert lines[at + 1].strip() == f"python3 report {example}"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_needs_no_library(name):
    result = run(*ALONE, REPORT, name, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.isascii() and max(map(len, result.stdout.splitlines())) <= 80
    assert result.stdout.startswith(f"usage: python3 report {name} ")
    examples = "".join(f"  python3 report {example}\n" for example in COMMANDS[name][2:])
    assert result.stdout.endswith(f"\nexamples:\n{examples}")
    assert {output(f"help {name}"), output(f"{name} -h")} == {result.stdout}


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """The project, where what examples write does not stay in it."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(REPORT, folder / "report", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(PROJECT / "lab3.py", folder)
    (folder / "submissions").mkdir()
    shell(
        "python3 lab3.py | tee output.txt key.txt submissions/a.txt > submissions/b.txt", cwd=folder
    )
    return folder


EXAMPLES = [example for _, _, *examples in COMMANDS.values() for example in examples]


# the README's test and tests/deck build the deck, which takes seconds
@pytest.mark.parametrize("example", [it for it in EXAMPLES if not it.startswith("deck")])
def test_an_example_of_the_help_works(copied, example):
    result = shell(f"python3 report {example}", cwd=copied)
    assert (result.returncode, result.stderr) == (0, "")
    _, _, file = example.partition(" > ")
    assert (copied / file).stat().st_size if file else result.stdout


# ------------------------------------------------ from where


@pytest.mark.parametrize("arguments", [["-I", "report"], ["-m", "report"], ["-I", "-S", REPORT]])
def test_it_finds_lab3_from_any_folder(tmp_path, arguments):
    folder = tmp_path if REPORT in arguments else PROJECT
    (tmp_path / "lab3.py").write_text("raise SystemExit('not this one')")
    result = python(*arguments, "whatif", cwd=folder)
    assert (result.returncode, result.stdout, result.stderr) == (0, output("whatif"), "")


NOT_THIS = "report needs this project's lab3.py; keep yours elsewhere and pipe in what it prints: "


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("print('Total latency of tensor parallelism is 1 seconds')\n", NOT_THIS),
        ("import sys, lab\n", NOT_THIS),
        ("raise SystemExit(0)\n", NOT_THIS),
        (None, NOT_THIS),
        ("INPUTS = (32\n", "lab3.py: SyntaxError: "),
        ("INPUTS = inputs\n", "lab3.py: NameError: name 'inputs' is not defined"),
    ],
)
def test_another_lab3_in_its_place_is_told(tmp_path, source, said):
    shutil.copytree(REPORT, tmp_path / "report")
    if source:
        (tmp_path / "lab3.py").write_text(source)
    for command in ("check", "whatif --help"):
        result = python("report", *command.split(), cwd=tmp_path, input="")
        assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
        assert sentence(result.stderr).startswith(said)


# ------------------------------------------------ how commands end


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a full disk")
@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        ("whatif >/dev/full", 1, "cannot write: No space left on device"),
        ("whatif >&-", 1, "cannot write: stdout is closed"),
        ("whatif --help >/dev/full", 1, "cannot write: No space left on device"),
        ("whatif --help >&-", 1, "cannot write: stdout is closed"),
        ("whatif 1</dev/null", 1, "cannot write: Bad file descriptor"),
        ("whatif --nodes 3 >/dev/full", 2, "Tensor parallelism is not possible"),
        ("whatif --inputs 0 >&-", 2, "--inputs"),
        # nobody hears of it, but the status tells
        ("whatif >/dev/full 2>/dev/full", 1, ""),
        ("whatif --nodes 3 2>/dev/full", 2, ""),
        ("whatif --inputs 0 2>/dev/full", 2, ""),
        ("whatif --nodes 3 2>&-", 2, ""),
    ],
)
def test_the_ending_of(command, status, said):
    for python3 in ("python3", "python3 -u"):
        result = shell(f"{python3} report {command}")
        assert (result.returncode, result.stdout) == (status, "")
        assert said in sentence(result.stderr) if said else result.stderr == ""


@pytest.mark.parametrize("line", [["trace"], ["whatif", "--help"]])
def test_a_closed_pipe_is_no_error(line):
    reader, writer = os.pipe()
    os.close(reader)
    result = python("report", *line, stdout=writer)
    os.close(writer)
    assert (result.returncode, result.stderr) == (0, "")


def test_ctrl_c_while_a_library_is_imported(tmp_path):
    interrupt = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(30)\n"
    (tmp_path / "matplotlib.py").write_text(interrupt)
    result = python(
        *("report", "picture", "timeline", "--output", tmp_path / "timeline.svg"),
        env={**PLAIN, "PYTHONPATH": str(tmp_path)},
        # a suite that is started in the background hands on that it ignores Ctrl-C
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (130, "", 1)
    assert sentence(result.stderr) == "interrupted"


@pytest.mark.parametrize("line", [["picture", "timeline"], ["deck"]])
def test_a_missing_library_is_told_how_to_install(tmp_path, line):
    result = run(*ALONE, REPORT, *line, cwd=tmp_path)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert re.match(rf"python3 report: error: {line[0]} needs (matplotlib|typst): ", result.stderr)
    assert INSTALL in result.stderr and f".venv/bin/python report {line[0]}" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_the_terminal_cannot_show_is_escaped(tmp_path):
    picture = tmp_path / "caf\u00e9.svg"
    result = python(
        *("report", "picture", "timeline", "--output", picture),
        env={**PLAIN, "PYTHONIOENCODING": "ascii"},
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert r"caf\xe9.svg" in result.stdout.splitlines()[-1]
    assert picture.exists()


# ------------------------------------------------ what is refused before a command


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("plns", "'plns' is not a command; did you mean plans?"),
        ("help explian", "'explian' is not a command; did you mean explain?"),
        ("pla", "'pla' is not a command; did you mean plans?"),  # not explain
        ("zzz", f"'zzz' is not a command; there are {', '.join(COMMANDS)}"),
        ("tensor", "'tensor' is not a command; did you mean explain tensor?"),
        ("q1", "'q1' is not a command; did you mean explain q1?"),
        ("sram", "'sram' is not a command; did you mean explain sram?"),  # a picture, too
        ("timeline", "'timeline' is not a command; did you mean picture timeline?"),
        ("--nodes 3 whatif", "the command comes first: python3 report whatif --nodes ..."),
        ("--gops=3 -x explain Q1", "the command comes first: python3 report explain --gops ..."),
        ("-V 8", f"'-V' is not a command; there are {', '.join(COMMANDS)}"),
        ("--json", "'--json' is not a command; did you mean explain --json?"),
        ("explain --node 8", "'--node' is not an option of explain; did you mean --nodes?"),
        ("whatif -n 8", "'-n' is not an option of whatif; did you mean --nodes?"),
        ("whatif nodes=8", "'nodes=8' is one word too many for whatif; did you mean --nodes?"),
        (
            "deck --nodes 8",
            "'--nodes' is not an option of deck; there are --output, --author, --uid, --date",
        ),
        ("whatif --inp 3", "'--inp' is not an option of whatif; did you mean --inputs?"),
        ("whatif 3 --gbs=3", "'--gbs' is not an option of whatif; did you mean --link-gbs?"),
        ("whatif 3", "'3' is one word too many for whatif"),
        ("whatif 3=--", "'3=--' is one word too many for whatif"),
        ("picture timeline sram", "'sram' is one word too many for picture"),
        ("plans 1-2:2,3,4", "'1-2:2,3,4' is a plan: write --plan 1-2:2,3,4"),
        ("trace pipeline", "'pipeline' is a plan: write --plan pipeline"),
        (
            "picture timelin",
            "argument {timeline,limits,plans,sram}: 'timelin' is not a picture; did you mean"
            " timeline?",
        ),
    ],
)
def test_what_is_refused_says_what_was_meant(line, told):
    assert refusal(line) == told


def test_what_follows_two_dashes_is_no_option():
    assert refusal("check -- -x.txt").endswith("-x.txt: No such file or directory")


def test_a_wrong_option_without_likeness_is_told_all():
    said = refusal("plans --nodes 4 --zzz")
    assert re.findall("--[a-z-]+", output("plans --help").split("\n\n")[0]) == re.findall(
        "--[a-z-]+", said.split("there are ")[1]
    )


def pythons(minors):
    """Those on the path that run."""
    found = filter(None, (shutil.which(f"python3.{minor}") for minor in minors))
    return [python3 for python3 in found if run(python3, "-c", "pass").returncode == 0]


@pytest.mark.parametrize("interpreter", [sys.executable, *pythons(range(10, 20))])
def test_two_dashes_are_no_value_of_an_option(tmp_path, interpreter):
    for words in (
        ["whatif", "--link-gbs=--"],
        ["whatif", "--layer=8,8,1,1,8,8", "--layer=--"],
        ["trace", "--plan=pipeline", "--plan=--"],
        ["picture", "timeline", "--output=--"],
        ["deck", "--author=--"],
    ):
        result = run(interpreter, "-B", "-I", "-S", REPORT, *words, cwd=tmp_path)
        assert (result.returncode, result.stdout) == (2, ""), words
        assert words[-1].split("=")[0] in sentence(result.stderr)
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------ older Pythons

PRETEND = """
import runpy, sys
sys.version_info, sys.argv = eval(sys.argv[1]), ["report", "whatif"]
runpy.run_path("report", run_name="__main__")
"""


TOO_OLD = "report needs Python 3.10 or newer; lab3.py needs 3.6\n"


def test_python_3_9_gets_one_sentence():
    result = python("-c", PRETEND, "(3, 9, 18)")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == TOO_OLD
    assert python("-c", PRETEND, "(3, 10, 0)").returncode == 0


@pytest.mark.parametrize(
    "words",
    [
        ["help"],
        ["whatif", "--nodes", "2"],
        ["explain"],
        ["explain", "all"],
        ["explain", "--json"],
        ["check"],
        ["plans", "--plan", "1-4"],
        ["trace", "--inputs", "1"],
        ["deck", "--help"],
    ],
    ids=" ".join,
)
def test_a_docstring_is_printed_whole_or_not_at_all(tmp_path, words):
    submission = output("whatif --nodes 2") if words == ["check"] else ""
    plain, without = (
        python(*options, REPORT, *words, cwd=tmp_path, input=submission)
        for options in ([], ["-OO"])
    )
    assert (without.returncode, without.stderr) == (plain.returncode, plain.stderr)
    assert plain.stdout and not plain.stderr
    assert without.stdout.split() == plain.stdout.replace(lab3.__doc__.strip(), "").split()


def test_python_3_6_can_read_that_sentence():
    for name in ("__main__.py", "__init__.py"):
        text = (REPORT / name).read_text(encoding="utf-8")
        assert ast.parse(text, feature_version=(3, 6)) and "__future__" not in text
