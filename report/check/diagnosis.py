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

from report.check.mistakes import MISTAKES, Line, Mistake, compute_line
from report.check.number import LEAST_DIGITS, Number
from report.model import STRATEGIES
from report.question import Question
from report.text import GIGA, Exact, format_number, round_to

# ------------------------------------------------ thresholds, and the example that sets each
MOST_LAYERS = 20  # for pairs of mistakes: with 20, a search that finds nothing takes 0.7 s
MOST_LEFT = {1: 1, 2: 0}  # wrong numbers that 1 or 2 mistakes may leave: 1 of 4 may be a slip
NEEDED_DIGITS = 2, 4, 6  # for 0, 1, 2 mistakes not shared with the other strategy. Enough: 0.00161,
# shared; 0.01223 (not 0.0122), undivided; 0.0124151 (not 0.012415), undivided and sent one by one
ONLY_ONE = 1  # digit fewer if only one mistake fits: 0.398 (not 0.40), inputs do not overlap
SLIP = 1  # digit more if each number is so near the right number that it may be a slip
SLIP_REACH = 0, 10, 100  # last places, per mistakes not shared: 0.1555 has no cause, 0.15548 has
CONSTANT_DIGITS = 1, 2  # of a mistyped constant: 5 GOPS, 25 GOPS
CONSTANT_MARGIN = 2  # more digits, to infer it: 3 of 750 other factors of sending look like one
KEY_DIGITS = 4  # of each number of a key, to infer a reading: 0.3979, not 0.398
FOLLOW_TOLERANCE = Fraction(1, 500)  # of Q2's number, from N times Q1's: 0.2285 is not 32 * 0.0071

CONSTANTS = [  # a symbol, the field of System, and the clause after "if"
    ("R", "ops_per_s", "a node has {} GOPS"),
    ("B", "link_bytes_per_s", "links have {} GB/s"),
]

Mistakes = tuple[Mistake, ...]
Numbers = Mapping[Line, Number]


class Case(NamedTuple):
    """A strategy's numbers in a submission, and how the course computes them."""

    question: Question
    strategy: str
    readings: Mistakes  # how the course's computation differs from lab3.py's
    extra: Mistakes  # mistakes that are tried before those of the table
    right: Numbers
    wrong: Numbers

    @property
    def numbers(self) -> Numbers:
        """Return all numbers, wrong or right."""
        return {**self.wrong, **self.right}

    def compute(self, line: Line, mistakes: Mistakes = ()) -> Exact:
        """Compute a line's number as the course reads the handout, and with mistakes."""
        number: Exact = compute_line(self.question, line, list_edits(self.readings, mistakes))
        return number


class Explanation(NamedTuple):
    """Mistakes, and the lines whose wrong numbers they explain."""

    mistakes: Mistakes = ()
    lines: tuple[Line, ...] = ()


Pair = tuple[Explanation, ...]  # for tensor, then pipeline parallelism, the order of cases


# ------------------------------------------------ numbers with mistakes
def list_edits(readings: Mistakes, mistakes: Mistakes) -> Mistakes:
    """List the course's readings, then mistakes. A mistake replaces each reading that edits a name
    of its own."""
    names = {name for mistake in mistakes for name in mistake.names}
    return *(reading for reading in readings if not names & reading.names), *mistakes


@lru_cache(maxsize=64)
def list_candidates(strategy: str, extra: Mistakes, size: int) -> list[Mistakes]:
    """List each mistake, or each pair whose sets of names differ. A pair that shares a name is in
    the list in both orders, because the second edit applies to the result of the first."""
    known = [mistake for mistake in (*extra, *MISTAKES) if strategy in mistake.strategies]
    if size == 1:
        return [(mistake,) for mistake in known]
    pairs = [(one, two) for one, two in combinations(known, 2) if one.names != two.names]
    return [*pairs, *((two, one) for one, two in pairs if one.names & two.names)]


@lru_cache(maxsize=256)
def list_estimates(
    question: Question, line: Line, readings: Mistakes, extra: Mistakes, size: int
) -> list[float]:
    """List a line's number, as a float, with each of the candidates."""
    candidates = list_candidates(line.strategy, extra, size)
    edits = [list_edits(readings, mistakes) for mistakes in candidates]
    return [compute_line(question, line, mistakes, float) for mistakes in edits]


# ------------------------------------------------ one strategy
def find_explanations(case: Case, size: int) -> list[Explanation]:
    """Find the explanations of a strategy by one mistake, or by a pair."""
    least = max(1, len(case.wrong) - MOST_LEFT[size])  # wrong numbers to explain
    unique: dict[frozenset[Mistake], Explanation] = {}  # the first of two orders
    for lines in combinations(case.wrong, least):
        for mistakes in find_near(case, size, (*lines, *case.right)):  # each right number
            explanation = Explanation(mistakes, list_explained(case, mistakes))
            if len(explanation.lines) >= least:
                unique.setdefault(frozenset(mistakes), explanation)
    return [*unique.values()]


def find_near(case: Case, size: int, lines: Iterable[Line]) -> list[Mistakes]:
    """Find the candidates whose estimates are near the numbers of all these lines."""
    candidates = list_candidates(case.strategy, case.extra, size)
    places: Iterable[int] = range(len(candidates))
    for line in lines:
        estimates = list_estimates(case.question, line, case.readings, case.extra, size)
        spans = case.numbers[line].near
        places = [n for low, high in spans for n in places if low <= estimates[n] < high]
        if not places:  # other lines need not be estimated
            break
    return [candidates[place] for place in places]


def list_explained(case: Case, mistakes: Mistakes) -> tuple[Line, ...]:
    """List the lines whose wrong numbers mistakes explain exactly; none, if the mistakes contradict
    a right number, explain one number but change another wrong one of Q1, explain no number of
    three digits, or are two of which one is not needed."""
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
    """Find the best pair of explanations, or several equally good pairs. A wrong constant, and then
    two mistakes, are tried only if single mistakes leave a wrong number unexplained."""
    explanations = [[Explanation()] for _ in cases]
    for size in (1, 2) if len(cases[0].question.network) <= MOST_LAYERS else (1,):
        for case, known in zip(cases, explanations, strict=True):
            known.extend(find_explanations(case, size))
        pairs = choose(cases, explanations)
        if sum(len(each.lines) for each in pairs[0]) == sum(len(case.wrong) for case in cases):
            return pairs
        if size == 1 and (constant := find_constant(cases)):
            return [tuple(Explanation(constant, (*case.wrong,)) for case in cases)]
    return pairs


def find_constant(cases: Sequence[Case]) -> Mistakes:
    """Find the wrong constant that explains all wrong numbers. It follows from tensor parallelism's
    latency in Q1, of which one part is proportional to 1 / R, the other to 1 / B."""
    case, line = cases[0], Line("Q1", "tensor", "latency")
    number, right_s = case.wrong.get(line, Number()), case.compute(line)
    for (name, field, clause), digits in product(CONSTANTS, CONSTANT_DIGITS):
        value = Fraction(getattr(case.question.system, field))
        right_part_s = 2 * (right_s - case.compute(line, (Mistake("", f"{name} = 2 * {name}"),)))
        part_s = number.amount - (right_s - right_part_s)
        # a rounding is half of a last place
        if right_part_s and part_s > 2 * number.rounding * 10 ** (digits - 1 + CONSTANT_MARGIN):
            constant = Fraction(round_to(Fraction(value * right_part_s / part_s), digits))
            top, bottom = (constant / value).as_integer_ratio()
            edit = f"{name} = {name} * {top} / {bottom}"
            mistakes = (Mistake(clause.format(format_number(constant / GIGA)), edit),)
            explained = [list_explained(case, mistakes) for case in cases]
            if all(explained) and explained == [(*case.wrong,) for case in cases]:
                return mistakes
    return ()


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
    """Return whether the numbers that one side of a pair explains have enough digits. Digits of Q2
    that only repeat Q1 do not count: 0.01223 and 0.3913 have four."""
    case, (mistakes, lines) = cases[side], pair[side]
    if not mistakes:
        return True
    numbers = {line: case.wrong[line] for line in lines}
    unshared = len({*mistakes} - {*pair[1 - side].mistakes})
    needed = NEEDED_DIGITS[unshared]
    reach = 2 * SLIP_REACH[unshared]  # in roundings, each half of a last place
    off = {line: abs(number.amount - case.compute(line)) for line, number in numbers.items()}
    if all(off[line] < reach * number.rounding for line, number in numbers.items()):
        needed += SLIP
    elif len(mistakes) == len(find_explanations(case, 1)) == 1:
        needed -= ONLY_ONE
    return sum(numbers[line].digits for line in lines if find_source(line) not in lines) >= needed


def find_source(line: Line) -> Line | None:
    """Find the line of Q1 whose number, times N, is Q2's. The pipeline's latency has none."""
    follows = line.question == "Q2" and line[1:] != ("pipeline", "latency")
    return line._replace(question="Q1") if follows else None


# ------------------------------------------------ causes
def list_causes(pairs: Sequence[Pair]) -> list[Explanation]:
    """List the mistakes that both strategies share, then each strategy's own; or whole pairs,
    if some combination of these is no pair. Causes that explain the same lines are alternatives."""
    lines = tuple(dict.fromkeys(line for pair in pairs for each in pair for line in each.lines))
    rows = [split_pair(pair, lines) for pair in pairs]
    columns = [[*dict.fromkeys(column)] for column in zip(*rows, strict=True)]
    if len(rows) < prod(map(len, columns)):
        return [Explanation(sum((cause.mistakes for cause in row), ()), lines) for row in rows]
    return [cause for column in columns for cause in column if cause.mistakes]


def split_pair(pair: Pair, lines: tuple[Line, ...]) -> list[Explanation]:
    """Split a pair into the mistakes that both strategies share, and each strategy's own, which are
    restricted to that strategy."""
    shared = tuple(mistake for mistake in pair[0].mistakes if mistake in pair[1].mistakes)
    causes = [Explanation(shared, lines)]
    for strategy, each in zip(STRATEGIES, pair, strict=True):
        rest = [mistake for mistake in each.mistakes if mistake not in shared]
        mistakes = tuple(mistake._replace(strategies=(strategy,)) for mistake in rest)
        causes.append(Explanation(mistakes, each.lines))
    return causes
