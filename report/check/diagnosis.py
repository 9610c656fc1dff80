"""The rule: which changes of the model explain a submission's numbers.

An explanation of a strategy is a set of changes and a scope. Of all pairs, one for each strategy,
those that miss the fewest numbers win, and of these the cheapest; digits are the evidence.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import combinations, product
from typing import NamedTuple

from lab3 import Rate
from report.check.changes import BOTH, NAMED
from report.check.model import Numbers, compute, list_clauses
from report.check.submission import Line, Number
from report.question import Question

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


class Evidence(NamedTuple):
    """The numbers that are to be explained."""

    right: dict[Line, Rate]
    given: dict[Line, Number]
    aside: dict[Line, Line]  # wrong ones, and the lines whose right numbers they are
    wrong: list[Line]  # others that have digits enough

    def count_misses(self, strategy: str) -> int:
        """How many numbers are wrong without a change, if those aside are left out."""
        own = (it for it in self.given if it.strategy == strategy and it not in self.aside)
        return sum(not self.given[line].agrees(self.right[line]) for line in own)


# ------------------------------------------------ what changes predict


class Key(NamedTuple):
    """How a course reads the handout."""

    readings: tuple[Explanation, ...] = ()  # one for each strategy, or none as this project does
    missing: tuple[Line, ...] = ()  # lines that the course's own output lacks


class Course(NamedTuple):
    """What is asked, and how the course reads it."""

    question: Question
    key: Key = Key()

    def find_reading(self, strategy: str) -> Explanation:
        """How the course reads a strategy."""
        own = (it for it in self.key.readings if it.strategy == strategy)
        return next(own, Explanation(strategy))


def is_in_scope(only: str | None, question: str, kind: str) -> bool:
    """Whether a scope has a question's latency or traffic."""
    return only in (None, question, kind)


def predict(course: Course, strategy: str, clauses: Clauses = ()) -> Numbers:
    """What a strategy takes with changes of how the course reads it."""
    reading = course.find_reading(strategy)
    things = {find_thing(clause) for clause in clauses}
    changed = [clause for clause in clauses if clause in NAMED]
    kept = [clause for clause in reading.clauses if NAMED[clause].thing not in things]
    numbers = compute(course.question, strategy, kept + changed)
    if reading.only:
        outside = compute(course.question, strategy, changed)
        numbers |= {it: outside[it] for it in numbers if not is_in_scope(reading.only, *it)}
    return numbers


def find_thing(clause: str) -> str:
    """What a change changes, or changes back."""
    return NAMED[clause.removeprefix(WITHOUT)].thing


@lru_cache(maxsize=16)
def list_changes(course: Course, strategy: str) -> list[str]:
    """The changes of how the course reads a strategy that make a difference by themselves."""
    taken_back = [WITHOUT + clause for clause in course.find_reading(strategy).clauses]
    clauses = taken_back + list_clauses(course.question, strategy)
    right = predict(course, strategy)
    return [clause for clause in clauses if predict(course, strategy, (clause,)) != right]


class Predictions(NamedTuple):
    """What sets of changes predict; for each number also the sets, in the order of its value."""

    by_clauses: dict[Clauses, Numbers]
    by_value: dict[tuple[str, str], list[tuple[float, Clauses]]]


@lru_cache(maxsize=64)
def predict_all(course: Course, strategy: str, amount: int) -> Predictions:
    """What a strategy takes with each set of so many changes of different things."""
    by_clauses: dict[Clauses, Numbers] = {}
    for clauses in combinations(list_changes(course, strategy), amount):
        if len({find_thing(clause) for clause in clauses}) == amount:
            by_clauses[clauses] = predict(course, strategy, clauses)
    by_value = {
        place: sorted((float(numbers[place]), clauses) for clauses, numbers in by_clauses.items())
        for place in predict(course, strategy)
    }
    return Predictions(by_clauses, by_value)


# ------------------------------------------------ explanations of one strategy


def find_explanations(
    course: Course, strategy: str, evidence: Evidence, amount: int, most_misses: int
) -> Iterator[Explanation]:
    """The explanations by so many changes that make a wrong number and miss few."""
    predictions, right = predict_all(course, strategy, amount), predict(course, strategy)
    given = {
        (line.question, line.kind): number
        for line, number in evidence.given.items()
        if line.strategy == strategy and line not in evidence.aside
    }
    wrong = {(it.question, it.kind): it for it in evidence.wrong if it.strategy == strategy}
    is_right = {place: number.agrees(right[place]) for place, number in given.items()}
    for clauses in _find_sets(predictions, {place: given[place] for place in wrong}):
        numbers = predictions.by_clauses[clauses]
        agrees = {place: number.agrees(numbers[place]) for place, number in given.items()}
        for only in (None, *SCOPES) if amount < MOST_CHANGES else (None,):
            outside = [place for place in numbers if not is_in_scope(only, *place)]
            if only and all(numbers[place] == right[place] for place in outside):
                continue  # the scope changes nothing
            fits = {it: (is_right if it in outside else agrees)[it] for it in given}
            made = tuple(line for place, line in wrong.items() if fits[place])
            misses = len(fits) - sum(fits.values())
            if made and misses <= most_misses:
                yield Explanation(strategy, clauses, only, made, misses)


def _find_sets(
    predictions: Predictions, wrong: Mapping[tuple[str, str], Number]
) -> Iterable[Clauses]:
    """The sets that make any of these numbers, in the table's order."""
    found = set()
    for place, number in wrong.items():
        values = predictions.by_value[place]
        for low, high in number.spans:
            for value, clauses in values[bisect_left(values, (float(low),)) :]:
                if value > high:
                    break
                found.add(clauses)
    return (clauses for clauses in predictions.by_clauses if clauses in found)


# ------------------------------------------------ explanations of both


class Outcome(NamedTuple):
    """The pairs that win."""

    pairs: list[Pair]
    misses: int
    cost: int


def explain(course: Course, evidence: Evidence, is_key: bool = False) -> Outcome:
    """What makes the numbers: by no change, by one, two, three, until more would cost more."""
    found = {of: [Explanation(of, misses=evidence.count_misses(of))] for of in BOTH}
    outcome = choose(course, evidence, found, is_key)
    for amount in range(1, MOST_CHANGES + 1):
        if outcome.misses or outcome.cost >= amount:
            for of in {line.strategy for line in evidence.wrong}:
                found[of] += find_explanations(course, of, evidence, amount, 0 if is_key else 1)
            outcome = choose(course, evidence, found, is_key)
    return outcome


def choose(
    course: Course, evidence: Evidence, found: Mapping[str, list[Explanation]], is_key: bool
) -> Outcome:
    """The pairs with the fewest misses, then the least cost. If an explanation lacks digits, all of
    its strategy that miss as few are dropped, and the choice is made again."""
    left = dict(found)
    while True:
        least = {of: min(it.misses for it in left[of]) for of in BOTH}
        fewest = [[it for it in left[of] if it.misses == least[of]] for of in BOTH]
        pairs, cost = _find_cheapest(course, evidence, fewest)
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
    course: Course, evidence: Evidence, found: list[list[Explanation]]
) -> tuple[list[Pair], int]:
    pairs: list[Pair] = []
    least = 6 * MOST_CHANGES
    for pair in product(found[0], found[1]):
        if max(len(it.clauses) for it in pair) <= least:  # which it costs at least
            cost = _count_cost(course, evidence, pair)
            pairs = [*(pairs if cost == least else []), pair] if cost <= least else pairs
            least = min(least, cost)
    return pairs, least


def _count_cost(course: Course, evidence: Evidence, pair: Pair) -> int:
    """1 for each change and each scope, once if both strategies have it; 2 for a change that only
    one has, though it would change numbers that are given of the other."""
    shared = list_shared(*pair)
    cost = len(shared) + len({it.only for it in pair} - {None})
    for one, other in (pair, pair[::-1]):
        for clause in one.clauses:
            if clause not in shared:
                cost += 1 + _changes_other(course, evidence, clause, one.only, other.strategy)
    return cost


def list_shared(one: Explanation, other: Explanation) -> list[str]:
    """The changes that both strategies have in the same scope."""
    return [it for it in one.clauses if it in other.clauses and one.only == other.only]


def _changes_other(
    course: Course, evidence: Evidence, clause: str, only: str | None, other: str
) -> bool:
    """Whether a change by itself changes a number that is given of the other strategy."""
    numbers = predict_all(course, other, 1).by_clauses.get((clause,), {})
    return any(
        numbers and numbers[line.question, line.kind] != evidence.right[line]
        for line in evidence.given
        if line.strategy == other and is_in_scope(only, line.question, line.kind)
    )


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
