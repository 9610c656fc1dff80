"""The `check` command: one submission, or a class, as text, JSON or CSV."""

import shlex
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from report.check.judge import Cause, Judgement, Key, judge, read_key
from report.check.mistakes import BOTH
from report.check.submission import HOW_TO_RUN, NoSubmissionError, decode
from report.check.words import (
    Judgements,
    count_occurrences,
    describe_class,
    describe_judgement,
    describe_key,
    format_csv,
    list_judgements,
)
from report.question import Question, add_question_options, prefix_question, read_options
from report.results import VERSION
from report.text import format_json, format_path, wrap

MOST_BYTES = 10**6  # of a file


def add_options(parser: ArgumentParser) -> None:
    """Add files, a key, what if, --json and --csv."""
    what = "what a lab3.py printed (default: standard input, or -)"
    parser.add_argument("files", metavar="FILE", nargs="*", default=["-"], help=what)
    key = "what the course's own program printed, which is then right (default: lab3.py's answers)"
    parser.add_argument("--key", metavar="FILE", help=key)
    add_question_options(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--csv", action="store_true", help="print a row per file, for a gradebook")
    status = "Exit status: 0 if numbers and format are right, 1 if not, 2 if a file is unread."
    parser.description = f"{parser.description}\n{status}"


def run(options: Namespace) -> int:
    """Print what is right and what makes the rest. The status is 0 if all numbers and formats are
    right, 1 if not, 2 if a file cannot be judged, which does not stop the others."""
    question, key_text = read_options(options), None
    key = read_key(question)  # which refuses a question that neither strategy answers
    if options.key == "-" and "-" in options.files:
        raise ValueError("--key: standard input cannot be both the key and a FILE")
    if options.key is not None:
        try:
            key_text = read_text(options.key)
            key = read_key(question, key_text)
        except (OSError, ValueError) as error:
            raise ValueError(f"--key {describe_refusal(options.key, error)}") from None
    files = {name: judge_file(name, question, key_text) for name in dict.fromkeys(options.files)}
    judgements = list_judgements(files)
    if options.json:
        print(format_json(to_dict(key, files)))
    elif options.csv:
        print(format_csv(files))
    elif len(files) == 1 and not judgements:
        raise ValueError(*files.values())
    else:
        text = describe_judgement(judgements[0], key) if len(files) == 1 else describe_class(files)
        if of_key := describe_key(key):
            text = f"{wrap(of_key)}\n\n{text}"
        print(prefix_question(question, text))
    if len(judgements) < len(files):
        return 2
    return 0 if all(it.is_all_right for it in judgements) else 1


# ------------------------------------------------ files


def judge_file(name: str, question: Question, key_text: str | None) -> Judgement | str:
    """Judge a file, or say why it is refused."""
    try:
        return judge(read_text(name), question, key_text)
    except (OSError, ValueError) as error:  # ValueError also of a name that no file has
        return describe_refusal(name, error)


def describe_refusal(name: str, error: Exception) -> str:
    """Say in a sentence which file is refused, and why."""
    file = "standard input" if name == "-" else format_path(name)
    if isinstance(error, NoSubmissionError):
        yours = "YOURS" if name == "-" else shlex.quote(format_path(name))
        return f"{file} {error.what}: {error.advice.replace('YOURS', yours)}"
    return f"{file}: {getattr(error, 'strerror', None) or error}"


def read_text(name: str) -> str:
    """Read a file, or standard input."""
    if name == "-":
        if sys.stdin is None:
            raise NoSubmissionError("is closed", HOW_TO_RUN)
        if sys.stdin.isatty():
            print("reading standard input; end with Ctrl-D", file=sys.stderr, flush=True)
        data = sys.stdin.buffer.read(MOST_BYTES + 1)
    else:
        with Path(name).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise NoSubmissionError(f"has more than {MOST_BYTES:,} bytes", "an output has ten lines")
    return decode(data)


# ------------------------------------------------ JSON


def to_dict(key: Key, files: Judgements) -> dict[str, object]:
    """Make a dictionary of everything that is told."""
    return {
        "version": VERSION,
        "asked": key.course.question,
        "key": {
            "explained": key.explained,
            "readings": {
                of: [it.clause for it in mistakes]
                for of, mistakes in zip(BOTH, key.course.readings, strict=True)
            },
            "missing": [*map(str, key.missing)],
        },
        "occurrences": count_occurrences(files),
        "submissions": [
            {
                "file": name,
                **({"refused": file} if isinstance(file, str) else judgement_to_dict(file)),
            }
            for name, file in files.items()
        ],
    }


def judgement_to_dict(judged: Judgement) -> dict[str, object]:
    """Make a dictionary of a judgement."""
    return {
        "right": judged.right,
        "of": len(judged.numbers),
        "numbers": [{**it._asdict(), "line": str(it.line)} for it in judged.numbers],
        "explanations": [cause_to_dict(cause) for cause in judged.causes],
        "unexplained": [str(it.line) for it in judged.numbers if it.kind == "unexplained"],
        "notes": judged.notes,
        "format": judged.format,
    }


def cause_to_dict(cause: Cause) -> dict[str, object]:
    """Make a dictionary of a cause: alternatives as lists of clauses."""
    strategies = {part.strategy for parts in cause.alternatives for part in parts}
    return {
        "strategies": [of for of in BOTH if strategies & {of, "both"}],
        "mistakes": [
            [mistake.clause for part in parts for mistake in part.mistakes]
            for parts in cause.alternatives
        ],
        "numbers": [*map(str, cause.lines)],
    }
