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
from report.text import MS, US, format_places

Facts = dict[str, Any]  # texts, lists and dictionaries of texts, lengths
TIMES = "\N{MULTIPLICATION SIGN}"


def compute_facts(results: Results) -> Facts:
    """Format all facts, by name."""
    inputs = results.asked.inputs
    one, many = results.find(1), results.find(inputs)
    ring_1, ring_n = find_ring(results)
    answers = {"tensor-1": one["tensor"], "tensor-n": many["tensor"]}
    answers |= {"pipeline-1": one["pipeline"], "pipeline-n": many["pipeline"]}
    answers |= {"ring-1": ring_1, "ring-n": ring_n}
    return {
        **{name: tell_result(result) for name, result in answers.items()},
        **tell_comparison(one, many),
        **tell_assumptions(results, one),
        **tell_layers(results),
        **tell_losses(results, many),
        **tell_busiest(results),
        **tell_sram(results),
        **tell_ring(results, one, ring_1),
    }


def find_ring(results: Results) -> tuple[Result, Result]:
    """Find what tensor parallelism takes on a one-way ring for one input and for all."""
    find = results.strategies["tensor"].find
    return find(1, lab3.RING), find(results.asked.inputs, lab3.RING)


def find_flips(results: Results) -> list[Fraction]:
    """Find the link bandwidths between which the pipeline is faster for all inputs, and the one
    below which it is on a ring."""
    inputs = results.asked.inputs
    between, ring = (it.equal_bytes_per_s for it in results.verdicts if it.inputs == inputs)
    return [*between, *ring]


def in_ms(value_s: Rate, places: int = 2) -> str:
    """Format seconds as ms: with two decimals in sentences, three where parts add up."""
    return format_places(value_s * MS, places)


def in_us(value_s: Rate, places: int = 5) -> str:
    """Format seconds as microseconds: exactly, as the lab's have five decimals at most."""
    return format_places(value_s * US, places)


def in_percent(part: Rate, places: int = 0) -> str:
    """Format a share as percent, without the % sign."""
    return format_places(100 * part, places)


def tell_result(result: Result) -> Facts:
    """Format a strategy's latency, its parts, and its traffic."""
    return {
        "s": lab3.plain(result.latency_s),
        "us": in_us(result.latency_s),
        "latency": in_us(result.latency_s, 2),
        "ms": in_ms(result.latency_s),
        "compute": in_us(result.compute_s),
        "communication": in_us(result.communication_s, 3),
        "bytes": f"{result.traffic_bytes:,}",
        "used": in_percent(result.utilisation, 1),
    }


def tell_comparison(one: dict[str, Result], many: dict[str, Result]) -> Facts:
    """Compare the answers to Q1 and Q2."""
    tensor, pipeline = one["tensor"], one["pipeline"]
    return {
        "tensor-growth": format_places(many["tensor"].latency_s / tensor.latency_s, 1),
        "pipeline-growth": format_places(many["pipeline"].latency_s / pipeline.latency_s, 1),
        "slower-1": format_places(pipeline.latency_s / tensor.latency_s, 2),
        "slower-n": format_places(many["pipeline"].latency_s / many["tensor"].latency_s, 2),
        "more-bytes": format_places(Fraction(tensor.traffic_bytes, pipeline.traffic_bytes), 2),
        "communication-percent": in_percent(tensor.communication_s / pipeline.communication_s),
        "first-ms": in_ms(pipeline.latency_s, 3),
        "pace-ms": in_ms(pipeline.interval_s, 3),
        "rest-ms": in_ms(pipeline.latency_s - pipeline.interval_s, 3),
        "pace-us": in_us(pipeline.interval_s),
        "tensor-each-ms": in_ms(tensor.interval_s),
        "pipeline-each-ms": in_ms(pipeline.interval_s),
    }


def tell_assumptions(results: Results, one: dict[str, Result]) -> Facts:
    """Tell what all inputs would take if less overlapped, or more."""
    inputs, pipeline = results.asked.inputs, one["pipeline"]
    times_s: dict[int, Fraction] = {}  # of each node that does not compute while it sends
    for step in results.strategies["pipeline"].steps:
        times_s[step.layer] = times_s.get(step.layer, Fraction(0)) + step.time_s
    blocking_s = pipeline.latency_s + (inputs - 1) * max(times_s.values())
    return {
        "blocking-ms": in_ms(blocking_s),
        "no-overlap-ms": in_ms(inputs * pipeline.latency_s),
        "all-to-all-ms": in_ms(inputs * one["tensor"].communication_s),
    }


def tell_layers(results: Results) -> Facts:
    """List each layer's output, C, A, tensor parallelism's times and bytes, the pipeline's times."""
    network, system, _ = results.asked
    rows = []
    for number, layer in enumerate(network, 1):
        sizes = TIMES.join(map(str, (layer.filters, layer.out_x, layer.out_y)))
        row = [f"{number}: {sizes}", f"{layer.ops:,}", f"{layer.output_bytes:,}"]
        for name, strategy in results.strategies.items():
            compute, *sends = (step for step in strategy.steps if step.layer == number)
            row.append(in_us(compute.time_s))
            row.append(in_us(sends[0].time_s, 3) if sends else "stays")
            row += [f"{sends[0].traffic_bytes:,}"] if name == "tensor" else []
        rows.append(row)
    ops = sum(layer.ops for layer in network)
    shard_bytes = network[0].output_bytes // system.nodes
    return {
        "layer-rows": rows,
        "ops": f"{ops:,}",
        "layer-2-percent": in_percent(Fraction(network[1].ops, ops)),
        "shard-1": f"{shard_bytes:,}",
        "shard-1-us": in_us(Fraction(shard_bytes) / system.link_bytes_per_s, 1),
    }


def tell_losses(results: Results, many: dict[str, Result]) -> Facts:
    """Divide the time of all inputs into parts: for each its place in a bar, and ms. From how many
    inputs on would a pipeline of equal layers be faster, which sends the same?"""
    assert results.losses
    bound_s, imbalance_s, fill_s, sends_s = results.losses
    tensor, pipeline = many["tensor"], many["pipeline"]
    parts = {
        "bound": (Fraction(0), bound_s),
        "tensor-communication": (bound_s, tensor.latency_s - bound_s),
        "tensor": (Fraction(0), tensor.latency_s),
        "imbalance": (bound_s, imbalance_s),
        "fill": (bound_s + imbalance_s, fill_s),
        "pipeline-communication": (pipeline.latency_s - sends_s, sends_s),
        "pipeline": (Fraction(0), pipeline.latency_s),
    }
    first_s, each_s = pipeline.compute_s + pipeline.communication_s, bound_s / tensor.inputs
    equal = floor((first_s - each_s) / (tensor.interval_s - each_s)) + 1
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
        "pipeline-above": in_percent(pipeline.latency_s / bound_s - 1),
        "average-us": in_us(each_s),
        "average-ms": in_ms(each_s, 3),
        "tensor-ms": in_ms(tensor.interval_s, 3),
        "equal": f"{equal}",
        "equal-more": f"{equal - 1}",
        "equal-pipeline-ms": in_ms(first_s + (equal - 1) * each_s),
        "equal-tensor-ms": in_ms(equal * tensor.interval_s),
    }


def tell_busiest(results: Results) -> Facts:
    """Count what the busiest link carries for one input, where links decide."""
    tensor, pipeline = (
        [step.link_bytes for step in results.strategies[name].steps]
        for name in ("tensor", "pipeline")
    )
    return {"busiest-tensor": f"{sum(tensor):,}", "busiest-pipeline": f"{max(pipeline):,}"}


def tell_sram(results: Results) -> Facts:
    """Compare what nodes hold at the fullest moment with the SRAM."""
    totals, room, held = results.totals, results.asked.system.sram_bytes, results.sram
    kept_bytes, waiting_bytes, next_input = results.uncounted
    assert kept_bytes and waiting_bytes and next_input
    uses = [("tensor", held["tensor"].fullest)]
    uses += [("pipeline", use) for use in held["pipeline"].uses]
    uses += [("data", held["data"].fullest)]
    most = max(use.total_bytes for _, use in uses)
    fullest = held["pipeline"].fullest
    without_output = fullest.weight_bytes + fullest.input_bytes
    return {
        "sram-rows": [tell_use(strategy, use, room, most) for strategy, use in uses],
        "sram-at": float(Fraction(room, most)),
        "sram": f"{room:,}",
        "weights": f"{totals.weight_bytes:,}",
        "excess": f"{totals.weights_excess_bytes:,}",
        "kept-input": f"{kept_bytes:,}",
        "waiting-inputs": f"{waiting_bytes:,}",
        "without-output": f"{without_output:,}",
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


def tell_ring(results: Results, one: dict[str, Result], ring: Result) -> Facts:
    """Compare a one-way ring with all-to-all."""
    tensor, more_bytes = one["tensor"], ring.traffic_bytes - one["tensor"].traffic_bytes
    gather_bytes = results.strategies["tensor"].steps[-1].traffic_bytes
    return {
        "ring-communication": format_places(ring.communication_s / tensor.communication_s, 2),
        "ring-latency": format_places(ring.latency_s / tensor.latency_s, 2),
        "ring-traffic": format_places(Fraction(ring.traffic_bytes, tensor.traffic_bytes), 2),
        "ring-each-ms": in_ms(ring.interval_s),
        "gather": f"{gather_bytes:,}",
        "ring-gather": f"{gather_bytes + more_bytes:,}",
        "two-way-us": in_us(ring.communication_s / 2, 1),  # half of each shard goes each way
    }
