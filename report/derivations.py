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
from report.question import ALL_TO_ALL, Question, find_impossible, list_possible, make_models
from report.results import compute_bound, compute_losses, find_results, list_verdicts
from report.text import (
    GIGA,
    US,
    count,
    format_number,
    format_table,
    is_short,
    join_blocks,
    round_apart,
    wrap,
)

AS_READ = "(this project's reading)"
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
    titles = [" ".join(paragraph.split()) for paragraph in paragraphs]
    for number, line in enumerate(titles, 1):
        if line.endswith(f"{title}:"):
            return [dedent(text).rstrip("\n") for text in paragraphs[number : number + 2]]
    return ["", ""]


def list_symbols() -> list[str]:
    """List the symbols of formulas, and the notation of formulas."""
    symbols, notation = quote_lab3("Symbols of formulas")
    return [symbols, " ".join(notation.split())]


def list_paragraphs(strategy: str) -> list[str]:
    """List a strategy's formulas, each kind followed by the text of its docstring."""
    paragraphs = []
    for kind in KINDS:
        words = (CODE[strategy, kind].__doc__ or "").split("\n\n")
        paragraphs.append(FORMULAS[strategy, kind])
        paragraphs += [" ".join(text.split()) for text in words if " = " not in text]
    return paragraphs


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
    """Derive a strategy's latency and traffic: formulas, then their values."""
    if strategy in find_impossible(question):
        return ""
    model = make_models(question)[strategy, ALL_TO_ALL, question.inputs]
    groups = [parse(FORMULAS[strategy, kind]) for kind in KINDS]
    formulas = [formula for group in groups for formula in group]
    answers_last = [formula for group in groups for formula in reversed(group)]
    sums = [formula for formula in answers_last if not isinstance(model[formula.name], Each)]
    return join_blocks(
        f"{strategy.upper()} PARALLELISM",
        *list_paragraphs(strategy),
        "Layer by layer, in seconds, ops and bytes:",
        format_layers(model, formulas),
        f"In all, for {count(model.inputs, 'input')}:",
        "\n".join(derive(model, formula) for formula in sums),
        format_losses(question) if strategy == "pipeline" else "",
    )


def format_layers(model: Model, formulas: list[Formula]) -> str:
    """Make a table of the numbers per layer: symbols that formulas use, then formulas."""
    used = {name for formula in formulas for name in formula.code.co_names}
    names = [
        *(symbol for symbol in "CAS" if symbol in used),
        *(formula.name for formula in formulas),
    ]
    columns = {name: model[name] for name in dict.fromkeys(names) if isinstance(model[name], Each)}
    rows = zip_longest(*columns.values(), fillvalue="")
    table = [(f"{layer}", *numbers) for layer, numbers in enumerate(rows, 1)]
    sums = ["sum", *(sum(numbers) for numbers in columns.values())]
    return format_table(["layer", *columns], [*table, sums])


def derive(model: Model, formula: Formula) -> str:
    """Write a formula, the formula with numbers for names, and its value; ~ replaces = if a number
    is rounded."""
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
    """Compare latencies with lower bounds, and say on which links the other strategy is faster."""
    amounts = question.amounts
    rows: list[tuple[object, ...]] = []
    possible, slowest = list_possible(question), ""
    if "pipeline" in possible:
        slowest = " A pipeline takes at least as long as its slowest node computes."
    for name, formula in BOUNDS.items():
        times_s = [compute_bound(question, name, inputs) for inputs in amounts]
        if name != "slowest node" or slowest:
            rows.append((name, *(time_s * US for time_s in times_s), formula))
    for name in possible:
        times_s = [find_results(question, inputs)[name].latency_s for inputs in amounts]
        rows.append((name, *(time_s * US for time_s in times_s), f"explain {name}"))
    heads = ["latency, us", *(count(inputs, "input") for inputs in amounts), "formula"]
    return join_blocks(
        "LOWER BOUNDS",
        "No schedule takes less than the lower bound: each input costs sum(C) ops, 2 per MAC, and P"
        f" nodes do at most R ops per second each.{slowest} Data parallelism sends nothing, but"
        " needs enough SRAM (Q3).",
        format_table(heads, rows),
        *list_verdict_blocks(question),
    )


def list_verdict_blocks(question: Question) -> list[str]:
    """Say on which links which strategy is faster, if both are possible."""
    rows = []
    for verdict in list_verdicts(question):
        equal = ", ".join(format_number(rate / GIGA) for rate in verdict.equal_bytes_per_s)
        if verdict.faster[0] == "neither":
            equal = f"up to {equal}" if equal else "every link bandwidth"
        case = f"{count(verdict.inputs, 'input')}, {verdict.topology}"
        rows.append((case, ", ".join(verdict.faster), equal or "no link bandwidth"))
    text = (
        "When the verdict flips: all else being equal, both strategies take equally long at these"
        " link bandwidths. Column 2: the faster strategy, from slow links to fast."
    )
    heads = "case", "faster", "equally long at, GB/s"
    return [text, format_table(heads, rows)] if rows else []


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
        "The mistakes that `check` knows, one at a time, except for printing in another unit, and"
        " the edit of lab3.py's formulas that makes each; traffic is for"
        f" {count(question.inputs, 'input')}.",
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
            rows.append((*numbers[::2], numbers[-1], mistake.clause or AS_READ))
            if mistake.edit and not only_readings:
                rows.append((*[""] * len(heads[1:]), mistake.edit))
        blocks += [f"{strategy.capitalize()} parallelism:", format_table(heads, rows)]
    return blocks
