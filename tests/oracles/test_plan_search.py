"""The search against all plans there are, which are listed by their definition, computed one by one
and compared one with another."""

import itertools
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from lab3 import ConvLayer, System
from machines import networks
from report.question import Question
from report.search import compare, every_plan, every_result, plan_result, unbeaten


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
    """Each plan is listed with what it takes. Of equals the first that fits stands for all, of
    these one with fewest nodes, then with least need of SRAM."""
    every = [plan_result(network, system, plan, inputs) for plan in all_plans(network, system)]
    found = every_result(network, system, inputs)
    assert sorted(found) == sorted(every)
    comparison = compare(Question(network, system, inputs))
    for best, among in (
        (comparison.best, every),
        (comparison.fitting, [plan for plan in every if plan.fits]),
    ):
        wanted = [
            min((other for other in among if taken(other) == taken(plan)), key=rank)
            for plan in among
            if not any(beats(other, plan) for other in among)
        ]
        assert [*map(rank, best)] == sorted({*map(rank, wanted)})
        assert {*best} <= {*among}


def taken(plan):
    return plan.latency_s, plan.traffic_bytes


def beats(plan, other):
    """Whether it is as good in both, and better in one."""
    pairs = [*zip(taken(plan), taken(other), strict=True)]
    return all(own <= its for own, its in pairs) and any(own < its for own, its in pairs)


def rank(plan):
    return *taken(plan), not plan.fits, plan.nodes, plan.sram_bytes


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


def test_times_are_compared_exactly_where_rates_are_fractions():
    # Two layers of 8 ops, 4 bytes between and after them, 10/7 ops/s and 15/11 bytes/s: 0.7 s an op
    # and 11/15 s a byte. One node: 16 * 0.7 = 11.2 s. Two: halves of both, an exchange of 2 bytes
    # and a gather of 2: 5.6 + 4 * 11 / 15 = 128 / 15 s, 4 + 2 bytes. One node each: 11.2 + 4 * 11 /
    # 15 s for one input, and 5.6 s for each more. So for 3 inputs 33.6, 25.6 and 25.3333 s (4 bytes
    # an input): the pipeline is fastest by 4 / 15 s.
    network = [ConvLayer(2, 2, 1, 1, 1, 1)] * 2
    system = System(2, Fraction(10, 7), Fraction(15, 11))
    best = [(Fraction(380, 15), 12, 2, 16), (Fraction(168, 5), 0, 1, 24)]
    assert [*map(held, unbeaten(every_result(network, system, 3)))] == best
    # for one input 11.2 s on one node, 128 / 15 s on two
    best = [(Fraction(128, 15), 6, 2, 14), (Fraction(56, 5), 0, 1, 24)]
    assert [*map(held, unbeaten(every_result(network, system)))] == best


def held(plan):
    return *taken(plan), plan.nodes, plan.sram_bytes
