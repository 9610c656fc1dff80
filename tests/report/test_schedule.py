"""Who works when, and the trace: each time and byte is worked out in a comment.

odd_machines.py has the sizes of the layers. Times are in its seconds, which on the command line are
600 times as short.
"""

import json
from fractions import Fraction
from itertools import permutations

import pytest

from lab3 import ALL_TO_ALL, NETWORK, RING, SYSTEM
from odd_machines import GATHERS, ODD, ODD_ALL_TO_ALL, ODD_OPTIONS, ODD_OPTIONS_TIMES
from report import schedule
from report.__main__ import main
from report.plans import Group, parse_plan
from report.schedule import Job

TENSOR, PIPELINE = (Group(3, 6),), (Group(1),) * 3  # of ODD


@pytest.fixture
def command(capsys):
    """Status, stdout and stderr of `python3 report trace`."""

    def run(line):
        status = main(["trace", *line.split()])
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def trace(command):
    """Its complete events by process, thread and name: ts, dur, cat, args."""

    def run(line):
        status, out, err = command(line)
        assert (status, err) == (0, "")
        processes, threads, found = {}, {}, {}
        for event in json.loads(out)["traceEvents"]:
            process = event["pid"]
            if event["name"] == "process_name":
                processes[process] = event["args"]["name"]
            elif event["name"] == "thread_name":
                threads[process, event["tid"]] = event["args"]["name"]
            else:
                place = (processes[process], threads[process, event["tid"]], event["name"])
                assert place not in found
                found[place] = tuple(event[name] for name in ("ts", "dur", "cat", "args"))
        return found

    return run


def seconds(text):
    return Fraction(text)


def repeated(process, first, interval_s, inputs, times=ODD_OPTIONS_TIMES):
    """The events of all inputs, each an interval after the one before, in microseconds."""
    expected = {}
    for before in range(inputs):
        for work, layer, start_s, busy_s, links_or_nodes, link_bytes in first:
            for place in links_or_nodes:
                name = f"{work} layer {layer}, input {before + 1}"
                start_us, busy_us = (
                    float(Fraction(s) * 10**6 / times)
                    for s in (seconds(start_s) + before * seconds(interval_s), busy_s)
                )
                args = {"layer": layer, "input": before + 1, "bytes": link_bytes}
                expected[process, place, name] = (start_us, busy_us, work, args)
    return expected


NODES = [f"node {number}" for number in range(1, 7)]
AROUND = [f"link {number} to {number % 6 + 1}" for number in range(1, 7)]
ACROSS = [f"link {source} to {target}" for source, target in permutations(range(1, 7), 2)]

# Each link of the ring carries five shards of 120, then of 90 bytes; of the last output node 2
# sends its own, 108 bytes in 43.2 s, node 3 two, and so on.
AROUND_THE_RING = [
    ("compute", 1, "0", "30", NODES, 0),
    ("all-gather", 1, "30", "240", AROUND, 600),
    ("compute", 2, "270", "202.5", NODES, 0),
    ("all-gather", 2, "472.5", "180", AROUND, 450),
    ("compute", 3, "652.5", "243", NODES, 0),
    ("gather", 3, "895.5", "43.2", ["link 2 to 3"], 108),
    ("gather", 3, "895.5", "86.4", ["link 3 to 4"], 216),
    ("gather", 3, "895.5", "129.6", ["link 4 to 5"], 324),
    ("gather", 3, "895.5", "172.8", ["link 5 to 6"], 432),
    ("gather", 3, "895.5", "216", ["link 6 to 1"], 540),
]
# all-to-all each of 30 links carries one shard
BETWEEN_ALL = [
    ("compute", 1, "0", "30", NODES, 0),
    ("all-gather", 1, "30", "48", ACROSS, 120),
    ("compute", 2, "78", "202.5", NODES, 0),
    ("all-gather", 2, "280.5", "36", ACROSS, 90),
    ("compute", 3, "316.5", "243", NODES, 0),
    ("gather", 3, "559.5", "43.2", [f"link {number} to 1" for number in range(2, 7)], 108),
]
# node 3 sets the pace, 1,458 s
ALONG_THE_PIPELINE = [
    ("compute", 1, "0", "180", ["node 1"], 0),
    ("send", 1, "180", "288", ["link 1 to 2"], 720),
    ("compute", 2, "468", "1215", ["node 2"], 0),
    ("send", 2, "1683", "216", ["link 2 to 3"], 540),
    ("compute", 3, "1899", "1458", ["node 3"], 0),
]


def test_both_strategies_of_the_odd_machine_in_full(trace):
    assert trace(f"{ODD_OPTIONS} --inputs 3") == {
        **repeated("tensor parallelism", AROUND_THE_RING, "1111.5", 3),
        **repeated("pipeline parallelism", ALONG_THE_PIPELINE, "1458", 3),
    }


def test_tensor_parallelism_all_to_all_in_full(trace):
    found = trace(f"{ODD_OPTIONS} --inputs 2 --topology all-to-all --plan tensor")
    assert found == repeated("tensor parallelism", BETWEEN_ALL, "602.7", 2)


# Layers 1 and 2 on nodes 1 to 3: 60 s, shards of 240 bytes in 96 s, 405 s. Each of the three sends
# a third of layer 2's output, 180 bytes in 72 s, to both others. These take 729 s, and node 5 sends
# its half, 324 bytes in 129.6 s, to node 4. The longest stage is the last group's, 858.6 s.
THREE_AND_TWO = [
    ("compute", 1, "0", "60", NODES[:3], 0),
    (
        "all-gather",
        1,
        "60",
        "96",
        ["link 1 to 2", "link 1 to 3", "link 2 to 1", "link 2 to 3", "link 3 to 1", "link 3 to 2"],
        240,
    ),
    ("compute", 2, "156", "405", NODES[:3], 0),
    (
        "send",
        2,
        "561",
        "72",
        ["link 1 to 4", "link 1 to 5", "link 2 to 4", "link 2 to 5", "link 3 to 4", "link 3 to 5"],
        180,
    ),
    ("compute", 3, "633", "729", NODES[3:5], 0),
    ("gather", 3, "1362", "129.6", ["link 5 to 4"], 324),
]


def test_a_plan_of_groups_in_full(trace):
    found = trace(f"{ODD_OPTIONS} --inputs 2 --topology all-to-all --plan 1-2:3,3:2")
    assert found == repeated("plan 1-2:3,3:2", THREE_AND_TWO, "858.6", 2)


def test_the_labs_pipeline_in_full(trace):
    # 6,220,800 ops at 50,000 per us; 230,400 bytes at 2,000 per us; 231,211,008 ops; 200,704 bytes;
    # 199,360,512 ops; 173,056 bytes; 169,869,312 ops. Node 2 sets the pace.
    first = [
        ("compute", 1, "0", "124.416", ["node 1"], 0),
        ("send", 1, "124.416", "115.2", ["link 1 to 2"], 230_400),
        ("compute", 2, "239.616", "4624.22016", ["node 2"], 0),
        ("send", 2, "4863.83616", "100.352", ["link 2 to 3"], 200_704),
        ("compute", 3, "4964.18816", "3987.21024", ["node 3"], 0),
        ("send", 3, "8951.3984", "86.528", ["link 3 to 4"], 173_056),
        ("compute", 4, "9037.9264", "3397.38624", ["node 4"], 0),
    ]
    found = trace("--plan pipeline")
    assert found == repeated("pipeline parallelism", first, "4624.22016", 32, times=10**6)


def test_the_file_event_by_event(command):
    # 2 nodes, a layer each: 3 * 1 * 2 * 1 weights at 4 places, 48 ops in 48 ms; 12 bytes in 12 ms
    # on a link of 1,000 bytes/s; 2 * 3 * 4 * 2 = 48 ops
    line = "--nodes 2 --inputs 1 --gops 0.000001 --link-gbs 0.000001 --element-bytes 1"
    status, out, err = command(f"{line} --plan pipeline --layer 3,1,2,1,3,2 --layer 2,3,1,1,2,2")
    assert (status, err) == (0, "")
    assert json.loads(out) == {
        "traceEvents": [
            {
                "ph": "M",
                "name": "process_name",
                "pid": 1,
                "args": {"name": "pipeline parallelism"},
            },
            {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "node 1"}},
            {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "link 1 to 2"}},
            {"ph": "M", "name": "thread_name", "pid": 1, "tid": 3, "args": {"name": "node 2"}},
            {
                "ph": "X",
                "name": "compute layer 1, input 1",
                "cat": "compute",
                "pid": 1,
                "tid": 1,
                "ts": 0,
                "dur": 48_000,
                "args": {"layer": 1, "input": 1, "bytes": 0},
            },
            {
                "ph": "X",
                "name": "send layer 1, input 1",
                "cat": "send",
                "pid": 1,
                "tid": 2,
                "ts": 48_000,
                "dur": 12_000,
                "args": {"layer": 1, "input": 1, "bytes": 12},
            },
            {
                "ph": "X",
                "name": "compute layer 2, input 1",
                "cat": "compute",
                "pid": 1,
                "tid": 3,
                "ts": 60_000,
                "dur": 48_000,
                "args": {"layer": 2, "input": 1, "bytes": 0},
            },
        ]
    }


def test_plans_are_processes_in_the_order_asked_for(command):
    def names(line):
        _, out, _ = command(line)
        events = json.loads(out)["traceEvents"]
        assert {event["pid"] for event in events} == {it["pid"] for it in events if it["ph"] == "M"}
        processes = [it for it in events if it["name"] == "process_name"]
        return [(it["pid"], it["args"]["name"]) for it in processes]

    tensor, pipeline = "tensor parallelism", "pipeline parallelism"
    assert names("--inputs 1") == [(1, tensor), (2, pipeline)]
    assert names("--inputs 1 --nodes 2") == [(1, tensor)]
    assert names("--inputs 1 --nodes 6") == [(1, pipeline)]
    # on one node one layer is the same plan for both
    assert names("--nodes 1 --inputs 1 --layer 1,1,1,1,1,1") == [(1, tensor)]
    asked = "--inputs 1 --plan 1-2:2,3,4 --plan 1,2,3,4 --plan 1-4:4"
    assert names(asked) == [(1, "plan 1-2:2,3,4"), (2, pipeline), (3, tensor)]


# ------------------------------------------------ from Python


def test_jobs_are_exact():
    plan = parse_plan("1-2:3,3:2")
    jobs = schedule.schedule(*ODD_ALL_TO_ALL[:2], plan, 2)
    assert len(jobs) == 2 * 6
    for (before, first), job in zip(
        ((before, it) for before in (0, 1) for it in THREE_AND_TWO), jobs, strict=True
    ):
        work, layer, start_s, busy_s, where, link_bytes = first
        start_s = before * seconds("858.6") + seconds(start_s)
        end_s, traffic_bytes = start_s + seconds(busy_s), link_bytes * len(where)
        assert job == Job(tuple(where), work, layer, before + 1, start_s, end_s, traffic_bytes)


def test_steps_of_each_input_are_an_interval_later():
    steps = schedule.timed_steps(*ODD[:2], PIPELINE, 2)
    starts_s = [0, 180, 468, 1_683, 1_899]
    assert [it.start_s for it in steps] == [*starts_s, *(1_458 + it for it in starts_s)]
    assert [it.input for it in steps] == [1] * 5 + [2] * 5
    assert (steps[-1].step.layer, steps[-1].end_s) == (3, 1_899 + 2 * 1_458)
    assert schedule.interval(*ODD[:2], PIPELINE) == 1_458
    assert schedule.interval(*ODD[:2], TENSOR) == Fraction("1111.5")


def test_steps_that_start_before_a_time():
    first = schedule.timed_steps(*ODD[:2], PIPELINE)
    for until_s, inputs in ((468, 0), (469, 1), (468 + 1_458, 1), (469 + 1_458, 2), (10**6, 8)):
        assert schedule.started(first[2], Fraction(1_458), 8, Fraction(until_s)) == inputs
    found = schedule.steps_until(first, Fraction(1_458), 8, Fraction(1_900))
    assert [(it.step.work, it.step.layer, it.input, it.start_s, it.end_s) for it in found] == [
        ("compute", 1, 1, 0, 180),
        ("compute", 1, 2, 1_458, 1_638),
        ("send", 1, 1, 180, 468),
        ("send", 1, 2, 1_638, 1_926),
        ("compute", 2, 1, 468, 1_683),
        ("send", 2, 1, 1_683, 1_899),
        ("compute", 3, 1, 1_899, 3_357),
    ]


def test_nodes_of_each_layer():
    assert schedule.layer_nodes(parse_plan("1-2:3,3:2,4")) == {
        1: range(1, 4),
        2: range(1, 4),
        3: range(4, 6),
        4: range(6, 7),
    }


# Nodes and links of each step: 3 * 6 + 2 * 6 + 5; 3 * 6 + 2 * 30 + 5; 3 + 2; 3 + 6 + 3 + 6 + 2 + 1
@pytest.mark.parametrize(
    ("topology", "plan", "expected"),
    [
        (RING, TENSOR, 35),
        (ALL_TO_ALL, TENSOR, 83),
        (RING, PIPELINE, 5),
        (ALL_TO_ALL, PIPELINE, 5),
        (ALL_TO_ALL, parse_plan("1-2:3,3:2"), 21),
    ],
)
@pytest.mark.parametrize("inputs", [1, 8])
def test_events_are_counted_as_they_are_listed(topology, plan, expected, inputs):
    case = (*ODD.on(topology=topology)[:2], plan, inputs)
    assert schedule.events(*case) == expected * inputs
    assert sum(len(job.where) for job in schedule.schedule(*case)) == expected * inputs


# ------------------------------------------------ what is refused


def test_so_many_events_and_no_more(monkeypatch, command):
    # 35 of tensor parallelism and 5 of the pipeline for each input
    monkeypatch.setattr(schedule, "MOST_EVENTS", 80)
    assert command(f"{ODD_OPTIONS} --inputs 2")[0] == 0
    monkeypatch.setattr(schedule, "MOST_EVENTS", 79)
    status, out, err = command(f"{ODD_OPTIONS} --inputs 2")
    assert (status, out) == (2, "")
    assert "80 events are too many: the limit is 79" in err
    monkeypatch.setattr(schedule, "MOST_EVENTS", 70)
    assert len(schedule.schedule(*ODD[:2], TENSOR, 2)) == 2 * 10
    with pytest.raises(ValueError, match="105 events"):
        schedule.schedule(*ODD[:2], TENSOR, 3)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--nodes 3", "Tensor parallelism is not possible: 3 nodes"),
        ("--plan 1-3", "layer 3"),
        ("--plan both", "'both'"),
        ("--inputs 1000000000", "62,000,000,000 events are too many: the limit is 100,000"),
        ("--plan 1-2:500000,3-4:500000 --nodes 1000000", "do not divide"),
    ],
)
def test_what_cannot_be_traced_is_refused(command, line, said):
    status, out, err = command(line)
    assert (status, out) == (2, "")
    assert said in err


def test_a_million_nodes_are_refused_without_listing_them():
    wide = [layer._replace(filters=10**6, in_channels=10**6) for layer in NETWORK]
    # 4 * 10^6 nodes, 3 * 10^6 * 999,999 links, 999,999 links
    with pytest.raises(ValueError, match="3,000,001,999,999 events"):
        schedule.schedule(wide, SYSTEM._replace(nodes=10**6), [(4, 10**6)])


@pytest.mark.parametrize(
    ("network", "system", "plan", "inputs", "said"),
    [
        (*GATHERS[:2], None, 1, "plan: None"),
        (*GATHERS[:2], [(2, 3, 3)], 1, "group 1"),
        (*GATHERS[:2], [(2, 3)], 0, "inputs: 0"),
        (*GATHERS[:2], [(2, 3)], -3, "inputs: -3"),
        (*GATHERS[:2], [(2, 3)], 1.5, "inputs: 1.5"),
        ([], SYSTEM, [(2, 3)], 1, "network"),
        (GATHERS.network, None, [(2, 3)], 1, "system"),
    ],
)
def test_what_is_wrong_is_refused(network, system, plan, inputs, said):
    for function in (schedule.schedule, schedule.timed_steps, schedule.events):
        with pytest.raises(ValueError, match=said):
            function(network, system, plan, inputs)
