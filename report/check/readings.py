"""What other readings of the handout and common mistakes would give.

Each change is a factor, a term or a choice in one of the two formulas below.
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
from report.check.changes import CHANGES, MOST_CHANGES, NAMED, NOT_AS_THE_KEY, Change
from report.question import Question, check_possible, possible_strategies

# ------------------------------------------------ one formula per strategy

Read = Mapping[str, Any]  # things read otherwise, and their values


class Sizes(NamedTuple):
    """The layers' sizes, as they are read."""

    ops: list[int]  # C of each
    output_bytes: list[int]  # A of each
    input_bytes: int  # I, of the first


class OneInput(NamedTuple):
    """What a strategy takes for an input."""

    first_s: Fraction
    interval_s: Fraction  # after which each later one ends
    traffic_bytes: Rate
    last_stage_s: Fraction


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
        ops.append(macs if read.get("ops") == "1 a MAC" else 2 * macs)
        output_bytes.append(layer.filters * sent * element_bytes)
    return Sizes(ops, output_bytes, first.in_channels * first.x * first.y * element_bytes)


def _links(system: System) -> int:
    """How many links there are; 1 for one node, whose bytes are 0, so that they can be divided."""
    return system.nodes * (1 if system.topology == lab3.RING else max(system.nodes - 1, 1))


def _tensor(sizes: Sizes, op_s: Fraction, byte_s: Fraction, system: System, read: Read) -> OneInput:
    """sum(C) / (P * R) + sum(link bytes) / B; all nodes wait for each other."""
    nodes, peers, is_ring = system.nodes, system.nodes - 1, system.topology == lab3.RING
    sent, end = read.get("sent"), read.get("end")
    turn = peers if is_ring else min(peers, 1)  # how many shards a link passes on in an exchange
    in_turn = peers if sent in ("one shard", "one node") else turn
    gathered = nodes * peers // 2 if is_ring else peers
    times = nodes if sent == "whole" else 1

    # of each exchange: what the busiest link carries, what all links carry, what nodes keep
    def all_gather(output_bytes: int) -> tuple[int, int, int]:
        shard = output_bytes // nodes
        if sent == "collects":
            traffic_bytes = gathered * shard + peers * output_bytes
            return turn * (shard + output_bytes), traffic_bytes, nodes * shard
        return times * in_turn * shard, times * nodes * peers * shard, times * nodes * shard

    *others, last = sizes.output_bytes
    exchanges = [all_gather(sum(others))]
    if end == "all nodes":
        exchanges.append(all_gather(last))
    elif end != "not gathered":
        shard = times * (last // nodes)
        into_one = peers if sent == "one shard" else turn
        exchanges.append((into_one * shard, gathered * shard, shard))
    if "start" in read:
        exchanges.append((in_turn * sizes.input_bytes, peers * sizes.input_bytes, 0))

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
    divisor = 1 if "divided" in read else nodes
    one_s = sum(sizes.ops) * op_s / divisor + link_bytes * byte_s
    return OneInput(one_s, one_s, counted[read.get("count")] if peers else 0, one_s)


def _pipeline(
    sizes: Sizes, op_s: Fraction, byte_s: Fraction, system: System, read: Read
) -> OneInput:
    """sum(C / R) + sum(A / B), then the longest of them; a layer a node."""
    divisor = system.nodes if "divided" in read else 1
    compute = [ops * op_s / divisor for ops in sizes.ops]
    sent = [*sizes.output_bytes[:-1], 0]
    if system.nodes > 1:  # one node sends nothing
        if "last" in read:
            sent = sizes.output_bytes
        if "start" in read:  # as of a layer 0 that computes nothing
            compute, sent = [Fraction(), *compute], [sizes.input_bytes, *sent]
    send = [sent_bytes * byte_s for sent_bytes in sent]
    busy = {  # how long each input keeps a node or a link
        None: compute + send,
        "sends": map(add, compute, send),
        "receives": map(add, [*compute, 0], [0, *send]),
    }
    first_s = sum(compute + send, Fraction())
    return OneInput(first_s, max(busy[read.get("sending")]), sum(sent), compute[-1])


FORMULAS = {"tensor": _tensor, "pipeline": _pipeline}
SIZES = "element", "ops", "size", "channels"  # what these depend on


def _latency_s(one: OneInput, question: Question, read: Read, inputs: int) -> Fraction:
    """first + (N - 1) * interval, or what it is read as."""
    formula, least_inputs = read.get("formula", ("", 1))
    match formula if inputs >= least_inputs else "":
        case "last stage":
            return one.first_s + (inputs - 1) * one.last_stage_s
        case "no overlap":
            return inputs * one.first_s
        case "N / P":
            return Fraction(inputs, question.system.nodes) * one.first_s
        case "one more":
            return one.first_s + inputs * one.interval_s
        case "slowest":
            return inputs * one.interval_s
        case "slots":
            return (inputs + len(question.network) - 1) * one.interval_s
    return one.first_s + (inputs - 1) * one.interval_s


# ------------------------------------------------ what they give

Names = tuple[str, ...]  # of changes, in the order of CHANGES
Parts = tuple[tuple[str, Names], ...]  # of a set, by strategy
Taken = dict[tuple[str, str], Rate]  # by question (Q1) and latency or traffic; s, bytes


class Answer(NamedTuple):
    """What a strategy takes for some inputs with these changes, with none as read here."""

    strategy: str
    inputs: int
    latency_s: Fraction
    traffic_bytes: Rate
    changes: Names


class Course(NamedTuple):
    """What is asked, and how a course reads it: the changes of its key by strategy."""

    question: Question
    key: Parts = ()

    @property
    def changes(self) -> list[Change]:
        """All changes of the course's reading: first those of its key, taken back."""
        network = self.question.network
        has_all = [
            change
            for change in CHANGES
            if all(change.name in dict(self.key).get(of, ()) for of in change.strategies)
            or (change.thing, change.value) == ("element", network[0].element_bytes)
        ]
        taken_back = []
        for change in CHANGES:
            if having := tuple(of for of, names in self.key if change.name in names):
                name = NOT_AS_THE_KEY + change.name
                taken_back.append(Change(name, change.thing, None, having))
        return taken_back + [change for change in CHANGES if change not in has_all]


def checked(question: Question) -> Question:
    """With its network as a tuple. Raises ValueError if neither strategy is possible."""
    check_possible(question.network, question.system)
    return question._replace(network=tuple(question.network))


def answers(question: Question) -> list[Answer]:
    """As read here, then with each change that makes a difference, for one input and for all, of
    each strategy that is possible. Raises ValueError as checked does."""
    question = checked(question)
    possible, _ = possible_strategies(question.network, question.system)
    found = []
    for strategy in possible:
        by_sets = taken_by_sets(Course(question), strategy, 1)
        found += [
            Answer(
                strategy, inputs, Fraction(taken[asked, "latency"]), taken[asked, "traffic"], names
            )
            for names, taken in by_sets.items()
            if not names or taken != by_sets[()]
            for asked, inputs in inputs_of(question.inputs).items()
        ]
    return found


def inputs_of(many: int) -> dict[str, int]:
    """The number of inputs of each question; with one input there is no Q2."""
    return {"Q1": 1, "Q2": many} if many > 1 else {"Q1": 1}


@lru_cache(maxsize=16)
def sets_of_changes(
    course: Course, strategies: tuple[str, ...], most: int = MOST_CHANGES
) -> list[tuple[Names, Parts]]:
    """Up to so many changes of these strategies at a time, fewest first, then in their order: no
    two of the same thing. A change of both is in both parts."""
    changes = [change for change in course.changes if {*change.strategies} & {*strategies}]
    found = []
    for amount in range(most + 1):
        for together in combinations(changes, amount):
            if len({change.thing for change in together}) == amount:
                parts = tuple(
                    (of, tuple(change.name for change in together if of in change.strategies))
                    for of in strategies
                )
                found.append((tuple(change.name for change in together), parts))
    return found


@lru_cache(maxsize=64)
def taken_by_sets(course: Course, strategy: str, most: int = MOST_CHANGES) -> dict[Names, Taken]:
    """What a possible strategy takes with each set of its changes, for one input and for all. The
    question is one that is checked."""
    network, system, inputs = course.question
    sizes_of = cache(lambda *read: _sizes(network, dict(read)))
    change_of = {**NAMED, **{change.name: change for change in course.changes}}
    key = dict(course.key).get(strategy, ())
    found = {}
    for names, _ in sets_of_changes(course, (strategy,), most):
        changes = [change_of[name] for name in (*key, *names)]  # of a thing the last one holds
        values = {change.thing: change.value for change in changes}
        read = {thing: value for thing, value in values.items() if value is not None}
        sizes = sizes_of(*(item for item in read.items() if item[0] in SIZES))
        op_s = 1 / (Fraction(system.ops_per_s) * read.get("rate", 1))
        if read.get("ops") == "shared":
            op_s *= system.nodes
        byte_s = read.get("link", 1) / Fraction(system.link_bytes_per_s)
        one = FORMULAS[strategy](sizes, op_s, byte_s, system, read)
        taken: Taken = {}
        for asked, many in inputs_of(inputs).items():
            effective = many - 1 if asked == "Q2" and "many" in read else many
            taken[asked, "latency"] = _latency_s(one, course.question, read, effective)
            times = read.get("inputs", effective) * read.get("bits", 1)
            taken[asked, "traffic"] = times * one.traffic_bytes
        found[names] = taken
    return found
