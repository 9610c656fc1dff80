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
PLACES = {"tensor": (1, 2, 6, 7), "pipeline": (3, 4, 8, 9)}  # of rows


def write(*strategies, output=OUTPUT):
    """Write an output. A strategy is its name, then its latency and traffic in Q1, and in Q2: a
    number, "right", or "none", which leaves the row out. A strategy that is not named is right."""
    rows = output.splitlines()
    for name, *numbers in map(str.split, strategies):
        for place, number in zip(PLACES[name], numbers, strict=True):
            label, right, unit = rows[place].rsplit(" ", 2)
            rows[place] = f"{label} {right if number == 'right' else number} {unit}"
    return "\n".join(row for row in rows if " none " not in row) + "\n"


def find_causes(text, question=LAB, key=None):
    """Describe each cause of the wrong numbers."""
    return [describe_cause(cause, "") for cause in judge(text, question, key).causes]
