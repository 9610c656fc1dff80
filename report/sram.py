"""What a node must hold in its SRAM, as there is no DRAM (handout, "The hardware").

Weights stay; of the inputs one at a time is counted: nothing of others that wait or are done.
"""

from __future__ import annotations

import whatif  # first, since it finds lab3  # noqa: F401

# isort: split
from typing import NamedTuple

import lab3
from lab3 import Network, System


class SramUse(NamedTuple):
    """What a node holds while it computes a layer, or gathers the output."""

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
    """Every node: 1 / P of all weights, a layer's input, 1 / P of its output; the one that gathers:
    at last the whole output. Raises ValueError as lab3.tensor_parallel_stages does."""
    lab3.tensor_parallel_stages(network, system)
    weights = sum(layer.weight_bytes for layer in network) // system.nodes
    uses = [
        SramUse(number, "compute", weights, layer.input_bytes, layer.output_bytes // system.nodes)
        for number, layer in enumerate(network, 1)
    ]
    return [*uses, SramUse(len(network), "gather", weights, 0, network[-1].output_bytes)]


def pipeline_parallel_sram(network: Network, system: System) -> list[SramUse]:
    """Node l: layer l's weights, input and output. Raises ValueError as
    lab3.pipeline_parallel_stages does."""
    lab3.pipeline_parallel_stages(network, system)
    return [
        SramUse(number, "compute", layer.weight_bytes, layer.input_bytes, layer.output_bytes)
        for number, layer in enumerate(network, 1)
    ]


def data_parallel_sram(network: Network, system: System) -> list[SramUse]:
    """Every node: all weights, a layer's input and output."""
    lab3.check(network, system)
    weights = sum(layer.weight_bytes for layer in network)
    return [
        SramUse(number, "compute", weights, layer.input_bytes, layer.output_bytes)
        for number, layer in enumerate(network, 1)
    ]


def pipeline_streamed_sram(network: Network, system: System) -> list[SramUse]:
    """Node l, row by row: layer l's weights, fy rows of the input, one row of the output; but the
    first node its whole first input, and the last node its whole last output."""
    uses = []
    for use, layer in zip(pipeline_parallel_sram(network, system), network, strict=True):
        row_in, row_out = layer.input_bytes // layer.y, layer.output_bytes // layer.out_y
        uses.append(
            use._replace(
                input_bytes=use.input_bytes if use.layer == 1 else row_in * layer.fy,
                output_bytes=use.output_bytes if use.layer == len(network) else row_out,
            )
        )
    return uses
