"""What is told of one submission and of a class, in sentences, a table and rows of CSV."""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO

import lab3
from report.check.diagnosis import Explanation
from report.check.judge import FOLLOWS, Cause, JudgedNumber, Judgement, Key, list_causes
from report.check.mistakes import BOTH
from report.check.submission import ASKED_UNIT, Line
from report.question import LAB, Question
from report.text import EXACT_DIGITS, count, format_path, format_table, wrap

MOST_ALTERNATIVES = 3
NAMES = {"both": "both strategies"} | {of: f"{of} parallelism" for of in BOTH}
MARK = " [reading]"  # behind another reading of the handout
NOT_WRONG = "right", "too few digits", "missing"
BY_HAND = "unexplained", "too few digits", "no number", "zero", "missing"

Judgements = Mapping[str, Judgement | str]  # by a file's name; or why it is refused

# ------------------------------------------------ causes


def describe_lines(lines: Sequence[Line]) -> str:
    """Name one or two lines, or say how many there are, with the words that they share."""
    shared = [words[0] for words in zip(*lines, strict=True) if len({*words}) == 1]
    many = " ".join([str(len(lines)), *shared, "numbers"])
    return many if lines[2:] else " and ".join(map(str, lines))


def describe_cause(cause: Cause, mark: str = "") -> str:
    """Describe a cause: tensor parallelism: this and that, or another. Behind other readings of the
    handout stands the mark."""
    alternatives = [
        {NAMES[part.strategy]: describe_mistakes(part, mark) for part in parts}
        for parts in cause.alternatives[:MOST_ALTERNATIVES]
    ]
    more = len(cause.alternatives) - len(alternatives)
    end = f" (and {more:,} more)" if more else ""
    names = [*alternatives[0]]
    if len(names) == 1 and all([*it] == names for it in alternatives):  # which is said once
        return f"{names[0]}: {', or '.join(it[names[0]] for it in alternatives)}{end}"
    return ", or ".join("; ".join(map(": ".join, it.items())) for it in alternatives) + end


def describe_mistakes(part: Explanation, mark: str = "") -> str:
    """Join the clauses of mistakes."""
    return " and ".join(it.clause + (mark if it.handout else "") for it in part.mistakes)


def list_mistakes(judged: Judgement, alternatives: int = 1) -> dict[str, str]:
    """List the clauses of a submission's mistakes, and what the handout says against those that are
    other readings; of alternatives so many."""
    return {
        mistake.clause: mistake.handout
        for cause in judged.causes
        for parts in cause.alternatives[:alternatives]
        for part in parts
        for mistake in part.mistakes
    }


def explain_mark(judged: Judgement) -> str:
    """Say what the mark means, if it is there."""
    says = [*filter(None, dict.fromkeys(list_mistakes(judged, MOST_ALTERNATIVES).values()))]
    if not says:
        return ""
    return wrap(
        f"{MARK.strip()}: another reading of the handout, where {' and '.join(says)}. With --key"
        " FILE, what a course's own program prints, check judges by its reading."
    )


def describe_key(key: Key) -> str:
    """Say how a key reads the handout and which lines it lacks; of lab3.py's own answers, what
    differs from this project's reading."""
    if is_as_read(key):
        return ""
    name, of = ("lab3.py", "lab3.py's") if key.is_lab3 else ("The key", "the key's")
    readings = [Explanation(*it) for it in zip(BOTH, key.course.readings, strict=True)]
    causes = list_causes([(readings[0], readings[1])])
    sentences = []
    if causes:
        sentences = [
            f"{name} reads the handout as follows: {'; '.join(map(describe_cause, causes))}."
        ]
    elif len(key.explained) == len(BOTH):
        sentences = [f"{name} reads the handout as this project does."]
    for strategy in BOTH:
        if strategy not in key.explained:
            sentences.append(
                f"Not all of {of} numbers of {strategy} parallelism tell a known reading: they are"
                " taken as right, and mistakes of it are not looked for."
            )
    if key.missing:
        sentences.append(f"It lacks {describe_lines(key.missing)}.")
    return " ".join(sentences)


def is_as_read(key: Key) -> bool:
    """Tell whether what is right is lab3.py's answers, as this project reads the handout."""
    return key.is_lab3 and len(key.explained) == len(BOTH) and not any(key.course.readings)


# ------------------------------------------------ one submission


def describe_judgement(judged: Judgement, key: Key) -> str:
    """Say how many numbers are right and what makes the others; a table; then the format."""
    total, right = len(judged.numbers), judged.right
    notes = [wrap(f"{it[0].upper()}{it[1:]}{'' if it[-1] == '?' else '.'}") for it in judged.notes]
    if right == total:
        words = "are right" if key.is_lab3 else "agree with the key"
        lines = [f"All {total} numbers {words}.", *notes]
        if is_as_read(key):
            lines.append("How the handout is read: python3 report explain readings")
        blocks = ["\n".join(lines)]
    else:
        lines = [f"{right} of {total} numbers {'is' if right == 1 else 'are'} right.", *notes]
        if judged.causes:
            causes = [describe_cause(cause, MARK) for cause in judged.causes]
            lines += ["The wrong ones are what you get if:", *make_list(causes)]
        if rest := list_rest(judged):
            lines.append("What else is wrong:" if judged.causes else "What is wrong:")
            lines += make_list(rest)
        if is_as_read(key):
            lines += list_functions(judged, key.course.question)
        lines.append(explain_mark(judged))
        blocks = ["\n".join(filter(None, lines)), tabulate(judged)]
    if judged.format:
        heading = "Format: what is printed (-), and what the handout asks for (+):"
        blocks.append("\n".join([heading, *judged.format]))
    return "\n\n".join(blocks)


def make_list(items: Sequence[str]) -> list[str]:
    """Write each item behind a dash."""
    return [wrap(f"- {item}", "  ") for item in items]


def list_rest(judged: Judgement) -> list[str]:
    """List what else is wrong: for which lines, and in words."""
    lines: dict[str, list[Line]] = {}
    for number in list_other_numbers(judged):
        lines.setdefault(number.words, []).append(number.line)
    return [f"{describe_lines(of)}: {words}" for words, of in lines.items()]


def list_other_numbers(judged: Judgement) -> list[JudgedNumber]:
    """List the numbers that are not right, and that mistakes do not explain."""
    return [number for number in judged.numbers if number.kind not in ("right", "explained")]


def list_functions(judged: Judgement, question: Question) -> Iterator[str]:
    """List where lab3.py computes what is wrong, with what explains it."""
    wrong = {it.line[1:] for it in judged.numbers if it.kind not in NOT_WRONG}
    if wrong:
        options = "" if question == LAB else " (explain takes the same options)"
        yield f"How the right numbers are computed{options}:"
    for strategy in BOTH:
        names = [f"{strategy}_parallel_{kind}" for kind in ASKED_UNIT if (strategy, kind) in wrong]
        places = [f"lab3.py:{getattr(lab3, it).__code__.co_firstlineno} {it}" for it in names]
        if places:
            yield wrap(f"- {', '.join(places)}; python3 report explain {strategy}", "  ")


def tabulate(judged: Judgement) -> str:
    """Make a table of the numbers and the right ones."""
    rows = [
        (
            f"{number.line.question} {number.line.strategy}",
            "latency s" if number.line.kind == "latency" else "traffic bytes",
            number.given or "-",
            lab3.plain(number.right, EXACT_DIGITS),
            "wrong" if number.kind == "explained" else number.kind,
        )
        for number in judged.numbers
    ]
    return format_table(["", "", "yours", "right", ""], rows)


# ------------------------------------------------ a class


def describe_class(files: Judgements) -> str:
    """Describe each file: how many numbers are right, its name, and below it what is wrong; then
    what occurs how often, and whom to look at by hand."""
    most = max((len(it.numbers) for it in list_judgements(files)), default=0)
    rows = []
    for name, judged in files.items():
        if isinstance(judged, str):
            right, below = "-", [shorten_refusal(name, judged)]
        else:
            right, below = f"{judged.right} of {most}", summarize(judged)
        rows.append(f"{right:6}  {format_path(name)}")
        rows += [wrap(f"{' ' * 8}{line}", " " * 10) for line in below]
    blocks = ["\n".join(rows)]
    often = {what: times for what, times in count_occurrences(files).items() if times > 1}
    if often:
        blocks.append(format_table(["files", "what"], [(it, what) for what, it in often.items()]))
    judgements = list_judgements(files)
    right_files = sum(judged.right == len(judged.numbers) for judged in judgements)
    in_format = sum(judged.is_all_right for judged in judgements)
    have = "has" if right_files == 1 else "have"
    lines = [
        f"{right_files} of {count(len(files), 'file')} {have} every number right, {in_format} also"
        " in the handout's format."
    ]
    if refused := len(files) - len(judgements):
        lines.append(f"{count(refused, 'file')} could not be read.")
    by_hand = [format_path(name) for name, judged in files.items() if is_doubtful(judged)]
    lines.append("Look at by hand:" if by_hand else "Look at by hand: none")
    return "\n\n".join([*blocks, "\n".join([*map(wrap, lines), *(f"  {it}" for it in by_hand)])])


def shorten_refusal(name: str, why: str) -> str:
    """Drop the file's name from the sentence that says why it is refused."""
    return why.removeprefix(format_path(name)).lstrip(": ")


def list_judgements(files: Judgements) -> list[Judgement]:
    """List those that are not refused."""
    return [judged for judged in files.values() if isinstance(judged, Judgement)]


def summarize(judged: Judgement) -> list[str]:
    """List what is wrong: causes, what else, and whether the format differs."""
    causes = [describe_cause(cause, MARK) for cause in judged.causes]
    return [
        *causes,
        *list_rest(judged),
        *judged.notes,
        *["the format differs"] * bool(judged.format),
    ]


def is_doubtful(judged: Judgement | str) -> bool:
    """Tell whether a file is not read, or a number is not explained, or is by one thing or another,
    or by more things than the numbers that they make."""
    return (
        isinstance(judged, str)
        or any(number.kind in BY_HAND for number in judged.numbers)
        or any(
            len(cause.alternatives) > 1
            or sum(len(part.mistakes) for part in cause.alternatives[0]) > len(cause.lines)
            for cause in judged.causes
        )
    )


def count_occurrences(files: Judgements) -> dict[str, int]:
    """Count in how many files something occurs, the most frequent first: mistakes, what else is
    wrong with numbers, and numbers that nothing explains."""
    often: Counter[str] = Counter()
    for judged in list_judgements(files):
        rest = [it for it in list_other_numbers(judged) if it.kind != FOLLOWS]
        kinds = {it.kind for it in rest if it.kind != "unexplained"}
        unexplained = {
            f"{number.given} {ASKED_UNIT[number.line.kind]} for {number.line}, unexplained"
            for number in rest
            if number.kind == "unexplained"
        }
        often.update([*list_mistakes(judged), *sorted(kinds), *sorted(unexplained)])
    return dict(often.most_common())


def format_csv(files: Judgements) -> str:
    """Write a row of CSV for each file, for a gradebook."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["file", "right", "of", "format", "causes", "what else"])
    for name, judged in files.items():
        if isinstance(judged, str):
            writer.writerow([name, "", "", "", "", shorten_refusal(name, judged)])
        else:
            causes = "; ".join(describe_cause(cause, MARK) for cause in judged.causes)
            differs = "differs" if judged.format else "right"
            rest = "; ".join([*list_rest(judged), *judged.notes])
            right, of = judged.right, len(judged.numbers)
            writer.writerow([name, right, of, differs, causes, rest])
    return text.getvalue().rstrip("\n")
