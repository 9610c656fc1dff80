"""What is behind lab3.py's closed forms: the quantities of a strategy, one after the other.

Each quantity has a name, and beside it lab3.py's symbol if there is one. An edit replaces some
quantities: report/check/mistakes.py describes each mistake as such an edit. Without edits the
latencies and the traffic are those of lab3.py's functions, of which this is a second statement. A
network and a system are expected to have passed report/question.py: the strategy is possible.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import lab3
from lab3 import ConvLayer, Network, Rate, System

STRATEGIES = "tensor", "pipeline"

Edit = dict[str, Callable[["Model"], Any]]  # a quantity's name: how to compute it instead


class Exchange(NamedTuple):
    """What nodes send each other after a layer, in shards of its output."""

    link: Rate  # over the busiest link, one after the other
    total: Rate  # over all links


class Step(NamedTuple):
    """The computation of a layer, or the transfer of its output, for one input."""

    layer: int  # counted from 1
    work: str  # "compute", "all-gather", "gather" or "send"
    node_ops: int  # that each node at work computes
    link_bytes: int  # that the busiest link carries
    traffic_bytes: int  # that all links carry together
    time_s: Fraction
    where: str  # "all nodes", "all links", "node 2" or "link 2 to 3"


class Model:
    """What a strategy computes and sends for one input, layer by layer, and how long that takes.

    Lists of transfers begin with what is sent before layer 1, which is nothing, and go on with
    what is sent after each layer.
    """

    network: Network
    system: System
    nodes: int  # P
    peers: int  # P - 1
    links: int  # one-way; 1 if there are none, so that 1 / links exists
    rounds: int  # shards that the busiest link carries in an all-gather, as in lab3.py
    gather_hops: int  # links that the shards of a gather cross, as in lab3.py
    computed: list[ConvLayer]  # the layers whose ops count
    sent: list[ConvLayer]  # the layers whose outputs are sent
    ops: list[Rate]  # C
    element_bytes: int
    input_bytes: Rate  # of the network's input
    output_bytes: list[Rate]  # A
    op_s: Rate  # 1 / R
    byte_s: Rate  # 1 / B
    shard_bytes: list[Rate]  # of the network's input, then S of each layer
    broadcast: Exchange  # of the network's input, before layer 1
    all_gather: Exchange  # of each output but the last
    gather: Exchange  # of the last output
    node_ops: list[Rate]  # that each node at work computes of a layer
    traffic_bytes: list[Rate]  # of each transfer, over all links
    link_bytes: list[Rate]  # of each transfer, over the busiest link
    compute_s: list[Rate]  # of each layer
    send_s: list[Rate]  # of each transfer
    first_s: Rate  # of one input
    interval_s: Rate  # after which one more input is done
    input_traffic: Rate  # bytes of one input
    asked: int  # inputs that are asked for
    inputs: int  # N
    latency_s: Rate  # of N inputs
    traffic: Rate  # bytes of N inputs

    def __init__(
        self, strategy: str, network: Network, system: System, edits: Iterable[Edit] = ()
    ) -> None:
        self.strategy, self.edits = strategy, [*edits]
        self.set(network=network, system=system)
        self.set(nodes=self.system.nodes)
        self.set_links()
        self.set_layers()
        self.set(op_s=Fraction(1, self.system.ops_per_s))
        self.set(byte_s=Fraction(1, self.system.link_bytes_per_s))
        is_tensor = strategy == "tensor"
        if is_tensor:
            self.split_layers()
        else:
            self.place_layers()
        self.set(compute_s=[ops * self.op_s for ops in self.node_ops])
        self.set(send_s=[size * self.byte_s for size in self.link_bytes])
        self.set(first_s=sum([*self.compute_s, *self.send_s]))
        self.set(interval_s=self.first_s if is_tensor else max(*self.compute_s, *self.send_s))
        self.set(input_traffic=sum(self.traffic_bytes))

    def set(self, **quantities: Any) -> None:
        """Set quantities, each to what an edit computes in its place if there is one."""
        for name, value in quantities.items():
            setattr(self, name, value)
            for edit in self.edits:
                if name in edit:
                    setattr(self, name, edit[name](self))

    def set_links(self) -> None:
        """Count links, and how many of them shards cross.

        In an all-gather each node lacks P - 1 shards. All-to-all, each arrives over a link of its
        own; on a ring, all arrive over one, and a gather's shards cross 1, 2, ..., P - 1 links.
        """
        nodes, is_ring = self.nodes, self.system.topology == lab3.RING
        self.set(peers=nodes - 1)
        self.set(links=nodes if is_ring else max(1, nodes * self.peers))
        self.set(rounds=self.peers if is_ring else min(1, self.peers))
        self.set(gather_hops=sum(range(nodes)) if is_ring else self.peers)

    def set_layers(self) -> None:
        """Count C and A of each layer: ops, and bytes of the output."""
        self.set(computed=[*self.network], sent=[*self.network])
        self.set(ops=[layer.ops for layer in self.computed])
        first = self.network[0]
        self.set(element_bytes=first.element_bytes)
        self.set(input_bytes=first.in_channels * first.x * first.y * self.element_bytes)
        elements = [layer.filters * layer.out_x * layer.out_y for layer in self.sent]
        self.set(output_bytes=[amount * self.element_bytes for amount in elements])

    def split_layers(self) -> None:
        """Tensor parallelism: every node computes C / P ops of each layer. An all-gather takes each
        shard S = A / P to all other nodes; after the last layer a gather takes it to one node. All
        nodes wait for each other, so the next input starts when this one is done.

        Source: handout, "Tensor Parallelism", "Notes and assumptions" and "Hints".
        """
        self.set(node_ops=[Fraction(ops, self.nodes) for ops in self.ops])
        held = [self.input_bytes, *self.output_bytes]
        self.set(shard_bytes=[Fraction(size, self.nodes) for size in held])
        self.set(broadcast=Exchange(0, 0))
        self.set(all_gather=Exchange(self.rounds, self.nodes * self.peers))
        self.set(gather=Exchange(self.rounds, self.gather_hops))
        between = [self.all_gather] * (len(self.output_bytes) - 1)
        exchanges = [self.broadcast, *between, self.gather]
        shards = [*zip(exchanges, self.shard_bytes, strict=True)]
        self.set(traffic_bytes=[exchange.total * size for exchange, size in shards])
        self.set(link_bytes=[exchange.link * size for exchange, size in shards])

    def place_layers(self) -> None:
        """Pipeline parallelism: node l computes the C ops of layer l, then sends A bytes to node
        l + 1, while it computes the next input. The last output stays.

        Source: handout, "Pipeline Parallelism" and "Notes and assumptions".
        """
        self.set(node_ops=self.ops)
        self.set(traffic_bytes=[0, *self.output_bytes[:-1], 0])
        self.set(link_bytes=self.traffic_bytes)

    def compute_total(self, inputs: int) -> tuple[Rate, Rate]:
        """Compute the seconds and the bytes of so many inputs."""
        self.set(asked=inputs, inputs=inputs)
        self.set(latency_s=self.first_s + (self.inputs - 1) * self.interval_s)
        self.set(traffic=self.inputs * self.input_traffic)
        return self.latency_s, self.traffic

    # ------------------------------------------------ step by step, without edits

    @property
    def steps(self) -> list[Step]:
        """List the steps of an input, one after the other; what sends nothing is none."""
        found = []
        for number, ops in enumerate(self.node_ops, 1):
            where = "all nodes" if self.strategy == "tensor" else f"node {number}"
            compute_s, send_s = Fraction(self.compute_s[number - 1]), Fraction(self.send_s[number])
            found.append(Step(number, "compute", int(ops), 0, 0, compute_s, where))
            link_bytes, traffic_bytes = (
                int(self.link_bytes[number]),
                int(self.traffic_bytes[number]),
            )
            if traffic_bytes:
                work, where = self.name_transfer(number)
                found.append(Step(number, work, 0, link_bytes, traffic_bytes, send_s, where))
        return found

    def name_transfer(self, layer: int) -> tuple[str, str]:
        """Name what is done after a layer, and where."""
        if self.strategy == "pipeline":
            return "send", f"link {layer} to {layer + 1}"
        return "all-gather" if layer < len(self.network) else "gather", "all links"

    @property
    def bottleneck(self) -> str:
        """Name where the interval is spent: "node 2" or "link 2 to 3", the first longest step of a
        pipeline; "none" with tensor parallelism, where each step waits for the one before."""
        if self.strategy == "tensor":
            return "none"
        return max(self.steps, key=lambda step: step.time_s).where


# ------------------------------------------------ bounds


def compute_bound(network: Network, system: System, inputs: int = 1) -> Fraction:
    """Compute the lower bound, N * sum(C) / (P * R) seconds. No schedule takes less, because each
    input costs sum(C) ops, 2 per MAC as in the handout, and P nodes do at most R ops/s each."""
    ops = sum(layer.ops for layer in network)
    return Fraction(inputs * ops) / (system.nodes * system.ops_per_s)


def slowest_node_bound(network: Network, system: System, inputs: int = 1) -> Fraction:
    """Compute a pipeline's lower bound, N * max(C / R) seconds: what its slowest node computes."""
    return Fraction(inputs * max(layer.ops for layer in network)) / system.ops_per_s
