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
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import lab3
from lab3 import Rate
from report import analysis, readings
from report import question as asking
from report.given import ASKED, BINARY, FULL_DIGITS, LEAST_DIGITS, SPELLINGS, UNITS, Given, given
from report.question import LAB, Question, headed, possible_strategies, question_of
from report.readings import MOST_CHANGES, Names
from report.terminal import EXACT_DIGITS, count, filled, json_text, shown, table

MOST_NAMED = 3  # sets of changes that make the same
MOST_NUMBERS = 4  # of a line, that differ
MOST_BYTES = 10**6  # of a file
SHORT, LONG = 22, 80  # letters of a submission that are repeated, and of a file's name

# ------------------------------------------------ the lines of a submission


class Line(NamedTuple):
    """What a line of the answers is about; the first two are its pair."""

    question: str  # Q1 or Q2
    strategy: str
    kind: str  # latency or traffic

    @property
    def of_q1(self) -> Line:
        return self._replace(question="Q1")


LINE = re.compile(
    r"total\s+(latency|network\s+traffic)\s+of\s+(tensor|pipeline)\s+parallelism\s*"
    r"(?:\bis\b|(?=[:=]))\s*(.*)",
    re.ASCII | re.IGNORECASE,
)
Pair = tuple[str, str]  # question and strategy
SIGNS = ":=~ "  # that may stand before a number
QUESTION = re.compile(r"\bq(?:uestion)?\s*([12])\b", re.ASCII | re.IGNORECASE)
INPUTS = re.compile(r"\b(single|one|[0-9]{1,20})\s+inputs?\b", re.ASCII | re.IGNORECASE)
Q1_HEAD = "-----Q1 single input-----"
SAMPLE_LACKS = "Q2", "pipeline", "traffic"  # where the handout's sample repeats two other lines


def _required(question: Question) -> dict[Line, Rate]:
    """The lines that a submission must have, in order, and their right numbers; s, bytes."""
    network, system, inputs = question
    possible, _ = possible_strategies(network, system)
    return {
        Line(name, strategy, kind): getattr(lab3, f"{strategy}_parallel_{kind}")(network, system, n)
        for name, n in readings.inputs_of(inputs).items()
        for strategy in possible
        for kind in ASKED
    }


def _lines(text: str, inputs: int) -> tuple[dict[Line, list[str]], dict[str, list[str]]]:
    """By line the different texts behind "is", and the heads by question."""
    found: list[tuple[Line, str]] = []
    heads: dict[str, list[str]] = {}
    below = "Q1"
    for row in text.replace("\u00a0", " ").splitlines():
        if line := LINE.search(row):
            kind = "latency" if line[1].lower() == "latency" else "traffic"
            found.append((Line(below, line[2].lower(), kind), line[3].strip()))
        elif of_head := _question_of(row, inputs):
            below = of_head
            heads.setdefault(below, []).append(row.strip())
    texts: dict[Line, dict[str, None]] = {}
    for line_of, behind in found:
        is_q2 = line_of in texts and "Q2" not in heads and inputs > 1  # as the second of two lines
        own = line_of._replace(question="Q2") if is_q2 else line_of
        texts.setdefault(own, {})[behind] = None
    return {line_of: [*behind] for line_of, behind in texts.items()}, heads


def _question_of(row: str, inputs: int) -> str:
    """Of which the lines below a head are; empty if it is no head."""
    if head := QUESTION.search(row):
        return f"Q{head[1]}"
    head = INPUTS.search(row)
    if not head:
        return ""
    others = row[: head.start()] + row[head.end() :]  # neither another number nor a unit
    words = re.findall("[a-z]+|[0-9]", others.lower())
    if any(word.isdigit() or word in SPELLINGS for word in words):
        return ""
    said = 1 if head[1].lower() in ("single", "one") else int(head[1])
    return "Q1" if said == 1 else "Q2" if said == inputs else ""


# ------------------------------------------------ each number by itself

RIGHT, WRONG, MISSING, NOT_EXPLAINED = "right", "wrong", "missing", "not explained"
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
    if_unchanged: str = ""  # the verdict if no changes make it, where that is known
    unit: str = ""  # in which it is read, though it says another
    spans: Sequence[tuple[Fraction, Fraction]] = ()  # of answers, the end excluded; of a result

    def read_in(self, units: Iterable[str]) -> None:
        assert self.given
        self.spans = [self.given.span(self.line.kind, UNITS[unit].factor) for unit in units]

    def agrees(self, answer: Rate) -> bool:
        return any(low <= answer < high for low, high in self.spans)


def _judged(line: Line, text: str, right: Mapping[Line, Rate]) -> _Number:
    number = given(text.lstrip(SIGNS))
    it = _Number(line, text, number)
    if not number:
        it.verdict = "no number"
    elif not number.value.is_finite():
        it.verdict = "nan" if number.value.is_nan() else "infinite"
    elif number.value == right[line] == 0:
        it.verdict = RIGHT
    elif number.value <= 0:
        it.verdict = "negative" if number.value else "zero"
    else:
        said = SPELLINGS.get(number.unit, "")
        said = said if said and UNITS[said].kind == line.kind else ASKED[line.kind]
        units = [said, BINARY[said]] if said in BINARY else [said]  # KB may be either
        it.read_in(units)
        it.verdict = (
            _as_it_is(it, number, units, right[line])
            or _elsewhere(it, number, units, right)
            or _in_another_unit(it, number, right[line])
            or WRONG
        )
    return it


def _as_it_is(it: _Number, number: Given, units: Sequence[str], answer: Rate) -> str:
    for unit, (low, high) in zip(units, it.spans, strict=True):
        if low <= answer < high:
            how = number.how(answer, it.line.kind, UNITS[unit].factor)
            if how and number.digits < LEAST_DIGITS:
                return "too few digits to be called right"
            in_unit = "" if unit == ASKED[it.line.kind] else f"in {unit}"
            return ", ".join(filter(None, (RIGHT, how, in_unit)))
    return ""


def _is_surely(number: Given, answer: Rate, unit: str) -> bool:
    """Whether it is exactly that, or agrees in more than a few digits."""
    kind, factor, _ = UNITS[unit]
    low, high = number.span(kind, factor)
    is_exact = number.value == factor * answer
    return is_exact or (low <= answer < high and number.digits >= LEAST_DIGITS)


def _elsewhere(it: _Number, number: Given, units: Sequence[str], right: Mapping[Line, Rate]) -> str:
    """Whose right number it is. A Q2 that is Q1's traffic may come from a change, which is tried
    first."""
    for line, answer in right.items():
        in_units = units if line.kind == it.line.kind else [ASKED[line.kind]]
        if any(_is_surely(number, answer, unit) for unit in in_units):
            this_is = f"this is {' '.join(line)}"
            if line != it.line.of_q1 or line.kind == "latency":
                return this_is
            it.if_unchanged = this_is
    return ""


def _in_another_unit(it: _Number, number: Given, answer: Rate) -> str:
    for name, unit in UNITS.items():
        if unit.kind == it.line.kind and name != "bits" and _is_surely(number, answer, name):
            it.unit = name
            it.read_in([name])
            return f"right in {name}, not in {_unit_said(number) or ASKED[unit.kind]}"
    return ""


def _unit_said(number: Given) -> str:
    return SPELLINGS.get(number.unit) or _start(number.unit, SHORT)


def _read_alike(numbers: Iterable[_Number]) -> None:
    """Wrong numbers in the unit in which all right ones of the kind are, if they say another."""
    for kind in ASKED:
        own = [it for it in numbers if it.line.kind == kind and it.spans]
        units = {it.unit for it in own if it.verdict.startswith(RIGHT)}
        if len(units) == 1 and (unit := units.pop()):
            for it in own:
                if it.verdict == WRONG:
                    it.unit = unit
                    it.read_in([unit])


# ------------------------------------------------ which changes make the others

MULTIPLES: dict[str, Rate] = {
    "twice the right number": 2,
    "half the right number": Fraction(1, 2),
    "four times the right number": 4,
    "a quarter of the right number": Fraction(1, 4),
}
LEAST_OF_A_PAIR, LEAST_ALONE = 4, 6  # digits of evidence; of numbers without the other of a pair
PIPELINE_LATENCY = "pipeline", "latency"  # no multiple of Q1's is Q2's, unlike all others
Made = Mapping[Names, Set[Pair]]  # the pairs that sets of changes make, or a multiple


class _Found(NamedTuple):
    """Sets that all make the same wrong numbers."""

    sets: list[Names]
    numbers: list[_Number]
    only: str = ""  # the kind of number, if another is given that the sets do not make


def _explain(
    question: Question, numbers: Sequence[_Number], right: Mapping[Line, Rate]
) -> list[_Found]:
    """What makes the wrong numbers; of those that are left, the verdicts say what they are."""
    usable = [it for it in numbers if it.spans]
    if not any(it.verdict == WRONG for it in usable):
        return []
    _read_alike(usable)
    found = _by_pairs(usable, {**_made_by_changes(question, usable), **_multiples(usable, right)})
    left = [it for it in _left(usable, found) if not _joins(it, found, question)]
    found += _of_one_kind(question, left, usable)
    for it in _left(left, found):
        follows = _from_own_q1(it, usable, question.inputs)
        it.verdict = it.if_unchanged or follows or NOT_EXPLAINED
    return found


def _left(numbers: Sequence[_Number], found: Sequence[_Found]) -> list[_Number]:
    explained = {it for each in found for it in each.numbers}
    return [it for it in numbers if it.verdict == WRONG and it not in explained]


def _pairs(numbers: Iterable[_Number]) -> dict[Pair, list[_Number]]:
    pairs: dict[Pair, list[_Number]] = {}
    for it in numbers:
        pairs.setdefault(it.line[:2], []).append(it)
    return pairs


def _by_pairs(numbers: Sequence[_Number], made_by: Made) -> list[_Found]:
    """The rule of pairs: again and again the set of changes that makes most pairs with a wrong
    number; of equals, the one of fewest changes, then the one that contradicts fewest pairs that
    are right. A multiple is no cause, so it comes after two changes that contradict nothing."""
    given_of = _pairs(numbers)
    right = {pair for pair, own in given_of.items() if all(it.verdict != WRONG for it in own)}
    left = given_of.keys() - right
    found: list[_Found] = []
    while True:
        ranked: dict[tuple[int, ...], list[Names]] = {}
        for names, pairs in made_by.items():
            made = pairs & left
            if made and len(names) <= _most_changes([it for pair in made for it in given_of[pair]]):
                is_cause = names[0] not in MULTIPLES
                rest = (len(names), len(right - pairs)) if is_cause else (2, 0)
                ranked.setdefault((-len(made), *rest), []).append(names)
        if not ranked:
            return found
        first, *others = ranked[min(ranked)]
        made = made_by[first] & left
        wrong = [it for it in numbers if it.line[:2] in made and it.verdict == WRONG]
        if first[0] in MULTIPLES:
            for it in wrong:
                it.verdict = first[0]
        else:
            same = [by for by in others if made_by[by] & left == made and by[0] not in MULTIPLES]
            found.append(_Found([first, *same], wrong))
        left -= made


def _most_changes(numbers: Sequence[_Number]) -> int:
    """How many the digits of the wrong numbers of these pairs allow."""
    is_alone = len({it.line for it in numbers}) == len({it.line[:2] for it in numbers})
    digits = _evidence_digits(numbers)
    if digits < (LEAST_ALONE if is_alone else LEAST_OF_A_PAIR):
        return 0
    return min(max((digits - 3) // 2, 1), MOST_CHANGES)


def _evidence_digits(numbers: Iterable[_Number]) -> int:
    """Of the wrong ones, without those of Q2 that follow from one of Q1 that is wrong, too."""
    digits = {it.line: it.given.digits for it in numbers if it.verdict == WRONG and it.given}
    return sum(
        min(own, FULL_DIGITS)
        for line, own in digits.items()
        if line.question == "Q1" or line[1:] == PIPELINE_LATENCY or line.of_q1 not in digits
    )


def _made_by_changes(question: Question, numbers: Sequence[_Number]) -> Made:
    """The pairs of which each set of changes makes all that is given, one with a wrong number among
    them; the sets in the order of readings.py."""
    given_of = _pairs(sorted(numbers, key=lambda it: it.line.kind, reverse=True))  # traffic first
    wrong = {it.line[:2] for it in numbers if it.verdict == WRONG}
    strategies = tuple(dict.fromkeys(strategy for _, strategy in given_of))
    made_by = {
        (strategy, names): {
            pair
            for pair, own in given_of.items()
            if pair[1] == strategy and all(it.agrees(taken[it.line[0], it.line[2]]) for it in own)
        }
        for strategy in strategies
        for names, taken in readings.taken_by_sets(question, strategy).items()
    }
    return {
        names: pairs
        for names, parts in readings.sets_of_changes(question, strategies)
        if names and (pairs := set().union(*map(made_by.__getitem__, parts))) & wrong
    }


def _multiples(numbers: Sequence[_Number], right: Mapping[Line, Rate]) -> Made:
    wrong = _pairs(it for it in numbers if it.verdict == WRONG)
    return {
        (said,): {
            pair for pair, own in wrong.items() if all(it.agrees(right[it.line] * n) for it in own)
        }
        for said, n in MULTIPLES.items()
    }


def _makes(it: _Number, names: Names, question: Question) -> bool:
    """Whether those of these changes that are of its strategy make it."""
    own = tuple(name for name in names if it.line.strategy in readings.STRATEGIES_OF[name])
    return it.agrees(
        readings.taken_by_sets(question, it.line.strategy)[own][it.line[0], it.line[2]]
    )


def _joins(it: _Number, found: Sequence[_Found], question: Question) -> bool:
    """Whether sets that are found make this number, too: those of them that do so remain."""
    for each in found:
        if sets := [names for names in each.sets if _makes(it, names, question)]:
            each.sets[:] = sets
            each.numbers.append(it)
            return True
    return False


def _of_one_kind(
    question: Question, left: Sequence[_Number], numbers: Sequence[_Number]
) -> Iterator[_Found]:
    """Single changes that make one kind of number of a strategy."""
    groups: dict[tuple[str, str], list[_Number]] = {}
    for it in left:
        if not it.if_unchanged:
            groups.setdefault(it.line[1:], []).append(it)
    for (strategy, kind), own in groups.items():
        singles = [names for names in readings.taken_by_sets(question, strategy, 1) if names]
        made = [names for names in singles if all(_makes(it, names, question) for it in own)]
        if made and _evidence_digits(own) >= LEAST_ALONE:
            pairs = [it for it in numbers if it.line[:2] in _pairs(own)]
            is_all = all(_makes(it, made[0], question) for it in pairs)
            yield _Found(made[:1], own, "" if is_all else kind)


def _from_own_q1(it: _Number, numbers: Sequence[_Number], inputs: int) -> str:
    """How a number of Q2 follows from the submission's own wrong one of Q1."""
    for one in numbers:
        if it.line != one.line == it.line.of_q1 and not _is_right(one.verdict):
            (low, high), (low_1, high_1) = it.spans[0], one.spans[0]
            if low < inputs * high_1 and inputs * low_1 < high:
                is_formula = it.line[1:] == PIPELINE_LATENCY
                return f"{inputs} times {YOUR_Q1}" + " (inputs do not overlap)" * is_formula
            if low < high_1 and low_1 < high:
                return f"the same as {YOUR_Q1}"
    return ""


# ------------------------------------------------ a submission


class Explained(NamedTuple):
    """Wrong numbers, and the sets of changes of which each makes them."""

    numbers: list[str]  # the names of their lines
    sets: list[Names]
    more: int  # further sets of as many changes
    units: list[str]  # in which they are, though they say others
    only: str  # the kind of number that the changes make, where they do not make the other


class Judged(NamedTuple):
    """A number of a submission; a line that is missing has none."""

    line: str
    given: str | None
    right: Rate
    verdict: str


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
        """Those with right numbers only."""
        return self.lines - len({it.line for it in self.numbers if not _is_right(it.verdict)})

    @property
    def missing(self) -> int:
        return sum(it.given is None for it in self.numbers)

    @property
    def unexplained(self) -> dict[str, list[str]]:
        """Verdicts of numbers that are not right and that no changes make, with their lines."""
        found: dict[str, list[str]] = {}
        for it in self.numbers:
            if it.given is not None and it.verdict != WRONG and not _is_right(it.verdict):
                found.setdefault(it.verdict, []).append(it.line)
        return {verdict: [*dict.fromkeys(lines)] for verdict, lines in found.items()}


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

    Raises ValueError where the question is wrong, where no strategy is possible, and for a text
    that cannot be judged.
    """
    if not isinstance(text, str):
        raise ValueError(f"text: {shown(text)} is not a text")
    question = readings.checked(question)
    right = _required(question)
    texts, heads = _lines(text, question.inputs)
    numbers = [
        _judged(line, each, right) for line in right for each in texts.get(line, [])[:MOST_NUMBERS]
    ]
    if not any(it.given for it in numbers):
        _refuse(text, bool(texts))
    found = _explain(question, numbers, right)
    judged = []
    for line, answer in right.items():
        for it in numbers:
            if it.line == line:
                written = _start(it.given.text if it.given else it.text, SHORT)
                judged.append(Judged(" ".join(line), written, answer, it.verdict))
        if line not in texts:
            verdict = f"{MISSING}, as in the handout's sample" if line == SAMPLE_LACKS else MISSING
            judged.append(Judged(" ".join(line), None, answer, verdict))
    form = _heads_form(readings.inputs_of(question.inputs), heads) + _lines_form(numbers, texts)
    return Submission(
        judged, [_told(it, [*right]) for it in found], form + _unexpected(question, right, texts)
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


def _told(it: _Found, order: Sequence[Line]) -> Explained:
    lines = sorted({number.line for number in it.numbers}, key=order.index)
    units = [*dict.fromkeys(number.unit for number in it.numbers if number.unit)]
    more = len(it.sets[MOST_NAMED:])
    return Explained([" ".join(line) for line in lines], it.sets[:MOST_NAMED], more, units, it.only)


def _start(text: str, most: int) -> str:
    """As it may be repeated: printable ASCII, and not too much."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text[: most + 1])
    said = printable.encode("ascii", "replace").decode().strip()
    return said if len(text) <= most else f"{said[: most - 3]}..."


# ------------------------------------------------ its form: what is not as the handout asks


def _heads_form(questions: Mapping[str, int], heads: Mapping[str, Sequence[str]]) -> list[str]:
    faults = []
    for of, inputs in questions.items():
        wanted = Q1_HEAD if of == "Q1" else f"--------Q2 {inputs} inputs------"
        if of not in heads:
            faults.append(f"the head {wanted} is missing")
        elif _words(wanted) not in map(_words, heads[of]):
            faults.append(f"the head is {_start(heads[of][0], SHORT)!r}, not {wanted}")
    return faults


def _words(head: str) -> str:
    return " ".join(re.findall(r"\w+", head.lower()))


def _lines_form(numbers: Sequence[_Number], texts: Mapping[Line, Sequence[str]]) -> list[str]:
    faults: dict[str, dict[str, None]] = {}  # the same of several lines, by their names
    for it in numbers:
        several, asked = len(texts[it.line]), ASKED[it.line.kind]
        more = count(several - MOST_NUMBERS, "more number")
        and_more = f", and {more}" if several > MOST_NUMBERS else ""
        unit = it.given and SPELLINGS.get(it.given.unit)
        said = f"in {_unit_said(it.given)!r}" if it.given and it.given.unit else "no unit"
        for fault, is_so in (
            (f"{count(min(several, MOST_NUMBERS), 'different number')}{and_more}", several > 1),
            (f"{said}, not in {asked}", it.given and unit != asked),
            (f"{it.text[:1]!r} before the number", it.text.startswith((*SIGNS,))),
        ):
            if is_so:
                faults.setdefault(fault, {})[" ".join(it.line)] = None
    return [f"{fault}: {_whose([*names])}" for fault, names in faults.items()]


def _unexpected(question: Question, right: Collection[Line], texts: Iterable[Line]) -> list[str]:
    _, impossible = possible_strategies(question.network, question.system)
    why = {strategy: it.reason for strategy, it in impossible.items()}
    unexpected = [line.strategy for line in texts if line not in right]
    reasons = Counter(why.get(it, "With 1 input there is no Q2") for it in unexpected)
    return [
        f"{count(lines, 'line')} {'is' if lines == 1 else 'are'} not expected. {reason}"
        for reason, lines in reasons.items()
    ]


# ------------------------------------------------ in words


def _whose(lines: Sequence[str], which: str = "") -> str:
    """One or two by their names, or how many, with the words that they share."""
    if len(lines) <= 2:
        is_pair = len({name.rpartition(" ")[0] for name in lines}) < len(lines)
        return f"{lines[0]} and traffic" if is_pair else " and ".join(lines)
    columns = zip(*(name.split() for name in lines), strict=True)
    shared = [words[0] for words in columns if len({*words}) == 1]
    return " ".join(filter(None, [str(len(lines)), which, *shared, "numbers"]))


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


def told(submission: Submission) -> str:
    """How many are right, and what makes the others; then all lines; then the form."""
    lines, right, missing = submission.lines, submission.right_lines, submission.missing
    first = [f"{right} of {lines} numbers {'is' if right == 1 else 'are'} right"]
    if right == lines:
        first = [f"All {lines} numbers are right, as read here (python3 report explain readings)"]
    if missing:
        first[0] += f", {count(missing, 'line')} {'is' if missing == 1 else 'are'} missing"
    first[0] += "."
    for it in submission.explained:
        come = "comes" if len(it.numbers) == 1 else "come"
        first.append(f"{_whose(it.numbers, 'wrong')} {come} out as yours if {_cause(it)}.")
    for verdict, names in submission.unexplained.items():
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
    rows = [["", "", "", "yours", "right", ""]]
    for it in numbers:
        question_number, strategy, kind = it.line.split()
        number = f"{kind} {'s' if kind == 'latency' else 'bytes'}"
        right = str(it.right) if isinstance(it.right, int) else lab3.plain(it.right, EXACT_DIGITS)
        rows.append([question_number, strategy, number, it.given or "-", right, it.verdict])
    widths = [max(len(row[n]) for row in rows) for n in (3, 4)]
    for row in rows:
        row[3:5] = map(str.rjust, row[3:5], widths)
    return table(rows[0], rows[1:])


def reasons(submission: Submission) -> list[str]:
    """Why not all is right, and how many faults of the form there are, in a few words each."""
    found = [_cause(it) for it in submission.explained]
    counts = {verdict: len(lines) for verdict, lines in submission.unexplained.items()}
    counts |= {MISSING: submission.missing, "form": len(submission.form)}
    return found + [f"{why} ({times})" for why, times in counts.items() if times]


# ------------------------------------------------ the command: check


def add_options(parser: ArgumentParser) -> None:
    """Files, what if, and --json."""
    what = "output of a lab3.py (default, or -: standard input)"
    parser.add_argument("files", metavar="FILE", nargs="*", default=["-"], help=what)
    asking.add_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: Namespace) -> tuple[str, int]:
    """What is right and what makes the rest; 0 if all is right, 1 if not, 2 for a file that cannot
    be judged, which does not stop the others."""
    question = readings.checked(question_of(options))
    files: dict[str, Submission | str] = {}  # or what it is instead, in a few words
    refused = []
    for name in dict.fromkeys(options.files):
        whose = "standard input" if name == "-" else _start(name[-LONG:], LONG)
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
    with suppress(OSError):
        for why in refused if sys.stderr else ():
            print(f"python3 report: error: {why}", file=sys.stderr, flush=True)
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
        data = sys.stdin.buffer.read(MOST_BYTES + 1)
    else:
        with Path(name).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise NoSubmissionError(f"has more than {MOST_BYTES:,} bytes", "an output has ten lines")
    is_utf_16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))  # as PowerShell writes it
    return data.decode("utf-16" if is_utf_16 else "utf-8-sig", "replace")


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
    for _ in range(2):  # from the front, then from the back
        same = (len({*column}) == 1 for column in zip(*words, strict=False))
        shared = sum(1 for _ in takewhile(bool, same))
        words = [each[shared:][::-1] for each in words]
    short = ["".join(each) for each in words]
    return [_start(name, SHORT) for name in (short if all(short) else names)]


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
