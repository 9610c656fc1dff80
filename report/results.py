"""What both strategies take and why: every number of a question, exact, computed once.

lab3.py's four functions give latency and traffic; report/model.py, which must give the same, what
is behind them. `explain`, `picture` and the deck print what is here.
"""

from fractions import Fraction
from itertools import combinations, pairwise
from math import ceil
from typing import NamedTuple

import lab3
from lab3 import Network, System
from report import sram
from report.model import STRATEGIES, Model, Step, compute_bound, slowest_node_bound
from report.question import Question, find_impossible
from report.sram import SramUse
from report.text import count

VERSION = 10  # of the JSON's shape
TOPOLOGIES = {lab3.ALL_TO_ALL: " with all-to-all links", lab3.RING: " on a ring"}
COMPARED_DIGITS = 25  # tell a float of an edited lab3.py from the exact number


class Result(NamedTuple):
    """What a strategy takes for some inputs on a topology."""

    topology: str
    inputs: int
    latency_s: Fraction
    traffic_bytes: int
    compute_s: Fraction  # of one input's steps
    communication_s: Fraction
    interval_s: Fraction  # after which one more input is done
    bottleneck: str  # the first longest step's place, "node 2" or "link 2 to 3", or "none"
    utilisation: Fraction  # lower bound / latency: the share of time in which nodes compute


class Strategy(NamedTuple):
    """A strategy that is possible."""

    steps: list[Step]  # of one input, on the machine as it is
    results: list[Result]  # for one input and for all, all-to-all and on a ring

    def find(self, inputs: int, topology: str) -> Result:
        """Find the result for one input or for all."""
        return next(it for it in self.results if (it.inputs, it.topology) == (inputs, topology))


class Verdict(NamedTuple):
    """Which strategy is faster, for some inputs on a topology, on slow links and on fast ones."""

    topology: str
    inputs: int
    equal_bytes_per_s: list[Fraction]  # link bandwidths at which both take equally long, ascending
    faster: list[str]  # below the first, between, above the last: "tensor", "pipeline", "neither"


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


class Uncounted(NamedTuple):
    """What the fullest node would hold if more was counted than one input at a time; None if the
    strategy is impossible, or if there is no more."""

    input_kept_bytes: int | None  # tensor: the input, until the output is gathered
    inputs_waiting_bytes: int | None  # tensor: all other inputs
    next_input: SramUse | None  # pipeline's bottleneck: the next input, too; at least


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
    verdicts: list[Verdict]  # for one input and for all, on both topologies, if both are possible
    bounds: list[Bounds]  # for one input and for all
    losses: Losses | None  # of the pipeline
    sram: dict[str, Sram]  # of data parallelism, too
    uncounted: Uncounted
    totals: Totals

    def find(self, inputs: int) -> dict[str, Result]:
        """Find the possible strategies' results for one input or for all, on the machine as it is,
        by their names."""
        topology = self.asked.system.topology
        return {name: it.find(inputs, topology) for name, it in self.strategies.items()}


def compute_results(question: Question) -> Results:
    """Compute all results. Raises ValueError if neither strategy is possible, and if the model does
    not give what lab3.py's functions give."""
    impossible = find_impossible(question)
    network, system, inputs = question
    possible = [strategy for strategy in STRATEGIES if strategy not in impossible]
    models = {
        (strategy, topology): Model(strategy, network, system._replace(topology=topology))
        for strategy in possible
        for topology in TOPOLOGIES
    }
    bounds = [compute_bounds(question, amount, possible) for amount in sorted({1, inputs})]
    results = {  # in the page's order, so that the first difference on the page is told
        (strategy, topology, bound.inputs): compute_result(
            models[strategy, topology], system, bound
        )
        for topology in sorted(TOPOLOGIES, key=lambda topology: topology != system.topology)
        for bound in bounds
        for strategy in possible
    }
    cases = [(topology, it.inputs) for topology in TOPOLOGIES for it in bounds]
    steps = {case: model.steps for case, model in models.items()}
    used = {strategy: steps[strategy, system.topology] for strategy in possible}
    return Results(
        asked=question,
        layers=list_layers(network),
        strategies={
            strategy: Strategy(used[strategy], [results[strategy, it, n] for it, n in cases])
            for strategy in possible
        },
        impossible=impossible,
        verdicts=[
            compute_verdict(steps["tensor", case[0]], steps["pipeline", case[0]], system, *case)
            for case in cases
            if not impossible
        ],
        bounds=bounds,
        losses=compute_losses(question, used["pipeline"]) if "pipeline" in used else None,
        sram={name: compute_sram(name, question) for name in [*possible, "data"]},
        uncounted=compute_uncounted(question, possible),
        totals=compute_totals(question),
    )


SIZES = "out_x", "out_y", "weights", "macs", "ops", "weight_bytes", "input_bytes", "output_bytes"


def list_layers(network: Network) -> list[dict[str, int]]:
    """List each layer's number, fields and sizes, by name."""
    return [
        {"layer": number, **layer._asdict(), **{size: getattr(layer, size) for size in SIZES}}
        for number, layer in enumerate(network, 1)
    ]


# ------------------------------------------------ the strategies


def compute_result(model: Model, system: System, bounds: Bounds) -> Result:
    """Ask lab3.py for latency and traffic, and the model for what is behind them. Raises ValueError
    if the model's are others."""
    inputs, topology = bounds.inputs, model.system.topology
    case = count(inputs, "input") + (TOPOLOGIES[topology] if topology != system.topology else "")
    found = {}
    for kind, value in zip(("latency", "traffic"), model.compute_total(inputs), strict=True):
        name = f"{model.strategy}_parallel_{kind}"
        found[kind] = getattr(lab3, name)(model.network, model.system, inputs)
        if found[kind] != value:
            unit = "s" if kind == "latency" else "bytes"
            given, modelled = (lab3.plain(it, COMPARED_DIGITS) for it in (found[kind], value))
            raise ValueError(
                f"for {case}, lab3.py's {name} gives {given} {unit}, report/model.py gives"
                f" {modelled} {unit}: change both"
            )
    return Result(
        topology=topology,
        inputs=inputs,
        latency_s=Fraction(found["latency"]),
        traffic_bytes=int(found["traffic"]),
        compute_s=Fraction(sum(model.compute_s)),
        communication_s=Fraction(sum(model.send_s)),
        interval_s=Fraction(model.interval_s),
        bottleneck=model.bottleneck,
        utilisation=bounds.lower_bound_s / found["latency"],
    )


def compute_verdict(
    tensor: list[Step], pipeline: list[Step], system: System, topology: str, inputs: int
) -> Verdict:
    """Find the link bandwidths at which both strategies take equally long, and the faster one below
    the first, between, and above the last.

    Latency * R is ops + bytes * R / B. Tensor parallelism's is a line in R / B; the pipeline's is
    the higher of two: one has N times the slowest node, the other N times the busiest link.
    """
    node_ops, link_bytes = [it.node_ops for it in pipeline], [it.link_bytes for it in pipeline]
    lines = [
        (inputs * sum(it.node_ops for it in tensor), inputs * sum(it.link_bytes for it in tensor)),
        (sum(node_ops) + (inputs - 1) * max(node_ops), sum(link_bytes)),
        (sum(node_ops), sum(link_bytes) + (inputs - 1) * max(link_bytes)),
    ]

    def find_lead(balance: Fraction) -> int:
        """Find how much longer the pipeline takes at an R / B, in some unit: its sign counts."""
        n, d = balance.numerator, balance.denominator
        tensor_time, *pipeline_times = (ops * d + size * n for ops, size in lines)
        return max(pipeline_times) - tensor_time

    crossings = {
        Fraction(ops - other_ops, other_size - size)
        for (ops, size), (other_ops, other_size) in combinations(lines, 2)
        if size != other_size
    }
    equal = sorted((it for it in crossings if it > 0 and not find_lead(it)), reverse=True)
    edges = [2 * max(equal, default=Fraction(1)), *equal, Fraction(0)]  # slow links first
    leads = [find_lead((above + below) / 2) for above, below in pairwise(edges)]
    faster = ["tensor" if it > 0 else "pipeline" if it < 0 else "neither" for it in leads]
    return Verdict(topology, inputs, [system.ops_per_s / it for it in equal], faster)


def compute_losses(question: Question, steps: list[Step]) -> Losses:
    """Divide the pipeline's latency into where it goes.

    ideal compute    N * sum(C) / (P * R): all nodes compute all the time
    load imbalance   N * (max(C / R) - sum(C) / (P * R)): layers are unequal, nodes idle
    fill and drain   sum(C / R) of one input without the bottleneck
    communication    sum(A / B) of one input without the bottleneck, and
                     N * (interval - max(C / R)) if a link is the bottleneck
    """
    network, system, inputs = question
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


def compute_bounds(question: Question, inputs: int, possible: list[str]) -> Bounds:
    """Compute the lower bounds, and what data parallelism would take: ceil(N / P) * sum(C) / R,
    because each node computes whole inputs of its own."""
    network, system, _ = question
    alone_s = compute_bound(network, system._replace(nodes=1))
    slowest_s = slowest_node_bound(network, system, inputs) if "pipeline" in possible else None
    return Bounds(
        inputs=inputs,
        lower_bound_s=compute_bound(network, system, inputs),
        slowest_node_s=slowest_s,
        data_parallel_s=ceil(Fraction(inputs, system.nodes)) * alone_s,
    )


# ------------------------------------------------ SRAM


def compute_sram(name: str, question: Question) -> Sram:
    """Find what the nodes hold with a possible strategy, or with data parallelism."""
    network, system, _ = question
    fullest = sram.find_fullest(name, network, system)
    uses, free_bytes = sram.HOLD[name](network, system), system.sram_bytes - fullest.total_bytes
    return Sram(uses, fullest, fullest.total_bytes, free_bytes)


def compute_uncounted(question: Question, possible: list[str]) -> Uncounted:
    """Find what nodes would hold if inputs that are kept, wait or arrive were counted."""
    network, system, inputs = question
    kept = waiting = following = None
    if "tensor" in possible and system.nodes > 1:
        kept = sram.tensor_sram_input_kept(network, system)
    if "tensor" in possible and inputs > 1:
        waiting = sram.tensor_sram_inputs_waiting(network, system, inputs)
    if "pipeline" in possible and inputs > 1:
        following = sram.pipeline_sram_overlapping(network, system)
    return Uncounted(kept, waiting, following)


def compute_totals(question: Question) -> Totals:
    """Add up weights, outputs and SRAM."""
    network, system, inputs = question
    weight_bytes = sum(layer.weight_bytes for layer in network)
    return Totals(
        weight_bytes=weight_bytes,
        weights_excess_bytes=weight_bytes - system.sram_bytes,
        output_bytes=inputs * network[-1].output_bytes,
        sram_bytes=system.nodes * system.sram_bytes,
    )
