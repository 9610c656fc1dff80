"""--explain: every step with its figures, for people."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab3
from lab3 import NETWORK, READINGS, SYSTEM, ConvLayer, System
from machines import cases_of_both

TEXT = lab3.explain(NETWORK, SYSTEM, 32)


def rows(text):
    return [line.split() for line in text.splitlines()]


@pytest.mark.parametrize(
    "row",
    [
        # the network
        "2 128 128 3 3 30 30 2 28 28",
        "2 115,605,504 231,211,008 294,912 230,400 200,704",
        "sum 303,330,816 606,661,632 891,648",
        # tensor parallelism
        "1 compute 31.104 0",
        "1 all-gather 28.8 691,200",
        "4 gather 18.432 110,592",
        "1 * (3,033.30816 + 93.952) us",
        "= 3,127.26016 us, 1,923,072 bytes",
        "32 * (3,033.30816 + 93.952) us",
        "= 100,072.32512 us, 61,538,304 bytes",
        # pipeline parallelism
        "1 send 115.2 230,400",
        "2 compute 4,624.22016 0 <- bottleneck",
        "3 compute 3,987.21024 0",
        "12,133.23264 + 302.08 + (1 - 1) * 4,624.22016 us",
        "= 12,435.31264 us, 604,160 bytes",
        "12,133.23264 + 302.08 + (32 - 1) * 4,624.22016 us",
        "= 155,786.1376 us, 19,333,120 bytes",
        # utilisation and speed-up
        "1 tensor 3,127.26016 1,923,072 3.8798 0.96996",
        "1 pipeline 12,435.31264 604,160 0.97571 0.24393",
        "32 pipeline 155,786.1376 19,333,120 2.4923 0.62307",
        # SRAM
        "tensor layer 2 222,912 230,400 50,176 503,488 20,800 yes",
        "pipeline layer 2 294,912 230,400 200,704 726,016 -201,728 NO",
        "streamed layer 2 294,912 23,040 7,168 325,120 199,168 yes",
        "data layer 2 891,648 230,400 200,704 1,322,752 -798,464 NO",
        "All weights are 891,648 bytes, a node's SRAM is 524,288. Were it no limit,",
        "data parallelism would take ceil(N / P) * sum(C) / R = 97,065.86112 us",
        "for N = 32, compute only. The times above do not ask what fits.",
        # the ring
        "all-to-all tensor 93.952 3,127.26016 1,923,072",
        "ring tensor 281.856 3,315.16416 2,033,664",
        "ring pipeline 302.08 12,435.31264 604,160",
    ],
)
def test_the_labs_figures(row):
    assert row.split() in rows(TEXT)


def test_columns_are_aligned():
    assert TEXT.endswith(
        """
7. All-to-all and ring, for 1 input (Q4)
   topology    strategy  one input communication us    latency us  traffic bytes
   all-to-all    tensor                      93.952   3,127.26016      1,923,072
   all-to-all  pipeline                      302.08  12,435.31264        604,160
   ring          tensor                     281.856   3,315.16416      2,033,664
   ring        pipeline                      302.08  12,435.31264        604,160"""
    )


def test_each_strategy_is_summed_up_for_1_and_for_n_inputs():
    assert TEXT.count("   N = 1\n") == TEXT.count("   N = 32\n") == 2
    single = lab3.explain(NETWORK, SYSTEM, 1)
    assert single.count("   N = ") == 2
    assert single.count("   ring  ") == 2


def test_the_formulas():
    for formula in (
        "out_x = x - fx + 1, out_y = y - fy + 1",
        "MACs = filters * in_channels * fx * fy * out_x * out_y, ops C = 2 * MACs",
        "weights = filters * in_channels * fx * fy, input = in_channels * x * y and",
        "output = filters * out_x * out_y elements, each of element_bytes; A = output bytes",
        "compute = C / (P * R), shard S = A / P; one node communicates nothing",
        "all-gather: S / B, P * (P - 1) * S bytes;"
        " on a ring (P - 1) * S / B, P * (P - 1) * S bytes",
        "gather: S / B, (P - 1) * S bytes; on a ring (P - 1) * S / B, P * (P - 1) / 2 * S bytes",
        "latency = N * (compute + communication), traffic = N * sum(traffic bytes)",
        "compute = C / R on node l for layer l, send = A / B on the link to node l + 1",
        "latency = compute + communication + (N - 1) * bottleneck,"
        " traffic = N * sum(traffic bytes)",
        "speed up = N * sum(C) / R / latency, over a single node that computes everything",
        "utilisation = ops done / ops that P nodes do in the latency = speed up / P",
    ):
        assert f"\n   {formula}\n" in TEXT


@pytest.mark.parametrize("inputs", [100, 1_000, 2_000])
def test_sums_stay_exact_for_many_inputs(inputs):
    # 12,435.31264 + (N - 1) * 4,624.22016 us, as hundred-thousandths of a microsecond
    latency = 1_243_531_264 + (inputs - 1) * 462_422_016
    microseconds = f"{latency // 100_000:,}.{latency % 100_000:05}".rstrip("0")
    text = lab3.explain(NETWORK, SYSTEM, inputs)
    assert f"\n      = {microseconds} us, {inputs * 604_160:,} bytes\n" in text


def test_integers_are_exact_or_visibly_rounded():
    text = lab3.explain(NETWORK, System(ops_per_s=123_456_789_012, link_bytes_per_s=10**12), 1)
    assert "R = 123,456,789,012 ops/s a node, B = 1.0000e+12 bytes/s a link" in text
    assert "N = 1.2346e+12" in lab3.explain(NETWORK, SYSTEM, 1_234_567_890_123)
    nodes = 1_234_567
    text = lab3.explain([ConvLayer(nodes, 3, 3, 3, 32, 32)], System(nodes=nodes), 1)
    assert "P = 1,234,567 nodes, all-to-all, 1.5242e+12 one-way links" in text


def test_the_bottleneck_is_marked_once():
    assert TEXT.count("bottleneck\n") == 1


def test_the_machine():
    assert "P = 4 nodes, all-to-all, 12 one-way links, 524,288 bytes of SRAM a node\n" in TEXT
    assert "R = 50,000,000,000 ops/s a node, B = 2,000,000,000 bytes/s a link, " in TEXT


def test_each_reading_has_its_line():
    lines = TEXT.splitlines()
    for what, reading in READINGS:
        assert sum(what in line and reading in line for line in lines) == 1


def test_headers_name_the_units():
    assert ["layer", "work", "latency", "us", "traffic", "bytes"] in rows(TEXT)
    header = "topology strategy one input communication us latency us traffic bytes"
    assert header.split() in rows(TEXT)


def test_what_if():
    ring = "".join(["ri", "ng"])  # equal to lab3's, not identical
    text = lab3.explain(NETWORK, SYSTEM._replace(topology=ring), 7)
    assert text.count("   N = 7\n") == 2
    assert "P = 4 nodes, ring, 4 one-way links, " in text
    assert ["=", "23,206.14912", "us,", "14,235,648", "bytes"] in rows(text)


def test_long_numbers_are_shortened():
    text = lab3.explain([ConvLayer(1, 1, 1, 1, 1, 1)], System(nodes=1, ops_per_s=3), 10**400)
    assert ["1", "compute", "666,666.666667", "0"] in rows(text)  # 2 ops at 3 a second
    assert ["1.0000e+400", "tensor", "6.6667e+405", "0", "1", "1"] in rows(text)


@pytest.mark.parametrize(("size", "text"), [(9_999_999, "9,999,999"), (12_345_678, "12,345,678")])
def test_a_figure_that_fits_its_column_is_exact(size, text):
    # 10 columns of sizes share 100 characters
    shapes = lab3.explain([ConvLayer(4, 1, 1, 1, size, size)], SYSTEM, 1)
    assert ["1", "4", "1", "1", "1", text, text, "2", text, text] in rows(shapes)


def test_twelve_digits_fit_a_column():
    # 2 ops at 2 / 1,234.56789012 a second; 1,234,567,890,123 bytes have a digit too many
    system = System(nodes=1, ops_per_s=Fraction(2, 1) / Fraction("1234.56789012"))
    text = lab3.explain([ConvLayer(1, 1, 1, 1, 1, 1, 1_234_567_890_123)], system, 1)
    assert ["1", "compute", "1,234,567,890.12", "0"] in rows(text)
    assert ["1", "1", "2", "1.2346e+12", "1.2346e+12", "1.2346e+12"] in rows(text)
    assert "      1 * (1,234,567,890.12 + 0) us\n" in text


def test_thirteen_digits_fit_no_column():
    # an output of 2 * 617,283,945,062 bytes at 2,000 a microsecond
    layer = ConvLayer(2, 2, 1, 1, 1, 1, 617_283_945_062)
    text = lab3.explain([layer, layer], System(nodes=2), 1)
    assert ["1", "send", "617,283,945.062", "1.2346e+12", "<-", "bottleneck"] in rows(text)


def test_every_bottleneck_is_marked():
    layer = ConvLayer(2, 2, 1, 1, 1, 1)
    text = lab3.explain([layer, layer], System(nodes=2, link_bytes_per_s=10**12), 1)
    assert text.count("<- bottleneck\n") == 2


def test_a_figure_that_does_not_fit_its_column_is_rounded():
    shapes = lab3.explain([ConvLayer(4, 1, 1, 1, 123_456_789, 1)], SYSTEM, 1)
    assert ["1", "4", "1", "1", "1", "1.2346e+8", "1", "2", "1.2346e+8", "1"] in rows(shapes)


@given(cases_of_both(), st.integers(1, 10**400), st.integers(1, 10**12))
def test_it_fits_100_columns_of_ascii(case, inputs, element_bytes):
    network, system = case
    network = [layer._replace(element_bytes=element_bytes) for layer in network]
    text = lab3.explain(network, system, inputs)
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 100
    assert all(line == line.rstrip() for line in text.splitlines())


def test_the_lab_fits_100_columns():
    assert max(map(len, TEXT.splitlines())) <= 100
