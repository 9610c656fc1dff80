"""What both strategies take and why: every number of a question, exact, computed once.

`explain` tells them, as text and as JSON; the deck prints them.
"""

from fractions import Fraction
from math import ceil
from typing import NamedTuple

import lab3
from lab3 import Network, System
from report import sram
from report.question import Question, check_possible, find_impossible
from report.sram import SramUse
from report.steps import (
    STRATEGIES,
    Step,
    compute_bound,
    interval,
    name_place,
    slowest_node_bound,
)

VERSION = 8  # of the JSON's shape


class Result(NamedTuple):
    """What a strategy takes for some inputs on a topology."""

    topology: str
    inputs: int
    latency_s: Fraction
    traffic_bytes: int
    compute_s: Fraction  # of one input's steps
    communication_s: Fraction
    interval_s: Fraction  # after which one more input is done
    bottleneck: str  # "all steps", or the first longest step: "node 2" or "link 2 to 3"
    utilisation: Fraction  # lower bound / latency: the share of time in which nodes compute


class Strategy(NamedTuple):
    """A strategy that is possible."""

    steps: list[Step]  # of one input, on the machine as it is
    results: list[Result]  # for one input and for all, all-to-all and on a ring

    def find(self, inputs: int, topology: str) -> Result:
        """The result for one input or for all."""
        return next(it for it in self.results if (it.inputs, it.topology) == (inputs, topology))


class Losses(NamedTuple):
    """Where the pipeline's latency goes: parts that add up to it."""

    ideal_compute_s: Fraction
    load_imbalance_s: Fraction  # with idle nodes
    fill_and_drain_s: Fraction
    communication_s: Fraction  # with waiting for a link


class Bounds(NamedTuple):
    """What some inputs take at least, and what data parallelism would take."""

    inputs: int
    lower_bound_s: Fraction
    slowest_node_s: Fraction | None  # of the pipeline, if it is possible
    data_parallel_s: Fraction


class Sram(NamedTuple):
    """What nodes hold with a strategy, layer by layer, and the fullest."""

    uses: list[SramUse]
    fullest: SramUse
    total_bytes: int  # of the fullest
    free_bytes: int  # below 0: lacking


class Totals(NamedTuple):
    """Sums over all layers, inputs or nodes."""

    weight_bytes: int
    weights_excess_bytes: int  # over a node's SRAM; below 0 if they fit
    output_bytes: int  # of all inputs
    sram_bytes: int  # of all nodes


class Results(NamedTuple):
    """Everything about a question; strategies by name."""

    asked: Question
    layers: list[dict[str, int]]
    strategies: dict[str, Strategy]  # that are possible
    impossible: dict[str, str]  # why the others are not
    bounds: list[Bounds]  # for one input and for all
    losses: Losses | None  # of the pipeline
    sram: dict[str, Sram]  # of data parallelism, too
    totals: Totals

    def find(self, inputs: int) -> dict[str, Result]:
        """The possible strategies' results for one input or for all, on the machine as it is."""
        topology = self.asked.system.topology
        return {name: it.find(inputs, topology) for name, it in self.strategies.items()}


def compute_results(question: Question) -> Results:
    """All of them. Raises ValueError if neither strategy is possible."""
    check_possible(question)
    impossible = find_impossible(question)
    possible = [strategy for strategy in STRATEGIES if strategy not in impossible]
    has_pipeline = "pipeline" in possible
    return Results(
        asked=question,
        layers=list_layers(question.network),
        strategies={strategy: compute_strategy(strategy, question) for strategy in possible},
        impossible=impossible,
        bounds=[compute_bounds(question, inputs) for inputs in sorted({1, question.inputs})],
        losses=compute_losses(question) if has_pipeline else None,
        sram={name: compute_sram(name, question) for name in [*possible, "data"]},
        totals=compute_totals(question),
    )


SIZES = "out_x", "out_y", "weights", "macs", "ops", "weight_bytes", "input_bytes", "output_bytes"


def list_layers(network: Network) -> list[dict[str, int]]:
    """Each layer's number, fields and sizes, by name."""
    return [
        {"layer": number, **layer._asdict(), **{size: getattr(layer, size) for size in SIZES}}
        for number, layer in enumerate(network, 1)
    ]


# ------------------------------------------------ the strategies


def compute_strategy(strategy: str, question: Question) -> Strategy:
    """Its steps and results. Raises ValueError if it is not possible."""
    network, system, inputs = question
    results = [
        compute_result(strategy, network, system._replace(topology=topology), many)
        for topology in (lab3.ALL_TO_ALL, lab3.RING)
        for many in sorted({1, inputs})
    ]
    return Strategy(STRATEGIES[strategy](network, system), results)


def compute_result(strategy: str, network: Network, system: System, inputs: int) -> Result:
    """latency = sum(steps) + (N - 1) * interval, traffic = N * sum(traffic of the steps)"""
    steps = STRATEGIES[strategy](network, system)
    interval_s = interval(strategy, steps)
    latency_s = sum(step.time_s for step in steps) + (inputs - 1) * interval_s
    return Result(
        topology=system.topology,
        inputs=inputs,
        latency_s=latency_s,
        traffic_bytes=inputs * sum(step.traffic_bytes for step in steps),
        compute_s=Fraction(sum(step.time_s for step in steps if step.work == "compute")),
        communication_s=Fraction(sum(step.time_s for step in steps if step.work != "compute")),
        interval_s=interval_s,
        bottleneck=name_bottleneck(strategy, steps),
        utilisation=compute_bound(network, system, inputs) / latency_s,
    )


def name_bottleneck(strategy: str, steps: list[Step]) -> str:
    """What decides the interval."""
    if strategy == "tensor":
        return "all steps"
    return name_place(strategy, max(steps, key=lambda step: step.time_s))


def compute_losses(question: Question) -> Losses:
    """Where the pipeline's latency goes. Raises ValueError if it is not possible.

    ideal compute    N * sum(C) / (P * R): all nodes compute all the time
    load imbalance   N * (max(C / R) - sum(C) / (P * R)): layers are unequal, nodes idle
    fill and drain   sum(C / R) of one input without the bottleneck
    communication    sum(A / B) of one input without the bottleneck, and
                     N * (interval - max(C / R)) if a link is the bottleneck
    """
    network, system, inputs = question
    steps = STRATEGIES["pipeline"](network, system)
    bottleneck = max(steps, key=lambda step: step.time_s)
    others = [step for step in steps if step is not bottleneck]
    ideal_s = compute_bound(network, system, inputs)
    slowest_s = slowest_node_bound(network, system, inputs)
    sends_s = sum(step.time_s for step in others if step.work == "send")
    return Losses(
        ideal_compute_s=ideal_s,
        load_imbalance_s=slowest_s - ideal_s,
        fill_and_drain_s=Fraction(sum(step.time_s for step in others if step.work == "compute")),
        communication_s=sends_s + inputs * bottleneck.time_s - slowest_s,
    )


def compute_bounds(question: Question, inputs: int) -> Bounds:
    """data parallelism = ceil(N / P) * sum(C) / R: each node computes whole inputs of its own"""
    network, system, _ = question
    alone_s = compute_bound(network, system._replace(nodes=1))
    has_pipeline = "pipeline" not in find_impossible(question)
    return Bounds(
        inputs=inputs,
        lower_bound_s=compute_bound(network, system, inputs),
        slowest_node_s=slowest_node_bound(network, system, inputs) if has_pipeline else None,
        data_parallel_s=ceil(Fraction(inputs, system.nodes)) * alone_s,
    )


# ------------------------------------------------ SRAM


def compute_sram(name: str, question: Question) -> Sram:
    """Of a strategy that is possible, or of data parallelism."""
    network, system, _ = question
    hold = {"tensor": sram.tensor_sram, "pipeline": sram.pipeline_sram, "data": sram.data_sram}
    uses = hold[name](network, system)
    fullest = max(uses, key=lambda use: use.total_bytes)
    free_bytes = system.sram_bytes - fullest.total_bytes
    return Sram(uses, fullest, fullest.total_bytes, free_bytes)


def compute_totals(question: Question) -> Totals:
    """Of weights, outputs and SRAM."""
    network, system, inputs = question
    weight_bytes = sum(layer.weight_bytes for layer in network)
    return Totals(
        weight_bytes=weight_bytes,
        weights_excess_bytes=weight_bytes - system.sram_bytes,
        output_bytes=inputs * network[-1].output_bytes,
        sram_bytes=system.nodes * system.sram_bytes,
    )
