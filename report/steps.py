"""The same as lab3.py, step by step: what plans, schedules, SRAM and explanations need.

An input goes through steps; each computes a layer or transfers its output. A stage is a run of
steps that one input must finish before the next may start it. The first input goes through all
steps, and each later one finishes one interval, the time of the longest stage, after the one
before. Tensor and pipeline parallelism differ in steps and stages:

    latency = sum(steps) + (N - 1) * interval
    traffic = N * sum(traffic bytes of the steps)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import lab3
from lab3 import RING, Network, System


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


# ------------------------------------------------ tensor parallelism


def shards_in_turn(system: System) -> int:
    """How many shards the busiest link of a collective carries, one after the other.

    all-to-all     1, because each pair of nodes has its own link
    one-way ring   P - 1: every shard but that of the node the link leads to

    One node alone sends nothing.
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
                   P * (P - 1) / 2 * S bytes: shards pass 1, 2, ... P - 1 links

    Source: handout, "Notes and assumptions".
    """
    link_bytes = shards_in_turn(system) * shard_bytes
    peers = system.nodes - 1
    moved_shards = system.nodes * peers // 2 if system.topology == RING else peers
    return Step(layer, "gather", link_bytes=link_bytes, traffic_bytes=moved_shards * shard_bytes)


def tensor_parallel_stages(network: Network, system: System) -> Stages:
    """Each node has 1 / P of each layer's filters: it computes C / P ops, which give a shard of
    S = A / P bytes. Then comes an all-gather; after the last layer, a gather on one node. Inputs
    come one by one, and the nodes work in lockstep, so all steps are one stage.

    Source: handout, "Tensor Parallelism". P must divide the filters of each layer.
    """
    lab3.check_tensor_parallel(network, system)
    steps = []
    for number, layer in enumerate(network, 1):
        steps.append(Step(number, "compute", node_ops=layer.ops // system.nodes))
        collective = all_gather if number < len(network) else gather
        steps.append(collective(number, layer.output_bytes // system.nodes, system))
    return [steps]


# ------------------------------------------------ pipeline parallelism


def pipeline_parallel_stages(network: Network, system: System) -> Stages:
    """Each layer has its own node, which computes C ops, then sends A bytes to the next layer's
    node (on a ring, its neighbour) while computing the next input. The last output stays where it
    is. Each step is a stage: C_1 / R, A_1 / B, C_2 / R, A_2 / B, ... C_L / R.

    Source: handout, "Pipeline Parallelism". Each layer needs a node.
    """
    lab3.check_pipeline_parallel(network, system)
    stages = []
    for number, layer in enumerate(network, 1):
        stages.append([Step(number, "compute", node_ops=layer.ops)])
        if number < len(network):
            sent = layer.output_bytes
            stages.append([Step(number, "send", link_bytes=sent, traffic_bytes=sent)])
    return stages
