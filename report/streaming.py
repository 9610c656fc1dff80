"""Row streaming in the pipeline, and the lower bound for any schedule.

With row streaming, each of a layer's out_y output rows (all filters, all x, one y) is sent as soon
as it is computed; row r of the next layer, whose filters are fy rows high, needs the rows
r ... r + fy - 1. All inputs wait at time 0, SRAM is ample, and a row starts

    on a node    once the node's previous row is done and the last input row it
                 needs has arrived
    on a link    once it is computed and the link's previous row is gone

Rows keep the order of layers and inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from lab3 import Network, System
from report.plans import pipeline_parallel
from report.steps import duration, plan_stages

MOST_ROWS = 50_000  # output rows of all layers


def compute_bound(network: Network, system: System, inputs: int = 1) -> Fraction:
    """lower bound = N * sum(C) / (P * R) seconds. No schedule takes less, because each input costs
    sum(C) ops, 2 per MAC as in the handout, and P nodes do at most R ops per second each."""
    ops = sum(layer.ops for layer in network)
    return Fraction(inputs * ops) / (system.nodes * system.ops_per_s)


def streamed_pipeline_latency(network: Network, system: System, inputs: int = 1) -> Fraction:
    """Seconds: T(1) + (N - 1) * interval. Each node computes its layer's rows, C / (out_y * R)
    seconds each, and sends them to the next layer's node, A / (out_y * B) seconds each. Each later
    input is done one interval after the one before it; the interval is the longest C / R, or A / B
    of an output that is sent.

    Raises lab3's ValueError if pipeline parallelism is not possible, and ValueError for more than
    MOST_ROWS output rows in all layers.
    """
    stages = plan_stages(network, system, pipeline_parallel(network, system))
    rows = sum(layer.out_y for layer in network)
    if rows > MOST_ROWS:
        most = f"{MOST_ROWS:,} rows of output"
        raise ValueError(f"Row streaming is not computed beyond {most}; this CNN has {rows:,}")

    # One interval per later input. Lower bound: the bottleneck's rows of all later inputs fit into
    # the chain of rows that decides the first input's time. Upper bound: on each node and link the
    # first input's rows end within an interval of their start, because they follow each other by at
    # most the longest row so far, and no layer has more rows than the one before.
    interval_s = max(duration(stage, system) for stage in stages)
    return sum(run.time_s for run in critical_runs(network, system)) + (inputs - 1) * interval_s


class Run(NamedTuple):
    """Rows that a node computes, or a link carries, one right after the other."""

    layer: int
    work: str  # "compute" or "send"
    rows: int
    row_s: Fraction  # of one of them
    time_s: Fraction  # of all


def critical_runs(network: Network, system: System) -> list[Run]:
    """One run of each node and link, from time 0 to the end of the first input's last row. They
    follow each other without a pause, so all times add up to the latency of one input."""
    places = []
    ends_s = [Fraction(0)] * network[0].y  # when each row of input is there
    for number, layer in enumerate(network, 1):
        for work, amount, per_s, first in (
            ("compute", layer.ops, system.ops_per_s, layer.fy - 1),
            ("send", layer.output_bytes, system.link_bytes_per_s, 0),
        ):
            row_s = Fraction(amount, layer.out_y) / per_s
            ready_s = ends_s[first:]  # a row waits for the last one that it needs
            ends_s = _ends_s(ready_s, row_s)
            places.append((number, work, row_s, first, ready_s, ends_s))
    places.pop()  # the last output is not sent
    runs, row = [], network[-1].out_y - 1
    for number, work, row_s, first, ready_s, ends_s in reversed(places):
        last = row
        while row and ends_s[row - 1] >= ready_s[row]:
            row -= 1
        rows = last - row + 1
        runs.append(Run(number, work, rows, row_s, rows * row_s))
        row += first  # that this one waited for
    return runs[::-1]


def _ends_s(ready_s: Sequence[Fraction], row_s: Fraction) -> list[Fraction]:
    """When rows end on a node or link that takes them one after the other, from time 0 on."""
    ends_s = []
    free_s = Fraction(0)
    for row_ready_s in ready_s:
        free_s = max(free_s, row_ready_s) + row_s
        ends_s.append(free_s)
    return ends_s
