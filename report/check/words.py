"""What is told of a submission, in sentences and a table."""

import re
from collections.abc import Iterator

import lab3
from lab3 import Rate
from report.check.changes import BOTH, NAMED
from report.check.diagnosis import WITHOUT, Explanation, Key
from report.check.judge import Cause, Check, list_causes
from report.check.submission import Line, describe_lines
from report.text import EXACT_DIGITS, format_table, wrap

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

# ------------------------------------------------ causes


def describe_cause(cause: Cause, inputs: int, has_key: bool = False) -> str:
    """tensor, in Q2 only: this and that, or another"""
    is_q1 = all(line.question == "Q1" for line in cause.lines)
    alternatives = [
        {
            _describe_place(part): " and ".join(
                describe_clause(clause, inputs, is_q1, has_key) for clause in part.clauses
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


def describe_clause(clause: str, inputs: int, is_q1: bool = False, has_key: bool = False) -> str:
    """A change in words: with the number of inputs, and whether it is another reading."""
    change = NAMED[clause.removeprefix(WITHOUT)]
    if clause == TWICE:
        return "traffic is twice that, as if counted when sent and when received"
    if is_q1 and clause in OF_Q1:
        return OF_Q1[clause]
    said = clause.replace("also for N = 1", "also for 1 input")
    said = said.replace("N - 1", f"{inputs - 1:,}").replace("N + 1", f"{inputs + 1:,}")
    said = re.sub(r"\bN\b", f"{inputs:,}", said)
    return said + ANOTHER_READING * (change.is_reading and not has_key)


def describe_key(key: Key, inputs: int) -> str:
    """How a course's key reads the handout, and which lines it lacks."""
    tensor, pipeline = key.readings
    causes = [describe_cause(it, inputs, True) for it in list_causes([(tensor, pipeline)])]
    said = f"as follows: {'; '.join(causes)}" if causes else "as this project does"
    lacks = f" It lacks {describe_lines(key.missing)}." if key.missing else ""
    return f"The key reads the handout {said}.{lacks}"


# ------------------------------------------------ one submission


def tell(found: Check, inputs: int, has_key: bool = False) -> str:
    """How many numbers are right and what makes the others; a table; then the format."""
    total, right = len(found.numbers), found.right
    sentences = list(tell_whole(found))
    if right == total:
        by = "the key" if has_key else "this project's reading of the handout"
        lines = [f"All {total} numbers are right, by {by}{'.' if has_key else ':'}"]
        lines += [] if has_key else ["python3 report explain readings"]
        blocks = ["\n".join([*lines, *sentences])]
    else:
        lines = [f"{right} of {total} numbers {'is' if right == 1 else 'are'} right.", *sentences]
        causes = [describe_cause(it, inputs, has_key) for it in found.causes]
        rest = [f"{describe_lines(of)}: {verdict}" for verdict, of in group_rest(found).items()]
        if causes or rest:
            lines.append("The others follow if:" if causes else "The others:")
            lines += [wrap(f"- {it}", "  ") for it in [*causes, *rest]]
        if topics := _list_topics(found):
            lines.append(f"How the right numbers are computed: python3 report explain {topics}")
        blocks = ["\n".join(lines), _tabulate(found)]
    if found.faults:
        blocks.append("\n".join(["Format:", *(wrap(f"- {it}", "  ") for it in found.faults)]))
    return "\n\n".join(blocks)


def tell_whole(found: Check) -> Iterator[str]:
    """What is true of the whole submission, in sentences."""
    if found.swapped:
        yield f"{' and '.join(found.swapped).capitalize()} are swapped."
    for kind, unit in found.units.items():
        yield f"Your {UNITS_OF[kind]} in {unit}."
    for note in found.notes:
        yield f"{note[0].upper()}{note[1:]}."


def group_rest(found: Check) -> dict[str, list[Line]]:
    """The verdicts that neither changes nor what is swapped explain, with their lines."""
    rest: dict[str, list[Line]] = {}
    for number in found.numbers:
        if number.kind not in ("right", "explained", "swapped"):
            rest.setdefault(number.verdict, []).append(number.line)
    return rest


def _list_topics(found: Check) -> str:
    """The topics of explain for strategies with wrong numbers."""
    wrong = ("explained", "multiple", "unexplained")
    strategies = {number.line.strategy for number in found.numbers if number.kind in wrong}
    return " ".join(strategy for strategy in BOTH if strategy in strategies)


def _tabulate(found: Check) -> str:
    rows = [
        [
            f"{number.line.question} {number.line.strategy}",
            "latency s" if number.line.kind == "latency" else "traffic bytes",
            number.given or "-",
            _format_exact(number.right),
            number.verdict,
        ]
        for number in found.numbers
    ]
    heads = ["", "", "yours", "right", ""]
    for column in (2, 3):
        width = max(len(row[column]) for row in [heads, *rows])
        for row in [heads, *rows]:
            row[column] = row[column].rjust(width)
    return format_table(heads, rows)


def _format_exact(value: Rate) -> str:
    return str(value) if isinstance(value, int) else lab3.plain(value, EXACT_DIGITS)
