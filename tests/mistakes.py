"""Numbers with mistakes in them, worked out in a way that report/check/readings.py does not know:
tensor parallelism message by message, the pipeline input by input.
"""

from fractions import Fraction
from functools import cache

from report.question import LAB

GIGA = Fraction(2**30, 10**9)

# Changes by thing: those of one thing exclude each other.
OF_BOTH = (
    ("an element is 1 byte (INT8)", "an element is 4 bytes (FP32)"),
    ("1 MAC is 1 op", "the GOPS are shared by all nodes"),
    ("GOPS are 2^30 ops/s",),
    (
        "GB/s are 2^30 bytes/s",
        "GB/s are Gbit/s",
        "links have half the bandwidth",
        "communication takes no time",
    ),
    (
        "each output is as large (x and y) as its layer's input",
        "ops are counted with the input's x and y",
    ),
    ("layer 1 has as many input channels as filters",),
    ("traffic is counted in bits",),
    ("traffic is that of one input",),
    ("Q2 is of N - 1 inputs",),
    ("the network's input is sent, too",),
)
OF_TENSOR = (
    ("the last output goes to all nodes", "the last output is not gathered"),
    (
        "whole outputs are sent, not shards",
        "all shards go over one link",
        "a node sends and receives one shard at a time",
        "a node sends to one node after the other",
        "one node collects each output and sends it to all",
        "the bytes are spread over all links",
    ),
    ("computing is not divided by the nodes",),
    (
        "traffic counts each output once",
        "traffic is that of one link",
        "traffic counts gathers to one node only",
        "traffic also counts a node's own shards, which are not sent",
    ),
)
OF_PIPELINE = (
    ("the last output is sent, too",),
    ("computing is divided by the nodes",),
    ("a node does not compute while it sends", "a node does not compute while it receives"),
    (
        "the last stage is the slowest",
        "inputs do not overlap",
        "N inputs take N / P times as long as one",
        "N times the slowest stage is added to the first input, not N - 1 times",
        "N inputs take N times the slowest stage",
        "N inputs take N times the slowest stage, also for N = 1",
        "N inputs take N + L - 1 times the slowest stage",
        "N inputs take N + L - 1 times the slowest stage, also for N = 1",
    ),
)
# Computing divided by the nodes is one thing: nobody divides it in the pipeline alone.
EXCLUDED = [*OF_BOTH, *OF_TENSOR, *OF_PIPELINE]
EXCLUDED.append(("computing is not divided by the nodes", "computing is divided by the nodes"))
THINGS = {"both": OF_BOTH, "tensor": OF_TENSOR, "pipeline": OF_PIPELINE}


class Mistaken:
    """A question as somebody reads it, with changes by their names in report/check/changes.py."""

    def __init__(self, changes, question):
        def has(*parts):
            return any(part in name for part in parts for name in changes)

        network, self.system, self.inputs = question
        self.has, self.nodes = has, [*range(self.system.nodes)]
        self.is_ring = self.system.topology == "ring"
        element = network[0].element_bytes
        element = 1 if has("INT8") else 2 if has("FP16") else 4 if has("FP32") else element
        self.op_s = 1 / Fraction(self.system.ops_per_s) / (GIGA if has("GOPS are 2") else 1)
        self.op_s *= len(self.nodes) if has("GOPS are shared") else 1
        self.byte_s = 1 / Fraction(self.system.link_bytes_per_s)
        self.byte_s *= 8 if has("Gbit") else 2 if has("half") else 0 if has("no time") else 1
        self.byte_s /= GIGA if has("GB/s are 2^30") else 1
        self.ops, self.outputs = [], []
        self.input = network[0].in_channels * network[0].x * network[0].y * element
        channels = network[0].filters if has("layer 1 has") else network[0].in_channels
        for layer in network:
            out = (layer.x - layer.fx + 1) * (layer.y - layer.fy + 1)
            computed = layer.x * layer.y if has("as large", "input's x and y") else out
            sent = layer.x * layer.y if has("as large") else out
            macs = layer.filters * channels * layer.fx * layer.fy * computed
            self.ops.append(macs * (1 if has("1 MAC") else 2))
            self.outputs.append(layer.filters * sent * element)
            channels = layer.filters

    # What nodes exchange: rounds of messages {(source, destination): bytes}, one round after the
    # other. On a ring a node reaches only the next one, the last one node 0.

    def to_all_from_all(self, part):
        if self.is_ring:
            return [{(a, (a + 1) % len(self.nodes)): part for a in self.nodes}] * self.nodes[-1]
        return [{(a, b): part for a in self.nodes for b in self.nodes if a != b}]

    def to_one(self, part):
        last = self.nodes[-1]
        if self.is_ring:  # at first each node but node 0 has a part to hand on, then one fewer
            ring = [*self.nodes, 0]
            return [{(a, ring[a + 1]): part for a in range(n, last + 1)} for n in self.nodes[1:]]
        return [{(a, 0): part for a in self.nodes[1:]}]

    def to_all_from_one(self, whole):
        if self.is_ring:
            return [{(a - 1, a): whole} for a in self.nodes[1:]]
        return [{(0, a): whole for a in self.nodes[1:]}]

    def tensor(self, inputs):
        """Seconds and bytes."""
        has, last, kept, inputs = self.has, len(self.outputs) - 1, 0, self.taken(inputs)
        compute_s = sum(self.ops) * self.op_s
        if not has("not divided"):
            compute_s /= len(self.nodes)
        if len(self.nodes) == 1:
            return inputs * compute_s, 0
        rounds = self.to_all_from_one(self.input) if has("network's input") else []
        for number, output in enumerate(self.outputs):
            part = output if has("whole outputs") else output // len(self.nodes)
            if number == last and not has("goes to all nodes"):
                if not has("not gathered"):
                    rounds += self.to_one(part)
                    kept += part
                continue
            kept += part * len(self.nodes)
            if has("collects"):
                rounds += self.to_one(part) + self.to_all_from_one(output)
            else:
                rounds += self.to_all_from_all(part)
        carried = sum(map(self.busiest, rounds))
        traffic = sum(sum(each.values()) for each in rounds)
        if has("each output once"):
            traffic = sum(self.outputs)
        elif has("that of one link"):
            traffic = carried
        elif has("gathers to one"):
            shards = (output // len(self.nodes) for output in self.outputs)
            traffic = sum(sum(each.values()) for it in shards for each in self.to_one(it))
        elif has("own shards"):
            traffic += kept
        return inputs * (compute_s + carried * self.byte_s), self.counted(traffic, inputs)

    def busiest(self, messages):
        """What the busiest link carries of a round."""
        has, everything = self.has, sum(messages.values())
        if has("over one link"):
            return everything
        if has("spread over"):
            return Fraction(everything, len(self.nodes) * (1 if self.is_ring else self.nodes[-1]))
        if has("one shard at a time", "one node after the other"):
            ends_that_wait = (0, 1) if has("one shard") else (0,)
            return max(
                sum(sent for ends, sent in messages.items() if ends[end] == node)
                for node in self.nodes
                for end in ends_that_wait
            )
        return max(messages.values())

    def pipeline(self, inputs):
        """Seconds and bytes; a stage is what holds an input while another may be elsewhere."""
        has, sent, inputs = self.has, [*self.outputs], self.taken(inputs)
        if not has("the last output is sent") or len(self.nodes) == 1:
            sent[-1] = 0
        divisor = len(self.nodes) if has("computing is divided") else 1
        compute = [ops * self.op_s / divisor for ops in self.ops]
        send = [each * self.byte_s for each in sent]
        first = 0
        if has("network's input") and len(self.nodes) > 1:
            first = self.input * self.byte_s
            sent.append(self.input)
        if has("while it sends"):
            stages = [first, *(a + b for a, b in zip(compute, send, strict=True))]
        elif has("while it receives"):
            received = [first, *send[:-1]]
            stages = [*(a + b for a, b in zip(received, compute, strict=True)), send[-1]]
        else:
            stages = [first, *(part for both in zip(compute, send, strict=True) for part in both)]
        seconds = finished(stages, inputs)
        slowest = finished(stages, 2) - finished(stages, 1)
        is_read_so = inputs > 1 or has("also for N = 1")
        if has("last stage"):
            seconds = finished(stages, 1) + finished(compute[-1:], inputs - 1)
        elif has("do not overlap"):
            seconds = inputs * finished(stages, 1)
        elif has("N / P") and is_read_so:
            seconds = Fraction(inputs, len(self.nodes)) * finished(stages, 1)
        elif has("not N - 1 times") and is_read_so:
            seconds = finished(stages, inputs + 1)
        elif has("N times the slowest") and is_read_so:
            seconds = inputs * slowest
        elif has("N + L - 1 times") and is_read_so:
            seconds = finished([slowest] * len(compute), inputs)
        return seconds, self.counted(sum(sent), inputs)

    def taken(self, inputs):
        """How many inputs there are instead."""
        return inputs - 1 if inputs == self.inputs > 1 and self.has("N - 1 inputs") else inputs

    def counted(self, traffic, inputs):
        traffic *= 8 if self.has("in bits") else 1
        return traffic if self.has("that of one input") else inputs * traffic


def finished(stages, inputs):
    """When the last input has left the last stage, each of which holds one input at a time."""
    free, arrived = [0] * len(stages), 0
    for _ in range(inputs):
        arrived = 0
        for number, stage in enumerate(stages):
            free[number] = arrived = max(arrived, free[number]) + stage
    return arrived


@cache
def numbers(changes=frozenset(), question=LAB):
    """By line: "Q1 tensor latency" in seconds, "Q2 pipeline traffic" in bytes, ..."""
    it, found = Mistaken(changes, question), {}
    for name, inputs in (("Q1", 1), ("Q2", question.inputs)):
        for strategy in ("tensor", "pipeline"):
            latency, traffic = getattr(it, strategy)(inputs)
            found[f"{name} {strategy} latency"] = latency
            found[f"{name} {strategy} traffic"] = traffic
    return found
