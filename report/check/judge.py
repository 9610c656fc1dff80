"""The judgement of a submission, or of a course's own key."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import lab3
from report.check import readings, verdicts
from report.check.changes import BOTH, CHANGES, NAMED
from report.check.pairs import Found, explain
from report.check.readings import Course, Parts
from report.check.submission import (
    Kind,
    Line,
    Number,
    Verdict,
    Written,
    form_faults,
    numbers_of,
    whose,
    written,
)
from report.check.verdicts import Right
from report.question import LAB, Question, possible_strategies
from report.terminal import count

MOST_HEADS = 4  # of which the numbers of inputs are tried
THESE_ARE = "these are the right numbers "


class Submission(NamedTuple):
    """What a submission says, and what explains it."""

    numbers: list[Number]
    explained: list[Found]
    notes: list[str]  # what is true of several numbers: exchanged, in ms, of a ring
    form: list[str]  # what is not as the handout asks, besides numbers

    @property
    def lines(self) -> int:
        """How many lines there must be."""
        return len({number.line for number in self.numbers})

    @property
    def right_lines(self) -> int:
        """How many lines have right numbers only."""
        return self.lines - len({number.line for number in self.numbers if not _is_right(number)})

    @property
    def missing(self) -> int:
        return sum(number.kind is Kind.MISSING for number in self.numbers)


class NoSubmissionError(ValueError):
    """A text that cannot be judged: what it is, and what is wanted."""

    def __init__(self, what: str, wanted: str):
        super().__init__(f"text {what}; {wanted}")
        self.what, self.wanted = what, wanted


HOW = "prints: python3 lab3.py | python3 report check"
PIPE_IN = f"pipe in what lab3.py {HOW}"
PROGRAM = re.compile(r"^[ \t]*(?:import \w|from [\w.]+ import|def \w|print ?\()", re.M | re.ASCII)


def check(text: str, question: Question = LAB, key: Parts = ()) -> Submission:
    """Judges what somebody's lab3.py printed; with a key (key_of) by its readings.

    Raises ValueError if no strategy is possible, and for a text that cannot be judged.
    """
    course = Course(readings.checked(question), key)
    right = _right_numbers(course)
    found = written(text, question.inputs)
    submission = _explained(course, found, right)
    if not any(number.given for number in submission.numbers):
        _refuse(text, bool(found.behind))
    if any(map(verdicts.is_rounded_up, submission.numbers)):  # by a program that cuts none
        submission = _explained(course, found, right, may_be_cut=False)
    questions = readings.inputs_of(question.inputs)
    form = form_faults(found, questions, submission.numbers)
    return submission._replace(form=[*form, *_unexpected(question, right, found)])


def _explained(course: Course, found: Written, right: Right, may_be_cut: bool = True) -> Submission:
    """The numbers, what makes the wrong ones, and what is true of several."""
    numbers = _judged(found, right, may_be_cut)
    if notes := _right_elsewhere(course, found, numbers):
        for number in numbers:
            if number.given and not number.has_right_value:
                number.verdict = Verdict(Kind.ELSEWHERE, notes[0].removeprefix(THESE_ARE))
        return Submission(numbers, [], notes, [])
    notes = verdicts.read_in_ms(numbers, right) + verdicts.exchanged(numbers, right)
    verdicts.read_alike(numbers)
    return Submission(numbers, explain(course, numbers), notes, [])


def _is_right(number: Number) -> bool:
    return number.kind is Kind.RIGHT


def _right_numbers(course: Course) -> Right:
    """The lines that a submission must have, in order, and their right numbers: as read here, which
    is what lab3.py gives, or by the changes of a key."""
    network, system, inputs = course.question
    possible, _ = possible_strategies(network, system)
    taken = {strategy: readings.taken_by_sets(course, strategy, 0)[()] for strategy in possible}
    return {
        Line(asked, strategy, kind): taken[strategy][asked, kind]
        for asked in readings.inputs_of(inputs)
        for strategy in possible
        for kind in ("latency", "traffic")
    }


def _judged(found: Written, right: Right, may_be_cut: bool = True) -> list[Number]:
    """The numbers of all lines that there must be, each by itself."""
    numbers = [
        number
        for line, answer in right.items()
        for number in numbers_of(line, answer, found.behind.get(line, []))
    ]
    for number in numbers:
        number.may_be_cut = may_be_cut or number.line.kind == "traffic"
        verdicts.judge(number, right)
    return numbers


def _right_elsewhere(course: Course, found: Written, numbers: Sequence[Number]) -> list[str]:
    """What the numbers are, if some are wrong but all are the right ones of the other topology or
    of other inputs that a head names."""
    given = [number.line for number in numbers if number.kind is not Kind.MISSING]
    if all(_is_right(number) for number in numbers if number.line in given):
        return []
    topologies = {lab3.RING: "of a ring", lab3.ALL_TO_ALL: "of an all-to-all network"}
    question = course.question
    named_first = [*found.inputs_named][:MOST_HEADS]
    for inputs in (question.inputs, *(n for n in named_first if n not in (1, question.inputs))):
        for topology, where in topologies.items():
            other = question.on(topology=topology)._replace(inputs=inputs)
            if other != question and (inputs > 1) == (question.inputs > 1):
                its = _judged(found, _right_numbers(course._replace(question=other)))
                right = [number.line for number in its if _is_right(number)]
                if right == given:
                    named = [where] * (topology != question.system.topology)
                    named += [f"for {count(inputs, 'input')}"] * (inputs != question.inputs)
                    return [f"{THESE_ARE}{' '.join(named)}"]
    return []


def _refuse(text: str, has_lines: bool) -> None:
    """What a text without any number is, if it cannot be judged."""
    if not text.strip():
        raise NoSubmissionError("is empty", PIPE_IN)
    if text.startswith("%PDF"):
        raise NoSubmissionError("is a PDF", PIPE_IN)
    if PROGRAM.search(text):
        raise NoSubmissionError("is a program", f"pipe in what it {HOW}")
    if not has_lines:
        like = "lines like 'Total latency of tensor parallelism is 0.1 seconds' are read"
        raise NoSubmissionError("has no result lines", like)


def _unexpected(question: Question, right: Right, found: Written) -> list[str]:
    _, impossible = possible_strategies(question.network, question.system)
    why = {strategy: reason.reason for strategy, reason in impossible.items()}
    reasons: Counter[str] = Counter()
    for line, behind in found.behind.items():
        if line not in right:
            reasons[why.get(line.strategy, "With 1 input there is no Q2")] += len(behind)
    return [
        f"{count(lines, 'line')} {'is' if lines == 1 else 'are'} not expected. {reason}"
        for reason, lines in reasons.items()
    ]


# ------------------------------------------------ a course's own key


def key_of(text: str, question: Question = LAB) -> Parts:
    """The changes that make all numbers of a course's own key, by strategy.

    Raises ValueError with the lines that no changes make, and as check does.
    """
    own = check(text, question)
    given = {number.line.strategy for number in own.numbers if number.kind is not Kind.MISSING}
    names: dict[str, set[str]] = {strategy: set() for strategy in BOTH}
    for each in own.explained:
        made = {line.strategy for line in each.lines}
        for name in each.sets[0]:
            for strategy in NAMED[name].strategies:  # that the key lacks is read like the other
                if strategy in made or strategy not in given:
                    names[strategy].add(name)
    key = tuple(
        (strategy, tuple(change.name for change in CHANGES if change.name in its_own))
        for strategy, its_own in names.items()
    )
    by_key = [
        number for number in check(text, question, key).numbers if number.kind is not Kind.MISSING
    ]
    wrong = [number.line for number in by_key if not number.has_right_value]
    if wrong:
        elsewhere = [f"{note}; add the options that ask for them" for note in own.notes]
        why = f"no known reading or mistake makes its {whose(wrong)}"
        raise ValueError(". ".join(elsewhere) or why)
    return key
