"""The mistakes that `check` knows, and other readings of the handout.

A mistake is a row: what stands behind "if", the thing that it is about, and an edit of the model,
which gives quantities of report/model.py other values. Of two mistakes about the same thing a
submission makes at most one; edits of the same quantity are made in the table's order. How to add
one: tests/README.md.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from lab3 import ConvLayer, Rate
from report.model import STRATEGIES, Edit, Exchange, Model
from report.question import Question
from report.text import GIGA, count, format_number

TENSOR, PIPELINE, BOTH = ("tensor",), ("pipeline",), STRATEGIES
CONSTANT, MULTIPLE = "constant", "multiple"  # things of which nothing is combined
PRINTED = "latency unit", "traffic unit"  # things: units of what is printed


class Mistake:
    """Something that somebody computes otherwise than lab3.py. Its clause is what stands behind
    "if", where N is the number of inputs; if it is another reading of the handout, it has what the
    handout says against it."""

    def __init__(
        self,
        clause: str,
        thing: str,
        edit: Edit,
        strategies: tuple[str, ...] = BOTH,
        handout: str = "",
    ) -> None:
        self.clause, self.thing, self.edit = clause, thing, edit
        self.strategies, self.handout = strategies, handout

    @property
    def is_alone(self) -> bool:
        """Tell whether no other mistake is tried with it."""
        return self.thing in (CONSTANT, MULTIPLE)


def compute(
    question: Question, strategy: str, mistakes: Iterable[Mistake] = ()
) -> dict[tuple[str, str], Rate]:
    """Compute what a strategy takes with mistakes: {("Q1", "latency"): seconds, ("Q1", "traffic"):
    bytes, ...}, with Q2 if there are several inputs."""
    network, system, inputs = question
    model = Model(strategy, network, system, [mistake.edit for mistake in mistakes])
    numbers: dict[tuple[str, str], Rate] = {}
    for name, asked in (("Q1", 1), ("Q2", inputs)) if inputs > 1 else [("Q1", 1)]:
        numbers[name, "latency"], numbers[name, "traffic"] = model.compute_total(asked)
    return numbers


# ------------------------------------------------ what the rows say


def let(**values: Any) -> Edit:
    """Give quantities other values: constants, or functions of the model."""
    return {name: value if callable(value) else always(value) for name, value in values.items()}


def always(value: Any) -> Callable[[Model], Any]:
    """Make a function of the model that has one value."""
    return lambda model: value


def multiply(name: str, factor: Rate) -> Edit:
    """Multiply a quantity, or each of its values, by a factor."""

    def multiplied(model: Model) -> Any:
        value = getattr(model, name)
        return [factor * each for each in value] if isinstance(value, list) else factor * value

    return {name: multiplied}


def change_layers(change: Callable[[Model, ConvLayer], ConvLayer], *names: str) -> Edit:
    """Change each layer: where ops are counted ("computed"), where outputs are ("sent"), or in
    both."""

    def changed(name: str) -> Callable[[Model], Any]:
        return lambda model: [change(model, layer) for layer in getattr(model, name)]

    return {name: changed(name) for name in names or ("computed", "sent")}


def change_one(name: str, at: int, change: Callable[[Model, Any], Any]) -> Edit:
    """Change one value of a quantity, if it has so many."""

    def changed(model: Model) -> Any:
        values = [*getattr(model, name)]
        if at in range(-len(values), len(values)):
            values[at] = change(model, values[at])
        return values

    return {name: changed}


def of_several(latency: Callable[[Model], Rate]) -> Edit:
    """Compute the latency of several inputs otherwise."""
    return {"latency_s": lambda m: latency(m) if m.inputs > 1 else m.latency_s}


def pad(layer: ConvLayer) -> ConvLayer:
    """Make the output as large (x and y) as the input."""
    return layer._replace(x=layer.x + layer.fx - 1, y=layer.y + layer.fy - 1)


def send_input(layer: ConvLayer) -> ConvLayer:
    """Make a layer whose output is this one's input."""
    return ConvLayer(layer.in_channels, 1, 1, 1, layer.x, layer.y)


def add_to_ops(by: int) -> Edit:
    """Add so many ops to each element of an output."""
    return let(ops=lambda m: [it.ops + by * it.filters * it.out_x * it.out_y for it in m.computed])


def exchange(name: str, link: Rate = 1, total: Rate = 1) -> Edit:
    """Multiply what an exchange sends over the busiest link, and over all links."""

    def multiplied(m: Model) -> Exchange:
        found = getattr(m, name)
        return Exchange(found.link * link, found.total * total)

    return {name: multiplied}


def send_whole(m: Model, exchange: Exchange) -> Exchange:
    """Send the whole output for each shard."""
    return Exchange(m.nodes * exchange.link, m.nodes * exchange.total)


def take_turns(m: Model, exchange: Exchange) -> Exchange:
    """Send one after the other what goes over a node's links at once."""
    return Exchange(exchange.link * m.peers // max(1, m.rounds), exchange.total)


def find_busiest(*times_s: list[Rate]) -> Rate:
    """Find the longest time of a node that does these one after the other."""
    return max(map(sum, zip(*times_s, strict=True)))


def list_weight_bytes(m: Model) -> list[int]:
    """List the bytes of each layer's weights."""
    return [m.element_bytes * layer.weights for layer in m.network]


def count_weight_bytes(m: Model) -> int:
    """Count the bytes of all weights."""
    return sum(list_weight_bytes(m))


def count_slots(m: Model) -> int:
    """Count the slots of a pipeline of equal stages: N + layers - 1."""
    return m.inputs + len(m.ops) - 1


BINARY = Fraction(2**30, GIGA)
GIGA_IS = 'giga is 10^9, as in "giga operations per second"'
BYTES = 'a B is a byte, as in "traffic (in bytes)"'
OVERLAP = 'a node is "simultaneously working on the next batch"'
INPUT = '"the initial inputs are already in the SRAM"'

# fmt: off
MISTAKES = (
    # what a layer computes, and what it sends
    Mistake("an element is 1 byte (INT8)", "element", let(element_bytes=1)),
    Mistake("an element is 2 bytes (FP16)", "element", let(element_bytes=2)),
    Mistake("an element is 4 bytes (FP32)", "element", let(element_bytes=4)),
    Mistake("16 bits are counted as 16 bytes", "element", let(element_bytes=16)),
    Mistake("each output is as large (x and y) as its layer's input", "size",
            change_layers(lambda m, it: pad(it))),
    Mistake("ops are counted with the input's x and y", "size",
            change_layers(lambda m, it: pad(it), "computed")),
    Mistake("outputs are sent with the input's x and y", "size",
            change_layers(lambda m, it: pad(it), "sent")),
    Mistake("the + 1 is forgotten in the output's x and y", "size",
            change_layers(lambda m, it: it._replace(x=it.x - 1, y=it.y - 1))),
    Mistake("x and y are halved by each layer", "size",
            change_layers(lambda m, it: pad(it._replace(x=it.x // 2, y=it.y // 2)))),
    Mistake("all outputs are as large (x and y) as the network's input", "size",
            change_layers(lambda m, it: pad(it._replace(x=m.network[0].x, y=m.network[0].y)))),
    Mistake("the last output is as large (x and y) as its layer's input", "size",
            change_one("computed", -1, lambda m, it: pad(it))
            | change_one("sent", -1, lambda m, it: pad(it))),
    Mistake("each layer's input is sent, not its output", "size",
            change_layers(lambda m, it: send_input(it), "sent")),
    Mistake("layer 1 has as many input channels as filters", "channels",
            change_one("computed", 0, lambda m, it: it._replace(in_channels=it.filters))),
    Mistake("the input channels are forgotten", "channels",
            change_layers(lambda m, it: it._replace(in_channels=1), "computed")),
    Mistake("layer 1's input channels are forgotten", "channels",
            change_one("computed", 0, lambda m, it: it._replace(in_channels=1))),
    Mistake("the filters are forgotten in the bytes", "channels",
            change_layers(lambda m, it: it._replace(filters=1), "sent")),
    Mistake("an output has as many channels as its layer's input", "channels",
            change_layers(lambda m, it: it._replace(filters=it.in_channels), "sent")),
    Mistake("a filter's height is forgotten", "filter",
            change_layers(lambda m, it: it._replace(fy=1, y=it.out_y), "computed")),
    Mistake("a filter's width and height are forgotten", "filter",
            change_layers(lambda m, it: it._replace(fx=1, fy=1, x=it.out_x, y=it.out_y),
                          "computed")),
    Mistake("the output's x and y are forgotten in the ops", "filter",
            let(ops=lambda m: [2 * it.weights for it in m.computed])),
    Mistake("the filters are forgotten in the ops", "filter",
            change_layers(lambda m, it: it._replace(filters=1), "computed")),
    Mistake("layer 1 is missing", "loop",
            let(computed=lambda m: m.computed[1:] or m.computed,
                sent=lambda m: m.sent[1:] or m.sent)),
    Mistake("the last layer is missing", "loop",
            let(computed=lambda m: m.computed[:-1] or m.computed,
                sent=lambda m: m.sent[:-1] or m.sent)),
    Mistake("1 MAC is 1 op", "ops", let(ops=lambda m: [it.macs for it in m.computed])),
    Mistake("an op is 2 MACs", "ops",
            let(ops=lambda m: [Fraction(it.macs, 2) for it in m.computed])),
    Mistake("each output's bias is an op more", "ops", add_to_ops(1)),
    Mistake("each output's bias is a MAC more", "ops", add_to_ops(2)),
    Mistake("an output of K products has K - 1 additions", "ops", add_to_ops(-1)),
    Mistake("layer 1 is not computed", "loop", change_one("ops", 0, lambda m, it: 0)),
    Mistake("the last layer is not computed", "loop", change_one("ops", -1, lambda m, it: 0)),
    Mistake("layer 1's output is not sent", "loop", change_one("output_bytes", 0, lambda m, it: 0)),
    Mistake("the last but one layer's output is not sent", "loop",
            change_one("output_bytes", -2, lambda m, it: 0)),
    # the machine
    Mistake("GOPS are 2^30 ops/s", "rate", multiply("op_s", 1 / BINARY)),
    Mistake("G is 2^30, in GOPS and in GB/s", "rate",
            multiply("op_s", 1 / BINARY) | multiply("byte_s", 1 / BINARY)),
    Mistake("GOPS are 10^6 ops/s", "rate", multiply("op_s", 1000)),
    Mistake("GOPS are 10^12 ops/s", "rate", multiply("op_s", Fraction(1, 1000))),
    Mistake("all nodes together have the GOPS of one", "rate",
            let(op_s=lambda m: m.nodes * m.op_s)),
    Mistake("computing takes no time", "rate", let(op_s=Fraction(0))),
    Mistake("GB/s are 10^6 bytes/s", "link", multiply("byte_s", 1000)),
    Mistake("GB/s are 2^30 bytes/s", "link", multiply("byte_s", 1 / BINARY), BOTH, GIGA_IS),
    Mistake("GB/s are read as Gbit/s", "link", multiply("byte_s", 8), BOTH, BYTES),
    Mistake("links have twice the bandwidth, or the time is that of elements, not bytes", "link",
            multiply("byte_s", Fraction(1, 2))),
    Mistake("bytes take the time of bits", "link", multiply("byte_s", Fraction(1, 8))),
    Mistake("links have half the bandwidth", "link", multiply("byte_s", 2)),
    Mistake("all links together have the bandwidth of one", "link",
            let(byte_s=lambda m: m.links * m.byte_s)),
    Mistake("a node's links share the bandwidth of one", "link",
            let(byte_s=lambda m: max(1, m.peers) * m.byte_s)),
    Mistake("communication takes no time", "link", let(byte_s=Fraction(0))),
    # tensor parallelism: Exchange(shards over the busiest link, over all links)
    Mistake("the network's input is sent, too", "start",
            let(broadcast=lambda m: Exchange(m.nodes * m.rounds, m.nodes * m.peers)),
            TENSOR, INPUT),
    Mistake("the network's input is sent, too, but takes no time", "start",
            let(broadcast=lambda m: Exchange(0, m.nodes * m.peers)), TENSOR),
    Mistake("whole outputs are sent, not shards", "sent",
            let(all_gather=lambda m: send_whole(m, m.all_gather),
                gather=lambda m: send_whole(m, m.gather)), TENSOR),
    Mistake("a node sends and receives one shard at a time", "sent",
            let(broadcast=lambda m: Exchange(m.broadcast.total, m.broadcast.total),
                all_gather=lambda m: take_turns(m, m.all_gather),
                gather=lambda m: take_turns(m, m.gather)), TENSOR),
    Mistake("a node sends to one node after the other", "sent",
            let(broadcast=lambda m: Exchange(m.broadcast.total, m.broadcast.total),
                all_gather=lambda m: take_turns(m, m.all_gather)), TENSOR),
    Mistake("one node collects each output and sends it to all", "sent",
            let(all_gather=lambda m: Exchange(m.rounds + m.nodes * m.rounds,
                                              m.gather_hops + m.all_gather.total)), TENSOR),
    Mistake("outputs are all-reduced along a ring", "sent",
            let(all_gather=lambda m: Exchange(2 * m.peers, 2 * m.all_gather.total),
                gather=lambda m: m.all_gather), TENSOR),
    Mistake("outputs are all-reduced along a ring, but the last is gathered", "sent",
            let(all_gather=lambda m: Exchange(2 * m.peers, 2 * m.all_gather.total)), TENSOR),
    Mistake("outputs are all-reduced, but the last is gathered", "sent",
            exchange("all_gather", link=2, total=2), TENSOR),
    Mistake("outputs are all-reduced, of the last one each node sends a whole part", "sent",
            exchange("all_gather", link=2, total=2) | let(gather=lambda m: send_whole(m, m.gather)),
            TENSOR),
    Mistake("a link sends or receives, so that all-gathers take twice as long", "sent",
            exchange("all_gather", link=2), TENSOR),
    Mistake("a link's two directions add up, so that all-gathers take half as long", "sent",
            exchange("all_gather", link=Fraction(1, 2)), TENSOR),
    Mistake("each node is sent its part of the weights, once", "weights",
            let(traffic=lambda m: m.traffic
                + m.gather_hops * Fraction(count_weight_bytes(m), m.nodes),
                latency_s=lambda m: m.latency_s
                + m.rounds * Fraction(count_weight_bytes(m), m.nodes) * m.byte_s), TENSOR),
    Mistake("each node is sent its part of the weights, for each input", "weights",
            change_one("traffic_bytes", 0, lambda m, sent: sent
                       + m.gather_hops * Fraction(count_weight_bytes(m), m.nodes))
            | change_one("link_bytes", 0, lambda m, sent: sent
                         + m.rounds * Fraction(count_weight_bytes(m), m.nodes)), TENSOR),
    Mistake("the last output goes to all nodes", "end",
            let(gather=lambda m: Exchange(m.rounds, m.nodes * m.peers)),
            TENSOR, 'the output is "stored in a single node"'),
    Mistake("the last output's shards arrive one after the other", "end",
            let(gather=lambda m: take_turns(m, m.gather)), TENSOR),
    Mistake("the last output is not gathered", "end", exchange("gather", link=0, total=0), TENSOR),
    Mistake("the last gather has the size of its layer's input", "end",
            change_one("shard_bytes", -1, lambda m, it: m.shard_bytes[-2]), TENSOR),
    Mistake("the last gather counts all shards, one's own, too", "end",
            change_one("traffic_bytes", -1, lambda m, sent: sent
                       + (m.shard_bytes[-1] if m.peers else 0)), TENSOR),
    Mistake("the last gather takes no time", "end", exchange("gather", link=0), TENSOR),
    Mistake("the last gather is not counted in traffic", "end",
            exchange("gather", total=0), TENSOR),
    Mistake("the last gather is made once, for all inputs", "inputs",
            let(latency_s=lambda m: m.latency_s - (m.inputs - 1) * m.send_s[-1],
                traffic=lambda m: m.traffic - (m.inputs - 1) * m.traffic_bytes[-1]), TENSOR),
    Mistake("each node sends a whole last output", "end",
            let(gather=lambda m: send_whole(m, m.gather)), TENSOR),
    Mistake("the last but one output is gathered, too, not all-gathered", "end",
            change_one("traffic_bytes", -2, lambda m, sent: m.gather.total * m.shard_bytes[-2]
                       if m.output_bytes[1:] else sent), TENSOR),
    Mistake("two nodes exchange their shards as one", "times",
            exchange("all_gather", total=Fraction(1, 2)), TENSOR),
    Mistake("sending is divided by the nodes twice", "sent",
            let(send_s=lambda m: [it / m.nodes for it in m.send_s]), TENSOR),
    Mistake("sending takes the time of whole outputs, or of one node after the other", "sent",
            let(all_gather=lambda m: Exchange(m.nodes * m.all_gather.link, m.all_gather.total),
                gather=lambda m: Exchange(m.nodes * m.gather.link, m.gather.total)), TENSOR),
    Mistake("all-gathers take no time", "sent", exchange("all_gather", link=0), TENSOR),
    Mistake("only the last output is gathered, nothing is sent between layers", "sent",
            exchange("all_gather", link=0, total=0), TENSOR),
    Mistake("all shards go over one link", "sent",
            let(link_bytes=lambda m: m.traffic_bytes), TENSOR),
    Mistake("the bytes are spread over all links", "sent",
            let(link_bytes=lambda m: [Fraction(it) / m.links for it in m.traffic_bytes]), TENSOR),
    Mistake("a node's links add up to one fast link", "sent",
            let(link_bytes=lambda m: [it / (m.peers if m.rounds == 1 else 1)
                                      for it in m.link_bytes]), TENSOR),
    Mistake("a node's links add up to one fast link, but not in the last gather", "sent",
            let(all_gather=lambda m: Exchange(
                Fraction(m.all_gather.link) / (m.peers if m.rounds == 1 else 1),
                m.all_gather.total)), TENSOR),
    Mistake("communication takes no time", "sent", multiply("send_s", 0), TENSOR),
    Mistake("computing is not divided by the nodes", "divided",
            let(node_ops=lambda m: m.ops), TENSOR),
    Mistake("computing is divided by the nodes twice", "divided",
            let(node_ops=lambda m: [it / m.nodes for it in m.node_ops]), TENSOR),
    Mistake("one node computes layer 1, and sends its whole output to the others", "divided",
            change_one("node_ops", 0, lambda m, _: m.ops[0])
            | change_one("link_bytes", 1, lambda m, link: m.nodes * m.shard_bytes[1]
                         if m.output_bytes[1:] else link), TENSOR),
    Mistake("from layer 2 on, a node uses only its own shard of the input", "divided",
            let(node_ops=lambda m: [m.node_ops[0], *(it / m.nodes for it in m.node_ops[1:])]),
            TENSOR),
    Mistake("a layer takes the longer of computing and sending, not both", "overlap",
            let(first_s=lambda m: m.send_s[0] + sum(map(max, m.compute_s, m.send_s[1:]))), TENSOR),
    Mistake("the next input is computed while this one's outputs are sent", "overlap",
            let(interval_s=lambda m: max(sum(m.compute_s), sum(m.send_s))), TENSOR),
    Mistake("a later input takes the slowest layer's time, as in a pipeline", "overlap",
            let(interval_s=lambda m: max(map(sum, zip(m.compute_s, m.send_s[1:], strict=True)))),
            TENSOR),
    Mistake("traffic counts each output once", "count",
            let(input_traffic=lambda m: sum(m.output_bytes) if m.peers else 0), TENSOR),
    Mistake("traffic counts each shard once", "count",
            let(input_traffic=lambda m: sum(m.output_bytes[:-1]) + m.traffic_bytes[-1]
                if m.peers else 0), TENSOR),
    Mistake("traffic is that of one link", "count", let(input_traffic=lambda m: sum(m.link_bytes)),
            TENSOR),
    Mistake("traffic is what one node sends", "count",
            let(input_traffic=lambda m: Fraction(sum(m.traffic_bytes[:-1])) / m.nodes
                + m.link_bytes[-1]), TENSOR),
    Mistake("traffic counts each output as sent to one node only", "count",
            let(input_traffic=lambda m: m.gather.total * sum(m.shard_bytes[1:])), TENSOR),
    Mistake("traffic also counts a node's own shards, which are not sent", "count",
            let(input_traffic=lambda m: m.input_traffic
                + (sum(m.output_bytes[:-1]) + m.shard_bytes[-1] if m.peers else 0)), TENSOR),
    Mistake("traffic counts a node's own shards in all-gathers", "count",
            let(input_traffic=lambda m: m.input_traffic
                + (sum(m.output_bytes[:-1]) if m.peers else 0)), TENSOR),
    # the pipeline
    Mistake("the network's input is sent, too", "start",
            change_one("traffic_bytes", 0, lambda m, _: m.input_bytes if m.peers else 0),
            PIPELINE, INPUT),
    Mistake("the last output is sent, too", "last",
            change_one("traffic_bytes", -1, lambda m, _: m.output_bytes[-1] if m.peers else 0),
            PIPELINE),
    Mistake("the last output is sent, too, but not counted in traffic", "last",
            change_one("link_bytes", -1, lambda m, _: m.output_bytes[-1] if m.peers else 0),
            PIPELINE),
    Mistake("traffic counts the last output, which is not sent", "last",
            let(input_traffic=lambda m: m.input_traffic + (m.output_bytes[-1] if m.peers else 0)),
            PIPELINE),
    Mistake("the next layer's weights are sent with each output", "weights",
            let(traffic_bytes=lambda m: [*map(sum, zip(
                m.traffic_bytes, [0, *(it.weights * m.element_bytes for it in m.sent[1:]), 0],
                strict=True))]), PIPELINE),
    Mistake("each node but the first is sent its layer's weights, once", "weights",
            let(traffic=lambda m: m.traffic + sum(list_weight_bytes(m)[1:]),
                latency_s=lambda m: m.latency_s
                + max([0, *list_weight_bytes(m)[1:]]) * m.byte_s), PIPELINE),
    Mistake("the next layer's output is sent, not a layer's own", "sent",
            let(traffic_bytes=lambda m: [0, *m.output_bytes[1:], 0]), PIPELINE),
    Mistake("only a shard of each output is sent", "sent",
            let(traffic_bytes=lambda m: [Fraction(it) / m.nodes for it in m.traffic_bytes]),
            PIPELINE),
    Mistake("each output is sent to all other nodes", "count",
            let(input_traffic=lambda m: m.peers * m.input_traffic), PIPELINE),
    Mistake("computing is divided by the nodes", "divided",
            let(node_ops=lambda m: [Fraction(ops) / m.nodes for ops in m.ops]), PIPELINE),
    Mistake("sending is divided by the nodes", "sent",
            let(send_s=lambda m: [it / m.nodes for it in m.send_s]), PIPELINE),
    Mistake("the bytes are spread over all links", "sent",
            let(send_s=lambda m: [it / m.links for it in m.send_s]), PIPELINE),
    Mistake("a node's links add up to one fast link", "sent",
            let(send_s=lambda m: [it / max(1, m.peers) for it in m.send_s]), PIPELINE),
    Mistake("communication takes no time", "sent", multiply("send_s", 0), PIPELINE),
    Mistake("the first input takes the longest stage and the longest transfer", "first",
            let(first_s=lambda m: max(m.compute_s) + max(m.send_s)), PIPELINE),
    Mistake("a stage takes the longer of computing and sending, not both", "first",
            let(first_s=lambda m: m.send_s[0] + sum(map(max, m.compute_s, m.send_s[1:]))),
            PIPELINE),
    Mistake("a node does not compute while it sends", "sending",
            let(interval_s=lambda m: find_busiest([0, *m.compute_s], m.send_s)), PIPELINE, OVERLAP),
    Mistake("a node does not compute while it receives", "sending",
            let(interval_s=lambda m: find_busiest([*m.compute_s, 0], m.send_s)), PIPELINE),
    Mistake("a node does not compute while it receives or sends", "sending",
            let(interval_s=lambda m: find_busiest([0, *m.compute_s, 0], [*m.send_s, 0],
                                                  [0, *m.send_s])), PIPELINE),
    Mistake("a later input takes the last stage's time, not the slowest's", "interval",
            let(interval_s=lambda m: m.compute_s[-1]), PIPELINE),
    Mistake("a later input takes the first stage's time, not the slowest's", "interval",
            let(interval_s=lambda m: m.compute_s[0]), PIPELINE),
    Mistake("a later input takes layer 1's computing and sending", "interval",
            let(interval_s=lambda m: m.compute_s[0] + m.send_s[1]), PIPELINE),
    Mistake("a later input takes the longest computing and the longest transfer", "interval",
            let(interval_s=lambda m: max(m.compute_s) + max(m.send_s)), PIPELINE),
    Mistake("a later input takes the longest transfer", "interval",
            let(interval_s=lambda m: max(m.send_s)), PIPELINE),
    Mistake("a later input takes the average stage's time, not the slowest's", "interval",
            let(interval_s=lambda m: sum(m.compute_s) / len(m.ops)), PIPELINE),
    Mistake("inputs overlap only in sending", "formula",
            of_several(lambda m: m.first_s + (m.inputs - 1) * sum(m.compute_s)), PIPELINE),
    Mistake("inputs do not overlap", "formula", of_several(lambda m: m.inputs * m.first_s),
            PIPELINE, OVERLAP),
    Mistake("all inputs take as long as one", "formula", of_several(lambda m: m.first_s)),
    Mistake("N inputs take N / nodes times as long as one", "formula",
            of_several(lambda m: Fraction(m.inputs, m.nodes) * m.first_s)),
    Mistake("the pipeline is emptied after as many inputs as nodes", "formula",
            of_several(lambda m: m.inputs * m.interval_s
                       + -(-m.inputs // m.nodes) * (m.first_s - m.interval_s)), PIPELINE),
    Mistake("transfers of all inputs are added", "formula",
            of_several(lambda m: sum(m.compute_s) + (m.inputs - 1) * max(m.compute_s)
                       + m.inputs * sum(m.send_s)), PIPELINE),
    Mistake("Q2's latency leaves out sending", "formula",
            of_several(lambda m: sum(m.compute_s) + (m.inputs - 1) * max(m.compute_s)), PIPELINE),
    Mistake("behind the first stage, later inputs take N - 1 times the slowest", "formula",
            of_several(lambda m: m.compute_s[0] + (m.inputs - 1) * m.interval_s), PIPELINE),
    Mistake("N inputs take (N + layers - 1) / layers times as long as one", "formula",
            of_several(lambda m: Fraction(count_slots(m), len(m.ops)) * m.first_s), PIPELINE),
    Mistake("N times the slowest stage is added to the first input, not N - 1 times", "formula",
            of_several(lambda m: m.first_s + m.inputs * m.interval_s), PIPELINE),
    Mistake("N times the slowest stage is added to the first input, not N - 1 times, also for"
            " N = 1", "formula",
            let(latency_s=lambda m: m.first_s + m.inputs * m.interval_s), PIPELINE),
    Mistake("N - 2 times the slowest stage is added to the first input, not N - 1 times", "formula",
            of_several(lambda m: m.first_s + (m.inputs - 2) * m.interval_s), PIPELINE),
    Mistake("N - layers times the slowest stage is added to the first input, not N - 1 times",
            "formula",
            of_several(lambda m: m.first_s + (m.inputs - len(m.ops)) * m.interval_s), PIPELINE),
    Mistake("N inputs take N times the slowest stage", "formula",
            of_several(lambda m: m.inputs * m.interval_s), PIPELINE),
    Mistake("one input takes as long as the slowest stage", "formula",
            let(latency_s=lambda m: m.latency_s if m.inputs > 1 else m.interval_s), PIPELINE),
    Mistake("N inputs take N times the slowest stage, also for N = 1", "formula",
            let(latency_s=lambda m: m.inputs * m.interval_s), PIPELINE),
    Mistake("the time before the last stage is added to N times the slowest stage", "formula",
            of_several(lambda m: m.first_s - m.compute_s[-1] + m.inputs * m.interval_s), PIPELINE),
    Mistake("the times before the last stage and after the first are added to N times the"
            " slowest", "formula",
            of_several(lambda m: 2 * m.first_s - m.compute_s[0] - m.compute_s[-1]
                       + m.inputs * m.interval_s), PIPELINE),
    Mistake("N inputs take (N + layers - 1) times the slowest stage, and the transfers of one",
            "formula",
            of_several(lambda m: count_slots(m) * m.interval_s + sum(m.send_s)), PIPELINE),
    Mistake("N inputs take (N + layers - 1) times the slowest stage", "formula",
            of_several(lambda m: count_slots(m) * m.interval_s), PIPELINE),
    Mistake("N inputs take (N + layers - 1) times the slowest stage, also for N = 1", "formula",
            let(latency_s=lambda m: count_slots(m) * m.interval_s), PIPELINE),
    # what is counted and printed
    Mistake("Q2 is of one input", "many", let(inputs=1)),
    Mistake("Q2 is of N - 1 inputs", "many", let(inputs=lambda m: m.inputs - (m.asked > 1))),
    Mistake("Q2 is of N + 1 inputs", "many", let(inputs=lambda m: m.inputs + (m.asked > 1))),
    Mistake("Q2's latency is per input, not of all", "average",
            let(latency_s=lambda m: m.latency_s / m.inputs)),
    Mistake("traffic is that of one input", "inputs", let(traffic=lambda m: m.input_traffic)),
    Mistake("Q2's traffic has Q1's in it", "inputs",
            let(traffic=lambda m: m.traffic + (m.input_traffic if m.asked > 1 else 0))),
    Mistake("Q2's traffic is that of N - 1 inputs", "inputs",
            let(traffic=lambda m: max(1, m.inputs - 1) * m.input_traffic)),
    Mistake("Q2's traffic is that of N + layers - 1 inputs", "inputs",
            let(traffic=lambda m: (count_slots(m) if m.inputs > 1 else 1) * m.input_traffic),
            PIPELINE),
    Mistake("the weights are sent, too", "weights",
            let(traffic=lambda m: m.traffic + count_weight_bytes(m))),
    Mistake("the weights are sent, too, for each input", "weights",
            let(input_traffic=lambda m: m.input_traffic + count_weight_bytes(m))),
    Mistake("traffic counts elements, not bytes", "times",
            let(traffic=lambda m: Fraction(m.traffic) / m.element_bytes)),
    Mistake("traffic is counted in bits", "times", multiply("traffic", 8)),
    Mistake("traffic is twice that, as if counted when sent and when received", "times",
            multiply("traffic", 2)),
    Mistake("traffic is that of one node on average", "times",
            let(traffic=lambda m: Fraction(m.traffic) / m.nodes)),
    Mistake("latency is 1,000 times that, as if ms were printed as seconds", "latency unit",
            multiply("latency_s", 10**3)),
    Mistake("latency is 1,000,000 times that, as if us were printed as seconds", "latency unit",
            multiply("latency_s", 10**6)),
    Mistake("KB are printed as bytes", "traffic unit", multiply("traffic", Fraction(1, 10**3))),
    Mistake("KiB are printed as bytes", "traffic unit", multiply("traffic", Fraction(1, 2**10))),
    Mistake("MB are printed as bytes", "traffic unit", multiply("traffic", Fraction(1, 10**6))),
    Mistake("MiB are printed as bytes", "traffic unit", multiply("traffic", Fraction(1, 2**20))),
)
# fmt: on


# ------------------------------------------------ multiples


def list_multiples(question: Question) -> list[Mistake]:
    """List multiples and parts of a strategy's latency or traffic, whatever makes them."""
    model = Model("tensor", question.network, question.system)
    factors = {2, 3, 4, 8, 10, 1000, 1024, model.nodes, model.links, question.inputs} - {1}
    named = {"twice": Fraction(2), "half": Fraction(1, 2)}
    named |= {f"{by:,} times": Fraction(by) for by in sorted(factors - {2})}
    named |= {f"1/{by:,} of": Fraction(1, by) for by in sorted(factors - {2})}
    return [
        Mistake(f"{kind} is {words} the right one", MULTIPLE, multiply(name, factor), (strategy,))
        for strategy in BOTH
        for name, kind in (("latency_s", "latency"), ("traffic", "traffic"))
        for words, factor in named.items()
    ]


# ------------------------------------------------ constants typed wrong

FACTORS = [Fraction(2), Fraction(1, 2)]
FACTORS += [factor for by in (3, 4, 10, 12, 1000) for factor in (Fraction(by), Fraction(1, by))]
FIELDS: dict[tuple[str, ...], Callable[..., str]] = {  # of a layer, and how they are told
    ("x", "y"): "an input of {:,} x {:,}".format,
    ("fx", "fy"): "filters of {:,} x {:,}".format,
    ("filters",): lambda filters: count(filters, "filter"),
    ("in_channels",): lambda channels: count(channels, "input channel"),
}
PLACES = {"": ("computed", "sent"), " (in ops only)": ("computed",), " (in bytes only)": ("sent",)}


def list_constants(question: Question) -> list[Mistake]:
    """List constants typed wrong: one less or more, some times or a part, the value of a
    neighbouring row. Layers need not follow from each other, because somebody types each row of
    the handout's table, perhaps once for ops and once for bytes."""
    network, system, inputs = question
    found = {}
    for words, names in PLACES.items():
        for at, layer in enumerate(network):
            for fields, describe in FIELDS.items():
                rows = [layer, *network[max(at - 1, 0) : at + 2]]
                for values in vary(*(tuple(getattr(row, it) for it in fields) for row in rows)):
                    typed = layer._replace(**dict(zip(fields, values, strict=True)))
                    if min(typed.out_x, typed.out_y) > 0:
                        clause = f"layer {at + 1} has {describe(*values)}{words}"
                        found[clause] = put_layer(at, typed, *names)
    for [nodes] in vary((system.nodes,)):
        clause = f"the machine has {count(nodes, 'node')}"
        found[clause] = let(system=system._replace(nodes=nodes))
    for factor in FACTORS:
        ops_per_s, bytes_per_s = factor * system.ops_per_s, factor * system.link_bytes_per_s
        clause = f"a node has {format_number(ops_per_s / GIGA)} GOPS"
        found[clause] = multiply("op_s", 1 / factor)
        clause = f"links have {format_number(bytes_per_s / GIGA)} GB/s"
        found[clause] = multiply("byte_s", 1 / factor)
    for [amount] in vary((inputs,), (16,), (64,)) if inputs > 1 else []:
        found[f"Q2 is of {count(amount, 'input')}"] = let(
            inputs=lambda m, amount=amount: amount if m.asked > 1 else m.inputs
        )
    return [Mistake(clause, CONSTANT, edit) for clause, edit in found.items()]


def vary(values: tuple[int, ...], *others: tuple[int, ...]) -> list[tuple[int, ...]]:
    """List the ints that may be typed instead."""
    found = [tuple(value + by for value in values) for by in (-1, 1)]
    for factor in FACTORS:
        typed = [value * factor for value in values]
        found += [tuple(map(int, typed))] if all(it.denominator == 1 for it in typed) else []
    return [it for it in dict.fromkeys([*found, *others]) if it != values and min(it) > 0]


def put_layer(at: int, typed: ConvLayer, *names: str) -> Edit:
    """Put another layer in a place."""
    edit: Edit = {}
    for name in names:
        edit |= change_one(name, at, lambda m, layer: typed)
    return edit


@lru_cache(maxsize=8)
def list_mistakes(question: Question) -> list[Mistake]:
    """List the table's mistakes, then the constants and the multiples that make other numbers than
    those before them."""
    found: list[Mistake] = []
    known: set[tuple[Any, ...]] = set()
    for mistake in (*MISTAKES, *list_constants(question), *list_multiples(question)):
        made = [(of, *compute(question, of, (mistake,)).values()) for of in mistake.strategies]
        if not mistake.is_alone or tuple(made) not in known:
            found.append(mistake)
        known |= {tuple(made), *((each,) for each in made)}
    return found


# ------------------------------------------------ one mistake at a time


class Example(NamedTuple):
    """What a strategy takes as it is read here, or with a mistake."""

    strategy: str
    clause: str  # empty as it is read here
    is_reading: bool
    latencies_s: list[Rate]  # for one input, and for all
    traffic_bytes: Rate  # for all


def list_examples(question: Question, strategy: str, only_readings: bool = False) -> list[Example]:
    """List what a strategy takes, then what with each mistake of the table, or with each reading,
    that makes a difference, and more than a wrong unit."""
    right = compute(question, strategy)
    made = {"": (False, right)}
    for mistake in MISTAKES:
        is_asked = mistake.handout or not only_readings
        if is_asked and strategy in mistake.strategies and mistake.thing not in PRINTED:
            numbers = compute(question, strategy, [mistake])
            if numbers != right:
                made.setdefault(mistake.clause, (bool(mistake.handout), numbers))
    examples = []
    for clause, (is_reading, numbers) in made.items():
        latencies_s, traffic = [*numbers.values()][::2], [*numbers.values()][1::2]
        examples.append(Example(strategy, clause, is_reading, latencies_s, traffic[-1]))
    return examples
