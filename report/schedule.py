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
from itertools import accumulate, chain, pairwise, permutations, product
from typing import Any, NamedTuple

import lab3
from lab3 import Network, System
from report import question
from report.plans import (
    Plan,
    add_plan_option,
    plan_stages,
    plan_text,
    plans_asked,
    strategy_of,
    strategy_plans,
)
from report.question import check_possible, possible_strategies, question_of
from report.steps import Step, duration
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
    input i are (i - 1) * interval later. Raises ValueError as plan_stages does."""
    lab3.check(network, system, inputs)
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

    The last end is plan_latency, and the bytes add up to plan_traffic. Raises ValueError as
    plan_stages does, and beyond MOST_EVENTS.
    """
    lab3.check(network, system, inputs)
    check_events(events(network, system, plan, inputs))
    nodes, on_ring = layer_nodes(plan), system.topology == lab3.RING
    jobs = []
    for step, number, start_s, end_s in timed_steps(network, system, plan, inputs):
        for where, share in _busy(step, nodes, on_ring):
            job_end_s = start_s + share * (end_s - start_s)
            sent_bytes = int(share * step.link_bytes) * len(where)
            job = Job(where, step.work, step.layer, number, start_s, job_end_s, sent_bytes)
            jobs.append(job)
    return jobs


def layer_nodes(plan: Plan) -> dict[int, range]:
    """The nodes of each layer. Raises ValueError for what is not a list or tuple of Groups."""
    plan_text(plan)  # which says what is wrong
    nodes: list[range] = []
    start = 1
    for layers, count in plan:
        nodes += [range(start, start + count)] * layers
        start += count
    return dict(enumerate(nodes, 1))


def _busy(
    step: Step, nodes: dict[int, range], on_ring: bool
) -> Iterator[tuple[tuple[str, ...], Fraction]]:
    """The nodes or links that a step keeps busy, and for which share of its time."""
    group = nodes[step.layer]
    if step.work == "compute":
        yield tuple(f"node {node}" for node in group), Fraction(1)
    elif step.work == "send":
        yield _links(product(group, nodes[step.layer + 1])), Fraction(1)
    elif step.work == "gather" and on_ring:
        # node 2 sends its own shard, node 3 also that of node 2, the last all that node 1 lacks
        for shards, link in enumerate(_around(group[1:], group[0]), 1):
            yield _links([link]), Fraction(shards, len(group) - 1)
    elif step.work == "gather":
        yield _links(product(group[1:], group[:1])), Fraction(1)
    else:
        yield _links(_around(group, group[0]) if on_ring else permutations(group, 2)), Fraction(1)


def _around(nodes: Sequence[int], end: int) -> Iterator[tuple[int, int]]:
    """The links from each node to the next, and from the last to the end."""
    return pairwise([*nodes, end])


def _links(pairs: Iterable[tuple[int, int]]) -> tuple[str, ...]:
    return tuple(f"link {sender} to {receiver}" for sender, receiver in pairs)


def events(network: Network, system: System, plan: Plan, inputs: int = 1) -> int:
    """How many events a schedule has, without listing them: 10^6 nodes have 10^12 links."""
    lab3.check(network, system, inputs)
    steps = [*chain(*plan_stages(network, system, plan))]
    nodes = layer_nodes(plan)
    found = 0
    for step in steps:
        senders = len(nodes[step.layer])
        receivers = len(nodes.get(step.layer + 1, ()))
        all_links = senders if system.topology == lab3.RING else senders * (senders - 1)
        found += {
            "compute": senders,
            "all-gather": all_links,
            "gather": senders - 1,
            "send": senders * receivers,
        }[step.work]
    return inputs * found


def check_events(found: int) -> None:
    """Raise ValueError where there are more than MOST_EVENTS."""
    if found > MOST_EVENTS:
        fewer = "ask for fewer inputs or nodes, or for one plan"
        raise ValueError(f"{found:,} events are too many: the limit is {MOST_EVENTS:,}; {fewer}")


# ------------------------------------------------ as a trace


def possible_plans(network: Network, system: System) -> list[Plan]:
    """Those of both strategies as far as they are possible; both may be one.

    Raises ValueError where neither is."""
    check_possible(network, system)
    possible, _ = possible_strategies(network, system)
    strategies = strategy_plans(network, system)
    return list(dict.fromkeys(strategies[strategy] for strategy in possible))


def plan_name(network: Network, system: System, plan: Plan) -> str:
    """tensor parallelism, pipeline parallelism or, of any other, plan 1-2:2,3,4."""
    strategy = strategy_of(network, system, plan)
    return f"{strategy} parallelism" if strategy else f"plan {plan_text(plan)}"


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
    check_events(sum(events(network, system, plan, inputs) for plan in plans))
    trace = []
    for process, plan in enumerate(plans, 1):
        name = plan_name(network, system, plan)
        trace += _trace_events(name, process, schedule(network, system, plan, inputs))
    return json.dumps({"traceEvents": trace})
