"""What the deck says in numbers: each a text with a name, which slides.typ prints as it is."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import lab3
from lab3 import Rate
from report.analysis import Analysis, Result
from report.question import possible
from report.terminal import GIGA, KIB, MB, MS, US

Fact = str | list[str] | list[list[str]]  # a row of a table, or all of them
Facts = dict[str, Fact]


def said(value: Rate, places: int = 0) -> str:
    """Rounded once to so many decimals, with thousands grouped."""
    return f"{Decimal(round(value * 10**places)).scaleb(-places):,f}"


def percent(part: Rate, places: int = 0) -> str:
    """Without the sign."""
    return said(100 * part, places)


def facts(analysis: Analysis) -> Facts:
    """All of them, by name."""
    pages = (results, approach, layers, bound, sram, ring)
    return {name: text for page in pages for name, text in page(analysis).items()}


def _four(analysis: Analysis) -> tuple[Result, Result, Result, Result]:
    """Tensor and pipeline parallelism for 1 input, and both for all."""
    one, one_pipeline, tensor, pipeline = (
        possible(analysis.result(strategy, inputs))
        for inputs in analysis.counts
        for strategy in ("tensor", "pipeline")
    )
    return one, one_pipeline, tensor, pipeline


def results(analysis: Analysis) -> Facts:
    """The numbers of page 1."""
    one, one_pipeline, tensor, pipeline = found = _four(analysis)
    names = ("tensor-1", "pipeline-1", "tensor-32", "pipeline-32")
    named = dict(zip(names, found, strict=True))
    return {
        "inputs": said(analysis.inputs),
        **{f"{name}-s": said(result.latency_s, 11) for name, result in named.items()},
        **{f"{name}-ms": said(result.latency_s * MS, 2) for name, result in named.items()},
        **{f"{name}-bytes": said(result.traffic_bytes) for name, result in named.items()},
        "tensor-1-mb": said(Fraction(one.traffic_bytes, MB), 2),
        "pipeline-1-mb": said(Fraction(one_pipeline.traffic_bytes, MB), 2),
        "times-as-fast-1": said(one_pipeline.latency_s / one.latency_s, 2),
        "times-as-fast-32": said(pipeline.latency_s / tensor.latency_s, 2),
        "times-the-bytes": said(Fraction(one.traffic_bytes, one_pipeline.traffic_bytes), 2),
        "pipeline-times-as-long": said(pipeline.latency_s / one_pipeline.latency_s, 1),
        "tensor-each-ms": said(one.interval_s * MS, 2),
        "pipeline-each-ms": said(pipeline.interval_s * MS, 2),
    }


def approach(analysis: Analysis) -> Facts:
    """The numbers of page 2."""
    one, _, _, _ = _four(analysis)
    system, filters = analysis.system, analysis.network[0].filters
    return {
        "nodes": said(system.nodes),
        "gops": said(Fraction(system.ops_per_s, GIGA)),
        "link-gbs": said(Fraction(system.link_bytes_per_s, GIGA)),
        "filters": said(filters),
        "share": said(filters // system.nodes),
        "communication-percent": percent(one.communication_s / one.latency_s),
    }


def layers(analysis: Analysis) -> Facts:
    """The numbers of page 3: of each layer its sizes, both strategies' times and bytes; sums."""
    network, nodes = analysis.network, analysis.system.nodes
    first, ops = network[0], sum(layer.ops for layer in network)
    times = "\N{MULTIPLICATION SIGN}"
    rows = [
        [
            f"{number}: {times.join(map(said, (layer.filters, layer.out_x, layer.out_y)))}",
            said(layer.ops),
            said(layer.output_bytes),
        ]
        for number, layer in enumerate(network, 1)
    ]
    one, one_pipeline, tensor, pipeline = _four(analysis)
    found: Facts = {}
    for name, single, every in (("tensor", one, tensor), ("pipeline", one_pipeline, pipeline)):
        steps = possible(analysis.strategies[name]).steps
        for step in steps:
            rows[step.layer - 1].append(said(step.time_s * US, 5))
            if step.work != "compute":
                rows[step.layer - 1].append(said(step.traffic_bytes))
        found |= {
            f"{name}-compute-us": said(single.compute_s * US, 5),
            f"{name}-communication-us": said(single.communication_s * US, 5),
            f"{name}-sends-us": said(single.communication_s * US, 2),
            f"{name}-bytes": [said(step.traffic_bytes) for step in steps if step.traffic_bytes],
            f"{name}-1-us": said(single.latency_s * US, 5),
            f"{name}-32-us": said(every.latency_s * US, 5),
        }
    rows[-1] += ["", ""]  # the pipeline's last layer sends nothing
    times = " \N{MIDDLE DOT} "
    return found | {
        "layers": rows,
        "ops": said(ops),
        "layer-2-percent": percent(Fraction(network[1].ops, ops)),
        "later-inputs": said(analysis.inputs - 1),
        "pipeline-no-overlap-us": said(analysis.inputs * one_pipeline.latency_s * US, 5),
        "pipeline-interval-us": said(pipeline.interval_s * US, 5),
        "weight-sizes": times.join(map(said, first[:4])),
        "weights-1": said(first.weights),
        "pixels": times.join(map(said, (first.out_x, first.out_y))),
        "links": said(nodes * (nodes - 1)),
    }


def bound(analysis: Analysis) -> Facts:
    """The numbers of page 4."""
    one, one_pipeline, tensor, pipeline = _four(analysis)
    losses = possible(analysis.losses)
    equal_s = analysis.lower_bound_s / analysis.inputs
    return {
        "tensor-above-percent": percent(tensor.latency_s / analysis.lower_bound_s - 1),
        "pipeline-above-percent": percent(pipeline.latency_s / analysis.lower_bound_s - 1),
        "lower-bound-ms": said(analysis.lower_bound_s * MS, 3),
        "node-2-us": said(pipeline.interval_s * US, 3),
        "equal-us": said(equal_s * US, 3),
        "node-2-more-us": said((pipeline.interval_s - equal_s) * US, 3),
        "imbalance-ms": said(losses.load_imbalance_s * MS, 3),
        "compute-us": said(one_pipeline.compute_s * US, 3),
        "fill-ms": said(losses.fill_and_drain_s * MS, 3),
        "communication-ms": said(analysis.inputs * one.communication_s * MS, 3),
    }


def sram(analysis: Analysis) -> Facts:
    """The numbers of page 5."""
    totals, sram_bytes = analysis.totals, analysis.system.sram_bytes
    share = totals.weight_bytes // analysis.system.nodes
    both = max(layer.input_bytes + layer.output_bytes for layer in analysis.network)
    return {
        "weights": said(totals.weight_bytes),
        "sram": said(sram_bytes),
        "sram-kib": said(Fraction(sram_bytes, KIB)),
        "excess": said(totals.excess_bytes),
        "kept-input": said(share + both),
        "outputs-bytes": said(totals.output_bytes),
        "all-sram": said(totals.sram_bytes),
    }


def ring(analysis: Analysis) -> Facts:
    """The numbers of page 6."""
    one, one_pipeline, _, pipeline = _four(analysis)
    there = possible(analysis.result("tensor", 1, lab3.RING))
    more_s = there.latency_s - one.latency_s
    reverse_more_s = (analysis.system.nodes - 2) * one_pipeline.communication_s  # P - 1 links
    named = {"tensor": one, "ring": there, "pipeline": one_pipeline}
    return {
        **{f"{name}-transfers": said(on.communication_s * US, 3) for name, on in named.items()},
        **{f"{name}-latency": said(on.latency_s * US, 3) for name, on in named.items()},
        "ring-bytes": said(there.traffic_bytes),
        "ring-ms": said(analysis.inputs * there.communication_s * MS, 2),
        "all-to-all-ms": said(analysis.inputs * one.communication_s * MS, 2),
        "ring-more-us": said(more_s * US, 3),
        "ring-more-percent": percent(more_s / one.latency_s, 1),
        "ring-more-bytes": said(there.traffic_bytes - one.traffic_bytes),
        "ring-each-ms": said(there.latency_s * MS, 2),
        "reverse-more-percent-1": percent(reverse_more_s / one_pipeline.latency_s, 1),
        "reverse-more-percent-32": percent(reverse_more_s / pipeline.latency_s, 1),
    }
