"""The closed forms of lab3.py and report/steps.py against simulation.py, which knows messages,
nodes and links that serve one job at a time, and no closed form: it takes the system and a layer's
eight fields from lab3, and counts its own ops and bytes. Equal, exactly, in every random case."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from lab3 import (
    NETWORK,
    SYSTEM,
    pipeline_parallel_latency,
    pipeline_parallel_traffic,
    tensor_parallel_latency,
    tensor_parallel_traffic,
)
from machines import plan_cases
from oracles.simulation import simulate
from report.steps import duration, latency, plan_stages, traffic

TENSOR, PIPELINE, BETWEEN = ((4, 4),), ((1, 1),) * 4, ((2, 2), (1, 1), (1, 1))


def check_plan(network, system, plan, inputs):
    question = network, system, inputs
    latency_s, link_bytes = simulate(network, system, plan, inputs)
    traffic_bytes = sum(link_bytes.values())
    stages = plan_stages(network, system, plan)
    assert latency_s == latency(stages, system, inputs)
    assert traffic_bytes == traffic(stages, inputs)
    if plan == ((len(network), system.nodes),):
        assert latency_s == tensor_parallel_latency(*question)
        assert traffic_bytes == tensor_parallel_traffic(*question)
    if plan == ((1, 1),) * len(network):
        assert latency_s == pipeline_parallel_latency(*question)
        assert traffic_bytes == pipeline_parallel_traffic(*question)
    # Each link serves one stage, and the busiest link is so in each of the stage's steps.
    busiest_bytes = max(sum(step.link_bytes for step in stage) for stage in stages)
    assert max(link_bytes.values(), default=0) == inputs * busiest_bytes


# ------------------------------------------------ the lab


@pytest.mark.parametrize("inputs", [1, 32])
@pytest.mark.parametrize(
    ("plan", "topology"),
    [
        *((plan, topology) for plan in (TENSOR, PIPELINE) for topology in ("all-to-all", "ring")),
        *((plan, "all-to-all") for plan in (BETWEEN, ((1, 2), (2, 1), (1, 1)))),
    ],
)
def test_the_lab(plan, topology, inputs):
    check_plan(NETWORK, SYSTEM._replace(topology=topology), plan, inputs)


# ------------------------------------------------ random


def kinds(network, system, plan, inputs):
    """What is special about a case."""
    longest = max(plan_stages(network, system, plan), key=lambda stage: duration(stage, system))
    sizes = [nodes for _, nodes in plan]
    return {
        "more than 8 nodes": system.nodes > 8,
        "another number of layers than of nodes": len(network) != system.nodes,
        "the bottleneck is a send": longest[0].work == "send" and inputs > 1,
        "the bottleneck is a group that exchanges": len(longest) > 1 and len(plan) > 1,
        "a group sends to a larger one": any(p < q for p, q in pairwise(sizes)),
        "nodes are left over": sum(sizes) < system.nodes,
        "tensor parallelism": plan == ((len(network), system.nodes),),
        "tensor parallelism on a ring": len(plan) == 1 < sizes[0] and system.topology == "ring",
        "pipeline parallelism": {(1, 1)} == set(plan),
        "one node": system.nodes == 1,
    }


def test_any_plan():
    drawn = Counter()

    @given(plan_cases(), st.integers(1, 6))
    def check(case, inputs):
        check_plan(*case, inputs)
        for kind, is_so in kinds(*case, inputs).items():
            drawn[kind] += is_so
            if is_so:
                event(kind)

    check()
    assert all(drawn.values()), drawn  # each kind is drawn
