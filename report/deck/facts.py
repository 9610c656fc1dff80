"""The deck's computed numbers: texts by name, which slides.typ prints as they are. Of bars, it gets
lengths as floats. What the handout gives is written in slides.typ: build.py refuses other numbers.
"""

from fractions import Fraction
from math import floor
from typing import Any

import lab3
from report.results import ONE_WAY_RING, Result, Results
from report.sram import SramUse
from report.text import MS, US, Exact, format_places

Facts = dict[str, Any]  # texts, lists and dictionaries of texts, lengths
TIMES = "\N{MULTIPLICATION SIGN}"


def compute_facts(results: Results) -> Facts:
    """Format all facts, by name."""
    inputs = results.asked.inputs
    one, many = results.find(1), results.find(inputs)
    answers = {"tensor-1": one["tensor"], "tensor-n": many["tensor"]}
    answers |= {"pipeline-1": one["pipeline"], "pipeline-n": many["pipeline"]}
    for name, amount in (("ring-1", 1), ("ring-n", inputs)):
        answers[name] = results.find(amount, ONE_WAY_RING)["tensor"]
    return {
        **{name: tell_result(result) for name, result in answers.items()},
        **compare(results, answers),
        **tell_layers(results),
        **tell_steps(results, answers["pipeline-1"]),
        **tell_losses(results, answers),
        **tell_sram(results),
    }


def in_ms(value_s: Exact, places: int = 2) -> str:
    """Format seconds as ms: with two decimals in sentences, three where parts add up."""
    return format_places(value_s * MS, places)


def in_us(value_s: Exact, places: int = 5) -> str:
    """Format seconds as microseconds: exactly, as the lab's have five decimals at most."""
    return format_places(value_s * US, places)


def in_percent(part: Exact) -> str:
    """Format a share as percent, without the % sign."""
    return format_places(100 * part, 0)


def tell_result(result: Result) -> Facts:
    """Format a strategy's latency, its parts, and its traffic."""
    return {
        "s": lab3.format_decimal(result.latency_s),
        "us": in_us(result.latency_s),
        "us-rounded": in_us(result.latency_s, 2),
        "ms": in_ms(result.latency_s),
        "each-ms": in_ms(result.interval_s),
        "compute": in_us(result.compute_s),
        "communication": in_us(result.communication_s, 3),
        "bytes": f"{result.traffic_bytes:,}",
        "used": format_places(100 * result.utilisation, 1),
    }


def compare(results: Results, answers: dict[str, Result]) -> Facts:
    """Compare the answers to Q1, Q2 and Q4."""
    tensor, pipeline, ring = (answers[name] for name in ("tensor-1", "pipeline-1", "ring-1"))
    gather_bytes = results.strategies["tensor"].steps[-1].traffic_bytes
    ratios: dict[str, tuple[Exact, Exact, int]] = {
        "tensor-growth": (answers["tensor-n"].latency_s, tensor.latency_s, 1),
        "pipeline-growth": (answers["pipeline-n"].latency_s, pipeline.latency_s, 1),
        "slower-1": (pipeline.latency_s, tensor.latency_s, 2),
        "slower-n": (answers["pipeline-n"].latency_s, answers["tensor-n"].latency_s, 2),
        "more-bytes": (tensor.traffic_bytes, pipeline.traffic_bytes, 2),
        "ring-communication": (ring.communication_s, tensor.communication_s, 2),
        "ring-latency": (ring.latency_s, tensor.latency_s, 2),
        "ring-traffic": (ring.traffic_bytes, tensor.traffic_bytes, 2),
    }
    return {
        **{name: format_places(Fraction(a) / b, places) for name, (a, b, places) in ratios.items()},
        "communication-percent": in_percent(tensor.communication_s / pipeline.communication_s),
        "pace-ms": in_ms(pipeline.interval_s, 3),
        "rest-ms": in_ms(pipeline.latency_s - pipeline.interval_s, 3),
        "pace-us": in_us(pipeline.interval_s),
        "all-to-all-ms": in_ms(results.asked.inputs * tensor.communication_s),
        "gather": f"{gather_bytes:,}",
        "ring-gather": f"{gather_bytes + ring.traffic_bytes - tensor.traffic_bytes:,}",
        "two-way-us": in_us(ring.communication_s / 2, 1),  # half of each shard goes each way
    }


def tell_layers(results: Results) -> Facts:
    """List each layer's output, C, A, tensor parallelism's times and bytes, and the pipeline's
    times."""
    network = results.asked.network
    rows = []
    for number, layer in enumerate(network, 1):
        sizes = TIMES.join(map(str, (layer.filters, layer.out_x, layer.out_y)))
        row = [f"{number}: {sizes}", f"{layer.ops:,}", f"{layer.output_bytes:,}"]
        for name, strategy in results.strategies.items():
            compute, *sends = (step for step in strategy.steps if step.layer == number)
            row += [in_us(compute.time_s), in_us(sends[0].time_s, 3) if sends else "stays"]
            row += [f"{sends[0].traffic_bytes:,}"] if name == "tensor" else []
        rows.append(row)
    ops = sum(layer.ops for layer in network)
    return {
        "layer-rows": rows,
        "ops": f"{ops:,}",
        "layer-2-percent": in_percent(Fraction(network[1].ops, ops)),
    }


def tell_steps(results: Results, pipeline: Result) -> Facts:
    """Tell layer 1's shard, what the busiest link carries for one input, and what all inputs would
    take if a node did not compute while it sends."""
    tensor_steps, steps = (results.strategies[name].steps for name in ("tensor", "pipeline"))
    node_s = [sum(it.time_s for it in steps if it.layer == step.layer) for step in steps]
    return {
        "shard-1": f"{tensor_steps[1].link_bytes:,}",
        "shard-1-us": in_us(tensor_steps[1].time_s, 1),
        "busiest-tensor": f"{sum(step.link_bytes for step in tensor_steps):,}",
        "busiest-pipeline": f"{max(step.link_bytes for step in steps):,}",
        "blocking-ms": in_ms(pipeline.latency_s + (results.asked.inputs - 1) * max(node_s)),
    }


def tell_losses(results: Results, answers: dict[str, Result]) -> Facts:
    """Divide the time of all inputs into parts: for each its place in a bar, and ms. From how many
    inputs on would a pipeline of equal layers be faster, which sends as many bytes?"""
    assert results.losses
    bound_s, imbalance_s, fill_s, sends_s = results.losses
    tensor_s, all_s = answers["tensor-n"].latency_s, answers["pipeline-n"].latency_s
    parts = {
        "bound": (Fraction(0), bound_s),
        "tensor-communication": (bound_s, tensor_s - bound_s),
        "tensor": (Fraction(0), tensor_s),
        "imbalance": (bound_s, imbalance_s),
        "fill": (bound_s + imbalance_s, fill_s),
        "pipeline-communication": (all_s - sends_s, sends_s),
        "pipeline": (Fraction(0), all_s),
    }
    average_s = bound_s / results.asked.inputs
    tensor_s, first_s = answers["tensor-1"].latency_s, answers["pipeline-1"].latency_s
    equal = floor((first_s - average_s) / (tensor_s - average_s)) + 1
    return {
        "parts": {
            name: [float(start_s / all_s), float(length_s / all_s), in_ms(length_s, 3)]
            for name, (start_s, length_s) in parts.items()
        },
        "tensor-above": in_percent(answers["tensor-n"].latency_s / bound_s - 1),
        "pipeline-above": in_percent(all_s / bound_s - 1),
        "average-us": in_us(average_s),
        "equal": f"{equal}",
        "equal-pipeline": f"{in_ms(first_s, 3)} + {equal - 1} · {in_ms(average_s, 3)}"
        f" = {in_ms(first_s + (equal - 1) * average_s)}",
        "equal-tensor": f"{equal} · {in_ms(tensor_s, 3)} = {in_ms(equal * tensor_s)}",
    }


def tell_sram(results: Results) -> Facts:
    """Compare what nodes hold at the fullest moment with the SRAM."""
    totals, room, held = results.totals, results.asked.system.sram_bytes, results.sram
    kept_bytes, waiting_bytes, next_input = results.uncounted
    assert kept_bytes and waiting_bytes and next_input
    uses = [("tensor", held["tensor"].fullest)]
    uses += [("pipeline", use) for use in held["pipeline"].uses]
    uses += [("data", held["data"].fullest)]
    most, fullest = max(use.total_bytes for _, use in uses), held["pipeline"].fullest
    return {
        "sram-rows": [tell_use(strategy, use, room, most) for strategy, use in uses],
        "sram-at": float(Fraction(room, most)),
        "sram": f"{room:,}",
        "weights": f"{totals.weight_bytes:,}",
        "excess": f"{totals.weights_excess_bytes:,}",
        "kept-input": f"{kept_bytes:,}",
        "waiting-inputs": f"{waiting_bytes:,}",
        "without-output": f"{fullest.weight_bytes + fullest.input_bytes:,}",
        "next-input": f"{next_input.total_bytes:,}",
        "outputs-bytes": f"{totals.output_bytes:,}",
        "data-ms": in_ms(results.bounds[-1].data_parallel_s, 3),
    }


def tell_use(strategy: str, use: SramUse, room: int, most: int) -> Facts:
    """Format a row of the table, with a bar of three parts."""
    sizes = use.weight_bytes, use.input_bytes, use.output_bytes
    free = room - use.total_bytes
    return {
        "strategy": strategy,
        "where": use.where,
        "sizes": [f"{size:,}" for size in sizes],
        "sum": f"{use.total_bytes:,}",
        "lengths": [size / most for size in sizes],
        "fits": free >= 0,
        "room": f"{free:,} bytes free" if free >= 0 else f"{-free:,} bytes over",
    }
