"""What the deck says in numbers: each a text with a name, which slides.typ prints as it is."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import TypeVar

import lab3
from lab3 import Rate
from report.analysis import Analysis, Result, balanced_pipeline_latency
from report.question import Impossible
from report.terminal import GIGA, MS, US

Fact = str | list[list[str]]  # of a table the rows
Facts = dict[str, Fact]
Found = TypeVar("Found")


def said(value: Rate, places: int = 0) -> str:
    """Rounded once to so many decimals, with thousands grouped."""
    return f"{Decimal(round(value * 10**places)).scaleb(-places):,f}"


def percent(part: Rate, places: int = 0) -> str:
    """Without the sign."""
    return said(100 * part, places)


def possible(found: Found | Impossible) -> Found:
    """What is asked for is possible in the lab."""
    assert not isinstance(found, Impossible), found
    return found


def facts(analysis: Analysis) -> Facts:
    """All of them, by name."""
    pages = (results, approach, steps, bound, sram, ring)
    return {name: text for page in pages for name, text in page(analysis).items()}


def _four(it: Analysis) -> tuple[Result, Result, Result, Result]:
    """Tensor and pipeline parallelism for 1 input, and both for all."""
    one, one_pipeline, tensor, pipeline = (
        possible(it.result(strategy, inputs))
        for inputs in it.counts
        for strategy in ("tensor", "pipeline")
    )
    return one, one_pipeline, tensor, pipeline


def results(it: Analysis) -> Facts:
    """Page 1."""
    one, one_pipeline, tensor, pipeline = _four(it)
    names = ("tensor-1", "pipeline-1", "tensor-32", "pipeline-32")
    found = dict(zip(names, _four(it), strict=True))
    return {
        "inputs": said(it.inputs),
        **{f"{name}-s": said(result.latency_s, 11) for name, result in found.items()},
        **{f"{name}-bytes": said(result.traffic_bytes) for name, result in found.items()},
        "tensor-32-ms": said(tensor.latency_s * MS, 2),
        "pipeline-32-ms": said(pipeline.latency_s * MS, 2),
        "times-as-fast-1": said(one_pipeline.latency_s / one.latency_s, 2),
        "times-as-fast-32": said(pipeline.latency_s / tensor.latency_s, 2),
        "times-the-bytes": said(Fraction(one.traffic_bytes, one_pipeline.traffic_bytes), 2),
        "pipeline-times-as-long": said(pipeline.latency_s / one_pipeline.latency_s, 1),
        "tensor-sends-us": said(one.communication_s * US, 2),
        "pipeline-sends-us": said(one_pipeline.communication_s * US, 2),
        "tensor-each-ms": said(one.interval_s * MS, 2),
        "pipeline-each-ms": said(pipeline.interval_s * MS, 2),
    }


def approach(it: Analysis) -> Facts:
    """Page 2."""
    _, _, tensor, _ = _four(it)
    first = it.network[0]
    times = "\N{MULTIPLICATION SIGN}"
    return {
        "nodes": said(it.system.nodes),
        "links": said(it.system.nodes * (it.system.nodes - 1)),
        "gops": said(Fraction(it.system.ops_per_s, GIGA)),
        "link-gbs": said(Fraction(it.system.link_bytes_per_s, GIGA)),
        "sram": said(it.system.sram_bytes),
        "layers": [
            [
                f"{number}: {times.join(map(said, (layer.filters, layer.out_x, layer.out_y)))}",
                *map(said, (layer.output_bytes, layer.weight_bytes, layer.ops)),
            ]
            for number, layer in enumerate(it.network, 1)
        ],
        "weights": said(it.totals.weight_bytes),
        "ops": said(sum(layer.ops for layer in it.network)),
        "filters": said(first.filters),
        "share": said(first.filters // it.system.nodes),
        "weight-bytes-1": said(first.weight_bytes),
        "side-1": said(first.out_x),
        "input": times.join(map(said, (first.in_channels, first.x, first.y))),
        "input-bytes": said(first.input_bytes),
        "tensor-above-percent": percent(tensor.latency_s / it.lower_bound_s - 1),
    }


def steps(it: Analysis) -> Facts:
    """Page 3: of each layer and strategy the times in microseconds and the bytes; their sums."""
    rows = [[said(number)] for number, _ in enumerate(it.network, 1)]
    for strategy in ("tensor", "pipeline"):
        for step in possible(it.strategies[strategy]).steps:
            rows[step.layer - 1].append(said(step.time_s * US, 5))
            if step.work != "compute":
                rows[step.layer - 1].append(said(step.traffic_bytes))
    rows[-1] += ["", ""]  # the pipeline's last layer sends nothing
    one, one_pipeline, tensor, pipeline = _four(it)
    found: Facts = {"steps": rows, "later-inputs": said(it.inputs - 1)}
    for name, single, every in (("tensor", one, tensor), ("pipeline", one_pipeline, pipeline)):
        found |= {
            f"{name}-compute-us": said(single.compute_s * US, 5),
            f"{name}-communication-us": said(single.communication_s * US, 5),
            f"{name}-1-us": said(single.latency_s * US, 5),
            f"{name}-32-us": said(every.latency_s * US, 5),
        }
    return found | {"pipeline-interval-us": said(pipeline.interval_s * US, 5)}


def bound(it: Analysis) -> Facts:
    """Page 4."""
    one, one_pipeline, tensor, pipeline = _four(it)
    losses = possible(it.losses)
    equal_s = it.lower_bound_s / it.inputs
    fills = it.system.nodes - 1  # equal stages take so many more intervals than inputs
    balanced_from = floor(fills * equal_s / (one.latency_s - equal_s)) + 1
    return {
        "pipeline-above-percent": percent(pipeline.latency_s / it.lower_bound_s - 1),
        "lower-bound-ms": said(it.lower_bound_s * MS, 3),
        "communication-ms": said(it.inputs * one.communication_s * MS, 3),
        "node-2-percent": percent(Fraction(it.network[1].ops, sum(i.ops for i in it.network))),
        "node-2-us": said(pipeline.interval_s * US, 2),
        "equal-us": said(equal_s * US, 2),
        "imbalance-ms": said(losses.load_imbalance_s * MS, 3),
        "compute-us": said(one_pipeline.compute_s * US, 2),
        "fill-ms": said(losses.fill_and_drain_s * MS, 3),
        "balanced-ms": said(balanced_pipeline_latency(*it.question) * MS, 3),
        "total-ms": said(tensor.latency_s * MS, 3),
        "balanced-from": said(balanced_from),
        "balanced-slots": said(balanced_from + fills),
        "each-us": said(one.latency_s * US, 2),
    }


def sram(it: Analysis) -> Facts:
    """Page 5."""
    second = it.network[1]
    return {
        "excess": said(it.totals.excess_bytes),
        "rows": said(second.fy),
        "weights-2": said(second.weight_bytes),
        "input-2": said(second.input_bytes),
        "rows-2": said(second.y),
        "output-2": said(second.output_bytes),
        **{
            f"by-rows-{node}": said(
                layer.weight_bytes + layer.fy * layer.input_bytes // layer.y + layer.output_bytes
            )
            for node, layer in enumerate(it.network[1:], 2)
        },
        "outputs-bytes": said(it.totals.output_bytes),
        "all-sram": said(it.totals.sram_bytes),
    }


def ring(it: Analysis) -> Facts:
    """Page 6."""
    one, one_pipeline, _, pipeline = _four(it)
    there = possible(it.result("tensor", 1, lab3.RING))
    reverse_more_s = (it.system.nodes - 2) * one_pipeline.communication_s  # P - 1 links, not one
    named = {"one": one, "ring": there, "pipeline": one_pipeline}
    return {
        **{f"{name}-transfers": said(on.communication_s * US, 3) for name, on in named.items()},
        **{f"{name}-latency": said(on.latency_s * US, 3) for name, on in named.items()},
        "ring-bytes": said(there.traffic_bytes),
        "ring-ms": said(it.inputs * there.communication_s * MS, 3),
        "ring-more-percent": percent(there.latency_s / one.latency_s - 1, 1),
        "reverse-more-percent-1": percent(reverse_more_s / one_pipeline.latency_s, 1),
        "reverse-more-percent-32": percent(reverse_more_s / pipeline.latency_s, 1),
    }
