"""--json: valid, complete, and with the very digits that the answers print."""

import json
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from machines import cases_of_both

import lab3
from lab3 import NETWORK, SYSTEM, System


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
    assert figures["layers_sum"] == {
        "macs": 303_330_816,
        "ops": 606_661_632,
        "weight_bytes": 891_648,
    }
    assert figures["data_parallel"] == {"latency_s": Decimal("0.09706586112")}


@pytest.mark.parametrize(
    ("question", "strategy", "inputs", "latency_s", "traffic_bytes"),
    [
        ("q1", "tensor", 1, "0.00312726016", 1_923_072),
        ("q1", "pipeline", 1, "0.01243531264", 604_160),
        ("q2", "tensor", 32, "0.10007232512", 61_538_304),
        ("q2", "pipeline", 32, "0.1557861376", 19_333_120),
    ],
)
def test_results(question, strategy, inputs, latency_s, traffic_bytes):
    result = of()[question][f"{strategy}_parallel"]
    assert result["inputs"] == inputs and result["strategy"] == strategy
    assert result["latency_s"] == Decimal(latency_s)
    assert result["traffic_bytes"] == traffic_bytes
    # 606,661,632 ops an input at 50 a ns are 12,133,232.64 ns on one node
    speed_up = inputs * Decimal("0.01213323264") / Decimal(latency_s)
    assert abs(result["speed_up"] - speed_up) < Decimal("1e-15")
    assert abs(result["utilisation"] - speed_up / 4) < Decimal("1e-15")


def test_breakdown():
    tensor, pipeline = of()["tensor_parallel"], of()["pipeline_parallel"]
    assert tensor["stages"][1] == {
        "layer": 1,
        "work": "all-gather",
        "latency_s": Decimal("0.0000288"),
        "traffic_bytes": 691_200,
    }
    assert tensor["compute_s"] == Decimal("0.00303330816")
    assert tensor["communication_s"] == Decimal("0.000093952")
    assert tensor["latency_s"] == Decimal("0.00312726016")
    assert tensor["traffic_bytes"] == 1_923_072
    assert len(pipeline["stages"]) == 7
    assert pipeline["compute_s"] == Decimal("0.01213323264")
    assert pipeline["communication_s"] == Decimal("0.00030208")
    assert pipeline["slowest_stage_s"] == Decimal("0.00462422016")


def test_sram():
    sram = of()["sram"]
    assert {name: len(uses) for name, uses in sram.items()} == {
        "tensor_parallel": 5,
        "pipeline_parallel": 4,
        "rows_streamed": 4,
        "data_parallel": 4,
    }
    assert sram["pipeline_parallel"][1] == {
        "when": "layer 2",
        "weight_bytes": 294_912,
        "input_bytes": 230_400,
        "output_bytes": 200_704,
        "total_bytes": 726_016,
        "spare_bytes": -201_728,
        "fits": False,
    }
    assert sram["rows_streamed"][1]["fits"] is True


def test_the_ring_stands_beside_all_to_all():
    topologies = of()["topologies"]
    assert list(topologies) == ["all-to-all", "ring"]
    ring = of(system=SYSTEM._replace(topology="ring"))
    for name, figures in topologies["ring"].items():
        assert figures == ring[name]
    assert ring["topologies"] == topologies
    assert ring["system"]["links"] == 4
    assert ring["tensor_parallel"]["communication_s"] == Decimal("0.000281856")


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
    figures = of(system=slow, inputs=10**400)
    assert figures["q2"]["tensor_parallel"]["inputs"] == 10**400
    assert figures["q2"]["tensor_parallel"]["latency_s"] > 10**800
    assert 0 < figures["tensor_parallel"]["communication_s"] < Decimal("1e-590")


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
