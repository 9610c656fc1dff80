"""Which changes of the model make the wrong numbers of a submission.

A latency and a traffic of one strategy and one question are a pair: two numbers of one model. That
is the evidence. A set of changes is said to make a pair only if it makes all that is given of it,
its right numbers, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from lab3 import Rate
from report.check.changes import BOTH, MOST_CHANGES
from report.check.readings import Course, Names, sets_of_changes, taken_by_sets
from report.check.submission import PIPELINE_LATENCY, Kind, Line, Number, Verdict
from report.check.verdicts import from_own_q1, how_far, this_is

Pair = tuple[str, str]  # question and strategy
MULTIPLES: dict[str, Rate] = {
    "twice the right number": 2,
    "half the right number": Fraction(1, 2),
    "four times the right number": 4,
    "a quarter of the right number": Fraction(1, 4),
}
LEAST_OF_A_PAIR, LEAST_ALONE = 4, 6  # digits of evidence; the latter without the other of a pair
DIGITS_OF_NO_CHANGE, DIGITS_PER_CHANGE = 3, 2


@dataclass
class Found:
    """Wrong numbers, and the sets of changes of which each makes them."""

    sets: list[Names]
    numbers: list[Number]
    in_traffic_only: bool = False  # the latencies are right, though the changes are of both

    @property
    def lines(self) -> list[Line]:
        return [*dict.fromkeys(number.line for number in self.numbers)]


def explain(course: Course, numbers: Sequence[Number]) -> list[Found]:
    """What makes the wrong numbers; the verdicts of those that are left say what they are."""
    evidence = Evidence(course, [number for number in numbers if _is_evidence(number)])
    found = evidence.by_pairs() if evidence.wrong else []
    for number in evidence.left(found):
        evidence.join(number, found)
    evidence.traffic_alone(found)
    for each in found:
        each.in_traffic_only = evidence.is_in_traffic_only(each)
        each.numbers.sort(key=numbers.index)
        for number in each.numbers:
            number.answer = evidence.answer(each.sets[0], number.line)
    for number in evidence.left(found):
        if number.belongs_to:
            number.verdict = this_is(number.belongs_to)
        elif from_q1 := from_own_q1(number, numbers, course.question.inputs):
            number.verdict = Verdict(Kind.FROM_Q1, from_q1)
        else:
            number.verdict = Verdict(Kind.NOT_EXPLAINED, f"not explained, {how_far(number)}")
    return found


def _is_evidence(number: Number) -> bool:
    """Another line's right number is evidence for nothing, and against nothing."""
    return bool(number.spans) and number.kind not in (Kind.OTHER_LINE, Kind.EXCHANGED)


def _is_wrong(number: Number) -> bool:
    return number.kind is Kind.WRONG


class Evidence:
    """The numbers of a submission in pairs, and which sets of changes make which pairs."""

    def __init__(self, course: Course, numbers: Sequence[Number]):
        self.course, self.numbers = course, numbers
        self.strategies_of = {change.name: change.strategies for change in course.changes}
        self.given: dict[Pair, list[Number]] = {}
        for number in numbers:
            self.given.setdefault(number.line[:2], []).append(number)
        self.wrong = {pair for pair, own in self.given.items() if any(map(_is_wrong, own))}
        self.right = {
            pair for pair, own in self.given.items() if all(each.has_right_value for each in own)
        }
        self.multiples = {
            (said,): {
                pair
                for pair in self.wrong
                if all(
                    number.agrees(number.right * times)
                    for number in filter(_is_wrong, self.given[pair])
                )
            }
            for said, times in MULTIPLES.items()
        }
        self.made_by = self._made_by_sets() if self.wrong else {}

    def _made_by_sets(self) -> dict[Names, set[Pair]]:
        """The pairs with a wrong number of which each set of changes makes all that is given; the
        sets in their order."""
        strategies = tuple(of for of in BOTH if any(of == pair[1] for pair in self.given))
        made_by: dict[tuple[str, Names], set[Pair]] = {}
        for pair in self.wrong:
            makers = [
                {
                    names
                    for answer, sets in _by_answer(self.course, number.line).items()
                    if number.agrees(answer)
                    for names in sets
                }
                for number in self.given[pair]
            ]
            for names in set.intersection(*makers):
                made_by.setdefault((pair[1], names), set()).add(pair)
        return {
            names: set().union(*(made_by.get(part, ()) for part in parts))
            for names, parts in sets_of_changes(self.course, strategies)
            if any(part in made_by for part in parts)
        }

    def answer(self, names: Names, line: Line) -> Rate:
        """What those changes that are of its strategy make of a line."""
        own = tuple(name for name in names if line.strategy in self.strategies_of[name])
        return taken_by_sets(self.course, line.strategy)[own][line.question, line.kind]

    def makes(self, names: Names, number: Number) -> bool:
        return number.agrees(self.answer(names, number.line))

    def makes_each(self, names: Names, numbers: Iterable[Number]) -> bool:
        return all(self.makes(names, number) for number in numbers)

    def left(self, found: Sequence[Found]) -> list[Number]:
        explained = {number for each in found for number in each.numbers}
        return [each for each in self.numbers if _is_wrong(each) and each not in explained]

    # -------------------------------------------- the rule of pairs

    def by_pairs(self) -> list[Found]:
        """The set that makes most pairs with a wrong number, then the one that makes most of those
        left, and so on. A multiple (twice, half, ...) names no cause: it ranks after one change."""
        left = {*self.wrong}
        found: list[Found] = []
        while True:
            ranked: dict[tuple[int, ...], list[tuple[Names, set[Pair]]]] = {}
            for names, pairs in self.made_by.items():
                if made := pairs & left:
                    against, of_the_other = self._contradictions(names, made)
                    is_held_up = len(names) <= self._most_changes(made, against)
                    if is_held_up and self._can_be(names, made):
                        rank = -len(made), len(names), against, of_the_other
                        ranked.setdefault(rank, []).append((names, made))
            for names, pairs in self.multiples.items():
                if (made := pairs & left) and self._most_changes(made):
                    ranked.setdefault((-len(made), 2, 0, 0), []).append((names, made))
            if not ranked:
                return found
            equals = ranked[min(ranked)]
            first, made = equals[0]
            wrong = [each for pair in made for each in self.given[pair] if _is_wrong(each)]
            if first in self.multiples:
                for number in wrong:
                    number.verdict = Verdict(Kind.MULTIPLE, first[0])
            else:
                same = [by for by, its in equals if its == made and by not in self.multiples]
                found.append(Found(self._not_ruled_out(same), wrong))
            left -= made

    def _can_be(self, names: Names, made: set[Pair]) -> bool:
        """Whether a set that has a change of both strategies, and more, but makes pairs of one, can
        be true of the other: it makes all if that is right, else each change is in some set that
        makes a wrong pair."""
        shared = [name for name in names if self.strategies_of[name] == BOTH]
        others = self._of_the_other(made)
        if len(names) < 2 or not shared or not others:
            return True
        if not others & self.wrong:
            return all(self.makes_each(names, self.given[pair]) for pair in others)
        return all(
            any(name in by and pairs & others for by, pairs in self.made_by.items())
            for name in shared
        )

    def _of_the_other(self, made: set[Pair]) -> set[Pair]:
        """The pairs of the other strategy, if those that are made are of one."""
        own = {of for _, of in made}
        return {pair for pair in self.given if pair[1] not in own} if len(own) == 1 else set()

    def _contradictions(self, names: Names, made: set[Pair]) -> tuple[int, int]:
        """How many pairs that are right the set does not make, and how many that are wrong in the
        other strategy, if it changes that one."""
        others = self._of_the_other(made) & self.wrong - self.made_by[names]
        changed = {of for name in names for of in self.strategies_of[name]}
        contradicted = sum(not self.makes_each(names, self.given[pair]) for pair in self.right)
        return contradicted, sum(of in changed for _, of in others)

    def _not_ruled_out(self, sets: Sequence[Names]) -> list[Names]:
        """Those alternatives of which what they do not share contradicts fewest right numbers."""
        right = [number for number in self.numbers if number.has_right_value]
        shared = set.intersection(*map(set, sets))
        against: dict[int, list[Names]] = {}
        for names in sets:
            own = tuple(name for name in names if name not in shared)
            contradicted = sum(not self.makes(own, number) for number in right)
            against.setdefault(contradicted, []).append(names)
        return against[min(against)]

    def _most_changes(self, made: Iterable[Pair], against: int = 0) -> int:
        """How many changes the digits of the wrong numbers of these pairs allow; it takes more if
        so many right pairs are against them."""
        pairs = [self.given[pair] for pair in made]
        digits = _digits(number for own in pairs for number in own)
        is_alone = all(len({number.line for number in own}) == 1 for own in pairs)
        if digits < (LEAST_ALONE if is_alone or against else LEAST_OF_A_PAIR):
            return 0
        return min(max((digits - DIGITS_OF_NO_CHANGE) // DIGITS_PER_CHANGE, 1), MOST_CHANGES)

    # -------------------------------------------- numbers whose pair is not made

    def join(self, number: Number, found: Sequence[Found]) -> None:
        """Let a set that is found make a single number, too, if it makes the other one of the pair
        where that is right; of alternatives those that do so remain."""
        bound = [other for other in self.given[number.line[:2]] if other.has_right_value]
        for each in found:
            if sets := [by for by in each.sets if self.makes_each(by, [number, *bound])]:
                each.sets[:] = sets
                each.numbers.append(number)
                return

    def traffic_alone(self, found: list[Found]) -> None:
        """Add the first change that makes all traffic of a strategy that is left, and what is
        right."""
        left = self.left(found)
        for of in BOTH:
            traffic = [number for number in self.numbers if number.line[1:] == (of, "traffic")]
            own = [number for number in traffic if number in left]
            if not own or _digits(own) < LEAST_ALONE:
                continue
            bound = own + [number for number in traffic if number.has_right_value]
            singles = [name for name, strategies in self.strategies_of.items() if of in strategies]
            makers: list[Names] = [(name,) for name in singles if self.makes_each((name,), bound)]
            same = [each for each in found if each.sets == makers[:1]]
            if same:
                same[0].numbers += own
            elif makers:
                found.append(Found(makers[:1], own))

    def is_in_traffic_only(self, found: Found) -> bool:
        """Whether the latencies of its pairs are right, though the sets would change them."""
        pairs = {line[:2] for line in found.lines}
        given = [number for pair in pairs for number in self.given[pair]]
        latencies = [number for number in given if number.line.kind == "latency"]
        are_right = all(number.agrees(number.right) for number in latencies)
        are_all_given = {number.line[:2] for number in latencies} == pairs
        return are_right and are_all_given and not self.makes_each(found.sets[0], latencies)


@lru_cache(maxsize=64)
def _by_answer(course: Course, line: Line) -> dict[Rate, list[Names]]:
    """The sets of changes that give each answer for a line, of which many give the same."""
    found: dict[Rate, list[Names]] = {}
    for names, taken in taken_by_sets(course, line.strategy).items():
        found.setdefault(taken[line.question, line.kind], []).append(names)
    return found


def _digits(numbers: Iterable[Number]) -> int:
    """How many the wrong ones have, without those of Q2 that follow from a wrong one of Q1."""
    digits = {each.line: each.given.digits for each in numbers if _is_wrong(each) and each.given}
    return sum(
        own
        for line, own in digits.items()
        if line.question == "Q1" or line[1:] == PIPELINE_LATENCY or line.of_q1 not in digits
    )
