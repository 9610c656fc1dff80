"""The rule: which changes of the model explain a submission's numbers.

An explanation of a strategy is a set of changes and a scope. Of all pairs, one for each strategy,
those that miss the fewest numbers win, and of these the cheapest; digits are the evidence.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
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
Answers = Mapping[Line, Rate]  # seconds, bytes
Numbers = Mapping[Line, Number]  # of a submission
SortedSets = dict[Line, list[tuple[float, int, Clauses]]]


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

    course: Course
    right: Answers
    given: Numbers
    aside: dict[Line, Line]  # wrong ones, and the lines whose right numbers they are
    is_key: bool = False  # then no number may be missed, and few digits will do

    def is_wrong(self, line: Line) -> bool:
        """Whether a number is wrong that is given."""
        return not self.given[line].agrees(self.right[line])

    def list_lines(self, strategy: str) -> list[Line]:
        """A strategy's lines that are given, without those aside."""
        return [it for it in self.given if it.strategy == strategy and it not in self.aside]


# ------------------------------------------------ what changes predict


@lru_cache(maxsize=2**17)
def predict(course: Course, strategy: str, clauses: Clauses = ()) -> Answers:
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
def sort_sets(course: Course, strategy: str, amount: int) -> SortedSets:
    """For each line what the sets of so many changes of different things predict, the least first;
    and the set, with its place in the table's order."""
    sets: dict[Clauses, Answers] = {}
    for clauses in combinations(list_changes(course, strategy), amount):
        if len({find_thing(clause) for clause in clauses}) == amount:
            sets[clauses] = predict(course, strategy, clauses)
    return {
        line: sorted((float(sets[it][line]), place, it) for place, it in enumerate(sets))
        for line in predict(course, strategy)
    }


# ------------------------------------------------ explanations of one strategy


def find_explanations(evidence: Evidence, strategy: str, amount: int) -> Iterator[Explanation]:
    """The explanations by so many changes that make a wrong number and miss one at most."""
    course, given, lines = evidence.course, evidence.given, evidence.list_lines(strategy)
    wrong = [it for it in lines if evidence.is_wrong(it) and given[it].digits >= LEAST_DIGITS]
    right = predict(course, strategy)
    for clauses in _find_sets(course, strategy, amount, {line: given[line] for line in wrong}):
        everywhere = predict(course, strategy, clauses)
        for only in (None, *SCOPES) if amount < MOST_CHANGES else (None,):
            numbers = {it: (everywhere if only in (None, *it) else right)[it] for it in right}
            if only and numbers == everywhere:
                continue  # the scope changes nothing
            fits = {line for line in lines if given[line].agrees(numbers[line])}
            made = tuple(line for line in wrong if line in fits)
            misses = len(lines) - len(fits)
            if made and misses <= (0 if evidence.is_key else 1):
                yield Explanation(strategy, clauses, only, made, misses)


def _find_sets(course: Course, strategy: str, amount: int, numbers: Numbers) -> list[Clauses]:
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


def explain(evidence: Evidence) -> Outcome:
    """What makes the numbers: by no change, by one, two, three, until more would cost more."""
    explanations = {}
    for of in BOTH:
        misses = sum(map(evidence.is_wrong, evidence.list_lines(of)))
        explanations[of] = [Explanation(of, misses=misses)]
    outcome = choose(evidence, explanations)
    for amount in range(1, MOST_CHANGES + 1):
        if outcome.misses or outcome.cost >= amount:
            for of in BOTH:
                explanations[of] += find_explanations(evidence, of, amount)
            outcome = choose(evidence, explanations)
    return outcome


def choose(evidence: Evidence, explanations: Mapping[str, list[Explanation]]) -> Outcome:
    """The pairs with the fewest misses, then the least cost. If an explanation lacks digits, all of
    its strategy that miss as few are dropped, and the choice is made again."""
    left = dict(explanations)
    while True:
        least = {of: min(it.misses for it in left[of]) for of in BOTH}
        fewest = [[it for it in left[of] if it.misses == least[of]] for of in BOTH]
        pairs, cost = _find_cheapest(evidence, product(fewest[0], fewest[1]))
        lacking = {
            one.strategy
            for pair in pairs
            for one, other in (pair, pair[::-1])
            if not _has_digits(evidence, one, other)
        }
        if not lacking:
            return Outcome(pairs, sum(least.values()), cost)
        for of in lacking:
            left[of] = [it for it in left[of] if it.misses > least[of] or not it.clauses]


def _find_cheapest(evidence: Evidence, pairs: Iterable[Pair]) -> tuple[list[Pair], int]:
    cheapest: list[Pair] = []
    least = 6 * MOST_CHANGES
    for pair in pairs:
        if max(len(it.clauses) for it in pair) <= least:  # which it costs at least
            cost = _count_cost(evidence, pair)
            if cost < least:
                cheapest, least = [], cost
            if cost == least:
                cheapest.append(pair)
    return cheapest, least


def _count_cost(evidence: Evidence, pair: Pair) -> int:
    """1 for each change and each scope, once if both strategies have it; 2 for a change that only
    one has, though by itself it would change numbers that are given of the other."""
    shared = list_shared(*pair)
    cost = len(shared) + len({it.only for it in pair} - {None})
    for one, other in (pair, pair[::-1]):
        own = [clause for clause in one.clauses if clause not in shared]
        cost += len(own) + sum(_changes(evidence, other.strategy, it, one.only) for it in own)
    return cost


def list_shared(one: Explanation, other: Explanation) -> list[str]:
    """The changes that both strategies have in the same scope."""
    return [it for it in one.clauses if it in other.clauses and one.only == other.only]


def _changes(evidence: Evidence, strategy: str, clause: str, only: str | None) -> bool:
    """Whether a change by itself changes a number of a strategy that is given."""
    if clause not in list_changes(evidence.course, strategy):
        return False
    numbers = predict(evidence.course, strategy, (clause,))
    lines = [it for it in evidence.given if it.strategy == strategy and only in (None, *it)]
    return any(numbers[line] != evidence.right[line] for line in lines)


def _has_digits(evidence: Evidence, one: Explanation, other: Explanation) -> bool:
    """Whether the numbers that it makes have digits enough for what the other does not share. Those
    of Q2 that follow from Q1's add none, as all do but the pipeline's latency."""
    if evidence.is_key or not one.clauses:
        return True
    own = len(one.clauses) - len(list_shared(one, other)) + (one.only not in (None, other.only))
    following = {
        line._replace(question="Q2")
        for line in one.made
        if line.question == "Q1" and line[1:] != ("pipeline", "latency")
    }
    digits = {line: evidence.given[line].digits for line in one.made}
    evident = sum(digits[line] for line in digits if line not in following)
    return evident >= 2 + 2 * own and min(digits.values()) >= own + 2
