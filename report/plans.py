"""What a plan is: groups of consecutive layers, each on its own nodes.

1-2:2,3,4 is layers 1 and 2 on two nodes, 3 and 4 on one each. Tensor parallelism is the plan of one
group on all nodes, pipeline parallelism that of one layer and one node per group. The nodes of a
group have equal shares of the filters of its layers: 43, 43 and 42 filters on three nodes are no
plan here. On a ring, a plan is one group on all nodes, or groups of one node.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from typing import NamedTuple

import lab3
from lab3 import Network, System
from report.terminal import count, shown

MOST_ASKED = 20


class Group(NamedTuple):
    """How many layers, the next ones of the network, and how many nodes work on them."""

    layers: int
    nodes: int = 1


Plan = Sequence[Group]


class Placed(NamedTuple):
    """A group's layers and nodes by number, both counted from 1."""

    layers: range
    nodes: range


def placed(network: Network, system: System, plan: Plan) -> list[Placed]:
    """Where the groups of a plan work. Nodes are numbered in the order of the groups.

    Raises ValueError if a group's nodes do not divide the filters of its layers, or if the groups
    need more nodes than there are, do not cover the layers, or are not modelled on a ring.
    """
    groups = []
    layer = node = 1  # the group's first
    for number, (layers, nodes) in enumerate(plan, 1):
        group = Placed(range(layer, layer + layers), range(node, node + nodes))
        layer, node = group.layers.stop, group.nodes.stop
        if why := _obstacle(network, system, group, is_last=number == len(plan)):
            raise ValueError(f"group {number}: {why}")
        groups.append(group)
    return groups


def _obstacle(network: Network, system: System, group: Placed, is_last: bool) -> str:
    """Why the group cannot work there; empty if it can."""
    last_layer, last_node, nodes = group.layers[-1], group.nodes[-1], len(group.nodes)
    if last_layer > len(network) or (is_last and last_layer < len(network)):
        has = count(len(network), "layer")
        return f"it ends with layer {last_layer:,}, but the network has {has}"
    if last_node > system.nodes:
        has = f"the machine has {system.nodes:,}"
        return f"up to here the plan takes {last_node:,} nodes, but {has}"
    for number in group.layers:
        filters = network[number - 1].filters
        if filters % nodes:
            split = f"cannot be split evenly over {count(nodes, 'node')}"
            return f"layer {number}'s {count(filters, 'filter')} {split}"
    if not is_modelled(network, system, Group(len(group.layers), nodes)):
        modelled = f"groups of 1 node, or of all {count(system.nodes, 'node')} and all layers"
        asked = f"{count(nodes, 'node')} and {count(len(group.layers), 'layer')}"
        return f"on a ring, only {modelled} are modelled, not of {asked}"
    return ""


def is_modelled(network: Network, system: System, group: Group) -> bool:
    """Whether the group can work on this topology. On a ring, a group of several nodes must have
    all nodes and all layers: only then has each of its messages links of its own."""
    is_whole = group == (len(network), system.nodes)
    return system.topology == lab3.ALL_TO_ALL or group.nodes == 1 or is_whole


# ------------------------------------------------ the two strategies


def tensor_parallel(network: Network, system: System) -> Plan:
    """One group on all nodes. Raises lab3's ValueError if that is not possible."""
    lab3.check_tensor_parallel(network, system)
    return (Group(len(network), system.nodes),)


def pipeline_parallel(network: Network, system: System) -> Plan:
    """A group of one node per layer. Raises lab3's ValueError if that is not possible."""
    lab3.check_pipeline_parallel(network, system)
    return (Group(1),) * len(network)


STRATEGIES: dict[str, Callable[[Network, System], Plan]] = {
    "tensor": tensor_parallel,
    "pipeline": pipeline_parallel,
}

# ------------------------------------------------ the notation


def parse_plan(text: str) -> tuple[Group, ...]:
    """The groups of "1-2:2,3,4": first and last layer, or the only one, and nodes if more than one.

    Raises ValueError that names the group that is not of this form or does not follow the last.
    """
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
    """What parse_plan reads."""
    parts = []
    done = 0
    for layers, nodes in plan:
        numbers = f"{done + 1}-{done + layers}" if layers > 1 else f"{done + 1}"
        parts.append(f"{numbers}:{nodes}" if nodes > 1 else numbers)
        done += layers
    return ",".join(parts)


# ------------------------------------------------ the option


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
    if texts and len(texts) > MOST_ASKED:
        raise ValueError(f"--plan: {len(texts):,} plans are more than {MOST_ASKED}")
    asked: dict[str, Plan] = {}
    for text in texts or ():
        try:
            if text in STRATEGIES:
                asked[text] = STRATEGIES[text](network, system)
                continue
            if not re.search("[0-9]", text):
                raise ValueError("not tensor, pipeline, or LAYERS:NODES, such as 1-2:2,3,4")
            plan = parse_plan(text)
            placed(network, system, plan)
        except ValueError as error:
            raise ValueError(f"--plan {shown(text)}: {error}") from None
        asked[plan_text(plan)] = plan
    return asked
