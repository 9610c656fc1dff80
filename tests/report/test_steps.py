"""report/steps.py against steps worked out by hand, and against lab3.py's closed forms: the same
numbers, and the same refusals."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab3
from lab3 import NETWORK, SYSTEM, ConvLayer, System
from machines import cases_of_both
from report import steps
from report.steps import Step

# Each step: layer, work, ops per node, bytes of the busiest link, bytes of all links, microseconds,
# in one of which a node does 50,000 ops and a link carries 2,000 bytes.

# A node computes a quarter: 6,220,800 / 4 = 1,555,200 ops in 31.104 us.
COMPUTE = [
    (1, "compute", 1_555_200, 0, 0, "31.104"),
    (2, "compute", 57_802_752, 0, 0, "1156.05504"),
    (3, "compute", 49_840_128, 0, 0, "996.80256"),
    (4, "compute", 42_467_328, 0, 0, "849.34656"),
]
# It sends a quarter of the output to three others at once: 230,400 / 4 = 57,600 bytes a link, 28.8
# us; 12 links carry 691,200. After layer 4, three nodes send their quarter, 147,456 / 4 = 36,864
# bytes, to the fourth: 18.432 us, 3 * 36,864 = 110,592 bytes.
EXCHANGES = [
    (1, "all-gather", 0, 57_600, 691_200, "28.8"),
    (2, "all-gather", 0, 50_176, 602_112, "25.088"),
    (3, "all-gather", 0, 43_264, 519_168, "21.632"),
    (4, "gather", 0, 36_864, 110_592, "18.432"),
]
# 6,220,800 ops of one node take 124.416 us, 230,400 bytes on one link 115.2 us.
PIPELINE = [
    (1, "compute", 6_220_800, 0, 0, "124.416"),
    (1, "send", 0, 230_400, 230_400, "115.2"),
    (2, "compute", 231_211_008, 0, 0, "4624.22016"),
    (2, "send", 0, 200_704, 200_704, "100.352"),
    (3, "compute", 199_360_512, 0, 0, "3987.21024"),
    (3, "send", 0, 173_056, 173_056, "86.528"),
    (4, "compute", 169_869_312, 0, 0, "3397.38624"),
]


def test_each_step_of_the_lab():
    tensor = [step for pair in zip(COMPUTE, EXCHANGES, strict=True) for step in pair]
    for stages, expected in [
        (steps.tensor_parallel_stages(NETWORK, SYSTEM), [tensor]),
        (steps.pipeline_parallel_stages(NETWORK, SYSTEM), [[step] for step in PIPELINE]),
    ]:
        assert [
            [(*step, steps.duration([step], SYSTEM) * 10**6) for step in stage] for stage in stages
        ] == [[(*step, Fraction(step_us)) for *step, step_us in stage] for stage in expected]
        assert {type(n) for stage in stages for step in stage for n in step[2:]} == {int}


@pytest.mark.parametrize(
    ("collective", "work", "topology", "in_turn", "moved"),  # shards, of 1, 3 and 5 nodes
    [
        (steps.all_gather, "all-gather", "all-to-all", (0, 1, 1), (0, 6, 20)),
        (steps.all_gather, "all-gather", "ring", (0, 2, 4), (0, 6, 20)),
        (steps.gather, "gather", "all-to-all", (0, 1, 1), (0, 2, 4)),
        # to the collector 1 + 2 links, 1 + 2 + 3 + 4
        (steps.gather, "gather", "ring", (0, 2, 4), (0, 3, 10)),
    ],
)
def test_the_collectives(collective, work, topology, in_turn, moved):
    for nodes, shards, all_shards in zip((1, 3, 5), in_turn, moved, strict=True):
        step = collective(layer=7, shard_bytes=10, system=System(nodes, topology=topology))
        assert step == (7, work, 0, shards * 10, all_shards * 10)


def test_stages_by_hand():
    system = System(3, Fraction(1_200, 7), Fraction(50, 3))
    # 600 * 7 / 1,200 + 25 * 3 / 50 and 100 * 3 / 50: 3.5 + 1.5 + 6 = 11 s; 2,400 * 7 / 1,200 = 14
    stages = [
        [Step(1, "compute", 600, 25, 0), Step(2, "send", 0, 100, 300)],
        [Step(2, "compute", 2_400, 0, 7)],
    ]
    assert steps.duration(stages[0], system) == 11
    assert steps.latency(stages, system) == 11 + 14
    assert steps.latency(stages, system, 5) == 11 + 14 + 4 * 14
    assert steps.traffic(stages) == 300 + 7
    assert steps.traffic(stages, 5) == 5 * (300 + 7)


# ------------------------------------------------ against lab3.py

TENSOR = (
    steps.tensor_parallel_stages,
    lab3.tensor_parallel_latency,
    lab3.tensor_parallel_traffic,
)
PIPELINE_FORMS = (
    steps.pipeline_parallel_stages,
    lab3.pipeline_parallel_latency,
    lab3.pipeline_parallel_traffic,
)
INPUTS = st.sampled_from([1, 2, 3, 32, 10**9])


@given(cases_of_both(), INPUTS)
def test_the_closed_forms_give_the_same(case, inputs):
    for stages_of, latency, traffic in (TENSOR, PIPELINE_FORMS):
        stages = stages_of(*case)
        assert steps.latency(stages, case[1], inputs) == latency(*case, inputs)
        assert steps.traffic(stages, inputs) == traffic(*case, inputs)


LAYER, NEXT = ConvLayer(8, 3, 3, 3, 16, 16), ConvLayer(8, 8, 3, 3, 14, 14)


@pytest.mark.parametrize(
    ("network", "system"),
    [
        ((), SYSTEM),
        ((LAYER, LAYER), SYSTEM),
        ((LAYER._replace(fx=17),), SYSTEM),
        ((LAYER, NEXT), System(nodes=3)),
        ((LAYER, NEXT), System(nodes=1)),
        (NETWORK, System(nodes=0)),
        (NETWORK, System(link_bytes_per_s=2e9)),
        (NETWORK, System(topology="star")),
    ],
)
def test_both_refuse_the_same_with_the_same_sentence(network, system):
    for stages_of, *closed_forms in (TENSOR, PIPELINE_FORMS):
        said = {why_not(function, network, system) for function in (stages_of, *closed_forms)}
        assert len(said) == 1
    assert said != {""} or system.nodes == 3  # as two layers have a node each


def why_not(function, *arguments):
    try:
        function(*arguments)
    except ValueError as error:
        return str(error)
    return ""
