"""What is told of one submission and of a class, in sentences, a table and rows of CSV."""

import csv
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO

import lab3
from report.check.diagnosis import Explanation
from report.check.judge import EXPLAINED, RIGHT, Alternative, Judgement, Reading, list_causes
from report.check.number import ASKED_UNIT
from report.check.submission import FREE, SAMPLE, Line, decode, shorten
from report.model import STRATEGIES
from report.text import EXACT_DIGITS, count, format_path, format_table, join_blocks, wrap

MOST_ALTERNATIVES = 3
MARK = " (another reading)"  # of the handout, behind a mistake that is one
READING = ". The handout says that {}: you read it otherwise"

Judgements = Mapping[str, Judgement | str]  # by a file's name; or why it is refused


# ------------------------------------------------ parts of sentences
def describe_cause(alternatives: Sequence[Alternative], reading: str = MARK) -> str:
    """Describe a cause in one row."""
    return "; ".join(list_clauses(alternatives, reading))


def list_clauses(alternatives: Sequence[Alternative], reading: str) -> list[str]:
    """List the mistakes of a cause: with their strategies, and what is said of another reading."""
    clauses = list[str]()
    for parts in alternatives[:MOST_ALTERNATIVES]:
        begin = "or " * bool(clauses)
        for strategies, mistakes, _ in parts:
            name = "both strategies" if strategies == STRATEGIES else f"{strategies[0]} parallelism"
            for clause, _, _, handout in mistakes:
                says = reading.format(handout) if handout else ""
                clauses.append(f"{begin}{name}: {clause}{says}")
                begin = "and " * (len(alternatives) > 1)
    more = len(alternatives) - MOST_ALTERNATIVES
    return clauses + [f"or {more:,} more"] * (more > 0)


def list_mistakes(judged: Judgement, most: int = 1) -> dict[str, str]:
    """List the clauses of mistakes, of so many alternatives, and what the handout says against
    those that are other readings."""
    parts = [part for cause in judged.causes for parts in cause[:most] for part in parts]
    return {mistake.clause: mistake.handout for part in parts for mistake in part.mistakes}


def list_rest(judged: Judgement) -> list[str]:
    """List what else is wrong: for which lines, and in words."""
    lines: dict[str, list[Line]] = {}
    for number in judged.numbers:
        if number.kind not in (RIGHT, EXPLAINED):
            lines.setdefault(number.words, []).append(number.line)
    return [f"{describe_lines(own)}: {words}" for words, own in lines.items()]


def describe_lines(lines: Sequence[Line]) -> str:
    """Name one or two lines, or say how many there are, with the words that they share."""
    shared = [words[0] for words in zip(*lines, strict=True) if len({*words}) == 1]
    many = " ".join([str(len(lines)), *shared, "numbers"])
    return many if lines[2:] else " and ".join(map(str, lines))


def describe_key(reading: Reading) -> str:
    """Describe how a key reads the handout, what it lacks and what is noted of it."""
    pair = tuple(Explanation((it,), reading.mistakes.get(it, ())) for it in STRATEGIES)
    causes = "; ".join(describe_cause(cause, "") for cause in list_causes([pair]))
    unknown = " and ".join(it for it in STRATEGIES if it not in reading.mistakes)
    doubt = ", as far as it goes" * bool(reading.missing)
    sentences = [
        f"The key reads the handout as follows: {causes}." if causes else "",
        "" if causes or unknown else f"The key reads the handout as this project does{doubt}.",
        f"Not all of its numbers of {unknown} parallelism match a known reading in four digits or"
        " more: they are taken as right, and mistakes of it are not looked for."
        if unknown
        else "",
        f"It lacks {describe_lines(reading.missing)}." if reading.missing else "",
        *(f"Noted of the key: {note}." for note in reading.notes),
    ]
    return " ".join(filter(None, sentences))


# ------------------------------------------------ one submission
def describe_judgement(judged: Judgement, reading: Reading) -> str:
    """Say how many numbers are right and what makes the others; a table; then the format."""
    total, right = len(judged.numbers), judged.right
    rest = list_rest(judged)
    lines = [f"{right} of {total} numbers {'is' if right == 1 else 'are'} right."]
    agrees = reading.is_key and not reading.missing
    if right == total:
        lines = [f"All {total} numbers {'agree with the key' if agrees else 'are right'}."]
    lines += [f"{note[0].upper()}{note[1:]}{'.' * (note[-1] != '?')}" for note in judged.notes]
    if judged.causes:
        lines += ["The wrong ones are what you get if:"]
        clauses = [it for cause in judged.causes for it in list_clauses(cause, READING)]
        lines += [wrap(f"- {clause}", "  ") for clause in clauses]
    if rest:
        lines.append("What else is wrong:" if judged.causes else "What is wrong:")
        lines += [wrap(f"- {it}", "  ") for it in rest]
    if any(list_mistakes(judged, MOST_ALTERNATIVES).values()):
        lines.append("If your course reads it so, too: --key FILE, with what its program prints")
    if right == total and not reading.is_key:
        lines.append("How the handout is read: python3 report explain readings")
    asks = "lab3.py prints" if SAMPLE in judged.notes else "the handout asks for"
    heading = [f"Format: what is printed (-), and what {asks} (+):"]
    rows = "\n".join(heading * bool(judged.format != [FREE] and judged.format) + judged.format)
    return join_blocks(
        join_blocks(*lines, gap="\n"), "" if right == total else tabulate(judged), rows
    )


def tabulate(judged: Judgement) -> str:
    """Make a table of the numbers and the right ones."""
    rows = []
    for line, number, right, kind, _ in judged.numbers:
        unit = "" if number.unit == ASKED_UNIT[line.kind] else number.unit
        yours = shorten(f"{number.text} {unit}".strip()) or "-"
        name = f"{line.kind} {'s' if line.kind == 'latency' else 'bytes'}"
        verdict = "wrong" if kind == EXPLAINED else kind
        right_text = lab3.format_decimal(right, EXACT_DIGITS)
        rows.append((f"{line.question} {line.strategy}", name, yours, right_text, verdict))
    return format_table(["", "", "yours", "right", ""], rows)


# ------------------------------------------------ a class
def describe_class(files: Judgements) -> str:
    """Describe each file: how many numbers are right, its name, and below it what is wrong; then
    what occurs how often, and whom to look at by hand."""
    rows, by_hand, often = list[str](), list[str](), Counter[str]()
    for name, judged in files.items():
        right, below, is_doubtful = "-", [str(judged)], True
        if isinstance(judged, Judgement):
            right, is_doubtful = f"{judged.right} of {len(judged.numbers)}", judged.is_doubtful
            below = [*map(describe_cause, judged.causes), *list_rest(judged), *judged.notes]
            below += ["the format differs"] * bool(judged.format)
            often.update([*list_mistakes(judged), *list_rest(judged)])
        rows.append(f"{right:6}  {format_path(name)}")
        rows += [wrap(f"{' ' * 8}{line}", " " * 10) for line in below]
        by_hand += [f"  {format_path(name)}"] * is_doubtful
    judgements = [judged for judged in files.values() if isinstance(judged, Judgement)]
    right_files = sum(judged.right == len(judged.numbers) for judged in judgements)
    in_format = sum(judged.is_all_right for judged in judgements)
    refused = len(files) - len(judgements)
    summary = join_blocks(
        f"{right_files} of {count(len(files), 'file')} {'has' if right_files == 1 else 'have'}"
        f" every number right, {in_format} also in the handout's format.",
        f"{count(refused, 'file')} could not be read." if refused else "",
        "\n".join(["Look at by hand:", *by_hand]) if by_hand else "Look at by hand: none",
        gap="\n",
    )
    frequent = [(times, what) for what, times in often.most_common() if times > 1]
    table = format_table(["files", "what"], frequent) if frequent else ""
    return join_blocks("\n".join(rows), table, summary)


def format_csv(files: Judgements, lines: Iterable[Line]) -> str:
    """Write a row of CSV for each file, for a gradebook."""
    text, asked = StringIO(), [*map(str, lines)]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["file", "right", "of", *asked, "format", "causes", "by hand", "notes"])
    for name, judged in files.items():
        cells: list[object] = [*[""] * (len(asked) + 4), "yes", judged]
        if isinstance(judged, Judgement):
            kinds = [number.kind for number in judged.numbers]
            causes, notes = map(describe_cause, judged.causes), [*list_rest(judged), *judged.notes]
            cells = [judged.right, len(kinds), *kinds, "differs" if judged.format else "right"]
            cells += ["; ".join(causes), "yes" if judged.is_doubtful else "no", "; ".join(notes)]
        writer.writerow(map(format_cell, (decode(os.fsencode(name)), *cells)))
    return text.getvalue().rstrip("\n")


def format_cell(cell: object) -> str:
    """Format a cell that no spreadsheet computes."""
    text = str(cell) if str(cell).isprintable() else ascii(cell)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
