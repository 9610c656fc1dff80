"""Submissions as tests write them, and what `check --json` finds in them."""

import json
from decimal import Context, Decimal

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
NAMES = {"latency": "latency", "traffic": "network traffic"}
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
    headings = {"Q1": "-----Q1 single input-----", "Q2": f"--------Q2 {inputs} inputs------"}
    rows = []
    for line, value in numbers.items():
        asked, strategy, kind = line.split()
        if headings[asked] not in rows:
            rows.append(headings[asked])
        number = value
        if not isinstance(value, str):
            rounded = Context(prec=digits if kind == "latency" else 17)
            number = f"{rounded.divide(Decimal(value.numerator), Decimal(value.denominator)):f}"
        rows.append(f"Total {NAMES[kind]} of {strategy} parallelism is {number} {UNITS[kind]}")
    return "\n".join(rows) + "\n"


def judge(folder, text, *options):
    """Return the exit status, and what is found in a text."""
    path = folder / "output.txt"
    path.write_text(text, encoding="utf-8")
    status, out, err = call(["check", "--json", *options, str(path)])
    assert err == "", err
    [found] = json.loads(out)["submissions"]
    return status, found


def list_ways(found):
    """List for each strategy that is explained the alternatives: sets of clauses."""
    ways = {}
    for it in found["explanations"]:
        for of in it["strategies"]:
            before = ways.get(of, [set()])
            ways[of] = [clauses | {*others} for clauses in before for others in it["mistakes"]]
    return ways
