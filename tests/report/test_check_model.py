"""report/check/model.py: the closed forms with changes, against design figures worked out by hand
and against tests/mistakes.py, which sends each message and passes each input on.
"""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab3
import mistakes
from lab3 import ConvLayer, System
from report.check.changes import CHANGES
from report.check.model import compute
from report.question import LAB, Question

STRATEGIES = ("tensor", "pipeline")
LAB_RING = LAB._replace(system=LAB.system._replace(topology="ring"))
LAYERS = (  # not square, of 4 bytes an element, the last output the largest
    ConvLayer(12, 5, 2, 3, 11, 9, 4),
    ConvLayer(6, 12, 1, 2, 10, 7, 4),
    ConvLayer(18, 6, 3, 1, 10, 6, 4),
)
SLOW_LINKS = System(6, 3 * 10**6, 10**5, 1000, "ring")  # a send takes longer than a computation
OTHER = Question(LAYERS, SLOW_LINKS, 5)
BALANCED = Question(LAYERS, System(3, 3 * 10**6, Fraction(10**6, 3), 1000), 2)  # nearly as long
ONE_NODE = Question(LAYERS[:1], System(1, 10**6, 10**5, 1000), 3)
MACHINES = {
    "lab": LAB,
    "ring": LAB_RING,
    "other": OTHER,
    "balanced": BALANCED,
    "one node": ONE_NODE,
}
OF = {of: [change for change in CHANGES if of in change.strategies] for of in STRATEGIES}

# ------------------------------------------------ by hand
# Per strategy: ms of 1 input, ms of 32, bytes of 1 (x32: of 32); = as without a change.
HAND = """
                               | 3.12726016 100.07232512 1923072 | 12.43531264 155.7861376 604160
an element is 1 byte (INT8)    | 3.08028416 98.56909312 961536   | 12.28427264 155.6350976 302080
an element is 16 bytes         | 3.78492416 121.11757312 15384576| 14.54987264 157.9006976 4833280
1 MAC is 1 op                  | 1.61060608 51.53939456 =        | 6.36869632 78.0441088 =
each output's bias is an op more | 3.1291392 100.1324544 =       | 12.4428288 155.855872 =
GOPS are 2^30 ops/s            | 2.91894037 93.40609169 =        | 11.60203346 145.10789284 =
GB/s are 2^30 bytes/s          | 3.12080778 99.86584891 =        | 12.41456656 155.76539152 =
the GOPS are shared by all nodes | 12.22718464 391.26990848 =    | 48.83501056 622.2383104 =
communication takes no time    | 3.03330816 97.06586112 =        | 12.13323264 155.4840576 =
each output is as large (x and y) as its layer's input | 3.62363904 115.95644928 2209536 \
                                                       | 14.40802816 178.96892416 693248
outputs are sent with the input's x and y | 3.14159616 100.53107712 2209536 \
                                          | 12.47985664 155.8306816 693248
the + 1 is forgotten in the output's x and y | 2.89282944 92.57054208 1787328 \
                                             | 11.50360576 144.79793152 561920
each layer's input is sent, not its output   | 3.10959616 99.50707712 1441536 \
                                             | 12.35185664 155.7026816 437248
layer 1 has as many input channels as filters | 4.42326016 141.54432512 = \
                                              | 17.61931264 182.18020864 =
the last layer is not computed | 2.2779136 72.8932352 =          | 9.0379264 152.38875136 =
layer 1's output is not sent   | 3.09846016 99.15072512 1231872  | 12.32011264 155.6709376 373760
traffic is that of one node on average | = = 480768            | = = 151040
Q2 is of N + 1 inputs          | = 103.19958528 x32:63461376   | = 160.41035776 x32:19937280
Q2's latency is the average per input | = 3.12726016 =         | = 4.8683168 =
the network's input is sent, too | 3.13033216 100.17062912 1941504 | 12.43838464 155.7892096 610304
the last output goes to all nodes                   | = = 2254848 |
the last output's shards arrive one after the other | 3.16412416 101.25197312 = |
the last output is not gathered                     | 3.10882816 99.48250112 1812480 |
the last output is sent, too                        | | 12.50904064 155.8598656 751616
whole outputs are sent, not shards                  | 3.40911616 109.09171712 7692288 |
all shards go over one link                         | 3.99484416 127.83501312 = |
a node sends and receives one shard at a time       | 3.31516416 106.08525312 = |
a node sends to one node after the other            | 3.27830016 104.90560512 = |
one node collects each output and sends it to all   | 3.42934016 109.73888512 2376192 |
the bytes are spread over all links                 | 3.11343616 99.62995712 = |
only the last output is gathered, nothing is sent between layers \
                                                    | 3.05174016 97.65568512 110592 |
computing is not divided by the nodes               | 12.22718464 391.26990848 = |
computing is multiplied by the nodes, not divided   | 48.62688256 1556.06024192 = |
traffic counts each output once                     | = = 751616 |
traffic counts each shard once                      | = = 714752 |
traffic is that of one link                         | = = 187904 |
traffic counts gathers to one node only             | = = 563712 |
traffic also counts a node's own shards, which are not sent | = = 2564096 |
each output is sent to all other nodes              | | = = 1812480
computing is divided by the nodes                   | | 3.33538816 39.1730944 =
a node does not compute while it sends              | | = 158.8970496 =
a node does not compute while it receives           | | = 159.3573376 =
the last stage is the slowest                       | | = 117.75428608 =
inputs do not overlap                               | | = 397.93000448 =
all inputs take as long as one                      | | = 12.43531264 =
N inputs take N / nodes times as long as one        | | = 99.48250112 =
N inputs take (N + layers - 1) / layers times as long as one | | = 108.8089856 =
N times the slowest stage is added to the first input, not N - 1 times | | = 160.41035776 =
N inputs take N times the slowest stage, also for N = 1 | | 4.62422016 147.97504512 =
N inputs take (N + layers - 1) times the slowest stage  | | = 161.8477056 =
the network's input is sent, too & whole outputs are sent, not shards \
    | 3.41218816 109.19002112 7710720 |
the network's input is sent, too & one node collects each output and sends it to all \
    | 3.43241216 109.83718912 2394624 |
the network's input is sent, too & all shards go over one link | 4.00406016 128.12992512 1941504 |
the last output goes to all nodes & one node collects each output and sends it to all \
    | 3.50306816 112.09818112 2818560 |
N inputs take N times the slowest stage & a node does not compute while it sends \
    | | = 151.18630912 =
N inputs take (N + layers - 1) times the slowest stage & a node does not compute while it sends \
    | | = 165.3600256 =
"""
ON_THE_RING = """
                                                  | 3.31516416 106.08525312 2033664 |
whole outputs are sent, not shards                | 4.16073216 133.14342912 8134656 |
one node collects each output and sends it to all | 4.22140416 135.08493312 2939904 |
all shards go over one link                       | 4.05014016 129.60448512 = |
the bytes are spread over all links               | 3.28751616 105.20051712 = |
the network's input is sent, too                  | 3.32438016 106.38016512 2052096 |
traffic is that of one link                       | = = 563712 |
traffic counts gathers to one node only           | = = 1127424 |
traffic also counts a node's own shards, which are not sent | = = 2674688 |
"""


def by_hand(question, table):
    for row in table.replace("\\\n", "").strip("\n").splitlines():
        clauses, *cells = row.split("|")
        clauses = tuple(filter(None, map(str.strip, clauses.split(" & "))))
        for strategy, cell in zip(STRATEGIES, cells, strict=True):
            if cell.strip():
                yield question, strategy, clauses, cell.split()


@pytest.mark.parametrize(
    ("question", "strategy", "clauses", "cells"),
    [*by_hand(LAB, HAND), *by_hand(LAB_RING, ON_THE_RING)],
)
def test_the_figures_by_hand(question, strategy, clauses, cells):
    found, plain = (compute(question, strategy, these) for these in (clauses, ()))
    one_ms, all_ms, traffic = cells
    for key, ms in [(("Q1", "latency"), one_ms), (("Q2", "latency"), all_ms)]:
        right = plain[key] * 1000 if ms == "=" else Fraction(ms)
        assert round(found[key] * 1000, 8) == right
    name, _, number = traffic.rpartition(":")
    if number == "=":
        assert all(found[asked, "traffic"] == plain[asked, "traffic"] for asked in ("Q1", "Q2"))
    else:
        assert found["Q2" if name else "Q1", "traffic"] == int(number)
        assert name or found["Q2", "traffic"] == 32 * int(number)


# ------------------------------------------------ another way


def assert_equal(question, strategy, changes):
    clauses = tuple(change.clause for change in changes)
    expected = mistakes.compute(question, strategy, clauses)
    assert compute(question, strategy, clauses) == expected, (strategy, clauses)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("question", MACHINES.values(), ids=MACHINES)
def test_each_change_on_each_machine(question, strategy):
    for change in OF[strategy]:
        assert_equal(question, strategy, [change])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_all_pairs_of_changes(strategy):
    for one, other in combinations(OF[strategy], 2):
        if one.thing != other.thing:
            assert_equal(OTHER, strategy, [one, other])


@st.composite
def questions(draw):
    """From fast links to slow ones; few inputs and layers, where formulas have their edges."""
    nodes = draw(st.sampled_from([1, 2, 3, 6]))
    layers = LAYERS[: draw(st.integers(1, min(nodes, 3)))]
    topology = draw(st.sampled_from(["all-to-all", "ring"]))
    system = System(nodes, 3 * 10**6, draw(st.integers(10**4, 10**7)), 1000, topology)
    return Question(layers, system, draw(st.integers(1, 5)))


@given(questions(), st.data())
def test_three_changes_on_any_machine(question, data):
    for strategy in STRATEGIES:
        changes = data.draw(st.lists(st.sampled_from(OF[strategy]), max_size=3))
        assert_equal(question, strategy, {change.thing: change for change in changes}.values())


@pytest.mark.parametrize("question", MACHINES.values(), ids=MACHINES)
def test_without_a_change_they_are_lab3s(question):
    for strategy in STRATEGIES:
        found = compute(question, strategy, ())
        for name, inputs in [("Q1", 1), ("Q2", question.inputs)]:
            for kind in ("latency", "traffic"):
                of_lab3 = getattr(lab3, f"{strategy}_parallel_{kind}")
                right = of_lab3(question.network, question.system, inputs)
                assert found[name, kind] == right
