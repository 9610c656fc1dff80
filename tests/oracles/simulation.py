"""An event-driven simulation of both strategies, message by message, which knows no closed form.

Each node is a process of its own: it waits for the messages that it needs, computes, and sends.
Nodes and one-way links serve one job at a time; a message is stored whole on each node of its way
before it goes on. Of lab3.py it knows a layer's and a system's fields, and counts ops and bytes
itself. The clock is exact, because only Fractions are added to it.
"""

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise, permutations

import simpy


class Machine:
    """Nodes numbered from 0 and the one-way links between them, all idle at time 0."""

    def __init__(self, system, ring):
        self.system, self.ring = system, ring
        self.env = simpy.Environment(initial_time=Fraction(0))
        self.numbers = list(range(system.nodes))
        self.nodes = [simpy.Resource(self.env) for _ in self.numbers]
        pairs = pairwise([*self.numbers, 0]) if self.ring else permutations(self.numbers, 2)
        self.links = {(a, b): simpy.Resource(self.env) for a, b in pairs if a != b}
        self.link_bytes = dict.fromkeys(self.links, 0)
        self.arrivals = defaultdict(self.env.event)  # by message and node

    def run(self, processes):
        """Until the last of them ends."""
        return self.env.all_of([self.env.process(process) for process in processes])

    def compute(self, node, layer, filters):
        macs = filters * layer.in_channels * layer.fx * layer.fy * places(layer)
        with self.nodes[node].request() as turn:
            yield turn
            yield self.env.timeout(Fraction(2 * macs) / self.system.ops_per_s)

    def send(self, message, message_bytes, route):
        """From node to node along the route, while its sender goes on."""
        self.env.process(self.deliver(message, message_bytes, route))

    def deliver(self, message, message_bytes, route):
        for link in pairwise(route):
            with self.links[link].request() as turn:
                yield turn
                yield self.env.timeout(Fraction(message_bytes) / self.system.link_bytes_per_s)
            self.link_bytes[link] += message_bytes
            self.arrivals[message, link[1]].succeed()


def places(layer):
    """How many a filter has on the input."""
    return (layer.x - layer.fx + 1) * (layer.y - layer.fy + 1)


def simulate(network, system, strategy, inputs=1, ring=False):
    """(seconds, bytes by link), all-to-all or on a one-way ring."""
    machine = Machine(system, ring)
    work = {"tensor": tensor_parallelism, "pipeline": pipeline_parallelism}[strategy]
    done = machine.env.process(work(machine, network, inputs))
    machine.env.run(until=done)  # not a number: SimPy would make the clock a float
    return machine.env.now, machine.link_bytes


def tensor_parallelism(machine, network, inputs):
    """All nodes work on one input, and start the next when it is done."""
    for number in range(inputs):
        yield machine.run(tensor_node(machine, node, network, number) for node in machine.numbers)


def tensor_node(machine, node, network, number):
    others = [other for other in machine.numbers if other != node]
    around = [*machine.numbers[node:], *machine.numbers[:node]]
    for index, layer in enumerate(network):
        filters = layer.filters // len(machine.numbers)
        yield from machine.compute(node, layer, filters)
        collectors = machine.numbers if index + 1 < len(network) else [0]
        if machine.ring:  # once around, or to node 0
            routes = [around if len(collectors) > 1 else around[: around.index(0) + 1]]
        else:
            routes = [[node, other] for other in others if other in collectors]
        shard_bytes = filters * places(layer) * layer.element_bytes
        for route in routes:
            machine.send((number, index, node), shard_bytes, route)
        if node in collectors:
            shards = [machine.arrivals[(number, index, other), node] for other in others]
            yield machine.env.all_of(shards)


def pipeline_parallelism(machine, network, inputs):
    """Each layer is computed on a node of its own, one input after the other."""
    yield machine.run(pipeline_node(machine, node, network, inputs) for node in range(len(network)))


def pipeline_node(machine, node, network, inputs):
    layer = network[node]
    for number in range(inputs):
        if node > 0:
            yield machine.arrivals[number, node]
        yield from machine.compute(node, layer, layer.filters)
        if node + 1 < len(network):
            output_bytes = layer.filters * places(layer) * layer.element_bytes
            machine.send(number, output_bytes, [node, node + 1])
