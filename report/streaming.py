"""With row streaming, each of a layer's out_y output rows (all filters, all x, one y) is sent as
soon as it is computed; row r of the next layer, whose filters are fy rows high, needs the rows
r ... r + fy - 1. All inputs wait at time 0, and a row starts

    on a node    once the node's previous row is done and the last input row it
                 needs has arrived
    on a link    once it is computed and the link's previous row is gone

Rows keep the order of layers and inputs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

import lab3
from lab3 import Network, System
from report.question import STRATEGIES, check_strategy
from report.sram import check_streams
from report.steps import duration

MOST_ROWS = 50_000  # output rows of all layers, which take two or three seconds
GATHERING = 0  # the node that gathers the output


def streamed_latency(strategy: str, network: Network, system: System, inputs: int = 1) -> Fraction:
    """If SRAM is ample, the latency in seconds follows from the times of rows.

    tensor      every node computes its share of a row, C / (P * out_y * R), and
                sends it to each peer on a link of its own, A / (P * out_y * B);
                in the last layer only to the gathering node
    pipeline    each node computes its layer's rows, C / (out_y * R) each, and
                sends them to the next layer's node, A / (out_y * B) each; each
                further input takes one interval more, the longest C / R or A / B

    Raises ValueError if the strategy is not possible, for tensor parallelism on a ring of more
    than 2 nodes, and for more than MOST_ROWS output rows in all layers.
    """
    check_strategy(strategy)
    lab3.check(network, system, inputs)
    stages = STRATEGIES[strategy](network, system)
    if strategy == "tensor":
        check_streams(system)
    rows = sum(layer.out_y for layer in network)
    if rows > MOST_ROWS:
        most = f"{MOST_ROWS:,} rows of output"
        raise ValueError(f"Row streaming is not computed beyond {most}; this CNN has {rows:,}")

    if strategy == "tensor":
        layers, ticks_per_s = _in_ticks(network, system, shares=system.nodes)
        return Fraction(_tensor_parallel(layers, system.nodes, inputs), ticks_per_s)
    # One interval per further input. Lower bound: the bottleneck's rows of all further inputs fit
    # into the chain of rows that decides the first input's time. Upper bound: on each node and link
    # the first input's rows end within an interval of their start, because they follow each other
    # by at most the longest row so far, and no layer has more rows than the one before.
    layers, ticks_per_s = _in_ticks(network, system, shares=1)
    interval_s = max(duration(stage, system) for stage in stages)
    return Fraction(_pipeline_parallel(layers), ticks_per_s) + (inputs - 1) * interval_s


def compute_bound(network: Network, system: System, inputs: int = 1) -> Fraction:
    """lower bound = N * sum(C) / (P * R) seconds. No schedule takes less, because each input costs
    sum(C) ops, 2 per MAC as in the handout, and P nodes do at most R ops per second each."""
    lab3.check(network, system, inputs)
    ops = sum(layer.ops for layer in network)
    return Fraction(inputs * ops) / (system.nodes * system.ops_per_s)


class _Layer(NamedTuple):
    out_y: int
    fy: int
    compute: int  # ticks of a row
    send: int


def _in_ticks(network: Network, system: System, shares: int) -> tuple[tuple[_Layer, ...], int]:
    """The times of each layer's rows in ticks, if a node has one of so many shares of a row, and
    the ticks of a second.

    Every row takes a whole number of ticks, so that times are ints and nothing is rounded.
    """
    rows_s = [
        (
            Fraction(layer.ops) / (shares * layer.out_y * system.ops_per_s),
            Fraction(layer.output_bytes) / (shares * layer.out_y * system.link_bytes_per_s),
        )
        for layer in network
    ]
    ticks_per_s = math.lcm(*(row_s.denominator for pair in rows_s for row_s in pair))
    layers = (
        _Layer(layer.out_y, layer.fy, *(int(row_s * ticks_per_s) for row_s in pair))
        for layer, pair in zip(network, rows_s, strict=True)
    )
    return tuple(layers), ticks_per_s


def _ends(free: int, ready: Sequence[int], ticks: int) -> list[int]:
    """When rows end on a node or link that is free from some time on, one after the other."""
    ends = []
    for row_ready in ready:
        free = max(free, row_ready) + ticks
        ends.append(free)
    return ends


@lru_cache
def _pipeline_parallel(layers: tuple[_Layer, ...]) -> int:
    """The end of the first input's last row."""
    there = [0] * (layers[0].out_y + layers[0].fy - 1)  # when each row of input is
    for layer in layers:
        computed = _ends(0, there[layer.fy - 1 :], layer.compute)
        there = _ends(0, computed, layer.send)
    return computed[-1]


# ------------------------------------------------ tensor parallelism

Place = tuple[int, int]  # (p, p) is node p, (p, q) its link to node q


def _tensor_parallel(layers: tuple[_Layer, ...], nodes: int, inputs: int) -> int:
    """The end of the last row, in log2(N) products.

    Max-plus algebra: one input is a matrix of longest row chains; N inputs are its N-th power.
    """
    chains = _chains(layers, nodes)
    free = dict.fromkeys(chains, 0)
    while inputs:
        if inputs % 2:
            free = _lengthened(free, chains)
        chains = {start: _lengthened(chain, chains) for start, chain in chains.items()}
        inputs //= 2
    return max(free.values())


@lru_cache
def _chains(layers: tuple[_Layer, ...], nodes: int) -> dict[Place, dict[Place, int]]:
    """The longest chain of one input's rows from each place to each: when the place is free after
    the input, if only the start was busy before it, until time 0."""
    group = range(min(nodes, 3))  # nodes that do not gather are alike, so two stand for them all
    places = [(source, target) for source in group for target in group]
    longest = sum(layer.out_y * (layer.compute + layer.send) for layer in layers)
    early = -1 - longest  # a chain from a place that is free so early ends before time 0
    chains = {}
    for start in places:
        ends = _after_one_more({**dict.fromkeys(places, early), start: 0}, layers, group)
        chains[start] = {place: end for place, end in ends.items() if end >= 0}
    return chains


def _after_one_more(
    free: dict[Place, int], layers: Sequence[_Layer], group: Sequence[int]
) -> dict[Place, int]:
    """When each place is free after one more input, row by row."""
    free = dict(free)

    def ends(place: Place, ready: Sequence[int], ticks: int) -> list[int]:
        ended = _ends(free[place], ready, ticks)
        free[place] = ended[-1]
        return ended

    input_rows = layers[0].out_y + layers[0].fy - 1
    there = {node: [free[node, node]] * input_rows for node in group}  # when each row is, where
    for number, layer in enumerate(layers, 1):
        computed = {
            node: ends((node, node), there[node][layer.fy - 1 :], layer.compute) for node in group
        }
        there = dict(computed)
        for source, target in permutations(group, 2):
            if number < len(layers) or target == GATHERING:
                arrived = ends((source, target), computed[source], layer.send)
                there[target] = list(map(max, there[target], arrived))
    return free


def _lengthened(free: dict[Place, int], chains: dict[Place, dict[Place, int]]) -> dict[Place, int]:
    """When each place is free after the longest chain from any."""
    longest: dict[Place, int] = {}
    for start, chain in chains.items():
        for place, ticks in chain.items():
            if start in free:
                longest[place] = max(longest.get(place, 0), free[start] + ticks)
    return longest
