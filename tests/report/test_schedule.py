"""Who works when, and the trace: by the steps of odd_machines.py, whose seconds are 600 times as
short on the command line.
"""

import json
from fractions import Fraction
from itertools import permutations, product

import pytest

from lab3 import ALL_TO_ALL, NETWORK, RING, SYSTEM
from odd_machines import EVERYTHING, ODD, ODD_ALL_TO_ALL, ODD_OPTIONS, ODD_OPTIONS_TIMES
from program import output, refusal
from report import schedule
from report.plans import Group, parse_plan
from report.schedule import Job

TENSOR, PIPELINE, GROUPS = (Group(3, 6),), (Group(1),) * 3, parse_plan("1-2:3,3:2")  # of ODD


def trace(line):
    """The complete events by process, thread and name: ts, dur, cat, args."""
    names, found = {}, {}
    for event in json.loads(output(f"trace {line}"))["traceEvents"]:
        if event["ph"] == "M":
            names[event["pid"], event.get("tid")] = event["args"]["name"]
        else:
            process, thread = names[event["pid"], None], names[event["pid"], event["tid"]]
            assert (process, thread, event["name"]) not in found
            values = tuple(event[name] for name in ("ts", "dur", "cat", "args"))
            found[process, thread, event["name"]] = values
    return found


NODES = [f"node {number}" for number in range(1, 7)]


def links(pairs):
    """From one node to another."""
    return [f"link {source} to {target}" for source, target in pairs]


# what is meant by the steps' column "where"
PLACES = {
    "nodes 1 to 6": NODES,
    "nodes 1 to 3": NODES[:3],
    "nodes 4 to 5": NODES[3:5],
    "links around": links((number, number % 6 + 1) for number in range(1, 7)),
    "links among 1 to 6": links(permutations(range(1, 7), 2)),
    "links among 1 to 3": links(permutations(range(1, 4), 2)),
    "links to 1": links((number, 1) for number in range(2, 7)),
    "links from 1 to 3 on to 4 to 5": links(product((1, 2, 3), (4, 5))),
}


def jobs(group):
    """Of one input: work, layer, start and duration in seconds, where, bytes of each link."""
    found = [
        (it.work, it.layer, it.start_s, it.time_s, PLACES.get(it.where, [it.where]), it.link_bytes)
        for it in EVERYTHING.steps
        if it.group == group
    ]
    if group == "tensor, ring":  # the last node's link carries five shards, node 2's its own
        work, layer, start_s, time_s, _, link_bytes = found.pop()
        for shards, link in enumerate(("2 to 3", "3 to 4", "4 to 5", "5 to 6", "6 to 1"), 1):
            time, size = time_s * shards / 5, link_bytes * shards // 5
            found.append((work, layer, start_s, time, [f"link {link}"], size))
    return found


def repeated(process, group, interval_s, inputs):
    """The events of all inputs, each an interval after the one before, in microseconds."""

    def in_us(time_s):
        return float(time_s * 10**6 / ODD_OPTIONS_TIMES)

    expected = {}
    for before, (work, layer, start_s, busy_s, where, link_bytes) in product(
        range(inputs), jobs(group)
    ):
        start_us = in_us(start_s + before * Fraction(interval_s))
        args = {"layer": layer, "input": before + 1, "bytes": link_bytes}
        for place in where:
            name = f"{work} layer {layer}, input {before + 1}"
            expected[process, place, name] = (start_us, in_us(busy_s), work, args)
    return expected


def test_both_strategies_of_the_odd_machine_in_full():
    assert trace(f"{ODD_OPTIONS} --inputs 3") == {
        **repeated("tensor parallelism", "tensor, ring", "1111.5", 3),
        **repeated("pipeline parallelism", "pipeline", "1458", 3),
    }


def test_tensor_parallelism_all_to_all_in_full():
    found = trace(f"{ODD_OPTIONS} --inputs 2 --topology all-to-all --plan tensor")
    assert found == repeated("tensor parallelism", "tensor, all-to-all", "602.7", 2)


def test_a_plan_of_groups_in_full():
    found = trace(f"{ODD_OPTIONS} --inputs 2 --topology all-to-all --plan 1-2:3,3:2")
    assert found == repeated("plan 1-2:3,3:2", "1-2:3,3:2", "858.6", 2)


def test_the_file_event_by_event():
    # 2 nodes, a layer each: 3 * 1 * 2 * 1 weights at 4 places, 48 ops in 48 ms; 12 bytes in 12 ms
    # on a link of 1,000 bytes/s; 2 * 3 * 4 * 2 = 48 ops
    line = "--nodes 2 --inputs 1 --gops 0.000001 --link-gbs 0.000001 --element-bytes 1"
    out = output(f"trace {line} --plan pipeline --layer 3,1,2,1,3,2 --layer 2,3,1,1,2,2")

    def head(name, said, **thread):
        return {"ph": "M", "name": name, "pid": 1, **thread, "args": {"name": said}}

    def job(tid, work, layer, ts, dur, sent_bytes):
        args = {"layer": layer, "input": 1, "bytes": sent_bytes}
        named = {"name": f"{work} layer {layer}, input 1", "cat": work}
        return {"ph": "X", **named, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": args}

    assert json.loads(out) == {
        "traceEvents": [
            head("process_name", "pipeline parallelism"),
            head("thread_name", "node 1", tid=1),
            head("thread_name", "link 1 to 2", tid=2),
            head("thread_name", "node 2", tid=3),
            job(1, "compute", 1, 0, 48_000, 0),
            job(2, "send", 1, 48_000, 12_000, 12),
            job(3, "compute", 2, 60_000, 48_000, 0),
        ]
    }


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("", ["tensor parallelism", "pipeline parallelism"]),
        ("--nodes 2", ["tensor parallelism"]),
        ("--nodes 6", ["pipeline parallelism"]),
        ("--nodes 1 --layer 1,1,1,1,1,1", ["tensor parallelism"]),  # the same plan for both
        (
            "--plan 1-2:2,3,4 --plan 1,2,3,4 --plan 1-4:4",
            ["plan 1-2:2,3,4", "pipeline parallelism", "tensor parallelism"],
        ),
    ],
)
def test_plans_are_processes_in_the_order_asked_for(line, names):
    events = json.loads(output(f"trace --inputs 1 {line}"))["traceEvents"]
    processes = [(it["pid"], it["args"]["name"]) for it in events if it["name"] == "process_name"]
    assert processes == [*enumerate(names, 1)]
    assert {event["pid"] for event in events} == {pid for pid, _ in processes}


# ------------------------------------------------ from Python


def test_jobs_are_exact():
    expected = [
        Job(
            *(tuple(where), work, layer, before + 1),
            before * Fraction("858.6") + start_s,
            before * Fraction("858.6") + start_s + busy_s,
            link_bytes * len(where),
        )
        for before in (0, 1)
        for work, layer, start_s, busy_s, where, link_bytes in jobs("1-2:3,3:2")
    ]
    assert schedule.schedule(*ODD_ALL_TO_ALL[:2], GROUPS, 2) == expected


def test_steps_of_each_input_are_an_interval_later():
    steps = schedule.timed_steps(*ODD[:2], PIPELINE, 2)
    starts_s = [it.start_s for it in EVERYTHING.steps if it.group == "pipeline"]
    assert [it.start_s for it in steps] == [*starts_s, *(1_458 + it for it in starts_s)]
    assert [it.input for it in steps] == [1] * 5 + [2] * 5
    assert (steps[-1].step.layer, steps[-1].end_s) == (3, 1_899 + 2 * 1_458)
    assert schedule.interval(*ODD[:2], PIPELINE) == 1_458
    assert schedule.interval(*ODD[:2], TENSOR) == Fraction("1111.5")


def test_nodes_of_each_layer():
    groups = (range(1, 4), range(1, 4), range(4, 6), range(6, 7))
    case = NETWORK, SYSTEM._replace(nodes=6), parse_plan("1-2:3,3:2,4")
    network = [layer._replace(filters=6) for layer in case[0]]
    assert schedule.layer_nodes(network, *case[1:]) == dict(enumerate(groups, 1))


# Nodes and links of each step: 3 * 6 + 2 * 6 + 5; 3 * 6 + 2 * 30 + 5; 3 + 2; 3 + 6 + 3 + 6 + 2 + 1
@pytest.mark.parametrize(
    ("topology", "plan", "expected"),
    [
        (RING, TENSOR, 35),
        (ALL_TO_ALL, TENSOR, 83),
        (RING, PIPELINE, 5),
        (ALL_TO_ALL, PIPELINE, 5),
        (ALL_TO_ALL, GROUPS, 21),
    ],
)
def test_events_are_counted_as_they_are_listed(topology, plan, expected, monkeypatch):
    for inputs in (1, 8):
        case = (*ODD.on(topology=topology)[:2], plan, inputs)
        monkeypatch.setattr(schedule, "MOST_EVENTS", expected * inputs)
        assert sum(len(job.where) for job in schedule.schedule(*case)) == expected * inputs
        monkeypatch.setattr(schedule, "MOST_EVENTS", expected * inputs - 1)
        with pytest.raises(ValueError, match="are too many"):
            schedule.schedule(*case)


# ------------------------------------------------ what is refused


def test_so_many_events_and_no_more(monkeypatch):
    # 35 of tensor parallelism and 5 of the pipeline for each input
    monkeypatch.setattr(schedule, "MOST_EVENTS", 80)
    assert output(f"trace {ODD_OPTIONS} --inputs 2")
    monkeypatch.setattr(schedule, "MOST_EVENTS", 79)
    said = refusal(f"trace {ODD_OPTIONS} --inputs 2")
    assert "more than 79 events are too many to list" in said


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--nodes 3", "cannot be split evenly over 3 nodes"),
        ("--plan 1-3", "layer 3"),
        ("--plan both", "'both'"),
        ("--inputs 1000000000", "more than 100,000 events are too many"),
        ("--plan 1-2:500000,3-4:500000 --nodes 1000000", "split evenly over 500,000 nodes"),
    ],
)
def test_what_cannot_be_traced_is_refused(line, said):
    assert said in refusal(f"trace {line}")


def test_a_million_nodes_are_refused_without_listing_them():
    wide = [layer._replace(filters=10**6, in_channels=10**6) for layer in NETWORK]
    # 4 * 10^6 nodes, 3 * 10^6 * 999,999 links, 999,999 links
    with pytest.raises(ValueError, match="more than 100,000 events"):
        schedule.schedule(wide, SYSTEM._replace(nodes=10**6), [(4, 10**6)])
