#!/usr/bin/env python3
"""Build the report, slides.pdf, and a picture of its first page for the README, results.png.

Every number in them is computed at that moment, and what the sentences claim is checked first.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

REPORT = Path(__file__).resolve().parent
sys.path[:0] = [str(REPORT.parent), str(REPORT)]  # where lab3 is, and analysis and figures are

PAGES = 6
PICTURED_PAGE = 1
PICTURE_PIXELS_PER_INCH = 80
MOST_SHOWN = 200  # characters of a message

EXAMPLES = """\
examples:
  python report/build.py
  python report/build.py --author "First Last" --uid 123456789 --date "June 12" --output .

needs, once:
  pip install -r report/requirements.txt"""


class DeckError(Exception):
    """The deck cannot be made, or would not be true; with the exit status."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


def main(argv: list[str] | None = None) -> int:
    """Run the command line. Returns the exit status: 0, 1 for a failure, 2 for bad usage."""
    parser = _parser()
    options = parser.parse_args(argv)
    byline = {key: getattr(options, key) for key in ("author", "uid", "date")}
    if any(byline.values()) and options.output is None:
        parser.error("a deck with a name, UID or date needs --output FOLDER")
    if options.output == "":
        parser.error("argument --output: '' is not a folder")
    folder = Path(options.output or REPORT)
    try:
        pdf, png = build(byline)
        replace({folder / "slides.pdf": pdf, folder / "results.png": png})
    except ModuleNotFoundError as error:
        return _fail(f"{error.name} is not installed: pip install -r report/requirements.txt")
    except DeckError as error:
        return _fail(str(error), error.status)
    except OSError as error:
        return _fail(f"cannot write to {folder}: {error.strerror}")
    except KeyboardInterrupt:
        return _fail("interrupted")
    return 0


def build(byline: dict[str, str] | None = None) -> tuple[bytes, bytes]:
    """The deck of lab3's network, machine and inputs as PDF, and a page of it as PNG."""
    import typst  # here, as the others are: main tells what to do without it

    import analysis
    import figures
    import lab3
    import rows_streamed

    lab = analysis.Analysis(lab3.NETWORK, lab3.SYSTEM, lab3.INPUTS)
    try:
        for claim, holds in analysis.claims(lab):
            if not holds:
                raise DeckError(f"the deck says that {claim}, which does not hold here")
        inputs = {
            **{key: (byline or {}).get(key, "") for key in ("author", "uid", "date")},
            "facts": json.dumps(analysis.facts(lab)),
            "pictures": json.dumps(figures.draw_all(lab)),
            "colours": json.dumps(figures.COLOURS),
        }
    except (ValueError, rows_streamed.StalledError) as error:
        raise DeckError(f"the deck cannot be made for this network and machine: {error}") from error
    deck = typst.Compiler(
        REPORT / "slides.typ", root=REPORT, ignore_system_fonts=True, sys_inputs=inputs
    )
    try:
        # PDF/UA-1 demands a text for each picture and formula, and letters that the fonts have.
        pdf = deck.compile(format="pdf", pdf_standards=["ua-1"])
        pages = deck.compile(format="png", ppi=PICTURE_PIXELS_PER_INCH)
    except typst.TypstError as error:
        raise _refusal(str(error)) from error
    if not isinstance(pages, list) or len(pages) != PAGES:
        raise DeckError(f"the deck would not have {PAGES} pages")
    assert isinstance(pdf, bytes)
    return pdf, pages[PICTURED_PAGE - 1]


def _refusal(message: str) -> DeckError:
    letters = re.search(r"the text `\"(.*)\"` could not be displayed", message)
    if letters:
        return DeckError(f"the deck's font lacks {letters[1]}", 2)
    return DeckError(message.removeprefix("assertion failed: "), 2 if "one line" in message else 1)


def replace(contents: dict[Path, bytes]) -> None:
    """Put all files in their place, or none: signals wait, and what fails is undone."""
    new = {path: path.with_name(f".{path.name}.{os.getpid()}.new") for path in contents}
    old = {path: path.with_name(f".{path.name}.{os.getpid()}.old") for path in contents}
    try:
        for path, content in contents.items():
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, f"{path.name} is a folder")
            new[path].write_bytes(content)
        with _signals_held():
            _swap(new, old)
    finally:
        for path in (*new.values(), *old.values()):
            path.unlink(missing_ok=True)


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let signals wait, where the system can."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


def _swap(new: dict[Path, Path], old: dict[Path, Path]) -> None:
    done: list[Path] = []
    try:
        for path in new:
            if path.exists():
                path.replace(old[path])
            done.append(path)
            new[path].replace(path)
    except OSError:
        for path in done:
            path.unlink(missing_ok=True)
            if old[path].exists():
                old[path].replace(path)
        raise


def _parser() -> argparse.ArgumentParser:
    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> NoReturn:
            _fail(f"{message}; build.py --help lists the options")
            self.exit(2)

    parser = Parser(
        prog="build.py",
        usage="build.py [--author NAME] [--uid UID] [--date DATE] [--output FOLDER]",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    for option, what in (("--author", "NAME"), ("--uid", "UID"), ("--date", "DATE")):
        parser.add_argument(
            option,
            metavar=what,
            type=_line,
            default="",
            help="shown at the foot of each page (default: nothing); needs --output",
        )
    parser.add_argument(
        "--output",
        metavar="FOLDER",
        help="an existing folder for both files (default: report)",
    )
    return parser


def _line(text: str) -> str:
    if not text.isprintable():
        raise argparse.ArgumentTypeError(f"{text!a} is not one line of printable letters")
    return text.strip()


def _fail(message: str, status: int = 1) -> int:
    """Print one line that a terminal only shows, whatever is in it. Returns the exit status."""
    line = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in message)
    if len(line) > MOST_SHOWN:
        line = f"{line[: MOST_SHOWN // 2]}...{line[-MOST_SHOWN // 2 :]}"
    print(f"build.py: error: {line}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
