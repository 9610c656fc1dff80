"""Each job of report/schedule.py: the schedule is possible, ends when the law says, and keeps links
as busy as simulation.py, which knows no schedule."""

from collections import defaultdict
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines import plan_cases
from oracles.simulation import simulate
from report import schedule as module
from report.schedule import schedule
from report.search import plan_result

INPUTS = st.integers(1, 5)


def by_place(jobs):
    """The jobs of each node and link."""
    places = defaultdict(list)
    for job in jobs:
        for name in job.where:
            places[name].append(job)
    return places


@given(plan_cases(), INPUTS)
def test_a_schedule_is_possible_and_is_the_law(case, inputs):
    jobs = schedule(*case, inputs)
    nothing_does_two_things_at_once(jobs)
    what_is_needed_is_there(jobs, layers=len(case[0]), inputs=inputs)
    everyone_works_at_full_rate(jobs, *case[:2], inputs)
    nodes_are_numbered_in_the_order_of_the_groups(jobs, case[2])
    result = plan_result(*case, inputs)
    assert max(job.end_s for job in jobs) == result.latency_s
    assert sum(job.traffic_bytes for job in jobs) == result.traffic_bytes
    too_many_events_are_counted_exactly(jobs, case, inputs)
    for function in (schedule, module.timed_steps):  # one input unless told
        assert function(*case) == function(*case, 1)


def nothing_does_two_things_at_once(jobs):
    for of_place in by_place(jobs).values():
        times = sorted((job.start_s, job.end_s) for job in of_place)
        assert all(end_s <= start_s for (_, end_s), (start_s, _) in pairwise(times))


def what_is_needed_is_there(jobs, layers, inputs):
    """A layer waits for all transfers of the layer before, and its transfers for its results."""
    first_start_s, last_end_s = {}, {}
    for job in sorted(jobs, key=lambda job: job.end_s, reverse=True):
        step = (job.input, job.layer, job.work != "compute")
        first_start_s[step] = min(job.start_s, first_start_s.get(step, job.start_s))
        last_end_s.setdefault(step, job.end_s)
    for number in range(1, inputs + 1):
        steps = sorted(step for step in last_end_s if step[0] == number)
        computed = [layer for _, layer, is_transfer in steps if not is_transfer]
        assert computed == list(range(1, layers + 1))
        assert all(last_end_s[step] <= first_start_s[after] for step, after in pairwise(steps))


def everyone_works_at_full_rate(jobs, network, system, inputs):
    """Nodes do all operations, each of a group as many, and links send all the time."""
    ops = 0
    for job in jobs:
        size = (job.end_s - job.start_s) * len(job.where)
        if job.work == "compute":
            ops += size * system.ops_per_s
        else:
            assert job.traffic_bytes == size * system.link_bytes_per_s
    assert ops == inputs * sum(layer.ops for layer in network)


def nodes_are_numbered_in_the_order_of_the_groups(jobs, plan):
    expected, first = [], 1
    for layers, nodes in plan:
        expected += [tuple(f"node {first + more}" for more in range(nodes))] * layers
        first += nodes
    places = {job.layer: job.where for job in jobs if job.work == "compute"}
    assert places == dict(enumerate(expected, 1))


def too_many_events_are_counted_exactly(jobs, case, inputs):
    events = sum(len(job.where) for job in jobs)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "MOST_EVENTS", events)
        schedule(*case, inputs)
        patched.setattr(module, "MOST_EVENTS", events - 1)
        with pytest.raises(ValueError, match=f"more than {events - 1:,} events"):
            schedule(*case, inputs)


@given(plan_cases(), st.integers(1, 3))
def test_each_link_carries_what_it_does_in_the_simulation(case, inputs):
    carried = {
        name: sum(job.traffic_bytes // len(job.where) for job in jobs)
        for name, jobs in by_place(schedule(*case, inputs)).items()
        if name.startswith("link")
    }
    _, link_bytes = simulate(*case, inputs)
    assert carried == {
        f"link {sender + 1} to {receiver + 1}": size
        for (sender, receiver), size in link_bytes.items()
        if size
    }
