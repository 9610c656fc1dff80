"""The topics of `explain`: how every number is derived, with sums that can be checked by hand."""

import re
from fractions import Fraction
from itertools import zip_longest
from textwrap import dedent

import lab3
from report.model import FORMULA, KINDS, LAYER_SIZES, Each, Formula, Model, read_docstring
from report.results import Results, Verdict
from report.text import (
    GIGA,
    US,
    choose_sign,
    count,
    format_number,
    format_table,
    join_paragraphs,
    round_to,
    wrap,
)

AS_READ = "(this project's reading)"
LOSSES = (  # in the order of results.Losses
    ("ideal compute", "N * sum(C) / (P * R): all nodes compute all the time"),
    ("load imbalance", "N * max(C / R) less that: unequal layers, idle nodes"),
    ("fill and drain", "compute of 1 input on all nodes but the slowest"),
    ("communication", "sends of 1 input; if a link is the bottleneck, also the waiting for it"),
)
LEGEND = (
    "An edit is evaluated after lab3.py's formula of its name, so that on its right the name is"
    " what it was until then. N is 1 in Q1; Q2 is 1 in Q2, else 0; links = max(1, P * (P - 1)) are"
    " one-way; printed_latency and printed_traffic are what is printed; sizes of layers are as in"
    " explain model. A comma joins numbers, as join does; put(C, 0, 5) has 5 in the place of C's"
    " first number."
)


# ------------------------------------------------ lab3.py's words
def quote_lab3(title: str) -> list[str]:
    """Quote what follows the paragraph of lab3.py's docstring that ends with a title: a list, and
    the paragraph behind it. Raises ValueError if there is none."""
    paragraphs = (lab3.__doc__ or "").split("\n\n")
    for title_of, *quoted in zip(paragraphs, paragraphs[1:], [*paragraphs[2:], ""], strict=False):
        if " ".join(title_of.split()).endswith(f"{title}:"):
            return [dedent(paragraph).rstrip("\n") for paragraph in quoted]
    raise ValueError(f"lab3.py's docstring has no list below '{title}:'")


def list_symbols() -> list[str]:
    """List the symbols of formulas, and how formulas are written."""
    symbols, notation = quote_lab3("Symbols of formulas")
    return [symbols, " ".join(notation.split())]


def list_paragraphs(strategy: str) -> list[str]:
    """List the paragraphs of the docstrings of a strategy, formulas as they are."""
    paragraphs = []
    for kind in KINDS:
        text = getattr(lab3, f"{strategy}_parallel_{kind}").__doc__ or ""
        for paragraph in map(str.strip, text.split("\n\n")):
            is_formulas = FORMULA.match(paragraph)
            lines = [line.strip() for line in paragraph.splitlines()]
            paragraphs.append(("\n" if is_formulas else " ").join(lines))
    return [paragraph for paragraph in paragraphs if paragraph]


# ------------------------------------------------ a strategy's numbers
def explain_model(results: Results) -> str:
    """Derive the layers' sizes."""
    names = [*results.layers[0]]
    at = names.index("weights")  # which weight_bytes tells, too
    fields, amounts = names[:at], [names[0], *names[at + 1 :]]
    summed = "macs", "ops", "weight_bytes", "output_bytes"
    return join_paragraphs(
        "THE MODEL",
        "Layers are convolutions of stride 1, without padding or pooling, one after the other.",
        LAYER_SIZES,
        "C is ops, A is output_bytes.",
        format_table(fields, [[layer[it] for it in fields] for layer in results.layers]),
        format_table(amounts, [[layer[it] for it in amounts] for layer in results.layers], summed),
    )


def explain_strategy(results: Results, strategy: str) -> str:
    """Derive a strategy's latency and traffic: the docstrings, then their values."""
    if strategy in results.impossible:
        return ""
    model = Model(strategy, *results.asked)
    formulas = [formula for kind in KINDS for formula in read_docstring(strategy, kind)]
    answers_last = [it for kind in KINDS for it in reversed(read_docstring(strategy, kind))]
    return join_paragraphs(
        f"{strategy.upper()} PARALLELISM",
        *list_paragraphs(strategy),
        "Layer by layer, in seconds, ops and bytes:",
        tabulate_layers(model, formulas),
        f"In all, for {count(model.inputs, 'input')}:",
        "\n".join(derive(model, it) for it in answers_last if not isinstance(model[it.name], Each)),
        explain_losses(results) if strategy == "pipeline" else "",
    )


def tabulate_layers(model: Model, formulas: list[Formula]) -> str:
    """Make a table of the numbers that layers have: symbols that formulas use, then formulas."""
    used = {name for formula in formulas for name in formula.code.co_names}
    names = [*(symbol for symbol in "CAS" if symbol in used), *(it.name for it in formulas)]
    columns = {name: model[name] for name in dict.fromkeys(names) if isinstance(model[name], Each)}
    rows = zip_longest(*columns.values(), fillvalue="")
    table = [(f"{layer}", *numbers) for layer, numbers in enumerate(rows, 1)]
    sums = ["sum", *(sum(numbers) for numbers in columns.values())]
    return format_table(["layer", *columns], [*table, sums])


def derive(model: Model, formula: Formula) -> str:
    """Write a formula, the same with numbers for names, and what it gives; behind ~ if a number is
    rounded."""
    values = [Fraction(model[formula.name])]

    def evaluate(match: re.Match[str]) -> str:
        number = model.edit(f"piece = {match[0]}")["piece"]
        if not isinstance(number, (int, Fraction)):
            return match[0]
        values.append(Fraction(number))
        return format_number(values[-1])

    names = "|".join({*model.formulas, *model.given})
    pieces = rf"\b(?:sum|max|len)\([\w, ]+\)|\b(?:{names})\b(?:\[-1\])?(?![\[(])"
    numbers = re.sub(pieces, evaluate, formula.expression)
    sign = choose_sign(*values)
    parts = dict.fromkeys([numbers, format_number(values[0])])
    derived = wrap(f"  {sign} {f' {sign} '.join(parts)}", "    ")
    return f"{formula.name} = {formula.expression}\n{derived}"


def explain_losses(results: Results) -> str:
    """Say where a pipeline's time goes."""
    if not results.losses:
        return ""
    latency_s = sum(results.losses)
    rows = [
        (part, part_s, round_to(part_s / latency_s * 100), formula)
        for (part, formula), part_s in zip(LOSSES, results.losses, strict=True)
    ]
    table = format_table(("part", "s", "%", "formula"), rows, summed=["s"])
    return f"Where the time of {count(results.asked.inputs, 'input')} goes:\n\n{table}"


# ------------------------------------------------ bounds
def explain_bounds(results: Results) -> str:
    """Compare latencies with lower bounds, and say on which links the other strategy is faster."""
    bounds = results.bounds
    found = [results.find(it.inputs) for it in bounds]
    rows: list[tuple[str, list[Fraction], str]] = []
    rows.append(("lower bound", [it.lower_bound_s for it in bounds], "N * sum(C) / (P * R)"))
    if "tensor" in results.strategies:
        rows.append(("tensor", [it["tensor"].latency_s for it in found], "explain tensor"))
    if "pipeline" in results.strategies:
        if slowest_s := [it.slowest_node_s for it in bounds if it.slowest_node_s]:
            rows.append(("slowest node", slowest_s, "N * max(C / R)"))
        rows.append(("pipeline", [it["pipeline"].latency_s for it in found], "explain pipeline"))
    rows.append(("data", [it.data_parallel_s for it in bounds], "ceil(N / P) * sum(C) / R"))
    return join_paragraphs(
        "LOWER BOUNDS",
        "No schedule takes less than the lower bound: each input costs sum(C) ops, 2 per MAC, and P"
        " nodes do at most R ops per second each. A pipeline takes at least as long as its slowest"
        " node computes. Data parallelism sends nothing, but needs enough SRAM (Q3).",
        format_table(
            ["latency, us", *(count(it.inputs, "input") for it in bounds), "formula"],
            [(name, *(it * US for it in times_s), formula) for name, times_s, formula in rows],
        ),
        *explain_verdicts(results.verdicts),
    )


def explain_verdicts(verdicts: list[Verdict]) -> list[str]:
    """Say on which links which strategy is faster, if both are possible."""
    rows = []
    for verdict in verdicts:
        equal = ", ".join(format_number(at / GIGA) for at in verdict.equal_bytes_per_s)
        if verdict.faster[0] == "neither":
            equal = f"up to {equal}" if equal else "every link bandwidth"
        case = f"{count(verdict.inputs, 'input')}, {verdict.topology}"
        rows.append((case, ", ".join(verdict.faster), equal or "no link bandwidth"))
    text = (
        "When the verdict flips: with all else as it is, both strategies take equally long at these"
        " link bandwidths. Column 2: the faster one, from slow links to fast."
    )
    heads = "case", "faster", "equally long at, GB/s"
    return [text, format_table(heads, rows)] if rows else []


# ------------------------------------------------ readings and mistakes
def explain_readings(results: Results) -> str:
    """Say how the handout is read, and what other readings would give."""
    return join_paragraphs(
        "READINGS OF THE HANDOUT",
        "Where the handout leaves a choice, it is read as follows:",
        quote_lab3("it is read as follows")[0],
        f"Other readings; traffic is that of {count(results.asked.inputs, 'input')}.",
        *tabulate_mistakes(results, only_readings=True),
    )


def explain_mistakes(results: Results) -> str:
    """List what other readings and common mistakes would give."""
    return join_paragraphs(
        "COMMON MISTAKES",
        "What `check` knows, one at a time, but for what is printed in another unit, and the edit"
        " of lab3.py's formulas that makes it; traffic is that of"
        f" {count(results.asked.inputs, 'input')}.",
        LEGEND,
        *tabulate_mistakes(results),
    )


def tabulate_mistakes(results: Results, only_readings: bool = False) -> list[str]:
    """Make a table of each strategy: what it takes as read, and with each mistake or reading."""
    from report.check.mistakes import list_examples  # most topics do without it

    heads = [*(f"{count(it.inputs, 'input')} s" for it in results.bounds), "traffic bytes", "if"]
    blocks = []
    for strategy in [name for name, it in results.strategies.items() if not it.change]:
        rows: list[tuple[object, ...]] = []
        for example in list_examples(results.asked, strategy, only_readings):
            rows.append((*example.latencies_s, example.traffic_bytes, example.clause or AS_READ))
            if example.edit and not only_readings:
                rows.append((*[""] * len(heads[1:]), example.edit))
        blocks += [f"{strategy.capitalize()} parallelism:", format_table(heads, rows)]
    return blocks
