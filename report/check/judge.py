"""The judgement of a submission: what each number is, and which mistakes make the wrong ones."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import NamedTuple

from report.check.diagnosis import (
    MOST_LAYERS,
    Case,
    Explanation,
    Mistakes,
    Numbers,
    Pair,
    diagnose,
    find_source,
)
from report.check.mistakes import MISTAKES, Mistake
from report.check.number import Number
from report.check.submission import Line, Submission, list_lines, read_submission, shorten
from report.model import STRATEGIES
from report.question import LAB, Question, find_impossible, make_models
from report.text import format_rounded

KEY_DIGITS = 4  # of each number of a key that tells a reading
FOLLOW_TOLERANCE = Fraction(1, 500)  # of a number that follows from Q1's
ABOUT_EQUAL = Fraction(4, 5), Fraction(5, 4)  # how many times the right number
TOO_LARGE = f"two mistakes are tried together for up to {MOST_LAYERS} layers, and there are more"

# The kinds of a number; judge_number has their words
RIGHT, EXPLAINED = "right", "explained"
FOLLOWS, AS_Q1, OTHER_LINE = "follows from Q1", "Q1's number", "another line's number"
UNEXPLAINED, MISSING = "unexplained", "missing"
FEW_DIGITS, NO_NUMBER = "too few digits", "no number"
DOUBTFUL = UNEXPLAINED, MISSING, FEW_DIGITS, NO_NUMBER  # somebody should look at these


class JudgedNumber(NamedTuple):
    """What a line's number is."""

    line: Line
    number: Number  # without a text if it is missing
    right: Fraction
    kind: str
    words: str  # that tell it


Alternative = tuple[Explanation, ...]  # what both strategies share, and each one's own


class Judgement(NamedTuple):
    """What is right in a submission, and what makes the rest."""

    numbers: list[JudgedNumber]
    causes: list[list[Alternative]]  # one or the other of alternatives makes numbers
    notes: list[str]  # what is doubtful, and how the program failed
    repeated: list[Line]  # that have different numbers
    format: list[str]  # rows of a diff: what is printed, and what the handout asks for

    @property
    def right(self) -> int:
        """Count the numbers that are right."""
        return sum(number.kind == RIGHT for number in self.numbers)

    @property
    def is_all_right(self) -> bool:
        """Tell whether all numbers are right, and in the handout's format."""
        return self.right == len(self.numbers) and not self.format

    @property
    def is_doubtful(self) -> bool:
        """Tell whether somebody should look at it: also if there are several causes of the same
        numbers, or more causes than numbers."""
        return (
            bool(self.repeated)
            or any(number.kind in DOUBTFUL for number in self.numbers)
            or any(len(alternatives) > 1 for alternatives in self.causes)
            or any(len(it.mistakes) > len(it.lines) for cause in self.causes for it in cause[0])
        )


def judge(text: str, question: Question = LAB, key: str | None = None) -> Judgement:
    """Judge what somebody's lab3.py printed, by what the course's own program printed, by default
    by lab3.py's answers. Raises ValueError if no strategy is possible, NoSubmissionError for a text
    without results."""
    reading = read_key(question, key)
    submission = read_submission(text, question, find_impossible(question))
    numbers = select_numbers(submission.numbers, reading)
    own = {it: numbers[it] for it in numbers if not find_other_line(it, numbers, reading)}
    pairs = diagnose(make_cases(reading, own, submission.other_inputs.get("Q2")))
    explained = {line for pair in pairs for explanation in pair for line in explanation.lines}
    judged = []
    for line, right in reading.right.items():
        kind, words = judge_number(line, submission, numbers, reading)
        if line in explained:
            kind = words = EXPLAINED
        number = submission.numbers.get(line, Number())
        judged.append(JudgedNumber(line, number, right.amount, kind, words))
    is_open = any(it.kind == UNEXPLAINED for it in judged) and len(question.network) > MOST_LAYERS
    notes = [*submission.notes, *[TOO_LARGE] * is_open]
    return Judgement(judged, list_causes(pairs), notes, submission.repeated, submission.format)


# ------------------------------------------------ how the course reads the handout
class Reading(NamedTuple):
    """How the course reads the handout, and what is right by that."""

    question: Question
    mistakes: Mapping[str, Mistakes]  # what it computes otherwise than lab3.py, where that is known
    right: Numbers
    missing: Sequence[Line] = ()  # what a key lacks
    notes: Sequence[str] = ()  # of a key
    is_key: bool = False


@lru_cache(maxsize=8)
def read_key(question: Question, text: str | None = None) -> Reading:
    """Read what is right from what the course's own program printed, by default from lab3.py's
    answers. If at most two mistakes make all of a strategy's numbers, each exact or of four digits,
    so the course reads the handout: its numbers are exact, and those that it lacks follow. If not,
    the strategy's numbers are right as they are printed. Raises the ValueErrors of judge."""
    make_models(question)  # refuses a lab3.py that computes anything else
    readings: dict[str, Mistakes] = dict.fromkeys(STRATEGIES, ())
    own = Reading(question, readings, find_right(question, readings, {}))
    if text is None:
        return own
    submission = read_submission(text, question, find_impossible(question))
    numbers = select_numbers(submission.numbers, own)
    if not numbers:
        raise ValueError("none of its numbers is positive")
    cases = make_cases(own, numbers)
    best = zip(cases, diagnose(cases)[0], strict=True)
    readings = {case.strategy: it.mistakes for case, it in best if tells_reading(case, it)}
    for strategy in STRATEGIES:
        lines = [line for line in numbers if line.strategy == strategy]
        if all(numbers[line].equals(own.right[line]) for line in lines):
            readings[strategy] = ()
    right = find_right(question, readings, numbers)
    missing = [line for line in own.right if line not in numbers]
    return Reading(question, readings, right, missing, submission.notes, is_key=True)


def find_right(question: Question, readings: Mapping[str, Mistakes], key: Numbers) -> Numbers:
    """Find the right numbers: those of readings that are known, else a key's."""
    right = {}
    for line in list_lines(question, find_impossible(question)):
        if line.strategy in readings:
            case = Case(question, line.strategy, readings[line.strategy], (), {}, {})
            right[line] = Number(amounts=(case.predict(line),))
        elif line in key:
            right[line] = key[line]
    return right


def tells_reading(case: Case, explanation: Explanation) -> bool:
    """Tell whether mistakes make all of a key's numbers that are not lab3.py's, and each number is
    exact or has four digits."""
    numbers = {**case.right, **case.wrong}
    answers = {line: case.predict(line, explanation.mistakes) for line in numbers}
    exact = [line for line, number in numbers.items() if answers[line] in number.amounts]
    are_long = all(it.digits >= KEY_DIGITS for line, it in numbers.items() if line not in exact)
    are_readings = all(it in MISTAKES for it in explanation.mistakes)  # no wrong constant is one
    return 0 < len(case.wrong) == len(explanation.lines) and are_long and are_readings


# ------------------------------------------------ what is to be explained
def select_numbers(numbers: Numbers, reading: Reading) -> Numbers:
    """Select those that are numbers. Zero is none, unless it is right."""
    right = reading.right
    known = {line: it for line, it in numbers.items() if line in right and it.amounts}
    return {line: it for line, it in known.items() if it.amount or it.equals(right[line])}


def make_cases(reading: Reading, numbers: Numbers, inputs: int | None = None) -> list[Case]:
    """Make the cases of both strategies. Before the table's mistakes stand that the course's
    readings are not followed, and that Q2 is of as many inputs as it says."""
    readings = {it for own in reading.mistakes.values() for it in own}
    more = [ignore(it) for it in MISTAKES if it in readings]
    in_table = {1, reading.question.inputs - 1, reading.question.inputs + 1}
    if inputs is not None and inputs not in in_table:
        more.append(Mistake(f"Q2 is of {inputs:,} inputs", f"N = {inputs} if Q2 else 1"))
    cases = []
    for strategy in STRATEGIES:
        is_known = strategy in reading.mistakes
        lines = [it for it in numbers if it.strategy == strategy and is_known]
        right = {it: numbers[it] for it in lines if numbers[it].equals(reading.right[it])}
        wrong = {it: numbers[it] for it in lines if it not in right}
        own = reading.mistakes.get(strategy, ())
        cases.append(Case(reading.question, strategy, own, tuple(more), right, wrong))
    return cases


def ignore(reading: Mistake) -> Mistake:
    """Make the mistake that takes the place of a reading and changes nothing."""
    edit = "; ".join(f"{name} = {name}" for name in sorted(reading.names))
    clause = f"your course computes as if {reading.clause}; you do not"
    return Mistake(clause, edit, reading.strategies)


# ------------------------------------------------ numbers
def judge_number(
    line: Line, submission: Submission, numbers: Numbers, reading: Reading
) -> tuple[str, str]:
    """Tell what kind of number a line has, if no mistake explains it, and in words."""
    right = reading.right[line]
    if line not in submission.numbers:
        unread = submission.unread.get(line)
        return MISSING, f"missing; {unread}" if unread else "missing"
    number = submission.numbers[line]
    if line not in numbers:
        return NO_NUMBER, f"'{shorten(number.text)}' is not a positive number"
    if number.equals(right):
        if number.suffices_for(right.amount):
            return RIGHT, "right"
        return FEW_DIGITS, f"{shorten(number.text)} agrees, but has too few digits"
    if other := find_other_line(line, numbers, reading):
        words = sorted({*line} ^ {*other})
        if len(words) == 2 and other in numbers and numbers[other].equals(right):
            return OTHER_LINE, f"{' and '.join(words)} are swapped"
        return OTHER_LINE, f"this is {other}'s right number"
    times = find_times(line, numbers, reading)
    if times > 1:
        return FOLLOWS, f"{times:,} times your wrong Q1"
    if times:
        return AS_Q1, f"the same as your Q1's, not {reading.question.inputs:,} times that"
    return UNEXPLAINED, f"unexplained, {describe_distance(number, right.amount, line.kind)}"


def find_other_line(line: Line, numbers: Numbers, reading: Reading) -> Line | None:
    """Find the line whose right number a wrong one is. Q2 repeating Q1 is a mistake, not a swap,
    unless Q1 has Q2's number, too."""
    number, right, own_q1 = numbers[line], reading.right, line._replace(question="Q1")
    if number.equals(right[line]):
        return None
    for other, answer in right.items():
        is_swap = other != own_q1 or (other in numbers and numbers[other].equals(right[line]))
        if is_swap and number.equals(answer) and number.suffices_for(answer.amount):
            return other
    return None


def find_times(line: Line, numbers: Numbers, reading: Reading) -> int:
    """Find how many times the submission's own wrong number of Q1 one of Q2 is; 0 if none."""
    source = find_source(line)
    if source is None or source not in numbers or numbers[source].equals(reading.right[source]):
        return 0
    number, own = numbers[line], numbers[source]
    for times in (reading.question.inputs, 1):
        rounding = number.rounding + times * own.rounding
        off = abs(number.amount - times * own.amount)
        if off <= min(rounding, FOLLOW_TOLERANCE * number.amount):
            return times
    return 0


def describe_distance(number: Number, right: Fraction, kind: str) -> str:
    """Describe how far a number is from the right one."""
    if not right:
        return "the right number is 0"
    times = number.amount / right
    if ABOUT_EQUAL[0] <= times <= ABOUT_EQUAL[1]:
        many, few = ("long", "short") if kind == "latency" else ("many bytes", "few bytes")
        return f"{format_rounded(abs(times - 1) * 100, 2)} % too {many if times > 1 else few}"
    return f"{shorten(format_rounded(times, 3))} times the right number"


# ------------------------------------------------ causes
def list_causes(pairs: Sequence[Pair]) -> list[list[Alternative]]:
    """List what both strategies share, then what each has for itself: what makes the same numbers
    as alternatives, what makes others as another cause. Whole pairs if not all go together."""
    lines = tuple(dict.fromkeys(line for pair in pairs for it in pair for line in it.lines))
    rows = []
    for tensor, pipeline in pairs:
        shared = tuple(it for it in tensor.mistakes if it in pipeline.mistakes)
        row = [Explanation(STRATEGIES, shared, lines)]
        for explanation in (tensor, pipeline):
            own = tuple(it for it in explanation.mistakes if it not in shared)
            row.append(explanation._replace(mistakes=own))
        rows.append(row)
    columns = [list(dict.fromkeys(column)) for column in zip(*rows, strict=True)]
    if len(rows) < prod(map(len, columns)):
        return [[tuple(part for part in row if part.mistakes) for row in rows]]
    causes: list[list[Alternative]] = []
    for column in columns:
        for own_lines in dict.fromkeys(part.lines for part in column if part.mistakes):
            causes.append([(part,) for part in column if part.lines == own_lines])
    return causes
