"""What the changes of report/check/changes.py make of the numbers, worked out in another way than
report/check/model.py does it: tensor parallelism message by message, the pipeline input by input.
"""

from collections import Counter
from fractions import Fraction
from functools import cached_property
from operator import add

BINARY = Fraction(2**30, 10**9)
ONLY_THE_LAST = "only the last output is gathered, nothing is sent between layers"
BOTTLENECK = "N inputs take N times the slowest stage"
SLOTS = "N inputs take (N + layers - 1) times the slowest stage"
BY_LAYERS = "N inputs take (N + layers - 1) / layers times as long as one"
ONE_MORE = "N times the slowest stage is added to the first input, not N - 1 times"
ELEMENT_BYTES = {
    "an element is 1 byte (INT8)": 1,
    "an element is 2 bytes (FP16)": 2,
    "an element is 4 bytes (FP32)": 4,
    "an element is 16 bytes": 16,
}
SLOWER_LINKS = {
    "GB/s are 2^30 bytes/s": 1 / BINARY,
    "GB/s are Gbit/s": 8,
    "links have half the bandwidth": 2,
    "communication takes no time": 0,
}


def compute(question, strategy, clauses):
    """The numbers of somebody who makes these changes: {("Q1", "latency"): seconds, ...}."""
    somebody, numbers = Somebody(question, clauses), {}
    for name, inputs in somebody.asked.items():
        latency_s, traffic_bytes = getattr(somebody, strategy)(inputs)
        if name == "Q2" and somebody.has("Q2's latency is the average per input"):
            latency_s /= inputs
        numbers[name, "latency"] = latency_s
        numbers[name, "traffic"] = traffic_bytes * somebody.scale
        if not somebody.has("traffic is that of one input"):
            numbers[name, "traffic"] *= inputs
    return numbers


class Somebody:
    """Who understands a question with these changes."""

    def __init__(self, question, clauses):
        network, system, inputs = question
        self.clauses = clauses
        self.nodes, self.is_ring = [*range(system.nodes)], system.topology == "ring"
        peers = len(self.nodes) - 1
        self.links = len(self.nodes) * (min(peers, 1) if self.is_ring else peers)
        self.asked = {"Q1": 1}
        if inputs > 1:
            others = {"Q2 is of one input": 1, "Q2 is of N - 1 inputs": inputs - 1}
            others["Q2 is of N + 1 inputs"] = inputs + 1
            self.asked["Q2"] = self.choose(inputs, others)
        scales = {
            "traffic is counted in bits": 8,
            "traffic counts what is sent and what is received": 2,
            "traffic is that of one node on average": Fraction(1, len(self.nodes)),
            "traffic is that of one link on average": Fraction(1, self.links or 1),
        }
        self.scale = self.choose(1, scales)
        self.op_s = 1 / Fraction(system.ops_per_s)
        self.op_s *= self.choose(1, {"the GOPS are shared by all nodes": system.nodes})
        self.op_s /= self.choose(1, {"GOPS are 2^30 ops/s": BINARY})
        self.byte_s = self.choose(1, SLOWER_LINKS) / Fraction(system.link_bytes_per_s)

        element_bytes = self.choose(network[0].element_bytes, ELEMENT_BYTES)
        self.input = network[0].in_channels * network[0].x * network[0].y * element_bytes
        layers = [self.count(layer, number == 1) for number, layer in enumerate(network, 1)]
        self.ops = [ops for ops, _ in layers]
        self.outputs = [elements * element_bytes for _, elements in layers]
        if self.has("layer 1 is not computed"):
            self.ops[0] = 0
        if self.has("the last layer is not computed"):
            self.ops[-1] = 0
        if self.has("layer 1's output is not sent"):
            self.outputs[0] = 0
        if self.has("the last but one layer's output is not sent") and len(network) > 1:
            self.outputs[-2] = 0

    def has(self, clause):
        return clause in self.clauses

    def choose(self, right, by_clause):
        return next((value for clause, value in by_clause.items() if self.has(clause)), right)

    def count(self, layer, is_first):
        """A layer's ops, and how many elements it sends."""
        right, of_input = layer.out_x * layer.out_y, layer.x * layer.y
        one_less = (layer.x - layer.fx) * (layer.y - layer.fy)
        sizes = {
            "each output is as large (x and y) as its layer's input": (of_input, of_input),
            "ops are counted with the input's x and y": (of_input, right),
            "outputs are sent with the input's x and y": (right, of_input),
            "the + 1 is forgotten in the output's x and y": (one_less, one_less),
        }
        computed, sent = self.choose((right, right), sizes)
        channels = layer.in_channels
        if is_first and self.has("layer 1 has as many input channels as filters"):
            channels = layer.filters
        ops_of_a_mac = self.choose(2, {"1 MAC is 1 op": 1, "1 MAC is 4 ops": 4})
        ops_of_a_bias = self.choose(0, {"each output's bias is an op more": 1})
        ops = computed * (channels * layer.fx * layer.fy * ops_of_a_mac + ops_of_a_bias)
        if self.has("each layer's input is sent, not its output"):
            return layer.filters * ops, layer.in_channels * of_input
        return layer.filters * ops, layer.filters * sent

    # ------------------------------------------------ tensor parallelism
    # A message: its bytes, the node that sends it, the nodes that need it.

    def to_one(self, part):
        return [(part, node, [0]) for node in self.nodes[1:]]

    def to_all(self, part):
        return [(part, node, [end for end in self.nodes if end != node]) for node in self.nodes]

    def from_one(self, whole):
        return [(whole, 0, self.nodes[1:])]

    def rounds(self, messages):
        """What is sent at the same time: (bytes, from, to). On a ring nodes pass messages on."""
        if not self.is_ring:
            yield [(size, node, end) for size, node, ends in messages for end in ends]
            return
        number = len(self.nodes)
        for hop in range(number - 1):
            yield [
                (size, (node + hop) % number, (node + hop + 1) % number)
                for size, node, ends in messages
                if any((end - node) % number > hop for end in ends)
            ]

    def exchange(self, messages, in_turn=False):
        """What decides how long it takes, and what all links carry."""
        waits = self.has("a node sends and receives one shard at a time")
        waits_to_send = waits or self.has("a node sends to one node after the other")
        busiest = everything = 0
        for sent in self.rounds(messages):
            load = Counter()
            for size, source, destination in sent:
                load["link", source, destination] += size
                load["out of", source] += size * waits_to_send
                load["into", destination] += size * (waits or in_turn)
            busiest += max(load.values(), default=0)
            everything += sum(size for size, _, _ in sent)
        if self.has("all shards go over one link"):
            busiest = everything
        elif self.has("the bytes are spread over all links"):
            busiest = Fraction(everything, self.links or 1)
        return busiest, everything

    @cached_property
    def sent(self):
        """The exchanges of an input, and the bytes that stay where they are computed."""
        is_whole = self.has("whole outputs are sent, not shards")
        goes_to_all = self.has("the last output goes to all nodes")
        done, own = [], 0
        if self.has("the network's input is sent, too"):
            done.append(self.exchange(self.from_one(self.input)))
        for number, output in enumerate(self.outputs, 1):
            is_last, shard = number == len(self.outputs), Fraction(output, len(self.nodes))
            part = output if is_whole else shard
            if is_last and not goes_to_all:
                if not self.has("the last output is not gathered"):
                    in_turn = self.has("the last output's shards arrive one after the other")
                    done.append(self.exchange(self.to_one(shard if in_turn else part), in_turn))
                    own += part
            elif is_last or not self.has(ONLY_THE_LAST):
                own += part * len(self.nodes)
                if self.has("one node collects each output and sends it to all"):
                    done.append(self.exchange(self.to_one(shard)))
                    done.append(self.exchange(self.from_one(output)))
                else:
                    done.append(self.exchange(self.to_all(part)))
        return done, own

    def tensor(self, inputs):
        """Seconds of these inputs, bytes of one."""
        done, own = self.sent
        link_bytes, traffic_bytes = (sum(carried) for carried in zip((0, 0), *done, strict=True))
        shards = [Fraction(output, len(self.nodes)) for output in self.outputs]
        gathers = [self.exchange(self.to_one(shard))[1] for shard in shards]
        counts = {
            "traffic counts each output once": sum(self.outputs),
            "traffic counts each shard once": sum(self.outputs[:-1]) + gathers[-1],
            "traffic is that of one link": link_bytes,
            "traffic counts gathers to one node only": sum(gathers),
            "traffic also counts a node's own shards, which are not sent": traffic_bytes + own,
        }
        divisors = {
            "computing is not divided by the nodes": 1,
            "computing is multiplied by the nodes, not divided": Fraction(1, len(self.nodes)),
        }
        compute_s = sum(self.ops) * self.op_s / self.choose(len(self.nodes), divisors)
        counted = self.choose(traffic_bytes, counts) if self.links else 0
        return inputs * (compute_s + link_bytes * self.byte_s), counted

    # ------------------------------------------------ pipeline parallelism
    def pipeline(self, inputs):
        """Seconds of these inputs, bytes of one."""
        sent, nodes = [0, *self.outputs], len(self.nodes)
        if self.has("the network's input is sent, too") and nodes > 1:
            sent[0] = self.input
        if not self.has("the last output is sent, too") or nodes == 1:
            sent[-1] = 0
        divisor = self.choose(1, {"computing is divided by the nodes": nodes})
        compute = [0, *(ops * self.op_s / divisor for ops in self.ops)]
        send = [each * self.byte_s for each in sent]
        stages = [part for pair in zip(compute, send, strict=True) for part in pair]
        if self.has("a node does not compute while it sends"):
            stages = [*map(add, compute, send)]
        elif self.has("a node does not compute while it receives"):
            stages = [*map(add, [*compute, 0], [0, *send])]

        def finish(many):
            return finish_inputs(stages, many)

        first = finish(1)
        slowest, layers = finish(2) - first, len(self.ops)
        slots = finish_inputs([slowest] * layers, inputs)
        formulas = {
            "the last stage is the slowest": first + (inputs - 1) * compute[-1],
            f"{BOTTLENECK}, also for N = 1": inputs * slowest,
            f"{SLOTS}, also for N = 1": slots,
        }
        if inputs > 1:
            formulas |= {
                "inputs do not overlap": inputs * first,
                "all inputs take as long as one": first,
                "N inputs take N / nodes times as long as one": inputs * first / nodes,
                BY_LAYERS: (inputs + layers - 1) * first / layers,
                ONE_MORE: finish(inputs + 1),
                BOTTLENECK: inputs * slowest,
                SLOTS: slots,
            }
        to_others = self.choose(1, {"each output is sent to all other nodes": nodes - 1})
        return self.choose(finish(inputs), formulas), to_others * sum(sent)


def finish_inputs(stages, inputs):
    """When the last input leaves the last stage, each of which holds one input at a time."""
    left = [0] * len(stages)
    for _ in range(inputs):
        arrived = 0
        for number, stage in enumerate(stages):
            left[number] = arrived = max(arrived, left[number]) + stage
    return arrived
