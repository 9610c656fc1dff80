"""Claims that hold for all numbers, by an SMT solver (z3): proved, or refuted by numbers found.

A claim is proved when its negation has no solution. For each theorem a wrong one should be refuted,
since a proof from contradictory assumptions would prove anything.
"""

from fractions import Fraction

import z3


def solution(*claims):
    """Numbers for which all claims hold, as {name: Fraction}, or None if there are none."""
    solver = z3.Solver()
    solver.set("timeout", 10_000)
    solver.add(*claims)
    verdict = solver.check()
    assert verdict != z3.unknown, solver.reason_unknown()
    if verdict == z3.unsat:
        return None
    model = solver.model()
    constants = [name for name in model.decls() if name.arity() == 0]
    return {str(name): Fraction(model[name].as_string()) for name in constants}


def prove(claim, *assumptions):
    """No numbers satisfy the assumptions and not the claim, yet some satisfy the assumptions."""
    assert solution(*assumptions) is not None
    counterexample = solution(*assumptions, z3.Not(claim))
    assert counterexample is None, counterexample


def refute(claim, *assumptions):
    """Numbers that satisfy the assumptions and not the claim."""
    counterexample = solution(*assumptions, z3.Not(claim))
    assert counterexample is not None
    return counterexample


def maximum(one, other):
    return z3.If(one >= other, one, other)


def value(expression, numbers):
    """The expression's exact value, given those of its variables."""
    exact = [(variable, real(number)) for variable, number in numbers.items()]
    return Fraction(z3.simplify(z3.substitute(expression, *exact)).as_string())


def real(number):
    """A Fraction, an int or a decimal as the solver's exact number."""
    return z3.RealVal(str(Fraction(number)))
