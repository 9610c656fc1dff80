"""What each node's SRAM must hold: there is no DRAM (handout, "The hardware").

A node holds its weights throughout; of one input at a time, a layer's whole input and what the node
computes of the output. Inputs that wait and outputs that are done are not counted. A network and a
system are expected to have passed report/question.py: the strategy is possible.
"""

from typing import NamedTuple

from lab3 import Network, System
from report.model import Model, list_layers


class SramUse(NamedTuple):
    """What some nodes hold while they compute a layer, or one of them gathers the output."""

    where: str  # "every node", "one node" or "node 2"
    layer: int  # counted from 1
    work: str  # "compute" or "gather"
    weight_bytes: int
    input_bytes: int
    output_bytes: int

    @property
    def total_bytes(self) -> int:
        """Add up weights, input and output."""
        return self.weight_bytes + self.input_bytes + self.output_bytes


def tensor_sram(network: Network, system: System) -> list[SramUse]:
    """List what every node holds, layer by layer: 1 / P of all weights, the layer's whole input and
    a shard of its output. The input is dropped before the output is gathered. In the end one node
    holds the whole last output."""
    weights, nodes = count_weight_bytes(network) // system.nodes, system.nodes
    uses = []
    for layer in list_layers(network):
        sizes = weights, layer["input_bytes"], layer["output_bytes"] // nodes
        uses.append(SramUse("every node", layer["layer"], "compute", *sizes))
    if nodes > 1:
        sizes = weights, 0, network[-1].output_bytes
        uses.append(SramUse("one node", len(network), "gather", *sizes))
    return uses


def pipeline_sram(network: Network, system: System) -> list[SramUse]:
    """List what node l holds, for each l: layer l's weights, input and output."""
    uses = []
    for layer in list_layers(network):
        sizes = layer["weight_bytes"], layer["input_bytes"], layer["output_bytes"]
        uses.append(SramUse(f"node {layer['layer']}", layer["layer"], "compute", *sizes))
    return uses


def data_sram(network: Network, system: System) -> list[SramUse]:
    """List what every node holds, layer by layer: all weights, the layer's input and output."""
    weights, uses = count_weight_bytes(network), pipeline_sram(network, system)
    return [use._replace(where="every node", weight_bytes=weights) for use in uses]


def count_weight_bytes(network: Network) -> int:
    """Count the bytes of all weights."""
    return sum(layer["weight_bytes"] for layer in list_layers(network))


HOLD = {"tensor": tensor_sram, "pipeline": pipeline_sram, "data": data_sram}


def find_fullest(strategy: str, network: Network, system: System) -> SramUse:
    """Find the fullest moment of a strategy's fullest node."""
    return max(HOLD[strategy](network, system), key=lambda use: use.total_bytes)


# ------------------------------------------------ what one input at a time does not count
def tensor_sram_input_kept(network: Network, system: System) -> int:
    """Count the bytes of a node that keeps each layer's input until it has the whole output."""
    kept = max(layer["input_bytes"] + layer["output_bytes"] for layer in list_layers(network))
    return count_weight_bytes(network) // system.nodes + kept


def tensor_sram_inputs_waiting(network: Network, system: System, inputs: int) -> int:
    """Count the bytes of the fullest node if it also holds the inputs that wait: all but one."""
    fullest = find_fullest("tensor", network, system).total_bytes
    return fullest + (inputs - 1) * list_layers(network)[0]["input_bytes"]


def pipeline_sram_overlapping(network: Network, system: System) -> SramUse | None:
    """Find what the fullest bottleneck node holds with its next input, which arrives while it
    computes, because it computes without a break; None if a link or the first node, which receives
    nothing, is the bottleneck. It holds at least that: if sends are slow, an output that is still
    being sent comes on top."""
    pipeline = Model("pipeline", network, system)
    is_busy = [time_s == pipeline.interval_s for time_s in pipeline["compute"]]
    uses = [
        use._replace(input_bytes=2 * use.input_bytes)
        for use in pipeline_sram(network, system)
        if use.layer > 1 and is_busy[use.layer - 1]
    ]
    return max(uses, key=lambda use: use.total_bytes, default=None)
