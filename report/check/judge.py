"""The judgement of a submission: its numbers' verdicts, and what makes the wrong ones."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from lab3 import Rate
from report.check.changes import BOTH, NAMED
from report.check.diagnosis import (
    Clauses,
    Course,
    Evidence,
    Explanation,
    Key,
    Outcome,
    Pair,
    explain,
    list_shared,
    predict,
)
from report.check.model import count_links
from report.check.submission import (
    ASKED_UNIT,
    LEAST_DIGITS,
    Line,
    Number,
    describe_lines,
    list_lines,
    read_submission,
)
from report.question import LAB, Question, check_possible
from report.text import count, format_rounded

SWAPS = ("tensor", "pipeline"), ("Q1", "Q2")
READ_IN = {"latency": ("ms", "us"), "traffic": ("kB", "MB")}  # if the unit is not said
FAR, NEAR = 50, 10  # times the right number
WITHIN = Fraction(1, 500)  # of a number that follows from Q1's


class Judgement(NamedTuple):
    """A line's number, and what it is."""

    line: Line
    given: str | None  # as it is written, without its unit
    right: Rate
    kind: str  # right, explained, multiple, unexplained, swapped, other line, ...
    verdict: str  # in words
    times_right: Fraction | None  # how many times the right number, if it is a number


class Part(NamedTuple):
    """Changes of strategies, in a scope."""

    strategies: tuple[str, ...]
    clauses: Clauses
    only: str | None  # Q1, Q2 or traffic; None for everywhere


class Cause(NamedTuple):
    """What makes wrong numbers: one or the other of alternatives."""

    alternatives: list[list[Part]]
    lines: list[Line]


class Check(NamedTuple):
    """What is right in a submission, and what makes the rest."""

    numbers: list[Judgement]
    causes: list[Cause]
    swapped: tuple[str, ...]  # "tensor", "pipeline" or "Q1", "Q2", if those are
    units: dict[str, str]  # in which numbers are read that do not say so, by kind
    notes: list[str]  # which lines are read as others
    faults: list[str]  # of the format

    @property
    def right(self) -> int:
        """How many numbers are right."""
        return sum(number.kind == "right" for number in self.numbers)

    @property
    def is_all_right(self) -> bool:
        """Whether all numbers are right, and in the handout's format."""
        return self.right == len(self.numbers) and not self.faults

    def list_lines(self, kind: str) -> list[Line]:
        """The lines of one kind of verdict."""
        return [number.line for number in self.numbers if number.kind == kind]


def check(text: str, question: Question = LAB, key: Key | None = None) -> Check:
    """Judge what somebody's lab3.py printed, by this project's reading or that of a key (read_key).

    Raises ValueError if no strategy is possible, NoSubmissionError for a text without results.
    """
    course = _read_course(question, key)
    right = find_right(course)
    submission = read_submission(text, course.question)
    numbers, units = read_units(submission.numbers, right)
    swapped, evidence, outcome = _diagnose(course, right, numbers)
    made = [line for one in outcome.pairs[0] for line in one.made]
    judgements = []
    for line, answer in right.items():
        number, meant = numbers.get(line), swap(line, swapped)
        kind, verdict = _judge_number(course.question, evidence, made, meant, number)
        if swapped and kind == "right" and right[line] != right[meant]:
            kind = verdict = "swapped"
        is_number = number is not None and not number.fault
        times = number.amount / answer if number and is_number and answer else None
        given = number.text if number else None
        judgements.append(Judgement(line, given, answer, kind, verdict, times))
    causes = list_causes(outcome.pairs, swapped)
    faults = [f"{kind} in {unit}, not in {ASKED_UNIT[kind]}" for kind, unit in units.items()]
    return Check(judgements, causes, swapped, units, submission.notes, submission.faults + faults)


def _read_course(question: Question, key: Key | None) -> Course:
    check_possible(question)
    return Course(question._replace(network=tuple(question.network)), key or Key())


def find_right(course: Course) -> dict[Line, Rate]:
    """The right numbers, as the course reads the handout."""
    return {
        line: predict(course, line.strategy)[line.question, line.kind]
        for line in list_lines(course.question)
    }


# ------------------------------------------------ what is given


def read_units(
    numbers: Mapping[Line, Number], right: Mapping[Line, Rate]
) -> tuple[dict[Line, Number], dict[str, str]]:
    """The numbers in ms, us, kB or MB if at least two of a kind are far from the right ones, near
    them in that unit, and none says another; and these units, by kind."""
    read, units = dict(numbers), {}
    for kind, candidates in READ_IN.items():
        own = {
            line: number
            for line, number in numbers.items()
            if line.kind == kind and not number.fault and number.value and right[line]
        }
        if len(own) < 2 or any(it.unit not in ("", ASKED_UNIT[kind]) for it in own.values()):
            continue
        times = [number.amount / right[line] for line, number in own.items()]
        if min(times) < FAR and max(times) > Fraction(1, FAR):
            continue
        for unit in candidates:
            as_read = {line: number.read_in(unit) for line, number in own.items()}
            times = [number.amount / right[line] for line, number in as_read.items()]
            if Fraction(1, NEAR) <= min(times) and max(times) <= NEAR and kind not in units:
                read |= as_read
                units[kind] = unit
    for line, number in read.items():
        if not number.fault and not number.value and right[line]:
            read[line] = number._replace(fault="zero")
    return read, units


def collect_evidence(numbers: Mapping[Line, Number], right: dict[Line, Rate]) -> Evidence:
    """Which numbers are given, set aside, and wrong."""
    given = {line: number for line, number in numbers.items() if not number.fault}
    wrong = [line for line, number in given.items() if not number.agrees(right[line])]
    aside = {line: other for line in wrong if (other := _find_other_line(line, given, right))}
    enough = [it for it in wrong if it not in aside and given[it].digits >= LEAST_DIGITS]
    return Evidence(right, given, aside, enough)


def _find_other_line(
    line: Line, given: Mapping[Line, Number], right: Mapping[Line, Rate]
) -> Line | None:
    """The line whose right number a wrong one is. Q1's in Q2 may follow from a change, unless Q1
    has Q2's."""
    for other, answer in right.items():
        if given[line].agrees(answer) and given[line].has_digits(answer):
            is_of_q1 = other == line._replace(question="Q1")
            if not is_of_q1 or (other in given and given[other].agrees(right[line])):
                return other
    return None


def swap(line: Line, words: Sequence[str]) -> Line:
    """The line with one of two words in place of the other."""
    return Line(*(words[it == words[0]] if it in words else it for it in line))


def _diagnose(
    course: Course, right: dict[Line, Rate], numbers: Mapping[Line, Number]
) -> tuple[tuple[str, ...], Evidence, Outcome]:
    """What explains the numbers as they are; or with two strategies or questions swapped, which
    costs 1, if that misses at most one number and is better. Here, numbers aside are missed."""
    evidence = collect_evidence(numbers, right)
    outcome = explain(course, evidence)
    best: tuple[tuple[str, ...], Evidence, Outcome] = (), evidence, outcome
    least = outcome.misses + len(evidence.aside), outcome.cost
    for words in SWAPS:
        moved = {swap(line, words): number for line, number in numbers.items()}
        if least[0] and moved.keys() <= right.keys():
            evidence = collect_evidence(moved, right)
            outcome = explain(course, evidence)
            missed = outcome.misses + len(evidence.aside)
            if missed <= 1 and (missed, outcome.cost + 1) < least:
                best, least = (words, evidence, outcome), (missed, outcome.cost + 1)
    return best


# ------------------------------------------------ verdicts


def _judge_number(
    question: Question, evidence: Evidence, made: Sequence[Line], line: Line, number: Number | None
) -> tuple[str, str]:
    """What a number is as that of a line: the kind of verdict, and in words."""
    if number is None:
        return "missing", "missing"
    if number.fault:
        return "no number", number.fault
    answer = evidence.right[line]
    if number.agrees(answer):
        if number.has_digits(answer):
            return "right", "right"
        digits = count(number.digits, "digit")
        return "few digits", f"{number.text} agrees, but has {digits}; {LEAST_DIGITS} are needed"
    if line in evidence.aside:
        return "other line", f"this is {evidence.aside[line]}"
    if line in made:
        return "explained", "explained"
    if multiple := _find_multiple(question, number, answer):
        return "multiple", multiple
    if origin := _find_origin(question.inputs, line, evidence):
        return "multiple", origin
    return "unexplained", f"unexplained, {_describe_distance(number, answer, line.kind)}"


def _find_multiple(question: Question, number: Number, answer: Rate) -> str:
    """Which multiple or part of the right number it is, if any."""
    nodes = question.system.nodes
    for times in (2, 3, 4, 8, 10, nodes, count_links(question.system), question.inputs, 1000):
        if times > 1 and number.has_digits(times * answer) and number.agrees(times * answer):
            return f"{'twice' if times == 2 else f'{times:,} times'} the right number"
        part = Fraction(answer) / times
        if times > 1 and number.has_digits(part) and number.agrees(part):
            return f"{'half' if times == 2 else f'1/{times:,} of'} the right number"
    return ""


def _find_origin(inputs: int, line: Line, evidence: Evidence) -> str:
    """How a number of Q2 follows from the submission's own wrong one of Q1, if it does."""
    of_q1 = line._replace(question="Q1")
    number, own = evidence.given[line], evidence.given.get(of_q1)
    if own is None or of_q1 == line or own.agrees(evidence.right[of_q1]):
        return ""
    for times in (inputs, inputs - 1, 1):
        off = abs(number.amount - times * own.amount)
        if off <= min(number.rounding + times * own.rounding, WITHIN * number.amount):
            return f"{'the same as' if times == 1 else f'{times:,} times'} your Q1, which is wrong"
    return ""


def _describe_distance(number: Number, answer: Rate, kind: str) -> str:
    """How far a number is from the right one."""
    if not answer:
        return "the right number is 0"
    times = number.amount / answer
    if Fraction(4, 5) <= times <= Fraction(5, 4):
        more, less = (
            ("too long", "too short") if kind == "latency" else ("too many bytes", "too few bytes")
        )
        return f"{format_rounded(abs(times - 1) * 100, 2)} % {more if times > 1 else less}"
    return f"{format_rounded(times, 3)} times the right number"


# ------------------------------------------------ causes


def list_causes(pairs: Sequence[Pair], swapped: Sequence[str] = ()) -> list[Cause]:
    """What the pairs say: what both strategies share, then what each has for itself, with "or"
    between alternatives; whole pairs if alternatives hold only as pairs."""
    rows = [_split(*pair) for pair in pairs]
    columns = [list(dict.fromkeys(column)) for column in zip(*rows, strict=True)]
    lines = {
        of: [swap(it, swapped) for it in one.made] for of, one in zip(BOTH, pairs[0], strict=True)
    }
    both = sorted(it for of in BOTH for it in lines[of])
    if len(rows) < len(columns[0]) * len(columns[1]) * len(columns[2]):
        return [Cause([[part for part in row if part.clauses] for row in rows], both)]
    return [
        Cause([[part] for part in column], own)
        for column, own in zip(columns, (both, *lines.values()), strict=True)
        if column[0].clauses
    ]


def _split(tensor: Explanation, pipeline: Explanation) -> tuple[Part, Part, Part]:
    """What both share, and what each has for itself."""
    shared = list_shared(tensor, pipeline)
    of_tensor, of_pipeline = (
        Part((it.strategy,), tuple(c for c in it.clauses if c not in shared), it.only)
        for it in (tensor, pipeline)
    )
    return Part(BOTH, tuple(shared), tensor.only if shared else None), of_tensor, of_pipeline


# ------------------------------------------------ a course's own key


def read_key(text: str, question: Question = LAB) -> Key:
    """How the course's own program reads the handout, from what it prints.

    Raises ValueError with the lines that no changes make, and as check does.
    """
    course = _read_course(question, None)
    right = find_right(course)
    numbers, _ = read_units(read_submission(text, course.question).numbers, right)
    evidence = collect_evidence(numbers, right)
    tensor, pipeline = explain(course, evidence, is_key=True).pairs[0]
    made = tensor.made + pipeline.made
    wrong = [
        line
        for line, number in numbers.items()
        if number.fault
        or not number.has_digits(right[line])
        or not (line in made or number.agrees(right[line]))
    ]
    if wrong:
        raise ValueError(f"no known reading or mistake makes its {describe_lines(wrong)}")
    given = {line.strategy for line in numbers}
    if "pipeline" not in given:
        pipeline = _adopt(tensor, "pipeline")
    if "tensor" not in given:
        tensor = _adopt(pipeline, "tensor")
    readings = [Explanation(*it[:3]) for it in (tensor, pipeline)]
    return Key(tuple(readings), tuple(line for line in right if line not in numbers))


def _adopt(other: Explanation, strategy: str) -> Explanation:
    """The changes of the other strategy that are of both."""
    clauses = tuple(it for it in other.clauses if NAMED[it].strategies == BOTH)
    return Explanation(strategy, clauses, other.only)
