"""The two closed forms of lab3.py with changes: what somebody gets who computes otherwise.

Each change of report/check/changes.py is a factor, a term or a choice; without any, the numbers are
lab3.py's. C, A, S, L, P, R, B, N are lab3.py's symbols, I is the bytes of the network's input, and
G is lab3.py's gather_hops. Times are whole ticks, because ints are added sooner than Fractions.
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import zip_longest
from math import lcm
from typing import Any, NamedTuple

import lab3
from lab3 import ConvLayer, Network, Rate, System
from report.check.changes import BOTH, CHANGES, CONSTANT, PRINTED
from report.question import Question, find_impossible

Values = Mapping[str, Any]  # what things are changed to; None is as read
Taken = dict[tuple[str, str], Rate]  # by ("Q1", "latency"): seconds, bytes
OF_LAYERS = "element", "ops", "size", "channels", "filter", "loop"  # things
OF_MACHINE = "rate", "link"


class OneInput(NamedTuple):
    """What a strategy takes for one input."""

    first: Rate  # ticks
    interval: Rate  # ticks, after which a further input is done
    traffic_bytes: Rate


def compute(question: Question, strategy: str, values: Values) -> Taken:
    """Compute what a strategy takes if things have these values: {("Q1", "latency"): seconds,
    ("Q1", "traffic"): bytes, ...}, with Q2 if there are several inputs."""
    question = values.get(CONSTANT) or question
    system = question.system
    sizes = _count_sizes(tuple(question.network), *map(values.get, OF_LAYERS))
    ticks = _count_ticks(system, *map(values.get, OF_MACHINE))
    take = _take_tensor if strategy == "tensor" else _take_pipeline
    one = take(system, sizes, ticks, values)
    once_bytes = sizes.weight_bytes if values.get("weights") else 0
    times = values.get("times") or 1
    times = Fraction(1, system.nodes) if times == "1 / P" else times
    times *= values.get("traffic unit") or 1
    numbers: Taken = {}
    for name, asked in count_inputs(question).items():
        inputs, divisor = asked, ticks.per_s
        if name == "Q2":
            many = {"1": 1, "N - 1": asked - 1, "N + 1": asked + 1}
            inputs = many.get(values.get("many", ""), asked)
            divisor *= inputs if values.get("average") else 1
        latency = _find_latency(system, sizes, one, inputs, values.get("formula"))
        numbers[name, "latency"] = Fraction(latency * (values.get("latency unit") or 1), divisor)
        traffic = one.traffic_bytes * (1 if values.get("inputs") else inputs)
        traffic += once_bytes
        if times != 1:
            traffic *= times
        numbers[name, "traffic"] = int(traffic) if traffic.denominator == 1 else traffic
    return numbers


def count_inputs(question: Question) -> dict[str, int]:
    """Count the inputs of Q1, and of Q2 if there are several."""
    return {"Q1": 1, "Q2": question.inputs} if question.inputs > 1 else {"Q1": 1}


# ------------------------------------------------ layers and machine


class Sizes(NamedTuple):
    """What layers compute and send."""

    ops: list[int]  # C of each
    output_bytes: list[int]  # A of each
    input_bytes: int  # I
    weight_bytes: int  # of all


class Ticks(NamedTuple):
    """How many ticks an op and a byte take; both are multiples of P."""

    per_op: int
    per_byte: int
    per_s: int


@lru_cache(maxsize=4096)  # because many sets of changes have the same
def _count_sizes(network: Network, *values: Any) -> Sizes:
    element, ops, size, channels, height, loop = values
    first = network[0]
    if loop in ("1", "L") and len(network) > 1:
        network = network[1:] if loop == "1" else network[:-1]
    element_bytes = element or first.element_bytes
    layer_ops, output_bytes = [], []
    for number, layer in enumerate(network, 1):
        computed, elements = _count_places(layer, size, is_last=number == len(network))
        in_channels = 1 if channels == "1" else layer.in_channels
        if channels == "filters" and number == 1:
            in_channels = layer.filters
        products = in_channels * layer.fx * (1 if height else layer.fy)
        of_a_place = {"1 per MAC": products, "bias": 2 * products + 1, "K - 1": 2 * products - 1}
        layer_ops.append(layer.filters * computed * of_a_place.get(ops, 2 * products))
        output_bytes.append(elements * element_bytes)
    if loop in ("C_1", "C_L"):
        layer_ops[0 if loop == "C_1" else -1] = 0
    elif loop == "A_1":
        output_bytes[0] = 0
    elif loop == "A_(L-1)" and len(network) > 1:
        output_bytes[-2] = 0
    input_bytes = first.in_channels * first.x * first.y * element_bytes
    weight_bytes = sum(layer.weights for layer in network) * element_bytes
    return Sizes(layer_ops, output_bytes, input_bytes, weight_bytes)


def _count_places(layer: ConvLayer, size: str | None, is_last: bool) -> tuple[int, int]:
    """Count the places that a filter computes, and the elements that a layer sends."""
    computed = sent = layer.out_x * layer.out_y
    of_input = layer.x * layer.y
    match size:
        case "x, y":
            computed = sent = of_input
        case "x, y of the last" if is_last:
            computed = sent = of_input
        case "x, y of ops":
            computed = of_input
        case "x, y of bytes":
            sent = of_input
        case "no + 1":
            computed = sent = (layer.x - layer.fx) * (layer.y - layer.fy)
        case "halved":
            computed = sent = (layer.x // 2) * (layer.y // 2)
    return computed, layer.in_channels * of_input if size == "input" else layer.filters * sent


@lru_cache(maxsize=256)
def _count_ticks(system: System, rate: Rate | None, link: Any) -> Ticks:
    op_s = 1 / (Fraction(system.ops_per_s) * (rate or 1))
    slower = {None: 1, "shared": count_links(system)}.get(link, link)
    byte_s = slower / Fraction(system.link_bytes_per_s)
    per_s = system.nodes * lcm(op_s.denominator, byte_s.denominator)
    return Ticks(int(op_s * per_s), int(byte_s * per_s), per_s)


def count_links(system: System) -> int:
    """Count the links; 1 for one node, which sends nothing, so that 1 / links exists."""
    return system.nodes * (1 if system.topology == lab3.RING else max(system.nodes - 1, 1))


# ------------------------------------------------ tensor parallelism


class Exchange(NamedTuple):
    """What is sent after a layer, in shards."""

    link: int  # over the busiest link
    traffic: int  # over all links
    own: int  # that stay where they are computed


NOTHING = Exchange(0, 0, 0)


def _take_tensor(system: System, sizes: Sizes, ticks: Ticks, values: Values) -> OneInput:
    """sum(C) / (P * R) + sum(link bytes) / B; the next input starts when this one is done."""
    nodes, peers = system.nodes, system.nodes - 1
    turn = peers if system.topology == lab3.RING else min(peers, 1)
    hops = nodes * peers // 2 if system.topology == lab3.RING else peers
    inner, outer, start = _list_exchanges(nodes, turn, hops, values)
    *others, last = sizes.output_bytes

    def add_up(inner: int, outer: int, start: int = 0) -> Fraction:
        """Add up shards sent after all layers but the last, after the last and before the first."""
        return Fraction(inner * sum(others) + outer * last + start * sizes.input_bytes, nodes)

    link = add_up(inner.link, outer.link, start.link)
    traffic = add_up(inner.traffic, outer.traffic, start.traffic)
    match values.get("sent"):
        case "one link":
            link = traffic
        case "spread":
            link = traffic / count_links(system)
        case "links as one" if turn == 1:  # all-to-all
            link /= peers
    match values.get("count") if nodes > 1 else None:
        case "outputs":
            traffic = add_up(nodes, nodes)
        case "shards":
            traffic = add_up(nodes, hops)
        case "one link":
            traffic = link
        case "one node":
            traffic = add_up(peers, turn)
        case "gathers":
            traffic = add_up(hops, hops)
        case "own shards":
            traffic += add_up(inner.own, outer.own)
    divisor = 1 if values.get("divided") else nodes
    compute, send = sum(sizes.ops) * ticks.per_op // divisor, link * ticks.per_byte
    first = compute + send
    interval = max(Fraction(compute), send) if values.get("overlap") else first
    return OneInput(first, interval, traffic)


def _list_exchanges(
    nodes: int, turn: int, hops: int, values: Values
) -> tuple[Exchange, Exchange, Exchange]:
    """List what is sent after each layer but the last, after the last, and, in shards of the
    network's input, before the first. turn: shards that the busiest link carries in an all-gather,
    one after the other; hops: links that the shards of a gather cross (G)."""
    peers, sent = nodes - 1, values.get("sent")
    in_turn = peers if sent in ("one shard", "one node") else turn
    whole = Exchange(nodes * turn, nodes * hops, nodes)  # outputs to one node

    inner = Exchange(in_turn, nodes * peers, nodes)
    outer = Exchange(peers if sent == "one shard" else turn, hops, 1)
    if sent == "whole":
        inner, outer = Exchange(*(nodes * it for it in inner)), whole
    elif sent == "collects":
        inner = Exchange(turn + nodes * turn, hops + nodes * peers, nodes)
    elif sent == "all-reduced":
        inner = Exchange(2 * peers, 2 * nodes * peers, nodes)
    match values.get("end"):
        case "not gathered":
            outer = NOTHING
        case _ if sent == "all-reduced":
            outer = inner
        case "all nodes":
            outer = inner
        case "in turn":
            outer = outer._replace(link=peers, traffic=hops)
        case "whole":
            outer = whole
        case "no time":
            outer = outer._replace(link=0)
    if sent == "whole, time":
        inner, outer = (it._replace(link=nodes * it.link) for it in (inner, outer))
    if sent == "only the last":
        inner = NOTHING
    start = Exchange(nodes * in_turn, nodes * peers, 0) if values.get("start") else NOTHING
    return inner, outer, start


# ------------------------------------------------ pipeline parallelism


def _take_pipeline(system: System, sizes: Sizes, ticks: Ticks, values: Values) -> OneInput:
    """sum(C / R) + sum(A / B), then the longest of them; a layer on each node."""
    divisor = system.nodes if values.get("divided") else 1
    compute = [ops * ticks.per_op // divisor for ops in sizes.ops]
    sent = sizes.output_bytes[:-1]
    if system.nodes > 1:  # one node sends nothing
        if values.get("last"):
            sent = sizes.output_bytes
        if values.get("start"):  # as from a layer 0 that computes nothing
            compute, sent = [0, *compute], [sizes.input_bytes, *sent]
    send = [sent_bytes * ticks.per_byte for sent_bytes in sent]
    busy = {  # how long an input keeps each node, or node and link
        "sends": (compute, send),
        "receives": (compute, [0, *send]),
        "both": (compute, send, [0, *send]),
    }.get(values.get("sending", ""))
    times = [*map(sum, zip_longest(*busy, fillvalue=0))] if busy else compute + send
    intervals: dict[str, Rate] = {
        "last": compute[-1],
        "average": Fraction(sum(compute), len(sizes.ops)),
    }
    interval = intervals.get(values.get("interval", ""), max(times))
    copies = system.nodes - 1 if values.get("count") else 1
    return OneInput(sum(compute) + sum(send), interval, copies * sum(sent))


def _find_latency(
    system: System, sizes: Sizes, one: OneInput, inputs: int, formula: str | None
) -> Rate:
    """first + (N - 1) * interval, or what is computed in its place; in ticks."""
    slots = inputs + len(sizes.ops) - 1
    name, of_q1, _ = (formula or "").partition(", also Q1")
    match name if inputs > 1 or of_q1 else None:
        case "no overlap":
            return inputs * one.first
        case "as one":
            return one.first
        case "N / P":
            return Fraction(inputs, system.nodes) * one.first
        case "slots / L":
            return Fraction(slots, len(sizes.ops)) * one.first
        case "one more":
            return one.first + inputs * one.interval
        case "slowest":
            return inputs * one.interval
        case "slots":
            return slots * one.interval
    return one.first + (inputs - 1) * one.interval


# ------------------------------------------------ one change at a time


class Reading(NamedTuple):
    """What a strategy takes with a change, or without any."""

    strategy: str
    clause: str  # empty without a change
    latencies_s: list[Rate]  # for one input, and for all
    traffic_bytes: Rate  # for all


def list_readings(question: Question) -> list[Reading]:
    """List what each possible strategy takes, then what with each change that makes a difference
    and more than a wrong unit. Raises ValueError if neither strategy is possible."""
    impossible = find_impossible(question)
    readings = []
    for strategy in [it for it in BOTH if it not in impossible]:
        made = {"": compute(question, strategy, {})}
        for change in CHANGES:
            if strategy in change.strategies and change.thing not in PRINTED:
                made[change.clause] = compute(question, strategy, {change.thing: change.value})
        for clause, numbers in made.items():
            if not clause or numbers != made[""]:
                latencies_s = [numbers[name, "latency"] for name in count_inputs(question)]
                *_, traffic_bytes = numbers.values()
                readings.append(Reading(strategy, clause, latencies_s, traffic_bytes))
    return readings
