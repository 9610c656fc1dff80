"""The rule: which changes of the model make a submission's numbers.

An explanation of a strategy is a set of changes and a scope. Of all pairs, one for each strategy,
those that miss the fewest numbers win, of these the cheapest; digits are the evidence for them.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import combinations, product
from typing import NamedTuple

from lab3 import Rate
from report.check.changes import BOTH, NAMED, Change
from report.check.model import Numbers, compute, list_clauses
from report.check.submission import (
    Line,
    Number,
)
from report.question import Question

MOST_CHANGES = 3  # in a set
SCOPES = "Q1", "Q2", "traffic"  # of up to two changes
WITHOUT = "without the key's: "  # before a change of a key that is taken back

Clauses = tuple[str, ...]  # of changes, in the table's order


class Explanation(NamedTuple):
    """Changes that make numbers of a strategy."""

    strategy: str
    clauses: Clauses = ()
    only: str | None = None  # where: one of SCOPES, or everywhere
    made: tuple[Line, ...] = ()  # wrong numbers that these changes make
    misses: int = 0  # numbers


Pair = tuple[Explanation, Explanation]  # of tensor, of pipeline parallelism


class Key(NamedTuple):
    """How a course reads the handout."""

    readings: tuple[Explanation, ...] = ()  # one for each strategy
    missing: tuple[Line, ...] = ()  # lines that the course's own output lacks


class Course(NamedTuple):
    """What is asked, and how the course reads it."""

    question: Question
    key: Key = Key()

    def find_key(self, strategy: str) -> Explanation:
        """How the key reads a strategy."""
        own = (it for it in self.key.readings if it.strategy == strategy)
        return next(own, Explanation(strategy))

    def find_change(self, clause: str) -> Change:
        """A change, or one of the key that is taken back, which only strategies of the key have."""
        if clause in NAMED:
            return NAMED[clause]
        taken_back = clause.removeprefix(WITHOUT)
        having = tuple(it.strategy for it in self.key.readings if taken_back in it.clauses)
        return NAMED[taken_back]._replace(clause=clause, strategies=having)


# ------------------------------------------------ what changes predict


def is_in_scope(only: str | None, place: tuple[str, str]) -> bool:
    """Whether a number of ("Q1", "latency") is in a scope."""
    return only is None or only in place


def predict(course: Course, strategy: str, clauses: Clauses = ()) -> Numbers:
    """What a strategy takes with changes of how the course reads it."""
    key = course.find_key(strategy)
    things = {course.find_change(clause).thing for clause in clauses}
    changed = [clause for clause in clauses if clause in NAMED]
    kept = [clause for clause in key.clauses if NAMED[clause].thing not in things]
    numbers = compute(course.question, strategy, kept + changed)
    if key.only is None:
        return numbers
    outside = compute(course.question, strategy, changed)
    return {it: (numbers if is_in_scope(key.only, it) else outside)[it] for it in numbers}


class Predictions(NamedTuple):
    """What all sets of so many changes predict, and for each number the sets by its value."""

    by_clauses: dict[Clauses, Numbers]
    by_value: dict[tuple[str, str], list[tuple[float, Clauses]]]


@lru_cache(maxsize=64)
def predict_all(course: Course, strategy: str, amount: int) -> Predictions:
    """What a strategy takes with each set of so many changes of different things."""
    by_clauses = {}
    for together in combinations(list_changes(course, strategy), amount):
        if len({change.thing for change in together}) == amount:
            clauses = tuple(change.clause for change in together)
            by_clauses[clauses] = predict(course, strategy, clauses)
    by_value = {
        place: sorted((float(numbers[place]), clauses) for clauses, numbers in by_clauses.items())
        for place in predict(course, strategy)
    }
    return Predictions(by_clauses, by_value)


@lru_cache(maxsize=16)
def list_changes(course: Course, strategy: str) -> list[Change]:
    """All changes from how the course reads a strategy, that make a difference."""
    taken_back = [WITHOUT + clause for clause in course.find_key(strategy).clauses]
    right = predict(course, strategy)
    return [
        course.find_change(clause)
        for clause in [*taken_back, *list_clauses(course.question, strategy)]
        if predict(course, strategy, (clause,)) != right
    ]


# ------------------------------------------------ explanations of one strategy


class Evidence(NamedTuple):
    """The numbers that are to be explained."""

    right: dict[Line, Rate]
    numbers: dict[Line, Number]  # that are given
    aside: dict[Line, Line]  # wrong ones, and the lines whose right numbers they are
    wrong: list[Line]  # of enough digits, and not set aside


def find_explanations(
    course: Course, strategy: str, evidence: Evidence, amount: int, most_misses: int
) -> Iterator[Explanation]:
    """All explanations by so many changes that make a wrong number and miss few."""
    predictions = predict_all(course, strategy, amount)
    counted = [
        it for it in evidence.numbers if it.strategy == strategy and it not in evidence.aside
    ]
    wrong = [line for line in evidence.wrong if line.strategy == strategy]
    right = {line: evidence.numbers[line].agrees(evidence.right[line]) for line in counted}
    for clauses in _find_sets(predictions, {line: evidence.numbers[line] for line in wrong}):
        numbers = predictions.by_clauses[clauses]
        agrees = {it: evidence.numbers[it].agrees(numbers[it.question, it.kind]) for it in counted}
        for only in (None, *SCOPES) if amount < MOST_CHANGES else (None,):
            if only and not _is_narrower(numbers, predict(course, strategy), only):
                continue
            fits = [
                line
                for line in counted
                if (agrees if is_in_scope(only, (line.question, line.kind)) else right)[line]
            ]
            made = tuple(line for line in wrong if line in fits)
            misses = len(counted) - len(fits)
            if made and misses <= most_misses:
                yield Explanation(strategy, clauses, only, made, misses)


def _find_sets(predictions: Predictions, wrong: Mapping[Line, Number]) -> list[Clauses]:
    """The sets that make any of these numbers, in the table's order."""
    found = set()
    for line, number in wrong.items():
        values = predictions.by_value[line.question, line.kind]
        for low, high in number.spans:
            for value, clauses in values[bisect_left(values, (float(low),)) :]:
                if value > high:
                    break
                if low <= predictions.by_clauses[clauses][line.question, line.kind] < high:
                    found.add(clauses)
    return [clauses for clauses in predictions.by_clauses if clauses in found]


def _is_narrower(numbers: Numbers, right: Numbers, only: str) -> bool:
    return any(numbers[it] != right[it] for it in numbers if not is_in_scope(only, it))


# ------------------------------------------------ explanations of both


class Outcome(NamedTuple):
    """The pairs that win."""

    pairs: list[Pair]
    misses: int
    cost: int
    is_first_choice: bool = True  # none lacked digits


def explain(course: Course, evidence: Evidence, is_key: bool = False) -> Outcome:
    """What makes the numbers: with no change, one, two, three, until more would cost more."""
    found = {of: [Explanation(of, misses=_count_wrong(evidence, of))] for of in BOTH}
    outcome = choose(course, evidence, found, is_key)
    for amount in range(1, MOST_CHANGES + 1):
        if outcome.misses == 0 and outcome.is_first_choice and outcome.cost < amount:
            break
        for of in {line.strategy for line in evidence.wrong}:
            found[of] += find_explanations(course, of, evidence, amount, 0 if is_key else 1)
        outcome = choose(course, evidence, found, is_key)
    return outcome


def _count_wrong(evidence: Evidence, strategy: str) -> int:
    return sum(
        not number.agrees(evidence.right[line])
        for line, number in evidence.numbers.items()
        if line.strategy == strategy and line not in evidence.aside
    )


def choose(
    course: Course, evidence: Evidence, found: Mapping[str, list[Explanation]], is_key: bool
) -> Outcome:
    """The pairs with the fewest misses, then the least cost, that have their digits."""
    left = dict(found)
    is_first_choice = True
    while True:
        least = {of: min(it.misses for it in left[of]) for of in BOTH}
        fewest = {of: [it for it in left[of] if it.misses == least[of]] for of in BOTH}
        pairs, cost = _find_cheapest(course, evidence, fewest)
        lacking = {
            one.strategy
            for pair in pairs
            for one, other in (pair, pair[::-1])
            if not is_key and not _has_digits(one, other, evidence.numbers)
        }
        if not lacking:
            return Outcome(pairs, sum(least.values()), cost, is_first_choice)
        is_first_choice = False
        for of in lacking:
            left[of] = [it for it in left[of] if it.misses > least[of] or not it.clauses]


def _find_cheapest(
    course: Course, evidence: Evidence, found: Mapping[str, list[Explanation]]
) -> tuple[list[Pair], int]:
    pairs: list[Pair] = []
    least = 2 * 3 * MOST_CHANGES
    for pair in product(*(found[of] for of in BOTH)):
        tensor, pipeline = pair
        if max(len(tensor.clauses), len(pipeline.clauses)) > least:
            continue
        cost = _count_cost(course, evidence, tensor, pipeline)
        if cost < least:
            pairs, least = [], cost
        if cost == least:
            pairs.append((tensor, pipeline))
    return pairs, least


def list_shared(one: Explanation, other: Explanation) -> list[str]:
    """The changes that both have in the same scope."""
    return [it for it in one.clauses if it in other.clauses and one.only == other.only]


def _count_cost(
    course: Course, evidence: Evidence, tensor: Explanation, pipeline: Explanation
) -> int:
    """1 for each change and each scope, once if both have it; a change that the other should have,
    too, costs 2."""
    shared = list_shared(tensor, pipeline)
    cost = len(shared) + len({tensor.only, pipeline.only} - {None})
    for one, other in ((tensor, pipeline), (pipeline, tensor)):
        own = [clause for clause in one.clauses if clause not in shared]
        cost += len(own) + sum(
            _changes_other(course, evidence, it, one.only, other.strategy) for it in own
        )
    return cost


def _changes_other(
    course: Course, evidence: Evidence, clause: str, only: str | None, other: str
) -> bool:
    """Whether a change of both would change a number that is given of the other strategy."""
    numbers = predict_all(course, other, 1).by_clauses.get((clause,)) if other else None
    return numbers is not None and any(
        numbers[line.question, line.kind] != evidence.right[line]
        for line in evidence.numbers
        if line.strategy == other and is_in_scope(only, (line.question, line.kind))
    )


def _has_digits(one: Explanation, other: Explanation, numbers: Mapping[Line, Number]) -> bool:
    """Whether the wrong numbers that it makes have digits enough for what is not shared. Those of
    Q2 that follow from Q1's add none; the pipeline's latency does not follow."""
    own = len(one.clauses) - len(list_shared(one, other))
    own += one.only is not None and one.only != other.only
    evident = sum(
        numbers[line].digits
        for line in one.made
        if line == ("Q2", "pipeline", "latency")
        or line.question == "Q1"
        or line._replace(question="Q1") not in one.made
    )
    is_each_enough = all(numbers[line].digits >= own + 2 for line in one.made)
    return not one.clauses or (is_each_enough and evident >= 2 + 2 * own)
