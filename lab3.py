#!/usr/bin/env python3
"""How long distributed CNN inference takes, and how many bytes cross the network.

The 209AS Lab 3 handout asks for the latency and the traffic of tensor and of
pipeline parallelism, for a 4-layer FP16 CNN on 4 nodes. The formulas speak of

    C  ops of a layer (1 MAC = 2 ops)      P  nodes
    A  output bytes of a layer             R  ops/s of a node
    S  bytes of a shard, A / P             B  bytes/s of a one-way link
    L  layers                              N  inputs

A shard is the part of a layer's output that one of the P nodes computes. A
collective is a transfer in which all nodes take part: each sends its shard to
all others (all-gather), or to one node (gather).

An input goes through steps; each computes a layer or transfers its output.
Consecutive steps that occupy the same nodes and links are a stage; it takes the
next input when all of them are done. The first input goes through all steps, and
each later one finishes one interval, the time of the longest stage, after the
one before. One law carries both strategies, which differ in steps and stages:

    latency = sum(steps) + (N - 1) * interval
    traffic = N * sum(bytes of the steps)

Every number is exact, bytes and seconds alike, until it is printed.
"""

from __future__ import annotations

import sys
from decimal import Context, Decimal
from fractions import Fraction
from typing import Iterable, Iterator, List, NamedTuple, Sequence, Tuple, Union


# ------------------------------------------------ the lab
class ConvLayer(NamedTuple):
    """A convolution, stride 1, no padding, no pooling (handout, "The model")."""

    filters: int
    in_channels: int
    fx: int  # width of a filter
    fy: int  # height of a filter
    x: int  # width of the input
    y: int  # height of the input
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
Network = Union[List[ConvLayer], Tuple[ConvLayer, ...]]


class System(NamedTuple):
    """Nodes joined by one-way links (handout, "The hardware")."""

    nodes: int = 4
    ops_per_s: Rate = 50 * 10**9  # per node
    link_bytes_per_s: Rate = 2 * 10**9  # per link
    sram_bytes: int = 512 * 1024  # per node; affects what fits, not latency or traffic
    topology: str = ALL_TO_ALL  # or RING: one-way, from each node to the next


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
    node_ops: int = 0  # that each of its nodes computes
    link_bytes: int = 0  # that the busiest link carries
    traffic_bytes: int = 0  # that all links carry together


Stages = List[List[Step]]


def duration(steps: Iterable[Step], system: System) -> Fraction:
    """time of steps = sum(node ops) / R + sum(link bytes) / B seconds, one after the other"""
    _check_system(system)
    node_ops = link_bytes = 0
    for step in steps:
        node_ops += step.node_ops
        link_bytes += step.link_bytes
    return Fraction(node_ops, system.ops_per_s) + Fraction(link_bytes, system.link_bytes_per_s)


def latency(stages: Iterable[Iterable[Step]], system: System, inputs: int = 1) -> Fraction:
    """latency = sum(steps) + (N - 1) * interval seconds; interval: the longest stage

    A stage is consecutive steps that occupy the same nodes and links; it takes the next
    input when all of them are done. The first input goes through all steps; each later
    one finishes one interval, the time of the bottleneck stage, after the one before.
    """
    _check_count("inputs", inputs)
    stages_s = [duration(stage, system) for stage in stages]
    _check_stages(stages_s)
    return sum(stages_s) + (inputs - 1) * max(stages_s)


def traffic(stages: Iterable[Iterable[Step]], inputs: int = 1) -> int:
    """traffic = N * sum(traffic bytes) over all steps"""
    _check_count("inputs", inputs)
    stages_bytes = [sum(step.traffic_bytes for step in stage) for stage in stages]
    _check_stages(stages_bytes)
    return inputs * sum(stages_bytes)


# ------------------------------------------------ tensor parallelism
def shards_in_turn(system: System) -> int:
    """How many shards the busiest link of a collective carries, one after the other.

    all-to-all     1, because each pair of nodes has its own link
    one-way ring   P - 1: every shard but that of the node the link leads to

    One node alone sends nothing.
    """
    _check_system(system)
    peers = system.nodes - 1
    return peers if system.topology == RING else min(peers, 1)


def all_gather(layer: int, shard_bytes: int, system: System) -> Step:
    """All-gather: every node starts with a shard S and ends with all P of them.

    all-to-all     S / B seconds
    one-way ring   (P - 1) * S / B seconds
    both           P * (P - 1) * S bytes, because each node lacks P - 1 shards

    Source: handout, "Hints".
    """
    _check_count("shard_bytes", shard_bytes)
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
    _check_count("shard_bytes", shard_bytes)
    link_bytes = shards_in_turn(system) * shard_bytes
    peers = system.nodes - 1
    moved_shards = system.nodes * peers // 2 if system.topology == RING else peers
    return Step(layer, "gather", link_bytes=link_bytes, traffic_bytes=moved_shards * shard_bytes)


def tensor_parallel_stages(network: Network, system: System) -> Stages:
    """Each node has 1 / P of each layer's filters: it computes C / P ops, which give a
    shard of S = A / P bytes. Then comes an all-gather; after the last layer, a gather
    on one node. All steps are one stage, because inputs are "processed one by one":
    the next one starts when the one before is done.

    Source: handout, "Tensor Parallelism". P must divide the filters of each layer.
    """
    check(network, system)
    steps = []
    for number, layer in enumerate(network, 1):
        if layer.filters % system.nodes:
            filters = f"{layer.filters} filter{'s' * (layer.filters > 1)}"
            why = f"layer {number}'s {filters} cannot be split evenly over {system.nodes} nodes"
            raise ValueError(f"Tensor parallelism is not possible: {why}")
        steps.append(Step(number, "compute", node_ops=layer.ops // system.nodes))
        collective = all_gather if number < len(network) else gather
        steps.append(collective(number, layer.output_bytes // system.nodes, system))
    return [steps]


def tensor_parallel_latency(network: Network, system: System, inputs: int = 1) -> Fraction:
    """latency = N * sum(C / (P * R) + S / B) seconds

    On a ring, S / B becomes (P - 1) * S / B. One node alone sends nothing.
    """
    return latency(tensor_parallel_stages(network, system), system, inputs)


def tensor_parallel_traffic(network: Network, system: System, inputs: int = 1) -> int:
    """traffic = N * (P - 1) * (P * (S_1 + ... + S_(L-1)) + S_L) bytes

    On a ring, S_L becomes P / 2 * S_L.
    """
    return traffic(tensor_parallel_stages(network, system), inputs)


# ------------------------------------------------ pipeline parallelism
def pipeline_parallel_stages(network: Network, system: System) -> Stages:
    """Each layer has its own node, which computes C ops, then sends A bytes to the next
    layer's node (on a ring, its neighbour) while computing the next input. The last
    output stays where it is. Each step is a stage: C_1 / R, A_1 / B, C_2 / R, A_2 / B,
    ... C_L / R.

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
    """latency = sum(C / R) + sum(A / B) + (N - 1) * max(C / R, A / B) seconds

    The last output, A_L, is not sent.
    """
    return latency(pipeline_parallel_stages(network, system), system, inputs)


def pipeline_parallel_traffic(network: Network, system: System, inputs: int = 1) -> int:
    """traffic = N * (A_1 + ... + A_(L-1)) bytes"""
    return traffic(pipeline_parallel_stages(network, system), inputs)


# ------------------------------------------------ the answers
LATENCY_AND_TRAFFIC = {
    "tensor": (tensor_parallel_latency, tensor_parallel_traffic),
    "pipeline": (pipeline_parallel_latency, pipeline_parallel_traffic),
}


def answers(network: Network, system: System, inputs: int) -> str:
    """Q1 and Q2 as the handout's "Deliverables" ask; if a strategy is not possible, why."""
    check(network, system, inputs)
    lines = ["-----Q1 single input-----", *_answers_of(network, system, 1)]
    if inputs > 1:
        lines += [f"--------Q2 {inputs} inputs------", *_answers_of(network, system, inputs)]
    return "\n".join(lines)


def _answers_of(network: Network, system: System, inputs: int) -> Iterator[str]:
    for strategy, (latency_of, traffic_of) in LATENCY_AND_TRAFFIC.items():
        try:
            latency_s = latency_of(network, system, inputs)
            traffic_bytes = traffic_of(network, system, inputs)
        except ValueError as reason:
            yield str(reason)
        else:
            yield f"Total latency of {strategy} parallelism is {plain(latency_s)} seconds"
            yield f"Total network traffic of {strategy} parallelism is {traffic_bytes} bytes"


def plain(value: Rate, digits: int = 17) -> str:
    """The number in plain decimal notation, rounded once to so many significant digits."""
    context = Context(prec=digits)
    quotient = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{context.normalize(quotient):f}"


# ------------------------------------------------ what can be modelled
# Bounds far from what is real: within them every result can be printed, and be a float.
SMALLEST, LARGEST = Fraction(1, 10**30), 10**30


def check(network: Network, system: System, inputs: int = 1) -> None:
    """Raise ValueError with one sentence that names what cannot be modelled."""
    _check_system(system)
    _check_count("inputs", inputs)
    if not isinstance(network, (list, tuple)) or isinstance(network, ConvLayer) or not network:
        wanted = "a list or tuple of at least one ConvLayer"
        raise ValueError(f"network: {shown(network)} must be {wanted}")
    shape = None  # of the output of the layer before
    for number, layer in enumerate(network, 1):
        if not isinstance(layer, ConvLayer):
            raise ValueError(f"network: item {number}, {shown(layer)}, must be a ConvLayer")
        for name, value in zip(layer._fields, layer):
            _check_count(name, value, number)
        needed = (layer.in_channels, layer.x, layer.y, layer.element_bytes)
        if shape and needed != shape:
            raise ValueError(
                f"layer {number}: in_channels, x, y, element_bytes = {needed} do not match "
                f"layer {number - 1}'s output, {shape} (stride 1, no padding, no pooling)"
            )
        if layer.fx > layer.x or layer.fy > layer.y:
            sizes = f"fx, fy = {layer.fx}, {layer.fy} exceed x, y = {layer.x}, {layer.y}"
            raise ValueError(f"layer {number}: {sizes}")
        _check_count("output_bytes", layer.output_bytes, number)
        shape = (layer.filters, layer.out_x, layer.out_y, layer.element_bytes)


def _check_system(system: System) -> None:
    if not isinstance(system, System):
        raise ValueError(f"system: {shown(system)} must be a System")
    _check_count("nodes", system.nodes)
    _check_rate("ops_per_s", system.ops_per_s)
    _check_rate("link_bytes_per_s", system.link_bytes_per_s)
    _check_count("sram_bytes", system.sram_bytes)
    if system.topology not in (ALL_TO_ALL, RING):
        raise ValueError(f"topology: {shown(system.topology)} must be {ALL_TO_ALL} or {RING}")


def _check_stages(found: Sequence[Rate]) -> None:
    if not found:
        raise ValueError("stages: there must be at least one")


def _check_count(name: str, value: int, layer: int = 0) -> None:
    # just int: a float is not exact, and NumPy's int64 overflows silently
    if type(value) is not int or not 0 < value <= LARGEST:
        whose = f"layer {layer} {name}" if layer else name
        wanted = "a positive int up to 10**30, such as int(4)"
        raise ValueError(f"{whose}: {shown(value)} must be {wanted}")


def _check_rate(name: str, value: Rate) -> None:
    if type(value) not in (int, Fraction) or not SMALLEST <= value <= LARGEST:
        wanted = "an int or Fraction from 10**-30 to 10**30, such as 10**9 or Fraction('0.1')"
        raise ValueError(f"{name}: {shown(value)} must be {wanted}")


def shown(value: object) -> str:
    """A value in an error message: one line of ASCII, a text in quotes even if it is cut."""
    try:
        text = ascii(value)
    except ValueError:  # Python prints no int of more than 4,300 digits
        return "an int of very many digits"
    start = ascii(value[:30]) if isinstance(value, str) else text[:30]
    return text if len(text) <= 40 else f"{start}..."


# ------------------------------------------------ main
def main() -> int:
    """Print the lab's answers. Returns the exit status: 0, or 2 for what cannot be modelled."""
    if len(sys.argv) > 1:
        how = "change NETWORK, SYSTEM or INPUTS in it, or see `python3 report` in the project"
        return _refuse(f"takes no arguments; for other numbers {how}")
    try:
        print(answers(NETWORK, SYSTEM, INPUTS))
    except ValueError as error:
        return _refuse(str(error))
    return 0


def _refuse(why: str) -> int:
    print(f"lab3.py: error: {why}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
