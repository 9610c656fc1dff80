"""The lecture's toy examples, counted by hand, and what holds for every network and machine beside
what theorems and the simulation say: of SRAM, of sizes beyond theirs, of numbers as text."""

from decimal import Decimal
from fractions import Fraction
from itertools import chain

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import lab3
from lab3 import NETWORK, SYSTEM, ConvLayer, System
from machines import cases_of_both
from report import sram
from report.plans import pipeline_parallel, tensor_parallel
from report.steps import all_gather

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
    assert lab3.pipeline_parallel_latency(network, system, inputs) == slots


# ------------------------------------------------ laws


@given(cases_of_both())
def test_sharing_out_loses_no_weights_and_neither_it_nor_streaming_needs_more(case):
    network, system = case[0], case[1]._replace(topology="all-to-all")
    [tensor] = sram.plan_sram(network, system, tensor_parallel(network, system))
    pipeline = [*chain(*sram.plan_sram(network, system, pipeline_parallel(network, system)))]
    rows = sram.pipeline_streamed_sram(network, system)
    data = sram.data_parallel_sram(network, system)
    weight_bytes = sum(layer.weight_bytes for layer in network)
    assert {use.weight_bytes * system.nodes for use in tensor} == {weight_bytes}
    assert sum(use.weight_bytes for use in pipeline) == weight_bytes
    for *shared, alone in zip(tensor, pipeline, data, strict=False):  # without the gather
        assert max(use.total_bytes for use in shared) <= alone.total_bytes
    for few, whole in zip(rows, pipeline, strict=True):
        assert few.weight_bytes == whole.weight_bytes
        assert 0 < few.input_bytes <= whole.input_bytes
        assert 0 < few.output_bytes <= whole.output_bytes
    uses = [*tensor, *pipeline, *rows, *data]
    assert {type(number) for use in uses for number in use[3:]} == {int}


def test_a_billion_inputs_and_ten_thousand_layers():
    expected = Fraction("0.01243531264") + (10**9 - 1) * Fraction("0.00462422016")
    assert lab3.pipeline_parallel_latency(NETWORK, SYSTEM, 10**9) == expected

    network = [ConvLayer(4, 4, 1, 1, 1, 1)] * 10_000  # 32 ops and 8 bytes each
    send_s, compute_s = Fraction(8, 2 * 10**9), Fraction(32, 50 * 10**9)
    expected = 10_000 * compute_s + 9_999 * send_s + 31 * max(compute_s, send_s)
    assert lab3.pipeline_parallel_latency(network, System(nodes=10_000), 32) == expected
    # 9,999 all-gathers and a gather of shards of 2 bytes, over 12 and over 3 links
    assert lab3.tensor_parallel_traffic(network, SYSTEM) == 9_999 * 12 * 2 + 3 * 2


@given(st.fractions(min_value=0), st.integers(1, 20))
@example(Fraction(10**400, 7), 17)
def test_plain_is_the_nearest_number_of_so_many_digits(value, digits):
    text = lab3.plain(value, digits)
    assert set(text) <= set("0123456789.")
    shown = Decimal(text)
    assert len("".join(map(str, shown.as_tuple().digits)).strip("0")) <= digits
    last_digit = Fraction(10) ** (shown.adjusted() - digits + 1) if value else 0
    assert abs(Fraction(text) - value) <= last_digit / 2
