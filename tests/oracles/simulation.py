"""An event-driven simulation of any plan, which knows messages and dependencies and no closed form.

A plan is (layers, nodes) of each group: tensor parallelism is one group on all nodes, pipeline
parallelism one layer and one node a group. Nodes and one-way links are resources that serve one job
at a time; a message is stored whole on each node of its way before it goes on. The clock is exact:
only Fractions are added to it.
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
        self.handed_on = {link: simpy.Store(self.env) for link in self.links}  # to the next group

    def run(self, processes):
        """The time at which the last of the processes ends."""
        # Not until a number: SimPy would make the clock a float.
        self.env.run(until=self.all(processes))
        return self.env.now

    def all(self, processes):
        return self.env.all_of([self.env.process(process) for process in processes])

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

    def hand_on(self, link, message_bytes):
        """To a node of the next group, which waits for it."""
        yield from self.send(link, message_bytes)
        yield self.handed_on[link].put(None)


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


def _routes_to_all(nodes, topology):
    if topology == "ring":  # once around, each node keeping a copy
        return [[*nodes[first:], *nodes[:first]] for first in range(len(nodes))]
    return [[source, target] for source in nodes for target in nodes if source != target]


def _routes_to_first(nodes, topology):
    if topology == "ring":
        return [[*nodes[source:], nodes[0]] for source in range(1, len(nodes))]
    return [[source, nodes[0]] for source in nodes[1:]]


def simulate(network, system, plan, inputs=1):
    """(seconds, bytes by link)."""
    machine = Machine(system)
    topology = system.topology

    def exchange(routes, shard_bytes):
        return machine.all(machine.deliver(route, shard_bytes) for route in routes)

    def work(layers, before, nodes, after):
        """What a group on these nodes does, between the nodes of the groups beside it."""
        for _ in range(inputs):
            links_in = [(source, node) for source in before for node in nodes]
            yield machine.env.all_of([machine.handed_on[link].get() for link in links_in])
            for left, layer in zip(reversed(range(len(layers))), layers, strict=True):
                filters = layer.filters // len(nodes)
                yield machine.all(machine.compute(node, _ops(layer, filters)) for node in nodes)
                shard_bytes = _output_bytes(layer, filters)
                if left:
                    yield exchange(_routes_to_all(nodes, topology), shard_bytes)
            if not after:
                yield exchange(_routes_to_first(nodes, topology), shard_bytes)
            for link in [(node, target) for node in nodes for target in after]:
                machine.env.process(machine.hand_on(link, shard_bytes))  # while the group goes on

    groups, idle_layers, idle_nodes = [], list(network), list(range(system.nodes))
    for layers, nodes in plan:
        groups.append((idle_layers[:layers], idle_nodes[:nodes]))
        del idle_layers[:layers], idle_nodes[:nodes]
    assert not idle_layers
    places = [[], *(nodes for _, nodes in groups), []]
    return machine.run(
        work(layers, places[number], nodes, places[number + 2])
        for number, (layers, nodes) in enumerate(groups)
    ), machine.link_bytes
