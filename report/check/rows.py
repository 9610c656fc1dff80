"""A parser for the rows of a text: results, headings and tables.

A row is split into tokens. It has results, or it is a heading for the rows below it, or neither. A
result has a strategy, a kind and a number, and no unknown word; headings supply the words that its
row leaves out. A row of a table is rewritten as a row of results. A row in doubt stays unread.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from report.check.number import ASKED_UNIT, UNITS, Number, read_number
from report.model import STRATEGIES

MOST_CHARACTERS = 200  # longer rows are not read
OTHER = "other"  # a question that is neither Q1 nor Q2, or both

# ------------------------------------------------ tokens
Token = tuple[str, str]  # a role, from PATTERNS or VOCABULARY, and a meaning
PATTERNS = {  # the first match wins; text without a match is a separator
    "question": r"q(?:uestion)? ?\d+(?![a-z\d])"
    r"|,?(?:\d+|single|one)[ _-]?(?:input|image)(?:s|\(s\))?(?![a-z])",
    "number": r"-?(?:nan|inf|none|x+)(?![a-z])"
    r"|(?:(?<![\w-])-)?[.,]?\d(?:[\d.,_]*\d)?(?: \d{3}(?!\d))*(?:e[+-]?0?\d\d?)?",
    "harmless": r"par(?:al[a-z]*)?(?![a-z])|end-to-end|between (?:the )?nodes"
    "|(?<!latency )(?<!delay )(?<!time )(?:over|across|on) (?:the |all )+(?:links|network)(?![a-z])"
    r"|(?<=[a-z]) +/ +(?=\d[^ ]* ?(?!in|im)[a-z])"  # between two results; not in "/ 32 inputs"
    "|(?<=[a-z]) +/ +(?=tensor|tp|pipe|pp|lat|traffic)",  # between labels
    "latency": r"(?:total|execution|running)[\s_]time(?![a-z])",
    "traffic": r"(?:network[\s_]data|data(?:[\s_](?:moved|sent|transferred))?)(?!\s?paral|[a-z])",
    "unknown": r"data[\s-]paral[a-z]*|[a-z]+",
    "sign": r"(?<=\d)-(?=\d)|(?<![-=])>|[^\s*|:=>,;.()\[\]{}'\"`_~-]",
}
HARMLESS = (
    "a about all and approximately are by equal for has in inference is method needs of only"
    " overall result results strategy takes the to total uses using volume while with"
)
VOCABULARY = {  # spellings of a role and a meaning, by default the word itself
    ("strategy", "tensor"): "tensor tp",
    ("strategy", "pipeline"): "pipeline pipelined pipe pp",
    ("kind", "latency"): "latency lat delay time",
    ("kind", "traffic"): "traffic",
    **{("unit", unit): spelt for unit, (_, _, spelt) in UNITS.items()},
    # a latency next to one of these words is only a part of the latency
    ("network", ""): "network communication comm cross moved moves puts sends sent transferred",
    ("harmless", ""): HARMLESS,
    ("unknown", ""): "Kb Mb Gb Kib Mib Gib",  # bits
}
WORDS = {
    word: (role, name or word)
    for (role, name), spelt in VOCABULARY.items()
    for word in spelt.split()
}
MAY_END = {"harmless", "question", "network"}  # roles allowed after the last number of a row
TELLING = {"question", "strategy", "kind", "network", "unknown"}  # roles that end the heading above
BULLET = re.compile(r"\A[^\w+<]*(?:\d{1,3}[.)] [^\w+<]*)?(?=[a-z])", re.IGNORECASE)
GROUPS = (f"(?P<{role}>{pattern})" for role, pattern in PATTERNS.items())
TOKEN = re.compile("|".join(GROUPS), re.ASCII | re.IGNORECASE)


def _name_inputs(row: str, inputs: int) -> str:
    """Rewrite (32), x32, N = 32 and "batch of 32" as "32 inputs", and likewise 1 and "single"."""
    amount = rf"({inputs}|1)(?:[ _-](?:input|image)s?)?(?![\w.])"
    forms = rf" ?\((?:N ?= ?)?{amount}\)| ?(?<![^\s(\[|,;:'\"])(?:N ?= ?|x|batch of ){amount}"
    row = re.sub(r"(?<![\w-])single(?=\s*(?:[:|)]|$))", "x1", row, flags=re.IGNORECASE)
    return re.sub(forms, lambda form: f" {form[1] or form[2]} inputs", row, flags=re.IGNORECASE)


def tokenize(row: str) -> list[Token]:
    """Split a row into tokens, without a leading bullet or item number."""
    matches = [(str(match.lastgroup), match[0]) for match in TOKEN.finditer(BULLET.sub("", row))]
    tokens = [WORDS.get(word) or WORDS.get(word.lower()) or (role, word) for role, word in matches]
    phrase_role = "kind" if _find("strategy", tokens) else "unknown"  # the program's run time
    return [(phrase_role, role) if role in ASKED_UNIT else (role, word) for role, word in tokens]


def _find(role: str, tokens: Iterable[Token]) -> set[str]:
    """Find the meanings of the tokens with this role."""
    return {meaning for token_role, meaning in tokens if token_role == role}


def _find_roles(tokens: Iterable[Token]) -> set[str]:
    """Find the roles of all tokens."""
    return {role for role, _ in tokens}


# ------------------------------------------------ what words mean
class Said(NamedTuple):
    """What words and the headings above them specify. Empty: unspecified or ambiguous."""

    inputs: int  # of Q2
    question: str = ""  # Q1, Q2 or OTHER
    strategy: str = ""
    kind: str = ""
    other_inputs: int = 0  # a number of inputs, next to the question, that contradicts it
    is_vague: bool = True  # whether the question is in doubt
    columns: tuple[str, ...] = ()  # headings of the table's columns
    is_table_vague: bool = True  # whether the question was in doubt above the table

    @property
    def line(self) -> tuple[str, str, str]:
        """Return the line of the answers that is meant: Q1's if no question is named."""
        return self.question or "Q1", self.strategy, self.kind

    def add(self, tokens: Sequence[Token]) -> "Said":
        """Add tokens, which override the words above them."""
        units = _find("unit", tokens)
        strategy = _settle(_find("strategy", tokens), self.strategy)
        kind = _settle(_find("kind", tokens) | {UNITS[unit][0] for unit in units}, self.kind)
        if len(units) > 1 or (_find("network", tokens) and kind != "traffic"):
            kind = ""
        return self._replace(strategy=strategy, kind=kind).add_question(_find("question", tokens))

    def add_question(self, texts: set[str]) -> "Said":
        """Add the question that is named. "Q2" overrides "64 inputs", which puts Q2 in doubt."""
        if not texts:
            return self
        questions = {self.inputs: "Q2", 1: "Q1"}
        names = {"Q" + re.sub(r"\D", "", text) for text in texts if text[0] in "qQ"}
        amounts = {int(re.sub(r"\D", "", text) or 1) for text in texts if text[0] not in "qQ"}
        question = _settle(names or {questions.get(amount, OTHER) for amount in amounts}, "")
        others = {amount for amount in amounts if questions.get(amount) != question}
        said = self._replace(question=question or OTHER, is_vague=bool(others))
        return said._replace(other_inputs=max(others, default=0))

    def doubt(self) -> "Said":
        """Keep only the question, now in doubt, and the table."""
        return self._replace(strategy="", kind="", is_vague=True)


def _settle(meanings: set[str], above: str) -> str:
    """Return the only meaning, or the meaning above if there is none; nothing if two differ."""
    return "".join(meanings or {above}) if len(meanings) < 2 else ""


# ------------------------------------------------ results
class Result(NamedTuple):
    """A number that a row gives for a line."""

    said: Said
    number: Number
    label: tuple[Token, ...]  # the words next to the number


def _read_results(tokens: Sequence[Token], above: Said) -> list[Result]:
    """Read the results of a row: none if a segment is not a result, or two for a line differ."""
    *segments, end = _split_segments(tokens)
    if not segments or not _has_only_results(tokens, end):
        return []
    questions = [token for token in tokens if token[0] == "question"]
    is_mixed = above.add(questions).question == OTHER
    if is_mixed and questions and questions[0] not in segments[0]:
        return []
    segments[-1] = segments[-1] + end
    said, results = above, dict[tuple[str, str, str], Result]()
    for words in (segment + questions * (not is_mixed) for segment in segments):
        said = said.add(words)
        unit, text = "".join(_find("unit", words)), "".join(_find("number", words))
        number = read_number(text, unit, said.kind) if said.strategy and said.kind else None
        if number is None:
            return []
        label = tuple(
            (role, word.lower()) for role, word in words if role not in ("number", "unit")
        )
        result = Result(said._replace(is_vague=said.is_vague or above.is_vague), number, label)
        if not number.equals(results.setdefault(said.line, result).number):
            return []
    return [*results.values()]


def _split_segments(tokens: Sequence[Token]) -> list[list[Token]]:
    """Split a row after each number, or after its unit if no unit precedes it."""
    segments: list[list[Token]] = [[]]
    for token in tokens:
        is_next = token[0] == "unit" and len(segments) > 1 and not segments[-1]
        is_its_unit = is_next and _find("unit", segments[-2]) <= {token[1]}
        segments[-2 if is_its_unit else -1].append(token)
        segments += [[]] * (token[0] == "number")
    return segments


def _has_only_results(tokens: Sequence[Token], end: Sequence[Token]) -> bool:
    """Return whether a row is understood: it names a strategy or a kind (or a question and a
    unit), no word is unknown, and only roles in MAY_END follow its last number."""
    roles = _find_roles(tokens)
    is_labelled = bool(roles & {"strategy", "kind"}) or roles >= {"question", "unit"}
    return is_labelled and not roles & {"unknown", "sign"} and _find_roles(end) <= MAY_END


# ------------------------------------------------ tables
def _split_cells(row: str) -> tuple[str, ...]:
    """Split a row of a table at bars, tabs, semicolons and wide gaps, or else at commas."""
    text = row.strip().removeprefix("|").removesuffix("|").strip()
    cells = re.split(r"\s*[|\t;]\s*|\s{2,}", text)
    cells = cells if len(cells) > 1 else text.split(",")
    return tuple(cells if len(cells) > 1 else [])


def _join_columns(upper: Sequence[str], cells: tuple[str, ...]) -> tuple[str, ...]:
    """Prefix cells with the fewer, wider cells above, if these are questions or strategies."""
    cells = cells[1:] if cells[:1] == ("",) else cells
    times = len(cells) // len(upper) if upper else 0
    is_shared = all(_find_roles(tokenize(cell)) <= {"question", "strategy"} for cell in upper)
    if times < 2 or times * len(upper) != len(cells) or not is_shared:
        return cells
    return tuple(f"{upper[place // times]} {cell}" for place, cell in enumerate(cells))


def _write_out(row: str, columns: Sequence[str]) -> str:
    """Rewrite a row of a table as a row of results: each number follows the words of its row and
    its column. Return an empty text if the row does not fit the table."""
    cells, labels, results = _split_cells(row), list[str](), list[str]()
    if not columns or len(cells) - len(columns) not in (0, 1):  # the first may lack a heading
        return ""
    for column, cell in zip(["", *columns][-len(cells) :], cells, strict=True):
        roles, counted = _find_roles(tokenize(cell)), f"{cell} {column}"
        if [role for role, _ in tokenize(counted)] == ["question"]:  # 32 in a column "inputs"
            labels.append(counted)
        elif "number" not in roles:
            labels.append(cell)
        elif roles <= {"number", "unit"}:
            results.append(f"{column}: {cell}")
        else:
            return ""
    return "; ".join(f"{' '.join(labels)} {result}" for result in results)


# ------------------------------------------------ rows
class Row(NamedTuple):
    """A row, as it was read."""

    text: str
    results: Sequence[Result]
    seeming: Sequence[tuple[str, str, str]]  # lines that an unread row may mean
    question: str  # named by an unread row, or above it
    below: Said  # what applies to the next row


def read_rows(rows: Iterable[str], inputs: int) -> list[Row]:
    """Read rows from the top, each with the headings above it."""
    read, above = list[Row](), Said(inputs)
    for row in rows:
        read.append(_read_row(row, above))
        above = read[-1].below
    return read


@lru_cache(maxsize=1000)  # a row may occur often, in a long text or a class
def _read_row(row: str, above: Said) -> Row:
    """Read the results of a row, or else what it specifies for the rows below it."""
    text = _name_inputs(row, above.inputs) if len(row) <= MOST_CHARACTERS else ""
    tokens, table = tokenize(text), above._replace(is_vague=above.is_table_vague)
    results = _read_results(tokens, above)
    results = results or _read_results(tokenize(_write_out(text, above.columns)), table)
    if results:
        first_role = next(role for role, _ in tokens if role != "harmless")
        questions = _find("question", tokens) if first_role == "question" else set[str]()
        below = above.add_question(questions)._replace(is_vague=above.is_vague)
        return Row(row, results, [], above.question, below)
    if not _find_roles(tokens) & TELLING and _find_roles(tokens) != {"unit"}:
        return Row(row, [], [], above.question, above)
    said = above._replace(strategy="", kind="").add(tokens)
    below = _read_heading(text, tokens, said, above)
    return Row(row, [], _list_seeming(tokens, said), said.question, below)


def _list_seeming(tokens: Sequence[Token], said: Said) -> list[tuple[str, str, str]]:
    """List the lines that an unread row with a number and a strategy or a kind may mean."""
    roles = _find_roles(tokens)
    if "number" not in roles or not roles & {"strategy", "kind"}:
        return []
    words = product({said.strategy} - {""} or STRATEGIES, {said.kind} - {""} or ASKED_UNIT)
    return [(said.line[0], strategy, kind) for strategy, kind in words]


def _read_heading(row: str, tokens: Sequence[Token], said: Said, above: Said) -> Said:
    """Read what applies to the next row. A row with a number that is not an integer of up to three
    digits is no heading, but may end the heading above it."""
    numbers, strategies = _find("number", tokens), _find("strategy", tokens)
    if not all(re.fullmatch(r"\d{1,3}", number) for number in numbers):
        is_other = strategies and above.strategy not in ("", said.strategy)
        return above.doubt() if is_other or said.question != above.question else above
    roles, cells = _find_roles(tokens), _split_cells(row)
    is_kind_clear = said.kind != "" or not roles & {"kind", "network"}
    is_clear = is_kind_clear and len(strategies) < 2 and not roles & {"unknown", "number", "unit"}
    if not cells or not numbers:
        columns = _join_columns(said.columns, cells) or said.columns * is_clear
        said = said._replace(columns=columns, is_table_vague=said.is_vague)
    return said._replace(strategy=said.strategy or above.strategy) if is_clear else said.doubt()
