"""The changes of the model that are tried: other readings of the handout, and common mistakes.

Each changes one thing. Changes of different things combine.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

MOST_CHANGES = 3  # at the same time
BINARY_GIGA = Fraction(2**30, 10**9)
TENSOR, PIPELINE = ("tensor",), ("pipeline",)
BOTH = TENSOR + PIPELINE


class Change(NamedTuple):
    """One thing read otherwise."""

    name: str  # a clause, after "if"
    thing: str  # of which a set of changes has one value
    value: Any  # what the formulas have in its place; None for what they have without a change
    strategies: tuple[str, ...]


# fmt: off
CHANGES = (
    Change("an element is 1 byte (INT8)", "element", 1, BOTH),
    Change("an element is 2 bytes (FP16)", "element", 2, BOTH),
    Change("an element is 4 bytes (FP32)", "element", 4, BOTH),
    Change("1 MAC is 1 op", "ops", "1 a MAC", BOTH),
    Change("GOPS are 2^30 ops/s", "rate", BINARY_GIGA, BOTH),
    Change("GB/s are 2^30 bytes/s", "link", 1 / BINARY_GIGA, BOTH),
    Change("the GOPS are shared by all nodes", "ops", "shared", BOTH),
    Change("GB/s are Gbit/s", "link", 8, BOTH),
    Change("links have half the bandwidth", "link", 2, BOTH),
    Change("communication takes no time", "link", 0, BOTH),
    Change("each output is as large (x and y) as its layer's input", "size", "ops and bytes", BOTH),
    Change("ops are counted with the input's x and y", "size", "ops", BOTH),
    Change("layer 1 has as many input channels as filters", "channels", "filters", BOTH),
    Change("traffic is counted in bits", "bits", 8, BOTH),
    Change("traffic is that of one input", "inputs", 1, BOTH),
    Change("Q2 is of N - 1 inputs", "many", "N - 1", BOTH),
    Change("the network's input is sent, too", "start", "sent", BOTH),
    Change("the last output goes to all nodes", "end", "all nodes", TENSOR),
    Change("the last output is not gathered", "end", "not gathered", TENSOR),
    Change("the last output is sent, too", "last", "sent", PIPELINE),
    Change("whole outputs are sent, not shards", "sent", "whole", TENSOR),
    Change("all shards go over one link", "sent", "one link", TENSOR),
    Change("a node sends and receives one shard at a time", "sent", "one shard", TENSOR),
    Change("a node sends to one node after the other", "sent", "one node", TENSOR),
    Change("one node collects each output and sends it to all", "sent", "collects", TENSOR),
    Change("the bytes are spread over all links", "sent", "spread", TENSOR),
    Change("computing is not divided by the nodes", "divided", "not", TENSOR),
    Change("traffic counts each output once", "count", "outputs", TENSOR),
    Change("traffic is that of one link", "count", "one link", TENSOR),
    Change("traffic counts gathers to one node only", "count", "gathers", TENSOR),
    Change("traffic also counts a node's own shards, which are not sent",
           "count", "own shards", TENSOR),
    Change("computing is divided by the nodes", "divided", "too", PIPELINE),
    Change("a node does not compute while it sends", "sending", "sends", PIPELINE),
    Change("a node does not compute while it receives", "sending", "receives", PIPELINE),
    # of the pipeline's formula, and the least number of inputs for which it is another
    Change("the last stage is the slowest", "formula", ("last stage", 2), PIPELINE),
    Change("inputs do not overlap", "formula", ("no overlap", 2), PIPELINE),
    Change("N inputs take N / P times as long as one", "formula", ("N / P", 2), PIPELINE),
    Change("N times the slowest stage is added to the first input, not N - 1 times",
           "formula", ("one more", 2), PIPELINE),
    Change("N inputs take N times the slowest stage", "formula", ("slowest", 2), PIPELINE),
    Change("N inputs take N times the slowest stage, also for N = 1",
           "formula", ("slowest", 1), PIPELINE),
    Change("N inputs take N + L - 1 times the slowest stage", "formula", ("slots", 2), PIPELINE),
    Change("N inputs take N + L - 1 times the slowest stage, also for N = 1",
           "formula", ("slots", 1), PIPELINE),
)
# fmt: on
NAMED = {change.name: change for change in CHANGES}
ANOTHER_READING = {  # of the handout, not a mistake
    "GB/s are 2^30 bytes/s",
    "GB/s are Gbit/s",
    "the network's input is sent, too",
    "the last output goes to all nodes",
    "a node does not compute while it sends",
    "inputs do not overlap",
}
WITH = {  # what is said after "with" rather than after "if"
    "an element is 1 byte (INT8)": "1 byte per element (INT8)",
    "an element is 2 bytes (FP16)": "2 bytes per element (FP16)",
    "an element is 4 bytes (FP32)": "4 bytes per element (FP32)",
    "1 MAC is 1 op": "1 op per MAC",
    "links have half the bandwidth": "half the bandwidth per link",
    "Q2 is of N - 1 inputs": "N - 1 inputs in Q2",
}
ALSO_OF_ONE = ", also for N = 1"
OF_Q1 = {  # what is said of Q1 alone
    "N inputs take N times the slowest stage, also for N = 1": "Q1 counts only the slowest stage",
    "N inputs take N + L - 1 times the slowest stage, also for N = 1": (
        "Q1 counts L times the slowest stage"
    ),
}
NOT_AS_THE_KEY = (
    "the key's reading is left out: "  # before the name of a change of a key that is taken back
)


def changed(name: str) -> Change:
    """The change of that name, or the one that is taken back."""
    return NAMED[name.removeprefix(NOT_AS_THE_KEY)]
