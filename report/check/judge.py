"""A submission's judgement: the verdict on each number, the causes of wrong ones, the format."""

import re
from collections.abc import Collection, Sequence
from difflib import unified_diff
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import lab3
from report import InputError
from report.check import diagnosis
from report.check.diagnosis import Case, Cause, Numbers
from report.check.mistakes import Line, compute_line, list_lines
from report.check.reading import LEAST_DIGITS, WHOLE, Number, Submission, read_submission, shorten
from report.model import STRATEGIES
from report.question import LAB, Question, make_models, prefix_question
from report.text import format_rounded
from report.whatif import answer

ABOUT_EQUAL = Fraction(4, 5), Fraction(5, 4)  # times the right number: described in per cent

# Verdicts
RIGHT, EXPLAINED, UNEXPLAINED = "right", "explained", "unexplained"
FOLLOWS, OTHER_LINE = "follows from Q1", "another line's number"
MISSING, FEW_DIGITS, NO_NUMBER = "missing", "too few digits", "no number"
DOUBTFUL = {UNEXPLAINED, MISSING, FEW_DIGITS, NO_NUMBER}  # somebody should look at these


class JudgedNumber(NamedTuple):
    """A line's number, and the verdict on it."""

    line: Line
    number: Number  # with an empty text if it is missing
    right: Fraction
    verdict: str
    words: str  # that describe the verdict


class Judgement(NamedTuple):
    """Which numbers of a submission are right, and the causes of the others."""

    numbers: list[JudgedNumber]  # none if the text is refused
    causes: list[Cause]
    notes: list[str]  # doubts, how the program failed, or why the text is refused
    format: list[str]  # what to change in the printed rows: a title, then rows
    is_odd: bool  # whether a line has several numbers, or the `run` command noted something

    @property
    def right(self) -> int:
        """Count the numbers that are right."""
        return sum(number.verdict == RIGHT for number in self.numbers)

    @property
    def is_all_right(self) -> bool:
        """Return whether all numbers are right, and in the handout's format."""
        return 0 < self.right == len(self.numbers) and not self.format

    @property
    def by_hand(self) -> bool:
        """Return whether somebody should look at the submission, for example because it has
        alternatives, or a cause with more mistakes than lines."""
        verdicts = {number.verdict for number in self.numbers}
        is_open = any(
            len(cause) > 1 or len(cause[0].mistakes) > len(cause[0].lines) for cause in self.causes
        )
        return self.is_odd or bool(verdicts & DOUBTFUL) or is_open


def judge(text: str, question: Question = LAB, key: str | None = None) -> Judgement:
    """Judge a submission by lab3.py's answers, or by a key, the output of the course's own program.
    Another line's right number is no evidence of a mistake. Raises InputError if no strategy is
    possible or a key cannot be used, NoSubmissionError for a text without results."""
    reading = read_key(question, key)
    submission = read_submission(text, question)
    numbers = select_numbers(submission.numbers, reading)
    evidence = {line: numbers[line] for line in numbers if not find_other(line, numbers, reading)}
    cases = make_cases(reading, evidence)
    causes = diagnosis.list_causes(diagnosis.diagnose(cases))
    explained = {line for cause in causes for each in cause for line in each.lines}
    judged = []
    for line, right in reading.right.items():
        verdict, words = judge_number(line, submission, numbers, reading)
        if line in explained:
            verdict = words = EXPLAINED
        number = submission.numbers.get(line, Number())
        judged.append(JudgedNumber(line, number, right.amount, verdict, words))
    layout = compare_rows(submission, question)
    return Judgement(judged, causes, submission.notes, layout, submission.is_odd)


# ------------------------------------------------ what is right
class Reading(NamedTuple):
    """The right numbers: lab3.py's, or those that a key has."""

    question: Question
    right: Numbers
    sought: Collection[str] = STRATEGIES  # whose causes are sought: a key agrees with lab3.py
    other: Sequence[Line] = ()  # lines whose numbers in a key are not lab3.py's
    missing: Sequence[Line] = ()  # lines that a key lacks
    notes: Sequence[str] = ()  # on a key
    is_key: bool = False


@lru_cache(maxsize=8)
def read_key(question: Question, text: str | None = None) -> Reading:
    """Read the right numbers from a key, or else from lab3.py. A line that a key lacks is judged by
    lab3.py, unless the key differs from it in the same strategy. Raises judge's InputErrors."""
    make_models(question)  # refuses a lab3.py that disagrees with the formulas
    lines = list_lines(question)
    exact = {line: Number(amounts=(compute_line(question, line),)) for line in lines}
    if text is None:
        return Reading(question, exact)
    submission = read_submission(text, question)
    key = select_numbers(submission.numbers, Reading(question, exact))
    if not key:
        raise InputError("none of its numbers is positive")
    for line, number in key.items():
        if not number.suffices_for(exact[line].amount):
            few = f"{shorten(number.text)}, has fewer than {LEAST_DIGITS} digits"
            raise InputError(f"{line}, {few}")
    other = [line for line in key if not key[line].equals(exact[line])]
    sought = {*STRATEGIES} - {line.strategy for line in other}
    known = {**exact, **{line: key[line] for line in key if line.strategy not in sought}}
    right = {line: known[line] for line in lines if line.strategy in sought or line in key}
    missing = [line for line in lines if line not in key]
    return Reading(question, right, sought, other, missing, submission.notes, is_key=True)


# ------------------------------------------------ what is to be explained
def select_numbers(numbers: Numbers, reading: Reading) -> Numbers:
    """Select the positive numbers, and zeros that are right."""
    right = reading.right
    known = {line: numbers[line] for line in numbers if line in right and numbers[line].amounts}
    return {line: n for line, n in known.items() if n.amount or n.equals(right[line])}


def make_cases(reading: Reading, numbers: Numbers) -> list[Case]:
    """Make the cases of both strategies."""
    cases = []
    for strategy in STRATEGIES:
        asked = {strategy} & {*reading.sought}
        known = {line: numbers[line] for line in numbers if line.strategy in asked}
        right = {line: n for line, n in known.items() if n.equals(reading.right[line])}
        wrong = {line: n for line, n in known.items() if line not in right}
        cases.append(Case(reading.question, strategy, right, wrong))
    return cases


# ------------------------------------------------ numbers
def judge_number(
    line: Line, submission: Submission, numbers: Numbers, reading: Reading
) -> tuple[str, str]:
    """Return the verdict on a line's number, if no mistake explains it, and its words."""
    right = reading.right[line]
    if line not in submission.numbers:
        return MISSING, "missing"
    number = submission.numbers[line]
    if line not in numbers and number.amounts and "." in number.text and number.unit not in WHOLE:
        return FEW_DIGITS, f"{shorten(number.text)} has too few digits"  # 0.00
    if line not in numbers:
        return NO_NUMBER, f"'{shorten(number.text)}' is not a positive number"
    if number.equals(right):
        if number.suffices_for(right.amount):
            return RIGHT, "right"
        return FEW_DIGITS, f"{shorten(number.text)} may be right; print more digits"
    if other := find_other(line, numbers, reading):
        words = sorted({*line} ^ {*other})
        if len(words) == 2 and other in numbers and numbers[other].equals(right):
            return OTHER_LINE, f"{' and '.join(words)} are swapped"
        return OTHER_LINE, f"equals {other}'s right number"
    wrong = {line: n for line, n in numbers.items() if not n.equals(reading.right[line])}
    if times := diagnosis.find_times(reading.question, wrong, line):
        return FOLLOWS, f"{f'{times:,} times' if times > 1 else 'the same as'} Q1's wrong number"
    hint = "; print more digits" * (line.kind == "latency" and number.digits <= LEAST_DIGITS)
    return UNEXPLAINED, f"unexplained, {describe_distance(number, right.amount, line.kind)}{hint}"


def find_other(line: Line, numbers: Numbers, reading: Reading) -> Line | None:
    """Find another line whose right number is this line's wrong number. A number of Q1 in Q2 is a
    mistake, not a swap, unless Q1 has Q2's number, too."""
    number, right, in_q1 = numbers[line], reading.right, line._replace(question="Q1")
    if number.equals(right[line]):
        return None
    for other, expected in right.items():
        is_swap = other != in_q1 or (other in numbers and numbers[other].equals(right[line]))
        if is_swap and number.equals(expected) and number.suffices_for(expected.amount):
            return other
    return None


def describe_distance(number: Number, right: Fraction, kind: str) -> str:
    """Describe how far a number is from the right number."""
    if not right:
        return "the right number is 0"
    times = min((Fraction(amount) / right for amount in number.amounts), key=lambda it: abs(it - 1))
    if not ABOUT_EQUAL[0] <= times <= ABOUT_EQUAL[1]:
        return f"{shorten(format_rounded(times, 3))} times the right number"
    few, many = ("short", "long") if kind == "latency" else ("few bytes", "many bytes")
    return f"{format_rounded(abs(times - 1) * 100, 2)} % too {many if times > 1 else few}"


# ------------------------------------------------ the format
def compare_rows(submission: Submission, question: Question) -> list[str]:
    """List, below a title, what to change in the printed rows to make them the handout's."""
    lines, rows = list_lines(question), lab3.answers(*question)
    left = (submission.numbers.get(line, Number()) for line in lines)
    asked = [row for row in rows.splitlines() if row.startswith(("-", "Total "))]
    wanted = [row if row[0] == "-" else fill_in(row, next(left)) for row in asked]
    whatif = prefix_question(question, answer(question), "\n").splitlines()
    added = {row.strip() for row in whatif} - {*asked}  # by `whatif`, which is no fault
    printed = [row for row in submission.rows if row not in added]
    changes = [row for row in unified_diff(printed, wanted, n=0, lineterm="") if row[0] in "-+"]
    diff = [f"{row[0]} {shorten(row[1:], 78)}" for row in changes[2:]]
    if len(diff) > len(wanted):
        title = "Format: print the handout's rows, with your numbers:"
        return [title, *(f"+ {row}" for row in wanted)]
    return ["Format: remove rows with -, print rows with +:", *diff] * bool(diff)


def fill_in(row: str, number: Number) -> str:
    """Write a number into a row: dots if it has several readings, or bytes that are not exact."""
    start, _, unit = row.rsplit(" ", 2)
    if len(number.amounts) != 1 or (unit in WHOLE and (number.amount % 1 or number.places[0] > 1)):
        return f"{start} ... {unit}"
    is_plain = number.unit == unit and re.fullmatch(r"\d*\.?\d+", number.text)
    return f"{start} {number.text if is_plain else lab3.format_decimal(number.amount)} {unit}"
