"""The reports on one submission and on a class: sentences, a table and rows of CSV."""

import csv
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO

import lab3
from report.check.diagnosis import Explanation
from report.check.judge import EXPLAINED, OTHER_LINE, RIGHT, Judgement, Reading
from report.check.mistakes import Line
from report.check.reading import ASKED_UNIT, FREE, LATIN_1, shorten
from report.model import STRATEGIES
from report.text import EXACT_DIGITS, count, format_path, format_table, join_blocks, wrap

MOST_ALTERNATIVES = 3
MARK = " (against the handout's words)"  # after another reading of the handout, in a class
READING = ", but the handout says {}"
UNKNOWN = (
    "The key's numbers of {} parallelism are not lab3.py's: those that agree with it are right, and"
    " causes are not sought."
)


# ------------------------------------------------ parts of sentences
def describe_causes(causes: Sequence[Explanation], reading: str = MARK) -> list[str]:
    """Describe each cause, with its alternatives, in one row."""
    return ["; ".join(list_clauses(alternatives, reading)) for alternatives in group_causes(causes)]


def group_causes(causes: Sequence[Explanation]) -> list[list[Explanation]]:
    """Group alternatives, the causes that explain the same lines."""
    sets = dict.fromkeys(cause.lines for cause in causes)
    return [[cause for cause in causes if cause.lines == lines] for lines in sets]


def list_clauses(alternatives: Sequence[Explanation], reading: str) -> list[str]:
    """List the mistakes of alternatives with their strategies, and a remark on other readings."""
    clauses = list[str]()
    for alternative in alternatives[:MOST_ALTERNATIVES]:
        begin = "or " * bool(clauses)
        for clause, _, strategies, handout in alternative.mistakes:
            name = "both strategies" if strategies == STRATEGIES else f"{strategies[0]} parallelism"
            clauses.append(f"{begin}{name}: {clause}{reading.format(handout) if handout else ''}")
            begin = "and "
    rest = len(alternatives) - MOST_ALTERNATIVES
    return clauses + [f"or {count(rest, 'other cause')}"] * (rest > 0)


def list_rest(judged: Judgement) -> list[str]:
    """List, in words, what is wrong with the lines that are neither right nor explained."""
    lines: dict[str, list[Line]] = {}
    for number in judged.numbers:
        if number.kind not in (RIGHT, EXPLAINED):
            lines.setdefault(number.words, []).append(number.line)
    return [f"{describe_lines(alike)}: {words}" for words, alike in lines.items()]


def describe_lines(lines: Sequence[Line]) -> str:
    """Name one or two lines, or give the number of lines with the words that they share."""
    shared = [words[0] for words in zip(*lines, strict=True) if len({*words}) == 1]
    many = " ".join([str(len(lines)), *shared, "numbers"])
    return many if lines[2:] else " and ".join(map(str, lines))


def describe_key(reading: Reading) -> str:
    """Describe for which strategies a key, if there is one, agrees with lab3.py, what it lacks, and
    its notes."""
    unknown = " and ".join(name for name in STRATEGIES if name not in reading.known)
    sentences = [UNKNOWN.format(unknown) if unknown else "The key agrees with lab3.py."]
    if reading.missing:
        sentences.append(f"It lacks {describe_lines(reading.missing)}.")
    sentences += [f"Note on the key: {note}." for note in reading.notes]
    return " ".join(sentences) if reading.is_key else ""


# ------------------------------------------------ one submission
def describe_judgement(judged: Judgement, reading: Reading) -> str:
    """Describe how many numbers are right, the causes of the others, a table, and the format."""
    total, right = len(judged.numbers), judged.right
    lines = [f"{right} of {total} numbers {'is' if right == 1 else 'are'} right."]
    if right == total:
        agrees = reading.is_key and not reading.missing
        lines = [f"All {total} numbers {'agree with the key' if agrees else 'are right'}."]
    lines += [f"{note[0].upper()}{note[1:]}{'.' * (note[-1] not in '.?')}" for note in judged.notes]
    groups = group_causes(judged.causes)
    clauses = [clause for group in groups for clause in list_clauses(group, READING)]
    amount = f"{reading.question.inputs:,}"
    clauses = [re.sub(r"\bN\b", amount, clause) for clause in clauses]
    lines += list_points("The wrong ones are what you get if:", clauses)
    lines += list_points("Also:" if clauses else "What is wrong:", list_rest(judged))
    if any(mistake.handout for cause in judged.causes for mistake in cause.mistakes):
        lines.append("If the course's solution agrees with you, pass its output: --key FILE")
    if right == total and not reading.is_key:
        lines.append("For the assumptions: python3 report explain readings")
    table, rows = "" if right == total else tabulate(judged), judged.format
    if rows and rows != [FREE]:
        rows = ["Format: your rows (-), and the handout's with your numbers (+):", *rows]
    return join_blocks(join_blocks(*lines, gap="\n"), table, "\n".join(rows))


def list_points(title: str, points: Sequence[str]) -> list[str]:
    """List points below a title, if there are any."""
    return [title, *(wrap(f"- {point}", "  ") for point in points)] if points else []


def tabulate(judged: Judgement) -> str:
    """Make a table of a submission's numbers and the right numbers."""
    rows = []
    for line, number, right, kind, _ in judged.numbers:
        unit = "" if number.unit == ASKED_UNIT[line.kind] else number.unit
        yours = shorten(f"{number.text} {unit}".strip()) or "-"
        name = f"{line.kind} {'s' if line.kind == 'latency' else 'bytes'}"
        verdict = "wrong" if kind in (EXPLAINED, OTHER_LINE) else kind
        right_text = lab3.format_decimal(right, EXACT_DIGITS)
        rows.append((f"{line.question} {line.strategy}", name, yours, right_text, verdict))
    return format_table(["", "", "yours", "expected", ""], rows)


# ------------------------------------------------ a class
def describe_class(files: Mapping[str, Judgement]) -> str:
    """Describe each file: how many numbers are right, its name, and below it what is wrong; then
    how often each mistake occurs, and which files to look at by hand."""
    rows, often = list[str](), Counter[str]()
    for name, judged in files.items():
        below = [*describe_causes(judged.causes), *list_rest(judged), *judged.notes]
        below += ["the format differs"] * bool(judged.format)
        right = f"{judged.right} of {len(judged.numbers)}" if judged.numbers else "-"
        rows.append(f"{right:6}  {format_path(name)}")
        rows += [wrap(f"{' ' * 8}{line}", " " * 10) for line in below]
        firsts = [group[0].mistakes for group in group_causes(judged.causes)]
        clauses = dict.fromkeys(mistake.clause for mistakes in firsts for mistake in mistakes)
        often.update([*clauses, *list_rest(judged)])
    frequent = [(times, what) for what, times in often.most_common() if times > 1]
    table = format_table(["files", "mistake"], frequent) if frequent else ""
    return join_blocks("\n".join(rows), table, summarize(files))


def summarize(files: Mapping[str, Judgement]) -> str:
    """Describe how many files are right, how many are refused, and which to look at by hand."""
    judgements = [judged for judged in files.values() if judged.numbers]
    right = sum(judged.right == len(judged.numbers) for judged in judgements)
    in_format = sum(judged.is_all_right for judged in judgements)
    refused = len(files) - len(judgements)
    by_hand = [f"  {format_path(name)}" for name, judged in files.items() if judged.by_hand]
    return join_blocks(
        f"{right} of {count(len(files), 'file')} {'has' if right == 1 else 'have'} every number"
        f" right, {in_format} also in the handout's format.",
        f"{count(refused, 'file')} could not be judged." if refused else "",
        "\n".join(["Look at by hand:", *by_hand]) if by_hand else "Look at by hand: none",
        gap="\n",
    )


def format_csv(files: Mapping[str, Judgement], lines: Iterable[Line]) -> str:
    """Format a row of CSV per file, for a gradebook."""
    text, asked = StringIO(), [*map(str, lines)]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["file", "right", "of", *asked, "format", "causes", "notes", "by hand"])
    for name, judged in files.items():
        kinds = [number.kind for number in judged.numbers]
        layout = "differs" if judged.format else "right"
        cells = [judged.right, len(kinds), *kinds, layout] if kinds else [""] * (len(asked) + 3)
        causes, notes = describe_causes(judged.causes), [*list_rest(judged), *judged.notes]
        cells += ["; ".join(causes), "; ".join(notes), "yes" if judged.by_hand else "no"]
        # UTF-8, in which invalid bytes are Latin-1, whatever the terminal's encoding
        decoded = os.fsencode(name).decode("utf-8", "surrogateescape").translate(LATIN_1)
        writer.writerow(map(format_cell, (decoded, *cells)))
    return text.getvalue().rstrip("\n")


def format_cell(cell: object) -> str:
    """Format a cell so that no spreadsheet evaluates it."""
    text = str(cell) if str(cell).isprintable() else ascii(cell)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
