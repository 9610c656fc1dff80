"""Every number of an analysis against the tables of odd_machines.py, which are worked out by hand,
and the names in its dictionary.
"""

import re
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab3
from lab3 import ALL_TO_ALL, NETWORK, RING, SYSTEM, ConvLayer, System
from machines import TOPOLOGIES, questions
from odd_machines import (
    BOTH,
    EVERYTHING,
    MACHINES,
    ODD,
    ODD_ALL_TO_ALL,
    ONE_LAYER,
    SENDS,
    THE_LAB,
    rows,
    topologies,
)
from report import analysis, streaming
from report.analysis import Analysis
from report.question import LAB, Impossible, Question

as_dict = cache(analysis.as_dict)


def results(question, strategy):
    """Each result by topology and inputs."""
    found = as_dict(question)["strategies"][strategy]["results"]
    return {(it["topology"], it["inputs"]): it for it in found}


def is_part(expected, found):
    """Whether all that is expected is there."""
    return expected.items() <= found.items()


# ------------------------------------------------ layers and machine


def test_the_odd_machines_layers():
    found = as_dict(ODD)
    columns = [[*vars(row).values()][1:] for row in EVERYTHING.layers]
    names, *layers = zip(*columns, strict=True)
    assert found["layers"] == [
        {"layer": number, **dict(zip(names, layer, strict=True))}
        for number, layer in enumerate(layers, 1)
    ]


# ------------------------------------------------ the strategies

STEP = "layer work node_ops link_bytes traffic_bytes time_s"


@pytest.mark.parametrize(
    ("question", "strategy", "group"),
    [
        (ODD, "tensor", "tensor, ring"),
        (ODD_ALL_TO_ALL, "tensor", "tensor, all-to-all"),
        (ODD, "pipeline", "pipeline"),
        (ODD_ALL_TO_ALL, "pipeline", "pipeline"),
    ],
)
def test_the_odd_machines_steps(question, strategy, group):
    expected = [row for row in EVERYTHING.steps if row.group == group]
    assert as_dict(question)["strategies"][strategy]["steps"] == [
        {name: vars(row)[name] for name in STEP.split()} for row in expected
    ]


@pytest.mark.parametrize(("question", "row"), rows("results"))
def test_what_one_input_takes(question, row):
    names = ["compute_s", "communication_s", "interval_s", "idle_nodes", "bottleneck"]
    found = results(question, row.strategy)
    assert [*found] == [(where, it) for where in BOTH for it in sorted({1, question.inputs})]
    for (topology, _), result in found.items():
        if topology in topologies(row):
            assert is_part({name: vars(row)[name] for name in names}, result)


@pytest.mark.parametrize(("question", "row"), rows("latencies"))
def test_results(question, row):
    nodes, found = question.system.nodes, results(question, row.strategy)
    one_node_s = row.inputs * all_others(question, "one_node").one_s
    for topology in topologies(row):
        expected = {
            "latency_s": row.latency_s,
            "traffic_bytes": row.traffic_bytes,
            "speed_up": one_node_s / row.latency_s,
            "utilisation": one_node_s / nodes / row.latency_s,
        }
        assert is_part(expected, found[topology, row.inputs])


def all_others(question, name):
    """The row of another latency."""
    [found] = [row for asked, row in rows("others") if asked is question and row.name == name]
    return found


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
def test_the_pipeline_by_rows(machine):
    by_inputs = {row.inputs: row.latency_s for row in machine.streamed}
    assert as_dict(machine.question)["streamed_pipeline"] == [
        {"inputs": inputs, "latency_s": by_inputs[inputs]}
        for inputs in (1, machine.question.inputs)
    ]


def test_the_first_of_equally_long_stages_is_the_bottleneck():
    equal = Question((ConvLayer(2, 2, 1, 1, 1, 1),) * 2, System(2, link_bytes_per_s=10**12))
    assert results(equal, "pipeline")[ALL_TO_ALL, 32]["bottleneck"] == "node 1"


def test_a_result_by_its_topology_or_that_of_the_machine():
    it = Analysis(ODD)
    assert it.result("tensor", 8).latency_s == 8_892
    assert it.result("tensor", 8, ALL_TO_ALL).latency_s == Fraction("4821.6")
    assert it.result("pipeline", 1).latency_s == 3_357
    reason = "4 layers need 4 nodes or more, not 2"
    found = Analysis(LAB.on(nodes=2)).result("pipeline", 32)
    assert found == Impossible(f"Pipeline parallelism is not possible: {reason}")


# ------------------------------------------------ what would change it


@pytest.mark.parametrize(("question", "row"), rows("doubling"))
def test_what_doubling_buys(question, row):
    doubling = as_dict(question.on(topology=row.topology))["strategies"][row.group]
    found = {(it["twice"], it["inputs"]): it for it in doubling["doubling"]}
    each = found[row.twice, row.inputs]
    assert each["latency_s"] == row.after_s
    assert each["speed_up"] == row.before_s / row.after_s
    if question is ODD:
        cases = [(it.twice, it.inputs) for it in EVERYTHING.doubling if it.group == row.group]
        assert [*found] == cases


# ------------------------------------------------ other latencies

OTHERS = {
    "one_node": analysis.one_node_latency,
    "data_parallel": analysis.data_parallel_latency,
    "balanced_pipeline": analysis.balanced_pipeline_latency,
    "lower_bound": streaming.compute_bound,
}


@pytest.mark.parametrize(("question", "row"), rows("others"))
def test_other_latencies(question, row):
    of, one = OTHERS[row.name], {"inputs": 1, "latency_s": row.one_s}
    for topology in BOTH:
        asked = question.on(topology=topology)
        assert (of(*asked[:2]), of(*asked)) == (row.one_s, row.all_s)
        every = {"inputs": question.inputs, "latency_s": row.all_s}
        assert as_dict(asked)[row.name] == [one, every]
        # one input is counted once
        assert as_dict(asked._replace(inputs=1))[row.name] == [one]


def test_other_latencies_at_their_edges():
    # 9 rounds for 33 inputs on 4 nodes
    found_s = analysis.data_parallel_latency(NETWORK, SYSTEM, 33)
    assert found_s == Fraction("0.10919909376")
    assert Analysis(ODD).lower_bound_s == 3_804


# ------------------------------------------------ where the pipeline's time goes


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
def test_losses(machine):
    expected = {row.part: row.s for row in machine.losses}
    assert as_dict(machine.question)["losses"] == expected


def test_the_first_of_equally_long_stages_is_the_bottleneck_of_the_losses():
    # the first two layers alone: 31.5 s of computing; the send between them takes 30 s as well as
    # layer 2. 3 * 6.3; 3 * (15.75 - 6.3); 3 * (30 - 15.75); 0; 1.5 + 30; no other send
    found = as_dict(SENDS._replace(network=SENDS.network[:2]))["losses"]
    expected = "18.9", "28.35", "42.75", "0", "31.5", "0"
    assert [*found.values()] == [*map(Fraction, expected)]


# ------------------------------------------------ SRAM


FULLEST = [(question, row) for question, row in rows("sram") if row.free is not None]


@pytest.mark.parametrize(("question", "row"), FULLEST)
def test_the_fullest_nodes(question, row):
    for topology in BOTH:
        found = as_dict(question.on(topology=topology))["sram"][row.group]["fullest"]
        parts = (row.weights, row.input, row.output, row.total)
        assert tuple(found.values()) == (row.where, row.layer, *parts, row.free >= 0, row.free)


def test_the_first_of_equally_full_nodes_is_the_fullest():
    # each holds 4 bytes of weights, 2 of input, 2 of output
    equal = Question((ConvLayer(2, 2, 1, 1, 1, 1, 1),) * 2, System(2, sram_bytes=10))
    fullest = as_dict(equal)["sram"]["pipeline"]["fullest"]
    assert (fullest["where"], fullest["total_bytes"]) == ("node 1", 8)


def test_one_node_is_node_1():
    # whole tensors 10,512 + 720 + 540
    found = as_dict(ODD.on(nodes=1, sram_bytes=20_000))["sram"]
    for strategy in ("tensor", "data"):
        fullest = tuple(found[strategy]["fullest"].values())
        assert fullest == ("node 1", 2, 10_512, 720, 540, 11_772, True, 8_228)


@pytest.mark.parametrize("machine", [THE_LAB, EVERYTHING])
def test_totals(machine):
    found = as_dict(machine.question)["totals"]
    assert found == {row.name: row.bytes for row in machine.totals}


def test_what_fits_to_the_byte():
    for sram_bytes, expected in ((8_784, (True, 0)), (8_783, (False, -1))):
        found = as_dict(ODD.on(sram_bytes=sram_bytes))["sram"]["pipeline, streamed"]
        assert tuple(found["fullest"].values())[-2:] == expected


# ------------------------------------------------ the dictionary

# What programs rely on: the names of every record by its path, where * is any strategy.
OTHER_LATENCIES = (
    *("lower_bound", "streamed_pipeline"),
    *("one_node", "data_parallel", "balanced_pipeline"),
)
NAMES = {
    "": "version asked layers strategies lower_bound streamed_pipeline"
    " losses one_node data_parallel balanced_pipeline totals sram readings",
    ".asked": "network system inputs",
    ".asked.network[]": "filters in_channels fx fy x y element_bytes",
    ".asked.system": "nodes ops_per_s link_bytes_per_s sram_bytes topology",
    ".layers[]": "layer filters in_channels fx fy x y element_bytes out_x out_y weights macs ops"
    " weight_bytes input_bytes output_bytes",
    ".strategies": "tensor pipeline",
    ".strategies.*": "steps results doubling",
    ".strategies.*.steps[]": STEP,
    ".strategies.*.results[]": "topology inputs latency_s traffic_bytes compute_s communication_s"
    " interval_s bottleneck idle_nodes speed_up utilisation",
    ".strategies.*.doubling[]": "twice inputs latency_s speed_up",
    **{f".{name}[]": "inputs latency_s" for name in OTHER_LATENCIES},
    ".losses": "ideal_compute_s idle_nodes_s load_imbalance_s waiting_for_a_link_s fill_and_drain_s"
    " sending_s",
    ".totals": "weight_bytes excess_bytes output_bytes sram_bytes",
    ".sram": "tensor pipeline pipeline, streamed data",
    ".sram.*": "uses fullest",
    ".sram.*.uses[]": "where layer work weight_bytes input_bytes output_bytes",
    ".sram.*.fullest": "where layer weight_bytes input_bytes output_bytes total_bytes fits"
    " free_bytes",
    ".readings[]": "strategy inputs latency_s traffic_bytes changes",
}
MAY_BE_A_REASON = (".strategies.*", ".streamed_pipeline", ".losses", ".sram.*")
TEXTS = ("where", "work", "text", "topology", "bottleneck", "twice", "strategy")


def records(value, path=""):
    """Each record with its path."""
    if isinstance(value, dict):
        yield path, value
        for name, each in value.items():
            yield from records(each, f"{path}.{name}")
    for each in value if isinstance(value, list) else ():
        yield from records(each, f"{path}[]")


def is_of_its_type(name, value):
    """Whether such a thing may stand at this name."""
    if name in (*TEXTS, "reason"):
        return type(value) is str and value
    if name == "fits":
        return type(value) is bool
    if name in ("ops_per_s", "link_bytes_per_s"):
        return type(value) in (int, Fraction)
    if name.endswith(("_s", "speed_up", "utilisation")):
        return type(value) is Fraction
    return type(value) is int


QUESTIONS = {
    "the lab": LAB,
    "odd": ODD,
    "odd, all-to-all": ODD_ALL_TO_ALL,
    "sends": SENDS,
    "one layer": ONE_LAYER,
    "one node and one layer": ONE_LAYER.on(nodes=1),
    "two nodes on a ring": ONE_LAYER.on(nodes=2, topology=RING),
    "pipeline impossible": LAB.on(nodes=2),
    "tensor impossible": LAB.on(nodes=6),
    "nothing fits": LAB.on(sram_bytes=1),
    "one input": LAB._replace(inputs=1),
}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_each_name_is_there_and_is_one_kind_of_thing(question):
    paths = set()
    for place, found in records(as_dict(question)):
        path = re.sub(r"(strategies|sram)\.[a-z, ]+", r"\1.*", place)
        paths.add(path)
        if path in MAY_BE_A_REASON and "reason" in found:
            assert [*found] == ["reason"]
        else:
            assert {*found} == {*re.split("(?<!,) ", NAMES[path])}, place
        for name, value in found.items():
            assert type(value) in (dict, list) or is_of_its_type(name, value), place
    assert question is not LAB or paths == {*NAMES}


def test_what_is_asked_is_said():
    found = as_dict(ODD)
    assert found["version"] == 7
    layer = dict(zip(NAMES[".asked.network[]"].split(), (12, 6, 4, 3, 8, 5, 3), strict=True))
    assert found["asked"]["network"][1] == layer
    system = (6, Fraction(64, 3), Fraction(5, 2), 9_216, RING)
    assert tuple(found["asked"]["system"].values()) == system
    assert found["asked"]["inputs"] == 8


@pytest.mark.parametrize(
    ("nodes", "reason", "places"),
    [
        (
            6,
            "Tensor parallelism is not possible: layer 1's 128 filters cannot be split evenly over"
            " 6 nodes",
            ".strategies.tensor .sram.tensor",
        ),
        (
            *(2, "Pipeline parallelism is not possible: 4 layers need 4 nodes or more, not 2"),
            ".strategies.pipeline .streamed_pipeline .losses"
            " .sram.pipeline .sram.pipeline, streamed",
        ),
    ],
)
def test_what_is_not_possible_has_its_reason_at_each_place(nodes, reason, places):
    found = records(as_dict(LAB.on(nodes=nodes)))
    expected = {*re.split("(?<!,) ", places)}
    assert {place for place, record in found if record.get("reason") == reason} == expected


def test_what_is_not_possible_is_refused():
    with pytest.raises(ValueError, match=r"evenly over 3 nodes.* 4 layers need 4 nodes"):
        analysis.as_dict(LAB.on(nodes=3))


# ------------------------------------------------ sums on drawn questions


@given(is_lab=st.booleans(), topology=TOPOLOGIES, data=st.data())
def test_parts_of_the_pipelines_latency_add_up_to_it(is_lab, topology, data):
    question = data.draw(questions(is_lab, topology))
    found = as_dict(question)["losses"]
    if "reason" not in found:
        assert min(found.values()) >= 0
        assert sum(found.values()) == lab3.pipeline_parallel_latency(*question)


def test_parts_of_the_pipelines_latency_for_one_input_on_idle_nodes():
    found = as_dict(LAB.on(nodes=8)._replace(inputs=1))["losses"]
    # 12.13323264 / 8, the same again on 4 nodes, 4.62422016 - 3.03330816; without layer 2; sends
    expected = "1.51665408", "1.51665408", "1.590912", "0", "7.50901248", "0.30208"
    assert [*found.values()] == [Fraction(each) / 1000 for each in expected]


def test_weights_that_fit_leave_room():
    assert as_dict(LAB.on(sram_bytes=10**6))["totals"]["excess_bytes"] == -108_352
