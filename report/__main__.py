"""The command line: `python3 report COMMAND`."""

import os
import sys

if sys.version_info < (3, 10):
    sys.exit("report needs Python 3.10 or newer; lab3.py needs 3.6")
if __name__ == "__main__":  # Ctrl-C shows no traceback; Python then ends by the signal
    sys.excepthook = lambda *it: None if it[0] is KeyboardInterrupt else sys.__excepthook__(*it)
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))  # has lab3, report

import argparse
import re
from contextlib import redirect_stdout, suppress
from functools import partial
from importlib import import_module
from io import StringIO
from traceback import walk_tb
from typing import Any, NoReturn

from report import InputError

PROG = "python3 report"
TEXT = """\
report.whatif: answer Q1 and Q2 for numbers other than the lab's
  python3 report whatif --nodes 8 --link-gbs 0.1
  python3 report whatif --inputs 64 --element-bytes 4
  python3 report whatif --layer 64,3,5,5,32,32 --layer 32,64,3,3,28,28
report.explain: explain the answers and derive every number
  python3 report explain
  python3 report explain tensor pipeline --nodes 8
  python3 report explain Q3 --sram-kib 1024
report.run: run a class's submissions, and write each one's output to a file
  python3 report run submissions/ --output outputs/
report.check.command: check a submission: what is right, and the mistake behind the rest
  python3 report check output.txt
  python3 report check submissions/*.txt
  python3 report check --key key.txt submissions/*.txt
report.pictures: draw who works when, or the time per input against the number of inputs
  python3 report picture timeline --nodes 8
  python3 report picture limits --link-gbs 0.05 --output limits.png
report.deck.build: build the slide deck
  python3 report deck
  python3 report deck --output . --author 'First Last' --uid 123456789
"""
COMMANDS = {  # by name: the module, what it does, examples
    rows.split()[2]: (module, does, *rows.splitlines())
    for module, does, rows in re.findall(r"(\S+): (.*)\n((?: .*\n)+)", TEXT)
}
INSTALL = "python3 -m venv .venv && .venv/bin/pip install -q -r report/requirements.txt"
RESTORE = "restore it, and keep yours elsewhere: python3 YOURS | python3 report check"


class Parser(argparse.ArgumentParser):
    """A parser that raises InputError for wrong options, and OSError if it cannot print help."""

    def error(self, message: str) -> NoReturn:
        raise InputError(message)

    def print_help(self, file: Any = None) -> None:
        print(self.format_help(), end="", file=file, flush=True)


def main(argv: list[str]) -> int:
    """Run a command and return the exit status: 0, also for help and a closed pipe; 1 if numbers or
    a format are wrong, output cannot be written or a library is missing; 2 for bad input."""
    argv = argv or ["--help"]
    try:
        status = run_command(*argv)
        sys.stdout.flush()
        return status
    except (Exception, SystemExit) as error:
        status, why = describe_failure(argv[0], error)
    if status:
        why = "".join(letter if " " <= letter <= "~" else ascii(letter)[1:-1] for letter in why)
        with suppress(OSError):
            print(f"{PROG}: error: {why}", file=sys.stderr, flush=True)
    return status


def run_command(name: str, *words: str) -> int:
    """Run a command, whose module is imported only now, and return its exit status."""
    looks: Any = {"formatter_class": partial(argparse.RawDescriptionHelpFormatter, width=80)}
    parser = Parser(PROG, allow_abbrev=False, **looks)
    parser.description = "The answers of lab3.py explained, checked, changed and drawn."
    parser.epilog = "\n".join(["examples:", *(example for _, _, example, *_ in COMMANDS.values())])
    parser.epilog += f"\n\n{PROG} COMMAND --help shows its options, with more examples."
    commands = parser.add_subparsers(metavar="COMMAND", title="commands")
    for title, (_, does, *examples) in COMMANDS.items():
        looks |= {"help": does, "description": f"{does[0].upper()}{does[1:]}."}
        looks["epilog"] = "\n".join(["examples:", *examples])
        commands.add_parser(title, allow_abbrev=False, **looks)
    if name in ("-h", "--help"):
        parser.print_help()
        return 0
    if name not in COMMANDS:
        raise InputError(f"{name!r} is not a command: {', '.join(COMMANDS)}")
    with redirect_stdout(StringIO()):  # another lab3.py may print its answers
        lab3 = import_module("lab3")
    lab3.validate(lab3.NETWORK, lab3.SYSTEM, lab3.INPUTS)
    module, command = import_module(COMMANDS[name][0]), commands.choices[name]
    module.add_options(command)
    for word in words:
        if word.endswith("=--"):  # argparse drops that --
            raise InputError(f"argument {word[:-3]}: '--' is not a value")
    # argparse cannot mix words with options if -- is among them
    parse = command.parse_known_args if "--" in words else command.parse_known_intermixed_args
    options, unknown = parse(words)
    if unknown:
        known = ", ".join(re.findall("--[a-z-]+", command.format_usage()))
        raise InputError(f"{command.prog} does not take {unknown[0]!r}; its options: {known}")
    return int(module.run(options))


def describe_failure(command: str, error: BaseException) -> tuple[int, str]:
    """Return the exit status and the reason of a failure; re-raise an unexpected error."""
    if isinstance(error, InputError):
        return 2, str(error)
    what = f"{type(error).__name__}: {error}; {RESTORE}"
    for frame, line in walk_tb(error.__traceback__):
        if frame.f_globals.get("__name__") == "lab3":
            is_told = isinstance(error, ValueError)
            return 2, f"lab3.py: {error}" if is_told else f"lab3.py, line {line}: {what}"
    lacks = isinstance(error, (AttributeError, ImportError, SyntaxError, TypeError))
    if lacks and re.search(r"'lab3'|lab3\.py|\b(System|ConvLayer|\w+_parallel_\w+)\b", str(error)):
        return 2, f"lab3.py: {what}"  # lacks a name, field or parameter
    if isinstance(error, (BrokenPipeError, SystemExit)):  # argparse has printed help
        return 0, ""
    if isinstance(error, ModuleNotFoundError):
        how = f"run {INSTALL} in the project's folder, then type .venv/bin/python for python3"
        return 1, f"{command} needs {error.name}: {how}"
    if isinstance(error, OSError):
        where = f" {error.filename!r}" if error.filename else ""
        return 1, f"cannot write{where}: {error.strerror or error}"
    raise error


if __name__ == "__main__":
    sys.stdout, sys.stderr = sys.stdout or StringIO(), sys.stderr or StringIO()  # None if closed
    status = main(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # already reported; else the exit would repeat it
            stream.close()
    sys.exit(status)
