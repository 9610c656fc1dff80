"""The deck's numbers: each a text with a name, which slides.typ prints as it is."""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import lab3
from lab3 import Rate
from report import sram
from report.results import Result, Results
from report.sram import SramUse
from report.text import GIGA, KIB, MS, US, format_places

Fact = str | list[str] | list[list[str]]
Facts = dict[str, Fact]

DOT, TIMES, MINUS = " \N{MIDDLE DOT} ", "\N{MULTIPLICATION SIGN}", "\N{MINUS SIGN}"
NUMBERS = ("none", "one", "two", "three", "four")


def compute_facts(results: Results) -> Facts:
    """All of them, by name."""
    four = Four(
        *(
            results.strategies[strategy].find(inputs, lab3.ALL_TO_ALL)
            for inputs in (1, results.asked.inputs)
            for strategy in ("tensor", "pipeline")
        )
    )
    return {
        **tell_question(results),
        **tell_answers(four),
        **tell_layers(results, four),
        **tell_bound(results, four),
        **tell_sram(results),
        **tell_ring(results, four),
    }


class Four(NamedTuple):
    """The answers of Q1 and Q2."""

    tensor_1: Result
    pipeline_1: Result
    tensor_n: Result
    pipeline_n: Result


def whole(*values: int) -> list[str]:
    """Each with its thousands grouped."""
    return [f"{value:,}" for value in values]


def ms(value_s: Rate, places: int = 2) -> str:
    """Two decimals in sentences, three where parts add up."""
    return format_places(value_s * MS, places)


def us(value_s: Rate, places: int = 5) -> str:
    """Five decimals are exact for the lab."""
    return format_places(value_s * US, places)


def percent(part: Rate, places: int = 0) -> str:
    """Without the sign."""
    return format_places(100 * part, places)


def tell_question(results: Results) -> Facts:
    """What is given."""
    network, system, inputs = results.asked
    return {
        "inputs": f"{inputs:,}",
        "later": f"{inputs - 1:,}",
        "nodes": f"{system.nodes}",
        "nodes-word": NUMBERS[system.nodes],
        "others-word": NUMBERS[system.nodes - 1],
        "links": f"{system.nodes * (system.nodes - 1)}",
        "layers": f"{len(network)}",
        "sent": f"{len(network) - 1}",
        "gops": format_places(Fraction(system.ops_per_s, GIGA), 0),
        "gbs": format_places(Fraction(system.link_bytes_per_s, GIGA), 0),
        "filters": f"{network[0].filters}",
        "share": f"{network[0].filters // system.nodes}",
    }


def tell_answers(four: Four) -> Facts:
    """Page 1."""
    facts: Facts = {}
    for name, result in four._asdict().items():
        strategy, n = name.split("_")
        facts[f"{strategy}-{n}-s"] = format_places(result.latency_s, 11)
        facts[f"{strategy}-{n}-us"] = us(result.latency_s)
        facts[f"{strategy}-{n}-ms"] = ms(result.latency_s)
        facts[f"{strategy}-{n}-bytes"] = f"{result.traffic_bytes:,}"
    pace_s = four.pipeline_n.interval_s
    return facts | {
        "tensor-growth": format_places(four.tensor_n.latency_s / four.tensor_1.latency_s, 1),
        "pipeline-growth": format_places(four.pipeline_n.latency_s / four.pipeline_1.latency_s, 1),
        "slower-1": format_places(four.pipeline_1.latency_s / four.tensor_1.latency_s, 2),
        "slower-n": format_places(four.pipeline_n.latency_s / four.tensor_n.latency_s, 2),
        "more-bytes": format_places(
            Fraction(four.tensor_1.traffic_bytes, four.pipeline_1.traffic_bytes), 2
        ),
        "pipeline-floor-ms": ms(pace_s, 3),
        "pipeline-rest-ms": ms(four.pipeline_1.latency_s - pace_s, 3),
        "bottleneck": four.pipeline_n.bottleneck,
    }


def tell_layers(results: Results, four: Four) -> Facts:
    """Page 3: of each layer its sizes, both strategies' times and bytes; sums."""
    layers, inputs = results.layers, results.asked.inputs
    rows = [
        [
            f"{layer['layer']}: {TIMES.join(whole(layer['filters'], layer['out_x'], layer['out_y']))}",
            *whole(layer["ops"], layer["output_bytes"]),
        ]
        for layer in layers
    ]
    facts: Facts = {}
    for name, one, many in (
        ("tensor", four.tensor_1, four.tensor_n),
        ("pipeline", four.pipeline_1, four.pipeline_n),
    ):
        for step in results.strategies[name].steps:
            rows[step.layer - 1].append(us(step.time_s))
            if step.work != "compute":
                rows[step.layer - 1].append(f"{step.traffic_bytes:,}")
        compute, communication = us(one.compute_s), us(one.communication_s)
        facts |= {
            f"{name}-sums": [compute, communication, f"{one.traffic_bytes:,}"],
            f"{name}-1-sum": [f"{compute} + {communication}", us(one.latency_s)],
            f"{name}-bytes-sum": [f"{inputs}{DOT}{one.traffic_bytes:,}", f"{many.traffic_bytes:,}"],
        }
    rows[-1] += ["0", "0"]  # the pipeline's last layer sends nothing
    one_us, pace_us = us(four.pipeline_1.latency_s), us(four.pipeline_n.interval_s)
    no_overlap_s = inputs * four.pipeline_1.latency_s
    first, ops = layers[0], sum(layer["ops"] for layer in layers)
    return facts | {
        "layer-rows": rows,
        "ops": f"{ops:,}",
        "layer-2-percent": percent(Fraction(layers[1]["ops"], ops)),
        "tensor-n-sum": [f"{inputs}{DOT}{us(four.tensor_1.latency_s)}", us(four.tensor_n.latency_s)],
        "pipeline-n-sum": [f"{one_us} + {inputs - 1}{DOT}{pace_us}", us(four.pipeline_n.latency_s)],
        "no-overlap-sum": [f"{inputs}{DOT}{one_us}", us(no_overlap_s)],
        "no-overlap-ms": ms(no_overlap_s),
        "weight-sizes": DOT.join(whole(*(first[it] for it in ("filters", "in_channels", "fx", "fy")))),
        "weights-1": f"{first['weights']:,}",
        "pixels": DOT.join(whole(first["out_x"], first["out_y"])),
    }


def tell_bound(results: Results, four: Four) -> Facts:
    """Page 4."""
    inputs, losses = results.asked.inputs, results.losses
    assert losses
    bound_s, average_s = losses.ideal_compute_s, results.bounds[0].lower_bound_s
    tensor_s, pipeline_s = four.tensor_n.latency_s, four.pipeline_n.latency_s
    pace_s = four.pipeline_n.interval_s
    parts = {
        "bound": (0, bound_s),
        "tensor-communication": (bound_s, tensor_s - bound_s),
        "tensor": (0, tensor_s),
        "imbalance": (bound_s, losses.load_imbalance_s),
        "fill": (bound_s + losses.load_imbalance_s, losses.fill_and_drain_s),
        "communication": (pipeline_s - losses.communication_s, losses.communication_s),
        "pipeline": (0, pipeline_s),
    }
    system = results.asked.system
    return {
        "bars": {name: [float(it / pipeline_s) for it in part] for name, part in parts.items()},
        "bound-ms": ms(bound_s, 3),
        "bound-sum": f"{inputs}{DOT}{results.layers and sum(it['ops'] for it in results.layers):,} ÷ ({system.nodes}{DOT}{format_places(Fraction(system.ops_per_s, GIGA), 0)}{DOT}10",
        "tensor-communication-ms": ms(tensor_s - bound_s, 3),
        "tensor-communication-us": us(four.tensor_1.communication_s),
        "pipeline-communication-us": us(four.pipeline_1.communication_s),
        "tensor-communication-sum": f"{inputs}{DOT}{us(four.tensor_1.communication_s)}",
        "tensor-n-ms3": ms(tensor_s, 3),
        "pipeline-n-ms3": ms(pipeline_s, 3),
        "imbalance-ms": ms(losses.load_imbalance_s, 3),
        "imbalance-sum": f"{inputs}{DOT}({us(pace_s)} {MINUS} {us(average_s)})",
        "fill-ms": ms(losses.fill_and_drain_s, 3),
        "fill-sum": f"{us(four.pipeline_1.compute_s)} {MINUS} {us(pace_s)}",
        "communication-ms": ms(losses.communication_s, 3),
        "tensor-above-percent": percent(tensor_s / bound_s - 1),
        "pipeline-above-percent": percent(pipeline_s / bound_s - 1),
        "imbalance-percent": percent(losses.load_imbalance_s / (pipeline_s - bound_s)),
        "communication-percent": percent(four.tensor_1.communication_s / four.tensor_1.latency_s),
        "pace-us": us(pace_s, 3),
        "average-us": us(average_s, 3),
        "tensor-sends-us": us(four.tensor_1.communication_s, 3),
        "pipeline-sends-us": us(four.pipeline_1.communication_s, 3),
    }


def tell_sram(results: Results) -> Facts:
    """Page 5."""
    network, system, inputs = results.asked
    totals, room = results.totals, system.sram_bytes
    fullest = [("tensor", results.sram["tensor"].fullest)]
    fullest += [("pipeline", use) for use in results.sram["pipeline"].uses]
    fullest += [("data", results.sram["data"].fullest)]
    most = max(use.total_bytes for _, use in fullest)
    rows = [describe_use(f"{name}, {use.where}", use, room, most) for name, use in fullest]
    return {
        "sram-rows": rows,
        "sram-at": float(Fraction(room, most)),
        "sram": f"{room:,}",
        "sram-sum": f"{room // KIB}{DOT}{KIB:,} = {room:,}",
        "weights": f"{totals.weight_bytes:,}",
        "excess": f"{totals.weights_excess_bytes:,}",
        "kept-input": f"{sram.tensor_sram_input_kept(network, system):,}",
        "overlapping": f"{sram.pipeline_sram_overlapping(network, system).total_bytes:,}",
        "outputs-bytes": f"{totals.output_bytes:,}",
        "all-sram": f"{totals.sram_bytes:,}",
        "fullest-layer": f"{results.sram['tensor'].fullest.layer}",
    }


def describe_use(name: str, use: SramUse, room: int, most: int) -> list:
    """A row of page 5's table: name, sizes, lengths of the bar's parts, what is free."""
    sizes = use.weight_bytes, use.input_bytes, use.output_bytes
    free = room - use.total_bytes
    told = f"{free:,} free" if free >= 0 else f"{-free:,} too many"
    return [name, whole(*sizes, use.total_bytes), [size / most for size in sizes], told]


def tell_ring(results: Results, four: Four) -> Facts:
    """Page 6."""
    inputs = results.asked.inputs
    ring = results.strategies["tensor"].find(1, lab3.RING)
    more_s = ring.latency_s - four.tensor_1.latency_s
    reverse_more_s = (results.asked.system.nodes - 2) * four.pipeline_1.communication_s
    return {
        "ring-rows": [
            [us(it.communication_s), us(it.latency_s), f"{it.traffic_bytes:,}"]
            for it in (four.tensor_1, ring, four.pipeline_1)
        ],
        "ring-ms": ms(inputs * ring.communication_s),
        "all-to-all-ms": ms(inputs * four.tensor_1.communication_s),
        "ring-more-percent": percent(more_s / four.tensor_1.latency_s, 1),
        "ring-more-bytes": f"{ring.traffic_bytes - four.tensor_1.traffic_bytes:,}",
        "ring-each-ms": ms(ring.latency_s),
        "pipeline-each-ms": ms(four.pipeline_n.interval_s),
        "reverse-1": percent(reverse_more_s / four.pipeline_1.latency_s, 1),
        "reverse-n": percent(reverse_more_s / four.pipeline_n.latency_s, 1),
    }
