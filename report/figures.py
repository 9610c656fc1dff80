"""Every figure about a network on a machine, exact: what explain.py tells and the deck shows.

figures() puts all of them into one dictionary, which explain.py prints as JSON. A figure that is
not possible is None, and the reason stands beside it.
"""

from __future__ import annotations

from whatif import Question  # first, since it finds lab3

# isort: split
from collections.abc import Callable
from fractions import Fraction
from itertools import chain, pairwise
from math import ceil
from typing import Any, NamedTuple

import lab3
import plans
import rows
import sram
from lab3 import ALL_TO_ALL, RING, ConvLayer, Network, Stages, Step, System

VERSION = 2  # of the dictionary's shape


# ------------------------------------------------ the strategies


class Result(NamedTuple):
    """A strategy, for some inputs on a topology: with whole tensors, and with rows streamed."""

    topology: str
    inputs: int
    strategy: str  # "tensor" or "pipeline"
    reason: str | None = None  # why it is not possible
    latency_s: Fraction | None = None
    traffic_bytes: int | None = None
    compute_s: Fraction | None = None  # of one input's steps
    communication_s: Fraction | None = None
    interval_s: Fraction | None = None  # after which one more input is done
    bottleneck: str | None = None  # the first longest stage
    idle_nodes: int | None = None  # that have no layer
    speed_up: Fraction | None = None  # over one node: N * sum(C) / R / latency
    utilisation: Fraction | None = None  # speed-up / P
    streamed_latency_s: Fraction | None = None  # rows sent as they are computed
    streamed_reason: str | None = None  # why it is not known
    limit_s: Fraction | None = None  # no schedule is faster: N * sum(C) / (P * R)


def results(question: Question) -> list[Result]:
    """Of both strategies, for one input and for all, on the machine's own topology."""
    network, system, inputs = question
    possible, reasons = lab3.possible_strategies(network, system)
    return [
        _result(strategy, possible[strategy], question._replace(inputs=count))
        if strategy in possible
        else Result(system.topology, count, strategy, reasons[strategy])
        for count in sorted({1, inputs})
        for strategy in lab3.STRATEGIES
    ]


def _result(strategy: str, stages: Stages, question: Question) -> Result:
    network, system, inputs = question
    latency_s = lab3.latency(stages, system, inputs)
    compute_s = Fraction(sum(step.node_ops for step in chain(*stages))) / system.ops_per_s
    longest = max(stages, key=lambda stage: lab3.duration(stage, system))
    speed_up = inputs * one_node_s(network, system) / latency_s
    try:
        streamed_s, streamed_reason = rows.streamed_latency(strategy, *question), None
    except ValueError as error:
        streamed_s, streamed_reason = None, str(error)
    return Result(
        system.topology,
        inputs,
        strategy,
        latency_s=latency_s,
        traffic_bytes=lab3.traffic(stages, inputs),
        compute_s=compute_s,
        communication_s=lab3.latency(stages, system) - compute_s,
        interval_s=lab3.duration(longest, system),
        bottleneck=f"{longest[0].work} of layer {longest[0].layer}"
        if len(longest) == 1
        else "all steps",
        idle_nodes=system.nodes - len(network) if strategy == "pipeline" else 0,
        speed_up=speed_up,
        utilisation=speed_up / system.nodes,
        streamed_latency_s=streamed_s,
        streamed_reason=streamed_reason,
        limit_s=rows.compute_bound(*question),
    )


def one_node_s(network: Network, system: System) -> Fraction:
    """sum(C) / R: one input on one node, which sends nothing."""
    return Fraction(sum(layer.ops for layer in network)) / system.ops_per_s


def data_parallel_latency(network: Network, system: System, inputs: int = 1) -> Fraction:
    """ceil(N / P) * sum(C) / R seconds: whole inputs, shared out over the nodes, nothing sent."""
    lab3.check(network, system, inputs)
    return ceil(Fraction(inputs, system.nodes)) * one_node_s(network, system)


def balanced_pipeline_latency(network: Network, system: System, inputs: int = 1) -> Fraction:
    """(P + N - 1) * sum(C) / (P * R) seconds: P equal stages, if there were such, without sends."""
    lab3.check(network, system, inputs)
    return (system.nodes + inputs - 1) * one_node_s(network, system) / system.nodes


def two_way_ring_latency(network: Network, system: System, inputs: int = 1) -> Fraction:
    """N * sum(C / (P * R) + (P - 1) * S / 2 / B) seconds: tensor parallelism on a ring with links
    both ways, on which half of each shard goes either way.

    Raises ValueError where tensor parallelism is not possible.
    """
    twice = system._replace(topology=RING, link_bytes_per_s=2 * system.link_bytes_per_s)
    return lab3.tensor_parallel_latency(network, twice, inputs)


def losses(question: Question) -> dict[str, Fraction]:
    """What the pipeline's latency is made of, by the law:

    work / P         N * sum(C) / (P * R), as if all nodes computed all the time
    imbalance        N * (interval - sum(C) / (P * R)), waiting for the bottleneck
    fill and drain   computing of one input that is not the bottleneck
    sending          sends of one input that are not the bottleneck
    """
    network, system, inputs = question
    stages = lab3.pipeline_parallel_stages(network, system)
    bottleneck = max(stages, key=lambda stage: lab3.duration(stage, system))
    others = [step for stage in stages if stage is not bottleneck for step in stage]
    share_s = one_node_s(network, system) / system.nodes
    return {
        "work / P": inputs * share_s,
        "imbalance": inputs * (lab3.duration(bottleneck, system) - share_s),
        "fill and drain": sum(step.node_ops for step in others) / Fraction(system.ops_per_s),
        "sending": sum(step.link_bytes for step in others) / Fraction(system.link_bytes_per_s),
    }


# ------------------------------------------------ what would change it


class SpeedUp(NamedTuple):
    """What twice as much of something buys a strategy, None where that is not possible."""

    inputs: int
    strategy: str
    speed_up: Fraction | None
    twice: str  # of what


TWICE = {"ops/s": "ops_per_s", "bytes/s of links": "link_bytes_per_s", "nodes": "nodes"}


def doubling(question: Question) -> list[SpeedUp]:
    """The speed-up of each possible strategy, for one input and for all."""
    network, system, inputs = question
    possible, _ = lab3.possible_strategies(network, system)
    found = []
    for name, field in TWICE.items():
        better = system._replace(**{field: 2 * getattr(system, field)})
        still_possible, _ = lab3.possible_strategies(network, better)
        for count in sorted({1, inputs}):
            for strategy, stages in possible.items():
                speed_up = None
                if strategy in still_possible:
                    before_s = lab3.latency(stages, system, count)
                    speed_up = before_s / lab3.latency(still_possible[strategy], better, count)
                found.append(SpeedUp(count, strategy, speed_up, name))
    return found


def ops_a_byte(layer: ConvLayer) -> Fraction:
    """C / A: the ops for a byte of output."""
    return Fraction(layer.ops, layer.output_bytes)


def ops_while_a_byte_is_sent(system: System) -> Fraction:
    """R / B: where C / A is as much, computing and sending a whole output take as long."""
    return Fraction(system.ops_per_s) / system.link_bytes_per_s


# ------------------------------------------------ other readings of the handout


class Answer(NamedTuple):
    """What a reading of the handout gives for a strategy and a number of inputs."""

    reading: str
    inputs: int
    strategy: str
    latency_s: Fraction
    traffic_bytes: int


class Reading(NamedTuple):
    """How the handout can be read: the machine, each strategy's steps in stages, and what of them
    holds a node, where that is not a stage."""

    name: str
    system: System
    stages: dict[str, Stages]
    holding: dict[str, Stages] | None = None

    def answers(self, inputs: int) -> list[Answer]:
        """Of each strategy, by the law."""
        found = []
        for strategy, stages in self.stages.items():
            holding = (self.holding or self.stages).get(strategy, stages)
            interval_s = max(lab3.duration(steps, self.system) for steps in holding)
            latency_s = lab3.latency(stages, self.system) + (inputs - 1) * interval_s
            traffic_bytes = lab3.traffic(stages, inputs)
            found.append(Answer(self.name, inputs, strategy, latency_s, traffic_bytes))
        return found


def readings(network: Network, system: System) -> list[Reading]:
    """As it is read here, then otherwise, one change at a time; of the strategies that are
    possible."""
    here, _ = lab3.possible_strategies(network, system)
    link = Fraction(system.link_bytes_per_s)
    found = [
        Reading("as read here", system, here),
        Reading("1 GB is 2^30 bytes", _with_link(system, link * Fraction(2**30, 10**9)), here),
        Reading("GB/s are Gbit/s", _with_link(system, link / 8), here),
    ]
    if "tensor" in here:
        peers, ring = system.nodes - 1, system.topology == RING
        [steps] = here["tensor"]
        input_bytes = network[0].input_bytes
        turns = peers if ring else min(peers, 1)
        scatter = Step(1, "send", 0, turns * input_bytes, peers * input_bytes)
        shard_bytes = network[-1].output_bytes // system.nodes
        to_all = lab3.all_gather(len(network), shard_bytes, system)
        found += [
            Reading("inputs start on one node", system, {**here, "tensor": [[scatter, *steps]]}),
            Reading("output on every node", system, {**here, "tensor": [[*steps[:-1], to_all]]}),
        ]
    if "pipeline" in here:
        steps = [*chain(*here["pipeline"])]
        work, sends = steps[::2], steps[1::2]
        sent = [list(pair) for pair in zip(work, sends, strict=False)] + [[work[-1]]]
        received = [[*before[1:], *node] for before, node in pairwise([[], *sent])]
        found += [
            Reading("a send blocks its node", system, here, {"pipeline": sent}),
            Reading("sends block both nodes", system, here, {"pipeline": received}),
            Reading("no overlap at all", system, here, {"pipeline": [steps]}),
        ]
    return found


def _with_link(system: System, bytes_per_s: Fraction) -> System:
    return system._replace(link_bytes_per_s=bytes_per_s)


# ------------------------------------------------ SRAM

SCHEMES: dict[str, Callable[[Network, System], list[sram.SramUse]]] = {
    "tensor": sram.tensor_parallel_sram,
    "tensor, streamed": sram.tensor_streamed_sram,
    "pipeline": sram.pipeline_parallel_sram,
    "pipeline, streamed": sram.pipeline_streamed_sram,
    "data": sram.data_parallel_sram,
}


class Need(NamedTuple):
    """What the fullest node holds, one input at a time."""

    scheme: str
    where: str  # "every node", "one node" that gathers, or "node 2"
    layer: int
    total_bytes: int
    fits: bool
    free_bytes: int  # below 0: lacking
    waiting_inputs: int  # for so many more there is room where inputs wait


def sram_uses(network: Network, system: System) -> dict[str, list[sram.SramUse]]:
    """What nodes hold, layer by layer, in each scheme that is possible."""
    found = {}
    for scheme, uses in SCHEMES.items():
        try:
            found[scheme] = uses(network, system)
        except ValueError:  # as the strategy is not possible
            continue
    return found


def needs(network: Network, system: System) -> list[Need]:
    """The fullest node of each scheme that is possible."""
    found = []
    for scheme, uses in sram_uses(network, system).items():
        use = max(uses, key=lambda use: use.total_bytes)
        where = f"node {use.layer}" if scheme.startswith("pipeline") else "every node"
        where = "one node" if use.work == "gather" else where
        free = system.sram_bytes - use.total_bytes
        # a pipeline's inputs wait on its first node
        waits_beside = uses[0] if scheme.startswith("pipeline") else use
        room = system.sram_bytes - waits_beside.total_bytes if free >= 0 else 0
        waiting = room // network[0].input_bytes
        found.append(Need(scheme, where, use.layer, use.total_bytes, free >= 0, free, waiting))
    return found


# ------------------------------------------------ all of them

SIZES = ("out_x", "out_y", "macs", "ops", "weight_bytes", "input_bytes", "output_bytes")


def figures(question: Question) -> dict[str, Any]:
    """Every figure as a dictionary; records stand for objects with their fields:

    version           of this shape
    inputs, system    what was asked; lab3.System
    layers            lab3.ConvLayer, its properties, and ops_a_byte
    ops_while_a_byte_is_sent
    steps             by strategy, for one input: lab3.Step, and duration_s
    results           Result, on either topology
    data_parallel, balanced_pipeline, two_way_ring
                      seconds of one input and of all
    losses            of the pipeline's latency, in seconds
    doubling          SpeedUp
    sram, needs       by scheme sram.SramUse; Need
    plans             plans.Comparison, as plans.py --json gives it
    readings          Answer

    Raises ValueError where the question is wrong, or neither strategy is possible.
    """
    network, system, inputs = question
    lab3.answers(*question)  # raises if neither strategy is possible
    possible, _ = lab3.possible_strategies(network, system)
    counts = sorted({1, inputs})

    def of_counts(latency_s: Callable[[Network, System, int], Fraction]) -> list[Fraction]:
        return [latency_s(network, system, count) for count in counts]

    return {
        "version": VERSION,
        "inputs": inputs,
        "system": system,
        "layers": [
            {
                "layer": number,
                **layer._asdict(),
                **{name: getattr(layer, name) for name in SIZES},
                "ops_a_byte": ops_a_byte(layer),
            }
            for number, layer in enumerate(network, 1)
        ],
        "ops_while_a_byte_is_sent": ops_while_a_byte_is_sent(system),
        "steps": {
            strategy: [
                {**step._asdict(), "duration_s": lab3.duration([step], system)}
                for step in chain(*stages)
            ]
            for strategy, stages in possible.items()
        },
        "results": [*chain(*(results(question.on(topology=it)) for it in (ALL_TO_ALL, RING)))],
        "data_parallel": of_counts(data_parallel_latency),
        "balanced_pipeline": of_counts(balanced_pipeline_latency),
        "two_way_ring": of_counts(two_way_ring_latency) if "tensor" in possible else None,
        "losses": losses(question) if "pipeline" in possible else None,
        "doubling": doubling(question),
        "sram": sram_uses(network, system),
        "needs": needs(network, system),
        "plans": plans.compare(question),
        "readings": [
            answer
            for reading in readings(network, system)
            for count in counts
            for answer in reading.answers(count)
        ],
    }
