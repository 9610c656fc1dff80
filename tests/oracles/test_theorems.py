"""The pipeline's law for any number of inputs and steps, proved by an SMT solver (z3); lab3.py
computes this law. The simulation, which knows no law, has six inputs at most."""

from fractions import Fraction

import pytest

pytest.importorskip("hypothesis")
pytest.importorskip("z3")

import z3
from hypothesis import given
from hypothesis import strategies as st

import lab3
from random_machines import cases_of_both


def law(inputs, total, longest):
    return total + (inputs - 1) * longest


def prove(claim, *assumptions):
    """A claim is proved if its negation has no solution, but the assumptions have one."""
    for claims, expected in (([], z3.sat), ([z3.Not(claim)], z3.unsat)):
        solver = z3.Solver()
        solver.set("timeout", 10_000)
        solver.add(*assumptions, *claims)
        assert solver.check() == expected


# Steps take t_1, t_2, ...; S_k is the sum and m_k the longest of the first k. D(i, k) is when input
# i leaves step k, which takes it once it has left step k - 1 and input i - 1 has left:
#
#     D(i, k) = max(D(i, k-1), D(i-1, k)) + t_k        all inputs wait at time 0: D(i, 0) = 0
#
# Claim: D(i, k) = S_k + (i - 1) * m_k. Induction over k, from S_0 = m_0 = 0, and within it over i,
# from D(1, k) = D(1, k-1) + t_k: nobody is before the first input. With S and m of step k - 1:


def test_the_law_by_induction():
    i, t, total, longest = z3.Reals("i t S m")
    longest_now = z3.If(t > longest, t, longest)
    steps = [total >= 0, longest >= 0, t >= 0]
    prove(law(1, total, longest) + t == law(1, total + t, longest_now), *steps)
    left_before, other_left = law(i, total, longest), law(i - 1, total + t, longest_now)
    leaves = z3.If(left_before > other_left, left_before, other_left) + t
    prove(leaves == law(i, total + t, longest_now), *steps, i >= 2)


@given(cases_of_both(), st.integers(1, 10**6))
def test_lab3_computes_the_law(case, inputs):
    network, system = case
    steps_s = [Fraction(layer.ops) / system.ops_per_s for layer in network]
    steps_s += [Fraction(layer.output_bytes) / system.link_bytes_per_s for layer in network[:-1]]
    latency_s = lab3.pipeline_parallel_latency(*case, inputs)
    assert latency_s == law(inputs, sum(steps_s), max(steps_s))
