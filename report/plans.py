"""Which plan: tensor and pipeline parallelism are two of many ways to use the same nodes.

A plan is groups of consecutive layers, each on nodes of its own: 1-2:2,3,4 is layers 1 and 2 on
two nodes, 3 and 4 on one each. Tensor parallelism is the plan of one group on all nodes, pipeline
parallelism that of one layer and one node a group.

The p nodes of a group work as in tensor parallelism, which is one stage. Then each of them sends
its shard A / p to each of the q nodes of the next group, on links of their own: A / p / B seconds,
q * A bytes, a stage of its own, since the group takes its next input meanwhile. lab3's law says
what that takes, latency = sum(steps) + (N - 1) * longest stage. Tensors are whole: an output is
sent when all of it is computed.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import chain
from math import gcd, isqrt, lcm
from operator import attrgetter
from typing import NamedTuple

import lab3
from lab3 import Network, Stages, Step, System
from report import sram
from report.question import Impossible, Question, possible_strategies
from report.terminal import count, shown


class Group(NamedTuple):
    """How many layers, the next ones of the network, and how many nodes work on them."""

    layers: int
    nodes: int = 1


Plan = Sequence[Group]

# ------------------------------------------------ a plan


class PlanResult(NamedTuple):
    """What a plan takes."""

    plan: tuple[Group, ...]
    text: str  # what parse_plan reads
    latency_s: Fraction
    traffic_bytes: int
    nodes: int
    sram_bytes: int  # the most that a node holds
    fits: bool  # in the SRAM of every node, one input at a time


def plan_result(network: Network, system: System, plan: Plan, inputs: int = 1) -> PlanResult:
    """What one plan takes. Raises ValueError as plan_stages does."""
    stages = plan_stages(network, system, plan)
    groups = tuple(Group(*group) for group in plan)
    uses = chain(*plan_sram(network, system, plan))
    sram_bytes = max(use.total_bytes for use in uses)
    return PlanResult(
        plan=groups,
        text=plan_text(groups),
        latency_s=lab3.latency(stages, system, inputs),
        traffic_bytes=lab3.traffic(stages, inputs),
        nodes=sum(group.nodes for group in groups),
        sram_bytes=sram_bytes,
        fits=sram_bytes <= system.sram_bytes,
    )


def plan_latency(network: Network, system: System, plan: Plan, inputs: int = 1) -> Fraction:
    """Seconds, lab3.latency of plan_stages. Raises ValueError as both do."""
    return lab3.latency(plan_stages(network, system, plan), system, inputs)


def plan_traffic(network: Network, system: System, plan: Plan, inputs: int = 1) -> int:
    """Bytes over all links, lab3.traffic of plan_stages. Raises ValueError as both do."""
    return lab3.traffic(plan_stages(network, system, plan), inputs)


def plan_stages(network: Network, system: System, plan: Plan) -> Stages:
    """The stages that one input goes through.

    Raises ValueError for a wrong network or system, and where a group's nodes do not divide the
    filters of its layers, the groups need more nodes than there are, do not cover the layers, or
    on a ring are neither one group on all nodes nor groups of one node.
    """
    stages: Stages = []
    senders = 0
    for start, group in _placed(network, system, plan):
        if start:
            stages.append([_send(network, start, senders, group.nodes)])
        stages.append(_work(network, system, start, group))
        senders = group.nodes
    return stages


def plan_sram(network: Network, system: System, plan: Plan) -> list[list[sram.SramUse]]:
    """What each node of each group holds, layer by layer, as in tensor parallelism: whole tensors,
    one input at a time. "every node" is every node of the group; nodes are numbered in the order
    of the groups. Raises ValueError as plan_stages does."""
    held = []
    node = 1  # the group's first
    for start, group in _placed(network, system, plan):
        uses = _held(network, system, start, group)
        if group.nodes == 1:
            uses = [use._replace(where=f"node {node}") for use in uses]
        held.append(uses)
        node += group.nodes
    return held


def strategy_plans(network: Network, system: System) -> dict[str, Plan]:
    """Both strategies, possible or not. Raises ValueError for a wrong network or system."""
    lab3.check(network, system)
    tensor = (Group(len(network), system.nodes),)
    return {"tensor": tensor, "pipeline": (Group(1),) * len(network)}


def parse_plan(text: str) -> tuple[Group, ...]:
    """1-2:2,3,4: first and last layer, or the only one, and nodes if more than one.

    Raises ValueError that names the group that is not of this form or does not follow the last.
    """
    if not isinstance(text, str):
        raise ValueError(f"plan: {shown(text)} is not a text, such as '1-2:2,3,4'")
    plan: list[Group] = []
    done = 0
    for number, part in enumerate(text.split(","), 1):
        try:
            plan.append(_parse_group(part.strip(), done))
        except ValueError as error:
            raise ValueError(f"group {number}: {shown(part.strip())} {error}") from None
        done += plan[-1].layers
    return tuple(plan)


def _parse_group(text: str, done: int) -> Group:
    found = re.fullmatch("([0-9]{1,9})(-([0-9]{1,9}))?(:([0-9]{1,9}))?", text)
    if not found:
        raise ValueError("is not LAYERS:NODES, such as 1-2:2")
    first, last, nodes = int(found[1]), int(found[3] or found[1]), int(found[5] or 1)
    if first != done + 1:
        raise ValueError(f"starts with layer {first}, not with layer {done + 1}")
    if last < first:
        raise ValueError(f"ends with layer {last}, before it starts")
    if nodes == 0:
        raise ValueError("has 0 nodes, not a number of nodes from 1")
    return Group(last - done, nodes)


def plan_text(plan: Plan) -> str:
    """What parse_plan reads. Raises ValueError for what is not a list or tuple of Groups."""
    parts = []
    done = 0
    for layers, nodes in _groups_of(plan):
        numbers = f"{done + 1}-{done + layers}" if layers > 1 else f"{done + 1}"
        parts.append(f"{numbers}:{nodes}" if nodes > 1 else numbers)
        done += layers
    return ",".join(parts)


def _groups_of(plan: Plan) -> list[Group]:
    if not isinstance(plan, (list, tuple)) or not plan:
        raise ValueError(f"plan: {shown(plan)} is not a list or tuple of Groups")
    for number, pair in enumerate(plan, 1):
        is_pair = isinstance(pair, (list, tuple)) and len(pair) == 2
        if not is_pair or not all(type(count) is int and count > 0 for count in pair):
            wanted = "two ints above 0, layers and nodes"
            raise ValueError(f"group {number}: {shown(pair)} is not {wanted}")
    return [Group(*pair) for pair in plan]


def _placed(network: Network, system: System, plan: Plan) -> list[tuple[int, Group]]:
    """Each group after how many layers it starts. Raises ValueError as plan_stages does."""
    lab3.check(network, system)
    placed = []
    done = nodes = 0
    groups = _groups_of(plan)
    for number, group in enumerate(groups, 1):
        placed.append((done, group))
        obstacle = _obstacle(network, system, done, group)
        done, nodes = done + group.layers, nodes + group.nodes
        if done > len(network) or (number == len(groups) and done < len(network)):
            obstacle = (
                f"it ends with layer {done}, but the network has {count(len(network), 'layer')}"
            )
        elif nodes > system.nodes:
            obstacle = (
                f"up to here the plan takes {nodes} nodes, but the machine has {system.nodes}"
            )
        if obstacle:
            raise ValueError(f"group {number}: {obstacle}")
    return placed


def _obstacle(network: Network, system: System, start: int, group: Group) -> str:
    """Why the layers cannot have so many nodes, empty if they can."""
    for number, layer in enumerate(network[start : start + group.layers], start + 1):
        if layer.filters % group.nodes:
            filters = f"the {count(layer.filters, 'filter')} of layer {number}"
            return f"its {group.nodes} nodes do not divide {filters}"
    if not _suits_topology(network, system, group):
        allowed = f"1 node, or all {count(system.nodes, 'node')} and all layers"
        return f"on a ring a group has {allowed}, not {count(group.nodes, 'node')}"
    return ""


def _suits_topology(network: Network, system: System, group: Group) -> bool:
    is_whole = group == (len(network), system.nodes)
    return system.topology != lab3.RING or group.nodes == 1 or is_whole


def _work(network: Network, system: System, start: int, group: Group) -> list[Step]:
    """Tensor parallelism, gathered only at the network's end; one node alone exchanges nothing."""
    end = start + group.layers
    [steps] = lab3.tensor_parallel_stages(network[start:end], system._replace(nodes=group.nodes))
    if end < len(network):
        steps = steps[:-1]
    kept = [step for step in steps if group.nodes > 1 or step.work == "compute"]
    return [step._replace(layer=start + step.layer) for step in kept]


def _send(network: Network, done: int, senders: int, receivers: int) -> Step:
    """The output of the layers done: senders alone decide its time, receivers alone its bytes."""
    output_bytes = network[done - 1].output_bytes
    return Step(done, "send", 0, output_bytes // senders, receivers * output_bytes)


def _held(network: Network, system: System, start: int, group: Group) -> list[sram.SramUse]:
    end = start + group.layers
    uses = sram.tensor_parallel_sram(network[start:end], system._replace(nodes=group.nodes))
    if end < len(network) or group.nodes == 1:
        uses = uses[:-1]  # nothing to gather
    return [use._replace(layer=start + use.layer) for use in uses]


# ------------------------------------------------ the best plans

MOST_WORK = 800_000  # of a search: some 1.5 s and at most 200 MB; Work says of what
MOST_PLANS = 20_000  # of every_plan


class Work:
    """The work of a search, counted so that it ends at the same point on every machine: 1 for each
    beginning of a plan and for each mark that it is compared with, as much as 100 trial divisions
    take; 20 for each layer of a group."""

    def __init__(self, network: Network, system: System) -> None:
        self.network, self.system = network, system
        self.left = MOST_WORK

    def add(self, amount: int) -> None:
        """Raises ValueError where all of it is more than MOST_WORK."""
        self.left -= amount
        if self.left < 0:
            raise _too_many(self.network, self.system, f"{MOST_WORK:,} comparisons")


def _too_many(network: Network, system: System, limit: str) -> ValueError:
    verb = "has" if len(network) == 1 else "have"
    machine = f"{count(len(network), 'layer')} on {count(system.nodes, 'node')}"
    return ValueError(f"{machine} {verb} too many plans to search: the limit is {limit}")


def best_plans(
    network: Network, system: System, inputs: int = 1, fitting: bool = False
) -> list[PlanResult]:
    """The plans that no other beats in both latency and traffic, fastest first; of equals that
    with fewest nodes, then with least need of SRAM. If fitting, only plans that fit count, and
    there may be none.

    Raises ValueError for a wrong network, system or inputs, and where there are too many plans.
    """
    lab3.check(network, system, inputs)
    rank = attrgetter("latency", "traffic_bytes", "nodes", "sram_bytes")
    best: list[Part] = []
    for part in sorted(_grown(network, system, inputs, fitting), key=rank):
        if not best or part.traffic_bytes < best[-1].traffic_bytes:
            best.append(part)
    return [plan_result(network, system, part.plan, inputs) for part in best]


def every_plan(network: Network, system: System) -> list[tuple[Group, ...]]:
    """All plans that are possible, in order. Raises ValueError for a wrong network or system, and
    where there are more than MOST_PLANS."""
    lab3.check(network, system)
    plans = sorted(part.plan for part in _grown(network, system, forget=False))
    if len(plans) > MOST_PLANS:
        raise _too_many(network, system, f"{MOST_PLANS:,} plans")
    return plans


class Part(NamedTuple):
    """Groups and the sends after them. In order, what comes later does not beat what comes before.

    Times are in ticks, a fraction of a second of which all are multiples, so that the search adds
    and compares ints.
    """

    latency: int
    sum: int
    nodes: int
    traffic_bytes: int
    sram_bytes: int
    longest: int
    plan: tuple[Group, ...]


def _grown(
    network: Network,
    system: System,
    inputs: int = 1,
    fitting: bool = False,
    forget: bool = True,
) -> list[Part]:
    """All plans but, if told to forget, some that others beat, or equal with no more nodes and no
    more need of SRAM.

    Plans grow group by group, and of the beginnings of as many layers only those go on that no
    other beats. Nothing is lost: what can follow the one can follow the other and adds the same
    nodes and bytes, since a send's time is the sender's and its bytes are the receiver's. It turns
    sum s and longest stage m, by its own s' and m', into the latency

        s + s' + (N - 1) * max(m, m') = s' + max(s + (N - 1) * m, s + (N - 1) * m')

    which is no longer if neither the beginning's latency, s + (N - 1) * m, nor its sum s is.
    """
    work = Work(network, system)
    grown: list[list[Part]] = [[] for _ in range(len(network) + 1)]  # by how many layers they have
    grown[0].append(Part(0, 0, 0, 0, 0, 0, ()))
    for start in range(len(network)):
        beginnings, grown[start] = grown[start], []
        if forget:
            beginnings = _unbeaten(beginnings, work)
        if not beginnings:
            continue
        for group in _following(network, system, start, work):
            end = start + group.layers
            most = system.nodes - group.nodes - (end < len(network))  # the rest needs a node
            able = [old for old in beginnings if old.nodes <= most]
            if able:
                work.add(20 * group.layers + len(able))
                new = _part(network, system, start, group)
                if not fitting or new.sram_bytes <= system.sram_bytes:
                    grown[end] += [_joined(old, new, inputs) for old in able]
    return grown[-1]


def _following(network: Network, system: System, start: int, work: Work) -> Iterator[Group]:
    """The groups that can follow so many layers."""
    filters = 0
    for layers, layer in enumerate(network[start:], 1):
        filters = gcd(filters, layer.filters)
        work.add(1 + min(system.nodes, isqrt(filters)) // 100)
        for nodes in _divisors(filters, system.nodes):
            group = Group(layers, nodes)
            if _suits_topology(network, system, group):
                yield group


@cache
def _divisors(number: int, most: int) -> list[int]:
    """Those up to the most, in order: of each pair of them one is no more than the square root."""
    small = [each for each in range(1, min(most, isqrt(number)) + 1) if number % each == 0]
    return sorted({each for one in small for each in (one, number // one) if each <= most})


def _part(network: Network, system: System, start: int, group: Group) -> Part:
    """One group, the send after it, and the bytes, which are the receiver's, of the one before."""
    end = start + group.layers
    stages = [_work(network, system, start, group)]
    if end < len(network):
        stages.append([_send(network, end, group.nodes, 0)])
    ticks_per_s = lcm(system.ops_per_s.numerator, system.link_bytes_per_s.numerator)
    ticks = [(lab3.duration(stage, system) * ticks_per_s).numerator for stage in stages]
    received_bytes = _send(network, start, 1, group.nodes).traffic_bytes if start else 0
    sent_bytes = lab3.traffic(stages) + received_bytes
    sram_bytes = max(use.total_bytes for use in _held(network, system, start, group))
    return Part(0, sum(ticks), group.nodes, sent_bytes, sram_bytes, max(ticks), (group,))


def _joined(old: Part, new: Part, inputs: int) -> Part:
    total, longest = old.sum + new.sum, max(old.longest, new.longest)
    return Part(
        total + (inputs - 1) * longest,
        total,
        old.nodes + new.nodes,
        old.traffic_bytes + new.traffic_bytes,
        max(old.sram_bytes, new.sram_bytes),
        longest,
        old.plan + new.plan,
    )


def _unbeaten(parts: list[Part], work: Work) -> list[Part]:
    """Those that no other equals or beats in latency, sum, nodes and bytes, of equal bytes SRAM.

    The marks on a level are of parts with no more than its nodes: the longer the sum, the less is
    sent. What is beaten on one level is beaten on those above.
    """
    kept: list[Part] = []
    levels = sorted({part.nodes for part in parts})
    marks: list[list[tuple[int, tuple[int, int]]]] = [[] for _ in levels]
    for new in sorted(parts):  # what comes later is not faster
        sent = (new.traffic_bytes, new.sram_bytes)
        own_level = bisect_left(levels, new.nodes)
        for level in range(own_level, len(levels)):
            work.add(1)
            stairs = marks[level]
            start = end = bisect_right(stairs, (new.sum, sent))
            if start and stairs[start - 1][1] <= sent:
                break
            while end < len(stairs) and stairs[end][1] >= sent:
                end += 1
            stairs[start:end] = [(new.sum, sent)]
            if level == own_level:
                kept.append(new)
    return kept


# ------------------------------------------------ when a plan is faster


class Links(NamedTuple):
    """Link bandwidths between two, ends excluded."""

    low_bytes_per_s: Fraction
    high_bytes_per_s: Fraction | None  # None: and all above


def faster_between(
    network: Network, system: System, plan: Plan, inputs: int | None = 1
) -> Links | None:
    """The bytes/s of a link between which, ends excluded, the plan is faster than tensor
    parallelism, or None if it never is. A low of 0: on all slower links; a high of None: on all
    faster ones. With inputs None in the limit of many, where the longest stages decide.

    The plan takes the longest of sum + (N - 1) * stage, over all stages. Each is ops / R + bytes /
    B seconds; less those of tensor parallelism, N * sum, it is below 0 where

        gap_ops * B + gap_bytes * R < 0

    so on one side of one bandwidth; what lies on that side for every stage is an interval.
    Raises ValueError where the plan or tensor parallelism is not possible.
    """
    lab3.check(network, system, 1 if inputs is None else inputs)
    first, further = (0, 1) if inputs is None else (1, inputs - 1)
    [tensor] = lab3.tensor_parallel_stages(network, system)
    stages = plan_stages(network, system, plan)
    own, other = _work_of(chain(*stages)), _work_of(tensor)
    low, high = Fraction(0), None
    for stage in stages:
        gap_ops, gap_bytes = (
            first * mine + further * longest - (first + further) * its
            for mine, longest, its in zip(own, _work_of(stage), other, strict=True)
        )
        if gap_ops:
            bound = Fraction(-gap_bytes) * system.ops_per_s / gap_ops
        if gap_ops < 0:
            low = max(low, bound)
        elif gap_ops > 0:
            high = bound if high is None else min(high, bound)
        elif gap_bytes >= 0:
            return None
    return Links(low, high) if high is None or low < high else None


def _work_of(steps: Iterable[Step]) -> tuple[int, int]:
    """All their ops, and all bytes of the busiest links."""
    ops, sent = zip(*((step.node_ops, step.link_bytes) for step in steps), strict=True)
    return sum(ops), sum(sent)


# ------------------------------------------------ some of them side by side


class Faster(NamedTuple):
    """On which links a plan is faster than tensor parallelism."""

    inputs: int | None  # None: in the limit of many
    links: Links | None  # None: on none


class Comparison(NamedTuple):
    """The best plans, and some plans side by side. Plans are named "tensor", "pipeline", and others
    as parse_plan reads them."""

    fitting: list[PlanResult] | Impossible  # best_plans of those that fit
    best: list[PlanResult] | Impossible  # best_plans
    compared: dict[str, PlanResult | Impossible]  # both strategies, and plans asked for
    faster: dict[str, list[Faster]]  # for the inputs, and in the limit of many


def compare(question: Question, asked: Mapping[str, Plan] | None = None) -> Comparison:
    """The best plans, both strategies, and the plans asked for by their names. Raises ValueError
    for what is wrong."""
    if not isinstance(question, Question):
        raise ValueError(f"question: {shown(question)} is not a Question")
    network, system, inputs = question
    possible, impossible = possible_strategies(network, system)
    strategies = strategy_plans(network, system)
    plans = {**{name: strategies[name] for name in possible}, **(asked or {})}
    results = {name: plan_result(network, system, plans[name], inputs) for name in plans}
    return Comparison(
        fitting=best_plans_if_possible(question, fitting=True),
        best=best_plans_if_possible(question),
        compared={**impossible, **results},
        faster={
            name: [Faster(n, faster_between(network, system, plan, n)) for n in (inputs, None)]
            for name, plan in plans.items()
            if name != "tensor" and "tensor" not in impossible
        },
    )


def best_plans_if_possible(
    question: Question, fitting: bool = False
) -> list[PlanResult] | Impossible:
    """best_plans, or why there are none."""
    try:
        return best_plans(*question, fitting)
    except ValueError as error:
        return Impossible(str(error))


# ------------------------------------------------ the option that names one


def add_plan_option(parser: ArgumentParser) -> None:
    """--plan, for plans_asked."""
    parser.add_argument(
        "--plan",
        action="append",
        help="tensor, pipeline, or groups of LAYERS:NODES, such as 1-2:2,3,4 (repeatable)",
    )


def plans_asked(texts: Sequence[str] | None, network: Network, system: System) -> dict[str, Plan]:
    """The plans of --plan by their names. Raises ValueError for one that is not possible."""
    strategies = strategy_plans(network, system)
    asked: dict[str, Plan] = {}
    for given in texts or ():
        try:
            if given not in strategies and not re.search("[0-9]", given):
                raise ValueError("not tensor, pipeline, or LAYERS:NODES, such as 1-2:2,3,4")
            plan = strategies.get(given) or parse_plan(given)
            plan_stages(network, system, plan)
        except ValueError as error:
            raise ValueError(f"--plan {shown(given)}: {error}") from None
        asked[given if given in strategies else plan_text(plan)] = plan
    return asked
