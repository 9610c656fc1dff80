"""What must hold for every network, machine and number of inputs, whatever the formulas are, and
the lecture's toy examples, counted by hand. No other implementation is needed for these."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lab3 import (
    NETWORK,
    SYSTEM,
    ConvLayer,
    System,
    all_gather,
    pipeline_parallel_latency,
    pipeline_parallel_stages,
    pipeline_parallel_traffic,
    plain,
    tensor_parallel_latency,
    tensor_parallel_stages,
    tensor_parallel_traffic,
)
from machines import RATES, cases_of_both, pipeline_parallel_cases
from report.sram import (
    data_parallel_sram,
    pipeline_parallel_sram,
    pipeline_streamed_sram,
    tensor_parallel_sram,
    tensor_streamed_sram,
)

COUNTS = st.integers(1, 10**12)
LATENCIES = [tensor_parallel_latency, pipeline_parallel_latency]
TRAFFICS = [tensor_parallel_traffic, pipeline_parallel_traffic]
SRAM = [tensor_parallel_sram, tensor_streamed_sram, pipeline_parallel_sram, pipeline_streamed_sram]


# ------------------------------------------------ laws


@given(cases_of_both(), COUNTS, RATES)
def test_rates_scale_every_latency_and_no_traffic(case, inputs, factor):
    network, system = case
    faster = system._replace(
        ops_per_s=system.ops_per_s * factor, link_bytes_per_s=system.link_bytes_per_s * factor
    )
    for latency in LATENCIES:
        assert latency(network, faster, inputs) == latency(network, system, inputs) / factor
    for traffic in TRAFFICS:
        assert traffic(network, faster, inputs) == traffic(network, system, inputs)


@given(cases_of_both(), COUNTS)
def test_the_ring_never_beats_all_to_all(case, inputs):
    network, system = case
    direct, ring = (system._replace(topology=name) for name in ("all-to-all", "ring"))
    for function in (tensor_parallel_latency, tensor_parallel_traffic):
        assert function(network, direct, inputs) <= function(network, ring, inputs)
    for function in (pipeline_parallel_latency, pipeline_parallel_traffic):
        assert function(network, direct, inputs) == function(network, ring, inputs)


@given(cases_of_both(), COUNTS)
def test_no_strategy_beats_perfect_speed_up(case, inputs):
    network, system = case
    single_s = inputs * Fraction(sum(layer.ops for layer in network)) / system.ops_per_s
    assert tensor_parallel_latency(network, system, inputs) >= single_s / system.nodes
    assert pipeline_parallel_latency(network, system, inputs) >= single_s / len(network)


@given(pipeline_parallel_cases(), COUNTS, st.integers(1, 8))
def test_idle_nodes_change_nothing_for_the_pipeline(case, inputs, more):
    network, system = case
    larger = system._replace(nodes=system.nodes + more)
    for function in (pipeline_parallel_latency, pipeline_parallel_traffic):
        assert function(network, larger, inputs) == function(network, system, inputs)


@given(cases_of_both(), COUNTS, st.integers(1, 8))
def test_wider_elements_mean_more_bytes_and_no_more_ops(case, inputs, factor):
    network, system = case
    wider = [layer._replace(element_bytes=layer.element_bytes * factor) for layer in network]
    for traffic in TRAFFICS:
        assert traffic(wider, system, inputs) == factor * traffic(network, system, inputs)
    assert [layer.ops for layer in wider] == [layer.ops for layer in network]


@given(cases_of_both())
def test_sharing_out_loses_nothing_and_never_needs_more_than_one_node(case):
    network, system = case
    weight_bytes = sum(layer.weight_bytes for layer in network)
    tensor, pipeline, data = (
        sram(network, system)
        for sram in (tensor_parallel_sram, pipeline_parallel_sram, data_parallel_sram)
    )
    assert {use.weight_bytes * system.nodes for use in tensor} == {weight_bytes}
    assert sum(use.weight_bytes for use in pipeline) == weight_bytes
    for *shared, alone in zip(tensor, pipeline, data, strict=False):  # without the gather
        assert max(use.total_bytes for use in shared) <= alone.total_bytes


@given(pipeline_parallel_cases())
def test_streaming_rows_never_needs_more(case):
    for whole, rows in zip(
        pipeline_parallel_sram(*case), pipeline_streamed_sram(*case), strict=True
    ):
        assert rows.weight_bytes == whole.weight_bytes
        assert 0 < rows.input_bytes <= whole.input_bytes
        assert 0 < rows.output_bytes <= whole.output_bytes


@given(cases_of_both(), COUNTS)
def test_no_number_is_a_float(case, inputs):
    assert {type(latency(*case, inputs)) for latency in LATENCIES} == {Fraction}
    assert {type(traffic(*case, inputs)) for traffic in TRAFFICS} == {int}
    for stages in (tensor_parallel_stages(*case), pipeline_parallel_stages(*case)):
        numbers = [number for stage in stages for step in stage for number in step[2:]]
        assert {type(number) for number in numbers} == {int}
    all_to_all = case[0], case[1]._replace(topology="all-to-all")
    for sram in SRAM:
        assert {type(number) for use in sram(*all_to_all) for number in use[3:]} == {int}


# ------------------------------------------------ toys


@pytest.mark.parametrize("topology", ["all-to-all", "ring"])
def test_counts_of_collectives(topology):
    # 4 nodes with a value each move 4 * 3; if all pairs exchanged all 4 values, it were 48.
    system = System(topology=topology)
    assert [all_gather(1, size, system).traffic_bytes for size in (1, 4)] == [12, 48]


@pytest.mark.parametrize(
    ("layers", "inputs", "slots"), [(2, 3, 5), (1, 7, 7), (4, 1, 7), (3, 6, 10)]
)
def test_a_pipeline_of_equal_stages(layers, inputs, slots):
    # L layers are M = 2 L - 1 stages, computing and sending by turns: M + N - 1 slots, not M * N;
    # 3 stages and 3 inputs take 5, not 9.
    # One filter of 1 x 1 on 1 x 1: 2 ops and 2 bytes, so at 2 of each a second a slot is a second.
    network = [ConvLayer(1, 1, 1, 1, 1, 1)] * layers
    system = System(nodes=layers, ops_per_s=2, link_bytes_per_s=2)
    assert pipeline_parallel_latency(network, system, inputs) == slots


# ------------------------------------------------ sizes


def test_a_billion_inputs_and_nodes():
    expected = Fraction("0.01243531264") + (10**9 - 1) * Fraction("0.00462422016")
    assert pipeline_parallel_latency(NETWORK, SYSTEM, 10**9) == expected
    network, system = [ConvLayer(10**12, 1, 1, 1, 1, 1)], System(nodes=10**12, topology="ring")
    # a shard of 2 bytes from each, over half of the links on average
    assert tensor_parallel_traffic(network, system) == 10**12 * (10**12 - 1)


def test_ten_thousand_layers():
    network = [ConvLayer(4, 4, 1, 1, 1, 1)] * 10_000  # 32 ops and 8 bytes each
    system = System(nodes=10_000)
    send_s, compute_s = Fraction(8, 2 * 10**9), Fraction(32, 50 * 10**9)
    expected = 10_000 * compute_s + 9_999 * send_s + 31 * max(compute_s, send_s)
    assert pipeline_parallel_latency(network, system, 32) == expected
    shared_s = 10_000 * (compute_s / 4 + send_s / 4)
    assert tensor_parallel_latency(network, SYSTEM) == shared_s
    # 9,999 all-gathers and a gather of shards of 2 bytes, over 12 and over 3 links
    assert tensor_parallel_traffic(network, SYSTEM) == 9_999 * 12 * 2 + 3 * 2


# ------------------------------------------------ numbers as text


@given(st.fractions(min_value=0), st.integers(1, 20))
@example(Fraction(10**400, 7), 17)
def test_plain_is_the_nearest_number_of_so_many_digits(value, digits):
    text = plain(value, digits)
    assert set(text) <= set("0123456789.")
    shown = Decimal(text).as_tuple()
    significant = "".join(map(str, shown.digits)).strip("0")
    assert len(significant) <= digits
    last_digit = Fraction(10) ** (Decimal(text).adjusted() - digits + 1) if value else 0
    assert abs(Fraction(text) - value) <= last_digit / 2
