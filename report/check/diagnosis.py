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

from report.check.mistakes import MISTAKES, Mistake, compute
from report.check.submission import ASKED_UNIT, LEAST_DIGITS, Line, Number
from report.model import STRATEGIES as BOTH
from report.question import Question
from report.text import Exact

Mistakes = tuple[Mistake, ...]  # of different things, in the table's order
Answers = Mapping[Line, Exact]  # exact: seconds, bytes
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


@lru_cache(maxsize=100_000)
def predict(course: Course, strategy: str, mistakes: Mistakes = ()) -> Answers:
    """Predict what a strategy takes. How the course reads the handout stands before the mistakes; a
    mistake about the same name takes its place."""
    edits = list_edits(course, strategy, mistakes)
    computed = compute(course.question, strategy, edits)
    return dict(zip(list_asked(course.question, strategy), computed, strict=True))


def list_edits(course: Course, strategy: str, mistakes: Mistakes) -> list[str]:
    """List the edits of mistakes, behind those of the course's readings."""
    names = {name for mistake in mistakes for name in mistake.names}
    readings = course.readings[BOTH.index(strategy)]
    return [it.edit for it in (*(it for it in readings if not names & it.names), *mistakes)]


@lru_cache(maxsize=8)
def list_asked(question: Question, strategy: str) -> list[Line]:
    """List the lines of a strategy."""
    names = ["Q1", "Q2"] if question.inputs > 1 else ["Q1"]
    return [Line(name, strategy, kind) for name in names for kind in ASKED_UNIT]


@lru_cache(maxsize=64)
def estimate_all(course: Course, strategy: str, amount: int) -> list[tuple[Mistakes, list[float]]]:
    """Estimate, in floats, what a strategy takes with so many mistakes, each of which makes a
    difference alone; two that edit the same name are left out."""
    if amount == 1:
        right = predict(course, strategy)
        known = [(it,) for it in list_known(course) if strategy in it.strategies]
        ways = [one for one in known if predict(course, strategy, one) != right]
    else:
        combined = [one for (one,), _ in estimate_all(course, strategy, 1)]
        ways = [it for it in combinations(combined, 2) if not it[0].names & it[1].names]
    found = []
    for way in ways:
        try:
            edits = list_edits(course, strategy, way)
            found.append((way, compute(course.question, strategy, edits, float)))
        except ValueError:  # two that do not fit together: lists of different lengths
            continue
    return found


@lru_cache(maxsize=8)
def list_known(course: Course) -> list[Mistake]:
    """List all mistakes, first that somebody does not read the handout as the course does."""
    readings = dict.fromkeys(it for of in course.readings for it in of)
    ignored = [
        Mistake(
            f'the course\'s "{read.clause}" is not followed',
            "; ".join(f"{name} = {name}" for name in sorted(read.names)),
            read.strategies,
        )
        for read in readings
    ]
    return ignored + MISTAKES


# ------------------------------------------------ explanations of one strategy


def widen(number: Number) -> list[tuple[float, float]]:
    """Widen a number's spans a little, as floats."""
    return [(float(low) * (1 - 1e-9), float(high) * (1 + 1e-9)) for low, high in number.spans]


def find_explanations(
    course: Course, strategy: str, given: Numbers, amount: int
) -> Iterator[Explanation]:
    """Find the explanations by so many mistakes. One mistake may leave a wrong number, a slip."""
    wrong = find_wrong(course, strategy, given)
    if not list_evident(given, wrong):
        return
    asked = list_asked(course.question, strategy)
    may_leave = amount == 1  # one of the wrong numbers
    tests = [(asked.index(line), widen(given[line]), may_leave) for line in wrong]
    tests += [
        (asked.index(line), widen(it), False) for line, it in given.items() if line not in wrong
    ]
    for mistakes, estimates in estimate_all(course, strategy, amount):
        left = 0
        for at, near, may_be_left in tests:
            if not any(low <= estimates[at] < high for low, high in near):
                left += 1
                if left > may_be_left:
                    break
        else:
            answers = predict(course, strategy, mistakes)
            made = tuple(line for line in wrong if given[line].agrees(answers[line]))
            is_right = all(
                it.agrees(answers[line]) for line, it in given.items() if line not in wrong
            )
            left = len(wrong) - len(made)
            if (
                is_right
                and left <= may_leave
                and list_evident(given, made)
                and have_parts(course, strategy, mistakes, made)
            ):
                yield Explanation(strategy, mistakes, made, left)


def have_parts(course: Course, strategy: str, mistakes: Mistakes, made: tuple[Line, ...]) -> bool:
    """Tell whether each mistake has a part in a number that is made. Two that only cancel each
    other out in right ones are a coincidence."""
    whole = predict(course, strategy, mistakes)
    without_one = [
        predict(course, strategy, tuple(it for it in mistakes if it is not one)) for one in mistakes
    ]
    return all(any(it[line] != whole[line] for line in made) for it in without_one)


def list_evident(given: Numbers, lines: Iterable[Line]) -> list[Line]:
    """List the lines whose numbers have digits enough to be evidence at all."""
    return [line for line in lines if given[line].digits >= LEAST_DIGITS]


def find_wrong(course: Course, strategy: str, given: Numbers) -> list[Line]:
    """Find a strategy's numbers that are not what the course has."""
    right = predict(course, strategy)
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
    if strategy not in mistake.strategies:
        return False
    made, right = predict(course, strategy, (mistake,)), predict(course, strategy)
    return any(made[line] != right[line] for line in given[strategy])


def has_digits(
    course: Course, given: Mapping[str, Numbers], one: Explanation, other: Explanation
) -> bool:
    """Tell whether the numbers that are made have digits enough: in all four for a mistake that the
    other strategy does not share, six for two, two for none; three for the only mistake that
    explains them alone. One more if each number may be a slip: if it is less than 10^k of its last
    place from the right one. Numbers of Q2 that follow from Q1's do not count."""
    own = [it for it in one.mistakes if it not in other.mistakes]
    numbers = given[one.strategy]
    digits = {line: numbers[line].digits for line in list_evident(numbers, one.made)}
    following = {line._replace(question="Q2") for line in digits if is_followed(line)}
    evident = sum(amount for line, amount in digits.items() if line not in following)
    right = predict(course, one.strategy)
    near = 10 ** len(own)
    is_slip = len(own) > 0 and all(
        abs(numbers[line].amount - right[line]) < near * 2 * numbers[line].rounding
        for line in one.made
    )
    is_only = len(one.mistakes) == 1 and (
        len([*find_explanations(course, one.strategy, numbers, 1)]) == 1
    )
    needed = 2 + 2 * len(own) + (1 if is_slip else -is_only)
    return not one.mistakes or evident >= needed


def is_followed(line: Line) -> bool:
    """Tell whether Q2's number follows from this one of Q1: all do but the pipeline's latency."""
    return line.question == "Q1" and line[1:] != ("pipeline", "latency")
