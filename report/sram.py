"""What each node's SRAM must hold: there is no DRAM (handout, "The hardware").

A node holds its weights throughout and, for one input at a time, a layer's whole input and the part
of the output that the node computes. Inputs that wait and outputs that are done are not counted.
Strategies are the possible ones and data parallelism.
"""

from itertools import compress
from typing import NamedTuple

from report.model import Model, list_layers
from report.question import Question, find_impossible


class SramUse(NamedTuple):
    """Bytes that nodes hold while they compute a layer, or one of them gathers the output."""

    strategy: str
    where: str  # "every node", "one node", which gathers, or "node 2"
    layer: int  # counted from 1
    weight_bytes: int
    input_bytes: int
    output_bytes: int

    @property
    def total_bytes(self) -> int:
        """Add up weights, input and output."""
        return self.weight_bytes + self.input_bytes + self.output_bytes


def list_sram(question: Question, strategy: str) -> list[SramUse]:
    """List the bytes nodes hold, layer by layer. In a pipeline, each node has a layer. With data
    parallelism, each node has all layers, and with tensor parallelism 1 / P of all weights and of
    the output; it drops the input before the output is gathered, which one node then holds."""
    layers = list_layers(question.network)
    nodes = question.system.nodes if strategy == "tensor" else 1  # that share weights and outputs
    weight_bytes = sum(layer["weight_bytes"] for layer in layers) // nodes
    uses = []
    for layer in layers:
        where, weights = "every node", weight_bytes
        if strategy == "pipeline":
            where, weights = f"node {layer['layer']}", layer["weight_bytes"]
        sizes = weights, layer["input_bytes"], layer["output_bytes"] // nodes
        uses.append(SramUse(strategy, where, layer["layer"], *sizes))
    if nodes > 1:
        gathered = weight_bytes, 0, layers[-1]["output_bytes"]
        uses.append(SramUse(strategy, "one node", len(layers), *gathered))
    return uses


def find_fullest(uses: list[SramUse]) -> SramUse:
    """Find the fullest moment of the fullest node."""
    return max(uses, key=lambda use: use.total_bytes)


def fits(question: Question, strategy: str) -> bool:
    """Return whether a strategy fits in each node's SRAM."""
    return find_fullest(list_sram(question, strategy)).total_bytes <= question.system.sram_bytes


# ------------------------------------------------ what the count leaves out
def list_uncounted(question: Question) -> dict[str, SramUse]:
    """Map what the count leaves out to what a node then holds, where it occurs.

    input kept      tensor parallelism keeps a layer's input until it has the whole output
    inputs waiting  all other inputs wait in every node
    next input      the fullest of a pipeline's bottleneck nodes, which compute without a break, so
                    that the next input arrives meanwhile; not at node 1, which receives nothing.
                    At least: if sends are slow, an output that is being sent is added
    """
    impossible, uncounted = find_impossible(question), {}
    network, system, inputs = question
    layers = list_layers(network)
    if "tensor" not in impossible and system.nodes > 1:
        parts = list_sram(question, "tensor")[:-1]  # without the gather
        kept = [use._replace(output_bytes=system.nodes * use.output_bytes) for use in parts]
        uncounted["input kept"] = find_fullest(kept)
    if "tensor" not in impossible and inputs > 1:
        use = find_fullest(list_sram(question, "tensor"))
        waiting_bytes = (inputs - 1) * layers[0]["input_bytes"]
        uncounted["inputs waiting"] = use._replace(input_bytes=use.input_bytes + waiting_bytes)
    if "pipeline" not in impossible and inputs > 1:
        model, uses = Model("pipeline", network, system), list_sram(question, "pipeline")
        busy = [compute_s == model["interval"] for compute_s in model["compute"]]
        received = [use._replace(input_bytes=2 * use.input_bytes) for use in uses]
        if following := [*compress(received[1:], busy[1:])]:
            uncounted["next input"] = find_fullest(following)
    return uncounted
