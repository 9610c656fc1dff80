#!/usr/bin/env python3
"""How long distributed CNN inference takes, and how many bytes cross the network.

The 209AS Lab 3 handout asks for the latency and the traffic of tensor and of
pipeline parallelism, for a 4-layer FP16 CNN on 4 nodes. The formulas speak of

    C  ops of a layer (1 MAC = 2 ops)      P  nodes
    A  output bytes of a layer             R  ops/s of a node
    S  bytes of a shard of it, A / P       B  bytes/s of a one-way link
    L  layers                              N  inputs

One law carries both strategies, which differ only in steps and stages:

    latency = sum(steps) + (N - 1) * interval     interval: the longest stage
    traffic = N * sum(bytes of the steps)

Every number is exact, bytes and seconds alike, until it is printed.
"""

from __future__ import annotations

import sys
from decimal import Context, Decimal
from fractions import Fraction
from typing import Iterable, List, NamedTuple, Sequence, Union


# ------------------------------------------------ the lab
class ConvLayer(NamedTuple):
    """A convolution, stride 1, no padding, no pooling (handout, "The model")."""

    filters: int
    in_channels: int
    fx: int  # width and height of a filter
    fy: int
    x: int  # width and height of the input
    y: int
    element_bytes: int = 2  # FP16

    @property
    def out_x(self) -> int:
        """x - fx + 1: "reduced by 2" for a filter of 3"""
        return self.x - self.fx + 1

    @property
    def out_y(self) -> int:
        """y - fy + 1"""
        return self.y - self.fy + 1

    @property
    def weights(self) -> int:
        """filters * in_channels * fx * fy"""
        return self.filters * self.in_channels * self.fx * self.fy

    @property
    def macs(self) -> int:
        """weights * out_x * out_y: each weight at each place of the output"""
        return self.weights * self.out_x * self.out_y

    @property
    def ops(self) -> int:
        """C = 2 * macs"""
        return 2 * self.macs

    @property
    def weight_bytes(self) -> int:
        """weights * element_bytes"""
        return self.weights * self.element_bytes

    @property
    def input_bytes(self) -> int:
        """in_channels * x * y * element_bytes"""
        return self.in_channels * self.x * self.y * self.element_bytes

    @property
    def output_bytes(self) -> int:
        """A = filters * out_x * out_y * element_bytes"""
        return self.filters * self.out_x * self.out_y * self.element_bytes


ALL_TO_ALL, RING = "all-to-all", "ring"
Rate = Union[int, Fraction]
Network = Sequence[ConvLayer]


class System(NamedTuple):
    """Nodes joined by one-way links (handout, "The hardware")."""

    nodes: int = 4
    ops_per_s: Rate = 50 * 10**9  # of a node
    link_bytes_per_s: Rate = 2 * 10**9  # of a link
    sram_bytes: int = 512 * 1024  # of a node; no latency or traffic depends on it
    topology: str = ALL_TO_ALL  # or RING, one-way


NETWORK = (
    ConvLayer(128, 3, 3, 3, 32, 32),
    ConvLayer(128, 128, 3, 3, 30, 30),
    ConvLayer(128, 128, 3, 3, 28, 28),
    ConvLayer(128, 128, 3, 3, 26, 26),
)
SYSTEM = System()
INPUTS = 32  # of Q2


# ------------------------------------------------ the law
class Step(NamedTuple):
    """The computation of a layer, or the transfer of its output, for one input."""

    layer: int  # counted from 1
    work: str  # "compute", "all-gather", "gather" or "send"
    node_ops: int = 0  # what each of its nodes computes
    link_bytes: int = 0  # what the busiest link carries
    traffic_bytes: int = 0  # what all links carry


Stages = List[List[Step]]


def duration(steps: Iterable[Step], system: System) -> Fraction:
    """duration = sum(node ops / R + link bytes / B) seconds, one step after the other"""
    _check_system(system)
    rate, link = system.ops_per_s, system.link_bytes_per_s
    steps_s = (Fraction(step.node_ops) / rate + Fraction(step.link_bytes) / link for step in steps)
    return sum(steps_s, Fraction(0))


def latency(stages: Iterable[Iterable[Step]], system: System, inputs: int = 1) -> Fraction:
    """latency = sum(steps) + (N - 1) * interval seconds; interval: the longest stage

    A stage is consecutive steps on the same nodes and links: it takes the next input
    when all of them are done. The first input goes through all steps; each later one
    finishes one interval, the time of the bottleneck stage, after the one before.
    """
    _check_count("inputs", inputs)
    stages_s = [duration(stage, system) for stage in stages]
    _check_any(stages_s)
    return sum(stages_s) + (inputs - 1) * max(stages_s)


def traffic(stages: Iterable[Iterable[Step]], inputs: int = 1) -> int:
    """traffic = N * sum(traffic bytes) over all steps"""
    _check_count("inputs", inputs)
    stages_bytes = [sum(step.traffic_bytes for step in stage) for stage in stages]
    _check_any(stages_bytes)
    return inputs * sum(stages_bytes)


# ------------------------------------------------ tensor parallelism
def shards_in_turn(system: System) -> int:
    """How many shards the busiest link of a collective carries, one after the other.

    all-to-all     1, as each node sends to all its peers at once
    one-way ring   P - 1, as a shard is passed on until it has reached all

    One node alone sends nothing.
    """
    peers = system.nodes - 1
    return peers if system.topology == RING else min(peers, 1)


def all_gather(layer: int, shard_bytes: int, system: System) -> Step:
    """All-gather: every node starts with a shard S and ends with all P of them.

    all-to-all     S / B seconds
    one-way ring   (P - 1) * S / B seconds
    both           P * (P - 1) * S bytes, as each node lacks P - 1 shards

    Source: handout, "Hints".
    """
    link_bytes = shards_in_turn(system) * shard_bytes
    traffic_bytes = system.nodes * (system.nodes - 1) * shard_bytes
    return Step(layer, "all-gather", link_bytes=link_bytes, traffic_bytes=traffic_bytes)


def gather(layer: int, shard_bytes: int, system: System) -> Step:
    """Gather: every node starts with a shard S and one ends with all P of them.

    all-to-all     S / B seconds, (P - 1) * S bytes
    one-way ring   (P - 1) * S / B seconds, as the last link carries P - 1 shards,
                   P * (P - 1) / 2 * S bytes, as they pass 1, 2, ... P - 1 links

    Source: handout, "Notes and assumptions".
    """
    peers = system.nodes - 1
    moved_shards = system.nodes * peers // 2 if system.topology == RING else peers
    link_bytes = shards_in_turn(system) * shard_bytes
    return Step(layer, "gather", link_bytes=link_bytes, traffic_bytes=moved_shards * shard_bytes)


def tensor_parallel_stages(network: Network, system: System) -> Stages:
    """Every node has 1 / P of the filters of each layer: C / P ops per node; then an
    all-gather of shards S = A / P, after the last layer a gather on one node.
    All steps are one stage, because inputs are "processed one by one": the next one
    starts when the one before is done.

    Source: handout, "Tensor Parallelism". P must divide the filters of each layer.
    """
    check(network, system)
    steps = []
    for number, layer in enumerate(network, 1):
        if layer.filters % system.nodes:
            why = f"{system.nodes} nodes do not divide layer {number}'s {layer.filters} filters"
            raise ValueError(f"Tensor parallelism is not possible: {why}")
        steps.append(Step(number, "compute", node_ops=layer.ops // system.nodes))
        collective = all_gather if number < len(network) else gather
        steps.append(collective(number, layer.output_bytes // system.nodes, system))
    return [steps]


def tensor_parallel_latency(network: Network, system: System, inputs: int = 1) -> Fraction:
    """N * sum(C / (P * R) + S / B) seconds; on a ring (P - 1) * S / B; one node sends nothing"""
    return latency(tensor_parallel_stages(network, system), system, inputs)


def tensor_parallel_traffic(network: Network, system: System, inputs: int = 1) -> int:
    """N * (P - 1) * (P * (S_1 + ... + S_(L-1)) + S_L) bytes; on a ring S_L counts P / 2 times"""
    return traffic(tensor_parallel_stages(network, system), inputs)


# ------------------------------------------------ pipeline parallelism
def pipeline_parallel_stages(network: Network, system: System) -> Stages:
    """Each layer has a node, which computes C ops and sends the whole output, A bytes,
    to the next layer's node on a link of its own, on a ring to its neighbour, while it
    works on. The last output stays where it is. Each step is a stage: C_1 / R, A_1 / B,
    C_2 / R, A_2 / B, ... C_L / R.

    Source: handout, "Pipeline Parallelism". Each layer needs a node.
    """
    check(network, system)
    if system.nodes < len(network):
        why = f"{len(network)} layers need {len(network)} nodes or more, not {system.nodes}"
        raise ValueError(f"Pipeline parallelism is not possible: {why}")
    stages = []
    for number, layer in enumerate(network, 1):
        stages.append([Step(number, "compute", node_ops=layer.ops)])
        if number < len(network):
            sent = layer.output_bytes
            stages.append([Step(number, "send", link_bytes=sent, traffic_bytes=sent)])
    return stages


def pipeline_parallel_latency(network: Network, system: System, inputs: int = 1) -> Fraction:
    """sum(C / R) + sum(A / B) + (N - 1) * max(C / R, A / B) seconds, A without A_L"""
    return latency(pipeline_parallel_stages(network, system), system, inputs)


def pipeline_parallel_traffic(network: Network, system: System, inputs: int = 1) -> int:
    """N * (A_1 + ... + A_(L-1)) bytes"""
    return traffic(pipeline_parallel_stages(network, system), inputs)


# ------------------------------------------------ the answers
FORMULAS = {
    "tensor": (tensor_parallel_latency, tensor_parallel_traffic),
    "pipeline": (pipeline_parallel_latency, pipeline_parallel_traffic),
}


def answers(network: Network, system: System, inputs: int) -> str:
    """Q1 and Q2 as the handout's "Deliverables" ask; why, where a strategy is not possible."""
    check(network, system, inputs)
    lines = []
    for count in sorted({1, inputs}):
        q1, q2 = "-----Q1 single input-----", f"--------Q2 {count} inputs------"
        lines.append(q1 if count == 1 else q2)
        for strategy, (latency_of, traffic_of) in FORMULAS.items():
            try:
                seconds = plain(latency_of(network, system, count))
                sent_bytes = traffic_of(network, system, count)
            except ValueError as reason:
                lines.append(str(reason))
            else:
                lines.append(f"Total latency of {strategy} parallelism is {seconds} seconds")
                lines.append(
                    f"Total network traffic of {strategy} parallelism is {sent_bytes} bytes"
                )
    return "\n".join(lines)


def plain(value: Rate, digits: int = 17) -> str:
    """The number in plain decimal notation, rounded once to so many significant digits."""
    context = Context(prec=digits)
    quotient = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{context.normalize(quotient):f}"


# ------------------------------------------------ what can be modelled
# A message shows a value as {value!a:.40}: in ASCII, and cut where it is long.
def check(network: Network, system: System, inputs: int = 1) -> None:
    """Raise ValueError with one sentence that names what cannot be modelled."""
    _check_system(system)
    _check_count("inputs", inputs)
    if not isinstance(network, (list, tuple)) or isinstance(network, ConvLayer) or not network:
        raise ValueError(f"network: {network!a:.40} must be a list or tuple of ConvLayers")
    shape = None  # that the layer before gives
    for number, layer in enumerate(network, 1):
        if not isinstance(layer, ConvLayer):
            raise ValueError(f"network: item {number}, {layer!a:.40}, must be a ConvLayer")
        for name, value in layer._asdict().items():
            _check_count(f"layer {number} {name}", value)
        needed = (layer.in_channels, layer.x, layer.y, layer.element_bytes)
        if number > 1 and needed != shape:
            raise ValueError(
                f"layer {number}: in_channels, x, y, element_bytes = {needed} do not match "
                f"layer {number - 1}'s output, {shape} (stride 1, no padding, no pooling)"
            )
        if layer.fx > layer.x or layer.fy > layer.y:
            sizes = f"fx, fy = {layer.fx}, {layer.fy} exceed x, y = {layer.x}, {layer.y}"
            raise ValueError(f"layer {number}: {sizes}")
        shape = (layer.filters, layer.out_x, layer.out_y, layer.element_bytes)


def _check_system(system: System) -> None:
    if not isinstance(system, System):
        raise ValueError(f"system: {system!a:.40} must be a System")
    _check_count("nodes", system.nodes)
    _check_rate("ops_per_s", system.ops_per_s)
    _check_rate("link_bytes_per_s", system.link_bytes_per_s)
    _check_count("sram_bytes", system.sram_bytes)
    if system.topology not in (ALL_TO_ALL, RING):
        raise ValueError(f"topology: {system.topology!a:.40} must be {ALL_TO_ALL} or {RING}")


def _check_any(found: Sequence[Rate]) -> None:
    if not found:
        raise ValueError("stages: there must be one or more")


def _check_count(name: str, value: int) -> None:
    # just int: a float is not exact, and NumPy's int64 overflows silently
    if type(value) is not int or value <= 0:
        raise ValueError(f"{name}: {value!a:.40} must be a positive int, such as int(4)")


def _check_rate(name: str, value: Rate) -> None:
    if type(value) not in (int, Fraction) or value <= 0:
        wanted = "a positive int or Fraction, such as 10**9 or Fraction('0.1')"
        raise ValueError(f"{name}: {value!a:.40} must be {wanted}")


# ------------------------------------------------ main
def main() -> int:
    """Print the lab's answers. Returns the exit status: 0, or 2 for what cannot be modelled."""
    try:
        if len(sys.argv) > 1:
            where = "change the constants at the top of this file"
            more = "or see `python3 report` in the project"
            raise ValueError(f"takes no arguments; for other numbers {where}, {more}")
        print(answers(NETWORK, SYSTEM, INPUTS))
    except ValueError as error:
        print(f"lab3.py: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
