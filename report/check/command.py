"""The `check` command: one submission, or many side by side, as text or JSON."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from shlex import quote

from report.check.changes import BOTH
from report.check.diagnosis import Course
from report.check.judge import Cause, Check, check, read_key
from report.check.submission import PIPE, NoSubmissionError
from report.check.words import Checks, count_occurrences, describe_key, list_checks, tell, tell_all
from report.question import (
    Question,
    add_question_options,
    find_impossible,
    prefix_question,
    read_options,
)
from report.results import VERSION
from report.text import format_json, format_path, wrap

MOST_BYTES = 10**6  # of a file


def add_options(parser: ArgumentParser) -> None:
    """Files, a key, what if, and --json."""
    what = "what a lab3.py printed (default: standard input, or -)"
    parser.add_argument("files", metavar="FILE", nargs="*", default=["-"], help=what)
    key = "what the course's own program printed: its reading of the handout is then right"
    parser.add_argument("--key", metavar="FILE", help=key)
    add_question_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    status = "The exit status is 0 if all is right, 1 if not, 2 if a file cannot be judged."
    parser.description = f"{parser.description}\n{status}"


def run(options: Namespace) -> int:
    """Print what is right and what makes the rest. The status is 0 if all numbers and formats are
    right, 1 if not, 2 if a file cannot be judged, which does not stop the others."""
    question = read_options(options)
    find_impossible(question)  # refuses a question that neither strategy answers
    course = _read_key_file(options.key, question) if options.key else Course(question)
    files = {name: _check_file(name, course) for name in dict.fromkeys(options.files)}
    refused = [reason for reason in files.values() if isinstance(reason, str)]
    checks = list_checks(files)
    if not checks:
        raise ValueError(". ".join(refused))
    if options.json:
        print(format_json(_to_dict(course, files)))
    else:
        text = tell(checks[0], course) if len(files) == 1 else tell_all(files, course)
        if course.has_key:
            print(wrap(describe_key(course)))
        print(prefix_question(question, text))
    return 2 if refused else 0 if all(it.is_all_right for it in checks) else 1


# ------------------------------------------------ files


def _check_file(name: str, course: Course) -> Check | str:
    """What is right in a file, or why it is refused."""
    try:
        return check(_read_text(name), course)
    except (OSError, ValueError) as error:  # ValueError also of a name that no file has
        return _refuse(name, error)


def _read_key_file(name: str, question: Question) -> Course:
    try:
        return read_key(_read_text(name), question)
    except (OSError, ValueError) as error:
        raise ValueError(f"--key {_refuse(name, error)}") from None


def _refuse(name: str, error: Exception) -> str:
    """A sentence with the file's name."""
    file = "standard input" if name == "-" else format_path(name)
    if isinstance(error, NoSubmissionError):
        yours = "YOURS" if name == "-" else quote(format_path(name))
        return f"{file} {error.what}: {error.advice.replace('YOURS', yours)}"
    return f"{file}: {getattr(error, 'strerror', None) or error}"


def _read_text(name: str) -> str:
    """What a file says. Bytes that are no UTF-8 become letters that are not known."""
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
    is_utf_16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))  # as PowerShell writes it
    return data.decode("utf-16" if is_utf_16 else "utf-8-sig", "replace")


# ------------------------------------------------ JSON


def _to_dict(course: Course, files: Checks) -> dict[str, object]:
    readings = [
        {"strategy": it.strategy, "changes": it.clauses, "only": it.only} for it in course.readings
    ]
    missing = [*map(str, course.missing)]
    return {
        "version": VERSION,
        "asked": course.question,
        "key": {"readings": readings, "missing": missing} if course.has_key else None,
        "occurrences": count_occurrences(list_checks(files)),
        "submissions": [
            {"file": name, **({"refused": it} if isinstance(it, str) else _check_to_dict(it))}
            for name, it in files.items()
        ],
    }


def _check_to_dict(checked: Check) -> dict[str, object]:
    return {
        "right": checked.right,
        "of": len(checked.numbers),
        "numbers": [{**it._asdict(), "line": str(it.line)} for it in checked.numbers],
        "explanations": [_cause_to_dict(cause) for cause in checked.causes],
        "swapped": checked.swapped,
        "units": checked.units,
        "unexplained": [str(it.line) for it in checked.numbers if it.kind == "unexplained"],
        "notes": checked.notes,
        "format": checked.faults,
    }


def _cause_to_dict(cause: Cause) -> dict[str, object]:
    """Alternatives as lists of clauses, and their scopes: one, or if they differ one for each."""
    strategies = {part.strategy for parts in cause.alternatives for part in parts}
    scopes = [parts[0].only for parts in cause.alternatives]
    return {
        "strategies": [of for of in BOTH if strategies & {of, "both"}],
        "changes": [[it for part in parts for it in part.clauses] for parts in cause.alternatives],
        "only": scopes[0] if len({*scopes}) == 1 else scopes,
        "numbers": [*map(str, cause.lines)],
    }
