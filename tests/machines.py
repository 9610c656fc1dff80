"""Networks and systems for Hypothesis to draw."""

from fractions import Fraction

from hypothesis import strategies as st

from lab3 import ConvLayer, System

RATES = st.builds(Fraction, st.integers(1, 10**9), st.integers(1, 10**6))


@st.composite
def networks(draw, layers, filters_of=1):
    """Layers that chain, not square, the filters of each a multiple of filters_of."""
    depth = draw(st.integers(1, layers))
    sizes = st.integers(1, 4)
    x, y = draw(sizes), draw(sizes)  # of the last output
    filters = [draw(sizes) * filters_of for _ in range(depth)]
    in_channels = [draw(sizes), *filters[:-1]]
    element_bytes = draw(sizes)
    network = []
    for layer in reversed(range(depth)):
        fx, fy = draw(sizes), draw(sizes)
        x, y = x + fx - 1, y + fy - 1
        network.append(ConvLayer(filters[layer], in_channels[layer], fx, fy, x, y, element_bytes))
    return tuple(reversed(network))


@st.composite
def systems(draw, min_nodes=1):
    return System(
        nodes=draw(st.integers(min_nodes, 8)),
        ops_per_s=draw(RATES),
        link_bytes_per_s=draw(RATES),
        sram_bytes=draw(st.integers(1, 10**6)),
        topology=draw(st.sampled_from(["all-to-all", "ring"])),
    )


@st.composite
def tensor_parallel_cases(draw, layers=6):
    system = draw(systems())
    return draw(networks(layers, filters_of=system.nodes)), system


@st.composite
def pipeline_parallel_cases(draw, layers=6):
    network = draw(networks(layers))
    return network, draw(systems(min_nodes=len(network)))


@st.composite
def cases_of_both(draw, layers=6):
    system = draw(systems())
    return draw(networks(min(layers, system.nodes), filters_of=system.nodes)), system
