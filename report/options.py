"""The options that commands share: what if the network, the machine or the inputs differ."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import partial

import lab3
from lab3 import ConvLayer
from report import InputError
from report.model import LAYER_FIELDS
from report.question import LAB, MOST_DIGITS, Question, format_option
from report.text import GIGA, KIB, Exact, quote

SYSTEM = LAB.system
SLOW = Decimal("0.000001")
# option, default, unit, its size in lab3.py's unit, least, most, help
NUMBERS: list[tuple[str, lab3.Rate, str, int, int | Decimal, int, str]] = [
    ("inputs", LAB.inputs, "inputs", 1, 1, 10**6, "inputs in Q2"),
    ("nodes", SYSTEM.nodes, "nodes", 1, 1, 1024, "nodes"),
    ("gops", SYSTEM.ops_per_s, "GOPS", GIGA, SLOW, 10**8, "compute throughput per node, GOPS"),
    ("link-gbs", SYSTEM.link_bytes_per_s, "GB/s", GIGA, SLOW, 10**5, "link bandwidth, GB/s"),
    ("sram-kib", SYSTEM.sram_bytes, "KiB", KIB, 1, 10**9, "SRAM per node, KiB"),
    ("element-bytes", LAB.network[0].element_bytes, "bytes", 1, 1, 64, "bytes per element"),
]
LAYERS_AT_MOST = 100


def parse_number(text: str, unit: str, times: int, least: int | Decimal, most: int) -> Exact:
    """Parse a number, which must be whole if `least` is; return it in lab3.py's unit."""
    convert, is_long = type(least), len(text) > MOST_DIGITS
    with suppress(ValueError, InvalidOperation):  # not a number, or NaN
        is_plain = text.isascii() and "_" not in text and not is_long
        if is_plain and least <= (number := convert(text)) <= most:
            value = Fraction(number) * times
            return int(value) if value.denominator == 1 else value
    noun = "whole number" if convert is int else "number"
    wanted = f"a {noun} of {unit} from {least} to {most:,}, without a unit or commas"
    why = f": it has more than {MOST_DIGITS} characters" * is_long
    raise ArgumentTypeError(f"{quote(text)} is not {wanted}{why}")


def parse_layer(text: str) -> ConvLayer:
    """Parse a layer such as "128,3,3,3,32,32"."""
    sizes = text.split(",")
    if len(sizes) != len(LAYER_FIELDS):
        wanted = f"six numbers with commas between them ({','.join(LAYER_FIELDS)})"
        raise ArgumentTypeError(f"{quote(text)} is not {wanted}; repeat --layer for each layer")
    named = zip(LAYER_FIELDS, sizes, strict=True)
    return ConvLayer(**{name: int(parse_number(size, name, 1, 1, 10**6)) for name, size in named})


def add_question_options(parser: ArgumentParser) -> None:
    """Add the what-if options, by default lab3.py's values."""
    about = "Defaults: lab3.py's. SRAM changes only what fits, not latency or traffic."
    group = parser.add_argument_group("what if", about)
    for option, default, unit, times, least, most, what in NUMBERS:
        parse = partial(parse_number, unit=unit, times=times, least=least, most=most)
        text = f"{what} (default: {format_option(default, times).replace(',', '')})"
        group.add_argument(f"--{option}", metavar="N", default=default, type=parse, help=text)
    group.add_argument(
        "--layer",
        metavar="SIZES",
        type=parse_layer,
        action="append",
        help="filters,in_channels,fx,fy,x,y of a layer: fx, fy are the width and height of a"
        " filter, x, y of the input; one --layer per layer, in order (default: lab3.py's layers)",
    )


def read_options(options: Namespace) -> Question:
    """Make the options' question. Raises InputError for impossible or too many layers."""
    layers = options.layer or LAB.network
    if len(layers) > LAYERS_AT_MOST:
        place = "--layer" if options.layer else "lab3.py's NETWORK"
        raise InputError(f"{place}: {len(layers):,} layers are more than {LAYERS_AT_MOST:,}")
    network = tuple(layer._replace(element_bytes=options.element_bytes) for layer in layers)
    system = lab3.System(
        nodes=options.nodes,
        ops_per_s=options.gops,
        link_bytes_per_s=options.link_gbs,
        sram_bytes=options.sram_kib,
    )
    try:
        lab3.validate(network, system, options.inputs)
    except ValueError as error:
        raise InputError(f"--{error}") from None  # the error begins with "layer 2"
    return Question(network, system, options.inputs)
