"""What cannot be modelled raises ValueError with one sentence that names value and limit."""

from fractions import Fraction

import pytest

import lab3
from lab3 import NETWORK, SYSTEM, ConvLayer, System

LATENCIES_AND_TRAFFICS = [
    lab3.tensor_parallel_latency,
    lab3.tensor_parallel_traffic,
    lab3.pipeline_parallel_latency,
    lab3.pipeline_parallel_traffic,
]
YARDSTICKS = [lab3.single_node_latency, lab3.data_parallel_latency]
TENSOR = [*LATENCIES_AND_TRAFFICS[:2], lab3.tensor_parallel_stages, lab3.tensor_parallel_sram]
PIPELINE = [*LATENCIES_AND_TRAFFICS[2:], lab3.pipeline_parallel_stages, lab3.pipeline_parallel_sram]
ALL = [*TENSOR, *PIPELINE, *YARDSTICKS, lab3.data_parallel_sram]
LAYER = ConvLayer(8, 3, 3, 3, 16, 16)


def message(function, *arguments):
    with pytest.raises(ValueError) as caught:
        function(*arguments)
    return str(caught.value)


@pytest.mark.parametrize("function", [*LATENCIES_AND_TRAFFICS, *YARDSTICKS])
@pytest.mark.parametrize("inputs", [0, -1, 1.0, 1.5, "1", None, True, Fraction(2)])
def test_inputs(function, inputs):
    expected = f"inputs: {inputs!a} is not an int above 0"
    assert message(function, NETWORK, SYSTEM, inputs) == expected


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize(
    ("network", "expected"),
    [
        ((), "network: it is empty, and needs at least one layer"),
        ([LAYER._replace(filters=0)], "layer 1 filters: 0 is not an int above 0"),
        ([LAYER._replace(y=16.0)], "layer 1 y: 16.0 is not an int above 0"),
        ([LAYER._replace(fx=True)], "layer 1 fx: True is not an int above 0"),
        (
            [LAYER, LAYER._replace(element_bytes=-2)],
            "layer 2 element_bytes: -2 is not an int above 0",
        ),
        (
            [LAYER._replace(x=2)],
            "layer 1: a filter of fx, fy = 3, 3 is larger than its input of x, y = 2, 16",
        ),
        (
            [LAYER._replace(fy=17)],
            "layer 1: a filter of fx, fy = 3, 17 is larger than its input of x, y = 16, 16",
        ),
        (
            [LAYER, LAYER],
            "layer 2: in_channels, x, y = 3, 16, 16 do not chain, as layer 1 gives 8, 14, 14",
        ),
        (
            [LAYER, LAYER._replace(in_channels=8, y=14)],
            "layer 2: in_channels, x, y = 8, 16, 14 do not chain, as layer 1 gives 8, 14, 14",
        ),
        (
            [LAYER, LAYER._replace(in_channels=8, x=14, y=13)],
            "layer 2: in_channels, x, y = 8, 14, 13 do not chain, as layer 1 gives 8, 14, 14",
        ),
        (
            [LAYER, ConvLayer(8, 8, 3, 3, 14, 14), LAYER],
            "layer 3: in_channels, x, y = 3, 16, 16 do not chain, as layer 2 gives 8, 12, 12",
        ),
        (
            [LAYER._replace(fx=10**40)],
            "layer 1: a filter of fx, fy = 1.00000e+40, 3 is larger than its input of"
            " x, y = 16, 16",
        ),
    ],
)
def test_network(function, network, expected):
    assert message(function, network, SYSTEM) == expected


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"nodes": 0}, "nodes: 0 is not an int above 0"),
        ({"nodes": 4.0}, "nodes: 4.0 is not an int above 0"),
        ({"sram_bytes": 0}, "sram_bytes: 0 is not an int above 0"),
        ({"ops_per_s": 0}, "ops_per_s: 0 is not an int or a Fraction above 0"),
        ({"ops_per_s": 5e10}, "ops_per_s: 50000000000.0 is not an int or a Fraction above 0"),
        (
            {"link_bytes_per_s": Fraction(-1, 3)},
            "link_bytes_per_s: Fraction(-1, 3) is not an int or a Fraction above 0",
        ),
        ({"link_bytes_per_s": "2"}, "link_bytes_per_s: '2' is not an int or a Fraction above 0"),
        ({"link_bytes_per_s": True}, "link_bytes_per_s: True is not an int or a Fraction above 0"),
        ({"topology": "star"}, "topology: 'star' is not all-to-all or ring"),
        ({"topology": None}, "topology: None is not all-to-all or ring"),
    ],
)
def test_system(function, change, expected):
    assert message(function, NETWORK, SYSTEM._replace(**change)) == expected


@pytest.mark.parametrize("function", TENSOR)
def test_filters_that_do_not_divide(function):
    assert message(function, NETWORK, System(nodes=6)) == (
        "nodes: 128 filters of layer 1 do not divide evenly over 6 nodes,"
        " as tensor parallelism needs"
    )
    network = [LAYER, ConvLayer(12, 8, 3, 3, 14, 14)]
    assert message(function, network, System(nodes=8)) == (
        "nodes: 12 filters of layer 2 do not divide evenly over 8 nodes,"
        " as tensor parallelism needs"
    )


@pytest.mark.parametrize("function", PIPELINE)
def test_more_layers_than_nodes(function):
    assert message(function, NETWORK, System(nodes=3)) == (
        "nodes: 4 layers need 4 nodes or more for pipeline parallelism, not 3"
    )


@pytest.mark.parametrize("strategies", [TENSOR, PIPELINE])
def test_each_strategy_has_its_own_limit(strategies):
    # 3 nodes divide no 128 filters, yet hold 3 layers; 1 node divides all, yet holds 1 layer.
    network, nodes = (NETWORK, 1) if strategies is TENSOR else (NETWORK[:3], 3)
    for function in strategies:
        assert function(network, System(nodes=nodes)) is not None


@pytest.mark.parametrize("collective", [lab3.all_gather, lab3.gather])
def test_collectives(collective):
    assert message(collective, 0, SYSTEM) == "shard_bytes: 0 is not an int above 0"
    assert message(collective, 1, System(topology="star")).startswith("topology: 'star'")


def test_a_long_value_is_cut_short():
    text = message(lab3.tensor_parallel_latency, NETWORK, SYSTEM, "9" * 10_000)
    assert text == f"inputs: '{'9' * 39}... (10002 characters) is not an int above 0"
    text = message(lab3.tensor_parallel_latency, NETWORK, SYSTEM, "9" * 58)
    assert text == f"inputs: '{'9' * 58}' is not an int above 0"
    text = message(lab3.tensor_parallel_latency, NETWORK, SYSTEM, "9" * 59)
    assert text == f"inputs: '{'9' * 39}... (61 characters) is not an int above 0"
    text = message(lab3.tensor_parallel_latency, NETWORK, SYSTEM, -(10**30))
    assert text == f"inputs: -{10**30} is not an int above 0"
    text = message(lab3.tensor_parallel_latency, NETWORK, SYSTEM, -(10**30) - 1)
    assert text == "inputs: -1.00000e+30 is not an int above 0"
    assert "-1.00000e+9000" in message(lab3.tensor_parallel_latency, NETWORK, SYSTEM, -(10**9000))
    nodes = message(lab3.tensor_parallel_latency, NETWORK, System(nodes=10**9000))
    assert "do not divide evenly over 1.00000e+9000 nodes" in nodes
