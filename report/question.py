"""What is asked, a network, a machine and a number of inputs; the options that the commands share;
and the `whatif` command, which answers Q1 and Q2."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import gcd
from typing import NamedTuple

import lab3
from lab3 import ConvLayer, Network, System
from report.model import STRATEGIES, Model, compare_with_code
from report.sram import find_fullest
from report.text import GIGA, KIB, Exact, count, quote, wrap

MOST_LAYERS = 100
MOST_CHARACTERS = 30  # of a number
MOST_DESCRIBED = 3  # layers
LAYER_FIELDS = ConvLayer._fields[:6]  # of a --layer


class Question(NamedTuple):
    """What is asked, by default what the lab asks."""

    network: Network = tuple(lab3.NETWORK) if isinstance(lab3.NETWORK, list) else lab3.NETWORK
    system: System = lab3.SYSTEM
    inputs: int = lab3.INPUTS


LAB = Question()


# ------------------------------------------------ what is possible
def find_impossible(question: Question) -> dict[str, str]:
    """Find which strategy is impossible, and why: {"tensor": "Tensor parallelism is not ..."}.

    Raises ValueError if neither strategy is possible; the sentence says what would make one so.
    """
    reasons = {}
    for strategy in STRATEGIES:
        try:
            getattr(lab3, f"{strategy}_parallel_latency")(*question)
        except lab3.ImpossibleError as reason:
            reasons[strategy] = str(reason)
    if len(reasons) == 2:
        divided = gcd(*(layer.filters for layer in question.network))
        raise ValueError(
            f"{count(question.system.nodes, 'node')} can run neither strategy: tensor parallelism"
            f" needs a number of nodes that divides the filters of each layer, so {divided:,} or a"
            f" divisor of it; pipeline parallelism needs {len(question.network):,} nodes or more"
        )
    return reasons


def make_models(question: Question) -> dict[tuple[str, int], Model]:
    """Make the possible strategies' models, for one input and for all, by strategy and inputs.
    Raises ValueError as find_impossible does, and if lab3.py's code and docstrings differ."""
    network, system, inputs = question
    possible = [strategy for strategy in STRATEGIES if strategy not in find_impossible(question)]
    models = {}
    for amount, strategy in product(sorted({1, max(2, inputs)}), possible):  # 2 for the interval
        models[strategy, amount] = Model(strategy, network, system, amount)
        compare_with_code(models[strategy, amount])
    return {case: model for case, model in models.items() if model.inputs <= inputs}


# ------------------------------------------------ options
def make_number_parser(
    unit: str, least: int | Decimal, most: int, times: int = 1
) -> Callable[[str], Exact]:
    """Make the type of an option that takes numbers of a unit, whole ones if least is an int. They
    are multiplied by `times`, which makes them lab3.py's."""
    convert = type(least)

    def parse(text: str) -> Exact:
        with suppress(ValueError, InvalidOperation):  # not a number, or NaN
            if (
                text.isascii()
                and "_" not in text
                and len(text) <= MOST_CHARACTERS
                and least <= convert(text) <= most
            ):
                value = Fraction(convert(text)) * times
                return int(value) if value.denominator == 1 else value
        kind = "whole number" if convert is int else "number"
        wanted = f"a {kind} of {unit} from {least} to {most:,}, without a unit or commas"
        raise ArgumentTypeError(f"{quote(text)} is not {wanted}")

    return parse


def parse_layer(text: str) -> ConvLayer:
    """Parse a layer such as "128,3,3,3,32,32"."""
    sizes = text.split(",")
    if len(sizes) != len(LAYER_FIELDS):
        wanted = f"six numbers with commas between them ({','.join(LAYER_FIELDS)})"
        raise ArgumentTypeError(f"{quote(text)} is not {wanted}; repeat --layer for each layer")
    return ConvLayer(
        *(
            int(make_number_parser(name, 1, 10**6)(size))
            for name, size in zip(LAYER_FIELDS, sizes, strict=True)
        )
    )


def add_question_options(parser: ArgumentParser) -> None:
    """Add the what-if options, by default lab3.py's values. Raises ValueError if one is wrong."""
    try:
        lab3.validate(*LAB)
    except ValueError as error:
        raise ValueError(f"lab3.py: {error}") from None
    group = parser.add_argument_group(
        "what if",
        "Defaults: lab3.py's. SRAM changes only what fits, not latency or traffic.",
    )

    def add(
        option: str, default: lab3.Rate, unit: int, parse: Callable[[str], Exact], what: str
    ) -> None:
        what += f" (default: {format_in(unit, default).replace(',', '')})"
        group.add_argument(option, metavar="N", default=default, type=parse, help=what)

    system, element_bytes = LAB.system, LAB.network[0].element_bytes
    gops = make_number_parser("GOPS", Decimal("0.000001"), 10**8, GIGA)
    link_gbs = make_number_parser("GB/s", Decimal("0.000001"), 10**5, GIGA)
    kib, size = make_number_parser("KiB", 1, 10**9, KIB), make_number_parser("bytes", 1, 64)
    add("--inputs", LAB.inputs, 1, make_number_parser("inputs", 1, 10**6), "inputs in Q2")
    add("--nodes", system.nodes, 1, make_number_parser("nodes", 1, 1024), "nodes")
    add("--gops", system.ops_per_s, GIGA, gops, "compute throughput per node, GOPS")
    add("--link-gbs", system.link_bytes_per_s, GIGA, link_gbs, "link bandwidth, GB/s")
    add("--sram-kib", system.sram_bytes, KIB, kib, "SRAM per node, KiB")
    add("--element-bytes", element_bytes, 1, size, "bytes per element")
    group.add_argument(
        "--layer",
        metavar="SIZES",
        type=parse_layer,
        action="append",
        help="filters,in_channels,fx,fy,x,y of a layer: fx, fy are the width and height of a"
        " filter, x, y of the input; one --layer per layer, in order (default: lab3.py's layers)",
    )


def read_options(options: Namespace) -> Question:
    """Read what the options ask. Raises ValueError for a --layer that does not follow another."""
    layers = options.layer or LAB.network
    if len(layers) > MOST_LAYERS:
        place = "--layer" if options.layer else "lab3.py's NETWORK"
        raise ValueError(f"{place}: {len(layers):,} layers are more than {MOST_LAYERS:,}")
    network = tuple(layer._replace(element_bytes=options.element_bytes) for layer in layers)
    system = System(options.nodes, options.gops, options.link_gbs, options.sram_kib)
    try:
        lab3.validate(network, system, options.inputs)
    except ValueError as error:
        raise ValueError(f"--{error}") from None  # which begins with "layer 2"
    return Question(network, system, options.inputs)


# ------------------------------------------------ in words
def describe_question(question: Question) -> str:
    """Describe how the question differs from the lab's; empty if it does not."""
    parts = zip(_describe(question), _describe(LAB), strict=True)
    return ", ".join(text for (value, text), (lab_value, _) in parts if value != lab_value)


def _describe(question: Question) -> list[tuple[object, str]]:
    """List each part of the question, in the order of the options: its value, and in words."""
    network, system, inputs = question
    layers = [
        f"{layer.filters}x{layer.in_channels}x{layer.fx}x{layer.fy} on {layer.x}x{layer.y}"
        for layer in network
    ]
    if more := len(layers[MOST_DESCRIBED:]):
        layers[MOST_DESCRIBED:] = [f"and {count(more, 'more layer')}"]
    return [
        (inputs, count(inputs, "input")),
        (system.nodes, count(system.nodes, "node")),
        (system.ops_per_s, f"{format_in(GIGA, system.ops_per_s)} GOPS"),
        (system.link_bytes_per_s, f"{format_in(GIGA, system.link_bytes_per_s)} GB/s"),
        (system.sram_bytes, f"{format_in(KIB, system.sram_bytes)} KiB of SRAM"),
        (network[0].element_bytes, f"elements of {count(network[0].element_bytes, 'byte')}"),
        ([layer[:6] for layer in network], ", ".join(layers)),
    ]


def format_in(unit: int, value: lab3.Rate) -> str:
    """Format a value in a unit, with the digits that an option may have."""
    return f"{Decimal(lab3.format_decimal(Fraction(value) / unit, MOST_CHARACTERS)):,f}"


def prefix_question(question: Question, text: str, gap: str = "\n\n") -> str:
    """Put a line above the text that says what is asked, unless it is what the lab asks."""
    difference = describe_question(question)
    return wrap(f"what if: {difference}", "  ") + gap + text if difference else text


# ------------------------------------------------ the command: whatif


add_options = add_question_options  # `whatif` has no others


@lru_cache(maxsize=8)  # check asks for each file of a class
def answer(question: Question) -> str:
    """Write lab3.py's answers and which strategies fit in SRAM. Raises ValueError if neither
    strategy is possible."""
    network, system, _ = question
    possible = [strategy for strategy, inputs in make_models(question) if inputs == 1]
    room = system.sram_bytes
    fitting = [it for it in possible if find_fullest(it, network, system).total_bytes <= room]
    names = " and ".join(f"{it} parallelism" for it in fitting) or "none"
    fits = f"Fits in {format_in(KIB, room)} KiB of SRAM per node, one input at a time: {names}."
    return f"{lab3.answers(*question)}\n{wrap(fits, '  ')}"  # lab3.py's lines as they are


def run(options: Namespace) -> int:
    """Print lab3.py's answers to Q1 and Q2, and which strategies fit in SRAM."""
    question = read_options(options)
    print(prefix_question(question, answer(question), "\n"))
    return 0
