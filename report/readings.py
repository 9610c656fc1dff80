"""Other readings of the handout, and which of them gives a number.

What the handout leaves open is a list of changes to the model as it is read here. Changes of
different things combine; row streaming and two inputs in turn stand alone.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from itertools import chain, combinations
from operator import gt
from typing import NamedTuple

import lab3
from lab3 import Network, Rate, Stages, Step, System
from report import question as asking
from report import streaming
from report.question import LAB, STRATEGIES, Question, headed, possible_strategies, question_of
from report.terminal import MS, US, count, filled, number, shown

MOST_CHANGES = 3  # of different things, at the same time
FEW_DIGITS = 3  # which many answers have by chance, so with one change at most
MOST_DIGITS = 10  # of a time: beyond, floats are noise
MOST_CHARACTERS, MOST_ZEROS = 60, 30  # so that an overlong number is refused at once
MOST_PRINTED = 5

# ------------------------------------------------ what can be read otherwise


class Model(NamedTuple):
    """A strategy's steps for one input on a machine, and which of them the next input waits for:
    it follows an interval later, the time of the longest group."""

    network: Network
    system: System
    steps: list[Step]
    grouped: Callable[[list[Step]], Stages]

    def seconds(self) -> tuple[Fraction, Fraction]:
        """Of the first input, and the interval."""
        balance = Fraction(self.system.link_bytes_per_s) / self.system.ops_per_s

        def weight(steps: list[Step]) -> int:  # as long as the steps take, but in ints: quick
            ops, link_bytes = _ops_and_link_bytes(steps)
            return ops * balance.numerator + link_bytes * balance.denominator

        longest = max(self.grouped(self.steps), key=weight)
        first_s, interval_s = (
            lab3.duration([Step(0, "", *_ops_and_link_bytes(steps))], self.system)
            for steps in (self.steps, longest)
        )
        return first_s, interval_s

    def each(self, change: Callable[[Step], Step]) -> Model:
        """With every step changed."""
        return self._replace(steps=[change(step) for step in self.steps])


def _ops_and_link_bytes(steps: list[Step]) -> tuple[int, int]:
    return sum(step.node_ops for step in steps), sum(step.link_bytes for step in steps)


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


def _padded(model: Model) -> Model:
    first = model.network[0]

    def scaled(step: Step) -> Step:
        layer = model.network[step.layer - 1]
        places = layer.out_x * layer.out_y  # a factor of all of the step's numbers
        return Step(*step[:2], *(part // places * first.x * first.y for part in step[2:]))

    return model.each(scaled)


def _whole_outputs(model: Model) -> Model:
    nodes = model.system.nodes
    return model.each(
        lambda step: step._replace(
            link_bytes=nodes * step.link_bytes, traffic_bytes=nodes * step.traffic_bytes
        )
    )


def _inputs_on_one_node(model: Model) -> Model:
    input_bytes = model.network[0].input_bytes
    link_bytes = lab3.shards_in_turn(model.system) * input_bytes  # on a ring from node to node
    traffic_bytes = (model.system.nodes - 1) * input_bytes
    send = Step(1, "send", link_bytes=link_bytes, traffic_bytes=traffic_bytes)
    return model._replace(steps=[send, *model.steps])


def _one_link(model: Model) -> Model:
    return model.each(lambda step: step._replace(link_bytes=step.traffic_bytes))


def _links_take_no_time(model: Model) -> Model:
    return model.each(lambda step: step._replace(link_bytes=0))


def _mac_is_one_op(model: Model) -> Model:
    return model.each(lambda step: step._replace(node_ops=step.node_ops // 2))


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
    Change("outputs keep the input's x and y (padding)", "size", BOTH, _padded),
    Change("whole outputs are sent, not shards", "sent", TENSOR, _whole_outputs),
    Change("inputs start on one node", "start", TENSOR, _inputs_on_one_node),
    Change("all shards go over one link", "sent", TENSOR, _one_link),
    Change("nothing takes time on links", "link", BOTH, _links_take_no_time),
    Change("GB/s are 2^30 bytes/s", "link", BOTH, _rate("link_bytes_per_s", BINARY_GIGA)),
    Change("GB/s are Gbit/s", "link", BOTH, _rate("link_bytes_per_s", Fraction(1, 8))),
    Change("GOPS are 2^30 ops/s", "rate", BOTH, _rate("ops_per_s", BINARY_GIGA)),
    Change("1 MAC is 1 op", "ops", BOTH, _mac_is_one_op),
    Change("inputs do not overlap", "overlap", PIPELINE, _grouped(_all_steps)),
    Change("a node that sends does not compute", "overlap", PIPELINE, _grouped(_compute_and_send)),
    Change(
        "a node that sends or receives does not compute",
        "overlap",
        PIPELINE,
        _grouped(_receive_compute_and_send),
    ),
)


# ------------------------------------------------ what they give


class Answer(NamedTuple):
    """What a strategy takes for some inputs if this is changed, nothing if as read here."""

    strategy: str
    inputs: int
    latency_s: Fraction
    traffic_bytes: int
    changes: tuple[str, ...]


def answers(question: Question) -> list[Answer]:
    """As read here, then with one change, for one input and for all: of each strategy that is
    possible, the changes that make a difference to it.

    Raises ValueError where the question is wrong, and where neither strategy is possible.
    """
    found = _answers(question, 1)
    here = {it[:2]: it[2:4] for it in found if not it.changes}
    differ = {(it.strategy, it.changes) for it in found if it[2:4] != here[it[:2]]}
    return [it for it in found if not it.changes or (it.strategy, it.changes) in differ]


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


def _answers(question: Question, most_changes: int) -> list[Answer]:
    """With none to so many changes, fewest first."""
    possible, _ = possible_strategies(question.network, question.system)
    found = [
        answer
        for strategy, stages in possible.items()
        for answer in (
            *_combined(question, strategy, [*chain(*stages)], most_changes),
            *_alone(question, strategy, lab3.traffic(stages)),
        )
    ]
    return sorted(found, key=lambda it: len(it.changes))


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
            first_s, interval_s = model.seconds()
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
    """An answer that is the number, as far as its digits go."""

    strategy: str
    inputs: int
    unit: str
    answer: Rate  # in that unit
    changes: tuple[str, ...]

    def __str__(self) -> str:
        inputs = count(self.inputs, "input")
        changes = "; ".join(self.changes) or "as read here"
        return f"{self.strategy} parallelism, {inputs}, {self.unit}: {changes}"


class _Given(NamedTuple):
    """The number that somebody has."""

    value: Decimal
    units: tuple[str, ...]  # that it may have

    def is_answer(self, unit: str, answer: Rate) -> bool:
        """Whether it is the answer, rounded: at most half a unit of its last digit away. So both
        are right for a half, as some round it up and others to even; and what a float does beyond
        ten digits of a time is no matter."""
        digits = self.digits if unit == "bytes" else min(self.digits, MOST_DIGITS)
        last_place = Fraction(10) ** (self.value.adjusted() - digits + 1)
        return 2 * abs(answer - Fraction(self.value)) <= last_place

    @property
    def digits(self) -> int:
        """Those that count: zeros at the end do, zeros before the first other digit do not."""
        return len(self.value.as_tuple().digits)

    @property
    def most_changes(self) -> int:
        """How many together are no chance."""
        return 1 if self.digits <= FEW_DIGITS else MOST_CHANGES


UNITS = {
    "": ("seconds", "ms", "us", "bytes"),
    **dict.fromkeys(("s", "sec", "second", "seconds"), ("seconds",)),
    "ms": ("ms",),
    "us": ("us",),
    **dict.fromkeys(("b", "byte", "bytes"), ("bytes",)),
}
NUMBER = re.compile(
    r"(?P<digits>[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]*)?|[0-9]+\.?[0-9]*|\.[0-9]+)"
    r"(?P<power>e[+-]?[0-9]+)? *(?P<unit>[a-z]*)"
)


def _given(text: str) -> _Given:
    found = NUMBER.fullmatch(text.strip().lower()) if len(text) <= MOST_CHARACTERS else None
    if found and found["unit"] in UNITS:
        value = Decimal(found["digits"].replace(",", "") + (found["power"] or ""))
        if value and abs(value.adjusted()) <= MOST_ZEROS:
            return _Given(value, UNITS[found["unit"]])
    raise ValueError(
        f"NUMBER: {shown(text)} is not a number above 0 of seconds, ms, us or bytes, such as"
        " 0.39793, 397.93 ms or 2,254,848 bytes"
    )


def find(text: str, question: Question = LAB) -> list[Match]:
    """The answers that are this number, fewest changes first; none that fewer of its changes give.

    Raises ValueError for what is not a number, and as answers() does.
    """
    given = _given(text)
    found = _answers(question, given.most_changes)
    in_units = {(it.strategy, it.inputs, it.changes): _in_units(it) for it in found}
    return [
        Match(strategy, inputs, unit, in_units[strategy, inputs, changes][unit], changes)
        for strategy, inputs, changes in in_units
        for unit in given.units
        if given.is_answer(unit, answer := in_units[strategy, inputs, changes][unit])
        and not any(
            in_units[strategy, inputs, fewer][unit] == answer
            for amount in range(len(changes))
            for fewer in combinations(changes, amount)
        )
    ]


def nearest(text: str, question: Question = LAB) -> Match:
    """The answer as read here, or with one change, that is nearest by ratio. Raises as find()."""
    given = _given(text)
    matches = [
        Match(it.strategy, it.inputs, unit, answer, it.changes)
        for it in answers(question)
        for unit, answer in _in_units(it).items()
        if unit in given.units and answer  # without traffic there is no ratio
    ]
    value = Fraction(given.value)
    return min(matches, key=lambda it: max(it.answer / value, value / it.answer))


def _in_units(answer: Answer) -> dict[str, Rate]:
    seconds = answer.latency_s
    return {
        "seconds": seconds,
        "ms": seconds * MS,
        "us": seconds * US,
        "bytes": answer.traffic_bytes,
    }


# ------------------------------------------------ the command: find


def add_options(parser: ArgumentParser) -> None:
    """A number, and what was asked."""
    parser.add_argument(
        "number", metavar="NUMBER", nargs="+", help="seconds, ms, us or bytes, with or without unit"
    )
    asking.add_options(parser)


def answer(options: Namespace) -> str:
    """Which readings give the number, or the nearest."""
    question = question_of(options)
    text = " ".join(options.number)
    matches = find(text, question)
    here = {it[:2]: _in_units(it) for it in answers(question) if not it.changes}

    def told(match: Match) -> str:
        gives = f"    {number(match.answer)}"
        if match.changes:
            gives += f"; as read here {number(here[match[:2]][match.unit])}"
        return f"{filled(str(match), '    ')}\n{gives}"

    if matches:
        lines = [f"{text} matches {count(len(matches), 'answer')}:", ""]
        lines += map(told, matches[:MOST_PRINTED])
        if len(matches) > MOST_PRINTED:
            lines += ["", f"and {len(matches) - MOST_PRINTED:,} more; with more digits fewer match"]
        return headed(question, "\n".join(lines))
    tried = "with up to three changes. The nearest with at most one"
    if _given(text).digits <= FEW_DIGITS:
        tried = "with one change; with more digits up to three changes are tried. The nearest"
    none = filled(f"{text} is none of the answers, as read here or {tried} is not it:")
    return headed(question, f"{none}\n\n{told(nearest(text, question))}")
