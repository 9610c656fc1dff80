"""The functions answer what cannot be modelled with ValueError: the name, the value, the limit."""

import re
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import lab3
import sram
from lab3 import NETWORK, SYSTEM, ConvLayer, Step, System

TENSOR = [lab3.tensor_parallel_latency, lab3.tensor_parallel_traffic]
PIPELINE = [lab3.pipeline_parallel_latency, lab3.pipeline_parallel_traffic]
OF_INPUTS = [*TENSOR, *PIPELINE, lab3.answers, lab3.check]
TENSOR += [lab3.tensor_parallel_stages, sram.tensor_parallel_sram]
PIPELINE += [lab3.pipeline_parallel_stages, sram.pipeline_parallel_sram]
PIPELINE += [sram.pipeline_streamed_sram]
EITHER = [partial(lab3.answers, inputs=1)]
ALL = [*TENSOR, *PIPELINE, *EITHER, lab3.check, sram.data_parallel_sram]

LAYER = ConvLayer(8, 3, 3, 3, 16, 16)
NO_COUNTS = [0, -1, 1.0, True, "1", np.int64(3), "9" * 10_000]
NO_RATES = [0, Fraction(-1, 3), 5e10, True, "1"]


def message(function, *arguments):
    with pytest.raises(ValueError) as caught:
        function(*arguments)
    text = str(caught.value)
    assert text.isascii() and text.isprintable() and len(text) < 250
    return text


def start_of(value):
    return ascii(value)[:25]


@pytest.mark.parametrize("inputs", NO_COUNTS, ids=start_of)
def test_inputs(inputs):
    stages = lab3.tensor_parallel_stages(NETWORK, SYSTEM)
    of_stages = [partial(lab3.latency, stages, SYSTEM), partial(lab3.traffic, stages)]
    for function in [*of_stages, *(partial(each, NETWORK, SYSTEM) for each in OF_INPUTS)]:
        text = message(function, inputs)
        assert "inputs" in text and start_of(inputs) in text


NO_NETWORKS = [(), [], None, "layers", {}, iter(NETWORK), (layer for layer in NETWORK)]
NO_NETWORKS += [NETWORK[0], [tuple(NETWORK[0])], [*NETWORK[:3], "x" * 10_000], [NETWORK]]


@pytest.mark.parametrize("network", NO_NETWORKS, ids=start_of)
def test_what_is_no_network(network):
    for function in ALL:
        assert "network" in message(function, network, SYSTEM)
    assert "item 4" in message(lab3.check, [*NETWORK[:3], "x"], SYSTEM)


@pytest.mark.parametrize(
    ("network", "parts"),
    [
        ([LAYER._replace(filters=0)], ["layer 1", "filters", "0"]),
        ([LAYER._replace(fx=True)], ["layer 1", "fx", "True"]),
        ([LAYER, LAYER._replace(element_bytes=-2)], ["layer 2", "element_bytes", "-2"]),
        ([LAYER, LAYER], ["layer 2", "layer 1", "8, 14, 14", "3, 16, 16"]),
        (
            [LAYER, LAYER._replace(in_channels=8, x=14, y=13)],
            ["layer 2", "8, 14, 14", "8, 14, 13", "stride", "padding", "pooling"],
        ),
        ([LAYER, LAYER._replace(in_channels=8, x=13, y=14)], ["8, 14, 14", "8, 13, 14"]),
        (
            [LAYER, ConvLayer(8, 8, 3, 3, 14, 14), LAYER],
            ["layer 3", "layer 2", "8, 12, 12", "3, 16, 16"],
        ),
        (
            [LAYER, ConvLayer(8, 8, 3, 3, 14, 14, element_bytes=1)],
            ["layer 2", "element_bytes", "8, 14, 14, 2", "8, 14, 14, 1"],
        ),
        ([LAYER._replace(fx=10**100)], ["layer 1", "fx", "16"]),
    ],
)
def test_networks(network, parts):
    for function in ALL:
        text = message(function, network, SYSTEM)
        assert [part for part in parts if part not in text] == []


def test_a_filter_that_exceeds_its_input():
    for fx, fy in ((5, 6), (3, 8), (5, 8)):
        text = message(lab3.answers, [ConvLayer(1, 2, fx, fy, 4, 7)], SYSTEM, 32)
        assert re.findall(r"\d+", text) == ["1", str(fx), str(fy), "4", "7"]


@pytest.mark.parametrize("system", [None, tuple(SYSTEM), NETWORK, System], ids=start_of)
def test_what_is_no_system(system):
    for function in ALL:
        assert "System" in message(function, NETWORK, system)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        *((name, NO_COUNTS) for name in ("nodes", "sram_bytes")),
        *((name, NO_RATES) for name in ("ops_per_s", "link_bytes_per_s")),
        ("topology", ["star", None, ["ring"], "Ring"]),
    ],
)
def test_systems(name, values):
    stages = lab3.tensor_parallel_stages(NETWORK, SYSTEM)
    of_stages = [partial(lab3.duration, stages[0]), partial(lab3.latency, stages)]
    for value in values:
        system = SYSTEM._replace(**{name: value})
        for function in [*of_stages, *(partial(each, NETWORK) for each in ALL)]:
            text = message(function, system)
            assert name in text and start_of(value) in text
            assert ("Fraction" in text) == (name.endswith("per_s"))


def test_a_float_is_told_what_to_write():
    text = message(lab3.check, NETWORK, System(ops_per_s=5e10))
    for example in text.split("such as ")[1].split(" or "):
        rate = eval(example, {"Fraction": Fraction})
        assert lab3.answers(NETWORK, System(ops_per_s=rate), 1)


# ------------------------------------------------ stages and steps

STEP = Step(1, "compute", node_ops=1)


NO_STAGES = [None, [], [[]], [[STEP], []], [STEP], [[tuple(STEP)]], [[STEP, None]]]
NO_STAGES += [iter([[STEP]]), [iter([STEP])], [[STEP], (step for step in [STEP])]]


@pytest.mark.parametrize("stages", NO_STAGES, ids=start_of)
def test_stages(stages):
    # what can be gone through only once would give a wrong number in silence
    for function in (lab3.traffic, partial(lab3.latency, system=SYSTEM)):
        assert "stage" in message(function, stages)
    steps = stages[-1] if isinstance(stages, list) and stages else stages
    assert "steps" in message(lab3.duration, steps, SYSTEM)


def test_which_stage_is_wrong():
    assert "stage 2: []" in message(lab3.traffic, [[STEP], []])


def test_stages_may_be_tuples():
    assert lab3.latency(((STEP,),), SYSTEM) == lab3.duration((STEP,), SYSTEM) == Fraction("2e-11")


# ------------------------------------------------ strategies

TENSOR_LACKS = ["tensor", "3 nodes", "128 filters", "layer 1"]
PIPELINE_LACKS = ["pipeline", "4 layers", "4 nodes", "3"]
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
