"""The front door: `python3 report COMMAND`."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

COMMANDS = {  # its module, what it does, examples
    "whatif": (
        "report.question",
        "Answer Q1 and Q2 for other numbers than the lab's.",
        "whatif --nodes 8 --link-gbs 0.1",
        "whatif --inputs 64 --topology ring",
        "whatif --layer 64,3,5,5,32,32 --layer 32,64,3,3,28,28",
    ),
    "explain": (
        "report.explain",
        "Explain the answers and derive every number.",
        "explain",
        "explain --nodes 8 --link-gbs 0.1",
        "explain --json",
    ),
    "find": (
        "report.readings",
        "Find which reading of the handout gives a number.",
        "find 0.39793",
        "find 100.17 ms",
        "find 2,254,848 bytes",
    ),
    "plans": (
        "report.compare",
        "Find the plans with least latency and traffic.",
        "plans --plan 1-2:2,3,4",
        "plans --nodes 8 --link-gbs 0.05 --all",
        "plans --inputs 1 --sram-kib 700 --json",
    ),
    "trace": (
        "report.schedule",
        "Write the schedule as a trace for ui.perfetto.dev.",
        "trace > trace.json",
        "trace --inputs 8 --plan 1-2:2,3,4 > trace.json",
    ),
    "picture": (
        "report.pictures",
        "Draw a timeline, lower bound, plans or SRAM.",
        "picture timeline --nodes 8 --plan 1-2:4,3-4:4",
        "picture limits --link-gbs 0.05 --output limits.png",
    ),
    "deck": (
        "report.deck.build",
        "Build the slide deck.",
        "deck",
        "deck --output . --author 'First Last' --uid 123456789",
    ),
}
PROG = "python3 report"
HELP = {"-h", "--help"}
NOTHING = ("[]", "--", "['--']")  # what --x=-- gives, before Python 3.13 and since
INSTALL = "python3 -m venv .venv && .venv/bin/pip install -q -r report/requirements.txt"


def main(argv: list[str]) -> int:
    """Print the answer. Returns the exit status: 0, also for a reader that has seen enough; 1 where
    output cannot be written or a library is missing; 2 for bad input; 130 for Ctrl-C."""
    try:
        text = answer(argv)
        if sys.stdout is None:
            raise OSError("stdout is closed")
        print(text, flush=True)
        return 0
    except BrokenPipeError:
        return 0
    except ValueError as error:
        return end(2, str(error))
    except ModuleNotFoundError as error:
        if not error.name or error.name.split(".")[0] in ("lab3", "report"):
            raise  # no library
        again = f"then .venv/bin/python report {argv[0]} ..."
        return end(1, f"{argv[0]} needs {error.name}: run {INSTALL} in the project, {again}")
    except OSError as error:
        what = f"cannot write {error.filename}" if error.filename else "cannot write"
        return end(1, f"{what}: {error.strerror or error}")
    except KeyboardInterrupt:
        return end(130, "interrupted")
    finally:  # also of argparse, which ends by SystemExit
        for stream in filter(None, (sys.stdout, sys.stderr)):
            try:
                stream.flush()
            except OSError:  # what cannot be written must not fail again at the exit
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def end(status: int, message: str) -> int:
    """Say why."""
    if sys.stderr:
        with suppress(OSError):
            print(f"{PROG}: error: {message}", file=sys.stderr)
    return status


def answer(argv: list[str]) -> str:
    """What the command says."""
    if not argv or argv[0] in HELP:
        return overview()
    name, *words = argv
    if name not in COMMANDS:
        raise ValueError(f"COMMAND: {name!a:.40} is not one of {', '.join(COMMANDS)}")
    module = import_module(COMMANDS[name][0])
    parser = parser_of(name)
    module.add_options(parser)
    if not HELP.isdisjoint(words):  # argparse is silent where it cannot be written
        return parser.format_help().rstrip()
    return str(module.answer(parsed(parser, words)))


def overview() -> str:
    """The commands, a line and an example each."""
    lines = [f"usage: {PROG} COMMAND [options]", ""]
    for name, (_, line, example, *_) in COMMANDS.items():
        lines += [f"{name:<9}{line}", f"{'':<9}{PROG} {example}"]
    return "\n".join([*lines, "", f"{PROG} COMMAND --help shows a command's options."])


def parser_of(name: str) -> argparse.ArgumentParser:
    """A command's parser, without its options."""
    from report.terminal import COLUMNS

    _, line, *examples = COMMANDS[name]
    return argparse.ArgumentParser(
        prog=f"{PROG} {name}",
        description=line,
        epilog="\n  ".join(["examples:", *(f"{PROG} {example}" for example in examples)]),
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=COLUMNS),
        allow_abbrev=False,
    )


def parsed(parser: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    """The command's options. Ends by SystemExit where they are wrong."""
    options = parser.parse_args(words)
    for name, value in vars(options).items():
        values = value if isinstance(value, list) and value else [value]
        if value != parser.get_default(name) and any(str(each) in NOTHING for each in values):
            parser.error(f"argument --{name.replace('_', '-')}: expected one argument")
    return options


if __name__ == "__main__":
    if sys.version_info < (3, 10):
        sys.exit("report needs Python 3.10 or newer; lab3.py does not")
    sys.path[0] = str(Path(__file__).resolve().parents[1])  # where lab3 and report are
    sys.exit(main(sys.argv[1:]))
