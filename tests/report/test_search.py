"""What plans take, worked out by hand, and which of them no other beats. tests/oracles lists and
compares all plans of random machines."""

from fractions import Fraction
from itertools import pairwise

import pytest

from lab3 import NETWORK, SYSTEM, ConvLayer, System
from odd_machines import OTHER, SEVEN
from report import search
from report.plans import Group, parse_plan, plan_text
from report.question import Impossible, Question
from report.search import compare, every_plan, every_result, plan_result, unbeaten

# ------------------------------------------------ by hand

# Plan, latency of 32 inputs in ms, bytes, nodes, and the most that a node holds.
#
# 1-4:4         tensor parallelism: test_lab3.py
# 1-2:2,3-4:2   Half of layer 1 in 62.208 us, 57.6 us for 230,400 bytes, half of layer 2 in
#               2,312.11008 us; 50.176 us for 4 * 100,352 bytes; 1,993.60512 us, 43.264 us for
#               173,056 bytes, 1,698.69312 us, 36.864 us for 73,728: 3,772.42624 us, the longest.
#               6,254.52032 + 31 * 3,772.42624 us; 32 * 878,592 bytes
# 1-2:2,3,4     50.176 us for 2 * 100,352 bytes; 3,987.21024 us, 86.528 us for 173,056 bytes,
#               3,397.38624 us: 9,953.21856 + 31 * 3,987.21024 us; 32 * 604,160 bytes
# 1-2,3:2,4     A node does layers 1 and 2, 237,431,808 ops in 4,748.63616 us, and sends all of
#               200,704 bytes to both of the next, 100.352 us, 401,408 bytes; they do half of layer
#               3 in 1,993.60512 us and send 86,528 bytes each, 43.264 us, 173,056 bytes; layer 4
#               takes 3,397.38624 us. 10,283.24352 + 31 * 4,748.63616 = 157,490.96448 us
#               32 * (401,408 + 173,056) bytes; layer 2: 301,824 + 230,400 + 200,704 = 732,928
# 1-2,3,4       layer 3 on one: 3,987.21024 and 86.528 us; 12,133.23264 + 100.352 + 86.528 = 12,320.
#               11264 + 31 * 4,748.63616 = 159,527.8336 us; 32 * (200,704 + 173,056) bytes
# 1-2,3-4       layers 3 and 4 in 7,384.59648 us: 12,233.58464 + 31 * 7,384.59648 = 241,156.07552 us
#               32 * 200,704 bytes; layer 3: 589,824 + 200,704 + 173,056
# 1-3,4         layers 1 to 3 in 8,735.8464 us: 12,219.76064 + 31 * 8,735.8464 = 283,030.99904 us
#               32 * 173,056 bytes; layer 2: 596,736 + 230,400 + 200,704
# 1-4           606,661,632 ops in 12,133.23264 us, 32 times; 891,648 + 230,400 + 200,704 bytes
BEST = [
    ("1-4:4", "100.07232512", 61_538_304, 4, 503_488),
    ("1-2:2,3-4:2", "123.19973376", 28_114_944, 4, 582_144),
    ("1-2:2,3,4", "133.556736", 19_333_120, 4, 668_672),
    ("1-2,3:2,4", "157.49096448", 18_382_848, 4, 732_928),
    ("1-2,3,4", "159.5278336", 11_960_320, 3, 732_928),
    ("1-2,3-4", "241.15607552", 6_422_528, 2, 963_584),
    ("1-3,4", "283.03099904", 5_537_792, 2, 1_027_840),
    ("1-4", "388.26344448", 0, 1, 1_322_752),
]


def test_the_labs_best_plans():
    assert unbeaten(every_result(NETWORK, SYSTEM, 32)) == [
        (parse_plan(text), text, Fraction(ms) / 1000, sent, nodes, held, held <= 524_288)
        for text, ms, sent, nodes, held in BEST
    ]


def test_a_plan_that_is_beaten():
    # 1-3:2,4 beats pipeline parallelism with three nodes. Half of layers 1, 2, 3: 62.208 + 57.6 +
    # 2,312.11008 + 50.176 + 1,993.60512 = 4,475.6992 us; 43.264 us to send, layer 4 3,397.38624 us:
    # 7,916.34944 + 31 * 4,475.6992 = 146,663.02464 us; 32 * (230,400 + 200,704 + 173,056) bytes.
    # Layer 2: 596,736 / 2 + 230,400 + 100,352, more than layer 4's 615,424
    found = plan_result(NETWORK, SYSTEM, [(3, 2), (1, 1)], 32)
    plan = (Group(3, 2), Group(1, 1))
    latency_s = Fraction("0.14666302464")
    assert found == (plan, "1-3:2,4", latency_s, 19_333_120, 3, 629_120, False)
    assert plan_result(NETWORK, SYSTEM, plan).latency_s == Fraction("0.00791634944")


def test_of_the_labs_28_plans_one_fits():
    every = every_plan(NETWORK, SYSTEM)
    fitting = [plan for plan in every if plan_result(NETWORK, SYSTEM, plan).fits]
    assert (len(every), fitting) == (28, [((4, 4),)])
    for sram_bytes, best in ((503_488, ["1-4:4"]), (503_487, [])):
        system = SYSTEM._replace(sram_bytes=sram_bytes)
        assert [plan.text for plan in compare(Question(NETWORK, system, 32)).fitting] == best


def test_a_plan_that_fills_the_sram_to_the_byte_fits():
    for sram_bytes, fits in ((503_488, True), (503_487, False)):
        system = SYSTEM._replace(sram_bytes=sram_bytes)
        best = compare(Question(NETWORK, system, 32)).best
        assert [plan.fits for plan in best] == [fits] + [False] * 7
        assert plan_result(NETWORK, system, [(4, 4)], 32).fits == fits


# ------------------------------------------------ another machine, by hand


def test_a_plan_whose_longest_stage_is_a_group():
    # Three nodes: 192 ops, 5 s; each sends 72 bytes to both others, 21 s, 2 * 216 bytes in all. Two
    # nodes: 384 ops, 10 s; exchange 48 bytes, 14 s, 96 in all; 96 ops, 2.5 s; the last 12 bytes,
    # 3.5 s. 5 + 21 + 30 + 4 * 30 s; 5 * (432 + 96 + 12) bytes. Two halves of layers 2 and 3's
    # weights are 108 bytes: 108 + 216 + 48.
    plan = (Group(1, 3), Group(2, 2))
    assert plan_result(OTHER, SEVEN, plan, 5) == (plan, "1:3,2-3:2", 176, 2_700, 5, 372, True)


def test_a_plan_whose_longest_stage_is_a_send():
    # Two nodes: 288 ops, 7.5 s; each sends 108 bytes to node 3, 31.5 s, 216 in all. Node 3: 768
    # ops, 20 s; 96 bytes to both others, 28 s, 192 in all. They: 96 ops, 2.5 s, and 12 bytes, 3.5
    # s. 93 + 4 * 31.5 s; 5 * (216 + 192 + 12) bytes. Node 3 holds 144 + 216 + 96 bytes.
    plan = (Group(1, 2), Group(1), Group(1, 2))
    assert plan_result(OTHER, SEVEN, plan, 5) == (plan, "1:2,2,3:2", 219, 2_100, 5, 456, True)
    assert not plan_result(OTHER, SEVEN._replace(sram_bytes=455), plan).fits


def test_a_ring_has_plans_of_one_group_or_of_groups_of_one_node():
    # two nodes divide 6, 4 and 2 filters, three do not divide 4
    ring = SEVEN._replace(nodes=2, topology="ring")
    for nodes, plans in (
        (2, ["1,2-3", "1-2,3", "1-3", "1-3:2"]),
        (3, ["1,2,3", "1,2-3", "1-2,3", "1-3"]),
    ):
        every = every_plan(OTHER, ring._replace(nodes=nodes))
        assert sorted(map(plan_text, every)) == plans


def test_which_results_stand_where_a_strategy_is_impossible():
    question = Question(OTHER, SEVEN._replace(nodes=3), 5)
    compared = compare(question, {"1-3": ((3, 1),)})
    assert isinstance(compared.compared["tensor"], Impossible) and compared.faster == {}
    assert compared.compared["pipeline"] == plan_result(*question[:2], [(1, 1)] * 3, 5)
    every = every_result(*question)
    assert compared.best == unbeaten(every)
    assert compared.fitting == unbeaten(result for result in every if result.fits)


# ------------------------------------------------ plans that tie


def ties():
    """Two inputs, 2 ops and a byte per second: 1-2:2,3-4 on three nodes needs 64 bytes, as fast
    with as many bytes as 1:2,2,3-4 on four nodes, which needs 56."""
    sizes = [8, 4, 4, 1, 1]
    network = [ConvLayer(out, into, 1, 1, 2, 2, 1) for into, out in pairwise(sizes)]
    system = System(nodes=4, ops_per_s=2, link_bytes_per_s=1)
    few, many = (
        plan_result(network, system, parse_plan(text), 2) for text in ("1-2:2,3-4", "1:2,2,3-4")
    )
    assert (*few[2:6], *many[2:6]) == (236, 64, 3, 64, 236, 64, 4, 56)
    return network, system, few, many


def test_fewer_nodes_come_before_less_sram():
    network, system, few, many = ties()
    found = unbeaten(every_result(network, system, 2))
    assert few in found and many not in found


@pytest.mark.parametrize(("sram_bytes", "first"), [(64, "1-2:2,3-4"), (63, "1:2,2,3-4")])
def test_of_equal_plans_one_that_fits_stands_for_all(sram_bytes, first):
    network, system, *_ = ties()
    question = Question(network, system._replace(sram_bytes=sram_bytes), 2)
    comparison = compare(question)
    for found in (comparison.best, comparison.fitting):
        equal = [plan.text for plan in found if (plan.latency_s, plan.traffic_bytes) == (236, 64)]
        assert equal == [first]


def test_smaller_first_groups_come_before_larger():
    # 2 inputs: 1,2-3 and 1-2,3 both take 8 + 2 + 16 + 16 s, send 2 * 2 bytes and hold 8 + 2 + 2
    every = every_result([ConvLayer(2, 2, 1, 1, 1, 1, 1)] * 3, System(2, 1, 1), 2)
    assert [plan.text for plan in every] == ["1-3:2", "1,2-3", "1-2,3", "1-3"]
    assert every[1][2:] == every[2][2:] == (42, 4, 2, 12, True)


# ------------------------------------------------ how large

EQUAL = ConvLayer(128, 128, 1, 1, 4, 4)


def test_as_many_plans_as_the_limit_are_listed(monkeypatch):
    monkeypatch.setattr(search, "MOST_PLANS", 28)
    assert len(every_plan(NETWORK, SYSTEM)) == 28
    monkeypatch.setattr(search, "MOST_PLANS", 27)
    with pytest.raises(ValueError, match=r"^4 layers on 4 nodes have more than 27 plans"):
        every_plan(NETWORK, SYSTEM)


@pytest.mark.parametrize(
    ("network", "nodes", "machine"),
    [
        ([EQUAL] * 64, 64, "64 layers on 64 nodes have"),
        ([EQUAL] * 1_000, 3, "1,000 layers on 3 nodes have"),
        ([EQUAL] * 1_000, 10**6, "1,000 layers on 1,000,000 nodes have"),
        ([ConvLayer(720_720, 720_720, 1, 1, 8, 8)] * 3, 10**6, "3 layers on 1,000,000 nodes have"),
    ],
)
def test_too_many_plans_are_refused(network, nodes, machine):
    with pytest.raises(ValueError, match=f"^{machine} more than 50,000 plans"):
        every_result(network, SYSTEM._replace(nodes=nodes))


def test_few_plans_of_many_layers_or_nodes_are_listed():
    # the layers cut in one of 63 places, or on 1 or 2 nodes; all of 3 layers and 1 to 128 nodes
    assert len(every_plan([EQUAL] * 64, System(2))) == 63 + 2
    assert len(every_plan([EQUAL] * 1_000, System(1))) == 1
    assert len(every_plan(NETWORK[:1], System(10**6))) == 8


def test_a_strategy_is_compared_where_the_search_is_refused():
    compared = compare(Question([EQUAL] * 64, System(128), 32), {"1-64:2": ((64, 2),)})
    assert isinstance(compared.best, Impossible) and compared.best == compared.fitting
    assert {*compared.compared} == {"tensor", "pipeline", "1-64:2"} == {"tensor", *compared.faster}
