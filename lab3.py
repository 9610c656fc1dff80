#!/usr/bin/env python3
"""How long distributed CNN inference takes, and how many bytes cross the network.

The 209AS Lab 3 handout asks for the latency and the traffic of tensor and of
pipeline parallelism, for a 4-layer FP16 CNN on 4 nodes. The formulas speak of

    C  ops of a layer (1 MAC = 2 ops)      P  nodes
    A  output bytes of a layer             R  ops/s of a node
    S  bytes of a shard of it, A / P       B  bytes/s of a one-way link
    L  layers                              N  inputs

One law carries both strategies, which differ in steps and stages only:

    latency = sum(steps) + (N - 1) * interval, the longest stage
    traffic = N * sum(bytes of the steps)

Every figure is exact, an int of bytes or a Fraction of seconds, until printed."""

from __future__ import annotations

import os
import re
import sys
from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from itertools import chain, product

__all__ = [
    "ALL_TO_ALL", "GIGA", "INPUTS", "KIB", "NETWORK", "OPTIONS", "RING", "STRATEGIES", "SYSTEM",
    "WHAT_IF_HELP", "ConvLayer", "Network", "SramUse", "Step", "System", "all_gather", "answers",
    "duration", "explain", "gather", "latency", "main", "pipeline_parallel_latency",
    "pipeline_parallel_stages", "pipeline_parallel_traffic", "plain", "read_options", "report",
    "results", "run", "sram_uses", "tensor_parallel_latency", "tensor_parallel_stages",
    "tensor_parallel_traffic", "traffic", "what_if",
]  # fmt: skip

# ------------------------------------------------ the lab
GIGA, KIB = 10**9, 1024  # of GOPS and GB/s; of SRAM
ALL_TO_ALL, RING = TOPOLOGIES = ("all-to-all", "ring")


class ConvLayer(
    namedtuple("ConvLayer", "filters in_channels fx fy x y element_bytes", defaults=[2])
):
    """A convolution, stride 1, no padding, FP16 by default (handout, "The model"):

    out_x         x - fx + 1, "reduced by 2" for a filter of 3; out_y alike
    macs          filters * in_channels * fx * fy * out_x * out_y
    ops           C = 2 * MACs
    weight_bytes  filters * in_channels * fx * fy * element_bytes
    input_bytes   in_channels * x * y * element_bytes
    output_bytes  A = filters * out_x * out_y * element_bytes

    All are ints above 0, which is checked where a layer is used in a network.
    """

    @property
    def out_x(self) -> int:
        return self.x - self.fx + 1

    @property
    def out_y(self) -> int:
        return self.y - self.fy + 1

    @property
    def macs(self) -> int:
        return self.filters * self.in_channels * self.fx * self.fy * self.out_x * self.out_y

    @property
    def ops(self) -> int:
        return 2 * self.macs

    @property
    def weight_bytes(self) -> int:
        return self.filters * self.in_channels * self.fx * self.fy * self.element_bytes

    @property
    def input_bytes(self) -> int:
        return self.in_channels * self.x * self.y * self.element_bytes

    @property
    def output_bytes(self) -> int:
        return self.filters * self.out_x * self.out_y * self.element_bytes


class System(
    namedtuple(
        "System",
        "nodes ops_per_s link_bytes_per_s sram_bytes topology",
        defaults=[4, 50 * GIGA, 2 * GIGA, 512 * KIB, ALL_TO_ALL],
    )
):
    """P nodes joined by one-way links, by default the lab's (handout, "The hardware"). All but the
    topology are ints above 0, rates also Fractions. ops_per_s and sram_bytes are each node's."""


Network = Sequence  # of ConvLayers, a list or a tuple
NETWORK = (
    ConvLayer(128, 3, 3, 3, 32, 32),
    ConvLayer(128, 128, 3, 3, 30, 30),
    ConvLayer(128, 128, 3, 3, 28, 28),
    ConvLayer(128, 128, 3, 3, 26, 26),
)
SYSTEM = System()
INPUTS = 32  # of Q2


# ------------------------------------------------ the law, and collectives
class Step(namedtuple("Step", "layer work node_ops link_bytes traffic_bytes")):
    """The computation of a layer, counted from 1, or the transfer of its output, for one input.
    work is "compute", "all-gather", "gather" or "send"; node_ops is what each of its nodes
    computes, link_bytes what the busiest link carries, traffic_bytes what all links carry."""


def duration(steps: Iterable[Step], system: System) -> Fraction:
    """duration = sum(node ops / R + link bytes / B) seconds"""
    ops = link_bytes = 0
    for step in steps:
        ops += step.node_ops
        link_bytes += step.link_bytes
    return Fraction(ops, system.ops_per_s) + Fraction(link_bytes, system.link_bytes_per_s)


def latency(stages: Sequence[Sequence[Step]], system: System, inputs: int = 1) -> Fraction:
    """latency = sum(steps) + (N - 1) * interval seconds; interval: the longest stage

    A step is the computation of a layer or the transfer of its output. A stage is
    steps through which an input holds its nodes: the next waits for all of them.
    The first input goes through all steps; each further one comes out an interval,
    the time of the bottleneck, after the one before.
    """
    _check_system(system)
    _check_number("inputs", inputs)
    interval_s = max(duration(stage, system) for stage in stages)
    return duration(chain(*stages), system) + (inputs - 1) * interval_s


def traffic(stages: Sequence[Sequence[Step]], inputs: int = 1) -> int:
    """traffic = N * sum(traffic bytes)"""
    _check_number("inputs", inputs)
    return inputs * sum(step.traffic_bytes for step in chain(*stages))


def all_gather(shard_bytes: int, system: System) -> tuple[Fraction, int]:
    """all-gather: every node starts with a shard S and ends with all P of them.

    all-to-all     S / B seconds, as each node sends to all its peers at once
    one-way ring   (P - 1) * S / B seconds, as each passes on P - 1 shards
    both           P * (P - 1) * S bytes, as each node lacks P - 1 shards

    One node sends nothing. Returns seconds and bytes. Source: handout, "Hints".
    """
    return _cost("all-gather", shard_bytes, system)


def gather(shard_bytes: int, system: System) -> tuple[Fraction, int]:
    """gather: every node starts with a shard S and one ends with all P of them.

    all-to-all     S / B seconds, (P - 1) * S bytes
    one-way ring   (P - 1) * S / B seconds, as the last link carries P - 1 shards,
                   P * (P - 1) / 2 * S bytes, as they pass 1, 2, ... P - 1 links

    Otherwise as an all-gather. Source: handout, "Notes and assumptions".
    """
    return _cost("gather", shard_bytes, system)


def _cost(work: str, shard_bytes: int, system: System) -> tuple[Fraction, int]:
    _check_number("shard_bytes", shard_bytes)
    _check_system(system)
    step = _collective(0, work, shard_bytes, system)
    return duration([step], system), step.traffic_bytes


def _collective(layer: int, work: str, shard_bytes: int, system: System) -> Step:
    peers, is_ring = system.nodes - 1, system.topology == RING
    shards_in_turn = peers if is_ring else min(peers, 1)  # on the busiest link
    hops = system.nodes * peers  # of all shards
    if work == "gather":
        hops = hops // 2 if is_ring else peers
    return Step(layer, work, 0, shards_in_turn * shard_bytes, hops * shard_bytes)


# ------------------------------------------------ tensor and pipeline parallelism
def tensor_parallel_stages(network: Network, system: System) -> list[list[Step]]:
    """The filters of each layer are shared out over all nodes, C / P ops a node;
    then an all-gather of shards S = A / P, after the last layer a gather.
    All nodes wait for each other: all steps are one stage.

    Source: handout, "Tensor Parallelism". P must divide the filters of each layer.
    """
    _check(network, system)
    nodes, steps = system.nodes, []
    for number, layer in enumerate(network, 1):
        if layer.filters % nodes:
            why = f"{nodes} nodes do not divide layer {number}'s {layer.filters} filters"
            raise ValueError(f"Tensor parallelism is not possible: {why}")
        work = "all-gather" if number < len(network) else "gather"
        steps.append(Step(number, "compute", layer.ops // nodes, 0, 0))
        steps.append(_collective(number, work, layer.output_bytes // nodes, system))
    return [steps]


def pipeline_parallel_stages(network: Network, system: System) -> list[list[Step]]:
    """Node l computes layer l, C ops, and sends the whole output, A bytes, to
    node l + 1 on a link of its own, on a ring to its neighbour, as it works on;
    the last output stays on node L. Each step is a stage: C_1 / R, A_1 / B,
    C_2 / R, A_2 / B, ... C_L / R.

    Source: handout, "Pipeline Parallelism". Each layer needs a node.
    """
    _check(network, system)
    if system.nodes < len(network):
        why = f"{len(network)} layers need {len(network)} nodes or more, not {system.nodes}"
        raise ValueError(f"Pipeline parallelism is not possible: {why}")
    stages = []
    for number, layer in enumerate(network, 1):
        stages.append([Step(number, "compute", layer.ops, 0, 0)])
        stages.append([Step(number, "send", 0, layer.output_bytes, layer.output_bytes)])
    return stages[:-1]


def tensor_parallel_latency(network: Network, system: System, inputs: int = 1) -> Fraction:
    """N * sum(C / (P * R) + S / B) seconds, on a ring (P - 1) * S / B, for P = 1 without S / B:
    the law with all steps in one stage."""
    return latency(tensor_parallel_stages(network, system), system, inputs)


def tensor_parallel_traffic(network: Network, system: System, inputs: int = 1) -> int:
    """N * (P - 1) * (P * (S_1 + ... + S_(L-1)) + S_L) bytes, the last S_L times P / 2 on a ring."""
    return traffic(tensor_parallel_stages(network, system), inputs)


def pipeline_parallel_latency(network: Network, system: System, inputs: int = 1) -> Fraction:
    """sum(C / R) + sum(A / B) + (N - 1) * max(C / R, A / B) s, A without A_L: each step a stage"""
    return latency(pipeline_parallel_stages(network, system), system, inputs)


def pipeline_parallel_traffic(network: Network, system: System, inputs: int = 1) -> int:
    """N * (A_1 + ... + A_(L-1)) bytes"""
    return traffic(pipeline_parallel_stages(network, system), inputs)


STRATEGIES = {"tensor": tensor_parallel_stages, "pipeline": pipeline_parallel_stages}


# ------------------------------------------------ SRAM
class SramUse(namedtuple("SramUse", "layer work weight_bytes input_bytes output_bytes")):
    """What a node holds while it computes a layer of one input, or gathers its output."""

    @property
    def total_bytes(self) -> int:
        return self.weight_bytes + self.input_bytes + self.output_bytes


def sram_uses(strategy: str, network: Network, system: System) -> list[SramUse]:
    """What a node holds in its SRAM, as there is no DRAM, with one input at a time:

    tensor     every node: 1/P of all weights, a layer's input, 1/P of its output;
               one node at last the whole output, gathered
    pipeline   node l: layer l's weights, input and output
    streamed   node l, row by row: layer l's weights, fy rows of the input, one
               row of the output; but the first node its whole first input, and
               the last node its whole last output (no latency is given here)
    data       every node: all weights, a layer's input and output

    Source: handout, "The hardware". Raises ValueError where it is not possible.
    """
    _check_choice("strategy", strategy, (*STRATEGIES, "streamed", "data"))
    _check(network, system)
    if strategy != "data":
        STRATEGIES.get(strategy, pipeline_parallel_stages)(network, system)  # raises if impossible
    nodes, uses = system.nodes, []
    all_weights = sum(layer.weight_bytes for layer in network)
    for number, layer in enumerate(network, 1):
        weights, whole_in, whole_out = layer.weight_bytes, layer.input_bytes, layer.output_bytes
        rows_in = whole_in if number == 1 else whole_in // layer.y * layer.fy
        row_out = whole_out if number == len(network) else whole_out // layer.out_y
        held = {
            "tensor": (all_weights // nodes, whole_in, whole_out // nodes),
            "pipeline": (weights, whole_in, whole_out),
            "streamed": (weights, rows_in, row_out),
            "data": (all_weights, whole_in, whole_out),
        }
        uses.append(SramUse(number, "compute", *held[strategy]))
    if strategy == "tensor":
        uses.append(SramUse(number, "gather", all_weights // nodes, 0, whole_out))
    return uses


# ------------------------------------------------ the required output
def plain(value: int | Fraction, digits: int = 17) -> str:
    """The number in plain decimal notation, whatever the caller's decimal settings: exact where
    it ends within so many significant digits, else rounded to them once, half to even."""
    context = Context(digits, ROUND_HALF_EVEN, -(10**6), 10**6, 1, 0, [], [])
    quotient = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{context.normalize(quotient):f}"


def answers(network: Network, system: System, inputs: int) -> str:
    """Q1 and Q2 as the handout's "Deliverables" ask, or the reason why a strategy is impossible."""
    possible, reasons = _possible(network, system, inputs)
    lines = []
    for count in sorted({1, inputs}):
        header = f"--------Q2 {count} inputs------"
        lines.append(header if count > 1 else "-----Q1 single input-----")
        for strategy in STRATEGIES:
            if strategy in reasons:
                lines.append(reasons[strategy])
                continue
            what, stages = f"of {strategy} parallelism is", possible[strategy]
            lines.append(f"Total latency {what} {plain(latency(stages, system, count))} seconds")
            lines.append(f"Total network traffic {what} {traffic(stages, count)} bytes")
    return "\n".join(lines)


def _possible(network: Network, system: System, inputs: int) -> tuple[dict, dict]:
    """The stages of each strategy that is possible, and why each other is not."""
    _check_number("inputs", inputs)
    possible, reasons = {}, {}
    for strategy, stages_of in STRATEGIES.items():
        try:
            possible[strategy] = stages_of(network, system)
        except ValueError as error:
            reasons[strategy] = str(error)
    if not possible:
        raise ValueError(". ".join(dict.fromkeys(reasons.values())))
    return possible, reasons


# ------------------------------------------------ what can be modelled
def _check_number(name: str, value: object, is_rate: bool = False) -> None:
    # no float; no subclass of int and no int64 of NumPy, which would overflow silently
    if type(value) not in ((int, Fraction) if is_rate else (int,)) or value <= 0:  # type: ignore
        wanted = "int or Fraction, such as 10**9 or Fraction('0.1')," if is_rate else "int"
        raise ValueError(f"{name}: {value!a:.40} is not an {wanted} above 0")


def _check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ValueError(f"{name}: {value!a:.40} is not {' or '.join(choices)}")


def _check_system(system: System) -> None:
    if not isinstance(system, System):
        raise ValueError(f"system: {system!a:.40} is not a System")
    _check_number("nodes", system.nodes)
    _check_number("ops_per_s", system.ops_per_s, is_rate=True)
    _check_number("link_bytes_per_s", system.link_bytes_per_s, is_rate=True)
    _check_number("sram_bytes", system.sram_bytes)
    _check_choice("topology", system.topology, TOPOLOGIES)


def _check(network: Network, system: System) -> None:
    _check_system(system)
    if not isinstance(network, (list, tuple)) or not network:
        raise ValueError(f"network: {network!a:.40} is not a list or tuple of ConvLayers")
    given = None
    for number, layer in enumerate(network, 1):
        if not isinstance(layer, ConvLayer):
            raise ValueError(f"layer {number}: {layer!a:.40} is not a ConvLayer")
        for name, value in zip(layer._fields, layer):
            _check_number(f"layer {number} {name}", value)
        taken = (layer.in_channels, layer.x, layer.y, layer.element_bytes)
        if given not in (None, taken):
            takes = f"layer {number}: in_channels, x, y, element_bytes = {taken!a:.40}"
            raise ValueError(f"{takes} do not chain, as layer {number - 1} gives {given!a:.40}")
        if layer.fx > layer.x or layer.fy > layer.y:
            sizes = f"fx, fy = {layer[2:4]!a:.40} exceed x, y = {layer[4:6]!a:.40}"
            raise ValueError(f"layer {number}: {sizes}")
        given = (layer.filters, layer.out_x, layer.out_y, layer.element_bytes)


# ------------------------------------------------ --json, and --explain
def results(network: Network, system: System, inputs: int) -> list[dict]:
    """Rows of topology, inputs, strategy, latency_s, traffic_bytes, and reason: why these are None.
    Where the strategy is possible also compute_s and communication_s of one input, interval_s and
    bottleneck (the first longest stage), idle_nodes, speed_up over one node, utilisation.
    Raises ValueError with both reasons where neither strategy is possible."""
    possible, reasons = _possible(network, system, inputs)
    rows, ops = [], sum(layer.ops for layer in network)
    for count, strategy in product(sorted({1, inputs}), STRATEGIES):
        row = {"topology": system.topology, "inputs": count, "strategy": strategy}
        row.update(latency_s=None, traffic_bytes=None, reason=reasons.get(strategy))
        rows.append(row)
        if strategy in reasons:
            continue
        stages = possible[strategy]
        latency_s = latency(stages, system, count)
        compute_s = Fraction(sum(step.node_ops for step in chain(*stages)), system.ops_per_s)
        speed_up = Fraction(count * ops, system.ops_per_s) / latency_s
        first, *others = max(stages, key=lambda stage: duration(stage, system))
        row.update(
            latency_s=latency_s,
            traffic_bytes=traffic(stages, count),
            compute_s=compute_s,
            communication_s=latency(stages, system) - compute_s,
            interval_s=duration([first, *others], system),
            bottleneck="all steps" if others else f"{first.work} of layer {first.layer}",
            idle_nodes=system.nodes - len(network) if strategy == "pipeline" else 0,
            speed_up=speed_up,
            utilisation=speed_up / system.nodes,
        )
    return rows


def report(network: Network, system: System, inputs: int) -> dict:
    """Every figure, exact: --json prints it, Fractions as floats. It is a dictionary of

    inputs, system
    layers    rows of layer, and the fields and properties of ConvLayer
    steps     by possible strategy, for one input: rows of the fields of Step, and duration_s
    sram      by the same, and for "streamed" and "data": rows of the fields of SramUse,
              total_bytes, and free_bytes (below 0: lacking)
    results   rows as results tells, on either topology
    """
    sizes = ("out_x", "out_y", "macs", "ops", "weight_bytes", "input_bytes", "output_bytes")
    possible, _ = _possible(network, system, inputs)
    layers, rows = [], []
    steps: dict = {strategy: [] for strategy in possible}
    sram: dict = {}
    for topology in TOPOLOGIES:
        rows += results(network, system._replace(topology=topology), inputs)
    for number, layer in enumerate(network, 1):
        more = {name: getattr(layer, name) for name in sizes}
        layers.append({"layer": number, **layer._asdict(), **more})
    for strategy, stages in possible.items():
        for step in chain(*stages):
            steps[strategy].append({**step._asdict(), "duration_s": duration([step], system)})
    for strategy in (*steps, *(["streamed"] if "pipeline" in steps else []), "data"):
        sram[strategy] = []
        for use in sram_uses(strategy, network, system):
            row = {**use._asdict(), "total_bytes": use.total_bytes}
            sram[strategy].append({**row, "free_bytes": system.sram_bytes - use.total_bytes})
    question = {"inputs": inputs, "system": system._asdict()}
    return {**question, "layers": layers, "steps": steps, "sram": sram, "results": rows}


READINGS = """\
Q2's sample block   the same four lines as Q1's
GOPS, GB/s, KB      10^9 ops/s, 10^9 bytes/s, 1,024 bytes
one by one          no batching; only a pipeline has several inputs on their way
initial inputs      already wherever they are needed
final output        on one node: gathered, or where the last layer is
ring of 4 links     one-way, like the 12 links all-to-all
SRAM                one input at a time: nothing of others that wait or are done"""
LAW = """\
N = {inputs}: {inputs} * {one_input_bytes} = {traffic_bytes} bytes
{compute_s} + {communication_s} + ({inputs} - 1) * {interval_s} = {latency_s} s"""


def explain(network: Network, system: System, inputs: int) -> str:
    """The answer in short, and every figure's derivation, to be checked with a pencil."""
    from inspect import getdoc  # here, since the lab's answers do without it

    figures = report(network, system, inputs)
    layers = figures["layers"]
    rows = [row for row in figures["results"] if row["topology"] == system.topology]
    single = [row for row in figures["results"] if row["inputs"] == 1]
    blocks = [
        "IN SHORT: figures are exact, or rounded to 9 digits",
        _table([{"inputs": inputs, "layers": len(layers), **figures["system"]}]),
        _table(rows, "inputs strategy latency_s traffic_bytes bottleneck idle_nodes"),
        _comparison(rows),
        "SRAM of the fullest node, one input at a time, which no latency above asks for:",
        _fit(figures["sram"]),
        "1. READINGS OF THE LAB'S HANDOUT",
        READINGS,
        "2. NETWORK",
        getdoc(ConvLayer),
        _table(layers, "layer filters in_channels fx fy x y element_bytes out_x out_y"),
        _table(layers, "layer macs ops weight_bytes input_bytes output_bytes", with_sums=True),
        "3. THE LAW, AND COLLECTIVES",
        __doc__,
        *map(getdoc, (duration, latency, traffic, all_gather, gather)),
        "4. TENSOR PARALLELISM",
        getdoc(tensor_parallel_stages),
        _derivation(figures["steps"].get("tensor"), rows[::2]),
        "5. PIPELINE PARALLELISM",
        getdoc(pipeline_parallel_stages),
        _derivation(figures["steps"].get("pipeline"), rows[1::2]),
        "6. SPEED-UP OVER ONE NODE = N * sum(C) / R / latency, UTILISATION = speed-up / P",
        _table(rows, "inputs strategy latency_s speed_up utilisation"),
        "7. SRAM, AND WHY TO DISTRIBUTE (Q3)",
        getdoc(sram_uses),
        *(f"{name}\n{_table(uses)}" for name, uses in figures["sram"].items()),
        "8. ALL-TO-ALL AND RING, FOR 1 INPUT (Q4): communication = link_bytes / B",
        _table(single, "topology strategy communication_s latency_s traffic_bytes"),
    ]
    return "\n\n".join(filter(None, blocks))  # python -OO strips the formulas


def _comparison(rows: list) -> str:
    comparisons = []
    for tensor, pipeline in zip(rows[::2], rows[1::2]):
        if tensor["reason"] or pipeline["reason"]:
            return tensor["reason"] or pipeline["reason"]
        fast, slow = sorted([tensor, pipeline], key=lambda row: row["latency_s"])
        times = slow["latency_s"] / fast["latency_s"]
        faster = fast["strategy"] if times > 1 else "neither"
        row = {"inputs": fast["inputs"], "faster": faster, "times_as_fast": times}
        if slow["traffic_bytes"]:
            row["times_the_traffic"] = Fraction(fast["traffic_bytes"], slow["traffic_bytes"])
        comparisons.append(row)
    return _table(comparisons)


def _fit(sram: dict) -> str:
    rows = []
    for name, uses in sram.items():
        least = min(uses, key=lambda use: use["free_bytes"])
        where = "every node" if name in ("tensor", "data") else f"node {least['layer']}"
        where = "one node" if least["work"] == "gather" else where
        fits = "yes" if least["free_bytes"] >= 0 else "NO"
        rows.append({"SRAM": name, "fits": fits, "where": where, **least})
    return _table(rows, "SRAM fits where layer work total_bytes free_bytes")


def _derivation(steps: list, rows: list) -> str:
    if rows[0]["reason"]:
        return rows[0]["reason"]
    lines = [_table(steps, with_sums=True), "\nnode_ops / R + link_bytes / B + (N - 1) * interval:"]
    for row in rows:
        texts = {name: _figure(value) for name, value in row.items()}
        lines.append(LAW.format(one_input_bytes=_figure(rows[0]["traffic_bytes"]), **texts))
    return "\n".join(lines)


def _table(rows: list, names: str = "", with_sums: bool = False) -> str:
    """The columns of these names, or all: text flush left, numbers flush right."""
    columns: list = []
    for name in names.split() or rows[0]:
        values = [row.get(name) for row in rows]
        is_text = str in map(type, values)
        if with_sums:
            values.append("sum" if not columns else "" if is_text else sum(values))
        cells = [name, *map(_figure, values)]
        width = max(map(len, cells))
        columns.append([cell.ljust(width) if is_text else cell.rjust(width) for cell in cells])
    return "\n".join("  ".join(cells).rstrip() for cells in zip(*columns))


def _figure(value: object) -> str:
    """A number for people: exact where 12 digits suffice, else rounded to 9."""
    if not isinstance(value, (int, Fraction)):
        return "-" if value is None else str(value)
    number = Decimal(plain(value, 12 if Fraction(plain(value, 12)) == value else 9))
    return f"{number:,f}" if len(f"{number:,f}") <= 16 else f"{number:.8e}"


# ------------------------------------------------ command line
_Option = namedtuple("_Option", "default form low high unit scale", defaults=[1])
WHOLE = ("a whole number of {unit}, such as {default}", r"[+-]?\d+")
REAL = ("a number of {unit}, such as {default} or 0.1", r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?")
LOW = Fraction(1, 10**6)
OPTIONS = {
    "--inputs": _Option(INPUTS, WHOLE, 1, 10**9, "inputs"),
    "--nodes": _Option(SYSTEM.nodes, WHOLE, 1, 10**6, "nodes"),
    "--gops": _Option(SYSTEM.ops_per_s // GIGA, REAL, LOW, 10**8, "GOPS", GIGA),
    "--link-gbs": _Option(SYSTEM.link_bytes_per_s // GIGA, REAL, LOW, 10**5, "GB/s", GIGA),
    "--sram-kib": _Option(SYSTEM.sram_bytes // KIB, WHOLE, 1, 10**9, "KiB", KIB),
    "--element-bytes": _Option(NETWORK[0].element_bytes, WHOLE, 1, 64, "bytes"),
}
SIZE = _Option(3, WHOLE, 1, 10**6, "elements")  # of a layer
WHAT_IF_HELP = """\
what if (the handout's by default; the last of several, but every --layer):
  --inputs N         inputs in Q2 (default: {--inputs.default})
  --nodes P          nodes (default: {--nodes.default})
  --gops X           10^9 ops/s of a node (default: {--gops.default})
  --link-gbs X       10^9 bytes/s of a one-way link (default: {--link-gbs.default})
  --sram-kib K       1,024 bytes of a node's SRAM (default: {--sram-kib.default})
  --element-bytes B  bytes of an element (default: {--element-bytes.default})
  --topology T       all-to-all (default) or ring
  --layer SIZES      FILTERS,IN_CHANNELS,FX,FY,X,Y of each ("or with blanks")""".format_map(OPTIONS)
HELP = f"""\
usage: python3 lab3.py [--explain | --json] [what-if options]

How long distributed CNN inference takes, and how many bytes cross the network,
with tensor and with pipeline parallelism. Without options: the lab's Q1 and Q2.

examples:
  python3 lab3.py --inputs 64 --topology ring
  python3 lab3.py --nodes 8 --link-gbs 0.1 --json
  python3 lab3.py --layer "64,3,5,5 32,32" --layer "32,64,3,3 28,28" --explain

output:
  --explain          the answer in short, and every figure derived
  --json             every figure, in seconds and bytes
  -h, --help         this text

{WHAT_IF_HELP}

SRAM does not change the answers: --explain and --json tell what fits."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line. Returns the exit status: 0, 2 for bad input, 1 for failed output."""
    return run("lab3.py", _respond, argv)


def _respond(arguments: Sequence[str]) -> str:
    if "-h" in arguments or "--help" in arguments:
        return HELP
    given = read_options(arguments, ["--explain", "--json"])
    if {"--explain", "--json"} <= given.keys():
        raise ValueError("--json: choose it or --explain, not both")
    if "--json" in given:
        import json  # here, since the lab's answers do without it

        return json.dumps(report(*what_if(given)), indent=2, default=float)
    return (explain if "--explain" in given else answers)(*what_if(given))


def read_options(arguments: Sequence, switches: Sequence, more: Sequence = ()) -> dict:
    """The values of each option given, in order, none for a switch: what_if's, and more."""
    known = [*switches, *OPTIONS, "--topology", "--layer", *more]
    given: dict = {}
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if name not in known or (equals and name in switches):
            import difflib  # here, since the lab's answers do without it

            nearest = difflib.get_close_matches(name[:40].lower(), known, 1) or ["--help"]
            raise ValueError(f"{word!a:.40} is not an option; try {nearest[0]}")
        values = given.setdefault(name, [])
        if name not in switches:
            values.append(value if equals else next(words, ""))
            if values[-1] in known:
                raise ValueError(f"{name}: a value is missing before {values[-1]}")
    return given


def what_if(given: dict) -> tuple[list[ConvLayer], System, int]:
    """The network, the system and the inputs that the options ask for."""
    numbers: list = [
        _number(name, given[name][-1], option) if name in given else option.default * option.scale
        for name, option in OPTIONS.items()
    ]
    inputs, nodes, ops_per_s, link_bytes_per_s, sram_bytes, element_bytes = numbers
    topology = given.get("--topology", [SYSTEM.topology])[-1]
    _check_choice("--topology", topology, TOPOLOGIES)
    network, sizes = [], ConvLayer._fields[:6]
    for number, text in enumerate(given.get("--layer", []), 1):
        name, values = f"--layer {number}", re.split(r"\s*,\s*|\s+", text.strip())
        if len(values) != len(sizes):
            raise ValueError(f"{name}: {text!a:.40} is not 6 numbers {','.join(sizes)}")
        values = [_number(f"{name} {size}", value, SIZE) for size, value in zip(sizes, values)]
        network.append(ConvLayer(*values))
    network = [layer._replace(element_bytes=element_bytes) for layer in network or NETWORK]
    return network, System(nodes, ops_per_s, link_bytes_per_s, sram_bytes, topology), inputs


def _number(name: str, text: str, option: _Option) -> int | Fraction:
    wanted, form = option.form
    if not re.fullmatch(form, text, re.ASCII | re.IGNORECASE):
        raise ValueError(f"{name}: {text!a:.40} is not {wanted.format_map(option._asdict())}")
    if len(text) > 30:
        raise ValueError(f"{name}: {text!a:.40} has more than 30 characters")
    value = Fraction(text)
    if not option.low <= value <= option.high:
        bounds = f"{plain(option.low)} and {option.high:,} {option.unit}"
        raise ValueError(f"{name}: {text} is not between {bounds}")
    value *= option.scale
    return int(value) if value == int(value) else value  # an int is an int in JSON, too


def run(program: str, respond: Callable[[Sequence], str], argv: Sequence[str] | None) -> int:
    """Print what the program responds to the arguments. Returns the exit status: 0, 2 for bad
    input, 1 for failed output; a reader that has seen enough is no failure."""
    try:
        failure, status = _write("stdout", respond(sys.argv[1:] if argv is None else argv)), 1
    except ValueError as error:
        failure, status = str(error), 2
    if failure:
        _write("stderr", f"{program}: error: {failure}")
    return status if failure else 0


def _write(name: str, text: str) -> str:
    """Write it now. Returns what went wrong, if anything; the null device then takes what is left,
    so that the flush at exit cannot fail again."""
    stream = getattr(sys, name)
    if stream is None or stream.closed:
        return f"{name} is closed"
    try:
        print(text, file=stream, flush=True)
        return ""
    except OSError as error:
        with open(os.devnull, "w") as null:
            os.dup2(null.fileno(), stream.fileno())
        return "" if isinstance(error, BrokenPipeError) else f"cannot write: {error.strerror}"


if __name__ == "__main__":
    sys.exit(main())
