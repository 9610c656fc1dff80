"""An event-driven simulation of both strategies, which knows messages and dependencies and no
closed form. Nodes and one-way links are resources that serve one job at a time; a message is stored
whole on each node of its way before it goes on. The clock is exact: only Fractions are added to it.
"""

from fractions import Fraction
from itertools import pairwise

import simpy


class Machine:
    """Nodes numbered from 0 and the one-way links between them, all idle at time 0."""

    def __init__(self, system):
        self.system = system
        self.env = simpy.Environment(initial_time=Fraction(0))
        self.nodes = [simpy.Resource(self.env) for _ in range(system.nodes)]
        self.links = {link: simpy.Resource(self.env) for link in _links(system)}
        self.link_bytes = dict.fromkeys(self.links, 0)

    def run(self, process):
        """The time at which the process ends."""
        # Not until a number: SimPy would make the clock a float.
        self.env.run(until=self.env.process(process))
        return self.env.now

    def compute(self, node, ops):
        with self.nodes[node].request() as turn:
            yield turn
            yield self.env.timeout(Fraction(ops) / self.system.ops_per_s)

    def send(self, link, message_bytes):
        with self.links[link].request() as turn:
            yield turn
            yield self.env.timeout(Fraction(message_bytes) / self.system.link_bytes_per_s)
        self.link_bytes[link] += message_bytes

    def deliver(self, route, message_bytes):
        """From node to node along the route."""
        for link in pairwise(route):
            yield from self.send(link, message_bytes)

    def all(self, processes):
        return self.env.all_of([self.env.process(process) for process in processes])


def _links(system):
    nodes = range(system.nodes)
    if system.topology == "ring":
        return [(node, (node + 1) % system.nodes) for node in nodes if system.nodes > 1]
    return [(source, target) for source in nodes for target in nodes if source != target]


def _ops(layer, filters):
    places = (layer.x - layer.fx + 1) * (layer.y - layer.fy + 1)
    return 2 * filters * layer.in_channels * layer.fx * layer.fy * places


def _output_bytes(layer, filters):
    return filters * (layer.x - layer.fx + 1) * (layer.y - layer.fy + 1) * layer.element_bytes


def tensor_parallel(network, system, inputs):
    """(seconds, bytes by link)."""
    machine = Machine(system)
    nodes = range(system.nodes)
    collector = 0

    def routes_to_all(source):
        if system.topology == "ring":  # once around, each node keeping a copy
            return [[(source + hop) % system.nodes for hop in nodes]]
        return [[source, target] for target in nodes if target != source]

    def routes_to_collector(source):
        if source == collector:
            return []
        if system.topology == "ring":
            return [[*range(source, system.nodes), collector]]
        return [[source, collector]]

    def process():
        for _ in range(inputs):
            for number, layer in enumerate(network, 1):
                filters = layer.filters // system.nodes
                yield machine.all(machine.compute(node, _ops(layer, filters)) for node in nodes)
                routes_of = routes_to_all if number < len(network) else routes_to_collector
                shard_bytes = _output_bytes(layer, filters)
                routes = [route for node in nodes for route in routes_of(node)]
                yield machine.all(machine.deliver(route, shard_bytes) for route in routes)

    return machine.run(process()), machine.link_bytes


def pipeline_parallel(network, system, inputs):
    """(seconds, bytes by link)."""
    machine = Machine(system)
    arrived = [simpy.Store(machine.env) for _ in network]  # inputs that wait at each node
    arrived[0].items.extend(range(inputs))

    def forward(node, layer):
        yield from machine.send((node, node + 1), _output_bytes(layer, layer.filters))
        yield arrived[node + 1].put(None)

    def work(node, layer):
        for _ in range(inputs):
            yield arrived[node].get()
            yield from machine.compute(node, _ops(layer, layer.filters))
            if node + 1 < len(network):  # the link sends while the node goes on
                machine.env.process(forward(node, layer))

    def process():
        yield machine.all(work(node, layer) for node, layer in enumerate(network))

    return machine.run(process()), machine.link_bytes
