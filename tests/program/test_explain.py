"""--explain: the figures that it shows, wherever and in whatever words it shows them.

A line is found by the words and numbers that it must hold; see lines_with.
"""

import decimal
import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lab3
from lab3 import NETWORK, SYSTEM, ConvLayer, System
from machines import cases_of_both, pipeline_parallel_cases, tensor_parallel_cases
from program import figures, lines_with, output

TEXT = output("--explain")


# ------------------------------------------------ in short


def strategies_in(line):
    """The strategies that a line names, in order: who is faster comes first."""
    words = line.lower().replace(":", " ").split()
    return [word for word in words if word in ("tensor", "pipeline")]


@pytest.mark.parametrize(
    ("options", "first", "inputs", "factor", "ratio"),
    [
        # 12,435.31264 / 3,127.26016 and 1,923,072 / 604,160
        ("", "tensor", 1, "3.9764", "3.1831"),
        # 155,786.1376 / 100,072.32512
        ("", "tensor", 32, "1.5567", "3.1831"),
        # 12,435.31264 / 3,315.16416 and 2,033,664 / 604,160
        ("--topology ring", "tensor", 1, "3.751", "3.3661"),
        # 50 MB/s, 40 times slower: tensor parallelism 32 * (3,033.30816 + 40 * 93.952) us, the
        # pipeline 12,133.23264 + 40 * 302.08 + 31 * 4,624.22016; 604,160 / 1,923,072
        ("--link-gbs 0.05", "pipeline", 32, "1.2969", "0.31416"),
    ],
)
def test_who_is_faster(options, first, inputs, factor, ratio):
    text = output("--explain", *options.split())
    (line,) = lines_with(text, Fraction(factor), Fraction(ratio))
    assert strategies_in(line)[0] == first
    assert str(inputs) in figures(line)


@pytest.mark.parametrize(
    ("options", "strategy", "fits", "spare_bytes", "node"),
    [
        # 524,288 - 503,488; - 726,016; - 462,336; - 1,322,752
        ("", "tensor", True, 20_800, "each node"),
        ("", "pipeline", False, 201_728, "node 2"),
        ("", "streamed", True, 61_952, "node 4"),
        ("", "data", False, 798_464, "each node"),
        # 400 KiB are 409,600 bytes
        ("--sram-kib 400", "streamed", False, 52_736, "node 4"),
        ("--sram-kib 400", "tensor", False, 93_888, "each node"),
        # 451.5 KiB are 462,336 bytes: to the byte
        ("--sram-kib 451.5", "streamed", True, 0, "node 4"),
        ("--sram-kib 451", "streamed", False, 512, "node 4"),
        ("--sram-kib 709", "pipeline", True, 0, "node 2"),
        ("--sram-kib 1291.75", "data", True, 0, "each node"),
    ],
)
def test_what_fits(options, strategy, fits, spare_bytes, node):
    text = output("--explain", *options.split())
    found = lines_with(text, strategy, "fits?", node, spare_bytes)
    assert found
    for line in found:
        assert ("NOT" in line) == (not fits)
        assert line.lower().startswith((strategy, f"sram: {strategy}"))
    # and no line says otherwise
    assert len(found) == len(lines_with(text, strategy, "fits?"))


@pytest.mark.parametrize(
    ("sram_bytes", "fits", "bytes_"), [(462_337, True, 1), (462_336, True, 0), (462_335, False, 1)]
)
def test_a_byte_decides(sram_bytes, fits, bytes_):
    text = lab3.explain(NETWORK, SYSTEM._replace(sram_bytes=sram_bytes), 1)
    lines = lines_with(text, "streamed", "fits?", "node 4", bytes_)
    assert lines and {"NOT" not in line for line in lines} == {fits}


def test_bottleneck_and_idle_nodes():
    assert lines_with(TEXT, "bottleneck", "compute of layer 2", Fraction("0.00462422016"))
    assert [figures(line)[-1] for line in lines_with(TEXT, "idle")] == ["0"]
    eight = output("--explain", "--nodes", "8")
    assert [figures(line)[-1] for line in lines_with(eight, "idle")] == ["4"]
    # at 20 MB/s the first send takes 230,400 / 20,000,000 s
    slow = output("--explain", "--link-gbs", "0.02")
    assert lines_with(slow, "bottleneck", "send of layer 1", Fraction("0.01152"))


def test_the_machine():
    assert lines_with(TEXT, 4, 12, "all-to-all", "links") and lines_with(TEXT, 32, "inputs")
    assert lines_with(TEXT, "R", 50_000_000_000) and lines_with(TEXT, "B", 2_000_000_000)
    assert lines_with(TEXT, "SRAM", 524_288)
    ring = output("--explain", "--topology", "ring", "--nodes", "8")
    assert lines_with(ring, "ring", "8 nodes", "8 links")


def test_equally_fast():
    # one layer on one node: the same 2 ops, and nothing is sent
    text = lab3.explain([ConvLayer(1, 1, 1, 1, 1, 1)], System(nodes=1), 1)
    assert lines_with(text, "both", "equal(ly)?")
    assert "times as fast" not in text


def test_who_is_faster_where_the_pipeline_sends_nothing():
    # one layer: the pipeline sends nothing; tensor parallelism gathers 3 shards of 2 bytes
    text = lab3.explain([ConvLayer(4, 1, 1, 1, 1, 1)], SYSTEM, 1)
    # 2 ops on each of four nodes and 2 bytes a link take 0.04 + 1 ns, 8 ops on one node 0.16 ns
    (line,) = lines_with(text, "fast")
    assert strategies_in(line)[0] == "pipeline"
    # links so fast that tensor parallelism wins: 8 ops in 1 s on one node, in a quarter on four
    fast = SYSTEM._replace(ops_per_s=8, link_bytes_per_s=10**9)
    (line,) = lines_with(lab3.explain([ConvLayer(4, 1, 1, 1, 1, 1)], fast, 1), "fast")
    assert strategies_in(line)[0] == "tensor"


# ------------------------------------------------ with a pencil


@pytest.mark.parametrize(
    "facts",
    [
        # the network
        (2, 128, 128, 3, 3, 30, 30, 2, 28, 28),
        (2, 115_605_504, 231_211_008, 294_912, 230_400, 200_704),
        ("sum", 303_330_816, 606_661_632, 891_648),
        # tensor parallelism
        (1, "compute", 1_555_200, Fraction("31.104e-6"), 0),
        (1, "all-gather", 57_600, Fraction("28.8e-6"), 691_200),
        (4, "gather", 36_864, Fraction("18.432e-6"), 110_592),
        ("compute", 151_665_408, Fraction("3033.30816e-6")),
        (187_904, Fraction("3127.26016e-6"), 1_923_072),
        (1, Fraction("0.00312726016")),
        (32, Fraction("0.00312726016"), Fraction("0.10007232512")),
        (32, 1_923_072, 61_538_304),
        # pipeline parallelism
        (1, "send", 230_400, Fraction("115.2e-6"), 230_400),
        (2, "compute", 231_211_008, Fraction("4624.22016e-6"), 0),
        (3, "compute", Fraction("3987.21024e-6"), 0),
        ("compute", 606_661_632, Fraction("12133.23264e-6")),
        (Fraction("12435.31264e-6"), 604_160),
        (32, Fraction("0.01243531264"), Fraction("0.00462422016"), Fraction("0.1557861376")),
        (32, 604_160, 19_333_120),
        # utilisation and speed-up
        (
            1,
            "tensor",
            Fraction("0.00312726016"),
            Fraction("3.87982835429"),
            Fraction("0.969957088572"),
        ),
        (
            1,
            "pipeline",
            Fraction("0.01243531264"),
            Fraction("0.975707888596"),
            Fraction("0.243926972149"),
        ),
        (
            32,
            "pipeline",
            Fraction("0.1557861376"),
            Fraction("2.49228493922"),
            Fraction("0.623071234805"),
        ),
        # SRAM
        (2, 222_912, 230_400, 50_176, 503_488, 20_800),
        (2, 294_912, 230_400, 200_704, 726_016, -201_728),
        (2, 294_912, 23_040, 7_168, 325_120, 199_168),
        (4, 294_912, 19_968, 147_456, 462_336, 61_952),
        (2, 891_648, 230_400, 200_704, 1_322_752, -798_464),
        (32, Fraction("0.09706586112")),  # data parallelism
        # the ring
        ("all-to-all", "tensor", Fraction("93.952e-6"), Fraction("3127.26016e-6"), 1_923_072),
        ("ring", "tensor", Fraction("281.856e-6"), Fraction("3315.16416e-6"), 2_033_664),
        ("ring", "pipeline", Fraction("302.08e-6"), Fraction("12435.31264e-6"), 604_160),
    ],
    ids=str,
)
def test_the_labs_figures(facts):
    assert lines_with(TEXT, *facts)


def test_seconds_and_microseconds_of_the_answers():
    for seconds, microseconds in [
        ("0.00312726016", "3127.26016"),
        ("0.10007232512", "100072.32512"),
        ("0.01243531264", "12435.31264"),
        ("0.1557861376", "155786.1376"),
    ]:
        shown = {figure for line in TEXT.splitlines() for figure in figures(line)}
        assert {seconds, microseconds} <= shown


@pytest.mark.parametrize(
    "formula",
    [
        "x - fx + 1",
        "y - fy + 1",
        "filters * in_channels * fx * fy * out_x * out_y",
        "2 * MACs",
        "filters * in_channels * fx * fy * element_bytes",
        "in_channels * x * y * element_bytes",
        "filters * out_x * out_y * element_bytes",
        "C / P",
        "A / P",
        "P * (P - 1) * S",
        "(P - 1) * S / B",
        "P * (P - 1) / 2 * S",
        "C_1 / R, A_1 / B",
        "sum(steps) + (N - 1) * interval",
        "ceil(N / P) * sum(C) / R",
    ],
)
def test_formulas(formula):
    assert formula in TEXT


def test_each_reading_of_the_handout_has_its_line():
    for what, reading in lab3.READINGS.items():
        assert len([line for line in TEXT.splitlines() if what in line and reading in line]) == 1


def test_the_lab_fits_80_columns_of_ascii():
    for options in ("", "--topology ring", "--nodes 2", "--nodes 8"):
        text = output("--explain", *options.split())
        assert text.isascii()
        assert [line for line in text.splitlines() if len(line) > 80 or line != line.rstrip()] == []


def test_tables_are_aligned():
    width = None  # of the table that we are in: a head of words, then rows with figures
    for line in TEXT.splitlines():
        cells = re.split(r"\s{2,}", line)
        if len(cells) > 3 and not figures(line):
            width = len(line)
        elif len(cells) < 3:
            width = None
        elif width:
            assert len(line) == width, line


@pytest.mark.parametrize("inputs", [100, 1_000, 2_000])
def test_sums_stay_exact_for_many_inputs(inputs):
    # 12,435.31264 + (N - 1) * 4,624.22016 us
    latency_s = Fraction("0.01243531264") + (inputs - 1) * Fraction("0.00462422016")
    text = output("--explain", "--inputs", str(inputs))
    assert lines_with(text, inputs, latency_s)
    assert lines_with(text, inputs, inputs * 604_160)


def test_figures_are_rounded_once_and_visibly():
    # once to 5 digits this is 1.2345e+15; by way of 12 digits it would be 1.2346e+15
    text = lab3.explain([ConvLayer(1, 1, 1, 1, 1, 1)], System(nodes=1), 1_234_549_999_999_996)
    assert "1.2345e+15" in text and "1.2346e+15" not in text
    # 13 digits fit, with their commas, the next does not
    for inputs, shown in [(123_456_789_012, "123456789012"), (1_234_567_890_123, "1.2346e+12")]:
        assert lines_with(lab3.explain(NETWORK, SYSTEM, inputs), "N", Fraction(shown))
    # 12 digits fit with a point and three commas, too
    slow = System(nodes=1, ops_per_s=2 / Fraction("1234567890.12"))
    assert "1,234,567,890.12" in lab3.explain([ConvLayer(1, 1, 1, 1, 1, 1)], slow, 1)
    # 2 ops at 3 a second: 0.666666666667
    text = lab3.explain([ConvLayer(1, 1, 1, 1, 1, 1)], System(nodes=1, ops_per_s=3), 1)
    assert "0.666666666667" in text


# ------------------------------------------------ each strategy on its own


@pytest.mark.parametrize(("nodes", "missing"), [(2, "pipeline"), (5, "tensor")])
def test_what_is_not_possible_is_said_in_its_place(nodes, missing):
    text = output("--explain", "--nodes", str(nodes))
    (reason,) = lab3.possible_stages(NETWORK, SYSTEM._replace(nodes=nodes))[1].values()
    in_short, in_its_section = [
        number for number, line in enumerate(text.splitlines()) if line == reason
    ]
    title = [
        number
        for number, line in enumerate(text.splitlines())
        if line.isupper() and missing.upper() in line
    ]
    assert in_short < title[0] < in_its_section
    # neither steps nor SRAM are shown for it
    steps = {"tensor": "all-gather", "pipeline": "send"}
    assert not lines_with(text, steps[missing], Fraction("0.0000288"))
    assert not lines_with(text, steps[missing], 230_400)
    assert not lines_with(text, missing, "fits?")
    assert not lines_with(text, "idle") or missing == "tensor"
    assert not lines_with(text, "fast")
    other = "tensor" if missing == "pipeline" else "pipeline"
    assert lines_with(text, other, "fits?")


# ------------------------------------------------ any case

CASES = st.one_of(cases_of_both(), tensor_parallel_cases(), pipeline_parallel_cases())
FEWER = settings(max_examples=settings().max_examples // 4)  # each looks for a hundred figures


def check_shown(text, *facts):
    assert lines_with(text, *facts, units=[1]), facts


@FEWER
@given(CASES, st.integers(1, 10**6))
def test_every_figure_of_the_report_is_shown(case, inputs):
    text = lab3.explain(*case, inputs)
    report = lab3.report(*case, inputs)
    for steps in report["steps"].values():
        for step in steps:
            check_shown(text, *step.values())
    for uses in report["sram"].values():
        for use in uses:
            where = use["layer"] if use["work"] == "compute" else use["work"]
            check_shown(text, where, *(use[name] for name in use if name.endswith("_bytes")))
    for layer in report["layers"]:
        names = ["layer", "macs", "ops", "weight_bytes", "input_bytes", "output_bytes"]
        check_shown(text, *(layer[name] for name in names))
    for row in report["results"]:
        if not row["reason"]:
            check_result(text, row, case[1].topology)
    check_shown(text, "N", inputs, report["data_parallel_latency_s"])


def check_result(text, row, topology):
    strategy, inputs, latency_s = row["strategy"], row["inputs"], row["latency_s"]
    if topology == row["topology"]:
        check_shown(text, strategy, inputs, latency_s, row["speed_up"], row["utilisation"])
        check_shown(text, row["bottleneck"], row["interval_s"])
        check_shown(text, "N", inputs, row["interval_s"], latency_s)
        check_shown(text, latency_s * 10**6, row["traffic_bytes"])
    if inputs == 1:
        communication_s = row["one_input_communication_s"]
        both = [communication_s, latency_s, row["traffic_bytes"]]
        check_shown(text, row["topology"], strategy, *both)


@FEWER
@given(CASES, st.integers(1, 10**6))
def test_the_verdicts_of_any_case(case, inputs):
    text = lab3.explain(*case, inputs)
    report = lab3.report(*case, inputs)
    for name, uses in report["sram"].items():
        most = max(uses, key=lambda use: use["total_bytes"])
        lines = lines_with(text, name, "fits?")
        node = f"node {most['layer']}" if name in ("pipeline", "streamed") else "each node"
        if most["work"] == "gather":
            node = "gathering node"
        assert lines == lines_with(text, name, "fits?", node, abs(most["spare_bytes"])) != []
        assert {"NOT" in line for line in lines} == {most["spare_bytes"] < 0}
    rows = [row for row in report["results"] if row["topology"] == case[1].topology]
    if any(row["reason"] for row in rows):
        assert not lines_with(text, "fast")
        return
    for tensor, pipeline in zip(rows[::2], rows[1::2], strict=True):
        fast, slow = sorted([tensor, pipeline], key=lambda row: row["latency_s"])
        if fast["latency_s"] < slow["latency_s"]:
            factor = slow["latency_s"] / fast["latency_s"]
            assert any(
                strategies_in(line)[0] == fast["strategy"]
                and any(abs(Fraction(figure) / factor - 1) < 1e-4 for figure in figures(line))
                for line in lines_with(text, "fast", fast["inputs"])
            )


# ------------------------------------------------ the caller's decimal settings


def test_decimal_settings_change_nothing(monkeypatch):
    for name, value in {"prec": 2, "rounding": decimal.ROUND_UP, "capitals": 0, "clamp": 1}.items():
        monkeypatch.setattr(decimal.DefaultContext, name, value)
    odd = decimal.Context(
        prec=1,
        rounding=decimal.ROUND_CEILING,
        Emin=-1,
        Emax=1,
        capitals=0,
        clamp=1,
        traps=[decimal.Inexact, decimal.Rounded, decimal.FloatOperation, decimal.Subnormal],
    )
    expected = [output("--explain", "--inputs", "999999999"), output(), output("--json")]
    with decimal.localcontext(odd) as context:
        printed = [output("--explain", "--inputs", "999999999"), output(), output("--json")]
        assert not any(context.flags.values())
    assert printed == expected
