"""report/plans.py: each step of two mixed plans of the lab, worked out by hand: layer, work, ops
per node, bytes of the busiest link, bytes of all links, and microseconds, in one of which a node
does 50,000 ops and a link carries 2,000 bytes.
"""

from fractions import Fraction

import pytest

from lab3 import NETWORK, SYSTEM, duration
from report.plans import Group, plan_stages

# 1-2:2,3,4: layers 1 and 2 on two nodes, layer 3 on the third, layer 4 on the fourth.
# Each of the two computes a half, 6,220,800 / 2 = 3,110,400 ops in 62.208 us, and sends the other
# its 230,400 / 2 = 115,200 bytes in 57.6 us, 230,400 bytes on both links; then a half of layer 2,
# 2,312.11008 us: one stage of 2,431.91808 us. Then both send their half of layer 2's output,
# 200,704 / 2 = 100,352 bytes, to the third node at once: 50.176 us. Then whole layers: in all
# 9,953.21856 us, and 31 * 3,987.21024 us more for 32 inputs.
LAYERS_1_AND_2 = [
    (1, "compute", 3_110_400, 0, 0, "62.208"),
    (1, "all-gather", 0, 115_200, 230_400, "57.6"),
    (2, "compute", 115_605_504, 0, 0, "2312.11008"),
]
TWO_ONE_ONE = [Group(2, 2), Group(1), Group(1)]
TWO_ONE_ONE_STAGES = [
    LAYERS_1_AND_2,
    [(2, "send", 0, 100_352, 200_704, "50.176")],
    [(3, "compute", 199_360_512, 0, 0, "3987.21024")],
    [(3, "send", 0, 173_056, 173_056, "86.528")],
    [(4, "compute", 169_869_312, 0, 0, "3397.38624")],
]
# 1-2:2,3-4:2: each of the first two sends its half to both of the others, over four links: again
# 50.176 us, but 4 * 100,352 = 401,408 bytes. They compute halves, 3,987.21024 / 2 and
# 3,397.38624 / 2 us; exchange 173,056 / 2 = 86,528 bytes each in 43.264 us; and in the end one
# sends the other its 147,456 / 2 = 73,728 bytes in 36.864 us: a stage of 3,772.42624 us.
TWO_TWO = [Group(2, 2), Group(2, 2)]
TWO_TWO_STAGES = [
    LAYERS_1_AND_2,
    [(2, "send", 0, 100_352, 401_408, "50.176")],
    [
        (3, "compute", 99_680_256, 0, 0, "1993.60512"),
        (3, "all-gather", 0, 86_528, 173_056, "43.264"),
        (4, "compute", 84_934_656, 0, 0, "1698.69312"),
        (4, "gather", 0, 73_728, 73_728, "36.864"),
    ],
]


@pytest.mark.parametrize(
    ("plan", "expected"), [(TWO_ONE_ONE, TWO_ONE_ONE_STAGES), (TWO_TWO, TWO_TWO_STAGES)]
)
def test_each_step_of_a_mixed_plan(plan, expected):
    stages = plan_stages(NETWORK, SYSTEM, plan)
    assert [[(*step, duration([step], SYSTEM) * 10**6) for step in stage] for stage in stages] == [
        [(*step, Fraction(step_us)) for *step, step_us in stage] for stage in expected
    ]
