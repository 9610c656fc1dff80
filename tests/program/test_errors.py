"""The functions answer what cannot be modelled with ValueError: the name, the value, the limit."""

import re
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import lab3
from lab3 import NETWORK, SYSTEM, ConvLayer, System


def sram(strategy):
    return partial(lab3.sram_uses, strategy)


def with_inputs(function):
    return partial(function, inputs=1)


TENSOR = [lab3.tensor_parallel_latency, lab3.tensor_parallel_traffic]
TENSOR += [lab3.tensor_parallel_stages, sram("tensor")]
PIPELINE = [lab3.pipeline_parallel_latency, lab3.pipeline_parallel_traffic]
PIPELINE += [lab3.pipeline_parallel_stages, sram("pipeline"), sram("streamed")]
EITHER = [*map(with_inputs, (lab3.answers, lab3.results, lab3.report, lab3.explain))]
ALL = [*TENSOR, *PIPELINE, *EITHER, sram("data")]
OF_INPUTS = [*TENSOR[:2], *PIPELINE[:2], lab3.answers, lab3.results, lab3.report, lab3.explain]

LAYER = ConvLayer(8, 3, 3, 3, 16, 16)
NO_INTS = [0, -1, 1.0, 1e8, float("nan"), float("inf"), "1", None, True, Fraction(2), Decimal(2)]
NO_INTS += [np.int64(3), np.float64(3), [1], (1,), 1j, b"1", "9" * 10_000, -(10**100)]


def message(function, *arguments):
    with pytest.raises(ValueError) as caught:
        function(*arguments)
    text = str(caught.value)
    assert text.isascii() and text.isprintable() and len(text) < 250
    return text


def start_of(value):
    return ascii(value)[:25]


@pytest.mark.parametrize("inputs", NO_INTS, ids=start_of)
def test_inputs(inputs):
    stages = lab3.tensor_parallel_stages(NETWORK, SYSTEM)
    of_stages = [partial(lab3.latency, stages, SYSTEM), partial(lab3.traffic, stages)]
    for function in [*of_stages, *(partial(each, NETWORK, SYSTEM) for each in OF_INPUTS)]:
        text = message(function, inputs)
        assert "inputs" in text and start_of(inputs) in text


def test_a_float_is_told_what_to_write():
    for name in ("ops_per_s", "link_bytes_per_s"):
        text = message(lab3.tensor_parallel_latency, NETWORK, System(**{name: 5e10}))
        examples = text.split("such as ")[1].split(",")[0].split(" or ")
        assert len(examples) == 2
        for example in examples:
            rate = eval(example, {"Fraction": Fraction})
            assert lab3.answers(NETWORK, System(**{name: rate}), 1)


def test_what_may_be_a_fraction():
    for name in System._fields[:4]:
        text = message(lab3.answers, NETWORK, SYSTEM._replace(**{name: None}), 32)
        assert ("Fraction" in text) == (name in ("ops_per_s", "link_bytes_per_s"))


NO_NETWORKS = [(), [], None, 5, "layers", {}, iter(NETWORK), (layer for layer in NETWORK), SYSTEM]
NO_NETWORKS += [NETWORK[0], [tuple(NETWORK[0])], [None], [*NETWORK[:3], "x" * 10_000], [NETWORK]]


@pytest.mark.parametrize("network", NO_NETWORKS, ids=start_of)
def test_what_is_no_network(network):
    for function in ALL:
        text = message(function, network, SYSTEM)
        assert "ConvLayer" in text
        assert "network" in text or "layer 1" in text or "layer 4" in text


@pytest.mark.parametrize(
    ("network", "parts"),
    [
        ([LAYER._replace(filters=0)], ["layer 1", "filters", "0"]),
        ([LAYER._replace(y=16.0)], ["layer 1", "y", "16.0", "16"]),
        ([LAYER._replace(fx=True)], ["layer 1", "fx", "True"]),
        ([LAYER._replace(x=np.int64(16))], ["layer 1", "x", "16"]),
        ([LAYER, LAYER._replace(element_bytes=-2)], ["layer 2", "element_bytes", "-2"]),
        ([LAYER._replace(x=2)], ["layer 1", "fx", "3", "2"]),
        ([LAYER._replace(fy=17)], ["layer 1", "fy", "17", "16"]),
        ([LAYER, LAYER], ["layer 2", "layer 1", "8, 14, 14", "3, 16, 16"]),
        (
            [LAYER, LAYER._replace(in_channels=8, x=14, y=13)],
            ["layer 2", "layer 1", "8, 14, 14", "8, 14, 13"],
        ),
        (
            [LAYER, LAYER._replace(in_channels=8, x=13, y=14)],
            ["layer 2", "layer 1", "8, 14, 14", "8, 13, 14"],
        ),
        (
            [LAYER, ConvLayer(8, 8, 3, 3, 14, 14), LAYER],
            ["layer 3", "layer 2", "8, 12, 12", "3, 16, 16"],
        ),
        (
            [LAYER, ConvLayer(8, 8, 3, 3, 14, 14, element_bytes=1)],
            ["layer 2", "element_bytes", "8, 14, 14, 2", "8, 14, 14, 1"],
        ),
        ([LAYER._replace(filters="8")], ["layer 1", "filters", "'8'"]),
        ([LAYER._replace(fx=None)], ["layer 1", "fx", "None"]),
        ([LAYER._replace(fx=10**100)], ["layer 1", "fx", "16"]),
    ],
    ids=lambda value: "" if isinstance(value[0], ConvLayer) else " ".join(value[:3]),
)
def test_networks(network, parts):
    for function in ALL:
        text = message(function, network, SYSTEM)
        assert [part for part in parts if part not in text] == []


def test_a_filter_that_exceeds_its_input():
    for fx, fy in ((5, 6), (3, 8), (5, 8)):
        text = message(lab3.answers, [ConvLayer(1, 2, fx, fy, 4, 7)], SYSTEM, 32)
        assert re.findall(r"\d+", text) == ["1", str(fx), str(fy), "4", "7"]


NO_SYSTEMS = [None, "system", 4, tuple(SYSTEM), NETWORK, {}, System]


@pytest.mark.parametrize("system", NO_SYSTEMS, ids=start_of)
def test_what_is_no_system(system):
    for function in ALL:
        assert "System" in message(function, NETWORK, system)


NO_RATES = [value for value in NO_INTS if not isinstance(value, Fraction)]
NO_RATES += [Fraction(0), Fraction(-1, 3)]
NO_TOPOLOGIES = ["star", None, 1, True, ["ring"], "Ring", {}]
BAD_FIELDS = [
    *(("nodes", value) for value in NO_INTS),
    *(("sram_bytes", value) for value in NO_INTS),
    *(("ops_per_s", value) for value in NO_RATES),
    *(("link_bytes_per_s", value) for value in NO_RATES),
    *(("topology", value) for value in NO_TOPOLOGIES),
]


@pytest.mark.parametrize("name", System._fields)
def test_systems(name):
    for bad, value in BAD_FIELDS:
        if bad == name:
            for function in ALL:
                text = message(function, NETWORK, SYSTEM._replace(**{name: value}))
                assert name in text and start_of(value) in text


# ------------------------------------------------ strategies


TENSOR_LACKS = ["tensor", "3 nodes", "128 filters", "layer 1"]
PIPELINE_LACKS = ["pipeline", "4 layers", "3"]
TWELVE_FILTERS = [LAYER, ConvLayer(12, 8, 3, 3, 14, 14)]


@pytest.mark.parametrize(
    ("functions", "network", "nodes", "parts"),
    [
        (TENSOR, NETWORK, 3, TENSOR_LACKS),
        (TENSOR, TWELVE_FILTERS, 8, ["tensor", "8 nodes", "12 filters", "layer 2"]),
        (PIPELINE, NETWORK, 3, PIPELINE_LACKS),
        (EITHER, NETWORK, 3, TENSOR_LACKS + PIPELINE_LACKS),
    ],
)
def test_what_a_strategy_cannot_do(functions, network, nodes, parts):
    for function in functions:
        text = message(function, network, System(nodes=nodes)).lower()
        assert [part for part in parts if part not in text] == []


@pytest.mark.parametrize("strategies", [TENSOR, PIPELINE])
def test_each_strategy_has_its_own_limit(strategies):
    # 3 nodes divide no 128 filters, yet hold 3 layers; 1 node divides all, yet holds 1 layer.
    network, nodes = (NETWORK, 1) if strategies is TENSOR else (NETWORK[:3], 3)
    for function in [*strategies, *EITHER]:
        assert function(network, System(nodes=nodes)) is not None


# ------------------------------------------------ the rest


@pytest.mark.parametrize("collective", [lab3.all_gather, lab3.gather])
def test_collectives(collective):
    for shard_bytes in NO_INTS:
        assert "shard_bytes" in message(collective, shard_bytes, SYSTEM)
    for name, value in BAD_FIELDS:
        assert name in message(collective, 1, SYSTEM._replace(**{name: value}))
    for system in NO_SYSTEMS:
        assert "System" in message(collective, 1, system)


@pytest.mark.parametrize("strategy", ["", "Tensor", None, 1, ["tensor"], "x" * 1000])
def test_sram_of_an_unknown_strategy(strategy):
    text = message(lab3.sram_uses, strategy, NETWORK, SYSTEM)
    assert start_of(strategy) in text
    assert all(name in text for name in ("tensor", "pipeline", "streamed", "data"))
