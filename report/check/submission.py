"""What somebody's lab3.py printed: the number of each line, what is doubtful, and its format."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import unified_diff
from itertools import pairwise, product
from typing import NamedTuple

import lab3
from report.check.number import ASKED_UNIT, Number
from report.check.rows import MOST_CHARACTERS, Result, Row, Token, read_rows, tokenize
from report.model import STRATEGIES
from report.question import Question, prefix_question
from report.text import COLUMNS, count
from report.whatif import answer

MOST_SHOWN = 10  # rows of the diff
NO_Q2 = "Q2's heading was not recognised; the second row of each label is taken as Q2's"
SAMPLE = (
    "Q2 has the labels of the handout's sample, which prints two rows twice and omits pipeline"
    " traffic; a repeated row with a new number is taken as pipeline traffic"
)
HOW_TO_RUN = "python3 YOURS | python3 report check"
EXAMPLE = "this can be read: Total latency of tensor parallelism is 0.1 seconds"
UNREAD = "has no results that can be read"
FREE = "Format: no row is as the handout asks."
PLAIN_DIGITS = '  "..." stands for plain digits, without comma or exponent'
RUN = "report run: "  # begins what the `run` command writes behind what a program printed


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
ALIKE = str.maketrans("\u00b5\u03bc\u2212\u2013\u2014\u2248\u2502", "uu---~|")  # micro ...


def decode(data: bytes) -> str:
    """Decode UTF-16, which a mark or zero bytes tell, or else UTF-8, whose wrong bytes are Latin-1.
    UTF-32 is UTF-16 between zeros."""
    for mark, place, encoding in ((b"\xff\xfe", 1, "utf-16-le"), (b"\xfe\xff", 0, "utf-16-be")):
        if data.startswith(mark) or data[place::2].count(0) > len(data) // 3:
            return data.decode(encoding, "replace")
    return data.decode("utf-8", "surrogateescape").translate(LATIN_1)


def _split_rows(text: str) -> list[str]:
    """Split a text into rows that are not blank, without escapes and characters that are not seen.
    If it has line feeds, a row does not end at other separators: they are blanks."""
    text = ESCAPE.sub("", text)
    ends = (
        "\t\r\n" if re.search("[\r\n]", text.strip()) else "\t\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"
    )
    changes = dict[int, str]()
    for character in {*text} - {*ends}:
        if character.isspace() or unicodedata.category(character) in ("Cc", "Cf"):
            changes[ord(character)] = " " * character.isspace()
    rows = text.translate(ALIKE).translate(changes).splitlines()
    return [row for row in rows if row.strip()]


# ------------------------------------------------ which number counts


def _group(rows: Iterable[Row], lines: Iterable[Line]) -> dict[Line, list[Result]]:
    """Group results by their lines. If Q2 is asked and not named, the second of two equal labels is
    Q2's, unless its number is the same."""
    results, groups = [result for row in rows for result in row.results], dict[Line, list[Result]]()
    named = {row.question for row in rows} | {result.said.question for result in results}
    lacks_q2 = "Q2" in {line.question for line in lines} - named
    for result in results:
        line = Line(*result.said.line)
        first = groups.get(line, [result])[0]
        is_again = (result.label, result.said.question) == (first.label, first.said.question)
        is_second = is_again and not result.number.equals(first.number)
        if lacks_q2 and is_second and all(role != "question" for role, _ in result.label):
            line = line._replace(question="Q2")
        groups.setdefault(line, []).append(result)
    return groups


def _choose(results: Iterable[Result], labels: Collection[tuple[Token, ...]]) -> Result:
    """Choose the last of the best results: with the handout's label, in no doubt, a number."""

    def rank(result: Result) -> tuple[bool, bool, bool]:
        return result.label in labels, not result.said.is_vague, result.number.amounts != ()

    return sorted(results, key=rank)[-1]


def _note_others(line: Line, chosen: Result, results: Iterable[Result]) -> str:
    """Note how often a line is printed if a number differs that is in no more doubt than the one
    that counts."""
    numbers = [result.number for result in results if result.said.is_vague <= chosen.said.is_vague]
    if all(not number.amounts or number.equals(chosen.number) for number in numbers):
        return ""
    return f"{line} was found {len(numbers)} times; {shorten(chosen.number.text)} is used"


# ------------------------------------------------ submissions


class Submission(NamedTuple):
    """What a text says."""

    numbers: dict[Line, Number]  # without lines that are missing
    unread: dict[Line, str]  # why the first row is not that seems to be of a line that is missing
    repeated: list[Line]  # that have different numbers
    other_inputs: dict[str, int]  # of which a question says it is
    notes: list[str]  # what is doubtful in all this, and how the program failed
    run_notes: list[str]  # those of them that the `run` command wrote
    format: list[str]  # the rows of a diff; none if the format is the handout's


def read_submission(text: str, question: Question, impossible: Collection[str] = ()) -> Submission:
    """Read what somebody's lab3.py printed. Raises NoSubmissionError for a text without results."""
    printed, run_notes = _split_off_notes(_split_rows(text))
    stripped, lines = [row.strip() for row in printed], list_lines(question, impossible)
    wanted = lab3.answers(*question).splitlines()
    relabelled, sample = _relabel_sample(stripped, wanted)
    rows = read_rows(relabelled, question.inputs)
    labels = {row.results[0].label for row in read_rows(wanted, question.inputs) if row.results}
    groups = _group(rows, lines)
    chosen = {line: _choose(groups[line], labels) for line in lines if line in groups}
    is_whole = len(chosen) == len(lines)
    end = max(place for place, row in enumerate(rows, 1) if row.results) if is_whole else 0
    failure = _find_failure([*printed[end:], *run_notes])
    if not chosen:
        raise _refuse(printed, rows, failure, run_notes)
    repeated = {line: _note_others(line, chosen[line], groups[line]) for line in chosen}
    seeming = {words: row.text for row in reversed(rows) for words in row.seeming}
    numbers = {line: result.number for line, result in chosen.items()}
    odd = [note for note in run_notes if not CRASH.match(note)]
    return Submission(
        numbers,
        {line: _explain(seeming[line]) for line in lines if line in seeming and line not in chosen},
        [line for line, note in repeated.items() if note],
        _find_other_inputs(chosen),
        [*sample, *_note_questions(chosen), *filter(None, repeated.values()), *failure, *odd],
        run_notes,
        _compare(stripped, [numbers.get(line, Number()) for line in lines], question),
    )


def _find_other_inputs(chosen: Mapping[Line, Result]) -> dict[str, int]:
    """Find the questions that are said to be of other inputs, and of how many."""
    said = [result.said for result in chosen.values()]
    return {words.question: words.other_inputs for words in said if words.other_inputs}


def _note_questions(chosen: Mapping[Line, Result]) -> list[str]:
    """Note that Q2 is not named, and which question is said to be of other inputs."""
    notes = [NO_Q2] * any(result.said.line != line for line, result in chosen.items())
    others = _find_other_inputs(chosen)
    return notes + [f"{name} is of {count(inputs, 'input')}" for name, inputs in others.items()]


def _split_off_notes(rows: list[str]) -> tuple[list[str], list[str]]:
    """Split the rows off that the `run` command wrote behind what a program printed."""
    end = len(rows)
    while end and rows[end - 1].startswith(RUN):
        end -= 1
    return rows[:end], [row.removeprefix(RUN) for row in rows[end:]]


def _relabel_sample(rows: Sequence[str], wanted: Iterable[str]) -> tuple[list[str], list[str]]:
    """Label pipeline traffic as that if Q2 has the labels of the handout's sample: tensor traffic
    twice, pipeline latency twice, or one of them, and no pipeline traffic. Note that."""
    labels = [row.partition(" is ")[0] for row in wanted if row.startswith("Total ")][:4]
    parts, relabelled = [row.partition(" is ") for row in rows], [*rows]
    places = "".join(str(labels.index(part[0])) if part[0] in labels else "-" for part in parts)
    samples = [*re.finditer("3-*(0(?:11?22|112))(?![23])", places)]  # behind Q1's
    for sample in samples:
        for place in range(sample.start(1) + 1, sample.end()):
            said, said_before = parts[place][2], parts[place - 1][2]
            is_second = places[place] == places[place - 1] and said != said_before
            if is_second and (places[place] == "1" or WHOLE_BYTES.match(said)):
                relabelled[place] = f"{labels[3]} is {said.replace('seconds', 'bytes')}"
    return relabelled, [SAMPLE] * bool(samples)


# ------------------------------------------------ what is missing, refused, or failed

CODE = re.compile(r"import [\w., ]+$|from [\w.]+ import\b|def \w|print ?[(\"']")
ERROR = re.compile(r"(?: *\| )?[A-Za-z_][\w.]*(?:: .*)?")  # the last row of a traceback
CRASH = re.compile(  # of Python, what ends a program, a shell, or the `run` command
    r"(?:timeout: |Fatal Python error: |.*Segmentation fault|stopped |killed: )"
    r"|(?:.*sh: .*|\d+ )?(?:Killed|Terminated|Aborted|Abort trap|Bus error|Illegal instruction"
    r"|Floating point exception)(?:: \d+)?(?: \(core dumped\))?(?: {2,}.*)?$",
    re.IGNORECASE,
)


def _explain(row: str) -> str:
    """Say that a row is not read, and for which of its words, if one is not known."""
    unknown = [word for role, word in tokenize(row) if role in ("unknown", "sign")]
    reason = f" because of '{shorten(unknown[0])}'" if unknown else ""
    return f"not read{reason}: '{shorten(row, 90)}'"


def _refuse(
    printed: Sequence[str], rows: Iterable[Row], failure: Sequence[str], run_notes: Sequence[str]
) -> NoSubmissionError:
    """Say why a text without results is refused."""
    if not printed and run_notes:
        return NoSubmissionError(UNREAD, "; ".join(run_notes))
    if not printed:
        return NoSubmissionError("is empty", "did your program fail?")
    if printed[0].lstrip().startswith("%PDF"):
        return NoSubmissionError("is a PDF", "check reads what a program prints, not a report")
    if sum(CODE.match(row) is not None for row in printed) > 1:
        return NoSubmissionError("is a program", HOW_TO_RUN)
    unread = [f"{_explain(row.text)} ({EXAMPLE})" for row in rows if row.results or row.seeming]
    last = f"it ends with: {shorten(printed[-1], 100)}"
    odd = [note for note in run_notes if not CRASH.match(note)]
    return NoSubmissionError(UNREAD, "; ".join([*[*failure, *unread, last][:1], *odd]))


def _find_failure(rows: Iterable[str]) -> list[str]:
    """Find how a program failed at last: a traceback that is not ignored, a limit, or a crash."""
    reason, is_traceback = "", False
    for before, row in pairwise(["", *(row[:MOST_CHARACTERS] for row in rows)]):
        if "Traceback (most recent call last)" in row:
            is_traceback = not before.startswith("Exception ignored")
        elif CRASH.match(row) or (is_traceback and ERROR.fullmatch(row)):
            reason, is_traceback = row.lstrip(" |"), False
    return [f"the program failed: {shorten(reason, 100).rstrip('.')}"] if reason else []


# ------------------------------------------------ the format

WHOLE_BYTES = re.compile(r"[\d,]+(?:\.0*)? [bs]")  # also of those called seconds
PLAIN = re.compile(r"\d+(?:\.\d+)?|\.\d+")
MARKS = {"-": "+", "+": "-", " ": " "}  # of a diff whose "+" is wanted


def _compare(rows: Sequence[str], numbers: Iterable[Number], question: Question) -> list[str]:
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
    shown, more = marked[2 : 2 + MOST_SHOWN], len(marked[2:]) - MOST_SHOWN  # without two headers
    reason = [PLAIN_DIGITS] * any(row.startswith("+ ") and " ... " in row for row in shown)
    return shown + [f"  and {count(more, 'more row')}"] * (more > 0) + reason


def _fill_in(row: str, number: Number) -> str:
    """Write one's own number into a row of the answers, or dots if it is not in plain digits and
    the asked unit."""
    start, _, unit = row.rsplit(" ", 2)
    is_asked = number.unit in ("", unit) and PLAIN.fullmatch(number.text)
    return f"{start} {number.text if is_asked and len(number.amounts) == 1 else '...'} {unit}"
