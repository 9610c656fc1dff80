"""Submissions as tests write them, and what `check --json` finds in them."""

import json
from decimal import Context, Decimal
from itertools import product

import mistakes
from program import call
from report.question import LAB

STRATEGIES = ("tensor", "pipeline")

LINES = [
    f"{asked} {strategy} {kind}"
    for asked in ("Q1", "Q2")
    for strategy in STRATEGIES
    for kind in ("latency", "traffic")
]
UNITS = {"latency": "seconds", "traffic": "bytes"}


def answer(tensor=(), pipeline=(), question=LAB):
    """Compute the numbers of somebody who makes these mistakes, by line."""
    numbers = {}
    for strategy, clauses in (("tensor", tensor), ("pipeline", pipeline)):
        for (asked, kind), value in mistakes.compute(question, strategy, clauses).items():
            numbers[f"{asked} {strategy} {kind}"] = value
    return {line: numbers[line] for line in LINES if line in numbers}


def write(numbers, digits=17, inputs=32):
    """Write the handout's lines with these numbers: texts, or exact, or latencies of so many
    digits."""
    rows = []
    for line, value in numbers.items():
        asked, strategy, kind = line.split()
        heading = "-----Q1 single input-----"
        if asked == "Q2":
            heading = f"--------Q2 {inputs} inputs------"
        if heading not in rows:
            rows.append(heading)
        number = value
        if not isinstance(value, str):
            rounded = Context(prec=digits if kind == "latency" else 17)
            number = f"{rounded.divide(Decimal(value.numerator), Decimal(value.denominator)):f}"
        name = {"latency": "latency", "traffic": "network traffic"}[kind]
        rows.append(f"Total {name} of {strategy} parallelism is {number} {UNITS[kind]}")
    return "\n".join(rows) + "\n"


def judge(folder, text, *options):
    """Return the exit status, and what is found in a text."""
    path = folder / "output.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    status, out, err = call(["check", "--json", *options, str(path)])
    assert err == "", err
    [found] = json.loads(out)["submissions"]
    return status, found


def list_ways(found):
    """List for each strategy that is explained the alternatives: sets of clauses."""
    of = {}
    for strategy in STRATEGIES:
        ways = [it["mistakes"] for it in found["explanations"] if strategy in it["strategies"]]
        if ways:
            of[strategy] = [
                {clause for part in parts for clause in part} for parts in product(*ways)
            ]
    return of
