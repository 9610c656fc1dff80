"""Other readings of the handout, and which of them gives a number.

What the handout leaves open is a list of changes to the model as it is read here. Changes of
different things combine; row streaming and two inputs in turn stand alone.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from itertools import chain, combinations
from operator import gt, mul
from typing import NamedTuple

import lab3
from lab3 import Network, Rate, Stages, Step, System
from report import question as asking
from report import streaming
from report.question import (
    LAB,
    STRATEGIES,
    Question,
    check_possible,
    headed,
    possible_strategies,
    question_of,
)
from report.terminal import MS, US, count, filled, number, shown

MOST_PRINTED = 5
MOST_CHANGES = 3  # of different things, at the same time
FEW_DIGITS = 3  # which many answers have by chance, so with one change at most
MOST_DIGITS = 10  # of a time: beyond, floats are noise
MOST_CHARACTERS, MOST_ZEROS = 60, 30  # so that an overlong number is refused at once

# ------------------------------------------------ what can be read otherwise


class Model(NamedTuple):
    """A strategy's steps for one input on a machine, and which of them the next input waits for:
    it follows an interval later, the time of the longest group."""

    network: Network
    system: System
    steps: list[Step]
    grouped: Callable[[list[Step]], Stages]

    def longest(self) -> list[Step]:
        return max(self.grouped(self.steps), key=self.duration)

    def duration(self, steps: list[Step]) -> Fraction:
        ops = sum(step.node_ops for step in steps)
        link_bytes = sum(step.link_bytes for step in steps)
        return lab3.duration([Step(0, "", ops, link_bytes)], self.system)

    def each(self, change: Callable[[Step], Step]) -> Model:
        """With every step changed."""
        return self._replace(steps=[change(step) for step in self.steps])


class Change(NamedTuple):
    """One thing read otherwise."""

    name: str
    thing: str  # of which there is one reading at a time
    strategies: tuple[str, ...]
    change: Callable[[Model], Model]


def _output_on_every_node(model: Model) -> Model:
    layers, nodes = len(model.network), model.system.nodes
    shard_bytes = model.network[-1].output_bytes // nodes
    last = lab3.all_gather(layers, shard_bytes, model.system)
    return model._replace(steps=[*model.steps[:-1], last])


def _output_not_gathered(model: Model) -> Model:
    return model._replace(steps=model.steps[:-1])


def _last_output_sent(model: Model) -> Model:
    sent = model.network[-1].output_bytes if model.system.nodes > 1 else 0
    send = Step(len(model.network), "send", link_bytes=sent, traffic_bytes=sent)
    return model._replace(steps=[*model.steps, send])


def _inputs_on_one_node(model: Model) -> Model:
    input_bytes = model.network[0].input_bytes
    link_bytes = lab3.shards_in_turn(model.system) * input_bytes  # on a ring from node to node
    traffic_bytes = (model.system.nodes - 1) * input_bytes
    send = Step(1, "send", link_bytes=link_bytes, traffic_bytes=traffic_bytes)
    return model._replace(steps=[send, *model.steps])


def _one_link(model: Model) -> Model:
    return model.each(lambda step: step._replace(link_bytes=step.traffic_bytes))


def _times(factors: Callable[[Model, Step], Iterable[Rate]]) -> Callable[[Model], Model]:
    """With so many times the ops, the link bytes and the traffic bytes of every step."""

    def change(model: Model) -> Model:
        return model.each(
            lambda step: Step(*step[:2], *map(int, map(mul, step[2:], factors(model, step))))
        )

    return change


def _padding(model: Model, step: Step) -> Iterable[Rate]:
    first, layer = model.network[0], model.network[step.layer - 1]
    return [Fraction(first.x * first.y, layer.out_x * layer.out_y)] * 3


def _whole_outputs(model: Model, _: Step) -> Iterable[Rate]:
    return 1, model.system.nodes, model.system.nodes


def _one_link_out_one_in(model: Model, _: Step) -> Iterable[Rate]:  # as on a ring anyway
    return 1, 1 if model.system.topology == lab3.RING else model.system.nodes - 1, 1


def _one_byte(model: Model, _: Step) -> Iterable[Rate]:
    byte = Fraction(1, model.network[0].element_bytes)
    return 1, byte, byte


def _as_slowest(model: Model) -> Model:
    most = max(step.node_ops for step in model.steps)
    return model.each(lambda step: step._replace(node_ops=step.node_ops and most))


def _longest_stage(model: Model) -> Model:
    longest = model.longest()
    return model.each(
        lambda step: step if step in longest else step._replace(node_ops=0, link_bytes=0)
    )


def _rate(field: str, factor: Fraction) -> Callable[[Model], Model]:
    def change(model: Model) -> Model:
        per_s = factor * getattr(model.system, field)
        return model._replace(system=model.system._replace(**{field: per_s}))

    return change


def _grouped(grouped: Callable[[list[Step]], Stages]) -> Callable[[Model], Model]:
    return lambda model: model._replace(grouped=grouped)


def _all_steps(steps: list[Step]) -> Stages:
    return [steps]


def _each_step(steps: list[Step]) -> Stages:
    return [[step] for step in steps]


def _compute_and_send(steps: list[Step]) -> Stages:
    return [steps[place : place + 2] for place in range(0, len(steps), 2)]


def _receive_compute_and_send(steps: list[Step]) -> Stages:
    return [steps[max(place - 1, 0) : place + 2] for place in range(0, len(steps), 2)]


AS_READ_HERE = {"tensor": _all_steps, "pipeline": _each_step}
TENSOR, PIPELINE, BOTH = ("tensor",), ("pipeline",), tuple(STRATEGIES)
BINARY_GIGA = Fraction(2**30, 10**9)
CHANGES = (  # made in this order: what is sent to the end is padded, too, but not the input
    Change("the output ends on every node", "end", TENSOR, _output_on_every_node),
    Change("the output is not gathered", "end", TENSOR, _output_not_gathered),
    Change("the last output is sent, too", "end", PIPELINE, _last_output_sent),
    Change("outputs keep the input's x and y (padding)", "size", BOTH, _times(_padding)),
    Change("whole outputs are sent, not shards", "sent", TENSOR, _times(_whole_outputs)),
    Change("inputs start on one node", "start", TENSOR, _inputs_on_one_node),
    Change("all shards go over one link", "sent", TENSOR, _one_link),
    Change("nodes have one link out, one in", "sent", TENSOR, _times(_one_link_out_one_in)),
    Change("an element is 1 byte", "element", BOTH, _times(_one_byte)),
    Change("nothing takes time on links", "link", BOTH, _times(lambda *_: (1, 0, 1))),
    Change("GB/s are 2^30 bytes/s", "link", BOTH, _rate("link_bytes_per_s", BINARY_GIGA)),
    Change("GB/s are Gbit/s", "link", BOTH, _rate("link_bytes_per_s", Fraction(1, 8))),
    Change("GOPS are 2^30 ops/s", "rate", BOTH, _rate("ops_per_s", BINARY_GIGA)),
    Change("1 MAC is 1 op", "ops", BOTH, _times(lambda *_: (Fraction(1, 2), 1, 1))),
    Change("inputs do not overlap", "overlap", PIPELINE, _grouped(_all_steps)),
    Change("a node that sends does not compute", "overlap", PIPELINE, _grouped(_compute_and_send)),
    Change(
        "a node that sends or receives does not compute",
        "overlap",
        PIPELINE,
        _grouped(_receive_compute_and_send),
    ),
    Change("nodes take as long as the slowest", "load", PIPELINE, _as_slowest),
    Change("only the longest stage counts", "load", PIPELINE, _longest_stage),
)


# ------------------------------------------------ what they give


class Answer(NamedTuple):
    """What a strategy takes for some inputs if this is changed, nothing if as read here."""

    strategy: str
    inputs: int
    latency_s: Fraction
    traffic_bytes: int
    changes: tuple[str, ...]


def answers(question: Question, most_changes: int = 1) -> list[Answer]:
    """As read here, then with ever more changes, for one input and for all: of each strategy that
    is possible, the changes that make a difference to it.

    Raises ValueError where the question is wrong, and where neither strategy is possible.
    """
    check_possible(question.network, question.system)
    possible, _ = possible_strategies(question.network, question.system)
    found = [
        answer
        for strategy, stages in possible.items()
        for answer in (
            *_combined(question, strategy, [*chain(*stages)], most_changes),
            *_alone(question, strategy, lab3.traffic(stages)),
        )
    ]
    here = {it[:2]: it[2:4] for it in found if not it.changes}
    differ = {(it.strategy, it.changes) for it in found if it[2:4] != here[it[:2]]}
    kept = (it for it in found if not it.changes or (it.strategy, it.changes) in differ)
    return sorted(kept, key=lambda it: len(it.changes))


def two_in_turn_latency(network: Network, system: System, inputs: int) -> Fraction | None:
    """N * sum(C) / (P * R) + S_L / B seconds; on a ring (P - 1) * S_L / B: tensor parallelism with
    inputs in pairs, whose nodes compute a layer of one while links exchange that of the other.

    None if an odd input is left, or if a transfer takes longer than the computation beside it: that
    of its layer, or of the next one, after the last layer the first.

    Raises ValueError where tensor parallelism is not possible.
    """
    [steps] = lab3.tensor_parallel_stages(network, system)
    steps_s = [lab3.duration([step], system) for step in steps]
    compute_s, sent_s = steps_s[::2], steps_s[1::2]
    beside_s = map(min, compute_s, [*compute_s[1:], compute_s[0]])
    if inputs % 2 or any(map(gt, sent_s, beside_s)):
        return None
    return inputs * sum(compute_s) + sent_s[-1]


def _combined(
    question: Question, strategy: str, steps: list[Step], most_changes: int
) -> Iterator[Answer]:
    """By the law, with changes of different things."""
    network, system, inputs = question
    changes = [it for it in CHANGES if strategy in it.strategies]
    for amount in range(most_changes + 1):
        for together in combinations(changes, amount):
            if len({it.thing for it in together}) < amount:
                continue
            model = Model(network, system, steps, AS_READ_HERE[strategy])
            for it in together:
                model = it.change(model)
            names = tuple(it.name for it in together)
            first_s, interval_s = map(model.duration, (model.steps, model.longest()))
            traffic_bytes = sum(step.traffic_bytes for step in model.steps)
            for many in sorted({1, inputs}):
                latency_s = first_s + (many - 1) * interval_s
                yield Answer(strategy, many, latency_s, many * traffic_bytes, names)


def _alone(question: Question, strategy: str, traffic_bytes: int) -> Iterator[Answer]:
    """With what does not combine, where it is modelled."""
    network, system, inputs = question
    for many in sorted({1, inputs}):
        found_s: dict[str, Fraction | None] = {}
        if strategy == "tensor":
            found_s["two inputs in turn"] = two_in_turn_latency(network, system, many)
        with suppress(ValueError):  # where it is not modelled
            streamed_s = streaming.streamed_latency(strategy, network, system, many)
            found_s["row streaming"] = streamed_s
        for name, latency_s in found_s.items():
            if latency_s is not None:
                yield Answer(strategy, many, latency_s, many * traffic_bytes, (name,))


# ------------------------------------------------ which of them gives a number


class Match(NamedTuple):
    """An answer in one of its units."""

    strategy: str
    inputs: int
    unit: str
    answer: Rate
    changes: tuple[str, ...]


class _Given(NamedTuple):
    """The number that somebody has."""

    value: Decimal
    units: tuple[str, ...]  # that it may have

    def is_answer(self, match: Match) -> bool:
        """Whether it is the answer, rounded: at most half a unit of its last digit away. So both
        are right for a half, as some round it up and others to even; and what a float does beyond
        ten digits is no matter, as only bytes are whole."""
        digits = self.digits if match.unit == "bytes" else min(self.digits, MOST_DIGITS)
        last_place = Fraction(10) ** (self.value.adjusted() - digits + 1)
        return 2 * abs(match.answer - Fraction(self.value)) <= last_place

    @property
    def digits(self) -> int:
        """Those that count: zeros at the end do, zeros before the first other digit do not."""
        return len(self.value.as_tuple().digits)

    def answers(self, question: Question, most_changes: int = 1) -> list[Match]:
        """In each unit that the number may have."""
        return [
            Match(it.strategy, it.inputs, unit, getattr(it, field) * factor, it.changes)
            for it in answers(question, most_changes)
            for unit, (field, factor) in UNITS.items()
            if unit in self.units
        ]


UNITS: dict[str, tuple[str, Rate]] = {
    "seconds": ("latency_s", 1),
    "ms": ("latency_s", MS),
    "us": ("latency_s", US),
    "ns": ("latency_s", 10**9),
    "bytes": ("traffic_bytes", 1),
    "kB": ("traffic_bytes", Fraction(1, 10**3)),
    "MB": ("traffic_bytes", Fraction(1, 10**6)),
    "GB": ("traffic_bytes", Fraction(1, 10**9)),
}
SPELLINGS = {
    "": ("seconds", "ms", "us", "bytes"),
    **dict.fromkeys(("s", "sec", "second"), ("seconds",)),
    **dict.fromkeys(("b", "byte"), ("bytes",)),
    **{unit.lower(): (unit,) for unit in UNITS},
}
MICRO = dict.fromkeys(map(ord, "\u00b5\u03bc"), "u")
NUMBER = re.compile(
    r"(?P<digits>[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]*)?|[0-9]+\.?[0-9]*|\.[0-9]+)"
    r"(?P<power>e[+-]?[0-9]+)? *(?P<unit>[a-z]*)"
)


def _given(text: str) -> _Given:
    plain = text.translate(MICRO).strip().lower()
    found = NUMBER.fullmatch(plain) if len(text) <= MOST_CHARACTERS else None
    if found and found["unit"] in SPELLINGS:
        value = Decimal(found["digits"].replace(",", "") + (found["power"] or ""))
        if value and abs(value.adjusted()) <= MOST_ZEROS:
            return _Given(value, SPELLINGS[found["unit"]])
    raise ValueError(
        f"NUMBER: {shown(text)} is not a number above 0 of s, ms, us, ns, bytes, kB, MB or GB,"
        " such as 0.39793, 397.93 ms or 2,254,848 bytes"
    )


def find(text: str, question: Question = LAB) -> list[Match]:
    """The answers that are this number as far as its digits go, fewest changes first; not those
    of which fewer changes suffice.

    Raises ValueError for what is not a number, and as answers() does.
    """
    given = _given(text)
    most_changes = 1 if given.digits <= FEW_DIGITS else MOST_CHANGES
    found: list[Match] = []
    for match in filter(given.is_answer, given.answers(question, most_changes)):
        if not any(it[:3] == match[:3] and {*it.changes} < {*match.changes} for it in found):
            found.append(match)
    return found


def nearest(text: str, question: Question = LAB) -> Match:
    """The answer as read here, or with one change, that is nearest by ratio. Raises as find()."""
    given = _given(text)
    value = Fraction(given.value)
    matches = (it for it in given.answers(question) if it.answer)  # to 0 bytes there is no ratio
    return min(matches, key=lambda it: max(it.answer / value, value / it.answer))


# ------------------------------------------------ the command: find


def add_options(parser: ArgumentParser) -> None:
    """A number, and what was asked."""
    parser.add_argument(
        "number", metavar="NUMBER", nargs="+", help="bare, or in s, ms, us, ns, bytes, kB, MB or GB"
    )
    asking.add_options(parser)


def run(options: Namespace) -> str:
    """Which readings give the number, or the nearest."""
    question = question_of(options)
    text = " ".join(options.number).translate(MICRO)
    matches = find(text, question)
    given = _given(text)
    here = {it[:3]: it.answer for it in given.answers(question) if not it.changes}

    def told(match: Match) -> str:
        strategy, inputs, unit, answer, changes = match
        reading = "; ".join(changes) or "as read here"
        gives = f"{strategy} parallelism, {count(inputs, 'input')}, {unit}: {reading}"
        as_read = f"; as read here {number(here[match[:3]])}" if changes else ""
        return f"{filled(gives, '    ')}\n    {number(answer)}{as_read}"

    if matches:
        lines = [f"{text} matches {count(len(matches), 'answer')}:", ""]
        lines += map(told, matches[:MOST_PRINTED])
        lines += ["and more, with as many changes or more"] * (len(matches) > MOST_PRINTED)
        return headed(question, "\n".join(lines))
    tried = "with up to three changes. The nearest with at most one"
    if given.digits <= FEW_DIGITS:
        tried = "with one change; with more digits up to three changes are tried. The nearest"
    none = filled(f"{text} is none of the answers, as read here or {tried} is not it:")
    return headed(question, f"{none}\n\n{told(nearest(text, question))}")
