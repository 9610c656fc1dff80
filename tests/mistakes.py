"""Work out what the changes of report/check/changes.py make of the numbers, in another way than
report/check/model.py does it: tensor parallelism message by message, the pipeline input by input.
"""

from collections import Counter
from fractions import Fraction
from functools import cached_property

BINARY = Fraction(2**30, 10**9)
ONLY_THE_LAST = "only the last output is gathered, nothing is sent between layers"
WHOLE_TIME = "sending takes the time of whole outputs, not shards"
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
LATENCY_UNITS = {"ms are printed as seconds": 10**3, "us are printed as seconds": 10**6}
TRAFFIC_UNITS = {
    "KB are printed as bytes": 10**3,
    "KiB are printed as bytes": 2**10,
    "MB are printed as bytes": 10**6,
    "MiB are printed as bytes": 2**20,
}
ONE_AT_A_TIME = {  # at which end of a message
    "a node sends and receives one shard at a time": ("out of", "into"),
    "a node sends to one node after the other": ("out of",),
}
HELD = {  # until how many stages later a node takes no other input: computed, sent
    "a node does not compute while it sends": (1, 0),
    "a node does not compute while it receives": (0, 1),
    "a node does not compute while it receives or sends": (0, 2),
}


def compute(question, strategy, clauses):
    """Return the numbers of somebody who makes these changes: {("Q1", "latency"): seconds, ...}."""
    somebody, numbers = Somebody(question, clauses), {}
    for name, inputs in somebody.asked.items():
        latency_s, traffic_bytes = getattr(somebody, strategy)(inputs)
        if name == "Q2" and somebody.has("Q2's latency is per input, not of all"):
            latency_s /= inputs
        if not somebody.has("traffic is that of one input"):
            traffic_bytes *= inputs
        if somebody.has("the weights are sent, too"):
            traffic_bytes += somebody.weights
        numbers[name, "latency"] = latency_s * somebody.choose(1, LATENCY_UNITS)
        printed_bytes = somebody.choose(1, TRAFFIC_UNITS)
        numbers[name, "traffic"] = Fraction(traffic_bytes * somebody.times, printed_bytes)
    return numbers


class Somebody:
    """Somebody who understands a question with these changes."""

    def __init__(self, question, clauses):
        network, system, inputs = question
        self.clauses = clauses
        self.nodes, self.is_ring = [*range(system.nodes)], system.topology == "ring"
        self.peers = len(self.nodes) - 1
        self.links = len(self.nodes) * (min(self.peers, 1) if self.is_ring else self.peers)
        self.asked = {"Q1": 1}
        if inputs > 1:
            others = {"Q2 is of one input": 1, "Q2 is of N - 1 inputs": inputs - 1}
            others["Q2 is of N + 1 inputs"] = inputs + 1
            self.asked["Q2"] = self.choose(inputs, others)
        times = {
            "traffic is counted in bits": 8,
            "traffic counts what is sent and what is received": 2,
            "traffic is that of one node on average": Fraction(1, len(self.nodes)),
        }
        self.times = self.choose(1, times)
        self.op_s = 1 / Fraction(system.ops_per_s)
        self.op_s /= self.choose(1, {"GOPS are 2^30 ops/s": BINARY})
        slower = SLOWER_LINKS | {"all links together have the bandwidth of one": self.links or 1}
        self.byte_s = self.choose(1, slower) / Fraction(system.link_bytes_per_s)

        element_bytes = self.choose(network[0].element_bytes, ELEMENT_BYTES)
        self.input = network[0].in_channels * network[0].x * network[0].y * element_bytes
        if self.has("layer 1 is missing") and len(network) > 1:
            network = network[1:]
        if self.has("the last layer is missing") and len(network) > 1:
            network = network[:-1]
        weights = (layer.filters * layer.in_channels * layer.fx * layer.fy for layer in network)
        self.weights = sum(weights) * element_bytes
        last = len(network) - 1
        layers = [self.count(layer, at == 0, at == last) for at, layer in enumerate(network)]
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

    def count(self, layer, is_first, is_last):
        """Return a layer's ops, and how many elements it sends."""
        right, of_input = layer.out_x * layer.out_y, layer.x * layer.y
        one_less = (layer.x - layer.fx) * (layer.y - layer.fy)
        half = (layer.x // 2) * (layer.y // 2)
        sizes = {
            "each output is as large (x and y) as its layer's input": (of_input, of_input),
            "ops are counted with the input's x and y": (of_input, right),
            "outputs are sent with the input's x and y": (right, of_input),
            "the + 1 is forgotten in the output's x and y": (one_less, one_less),
            "x and y are halved by each layer": (half, half),
        }
        if is_last:
            clause = "the last output is as large (x and y) as its layer's input"
            sizes[clause] = (of_input, of_input)
        computed, sent = self.choose((right, right), sizes)
        all_channels = {"the input channels are forgotten": 1}
        if is_first:
            all_channels["layer 1 has as many input channels as filters"] = layer.filters
        channels = self.choose(layer.in_channels, all_channels)
        height = self.choose(layer.fy, {"a filter's height is forgotten": 1})
        products = channels * layer.fx * height
        ops_of_an_output = {
            "1 MAC is 1 op": products,
            "each output's bias is an op more": 2 * products + 1,
            "an output of K products has K - 1 additions": products + (products - 1),
        }
        ops = layer.filters * computed * self.choose(2 * products, ops_of_an_output)
        if self.has("each layer's input is sent, not its output"):
            return ops, layer.in_channels * of_input
        return ops, layer.filters * sent

    # ------------------------------------------------ tensor parallelism
    # A message: its bytes, the node that sends it, the nodes that need it.

    def to_one(self, part):
        return [(part, node, [0]) for node in self.nodes[1:]]

    def to_all(self, part):
        return [(part, node, [end for end in self.nodes if end != node]) for node in self.nodes]

    def to_next(self, part):
        return [(part, node, [(node + 1) % len(self.nodes)]) for node in self.nodes]

    def from_one(self, whole):
        return [(whole, 0, self.nodes[1:])]

    def rounds(self, messages):
        """Yield what is sent at the same time: (bytes, from, to). On a ring, nodes pass it on."""
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

    def exchange(self, messages, one_at_a_time=None):
        """Return the bytes that decide how long it takes, and those that all links carry."""
        if one_at_a_time is None:
            one_at_a_time = self.choose((), ONE_AT_A_TIME)
        busiest = everything = 0
        for sent in self.rounds(messages):
            load = Counter()
            for size, source, destination in sent:
                load["link", source, destination] += size
                load["out of", source] += size * ("out of" in one_at_a_time)
                load["into", destination] += size * ("into" in one_at_a_time)
            busiest += max(load.values(), default=0)
            everything += sum(size for size, _, _ in sent)
        return busiest, everything

    @cached_property
    def sent(self):
        """The exchanges of an input, and the bytes that stay where they are computed."""
        done, own = [], 0
        if self.has("the network's input is sent, too"):
            done.append(self.exchange(self.from_one(self.input)))
        before = len(done)
        for number, output in enumerate(self.outputs, 1):
            is_last = number == len(self.outputs)
            if is_last and self.has("the last output is not gathered"):
                continue
            shard = Fraction(output, len(self.nodes))
            part = output if self.has("whole outputs are sent, not shards") else shard
            if self.has("outputs are all-reduced along a ring"):
                own += output
                done += 2 * self.peers * [self.exchange(self.to_next(shard))]
            elif is_last and not self.has("the last output goes to all nodes"):
                own += part
                if self.has("the last output's shards arrive one after the other"):
                    done.append(self.exchange(self.to_one(shard), ["into"]))
                elif self.has("each node sends a whole last output"):
                    own += output - part
                    done.append(self.exchange(self.to_one(output), []))
                elif self.has("the last gather takes no time"):
                    done.append((0, self.exchange(self.to_one(part))[1]))
                else:
                    done.append(self.exchange(self.to_one(part)))
            elif is_last or not self.has(ONLY_THE_LAST):
                own += part * len(self.nodes)
                if self.has("one node collects each output and sends it to all"):
                    done.append(self.exchange(self.to_one(shard)))
                    done.append(self.exchange(self.from_one(output)))
                else:
                    done.append(self.exchange(self.to_all(part)))
        if self.has(WHOLE_TIME):
            done[before:] = [(len(self.nodes) * busy, sent) for busy, sent in done[before:]]
        return done, own

    def tensor(self, inputs):
        """Return the seconds of these inputs and the bytes of one."""
        done, own = self.sent
        busiest, traffic_bytes = (sum(carried) for carried in zip((0, 0), *done, strict=True))
        others = {
            "all shards go over one link": traffic_bytes,
            "the bytes are spread over all links": Fraction(traffic_bytes, self.links or 1),
        }
        if not self.is_ring:
            others["a node's links work as one"] = Fraction(busiest, self.peers or 1)
        link_bytes = self.choose(busiest, others)
        shards = [Fraction(output, len(self.nodes)) for output in self.outputs]
        gathers = [self.exchange(self.to_one(shard))[1] for shard in shards]
        as_read = [*map(self.to_all, shards[:-1]), self.to_one(shards[-1])]
        counts = {
            "traffic counts each output once": sum(self.outputs),
            "traffic counts each shard once": sum(self.outputs[:-1]) + gathers[-1],
            "traffic is that of one link": link_bytes,
            "traffic is what one node sends": sum(self.exchange(m, ["out of"])[0] for m in as_read),
            "traffic counts gathers to one node only": sum(gathers),
            "traffic also counts a node's own shards, which are not sent": traffic_bytes + own,
        }
        counted = self.choose(traffic_bytes, counts) if self.links else 0
        divisor = {"computing is not divided by the nodes": 1}
        compute_s = sum(self.ops) * self.op_s / self.choose(len(self.nodes), divisor)
        stages = [compute_s + link_bytes * self.byte_s]
        if self.has("the next input is computed while this one's outputs are sent"):
            stages = [compute_s, link_bytes * self.byte_s]
        return finish_inputs(stages, inputs), counted

    # ------------------------------------------------ pipeline parallelism
    def pipeline(self, inputs):
        """Return the seconds of these inputs and the bytes of one."""
        sent, nodes = [0, *self.outputs], len(self.nodes)
        if self.has("the network's input is sent, too") and nodes > 1:
            sent[0] = self.input
        if not self.has("the last output is sent, too") or nodes == 1:
            sent[-1] = 0
        divisor = self.choose(1, {"computing is divided by the nodes": nodes})
        compute = [0, *(ops * self.op_s / divisor for ops in self.ops)]
        send = [each * self.byte_s for each in sent]
        stages = [part for pair in zip(compute, send, strict=True) for part in pair]

        def finish(many):
            return finish_inputs(stages, many, self.choose((0, 0), HELD))

        first, layers = finish(1), len(self.ops)
        others = {
            "a later input takes the last stage's time, not the slowest's": compute[-1],
            "a later input takes the average stage's time, not the slowest's": (
                sum(compute) / layers
            ),
        }
        slowest = self.choose(finish(2) - first, others)
        is_other = others.keys() & {*self.clauses}
        take = (lambda many: first + (many - 1) * slowest) if is_other else finish
        whenever = {
            ONE_MORE: take(inputs + 1),
            BOTTLENECK: inputs * slowest,
            SLOTS: finish_inputs([slowest] * layers, inputs),
        }
        formulas = {f"{clause}, also for N = 1": many for clause, many in whenever.items()}
        if inputs > 1:
            formulas |= whenever | {
                "inputs do not overlap": inputs * first,
                "all inputs take as long as one": first,
                "N inputs take N / nodes times as long as one": inputs * first / nodes,
                BY_LAYERS: (inputs + layers - 1) * first / layers,
            }
        to_others = self.choose(1, {"each output is sent to all other nodes": nodes - 1})
        return self.choose(take(inputs), formulas), to_others * sum(sent)


def finish_inputs(stages, inputs, held=(0, 0)):
    """Return when the last input leaves the last stage. Each stage, by turns of two kinds, takes an
    input once the one before has left it, or left the stage so many further on.
    """
    left = [0] * len(stages)
    for _ in range(inputs):
        arrived = 0
        for number, stage in enumerate(stages):
            until = min(number + held[number % 2], len(stages) - 1)
            left[number] = arrived = max(arrived, left[until]) + stage
    return arrived
