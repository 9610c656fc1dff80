#!/usr/bin/env python3
"""What if: lab3's answers for other numbers than the lab's.

The other scripts of this folder take the same options, answer the same Question and end in the
same way; they import this module first, since it finds lab3 and says which Python is needed.
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, TextIO

if sys.version_info < (3, 10):  # noqa: UP036
    sys.exit(f"{Path(sys.argv[0]).name} needs Python 3.10 or newer; lab3.py does not")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import lab3
from lab3 import ConvLayer, Network, Rate, System

GIGA, KIB = 10**9, 1024  # of GOPS and GB/s; of SRAM
COLUMNS = 80  # of a terminal
MOST_CHARACTERS = 30  # of a number, so that an overlong one is refused at once
MOST_SPELLED_OUT = 3  # layers


class Question(NamedTuple):
    """What is asked, by default what the lab asks."""

    network: Network = lab3.NETWORK
    system: System = lab3.SYSTEM
    inputs: int = lab3.INPUTS

    def on(self, **changes: Any) -> Question:
        """The same, on a machine with these changes."""
        return self._replace(system=self.system._replace(**changes))


LAB = Question()

# ------------------------------------------------ options


def whole(unit: str, example: int, high: int) -> Callable[[str], int]:
    """The type of an option that takes a whole number from 1."""
    return _number(int, f"a whole number of {unit} from 1 to {high:,}, such as {example}", 1, high)


def rate(unit: str, example: int, high: int) -> Callable[[str], Rate]:
    """The type of an option that takes a number in units of 10^9, from a millionth of one."""
    low = Decimal("0.000001")
    wanted = f"a number of {unit} from {low:f} to {high:,}, such as {example} or 0.1"
    parse = _number(Decimal, wanted, low, high)

    def per_s(text: str) -> Rate:
        value = Fraction(parse(text)) * GIGA
        return int(value) if value.denominator == 1 else value

    return per_s


def _number(
    convert: Callable[[str], Any], wanted: str, low: Any, high: int
) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        try:
            if len(text) <= MOST_CHARACTERS and low <= convert(text) <= high:
                return convert(text)
        except (ValueError, InvalidOperation):  # not a number, or a NaN
            pass
        raise argparse.ArgumentTypeError(f"{shown(text)} is not {wanted}")

    return parse


def shown(value: object) -> str:
    """On one line of ASCII, and a text in quotes, even if it is cut."""
    text = ascii(value)
    start = ascii(value[:30]) if isinstance(value, str) else text[:30]
    return text if len(text) <= 40 else f"{start}..."


def option_parser(description: str, examples: Sequence[str]) -> argparse.ArgumentParser:
    """A parser of the what-if options, to which a script adds its own."""
    parser = argparse.ArgumentParser(
        description=filled(description),
        epilog="\n  ".join(["examples:", *examples]),
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=COLUMNS),
        allow_abbrev=False,
    )
    group = parser.add_argument_group(
        "what if", "The lab's numbers by default. SRAM changes what fits, and no latency."
    )
    system, element_bytes = LAB.system, LAB.network[0].element_bytes
    gops, link_gbs = (int(per_s / GIGA) for per_s in (system.ops_per_s, system.link_bytes_per_s))
    sram_kib = system.sram_bytes // KIB
    for name, metavar, default, kind, unit in (
        ("--inputs", "N", LAB.inputs, whole("inputs", LAB.inputs, 10**9), "inputs in Q2"),
        ("--nodes", "P", system.nodes, whole("nodes", system.nodes, 10**6), "nodes"),
        ("--gops", "X", gops, rate("GOPS", gops, 10**8), "10^9 ops/s of a node"),
        ("--link-gbs", "X", link_gbs, rate("GB/s", link_gbs, 10**5), "10^9 bytes/s of a link"),
        ("--sram-kib", "K", sram_kib, whole("KiB", sram_kib, 10**9), "KiB of a node's SRAM"),
        ("--element-bytes", "B", element_bytes, whole("bytes", 2, 64), "bytes of an element"),
    ):
        group.add_argument(
            name, metavar=metavar, default=str(default), type=kind, help=f"{unit} ({default})"
        )
    group.add_argument(
        "--topology",
        choices=(lab3.ALL_TO_ALL, lab3.RING),
        default=system.topology,
        help=f"one-way links between all pairs, or from each node to the next ({system.topology})",
    )
    group.add_argument(
        "--layer",
        metavar="SIZE",
        action="append",
        nargs="+",
        help="once for each layer, six whole numbers: filters, in_channels, fx, fy, x, y, such as "
        "128,3,3,3,32,32; stride 1, no padding, no pooling",
    )
    return parser


def question(options: argparse.Namespace) -> Question:
    """What the options ask. Raises ValueError for a --layer that is not six whole numbers."""
    layers = [_layer(*numbered) for numbered in enumerate(options.layer or (), 1)]
    network = [
        layer._replace(element_bytes=options.element_bytes) for layer in layers or LAB.network
    ]
    system = System(
        options.nodes,
        options.gops,
        options.link_gbs,
        options.sram_kib * KIB,
        options.topology,
    )
    lab3.check(network, system, options.inputs)
    return Question(network, system, options.inputs)


def _layer(number: int, words: list[str]) -> ConvLayer:
    text = " ".join(words)
    names = ConvLayer._fields[:6]
    sizes = text.replace(",", " ").split()
    if len(sizes) != len(names):
        wanted = f"six whole numbers {','.join(names)}, such as 128,3,3,3,32,32"
        raise ValueError(f"--layer {number}: {shown(text)} is not {wanted}, for each layer")
    parse = whole("elements", 3, 10**6)
    try:
        return ConvLayer(*map(parse, sizes))
    except argparse.ArgumentTypeError as error:
        raise ValueError(f"--layer {number}: {error}") from None


# ------------------------------------------------ what was asked, in words


def asked(question: Question) -> str:
    """A line that says in what the question differs from the lab's, empty if in nothing."""
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
    if network[0].element_bytes != LAB.network[0].element_bytes:
        parts.append(f"elements of {count(network[0].element_bytes, 'byte')}")
    shapes = ["x".join(map(str, layer[:4])) + f" on {layer.x}x{layer.y}" for layer in network]
    if [layer[:6] for layer in network] != [layer[:6] for layer in LAB.network]:
        parts += shapes[:MOST_SPELLED_OUT]
        if len(shapes) > MOST_SPELLED_OUT:
            parts.append(f"and {count(len(shapes) - MOST_SPELLED_OUT, 'more layer')}")
    return filled(f"what if: {', '.join(parts)}", "  ") if parts else ""


def count(number: int, thing: str) -> str:
    """1 node, 1,000 nodes."""
    return f"{number:,} {thing}{'s' * (number != 1)}"


def _in_units(value: Rate, unit: int) -> str:
    return lab3.plain(Fraction(value) / unit, MOST_CHARACTERS)  # exact, as it was given


def filled(text: str, margin: str = "") -> str:
    """The text on lines of a terminal, those after the first behind the margin."""
    return textwrap.fill(text, COLUMNS, subsequent_indent=margin, break_on_hyphens=False)


# ------------------------------------------------ how a script ends


def run(respond: Callable[[Sequence[str] | None], str], argv: Sequence[str] | None = None) -> int:
    """Print what it responds to the arguments. Returns the exit status: 0, also for a reader that
    has seen enough; 1 where output cannot be written; 2 for bad input; 130 for Ctrl-C."""
    status, message = 0, ""
    try:
        text = respond(argv)
        if sys.stdout is None:
            raise OSError("stdout is closed")
        print(text, flush=True)
    except BrokenPipeError:
        pass
    except ValueError as error:
        status, message = 2, str(error)
    except KeyboardInterrupt:
        status, message = 130, "interrupted"
    except OSError as error:
        what = f"cannot write {error.filename}" if error.filename else "cannot write"
        status, message = 1, f"{what}: {error.strerror or error}"
    finally:  # argparse ends by SystemExit
        if message and sys.stderr:
            with suppress(OSError):
                print(f"{Path(sys.argv[0]).name}: error: {message}", file=sys.stderr)
        _give_up_what_is_left(sys.stdout)
        _give_up_what_is_left(sys.stderr)
    return status


def _give_up_what_is_left(stream: TextIO | None) -> None:
    """What cannot be written must not fail again, with a status of its own, at the exit."""
    if stream:
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


# ------------------------------------------------ the script


def respond(argv: Sequence[str] | None) -> str:
    """The answers, after a line that says what was asked."""
    parser = option_parser(
        "lab3's answers for other inputs, nodes, rates, topologies and layers.",
        [
            "python3 report/whatif.py --inputs 64 --topology ring",
            "python3 report/whatif.py --nodes 8 --link-gbs 0.1",
            "python3 report/whatif.py --layer 64,3,5,5,32,32 --layer 32,64,3,3,28,28",
        ],
    )
    asked_for = question(parser.parse_args(argv))
    return "\n".join(filter(None, [asked(asked_for), lab3.answers(*asked_for)]))


if __name__ == "__main__":
    sys.exit(run(respond))
