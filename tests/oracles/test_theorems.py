"""The four closed forms for all numbers, proved by an SMT solver (z3), the proof in words beside.

A claim is proved when its negation has no solution. Induction is ours: the solver proves base and
step. Beside each theorem a wrong one is refuted, because contradictory assumptions prove anything.
The proofs are about formulas written here; that lab3.py computes those is tested at random numbers.
"""

from fractions import Fraction

import pytest

pytest.importorskip("hypothesis")
pytest.importorskip("z3")

import z3
from hypothesis import given
from hypothesis import strategies as st

import lab3
from oracles.simulation import places
from random_machines import cases_of_both
from report.steps import compute_bound, slowest_node_bound


def find_solution(*claims):
    """Numbers for which all claims hold, or None if there are none."""
    solver = z3.Solver()
    solver.set("timeout", 10_000)
    solver.add(*claims)
    verdict = solver.check()
    assert verdict != z3.unknown, solver.reason_unknown()
    return solver.model() if verdict == z3.sat else None


def prove(claim, *assumptions):
    """No numbers satisfy the assumptions and not the claim, yet some satisfy the assumptions."""
    assert find_solution(*assumptions) is not None
    counterexample = find_solution(*assumptions, z3.Not(claim))
    assert counterexample is None, counterexample


def refute(claim, *assumptions):
    """Some numbers satisfy the assumptions and not the claim."""
    assert find_solution(*assumptions, z3.Not(claim)) is not None


def value(expression, numbers):
    """The expression's exact value, given those of its variables."""
    exact = [(variable, z3.RealVal(str(number))) for variable, number in numbers.items()]
    return Fraction(z3.simplify(z3.substitute(expression, *exact)).as_string())


# ------------------------------------------------ the pipeline: sum + (N - 1) * longest
#
# Steps take t_1, t_2, ...; S_k is the sum and m_k the longest of the first k. D(i, k) is when input
# i leaves step k, which takes it once it has left step k - 1 and input i - 1 has left:
#
#     D(i, k) = max(D(i, k-1), D(i-1, k)) + t_k        all inputs wait at time 0: D(i, 0) = 0
#
# Claim: D(i, k) = S_k + (i - 1) * m_k. Induction over k and, within it, over i.
#   i = 1: nobody is before the first input, so D(1, k) = D(1, k-1) + t_k = S_k.
#   k = 1: the step never rests, so D(i, 1) = i * t_1 = S_1 + (i - 1) * m_1.
#   Else, with S = S_(k-1), m = m_(k-1), t = t_k, the two times of which the later counts are
#   S + (i - 1) * m and S + t + (i - 2) * max(m, t). If t <= m the first is later, and t after it
#   is S + t + (i - 1) * m. If t > m the second is, and t after it is S + t + (i - 1) * t. Both are
#   the claim for S_k = S + t and m_k = max(m, t).

i, n, t = z3.Reals("i N t")
total, longest, longest_now = z3.Reals("S m m_k")  # of the steps before, and with this one
leaves = z3.Real("D")
STEPS = [total >= 0, longest >= 0, t >= 0]


def law(inputs, total, longest):
    return total + (inputs - 1) * longest


def is_one_of(number, others):
    return z3.Or([number == other for other in others])


def leaves_after(*times):
    """t after the latest of these times."""
    later = [time + t for time in times]
    return [*(leaves >= time for time in later), is_one_of(leaves, later)]


def test_the_law_for_the_first_input_and_the_first_step():
    first_input = leaves_after(law(1, total, longest))
    prove(leaves == law(1, total + t, longest_now), *STEPS, *first_input)
    first_step = leaves_after(law(i - 1, t, t))
    prove(leaves == law(i, t, t), *STEPS, *first_step, i >= 2)
    refute(leaves == law(i - 1, t, t), *STEPS, *first_step, i >= 2)


def test_the_law_by_induction():
    both = leaves_after(law(i, total, longest), law(i - 1, total + t, longest_now))
    step = [*STEPS, i >= 2, *both, is_one_of(longest_now, [longest, t])]
    is_longest = [longest_now >= longest, longest_now >= t]
    is_shortest = [longest_now <= longest, longest_now <= t]
    prove(leaves == law(i, total + t, longest_now), *step, *is_longest)
    refute(leaves == law(i, total + t, longest_now), *step, *is_shortest)


# ------------------------------------------------ shards: how many move, by induction over P nodes
#
# Count links crossed by shards. For one node there is nothing to do. Beside P nodes, one more:
#
#   all-gather, both: it needs P shards, and P nodes need its own: 2 P more that arrive, each over
#       one link all-to-all; around a ring, too, each link crossed is an arrival, as all keep a copy
#   gather all-to-all: one shard over one link more
#   gather on a ring: the new node is the farthest, its shard crosses P links

p = z3.Real("P")
MOVED = {  # among P nodes, what one node more adds, and a wrong number
    "all-gather": (p * (p - 1), 2 * p, p * p),
    "gather, all-to-all": (p - 1, 1, p),
    "gather, ring": (p * (p - 1) / 2, p, p - 1),
}


@pytest.mark.parametrize(("moved", "added", "wrong"), MOVED.values(), ids=MOVED)
def test_how_many_shards_move(moved, added, wrong):
    def is_by_induction(moved):
        none, one_more = (z3.substitute(moved, (p, nodes)) for nodes in (z3.RealVal(1), p + 1))
        return z3.And(none == 0, moved + added == one_more)

    prove(is_by_induction(moved), p >= 1)
    refute(is_by_induction(wrong), p >= 1)


# ------------------------------------------------ shards: when they arrive
#
# All-to-all after S / B: each shard that a node lacks is at a peer, with a link for it. On a ring,
# in each round of S / B every node passes on the shard that reached it last, first its own.
# Claim: after s rounds a node has the shards of the s nodes before it, those at a distance d <= s.
# To begin with only its own, d = 0. In round s + 1 the node before passes on the shard at distance
# s from itself, which is s + 1 from the receiver. So all have all after P - 1 rounds, and not
# before: the shard at distance P - 1 is missing. A gather is a part of this, and takes as long.


def test_rounds_of_the_ring():
    d, rounds, nodes = z3.Ints("d s P")
    ring = [nodes >= 2, d >= 0, d < nodes]
    in_time = [rounds >= 0, rounds <= nodes - 2]

    def has_arrived(rounds):
        return d <= rounds

    passed_on = z3.And(d >= 1, d - 1 == rounds)  # by the node before
    prove(has_arrived(0) == (d == 0), *ring)
    prove(z3.Or(has_arrived(rounds), passed_on) == has_arrived(rounds + 1), *ring, *in_time)
    refute(z3.Or(has_arrived(rounds), passed_on) == has_arrived(rounds + 2), *ring, *in_time)
    prove(has_arrived(nodes - 1), *ring)
    refute(has_arrived(nodes - 2), *ring)


# No schedule is faster. In T seconds a link brings at most B * T bytes. A node that gathers must
# receive P - 1 shards, whatever else travels, and has P - 1 links in (all-to-all) or one (ring).

bandwidth, seconds, shard = z3.Reals("B T S")
ROUNDS = {"all-to-all": z3.RealVal(1), "ring": p - 1}


@pytest.mark.parametrize(("topology", "links_in"), [("all-to-all", p - 1), ("ring", 1)])
def test_no_schedule_of_a_gather_is_faster(topology, links_in):
    complete = [bandwidth > 0, shard > 0, p >= 2, (p - 1) * shard <= links_in * bandwidth * seconds]
    prove(seconds >= ROUNDS[topology] * shard / bandwidth, *complete)
    refute(seconds > ROUNDS[topology] * shard / bandwidth, *complete)


# ------------------------------------------------ the closed forms, and bounds
#
# Tensor parallelism's steps follow each other, and so do its inputs: a layer more adds its step of
# computing and its shards' rounds.

rate, ops, slowest = z3.Reals("R sum(C) max(C)")
sent, last, c, a = z3.Reals("sent A_L C A")  # bytes of all outputs but the last, of the last
POSITIVE = [rate > 0, bandwidth > 0, p >= 2, n >= 1, ops > 0, sent >= 0, last > 0]


def tensor_s(topology, inputs, ops, output_bytes):
    rounds = ROUNDS[topology]
    return inputs * (ops / (p * rate) + rounds * output_bytes / (p * bandwidth))


def tensor_bytes(topology):
    moved, moved_last = MOVED["all-gather"][0], MOVED[f"gather, {topology}"][0]
    return n * (moved * sent / p + moved_last * last / p)


@pytest.mark.parametrize("topology", ROUNDS)
def test_the_form_of_tensor_parallelism(topology):
    before = tensor_s(topology, 1, ops, sent)
    layer = c / p / rate + ROUNDS[topology] * (a / p) / bandwidth
    prove(before + layer == tensor_s(topology, 1, ops + c, sent + a), *POSITIVE)
    refute(before + layer == tensor_s(topology, 1, ops + c, sent + 2 * a), *POSITIVE)
    latency = tensor_s(topology, n, ops, sent)
    prove(latency + before == tensor_s(topology, n + 1, ops, sent), *POSITIVE)


def test_no_schedule_is_faster_than_the_lower_bounds():
    # In T seconds P nodes do at most P * R * T ops, and the slowest node of a pipeline R * T.
    done = [*POSITIVE, n * ops <= p * rate * seconds]
    prove(seconds >= n * ops / (p * rate), *done)
    prove(tensor_s("all-to-all", n, ops, sent) >= n * ops / (p * rate), *POSITIVE)
    refute(seconds > n * ops / (p * rate), *done)
    prove(law(n, total, longest) >= n * longest, n >= 1, longest >= 0, longest <= total)
    refute(law(n, total, longest) > n * longest, n >= 1, longest >= 0, longest <= total)


def test_the_labs_tensor_parallelism_is_faster_for_every_number_of_inputs():
    # milliseconds, as worked out by hand in machines.py
    pipeline = law(n, Fraction("12.43531264"), Fraction("4.62422016"))
    prove(n * Fraction("3.12726016") < pipeline, n >= 1)
    refute(n * Fraction("4.7") < pipeline, n >= 1)


@given(cases_of_both(), st.integers(1, 10**6))
def test_lab3_computes_what_is_proved(case, inputs):
    network, system = case
    macs = [
        layer.filters * layer.in_channels * layer.fx * layer.fy * places(layer) for layer in network
    ]
    sizes = [layer.filters * places(layer) * layer.element_bytes for layer in network]
    compute_s = [2 * number / Fraction(system.ops_per_s) for number in macs]
    send_s = [size / Fraction(system.link_bytes_per_s) for size in sizes[:-1]]
    numbers = {
        n: inputs,
        p: system.nodes,
        rate: system.ops_per_s,
        bandwidth: system.link_bytes_per_s,
        ops: 2 * sum(macs),
        sent: sum(sizes[:-1]),
        last: sizes[-1],
        total: sum(compute_s) + sum(send_s),
        longest: max([*compute_s, *send_s]),
    }
    if system.nodes > 1:
        proved = tensor_s(system.topology, n, ops, sent + last)
        assert lab3.tensor_parallel_latency(*case, inputs) == value(proved, numbers)
        proved = tensor_bytes(system.topology)
        assert lab3.tensor_parallel_traffic(*case, inputs) == value(proved, numbers)
    assert lab3.pipeline_parallel_latency(*case, inputs) == value(law(n, total, longest), numbers)
    assert lab3.pipeline_parallel_traffic(*case, inputs) == value(n * sent, numbers)
    assert compute_bound(*case, inputs) == value(n * ops / (p * rate), numbers)
    assert slowest_node_bound(*case, inputs) == inputs * max(compute_s)
