"""Outputs as tests write them, and what check tells of them."""

from report.check.judge import judge
from report.check.words import describe_cause
from report.question import LAB

OUTPUT = """\
-----Q1 single input-----
Total latency of tensor parallelism is 0.00312726016 seconds
Total network traffic of tensor parallelism is 1923072 bytes
Total latency of pipeline parallelism is 0.01243531264 seconds
Total network traffic of pipeline parallelism is 604160 bytes
--------Q2 32 inputs------
Total latency of tensor parallelism is 0.10007232512 seconds
Total network traffic of tensor parallelism is 61538304 bytes
Total latency of pipeline parallelism is 0.1557861376 seconds
Total network traffic of pipeline parallelism is 19333120 bytes
"""
LINES = [
    f"{question} {strategy} {kind}"
    for question in ("Q1", "Q2")
    for strategy in ("tensor", "pipeline")
    for kind in ("latency", "traffic")
]


def write(numbers, output=OUTPUT):
    """Write an output with these numbers, by line, in the place of its own; None drops the row."""
    lines, rows = iter(LINES), []
    for row in output.splitlines():
        label, number, unit = row.rsplit(" ", 2)
        number = numbers.get(next(lines), number) if row.startswith("Total") else number
        rows += [f"{label} {number} {unit}"] * (number is not None)
    return "\n".join(rows) + "\n"


def find_causes(text, question=LAB, key=None):
    """Describe each cause of the wrong numbers."""
    return [describe_cause(cause, "") for cause in judge(text, question, key).causes]


def find_words(text, question=LAB, key=None):
    """Return, by line, what is said of each number that is neither right nor explained."""
    numbers = judge(text, question, key).numbers
    return {str(it.line): it.words for it in numbers if it.kind not in ("right", "explained")}
