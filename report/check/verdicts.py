"""Each number without what makes it: right, another line's, exchanged, 32 times the own Q1, ..."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from lab3 import Rate
from report.check.numbers import ASKED, BINARY, LEAST_DIGITS, UNITS, Given
from report.check.submission import PIPELINE_LATENCY, WRONG, Kind, Line, Number, Verdict
from report.terminal import short

Right = Mapping[Line, Rate]  # the right numbers; seconds, bytes


def judge(number: Number, right: Right) -> None:
    """Set the verdict of a number by itself, unless it already says why it is none."""
    given = number.given
    if not given:
        return
    if not given.value.is_finite():
        words = "nan" if given.value.is_nan() else "infinite"
        number.verdict = Verdict(Kind.NO_NUMBER, words)
    elif given.value < 0:
        number.verdict = Verdict(Kind.NO_NUMBER, "negative")
    else:
        said = number.said_unit
        number.read_in(*filter(None, [said, BINARY.get(said, "")]))  # KB may be either
        if given.value == 0 and number.right:
            number.verdict = Verdict(Kind.NO_NUMBER, "zero")
        else:
            number.verdict = (
                _as_it_is(number, given)
                or _in_another_unit(number, given)
                or _another_line(number, right)
            )


def _as_it_is(number: Number, given: Given) -> Verdict | None:
    said = number.said_unit
    for unit, (low, high) in zip([said, BINARY.get(said, "")], number.spans, strict=False):
        if low <= number.right < high:
            how = given.how(number.right, number.line.kind, UNITS[unit].factor)
            if how and given.digits < LEAST_DIGITS:
                words = f"{given.text} agrees, but has too few digits to be called right"
                return Verdict(Kind.TOO_FEW_DIGITS, words)
            number.answer = number.right
            in_unit = "" if unit == ASKED[number.line.kind] else f"in {unit}"
            return Verdict(Kind.RIGHT, ", ".join(filter(None, ["right", how, in_unit])))
    return None


def _in_another_unit(number: Number, given: Given) -> Verdict | None:
    for name, unit in UNITS.items():
        if unit.kind == number.line.kind and name != "bits" and _is_it(number, number.right, name):
            number.unit = name
            number.read_in(name)
            number.answer = number.right
            words = f"right in {name}, not in {given.unit or ASKED[unit.kind]}"
            return Verdict(Kind.OTHER_UNIT, words)
    return None


def _another_line(number: Number, right: Right) -> Verdict:
    """Whose right number it is. Q2's traffic that is Q1's stays wrong, because a change may make
    it."""
    line = number.line
    said = number.unit or number.said_unit
    for other, answer in right.items():
        same_kind = filter(None, [said, "" if number.unit else BINARY.get(said, "")])
        units = same_kind if other.kind == line.kind else [ASKED[other.kind]]
        if other != line and any(_is_it(number, answer, unit) for unit in units):
            number.belongs_to = other
            is_first_tried = other == line.of_q1 and line.kind == "traffic"
            return WRONG if is_first_tried else this_is(other)
    return WRONG


def this_is(line: Line) -> Verdict:
    return Verdict(Kind.OTHER_LINE, f"this is {line}")


def _is_it(number: Number, answer: Rate, unit: str) -> bool:
    """Whether it is exactly that, or agrees in enough digits."""
    assert number.given
    low, high = number.span(unit)
    is_exact = number.given.value == UNITS[unit].factor * answer
    return is_exact or (low <= answer < high and number.given.digits >= LEAST_DIGITS)


# ------------------------------------------------ numbers of which others say the unit


def read_alike(numbers: Iterable[Number]) -> None:
    """Wrong numbers in the unit in which all right ones of the kind are, if they say another."""
    for kind in ASKED:
        own = [number for number in numbers if number.line.kind == kind and number.spans]
        units = {number.unit for number in own if number.has_right_value}
        if len(units) == 1 and (unit := units.pop()):
            for number in own:
                if number.kind is Kind.WRONG:
                    number.unit = unit
                    number.read_in(unit)


def read_in_ms(numbers: Iterable[Number], right: Right) -> list[str]:
    """Latencies in ms, or in us, if all say seconds or nothing and would be near the right ones,
    but none is right: a sentence that says so."""
    own = [number for number in numbers if number.line.kind == "latency" and number.spans]
    for number in own:
        assert number.given
        is_wrong = number.kind is Kind.WRONG or not number.given.value
        if not is_wrong or number.given.unit not in ("", "seconds"):
            return []
    for unit in ("ms", "us"):
        times = [
            number.value / UNITS[unit].factor / number.right
            for number in own
            if number.kind is Kind.WRONG
        ]
        if len(times) > 1 and all(1 <= 10 * each <= 100 for each in times):
            for number in own:
                number.unit = unit
                number.read_in(unit)
                if number.kind is Kind.WRONG:
                    number.verdict = _another_line(number, right)
            return [f"your latencies are in {unit}"]
    return []


# ------------------------------------------------ two lines exchanged

EXCHANGES = ("Q1", "Q2"), ("tensor", "pipeline"), ("latency", "traffic")


def exchanged(numbers: Sequence[Number], right: Right) -> list[str]:
    """What is exchanged, in words: lines of which each has the other's right number. If most are,
    numbers of too few digits that agree are, too."""
    by_line = {number.line: number for number in numbers}
    found = []
    for words in EXCHANGES:
        others = {
            line: Line(*(words[word == words[0]] if word in words else word for word in line))
            for line in by_line
        }
        lines = [
            line
            for line, other in others.items()
            if by_line[line].belongs_to == other
            and other in by_line
            and by_line[other].belongs_to == line
        ]
        if 4 * len(lines) >= 3 * len(right):
            lines = [
                line for line in by_line if _is_in_place_of(by_line[line], others[line], right)
            ]
        for line in lines:
            by_line[line].belongs_to = others[line]
            by_line[line].verdict = Verdict(Kind.EXCHANGED, f"exchanged with {others[line]}")
        if lines:
            where = dict.fromkeys(
                " ".join(word for word in line if word not in words) for line in lines
            )
            scope = f" in {' and '.join(where)}" if len(lines) < len(right) else ""
            found.append(f"{' and '.join(words)} are exchanged{scope}")
    return found


def _is_in_place_of(number: Number, other: Line, right: Right) -> bool:
    """Whether it agrees with the other line's right number, in however few digits."""
    if not number.spans or number.kind is Kind.RIGHT or other not in right:
        return False
    if other.kind == number.line.kind:
        return number.agrees(right[other])
    low, high = number.span(ASKED[other.kind])
    return low <= right[other] < high


# ------------------------------------------------ cut or rounded


def is_rounded_up(number: Number) -> bool:
    """Whether it is a latency above the answer with which it agrees."""
    if number.line.kind != "latency" or number.answer is None or not number.given:
        return False
    return not number.given.is_full("latency") and number.value > number.answer


# ------------------------------------------------ what no changes make

OWN_Q1_WITHIN = Fraction(1, 500)
YOUR_Q1, ALONE = "your Q1", " (inputs do not overlap)"


def from_own_q1(number: Number, numbers: Iterable[Number], inputs: int) -> str:
    """How a number of Q2 follows from the submission's own of Q1: from a right one that is rounded,
    N times what it says; from a wrong one as far as both are rounded, which must not be far."""
    assert number.given
    line = number.line
    for own in numbers:
        if own.line != line.of_q1 or own.line == line or not own.spans or not own.given:
            continue
        half, own_half = (each.value - each.spans[0][0] for each in (number, own))
        n_times = f"{inputs} times {YOUR_Q1}"
        if line[1:] == PIPELINE_LATENCY:
            n_times += ALONE
        if own.has_right_value:
            is_rounded_so = abs(number.value - inputs * own.value) <= half
            if not _is_exact(own) and is_rounded_so and number.given.digits >= LEAST_DIGITS:
                return n_times
            continue
        for times, said in ((inputs, n_times), (1, f"the same as {YOUR_Q1}")):
            is_whole = _is_whole(number) and _is_whole(own)
            within = 0 if is_whole else half + times * own_half
            off = abs(number.value - times * own.value)
            if own.value and off <= within <= number.value * OWN_Q1_WITHIN:
                if own.kind is Kind.TOO_FEW_DIGITS:
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


def how_far(number: Number) -> str:
    """How far a number is from the right one."""
    times = number.times_right
    if times is None:
        return "the right number is 0"
    if Fraction(4, 5) <= times <= Fraction(5, 4):
        is_latency = number.line.kind == "latency"
        more = "too long" if is_latency else "too many bytes"
        less = "too short" if is_latency else "too few bytes"
        return f"{short(abs(times - 1) * 100, 2)} % {more if times > 1 else less}"
    far = f"{short(times, 3)} times" if times > 1 else f"{short(100 * times, 3)} % of"
    return f"{far} the right number"
