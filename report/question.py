"""What is asked: how many inputs, through which network, on which machine; and the options that
say so, which the commands share."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

import lab3
from lab3 import ConvLayer, Network, Rate, System
from report.plans import STRATEGIES, Plan
from report.terminal import EXACT_DIGITS, GIGA, KIB, count, filled, short, shown

LONGEST_NUMBER = 30  # characters, so that an overlong one is refused at once
MOST_LAYERS = 1_000
MOST_SPELLED_OUT = 3  # layers
SIZES = ConvLayer._fields[:6]  # of a --layer


class Question(NamedTuple):
    """What is asked, by default what the lab asks."""

    network: Network = lab3.NETWORK
    system: System = lab3.SYSTEM
    inputs: int = lab3.INPUTS

    def on(self, **changes: Any) -> Question:
        """The same, on a machine with these changes."""
        return self._replace(system=self.system._replace(**changes))


LAB = Question()


# ------------------------------------------------ what is possible

OTHER_SPLITS = "`python3 report plans`, with the same options, has other ways to split the CNN"


class Impossible(NamedTuple):
    """Takes the place of a result that does not exist."""

    reason: str


Found = TypeVar("Found")


def found_or_reason(find: Callable[..., Found], *arguments: object) -> Found | Impossible:
    """What the function finds, or why it cannot."""
    try:
        return find(*arguments)
    except ValueError as error:
        return Impossible(str(error))


def possible(found: Found | Impossible) -> Found:
    """What is known to exist."""
    assert not isinstance(found, Impossible), found
    return found


def possible_strategies(
    network: Network, system: System
) -> tuple[dict[str, Plan], dict[str, Impossible]]:
    """The plan of each strategy that is possible, and why the others are not."""
    possible, impossible = {}, {}
    for strategy, plan_of in STRATEGIES.items():
        plan = found_or_reason(plan_of, network, system)
        if isinstance(plan, Impossible):
            impossible[strategy] = plan
        else:
            possible[strategy] = plan
    return possible, impossible


def check_possible(network: Network, system: System) -> None:
    """Raise ValueError if neither strategy is possible, with both reasons."""
    possible, impossible = possible_strategies(network, system)
    if not possible:
        reasons = ". ".join(why.reason for why in impossible.values())
        raise ValueError(f"{reasons}. {OTHER_SPLITS}")


# ------------------------------------------------ options


class Number(NamedTuple):
    """The numbers that an option takes: from low to high, each so many times lab3.py's unit."""

    convert: Callable[[str], Any]
    wanted: str
    low: int | Decimal
    high: int
    times: Rate = 1

    def parse(self, text: str) -> Any:  # an int, or a Fraction
        if len(text) > LONGEST_NUMBER and re.fullmatch("[0-9.]+", text):
            raise ArgumentTypeError(f"{shown(text)} has too many digits; write {self.wanted}")
        try:
            if len(text) <= LONGEST_NUMBER and self.low <= self.convert(text) <= self.high:
                value = Fraction(self.convert(text)) * self.times
                return int(value) if value.denominator == 1 else value
        except (ValueError, InvalidOperation):  # not a number, or a NaN
            pass
        hints = {
            "[0-9.]+ ?[A-Za-z/]+": ", without a unit",
            "[0-9]+(,[0-9]{3})+": ", without commas",
        }
        hint = "".join(hint for form, hint in hints.items() if re.fullmatch(form, text))
        raise ArgumentTypeError(f"{shown(text)} is not {self.wanted}{hint}")

    def check(self, name: str, value: Rate) -> None:
        """Raise ValueError for a value, in lab3.py's unit, that no option takes."""
        amount = Fraction(value) / self.times
        if not self.low <= amount <= self.high:
            raise ValueError(f"{name}: {short(amount, EXACT_DIGITS)} is not {self.wanted}")


def whole(unit: str, example: int, high: int, times: int = 1) -> Number:
    """Whole numbers from 1."""
    wanted = f"a whole number of {unit} from 1 to {high:,}, such as {example}"
    return Number(int, wanted, 1, high, times)


def decimal(unit: str, example: int, high: int, times: Rate) -> Number:
    """Numbers from a millionth."""
    low = Decimal("0.000001")
    wanted = f"a number of {unit} from {low:f} to {high:,}, such as {example} or 0.1"
    return Number(Decimal, wanted, low, high, times)


OPTIONS = (
    ("--inputs", "N", "inputs", whole("inputs", 32, 10**9), "inputs in Q2"),
    ("--nodes", "P", "nodes", whole("nodes", 4, 10**6), "nodes"),
    ("--gops", "X", "ops_per_s", decimal("GOPS", 50, 10**8, GIGA), "10^9 ops/s per node"),
    (
        "--link-gbs",
        "X",
        "link_bytes_per_s",
        decimal("GB/s", 2, 10**5, GIGA),
        "link bandwidth, GB/s",
    ),
    ("--sram-kib", "K", "sram_bytes", whole("KiB", 512, 10**9, KIB), "SRAM per node, KiB"),
    ("--element-bytes", "B", "element_bytes", whole("bytes", 2, 64), "bytes per element"),
)
LAYER_SIZES = {size: whole(size, 3, 10**6) for size in SIZES}


def check_constants() -> None:
    """Raise ValueError for constants of lab3.py that are wrong, or that no option takes."""
    try:
        lab3.check(*LAB)
        _check_amount("network", LAB.network)
        for _, _, name, number, _ in OPTIONS:
            number.check(name, _defaults()[name])
        for at, layer in enumerate(LAB.network, 1):
            for size, number in LAYER_SIZES.items():
                number.check(f"layer {at}", getattr(layer, size))
    except ValueError as error:
        raise ValueError(f"lab3.py: {error}") from None


def _check_amount(name: str, layers: Sequence[ConvLayer]) -> None:
    if len(layers) > MOST_LAYERS:
        raise ValueError(f"{name}: {len(layers):,} layers are more than {MOST_LAYERS:,}")


def _defaults() -> dict[str, Any]:
    return {**LAB.system._asdict(), "inputs": LAB.inputs, "element_bytes": _element_bytes(LAB)}


def add_options(parser: ArgumentParser) -> None:
    """The what-if options, by default lab3.py's own values. Raises ValueError as check_constants
    does."""
    check_constants()
    group = parser.add_argument_group(
        "what if",
        "lab3.py's numbers by default. SRAM decides what fits; latencies assume enough.",
    )
    for option, metavar, name, number, what in OPTIONS:
        default = _defaults()[name]
        group.add_argument(
            option,
            metavar=metavar,
            dest=name,
            default=default,
            type=number.parse,
            help=f"{what} (default: {_short(default, number.times)})",
        )
    group.add_argument(
        "--topology",
        type=str.lower,
        choices=(lab3.ALL_TO_ALL, lab3.RING),
        default=LAB.system.topology,
        help="one-way links between all pairs of nodes, or from each node to the next (default:"
        f" {LAB.system.topology})",
    )
    group.add_argument(
        "--layer",
        metavar="SIZE",
        type=_layer,
        action="append",
        help=f"a layer's {', '.join(SIZES)}, such as 128,3,3,3,32,32 (repeatable, in order; stride"
        " 1, no padding, no pooling; default: lab3.py's layers)",
    )


def _element_bytes(question: Question) -> int:
    return question.network[0].element_bytes  # that of all layers


def _short(value: Rate, unit: Rate) -> str:
    """A default in its option's unit."""
    text = lab3.plain(Fraction(value) / unit, EXACT_DIGITS)
    return text if Fraction(text) * unit == value else "lab3.py's"


def question_of(options: Namespace) -> Question:
    """What the options ask. Raises ValueError for a --layer that does not follow the one before."""
    layers = options.layer or LAB.network
    _check_amount("--layer", layers)
    network = [layer._replace(element_bytes=options.element_bytes) for layer in layers]
    system = System(*(getattr(options, field) for field in System._fields))
    try:
        lab3.check(network, system, options.inputs)
    except ValueError as error:  # of a layer that does not follow the one before
        raise ValueError(f"--{error}") from None
    return Question(network, system, options.inputs)


def _layer(text: str) -> ConvLayer:
    sizes = text.replace(",", " ").split()
    if len(sizes) != len(SIZES):
        needed = f"six numbers ({','.join(SIZES)}), not {len(sizes)}"
        raise ArgumentTypeError(f"{shown(text)} needs {needed}; one --layer per layer")
    try:
        numbers = zip(LAYER_SIZES.values(), sizes, strict=True)
        return ConvLayer(*(number.parse(size) for number, size in numbers))
    except ArgumentTypeError as error:
        raise ArgumentTypeError(f"{shown(text)}: {error}") from None


# ------------------------------------------------ what was asked, in words


def asked(question: Question) -> str:
    """How the question differs from the lab's, empty if in nothing."""
    network, system, inputs = question
    lab = LAB.system
    parts = []
    if inputs != LAB.inputs:
        parts.append(count(inputs, "input"))
    if system.nodes != lab.nodes:
        parts.append(count(system.nodes, "node"))
    if system.topology != lab.topology:
        parts.append(system.topology)
    if system.ops_per_s != lab.ops_per_s:
        parts.append(f"{_in_units(system.ops_per_s, GIGA)} GOPS")
    if system.link_bytes_per_s != lab.link_bytes_per_s:
        parts.append(f"{_in_units(system.link_bytes_per_s, GIGA)} GB/s")
    if system.sram_bytes != lab.sram_bytes:
        parts.append(f"{_in_units(system.sram_bytes, KIB)} KiB of SRAM")
    if (element_bytes := _element_bytes(question)) != _element_bytes(LAB):
        parts.append(f"elements of {count(element_bytes, 'byte')}")
    shapes = ["x".join(map(str, layer[:4])) + f" on {layer.x}x{layer.y}" for layer in network]
    if [layer[:6] for layer in network] != [layer[:6] for layer in LAB.network]:
        parts += shapes[:MOST_SPELLED_OUT]
        if len(shapes) > MOST_SPELLED_OUT:
            parts.append(f"and {count(len(shapes) - MOST_SPELLED_OUT, 'more layer')}")
    return ", ".join(parts)


def headed(question: Question, text: str, gap: str = "\n\n") -> str:
    """The text, below a line that says what was asked if that is not what the lab asks."""
    said = asked(question)
    return filled(f"what if: {said}", "  ") + gap + text if said else text


def _in_units(value: Rate, unit: int) -> str:
    return lab3.plain(Fraction(value) / unit, LONGEST_NUMBER)  # exact, as it was given


# ------------------------------------------------ the command: whatif


def run(options: Namespace) -> str:
    """The answers to Q1 and Q2."""
    question = question_of(options)
    check_possible(question.network, question.system)
    text = lab3.answers(*question)
    lines = [filled(line, "  ") for line in text.splitlines()]
    if "not possible" in text and _has_other_splits(question.network, question.system):
        lines.append(f"{OTHER_SPLITS}.")
    return headed(question, "\n".join(lines), "\n")


def _has_other_splits(network: Network, system: System) -> bool:
    """Whether a plan that is neither strategy uses several nodes: it cuts three layers or more in
    two, or has a layer on several nodes, but not on all."""
    if system.topology == lab3.RING or len(network) > 2:
        return system.nodes > 1 and len(network) > 2
    fewer = range(2, system.nodes)
    return any(layer.filters % nodes == 0 for layer in network for nodes in fewer)
