"""What both strategies take and why: every number of a question, exact, computed once.

lab3.py's four functions give latency and traffic, the formulas in their docstrings what is behind
them. `explain`, `picture` and the deck print what is here.
"""

from fractions import Fraction
from itertools import combinations, pairwise
from math import ceil
from typing import NamedTuple

from report import sram
from report.model import RING, STRATEGIES, Model, compute_bound, join, list_layers
from report.question import Question, find_impossible, make_models
from report.sram import SramUse
from report.timeline import Step, find_bottleneck, find_change, list_steps

VERSION = 11  # of the JSON's shape
ALL_TO_ALL, ONE_WAY_RING = "all-to-all", "ring"


class Result(NamedTuple):
    """What a strategy takes for some inputs on a topology."""

    topology: str
    inputs: int
    latency_s: Fraction
    traffic_bytes: int
    compute_s: Fraction  # of one input's steps
    communication_s: Fraction
    interval_s: Fraction  # after which one more input is done
    bottleneck: str | None  # the first longest step's place, "node 2" or "link 2 to 3", or "none"
    utilisation: Fraction  # lower bound / latency: the share of time in which nodes compute

    @property
    def fill_s(self) -> Fraction:
        """Compute what is left of the latency if each input takes an interval."""
        return self.latency_s - self.inputs * self.interval_s


class Strategy(NamedTuple):
    """A strategy that is possible. Steps, a bottleneck and the ring are known of lab3.py's formulas
    as they were delivered."""

    change: str  # the first formula that is another, quoted; empty if there is none
    steps: list[Step]  # of one input
    results: list[Result]  # for one input and for all, all-to-all and on a ring


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
    slowest_node_s: Fraction | None  # of the pipeline, if it has steps
    data_parallel_s: Fraction


class Sram(NamedTuple):
    """What nodes hold with a strategy, layer by layer, and the fullest."""

    uses: list[SramUse]
    fullest: SramUse
    total_bytes: int  # of the fullest
    free_bytes: int  # below 0: lacking


class Uncounted(NamedTuple):
    """What the fullest node would hold if more was counted than one input at a time; None if the
    strategy is impossible or has no steps, or if there is no more."""

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
    verdicts: list[Verdict]  # for one input and for all, on both topologies, if both have steps
    bounds: list[Bounds]  # for one input and for all
    losses: Losses | None  # of a pipeline that has steps
    sram: dict[str, Sram]  # of data parallelism, too
    uncounted: Uncounted
    totals: Totals

    def find(self, inputs: int, topology: str = ALL_TO_ALL) -> dict[str, Result]:
        """Find the known results for one input or for all, by the strategies' names."""
        found = ((name, result) for name, it in self.strategies.items() for result in it.results)
        return {name: it for name, it in found if (it.inputs, it.topology) == (inputs, topology)}

    def compare(self, inputs: int, field: str) -> Fraction:
        """Divide the pipeline's number by tensor parallelism's, all-to-all."""
        tensor, pipeline = (getattr(result, field) for result in self.find(inputs).values())
        return Fraction(pipeline, tensor)

    def compare_ring(self, field: str) -> Fraction:
        """Divide tensor parallelism's number for one input on a ring by the one all-to-all."""
        cases = (self.find(1, topology)["tensor"] for topology in (ALL_TO_ALL, ONE_WAY_RING))
        direct, ring = (getattr(result, field) for result in cases)
        return Fraction(ring, direct)

    @property
    def changes(self) -> list[str]:
        """List the formulas that are not as delivered, one of a strategy."""
        return [strategy.change for strategy in self.strategies.values() if strategy.change]


def compute_results(question: Question) -> Results:
    """Compute all results. Raises ValueError if neither strategy is possible, and if lab3.py's code
    and docstrings give different numbers."""
    models = make_models(question)
    strategies = {name: compute_strategy(name, models) for name, amount in models if amount == 1}
    with_steps = [name for name, strategy in strategies.items() if strategy.steps]
    amounts = sorted({1, question.inputs})
    return Results(
        asked=question,
        layers=list_layers(question.network),
        strategies=strategies,
        impossible=find_impossible(question),
        verdicts=list_verdicts(models) if len(with_steps) == len(STRATEGIES) else [],
        bounds=[compute_bounds(question, amount, "pipeline" in with_steps) for amount in amounts],
        losses=compute_losses(models["pipeline", amounts[-1]])
        if "pipeline" in with_steps
        else None,
        sram={name: compute_sram(name, question) for name in [*strategies, "data"]},
        uncounted=compute_uncounted(question, [*strategies], with_steps),
        totals=compute_totals(question),
    )


# ------------------------------------------------ the strategies
def compute_strategy(name: str, models: dict[tuple[str, int], Model]) -> Strategy:
    """Compute a strategy's results; without steps and the ring if lab3.py has another formula."""
    change = find_change(name)
    own = [model for (strategy, _), model in models.items() if strategy == name]
    results = [compute_result(model, ALL_TO_ALL, bool(change)) for model in own]
    if not change:
        edit = RING if name == "tensor" else ""
        results += [compute_result(model.edit(edit), ONE_WAY_RING, False) for model in own]
    return Strategy(change, [] if change else list_steps(own[0]), results)


def compute_result(model: Model, topology: str, is_changed: bool) -> Result:
    """Take a result from a model."""
    bound_s = compute_bound(model.network, model.system, model.inputs)
    return Result(
        topology=topology,
        inputs=model.inputs,
        latency_s=Fraction(model["latency"]),
        traffic_bytes=int(model["traffic"]),
        compute_s=Fraction(sum(join(model["compute"]))),
        communication_s=Fraction(sum(join(model["transfer"]))),
        interval_s=model.interval_s,
        bottleneck=None if is_changed else find_bottleneck(model),
        utilisation=bound_s / model["latency"],
    )


def list_verdicts(models: dict[tuple[str, int], Model]) -> list[Verdict]:
    """List the verdicts for one input and for all, all-to-all and on a ring."""
    topologies = ((ALL_TO_ALL, ""), (ONE_WAY_RING, RING))
    return [
        compute_verdict(models["tensor", amount].edit(edit), models["pipeline", amount], topology)
        for topology, edit in topologies
        for amount in sorted({amount for _, amount in models})
    ]


def compute_verdict(tensor: Model, pipeline: Model, topology: str) -> Verdict:
    """Find the link bandwidths at which both strategies take equally long, and the faster one below
    the first, between, and above the last.

    Latency * R is ops + bytes * R / B. Tensor parallelism's is a line in R / B; the pipeline's is
    the higher of two: one has N times the slowest node, the other N times the busiest link.
    """
    inputs, ops_per_s = tensor.inputs, Fraction(tensor.system.ops_per_s)
    (tensor_ops, tensor_bytes), (node_ops, link_bytes) = (
        ([step.node_ops for step in steps], [step.link_bytes for step in steps])
        for steps in map(list_steps, (tensor, pipeline))
    )
    lines = [
        (inputs * sum(tensor_ops), inputs * sum(tensor_bytes)),
        (sum(node_ops) + (inputs - 1) * max(node_ops), sum(link_bytes)),
        (sum(node_ops), sum(link_bytes) + (inputs - 1) * max(link_bytes)),
    ]

    def find_lead(balance: Fraction) -> Fraction:
        """Find how much longer the pipeline takes at an R / B, in some unit: its sign counts."""
        tensor_time, *pipeline_times = (ops + size * balance for ops, size in lines)
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
    return Verdict(topology, inputs, [ops_per_s / it for it in equal], faster)


def compute_losses(pipeline: Model) -> Losses:
    """Divide a pipeline's latency into where it goes.

    ideal compute    N * sum(C) / (P * R): all nodes compute all the time
    load imbalance   N * max(C / R) less that: layers are unequal, nodes idle
    fill and drain   sum(C / R) - max(C / R)
    communication    sum(A[:-1] / B), and (N - 1) * (interval - max(C / R)) if a link decides
    """
    ideal_s = compute_bound(pipeline.network, pipeline.system, pipeline.inputs)
    slowest_s, later = max(pipeline["compute"]), pipeline.inputs - 1
    waiting_s = later * (pipeline.interval_s - slowest_s)
    return Losses(
        ideal_compute_s=ideal_s,
        load_imbalance_s=pipeline.inputs * slowest_s - ideal_s,
        fill_and_drain_s=sum(pipeline["compute"]) - slowest_s,
        communication_s=Fraction(sum(pipeline["transfer"])) + waiting_s,
    )


def compute_bounds(question: Question, inputs: int, has_pipeline: bool) -> Bounds:
    """Compute the lower bounds, and what data parallelism would take: ceil(N / P) * sum(C) / R,
    because each node computes whole inputs of its own."""
    network, system, _ = question
    alone_s = compute_bound(network, system._replace(nodes=1))
    slowest_s = inputs * max(layer.ops for layer in network) / Fraction(system.ops_per_s)
    return Bounds(
        inputs=inputs,
        lower_bound_s=compute_bound(network, system, inputs),
        slowest_node_s=slowest_s if has_pipeline else None,
        data_parallel_s=ceil(Fraction(inputs, system.nodes)) * alone_s,
    )


# ------------------------------------------------ SRAM
def compute_sram(name: str, question: Question) -> Sram:
    """Find what the nodes hold with a possible strategy, or with data parallelism."""
    network, system, _ = question
    fullest = sram.find_fullest(name, network, system)
    uses, free_bytes = sram.HOLD[name](network, system), system.sram_bytes - fullest.total_bytes
    return Sram(uses, fullest, fullest.total_bytes, free_bytes)


def compute_uncounted(question: Question, possible: list[str], with_steps: list[str]) -> Uncounted:
    """Find what nodes would hold if inputs that are kept, wait or arrive were counted."""
    network, system, inputs = question
    kept = waiting = following = None
    if "tensor" in possible and system.nodes > 1:
        kept = sram.tensor_sram_input_kept(network, system)
    if "tensor" in possible and inputs > 1:
        waiting = sram.tensor_sram_inputs_waiting(network, system, inputs)
    if "pipeline" in with_steps and inputs > 1:
        following = sram.pipeline_sram_overlapping(network, system)
    return Uncounted(kept, waiting, following)


def compute_totals(question: Question) -> Totals:
    """Add up weights, outputs and SRAM."""
    network, system, inputs = question
    weight_bytes = sram.count_weight_bytes(network)
    return Totals(
        weight_bytes=weight_bytes,
        weights_excess_bytes=weight_bytes - system.sram_bytes,
        output_bytes=inputs * network[-1].output_bytes,
        sram_bytes=system.nodes * system.sram_bytes,
    )
