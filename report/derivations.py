"""The topics of `explain`: how every number is derived, with sums that can be checked by hand."""

import re
from fractions import Fraction
from itertools import zip_longest
from textwrap import dedent

import lab3
from report.model import (
    BOUNDS,
    CODE,
    FORMULAS,
    KINDS,
    LAYER_SIZES,
    LOSSES,
    Each,
    Formula,
    Model,
    list_layers,
    parse,
)
from report.question import Question, list_possible, make_models
from report.results import compute_bound, compute_losses, find_results
from report.text import (
    US,
    count,
    format_number,
    format_table,
    is_short,
    join_blocks,
    round_apart,
    wrap,
)

LEGEND = (
    "An edit is evaluated after lab3.py's formula of the same name; on its right, the name has its"
    " earlier value. N is 1 in Q1; Q2 is 1 in Q2, else 0; links = max(1, P * (P - 1)) are"
    " one-way; printed_latency and printed_traffic are the printed numbers; sizes are as in"
    " explain model. A comma concatenates, as join does; put(C, 0, 5) replaces C's first number"
    " by 5."
)


# ------------------------------------------------ lab3.py's words
def quote_lab3(title: str) -> list[str]:
    """Quote the list below a title of lab3.py's docstring, and the paragraph after the list."""
    paragraphs = [*(lab3.__doc__ or "").split("\n\n"), ""]
    for above, rows, below in zip(paragraphs, paragraphs[1:], paragraphs[2:], strict=False):
        if " ".join(above.split()).endswith(f"{title}:"):
            return [dedent(rows).rstrip("\n"), " ".join(below.split())]
    return ["", ""]


# ------------------------------------------------ a strategy's numbers
def explain_model(question: Question) -> str:
    """Derive the layers' sizes."""
    layers = list_layers(question.network)
    names = [*layers[0]]
    place = names.index("weights")  # weight_bytes implies them
    fields, sizes = names[:place], [names[0], *names[place + 1 :]]
    summed = "macs", "ops", "weight_bytes", "output_bytes"
    return join_blocks(
        "THE MODEL",
        "Layers are convolutions of stride 1, without padding or pooling, one after the other.",
        LAYER_SIZES,
        "C is ops, A is output_bytes.",
        format_table(fields, [[layer[name] for name in fields] for layer in layers]),
        format_table(sizes, [[layer[name] for name in sizes] for layer in layers], summed),
    )


def explain_strategy(question: Question, strategy: str) -> str:
    """Derive a strategy's latency and traffic: formulas, words of docstrings, then values."""
    model, paragraphs = make_models(question)[strategy, question.inputs], list[str]()
    formulas, sums = list[Formula](), list[Formula]()
    for kind in KINDS:
        rows = parse(FORMULAS[strategy, kind])
        formulas += rows
        sums += [row for row in reversed(rows) if not isinstance(model[row.name], Each)]
        texts = [text.strip() for text in (CODE[strategy, kind].__doc__ or "").split("\n\n")]
        words = [text for text in texts if not all(" = " in line for line in text.splitlines())]
        paragraphs += [FORMULAS[strategy, kind], *(" ".join(text.split()) for text in words)]
    return join_blocks(
        f"{strategy.upper()} PARALLELISM",
        *paragraphs,
        "Layer by layer, in seconds, ops and bytes:",
        format_layers(model, formulas),
        f"In all, for {count(question.inputs, 'input')}:",
        "\n".join(derive(model, formula) for formula in sums),
        format_losses(question) if strategy == "pipeline" else "",
    )


def format_layers(model: Model, formulas: list[Formula]) -> str:
    """Make a table of the numbers per layer: symbols that formulas use, then formulas."""
    names = [formula.name for formula in formulas]
    used = {*names, *re.findall(r"\w+", " ".join(formula.expression for formula in formulas))}
    shown = [name for name in (*"CAS", *names) if name in used and isinstance(model[name], Each)]
    columns = {name: model[name] for name in shown}
    rows = zip_longest(*columns.values(), fillvalue="")
    table = [(f"{layer}", *numbers) for layer, numbers in enumerate(rows, 1)]
    sums = ["sum", *(sum(numbers) for numbers in columns.values())]
    return format_table(["layer", *columns], [*table, sums])


def derive(model: Model, formula: Formula) -> str:
    """Write a formula, with names, then numbers, and its value; ~ replaces = if one is rounded."""
    values = [Fraction(model[formula.name])]

    def evaluate(match: re.Match[str]) -> str:
        number = model.evaluate(match[0])
        if not isinstance(number, (int, Fraction)):
            return match[0]
        values.append(Fraction(number))
        return format_number(values[-1])

    names = "|".join({*model.formulas, *model.given})
    pieces = rf"\b(?:sum|max|len)\([\w, ]+\)|\b(?:{names})\b(?:\[-1\])?(?![\[(])"
    numbers = re.sub(pieces, evaluate, formula.expression)
    sign = "=" if all(map(is_short, values)) else "~"
    parts = dict.fromkeys([numbers, format_number(values[0])])
    derived = wrap(f"  {sign} {f' {sign} '.join(parts)}", "    ")
    return f"{formula.name} = {formula.expression}\n{derived}"


def format_losses(question: Question) -> str:
    """Make a table of the parts of a pipeline's latency."""
    losses = compute_losses(question)
    latency_s = sum(losses.values())
    rows = [
        (name, loss_s, round_apart(100 * loss_s / latency_s, 4, 100), ": ".join(LOSSES[name]))
        for name, loss_s in losses.items()
    ]
    table = format_table(("part", "s", "%", "formula"), rows, summed=["s"])
    return f"Where the time of {count(question.inputs, 'input')} goes:\n\n{table}"


# ------------------------------------------------ bounds
def explain_bounds(question: Question) -> str:
    """Compare latencies with lower bounds."""
    possible, rows = list_possible(question), list[tuple[object, ...]]()
    for name, formula in BOUNDS.items():
        if name != "slowest node" or "pipeline" in possible:
            times_s = [compute_bound(question, name, inputs) for inputs in question.amounts]
            rows.append((name, *(time_s * US for time_s in times_s), formula))
    for name in possible:
        times_s = [find_results(question, inputs)[name].latency_s for inputs in question.amounts]
        rows.append((name, *(time_s * US for time_s in times_s), f"explain {name}"))
    slowest = " A pipeline takes at least as long as its slowest node computes."
    heads = ["latency, us", *(count(inputs, "input") for inputs in question.amounts), "formula"]
    return join_blocks(
        "LOWER BOUNDS",
        "No schedule takes less than the lower bound: each input costs sum(C) ops, 2 per MAC, and P"
        f" nodes do at most R ops per second each.{slowest if 'pipeline' in possible else ''} Data"
        " parallelism sends nothing, but needs enough SRAM (Q3).",
        format_table(heads, rows),
    )


# ------------------------------------------------ readings and mistakes
def explain_readings(question: Question) -> str:
    """Say how the handout is read, and what other readings would give."""
    return join_blocks(
        "READINGS OF THE HANDOUT",
        "Where the handout leaves a choice, it is read as follows:",
        quote_lab3("it is read as follows")[0],
        f"Other readings; traffic is for {count(question.inputs, 'input')}.",
        *list_mistake_tables(question, only_readings=True),
    )


def explain_mistakes(question: Question) -> str:
    """List what other readings and common mistakes would give."""
    return join_blocks(
        "COMMON MISTAKES",
        "Each mistake that `check` knows, but for misnamed units, and the edit of lab3.py's"
        f" formulas that makes it; traffic is for {count(question.inputs, 'input')}.",
        LEGEND,
        *list_mistake_tables(question),
    )


def list_mistake_tables(question: Question, only_readings: bool = False) -> list[str]:
    """Make a table per strategy: its numbers as read, and with each mistake or reading."""
    from report.check.mistakes import list_examples  # most topics do without it

    latencies = [f"{count(inputs, 'input')} s" for inputs in question.amounts]
    heads = [*latencies, "traffic bytes", "if"]
    blocks = []
    for strategy in list_possible(question):
        rows: list[tuple[object, ...]] = []
        for mistake, numbers in list_examples(question, strategy, only_readings):
            rows.append((*numbers[::2], numbers[-1], mistake.clause or "(this project's reading)"))
            if mistake.edit and not only_readings:
                rows.append((*[""] * len(heads[1:]), mistake.edit))
        blocks += [f"{strategy.capitalize()} parallelism:", format_table(heads, rows)]
    return blocks
