"""How an output is read: by its words.

A row is a result, a heading of the rows below it, or neither. A result says a strategy, a kind, a
number and nothing else; what it leaves open, headings say. Unread is better than misread.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from difflib import unified_diff
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from typing import NamedTuple

import lab3
from lab3 import Rate
from report.model import STRATEGIES
from report.question import Question, prefix_question
from report.text import COLUMNS, count
from report.whatif import answer

LEAST_DIGITS = 3  # of a number that is called right
MOST_DIGITS = 10  # that count: beyond, floats are noise
MOST_CHARACTERS = 200  # of a row that is read
MOST_SHOWN = 10  # rows of the diff
ASKED_UNIT = {"latency": "seconds", "traffic": "bytes"}
NO_Q2 = "no heading of Q2 is read; of two rows with one label the second is taken as Q2's"
HOW_TO_RUN = "python3 YOURS | python3 report check"
EXAMPLE = "such as this is read: Total latency of tensor parallelism is 0.1 seconds"


class NoSubmissionError(ValueError):
    """A text that cannot be judged: what it is, and what to do."""

    def __init__(self, what: str, advice: str):
        super().__init__(f"text {what}; {advice}")
        self.what, self.advice = what, advice


class Line(NamedTuple):
    """A line of the answers. (A text has rows.)"""

    question: str  # Q1 or Q2
    strategy: str
    kind: str  # latency or traffic

    def __str__(self) -> str:
        return " ".join(self)


def list_lines(question: Question, impossible: Collection[str]) -> list[Line]:
    """List the lines that the handout asks for, without those of impossible strategies."""
    names = ("Q1", "Q2") if question.inputs > 1 else ("Q1",)
    possible = [strategy for strategy in STRATEGIES if strategy not in impossible]
    return [Line(*words) for words in product(names, possible, ASKED_UNIT)]


def shorten(text: str, most: int = 24) -> str:
    """Make a text printable ASCII of so many characters or fewer."""
    printable = re.sub("[^ -~]", "?", text[: most + 1]).strip()
    return printable if len(printable) <= most else f"{printable[: most - 3]}..."


# ------------------------------------------------ text

ESCAPE = re.compile(  # CSI; OSC, DCS and other strings; the rest
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[]PX^_][^\a\x1b\n]*(?:\a|\x1b\\)|\x1b[ -/]*[0-~]"
)
LATIN_1 = {0xDC00 + byte: byte for byte in range(0x80, 0x100)}  # of bytes that are not UTF-8
ALIKE = str.maketrans("\u00b5\u03bc\u2212\u2013\u2014\u2248\u00a0", "uu---~ ")  # micro, minus


def decode(data: bytes) -> str:
    """Decode UTF-16, which a mark or zero bytes tell, or else UTF-8, whose wrong bytes are Latin-1.
    UTF-32 is UTF-16 between zeros."""
    for mark, place, encoding in ((b"\xff\xfe", 1, "utf-16-le"), (b"\xfe\xff", 0, "utf-16-be")):
        if data.startswith(mark) or data[place::2].count(0) > len(data) // 3:
            return data.decode(encoding, "replace")
    return data.decode("utf-8", "surrogateescape").translate(LATIN_1)


def _clean(text: str) -> str:
    """Drop terminal escapes and what is not seen; write as one what looks alike."""
    text = ESCAPE.sub("", text)
    unseen = [it for it in {*text} if unicodedata.category(it) in ("Cc", "Cf") and not it.isspace()]
    return text.translate(ALIKE | dict.fromkeys(map(ord, unseen)))


# ------------------------------------------------ numbers

UNITS: dict[str, tuple[str, list[Rate], str]] = {
    "seconds": ("latency", [1], "s sec secs second seconds"),
    "ms": ("latency", [Fraction(1, 10**3)], "ms msec millisecond milliseconds"),
    "us": ("latency", [Fraction(1, 10**6)], "us usec microsecond microseconds"),
    "ns": ("latency", [Fraction(1, 10**9)], "ns nsec nanosecond nanoseconds"),
    "bytes": ("traffic", [1], "b byte bytes"),
    "KB": ("traffic", [10**3, 2**10], "kb kilobyte kilobytes"),
    "MB": ("traffic", [10**6, 2**20], "mb megabyte megabytes"),
    "GB": ("traffic", [10**9, 2**30], "gb gigabyte gigabytes"),
    "KiB": ("traffic", [2**10], "kib kibibyte kibibytes"),
    "MiB": ("traffic", [2**20], "mib mebibyte mebibytes"),
    "GiB": ("traffic", [2**30], "gib gibibyte gibibytes"),
    "bits": ("traffic", [Fraction(1, 8)], "bit bits"),
}  # what they measure, how many seconds or bytes they are (one or the other), how they are spelt
WHOLE = ("bytes", "bits")  # whole numbers of them are exact
THOUSANDS = re.compile(r"[1-9]\d{0,2}([,_.])\d{3}(?:\1\d{3})*(?:(?!\1)\.\d+)?")
DECIMAL = re.compile(r"\d+(?:[.,]\d+)?|\.\d+")
PLAIN = re.compile(r"\d+(?:\.\d+)?|\.\d+")
ZERO_PLACE = Fraction(1, 10**200)  # the last place of a zero, with which nothing else agrees
WIDENING = 1e-9  # of a span, in parts of its ends: more than floats are off


class Number(NamedTuple):
    """A number of a line; without amounts, what is there and is no number."""

    text: str = ""  # as it is written, without its unit
    unit: str = ""  # as it is written: one of UNITS, or empty
    digits: int = 0  # that count, of the first amount
    amounts: tuple[Rate, ...] = ()  # in seconds or bytes: one of them is meant
    rounding: Fraction = Fraction(0)  # half of what the last digit counts for, of the first amount
    spans: tuple[tuple[Fraction, Fraction], ...] = ()  # of answers that agree: least, and above all
    near: tuple[tuple[float, float], ...] = ()  # the spans a little wider, for a first test

    @property
    def amount(self) -> Fraction:
        """The first of the amounts, where 1 KB is 1,000 bytes; 0 if there are none."""
        return Fraction(self.amounts[0] if self.amounts else 0)

    def agrees(self, answer: Rate) -> bool:
        """Tell whether the answer, rounded or truncated to these digits, is this number."""
        return any(low <= answer < high for low, high in self.spans)

    def equals(self, other: "Number") -> bool:
        """Tell whether two numbers are the same, or one agrees with the other."""
        if self == other:
            return True
        return any(map(self.agrees, other.amounts)) or any(map(other.agrees, self.amounts))

    def suffices_for(self, answer: Rate) -> bool:
        """Tell whether the digits suffice to call this number an answer with which it agrees."""
        return answer in self.amounts or self.digits >= LEAST_DIGITS


def _read_number(text: str, unit: str, kind: str) -> Number | None:
    """Read a number of a unit, by default the asked one; None if its form is unknown."""
    size = unit or ASKED_UNIT[kind]
    mantissa, power, exponent = text.lower().lstrip("-").partition("e")
    written = []  # groups of thousands, then a decimal point or comma
    groups = None if power else THOUSANDS.fullmatch(mantissa)
    if groups and (groups[1] != "." or size in WHOLE):  # 3.127 ms are never 3127 ms
        written.append(mantissa.replace(groups[1], ""))
    if DECIMAL.fullmatch(mantissa):
        written.append(mantissa.replace(",", ".") + power + exponent)
    if not written or text.startswith("-"):
        return Number(text, unit) if written or not re.search(r"\d", text) else None
    ways = [_measure(it, size, Fraction(times)) for it in written for times in UNITS[size][1]]
    digits, amounts, places = zip(*ways, strict=True)
    spans = tuple((amount - place / 2, amount + place) for _, amount, place in ways)
    near = tuple((float(low) * (1 - WIDENING), float(high) * (1 + WIDENING)) for low, high in spans)
    return Number(text, unit, digits[0], amounts, places[0] / 2, spans, near)


def _measure(written: str, unit: str, size: Fraction) -> tuple[int, Fraction, Fraction]:
    """Measure a number such as 3.1e-3: digits that count, amount, and place of the last digit."""
    value = Decimal(written)
    counted = "".join(map(str, value.as_tuple().digits)).lstrip("0")
    digits = min(len(counted if "." in written else counted.rstrip("0")), MOST_DIGITS)
    is_exact = unit in WHOLE and written.isdigit()
    place = 1 if is_exact else Fraction(10) ** (value.adjusted() - digits + 1)
    return digits, Fraction(value) * size, place * size if value else ZERO_PLACE


# ------------------------------------------------ words

Token = tuple[str, str]  # a role, which is a group of TOKEN or stands in VOCABULARY; what is meant
VOCABULARY = [  # a role, what is meant if not the word itself, and how it is spelt
    ("strategy", "tensor", "tensor tp"),
    ("strategy", "pipeline", "pipeline pipelined pp"),
    ("kind", "latency", "latency time"),
    ("kind", "traffic", "traffic"),
    *(("unit", name, spelt) for name, (_, _, spelt) in UNITS.items()),
    ("network", "", "network communication comm"),  # without "traffic", a part of a latency
    ("harmless", "", "a about all and approximately are by equal for has in inference is method"),
    ("harmless", "", "of overall result results strategy takes the to total using volume with"),
    ("unknown", "", "Kb Mb Gb Kib Mib Gib"),  # bits
]
WORDS = {word: (role, name or word) for role, name, words in VOCABULARY for word in words.split()}
BULLET = re.compile(r"\A[^\w+<]*(?:\d{1,3}[.)] [^\w+<]*)?(?=[a-z])", re.IGNORECASE)
TOKEN = re.compile(  # what is in none of these groups says nothing
    r"(?P<question>q(?:uestion)? ?\d+(?![a-z\d])"
    r"|(?:\d+|single|one)[ _-]?(?:input|image)(?:s|\(s\))?(?![a-z]))"
    r"|(?P<number>-?(?:nan|inf|none|x+)(?![a-z])"
    r"|(?:(?<![\w-])-)?[.,]?\d(?:[\d.,_]*\d)?(?: \d{3}(?!\d))*(?:e[+-]?0?\d\d?)?)"
    r"|(?P<harmless>paral[a-z]*|end-to-end)"
    r"|(?P<unknown>total[\s_]time(?![a-z])|[a-z]+)"
    r"|(?P<sign>(?<=\d)-(?=\d)|(?<![-=])>|[^\s*|:=>,;.()\[\]{}'\"`_~-])",
    re.ASCII | re.IGNORECASE,
)


def _tokenize(row: str) -> list[Token]:
    """Split a row into tokens, without a bullet or a number of a list before them."""
    matches = [(str(it.lastgroup), it[0]) for it in TOKEN.finditer(BULLET.sub("", row))]
    return [WORDS.get(word) or WORDS.get(word.lower()) or (role, word) for role, word in matches]


def _find(role: str, tokens: Iterable[Token]) -> set[str]:
    """Find what the tokens of a role mean."""
    return {meaning for found, meaning in tokens if found == role}


# ------------------------------------------------ rows
class Statement(NamedTuple):
    """What a row says, together with what stands above it: a result, if it has a number."""

    question: str = ""  # Q1, Q2 or another; empty above the first heading of one
    strategy: str = ""
    kind: str = ""
    other_inputs: int = 0  # that are named with the question, and are not its own
    is_vague: bool = True  # whether the question is in doubt
    number: Number = Number()
    label: tuple[Token, ...] = ()
    row: str = ""

    @property
    def line(self) -> Line:
        """The line of which it is: of Q1, if no question is named."""
        return Line(self.question or "Q1", self.strategy, self.kind)


def _read_rows(rows: Iterable[str], inputs: int) -> list[Statement]:
    """Read what rows say, from the top."""
    statements, above = list[Statement](), Statement()
    for row in rows:
        more, above = _read_row(row, above, inputs)
        statements += more
    return statements


@lru_cache(maxsize=1000)  # a long text, or a class, may have one row very often
def _read_row(row: str, above: Statement, inputs: int) -> tuple[list[Statement], Statement]:
    """Read results, or the lines of which a row seems to be; and what stands above the next row."""
    tokens = _tokenize(row) if len(row) <= MOST_CHARACTERS else []
    roles = {role for role, _ in tokens}
    if not roles & {"question", "strategy", "kind", "network", "unknown"}:
        return [], above
    is_about = "number" in roles and roles & {"strategy", "kind"}
    if is_about and (results := _read_results(tokens, above, inputs)):
        return [result._replace(row=row) for result in results], above
    own = _add(tokens, above._replace(strategy="", kind=""), inputs)
    words = product({own.strategy} - {""} or STRATEGIES, {own.kind} - {""} or ASKED_UNIT)
    seems = [own._replace(strategy=it[0], kind=it[1], row=row) for it in words if is_about]
    return seems or [Statement(own.question)], _read_heading(tokens, own, above)


def _read_results(tokens: Sequence[Token], above: Statement, inputs: int) -> list[Statement]:
    """Read the results of a row, each of which ends with its number, if it says nothing else."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        is_behind_number = token[0] == "unit" and len(parts) > 1 and not parts[-1]
        parts[-2 if is_behind_number else -1].append(token)
        parts += [[]] * (token[0] == "number")
    behind, context, found = parts.pop(), above, dict[Line, Statement]()
    roles, roles_behind = ({role for role, _ in it} for it in (tokens, behind))
    is_mixed = "question" in roles_behind and _add(tokens, above, inputs).question == "other"
    if roles & {"unknown", "sign"} or roles_behind - {"harmless", "question"} or is_mixed:
        return []
    for part in ([*part, *behind] for part in parts):
        context = _add(part, context, inputs)
        unit, text = "".join(_find("unit", part)), "".join(_find("number", part))
        number = _read_number(text, unit, context.kind) if all(context.line) else None
        if not number:
            return []
        label = tuple((role, word.lower()) for role, word in part if role not in ("number", "unit"))
        is_vague = context.is_vague or above.is_vague
        result = context._replace(is_vague=is_vague, number=number, label=label)
        if not number.equals(found.setdefault(context.line, result).number):
            return []
    return [*found.values()]


def _add(tokens: Sequence[Token], context: Statement, inputs: int) -> Statement:
    """Add what tokens say to what stands before them; what they leave in doubt is empty."""
    units, strategies = _find("unit", tokens), _find("strategy", tokens) or {context.strategy}
    kinds = _find("kind", tokens) | {UNITS[unit][0] for unit in units} or {context.kind}
    if len(units) > 1 or (_find("network", tokens) and kinds != {"traffic"}):
        kinds = set()
    strategy, kind = ("".join(it) if len(it) == 1 else "" for it in (strategies, kinds))
    questions, texts = {inputs: "Q2", 1: "Q1"}, _find("question", tokens)
    amounts = {int(re.sub(r"\D", "", text) or 1) for text in texts if text[0] not in "qQ"}
    names = {"Q" + re.sub(r"\D", "", text) for text in texts if text[0] in "qQ"}
    names = names or {questions.get(amount, "other") for amount in amounts}
    if names:  # "Q2" wins over "64 inputs", which puts it in doubt
        name = names.pop() if len(names) == 1 else "other"
        others = max((it for it in amounts if questions.get(it) != name), default=0)
        context = context._replace(question=name, other_inputs=others, is_vague=others > 0)
    return context._replace(strategy=strategy, kind=kind)


def _read_heading(tokens: Sequence[Token], own: Statement, above: Statement) -> Statement:
    """Read what stands above the next row: a heading, or what stands above a row that is none."""
    roles = {role for role, _ in tokens}
    if not all(re.fullmatch(r"\d{1,3}", number) for number in _find("number", tokens)):
        is_other = "strategy" in roles and above.strategy not in ("", own.strategy)
        is_end = own.question != above.question or is_other  # of what stands above
        return above._replace(strategy="", kind="", is_vague=True) if is_end else above
    is_vague = roles & {"unknown", "number", "unit"} or ("strategy" in roles and not own.strategy)
    if is_vague or (roles & {"kind", "network"} and not own.kind):
        return own._replace(strategy="", kind="", is_vague=True)
    return own._replace(strategy=own.strategy or above.strategy)


def _choose_results(
    statements: Sequence[Statement], lines: Sequence[Line], labels: Collection[tuple[Token, ...]]
) -> tuple[dict[Line, Statement], dict[Line, str]]:
    """Choose the result of each line: with the handout's label, else in no doubt, else the last;
    and note which lines have others. Without a heading of Q2 the second of two equal labels is
    Q2's, unless its number is the same."""
    lacks_q2 = "Q2" in {line.question for line in lines} - {it.question for it in statements}
    found: dict[Line, list[Statement]] = {}
    for result in (it for it in statements if it.number.text):
        line, label, number = result.line, result.label, result.number
        first = found.get(line, [result])[0]
        may_be_second = lacks_q2 and (label, result.question) == (first.label, first.question)
        if may_be_second and not _find("question", label) and not number.equals(first.number):
            line = line._replace(question="Q2")
        found.setdefault(line, []).append(result)
    own, notes = dict[Line, Statement](), dict[Line, str]()
    for line in (line for line in lines if line in found):
        results = found[line]
        results.sort(key=lambda it: (it.label in labels, not it.is_vague, it.number.amounts != ()))
        own[line] = last = results[-1]
        others = [it.number for it in results if it.is_vague <= last.is_vague]
        if any(number.amounts and not number.equals(last.number) for number in others):
            notes[line] = f"{line} is printed {len(others)} times; {last.number.text} counts"
    return own, notes


# ------------------------------------------------ submissions

CODE = re.compile(r"import [\w., ]+$|from [\w.]+ import\b|def \w|print ?[(\"']")
ERROR = re.compile(r"(?: *\| )?[A-Za-z_][\w.]*(?:: .*)?")  # the last row of a traceback
MARKS = {"-": "+", "+": "-", " ": " "}  # of a diff whose "+" is wanted


class Submission(NamedTuple):
    """What a text says."""

    numbers: dict[Line, Number]  # without lines that are missing
    unread: dict[Line, str]  # the first row that seems to be of a line that is missing
    repeated: list[Line]  # that have different numbers
    other_inputs: dict[str, int]  # of which a question says it is
    notes: list[str]  # what is doubtful in all this, and how the program failed
    format: list[str]  # the rows of a diff; none if the format is the handout's


def read_submission(text: str, question: Question, impossible: Collection[str] = ()) -> Submission:
    """Read what somebody's lab3.py printed. Raises NoSubmissionError for a text without results."""
    printed = [row for row in _clean(text).splitlines() if row.strip()]
    rows, lines = [row.strip() for row in printed], list_lines(question, impossible)
    statements = _read_rows(rows, question.inputs)
    answers = _read_rows(lab3.answers(*question).splitlines(), question.inputs)
    labels = {it.label for it in answers if it.number.text}
    own, repeated = _choose_results(statements, lines, labels)
    missing = {*lines} - own.keys()
    last = next((it.row for it in reversed(statements) if it.number.text), "")
    end = 0 if missing else len(rows) - rows[::-1].index(last)
    failure = _find_failure(printed[end:])
    if not own:
        raise _refuse(printed, failure)
    others = {it.question: it.other_inputs for it in own.values() if it.other_inputs}
    notes = [NO_Q2] if any(result.line != line for line, result in own.items()) else []
    notes += [f"{name} is of {count(inputs, 'input')}" for name, inputs in others.items()]
    return Submission(
        {line: result.number for line, result in own.items()},
        {it.line: it.row for it in reversed(statements) if it.line in missing},
        [*repeated],
        others,
        [*notes, *repeated.values(), *failure],
        _compare(rows, [own[it].number if it in own else Number() for it in lines], question),
    )


def _refuse(rows: Sequence[str], failure: Sequence[str]) -> NoSubmissionError:
    """Say why a text without results is refused."""
    if not rows:
        return NoSubmissionError("is empty", "did your program fail?")
    if rows[0].lstrip().startswith("%PDF"):
        return NoSubmissionError("is a PDF", "check reads what a program prints, not a report")
    if sum(CODE.match(row) is not None for row in rows) > 1:
        return NoSubmissionError("is a program", HOW_TO_RUN)
    last = f"it ends with: {shorten(rows[-1], 100)} ({EXAMPLE})"
    return NoSubmissionError("has no results", *failure or [last])


def _find_failure(rows: Iterable[str]) -> list[str]:
    """Find how a program failed at last: a traceback that is not ignored, a limit, or a crash."""
    reason, is_traceback = "", False
    for before, row in pairwise(["", *rows]):
        is_crash = row.startswith(("timeout: ", "Fatal Python error: "))
        if "Traceback (most recent call last)" in row:
            is_traceback = not before.startswith("Exception ignored")
        elif is_crash or "Segmentation fault" in row or (is_traceback and ERROR.fullmatch(row)):
            reason, is_traceback = row.lstrip(" |"), False
    return [f"your program failed: {shorten(reason, 100).rstrip('.')}"] if reason else []


def _compare(rows: Iterable[str], numbers: Iterable[Number], question: Question) -> list[str]:
    """List the rows that differ from the answers with one's own numbers, and a row around each; of
    many, the first ten. What `whatif` adds is no difference."""
    answers, own = lab3.answers(*question).splitlines(), iter(numbers)
    whatif = prefix_question(question, answer(question), "\n").splitlines()
    wanted = [row for row in answers if row.startswith(("-", "Total "))]
    added = {row.strip() for row in answers + whatif} - {*wanted}
    filled_in = [row if row[0] == "-" else _fill_in(row, next(own)) for row in wanted]
    diff = unified_diff(filled_in, [row for row in rows if row not in added], n=1, lineterm="")
    marked = [f"{MARKS[row[0]]} {shorten(row[1:], COLUMNS - 2)}" for row in diff if row[0] in MARKS]
    shown = marked[2 : 2 + MOST_SHOWN]  # without the headers of the diff
    more = len(marked) - 2 - MOST_SHOWN
    return shown + [f"  and {count(more, 'more row')}"] * (more > 0)


def _fill_in(row: str, number: Number) -> str:
    """Write one's own number into a row of the answers, if it can stand there, or else dots."""
    start, _, unit = row.rsplit(" ", 2)
    is_asked = number.unit in ("", unit) and len(number.amounts) == 1
    return f"{start} {number.text if is_asked and PLAIN.fullmatch(number.text) else '...'} {unit}"
