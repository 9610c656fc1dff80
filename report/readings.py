"""Other readings of the handout, and common mistakes: what they would give.

Each is a change of one thing in the two formulas below: a factor, a term or a choice. Changes of
different things combine.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations
from operator import add
from typing import Any, NamedTuple

import lab3
from lab3 import Network, Rate, System
from report.question import Question, check_possible, possible_strategies

# ------------------------------------------------ what can be read otherwise


class Change(NamedTuple):
    """One thing read otherwise."""

    name: str  # a clause, after "if"
    thing: str  # of which a strategy has one reading at a time
    value: Any  # what the formulas have in its place
    strategies: tuple[str, ...]


MOST_CHANGES = 3  # at the same time
BINARY_GIGA = Fraction(2**30, 10**9)
TENSOR, PIPELINE = ("tensor",), ("pipeline",)
BOTH = TENSOR + PIPELINE
CHANGES = (
    Change("an element is 1 byte (INT8)", "element", 1, BOTH),
    Change("an element is 2 bytes (FP16)", "element", 2, BOTH),
    Change("an element is 4 bytes (FP32)", "element", 4, BOTH),
    Change("1 MAC is 1 op", "ops", 1, BOTH),
    Change("GOPS are 2^30 ops/s", "rate", BINARY_GIGA, BOTH),
    Change("GB/s are 2^30 bytes/s", "link", 1 / BINARY_GIGA, BOTH),
    Change("GB/s are Gbit/s", "link", 8, BOTH),
    Change("communication takes no time", "link", 0, BOTH),
    Change("each output has its layer's input size (x and y)", "size", "ops and bytes", BOTH),
    Change("ops are counted with the input's x and y", "size", "ops", BOTH),
    Change("layer 1 has as many input channels as filters", "channels", "filters", BOTH),
    Change("traffic is counted in bits", "bits", 8, BOTH),
    Change("traffic is that of one input", "inputs", 1, BOTH),
    Change("the network's input is sent, too", "start", "sent", BOTH),
    Change("the last output goes to all nodes", "end", "all nodes", TENSOR),
    Change("the last output is not gathered", "end", "not gathered", TENSOR),
    Change("the last output is sent, too", "end", "sent", PIPELINE),
    Change("whole outputs are sent, not shards", "sent", "whole", TENSOR),
    Change("all shards go over one link", "sent", "one link", TENSOR),
    Change("a node sends its shards one after the other", "sent", "in turn", TENSOR),
    Change("one node collects each output and sends it to all", "sent", "collects", TENSOR),
    Change("the bytes are spread over all links", "sent", "spread", TENSOR),
    Change("computing is not divided by the nodes", "divided", 1, TENSOR),
    Change("traffic counts each output once", "count", "outputs", TENSOR),
    Change("traffic is that of one link", "count", "one link", TENSOR),
    Change("traffic counts gathers to one node only", "count", "gathers", TENSOR),
    Change("traffic counts a node's own shards, too", "count", "own shards", TENSOR),
    Change("a node does not compute while it sends", "sending", "blocks", PIPELINE),
    # of the pipeline's formula, and the least number of inputs for which it is another
    Change("inputs do not overlap", "formula", ("no overlap", 2), PIPELINE),
    Change("N inputs take N / P times as long as one", "formula", ("N / P", 2), PIPELINE),
    Change(
        "N further stages follow the first input, not N - 1", "formula", ("one more", 2), PIPELINE
    ),
    Change("N inputs take N times the slowest stage", "formula", ("slowest", 2), PIPELINE),
    Change(
        "any number of inputs takes N times the slowest stage", "formula", ("slowest", 1), PIPELINE
    ),
    Change("N inputs take N + L - 1 times the slowest stage", "formula", ("slots", 2), PIPELINE),
    Change(
        "any number of inputs takes N + L - 1 times the slowest stage",
        "formula",
        ("slots", 1),
        PIPELINE,
    ),
    Change("each layer takes as long as the slowest", "formula", ("equal", 1), PIPELINE),
)
STRATEGIES_OF = {it.name: it.strategies for it in CHANGES}
READ_AS = {it.name: (it.thing, it.value) for it in CHANGES}

# ------------------------------------------------ one formula per strategy

Read = Mapping[str, Any]  # things read otherwise, and their values


class Sizes(NamedTuple):
    """Of the layers, as they are read."""

    ops: list[int]  # C of each
    output_bytes: list[int]  # A of each
    input_bytes: int  # I, of the first


class OneInput(NamedTuple):
    """What a strategy takes for an input."""

    first_s: Fraction
    interval_s: Fraction  # after which each further one ends
    traffic_bytes: Rate


def _sizes(network: Network, read: Read) -> Sizes:
    first = network[0]
    element_bytes = read.get("element", first.element_bytes)
    ops, output_bytes = [], []
    for number, layer in enumerate(network):
        outputs = layer.out_x * layer.out_y
        computed = layer.x * layer.y if "size" in read else outputs
        sent = computed if read.get("size") == "ops and bytes" else outputs
        in_channels = layer.in_channels if number or "channels" not in read else layer.filters
        macs = layer.filters * in_channels * layer.fx * layer.fy * computed
        ops.append(read.get("ops", 2) * macs)
        output_bytes.append(layer.filters * sent * element_bytes)
    return Sizes(ops, output_bytes, first.in_channels * first.x * first.y * element_bytes)


def _links(system: System) -> int:
    """Of one node alone 1, which stands for none."""
    return system.nodes * (1 if system.topology == lab3.RING else max(system.nodes - 1, 1))


def _tensor(sizes: Sizes, op_s: Fraction, byte_s: Fraction, system: System, read: Read) -> OneInput:
    """sum(C) / (P * R) + sum(link bytes) / B; all nodes wait for each other."""
    nodes, peers, is_ring = system.nodes, system.nodes - 1, system.topology == lab3.RING
    sent, end = read.get("sent"), read.get("end")
    turn = peers if is_ring or sent == "in turn" else min(peers, 1)
    gathered = nodes * peers // 2 if is_ring else peers
    times = nodes if sent == "whole" else 1

    # of each exchange: what the busiest link carries, what all links carry, what nodes keep
    def all_gather(output_bytes: int) -> tuple[int, int, int]:
        shard = output_bytes // nodes
        if sent == "collects":
            traffic_bytes = gathered * shard + peers * output_bytes
            return turn * (shard + output_bytes), traffic_bytes, nodes * shard
        return times * turn * shard, times * nodes * peers * shard, times * nodes * shard

    *others, last = sizes.output_bytes
    exchanges = [all_gather(sum(others))]
    if end == "all nodes":
        exchanges.append(all_gather(last))
    elif end != "not gathered":
        shard = last // nodes
        exchanges.append((times * turn * shard, times * gathered * shard, times * shard))
    if "start" in read:
        exchanges.append((turn * sizes.input_bytes, peers * sizes.input_bytes, 0))

    link_bytes: Rate
    link_bytes, traffic_bytes, own_bytes = map(sum, zip(*exchanges, strict=True))
    if sent == "one link":
        link_bytes = traffic_bytes
    elif sent == "spread":
        link_bytes = Fraction(traffic_bytes, _links(system))
    counted: dict[str | None, Rate] = {
        None: traffic_bytes,
        "outputs": sum(sizes.output_bytes),
        "one link": link_bytes,
        "gathers": gathered * (sum(sizes.output_bytes) // nodes),
        "own shards": traffic_bytes + own_bytes,
    }
    one_s = sum(sizes.ops) * op_s / read.get("divided", nodes) + link_bytes * byte_s
    return OneInput(one_s, one_s, counted[read.get("count")] if peers else 0)


def _pipeline(
    sizes: Sizes, op_s: Fraction, byte_s: Fraction, system: System, read: Read
) -> OneInput:
    """sum(C / R) + sum(A / B), then the longest of them; a layer a node."""
    compute = [ops * op_s for ops in sizes.ops]
    if read.get("formula") == ("equal", 1):
        compute = [max(compute)] * len(compute)
    sent = [*sizes.output_bytes[:-1], 0]
    if system.nodes > 1:  # one node sends nothing
        if "end" in read:
            sent = sizes.output_bytes
        if "start" in read:  # as of a layer 0 that computes nothing
            compute, sent = [Fraction(), *compute], [sizes.input_bytes, *sent]
    send = [sent_bytes * byte_s for sent_bytes in sent]
    stages = map(add, compute, send) if "sending" in read else compute + send
    return OneInput(sum(compute + send, Fraction()), max(stages), sum(sent))


FORMULAS = {"tensor": _tensor, "pipeline": _pipeline}
SIZES = "element", "ops", "size", "channels"  # what these depend on


def _latency_s(one: OneInput, question: Question, read: Read, inputs: int) -> Fraction:
    """first + (N - 1) * interval, or what it is read as."""
    formula, least_inputs = read.get("formula", ("equal", 1))
    coefficients: dict[str, tuple[Rate, Rate]] = {
        "no overlap": (inputs, 0),
        "N / P": (Fraction(inputs, question.system.nodes), 0),
        "one more": (1, inputs),
        "slowest": (0, inputs),
        "slots": (0, inputs + len(question.network) - 1),
        "equal": (1, inputs - 1),  # of stages that are equal
    }
    firsts, intervals = coefficients[formula if inputs >= least_inputs else "equal"]
    return firsts * one.first_s + intervals * one.interval_s


# ------------------------------------------------ what they give

Names = tuple[str, ...]  # of changes, in the order of CHANGES


class Answer(NamedTuple):
    """What a strategy takes for some inputs with these changes, with none as read here."""

    strategy: str
    inputs: int
    latency_s: Fraction
    traffic_bytes: Rate
    changes: Names


def checked(question: Question) -> Question:
    """The question, with its network as a tuple.

    Raises ValueError where it is wrong, and where neither strategy is possible.
    """
    check_possible(question.network, question.system)
    return question._replace(network=tuple(question.network))


def answers(question: Question) -> list[Answer]:
    """As read here, then with each change that makes a difference, for one input and for all, of
    each strategy that is possible. Raises ValueError as checked does."""
    question = checked(question)
    possible, _ = possible_strategies(question.network, question.system)
    found = []
    for strategy in possible:
        by_sets = taken_by_sets(question, strategy, 1)
        found += [
            Answer(
                strategy, inputs, Fraction(taken[asked, "latency"]), taken[asked, "traffic"], names
            )
            for names, taken in by_sets.items()
            if not names or taken != by_sets[()]
            for asked, inputs in inputs_of(question.inputs).items()
        ]
    return found


Parts = tuple[tuple[str, Names], ...]  # of a set, by strategy
Taken = dict[tuple[str, str], Rate]  # by question (Q1) and latency or traffic; s, bytes


def inputs_of(many: int) -> dict[str, int]:
    """By question that is asked."""
    return {"Q1": 1, "Q2": many} if many > 1 else {"Q1": 1}


@lru_cache(maxsize=16)
def sets_of_changes(
    question: Question, strategies: tuple[str, ...], most: int = MOST_CHANGES
) -> list[tuple[Names, Parts]]:
    """Up to so many changes of these strategies at a time, fewest first, then in the order of
    CHANGES: no two of the same thing in one strategy. A change of both is in both parts."""
    as_it_is = "element", question.network[0].element_bytes
    changes = [
        it
        for it in CHANGES
        if {*it.strategies} & {*strategies} and (it.thing, it.value) != as_it_is
    ]
    found = []
    for amount in range(most + 1):
        for together in combinations(changes, amount):
            parts = {of: [it for it in together if of in it.strategies] for of in strategies}
            if all(len({it.thing for it in part}) == len(part) for part in parts.values()):
                names = tuple(it.name for it in together)
                named = ((of, tuple(it.name for it in part)) for of, part in parts.items())
                found.append((names, tuple(named)))
    return found


@lru_cache(maxsize=16)
def taken_by_sets(
    question: Question, strategy: str, most: int = MOST_CHANGES
) -> dict[Names, Taken]:
    """What a possible strategy takes with each set of its changes, for one input and for all. The
    question is one that is checked."""
    network, system, inputs = question
    sizes_of = cache(lambda *read: _sizes(network, dict(read)))
    found = {}
    for names, _ in sets_of_changes(question, (strategy,), most):
        read = dict(READ_AS[name] for name in names)
        sizes = sizes_of(*(item for item in read.items() if item[0] in SIZES))
        op_s = 1 / (Fraction(system.ops_per_s) * read.get("rate", 1))
        byte_s = read.get("link", 1) / Fraction(system.link_bytes_per_s)
        one = FORMULAS[strategy](sizes, op_s, byte_s, system, read)
        taken: Taken = {}
        for asked, many in inputs_of(inputs).items():
            taken[asked, "latency"] = _latency_s(one, question, read, many)
            times = read.get("inputs", many) * read.get("bits", 1)
            taken[asked, "traffic"] = times * one.traffic_bytes
        found[names] = taken
    return found
