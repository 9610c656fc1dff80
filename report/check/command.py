"""The `check` command: one submission, or a class, as text or CSV."""

import shlex
import sys
from argparse import ArgumentParser, Namespace
from io import TextIOWrapper

from report.check.judge import Judgement, judge, read_key
from report.check.submission import HOW_TO_RUN, NoSubmissionError, decode
from report.check.words import describe_class, describe_judgement, describe_key, format_csv
from report.options import add_question_options, read_options
from report.question import Question, prefix_question
from report.text import format_path, wrap

MOST_BYTES = 10**6  # of a file


def add_options(parser: ArgumentParser) -> None:
    """Add files, a key, what if, and --csv."""
    what = "what a lab3.py printed (default: standard input, or -)"
    parser.add_argument("files", metavar="FILE", nargs="*", default=["-"], help=what)
    key = "what the course's own program printed, which is then right (default: lab3.py's answers)"
    parser.add_argument("--key", metavar="FILE", help=key)
    add_question_options(parser)
    parser.add_argument("--csv", action="store_true", help="print a row per file, for a gradebook")
    status = "Exit status: 0 if numbers and format are right, 1 if not, 2 if a file is unread."
    parser.description = f"{parser.description}\n{status}"


def run(options: Namespace) -> int:
    """Print what is right and what makes the rest. The status is 0 if all numbers and formats are
    right, 1 if not, 2 if a file cannot be judged, which does not stop the others."""
    question, key = read_options(options), None
    if options.key == "-" and "-" in options.files:
        raise ValueError("--key: standard input cannot be both the key and a FILE")
    reading = read_key(question)  # which refuses a question that neither strategy answers
    if options.key is not None:
        try:
            key = read_text(options.key)
            reading = read_key(question, key)
        except (OSError, ValueError) as error:
            name = name_file(options.key)
            raise ValueError(f"--key {name} {refuse(options.key, error)}") from None
    files = {name: judge_file(name, question, key) for name in dict.fromkeys(options.files)}
    judgements = [judged for judged in files.values() if isinstance(judged, Judgement)]
    if options.csv:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")  # whatever the terminal takes
        print(format_csv(files, reading.right))
    elif len(files) == 1 and not judgements:
        [(name, reason)] = files.items()
        raise ValueError(f"{name_file(name)} {reason}")
    else:
        is_one = len(files) == 1
        text = describe_judgement(judgements[0], reading) if is_one else describe_class(files)
        if reading.is_key:
            text = f"{wrap(describe_key(reading))}\n\n{text}"
        print(prefix_question(question, text))
    if len(judgements) < len(files):
        return 2
    return 0 if all(judged.is_all_right for judged in judgements) else 1


def judge_file(name: str, question: Question, key: str | None) -> Judgement | str:
    """Judge a file, or say why it is refused."""
    try:
        return judge(read_text(name), question, key)
    except (OSError, ValueError) as error:  # ValueError also of a name that no file has
        return refuse(name, error)


def name_file(name: str) -> str:
    """Name a file, or standard input."""
    return "standard input" if name == "-" else format_path(name)


def refuse(name: str, error: Exception) -> str:
    """Say why a file is refused, as a sentence goes on behind its name."""
    if isinstance(error, NoSubmissionError):
        yours = "YOURS" if name == "-" else shlex.quote(format_path(name))
        return f"{error.what}: {error.advice.replace('YOURS', yours)}"
    return f"cannot be read: {getattr(error, 'strerror', None) or error}"


def read_text(name: str) -> str:
    """Read a file, or standard input."""
    if name == "-":
        if sys.stdin is None:
            raise NoSubmissionError("is closed", HOW_TO_RUN)
        if sys.stdin.isatty():
            print("reading standard input; end with Ctrl-D", file=sys.stderr, flush=True)
        data = sys.stdin.buffer.read(MOST_BYTES + 1)
    else:
        with open(name, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise NoSubmissionError(f"has more than {MOST_BYTES:,} bytes", "an output has ten lines")
    return decode(data)
