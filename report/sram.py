"""What each node's SRAM must hold: there is no DRAM (handout, "The hardware").

Weights stay in SRAM throughout. Activations count for one input at a time: queued inputs and stored
outputs are not counted.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import lab3
from lab3 import ConvLayer, Network, System
from report.steps import shards_in_turn


class SramUse(NamedTuple):
    """What the fullest of some nodes holds while it computes a layer, or gathers the output."""

    where: str  # "every node", "gathering node" or "node 2"
    layer: int  # counted from 1
    work: str  # "compute" or "gather"
    weight_bytes: int
    input_bytes: int
    output_bytes: int

    @property
    def total_bytes(self) -> int:
        """weights + input + output"""
        return self.weight_bytes + self.input_bytes + self.output_bytes


def tensor_parallel_sram(network: Network, system: System) -> list[SramUse]:
    """Every node: 1 / P of all weights, a layer's input, 1 / P of its output; the gathering node
    finally holds the whole output.

    Raises ValueError as lab3.check_tensor_parallel does.
    """
    lab3.check_tensor_parallel(network, system)
    weights = sum(layer.weight_bytes for layer in network) // system.nodes
    every, gathering = ("every node", "gathering node") if system.nodes > 1 else ("node 1",) * 2
    uses = [
        SramUse(
            every, number, "compute", weights, layer.input_bytes, layer.output_bytes // system.nodes
        )
        for number, layer in enumerate(network, 1)
    ]
    return [*uses, SramUse(gathering, len(network), "gather", weights, 0, network[-1].output_bytes)]


def pipeline_parallel_sram(network: Network, system: System) -> list[SramUse]:
    """Each node: its layer's weights, input and output.

    Raises ValueError as lab3.check_pipeline_parallel does.
    """
    lab3.check_pipeline_parallel(network, system)
    return [
        SramUse(
            f"node {number}",
            number,
            "compute",
            layer.weight_bytes,
            layer.input_bytes,
            layer.output_bytes,
        )
        for number, layer in enumerate(network, 1)
    ]


def data_parallel_sram(network: Network, system: System) -> list[SramUse]:
    """Every node: all weights, a layer's input and output.

    Raises ValueError for what cannot be modelled.
    """
    lab3.check(network, system)
    *uses, _ = tensor_parallel_sram(network, system._replace(nodes=1))  # nothing to gather
    where = "every node" if system.nodes > 1 else "node 1"
    return [use._replace(where=where) for use in uses]


def check_streams(system: System) -> None:
    """Raise ValueError on a ring of more than two nodes: when a row passes on a link depends on the
    rows of others there, so that row streaming has no closed form for tensor parallelism."""
    if shards_in_turn(system) > 1:
        where = f"on a ring of {system.nodes} nodes, only all-to-all"
        raise ValueError(f"Tensor parallelism with row streaming is not modelled {where}")


def tensor_streamed_sram(network: Network, system: System) -> list[SramUse]:
    """Every node: 1 / P of all weights; while it computes row r of a layer (0, 1, 2, ...), the
    input rows from r on, and of the output r whole rows and its share of row r. Only the gathering
    node holds whole rows of the last layer, and finally all of them.

    The total of a layer peaks at its first or last row. A row is held from the start of its
    computation or arrival until no computation or link needs it any more, and rows leave and arrive
    as soon as they can. This is the peak for one input if no row, A / (out_y * B), takes longer to
    send than any row, C / (out_y * R), to compute. On slower links rows arrive later.

    Raises ValueError as lab3.check_tensor_parallel and check_streams do, and for such slow links.
    """
    *computing, gathering = tensor_parallel_sram(network, system)
    check_streams(system)
    send_s = max(Fraction(layer.output_bytes, layer.out_y) for layer in network)
    compute_s = min(Fraction(layer.ops, layer.out_y) for layer in network)
    if system.nodes > 1 and send_s / system.link_bytes_per_s > compute_s / system.ops_per_s:
        slow = "links on which a row takes longer to send than another to compute"
        raise ValueError(f"SRAM of tensor parallelism with row streaming is not modelled on {slow}")
    uses = []
    for use, layer in zip(computing, network, strict=True):
        row_in, row_out = _row_bytes(layer)
        first, last = (
            use._replace(
                input_bytes=row_in * (layer.y - row),
                output_bytes=row_out * row + row_out // system.nodes,
            )
            for row in (0, layer.out_y - 1)
        )
        if use.layer == len(network):
            last = last._replace(where=gathering.where)
        uses.append(max(first, last, key=lambda use: use.total_bytes))
    return [*uses, gathering]


def pipeline_streamed_sram(network: Network, system: System) -> list[SramUse]:
    """Each node: its layer's weights, input rows for one filter's height, one output row; but the
    first node its whole input, and the last node its whole output.

    A row is computed or sent only if there is room for it, and may arrive only if one output row
    (on the last node, the whole output) still has room. Then this is enough for any number of
    inputs, not counting those queued on the first node, and for two layers or more it is the least.
    But a row may wait for room, and so be later than in ample SRAM.

    Raises ValueError as lab3.check_pipeline_parallel does.
    """
    uses = []
    for use, layer in zip(pipeline_parallel_sram(network, system), network, strict=True):
        row_in, row_out = _row_bytes(layer)
        uses.append(
            use._replace(
                input_bytes=use.input_bytes if use.layer == 1 else row_in * layer.fy,
                output_bytes=use.output_bytes if use.layer == len(network) else row_out,
            )
        )
    return uses


def _row_bytes(layer: ConvLayer) -> tuple[int, int]:
    """Bytes of a row of the input and of one of the output."""
    return layer.input_bytes // layer.y, layer.output_bytes // layer.out_y
