"""--explain: the figures that it shows, by the labels of report(), wherever it shows them.

See rows_with and sums_with: they read its tables and sums.
"""

import decimal
import inspect
import re
import sys
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lab3
from lab3 import NETWORK, SYSTEM, ConvLayer, System
from machines import cases_of_both, pipeline_parallel_cases, tensor_parallel_cases
from program import SCRIPT, output, parsed, rows_with, run, sums_with

TEXT = output("--explain")
ONE = ConvLayer(1, 1, 1, 1, 1, 1)  # 2 ops, 2 bytes out


def us(text):
    """A decimal of microseconds, in seconds."""
    return Fraction(text) / 10**6


# ------------------------------------------------ the answer in short

TRAFFIC = Fraction(1_923_072, 604_160)


@pytest.mark.parametrize(
    ("options", "inputs", "faster", "times_as_fast", "times_the_traffic"),
    [
        ("", 1, "tensor", Fraction("12435.31264") / Fraction("3127.26016"), TRAFFIC),
        ("", 32, "tensor", Fraction("155786.1376") / Fraction("100072.32512"), TRAFFIC),
        (
            "--topology ring",
            1,
            "tensor",
            Fraction("12435.31264") / Fraction("3315.16416"),
            Fraction(2_033_664, 604_160),
        ),
        # 50 MB/s, 40 times slower: tensor parallelism 32 * (3,033.30816 + 40 * 93.952) us, the
        # pipeline 12,133.23264 + 40 * 302.08 + 31 * 4,624.22016
        (
            "--link-gbs 0.05",
            32,
            "pipeline",
            Fraction("217324.42112") / Fraction("167567.25760"),
            1 / TRAFFIC,
        ),
    ],
)
def test_who_is_faster(options, inputs, faster, times_as_fast, times_the_traffic):
    text = output("--explain", *options.split())
    (row,) = [row for row in rows_with(text, inputs=inputs) if "faster" in row]
    facts = {"times_as_fast": times_as_fast, "times_the_traffic": times_the_traffic}
    assert rows_with(text, inputs=inputs, faster=faster, **facts) == [row]


def test_equally_fast():
    # one layer on one node: the same 2 ops, and nothing is sent
    text = lab3.explain([ONE], System(nodes=1), 1)
    (row,) = rows_with(text, faster="neither", times_as_fast=1)
    assert "times_the_traffic" not in row


def test_who_is_faster_where_the_pipeline_sends_nothing():
    # one layer: the pipeline sends nothing, tensor parallelism gathers 3 shards of 2 bytes:
    # 2 ops on each of four nodes and 2 bytes a link take 0.04 + 1 ns, 8 ops on one node 0.16 ns
    layers, factor = [ONE._replace(filters=4)], Fraction("6.5")
    text = lab3.explain(layers, SYSTEM, 1)
    assert rows_with(text, inputs=1, faster="pipeline", times_as_fast=factor, times_the_traffic=0)
    # at 8 ops/s: 8 ops in 1 s on one node, 2 in 0.25 s on four, and 2 bytes in 1 ns
    text = lab3.explain(layers, SYSTEM._replace(ops_per_s=8), 1)
    factor = 1 / Fraction("0.250000001")
    (row,) = rows_with(text, inputs=1, faster="tensor", times_as_fast=factor)
    assert "times_the_traffic" not in row  # 6 bytes are no multiple of nothing


@pytest.mark.parametrize(
    ("sram_bytes", "strategy", "fits", "layer", "total_bytes", "free_bytes"),
    [
        (524_288, "tensor", "yes", 2, 503_488, 20_800),
        (524_288, "pipeline", "NO", 2, 726_016, -201_728),
        (524_288, "streamed", "yes", 4, 462_336, 61_952),
        (524_288, "data", "NO", 2, 1_322_752, -798_464),
        (409_600, "streamed", "NO", 4, 462_336, -52_736),
        (409_600, "tensor", "NO", 2, 503_488, -93_888),
        # a byte decides
        *((503_488 + more, "tensor", "yes", 2, 503_488, more) for more in (0, 1)),
        (503_487, "tensor", "NO", 2, 503_488, -1),
        *((726_016 + more, "pipeline", "yes", 2, 726_016, more) for more in (0, 1)),
        (726_015, "pipeline", "NO", 2, 726_016, -1),
        *((462_336 + more, "streamed", "yes", 4, 462_336, more) for more in (0, 1)),
        (462_335, "streamed", "NO", 4, 462_336, -1),
        *((1_322_752 + more, "data", "yes", 2, 1_322_752, more) for more in (0, 1)),
        (1_322_751, "data", "NO", 2, 1_322_752, -1),
    ],
)
def test_what_fits(sram_bytes, strategy, fits, layer, total_bytes, free_bytes):
    text = lab3.explain(NETWORK, SYSTEM._replace(sram_bytes=sram_bytes), 1)
    verdicts = rows_with(text, SRAM=strategy)
    node = f"node {layer}" if strategy in ("pipeline", "streamed") else "every node"
    where = {"where": node, "layer": layer, "work": "compute"}
    what = {"total_bytes": total_bytes, "free_bytes": free_bytes}
    assert rows_with(text, SRAM=strategy, fits=fits, **where, **what) == verdicts != []


def test_a_gather_can_need_most():
    # three nodes: weights of 3 * 1 a third, 1; an input of 4 and a third of 12, 4, while it
    # computes; all 12 while one node gathers
    layers = [ConvLayer(3, 1, 1, 1, 2, 2, element_bytes=1)]
    text = lab3.explain(layers, SYSTEM._replace(nodes=3, sram_bytes=12), 1)
    needs = {"layer": 1, "work": "gather", "total_bytes": 13, "free_bytes": -1}
    assert rows_with(text, SRAM="tensor", fits="NO", where="one node", **needs)


@pytest.mark.parametrize(
    ("options", "bottleneck", "idle_nodes"),
    [
        ("", "compute of layer 2", 0),
        ("--nodes 8", "compute of layer 2", 4),
        # at 20 MB/s the first send takes 11.52 ms
        ("--link-gbs 0.02", "send of layer 1", 0),
    ],
)
def test_bottleneck_and_idle_nodes(options, bottleneck, idle_nodes):
    text = output("--explain", *options.split())
    for inputs in (1, 32):
        row = {"inputs": inputs, "strategy": "pipeline", "bottleneck": bottleneck}
        assert rows_with(text, **row, idle_nodes=idle_nodes)
        assert rows_with(text, inputs=inputs, strategy="tensor", idle_nodes=0)


# ------------------------------------------------ with a pencil


def shown(strategy=None, /, **facts):
    """What a row of a table shows, the table being about the strategy."""
    return strategy, facts


LAB = [
    # the question
    shown(inputs=32, layers=4, nodes=4, sram_bytes=524_288, topology="all-to-all"),
    shown(ops_per_s=50_000_000_000, link_bytes_per_s=2_000_000_000),
    # the network
    shown(layer=2, filters=128, in_channels=128, fx=3, fy=3, x=30, y=30, out_x=28),
    shown(layer=2, macs=115_605_504, ops=231_211_008, weight_bytes=294_912),
    shown(layer=2, input_bytes=230_400, output_bytes=200_704),
    shown(layer="sum", macs=303_330_816, ops=606_661_632, weight_bytes=891_648),
    # tensor parallelism
    shown("tensor", layer=1, work="compute", node_ops=1_555_200, duration_s=us("31.104")),
    shown("tensor", layer=1, work="all-gather", link_bytes=57_600, duration_s=us("28.8")),
    shown("tensor", layer=1, work="all-gather", node_ops=0, traffic_bytes=691_200),
    shown("tensor", layer=4, work="gather", link_bytes=36_864, duration_s=us("18.432")),
    shown("tensor", layer=4, work="gather", node_ops=0, traffic_bytes=110_592),
    shown("tensor", layer="sum", node_ops=151_665_408, link_bytes=187_904),
    shown("tensor", layer="sum", traffic_bytes=1_923_072, duration_s=us("3127.26016")),
    # pipeline parallelism
    shown("pipeline", layer=1, work="send", link_bytes=230_400, traffic_bytes=230_400),
    shown("pipeline", layer=1, work="send", node_ops=0, duration_s=us("115.2")),
    shown("pipeline", layer=2, work="compute", node_ops=231_211_008, duration_s=us("4624.22016")),
    shown("pipeline", layer="sum", node_ops=606_661_632, link_bytes=604_160),
    shown("pipeline", layer="sum", traffic_bytes=604_160, duration_s=us("12435.31264")),
    # the results
    shown(inputs=1, strategy="tensor", latency_s=us("3127.26016"), traffic_bytes=1_923_072),
    shown(inputs=32, strategy="tensor", latency_s=us("100072.32512")),
    shown(inputs=32, strategy="tensor", traffic_bytes=61_538_304),
    shown(inputs=1, strategy="pipeline", latency_s=us("12435.31264"), traffic_bytes=604_160),
    shown(inputs=32, strategy="pipeline", latency_s=us("155786.1376")),
    shown(inputs=32, strategy="pipeline", traffic_bytes=19_333_120),
    # 12,133.23264 us on one node, divided by the latency; a quarter of that
    shown(inputs=1, strategy="tensor", speed_up=us("12133.23264") / us("3127.26016")),
    shown(inputs=1, strategy="tensor", utilisation=us("3033.30816") / us("3127.26016")),
    shown(inputs=1, strategy="pipeline", speed_up=us("12133.23264") / us("12435.31264")),
    shown(inputs=32, strategy="pipeline", speed_up=32 * us("12133.23264") / us("155786.1376")),
    shown(inputs=32, strategy="pipeline", utilisation=8 * us("12133.23264") / us("155786.1376")),
    # SRAM
    shown("tensor", layer=2, weight_bytes=222_912, input_bytes=230_400, output_bytes=50_176),
    shown("tensor", layer=4, work="gather", weight_bytes=222_912, total_bytes=370_368),
    shown("pipeline", layer=2, weight_bytes=294_912, total_bytes=726_016, free_bytes=-201_728),
    shown("streamed", layer=2, input_bytes=23_040, output_bytes=7_168, free_bytes=199_168),
    shown("data", layer=2, weight_bytes=891_648, total_bytes=1_322_752, free_bytes=-798_464),
    # both topologies
    shown(topology="all-to-all", strategy="tensor", communication_s=us("93.952")),
    shown(topology="ring", strategy="tensor", communication_s=us("281.856")),
    shown(topology="ring", strategy="tensor", latency_s=us("3315.16416")),
    shown(topology="ring", strategy="tensor", traffic_bytes=2_033_664),
    shown(topology="ring", strategy="pipeline", communication_s=us("302.08")),
    shown(topology="ring", strategy="pipeline", traffic_bytes=604_160),
]


@pytest.mark.parametrize(("strategy", "facts"), LAB, ids=str)
def test_the_labs_figures(strategy, facts):
    assert rows_with(TEXT, strategy, **facts)


@pytest.mark.parametrize("inputs", [1, 32, 2_000])
def test_sums_are_exact(inputs):
    text = output("--explain", "--inputs", str(inputs))
    for strategy, compute_us, communication_us, interval_us, bytes_ in [
        ("tensor", "3033.30816", "93.952", "3127.26016", 1_923_072),
        ("pipeline", "12133.23264", "302.08", "4624.22016", 604_160),
    ]:
        terms = us(compute_us), us(communication_us), us(interval_us)
        latency_s = terms[0] + terms[1] + (inputs - 1) * terms[2]
        assert list(sums_with(text, strategy, inputs, *terms)) == [(latency_s, latency_s)]
        assert (inputs * bytes_,) * 2 in sums_with(text, strategy, inputs, bytes_)


FORMULAS = [lab3.duration, lab3.latency, lab3.traffic, lab3.all_gather, lab3.gather, lab3.sram_uses]
FORMULAS += [lab3, lab3.ConvLayer, lab3.tensor_parallel_stages, lab3.pipeline_parallel_stages]


@pytest.mark.parametrize("formulas", FORMULAS, ids=lambda each: each.__name__)
def test_formulas_are_those_beside_the_code(formulas):
    assert inspect.getdoc(formulas) in TEXT


@pytest.mark.parametrize(
    "formula",
    [
        "x - fx + 1",
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
        "node ops / R + link bytes / B",
        "N * sum(C) / R / latency",
    ],
)
def test_formulas(formula):
    assert formula in TEXT


@pytest.mark.parametrize("letter", "CASLPRBN")
def test_each_letter_of_the_formulas_is_defined_once(letter):
    assert len(re.findall(rf"(?<!\S){letter}  [a-z]", TEXT)) == 1


def test_units():
    assert [line for line in TEXT.splitlines() if "GB/s" in line and "10^9 bytes/s" in line]
    assert [line for line in TEXT.splitlines() if "KB" in line and "1,024 bytes" in line]


def test_without_docstrings_the_figures_stay():
    result = run("--explain", command=[sys.executable, "-OO", SCRIPT])
    assert (result.returncode, result.stderr) == (0, "")
    stripped, whole = parsed(result.stdout), parsed(TEXT)
    assert [rows for _, rows in stripped[0]] == [rows for _, rows in whole[0]]
    assert sorted(stripped[1]) == sorted(whole[1])


@pytest.mark.parametrize(
    "options",
    [
        *("", "--topology ring", "--nodes 2", "--nodes 5", "--nodes 8", "--element-bytes 4"),
        *("--inputs 1000", "--gops 33", "--link-gbs 0.3 --sram-kib 8192 --gops 700"),
    ],
)
def test_the_lab_and_its_kin_fit_80_columns_of_ascii(options):
    text = output("--explain", *options.split())
    assert text.isascii()
    assert [line for line in text.splitlines() if len(line) > 80 or line != line.rstrip()] == []


def test_figures_are_rounded_once_and_visibly():
    # once to 9 digits; by way of 12 digits, ...500, it would be ...90e+15
    text = lab3.explain([ONE], System(nodes=1), 1_234_567_894_999_996)
    assert "1.23456789e+15" in text and "1.23456790e+15" not in text
    # 12 digits fit, with their commas, the next does not
    wide = (1_234_567_890_123, "1.23456789e+12")
    for inputs, shown in [(123_456_789_012, "123,456,789,012"), wide]:
        (row,) = rows_with(lab3.explain(NETWORK, SYSTEM, inputs), inputs=inputs, layers=4)
        assert row["inputs"] == shown
    # 12 digits fit with a point and three commas, too
    slow = System(nodes=1, ops_per_s=2 / Fraction("1234567890.12"))
    assert "1,234,567,890.12" in lab3.explain([ONE], slow, 1)
    # 13 digits do not fit
    slow = System(nodes=1, ops_per_s=2 / Fraction("1.234567890123"))
    text = lab3.explain([ONE], slow, 1)
    assert re.search(r"(?<!\S)1\.23456789(?!\S)", text) and "1.234567890" not in text
    # 2 ops at 3 a second
    text = lab3.explain([ONE], System(nodes=1, ops_per_s=3), 1)
    assert "0.666666667" in text and "0.6666666667" not in text


# ------------------------------------------------ each strategy on its own


@pytest.mark.parametrize(
    ("nodes", "missing", "possible", "work"),
    [(2, "pipeline", "tensor", "send"), (5, "tensor", "pipeline", "all-gather")],
)
def test_what_is_not_possible_is_said_in_its_place(nodes, missing, possible, work):
    text = output("--explain", "--nodes", str(nodes))
    reason = next(row["reason"] for row in rows_of(nodes) if row["strategy"] == missing)
    in_short, in_its_section = numbers_of(text, lambda line: line == reason)
    (title,) = numbers_of(text, lambda line: line.isupper() and missing.upper() in line)
    assert in_short < title < in_its_section
    # neither its figures nor its steps nor its SRAM are shown, nor who is faster
    nothing = {"strategy": missing, "latency_s": None}
    for inputs in (1, 32):
        assert rows_with(text, **nothing, inputs=inputs, traffic_bytes=None)
        assert rows_with(text, **nothing, inputs=inputs, speed_up=None)
    for topology in ("all-to-all", "ring"):
        assert rows_with(text, **nothing, topology=topology, traffic_bytes=None)
    assert not rows_with(text, work=work) and not list(sums_with(text, missing))
    assert not rows_with(text, SRAM=missing) and rows_with(text, SRAM=possible)
    assert bool(rows_with(text, SRAM="streamed")) == (possible == "pipeline")
    assert "faster" not in text


def rows_of(nodes):
    return lab3.results(NETWORK, SYSTEM._replace(nodes=nodes), 32)


def numbers_of(text, is_meant):
    return [number for number, line in enumerate(text.splitlines()) if is_meant(line)]


# ------------------------------------------------ any case

CASES = st.one_of(cases_of_both(), tensor_parallel_cases(), pipeline_parallel_cases())
FEWER = settings(max_examples=settings().max_examples // 4)  # each looks for a hundred figures


def without(row, *names):
    return {name: value for name, value in row.items() if name not in names}


@FEWER
@given(CASES, st.integers(1, 10**6))
def test_every_figure_of_the_report_is_shown(case, inputs):
    network, system = case
    text = lab3.explain(network, system, inputs)
    report = lab3.report(network, system, inputs)
    assert rows_with(text, inputs=inputs, layers=len(network), **report["system"])
    fields = ("layer", *ConvLayer._fields, "out_x", "out_y")
    for layer in report["layers"]:
        assert rows_with(text, **{name: layer[name] for name in fields})
        assert rows_with(text, layer=layer["layer"], **without(layer, *fields))
    check_sums(text, None, without(report["layers"][0], *fields), report["layers"])
    for strategy, steps in report["steps"].items():
        for step in steps:
            assert rows_with(text, strategy, **step)
        check_sums(text, strategy, without(steps[0], "layer", "work"), steps)
    for strategy, uses in report["sram"].items():
        for use in uses:
            assert rows_with(text, strategy, **use)
    for row in report["results"]:
        check_result(text, row, row["topology"] == system.topology)


def check_sums(text, strategy, names, rows):
    sums = {name: sum(row[name] for row in rows) for name in names}
    assert rows_with(text, strategy, layer="sum", **sums)


def check_result(text, row, is_the_systems):
    if row["inputs"] == 1:
        names = ["topology", "strategy", "latency_s", "communication_s", "traffic_bytes"]
        assert rows_with(text, **{name: row.get(name) for name in names})
    if not is_the_systems:
        return
    answer = {name: row[name] for name in ("inputs", "strategy", "latency_s")}
    names = ["traffic_bytes", "bottleneck", "idle_nodes"]
    assert rows_with(text, **answer, **{name: row.get(name) for name in names})
    names = ["speed_up", "utilisation"]
    assert rows_with(text, **answer, **{name: row.get(name) for name in names})
    if not row["reason"]:
        names = ["inputs", "compute_s", "communication_s", "interval_s", "latency_s"]
        sums = list(sums_with(text, row["strategy"], *(row[name] for name in names)))
        # what is shown in 10 digits adds up to no more
        assert [left for left, right in sums if abs(left - right) <= right / 10**8]
        assert list(sums_with(text, row["strategy"], row["inputs"], row["traffic_bytes"]))


@FEWER
@given(CASES, st.integers(1, 10**6))
def test_the_verdicts_of_any_case(case, inputs):
    network, system = case
    text = lab3.explain(network, system, inputs)
    possible = []
    for strategy in ("tensor", "pipeline", "streamed", "data"):
        try:
            uses = lab3.sram_uses(strategy, network, system)
        except ValueError:
            continue
        possible.append(strategy)
        most = max(use.total_bytes for use in uses)
        facts = {"total_bytes": most, "free_bytes": system.sram_bytes - most}
        facts["fits"] = "yes" if most <= system.sram_bytes else "NO"
        assert any(
            rows_with(text, SRAM=strategy, layer=use.layer, work=use.work, **facts)
            for use in uses
            if use.total_bytes == most
        )
    assert [row["SRAM"] for row in rows_with(text) if "SRAM" in row] == possible
    for count in {1, inputs}:
        (row,) = [row for row in rows_with(text, inputs=count) if "faster" in row] or [None]
        assert (row is not None) == ({"tensor", "pipeline"} <= set(possible))
        if row:
            check_comparison(text, network, system, count, row)


def check_comparison(text, network, system, inputs, row):
    figures = {
        "tensor": (
            lab3.tensor_parallel_latency(network, system, inputs),
            lab3.tensor_parallel_traffic(network, system, inputs),
        ),
        "pipeline": (
            lab3.pipeline_parallel_latency(network, system, inputs),
            lab3.pipeline_parallel_traffic(network, system, inputs),
        ),
    }
    is_tie = figures["tensor"][0] == figures["pipeline"][0]
    assert (row["faster"] == "neither") == is_tie
    fast_s, fast_bytes = figures.pop("tensor" if is_tie else row["faster"])
    ((slow_s, slow_bytes),) = figures.values()
    assert fast_s <= slow_s
    facts = {"faster": row["faster"], "times_as_fast": slow_s / fast_s}
    if slow_bytes:
        facts["times_the_traffic"] = Fraction(fast_bytes, slow_bytes)
    assert rows_with(text, inputs=inputs, **facts) == [row]
    assert ("times_the_traffic" in row) == (slow_bytes > 0)


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
