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


def answer(tensor=(), pipeline=(), only="", question=LAB):
    """Compute the numbers of somebody who makes these changes, by line; the right ones outside
    `only`."""
    numbers = {}
    for strategy, clauses in (("tensor", tensor), ("pipeline", pipeline)):
        right = mistakes.compute(question, strategy, ())
        made = mistakes.compute(question, strategy, clauses)
        for (asked, kind), value in made.items():
            is_changed = only in ("", asked, kind)
            numbers[f"{asked} {strategy} {kind}"] = value if is_changed else right[asked, kind]
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
    """List for each strategy that is explained the alternatives: (changes, scope)."""
    of = {}
    for strategy in STRATEGIES:
        ways = []
        for each in found["explanations"]:
            if strategy in each["strategies"]:
                scopes = each["only"]
                if not isinstance(scopes, list):  # is that of all alternatives
                    scopes = [scopes] * len(each["changes"])
                ways.append([*zip(each["changes"], scopes, strict=True)])
        for parts in product(*ways) if ways else []:
            [scope] = {only for _, only in parts}
            of.setdefault(strategy, []).append(({it for its, _ in parts for it in its}, scope))
    return of
