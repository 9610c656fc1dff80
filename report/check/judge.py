"""The judgement of a submission: what each number is, and what makes the wrong ones."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import lab3
from lab3 import Rate
from report.check.changes import BOTH
from report.check.diagnosis import (
    AS_READ,
    Course,
    Evidence,
    Explanation,
    Numbers,
    Pair,
    diagnose,
    list_shared,
    predict,
)
from report.check.model import count_links
from report.check.submission import (
    ASKED_UNIT,
    LEAST_DIGITS,
    Line,
    Number,
    list_lines,
    read_submission,
    shorten,
)
from report.question import LAB, Question, find_impossible
from report.text import count, format_rounded, round_to

FOLLOWS = "follows from Q1"
ZERO = {"latency": "zero: print more digits", "traffic": "zero"}
ENOUGH_DIGITS = 6  # with which more would hardly tell more
MORE_DIGITS = "; with more digits it might be explained"
WITHIN = Fraction(1, 500)  # of a number that follows from Q1's
LACKED = Line("Q2", "pipeline", "traffic")
LACKS = "missing; the handout's sample of Q2 lacks it, too, but its objectives ask for it"


class JudgedNumber(NamedTuple):
    """What a line's number is."""

    line: Line
    given: str | None  # as it is written, without the unit that is asked for
    right: Rate
    kind: str  # right, explained, unexplained, missing, another line's number, ...
    words: str  # the same, with what is to be said of this number
    times_right: Fraction | None  # how many times the right number, if both are numbers


class Cause(NamedTuple):
    """What makes wrong numbers: one or the other of alternatives, each in one part or several."""

    alternatives: list[list[Explanation]]
    lines: list[Line]


class Judgement(NamedTuple):
    """What is right in a submission, and what makes the rest."""

    numbers: list[JudgedNumber]
    causes: list[Cause]
    notes: list[str]  # which lines are read as others, and that the program failed
    format: list[str]  # rows of a diff: what is printed, and what the handout asks for

    @property
    def right(self) -> int:
        """Count the numbers that are right."""
        return sum(number.kind == "right" for number in self.numbers)

    @property
    def is_all_right(self) -> bool:
        """Tell whether all numbers are right, and in the handout's format."""
        return self.right == len(self.numbers) and not self.format


def judge(text: str, question: Question = LAB, key: str | None = None) -> Judgement:
    """Judge what somebody's lab3.py printed, by what the course's own program printed, by default
    by lab3.py's answers.

    Raises ValueError if no strategy is possible, NoSubmissionError for a text without results.
    """
    known = read_key(question, key)
    numbers, *_ = submission = read_submission(text, question, find_impossible(question))
    evidence = collect_evidence(known, numbers)
    pairs = diagnose(evidence) if known.is_explained else [AS_READ]
    judged = []
    for line, answer in known.right.items():
        number = numbers.get(line)
        kind, words = _judge_number(evidence, pairs[0], line, number)
        if line in submission.unread:
            words = f"missing; not read: '{shorten(submission.unread[line], 60)}'"
        given, right = number and _quote(number, line), answer.amounts[0]
        times = number.amount / right if number and number.amount and right else None
        judged.append(JudgedNumber(line, given, right, kind, words, times))
    return Judgement(judged, list_causes(pairs), submission.notes, submission.format)


def _quote(number: Number, line: Line) -> str:
    unit = "" if number.unit == ASKED_UNIT[line.kind] else number.unit
    return shorten(f"{number.text} {unit}".strip())


# ------------------------------------------------ the key


class Key(NamedTuple):
    """What is right."""

    is_lab3: bool  # its answers
    course: Course  # how it reads the handout
    is_explained: bool  # if not, how it reads the handout is not known
    right: Numbers
    missing: list[Line]  # which it lacks


@lru_cache(maxsize=8)
def read_key(question: Question, text: str | None = None) -> Key:
    """Read what is right from what the course's own program printed, by default from lab3.py's
    answers. If changes of the model make all of it, its numbers are exact, and those that it lacks
    follow; if not, its numbers are right as they are printed.

    Raises ValueError if no strategy is possible, NoSubmissionError for a text without results.
    """
    impossible = find_impossible(question)
    lines = list_lines(question, impossible)
    text_of_key = lab3.answers(*question) if text is None else text
    read = read_submission(text_of_key, question, impossible)
    numbers = {line: number for line, number in read.numbers.items() if not number.fault}
    missing = [line for line in lines if line not in numbers]
    course = Course(question)
    evidence = Evidence(course, _predict_numbers(course, lines), numbers, {}, is_key=True)
    pair = diagnose(evidence)[0]
    has_faults = any(number.fault for number in read.numbers.values())
    if has_faults or any({*evidence.list_wrong(it.strategy)} - {*it.lines} for it in pair):
        return Key(text is None, course, False, numbers, missing)
    given = {line.strategy for line in numbers}
    tensor, pipeline = (
        one._replace(lines=(), misses=0) if one.strategy in given else _adopt(other, one.strategy)
        for one, other in (pair, pair[::-1])
    )
    course = Course(question, (tensor, pipeline))
    return Key(text is None, course, True, _predict_numbers(course, lines), missing)


def _predict_numbers(course: Course, lines: Sequence[Line]) -> Numbers:
    return {line: Number(amounts=(predict(course, line.strategy)[line],)) for line in lines}


def _adopt(other: Explanation, strategy: str) -> Explanation:
    """Take over the changes of the other strategy that are of both."""
    changes = tuple(change for change in other.changes if change.strategies == BOTH)
    return Explanation(strategy, changes, other.only)


def collect_evidence(key: Key, numbers: Numbers) -> Evidence:
    """Collect the numbers that are given, and find which of them are other lines' right ones. A
    number that is 0 is none, unless that is right."""
    given = {
        line: number
        for line, number in numbers.items()
        if line in key.right
        and not number.fault
        and (number.amount or number.equals(key.right[line]))
    }
    others = {line: _find_other_line(line, given, key.right) for line in given}
    aside = {line: other for line, other in others.items() if other}
    return Evidence(key.course, key.right, given, aside)


def _find_other_line(line: Line, given: Numbers, right: Numbers) -> Line | None:
    """Find the line whose right number a wrong one is. Q1's in Q2 may follow from a change, unless
    Q1 has Q2's."""
    number = given[line]
    if number.equals(right[line]):
        return None
    for other, answer in right.items():
        if number.equals(answer) and number.has_digits(answer.amount):
            is_own_q1 = other == line._replace(question="Q1")
            if not is_own_q1 or (other in given and given[other].equals(right[line])):
                return other
    return None


# ------------------------------------------------ numbers


def _judge_number(
    evidence: Evidence, pair: Pair, line: Line, number: Number | None
) -> tuple[str, str]:
    """Say what a number is as that of a line: its kind, and the same in words."""
    if number is None:
        is_as_in_the_sample = [it for it in evidence.right if it not in evidence.given] == [LACKED]
        return "missing", LACKS if is_as_in_the_sample else "missing"
    if line not in evidence.given:
        return ("no number", number.fault) if number.fault else ("zero", ZERO[line.kind])
    answer = evidence.right[line]
    if number.equals(answer):
        if number.has_digits(answer.amount):
            return "right", "right"
        digits = count(number.digits, "digit")
        words = f"{number.text} agrees, but has {digits}; {LEAST_DIGITS} are needed"
        return "too few digits", words
    if line in evidence.aside:
        return "another line's number", f"this is {evidence.aside[line]}'s right number"
    if any(line in explanation.lines for explanation in pair):
        return "explained", "explained"
    if multiple := _find_multiple(evidence.course.question, number, answer.amount):
        return multiple, multiple
    if times := _find_origin(evidence, line):
        if times == evidence.course.question.inputs:
            return FOLLOWS, f"{times:,} times your wrong Q1, no further mistake"
        origin = "the same as" if times == 1 else f"{times:,} times"
        return f"{origin} your wrong Q1", f"{origin} your wrong Q1"
    has_few = line.kind == "latency" and number.digits < ENOUGH_DIGITS
    far = _describe_distance(number, answer.amount, line.kind)
    return "unexplained", f"unexplained, {far}{MORE_DIGITS if has_few else ''}"


def _find_multiple(question: Question, number: Number, right: Rate) -> str:
    """Find which multiple or part of the right number it is, if any."""
    nodes, links = question.system.nodes, count_links(question.system)
    for times in (2, 3, 4, 8, 10, nodes, links, question.inputs, 1000, 1024, 10**6):
        for value, words in (
            (times * right, "twice" if times == 2 else f"{times:,} times"),
            (Fraction(right) / times, "half" if times == 2 else f"1/{times:,} of"),
        ):
            if number.agrees(value) and number.has_digits(value):
                return f"{words} the right number"
    return ""


def _find_origin(evidence: Evidence, line: Line) -> int:
    """Find how many times the submission's own wrong number of Q1 one of Q2 is; 0 if none. For the
    pipeline's latency this would be a mistake of its own."""
    of_q1 = line._replace(question="Q1")
    is_wrong = of_q1 in evidence.given and not evidence.given[of_q1].equals(evidence.right[of_q1])
    if of_q1 == line or not is_wrong or line[1:] == ("pipeline", "latency"):
        return 0
    number, own = evidence.given[line], evidence.given[of_q1]
    inputs = evidence.course.question.inputs
    for times in (inputs, inputs - 1, 1):
        off = abs(number.amount - times * own.amount)
        if off <= min(number.rounding + times * own.rounding, WITHIN * number.amount):
            return times
    return 0


def _describe_distance(number: Number, right: Rate, kind: str) -> str:
    """Say how far a number is from the right one."""
    if not right:
        return "the right number is 0"
    times = number.amount / right
    if Fraction(4, 5) <= times <= Fraction(5, 4):
        many, few = ("long", "short") if kind == "latency" else ("many bytes", "few bytes")
        return f"{format_rounded(abs(times - 1) * 100, 2)} % too {many if times > 1 else few}"
    is_long = not Fraction(1, 10**4) < times < 10**6
    far = f"{round_to(times, 3):.2e}" if is_long else format_rounded(times, 3)
    return f"{far} times the right number"


# ------------------------------------------------ causes


def list_causes(pairs: Sequence[Pair]) -> list[Cause]:
    """List what both strategies share, then what each has for itself, as alternatives; whole pairs
    if not all of these go together."""
    rows = [_split(*pair) for pair in pairs]
    columns = [list(dict.fromkeys(column)) for column in zip(*rows, strict=True)]
    tensor, pipeline = ([*it.lines] for it in pairs[0])
    if len(rows) < len(columns[0]) * len(columns[1]) * len(columns[2]):
        return [Cause([[it for it in row if it.changes] for row in rows], tensor + pipeline)]
    return [
        Cause([[it] for it in column], lines)
        for column, lines in zip(columns, (tensor + pipeline, tensor, pipeline), strict=True)
        if any(it.changes for it in column)
    ]


def _split(tensor: Explanation, pipeline: Explanation) -> list[Explanation]:
    """Split a pair into what both share, and what each has for itself."""
    shared = list_shared(tensor, pipeline)
    parts = [Explanation("both", shared, tensor.only if shared else None)]
    for one in (tensor, pipeline):
        own = tuple(change for change in one.changes if change not in shared)
        parts.append(Explanation(one.strategy, own, one.only if own else None))
    return parts
