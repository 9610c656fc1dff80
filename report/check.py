"""Which numbers of a submission are right, and the smallest mistake that makes the others.

One number is weak evidence, eight are strong: a set of changes (readings.py) is first asked to
explain all of them, then those of a strategy, of a question, of both, and at last each by itself.
"""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import chain, product
from pathlib import Path
from typing import NamedTuple

import lab3
from lab3 import Rate
from report import analysis, readings
from report import question as asking
from report.find import MULTIPLES, most_changes
from report.find import find as find  # the same for one number
from report.given import ASKED, BINARY, LEAST_DIGITS, SPELLINGS, UNITS, Given, given
from report.question import LAB, Question, check_question, headed, possible_strategies, question_of
from report.readings import BOTH, STRATEGIES_OF, Line, Names
from report.steps import latency, traffic
from report.terminal import EXACT_DIGITS, count, filled, json_text, shown, table

MOST_NAMED = 3  # sets of changes that explain the same
MOST_BYTES = 10**6  # of a file
MOST_WRITTEN, MOST_HEAD = 22, 28  # characters of a number, as floats have, and of a head
MOST_NAME, MOST_OF_PATH = 32, 80  # of a file's, in a table and in a message

# ------------------------------------------------ the lines of a submission

LINE = re.compile(
    r"total\s+(latency|network\s+traffic)\s+of\s+(tensor|pipeline)\s+parallelism\s*"
    r"(?:\bis\b|(?=[:=]))\s*(.*)",
    re.I,
)
SIGNS = ":=~ "  # that may stand before a number
HEAD = re.compile(r"\bq\s*([12])\b|\b(single|one|[0-9]{1,20})\s+inputs?\b", re.I)
Q1_HEAD = "-----Q1 single input-----"


def required(question: Question) -> dict[Line, Rate]:
    """The lines that a submission must have, in order, and their right numbers, in seconds and
    bytes. Raises ValueError where the question is wrong."""
    check_question(question)
    possible, _ = possible_strategies(question.network, question.system)
    right: dict[Line, Rate] = {}
    for inputs in sorted({1, question.inputs}):
        for strategy, stages in possible.items():
            latency_s = latency(stages, question.system, inputs)
            right[Line(inputs, strategy, "latency")] = latency_s
            right[Line(inputs, strategy, "traffic")] = traffic(stages, inputs)
    return right


def _lines(text: str, inputs: int) -> tuple[list[tuple[Line, str]], dict[int, list[str]]]:
    """The required lines, each with what stands behind "is", and the heads by number of inputs."""
    found: list[tuple[Line, str]] = []
    heads: dict[int, list[str]] = {}
    below = 1
    for row in text.splitlines():
        if line := LINE.search(row):
            kind = "latency" if line[1].lower() == "latency" else "traffic"
            found.append((Line(below, line[2].lower(), kind), line[3].strip()))
        elif (of_head := _inputs_of(row, inputs)) is not None:
            below = of_head
            heads.setdefault(below, []).append(row.strip())
    if inputs in heads:
        return found, heads
    seen: set[Line] = set()
    for place, (line_of, rest) in enumerate(found):  # the second of two lines is Q2's
        if line_of in seen:
            found[place] = line_of._replace(inputs=inputs), rest
        seen.add(line_of)
    return found, heads


def _inputs_of(row: str, inputs: int) -> int | None:
    """How many inputs the lines below a head are of, 0 if none are asked; None if it is no head."""
    head = HEAD.search(row)
    if not head:
        return None
    if head[1]:
        return 1 if head[1] == "1" else inputs if inputs > 1 else 0
    said = 1 if head[2].lower() in ("single", "one") else int(head[2])
    return said if said in (1, inputs) else None


# ------------------------------------------------ which numbers are right

FACTORS = {  # of a unit that is wrong
    kind: [Fraction(base) ** (sign * power) for base, power in powers for sign in (1, -1)]
    for kind, powers in {
        "latency": [(10, 3), (10, 6), (10, 9)],
        "traffic": [(10, 3), (10, 6), (10, 9), (2, 10), (2, 20), (2, 30)],
    }.items()
}
AS_SAID: dict[str, Rate] = dict.fromkeys(FACTORS, 1)  # no unit is wrong
RIGHT, WRONG, MISSING, NOT_EXPLAINED = "right", "wrong", "missing", "not explained"
FEW_DIGITS = "agrees, with too few digits"
TOO_FEW_DIGITS, IMPOSSIBLE = "too few digits to say more", "zero, negative or too large"
NO_NUMBER = "no number"
OMITTED = "the number of the missing line"
WRONG_UNIT, OTHER_LINE = "wrong unit", "this is "  # before the unit, and before the line


class _Number(NamedTuple):
    """A number of a submission, and how it is judged by itself."""

    line: Line
    text: str
    given: Given | None
    factor: Rate  # so many are a second or a byte
    verdict: str
    times: Rate = 1  # the factor is of the unit that is said, if that is wrong
    other: Line | None = None  # whose right number it is

    def agrees(self, answer: Rate, times: Mapping[str, Rate] = AS_SAID) -> bool:
        """Whether it is the answer, if wrong numbers of a kind are so many times too large."""
        assert self.given
        return self.given.agrees(answer, self.line.kind, self.factor_of(times))

    def per_input(self) -> tuple[Fraction, Fraction]:
        """Between which answers it is, for each input."""
        assert self.given
        low, high = self.given.span(self.line.kind, self.factor)
        return low / self.line.inputs, high / self.line.inputs

    def factor_of(self, times: Mapping[str, Rate]) -> Rate:
        """How many are a second or a byte then."""
        return self.factor * (times[self.line.kind] if self.verdict == WRONG else 1)


def _judged(line: Line, text: str, right: dict[Line, Rate]) -> _Number:
    number = given(text.lstrip(SIGNS))
    if number is None:
        return _Number(line, text, None, 1, NO_NUMBER)
    answer, kind = right[line], line.kind
    unit = _unit(number, answer, kind)
    factor, has_enough = UNITS[unit].factor, number.digits >= LEAST_DIGITS

    def judged(*verdict: str, times: Rate = 1) -> _Number:
        said = ", ".join(filter(None, verdict))
        return _Number(line, text, number, factor * times, said, times)

    in_unit = f"in {unit}" if unit != ASKED[kind] else ""
    if number.value == answer * factor:
        return judged(RIGHT, in_unit)
    if number.value <= 0:
        return judged(IMPOSSIBLE)
    if number.agrees(answer, kind, factor):
        how = number.how(answer, kind, factor)
        return judged(RIGHT, how, in_unit) if has_enough else judged(FEW_DIGITS)
    if number.digits == 1 and kind == "latency":
        return judged(TOO_FEW_DIGITS)
    if has_enough:
        for other, its_answer in right.items():
            its_factor = factor if other.kind == kind else 1
            if number.agrees(its_answer, other.kind, its_factor):
                return judged(f"{OTHER_LINE}{_named(other, line)}")._replace(other=other)
        for times in FACTORS[kind]:
            if number.agrees(answer, kind, factor * times):
                return judged(f"{WRONG_UNIT} ({_unit_name(kind, factor * times)})", times=times)
    return judged(WRONG)


def _named(other: Line, line: Line) -> str:
    return other.name if other.kind != line.kind else f"{other.name.rpartition(' ')[0]}'s"


def _unit(number: Given, answer: Rate, kind: str) -> str:
    """The number's, which may be KiB where KB makes the number right; where it has none of this
    kind, the one that is asked for."""
    unit = SPELLINGS.get(number.unit)
    if not unit or UNITS[unit].kind != kind:
        return ASKED[kind]
    binary = BINARY.get(unit, unit)
    return binary if number.agrees(answer, kind, UNITS[binary].factor) else unit


def _unit_name(kind: str, factor: Rate) -> str:
    named = (name for name, unit in UNITS.items() if unit[:2] == (kind, factor))
    return next(named, f"{lab3.plain(1 / Fraction(factor))} {ASKED[kind]}")


# ------------------------------------------------ what makes the others


def _strategy_and_kind(it: _Number) -> object:
    """A level for mistakes that are made in Q1 and Q2, in latency or in traffic only."""
    return it.line[1:]


OF_BOTH = frozenset(name for name, strategies in STRATEGIES_OF.items() if strategies == BOTH)
PLACES = {name: place for place, name in enumerate(STRATEGIES_OF)}
LEVELS: tuple[Callable[[_Number], object], ...] = (
    lambda it: 0,
    lambda it: it.line.strategy,
    _strategy_and_kind,
    lambda it: it.line.inputs,
    lambda it: it.line[:2],
    lambda it: it.line,
)


class Explained(NamedTuple):
    """Numbers that a set of changes makes, and the sets that do so, the smallest there are."""

    numbers: tuple[str, ...]  # the names of their lines
    sets: list[Names]
    more: int  # sets of as many changes
    units: tuple[str, ...]  # that are wrong besides


@dataclass
class _Found:
    """The same while it grows."""

    group: list[_Number]
    sets: list[Names]
    times: dict[str, Rate]  # how many times too large wrong numbers of a kind are

    def explains_too(self, question: Question, group: Sequence[_Number]) -> bool:
        """Whether some of its sets explain this group, too; these remain."""
        both = [names for names in self.sets if _explains(question, names, group, self.times)]
        if both:
            self.group += group
            self.sets = both
        return bool(both)

    def told(self) -> Explained:
        lines = tuple(dict.fromkeys(it.line.name for it in self.group))
        sets = sorted(self.sets, key=lambda names: [PLACES[name] for name in names])
        named = sets[:MOST_NAMED]
        units = [
            _unit_name(kind, UNITS[ASKED[kind]].factor * factor)
            for kind, factor in self.times.items()
            if factor != 1
        ]
        return Explained(lines, named, len(sets) - len(named), tuple(units))


def _explained(
    question: Question, numbers: Sequence[_Number], right: dict[Line, Rate]
) -> tuple[list[Explained], dict[_Number, str]]:
    """What changes explain, and the numbers that are a multiple of the right ones."""
    multiples: dict[_Number, str] = {}
    known: dict[str, set[Rate]] = {kind: set() for kind in FACTORS}  # wrong units by now
    for it in numbers:
        if it.times != 1:
            known[it.line.kind].add(it.times)
    found: list[_Found] = []
    left = [it for it in numbers if _is_evidence(it)]
    for level in LEVELS:
        groups: dict[object, list[_Number]] = {}
        for it in left:
            groups.setdefault(level(it), []).append(it)
        left = []
        for group in groups.values():
            if level is _strategy_and_kind and not _is_wrong_in_both(group):
                left += group
                continue
            if not any(it.verdict == WRONG for it in group):
                continue
            if level in (_strategy_and_kind, LEVELS[-1]) and (said := _multiple(group, right)):
                multiples |= dict.fromkeys(group, said)
                continue
            together = [*group, *(it for it in numbers if _follows(it, group))]
            if any(before.explains_too(question, together) for before in found):
                continue
            if new := _smallest(question, together, known):
                found.append(new)
                for kind, factor in new.times.items():
                    known[kind] |= {factor} - {1}
            else:
                left += group
    return [it.told() for it in found], multiples


def _is_wrong_in_both(group: Sequence[_Number]) -> bool:
    return len({it.line.inputs for it in group if it.verdict == WRONG}) == 2


def _multiple(group: Sequence[_Number], right: dict[Line, Rate]) -> str:
    """Which multiple of the right ones all numbers are, empty if none."""
    for said, times in MULTIPLES.items():
        if all(it.agrees(right[it.line] * times) for it in group):
            return said
    return ""


def _follows(it: _Number, group: Sequence[_Number]) -> bool:
    """Whether it is as many times as large as a number of the group as there are times as many
    inputs, so that what explains only one of them does so by chance."""
    if it.verdict != WRONG or it in group:
        return False
    return any(
        other.line._replace(inputs=it.line.inputs) == it.line
        and other.verdict == WRONG
        and other.per_input()[0] < it.per_input()[1]
        and it.per_input()[0] < other.per_input()[1]
        for other in group
    )


def _is_evidence(it: _Number) -> bool:
    """Whether changes must agree with the number."""
    return it.verdict.startswith((RIGHT, WRONG_UNIT)) or it.verdict == WRONG


def _smallest(
    question: Question, group: Sequence[_Number], known: dict[str, set[Rate]]
) -> _Found | None:
    """The smallest sets that explain the group."""
    digits: dict[object, int] = {}  # of each wrong number that does not follow from another
    for it in group:
        if it.verdict == WRONG and it.given:
            inputs, strategy, kind = it.line
            alone = (strategy, kind, inputs if (strategy, kind) == ("pipeline", "latency") else 0)
            digits[alone] = max(digits.get(alone, 0), it.given.digits)
    times: dict[str, list[Rate]] = {kind: [1] for kind in FACTORS}
    for kind in {it.line.kind for it in group if it.verdict == WRONG}:
        times[kind] += known[kind] or (FACTORS[kind] if len(digits) > 1 else [])
    sets_of = _sets_of(question, group)
    for amount in range(1, most_changes(sum(digits.values())) + 1):
        for each in product(*times.values()):
            by_kind = dict(zip(times, each, strict=True))
            factors = tuple(it.factor_of(by_kind) for it in group)
            if sets := _united(sets_of(amount, factors), amount):
                return _Found([*group], sets, by_kind)
    return None


def _sets_of(
    question: Question, group: Sequence[_Number]
) -> Callable[[int, tuple[Rate, ...]], list[list[Names]]]:
    """A function of an amount and of the factors of the numbers: the sets of up to so many changes
    that explain a strategy's numbers, for each strategy of the group."""
    strategies = dict.fromkeys(it.line.strategy for it in group)

    @cache
    def of_number(place: int, amount: int, factor: Rate) -> frozenset[Names]:
        line, number = group[place].line, group[place].given
        assert number
        return frozenset(readings.between(question, line, amount, *number.span(line.kind, factor)))

    @cache
    def of_strategy(strategy: str, amount: int, factors: tuple[Rate, ...]) -> frozenset[Names]:
        own = [
            of_number(place, amount, factor)
            for place, factor in enumerate(factors)
            if group[place].line.strategy == strategy
        ]
        return frozenset.intersection(*own)

    def up_to(amount: int, factors: tuple[Rate, ...]) -> list[list[Names]]:
        sizes = range(amount + 1)
        return [[*chain(*(of_strategy(it, n, factors) for n in sizes))] for it in strategies]

    return up_to


def _united(by_strategy: list[list[Names]], amount: int) -> list[Names]:
    """The sets of so many changes that have one of each strategy's. A change of both strategies is
    in both parts of a set, or in neither."""
    first, *others = by_strategy
    if not others:
        return [names for names in first if len(names) == amount]
    by_common: dict[frozenset[str], list[Names]] = {}
    for names in others[0]:
        by_common.setdefault(OF_BOTH.intersection(names), []).append(names)
    unions = {
        frozenset(names).union(more)
        for names in first
        for more in by_common.get(OF_BOTH.intersection(names), [])
    }
    return [tuple(sorted(it, key=PLACES.__getitem__)) for it in unions if len(it) == amount]


def _explains(
    question: Question, names: Names, group: Sequence[_Number], times: dict[str, Rate]
) -> bool:
    """Whether all numbers agree with what these changes give their strategy."""
    for it in group:
        answer = readings.answer(question, it.line, names)
        if answer is None or not it.agrees(answer, times):
            return False
    return True


# ------------------------------------------------ a submission


class Judged(NamedTuple):
    """A number of a submission; a line that is missing has none."""

    line: str
    given: str | None
    right: Rate
    verdict: str

    @property
    def is_right(self) -> bool:
        return self.verdict.startswith(RIGHT)


class Submission(NamedTuple):
    """What a submission says, and what explains it."""

    numbers: list[Judged]
    explained: list[Explained]
    form: list[str]  # what is not as the handout asks, besides numbers

    @property
    def lines(self) -> int:
        """How many there must be."""
        return len({it.line for it in self.numbers})

    @property
    def right_lines(self) -> int:
        """Those with right numbers only, besides that of an omitted line."""
        wrong = {it.line for it in self.numbers if not it.is_right and it.verdict != OMITTED}
        return self.lines - len(wrong)


def check(text: str, question: Question = LAB) -> Submission:
    """Judges what somebody's lab3.py printed.

    Raises ValueError where the question is wrong, where neither strategy is possible, and for a
    text without any of the required lines.
    """
    if not isinstance(text, str):
        raise ValueError(f"text: {shown(text)} is not a text")
    question = readings.checked(question)
    right = required(question)
    lines, heads = _lines(text, question.inputs)
    if not lines:
        wanted = "Total latency of tensor parallelism is xxx seconds"
        raise ValueError(f"none of the required lines, such as {wanted!r}")
    numbers = [_judged(*it, right) for it in dict.fromkeys(lines) if it[0] in right]
    explained, multiples = _explained(question, numbers, right)
    known = {name for each in explained for name in each.numbers}
    judged = []
    for line, answer in right.items():
        own = [it for it in numbers if it.line == line]
        for it in own:
            is_open = it.verdict == WRONG and line.name not in known
            written = it.given.text if it.given else it.text
            verdict = multiples.get(it, NOT_EXPLAINED) if is_open else it.verdict
            if len(own) > 1 and it.other and it.other not in dict(lines):
                verdict = OMITTED
            judged.append(Judged(line.name, _start(written, MOST_WRITTEN), answer, verdict))
        if not own:
            judged.append(Judged(line.name, None, answer, MISSING))
    return Submission(judged, explained, _form(question, lines, heads, right))


def _ascii(text: str) -> str:
    """As it may be repeated."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    return printable.encode("ascii", "replace").decode().strip()


def _start(text: str, most: int) -> str:
    said = _ascii(text)
    return said if len(said) <= most else f"{said[: most - 3]}..."


def _end(text: str, most: int) -> str:
    """That of a path tells more."""
    said = _ascii(text)
    return said if len(said) <= most else f"...{said[3 - most :]}"


def _form(
    question: Question,
    lines: list[tuple[Line, str]],
    heads: dict[int, list[str]],
    right: dict[Line, Rate],
) -> list[str]:
    """What is not as the handout asks, besides numbers."""
    faults = []
    wanted = {question.inputs: f"--------Q2 {question.inputs} inputs------", 1: Q1_HEAD}
    for inputs, head in sorted(wanted.items()):
        if inputs not in heads:
            faults.append(f"the head {head} is missing")
        elif _words(head) not in map(_words, heads[inputs]):
            faults.append(f"the head is {_start(heads[inputs][0], MOST_HEAD)!r}, not {head}")
    units: dict[tuple[str, str], list[str]] = {}
    for line in right:
        texts = dict.fromkeys(text for it, text in lines if it == line)
        if len(texts) > 1:
            faults.append(f"{line.name} has {len(texts)} different numbers")
        for number in map(given, (text.lstrip(SIGNS) for text in texts)):
            if number and SPELLINGS.get(number.unit) != ASKED[line.kind]:
                unit = SPELLINGS.get(number.unit, _start(number.unit, MOST_WRITTEN))
                units.setdefault((unit, ASKED[line.kind]), []).append(line.name)
    for (unit, asked), names in units.items():
        of = f"in {unit!r}" if unit else "no unit"
        faults.append(f"{of}, not in {asked}: {_whose(names)}")
    if signed := [line.name for line, text in lines if text.startswith((*SIGNS,))]:
        faults.append(f"a sign before the number: {_whose(signed)}")
    missing = [line for line in right if line not in dict(lines)]
    faults += [f"{line.name} is missing" for line in missing]
    if missing == [Line(question.inputs, "pipeline", "traffic")]:
        faults[-1] += ", as in the handout's sample, which repeats two other lines"
    _, impossible = possible_strategies(question.network, question.system)
    for line in dict(lines):
        if line not in right:
            reason = impossible[line.strategy].reason if line.strategy in impossible else ""
            faults.append(f"{line.name} is not expected. {reason}".strip())
    return faults


def _whose(lines: Sequence[str]) -> str:
    return ", ".join(lines) if len(lines) <= 2 else f"{len(lines)} numbers"


def _words(head: str) -> str:
    return " ".join(re.findall(r"\w+", head.lower()))


# ------------------------------------------------ in words


def reasons(submission: Submission) -> list[str]:
    """Why numbers are not right, in a few words each."""
    found = []
    for _, sets, more, units in submission.explained:
        others = len(sets) - 1 + more
        said = _set_said(sets[0], units)
        found.append(said + (f" (or {count(others, 'other set')})" if others else ""))
    return [*found, *_other_reasons(submission)]


def _set_said(names: Names, units: Sequence[str]) -> str:
    return "; ".join([*names, *(f"numbers in {unit}" for unit in units)])


def _other_reasons(submission: Submission) -> dict[str, list[str]]:
    """Those of numbers that no changes explain, each with its lines."""
    found: dict[str, list[str]] = {}
    for it in submission.numbers:
        if not it.is_right and it.verdict not in (WRONG, OMITTED):
            is_other = it.verdict.startswith(OTHER_LINE)
            found.setdefault("another line's number" if is_other else it.verdict, []).append(
                it.line
            )
    return found


def told(submission: Submission) -> str:
    """What explains it, first; then all lines; then the form."""
    numbers = submission.numbers
    is_whole = all(it.verdict == RIGHT for it in numbers)
    first = [_sentence(it, submission.lines) for it in submission.explained]
    for reason, lines in _other_reasons(submission).items():
        first.append(filled(f"{_capital(reason)}: {_whose(lines)}."))
    if submission.right_lines == submission.lines:
        is_cut = any("digits" in it.verdict for it in numbers)
        so_far = ", as far as they go" if is_cut else ""
        first = [f"All {submission.lines} numbers are right{so_far}."]
    blocks = ["\n".join(first)]
    if not is_whole:
        blocks.append(_numbers_table(numbers))
    if submission.form:
        blocks.append("\n".join(["Form:", *(filled(f"- {it}", "  ") for it in submission.form)]))
    return "\n\n".join(blocks)


def _sentence(it: Explained, lines: int) -> str:
    whose = " and ".join(it.numbers)
    if len(it.numbers) == lines:
        whose = f"all {lines} numbers"
    elif len(it.numbers) > 2:
        columns = zip(*(name.split() for name in it.numbers), strict=True)
        shared = [words[0] for words in columns if len({*words}) == 1]  # 4 tensor numbers
        whose = " ".join([f"{len(it.numbers)}", *shared, "numbers"])
    sets = [_set_said(names, it.units) for names in it.sets]
    if len(sets) == 1:
        return filled(f"{_capital(sets[0])}: that explains {whose}.")
    more = [f"- and {count(it.more, 'more set')} of as many changes"] if it.more else []
    listed = [filled(f"- {names}", "  ") for names in sets]
    return "\n".join([filled(f"Each of these explains {whose}:"), *listed, *more])


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _numbers_table(numbers: Sequence[Judged]) -> str:
    cells = []
    for it in numbers:
        question_number, strategy, kind = it.line.split()
        number = f"{kind} {'s' if kind == 'latency' else 'bytes'}"
        right = str(it.right) if isinstance(it.right, int) else lab3.plain(it.right, EXACT_DIGITS)
        cells.append([question_number, strategy, number, it.given or "-", right, it.verdict])
    widths = [max(len(row[n]) for row in cells) for n in (3, 4)]
    rows = [["", "", "", "yours", "right", ""], *cells]
    for row in rows:
        row[3:5] = map(str.rjust, row[3:5], widths)
    return table(rows[0], rows[1:])


# ------------------------------------------------ the command: check


def add_options(parser: ArgumentParser) -> None:
    """Files, what if, and --json."""
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="*",
        default=["-"],
        help="output of a lab3.py (default, or -: standard input)",
    )
    asking.add_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: Namespace) -> tuple[str, int]:
    """What is right and what explains the rest; 0 if all is right, 1 if not, 2 for a file that
    cannot be judged, which does not stop the others."""
    question = readings.checked(question_of(options))
    submissions: dict[str, Submission] = {}
    refused = []
    for name in dict.fromkeys(options.files):
        try:
            submissions[name] = check(_text(name), question)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            refused.append(f"FILE {_end(name, MOST_OF_PATH)!r}: {why}")
    if not submissions:
        raise ValueError(". ".join(refused))
    for why in refused:
        _complain(f"python3 report: error: {why}")
    is_right = all(it.right_lines == it.lines for it in submissions.values())
    status = 2 if refused else 0 if is_right else 1
    if options.json:
        return json_text(_as_dict(question, submissions)), status
    if len(options.files) < 2:
        [text] = map(told, submissions.values())
    else:
        text = _side_by_side(submissions)
    return headed(question, text), status


def _text(name: str) -> str:
    """What a file says; of bytes that are no UTF-8, each is one letter that is not known."""
    if name == "-":
        if sys.stdin is None:
            raise ValueError("standard input is closed")
        if sys.stdin.isatty():
            _complain("Reading from the terminal; end with Ctrl-D.")
        data = sys.stdin.buffer.read(MOST_BYTES + 1)
    else:
        with Path(name).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ValueError(f"has more than {MOST_BYTES:,} bytes")
    is_utf_16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))  # as PowerShell writes it
    return data.decode("utf-16" if is_utf_16 else "utf-8-sig", "replace")


def _complain(text: str) -> None:
    if sys.stderr:
        with suppress(OSError):
            print(text, file=sys.stderr, flush=True)


def _side_by_side(submissions: dict[str, Submission]) -> str:
    """A line each, then how often each reason occurs."""
    why = {name: reasons(it) for name, it in submissions.items()}
    rows = [
        [_end(name, MOST_NAME), f"{it.right_lines} of {it.lines}", ". ".join(why[name]) or RIGHT]
        for name, it in submissions.items()
    ]
    often = [[times, reason] for reason, times in _often(why).items()]
    return "\n\n".join([table(["file", "right", "why"], rows), table(["files", "why"], often)])


def _often(why: dict[str, list[str]]) -> dict[str, int]:
    """How many files have each reason, the most frequent first."""
    reasons_of_all = (reason for found in why.values() for reason in found or [RIGHT])
    return dict(Counter(reasons_of_all).most_common())


def _as_dict(question: Question, submissions: dict[str, Submission]) -> dict[str, object]:
    why = {name: reasons(it) for name, it in submissions.items()}
    return {
        **analysis.head(question),
        "submissions": [
            {
                "file": name,
                "right": it.right_lines,
                "of": it.lines,
                **it._asdict(),
                "why": why[name],
            }
            for name, it in submissions.items()
        ],
        "occurrences": _often(why),
    }
