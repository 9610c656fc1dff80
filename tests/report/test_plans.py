"""What a plan is: both strategies, where groups work, the notation, and what is refused."""

import re

import pytest
from hypothesis import given, settings

from lab3 import NETWORK, SYSTEM
from machines import plan_cases
from odd_machines import OTHER, SEVEN
from report import plans
from report.plans import Group, parse_plan, placed, plan_text, plans_asked

RING = SYSTEM._replace(topology="ring")


@pytest.mark.parametrize("system", [SYSTEM, RING])
def test_both_strategies_are_plans(system):
    assert plans.tensor_parallel(NETWORK, system) == ((4, 4),)
    assert plans.pipeline_parallel(NETWORK, system) == ((1, 1),) * 4


def test_where_groups_are_placed():
    groups = placed(OTHER, SEVEN, [(1, 3), Group(2, 2)])
    assert groups == [(range(1, 2), range(1, 4)), (range(2, 4), range(4, 6))]


# ------------------------------------------------ the notation


@given(plan_cases())
@settings(max_examples=40)
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


@pytest.mark.parametrize(
    ("system", "plan", "said"),
    [
        (SYSTEM, [(2, 3), (2, 1)], "group 1 128 layer 1 3"),
        (SYSTEM._replace(nodes=8), [(2, 1), (2, 5)], "group 2 5 128 layer 3"),
        (SYSTEM, [(2, 2), (2, 4)], "group 2 6 4"),
        (SYSTEM, [(2, 2), (3, 2)], "group 2 5 4"),
        (SYSTEM, [(2, 2), (1, 2)], "group 2 3 4"),
        (RING, [(2, 2), (2, 1)], "group 1 ring 2 4"),
        (RING, [(2, 4), (2, 1)], "group 1 ring 4 nodes and 2 layers"),
        (RING, [(4, 2)], "group 1 ring 2 4"),
        (SYSTEM._replace(nodes=2), [(1, 1)] * 4, "group 3 3 2"),
        (SYSTEM, [(1_111_111_111, 1)] * 99, "group 1 1,111,111,111"),
    ],
)
def test_what_a_machine_has_no_room_for(system, plan, said):
    with pytest.raises(ValueError) as caught:
        placed(NETWORK, system, plan)
    check_sentence(str(caught.value), said)


@pytest.mark.parametrize(
    ("texts", "nodes", "said"),
    [
        (["tensor"], 3, "--plan tensor Tensor parallelism is not possible 3 128"),
        (["1-4", "pipeline"], 3, "--plan pipeline Pipeline parallelism is not possible 3"),
        (["1-5:1"], 4, "--plan 1-5 group 1 layer 5 4 layers"),
        (["1-4"] * 21, 4, "--plan 21 20"),
    ],
)
def test_options_that_are_refused(texts, nodes, said):
    with pytest.raises(ValueError, match=r"^--plan") as caught:
        plans_asked(texts, NETWORK, SYSTEM._replace(nodes=nodes))
    check_sentence(str(caught.value), said)


def check_sentence(sentence, said):
    assert "\n" not in sentence and len(sentence) < 160
    assert {*said.split()} <= {*re.findall(r"[\w.,-]*\w", sentence)}
