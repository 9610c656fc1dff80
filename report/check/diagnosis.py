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
from report.check.changes import BOTH, CHANGES, CONSTANT, Change, list_constants
from report.check.model import compute
from report.check.submission import LEAST_DIGITS, Line, Number
from report.question import Question

MOST_CHANGES = 3  # in a set
SCOPES = "Q1", "Q2", "traffic"  # of up to two changes
WITHOUT = "without the key's: "  # before a change of a key that is taken back

Changes = tuple[Change, ...]  # of different things, in the table's order
Answers = Mapping[Line, Rate]  # exact: seconds, bytes
Numbers = Mapping[Line, Number]  # of a submission or a key


class Explanation(NamedTuple):
    """Changes that make numbers of a strategy."""

    strategy: str  # or "both", of what these share
    changes: Changes = ()
    only: str | None = None  # where: one of SCOPES, or everywhere
    lines: tuple[Line, ...] = ()  # of wrong numbers that these changes make
    misses: int = 0  # numbers


Pair = tuple[Explanation, Explanation]  # of tensor, of pipeline parallelism
AS_READ = Explanation("tensor"), Explanation("pipeline")


class Course(NamedTuple):
    """What is asked, and how the handout is read: as this project does, or as a key does."""

    question: Question
    readings: Pair = AS_READ


class Evidence(NamedTuple):
    """The numbers that are to be explained."""

    course: Course
    right: Numbers
    given: Numbers
    aside: Mapping[Line, Line]  # wrong ones, and the lines whose right numbers they are
    is_key: bool = False  # then no number may be missed, and few digits will do

    def list_lines(self, strategy: str) -> list[Line]:
        """List a strategy's lines that are given, without those aside."""
        return [it for it in self.given if it.strategy == strategy and it not in self.aside]

    def list_wrong(self, strategy: str) -> list[Line]:
        """List a strategy's lines that are given and wrong."""
        lines = self.list_lines(strategy)
        return [line for line in lines if not self.given[line].equals(self.right[line])]


# ------------------------------------------------ what changes predict


def predict(course: Course, strategy: str, changes: Changes = ()) -> Answers:
    """Predict what a strategy takes with changes of how the course reads it."""
    reading = course.readings[BOTH.index(strategy)]
    changed = {change.thing: change.value for change in changes}
    read = {change.thing: change.value for change in reading.changes}
    numbers = compute(course.question, strategy, read | changed)
    if reading.only:
        outside = compute(course.question, strategy, changed)
        numbers |= {place: outside[place] for place in numbers if reading.only not in place}
    return {Line(name, strategy, kind): value for (name, kind), value in numbers.items()}


class Sets(NamedTuple):
    """Sets of changes, and what they predict."""

    changes: list[Changes]
    answers: list[Answers]
    by_line: dict[Line, list[tuple[float, int]]]  # the least first; and the set's place


@lru_cache(maxsize=64)
def list_sets(course: Course, strategy: str, amount: int, amounts: tuple[int, ...] = ()) -> Sets:
    """List the sets of so many changes of different things, each of which makes a difference by
    itself. If it is one, also constants typed wrong, with these other amounts of inputs."""
    right = predict(course, strategy)
    single = {
        change: answers[strategy]
        for change, answers in _predict_single(course, amounts).items()
        if answers.get(strategy, right) != right
    }
    combined = [change for change in single if amount == 1 or change.thing != CONSTANT]
    found = {
        changes: single[changes[0]] if amount == 1 else predict(course, strategy, changes)
        for changes in combinations(combined, amount)
        if len({change.thing for change in changes}) == amount
    }
    changes, answers = list(found), list(found.values())
    by_line = {
        line: sorted((float(each[line]), place) for place, each in enumerate(answers))
        for line in right
    }
    return Sets(changes, answers, by_line)


@lru_cache(maxsize=64)
def _predict_single(course: Course, amounts: tuple[int, ...]) -> dict[Change, dict[str, Answers]]:
    """Predict what each change makes of its strategies: those of a key taken back, those of the
    table, and constants typed wrong that do not make the same numbers as one of these."""
    single: dict[Change, dict[str, Answers]] = {}
    for reading in course.readings:
        for change in reading.changes:
            back = change._replace(clause=WITHOUT + change.clause, value=None)
            single[back] = {of: predict(course, of, (back,)) for of in change.strategies}
    for change in (*CHANGES, *list_constants(course.question, amounts)):
        answers = {of: predict(course, of, (change,)) for of in change.strategies}
        if change.thing != CONSTANT or answers not in single.values():
            single[change] = answers
    return single


# ------------------------------------------------ explanations of one strategy


def find_explanations(evidence: Evidence, strategy: str, amount: int) -> Iterator[Explanation]:
    """Find the explanations by so many changes that make a wrong number and miss one at most."""
    course, given, lines = evidence.course, evidence.given, evidence.list_lines(strategy)
    wrong = [it for it in evidence.list_wrong(strategy) if given[it].digits >= LEAST_DIGITS]
    right = predict(course, strategy)
    sets = list_sets(course, strategy, amount, find_amounts(evidence) if amount == 1 else ())
    for place in _find_places(sets, {line: given[line] for line in wrong}):
        changes, everywhere = sets.changes[place], sets.answers[place]
        is_alone = amount == MOST_CHANGES or changes[0].thing == CONSTANT
        for only in (None,) if is_alone else (None, *SCOPES):
            numbers = {it: (everywhere if only in (None, *it) else right)[it] for it in right}
            if only and numbers == everywhere:
                continue  # the scope changes nothing
            fits = {line for line in lines if given[line].agrees(numbers[line])}
            made = tuple(line for line in wrong if line in fits)
            misses = len(lines) - len(fits)
            is_allowed = misses <= (0 if evidence.is_key else 1)
            if made and is_allowed and _have_parts(course, strategy, changes, made):
                yield Explanation(strategy, changes, only, made, misses)


def _have_parts(course: Course, strategy: str, changes: Changes, made: Iterable[Line]) -> bool:
    """Tell whether each change has a part in a wrong number that is made. Two that cancel each
    other out in right ones are a coincidence."""
    everywhere = predict(course, strategy, changes)
    without_one = (
        predict(course, strategy, tuple(other for other in changes if other != change))
        for change in changes
    )
    return all(any(it[line] != everywhere[line] for line in made) for it in without_one)


def find_amounts(evidence: Evidence) -> tuple[int, ...]:
    """Find how many times Q1's traffic is Q2's, if a whole number of times."""
    amounts = set()
    for strategy in BOTH:
        one, many = (evidence.given.get(Line(it, strategy, "traffic")) for it in ("Q1", "Q2"))
        if one and many and one.amount and (times := many.amount / one.amount).denominator == 1:
            amounts.add(int(times))
    return tuple(sorted(amounts))


def _find_places(sets: Sets, numbers: Numbers) -> list[int]:
    """Find the places of the sets that make any of these numbers."""
    places = set()
    for line, number in numbers.items():
        values = sets.by_line[line]
        for low, high in number.spans:
            first = bisect_left(values, (float(low), 0))
            end = bisect_left(values, (float(high), len(values)))
            places |= {place for _, place in values[first:end]}
    return sorted(places)


# ------------------------------------------------ explanations of both


def diagnose(evidence: Evidence) -> list[Pair]:
    """Find what makes the numbers: no change, one, two, three, until more would cost more."""
    explanations = {of: [Explanation(of, misses=len(evidence.list_wrong(of)))] for of in BOTH}
    pairs = choose(evidence, explanations)
    for amount in range(1, MOST_CHANGES + 1):
        if any(it.misses for it in pairs[0]) or _count_cost(evidence, pairs[0]) >= amount:
            for of in BOTH:
                explanations[of] += find_explanations(evidence, of, amount)
            pairs = choose(evidence, explanations)
    return pairs


def choose(evidence: Evidence, explanations: Mapping[str, list[Explanation]]) -> list[Pair]:
    """Choose the pairs with the fewest misses, then the least cost. If an explanation lacks digits,
    all of its strategy that miss as few are dropped, and the choice is made again."""
    left = dict(explanations)
    while True:
        least = {of: min(it.misses for it in left[of]) for of in BOTH}
        tensor, pipeline = ([it for it in left[of] if it.misses == least[of]] for of in BOTH)
        pairs = _find_cheapest(evidence, product(tensor, pipeline))
        lacking = {
            one.strategy
            for pair in pairs
            for one, other in (pair, pair[::-1])
            if not _has_digits(evidence, one, other)
        }
        if not lacking:
            return pairs
        for of in lacking:
            left[of] = [it for it in left[of] if it.misses > least[of] or not it.changes]


def _find_cheapest(evidence: Evidence, pairs: Iterable[Pair]) -> list[Pair]:
    cheapest: list[Pair] = []
    least = 6 * MOST_CHANGES  # more than any pair costs
    for pair in pairs:
        if max(len(it.changes) for it in pair) <= least:  # which it costs at least
            cost = _count_cost(evidence, pair)
            if cost < least:
                cheapest, least = [], cost
            if cost == least:
                cheapest.append(pair)
    return cheapest


def _count_cost(evidence: Evidence, pair: Pair) -> int:
    """Count 1 for each change and each scope, once if both strategies have it; 2 for a change that
    one strategy has, though by itself it would change numbers that are given of the other."""
    shared = list_shared(*pair)
    cost = len(shared) + len({it.only for it in pair} - {None})
    for one, other in (pair, pair[::-1]):
        own = [change for change in one.changes if change not in shared]
        cost += len(own) + sum(_changes(evidence, other.strategy, it, one.only) for it in own)
    return cost


def list_shared(one: Explanation, other: Explanation) -> Changes:
    """List the changes that both strategies have in the same scope."""
    return tuple(it for it in one.changes if it in other.changes and one.only == other.only)


def _changes(evidence: Evidence, strategy: str, change: Change, only: str | None) -> bool:
    """Tell whether a change by itself changes a number of a strategy that is given."""
    if strategy not in change.strategies:
        return False
    numbers = predict(evidence.course, strategy, (change,))
    lines = [it for it in evidence.given if it.strategy == strategy and only in (None, *it)]
    return any(numbers[line] != evidence.right[line].amount for line in lines)


def _has_digits(evidence: Evidence, one: Explanation, other: Explanation) -> bool:
    """Tell whether the numbers that it makes have digits enough for what the other does not share.
    Those of Q2 that follow from Q1's add none, as all do but the pipeline's latency. A constant
    typed wrong needs as many as one change more, because there are so many; and it is typed once,
    so no digits are enough if it contradicts the other strategy."""
    if evidence.is_key or not one.changes:
        return True
    if is_constant := one.changes[0].thing == CONSTANT:
        is_other = one.changes != other.changes
        if is_other and _changes(evidence, other.strategy, one.changes[0], None):
            return False
    own = len(one.changes) - len(list_shared(one, other)) + (one.only not in (None, other.only))
    own += is_constant
    following = {
        line._replace(question="Q2")
        for line in one.lines
        if line.question == "Q1" and line[1:] != ("pipeline", "latency")
    }
    digits = {line: evidence.given[line].digits for line in one.lines}
    evident = sum(digits[line] for line in digits if line not in following)
    return evident >= 2 + 2 * own and min(digits.values()) >= own + 2
