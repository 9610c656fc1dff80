"""Which numbers of a submission are right, and which mistake makes the others.

A latency and a traffic of one strategy and one question are a pair: two numbers of one model. That
is the evidence. Changes of the model (readings.py) are said to make a pair only if they make all
that is given of it, its right numbers, too.
"""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product, takewhile
from pathlib import Path
from typing import NamedTuple

import lab3
from lab3 import Rate
from report import analysis, readings
from report import question as asking
from report.given import ASKED, BINARY, FULL_DIGITS, LEAST_DIGITS, SPELLINGS, UNITS, Given, given
from report.question import LAB, Question, headed, possible_strategies, question_of
from report.readings import MOST_CHANGES, Names, Taken
from report.terminal import EXACT_DIGITS, count, filled, json_text, shown, table

MOST_NAMED = 3  # sets of changes that make the same
MOST_NUMBERS = 4  # of a line, that differ
MOST_BYTES = 10**6  # of a file
MOST_UNIT, MOST_WRITTEN, MOST_HEAD, MOST_NAME, MOST_PATH = 12, 22, 28, 32, 80  # letters repeated

# ------------------------------------------------ the lines of a submission


class Line(NamedTuple):
    """What a line of the answers is about."""

    inputs: int
    strategy: str
    kind: str  # latency or traffic

    @property
    def pair(self) -> Pair:
        return self.inputs, self.strategy

    @property
    def name(self) -> str:
        """Q1 tensor latency"""
        return f"Q{1 if self.inputs == 1 else 2} {self.strategy} {self.kind}"


Pair = tuple[int, str]  # inputs and strategy
LINE = re.compile(
    r"total\s+(latency|network\s+traffic)\s+of\s+(tensor|pipeline)\s+parallelism\s*"
    r"(?:\bis\b|(?=[:=]))\s*(.*)",
    re.ASCII | re.IGNORECASE,
)
SIGNS = ":=~ "  # that may stand before a number
QUESTION = re.compile(r"\bq(?:uestion)?\s*([12])\b", re.ASCII | re.IGNORECASE)
INPUTS = re.compile(r"\b(single|one|[0-9]{1,20})\s+inputs?\b", re.ASCII | re.IGNORECASE)
Q1_HEAD = "-----Q1 single input-----"
SAMPLE_LACKS = "pipeline", "traffic"  # in Q2, where the handout's sample repeats two other lines


def required(question: Question) -> dict[Line, Rate]:
    """The lines that a submission must have, in order, and their right numbers, in seconds and
    bytes. Raises ValueError where the question is wrong, and where no strategy is possible."""
    network, system, inputs = readings.checked(question)
    possible, _ = possible_strategies(network, system)
    return {
        Line(n, strategy, kind): getattr(lab3, f"{strategy}_parallel_{kind}")(network, system, n)
        for n in sorted({1, inputs})
        for strategy in possible
        for kind in ASKED
    }


def _lines(text: str, inputs: int) -> tuple[dict[Line, list[str]], dict[int, list[str]]]:
    """By line the different texts behind "is", and the heads by number of inputs."""
    found: list[tuple[Line, str]] = []
    heads: dict[int, list[str]] = {}
    below = 1
    for row in text.replace("\u00a0", " ").splitlines():
        if line := LINE.search(row):
            kind = "latency" if line[1].lower() == "latency" else "traffic"
            found.append((Line(below, line[2].lower(), kind), line[3].strip()))
        elif (of_head := _inputs_of(row, inputs)) is not None:
            below = of_head
            heads.setdefault(below, []).append(row.strip())
    texts: dict[Line, dict[str, None]] = {}
    for line_of, behind in found:
        is_q2 = line_of in texts and inputs not in heads  # as the second of two lines
        own = line_of._replace(inputs=inputs) if is_q2 else line_of
        texts.setdefault(own, {})[behind] = None
    return {line_of: [*behind] for line_of, behind in texts.items()}, heads


def _inputs_of(row: str, inputs: int) -> int | None:
    """How many inputs the lines below a head are of, 0 if none are asked; None if it is no head."""
    if head := QUESTION.search(row):
        return 1 if head[1] == "1" else inputs if inputs > 1 else 0
    head = INPUTS.search(row)
    if not head:
        return None
    others = row[: head.start()] + row[head.end() :]  # neither another number nor a unit
    words = re.findall("[a-z]+|[0-9]", others.lower())
    if any(word.isdigit() or word in SPELLINGS for word in words):
        return None
    said = 1 if head[1].lower() in ("single", "one") else int(head[1])
    return said if said in (1, inputs) else None


# ------------------------------------------------ each number by itself

FACTORS: dict[str, list[Fraction]] = {  # of a unit that is wrong
    "latency": [Fraction(10) ** power for power in (3, 6, 9, -3, -6, -9)],
    "traffic": [
        *(Fraction(10) ** power for power in (-3, -6, -9, 3, 6, 9)),
        *(Fraction(2) ** power for power in (-10, -20, -30, 10, 20, 30)),
    ],
}
Times = Mapping[str, Rate]  # by kind, as many times too large as a wrong unit makes wrong numbers
AS_SAID: Times = dict.fromkeys(FACTORS, 1)
RIGHT, WRONG, MISSING, NOT_EXPLAINED = "right", "wrong", "missing", "not explained"
NO_NUMBER, FEW_DIGITS = "no number", "too few digits to be called right"
OMITTED = "the number of the missing line"
YOUR_Q1 = "your Q1"


def _is_right(verdict: str) -> bool:
    return verdict.split(",")[0] == RIGHT  # "right, in ms", but not "right in ms, not in seconds"


@dataclass(eq=False)
class _Number:
    """A number of a submission, and how it is judged."""

    line: Line
    text: str
    given: Given | None
    verdict: str = WRONG
    units: Sequence[str] = ()  # that it may have, KB being two; none if it is no result
    times: Rate = 1  # as many times too large as a wrong unit makes it
    other: Line | None = None  # whose right number it is

    @property
    def is_right(self) -> bool:
        return _is_right(self.verdict)

    def spans(self, times: Times = AS_SAID) -> list[tuple[Fraction, Fraction]]:
        """From which to below which answers it agrees with."""
        assert self.given
        more = self.times * (times[self.line.kind] if self.verdict == WRONG else 1)
        factors = (UNITS[unit].factor * more for unit in self.units)
        return [self.given.span(self.line.kind, factor) for factor in factors]

    def agrees(self, answer: Rate, times: Times = AS_SAID) -> bool:
        return any(low <= answer < high for low, high in self.spans(times))


def _judged(line: Line, text: str, right: Mapping[Line, Rate]) -> _Number:
    number = given(text.lstrip(SIGNS))
    it = _Number(line, text, number)
    if not number:
        it.verdict = NO_NUMBER
    elif not number.value.is_finite():
        it.verdict = "nan" if number.value.is_nan() else "infinite"
    elif number.value == right[line] == 0:
        it.verdict = RIGHT
    elif number.value <= 0:
        it.verdict = "negative" if number.value else "zero"
    else:
        unit = SPELLINGS.get(number.unit, "")
        unit = unit if unit and UNITS[unit].kind == line.kind else ASKED[line.kind]
        it.units = [unit, BINARY[unit]] if unit in BINARY else [unit]
        it.verdict = _as_it_is(it, number, right[line])
        if it.verdict == WRONG:
            it.verdict = _elsewhere(it, number, right) or _in_another_unit(it, number, right[line])
    return it


def _as_it_is(it: _Number, number: Given, answer: Rate) -> str:
    for unit, (low, high) in zip(it.units, it.spans(), strict=True):
        if low <= answer < high:
            how = number.how(answer, it.line.kind, UNITS[unit].factor)
            if how and number.digits < LEAST_DIGITS:
                return FEW_DIGITS
            in_unit = "" if unit == ASKED[it.line.kind] else f"in {unit}"
            return ", ".join(filter(None, (RIGHT, how, in_unit)))
    return WRONG


def _is_surely(number: Given, answer: Rate, kind: str, factor: Rate) -> bool:
    """Whether it is exactly so many times the answer, or agrees in more than a few digits."""
    low, high = number.span(kind, factor)
    is_exact = number.value == factor * answer
    return is_exact or (low <= answer < high and number.digits >= LEAST_DIGITS)


def _elsewhere(it: _Number, number: Given, right: Mapping[Line, Rate]) -> str:
    """Whose right number it is; empty if no line's. A Q2 that is Q1's traffic may come from a
    change, which is tried first."""
    for line, answer in right.items():
        units = it.units if line.kind == it.line.kind else [ASKED[line.kind]]
        if any(_is_surely(number, answer, line.kind, UNITS[unit].factor) for unit in units):
            it.other = line
            is_q1 = line.kind == "traffic" and line == it.line._replace(inputs=1)
            return WRONG if is_q1 else _this_is(line, it.line)
    return ""


def _this_is(other: Line, line: Line) -> str:
    whose = other.name if other.kind != line.kind else f"{other.name.rpartition(' ')[0]}'s"
    return f"this is {whose}"


def _in_another_unit(it: _Number, number: Given, answer: Rate) -> str:
    kind = it.line.kind
    for unit, times in product(it.units, FACTORS[kind]):
        factor = UNITS[unit].factor * times
        if _is_surely(number, answer, kind, factor):
            it.units, it.times = [unit], times
            name, said = _unit_name(kind, factor), _unit_said(number) or ASKED[kind]
            return f"right in {name}, not in {said}" if name else _off(times)
    return WRONG


def _unit_said(number: Given) -> str:
    return SPELLINGS.get(number.unit) or _start(number.unit, MOST_UNIT)


def _unit_name(kind: str, factor: Rate) -> str:
    return next((name for name, unit in UNITS.items() if unit[:2] == (kind, factor)), "")


def _off(times: Rate) -> str:
    large = "large" if times > 1 else "small"
    return f"{int(max(times, 1 / Fraction(times))):,} times too {large}"


# ------------------------------------------------ which changes make the others

MULTIPLES = {
    "twice the right number": Fraction(2),
    "half the right number": Fraction(1, 2),
    "four times the right number": Fraction(4),
    "a quarter of the right number": Fraction(1, 4),
}
LEAST_OF_A_PAIR, LEAST_ALONE = 4, 6  # digits of evidence; of numbers without the other of a pair
FAR = 100  # times the right number, or a part of it: farther off it must be in another unit
NO_MULTIPLE = "pipeline", "latency"  # of Q1's is Q2's, unlike all others


class _Set(NamedTuple):
    """Changes, or a multiple, and what they make."""

    names: Names
    pairs: frozenset[Pair]  # that they make
    contradicts: int = 0  # pairs that are right
    times: Times = AS_SAID
    multiple: str = ""

    @property
    def rank(self) -> tuple[int, int]:
        """The higher, the simpler. A multiple is no cause, so it comes after what contradicts
        nothing, but before sets that must contradict right numbers."""
        return -(2 if self.multiple else len(self.names)), -self.contradicts


@dataclass
class _Found:
    """Sets that all make the same wrong numbers."""

    sets: list[_Set]
    numbers: list[_Number]
    only: str = ""  # the kind of number, if the other one is not as the sets make it


def _explain(
    question: Question, numbers: Sequence[_Number], right: Mapping[Line, Rate]
) -> list[_Found]:
    """What makes the wrong numbers; of those that are left, the verdicts say what they are."""
    usable = [it for it in numbers if it.units and it.verdict != OMITTED]
    if not any(it.verdict == WRONG for it in usable):
        return []
    wrong_units = [*_wrong_units(usable, right)]
    sets = [*_sets(question, usable, wrong_units)]
    found, left = _by_pairs(usable, right, sets)
    left = [it for it in left if not _joins(it, found, question)]
    found += _of_one_kind(question, left, wrong_units)
    explained = {it for each in found for it in each.numbers}
    for it in left:
        if it not in explained:
            it.verdict = _this_is(it.other, it.line) if it.other else _from_own_q1(it, usable)
    return found


def _by_pairs(
    numbers: Sequence[_Number], right: Mapping[Line, Rate], sets: Sequence[_Set]
) -> tuple[list[_Found], list[_Number]]:
    """The rule of pairs: again and again the set of changes that makes most pairs with a wrong
    number; of equals, the one of fewest changes, then the one that contradicts fewest pairs that
    are right. Also the wrong numbers that are left."""
    wrong = [it for it in numbers if it.verdict == WRONG]
    left = frozenset(it.line.pair for it in wrong)

    def wrong_of(pairs: Set[Pair]) -> list[_Number]:
        return [it for it in wrong if it.line.pair in pairs]

    def is_multiple(pair: Pair, times: Rate) -> bool:
        return all(it.agrees(right[it.line] * times) for it in wrong_of({pair}))

    @cache
    def most_changes(pairs: frozenset[Pair]) -> int:
        is_alone = len({it.line for it in numbers if it.line.pair in pairs}) == len(pairs)
        digits = _evidence_digits(wrong_of(pairs))
        if digits < (LEAST_ALONE if is_alone else LEAST_OF_A_PAIR):
            return 0
        return min(max((digits - 3) // 2, 1), MOST_CHANGES)

    multiples = [
        _Set((), frozenset(pair for pair in left if is_multiple(pair, times)), multiple=said)
        for said, times in MULTIPLES.items()
    ]
    found: list[_Found] = []
    while True:
        ranked: dict[tuple[int, ...], list[_Set]] = {}
        for by in [*sets, *multiples]:
            made = by.pairs & left
            if made and max(len(by.names), 1) <= most_changes(made):
                ranked.setdefault((len(made), *by.rank), []).append(by)
        if not ranked:
            return found, wrong_of(left)
        best = ranked[max(ranked)]
        made = best[0].pairs & left
        if best[0].multiple:
            for it in wrong_of(made):
                it.verdict = best[0].multiple
        else:
            same = [by for by in best if (by.pairs & left, by.times) == (made, best[0].times)]
            found.append(_Found([by for by in same if by.names], wrong_of(made)))
        left -= made


def _evidence_digits(wrong: Iterable[_Number]) -> int:
    """Without the numbers of Q2 that follow from one of Q1 that is wrong, too."""
    digits: dict[Line, int] = {}
    for it in wrong:
        assert it.given
        digits[it.line] = max(digits.get(it.line, 0), min(it.given.digits, FULL_DIGITS))
    return sum(
        own
        for line, own in digits.items()
        if line.inputs == 1 or line[1:] == NO_MULTIPLE or line._replace(inputs=1) not in digits
    )


def _sets(
    question: Question, numbers: Sequence[_Number], wrong_units: Sequence[Times]
) -> Iterator[_Set]:
    """The sets of changes that make a pair with a wrong number, in the order of readings.py."""
    pairs: dict[Pair, list[_Number]] = {}
    for it in sorted(numbers, key=lambda it: it.line.kind, reverse=True):  # fewer make a traffic
        pairs.setdefault(it.line.pair, []).append(it)
    right = {pair for pair, own in pairs.items() if all(it.is_right for it in own)}
    wrong = {it.line.pair for it in numbers if it.verdict == WRONG}
    strategies = tuple(dict.fromkeys(strategy for _, strategy in pairs))
    for times in wrong_units:
        spans = {pair: [(it.line.kind, it.spans(times)) for it in pairs[pair]] for pair in pairs}
        made_by = {
            (strategy, names): [
                pair
                for pair in pairs
                if pair[1] == strategy and _makes(taken[pair[0]], spans[pair])
            ]
            for strategy in strategies
            for names, taken in readings.taken_by_sets(question, strategy).items()
        }
        for names, parts in readings.sets_of_changes(question, strategies):
            made = frozenset(pair for part in parts for pair in made_by[part])
            if names and made & wrong:
                yield _Set(names, made, len(right - made), times)


def _makes(taken: Taken, given_: Sequence[tuple[str, Sequence[tuple[Rate, Rate]]]]) -> bool:
    """Whether it is all that is given of a pair."""
    return all(any(low <= taken.of(kind) < high for low, high in spans) for kind, spans in given_)


def _wrong_units(numbers: Sequence[_Number], right: Mapping[Line, Rate]) -> Iterator[Times]:
    """None, and those in which other numbers of the kind are right; where all of a kind are wrong,
    those in which none of them is far off."""
    options: list[list[Rate]] = []
    for kind, factors in FACTORS.items():
        own = [it for it in numbers if it.line.kind == kind]
        known: set[Rate] = {it.times for it in own}
        if len(own) > 1 and all(it.verdict == WRONG for it in own):
            known.update(
                times for times in factors if all(_is_near(it, right, times) for it in own)
            )
        options.append(sorted(known | {1}, key=lambda times: (times != 1, times)))
    for each in product(*options):
        yield dict(zip(FACTORS, each, strict=True))


def _is_near(it: _Number, right: Mapping[Line, Rate], times: Rate) -> bool:
    low, high = it.spans({it.line.kind: times})[0]
    return right[it.line] < high * FAR and low < right[it.line] * FAR


def _joins(it: _Number, found: Sequence[_Found], question: Question) -> bool:
    """Whether sets that are found make this number, too: those of them that do so remain."""
    for each in found:
        sets = [by for by in each.sets if it.agrees(_answer(question, it.line, by.names), by.times)]
        if sets:
            each.sets = sets
            each.numbers.append(it)
            return True
    return False


def _answer(question: Question, line: Line, names: Names) -> Rate:
    """With those of these changes that are of its strategy."""
    own = tuple(name for name in names if line.strategy in readings.STRATEGIES_OF[name])
    return readings.taken_by_sets(question, line.strategy)[own][line.inputs].of(line.kind)


def _of_one_kind(
    question: Question, left: Sequence[_Number], wrong_units: Sequence[Times]
) -> Iterator[_Found]:
    """Single changes that make one kind of number of a strategy."""
    groups: dict[tuple[str, str], list[_Number]] = {}
    for it in left:
        if not it.other:
            groups.setdefault((it.line.strategy, it.line.kind), []).append(it)
    for (strategy, kind), own in groups.items():
        if _evidence_digits(own) < LEAST_ALONE:
            continue
        singles = [names for names in readings.taken_by_sets(question, strategy, 1) if names]
        for times, names in product(wrong_units, singles):
            if all(it.agrees(_answer(question, it.line, names), times) for it in own):
                [other_kind] = {*ASKED} - {kind}
                other = own[0].line._replace(kind=other_kind)  # that the change may not touch
                is_other = _answer(question, other, names) != _answer(question, other, ())
                only = kind if is_other else ""
                yield _Found([_Set(names, frozenset(), times=times)], own, only)
                break


def _from_own_q1(it: _Number, numbers: Sequence[_Number]) -> str:
    """Of a number of Q2 how it follows from the submission's own wrong one of Q1."""
    inputs = it.line.inputs
    for one in numbers:
        if inputs > 1 and one.line == it.line._replace(inputs=1) and not one.is_right:
            for times, said in (
                (inputs, f"{inputs} times {YOUR_Q1}"),
                (1, f"the same as {YOUR_Q1}"),
            ):
                (low, high), (low_1, high_1) = it.spans()[0], one.spans()[0]
                if low < times * high_1 and times * low_1 < high:
                    is_formula = times > 1 and it.line[1:] == NO_MULTIPLE
                    return said + " (inputs do not overlap)" * is_formula
    return NOT_EXPLAINED


# ------------------------------------------------ a submission


class Explained(NamedTuple):
    """Wrong numbers, and the sets of changes of which each makes them."""

    numbers: list[str]  # the names of their lines
    sets: list[Names]
    more: int  # further sets of as many changes
    units: list[str]  # that are wrong besides
    only: str  # the kind of number that the changes make, where they do not make the other


class Judged(NamedTuple):
    """A number of a submission; a line that is missing has none."""

    line: str
    given: str | None
    right: Rate
    verdict: str

    @property
    def is_right(self) -> bool:
        return _is_right(self.verdict)


class Submission(NamedTuple):
    """What a submission says, and what explains it."""

    numbers: list[Judged]
    explained: list[Explained]
    form: list[str]  # what is not as the handout asks, besides numbers

    @property
    def lines(self) -> int:
        """How many there must be."""
        return len({it.line for it in self.numbers})

    @property
    def right_lines(self) -> int:
        """Those with right numbers only, besides that of an omitted line."""
        wrong = {it.line for it in self.numbers if not it.is_right and it.verdict != OMITTED}
        return self.lines - len(wrong)


class NoSubmissionError(ValueError):
    """A text that cannot be judged: what it is, and what is wanted."""

    def __init__(self, what: str, wanted: str):
        super().__init__(f"text {what}; {wanted}")
        self.what, self.wanted = what, wanted


HOW = "prints: python3 lab3.py | python3 report check"
PIPE_IN = f"pipe in what lab3.py {HOW}"
PROGRAM = re.compile(r"^[ \t]*(?:import \w|from [\w.]+ import|def \w|print ?\()", re.M | re.ASCII)


def check(text: str, question: Question = LAB) -> Submission:
    """Judges what somebody's lab3.py printed.

    Raises ValueError where the question is wrong, where neither strategy is possible, and for a
    text without any of the required lines.
    """
    if not isinstance(text, str):
        raise ValueError(f"text: {shown(text)} is not a text")
    question = readings.checked(question)
    right = required(question)
    texts, heads = _lines(text, question.inputs)
    first = {line: behind[:MOST_NUMBERS] for line, behind in texts.items()}
    numbers = [_judged(it, each, right) for it in right for each in first.get(it, ())]
    if not any(it.given for it in numbers):
        _refuse(text, bool(texts))
    for it in numbers:
        if len(first[it.line]) > 1 and it.verdict != WRONG and it.other and it.other not in texts:
            it.verdict = OMITTED
    found = _explain(question, numbers, right)
    judged = []
    for line, answer in right.items():
        own = [it for it in numbers if it.line == line]
        for it in own:
            written = _start(it.given.text if it.given else it.text, MOST_WRITTEN)
            judged.append(Judged(line.name, written, answer, it.verdict))
        if not own:
            sample = ", as in the handout's sample" * (line[1:] == SAMPLE_LACKS and line.inputs > 1)
            judged.append(Judged(line.name, None, answer, MISSING + sample))
    return Submission(
        judged, [_told(it, right) for it in found], _form(question, right, texts, heads)
    )


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


def _told(it: _Found, right: Mapping[Line, Rate]) -> Explained:
    numbers = [line.name for line in right if line in {number.line for number in it.numbers}]
    sets = [each.names for each in it.sets]
    kinds = {number.line.kind for number in it.numbers}
    units = [
        _unit_name(kind, UNITS[ASKED[kind]].factor * times) or _off(times)
        for kind, times in it.sets[0].times.items()
        if times != 1 and kind in kinds
    ]
    return Explained(numbers, sets[:MOST_NAMED], len(sets[MOST_NAMED:]), units, it.only)


def _start(text: str, most: int) -> str:
    """As it may be repeated: printable ASCII, and not too much."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text[: most + 1])
    said = printable.encode("ascii", "replace").decode().strip()
    return said if len(text) <= most else f"{said[: most - 3]}..."


def _form(
    question: Question,
    right: Collection[Line],
    texts: Mapping[Line, Sequence[str]],
    heads: Mapping[int, Sequence[str]],
) -> list[str]:
    """What is not as the handout asks, besides numbers."""
    faults = []
    wanted = {question.inputs: f"--------Q2 {question.inputs} inputs------", 1: Q1_HEAD}
    for inputs, head in sorted(wanted.items()):
        if inputs not in heads:
            faults.append(f"the head {head} is missing")
        elif _words(head) not in map(_words, heads[inputs]):
            faults.append(f"the head is {_start(heads[inputs][0], MOST_HEAD)!r}, not {head}")
    said: dict[str, list[str]] = {}  # the same of several lines
    for line in right:
        behind = texts.get(line, [])
        if len(behind) > 1:
            more = count(len(behind) - MOST_NUMBERS, "more number")
            and_more = f", and {more}" if len(behind) > MOST_NUMBERS else ""
            different = count(len(behind[:MOST_NUMBERS]), "different number")
            faults.append(f"{line.name} has {different}{and_more}")
        for text in behind[:MOST_NUMBERS]:
            number = given(text.lstrip(SIGNS))
            asked = ASKED[line.kind]
            if number and SPELLINGS.get(number.unit) != asked:
                unit = f"in {_unit_said(number)!r}" if number.unit else "no unit"
                said.setdefault(f"{unit}, not in {asked}", []).append(line.name)
            if text.startswith((*SIGNS,)):
                said.setdefault(f"{text[0]!r} before the number", []).append(line.name)
    faults += [f"{fault}: {_whose(names)}" for fault, names in said.items()]
    _, impossible = possible_strategies(question.network, question.system)
    unexpected: dict[str, int] = {}
    for line in texts:
        if line not in right:
            strategy = impossible.get(line.strategy)
            reason = strategy.reason if strategy else "With 1 input there is no Q2"
            unexpected[reason] = unexpected.get(reason, 0) + 1
    return faults + [
        f"{count(lines, 'line')} {'is' if lines == 1 else 'are'} not expected. {reason}"
        for reason, lines in unexpected.items()
    ]


def _words(head: str) -> str:
    return " ".join(re.findall(r"\w+", head.lower()))


# ------------------------------------------------ in words


def _whose(lines: Sequence[str], which: str = "") -> str:
    """One or two by their names, or how many, with the words that they share."""
    if len(lines) <= 2:
        is_pair = len({name.rpartition(" ")[0] for name in lines}) < len(lines)
        return f"{lines[0]} and traffic" if is_pair else " and ".join(lines)
    columns = zip(*(name.split() for name in lines), strict=True)
    shared = [words[0] for words in columns if len({*words}) == 1]
    return " ".join([f"{len(lines)}", *([which] if which else []), *shared, "numbers"])


def _cause(it: Explained) -> str:
    """The sets of changes, as a clause."""
    sets = [
        " and ".join([*(f"{name}," if "," in name else name for name in names[:-1]), names[-1]])
        for names in it.sets
    ]
    either = "either " if len(sets) > 1 else ""
    more = f" (and {it.more} more)" if it.more else ""
    kind = f", in {it.only} only" if it.only else ""
    units = f", in {' and '.join(it.units)}" if it.units else ""
    joined = (", or " if any(len(names) > 1 for names in it.sets) else " or ").join(sets)
    return either + joined + more + kind + units


def _verdicts(submission: Submission) -> dict[str, list[str]]:
    """Those of numbers that are not right and that no changes make, each with its lines."""
    found: dict[str, list[str]] = {}
    for it in submission.numbers:
        if not it.is_right and it.given is not None and it.verdict not in (WRONG, OMITTED):
            found.setdefault(it.verdict, []).append(it.line)
    return found


def told(submission: Submission) -> str:
    """How many are right, and what makes the others; then all lines; then the form."""
    lines, right = submission.lines, submission.right_lines
    missing = sum(it.given is None for it in submission.numbers)
    first = [f"{right} of {lines} numbers {'is' if right == 1 else 'are'} right"]
    if right == lines:
        first = [f"All {lines} numbers are right, as read here (python3 report explain readings)"]
    if missing:
        first[0] += f", {count(missing, 'line')} {'is' if missing == 1 else 'are'} missing"
    first[0] += "."
    for it in submission.explained:
        come = "comes" if len(it.numbers) == 1 else "come"
        first.append(f"{_whose(it.numbers, 'wrong')} {come} out as yours if {_cause(it)}.")
    for verdict, names in _verdicts(submission).items():
        said = f"{_whose(names)}: {verdict}."
        if verdict in MULTIPLES and len(names) > 1:
            said = said.replace(" latency and traffic", "").replace("number.", "numbers.")
        first.append(said)
    if topics := _topics(submission):
        first.append(f"How it is computed: python3 report explain {' '.join(topics)}")
    blocks = ["\n".join(map(filled, first))]
    if any(it.verdict != RIGHT for it in submission.numbers):
        blocks.append(_numbers_table(submission.numbers))
    if submission.form:
        blocks.append("\n".join(["Form:", *(filled(f"- {it}", "  ") for it in submission.form)]))
    return "\n\n".join(blocks)


def _topics(submission: Submission) -> list[str]:
    """The strategies whose numbers are computed otherwise: `explain` has a topic of each."""
    otherwise = {WRONG, NOT_EXPLAINED, *MULTIPLES}
    found = [it for it in submission.numbers if it.verdict in otherwise or YOUR_Q1 in it.verdict]
    return [*dict.fromkeys(it.line.split()[1] for it in found)]


def _numbers_table(numbers: Sequence[Judged]) -> str:
    cells = []
    for it in numbers:
        question_number, strategy, kind = it.line.split()
        number = f"{kind} {'s' if kind == 'latency' else 'bytes'}"
        right = str(it.right) if isinstance(it.right, int) else lab3.plain(it.right, EXACT_DIGITS)
        cells.append([question_number, strategy, number, it.given or "-", right, it.verdict])
    widths = [max(len(row[n]) for row in cells) for n in (3, 4)]
    rows = [["", "", "", "yours", "right", ""], *cells]
    for row in rows:
        row[3:5] = map(str.rjust, row[3:5], widths)
    return table(rows[0], rows[1:])


def reasons(submission: Submission) -> list[str]:
    """Why not all is right, and how many faults of the form there are, in a few words each."""
    found = [_cause(it) for it in submission.explained]
    counts = {verdict: len(of) for verdict, of in _verdicts(submission).items()}
    counts[MISSING] = sum(it.given is None for it in submission.numbers)
    counts["form"] = len(submission.form)
    return found + [f"{why} ({times})" for why, times in counts.items() if times]


# ------------------------------------------------ the command: check


def add_options(parser: ArgumentParser) -> None:
    """Files, what if, and --json."""
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="*",
        default=["-"],
        help="output of a lab3.py (default, or -: standard input)",
    )
    asking.add_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: Namespace) -> tuple[str, int]:
    """What is right and what makes the rest; 0 if all is right, 1 if not, 2 for a file that cannot
    be judged, which does not stop the others."""
    question = readings.checked(question_of(options))
    files: dict[str, Submission | str] = {}  # or what it is instead, in a few words
    refused = []
    for name in dict.fromkeys(options.files):
        whose = "standard input" if name == "-" else _start(name[-MOST_PATH:], MOST_PATH)
        try:
            files[name] = check(_text(name), question)
        except NoSubmissionError as error:
            files[name] = error.what.partition(" ")[2]
            refused.append(f"{whose} {error.what}; {error.wanted}")
        except (OSError, ValueError) as error:  # the latter of a name that no file has
            files[name] = getattr(error, "strerror", None) or str(error)
            refused.append(f"{whose}: {files[name]}")
    submissions = [it for it in files.values() if isinstance(it, Submission)]
    if not submissions:
        raise ValueError(". ".join(refused))
    for why in refused:
        _complain(f"python3 report: error: {why}")
    is_right = all(it.right_lines == it.lines for it in submissions)
    status = 2 if refused else 0 if is_right else 1
    if options.json:
        return json_text(_as_dict(question, files)), status
    text = told(submissions[0]) if len(options.files) < 2 else _side_by_side(files)
    return headed(question, text), status


def _text(name: str) -> str:
    """What a file says; of bytes that are no UTF-8, each is one letter that is not known."""
    if name == "-":
        if sys.stdin is None:
            raise NoSubmissionError("is closed", PIPE_IN)
        if sys.stdin.isatty():
            _complain("Reading from the terminal; end with Ctrl-D.")
        data = sys.stdin.buffer.read(MOST_BYTES + 1)
    else:
        with Path(name).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise NoSubmissionError(f"has more than {MOST_BYTES:,} bytes", "an output has ten lines")
    is_utf_16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))  # as PowerShell writes it
    return data.decode("utf-16" if is_utf_16 else "utf-8-sig", "replace")


def _complain(text: str) -> None:
    if sys.stderr:
        with suppress(OSError):
            print(text, file=sys.stderr, flush=True)


def _side_by_side(files: Mapping[str, Submission | str]) -> str:
    """A line each, then how often each change occurs."""
    rows = []
    for name, it in zip(_what_differs([*files]), files.values(), strict=True):
        if isinstance(it, str):
            rows.append([name, "-", it])
        else:
            rows.append([name, f"{it.right_lines} of {it.lines}", "; ".join(reasons(it)) or RIGHT])
    blocks = [table(["file", "right", "why"], rows)]
    if often := _often(files):
        changes = [[times, change] for change, times in often.items()]
        blocks.append(table(["files", "change"], changes))
    return "\n\n".join(blocks)


def _what_differs(names: Sequence[str]) -> list[str]:
    """The names without the words with which all of them begin and end."""
    words = [re.findall(r"[^\W_]+|[\W_]", name) for name in names]
    begin = _shared(words)
    end = _shared([each[begin:][::-1] for each in words])
    short = ["".join(each[begin : len(each) - end]) for each in words]
    return [_start(name, MOST_NAME) for name in (short if all(short) else names)]


def _shared(words: Sequence[Sequence[str]]) -> int:
    """With how many equal ones all begin."""
    return sum(1 for _ in takewhile(lambda same: len({*same}) == 1, zip(*words, strict=False)))


def _often(files: Mapping[str, Submission | str]) -> dict[str, int]:
    """In how many files each change occurs, the most frequent first; of equal sets in the first."""
    changes = (
        dict.fromkeys(change for each in it.explained for change in each.sets[0])
        for it in files.values()
        if isinstance(it, Submission)
    )
    return dict(Counter(change for each in changes for change in each).most_common())


def _as_dict(question: Question, files: Mapping[str, Submission | str]) -> dict[str, object]:
    submissions: list[dict[str, object]] = []
    for name, it in files.items():
        if isinstance(it, str):
            submissions.append({"file": name, "refused": it})
        else:
            right = {"right": it.right_lines, "of": it.lines}
            submissions.append({"file": name, **right, **it._asdict(), "why": reasons(it)})
    return {**analysis.head(question), "submissions": submissions, "occurrences": _often(files)}
