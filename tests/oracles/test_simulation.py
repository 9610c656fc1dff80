"""The closed forms against the event-driven simulation: equal, exactly, in every case drawn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simulation
from lab3 import (
    NETWORK,
    SYSTEM,
    pipeline_parallel_latency,
    pipeline_parallel_stages,
    pipeline_parallel_traffic,
    tensor_parallel_latency,
    tensor_parallel_traffic,
)
from machines import pipeline_parallel_cases, tensor_parallel_cases

INPUTS = st.integers(1, 40)


def check_tensor_parallel(network, system, inputs):
    latency_s, link_bytes = simulation.tensor_parallel(network, system, inputs)
    assert latency_s == tensor_parallel_latency(network, system, inputs)
    assert sum(link_bytes.values()) == tensor_parallel_traffic(network, system, inputs)
    gathered_by_all = sum(layer.output_bytes for layer in network[:-1]) // system.nodes
    gathered_by_one = network[-1].output_bytes // system.nodes
    for (source, target), moved_bytes in link_bytes.items():
        if system.topology == "ring":  # the gather's shards come together on the way to node 0
            shards_bytes = (system.nodes - 1) * gathered_by_all + source * gathered_by_one
        else:
            shards_bytes = gathered_by_all + (gathered_by_one if target == 0 else 0)
        assert moved_bytes == inputs * shards_bytes


def check_pipeline_parallel(network, system, inputs):
    latency_s, link_bytes = simulation.pipeline_parallel(network, system, inputs)
    assert latency_s == pipeline_parallel_latency(network, system, inputs)
    assert sum(link_bytes.values()) == pipeline_parallel_traffic(network, system, inputs)
    for stage in pipeline_parallel_stages(network, system):
        if stage.work == "send":
            assert link_bytes[stage.layer - 1, stage.layer] == inputs * stage.traffic_bytes


@pytest.mark.parametrize("inputs", [1, 2, 32])
@pytest.mark.parametrize("topology", ["all-to-all", "ring"])
@pytest.mark.parametrize("check", [check_tensor_parallel, check_pipeline_parallel])
def test_the_lab(check, topology, inputs):
    check(NETWORK, SYSTEM._replace(topology=topology), inputs)


@given(tensor_parallel_cases(), INPUTS)
def test_tensor_parallelism(case, inputs):
    check_tensor_parallel(*case, inputs)


@given(pipeline_parallel_cases(), INPUTS)
def test_pipeline_parallelism(case, inputs):
    check_pipeline_parallel(*case, inputs)
