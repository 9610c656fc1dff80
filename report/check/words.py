"""The reports on one submission and on a class: sentences, a table and rows of CSV."""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from io import StringIO
from itertools import chain

import lab3
from report.check.diagnosis import Cause, Explanation
from report.check.judge import EXPLAINED, FEW_DIGITS, OTHER_LINE, RIGHT, Judgement, Reading
from report.check.mistakes import Line
from report.check.reading import shorten
from report.model import KINDS, STRATEGIES
from report.question import Question
from report.text import EXACT_DIGITS, count, format_path, format_table, join_blocks, wrap

MARK = " (against the handout's words)"  # after another reading of the handout, in a class
AGAINST = ", but the handout says {}"


# ------------------------------------------------ parts of sentences
def list_alternatives(cause: Cause, question: Question, remark: str = MARK) -> list[str]:
    """Describe each alternative of a cause; all but the first begin with "or"."""
    told = [describe_explanation(each, question, remark) for each in cause]
    return [*told[:1], *(f"or {words}" for words in told[1:])]


def describe_explanation(explanation: Explanation, question: Question, remark: str) -> str:
    """Describe mistakes, each strategy's after its name, with a remark on other readings."""
    parts: dict[str, list[str]] = {}
    for mistake in explanation.mistakes:
        strategies, handout = mistake.strategies, mistake.handout
        name = "both strategies" if strategies == STRATEGIES else f"{strategies[0]} parallelism"
        words = mistake.describe(question) + remark.format(handout) * bool(handout)
        parts.setdefault(name, []).append(words)
    return "; and ".join(f"{name}: {'; and '.join(clauses)}" for name, clauses in parts.items())


def list_rest(judged: Judgement) -> list[str]:
    """List, in words, what is wrong with the lines that are neither right nor explained."""
    lines: dict[str, list[Line]] = {}
    for number in judged.numbers:
        if number.verdict not in (RIGHT, EXPLAINED):
            lines.setdefault(number.words, []).append(number.line)
    return [f"{describe_lines(alike)}: {words}" for words, alike in lines.items()]


def describe_lines(lines: Sequence[Line]) -> str:
    """Name one or two lines, or give the number of lines with the words that they share."""
    shared = [words[0] for words in zip(*lines, strict=True) if len({*words}) == 1]
    many = " ".join([str(len(lines)), *shared, "numbers"])
    return many if lines[2:] else " and ".join(map(str, lines))


def describe_key(reading: Reading) -> str:
    """Describe where a key, if there is one, differs from lab3.py, what it lacks, and its notes."""
    other, sentences = reading.other, ["The key agrees with lab3.py."]
    if other:
        strategies = " and ".join(name for name in STRATEGIES if name not in reading.sought)
        are = "are" if other[1:] else "is"
        unsought = f"{are} not lab3.py's, so causes are not sought for {strategies} parallelism."
        sentences = [f"The key's {describe_lines(other)} {unsought}"]
    if reading.missing:
        sentences.append(f"It lacks {describe_lines(reading.missing)}.")
    sentences += [f"Note on the key: {note}." for note in reading.notes]
    return " ".join(sentences) if reading.is_key else ""


# ------------------------------------------------ one submission
def describe_judgement(judged: Judgement, reading: Reading) -> str:
    """Describe how many numbers are right, the causes of the others, a table, and the format."""
    total, right = len(judged.numbers), judged.right
    few = sum(number.verdict == FEW_DIGITS for number in judged.numbers)
    rest = f", {few} {'has' if few == 1 else 'have'} too few digits" * bool(few)
    lines = [f"{right} of {total} numbers {'is' if right == 1 else 'are'} right{rest}."]
    if right == total:
        agrees = reading.is_key and not reading.missing
        lines = [f"All {total} numbers {'agree with the key' if agrees else 'are right'}."]
    lines += [f"{note[0].upper()}{note[1:]}{'.' * (note[-1] not in '.?')}" for note in judged.notes]
    causes = [list_alternatives(cause, reading.question, AGAINST) for cause in judged.causes]
    others = list_rest(judged)
    title = f"{'Some' if others else 'The'} wrong ones are what you get if:"
    lines += list_points(title, [*chain.from_iterable(causes)])
    lines += list_points("Also:" if causes else "Look at:", others)
    if not reading.is_key:
        topic = "assumptions: python3 report explain readings"
        other = "known mistakes: python3 report explain mistakes"
        lines.append(f"For the {topic if right == total else other}")
    table = "" if right == total else tabulate(judged)
    return join_blocks(join_blocks(*lines, gap="\n"), table, "\n".join(judged.format))


def list_points(title: str, points: Sequence[str]) -> list[str]:
    """List points below a title, if there are any."""
    return [title, *(wrap(f"- {point}", "  ") for point in points)] if points else []


def tabulate(judged: Judgement) -> str:
    """Make a table of a submission's numbers and the right numbers."""
    rows = []
    for line, number, right, verdict, _ in judged.numbers:
        unit = "" if number.unit == KINDS[line.kind] else number.unit
        yours = shorten(f"{number.text} {unit}".strip()) or "-"
        name = f"{line.kind} {'s' if line.kind == 'latency' else 'bytes'}"
        shown = "wrong" if verdict in (EXPLAINED, OTHER_LINE) else verdict
        right_text = lab3.format_decimal(right, EXACT_DIGITS)
        rows.append((f"{line.question} {line.strategy}", name, yours, right_text, shown))
    return format_table(["", "", "yours", "expected", ""], rows)


# ------------------------------------------------ a class
Files = Mapping[str, Judgement]  # by name


def describe_class(files: Files, reading: Reading) -> str:
    """Describe each file: how many numbers are right, its name, and below it what is wrong; then
    how often each line is right, how often each mistake occurs, and what to look at by hand."""
    rows, often = list[str](), Counter[str]()
    rights = Counter(dict.fromkeys(reading.right, 0))
    for name, judged in files.items():
        causes = [list_alternatives(cause, reading.question) for cause in judged.causes]
        wrong = [*map("; ".join, causes), *list_rest(judged)]
        below = [*wrong, *judged.notes, *["the format differs"] * bool(judged.format)]
        right = f"{judged.right} of {len(judged.numbers)}" if judged.numbers else "-"
        rows.append(f"{right:6}  {format_path(name)}")
        rows += [wrap(f"{' ' * 8}{line}", " " * 10) for line in below]
        often.update(wrong)
        rights.update(number.line for number in judged.numbers if number.verdict == RIGHT)
    table = format_table(["files", "right number"], [(rights[line], str(line)) for line in rights])
    frequent = [f"{times:5}  {what}" for what, times in often.most_common() if times > 1]
    title = ["files  what is wrong"] * bool(frequent)
    recurring = "\n".join([*title, *(wrap(row, " " * 9) for row in frequent)])
    return join_blocks("\n".join(rows), table, recurring, summarize(files))


def summarize(files: Files) -> str:
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


def format_csv(files: Files, reading: Reading) -> str:
    """Format a row of CSV per file, for a gradebook."""
    text, asked = StringIO(), [*map(str, reading.right)]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["file", "right", "of", *asked, "format", "causes", "notes", "by hand"])
    for name, judged in files.items():
        told = [number.verdict for number in judged.numbers]
        layout = "differs" if judged.format else "right"
        cells = [judged.right, len(told), *told, layout] if told else [""] * (len(asked) + 3)
        causes = ["; ".join(list_alternatives(each, reading.question)) for each in judged.causes]
        notes = [*list_rest(judged), *judged.notes]
        cells += ["; ".join(causes), "; ".join(notes), "yes" if judged.by_hand else "no"]
        writer.writerow(map(format_cell, (format_path(name), *cells)))
    return text.getvalue().rstrip("\n")


def format_cell(cell: object) -> str:
    """Format a cell so that no spreadsheet evaluates it."""
    text = str(cell) if str(cell).isprintable() else ascii(cell)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
