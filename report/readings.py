"""Other readings of the handout: what they would give.

What the handout leaves open, and what is easily mistaken, is a list of changes. Each strategy is
one closed form, in which a change is a factor, a term or a choice; changes of different things
combine. Row streaming and two inputs in turn stand alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations
from operator import add, gt, itemgetter
from typing import Any, NamedTuple

import lab3
from lab3 import Network, Rate, System
from report import streaming
from report.question import (
    STRATEGIES,
    Question,
    check_possible,
    check_question,
    possible_strategies,
)
from report.steps import duration, tensor_parallel_stages, traffic
from report.terminal import shown

# ------------------------------------------------ what can be read otherwise


class Change(NamedTuple):
    """One thing read otherwise."""

    name: str
    thing: str  # of which there is one reading at a time
    value: Any  # what the formulas have in its place
    strategies: tuple[str, ...]


MOST_CHANGES = 3  # at the same time
BINARY_GIGA = Fraction(2**30, 10**9)
TENSOR, PIPELINE, BOTH = ("tensor",), ("pipeline",), tuple(STRATEGIES)
CHANGES = (
    Change("an element is 1 byte (INT8)", "element", 1, BOTH),
    Change("an element is 2 bytes (FP16)", "element", 2, BOTH),
    Change("an element is 4 bytes (FP32)", "element", 4, BOTH),
    Change("1 MAC is 1 op", "ops", 1, BOTH),
    Change("GOPS are 2^30 ops/s", "rate", BINARY_GIGA, BOTH),
    Change("GB/s are 2^30 bytes/s", "link", 1 / BINARY_GIGA, BOTH),
    Change("GB/s are Gbit/s", "link", 8, BOTH),
    Change("nothing takes time on links", "link", 0, BOTH),
    Change("outputs keep the input's x and y (padding)", "size", "padded", BOTH),
    Change("layer 1 has as many input channels as filters", "channels", "filters", BOTH),
    Change("the bytes are spread over all links", "sent", "spread", BOTH),
    Change("traffic is counted in bits", "count", "bits", BOTH),
    Change("traffic is not multiplied by N", "inputs", 1, BOTH),
    Change("inputs start on one node", "start", "one node", TENSOR),
    Change("the output ends on every node", "end", "every node", TENSOR),
    Change("the output is not gathered", "end", "not gathered", TENSOR),
    Change("whole outputs are sent, not shards", "sent", "whole", TENSOR),
    Change("all shards go over one link", "sent", "one link", TENSOR),
    Change("nodes have one link out, one in", "sent", "one out, one in", TENSOR),
    Change("one node collects each output and sends it to all", "sent", "collected", TENSOR),
    Change("traffic counts each output once", "count", "outputs", TENSOR),
    Change("traffic is that of one link", "count", "one link", TENSOR),
    Change("the last output is sent, too", "end", "sent", PIPELINE),
    Change("inputs do not overlap", "overlap", "none", PIPELINE),
    Change("a node that sends does not compute", "overlap", "sender", PIPELINE),
    Change("a node that sends or receives does not compute", "overlap", "receiver", PIPELINE),
    Change("N inputs take N / P times as long as one", "overlap", "N / P", PIPELINE),
    Change("nodes take as long as the slowest", "load", "slowest", PIPELINE),
    Change("only the longest stage counts", "load", "longest", PIPELINE),
    Change("every stage takes as long as the longest", "load", "equal", PIPELINE),
    Change("the other layers' computing is left out", "load", "left out", PIPELINE),
    Change("N further intervals follow, not N - 1", "pace", "N", PIPELINE),
)
IN_TURN, STREAMING = "two inputs in turn", "row streaming"  # alone
STRATEGIES_OF = {it.name: it.strategies for it in CHANGES} | {IN_TURN: TENSOR, STREAMING: BOTH}

# ------------------------------------------------ one formula per strategy

Read = Mapping[str, Any]  # things read otherwise, and their values
Taken = tuple[Fraction, Rate]  # seconds and bytes


class Sizes(NamedTuple):
    """Of the layers, as they are read."""

    ops: list[int]  # C of each
    output_bytes: list[int]  # A of each
    input_bytes: int  # of the first


def _sizes(network: Network, read: Read) -> Sizes:
    first = network[0]
    element_bytes = read.get("element", first.element_bytes)
    ops, output_bytes = [], []
    for number, layer in enumerate(network):
        places = first.x * first.y if "size" in read else layer.out_x * layer.out_y
        is_changed = number == 0 and "channels" in read
        in_channels = layer.filters if is_changed else layer.in_channels
        macs = layer.filters * in_channels * layer.fx * layer.fy * places
        ops.append(read.get("ops", 2) * macs)
        output_bytes.append(layer.filters * places * element_bytes)
    return Sizes(ops, output_bytes, first.in_channels * first.x * first.y * element_bytes)


def _links(system: System) -> int:
    return system.nodes if system.topology == lab3.RING else system.nodes * (system.nodes - 1)


def _seconds(system: System, read: Read) -> tuple[Fraction, Fraction]:
    """Of an op on a node, and of a byte on a link."""
    op_s = 1 / (Fraction(system.ops_per_s) * read.get("rate", 1))
    return op_s, read.get("link", 1) / Fraction(system.link_bytes_per_s)


def _tensor(sizes: Sizes, system: System, read: Read, counts: Sequence[int]) -> list[Taken]:
    """N * (sum(C) / (P * R) + sum(link bytes) / B), N * sum(traffic bytes)."""
    nodes, peers, sent, count = system.nodes, system.nodes - 1, read.get("sent"), read.get("count")
    is_ring = system.topology == lab3.RING
    in_turn = peers if is_ring or sent == "one out, one in" else min(peers, 1)
    gathered = nodes * peers // 2 if is_ring else peers
    times = nodes if sent == "whole" else 1

    def exchange(output_bytes: int) -> tuple[int, int]:
        """What the busiest link and what all links carry if every node needs all of it."""
        shard = output_bytes // nodes
        if sent == "collected":
            return in_turn * (shard + output_bytes), gathered * shard + peers * output_bytes
        return times * in_turn * shard, times * nodes * peers * shard

    *others, last = sizes.output_bytes
    exchanges = [exchange(sum(others))]
    if read.get("end") == "every node":
        exchanges.append(exchange(last))
    elif "end" not in read:
        shard = last // nodes
        exchanges.append((times * in_turn * shard, times * gathered * shard))
    if "start" in read:
        exchanges.append((in_turn * sizes.input_bytes, peers * sizes.input_bytes))

    link_bytes: Rate
    link_bytes, traffic_bytes = map(sum, zip(*exchanges, strict=True))
    if sent == "one link":
        link_bytes = traffic_bytes
    elif sent == "spread" and peers:
        link_bytes = Fraction(traffic_bytes, _links(system))
    counted: dict[Any, Rate] = {
        None: traffic_bytes,
        "bits": 8 * traffic_bytes,
        "outputs": sum(sizes.output_bytes) if peers else 0,  # one node sends nothing
        "one link": link_bytes,
    }
    op_s, byte_s = _seconds(system, read)
    input_s = Fraction(sum(sizes.ops), nodes) * op_s + link_bytes * byte_s
    return [(n * input_s, read.get("inputs", n) * counted[count]) for n in counts]


def _pipeline(sizes: Sizes, system: System, read: Read, counts: Sequence[int]) -> list[Taken]:
    """first + (N - 1) * interval, N * sum(sent bytes)."""
    ops, sent = sizes.ops, sizes.output_bytes[:-1]
    if read.get("end") == "sent" and system.nodes > 1:
        sent = sizes.output_bytes
    load, overlap = read.get("load"), read.get("overlap")
    if load == "slowest":
        ops = [max(ops)] * len(ops)
    op_s, byte_s = _seconds(system, read)
    if "sent" in read and sent:
        byte_s /= _links(system)

    compute_s, send_s = sum(ops) * op_s, sum(sent) * byte_s
    after = [*sent, 0][: len(ops)]  # what each node sends
    before = [0, *after[:-1]]  # what it has received
    if overlap in ("sender", "receiver"):
        moved: Iterable[int] = after if overlap == "sender" else map(add, before, after)
        byte, op = (byte_s / op_s).as_integer_ratio()  # so that stages are ints, which are faster
        stages = (c * op + m * byte for c, m in zip(ops, moved, strict=True))
        interval_s = max(stages) * op_s / op
    else:
        interval_s = max(max(ops) * op_s, max([0, *sent]) * byte_s)
    first_s = {
        None: compute_s + send_s,
        "slowest": compute_s + send_s,
        "longest": interval_s,
        "equal": (len(ops) if overlap in ("sender", "receiver") else len(ops) + len(sent))
        * interval_s,
        "left out": max(ops) * op_s + send_s,
    }[load]
    if overlap == "none":
        interval_s = first_s

    def latency(n: int) -> Fraction:
        if overlap == "N / P" and n > 1:
            return n * first_s / system.nodes
        intervals = n if "pace" in read and n > 1 else n - 1
        return first_s + intervals * interval_s

    bits = 8 if "count" in read else 1
    return [(latency(n), read.get("inputs", n) * bits * sum(sent)) for n in counts]


FORMULAS = {"tensor": _tensor, "pipeline": _pipeline}
SIZES = ("element", "ops", "size", "channels")  # things on which the sizes depend

# ------------------------------------------------ what they give


class Line(NamedTuple):
    """What a line of the answers is about."""

    inputs: int
    strategy: str
    kind: str  # latency or traffic

    @property
    def name(self) -> str:
        """Q1 tensor latency"""
        return f"Q{1 if self.inputs == 1 else 2} {self.strategy} {self.kind}"


class Answer(NamedTuple):
    """What a strategy takes for some inputs if this is changed, nothing if as read here."""

    strategy: str
    inputs: int
    latency_s: Fraction
    traffic_bytes: Rate
    changes: tuple[str, ...]

    def of(self, kind: str) -> Rate:
        """latency or traffic"""
        return self.latency_s if kind == "latency" else self.traffic_bytes


Names = tuple[str, ...]


@lru_cache(maxsize=64)
def combined(question: Question, strategy: str, amount: int) -> dict[Names, list[Answer]]:
    """With each set of so many changes of different things, for one input and for all; what stands
    alone is one change.

    Raises ValueError where the strategy is not possible.
    """
    network, system, inputs = question
    stages = STRATEGIES[strategy](network, system)
    changes = [it for it in CHANGES if strategy in it.strategies]
    changes = [
        it for it in changes if (it.thing, it.value) != ("element", network[0].element_bytes)
    ]
    counts = sorted({1, inputs})
    sizes_of = cache(lambda *read: _sizes(network, dict(read)))
    found = {}
    for together in combinations(changes, amount):
        read = {it.thing: it.value for it in together}
        if len(read) == amount:
            names = tuple(it.name for it in together)
            sizes = sizes_of(*(item for item in read.items() if item[0] in SIZES))
            taken = FORMULAS[strategy](sizes, system, read, counts)
            found[names] = [
                Answer(strategy, n, *each, names) for n, each in zip(counts, taken, strict=True)
            ]
    if amount == 1:
        for name, latencies_s in _alone(question, strategy):
            sent_bytes = traffic(stages)
            found[name,] = [
                Answer(strategy, n, each_s, n * sent_bytes, (name,))
                for n, each_s in zip(counts, latencies_s, strict=True)
            ]
    return found


@lru_cache(maxsize=1_000)
def _sorted(question: Question, line: Line, amount: int) -> tuple[list[Rate], list[Names]]:
    """The answers, and the changes that make them."""
    found = combined(question, line.strategy, amount).items()
    pairs = [
        (it.of(line.kind), names)
        for names, both in found
        for it in both
        if it.inputs == line.inputs
    ]
    pairs.sort(key=itemgetter(0))
    return [value for value, _ in pairs], [names for _, names in pairs]


def between(question: Question, line: Line, amount: int, low: Rate, high: Rate) -> list[Names]:
    """The sets of so many changes whose answer is from low to below high."""
    values, names = _sorted(question, line, amount)
    return names[bisect_left(values, low) : bisect_left(values, high)]


def answer(question: Question, line: Line, names: Names) -> Rate | None:
    """What these changes, as far as they are of its strategy, give; None if they do not combine."""
    own = tuple(name for name in names if line.strategy in STRATEGIES_OF[name])
    both = combined(question, line.strategy, len(own)).get(own, ())
    return next((it.of(line.kind) for it in both if it.inputs == line.inputs), None)


def _alone(question: Question, strategy: str) -> Iterator[tuple[str, list[Fraction]]]:
    """What does not combine, where it is modelled."""
    network, system, inputs = question
    counts = sorted({1, inputs})
    if strategy == "tensor":
        in_turn_s = two_in_turn_latency(network, system, inputs)
        if in_turn_s is not None:
            one_s = lab3.tensor_parallel_latency(network, system)
            yield IN_TURN, [one_s, in_turn_s]
    try:
        of = streaming.streamed_latency
        yield STREAMING, [of(strategy, network, system, n) for n in counts]
    except ValueError:  # not modelled
        return


def two_in_turn_latency(network: Network, system: System, inputs: int) -> Fraction | None:
    """N * sum(C) / (P * R) + S_L / B seconds; on a ring (P - 1) * S_L / B: tensor parallelism with
    inputs in pairs, whose nodes compute a layer of one while links exchange that of the other.

    None if an odd input is left, or if a transfer takes longer than the computation beside it: that
    of its layer, or of the next one, after the last layer the first.

    Raises ValueError where tensor parallelism is not possible.
    """
    lab3.check(network, system, inputs)
    [steps] = tensor_parallel_stages(network, system)
    steps_s = [duration([step], system) for step in steps]
    compute_s, sent_s = steps_s[::2], steps_s[1::2]
    beside_s = map(min, compute_s, [*compute_s[1:], compute_s[0]])
    if inputs % 2 or any(map(gt, sent_s, beside_s)):
        return None
    return inputs * sum(compute_s) + sent_s[-1]


def checked(question: Question) -> Question:
    """The question, with its network as a tuple.

    Raises ValueError where it is wrong, and where neither strategy is possible.
    """
    check_question(question)
    check_possible(question.network, question.system)
    return question._replace(network=tuple(question.network))


def answers(question: Question, most_changes: int = 1) -> list[Answer]:
    """As read here, then with ever more changes, for one input and for all: of each strategy that
    is possible, the changes that make a difference to it, without those that fewer changes equal.

    Raises ValueError where the question is wrong, where neither strategy is possible, and for more
    changes than MOST_CHANGES.
    """
    question = checked(question)
    if most_changes not in range(MOST_CHANGES + 1):
        wanted = f"a number of changes from 0 to {MOST_CHANGES}"
        raise ValueError(f"most_changes: {shown(most_changes)} is not {wanted}")
    found: dict[tuple[str, Names], list[Answer]] = {}
    taken: dict[tuple[str, Names], list[Sequence[Any]]] = {}
    possible, _ = possible_strategies(question.network, question.system)
    for amount in range(most_changes + 1):
        for strategy in possible:
            for names, both in combined(question, strategy, amount).items():
                taken[strategy, names] = [it[2:4] for it in both]
                if not any(
                    taken.get((strategy, fewer)) == taken[strategy, names]
                    for size in range(amount)
                    for fewer in combinations(names, size)
                ):
                    found[strategy, names] = both
    return [it for both in found.values() for it in both]
