"""The lab's numbers with mistakes in them, worked out in a way that report/ knows nothing of, from
the handout's sizes: tensor parallelism message by message, the pipeline input by input.
"""

from fractions import Fraction
from functools import cache

GIGA = Fraction(2**30, 10**9)
NODES, OPS_PER_S, LINK_BYTES_PER_S = 4, 50 * 10**9, 2 * 10**9
LINKS = 12
SIDES = (30, 28, 26, 24)  # of outputs: 128 filters of 3 x 3, on 3 and then on 128 channels

# Changes by thing: those of one thing exclude each other.
OF_BOTH = (
    ("an element is 1 byte (INT8)", "an element is 4 bytes (FP32)"),
    ("1 MAC is 1 op",),
    ("GOPS are 2^30 ops/s",),
    ("GB/s are 2^30 bytes/s", "GB/s are Gbit/s", "nothing takes time on links"),
    ("outputs keep the input's x and y (padding)",),
    ("layer 1 has as many input channels as filters",),
    ("the bytes are spread over all links",),
    ("traffic is counted in bits",),
    ("traffic is not multiplied by N",),
)
OF_TENSOR = (
    ("inputs start on one node",),
    ("the output ends on every node", "the output is not gathered"),
    (
        "whole outputs are sent, not shards",
        "all shards go over one link",
        "nodes have one link out, one in",
        "one node collects each output and sends it to all",
    ),
    ("traffic counts each output once", "traffic is that of one link"),
)
OF_PIPELINE = (
    ("the last output is sent, too",),
    (
        "inputs do not overlap",
        "a node that sends does not compute",
        "a node that sends or receives does not compute",
        "N inputs take N / P times as long as one",
    ),
    (
        "nodes take as long as the slowest",
        "only the longest stage counts",
        "every stage takes as long as the longest",
        "the other layers' computing is left out",
    ),
    ("N further intervals follow, not N - 1",),
)
EXCLUDING = (  # besides
    {*OF_TENSOR[2], "the bytes are spread over all links"},
    {*OF_TENSOR[3], "traffic is counted in bits"},
)


class Mistaken:
    """The lab as somebody reads it, with changes by their names in report/readings.py."""

    def __init__(self, changes):
        def has(*parts):
            return any(part in name for part in parts for name in changes)

        self.has = has
        self.element_bytes = 1 if has("INT8") else 4 if has("FP32") else 2
        self.op_s = Fraction(1, OPS_PER_S) / (GIGA if has("GOPS") else 1)
        self.byte_s = Fraction(1, LINK_BYTES_PER_S)
        self.byte_s *= 8 if has("Gbit") else 0 if has("nothing takes") else 1
        self.byte_s /= GIGA if has("GB/s are 2^30") else 1
        self.ops, self.outputs = [], []
        first_channels = 128 if has("layer 1 has") else 3
        for side, channels in zip(SIDES, (first_channels, 128, 128, 128), strict=True):
            places = 32 * 32 if has("padding") else side * side
            self.ops.append(128 * channels * 9 * places * (1 if has("1 MAC") else 2))
            self.outputs.append(128 * places * self.element_bytes)

    def tensor(self, inputs):
        """Seconds and bytes; an exchange is {(source, destination): bytes}."""
        has, peers = self.has, range(1, NODES)
        exchanges = []
        if has("inputs start"):
            exchanges.append({(0, to): 3 * 32 * 32 * self.element_bytes for to in peers})
        for number, output in enumerate(self.outputs, 1):
            part = output if has("whole outputs") else output // NODES
            to_one = {(node, 0): part for node in peers}
            to_all = {(a, b): part for a in range(NODES) for b in range(NODES) if a != b}
            if number == NODES and not has("ends on every node"):
                exchanges += [] if has("not gathered") else [to_one]
            elif has("collects"):
                exchanges += [to_one, {(0, to): output for to in peers}]
            else:
                exchanges.append(to_all)
        link_bytes = sum(map(self._busiest, exchanges))
        traffic = sum(sum(each.values()) for each in exchanges)
        seconds = Fraction(sum(self.ops), NODES) * self.op_s + link_bytes * self.byte_s
        if has("each output once"):
            traffic = sum(self.outputs)
        elif has("that of one link"):
            traffic = link_bytes
        return inputs * seconds, self._counted(traffic, inputs)

    def _busiest(self, messages):
        has = self.has
        if has("over one link"):
            return sum(messages.values())
        if has("spread over"):
            return Fraction(sum(messages.values()), LINKS)
        if has("one link out"):
            ends = [
                sum(sent for (a, b), sent in messages.items() if node == (a, b)[end])
                for node in range(NODES)
                for end in (0, 1)
            ]
            return max(ends)
        return max(messages.values())

    def pipeline(self, inputs):
        """Seconds and bytes; a stage is what holds an input while another may be elsewhere."""
        has, sent = self.has, [*self.outputs]
        if not has("the last output is sent"):
            sent[-1] = 0
        ops = [max(self.ops)] * 4 if has("the slowest") else self.ops
        byte_s = self.byte_s / LINKS if has("spread over") else self.byte_s
        compute = [each * self.op_s for each in ops]
        send = [each * byte_s for each in sent]
        if has("sends or receives"):
            stages = [a + b + c for a, b, c in zip([0, *send[:-1]], compute, send, strict=True)]
        elif has("that sends does not"):
            stages = [a + b for a, b in zip(compute, send, strict=True)]
        else:
            stages = [*compute, *(send if sent[-1] else send[:-1])]
        interval = finished(stages, 2) - finished(stages, 1)
        first = sum(compute) + sum(send)
        if has("only the longest"):
            first = interval
        elif has("every stage"):
            first = len(stages) * interval
        elif has("left out"):
            first = max(compute) + sum(send)
        if has("do not overlap"):
            interval = first
        if has("N / P") and inputs > 1:
            seconds = Fraction(inputs, NODES) * first
        else:
            seconds = first + (inputs - 1 + (has("further intervals") and inputs > 1)) * interval
        return seconds, self._counted(sum(sent), inputs)

    def _counted(self, traffic, inputs):
        traffic *= 8 if self.has("in bits") else 1
        return traffic if self.has("not multiplied") else inputs * traffic


def finished(stages, inputs):
    """When the last input has left the last stage, each of which holds one input at a time."""
    free = [0] * len(stages)
    for _ in range(inputs):
        arrived = 0
        for number, stage in enumerate(stages):
            free[number] = arrived = max(arrived, free[number]) + stage
    return arrived


@cache
def numbers(changes=frozenset()):
    """By line: "Q1 tensor latency" in seconds, "Q2 pipeline traffic" in bytes, ..."""
    it, found = Mistaken(changes), {}
    for question, inputs in (("Q1", 1), ("Q2", 32)):
        for strategy in ("tensor", "pipeline"):
            latency, traffic = getattr(it, strategy)(inputs)
            found[f"{question} {strategy} latency"] = latency
            found[f"{question} {strategy} traffic"] = traffic
    return found
