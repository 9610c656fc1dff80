"""Rows streamed, row by row, every byte in the nodes' SRAM accounted for.

A layer's rows are computed by a group of nodes, a share of each row by each: all nodes with tensor
parallelism, one node a layer with pipeline parallelism. A node sends its share to each node of the
next group that lacks it, of the last layer to the group's first node, which gathers the output.
Nodes compute and links send one row at a time, in order, side by side. A node holds

    weights
    what arrives   from the start of the transfer; inputs from the start of everything
    what it makes  from the start of the computation

until no computation or transfer needs it any more, and the last output until it is whole. A job
starts only when there is room for its row. In the pipeline what arrives leaves room for one output
row, on the last node for a whole output. Otherwise a node could fill up with rows that only its
next output row would free, and the pipeline would stop for ever.

With fy input rows and that room it goes on, if the first node has room for all inputs. Suppose that
nothing could start. With fy input rows the last node could compute, in the room kept; with fewer it
has room for one more. So the node before has none to send: all its output room is free, and it
lacks input rows for the same reason. So on up to the first node, which lacks none: a contradiction.
More SRAM never stops a pipeline, but may delay it: a row that is admitted earlier can take room for
which an output row then waits.
"""

from collections import Counter, deque
from fractions import Fraction
from typing import NamedTuple


class StalledError(Exception):
    """The nodes' SRAM is too small to finish."""


class Job:
    """The computation or the transfer of a node's share of a row, or an input's row."""

    start_s = end_s = 0

    def __init__(self, place, node, row_bytes, seconds=0, needs=()):
        self.place = place  # a node, counted from 1, the link (source, target), or None
        self.node = node  # that holds the row
        self.row_bytes = row_bytes
        self.seconds = seconds
        self.needs = needs  # jobs whose rows it uses
        self.has_ended = place is None
        self.users_left = 0  # jobs that must end before the row is let go
        self.lets_go = []  # the jobs of which it is such a user
        self.use(needs)

    def use(self, jobs):
        """Have their rows held until this job has ended."""
        self.lets_go += jobs
        for job in jobs:
            job.users_left += 1


class Run(NamedTuple):
    """What a simulation finds."""

    latency_s: Fraction
    traffic_bytes: int  # over all links
    peak_bytes: dict  # of each node
    jobs: dict  # of each place, in order


def simulate(strategy, network, system, inputs=1):
    """Stream the rows of all inputs, each as early as order and room allow.

    Raises StalledError if that stops before the last output is whole.
    """
    nodes = list(range(1, system.nodes + 1))
    groups = [nodes if strategy == "tensor" else [node] for node, _ in enumerate(network, 1)]
    sram = Sram(system.sram_bytes)
    for group, layer in zip(groups, network, strict=True):
        for node in group:
            sram.held_bytes[node] += layer.weight_bytes // len(group)
        if strategy == "pipeline":
            rows = layer.out_y if layer is network[-1] else 1
            sram.kept_bytes[group[0]] = layer.output_bytes // layer.out_y * rows
    jobs = {node: [] for node in nodes}  # of each place; nodes first, as computing frees room
    for _ in range(inputs):
        _add_input(jobs, sram, groups, network, system)
    _run(jobs, sram)
    every_job = [job for queue in jobs.values() for job in queue]
    traffic_bytes = sum(job.row_bytes for job in every_job if job.place != job.node)
    return Run(max(job.end_s for job in every_job), traffic_bytes, sram.peak_bytes, jobs)


def _add_input(jobs, sram, groups, network, system):
    """Append the jobs of one more input, each place's in their order."""

    def add(place, *arguments):
        jobs.setdefault(place, []).append(Job(place, *arguments))
        return jobs[place][-1]

    there = {}  # on each node, for each row, the jobs that bring it
    for node in groups[0]:
        rows = [
            Job(None, node, network[0].input_bytes // network[0].y) for _ in range(network[0].y)
        ]
        for row in rows:
            sram.hold(row)
        there[node] = [[row] for row in rows]
    for group, receivers, layer in zip(groups, [*groups[1:], groups[-1][:1]], network, strict=True):
        shares = layer.out_y * len(group)
        compute_s = Fraction(layer.ops) / shares / system.ops_per_s
        send_s = Fraction(layer.output_bytes) / shares / system.link_bytes_per_s
        row_bytes = layer.output_bytes // shares
        here, there = there, {node: [[] for _ in range(layer.out_y)] for node in receivers}
        for row in range(layer.out_y):
            for source in group:
                needs = [job for brought in here[source][row : row + layer.fy] for job in brought]
                job = add(source, source, row_bytes, compute_s, needs)
                for node in receivers:
                    is_there = node == source
                    there[node][row].append(
                        job if is_there else add((source, node), node, row_bytes, send_s, [job])
                    )
    [output] = there.values()
    whole = [job for brought in output for job in brought]
    for job in whole:
        job.use(whole)


class Sram:
    """What the nodes hold."""

    def __init__(self, size_bytes):
        self.size_bytes = size_bytes  # of each
        self.held_bytes = Counter()
        self.made_bytes = Counter()  # of these, what the node has computed
        self.kept_bytes = Counter()  # for what it computes, not for what arrives
        self.peak_bytes = Counter()

    def has_room(self, job):
        room_bytes = self.size_bytes - self.held_bytes[job.node]
        if job.place != job.node:
            room_bytes -= max(self.kept_bytes[job.node] - self.made_bytes[job.node], 0)
        return job.row_bytes <= room_bytes

    def hold(self, job, sign=1):
        """Count the job's row in, or out with -1."""
        self.held_bytes[job.node] += sign * job.row_bytes
        if job.place == job.node:
            self.made_bytes[job.node] += sign * job.row_bytes
        self.peak_bytes[job.node] = max(self.peak_bytes[job.node], self.held_bytes[job.node])


def _run(jobs, sram):
    waiting = {place: deque(queue) for place, queue in jobs.items()}
    running = {}
    now_s = Fraction(0)
    while True:
        for place, queue in waiting.items():
            if queue and place not in running:
                job = queue[0]
                if all(needed.has_ended for needed in job.needs) and sram.has_room(job):
                    running[place] = queue.popleft()
                    job.start_s, job.end_s = now_s, now_s + job.seconds
                    sram.hold(job)
        if not running:
            break
        now_s = min(job.end_s for job in running.values())
        for job in [job for job in running.values() if job.end_s == now_s]:
            del running[job.place]
            job.has_ended = True
            for other in job.lets_go:
                other.users_left -= 1
                if not other.users_left:
                    sram.hold(other, -1)
    if any(waiting.values()):
        held_bytes = dict(sram.held_bytes)
        raise StalledError(f"of {sram.size_bytes} bytes each the nodes hold {held_bytes}")
