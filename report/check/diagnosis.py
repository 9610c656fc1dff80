"""The rule: which mistakes explain a submission's numbers.

An explanation of a strategy is one mistake, or two, that make wrong numbers and contradict no right
one. Both strategies are explained together: first as many wrong numbers as possible, then by as few
mistakes as possible. Digits are the evidence: without enough of them, nothing is claimed. (It is a
minimum-cardinality diagnosis with fault models.) Examples are of the lab.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from math import nan
from typing import Any, NamedTuple

from report.check.mistakes import MISTAKES, Mistake, list_models
from report.check.number import LEAST_DIGITS, Number
from report.check.submission import Line
from report.model import LAYER_SIZES, parse
from report.question import Question
from report.text import GIGA, Exact, format_number

MOST_LAYERS = 20  # of a network for which two mistakes are tried together
CONSTANTS = [
    ("R", "ops_per_s", "a node has {} GOPS"),
    ("B", "link_bytes_per_s", "links have {} GB/s"),
]
SIZES = {formula.name for formula in parse(LAYER_SIZES)}  # the same in both strategies

Mistakes = tuple[Mistake, ...]
Numbers = Mapping[Line, Number]


class Case(NamedTuple):
    """A strategy's numbers in a submission, and what may have made them."""

    question: Question
    strategy: str
    readings: Mistakes  # what the course computes otherwise than lab3.py
    more: Mistakes  # that are looked for, before those of the table
    right: Numbers
    wrong: Numbers

    def predict(self, line: Line, mistakes: Mistakes = ()) -> Exact:
        """Predict a line's number, as the course reads the handout, or with mistakes."""
        number: Exact = recall(self.question, line, list_edits(self.readings, mistakes))
        return number


class Explanation(NamedTuple):
    """Mistakes that make wrong numbers."""

    strategies: tuple[str, ...]
    mistakes: Mistakes = ()
    lines: tuple[Line, ...] = ()  # of the numbers


Pair = tuple[Explanation, ...]  # of tensor, of pipeline parallelism, as are cases


# ------------------------------------------------ what mistakes make
def list_edits(readings: Mistakes, mistakes: Mistakes = ()) -> tuple[str, ...]:
    """List the edits of a course's readings, then of mistakes. A mistake that edits the same name
    as a reading takes its place."""
    names = {name for mistake in mistakes for name in mistake.names}
    kept = [reading for reading in readings if not names & reading.names]
    return tuple(mistake.edit for mistake in (*kept, *mistakes))


def predict(question: Question, line: Line, edits: tuple[str, ...], real: Any = Fraction) -> Any:
    """Predict a line's number with edits: seconds or bytes, NaN if formulas do not fit together."""
    model = list_models(question, line.strategy, real)[line.question == "Q2"]
    try:
        return model.edit(*edits)[f"printed_{line.kind}"]
    except ValueError:
        return nan


recall = lru_cache(maxsize=100_000)(predict)


@lru_cache(maxsize=64)
def list_candidates(strategy: str, more: Mistakes, amount: int) -> list[Mistakes]:
    """List each mistake, or each two that do not edit the same names: those that share one in both
    orders, because each edits what the one before it made."""
    known = [it for it in (*more, *MISTAKES) if strategy in it.strategies]
    if amount == 1:
        return [(mistake,) for mistake in known]
    pairs = [two for two in combinations(known, 2) if two[0].names != two[1].names]
    return [*pairs, *(two[::-1] for two in pairs if two[0].names & two[1].names)]


@lru_cache(maxsize=256)
def estimate(
    question: Question, line: Line, readings: Mistakes, more: Mistakes, amount: int
) -> list[float]:
    """Estimate, in floats, a line's number with each of the candidates."""
    candidates = list_candidates(line.strategy, more, amount)
    edits = [list_edits(readings, mistakes) for mistakes in candidates]
    return [predict(question, line, own, float) for own in edits]


# ------------------------------------------------ one strategy
def find_explanations(case: Case, amount: int) -> list[Explanation]:
    """Find the explanations of a strategy by one mistake, or by two: in floats, then exactly. One
    mistake may leave one wrong number, a slip; two leave none."""
    if not case.wrong or (amount == 2 and len(case.question.network) > MOST_LAYERS):
        return []
    least = max(1, len(case.wrong) + amount - 2)  # wrong numbers that are made
    groups = [(*lines, *case.right) for lines in combinations(case.wrong, least)]
    near = {at for lines in groups for at in find_near(case, amount, lines)}
    candidates = list_candidates(case.strategy, case.more, amount)
    tried = [candidates[at] for at in sorted(near)]
    found = [Explanation((case.strategy,), it, list_explained(case, it)) for it in tried]
    unique = {frozenset(it.mistakes): it for it in reversed(found) if len(it.lines) >= least}
    return [*reversed(unique.values())]


def find_near(case: Case, amount: int, lines: Iterable[Line]) -> Iterable[int]:
    """Find the places of candidates whose estimates are near the numbers of lines."""
    numbers = {**case.wrong, **case.right}
    near: Iterable[int] = range(len(list_candidates(case.strategy, case.more, amount)))
    for line in lines:
        estimates = estimate(case.question, line, case.readings, case.more, amount)
        spans = numbers[line].near
        near = [at for low, high in spans for at in near if low <= estimates[at] < high]
        if not near:  # other lines need not be estimated
            break
    return near


def list_explained(case: Case, mistakes: Mistakes) -> tuple[Line, ...]:
    """List the wrong numbers that mistakes make. None, if they contradict a right one, or make one
    alone and a wrong one of Q1 otherwise than it is, if none has three digits, or if one of two
    mistakes has no part in any: if both only cancel each other out in right numbers, that is a
    coincidence."""
    answers = {line: case.predict(line, mistakes) for line in (*case.wrong, *case.right)}
    lines = tuple(line for line, number in case.wrong.items() if number.agrees(answers[line]))
    parts = [*combinations(mistakes, len(mistakes) - 1)]
    have_parts = all(any(case.predict(it, part) != answers[it] for it in lines) for part in parts)
    is_contradicted = any(not it.agrees(answers[line]) for line, it in case.right.items())
    for line in case.wrong.keys() - {*lines} if len(lines) == 1 else ():
        is_contradicted |= line.question == "Q1" and answers[line] != case.predict(line)
    is_evident = any(case.wrong[line].digits >= LEAST_DIGITS for line in lines)
    return lines if have_parts and is_evident and not is_contradicted else ()


# ------------------------------------------------ both strategies
def diagnose(cases: Sequence[Case]) -> list[Pair]:
    """Find the best explanations of both strategies; several if they are equally good. A wrong
    constant, then two mistakes are tried only if one leaves something."""
    found = [[Explanation((case.strategy,))] for case in cases]
    for amount in 1, 2:
        best = choose(cases, found)[0]
        if any(len(it.lines) < len(case.wrong) for it, case in zip(best, cases, strict=True)):
            if amount == 2 and (constant := find_constant(cases)):
                return [tuple(Explanation((it.strategy,), constant, (*it.wrong,)) for it in cases)]
            longer = [find_explanations(case, amount) for case in cases]
            found = [[*before, *new] for before, new in zip(found, longer, strict=True)]
    return choose(cases, found)


def find_constant(cases: Sequence[Case]) -> Mistakes:
    """Find the wrong constant, of one digit or two, that makes all wrong numbers of both
    strategies. Tensor parallelism's Q1 tells it, two digits more precisely: latency is linear in 1
    / R and in 1 / B."""
    case, line = cases[0], Line("Q1", cases[0].strategy, "latency")
    number, right = case.wrong.get(line, Number()), case.predict(line)
    for (name, field, clause), digits in product(CONSTANTS, (1, 2)):
        value = Fraction(getattr(case.question.system, field))
        part = 2 * (right - case.predict(line, (Mistake("", f"{name} = 2 * {name}"),)))
        own_part = number.amount - (right - part)
        if part and own_part > 10 ** (digits + 1) * number.rounding:
            constant = Fraction(f"{float(value * part / own_part):.{digits - 1}e}")
            clause = clause.format(format_number(constant / GIGA))
            mistakes = (Mistake(clause, f"{name} = {constant}"),)
            if all(it.wrong and list_explained(it, mistakes) == (*it.wrong,) for it in cases):
                return mistakes
    return ()


def choose(cases: Sequence[Case], explanations: Sequence[list[Explanation]]) -> list[Pair]:
    """Choose the explanations of the most numbers, then of them those of the fewest mistakes. If
    one is not credible, its strategy's that make as many are dropped, and it is chosen again."""
    found = [*explanations]
    while True:
        most = [max(len(it.lines) for it in own) for own in found]
        best = [[it for it in own if len(it.lines) == most[at]] for at, own in enumerate(found)]
        costs = {pair: count_mistakes(cases, pair) for pair in product(*best)}
        fewest = min(costs.values())
        pairs = [pair for pair, cost in costs.items() if cost == fewest]
        sides = [(at, pair[at], pair[1 - at]) for pair in pairs for at in (0, 1)]
        dropped = {at for at, own, other in sides if not is_credible(cases[at], own, other)}
        if not dropped:
            return pairs
        for at in dropped:
            found[at] = [it for it in found[at] if it not in best[at]]


def count_mistakes(cases: Sequence[Case], pair: Pair) -> int:
    """Count the mistakes of both strategies: one that both share once, one that the other's numbers
    contradict twice. Where only tensor parallelism takes four times as long to compute, "computing
    is not divided by the nodes" is 1, "all nodes together have the GOPS of one" 2."""
    cost = len({*pair[0].mistakes, *pair[1].mistakes})
    for own, other, other_case in zip(pair, pair[::-1], cases[::-1], strict=True):
        cost += sum(changes(other_case, it) for it in own.mistakes if it not in other.mistakes)
    return cost


def changes(case: Case, mistake: Mistake) -> bool:
    """Tell whether a mistake alone changes one of a strategy's numbers."""
    if case.strategy not in mistake.strategies:
        return False
    lines = (*case.right, *case.wrong)
    return any(case.predict(line, (mistake,)) != case.predict(line) for line in lines)


def is_credible(case: Case, explanation: Explanation, other: Explanation) -> bool:
    """Tell whether an explanation has digits enough, without those of Q2 that follow from Q1's:
    0.01223 and 0.3913 have four. Nor may it have a layer's size in another way than the other: "1
    MAC is 4 ops" in one is no explanation beside "1 MAC is 1 op", an earlier row, in the other."""
    own = [it for it in explanation.mistakes if it not in other.mistakes]
    known = (*case.more, *MISTAKES)
    is_second = any(
        its.names & it.names & SIZES and known.index(its) < known.index(it)
        for it, its in product(own, other.mistakes)
    )
    needed = count_needed(case, explanation, len(own))
    lines = [line for line in explanation.lines if find_source(line) not in explanation.lines]
    return not is_second and sum(case.wrong[line].digits for line in lines) >= needed


def count_needed(case: Case, explanation: Explanation, own: int) -> int:
    """Count the digits that the numbers of an explanation need: 2, 4 or 6, if 0, 1 or 2 of its
    mistakes are its own, which the other strategy does not share."""
    if not explanation.mistakes:
        return 0
    wrong = {line: case.wrong[line] for line in explanation.lines}
    off = {line: abs(number.amount - case.predict(line)) for line, number in wrong.items()}
    reach = 2 * 10**own  # 10 or 100 times a number's last place
    if own and all(off[line] < reach * number.rounding for line, number in wrong.items()):
        return 3 + 2 * own  # 0.1555 for 0.1558: "Q2's latency leaves out sending", or a slip
    is_only = len(explanation.mistakes) == len(find_explanations(case, 1)) == 1
    return 2 + 2 * own - is_only  # 0.398: only "inputs do not overlap" makes it


def find_source(line: Line) -> Line | None:
    """Find the line of Q1 that a line of Q2 has N times. The pipeline's latency has none."""
    follows = line.question == "Q2" and line[1:] != ("pipeline", "latency")
    return line._replace(question="Q1") if follows else None
