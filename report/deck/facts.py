"""What the deck says in numbers: each a text with a name, which slides.typ prints as it is."""

from __future__ import annotations

from bisect import bisect_left
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import TypeVar

import lab3
from lab3 import Rate
from report import plans, streaming
from report.analysis import (
    Analysis,
    balanced_pipeline_latency,
    data_parallel_latency,
    machine_balance,
    ops_per_byte,
    two_way_ring_latency,
)
from report.question import STRATEGIES, Impossible, Question
from report.terminal import GIGA, MB, MS, US

Fact = str | list[list[str]]  # of a table the rows
Found = TypeVar("Found")

READINGS = (  # the columns of page 1's table
    "inputs do not overlap",
    "a node that sends does not compute",
    "a node that sends or receives does not compute",
    "GB/s are Gbit/s",
    "inputs start on one node",
)


def said(value: Rate, places: int = 0) -> str:
    """Rounded once to so many decimals, with thousands grouped."""
    return f"{Decimal(round(value * 10**places)).scaleb(-places):,f}"


def percent(share: Rate, places: int = 0) -> str:
    """Without the sign."""
    return said(100 * share, places)


def possible(found: Found | Impossible) -> Found:
    """What is asked for is possible in the lab."""
    assert not isinstance(found, Impossible), found
    return found


def facts(analysis: Analysis) -> dict[str, Fact]:
    """All of them, by name."""
    network, system, inputs = question = analysis.question
    link, sram = Fraction(system.link_bytes_per_s), system.sram_bytes
    ops = sum(layer.ops for layer in network)
    results = {
        (strategy, count): possible(analysis.result(strategy, count))
        for strategy in ("tensor", "pipeline")
        for count in analysis.counts
    }
    one, tensor, pipeline_one, pipeline = results.values()
    streamed, pipeline_streamed = possible(tensor.streamed), possible(pipeline.streamed)
    fullest = {name: possible(it).fullest for name, it in analysis.sram.items()}
    node_2 = possible(analysis.sram["pipeline"]).uses[1]
    limit_s, totals = analysis.lower_bound_s, analysis.totals
    next_plan, same_bytes_plan = possible(analysis.plans.best)[1:3]
    copied_s = reading_s(analysis, "tensor", "inputs start on one node")
    data_s = data_parallel_latency(*question)
    ring = possible(analysis.result("tensor", 1, lab3.RING))
    two_way_s = two_way_ring_latency(network, system)
    low, high = whole_tensor_links(question)
    _, ring_high = whole_tensor_links(question.on(topology=lab3.RING))
    found: dict[str, Fact] = {
        # page 1
        "inputs": said(inputs),
        "tensor-32-ms": said(tensor.latency_s * MS, 2),
        "pipeline-32-ms": said(pipeline.latency_s * MS, 2),
        "links": said(system.nodes * (system.nodes - 1)),
        "sram": said(sram),
        "times-as-fast-1": said(pipeline_one.latency_s / one.latency_s, 2),
        "times-as-fast-32": said(pipeline.latency_s / tensor.latency_s, 2),
        "times-the-bytes": said(Fraction(one.traffic_bytes, pipeline_one.traffic_bytes), 2),
        "communication-percent": percent(one.communication_s / pipeline_one.communication_s),
        "readings": [
            [said(reading_s(analysis, strategy, reading) * MS, 2) for reading in READINGS]
            for strategy in ("tensor", "pipeline")
        ],
        # page 2
        "nodes": said(system.nodes),
        "gops": said(Fraction(system.ops_per_s) / GIGA),
        "link-gbs": said(link / GIGA),
        "layers": layer_rows(analysis),
        "weights": said(totals.weight_bytes),
        "ops": said(ops),
        "ops-per-byte-1": said(ops_per_byte(network[0])),
        "ops-per-byte-2": said(ops_per_byte(network[1])),
        "machine-balance": said(machine_balance(system)),
        # page 3
        "steps": step_rows(analysis),
        "later-inputs": said(inputs - 1),
        "pipeline-interval-us": said(pipeline.interval_s * US, 5),
        **{
            f"node-{node}-busy-percent": percent(
                inputs * layer.ops / (system.ops_per_s * pipeline.latency_s)
            )
            for node, layer in enumerate(network, 1)
        },
        "gather-bytes": said(possible(analysis.strategies["tensor"]).steps[-1].traffic_bytes),
        # page 4
        "limit-ms": said(limit_s * MS, 2),
        "tensor-above-percent": percent(tensor.latency_s / limit_s - 1),
        "pipeline-above-percent": percent(pipeline.latency_s / limit_s - 1),
        "waits-us": said(one.communication_s * US, 2),
        "waits-ms": said(inputs * one.communication_s * MS, 2),
        "in-turn-ms": said(reading_s(analysis, "tensor", "two inputs in turn") * MS, 2),
        "in-turn-lacks": said(two_in_turn_bytes(analysis) - sram),
        "tensor-streamed-ms": said(streamed.latency_s * MS, 2),
        "tensor-streamed-above-us": said(streamed.above_limit_s * US, 3),
        "tensor-streamed-bytes": said(fullest["tensor, streamed"].total_bytes),
        "pipeline-streamed-ms": said(pipeline_streamed.latency_s * MS, 2),
        "times-as-fast-streamed": said(pipeline_streamed.latency_s / streamed.latency_s, 2),
        "node-2-percent": percent(Fraction(network[1].ops, ops)),
        "equal-stage-ms": said(limit_s / inputs * MS, 4),
        "balanced-ms": said(balanced_pipeline_latency(*question) * MS, 2),
        "plans": said(len(plans.every_plan(network, system))),
        "next-plan-ms": said(next_plan.latency_s * MS, 2),
        "next-plan-percent": percent(Fraction(next_plan.traffic_bytes, tensor.traffic_bytes)),
        "same-bytes-plan-percent": percent(1 - same_bytes_plan.latency_s / pipeline.latency_s),
        # page 5
        "weights-per-node": said(Fraction(totals.weight_bytes, system.nodes)),
        "weights-lack": said(totals.excess_bytes),
        "node-2-lacks": said(node_2.weight_bytes + node_2.input_bytes - sram),
        "pipeline-streamed-bytes": said(fullest["pipeline, streamed"].total_bytes),
        "inputs-per-node": said(Fraction(inputs, system.nodes)),
        "data-ms": said(data_s * MS, 2),
        "data-less-percent": percent(1 - data_s / tensor.latency_s),
        "outputs-bytes": said(totals.output_bytes),
        "all-sram": said(totals.sram_bytes),
        # every node has room for as many, so this is how many fit if each is on one node only
        "waiting": said(system.nodes * fullest["tensor"].waiting_inputs),
        "copies-ms": said((copied_s - tensor.latency_s) * MS, 2),
        # page 6
        "ring-communication-us": said(ring.communication_s * US, 5),
        "ring-1-us": said(ring.latency_s * US, 5),
        "ring-1-bytes": said(ring.traffic_bytes),
        "ring-more-percent": percent(ring.latency_s / one.latency_s - 1, 1),
        "two-way-more-percent": percent(two_way_s / one.latency_s - 1, 1),
        "link-mb": said(link / MB),
        "links-from": said(ceil(low / MB)),
        "links-to": said(floor(high / MB)),
        "ring-links-to": said(floor(ring_high / MB)),
        "streamed-ring-to": said(streamed_ring_mb(question)),
        "tensor-link-bytes": said(busiest_link_bytes(question, "tensor")),
        "pipeline-link-bytes": said(busiest_link_bytes(question, "pipeline")),
        "ring-link-bytes": said(busiest_link_bytes(question.on(topology=lab3.RING), "tensor")),
        # R / B decides: nodes so many times as fast are links so many times as slow
        "speeds-from": said(ceil(link / high)),
        "speeds-to": said(floor(link / low)),
    }
    for (strategy, count), it in results.items():
        found |= {
            f"{strategy}-{count}-s": said(it.latency_s, 11),
            f"{strategy}-{count}-us": said(it.latency_s * US, 5),
            f"{strategy}-{count}-bytes": said(it.traffic_bytes),
            f"{strategy}-compute-us": said(it.compute_s * US, 5),
            f"{strategy}-communication-us": said(it.communication_s * US, 5),
            f"{strategy}-interval-ms": said(it.interval_s * MS, 2),
            f"{strategy}-busy-percent": percent(it.utilisation),
        }
    return found


def layer_rows(analysis: Analysis) -> list[list[str]]:
    """Layer, output, its bytes, weight bytes, operations."""
    return [
        [
            said(number),
            f"{layer.filters} \N{MULTIPLICATION SIGN} {layer.out_x} "
            f"\N{MULTIPLICATION SIGN} {layer.out_y}",
            *map(said, (layer.output_bytes, layer.weight_bytes, layer.ops)),
        ]
        for number, layer in enumerate(analysis.network, 1)
    ]


def step_rows(analysis: Analysis) -> list[list[str]]:
    """Layer, and for both strategies the microseconds of computing and sending, and the bytes."""
    rows = [[said(number)] for number, _ in enumerate(analysis.network, 1)]
    for strategy in ("tensor", "pipeline"):
        for step in possible(analysis.strategies[strategy]).steps:
            rows[step.layer - 1].append(said(step.time_s * US, 5))
            if step.work != "compute":
                rows[step.layer - 1].append(said(step.traffic_bytes))
    rows[-1] += ["", ""]  # the pipeline's last layer sends nothing
    return rows


def reading_s(analysis: Analysis, strategy: str, reading: str) -> Fraction:
    """The latency of all inputs; a reading makes no difference to a strategy that it is not of."""
    latency_s = {
        it.changes: it.latency_s
        for it in analysis.readings
        if (it.strategy, it.inputs) == (strategy, analysis.inputs)
    }
    return latency_s.get((reading,), latency_s[()])


def two_in_turn_bytes(analysis: Analysis) -> int:
    """What the fullest node holds, and the largest input that arrives there meanwhile."""
    arriving_bytes = max(layer.input_bytes for layer in analysis.network)
    return possible(analysis.sram["tensor"]).fullest.total_bytes + arriving_bytes


# ------------------------------------------------ on which links the pipeline is faster


def whole_tensor_links(question: Question) -> tuple[Fraction, Fraction]:
    """Between these bytes/s of a link, with whole tensors in both, if tensor parallelism takes
    inputs one by one."""
    network, system, inputs = question
    pipeline = plans.strategy_plans(network, system)["pipeline"]
    links = plans.faster_between(network, system, pipeline, inputs)
    assert links and links.high_bytes_per_s, "on some links, but not on the fastest"
    return links.low_bytes_per_s, links.high_bytes_per_s


def busiest_link_bytes(question: Question, strategy: str) -> int:
    """What the busiest link carries for an input, if one node gathers all outputs."""
    network, system, _ = question
    stages = STRATEGIES[strategy](network, system)
    return max(sum(step.link_bytes for step in stage) for stage in stages)


def streamed_ring_mb(question: Question) -> int:
    """With row streaming in both surely on a ring's links of up to so many MB/s, because tensor
    parallelism's busiest link alone takes longer than the pipeline.

    That link's time grows faster with 1 / B than the pipeline's, so there is one bound.
    """
    network, system, inputs = question
    link_bytes = busiest_link_bytes(question.on(topology=lab3.RING), "tensor")

    def may_be_slower(mb_per_s: int) -> bool:
        slow = system._replace(link_bytes_per_s=mb_per_s * MB)
        pipeline_s = streaming.streamed_latency("pipeline", network, slow, inputs)
        return Fraction(inputs * link_bytes, mb_per_s * MB) <= pipeline_s

    return bisect_left(range(1, int(system.link_bytes_per_s / MB) + 1), True, key=may_be_slower)
