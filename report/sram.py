"""What each node's SRAM must hold: there is no DRAM (handout, "The hardware").

Weights stay in SRAM throughout. Activations count for one input at a time: queued inputs and stored
outputs are not counted.
"""

from __future__ import annotations

from typing import NamedTuple

from lab3 import Network, System
from report.plans import Group, Plan, pipeline_parallel, placed


class SramUse(NamedTuple):
    """What the fullest of some nodes holds while it computes a layer, or gathers the output."""

    where: str  # "every node" of a group, "gathering node" or "node 2"
    layer: int  # counted from 1
    work: str  # "compute" or "gather"
    weight_bytes: int
    input_bytes: int
    output_bytes: int

    @property
    def total_bytes(self) -> int:
        """weights + input + output"""
        return self.weight_bytes + self.input_bytes + self.output_bytes


def plan_sram(network: Network, system: System, plan: Plan) -> list[list[SramUse]]:
    """What each node of each group holds, layer by layer, with whole-tensor transfers.

    Raises ValueError as plans.placed does.
    """
    held = []
    for layers, nodes in placed(network, system, plan):
        uses = group_sram(network, layers, len(nodes))
        if len(nodes) == 1:
            uses = [use._replace(where=f"node {nodes[0]}") for use in uses]
        held.append(uses)
    return held


def group_sram(network: Network, layers: range, nodes: int) -> list[SramUse]:
    """Each node of a group: 1 / p of the weights of all its layers; a layer's whole input and 1 / p
    of its output. After the network's last layer, one of them gathers the whole output; then the
    input is gone."""
    weights = sum(network[number - 1].weight_bytes for number in layers) // nodes
    uses = []
    for number in layers:
        layer = network[number - 1]
        shard_bytes = layer.output_bytes // nodes
        uses.append(
            SramUse("every node", number, "compute", weights, layer.input_bytes, shard_bytes)
        )
    if nodes > 1 and layers[-1] == len(network):
        output_bytes = network[-1].output_bytes
        uses.append(SramUse("gathering node", len(network), "gather", weights, 0, output_bytes))
    return uses


def data_parallel_sram(network: Network, system: System) -> list[SramUse]:
    """Every node: all weights, a layer's input and output."""
    [uses] = plan_sram(network, system, [Group(len(network))])
    where = "every node" if system.nodes > 1 else "node 1"
    return [use._replace(where=where) for use in uses]


def pipeline_streamed_sram(network: Network, system: System) -> list[SramUse]:
    """Row streaming in the pipeline. Each node: its layer's weights, input rows for one filter's
    height, one output row; but the first node its whole input, and the last its whole output.

    A row is computed or sent only if there is room for it, and may arrive only if one output row
    (on the last node, the whole output) still has room. Then this is enough for any number of
    inputs, not counting those queued on the first node, and for two layers or more it is the least.
    But a row may wait for room, and so be later than in ample SRAM.

    Raises lab3's ValueError if pipeline parallelism is not possible.
    """
    uses = []
    whole = plan_sram(network, system, pipeline_parallel(network, system))
    for [use], layer in zip(whole, network, strict=True):
        input_bytes, output_bytes = use.input_bytes, use.output_bytes
        if use.layer > 1:
            input_bytes = layer.input_bytes // layer.y * layer.fy
        if use.layer < len(network):
            output_bytes = layer.output_bytes // layer.out_y
        uses.append(use._replace(input_bytes=input_bytes, output_bytes=output_bytes))
    return uses
