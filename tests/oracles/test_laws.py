"""The lecture's toys, counted by hand, and laws: how the numbers change if a question does."""

import pytest

pytest.importorskip("hypothesis")

from hypothesis import given
from hypothesis import strategies as st

import lab3
from lab3 import ConvLayer, System
from machines import closed_forms
from random_machines import cases_of_both
from report import sram
from report.steps import all_gather, compute_bound, slowest_node_bound
from report.timeline import jobs

INPUTS = st.integers(1, 10**6)

# ------------------------------------------------ toys


@pytest.mark.parametrize("topology", ["all-to-all", "ring"])
def test_four_nodes_with_a_value_each_move_12(topology):
    assert all_gather(1, 1, System(nodes=4, topology=topology)).traffic_bytes == 4 * 3


@pytest.mark.parametrize(
    ("layers", "inputs", "slots"), [(2, 3, 5), (1, 7, 7), (4, 1, 7), (3, 6, 10)]
)
def test_a_pipeline_of_equal_stages(layers, inputs, slots):
    # L layers are M = 2 L - 1 stages, computing and sending by turns: M + N - 1 slots, not M * N;
    # 3 stages and 3 inputs take 5, not 9. One filter of 1 x 1 on 1 x 1 makes 2 ops and 2 bytes.
    network = [ConvLayer(1, 1, 1, 1, 1, 1)] * layers
    system = System(nodes=layers, ops_per_s=2, link_bytes_per_s=2)
    assert lab3.pipeline_parallel_latency(network, system, inputs) == slots


# ------------------------------------------------ laws


@given(cases_of_both(), INPUTS, st.integers(2, 9))
def test_rates_and_sizes_scale(case, inputs, k):
    network, system = case
    tensor_s, tensor_bytes, pipeline_s, pipeline_bytes = closed_forms(*case, inputs)
    wider = system._replace(link_bytes_per_s=k * system.link_bytes_per_s)
    faster = wider._replace(ops_per_s=k * system.ops_per_s)
    expected = [tensor_s / k, tensor_bytes, pipeline_s / k, pipeline_bytes]
    assert closed_forms(network, faster, inputs) == expected
    larger = [layer._replace(element_bytes=k * layer.element_bytes) for layer in network]
    expected = [tensor_s, k * tensor_bytes, pipeline_s, k * pipeline_bytes]
    assert closed_forms(larger, wider, inputs) == expected


@given(cases_of_both(), INPUTS)
def test_a_ring_is_slower_for_tensor_parallelism_only(case, inputs):
    network, system = case
    ring, direct = (
        closed_forms(network, system._replace(topology=topology), inputs)
        for topology in ("ring", "all-to-all")
    )
    compute_s = compute_bound(*case, inputs)
    assert ring[0] - compute_s == (system.nodes - 1) * (direct[0] - compute_s)
    assert ring[1] >= direct[1]
    assert ring[2:] == direct[2:]


@given(cases_of_both(), INPUTS)
def test_nothing_is_faster_than_its_lower_bound(case, inputs):
    tensor_s, _, pipeline_s, _ = closed_forms(*case, inputs)
    assert tensor_s >= compute_bound(*case, inputs)
    assert pipeline_s >= slowest_node_bound(*case, inputs) >= compute_bound(*case, inputs)


SRAM = [sram.tensor_sram, sram.pipeline_sram, sram.data_sram]


@given(cases_of_both(), st.integers(2, 9))
def test_sharing_out_never_needs_more_sram(case, k):
    network, system = case
    tensor, pipeline, data = (function(*case) for function in SRAM)
    # Sharing out loses no weights and never needs more.
    weight_bytes = sum(layer.weight_bytes for layer in network)
    assert {use.weight_bytes * system.nodes for use in tensor} == {weight_bytes}
    assert sum(use.weight_bytes for use in pipeline) == weight_bytes
    for *shared, alone in zip(tensor, pipeline, data, strict=False):  # without the gather
        assert max(use.total_bytes for use in shared) <= alone.total_bytes
    if system.nodes == 1:
        assert tensor == data
    # All bytes are those of elements.
    larger = [layer._replace(element_bytes=k * layer.element_bytes) for layer in network]
    for function, uses in zip(SRAM, (tensor, pipeline, data), strict=True):
        expected = [(*use[:3], *(k * size for size in use[3:])) for use in uses]
        assert function(larger, system) == expected


@given(cases_of_both(), st.integers(1, 1_000))
def test_inputs_that_wait_or_overlap_need_more_sram(case, inputs):
    fullest_bytes = max(use.total_bytes for use in sram.tensor_sram(*case))
    waiting_bytes = sram.tensor_sram_inputs_waiting(*case, inputs) - fullest_bytes
    assert waiting_bytes == (inputs - 1) * case[0][0].input_bytes
    # A node that keeps the input until it has the whole output lacks only others' weights.
    data = sram.data_sram(*case)
    others_bytes = max(use.total_bytes for use in data) - sram.tensor_sram_input_kept(*case)
    assert others_bytes * case[1].nodes == data[0].weight_bytes * (case[1].nodes - 1)
    # A node but the first that starts its next input when it is done with one has both.
    found = [job for job in jobs(*case, "pipeline", 2) if job.work == "compute"]
    computed = {(job.layer, job.input): job for job in found}
    twice = [
        use.total_bytes + use.input_bytes
        for use in sram.pipeline_sram(*case)[1:]
        if computed[use.layer, 1].end_s == computed[use.layer, 2].start_s
    ]
    following = sram.pipeline_sram_overlapping(*case)
    assert (following and following.total_bytes) == max(twice, default=None)
