"""What the deck says: every number, exact, and every claim of its words with whether it holds."""

from __future__ import annotations

from whatif import Question  # first, since it finds lab3

# isort: split
from bisect import bisect_left
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import figures
import lab3
import plans
import rows
import schedule

MB = 10**6
SHOWN_INPUTS = 4  # of the pipeline, on page 3
DECIMALS = 11  # of a second, on page 1

# ASTRA-sim, commit 518bd51, analytical congestion-aware backend, links of exactly 2 * 10^9 bytes/s,
# run once all-to-all: the cycles of 10 ps in which it finishes 1 and 32 inputs.
ASTRA_SIM_CYCLES = {
    "tensor": (312_726_016, 10_007_232_512),
    "pipeline": (1_243_531_264, 15_578_613_760),
}
CYCLES_PER_S = 10**11


def facts(question: Question) -> dict[str, Any]:
    """Every figure of figures.figures, and what else the deck says."""
    network, system, _ = question
    return {
        **figures.figures(question),
        "plan_count": len(plans.every_plan(network, system)),
        "same_traffic": same_traffic_plan(question),
        "shown_s": shown_s(question),
        "faster_between": {
            it: faster_between(question.on(topology=it)) for it in (lab3.ALL_TO_ALL, lab3.RING)
        },
        "slow_ring_mb": slow_ring_mb(question),
        "astra_sim_agrees": _finishing_cycles(question) == ASTRA_SIM_CYCLES,
    }


def results(question: Question) -> list[Any]:
    """Of both strategies, for one input and for all: both are possible here, no field is None."""
    return [*figures.results(question)]


def _finishing_cycles(question: Question) -> dict[str, tuple[int, int]]:
    one, pipeline_one, many, pipeline_many = (
        it.latency_s * CYCLES_PER_S for it in results(question)
    )
    return {"tensor": (one, many), "pipeline": (pipeline_one, pipeline_many)}


def shown_s(question: Question) -> Fraction:
    """The time that page 3 shows: until the pipeline's first inputs are done."""
    return lab3.pipeline_parallel_latency(question.network, question.system, SHOWN_INPUTS)


def same_traffic_plan(question: Question) -> plans.PlanFigures:
    """The fastest plan that sends no more bytes than the pipeline."""
    pipeline = plans.strategy_plans(question.network, question.system)["pipeline"]
    most = plans.plan_traffic(question.network, question.system, pipeline, question.inputs)
    return next(it for it in plans.best_plans(*question) if it.traffic_bytes <= most)


# ------------------------------------------------ on which links the pipeline is faster


def faster_between(question: Question) -> Any:
    """The links, in bytes/s, on which the pipeline is the faster, whole tensors in both."""
    pipeline = plans.strategy_plans(question.network, question.system)["pipeline"]
    return plans.faster_between(question.network, question.system, pipeline, question.inputs)


def slow_ring_mb(question: Question) -> int:
    """On a one-way ring of links of so many MB/s or fewer the pipeline with rows streamed is the
    faster, as what a link carries in tensor parallelism alone takes longer."""
    network, system, inputs = question
    [steps] = lab3.tensor_parallel_stages(network, system._replace(topology=lab3.RING))
    carried_bytes = inputs * sum(step.link_bytes for step in steps)

    def is_not_faster(mb_per_s: int) -> bool:
        slow = system._replace(link_bytes_per_s=mb_per_s * MB)
        pipeline_s = rows.streamed_latency("pipeline", network, slow, inputs)
        return Fraction(carried_bytes, mb_per_s * MB) <= pipeline_s

    return bisect_left(range(1, int(system.link_bytes_per_s / MB) + 1), True, key=is_not_faster)


def is_never_faster_streamed(question: Question) -> bool:
    """Whether tensor parallelism is the faster on links of every bandwidth and for every number of
    inputs, all-to-all, rows streamed in both.

    With x = 1 / B the pipeline takes N * max(C / R, A * x) or more, of its longest computation and
    transfer, tensor parallelism N times its first input or less: the longest of many chains of
    rows, so convex in x, and no chain has more on links than sum(A) / P. It is enough to look at
    x = 0, here on links that take no part, and where both of the pipeline's are equal.
    """
    network, system, _ = question
    compute_s = max(Fraction(layer.ops) / system.ops_per_s for layer in network)
    most_bytes = max(layer.output_bytes for layer in network[:-1])
    return all(
        rows.streamed_latency("tensor", network, system._replace(link_bytes_per_s=link)) < compute_s
        for link in (10**30, most_bytes / compute_s)
    ) and most_bytes > Fraction(sum(layer.output_bytes for layer in network), system.nodes)


# ------------------------------------------------ what the words claim


class Claim(NamedTuple):
    """What a page says beyond numbers."""

    page: int
    words: str
    holds: bool


def claims(question: Question) -> list[Claim]:
    """All of them, or those on the shape of network and machine, if one of these does not hold."""
    network, system, inputs = question
    possible, _ = lab3.possible_strategies(network, system)
    shape = [
        Claim(1, "there are two inputs or more", inputs > 1),
        Claim(2, "the network has four layers", len(network) == 4),
        Claim(2, "the machine has four nodes, all-to-all", system[0::4] == (4, lab3.ALL_TO_ALL)),
        Claim(2, "both strategies are possible", len(possible) == 2),
    ]
    return [*_claims(question)] if all(claim.holds for claim in shape) else shape


def _claims(question: Question) -> Iterator[Claim]:
    network, system, inputs = question
    one, pipeline_one, tensor, pipeline = results(question)
    said = facts(question)
    needs = {need.scheme: need for need in figures.needs(network, system)}

    latencies_s = [it.latency_s for it in (one, pipeline_one, tensor, pipeline)]
    holds = all((10**DECIMALS * seconds).denominator == 1 for seconds in latencies_s)
    yield Claim(1, f"the latencies are exact with {DECIMALS} decimals", holds)
    holds = one.latency_s < pipeline_one.latency_s and one.interval_s < pipeline_one.interval_s
    yield Claim(1, "tensor parallelism is faster for any number of inputs", holds)
    holds = one.traffic_bytes > pipeline_one.traffic_bytes
    yield Claim(1, "it sends more bytes", holds)
    holds = one.communication_s < pipeline_one.communication_s
    yield Claim(1, "in less time", holds)
    holds = needs["tensor"].fits and not needs["pipeline"].fits
    yield Claim(1, "of both only tensor parallelism's whole tensors fit the SRAM", holds)

    first, *others = map(figures.ops_a_byte, network)
    holds = min(first, *others) > said["ops_while_a_byte_is_sent"] and len({*others}) == 1
    yield Claim(2, "each layer computes longer than its output takes on a link", holds)
    otherwise = [
        {it.strategy: it.latency_s for it in reading.answers(inputs) if it.inputs == inputs}
        for reading in figures.readings(network, system)
    ]
    holds = all(it["tensor"] < it["pipeline"] for it in otherwise)
    yield Claim(2, "tensor parallelism is faster in every reading of the handout", holds)

    stages = lab3.pipeline_parallel_stages(network, system)
    *_, next_s, longest_s = sorted(lab3.duration(stage, system) for stage in stages)
    holds = pipeline.bottleneck == "compute of layer 2" and next_s < longest_s
    yield Claim(3, "node 2 alone sets the pipeline's pace", holds)
    gathered_bytes = one.traffic_bytes - 3 * pipeline_one.traffic_bytes
    holds = gathered_bytes == Fraction(3 * network[-1].output_bytes, 4)
    yield Claim(
        3, "tensor parallelism: 3 times the pipeline's bytes, and 3 shards to gather", holds
    )
    plan = plans.strategy_plans(network, system)["pipeline"]
    jobs = {(it.work, it.layer, it.input): it for it in schedule.schedule(network, system, plan, 2)}
    holds = jobs["send", 1, 2].end_s == jobs["compute", 2, 1].end_s == jobs["compute", 2, 2].start_s
    yield Claim(3, "node 1 starts the second input just in time for node 2", holds)

    same = same_traffic_plan(question)
    balanced_s = figures.balanced_pipeline_latency(*question)
    order = [tensor.limit_s, tensor.latency_s, balanced_s, same.latency_s, pipeline.latency_s]
    yield Claim(4, "the bars grow from tensor parallelism to the pipeline", order == sorted(order))
    holds = (same.text, same.traffic_bytes) == ("1-2:2,3,4", pipeline.traffic_bytes)
    yield Claim(4, "the fastest plan with the pipeline's bytes is 1-2:2,3,4", holds)
    sizes = {group.nodes for plan in plans.every_plan(network, system) for group in plan}
    yield Claim(4, "groups of layers are on 1, 2 or 4 nodes", sizes == {1, 2, 4})
    every = [
        plans.plan_figures(network, system, plan, count)
        for plan in plans.every_plan(network, system)
        for count in (1, 2)
    ]
    once, twice = every[::2], every[1::2]
    holds = one.latency_s == min(it.latency_s for it in once) and one.interval_s == min(
        after.latency_s - before.latency_s for before, after in zip(once, twice, strict=True)
    )
    yield Claim(4, "no plan is faster than tensor parallelism for any number of inputs", holds)
    holds = [it.text for it in once if it.fits] == ["1-4:4"]
    yield Claim(4, "of all plans only tensor parallelism fits the SRAM", holds)
    last = network[-1]
    share_s = Fraction(last.output_bytes, system.nodes * last.out_y) / system.link_bytes_per_s
    holds = tensor.streamed_latency_s - tensor.limit_s == share_s
    yield Claim(4, "rows streamed end one share of a row after the limit", holds)
    holds = tensor.streamed_latency_s < pipeline.streamed_latency_s
    yield Claim(4, "tensor parallelism is faster with rows streamed, too", holds)

    sram_bytes = system.sram_bytes
    holds = sum(layer.weight_bytes for layer in network) > sram_bytes
    yield Claim(5, "no node can hold all weights", holds)
    uses = figures.sram_uses(network, system)
    fits = [use.total_bytes <= sram_bytes for use in uses["pipeline"]]
    yield Claim(5, "in the pipeline nodes 2, 3 and 4 overflow", fits == [True, False, False, False])
    second = uses["pipeline"][1]
    holds = second.total_bytes - second.output_bytes > sram_bytes
    yield Claim(5, "node 2 overflows before it has any output", holds)
    holds = needs["tensor, streamed"].fits and needs["pipeline, streamed"].fits
    yield Claim(5, "rows streamed fit in both strategies", holds)
    tensor_use, rows_use, pipeline_use = (
        max(uses[scheme], key=lambda use: use.total_bytes)
        for scheme in ("tensor", "tensor, streamed", "pipeline, streamed")
    )
    quarter = network[1].output_bytes // 4  # whole, as the nodes divide the filters
    holds = (tensor_use.layer, tensor_use.output_bytes) == (2, quarter)
    yield Claim(5, "nodes are fullest in layer 2, with a quarter of its output", holds)
    holds = (rows_use.layer, rows_use.output_bytes) == (2, quarter // network[1].out_y)
    yield Claim(5, "with rows streamed, too, with a quarter of one row", holds)
    holds = (pipeline_use.layer, pipeline_use.input_bytes) == (4, 3 * last.input_bytes // last.y)
    yield Claim(5, "pipeline, rows streamed: node 4 needs most, with 3 rows of input", holds)
    most_bytes = needs["pipeline, streamed"].total_bytes
    middle = zip(uses["pipeline, streamed"][1:3], network[1:3], strict=True)
    holds = all(
        use.total_bytes + layer.input_bytes // layer.y < most_bytes for use, layer in middle
    )
    yield Claim(5, "in so many bytes nodes 2 and 3 have room for more than three rows", holds)
    holds = figures.data_parallel_latency(*question) < tensor.latency_s
    yield Claim(5, "data parallelism would be faster, if it fitted", holds)
    holds = inputs * last.output_bytes > system.nodes * sram_bytes
    yield Claim(5, "all outputs are more than all nodes hold", holds)
    waiting = [needs[it].waiting_inputs for it in ("tensor", "tensor, streamed")]
    yield Claim(5, "not all inputs can wait in tensor parallelism", max(waiting) < inputs - 1)
    first_free = sram_bytes - uses["pipeline"][0].total_bytes
    holds = (inputs - 1) * network[0].input_bytes <= first_free
    yield Claim(5, "all inputs can wait on the pipeline's first node", holds)

    around = question.on(topology=lab3.RING)
    ring, pipeline_ring, *_ = results(around)
    holds = _same(pipeline_ring, pipeline_one)
    yield Claim(6, "a ring changes nothing for the pipeline", holds)
    holds = ring.latency_s < pipeline_one.latency_s and ring.interval_s < pipeline_one.interval_s
    yield Claim(6, "tensor parallelism is faster on a ring, too", holds)
    [here], [there] = (lab3.tensor_parallel_stages(network, it.system) for it in (question, around))
    holds = [3 * step.link_bytes for step in here] == [step.link_bytes for step in there]
    yield Claim(6, "on a ring each exchange and the gather take three times as long", holds)
    *same_bytes, twice_bytes = (
        (before.traffic_bytes, after.traffic_bytes)
        for before, after in zip(here, there, strict=True)
    )
    holds = all(a == b for a, b in same_bytes) and 2 * twice_bytes[0] == twice_bytes[1]
    yield Claim(6, "on a ring only the gather's bytes change, to twice as many", holds)
    low, high = said["faster_between"][lab3.ALL_TO_ALL] or (0, 0)
    holds = 0 < low < (high or 0) < system.link_bytes_per_s
    yield Claim(6, "whole tensors: the pipeline is faster on some slower links", holds)
    low, high = said["faster_between"][lab3.RING] or (0, 0)
    holds = low == 0 < (high or 0) < system.link_bytes_per_s
    yield Claim(6, "whole tensors, on a ring: the pipeline is faster on all slow links", holds)
    holds = is_never_faster_streamed(question)
    yield Claim(6, "rows streamed, all-to-all: the pipeline is faster on no links", holds)
    holds = 0 < said["slow_ring_mb"] * MB < system.link_bytes_per_s
    yield Claim(6, "rows streamed, on a ring: the pipeline is faster on slow links", holds)
    nodes = [it.speed_up for it in figures.doubling(question) if it.twice == "nodes"]
    holds = nodes == [2, 1, 2, 1]
    yield Claim(6, "twice the nodes halve tensor parallelism's time, not the pipeline's", holds)
    holds = needs["pipeline"].total_bytes <= 2 * sram_bytes
    yield Claim(6, "in twice the SRAM the pipeline fits", holds)


def _same(one: figures.Result, other: figures.Result) -> bool:
    return one._replace(topology="") == other._replace(topology="")
