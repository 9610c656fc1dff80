"""The output of a submitted lab3.py: the number of each line, notes on doubts, and the format."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from difflib import unified_diff
from itertools import pairwise
from typing import NamedTuple

import lab3
from report.check.mistakes import Line, list_lines
from report.check.number import Number
from report.check.rows import MOST_CHARACTERS, Result, Row, Token, read_rows, tokenize
from report.question import Question, prefix_question
from report.text import COLUMNS, count
from report.whatif import answer

MOST_SHOWN = 10  # rows of the diff
NO_Q2 = "no Q2 heading was found; each label's second row counts as Q2's"
SAMPLE = (
    "Q2 is printed as in the handout's sample, which omits pipeline traffic; a repeated row with a"
    " new number counts as pipeline traffic"
)
HOW_TO_RUN = "python3 YOURS | python3 report check"
EXAMPLE = "print it as: Total latency of tensor parallelism is 0.1 seconds"
UNREAD = "has no results that can be read"
FREE = "Format: print the handout's rows, word for word."
PLAIN_DIGITS = '  for "...", print plain digits: 0.0031 or 1923072, not 3.1e-03 or 1,923,072'
RUN = "report run: "  # begins each note that the `run` command appends to an output


class NoSubmissionError(ValueError):
    """A text that cannot be judged: what is wrong with it, and what to do."""

    def __init__(self, what: str, advice: str):
        super().__init__(f"text {what}; {advice}")
        self.what, self.advice = what, advice


def shorten(text: str, most: int = 24) -> str:
    """Make a text printable ASCII, and truncate it."""
    printable = re.sub("[^ -~]", "?", text[: most + 1]).strip()
    return printable if len(printable) <= most else f"{printable[: most - 3]}..."


# ------------------------------------------------ text
ESCAPE = re.compile(  # CSI; OSC, DCS and other strings; the rest
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[]PX^_][^\a\x1b\n]*(?:\a|\x1b\\)|\x1b[ -/]*[0-~]"
)
LATIN_1 = {0xDC00 + byte: byte for byte in range(0x80, 0x100)}  # for bytes that are not UTF-8
ALIKE = str.maketrans("\u00b5\u03bc\u2212\u2013\u2014\u2248\u2502", "uu---~|")  # micro ...


def decode(data: bytes) -> str:
    """Decode UTF-16 (or UTF-32: UTF-16 between zeros) if a byte order mark or zero bytes indicate
    it, or else UTF-8, in which invalid bytes are Latin-1."""
    for mark, place, encoding in ((b"\xff\xfe", 1, "utf-16-le"), (b"\xfe\xff", 0, "utf-16-be")):
        if data.startswith(mark) or data[place::2].count(0) > len(data) // 3:
            return data.decode(encoding, "replace")
    return data.decode("utf-8", "surrogateescape").translate(LATIN_1)


def _split_rows(text: str) -> list[str]:
    """Split a text into rows that are not blank, without escapes and invisible characters. If it
    has line feeds, other separators are blanks and do not end a row."""
    text = ESCAPE.sub("", text.translate(ALIKE))
    rows = re.split("[\r\n]+", text) if re.search("[\r\n]", text.strip()) else text.splitlines()
    changes = {
        ord(character): " " * character.isspace()
        for character in {*text} - {"\t"}
        if character.isspace() or unicodedata.category(character) in ("Cc", "Cf")
    }
    return [row for row in (row.translate(changes) for row in rows) if row.strip()]


# ------------------------------------------------ which result counts
def _group(rows: Sequence[Row], lines: Sequence[Line]) -> dict[Line, list[Result]]:
    """Group results by line. If Q2 is asked for but not named, the second of two results with the
    same label is Q2's, unless their numbers are equal."""
    groups, results = dict[Line, list[Result]](), [result for row in rows for result in row.results]
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
    return {line: groups[line] for line in lines if line in groups}


def _choose(results: Iterable[Result], labels: Collection[tuple[Token, ...]]) -> Result:
    """Choose the last of the best: with the handout's label, then in no doubt, then a number."""

    def rank(result: Result) -> tuple[bool, bool, bool]:
        return result.label in labels, not result.said.is_vague, result.number.amounts != ()

    return sorted(results, key=rank)[-1]


def _note_others(line: Line, chosen: Result, results: Iterable[Result]) -> str:
    """Return a note if different numbers are printed for a line. Results in more doubt than the
    chosen result are ignored."""
    numbers = [result.number for result in results if result.said.is_vague <= chosen.said.is_vague]
    if all(not number.amounts or number.equals(chosen.number) for number in numbers):
        return ""
    return f"{line} was found {len(numbers)} times; {shorten(chosen.number.text)} is used"


# ------------------------------------------------ submissions
class Submission(NamedTuple):
    """A submission, as it was read."""

    numbers: dict[Line, Number]  # of the lines that were found
    unread: dict[Line, str]  # of missing lines: why the first row that may mean it was not read
    repeated: list[Line]  # lines with different numbers
    other_inputs: dict[str, int]  # by question: another number, which is named with it
    notes: list[str]  # doubts, and how the program failed
    run_notes: list[str]  # the notes that the `run` command wrote
    format: list[str]  # the rows of a diff; none if the format is the handout's


def read_submission(text: str, question: Question, impossible: Collection[str] = ()) -> Submission:
    """Read the output of a lab3.py. Raises NoSubmissionError for a text without results."""
    printed, run_notes = _split_off_notes(_split_rows(text))
    stripped, wanted = [row.strip() for row in printed], lab3.answers(*question).splitlines()
    is_source = [SOURCE.match(before) is not None for before in ["", *printed][:-1]]
    output = [row * (not quoted) for row, quoted in zip(stripped, is_source, strict=True)]
    relabelled, sample = _relabel_sample(output, wanted)
    rows, lines = read_rows(relabelled, question.inputs), list_lines(question, impossible)
    groups = _group(rows, lines)
    is_whole = len(groups) == len(lines)
    end = max(place for place, row in enumerate(rows, 1) if row.results) if is_whole else 0
    failure = _find_failure([*printed[end:], *run_notes])
    odd = [note for note in run_notes if not CRASH.match(note)]
    if not groups:
        raise _refuse(printed, rows, failure, odd)
    labels = {row.results[0].label for row in read_rows(wanted, question.inputs) if row.results}
    chosen = {line: _choose(results, labels) for line, results in groups.items()}
    numbers = {line: result.number for line, result in chosen.items()}
    repeated = {line: _note_others(line, chosen[line], groups[line]) for line in groups}
    others = {said.question: said.other_inputs for said, *_ in chosen.values() if said.other_inputs}
    notes = [NO_Q2] * any(result.said.line != line for line, result in chosen.items())
    notes += [f"{name} is of {count(inputs, 'input')}" for name, inputs in others.items()]
    return Submission(
        numbers,
        _explain_missing(rows, [line for line in lines if line not in groups]),
        [line for line, note in repeated.items() if note],
        others,
        [*sample, *notes, *filter(None, repeated.values()), *failure, *odd],
        run_notes,
        _compare(stripped, [numbers.get(line, Number()) for line in lines], question),
    )


def _split_off_notes(rows: list[str]) -> tuple[list[str], list[str]]:
    """Split off the notes that the `run` command appended to an output."""
    end = len(rows)
    while end and rows[end - 1].startswith(RUN):
        end -= 1
    return rows[:end], [row.removeprefix(RUN) for row in rows[end:]]


def _relabel_sample(rows: Sequence[str], wanted: Iterable[str]) -> tuple[list[str], list[str]]:
    """Relabel pipeline traffic if Q2 has the labels of the handout's sample: no pipeline traffic,
    but tensor traffic, pipeline latency or both twice. Add a note in this case."""
    labels = [row.partition(" is ")[0] for row in wanted if row.startswith("Total ")][:4]
    parts, relabelled = [row.partition(" is ") for row in rows], [*rows]
    places = "".join(str(labels.index(part[0])) if part[0] in labels else "-" for part in parts)
    samples = [*re.finditer("3-*(0(?:11?22|112))(?![23])", places)]  # after Q1's labels
    for place in (
        place for sample in samples for place in range(sample.start(1) + 1, sample.end())
    ):
        label, _, said = parts[place]
        is_second = label == parts[place - 1][0] and said != parts[place - 1][2]
        if is_second and (label == labels[1] or WHOLE_BYTES.match(said)):
            relabelled[place] = f"{labels[3]} is {said.replace('seconds', 'bytes')}"
    return relabelled, [SAMPLE] * bool(samples)


# ------------------------------------------------ what is missing, refused, or failed
CODE = re.compile(r"import [\w., ]+$|from [\w.]+ import\b|def \w|print ?[(\"']")
ERROR = re.compile(r"(?: *\| )?[A-Za-z_][\w.]*(?:: .*)?")  # the last row of a traceback
SOURCE = re.compile(r'\s+File ".*", line \d+')  # precedes a quoted row of a program
CRASH = re.compile(  # printed by `timeout`, Python, a shell, or the `run` command
    r"(?:timeout|Fatal Python error|(?:Syntax|Indentation|Tab)Error|killed): |stopped after "
    r"|.*Segmentation fault"
    r"|(?:.*sh: .*)?(?:Killed|Terminated|Aborted)(?: \(core dumped\))?(?: {2,}.*)?$",
    re.IGNORECASE,
)


def _explain_unread(row: str) -> str:
    """Explain that a row was not read, and because of which unknown word, if there is one."""
    unknown = [ascii(word)[1:-1] for role, word in tokenize(row) if role in ("unknown", "sign")]
    reason = f"'{shorten(unknown[0])}' is not understood in" if unknown else "not read:"
    return f"{reason} '{shorten(row, 90)}'"


def _explain_missing(rows: Sequence[Row], missing: Iterable[Line]) -> dict[Line, str]:
    """Explain for each missing line why the first row that may mean it was not read."""
    seeming = {line: row.text for row in reversed(rows) for line in row.seeming}
    return {line: _explain_unread(seeming[line]) for line in missing if line in seeming}


def _refuse(
    printed: Sequence[str], rows: Iterable[Row], failure: Sequence[str], odd: Sequence[str]
) -> NoSubmissionError:
    """Return an error that explains why a text without results is refused."""
    if not printed and not failure and not odd:
        return NoSubmissionError("is empty", "did the program fail?")
    if printed and printed[0].lstrip().startswith("%PDF"):
        return NoSubmissionError("is a PDF", "check reads what a program prints, not a report")
    if sum(CODE.match(row) is not None for row in printed) > 1:
        return NoSubmissionError("is a program", HOW_TO_RUN)
    unread = [
        f"{_explain_unread(row.text)} ({EXAMPLE})" for row in rows if row.results or row.seeming
    ]
    last = [f"it ends with: {shorten(row, 100)}" for row in printed[-1:]]
    reasons = [*failure, *unread, *last]
    return NoSubmissionError(UNREAD, "; ".join([*reasons[:1], *odd]))


def _find_failure(rows: Iterable[str]) -> list[str]:
    """Find the last failure of a program: a traceback that is not ignored, a limit or a crash."""
    reason, is_traceback = "", False
    for before, row in pairwise(["", *(row[:MOST_CHARACTERS] for row in rows)]):
        if "Traceback (most recent call last)" in row:
            is_traceback = not before.startswith("Exception ignored")
        elif CRASH.match(row) or (is_traceback and ERROR.fullmatch(row)):
            reason, is_traceback = row.lstrip(" |"), False
    fate = "was" if reason.startswith("stopped ") else "failed:"
    return [f"the program {fate} {shorten(reason, 100).rstrip('.')}"] if reason else []


# ------------------------------------------------ the format
WHOLE_BYTES = re.compile(r"[\d,]+(?:\.0*)? [bs]")  # also if labelled seconds
PLAIN = re.compile(r"\d+(?:\.\d+)?|\.\d+")
MARKS = {"-": "+", "+": "-", " ": " "}  # of a diff in which "+" marks the expected rows


def _compare(rows: Sequence[str], numbers: Iterable[Number], question: Question) -> list[str]:
    """List the first ten rows of a diff between rows and the answers with the submission's numbers,
    with a row of context. Rows that `whatif` adds are ignored."""
    answers, numbers_left = lab3.answers(*question).splitlines(), iter(numbers)
    whatif = prefix_question(question, answer(question), "\n").splitlines()
    wanted = [row for row in answers if row.startswith(("-", "Total "))]
    added = {row.strip() for row in answers + whatif} - {*wanted}
    filled_in = [row if row[0] == "-" else _fill_in(row, next(numbers_left)) for row in wanted]
    printed = [row for row in rows if row not in added]
    if not {*printed} & {*filled_in}:
        return [FREE]
    diff = [row for row in unified_diff(filled_in, printed, n=1, lineterm="") if row[0] in MARKS][
        2:
    ]
    shown = [f"{MARKS[row[0]]} {shorten(row[1:], COLUMNS - 2)}" for row in diff[:MOST_SHOWN]]
    rest = [f"  and {count(len(diff) - MOST_SHOWN, 'more row')}"] * (len(diff) > MOST_SHOWN)
    reason = [PLAIN_DIGITS] * any(row.startswith("+ ") and " ... " in row for row in shown)
    return shown + rest + reason


def _fill_in(row: str, number: Number) -> str:
    """Write a submission's number into a row of the answers, or dots if it is not in plain digits
    and the unit asked for."""
    start, _, unit = row.rsplit(" ", 2)
    is_asked = number.unit in ("", unit) and PLAIN.fullmatch(number.text)
    return f"{start} {number.text if is_asked and len(number.amounts) == 1 else '...'} {unit}"
