"""The closed forms of lab3.py layer by layer: what is computed and sent for one input.

Both strategies take an input through steps, one after the other. Each step computes a layer or
transfers its output, and takes ops of a node / R + bytes of the busiest link / B seconds. A network
and a system are expected to have passed report/question.py: the strategy is possible.
"""

from fractions import Fraction
from typing import NamedTuple

import lab3
from lab3 import Network, System


class Step(NamedTuple):
    """The computation of a layer, or the transfer of its output, for one input."""

    layer: int  # counted from 1
    work: str  # "compute", "all-gather", "gather" or "send"
    node_ops: int  # that each node at work computes
    link_bytes: int  # that the busiest link carries
    traffic_bytes: int  # that all links carry together
    time_s: Fraction


# ------------------------------------------------ the strategies


def tensor_steps(network: Network, system: System) -> list[Step]:
    """List tensor parallelism's steps: for each layer, compute C / P ops on every node, then
    all-gather the shards S = A / P; after the last layer, gather them. All nodes wait for each
    other, so the next input starts when this one is done.

    Source: handout, "Tensor Parallelism", "Notes and assumptions" and "Hints".
    """
    steps = []
    for number, layer in enumerate(network, 1):
        steps.append(compute_layer(number, layer.ops // system.nodes, system))
        if system.nodes > 1:
            exchange = all_gather if number < len(network) else gather
            steps.append(exchange(number, layer.output_bytes // system.nodes, system))
    return steps


def pipeline_steps(network: Network, system: System) -> list[Step]:
    """List the pipeline's steps: layer l computes C ops on node l, then sends A bytes to node
    l + 1, but not after the last layer. A node computes the next input while its output travels.

    Source: handout, "Pipeline Parallelism" and "Notes and assumptions".
    """
    steps = []
    for number, layer in enumerate(network, 1):
        steps.append(compute_layer(number, layer.ops, system))
        if number < len(network):
            steps.append(transfer("send", number, layer.output_bytes, layer.output_bytes, system))
    return steps


STRATEGIES = {"tensor": tensor_steps, "pipeline": pipeline_steps}


def find_interval(strategy: str, steps: list[Step]) -> Fraction:
    """Find the seconds from one output to the next: with tensor parallelism the time of all steps,
    because all nodes work on one input; in a pipeline that of the longest step, the bottleneck."""
    times_s = [step.time_s for step in steps]
    return Fraction(sum(times_s) if strategy == "tensor" else max(times_s))


def name_place(strategy: str, step: Step) -> str:
    """Name where a step is done: "all nodes", "all links", "node 2" or "link 2 to 3"."""
    if step.work == "compute":
        return "all nodes" if strategy == "tensor" else f"node {step.layer}"
    return "all links" if strategy == "tensor" else f"link {step.layer} to {step.layer + 1}"


def compute_layer(layer: int, node_ops: int, system: System) -> Step:
    """Make the step in which nodes compute: node_ops / R seconds, no bytes."""
    return Step(layer, "compute", node_ops, 0, 0, Fraction(node_ops) / system.ops_per_s)


def transfer(work: str, layer: int, link_bytes: int, traffic_bytes: int, system: System) -> Step:
    """Make a step that sends: link_bytes / B seconds, because links work at the same time."""
    time_s = Fraction(link_bytes) / system.link_bytes_per_s
    return Step(layer, work, 0, link_bytes, traffic_bytes, time_s)


# ------------------------------------------------ messages between all nodes


def all_gather(layer: int, shard_bytes: int, system: System) -> Step:
    """Send each of P shards S to all nodes: every node starts with one and ends with all of them.

    all-to-all     S / B seconds
    one-way ring   (P - 1) * S / B seconds
    both           P * (P - 1) * S bytes, because each node lacks P - 1 shards
    """
    traffic_bytes = system.nodes * (system.nodes - 1) * shard_bytes
    return transfer("all-gather", layer, count_rounds(system) * shard_bytes, traffic_bytes, system)


def gather(layer: int, shard_bytes: int, system: System) -> Step:
    """Send each of P shards S to one node: every node starts with one, and one ends with them all.

    all-to-all     S / B seconds, (P - 1) * S bytes
    one-way ring   (P - 1) * S / B seconds: the last link carries P - 1 shards,
                   P * (P - 1) / 2 * S bytes: shards cross 1, 2, ... P - 1 links
    """
    traffic_bytes = count_gather_hops(system) * shard_bytes
    return transfer("gather", layer, count_rounds(system) * shard_bytes, traffic_bytes, system)


def count_rounds(system: System) -> int:
    """Count the shards that the busiest link carries, one after the other: all-to-all 1, because
    each node has a link of its own to each other node; on a ring P - 1, all that a node lacks."""
    return system.nodes - 1 if system.topology == lab3.RING else min(1, system.nodes - 1)


def count_gather_hops(system: System) -> int:
    """Count the links that the shards of a gather cross, all added up."""
    others = range(1, system.nodes)
    return sum(others) if system.topology == lab3.RING else len(others)


# ------------------------------------------------ bounds


def compute_bound(network: Network, system: System, inputs: int = 1) -> Fraction:
    """Compute the lower bound, N * sum(C) / (P * R) seconds. No schedule takes less, because each
    input costs sum(C) ops, 2 per MAC as in the handout, and P nodes do at most R ops/s each."""
    ops = sum(layer.ops for layer in network)
    return Fraction(inputs * ops) / (system.nodes * system.ops_per_s)


def slowest_node_bound(network: Network, system: System, inputs: int = 1) -> Fraction:
    """Compute a pipeline's lower bound, N * max(C / R) seconds: what its slowest node computes."""
    return Fraction(inputs * max(layer.ops for layer in network)) / system.ops_per_s
