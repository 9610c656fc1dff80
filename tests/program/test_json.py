"""report(), and --json, which prints it: each figure is what its public function returns."""

import json
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import lab3
from lab3 import NETWORK, SYSTEM, ConvLayer, System
from machines import cases_of_both, pipeline_parallel_cases, tensor_parallel_cases
from program import output

LATENCY = {
    "tensor": lab3.tensor_parallel_latency,
    "pipeline": lab3.pipeline_parallel_latency,
}
TRAFFIC = {
    "tensor": lab3.tensor_parallel_traffic,
    "pipeline": lab3.pipeline_parallel_traffic,
}
FIGURES = ["compute_s", "communication_s", "interval_s", "bottleneck", "idle_nodes", "latency_s"]
FIGURES += ["traffic_bytes", "speed_up", "utilisation"]
KEYS = ["topology", "inputs", "strategy", "reason"]
SLOW_LINKS = SYSTEM._replace(link_bytes_per_s=10**6)
ONE_LAYER = [ConvLayer(12, 2, 2, 3, 5, 4)]

# Both strategies, or one of them, on up to 12 nodes; the examples make sure of what matters.
CASES = st.one_of(cases_of_both(), tensor_parallel_cases(), pipeline_parallel_cases())


def on_many_cases(test):
    examples = [
        (NETWORK, SYSTEM),
        (NETWORK, SYSTEM._replace(nodes=2)),  # no pipeline
        (NETWORK, SYSTEM._replace(nodes=9, topology="ring")),  # no tensor parallelism
        (NETWORK, SLOW_LINKS._replace(nodes=16, topology="ring")),  # a send is the bottleneck
        (ONE_LAYER, SYSTEM._replace(nodes=12)),
        (ONE_LAYER, SYSTEM._replace(nodes=1, topology="ring", sram_bytes=1)),
    ]
    test = given(case=CASES, inputs=st.integers(1, 10**6))(test)
    for case in examples:
        test = example(case=case, inputs=32)(test)
    return test


def outcome(function, *arguments):
    """What it returns, or None and why it refuses."""
    try:
        return function(*arguments), None
    except ValueError as error:
        return None, str(error)


# ------------------------------------------------ report()


@on_many_cases
def test_results(case, inputs):
    network, system = case
    rows = lab3.report(network, system, inputs)["results"]
    keys = [
        (topology, count, strategy)
        for topology in ("all-to-all", "ring")
        for count in sorted({1, inputs})
        for strategy in ("tensor", "pipeline")
    ]
    assert [(row["topology"], row["inputs"], row["strategy"]) for row in rows] == keys
    own = [row for row in rows if row["topology"] == system.topology]
    assert lab3.results(network, system, inputs) == own
    for row in rows:
        machine = system._replace(topology=row["topology"])
        check_result(row, network, machine)


def check_result(row, network, system):
    strategy, inputs = row["strategy"], row["inputs"]
    latency_s, reason = outcome(LATENCY[strategy], network, system, inputs)
    traffic_bytes, _ = outcome(TRAFFIC[strategy], network, system, inputs)
    assert (row["latency_s"], row["traffic_bytes"], row["reason"]) == (
        latency_s,
        traffic_bytes,
        reason,
    )
    if reason:
        assert set(row) == {*KEYS, "latency_s", "traffic_bytes"}
        return
    assert set(row) == {*KEYS, *FIGURES}
    compute_s = sum(Fraction(layer.ops, system.ops_per_s) for layer in network)
    assert row["speed_up"] == inputs * compute_s / latency_s
    assert row["utilisation"] == row["speed_up"] / system.nodes
    if strategy == "tensor":
        compute_s /= system.nodes
    assert row["compute_s"] == compute_s
    one_input_s = LATENCY[strategy](network, system)
    assert row["compute_s"] + row["communication_s"] == one_input_s
    assert row["interval_s"] == LATENCY[strategy](network, system, 2) - one_input_s
    assert row["idle_nodes"] == (system.nodes - len(network) if strategy == "pipeline" else 0)
    if strategy == "pipeline":
        check_bottleneck(row, network, system)
    else:
        assert not set(row["bottleneck"]) & set("0123456789")  # no step of its own


def check_bottleneck(row, network, system):
    layer = network[int(row["bottleneck"].split("layer ")[1]) - 1]
    if "compute" in row["bottleneck"]:
        assert Fraction(layer.ops, system.ops_per_s) == row["interval_s"]
    else:
        assert Fraction(layer.output_bytes, system.link_bytes_per_s) == row["interval_s"]
        assert "send" in row["bottleneck"] and layer is not network[-1]


@on_many_cases
def test_steps(case, inputs):
    network, system = case
    all_steps = lab3.report(network, system, inputs)["steps"]
    possible = [name for name in LATENCY if outcome(LATENCY[name], network, system)[0]]
    assert list(all_steps) == possible
    for strategy, steps in all_steps.items():
        assert sum(step["duration_s"] for step in steps) == LATENCY[strategy](network, system)
        assert sum(step["traffic_bytes"] for step in steps) == TRAFFIC[strategy](network, system)
        for step in steps:
            assert step["duration_s"] == (
                Fraction(step["node_ops"], system.ops_per_s)
                + Fraction(step["link_bytes"], system.link_bytes_per_s)
            )
            computes = step["work"] == "compute"
            assert step["link_bytes" if computes else "node_ops"] == 0
        computed = [step["layer"] for step in steps if step["work"] == "compute"]
        assert computed == list(range(1, len(network) + 1))


@on_many_cases
def test_the_question_and_its_layers(case, inputs):
    network, system = case
    report = lab3.report(network, system, inputs)
    assert report["inputs"] == inputs
    assert report["system"] == system._asdict()
    assert [layer["layer"] for layer in report["layers"]] == list(range(1, len(network) + 1))
    for row, layer in zip(report["layers"], network, strict=True):
        names = ["out_x", "out_y", "macs", "ops", "weight_bytes", "input_bytes", "output_bytes"]
        figures = {name: getattr(layer, name) for name in names}
        assert row == {"layer": row["layer"], **layer._asdict(), **figures}


@on_many_cases
def test_sram(case, inputs):
    network, system = case
    sram = lab3.report(network, system, inputs)["sram"]
    names = ["tensor", "pipeline", "streamed", "data"]
    uses = {name: outcome(lab3.sram_uses, name, network, system)[0] for name in names}
    assert set(sram) == {name for name in names if uses[name]}
    for name, rows in sram.items():
        for row, use in zip(rows, uses[name], strict=True):
            parts = use.weight_bytes + use.input_bytes + use.output_bytes
            more = {"total_bytes": parts, "free_bytes": system.sram_bytes - parts}
            assert row == {**use._asdict(), **more}


def leaves(value):
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from leaves(part)
    else:
        yield value


@on_many_cases
def test_no_figure_is_a_float(case, inputs):
    kinds = {type(value) for value in leaves(lab3.report(*case, inputs))}
    assert kinds <= {int, Fraction, str, type(None)}


def test_the_lab():
    report = lab3.report(NETWORK, SYSTEM, 32)
    by_key = {(row["topology"], row["inputs"], row["strategy"]): row for row in report["results"]}
    tensor, pipeline = (by_key["all-to-all", 32, name] for name in ("tensor", "pipeline"))
    assert (tensor["latency_s"], tensor["traffic_bytes"]) == (
        Fraction("0.10007232512"),
        61_538_304,
    )
    assert (pipeline["latency_s"], pipeline["traffic_bytes"]) == (
        Fraction("0.1557861376"),
        19_333_120,
    )
    assert tensor["communication_s"] == Fraction("0.000093952")
    assert pipeline["communication_s"] == Fraction("0.00030208")
    assert pipeline["bottleneck"] == "compute of layer 2"
    ring = by_key["ring", 1, "tensor"]
    assert (ring["latency_s"], ring["traffic_bytes"]) == (Fraction("0.00331516416"), 2_033_664)
    assert max(use["total_bytes"] for use in report["sram"]["streamed"]) == 462_336
    assert min(use["free_bytes"] for use in report["sram"]["tensor"]) == 20_800
    assert report["sram"]["pipeline"][1]["free_bytes"] == -201_728


# ------------------------------------------------ --json


def parse(text):
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def as_json(exact):
    """Ints, text and nothing as they are, a Fraction as the nearest float."""
    if isinstance(exact, dict):
        return {name: as_json(value) for name, value in exact.items()}
    if isinstance(exact, list):
        return [as_json(value) for value in exact]
    return float(exact) if isinstance(exact, Fraction) else exact


def check_types(printed, exact):
    """An int must not become 3.0, which is equal to it."""
    if isinstance(exact, dict | list):
        names = exact if isinstance(exact, dict) else range(len(exact))
        for name in names:
            check_types(printed[name], exact[name])
    else:
        assert isinstance(printed, type(exact) if not isinstance(exact, Fraction) else float)


def check_json(arguments, network, system, inputs):
    text = output("--json", *arguments)
    report = lab3.report(network, system, inputs)
    assert parse(text) == as_json(report)
    check_types(parse(text), report)
    assert text.isascii()


@pytest.mark.parametrize(
    ("line", "system"),
    [
        ("", {}),
        ("--topology ring", {"topology": "ring"}),
        ("--nodes 2", {"nodes": 2}),
        ("--nodes 5", {"nodes": 5}),
        ("--sram-kib 400", {"sram_bytes": 409_600}),
        ("--gops 3 --link-gbs 7", {"ops_per_s": 3 * 10**9, "link_bytes_per_s": 7 * 10**9}),
    ],
)
def test_json_is_the_report(line, system):
    check_json(line.split(), list(NETWORK), SYSTEM._replace(**system), 32)


SIZES = st.integers(1, 9)


@given(st.integers(1, 64), st.integers(1, 10**5), st.integers(1, 10**5), SIZES, SIZES, SIZES)
def test_json_of_any_question(nodes, gops, link_gbs, inputs, filter_size, more):
    layer = ConvLayer(2 * nodes, 3, filter_size, 1, filter_size + more, more)
    system = System(nodes, gops * 10**9, link_gbs * 10**9)
    options = {"--nodes": nodes, "--gops": gops, "--link-gbs": link_gbs, "--inputs": inputs}
    arguments = [str(word) for option in options.items() for word in option]
    check_json([*arguments, "--layer", ",".join(map(str, layer[:6]))], [layer], system, inputs)


def test_what_is_not_possible_is_null_with_its_reason():
    for nodes, missing in ((2, "pipeline"), (5, "tensor")):
        report = parse(output("--json", "--nodes", str(nodes)))
        assert missing not in report["steps"] and missing not in report["sram"]
        for row in report["results"]:
            if row["strategy"] == missing:
                assert row["latency_s"] is None and row["traffic_bytes"] is None
                assert missing in row["reason"].lower() and str(nodes) in row["reason"]
            else:
                assert row["reason"] is None and None not in {row[name] for name in FIGURES}
