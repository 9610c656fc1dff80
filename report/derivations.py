"""The topics of `explain`: how every number is derived, with sums that can be checked by hand."""

from collections.abc import Callable, Container
from fractions import Fraction
from typing import TYPE_CHECKING

import lab3
from report.results import Results, Verdict, compare_with_lab3
from report.steps import Step, count_gather_hops, count_rounds
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

if TYPE_CHECKING:  # imported where it is needed
    from report.check.model import Reading

SYMBOLS = """\
N  inputs           C  ops of a layer (1 MAC is 2 ops)
L  layers           A  bytes of a layer's output; A_L: the last layer's
P  nodes            S  A / P: bytes of a shard, the part that one node computes
R  ops/s of a node  B  bytes/s of a one-way link
sum and max are over all layers"""
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
    number, *heads = results.layers[0]
    fields, amounts = [number, *heads[:9]], [number, *heads[10:]]
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
    system = results.asked.system
    return join_paragraphs(
        "TENSOR PARALLELISM",
        "Each node has 1 / P of each layer's filters: it computes C / P ops; the result is a shard"
        " of S bytes. Between layers an all-gather sends each shard to all other nodes; after the"
        " last layer a gather sends all shards to one node. Only then does the next input start.",
        *list_paragraphs(lab3.tensor_parallel_latency, lab3.tensor_parallel_traffic),
        f"Here rounds = {count_rounds(system):,} and gather_hops = {count_gather_hops(system):,}.",
        format_steps(results.strategies["tensor"].steps),
        *add_up(results, "tensor"),
    )


LOSSES = (  # in the order of results.Losses
    ("ideal compute", "N * sum(C) / (P * R): all nodes compute all the time"),
    ("load imbalance", "N * (max(C / R) - sum(C) / (P * R)): unequal layers, idle nodes"),
    ("fill and drain", "sum(C / R) of 1 input without the bottleneck"),
    (
        "communication",
        "sum(A / B) of 1 input without the bottleneck, plus N * (interval - max(C / R))",
    ),
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
        " node while it computes the next input. The last output, A_L, is not sent.",
        *list_paragraphs(lab3.pipeline_parallel_latency, lab3.pipeline_parallel_traffic),
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
    one_us, many_us, interval_us = (
        it * US for it in (one.latency_s, many.latency_s, one.interval_s)
    )
    parts_us = one.compute_s * US, one.communication_s * US
    compute, communication, latency = map(format_number, (*parts_us, one_us))
    steps = results.strategies[strategy].steps
    ops, link_bytes = sum(it.node_ops for it in steps), sum(it.link_bytes for it in steps)
    lines = [
        f"1 input: {ops:,} ops / R + {link_bytes:,} bytes / B"
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
        " nodes do at most R ops per second each. Tensor parallelism adds its communication N"
        " times, on either topology. A pipeline takes at least as long as its slowest node"
        " computes. Data parallelism sends nothing, but needs enough SRAM (Q3).",
        format_table(
            ["latency, us", *(count(it.inputs, "input") for it in bounds), "formula"],
            [(name, *(it * US for it in times_s), formula) for name, times_s, formula in rows],
        ),
        *explain_verdicts(results.verdicts),
    )


def explain_verdicts(verdicts: list[Verdict]) -> list[str]:
    """Say on which links which strategy is faster, if both are possible."""
    rows = []
    for it in verdicts:
        equal = ", ".join(format_number(at / GIGA) for at in it.equal_bytes_per_s)
        whole_range = "every link bandwidth" if it.faster == ["neither"] else "no link bandwidth"
        case = f"{count(it.inputs, 'input')}, {it.topology}"
        rows.append((case, ", ".join(it.faster), equal or whole_range))
    text = (
        "When the verdict flips: with all else as it is, both strategies take equally long at these"
        " link bandwidths. The faster strategy is named for links below, between and above them."
    )
    heads = "case", "faster, slow links first", "equally long at, GB/s"
    return [text, format_table(heads, rows)] if rows else []


# ------------------------------------------------ readings of the handout

READINGS = (  # what, how it is read, and the clauses of `check` that read it otherwise
    ("Q2's lines", "the same four as Q1's; the sample repeats two, and lacks pipeline traffic"),
    ("precision", "activations are FP16 like the weights: 2 bytes per element"),
    ('"reduced by 2"', "x - fx + 1: stride 1, no padding, no pooling"),
    ("GOPS", "10^9 ops/s"),
    ("GB/s", "10^9 bytes/s", "GB/s are 2^30 bytes/s", "GB/s are Gbit/s"),
    ("KB of SRAM", "1,024 bytes"),
    (
        *("initial inputs", "each is in the SRAM where it is needed when it is needed, at no cost"),
        "the network's input is sent, too",
    ),
    (
        *("one by one", "no batches: a pipeline overlaps inputs, tensor parallelism does not"),
        *("a node does not compute while it sends", "inputs do not overlap"),
    ),
    ("SRAM", "assumed to be enough; latency and traffic do not depend on it"),
    ("transfers", "start when a whole output, or a node's shard of it, is computed"),
    ("traffic", "a byte counts on each link that it crosses"),
    ("final output", "complete on one node", "the last output goes to all nodes"),
    ("ring", "one-way, from each node to the next, like the 12 one-way links of all-to-all"),
)


def explain_readings(results: Results) -> str:
    """Say how the handout is read, and what other readings would give."""
    rows = [
        (what, "; another reading: ".join(filter(None, [read_as, " or ".join(others)])))
        for what, read_as, *others in READINGS
    ]
    return join_paragraphs(
        "READINGS OF THE HANDOUT",
        format_table(("what", "read as"), rows),
        f"Other readings; traffic is that of {count(results.asked.inputs, 'input')}.",
        *list_changes(results, {clause for _, _, *others in READINGS for clause in others}),
    )


def explain_mistakes(results: Results) -> str:
    """List what other readings and common mistakes would give."""
    return join_paragraphs(
        "COMMON MISTAKES",
        "Other readings and common mistakes except wrong units, one at a time; traffic is that of"
        f" {count(results.asked.inputs, 'input')}.",
        *list_changes(results),
    )


def list_changes(results: Results, clauses: Container[str] | None = None) -> list[str]:
    """Make a table of each strategy: what it takes as read, and with these changes, or with all."""
    heads = [*(f"{count(it.inputs, 'input')} s" for it in results.bounds), "traffic bytes", "if"]
    readings = find_readings(results)
    blocks = []
    for strategy in results.strategies:
        rows = [
            (*it.latencies_s, it.traffic_bytes, it.clause or "(this project's reading)")
            for it in readings
            if it.strategy == strategy
            and (clauses is None or not it.clause or it.clause in clauses)
        ]
        blocks += [f"{strategy.capitalize()} parallelism:", format_table(heads, rows)]
    return blocks


def find_readings(results: Results) -> "list[Reading]":
    """Find what each strategy takes as read, and with each change of `check`.

    Raises ValueError if the model of `check` without changes does not give lab3.py's numbers.
    """
    from report.check.model import list_readings  # most topics do without it

    readings = list_readings(results.asked)
    source = "report/check/model.py gives"
    for strategy, clause, latencies_s, traffic_bytes in readings:
        if not clause:
            found = [results.find(it.inputs)[strategy] for it in results.bounds]
            for result, latency_s in zip(found, latencies_s, strict=True):
                case, function = count(result.inputs, "input"), f"{strategy}_parallel_latency"
                compare_with_lab3(function, case, result.latency_s, source, latency_s)
            function = f"{strategy}_parallel_traffic"
            compare_with_lab3(function, case, result.traffic_bytes, source, traffic_bytes)
    return readings
