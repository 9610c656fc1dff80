"""The rule: which mistakes explain a submission's numbers.

An explanation of a strategy is one mistake or two that make a wrong number and contradict no right
one. Both strategies are explained together: by what leaves the fewest numbers wrong, then by the
fewest mistakes, of which those that both have count once. Digits are the evidence: without enough
of them nothing is said.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import combinations, product
from typing import NamedTuple

from lab3 import Rate
from report.check.mistakes import BOTH, CONSTANT, Mistake, compute, list_mistakes
from report.check.submission import LEAST_DIGITS, Line, Number
from report.question import Question

Mistakes = tuple[Mistake, ...]  # of different things, in the table's order
Answers = Mapping[Line, Rate]  # exact: seconds, bytes
Numbers = Mapping[Line, Number]


class Course(NamedTuple):
    """What is asked, and how the course reads the handout where this project reads it otherwise."""

    question: Question
    readings: tuple[Mistakes, Mistakes] = (), ()  # of tensor, of pipeline parallelism


class Explanation(NamedTuple):
    """Mistakes that make wrong numbers of a strategy."""

    strategy: str
    mistakes: Mistakes = ()  # at most two
    made: tuple[Line, ...] = ()  # the wrong numbers that they make
    left: int = 0  # wrong numbers that they do not make


Pair = tuple[Explanation, Explanation]  # of tensor, of pipeline parallelism


# ------------------------------------------------ what mistakes predict


def predict(course: Course, strategy: str, mistakes: Mistakes = ()) -> Answers:
    """Predict what a strategy takes. How the course reads the handout stands before the mistakes; a
    mistake about the same thing takes its place."""
    things = {mistake.thing for mistake in mistakes}
    readings = course.readings[BOTH.index(strategy)]
    made = [*(it for it in readings if it.thing not in things), *mistakes]
    numbers = compute(course.question, strategy, made)
    return {Line(asked, strategy, kind): value for (asked, kind), value in numbers.items()}


@lru_cache(maxsize=64)
def predict_all(course: Course, strategy: str, amount: int) -> dict[Mistakes, Answers]:
    """Predict what a strategy takes with so many mistakes, each of which makes a difference alone.
    Two are never a multiple of the right number or a constant typed wrong."""
    if amount == 0:
        return {(): predict(course, strategy)}
    if amount == 1:
        right = predict(course, strategy)
        known = [it for it in list_known(course) if strategy in it.strategies]
        alone = {(it,): predict(course, strategy, (it,)) for it in known}
        return {one: made for one, made in alone.items() if made != right}
    combined = [one for (one,) in predict_all(course, strategy, 1) if not one.is_alone]
    pairs = [pair for pair in combinations(combined, 2) if pair[0].thing != pair[1].thing]
    return {pair: predict(course, strategy, pair) for pair in pairs}


@lru_cache(maxsize=8)
def list_known(course: Course) -> list[Mistake]:
    """List all mistakes, first that somebody does not read the handout as the course does."""
    readings = dict.fromkeys(it for of in course.readings for it in of)
    ignored = [
        Mistake(f'the course\'s "{read.clause}" is not followed', read.thing, {}, read.strategies)
        for read in readings
    ]
    return ignored + list_mistakes(course.question)


# ------------------------------------------------ explanations of one strategy


def find_explanations(
    course: Course, strategy: str, given: Numbers, amount: int
) -> Iterator[Explanation]:
    """Find the explanations by so many mistakes. One mistake may leave a wrong number, a slip."""
    wrong = find_wrong(course, strategy, given)
    if not list_evident(given, wrong):
        return
    checks = [(line, given[line], True) for line in wrong]  # first, because most fail at once
    checks += [(line, number, False) for line, number in given.items() if line not in wrong]
    for mistakes, answers in predict_all(course, strategy, amount).items():
        left = 0
        for line, number, is_wrong in checks:
            if not number.agrees(answers[line]):
                left += 1
                if not is_wrong or left > (amount == 1):
                    break
        else:
            made = tuple(line for line in wrong if given[line].agrees(answers[line]))
            if list_evident(given, made) and have_parts(course, strategy, mistakes, made):
                yield Explanation(strategy, mistakes, made, left)


def have_parts(course: Course, strategy: str, mistakes: Mistakes, made: tuple[Line, ...]) -> bool:
    """Tell whether each mistake has a part in a number that is made. Two that only cancel each
    other out in right ones are a coincidence."""
    whole = predict_all(course, strategy, len(mistakes))[mistakes]
    fewer = predict_all(course, strategy, len(mistakes) - 1)
    without_one = [fewer[tuple(it for it in mistakes if it is not one)] for one in mistakes]
    return all(any(it[line] != whole[line] for line in made) for it in without_one)


def list_evident(given: Numbers, lines: Iterable[Line]) -> list[Line]:
    """List the lines whose numbers have digits enough to be evidence at all."""
    return [line for line in lines if given[line].digits >= LEAST_DIGITS]


def find_wrong(course: Course, strategy: str, given: Numbers) -> list[Line]:
    """Find a strategy's numbers that are not what the course has."""
    right = predict_all(course, strategy, 0)[()]
    return [line for line, number in given.items() if not number.agrees(right[line])]


# ------------------------------------------------ explanations of both


def diagnose(course: Course, given: Mapping[str, Numbers]) -> list[Pair]:
    """Find the best explanations of both strategies; several if they are equally good. Two mistakes
    are tried only if one leaves numbers wrong, or if it makes more than two of both."""
    found = {of: [Explanation(of, left=len(find_wrong(course, of, given[of])))] for of in BOTH}
    for amount in 1, 2:
        for of in BOTH:
            best = choose(course, given, found)[0]
            if any(it.left for it in best) or count_mistakes(course, given, best) > 2:
                found[of] += find_explanations(course, of, given[of], amount)
    return choose(course, given, found)


def choose(
    course: Course, given: Mapping[str, Numbers], found: Mapping[str, list[Explanation]]
) -> list[Pair]:
    """Choose the pairs that leave the fewest numbers wrong, then those of the fewest mistakes. If
    one lacks digits, its strategy's that leave as few are dropped, and the choice is made again."""
    left = dict(found)
    while True:
        least = {of: min(it.left for it in left[of]) for of in BOTH}
        tensor, pipeline = ([it for it in left[of] if it.left == least[of]] for of in BOTH)
        costs = {pair: count_mistakes(course, given, pair) for pair in product(tensor, pipeline)}
        pairs = [pair for pair, cost in costs.items() if cost == min(costs.values())]
        lacking = {
            one.strategy
            for pair in pairs
            for one, other in (pair, pair[::-1])
            if not has_digits(course, given, one, other)
        }
        if not lacking:
            return pairs
        for of in lacking:
            left[of] = [it for it in left[of] if it.left > least[of]]


def count_mistakes(course: Course, given: Mapping[str, Numbers], pair: Pair) -> int:
    """Count the mistakes of both, twice those that the other's numbers contradict."""
    cost = len({*pair[0].mistakes, *pair[1].mistakes})
    for one, other in (pair, pair[::-1]):
        own = [it for it in one.mistakes if it not in other.mistakes]
        cost += sum(makes_difference(course, other.strategy, given, it) for it in own)
    return cost


def makes_difference(
    course: Course, strategy: str, given: Mapping[str, Numbers], mistake: Mistake
) -> bool:
    """Tell whether a mistake alone changes a number of a strategy that is given."""
    made = predict_all(course, strategy, 1).get((mistake,))
    right = predict_all(course, strategy, 0)[()]
    return made is not None and any(made[line] != right[line] for line in given[strategy])


def has_digits(
    course: Course, given: Mapping[str, Numbers], one: Explanation, other: Explanation
) -> bool:
    """Tell whether the numbers that are made have digits enough. Let k be the mistakes that the
    other strategy does not share, and one more for a constant typed wrong, because so many are
    tried: each number needs k + 2 digits, all together 2 k + 2; one more if each is less than 10^k
    of its last place from the right one and may be a slip, one more if a wrong number is left.
    Numbers of Q2 that follow from Q1's do not count. A constant is typed once, so it must be wrong
    for both."""
    if not one.mistakes:
        return True
    own = [it for it in one.mistakes if it not in other.mistakes]
    is_constant = one.mistakes[0].thing == CONSTANT
    if is_constant and own and makes_difference(course, other.strategy, given, own[0]):
        return False
    k = len(own) + is_constant
    numbers = given[one.strategy]
    digits = {line: numbers[line].digits for line in list_evident(numbers, one.made)}
    following = {line._replace(question="Q2") for line in digits if is_followed(line)}
    evident = sum(amount for line, amount in digits.items() if line not in following)
    right = predict_all(course, one.strategy, 0)[()]
    is_slip = len(own) > 0 and all(
        abs(numbers[line].amount - right[line]) < 10**k * 2 * numbers[line].rounding
        for line in digits
    )
    return evident >= 2 + 2 * k + is_slip + (one.left > 0) and min(digits.values()) >= k + 2


def is_followed(line: Line) -> bool:
    """Tell whether Q2's number follows from this one of Q1: all do but the pipeline's latency."""
    return line.question == "Q1" and line[1:] != ("pipeline", "latency")
