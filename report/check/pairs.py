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
from report.check.numbers import LEAST_DIGITS
from report.check.readings import (
    Course,
    Names,
    sets_of_changes,
    taken_by_sets,
)
from report.check.submission import Line, Number
from report.check.verdicts import (
    EXCHANGED,
    NOT_EXPLAINED,
    RIGHT,
    THIS_IS,
    TOO_FEW_DIGITS,
    WRONG,
    Right,
)
from report.terminal import short

Pair = tuple[str, str]  # question and strategy
MULTIPLES: dict[str, Rate] = {
    "twice the right number": 2,
    "half the right number": Fraction(1, 2),
    "four times the right number": 4,
    "a quarter of the right number": Fraction(1, 4),
}
LEAST_OF_A_PAIR, LEAST_ALONE = 4, 6  # digits of evidence; the latter without the other of a pair
DIGITS_OF_NO_CHANGE, DIGITS_PER_CHANGE = 3, 2
PIPELINE_LATENCY = "pipeline", "latency"  # Q2's does not follow from Q1's, unlike all others
OWN_Q1_WITHIN = Fraction(1, 500)
YOUR_Q1, ALONE = "your Q1", " (inputs do not overlap)"


@dataclass
class Found:
    """Sets of changes that all make the same wrong numbers."""

    sets: list[Names]
    numbers: list[Number]
    only: str = ""  # the kind of number, if the sets do not make the other


def explain(course: Course, numbers: Sequence[Number], right: Right) -> list[Found]:
    """What makes the wrong numbers; the verdicts of those that are left say what they are."""
    evidence = Evidence(course, [it for it in numbers if it.spans and _is_evidence(it)], right)
    found = evidence.by_pairs() if evidence.wrong else []
    for number in evidence.left(found):
        evidence.join(number, found)
    evidence.traffic_alone(found)
    for each in found:
        each.only = evidence.only_kind(each)
        for number in each.numbers:
            number.answer = evidence.answer(each.sets[0], number.line)
    for number in evidence.left(found):
        if number.belongs_to:
            number.verdict = f"{THIS_IS}{number.belongs_to}"
        else:
            from_q1 = _from_own_q1(number, numbers, course.question.inputs)
            number.verdict = from_q1 or f"{NOT_EXPLAINED}, {_how_far(number, right[number.line])}"
    return found


def _is_evidence(number: Number) -> bool:
    """Another line's right number is evidence for nothing, and against nothing."""
    return not number.verdict.startswith((THIS_IS, EXCHANGED))


class Evidence:
    """The numbers of a submission in pairs, and which sets of changes make which pairs."""

    def __init__(self, course: Course, numbers: Sequence[Number], right: Right):
        self.course, self.numbers, self.right_answers = course, numbers, right
        self.strategies_of = {it.name: it.strategies for it in course.changes}
        self.given: dict[Pair, list[Number]] = {}
        for number in numbers:
            self.given.setdefault(number.line[:2], []).append(number)
        self.wrong = {
            pair for pair, own in self.given.items() if any(it.verdict == WRONG for it in own)
        }
        self.right = {
            pair
            for pair, own in self.given.items()
            if all(it.verdict.startswith(RIGHT) for it in own)
        }
        self.multiples = {
            (said,): {
                pair
                for pair in self.wrong
                if all(
                    number.agrees(right[number.line] * times)
                    for number in self.given[pair]
                    if number.verdict == WRONG
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

    def makes_all(self, names: Names, pairs: Iterable[Pair]) -> bool:
        """Whether it makes all that is given of these pairs."""
        return all(self.makes(names, number) for pair in pairs for number in self.given[pair])

    def left(self, found: Sequence[Found]) -> list[Number]:
        explained = {number for each in found for number in each.numbers}
        return [it for it in self.numbers if it.verdict == WRONG and it not in explained]

    # -------------------------------------------- the rule of pairs

    def by_pairs(self) -> list[Found]:
        """Again and again the set that makes most pairs with a wrong number. A multiple is no
        cause, so it ranks as two changes that contradict nothing."""
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
            wrong = [it for it in self.numbers if it.line[:2] in made and it.verdict == WRONG]
            if first in self.multiples:
                for number in wrong:
                    number.verdict = first[0]
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
            return self.makes_all(names, others)
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
        contradicted = [pair for pair in self.right if not self.makes_all(names, [pair])]
        return len(contradicted), sum(of in changed for _, of in others)

    def _not_ruled_out(self, sets: Sequence[Names]) -> list[Names]:
        """Those alternatives of which what they do not share contradicts fewest right numbers."""
        right = [number for number in self.numbers if number.verdict.startswith(RIGHT)]
        shared = set.intersection(*map(set, sets))
        against = []
        for names in sets:
            own = tuple(name for name in names if name not in shared)
            against.append(sum(not self.makes(own, number) for number in right))
        fewest = min(against)
        return [by for by, its in zip(sets, against, strict=True) if its == fewest]

    def _most_changes(self, made: Iterable[Pair], against: int = 0) -> int:
        """How many changes the digits of the wrong numbers of these pairs allow; it takes more if
        so many right pairs are against them."""
        pairs = [self.given[pair] for pair in made]
        lines = [{it.line for it in own} for own in pairs]
        digits = _digits(it for own in pairs for it in own)
        is_alone = all(len(own) == 1 for own in lines)
        least = LEAST_ALONE if is_alone or against else LEAST_OF_A_PAIR
        if digits < least:
            return 0
        return min(max((digits - DIGITS_OF_NO_CHANGE) // DIGITS_PER_CHANGE, 1), MOST_CHANGES)

    # -------------------------------------------- numbers whose pair is not made

    def join(self, number: Number, found: Sequence[Found]) -> None:
        """Let a set that is found make a single number, too, if it makes the other one of the pair
        where that is right; of alternatives those that do so remain."""
        others = [it for it in self.given[number.line[:2]] if it.verdict.startswith(RIGHT)]
        for each in found:
            sets = [
                names
                for names in each.sets
                if self.makes(names, number) and all(self.makes(names, other) for other in others)
            ]
            if sets:
                each.sets[:] = sets
                each.numbers.append(number)
                return

    def traffic_alone(self, found: list[Found]) -> None:
        """Add the first change that makes all traffic of a strategy that is left, and what is
        right."""
        left = self.left(found)
        for of in BOTH:
            traffic = [it for it in self.numbers if it.line[1:] == (of, "traffic")]
            own = [it for it in traffic if it in left]
            right = [it for it in traffic if it.verdict.startswith(RIGHT)]
            singles = [
                (name,) for name, strategies in self.strategies_of.items() if of in strategies
            ]
            if own and _digits(own) >= LEAST_ALONE:
                for names in singles:
                    if all(self.makes(names, number) for number in own + right):
                        same = [each for each in found if each.sets == [names]]
                        if same:
                            same[0].numbers += own
                        else:
                            found.append(Found([names], own))
                        break

    def only_kind(self, found: Found) -> str:
        """Traffic, if that is all that the sets make, while the latencies are right though they
        would change them."""
        lines = {number.line for number in found.numbers}
        latencies = [
            number
            for number in self.numbers
            if number.line._replace(kind="traffic") in lines and number.line.kind == "latency"
        ]
        is_only = lines.isdisjoint(number.line for number in latencies) and all(
            number.agrees(self.right_answers[number.line]) for number in latencies
        )
        is_contradicted = not all(self.makes(found.sets[0], number) for number in latencies)
        return "traffic" if is_only and is_contradicted else ""


@lru_cache(maxsize=64)
def _by_answer(course: Course, line: Line) -> dict[Rate, list[Names]]:
    """The sets of changes that give each answer for a line, of which many give the same."""
    found: dict[Rate, list[Names]] = {}
    for names, taken in taken_by_sets(course, line.strategy).items():
        found.setdefault(taken[line.question, line.kind], []).append(names)
    return found


def _digits(numbers: Iterable[Number]) -> int:
    """How many the wrong ones have, without those of Q2 that follow from a wrong one of Q1."""
    digits = {it.line: it.given.digits for it in numbers if it.verdict == WRONG and it.given}
    return sum(
        own
        for line, own in digits.items()
        if line.question == "Q1" or line[1:] == PIPELINE_LATENCY or line.of_q1 not in digits
    )


def _from_own_q1(number: Number, numbers: Iterable[Number], inputs: int) -> str:
    """How a number of Q2 follows from the submission's own of Q1: from a right one that is rounded,
    N times what it says; from a wrong one as far as both are rounded, which must not be far."""
    assert number.given
    line = number.line
    for own in numbers:
        if own.line != line.of_q1 or own.line == line or not own.spans or not own.given:
            continue
        half, own_half = (it.value - it.spans[0][0] for it in (number, own))
        n_times = f"{inputs} times {YOUR_Q1}"
        if line[1:] == PIPELINE_LATENCY:
            n_times += ALONE
        if own.verdict.startswith(RIGHT):
            is_rounded_so = abs(number.value - inputs * own.value) <= half
            if not _is_exact(own) and is_rounded_so and number.given.digits >= LEAST_DIGITS:
                return n_times
        else:
            for times, said in ((inputs, n_times), (1, f"the same as {YOUR_Q1}")):
                within = half + times * own_half
                if _is_whole(number) and _is_whole(own):
                    within = Fraction(0)
                if (
                    abs(number.value - times * own.value) <= within <= number.value * OWN_Q1_WITHIN
                    and own.value
                ):
                    if own.verdict.endswith(TOO_FEW_DIGITS):
                        return said
                    wrong = f"{said.removesuffix(ALONE)}, which is wrong"
                    return f"{wrong}, and inputs do not overlap" if ALONE in said else wrong
    return ""


def _is_exact(number: Number) -> bool:
    assert number.given
    return number.value == number.answer or number.given.is_full(number.line.kind)


def _is_whole(number: Number) -> bool:
    """Whether it is a whole number of bytes."""
    assert number.given
    is_in_bytes = (number.unit or number.said_unit) == "bytes"
    return is_in_bytes and number.given.value.as_tuple().exponent == 0


def _how_far(number: Number, answer: Rate) -> str:
    """How far a number is from the right one."""
    if not answer:
        return "the right number is 0"
    times = number.value / answer
    is_latency = number.line.kind == "latency"
    if Fraction(4, 5) <= times <= Fraction(5, 4):
        more, less = (
            ("too long", "too short") if is_latency else ("too many bytes", "too few bytes")
        )
        return f"{short(abs(times - 1) * 100, 2)} % {more if times > 1 else less}"
    far = f"{short(times, 3)} times" if times > 1 else f"{short(100 * times, 3)} % of"
    return f"{far} the right number"
