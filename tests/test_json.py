"""--json: valid, complete, and with the very digits that the answers print."""

import json
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab3
from lab3 import NETWORK, SYSTEM, ConvLayer, System
from machines import cases_of_both

RING = SYSTEM._replace(topology="ring")


def parse(text):
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_float=Decimal, parse_constant=refuse)


def of(network=NETWORK, system=SYSTEM, inputs=32):
    return parse(lab3.to_json(lab3.report(network, system, inputs)))


def test_the_lab():
    figures = of()
    assert figures["system"] == {
        "nodes": 4,
        "ops_per_s": 50_000_000_000,
        "link_bytes_per_s": 2_000_000_000,
        "sram_bytes": 524_288,
        "topology": "all-to-all",
        "links": 12,
    }
    assert figures["layers"][1] == {
        "layer": 2,
        "filters": 128,
        "in_channels": 128,
        "fx": 3,
        "fy": 3,
        "x": 30,
        "y": 30,
        "element_bytes": 2,
        "out_x": 28,
        "out_y": 28,
        "macs": 115_605_504,
        "ops": 231_211_008,
        "weight_bytes": 294_912,
        "input_bytes": 230_400,
        "output_bytes": 200_704,
    }
    assert len(figures["layers"]) == 4
    assert figures["data_parallel_latency_s"] == Decimal("0.09706586112")


@pytest.mark.parametrize(
    ("topology", "inputs", "strategy", "communication_s", "latency_s", "traffic_bytes"),
    [
        ("all-to-all", 1, "tensor", "0.000093952", "0.00312726016", 1_923_072),
        ("all-to-all", 1, "pipeline", "0.00030208", "0.01243531264", 604_160),
        ("all-to-all", 32, "tensor", "0.000093952", "0.10007232512", 61_538_304),
        ("all-to-all", 32, "pipeline", "0.00030208", "0.1557861376", 19_333_120),
        ("ring", 1, "tensor", "0.000281856", "0.00331516416", 2_033_664),
        ("ring", 1, "pipeline", "0.00030208", "0.01243531264", 604_160),
        ("ring", 32, "tensor", "0.000281856", "0.10608525312", 65_077_248),
        ("ring", 32, "pipeline", "0.00030208", "0.1557861376", 19_333_120),
    ],
)
@pytest.mark.parametrize("system", [SYSTEM, RING])
def test_results(system, topology, inputs, strategy, communication_s, latency_s, traffic_bytes):
    results = of(system=system)["results"]
    assert len(results) == 8
    (row,) = [
        row
        for row in results
        if (row["topology"], row["inputs"], row["strategy"]) == (topology, inputs, strategy)
    ]
    assert row["one_input_communication_s"] == Decimal(communication_s)
    assert row["latency_s"] == Decimal(latency_s)
    assert row["traffic_bytes"] == traffic_bytes
    tensor = strategy == "tensor"
    assert row["one_input_compute_s"] == Decimal("0.00303330816" if tensor else "0.01213323264")
    assert row["slowest_stage_s"] == Decimal("0.00115605504" if tensor else "0.00462422016")
    # 606,661,632 ops an input at 50 a ns are 12,133,232.64 ns on one node
    speed_up = inputs * Decimal("0.01213323264") / Decimal(latency_s)
    assert abs(row["speed_up"] - speed_up) < Decimal("1e-15")
    assert abs(row["utilisation"] - speed_up / 4) < Decimal("1e-15")


def test_communication_that_takes_longer_than_compute():
    # 8 and 32 ops at 8 a second on a node, outputs of 8 bytes at 1 a second on a link; tensor
    # parallelism computes on 4 nodes and moves shards of 2 bytes, twice
    network = [ConvLayer(4, 1, 1, 1, 1, 1), ConvLayer(4, 4, 1, 1, 1, 1)]
    system = System(ops_per_s=8, link_bytes_per_s=1)
    tensor, pipeline = of(network, system, 1)["results"][:2]
    assert (tensor["one_input_compute_s"], tensor["one_input_communication_s"]) == (
        Decimal("1.25"),
        4,
    )
    assert (pipeline["one_input_compute_s"], pipeline["one_input_communication_s"]) == (5, 8)


def test_stages():
    figures = of()
    assert figures["tensor_parallel_stages"][1] == {
        "layer": 1,
        "work": "all-gather",
        "latency_s": Decimal("0.0000288"),
        "traffic_bytes": 691_200,
    }
    assert figures["pipeline_parallel_stages"][2] == {
        "layer": 2,
        "work": "compute",
        "latency_s": Decimal("0.00462422016"),
        "traffic_bytes": 0,
    }
    assert len(figures["tensor_parallel_stages"]) == 8
    assert len(figures["pipeline_parallel_stages"]) == 7
    # the system's own topology
    assert of(system=RING)["tensor_parallel_stages"][1]["latency_s"] == Decimal("0.0000864")
    assert of(system=RING)["system"]["links"] == 4


def test_sram():
    sram = of()["sram"]
    assert [row["strategy"] for row in sram] == (
        ["tensor"] * 5 + ["pipeline"] * 4 + ["streamed"] * 4 + ["data"] * 4
    )
    assert sram[6] == {
        "strategy": "pipeline",
        "when": "layer 2",
        "weight_bytes": 294_912,
        "input_bytes": 230_400,
        "output_bytes": 200_704,
        "total_bytes": 726_016,
        "spare_bytes": -201_728,
        "fits": False,
    }
    assert sram[10]["total_bytes"] == 325_120 and sram[10]["fits"] is True


def numbers(value):
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from numbers(item)
    elif not isinstance(value, str):
        yield value


@given(cases_of_both(layers=3), st.integers(1, 10**9))
def test_every_number_is_the_reports(case, inputs):
    report = lab3.report(*case, inputs)
    parsed = parse(lab3.to_json(report))
    for exact, printed in zip(numbers(report), numbers(parsed), strict=True):
        if isinstance(exact, Fraction):
            # 17 digits: off by half a unit of the last at most
            assert abs(Fraction(printed) - exact) <= exact / (2 * 10**16)
        else:
            assert printed is exact or printed == exact


def test_numbers_beyond_any_float():
    slow = System(ops_per_s=Fraction(1, 10**400), link_bytes_per_s=10**600)
    row = of(system=slow, inputs=10**400)["results"][2]
    assert row["inputs"] == 10**400
    assert row["latency_s"] > 10**800
    assert 0 < row["one_input_communication_s"] < Decimal("1e-590")


def test_the_text_is_indented_by_two():
    lines = lab3.to_json({"a": [1, {"b": Fraction(1, 8)}], "c": True}).splitlines()
    assert lines == [
        "{",
        '  "a": [',
        "    1,",
        "    {",
        '      "b": 0.125',
        "    }",
        "  ],",
        '  "c": true',
        "}",
    ]
