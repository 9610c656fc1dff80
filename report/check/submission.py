"""How an output is read: the number of each line that is asked for, and a diff of the format.

A row is read only if it is a result or a heading and says nothing else.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence
from decimal import Decimal
from difflib import unified_diff
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import lab3
from lab3 import Rate
from report.question import Question, answer, prefix_question
from report.text import COLUMNS, count

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

    question: str = ""  # Q1 or Q2
    strategy: str = ""
    kind: str = ""  # latency or traffic

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
    shared = [words[0] for words in zip(*lines, strict=True) if len({*words}) == 1]
    many = " ".join([str(len(lines)), *shared, "numbers"])
    return many if lines[2:] else " and ".join(map(str, lines))


def shorten(text: str, most: int = 24) -> str:
    """Make a text printable ASCII of so many characters or fewer."""
    printable = re.sub("[^ -~]", "?", text[: most + 1]).strip()
    return printable if len(printable) <= most else f"{printable[: most - 3]}..."


# ------------------------------------------------ text

ZEROS = {"utf-32-le": ".000", "utf-32-be": "000.", "utf-16-le": ".0.0", "utf-16-be": "0.0."}
ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\a\x1b\n]*(?:\a|\x1b\\))")  # CSI, OSC
ONE_LETTER = str.maketrans("\u00b5\u03bc\u2212\u00a0", "uu- ")  # micro, mu, minus, space


def decode(data: bytes) -> str:
    """Decode UTF-16 and UTF-32 by their mark or where they have zero bytes, UTF-8, or cp1252."""
    zeros = "".join(".0"[4 * data[at::4].count(0) > len(data) // 4] for at in range(4))
    for encoding, pattern in ZEROS.items():
        if zeros == pattern or data.startswith("\ufeff".encode(encoding)):
            return _clean(data.decode(encoding, "replace"))
    try:
        return _clean(data.decode())
    except UnicodeDecodeError:
        return _clean(data.decode("cp1252", "replace"))


def _clean(text: str) -> str:
    """Drop zero bytes, invisible characters such as byte order marks, and terminal escapes."""
    dropped = {char for char in {*text} if char == "\0" or unicodedata.category(char) == "Cf"}
    return ESCAPE.sub("", text.translate({ord(char): None for char in dropped}))


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
Span = tuple[Fraction, Fraction]  # the least, and what is greater than all
WHOLE = ("bytes", "bits")  # whole numbers of them are exact
LEAST = Fraction(1, 10**200)  # the last place of a zero, with which nothing else agrees
FLAGS = re.ASCII | re.IGNORECASE
POWER = r"(?P<power>e[+-]?0?\d\d?)?"  # of two digits: any such number is computed with at once
AMOUNT = re.compile(
    rf"(-?(?:(?P<mantissa>[\d.,_]+){POWER}|nan|inf)|none|x*) ?(?P<unit>[a-z]*)", FLAGS
)
THOUSANDS = re.compile(r"[1-9]\d{0,2}([,_.])\d{3}(?:\1\d{3})*(?:(?!\1)\.\d*)?")
DECIMAL = re.compile(r"\d+(?:\.\d*|,\d+)?|\.\d+")
PLAIN = re.compile(r"\d*\.?\d+")


class Number(NamedTuple):
    """A number of a line, or what is there instead."""

    text: str = ""  # as it is written, without its unit
    fault: str = ""  # why it is no number; then the rest says nothing
    unit: str = ""  # as it is written: one of UNITS, or empty
    digits: int = 0  # that count, of the first amount
    amounts: tuple[Rate, ...] = (0,)  # in seconds or bytes: one of them is meant
    rounding: Fraction = Fraction(0)  # half of what the last digit counts for, of the first amount
    spans: tuple[Span, ...] = ()  # of the answers with which it agrees

    @property
    def amount(self) -> Fraction:
        """The first of the amounts, where 1 KB is 1,000 bytes."""
        return Fraction(self.amounts[0])

    def agrees(self, answer: Rate) -> bool:
        """Tell whether the answer, rounded or truncated to these digits, is this number."""
        return any(low <= answer < high for low, high in self.spans)

    def equals(self, other: "Number") -> bool:
        """Tell whether one of two numbers agrees with the other."""
        return any(map(self.agrees, other.amounts)) or any(map(other.agrees, self.amounts))

    def has_digits(self, answer: Rate) -> bool:
        """Tell whether the digits suffice to call this number an answer with which it agrees."""
        return answer in self.amounts or self.digits >= LEAST_DIGITS


def _read_amount(text: str, kind: str, unit: str = "") -> Number | None:
    """Read a number, perhaps with a unit of this kind before or behind it, and no more."""
    match = AMOUNT.fullmatch(text)
    word = (match["unit"] or unit) if match else ""
    name = SPELLINGS.get(word.lower(), "") if word else ASKED_UNIT[kind]
    is_other = (unit and word != unit) or re.fullmatch("[KMG]b", word)  # bits
    if not match or is_other or not name or UNITS[name][0] != kind:
        return None
    number = Number(match[1], unit=name if word else "")
    if not match["mantissa"]:
        return number._replace(fault="no number")
    written = _list_meanings(match["mantissa"], match["power"] or "", name)
    if not written or number.text.startswith("-"):
        return number._replace(fault="negative") if written else None
    ways = [_measure(it, name, Fraction(size)) for it in written for size in UNITS[name][2]]
    amounts, spans, digits, roundings = zip(*ways, strict=True)
    return number._replace(amounts=amounts, spans=spans, digits=digits[0], rounding=roundings[0])


def _list_meanings(mantissa: str, power: str, unit: str) -> list[str]:
    """List what separators may mean: groups of thousands, then a decimal point or comma."""
    groups = None if power else THOUSANDS.fullmatch(mantissa)
    has_groups = groups and (groups[1] != "." or unit in WHOLE)  # 3.127 ms are never 3127 ms
    whole = [mantissa.replace(groups[1], "")] if groups and has_groups else []
    return whole + ([mantissa.replace(",", ".") + power] if DECIMAL.fullmatch(mantissa) else [])


def _measure(written: str, unit: str, size: Fraction) -> tuple[Fraction, Span, int, Fraction]:
    """Measure a number such as 3.1e-3: amount, span, digits and rounding, as a Number has them."""
    value = Decimal(written)
    counted = "".join(map(str, value.as_tuple().digits)).lstrip("0")
    digits = min(len(counted if "." in written else counted.rstrip("0")), MOST_DIGITS)
    is_exact = unit in WHOLE and written.isdigit()
    place = size * (1 if is_exact else Fraction(10) ** (value.adjusted() - digits + 1))
    amount = Fraction(value) * size
    span = (amount - place / 2, amount + place) if amount else (amount, LEAST)
    return amount, span, digits, place / 2


# ------------------------------------------------ rows

SPELT = {"tensor": "tensor", "tp": "tensor", "pipeline": "pipeline", "pp": "pipeline"}
OTHER_WORDS = {"total", "of", "for", "with", "the", "in", "parallelism", "parallel"}
WORDS_OF = {"latency": {"latency"}, "traffic": {"traffic", "network", "communication"}}
RESULT = re.compile(
    r"(?:[-*] |\d{1,3}\. |q(?:uestion)? ?(?P<question>[12])(?:: ?| ))?(?P<label>[a-z -]+?)"
    r"(?: ?\((?P<unit>[a-z]+)\))?(?: is ?[:=]?| ?[:=]) ?"
    r"(?P<amount>[^()]*?)(?: ?\((?P<again>[^()]*)\))?\.?",
    FLAGS,
)
ASIDE = r"(?:for |a |the |results? |part \d+ )*"
ASKED = r"(?:q(?:uestion)? ?(\d+)|(single|one|\d+) inputs?) "
NO_Q2 = "no heading of Q2 is read; of two rows with one label the second is taken as Q2's"
HEADING = re.compile(rf"{ASIDE}{ASKED}{ASIDE}(?:{ASKED}{ASIDE})?", FLAGS)


class Row(NamedTuple):
    """Hold a row that is not blank, and what it says."""

    text: str
    about: Line = Line()  # what it is or seems to be about, of a heading the question alone
    is_headed: bool = False  # whether a heading or the row itself says the question
    label: str = ""  # of a result
    number: Number = Number()


def _read_rows(text: str, inputs: int) -> list[Row]:
    """Read the rows of a text, whose results are those of the question above them."""
    rows: list[Row] = []
    question = ""
    for row in filter(None, map(str.strip, text.split("\n"))):
        rows.append(_read_row(row, question, inputs))
        if rows[-1].is_headed and not rows[-1].about.kind:
            question = rows[-1].about.question
    return rows


@lru_cache(maxsize=1000)  # a long text, or a class, may have one row very often
def _read_row(text: str, question: str, inputs: int) -> Row:
    """Read a heading, or a result such as "Total latency of tensor parallelism is 0.1 seconds"."""
    words = " ".join(text.split()) if len(text) <= MOST_ROW else ""
    if heading := _read_heading(words, inputs):
        return Row(text, Line(heading), True)
    match = RESULT.fullmatch(words)
    if match and match["question"]:
        question = f"Q{match['question']}"
    about = _find_line(words, question or "Q1")
    if not match or not about.kind:
        return Row(text, about)
    number = _read_amount(match["amount"], about.kind, match["unit"] or "")
    again = _read_amount(match["again"], about.kind) if match["again"] is not None else number
    label = match["label"].lower().replace("-parallel", " parallel")
    is_known = {*label.split()} <= {*SPELT, *OTHER_WORDS, *WORDS_OF[about.kind]}
    if not number or not again or not is_known or not (number is again or number.equals(again)):
        return Row(text, about)
    return Row(text, about, bool(question), label, number)


def _read_heading(words: str, inputs: int) -> str:
    """Tell of which question a heading is: Q1, Q2, another one, or none; empty for other rows."""
    words = re.sub(r"[\W_]+", " ", words).strip().lower() + " "
    match = HEADING.match(words)
    if not match or (match.end() < len(words) and match[1] in (None, "1", "2")):
        return ""  # what says more is no heading, but "Q3: on a ring" ends those before
    asked = {f"{inputs}": "Q2", "1": "Q1", "single": "Q1", "one": "Q1"}
    found = {f"Q{number}" for number in match.group(1, 3) if number}
    found |= {asked.get(amount, "none") for amount in match.group(2, 4) if amount}
    return found.pop() if len(found) == 1 else "none"


def _find_line(words: str, question: str) -> Line:
    """Find the line that a row with words of one strategy and one kind seems to be about."""
    parts = {*re.findall("[a-z]+", words.lower())}
    strategies, kinds = {SPELT[word] for word in parts & SPELT.keys()}, parts & ASKED_UNIT.keys()
    is_one = len(strategies) == len(kinds) == 1
    return Line(question, strategies.pop(), kinds.pop()) if is_one else Line()


def _place_rows(rows: Sequence[Row], lines: Sequence[Line]) -> tuple[dict[Line, Row], list[str]]:
    """Find the row of each line, the first below a heading or else the first, and note the others.

    Without a heading of Q2 the second of two rows with one label is its. If one label has two
    numbers, as in the handout's sample, and the other strategy has none, the second is its.
    """
    found: dict[Line, list[Row]] = {}
    headed = {row.about for row in rows if row.is_headed}
    has_q2 = any(line.question == "Q2" for line in headed)
    notes = []
    for row in rows:
        line = row.about
        if row.label and (row.is_headed or line not in headed):
            is_repeat = line in found and row.label == found[line][0].label
            is_of_q1 = row.text.lower().startswith("q")  # such as "Q1: TP latency: 3"
            if is_repeat and line.question == "Q1" and not has_q2 and not is_of_q1:
                line = line._replace(question="Q2")
                notes = [NO_Q2] * any(about.question == "Q1" for about in headed)
            found.setdefault(line, []).append(row)
    own = {}
    for line in (line for line in lines if line in found):
        numbers = [row for row in found[line] if not row.number.fault] or found[line]
        first = own[line] = numbers[0]
        others = [row for row in numbers if row.number.amount != first.number.amount]
        lacking = [other for other in lines if other not in found and other[::2] == line[::2]]
        is_one = len({row.number.amount for row in others}) == 1
        if lacking and is_one and others[0].label == first.label:
            own[lacking[0]] = others[0]
            notes.append(f"the second {line} is read as {lacking[0]}, which is missing")
        elif others:
            notes.append(f"{line} is printed {len(numbers)} times; the first counts")
    return own, notes


# ------------------------------------------------ submissions

CODE = r"(?:import \w|from [\w.]+ import\b|def \w|print ?[(\"'])"
REFUSED = {  # a text that matches: what it is, and what to do
    r"\Z": ("is empty", "did your program fail?"),
    r"\s*%PDF": ("is a PDF", "check reads what a program prints, not a report"),
    rf"(?:.*\n)*{CODE}": ("is a program", PIPE),
}
FAILURE = re.compile(r"^Traceback \(most recent call last\):\n(?:(?:[ \t].*)?\n)*(\S.*)", re.M)


class Submission(NamedTuple):
    """What a text says."""

    numbers: dict[Line, Number]  # without lines that are missing
    unread: dict[Line, str]  # a row that seems to be about a line that is missing
    notes: list[str]  # which lines have several numbers, and how the program failed
    format: list[str]  # the rows of a diff; none if the format is the handout's


def read_submission(text: str, question: Question, impossible: Collection[str] = ()) -> Submission:
    """Read what somebody's lab3.py printed. Raises NoSubmissionError for a text without results."""
    text = "\n".join(_clean(text).translate(ONE_LETTER).rstrip().splitlines())
    for pattern, why in REFUSED.items():
        if re.match(pattern, text):
            raise NoSubmissionError(*why)
    answers = lab3.answers(*question)
    whatif = prefix_question(question, answer(question), "\n")
    remarks = {row.strip() for row in f"{answers}\n{whatif}".splitlines()}  # beside the answers
    rows = _read_rows(text, question.inputs)
    rows = [row for row in rows if row.about != Line() or row.text not in remarks]
    lines = list_lines(question, impossible)
    own, notes = _place_rows(rows, lines)
    errors = FAILURE.findall(text)
    failure = [f"your program failed: {shorten(it, 100).rstrip('.')}" for it in errors[-1:]]
    if not own:
        last = shorten(text.split("\n")[-1].strip(), 100)
        raise NoSubmissionError("has no results", *failure or [f"it ends with: {last}"])
    unread = {row.about: row.text for row in reversed(rows) if not row.label}
    wanted = [row for row in _read_rows(answers, question.inputs) if row.about != Line()]
    return Submission(
        {line: own[line].number for line in lines if line in own},
        {line: unread[line] for line in lines if line in unread and line not in own},
        notes + failure,
        _compare([row.text for row in rows], [_want(row, own) for row in wanted]),
    )


# ------------------------------------------------ the handout's format


def _want(row: Row, own: dict[Line, Row]) -> str:
    """Write a row of the answers with one's own number, if that can stand there, else with dots."""
    text, *_, number = own.get(row.about, Row(""))
    dots = row.text.replace(f" {row.number.text} ", " ... ") if row.label else row.text
    written = dots.replace("...", number.text)
    is_plain = PLAIN.fullmatch(number.text) and len(number.amounts) == 1
    is_asked = is_plain and number.unit in ("", row.number.unit)
    return written if is_asked and (len(written) <= ROOM or written == text) else dots


def _compare(own: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """List the rows that differ, each with a row around it; of many, those that are wanted."""
    diff = [*unified_diff(wanted, own, n=1, lineterm="")][2:]  # without its headers
    rows = [row for row in diff if not row.startswith("@@")]
    marks = {"-": "+", "+": "-", " ": " "}
    more = [f"  and {count(len(rows) - MOST_SHOWN, 'more row')}"] if rows[MOST_SHOWN:] else []
    return [f"{marks[row[0]]} {shorten(row[1:], ROOM)}" for row in rows[:MOST_SHOWN]] + more
