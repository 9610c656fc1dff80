"""Plans against numbers worked out by hand, against lab3's strategies, and as text."""

import re
from fractions import Fraction

import pytest
from hypothesis import given

from lab3 import NETWORK, SYSTEM, ConvLayer, System
from machines import plan_cases
from report.plans import (
    Group,
    best_plans,
    compare,
    every_plan,
    faster_between,
    parse_plan,
    plan_latency,
    plan_result,
    plan_sram,
    plan_stages,
    plan_text,
    plan_traffic,
    plans_asked,
    strategy_plans,
)
from report.question import LAB, Impossible, Question
from report.sram import pipeline_parallel_sram, tensor_parallel_sram
from report.steps import pipeline_parallel_stages, tensor_parallel_stages

RING = SYSTEM._replace(topology="ring")

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
    assert best_plans(NETWORK, SYSTEM, 32) == [
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
        found = best_plans(NETWORK, SYSTEM._replace(sram_bytes=sram_bytes), 32, fitting=True)
        assert [plan.text for plan in found] == best


def test_a_plan_that_fills_the_sram_to_the_byte_fits():
    for sram_bytes, fits in ((503_488, True), (503_487, False)):
        system = SYSTEM._replace(sram_bytes=sram_bytes)
        assert [plan.fits for plan in best_plans(NETWORK, system, 32)] == [fits] + [False] * 7
        assert plan_result(NETWORK, system, [(4, 4)], 32).fits == fits


# ------------------------------------------------ another machine, by hand

# Seven nodes; 192 ops take a node 5 s, 24 bytes take a link 7 s; elements of 3 bytes.
# Layer 1: 6 filters of 2 x 1 x 2 = 4 weights on 3 x 4 places: 2 * 24 * 12 = 576 ops; 72 bytes of
# weights, 2 * 15 * 3 = 90 of input, 6 * 12 * 3 = 216 of output. Layer 2: 4 of 6 x 2 x 1 = 12 on 2
# x 4: 2 * 48 * 8 = 768 ops; 144, 216 and 96 bytes. Layer 3: 2 of 4 x 1 x 3 = 12 on 2 x 2: 192 ops;
# 72, 96 and 24 bytes.
OTHER = [
    ConvLayer(6, 2, 1, 2, 3, 5, 3),
    ConvLayer(4, 6, 2, 1, 3, 4, 3),
    ConvLayer(2, 4, 1, 3, 2, 4, 3),
]
SEVEN = System(7, Fraction(192, 5), Fraction(24, 7), sram_bytes=456)


def test_a_plan_whose_longest_stage_is_a_group():
    # Three nodes: 192 ops, 5 s; each sends 72 bytes to both others, 21 s, 2 * 216 bytes in all. Two
    # nodes: 384 ops, 10 s; exchange 48 bytes, 14 s, 96 in all; 96 ops, 2.5 s; the last 12 bytes,
    # 3.5 s. 5 + 21 + 30 + 4 * 30 s; 5 * (432 + 96 + 12) bytes. Two halves of layers 2 and 3's
    # weights are 108 bytes: 108 + 216 + 48.
    plan = (Group(1, 3), Group(2, 2))
    assert plan_result(OTHER, SEVEN, plan, 5) == (plan, "1:3,2-3:2", 176, 2_700, 5, 372, True)
    assert plan_sram(OTHER, SEVEN, plan) == [
        [("every node", 1, "compute", 24, 90, 72)],
        [
            ("every node", 2, "compute", 108, 216, 48),
            ("every node", 3, "compute", 108, 96, 12),
            ("gathering node", 3, "gather", 108, 0, 24),
        ],
    ]


def test_a_plan_whose_longest_stage_is_a_send():
    # Two nodes: 288 ops, 7.5 s; each sends 108 bytes to node 3, 31.5 s, 216 in all. Node 3: 768
    # ops, 20 s; 96 bytes to both others, 28 s, 192 in all. They: 96 ops, 2.5 s, and 12 bytes, 3.5
    # s. 93 + 4 * 31.5 s; 5 * (216 + 192 + 12) bytes. Node 3 holds 144 + 216 + 96 bytes.
    plan = (Group(1, 2), Group(1), Group(1, 2))
    assert plan_result(OTHER, SEVEN, plan, 5) == (plan, "1:2,2,3:2", 219, 2_100, 5, 456, True)
    assert not plan_result(OTHER, SEVEN._replace(sram_bytes=455), plan).fits
    where = [use.where for uses in plan_sram(OTHER, SEVEN, plan) for use in uses]
    assert where == ["every node", "node 3", "every node", "gathering node"]


def test_a_ring_has_plans_of_one_group_or_of_groups_of_one_node():
    # two nodes divide 6, 4 and 2 filters, three do not divide 4
    ring = SEVEN._replace(nodes=2, topology="ring")
    for nodes, plans in (
        (2, ["1,2-3", "1-2,3", "1-3", "1-3:2"]),
        (3, ["1,2,3", "1,2-3", "1-2,3", "1-3"]),
    ):
        every = every_plan(OTHER, ring._replace(nodes=nodes))
        assert [*map(plan_text, every)] == plans


def test_which_results_stand_where_a_strategy_is_impossible():
    question = Question(OTHER, SEVEN._replace(nodes=3), 5)
    compared = compare(question, {"1-3": ((3, 1),)})
    assert isinstance(compared.compared["tensor"], Impossible) and compared.faster == {}
    assert compared.compared["pipeline"] == plan_result(*question[:2], [(1, 1)] * 3, 5)
    assert compared.best == best_plans(*question)
    assert compared.fitting == best_plans(*question, True)


# ------------------------------------------------ both strategies are cases


@pytest.mark.parametrize("system", [SYSTEM, RING, SYSTEM._replace(link_bytes_per_s=10**6)])
def test_both_strategies_are_plans(system):
    question = (NETWORK, system)
    plans = strategy_plans(*question)
    assert plans == {"tensor": ((4, 4),), "pipeline": ((1, 1),) * 4}
    assert plan_stages(*question, plans["tensor"]) == tensor_parallel_stages(*question)
    assert plan_stages(*question, plans["pipeline"]) == pipeline_parallel_stages(*question)
    assert plan_sram(*question, plans["tensor"]) == [tensor_parallel_sram(*question)]
    alone = [[use] for use in pipeline_parallel_sram(*question)]
    assert plan_sram(*question, plans["pipeline"]) == alone


# ------------------------------------------------ as text


@given(plan_cases())
def test_text_is_read_back(case):
    _, _, plan = case
    assert parse_plan(plan_text(plan)) == plan


def test_plans_as_text():
    assert parse_plan("1-2:2,3,4") == ((2, 2), (1, 1), (1, 1))
    assert parse_plan("1:1, 2-4:1") == ((1, 1), (3, 1))
    assert parse_plan("1-1:2") == ((1, 2),)
    assert plan_text([Group(2, 2), (1, 1), Group(1)]) == "1-2:2,3,4"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "group 1"),
        ("1-2:2,,4", "group 2"),
        ("1-2:2;3", "group 1"),
        ("1-2,4", "group 2 layer 4 3"),
        ("5-6:2", "group 1 layer 5 1"),
        ("1-3,4-2", "group 2 layer 2 before"),
        ("1-4:-1", "group 1"),
        ("1:0", "group 1 0 nodes from 1"),
        ("1-4,", "group 2 LAYERS NODES"),
        ("1:1" + "0" * 999, "group 1"),
        ("\u0661-4", "group 1"),
    ],
)
def test_texts_that_are_no_plan(text, named):
    with pytest.raises(ValueError, match=r"^group \d: ") as caught:
        parse_plan(text)
    check_sentence(str(caught.value), named)
    with pytest.raises(ValueError, match=r"^--plan '") as caught:
        plans_asked([text], NETWORK, SYSTEM)
    wanted = named if re.search("[0-9]", text) else "tensor pipeline LAYERS NODES"
    check_sentence(str(caught.value), wanted)


def test_the_same_plan_asked_for_twice_stands_once():
    asked = plans_asked(["1-2:2, 3,4", "1-2:2,3:1,4", "pipeline", "1,2,3,4"], NETWORK, SYSTEM)
    assert [*asked] == ["1-2:2,3,4", "pipeline", "1,2,3,4"]


def test_twenty_plans_can_be_asked_for():
    assert [*plans_asked(["1-4"] * 19 + ["1,2-4"], NETWORK, SYSTEM)] == ["1-4", "1,2-4"]


# ------------------------------------------------ what is refused


BAD_PLANS = [
    (SYSTEM, [(2, 3), (2, 1)], "group 1 128 layer 1 3"),
    (SYSTEM._replace(nodes=8), [(2, 1), (2, 5)], "group 2 5 128 layer 3"),
    (SYSTEM, [(2, 2), (2, 4)], "group 2 6 4"),
    (SYSTEM, [(2, 2), (3, 2)], "group 2 5 4"),
    (SYSTEM, [(2, 2), (1, 2)], "group 2 3 4"),
    (SYSTEM, [(4, True)], "group 1 True"),
    (SYSTEM, [(2, 1), (2, 1, 1)], "group 2 1"),
    (RING, [(2, 2), (2, 1)], "group 1 ring 2 4"),
    (RING, [(2, 4), (2, 1)], "group 1 ring 4 nodes and 2 layers"),
    (RING, [(4, 2)], "group 1 ring 2 4"),
    (SYSTEM._replace(nodes=2), [(1, 1)] * 4, "group 3 3 2"),
    (SYSTEM, [(1_111_111_111,) * 99], "group 1"),
]
OF_PLANS = (plan_stages, plan_latency, plan_traffic, plan_sram, plan_result)


@pytest.mark.parametrize(
    ("function", "arguments", "said"),
    [
        *((each, (NETWORK, *bad), said) for *bad, said in BAD_PLANS for each in OF_PLANS),
        (best_plans, (NETWORK[1:] + NETWORK, SYSTEM), "layer 4"),
        (faster_between, (NETWORK, SYSTEM, [(3, 1)], None), "group 1"),
        (faster_between, (NETWORK, SYSTEM._replace(nodes=3), [(4, 1)]), "3 nodes"),
        (compare, (Question(NETWORK, SYSTEM._replace(nodes=3), 0),), "inputs 0"),
        (compare, (LAB, [1]), "plans 1"),
        (compare, (LAB, "1-4"), "plans 1-4"),
        (compare, (LAB, {"none": ()}), "plan"),
        (compare, (LAB, {"number": 4}), "plan 4"),
        (compare, (LAB, {"short": [(3, 1)]}), "group 1"),
        (plans_asked, (["tensor"], NETWORK, SYSTEM._replace(nodes=3)), "--plan tensor 3 128"),
        (plans_asked, (["1-5:1"], NETWORK, SYSTEM), "--plan 1-5 group 1 layer 5 4 layers"),
        (parse_plan, (4,), "plan 4"),
        (plan_text, ([(2,)],), "group 1 2"),
        (plan_text, ([(4, 10**9)],), "group 1 1000000000 999,999,999"),
        (plan_text, ([(1, 1), (10**9, 1)],), "group 2 999,999,999"),
        (plans_asked, (["1-4"] * 21, NETWORK, SYSTEM), "--plan 21 20"),
    ],
)
def test_every_function_refuses_in_one_sentence(function, arguments, said):
    with pytest.raises(ValueError) as caught:
        function(*arguments)
    check_sentence(str(caught.value), said)


def check_sentence(sentence, said):
    assert "\n" not in sentence and len(sentence) < 160
    assert {*said.split()} <= {*re.findall(r"[\w.,-]*\w", sentence)}
