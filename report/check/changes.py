"""The changes of the model that are tried: common mistakes, and other readings of the handout."""

from fractions import Fraction
from typing import NamedTuple

BINARY_GIGA = Fraction(2**30, 10**9)
TENSOR, PIPELINE = ("tensor",), ("pipeline",)
BOTH = TENSOR + PIPELINE

Value = int | Fraction | str


class Change(NamedTuple):
    """One thing of the model that somebody computes otherwise."""

    clause: str  # what is behind "if"; the identifier
    thing: str  # which has one value in a set of changes
    value: Value  # what report/check/model.py has in its place
    strategies: tuple[str, ...]
    is_reading: bool = False  # another reading of the handout rather than a mistake


READING = True

# fmt: off
CHANGES = (
    Change("an element is 1 byte (INT8)", "element", 1, BOTH),
    Change("an element is 2 bytes (FP16)", "element", 2, BOTH),
    Change("an element is 4 bytes (FP32)", "element", 4, BOTH),
    Change("an element is 16 bytes", "element", 16, BOTH),
    Change("1 MAC is 1 op", "ops", "1 per MAC", BOTH),
    Change("1 MAC is 4 ops", "ops", "4 per MAC", BOTH),
    Change("each output's bias is an op more", "ops", "bias", BOTH),
    Change("GOPS are 2^30 ops/s", "rate", BINARY_GIGA, BOTH),
    Change("GB/s are 2^30 bytes/s", "link", 1 / BINARY_GIGA, BOTH, READING),
    Change("the GOPS are shared by all nodes", "ops", "shared", BOTH),
    Change("GB/s are Gbit/s", "link", 8, BOTH, READING),
    Change("links have half the bandwidth", "link", 2, BOTH),
    Change("communication takes no time", "link", 0, BOTH),
    Change("each output is as large (x and y) as its layer's input", "size", "x, y", BOTH),
    Change("ops are counted with the input's x and y", "size", "x, y of ops", BOTH),
    Change("outputs are sent with the input's x and y", "size", "x, y of bytes", BOTH),
    Change("the + 1 is forgotten in the output's x and y", "size", "no + 1", BOTH),
    Change("each layer's input is sent, not its output", "size", "input", BOTH),
    Change("layer 1 has as many input channels as filters", "channels", "filters", BOTH),
    Change("layer 1 is not computed", "loop", "C_1", BOTH),
    Change("the last layer is not computed", "loop", "C_L", BOTH),
    Change("layer 1's output is not sent", "loop", "A_1", BOTH),
    Change("the last but one layer's output is not sent", "loop", "A_(L-1)", BOTH),
    Change("traffic is counted in bits", "times", 8, BOTH),
    Change("traffic counts what is sent and what is received", "times", 2, BOTH),
    Change("traffic is that of one node on average", "times", "1 / P", BOTH),
    Change("traffic is that of one link on average", "times", "1 / links", BOTH),
    Change("traffic is that of one input", "inputs", 1, BOTH),
    Change("Q2 is of one input", "many", "1", BOTH),
    Change("Q2 is of N - 1 inputs", "many", "N - 1", BOTH),
    Change("Q2 is of N + 1 inputs", "many", "N + 1", BOTH),
    Change("Q2's latency is the average per input", "average", "1 / N", BOTH),
    Change("the network's input is sent, too", "start", "sent", BOTH, READING),
    Change("the last output goes to all nodes", "end", "all nodes", TENSOR, READING),
    Change("the last output's shards arrive one after the other", "end", "in turn", TENSOR),
    Change("the last output is not gathered", "end", "not gathered", TENSOR),
    Change("the last output is sent, too", "last", "sent", PIPELINE),
    Change("whole outputs are sent, not shards", "sent", "whole", TENSOR),
    Change("all shards go over one link", "sent", "one link", TENSOR),
    Change("a node sends and receives one shard at a time", "sent", "one shard", TENSOR),
    Change("a node sends to one node after the other", "sent", "one node", TENSOR),
    Change("one node collects each output and sends it to all", "sent", "collects", TENSOR),
    Change("the bytes are spread over all links", "sent", "spread", TENSOR),
    Change("only the last output is gathered, nothing is sent between layers",
           "sent", "only the last", TENSOR),
    Change("computing is not divided by the nodes", "divided", "not", TENSOR),
    Change("computing is multiplied by the nodes, not divided", "divided", "multiplied", TENSOR),
    Change("traffic counts each output once", "count", "outputs", TENSOR),
    Change("traffic counts each shard once", "count", "shards", TENSOR),
    Change("traffic is that of one link", "count", "one link", TENSOR),
    Change("traffic counts gathers to one node only", "count", "gathers", TENSOR),
    Change("traffic also counts a node's own shards, which are not sent",
           "count", "own shards", TENSOR),
    Change("each output is sent to all other nodes", "count", "to all others", PIPELINE),
    Change("computing is divided by the nodes", "divided", "divided", PIPELINE),
    Change("a node does not compute while it sends", "sending", "sends", PIPELINE, READING),
    Change("a node does not compute while it receives", "sending", "receives", PIPELINE),
    Change("the last stage is the slowest", "formula", "last stage", PIPELINE),
    Change("inputs do not overlap", "formula", "no overlap", PIPELINE, READING),
    Change("all inputs take as long as one", "formula", "as one", PIPELINE),
    Change("N inputs take N / nodes times as long as one", "formula", "N / P", PIPELINE),
    Change("N inputs take (N + layers - 1) / layers times as long as one",
           "formula", "slots / L", PIPELINE),
    Change("N times the slowest stage is added to the first input, not N - 1 times",
           "formula", "one more", PIPELINE),
    Change("N inputs take N times the slowest stage", "formula", "slowest", PIPELINE),
    Change("N inputs take N times the slowest stage, also for N = 1",
           "formula", "slowest, also Q1", PIPELINE),
    Change("N inputs take (N + layers - 1) times the slowest stage", "formula", "slots", PIPELINE),
    Change("N inputs take (N + layers - 1) times the slowest stage, also for N = 1",
           "formula", "slots, also Q1", PIPELINE),
)
# fmt: on
NAMED = {change.clause: change for change in CHANGES}
