"""The search for the best plans against all plans there are, which are listed by their definition
and compared one with another; and where a search ends."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab3 import NETWORK, SYSTEM, ConvLayer, System
from machines import networks
from report import plans
from report.plans import best_plans, every_plan, parse_plan, plan_result, ring_plans


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
                yield tuple(zip(sizes, counts, strict=True))


def check_search(network, system, inputs):
    """Of equals the one with fewest nodes, then with least need of SRAM."""
    every = [plan_result(network, system, plan, inputs) for plan in all_plans(network, system)]
    for fitting in (False, True):
        ranks = sorted(map(rank, (plan for plan in every if plan.fits or not fitting)))
        unbeaten = []
        for own in ranks:
            if not unbeaten or own[1] < unbeaten[-1][1]:
                unbeaten.append(own)
        best = best_plans(network, system, inputs, fitting)
        assert [*map(rank, best)] == unbeaten
        assert {*best} <= {*every}


def rank(plan):
    return plan.latency_s, plan.traffic_bytes, plan.nodes, plan.sram_bytes


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
        ops_per_s=draw(st.integers(1, 40) | st.fractions(1, 40, max_denominator=9)),
        link_bytes_per_s=draw(st.fractions(Fraction(1, 9), 9, max_denominator=9)),
        topology=draw(st.sampled_from(["all-to-all", "all-to-all", "ring"])),
    )
    return network, system, draw(st.sampled_from([1, 2, 3, 10, 1000]))


@given(searches(), st.data())
def test_no_plan_is_missed(search, data):
    network, system, inputs = search
    every = [*all_plans(network, system)]
    assert sorted(every_plan(network, system)) == sorted(every)
    needs = {plan_result(network, system, plan).sram_bytes for plan in every}
    needed = data.draw(st.sampled_from(sorted(needs)))
    for sram_bytes in (needed, needed - 1):
        check_search(network, system._replace(sram_bytes=sram_bytes), inputs)


def test_no_plan_is_missed_on_many_nodes():
    channels = itertools.pairwise([3, 48, 36, 60])
    network = [
        ConvLayer(out, into, 3, 3, size, size)
        for (into, out), size in zip(channels, (20, 18, 16), strict=True)
    ]
    check_search(network, System(20, link_bytes_per_s=10**8, sram_bytes=50 * 1024), 5)


def test_a_slower_beginning_can_need_less_sram_in_an_equally_fast_plan():
    # 1:2,2-4:2,5:2 and 1-2:2,3-4:2,5:2 are as fast as each other, layers 1 and 2 alone are not
    into = [4, 2, 2, 2]
    network = [ConvLayer(2, channels, 1, 1, 4, 4, element_bytes=1) for channels in into]
    network.append(ConvLayer(4, 2, 2, 2, 4, 4, element_bytes=1))
    check_search(network, System(nodes=7, ops_per_s=2, link_bytes_per_s=1), 3)


def test_fewer_nodes_come_before_less_sram():
    # Two inputs, 2 ops and a byte a second: 1-2:2,3-4 on three nodes needs 64 bytes, as fast with
    # as many bytes as 1:2,2,3-4 on four nodes, which needs 56.
    sizes = [8, 4, 4, 1, 1]
    network = [ConvLayer(out, into, 1, 1, 2, 2, 1) for into, out in itertools.pairwise(sizes)]
    system = System(nodes=4, ops_per_s=2, link_bytes_per_s=1)
    ties = [
        plan_result(network, system, parse_plan(text), 2) for text in ("1-2:2,3-4", "1:2,2,3-4")
    ]
    assert [rank(plan) for plan in ties] == [(236, 64, 3, 64), (236, 64, 4, 56)]
    found = best_plans(network, system, 2)
    assert ties[0] in found and ties[1] not in found


def test_a_beginning_with_a_longer_stage():
    # Layers of 8, 8 and 16 ops, 4 bytes between them, an op and a byte a second. 1-2:2 takes 4 + 2
    # + 4 s and sends in 2 s, 1,2 takes 8, 4, 8 and 4 s: longer, but its longest stage is shorter.
    # In the end layer 3's is the longest, 16 s. On two nodes it takes 12 s, after 16 s of layers 1
    # and 2 on one node and 4 s to send, or 18 s with layer 2.
    network = [ConvLayer(2, 2, 1, 1, 1, 1)] * 2 + [ConvLayer(4, 2, 1, 1, 1, 1)]
    system = System(3, ops_per_s=1, link_bytes_per_s=1)
    fastest = best_plans(network, system, 100)[0]
    assert fastest.plan == ((2, 2), (1, 1))
    assert fastest.latency_s == 10 + 2 + 16 + 99 * 16


def test_times_are_compared_exactly_where_rates_are_fractions():
    # Two layers of 8 ops, 4 bytes between and after them, 10/7 ops/s and 15/11 bytes/s: 0.7 s an op
    # and 11/15 s a byte. One node: 16 * 0.7 = 11.2 s. Two: halves of both, an exchange of 2 bytes
    # and a gather of 2: 5.6 + 4 * 11 / 15 = 128 / 15 s, 4 + 2 bytes. One node each: 11.2 + 4 * 11 /
    # 15 s for one input, and 5.6 s for each more. So for 3 inputs 33.6, 25.6 and 25.3333 s (4 bytes
    # an input): the pipeline is fastest by 4 / 15 s.
    network = [ConvLayer(2, 2, 1, 1, 1, 1)] * 2
    system = System(2, Fraction(10, 7), Fraction(15, 11))
    best = [(Fraction(380, 15), 12, 2, 16), (Fraction(168, 5), 0, 1, 24)]
    assert [rank(plan) for plan in best_plans(network, system, 3)] == best
    # for one input 11.2 s on one node, 128 / 15 s on two
    best = [(Fraction(128, 15), 6, 2, 14), (Fraction(56, 5), 0, 1, 24)]
    assert [rank(plan) for plan in best_plans(network, system)] == best


# ------------------------------------------------ how large

EQUAL = ConvLayer(128, 128, 1, 1, 4, 4)  # 524,288 ops, 10.48576 us; 4,096 bytes, 2.048 us


def chain_of(filters):
    return [ConvLayer(out, into, 1, 1, 8, 8) for into, out in itertools.pairwise([3, *filters])]


@pytest.mark.parametrize(
    ("layers", "filters", "nodes", "inputs"), [(20, 64, 8, 1), (12, 16, 16, 32)]
)
def test_what_the_search_added_up_is_what_each_plan_takes(layers, filters, nodes, inputs):
    sizes = range(2 * layers + 2, 2, -2)
    network = [ConvLayer(filters, filters, 3, 3, size, size) for size in sizes]
    best = best_plans(network, System(nodes), inputs)
    assert best == [plan_result(network, System(nodes), it.plan, inputs) for it in best]
    assert len(best) > 100
    for one, following in itertools.pairwise(best):
        assert one.latency_s < following.latency_s
        assert one.traffic_bytes > following.traffic_bytes


def test_a_search_of_millions_of_plans():
    # Of 16 layers on 16 nodes there are 53,617,100 plans, even with only 1, 2, 4, 8, 16 in a group.
    # No input can come sooner after another than 16 layers' ops by 16 nodes, and all nodes are
    # always at work only where each has a layer: in a larger group they exchange shards, too.
    best = best_plans([EQUAL] * 16, System(16), 10**9)
    assert (best[0].plan, best[-1].plan) == (((1, 1),) * 16, ((16, 1),))


@pytest.mark.parametrize(
    ("network", "nodes"),
    [
        ([EQUAL] * 64, 64),
        ([EQUAL] * 1_000, 4),
        (chain_of([720, 5_040, 360, 2_520, 1_440] * 7), 16),
        (chain_of([720_720] * 3), 10**6),
        ([ConvLayer(10**20, 1, 1, 1, 1, 1)], 10**9),
    ],
)
@pytest.mark.parametrize("function", [best_plans, every_plan])
def test_what_is_too_large_is_refused(function, network, nodes, monkeypatch):
    one = len(network) == 1
    layers, have = ("1 layer", "has") if one else (f"{len(network):,} layers", "have")
    said = rf"^{layers} on {nodes:,} nodes {have} too many plans to search: .* 10,000 "
    monkeypatch.setattr(plans, "MOST_COMPARISONS", 10_000)
    monkeypatch.setattr(plans, "MOST_BEGINNINGS", 10_000)
    with pytest.raises(ValueError, match=said):
        function(network, SYSTEM._replace(nodes=nodes))


@pytest.mark.parametrize(
    ("network", "nodes"),
    [
        ([EQUAL] * 1_000, 1),
        ([EQUAL] * 64, 2),
        (NETWORK[:3], 10**6),
        ([ConvLayer(10**20, 1, 1, 1, 1, 1)], 10**4),
    ],
)
def test_few_plans_of_many_layers_or_nodes_are_searched(network, nodes):
    machine = SYSTEM._replace(nodes=nodes)
    fastest, *_ = best_plans(network, machine)
    assert fastest == plan_result(network, machine, fastest.plan)
    every = [plan_result(network, machine, plan) for plan in every_plan(network, machine)]
    assert rank(fastest) == min(map(rank, every))
    assert (len(every) == 1) == (nodes == 1)


@pytest.mark.parametrize("limit", ["MOST_COMPARISONS", "MOST_BEGINNINGS"])
@pytest.mark.parametrize("function", [best_plans, every_plan])
def test_a_search_ends_at_the_same_point_every_time(function, limit, monkeypatch):
    def is_refused(most):
        monkeypatch.setattr(plans, limit, most)
        try:
            function(NETWORK, SYSTEM)
        except ValueError as error:
            assert str(error).startswith("4 layers on 4 nodes have too many plans")
            assert f" {most:,} " in str(error)
            return True
        return False

    needed = next(most for most in itertools.count(1) if not is_refused(most))
    # there are 28 plans, which are begun by groups of 1, 2 and 3 layers
    assert 28 < needed < 400
    assert [is_refused(most) for most in (needed - 1, needed, needed - 1)] == [True, False, True]


def test_comparisons_of_beginnings_are_counted(monkeypatch):
    # 16 layers have a few thousand groups, tens of thousands of beginnings and far more comparisons
    monkeypatch.setattr(plans, "MOST_COMPARISONS", 300_000)
    with pytest.raises(ValueError, match=r" 300,000 comparisons$"):
        best_plans([EQUAL] * 16, System(16), 10**9)


@given(searches())
def test_plans_on_a_ring_are_counted(search):
    network, system, _ = search
    ring = system._replace(topology="ring")
    assert ring_plans(network, ring) == len([*all_plans(network, ring)])
