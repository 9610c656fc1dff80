"""The `check` command: one submission, or many side by side, as text or JSON."""

import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote

from report import question as asking
from report.check.changes import BOTH, NAMED
from report.check.diagnosis import WITHOUT, Key
from report.check.judge import Cause, Check, check, read_key
from report.check.submission import ASKED_UNIT, PIPE, NoSubmissionError
from report.check.words import (
    describe_cause,
    describe_clause,
    describe_key,
    group_rest,
    tell,
    tell_whole,
)
from report.question import Question, check_possible, prefix_question, read_options
from report.results import VERSION
from report.text import count, format_json, format_path, format_table, wrap

MOST_BYTES = 10**6  # of a file
OCCURRING = {  # what is told of many files, of verdicts that differ from number to number
    "unexplained": "unexplained numbers",
    "few digits": "numbers of too few digits",
    "no number": "lines without a number",
    "missing": "missing lines",
    "other line": "another line's right number",
}
FOR_EYES = {"unexplained", "few digits", "no number", "missing"}

Found = Check | str  # of a file: what is right, or why it is refused


def add_options(parser: ArgumentParser) -> None:
    """Files, a key, what if, and --json."""
    what = "what a lab3.py printed (default: standard input, or -)"
    parser.add_argument("files", metavar="FILE", nargs="*", default=["-"], help=what)
    key = "what the course's own program printed: its reading of the handout is then right"
    parser.add_argument("--key", metavar="FILE", help=key)
    asking.add_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: Namespace) -> int:
    """Print what is right and what makes the rest. The status is 0 if all numbers and formats are
    right, 1 if not, 2 if a file cannot be judged, which does not stop the others."""
    question = read_options(options)
    check_possible(question)
    key = _read_key_file(options.key, question) if options.key else None
    files = {name: _check_file(name, question, key) for name in dict.fromkeys(options.files)}
    refused = [found for found in files.values() if isinstance(found, str)]
    if len(refused) == len(files):
        raise ValueError(". ".join(refused))
    if options.json:
        print(format_json(_to_dict(question, key, files)))
    else:
        found = next(iter(files.values()))
        if len(files) == 1 and isinstance(found, Check):
            text = tell(found, question.inputs, key is not None)
        else:
            text = tell_all(files, question.inputs)
        if key:
            print(wrap(describe_key(key, question.inputs)))
        print(prefix_question(question, text))
    return 2 if refused else 0 if all(it.is_all_right for it in _list_checks(files)) else 1


# ------------------------------------------------ files


def _check_file(name: str, question: Question, key: Key | None) -> Found:
    """What is right in a file, or why it is refused."""
    try:
        return check(_read_text(name), question, key)
    except (OSError, ValueError) as error:  # ValueError also of a name that no file has
        return _refuse(name, error)


def _read_key_file(name: str, question: Question) -> Key:
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


# ------------------------------------------------ many submissions


def tell_all(files: Mapping[str, Found], inputs: int) -> str:
    """A line for each file; what occurs how often; how many are right; whom to look at."""
    checks = _list_checks(files)
    rows = [
        (name, "-", found)
        if isinstance(found, str)
        else (name, f"{found.right} of {len(found.numbers)}", _summarize(found, inputs))
        for name, found in zip(_shorten_names([*files]), files.values(), strict=True)
    ]
    blocks = [format_table(["file", "right", "why"], rows)]
    often = count_occurrences(checks)
    if often:
        words = [
            (times, describe_clause(it, inputs, has_key=True) if _is_clause(it) else it)
            for it, times in often.items()
        ]
        blocks.append(format_table(["files", "what"], words))
    if same := list(_find_same(checks)):
        blocks.append("\n".join(map(wrap, same)))
    right = sum(found.is_all_right for found in checks)
    by_hand = [
        name
        for (name, *_), found in zip(rows, files.values(), strict=True)
        if isinstance(found, Check) and any(it.kind in FOR_EYES for it in found.numbers)
    ]
    have = f"{right} of {count(len(files), 'file')} {'has' if right == 1 else 'have'}"
    last = [f"{have} all numbers right, in the handout's format."]
    last.append(f"Look at by hand: {', '.join(by_hand) or 'none'}")
    return "\n\n".join([*blocks, "\n".join(map(wrap, last))])


def _is_clause(text: str) -> bool:
    return text.removeprefix(WITHOUT) in NAMED


def _list_checks(files: Mapping[str, Found]) -> list[Check]:
    return [found for found in files.values() if isinstance(found, Check)]


def _shorten_names(names: Sequence[str]) -> list[str]:
    """Without folders if they differ without."""
    short = [Path(name).name for name in names]
    is_clear = len({*short}) == len(names) and all(short)
    return [format_path(name) for name in (short if is_clear else names)]


def _summarize(found: Check, inputs: int) -> str:
    """Why not all is right, in a few words each."""
    said = [sentence.removesuffix(".") for sentence in tell_whole(found)]
    said += [describe_cause(cause, inputs, has_key=True) for cause in found.causes]
    for verdict, lines in group_rest(found).items():
        said.append(f"{verdict} ({len(lines)})")
    if found.faults:
        said.append(f"format ({len(found.faults)})")
    return "; ".join(said) or "right"


def count_occurrences(checks: Sequence[Check]) -> dict[str, int]:
    """In how many files something occurs, the most frequent first: changes by their clauses, what
    is swapped, units, missing lines, ..."""
    found = Counter(what for each in checks for what in dict.fromkeys(_list_occurrences(each)))
    return dict(found.most_common())


def _list_occurrences(found: Check) -> Iterator[str]:
    for cause in found.causes:
        for part in cause.alternatives[0]:
            yield from part.clauses
    for sentence in tell_whole(found._replace(notes=[])):
        yield sentence.removesuffix(".")
    for number in found.numbers:
        if number.kind == "multiple":
            yield number.verdict
        elif number.kind in OCCURRING:
            yield OCCURRING[number.kind]
    if found.faults:
        yield "another format than the handout's"


def _find_same(checks: Sequence[Check]) -> Iterator[str]:
    """The unexplained numbers that several files have."""
    same = Counter(
        f"{number.given} {ASKED_UNIT[number.line.kind]} for {number.line}"
        for found in checks
        for number in found.numbers
        if number.kind == "unexplained"
    )
    for number, files in same.most_common():
        if files > 1:
            yield f"{files} files have {number}."


# ------------------------------------------------ JSON


def _to_dict(question: Question, key: Key | None, files: Mapping[str, Found]) -> dict[str, object]:
    readings = [
        {"strategy": it.strategy, "changes": it.clauses, "only": it.only}
        for it in (key.readings if key else [])
    ]
    return {
        "version": VERSION,
        "asked": question,
        "key": key and {"readings": readings, "missing": [*map(str, key.missing)]},
        "occurrences": count_occurrences(_list_checks(files)),
        "submissions": [
            {"file": name, **({"refused": it} if isinstance(it, str) else _check_to_dict(it))}
            for name, it in files.items()
        ],
    }


def _check_to_dict(found: Check) -> dict[str, object]:
    numbers = [{**number._asdict(), "line": str(number.line)} for number in found.numbers]
    return {
        "right": found.right,
        "of": len(found.numbers),
        "numbers": numbers,
        "explanations": [_cause_to_dict(cause) for cause in found.causes],
        "swapped": found.swapped,
        "units": found.units,
        "unexplained": [str(it.line) for it in found.numbers if it.kind == "unexplained"],
        "notes": found.notes,
        "format": found.faults,
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
