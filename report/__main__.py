"""The front door: `python3 report COMMAND`."""

import sys

if sys.version_info < (3, 10):
    sys.exit("report needs Python 3.10 or newer; lab3.py needs 3.6")
if __name__ == "__main__":
    import signal

    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:  # not ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C is quiet, also during these imports

import argparse
import re
from contextlib import redirect_stdout, suppress
from importlib import import_module
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn

PROG = "python3 report"
COMMANDS = {  # its module, what it does, examples
    "whatif": (
        "report.question",
        "answer Q1 and Q2 for other numbers than the lab's",
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
NOT_OURS = (
    "lab3.py is not this project's: restore it, keep yours elsewhere,"
    " then python3 YOURS | python3 report check"
)


class Parser(argparse.ArgumentParser):
    """A parser that raises ValueError for wrong options, and takes none that is abbreviated."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            allow_abbrev=False,
            formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=80),
            **settings,
        )

    def error(self, message: str) -> NoReturn:
        """Raise ValueError; argparse's own prints the usage, too, and exits."""
        raise ValueError(message)

    def print_help(self, file: Any = None) -> None:
        """Print help, or fail; argparse's own is silent if it cannot print."""
        print(self.format_help(), end="", file=file, flush=True)


def main(argv: list[str]) -> int:
    """Run a command and return the exit status: 0, also for help and a closed pipe; 1 if numbers or
    a format are wrong, output cannot be written or a library is missing; 2 for bad input."""
    try:
        status = run_command(argv)
        sys.stdout.flush()
        return status
    except SystemExit:  # argparse has printed help
        return 0
    except ValueError as error:
        return fail(2, str(error))
    except ModuleNotFoundError as error:
        how = f"run {INSTALL} in the project's folder, then type .venv/bin/python for python3"
        return fail(1, f"{argv[0]} needs {error.name}: {how}")
    except BrokenPipeError:
        return 0
    except OSError as error:
        where = f" {error.filename!r}" if error.filename else ""
        return fail(1, f"cannot write{where}: {error.strerror or error}")


def fail(status: int, why: str) -> int:
    """Say on stderr why a command fails, in one line of printable ASCII; return its exit status."""
    why = "".join(it if " " <= it <= "~" else ascii(it)[1:-1] for it in why)
    with suppress(OSError):
        print(f"{PROG}: error: {why}", file=sys.stderr, flush=True)
    return status


def run_command(argv: list[str]) -> int:
    """Parse the words and run the command, whose module is imported only now; return its status."""
    if not argv or argv[0] in ("-h", "--help"):
        print_overview()
        return 0
    check_lab3()
    name, *words = argv
    if name not in COMMANDS:
        from report.text import quote

        raise ValueError(f"{quote(name)} is not a command: {', '.join(COMMANDS)}")
    module_name, does, *examples = COMMANDS[name]
    parser = Parser(
        prog=f"{PROG} {name}",
        description=f"{does[0].upper()}{does[1:]}.",
        epilog=format_examples(examples),
    )
    module = import_module(module_name)
    module.add_options(parser)
    status: int = module.run(parse(name, words, parser))
    return status


def print_overview() -> None:
    """Print what each command does, with an example of each."""
    examples = format_examples([example for _, _, example, *_ in COMMANDS.values()])
    parser = Parser(
        prog=PROG,
        description="The answers of lab3.py explained, checked, changed and drawn.",
        epilog=f"{examples}\n\n{PROG} COMMAND --help shows its options, with more examples.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", title="commands")
    for name, (_, does, *_) in COMMANDS.items():
        commands.add_parser(name, help=does)
    parser.print_help()


def format_examples(examples: list[str]) -> str:
    """List commands as they are typed."""
    return "\n  ".join(["examples:", *(f"{PROG} {example}" for example in examples)])


def check_lab3() -> None:
    """Raise ValueError if lab3.py is not this project's, or cannot be imported."""
    try:
        with redirect_stdout(StringIO()):  # somebody else's prints its answers
            lab3 = import_module("lab3")
    except SystemExit:
        raise ValueError(NOT_OURS) from None
    except Exception as error:
        raise ValueError(f"lab3.py: {type(error).__name__}: {error}") from None
    if not {"NETWORK", "SYSTEM", "INPUTS", "ImpossibleError"} <= vars(lab3).keys():
        raise ValueError(NOT_OURS)


def parse(command: str, words: list[str], parser: Parser) -> argparse.Namespace:
    """Parse words on both sides of options. Raises ValueError for an option that the command
    lacks, before argparse takes its value for a topic or a file."""
    from report.text import quote

    known = re.findall("--[a-z-]+", parser.format_usage())
    for word in words:
        option, _, value = word.partition("=")
        if word == "--":
            break
        if value == "--":  # argparse would drop it
            raise ValueError(f"argument {option}: '--' is not a value")
        if re.match("--|-[A-Za-z]", option) and option not in [*known, "--help", "-h"]:
            raise ValueError(f"{quote(option)} is not an option of {command}: {', '.join(known)}")
    # argparse cannot mix words with options if -- is among them
    read = parser.parse_known_args if "--" in words else parser.parse_known_intermixed_args
    options, unread = read(words)
    if unread:
        raise ValueError(f"{command} does not take {quote(unread[0])}; --help says what it takes")
    return options


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])  # of lab3 and report
    sys.stdout = sys.stdout or TextIOWrapper(BytesIO())  # None if it is closed
    sys.stderr = sys.stderr or TextIOWrapper(BytesIO())
    status = main(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # which is told already, and would be again at the exit
            stream.close()
    sys.exit(status)
