"""What the deck says beyond numbers. Each claim holds for the lab, and for the questions given with
it, just outside its bounds, it does not, so it can fail."""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import pytest

import lab3
from oracles.simulation import Machine
from report import pictures, plans, schedule, streaming
from report.analysis import Analysis, balanced_pipeline_latency, data_parallel_latency, ops_per_byte
from report.deck.facts import (
    READINGS,
    RING_STREAMED_MB,
    busiest_link_bytes,
    frugal_plan,
    largest_input_bytes,
    reading_s,
    ring_bound_mb,
)
from report.question import LAB
from report.steps import duration, latency, pipeline_parallel_stages, tensor_parallel_stages

MB = 10**6


def claim(*outside):
    """A test that the decorated condition holds for the lab, and not for these questions."""

    def decorate(condition: Callable[[Analysis], bool]):
        @pytest.mark.parametrize("question", [LAB, *outside])
        def test(question):
            assert condition(Analysis(question)) == (question == LAB)

        return test

    return decorate


def with_filters(*counts):
    """The lab with layers of so many filters."""
    before = [lab3.NETWORK[0].in_channels, *counts]
    layers = zip(lab3.NETWORK, counts, before[:-1], strict=True)
    return LAB._replace(network=tuple(it._replace(filters=a, in_channels=b) for it, a, b in layers))


def sram(size):
    return LAB.on(sram_bytes=size)


def links(mb_per_s):
    return LAB.on(link_bytes_per_s=mb_per_s * MB)


def of(analysis, strategy, inputs=None):
    return analysis.result(strategy, inputs or analysis.inputs)


def every_plan(analysis):
    return plans.every_plan(*analysis.question[:2])


def waiting(analysis, strategy):
    return analysis.system.nodes * analysis.sram[strategy].fullest.waiting_inputs


def tensor_steps(analysis, **changes):
    [steps] = tensor_parallel_stages(*analysis.question.on(**changes)[:2])
    return steps


# ------------------------------------------------ page 1


@claim(links(92))
def test_tensor_parallelism_is_faster_for_any_number_of_inputs(it):
    """For the first, and with every further one it takes less longer."""
    tensor, pipeline = of(it, "tensor", 1), of(it, "pipeline", 1)
    return tensor.latency_s < pipeline.latency_s and tensor.interval_s < pipeline.interval_s


# 2,048 filters in layer 4 make an output of 2,359,296 bytes, a shard of 589,824
@claim(with_filters(128, 128, 128, 2048))
def test_tensor_parallelism_sends_more_bytes_in_less_time(it):
    tensor, pipeline = of(it, "tensor", 1), of(it, "pipeline", 1)
    is_more = tensor.traffic_bytes > pipeline.traffic_bytes
    return is_more and tensor.communication_s < pipeline.communication_s


@claim(LAB.on(topology="ring"))
def test_up_to_all_12_links_work_at_once(it):
    network, system, _ = it.question
    tensor = plans.strategy_plans(network, system)["tensor"]
    sends = [job for job in schedule.schedule(network, system, tensor) if job.work != "compute"]
    return max(len(job.where) for job in sends) == 12


test_no_reading_of_the_handout_changes_the_winner = claim(links(92))(
    lambda it: all(reading_s(it, "tensor", r) < reading_s(it, "pipeline", r) for r in READINGS)
)
# ------------------------------------------------ page 2

test_each_layer_takes_longer_to_compute_than_to_send = claim(links(Fraction(50_000, 27)))(
    lambda it: all(
        compute.time_s > send.time_s
        for strategy in ("tensor", "pipeline")
        for compute, send in pairwise(it.strategies[strategy].steps)
        if compute.layer == send.layer
    )
)
# layer 2 has 64 channels instead of 128
test_layers_2_to_4_cost_as_many_operations_per_byte = claim(with_filters(64, 128, 128, 128))(
    lambda it: len({ops_per_byte(layer) for layer in it.network[1:]}) == 1
)

# ------------------------------------------------ page 3


# on links of 49.8246 MB/s the first output takes as long as node 2
@claim(links(49))
def test_node_2_alone_sets_the_pipelines_pace(it):
    times_s = {
        stage[0][:2]: duration(stage, it.system)
        for stage in pipeline_parallel_stages(*it.question[:2])
    }
    return [step for step in times_s if times_s[step] == max(times_s.values())] == [(2, "compute")]


# layer 1's block is as wide as 31 us of the 13.68 ms on 770 points, layer 4's 849 us
def test_layer_1_alone_has_no_number_in_the_timeline():
    texts = pictures.image(pictures.timeline(Analysis(LAB)), ".svg").decode().split(">1</text>")
    assert len(texts) - 1 == 4 * 3 + 3  # layers 2 to 4 on four nodes, and in the pipeline on one


def test_the_pipelines_node_1_starts_just_in_time_for_node_2():
    jobs = schedule.schedule(*LAB[:2], plans.strategy_plans(*LAB[:2])["pipeline"], 32)
    arrived_s = {job.input: job.end_s for job in jobs if job[1:3] == ("send", 1)}
    started_s = {job.input: job.start_s for job in jobs if job[1:3] == ("compute", 2)}
    assert arrived_s == started_s


test_each_shard_of_layers_1_to_3_goes_to_three_nodes = claim(LAB.on(nodes=8))(
    lambda it: (
        of(it, "tensor", 1).traffic_bytes - tensor_steps(it)[-1].traffic_bytes
        == 3 * of(it, "pipeline", 1).traffic_bytes
    )
)
# ------------------------------------------------ page 4


test_whole_tensors_of_two_inputs_do_not_fit = claim(sram(503_488 + 230_400))(
    lambda it: (
        it.sram["tensor"].fullest.total_bytes + largest_input_bytes(it.question)
        > it.system.sram_bytes
    )
)
# 32 inputs are as fast in the balanced pipeline on links of 660.77 MB/s
test_even_a_balanced_pipeline_is_slower = claim(links(660))(
    lambda it: balanced_pipeline_latency(*it.question) > of(it, "tensor").latency_s
)
test_the_pipelines_distance_is_mostly_load_imbalance = claim(LAB._replace(inputs=1))(
    lambda it: 2 * it.losses.load_imbalance_s > of(it, "pipeline").latency_s - it.lower_bound_s
)
test_tensor_parallelism_with_row_streaming_fits = claim(sram(455_103))(
    lambda it: it.sram["tensor, streamed"].fullest.fits
)


@claim(links(92))
def test_no_plan_is_faster_than_tensor_parallelism_for_any_number_of_inputs(it):
    network, system, _ = it.question
    every = [plans.plan_stages(network, system, plan) for plan in every_plan(it)]
    first_s = min(latency(stages, system) for stages in every)
    interval_s = min(max(duration(stage, system) for stage in stages) for stages in every)
    tensor = of(it, "tensor", 1)
    return (tensor.latency_s, tensor.interval_s) == (first_s, interval_s)


# three nodes can share 96 filters
test_groups_of_a_plan_have_1_2_or_4_nodes = claim(with_filters(96, 96, 96, 96))(
    lambda it: {group.nodes for plan in every_plan(it) for group in plan} == {1, 2, 4}
)


def test_the_plan_drawn_is_the_fastest_that_sends_no_more_than_the_pipeline():
    most_bytes = lab3.pipeline_parallel_traffic(*LAB)
    every = [plans.plan_result(*LAB[:2], plan, 32) for plan in every_plan(Analysis(LAB))]
    frugal = [it for it in every if it.traffic_bytes <= most_bytes]
    fastest = min(frugal, key=lambda it: it.latency_s)
    assert fastest == frugal_plan(LAB)
    assert "layers 1-2 on 2 nodes, 3 on 1, 4 on 1, 133.56 ms" in pictures.limits(Analysis(LAB)).alt


# ------------------------------------------------ page 5

test_no_node_can_hold_all_weights = claim(sram(891_648))(
    lambda it: sum(layer.weight_bytes for layer in it.network) > it.system.sram_bytes
)

test_with_whole_tensors_tensor_parallelism_alone_of_the_three_fits = claim(
    sram(503_487), sram(726_016)
)(
    lambda it: (
        [name for name in ("tensor", "pipeline", "data") if it.sram[name].fullest.fits]
        == ["tensor"]
    )
)
test_no_plan_but_tensor_parallelism_fits = claim(sram(503_487), sram(582_144))(
    lambda it: (
        [plan for plan in every_plan(it) if plans.plan_result(*it.question[:2], plan).fits]
        == [((4, 4),)]
    )
)
test_weights_and_input_alone_are_too_much_for_node_2 = claim(sram(294_912 + 230_400))(
    lambda it: sum(it.sram["pipeline"].uses[1][3:5]) > it.system.sram_bytes
)
# layer 1's 64 filters, or layer 4's 32, make another layer the fullest; 128 * 28 * 2 / 4 bytes are
# a shard of a row, 3 * 128 * 26 * 2 are 3 rows
OTHERS_FULLEST = with_filters(64, 128, 128, 128), with_filters(128, 128, 128, 32)
STREAMED = ("tensor, streamed", "pipeline, streamed")
test_the_fullest_are_layer_2_and_with_row_streaming_the_pipelines_node_4 = claim(*OTHERS_FULLEST)(
    lambda it: [it.sram[name].fullest.layer for name in ("tensor", *STREAMED)] == [2, 2, 4]
)
test_with_row_streaming_the_fullest_hold_all_input_or_all_output = claim(*OTHERS_FULLEST)(
    lambda it: (
        [max(it.sram[name].uses, key=lambda use: use.total_bytes)[4:6] for name in STREAMED]
        == [(230_400, 1_792), (19_968, 147_456)]
    )
)
test_the_pipeline_with_row_streaming_fits = claim(sram(462_335))(
    lambda it: it.sram["pipeline, streamed"].fullest.fits
)
# 31 inputs take data parallelism as long as 32, 97.07 ms, and tensor parallelism 96.95
test_data_parallelism_would_be_faster = claim(LAB._replace(inputs=31))(
    lambda it: data_parallel_latency(*it.question) < of(it, "tensor").latency_s
)
test_the_pipelines_other_nodes_need_less_with_row_streaming = claim(OTHERS_FULLEST[1])(
    lambda it: (
        max(use.total_bytes for use in it.sram["pipeline, streamed"].uses[:3])
        < it.sram["pipeline, streamed"].uses[3].total_bytes
    )
)
# a quarter of the weights, 222,912 bytes, all of layer 2's input and the output
test_no_output_can_stay_until_the_next_inputs_first_exchange_ends = claim(
    sram(222_912 + 230_400 + 147_456)
)(
    lambda it: (
        it.sram["tensor"].uses[0].weight_bytes
        + it.network[1].input_bytes
        + it.network[-1].output_bytes
        > it.system.sram_bytes
    )
)
test_with_whole_tensors_a_node_that_starts_all_inputs_is_refilled = claim(LAB._replace(inputs=4))(
    lambda it: 1 + it.sram["tensor"].fullest.waiting_inputs < it.inputs
)
test_with_whole_tensors_some_inputs_must_arrive_during_the_run = claim(LAB._replace(inputs=13))(
    lambda it: 1 + waiting(it, "tensor") < it.inputs
)
test_with_row_streaming_all_inputs_fit = claim(LAB._replace(inputs=46))(
    lambda it: 1 + waiting(it, "tensor, streamed") >= it.inputs
)
# ------------------------------------------------ page 6

test_on_a_ring_each_all_gather_and_the_gather_take_three_times_as_long = claim(
    LAB.on(nodes=2), LAB.on(nodes=8)
)(
    lambda it: (
        [step.link_bytes for step in tensor_steps(it, topology="ring")]
        == [3 * step.link_bytes for step in tensor_steps(it)]
    )
)
# 563,712 bytes take 3.0471 ms, and computing 3.0333
test_a_rings_exchanges_take_less_time_than_computing = claim(links(185))(
    lambda it: it.result("tensor", 1, "ring").communication_s < of(it, "tensor", 1).compute_s
)


@claim(LAB.on(nodes=8))
def test_on_a_ring_only_the_gathers_bytes_change_to_twice_as_many(it):
    here, there = tensor_steps(it), tensor_steps(it, topology="ring")
    stay = [step.traffic_bytes for step in here[:-1]] == [step.traffic_bytes for step in there[:-1]]
    return stay and there[-1].traffic_bytes == 2 * here[-1].traffic_bytes


def test_on_a_ring_nothing_changes_for_the_pipeline():
    here, there = (Analysis(LAB).result("pipeline", 32, name) for name in ("all-to-all", "ring"))
    assert here._replace(topology="ring") == there
    jobs = schedule.schedule(*LAB[:2], plans.strategy_plans(*LAB[:2])["pipeline"])
    links_used = {link for job in jobs if job.work == "send" for link in job.where}
    assert links_used == {"link 1 to 2", "link 2 to 3", "link 3 to 4"}


def test_against_the_ring_each_output_crosses_three_links():
    machine = Machine(LAB.on(topology="ring").system)

    def work():
        for node, layer in zip((3, 2, 1, 0), lab3.NETWORK, strict=True):
            yield from machine.compute(node, layer.ops)
            if node:
                way = [(node + links) % 4 for links in range(4)]
                yield from machine.deliver(way, layer.output_bytes)

    # 12,133.23264 us of computing
    assert machine.run([work()]) * 10**6 == Fraction("12133.23264") + Fraction("906.24")


def on_ring(mb_per_s):
    return LAB.on(topology="ring", link_bytes_per_s=mb_per_s * MB)


@pytest.mark.parametrize(
    ("most_mb", "pipeline_s"),
    [
        (ring_bound_mb(LAB), lab3.pipeline_parallel_latency),
        (RING_STREAMED_MB, lambda *it: streaming.streamed_latency("pipeline", *it)),
    ],
)
def test_up_to_there_a_rings_link_to_the_gathering_node_takes_longer(most_mb, pipeline_s):
    def link_s(question):
        carried_bytes = 32 * busiest_link_bytes(question, "tensor")
        return Fraction(carried_bytes) / question.system.link_bytes_per_s

    rates = range(1, 301)
    longer = [mb for mb in rates if pipeline_s(*on_ring(mb)) < link_s(on_ring(mb))]
    assert longer == [*range(1, most_mb + 1)]


# 1,024 filters in layer 4: 445,952 bytes over the busiest link, against 230,400
MANY_FILTERS = with_filters(128, 128, 128, 1024)


# Row streaming in both, all-to-all: no link bandwidth makes the pipeline faster, for no number of
# inputs. With x = 1 / B the pipeline takes N * max(C / R, A * x) or more. Tensor parallelism takes
# N times its first input or less: the longest of many chains of rows, so convex in x. It is enough
# that it is below at x = 0 and where the pipeline's two lines meet, and rises less from there on.


def streamed_s(analysis, link_bytes_per_s):
    system = analysis.system._replace(link_bytes_per_s=link_bytes_per_s)
    return streaming.streamed_latency("tensor", analysis.network, system)


def longest_compute_s(analysis):
    return Fraction(max(layer.ops for layer in analysis.network)) / analysis.system.ops_per_s


def most_sent_bytes(analysis):
    return max(layer.output_bytes for layer in analysis.network[:-1])


test_on_links_that_take_no_time_streamed_tensor_parallelism_is_faster = claim(LAB.on(nodes=2))(
    lambda it: streamed_s(it, 10**30) < longest_compute_s(it)
)
# 1,024 filters in layer 4 take 27.18 ms there, and its shards of 294,912 bytes 34.79 ms
test_where_the_pipelines_two_bounds_meet_streamed_tensor_parallelism_is_faster = claim(
    MANY_FILTERS
)(lambda it: streamed_s(it, most_sent_bytes(it) / longest_compute_s(it)) < longest_compute_s(it))
# (230,400 + 200,704 + 173,056 + 1,179,648) / 4 = 445,952 bytes
test_on_slower_links_the_pipelines_time_grows_faster = claim(MANY_FILTERS)(
    lambda it: (
        most_sent_bytes(it) * it.system.nodes > sum(layer.output_bytes for layer in it.network)
    )
)
