"""report/results.py: steps worked out by hand; at random, nothing is used before it is
there, nor twice at once, and the last end is the latency of lab3.py."""

from fractions import Fraction
from itertools import pairwise

import pytest

pytest.importorskip("hypothesis")

from hypothesis import given
from hypothesis import strategies as st

from machines import CLOSED_FORMS, LAB, ODD, ODD_PIPELINE_STEPS, ODD_TENSOR_STEPS
from random_machines import cases_of_both
from report.model import RING, Model
from report.results import find_bottleneck, list_steps


# ------------------------------------------------ steps by hand
@pytest.mark.parametrize(
    ("strategy", "expected"), [("tensor", ODD_TENSOR_STEPS), ("pipeline", ODD_PIPELINE_STEPS)]
)
def test_each_step_by_hand(strategy, expected):
    found = list_steps(Model(strategy, *ODD))
    assert [
        (step.layer, step.work, step.link_bytes, step.traffic_bytes, step.time_s) for step in found
    ] == [
        (layer, work, *sizes, Fraction(time_us) / 10**6)
        for layer, work, _, *sizes, time_us in expected
    ]
    assert {type(size) for step in found for size in (step.link_bytes, step.traffic_bytes)} == {int}
    nodes, links = ("all nodes", "all links"), ("node {}", "link {} to {}")
    for step in found:
        words = (nodes if strategy == "tensor" else links)[step.work != "compute"]
        assert step.where == words.format(step.layer, step.layer + 1)


def test_steps_on_a_ring():
    # five shards cross each link; in the gather, 15 links are crossed
    found = list_steps(Model("tensor", *ODD).edit(RING))[1::2]
    sent = [(step.link_bytes, step.traffic_bytes) for step in found]
    assert sent == [(600, 3_600), (450, 2_700), (540, 1_620)]


def test_the_bottleneck_is_the_first_longest_step():
    def find(strategy, network, system):
        return find_bottleneck(Model(strategy, network, system))

    assert find("pipeline", *LAB[:2]) == "node 2"
    assert find("pipeline", *ODD[:2]) == "link 1 to 2"
    assert find("tensor", *ODD[:2]) == "none"
    assert find("pipeline", ODD.network[:1], ODD.system) == "node 1"
    # on links of 720 / 0.41472 bytes/s send 1 takes as long as node 2 computes; node 3 is faster
    rate = Fraction(720) / Fraction("0.41472")
    faster = ODD.network[2]._replace(filters=6)
    system = ODD.system._replace(link_bytes_per_s=rate)
    assert find("pipeline", (*ODD.network[:2], faster), system) == "link 1 to 2"


# ------------------------------------------------ jobs by hand: milliseconds of ODD

# Each input takes every step; the next starts when it is done, 416.704 ms.
TENSOR = [
    ("all nodes", "compute", 1, "0", "10.24"),
    ("all links", "all-gather", 1, "10.24", "106.24"),
    ("all nodes", "compute", 2, "106.24", "175.36"),
    ("all links", "all-gather", 2, "175.36", "247.36"),
    ("all nodes", "compute", 3, "247.36", "330.304"),
    ("all links", "gather", 3, "330.304", "416.704"),
]
# Each input starts a bottleneck, 576 ms, after the one before.
PIPELINE = [
    ("node 1", "compute", 1, "0", "61.44"),
    ("link 1 to 2", "send", 1, "61.44", "637.44"),
    ("node 2", "compute", 2, "637.44", "1052.16"),
    ("link 2 to 3", "send", 2, "1052.16", "1484.16"),
    ("node 3", "compute", 3, "1484.16", "1981.824"),
]


@pytest.mark.parametrize(
    ("strategy", "rows", "later_ms"),
    [("tensor", TENSOR, Fraction("416.704")), ("pipeline", PIPELINE, 576)],
)
def test_each_job(strategy, rows, later_ms):
    expected = [(*what, Fraction(start), Fraction(end)) for *what, start, end in rows]
    found = list_steps(Model(strategy, *ODD), 3)
    for number in (1, 2, 3):
        own = [job for job in found if job.input == number]
        times_ms = [
            [1000 * it - (number - 1) * later_ms for it in (job.start_s, job.end_s)] for job in own
        ]
        assert [
            (job.where, job.work, job.layer, *times)
            for job, times in zip(own, times_ms, strict=True)
        ] == expected


# ------------------------------------------------ random
def assert_in_turn(jobs):
    assert all(one.start_s <= one.end_s <= after.start_s for one, after in pairwise(jobs))


@given(cases_of_both(), st.sampled_from([*CLOSED_FORMS]), st.integers(1, 5))
def test_the_jobs_are_possible_and_end_at_the_latency(case, strategy, inputs):
    found = list_steps(Model(strategy, *case), inputs)
    latency, _ = CLOSED_FORMS[strategy]
    assert max(job.end_s for job in found) == latency(*case, inputs)
    # an input's jobs wait for each other, as do a node's; with tensor parallelism all jobs do
    for number in range(1, inputs + 1):
        own = [job for job in found if job.input == number]
        assert [it.layer for it in own if it.work == "compute"] == [*range(1, len(case[0]) + 1)]
        assert_in_turn(own)
    for where in {job.where for job in found}:
        assert_in_turn([job for job in found if strategy == "tensor" or job.where == where])
