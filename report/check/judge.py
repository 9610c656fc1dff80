"""The judgement of a submission: what each number is, and what makes the wrong ones."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import lab3
from lab3 import Rate
from report.check.diagnosis import (
    Course,
    Explanation,
    Mistakes,
    Numbers,
    Pair,
    diagnose,
    find_explanations,
    find_wrong,
    is_followed,
    predict,
)
from report.check.mistakes import BOTH
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
FEW_DIGITS = 4  # with more, a number might be explained
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


class Evidence(NamedTuple):
    """The numbers of a submission that are numbers."""

    key: "Key"
    given: Numbers
    aside: Mapping[Line, Line]  # wrong ones, and the lines whose right numbers they are

    def list_explained(self) -> dict[str, Numbers]:
        """List the numbers that are to be explained, by strategy."""
        return {
            of: {
                line: number
                for line, number in self.given.items()
                if line.strategy == of and of in self.key.explained and line not in self.aside
            }
            for of in BOTH
        }


def judge(text: str, question: Question = LAB, key: str | None = None) -> Judgement:
    """Judge what somebody's lab3.py printed, by what the course's own program printed, by default
    by lab3.py's answers.

    Raises ValueError if no strategy is possible, NoSubmissionError for a text without results.
    """
    known = read_key(question, key)
    submission = read_submission(text, question, find_impossible(question))
    evidence = collect_evidence(known, submission.numbers)
    pairs = diagnose(known.course, evidence.list_explained())
    judged = []
    for line, answer in known.right.items():
        number = submission.numbers.get(line)
        kind, words = judge_number(evidence, pairs, line, number)
        if kind == "missing" and line in submission.unread:
            words = f"missing; not read: '{shorten(submission.unread[line], 90)}'"
        given, right = number and quote_number(number, line), answer.amounts[0]
        times = number.amount / right if number and number.amount and right else None
        judged.append(JudgedNumber(line, given, right, kind, words, times))
    return Judgement(judged, list_causes(pairs), submission.notes, submission.format)


def quote_number(number: Number, line: Line) -> str:
    """Quote a number as it is written, without the unit that is asked for."""
    unit = "" if number.unit == ASKED_UNIT[line.kind] else number.unit
    return shorten(f"{number.text} {unit}".strip())


# ------------------------------------------------ the key


class Key(NamedTuple):
    """What is right."""

    is_lab3: bool  # its answers
    course: Course  # how it reads the handout
    explained: list[str]  # strategies of which it is known how they are read
    right: Numbers
    missing: list[Line]  # which it lacks


@lru_cache(maxsize=8)
def read_key(question: Question, text: str | None = None) -> Key:
    """Read what is right from what the course's own program printed, by default from lab3.py's
    answers. If at most two mistakes make all of a strategy's numbers, so the course reads the
    handout: its numbers are exact, and those that it lacks follow. If not, the strategy's numbers
    are right as they are printed.

    Raises ValueError if no strategy is possible, NoSubmissionError for a text without results.
    """
    impossible = find_impossible(question)
    lines = list_lines(question, impossible)
    text_of_key = lab3.answers(*question) if text is None else text
    numbers = read_submission(text_of_key, question, impossible).numbers
    given = {line: number for line, number in numbers.items() if number.amounts}
    found = {of: explain_key(question, of, given) for of in BOTH}
    course = Course(question, (found["tensor"] or (), found["pipeline"] or ()))
    explained = [of for of in BOTH if found[of] is not None]
    right = {}
    for line in lines:
        if line.strategy in explained:
            answer = predict(course, line.strategy)[line]
            whole = int(answer) if answer.denominator == 1 else answer
            right[line] = Number(amounts=(whole,))
        elif line in given:
            right[line] = given[line]
    missing = [line for line in lines if line not in given]
    return Key(text is None, course, explained, right, missing)


def explain_key(question: Question, strategy: str, given: Numbers) -> Mistakes | None:
    """Find the mistakes, at most two, that make all of a key's numbers of a strategy; none known is
    None. A key without numbers of a strategy reads it as this project does."""
    course = Course(question)
    numbers = {line: number for line, number in given.items() if line.strategy == strategy}
    if not find_wrong(course, strategy, numbers):
        return ()
    if all(number.digits >= LEAST_DIGITS for number in numbers.values()):
        for amount in 1, 2:
            for found in find_explanations(course, strategy, numbers, amount):
                if not found.left:
                    return found.mistakes
    return None


def collect_evidence(key: Key, numbers: Numbers) -> Evidence:
    """Collect the numbers that are given, and find which of them are other lines' right ones. A
    number that is 0 is none, unless that is right."""
    given = {
        line: number
        for line, number in numbers.items()
        if line in key.right and (number.amount or number.equals(key.right[line]))
    }
    others = {line: find_other_line(line, given, key.right) for line in given}
    return Evidence(key, given, {line: other for line, other in others.items() if other})


def find_other_line(line: Line, given: Numbers, right: Numbers) -> Line | None:
    """Find the line whose right number a wrong one is. Q1's in Q2 may follow from a mistake, unless
    Q1 has Q2's."""
    number = given[line]
    if number.equals(right[line]):
        return None
    for other, answer in right.items():
        if number.equals(answer) and number.suffices_for(answer.amount):
            is_own_q1 = other == line._replace(question="Q1")
            if not is_own_q1 or (other in given and given[other].equals(right[line])):
                return other
    return None


# ------------------------------------------------ numbers


def judge_number(
    evidence: Evidence, pairs: Sequence[Pair], line: Line, number: Number | None
) -> tuple[str, str]:
    """Say what a number is as that of a line: its kind, and the same in words."""
    right = evidence.key.right
    if number is None:
        is_as_in_the_sample = [it for it in right if it not in evidence.given] == [LACKED]
        return "missing", LACKS if is_as_in_the_sample else "missing"
    if line not in evidence.given:
        return ("zero", ZERO[line.kind]) if number.amounts else ("no number", "no number")
    if number.equals(right[line]):
        if number.suffices_for(right[line].amount):
            return "right", "right"
        digits = count(number.digits, "digit")
        words = f"{number.text} agrees, but has {digits}; {LEAST_DIGITS} are needed"
        if Fraction(round_to(right[line].amount, LEAST_DIGITS)) == number.amount:
            words += "; did a format drop zeros?"
        return "too few digits", words
    if line in evidence.aside:
        return "another line's number", f"this is {evidence.aside[line]}'s right number"
    if any(line in explanation.made for pair in pairs for explanation in pair):
        return "explained", "explained"
    if times := find_origin(evidence, line):
        if times == evidence.key.course.question.inputs:
            return FOLLOWS, f"{times:,} times your wrong Q1, no further mistake"
        origin = "the same as" if times == 1 else f"{times:,} times"
        return f"{origin} your wrong Q1", f"{origin} your wrong Q1"
    far = describe_distance(number, right[line].amount, line.kind)
    is_explained = line.strategy in evidence.key.explained
    is_short = is_explained and line.kind == "latency" and number.digits <= FEW_DIGITS
    return "unexplained", f"unexplained, {far}{MORE_DIGITS if is_short else ''}"


def find_origin(evidence: Evidence, line: Line) -> int:
    """Find how many times the submission's own wrong number of Q1 one of Q2 is; 0 if none. For the
    pipeline's latency this would be a mistake of its own."""
    given, right = evidence.given, evidence.key.right
    of_q1 = line._replace(question="Q1")
    is_wrong = of_q1 in given and not given[of_q1].equals(right[of_q1])
    if of_q1 == line or not is_wrong or not is_followed(of_q1):
        return 0
    number, own = given[line], given[of_q1]
    inputs = evidence.key.course.question.inputs
    for times in (inputs, 1):
        off = abs(number.amount - times * own.amount)
        if off <= min(number.rounding + times * own.rounding, WITHIN * number.amount):
            return times
    return 0


def describe_distance(number: Number, right: Rate, kind: str) -> str:
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
    """List what both strategies share, then what each has for itself: what makes the same numbers
    as alternatives, what makes others as another cause. Whole pairs if not all go together."""
    rows = [split_pair(*pair) for pair in pairs]
    columns = [list(dict.fromkeys(column)) for column in zip(*rows, strict=True)]
    lines = list(dict.fromkeys(line for pair in pairs for it in pair for line in it.made))
    if len(rows) < len(columns[0]) * len(columns[1]) * len(columns[2]):
        return [Cause([[it for it in row if it.mistakes] for row in rows], lines)]
    causes = [Cause([[it] for it in columns[0]], lines)]
    for column in columns[1:]:
        for made in dict.fromkeys(it.made for it in column):
            causes.append(Cause([[it] for it in column if it.made == made], [*made]))
    return [cause for cause in causes if any(it.mistakes for [it] in cause.alternatives)]


def split_pair(tensor: Explanation, pipeline: Explanation) -> list[Explanation]:
    """Split a pair into what both share, and what each has for itself."""
    shared = tuple(it for it in tensor.mistakes if it in pipeline.mistakes)
    parts = [Explanation("both", shared)]
    for one in (tensor, pipeline):
        own = tuple(it for it in one.mistakes if it not in shared)
        parts.append(Explanation(one.strategy, own, one.made))
    return parts
