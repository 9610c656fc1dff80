"""Row streaming with tensor parallelism on a one-way ring, which report/ does not model: event by
event. The deck's figures of it are held here.

Every node computes its share of each row, layer after layer, input after input, a row once all
shares of all input rows that it needs are there. A share then travels from node to node, each of
which keeps a copy, over P - 1 links, of the last layer's rows only as far as the gathering node. A
link carries one share at a time, first come, first served; if a node's own share and one to be
passed on come at once, the own one goes first. SRAM is ample.

Which share comes first depends on times, so there is no closed form to compare with. But on a ring
of two nodes nothing is passed on, and report/streaming.py computes that. Shared with lab3 are the
sizes of a layer (ConvLayer).
"""

from collections import Counter, deque
from fractions import Fraction
from heapq import heappop, heappush
from itertools import product
from math import lcm

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab3
from lab3 import NETWORK, RING, SYSTEM, ConvLayer, System
from machines import networks, systems
from report.deck import facts
from report.steps import tensor_parallel_stages
from report.streaming import compute_bound, streamed_latency

MB = 10**6
COMPUTED, ARRIVED = 0, 1  # what an event is; at the same time nodes come before links


def simulate(network, system, inputs=1):
    """(seconds until node 0 has gathered every output, bytes over all links)."""
    nodes = range(system.nodes)
    sizes = shares(network, system)
    rows_s = [  # to compute a share, and to send it
        (Fraction(ops) / system.ops_per_s, Fraction(sent) / system.link_bytes_per_s)
        for ops, sent in sizes
    ]
    ticks_per_s = lcm(*(time_s.denominator for row_s in rows_s for time_s in row_s))
    ticks = [[int(time_s * ticks_per_s) for time_s in row_s] for row_s in rows_s]  # exact

    order = [
        (number, at, row)
        for number, (at, layer) in product(range(inputs), enumerate(network))
        for row in range(layer.out_y)
    ]
    to_compute = [deque(order) for _ in nodes]
    to_send = [deque() for _ in nodes]  # on the link to the next node
    here = [Counter() for _ in nodes]  # how many shares of each row
    is_computing, is_sending = [False for _ in nodes], [False for _ in nodes]
    traffic_bytes, now, events = 0, 0, []

    def can_start(node):
        number, at, row = to_compute[node][0]
        needed = [(number, at - 1, row + below) for below in range(network[at].fy)]
        return not at or all(here[node][it] == system.nodes for it in needed)

    while True:
        for node in nodes:
            if to_compute[node] and not is_computing[node] and can_start(node):
                share = to_compute[node].popleft()
                is_computing[node] = True
                heappush(events, (now + ticks[share[1]][0], COMPUTED, node, share, node))
            if to_send[node] and not is_sending[node]:
                share, source = to_send[node].popleft()
                is_sending[node] = True
                traffic_bytes += sizes[share[1]][1]
                heappush(events, (now + ticks[share[1]][1], ARRIVED, node, share, source))
        if not events:
            return Fraction(now, ticks_per_s), traffic_bytes
        now = events[0][0]
        while events and events[0][0] == now:
            _, what, node, share, source = heappop(events)
            (is_computing if what == COMPUTED else is_sending)[node] = False
            place = node if what == COMPUTED else (node + 1) % system.nodes
            here[place][share] += 1
            is_last = share[1] == len(network) - 1
            end = 0 if is_last else (source - 1) % system.nodes
            if place != end:
                to_send[place].append((share, source))


def shares(network, system):
    """Of each layer the operations and the bytes of a node's share of a row."""
    return [
        (
            layer.ops // layer.out_y // system.nodes,
            layer.output_bytes // layer.out_y // system.nodes,
        )
        for layer in network
    ]


# ------------------------------------------------ by pencil, and where more is known


def test_three_nodes_two_rows():
    # At 2 ops/s and 1 byte/s a share of layer 1 takes 1 s, of layer 2 3 s, on a link 1 s. Every
    # node computes layer 1's rows 0-1, 1-2; its link carries its own row 0 1-2, then at 2 its own
    # row 1 before the row 0 that it passes on, 2-3, 3-4, then the other row 1 4-5. So layer 2's row
    # 0 starts at 4, row 1 at 7. Node 1's share of the last row reaches node 0 over two links at 12.
    network = (ConvLayer(3, 1, 1, 1, 1, 2, 1), ConvLayer(3, 3, 1, 1, 1, 2, 1))
    # 2 rows * 3 shares * 2 links, then 2 rows over one link and over two
    assert simulate(network, System(3, 2, 1, topology=RING)) == (12, 12 + 6)


def cases(least, most):
    """A network and a ring of so many nodes."""
    rings = systems(least, most, st.just(RING))
    return rings.flatmap(lambda it: st.tuples(networks(3, filters_of=it.nodes), st.just(it)))


@given(cases(1, 2), st.integers(1, 4))
def test_up_to_two_nodes_it_is_what_report_computes(case, inputs):
    assert simulate(*case, inputs)[0] == streamed_latency("tensor", *case, inputs)


@given(cases(2, 5), st.integers(1, 3))
def test_a_ring_moves_the_models_bytes_and_takes_no_less_than_its_bounds(case, inputs):
    latency_s, traffic_bytes = simulate(*case, inputs)
    assert traffic_bytes == lab3.tensor_parallel_traffic(*case, inputs)
    [steps] = tensor_parallel_stages(*case)
    link_bytes = inputs * sum(step.link_bytes for step in steps)  # of the one to the gathering node
    assert latency_s > max(compute_bound(*case, inputs), link_bytes / case[1].link_bytes_per_s)


# ------------------------------------------------ the lab, and what the deck says of it


def lab(mb_per_s):
    """Seconds of 32 inputs: tensor parallelism, pipeline parallelism."""
    system = SYSTEM._replace(topology=RING, link_bytes_per_s=mb_per_s * MB)
    tensor_s, _ = simulate(NETWORK, system, 32)
    return tensor_s, streamed_latency("pipeline", NETWORK, system, 32)


def test_the_lab_is_three_shares_of_a_row_above_the_lower_bound():
    # 32 * 3.03330816 ms, and the last row's three shares of 147,456 / 24 / 4 bytes one by one
    by_hand_s = Fraction("0.09706586112") + 3 * Fraction(1536, 2 * 10**9)
    assert lab(2000)[0] == facts.RING_STREAMED_S == by_hand_s


@pytest.mark.parametrize(
    ("mb_per_s", "tensor_ms", "pipeline_ms"), [(121, "149.08", "148.58"), (122, "147.86", "148.58")]
)
def test_the_lab_on_slow_links(mb_per_s, tensor_ms, pipeline_ms):
    found_ms = [1000 * seconds for seconds in lab(mb_per_s)]
    assert [f"{float(it):.2f}" for it in found_ms] == [tensor_ms, pipeline_ms]


def test_the_pipeline_is_faster_on_links_as_slow_as_the_deck_says():
    most_mb = facts.RING_STREAMED_MB
    rates = {1, 20, most_mb, most_mb + 1, 300, 2000}
    faster = {it for it in rates for tensor_s, pipeline_s in [lab(it)] if pipeline_s < tensor_s}
    assert faster == {it for it in rates if it <= most_mb}
