"""Which plan: tensor and pipeline parallelism are two of many ways to use the same nodes.

A plan is groups of consecutive layers, each on nodes of its own: 1-2:2,3,4 is layers 1 and 2 on
two nodes, 3 and 4 on one each. Tensor parallelism is the plan of one group on all nodes, pipeline
parallelism that of one layer and one node a group. The nodes of a group have equal shares of the
filters of its layers: 43, 43 and 42 filters on three nodes are no plan here.

The p nodes of a group work as in tensor parallelism, which is one stage. Then each of them sends
its shard A / p to each of the q nodes of the next group, on links of their own: A / p / B seconds,
q * A bytes, a stage of its own, since the group takes its next input meanwhile. By the law of
report/steps.py, latency = sum(steps) + (N - 1) * longest stage. Tensors are whole: an output is
sent when all of it is computed.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import chain
from math import comb, isqrt, lcm
from typing import NamedTuple

import lab3
from lab3 import Network, System
from report import sram
from report.question import Impossible, Question, found_or_reason, possible_strategies
from report.steps import Stages, Step, duration, latency, tensor_parallel_stages, traffic
from report.terminal import count, shown


class Group(NamedTuple):
    """How many layers, the next ones of the network, and how many nodes work on them."""

    layers: int
    nodes: int = 1


Plan = Sequence[Group]
MOST_COUNTED = 999_999_999  # layers or nodes of a group

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
        latency_s=latency(stages, system, inputs),
        traffic_bytes=traffic(stages, inputs),
        nodes=sum(group.nodes for group in groups),
        sram_bytes=sram_bytes,
        fits=sram_bytes <= system.sram_bytes,
    )


def plan_latency(network: Network, system: System, plan: Plan, inputs: int = 1) -> Fraction:
    """Seconds, steps.latency of plan_stages. Raises ValueError as both do."""
    return latency(plan_stages(network, system, plan), system, inputs)


def plan_traffic(network: Network, system: System, plan: Plan, inputs: int = 1) -> int:
    """Bytes over all links, steps.traffic of plan_stages. Raises ValueError as both do."""
    return traffic(plan_stages(network, system, plan), inputs)


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


def strategy_of(network: Network, system: System, plan: Plan) -> str:
    """tensor or pipeline, whichever the plan is; empty for any other. Raises ValueError as
    plan_stages does."""
    groups = tuple(group for _, group in _placed(network, system, plan))
    strategies = strategy_plans(network, system)
    return next((name for name, each in strategies.items() if each == groups), "")


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
        if not is_pair or not all(type(each) is int and 0 < each <= MOST_COUNTED for each in pair):
            wanted = f"two ints from 1 to {MOST_COUNTED:,}, layers and nodes"
            raise ValueError(f"group {number}: {shown(pair)} is not {wanted}")
    return [Group(*pair) for pair in plan]


def ring_plans(network: Network, system: System) -> int:
    """How many plans are modelled on a ring: groups of one node, which cut the L layers in up to
    P - 1 of L - 1 places, and one group on all P nodes if they divide the filters.

    Raises ValueError for a wrong network or system.
    """
    lab3.check(network, system)
    cuts = range(min(len(network), system.nodes))
    is_divided = all(layer.filters % system.nodes == 0 for layer in network)
    return sum(comb(len(network) - 1, each) for each in cuts) + (is_divided and system.nodes > 1)


def _placed(network: Network, system: System, plan: Plan) -> list[tuple[int, Group]]:
    """Each group after how many layers it starts. Raises ValueError as plan_stages does."""
    lab3.check(network, system)
    placed = []
    end = nodes = 0
    groups = _groups_of(plan)
    for number, group in enumerate(groups, 1):
        start, end, nodes = end, end + group.layers, nodes + group.nodes
        placed.append((start, group))
        if end > len(network) or (number == len(groups) and end < len(network)):
            why = f"it ends with layer {end}, but the network has {count(len(network), 'layer')}"
        elif nodes > system.nodes:
            why = f"up to here the plan takes {nodes} nodes, but the machine has {system.nodes}"
        else:
            why = _obstacle(network, system, start, group)
        if why:
            raise ValueError(f"group {number}: {why}")
    return placed


def _obstacle(network: Network, system: System, start: int, group: Group) -> str:
    """Why the layers cannot have so many nodes, empty if they can."""
    for number, layer in enumerate(network[start : start + group.layers], start + 1):
        if layer.filters % group.nodes:
            filters, nodes = count(layer.filters, "filter"), count(group.nodes, "node")
            return f"layer {number}'s {filters} cannot be split evenly over {nodes}"
    if system.topology == lab3.RING and group.nodes > 1 and group != (len(network), system.nodes):
        modelled = f"groups of 1 node, or of all {count(system.nodes, 'node')} and all layers"
        group_text = f"{count(group.nodes, 'node')} and {count(group.layers, 'layer')}"
        return f"on a ring, only {modelled} are modelled, not of {group_text}"
    return ""


def _work(network: Network, system: System, start: int, group: Group) -> list[Step]:
    """Tensor parallelism, gathered only at the network's end; one node alone exchanges nothing."""
    end = start + group.layers
    [steps] = tensor_parallel_stages(network[start:end], system._replace(nodes=group.nodes))
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

MOST_COMPARISONS = 40_000_000  # of a search: some 2 s
MOST_BEGINNINGS = 300_000  # of a search: some 0.5 s and 100 MB


def best_plans(
    network: Network, system: System, inputs: int = 1, fitting: bool = False
) -> list[PlanResult]:
    """The plans that no other beats in both latency and traffic, fastest first; of equals one with
    fewest nodes, then with least need of SRAM. If fitting, only plans that fit count, and there may
    be none.

    Raises ValueError for a wrong network, system or inputs, and if there are too many plans.
    """
    search = _Search(network, system, inputs, fitting)
    best: list[Section] = []
    for it in sorted(
        search.plans(),
        key=lambda it: (search.latency(it), it.traffic_bytes, it.nodes, it.sram_bytes, it.groups),
    ):
        if not best or it.traffic_bytes < best[-1].traffic_bytes:
            best.append(it)
    return [search.result(it) for it in best]


def every_plan(network: Network, system: System) -> list[tuple[Group, ...]]:
    """All plans, in order. Raises ValueError for a wrong network or system, and if there are too
    many plans."""
    return sorted(plan.groups for plan in _Search(network, system, forget=False).plans())


class Section(NamedTuple):
    """Consecutive groups and the sends after them: one group, a beginning of plans, or a plan.

    Times are in ticks, a fraction of a second of which all are multiples: ints are as exact as
    Fractions, and faster.
    """

    sum: int
    longest: int  # stage
    nodes: int
    traffic_bytes: int
    sram_bytes: int
    groups: tuple[Group, ...]

    def followed_by(self, group: Section) -> Section:
        """Both, one after the other."""
        return Section(
            self.sum + group.sum,
            max(self.longest, group.longest),
            self.nodes + group.nodes,
            self.traffic_bytes + group.traffic_bytes,
            max(self.sram_bytes, group.sram_bytes),
            self.groups + group.groups,
        )


class _Search:
    """Grows plans group by group. Of the beginnings of as many layers, one is forgotten if another
    is no worse in latency, sum, nodes and bytes, and in SRAM if the bytes are equal.

    That is exact: what can follow the one can follow the other and adds the same nodes and bytes,
    because a send's time is the sender's and its bytes are the receiver's. It turns sum s and
    longest stage m, by its own s' and m', into the latency

        s + s' + (N - 1) * max(m, m') = s' + max(s + (N - 1) * m, s + (N - 1) * m')

    which is no longer if neither the beginning's latency, s + (N - 1) * m, nor its sum s is. SRAM
    decides between equals only: in a search for plans that fit, all beginnings do.

    Raises ValueError for a wrong network, system or inputs.
    """

    def __init__(
        self,
        network: Network,
        system: System,
        inputs: int = 1,
        fitting: bool = False,
        forget: bool = True,
    ) -> None:
        lab3.check(network, system, inputs)
        self.network, self.system, self.inputs = network, system, inputs
        self.fitting, self.forget = fitting, forget
        self.ticks_per_s = lcm(system.ops_per_s.numerator, system.link_bytes_per_s.numerator)
        self.layer = cache(self._layer)
        self.comparisons = self.beginnings = 0

    def latency(self, it: Section) -> int:
        """Ticks."""
        return it.sum + (self.inputs - 1) * it.longest

    def result(self, it: Section) -> PlanResult:
        """Of a whole plan."""
        return PlanResult(
            plan=it.groups,
            text=plan_text(it.groups),
            latency_s=Fraction(self.latency(it), self.ticks_per_s),
            traffic_bytes=self.inputs * it.traffic_bytes,
            nodes=it.nodes,
            sram_bytes=it.sram_bytes,
            fits=it.sram_bytes <= self.system.sram_bytes,
        )

    def plans(self) -> list[Section]:
        """All plans but, if told to forget, some that others beat, or equal with no more nodes and
        no more need of SRAM. Raises ValueError if there are too many."""
        grown = [[Section(0, 0, 0, 0, 0, ())]]  # by how many layers they have
        for end in range(1, len(self.network) + 1):
            is_beginning = end < len(self.network)
            most_nodes = self.system.nodes - is_beginning  # the layers that follow need one
            new: list[Section] = []
            for start, group in self._groups(end, most_nodes):
                able = [old for old in grown[start] if old.nodes + group.nodes <= most_nodes]
                self._count(comparisons=len(grown[start]), beginnings=len(able))
                new += [old.followed_by(group) for old in able]
            grown.append(self._unbeaten(new) if self.forget and is_beginning else new)
        return grown[-1]

    def _groups(self, end: int, most_nodes: int) -> Iterator[tuple[int, Section]]:
        """Each group whose last layer is this one, and after how many layers it starts."""
        for nodes in self._divisors(self.network[end - 1].filters, most_nodes):
            # on a ring a group of several nodes has all of them, and leaves none for others
            if self.system.topology != lab3.RING or nodes in (1, self.system.nodes):
                yield from self._groups_of_nodes(end, nodes)

    def _groups_of_nodes(self, end: int, nodes: int) -> Iterator[tuple[int, Section]]:
        """From the shortest on. Each adds the time of the send after it, and the bytes of the send
        before it."""
        after = [_send(self.network, end, nodes, 0)] if end < len(self.network) else []
        send = self._ticks(after)
        work = sent_bytes = weight_bytes = tensor_bytes = 0
        for start in reversed(range(end)):
            if self.network[start].filters % nodes:
                break
            self._count(beginnings=1)
            ticks, layer_bytes, weights, tensors = self.layer(start, nodes, start + 1 == end)
            work += ticks
            sent_bytes += layer_bytes
            weight_bytes += weights
            tensor_bytes = max(tensor_bytes, tensors)
            sram_bytes = weight_bytes + tensor_bytes
            if self.fitting and sram_bytes > self.system.sram_bytes:
                break  # with more layers it needs more
            received = _send(self.network, start, 1, nodes).traffic_bytes if start else 0
            total, longest, traffic_bytes = work + send, max(work, send), sent_bytes + received
            group = (Group(end - start, nodes),)
            yield start, Section(total, longest, nodes, traffic_bytes, sram_bytes, group)

    def _layer(self, start: int, nodes: int, is_last: bool) -> tuple[int, int, int, int]:
        """Ticks, bytes sent, bytes of weights and most bytes of tensors of one layer, the one after
        so many, in a group of so many nodes, whether it is the group's last or not."""
        group = Group(1 if is_last else 2, nodes)  # the least that has the layer at this place
        work = _work(self.network, self.system, start, group)
        steps = [step for step in work if step.layer == start + 1]
        uses = _held(self.network, self.system, start, Group(1, nodes))
        tensors = max(use.input_bytes + use.output_bytes for use in uses)
        return self._ticks(steps), traffic([steps]), uses[0].weight_bytes, tensors

    def _ticks(self, steps: list[Step]) -> int:
        return int(duration(steps, self.system) * self.ticks_per_s)

    def _divisors(self, number: int, most: int) -> list[int]:
        """Those up to the most: of each pair of them one is no more than the square root."""
        highest = min(most, isqrt(number))
        self._count(comparisons=highest)
        small = [each for each in range(1, highest + 1) if number % each == 0]
        return sorted({each for one in small for each in (one, number // one) if each <= most})

    def _unbeaten(self, beginnings: list[Section]) -> list[Section]:
        """Those that are not forgotten, each compared with those that are as fast or faster."""
        kept: list[tuple[int, int, tuple[int, int], Section]] = []
        for new in sorted(beginnings, key=lambda it: (self.latency(it), it)):
            total, nodes, bytes_ = new.sum, new.nodes, (new.traffic_bytes, new.sram_bytes)
            for place, (rival_total, rival_nodes, rival_bytes, _) in enumerate(kept):
                if rival_total <= total and rival_nodes <= nodes and rival_bytes <= bytes_:
                    kept.insert(0, kept.pop(place))  # it is likely to beat the next one, too
                    compared = place + 1
                    break
            else:
                compared = len(kept)
                kept.append((total, nodes, bytes_, new))
            self._count(comparisons=compared)
        return [it for *_, it in kept]

    def _count(self, comparisons: int = 0, beginnings: int = 0) -> None:
        """Raises ValueError beyond a limit, at the same point on every machine."""
        self.comparisons += comparisons
        self.beginnings += beginnings
        if self.comparisons > MOST_COMPARISONS:
            limit = f"{MOST_COMPARISONS:,} comparisons"
        elif self.beginnings > MOST_BEGINNINGS:
            limit = f"{MOST_BEGINNINGS:,} beginnings of plans"
        else:
            return
        machine = f"{count(len(self.network), 'layer')} on {count(self.system.nodes, 'node')}"
        verb = "has" if len(self.network) == 1 else "have"
        raise ValueError(f"{machine} {verb} too many plans to search: the limit is {limit}")


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

    The plan takes the longest of sum + (N - 1) * stage over all stages, and tensor parallelism N *
    sum. Each is ops / R + bytes / B, so the plan is faster if for all its stages the difference

        ops / R + bytes / B < 0

    which holds on one side of one value of 1 / B. Raises ValueError if the plan or tensor
    parallelism is not possible.
    """
    lab3.check(network, system, 1 if inputs is None else inputs)
    first, later = (0, 1) if inputs is None else (1, inputs - 1)
    [tensor_stage] = tensor_parallel_stages(network, system)
    stages = plan_stages(network, system, plan)
    plan_sum, tensor_sum = _work_of(chain(*stages)), _work_of(tensor_stage)
    lows, highs = [Fraction(0)], list[Fraction]()  # 1 / B is above the ones, below the others
    for stage in stages:
        ops, sent_bytes = (
            first * plan + later * longest - (first + later) * tensor
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
    return Links(1 / high if high else Fraction(0), 1 / low if low else None)


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


def compare(question: Question, others: Mapping[str, Plan] | None = None) -> Comparison:
    """The best plans, both strategies, and other plans by their names. Raises ValueError for what
    is wrong."""
    if not isinstance(question, Question):
        raise ValueError(f"question: {shown(question)} is not a Question")
    if not isinstance(others, (Mapping, type(None))):
        raise ValueError(f"plans: {shown(others)} is not a dictionary from names to plans")
    lab3.check(*question)
    network, system, inputs = question
    stages, impossible = possible_strategies(network, system)
    strategies = strategy_plans(network, system)
    named = {**{name: strategies[name] for name in stages}, **(others or {})}
    results = {name: plan_result(network, system, named[name], inputs) for name in named}
    return Comparison(
        fitting=found_or_reason(best_plans, network, system, inputs, True),
        best=found_or_reason(best_plans, network, system, inputs),
        compared={**impossible, **results},
        faster={
            name: [Faster(n, faster_between(network, system, plan, n)) for n in (inputs, None)]
            for name, plan in named.items()
            if name != "tensor" and "tensor" not in impossible
        },
    )


# ------------------------------------------------ the option that names one

MOST_ASKED = 20


def add_plan_option(parser: ArgumentParser) -> None:
    """--plan, for plans_asked."""
    parser.add_argument(
        "--plan",
        action="append",
        help="tensor, pipeline, or groups of LAYERS:NODES, such as 1-2:2,3,4 (repeatable)",
    )


def plans_asked(texts: Sequence[str] | None, network: Network, system: System) -> dict[str, Plan]:
    """The plans of --plan by their names. Raises ValueError for one that is not possible, and for
    more than MOST_ASKED."""
    strategies = strategy_plans(network, system)
    if texts and len(texts) > MOST_ASKED:
        raise ValueError(f"--plan: {len(texts):,} plans are more than {MOST_ASKED}")
    asked: dict[str, Plan] = {}
    for given in texts or ():
        try:
            if given not in strategies and not re.search("[0-9]", given):
                raise ValueError("not tensor, pipeline, or LAYERS:NODES, such as 1-2:2,3,4")
            plan = strategies.get(given) or parse_plan(given)
            _placed(network, system, plan)
        except ValueError as error:
            raise ValueError(f"--plan {shown(given)}: {error}") from None
        asked[given if given in strategies else plan_text(plan)] = plan
    return asked
