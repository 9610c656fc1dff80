"""What is told of one submission, in sentences and a table."""

from __future__ import annotations

from collections.abc import Sequence

import lab3
from report.check.changes import ALSO_OF_ONE, ANOTHER_READING, BOTH, OF_Q1, WITH, changed
from report.check.judge import Submission
from report.check.pairs import Found
from report.check.readings import Parts
from report.check.submission import Kind, Line, Number, Verdict, whose
from report.terminal import EXACT_DIGITS, count, filled, table

MOST_NAMED_LINES = 2  # that are missing
MOST_NAMED = 3  # sets of changes that make the same
COMPUTED_OTHERWISE = Kind.WRONG, Kind.MULTIPLE, Kind.FROM_Q1, Kind.NOT_EXPLAINED
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


def cause(found: Found, notes: Sequence[str] = ()) -> str:
    """What makes the numbers: the changes that all sets have, then what differs, with "or"; and
    their unit, if neither they nor notes say it."""
    strategies = [of for of in BOTH if any(line.strategy == of for line in found.lines)]
    is_q1 = all(line.question == "Q1" for line in found.lines)
    named, more = found.sets[:MOST_NAMED], len(found.sets[MOST_NAMED:])
    shared = [name for name in named[0] if all(name in names for names in named) and not more]
    said = [_by_strategy(shared, strategies, is_q1)] if shared else []
    if len(named) > 1:
        rests = ([name for name in names if name not in shared] for names in named)
        either = ", or ".join(_by_strategy(rest, strategies, is_q1) for rest in rests)
        said.append(f"either {either}" + (f" (and {more:,} more)" if more else ""))
    kind = ", in traffic only" * found.in_traffic_only
    units = unsaid_units(found, notes)
    return " and ".join(said) + kind + (f", in {' and '.join(units)}" if units else "")


def unsaid_units(found: Found, notes: Sequence[str]) -> list[str]:
    """In which its numbers are, though they say others and no note says so."""
    units = dict.fromkeys(number.unit for number in found.numbers if number.unit)
    return [unit for unit in units if not any(note.endswith(f"in {unit}") for note in notes)]


def sentence(found: Found, wrong: int, notes: Sequence[str]) -> str:
    """Which of so many wrong numbers somebody gets with what."""
    whom = f"these {wrong} numbers" if len(found.lines) == wrong > 1 else whose(found.lines)
    what = cause(found, notes)
    return f"You get {whom}{':' * what.startswith('in ')} {what}."


# ------------------------------------------------ one submission


def told(submission: Submission, key: Parts | None = None) -> str:
    """How many numbers are right and what makes the others; a table of all, if it says more than
    that; then the faults of form."""
    first = [_how_many(submission, key)]
    first += [f"{note[0].upper()}{note[1:]}." for note in submission.notes]
    wrong = submission.lines - submission.right_lines - submission.missing
    first += [sentence(each, wrong, submission.notes) for each in submission.explained]
    are_many_missing = submission.missing > MOST_NAMED_LINES
    for (kind, words), lines in not_told(submission).items():
        if kind is Kind.MULTIPLE and len(lines) > 1:
            both = whose(lines).replace(" latency and traffic", "")
            first.append(f"{both}: {words}s.")
        elif kind is not Kind.MISSING or not are_many_missing:
            first.append(f"{whose(lines)}: {words}.")
    if topics := _topics(submission):
        first.append(f"How it is computed: python3 report explain {' '.join(topics)}")
    blocks = ["\n".join(map(filled, first))]
    if are_many_missing or any(_says_more(number.verdict) for number in submission.numbers):
        blocks.append(_numbers_table(submission))
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
        said += f", {count(missing, 'line')} {'is' if missing == 1 else 'are'} missing"
    return f"{said}."


def not_told(submission: Submission) -> dict[Verdict, list[Line]]:
    """Verdicts that neither notes nor causes tell, with their lines."""
    told = Kind.RIGHT, Kind.WRONG, Kind.EXCHANGED, Kind.ELSEWHERE
    found: dict[Verdict, dict[Line, None]] = {}
    for number in submission.numbers:
        if number.kind not in told:
            found.setdefault(number.verdict, {})[number.line] = None
    return {verdict: [*lines] for verdict, lines in found.items()}


def _says_more(verdict: Verdict) -> bool:
    """Whether the table says more of a number than the sentences."""
    told = Kind.MISSING, Kind.OTHER_LINE, Kind.EXCHANGED, Kind.OTHER_UNIT
    return verdict.kind not in told and verdict.words != "right"


def _topics(submission: Submission) -> list[str]:
    """The strategies whose numbers are computed otherwise: `explain` has a topic of each."""
    computed = [number for number in submission.numbers if number.kind in COMPUTED_OTHERWISE]
    return [of for of in BOTH if any(number.line.strategy == of for number in computed)]


def _numbers_table(submission: Submission) -> str:
    read_otherwise: set[Number] = set()
    for found in submission.explained:
        if {*found.sets[0]} <= ANOTHER_READING:
            read_otherwise.update(found.numbers)
    rows = [["", "", "", "yours", "right", ""]]
    for number in submission.numbers:
        of_question, strategy, kind = number.line
        what = f"{kind} {'s' if kind == 'latency' else 'bytes'}"
        is_whole = isinstance(number.right, int)
        right = str(number.right) if is_whole else lab3.plain(number.right, EXACT_DIGITS)
        said = "another reading" if number in read_otherwise else number.verdict.words
        rows.append([of_question, strategy, what, number.said or "-", right, said])
    widths = [max(len(row[n]) for row in rows) for n in (3, 4)]
    for row in rows:
        row[3:5] = map(str.rjust, row[3:5], widths)
    return table(rows[0], rows[1:])
