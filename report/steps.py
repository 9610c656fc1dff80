"""The same as lab3.py, step by step and for every plan: one law for both strategies.

An input goes through steps; each computes a layer or transfers its output. A stage is a run of
steps that one input must finish before the next may start it. The first input goes through all
steps. Each later input is done one interval after the one before it; the interval is the time of
the longest stage.

    latency = sum(steps) + (N - 1) * interval
    traffic = N * sum(traffic bytes of the steps)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import zip_longest
from typing import NamedTuple

from lab3 import RING, Network, System
from report.plans import Plan, placed


class Step(NamedTuple):
    """The computation of a layer, or the transfer of its output, for one input."""

    layer: int  # counted from 1
    work: str  # "compute", "all-gather", "gather" or "send"
    node_ops: int = 0  # that each of its nodes computes
    link_bytes: int = 0  # that the busiest link carries
    traffic_bytes: int = 0  # that all links carry together


Stages = list[list[Step]]


def duration(steps: Sequence[Step], system: System) -> Fraction:
    """time of steps = sum(node ops) / R + sum(link bytes) / B seconds, one after the other"""
    node_ops = sum(step.node_ops for step in steps)
    link_bytes = sum(step.link_bytes for step in steps)
    return Fraction(node_ops, system.ops_per_s) + Fraction(link_bytes, system.link_bytes_per_s)


def latency(stages: Stages, system: System, inputs: int = 1) -> Fraction:
    """latency = sum(steps) + (N - 1) * interval seconds; interval: the longest stage"""
    stages_s = [duration(stage, system) for stage in stages]
    return sum(stages_s) + (inputs - 1) * max(stages_s)


def traffic(stages: Stages, inputs: int = 1) -> int:
    """traffic = N * sum(traffic bytes of the steps)"""
    return inputs * sum(step.traffic_bytes for stage in stages for step in stage)


# ------------------------------------------------ messages between nodes


def shards_in_turn(system: System) -> int:
    """How many shards the busiest link of a collective carries, one after the other.

    all-to-all     1, because each node has a link of its own to each other node
    one-way ring   P - 1: every shard but that of the node the link leads to

    A single node sends nothing.
    """
    peers = system.nodes - 1
    return peers if system.topology == RING else min(peers, 1)


def all_gather(layer: int, shard_bytes: int, system: System) -> Step:
    """All-gather: every node starts with a shard S and ends with all P of them.

    all-to-all     S / B seconds
    one-way ring   (P - 1) * S / B seconds
    both           P * (P - 1) * S bytes, because each node lacks P - 1 shards

    Source: handout, "Hints".
    """
    link_bytes = shards_in_turn(system) * shard_bytes
    traffic_bytes = system.nodes * (system.nodes - 1) * shard_bytes
    return Step(layer, "all-gather", link_bytes=link_bytes, traffic_bytes=traffic_bytes)


def gather(layer: int, shard_bytes: int, system: System) -> Step:
    """Gather: every node starts with a shard S and one ends with all P of them.

    all-to-all     S / B seconds, (P - 1) * S bytes
    one-way ring   (P - 1) * S / B seconds: the last link carries P - 1 shards,
                   P * (P - 1) / 2 * S bytes: shards cross 1, 2, ... P - 1 links

    Source: handout, "Notes and assumptions".
    """
    link_bytes = shards_in_turn(system) * shard_bytes
    peers = system.nodes - 1
    moved_shards = system.nodes * peers // 2 if system.topology == RING else peers
    return Step(layer, "gather", link_bytes=link_bytes, traffic_bytes=moved_shards * shard_bytes)


def send(layer: int, output_bytes: int, senders: int, receivers: int) -> Step:
    """Each of p senders sends its shard A / p to each of q receivers, on links of their own:
    A / (p * B) seconds, q * A bytes."""
    traffic_bytes = receivers * output_bytes
    return Step(layer, "send", link_bytes=output_bytes // senders, traffic_bytes=traffic_bytes)


# ------------------------------------------------ a plan


def plan_stages(network: Network, system: System, plan: Plan) -> Stages:
    """The stages that one input goes through: each group's work, and between them the sends. Both
    are stages of their own, because a group takes its next input while links carry its output.

    Raises ValueError as plans.placed does.
    """
    groups = placed(network, system, plan)
    stages = []
    for group, following in zip_longest(groups, groups[1:]):
        stages.append(group_steps(network, system, group.layers, len(group.nodes)))
        if following:
            last = group.layers[-1]
            sent_bytes = network[last - 1].output_bytes
            stages.append([send(last, sent_bytes, len(group.nodes), len(following.nodes))])
    return stages


def group_steps(network: Network, system: System, layers: range, nodes: int) -> list[Step]:
    """What a group does for one input. Each of its p nodes has 1 / p of each layer's filters: it
    computes C / p ops, which give a shard of A / p bytes. Between the group's layers come
    all-gathers; after the network's last layer, a gather on one node. The nodes wait for each
    other, so all this is one stage.

    Source: handout, "Tensor Parallelism"; with one layer and one node, "Pipeline Parallelism".
    """
    steps = []
    group = system._replace(nodes=nodes)
    for number in layers:
        layer = network[number - 1]
        steps.append(Step(number, "compute", node_ops=layer.ops // nodes))
        if nodes > 1 and number == len(network):
            steps.append(gather(number, layer.output_bytes // nodes, group))
        elif nodes > 1 and number < layers[-1]:
            steps.append(all_gather(number, layer.output_bytes // nodes, group))
    return steps
