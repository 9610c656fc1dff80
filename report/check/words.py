"""What is told of one submission, in sentences and a table."""

from __future__ import annotations

from collections.abc import Sequence

import lab3
from report.check.changes import ALSO_OF_ONE, ANOTHER_READING, BOTH, OF_Q1, WITH, changed
from report.check.judge import Explained, Judged, Submission
from report.check.pairs import MULTIPLES, YOUR_Q1
from report.check.readings import Parts
from report.check.submission import whose
from report.check.verdicts import EXCHANGED, MISSING, NOT_EXPLAINED, RIGHT, THIS_IS, WRONG, is_right
from report.terminal import EXACT_DIGITS, count, filled, table

MOST_NAMED_LINES = 2  # that are missing
ELSEWHERE = "of a", "for "  # how verdicts begin of right numbers of a ring, or for other inputs
IN = {"tensor": "in tensor parallelism", "pipeline": "in the pipeline"}

# ------------------------------------------------ what makes the numbers, in words


def listed(words: Sequence[str]) -> str:
    """a, b and c; a part that has a comma ends with one."""
    first = [f"{word}," if "," in word and len(words) == 2 else word for word in words[:-1]]
    return " and ".join(filter(None, [", ".join(first), *words[-1:]]))


def words(name: str, is_q1: bool = False) -> str:
    """A change, or what it is of Q1."""
    if name in OF_Q1:
        return OF_Q1[name] if is_q1 else name.replace(ALSO_OF_ONE, f" and {OF_Q1[name]}")
    is_reading = " (another reading of the handout)" if name in ANOTHER_READING else ""
    return WITH.get(name, name) + is_reading


def _clause(names: Sequence[str], is_q1: bool) -> str:
    """with 4 bytes per element (FP32) and if inputs do not overlap"""
    nouns = [name for name in names if name in WITH]
    clauses = [name for name in names if name not in WITH]
    return " and ".join(
        f"{before} {listed([words(name, is_q1) for name in own])}"
        for before, own in (("with", nouns), ("if", clauses))
        if own
    )


def _by_strategy(names: Sequence[str], strategies: Sequence[str], is_q1: bool) -> str:
    """The changes in a clause, and those of one strategy in a clause of their own if the numbers
    are of both."""
    if len(strategies) < 2:
        return _clause(names, is_q1)
    said = [_clause([name for name in names if changed(name).strategies == BOTH], is_q1)]
    for of in strategies:
        own = _clause([name for name in names if changed(name).strategies == (of,)], is_q1)
        said.append(f"{IN[of]} {own}" if own else "")
    return "; ".join(filter(None, said))


def cause(found: Explained) -> str:
    """What makes the numbers: the changes that all sets have, then what differs, with "or"."""
    strategies = [of for of in BOTH if any(line.split()[1] == of for line in found.numbers)]
    is_q1 = all(line.startswith("Q1") for line in found.numbers)
    shared = [
        name
        for name in found.sets[0]
        if all(name in names for names in found.sets) and not found.more
    ]
    said = [_by_strategy(shared, strategies, is_q1)] if shared else []
    if len(found.sets) > 1:
        rests = ([name for name in names if name not in shared] for names in found.sets)
        either = ", or ".join(_by_strategy(rest, strategies, is_q1) for rest in rests)
        said.append(f"either {either}" + (f" (and {found.more:,} more)" if found.more else ""))
    kind = f", in {found.only} only" if found.only else ""
    units = f", in {' and '.join(found.units)}" if found.units else ""
    return " and ".join(said) + kind + units


def sentence(found: Explained, wrong: int) -> str:
    """Which of so many wrong numbers somebody gets with what."""
    lines = found.numbers
    whom = f"these {wrong} numbers" if len(lines) == wrong > 1 else whose(lines)
    what = cause(found)
    return f"You get {whom}{':' * what.startswith('in ')} {what}."


# ------------------------------------------------ one submission


def told(submission: Submission, key: Parts | None = None) -> str:
    """How many are right, and what makes the others; then all lines, unless that says no more; then
    the form."""
    first = [_how_many(submission, key)]
    first += [f"{note[0].upper()}{note[1:]}." for note in submission.notes]
    wrong = submission.lines - submission.right_lines - len(submission.missing)
    first += [sentence(each, wrong) for each in submission.explained]
    for verdict, lines in unexplained(submission).items():
        said = f"{whose(lines)}: {verdict}."
        if verdict in MULTIPLES and len(lines) > 1:
            said = said.replace(" latency and traffic", "").replace("number.", "numbers.")
        first.append(said)
    if topics := _topics(submission):
        first.append(f"How it is computed: python3 report explain {' '.join(topics)}")
    blocks = ["\n".join(map(filled, first))]
    are_many_missing = len(submission.missing) > MOST_NAMED_LINES
    if are_many_missing or any(_says_more(number.verdict) for number in submission.numbers):
        blocks.append(_numbers_table(submission.numbers))
    if submission.form:
        blocks.append("\n".join(["Form:", *(filled(f"- {it}", "  ") for it in submission.form)]))
    return "\n\n".join(blocks)


def _how_many(submission: Submission, key: Parts | None) -> str:
    lines, right, missing = submission.lines, submission.right_lines, submission.missing
    if right == lines:
        by = "the key" if key is not None else "read here (python3 report explain readings)"
        return f"All {lines} numbers are right, as {'in ' if key is not None else ''}{by}."
    said = f"{right} of {lines} numbers {'is' if right == 1 else 'are'} right"
    if missing:
        said += f", {count(len(missing), 'line')} {'is' if len(missing) == 1 else 'are'} missing"
    return f"{said}."


def unexplained(submission: Submission) -> dict[str, list[str]]:
    """Verdicts that no sentence has told yet, with their lines."""
    found: dict[str, dict[str, None]] = {}
    for number in submission.numbers:
        verdict = number.verdict
        is_told = (
            verdict == WRONG
            or is_right(verdict)
            or verdict.startswith((EXCHANGED, *ELSEWHERE))
            or (number.given is None and len(submission.missing) > MOST_NAMED_LINES)
        )
        if not is_told:
            found.setdefault(verdict, {})[number.line] = None
    return {verdict: [*lines] for verdict, lines in found.items()}


def is_understood(verdict: str) -> bool:
    """Whether it says what a number is: right, or what makes it."""
    known = RIGHT, WRONG, THIS_IS, EXCHANGED, *ELSEWHERE, *MULTIPLES
    return verdict.startswith(known) or YOUR_Q1 in verdict


def _says_more(verdict: str) -> bool:
    """Whether the table says more of a number than the sentences."""
    is_told = verdict == RIGHT or verdict.startswith((MISSING, THIS_IS, EXCHANGED, f"{RIGHT} in "))
    return not is_told


def _topics(submission: Submission) -> list[str]:
    """The strategies whose numbers are computed otherwise: `explain` has a topic of each."""
    found = [
        number.line.split()[1]
        for number in submission.numbers
        if number.verdict in (WRONG, *MULTIPLES)
        or number.verdict.startswith(NOT_EXPLAINED)
        or YOUR_Q1 in number.verdict
    ]
    return [of for of in BOTH if of in found]


def _numbers_table(numbers: Sequence[Judged]) -> str:
    rows = [["", "", "", "yours", "right", ""]]
    for number in numbers:
        of_question, strategy, kind = number.line.split()
        what = f"{kind} {'s' if kind == 'latency' else 'bytes'}"
        is_whole = isinstance(number.right, int)
        right = str(number.right) if is_whole else lab3.plain(number.right, EXACT_DIGITS)
        rows.append([of_question, strategy, what, number.given or "-", right, number.verdict])
    widths = [max(len(row[n]) for row in rows) for n in (3, 4)]
    for row in rows:
        row[3:5] = map(str.rjust, row[3:5], widths)
    return table(rows[0], rows[1:])
