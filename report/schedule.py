"""Who works when: every job of a plan, and the same as a trace that a browser shows.

Inputs are injected just in time: input i starts (i - 1) * interval after the first, where the
interval is the time of the longest stage, and then never waits. Nodes are numbered from 1 in the
order of the plan's groups; the first node of the last group gathers the output.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, chain, islice, pairwise
from typing import Any, NamedTuple

import lab3
from lab3 import Network, System
from report import question
from report.plans import Plan, add_plan_option, placed, plan_text, plans_asked
from report.question import check_possible, possible_strategies, question_of
from report.steps import Step, duration, plan_stages
from report.terminal import US

MOST_EVENTS = 100_000  # of a schedule: a job is an event on each node or link that it keeps busy


class TimedStep(NamedTuple):
    """A step of one input, and when it is taken."""

    step: Step
    input: int  # counted from 1
    start_s: Fraction
    end_s: Fraction


class Job(NamedTuple):
    """What keeps some nodes, or some links, busy from its start to its end."""

    where: tuple[str, ...]  # "node 1", or "link 1 to 2"
    work: str  # "compute", "all-gather", "gather" or "send"
    layer: int  # counted from 1
    input: int  # counted from 1
    start_s: Fraction
    end_s: Fraction
    traffic_bytes: int  # over all its links, the same on each


# ------------------------------------------------ when


def interval(network: Network, system: System, plan: Plan) -> Fraction:
    """Seconds from one output to the next: the longest stage."""
    return max(duration(stage, system) for stage in plan_stages(network, system, plan))


def timed_steps(network: Network, system: System, plan: Plan, inputs: int = 1) -> list[TimedStep]:
    """All steps of all inputs: those of the first follow each other from time 0 on, those of
    input i are (i - 1) * interval later. Raises ValueError as plans.placed does."""
    steps = [*chain(*plan_stages(network, system, plan))]
    edges_s = accumulate((duration([step], system) for step in steps), initial=Fraction(0))
    times = [*zip(steps, pairwise(edges_s), strict=True)]
    interval_s = interval(network, system, plan)
    return [
        TimedStep(step, number, later_s + start_s, later_s + end_s)
        for number in range(1, inputs + 1)
        for later_s in [(number - 1) * interval_s]
        for step, (start_s, end_s) in times
    ]


# ------------------------------------------------ where


def schedule(network: Network, system: System, plan: Plan, inputs: int = 1) -> list[Job]:
    """The jobs of all inputs: one for each step, but of a gather on a ring one for each link.

    The last end is the plan's latency, and the bytes add up to its traffic. Raises ValueError as
    plans.placed does, and beyond MOST_EVENTS.
    """
    check_events(network, system, [plan], inputs)
    nodes, on_ring = layer_nodes(network, system, plan), system.topology == lab3.RING
    jobs = []
    for step, number, start_s, end_s in timed_steps(network, system, plan, inputs):
        for places, share in _busy(step, nodes, on_ring):
            where = tuple(places)
            job_end_s = start_s + share * (end_s - start_s)
            sent_bytes = int(share * step.link_bytes) * len(where)
            job = Job(where, step.work, step.layer, number, start_s, job_end_s, sent_bytes)
            jobs.append(job)
    return jobs


def layer_nodes(network: Network, system: System, plan: Plan) -> dict[int, range]:
    """The nodes of each layer, by its number."""
    return {layer: nodes for layers, nodes in placed(network, system, plan) for layer in layers}


def _busy(
    step: Step, nodes: dict[int, range], on_ring: bool
) -> Iterator[tuple[Iterator[str], Fraction]]:
    """The nodes or links that a step keeps busy, and for which share of its time. They are named
    one at a time, because 10^6 nodes have 10^12 links."""
    group = nodes[step.layer]
    if step.work == "compute":
        yield (f"node {node}" for node in group), Fraction(1)
    elif step.work == "send":
        receivers = nodes[step.layer + 1]
        yield _links((sender, to) for sender in group for to in receivers), Fraction(1)
    elif step.work == "gather" and on_ring:
        # node 2 sends its own shard, node 3 also that of node 2, the last all that node 1 lacks
        for shards, link in enumerate(_around(group[1:], group[0]), 1):
            yield _links([link]), Fraction(shards, len(group) - 1)
    elif step.work == "gather":
        yield _links((sender, group[0]) for sender in group[1:]), Fraction(1)
    elif on_ring:
        yield _links(_around(group, group[0])), Fraction(1)
    else:
        yield _links((sender, to) for sender in group for to in group if to != sender), Fraction(1)


def _around(nodes: Iterable[int], end: int) -> Iterator[tuple[int, int]]:
    """The links from each node to the next, and from the last to the end."""
    return pairwise(chain(nodes, [end]))


def _links(pairs: Iterable[tuple[int, int]]) -> Iterator[str]:
    return (f"link {sender} to {receiver}" for sender, receiver in pairs)


def check_events(network: Network, system: System, plans: Iterable[Plan], inputs: int = 1) -> None:
    """Raise ValueError if the plans' schedules together have more than MOST_EVENTS. Those of one
    input are counted, and no more of them than needed."""
    on_ring = system.topology == lab3.RING
    events = (
        place
        for plan in plans
        for nodes in [layer_nodes(network, system, plan)]
        for step in chain(*plan_stages(network, system, plan))
        for places, _ in _busy(step, nodes, on_ring)
        for place in places
    )
    if inputs * sum(1 for _ in islice(events, MOST_EVENTS // inputs + 1)) > MOST_EVENTS:
        fewer = "ask for fewer inputs or nodes, or for one plan"
        raise ValueError(f"more than {MOST_EVENTS:,} events are too many to list; {fewer}")


# ------------------------------------------------ as a trace


def possible_plans(network: Network, system: System) -> list[Plan]:
    """Those of both strategies as far as they are possible; both may be one.

    Raises ValueError if neither is."""
    check_possible(network, system)
    possible, _ = possible_strategies(network, system)
    return list(dict.fromkeys(possible.values()))


def plan_name(network: Network, system: System, plan: Plan) -> str:
    """tensor parallelism, pipeline parallelism or, of any other, plan 1-2:2,3,4."""
    possible, _ = possible_strategies(network, system)
    names = (f"{name} parallelism" for name, each in possible.items() if each == tuple(plan))
    return next(names, f"plan {plan_text(plan)}")


def _trace_events(name: str, process: int, jobs: Sequence[Job]) -> list[dict[str, Any]]:
    """A plan as a process in the Trace Event Format, each of its nodes and links as a thread, each
    job as a complete event in microseconds on each of those that it keeps busy.

    Source: Trace Event Format, the Chromium project.
    """
    places = dict.fromkeys(place for job in jobs for place in job.where)
    threads = {place: thread for thread, place in enumerate(places, 1)}
    heads: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": process, "args": {"name": name}}
    ]
    heads += [
        {"ph": "M", "name": "thread_name", "pid": process, "tid": tid, "args": {"name": place}}
        for place, tid in threads.items()
    ]
    complete = [
        {
            "ph": "X",
            "name": f"{job.work} layer {job.layer}, input {job.input}",
            "cat": job.work,
            "pid": process,
            "tid": threads[place],
            "ts": float(job.start_s * US),
            "dur": float((job.end_s - job.start_s) * US),
            "args": {"layer": job.layer, "input": job.input, "bytes": sent_bytes},
        }
        for job in jobs
        for sent_bytes in [job.traffic_bytes // len(job.where)]
        for place in job.where
    ]
    return heads + complete


# ------------------------------------------------ the command: trace


def add_options(parser: ArgumentParser) -> None:
    """What if, and --plan."""
    question.add_options(parser)
    add_plan_option(parser)


def run(options: Namespace) -> str:
    """The trace, as JSON."""
    network, system, inputs = question_of(options)
    chosen = plans_asked(options.plan, network, system).values()
    plans = list(chosen) or possible_plans(network, system)
    check_events(network, system, plans, inputs)
    trace = []
    for process, plan in enumerate(plans, 1):
        name = plan_name(network, system, plan)
        trace += _trace_events(name, process, schedule(network, system, plan, inputs))
    return json.dumps({"traceEvents": trace})
