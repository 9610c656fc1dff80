"""The front door: `python3 report COMMAND`."""

import argparse
import os
import re
import sys
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any, NoReturn, TextIO

if sys.version_info < (3, 11):
    sys.exit("report needs Python 3.11 or newer; lab3.py needs 3.6")

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
        print(self.format_help(), end="", file=file)


def main(argv: list[str]) -> int:
    """Run a command and return the exit status: 0, also for help and a closed pipe; 1 if numbers or
    a format are wrong, output cannot be written or a library is missing; 2 for bad input; 130 for
    Ctrl-C."""
    try:
        try:
            status = run_command(argv)
        except SystemExit:  # argparse has printed help
            status = 0
        print(end="", flush=True)  # to nowhere if stdout is closed
        return status
    except BrokenPipeError:
        discard(sys.stdout)
        return 0
    except KeyboardInterrupt:
        return 130
    except ValueError as error:
        return fail(2, str(error))
    except ModuleNotFoundError as error:
        from report.text import join_words

        again = f".venv/bin/python report {join_words(argv)}"
        return fail(1, f"{argv[0]} needs {error.name}: run {INSTALL} in the project, then {again}")
    except OSError as error:
        discard(sys.stdout)
        where = f" {error.filename!a}" if error.filename else ""
        return fail(1, f"cannot write{where}: {error.strerror}")


def fail(status: int, why: str) -> int:
    """Say on stderr why a command fails, and return its exit status."""
    try:
        print(f"{PROG}: error: {why}", file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)
    return status


def discard(stream: TextIO) -> None:
    """Discard what a stream still holds, so that it does not fail again at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def run_command(argv: list[str]) -> int:
    """Parse the words and run the command, whose module is imported only now; return its status."""
    if not argv or argv[0] in ("-h", "--help"):
        print_overview()
        return 0
    check_lab3()
    name, *words = argv
    if name not in COMMANDS:
        raise ValueError(explain_unknown(name))
    module_name, does, *examples = COMMANDS[name]
    parser = Parser(
        prog=f"{PROG} {name}",
        description=f"{does[0].upper()}{does[1:]}.",
        epilog=format_examples(examples),
    )
    module = import_module(module_name)
    module.add_options(parser)
    check_options(name, words, parser)
    status: int = module.run(parser.parse_args(words))
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
    if not hasattr(lab3, "ImpossibleError"):
        raise ValueError(NOT_OURS)


def explain_unknown(name: str) -> str:
    """Say that a word is no command, and what was meant."""
    from report.explain import TOPICS
    from report.pictures import PICTURES
    from report.text import find_meant, quote

    meant = {it: it for it in COMMANDS}
    meant.update({it: f"explain {it}" for it in TOPICS})
    meant.update({it: f"picture {it}" for it in PICTURES})
    meant.update(sram="explain Q3", ring="explain Q4")
    found = find_meant(name, meant)
    hint = f"did you mean {meant[found]}?" if found else f"there are {', '.join(COMMANDS)}"
    first = ", which comes first" if name.startswith("-") else ""
    return f"{quote(name)} is not a command{first}; {hint}"


def check_options(command: str, words: list[str], parser: Parser) -> None:
    """Refuse an option that the command has not, before argparse takes its value for a topic or a
    file."""
    from report.text import quote, suggest

    known = re.findall("--[a-z-]+", parser.format_usage())
    for word in words:
        option = word.partition("=")[0]
        if word == "--":
            return
        if word.endswith("=--"):  # argparse would drop the value
            raise ValueError(f"argument {option}: '--' is not a value")
        if option.startswith("--") and option not in [*known, "--help"]:
            raise ValueError(
                f"{quote(option)} is not an option of {command}; {suggest(option, known)}"
            )


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])  # of lab3 and report
    sys.exit(main(sys.argv[1:]))
