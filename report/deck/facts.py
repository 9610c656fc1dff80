"""The deck's computed numbers: texts by name, which slides.typ prints as they are. Of bars, it gets
lengths as floats. What the handout gives is written in slides.typ: build.py refuses other numbers.
"""

from fractions import Fraction
from math import floor
from typing import Any

import lab3
from lab3 import Rate
from report.results import Result, Results
from report.sram import SramUse
from report.text import GIGA, MS, US, format_number, format_places, format_rounded

Facts = dict[str, Any]  # texts, lists and dictionaries of texts, lengths
TIMES = "\N{MULTIPLICATION SIGN}"


def compute_facts(results: Results) -> Facts:
    """Format all facts, by name."""
    inputs = results.asked.inputs
    tensor, pipeline = (results.strategies[name] for name in ("tensor", "pipeline"))
    answers = {
        "tensor-1": tensor.find(1, lab3.ALL_TO_ALL),
        "pipeline-1": pipeline.find(1, lab3.ALL_TO_ALL),
        "tensor-n": tensor.find(inputs, lab3.ALL_TO_ALL),
        "pipeline-n": pipeline.find(inputs, lab3.ALL_TO_ALL),
        "ring": tensor.find(1, lab3.RING),
    }
    return {
        **{name: tell_result(result) for name, result in answers.items()},
        **tell_comparison(*answers.values()),
        **tell_equal_layers(answers["tensor-1"], answers["pipeline-1"], results),
        **tell_layers(results),
        **tell_losses(results, answers["tensor-n"], answers["pipeline-n"]),
        **tell_flips(results),
        **tell_sram(results),
    }


def in_ms(value_s: Rate, places: int = 2) -> str:
    """Format seconds as ms: with two decimals in sentences, three where parts add up."""
    return format_places(value_s * MS, places)


def in_us(value_s: Rate) -> str:
    """Format seconds as microseconds, exactly: with five decimals or fewer for the lab."""
    return format_number(value_s * US)


def in_percent(part: Rate, places: int = 0) -> str:
    """Format a share as percent, without the % sign."""
    return format_places(100 * part, places)


def tell_result(result: Result) -> Facts:
    """Format a strategy's latency, its parts, and its traffic."""
    return {
        "s": lab3.plain(result.latency_s),
        "us": in_us(result.latency_s),
        "latency": format_places(result.latency_s * US, 2),
        "compute": in_us(result.compute_s),
        "communication": in_us(result.communication_s),
        "sends": format_places(result.communication_s * US, 2),
        "bytes": f"{result.traffic_bytes:,}",
        "used": in_percent(result.utilisation, 1),
    }


def tell_comparison(
    tensor_1: Result, pipeline_1: Result, tensor: Result, pipeline: Result, ring: Result
) -> Facts:
    """Compare the answers to Q1, Q2 and Q4."""
    more_s = ring.latency_s - tensor_1.latency_s
    reverse_more_s = 2 * pipeline_1.communication_s  # each output crosses three links
    return {
        "tensor-growth": format_places(tensor.latency_s / tensor_1.latency_s, 1),
        "pipeline-growth": format_places(pipeline.latency_s / pipeline_1.latency_s, 1),
        "slower-1": format_places(pipeline_1.latency_s / tensor_1.latency_s, 2),
        "slower-n": format_places(pipeline.latency_s / tensor.latency_s, 2),
        "more-bytes": format_places(Fraction(tensor.traffic_bytes, pipeline.traffic_bytes), 2),
        "pace-ms": in_ms(pipeline.interval_s, 3),
        "pace-us": in_us(pipeline.interval_s),
        "rest-ms": in_ms(pipeline_1.latency_s - pipeline.interval_s, 3),
        "no-overlap-ms": in_ms(tensor.inputs * pipeline_1.latency_s),
        "ring-ms": in_ms(tensor.inputs * ring.communication_s),
        "all-to-all-ms": in_ms(tensor.inputs * tensor.communication_s),
        "ring-more": in_percent(more_s / tensor_1.latency_s, 1),
        "ring-more-bytes": f"{ring.traffic_bytes - tensor_1.traffic_bytes:,}",
        "ring-each-ms": in_ms(ring.interval_s),
        "tensor-each-ms": in_ms(tensor.interval_s),
        "pipeline-each-ms": in_ms(pipeline.interval_s),
        "reverse-1": in_percent(reverse_more_s / pipeline_1.latency_s, 1),
        "reverse-n": in_percent(reverse_more_s / pipeline.latency_s, 1),
    }


def tell_equal_layers(tensor: Result, pipeline: Result, results: Results) -> Facts:
    """Find from how many inputs on a pipeline of equal layers, which send the same, is faster."""
    interval_s = results.bounds[0].lower_bound_s  # each node computes as long
    more_s = pipeline.latency_s - interval_s
    return {"equal-from": f"{floor(more_s / (tensor.interval_s - interval_s)) + 1:,}"}


def tell_layers(results: Results) -> Facts:
    """List each layer's output, C, A, and both strategies' times and bytes."""
    network = results.asked.network
    rows = []
    for number, layer in enumerate(network, 1):
        sizes = TIMES.join(map(str, (layer.filters, layer.out_x, layer.out_y)))
        row = [f"{number}: {sizes}", f"{layer.ops:,}", f"{layer.output_bytes:,}"]
        for strategy in ("tensor", "pipeline"):
            steps = results.strategies[strategy].steps
            compute, *sends = (it for it in steps if it.layer == number)
            row.append(in_us(compute.time_s))
            row += [in_us(sends[0].time_s), f"{sends[0].traffic_bytes:,}"] if sends else ["", ""]
        rows.append(row)
    ops = sum(layer.ops for layer in network)
    busiest = {
        name: [step.link_bytes for step in strategy.steps]
        for name, strategy in results.strategies.items()
    }
    return {
        "layer-rows": rows,
        "ops": f"{ops:,}",
        "layer-2-percent": in_percent(Fraction(network[1].ops, ops)),
        "shard-1": f"{network[0].output_bytes // results.asked.system.nodes:,}",
        "shard-1-us": in_us(results.strategies["tensor"].steps[1].time_s),
        "busiest-tensor": f"{sum(busiest['tensor']):,}",
        "busiest-pipeline": f"{max(busiest['pipeline']):,}",
    }


def tell_losses(results: Results, tensor: Result, pipeline: Result) -> Facts:
    """Divide the time of all inputs into parts: for each its place in a bar, and ms."""
    assert results.losses
    bound_s, imbalance_s, fill_s, sends_s = results.losses
    slowest_s, above_s = bound_s + imbalance_s, pipeline.latency_s - bound_s
    parts = {
        "bound": (Fraction(0), bound_s),
        "tensor-communication": (bound_s, tensor.latency_s - bound_s),
        "tensor": (Fraction(0), tensor.latency_s),
        "imbalance": (bound_s, imbalance_s),
        "fill": (slowest_s, fill_s),
        "pipeline-communication": (slowest_s + fill_s, sends_s),
        "pipeline": (Fraction(0), pipeline.latency_s),
    }
    return {
        "parts": {
            name: {
                "start": float(start_s / pipeline.latency_s),
                "length": float(length_s / pipeline.latency_s),
                "ms": in_ms(length_s, 3),
            }
            for name, (start_s, length_s) in parts.items()
        },
        "tensor-above": in_percent(tensor.latency_s / bound_s - 1),
        "pipeline-above": in_percent(above_s / bound_s),
        "imbalance-percent": in_percent(imbalance_s / above_s),
        "average-us": in_us(bound_s / tensor.inputs),
    }


def tell_flips(results: Results) -> Facts:
    """Format the link bandwidths between which, and below which on a ring, the pipeline is faster
    for all inputs."""
    _, system, inputs = results.asked
    between, [ring] = (it.equal_bytes_per_s for it in results.verdicts if it.inputs == inputs)
    return {
        "flip-gbs": [format_rounded(it / GIGA, 3) for it in between],
        "flip-percent": [in_percent(it / system.link_bytes_per_s, 1) for it in between],
        "flip-ring-gbs": format_rounded(ring / GIGA, 3),
    }


def tell_sram(results: Results) -> Facts:
    """Compare what nodes hold at the fullest moment with the SRAM."""
    totals, room, held = results.totals, results.asked.system.sram_bytes, results.sram
    kept_bytes, _, next_input = results.uncounted
    assert kept_bytes and next_input
    uses = [("tensor", held["tensor"].fullest)]
    uses += [("pipeline", use) for use in held["pipeline"].uses]
    uses += [("data", held["data"].fullest)]
    most = max(use.total_bytes for _, use in uses)
    return {
        "sram-rows": [tell_use(strategy, use, room, most) for strategy, use in uses],
        "sram-at": float(Fraction(room, most)),
        "sram": f"{room:,}",
        "weights": f"{totals.weight_bytes:,}",
        "excess": f"{totals.weights_excess_bytes:,}",
        "kept-input": f"{kept_bytes:,}",
        "overlapping": f"{next_input.total_bytes:,}",
        "outputs-bytes": f"{totals.output_bytes:,}",
        "all-sram": f"{totals.sram_bytes:,}",
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
