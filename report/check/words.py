"""What is told of one submission and of many, in sentences and tables."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import lab3
from report.check.changes import BOTH, NAMED
from report.check.diagnosis import WITHOUT, Course, Explanation
from report.check.judge import Cause, Check, list_causes
from report.check.submission import ASKED_UNIT, Line, describe_lines
from report.text import EXACT_DIGITS, count, format_path, format_table, wrap

MOST_ALTERNATIVES = 3
UNITS_OF = {"latency": "latencies are", "traffic": "traffic is"}
OF_Q1 = {  # what is told of Q1 alone
    "N inputs take N times the slowest stage, also for N = 1": "Q1 counts only the slowest stage",
    "N inputs take (N + layers - 1) times the slowest stage, also for N = 1": (
        "Q1 counts the slowest stage once for each layer"
    ),
}
TWICE = "traffic counts what is sent and what is received"
ANOTHER_READING = " (another reading of the handout: if it is your course's, use --key)"
TOLD = "right", "explained", "swapped"  # numbers of which nothing is left to tell
BY_HAND = "unexplained", "too few digits", "no number", "missing"

Checks = Mapping[str, Check | str]  # by a file's name; or why it is refused

# ------------------------------------------------ causes


def describe_cause(cause: Cause, course: Course, mark: str = "") -> str:
    """tensor, in Q2 only: this and that, or another"""
    is_q1 = all(line.question == "Q1" for line in cause.lines)
    alternatives = [
        {
            _describe_place(part): " and ".join(
                describe_clause(clause, course, is_q1, mark) for clause in part.clauses
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


def _describe_place(part: Explanation) -> str:
    return f"{part.strategy}, in {part.only} only" if part.only else part.strategy


def describe_clause(clause: str, course: Course, is_q1: bool = False, mark: str = "") -> str:
    """A change with the number of inputs; behind other readings of the handout the mark."""
    if clause == TWICE:
        return "traffic is twice that, as if counted when sent and when received"
    if is_q1 and clause in OF_Q1:
        return OF_Q1[clause]
    if clause.startswith(WITHOUT):
        return f'without the key\'s "{describe_clause(clause.removeprefix(WITHOUT), course)}"'
    inputs = course.question.inputs
    words = clause.replace("also for N = 1", "also for 1 input")
    words = words.replace("N - 1", f"{inputs - 1:,}").replace("N + 1", f"{inputs + 1:,}")
    words = re.sub(r"\bN\b", f"{inputs:,}", words)
    return words + mark if mark and NAMED[clause].is_reading else words


def describe_key(course: Course) -> str:
    """How a course's key reads the handout, and which lines it lacks."""
    causes = [describe_cause(it, course) for it in list_causes([course.readings])]
    read = f"as follows: {'; '.join(causes)}" if causes else "as this project does"
    lacks = f" It lacks {describe_lines(course.missing)}." if course.missing else ""
    return f"The key reads the handout {read}.{lacks}"


# ------------------------------------------------ one submission


def tell(checked: Check, course: Course) -> str:
    """How many numbers are right and what makes the others; a table; then the format."""
    total, right = len(checked.numbers), checked.right
    if right == total:
        by = "the key." if course.has_key else "this project's reading of the handout:"
        lines = [f"All {total} numbers are right, by {by}"]
        lines += [] if course.has_key else ["python3 report explain readings"]
        blocks = ["\n".join([*lines, *tell_whole(checked)])]
    else:
        lines = [f"{right} of {total} numbers {'is' if right == 1 else 'are'} right."]
        lines += tell_whole(checked)
        mark = "" if course.has_key else ANOTHER_READING
        causes = [describe_cause(cause, course, mark) for cause in checked.causes]
        rest = [f"{describe_lines(of)}: {it}" for it, of in _group_rest(checked).items()]
        if causes or rest:
            others = "The others" if right else "They"
            lines.append(f"{others} follow if:" if causes else "What is wrong:")
            lines += _list(causes + rest)
        wrong = {it.line.strategy for it in checked.numbers if it.kind not in ("right", "swapped")}
        if topics := " ".join(strategy for strategy in BOTH if strategy in wrong):
            lines.append(f"How the right numbers are computed: python3 report explain {topics}")
        blocks = ["\n".join(lines), _tabulate(checked)]
    if checked.faults:
        blocks.append("\n".join(["Format:", *_list(checked.faults)]))
    return "\n\n".join(blocks)


def _list(items: Sequence[str]) -> list[str]:
    return [wrap(f"- {item}", "  ") for item in items]


def tell_whole(checked: Check) -> Iterator[str]:
    """What is true of the whole submission, in sentences."""
    if checked.swapped:
        yield f"{' and '.join(checked.swapped).capitalize()} are swapped."
    for kind, unit in checked.units.items():
        yield f"Your {UNITS_OF[kind]} in {unit}."
    for note in checked.notes:
        yield f"{note[0].upper()}{note[1:]}."


def _group_rest(checked: Check) -> dict[str, list[Line]]:
    """The verdicts that neither changes nor what is swapped explain, with their lines."""
    rest: dict[str, list[Line]] = {}
    for number in checked.numbers:
        if number.kind not in TOLD:
            rest.setdefault(number.verdict, []).append(number.line)
    return rest


def _tabulate(checked: Check) -> str:
    rows = [
        (
            f"{number.line.question} {number.line.strategy}",
            "latency s" if number.line.kind == "latency" else "traffic bytes",
            number.given or "-",
            str(number.right)
            if isinstance(number.right, int)
            else lab3.plain(number.right, EXACT_DIGITS),
            number.kind,
        )
        for number in checked.numbers
    ]
    return format_table(["", "", "yours", "right", ""], rows)


# ------------------------------------------------ many submissions


def tell_all(files: Checks, course: Course) -> str:
    """A line for each file; what occurs how often; how many are right; whom to look at."""
    names = [format_path(name) for name in files]
    rows = [
        (name, "-", checked)
        if isinstance(checked, str)
        else (name, f"{checked.right} of {len(checked.numbers)}", _summarize(checked, course))
        for name, checked in zip(names, files.values(), strict=True)
    ]
    blocks = [format_table(["file", "right", "why"], rows)]
    checks = list_checks(files)
    if often := count_occurrences(checks):
        words = [(times, describe_clause(it, course)) for it, times in often.items()]
        blocks.append(format_table(["files", "what"], words))
    same = Counter(
        f"{number.given} {ASKED_UNIT[number.line.kind]} for {number.line}"
        for checked in checks
        for number in checked.numbers
        if number.kind == "unexplained"
    )
    sentences = [f"{times} files have {it}." for it, times in same.most_common() if times > 1]
    right = sum(checked.is_all_right for checked in checks)
    are = f"{right} of {count(len(files), 'file')} {'is' if right == 1 else 'are'}"
    sentences.append(f"{are} right in every number and in the format.")
    by_hand = [
        name
        for name, checked in zip(names, files.values(), strict=True)
        if isinstance(checked, Check) and any(it.kind in BY_HAND for it in checked.numbers)
    ]
    sentences.append(f"Look at by hand: {', '.join(by_hand) or 'none'}")
    return "\n\n".join([*blocks, "\n".join(map(wrap, sentences))])


def list_checks(files: Checks) -> list[Check]:
    """Those that are not refused."""
    return [checked for checked in files.values() if isinstance(checked, Check)]


def _summarize(checked: Check, course: Course) -> str:
    """Why not all is right, in a few words each."""
    causes = (describe_cause(cause, course) for cause in checked.causes)
    return "; ".join([*causes, *_list_others(checked)]) or "right"


def _list_others(checked: Check) -> list[str]:
    """What is told of a submission, each once, beside causes."""
    words = [sentence.removesuffix(".") for sentence in tell_whole(checked._replace(notes=[]))]
    words += [number.kind for number in checked.numbers if number.kind not in TOLD]
    words += ["another format than the handout's"] * bool(checked.faults)
    return [*dict.fromkeys(words)]


def count_occurrences(checks: Sequence[Check]) -> dict[str, int]:
    """In how many files something occurs, the most frequent first: changes by their clauses, what
    is swapped, units, what else is wrong with numbers, ..."""
    often: Counter[str] = Counter()
    for checked in checks:
        parts = [part for cause in checked.causes for part in cause.alternatives[0]]
        clauses = {clause: 1 for part in parts for clause in part.clauses}
        often.update([*clauses, *_list_others(checked)])
    return dict(often.most_common())
