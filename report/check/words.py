"""What is told of one submission and of many, in sentences and tables."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import lab3
from report.check.changes import BOTH, Change
from report.check.diagnosis import WITHOUT, Explanation
from report.check.judge import FOLLOWS, Cause, JudgedNumber, Judgement, Key, list_causes
from report.check.submission import ASKED_UNIT, Line, describe_lines
from report.question import LAB, Question
from report.text import EXACT_DIGITS, count, format_path, format_table, wrap

MOST_ALTERNATIVES = 3
NAMES = {"both": "both strategies"} | {of: f"{of} parallelism" for of in BOTH}
TWICE = "traffic counts what is sent and what is received"
KEY = "--key FILE, the output of the course's program"
ANOTHER_READING = f" (another reading of the handout: if it is your course's, use {KEY})"
NOT_WRONG = "right", "too few digits", "missing"
BY_HAND = "unexplained", "too few digits", "no number", "zero", "missing"
SLOWEST = "N inputs take N times the slowest stage, also for N = 1"

Judgements = Mapping[str, Judgement | str]  # by a file's name; or why it is refused

# ------------------------------------------------ causes


def describe_cause(cause: Cause, question: Question, mark: str = "") -> str:
    """Describe a cause: tensor parallelism, in Q2 only: this and that, or another."""
    alternatives = [
        {
            _describe_place(part): " and ".join(
                describe_change(change, question, _is_of_q1(cause), mark) for change in part.changes
            )
            for part in parts
        }
        for parts in cause.alternatives[:MOST_ALTERNATIVES]
    ]
    more = len(cause.alternatives) - len(alternatives)
    end = f" (and {more:,} more)" if more else ""
    first = _describe_place(cause.alternatives[0][0])
    if all([*it] == [first] for it in alternatives):  # which is said once
        return f"{first}: {', or '.join(it[first] for it in alternatives)}{end}"
    return ", or ".join("; ".join(map(": ".join, it.items())) for it in alternatives) + end


def _is_of_q1(cause: Cause) -> bool:
    return all(line.question == "Q1" for line in cause.lines)


def _describe_place(part: Explanation) -> str:
    name = NAMES[part.strategy]
    return f"{name}, in {part.only} only" if part.only else name


def describe_change(change: Change, question: Question, is_q1: bool = False, mark: str = "") -> str:
    """Describe a change with the question's numbers; behind other readings of the handout add the
    mark."""
    clause, inputs = change.clause, question.inputs
    if clause == TWICE:
        return "traffic is twice that, as if counted when sent and when received"
    if is_q1 and clause == SLOWEST:
        return "Q1 counts only the slowest stage"
    if clause.startswith(WITHOUT):
        taken_back = change._replace(clause=clause.removeprefix(WITHOUT))
        return f'the key\'s "{describe_change(taken_back, question)}" does not hold'
    words = clause
    for symbols, numbers in (
        ("also for N = 1", "also for 1 input"),
        ("N - 1", f"{inputs - 1:,}"),
        ("N + 1", f"{inputs + 1:,}"),
        ("N / nodes", f"({inputs:,} inputs / {question.system.nodes:,} nodes)"),
        ("(N + layers - 1)", f"({inputs:,} inputs + {len(question.network):,} layers - 1)"),
        ("/ layers", f"/ {len(question.network):,}"),
    ):
        words = words.replace(symbols, numbers)
    words = re.sub(r"\bN\b", f"{inputs:,}", words)
    return words + mark if change.is_reading else words


def _is_as_read(key: Key) -> bool:
    """Tell whether what is right is lab3.py's answers, as this project reads the handout."""
    return key.is_lab3 and key.is_explained and not any(it.changes for it in key.course.readings)


def describe_key(key: Key) -> str:
    """Say how a key reads the handout and which lines it lacks; of lab3.py's own answers, what
    differs from this project's reading."""
    if _is_as_read(key):
        return ""
    name, of = ("lab3.py", "lab3.py's") if key.is_lab3 else ("The key", "the key's")
    lacks = f" It lacks {describe_lines(key.missing)}." if key.missing else ""
    if not key.is_explained:
        return (
            f"No known reading gives all of {of} numbers. They are taken as right, and no mistakes"
            f" are looked for.{lacks}"
        )
    causes = [describe_cause(it, key.course.question) for it in list_causes([key.course.readings])]
    reading = f"as follows: {'; '.join(causes)}" if causes else "as this project does"
    return f"{name} reads the handout {reading}.{lacks}"


# ------------------------------------------------ one submission


def describe_judgement(judged: Judgement, key: Key) -> str:
    """Say how many numbers are right and what makes the others; a table; then the format."""
    total, right = len(judged.numbers), judged.right
    notes = [wrap(f"{it[0].upper()}{it[1:]}{'' if it[-1] == '?' else '.'}") for it in judged.notes]
    if right == total:
        words = "are right" if key.is_lab3 else "agree with the key"
        lines = [f"All {total} numbers {words}.", *notes]
        if _is_as_read(key):
            lines.append("How the handout is read: python3 report explain readings")
        blocks = ["\n".join(lines)]
    else:
        lines = [f"{right} of {total} numbers {'is' if right == 1 else 'are'} right.", *notes]
        mark = ANOTHER_READING if _is_as_read(key) else ""
        question = key.course.question
        if causes := [describe_cause(cause, question, mark) for cause in judged.causes]:
            lines += ["The wrong ones are what you get if:", *_list(causes)]
        rest: dict[str, list[Line]] = {}
        for number in _list_rest(judged):
            rest.setdefault(number.words, []).append(number.line)
        if rest:
            lines.append("What else is wrong:" if causes else "What is wrong:")
            lines += _list([f"{describe_lines(of)}: {words}" for words, of in rest.items()])
        if _is_as_read(key):
            lines += _list_functions(judged, question)
        blocks = ["\n".join(lines), _tabulate(judged)]
    if judged.format:
        heading = "Format: what is printed (-), and what the handout asks for (+):"
        blocks.append("\n".join([heading, *judged.format]))
    return "\n\n".join(blocks)


def _list(items: Sequence[str]) -> list[str]:
    return [wrap(f"- {item}", "  ") for item in items]


def _list_rest(judged: Judgement) -> list[JudgedNumber]:
    """List the numbers that are not right, and that changes do not explain."""
    return [number for number in judged.numbers if number.kind not in ("right", "explained")]


def _list_functions(judged: Judgement, question: Question) -> Iterator[str]:
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


def _tabulate(judged: Judgement) -> str:
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


# ------------------------------------------------ many submissions


def describe_judgements(files: Judgements, key: Key) -> str:
    """Describe each file in a line; what occurs how often; how many are right; whom to look at."""
    names = [format_path(name) for name in files]
    question = key.course.question
    rows = [
        (name, "-", "-", judged.removeprefix(name).lstrip(": "))
        if isinstance(judged, str)
        else (
            name,
            f"{judged.right} of {len(judged.numbers)}",
            "differs" if judged.format else "right",
            _summarize(judged, question),
        )
        for name, judged in zip(names, files.values(), strict=True)
    ]
    blocks = [format_table(["file", "numbers", "format", "why"], rows)]
    judgements = list_judgements(files)
    if often := count_occurrences(judgements, question):
        blocks.append(format_table(["files", "what"], [(it, what) for what, it in often.items()]))
    same = Counter(
        f"{number.given} {ASKED_UNIT[number.line.kind]} for {number.line}"
        for judged in judgements
        for number in judged.numbers
        if number.kind == "unexplained"
    )
    sentences = [f"{times} files have {it}." for it, times in same.most_common() if times > 1]
    right = sum(judged.right == len(judged.numbers) for judged in judgements)
    have = f"{right} of {count(len(files), 'file')} {'has' if right == 1 else 'have'}"
    in_format = sum(judged.is_all_right for judged in judgements)
    sentences.append(f"{have} every number right, {in_format} also in the handout's format.")
    if refused := len(files) - len(judgements):
        sentences.append(f"{count(refused, 'file')} could not be read.")
    by_hand = [
        name
        for name, judged in zip(names, files.values(), strict=True)
        if isinstance(judged, str) or _is_doubtful(judged)
    ]
    sentences.append(f"Look at by hand: {', '.join(by_hand) or 'none'}")
    return "\n\n".join([*blocks, "\n".join(map(wrap, sentences))])


def list_judgements(files: Judgements) -> list[Judgement]:
    """List those that are not refused."""
    return [judged for judged in files.values() if isinstance(judged, Judgement)]


def _is_doubtful(judged: Judgement) -> bool:
    """Tell whether a number is not explained, or is by one thing or another, or by more things than
    the numbers that they make."""
    return any(number.kind in BY_HAND for number in judged.numbers) or any(
        len(cause.alternatives) > 1
        or sum(len(part.changes) for part in cause.alternatives[0]) > len(cause.lines)
        for cause in judged.causes
    )


def _summarize(judged: Judgement, question: Question) -> str:
    """Say why not all is right, in a few words each."""
    causes = (describe_cause(cause, question) for cause in judged.causes)
    return "; ".join([*causes, *_list_kinds(judged)]) or "-"


def _list_kinds(judged: Judgement) -> list[str]:
    """List what is wrong beside causes, each kind once, but not what follows from another."""
    return [*dict.fromkeys(it.kind for it in _list_rest(judged) if it.kind != FOLLOWS)]


def count_occurrences(judgements: Sequence[Judgement], question: Question) -> dict[str, int]:
    """Count in how many files something occurs, the most frequent first: changes, and what else is
    wrong with numbers."""
    often: Counter[str] = Counter()
    for judged in judgements:
        words = {
            describe_change(change, question, _is_of_q1(cause)): 1
            for cause in judged.causes
            for part in cause.alternatives[0]
            for change in part.changes
        }
        often.update([*words, *_list_kinds(judged)])
    return dict(often.most_common())
