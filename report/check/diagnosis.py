"""The rule: which changes of the model explain a submission's numbers.

An explanation of a strategy is a set of changes and a scope. Of all pairs, one for each strategy,
those that miss the fewest numbers win, and of these the cheapest; digits are the evidence.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import combinations, product
from math import inf
from typing import NamedTuple

from lab3 import Rate
from report.check.changes import BOTH, NAMED
from report.check.model import compute, list_clauses
from report.check.submission import LEAST_DIGITS, Line, Number
from report.question import LAB, Question

MOST_CHANGES = 3  # in a set
SCOPES = "Q1", "Q2", "traffic"  # of up to two changes
WITHOUT = "without the key's: "  # before a change of a key that is taken back

Clauses = tuple[str, ...]  # of changes, in the table's order


class Explanation(NamedTuple):
    """Changes that make numbers of a strategy."""

    strategy: str  # or "both", of what these share
    clauses: Clauses = ()
    only: str | None = None  # where: one of SCOPES, or everywhere
    made: tuple[Line, ...] = ()  # wrong numbers that these changes make
    misses: int = 0  # numbers


Pair = tuple[Explanation, Explanation]  # of tensor, of pipeline parallelism


class Course(NamedTuple):
    """What is asked, and how the handout is read: as this project does, or as a course's key."""

    question: Question = LAB
    readings: Pair = (Explanation("tensor"), Explanation("pipeline"))
    has_key: bool = False
    missing: tuple[Line, ...] = ()  # lines that the key lacks


class Evidence(NamedTuple):
    """The numbers that are to be explained."""

    right: Mapping[Line, Rate]
    given: dict[Line, Number]
    aside: dict[Line, Line]  # wrong ones, and the lines whose right numbers they are

    def list_given(self, strategy: str) -> dict[Line, Number]:
        """A strategy's numbers, without those aside."""
        own = (it for it in self.given if it.strategy == strategy and it not in self.aside)
        return {line: self.given[line] for line in own}

    def is_wrong(self, line: Line) -> bool:
        """Whether a number is wrong that is given."""
        return not self.given[line].agrees(self.right[line])


# ------------------------------------------------ what changes predict


@lru_cache(maxsize=2**17)
def predict(course: Course, strategy: str, clauses: Clauses = ()) -> Mapping[Line, Rate]:
    """What a strategy takes with changes of how the course reads it."""
    reading = course.readings[BOTH.index(strategy)]
    things = {find_thing(clause) for clause in clauses}
    changed = [clause for clause in clauses if clause in NAMED]
    kept = [clause for clause in reading.clauses if NAMED[clause].thing not in things]
    numbers = compute(course.question, strategy, kept + changed)
    if reading.only:
        outside = compute(course.question, strategy, changed)
        numbers |= {place: outside[place] for place in numbers if reading.only not in place}
    return {Line(name, strategy, kind): value for (name, kind), value in numbers.items()}


def find_thing(clause: str) -> str:
    """What a change changes, or changes back."""
    return NAMED[clause.removeprefix(WITHOUT)].thing


@lru_cache(maxsize=16)
def list_changes(course: Course, strategy: str) -> list[str]:
    """The changes of how the course reads a strategy that make a difference by themselves."""
    reading = course.readings[BOTH.index(strategy)]
    taken_back = [WITHOUT + clause for clause in reading.clauses]
    clauses = taken_back + list_clauses(course.question, strategy)
    right = predict(course, strategy)
    return [clause for clause in clauses if predict(course, strategy, (clause,)) != right]


@lru_cache(maxsize=16)
def sort_sets(
    course: Course, strategy: str, amount: int
) -> dict[Line, list[tuple[float, int, Clauses]]]:
    """For each line what the sets of so many changes of different things predict, the least first;
    and the set, with its place in the table's order."""
    changes = combinations(list_changes(course, strategy), amount)
    sets = [*enumerate(it for it in changes if len({*map(find_thing, it)}) == amount)]
    return {
        line: sorted((float(predict(course, strategy, it)[line]), place, it) for place, it in sets)
        for line in predict(course, strategy)
    }


# ------------------------------------------------ explanations of one strategy


def find_explanations(
    course: Course, strategy: str, evidence: Evidence, amount: int, most_misses: int
) -> Iterator[Explanation]:
    """The explanations by so many changes that make a wrong number and miss few."""
    right, given = predict(course, strategy), evidence.list_given(strategy)
    wrong = {
        line: number
        for line, number in given.items()
        if number.digits >= LEAST_DIGITS and evidence.is_wrong(line)
    }
    for clauses in _find_sets(course, strategy, amount, wrong):
        everywhere = predict(course, strategy, clauses)
        for only in (None, *SCOPES) if amount < MOST_CHANGES else (None,):
            numbers = {it: (everywhere if only in (None, *it) else right)[it] for it in right}
            if only and numbers == everywhere:
                continue  # the scope changes nothing
            fits = {line for line, number in given.items() if number.agrees(numbers[line])}
            made = tuple(line for line in wrong if line in fits)
            misses = len(given) - len(fits)
            if made and misses <= most_misses:
                yield Explanation(strategy, clauses, only, made, misses)


def _find_sets(
    course: Course, strategy: str, amount: int, numbers: Mapping[Line, Number]
) -> list[Clauses]:
    """The sets of so many changes that make any of these numbers, in the table's order."""
    sets: dict[int, Clauses] = {}
    for line, number in numbers.items():
        values = sort_sets(course, strategy, amount)[line]
        for low, high in number.spans:
            first = bisect_left(values, (float(low),))
            end = bisect_left(values, (float(high), inf))
            sets |= {place: clauses for _, place, clauses in values[first:end]}
    return [sets[place] for place in sorted(sets)]


# ------------------------------------------------ explanations of both


class Outcome(NamedTuple):
    """The pairs that win."""

    pairs: list[Pair]
    misses: int
    cost: int


def explain(course: Course, evidence: Evidence, is_key: bool = False) -> Outcome:
    """What makes the numbers: by no change, by one, two, three, until more would cost more."""
    explanations = {}
    for of in BOTH:
        misses = sum(map(evidence.is_wrong, evidence.list_given(of)))
        explanations[of] = [Explanation(of, misses=misses)]
    outcome = choose(course, evidence, explanations, is_key)
    for amount in range(1, MOST_CHANGES + 1):
        if outcome.misses or outcome.cost >= amount:
            for of in BOTH:
                explanations[of] += find_explanations(
                    course, of, evidence, amount, 0 if is_key else 1
                )
            outcome = choose(course, evidence, explanations, is_key)
    return outcome


def choose(
    course: Course, evidence: Evidence, explanations: Mapping[str, list[Explanation]], is_key: bool
) -> Outcome:
    """The pairs with the fewest misses, then the least cost. If an explanation lacks digits, all of
    its strategy that miss as few are dropped, and the choice is made again."""
    left = dict(explanations)
    while True:
        least = {of: min(it.misses for it in left[of]) for of in BOTH}
        fewest = [[it for it in left[of] if it.misses == least[of]] for of in BOTH]
        pairs, cost = _find_cheapest(course, evidence, *fewest)
        lacking = {
            one.strategy
            for pair in pairs
            for one, other in (pair, pair[::-1])
            if not is_key and not _has_digits(one, other, evidence.given)
        }
        if not lacking:
            return Outcome(pairs, sum(least.values()), cost)
        for of in lacking:
            left[of] = [it for it in left[of] if it.misses > least[of] or not it.clauses]


def _find_cheapest(
    course: Course, evidence: Evidence, tensor: list[Explanation], pipeline: list[Explanation]
) -> tuple[list[Pair], int]:
    pairs: list[Pair] = []
    least = 6 * MOST_CHANGES
    for pair in product(tensor, pipeline):
        if max(len(it.clauses) for it in pair) <= least:  # which it costs at least
            cost = _count_cost(course, evidence, pair)
            pairs = [*(pairs if cost == least else []), pair] if cost <= least else pairs
            least = min(least, cost)
    return pairs, least


def _count_cost(course: Course, evidence: Evidence, pair: Pair) -> int:
    """1 for each change and each scope, once if both strategies have it; 2 for a change that only
    one has, though by itself it would change numbers that are given of the other."""
    shared = list_shared(*pair)
    cost = len(shared) + len({it.only for it in pair} - {None})
    for one, other in (pair, pair[::-1]):
        lines = [it for it in evidence.given if it.strategy == other.strategy]
        for clause in one.clauses:
            if clause not in shared:
                cost += 1
                if clause in list_changes(course, other.strategy):
                    numbers = predict(course, other.strategy, (clause,))
                    in_scope = (line for line in lines if one.only in (None, *line))
                    cost += any(numbers[line] != evidence.right[line] for line in in_scope)
    return cost


def list_shared(one: Explanation, other: Explanation) -> list[str]:
    """The changes that both strategies have in the same scope."""
    return [it for it in one.clauses if it in other.clauses and one.only == other.only]


def _has_digits(one: Explanation, other: Explanation, given: Mapping[Line, Number]) -> bool:
    """Whether the numbers that it makes have digits enough for what the other does not share. Those
    of Q2 that follow from Q1's add none, as all do but the pipeline's latency."""
    own = len(one.clauses) - len(list_shared(one, other)) + (one.only not in (None, other.only))
    following = {
        line._replace(question="Q2")
        for line in one.made
        if line.question == "Q1" and line[1:] != ("pipeline", "latency")
    }
    evident = sum(given[it].digits for it in one.made if it not in following)
    return not one.clauses or (
        evident >= 2 + 2 * own and all(given[line].digits >= own + 2 for line in one.made)
    )
