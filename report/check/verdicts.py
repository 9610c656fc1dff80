"""Each number by itself: right, right in another unit, another line's, or wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lab3 import Rate
from report.check.numbers import ASKED, BINARY, LEAST_DIGITS, UNITS, Given
from report.check.submission import Line, Number

RIGHT, WRONG, MISSING, NOT_EXPLAINED = "right", "wrong", "missing", "not explained"
THIS_IS, EXCHANGED = "this is ", "exchanged with "
TOO_FEW_DIGITS = "agrees, but has too few digits to be called right"
Right = Mapping[Line, Rate]  # the right numbers; seconds, bytes


def is_right(verdict: str) -> bool:
    """Whether it is right as it stands: "right, in ms", but not "right in ms, not in seconds"."""
    return verdict.split(",")[0] == RIGHT


def judge(number: Number, right: Right) -> None:
    """Set the verdict of a number by itself, unless it already says why it is none."""
    given, answer = number.given, right[number.line]
    if not given:
        return
    if not given.value.is_finite():
        number.verdict = "nan" if given.value.is_nan() else "infinite"
    elif given.value < 0:
        number.verdict = "negative"
    else:
        said = number.said_unit
        number.read_in(*filter(None, [said, BINARY.get(said, "")]))  # KB may be either
        if given.value == 0:
            number.verdict = "zero" if answer else RIGHT
        else:
            number.verdict = (
                _as_it_is(number, given, answer)
                or _in_another_unit(number, given, answer)
                or _another_line(number, right)
            )


def _as_it_is(number: Number, given: Given, answer: Rate) -> str:
    said = number.said_unit
    for unit, (low, high) in zip([said, BINARY.get(said, "")], number.spans, strict=False):
        if low <= answer < high:
            how = given.how(answer, number.line.kind, UNITS[unit].factor)
            if how and given.digits < LEAST_DIGITS:
                return f"{given.text} {TOO_FEW_DIGITS}"
            number.answer = answer
            in_unit = "" if unit == ASKED[number.line.kind] else f"in {unit}"
            return ", ".join(filter(None, (RIGHT, how, in_unit)))
    return ""


def _in_another_unit(number: Number, given: Given, answer: Rate) -> str:
    for name, unit in UNITS.items():
        if unit.kind == number.line.kind and name != "bits" and _is_it(number, answer, name):
            number.unit = name
            number.read_in(name)
            number.answer = answer
            return f"{RIGHT} in {name}, not in {given.unit or ASKED[unit.kind]}"
    return ""


def _another_line(number: Number, right: Right) -> str:
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
            return WRONG if is_first_tried else f"{THIS_IS}{other}"
    return WRONG


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
        units = {number.unit for number in own if number.verdict.startswith(RIGHT)}
        if len(units) == 1 and (unit := units.pop()):
            for number in own:
                if number.verdict == WRONG:
                    number.unit = unit
                    number.read_in(unit)


def read_in_ms(numbers: Iterable[Number], right: Right) -> list[str]:
    """Latencies in ms, or in us, if all say seconds or nothing and would be near the right ones,
    but none is right: a sentence that says so."""
    own = [number for number in numbers if number.line.kind == "latency" and number.spans]
    for number in own:
        assert number.given
        if number.verdict not in (WRONG, "zero") or number.given.unit not in ("", "seconds"):
            return []
    for unit in ("ms", "us"):
        times = [
            number.value / UNITS[unit].factor / right[number.line]
            for number in own
            if number.verdict == WRONG
        ]
        if len(times) > 1 and all(1 <= 10 * each <= 100 for each in times):
            for number in own:
                number.unit = unit
                number.read_in(unit)
                if number.verdict == WRONG:
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
            by_line[line].verdict = f"{EXCHANGED}{others[line]}"
        if lines:
            where = dict.fromkeys(
                " ".join(word for word in line if word not in words) for line in lines
            )
            scope = f" in {' and '.join(where)}" if len(lines) < len(right) else ""
            found.append(f"{' and '.join(words)} are exchanged{scope}")
    return found


def _is_in_place_of(number: Number, other: Line, right: Right) -> bool:
    """Whether it agrees with the other line's right number, in however few digits."""
    if not number.given or not number.spans or is_right(number.verdict) or other not in right:
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
