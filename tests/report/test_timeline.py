"""report/timeline.py: jobs worked out by hand, and, at random, that nothing is used before it is
there, nor twice at once, and that the last end is the latency of lab3.py."""

from fractions import Fraction
from itertools import pairwise

import pytest

pytest.importorskip("hypothesis")

from hypothesis import given
from hypothesis import strategies as st

from machines import CLOSED_FORMS, ODD
from random_machines import cases_of_both
from report.timeline import jobs

# ------------------------------------------------ by hand: milliseconds of ODD

# Both inputs take every step; the second starts when the first is done, 1,434.304 ms.
TENSOR = [
    ("all nodes", "compute", 1, "0", "10.24"),
    ("all links", "all-gather", 1, "10.24", "490.24"),
    ("all nodes", "compute", 2, "490.24", "559.36"),
    ("all links", "all-gather", 2, "559.36", "919.36"),
    ("all nodes", "compute", 3, "919.36", "1002.304"),
    ("all links", "gather", 3, "1002.304", "1434.304"),
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
    [("tensor", TENSOR, Fraction("1434.304")), ("pipeline", PIPELINE, 576)],
)
def test_each_job(strategy, rows, later_ms):
    expected = [(*what, Fraction(start), Fraction(end)) for *what, start, end in rows]
    found = jobs(*ODD[:2], strategy, 3)
    for number in (1, 2, 3):
        own = [job for job in found if job.input == number]
        times_ms = [[1000 * it - (number - 1) * later_ms for it in job[4:]] for job in own]
        assert [(*job[:3], *times) for job, times in zip(own, times_ms, strict=True)] == expected


# ------------------------------------------------ random


def assert_in_turn(jobs):
    assert all(one.start_s <= one.end_s <= after.start_s for one, after in pairwise(jobs))


@given(cases_of_both(), st.sampled_from([*CLOSED_FORMS]), st.integers(1, 5))
def test_the_jobs_are_possible_and_end_at_the_latency(case, strategy, inputs):
    found = jobs(*case, strategy, inputs)
    latency, _ = CLOSED_FORMS[strategy]
    assert max(job.end_s for job in found) == latency(*case, inputs)
    # an input's jobs wait for each other, as do a node's; with tensor parallelism all jobs do
    for number in range(1, inputs + 1):
        own = [job for job in found if job.input == number]
        assert [it.layer for it in own if it.work == "compute"] == [*range(1, len(case[0]) + 1)]
        assert_in_turn(own)
    for where in {job.where for job in found}:
        assert_in_turn([job for job in found if strategy == "tensor" or job.where == where])
