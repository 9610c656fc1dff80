#!/usr/bin/env python3
"""How long distributed CNN inference takes and how many bytes cross the network, in closed form.

The 209AS Lab 3 handout gives a 4-layer FP16 CNN and a machine of 4 nodes joined all-to-all, and
asks for the latency and the traffic of tensor and of pipeline parallelism. The formulas speak of

    C  ops of a layer (1 MAC = 2 ops)      P  nodes
    A  output bytes of a layer             R  ops/s of a node
    S  bytes of a shard of it, A / P       B  bytes/s of a one-way link
    L  layers                              N  inputs

Every figure is exact, an int of bytes or a Fraction of seconds, up to the moment of printing.
`python3 lab3.py` prints the lab's answers, --explain derives them, --help tells the rest.
"""

import os
import re
import sys
from collections import namedtuple
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction

TYPE_CHECKING = False  # True to type checkers; importing typing takes an eighth of the whole run
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, Self, TypeAlias

# ------------------------------------------------ the lab

OPS_PER_MAC = 2  # a multiplication and an addition
FP16_BYTES = 2
GIGA = 10**9  # of GOPS and of GB/s
KIB = 1024  # of SRAM
ALL_TO_ALL, RING = TOPOLOGIES = ("all-to-all", "ring")


class ConvLayer(namedtuple("ConvLayer", "filters in_channels fx fy x y element_bytes")):
    """A convolution without padding, stride 1 (handout, "The model").

    Weights are filters x in_channels x fx x fy, the input is in_channels x x x y and the output
    filters x out_x x out_y elements, of element_bytes each.
    """

    __slots__ = ()
    filters: int
    in_channels: int
    fx: int
    fy: int
    x: int
    y: int
    element_bytes: int

    def __new__(
        cls,
        filters: int,
        in_channels: int,
        fx: int,
        fy: int,
        x: int,
        y: int,
        element_bytes: int = FP16_BYTES,
    ) -> "Self":
        return super().__new__(cls, filters, in_channels, fx, fy, x, y, element_bytes)

    @property
    def out_x(self) -> int:
        """x - fx + 1, which is "reduced by 2" for a filter of 3."""
        return self.x - self.fx + 1

    @property
    def out_y(self) -> int:
        """y - fy + 1."""
        return self.y - self.fy + 1

    @property
    def macs(self) -> int:
        """filters * in_channels * fx * fy * out_x * out_y multiply-accumulates."""
        return self.filters * self.in_channels * self.fx * self.fy * self.out_x * self.out_y

    @property
    def ops(self) -> int:
        """C = 2 * MACs (handout, "Notes and assumptions")."""
        return OPS_PER_MAC * self.macs

    @property
    def weight_bytes(self) -> int:
        """filters * in_channels * fx * fy * element_bytes."""
        return self.filters * self.in_channels * self.fx * self.fy * self.element_bytes

    @property
    def input_bytes(self) -> int:
        """in_channels * x * y * element_bytes."""
        return self.in_channels * self.x * self.y * self.element_bytes

    @property
    def output_bytes(self) -> int:
        """A = filters * out_x * out_y * element_bytes."""
        return self.filters * self.out_x * self.out_y * self.element_bytes


Network: "TypeAlias" = "Sequence[ConvLayer]"
Rate: "TypeAlias" = "int | Fraction"  # never a float: the float 0.1 is not 1/10


class System(namedtuple("System", "nodes ops_per_s link_bytes_per_s sram_bytes topology")):
    """Nodes joined by one-way links; the defaults are the lab's (handout, "The hardware")."""

    __slots__ = ()
    nodes: int
    ops_per_s: "Rate"  # of one node
    link_bytes_per_s: "Rate"  # of one link
    sram_bytes: int  # of one node
    topology: str

    def __new__(
        cls,
        nodes: int = 4,
        ops_per_s: "Rate" = 50 * GIGA,
        link_bytes_per_s: "Rate" = 2 * GIGA,
        sram_bytes: int = 512 * KIB,
        topology: str = ALL_TO_ALL,
    ) -> "Self":
        return super().__new__(cls, nodes, ops_per_s, link_bytes_per_s, sram_bytes, topology)

    @property
    def links(self) -> int:
        """P * (P - 1) one-way links all-to-all; P around a one-way ring, none for one node."""
        if self.topology == RING:
            return self.nodes if self.nodes > 1 else 0
        return self.nodes * (self.nodes - 1)


NETWORK = (
    ConvLayer(128, 3, 3, 3, 32, 32),
    ConvLayer(128, 128, 3, 3, 30, 30),
    ConvLayer(128, 128, 3, 3, 28, 28),
    ConvLayer(128, 128, 3, 3, 26, 26),
)
SYSTEM = System()
INPUTS = 32  # of Q2

READINGS = (  # of the handout, where it leaves room
    ("Q2's sample block", "as Q1's; it repeats two lines and lacks one"),
    ('"reduced by 2"', "x - fx + 1, which gives the table's 32, 30, 28, 26"),
    ("GOPS, GB/s", "10^9 ops/s, 10^9 bytes/s"),
    ("512 KB of SRAM", "512 * 1,024 bytes"),
    ('"one by one"', "no batching: tensor ends an input before the next, the pipeline streams"),
    ("tensor parallelism", "all nodes compute a layer, then exchange its output, then go on"),
    ("pipeline", "an output is sent when whole, while its node goes on"),
    ("initial inputs", "already wherever they are needed"),
    ("final output", "gathered on one node"),
    ("ring of 4 links", "one-way, like the 12 links all-to-all"),
    ("SRAM", "one input in flight; waiting inputs and finished outputs are not counted"),
)

# ------------------------------------------------ what can be modelled


def _shown(*values: object) -> str:
    """The values for a message: ASCII, on one line and short, whatever they are."""
    text = ", ".join(
        f"{Decimal(value):.5e}" if type(value) is int and abs(value) > 10**30 else ascii(value)
        for value in values
    )
    return text if len(text) <= 60 else f"{text[:40]}... ({len(text)} characters)"


def _check_count(value: object, *name: object) -> None:
    if type(value) is not int or value < 1:
        raise ValueError(f"{' '.join(map(str, name))}: {_shown(value)} is not an int above 0")


def _check_rate(value: object, name: str) -> None:
    if type(value) not in (int, Fraction) or not value > 0:  # type: ignore[operator]
        raise ValueError(f"{name}: {_shown(value)} is not an int or a Fraction above 0")


def _check_topology(value: object, name: str) -> None:
    if value not in TOPOLOGIES:
        raise ValueError(f"{name}: {_shown(value)} is not {' or '.join(TOPOLOGIES)}")


def _check_network(network: "Network") -> None:
    if not network:
        raise ValueError("network: it is empty, and needs at least one layer")
    for number, layer in enumerate(network, 1):
        for name, value in zip(layer._fields, layer):
            _check_count(value, "layer", number, name)
        if layer.fx > layer.x or layer.fy > layer.y:
            raise ValueError(
                f"layer {number}: a filter of fx, fy = {_shown(layer.fx, layer.fy)} is larger than"
                f" its input of x, y = {_shown(layer.x, layer.y)}"
            )
    for number, (before, layer) in enumerate(zip(network, network[1:]), 2):
        taken = (layer.in_channels, layer.x, layer.y)
        given = (before.filters, before.out_x, before.out_y)
        if taken != given:
            raise ValueError(
                f"layer {number}: in_channels, x, y = {_shown(*taken)} do not chain, as layer"
                f" {number - 1} gives {_shown(*given)}"
            )


def _check_system(system: System) -> None:
    _check_count(system.nodes, "nodes")
    _check_rate(system.ops_per_s, "ops_per_s")
    _check_rate(system.link_bytes_per_s, "link_bytes_per_s")
    _check_count(system.sram_bytes, "sram_bytes")
    _check_topology(system.topology, "topology")


def _check_tensor_parallel(network: "Network", system: System) -> None:
    _check_network(network)
    _check_system(system)
    for number, layer in enumerate(network, 1):
        if layer.filters % system.nodes:
            raise ValueError(
                f"nodes: {_shown(layer.filters)} filters of layer {number} do not divide evenly"
                f" over {_shown(system.nodes)} nodes, as tensor parallelism needs"
            )


def _check_pipeline_parallel(network: "Network", system: System) -> None:
    _check_network(network)
    _check_system(system)
    if system.nodes < len(network):
        raise ValueError(
            f"nodes: {len(network)} layers need {len(network)} nodes or more for pipeline"
            f" parallelism, not {system.nodes}"
        )


# ------------------------------------------------ collectives


def all_gather(shard_bytes: int, system: System) -> "tuple[Fraction, int]":
    """Every node starts with a shard S and ends with all P: seconds, and bytes over all links.

    all-to-all     S / B              each node sends its shard to all P - 1 peers at once
    one-way ring   (P - 1) * S / B    each node passes on P - 1 shards, and all links are busy
    bytes          P * (P - 1) * S    on either: each node receives the P - 1 that it lacks
    one node       nothing

    Raises ValueError for a shard that is not an int above 0, and an impossible system.
    """
    _check_count(shard_bytes, "shard_bytes")
    _check_system(system)
    latency_s = Fraction(_shards_in_turn(system) * shard_bytes, system.link_bytes_per_s)
    return latency_s, system.nodes * (system.nodes - 1) * shard_bytes


def gather(shard_bytes: int, system: System) -> "tuple[Fraction, int]":
    """Every node starts with a shard S and one ends with all P: seconds, and bytes over all links.

    all-to-all     S / B              (P - 1) * S bytes: each peer has a link to the one
    one-way ring   (P - 1) * S / B    P * (P - 1) / 2 * S bytes: shards travel 1, 2, ... P - 1
                                      links, and the last link carries them all
    one node       nothing

    Raises ValueError as all_gather does.
    """
    _check_count(shard_bytes, "shard_bytes")
    _check_system(system)
    latency_s = Fraction(_shards_in_turn(system) * shard_bytes, system.link_bytes_per_s)
    peers = system.nodes - 1
    hops = system.nodes * peers // 2 if system.topology == RING else peers
    return latency_s, hops * shard_bytes


def _shards_in_turn(system: System) -> int:
    """Shards that the busiest link carries one after the other: 1 all-to-all, P - 1 on a ring."""
    if system.nodes == 1:
        return 0
    return system.nodes - 1 if system.topology == RING else 1


# ------------------------------------------------ tensor and pipeline parallelism


class Stage(namedtuple("Stage", "layer work latency_s traffic_bytes")):
    """What every input goes through: the computation of a layer, or the transfer of its output."""

    __slots__ = ()
    layer: int  # counted from 1
    work: str  # "compute", "all-gather", "gather" or "send"
    latency_s: Fraction
    traffic_bytes: int


def tensor_parallel_stages(network: "Network", system: System) -> "list[Stage]":
    """Each layer: C / (P * R) of compute, then all_gather(A / P), or gather(A / P) after the last.

    Source: handout, "Tensor Parallelism" and "Notes and assumptions". Raises ValueError where
    network or system cannot be modelled, and where filters do not divide over the nodes.
    """
    _check_tensor_parallel(network, system)
    stages = []
    for number, layer in enumerate(network, 1):
        compute_s = Fraction(layer.ops, system.nodes * system.ops_per_s)
        stages.append(Stage(number, "compute", compute_s, 0))
        is_last = number == len(network)
        work, collective = ("gather", gather) if is_last else ("all-gather", all_gather)
        stages.append(Stage(number, work, *collective(layer.output_bytes // system.nodes, system)))
    return stages


def tensor_parallel_latency(network: "Network", system: System, inputs: int = 1) -> Fraction:
    """N * sum(stages) seconds: all nodes work on one stage of one input at a time.

    Raises ValueError as tensor_parallel_stages does, and for inputs that are not an int above 0.
    """
    _check_count(inputs, "inputs")
    stages = tensor_parallel_stages(network, system)
    return inputs * sum((stage.latency_s for stage in stages), Fraction(0))


def tensor_parallel_traffic(network: "Network", system: System, inputs: int = 1) -> int:
    """N * sum(bytes of the collectives), over all links.

    Raises ValueError as tensor_parallel_latency does.
    """
    _check_count(inputs, "inputs")
    return inputs * sum(stage.traffic_bytes for stage in tensor_parallel_stages(network, system))


def pipeline_parallel_stages(network: "Network", system: System) -> "list[Stage]":
    """C_1 / R, A_1 / B, C_2 / R, ..., C_L / R: node l computes layer l, and the output travels
    on a link of its own to node l + 1, which is its neighbour on a ring too.

    Source: handout, "Pipeline Parallelism" and "Notes and assumptions". Raises ValueError where
    network or system cannot be modelled, and where there are more layers than nodes.
    """
    _check_pipeline_parallel(network, system)
    stages = []
    for number, layer in enumerate(network, 1):
        stages.append(Stage(number, "compute", Fraction(layer.ops, system.ops_per_s), 0))
        if number < len(network):
            send_s = Fraction(layer.output_bytes, system.link_bytes_per_s)
            stages.append(Stage(number, "send", send_s, layer.output_bytes))
    return stages


def pipeline_parallel_latency(network: "Network", system: System, inputs: int = 1) -> Fraction:
    """sum(stages) + (N - 1) * max(stages) seconds: the first input passes through all stages,
    each further one comes out a bottleneck, the slowest stage, later.

    Raises ValueError as pipeline_parallel_stages does, and for inputs that are not an int above 0.
    """
    _check_count(inputs, "inputs")
    stages_s = [stage.latency_s for stage in pipeline_parallel_stages(network, system)]
    return sum(stages_s, Fraction(0)) + (inputs - 1) * max(stages_s)


def pipeline_parallel_traffic(network: "Network", system: System, inputs: int = 1) -> int:
    """N * (A_1 + ... + A_(L-1)) bytes: the last output is already whole on the last node.

    Raises ValueError as pipeline_parallel_latency does.
    """
    _check_count(inputs, "inputs")
    return inputs * sum(stage.traffic_bytes for stage in pipeline_parallel_stages(network, system))


# ------------------------------------------------ SRAM


class SramUse(
    namedtuple("SramUse", "when weight_bytes input_bytes output_bytes total_bytes spare_bytes fits")
):
    """What one node's SRAM holds at a time, for one input in flight.

    Source: handout, "The hardware": there is no DRAM, so weights and activations must all fit.
    """

    __slots__ = ()
    when: str  # "layer 2", while that is computed, or "gather"
    weight_bytes: int
    input_bytes: int
    output_bytes: int
    total_bytes: int
    spare_bytes: int  # what is left of the SRAM or, below 0, missing
    fits: bool


def _sram_use(
    when: str, system: System, weight_bytes: int, input_bytes: int, output_bytes: int
) -> SramUse:
    held_bytes = (weight_bytes, input_bytes, output_bytes)
    spare_bytes = system.sram_bytes - sum(held_bytes)
    return SramUse(when, *held_bytes, sum(held_bytes), spare_bytes, spare_bytes >= 0)


def tensor_parallel_sram(network: "Network", system: System) -> "list[SramUse]":
    """Every node, layer by layer: its 1/P of all weights, the layer's input, 1/P of its output;
    at last, on one node, the gathered output.

    Tensors are whole, since all nodes wait for each other after a layer. Raises ValueError as
    tensor_parallel_stages does.
    """
    _check_tensor_parallel(network, system)
    weight_bytes = sum(layer.weight_bytes for layer in network) // system.nodes
    uses = []
    for number, layer in enumerate(network, 1):
        tensors = (layer.input_bytes, layer.output_bytes // system.nodes)
        uses.append(_sram_use(f"layer {number}", system, weight_bytes, *tensors))
    return [*uses, _sram_use("gather", system, weight_bytes, 0, network[-1].output_bytes)]


def pipeline_parallel_sram(
    network: "Network", system: System, rows_streamed: bool = False
) -> "list[SramUse]":
    """Node l, for l = 1 ... L: layer l's weights, input and output.

    Tensors are whole or, with rows_streamed, fy rows of the input and one of the output, the
    least that a convolution works on. Raises ValueError as pipeline_parallel_stages does.
    """
    _check_pipeline_parallel(network, system)
    uses = []
    for number, layer in enumerate(network, 1):
        tensors = (layer.input_bytes, layer.output_bytes)
        if rows_streamed:
            tensors = (tensors[0] // layer.y * layer.fy, tensors[1] // layer.out_y)
        uses.append(_sram_use(f"layer {number}", system, layer.weight_bytes, *tensors))
    return uses


def data_parallel_sram(network: "Network", system: System) -> "list[SramUse]":
    """Every node, layer by layer, if it held all weights and whole tensors (handout, Q3).

    Raises ValueError where network or system cannot be modelled.
    """
    _check_system(system)
    return tensor_parallel_sram(network, system._replace(nodes=1))[:-1]


# ------------------------------------------------ yardsticks


def single_node_latency(network: "Network", system: System, inputs: int = 1) -> Fraction:
    """N * (C_1 + ... + C_L) / R seconds: the work undistributed, if one node could hold it.

    Raises ValueError where network or system cannot be modelled, or inputs is not an int above 0.
    """
    _check_system(system)
    return tensor_parallel_latency(network, system._replace(nodes=1), inputs)


def data_parallel_latency(network: "Network", system: System, inputs: int = 1) -> Fraction:
    """ceil(N / P) * (C_1 + ... + C_L) / R seconds: each node computes whole inputs, if it could
    hold all weights (handout, Q3); communication is left out.

    Raises ValueError as single_node_latency does.
    """
    latency_s = single_node_latency(network, system, inputs)
    return latency_s / inputs * -(-inputs // system.nodes)


# ------------------------------------------------ the required output


def plain(value: "Rate", digits: int = 17) -> str:
    """The number in plain decimal notation: exact where it ends within so many significant
    digits, otherwise rounded to them, half to even. Nothing is too large or too small for it.
    """
    context = Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)
    quotient = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{context.normalize(quotient):f}"


STRATEGIES = (
    ("tensor", tensor_parallel_stages, tensor_parallel_latency, tensor_parallel_traffic),
    ("pipeline", pipeline_parallel_stages, pipeline_parallel_latency, pipeline_parallel_traffic),
)


def answers(network: "Network", system: System, inputs: int) -> str:
    """The blocks of Q1 and Q2 in the format of the handout, "Deliverables"."""
    lines = []
    for header, count in (
        ("-----Q1 single input-----", 1),
        (f"--------Q2 {inputs} inputs------", inputs),
    ):
        lines.append(header)
        for name, _, latency, traffic in STRATEGIES:
            latency_s = plain(latency(network, system, count))
            traffic_bytes = traffic(network, system, count)
            lines.append(f"Total latency of {name} parallelism is {latency_s} seconds")
            lines.append(f"Total network traffic of {name} parallelism is {traffic_bytes} bytes")
    return "\n".join(lines)


# ------------------------------------------------ --json

LAYER_SHAPE = (*ConvLayer._fields, "out_x", "out_y")
LAYER_SUMS = ("macs", "ops", "weight_bytes")
LAYER_FIGURES = (*LAYER_SUMS, "input_bytes", "output_bytes")


def report(network: "Network", system: System, inputs: int) -> "dict[str, Any]":
    """Every figure, still exact, in tables of named columns: --json and --explain print it."""
    return {
        "system": {**system._asdict(), "links": system.links},
        "layers": [
            {
                "layer": number,
                **{name: getattr(layer, name) for name in LAYER_SHAPE + LAYER_FIGURES},
            }
            for number, layer in enumerate(network, 1)
        ],
        "tensor_parallel_stages": _rows(tensor_parallel_stages(network, system)),
        "pipeline_parallel_stages": _rows(pipeline_parallel_stages(network, system)),
        "results": [
            row
            for topology in TOPOLOGIES
            for count in sorted({1, inputs})
            for row in _results(network, system._replace(topology=topology), count)
        ],
        "sram": [
            *_rows(tensor_parallel_sram(network, system), strategy="tensor"),
            *_rows(pipeline_parallel_sram(network, system), strategy="pipeline"),
            *_rows(pipeline_parallel_sram(network, system, True), strategy="streamed"),
            *_rows(data_parallel_sram(network, system), strategy="data"),
        ],
        "data_parallel_latency_s": data_parallel_latency(network, system, inputs),
    }


def _rows(records: "Iterable[Any]", **columns: str) -> "list[dict[str, Any]]":
    return [{**columns, **record._asdict()} for record in records]


def _results(network: "Network", system: System, inputs: int) -> "list[dict[str, Any]]":
    rows = []
    for strategy, stages_of, latency, traffic in STRATEGIES:
        stages = stages_of(network, system)
        compute_s = sum(stage.latency_s for stage in stages if stage.work == "compute")
        latency_s = latency(network, system, inputs)
        speed_up = single_node_latency(network, system, inputs) / latency_s
        rows.append(
            {
                "topology": system.topology,
                "inputs": inputs,
                "strategy": strategy,
                "one_input_compute_s": compute_s,
                "one_input_communication_s": sum(stage.latency_s for stage in stages) - compute_s,
                "slowest_stage_s": max(stage.latency_s for stage in stages),
                "latency_s": latency_s,
                "traffic_bytes": traffic(network, system, inputs),
                "speed_up": speed_up,
                "utilisation": speed_up / system.nodes,
            }
        )
    return rows


def to_json(figures: "dict[str, Any]") -> str:
    """The report as JSON, with numbers as `plain` prints them: a float would round them, or be
    Infinity. The json module passes a number on as a string with a mark, which is then taken off.
    """
    import json  # here, since the lab's answers do without it

    text = json.dumps(figures, indent=2, default=lambda value: f"#{plain(value)}")
    return re.sub('"#(.*)"', r"\1", text)


# ------------------------------------------------ --explain

EXPLANATION = """\
P = {nodes} nodes, {topology}, {links} one-way links, {sram_bytes} bytes of SRAM a node
R = {ops_per_s} ops/s a node, B = {link_bytes_per_s} bytes/s a link, 1 us = 10^-6 s
Figures are exact up to 12 significant digits. Ratios, and figures too wide for their place, are
rounded to 5.

1. Readings of the handout
{readings}

2. The network
{shapes}

   out_x = x - fx + 1, out_y = y - fy + 1
   MACs = filters * in_channels * fx * fy * out_x * out_y, ops C = 2 * MACs
   weights = filters * in_channels * fx * fy, input = in_channels * x * y and
   output = filters * out_x * out_y elements, each of element_bytes; A = output bytes

{work}

3. Tensor parallelism
   compute = C / (P * R), shard S = A / P; one node communicates nothing
   all-gather: S / B, P * (P - 1) * S bytes; on a ring (P - 1) * S / B, P * (P - 1) * S bytes
   gather: S / B, (P - 1) * S bytes; on a ring (P - 1) * S / B, P * (P - 1) / 2 * S bytes

{tensor_stages}

   latency = N * (compute + communication), traffic = N * sum(traffic bytes)
{tensor_sums}

4. Pipeline parallelism
   compute = C / R on node l for layer l, send = A / B on the link to node l + 1

{pipeline_stages}

   latency = compute + communication + (N - 1) * bottleneck, traffic = N * sum(traffic bytes)
{pipeline_sums}

5. Utilisation and speed-up
   speed up = N * sum(C) / R / latency, over a single node that computes everything
   utilisation = ops done / ops that P nodes do in the latency = speed up / P

{results}

6. SRAM, and why to distribute (Q3)
   tensor    every node holds 1/P of all weights, a layer's input and 1/P of its output;
             one node the whole output at last
   pipeline  node l holds layer l's weights, input and output
   streamed  the least that node l works with: layer l's weights, fy rows of the input, one row of
             the output; the rest of the first input and of the last output comes on top
   data      every node holds all weights, a layer's input and its output

{sram_uses}

   All weights are {weight_bytes} bytes, a node's SRAM is {sram_bytes}. Were it no limit,
   data parallelism would take ceil(N / P) * sum(C) / R = {data_parallel_us} us
   for N = {inputs}, compute only. The times above do not ask what fits.

7. All-to-all and ring, for 1 input (Q4)
{topologies}"""
SUMS = {
    "tensor": """\
   N = {inputs}
      {inputs} * ({one_input_compute_s} + {one_input_communication_s}) us
      = {latency_s} us, {traffic_bytes} bytes""",
    "pipeline": """\
   N = {inputs}
      {one_input_compute_s} + {one_input_communication_s} + ({inputs} - 1) * {slowest_stage_s} us
      = {latency_s} us, {traffic_bytes} bytes""",
}
RESULT_FIGURES = ("latency_s", "traffic_bytes", "speed_up", "utilisation")
TOPOLOGY_FIGURES = ("one_input_communication_s", "latency_s", "traffic_bytes")


def explain(network: "Network", system: System, inputs: int) -> str:
    """Every figure's derivation, to be checked by hand."""
    figures = report(network, system, inputs)
    layers, stages = figures["layers"], figures["pipeline_parallel_stages"]
    total = {name: sum(layer[name] for layer in layers) for name in LAYER_SUMS}
    slowest_s = max(stage["latency_s"] for stage in stages)
    for stage in stages:
        stage[""] = "<- bottleneck" if stage["latency_s"] == slowest_s else ""
    results = [row for row in figures["results"] if row["topology"] == system.topology]
    single_inputs = [row for row in figures["results"] if row["inputs"] == 1]
    sums = {
        name: "\n".join(form.format(**_texts(row)) for row in results if row["strategy"] == name)
        for name, form in SUMS.items()
    }
    return EXPLANATION.format(
        readings="\n".join(f"   {what:<18} {reading}" for what, reading in READINGS),
        shapes=_table(layers, "layer", *LAYER_SHAPE),
        work=_table([*layers, {"layer": "sum", **total}], "layer", *LAYER_FIGURES),
        tensor_stages=_table(figures["tensor_parallel_stages"], *Stage._fields),
        tensor_sums=sums["tensor"],
        pipeline_stages=_table(stages, *Stage._fields, ""),
        pipeline_sums=sums["pipeline"],
        results=_table(results, "inputs", "strategy", *RESULT_FIGURES),
        sram_uses=_table(figures["sram"], "strategy", *SramUse._fields),
        topologies=_table(single_inputs, "topology", "strategy", *TOPOLOGY_FIGURES),
        data_parallel_us=_text("latency_s", figures["data_parallel_latency_s"]),
        weight_bytes=_text("weight_bytes", total["weight_bytes"]),
        inputs=_text("inputs", inputs),
        **_texts(figures["system"]),
    )


def _texts(figures: "dict[str, Any]") -> "dict[str, str]":
    return {name: _text(name, value) for name, value in figures.items()}


def _text(name: str, value: "Any", width: int = 16) -> str:
    """A figure for people: times in us, thousands grouped, scientific if wider than the width."""
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if not isinstance(value, (int, Fraction)):
        return str(value)
    if name.endswith("_s") and "_per_" not in name:
        value *= 10**6
    digits = 5 if name in ("speed_up", "utilisation") else 12
    figure = Decimal(plain(value, digits))
    return f"{figure:,f}" if len(f"{figure:,f}") <= width else f"{figure:.4e}"


def _table(rows: "list[dict[str, Any]]", *names: str) -> str:
    """A table with these columns: the first flush left, the others flush right."""
    cells = [[re.sub("_s$", "_us", name).replace("_", " ") for name in names]]
    width = min(16, 100 // len(names))
    cells += [[_text(name, row.get(name, ""), width) for name in names] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in cells
    ]
    return "\n".join(f"   {line}".rstrip() for line in lines)


# ------------------------------------------------ command line

MAX_DIGITS = 640  # of a number given as text: as many as every Python converts to an int
LAYER_FORMAT = "FILTERS,IN_CHANNELS,FX,FY,X,Y"
DEFAULTS = {
    "--inputs": str(INPUTS),
    "--nodes": str(SYSTEM.nodes),
    "--gops": str(SYSTEM.ops_per_s // GIGA),
    "--link-gbs": str(SYSTEM.link_bytes_per_s // GIGA),
    "--sram-kib": str(SYSTEM.sram_bytes // KIB),
    "--topology": SYSTEM.topology,
    "--element-bytes": str(FP16_BYTES),
}
HELP = """\
usage: python3 lab3.py [--explain | --json] [what-if options]

How long distributed CNN inference takes, and how many bytes cross the network,
with tensor and with pipeline parallelism. Without options: the lab's Q1 and Q2.

output:
  --explain          derive every figure, step by step
  --json             print every figure as JSON, in seconds and bytes
  -h, --help         print this text

what if (the defaults are the handout's):
  --inputs N         number of inputs in Q2 (default: {--inputs})
  --nodes P          number of nodes (default: {--nodes})
  --gops X           10^9 ops/s of a node (default: {--gops})
  --link-gbs X       10^9 bytes/s of a one-way link (default: {--link-gbs})
  --sram-kib X       KiB, 1,024 bytes, of a node's SRAM (default: {--sram-kib})
  --topology T       all-to-all or ring (default: {--topology})
  --element-bytes B  bytes of a weight or an activation (default: {--element-bytes})
  --layer FILTERS,IN_CHANNELS,FX,FY,X,Y
                     a layer instead of the handout's; repeat for each, in order

X is a number above 0, such as 50, 0.1, 1/3 or 2e-9; the others are whole.
P must divide every layer's filters, and be no less than the number of layers.

examples:
  python3 lab3.py --explain
  python3 lab3.py --inputs 64 --topology ring
  python3 lab3.py --nodes 8 --link-gbs 0.1 --json
  python3 lab3.py --layer 64,3,5,5,32,32 --layer 32,64,3,3,28,28 --explain"""


def main(argv: "Sequence[str] | None" = None) -> int:
    """Run the command line. Returns the exit status: 0, 2 for bad input, 1 for failed output."""
    arguments = sys.argv[1:] if argv is None else argv
    try:
        text = _respond(arguments) if arguments else answers(NETWORK, SYSTEM, INPUTS)
    except ValueError as error:
        _complain(str(error))
        return 2
    return _write(text)


def _respond(arguments: "Sequence[str]") -> str:
    if "-h" in arguments or "--help" in arguments:
        return HELP.format_map(DEFAULTS)
    given = _options(arguments)
    options = {**DEFAULTS, **dict(given)}
    if "--explain" in options and "--json" in options:
        raise ValueError("--explain and --json exclude each other")
    topology = options["--topology"]
    _check_topology(topology, "--topology")
    inputs, nodes, element_bytes = (
        _count(name, options[name]) for name in ("--inputs", "--nodes", "--element-bytes")
    )
    gops, link_gbs, sram_kib = (
        _rate(name, options[name]) for name in ("--gops", "--link-gbs", "--sram-kib")
    )
    sram_bytes = int(sram_kib * KIB)
    if sram_bytes != sram_kib * KIB:
        raise ValueError(f"--sram-kib: {_shown(options['--sram-kib'])} is not a multiple of 1/1024")
    layers = [_layer(text) for name, text in given if name == "--layer"] or NETWORK
    network = [layer._replace(element_bytes=element_bytes) for layer in layers]
    system = System(nodes, gops * GIGA, link_gbs * GIGA, sram_bytes, topology)
    if "--json" in options:
        return to_json(report(network, system, inputs))
    return (explain if "--explain" in options else answers)(network, system, inputs)


def _options(arguments: "Sequence[str]") -> "list[tuple[str, str]]":
    import getopt  # here, since the lab's answers do without it; argparse takes -1e5 for an option

    names = ["explain", "json", "layer=", *(f"{option[2:]}=" for option in DEFAULTS)]
    try:
        given, words = getopt.getopt(arguments, "", names)
    except getopt.GetoptError as error:
        raise ValueError(f"{ascii(error.msg)[1:-1]}; lab3.py --help lists the options") from None
    if words:
        raise ValueError(f"{_shown(words[0])} is not an option; lab3.py --help lists the options")
    return given


def _count(name: str, text: str) -> int:
    if len(text) <= MAX_DIGITS and re.fullmatch("0*[1-9][0-9]*", text):
        return int(text)
    raise ValueError(
        f"{name}: {_shown(text)} is not a whole number above 0, of at most {MAX_DIGITS} digits 0-9"
    )


def _rate(name: str, text: str) -> Fraction:
    decimal = r"([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]{1,3})?"
    ratio = "[0-9]+/0*[1-9][0-9]*"
    if len(text) <= MAX_DIGITS and re.fullmatch(f"{decimal}|{ratio}", text, re.IGNORECASE):
        rate = Fraction(text)
        if rate > 0:
            return rate
    raise ValueError(
        f"{name}: {_shown(text)} is not a number above 0, such as 50, 0.1, 1/3 or 2e-9, of at most"
        f" {MAX_DIGITS} characters, 3 of them for the exponent"
    )


def _layer(text: str) -> ConvLayer:
    names, parts = LAYER_FORMAT.split(","), text.split(",")
    if len(parts) != len(names):
        raise ValueError(f"--layer: {_shown(text)} is not {len(names)} counts {LAYER_FORMAT}")
    return ConvLayer(*(_count(f"--layer {name}", part) for name, part in zip(names, parts)))


def _write(text: str) -> int:
    """Print the text. Returns the exit status."""
    if sys.stdout is None:
        _complain("cannot write the output: it is closed")
        return 1
    try:
        print(text, flush=True)
    except OSError as error:
        # At exit the interpreter flushes what is left: into nothing, so that it cannot fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # a reader that has seen enough is no error
            _complain(f"cannot write the output: {error.strerror}")
            return 1
    return 0


def _complain(message: str) -> None:
    try:
        sys.stderr.write(f"lab3.py: error: {message}\n")
        sys.stderr.flush()
    except (AttributeError, OSError):
        pass  # it is closed or full, and there is nowhere else to say so


if __name__ == "__main__":
    sys.exit(main())
