"""The judgement of a submission: the verdict of each number, and what makes the wrong ones."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from lab3 import Rate
from report.check.changes import BOTH, NAMED
from report.check.diagnosis import (
    Answers,
    Course,
    Evidence,
    Explanation,
    Numbers,
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
    shorten,
)
from report.question import Question, find_impossible
from report.text import count, format_rounded, round_to

AS_READ = Course()  # by this project
SWAPS = ("tensor", "pipeline"), ("Q1", "Q2")
OTHER_UNITS = {"latency": ("ms", "us"), "traffic": ("kB", "MB")}  # that may not be said
NEAR = 10  # times the right number
WITHIN = Fraction(1, 500)  # of a number that follows from Q1's


class Judgement(NamedTuple):
    """What a line's number is."""

    line: Line
    given: str | None  # as it is written, without its unit
    right: Rate
    kind: str  # of verdict: right, explained, unexplained, missing, swapped, ...
    verdict: str  # the same, with what is to be said of this number
    times_right: Fraction | None  # how many times the right number, if both are numbers


class Cause(NamedTuple):
    """What makes wrong numbers: one or the other of alternatives, each in one part or several."""

    alternatives: list[list[Explanation]]
    lines: list[Line]


class Check(NamedTuple):
    """What is right in a submission, and what makes the rest."""

    numbers: list[Judgement]
    causes: list[Cause]
    swapped: tuple[str, ...]  # "tensor", "pipeline" or "Q1", "Q2", if those are
    units: dict[str, str]  # in which numbers of a kind are read that do not say so
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


def check(text: str, course: Course = AS_READ) -> Check:
    """Judge what somebody's lab3.py printed, by this project's reading or a course's (read_key).

    Raises ValueError if no strategy is possible, NoSubmissionError for a text without results.
    """
    find_impossible(course.question)
    right = find_right(course)
    submission = read_submission(text, course.question)
    numbers, units = read_units(submission.numbers, right)
    swapped, evidence, pairs = _diagnose(course, right, numbers)
    judgements = []
    for line, answer in right.items():
        number, meant = numbers.get(line), swap(line, swapped)
        kind, verdict = _judge(evidence, pairs[0], meant, number)
        if kind == "right" and right[meant] != answer:
            kind = verdict = "swapped"
        times = number.amount / answer if number and number.value and answer else None
        given = shorten(number.text) if number else None
        judgements.append(Judgement(line, given, answer, kind, verdict, times))
    faults = [f"{kind} in {unit}, not in {ASKED_UNIT[kind]}" for kind, unit in units.items()]
    faults = submission.faults + faults
    causes = list_causes(pairs, swapped)
    return Check(judgements, causes, swapped, units, submission.notes, faults)


def find_right(course: Course) -> Answers:
    """The right numbers, as the course reads the handout."""
    lines = list_lines(course.question)
    return {line: predict(course, line.strategy)[line] for line in lines}


# ------------------------------------------------ what is given


def read_units(numbers: Numbers, right: Answers) -> tuple[Numbers, dict[str, str]]:
    """The numbers, of which those of a kind may be in a unit that they do not say; and that unit,
    by kind."""
    units = {kind: unit for kind in ASKED_UNIT if (unit := _find_unit(kind, numbers, right))}
    meant = {it: numbers[it].read_in(units[it.kind]) for it in numbers if it.kind in units}
    return {**numbers, **meant}, units


def _find_unit(kind: str, numbers: Numbers, right: Answers) -> str | None:
    """In which unit numbers are that do not say so: far from the right ones, but near in it."""
    own = {it: numbers[it] for it in numbers if it.kind == kind and numbers[it].value and right[it]}
    if len(own) < 2 or any(it.unit not in ("", ASKED_UNIT[kind]) for it in own.values()):
        return None
    for unit in OTHER_UNITS[kind]:  # near in one, numbers are a hundred times too far without
        times = [number.read_in(unit).amount / right[line] for line, number in own.items()]
        if Fraction(1, NEAR) <= min(times) and max(times) <= NEAR:
            return unit
    return None


def collect_evidence(
    course: Course, right: Answers, numbers: Numbers, is_key: bool = False
) -> Evidence:
    """Which numbers are given, and which of them are other lines' right ones. A number that is 0 is
    none, unless that is right."""
    given = {
        line: number
        for line, number in numbers.items()
        if number.value or (not number.fault and not right[line])
    }
    others = {line: _find_other_line(line, given, right) for line in given}
    aside = {line: other for line, other in others.items() if other}
    return Evidence(course, right, given, aside, is_key)


def _find_other_line(line: Line, given: Numbers, right: Answers) -> Line | None:
    """The line whose right number a wrong one is. Q1's in Q2 may follow from a change, unless Q1
    has Q2's."""
    number = given[line]
    if number.agrees(right[line]):
        return None
    for other, answer in right.items():
        if number.agrees(answer) and number.has_digits(answer):
            is_own_q1 = other == line._replace(question="Q1")
            if not is_own_q1 or (other in given and given[other].agrees(right[line])):
                return other
    return None


def swap(line: Line, words: Sequence[str]) -> Line:
    """The line with one of two words in place of the other."""
    return Line(*(words[it == words[0]] if it in words else it for it in line))


def _diagnose(
    course: Course, right: Answers, numbers: Numbers
) -> tuple[tuple[str, ...], Evidence, list[Pair]]:
    """What explains the numbers as they are; or with two strategies or questions swapped, which
    costs 1, if that misses at most one number and is better. Here, numbers aside are missed."""
    tries = []
    for words in ((), *SWAPS):
        moved = {swap(line, words): number for line, number in numbers.items()}
        if moved.keys() <= right.keys():
            evidence = collect_evidence(course, right, moved)
            outcome = explain(evidence)
            missed = outcome.misses + len(evidence.aside)
            if not words or missed <= 1:
                tries.append((missed, outcome.cost + bool(words), words, evidence, outcome.pairs))
        if not words and not missed:
            break
    return min(tries, key=lambda it: it[:2])[2:]


# ------------------------------------------------ verdicts


def _judge(evidence: Evidence, pair: Pair, line: Line, number: Number | None) -> tuple[str, str]:
    """What a number is as that of a line: the kind of verdict, and the verdict."""
    if number is None:
        return "missing", "missing"
    if line not in evidence.given:
        return "no number", number.fault or "zero"
    answer = evidence.right[line]
    if number.agrees(answer):
        if number.has_digits(answer):
            return "right", "right"
        digits = count(number.digits, "digit")
        verdict = f"{number.text} agrees, but has {digits}; {LEAST_DIGITS} are needed"
        return "too few digits", verdict
    if line in evidence.aside:
        return "another line's number", f"this is {evidence.aside[line]}"
    if any(line in explanation.made for explanation in pair):
        return "explained", "explained"
    question = evidence.course.question
    if multiple := _find_multiple(question, number, answer) or _find_origin(evidence, line):
        return multiple, multiple
    return "unexplained", f"unexplained, {_describe_distance(number, answer, line.kind)}"


def _find_multiple(question: Question, number: Number, answer: Rate) -> str:
    """Which multiple or part of the right number it is, if any."""
    nodes = question.system.nodes
    for times in (2, 3, 4, 8, 10, nodes, count_links(question.system), question.inputs, 1000):
        for value, words in (
            (times * answer, "twice" if times == 2 else f"{times:,} times"),
            (Fraction(answer) / times, "half" if times == 2 else f"1/{times:,} of"),
        ):
            if number.agrees(value) and number.has_digits(value):
                return f"{words} the right number"
    return ""


def _find_origin(evidence: Evidence, line: Line) -> str:
    """How a number of Q2 follows from the submission's own wrong one of Q1, if it does."""
    of_q1 = line._replace(question="Q1")
    if of_q1 == line or of_q1 not in evidence.given or not evidence.is_wrong(of_q1):
        return ""
    number, own = evidence.given[line], evidence.given[of_q1]
    inputs = evidence.course.question.inputs
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
        many, few = ("long", "short") if kind == "latency" else ("many bytes", "few bytes")
        return f"{format_rounded(abs(times - 1) * 100, 2)} % too {many if times > 1 else few}"
    is_long = not Fraction(1, 10**4) < times < 10**6
    far = f"{round_to(times, 3):.2e}" if is_long else format_rounded(times, 3)
    return f"{far} times the right number"


# ------------------------------------------------ causes


def list_causes(pairs: Sequence[Pair], swapped: Sequence[str] = ()) -> list[Cause]:
    """What both strategies share, then what each has for itself, as alternatives; whole pairs if
    not all of these go together."""
    rows = [_split(*pair) for pair in pairs]
    columns = [list(dict.fromkeys(column)) for column in zip(*rows, strict=True)]
    tensor, pipeline = ([swap(line, swapped) for line in it.made] for it in pairs[0])
    if len(rows) < len(columns[0]) * len(columns[1]) * len(columns[2]):
        return [Cause([[it for it in row if it.clauses] for row in rows], tensor + pipeline)]
    return [
        Cause([[it] for it in column], lines)
        for column, lines in zip(columns, (tensor + pipeline, tensor, pipeline), strict=True)
        if any(it.clauses for it in column)
    ]


def _split(tensor: Explanation, pipeline: Explanation) -> list[Explanation]:
    """What both share, and what each has for itself."""
    shared = tuple(list_shared(tensor, pipeline))
    parts = [Explanation("both", shared, tensor.only if shared else None)]
    for one in (tensor, pipeline):
        own = tuple(clause for clause in one.clauses if clause not in shared)
        parts.append(Explanation(one.strategy, own, one.only if own else None))
    return parts


# ------------------------------------------------ a course's own key


def read_key(text: str, question: Question) -> Course:
    """How the course's own program reads the handout, from what it prints.

    Raises ValueError with the lines that no changes make, and as check does.
    """
    course = Course(question)
    right = find_right(course)
    numbers, _ = read_units(read_submission(text, question).numbers, right)
    evidence = collect_evidence(course, right, numbers, is_key=True)
    pair = explain(evidence).pairs[0]
    kinds = {it: _judge(evidence, pair, it, numbers[it])[0] for it in numbers}
    wrong = [line for line, kind in kinds.items() if kind not in ("right", "explained")]
    if wrong:
        raise ValueError(f"no known reading or mistake makes its {describe_lines(wrong)}")
    strategies = {line.strategy for line in numbers}
    tensor, pipeline = (
        one._replace(made=(), misses=0)
        if one.strategy in strategies
        else _adopt(other, one.strategy)
        for one, other in (pair, pair[::-1])
    )
    missing = tuple(line for line in right if line not in numbers)
    return Course(question, (tensor, pipeline), True, missing)


def _adopt(other: Explanation, strategy: str) -> Explanation:
    """The changes of the other strategy that are of both."""
    clauses = tuple(it for it in other.clauses if NAMED[it].strategies == BOTH)
    return Explanation(strategy, clauses, other.only)
