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
from math import prod
from typing import Any, NamedTuple

from report.check.mistakes import MISTAKES, Mistake, compute_printed, make_model
from report.check.number import LEAST_DIGITS, Number
from report.check.submission import Line
from report.model import LAYER_SIZES, STRATEGIES, parse
from report.question import Question
from report.text import GIGA, Exact, format_number, round_to

# ------------------------------------------------ thresholds, and the example that sets each
MOST_LAYERS = 20  # for which two mistakes are tried together: with 20, nothing found takes 0.7 s
MOST_LEFT = {1: 1, 2: 0}  # wrong numbers, by one mistake, by two: one of four may be a slip
NEEDED_DIGITS = 2, 4, 6  # by 0, 1, 2 mistakes that the other strategy does not share: 0.00161 of
# both; 0.01223 undivided, not 0.0122; 0.0124151 undivided and sent one by one, not 0.012415
ONLY_ONE = 1  # digit less for the only single mistake: 0.398 if inputs do not overlap, not 0.40
SLIP = 1  # digit more if each number is within a reach of the right one, for which it may be a slip
SLIP_REACH = 0, 10, 100  # last places, by mistakes as above: 0.1555 is no cause, 0.15548 is one
CONSTANT_DIGITS = 1, 2  # of a constant typed wrong: 5 GOPS, 25 GOPS
CONSTANT_MARGIN = 2  # digits more that tell it: of 750 other factors on sending, 3 seem a constant
KEY_DIGITS = 4  # of each number of a key that tells a reading: 0.3979, not 0.398
FOLLOW_TOLERANCE = Fraction(1, 500)  # of Q2's number from N times Q1's: 0.2285 from 32 * 0.0071

CONSTANTS = [  # a symbol, the System's field, and what stands behind "if"
    ("R", "ops_per_s", "a node has {} GOPS"),
    ("B", "link_bytes_per_s", "links have {} GB/s"),
]
SIZES = {formula.name for formula in parse(LAYER_SIZES)}  # of layers, the same in both strategies

Mistakes = tuple[Mistake, ...]
Numbers = Mapping[Line, Number]


class Case(NamedTuple):
    """A strategy's numbers in a submission, and what may have made them."""

    question: Question
    strategy: str
    readings: Mistakes  # what the course computes otherwise than lab3.py
    more: Mistakes  # that are tried before those of the table
    right: Numbers
    wrong: Numbers

    @property
    def numbers(self) -> Numbers:
        """Return all numbers."""
        return {**self.wrong, **self.right}

    def compute(self, line: Line, mistakes: Mistakes = ()) -> Exact:
        """Compute a line's number as the course reads the handout, or with mistakes."""
        number: Exact = recall_line(self.question, line, list_edits(self.readings, mistakes))
        return number


class Explanation(NamedTuple):
    """Mistakes that make wrong numbers."""

    mistakes: Mistakes = ()
    lines: tuple[Line, ...] = ()  # of the numbers


Pair = tuple[Explanation, ...]  # of tensor and of pipeline parallelism, as are cases


# ------------------------------------------------ what mistakes make
def compute_line(question: Question, line: Line, mistakes: Mistakes, real: Any = Fraction) -> Any:
    """Compute a line's number with mistakes, in seconds or bytes."""
    inputs = question.inputs if line.question == "Q2" else 1
    return compute_printed(make_model(question, line.strategy, inputs, real), line.kind, mistakes)


recall_line = lru_cache(maxsize=100_000)(compute_line)


def list_edits(readings: Mistakes, mistakes: Mistakes) -> Mistakes:
    """List a course's readings, then mistakes. A mistake that edits the same name as a reading
    takes its place."""
    names = {name for mistake in mistakes for name in mistake.names}
    return *(reading for reading in readings if not names & reading.names), *mistakes


@lru_cache(maxsize=64)
def list_candidates(strategy: str, more: Mistakes, size: int) -> list[Mistakes]:
    """List each mistake, or each two that do not edit the same names: those that share one in both
    orders, because each edits what the one before it made."""
    known = [mistake for mistake in (*more, *MISTAKES) if strategy in mistake.strategies]
    if size == 1:
        return [(mistake,) for mistake in known]
    pairs = [(one, two) for one, two in combinations(known, 2) if one.names != two.names]
    return [*pairs, *((two, one) for one, two in pairs if one.names & two.names)]


@lru_cache(maxsize=256)
def list_estimates(
    question: Question, line: Line, readings: Mistakes, more: Mistakes, size: int
) -> list[float]:
    """List, in floats, a line's number with each of the candidates."""
    candidates = list_candidates(line.strategy, more, size)
    edits = [list_edits(readings, mistakes) for mistakes in candidates]
    return [compute_line(question, line, mistakes, float) for mistakes in edits]


# ------------------------------------------------ one strategy
def find_explanations(case: Case, size: int) -> list[Explanation]:
    """Find the explanations of a strategy by one mistake, or by two."""
    if not case.wrong:
        return []
    least = max(1, len(case.wrong) - MOST_LEFT[size])  # wrong numbers that are made
    unique: dict[frozenset[Mistake], Explanation] = {}  # of two orders the first
    for lines in combinations(case.wrong, least):
        for mistakes in find_near(case, size, (*lines, *case.right)):
            explanation = Explanation(mistakes, list_explained(case, mistakes))
            if len(explanation.lines) >= least:
                unique.setdefault(frozenset(mistakes), explanation)
    return [*unique.values()]


def find_near(case: Case, size: int, lines: Iterable[Line]) -> list[Mistakes]:
    """Find the candidates whose estimates are near the numbers of all these lines."""
    if size == 2 and len(case.question.network) > MOST_LAYERS:
        return []
    candidates = list_candidates(case.strategy, case.more, size)
    places: Iterable[int] = range(len(candidates))
    for line in lines:
        estimates = list_estimates(case.question, line, case.readings, case.more, size)
        spans = case.numbers[line].near
        places = [at for low, high in spans for at in places if low <= estimates[at] < high]
        if not places:  # other lines need not be estimated
            break
    return [candidates[place] for place in places]


def list_explained(case: Case, mistakes: Mistakes) -> tuple[Line, ...]:
    """List the wrong numbers that mistakes make, exactly. None, if they contradict a right number,
    or make one number alone and change a wrong one of Q1 into something else; if no number has
    three digits; or if one of two mistakes has no part in any (if both only cancel each other out
    in right numbers, that is a coincidence)."""
    answers = {line: case.compute(line, mistakes) for line in case.numbers}
    lines = tuple(line for line, number in case.wrong.items() if number.agrees(answers[line]))
    is_evident = any(case.wrong[line].digits >= LEAST_DIGITS for line in lines)
    agree = [number.agrees(answers[line]) for line, number in case.right.items()]
    if not is_evident or not all(agree):
        return ()
    others = [line for line in case.wrong if line.question == "Q1" and line not in lines]
    if len(lines) == 1 and any(answers[line] != case.compute(line) for line in others):
        return ()
    for rest in combinations(mistakes, len(mistakes) - 1):
        if all(case.compute(line, rest) == answers[line] for line in lines):
            return ()
    return lines


# ------------------------------------------------ both strategies
def diagnose(cases: Sequence[Case]) -> list[Pair]:
    """Find the best explanations of both strategies; several if they are equally good. A wrong
    constant, then two mistakes are tried only if one mistake leaves something."""
    explanations = [[Explanation()] for _ in cases]
    for size in 1, 2:
        best = choose(cases, explanations)
        if all(len(best[0][at].lines) == len(case.wrong) for at, case in enumerate(cases)):
            return best
        if size == 2 and (constant := find_constant(cases)):
            return [tuple(Explanation(constant, (*case.wrong,)) for case in cases)]
        longer = [find_explanations(case, size) for case in cases]
        explanations = [[*old, *new] for old, new in zip(explanations, longer, strict=True)]
    return choose(cases, explanations)


def find_constant(cases: Sequence[Case]) -> Mistakes:
    """Find the wrong constant that makes all wrong numbers of both strategies. Tensor parallelism's
    Q1 tells it: of its latency, one part is proportional to 1 / R, the other to 1 / B."""
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
            makes_all = [list_explained(each, mistakes) == (*each.wrong,) for each in cases]
            if all(makes_all) and all(each.wrong for each in cases):
                return mistakes
    return ()


def choose(cases: Sequence[Case], explanations: Sequence[list[Explanation]]) -> list[Pair]:
    """Choose the explanations of the most numbers, then of them those of the fewest mistakes. If
    one is not credible, its strategy's that make as many are dropped, and it is chosen again."""
    left = [*explanations]
    while True:
        most = [max(len(each.lines) for each in known) for known in left]
        best = [[each for each in left[at] if len(each.lines) == most[at]] for at in (0, 1)]
        costs = {pair: count_mistakes(cases, pair) for pair in product(*best)}
        fewest = min(costs.values())
        pairs = [pair for pair, cost in costs.items() if cost == fewest]
        doubted = {side for pair in pairs for side in (0, 1) if not is_credible(cases, pair, side)}
        if not doubted:
            return pairs
        for side in doubted:
            left[side] = [each for each in left[side] if each not in best[side]]


def count_mistakes(cases: Sequence[Case], pair: Pair) -> int:
    """Count the mistakes of both strategies: one that both share once, one that the other's numbers
    contradict twice. Where only tensor parallelism takes four times as long to compute, "computing
    is not divided by the nodes" is 1, "all nodes together have the GOPS of one" 2."""
    return len({*pair[0].mistakes, *pair[1].mistakes}) + len(list_contradicted(cases, pair))


def list_contradicted(cases: Sequence[Case], pair: Pair) -> list[Mistake]:
    """List the mistakes of one strategy alone that would change the other one's numbers."""
    contradicted = list[Mistake]()
    for each, other, case in zip(pair, pair[::-1], cases[::-1], strict=True):
        for mistake in each.mistakes:
            if case.strategy in mistake.strategies and mistake not in other.mistakes:
                with_it = [case.compute(line, (mistake,)) for line in case.numbers]
                if with_it != [case.compute(line) for line in case.numbers]:
                    contradicted.append(mistake)
    return contradicted


# ------------------------------------------------ digits
def is_credible(cases: Sequence[Case], pair: Pair, side: int) -> bool:
    """Return whether an explanation has digits enough, without those of Q2 that follow from Q1's:
    0.01223 and 0.3913 have four. Nor may it have a layer's size in another way than the other: "1
    MAC is 4 ops" in one is no explanation beside "1 MAC is 1 op", an earlier row, in the other."""
    case, (mistakes, lines), others = cases[side], pair[side], pair[1 - side].mistakes
    unshared = [mistake for mistake in mistakes if mistake not in others]
    rows = (*case.more, *MISTAKES)
    for mistake, other in product(unshared, others):
        if mistake.names & other.names & SIZES and rows.index(other) < rows.index(mistake):
            return False
    numbers = [case.wrong[line] for line in lines if find_source(line) not in lines]
    needed = count_needed(case, pair[side], len(unshared))
    return sum(number.digits for number in numbers) >= needed


def count_needed(case: Case, explanation: Explanation, unshared: int) -> int:
    """Count the digits that the numbers of an explanation need, if so many of its mistakes are not
    shared with the other strategy."""
    needed = NEEDED_DIGITS[unshared] * bool(explanation.mistakes)
    reach = 2 * SLIP_REACH[unshared]  # of a rounding, which is half of a last place
    numbers = {line: case.wrong[line] for line in explanation.lines}
    off = {line: abs(number.amount - case.compute(line)) for line, number in numbers.items()}
    if all(off[line] < reach * number.rounding for line, number in numbers.items()):
        return needed + SLIP * bool(explanation.mistakes)
    is_only = len(explanation.mistakes) == len(find_explanations(case, 1)) == 1
    return needed - ONLY_ONE * is_only


def find_source(line: Line) -> Line | None:
    """Find the line of Q1 that a line of Q2 has N times. The pipeline's latency has none."""
    follows = line.question == "Q2" and line[1:] != ("pipeline", "latency")
    return line._replace(question="Q1") if follows else None


# ------------------------------------------------ causes
def list_causes(pairs: Sequence[Pair]) -> list[Explanation]:
    """List what explains numbers: first what both strategies share, then what each has for itself;
    whole pairs if not all of these go together. Those that make the same lines are alternatives."""
    lines = tuple(dict.fromkeys(line for pair in pairs for each in pair for line in each.lines))
    rows = [split_pair(pair, lines) for pair in pairs]
    columns = [[*dict.fromkeys(column)] for column in zip(*rows, strict=True)]
    if len(rows) < prod(map(len, columns)):
        return [Explanation(sum((part.mistakes for part in row), ()), lines) for row in rows]
    return [part for column in columns for part in column if part.mistakes]


def split_pair(pair: Pair, lines: tuple[Line, ...]) -> list[Explanation]:
    """Split a pair into what both strategies share, and what each has for itself. Of a mistake's
    strategies those remain of which it makes numbers."""
    shared = tuple(mistake for mistake in pair[0].mistakes if mistake in pair[1].mistakes)
    parts = [Explanation(shared, lines)]
    for strategy, each in zip(STRATEGIES, pair, strict=True):
        rest = [mistake for mistake in each.mistakes if mistake not in shared]
        mistakes = tuple(mistake._replace(strategies=(strategy,)) for mistake in rest)
        parts.append(Explanation(mistakes, each.lines))
    return parts
