"""The command line: `python3 report COMMAND`."""

import os
import sys

if sys.version_info < (3, 10):
    sys.exit("report needs Python 3.10 or newer; lab3.py needs 3.6")
if __name__ == "__main__":
    sys.excepthook = lambda kind, *rest: (  # Ctrl-C is quiet; Python then ends by its signal
        None if kind is KeyboardInterrupt else sys.__excepthook__(kind, *rest)
    )
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
COMMANDS = {  # a module of report, and what it does
    "whatif": ("whatif", "answer Q1 and Q2 for numbers other than the lab's"),
    "explain": ("explain", "explain the answers, and derive them from formulas"),
    "run": ("run", "run a class's submissions, and write each one's output to a file"),
    "check": (
        "check.command",
        "check a submission: what is right, and the mistake behind the rest",
    ),
    "picture": ("pictures", "draw who works when, or time per input against number of inputs"),
    "deck": ("deck.build", "build the slide deck"),
}
EXAMPLES = """\
python3 report whatif --nodes 8 --link-gbs 0.1
python3 report whatif --layer 64,3,5,5,32,32 --layer 32,64,3,3,28,28
python3 report explain
python3 report explain tensor pipeline --nodes 8
python3 report run submissions/ --output outputs/
python3 report check output.txt
python3 report check --key key.txt submissions/*.txt
python3 report picture timeline --nodes 8
python3 report picture limits --link-gbs 0.05 --output limits.png
python3 report deck
python3 report deck --output . --author 'First Last' --uid 123456789
""".splitlines()
INSTALL = "python3 -m venv .venv && .venv/bin/pip install -q -r report/requirements.txt"
RESTORE = "restore it, and keep yours elsewhere: python3 YOURS | python3 report check"


class Parser(argparse.ArgumentParser):
    """A parser that raises InputError for wrong options, and OSError if it cannot print help."""

    def __init__(self, **words: Any) -> None:
        looks = partial(argparse.RawDescriptionHelpFormatter, width=80)
        super().__init__(allow_abbrev=False, formatter_class=looks, **words)

    def error(self, message: str) -> NoReturn:
        raise InputError(message)

    def print_help(self, file: Any = None) -> None:
        print(self.format_help(), end="", file=file, flush=True)


def main(argv: list[str]) -> int:
    """Run a command and return the exit status: 0, also for help and a closed pipe; 1 if `check` or
    `run` finds a fault, output cannot be written or a library is missing; 2 for bad input."""
    name, *words = argv or ["--help"]
    try:
        status, why = run_command(name, words), ""
        sys.stdout.flush()
    except (Exception, SystemExit) as error:
        status, why = describe_failure(name, error)
    if why:
        why = "".join(letter if " " <= letter <= "~" else ascii(letter)[1:-1] for letter in why)
        with suppress(OSError):
            print(f"{PROG}: error: {why}", file=sys.stderr, flush=True)
    return status


def run_command(name: str, words: list[str]) -> int:
    """Run a command, whose module is imported only now, and return its exit status."""
    parsers = make_parsers()
    if name in ("-h", "--help"):
        parsers[PROG].print_help()
        return 0
    if name not in COMMANDS:
        raise InputError(f"{name!r} is not a command: {', '.join(COMMANDS)}")
    with redirect_stdout(StringIO()):  # another lab3.py may print its answers
        lab3 = import_module("lab3")
    lab3.validate(lab3.NETWORK, lab3.SYSTEM, lab3.INPUTS)
    module, parser = import_module(f"report.{COMMANDS[name][0]}"), parsers[name]
    module.add_options(parser)
    for word in words:
        if word.endswith("=--"):  # argparse drops that --
            raise InputError(f"{word[:-3]}: '--' is not a value")
    # argparse takes the -1e3 of "--gops -1e3" for an option, and mixes no words with -- and options
    words = re.sub(r"(\0--[a-z-]+)\0(?=-\.?\d)", r"\1=", "\0".join(["", *words])).split("\0")[1:]
    parse = parser.parse_known_args if "--" in words else parser.parse_known_intermixed_args
    options, unknown = parse(words)
    if unknown:
        known = ", ".join(re.findall("--[a-z-]+", parser.format_usage()))
        raise InputError(f"{parser.prog} does not take {unknown[0]!r}; its options: {known}")
    return int(module.run(options))


def make_parsers() -> dict[str, Parser]:
    """Make the parsers of the overview and of each command, by name, without options."""
    what = "The answers of lab3.py explained, checked, changed and drawn."
    overview, firsts = Parser(prog=PROG, description=what), list[str]()
    commands = overview.add_subparsers(metavar="COMMAND", title="commands")
    for name, (_, does) in COMMANDS.items():
        what = f"{does[0].upper()}{does[1:]}."
        examples = [f"  {example}" for example in EXAMPLES if example.split()[2] == name]
        firsts += examples[:1]
        epilog = "\n".join(["examples:", *examples])
        commands.add_parser(name, help=does, description=what, epilog=epilog)
    hint = f"\n{PROG} COMMAND --help shows its options, with more examples."
    overview.epilog = "\n".join(["examples:", *firsts, hint])
    return {PROG: overview, **commands.choices}


def describe_failure(command: str, error: BaseException) -> tuple[int, str]:
    """Return the exit status and the reason of a failure; re-raise what is a bug of report/."""
    if isinstance(error, InputError):
        return 2, str(error)
    what = f"{type(error).__name__}: {error}; {RESTORE}"
    for frame, line in walk_tb(error.__traceback__):
        if frame.f_globals.get("__name__") == "lab3":
            is_sentence = isinstance(error, ValueError)  # as of validate
            return 2, f"lab3.py: {error}" if is_sentence else f"lab3.py, line {line}: {what}"
    lacks = isinstance(error, (AttributeError, ImportError, SyntaxError, TypeError))
    if lacks and re.search(r"'lab3'|lab3\.py|\b(System|ConvLayer|\w+_parallel_\w+)\b", str(error)):
        return 2, f"lab3.py: {what}"  # a name, field or parameter is missing
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
