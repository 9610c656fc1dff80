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
    possible_strategies,
)
from report.steps import Stages, duration, gather, latency, plan_stages, shards_in_turn, traffic
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
    """What a strategy takes for some inputs on a topology."""

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
    """What some inputs take."""

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


def balanced_pipeline_latency(network: Network, system: System, inputs: int = 1) -> Fraction:
    """balanced pipeline = (P + N - 1) * sum(C) / (P * R) seconds: P equal stages, free
    communication."""
    return streaming.compute_bound(network, system, system.nodes + inputs - 1)


# ------------------------------------------------ SRAM


def _strategy_sram(strategy: str, network: Network, system: System) -> list[sram.SramUse]:
    return [*chain(*sram.plan_sram(network, system, STRATEGIES[strategy](network, system)))]


SRAM: dict[str, Callable[[Network, System], list[sram.SramUse]]] = {
    "tensor": partial(_strategy_sram, "tensor"),
    "pipeline": partial(_strategy_sram, "pipeline"),
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
    """What nodes hold with one of SRAM, or why that is not possible."""
    uses = found_or_reason(SRAM[strategy], network, system)
    if isinstance(uses, Impossible):
        return uses
    use = max(uses, key=lambda use: use.total_bytes)
    free = system.sram_bytes - use.total_bytes
    parts = use.weight_bytes, use.input_bytes, use.output_bytes, use.total_bytes
    need = Need(use.where, use.layer, *parts, fits=free >= 0, free_bytes=free)
    return SramResult(uses, need)


# ------------------------------------------------ all of it

SIZES = (  # of a layer, beside its own fields
    *("out_x", "out_y", "weights", "macs", "ops"),
    *("weight_bytes", "input_bytes", "output_bytes"),
)
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
            {
                "layer": number,
                **layer._asdict(),
                **{name: getattr(layer, name) for name in SIZES},
            }
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
        """Of a strategy, by default on the machine's own topology."""
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
            found
            for topology in (ALL_TO_ALL, RING)
            for inputs in self.counts
            if isinstance(found := self.result(strategy, inputs, topology), Result)
        ]
        return Strategy(steps, results, self._doubling(strategy))

    def _doubling(self, strategy: str) -> list[SpeedUp]:
        found = []
        for twice, field in TWICE.items():
            better = self.system._replace(**{field: 2 * getattr(self.system, field)})
            with suppress(ValueError):  # if twice as many nodes do not divide the filters
                stages = strategy_stages(strategy, self.network, better)
                for inputs in self.counts:
                    before, after_s = self.result(strategy, inputs), latency(stages, better, inputs)
                    assert isinstance(before, Result)
                    found.append(SpeedUp(twice, inputs, after_s, before.latency_s / after_s))
        return found

    def latencies(self, of: Callable[[Network, System, int], Fraction]) -> list[Latency]:
        """What a function gives for one input and for all."""
        return [Latency(inputs, of(self.network, self.system, inputs)) for inputs in self.counts]

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
        return found_or_reason(self.latencies, streaming.streamed_pipeline_latency)

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


# ------------------------------------------------ what explain names

LEAST_TIMES = Fraction("1.005")  # told as "1.01 times as fast"; below it nothing is told
LOSSES = {
    "ideal_compute_s": ("ideal compute", "N * sum(C) / (P * R): all nodes compute all the time"),
    "idle_nodes_s": (
        "idle nodes",
        "N * (sum(C) / (L * R) - sum(C) / (P * R)): only L of P nodes have a layer",
    ),
    "load_imbalance_s": (
        "load imbalance",
        "N * (max(C / R) - sum(C) / (L * R)): the L layers are unequal",
    ),
    "waiting_for_a_link_s": (
        "waiting for a link",
        "N * (interval - max(C / R)): a transfer takes longest",
    ),
    "fill_and_drain_s": ("fill and drain", "sum(C / R) of 1 input without the longest step"),
    "sending_s": ("communication", "sum(A / B) of 1 input without the longest step"),
}
Record = dict[str, Any]  # a row of a table


def named(analysis: Analysis) -> dict[str, Any]:
    """The values that explain's texts name. One that this question does not have, or of which there
    is nothing to say, is None; a function returns one that takes long."""
    network, system, inputs = analysis.question
    return {
        "inputs": inputs,
        "network": network,
        "system": system,
        "layers": analysis.layers,
        "totals": analysis.totals,
        "lower_bound_s": analysis.lower_bound_s,
        "many": inputs if inputs > 1 else None,
        "later": inputs - 1 or None,
        "other_nodes": system.nodes - 1 or None,
        **{f"{name}_reason": _reason(analysis.impossible.get(name)) for name in STRATEGIES},
        **{f"{name}_unfit": _unfit(analysis.sram[name]) for name in STRATEGIES},
        "tensor": _told(analysis, "tensor", "pipeline"),
        "pipeline": _told(analysis, "pipeline", "tensor"),
        "cases_of_one": [_case(analysis, name, 1) for name in analysis.possible],
        "cases_of_all": [_case(analysis, name, inputs) for name in analysis.possible],
        "bytes_times": _bytes_times(analysis),
        "rounds": shards_in_turn(system),
        "gather_hops": gather(1, 1, system).traffic_bytes,
        **_named_of_sram(analysis),
        **_named_of_a_ring(analysis),
        **_named_of_rows(analysis),
        "loss_parts": _loss_parts(analysis),
        "speed_up_cases": [
            _case(analysis, name, each)
            for each in analysis.counts
            for name in analysis.possible
            if each == 1 or name == "pipeline"
        ],
        "doubled": [
            {"strategy": name, **speed_up._asdict()}
            for name, strategy in analysis.strategies.items()
            if isinstance(strategy, Strategy)
            for speed_up in strategy.doubling
            if speed_up.inputs == 1 or name == "pipeline"
        ],
        "tensor_readings": lambda: _read(analysis, "tensor"),
        "pipeline_readings": lambda: _read(analysis, "pipeline"),
    }


def _reason(found: Impossible | None) -> str | None:
    return found.reason if found else None


def _unfit(found: SramResult | Impossible) -> bool | None:
    return True if isinstance(found, SramResult) and not found.fullest.fits else None


def _told(analysis: Analysis, strategy: str, other: str) -> Record | None:
    """Results of one input and of all, and how many times as fast as the other strategy it is, if
    it is faster."""
    found = analysis.strategies[strategy]
    if isinstance(found, Impossible):
        return None
    told: Record = {
        "name": f"{strategy.capitalize()} parallelism",
        "steps": found.steps,
    }
    for name, inputs in (("one", 1), ("all", analysis.inputs)):
        this, that = analysis.result(strategy, inputs), analysis.result(other, inputs)
        times = None
        if isinstance(this, Result) and isinstance(that, Result):
            times = that.latency_s / this.latency_s
        told[name] = this
        told[f"{name}_times"] = times if times and times >= LEAST_TIMES else None
    return told


def _bytes_times(analysis: Analysis) -> Fraction | None:
    """How many times the pipeline's bytes tensor parallelism sends."""
    tensor, pipeline = analysis.result("tensor", 1), analysis.result("pipeline", 1)
    if isinstance(tensor, Impossible) or isinstance(pipeline, Impossible):
        return None
    few_bytes = pipeline.traffic_bytes
    return Fraction(tensor.traffic_bytes, few_bytes) if few_bytes else None


def _case(
    analysis: Analysis, strategy: str, inputs: int, topology: str = "", links: str = ""
) -> Record:
    """What a strategy that is possible takes, and what its fullest node holds."""
    result, held = analysis.result(strategy, inputs, topology), analysis.sram[strategy]
    assert isinstance(result, Result) and isinstance(held, SramResult)
    names = {"strategy": strategy, "links": links or result.topology}
    return {**names, **result._asdict(), **held.fullest._asdict()}


def _named_of_sram(analysis: Analysis) -> dict[str, Any]:
    """Whether one node has room for all weights, and for a layer's input and output beside them."""
    applies = {"pipeline, streamed": len(analysis.network) > 1, "data": analysis.system.nodes > 1}
    held = analysis.sram["data"]
    assert isinstance(held, SramResult)
    alone, weights_excess = held.fullest, analysis.totals.excess_bytes
    lacking = -alone.free_bytes if weights_excess <= 0 and not alone.fits else None
    several = alone.fits and analysis.system.nodes > 1
    return {
        "holdings": [
            {"strategy": name.replace(", streamed", " by rows"), **found.fullest._asdict()}
            for name, found in analysis.sram.items()
            if isinstance(found, SramResult) and applies.get(name, True)
        ],
        "weights_excess_bytes": weights_excess if weights_excess > 0 else None,
        "tensors_excess_bytes": lacking,
        "alone_s": one_node_latency(*analysis.question) if alone.fits else None,
        "data_fits_s": data_parallel_latency(*analysis.question) if several else None,
    }


def _named_of_a_ring(analysis: Analysis) -> dict[str, Any]:
    """Both topologies; what is equal on both once."""
    nodes = analysis.system.nodes
    differs = nodes > 2 and "tensor" in analysis.possible
    cases = []
    for inputs in analysis.counts:
        for name in analysis.possible:
            if name == "tensor" and differs:
                cases += [_case(analysis, name, inputs, links) for links in (ALL_TO_ALL, RING)]
            else:
                cases.append(_case(analysis, name, inputs, ALL_TO_ALL, "both"))
    direct, around = cases[:2] if differs else (None, None)
    return {
        "ring_cases": cases,
        "ring_cases_of_one": [case for case in cases if case["inputs"] == 1],
        "few_nodes": nodes if nodes < 3 else None,
        "ring_shards": nodes - 1 if differs else None,
        "direct": direct,
        "around": around,
        "ring_longer_percent": direct
        and around
        and 100 * (around["latency_s"] / direct["latency_s"] - 1),
    }


def _named_of_rows(analysis: Analysis) -> dict[str, Any]:
    """The pipeline by rows, if it sends any; the latencies of all with what bounds them."""
    network, system, inputs = analysis.question
    rows, longest_s = analysis.streamed_pipeline, Fraction(max(layer.ops for layer in network))
    longest_s /= system.ops_per_s

    def row(what: str, formula: str, one_s: Fraction, all_s: Fraction) -> Record:
        return {"what": what, "formula": formula, "one_s": one_s, "all_s": all_s}

    def of(what: str, formula: str, latency_s: Callable[..., Fraction]) -> Record:
        return row(what, formula, latency_s(network, system), latency_s(*analysis.question))

    def of_strategy(name: str, formula: str) -> Record:
        one, *_, every = (analysis.result(name, each) for each in (1, *analysis.counts))
        assert isinstance(one, Result) and isinstance(every, Result)
        return row(name, formula, one.latency_s, every.latency_s)

    later = "1 input + (N - 1) * interval"
    by_rows, reason = None, None
    if "pipeline" in analysis.possible:
        if isinstance(rows, Impossible):
            reason = rows.reason
        elif len(network) > 1:
            by_rows = row("pipeline by rows", later, rows[0].latency_s, rows[-1].latency_s)
    bounds = [of("lower bound", "N * sum(C) / (P * R)", streaming.compute_bound)]
    if "tensor" in analysis.possible:
        bounds.append(of_strategy("tensor", "lower bound + N * communication"))
    if "pipeline" in analysis.possible:
        slowest = row("slowest node", "N * max(C / R)", longest_s, inputs * longest_s)
        bounds += filter(None, [slowest, by_rows, of_strategy("pipeline", later)])
    others = [of("one node", "N * sum(C) / R", one_node_latency)]
    if system.nodes > 1:
        data = of("data parallelism", "ceil(N / P) * sum(C) / R", data_parallel_latency)
        equal = "(P + N - 1) * sum(C) / (P * R)"
        others += [data, of("P equal stages", equal, balanced_pipeline_latency)]
    return {
        "by_rows": by_rows,
        "by_rows_reason": reason,
        "runs": lambda: streaming.critical_runs(network, system) if by_rows else None,
        "bounds": bounds,
        "others": others,
    }


def _loss_parts(analysis: Analysis) -> list[Record]:
    """The parts of the pipeline's latency that are not 0."""
    if isinstance(analysis.losses, Impossible):
        return []
    total_s = sum(analysis.losses)
    return [
        {
            "part": LOSSES[name][0],
            "time_s": part_s,
            "share": part_s / total_s,
            "formula": LOSSES[name][1],
        }
        for name, part_s in analysis.losses._asdict().items()
        if part_s
    ]


def _read(analysis: Analysis, strategy: str) -> list[Record]:
    """What readings of the handout give for one input and for all, as read here first."""
    found: dict[tuple[str, ...], Record] = {}
    for answer in analysis.readings:
        if answer.strategy == strategy:
            new = {"reading": ", ".join(answer.changes) or "as read here"}
            read = found.setdefault(answer.changes, {**new, "one_s": answer.latency_s})
            read |= {"all_s": answer.latency_s, "traffic_bytes": answer.traffic_bytes}
    return [*found.values()]
