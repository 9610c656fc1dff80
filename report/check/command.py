"""The `check` command: one submission, or many side by side, as text or JSON."""

import shlex
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from report.check.changes import BOTH
from report.check.judge import Cause, Judgement, Key, judge, read_key
from report.check.submission import PIPE, NoSubmissionError, decode
from report.check.words import (
    Judgements,
    count_occurrences,
    describe_judgement,
    describe_judgements,
    describe_key,
    list_judgements,
)
from report.question import Question, add_question_options, prefix_question, read_options
from report.results import VERSION
from report.text import format_json, format_path, wrap

MOST_BYTES = 10**6  # of a file


def add_options(parser: ArgumentParser) -> None:
    """Add files, a key, what if, and --json."""
    what = "what a lab3.py printed (default: standard input, or -)"
    parser.add_argument("files", metavar="FILE", nargs="*", default=["-"], help=what)
    key = "what the course's own program printed, which is then right (default: lab3.py's answers)"
    parser.add_argument("--key", metavar="FILE", help=key)
    add_question_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    status = "The exit status is 0 if all is right, 1 if not, 2 if a file cannot be judged."
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
            key_text = _read_text(options.key)
            key = read_key(question, key_text)
        except (OSError, ValueError) as error:
            raise ValueError(f"--key {_describe_refusal(options.key, error)}") from None
    files = {name: _judge_file(name, question, key_text) for name in dict.fromkeys(options.files)}
    judgements = list_judgements(files)
    if len(files) == 1 and not judgements:
        raise ValueError(*files.values())
    if options.json:
        print(format_json(_to_dict(key, files)))
    else:
        if len(files) == 1:
            text = describe_judgement(judgements[0], key)
        else:
            text = describe_judgements(files, key)
        if of_key := describe_key(key):
            text = f"{wrap(of_key)}\n\n{text}"
        print(prefix_question(question, text))
    if len(judgements) < len(files):
        return 2
    return 0 if all(it.is_all_right for it in judgements) else 1


# ------------------------------------------------ files


def _judge_file(name: str, question: Question, key_text: str | None) -> Judgement | str:
    """Judge a file, or say why it is refused."""
    try:
        return judge(_read_text(name), question, key_text)
    except (OSError, ValueError) as error:  # ValueError also of a name that no file has
        return _describe_refusal(name, error)


def _describe_refusal(name: str, error: Exception) -> str:
    """Say in a sentence which file is refused, and why."""
    file = "standard input" if name == "-" else format_path(name)
    if isinstance(error, NoSubmissionError):
        yours = "YOURS" if name == "-" else shlex.quote(format_path(name))
        return f"{file} {error.what}: {error.advice.replace('YOURS', yours)}"
    return f"{file}: {getattr(error, 'strerror', None) or error}"


def _read_text(name: str) -> str:
    """Read a file."""
    if name == "-":
        if sys.stdin is None:
            raise NoSubmissionError("is closed", PIPE)
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


def _to_dict(key: Key, files: Judgements) -> dict[str, object]:
    readings = [
        {
            "strategy": reading.strategy,
            "changes": [change.clause for change in reading.changes],
            "only": reading.only,
        }
        for reading in key.course.readings
    ]
    return {
        "version": VERSION,
        "asked": key.course.question,
        "key": {
            "explained": key.is_explained,
            "readings": readings,
            "missing": [*map(str, key.missing)],
        },
        "occurrences": count_occurrences(list_judgements(files), key.course.question),
        "submissions": [
            {"file": name, **({"refused": it} if isinstance(it, str) else _judgement_to_dict(it))}
            for name, it in files.items()
        ],
    }


def _judgement_to_dict(judged: Judgement) -> dict[str, object]:
    return {
        "right": judged.right,
        "of": len(judged.numbers),
        "numbers": [{**it._asdict(), "line": str(it.line)} for it in judged.numbers],
        "explanations": [_cause_to_dict(cause) for cause in judged.causes],
        "unexplained": [str(it.line) for it in judged.numbers if it.kind == "unexplained"],
        "notes": judged.notes,
        "format": judged.format,
    }


def _cause_to_dict(cause: Cause) -> dict[str, object]:
    """Alternatives as lists of clauses, and their scopes: one, or if they differ one for each."""
    strategies = {part.strategy for parts in cause.alternatives for part in parts}
    scopes = [parts[0].only for parts in cause.alternatives]
    return {
        "strategies": [of for of in BOTH if strategies & {of, "both"}],
        "changes": [
            [change.clause for part in parts for change in part.changes]
            for parts in cause.alternatives
        ],
        "only": scopes[0] if len({*scopes}) == 1 else scopes,
        "numbers": [*map(str, cause.lines)],
    }
