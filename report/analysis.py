"""What the deck says beyond lab3's answers: each figure exact, by lab3's public functions.

Links decide: the bandwidths at which both strategies take equally long. Stages decide: what
filling, imbalance and sending cost the pipeline. Readings decide: the answers if the handout were
read in another way.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import count
from typing import Any, NamedTuple

import rows_streamed
from lab3 import (
    GIGA,
    INPUTS,
    KIB,
    NETWORK,
    RING,
    SYSTEM,
    SramUse,
    Stage,
    System,
    all_gather,
    data_parallel_sram,
    pipeline_parallel_latency,
    pipeline_parallel_sram,
    pipeline_parallel_stages,
    pipeline_parallel_traffic,
    single_node_latency,
    tensor_parallel_latency,
    tensor_parallel_sram,
    tensor_parallel_stages,
    tensor_parallel_traffic,
)

BITS_PER_BYTE = 8
KILO = 1000
SLOW_LINK_BYTES_PER_S = 50 * 10**6

# ------------------------------------------------ schedules


class Job(NamedTuple):
    """A stage at work on an input."""

    input: int  # counted from 1
    stage: Stage
    start_s: Fraction
    end_s: Fraction


def tensor_schedule() -> list[Job]:
    """One input through the stages of tensor parallelism, one after the other."""
    jobs: list[Job] = []
    for stage in tensor_parallel_stages(NETWORK, SYSTEM):
        start_s = jobs[-1].end_s if jobs else Fraction(0)
        jobs.append(Job(1, stage, start_s, start_s + stage.latency_s))
    return jobs


def pipeline_schedule(inputs: int) -> list[Job]:
    """Each stage takes an input when the stage before has ended it and it has ended the last."""
    stages = pipeline_parallel_stages(NETWORK, SYSTEM)
    free_s = [Fraction(0) for _ in stages]
    jobs = []
    for number in range(1, inputs + 1):
        end_s = Fraction(0)
        for index, stage in enumerate(stages):
            start_s = max(end_s, free_s[index])
            end_s = free_s[index] = start_s + stage.latency_s
            jobs.append(Job(number, stage, start_s, end_s))
    return jobs


# ------------------------------------------------ the pipeline's losses


def slowest_stage_s(system: System = SYSTEM) -> Fraction:
    """The time between two outputs of a full pipeline."""
    return max(stage.latency_s for stage in pipeline_parallel_stages(NETWORK, system))


def compute_bound_s(inputs: int) -> Fraction:
    """N * sum(C) / (P * R): all nodes compute all the time."""
    return single_node_latency(NETWORK, SYSTEM, inputs) / SYSTEM.nodes


def balanced_pipeline_s(inputs: int) -> Fraction:
    """P + N - 1 slots of sum(C) / (P * R): equal stages, nothing to send."""
    return (SYSTEM.nodes + inputs - 1) * compute_bound_s(1)


def pipeline_losses_s(inputs: int) -> dict[str, Fraction]:
    """What the latency is made of, from the compute bound to the whole."""
    stages = pipeline_parallel_stages(NETWORK, SYSTEM)
    sends_s = [stage.latency_s for stage in stages if stage.work == "send"]
    sending_s = sum(sends_s, Fraction(0))
    balanced_s = balanced_pipeline_s(inputs)
    latency_s = pipeline_parallel_latency(NETWORK, SYSTEM, inputs)
    return {
        "compute_bound_s": compute_bound_s(inputs),
        "filling_s": balanced_s - compute_bound_s(inputs),
        "imbalance_s": latency_s - sending_s - balanced_s,
        "sending_s": sending_s,
    }


# ------------------------------------------------ crossovers


def with_bandwidth(link_bytes_per_s: int | Fraction) -> System:
    """The lab's machine with other links."""
    return SYSTEM._replace(link_bytes_per_s=link_bytes_per_s)


def crossovers_bytes_per_s(inputs: int) -> list[Fraction]:
    """The link bandwidths at which both strategies take equally long for N inputs, rising."""

    def gap_s(system: System) -> Fraction:
        tensor_s = tensor_parallel_latency(NETWORK, system, inputs)
        return tensor_s - pipeline_parallel_latency(NETWORK, system, inputs)

    return _roots_bytes_per_s(gap_s)


def limit_crossovers_bytes_per_s() -> list[Fraction]:
    """The same for ever more inputs, where only the time from output to output counts."""

    def gap_s(system: System) -> Fraction:
        return tensor_parallel_latency(NETWORK, system) - slowest_stage_s(system)

    return _roots_bytes_per_s(gap_s)


def fewest_inputs_with_crossovers() -> int:
    """With fewer inputs tensor parallelism is faster on any links."""
    return next(inputs for inputs in count(1) if crossovers_bytes_per_s(inputs))


def _roots_bytes_per_s(gap_s: Callable[[System], Fraction]) -> list[Fraction]:
    """The bandwidths without a gap, which is linear in x = 1 / bandwidth on either side of the x
    where the pipeline's slowest transfer becomes slower than its slowest computation.
    """
    stages = pipeline_parallel_stages(NETWORK, SYSTEM)
    compute_s = max(stage.latency_s for stage in stages if stage.work == "compute")
    edge = compute_s / max(stage.traffic_bytes for stage in stages)
    fast = _root(gap_s, edge / 2, edge)
    slow = _root(gap_s, edge, 2 * edge)
    roots = [slow] if slow > edge else []
    roots += [fast] if 0 < fast <= edge else []
    return [1 / x for x in roots]


def _root(gap_s: Callable[[System], Fraction], left: Fraction, right: Fraction) -> Fraction:
    """Where the line through the gaps at two x meets zero."""
    left_s, right_s = gap_s(with_bandwidth(1 / left)), gap_s(with_bandwidth(1 / right))
    return left - left_s * (right - left) / (right_s - left_s)


# ------------------------------------------------ other readings of the handout


class Reading(NamedTuple):
    """Q1's and Q2's latencies if the handout is read so, and what it adds to the traffic."""

    name: str
    tensor_q1_s: Fraction
    pipeline_q1_s: Fraction
    tensor_q2_s: Fraction
    pipeline_q2_s: Fraction
    added_bytes: int = 0  # for an input, of tensor parallelism

    @property
    def tensor_wins(self) -> bool:
        """Whether tensor parallelism is the faster for 1 input and for many."""
        return self.tensor_q1_s < self.pipeline_q1_s and self.tensor_q2_s < self.pipeline_q2_s


def of_system(name: str, system: System) -> Reading:
    """Another machine, the same closed forms."""
    return Reading(
        name,
        tensor_parallel_latency(NETWORK, system),
        pipeline_parallel_latency(NETWORK, system),
        tensor_parallel_latency(NETWORK, system, INPUTS),
        pipeline_parallel_latency(NETWORK, system, INPUTS),
    )


AS_READ = of_system("as read here", SYSTEM)


def readings() -> list[Reading]:
    """As read here, then one change at a time."""
    return [
        AS_READ,
        of_system("1 GB = 2³⁰ bytes", with_bandwidth(SYSTEM.link_bytes_per_s // GIGA * KIB**3)),
        of_system("2 Gbit/s links", with_bandwidth(SYSTEM.link_bytes_per_s // BITS_PER_BYTE)),
        of_system(
            "1 KB = 1,000 bytes", SYSTEM._replace(sram_bytes=SYSTEM.sram_bytes // KIB * KILO)
        ),
        input_on_one_node(),
        output_on_all_nodes(),
        rows_are_streamed(),
        of_pipeline("sending blocks a node", occupied_s(receiving=False)),
        of_pipeline("receiving does too", occupied_s(receiving=True)),
        of_pipeline("one input at a time", AS_READ.pipeline_q1_s),
    ]


def input_on_one_node() -> Reading:
    """One node scatters the input; a pipeline's is node 1, which needs it alone."""
    input_bytes = NETWORK[0].input_bytes
    scatter_s = Fraction(input_bytes, SYSTEM.link_bytes_per_s)
    return AS_READ._replace(
        name="inputs on one node",
        tensor_q1_s=AS_READ.tensor_q1_s + scatter_s,
        tensor_q2_s=AS_READ.tensor_q2_s + INPUTS * scatter_s,
        added_bytes=(SYSTEM.nodes - 1) * input_bytes,
    )


def output_on_all_nodes() -> Reading:
    """An all-gather, not a gather, after the last layer as well."""
    gather = tensor_parallel_stages(NETWORK, SYSTEM)[-1]
    latency_s, traffic_bytes = all_gather(NETWORK[-1].output_bytes // SYSTEM.nodes, SYSTEM)
    added_s = latency_s - gather.latency_s
    return AS_READ._replace(
        name="output on all nodes",
        tensor_q1_s=AS_READ.tensor_q1_s + added_s,
        tensor_q2_s=AS_READ.tensor_q2_s + INPUTS * added_s,
        added_bytes=traffic_bytes - gather.traffic_bytes,
    )


def rows_are_streamed() -> Reading:
    """A row is handed on as soon as it is computed, under the SRAM limit."""
    return AS_READ._replace(
        name="rows streamed",
        pipeline_q1_s=rows_streamed.simulate(NETWORK, SYSTEM).latency_s,
        pipeline_q2_s=rows_streamed.simulate(NETWORK, SYSTEM, INPUTS).latency_s,
    )


def rows_on_slow_links() -> dict[str, Any]:
    """One input on links slow enough that streaming its rows beats tensor parallelism."""
    slow = with_bandwidth(SLOW_LINK_BYTES_PER_S)
    return {
        "link_bytes_per_s": SLOW_LINK_BYTES_PER_S,
        "tensor_s": tensor_parallel_latency(NETWORK, slow),
        "rows_s": rows_streamed.simulate(NETWORK, slow).latency_s,
    }


def of_pipeline(name: str, input_to_input_s: Fraction) -> Reading:
    """The first input as ever, each further one comes out so much later."""
    return AS_READ._replace(
        name=name,
        pipeline_q2_s=AS_READ.pipeline_q1_s + (INPUTS - 1) * input_to_input_s,
    )


def occupied_s(receiving: bool) -> Fraction:
    """The time that an input occupies the slowest node, if the node cannot compute while it sends,
    or while it receives either.
    """
    stages = pipeline_parallel_stages(NETWORK, SYSTEM)
    times_s = [Fraction(0), *(stage.latency_s for stage in stages), Fraction(0)]
    first = 0 if receiving else 1
    return max(sum(times_s[at + first : at + 3], Fraction(0)) for at in range(0, len(stages), 2))


def two_way_ring() -> System:
    """Half of each shard goes either way round: as one ring with twice the bandwidth."""
    return SYSTEM._replace(topology=RING, link_bytes_per_s=2 * SYSTEM.link_bytes_per_s)


# ------------------------------------------------ SRAM


class NodeSram(NamedTuple):
    """The most that a node holds, or each of some nodes."""

    strategy: str
    nodes: str
    weight_bytes: int
    input_bytes: int
    output_bytes: int
    total_bytes: int


def node_srams() -> list[NodeSram]:
    """Each strategy's need on each node, for one input in flight."""
    tensor = max(tensor_parallel_sram(NETWORK, SYSTEM), key=lambda use: use.total_bytes)
    data = max(data_parallel_sram(NETWORK, SYSTEM), key=lambda use: use.total_bytes)
    whole = pipeline_parallel_sram(NETWORK, SYSTEM)
    rows = pipeline_parallel_sram(NETWORK, SYSTEM, rows_streamed=True)
    # The first input lies whole on its node from the start, the last output ends whole on its.
    rows[0] = rows[0]._replace(input_bytes=whole[0].input_bytes)
    rows[-1] = rows[-1]._replace(output_bytes=whole[-1].output_bytes)
    every = f"all {SYSTEM.nodes}"
    return [
        node_sram("tensor", every, tensor),
        *(node_sram("pipeline", str(node), use) for node, use in enumerate(whole, 1)),
        *(node_sram("rows", str(node), use) for node, use in enumerate(rows, 1)),
        node_sram("data", every, data),
    ]


def node_sram(strategy: str, nodes: str, use: SramUse) -> NodeSram:
    """What a node holds, as lab3 counts it, and the sum."""
    parts_bytes = (use.weight_bytes, use.input_bytes, use.output_bytes)
    return NodeSram(strategy, nodes, *parts_bytes, sum(parts_bytes))


# ------------------------------------------------ all of it


def summary() -> dict[str, Any]:
    """Every figure by name, still exact, as in lab3.report."""
    return {
        "tensor_speed_up": {
            "q1": AS_READ.pipeline_q1_s / AS_READ.tensor_q1_s,
            "q2": AS_READ.pipeline_q2_s / AS_READ.tensor_q2_s,
        },
        "tensor_traffic_ratio": Fraction(
            tensor_parallel_traffic(NETWORK, SYSTEM), pipeline_parallel_traffic(NETWORK, SYSTEM)
        ),
        "pipeline_utilisation_limit": compute_bound_s(1) / slowest_stage_s(),
        "balanced_pipeline_s": balanced_pipeline_s(INPUTS),
        "pipeline_losses": pipeline_losses_s(INPUTS),
        "fewest_inputs_with_crossovers": fewest_inputs_with_crossovers(),
        "crossovers_bytes_per_s": {
            "half": crossovers_bytes_per_s(INPUTS // 2),
            "q2": crossovers_bytes_per_s(INPUTS),
            "limit": limit_crossovers_bytes_per_s(),
        },
        "readings": [reading._asdict() for reading in readings()],
        "node_sram": [node._asdict() for node in node_srams()],
        "rows_smallest_sram_bytes": max(rows_streamed.smallest_sram_bytes(NETWORK, SYSTEM)),
        "rows_on_slow_links": rows_on_slow_links(),
        "two_way_ring_s": tensor_parallel_latency(NETWORK, two_way_ring()),
    }
