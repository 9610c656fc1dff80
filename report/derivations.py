"""The topics of `explain`: how every number is derived, with sums that can be checked by hand."""

import re
from collections.abc import Callable
from fractions import Fraction
from textwrap import dedent

import lab3
from report.model import Model, Step
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
)


def quote_lab3(title: str) -> str:
    """Quote the list below a title of lab3.py's docstring; nothing with python -OO."""
    found = re.search(rf"{title}:\n\n(.*?)\n\n", lab3.__doc__ or "", re.DOTALL)
    return dedent(found[1]) if found else ""


SYMBOLS = quote_lab3("Symbols of formulas")
READINGS = quote_lab3("it is read as\nfollows")
SUMS = "A shard is a node's part of an output; sum and max are over all layers."
STEP = "A step takes node ops / R + link bytes / B seconds."
AS_READ = "(this project's reading)"
LOSSES = (  # in the order of results.Losses
    ("ideal compute", "N * sum(C) / (P * R): all nodes compute all the time"),
    ("load imbalance", "N * (max(C / R) - sum(C) / (P * R)): unequal layers, idle nodes"),
    ("fill and drain", "compute of 1 input on all nodes but the bottleneck"),
    ("communication", "sends of 1 input; if a link is the bottleneck, also the waiting for it"),
)
LAYER_SIZES = """\
out_x = x - fx + 1
out_y = y - fy + 1
weights = filters * in_channels * fx * fy
macs = weights * out_x * out_y
ops = C = 2 * macs
weight_bytes = weights * element_bytes
input_bytes = in_channels * x * y * element_bytes
output_bytes = A = filters * out_x * out_y * element_bytes"""


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
        format_table(fields, [[layer[it] for it in fields] for layer in results.layers]),
        format_table(amounts, [[layer[it] for it in amounts] for layer in results.layers], summed),
    )


def explain_tensor(results: Results) -> str:
    """Derive tensor parallelism's latency and traffic from its steps."""
    if "tensor" in results.impossible:
        return ""
    tensor = Model("tensor", *results.asked[:2])
    return join_paragraphs(
        "TENSOR PARALLELISM",
        "Each node has 1 / P of each layer's filters: it computes C / P ops; the result is a shard"
        " of S bytes. Between layers an all-gather sends each shard to all other nodes; after the"
        " last layer a gather sends all shards to one node. Only then does the next input start.",
        *list_paragraphs(lab3.tensor_parallel_latency, lab3.tensor_parallel_traffic),
        f"Here rounds = {tensor.rounds:,} and gather_hops = {tensor.gather_hops:,}. {STEP}",
        format_steps(results.strategies["tensor"].steps),
        *add_up(results, "tensor"),
    )


def explain_pipeline(results: Results) -> str:
    """Derive the pipeline's latency and traffic from its steps, and say where its time goes."""
    if results.losses is None:
        return ""
    latency_s = sum(results.losses)
    rows = [
        (part, part_s * US, round_to(part_s / latency_s * 100), formula)
        for (part, formula), part_s in zip(LOSSES, results.losses, strict=True)
    ]
    return join_paragraphs(
        "PIPELINE PARALLELISM",
        "Each layer has its own node, which computes C ops, then sends A bytes to the next layer's"
        " node while it computes the next input.",
        *list_paragraphs(lab3.pipeline_parallel_latency, lab3.pipeline_parallel_traffic),
        STEP,
        format_steps(results.strategies["pipeline"].steps),
        *add_up(results, "pipeline"),
        f"Where the time of {count(results.asked.inputs, 'input')} goes:",
        format_table(("part", "us", "%", "formula"), rows, summed=["us"]),
    )


def list_paragraphs(*functions: Callable[..., object]) -> list[str]:
    """List the paragraphs of the docstrings of lab3.py's formulas."""
    texts = [function.__doc__ or "" for function in functions]  # none with python -OO
    return [" ".join(part.split()) for text in texts for part in text.split("\n\n") if part.strip()]


def format_steps(steps: list[Step]) -> str:
    """List each step in a row, and their sum."""
    heads = "layer", "step", "node ops", "link bytes", "time us", "traffic bytes"
    rows = [(f"{it.layer}", *it[1:4], it.time_s * US, it.traffic_bytes) for it in steps]
    return format_table(heads, rows, summed=heads[2:])


def add_up(results: Results, strategy: str) -> list[str]:
    """Write the sums of one input and of all, to be checked by hand."""
    inputs = results.asked.inputs
    one, many = (results.find(it)[strategy] for it in (1, inputs))
    one_us, many_us, interval_us = one.latency_s * US, many.latency_s * US, one.interval_s * US
    parts_us = one.compute_s * US, one.communication_s * US
    compute, communication, latency = map(format_number, (*parts_us, one_us))
    steps = results.strategies[strategy].steps
    ops, link_bytes = sum(it.node_ops for it in steps), sum(it.link_bytes for it in steps)
    lines = [
        f"1 input: {ops:,} / R + {link_bytes:,} / B"
        f" {choose_sign(*parts_us)} {compute} (compute) + {communication} (communication)"
        f" {choose_sign(*parts_us, one_us)} {latency} us"
    ]
    if inputs > 1:
        first = "" if strategy == "tensor" else f"{latency} (1 input) + "
        times = inputs if strategy == "tensor" else inputs - 1
        each = f" (the interval, {one.bottleneck})" if strategy == "pipeline" else ""
        lines += [
            f"{inputs:,} inputs: {first}{times:,} * {format_number(interval_us)}{each}"
            f" {choose_sign(one_us, interval_us, many_us)} {format_number(many_us)} us",
            f"{inputs:,} inputs: {inputs:,} * {one.traffic_bytes:,} = {many.traffic_bytes:,} bytes",
        ]
    return lines


def explain_bounds(results: Results) -> str:
    """Compare latencies with lower bounds, and say on which links the other strategy is faster."""
    bounds = results.bounds
    found = [results.find(it.inputs) for it in bounds]
    rows: list[tuple[str, list[Fraction], str]] = []
    rows.append(("lower bound", [it.lower_bound_s for it in bounds], "N * sum(C) / (P * R)"))
    if "tensor" in results.strategies:
        latencies_s = [it["tensor"].latency_s for it in found]
        rows.append(("tensor", latencies_s, "lower bound + N * communication"))
    if "pipeline" in results.strategies:
        slowest_s = [it.slowest_node_s for it in bounds if it.slowest_node_s]
        rows.append(("slowest node", slowest_s, "N * max(C / R)"))
        latencies_s = [it["pipeline"].latency_s for it in found]
        rows.append(("pipeline", latencies_s, "1 input + (N - 1) * interval"))
    rows.append(("data", [it.data_parallel_s for it in bounds], "ceil(N / P) * sum(C) / R"))
    return join_paragraphs(
        "LOWER BOUNDS",
        "No schedule takes less than the lower bound: each input costs sum(C) ops, 2 per MAC, and P"
        " nodes do at most R ops per second each. Tensor parallelism takes the bound and N times"
        " its communication. A pipeline takes at least as long as its slowest node computes. Data"
        " parallelism sends nothing, but needs enough SRAM (Q3).",
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
        is_equal = verdict.faster == ["neither"]
        case = f"{count(verdict.inputs, 'input')}, {verdict.topology}"
        whole_range = "every link bandwidth" if is_equal else "no link bandwidth"
        rows.append((case, ", ".join(verdict.faster), equal or whole_range))
    text = (
        "When the verdict flips: with all else as it is, both strategies take equally long at these"
        " link bandwidths. Column 2: the faster one, from slow links to fast."
    )
    heads = "case", "faster", "equally long at, GB/s"
    return [text, format_table(heads, rows)] if rows else []


# ------------------------------------------------ readings of the handout


def explain_readings(results: Results) -> str:
    """Say how the handout is read, and what other readings would give."""
    return join_paragraphs(
        "READINGS OF THE HANDOUT",
        "Where the handout leaves a choice, it is read as follows:",
        READINGS,
        f"Other readings; traffic is that of {count(results.asked.inputs, 'input')}.",
        *tabulate_mistakes(results, only_readings=True),
    )


def explain_mistakes(results: Results) -> str:
    """List what other readings and common mistakes would give."""
    return join_paragraphs(
        "COMMON MISTAKES",
        "What `check` knows, one at a time, but for units, multiples of the right number and"
        f" constants typed wrong; traffic is that of {count(results.asked.inputs, 'input')}.",
        *tabulate_mistakes(results),
    )


def tabulate_mistakes(results: Results, only_readings: bool = False) -> list[str]:
    """Make a table of each strategy: what it takes as read, and with each mistake or reading."""
    from report.check.mistakes import list_examples  # most topics do without it

    heads = [*(f"{count(it.inputs, 'input')} s" for it in results.bounds), "traffic bytes", "if"]
    blocks = []
    for strategy in results.strategies:
        rows = [
            (*example.latencies_s, example.traffic_bytes, example.clause or AS_READ)
            for example in list_examples(results.asked, strategy, only_readings)
        ]
        blocks += [f"{strategy.capitalize()} parallelism:", format_table(heads, rows)]
    return blocks
