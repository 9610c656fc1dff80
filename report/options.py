"""The options that commands share: what if the network, the machine or the inputs differ."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from fractions import Fraction

import lab3
from lab3 import ConvLayer, System
from report.question import LAB, LAYER_FIELDS, MOST_CHARACTERS, Question, format_option
from report.text import GIGA, KIB, Exact, quote

MOST_LAYERS = 100


def make_number_parser(
    unit: str, least: int | Decimal, most: int, times: int = 1
) -> Callable[[str], Exact]:
    """Make the type of an option that takes numbers in a unit, only whole ones if least is an int.
    It multiplies them by `times`, which converts them to lab3.py's unit."""
    convert = type(least)

    def parse(text: str) -> Exact:
        is_long = len(text) > MOST_CHARACTERS
        with suppress(ValueError, InvalidOperation):  # not a number, or NaN
            if (
                text.isascii()
                and "_" not in text
                and not is_long
                and least <= convert(text) <= most
            ):
                value = Fraction(convert(text)) * times
                return int(value) if value.denominator == 1 else value
        kind = "whole number" if convert is int else "number"
        wanted = f"a {kind} of {unit} from {least} to {most:,}, without a unit or commas"
        why = f": it has more than {MOST_CHARACTERS} characters" * is_long
        raise ArgumentTypeError(f"{quote(text)} is not {wanted}{why}")

    return parse


def parse_layer(text: str) -> ConvLayer:
    """Parse a layer such as "128,3,3,3,32,32"."""
    sizes = text.split(",")
    if len(sizes) != len(LAYER_FIELDS):
        wanted = f"six numbers with commas between them ({','.join(LAYER_FIELDS)})"
        raise ArgumentTypeError(f"{quote(text)} is not {wanted}; repeat --layer for each layer")
    numbers = {
        name: int(make_number_parser(name, 1, 10**6)(size))
        for name, size in zip(LAYER_FIELDS, sizes, strict=True)
    }
    return ConvLayer(**numbers)


def add_question_options(parser: ArgumentParser) -> None:
    """Add the what-if options, by default lab3.py's values."""
    group = parser.add_argument_group(
        "what if",
        "Defaults: lab3.py's. SRAM changes only what fits, not latency or traffic.",
    )

    def add(
        option: str, default: lab3.Rate, unit: int, parse: Callable[[str], Exact], what: str
    ) -> None:
        what += f" (default: {format_option(default, unit).replace(',', '')})"
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
    """Make the options' question. Raises ValueError if a --layer does not fit the previous."""
    layers = options.layer or LAB.network
    if len(layers) > MOST_LAYERS:
        place = "--layer" if options.layer else "lab3.py's NETWORK"
        raise ValueError(f"{place}: {len(layers):,} layers are more than {MOST_LAYERS:,}")
    network = tuple(layer._replace(element_bytes=options.element_bytes) for layer in layers)
    system = System(
        nodes=options.nodes,
        ops_per_s=options.gops,
        link_bytes_per_s=options.link_gbs,
        sram_bytes=options.sram_kib,
    )
    try:
        lab3.validate(network, system, options.inputs)
    except ValueError as error:
        raise ValueError(f"--{error}") from None  # the error begins with "layer 2"
    return Question(network, system, options.inputs)
