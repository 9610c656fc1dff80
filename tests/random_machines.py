"""Networks, systems and questions for Hypothesis to choose."""

from fractions import Fraction

from hypothesis import strategies as st

from lab3 import ConvLayer, System
from machines import NETWORK
from report.question import Question

RATES = st.builds(Fraction, st.integers(1, 10**9), st.integers(1, 10**6))


@st.composite
def networks(draw, layers, filters_of=1):
    """As many layers or fewer, not square, the filters of each a multiple of filters_of."""
    sizes = st.integers(1, 4)
    x, y, element_bytes = draw(sizes), draw(sizes), draw(sizes)  # of the last output
    filters = [filters_of * draw(sizes) for _ in range(draw(st.integers(1, layers)))]
    in_channels = [draw(sizes), *filters[:-1]]
    network = []
    for layer in reversed(range(len(filters))):
        fx, fy = draw(sizes), draw(sizes)
        x, y = x + fx - 1, y + fy - 1
        network.append(ConvLayer(filters[layer], in_channels[layer], fx, fy, x, y, element_bytes))
    return tuple(reversed(network))


@st.composite
def systems(draw):
    """Of any rates, from fast links to such slow ones that sends decide."""
    ops_per_s = draw(RATES)
    slow = st.sampled_from([10, 1_000, 100_000]).map(lambda ops_per_byte: ops_per_s / ops_per_byte)
    nodes, sram_bytes = draw(st.integers(1, 12)), draw(st.integers(1, 10**6))
    return System(nodes, ops_per_s, draw(RATES | slow), sram_bytes)


@st.composite
def cases_of_both(draw):
    system = draw(systems())
    return draw(networks(min(6, system.nodes), filters_of=system.nodes)), system


@st.composite
def questions(draw):
    """Of which one strategy is possible or both: the lab's network or small ones."""
    system = draw(systems())
    if draw(st.booleans()):
        nodes, sram_bytes = draw(st.sampled_from([1, 2, 4, 5, 8])), draw(st.integers(10**5, 10**7))
        network, system = NETWORK, system._replace(nodes=nodes, sram_bytes=sram_bytes)
    else:
        limits = st.sampled_from([(5, system.nodes), (min(5, system.nodes), 1)])
        network = draw(networks(*draw(limits)))
    return Question(network, system, draw(st.sampled_from([1, 2, 3, 32, 10**6])))
