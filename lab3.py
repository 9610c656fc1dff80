#!/usr/bin/env python3
"""How long distributed CNN inference takes, and how many bytes cross the network.

The 209AS Lab 3 handout asks for the latency and the traffic of tensor and of
pipeline parallelism, for a 4-layer FP16 CNN on 4 nodes. Symbols of the formulas:

    C  ops of a layer (1 MAC = 2 ops)      P  nodes
    A  output bytes of a layer             R  ops/s of a node
    S  bytes of a shard, A / P             B  bytes/s of a one-way link
    L  layers                              N  inputs

A shard is the part of a layer's output that one of P nodes computes. sum and max
are over all layers. Where the handout leaves a choice, it is read as follows:

    Q2's lines      the same four as Q1's; the sample repeats two of them, and lacks
                    the pipeline's traffic
    precision       activations are FP16 like the weights: 2 bytes per element
    units           10^9 for GOPS and GB/s, 1,024 bytes for KB
    initial inputs  already in the SRAM of each node that needs them, at no cost
    one by one      with tensor parallelism, an input starts when the one before is
                    done; in a pipeline, a node computes one input at a time, and
                    the next one while it sends
    transfers       start when the whole output, or a node's shard, is computed; a
                    layer starts when all of its input has arrived
    traffic         a byte counts on each link that it crosses
    final output    on one node: gathered there with tensor parallelism, computed
                    there in a pipeline
    ring            4 one-way links, one from each node to the next; a pipeline's
                    consecutive layers are on consecutive nodes
    SRAM            taken to be enough: latency and traffic do not depend on it

Every number is exact until it is printed.
"""

from __future__ import annotations

import sys
from decimal import Context, Decimal
from fractions import Fraction
from typing import Iterator, List, NamedTuple, Tuple, Union


# ------------------------------------------------ the lab
class ConvLayer(NamedTuple):
    """A convolution, stride 1, no padding or pooling: "reduced by 2" (handout, "The model")."""

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
    sram_bytes: int = 512 * 1024  # per node; latency and traffic do not depend on it
    topology: str = ALL_TO_ALL  # or RING: one-way, from each node to the next


NETWORK = (
    ConvLayer(128, 3, 3, 3, 32, 32),
    ConvLayer(128, 128, 3, 3, 30, 30),
    ConvLayer(128, 128, 3, 3, 28, 28),
    ConvLayer(128, 128, 3, 3, 26, 26),
)
SYSTEM = System()
INPUTS = 32  # for Q2


# ------------------------------------------------ tensor parallelism
# Each node has 1 / P of each layer's filters: it computes C / P ops, which give a shard of
# S = A / P bytes. The next layer needs the whole output on every node, so an all-gather sends
# each shard to the P - 1 other nodes. After the last layer, a gather sends all shards to one node.
# Source: handout, "Tensor Parallelism", "Notes and assumptions", "Objectives" and "Hints".


def tensor_parallel_latency(network: Network, system: System, inputs: int = 1) -> Fraction:
    """latency = N * (sum(C) / (P * R) + rounds * sum(A) / (P * B)) seconds

    rounds: how many shards the busiest link carries, one after the other. All-to-all, 1, because
    each node has a link of its own to each other node. On a ring, P - 1, because all shards that
    a node lacks arrive over one link. For a single node, 0.
    """
    check_tensor_parallel(network, system, inputs)
    nodes = system.nodes
    ops = sum(layer.ops for layer in network)
    output_bytes = sum(layer.output_bytes for layer in network)
    rounds = nodes - 1 if system.topology == RING else min(1, nodes - 1)
    compute_s = Fraction(ops, nodes * system.ops_per_s)
    communication_s = rounds * Fraction(output_bytes, nodes * system.link_bytes_per_s)
    return inputs * (compute_s + communication_s)


def tensor_parallel_traffic(network: Network, system: System, inputs: int = 1) -> int:
    """traffic = N * (P * (P - 1) * (S_1 + ... + S_(L-1)) + gather_hops * S_L) bytes

    An all-gather takes each of P shards over P - 1 links, on either topology. gather_hops: how
    many links the gather's shards cross, all added up. All-to-all, P - 1; on a ring,
    1 + 2 + ... + (P - 1) = P * (P - 1) / 2.
    """
    check_tensor_parallel(network, system, inputs)
    nodes = system.nodes
    shards = [layer.output_bytes // nodes for layer in network]
    gather_hops = nodes * (nodes - 1) // 2 if system.topology == RING else nodes - 1
    return inputs * (nodes * (nodes - 1) * sum(shards[:-1]) + gather_hops * shards[-1])


# ------------------------------------------------ pipeline parallelism
# Each layer has its own node, which computes C ops, then sends A bytes to the next layer's node
# (on a ring, its neighbour) while it computes its layer for the next input. The last output, A_L,
# stays where it is.
# Source: handout, "Pipeline Parallelism", "Notes and assumptions" and "Objectives".


def pipeline_parallel_latency(network: Network, system: System, inputs: int = 1) -> Fraction:
    """latency = sum(C / R) + sum(A / B) + (N - 1) * max(C / R, A / B) seconds, A_L left out

    The first input goes through all steps: L computations and L - 1 transfers. Each later input
    is done one longest step, the bottleneck, after the one before, because a node or a link works
    on one input at a time.
    """
    check_pipeline_parallel(network, system, inputs)
    compute_s = [Fraction(layer.ops, system.ops_per_s) for layer in network]
    send_s = [Fraction(layer.output_bytes, system.link_bytes_per_s) for layer in network[:-1]]
    return sum(compute_s) + sum(send_s) + (inputs - 1) * max([*compute_s, *send_s])


def pipeline_parallel_traffic(network: Network, system: System, inputs: int = 1) -> int:
    """traffic = N * (A_1 + ... + A_(L-1)) bytes"""
    check_pipeline_parallel(network, system, inputs)
    return inputs * sum(layer.output_bytes for layer in network[:-1])


# ------------------------------------------------ the answers
def answers(network: Network, system: System, inputs: int) -> str:
    """What the handout's "Deliverables" ask for: the lines of Q1, and of Q2 if it has more inputs.
    A strategy that is not possible has a line that says why.
    """
    check(network, system, inputs)
    lines = ["-----Q1 single input-----", *_answers_of(network, system, 1)]
    if inputs > 1:
        lines += [f"--------Q2 {inputs} inputs------", *_answers_of(network, system, inputs)]
    return "\n".join(lines)


def _answers_of(network: Network, system: System, inputs: int) -> Iterator[str]:
    for strategy, latency, traffic in (
        ("tensor", tensor_parallel_latency, tensor_parallel_traffic),
        ("pipeline", pipeline_parallel_latency, pipeline_parallel_traffic),
    ):
        try:
            latency_s = plain(latency(network, system, inputs))
            traffic_bytes = traffic(network, system, inputs)
        except ValueError as reason:
            yield str(reason)
        else:
            yield f"Total latency of {strategy} parallelism is {latency_s} seconds"
            yield f"Total network traffic of {strategy} parallelism is {traffic_bytes} bytes"


def plain(value: Rate, digits: int = 17) -> str:
    """The number in plain decimal notation, rounded once to this many significant digits."""
    context = Context(prec=digits)
    quotient = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{context.normalize(quotient):f}"


# ------------------------------------------------ what can be modelled
# Bounds far beyond what is real; within them, every result can be printed and fits a float.
SMALLEST, LARGEST = Fraction(1, 10**30), 10**30


def check_tensor_parallel(network: Network, system: System, inputs: int = 1) -> None:
    """Raise ValueError if check does, or if P does not divide the filters of each layer."""
    check(network, system, inputs)
    for number, layer in enumerate(network, 1):
        if layer.filters % system.nodes:
            filters = f"{layer.filters} filter{'s' * (layer.filters > 1)}"
            why = f"layer {number}'s {filters} cannot be split evenly over {system.nodes} nodes"
            raise ValueError(f"Tensor parallelism is not possible: {why}")


def check_pipeline_parallel(network: Network, system: System, inputs: int = 1) -> None:
    """Raise ValueError if check does, or if there are fewer nodes than layers."""
    check(network, system, inputs)
    if system.nodes < len(network):
        why = f"{len(network)} layers need {len(network)} nodes or more, not {system.nodes}"
        raise ValueError(f"Pipeline parallelism is not possible: {why}")


def check(network: Network, system: System, inputs: int = 1) -> None:
    """Raise ValueError with one sentence that names what cannot be modelled."""
    check_system(system)
    check_count("inputs", inputs)
    is_layer = isinstance(network, ConvLayer)  # a tuple, too
    if is_layer or not isinstance(network, (list, tuple)) or not network:
        wanted = "a list or tuple of at least one ConvLayer"
        raise ValueError(f"network: {_shown(network)} must be {wanted}")
    output = None  # of the layer before
    for number, layer in enumerate(network, 1):
        if not isinstance(layer, ConvLayer):
            raise ValueError(f"network: item {number}, {_shown(layer)}, must be a ConvLayer")
        for name, value in zip(layer._fields, layer):
            check_count(f"layer {number} {name}", value)
        needed = (layer.in_channels, layer.x, layer.y, layer.element_bytes)
        if output and needed != output:
            raise ValueError(
                f"layer {number}: in_channels, x, y, element_bytes = {needed} must be {output},"
                f" layer {number - 1}'s output (stride 1, no padding, no pooling)"
            )
        if layer.fx > layer.x or layer.fy > layer.y:
            sizes = f"fx, fy = {layer.fx}, {layer.fy} exceed x, y = {layer.x}, {layer.y}"
            raise ValueError(f"layer {number}: {sizes}")
        check_count(f"layer {number} output_bytes", layer.output_bytes)
        output = (layer.filters, layer.out_x, layer.out_y, layer.element_bytes)


def check_system(system: System) -> None:
    """Raise ValueError for what is not a System, or not one that can be modelled."""
    if not isinstance(system, System):
        raise ValueError(f"system: {_shown(system)} must be a System")
    check_count("nodes", system.nodes)
    check_count("sram_bytes", system.sram_bytes)
    for name in ("ops_per_s", "link_bytes_per_s"):
        rate = getattr(system, name)
        if type(rate) not in (int, Fraction) or not SMALLEST <= rate <= LARGEST:
            wanted = "from 10**-30 to 10**30, such as 10**9 or Fraction('2.5') * 10**9"
            raise ValueError(f"{name}: {_shown(rate)} must be an int or Fraction {wanted}")
    if system.topology not in (ALL_TO_ALL, RING):
        raise ValueError(f"topology: {_shown(system.topology)} must be {ALL_TO_ALL!r} or {RING!r}")


def check_count(name: str, value: int) -> None:
    """Raise ValueError unless the value is an int from 1 to 10^30. A float is not exact, and an
    integer of NumPy may overflow.
    """
    if type(value) is not int or not 0 < value <= LARGEST:
        raise ValueError(f"{name}: {_shown(value)} must be a positive int up to 10**30, such as 4")


def _shown(value: object) -> str:
    try:
        text = ascii(value)
    except ValueError:  # Python refuses to print ints of more than 4,300 digits
        return "an int of very many digits"
    return text if len(text) <= 40 else f"{text[:37]}..."


# ------------------------------------------------ main
def main() -> int:
    """Print the answers. Returns the exit status: 0, or 2 for an argument or wrong constants."""
    try:
        if len(sys.argv) > 1:
            raise ValueError("takes no arguments: edit its NETWORK, SYSTEM or INPUTS instead")
        print(answers(NETWORK, SYSTEM, INPUTS))
    except ValueError as error:
        print(f"lab3.py: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
