"""Networks, systems and plans for Hypothesis to draw."""

from fractions import Fraction

from hypothesis import strategies as st

from lab3 import NETWORK, ConvLayer, System
from report.question import Question

RATES = st.builds(Fraction, st.integers(1, 10**9), st.integers(1, 10**6))
TOPOLOGIES = st.sampled_from(["all-to-all", "ring"])


@st.composite
def chains(draw, multiples):
    """Layers that chain, not square; the filters of each are a multiple of the one given for it."""
    sizes = st.integers(1, 4)
    x, y = draw(sizes), draw(sizes)  # of the last output
    filters = [draw(sizes) * multiple for multiple in multiples]
    in_channels = [draw(sizes), *filters[:-1]]
    element_bytes = draw(sizes)
    network = []
    for layer in reversed(range(len(filters))):
        fx, fy = draw(sizes), draw(sizes)
        x, y = x + fx - 1, y + fy - 1
        network.append(ConvLayer(filters[layer], in_channels[layer], fx, fy, x, y, element_bytes))
    return tuple(reversed(network))


@st.composite
def networks(draw, layers, filters_of=1):
    """As many layers or fewer, the filters of each a multiple of filters_of."""
    return draw(chains([filters_of] * draw(st.integers(1, layers))))


@st.composite
def systems(draw, min_nodes=1, max_nodes=8, topologies=TOPOLOGIES):
    ops_per_s = draw(RATES)
    ops_a_byte = st.sampled_from([10, 1_000, 100_000])  # from fast to slow links
    return System(
        nodes=draw(st.integers(min_nodes, max_nodes)),
        ops_per_s=ops_per_s,
        link_bytes_per_s=draw(RATES | ops_a_byte.map(lambda ops: ops_per_s / ops)),
        sram_bytes=draw(st.integers(1, 10**6)),
        topology=draw(topologies),
    )


@st.composite
def pipeline_parallel_cases(draw, layers=6):
    network = draw(networks(layers))
    return network, draw(systems(min_nodes=len(network), max_nodes=12))


@st.composite
def cases_of_both(draw, layers=6):
    system = draw(systems(max_nodes=12))
    return draw(networks(min(layers, system.nodes), filters_of=system.nodes)), system


@st.composite
def plan_cases(draw):
    """Draw network, system, plan; the plan as (layers, nodes) of each group.

    A ring knows one group on all nodes and groups of one node; all-to-all, nodes may be left over.
    """
    shape = draw(st.sampled_from(["one group", "groups of one node", "any groups"]))
    plan = {
        "one group": st.tuples(st.tuples(st.integers(1, 4), st.integers(1, 12))),
        "groups of one node": st.lists(
            st.tuples(st.integers(1, 3), st.just(1)), min_size=1, max_size=10
        ),
        "any groups": st.lists(
            st.tuples(st.integers(1, 3), st.integers(1, 4)), min_size=2, max_size=4
        ),
    }[shape]
    plan = tuple(draw(plan))
    network = draw(chains([nodes for layers, nodes in plan for _ in range(layers)]))

    used = sum(nodes for _, nodes in plan)
    on_a_ring = shape != "any groups" and draw(st.booleans())
    system = draw(systems(used, used + 3, st.just("ring" if on_a_ring else "all-to-all")))
    if on_a_ring and shape == "one group":
        system = system._replace(nodes=used)
    return network, system, plan


@st.composite
def questions(draw, is_lab, topology):
    """Of which one strategy is possible or both: the lab's network or small ones, from 1 input to a
    billion, on machines of all kinds, down to links so slow that sends decide."""
    system = draw(systems(max_nodes=8, topologies=st.just(topology)))
    if is_lab:
        nodes, sram_bytes = draw(st.sampled_from([1, 2, 4, 5, 8])), draw(st.integers(10**5, 10**7))
        network, system = NETWORK, system._replace(nodes=nodes, sram_bytes=sram_bytes)
    elif draw(st.booleans()):
        network = draw(networks(5, filters_of=system.nodes))
    else:
        network = draw(networks(min(5, system.nodes)))
    return Question(network, system, draw(st.sampled_from([1, 2, 3, 32, 10**9])))
