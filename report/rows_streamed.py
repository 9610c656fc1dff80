"""Pipeline parallelism with rows streamed, every byte in the nodes' SRAM accounted for.

lab3's closed form hands on whole tensors, for which node 2's SRAM is too small. Here the unit is
a row: all channels and all x at one y. Layer l is on node l; the node computes one output row at
a time and its link sends one at a time, in order, side by side, at full rate. A node holds

    weights
    input rows     from the start of their transfer to the end of the last computation that uses
                   them; node 1 has the rows of all inputs from the start
    output rows    from the start of their computation to the end of their transfer; on the last
                   node to the end of the computation that makes the output whole

A row is computed or sent only when there is room for it, and an arriving row never takes the room
for one output row, on the last node for a whole output. Otherwise a node could fill up with input
rows that only the next output row would free, and the pipeline would stop for ever.

With lab3.sram_uses("streamed") that is enough, where node 1 holds one input, or has room for those
that wait besides. Suppose that nothing could start. With fy input rows the last node could compute,
in the room kept; with fewer it has room for one more. So the node before has none to send: all its
output room is free, and it lacks input rows for the same reason. So on up to node 1, which lacks
none: a contradiction. With two layers or more less is not enough.

More SRAM never stops the pipeline, but it may delay it: a row that is admitted earlier can take
room for which an output row then waits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import lab3


class StalledError(Exception):
    """The nodes' SRAM is too small for the pipeline to finish."""


class Job(NamedTuple):
    """The computation or the transfer of one output row."""

    kind: str  # "compute", or "send" to the next node
    layer: int  # counted from 1, as is the node that holds it
    row: int  # counted from 0, on and on through all inputs
    start_s: Fraction
    end_s: Fraction


class Run(NamedTuple):
    """What simulate finds."""

    latency_s: Fraction
    peak_bytes: tuple[int, ...]  # of each node
    traffic_bytes: int  # over all links
    jobs: tuple[Job, ...]  # in order of their end


def simulate(network: Sequence[lab3.ConvLayer], system: lab3.System, inputs: int = 1) -> Run:
    """Stream the inputs' rows through the pipeline, each as early as order and room allow.

    Raises StalledError if that stops before the last output is whole, and ValueError as
    lab3.pipeline_parallel_latency does.
    """
    lab3.pipeline_parallel_latency(network, system, inputs)  # for its ValueError
    nodes = [Node(number, layer, system) for number, layer in enumerate(network, 1)]
    nodes[0].admitted = nodes[0].arrived = inputs * network[0].y
    nodes[-1].is_last = True
    links = [Link(sender, receiver, system) for sender, receiver in pairwise(nodes)]
    workers: list[Node | Link] = [*nodes, *links]  # nodes go first: computing frees room

    now_s = Fraction(0)
    peak_bytes = [0 for _ in nodes]
    running: dict[Node | Link, Job] = {}
    jobs = []
    while True:
        for worker in workers:
            if worker not in running and worker.can_start():
                running[worker] = worker.start(now_s)
        peak_bytes = list(map(max, peak_bytes, [node.held_bytes for node in nodes]))
        if not running:
            break
        now_s = min(job.end_s for job in running.values())
        for worker in [worker for worker, job in running.items() if job.end_s == now_s]:
            worker.finish()
            jobs.append(running.pop(worker))

    computed, output_rows = nodes[-1].computed, inputs * network[-1].out_y
    if computed < output_rows:
        held = ", ".join(str(node.held_bytes) for node in nodes)
        raise StalledError(
            f"the pipeline stops after {computed} of {output_rows} rows of output:"
            f" of {system.sram_bytes} bytes of SRAM each, its nodes hold {held}"
        )
    traffic_bytes = sum(link.sent_bytes for link in links)
    return Run(now_s, tuple(peak_bytes), traffic_bytes, tuple(jobs))


def input_row_bytes(layer: lab3.ConvLayer) -> int:
    """Return the bytes of in_channels * x elements."""
    return layer.input_bytes // layer.y


def output_row_bytes(layer: lab3.ConvLayer) -> int:
    """Return the bytes of filters * out_x elements."""
    return layer.output_bytes // layer.out_y


@dataclass(eq=False)
class Node:
    """A layer's place. It counts the rows, through all inputs, that got to each point."""

    number: int
    layer: lab3.ConvLayer
    system: lab3.System
    is_last: bool = False
    admitted: int = 0  # input rows, here or on their way here
    arrived: int = 0
    started: int = 0  # output rows
    computed: int = 0
    gone: int = 0  # sent or, from the last node, handed out

    def can_start(self) -> bool:
        """Tell whether the next output row has its fy input rows, and room."""
        has_inputs = self.arrived >= self._first_input_row(self.started) + self.layer.fy
        row_bytes = output_row_bytes(self.layer)
        return has_inputs and self.held_bytes + row_bytes <= self.system.sram_bytes

    def start(self, now_s: Fraction) -> Job:
        """Compute the next output row: C / out_y / R seconds."""
        row_s = Fraction(self.layer.ops, self.layer.out_y * self.system.ops_per_s)
        job = Job("compute", self.number, self.started, now_s, now_s + row_s)
        self.started += 1
        return job

    def finish(self) -> None:
        """Count the row as computed; the last node hands out an output that is whole."""
        self.computed += 1
        if self.is_last and self.computed % self.layer.out_y == 0:
            self.gone = self.computed

    def admits_row(self) -> bool:
        """Tell whether one more input row would leave the room that is kept for output rows."""
        kept_bytes = self.layer.output_bytes if self.is_last else output_row_bytes(self.layer)
        input_bytes = self._input_bytes + input_row_bytes(self.layer)
        output_bytes = max(self._output_bytes, kept_bytes)
        return self.layer.weight_bytes + input_bytes + output_bytes <= self.system.sram_bytes

    @property
    def held_bytes(self) -> int:
        """Weights + input rows + output rows."""
        return self.layer.weight_bytes + self._input_bytes + self._output_bytes

    @property
    def _input_bytes(self) -> int:
        used_up = self._first_input_row(self.computed)
        return (self.admitted - used_up) * input_row_bytes(self.layer)

    @property
    def _output_bytes(self) -> int:
        return (self.started - self.gone) * output_row_bytes(self.layer)

    def _first_input_row(self, output_row: int) -> int:
        """Return the first input row that this output row uses; those before are used up."""
        inputs_before, row = divmod(output_row, self.layer.out_y)
        return inputs_before * self.layer.y + row


@dataclass(eq=False)
class Link:
    """The way from one node to the next."""

    sender: Node
    receiver: Node
    system: lab3.System

    def can_start(self) -> bool:
        """Tell whether there is a row to send, and room for it."""
        return self.sender.gone < self.sender.computed and self.receiver.admits_row()

    def start(self, now_s: Fraction) -> Job:
        """Send the next row: A / out_y / B seconds."""
        row_s = Fraction(output_row_bytes(self.sender.layer), self.system.link_bytes_per_s)
        self.receiver.admitted += 1
        return Job("send", self.sender.number, self.sender.gone, now_s, now_s + row_s)

    def finish(self) -> None:
        """Count the row as gone from the sender and arrived at the receiver."""
        self.sender.gone += 1
        self.receiver.arrived += 1

    @property
    def sent_bytes(self) -> int:
        """Bytes carried so far."""
        return self.sender.gone * output_row_bytes(self.sender.layer)
