"""report/schedule.py: the trace of the lab's plans, worked out by hand, and what is refused."""

import json

import pytest

import schedule
from lab3 import NETWORK, SYSTEM
from program import call, refusal


def trace(line):
    """Its events by process, thread and name; each plan's names of threads."""
    status, out, err = call(line, schedule.respond)
    assert (status, err) == (0, "")
    processes, threads, events = {}, {}, {}
    for event in json.loads(out)["traceEvents"]:
        process = event["pid"]
        if event["name"] == "process_name":
            processes[process] = event["args"]["name"]
        elif event["name"] == "thread_name":
            threads[process, event["tid"]] = event["args"]["name"]
        else:
            assert event["ph"] == "X" and isinstance(event["args"]["bytes"], int)
            place = (processes[process], threads[process, event["tid"]], event["name"])
            assert place not in events
            events[place] = (event["ts"], event["dur"], event["args"])
    return events


def about(value):
    return pytest.approx(value, rel=1e-12)


def test_pipeline_parallelism():
    # 6,220,800 ops at 50,000 ops/us; 230,400 bytes at 2,000 bytes/us; 231,211,008 ops; 200,704
    # bytes; 199,360,512 ops; 173,056 bytes; 169,869,312 ops. Node 2, the slowest, sets the pace.
    first = {
        ("node 1", "compute layer 1"): (0, 124.416, 1, 0),
        ("link 1 to 2", "send layer 1"): (124.416, 115.2, 1, 230_400),
        ("node 2", "compute layer 2"): (239.616, 4624.22016, 2, 0),
        ("link 2 to 3", "send layer 2"): (4863.83616, 100.352, 2, 200_704),
        ("node 3", "compute layer 3"): (4964.18816, 3987.21024, 3, 0),
        ("link 3 to 4", "send layer 3"): (8951.3984, 86.528, 3, 173_056),
        ("node 4", "compute layer 4"): (9037.9264, 3397.38624, 4, 0),
    }
    expected = {}
    for number in (1, 2, 3):
        for (place, job), (start, duration, layer, size) in first.items():
            args = {"layer": layer, "input": number, "bytes": size}
            at = (about(start + (number - 1) * 4624.22016), about(duration), args)
            expected["pipeline parallelism", place, f"{job}, input {number}"] = at
    assert trace("--inputs 3 --plan pipeline") == expected


def test_tensor_parallelism():
    events = trace("--inputs 2 --plan tensor")
    assert len(events) == 2 * (4 * 4 + 3 * 12 + 3)
    # a quarter of 115,605,504 MACs; quarters of 200,704 bytes on 12 links, of 147,456 on 3
    for node in (1, 2, 3, 4):
        computed = events["tensor parallelism", f"node {node}", "compute layer 2, input 1"]
        assert computed == (
            about(59.904),
            about(1156.05504),
            {"layer": 2, "input": 1, "bytes": 0},
        )
    for sender, receiver in ((1, 2), (2, 1), (4, 3)):
        link = f"link {sender} to {receiver}"
        exchanged = events["tensor parallelism", link, "all-gather layer 2, input 2"]
        assert exchanged == (
            about(3127.26016 + 1215.95904),
            about(25.088),
            {"layer": 2, "input": 2, "bytes": 50_176},
        )
    gathered = {
        place: event for (_, place, name), event in events.items() if "gather layer 4" in name
    }
    last = (about(2 * 3127.26016 - 18.432), about(18.432))
    args = {"layer": 4, "input": 2, "bytes": 36_864}
    assert gathered == {f"link {node} to 1": (*last, args) for node in (2, 3, 4)}


def test_tensor_parallelism_on_a_ring():
    """Of the last output node 2 passes on a quarter, node 3 two, node 4 three."""
    # computed in 3,033.30816 us, three times 28.8 + 25.088 + 21.632 us exchanged
    events = trace("--inputs 1 --plan tensor --topology ring")
    gathered = {
        place: event for (_, place, name), event in events.items() if name.startswith("gather")
    }
    assert gathered == {
        f"link {node} to {node % 4 + 1}": (
            about(3259.86816),
            about(18.432 * shards),
            {"layer": 4, "input": 1, "bytes": 36_864 * shards},
        )
        for node, shards in ((2, 1), (3, 2), (4, 3))
    }


def test_both_strategies_unless_plans_are_named():
    assert {plan for plan, _, _ in trace("")} == {"tensor parallelism", "pipeline parallelism"}
    assert {plan for plan, _, _ in trace("--nodes 2")} == {"tensor parallelism"}
    alone = trace("--nodes 1 --inputs 1 --layer 1,1,1,1,1,1")  # on which both are one plan
    assert list(alone) == [("tensor parallelism", "node 1", "compute layer 1, input 1")]
    named = {plan for plan, _, _ in trace("--plan 1-2:2,3,4 --plan tensor --plan 1,2,3,4")}
    assert named == {"plan 1-2:2,3,4", "tensor parallelism", "pipeline parallelism"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--nodes 3", "Tensor parallelism is not possible: 3 nodes"),
        ("--plan 1-3", "layer 3"),
        ("--plan both", "'both'"),
        ("--inputs 1000000000", "62,000,000,000 events"),
        ("--plan 1-2:500000,3-4:500000 --nodes 1000000", "do not divide"),
    ],
)
def test_refusals(line, said):
    assert said in refusal(line, schedule.respond)


def test_a_million_nodes_are_refused_at_once():
    wide = [layer._replace(filters=10**6, in_channels=10**6) for layer in NETWORK]
    with pytest.raises(ValueError, match="limit is 100,000"):
        schedule.schedule(wide, SYSTEM._replace(nodes=10**6), [(4, 10**6)])


def test_wrong_arguments_are_refused_in_a_sentence():
    for plan, inputs in ((None, 1), ([(4, 4, 4)], 1), ([(4, 4)], 0), ([(4, 4)], 1.5)):
        with pytest.raises(ValueError, match="is not"):
            schedule.schedule(NETWORK, SYSTEM, plan, inputs)
