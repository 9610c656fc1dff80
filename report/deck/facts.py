"""The deck's computed numbers: texts by name, which slides.typ prints as they are. Of bars, it gets
lengths as floats. What the handout gives is written in slides.typ: build.py refuses other numbers.
`explain` tells most of them; among the deck's own are Q2 / Q1, equal layers, the busiest links'
bytes, node 2 without its output, the ring's gather, a pipeline against it, and two-way links.
"""

from fractions import Fraction
from itertools import zip_longest
from math import floor
from typing import Any

import lab3
from report.check.mistakes import list_examples
from report.results import ONE_WAY_RING, Result, Results
from report.sram import SramUse
from report.text import GIGA, MS, US, Exact, format_places, format_rounded

Facts = dict[str, Any]  # texts, lists and dictionaries of texts, lengths
TIMES = "\N{MULTIPLICATION SIGN}"
BLOCKING = "a node does not compute while it sends"  # what `check` says of the mistake


def compute_facts(results: Results) -> Facts:
    """Format all facts, by name."""
    inputs = results.asked.inputs
    cases = {
        "one": results.find(1),
        "all": results.find(inputs),
        "ring-one": results.find(1, ONE_WAY_RING),
        "ring-all": results.find(inputs, ONE_WAY_RING),
    }
    return {
        **{name: {it: tell_result(found[it]) for it in found} for name, found in cases.items()},
        **compare(results),
        **tell_layers(results),
        **tell_parts(results),
        **tell_sram(results),
    }


def in_ms(value_s: Exact, places: int = 2) -> str:
    """Format seconds as ms: with two decimals in sentences, three where parts add up."""
    return format_places(value_s * MS, places)


def in_us(value_s: Exact, places: int = 5) -> str:
    """Format seconds as microseconds: exactly, as the lab's have five decimals at most."""
    return format_places(value_s * US, places)


def tell_result(result: Result) -> Facts:
    """Format a strategy's latency, its parts, and its traffic."""
    return {
        "s": lab3.format_decimal(result.latency_s),
        "us": in_us(result.latency_s),
        "ms": in_ms(result.latency_s),
        "each-ms": in_ms(result.interval_s),
        "each-us": in_us(result.interval_s),
        "compute": in_us(result.compute_s),
        "communication": in_us(result.communication_s, 3),
        "bytes": f"{result.traffic_bytes:,}",
        "used": format_places(100 * result.utilisation, 1),
    }


def compare(results: Results) -> Facts:
    """Compare the answers to Q1, Q2 and Q4."""
    inputs, (tensor, pipeline) = results.asked.inputs, results.find(1).values()
    all_tensor, all_pipeline = results.find(inputs).values()
    ring = results.find(1, ONE_WAY_RING)["tensor"]
    sends_s = 2 * pipeline.communication_s  # more, if each crosses three links
    gather_bytes = results.strategies["tensor"].steps[-1].traffic_bytes
    return {
        "tensor-growth": format_places(all_tensor.latency_s / tensor.latency_s, 1),
        "pipeline-growth": format_places(all_pipeline.latency_s / pipeline.latency_s, 1),
        "slower-1": format_places(results.compare(1, "latency_s"), 2),
        "slower-n": format_places(results.compare(inputs, "latency_s"), 2),
        "more-bytes": format_places(1 / results.compare(1, "traffic_bytes"), 2),
        "less-time": format_places(100 / results.compare(1, "communication_s"), 0),
        "pace-ms": in_ms(pipeline.interval_s, 3),
        "rest-ms": in_ms(pipeline.fill_s, 3),
        "serial-ms": in_ms(inputs * pipeline.latency_s),
        "ring-communication": format_places(results.compare_ring("communication_s"), 2),
        "ring-latency": format_places(results.compare_ring("latency_s"), 2),
        "ring-traffic": format_places(results.compare_ring("traffic_bytes"), 2),
        "against-percent": format_places(100 * (sends_s / pipeline.latency_s), 1),
        "ring-gather": f"{gather_bytes + ring.traffic_bytes - tensor.traffic_bytes:,}",
        "two-way-us": in_us(ring.communication_s / 2, 1),  # half of each shard goes each way
    }


def tell_layers(results: Results) -> Facts:
    """List each layer's output, C, A, tensor parallelism's times and bytes, the pipeline's times;
    tell what follows from single layers, and what all inputs take if nodes block."""
    network = results.asked.network
    tensor, pipeline = (results.strategies[name].steps for name in ("tensor", "pipeline"))
    columns = results.layers, tensor[::2], tensor[1::2], pipeline[::2], pipeline[1::2]
    rows = []
    for layer, share, gather, whole, send in zip_longest(*columns):
        sizes = TIMES.join(f"{layer[name]}" for name in ("filters", "out_x", "out_y"))
        row = [f"{layer['layer']}: {sizes}", f"{layer['ops']:,}", f"{layer['output_bytes']:,}"]
        row += [in_us(share.time_s), in_us(gather.time_s, 3), f"{gather.traffic_bytes:,}"]
        rows.append([*row, in_us(whole.time_s), in_us(send.time_s, 3) if send else "stays"])
    ops = sum(layer.ops for layer in network)
    examples = list_examples(results.asked, "pipeline")
    [blocking] = (example for example in examples if example.clause == BLOCKING)
    return {
        "layers": rows,
        "ops": f"{ops:,}",
        "layer-2-percent": format_places(100 * Fraction(network[1].ops, ops), 0),
        "shard-1": f"{tensor[1].link_bytes:,}",
        "busiest-tensor": f"{sum(step.link_bytes for step in tensor):,}",
        "busiest-pipeline": f"{max(step.link_bytes for step in pipeline):,}",
        "blocking-ms": in_ms(blocking.latencies_s[-1]),
    }


def tell_parts(results: Results) -> Facts:
    """Divide the time of all inputs into parts: for each its place in a bar, and ms. From how many
    inputs on would a pipeline of equal layers be faster, which sends as many bytes?"""
    assert results.losses
    bound_s, imbalance_s, fill_s, sends_s = results.losses
    one_s, first_s = (result.latency_s for result in results.find(1).values())
    tensor_s, all_s = (result.latency_s for result in results.find(results.asked.inputs).values())

    def place(start_s: Exact, length_s: Exact) -> list[Any]:
        return [float(start_s / all_s), float(length_s / all_s), in_ms(length_s, 3)]

    average_s = bound_s / results.asked.inputs
    equal = floor((first_s - average_s) / (one_s - average_s)) + 1
    return {
        "bound": place(0, bound_s),
        "tensor-communication": place(bound_s, tensor_s - bound_s),
        "tensor": place(0, tensor_s),
        "imbalance": place(bound_s, imbalance_s),
        "fill": place(bound_s + imbalance_s, fill_s),
        "pipeline-communication": place(all_s - sends_s, sends_s),
        "pipeline": place(0, all_s),
        "tensor-above": format_places(100 * (tensor_s / bound_s - 1), 0),
        "pipeline-above": format_places(100 * (all_s / bound_s - 1), 0),
        "average-us": in_us(average_s),
        "ring-flip": format_rounded(results.verdicts[-1].equal_bytes_per_s[0] / GIGA, 3),
        "imbalance-percent": format_places(100 * imbalance_s / (all_s - bound_s), 0),
        "equal": f"{equal}",
        "equal-pipeline": f"{in_us(first_s)} + {equal - 1}·{in_us(average_s)}"
        f" = {in_us(first_s + (equal - 1) * average_s)}",
        "equal-tensor": f"{equal}·{in_us(one_s)} = {in_us(equal * one_s)}",
    }


def tell_sram(results: Results) -> Facts:
    """Compare what nodes hold at the fullest moment with the SRAM."""
    totals, room, held = results.totals, results.asked.system.sram_bytes, results.sram
    kept_bytes, waiting_bytes, next_input = results.uncounted
    assert next_input
    uses = [("tensor", held["tensor"].fullest), ("data", held["data"].fullest)]
    uses[1:1] = [("pipeline", use) for use in held["pipeline"].uses]
    node_2 = held["pipeline"].fullest
    return {
        "uses": [tell_use(strategy, use, room) for strategy, use in uses],
        "sram": f"{room:,}",
        "weights": f"{totals.weight_bytes:,}",
        "excess": f"{totals.weights_excess_bytes:,}",
        "kept-input": f"{kept_bytes:,}",
        "waiting-inputs": f"{waiting_bytes:,}",
        "without-output": f"{node_2.weight_bytes + node_2.input_bytes:,}",
        "next-input": f"{next_input.total_bytes:,}",
        "outputs-bytes": f"{totals.output_bytes:,}",
        "all-sram": f"{totals.sram_bytes:,}",
        "data-ms": in_ms(results.bounds[-1].data_parallel_s, 3),
    }


def tell_use(strategy: str, use: SramUse, room: int) -> list[Any]:
    """Format a row of the table; its bar's lengths are shares of the SRAM."""
    sizes, free = (use.weight_bytes, use.input_bytes, use.output_bytes), room - use.total_bytes
    texts, lengths = [f"{size:,}" for size in sizes], [size / room for size in sizes]
    rest = f"{free:,} bytes free" if free >= 0 else f"{-free:,} bytes over"
    return [strategy, use.where, texts, f"{use.total_bytes:,}", lengths, rest]
