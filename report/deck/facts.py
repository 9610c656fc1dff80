"""What the deck says in numbers: each a text with a name, which slides.typ prints as it is."""

from __future__ import annotations

from bisect import bisect_left
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import TypeVar, Union

import lab3
from lab3 import Rate
from report import plans, streaming
from report.analysis import (
    Analysis,
    Result,
    balanced_pipeline_latency,
    data_parallel_latency,
    machine_balance,
    one_node_s,
    ops_per_byte,
    two_way_ring_latency,
)
from report.plans import PlanResult
from report.question import Impossible, Question
from report.terminal import GIGA, MB, MS, US

Table = list[list[str]]
Fact = Union[str, Table]
Found = TypeVar("Found")

READINGS = (  # the columns of page 2's table
    "inputs do not overlap",
    "a node that sends does not compute",
    "nor does one that receives",
    "GB/s are Gbit/s",
    "inputs start on one node",
)


def said(value: Rate, places: int = 0) -> str:
    """Rounded once to so many decimals, with thousands grouped."""
    return f"{Decimal(round(value * 10**places)).scaleb(-places):,f}"


def facts(analysis: Analysis) -> dict[str, Fact]:
    """All of them, by name; a table is its rows."""
    return {
        **_results(analysis),
        **_model(analysis),
        **_sums(analysis),
        **_distance(analysis),
        **_sram(analysis),
        **_ring(analysis),
        **_verdict(analysis.question),
    }


def possible(found: Found | Impossible) -> Found:
    """What is asked for is possible in the lab."""
    assert not isinstance(found, Impossible), found
    return found


def _four(analysis: Analysis) -> tuple[Result, Result, Result, Result]:
    """Tensor and pipeline parallelism for one input, and for all."""
    one, pipeline_one, tensor, pipeline = (
        possible(analysis.result(strategy, inputs))
        for inputs in (1, analysis.inputs)
        for strategy in ("tensor", "pipeline")
    )
    return one, pipeline_one, tensor, pipeline


def _percent(share: Rate, places: int = 0) -> str:
    return said(100 * share, places)


# ------------------------------------------------ page 1


def _results(analysis: Analysis) -> dict[str, Fact]:
    one, pipeline_one, tensor, pipeline = _four(analysis)
    return {
        "inputs": said(analysis.inputs),
        "tensor-1-s": said(one.latency_s, 11),
        "tensor-1-bytes": said(one.traffic_bytes),
        "tensor-32-s": said(tensor.latency_s, 11),
        "tensor-32-ms": said(tensor.latency_s * MS, 2),
        "tensor-32-bytes": said(tensor.traffic_bytes),
        "pipeline-1-s": said(pipeline_one.latency_s, 11),
        "pipeline-1-bytes": said(pipeline_one.traffic_bytes),
        "pipeline-32-s": said(pipeline.latency_s, 11),
        "pipeline-32-ms": said(pipeline.latency_s * MS, 2),
        "pipeline-32-bytes": said(pipeline.traffic_bytes),
        "times-as-fast-1": said(pipeline_one.latency_s / one.latency_s, 2),
        "times-as-fast-32": said(pipeline.latency_s / tensor.latency_s, 2),
        "times-the-bytes": said(Fraction(one.traffic_bytes, pipeline_one.traffic_bytes), 2),
        "communication-percent": _percent(one.communication_s / pipeline_one.communication_s),
        "sram": said(analysis.system.sram_bytes),
    }


# ------------------------------------------------ page 2


def _model(analysis: Analysis) -> dict[str, Fact]:
    network, system, inputs = analysis.question
    latency_s = {
        (it.strategy, *it.changes): it.latency_s
        for it in analysis.readings
        if it.inputs == inputs
    }
    return {
        "nodes": said(system.nodes),
        "links": said(system.nodes * (system.nodes - 1)),
        "gops": said(Fraction(system.ops_per_s) / GIGA),
        "link-gbs": said(Fraction(system.link_bytes_per_s) / GIGA),
        "layers": [
            [
                said(number),
                f"{layer.filters} × {layer.out_x} × {layer.out_y}",  # noqa: RUF001
                *map(said, (layer.output_bytes, layer.weight_bytes, layer.ops)),
            ]
            for number, layer in enumerate(network, 1)
        ],
        "weights": said(sum(layer.weight_bytes for layer in network)),
        "ops": said(sum(layer.ops for layer in network)),
        "ops-per-byte-1": said(ops_per_byte(network[0])),
        "ops-per-byte-2": said(ops_per_byte(network[1])),
        "machine-balance": said(machine_balance(system)),
        "readings": [
            [
                # a reading that is not given for a strategy changes nothing in it
                said(MS * latency_s.get((strategy, reading), latency_s[(strategy,)]), 2)
                for reading in READINGS
            ]
            for strategy in ("tensor", "pipeline")
        ],
    }


# ------------------------------------------------ page 3


def _sums(analysis: Analysis) -> dict[str, Fact]:
    one, pipeline_one, tensor, pipeline = _four(analysis)
    rows: Table = [[said(number)] for number, _ in enumerate(analysis.network, 1)]
    for strategy in ("tensor", "pipeline"):
        for step in possible(analysis.strategies[strategy]).steps:
            rows[step.layer - 1].append(said(step.time_s * US, 5))
            if step.work != "compute":
                rows[step.layer - 1].append(said(step.traffic_bytes))
    rows[-1] += ["", ""]  # the pipeline's last layer sends nothing
    gather = possible(analysis.strategies["tensor"]).steps[-1]
    return {
        "steps": rows,
        "tensor-compute-us": said(one.compute_s * US, 5),
        "tensor-communication-us": said(one.communication_s * US, 5),
        "tensor-1-us": said(one.latency_s * US, 5),
        "tensor-32-us": said(tensor.latency_s * US, 5),
        "tensor-interval-ms": said(tensor.interval_s * MS, 2),
        "tensor-busy-percent": _percent(tensor.utilisation),
        "pipeline-compute-us": said(pipeline_one.compute_s * US, 5),
        "pipeline-communication-us": said(pipeline_one.communication_s * US, 5),
        "pipeline-1-us": said(pipeline_one.latency_s * US, 5),
        "pipeline-32-us": said(pipeline.latency_s * US, 5),
        "pipeline-interval-us": said(pipeline.interval_s * US, 5),
        "pipeline-interval-ms": said(pipeline.interval_s * MS, 2),
        "pipeline-busy-percent": _percent(pipeline.utilisation),
        "later-inputs": said(analysis.inputs - 1),
        "gather-bytes": said(gather.traffic_bytes),
    }


# ------------------------------------------------ page 4


def two_in_turn_s(question: Question) -> Fraction:
    """N * sum(C) / (P * R) + S_L / B: tensor parallelism with whole tensors of two inputs in turn,
    nodes computing one while links exchange the other. For an even N, if no exchange takes longer
    than a computation beside it."""
    network, system, _ = question
    gather_s = Fraction(network[-1].output_bytes, system.nodes) / system.link_bytes_per_s
    return streaming.compute_bound(*question) + gather_s


def two_in_turn_bytes(analysis: Analysis) -> int:
    """What a node holds where it is fullest, and the largest input that arrives meanwhile."""
    arriving_bytes = max(layer.input_bytes for layer in analysis.network)
    return possible(analysis.sram["tensor"]).fullest.total_bytes + arriving_bytes


def next_plan(analysis: Analysis) -> PlanResult:
    """The fastest plan but tensor parallelism."""
    tensor, following, *_ = possible(analysis.plans.best)
    assert tensor.traffic_bytes == possible(analysis.plans.compared["tensor"]).traffic_bytes
    return following


def same_traffic_plan(analysis: Analysis) -> PlanResult:
    """The fastest plan that sends no more bytes than the pipeline."""
    most_bytes = possible(analysis.plans.compared["pipeline"]).traffic_bytes
    return next(it for it in possible(analysis.plans.best) if it.traffic_bytes <= most_bytes)


def _distance(analysis: Analysis) -> dict[str, Fact]:
    network, system, inputs = analysis.question
    one, _, tensor, pipeline = _four(analysis)
    limit_s, losses = analysis.limit_s, possible(analysis.losses)
    streamed, pipeline_streamed = possible(tensor.streamed), possible(pipeline.streamed)
    following, same = next_plan(analysis), same_traffic_plan(analysis)
    return {
        "limit-ms": said(limit_s * MS, 2),
        "tensor-above-percent": _percent(tensor.latency_s / limit_s - 1),
        "pipeline-above-percent": _percent(pipeline.latency_s / limit_s - 1),
        "waits-us": said(one.communication_s * US, 2),
        "waits-32-ms": said(inputs * one.communication_s * MS, 2),
        "in-turn-ms": said(two_in_turn_s(analysis.question) * MS, 2),
        "in-turn-lacks": said(two_in_turn_bytes(analysis) - system.sram_bytes),
        "tensor-streamed-ms": said(streamed.latency_s * MS, 2),
        "tensor-streamed-above-us": said(streamed.above_limit_s * US, 3),
        "tensor-streamed-bytes": said(
            possible(analysis.sram["tensor, streamed"]).fullest.total_bytes
        ),
        "pipeline-streamed-ms": said(pipeline_streamed.latency_s * MS, 2),
        "times-as-fast-streamed": said(pipeline_streamed.latency_s / streamed.latency_s, 2),
        "node-2-percent": _percent(Fraction(network[1].ops, sum(layer.ops for layer in network))),
        "imbalance-ms": said(losses.load_imbalance_s * MS, 2),
        "fill-ms": said(losses.fill_and_drain_s * MS, 2),
        "sending-ms": said(losses.sending_s * MS, 2),
        "equal-stage-ms": said(one_node_s(network, system) / system.nodes * MS, 5),
        "balanced-ms": said(balanced_pipeline_latency(*analysis.question) * MS, 2),
        "plans": said(len(plans.every_plan(network, system))),
        "next-plan-ms": said(following.latency_s * MS, 2),
        "next-plan-bytes-percent": _percent(
            Fraction(following.traffic_bytes, tensor.traffic_bytes)
        ),
        "same-traffic-ms": said(same.latency_s * MS, 2),
        "same-traffic-less-percent": _percent(1 - same.latency_s / pipeline.latency_s),
    }


# ------------------------------------------------ page 5


def _sram(analysis: Analysis) -> dict[str, Fact]:
    network, system, inputs = analysis.question
    sram_bytes = system.sram_bytes
    weight_bytes = sum(layer.weight_bytes for layer in network)
    node_2 = possible(analysis.sram["pipeline"]).uses[1]
    tensor, streamed = (
        possible(analysis.sram[name]).fullest for name in ("tensor", "tensor, streamed")
    )
    data_s = data_parallel_latency(*analysis.question)
    tensor_s = possible(analysis.result("tensor", inputs)).latency_s
    return {
        "weights-per-node": said(Fraction(weight_bytes, system.nodes)),
        "weights-lack": said(weight_bytes - sram_bytes),
        "node-2-lacks": said(node_2.weight_bytes + node_2.input_bytes - sram_bytes),
        "pipeline-streamed-bytes": said(
            possible(analysis.sram["pipeline, streamed"]).fullest.total_bytes
        ),
        "inputs-per-node": said(Fraction(inputs, system.nodes)),
        "data-ms": said(data_s * MS, 2),
        "data-less-percent": _percent(1 - data_s / tensor_s),
        "input-bytes": said(inputs * network[0].input_bytes),
        "output-bytes": said(inputs * network[-1].output_bytes),
        "all-sram": said(system.nodes * sram_bytes),
        "waiting": said(tensor.waiting_inputs),
        "waiting-once": said(system.nodes * tensor.waiting_inputs),
        "waiting-streamed": said(streamed.waiting_inputs),
        "waiting-streamed-once": said(system.nodes * streamed.waiting_inputs),
    }


# ------------------------------------------------ page 6


def _ring(analysis: Analysis) -> dict[str, Fact]:
    network, system, _ = analysis.question
    one = possible(analysis.result("tensor", 1))
    ring = possible(analysis.result("tensor", 1, lab3.RING))
    two_way_s = two_way_ring_latency(network, system)
    return {
        "ring-communication-us": said(ring.communication_s * US, 5),
        "ring-1-us": said(ring.latency_s * US, 5),
        "ring-1-bytes": said(ring.traffic_bytes),
        "ring-more-percent": _percent(ring.latency_s / one.latency_s - 1),
        "two-way-communication-us": said((two_way_s - one.compute_s) * US, 5),
        "two-way-1-us": said(two_way_s * US, 5),
        "two-way-more-percent": _percent(two_way_s / one.latency_s - 1, 1),
    }


def whole_tensor_links(question: Question) -> tuple[Fraction, Fraction]:
    """The bytes/s of a link between which the pipeline is the faster: whole tensors in both, and
    tensor parallelism takes inputs one by one."""
    network, system, inputs = question
    pipeline = plans.strategy_plans(network, system)["pipeline"]
    links = plans.faster_between(network, system, pipeline, inputs)
    assert links and links.high_bytes_per_s, "on some slower links"
    return links.low_bytes_per_s, links.high_bytes_per_s


def carried_bytes(question: Question) -> Fraction:
    """What the busiest link of a ring carries for an input in tensor parallelism, if one node
    gathers all outputs."""
    network, system, _ = question.on(topology=lab3.RING)
    [steps] = lab3.tensor_parallel_stages(network, system)
    return Fraction(sum(step.link_bytes for step in steps))


def carried_in_turn_bytes(question: Question) -> Fraction:
    """What a link carries on average for an input: what the busiest carries, or less, if the nodes
    gather the outputs in turn."""
    network, system, _ = question.on(topology=lab3.RING)
    return Fraction(lab3.tensor_parallel_traffic(network, system), system.nodes)


def streamed_ring_mb(question: Question, link_bytes: Fraction) -> int:
    """On a ring with links of up to so many MB/s the pipeline with row streaming is surely faster
    than tensor parallelism, whose busiest link carries so many bytes for an input.

    What the link carries grows faster with 1 / B than the pipeline's time, so there is one bound.
    """
    network, system, inputs = question

    def may_be_slower(mb_per_s: int) -> bool:
        slow = system._replace(link_bytes_per_s=mb_per_s * MB)
        pipeline_s = streaming.streamed_latency("pipeline", network, slow, inputs)
        return inputs * link_bytes / (mb_per_s * MB) <= pipeline_s

    return bisect_left(range(1, int(system.link_bytes_per_s / MB) + 1), True, key=may_be_slower)


def _verdict(question: Question) -> dict[str, Fact]:
    link = question.system.link_bytes_per_s
    low, high = whole_tensor_links(question)
    _, ring_high = whole_tensor_links(question.on(topology=lab3.RING))
    return {
        "link-mb": said(Fraction(link) / MB),
        "links-from": said(ceil(low / MB)),
        "links-to": said(floor(high / MB)),
        "ring-links-to": said(floor(ring_high / MB)),
        "streamed-ring-to": said(streamed_ring_mb(question, carried_bytes(question))),
        "streamed-ring-in-turn-to": said(
            streamed_ring_mb(question, carried_in_turn_bytes(question))
        ),
        # R / B decides: nodes so many times as fast are links so many times as slow
        "speeds-from": said(ceil(link / high)),
        "speeds-to": said(floor(link / low)),
    }
