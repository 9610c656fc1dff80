"""Rows streamed, row by row, every byte in the nodes' SRAM accounted for.

Each layer has a node, which computes the layer's rows and sends them to the next layer's node.
Nodes compute and links send one row at a time, in order, side by side. A node holds

    weights
    what arrives   from the start of the transfer; inputs from the start of everything
    what it makes  from the start of the computation

until no computation or transfer needs it any more, and the last output until it is whole. A job
starts only when there is room for its row. What arrives leaves room for one output row, on the last
node for a whole output. Otherwise a node could fill up with rows that only its
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
    """The computation or the transfer of a row, or a row of an input, which is there."""

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


def simulate(network, system, inputs=1):
    """Stream the rows of all inputs, each as early as order and room allow.

    Raises StalledError if that stops before the last output is whole.
    """
    sram = Sram(system.sram_bytes)
    jobs = {}  # of each place; nodes first, as computing frees room
    for node, layer in enumerate(network, 1):
        jobs[node] = []
        sram.held_bytes[node] = layer.weight_bytes
        rows = layer.out_y if node == len(network) else 1
        sram.kept_bytes[node] = layer.output_bytes // layer.out_y * rows
    for _ in range(inputs):
        _add_input(jobs, sram, network, system)
    _run(jobs, sram)
    every_job = [job for queue in jobs.values() for job in queue]
    traffic_bytes = sum(job.row_bytes for job in every_job if job.place != job.node)
    return Run(max(job.end_s for job in every_job), traffic_bytes, sram.peak_bytes, jobs)


def _add_input(jobs, sram, network, system):
    """Append the jobs of one more input, each place's in their order."""

    def add(place, *arguments):
        jobs.setdefault(place, []).append(Job(place, *arguments))
        return jobs[place][-1]

    row_bytes = network[0].input_bytes // network[0].y
    there = [Job(None, 1, row_bytes) for _ in range(network[0].y)]  # that bring each row
    for job in there:
        sram.hold(job)
    for node, layer in enumerate(network, 1):
        row_bytes = layer.output_bytes // layer.out_y
        compute_s = Fraction(layer.ops, layer.out_y) / system.ops_per_s
        send_s = row_bytes / Fraction(system.link_bytes_per_s)
        computed = [
            add(node, node, row_bytes, compute_s, there[row : row + layer.fy])
            for row in range(layer.out_y)
        ]
        there = [
            add((node, node + 1), node + 1, row_bytes, send_s, [job])
            for job in computed
            if node < len(network)
        ]
    for job in computed:
        job.use(computed)


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
