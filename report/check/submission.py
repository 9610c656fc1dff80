"""What a submission says: a number for each line, and where its format is not the handout's."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from lab3 import Rate, plain
from report.check.changes import BOTH
from report.check.model import count_inputs
from report.question import Question, find_impossible
from report.text import count, quote

LEAST_DIGITS = 3  # of a number that is called right
MOST_DIGITS = 10  # of a latency: beyond, floats are noise
MOST_POWER = 100  # of ten
MOST_ROW = 300  # characters of a row that are read
MOST_QUOTED = 3  # rows
ASKED_UNIT = {"latency": "seconds", "traffic": "bytes"}


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


def list_lines(question: Question) -> list[Line]:
    """The lines that the handout asks for, without those of an impossible strategy."""
    possible = [strategy for strategy in BOTH if strategy not in find_impossible(question)]
    names = count_inputs(question)
    return [Line(name, of, kind) for name in names for of in possible for kind in ASKED_UNIT]


# ------------------------------------------------ numbers


class Unit(NamedTuple):
    """A unit of latency or of traffic."""

    kind: str
    factors: tuple[Rate, ...]  # how many are a second or a byte; one or the other may be meant
    spellings: str


UNITS = {
    "seconds": Unit("latency", (1,), "s sec secs second seconds"),
    "ms": Unit("latency", (10**3,), "ms msec millisecond milliseconds"),
    "us": Unit("latency", (10**6,), "us usec microsecond microseconds"),
    "ns": Unit("latency", (10**9,), "ns nsec nanosecond nanoseconds"),
    "bytes": Unit("traffic", (1,), "b byte bytes"),
    "kB": Unit("traffic", (Fraction(1, 10**3), Fraction(1, 2**10)), "kb kilobyte kilobytes"),
    "MB": Unit("traffic", (Fraction(1, 10**6), Fraction(1, 2**20)), "mb megabyte megabytes"),
    "GB": Unit("traffic", (Fraction(1, 10**9), Fraction(1, 2**30)), "gb gigabyte gigabytes"),
    "KiB": Unit("traffic", (Fraction(1, 2**10),), "kib kibibyte kibibytes"),
    "MiB": Unit("traffic", (Fraction(1, 2**20),), "mib mebibyte mebibytes"),
    "GiB": Unit("traffic", (Fraction(1, 2**30),), "gib gibibyte gibibytes"),
    "bits": Unit("traffic", (8,), "bit bits"),
}
SPELLINGS = {word: name for name, unit in UNITS.items() for word in unit.spellings.split()}
ONE_LETTER = str.maketrans("\u00b5\u03bc\u00d7\u2212\u00a0", "uux- ")  # micro, times, minus, space
MARKS = "*_`\"'~ \t"  # that may be around a number
NUMBER = re.compile(
    r"(?P<mantissa>[+-]?(?:(?:\d{1,3}(?:[, ]\d{3})+|\d[\d_]*)(?:\.\d*)?|\.\d+))"
    r"(?:e(?P<e>[+-]?\d{1,3})|\s*[x*]\s*10\s*(?:\^|\*\*)\s*(?P<power>[+-]?\d{1,3}))?"
    r"(?![\d_.,]*\d|e[+-]?\d)",
    re.ASCII | re.IGNORECASE,
)
ANOTHER = re.compile(r"(?<![\w.])\.?\d", re.ASCII)


class Number(NamedTuple):
    """A number of a line, or what stands there instead."""

    text: str  # without the unit
    fault: str = ""  # why it is no number; then the rest says nothing
    unit: str = ""  # as it is written: one of UNITS, or empty
    value: Fraction = Fraction(0)  # in the unit in which it is read
    digits: int = 0  # that count
    last_place: Fraction = Fraction(0)  # what the last of them counts for
    factors: tuple[Rate, ...] = (1,)  # of the unit in which it is read
    spans: tuple[tuple[Fraction, Fraction], ...] = ()  # of the answers with which it agrees

    @property
    def amount(self) -> Fraction:
        """In seconds or bytes."""
        return self.value / self.factors[0]

    @property
    def rounding(self) -> Fraction:
        """Half of what the last digit counts for, in seconds or bytes."""
        return self.last_place / 2 / self.factors[0]

    def agrees(self, answer: Rate) -> bool:
        """Whether the answer, rounded or truncated to these digits, is this number."""
        return any(low <= answer < high for low, high in self.spans)

    def has_digits(self, answer: Rate) -> bool:
        """Whether these digits are enough to say that it is an answer with which it agrees."""
        is_exact = any(self.value == answer * factor for factor in self.factors)
        return is_exact or self.digits >= LEAST_DIGITS

    def read_in(self, unit: str) -> "Number":
        """The same digits in a unit, with the answers that these are, in seconds or bytes: each
        span is from its first to before its second."""
        low, high = self.value - self.last_place / 2, self.value + self.last_place
        factors = UNITS[unit].factors
        spans = tuple((low / factor, high / factor) for factor in factors)
        return self._replace(factors=factors, spans=spans)


def read_number(text: str, kind: str) -> Number:
    """The latency or traffic with which a text begins, or why there is none."""
    text = text.translate(ONE_LETTER).lstrip(f":={MARKS}")
    match = NUMBER.match(text)
    if not match:
        return Number(text, "no number")
    behind = re.sub(r"\([^()]*\)", "", text[match.end() :]).lstrip(MARKS)  # such as (3.127 ms)
    if ANOTHER.search(behind):
        return Number(text, "not one number")
    word = re.split(r"\W", behind, maxsplit=1)[0].lower()
    if word and word not in SPELLINGS:
        return Number(text, f"{quote(word)} is no known unit")
    mantissa = re.sub("[, _]", "", match["mantissa"])
    value = Decimal(f"{mantissa}e{match['e'] or match['power'] or 0}")
    if value < 0 or (value and abs(value.adjusted()) > MOST_POWER):
        return Number(text, f"not between 1e-{MOST_POWER} and 1e{MOST_POWER}")
    unit = SPELLINGS.get(word, "")
    read_in = unit if unit and UNITS[unit].kind == kind else ASKED_UNIT[kind]
    digits = "".join(map(str, value.as_tuple().digits))
    if "." not in mantissa or read_in == "bytes":
        digits = digits.rstrip("0")
    amount = min(len(digits), MOST_DIGITS) if kind == "latency" else len(digits)
    last_place = Fraction(10) ** (value.adjusted() - amount + 1)
    return Number(match[0], "", unit, Fraction(value), amount, last_place).read_in(read_in)


def shorten(text: str) -> str:
    """A text as a cell of a table: printable ASCII, and not too much of it."""
    printable = re.sub("[^ -~]", "?", text).strip()
    return printable if len(printable) <= 24 else f"{printable[:21]}..."


# ------------------------------------------------ rows

STRATEGIES = {"tensor": "tensor", "tp": "tensor", "pipeline": "pipeline", "pp": "pipeline"}
LABEL_WORD = re.compile(
    r"total|overall|network|communication|latency|traf\w*|of|for|in|the|with|tensor|pipeline|tp|pp"
    r"|par+al+el\w*|q|question|single|one|inputs?"
)
FLAGS = re.ASCII | re.IGNORECASE
SEPARATOR = re.compile(r"\bis\b|[:=|\t]|\s(?=[-+]?\.?\d)(?!\s*\d+ +inputs?\b)", FLAGS)
LIKE_A_RESULT = re.compile(r"(?=.*\b(?:tensor|pipeline)\b).*\b(?:latency|traf[a-z]*)\b.*\d", FLAGS)
QUESTION = re.compile(r"\bq(?:uestion)?\s*([12])\b", FLAGS)
INPUTS = re.compile(r"\b(single|one|\d{1,20})\s+inputs?\b", FLAGS)


class Result(NamedTuple):
    """A row that has a line's number, or a cell of a table."""

    line: Line
    number: Number
    row: str


class Rows(NamedTuple):
    """What the rows of a text are."""

    results: dict[Line, list[Result]]
    headings: dict[str, list[str]]  # by question
    not_read: list[str]  # though they are almost results


def _read_rows(text: str, inputs: int) -> Rows:
    """Rows with results belong to the heading above them; without a heading for Q2 the second of
    two equal lines is Q2's."""
    results: list[Result] = []
    rows, question, heads = Rows({}, {}, []), "Q1", [""]
    for row in (row[:MOST_ROW].strip() for row in text.splitlines()):
        cells = [cell.strip() for cell in re.split(r"[|\t]", row.strip("|"))]
        result = _read_result(row, question, inputs)
        if own := [result] if result else _read_cells(cells, heads, question, inputs):
            results += [it._replace(row=row) for it in own]
        elif heading := _find_question(row, inputs):
            question = heading
            rows.headings.setdefault(question, []).append(row)
        elif LIKE_A_RESULT.match(row):
            rows.not_read.append(row)
        elif re.search(r"\w", row):
            heads = cells
    for result in results:
        line = result.line
        if line in rows.results and inputs > 1 and "Q2" not in rows.headings:
            line = line._replace(question="Q2")
        rows.results.setdefault(line, []).append(result)
    return rows


def _read_cells(
    cells: Sequence[str], heads: Sequence[str], below: str, inputs: int
) -> list[Result]:
    """The results in a row of a table, each labelled by the first cell and the head above it."""
    labelled = (f"{cells[0]} {head}: {it}" for head, it in zip(heads[1:], cells[1:], strict=False))
    return [result for text in labelled if (result := _read_result(text, below, inputs))]


def _read_result(text: str, below: str, inputs: int) -> Result | None:
    """The result of a text such as "Total latency of tensor parallelism is 0.1 seconds"."""
    for separator in SEPARATOR.finditer(text):
        label = text[: separator.start()].lower()
        words = re.findall("[a-z]+", label[max(label.find("total"), 0) :])
        strategies = {STRATEGIES[word] for word in words if word in STRATEGIES}
        kinds = {word[:4] for word in words} & {"late", "traf"}
        is_label = all(LABEL_WORD.fullmatch(word) or word in SPELLINGS for word in words)
        if len(strategies) == len(kinds) == 1 and is_label:
            kind = "latency" if kinds == {"late"} else "traffic"
            line = Line(_find_question(label, inputs) or below, strategies.pop(), kind)
            unit = words[-1] if words[-1] in SPELLINGS else ""  # latency (ms): 3.127
            number = read_number(f"{text[separator.end() :].strip('| ')} {unit}", kind)
            if not number.fault or "total" in words:  # "pipeline latency is longer" is no result
                return Result(line, number, text)
    return None


def _find_question(row: str, inputs: int) -> str:
    """Of which question a heading says that it is, or empty. Without Q1 or Q2 it says how many
    inputs there are, and no other number or unit."""
    if question := QUESTION.search(row):
        return f"Q{question[1]}"
    named = INPUTS.search(row)
    if not named or row.lower().startswith("what if:"):
        return ""
    words = re.findall("[a-z]+|[0-9]", (row[: named.start()] + row[named.end() :]).lower())
    if any(word.isdigit() or word in SPELLINGS for word in words):
        return ""
    amount = 1 if named[1].lower() in ("single", "one") else int(named[1])
    return {1: "Q1", inputs: "Q2"}.get(amount, "")


# ------------------------------------------------ submissions


class Submission(NamedTuple):
    """What a text says."""

    numbers: dict[Line, Number]  # without lines that are missing
    notes: list[str]  # which lines are read as others
    faults: list[str]  # where the format is not the handout's


def read_submission(text: str, question: Question) -> Submission:
    """What a text says on a question. Raises NoSubmissionError if it has no results."""
    lines, rows = list_lines(question), _read_rows(text.replace("\u00a0", " "), question.inputs)
    notes = _place_repeats(rows.results, lines)
    numbers = {line: rows.results[line][0].number for line in lines if line in rows.results}
    if all(number.fault for number in numbers.values()):
        _refuse(text, bool(rows.results))
    return Submission(numbers, notes, [*_find_faults(rows, lines, question)])


def _place_repeats(results: dict[Line, list[Result]], lines: Sequence[Line]) -> list[str]:
    """Move a repeated line with another number, as in the handout's sample of Q2, to the line that
    is missing in that question."""
    notes = []
    for line in lines:
        for repeat in results.get(line, [])[1:]:
            missing = [it for it in lines if it not in results and it.question == line.question]
            if missing and repeat.number.value != results[line][0].number.value:
                place = min(missing, key=lambda it: it.strategy != line.strategy)
                results[line].remove(repeat)
                results[place] = [repeat]
                notes.append(f"the second {line} is read as {place}, which is missing")
    return notes


PROGRAM = re.compile(r"^[ \t]*(?:import \w|from [\w.]+ import|def \w|print ?\()", re.M | re.ASCII)
PIPE = "python3 YOURS | python3 report check"


def _refuse(text: str, has_lines: bool) -> None:
    """Raise NoSubmissionError for a text without a number, unless it has lines."""
    if not text.strip():
        raise NoSubmissionError("is empty", "did your program fail?")
    if text.startswith("%PDF"):
        raise NoSubmissionError("is a PDF", f"check what your program prints: {PIPE}")
    if PROGRAM.search(text):
        raise NoSubmissionError("is a program", PIPE)
    if not has_lines:
        wanted = "lines like 'Total latency of tensor parallelism is 0.1 seconds' are read"
        raise NoSubmissionError("has no result lines", wanted)


# ------------------------------------------------ the handout's format


def _find_faults(rows: Rows, lines: Sequence[Line], question: Question) -> Iterator[str]:
    """Where headings and lines are not the handout's, and what to print instead."""
    for name, inputs in count_inputs(question).items():
        many = f"--------Q2 {inputs} inputs------"
        wanted = "-----Q1 single input-----" if name == "Q1" else many
        headings = rows.headings.get(name, [])
        if wanted not in headings:
            amounts = re.findall(r"\b(\d{1,6}) inputs?\b", " ".join(headings), FLAGS)
            other = next((it for it in amounts if name == "Q2" and int(it) != inputs), "")
            hint = f"; if your course asks for {other}: --inputs {other}" if other else ""
            yield f"the heading {wanted} is missing{hint}"
    others = {}
    for line in lines:
        results = rows.results.get(line, [])
        if len(results) > 1:
            is_same = len({it.number.value for it in results}) == 1
            yield f"{line}: {'more than once' if is_same else 'two different numbers'}"
        for _, number, row in results[:1]:
            if not number.fault and row != format_line(line, number.text):
                is_asked_unit = number.unit in ("", ASKED_UNIT[line.kind])
                text = number.text if is_asked_unit else plain(number.amount, MOST_DIGITS)
                others[line] = format_line(line, text)
    if others:
        example = next(iter(others.values()))
        yield f"{describe_lines([*others])}: other words, signs or units; print {example!r}"
    extra = [results[0].row for line, results in rows.results.items() if line not in lines]
    extra += rows.not_read
    yield from (f"extra line: {row[:60]!a}" for row in extra[:MOST_QUOTED])
    if more := len(extra[MOST_QUOTED:]):
        yield count(more, "more extra line")


def format_line(line: Line, number: str) -> str:
    """A line as the handout asks for it."""
    quantity = "latency" if line.kind == "latency" else "network traffic"
    unit = ASKED_UNIT[line.kind]
    return f"Total {quantity} of {line.strategy} parallelism is {number} {unit}"


def describe_lines(lines: Sequence[Line]) -> str:
    """One or two by their names, or how many, with the words that they share."""
    if len(lines) <= 2:
        return " and ".join(map(str, lines))
    shared = [words[0] for words in zip(*lines, strict=True) if len({*words}) == 1]
    return " ".join([str(len(lines)), *shared, "numbers"])
