"""The command: one submission, or many side by side, judged here or by a course's own key."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from report import analysis
from report import question as asking
from report.check.changes import BOTH, changed
from report.check.judge import PIPE_IN, NoSubmissionError, Submission, check, key_of
from report.check.numbers import start
from report.check.readings import Parts, checked
from report.check.submission import Kind
from report.check.words import IN, MOST_NAMED, cause, listed, not_told, told, unsaid_units, words
from report.question import Question, headed, question_of
from report.terminal import count, filled, json_text, path_text, table

MOST_BYTES = 10**6  # of a file
LONG = 80  # letters of a file's name that are repeated in an error
IN_SHORT = {  # verdicts, without what is of one number
    Kind.NOT_EXPLAINED: "not explained",
    Kind.MISSING: "missing",
    Kind.TOO_FEW_DIGITS: "too few digits to be called right",
}
OCCURRING = {Kind.OTHER_LINE: "another line's right number", Kind.MISSING: "missing lines"}
FOR_EYES = Kind.NOT_EXPLAINED, Kind.TOO_FEW_DIGITS, Kind.NO_NUMBER, Kind.MISSING

# ------------------------------------------------ many submissions


def reasons(submission: Submission) -> list[str]:
    """Why not all is right, and how many faults of the form there are, in a few words each."""
    found = [*submission.notes, *(cause(each, submission.notes) for each in submission.explained)]
    counts: Counter[str] = Counter()
    for (kind, said), lines in not_told(submission).items():
        counts[IN_SHORT.get(kind, said)] += len(lines)
    counts["form"] = len(submission.form)
    return found + [f"{why} ({times})" for why, times in counts.items() if times]


def _occurring(submission: Submission) -> Iterator[str]:
    """What occurs in a submission: changes, units, what is exchanged or missing, ..."""
    for each in submission.explained:
        yield from each.sets[0]
        for unit in unsaid_units(each, submission.notes):
            yield f"in {unit}, which is not said"
    for note in submission.notes:
        yield note.partition(" are exchanged")[0] + " are exchanged" * ("exchanged" in note)
    for kind, said in not_told(submission):
        yield OCCURRING.get(kind) or IN_SHORT.get(kind, said)


def _judged(files: Mapping[str, Submission | str]) -> list[Submission]:
    return [each for each in files.values() if isinstance(each, Submission)]


def _often(files: Mapping[str, Submission | str]) -> dict[str, int]:
    """In how many files something occurs, the most frequent first."""
    found = Counter(what for each in _judged(files) for what in dict.fromkeys(_occurring(each)))
    return dict(found.most_common())


def _side_by_side(files: Mapping[str, Submission | str]) -> str:
    """A line each; how often everything occurs; how many are right; who is to be looked at."""
    rows, by_hand = [], []
    for name, found in zip(_short_names([*files]), files.values(), strict=True):
        if isinstance(found, str):
            rows.append([name, "-", found])
            by_hand.append(name)
        else:
            why = "; ".join(reasons(found)) or "right"
            rows.append([name, f"{found.right_lines} of {found.lines}", why])
            if any(number.kind in FOR_EYES for number in found.numbers):
                by_hand.append(name)
    blocks = [table(["file", "right", "why"], rows)]
    if often := _often(files):
        blocks.append(table(["files", "what"], [[often[what], words(what)] for what in often]))
    right = sum(each.right_lines == each.lines for each in _judged(files))
    have = f"{right} of {count(len(files), 'file')} {'has' if right == 1 else 'have'}"
    blocks.append(f"{have} all numbers right.\nLook at by hand: {', '.join(by_hand) or 'none'}")
    return "\n\n".join(blocks)


def _short_names(names: Sequence[str]) -> list[str]:
    """As short as they are distinct: without folders, then without the words with which all begin
    and end."""
    for known in ([Path(name).name for name in names], names):
        words = [re.findall(r"[^\W_]+|[\W_]", name) for name in known]
        for _ in range(2):  # from the front, then from the back
            same = (len({*column}) == 1 for column in zip(*words, strict=False))
            shared = sum(1 for _ in takewhile(bool, same))
            if "".join(words[0][:shared]) == "/":  # which says that a name is whole
                shared = 0
            words = [each[shared:][::-1] for each in words]
        for short in (["".join(each) for each in words], known):
            if all(short) and len({*short}) == len(names):
                return [path_text(name) for name in short]
    return [*names]


# ------------------------------------------------ the command: check


def add_options(parser: ArgumentParser) -> None:
    """Files, a key, what if, and --json."""
    what = "output of a lab3.py (default, or -: standard input)"
    parser.add_argument("files", metavar="FILE", nargs="*", default=["-"], help=what)
    key = "output of the course's own program, whose reading of the handout is then right"
    parser.add_argument("--key", metavar="FILE", help=key)
    asking.add_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: Namespace) -> tuple[str, int]:
    """What is right and what makes the rest; 0 if all is right, 1 if not, 2 for a file that cannot
    be judged, which does not stop the others."""
    question = checked(question_of(options))
    key = None if options.key is None else _key(options.key, question)
    files: dict[str, Submission | str] = {}  # or what it is instead, in a few words
    refused = []
    for name in dict.fromkeys(options.files):
        try:
            files[name] = check(_text(name), question, key or ())
        except (OSError, ValueError) as error:  # the latter also of a name that no file has
            files[name], why = _refusal(name, error)
            refused.append(why)
    submissions = _judged(files)
    if not submissions:
        raise ValueError(". ".join(refused))
    with suppress(OSError):
        for why in refused if sys.stderr else ():
            print(f"python3 report: error: {why}", file=sys.stderr, flush=True)
    is_all_right = all(found.right_lines == found.lines for found in submissions)
    status = 2 if refused else 0 if is_all_right else 1
    if options.json:
        return json_text(_as_dict(question, key, files)), status
    text = told(submissions[0], key) if len(options.files) < 2 else _side_by_side(files)
    first = "" if key is None else f"{filled(_of_key(key))}\n"
    return first + headed(question, text), status


def _refusal(name: str, error: Exception) -> tuple[str, str]:
    """What a file is instead of a submission, and a sentence with its name."""
    whose_file = "standard input" if name == "-" else start(name[-LONG:], LONG)
    if isinstance(error, NoSubmissionError):
        return error.what.partition(" ")[2], f"{whose_file} {error.what}; {error.wanted}"
    what = getattr(error, "strerror", None) or str(error)
    return what, f"{whose_file}: {what}"


def _key(name: str, question: Question) -> Parts:
    try:
        return key_of(_text(name), question)
    except (OSError, ValueError) as error:
        raise ValueError(f"--key {_refusal(name, error)[1]}") from None


def _of_key(key: Parts) -> str:
    """How the key reads the handout."""
    of = {strategy: names for strategy, names in key if names}
    shared = [name for name in next(iter(of.values()), ()) if changed(name).strategies == BOTH]
    said = [listed(shared)] if shared else []
    for strategy, names in of.items():
        if own := [name for name in names if name not in shared]:
            said.append(f"{IN[strategy]} {listed(own)}")
    return f"The key: {'; '.join(said) or 'as read here (python3 report explain readings)'}."


def _text(name: str) -> str:
    """What a file says; of bytes that are no UTF-8, each is one letter that is not known."""
    if name == "-":
        if sys.stdin is None:
            raise NoSubmissionError("is closed", PIPE_IN)
        data = sys.stdin.buffer.read(MOST_BYTES + 1)
    else:
        with Path(name).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise NoSubmissionError(f"has more than {MOST_BYTES:,} bytes", "an output has ten lines")
    is_utf_16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))  # as PowerShell writes it
    return data.decode("utf-16" if is_utf_16 else "utf-8-sig", "replace")


def _as_dict(
    question: Question, key: Parts | None, files: Mapping[str, Submission | str]
) -> dict[str, object]:
    submissions: list[dict[str, object]] = []
    for name, found in files.items():
        if isinstance(found, str):
            submissions.append({"file": name, "refused": found})
        else:
            right = {"right": found.right_lines, "of": found.lines}
            submissions.append({"file": name, **right, **_of_one(found), "why": reasons(found)})
    of_key = None if key is None else dict(key)
    head = {**analysis.head(question), "key": of_key}
    return {**head, "submissions": submissions, "occurrences": _often(files)}


def _of_one(submission: Submission) -> dict[str, object]:
    numbers = [
        {
            "line": str(number.line),
            "given": number.said,
            "right": number.right,
            "verdict": number.verdict.words,
            "times_right": number.times_right if number.kind is Kind.NOT_EXPLAINED else None,
        }
        for number in submission.numbers
    ]
    explained = [
        {
            "numbers": [*map(str, found.lines)],
            "sets": found.sets[:MOST_NAMED],
            "more": len(found.sets[MOST_NAMED:]),
            "units": unsaid_units(found, submission.notes),
            "in_traffic_only": found.in_traffic_only,
        }
        for found in submission.explained
    ]
    rest = {"notes": submission.notes, "form": submission.form}
    return {"numbers": numbers, "explained": explained, **rest}
