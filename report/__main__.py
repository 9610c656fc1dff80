"""The command line: `python3 report COMMAND`."""

import sys

if sys.version_info < (3, 10):
    sys.exit("report needs Python 3.10 or newer; lab3.py needs 3.6")
import signal

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) == signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C is quiet during imports

import argparse
import re
from contextlib import redirect_stdout, suppress
from importlib import import_module
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from traceback import walk_tb
from typing import Any, NoReturn

PROG = "python3 report"
COMMANDS = {  # its module, what it does, examples
    "whatif": (
        "report.whatif",
        "answer Q1 and Q2 for numbers other than the lab's",
        "whatif --nodes 8 --link-gbs 0.1",
        "whatif --inputs 64 --element-bytes 4",
        "whatif --layer 64,3,5,5,32,32 --layer 32,64,3,3,28,28",
    ),
    "explain": (
        "report.explain",
        "explain the answers and derive every number",
        "explain",
        "explain tensor pipeline --nodes 8",
        "explain Q3 --sram-kib 1024",
    ),
    "run": (
        "report.run",
        "run a class's submissions, and write each one's output to a file",
        "run submissions/ --output outputs/",
    ),
    "check": (
        "report.check.command",
        "check a submission: what is right, and the mistake behind the rest",
        "check output.txt",
        "check submissions/*.txt",
        "check --key key.txt submissions/*.txt",
    ),
    "picture": (
        "report.pictures",
        "draw who works when, or the time per input against the number of inputs",
        "picture timeline --nodes 8",
        "picture limits --link-gbs 0.05 --output limits.png",
    ),
    "deck": (
        "report.deck.build",
        "build the slide deck",
        "deck",
        "deck --output . --author 'First Last' --uid 123456789",
    ),
}
INSTALL = "python3 -m venv .venv && .venv/bin/pip install -q -r report/requirements.txt"
NEEDED = {  # names of lab3.py and its classes that other modules use
    "lab3": "NETWORK SYSTEM INPUTS Network Rate System ConvLayer ImpossibleError validate answers"
    " format_decimal tensor_parallel_latency tensor_parallel_traffic pipeline_parallel_latency"
    " pipeline_parallel_traffic",
    "System": "nodes ops_per_s link_bytes_per_s sram_bytes",
    "ConvLayer": "filters in_channels fx fy x y element_bytes output_bytes",
}


class Parser(argparse.ArgumentParser):
    """A parser that raises ValueError for wrong options, and accepts no abbreviations."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            allow_abbrev=False,
            formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=80),
            **settings,
        )
        self._negative_number_matcher = re.compile(r"-\.?\d")  # -1e3 is a value, as in Python 3.14

    def error(self, message: str) -> NoReturn:
        """Raise ValueError; argparse's own method also prints the usage, and exits."""
        raise ValueError(message)

    def parse_words(self, words: list[str]) -> argparse.Namespace:
        """Parse words on both sides of options. Raises ValueError for unknown ones."""
        for word in words:
            if word.endswith("=--"):  # argparse drops that --
                raise ValueError(f"argument {word[:-3]}: '--' is not a value")
        # argparse cannot mix words with options if -- is among them
        parse = self.parse_known_args if "--" in words else self.parse_known_intermixed_args
        options, unknown = parse(words)
        if unknown:
            known = ", ".join(re.findall("--[a-z-]+", self.format_usage()))
            raise ValueError(f"{self.prog} does not take {unknown[0]!r}; its options: {known}")
        return options

    def print_help(self, file: Any = None) -> None:
        """Print help, or raise OSError; argparse's own method ignores it."""
        print(self.format_help(), end="", file=file, flush=True)


def main(argv: list[str]) -> int:
    """Run a command and return the exit status: 0, also for help and a closed pipe; 1 if numbers or
    a format are wrong, output cannot be written or a library is missing; 2 for bad input."""
    status = 0
    try:
        options = parse(argv or ["--help"])
        if options:
            if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
                signal.signal(signal.SIGINT, signal.default_int_handler)  # a command may clean up
            status = options.run(options)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        return 0
    except (Exception, SystemExit) as error:
        status, why = describe_failure(argv[0], error)
        return fail(status, why)


def describe_failure(command: str, error: BaseException) -> tuple[int, str]:
    """Return the exit status and the reason of a failure; re-raise an unexpected error."""
    for frame, line in walk_tb(error.__traceback__):
        if frame.f_globals.get("__name__") == "lab3":
            return 2, f"lab3.py, line {line}: {type(error).__name__}: {error}"
    if isinstance(error, TypeError) and str(error).partition("()")[0] in NEEDED["lab3"].split():
        return 2, f"lab3.py: {error}"  # its parameters were changed
    if isinstance(error, (ValueError, OverflowError)):
        return 2, str(error)
    if isinstance(error, ModuleNotFoundError):
        how = f"run {INSTALL} in the project's folder, then type .venv/bin/python for python3"
        return 1, f"{command} needs {error.name}: {how}"
    if isinstance(error, OSError):
        where = f" {error.filename!r}" if error.filename else ""
        return 1, f"cannot write{where}: {error.strerror or error}"
    raise error


def fail(status: int, why: str) -> int:
    """Print on stderr why a command fails, in one line of printable ASCII; return its status."""
    why = "".join(letter if " " <= letter <= "~" else ascii(letter)[1:-1] for letter in why)
    with suppress(OSError):
        print(f"{PROG}: error: {why}", file=sys.stderr, flush=True)
    return status


def parse(argv: list[str]) -> argparse.Namespace | None:
    """Parse a command's words and options, mixed in any order; its module is imported only now.
    Returns None if help was printed."""
    parser = Parser(
        prog=PROG,
        description="The answers of lab3.py explained, checked, changed and drawn.",
        epilog=format_examples([example for _, _, example, *_ in COMMANDS.values()])
        + f"\n\n{PROG} COMMAND --help shows its options, with more examples.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", title="commands", required=True)
    for name, (_, does, *examples) in COMMANDS.items():
        what, how = f"{does[0].upper()}{does[1:]}.", format_examples(examples)
        commands.add_parser(name, help=does, description=what, epilog=how)
    name, *words = argv
    if name in ("-h", "--help"):
        parser.print_help()
        return None
    check_lab3()
    if name not in COMMANDS:
        raise ValueError(f"{name!r} is not a command: {', '.join(COMMANDS)}")
    module, command = import_module(COMMANDS[name][0]), commands.choices[name]
    module.add_options(command)
    command.set_defaults(run=module.run)
    with suppress(SystemExit):  # argparse has printed help
        return command.parse_words(words)
    return None


def format_examples(examples: list[str]) -> str:
    """List commands as they are typed."""
    return "\n  ".join(["examples:", *(f"{PROG} {example}" for example in examples)])


def check_lab3() -> None:
    """Raise ValueError if lab3.py cannot be imported, lacks a name, or has wrong constants."""
    hint = "restore it, and keep yours elsewhere: python3 YOURS | python3 report check"
    try:
        with redirect_stdout(StringIO()):  # another lab3.py may print its answers
            lab3 = import_module("lab3")
    except (ModuleNotFoundError, SyntaxError, SystemExit) as error:
        raise ValueError(f"lab3.py: {type(error).__name__}: {error}; {hint}") from None
    for owner, names in NEEDED.items():
        for name in names.split():
            if not hasattr(lab3 if owner == "lab3" else getattr(lab3, owner), name):
                raise ValueError(f"lab3.py lacks {owner}.{name}: {hint}")
    try:
        lab3.validate(lab3.NETWORK, lab3.SYSTEM, lab3.INPUTS)
    except ValueError as error:
        raise ValueError(f"lab3.py: {error}") from None


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])  # the folder of lab3 and report
    sys.stdout = sys.stdout or TextIOWrapper(BytesIO())  # None if it is closed
    sys.stderr = sys.stderr or TextIOWrapper(BytesIO())
    try:
        status = main(sys.argv[1:])
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # already reported; else the exit would repeat it
            stream.close()
    sys.exit(status)
