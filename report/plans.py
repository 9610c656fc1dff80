#!/usr/bin/env python3
"""Which plan: tensor and pipeline parallelism are two of many ways to use the same nodes.

A plan is groups of consecutive layers, each on nodes of its own: 1-2:2,3,4 is layers 1 and 2 on
two nodes, 3 and 4 on one each. Tensor parallelism is the plan of one group on all nodes, pipeline
parallelism that of one layer and one node a group.

The p nodes of a group work as in tensor parallelism, which is one stage. Then each of them sends
its shard A / p to each of the q nodes of the next group, on links of their own: A / p / B seconds,
q * A bytes, a stage of its own, since the group takes its next input meanwhile. lab3's law says
what that takes, latency = sum(steps) + (N - 1) * longest stage, exact up to the moment of printing.
"""

from __future__ import annotations

import re
import sys
import textwrap
from bisect import bisect
from collections import defaultdict, namedtuple
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain, pairwise, product
from math import isqrt, lcm
from operator import attrgetter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import lab3
from lab3 import ConvLayer, SramUse, Step, System

Network = Sequence[ConvLayer]


class Group(namedtuple("Group", "layers nodes", defaults=[1])):
    """How many layers, the next ones of the network, and how many nodes they have."""

    __slots__ = ()


Plan = Sequence[Group]
Question = tuple[Network, System, int]

# ------------------------------------------------ a plan


def plan_stages(network: Network, system: System, plan: Plan) -> list[list[Step]]:
    """The stages that one input goes through, for lab3's latency and traffic.

    Raises ValueError for a wrong network or system, and where a group's nodes do not divide the
    filters of its layers, the groups need more nodes than there are, do not cover the layers, or
    on a ring are neither one group on all nodes nor groups of one node.
    """
    placed = _placed(network, system, plan)
    stages = [_work(network, system, *placed[0])]
    for (_, sender), (done, group) in pairwise(placed):
        stages.append([_send(network, done, sender.nodes, group.nodes)])
        stages.append(_work(network, system, done, group))
    return stages


def _check(network: Network, system: System, inputs: int = 1) -> None:
    """What lab3 raises for a wrong one, whatever is possible."""
    lab3.sram_uses("data", network, system)
    lab3.traffic([], inputs)


def _placed(network: Network, system: System, plan: Plan) -> list[tuple[int, Group]]:
    """Each group after how many layers are done before it. Raises ValueError as plan_stages."""
    _check(network, system)
    if not isinstance(plan, (list, tuple)) or not plan:
        raise ValueError(f"plan: {_shown(plan)} is not a list or tuple of Groups")
    placed = []
    done = nodes = 0
    for number, pair in enumerate(plan, 1):
        is_pair = isinstance(pair, (list, tuple)) and len(pair) == 2
        if not is_pair or not all(type(count) is int and count > 0 for count in pair):
            raise ValueError(
                f"group {number}: {_shown(pair)} is not two ints above 0, layers, nodes"
            )
        group = Group(*pair)
        placed.append((done, group))
        obstacle = _obstacle(network, system, done, group)
        done, nodes = done + group.layers, nodes + group.nodes
        if done > len(network) or (number == len(plan) and done < len(network)):
            obstacle = f"it ends with layer {done}, but the network with layer {len(network)}"
        elif nodes > system.nodes:
            obstacle = f"up to here it takes {nodes} nodes, but the machine has {system.nodes}"
        if obstacle:
            raise ValueError(f"group {number}: {obstacle}")
    return placed


def _shown(value: object) -> str:
    """On one line, and a text in quotes, even if it is cut."""
    text = ascii(value)
    start = ascii(value[:30]) if isinstance(value, str) else text[:30]
    return text if len(text) <= 40 else f"{start}..."


def _obstacle(network: Network, system: System, done: int, group: Group) -> str:
    """Why the layers cannot have so many nodes, empty if they can."""
    for number, layer in enumerate(network[done : done + group.layers], done + 1):
        if layer.filters % group.nodes:
            filters = f"the {layer.filters} filters of layer {number}"
            return f"its {group.nodes} nodes do not divide {filters}"
    if system.topology == lab3.RING and group.nodes > 1 and group != (len(network), system.nodes):
        return f"on a ring it has 1 node, or all {system.nodes} and all layers, not {group.nodes}"
    return ""


def _work(network: Network, system: System, done: int, group: Group) -> list[Step]:
    """Tensor parallelism, gathered only at the network's end; one node alone exchanges nothing."""
    end = done + group.layers
    [steps] = lab3.tensor_parallel_stages(network[done:end], system._replace(nodes=group.nodes))
    if end < len(network):
        steps = steps[:-1]
    kept = [step for step in steps if group.nodes > 1 or step.work == "compute"]
    return [step._replace(layer=done + step.layer) for step in kept]


def _send(network: Network, done: int, senders: int, receivers: int) -> Step:
    """The output of the layers done: senders alone decide its time, receivers alone its bytes."""
    output_bytes = network[done - 1].output_bytes
    return Step(done, "send", 0, output_bytes // senders, receivers * output_bytes)


def plan_latency(network: Network, system: System, plan: Plan, inputs: int = 1) -> Fraction:
    """Seconds, lab3.latency of plan_stages. Raises ValueError as both do."""
    return lab3.latency(plan_stages(network, system, plan), system, inputs)


def plan_traffic(network: Network, system: System, plan: Plan, inputs: int = 1) -> int:
    """Bytes over all links, lab3.traffic of plan_stages. Raises ValueError as both do."""
    return lab3.traffic(plan_stages(network, system, plan), inputs)


def plan_sram(network: Network, system: System, plan: Plan) -> list[list[SramUse]]:
    """What each node of each group holds, layer by layer, with whole tensors and one input at a
    time, as in tensor parallelism. Raises ValueError as plan_stages does."""
    return [_held(network, system, *place) for place in _placed(network, system, plan)]


def _held(network: Network, system: System, done: int, group: Group) -> list[SramUse]:
    end = done + group.layers
    uses = lab3.sram_uses("tensor", network[done:end], system._replace(nodes=group.nodes))
    if end < len(network) or group.nodes == 1:
        uses = uses[:-1]  # nothing to gather
    return [use._replace(layer=done + use.layer) for use in uses]


def parse_plan(text: str) -> tuple[Group, ...]:
    """1-2:2,3,4: first and last layer, or the only one, and nodes if more than one.

    Raises ValueError that names the group that is not of this form or does not follow the last.
    """
    plan: list[Group] = []
    done = 0
    for number, part in enumerate(text.split(","), 1):
        found = re.fullmatch("([0-9]{1,9})(-([0-9]{1,9}))?(:([1-9][0-9]{0,8}))?", part.strip())
        if not found:
            raise ValueError(f"group {number}: {_shown(part)} is not LAYERS:NODES, such as 1-2:2")
        first, last, nodes = int(found[1]), int(found[3] or found[1]), int(found[5] or 1)
        if last < first:
            raise ValueError(f"group {number}: {part.strip()} ends before it begins")
        if first != done + 1:
            raise ValueError(f"group {number}: {part.strip()} does not begin with layer {done + 1}")
        plan.append(Group(last - done, nodes))
        done = last
    return tuple(plan)


def plan_text(plan: Plan) -> str:
    """What parse_plan reads."""
    parts = []
    done = 0
    for layers, nodes in plan:
        numbers = f"{done + 1}-{done + layers}" if layers > 1 else f"{done + 1}"
        parts.append(f"{numbers}:{nodes}" if nodes > 1 else numbers)
        done += layers
    return ",".join(parts)


def strategy_plans(network: Network, system: System) -> dict[str, Plan]:
    """One group on all nodes, and one layer and one node a group, possible or not."""
    tensor = (Group(len(network), system.nodes),)
    return {"tensor": tensor, "pipeline": (Group(1),) * len(network)}


# ------------------------------------------------ the best plans

MOST_LAYERS = 64  # of a search
MOST_STEPS = 10**6  # of a search, some seconds: 100 for a group, 1 for each beginning before it

# Groups and the sends after them. Times are in ticks, a fraction of a second of which all are
# multiples, so that the search adds and compares ints.
Part = namedtuple("Part", "latency traffic_bytes sram_bytes nodes sum longest plan")
Point = tuple[int, tuple[int, int]]  # sum; traffic and SRAM, which decides where traffic is equal


def best_plans(network: Network, system: System, inputs: int = 1) -> list[Plan]:
    """The plans that no other beats in both latency and traffic, fastest first; of equals that
    with fewest nodes, then with least need of SRAM.

    Raises ValueError for a wrong network, system or inputs, and where there are too many plans.
    """
    return _search(network, system, inputs)[0]


def fastest_that_fits(network: Network, system: System, inputs: int = 1) -> Plan | None:
    """The fastest plan for which the SRAM suffices, one input at a time, or None; of equals that
    with least traffic, then with fewest nodes. Raises ValueError as best_plans does."""
    return _search(network, system, inputs)[1]


def _search(network: Network, system: System, inputs: int) -> tuple[list[Plan], Plan | None]:
    """What best_plans and fastest_that_fits return."""
    wholes = _grown_plans(network, system, inputs)
    best = wholes[:1]
    for whole in wholes:
        if whole.traffic_bytes < best[-1].traffic_bytes:
            best.append(whole)
    fitting = (whole.plan for whole in wholes if whole.sram_bytes <= system.sram_bytes)
    return [whole.plan for whole in best], next(fitting, None)


def _grown_plans(network: Network, system: System, inputs: int) -> list[Part]:
    """In order all plans but some to which another is as good: as fast, with fewer bytes or as many
    and no more need of SRAM, on no more nodes, and without overflowing the SRAM if that does not.

    Plans grow group by group, and a beginning is forgotten when another of as many layers is as
    good and its sum no longer. Nothing is lost: what can follow the one can follow the other and
    adds the same nodes and bytes, since a send's time is the sender's and its bytes are the
    receiver's. It turns sum s and longest stage m, by its own s' and m', into the latency

        s + s' + (N - 1) * max(m, m') = s' + max(s + (N - 1) * m, s + (N - 1) * m')

    which is no longer if neither the beginning's latency, s + (N - 1) * m, nor its sum s is.
    """
    _check(network, system, inputs)
    size = f"{len(network)} layers on {system.nodes:,} node{'s' * (system.nodes > 1)}"
    size += " have too many plans to search: the limit is"
    if len(network) > MOST_LAYERS:
        raise ValueError(f"{size} {MOST_LAYERS} layers")
    groups = [_groups(network, system, done) for done in range(len(network))]
    steps = 100 * sum(map(len, groups))
    grown: list[list[Part]] = [[] for _ in range(len(network) + 1)]  # by how many layers they have
    grown[0].append(Part(0, 0, 0, 0, 0, 0, ()))
    for done, following in enumerate(groups):
        beginnings, grown[done] = _unbeaten(grown[done], system), []
        steps += len(beginnings) * len(following)
        if steps > MOST_STEPS:
            raise ValueError(f"{size} {MOST_STEPS:,} steps")
        for group in following:
            new = _group_part(network, system, done, group)
            most = system.nodes - group.nodes
            parts = [_joined(old, new, inputs) for old in beginnings if old.nodes <= most]
            grown[done + group.layers] += parts
    return sorted(grown[-1], key=attrgetter("latency", "traffic_bytes", "nodes", "sram_bytes"))


def _groups(network: Network, system: System, done: int) -> list[Group]:
    """Those that can follow so many layers."""
    filters = network[done].filters
    small = [count for count in range(1, isqrt(filters) + 1) if filters % count == 0]
    nodes = {count for pair in small for count in (pair, filters // pair) if count <= system.nodes}
    groups = map(Group._make, product(range(1, len(network) - done + 1), nodes))
    return [group for group in groups if not _obstacle(network, system, done, group)]


def _group_part(network: Network, system: System, done: int, group: Group) -> Part:
    end = done + group.layers
    stages = [_work(network, system, done, group)]
    if end < len(network):
        stages.append([_send(network, end, group.nodes, 0)])  # its bytes are the receiver's
    rates = Fraction(system.ops_per_s), Fraction(system.link_bytes_per_s)
    ticks_per_s = lcm(*(rate.numerator for rate in rates))
    ticks = [int(lab3.duration(stage, system) * ticks_per_s) for stage in stages]
    traffic_bytes = lab3.traffic(stages)
    if done:
        traffic_bytes += _send(network, done, 1, group.nodes).traffic_bytes
    sram_bytes = max(use.total_bytes for use in _held(network, system, done, group))
    return Part(0, traffic_bytes, sram_bytes, group.nodes, sum(ticks), max(ticks), (group,))


def _joined(old: Part, new: Part, inputs: int) -> Part:
    total, longest = old.sum + new.sum, max(old.longest, new.longest)
    return Part(
        total + (inputs - 1) * longest,
        old.traffic_bytes + new.traffic_bytes,
        max(old.sram_bytes, new.sram_bytes),
        old.nodes + new.nodes,
        total,
        longest,
        old.plan + new.plan,
    )


def _unbeaten(parts: list[Part], system: System) -> list[Part]:
    """In order those to which no other is as good, nor its sum shorter; of equals one.

    In order, what comes later cannot beat what comes before. What is kept stands on stairs, bytes
    down with rising sums, where one look tells whether it beats a newcomer. They are a Fenwick
    tree: a stair is of some numbers of nodes, and a few make up any number or fewer.
    """
    kept = []
    stairs: dict[tuple[bool, int], list[Point]] = defaultdict(list)
    for new in sorted(parts):
        point = (new.sum, (new.traffic_bytes, new.sram_bytes))
        is_over, nodes = new.sram_bytes > system.sram_bytes, new.nodes
        while nodes and not _is_beaten(point, stairs[is_over, nodes]):
            nodes &= nodes - 1
        if nodes:
            continue
        kept.append(new)
        nodes = new.nodes
        while 0 < nodes <= system.nodes:
            for is_met_by_those_over in {is_over, True}:
                _put(point, stairs[is_met_by_those_over, nodes])
            nodes += nodes & -nodes
    return kept


def _is_beaten(point: Point, stair: list[Point]) -> bool:
    place = bisect(stair, point)
    return place > 0 and stair[place - 1][1] <= point[1]


def _put(point: Point, stair: list[Point]) -> None:
    """In place of what it beats, unless it is beaten itself."""
    if not _is_beaten(point, stair):
        start = end = bisect(stair, point)
        while end < len(stair) and stair[end][1] >= point[1]:
            end += 1
        stair[start:end] = [point]


# ------------------------------------------------ when, and what would help


def faster_between(
    network: Network, system: System, plan: Plan, inputs: int | None = 1
) -> tuple[Fraction, Fraction | None] | None:
    """The bytes/s of a link between which, ends excluded, the plan is faster than tensor
    parallelism, or None if it never is. A low of 0: on all slower links; a high of None: on all
    faster ones. With inputs None in the limit of many, where the longest stages decide.

    The plan takes the longest of sum + (N - 1) * stage, over all stages. Each is ops / R + bytes /
    B seconds; less those of tensor parallelism, N * sum, it is below 0 where

        gap_ops * B + gap_bytes * R < 0

    so on one side of one bandwidth; what lies on that side for every stage is an interval.
    Raises ValueError where the plan or tensor parallelism is not possible.
    """
    _check(network, system, 1 if inputs is None else inputs)
    first, further = (0, 1) if inputs is None else (1, inputs - 1)
    [tensor] = lab3.tensor_parallel_stages(network, system)
    stages = plan_stages(network, system, plan)
    own, other = _total(chain(*stages)), _total(tensor)
    low, high = Fraction(0), None
    for stage in stages:
        terms = ((first, own), (further, _total(stage)), (-first - further, other))
        gap_ops = sum(times * total.node_ops for times, total in terms)
        gap_bytes = sum(times * total.link_bytes for times, total in terms)
        if gap_ops:
            bound = Fraction(-gap_bytes) * system.ops_per_s / gap_ops
        if gap_ops < 0:
            low = max(low, bound)
        elif gap_ops > 0:
            high = bound if high is None else min(high, bound)
        elif gap_bytes >= 0:
            return None
    return (low, high) if high is None or low < high else None


def _total(steps: Iterable[Step]) -> Step:
    """All of them as one."""
    amounts = zip(*(step[2:] for step in steps), strict=True)
    return Step(0, "all", *map(sum, amounts))


TWICE = {"ops/s": "ops_per_s", "links": "link_bytes_per_s", "nodes": "nodes"}


def doubled(
    strategy: str, network: Network, system: System, inputs: int = 1
) -> dict[str, Fraction | None]:
    """The speed-up of lab3.STRATEGIES[strategy] from twice the ops/s, the links' bytes/s or the
    nodes, None where that is not possible. Raises ValueError where the strategy is not."""
    stages_of = lab3.STRATEGIES[strategy]
    latency_s = lab3.latency(stages_of(network, system), system, inputs)
    speed_ups: dict[str, Fraction | None] = {}
    for name, field in TWICE.items():
        better = system._replace(**{field: 2 * getattr(system, field)})
        try:
            speed_ups[name] = latency_s / lab3.latency(stages_of(network, better), better, inputs)
        except ValueError:  # twice the nodes do not divide the filters
            speed_ups[name] = None
    return speed_ups


def balance(layer: ConvLayer) -> Fraction:
    """C / A, the ops for a byte of output; a node does R / B ops while a link carries a byte."""
    return Fraction(layer.ops, layer.output_bytes)


# ------------------------------------------------ command line

COLUMNS = 80
MOST_SHOWN = 20  # of the best plans, evenly spread
MEGA = 10**6
HELP = f"""\
usage: python3 report/plans.py [--plan GROUPS ...] [what-if options]

Which groups of layers on which nodes take least time and move fewest bytes,
and when a plan is faster than tensor parallelism.

examples:
  python3 report/plans.py --plan 1-2:2,3,4 --plan 1-3:2,4
  python3 report/plans.py --nodes 8 --link-gbs 0.05
  python3 report/plans.py --inputs 1 --sram-kib 700 --topology ring

a plan to compare:
  --plan GROUPS      1-2:2,3,4 is layers 1 and 2 on two nodes, 3 and 4 on one
                     each; repeat for more plans
  -h, --help         this text

{lab3.WHAT_IF_HELP}"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line. Returns the exit status: 0, 2 for bad input, 1 for failed output."""
    return lab3.run("plans.py", _respond, argv)


def _respond(arguments: Sequence[str]) -> str:
    if "-h" in arguments or "--help" in arguments:
        return HELP
    given = lab3.read_options(arguments, [], ["--plan"])
    network, system, inputs = lab3.what_if(given)
    asked = {}
    for text in given.get("--plan", []):
        try:
            plan = parse_plan(text)
            plan_stages(network, system, plan)
        except ValueError as error:
            raise ValueError(f"--plan {_shown(text)}: {error}") from None
        asked[plan_text(plan)] = plan
    return comparison(network, system, inputs, asked)


def comparison(network: Network, system: System, inputs: int, asked: Mapping[str, Plan]) -> str:
    """All that this module can tell, in 80 columns.

    Raises ValueError for what is wrong, and where there are too many plans and none is asked for.
    """
    question = (network, system, inputs)
    plans, reasons = _strategies(network, system)
    others = {**plans, **asked}
    ridge = Fraction(system.ops_per_s) / system.link_bytes_per_s
    texts = [
        f"Layers L = {len(network)}, inputs N = {inputs:,}, nodes P = {system.nodes:,},"
        f" {system.topology}, R = {_figure(system.ops_per_s)} ops/s of a node,"
        f" B = {_figure(system.link_bytes_per_s)} bytes/s of a link.",
        *_plan_texts(question, others),
        *reasons,
    ]
    if system.topology == lab3.RING:
        texts.append("On a ring a plan is one group on all nodes, or groups of one node.")
    if "tensor" in plans and len(others) > 1:
        title = "Links, in MB/s (10^6 bytes/s), on which a plan is faster than tensor parallelism"
        texts += [f"{title}:", _link_table(question, others)]
    if plans:
        rows = [[*doubled(name, *question).values(), name] for name in plans]
        title = "Speed-up by twice the ops/s, the links' bytes/s, or the nodes"
        texts += [f"{title}:", _table([*TWICE, "strategy"], rows)]
    texts += [
        f"C / A, the ops for a byte of output; while a link carries one, a node does"
        f" R / B = {_figure(ridge)} ops:",
        _table(["C / A", "layer"], [[balance(layer), n] for n, layer in enumerate(network, 1)]),
    ]
    return "\n\n".join(text if "\n" in text else _filled(text) for text in texts)


def _strategies(network: Network, system: System) -> tuple[dict[str, Plan], list[str]]:
    """The strategies that are possible, and the reasons for those that are not."""
    plans = strategy_plans(network, system)
    reasons = []
    for name, stages_of in lab3.STRATEGIES.items():
        try:
            stages_of(network, system)
        except ValueError as error:
            reasons.append(f"{error}.")
            del plans[name]
    return plans, reasons


def _plan_texts(question: Question, others: Mapping[str, Plan]) -> list[str]:
    """The best plans, others, and what fits. Only others where there are too many plans."""
    header = ["#", "nodes", "latency ms", "traffic bytes", "SRAM bytes", "fits", "plan"]
    sram = "SRAM is the most that a node holds of whole tensors."
    try:
        best, fitting = _search(*question)
    except ValueError as error:
        if not others:
            raise
        rows = [["?", *_figures(*question, plan), name] for name, plan in others.items()]
        return [f"{error}. {sram}", _table(header, rows)]
    shown = {place * (len(best) - 1) // (MOST_SHOWN - 1) for place in range(MOST_SHOWN)}
    if fitting in best:
        shown.add(best.index(fitting))
    elif fitting:
        others = {**others, plan_text(fitting): fitting}
    sent = [plan_traffic(*question[:2], plan, question[2]) for plan in best]
    rows = []
    for name, plan in others.items():
        own = _figures(*question, plan)
        # The fastest that moves no more bytes: being one of the best it is not slower, either.
        rank = next(place for place, traffic_bytes in enumerate(sent) if traffic_bytes <= own[2])
        shown.add(rank)
        sign = "=" if _figures(*question, best[rank])[1:3] == own[1:3] else "<"
        rows.append([f"{sign} {rank + 1:,}", *own, name])
    ranked = [(rank + 1, best[rank]) for rank in sorted(shown)]
    best_rows = [[rank, *_figures(*question, plan), plan_text(plan)] for rank, plan in ranked]
    which = f"# ({len(shown)} of {len(best):,} shown)" if len(shown) < len(best) else "#"
    fits = f"{plan_text(fitting)} is the fastest plan that fits" if fitting else "No plan fits"
    return [
        f"Best plans, {which}: no other beats them in both latency and traffic. Then others:"
        f" < 3 is beaten by plan 3, = 3 as good. {sram}",
        _table(header, best_rows + rows),
        f"{fits} {_figure(question[1].sram_bytes)} bytes of SRAM a node, with whole tensors and one"
        " input at a time.",
    ]


def _figures(network: Network, system: System, inputs: int, plan: Plan) -> list[Any]:
    nodes = sum(group.nodes for group in plan)
    latency_ms = plan_latency(network, system, plan, inputs) * 1000
    traffic_bytes = plan_traffic(network, system, plan, inputs)
    uses = plan_sram(network, system, plan)
    sram_bytes = max(use.total_bytes for group_uses in uses for use in group_uses)
    fits = "yes" if sram_bytes <= system.sram_bytes else "NO"
    return [nodes, latency_ms, traffic_bytes, sram_bytes, fits]


def _link_table(question: Question, others: dict[str, Plan]) -> str:
    network, system, inputs = question
    rows = []
    for name, plan in list(others.items())[1:]:  # all but tensor parallelism
        bounds = [faster_between(network, system, plan, count) for count in (inputs, None)]
        rows.append([*map(_bounds_text, bounds), name])
    return _table([f"N = {inputs:,}", "N without limit", "plan"], rows)


def _bounds_text(bounds: tuple[Fraction, Fraction | None] | None) -> str:
    if bounds is None:
        return "never"
    low, high = (_figure(bound / MEGA) if bound else "" for bound in bounds)
    if low and high:
        return f"{low} to {high}"
    return f"above {low}" if low else f"below {high}" if high else "always"


def _table(header: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    """Columns flush right but the last, which is broken after commas where it is too wide."""
    cells = [[_figure(value) for value in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for *numbers, text in cells:
        aligned = map(str.rjust, numbers, widths)
        lines.append(_filled(text.replace(",", ", "), "  ".join([*aligned, ""])))
    return "\n".join(lines).replace(", ", ",")


def _filled(text: str, left: str = "") -> str:
    margins = (COLUMNS, left, " " * len(left))
    return "\n".join(textwrap.TextWrapper(*margins, break_on_hyphens=False).wrap(text))


def _figure(value: object) -> str:
    """For people: thousands grouped, 9 digits of a fraction, and 5 of what is too wide."""
    if not isinstance(value, (int, Fraction)):
        return "impossible" if value is None else str(value)
    text = f"{value:,}" if isinstance(value, int) else f"{Decimal(lab3.plain(value, 9)):,f}"
    return text if len(text) <= 14 else f"{Decimal(lab3.plain(value, 5)):.4e}"


if __name__ == "__main__":
    sys.exit(main())
