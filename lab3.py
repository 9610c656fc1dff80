#!/usr/bin/env python3
"""How long distributed CNN inference takes, and how many bytes cross the network.

The 209AS Lab 3 handout asks for the latency and the traffic of tensor and of
pipeline parallelism, for a 4-layer FP16 CNN on 4 nodes. Symbols of formulas:

    C  ops of a layer (1 MAC = 2 ops)      P  nodes
    A  output bytes of a layer             R  ops/s of a node
    S  bytes of a shard, A / P             B  bytes/s of a one-way link
    L  layers                              N  inputs

A shard is the part of a layer's output that one of P nodes computes. sum and
max are over all layers. Where the handout leaves a choice, it is read as
follows:

    Q2's lines      the same four as Q1's; the sample repeats two of them, and
                    lacks the pipeline's traffic
    layers          stride 1, no padding, no pooling: a filter of 3 x 3 leaves x and
                    y "reduced by 2"
    precision       activations are FP16 like the weights: in the lab, 2 bytes per
                    element
    units           10^9 for GOPS and GB/s, 1,024 bytes for KB
    initial inputs  each is in the SRAM of every node that needs it when it is
                    needed, at no cost (in the lab, all 32 would not fit in
                    every node with tensor parallelism)
    one by one      with tensor parallelism, an input starts when the one before
                    is done; in a pipeline, a node computes one input at a time,
                    and the next one while it sends
    transfers       start when the whole output, or a node's shard, is computed;
                    a layer starts when all of its input has arrived
    traffic         a byte counts on each link that it crosses
    final output    on one node: gathered there with tensor parallelism,
                    computed there in a pipeline
    ring            one one-way link from each node to the next: 4 in the lab; a
                    pipeline's consecutive layers are on consecutive nodes
    SRAM            assumed to be enough; latency and traffic do not depend on it

Every number is exact until it is printed.
"""

import sys
from decimal import Context, Decimal
from fractions import Fraction
from typing import Iterator, List, NamedTuple, Tuple, Union


# ------------------------------------------------ the lab
class ConvLayer(NamedTuple):
    """A convolution, stride 1, no padding or pooling (handout, "The model")."""

    filters: int
    in_channels: int
    fx: int  # width of a filter
    fy: int  # height of a filter
    x: int  # width of the input
    y: int  # height of the input
    element_bytes: int = 2  # FP16

    # Each weight is multiplied once at each place of the output: a MAC. C is ops, A output_bytes.

    @property
    def out_x(self) -> int:
        return self.x - self.fx + 1

    @property
    def out_y(self) -> int:
        return self.y - self.fy + 1

    @property
    def weights(self) -> int:
        return self.filters * self.in_channels * self.fx * self.fy

    @property
    def macs(self) -> int:
        return self.weights * self.out_x * self.out_y

    @property
    def ops(self) -> int:
        return 2 * self.macs

    @property
    def weight_bytes(self) -> int:
        return self.weights * self.element_bytes

    @property
    def input_bytes(self) -> int:
        return self.in_channels * self.x * self.y * self.element_bytes

    @property
    def output_bytes(self) -> int:
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
# Each node has 1 / P of each layer's filters: it computes C / P ops; the result is a shard of
# S = A / P bytes. The next layer needs the whole output on every node, so an all-gather sends
# each shard to the P - 1 other nodes. After the last layer, a gather sends P - 1 shards to one
# node, which has its own.
# Source: handout, "Tensor Parallelism", "Notes and assumptions", "Objectives" and "Hints".


def tensor_parallel_latency(network: Network, system: System, inputs: int = 1) -> Fraction:
    """latency = N * (sum(C) / (P * R) + rounds * sum(S) / B) seconds

    rounds = 1 all-to-all, P - 1 on a ring, 0 for a single node

    rounds: how many shards the busiest link carries, one after the other. All-to-all, each node
    has a link of its own to each other node. On a ring, all P - 1 shards that a node lacks arrive
    over one link.
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

    gather_hops = P - 1 all-to-all, P * (P - 1) / 2 on a ring

    In an all-gather each of the P shards crosses P - 1 links, on either topology. gather_hops: how
    many links the shards of the last layer's gather cross, all added up: on a ring, 1, 2, ...,
    P - 1.
    """
    check_tensor_parallel(network, system, inputs)
    nodes = system.nodes
    shards = [layer.output_bytes // nodes for layer in network]
    gather_hops = nodes * (nodes - 1) // 2 if system.topology == RING else nodes - 1
    return inputs * (nodes * (nodes - 1) * sum(shards[:-1]) + gather_hops * shards[-1])


# ------------------------------------------------ pipeline parallelism
# Each layer has its own node, which computes C ops, then sends A bytes to the next layer's node
# (on a ring, its neighbour) while it computes its layer for the next input. The last output stays
# where it is.
# Source: handout, "Pipeline Parallelism", "Notes and assumptions" and "Objectives".


def pipeline_parallel_latency(network: Network, system: System, inputs: int = 1) -> Fraction:
    """latency = sum(C / R) + sum(A / B) + (N - 1) * max(C / R, A / B) seconds, A_L left out

    A_L, the last output, is not sent. The first input goes through all steps: L computations and
    L - 1 transfers. Each later input is done one interval after the one before it. The interval is
    the time of the longest step, the bottleneck, because a node or a link works on one input at a
    time.
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
    """The lines that the handout's "Deliverables" asks for: Q1's, and Q2's if there are several
    inputs. For an impossible strategy, one line says why.
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


def plain(value: Union[Rate, float], digits: int = 17) -> str:
    """The number in plain decimal notation, rounded once to this many significant digits."""
    context, exact = Context(prec=digits), Fraction(value)
    quotient = context.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    return f"{context.normalize(quotient):f}"


# ------------------------------------------------ what can be modelled
def check_tensor_parallel(network: Network, system: System, inputs: int = 1) -> None:
    """Raise ValueError if check does, or if P does not divide the filters of each layer."""
    check(network, system, inputs)
    for number, layer in enumerate(network, 1):
        if layer.filters % system.nodes:
            filters = f"{layer.filters:,} filter{'s' * (layer.filters > 1)}"
            why = f"layer {number}'s {filters} cannot be split evenly over {system.nodes:,} nodes"
            raise ValueError(f"Tensor parallelism is not possible: {why}")


def check_pipeline_parallel(network: Network, system: System, inputs: int = 1) -> None:
    """Raise ValueError if check does, or if there are fewer nodes than layers."""
    check(network, system, inputs)
    if system.nodes < len(network):
        layers = f"{len(network):,}"
        why = f"{layers} layers need {layers} nodes or more, not {system.nodes:,}"
        raise ValueError(f"Pipeline parallelism is not possible: {why}")


def check(network: Network, system: System, inputs: int = 1) -> None:
    """Raise ValueError with one sentence that names what is wrong and what would be right."""
    is_sequence = isinstance(network, (list, tuple)) and len(network) > 0
    if not is_sequence or not all(isinstance(layer, ConvLayer) for layer in network):
        wanted = "a list or tuple of ConvLayers (a tuple of one needs a comma: (ConvLayer(...),))"
        raise ValueError(f"network must be {wanted}")
    if not isinstance(system, System):
        raise ValueError("system must be a System, such as System(nodes=8)")
    sizes = [("inputs", inputs), ("nodes", system.nodes), ("sram_bytes", system.sram_bytes)]
    for number, layer in enumerate(network, 1):
        sizes += [(f"layer {number} {name}", size) for name, size in zip(layer._fields, layer)]
    for name, size in sizes:
        if type(size) is not int or size < 1:  # a float is not exact, NumPy's ints may overflow
            raise ValueError(f"{name}: {size!r} must be a positive int")
    for name in ("ops_per_s", "link_bytes_per_s"):
        rate = getattr(system, name)
        if type(rate) not in (int, Fraction) or rate <= 0:
            wanted = "a positive int or Fraction, such as 10**9 or Fraction('2.5') * 10**9"
            raise ValueError(f"{name}: {rate!r} must be {wanted}")
    if system.topology not in (ALL_TO_ALL, RING):
        raise ValueError(f"topology: {system.topology!r} must be {ALL_TO_ALL!r} or {RING!r}")
    output = None  # of the layer before
    for number, layer in enumerate(network, 1):
        needed = (layer.in_channels, layer.x, layer.y, layer.element_bytes)
        if output and needed != output:
            raise ValueError(
                f"layer {number}: in_channels, x, y, element_bytes = {needed} must be {output},"
                f" layer {number - 1}'s output (stride 1, no padding, no pooling)"
            )
        if layer.fx > layer.x or layer.fy > layer.y:
            filter_size = f"fx, fy = {layer.fx}, {layer.fy}"
            raise ValueError(f"layer {number}: {filter_size} exceed x, y = {layer.x}, {layer.y}")
        output = (layer.filters, layer.out_x, layer.out_y, layer.element_bytes)


# ------------------------------------------------ main
def main() -> int:
    """Print the answers and return the exit status: 0, or 2 for an argument or wrong constants."""
    try:
        if len(sys.argv) > 1:
            raise ValueError("takes no arguments; edit NETWORK, SYSTEM or INPUTS in it")
        print(answers(NETWORK, SYSTEM, INPUTS) + "\n", end="")  # at once: one write
    except ValueError as error:
        print(f"lab3.py: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
