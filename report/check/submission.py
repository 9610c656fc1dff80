"""How an output is read: by its words.

A row is a result, a heading of the rows below it, or neither. A result says a strategy, a kind, a
number and nothing else; what it leaves open, headings say. Unread is better than misread.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from difflib import unified_diff
from functools import lru_cache
from itertools import pairwise, product
from typing import NamedTuple

import lab3
from report.check.number import ASKED_UNIT, UNITS, Number, read_number
from report.model import STRATEGIES
from report.question import Question, prefix_question
from report.text import COLUMNS, count
from report.whatif import answer

MOST_CHARACTERS = 200  # of a row that is read
MOST_SHOWN = 10  # rows of the diff
NO_Q2 = "no heading of Q2 is read; of two rows with one label the second is taken as Q2's"
SAMPLE = (
    "Q2's labels are those of the handout's sample, which repeats two and lacks pipeline traffic:"
    " where a second number differs from the first, it is taken as that"
)
HOW_TO_RUN = "python3 YOURS | python3 report check"
EXAMPLE = "such as this is read: Total latency of tensor parallelism is 0.1 seconds"
FREE = "Format: no row is the handout's."


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
ALIKE = str.maketrans("\u00b5\u03bc\u2212\u2013\u2014\u2248\u00a0\u2502", "uu---~ |")  # micro ...


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


# ------------------------------------------------ words

Token = tuple[str, str]  # a role, which is a group of TOKEN or stands in VOCABULARY; what is meant
VOCABULARY = [  # a role, what is meant if not the word itself, and how it is spelt
    ("strategy", "tensor", "tensor tp"),
    ("strategy", "pipeline", "pipeline pipelined pp"),
    ("kind", "latency", "latency time"),
    ("kind", "traffic", "traffic"),
    *(("unit", name, spelt) for name, (_, _, spelt) in UNITS.items()),
    # without "traffic" or bytes, of a part of a latency
    ("network", "", "network communication comm moved moves sent transferred"),
    ("harmless", "", "a about all and approximately are by equal for has in inference is method"),
    ("harmless", "", "of overall result results strategy takes the to total using volume with"),
    ("unknown", "", "Kb Mb Gb Kib Mib Gib"),  # bits
]
WORDS = {word: (role, name or word) for role, name, words in VOCABULARY for word in words.split()}
MAY_END = {"harmless", "question", "network"}  # roles behind the last number of a row
OF_STRATEGY = {"duration": "latency", "data": "traffic"}  # a kind beside a strategy, else unknown
BULLET = re.compile(r"\A[^\w+<]*(?:\d{1,3}[.)] [^\w+<]*)?(?=[a-z])", re.IGNORECASE)
TOKEN = re.compile(  # what is in none of these groups says nothing
    r"(?P<question>q(?:uestion)? ?\d+(?![a-z\d])"
    r"|(?:\d+|single|one)[ _-]?(?:input|image)(?:s|\(s\))?(?![a-z]))"
    r"|(?P<number>-?(?:nan|inf|none|x+)(?![a-z])"
    r"|(?:(?<![\w-])-)?[.,]?\d(?:[\d.,_]*\d)?(?: \d{3}(?!\d))*(?:e[+-]?0?\d\d?)?)"
    r"|(?P<harmless>paral[a-z]*|end-to-end|over the network"
    r"|(?<=[a-z]) / (?=\d[^ ]* ?(?!in|im)[a-z]))"  # between two results, not 32 inputs
    r"|(?P<duration>(?:total|execution|running)[\s_]time(?![a-z]))"  # if not, the program's
    r"|(?P<data>network[\s_]data(?![a-z])|data[\s_](?:moved|sent|transferred)(?![a-z]))"
    r"|(?P<unknown>[a-z]+)"
    r"|(?P<sign>(?<=\d)-(?=\d)|(?<![-=])>|[^\s*|:=>,;.()\[\]{}'\"`_~-])",
    re.ASCII | re.IGNORECASE,
)


def _tokenize(row: str) -> list[Token]:
    """Split a row into tokens, without a bullet or a number of a list before them."""
    matches = [(str(it.lastgroup), it[0]) for it in TOKEN.finditer(BULLET.sub("", row))]
    tokens = [WORDS.get(word) or WORDS.get(word.lower()) or (role, word) for role, word in matches]
    role = "kind" if _find("strategy", tokens) else "unknown"
    return [(role, OF_STRATEGY[it[0]]) if it[0] in OF_STRATEGY else it for it in tokens]


def _find(role: str, tokens: Iterable[Token]) -> set[str]:
    """Find what the tokens of a role mean."""
    return {meaning for found, meaning in tokens if found == role}


# ------------------------------------------------ rows
class Statement(NamedTuple):
    """What a row says, together with what stands above it: a result, if it has a number."""

    question: str = ""  # Q1, Q2 or another; empty above the first heading of one
    strategy: str = ""
    kind: str = ""
    columns: tuple[str, ...] = ()  # of the table, as its heading names them
    other_inputs: int = 0  # that are named with the question, and are not its own
    is_vague: bool = True  # whether the question is in doubt
    is_table_vague: bool = True  # or was, above the table's heading
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
    results = _read_results(tokens, above, inputs)
    if above.columns and not results:
        table = above._replace(is_vague=above.is_table_vague)
        results = _read_results(_unfold(row, above.columns) if tokens else [], table, inputs)
    if results:
        return [result._replace(row=row) for result in results], above
    roles = {role for role, _ in tokens}
    if not roles & {"question", "strategy", "kind", "network", "unknown"}:
        return [], above
    own, cells = _add(tokens, above._replace(strategy="", kind=""), inputs), _split(row)
    if "number" not in roles or len(cells) == 1:  # not a row of the table
        own = own._replace(columns=cells if len(cells) > 1 else (), is_table_vague=own.is_vague)
    words = product({own.strategy} - {""} or STRATEGIES, {own.kind} - {""} or ASKED_UNIT)
    is_about = "number" in roles and roles & {"strategy", "kind"}
    seems = [own._replace(strategy=it[0], kind=it[1], row=row) for it in words if is_about]
    return seems or [Statement(own.question)], _read_heading(tokens, own, above)


def _read_results(tokens: Sequence[Token], above: Statement, inputs: int) -> list[Statement]:
    """Read the results of a row, each of which ends with its number, if it says nothing else."""
    parts: list[list[Token]] = [[]]
    for token in tokens:  # a unit behind a number is its, unless another stands before it
        is_behind = token[0] == "unit" and len(parts) > 1 and not parts[-1]
        is_its_unit = is_behind and _find("unit", parts[-2]) <= {token[1]}
        parts[-2 if is_its_unit else -1].append(token)
        parts += [[]] * (token[0] == "number")
    behind, context, found = parts.pop(), above, dict[Line, Statement]()
    roles, roles_behind = ({role for role, _ in it} for it in (tokens, behind))
    is_mixed = "question" in roles_behind and _add(tokens, above, inputs).question == "other"
    is_more = roles & {"unknown", "sign"} or roles_behind - MAY_END or is_mixed
    if is_more or not roles & {"strategy", "kind"}:
        return []
    for part in ([*part, *behind] for part in parts):
        context = _add(part, context, inputs)
        unit, text = "".join(_find("unit", part)), "".join(_find("number", part))
        number = read_number(text, unit, context.kind) if all(context.line) else None
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
    context = context._replace(strategy=strategy, kind=kind)
    return _add_question(_find("question", tokens), context, inputs)


def _add_question(texts: Collection[str], context: Statement, inputs: int) -> Statement:
    """Add the question that is named. "Q2" wins over "64 inputs", which puts it in doubt."""
    if not texts:
        return context
    questions, names = {inputs: "Q2", 1: "Q1"}, {text for text in texts if text[0] in "qQ"}
    amounts = {int(re.sub(r"\D", "", text) or 1) for text in texts if text not in names}
    named = {"Q" + re.sub(r"\D", "", name) for name in names}
    named = named or {questions.get(amount, "other") for amount in amounts}
    name = named.pop() if len(named) == 1 else "other"
    others = max((it for it in amounts if questions.get(it) != name), default=0)
    return context._replace(question=name, other_inputs=others, is_vague=others > 0)


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
    columns = own.columns or above.columns
    return own._replace(strategy=own.strategy or above.strategy, columns=columns)


def _split(row: str) -> tuple[str, ...]:
    """Split a row of a table: at bars, tabs, semicolons and wide gaps, or else at commas."""
    cells = re.split(r"\s*[|\t;]\s*|\s{2,}", row.strip("| \t"))
    return tuple(cells if len(cells) > 1 else row.split(","))


def _unfold(row: str, columns: Sequence[str]) -> list[Token]:
    """Write before each number of a table's row what the row and its column say: a row that is read
    as others are. Empty if it is none of the table's."""
    cells, labels, results = _split(row), list[str](), list[str]()
    if len(cells) - len(columns) not in (0, 1):
        return []
    for column, cell in zip(["", *columns][-len(cells) :], cells, strict=True):
        roles, counted = {role for role, _ in _tokenize(cell)}, f"{cell} {column}"  # 32 inputs
        if [role for role, _ in _tokenize(counted)] == ["question"]:
            labels.append(counted)
        elif "number" not in roles:
            labels.append(cell)
        elif roles <= {"number", "unit"}:
            results.append(f"{column}: {cell}")
        else:
            return []
    return _tokenize("; ".join(f"{' '.join(labels)} {result}" for result in results))


def _choose_results(
    statements: Sequence[Statement], lines: Sequence[Line], labels: Collection[tuple[Token, ...]]
) -> tuple[dict[Line, Statement], dict[Line, str]]:
    """Choose the result of each line: with the handout's label, else in no doubt, else the last;
    and note which lines have others. Without a heading of Q2 the second of two equal labels is
    Q2's, unless its number is the same."""
    lacks_q2 = "Q2" in {line.question for line in lines} - {it.question for it in statements}
    found: dict[Line, list[Statement]] = {}
    for result in (it for it in statements if it.number.text):
        first = found.get(result.line, [result])[0]
        is_again = (result.label, result.question) == (first.label, first.question)
        is_second = is_again and not result.number.equals(first.number)
        is_q2s = lacks_q2 and is_second and not _find("question", result.label)
        line = result.line._replace(question="Q2") if is_q2s else result.line
        found.setdefault(line, []).append(result)
    own, notes = dict[Line, Statement](), dict[Line, str]()
    for line in (line for line in lines if line in found):
        results = found[line]
        results.sort(key=lambda it: (it.label in labels, not it.is_vague, it.number.amounts != ()))
        own[line] = last = results[-1]
        others = [it.number for it in results if it.is_vague <= last.is_vague]
        if any(number.amounts and not number.equals(last.number) for number in others):
            counts = shorten(last.number.text)
            notes[line] = f"{line} is printed {len(others)} times; {counts} counts"
    return own, notes


# ------------------------------------------------ submissions

CODE = re.compile(r"import [\w., ]+$|from [\w.]+ import\b|def \w|print ?[(\"']")
ERROR = re.compile(r"(?: *\| )?[A-Za-z_][\w.]*(?:: .*)?")  # the last row of a traceback
WHOLE_BYTES = re.compile(r"[\d,]+(?:\.0*)? [bs]")  # also of those called seconds
PLAIN = re.compile(r"\d+(?:\.\d+)?|\.\d+")
MARKS = {"-": "+", "+": "-", " ": " "}  # of a diff whose "+" is wanted


class Submission(NamedTuple):
    """What a text says."""

    numbers: dict[Line, Number]  # without lines that are missing
    unread: dict[Line, str]  # why the first row is not that seems to be of a line that is missing
    repeated: list[Line]  # that have different numbers
    other_inputs: dict[str, int]  # of which a question says it is
    notes: list[str]  # what is doubtful in all this, and how the program failed
    format: list[str]  # the rows of a diff; none if the format is the handout's


def read_submission(text: str, question: Question, impossible: Collection[str] = ()) -> Submission:
    """Read what somebody's lab3.py printed. Raises NoSubmissionError for a text without results."""
    printed = [row for row in _clean(text).splitlines() if row.strip()]
    rows, lines = [row.strip() for row in printed], list_lines(question, impossible)
    wanted = lab3.answers(*question).splitlines()
    mended, notes = _mend_sample(rows, wanted)
    statements = _read_rows(mended, question.inputs)
    labels = {it.label for it in _read_rows(wanted, question.inputs) if it.number.text}
    own, repeated = _choose_results(statements, lines, labels)
    missing = {*lines} - own.keys()
    last = next((it.row for it in reversed(statements) if it.number.text), "")
    end = 0 if missing else len(rows) - mended[::-1].index(last)
    failure = _find_failure(printed[end:])
    if not own:
        raise _refuse(printed, failure, next((it.row for it in statements if it.row), ""))
    others = {it.question: it.other_inputs for it in own.values() if it.other_inputs}
    notes += [NO_Q2] * any(result.line != line for line, result in own.items())
    notes += [f"{name} is of {count(inputs, 'input')}" for name, inputs in others.items()]
    return Submission(
        {line: result.number for line, result in own.items()},
        {it.line: _explain(it.row) for it in reversed(statements) if it.line in missing and it.row},
        [*repeated],
        others,
        [*notes, *repeated.values(), *failure],
        _compare(rows, [own[it].number if it in own else Number() for it in lines], question),
    )


def _mend_sample(rows: Sequence[str], wanted: Iterable[str]) -> tuple[list[str], list[str]]:
    """Label pipeline traffic as that where Q2 has the labels of the handout's sample: tensor
    traffic twice, pipeline latency twice, or one of them, and none of it. Note that."""
    labels = [row.partition(" is ")[0] for row in wanted if row.startswith("Total ")][:4]
    parts, mended = [row.partition(" is ") for row in rows], [*rows]
    places = "".join(str(labels.index(it[0])) if it[0] in labels else "-" for it in parts)
    samples = [*re.finditer("3-*(0(?:11?22|112))(?![23])", places)]  # behind Q1's
    for at in (at for sample in samples for at in range(sample.start(1) + 1, sample.end())):
        said, is_traffic = parts[at][2], places[at] == "1" or WHOLE_BYTES.match(parts[at][2])
        if places[at] == places[at - 1] and said != parts[at - 1][2] and is_traffic:
            mended[at] = f"{labels[3]} is {said.replace('seconds', 'bytes')}"
    return mended, [SAMPLE] * bool(samples)


def _explain(row: str) -> str:
    """Say that a row is not read, and for which of its words, if one is not known."""
    unknown = [word for role, word in _tokenize(row) if role in ("unknown", "sign")]
    reason = f" for its '{shorten(unknown[0])}'" if unknown else ""
    return f"not read{reason}: '{shorten(row, 90)}'"


def _refuse(rows: Sequence[str], failure: Sequence[str], unread: str) -> NoSubmissionError:
    """Say why a text without results is refused."""
    if not rows:
        return NoSubmissionError("is empty", "did your program fail?")
    if rows[0].lstrip().startswith("%PDF"):
        return NoSubmissionError("is a PDF", "check reads what a program prints, not a report")
    if sum(CODE.match(row) is not None for row in rows) > 1:
        return NoSubmissionError("is a program", HOW_TO_RUN)
    last = f"it ends with: {shorten(rows[-1], 100)}"
    reason = f"{_explain(unread)} ({EXAMPLE})" if unread else last
    return NoSubmissionError("has no results", *failure or [reason])


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
    printed = [row for row in rows if row not in added]
    if not {*printed} & {*filled_in}:
        return [FREE]
    diff = unified_diff(filled_in, printed, n=1, lineterm="")
    marked = [f"{MARKS[row[0]]} {shorten(row[1:], COLUMNS - 2)}" for row in diff if row[0] in MARKS]
    more = len(marked[2:]) - MOST_SHOWN  # without the headers of the diff
    return marked[2 : 2 + MOST_SHOWN] + [f"  and {count(more, 'more row')}"] * (more > 0)


def _fill_in(row: str, number: Number) -> str:
    """Write one's own number into a row of the answers, in plain digits, or dots if in doubt."""
    start, _, unit = row.rsplit(" ", 2)
    is_asked = number.unit in ("", unit) and PLAIN.fullmatch(number.text)
    text = number.text if is_asked else lab3.format_decimal(number.amount, 20)
    return f"{start} {text if len(number.amounts) == 1 else '...'} {unit}"
