"""Two inputs in turn: the closed form against an event simulation of nodes, links and messages.

The simulation knows only the order in which a node works: a layer of one input, the same layer of
the other, the next layer of the one. A layer waits for all shards of the layer before, a link
carries one message at a time, and on a ring a message is stored on each node of its way.
"""

from fractions import Fraction
from itertools import pairwise, product

import pytest
import simpy
from hypothesis import given
from hypothesis import strategies as st

from lab3 import NETWORK, RING, SYSTEM
from machines import networks, systems
from report.readings import two_in_turn_latency


def simulate(network, system, inputs):
    """Seconds until the last shard is on node 0 and every node is done; inputs are even."""
    env = simpy.Environment(initial_time=Fraction(0))  # only Fractions are added
    nodes = range(system.nodes)
    links = {(a, b): simpy.Resource(env) for a in nodes for b in nodes if a != b}
    arrived = {}  # by node, input, layer: an event for each shard from another node

    def message(way, size, this, number):
        """From node to node, each keeping a copy."""
        for link in pairwise(way):
            with links[link].request() as turn:
                yield turn
                yield env.timeout(Fraction(size) / system.link_bytes_per_s)
            arrived[this, number, link[1], way[0]].succeed()

    def ways(me, is_last):
        """To all others, after the last layer to node 0."""
        if system.topology == RING:
            around = [(me + step) % system.nodes for step in nodes]
            return [around[: around.index(0) + 1] if is_last else around]
        return [[me, it] for it in ([0] if is_last else nodes) if it != me]

    def node(me):
        for first in range(0, inputs, 2):
            for number, layer in enumerate(network):
                for this in (first, first + 1):
                    if number:
                        others = (peer for peer in nodes if peer != me)
                        yield env.all_of([arrived[this, number - 1, me, it] for it in others])
                    places = (layer.x - layer.fx + 1) * (layer.y - layer.fy + 1)
                    filters = layer.filters // system.nodes
                    ops = 2 * filters * layer.in_channels * layer.fx * layer.fy * places
                    yield env.timeout(Fraction(ops) / system.ops_per_s)
                    size = filters * places * layer.element_bytes
                    is_last = number == len(network) - 1
                    for way in ways(me, is_last):
                        env.process(message(way, size, this, number))

    for key in product(range(inputs), range(len(network)), nodes, nodes):
        arrived[key] = env.event()
    gathered = [
        arrived[this, len(network) - 1, 0, it] for this in range(inputs) for it in nodes[1:]
    ]
    processes = [env.process(node(me)) for me in nodes]
    env.run(until=env.all_of([*processes, *gathered]))
    return env.now


@pytest.mark.parametrize("topology", ["all-to-all", "ring"])
@pytest.mark.parametrize("inputs", [2, 32])
def test_the_lab(topology, inputs):
    # Layer 1 computes for 31.104 us; its shards of 57,600 bytes take 28.8 us, three in turn longer.
    links = {"all-to-all": 1, "ring": 3}[topology]
    system = SYSTEM._replace(topology=topology, link_bytes_per_s=links * SYSTEM.link_bytes_per_s)
    # 3.03330816 ms for each, and the last output's shards of 36,864 bytes
    expected_s = (inputs * Fraction("3.03330816") + Fraction("0.018432")) / 1000
    assert simulate(NETWORK, system, inputs) == expected_s
    assert two_in_turn_latency(NETWORK, system, inputs) == expected_s


@st.composite
def cases(draw):
    """A network and a machine of few nodes, for which the simulation is quick."""
    system = draw(systems(max_nodes=6))
    return draw(networks(3, filters_of=system.nodes)), system


def slowest_links(network, system):
    """The bytes/s from which on every transfer takes no longer than the computation beside it."""
    ops = [layer.ops // system.nodes for layer in network]
    turns = system.nodes - 1 if system.topology == RING else 1
    sizes = [turns * layer.output_bytes // system.nodes for layer in network]
    neighbours = zip(sizes, ops, [*ops[1:], ops[0]], strict=True)
    return max(Fraction(size) / min(these) * system.ops_per_s for size, *these in neighbours)


@given(
    cases(),
    st.integers(1, 3),
    st.sampled_from([Fraction(1), Fraction(8, 7), Fraction(50)]),
)
def test_drawn_machines(case, pairs, faster):
    network, system = case
    fast = slowest_links(network, system) * faster
    if system.nodes > 1:
        system = system._replace(link_bytes_per_s=fast)
    expected_s = two_in_turn_latency(network, system, 2 * pairs)
    assert expected_s is not None
    assert simulate(network, system, 2 * pairs) == expected_s
    assert two_in_turn_latency(network, system, 2 * pairs - 1) is None


@given(cases())
def test_on_slower_links_there_is_no_closed_form(case):
    network, system = case
    if system.nodes == 1:
        return
    slower = system._replace(link_bytes_per_s=slowest_links(network, system) * Fraction(999, 1000))
    assert two_in_turn_latency(network, slower, 2) is None
