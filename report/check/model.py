"""The two closed forms of lab3.py with changes: what somebody gets who computes otherwise.

Each change of report/check/changes.py is a factor, a term or a choice; without any, the numbers are
lab3.py's. C, A, S, L, P, R, B, N are lab3.py's symbols, I is the bytes of the network's input, and
G is lab3.py's gather_hops. Times are whole ticks, because ints are added sooner than Fractions.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import zip_longest
from math import lcm
from typing import Any, NamedTuple

import lab3
from lab3 import ConvLayer, Network, Rate, System
from report.check.changes import BOTH, CHANGES, NAMED
from report.question import Question, find_impossible

Values = Mapping[str, Any]  # what things are changed to
Numbers = dict[tuple[str, str], Rate]  # by ("Q1", "latency"): seconds, bytes
OF_LAYERS = "element", "ops", "size", "channels", "loop"  # things
OF_MACHINE = "ops", "rate", "link"


class OneInput(NamedTuple):
    """What a strategy takes for one input."""

    first: Rate  # ticks
    interval: Rate  # ticks, after which a further input is done
    last_stage: Rate  # ticks
    traffic_bytes: Rate


def compute(question: Question, strategy: str, clauses: Sequence[str] = ()) -> Numbers:
    """What a possible strategy takes with these changes: {("Q1", "latency"): seconds, ("Q1",
    "traffic"): bytes, ...}, with Q2 if there are several inputs."""
    system = question.system
    values: Values = {NAMED[clause].thing: NAMED[clause].value for clause in clauses}
    sizes = _count_sizes(tuple(question.network), *map(values.get, OF_LAYERS))
    ticks = _count_ticks(system, *map(values.get, OF_MACHINE))
    takes = _take_tensor if strategy == "tensor" else _take_pipeline
    one = takes(system, sizes, ticks, values)
    parts = {"1 / P": system.nodes, "1 / links": count_links(system)}
    times = values.get("times", 1)
    traffic_bytes = one.traffic_bytes * (Fraction(1, parts[times]) if times in parts else times)
    numbers: Numbers = {}
    for name, asked in count_inputs(question).items():
        inputs, divisor = asked, 1
        if name == "Q2":
            many = {"1": 1, "N - 1": asked - 1, "N + 1": asked + 1}
            inputs = many.get(values.get("many", ""), asked)
            divisor = inputs if "average" in values else 1
        latency = _find_latency(question, one, inputs, values.get("formula"))
        numbers[name, "latency"] = Fraction(latency, divisor * ticks.per_s)
        traffic = traffic_bytes * (1 if "inputs" in values else inputs)
        numbers[name, "traffic"] = int(traffic) if traffic.denominator == 1 else traffic
    return numbers


def count_inputs(question: Question) -> dict[str, int]:
    """How many inputs Q1 has, and Q2 if there are several."""
    return {"Q1": 1, "Q2": question.inputs} if question.inputs > 1 else {"Q1": 1}


# ------------------------------------------------ layers and machine


class Sizes(NamedTuple):
    """What layers compute and send."""

    ops: list[int]  # C of each
    output_bytes: list[int]  # A of each
    input_bytes: int  # I


class Ticks(NamedTuple):
    """How many ticks an op and a byte take; both are multiples of P."""

    per_op: int
    per_byte: int
    per_s: int


@lru_cache(maxsize=4096)  # as many sets of changes have the same
def _count_sizes(network: Network, *values: Any) -> Sizes:
    element, ops, size, channels, loop = values
    first = network[0]
    element_bytes = element or first.element_bytes
    input_bytes = first.in_channels * first.x * first.y * element_bytes
    layer_ops, output_bytes = [], []
    for layer in network:
        in_channels = layer.filters if channels and layer is first else layer.in_channels
        computed, elements = _count_places(layer, size)
        macs = in_channels * layer.fx * layer.fy
        of_a_place = {"1 per MAC": macs, "4 per MAC": 4 * macs, "bias": 2 * macs + 1}
        layer_ops.append(layer.filters * computed * of_a_place.get(ops, 2 * macs))
        output_bytes.append(elements * element_bytes)
    if loop in ("C_1", "C_L"):
        layer_ops[0 if loop == "C_1" else -1] = 0
    elif loop == "A_1":
        output_bytes[0] = 0
    elif loop == "A_(L-1)" and len(network) > 1:
        output_bytes[-2] = 0
    return Sizes(layer_ops, output_bytes, input_bytes)


def _count_places(layer: ConvLayer, size: str | None) -> tuple[int, int]:
    """How many places a filter computes, and how many elements a layer sends."""
    computed = sent = layer.out_x * layer.out_y
    of_input = layer.x * layer.y
    if size == "no + 1":
        computed = sent = (layer.x - layer.fx) * (layer.y - layer.fy)
    if size in ("x, y", "x, y of ops"):
        computed = of_input
    if size in ("x, y", "x, y of bytes"):
        sent = of_input
    return computed, of_input * layer.in_channels if size == "input" else sent * layer.filters


@lru_cache(maxsize=256)
def _count_ticks(system: System, *values: Any) -> Ticks:
    ops, rate, link = values
    op_s = (system.nodes if ops == "shared" else 1) / (Fraction(system.ops_per_s) * (rate or 1))
    byte_s = (1 if link is None else link) / Fraction(system.link_bytes_per_s)
    per_s = system.nodes * lcm(op_s.denominator, byte_s.denominator)
    return Ticks(int(op_s * per_s), int(byte_s * per_s), per_s)


def count_links(system: System) -> int:
    """How many links there are; 1 for one node, which sends nothing, so that 1 / links exists."""
    return system.nodes * (1 if system.topology == lab3.RING else max(system.nodes - 1, 1))


# ------------------------------------------------ tensor parallelism


class Exchange(NamedTuple):
    """What is sent after a layer, in shards."""

    link: int  # over the busiest link
    traffic: int  # over all links
    own: int  # not at all, as it is where it is needed


NOTHING = Exchange(0, 0, 0)


def _take_tensor(system: System, sizes: Sizes, ticks: Ticks, values: Values) -> OneInput:
    """sum(C) / (P * R) + sum(link bytes) / B"""
    nodes, all_bytes = system.nodes, sum(sizes.output_bytes)
    hops, *exchanges = _list_exchanges(system, values)
    *others, last = sizes.output_bytes
    link, traffic, own = (
        Fraction(inner * sum(others) + outer * last + start * sizes.input_bytes, nodes)
        for inner, outer, start in zip(*exchanges, strict=True)
    )
    if values.get("sent") == "one link":
        link = traffic
    elif values.get("sent") == "spread":
        link = traffic / count_links(system)
    counted: dict[str, Rate] = {
        "outputs": all_bytes,
        "shards": sum(others) + Fraction(hops * last, nodes),
        "one link": link,
        "gathers": Fraction(hops * all_bytes, nodes),
        "own shards": traffic + own,
    }
    factor = {"not": nodes, "multiplied": nodes * nodes}.get(values.get("divided", ""), 1)
    one = factor * sum(sizes.ops) * ticks.per_op // nodes + link * ticks.per_byte
    return OneInput(
        one, one, one, counted.get(values.get("count", ""), traffic) if nodes > 1 else 0
    )


def _list_exchanges(system: System, values: Values) -> tuple[int, Exchange, Exchange, Exchange]:
    """The links that a gather's shards cross (G); what is sent after each layer but the last, after
    the last, and, of shards of the network's input, before the first."""
    nodes, peers, is_ring = system.nodes, system.nodes - 1, system.topology == lab3.RING
    sent, end = values.get("sent"), values.get("end")
    turn = peers if is_ring else min(peers, 1)
    hops = nodes * peers // 2 if is_ring else peers
    in_turn = peers if sent in ("one shard", "one node") else turn
    times = nodes if sent == "whole" else 1

    inner = Exchange(times * in_turn, times * nodes * peers, times * nodes)
    if sent == "collects":
        inner = Exchange(turn + nodes * turn, hops + nodes * peers, nodes)
    outer = Exchange(times * (peers if sent == "one shard" else turn), times * hops, times)
    if end == "all nodes":
        outer = inner
    elif end == "in turn":
        outer = Exchange(peers, hops, times)
    elif end == "not gathered":
        outer = NOTHING
    if sent == "only the last":
        inner = NOTHING
    start = Exchange(nodes * in_turn, nodes * peers, 0) if "start" in values else NOTHING
    return hops, inner, outer, start


# ------------------------------------------------ pipeline parallelism


def _take_pipeline(system: System, sizes: Sizes, ticks: Ticks, values: Values) -> OneInput:
    """sum(C / R) + sum(A / B), then the longest of them; a layer on each node."""
    divisor = system.nodes if "divided" in values else 1
    compute = [ops * ticks.per_op // divisor for ops in sizes.ops]
    sent = sizes.output_bytes[:-1]
    if system.nodes > 1:  # one node sends nothing
        if "last" in values:
            sent = sizes.output_bytes
        if "start" in values:  # as from a layer 0 that computes nothing
            compute, sent = [0, *compute], [sizes.input_bytes, *sent]
    send = [sent_bytes * ticks.per_byte for sent_bytes in sent]
    busy = compute + send  # how long an input keeps each node and link
    if values.get("sending") == "sends":
        busy = [sum(pair) for pair in zip_longest(compute, send, fillvalue=0)]
    elif values.get("sending") == "receives":
        busy = [sum(pair) for pair in zip_longest(compute, [0, *send], fillvalue=0)]
    copies = system.nodes - 1 if "count" in values else 1
    return OneInput(sum(compute) + sum(send), max(busy), compute[-1], copies * sum(sent))


def _find_latency(question: Question, one: OneInput, inputs: int, formula: str | None) -> Rate:
    """first + (N - 1) * interval, or what is computed in its place; in ticks."""
    layers = len(question.network)
    match formula if inputs > 1 or formula in ("slowest, also Q1", "slots, also Q1") else None:
        case "last stage":
            return one.first + (inputs - 1) * one.last_stage
        case "no overlap":
            return inputs * one.first
        case "as one":
            return one.first
        case "N / P":
            return Fraction(inputs, question.system.nodes) * one.first
        case "slots / L":
            return Fraction(inputs + layers - 1, layers) * one.first
        case "one more":
            return one.first + inputs * one.interval
        case "slowest" | "slowest, also Q1":
            return inputs * one.interval
        case "slots" | "slots, also Q1":
            return (inputs + layers - 1) * one.interval
    return one.first + (inputs - 1) * one.interval


# ------------------------------------------------ one change at a time


class Reading(NamedTuple):
    """What a strategy takes with a change, or without any."""

    strategy: str
    clause: str  # empty without a change
    latencies_s: list[Rate]  # for one input, and for all
    traffic_bytes: Rate  # for all


def list_readings(question: Question) -> list[Reading]:
    """Of each possible strategy what it takes, then what with each change that makes a difference.
    Raises ValueError if neither strategy is possible."""
    impossible = find_impossible(question)
    rows = []
    for strategy in BOTH:
        for clause in ["", *list_clauses(question, strategy)] if strategy not in impossible else []:
            numbers = compute(question, strategy, [clause] if clause else [])
            latencies_s = [numbers[name, "latency"] for name in count_inputs(question)]
            *_, traffic_bytes = numbers.values()
            rows.append(Reading(strategy, clause, latencies_s, traffic_bytes))
    return rows


def list_clauses(question: Question, strategy: str) -> list[str]:
    """The changes that by themselves make a difference."""
    right = compute(question, strategy)
    return [
        change.clause
        for change in CHANGES
        if strategy in change.strategies and compute(question, strategy, [change.clause]) != right
    ]
