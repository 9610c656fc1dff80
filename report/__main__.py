"""The front door: `python3 report COMMAND`."""

import argparse
import os
import re
import sys
from contextlib import redirect_stdout, suppress
from importlib import import_module
from io import StringIO
from itertools import takewhile
from typing import Any, NoReturn

if sys.version_info < (3, 10):
    sys.exit("report needs Python 3.10 or newer; lab3.py needs 3.6")

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
    "check": (
        "report.check.answer",
        "Check a submission: what is right, and the mistake behind the rest.",
        "check output.txt",
        "check submissions/*.txt",
        "check --key key.txt submissions/*.txt",
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
        "Draw a timeline, the distance to the lower bound, plans, or SRAM.",
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
INSTALL = "python3 -m venv .venv && .venv/bin/pip install -q -r report/requirements.txt"


class Parser(argparse.ArgumentParser):
    """A parser that raises ValueError for wrong options, which main prints like all others."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def main(argv: list[str]) -> int:
    """Print the answer. Returns the exit status: 0, also for a closed pipe; 1 if numbers are wrong,
    output cannot be written or a library is missing; 2 for bad input; 130 for Ctrl-C.
    """
    try:
        text, status = answer(argv)
        if sys.stdout is None:
            raise OSError("stdout is closed")
        encoding = sys.stdout.encoding or "utf-8"
        print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)
        return status
    except BrokenPipeError:
        return 0
    except ValueError as error:
        return end(2, str(error))
    except ModuleNotFoundError as error:
        again = f"then .venv/bin/python report {argv[0]} ..."
        return end(1, f"{argv[0]} needs {error.name}: run {INSTALL} in the project, {again}")
    except OSError as error:
        from report.terminal import path_text

        what = f"cannot write {path_text(error.filename)}" if error.filename else "cannot write"
        return end(1, f"{what}: {error.strerror or error}")
    except KeyboardInterrupt:
        return end(130, "interrupted")
    finally:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            try:
                stream.flush()
            except OSError:  # what cannot be written must not fail again at the exit
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def end(status: int, why: str) -> int:
    """Say why."""
    if sys.stderr:
        with suppress(OSError):
            print(f"{PROG}: error: {why}", file=sys.stderr)
    return status


def answer(argv: list[str]) -> tuple[str, int]:
    """What the command says, and its status."""
    if argv[:1] == ["help"]:
        argv = [*argv[1:], "--help"]
    if not argv or argv[0] in HELP:
        return overview(), 0
    import_lab3()
    name, *words = argv
    if name not in COMMANDS:
        raise ValueError(no_command(name, words))
    module, parser = parser_of(name)
    if HELP & {*words}:  # argparse is silent if help cannot be written
        return parser.format_help().rstrip(), 0
    check_names(parser, name, words)
    options, unknown = parser.parse_known_args(words)
    if unknown:
        raise ValueError(one_too_many(parser, name, unknown[0]))
    said = module.run(options)
    return said if isinstance(said, tuple) else (said, 0)


def import_lab3() -> None:
    """Import lab3. Raises ValueError if lab3.py is not this project's, or not Python."""
    try:
        with redirect_stdout(StringIO()):  # another one prints its answers
            if not {"NETWORK", "Rate", "check"} <= {*dir(import_module("lab3"))}:
                raise ImportError
    except (ImportError, SystemExit):
        pipe = "keep yours elsewhere and pipe in what it prints: python3 yours/lab3.py | "
        raise ValueError(f"report needs this project's lab3.py; {pipe}{PROG} check") from None
    except Exception as error:
        raise ValueError(f"lab3.py: {type(error).__name__}: {error}") from None


def parser_of(name: str) -> tuple[Any, Parser]:
    """A command's module, and what parses its options."""
    module_name, does, *examples = COMMANDS[name]
    parser = Parser(
        prog=f"{PROG} {name}",
        description=does,
        epilog="\n  ".join(["examples:", *(f"{PROG} {example}" for example in examples)]),
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=80),
    )
    module = import_module(module_name)
    module.add_options(parser)
    return module, parser


def no_command(name: str, words: list[str]) -> str:
    """Why a name is not a command, and what was meant."""
    from report.terminal import meant

    command = next((word for word in words if word in COMMANDS), "")
    if name.startswith("-") and command:
        option = ascii(name.partition("=")[0])[1:-1]
        return f"the command comes first: {PROG} {command} {option:.40} ..."
    for its_command in ("explain", "picture"):  # a topic's, a picture's
        with suppress(ValueError):
            parser_of(its_command)[1].parse_args([name])
            return f"{name!a:.40} is not a command; did you mean {its_command} {name:.40}?"
    return f"{name!a:.40} is not a command; {meant(name, COMMANDS)}"


def one_too_many(parser: Parser, name: str, word: str) -> str:
    """Why a word is refused that is no option, and what was meant."""
    known, option = option_names(parser), "--" + word.partition("=")[0]
    if "--plan" in known and re.fullmatch("[0-9:,-]+|tensor|pipeline", word):
        return f"{word!a:.40} is a plan: write --plan {word:.40}"
    hint = f"; did you mean {option}?" if option in known else ""
    return f"{word!a:.40} is one word too many for {name}{hint}"


def option_names(parser: Parser) -> list[str]:
    """The options that --help lists."""
    return re.findall("--[a-z-]+", parser.format_usage())


def check_names(parser: Parser, name: str, words: list[str]) -> None:
    """Refuse an option that the command has not, before argparse takes its value for something."""
    from report.terminal import meant

    known = option_names(parser)
    for word in takewhile(lambda word: word != "--", words):
        option, _, value = word.partition("=")
        if re.match("-[^0-9.]", word) and option not in known:
            parser.error(f"{option!a:.40} is not an option of {name}; {meant(option, known)}")
        if option in known and value == "--":  # which counts as no value before Python 3.13
            parser.error(f"argument {option}: expected one argument")


def overview() -> str:
    """The commands, a line and an example each."""
    lines = [f"usage: {PROG} COMMAND [options]", ""]
    for name, (_, does, example, *_) in COMMANDS.items():
        lines += [f"{name:<9}{does}", f"{'':<9}{PROG} {example}"]
    return "\n".join([*lines, "", f"{PROG} COMMAND --help shows a command's options."])


if __name__ == "__main__":
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # of lab3, report
    sys.exit(main(sys.argv[1:]))
