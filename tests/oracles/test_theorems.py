"""What holds for all numbers, proved by an SMT solver (z3), each proof in words beside it.

Induction is ours: the solver proves the base and the step. For each theorem a wrong one is shown to
be refuted. Beside each proof, a test that lab3 computes what was proved.
"""

from fractions import Fraction
from itertools import accumulate

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from lab3 import (
    NETWORK,
    SYSTEM,
    Step,
    System,
    all_gather,
    gather,
    latency,
    pipeline_parallel_latency,
    tensor_parallel_latency,
)
from plans import plan_latency
from proofs import maximum, prove, real, refute

# ------------------------------------------------ the law: latency(N) = sum + (N - 1) * longest
#
# Stages take t_1, t_2, ...; S_k is the sum and m_k the maximum of the first k. D(i, k) is when
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
total, longest = z3.Reals("S m")  # of the stages before
STAGES = [total >= 0, longest >= 0, t >= 0]


def law(inputs, total, longest):
    return total + (inputs - 1) * longest


def test_law_for_the_first_input_and_the_first_stage():
    prove(law(1, total, longest) + t == law(1, total + t, maximum(longest, t)), *STAGES)
    prove(law(i - 1, t, t) + t == law(i, t, t), *STAGES, i >= 2)


def induction_step(law):
    """That D(i, k) follows from D(i, k-1) and D(i-1, k)."""
    stage_before = law(i, total, longest)
    input_before = law(i - 1, total + t, maximum(longest, t))
    return maximum(stage_before, input_before) + t == law(i, total + t, maximum(longest, t))


def test_law_by_induction():
    prove(induction_step(law), *STAGES, i >= 2)
    refute(induction_step(lambda inputs, total, longest: inputs * longest), *STAGES, i >= 2)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda inputs, total, longest: inputs * longest,
        lambda inputs, total, longest: total + inputs * longest,
        lambda inputs, total, longest: inputs * total,
        lambda inputs, total, longest: total,
    ],
    ids=["N * max", "sum + N * max", "N * sum", "sum"],
)
def test_wrong_laws_are_refuted(wrong):
    # Two inputs in two stages, followed by hand; what is found is tried on lab3 too.
    one, two = z3.Reals("one two")
    second_leaves = maximum(one + two, 2 * one) + two
    positive = [one > 0, two > 0]
    prove(second_leaves == law(2, one + two, maximum(one, two)), *positive)
    found = refute(second_leaves == wrong(2, one + two, maximum(one, two)), *positive)
    times = [found["one"], found["two"]]
    assert latency_of(times, 2) == last_leaves(times, 2) != wrong(2, sum(times), max(times))


def test_law_of_one_stage_is_tensor_parallelism():
    # The stage is the sum: S + (N - 1) * S = N * S.
    prove(law(n, total, total) == n * total, *STAGES, n >= 1)
    refute(law(n, total, longest) == n * total, *STAGES, n >= 1, longest <= total)


def test_law_of_a_pipeline_is_between_its_bottleneck_and_one_stage():
    # As 0 <= m <= S: N * m <= S + (N - 1) * m <= N * S.
    cases = [*STAGES, longest <= total, n >= 1]
    prove(law(n, total, longest) <= n * total, *cases)
    prove(law(n, total, longest) >= n * longest, *cases)
    refute(law(n, total, longest) < n * total, *cases)


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


@given(TIMES, st.integers(1, 30))
def test_lab3_computes_the_proved_law(times, inputs):
    assert latency_of(times, inputs) == last_leaves(times, inputs)


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
COLLECTIVES = {  # the function, the topology: shards moved, what one node beside P adds to them
    (all_gather, "all-to-all"): (lambda nodes: nodes * (nodes - 1), lambda nodes: 2 * nodes),
    (all_gather, "ring"): (lambda nodes: nodes * (nodes - 1), lambda nodes: 2 * nodes),
    (gather, "all-to-all"): (lambda nodes: nodes - 1, lambda nodes: 1),
    (gather, "ring"): (lambda nodes: nodes * (nodes - 1) / 2, lambda nodes: nodes),
}


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_bytes_of_collectives(collective):
    moved, added = COLLECTIVES[collective]
    prove(moved(p) == 0, p == 1)
    prove(moved(p) + added(p) == moved(p + 1), p >= 1)
    refute(p * p + added(p) == (p + 1) * (p + 1), p >= 1)

    function, topology = collective
    totals = accumulate((added(nodes) for nodes in range(1, 40)), initial=0)
    for nodes, shards in enumerate(totals, 1):
        _, total_bytes = function(7, System(nodes=nodes, topology=topology))
        assert total_bytes == shards * 7


# Rounds of the ring's all-gather. In each, every node passes on the shard that reached it last, in
# the first its own. Claim: after s rounds a node has the shards of the s nodes before it, those at
# a distance d <= s. None to begin with but its own, d = 0. In round s + 1 the node before passes
# on the shard at distance s from itself, which is s + 1 from the receiver. So all have all after
# P - 1 rounds, and not before: the shard at distance P - 1 is missing. A round takes S / B.
#
# All-to-all needs one round: each shard that a node lacks is at a peer, with a link for it.


def test_rounds_of_the_rings_all_gather():
    d, rounds, nodes = z3.Ints("d s P")
    ring = [nodes >= 2, d >= 0, d < nodes, rounds >= 0, rounds <= nodes - 2]
    from_the_node_before = z3.If(d == 0, nodes - 1, d - 1)  # the same shard's distance from there
    passed_on = from_the_node_before == rounds
    prove(z3.Or(d <= rounds, passed_on) == (d <= rounds + 1), *ring)
    prove(d <= nodes - 1, *ring)
    assert refute(d <= nodes - 2, *ring)["d"] > 0  # one round less is not enough


# Slots of the ring's gather. Number each link by how far from the collector it starts. The shard of
# the node at distance d enters link d in slot 1 and goes on without waiting: it is on link j in
# slot d - j + 1. Two shards never meet, as link and slot tell the shard; and the last, d = P - 1,
# leaves link 1 in slot P - 1.


def test_slots_of_the_rings_gather():
    nodes, link, slot = z3.Ints("P j slot")
    shards = one, other = z3.Ints("one other")
    there = [shard - link + 1 == slot for shard in shards]
    ring = [link >= 1, *(shard >= link for shard in shards), *(shard < nodes for shard in shards)]
    prove(one == other, *there, *ring)
    prove(slot <= nodes - 1, *there, *ring)
    refute(slot <= nodes - 2, *there, *ring)


# No schedule is faster. In T seconds a link brings at most B * T bytes, so k links k * B * T: each
# link more brings B * T more at most. A node that gathers must receive P - 1 shards, whatever else
# travels, and has P - 1 links in (all-to-all) or one (ring): T >= S / B, T >= (P - 1) * S / B.
# No schedule moves less: every shard lacked must arrive, P - 1 at each gathering node, and a shard
# that is d links away from the ring's collector passes d links.


def test_no_schedule_is_faster():
    received, more, links, rate, seconds, shard = z3.Reals("received more k B T S")
    possible = [rate > 0, seconds >= 0, shard > 0, p >= 2, received <= links * rate * seconds]
    with_one_more = received + more <= (links + 1) * rate * seconds
    prove(with_one_more, more <= rate * seconds, links >= 0, *possible)

    complete = received >= (p - 1) * shard
    prove(seconds >= shard / rate, complete, links == p - 1, *possible)
    prove(seconds >= (p - 1) * shard / rate, complete, links == 1, *possible)
    refute(seconds >= (p - 1) * shard / rate, complete, links == p - 1, *possible)


@pytest.mark.parametrize("function", [all_gather, gather])
def test_lab3_takes_the_proved_times(function):
    for nodes in range(2, 40):
        for topology, links_in in [("all-to-all", nodes - 1), ("ring", 1)]:
            system = System(nodes=nodes, topology=topology, link_bytes_per_s=5)
            seconds, _ = function(7, system)
            assert seconds * links_in * 5 == (nodes - 1) * 7


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


def tensor_s(inputs, byte_s):
    compute_s = real(Fraction(sum(OPS), 4 * R))
    return inputs * (compute_s + real(Fraction(sum(OUTPUT_BYTES), 4)) * byte_s)


def pipeline_s(inputs, byte_s):
    compute_s, sent_bytes = real(Fraction(sum(OPS), R)), sum(OUTPUT_BYTES[:-1])
    longest_s = maximum(real(Fraction(max(OPS), R)), max(OUTPUT_BYTES[:-1]) * byte_s)
    return compute_s + sent_bytes * byte_s + (inputs - 1) * longest_s


def pipeline_wins(inputs):
    return pipeline_s(inputs, 1 / b) < tensor_s(inputs, 1 / b)


def lab3_difference_s(inputs, bandwidth):
    """How much longer the pipeline takes, by lab3."""
    system = SYSTEM._replace(link_bytes_per_s=bandwidth)
    return pipeline_parallel_latency(NETWORK, system, inputs) - tensor_parallel_latency(
        NETWORK, system, inputs
    )


def test_with_32_inputs_the_pipeline_is_faster_between_the_crossovers():
    between = z3.And(b > real(LOW), b < real(HIGH))
    prove(pipeline_wins(32) == between, b > 0)
    wider = z3.And(b > real(LOW), b < real(HIGH) + 1)
    found = refute(pipeline_wins(32) == wider, b > 0)["B"]
    assert lab3_difference_s(32, found) >= 0

    assert lab3_difference_s(32, LOW) == lab3_difference_s(32, HIGH) == 0
    for inside, outside in [(LOW + 1, LOW - 1), (HIGH - 1, HIGH + 1)]:
        assert lab3_difference_s(32, inside) < 0 < lab3_difference_s(32, outside)


def test_with_9_inputs_or_fewer_the_pipeline_is_never_faster():
    for inputs in range(1, 10):
        prove(z3.Not(pipeline_wins(inputs)), b > 0)
    found = refute(z3.Not(pipeline_wins(10)), b > 0)["B"]
    assert lab3_difference_s(10, found) < 0
    for inputs in (1, 9, 10):  # at the bandwidth that suits the pipeline best
        best = max(OUTPUT_BYTES) / Fraction(max(OPS), R)
        assert (lab3_difference_s(inputs, best) < 0) == (inputs == 10)


# ------------------------------------------------ of all plans, tensor parallelism is the fastest
#
# A plan's latency is sum + (N - 1) * longest, a straight line in N. Tensor parallelism's is below
# every other plan's at N = 1, and rises less with each input: no other longest stage is as short as
# its 3.12726016 ms. Below the lab's bandwidth that ends: at 50 MB/s others are faster.


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


def stage_times(plan, bandwidth):
    """From the layers' ops and bytes, without lab3: its groups' and its sends' seconds."""
    times, layer = [], 0
    for layers, nodes in plan:
        ops, sizes = OPS[layer : layer + layers], OUTPUT_BYTES[layer : layer + layers]
        layer += layers
        is_last = layer == len(OPS)
        exchanged = sum(sizes if is_last else sizes[:-1]) if nodes > 1 else 0
        times.append(Fraction(sum(ops), nodes * R) + Fraction(exchanged, nodes) / bandwidth)
        if not is_last:
            times.append(Fraction(sizes[-1], nodes) / bandwidth)
    return times


TENSOR = ((4, 4),)
PLANS = list(all_plans(4, 4))


def plan_s(plan, bandwidth):
    """For N inputs, N being any real number."""
    times = stage_times(plan, bandwidth)
    return real(sum(times)) + (n - 1) * real(max(times))


def tensor_is_fastest(bandwidth):
    others = [plan for plan in PLANS if plan != TENSOR]
    tensor = plan_s(TENSOR, bandwidth)
    return z3.And([tensor < plan_s(plan, bandwidth) for plan in others])


def test_tensor_parallelism_is_the_fastest_of_all_28_plans_for_every_number_of_inputs():
    assert len(PLANS) == len(set(PLANS)) == 28
    prove(tensor_is_fastest(2 * 10**9), n >= 1)

    inputs = refute(tensor_is_fastest(50 * 10**6), n >= 1)["N"]
    seconds = {
        plan: sum(times) + (inputs - 1) * max(times)
        for plan, times in ((plan, stage_times(plan, 50 * 10**6)) for plan in PLANS)
    }
    assert min(seconds, key=seconds.get) != TENSOR


@pytest.mark.parametrize("bandwidth", [2 * 10**9, 50 * 10**6])
def test_lab3_gives_the_latencies_of_that_theorem(bandwidth):
    system = SYSTEM._replace(link_bytes_per_s=bandwidth)
    for plan in PLANS:
        times = stage_times(plan, bandwidth)
        for inputs in (1, 2):  # two points tell a straight line
            expected = sum(times) + (inputs - 1) * max(times)
            assert plan_latency(NETWORK, system, plan, inputs) == expected
