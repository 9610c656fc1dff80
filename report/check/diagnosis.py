"""The rule: which mistakes explain a submission's numbers.

An explanation of a strategy is one mistake or two that reproduce wrong numbers and contradict no
right number. Those of both strategies are chosen together, to explain the most wrong numbers; among
equals, by the fewest mistakes. Digits are the evidence: without enough of them, nothing is claimed.
(This is a minimum-cardinality diagnosis with fault models.) Examples are from the lab.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from math import prod
from typing import NamedTuple

from report.check.mistakes import MISTAKES, Line, Mistake, compute_line, evaluate_line, make_model
from report.check.reading import LEAST_DIGITS, Number
from report.model import STRATEGIES
from report.question import Question

# ------------------------------------------------ thresholds, and the example that sets each
MOST_LAYERS = 20  # for pairs of mistakes: with 20, a search that finds nothing takes 0.7 s
MOST_LEFT = {1: 1, 2: 0}  # wrong numbers that 1 or 2 mistakes may leave: 1 of 4 may be a slip
NEEDED_DIGITS = 2, 4, 6  # for 0, 1 or 2 mistakes that the other strategy does not share: 0.01223,
# not 0.0122, shows that computing is undivided; 0.0124151 also that links are used one at a time
SHARED_PAIR_DIGITS = 7  # of both strategies, for two mistakes that they share: 0.00319 and 0.0126,
# of links with 1.205 GB/s, do not show that layer 1 is not computed, and the bandwidth is halved
ONLY_ONE = 1  # digit less if no other mistake fits: 0.398, not 0.40, shows inputs one after another
SLIP, SLIP_REACH = 1, (0, 10, 100)  # digit more if each number is within this many last places of
# the right one, for 0, 1 or 2 mistakes not shared: 0.1555 may be a slip of 0.1558
WIDENING = 1e-9  # of a span, relative to its ends: more than a float's rounding error
FOLLOW_TOLERANCE = Fraction(1, 500)  # of Q2's number, from N times Q1's: 0.2277 is not 32 * 0.0071

Mistakes = tuple[Mistake, ...]
Numbers = Mapping[Line, Number]


class Case(NamedTuple):
    """A strategy's numbers in a submission."""

    question: Question
    strategy: str
    right: Numbers
    wrong: Numbers

    @property
    def numbers(self) -> Numbers:
        """Return all numbers, wrong or right."""
        return {**self.wrong, **self.right}

    def compute(self, line: Line, mistakes: Mistakes = ()) -> Fraction:
        """Compute a line's number with mistakes."""
        return compute_line(self.question, line, mistakes)


class Explanation(NamedTuple):
    """Mistakes, and the lines whose wrong numbers they explain."""

    mistakes: Mistakes = ()
    lines: tuple[Line, ...] = ()


Pair = tuple[Explanation, ...]  # for tensor, then pipeline parallelism, the order of cases


@lru_cache(maxsize=64)
def list_candidates(strategy: str, size: int) -> list[Mistakes]:
    """List each mistake, or each pair whose sets of names differ. A pair that shares a name is in
    the list in both orders, because the second edit applies to the result of the first."""
    known = [mistake for mistake in MISTAKES if strategy in mistake.strategies]
    if size == 1:
        return [(mistake,) for mistake in known]
    pairs = [(one, two) for one, two in combinations(known, 2) if one.names != two.names]
    return [*pairs, *((two, one) for one, two in pairs if one.names & two.names)]


@lru_cache(maxsize=256)
def list_estimates(question: Question, line: Line, size: int) -> list[float]:
    """List a line's number, as a float, with each of the candidates."""
    model, candidates = make_model(question, line, float), list_candidates(line.strategy, size)
    return [evaluate_line(model, line, mistakes) for mistakes in candidates]


# ------------------------------------------------ one strategy
def find_explanations(case: Case, size: int) -> list[Explanation]:
    """Find the explanations of a strategy by one mistake, or by a pair."""
    wrong = [line for line in case.wrong if not find_times(case.question, case.wrong, line)]
    least = max(1, len(wrong) - MOST_LEFT[size])  # wrong numbers to explain
    unique: dict[frozenset[Mistake], Explanation] = {}  # the first of two orders
    for lines in combinations(wrong, least):
        for mistakes in find_near(case, size, (*lines, *case.right)):  # each right number
            explanation = Explanation(mistakes, list_explained(case, mistakes))
            if len({*explanation.lines} & {*wrong}) >= least:
                unique.setdefault(frozenset(mistakes), explanation)
    return [*unique.values()]


def find_near(case: Case, size: int, lines: Iterable[Line]) -> list[Mistakes]:
    """Find the candidates whose estimates are near the numbers of all these lines."""
    candidates = list_candidates(case.strategy, size)
    places: Iterable[int] = range(len(candidates))
    for line in lines:
        estimates = list_estimates(case.question, line, size)
        spans = case.numbers[line].spans
        near = [(float(low) * (1 - WIDENING), float(high) * (1 + WIDENING)) for low, high in spans]
        places = [n for low, high in near for n in places if low <= estimates[n] < high]
        if not places:  # other lines need not be estimated
            break
    return [candidates[place] for place in places]


def list_explained(case: Case, mistakes: Mistakes) -> tuple[Line, ...]:
    """List the lines whose wrong numbers mistakes make, exactly. There are none if a right number
    is contradicted, no number has three digits, or one of two mistakes is not needed; or if only
    one number is made, and another wrong one of Q1 would change, but not match."""
    answers = {line: case.compute(line, mistakes) for line in case.numbers}
    lines = tuple(line for line, number in case.wrong.items() if number.agrees(answers[line]))
    others = [line for line in case.wrong if line.question == "Q1" and line not in lines]
    if not all(number.agrees(answers[line]) for line, number in case.right.items()):
        return ()
    if len(lines) == 1 and any(answers[line] != case.compute(line) for line in others):
        return ()
    if all(case.wrong[line].digits < LEAST_DIGITS for line in lines):
        return ()
    for rest in combinations(mistakes, len(mistakes) - 1):
        if all(case.compute(line, rest) == answers[line] for line in lines):
            return ()
    return lines


# ------------------------------------------------ both strategies
def diagnose(cases: Sequence[Case]) -> list[Pair]:
    """Find the best pair of explanations, or several equally good pairs. Two mistakes are tried
    only if single mistakes leave a wrong number unexplained."""
    explanations = [[Explanation()] for _ in cases]
    for size in (1, 2) if len(cases[0].question.network) <= MOST_LAYERS else (1,):
        for case, known in zip(cases, explanations, strict=True):
            known.extend(find_explanations(case, size))
        pairs = choose(cases, explanations)
        if sum(len(each.lines) for each in pairs[0]) == sum(len(case.wrong) for case in cases):
            return pairs
    return pairs


def choose(cases: Sequence[Case], explanations: Iterable[list[Explanation]]) -> list[Pair]:
    """Choose the pairs that explain the most numbers by the fewest mistakes. If an explanation is
    not credible, drop all that explain as many of its strategy's numbers, and choose again."""
    left = [*explanations]
    while True:
        most = [max(len(each.lines) for each in known) for known in left]
        best = [[each for each in left[n] if len(each.lines) == most[n]] for n in (0, 1)]
        costs = {pair: count_mistakes(cases, pair) for pair in product(*best)}
        fewest = min(costs.values())
        pairs = [pair for pair, cost in costs.items() if cost == fewest]
        doubted = {side for pair in pairs for side in (0, 1) if not is_credible(cases, pair, side)}
        if not doubted:
            return pairs
        for side in doubted:
            left[side] = [each for each in left[side] if each not in best[side]]


def count_mistakes(cases: Sequence[Case], pair: Pair) -> int:
    """Count the mistakes of both strategies: a shared one counts 1, one that the other strategy's
    numbers contradict 2. If only tensor parallelism computes four times as long,
    "computing is not divided by the nodes" is 1, "all nodes together have the GOPS of one" 2."""
    changes = [
        [case.compute(line, (mistake,)) != case.compute(line) for line in case.numbers]
        for each, other, case in zip(pair, pair[::-1], cases[::-1], strict=True)
        for mistake in each.mistakes
        if case.strategy in mistake.strategies and mistake not in other.mistakes
    ]
    return len({*pair[0].mistakes, *pair[1].mistakes}) + sum(map(any, changes))


def is_credible(cases: Sequence[Case], pair: Pair, side: int) -> bool:
    """Return whether the numbers that one side of a pair explains have enough digits."""
    case, (mistakes, lines) = cases[side], pair[side]
    if not mistakes:
        return True
    unshared = len({*mistakes} - {*pair[1 - side].mistakes})
    if len(mistakes) - unshared == 2 and sum(map(count_digits, cases, pair)) < SHARED_PAIR_DIGITS:
        return False
    needed, reach = NEEDED_DIGITS[unshared], SLIP_REACH[unshared]
    wrong = {line: case.wrong[line] for line in lines}
    if all(abs(n.amount - case.compute(line)) < reach * n.places[0] for line, n in wrong.items()):
        needed += SLIP
    elif len(mistakes) == len(find_explanations(case, 1)) == 1:
        needed -= ONLY_ONE
    return count_digits(case, pair[side]) >= needed


def count_digits(case: Case, explanation: Explanation) -> int:
    """Count the digits of the numbers that are explained, without those of Q2 that repeat Q1's:
    0.01223 and 0.3913 have four. A pipeline's latency repeats Q1's if both are off by the same."""
    mistakes, lines = explanation
    off = {line: case.compute(line, mistakes) - case.compute(line) for line in lines}
    pairs = [(line, line._replace(question="Q1")) for line in lines if line.question == "Q2"]
    repeats = {q2 for q2, q1 in pairs if q1 in lines and (find_source(q2) or off[q1] == off[q2])}
    return sum(case.wrong[line].digits for line in {*lines} - repeats)


def find_times(question: Question, wrong: Numbers, line: Line) -> int:
    """Return N or 1 if Q2's number is that multiple of the submission's wrong Q1 number, else 0."""
    source = find_source(line)
    if source is None or source not in wrong:
        return 0
    number, once = wrong[line], wrong[source]
    for times in (question.inputs, 1):
        rounding = (number.places[0] + times * once.places[0]) / 2
        off = abs(number.amount - times * once.amount)
        if off <= min(rounding, FOLLOW_TOLERANCE * number.amount):
            return times
    return 0


def find_source(line: Line) -> Line | None:
    """Find the line of Q1 whose number, times N, is Q2's. The pipeline's latency has none."""
    follows = line.question == "Q2" and line[1:] != ("pipeline", "latency")
    return line._replace(question="Q1") if follows else None


# ------------------------------------------------ causes
Cause = list[Explanation]  # alternatives


def list_causes(pairs: Sequence[Pair]) -> list[Cause]:
    """List the causes, each with its alternatives: first shared mistakes, then each strategy's
    own; or one cause of whole pairs, if parts of different pairs do not go together."""
    lines = tuple(dict.fromkeys(line for pair in pairs for each in pair for line in each.lines))
    rows = [split_pair(pair, lines) for pair in pairs]
    columns = [[*dict.fromkeys(column)] for column in zip(*rows, strict=True)]
    if len(rows) < prod(map(len, columns)):
        return [[Explanation(sum((part.mistakes for part in row), ()), lines) for row in rows]]
    causes: dict[tuple[int, tuple[Line, ...]], Cause] = {}  # alternatives explain the same lines
    for number, column in enumerate(columns):
        for part in column:
            if part.mistakes:
                causes.setdefault((number, part.lines), []).append(part)
    return [*causes.values()]


def split_pair(pair: Pair, lines: tuple[Line, ...]) -> list[Explanation]:
    """Split a pair into the mistakes that both strategies share, and the rest of each strategy."""
    shared = tuple(mistake for mistake in pair[0].mistakes if mistake in pair[1].mistakes)
    parts = [Explanation(shared, lines)]
    for strategy, each in zip(STRATEGIES, pair, strict=True):
        rest = [mistake for mistake in each.mistakes if mistake not in shared]
        mistakes = tuple(mistake._replace(strategies=(strategy,)) for mistake in rest)
        parts.append(Explanation(mistakes, each.lines))
    return parts
