"""The front door: `python3 report COMMAND`."""

import sys

if sys.version_info < (3, 10):
    sys.exit("report needs Python 3.10 or newer; lab3.py needs 3.6")
if __name__ == "__main__":
    import signal

    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:  # not ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C is quiet, also during these imports

import argparse
import signal
from contextlib import redirect_stdout, suppress
from importlib import import_module
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn

PROG = "python3 report"
COMMANDS = {  # its module, what it does, examples
    "whatif": (
        "report.whatif",
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
    "run": (
        "report.run",
        "run what a class handed in, and write what each prints to a file",
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
    status = 0
    try:
        with suppress(SystemExit):  # argparse has printed help
            options = parse(argv or ["--help"])
            if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
                signal.signal(signal.SIGINT, signal.default_int_handler)  # so that it tidies up
            status = options.run(options)
        sys.stdout.flush()
        return status
    except ValueError as error:
        return fail(2, str(error))
    except ModuleNotFoundError as error:
        how = f"run {INSTALL} in the project's folder, then type .venv/bin/python for python3"
        return fail(1, f"{argv[0]} needs {error.name}: {how}")
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)
        return 1
    except OSError as error:
        where = f" {error.filename!r}" if error.filename else ""
        return fail(1, f"cannot write{where}: {error.strerror or error}")


def fail(status: int, why: str) -> int:
    """Say on stderr why a command fails, in one line of printable ASCII; return its exit status."""
    why = "".join(letter if " " <= letter <= "~" else ascii(letter)[1:-1] for letter in why)
    with suppress(OSError):
        print(f"{PROG}: error: {why}", file=sys.stderr, flush=True)
    return status


def parse(argv: list[str]) -> argparse.Namespace:
    """Parse the words of a command, whose module is imported only now, on both sides of options."""
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
    if name not in COMMANDS:
        return parser.parse_args(argv)  # which prints help, or refuses
    for word in words:
        if word.endswith("=--"):  # argparse drops that --
            raise ValueError(f"argument {word[:-3]}: '--' is not a value")
    check_lab3()
    module, command = import_module(COMMANDS[name][0]), commands.choices[name]
    module.add_options(command)
    command.set_defaults(run=module.run)
    return command.parse_intermixed_args(words)


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


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])  # of lab3 and report
    sys.stdout = sys.stdout or TextIOWrapper(BytesIO())  # None if it is closed
    sys.stderr = sys.stderr or TextIOWrapper(BytesIO())
    status = main(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # which is told already, and would be again at the exit
            stream.close()
    sys.exit(status)
