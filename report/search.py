"""What a plan takes; every plan, and those that no other beats; when a plan is faster than tensor
parallelism."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import accumulate, chain, islice, pairwise
from math import gcd
from typing import NamedTuple

from lab3 import Network, System
from report.plans import Group, Plan, is_modelled, plan_text, tensor_parallel
from report.question import Impossible, Question, found_or_reason, possible_strategies
from report.sram import group_sram, plan_sram
from report.steps import Step, duration, group_steps, latency, plan_stages, send, traffic
from report.terminal import count

MOST_PLANS = 50_000  # of a search: some 2 s


class PlanResult(NamedTuple):
    """What a plan takes."""

    plan: tuple[Group, ...]
    text: str  # what plans.parse_plan reads
    latency_s: Fraction
    traffic_bytes: int
    nodes: int
    sram_bytes: int  # the most that a node holds, with whole-tensor transfers
    fits: bool  # in the SRAM of every node, one input at a time


def plan_result(network: Network, system: System, plan: Plan, inputs: int = 1) -> PlanResult:
    """What one plan takes. Raises ValueError as plans.placed does."""
    stages = plan_stages(network, system, plan)
    groups = tuple(Group(*group) for group in plan)
    sram_bytes = max(use.total_bytes for use in chain(*plan_sram(network, system, plan)))
    return PlanResult(
        plan=groups,
        text=plan_text(groups),
        latency_s=latency(stages, system, inputs),
        traffic_bytes=traffic(stages, inputs),
        nodes=sum(group.nodes for group in groups),
        sram_bytes=sram_bytes,
        fits=sram_bytes <= system.sram_bytes,
    )


# ------------------------------------------------ every plan


def every_plan(network: Network, system: System) -> list[tuple[Group, ...]]:
    """All plans. Raises ValueError if there are more than MOST_PLANS."""

    @cache
    def shares(start: int, end: int) -> list[int]:
        """How many nodes can share these layers."""
        filters = gcd(*(layer.filters for layer in network[start:end]))
        return [n for n in range(1, min(filters, system.nodes) + 1) if filters % n == 0]

    def beginning(start: int, nodes: int) -> Iterator[tuple[Group, ...]]:
        """Groups for the layers from start on, with so many nodes left. The longest group comes
        first, so that few groups are open at a time."""
        if start == len(network):
            yield ()
        for end in range(len(network), start, -1):
            most = nodes - (end < len(network))  # the layers that follow need a node
            for number in shares(start, end) if most else ():
                group = Group(end - start, number)
                if number <= most and is_modelled(network, system, group):
                    yield from ((group, *rest) for rest in beginning(end, nodes - number))

    plans = list(islice(beginning(0, system.nodes), MOST_PLANS + 1))
    if len(plans) > MOST_PLANS:
        machine = f"{count(len(network), 'layer')} on {count(system.nodes, 'node')}"
        verb = "has" if len(network) == 1 else "have"
        raise ValueError(f"{machine} {verb} more than {MOST_PLANS:,} plans, too many to compare")
    return plans


class _Cost(NamedTuple):
    """What a stage adds to a plan."""

    time_s: Fraction
    traffic_bytes: int
    sram_bytes: int  # that each of its nodes holds


def every_result(network: Network, system: System, inputs: int = 1) -> list[PlanResult]:
    """What every plan takes: by latency, then by traffic; of equal plans those that fit come first,
    then those of fewer nodes, then those that need less SRAM, then those whose first groups are
    smaller.

    The cost of each group and each send is computed once. Raises ValueError as every_plan does.
    """

    @cache
    def work(start: int, group: Group) -> _Cost:
        layers = range(start + 1, start + 1 + group.layers)
        steps = group_steps(network, system, layers, group.nodes)
        held = max(use.total_bytes for use in group_sram(network, layers, group.nodes))
        return _Cost(duration(steps, system), traffic([steps]), held)

    @cache
    def sending(layer: int, senders: int, receivers: int) -> _Cost:
        step = send(layer, network[layer - 1].output_bytes, senders, receivers)
        return _Cost(duration([step], system), step.traffic_bytes, 0)

    def result(plan: tuple[Group, ...]) -> PlanResult:
        starts = list(accumulate((group.layers for group in plan), initial=0))
        stages = list(map(work, starts, plan))
        for layer, (group, following) in zip(starts[1:], pairwise(plan), strict=False):
            stages.append(sending(layer, group.nodes, following.nodes))
        stages_s = [stage.time_s for stage in stages]
        held_bytes = max(stage.sram_bytes for stage in stages)
        return PlanResult(
            plan=plan,
            text=plan_text(plan),
            latency_s=sum(stages_s, (inputs - 1) * max(stages_s)),
            traffic_bytes=inputs * sum(stage.traffic_bytes for stage in stages),
            nodes=sum(group.nodes for group in plan),
            sram_bytes=held_bytes,
            fits=held_bytes <= system.sram_bytes,
        )

    return sorted(
        map(result, every_plan(network, system)),
        key=lambda it: (
            it.latency_s,
            it.traffic_bytes,
            not it.fits,
            it.nodes,
            it.sram_bytes,
            it.plan,
        ),
    )


def unbeaten(results: Iterable[PlanResult]) -> list[PlanResult]:
    """Of results in the order of every_result, those that no other beats: none is at least as good
    in latency and traffic and better in one. Of equal ones the first."""
    best: list[PlanResult] = []
    for result in results:
        if not best or result.traffic_bytes < best[-1].traffic_bytes:
            best.append(result)
    return best


# ------------------------------------------------ when a plan is faster


class Links(NamedTuple):
    """Link bandwidths between two, ends excluded."""

    low_bytes_per_s: Fraction  # 0: on all slower links
    high_bytes_per_s: Fraction


def faster_between(network: Network, system: System, plan: Plan, inputs: int = 1) -> Links | None:
    """The bytes/s of a link between which, ends excluded, the plan is faster than tensor
    parallelism, or None if there are none.

    The plan takes the longest of sum + (N - 1) * stage over all stages, and tensor parallelism N *
    sum. Each is ops / R + bytes / B, so the plan is faster if for all its stages the difference

        ops / R + bytes / B < 0

    which holds on one side of one value of 1 / B. On links fast enough no plan is faster, because
    tensor parallelism's nodes always compute.

    Raises ValueError if the plan or tensor parallelism is not possible.
    """
    [tensor_stage] = plan_stages(network, system, tensor_parallel(network, system))
    stages = plan_stages(network, system, plan)
    plan_sum, tensor_sum = _work_of(chain(*stages)), _work_of(tensor_stage)
    lows, highs = [Fraction(0)], list[Fraction]()  # 1 / B is above the ones, below the others
    for stage in stages:
        ops, sent_bytes = (
            plan + (inputs - 1) * longest - inputs * tensor
            for plan, longest, tensor in zip(plan_sum, _work_of(stage), tensor_sum, strict=True)
        )
        if sent_bytes:
            bound = Fraction(-ops, sent_bytes) / system.ops_per_s
            (highs if sent_bytes > 0 else lows).append(bound)
        elif ops >= 0:
            return None
    low, high = max(lows), min(highs, default=None)
    if high is not None and high <= low:
        return None
    return Links(1 / high if high else Fraction(0), 1 / low)


def _work_of(steps: Iterable[Step]) -> tuple[int, int]:
    """All their ops, and all bytes of the busiest links."""
    ops, sent = zip(*((step.node_ops, step.link_bytes) for step in steps), strict=True)
    return sum(ops), sum(sent)


# ------------------------------------------------ some of them side by side


class Comparison(NamedTuple):
    """The unbeaten plans, and some plans side by side. Plans are named "tensor", "pipeline", and
    others as parse_plan reads them."""

    fitting: list[PlanResult] | Impossible  # unbeaten among those that fit
    best: list[PlanResult] | Impossible  # unbeaten among all
    compared: dict[str, PlanResult | Impossible]  # both strategies, and plans asked for
    faster: dict[str, Links | None]  # than tensor parallelism; None: on no links


def compare(question: Question, others: Mapping[str, Plan] | None = None) -> Comparison:
    """The unbeaten plans, both strategies, and other plans by their names."""
    network, system, inputs = question
    possible, impossible = possible_strategies(network, system)
    named = {**possible, **(others or {})}
    every = found_or_reason(every_result, *question)
    return Comparison(
        fitting=every if isinstance(every, Impossible) else unbeaten(it for it in every if it.fits),
        best=every if isinstance(every, Impossible) else unbeaten(every),
        compared={
            **impossible,
            **{name: plan_result(network, system, plan, inputs) for name, plan in named.items()},
        },
        faster={
            name: faster_between(network, system, plan, inputs)
            for name, plan in named.items()
            if name != "tensor" and "tensor" in possible
        },
    )
