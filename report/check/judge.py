"""The judgement of a submission, or of a course's own key."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import lab3
from lab3 import Rate
from report.check import pairs, readings, verdicts
from report.check.changes import BOTH, CHANGES, NAMED
from report.check.numbers import start
from report.check.readings import Course, Names, Parts
from report.check.submission import Line, Number, Written, form_faults, numbers_of, whose, written
from report.check.verdicts import MISSING, NOT_EXPLAINED, RIGHT, Right, is_right
from report.question import LAB, Question, possible_strategies
from report.terminal import count

MOST_NAMED = 3  # sets of changes that make the same
MOST_HEADS = 4  # of which the numbers of inputs are tried
MOST_NUMBERS = 4  # of a line, that differ and are judged
THESE_ARE = "these are the right numbers "
SAMPLE_LACKS = "Q2", "pipeline", "traffic"  # where the handout's sample repeats two other lines


class Explained(NamedTuple):
    """Wrong numbers, and the sets of changes of which each makes them."""

    numbers: list[str]  # the names of their lines
    sets: list[Names]
    more: int  # further sets of as many changes
    units: list[str]  # in which they are, though they say others
    only: str  # the kind of number that the changes make, if they do not make the other


class Judged(NamedTuple):
    """A number of a submission; a line that is missing has none."""

    line: str
    given: str | None
    right: Rate
    verdict: str
    times_right: Fraction | None  # how many times the right number one is that is not explained


class Submission(NamedTuple):
    """What a submission says, and what explains it."""

    numbers: list[Judged]
    explained: list[Explained]
    notes: list[str]  # what is true of several numbers: exchanged, in ms, of a ring
    form: list[str]  # what is not as the handout asks, besides numbers

    @property
    def lines(self) -> int:
        """How many there must be."""
        return len({number.line for number in self.numbers})

    @property
    def right_lines(self) -> int:
        """Those with right numbers only."""
        wrong = {number.line for number in self.numbers if not is_right(number.verdict)}
        return self.lines - len(wrong)

    @property
    def missing(self) -> list[str]:
        """The names of missing lines."""
        return [number.line for number in self.numbers if number.given is None]


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
    numbers, explained, notes = _explained(course, found, right)
    if not any(number.given for number in numbers):
        _refuse(text, bool(found.behind))
    is_one_cut = any(", cut to" in number.verdict for number in numbers)
    if is_one_cut and any(map(verdicts.is_rounded_up, numbers)):  # by a program that rounds
        numbers, explained, notes = _explained(course, found, right, may_be_cut=False)
    questions = readings.inputs_of(question.inputs)
    form = [*form_faults(found, questions, numbers), *_unexpected(question, right, found)]
    order = [*right]
    return Submission(
        [*_told_numbers(found, numbers, right)],
        [_told(each, order, notes) for each in explained],
        notes,
        form,
    )


def _explained(
    course: Course, found: Written, right: Right, may_be_cut: bool = True
) -> tuple[list[Number], list[pairs.Found], list[str]]:
    """The numbers, what makes the wrong ones, and what is true of several."""
    numbers = _judged(found, right, may_be_cut)
    if notes := _right_elsewhere(course, found, numbers):
        for number in numbers:
            if number.given and not number.verdict.startswith(RIGHT):
                number.verdict = notes[0].removeprefix(THESE_ARE)
        return numbers, [], notes
    notes = verdicts.read_in_ms(numbers, right) + verdicts.exchanged(numbers, right)
    verdicts.read_alike(numbers)
    return numbers, pairs.explain(course, numbers, right), notes


def _right_numbers(course: Course) -> Right:
    """The lines that a submission must have, in order, and their right numbers: by lab3.py's
    formulas, or by the changes of a key."""
    network, system, inputs = course.question
    possible, _ = possible_strategies(network, system)
    by_key = {
        strategy: readings.taken_by_sets(course, strategy, 0)[()]
        for strategy in possible
        if dict(course.key).get(strategy)
    }
    right = {}
    for name, n in readings.inputs_of(inputs).items():
        for strategy in possible:
            for kind in ("latency", "traffic"):
                line = Line(name, strategy, kind)
                if strategy in by_key:
                    right[line] = by_key[strategy][name, kind]
                else:
                    formula = getattr(lab3, f"{strategy}_parallel_{kind}")
                    right[line] = formula(network, system, n)
    return right


def _judged(found: Written, right: Right, may_be_cut: bool = True) -> list[Number]:
    """The numbers of all lines that there must be, each by itself."""
    numbers = []
    for line in right:
        for number in numbers_of(line, found.behind.get(line, []), may_be_cut)[:MOST_NUMBERS]:
            verdicts.judge(number, right)
            numbers.append(number)
    return numbers


def _right_elsewhere(course: Course, found: Written, numbers: Sequence[Number]) -> list[str]:
    """What the numbers are, if some are wrong but all are the right ones of the other topology or
    of other inputs that a head names."""
    if all(is_right(number.verdict) for number in numbers):
        return []
    topologies = {lab3.RING: "of a ring", lab3.ALL_TO_ALL: "of an all-to-all network"}
    question = course.question
    named_first = [*found.inputs_named][:MOST_HEADS]
    for inputs in (question.inputs, *(n for n in named_first if n not in (1, question.inputs))):
        for topology, where in topologies.items():
            other = question.on(topology=topology)._replace(inputs=inputs)
            if other != question and (inputs > 1) == (question.inputs > 1):
                its = _judged(found, _right_numbers(course._replace(question=other)))
                if len(its) == len(numbers) and all(is_right(it.verdict) for it in its):
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
        raise NoSubmissionError("has none of the lines", like)


def _told_numbers(found: Written, numbers: Sequence[Number], right: Right) -> Iterator[Judged]:
    for line, answer in right.items():
        for number in numbers:
            if number.line == line:
                said = start(number.given.text if number.given else number.text)
                is_far = number.verdict.startswith(NOT_EXPLAINED) and answer
                times = number.value / answer if is_far else None
                yield Judged(str(line), said, answer, number.verdict, times)
        if line not in found.behind:
            verdict = f"{MISSING}, as in the handout's sample" if line == SAMPLE_LACKS else MISSING
            yield Judged(str(line), None, answer, verdict, None)


def _told(found: pairs.Found, order: Sequence[Line], notes: Sequence[str]) -> Explained:
    lines = sorted({number.line for number in found.numbers}, key=order.index)
    units = dict.fromkeys(number.unit for number in found.numbers if number.unit)
    unsaid = [unit for unit in units if not any(note.endswith(f"in {unit}") for note in notes)]
    more = len(found.sets[MOST_NAMED:])
    return Explained([*map(str, lines)], found.sets[:MOST_NAMED], more, unsaid, found.only)


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
    given = {number.line.split()[1] for number in own.numbers if number.given is not None}
    names: dict[str, set[str]] = {strategy: set() for strategy in BOTH}
    for each in own.explained:
        its_own = {line.split()[1] for line in each.numbers}
        for name in each.sets[0]:
            for strategy in NAMED[name].strategies:  # that the key lacks is read like the other
                if strategy in its_own or strategy not in given:
                    names[strategy].add(name)
    key = tuple(
        (strategy, tuple(change.name for change in CHANGES if change.name in its_own))
        for strategy, its_own in names.items()
    )
    by_key = check(text, question, key)
    wrong = [
        number.line
        for number in by_key.numbers
        if number.given is not None and not number.verdict.startswith(RIGHT)
    ]
    if wrong:
        raise ValueError(f"{'. '.join(own.notes) or f'no changes make {whose(wrong)}'}")
    return key
