"""What holds for all numbers, proved by an SMT solver (z3), each proof in words beside it.

Independent of lab3.py: the proofs are about formulas written here. Induction is ours: the solver
proves the base and the step. Each theorem has a wrong one beside it, which is refuted, and a test
that lab3 computes what was proved: the solver's own expression, at random numbers.
"""

from fractions import Fraction

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from lab3 import NETWORK, SYSTEM, System, pipeline_parallel_latency, tensor_parallel_latency
from oracles.proofs import maximum, prove, refute, value
from report.search import plan_result
from report.steps import Step, all_gather, gather, latency

# ------------------------------------------------ the law: latency(N) = sum + (N - 1) * longest
#
# Stages take t_1, t_2, ...; S_k is the sum and m_k the longest of the first k. D(i, k) is when
# input i leaves stage k, which takes it once it has left stage k - 1 and input i - 1 has left:
#
#     D(i, k) = max(D(i, k-1), D(i-1, k)) + t_k        all inputs wait at time 0: D(i, 0) = 0
#
# Claim: D(i, k) = S_k + (i - 1) * m_k. Induction over k and, within it, over i.
#   i = 1: nobody is before the first input, so D(1, k) = D(1, k-1) + t_k = S_k.
#   k = 1: the stage never rests, so D(i, 1) = i * t_1 = S_1 + (i - 1) * m_1.
#   Else, with S = S_(k-1), m = m_(k-1), t = t_k, the two times of which the later counts are
#   S + (i - 1) * m and S + t + (i - 2) * max(m, t). If t <= m the first is later, and t after it
#   is S + t + (i - 1) * m. If t > m the second is, and t after it is S + t + (i - 1) * t. Both are
#   the claim for S_k = S + t and m_k = max(m, t).

i, n, t = z3.Reals("i N t")
total, longest, longest_now = z3.Reals("S m m_k")  # of the stages before, and with this one
leaves = z3.Real("D")
STAGES = [total >= 0, longest >= 0, t >= 0]
# Said without a maximum, as the same proof holds with a minimum in each of its places.
IS_LONGEST = [longest_now >= longest, longest_now >= t]
IS_ONE_OF_THEM = z3.Or(longest_now == longest, longest_now == t)


def law(inputs, total, longest):
    return total + (inputs - 1) * longest


def leaves_after(*earlier):
    """It is t after all of these times, and no later."""
    return [
        *(leaves >= time + t for time in earlier),
        z3.Or([leaves == time + t for time in earlier]),
    ]


def test_law_for_the_first_input_and_the_first_stage():
    first_input = leaves_after(law(1, total, longest))
    prove(leaves == law(1, total + t, longest_now), *STAGES, *first_input)
    first_stage = leaves_after(law(i - 1, t, t))
    prove(leaves == law(i, t, t), *STAGES, *first_stage, i >= 2)
    refute(leaves == law(i - 1, t, t), *STAGES, *first_stage, i >= 2)


def test_law_by_induction():
    of_this_input, of_this_stage = law(i, total, longest), law(i - 1, total + t, longest_now)
    step = [*STAGES, i >= 2, IS_ONE_OF_THEM, *leaves_after(of_this_input, of_this_stage)]
    prove(leaves == law(i, total + t, longest_now), *step, *IS_LONGEST)
    is_shortest = [longest_now <= longest, longest_now <= t]
    refute(leaves == law(i, total + t, longest_now), *step, *is_shortest)


def test_law_is_between_a_bottleneck_alone_and_a_single_stage():
    # As 0 <= m <= S: N * m <= S + (N - 1) * m <= N * S, which is reached by a single stage, m = S,
    # tensor parallelism.
    cases = [*STAGES, longest <= total, n >= 1]
    prove(law(n, total, longest) <= n * total, *cases)
    prove(law(n, total, longest) >= n * longest, *cases)
    prove(law(n, total, total) == n * total, *cases)
    refute(law(n, total, longest) < n * total, *cases)
    refute(law(n, total, longest) > n * longest, *cases)


def last_leaves(times, inputs):
    """D(inputs, last stage), step by step."""
    left = [Fraction(0)] * len(times)  # when the input before left each stage
    for _ in range(inputs):
        now = Fraction(0)
        for stage, time in enumerate(times):
            now = left[stage] = max(now, left[stage]) + time
    return now


def latency_of(times, inputs):
    """By lab3, each stage a computation and a transfer of a half each."""
    halves = [time / 2 for time in times]
    stages = [[Step(1, "compute", half, 0, 0), Step(1, "send", 0, half, 0)] for half in halves]
    return latency(stages, System(ops_per_s=1, link_bytes_per_s=1), inputs)


TIMES = st.lists(st.fractions(0, 10**6, max_denominator=1000), min_size=1, max_size=8)


@given(TIMES, st.integers(1, 30), st.integers(1, 10**12))
def test_lab3_computes_the_proved_law(times, few, many):
    assert latency_of(times, few) == last_leaves(times, few)
    proved = law(n, total, longest)
    for inputs in (few, many):
        numbers = {n: inputs, total: sum(times), longest: max(times)}
        assert latency_of(times, inputs) == value(proved, numbers)


# ------------------------------------------------ collectives, by induction over P nodes
#
# Count links passed by shards. For one node there is nothing to do. Beside P nodes, one more:
#
#   all-gather, both: it needs P shards, and P nodes need its own: 2 P more that arrive, each over
#       one link all-to-all; around a ring each link passed is an arrival too, as all keep a copy.
#       With P (P - 1) before, (P + 1) P after.
#   gather all-to-all: one shard over one link more: P - 1.
#   gather on a ring: the new node is the farthest, its shard passes P links: P (P - 1) / 2.

p = z3.Real("P")
NODES, SHARD_BYTES = st.integers(1, 10**6), st.integers(1, 10**9)
COLLECTIVES = [  # shards moved among P nodes, what one node more adds to them, a wrong number
    (all_gather, "all-to-all", p * (p - 1), 2 * p, p * p),
    (all_gather, "ring", p * (p - 1), 2 * p, p * (p - 1) / 2),
    (gather, "all-to-all", p - 1, 1, p),
    (gather, "ring", p * (p - 1) / 2, p, p - 1),
]


def is_by_induction(shards, added):
    none, one_more = (z3.substitute(shards, (p, nodes)) for nodes in (z3.RealVal(1), p + 1))
    return z3.And(none == 0, shards + added == one_more)


@pytest.mark.parametrize(("moved", "added", "wrong"), [row[2:] for row in COLLECTIVES])
def test_bytes_of_collectives(moved, added, wrong):
    prove(is_by_induction(moved, added), p >= 1)
    refute(is_by_induction(wrong, added), p >= 1)


@pytest.mark.parametrize(("collective", "topology", "moved"), [row[:3] for row in COLLECTIVES])
@given(nodes=NODES, shard_bytes=SHARD_BYTES)
def test_lab3_moves_the_proved_bytes(collective, topology, moved, nodes, shard_bytes):
    step = collective(1, shard_bytes, System(nodes=nodes, topology=topology))
    assert step.traffic_bytes == value(moved, {p: nodes}) * shard_bytes


# Rounds of the ring's all-gather. In each, every node passes on the shard that reached it last, in
# the first its own. Claim: after s rounds a node has the shards of the s nodes before it, those at
# a distance d <= s. None to begin with but its own, d = 0. In round s + 1 the node before passes
# on the shard at distance s from itself, which is s + 1 from the receiver. So all have all after
# P - 1 rounds, and not before: the shard at distance P - 1 is missing. A round takes S / B.
#
# All-to-all needs one round: each shard that a node lacks is at a peer, with a link for it.


def test_rounds_of_the_rings_all_gather():
    d, rounds, nodes = z3.Ints("d s P")
    ring = [nodes >= 2, d >= 0, d < nodes]

    def arrived(rounds):
        return d <= rounds

    from_the_node_before = z3.If(d == 0, nodes - 1, d - 1)  # the same shard's distance from there
    passed_on = from_the_node_before == rounds
    in_time = [rounds >= 0, rounds <= nodes - 2]
    prove(arrived(0) == (d == 0), *ring)
    prove(z3.Or(arrived(rounds), passed_on) == arrived(rounds + 1), *ring, *in_time)
    refute(z3.Or(arrived(rounds), passed_on) == arrived(rounds + 2), *ring, *in_time)
    prove(arrived(nodes - 1), *ring)
    refute(arrived(nodes - 2), *ring)  # one round less is not enough


# Slots of the ring's gather. Number each link by how far from the collector it starts. The shard of
# the node at distance d enters link d in slot 1 and goes on without waiting: it is on link j in
# slot d - j + 1. Two shards never meet, as link and slot tell the shard; and the last, d = P - 1,
# leaves link 1 in slot P - 1.


def slot(shard, link):
    return shard - link + 1


def test_slots_of_the_rings_gather():
    nodes, link = z3.Ints("P j")
    one, other = z3.Ints("one other")
    ring = [link >= 1, link <= one, link <= other, one < nodes, other < nodes]
    prove((one == other) == (slot(one, link) == slot(other, link)), *ring)
    prove(z3.And(slot(one, one) == 1, slot(one, link - 1) == slot(one, link) + 1), *ring)
    refute(slot(one, link) == slot(other, link), *ring)
    prove(slot(one, link) <= nodes - 1, *ring)
    refute(slot(one, link) <= nodes - 2, *ring)


# No schedule is faster. In T seconds a link brings at most B * T bytes, k links k * B * T. A node
# that gathers must receive P - 1 shards, whatever else travels, and has P - 1 links in (all-to-all)
# or one (ring): T >= S / B, T >= (P - 1) * S / B. No schedule moves less: every shard lacked must
# arrive, P - 1 at each gathering node, and a shard that is d links away from the ring's collector
# passes d links.

rate, seconds, shard = z3.Reals("B T S")
AT_LEAST_S = {"all-to-all": shard / rate, "ring": (p - 1) * shard / rate}
LINKS_IN = {"all-to-all": p - 1, "ring": 1}


@pytest.mark.parametrize("topology", LINKS_IN)
def test_no_schedule_is_faster(topology):
    at_most = LINKS_IN[topology] * rate * seconds
    complete = [rate > 0, shard > 0, p >= 2, (p - 1) * shard <= at_most]
    prove(seconds >= AT_LEAST_S[topology], *complete)
    refute(seconds > AT_LEAST_S[topology], *complete)


@pytest.mark.parametrize("collective", [all_gather, gather])
@pytest.mark.parametrize("topology", LINKS_IN)
@given(nodes=NODES.filter(lambda nodes: nodes > 1), shard_bytes=SHARD_BYTES)
def test_lab3_takes_the_proved_times(collective, topology, nodes, shard_bytes):
    step = collective(1, shard_bytes, System(nodes=nodes, topology=topology))
    assert step.link_bytes == value(AT_LEAST_S[topology], {p: nodes, shard: shard_bytes, rate: 1})


# ------------------------------------------------ the lab's verdicts for every link bandwidth
#
# With x = 1 / B, in seconds, for N inputs (ops of the layers, their output bytes, R = 50 * 10^9):
#
#   tensor    N * (606,661,632 / 4 / R + (751,616 / 4) * x)
#   pipeline  606,661,632 / R + 604,160 * x + (N - 1) * max(231,211,008 / R, 230,400 * x)
#
# N = 32. Where the send of 230,400 bytes is the longest stage, below 49.8 MB/s, the pipeline's time
# is 0.01213323264 + 7,746,560 x, tensor parallelism's 0.09706586112 + 6,012,928 x: the pipeline is
# faster if 1,733,632 x < 0.08493262848. Above that, it takes 0.1554840576 + 604,160 x, and is
# faster if 5,408,768 x > 0.05841819648. N = 9: even at that bandwidth it is not.

OPS = (6_220_800, 231_211_008, 199_360_512, 169_869_312)
OUTPUT_BYTES = (230_400, 200_704, 173_056, 147_456)
R = 50 * 10**9
b = z3.Real("B")
LOW, HIGH = Fraction(1_733_632) / Fraction("0.08493262848"), 5_408_768 / Fraction("0.05841819648")
TENSOR_S = n * (Fraction(sum(OPS), 4 * R) + Fraction(sum(OUTPUT_BYTES), 4) / b)
LONGEST_S = maximum(Fraction(max(OPS), R), max(OUTPUT_BYTES[:-1]) / b)
PIPELINE_S = Fraction(sum(OPS), R) + sum(OUTPUT_BYTES[:-1]) / b + (n - 1) * LONGEST_S
PIPELINE_WINS = PIPELINE_S < TENSOR_S


def test_with_32_inputs_the_pipeline_is_faster_between_the_crossovers():
    prove(z3.And(b > LOW, b < HIGH) == PIPELINE_WINS, b > 0, n == 32)
    refute(z3.And(b > LOW, b < HIGH + 1) == PIPELINE_WINS, b > 0, n == 32)


def test_with_9_inputs_or_fewer_the_pipeline_is_never_faster():
    for inputs in range(1, 10):
        prove(z3.Not(PIPELINE_WINS), b > 0, n == inputs)
    refute(z3.Not(PIPELINE_WINS), b > 0, n == 10)


@given(st.sampled_from([LOW, HIGH]) | st.fractions(1, 10**10), st.integers(1, 10**6))
def test_lab3_gives_the_latencies_of_those_verdicts(bandwidth, inputs):
    system = SYSTEM._replace(link_bytes_per_s=bandwidth)
    for proved, function in [
        (TENSOR_S, tensor_parallel_latency),
        (PIPELINE_S, pipeline_parallel_latency),
    ]:
        assert function(NETWORK, system, inputs) == value(proved, {n: inputs, b: bandwidth})


# ------------------------------------------------ of all plans, tensor parallelism is the fastest
#
# A plan's latency is sum + (N - 1) * longest, a straight line in N. Tensor parallelism's is below
# every other plan's at N = 1, and rises less with each input: no other longest stage is as short as
# its 3.12726016 ms. Below the lab's bandwidth that ends: at 50 MB/s others are faster.

FAST, SLOW = 2 * 10**9, 50 * 10**6
TENSOR = ((4, 4),)


def all_plans(layers, nodes):
    """Of as many layers on as many nodes or fewer; 3 does not divide 128 filters."""
    if not layers:
        yield ()
    for first in range(1, layers + 1):
        for size in (1, 2, 4):
            if size <= nodes:
                yield from (
                    ((first, size), *rest) for rest in all_plans(layers - first, nodes - size)
                )


PLANS = list(all_plans(4, 4))


def plan_s(plan, bandwidth):
    """For N inputs, from the layers' ops and bytes: its groups' and its sends' seconds."""
    times, layer = [], 0
    for layers, nodes in plan:
        ops, sizes = OPS[layer : layer + layers], OUTPUT_BYTES[layer : layer + layers]
        layer += layers
        is_last = layer == len(OPS)
        exchanged = sum(sizes if is_last else sizes[:-1]) if nodes > 1 else 0
        times.append(Fraction(sum(ops), nodes * R) + Fraction(exchanged, nodes * bandwidth))
        if not is_last:
            times.append(Fraction(sizes[-1], nodes * bandwidth))
    return sum(times) + (n - 1) * max(times)


def tensor_is_fastest(bandwidth):
    others = [plan_s(plan, bandwidth) for plan in PLANS if plan != TENSOR]
    return z3.And([plan_s(TENSOR, bandwidth) < other for other in others])


def test_tensor_parallelism_is_the_fastest_of_all_28_plans_for_every_number_of_inputs():
    assert len(PLANS) == len(set(PLANS)) == 28
    prove(tensor_is_fastest(FAST), n >= 1)
    refute(tensor_is_fastest(SLOW), n >= 1)


@pytest.mark.parametrize("bandwidth", [FAST, SLOW])
@pytest.mark.parametrize("inputs", [1, 2, 10**6])
def test_lab3_gives_the_latencies_of_that_theorem(bandwidth, inputs):
    system = SYSTEM._replace(link_bytes_per_s=bandwidth)
    for plan in PLANS:
        proved = value(plan_s(plan, bandwidth), {n: inputs})
        assert plan_result(NETWORK, system, plan, inputs).latency_s == proved
