#!/usr/bin/env python3
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

import whatif  # first, since it finds lab3

# isort: split
import argparse
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import chain, islice
from math import isqrt, lcm
from operator import attrgetter
from typing import Any, NamedTuple

import lab3
import rows
import sram
from lab3 import Network, Stages, Step, System
from tables import figure, json_text, table
from whatif import Question, count, filled


class Group(NamedTuple):
    """How many layers, the next ones of the network, and how many nodes work on them."""

    layers: int
    nodes: int = 1


Plan = Sequence[Group]

# ------------------------------------------------ a plan


class PlanFigures(NamedTuple):
    """What a plan takes."""

    plan: tuple[Group, ...]
    text: str  # what parse_plan reads
    latency_s: Fraction
    traffic_bytes: int
    nodes: int
    sram_bytes: int  # the most that a node holds
    fits: bool  # in the SRAM of every node, one input at a time


def plan_figures(network: Network, system: System, plan: Plan, inputs: int = 1) -> PlanFigures:
    """All figures of one plan. Raises ValueError as plan_stages does."""
    stages = plan_stages(network, system, plan)
    groups = tuple(Group(*group) for group in plan)
    uses = chain(*plan_sram(network, system, plan))
    sram_bytes = max(use.total_bytes for use in uses)
    return PlanFigures(
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
    one input at a time. Raises ValueError as plan_stages does."""
    return [_held(network, system, *place) for place in _placed(network, system, plan)]


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
        raise ValueError(f"plan: {whatif.shown(text)} is not a text, such as '1-2:2,3,4'")
    plan: list[Group] = []
    done = 0
    for number, part in enumerate(text.split(","), 1):
        found = re.fullmatch("([0-9]{1,9})(-([0-9]{1,9}))?(:([1-9][0-9]{0,8}))?", part.strip())
        if not found:
            wanted = "LAYERS:NODES, such as 1-2:2"
            raise ValueError(f"group {number}: {whatif.shown(part)} is not {wanted}")
        first, last, nodes = int(found[1]), int(found[3] or found[1]), int(found[5] or 1)
        if not done + 1 == first <= last:
            raise ValueError(f"group {number}: {part.strip()} is not layers from {done + 1} on")
        plan.append(Group(last - done, nodes))
        done = last
    return tuple(plan)


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
        raise ValueError(f"plan: {whatif.shown(plan)} is not a list or tuple of Groups")
    for number, pair in enumerate(plan, 1):
        is_pair = isinstance(pair, (list, tuple)) and len(pair) == 2
        if not is_pair or not all(type(count) is int and count > 0 for count in pair):
            wanted = "two ints above 0, layers and nodes"
            raise ValueError(f"group {number}: {whatif.shown(pair)} is not {wanted}")
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
            obstacle = f"it ends with layer {done}, but the network with layer {len(network)}"
        elif nodes > system.nodes:
            obstacle = f"up to here it takes {nodes} nodes, but the machine has {system.nodes}"
        if obstacle:
            raise ValueError(f"group {number}: {obstacle}")
    return placed


def _obstacle(network: Network, system: System, start: int, group: Group) -> str:
    """Why the layers cannot have so many nodes, empty if they can."""
    for number, layer in enumerate(network[start : start + group.layers], start + 1):
        if layer.filters % group.nodes:
            filters = f"the {layer.filters} filters of layer {number}"
            return f"its {group.nodes} nodes do not divide {filters}"
    if not _suits_topology(network, system, group):
        return f"on a ring it has 1 node, or all {system.nodes} and all layers, not {group.nodes}"
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

MOST_LAYERS, MOST_NODES = 64, 10**6  # of a search
MOST_PLANS = 20_000  # or, where there are more, groups times nodes: 2 s


def best_plans(
    network: Network, system: System, inputs: int = 1, fitting: bool = False
) -> list[PlanFigures]:
    """The plans that no other beats in both latency and traffic, fastest first; of equals that
    with fewest nodes, then with least need of SRAM. If fitting, only plans that fit count, and
    there may be none.

    Raises ValueError for a wrong network, system or inputs, and where there are too many plans.
    """
    lab3.check(network, system, inputs)
    groups = _groups(network, system)
    if sum(map(len, groups)) * system.nodes > MOST_PLANS:
        every_plan(network, system)  # raises if there are too many
    rank = attrgetter("latency", "traffic_bytes", "nodes", "sram_bytes")
    best: list[Part] = []
    for part in sorted(_grown(network, system, inputs, groups, fitting), key=rank):
        if not best or part.traffic_bytes < best[-1].traffic_bytes:
            best.append(part)
    return [plan_figures(network, system, part.plan, inputs) for part in best]


def every_plan(network: Network, system: System) -> list[tuple[Group, ...]]:
    """All plans that are possible. Raises ValueError for a wrong network or system, and where
    there are more than MOST_PLANS."""
    lab3.check(network, system)
    plans = list(islice(_continued(_groups(network, system), system.nodes), MOST_PLANS + 1))
    if len(plans) > MOST_PLANS:
        raise _too_many(network, system, f"{MOST_PLANS:,} plans")
    return plans


def _continued(groups: list[list[Group]], nodes: int) -> Iterator[tuple[Group, ...]]:
    """All ways to go on with so many nodes left, and with the groups by the layers done."""
    if not groups:
        yield ()
        return
    for group in groups[0]:
        if group.nodes <= nodes:
            for rest in _continued(groups[group.layers :], nodes - group.nodes):
                yield (group, *rest)


def _groups(network: Network, system: System) -> list[list[Group]]:
    """Those that can follow 0, 1, 2, ... layers."""
    if len(network) > MOST_LAYERS or system.nodes > MOST_NODES:
        raise _too_many(network, system, f"{MOST_LAYERS} layers, {MOST_NODES:,} nodes")
    groups: list[list[Group]] = []
    for start in range(len(network)):
        following = []
        nodes = _divisors(network[start].filters, system.nodes)
        for layers, layer in enumerate(network[start:], 1):
            nodes = [each for each in nodes if layer.filters % each == 0]
            following += [Group(layers, each) for each in nodes]
        groups.append([it for it in following if _suits_topology(network, system, it)])
    return groups


@cache
def _divisors(number: int, most: int) -> list[int]:
    """Those up to the most, in order: of each pair of them one is no more than the square root."""
    small = [each for each in range(1, min(most, isqrt(number)) + 1) if number % each == 0]
    return sorted({each for one in small for each in (one, number // one) if each <= most})


def _too_many(network: Network, system: System, limit: str) -> ValueError:
    machine = f"{count(len(network), 'layer')} on {count(system.nodes, 'node')}"
    return ValueError(f"{machine} have too many plans: the limit is {limit}")


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
    network: Network, system: System, inputs: int, groups: list[list[Group]], fitting: bool
) -> list[Part]:
    """All plans but some that others beat, or equal with no more nodes and no more need of SRAM.

    Plans grow group by group, and of the beginnings of as many layers only those go on that no
    other beats. Nothing is lost: what can follow the one can follow the other and adds the same
    nodes and bytes, since a send's time is the sender's and its bytes are the receiver's. It turns
    sum s and longest stage m, by its own s' and m', into the latency

        s + s' + (N - 1) * max(m, m') = s' + max(s + (N - 1) * m, s + (N - 1) * m')

    which is no longer if neither the beginning's latency, s + (N - 1) * m, nor its sum s is.
    """
    grown: list[list[Part]] = [[] for _ in range(len(network) + 1)]  # by how many layers they have
    grown[0].append(Part(0, 0, 0, 0, 0, 0, ()))
    for start, following in enumerate(groups):
        beginnings, grown[start] = _unbeaten(grown[start]), []
        for group in following:
            able = [old for old in beginnings if old.nodes + group.nodes <= system.nodes]
            if able:
                new = _part(network, system, start, group)
                if not fitting or new.sram_bytes <= system.sram_bytes:
                    grown[start + group.layers] += [_joined(old, new, inputs) for old in able]
    return grown[-1]


def _part(network: Network, system: System, start: int, group: Group) -> Part:
    """One group, the send after it, and the bytes, which are the receiver's, of the one before."""
    end = start + group.layers
    stages = [_work(network, system, start, group)]
    if end < len(network):
        stages.append([_send(network, end, group.nodes, 0)])
    ticks_per_s = lcm(system.ops_per_s.numerator, system.link_bytes_per_s.numerator)
    ticks = [int(lab3.duration(stage, system) * ticks_per_s) for stage in stages]
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


def _unbeaten(parts: list[Part]) -> list[Part]:
    """Those that no other equals or beats in latency, sum, nodes and bytes, of equal bytes SRAM."""
    kept: list[Part] = []
    marks: list[tuple[int, int, tuple[int, int]]] = []  # that none beats in what they hold
    for new in sorted(parts):  # what comes later is not faster
        total, nodes, sent = mark = (new.sum, new.nodes, (new.traffic_bytes, new.sram_bytes))
        if not any(s <= total and n <= nodes and b <= sent for s, n, b in marks):
            kept.append(new)
            marks = [(s, n, b) for s, n, b in marks if s < total or n < nodes or b < sent]
            marks.append(mark)
    return kept


# ------------------------------------------------ when a plan is faster

Bounds = tuple[Fraction, Fraction | None] | None  # bytes/s of a link


def faster_between(network: Network, system: System, plan: Plan, inputs: int | None = 1) -> Bounds:
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
    return (low, high) if high is None or low < high else None


def _work_of(steps: Iterable[Step]) -> tuple[int, int]:
    """All their ops, and all bytes of the busiest links."""
    ops, sent = zip(*((step.node_ops, step.link_bytes) for step in steps), strict=True)
    return sum(ops), sum(sent)


# ------------------------------------------------ all of it

MOST_SHOWN = 10  # of the best plans, unless all are asked for
MEGA = 10**6
FIGURES = ("latency ms", "traffic bytes", "nodes", "SRAM bytes", "fits")


class Comparison(NamedTuple):
    """What the command line tells, as text or, with --json, as an object of these names.

    Seconds and bytes/s are Fractions, in JSON the nearest floats; all else is exact. In place of
    what is not possible stands a text that says why. Plans are named "tensor", "pipeline", and
    others as parse_plan reads them.
    """

    version: int  # of this shape
    asked: Question
    fitting: list[PlanFigures] | str  # best_plans of those that fit
    best: list[PlanFigures] | str  # best_plans
    compared: dict[str, PlanFigures | str]  # by name: both strategies, and plans asked for
    streamed: dict[str, Fraction | str]  # seconds of possible strategies with rows streamed
    limit_s: Fraction  # rows.compute_bound
    faster: dict[str, list[Bounds]]  # faster_between by name, of the inputs and in the limit


def compare(question: Question, asked: Mapping[str, Plan] | None = None) -> Comparison:
    """The best plans, both strategies, and the plans asked for by their names. Raises ValueError
    for what is wrong."""
    if not isinstance(question, Question):
        raise ValueError(f"question: {whatif.shown(question)} is not a Question")
    network, system, inputs = question
    possible, impossible = lab3.possible_strategies(network, system)
    strategies = strategy_plans(network, system)
    plans = {**{name: strategies[name] for name in possible}, **(asked or {})}
    figures = {name: plan_figures(network, system, plans[name], inputs) for name in plans}
    return Comparison(
        version=1,
        asked=question,
        fitting=_tried(best_plans, *question, True),
        best=_tried(best_plans, *question),
        compared={**impossible, **figures},
        streamed={name: _tried(rows.streamed_latency, name, *question) for name in possible},
        limit_s=rows.compute_bound(*question),
        faster={
            name: [faster_between(network, system, plans[name], many) for many in (inputs, None)]
            for name in plans
            if name != "tensor" and "tensor" in possible
        },
    )


def _tried(function: Callable[..., Any], *arguments: object) -> Any:
    """What it returns, or why it does not."""
    try:
        return function(*arguments)
    except ValueError as error:
        return str(error)


def text(found: Comparison, shown: int | None = MOST_SHOWN) -> str:
    """All of it, and so many of the best plans, in 80 columns."""
    nodes, topology = found.asked.system.nodes, found.asked.system.topology
    compared = {name: it for name, it in found.compared.items() if isinstance(it, PlanFigures)}
    blocks = best_plans_text(found, shown)
    if compared:
        cells = [[*_cells(it), _beaten_by(it, found), name] for name, it in compared.items()]
        blocks += [
            "Both strategies and the plans asked for, and which of the last table beats them:",
            table([*FIGURES, "beaten by", "plan"], cells),
        ]
    notes = [f"{it}." for it in found.compared.values() if isinstance(it, str)]
    for name, it in compared.items():
        if it.nodes < nodes:
            notes.append(f"{name} leaves {nodes - it.nodes:,} of {count(nodes, 'node')} idle.")
    if topology == lab3.RING:
        notes.append("On a ring a plan is one group on all nodes, or groups of one node.")
    blocks += map(filled, notes)
    if found.streamed:
        cells = [
            [name, compared[name].latency_s * 1000, it if isinstance(it, str) else it * 1000]
            for name, it in found.streamed.items()
        ]
        title = (
            "Whole tensors, and rows streamed: a row of an output is sent as soon as it is"
            f" computed. No schedule takes less than {figure(found.limit_s * 1000)} ms, in which"
            " all nodes compute all the time."
        )
        head = ["strategy", "whole tensors ms", "rows streamed ms"]
        blocks += [filled(title), table(head, cells)]
    if found.faster:
        cells = [[*map(bounds_text, both), name] for name, both in found.faster.items()]
        title = (
            "Links (1 MB/s is 10^6 bytes/s) on which a plan is faster than tensor parallelism,"
            " whole tensors in both:"
        )
        head = [count(found.asked.inputs, "input"), "ever more inputs", "plan"]
        blocks += [filled(title), table(head, cells)]
    return "\n\n".join(blocks)


def best_plans_text(
    found: Comparison, shown: int | None = MOST_SHOWN, more: str = "--all"
) -> list[str]:
    """The best plans, or why there is no search, and what the words mean; what shows more."""
    _, system, inputs = found.asked
    words = (
        "A plan is groups of consecutive layers, each on nodes of its own: 1-2:2,3,4 is layers 1"
        " and 2 on two nodes, 3 and 4 on one each. Latency and traffic are of"
        f" {count(inputs, 'input')}, with whole tensors. A plan fits if no node holds more than"
        f" {system.sram_bytes:,} bytes of SRAM with one input at a time: inputs that wait and"
        " outputs that are done are not counted."
    )
    blocks = [filled(words)]
    if isinstance(found.best, str) or isinstance(found.fitting, str):
        return [*blocks, filled(f"{found.best}.")]
    for plans, title in (
        (found.fitting, "Plans that fit, and that no other that fits beats in latency and traffic"),
        (found.best, "Plans that no other beats in latency and traffic, whether they fit or not"),
    ):
        cells = [[rank, *_cells(plan), plan.text] for rank, plan in enumerate(plans, 1)][:shown]
        blocks.append(f"{title}:" if plans else f"{title}: none.")
        if plans:
            blocks.append(table(["#", *FIGURES, "plan"], cells))
        if len(cells) < len(plans):
            blocks.append(f"{len(plans) - len(cells):,} more: {more}")
    return blocks


def _cells(plan: PlanFigures) -> list[object]:
    return [plan.latency_s * 1000, plan.traffic_bytes, plan.nodes, plan.sram_bytes, plan.fits]


def _beaten_by(plan: PlanFigures, found: Comparison) -> str:
    """The fastest that moves no more bytes: being one of the best it is not slower, either."""
    if isinstance(found.best, str):
        return "?"
    ranked = enumerate(found.best, 1)
    rank, rival = next(each for each in ranked if each[1].traffic_bytes <= plan.traffic_bytes)
    as_good = (rival.latency_s, rival.traffic_bytes) == (plan.latency_s, plan.traffic_bytes)
    return "none" if as_good else f"#{rank:,}"


def bounds_text(bounds: Bounds) -> str:
    """What faster_between returns, in MB/s."""
    if bounds is None:
        return "never"
    low, high = (figure(bound / MEGA) if bound else "" for bound in bounds)
    if low and high:
        return f"{low} to {high} MB/s"
    return f"above {low} MB/s" if low else f"below {high} MB/s" if high else "always"


# ------------------------------------------------ the script


def add_plan_option(parser: argparse.ArgumentParser) -> None:
    """--plan, as often as wanted, for plans_asked."""
    wanted = "tensor, pipeline, or groups of layers:nodes, such as 1-2:2,3,4; as often as wanted"
    parser.add_argument("--plan", action="append", default=[], help=wanted)


def plans_asked(texts: Sequence[str], network: Network, system: System) -> dict[str, Plan]:
    """The plans of --plan by their names. Raises ValueError for one that is not possible."""
    strategies = strategy_plans(network, system)
    asked: dict[str, Plan] = {}
    for given in texts:
        try:
            plan = strategies.get(given) or parse_plan(given)
            plan_stages(network, system, plan)
        except ValueError as error:
            raise ValueError(f"--plan {whatif.shown(given)}: {error}") from None
        asked[given if given in strategies else plan_text(plan)] = plan
    return asked


def respond(argv: Sequence[str] | None) -> str:
    """The comparison, as text or JSON."""
    parser = whatif.option_parser(
        "Which groups of layers on which nodes take least time and move fewest bytes.",
        [
            "python3 report/plans.py --plan 1-2:2,3,4 --plan 1-3:2,4",
            "python3 report/plans.py --nodes 8 --link-gbs 0.05 --all",
            "python3 report/plans.py --inputs 1 --sram-kib 700 --json",
        ],
    )
    add_plan_option(parser)
    parser.add_argument("--all", action="store_true", help="all best plans, not the first ones")
    parser.add_argument("--json", action="store_true", help="everything, for programs")
    options = parser.parse_args(argv)
    question = whatif.question(options)
    found = compare(question, plans_asked(options.plan, question.network, question.system))
    if options.json:
        return json_text(found)
    said = text(found, None if options.all else MOST_SHOWN)
    return "\n\n".join(filter(None, [whatif.asked(question), said]))


if __name__ == "__main__":
    sys.exit(whatif.run(respond))
