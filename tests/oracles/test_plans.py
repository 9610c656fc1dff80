"""Plans against figures worked out by hand and against all plans there are; its command line."""

import itertools
import os
import re
import subprocess
import sys
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import lab3
import plans
from lab3 import (
    NETWORK,
    SYSTEM,
    ConvLayer,
    System,
    pipeline_parallel_latency,
    pipeline_parallel_stages,
    pipeline_parallel_traffic,
    sram_uses,
    tensor_parallel_latency,
    tensor_parallel_stages,
    tensor_parallel_traffic,
)
from machines import networks
from plans import (
    Group,
    balance,
    best_plans,
    comparison,
    doubled,
    faster_between,
    fastest_that_fits,
    parse_plan,
    plan_latency,
    plan_sram,
    plan_stages,
    plan_text,
    plan_traffic,
)

SCRIPT = Path(plans.__file__)
RING = SYSTEM._replace(topology="ring")
TENSOR, PIPELINE = parse_plan("1-4:4"), parse_plan("1,2,3,4")


def most_bytes(network, system, plan):
    return max(use.total_bytes for uses in plan_sram(network, system, plan) for use in uses)


# ------------------------------------------------ by hand

# Plan, latency of 32 inputs in ms, bytes, and the most that a node holds.
#
# 1-2:2,3-4:2   Each of two nodes does half of layer 1, 3,110,400 ops in 62.208 us, exchanges
#               115,200 bytes in 57.6 us, does half of layer 2 in 2,312.11008 us: 2,431.91808 us.
#               It sends 100,352 bytes to each of the next two in 50.176 us, 401,408 bytes in all.
#               They do half of layer 3 in 1,993.60512 us, exchange 86,528 bytes in 43.264 us, do
#               half of layer 4 in 1,698.69312 us, gather 73,728 bytes in 36.864 us: 3,772.42624 us.
#               6,254.52032 + 31 * 3,772.42624 = 123,199.73376 us
#               32 * (230,400 + 401,408 + 173,056 + 73,728) = 32 * 878,592 bytes
#               half of layer 3's and 4's weights, 294,912, input 200,704, half of layer 3's output,
#               86,528: 582,144 bytes
# 1-2,3:2,4     A node does layers 1 and 2, 237,431,808 ops in 4,748.63616 us, and sends all of
#               200,704 bytes to both of the next, 100.352 us, 401,408 bytes; they do half of layer
#               3 in 1,993.60512 us and send 86,528 bytes each, 43.264 us, 173,056 bytes; layer 4
#               takes 3,397.38624 us. 10,283.24352 + 31 * 4,748.63616 = 157,490.96448 us
#               32 * (401,408 + 173,056) bytes; layer 2: 301,824 + 230,400 + 200,704 = 732,928
# 1-4           606,661,632 ops in 12,133.23264 us, 32 times; 891,648 + 230,400 + 200,704 bytes
BEST = [
    ("1-4:4", "100.07232512", 61_538_304, 503_488),
    ("1-2:2,3-4:2", "123.19973376", 28_114_944, 582_144),
    ("1-2:2,3,4", "133.556736", 19_333_120, 668_672),
    ("1-2,3:2,4", "157.49096448", 18_382_848, 732_928),
    ("1-2,3,4", "159.5278336", 11_960_320, 732_928),
    ("1-2,3-4", "241.15607552", 6_422_528, 963_584),
    ("1-3,4", "283.03099904", 5_537_792, 1_027_840),
    ("1-4", "388.26344448", 0, 1_322_752),
]


@pytest.mark.parametrize(("text", "milliseconds", "traffic_bytes", "sram_bytes"), BEST)
def test_figures_of_the_labs_best_plans(text, milliseconds, traffic_bytes, sram_bytes):
    plan = parse_plan(text)
    assert plan_latency(NETWORK, SYSTEM, plan, 32) == Fraction(milliseconds) / 1000
    assert plan_traffic(NETWORK, SYSTEM, plan, 32) == traffic_bytes
    assert most_bytes(NETWORK, SYSTEM, plan) == sram_bytes


def test_the_labs_best_plans():
    assert [plan_text(plan) for plan in best_plans(NETWORK, SYSTEM, 32)] == [row[0] for row in BEST]
    assert len(list(all_plans(NETWORK, SYSTEM))) == 28
    # 1-3:2,4 beats pipeline parallelism with three nodes: half of layers 1, 2, 3 in 62.208 + 57.6
    # + 2,312.11008 + 50.176 + 1,993.60512 = 4,475.6992 us, 43.264 us to send, layer 4 as above:
    # 7,916.34944 + 31 * 4,475.6992 = 146,663.02464 us; 32 * (230,400 + 200,704 + 173,056) bytes
    beats = parse_plan("1-3:2,4")
    assert plan_latency(NETWORK, SYSTEM, beats, 32) == Fraction("0.14666302464")
    assert plan_traffic(NETWORK, SYSTEM, beats, 32) == 19_333_120


def test_of_the_labs_28_plans_one_fits():
    fitting = [
        plan for plan in all_plans(NETWORK, SYSTEM) if most_bytes(NETWORK, SYSTEM, plan) <= 524_288
    ]
    assert fitting == [TENSOR]
    for inputs in (1, 32, 10**6):
        assert fastest_that_fits(NETWORK, SYSTEM, inputs) == TENSOR
    assert fastest_that_fits(NETWORK, SYSTEM._replace(sram_bytes=503_488)) == TENSOR
    assert fastest_that_fits(NETWORK, SYSTEM._replace(sram_bytes=503_487)) is None


def test_sram_layer_by_layer():
    # Weights of the group, input, output or shard; layers 1 and 2 weigh 6,912 + 294,912 = 301,824.
    assert plan_sram(NETWORK, SYSTEM, parse_plan("1-2:2,3-4:2")) == [
        [(1, "compute", 150_912, 6_144, 115_200), (2, "compute", 150_912, 230_400, 100_352)],
        [
            (3, "compute", 294_912, 200_704, 86_528),
            (4, "compute", 294_912, 173_056, 73_728),
            (4, "gather", 294_912, 0, 147_456),
        ],
    ]


CROSSOVERS = {  # bytes/s between which pipeline parallelism is faster, all-to-all on 4 nodes
    32: (Fraction("1733632") / Fraction("0.08493262848"), 5_408_768 / Fraction("0.05841819648")),
    9: None,
    1: None,
}


@pytest.mark.parametrize("inputs", CROSSOVERS)
def test_the_labs_crossovers(inputs):
    assert faster_between(NETWORK, SYSTEM, PIPELINE, inputs) == CROSSOVERS[inputs]


def in_mb(bounds):
    return tuple(bound and round(float(bound / 10**6), 3) for bound in bounds)


def test_rounded_crossovers():
    assert in_mb(faster_between(NETWORK, SYSTEM, PIPELINE, 16)) == (28.948, 72.877)
    # In the limit of many, S = 187,904 bytes an input of tensor parallelism, 751,616 / 4, against
    # layer 1's 230,400 and layer 2's 4,624.22016 us; it computes in 3,033.30816 us:
    #     42,496 / 0.00303330816 = 14,009,786 and 187,904 / 0.001590912 = 118,110,870 bytes/s
    low, high = faster_between(NETWORK, SYSTEM, PIPELINE, None)
    assert low == 42_496 / Fraction("0.00303330816")
    assert high == 187_904 / Fraction("0.001590912")
    low, high = faster_between(NETWORK, RING, PIPELINE, 32)
    assert low == 0
    assert round(float(high / 10**6), 1) == 298.4
    assert faster_between(NETWORK, SYSTEM._replace(nodes=8), PIPELINE, 32) is None
    assert faster_between(NETWORK, SYSTEM, TENSOR, 32) is None


def test_intervals_without_an_end():
    # Layer 1: 2 filters of 2 weights over 4 x 4 places, 128 ops, 64 bytes. Layer 2: 2 filters of
    # 2 * 4 weights over 4 x 1 places, 128 ops, 16 bytes. Two nodes in tensor parallelism: 64 + 64
    # ops and 32 + 8 bytes an input. As a pipeline in the limit: 128 ops, or 64 bytes to send,
    # which is less where 64 / B < 128 / R + 40 / B, so B > 24 / 128 * R.
    network = [ConvLayer(2, 2, 1, 1, 4, 4), ConvLayer(2, 2, 1, 4, 4, 4)]
    system = System(nodes=2, ops_per_s=128)
    assert faster_between(network, system, [(1, 1), (1, 1)], None) == (24, None)
    # With layer 1 twice, 32 + 32 bytes an input: 128 ops or 64 bytes are less than both together.
    network = [ConvLayer(2, 2, 1, 1, 4, 4)] * 2
    assert faster_between(network, system, [(1, 1), (1, 1)], None) == (0, None)
    # 3 inputs: 256 + 2 * 128 ops and 64 bytes are less than 3 * 128 ops and 3 * 64 bytes where
    # 128 / 128 < 128 / B; 256 ops and 3 * 64 bytes always are.
    assert faster_between(network, system, [(1, 1), (1, 1)], 3) == (0, 128)
    # 2 inputs: 256 ops and 2 * 64 bytes are what tensor parallelism takes.
    assert faster_between(network, system, [(1, 1), (1, 1)], 2) is None
    # Layers of 64 ops and of 8 and 4 bytes. On four nodes 16 + 16 ops and 2 + 1 bytes an input, as
    # two groups of two nodes 32 ops, 4 bytes to send, 32 ops and 2 bytes to gather: a byte less.
    network = [ConvLayer(4, 4, 1, 1, 2, 1, 1), ConvLayer(4, 4, 2, 1, 2, 1, 1)]
    system = System(nodes=4, ops_per_s=32)
    assert faster_between(network, system, [(1, 2), (1, 2)], None) == (1, None)


def test_an_interval_of_one_point_is_none():
    # 8 and 16 ops, 8 and 4 bytes of output, 1 op/s. 3 inputs in tensor parallelism: 3 * (4 + 8) =
    # 36 ops, 3 * (4 + 2) = 18 bytes. As a pipeline 24 ops, 8 bytes, and twice the longest: with 16
    # ops 56 + 8 / B < 36 + 18 / B needs B < 1/2; with 8 bytes 24 + 24 / B < 36 + 18 / B, B > 1/2.
    network = [ConvLayer(2, 1, 1, 1, 2, 1), ConvLayer(2, 2, 2, 1, 2, 1)]
    system = System(nodes=2, ops_per_s=1)
    assert faster_between(network, system, [(1, 1), (1, 1)], 3) is None


def test_doubling():
    tensor = doubled("tensor", NETWORK, SYSTEM, 32)
    assert tensor["nodes"] == 2
    # 3,127.26016 us of which 3,033.30816 compute, 93.952 us transfer
    assert tensor["ops/s"] == Fraction("3127.26016") / Fraction("1610.60608")
    assert tensor["links"] == Fraction("3127.26016") / Fraction("3080.28416")
    pipeline = doubled("pipeline", NETWORK, SYSTEM)
    assert pipeline["nodes"] == 1
    # 12,133.23264 + 302.08 us
    assert pipeline["ops/s"] == Fraction("12435.31264") / Fraction("6368.69632")
    assert pipeline["links"] == Fraction("12435.31264") / Fraction("12284.27264")
    assert round(float(doubled("pipeline", NETWORK, SYSTEM, 32)["ops/s"]), 3) == 1.996
    assert doubled("tensor", NETWORK, SYSTEM._replace(nodes=128))["nodes"] is None


def test_one_input_unless_told():
    # Two layers of 8 ops and 4 bytes: 4 s an input on one node. On two nodes and one, 1 s of half
    # of layer 1, 2 s to send 2 bytes, 2 s of layer 2: 5 s, and 2 s for an input more.
    network, system = [ConvLayer(2, 2, 1, 1, 1, 1)] * 2, System(3, ops_per_s=4, link_bytes_per_s=1)
    assert fastest_that_fits(network, system) == ((2, 1),)
    assert fastest_that_fits(network, system, 2) == ((1, 2), (1, 1))
    assert best_plans(network, system) == [((2, 1),)]
    assert best_plans(network, system, 2) == [((1, 2), (1, 1)), ((2, 1),)]
    assert faster_between(NETWORK, RING, PIPELINE) is None
    assert faster_between(NETWORK, RING, PIPELINE, 2) is not None


def test_a_beginning_with_a_longer_stage():
    # Layers of 8, 8 and 16 ops, 4 bytes between them, an op and a byte a second. 1-2:2 takes 4 + 2
    # + 4 s and sends in 2 s, 1,2 takes 8, 4, 8 and 4 s: longer, but its longest stage is shorter.
    # In the end layer 3's is the longest, 16 s. On two nodes it takes 12 s, after 16 s of layers 1
    # and 2 on one node and 4 s to send, or 18 s with layer 2.
    network = [ConvLayer(2, 2, 1, 1, 1, 1)] * 2 + [ConvLayer(4, 2, 1, 1, 1, 1)]
    system = System(3, ops_per_s=1, link_bytes_per_s=1)
    fastest = best_plans(network, system, 100)[0]
    assert fastest == ((2, 2), (1, 1))
    assert plan_latency(network, system, fastest, 100) == 10 + 2 + 16 + 99 * 16


def test_balance():
    # 2 ops * 27 and 1,152 weights of a filter, by 2 bytes
    assert [balance(layer) for layer in NETWORK] == [27, 1_152, 1_152, 1_152]


# ------------------------------------------------ both strategies are cases


@pytest.mark.parametrize("system", [SYSTEM, RING, SYSTEM._replace(link_bytes_per_s=10**6)])
@pytest.mark.parametrize("inputs", [1, 2, 32])
def test_both_strategies_are_plans(system, inputs):
    question = (NETWORK, system)
    assert plan_stages(*question, TENSOR) == tensor_parallel_stages(*question)
    assert plan_stages(*question, PIPELINE) == pipeline_parallel_stages(*question)
    assert plan_latency(*question, TENSOR, inputs) == tensor_parallel_latency(*question, inputs)
    assert plan_traffic(*question, TENSOR, inputs) == tensor_parallel_traffic(*question, inputs)
    assert plan_latency(*question, PIPELINE, inputs) == pipeline_parallel_latency(*question, inputs)
    assert plan_traffic(*question, PIPELINE, inputs) == pipeline_parallel_traffic(*question, inputs)
    assert plan_sram(*question, TENSOR) == [sram_uses("tensor", *question)]
    assert plan_sram(*question, PIPELINE) == [[use] for use in sram_uses("pipeline", *question)]


@given(networks(5), st.integers(1, 9))
def test_one_node(network, inputs):
    system = System(nodes=1)
    alone = [(len(network), 1)]
    assert plan_latency(network, system, alone, inputs) == tensor_parallel_latency(
        network, system, inputs
    )
    assert plan_traffic(network, system, alone, inputs) == 0
    assert best_plans(network, system, inputs) == [(Group(len(network), 1),)]


# ------------------------------------------------ all plans there are


def all_plans(network, system):
    """By definition, not by growing: cut the layers anywhere, give each group any nodes."""
    layers, nodes = len(network), system.nodes
    for cuts in itertools.product([False, True], repeat=layers - 1):
        edges = [0, *(place for place, cut in enumerate(cuts, 1) if cut), layers]
        sizes = [end - start for start, end in itertools.pairwise(edges)]
        for counts in itertools.product(range(1, nodes + 1), repeat=len(sizes)):
            owners = [count for count, size in zip(counts, sizes, strict=True) for _ in range(size)]
            divides = all(layer.filters % p == 0 for layer, p in zip(network, owners, strict=True))
            on_a_ring = set(counts) == {1} or counts == (nodes,)
            if sum(counts) <= nodes and divides and (on_a_ring or system.topology != "ring"):
                yield tuple(map(Group, sizes, counts))


def figures(network, system, inputs, plan):
    return (
        plan_latency(network, system, plan, inputs),
        plan_traffic(network, system, plan, inputs),
        sum(nodes for _, nodes in plan),
        most_bytes(network, system, plan),
    )


@st.composite
def searches(draw):
    """Networks of few layers, also with outputs of one size so that plans tie; small machines."""
    filters = draw(st.sampled_from([1, 2, 4, 6]))
    if draw(st.booleans()):
        network = draw(networks(4, filters_of=filters))
    else:
        side = draw(st.integers(1, 3))
        channels = [draw(st.integers(1, 9)), *[filters] * draw(st.integers(1, 4))]
        network = tuple(
            ConvLayer(out, into, 1, 1, side, side) for into, out in itertools.pairwise(channels)
        )
    system = System(
        nodes=draw(st.integers(1, 6)),
        ops_per_s=draw(st.integers(1, 40)),
        link_bytes_per_s=draw(st.fractions(Fraction(1, 9), 9, max_denominator=9)),
        topology=draw(st.sampled_from(["all-to-all", "all-to-all", "ring"])),
    )
    return network, system, draw(st.sampled_from([1, 2, 3, 10, 1000]))


def check_search(network, system, inputs):
    """Against all plans: of equals the one with fewest nodes, then with least need of SRAM."""
    found = partial(figures, network, system, inputs)
    every = sorted(map(found, all_plans(network, system)))
    unbeaten = []
    for own in every:
        if not unbeaten or own[1] < unbeaten[-1][1]:
            unbeaten.append(own)
    assert [*map(found, best_plans(network, system, inputs))] == unbeaten
    fitting = [own for own in every if own[3] <= system.sram_bytes]
    fastest = fastest_that_fits(network, system, inputs)
    assert (fastest and found(fastest)) == min(fitting, default=None)


@given(searches(), st.data())
def test_no_plan_is_missed(search, data):
    network, system, inputs = search
    needs = {most_bytes(network, system, plan) for plan in all_plans(network, system)}
    needed = data.draw(st.sampled_from(sorted(needs)))
    for sram_bytes in (needed, needed - 1, max(needs)):
        check_search(network, system._replace(sram_bytes=sram_bytes), inputs)


def test_a_slower_beginning_can_need_less_sram_in_an_equally_fast_plan():
    # 1:2,2-4:2,5:2 and 1-2:2,3-4:2,5:2 are as fast as each other, layers 1 and 2 alone are not
    into = [4, 2, 2, 2]
    network = [ConvLayer(2, channels, 1, 1, 4, 4, element_bytes=1) for channels in into]
    network.append(ConvLayer(4, 2, 2, 2, 4, 4, element_bytes=1))
    check_search(network, System(nodes=7, ops_per_s=2, link_bytes_per_s=1), 3)


@pytest.mark.parametrize("sram_kib", [30, 40, 50, 100])
def test_no_plan_is_missed_on_many_nodes(sram_kib):
    network = [
        ConvLayer(48, 3, 3, 3, 20, 20),
        ConvLayer(36, 48, 3, 3, 18, 18),
        ConvLayer(60, 36, 3, 3, 16, 16),
    ]
    system = System(20, link_bytes_per_s=10**8, sram_bytes=sram_kib * 1024)
    check_search(network, system, 5)


# ------------------------------------------------ when a plan is faster


@given(searches(), st.data())
def test_where_a_plan_is_faster(search, data):
    network, system, inputs = search
    assume(all(layer.filters % system.nodes == 0 for layer in network))
    plan = data.draw(st.sampled_from(list(all_plans(network, system))))

    def gap_s(link_bytes_per_s):
        machine = system._replace(link_bytes_per_s=link_bytes_per_s)
        own_s = plan_latency(network, machine, plan, inputs)
        return own_s - tensor_parallel_latency(network, machine, inputs)

    bounds = faster_between(network, system, plan, inputs)
    drawn = data.draw(st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**6))
    if bounds is None:
        assert gap_s(drawn) >= 0
        return
    low, high = bounds
    assert (gap_s(drawn) < 0) == (low < drawn and (high is None or drawn < high))
    beyond = high or 10 * (low + 1)
    near = (beyond - low) / 10**9
    assert gap_s(low + near) < 0
    assert gap_s(beyond - near) < 0
    if low:
        assert gap_s(low) == 0
        assert gap_s(low - low / 10**9) >= 0
    if high:
        assert gap_s(high) == 0
        assert gap_s(high + near) >= 0


@given(searches(), st.data())
def test_the_limit_of_many_inputs(search, data):
    network, system, _ = search
    assume(all(layer.filters % system.nodes == 0 for layer in network))
    plan = data.draw(st.sampled_from(list(all_plans(network, system))))
    bounds = faster_between(network, system, plan, None)

    def gap_s(link_bytes_per_s):  # of one input more, when the pipeline is full
        machine = system._replace(link_bytes_per_s=link_bytes_per_s)
        own_s = plan_latency(network, machine, plan, 2) - plan_latency(network, machine, plan)
        return own_s - tensor_parallel_latency(network, machine)

    drawn = data.draw(st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**6))
    low, high = bounds or (drawn, drawn)
    assert (gap_s(drawn) < 0) == (low < drawn and (high is None or drawn < high))


# ------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("system", "plan", "said"),
    [
        (SYSTEM, [(2, 3), (2, 1)], ["group 1", "128", "layer 1", "3"]),
        (SYSTEM, [(2, 2), (2, 4)], ["group 2", "4", "6"]),
        (SYSTEM, [(2, 2), (3, 2)], ["group 2", "5", "4"]),
        (SYSTEM, [(2, 2), (1, 2)], ["group 2", "3", "4"]),
        (SYSTEM, [(4, 0)], ["group 1", "0"]),
        (SYSTEM, [(4, 1.0)], ["group 1", "1.0"]),
        (SYSTEM, [(4, True)], ["group 1", "True"]),
        (SYSTEM, [4], ["group 1", "4"]),
        (SYSTEM, [(4, 1, 1)], ["group 1", "4"]),
        (SYSTEM, [], ["plan"]),
        (SYSTEM, "1-4", ["plan", "1-4"]),
        (RING, [(2, 2), (2, 1)], ["group 1", "ring", "2", "4"]),
        (RING, [(4, 2)], ["group 1", "ring", "2", "4"]),
        (SYSTEM._replace(nodes=0), [(4, 1)], ["nodes", "0"]),
        (SYSTEM._replace(nodes=2), [(1, 1)] * 4, ["group 3", "3", "2"]),
    ],
)
def test_plans_that_are_refused(system, plan, said):
    for function in (plan_stages, plan_latency, plan_traffic, plan_sram):
        with pytest.raises(ValueError) as caught:
            function(NETWORK, system, plan)
        words = re.findall(r"[\w.-]+", str(caught.value))
        for text in said:
            assert set(text.split()) <= set(words)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("", 1),
        ("1-2:2,,4", 2),
        ("1-2:2;3", 1),
        ("1-2:2,4", 2),
        ("2-4", 1),
        ("1,3-2", 2),
        ("1,2-1", 2),
        ("1-4:x", 1),
        ("1-4:-1", 1),
        ("1:1" + "0" * 999, 1),
        ("\u0661-4", 1),
    ],
)
def test_texts_that_are_no_plan(text, group):
    with pytest.raises(ValueError, match=f"^group {group}: ") as caught:
        parse_plan(text)
    assert len(str(caught.value)) < 120


def test_values_that_are_cut():
    for digits, shown in ((38, repr("1" * 38)), (39, repr("1" * 30) + "...")):
        with pytest.raises(ValueError, match=f"^group 1: {re.escape(shown)} is not LAYERS"):
            parse_plan("1" * digits)
    with pytest.raises(ValueError) as caught:  # 30 characters
        plan_stages(NETWORK, SYSTEM, [(1_111_111_111,) * 9])
    assert str(caught.value).startswith("group 1: (1111111111, 1111111111, 11111... is not two")


def test_layers_that_are_named():
    with pytest.raises(ValueError, match=r"^group 2: .* 3 nodes .* 128 filters of layer 3$"):
        plan_stages(NETWORK, SYSTEM, parse_plan("1-2,3-4:3"))
    with pytest.raises(ValueError, match=r"^group 3: up to here it takes 5 nodes, .* has 4$"):
        plan_stages(NETWORK, SYSTEM, parse_plan("1-2:2,3:2,4"))
    with pytest.raises(ValueError, match=r"^group 2: 4 does not begin with layer 3$"):
        parse_plan("1-2:2,4")


def test_plans_as_text():
    assert parse_plan("1-2:2,3,4") == ((2, 2), (1, 1), (1, 1))
    assert parse_plan("1:1, 2-4:1") == ((1, 1), (3, 1))
    for plan in all_plans(NETWORK, SYSTEM):
        assert parse_plan(plan_text(plan)) == plan
    assert plan_text([Group(2, 2), (1, 1), Group(1)]) == "1-2:2,3,4"


EQUAL = ConvLayer(128, 128, 1, 1, 4, 4)  # 524,288 ops, 10.48576 us; 4,096 bytes, 2.048 us


def test_a_search_of_millions_of_plans():
    # Of 16 layers on 16 nodes there are 53,617,100 plans, even with only 1, 2, 4, 8, 16 in a group.
    # No input can come sooner after another than 16 layers' ops by 16 nodes, and all nodes are
    # always at work only where each has a layer: in a larger group they exchange shards, too.
    best = best_plans([EQUAL] * 16, System(16), 10**9)
    assert (best[0], best[-1]) == (((1, 1),) * 16, ((16, 1),))


def test_searches_that_are_too_large():
    wide = [
        ConvLayer(720_720, 3, 3, 3, 64, 64),
        ConvLayer(720_720, 720_720, 3, 3, 62, 62),
        ConvLayer(720_720, 720_720, 3, 3, 60, 60),
    ]
    for function in (best_plans, fastest_that_fits):
        with pytest.raises(ValueError, match=r"^65 layers on 1 node have .* limit is 64 layers$"):
            function([EQUAL] * 65, SYSTEM._replace(nodes=1))
        with pytest.raises(ValueError, match=r"^65 layers on 2 nodes have "):
            function([EQUAL] * 65, SYSTEM._replace(nodes=2))
        for network, nodes in (([EQUAL] * 64, 64), (wide, 1_000)):
            size = rf"^{len(network)} layers on {nodes:,} nodes have too many plans"
            with pytest.raises(ValueError, match=f"{size}.* limit is 1,000,000 steps$"):
                function(network, SYSTEM._replace(nodes=nodes), 32)
        for wrong in (0, 1.0):
            with pytest.raises(ValueError, match="inputs"):
                function(NETWORK, SYSTEM, wrong)
    for wrong in (0, 1.0):
        with pytest.raises(ValueError, match="inputs"):
            faster_between(NETWORK, SYSTEM, PIPELINE, wrong)
        with pytest.raises(ValueError, match="inputs"):
            comparison(NETWORK, SYSTEM, wrong, {"1-4": [(4, 1)]})


@pytest.mark.parametrize(
    ("nodes", "steps"),
    [
        # Of the lab 4 + 3 + 2 + 1 groups on one node, which begin with layers 1 to 4; none, or the
        # layers before them on this node, are one beginning.
        (1, 100 * 10 + 4 + 3 + 2 + 1),
        # Twice as many groups, on 1 node or 2. Beginnings are none; then all layers on one node,
        # or two: for one input what hands it on takes longer than one node, and moves bytes.
        (2, 100 * 20 + 1 * 8 + 2 * 6 + 2 * 4 + 2 * 2),
    ],
)
def test_the_largest_search(nodes, steps, monkeypatch):
    check_steps(NETWORK, SYSTEM._replace(nodes=nodes), 1, steps, monkeypatch)


def check_steps(network, system, inputs, steps, monkeypatch):
    monkeypatch.setattr(plans, "MOST_STEPS", steps)
    assert best_plans(network, system, inputs)
    monkeypatch.setattr(plans, "MOST_STEPS", steps - 1)
    with pytest.raises(ValueError, match="too many plans"):
        best_plans(network, system, inputs)


ALIKE = [ConvLayer(128, 128, 1, 1, 16, 16)] * 4  # many plans tie


@pytest.mark.parametrize("sram_kib", [235, 400, 512, 1024])
@pytest.mark.parametrize("nodes", [4, 7, 16])
@pytest.mark.parametrize("network", [NETWORK, ALIKE], ids=["the lab", "equal layers"])
def test_a_search_goes_on_with_unbeaten_beginnings_only(network, nodes, sram_kib, monkeypatch):
    system = SYSTEM._replace(nodes=nodes, sram_bytes=sram_kib * 1024)
    divisors = [count for count in range(1, nodes + 1) if 128 % count == 0]
    steps = (100 + 1) * 4 * len(divisors)  # with nothing done
    for done in (1, 2, 3):
        begun = all_plans(network[:done], system)
        points = {beginning(network, system, plan) for plan in begun}
        unbeaten = [
            it for it in points if [other for other in points if as_good(other, it)] == [it]
        ]
        steps += (100 + len(unbeaten)) * (4 - done) * len(divisors)
    check_steps(network, system, 32, steps, monkeypatch)


def beginning(network, system, plan):
    """Latency and sum with what it sends, bytes without, of equal bytes the need of SRAM, nodes,
    and whether it overflows."""
    whole = (*plan, (4 - sum(layers for layers, _ in plan), 1))
    stages = plan_stages(network, system._replace(nodes=99), whole)[:-1]
    uses = plan_sram(network, system._replace(nodes=99), whole)[:-1]
    sram_bytes = max([0, *(use.total_bytes for group in uses for use in group)])
    return (
        lab3.latency(stages, system, 32),
        lab3.latency(stages, system),
        (lab3.traffic(stages[:-1]), sram_bytes),
        sum(nodes for _, nodes in plan),
        sram_bytes > system.sram_bytes,
    )


def as_good(one, other):
    return all(mine <= its for mine, its in zip(one, other, strict=True))


# ------------------------------------------------ the command line


def respond(capsys, *arguments):
    status = plans.main(arguments)
    out, err = capsys.readouterr()
    assert all(len(line) <= 80 for line in out.splitlines())
    return status, out, err


def rows_of(out, columns):
    """The cells of each line that has so many, the last being a plan or a strategy."""
    cells = [re.split(r"\s{2,}", line.strip()) for line in out.splitlines()]
    return [row for row in cells if len(row) == columns]


def test_the_labs_tables(capsys):
    status, out, err = respond(capsys, "--plan", "1-3:2,4", "--plan=1-4:4")
    assert (status, err) == (0, "")
    assert "Best plans, #: " in out
    _, *table = rows_of(out, 7)
    ranked = [row for row in table if row[0].isdigit()]
    assert [row[6] for row in ranked] == [row[0] for row in BEST]
    for row, (_, milliseconds, traffic_bytes, sram_bytes) in zip(ranked, BEST, strict=True):
        assert float(row[2]) == pytest.approx(float(milliseconds), rel=1e-8)
        assert [int(cell.replace(",", "")) for cell in row[3:5]] == [traffic_bytes, sram_bytes]
        assert row[5] == ("yes" if sram_bytes <= 524_288 else "NO")
    assert {row[6]: row[0] for row in table if not row[0].isdigit()} == {
        "tensor": "= 1",
        "pipeline": "< 3",
        "1-3:2,4": "< 3",
        "1-4:4": "= 1",
    }
    links = {row[2]: row[:2] for row in rows_of(out, 3)}
    assert list(links) == ["plan", "pipeline", "1-3:2,4", "1-4:4"]
    assert links["pipeline"][0].split(" to ") == ["20.4118491", "92.5870418"]
    assert links["1-4:4"] == ["never", "never"]
    speed_ups = {row[3]: [float(cell) for cell in row[:3]] for row in rows_of(out, 4)[1:]}
    assert speed_ups["tensor"] == pytest.approx([1.942, 1.015, 2], abs=5e-4)
    assert speed_ups["pipeline"] == pytest.approx([1.996, 1.001, 1], abs=5e-4)
    assert rows_of(out, 2)[-4:] == [["27", "1"], ["1,152", "2"], ["1,152", "3"], ["1,152", "4"]]


def test_links_are_told_where_there_is_a_plan_to_compare(capsys):
    title = "on which a plan is faster"
    _, out, _ = respond(capsys)
    assert title in out
    assert [row[2] for row in rows_of(out, 3)] == ["plan", "pipeline"]
    for options in ("--nodes 2", "--nodes 5 --plan 1-4"):  # no pipeline, no tensor parallelism
        status, out, _ = respond(capsys, *options.split())
        assert status == 0
        assert title not in out


def test_links_without_an_end():
    # As in test_intervals_without_an_end, in MB/s.
    system = System(nodes=2, ops_per_s=128)
    network = [ConvLayer(2, 2, 1, 1, 4, 4), ConvLayer(2, 2, 1, 4, 4, 4)]
    *_, row = rows_of(comparison(network, system, 1, {}), 3)
    assert row == ["never", "above 0.000024", "pipeline"]
    *_, row = rows_of(comparison([network[0]] * 2, system, 3, {}), 3)
    assert row == ["below 0.000128", "always", "pipeline"]


def test_a_plan_that_just_fits():
    for sram_bytes, fits in ((503_488, "yes"), (503_487, "NO")):
        system = SYSTEM._replace(sram_bytes=sram_bytes)
        table = rows_of(comparison(NETWORK, system, 32, {}), 7)
        assert {row[6]: row[5] for row in table}["1-4:4"] == fits


def test_what_is_said_of_the_machine(capsys):
    for topology in ("ring", "all-to-all"):
        _, out, _ = respond(capsys, "--topology", topology)
        assert ("On a ring" in out) == (topology == "ring")
        assert "R / B = 25 ops" in " ".join(out.split())  # 50 * 10^9 ops/s, 2 * 10^9 bytes/s


def test_long_figures_are_rounded_once():
    for ops_per_s, figure in (
        (99_999_999_999, "99,999,999,999"),
        (123_454_900_000, "1.2345e+11"),
    ):
        system = SYSTEM._replace(ops_per_s=ops_per_s)
        assert f"R = {figure} ops/s" in comparison(NETWORK, system, 32, {})


def test_words_are_not_broken_at_hyphens():
    for digits in range(20, 30):
        assert " all-to-all, " in " ".join(comparison(NETWORK, SYSTEM, 10**digits, {}).split())


@pytest.mark.parametrize(
    "options",
    [
        "--nodes 1",
        "--nodes 2",
        "--nodes 3",
        "--nodes 5",
        "--nodes 8 --link-gbs 0.05",
        "--nodes 16 --inputs 1",
        "--topology ring",
        "--topology ring --nodes 3",
        "--link-gbs 1e-6 --gops 1e8 --inputs 1000000000",
        "--gops 1e-6 --nodes 1000000",
        "--layer 1,1,1,1,1,1",
        "--layer 1000000,1000000,1000,1000,1000000,1000000 --element-bytes 64 --inputs 1000000000",
        "--sram-kib 1",
    ],
)
def test_any_machine_has_an_answer_in_80_columns(capsys, options):
    status, out, err = respond(capsys, *options.split())
    assert (status, err) == (0, "")
    for strategy in ("tensor", "pipeline"):
        reason = f"{strategy.capitalize()} parallelism is not possible"
        assert re.search(rf"^ *[<=] .* (yes|NO)  {strategy}$|{reason}", out, re.M)


def test_a_network_of_many_layers_in_80_columns(capsys):
    layers = ["--layer", "128,128,1,1,4,4"] * 12
    status, out, _ = respond(capsys, *layers, "--nodes", "12", "--inputs", "1000")
    assert status == 0
    assert "1-12" in out


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ("--inputs 1000000000", "pipeline"),
        ("--inputs 1000000000 --nodes 128 --gops 1e-6", "tensor"),
    ],
)
def test_rows_are_broken_only_after_commas(capsys, options, name):
    _, out, _ = respond(capsys, *options.split())
    _, _, table, *_ = out.split("\n\n")
    header, *lines = table.splitlines()
    column = header.index("plan")
    plans_of_rows = "\n".join(line[column:] for line in lines)
    for row in re.split(r"(?<!,)\n", plans_of_rows):
        text = row.replace("\n", "")
        assert text in ("tensor", "pipeline") or plan_text(parse_plan(text)) == text
    assert name in plans_of_rows.splitlines()


def test_the_plan_that_fits_has_a_row(capsys):
    # Layer 1 on one node: 124.416 us; 230,400 bytes to each of four in 2,304 us. Layers 2 to 4:
    # 600,440,832 ops in 3,002.20416 us; shards of 50,176, 43,264 and 36,864 bytes in 1,303.04 us.
    # 6,733.66016 + 31 * 4,305.24416 = 140,196.22912 us
    # 32 * (921,600 + 12 * 50,176 + 12 * 43,264 + 3 * 36,864) = 32 * 2,153,472 bytes
    # a quarter of 884,736 bytes of weights, 230,400 of input, 50,176 of output: 501,760
    _, out, _ = respond(capsys, "--nodes", "5", "--link-gbs", "0.1")
    row = ["< 1", "5", "140.196229", "68,911,104", "501,760", "yes", "1,2-4:4"]
    assert row in rows_of(out, 7)
    assert "1,2-4:4 is the fastest plan that fits" in out


MANY = ["--nodes", "24", "--link-gbs", "1", "--inputs", "1"]
for sizes in ("24,200,3,3,16,16", "24,24,3,3,14,14", "8,24,3,3,12,12", "2,8,3,3,10,10"):
    MANY += ["--layer", sizes]


@pytest.mark.parametrize("sram_kib", ["108", "512"])
def test_many_best_plans_are_not_all_shown(capsys, sram_kib):
    _, out, _ = respond(capsys, *MANY, "--sram-kib", sram_kib, "--plan", "1-4:2")
    network, system, inputs = lab3.what_if(lab3.read_options(MANY, []))
    best = [plan_text(plan) for plan in best_plans(network, system, inputs)]
    assert len(best) == 25
    table = rows_of(out, 7)[1:]
    shown = {int(row[0]): row[6] for row in table if row[0].isdigit()}
    assert shown == {rank: best[rank - 1] for rank in shown}
    assert [*shown] == sorted(shown)
    assert {int(row[0].split()[1]) for row in table if not row[0].isdigit()} <= {*shown}
    assert f"({len(shown)} of 25 shown)" in out
    fastest = re.search(r"^(\S+) is the fastest plan that fits", out, re.M)[1]
    assert fastest in shown.values()
    # 20 are evenly spread: with one in 24 / 19 four or five are left out.
    spread = [1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14, 16, 17, 18, 19, 21, 22, 23, 25]
    added = {*shown} - {*spread}
    assert {*spread} < {*shown}
    assert added == ({5, 24} if sram_kib == "108" else {24})


def test_too_many_plans_to_search_are_still_compared(capsys):
    # 2,654,208 ops a layer, in 13.27104 us on four nodes, and 5,184 bytes to each other in 2.592 us
    # as at the end: 32 * 65 * 15.86304 = 32,995.1232 us; 32 * (64 * 12 + 3) * 5,184 bytes. On two
    # nodes 26.54208 and 5.184 us: 65,990.2464 us; 32 * (64 * 2 + 1) * 10,368 bytes. A node has 65
    # layers' weights of 32,768 bytes, or its share, an input of 20,736 bytes and its output.
    layers = ["--layer=128,128,1,1,9,9"] * 65
    status, out, _ = respond(capsys, *layers, "--plan", "1-65:2")
    assert status == 0
    assert (
        "65 layers on 4 nodes have too many plans to search: the limit is 64 layers."
        in " ".join(out.split())
    )
    assert rows_of(out, 7)[1:] == [
        ["?", "4", "32.9951232", "127,899,648", "558,400", "NO", "tensor"],
        ["?", "2", "65.9902464", "42,799,104", "1,096,064", "NO", "1-65:2"],
    ]
    assert rows_of(out, 3)[-1] == ["never", "never", "1-65:2"]
    assert [row[3] for row in rows_of(out, 4)] == ["strategy", "tensor"]
    assert rows_of(out, 2)[-1] == ["128", "65"]  # 2 * 128 ops by 2 bytes
    assert "fits" not in out.split("\n\n")[3]
    status, out, _ = respond(capsys, *layers, "--nodes", "3", "--plan", "1-65")
    assert status == 0
    assert "1-65" in out


def test_a_plan_that_is_cut_keeps_its_quotes(capsys):
    _, _, err = respond(capsys, "--plan", "1" * 100_000)
    assert len(err) < 200
    assert re.findall("'.*?'", err) == [repr("1" * 30)] * 2
    assert err.count("'") == 4


def test_what_is_not_possible_is_said(capsys):
    _, out, _ = respond(capsys, "--nodes", "3")
    said = " ".join(out.split())
    for strategy, figures_of_it in (("Tensor", {"3", "128", "1"}), ("Pipeline", {"3", "4"})):
        reason = re.search(rf"{strategy} parallelism is not possible: ([^:.]*)\.", said)
        assert figures_of_it <= set(re.findall(r"\d+", reason[1]))
    _, out, _ = respond(capsys, "--sram-kib", "491")
    assert "No plan fits" in out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--plan", "1-2:3,3,4"], ["--plan", "1-2:3,3,4", "group 1"]),
        (["--plan", "1-2,3"], ["--plan", "1-2,3", "group 2"]),
        (["--plan", "x"], ["--plan", "group 1"]),
        (["--plan", "1-4", "--plan"], ["--plan", "group 1"]),
        (["--topology", "ring", "--plan", "1-2:2,3,4"], ["group 1", "ring"]),
        (["--link-gbs", "100MB/s"], ["--link-gbs", "100MB/s"]),
        (["--plans", "1-4"], ["--plans", "--plan"]),
        (["--explain"], ["--explain"]),
        (["--nodes", "3", *["--layer=128,128,1,1,9,9"] * 65], ["65 layers"]),
    ],
)
def test_one_sentence_and_status_2(capsys, options, said):
    status, out, err = respond(capsys, *options)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    for text in said:
        assert text in err


def test_help(capsys):
    status, out, _ = respond(capsys, "--help")
    assert status == 0
    assert 0 < out.index("example") < out.index("--nodes P")
    examples = re.findall(r"^ +python3 report/plans\.py (.+)$", out, re.M)
    assert examples
    for example in examples:
        assert respond(capsys, *example.split())[0] == 0


def test_as_a_script_from_any_folder(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-B", str(SCRIPT)]
    run = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert "1-2:2,3,4" in run.stdout
