"""Which answer, reading or result is one number that somebody has: the command find."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from lab3 import Rate
from report import analysis, readings
from report import question as asking
from report.given import LEAST_DIGITS, MICRO, SPELLINGS, UNITS, Given, given
from report.question import (
    LAB,
    STRATEGIES,
    Question,
    check_strategy,
    headed,
    possible_strategies,
    question_of,
)
from report.readings import MOST_CHANGES, Line
from report.terminal import count, filled, number, shown

MOST_PRINTED = 5  # answers
RESULT_DIGITS = 4  # of a result, if it is not whole
COMMON = ("seconds", "ms", "us", "bytes", "kB", "MB")  # units that a number without one may have


def most_changes(digits: int) -> int:
    """That together are tried for a number. By chance a random one agrees with an answer as often
    as 6 times in 100 (3 digits, one change), 5 (4, two), 2 (5, three)."""
    return min(max(digits - 2, 1), MOST_CHANGES)


class Match(NamedTuple):
    """An answer in one of its units."""

    strategy: str
    inputs: int
    unit: str
    answer: Rate
    changes: tuple[str, ...]


def find(text: str, question: Question = LAB, strategy: str | None = None) -> list[Match]:
    """The answers that the number is as far as its digits go, of both strategies or one, fewest
    changes first; none that fewer changes make.

    Raises ValueError for what is not a number, and as readings.answers does.
    """
    has = parse(text)
    question = readings.checked(question)
    found: list[Match] = []
    lines = _lines(question, strategy)
    for amount in range(most_changes(has.digits) + 1):
        for line in lines:
            for unit in _units(has, line.kind, is_as_read=not amount):
                span = has.span(line.kind, UNITS[unit].factor)
                for names in readings.between(question, line, amount, *span):
                    key = (line.strategy, line.inputs, unit)
                    if not any(it[:3] == key and {*it.changes} <= {*names} for it in found):
                        found.append(_match(question, line, unit, names))
        if amount == 1:
            found += _multiples(has, question, lines)
    return found


MULTIPLES = {"twice the right number": Fraction(2), "half the right number": Fraction(1, 2)}


def _multiples(has: Given, question: Question, lines: list[Line]) -> Iterator[Match]:
    """The answers as read here of which it is a multiple."""
    if has.digits < LEAST_DIGITS:
        return
    for line, (name, times) in product(lines, MULTIPLES.items()):
        for unit in _units(has, line.kind):
            as_read = _match(question, line, unit, ())
            if as_read.answer and has.agrees(as_read.answer * times, line.kind, 1):
                yield as_read._replace(answer=as_read.answer * times, changes=(name,))


def nearest(text: str, question: Question = LAB, strategy: str | None = None) -> list[Match]:
    """The answer of each strategy, as read or with one change, that is nearest by ratio. Raises as
    find does."""
    has = parse(text)
    question = readings.checked(question)
    value = Fraction(has.value)
    best: dict[str, tuple[Fraction, Match]] = {}
    for line in _lines(question, strategy):
        for unit in _units(has, line.kind):
            for amount in (0, 1):
                for names in readings.combined(question, line.strategy, amount):
                    match = _match(question, line, unit, names)
                    if match.answer:
                        ratio = max(match.answer / value, value / match.answer)
                        known = best.get(line.strategy)
                        if not known or ratio < known[0]:
                            best[line.strategy] = ratio, match
    return [match for _, match in best.values()]


def parse(text: str) -> Given:
    """A number above 0 and a unit that it may have. Raises ValueError for anything else."""
    if not isinstance(text, str):
        raise ValueError(f"NUMBER: {shown(text)} is not a text, such as '0.39793'")
    found = given(text)
    if found and found.value > 0 and not found.rest and found.unit in ("", *SPELLINGS):
        return found._replace(unit=SPELLINGS.get(found.unit, ""))
    raise ValueError(
        f"NUMBER: {shown(text)} is not a number above 0 of {', '.join(UNITS)}, such as 0.39793,"
        " 397.93 ms or 2,254,848 bytes"
    )


def _lines(question: Question, strategy: str | None) -> list[Line]:
    if strategy is not None:
        check_strategy(strategy)
    possible, impossible = possible_strategies(question.network, question.system)
    if strategy in impossible:
        raise ValueError(impossible[strategy].reason)
    return [
        Line(inputs, name, kind)
        for name in possible
        if strategy in (None, name)
        for inputs in sorted({1, question.inputs})
        for kind in ("latency", "traffic")
    ]


def _units(has: Given, kind: str, is_as_read: bool = False) -> list[str]:
    """Those that the number may have: its own, or without one the common ones; of answers as read
    here all, but not for a number that agrees with much."""
    of_kind = [name for name, unit in UNITS.items() if unit.kind == kind and name != "bits"]
    own = [has.unit] if has.unit else [name for name in of_kind if name in COMMON]
    own = [name for name in own if UNITS[name].kind == kind]
    if own and is_as_read and has.digits >= LEAST_DIGITS:
        own += [name for name in of_kind if name not in own]
    return own


def _match(question: Question, line: Line, unit: str, names: tuple[str, ...]) -> Match:
    answer = readings.answer(question, line, names)
    assert answer is not None
    return Match(line.strategy, line.inputs, unit, answer * UNITS[unit].factor, names)


# ------------------------------------------------ other results


class Found(NamedTuple):
    """A result of the analysis, and what the number is of it."""

    path: tuple[str, ...]
    unit: str
    value: Rate  # in that unit


KINDS = {"_s": "latency", "_bytes": "traffic"}  # by how the name of a result ends
NOT_RESULTS = ("version", "asked", "readings")
NAMING = ("topology", "inputs", "twice", "text", "where", "work", "layer")  # an item of a list
LISTS = ("uses", "steps", "results")  # of items that need no other name


def results(text: str, question: Question = LAB) -> list[Found]:
    """What else explain --json has that is this number, whole, or with four digits or more.

    Raises ValueError as find does.
    """
    has = parse(text)
    found = []
    spans = {kind: _spans(has, kind) for kind in ("", *KINDS.values())}
    for path, value in _results(readings.checked(question)):
        for unit, factor, low, high in spans[_kind(path[-1])]:
            if value == low or low < value < high:
                found.append(Found(path, unit, value * factor))
    return found


def _spans(has: Given, kind: str) -> list[tuple[str, Rate, Fraction, Fraction]]:
    """The units that the number may have, their factors, and from where to below where results
    agree with it; of few digits, only where both are the number itself."""
    units = {unit: UNITS[unit].factor for unit in _units(has, kind)}
    if not kind and not has.unit:
        units = {"": 1}
    found = []
    for unit, factor in units.items():
        low = high = Fraction(has.value) / factor
        if has.digits >= RESULT_DIGITS:
            low, high = has.span(kind, factor)
        found.append((unit, factor, low, high))
    return found


def _kind(name: str) -> str:
    """latency or traffic, by how the name of a result ends; empty for anything else."""
    ends = (kind for end, kind in KINDS.items() if name.endswith(end))
    return "" if name.endswith("_per_s") else next(ends, "")


@lru_cache(maxsize=8)
def _results(question: Question) -> list[tuple[tuple[str, ...], Rate]]:
    return [*_leaves(analysis.as_dict(question), ())]


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Rate]]:
    """The numbers of a dictionary, each with the names that lead to it."""
    if isinstance(value, dict):
        parts = [value.get(f"{part}_bytes") for part in ("weight", "input", "output")]
        if "where" in value and None not in parts:
            value = {**value, "total_bytes": sum(parts)}
        for name, each in value.items():
            if path or name not in NOT_RESULTS:
                yield from _leaves(each, path if name in LISTS else (*path, name))
    elif isinstance(value, list):
        for each in value:
            yield from _leaves(each, (*path, *_called(each)))
    elif isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        yield path, value


def _called(item: Any) -> list[Any]:
    """What tells an item of a list from the others."""
    if not isinstance(item, dict):
        return []
    called = []
    for name, value in item.items():
        if name in NAMING:
            said = {"layer": f"layer {value}", "inputs": f"{value} input{'s' * (value != 1)}"}
            called.append(said.get(name, value))
    return called


# ------------------------------------------------ the command


def add_options(parser: ArgumentParser) -> None:
    """A number, its unit, a strategy, and what if."""
    parser.add_argument("number", metavar="NUMBER", help="such as 0.39793, 397.93ms or 2,254,848")
    parser.add_argument("unit", metavar="UNIT", nargs="?", default="", help=", ".join(UNITS))
    parser.add_argument(
        "--strategy", choices=STRATEGIES, help="search one strategy only (default: both)"
    )
    asking.add_options(parser)


def run(options: Namespace) -> tuple[str, int]:
    """What the number is, status 0; or the nearest answers, status 1."""
    question = readings.checked(question_of(options))
    text = f"{options.number} {options.unit}".strip().translate(MICRO)
    has = parse(text)
    matches = find(text, question, options.strategy)
    is_answer = any(not it.changes for it in matches)
    others = [] if is_answer else results(text, question)
    if options.strategy:  # "tensor, streamed" is of tensor parallelism, too
        own = (options.strategy, f"{options.strategy}, streamed")
        others = [it for it in others if {*own} & {*it.path}]
    if not matches and not others:
        return headed(question, _nothing(text, has, question, options.strategy)), 1
    told = [_told(it, has, question) for it in matches[:MOST_PRINTED]]
    told += [_result_told(it) for it in others[:MOST_PRINTED]]
    agreeing = len(matches) + len(others)
    head = f"{text} agrees with {count(agreeing, 'answer')}"
    if agreeing > len(told):
        head += f", of which these are {len(told)}"
    weak = "One number is weak evidence: `python3 report check` judges all eight of a submission."
    if alike := sum(_alike(has, it, question) for it in matches if not it.changes):
        weak = f"{count(alike, 'answer')} with one change would agree with it, too. {weak}"
    return headed(question, "\n".join([f"{head}:", "", *told, "", filled(weak)])), 0


def _alike(has: Given, as_read: Match, question: Question) -> int:
    """How many other answers with one change have the digits of the one as read."""
    kind, factor, _ = UNITS[as_read.unit]
    line = Line(as_read.inputs, as_read.strategy, kind)
    names = readings.between(question, line, 1, *has.span(kind, factor))
    own = readings.answer(question, line, ())
    return sum(readings.answer(question, line, each) != own for each in names)


def _told(match: Match, has: Given | None, question: Question) -> str:
    """A match, and how the number agrees with it if it does."""
    kind, factor, _ = UNITS[match.unit]
    how = has.how(match.answer / Fraction(factor), kind, factor) if has else ""
    here = readings.answer(question, Line(match.inputs, match.strategy, kind), ())
    assert here is not None
    end = f", {how}" if how else ""
    if match.changes:
        reading = "; ".join(match.changes)
        end += f"; as read here {number(here * factor)}"
    elif has and has.unit and match.unit != has.unit:
        reading = f"right digits, but in {match.unit}, not {has.unit}"
    else:
        is_enough = has and (has.digits >= LEAST_DIGITS or not how)
        reading = "right" if is_enough else "agrees, with few digits" if has else "as read here"
    says = f"{match.strategy} parallelism, {count(match.inputs, 'input')}, {kind}: {reading}"
    return f"{filled(says, '    ')}\n    {number(match.answer)} {match.unit}{end}"


def _result_told(it: Found) -> str:
    names = [name.removesuffix("_s") if _kind(name) else name for name in it.path]
    words = ", ".join(names).replace("_", " ")
    path = words.replace("sram", "SRAM")
    return f"{filled(path, '    ')}\n    {number(it.value)} {it.unit}".rstrip()


def _nothing(text: str, has: Given, question: Question, strategy: str | None) -> str:
    changes = ("one change", "two changes", "three changes")[most_changes(has.digits) - 1]
    none = (
        f"No total latency or traffic with up to {changes}, and no other result of `explain`, is"
        f" {text}"
    )
    near = [_told(it, None, question) for it in nearest(text, question, strategy)]
    if not near:
        return filled(f"{none}.")
    none = filled(f"{none}. The nearest with at most one change, which do not match:")
    return "\n".join([none, "", *near])
