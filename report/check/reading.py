"""What a submitted lab3.py printed: the number of each line, and notes on doubts.

A row is words and numbers. A number belongs to the line of the answers that the words before it
name, in its row, in its column's heading, or in the headings above. A row with an unknown word is
not read, and neither is a number whose unit or form is in doubt.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from ctypes import c_float
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import NamedTuple

import lab3
from report import InputError
from report.check.mistakes import Line, list_lines
from report.model import KINDS
from report.question import Question
from report.text import Exact

LEAST_DIGITS = 3  # needed to call a number right
MOST_DIGITS = 10  # that are significant: further digits of a float are noise
FLOAT32_DIGITS, FLOAT32_LENGTH = 7, 9  # that are significant in a float32, if this many are printed
MOST_CHARACTERS = 200  # longer rows are not read
SAMPLE = "a label's second row in Q2 is read as pipeline traffic, which the handout's sample lacks"
EXAMPLE = "label each number: Total latency of tensor parallelism is xxx seconds"
NO_Q2 = "no Q2 heading was found; each label's second row counts as Q2's"
RUN = "report run: "  # begins each note that the `run` command appends to an output


class NoSubmissionError(InputError):
    """A text that cannot be judged. Its arguments: what is wrong with it, and what to do."""


def shorten(text: str, most: int = 24) -> str:
    """Make a text printable ASCII, and truncate it."""
    printable = re.sub("[^ -~]", "?", text[: most + 1]).strip()
    return printable if len(printable) <= most else f"{printable[: most - 3]}..."


# ------------------------------------------------ text
ALIKE = str.maketrans("\u00b5\u03bc\u2212\u2013\u2014\u2248\u00a0\u2502\u2503\u2551", "uu---~ |||")
UNSEEN = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\0\u00ad\u200b-\u200f\u202a-\u202e\u2060\ufeff]")


# ------------------------------------------------ numbers
UNITS: dict[str, tuple[str, list[Exact], str]] = {
    "seconds": ("latency", [1], "s sec secs second seconds"),
    "ms": ("latency", [Fraction(1, 10**3)], "ms msec millisecond milliseconds"),
    "us": ("latency", [Fraction(1, 10**6)], "us usec microsecond microseconds"),
    "ns": ("latency", [Fraction(1, 10**9)], "ns nsec nanosecond nanoseconds"),
    "bytes": ("traffic", [1], "b byte bytes"),
    "KB": ("traffic", [10**3, 2**10], "kb kilobyte kilobytes"),
    "MB": ("traffic", [10**6, 2**20], "mb megabyte megabytes"),
    "GB": ("traffic", [10**9, 2**30], "gb gigabyte gigabytes"),
    "KiB": ("traffic", [2**10], "kib"),
    "MiB": ("traffic", [2**20], "mib"),
    "GiB": ("traffic", [2**30], "gib"),
    "bits": ("traffic", [Fraction(1, 8)], "bit bits"),
    "Mb": ("traffic", [], "Kb Mb Gb Kib Mib Gib"),  # bits or bytes: not read
}  # by unit: its kind, its possible sizes in seconds or bytes, its spellings
THOUSANDS = re.compile(r"[1-9]\d{0,2}([,_.])\d{3}(?:\1\d{3})*(?:(?!\1)\.\d+)?")
DECIMAL = re.compile(r"(?:\d+(?:[.,]\d+)?|\.\d+)(?:[eE][+-]?0?\d\d?)?")
WHOLE = "bytes", "bits"  # a whole number of these is exact


class Number(NamedTuple):
    """A printed number. A text that is not a number, such as "nan", has no amounts."""

    text: str = ""  # as printed, without its unit
    unit: str = ""  # a key of UNITS: the unit asked for if none is printed
    digits: int = 0  # significant digits of the first amount
    amounts: tuple[Exact, ...] = ()  # in seconds or bytes, one per possible reading
    places: tuple[Fraction, ...] = ()  # of each amount: a unit in its last place

    @property
    def amount(self) -> Fraction:
        """Return the first amount, in which 1 KB is 1,000 bytes, or 0 if there is none."""
        return Fraction(self.amounts[0] if self.amounts else 0)

    @property
    def spans(self) -> list[tuple[Fraction, Fraction]]:
        """List the answers that agree: from low to below high, rounded or truncated."""
        ways = zip(self.amounts, self.places, strict=False)
        return [(Fraction(amount) - place / 2, amount + place) for amount, place in ways]

    def agrees(self, answer: Exact) -> bool:
        """Return whether this number is the answer, rounded or truncated to its digits."""
        return any(low <= answer < high for low, high in self.spans)

    def equals(self, other: "Number") -> bool:
        """Return whether two numbers are the same, or one agrees with the other."""
        agreeing = [*map(self.agrees, other.amounts), *map(other.agrees, self.amounts)]
        return self == other or any(agreeing)

    def suffices_for(self, answer: Exact) -> bool:
        """Return whether a number that agrees with the answer has enough digits to be right."""
        return answer in self.amounts or self.digits >= LEAST_DIGITS


def read_number(text: str, unit: str) -> Number | None:
    """Read a number, 3,127 ms as 3127 or 3.127. Return None for an unknown form."""
    if text.startswith("-"):  # no number, if its form is known
        return read_number(text[1:], unit) and Number(text, unit)
    groups, ways = THOUSANDS.fullmatch(text), list[str]()
    if groups and (groups[1] != "." or unit in WHOLE):  # 3.127 ms is never 3127 ms
        ways.append(text.replace(groups[1], ""))
    if DECIMAL.fullmatch(text):
        ways.append(text.lower().replace(",", "."))
    measured = [_measure(way, unit, size) for way in ways for size in UNITS[unit][1]]
    if not measured:
        return None if re.search(r"\d", text) else Number(text, unit)
    digits, amounts, places = zip(*measured, strict=True)
    return Number(text, unit, digits[0], amounts, places)


def _measure(plain: str, unit: str, size: Exact) -> tuple[int, Exact, Exact]:
    """Return the number of significant digits, the amount, and a unit in its last place."""
    value, is_exact = Decimal(plain), unit in WHOLE and plain.isdigit()
    written = "".join(map(str, value.as_tuple().digits)).lstrip("0")
    digits = len(written if "." in plain or is_exact else written.rstrip("0"))
    if UNITS[unit][0] == "latency" and len(written.rstrip("0")) >= FLOAT32_LENGTH:
        nearest = Decimal(c_float(float(value)).value)
        is_float32 = value == Decimal(f"{nearest:.{len(written) - 1}e}")
        digits = FLOAT32_DIGITS if is_float32 else digits
    digits = min(digits, MOST_DIGITS)
    power = value.adjusted() - digits + 1 if value else -200
    place = Fraction(10) ** (0 if is_exact else power)
    return digits, Fraction(value) * size, place * size


# ------------------------------------------------ words
Token = tuple[str, str]  # a role and a meaning
OTHER = "other"  # a question that is neither Q1 nor Q2
VOCABULARY = {  # spellings of a role and a meaning
    ("strategy", "tensor"): "tensor tp",
    ("strategy", "pipeline"): "pipeline pipelined pipe pp",
    ("kind", "latency"): "latency lat delay time",
    ("kind", "traffic"): "traffic",
    **{("unit", unit): spelt for unit, (_, _, spelt) in UNITS.items()},
    # a latency if a strategy is in the row: without one it may be the program's own
    ("duration", "latency"): "total_time execution_time running_time",
    # a latency next to one of these words is only a part of the latency
    ("part", ""): "network links communication comm cross moved moves puts sends sent transferred",
    ("harmless", ""): "a about all and approximately are by for has in inference input is it method"
    " needs of on only over overall par parallel parallelism paralelism result results strategy"
    " takes the to total uses using volume while with",
}
WORDS = {word: token for token, spelt in VOCABULARY.items() for word in spelt.split()}
REWRITTEN = {  # before a row is split
    r"\A[^\w+<]*(?:\d{1,3}[.)] [^\w+<]*)?(?=[a-z])": "",  # a bullet or item number
    r"(?:np\.)?(?:float|int)\d+\(([^()]+)\)|\bdecimal\('([^']+)'\)": r"\1\2",
    r"(?<=s) +/ +(?=\d\S* ?[kmg]?i?b)": ", ",  # 3 s / 7 B
    r"\b(?:end-to-end|between (?:the )?nodes)\b": "",
    r"(?<![a-z])data(?:[ _](?:moved|sent|transferred))?(?![a-z]|[ _-]?paral)": "traffic",
}
TOKEN = re.compile(
    r"(?P<question>q(?:uestion)? ?\d+(?![a-z\d])|\(?(?:n ?= ?\d+|\bx\d+|batch of \d+)\)?(?![\w.])"
    r"|,?(?:\d+|single|one)[ _-]?(?:input|image)(?:s|\(s\))?(?![a-z]))"
    r"|(?P<number>-?(?:nan|inf|none|x+)(?![a-z])|(?:(?<![\w-])-)?(?:\.|(?<![a-z)]),)?"
    r"\d(?:[\d.,_]*\d)?(?: \d{3}(?!\d))*(?:e[+-]?\d+)?)"
    r"|(?P<word>data[ _-]paral[a-z]*|(?:total|execution|running)[ _]time(?![a-z])|[a-z]+)"
    r"|(?P<sign>(?<=\d)-(?=\d)|(?<![-=])>|[^\s*|:=>,;.()\[\]{}'\"`_~-])",
    re.ASCII | re.IGNORECASE,
)
TELLING = {"question", "strategy", "kind", "part", "unknown"}  # roles that end the heading above
MAY_END = {"harmless", "question", "part"}  # roles allowed after the last number of a row


@lru_cache(maxsize=1000)
def tokenize(row: str, inputs: int) -> list[Token]:
    """Split a row into tokens."""
    tokens = list[Token]()
    for pattern, replacement in REWRITTEN.items():
        row = re.sub(pattern, replacement, row, flags=re.IGNORECASE)
    for match in TOKEN.finditer(row):
        role, word = str(match.lastgroup), match[0]
        if role == "question":
            amount = int(re.sub(r"\D", "", word) or 1)
            asked = {(2 if word[0] in "qQ" else inputs): "Q2", 1: "Q1"}
            word = asked.get(amount, OTHER)
        elif role == "word":
            known = WORDS.get(word) or WORDS.get(word.lower().replace(" ", "_"))
            role, word = known or ("unknown", word)
        tokens.append((role, word))
    duration = "kind" if _find("strategy", tokens) else "unknown"
    return [(duration if role == "duration" else role, word) for role, word in tokens]


def _find(role: str, tokens: Iterable[Token]) -> set[str]:
    """Find the meanings of the tokens with this role."""
    return {meaning for token_role, meaning in tokens if token_role == role}


def _settle(meanings: set[str], above: str) -> str:
    """Return the only meaning, or the meaning above if there is none; nothing if two differ."""
    return "".join(meanings or {above}) if len(meanings) < 2 else ""


class Context(NamedTuple):
    """What words, and the headings above them, specify. Empty: unspecified or ambiguous."""

    question: str = ""  # Q1, Q2 or OTHER
    strategy: str = ""
    kind: str = ""
    is_sure: bool = False  # whether a heading names the question beyond doubt
    columns: tuple[str, ...] = ()  # headings of the table's columns
    units: frozenset[str] = frozenset()  # in rows without a number

    @property
    def line(self) -> Line:
        """Return the line of the answers that is meant: Q1's if no question is named."""
        return Line(self.question or "Q1", self.strategy, self.kind)

    def add(self, tokens: Sequence[Token]) -> "Context":
        """Add tokens, which override the words above them. "Q2, 64 inputs" is in doubt."""
        kinds = _find("kind", tokens) | {UNITS[unit][0] for unit in _find("unit", tokens)}
        kind, questions = _settle(kinds, self.kind), _find("question", tokens)
        context = self._replace(
            strategy=_settle(_find("strategy", tokens), self.strategy),
            kind="" if kind == "latency" and _find("part", tokens) else kind,
        )
        if not questions:
            return context
        question = _settle(questions - {OTHER}, OTHER) or OTHER
        return context._replace(question=question, is_sure=OTHER not in questions)


# ------------------------------------------------ rows
class Result(NamedTuple):
    """A number that a row gives for a line."""

    context: Context
    number: Number
    label: tuple[Token, ...]  # the words next to the number


class Row(NamedTuple):
    """A row that was read, and what it says of the next."""

    text: str
    tokens: list[Token]
    results: list[Result]
    below: Context  # what applies to the next row


def read_rows(rows: Iterable[str], inputs: int) -> list[Row]:
    """Read rows from the top, each with the headings above it."""
    short = [row for row in rows if len(row) <= MOST_CHARACTERS]
    heads = [tokens for row in short if not _find("number", tokens := tokenize(row, inputs))]
    above = Context(units=frozenset().union(*(_find("unit", head) for head in heads)))
    read = list[Row]()
    for row in short:
        read.append(_read_row(row, above, inputs))
        above = read[-1].below
    return read


@lru_cache(maxsize=1000)  # a row may occur often, in a long text or a class
def _read_row(row: str, above: Context, inputs: int) -> Row:
    """Read the results of a row, or else what it says of the rows below it."""
    tokens = tokenize(row, inputs)
    results = _read_results(tokens, above)
    results = results or _read_results(_write_out(row, above.columns, inputs), above)
    if not results:
        return Row(row, tokens, [], _read_heading(row, tokens, above))
    is_headed = tokens[0][0] == "question"
    below = above.add(tokens[:1])._replace(is_sure=above.is_sure) if is_headed else above
    return Row(row, tokens, results, below)


def _read_heading(row: str, tokens: Sequence[Token], above: Context) -> Context:
    """Read what applies to the next row. A row with a number that is not an integer of up to three
    digits is no heading, but may end the heading above it."""
    roles, strategies, cells = {*dict(tokens)}, _find("strategy", tokens), _split_cells(row)
    if not roles & TELLING and roles != {"unit"}:
        return above
    context = above._replace(strategy="", kind="").add(tokens)
    if not all(re.fullmatch(r"\d{1,3}", number) for number in _find("number", tokens)):
        is_other = strategies and above.strategy not in ("", context.strategy)
        ended = above._replace(strategy="", kind="", is_sure=False)
        return ended if is_other or context.question != above.question else above
    is_kind_clear = context.kind != "" or not roles & {"kind", "part"}
    is_clear = is_kind_clear and len(strategies) < 2 and not roles & {"unknown", "number", "unit"}
    if not cells or "number" not in roles:
        context = context._replace(columns=cells or context.columns * is_clear)
    if is_clear:
        return context._replace(strategy=context.strategy or above.strategy)
    return context._replace(strategy="", kind="", is_sure=context.is_sure and bool(cells))


def _read_results(tokens: Sequence[Token], above: Context) -> list[Result]:
    """Read the results of a row: none if a word is unknown, or a number in doubt. A number's words
    end with it, or with its unit if no unit precedes it."""
    roles, questions = {*dict(tokens)}, [token for token in tokens if token[0] == "question"]
    is_labelled = roles & {"strategy", "kind"} or roles >= {"question", "unit"}
    if not is_labelled or roles & {"unknown", "sign"}:
        return []
    context, words, results = above.add(questions), list[Token](), dict[Line, Result]()
    for token, (role, meaning) in pairwise([*tokens, ("", "")]):
        words.append(token)
        is_unit_next = role == "unit" and _find("unit", words) <= {meaning}
        if _find("number", words) and not (token[0] == "number" and is_unit_next):
            context = context.add(words)
            number = _read_number_of(context, words)
            if number is None:
                return []
            label = [word for word in words if word[0] not in ("number", "unit", "question")]
            settled = context._replace(is_sure=context.is_sure and above.is_sure)
            result = Result(settled, number, (*label, *questions))
            if not number.equals(results.setdefault(context.line, result).number):
                return []
            words = []
    return [*results.values()] * ({*dict(words)} <= MAY_END)


def _read_number_of(context: Context, words: Sequence[Token]) -> Number | None:
    """Read the number of a line, or None if the line, the unit or the number's form is in doubt."""
    units, (text,) = _find("unit", words), _find("number", words)
    if not context.strategy or not context.kind or context.question == OTHER or len(units) > 1:
        return None
    asked = KINDS[context.kind]
    others = {unit for unit in context.units if UNITS[unit][0] == context.kind} - {asked}
    return None if others and not units else read_number(text, "".join(units) or asked)


# ------------------------------------------------ tables
def _split_cells(row: str) -> tuple[str, ...]:
    """Split a row of a table at bars, tabs, semicolons and wide gaps, or else at commas."""
    text = row.strip().removeprefix("|").removesuffix("|").strip()
    cells = re.split(r"\s*[|\t;]\s*|\s{2,}", text)
    cells = cells if len(cells) > 1 else text.split(",")
    return tuple(cells if len(cells) > 1 else [])


def _write_out(row: str, columns: Sequence[str], inputs: int) -> list[Token]:
    """Rewrite a row of a table as a row of results: each number follows the words of its row and
    its column. Return no tokens if the row does not fit the table."""
    cells, labels, results = _split_cells(row), list[str](), list[str]()
    if not columns or len(cells) - len(columns) not in (0, 1):  # the first may lack a heading
        return []
    for column, cell in zip(["", *columns][-len(cells) :], cells, strict=True):
        roles, counted = {*dict(tokenize(cell, inputs))}, f"{cell} {column}"
        if [role for role, _ in tokenize(counted, inputs)] == ["question"]:  # 32, below "inputs"
            labels.append(counted)
        elif "number" not in roles:
            labels.append(cell)
        elif roles <= {"number", "unit"}:
            results.append(f"{column}: {cell}")
        else:
            return []
    return tokenize("; ".join(f"{' '.join(labels)} {result}" for result in results), inputs)


# ------------------------------------------------ which number counts
PIPELINE_TRAFFIC = "Total network traffic of pipeline parallelism is"
REPEATED = re.compile(  # a label that the handout's sample repeats, and another whole number
    r"^(Total (?:network traffic of tensor|latency of pipeline) parallelism is )(.+)\n"
    r"((?:.+\n){0,3})\1(?!\2$)([\d,]+(?:\.0*)? )(?:bytes|seconds)$",
    re.MULTILINE,
)


def _group(rows: Sequence[Row], lines: Sequence[Line]) -> dict[Line, list[Result]]:
    """Group results by line. If Q2 is not named, the second of two results with the same label is
    Q2's, unless their numbers are equal."""
    groups, results = dict[Line, list[Result]](), [result for row in rows for result in row.results]
    named = {question for row in rows for question in _find("question", row.tokens)}
    lacks_q2 = "Q2" not in named | {context.question for context, *_ in results}
    for result in results:
        context, number, label = result
        first = groups.get(context.line, [result])[0]
        is_again = (label, context.question) == (first.label, first.context.question)
        is_second = is_again and not _find("question", label) and not number.equals(first.number)
        line = context.line._replace(question="Q2") if lacks_q2 and is_second else context.line
        groups.setdefault(line, []).append(result)
    return {line: groups[line] for line in lines if line in groups}


def _choose(
    line: Line, results: Sequence[Result], labels: Collection[object]
) -> tuple[Number, str]:
    """Choose the last of the best numbers: with the handout's label, then in no doubt, then with an
    amount. Add a note if others, in no more doubt, differ."""
    ranks = [(label in labels, context.is_sure, n.amounts != ()) for context, n, label in results]
    best, chosen, _ = max(zip(ranks, range(len(ranks)), results, strict=True))[2]
    numbers = [number for context, number, _ in results if context.is_sure >= best.is_sure]
    differ = any(number.amounts and not number.equals(chosen) for number in numbers)
    note = f"{line} was found {len(numbers)} times; {shorten(chosen.text)} is used"
    return chosen, note * differ


# ------------------------------------------------ submissions
CODE = re.compile(r"(?m)^(?:import [\w., ]+$|from [\w.]+ import\b|def \w|print ?[(\"'])")
STACK = r"Traceback \(most.*\n(?:[ |].*\n)*"
CRASH = re.compile(rf"(?m)^(?:Exception ignored.*\n(?:{STACK})?.*$|{STACK}(.+)$)")  # its last row


class Submission(NamedTuple):
    """A submission, as it was read."""

    numbers: dict[Line, Number]  # of the lines that were found
    notes: list[str]  # doubts, and how the program failed
    is_odd: bool  # whether a line has different numbers, or the `run` command noted something
    rows: list[str]  # that the program printed


def read_submission(text: str, question: Question) -> Submission:
    """Read the output of a lab3.py. Raises NoSubmissionError for a text without results."""
    wanted = read_rows(lab3.answers(*question).splitlines(), question.inputs)
    labels = {result.label for row in wanted for result in row.results}
    text = UNSEEN.sub("", text.translate(ALIKE))
    rows = [row.strip() for row in text.splitlines() if row.strip()]
    noted = [*takewhile(lambda row: row.startswith(RUN), reversed(rows))]
    printed, run_notes = rows[: len(rows) - len(noted)], [row[len(RUN) :] for row in noted[::-1]]
    crashes = [row for row in CRASH.findall(text) if row]  # without exceptions that were ignored
    failure = [f"the program failed: {shorten(row, 100)}" for row in crashes[-1:]]
    rows, is_sample = _mend_sample(printed)
    read = read_rows(rows, question.inputs)
    lines, unread = list_lines(question), [*filter(None, map(_explain_unread, read))]
    groups = _group(read, lines)
    if not groups and len(CODE.findall(text)) > 1:
        raise NoSubmissionError("is a program", "python3 YOURS > output.txt")
    if not groups:
        last = [f"it ends with: {shorten(row, 100)}" for row in printed[-1:]]
        advice = "" if run_notes else f" ({EXAMPLE})"
        reasons = [*failure, *(f"{why}{advice}" for why in [*unread, *last])][:1] + run_notes
        what = "has no results that can be read" if reasons else "is empty"
        raise NoSubmissionError(what, "; ".join(reasons) or "did the program fail?")
    chosen = {line: _choose(line, groups[line], labels) for line in groups}
    numbers = {line: number for line, (number, _) in chosen.items()}
    repeated = [note for _, note in chosen.values() if note]
    is_second = any(context.line != line for line in groups for context, *_ in groups[line])
    notes = [SAMPLE] * is_sample + [NO_Q2] * is_second + repeated + failure
    notes += unread[: 3 * (len(numbers) < len(lines))] + run_notes
    return Submission(numbers, notes, bool(repeated or run_notes), printed)


def _mend_sample(rows: Sequence[str]) -> tuple[list[str], bool]:
    """If Q2 lacks pipeline traffic, relabel the row that repeats a label, as the handout's sample
    does; return whether there is one."""
    head, label, tail = "\n".join(rows).partition(PIPELINE_TRAFFIC)  # of Q1
    new, times = (tail, 0) if label in tail else REPEATED.subn(rf"\1\2\n\3{label} \4bytes", tail)
    return f"{head}{label}{new}".splitlines(), times > 0


def _explain_unread(row: Row) -> str:
    """Explain why a row that seems to have a result was not read, or return an empty text."""
    unknown = [ascii(word)[1:-1] for role, word in row.tokens if role in ("unknown", "sign")]
    reason = f"'{shorten(unknown[0])}' is not understood in" if unknown else "unclear:"
    seems = _find("number", row.tokens) and {*dict(row.tokens)} & {"strategy", "kind"}
    return f"{reason} '{shorten(row.text, 90)}'" if seems and not row.results else ""
