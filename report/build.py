#!/usr/bin/env python3
"""Build the report, slides.pdf, and a picture of it for the README, results.png.

Every number in them is computed at that moment, by lab3 and by analysis.
"""

import argparse
import json
import os
import re
import sys
from pathlib import Path
from typing import NoReturn

REPORT = Path(__file__).resolve().parent
sys.path[:0] = [str(REPORT.parent), str(REPORT)]  # where lab3 is, and analysis and figures are

PICTURED_PAGE = 2  # the results
PICTURE_PIXELS_PER_INCH = 80

EXAMPLES = """\
examples:
  python report/build.py
  python report/build.py --author "First Last" --uid 123456789 --date "June 12"

needs, once:
  pip install -r report/requirements.txt"""


def main(argv: list[str] | None = None) -> int:
    """Run the command line. Returns the exit status: 0, 1 for a failure, 2 for bad usage."""
    options = _parser().parse_args(argv)
    try:
        pdf, png = build(options.author, options.uid, options.date)
        replace({options.output / "slides.pdf": pdf, options.output / "results.png": png})
    except ModuleNotFoundError as error:
        return _fail(f"{error.name} is not installed: pip install -r report/requirements.txt")
    except OSError as error:
        return _fail(f"cannot write to {options.output}: {error.strerror}")
    except KeyboardInterrupt:
        return _fail("interrupted")
    return 0


def build(author: str = "", uid: str = "", date: str = "") -> tuple[bytes, bytes]:
    """The deck as PDF, and a page of it as PNG."""
    import typst  # here, as figures is: main tells what to do without them

    import analysis
    import figures
    import lab3

    numbers = lab3.report(lab3.NETWORK, lab3.SYSTEM, lab3.INPUTS)
    inputs = {
        "author": author,
        "uid": uid,
        "date": date,
        "data": lab3.to_json({**numbers, "analysis": analysis.summary()}),
        "readings": json.dumps(lab3.READINGS),
        "colours": json.dumps(figures.COLOURS),
        **{f"chart-{name}": svg for name, svg in figures.draw_all().items()},
    }
    deck = typst.Compiler(
        REPORT / "slides.typ", root=REPORT, ignore_system_fonts=True, sys_inputs=inputs
    )
    pages = deck.compile(format="png", ppi=PICTURE_PIXELS_PER_INCH)
    return deck.compile(format="pdf"), pages[PICTURED_PAGE - 1]


def replace(contents: dict[Path, bytes]) -> None:
    """Write the files beside the old ones, and only when all are whole put them in their place."""
    new_paths = {path: path.with_name(f".{path.name}.{os.getpid()}") for path in contents}
    try:
        for path, new in new_paths.items():
            new.write_bytes(contents[path])
        for path, new in new_paths.items():
            new.replace(path)
    finally:
        for new in new_paths.values():
            new.unlink(missing_ok=True)


def _parser() -> argparse.ArgumentParser:
    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> NoReturn:
            self.exit(2, f"build.py: error: {message}; build.py --help lists the options\n")

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
            type=_printable,
            default="",
            help="shown at the foot of each page (default: nothing)",
        )
    parser.add_argument(
        "--output",
        metavar="FOLDER",
        type=Path,
        default=REPORT,
        help="an existing folder for both files (default: report)",
    )
    return parser


def _printable(text: str) -> str:
    # Typst's own fonts have Latin, Greek and Cyrillic; a letter that they lack would be a box.
    if text.isprintable() and re.fullmatch(r"[\0-\u052f\u1e00-\u206f]{0,60}", text):
        return text
    shown = text if len(text) <= 60 else f"{text[:30]}..."
    raise argparse.ArgumentTypeError(
        f"{shown!a} is not a line of at most 60 Latin, Greek or Cyrillic letters"
    )


def _fail(message: str) -> int:
    print(f"build.py: error: {message}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
