"""What the deck says in numbers: each a text with a name, which slides.typ prints as it is."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import TypeVar

import lab3
from lab3 import ConvLayer, Rate
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
from report.steps import duration
from report.terminal import GIGA, MB, MS, US

Fact = str | list[list[str]]  # of a table the rows
Found = TypeVar("Found")

READINGS = (  # the columns of page 1's table
    "inputs do not overlap",
    "a node does not compute while it sends",
    "a node that sends or receives does not compute",
    "GB/s are Gbit/s",
    "the network's input is sent, too",
)

# Row streaming of 32 inputs on a ring, each link first come, first served, simulated:
# tests/oracles/test_rows_on_a_ring.py computes these.
RING_STREAMED_S = Fraction("0.09706816512")  # tensor parallelism at 2 GB/s
RING_STREAMED_MB = 121  # up to so many MB/s per link the pipeline is faster


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
    """All of them, by name, under the page that says them first."""
    network, system, inputs = question = analysis.question
    rate, link, sram = system.ops_per_s, system.link_bytes_per_s, system.sram_bytes
    ops = sum(layer.ops for layer in network)
    results = {
        (strategy, count): possible(analysis.result(strategy, count))
        for strategy in ("tensor", "pipeline")
        for count in analysis.counts
    }
    one, tensor, pipeline_one, pipeline = results.values()
    *_, gather = possible(analysis.strategies["tensor"]).steps
    lower_bound_s = streaming.compute_bound(*question)
    streamed_1_s, streamed_s, pipeline_streamed_1_s, pipeline_streamed_s = (
        streaming.streamed_latency(strategy, network, system, count)
        for strategy in ("tensor", "pipeline")
        for count in analysis.counts
    )
    losses = possible(analysis.losses)
    compute_row_s, send_row_s = row_times_s(question)
    before_node_2_s = network[1].fy * compute_row_s[0] + send_row_s[0]
    after_node_2_s = [send_row_s[1], compute_row_s[2], send_row_s[2], compute_row_s[3]]
    last_share = row_share_bytes(network[-1], system.nodes)
    fullest = {name: possible(it).fullest for name, it in analysis.sram.items()}
    node_2 = possible(analysis.sram["pipeline"]).uses[1]
    totals = analysis.totals
    frugal = frugal_plan(question)
    frugal_1_s = plans.plan_result(network, system, frugal.plan).latency_s
    frugal_stages = plans.plan_stages(network, system, frugal.plan)
    frugal_times_s = [duration(stage, system) for stage in frugal_stages]
    data_s = data_parallel_latency(*question)
    copied_s = reading_s(analysis, "tensor", "the network's input is sent, too")
    ring = possible(analysis.result("tensor", 1, lab3.RING))
    two_way_s = two_way_ring_latency(network, system)
    reverse_s = (system.nodes - 1) * pipeline_one.communication_s
    low, high = whole_tensor_links(question)
    _, ring_high = whole_tensor_links(question.on(topology=lab3.RING))
    found: dict[str, Fact] = {
        # page 1
        "inputs": said(inputs),
        "tensor-32-ms": said(tensor.latency_s * MS, 2),
        "pipeline-32-ms": said(pipeline.latency_s * MS, 2),
        "times-as-fast-1": said(pipeline_one.latency_s / one.latency_s, 2),
        "times-as-fast-32": said(pipeline.latency_s / tensor.latency_s, 2),
        "times-as-fast-streamed-1": said(pipeline_streamed_1_s / streamed_1_s, 2),
        "times-as-fast-streamed": said(pipeline_streamed_s / streamed_s, 2),
        "times-the-bytes": said(Fraction(one.traffic_bytes, pipeline_one.traffic_bytes), 2),
        "communication-percent": percent(one.communication_s / pipeline_one.communication_s),
        "links": said(system.nodes * (system.nodes - 1)),
        "readings": [
            [said(reading_s(analysis, strategy, reading) * MS, 2) for reading in READINGS]
            for strategy in ("tensor", "pipeline")
        ],
        # page 2
        "nodes": said(system.nodes),
        "gops": said(Fraction(rate) / GIGA),
        "link-gbs": said(Fraction(link) / GIGA),
        "sram": said(sram),
        "layers": layer_rows(analysis),
        "weights": said(totals.weight_bytes),
        "ops": said(ops),
        "weights-1": said(network[0].weight_bytes // network[0].element_bytes),
        "side-1": said(network[0].out_x),
        "ops-per-byte-1": said(ops_per_byte(network[0])),
        "ops-per-byte-2": said(ops_per_byte(network[1])),
        "machine-balance": said(machine_balance(system)),
        # page 3
        "pipeline-interval-ms": said(pipeline.interval_s * MS, 2),
        "tensor-interval-ms": said(tensor.interval_s * MS, 2),
        "steps": step_rows(analysis),
        "later-inputs": said(inputs - 1),
        "pipeline-interval-us": said(pipeline.interval_s * US, 5),
        **{
            f"node-{node}-busy-percent": percent(inputs * layer.ops / (rate * pipeline.latency_s))
            for node, layer in enumerate(network, 1)
        },
        "gather-bytes": said(gather.traffic_bytes),
        # page 4
        "tensor-above-percent": percent(tensor.latency_s / lower_bound_s - 1),
        "pipeline-above-percent": percent(pipeline.latency_s / lower_bound_s - 1),
        "lower-bound-ms": said(lower_bound_s * MS, 3),
        "waits-us": said(one.communication_s * US, 3),
        "waits-ms": said(inputs * one.communication_s * MS, 2),
        "gather-us": said(gather.time_s * US, 2),
        "in-turn-ms": said((lower_bound_s + gather.time_s) * MS, 3),
        "tensor-sram": said(fullest["tensor"].total_bytes),
        "largest-input": said(largest_input_bytes(question)),
        "in-turn-sram": said(fullest["tensor"].total_bytes + largest_input_bytes(question)),
        "tensor-streamed-sram": said(fullest["tensor, streamed"].total_bytes),
        "side-4": said(network[-1].out_y),
        "last-row-bytes": said(last_share),
        "last-row-us": said(Fraction(last_share) / link * US, 3),
        "tensor-streamed-ms": said(streamed_s * MS, 3),
        "node-2-percent": percent(Fraction(network[1].ops, ops)),
        "busiest-us": said(Fraction(network[1].ops) / rate * US, 2),
        "equal-us": said(lower_bound_s / inputs * US, 2),
        "imbalance-ms": said(losses.load_imbalance_s * MS, 2),
        "fill-ms": said(losses.fill_and_drain_s * MS, 2),
        "balanced-ms": said(balanced_pipeline_latency(*question) * MS, 2),
        "layer-1-us": said(network[0].out_y * compute_row_s[0] * US, 3),
        "row-1-us": said(compute_row_s[0] * US, 3),
        "row-1-bytes": said(network[0].output_bytes // network[0].out_y),
        "row-1-send-us": said(send_row_s[0] * US, 2),
        "before-node-2-us": said(before_node_2_s * US, 2),
        "before-node-2-sum": f"{network[1].fy} \N{MIDDLE DOT} {said(compute_row_s[0] * US, 3)}"
        f" + {said(send_row_s[0] * US, 2)}",
        "after-node-2-us": said(sum(after_node_2_s) * US, 2),
        "after-node-2-sum": " + ".join(said(row_s * US, 2) for row_s in after_node_2_s),
        "pipeline-streamed-ms": said(pipeline_streamed_s * MS, 2),
        "tensor-streamed-1-us": said(streamed_1_s * US, 2),
        "pipeline-streamed-1-us": said(pipeline_streamed_1_s * US, 2),
        "plans": said(len(plans.every_plan(network, system))),
        "plans-by-groups": " + ".join(map(said, plans_by_groups(question))),
        "frugal-sum": " + ".join(said(time_s * US, 5) for time_s in frugal_times_s),
        "frugal-1-us": said(frugal_1_s * US, 5),
        "frugal-interval-us": said((frugal.latency_s - frugal_1_s) / (inputs - 1) * US, 5),
        "frugal-ms": said(frugal.latency_s * MS, 2),
        "frugal-plan-percent": percent(1 - frugal.latency_s / pipeline.latency_s),
        # page 5
        "weights-per-node": said(Fraction(totals.weight_bytes, system.nodes)),
        "output-2": said(network[1].output_bytes),
        "side-2": said(network[1].out_y),
        "first-row-bytes": said(row_share_bytes(network[1], system.nodes)),
        "node-2-lacks": said(node_2.weight_bytes + node_2.input_bytes - sram),
        "pipeline-streamed-bytes": said(fullest["pipeline, streamed"].total_bytes),
        "weights-lack": said(totals.excess_bytes),
        "inputs-per-node": said(Fraction(inputs, system.nodes)),
        "data-ms": said(data_s * MS, 2),
        "data-less-percent": percent(1 - data_s / tensor.latency_s),
        "output": said(network[-1].output_bytes),
        "input": said(network[0].input_bytes),
        "waiting-exact": said(
            Fraction(sram - fullest["tensor"].total_bytes, network[0].input_bytes), 1
        ),
        "waiting-per-node": said(fullest["tensor"].waiting_inputs),
        # every node has room for as many, so this is how many fit if each is on one node only
        "waiting": said(system.nodes * fullest["tensor"].waiting_inputs),
        "copy-us": said((copied_s - tensor.latency_s) / inputs * US, 3),
        "copies-ms": said((copied_s - tensor.latency_s) * MS, 2),
        # page 6
        "ring-communication-us": said(ring.communication_s * US, 5),
        "ring-1-us": said(ring.latency_s * US, 5),
        "ring-1-bytes": said(ring.traffic_bytes),
        "tensor-link-bytes": said(busiest_link_bytes(question, "tensor")),
        "ring-link-bytes": said(busiest_link_bytes(question.on(topology=lab3.RING), "tensor")),
        "pipeline-link-bytes": said(busiest_link_bytes(question, "pipeline")),
        "ring-more-percent": percent(ring.latency_s / one.latency_s - 1, 1),
        "ring-streamed-ms": said(RING_STREAMED_S * MS, 3),
        "ring-halved-us": said(ring.communication_s * US, 2),
        "one-communication-us": said(one.communication_s * US, 2),
        "two-way-more-us": said((two_way_s - one.latency_s) * US, 2),
        "two-way-more-percent": percent(two_way_s / one.latency_s - 1, 1),
        "reverse-us": said(reverse_s * US, 2),
        **{
            f"reverse-more-percent-{count}": percent(
                (reverse_s - pipeline_one.communication_s) / latency_s, 1
            )
            for count, latency_s in [(1, pipeline_one.latency_s), (inputs, pipeline.latency_s)]
        },
        "link-mb": said(Fraction(link) / MB),
        "pipeline-compute-short-us": said(pipeline_one.compute_s * US, 2),
        "pipeline-communication-short-us": said(pipeline_one.communication_s * US, 2),
        "first-send-us": said(Fraction(network[0].output_bytes) / link * US, 1),
        "links-from": said(ceil(low / MB)),
        "links-to": said(floor(high / MB)),
        "ring-links-to": said(floor(ring_high / MB)),
        "ring-in-turn-to": said(ring_bound_mb(question)),
        "ring-streamed-to": said(RING_STREAMED_MB),
    }
    for (strategy, count), it in results.items():
        found |= {
            f"{strategy}-{count}-s": said(it.latency_s, 11),
            f"{strategy}-{count}-us": said(it.latency_s * US, 5),
            f"{strategy}-{count}-bytes": said(it.traffic_bytes),
            f"{strategy}-compute-us": said(it.compute_s * US, 5),
            f"{strategy}-communication-us": said(it.communication_s * US, 5),
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
    """The latency of all inputs, as read here where the reading does not affect the strategy."""
    if (strategy, reading) == ("pipeline", "a node that sends or receives does not compute"):
        steps = possible(analysis.strategies[strategy]).steps
        busy_s = [
            sum((step.time_s for step in steps[max(at - 1, 0) : at + 2]), Fraction(0))
            for at, step in enumerate(steps)
            if step.work == "compute"
        ]
        first_s = sum((step.time_s for step in steps), Fraction(0))
        return first_s + (analysis.inputs - 1) * max(busy_s)
    latency_s = {
        it.changes: it.latency_s
        for it in analysis.readings
        if (it.strategy, it.inputs) == (strategy, analysis.inputs)
    }
    return latency_s.get((reading,), latency_s[()])


def largest_input_bytes(question: Question) -> int:
    """Of any layer: what arrives for the other one of two inputs in turn."""
    return max(layer.input_bytes for layer in question.network)


def row_share_bytes(layer: ConvLayer, nodes: int) -> int:
    """A node's share of a row of the layer's output."""
    return layer.output_bytes // layer.out_y // nodes


def row_times_s(question: Question) -> tuple[list[Fraction], list[Fraction]]:
    """Of each layer's rows, in the pipeline: to compute one, and to send it."""
    network, system, _ = question
    compute_s = [Fraction(it.ops, it.out_y) / system.ops_per_s for it in network]
    send_s = [Fraction(it.output_bytes, it.out_y) / system.link_bytes_per_s for it in network]
    return compute_s, send_s


# ------------------------------------------------ plans


def plans_by_groups(question: Question) -> list[int]:
    """How many there are of one group, of two, ..."""
    counts = Counter(map(len, plans.every_plan(question.network, question.system)))
    return [counts[groups] for groups in sorted(counts)]


def frugal_plan(question: Question) -> plans.PlanResult:
    """The fastest that sends no more than the pipeline."""
    most_bytes = lab3.pipeline_parallel_traffic(*question)
    return next(it for it in plans.best_plans(*question) if it.traffic_bytes <= most_bytes)


# ------------------------------------------------ on which links the pipeline is faster


def whole_tensor_links(question: Question) -> tuple[Fraction, Fraction]:
    """Between these bytes/s of a link, with whole-tensor transfers in both, if tensor parallelism
    takes inputs one by one."""
    network, system, inputs = question
    pipeline = plans.strategy_plans(network, system)["pipeline"]
    links = plans.faster_between(network, system, pipeline, inputs)
    assert links and links.high_bytes_per_s, "on some links, but not on the fastest"
    return links.low_bytes_per_s, links.high_bytes_per_s


def ring_bound_mb(question: Question) -> int:
    """Up to so many whole MB/s per link the pipeline is faster on a ring for certain: the link to
    the gathering node alone takes longer, in whatever order it serves."""
    network, system, inputs = question
    link_bytes = inputs * busiest_link_bytes(question.on(topology=lab3.RING), "tensor")

    def is_certain(mb: int) -> bool:
        slow = system._replace(link_bytes_per_s=mb * MB)
        return lab3.pipeline_parallel_latency(network, slow, inputs) < Fraction(link_bytes, mb * MB)

    return max(mb for mb in range(1, int(system.link_bytes_per_s / MB)) if is_certain(mb))


def busiest_link_bytes(question: Question, strategy: str) -> int:
    """What the busiest link carries per input, if one node gathers all outputs."""
    network, system, _ = question
    stages = STRATEGIES[strategy](network, system)
    return max(sum(step.link_bytes for step in stage) for stage in stages)
