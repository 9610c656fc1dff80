"""How an output is read: the number of each line that is asked for, and a diff of the format.

A row is read only if it is a result or a heading and says nothing else.
"""

import re
from collections.abc import Collection, Sequence
from decimal import Decimal
from difflib import SequenceMatcher
from fractions import Fraction
from functools import cache
from itertools import product
from typing import NamedTuple

import lab3
from lab3 import Rate
from report.question import Question, prefix_question
from report.text import COLUMNS, count, wrap

LEAST_DIGITS = 3  # of a number that is called right
MOST_DIGITS = 10  # that count: beyond, floats are noise
MOST_ROW = 200  # characters of a row that is read
MOST_SHOWN = 10  # rows of the diff
ROOM = COLUMNS - 2  # behind the marks of the diff
ASKED_UNIT = {"latency": "seconds", "traffic": "bytes"}
PIPE = "python3 YOURS | python3 report check"


class NoSubmissionError(ValueError):
    """A text that cannot be judged: what it is, and what to do."""

    def __init__(self, what: str, advice: str):
        super().__init__(f"text {what}; {advice}")
        self.what, self.advice = what, advice


class Line(NamedTuple):
    """What a line of the answers is about."""

    question: str  # Q1 or Q2
    strategy: str
    kind: str  # latency or traffic

    def __str__(self) -> str:
        return " ".join(self)


def list_lines(question: Question, impossible: Collection[str]) -> list[Line]:
    """List the lines that the handout asks for, without those of impossible strategies."""
    names = ("Q1", "Q2") if question.inputs > 1 else ("Q1",)
    possible = [it for it in ("tensor", "pipeline") if it not in impossible]
    return [
        Line(name, strategy, kind) for name in names for strategy in possible for kind in ASKED_UNIT
    ]


def describe_lines(lines: Sequence[Line]) -> str:
    """Name one or two lines, or say how many there are, with the words that they share."""
    if len(lines) <= 2:
        return " and ".join(map(str, lines))
    shared = [words[0] for words in zip(*lines, strict=True) if len({*words}) == 1]
    return " ".join([str(len(lines)), *shared, "numbers"])


def shorten(text: str, most: int = 24) -> str:
    """Make a text printable ASCII of so many characters or fewer."""
    printable = re.sub("[^ -~]", "?", text[: most + 1]).strip()
    return printable if len(printable) <= most else f"{printable[: most - 3]}..."


# ------------------------------------------------ numbers

UNITS: dict[str, tuple[str, str, list[Rate]]] = {
    "seconds": ("latency", "s sec secs second seconds", [1]),
    "ms": ("latency", "ms msec millisecond milliseconds", [Fraction(1, 10**3)]),
    "us": ("latency", "us usec microsecond microseconds", [Fraction(1, 10**6)]),
    "ns": ("latency", "ns nsec nanosecond nanoseconds", [Fraction(1, 10**9)]),
    "bytes": ("traffic", "b byte bytes", [1]),
    "KB": ("traffic", "kb kilobyte kilobytes", [10**3, 2**10]),
    "MB": ("traffic", "mb megabyte megabytes", [10**6, 2**20]),
    "GB": ("traffic", "gb gigabyte gigabytes", [10**9, 2**30]),
    "KiB": ("traffic", "kib kibibyte kibibytes", [2**10]),
    "MiB": ("traffic", "mib mebibyte mebibytes", [2**20]),
    "GiB": ("traffic", "gib gibibyte gibibytes", [2**30]),
    "bits": ("traffic", "bit bits", [Fraction(1, 8)]),
}  # what they measure, how they are spelt, and how many seconds or bytes they are: one or the other
SPELLINGS = {word: name for name, (_, spelt, _) in UNITS.items() for word in spelt.split()}
WHOLE = ("bytes", "bits")  # whole numbers of them are exact
LEAST = Fraction(1, 10**200)  # the last place of a zero, with which nothing else agrees
ONE_LETTER = str.maketrans("\u00b5\u03bc\u2212\u00a0", "uu- ")  # micro, mu, minus, space
FLAGS = re.ASCII | re.IGNORECASE
NUMBER = (
    r"(?P<mantissa>(?:\d{1,3}(?:,\d{3})+|\d{1,3}(?:_\d{3})+|\d+)(?:\.\d*)?|\.\d+)"
    r"(?P<power>e[+-]?0?\d\d?)?"  # of two digits: any such number is computed with at once
)
AMOUNT = re.compile(rf"(-?(?:{NUMBER}|nan|inf)|none|x*) ?(?P<unit>[a-z]*)", FLAGS)
PLAIN = re.compile(r"\d*\.?\d+", re.ASCII)


class Number(NamedTuple):
    """A number of a line, or what is there instead."""

    text: str = ""  # as it is written, without its unit
    fault: str = ""  # why it is no number; then the rest says nothing
    unit: str = ""  # as it is written: one of UNITS, or empty
    digits: int = 0  # that count
    amounts: tuple[Rate, ...] = (0,)  # in seconds or bytes: one of them is meant
    rounding: Fraction = Fraction(0)  # half of what the last digit counts for
    spans: tuple[tuple[Fraction, Fraction], ...] = ()  # of the answers with which it agrees

    @property
    def amount(self) -> Fraction:
        """The number in seconds or bytes, where 1 KB is 1,000 bytes."""
        return Fraction(self.amounts[0])

    def agrees(self, answer: Rate) -> bool:
        """Tell whether the answer, rounded or truncated to these digits, is this number."""
        return any(low <= answer < high for low, high in self.spans)

    def equals(self, other: "Number") -> bool:
        """Tell whether one of two numbers agrees with the other."""
        return self.agrees(other.amount) or other.agrees(self.amount)

    def has_digits(self, answer: Rate) -> bool:
        """Tell whether the digits suffice to call this number an answer with which it agrees."""
        return answer in self.amounts or self.digits >= LEAST_DIGITS


def _read_value(text: str, kind: str) -> Number | None:
    """Read an amount, perhaps with the same once more behind it: 0.0031 s (3.1 ms)."""
    first, bracket, again = text.removesuffix(".").partition("(")
    number = _read_amount(first.strip(), kind)
    if not number or not bracket:
        return number
    same = _read_amount(again.removesuffix(")"), kind) if again.endswith(")") else None
    pairs = product(number.spans, same.spans if same else ())
    return number if any(max(a, c) < min(b, d) for (a, b), (c, d) in pairs) else None


def _read_amount(text: str, kind: str) -> Number | None:
    """Read a number, perhaps with a unit of this kind, and no more."""
    match = AMOUNT.fullmatch(text)
    word = match["unit"] if match else ""
    name = SPELLINGS.get(word.lower(), "") if word else ASKED_UNIT[kind]
    if not match or not name or UNITS[name][0] != kind or re.fullmatch("[KMG]b", word):  # bits
        return None
    number = Number(match[1], unit=name if word else "")
    if not match["mantissa"] or number.text.startswith("-"):
        return number._replace(fault="negative" if match["mantissa"] else "no number")
    mantissa, power = re.sub("[,_]", "", match["mantissa"]), match["power"] or ""
    value = Decimal(mantissa + power)
    written = "".join(map(str, value.as_tuple().digits)).lstrip("0")
    digits = min(len(written if "." in mantissa else written.rstrip("0")), MOST_DIGITS)
    is_exact = name in WHOLE and (mantissa + power).isdigit()
    last_place = Fraction(1) if is_exact else Fraction(10) ** (value.adjusted() - digits + 1)
    low, high = Fraction(value) - last_place / 2, Fraction(value) + last_place
    if not value:
        low, high = Fraction(0), LEAST
    sizes = [Fraction(size) for size in UNITS[name][2]]
    return number._replace(
        digits=digits,
        amounts=tuple(Fraction(value) * size for size in sizes),
        rounding=last_place / 2 * sizes[0],
        spans=tuple((low * size, high * size) for size in sizes),
    )


# ------------------------------------------------ rows

SPELT = {"tensor": "tensor", "tp": "tensor", "pipeline": "pipeline", "pp": "pipeline"}
OTHER_WORDS = {
    "latency": {"total", "of", "for", "with", "the", "in", "parallelism", "parallel"},
    "traffic": {"network", "communication"},
}
RESULT = re.compile(r"(?:[-*] |\d{1,3}\. )?([a-z -]+?)(?: is ?[:=]?| ?[:=]) ?(\S.*|)", FLAGS)
ASIDE = r"(?:for |a |the |results? |part \d+ )*"
ASKED = r"(?:q(?:uestion)? ?(\d+)|(single|one|\d+) inputs?) "
HEADING = re.compile(rf"{ASIDE}{ASKED}{ASIDE}(?:{ASKED}{ASIDE})?", FLAGS)


class Row(NamedTuple):
    """A row that is not blank."""

    text: str
    about: Line | str  # a result's line, of a heading its question alone, or else the text
    label: str = ""
    number: Number = Number()


def _read_rows(text: str, inputs: int) -> list[Row]:
    """Read the rows of a text, whose results are those of the question above them."""
    rows, question = [], "Q1"
    read = cache(_read_row)  # a long text may have one row very often
    for row in filter(None, map(str.strip, text.split("\n"))):
        rows.append(read(row, question, inputs))
        if isinstance(about := rows[-1].about, Line):
            question = about.question
    return rows


def _read_row(row: str, question: str, inputs: int) -> Row:
    words = " ".join(row.split()) if len(row) <= MOST_ROW else ""
    if heading := _read_heading(words, inputs):
        return Row(row, Line(heading, "", ""))
    return _read_result(words, row, question) or Row(row, row)


def _read_heading(words: str, inputs: int) -> str:
    """Tell of which question a heading is: Q1, Q2, another one, or none; empty for other rows."""
    words = re.sub(r"[\W_]+", " ", words).strip().lower() + " "
    match = HEADING.match(words)
    if not match or (match.end() < len(words) and match[1] in (None, "1", "2")):
        return ""  # what says more is no heading, but "Q3: on a ring" ends those before
    numbers = {f"Q{number}" for number in match.group(1, 3) if number}
    amounts = {re.sub("single|one", "1", amount) for amount in match.group(2, 4) if amount}
    asked = {f"{inputs}": "Q2", "1": "Q1"}
    found = numbers or {asked.get(amount, "none") for amount in amounts}
    return found.pop() if len(found) == 1 else "none"


def _read_result(words: str, row: str, question: str) -> Row | None:
    """Read a result such as "Total latency of tensor parallelism is 0.1 seconds"."""
    if not (match := RESULT.fullmatch(words)):
        return None
    label = match[1].lower().replace("-parallel", " parallel")
    parts = {*label.split()}
    strategies, kinds = parts & SPELT.keys(), parts & ASKED_UNIT.keys()
    if len({SPELT[word] for word in strategies}) != 1 or len(kinds) != 1:
        return None
    strategy, kind = SPELT[strategies.pop()], kinds.pop()
    if parts - {*SPELT, kind} - OTHER_WORDS["latency"] - OTHER_WORDS[kind]:
        return None
    number = _read_value(match[2], kind)
    return Row(row, Line(question, strategy, kind), label, number) if number else None


def _place_rows(rows: Sequence[Row], lines: Sequence[Line]) -> tuple[list[Row], list[str]]:
    """Leave each line and heading to one row, the first, and tell which rows are read as others.

    Without a heading for Q2, the second of two rows with one label is Q2's. If one label has two
    numbers, as in the handout's sample, and the other strategy has none, the second is its.
    """
    found: dict[Line, list[int]] = {}
    has_q2 = any(row.about == Line("Q2", "", "") for row in rows)
    for place, row in enumerate(rows):
        if isinstance(line := row.about, Line):
            is_repeat = line in found and row.label == rows[found[line][0]].label
            if is_repeat and line.question == "Q1" and not has_q2:
                line = line._replace(question="Q2")
            found.setdefault(line, []).append(place)
    notes = []
    for line, places in [*found.items()]:
        places.sort(key=lambda place: bool(rows[place].number.fault))
        others = [it for it in lines if it not in found and it[::2] == line[::2]]
        numbers = [place for place in places if others and not rows[place].number.fault]
        firsts = {rows[place].number.amount: place for place in reversed(numbers)}
        if len(firsts) == 2 and len({rows[place].label for place in firsts.values()}) == 1:
            found[others[0]] = [max(firsts.values())]
            notes.append(f"the second {line} is read as {others[0]}, which is missing")
    counts = {places[0]: line for line, places in found.items()}
    return [
        row if row.about == row.text else row._replace(about=counts.get(place, row.text))
        for place, row in enumerate(rows)
    ], notes


# ------------------------------------------------ submissions

PROGRAM = re.compile(r"^(?:import \w|from [\w.]+ import\b|def \w|print ?[(\"'])", re.M | re.ASCII)
ERROR = re.compile(r"^(?:\w+\.)*\w+(?:Error|Exception|Interrupt)\b(?::.*)?$", re.M | re.ASCII)


class Submission(NamedTuple):
    """What a text says."""

    numbers: dict[Line, Number]  # without lines that are missing
    notes: list[str]  # which lines are read as others, and how the program failed
    format: list[str]  # the rows of a diff; none if the format is the handout's
    unread: dict[Line, str]


def read_submission(text: str, question: Question, impossible: Collection[str] = ()) -> Submission:
    """Read what somebody's lab3.py printed. Raises NoSubmissionError for a text without results."""
    text = "\n".join(text.translate(ONE_LETTER).splitlines())
    _check_output(text)
    answers = _read_rows(lab3.answers(*question), question.inputs)
    remarks = _list_remarks(question, answers)
    read = [row for row in _read_rows(text, question.inputs) if row.text not in remarks]
    lines = list_lines(question, impossible)
    rows, notes = _place_rows(read, lines)
    own = {row.about: row for row in rows}
    numbers = {line: own[line].number for line in lines if line in own}
    errors = ERROR.findall(text)
    failure = [f"your program failed: {shorten(it, 100).rstrip('.')}" for it in errors[-1:]]
    if not numbers:
        example = f"Total latency of {lines[0].strategy} parallelism is 0.1 seconds"
        raise NoSubmissionError("has no results", *failure or [f"rows like {example!r} are read"])
    wanted = [row for row in answers if isinstance(row.about, Line)]
    wanted = [_want(row, own.get(row.about, Row("", ""))) for row in wanted]
    return Submission(numbers, notes + failure, _compare(rows, wanted), {})


def _check_output(text: str) -> None:
    """Raise NoSubmissionError for what no lab3.py printed."""
    if not text.strip():
        raise NoSubmissionError("is empty", "did your program fail?")
    if text.lstrip().startswith("%PDF"):
        raise NoSubmissionError("is a PDF", "check reads what a program prints, not a report")
    if PROGRAM.search(text):
        raise NoSubmissionError("is a program", PIPE)


# ------------------------------------------------ the handout's format


def _list_remarks(question: Question, answers: Sequence[Row]) -> set[str]:
    """List the rows beside answers, as lab3.py and as `whatif` print them: what is asked if not the
    lab, and which strategy is impossible."""
    reasons = [row.text for row in answers if row.about == row.text]
    wrapped = prefix_question(question, "\n".join(wrap(it, "  ") for it in reasons), "\n")
    return {*reasons, *map(str.strip, wrapped.splitlines())}


def _want(row: Row, own: Row) -> Row:
    """Write a row of the answers with one's own number, if that can stand there, else with dots."""
    if not row.label:
        return row
    dots = row.text.replace(f" {row.number.text} ", " ... ")
    written = dots.replace("...", own.number.text)
    is_asked = PLAIN.fullmatch(own.number.text) and own.number.unit in ("", row.number.unit)
    fits = len(written) <= ROOM or written == own.text
    return row._replace(text=written if is_asked and fits else dots)


def _compare(own: Sequence[Row], wanted: Sequence[Row]) -> list[str]:
    """List the rows that differ, aligned by what they are about, each with a row around it."""
    rows: list[tuple[str, str]] = []
    abouts = [row.about for row in own], [row.about for row in wanted]
    for tag, first, last, start, end in SequenceMatcher(None, *abouts, False).get_opcodes():
        if tag == "equal":  # in what they are about
            for row, other in zip(own[first:last], wanted[start:end], strict=True):
                is_same = row.text == other.text
                rows += [("  ", row.text)] if is_same else [("- ", row.text), ("+ ", other.text)]
        else:
            rows += [("- ", row.text) for row in own[first:last]]
            rows += [("+ ", row.text) for row in wanted[start:end]]
    shown = [
        row
        for place, row in enumerate(rows)
        if any(mark != "  " for mark, _ in rows[max(place - 1, 0) : place + 2])
    ]
    more = [f"  and {count(len(shown) - MOST_SHOWN, 'more row')}"] if shown[MOST_SHOWN:] else []
    return [mark + shorten(row, ROOM) for mark, row in shown[:MOST_SHOWN]] + more


def decode(data: bytes) -> str:
    return data.decode("utf-8-sig", "replace")
