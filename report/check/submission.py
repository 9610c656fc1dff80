"""What a submission says: its lines, their heads, and where its form is not the handout's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from fractions import Fraction
from typing import NamedTuple

from lab3 import Rate
from report.check.numbers import ASKED, SPELLINGS, UNITS, Given, given, start
from report.terminal import count

MOST_ROW = 1_000  # characters of a row that are read
MOST_QUOTED = 3  # rows

# ------------------------------------------------ lines and heads


class Line(NamedTuple):
    """What a line of the answers is about; the first two are its pair."""

    question: str  # Q1 or Q2
    strategy: str
    kind: str  # latency or traffic

    def __str__(self) -> str:
        return " ".join(self)

    @property
    def of_q1(self) -> Line:
        return self._replace(question="Q1")


PIPELINE_LATENCY = "pipeline", "latency"  # Q2's does not follow from Q1's, unlike all others
LINE = re.compile(
    r"(?:\btotal\s+|^\W*)(latency|(?:(?:network|communication)\s+)?traf[a-z]*)\s+(?:of|for)\s+"
    r"(tensor|pipeline)[\s-]+par+al[a-z]*\b[\s*_]*(?:\bis\b|(?=[:=]))\s*(.*)",
    re.ASCII | re.IGNORECASE,
)
LIKE_A_LINE = re.compile(
    r"(?=.*\b(?:tensor|pipeline)\b)(?=.*\b(?:latency|traf[a-z]*)\b).*\d", re.ASCII | re.IGNORECASE
)
QUESTION = re.compile(r"\bq(?:uestion)?\s*([12])\b", re.ASCII | re.IGNORECASE)
INPUTS = re.compile(r"\b(single|one|[0-9]{1,20})\s+inputs?\b", re.ASCII | re.IGNORECASE)


@dataclass
class Written:
    """What a text says."""

    behind: dict[Line, list[str]] = field(default_factory=dict)  # the texts behind "is"
    heads: dict[str, list[str]] = field(default_factory=dict)  # by question
    inputs_named: dict[int, None] = field(default_factory=dict)  # by heads, in order
    not_read: list[str] = field(default_factory=list)  # rows that are almost lines


def written(text: str, inputs: int) -> Written:
    """What a text says, if so many inputs are asked in Q2."""
    found = Written()
    lines: list[tuple[Line, str]] = []
    below = "Q1"
    for row in (row[:MOST_ROW].strip() for row in text.replace("\u00a0", " ").splitlines()):
        if line := LINE.search(row):
            kind = "latency" if line[1].lower() == "latency" else "traffic"
            lines.append((Line(below, line[2].lower(), kind), line[3]))
            continue
        question, named = _head(row, inputs)
        if named:
            found.inputs_named[named] = None
        if question:
            below = question
            found.heads.setdefault(below, []).append(row)
        elif not named and LIKE_A_LINE.match(row):
            found.not_read.append(row)
    for line_of, behind in lines:  # without a head the second of two lines is Q2's
        is_q2 = line_of in found.behind and "Q2" not in found.heads and inputs > 1
        own = line_of._replace(question="Q2") if is_q2 else line_of
        found.behind.setdefault(own, []).append(behind)
    return found


def _head(row: str, inputs: int) -> tuple[str, int]:
    """Of which question the lines below a row are, empty if it is no head; and how many inputs it
    names, or 0. Without Q1 or Q2 it must name as many as are asked, and no other number or unit."""
    named = INPUTS.search(row)
    amount = 0 if not named else 1 if named[1].lower() in ("single", "one") else int(named[1])
    if question := QUESTION.search(row):
        return f"Q{question[1]}", amount
    if not named:
        return "", 0
    words = re.findall("[a-z]+|[0-9]", (row[: named.start()] + row[named.end() :]).lower())
    if any(word.isdigit() or word in SPELLINGS for word in words):
        return "", 0
    return {1: "Q1", inputs: "Q2"}.get(amount, ""), amount


# ------------------------------------------------ numbers


class Kind(Enum):
    """What a number is."""

    RIGHT = auto()
    OTHER_UNIT = auto()  # right, but not in the unit that it says
    OTHER_LINE = auto()  # another line's right number
    EXCHANGED = auto()  # so are both
    ELSEWHERE = auto()  # right for another topology, or for other inputs
    WRONG = auto()  # and changes make it, once all is judged
    MULTIPLE = auto()
    FROM_Q1 = auto()
    NOT_EXPLAINED = auto()
    TOO_FEW_DIGITS = auto()
    NO_NUMBER = auto()
    MISSING = auto()


class Verdict(NamedTuple):
    """What a number is, and how that is said."""

    kind: Kind
    words: str


WRONG = Verdict(Kind.WRONG, "wrong")


@dataclass(eq=False)
class Number:
    """A number of a submission, or what is there instead, and how it is judged."""

    line: Line
    right: Rate  # the right one; seconds, bytes
    text: str  # with what is before and behind it
    given: Given | None
    verdict: Verdict = WRONG
    different: int = 1  # how many different numbers its line has
    unit: str = ""  # in which it is read, though it says another
    spans: Sequence[tuple[Fraction, Fraction]] = ()  # of answers; the end is excluded
    may_be_cut: bool = True  # rather than rounded
    answer: Rate | None = None  # with which it agrees: the right one, or what changes make
    belongs_to: Line | None = None  # the other line whose right number it is

    @property
    def kind(self) -> Kind:
        return self.verdict.kind

    @property
    def said(self) -> str | None:
        """As it may be repeated; none of a line that is missing."""
        if self.kind is Kind.MISSING:
            return None
        return start(self.given.text if self.given else self.text)

    @property
    def has_right_value(self) -> bool:
        """Whatever unit it says."""
        return self.kind in (Kind.RIGHT, Kind.OTHER_UNIT)

    def read_in(self, *units: str) -> None:
        """Set the answers with which it agrees."""
        assert self.given
        if self.given.value:
            self.spans = [self.span(unit) for unit in units]
        else:
            self.spans = [(Fraction(0), Fraction(1, 10**400))]

    def span(self, unit: str) -> tuple[Fraction, Fraction]:
        """The answers with which it agrees in a unit."""
        assert self.given
        return self.given.span(UNITS[unit].kind, UNITS[unit].factor, self.may_be_cut)

    def agrees(self, answer: Rate) -> bool:
        return any(low <= answer < high for low, high in self.spans)

    @property
    def value(self) -> Fraction:
        """In seconds or bytes."""
        assert self.given
        unit = self.unit or self.said_unit
        return Fraction(self.given.value) / UNITS[unit].factor

    @property
    def times_right(self) -> Fraction | None:
        """How many times the right number it is, unless that is 0."""
        return Fraction(self.value / self.right) if self.right else None

    @property
    def said_unit(self) -> str:
        """The unit that it says, or else the handout's."""
        said = self.given.unit if self.given else ""
        return said if said and UNITS[said].kind == self.line.kind else ASKED[self.line.kind]


SIGNS = ":=~ "  # that may stand before a number
MOST_NUMBERS = 4  # of a line, that differ and are judged
SAMPLE_LACKS = "Q2", "pipeline", "traffic"  # where the handout's sample repeats two other lines


def numbers_of(line: Line, right: Rate, behind: Iterable[str]) -> list[Number]:
    """The different numbers of a line, equal ones in several spellings being one; of a line that is
    missing what stands for it."""
    found: dict[object, Number] = {}
    for text in dict.fromkeys(behind):
        try:
            number = Number(line, right, text, given(text.lstrip(SIGNS)))
            is_finite = number.given is not None and number.given.value.is_finite()
            key: object = number.value if is_finite else text
        except ValueError as error:
            verdict = Verdict(Kind.NO_NUMBER, str(error))
            number, key = Number(line, right, text, None, verdict), text
        found.setdefault(key, number)
    for number in found.values():
        number.different = len(found)
    in_sample = ", as in the handout's sample" * (line == SAMPLE_LACKS)
    missing = Number(line, right, "", None, Verdict(Kind.MISSING, f"missing{in_sample}"))
    return [*found.values()][:MOST_NUMBERS] or [missing]


# ------------------------------------------------ its form: what is not as the handout asks

Q1_HEAD = "-----Q1 single input-----"


def form_faults(
    found: Written, questions: Mapping[str, int], numbers: Sequence[Number]
) -> list[str]:
    """Of heads, of lines with numbers, and of rows that are not read."""
    quoted = [f"not read: {start(row, 60)!r}" for row in found.not_read[:MOST_QUOTED]]
    if more := len(found.not_read[MOST_QUOTED:]):
        quoted.append(f"not read: {count(more, 'more line')}")
    return [*_heads_form(questions, found.heads), *_lines_form(numbers), *quoted]


def _heads_form(questions: Mapping[str, int], heads: Mapping[str, Sequence[str]]) -> list[str]:
    faults = []
    for question, inputs in questions.items():
        wanted = Q1_HEAD if question == "Q1" else f"--------Q2 {inputs} inputs------"
        if question not in heads:
            faults.append(f"the head {wanted} is missing")
        elif _words(wanted) not in map(_words, heads[question]):
            faults.append(f"the head is {start(heads[question][0])!r}, not {wanted}")
    return faults


def _words(head: str) -> str:
    return " ".join(re.findall(r"\w+", head.lower()))


def _lines_form(numbers: Sequence[Number]) -> list[str]:
    faults: dict[str, dict[Line, None]] = {}  # the same of several lines
    for number in numbers:
        asked = ASKED[number.line.kind]
        said = number.given.unit if number.given else asked
        for fault, is_so in (
            (f"{number.different:,} different numbers in a line, not one", number.different > 1),
            (
                f"in {said!r}, not in {asked}" if said else f"no unit, where {asked} are asked for",
                said != asked,
            ),
            (f"{number.text[:1]!r} before the number", number.text.startswith((*SIGNS,))),
        ):
            if is_so:
                faults.setdefault(fault, {})[number.line] = None
    return [f"{fault}: {whose([*lines])}" for fault, lines in faults.items()]


def whose(lines: Sequence[Line]) -> str:
    """One or two by their names, or how many, with the words that they share."""
    if len(lines) <= 2:
        is_pair = len({line[:2] for line in lines}) < len(lines)
        return f"{lines[0]} and traffic" if is_pair else " and ".join(map(str, lines))
    shared = [words[0] for words in zip(*lines, strict=True) if len({*words}) == 1]
    return " ".join([str(len(lines)), *shared, "numbers"])
