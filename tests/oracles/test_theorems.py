"""The pipeline's law for any number of inputs and steps, proved by an SMT solver (z3), the proof in
words beside. The simulation, which knows no law either, has up to six inputs and layers.

A claim is proved when its negation has no solution. Induction is ours: the solver proves base and
step. Beside each theorem a wrong one is refuted, because contradictory assumptions prove anything.
Nothing else is proved: tensor parallelism's inputs follow each other, so each adds the same.
"""

from fractions import Fraction

import pytest

pytest.importorskip("hypothesis")
pytest.importorskip("z3")

import z3
from hypothesis import given
from hypothesis import strategies as st

import lab3
from random_machines import cases_of_both

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


def has_solution(*claims):
    """Whether there are numbers for which all claims hold."""
    solver = z3.Solver()
    solver.set("timeout", 10_000)
    solver.add(*claims)
    verdict = solver.check()
    assert verdict != z3.unknown, solver.reason_unknown()
    return verdict == z3.sat


def prove(claim, *assumptions):
    assert has_solution(*assumptions) and not has_solution(*assumptions, z3.Not(claim))


def refute(claim, *assumptions):
    assert has_solution(*assumptions, z3.Not(claim))


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


@given(cases_of_both(), st.integers(1, 10**6))
def test_lab3_computes_the_law(case, inputs):
    network, system = case
    steps_s = [Fraction(layer.ops) / system.ops_per_s for layer in network]
    steps_s += [Fraction(layer.output_bytes) / system.link_bytes_per_s for layer in network[:-1]]
    latency_s = lab3.pipeline_parallel_latency(*case, inputs)
    assert latency_s == law(inputs, sum(steps_s), max(steps_s))


def test_the_labs_tensor_parallelism_is_faster_for_every_number_of_inputs():
    # milliseconds, as worked out by hand in test_lab3.py
    pipeline = law(n, Fraction("12.43531264"), Fraction("4.62422016"))
    prove(n * Fraction("3.12726016") < pipeline, n >= 1)
    refute(n * Fraction("4.7") < pipeline, n >= 1)
