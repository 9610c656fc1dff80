#!/usr/bin/env python3
"""Latency and network traffic of distributed CNN inference.

The 209AS Lab 3 handout asks for both, for a 4-layer CNN on 4 nodes, with tensor
and with pipeline parallelism. Numbers are exact until printed. Symbols of formulas:

    C  ops of a layer (1 MAC = 2 ops)      P  nodes
    A  output bytes of a layer             R  ops/s of a node
    S  bytes of a shard, A / P             B  bytes/s of a one-way link
    L  layers                              N  inputs

A shard is one node's part of a layer's output. C, A and S have one number per
layer; arithmetic is element-wise, and a comma joins numbers. A[-1] is the last
layer's, A[:-1] are the others'; (P > 1) is 1 if true, else 0.

Where the handout leaves a choice, it is read as follows:

    Q2's lines      the same four as Q1's; the handout's sample lacks one of them
    layers          stride 1, no padding or pooling (sides "reduced by 2"); FP16
    units           10^9 for GOPS and GB/s, 1,024 bytes for KB
    initial inputs  each is in a node's SRAM when the node needs it, at no cost
    one by one      tensor parallelism finishes one input, then starts the next;
                    in a pipeline, a node computes its next input while it sends
    steps           a layer or a transfer starts when all the data it needs is there
    traffic         a byte counts once for each link that it crosses
    final output    on one node, which gathers it or, in a pipeline, computes it
    SRAM            assumed to be enough; latency and traffic do not depend on it
"""

import os
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

    @property
    def out_x(self) -> int:
        return self.x - self.fx + 1

    @property
    def out_y(self) -> int:
        return self.y - self.fy + 1

    @property
    def macs(self) -> int:  # each weight is used once per output position
        weights = self.filters * self.in_channels * self.fx * self.fy
        return weights * self.out_x * self.out_y

    @property
    def ops(self) -> int:  # C
        return 2 * self.macs

    @property
    def output_bytes(self) -> int:  # A
        return self.filters * self.out_x * self.out_y * self.element_bytes


Rate = Union[int, Fraction, float]  # a float must be whole, such as 25e9
Network = Union[List[ConvLayer], Tuple[ConvLayer, ...]]


class System(NamedTuple):
    """Nodes, each with a one-way link to every other node (handout, "The hardware")."""

    nodes: int = 4
    ops_per_s: Rate = 50 * 10**9  # per node
    link_bytes_per_s: Rate = 2 * 10**9  # per link
    sram_bytes: int = 512 * 1024  # per node; latency and traffic do not depend on it


NETWORK = (
    ConvLayer(128, 3, 3, 3, 32, 32),
    ConvLayer(128, 128, 3, 3, 30, 30),
    ConvLayer(128, 128, 3, 3, 28, 28),
    ConvLayer(128, 128, 3, 3, 26, 26),
)
SYSTEM = System()
INPUTS = 32  # for Q2


# ------------------------------------------------ tensor parallelism
# Each node has 1 / P of a layer's filters: it computes C / P ops and gets a shard of A / P bytes.
# The next layer needs all shards on every node, so an all-gather sends each shard to P - 1 nodes.
# After the last layer, a gather sends P - 1 shards to one. Handout: "Tensor Parallelism", "Hints".


def tensor_parallel_latency(network: Network, system: System, inputs: int = 1) -> Fraction:
    """latency = N * one_input seconds

    one_input = sum(compute) + sum(transfer)
    compute = C / (P * R)
    transfer = (P > 1) * S / B

    A layer's sends are simultaneous, each over its own link; a single node sends nothing.
    """
    shards = shard_bytes(network, system, inputs)
    compute_s = sum(layer.ops for layer in network) / (system.nodes * Fraction(system.ops_per_s))
    transfer_s = (system.nodes > 1) * sum(shards) / Fraction(system.link_bytes_per_s)
    return inputs * (compute_s + transfer_s)


def tensor_parallel_traffic(network: Network, system: System, inputs: int = 1) -> int:
    """traffic = N * (sum(all_gathers) + gather) bytes

    all_gathers = P * (P - 1) * S[:-1]
    gather = (P - 1) * S[-1]

    In an all-gather, each of P nodes receives P - 1 shards; in the gather, only one node does.
    """
    shards = shard_bytes(network, system, inputs)
    return inputs * (system.nodes - 1) * (system.nodes * sum(shards[:-1]) + shards[-1])


def shard_bytes(network: Network, system: System, inputs: int) -> List[int]:
    """Validate, and return S. Raises ImpossibleError if P does not divide each layer's filters."""
    validate(network, system, inputs)
    for number, layer in enumerate(network, 1):
        if layer.filters % system.nodes:
            filters = f"{layer.filters:,} filter{'s' * (layer.filters > 1)}"
            why = f"layer {number}'s {filters} cannot be split evenly over {system.nodes:,} nodes"
            raise ImpossibleError(f"Tensor parallelism is not possible: {why}")
    return [layer.output_bytes // system.nodes for layer in network]


# ------------------------------------------------ pipeline parallelism
# Each layer has its own node, which computes C ops, then sends A bytes to the next layer's node
# while it computes the next input. The last output stays. Handout: "Pipeline Parallelism".


def pipeline_parallel_latency(network: Network, system: System, inputs: int = 1) -> Fraction:
    """latency = one_input + (N - 1) * interval seconds

    one_input = sum(compute) + sum(transfer)
    interval = max(compute, transfer)
    compute = C / R
    transfer = A[:-1] / B

    The first input goes through all steps. Each later one is done one interval (the longest step's
    time) after the one before it, because a node or link works on one at a time.
    """
    sent = sent_bytes(network, system, inputs)
    compute_s = [layer.ops / Fraction(system.ops_per_s) for layer in network]
    transfer_s = [size / Fraction(system.link_bytes_per_s) for size in sent]
    return sum(compute_s) + sum(transfer_s) + (inputs - 1) * max(compute_s + transfer_s)


def pipeline_parallel_traffic(network: Network, system: System, inputs: int = 1) -> int:
    """traffic = N * sum(sent) bytes

    sent = A[:-1]
    """
    return inputs * sum(sent_bytes(network, system, inputs))


def sent_bytes(network: Network, system: System, inputs: int) -> List[int]:
    """Validate, and return A[:-1]. Raises ImpossibleError if there are fewer nodes than layers."""
    validate(network, system, inputs)
    if system.nodes < len(network):
        why = f"{len(network):,} layers need {len(network):,} nodes or more, not {system.nodes:,}"
        raise ImpossibleError(f"Pipeline parallelism is not possible: {why}")
    return [layer.output_bytes for layer in network[:-1]]


# ------------------------------------------------ the answers
def answers(network: Network, system: System, inputs: int) -> str:
    """Return the lines that the handout asks for, or one that says why a strategy is impossible."""
    validate(network, system, inputs)
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
            latency_s = format_decimal(latency(network, system, inputs))
            yield f"Total latency of {strategy} parallelism is {latency_s} seconds"
            traffic_bytes = traffic(network, system, inputs)
            yield f"Total network traffic of {strategy} parallelism is {traffic_bytes} bytes"
        except ImpossibleError as reason:
            yield str(reason)


def format_decimal(value: Rate, digits: int = 17) -> str:
    """Format a number in plain decimal notation, rounded once to this many significant digits."""
    context, exact = Context(prec=digits), Fraction(value)
    quotient = context.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    return f"{context.normalize(quotient):f}"


# ------------------------------------------------ what can be modelled
class ImpossibleError(ValueError):
    """Raised if a strategy is not possible for this network on this system."""


def validate(network: Network, system: System, inputs: int = 1) -> None:
    """Raise ValueError with one sentence that names what is wrong and what would be right."""
    if not isinstance(network, (list, tuple)) or {type(layer) for layer in network} != {ConvLayer}:
        raise ValueError("network must be a list or tuple of ConvLayers, such as (ConvLayer(...),)")
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
        is_exact = type(rate) in (int, Fraction) or (type(rate) is float and rate.is_integer())
        if not is_exact or rate <= 0:
            wanted = "positive and whole, or a Fraction, such as Fraction(83, 10) * 10**9"
            raise ValueError(f"{name}: {rate!r} must be {wanted}")
    output = None  # of the previous layer
    for number, layer in enumerate(network, 1):
        if layer.fx > layer.x or layer.fy > layer.y:
            excess = f"fx, fy = {layer.fx}, {layer.fy} exceed x, y = {layer.x}, {layer.y}"
            raise ValueError(f"layer {number}: {excess}")
        needed = (layer.in_channels, layer.x, layer.y, layer.element_bytes)
        if output and output != needed:
            what = f"in_channels, x, y, element_bytes = {needed} must be {output}, "
            source = f"layer {number - 1}'s output (stride 1, no padding, no pooling)"
            raise ValueError(f"layer {number}: {what}{source}")
        output = (layer.filters, layer.out_x, layer.out_y, layer.element_bytes)


def main() -> int:
    """Print the answers and return the exit status: 0, or 2 for an argument or wrong constants."""
    try:
        if len(sys.argv) > 1:
            raise ValueError("takes no arguments; edit NETWORK, SYSTEM or INPUTS in it")
        print(answers(NETWORK, SYSTEM, INPUTS), flush=True)
    except ValueError as error:
        print(f"lab3.py: error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or the flush at exit would fail again
        if not isinstance(error, BrokenPipeError):  # as with `| head`
            sys.exit(f"lab3.py: error: {error}")  # with status 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
