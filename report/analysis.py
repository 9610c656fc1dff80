"""Every number about a question, exact, and computed once: what explain tells, pictures draw and
the deck says.

analysis.as_dict(question) puts all of them into one dictionary, which explain prints as JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from lab3 import ALL_TO_ALL, RING, Network, System
from report import sram, streaming
from report.plans import STRATEGIES
from report.question import (
    Impossible,
    Question,
    check_possible,
    found_or_reason,
    possible,
    possible_strategies,
)
from report.steps import Stages, duration, latency, plan_stages, traffic
from report.terminal import plain_data

if TYPE_CHECKING:  # imported only when they are needed, because the answers do not need them
    from report.check import readings

VERSION = 7  # of the dictionary's shape


# ------------------------------------------------ the strategies


class StepTime(NamedTuple):
    """A Step of one input, and the time that it takes."""

    layer: int
    work: str
    node_ops: int
    link_bytes: int
    traffic_bytes: int
    time_s: Fraction


class Result(NamedTuple):
    """Everything about a strategy for some inputs on a topology."""

    topology: str
    inputs: int
    latency_s: Fraction  # whole-tensor transfers
    traffic_bytes: int
    compute_s: Fraction  # of one input's steps
    communication_s: Fraction
    interval_s: Fraction  # after which one more input is done
    bottleneck: str  # the first longest stage: "all steps", "node 2" or "link 2 to 3"
    idle_nodes: int  # that have no layer
    speed_up: Fraction  # over one node: N * sum(C) / R / latency
    utilisation: Fraction  # speed-up / P


class SpeedUp(NamedTuple):
    """What twice as much of something buys for some inputs."""

    twice: str
    inputs: int
    latency_s: Fraction  # with twice as much
    speed_up: Fraction


class Strategy(NamedTuple):
    """What there is to say of a strategy that is possible."""

    steps: list[StepTime]
    results: list[Result]  # for one input and for all, all-to-all and on the ring
    doubling: list[SpeedUp]  # of what is possible


class Losses(NamedTuple):
    """Where the pipeline's latency goes: parts that add up to it."""

    ideal_compute_s: Fraction
    idle_nodes_s: Fraction
    load_imbalance_s: Fraction
    waiting_for_a_link_s: Fraction
    fill_and_drain_s: Fraction
    sending_s: Fraction


class Totals(NamedTuple):
    """Sums over all layers, inputs or nodes."""

    weight_bytes: int  # of all layers, held once
    excess_bytes: int  # of the weights over a node's SRAM, below 0 if they fit
    output_bytes: int  # of all inputs
    sram_bytes: int  # of all nodes


class Latency(NamedTuple):
    """How long some inputs take."""

    inputs: int
    latency_s: Fraction


def strategy_stages(strategy: str, network: Network, system: System) -> Stages:
    """The stages of a strategy's plan. Raises ValueError if it is not possible."""
    return plan_stages(network, system, STRATEGIES[strategy](network, system))


def one_node_latency(network: Network, system: System, inputs: int = 1) -> Fraction:
    """one node = N * sum(C) / R seconds, because a single node sends nothing."""
    return streaming.compute_bound(network, system._replace(nodes=1), inputs)


def data_parallel_latency(network: Network, system: System, inputs: int = 1) -> Fraction:
    """data parallelism = ceil(N / P) * sum(C) / R seconds: each node computes whole inputs of
    its own, and sends nothing."""
    return one_node_latency(network, system, ceil(Fraction(inputs, system.nodes)))


def slowest_node_latency(network: Network, system: System, inputs: int = 1) -> Fraction:
    """slowest node = N * max(C / R) seconds: what the pipeline takes at least. Raises ValueError if
    it is not possible."""
    steps = chain(*strategy_stages("pipeline", network, system))
    return inputs * max(step.node_ops for step in steps) / Fraction(system.ops_per_s)


def balanced_pipeline_latency(network: Network, system: System, inputs: int = 1) -> Fraction:
    """balanced pipeline = (P + N - 1) * sum(C) / (P * R) seconds: P equal stages, free
    communication."""
    return streaming.compute_bound(network, system, system.nodes + inputs - 1)


# ------------------------------------------------ SRAM


def _strategy_sram(strategy: str, network: Network, system: System) -> list[sram.SramUse]:
    return [*chain(*sram.plan_sram(network, system, STRATEGIES[strategy](network, system)))]


SRAM: dict[str, Callable[[Network, System], list[sram.SramUse]]] = {
    **{strategy: partial(_strategy_sram, strategy) for strategy in STRATEGIES},
    "pipeline, streamed": sram.pipeline_streamed_sram,
    "data": sram.data_parallel_sram,
}


class Need(NamedTuple):
    """What the fullest node holds, one input at a time."""

    where: str  # "every node", "gathering node" or "node 2"
    layer: int
    weight_bytes: int
    input_bytes: int
    output_bytes: int
    total_bytes: int
    fits: bool
    free_bytes: int  # below 0: lacking


class SramResult(NamedTuple):
    """What nodes hold, layer by layer, and the fullest."""

    uses: list[sram.SramUse]
    fullest: Need


def sram_result(strategy: str, network: Network, system: System) -> SramResult | Impossible:
    """What nodes hold with a strategy of SRAM, or why that is not possible."""
    uses = found_or_reason(SRAM[strategy], network, system)
    if isinstance(uses, Impossible):
        return uses
    use = max(uses, key=lambda use: use.total_bytes)
    free = system.sram_bytes - use.total_bytes
    parts = use.weight_bytes, use.input_bytes, use.output_bytes, use.total_bytes
    need = Need(use.where, use.layer, *parts, fits=free >= 0, free_bytes=free)
    return SramResult(uses, need)


# ------------------------------------------------ all of it

# Of a layer, beside its own fields:
SIZES = "out_x", "out_y", "weights", "macs", "ops", "weight_bytes", "input_bytes", "output_bytes"
TWICE = {
    "ops/s": "ops_per_s",
    "link bandwidth": "link_bytes_per_s",
    "nodes (and their links)": "nodes",
}


class Analysis:
    """The numbers of a question, each computed when it is first asked for."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.network, self.system, self.inputs = question
        self.counts = sorted({1, self.inputs})
        self.possible, self.impossible = possible_strategies(self.network, self.system)
        self._results: dict[tuple[str, int, str], Result] = {}

    @property
    def layers(self) -> list[dict[str, int]]:
        """Each layer's number and sizes, by name."""
        return [
            {"layer": number, **layer._asdict(), **{size: getattr(layer, size) for size in SIZES}}
            for number, layer in enumerate(self.network, 1)
        ]

    @cached_property
    def strategies(self) -> dict[str, Strategy | Impossible]:
        """What there is to say of each strategy, or why it is not possible, by its name."""
        return {
            strategy: self.impossible.get(strategy) or self._strategy(strategy)
            for strategy in STRATEGIES
        }

    def result(self, strategy: str, inputs: int, topology: str = "") -> Result | Impossible:
        """A strategy's result, by default on the machine's own topology."""
        if strategy in self.impossible:
            return self.impossible[strategy]
        case = strategy, inputs, topology or self.system.topology
        if case not in self._results:
            asked = self.question.on(topology=case[2])._replace(inputs=inputs)
            self._results[case] = _result(strategy, asked)
        return self._results[case]

    def _strategy(self, strategy: str) -> Strategy:
        steps = [
            StepTime(*step, time_s=duration([step], self.system))
            for step in chain(*strategy_stages(strategy, self.network, self.system))
        ]
        results = [
            possible(self.result(strategy, inputs, topology))
            for topology in (ALL_TO_ALL, RING)
            for inputs in self.counts
        ]
        return Strategy(steps, results, self._doubling(strategy))

    def _doubling(self, strategy: str) -> list[SpeedUp]:
        found = []
        for twice, field in TWICE.items():
            better = self.system._replace(**{field: 2 * getattr(self.system, field)})
            with suppress(ValueError):  # if twice as many nodes do not divide the filters
                stages = strategy_stages(strategy, self.network, better)
                for inputs in self.counts:
                    before_s = possible(self.result(strategy, inputs)).latency_s
                    after_s = latency(stages, better, inputs)
                    found.append(SpeedUp(twice, inputs, after_s, before_s / after_s))
        return found

    def latencies(
        self, of: Callable[[Network, System, int], Fraction]
    ) -> list[Latency] | Impossible:
        """What a function gives for one input and for all, or why it cannot."""
        counts, machine = self.counts, (self.network, self.system)
        return found_or_reason(lambda: [Latency(each, of(*machine, each)) for each in counts])

    @cached_property
    def lower_bound_s(self) -> Fraction:
        """The lower bound for all inputs."""
        return streaming.compute_bound(*self.question)

    @cached_property
    def totals(self) -> Totals:
        """All weights, inputs and outputs, and the SRAM of all nodes."""
        weights = sum(layer.weight_bytes for layer in self.network)
        return Totals(
            weight_bytes=weights,
            excess_bytes=weights - self.system.sram_bytes,
            output_bytes=self.inputs * self.network[-1].output_bytes,
            sram_bytes=self.system.nodes * self.system.sram_bytes,
        )

    @cached_property
    def losses(self) -> Losses | Impossible:
        """Where the pipeline's latency goes."""
        return self.impossible.get("pipeline") or losses(self.question)

    @cached_property
    def streamed_pipeline(self) -> list[Latency] | Impossible:
        """Latencies of the pipeline with row streaming."""
        return self.latencies(streaming.streamed_pipeline_latency)

    @cached_property
    def sram(self) -> dict[str, SramResult | Impossible]:
        """What nodes hold, by the names of SRAM."""
        return {strategy: sram_result(strategy, self.network, self.system) for strategy in SRAM}

    @cached_property
    def readings(self) -> list[readings.Answer]:
        """What other readings of the handout give."""
        from report.check import readings

        return readings.answers(self.question)


def _result(strategy: str, question: Question) -> Result:
    network, system, inputs = question
    stages = strategy_stages(strategy, network, system)
    steps = [*chain(*stages)]
    longest = max(stages, key=lambda stage: duration(stage, system))
    latency_s = latency(stages, system, inputs)
    compute_s = Fraction(sum(step.node_ops for step in steps)) / system.ops_per_s
    speed_up = one_node_latency(*question) / latency_s
    bottleneck = "all steps"
    if strategy == "pipeline":
        node = longest[0].layer
        bottleneck = (
            f"node {node}" if longest[0].work == "compute" else f"link {node} to {node + 1}"
        )
    return Result(
        topology=system.topology,
        inputs=inputs,
        latency_s=latency_s,
        traffic_bytes=traffic(stages, inputs),
        compute_s=compute_s,
        communication_s=duration(steps, system) - compute_s,
        interval_s=duration(longest, system),
        bottleneck=bottleneck,
        idle_nodes=system.nodes - len(network) if strategy == "pipeline" else 0,
        speed_up=speed_up,
        utilisation=speed_up / system.nodes,
    )


def losses(question: Question) -> Losses:
    """Where the pipeline's latency goes. Raises ValueError if it is not possible."""
    network, system, inputs = question
    stages = strategy_stages("pipeline", network, system)
    bottleneck = max(stages, key=lambda stage: duration(stage, system))
    others = [step for stage in stages if stage is not bottleneck for step in stage]
    all_nodes_s = streaming.compute_bound(network, system)
    layers_nodes_s = streaming.compute_bound(network, system._replace(nodes=len(network)))
    longest_s = Fraction(max(layer.ops for layer in network)) / system.ops_per_s
    return Losses(
        ideal_compute_s=inputs * all_nodes_s,
        idle_nodes_s=inputs * (layers_nodes_s - all_nodes_s),
        load_imbalance_s=inputs * (longest_s - layers_nodes_s),
        waiting_for_a_link_s=inputs * (duration(bottleneck, system) - longest_s),
        fill_and_drain_s=Fraction(sum(step.node_ops for step in others)) / system.ops_per_s,
        sending_s=Fraction(sum(step.link_bytes for step in others)) / system.link_bytes_per_s,
    )


def as_dict(question: Question) -> dict[str, Any]:
    """Every number by name: what explain --json prints, but with exact Fractions.

    What is not possible is {"reason": ...}. Seconds end in _s, bytes in _bytes.

    Raises ValueError if neither strategy is possible.
    """
    analysis = Analysis(question)
    check_possible(analysis.network, analysis.system)
    found = {
        **head(question),
        "layers": analysis.layers,
        "strategies": analysis.strategies,
        "lower_bound": analysis.latencies(streaming.compute_bound),
        "streamed_pipeline": analysis.streamed_pipeline,
        "losses": analysis.losses,
        "one_node": analysis.latencies(one_node_latency),
        "data_parallel": analysis.latencies(data_parallel_latency),
        "balanced_pipeline": analysis.latencies(balanced_pipeline_latency),
        "totals": analysis.totals,
        "sram": analysis.sram,
        "readings": analysis.readings,
    }
    return dict(plain_data(found))


def head(question: Question) -> dict[str, Any]:
    """What every JSON of this project begins with."""
    return {"version": VERSION, "asked": question}
