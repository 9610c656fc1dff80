"""What the deck says: every figure exact, then as text; and what its words claim, to be checked.

An Analysis is of one network, machine and number of inputs. facts() gives slides.typ every number
as text, rounded once; claims() lists what its sentences say beyond numbers, each with a test.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache, cached_property
from itertools import pairwise, product, zip_longest
from math import ceil, floor
from typing import Any, NamedTuple

import plans
from lab3 import (
    ALL_TO_ALL,
    GIGA,
    INPUTS,
    KIB,
    NETWORK,
    RING,
    STRATEGIES,
    SYSTEM,
    ConvLayer,
    SramUse,
    Step,
    System,
    duration,
    latency,
    sram_uses,
    traffic,
)
from rows_streamed import simulate

Network = Sequence[ConvLayer]
Reading = tuple[str, Fraction, Fraction]  # its name; tensor's and the pipeline's latency
MS, US, PS, MB = 10**3, 10**6, 10**12, 10**6
# ASTRA-sim, commit 518bd51, analytical congestion-aware backend, links of exactly 2 * 10^9 bytes/s,
# run once all-to-all: the cycles in which it finishes, of 1 and of 32 inputs.
ASTRA_SIM_CYCLE_PS = 10
ASTRA_SIM_CYCLES = {
    "tensor": (312_726_016, 10_007_232_512),
    "pipeline": (1_243_531_264, 15_578_613_760),
}


streamed_run = cache(simulate)


@cache
def latency_s(strategy: str, network: Network, system: System, inputs: int) -> Fraction:
    """Of tensor, pipeline (whole tensors handed on) or streamed (row by row, within the SRAM)."""
    if strategy == "streamed":
        return streamed_run(network, system, inputs).latency_s
    return latency(STRATEGIES[strategy](network, system), system, inputs)


class Point(NamedTuple):
    """A plan among the others."""

    name: str
    nodes: int
    latency_s: Fraction
    interval_s: Fraction  # by which one more input is later
    traffic_bytes: int
    sram_bytes: int  # on its fullest node


class Need(NamedTuple):
    """What a node holds when it holds most."""

    strategy: str
    node: str
    use: SramUse


class Analysis:
    """The lab's numbers, or another network's, machine's and number of inputs."""

    def __init__(
        self, network: Network = NETWORK, system: System = SYSTEM, inputs: int = INPUTS
    ) -> None:
        self.network, self.system, self.inputs = tuple(network), system, inputs

    def on(self, **changes: Any) -> Analysis:
        """The same on a machine with these changes."""
        return Analysis(self.network, self.system._replace(**changes), self.inputs)

    def latency(self, strategy: str, inputs: int = 1) -> Fraction:
        """Seconds."""
        return latency_s(strategy, self.network, self.system, inputs)

    # -------------------------------------------- the strategies

    def steps(self, strategy: str) -> list[Step]:
        """Compute and transfer, layer by layer."""
        stages = STRATEGIES[strategy](self.network, self.system)
        return [step for stage in stages for step in stage]

    def seconds(self, *steps: Step) -> Fraction:
        """The steps one after the other."""
        return duration(steps, self.system)

    def sending_s(self, strategy: str) -> Fraction:
        """One input's steps that are no computation."""
        return self.seconds(*(step for step in self.steps(strategy) if step.work != "compute"))

    @cached_property
    def slowest(self) -> Step:
        """The pipeline's bottleneck."""
        return max(self.steps("pipeline"), key=self.seconds)

    @cached_property
    def links(self) -> int:
        """One-way, all-to-all."""
        return self.system.nodes * (self.system.nodes - 1)

    @cached_property
    def one_node_s(self) -> Fraction:
        """sum(C) / R, of one input on one node."""
        return self.on(nodes=1).latency("tensor")

    @cached_property
    def compute_bound_s(self) -> Fraction:
        """N * sum(C) / (P * R): all nodes compute all the time."""
        return self.inputs * self.one_node_s / self.system.nodes

    def losses(self) -> list[tuple[str, Fraction]]:
        """What the pipeline's latency of all inputs is made of, by the law, T = sum + (N-1)*max."""
        work_s = self.one_node_s
        slowest_s = self.seconds(self.slowest)
        return [
            (f"work ÷ {self.system.nodes} nodes", self.compute_bound_s),
            ("imbalance", self.inputs * (slowest_s - work_s / self.system.nodes)),
            ("fill and drain", work_s - slowest_s),
            ("sending", self.sending_s("pipeline")),
        ]

    def traffic(self, strategy: str, inputs: int = 1) -> int:
        """Bytes over all links; rows streamed are the pipeline's bytes."""
        stages_of = STRATEGIES[strategy.replace("streamed", "pipeline")]
        return traffic(stages_of(self.network, self.system), inputs)

    # -------------------------------------------- SRAM

    def need(self, strategy: str) -> SramUse:
        """The most that a node holds."""
        uses = sram_uses(strategy, self.network, self.system)
        return max(uses, key=lambda use: use.total_bytes)

    def needs(self) -> list[Need]:
        """Each strategy's fullest node, for whole tensors in a pipeline every node."""
        streamed, pipeline = self.need("streamed"), sram_uses("pipeline", self.network, self.system)
        return [
            Need("tensor", "each node", self.need("tensor")),
            *(Need("pipeline", f"node {use.layer}", use) for use in pipeline),
            Need("streamed", f"node {streamed.layer}", streamed),
            Need("data", "each node", self.need("data")),
        ]

    def fits(self, strategy: str) -> bool:
        """Whether every node can hold what it must."""
        return self.need(strategy).total_bytes <= self.system.sram_bytes

    # -------------------------------------------- links

    def faster_between_mb(self, strategy: str, inputs: int) -> tuple[int, int] | None:
        """The links, from and to whole MB/s, on which a pipeline beats tensor parallelism: None if
        there are none, or without a bound.
        """

        def wins(mb_per_s: int) -> bool:
            lab = self.on(link_bytes_per_s=mb_per_s * MB)
            return lab.latency(strategy, inputs) < lab.latency("tensor", inputs)

        # Rows streamed, N inputs take N times the longest step, or more: they win only where that
        # does.
        count = None if strategy == "streamed" else inputs
        question = (self.network, self.system, self.plan("pipeline"), count)
        low, high = plans.faster_between(*question) or (None, None)
        if not (low and high):
            return None
        start, stop = floor(low / MB) + 1, ceil(high / MB)  # what lies between, without the stop
        if strategy != "streamed":
            return (start, stop - 1) if start < stop else None
        # It wins most where its longest transfer takes as long as its longest computation.
        most_bytes = max(step.link_bytes for step in self.steps("pipeline"))
        middle = ceil(most_bytes / self.seconds(self.slowest) / MB)
        first = bisect_left(range(middle), True, start, key=wins)
        end = bisect_left(range(stop), True, middle, key=lambda mb_per_s: not wins(mb_per_s))
        return (first, end - 1) if first < end else None

    @cached_property
    def link_rows(self) -> list[tuple[str, int, tuple[int, int] | None]]:
        """The links on which they win: whole tensors on none for few inputs, then of all; rows
        streamed of 1 and of all.
        """

        def wins(inputs: int) -> bool:
            return self.faster_between_mb("pipeline", inputs) is not None

        fewest = bisect_left(range(self.inputs), True, key=wins)  # what wins for some wins for more
        cases = [("pipeline", fewest - 1), ("pipeline", self.inputs)]
        cases += [("streamed", 1), ("streamed", self.inputs)]
        return [(*case, self.faster_between_mb(*case)) for case in cases]

    # -------------------------------------------- plans

    @cached_property
    def points(self) -> list[Point]:
        """Every plan for all inputs, fastest first."""
        found = []
        for plan in all_plans(len(self.network), self.system.nodes):
            lab = self.network, self.system, plan
            try:
                seconds = plans.plan_latency(*lab, self.inputs)
            except ValueError:  # the nodes of a group do not divide a layer's filters
                continue
            found.append(
                Point(
                    plans.plan_text(plan),
                    sum(group.nodes for group in plan),
                    seconds,
                    plans.plan_latency(*lab, self.inputs + 1) - seconds,
                    plans.plan_traffic(*lab, self.inputs),
                    max(use.total_bytes for uses in plans.plan_sram(*lab) for use in uses),
                )
            )
        return sorted(found, key=lambda point: (point.latency_s, point.traffic_bytes))

    def plan(self, strategy: str) -> plans.Plan:
        """Tensor or pipeline parallelism as one of them."""
        return plans.strategy_plans(self.network, self.system)[strategy]

    def point(self, plan: plans.Plan) -> Point:
        """The plan's."""
        return next(point for point in self.points if point.name == plans.plan_text(plan))

    @property
    def tensor_point(self) -> Point:
        """Tensor parallelism."""
        return self.point(self.plan("tensor"))

    @property
    def pipeline_point(self) -> Point:
        """Pipeline parallelism."""
        return self.point(self.plan("pipeline"))

    @cached_property
    def best_points(self) -> list[Point]:
        """Those that no other beats in both latency and traffic, fastest first."""
        return [*map(self.point, plans.best_plans(self.network, self.system, self.inputs))]

    def beating(self, nodes: int) -> Point:
        """The fastest plan on so many nodes with the pipeline's traffic or less."""
        pipeline = self.pipeline_point
        others = (it for it in self.points if it.traffic_bytes <= pipeline.traffic_bytes)
        return next((it for it in others if it.nodes == nodes), pipeline)

    # -------------------------------------------- other machines, other readings

    def speed_ups(self) -> list[tuple[Any, ...]]:
        """What twice as much buys tensor and pipeline parallelism with all inputs, None where that
        is not possible."""

        gains = (
            plans.doubled(strategy, self.network, self.system, self.inputs).values()
            for strategy in STRATEGIES
        )
        return [*zip(("ops/s of a node", "bytes/s of a link", "nodes"), *gains, strict=True)]

    def latencies(self, strategy: str) -> tuple[Fraction, Fraction]:
        """Of one input and of all."""
        return self.latency(strategy), self.latency(strategy, self.inputs)

    def readings(self) -> list[Reading]:
        """As it is read here, then the handout read otherwise, one change at a time."""
        link, inputs = self.system.link_bytes_per_s, self.inputs
        tensor_s, pipeline_s = (self.latency(strategy, inputs) for strategy in STRATEGIES)
        one_s, scatter_s = self.latency("pipeline"), Fraction(self.network[0].input_bytes, link)
        times_s = [*map(self.seconds, self.steps("pipeline"))]
        nodes, sends = times_s[::2], times_s[1::2]

        def both(name: str, bytes_per_s: Fraction) -> Reading:
            lab = self.on(link_bytes_per_s=bytes_per_s)
            return name, lab.latency("tensor", inputs), lab.latency("pipeline", inputs)

        def in_turn(*work: list[Fraction]) -> Fraction:
            """The pipeline's latency, if a node does these in turn for an input."""
            interval_s = max(map(sum, zip_longest(*work, fillvalue=Fraction())))
            return one_s + (inputs - 1) * interval_s

        return [
            ("as read here", tensor_s, pipeline_s),
            ("the pipeline takes one at a time", tensor_s, in_turn([one_s])),
            both("1 GB is 2³⁰ bytes", link * Fraction(KIB**3, GIGA)),
            both("links carry 2 Gbit/s", Fraction(link, 8)),
            ("inputs start on node 1 alone", tensor_s + inputs * scatter_s, pipeline_s),
            ("no node sends while it computes", tensor_s, in_turn(nodes, sends)),
            ("… nor receives", tensor_s, in_turn([Fraction(), *sends], nodes, sends)),
        ]


def all_plans(layers: int, nodes: int) -> Iterator[plans.Plan]:
    """Every way to group the layers, in order, on so many nodes or fewer."""
    if not layers:
        yield ()
    for later, spare in product(range(layers), range(nodes)):
        for rest in all_plans(later, spare):
            yield (plans.Group(layers - later, nodes - spare), *rest)


# ------------------------------------------------ as text


def grouped(value: Fraction | int, places: int = 0) -> str:
    """So many digits after the point, rounded half to even, and thousands in groups."""
    whole, part = divmod(round(Fraction(value) * 10**places), 10**places)
    return f"{whole:,}" + (f".{part:0{places}d}" if places else "")


def exact(value: Fraction, places: int) -> str:
    """The same for a number that ends there, or a ValueError."""
    if (value * 10**places).denominator != 1:
        raise ValueError(f"a figure of the deck, {float(value)}, has more than {places} decimals")
    return grouped(value, places)


def percent(share: Fraction, places: int = 0) -> str:
    """With a space that does not break."""
    return grouped(100 * share, places) + "\u00a0%"


def facts(lab: Analysis) -> dict[str, Any]:
    """Every number of the deck's text by name, as it is printed."""
    network, system, inputs = lab.network, lab.system, lab.inputs
    sram = system.sram_bytes
    tensor_1, tensor_n = lab.latencies("tensor")
    pipeline_1, pipeline_n = lab.latencies("pipeline")
    streamed_1, streamed_n = lab.latencies("streamed")
    weight_bytes = sum(layer.weight_bytes for layer in network)
    tensor_steps, pipeline_steps = lab.steps("tensor"), lab.steps("pipeline")
    compute_s, tensor_sending_s = lab.compute_bound_s / inputs, lab.sending_s("tensor")
    ring = lab.on(topology=RING)
    slowest_s = lab.seconds(lab.slowest)
    bottleneck = network[lab.slowest.layer - 1]
    first, second, *_ = map(plans.balance, network)
    *_, (*_, faster_mb) = lab.link_rows
    slots = system.nodes + inputs - 1
    (name, *as_read), *readings = lab.readings()
    ring_rows: dict[str, Callable[[Analysis, str], str]] = {
        "communication, µs": lambda machine, it: exact(machine.sending_s(it) * US, 5),
        "latency, µs": lambda machine, it: exact(machine.latency(it) * US, 5),
        "traffic, bytes": lambda machine, it: grouped(machine.traffic(it)),
    }
    data_s = lab.one_node_s * ceil(Fraction(inputs, system.nodes))  # each node whole inputs
    same, fewer = lab.beating(system.nodes), lab.beating(system.nodes - 1)
    return {
        "inputs": grouped(inputs),
        "further": grouped(inputs - 1),
        "sram": grouped(sram),
        "answers": {
            strategy: [
                exact(lab.latency(strategy), 11),
                grouped(lab.traffic(strategy)),
                exact(lab.latency(strategy, inputs), 11),
                grouped(lab.traffic(strategy, inputs)),
                grouped(lab.need(strategy).total_bytes),
                "fits" if lab.fits(strategy) else "too much",
            ]
            for strategy in ("tensor", "pipeline", "streamed")
        },
        "faster": {
            "one": grouped(pipeline_1 / tensor_1, 2),
            "many": grouped(pipeline_n / tensor_n, 2),
            "streamed_one": grouped(streamed_1 / tensor_1, 2),
            "streamed_many": grouped(streamed_n / tensor_n, 2),
            "traffic": grouped(Fraction(lab.traffic("tensor"), lab.traffic("pipeline")), 2),
        },
        # how
        "machine": {
            "links": grouped(lab.links),
            "giga_ops": grouped(Fraction(system.ops_per_s, GIGA)),
            "giga_bytes": grouped(Fraction(system.link_bytes_per_s, GIGA)),
            "balance": grouped(Fraction(system.ops_per_s) / system.link_bytes_per_s),
        },
        "layers": [
            [
                grouped(number),
                _shape(layer.filters, layer.in_channels, layer.fx, layer.fy),
                _shape(layer.filters, layer.out_x, layer.out_y),
                grouped(layer.weight_bytes),
                grouped(layer.ops),
                grouped(layer.output_bytes),
                grouped(plans.balance(layer)),
            ]
            for number, layer in enumerate(network, 1)
        ],
        "layers_sum": [grouped(weight_bytes), grouped(sum(layer.ops for layer in network))],
        "ops_a_byte": grouped(second),
        "first_ops_a_byte": grouped(first),
        "overlap": percent(tensor_sending_s / tensor_1, 1),
        "speed_ups": [
            [name, grouped(tensor, 3), grouped(pipeline, 3)]
            for name, tensor, pipeline in lab.speed_ups()
        ],
        "as_read": [name, *(grouped(it * MS, 3) for it in as_read)],
        "readings": [
            [name, *("" if it in as_read else grouped(it * MS, 3) for it in seconds)]
            for name, *seconds in readings
        ],
        # tensor parallelism
        "tensor": {
            "share": percent(compute_s / tensor_1),
            "sending_share": percent(tensor_sending_s / tensor_1),
            "rows": [
                [
                    grouped(compute.layer),
                    exact(lab.seconds(compute) * US, 5),
                    collective.work,
                    exact(lab.seconds(collective) * US, 5),
                    grouped(collective.link_bytes),
                    grouped(collective.traffic_bytes),
                ]
                for compute, collective in pairwise(tensor_steps)
                if compute.work == "compute"
            ],
            "compute": exact(compute_s * US, 5),
            "sending": exact(tensor_sending_s * US, 5),
            "sending_short": exact(tensor_sending_s * US, 3),
            "many": exact(tensor_n * US, 5),
            "bytes": grouped(lab.traffic("tensor")),
            "bytes_many": grouped(lab.traffic("tensor", inputs)),
            "gather_bytes": grouped(tensor_steps[-1].traffic_bytes),
            "peers": grouped(system.nodes - 1),
        },
        # pipeline parallelism
        "pipeline": {
            "heads": [
                {"compute": "node {0}", "send": "send {0} → {1}"}[it.work].format(
                    it.layer, it.layer + 1
                )
                for it in pipeline_steps
            ],
            "times": [exact(lab.seconds(step) * US, 5) for step in pipeline_steps],
            "traffics": [
                grouped(step.traffic_bytes) if step.traffic_bytes else "" for step in pipeline_steps
            ],
            "slowest_node": grouped(lab.slowest.layer),
            "slowest": exact(slowest_s * US, 5),
            "one": exact(pipeline_1 * US, 5),
            "many": exact(pipeline_n * US, 5),
            "bytes": grouped(lab.traffic("pipeline")),
            "bytes_many": grouped(lab.traffic("pipeline", inputs)),
            "utilisation": percent(compute_s / pipeline_1, 1),
            "utilisation_many": percent(lab.compute_bound_s / pipeline_n, 1),
            "utilisation_limit": percent(compute_s / slowest_s, 1),
            "over_one_node": grouped(lab.one_node_s / pipeline_1, 2),
            "sending": exact(lab.sending_s("pipeline") * US, 2),
            "slots": grouped(slots),
            "slot": grouped(compute_s * MS, 3),
            "balanced": grouped(slots * compute_s * MS, 2),
        },
        "cycle_ps": grouped(ASTRA_SIM_CYCLE_PS),
        # SRAM
        "weights": grouped(weight_bytes),
        "filled": grouped(streamed_run(network, system, inputs).peak_bytes[lab.slowest.layer - 1]),
        "weights_over": grouped(weight_bytes - sram),
        "data_less": percent(1 - data_s / tensor_n),
        "data_ms": grouped(data_s * MS, 2),
        "over": grouped(bottleneck.weight_bytes + bottleneck.input_bytes - sram),
        "outputs": grouped(inputs * network[-1].output_bytes),
        "all_sram": grouped(system.nodes * sram),
        "plans": grouped(len(lab.points)),
        "same": [same.name, percent(1 - same.latency_s / lab.pipeline_point.latency_s)],
        "fewer": fewer.name,
        # ring and links
        "ring": [
            [what, show(lab, "tensor"), show(ring, "tensor"), show(ring, "pipeline")]
            for what, show in ring_rows.items()
        ],
        "ring_more": percent(ring.latency("tensor") / tensor_1 - 1),
        "ring_loads": ", ".join(map(str, range(system.nodes - 1))) + f" and {system.nodes - 1}",
        "ring_gather": grouped(ring.steps("tensor")[-1].traffic_bytes),
        "two_way": exact(ring.sending_s("tensor") / 2 * US, 3),
        "faster_mb": " to ".join(map(grouped, faster_mb or ())),
    }


def _shape(*sizes: int) -> str:
    return " × ".join(map(str, sizes))  # noqa: RUF001


# ------------------------------------------------ what the words claim


def claims(lab: Analysis) -> Iterator[tuple[str, bool]]:
    """Each claim with whether it holds; one may only be asked for when those before it hold."""
    network, system, inputs = lab.network, lab.system, lab.inputs
    yield "the network has 4 layers", len(network) == 4
    shape = (system.nodes, system.topology)
    yield "the machine has 4 nodes joined all-to-all", shape == (4, ALL_TO_ALL)
    yield "there are 32 inputs", inputs == 32

    # SRAM, before rows are simulated, as this bounds their number
    sram, fullest = system.sram_bytes, network[lab.slowest.layer - 1]
    weight_bytes = sum(layer.weight_bytes for layer in network)
    yield "no node's SRAM holds all weights", weight_bytes > sram
    yield "tensor parallelism fits the SRAM", lab.fits("tensor")
    holds = lab.slowest.work == "compute" and fullest.weight_bytes + fullest.input_bytes > sram
    yield "the pipeline's slowest node overflows before it has any output", holds
    yield "the pipeline fits the SRAM when it streams rows", lab.fits("streamed")
    output_bytes = inputs * network[-1].output_bytes
    yield "all nodes together cannot hold all outputs", output_bytes > system.nodes * sram
    less = lab.on(sram_bytes=sram * 1000 // KIB)
    holds = less.fits("tensor") and less.fits("streamed")
    yield "with 1,000 bytes a KB the same strategies fit the SRAM", holds
    twice = lab.on(sram_bytes=2 * sram)
    yield "with twice the SRAM the pipeline fits", twice.fits("pipeline")

    # speed, of all inputs: of fewer a pipeline takes longer for each, tensor parallelism as long
    tensor_s, whole_s, streamed_s = (
        lab.latency(it, inputs) for it in ("tensor", "pipeline", "streamed")
    )
    holds = tensor_s < min(whole_s, streamed_s)
    yield "tensor parallelism is faster than the pipeline, rows streamed or not", holds
    holds = lab.traffic("tensor") > lab.traffic("pipeline")
    yield "tensor parallelism has more traffic than the pipeline", holds
    first, *others = map(plans.balance, network)
    balance = Fraction(system.ops_per_s) / system.link_bytes_per_s
    holds = all(need > balance for need in (first, *others)) and len({*others}) == 1
    yield "all layers need more ops for a byte than would balance, 2 to 4 as many", holds
    (_, *ops), (_, *links), (_, *nodes) = lab.speed_ups()
    yield "faster nodes help both strategies more than faster links", min(ops) > max(links)
    holds = nodes == [2, 1]
    yield "twice the nodes halve tensor parallelism's time and leave the pipeline's", holds
    holds = all(tensor_s < pipeline_s for _, tensor_s, pipeline_s in lab.readings())
    yield "tensor parallelism is the faster in every reading of the handout", holds

    # plans
    fastest, whole = lab.tensor_point, lab.pipeline_point
    holds = [it for it in lab.points if it.sram_bytes <= sram] == [fastest]
    yield "of all plans exactly tensor parallelism fits the SRAM", holds
    # Its first input takes an interval, that of any other plan an interval or more.
    holds = fastest.interval_s == min(it.interval_s for it in lab.points)
    yield "no plan is faster than tensor parallelism for any number of inputs", holds
    same, fewer = lab.beating(4), lab.beating(3)
    holds = (same.name, same.traffic_bytes) == ("1-2:2,3,4", whole.traffic_bytes)
    yield "1-2:2,3,4 has the pipeline's traffic and is the fastest plan with no more", holds
    holds = fewer.latency_s < whole.latency_s
    yield "a plan on 3 nodes with no more traffic is faster than the pipeline", holds

    # ring, links, checks
    ring = lab.on(topology=RING)
    yield "a ring changes nothing for the pipeline", ring.steps("pipeline") == lab.steps("pipeline")
    least = lab.on(sram_bytes=lab.need("streamed").total_bytes)
    holds = least.latencies("streamed") == lab.latencies("streamed")
    yield "rows streamed take no longer with the least SRAM that they need", holds
    few, *others_mb = (bounds for *_, bounds in lab.link_rows)
    link_mb = Fraction(system.link_bytes_per_s) / MB
    holds = few is None and all(bounds and bounds[1] < link_mb for bounds in others_mb)
    yield "a pipeline is faster than tensor parallelism on some slower links only", holds
    recorded = {
        name: tuple(Fraction(it * ASTRA_SIM_CYCLE_PS, PS) for it in cycles)
        for name, cycles in ASTRA_SIM_CYCLES.items()
    }
    holds = recorded == {name: lab.latencies(name) for name in recorded}
    yield "ASTRA-sim, run once, agrees to a cycle", holds
