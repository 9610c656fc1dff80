"""What is tried: common mistakes, other readings of the handout, and constants typed wrong."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, NamedTuple

from lab3 import Rate
from report.question import Question
from report.text import GIGA, count, format_number

BINARY_GIGA = Fraction(2**30, 10**9)
TENSOR, PIPELINE = ("tensor",), ("pipeline",)
BOTH = TENSOR + PIPELINE


class Change(NamedTuple):
    """One thing of the model that somebody computes otherwise."""

    clause: str  # what is behind "if"; the identifier
    thing: str  # which has one value in a set of changes
    value: Any  # what report/check/model.py has in its place; None is as this project reads it
    strategies: tuple[str, ...]
    is_reading: bool = False  # another reading of the handout rather than a mistake


READING = True
PRINTED = "latency unit", "traffic unit"  # things: units of what is printed
CONSTANT = "constant"  # a thing that is changed alone

# fmt: off
CHANGES = (
    Change("an element is 1 byte (INT8)", "element", 1, BOTH),
    Change("an element is 2 bytes (FP16)", "element", 2, BOTH),
    Change("an element is 4 bytes (FP32)", "element", 4, BOTH),
    Change("an element is 16 bytes", "element", 16, BOTH),
    Change("1 MAC is 1 op", "ops", "1 per MAC", BOTH),
    Change("each output's bias is an op more", "ops", "bias", BOTH),
    Change("an output of K products has K - 1 additions", "ops", "K - 1", BOTH),
    Change("GOPS are 2^30 ops/s", "rate", BINARY_GIGA, BOTH),
    Change("GB/s are 2^30 bytes/s", "link", 1 / BINARY_GIGA, BOTH, READING),
    Change("GB/s are Gbit/s", "link", 8, BOTH, READING),
    Change("links have half the bandwidth", "link", 2, BOTH),
    Change("all links together have the bandwidth of one", "link", "shared", BOTH),
    Change("communication takes no time", "link", 0, BOTH),
    Change("each output is as large (x and y) as its layer's input", "size", "x, y", BOTH),
    Change("ops are counted with the input's x and y", "size", "x, y of ops", BOTH),
    Change("outputs are sent with the input's x and y", "size", "x, y of bytes", BOTH),
    Change("the + 1 is forgotten in the output's x and y", "size", "no + 1", BOTH),
    Change("x and y are halved by each layer", "size", "halved", BOTH),
    Change("the last output is as large (x and y) as its layer's input",
           "size", "x, y of the last", BOTH),
    Change("each layer's input is sent, not its output", "size", "input", BOTH),
    Change("layer 1 has as many input channels as filters", "channels", "filters", BOTH),
    Change("the input channels are forgotten", "channels", "1", BOTH),
    Change("a filter's height is forgotten", "filter", "fx", BOTH),
    Change("layer 1 is not computed", "loop", "C_1", BOTH),
    Change("the last layer is not computed", "loop", "C_L", BOTH),
    Change("layer 1 is missing", "loop", "1", BOTH),
    Change("the last layer is missing", "loop", "L", BOTH),
    Change("layer 1's output is not sent", "loop", "A_1", BOTH),
    Change("the last but one layer's output is not sent", "loop", "A_(L-1)", BOTH),
    Change("traffic is counted in bits", "times", 8, BOTH),
    Change("traffic counts what is sent and what is received", "times", 2, BOTH),
    Change("traffic is that of one node on average", "times", "1 / P", BOTH),
    Change("traffic is that of one input", "inputs", 1, BOTH),
    Change("the weights are sent, too", "weights", "sent", BOTH),
    Change("ms are printed as seconds", "latency unit", 10**3, BOTH),
    Change("us are printed as seconds", "latency unit", 10**6, BOTH),
    Change("KB are printed as bytes", "traffic unit", Fraction(1, 10**3), BOTH),
    Change("KiB are printed as bytes", "traffic unit", Fraction(1, 2**10), BOTH),
    Change("MB are printed as bytes", "traffic unit", Fraction(1, 10**6), BOTH),
    Change("MiB are printed as bytes", "traffic unit", Fraction(1, 2**20), BOTH),
    Change("Q2 is of one input", "many", "1", BOTH),
    Change("Q2 is of N - 1 inputs", "many", "N - 1", BOTH),
    Change("Q2 is of N + 1 inputs", "many", "N + 1", BOTH),
    Change("Q2's latency is per input, not of all", "average", "1 / N", BOTH),
    Change("the network's input is sent, too", "start", "sent", BOTH, READING),
    Change("the last output goes to all nodes", "end", "all nodes", TENSOR, READING),
    Change("the last output's shards arrive one after the other", "end", "in turn", TENSOR),
    Change("the last output is not gathered", "end", "not gathered", TENSOR),
    Change("each node sends a whole last output", "end", "whole", TENSOR),
    Change("the last gather takes no time", "end", "no time", TENSOR),
    Change("the last output is sent, too", "last", "sent", PIPELINE),
    Change("whole outputs are sent, not shards", "sent", "whole", TENSOR),
    Change("sending takes the time of whole outputs, not shards", "sent", "whole, time", TENSOR),
    Change("all shards go over one link", "sent", "one link", TENSOR),
    Change("a node sends and receives one shard at a time", "sent", "one shard", TENSOR),
    Change("a node sends to one node after the other", "sent", "one node", TENSOR),
    Change("one node collects each output and sends it to all", "sent", "collects", TENSOR),
    Change("the bytes are spread over all links", "sent", "spread", TENSOR),
    Change("only the last output is gathered, nothing is sent between layers",
           "sent", "only the last", TENSOR),
    Change("outputs are all-reduced along a ring", "sent", "all-reduced", TENSOR),
    Change("a node's links work as one", "sent", "links as one", TENSOR),
    Change("computing is not divided by the nodes", "divided", "not", TENSOR),
    Change("the next input is computed while this one's outputs are sent",
           "overlap", "inputs", TENSOR),
    Change("traffic counts each output once", "count", "outputs", TENSOR),
    Change("traffic counts each shard once", "count", "shards", TENSOR),
    Change("traffic is that of one link", "count", "one link", TENSOR),
    Change("traffic is what one node sends", "count", "one node", TENSOR),
    Change("traffic counts gathers to one node only", "count", "gathers", TENSOR),
    Change("traffic also counts a node's own shards, which are not sent",
           "count", "own shards", TENSOR),
    Change("each output is sent to all other nodes", "count", "to all others", PIPELINE),
    Change("computing is divided by the nodes", "divided", "divided", PIPELINE),
    Change("a node does not compute while it sends", "sending", "sends", PIPELINE, READING),
    Change("a node does not compute while it receives", "sending", "receives", PIPELINE),
    Change("a node does not compute while it receives or sends", "sending", "both", PIPELINE),
    Change("a later input takes the last stage's time, not the slowest's",
           "interval", "last", PIPELINE),
    Change("a later input takes the average stage's time, not the slowest's",
           "interval", "average", PIPELINE),
    Change("inputs do not overlap", "formula", "no overlap", PIPELINE, READING),
    Change("all inputs take as long as one", "formula", "as one", PIPELINE),
    Change("N inputs take N / nodes times as long as one", "formula", "N / P", PIPELINE),
    Change("N inputs take (N + layers - 1) / layers times as long as one",
           "formula", "slots / L", PIPELINE),
    Change("N times the slowest stage is added to the first input, not N - 1 times",
           "formula", "one more", PIPELINE),
    Change("N times the slowest stage is added to the first input, not N - 1 times, also for N = 1",
           "formula", "one more, also Q1", PIPELINE),
    Change("N inputs take N times the slowest stage", "formula", "slowest", PIPELINE),
    Change("N inputs take N times the slowest stage, also for N = 1",
           "formula", "slowest, also Q1", PIPELINE),
    Change("N inputs take (N + layers - 1) times the slowest stage", "formula", "slots", PIPELINE),
    Change("N inputs take (N + layers - 1) times the slowest stage, also for N = 1",
           "formula", "slots, also Q1", PIPELINE),
)
# fmt: on


# ------------------------------------------------ constants typed wrong

FIELDS: dict[tuple[str, ...], Callable[..., str]] = {  # of a layer, and how they are told
    ("filters",): lambda filters: count(filters, "filter"),
    ("in_channels",): lambda channels: count(channels, "input channel"),
    ("fx", "fy"): "filters of {:,} x {:,}".format,
    ("x", "y"): "an input of {:,} x {:,}".format,
}


def list_constants(question: Question, amounts: Iterable[int] = ()) -> list[Change]:
    """List the question with one constant changed: one less or more, twice, half, 10 times, a
    tenth, the value in a neighbouring row; and with these other amounts of inputs. Layers need not
    follow from each other, because somebody types each row of the handout's table."""
    network, system, inputs = question
    found = {}
    for at, layer in enumerate(network):
        for fields, describe in FIELDS.items():
            rows = layer, *network[max(at - 1, 0) : at + 2]
            for values in _vary(*(tuple(getattr(row, it) for it in fields) for row in rows)):
                other = layer._replace(**dict(zip(fields, values, strict=True)))
                if other.out_x > 0 and other.out_y > 0:
                    layers = (*network[:at], other, *network[at + 1 :])
                    clause = f"layer {at + 1} has {describe(*values)}"
                    if fields == ("x", "y"):
                        clause += f" (output {other.out_x:,} x {other.out_y:,})"
                    found[clause] = question._replace(network=layers)
    machines = {
        f"the machine has {count(nodes, 'node')}": system._replace(nodes=nodes)
        for [nodes] in _vary((system.nodes,))
    }
    for [giga] in _vary((Fraction(system.ops_per_s) / GIGA,)):
        clause = f"a node has {format_number(giga)} GOPS"
        machines[clause] = system._replace(ops_per_s=giga * GIGA)
    for [giga] in _vary((Fraction(system.link_bytes_per_s) / GIGA,)):
        clause = f"links have {format_number(giga)} GB/s"
        machines[clause] = system._replace(link_bytes_per_s=giga * GIGA)
    found |= {clause: question._replace(system=machine) for clause, machine in machines.items()}
    for [many] in _vary((inputs,), *((amount,) for amount in amounts)):
        if min(many, inputs) > 1:  # "Q2 is of one input" is in the table
            found[f"Q2 is of {many:,} inputs"] = question._replace(inputs=many)
    return [Change(clause, CONSTANT, changed, BOTH) for clause, changed in found.items()]


def _vary(values: tuple[Rate, ...], *others: tuple[Rate, ...]) -> list[tuple[Any, ...]]:
    """List what may be typed instead, ints in place of ints."""
    found = [tuple(value + by for value in values) for by in (-1, 1)]
    factors = 2, Fraction(1, 2), 10, Fraction(1, 10)
    found += [tuple(value * times for value in values) for times in factors]
    is_whole = all(isinstance(value, int) for value in values)
    return [
        tuple(int(it) if it.denominator == 1 else it for it in each)
        for each in dict.fromkeys([*found, *others])
        if each != values
        and min(each) > 0
        and not (is_whole and any(it.denominator > 1 for it in each))
    ]
