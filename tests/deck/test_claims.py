"""What the deck says beyond numbers. Each claim holds for the lab, and for the questions given with
it, just outside its bounds, it does not, so it can fail."""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import pytest

import lab3
from report import plans, schedule, streaming
from report.analysis import Analysis, balanced_pipeline_latency, data_parallel_latency, ops_per_byte
from report.deck.facts import READINGS, reading_s, two_in_turn_bytes
from report.question import LAB

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


def tensor_steps(analysis, **changes):
    [steps] = lab3.tensor_parallel_stages(*analysis.question.on(**changes)[:2])
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


@claim(sram(503_487), sram(726_016))
def test_with_whole_tensors_tensor_parallelism_alone_of_the_three_fits(it):
    fitting = [name for name in ("tensor", "pipeline", "data") if it.sram[name].fullest.fits]
    return fitting == ["tensor"]


@claim(links(92))
def test_no_reading_of_the_handout_changes_the_winner(it):
    return all(
        reading_s(it, "tensor", reading) < reading_s(it, "pipeline", reading)
        for reading in READINGS
    )


# ------------------------------------------------ page 2


@claim(LAB.on(link_bytes_per_s=Fraction(50 * 10**9, 27)))
def test_each_layer_takes_longer_to_compute_than_to_send(it):
    return all(
        compute.time_s > send.time_s
        for strategy in ("tensor", "pipeline")
        for compute, send in pairwise(it.strategies[strategy].steps)
        if compute.layer == send.layer
    )


# layer 2 has 64 channels instead of 128
@claim(with_filters(64, 128, 128, 128))
def test_layers_2_to_4_cost_as_many_operations_per_byte(it):
    return len({ops_per_byte(layer) for layer in it.network[1:]}) == 1


# ------------------------------------------------ page 3


# on links of 49.8246 MB/s the first output takes as long as node 2
@claim(links(49))
def test_node_2_alone_sets_the_pipelines_pace(it):
    stages = lab3.pipeline_parallel_stages(it.network, it.system)
    times_s = [lab3.duration(stage, it.system) for stage in stages]
    return times_s.count(max(times_s)) == 1 and stages[times_s.index(max(times_s))][0][:2] == (
        2,
        "compute",
    )


@claim(LAB.on(nodes=8))
def test_each_shard_of_layers_1_to_3_goes_to_three_nodes(it):
    tensor, pipeline = of(it, "tensor", 1), of(it, "pipeline", 1)
    gathered = tensor_steps(it)[-1].traffic_bytes
    return tensor.traffic_bytes == 3 * pipeline.traffic_bytes + gathered


# ------------------------------------------------ page 4


@claim(sram(503_488 + 230_400))
def test_whole_tensors_of_two_inputs_do_not_fit(it):
    return two_in_turn_bytes(it) > it.system.sram_bytes


# 32 inputs are as fast in the balanced pipeline on links of 660.77 MB/s
@claim(links(660))
def test_even_a_balanced_pipeline_is_slower(it):
    return balanced_pipeline_latency(*it.question) > of(it, "tensor").latency_s


@claim(LAB._replace(inputs=1))
def test_the_pipelines_distance_is_mostly_load_imbalance(it):
    return 2 * it.losses.load_imbalance_s > of(it, "pipeline").latency_s - it.limit_s


@claim(sram(455_103))
def test_tensor_parallelism_with_row_streaming_fits(it):
    return it.sram["tensor, streamed"].fullest.fits


@claim(links(92))
def test_no_plan_is_faster_than_tensor_parallelism_for_any_number_of_inputs(it):
    network, system, _ = it.question
    every = [plans.plan_stages(network, system, plan) for plan in plans.every_plan(network, system)]
    intervals_s = [max(lab3.duration(stage, system) for stage in stages) for stages in every]
    tensor = of(it, "tensor", 1)
    return (tensor.latency_s, tensor.interval_s) == (
        min(lab3.latency(stages, system) for stages in every),
        min(intervals_s),
    )


@claim(sram(503_487), sram(582_144))
def test_no_plan_but_tensor_parallelism_fits(it):
    every = [
        plans.plan_result(it.network, it.system, plan)
        for plan in plans.every_plan(it.network, it.system)
    ]
    return [plan.text for plan in every if plan.fits] == ["1-4:4"]


# three nodes can share 96 filters
@claim(with_filters(96, 96, 96, 96))
def test_groups_of_a_plan_have_1_2_or_4_nodes(it):
    every = plans.every_plan(it.network, it.system)
    return {group.nodes for plan in every for group in plan} == {1, 2, 4}


@claim(LAB._replace(inputs=1))
def test_the_next_plans_are_those_that_page_4_names(it):
    _, following, same, *_ = it.plans.best
    is_same = same.traffic_bytes == of(it, "pipeline").traffic_bytes
    return (following.text, same.text) == ("1-2:2,3-4:2", "1-2:2,3,4") and is_same


# ------------------------------------------------ page 5


@claim(sram(891_648))
def test_no_node_can_hold_all_weights(it):
    return sum(layer.weight_bytes for layer in it.network) > it.system.sram_bytes


@claim(sram(294_912 + 230_400))
def test_weights_and_input_alone_are_too_much_for_node_2(it):
    node_2 = it.sram["pipeline"].uses[1]
    return node_2.weight_bytes + node_2.input_bytes > it.system.sram_bytes


# layer 1's 64 filters, or layer 4's 32, make another layer the fullest
@claim(with_filters(64, 128, 128, 128), with_filters(128, 128, 128, 32))
def test_the_fullest_are_layer_2_and_with_row_streaming_the_pipelines_node_4(it):
    names = ("tensor", "tensor, streamed", "pipeline, streamed")
    return [it.sram[name].fullest.layer for name in names] == [2, 2, 4]


# 128 * 28 * 2 / 4 bytes are a shard of a row, 3 * 128 * 26 * 2 are 3 rows
@claim(with_filters(64, 128, 128, 128), with_filters(128, 128, 128, 32))
def test_with_row_streaming_the_fullest_hold_all_input_or_all_output(it):
    uses = [
        max(it.sram[name].uses, key=lambda use: use.total_bytes)
        for name in ("tensor, streamed", "pipeline, streamed")
    ]
    held = [(use.input_bytes, use.output_bytes) for use in uses]
    return held == [(230_400, 1_792), (19_968, 147_456)]


@claim(sram(462_335))
def test_the_pipeline_with_row_streaming_fits(it):
    return it.sram["pipeline, streamed"].fullest.fits


# 31 inputs take data parallelism as long as 32, 97.07 ms, and tensor parallelism 96.95
@claim(LAB._replace(inputs=31))
def test_data_parallelism_would_be_faster(it):
    return data_parallel_latency(*it.question) < of(it, "tensor").latency_s


# 14 outputs are 2,064,384 bytes, and four nodes hold 2,097,152
@claim(LAB._replace(inputs=14))
def test_all_outputs_are_more_than_four_nodes_hold(it):
    return it.inputs * it.network[-1].output_bytes > it.system.nodes * it.system.sram_bytes


def waiting(analysis, strategy):
    return analysis.system.nodes * analysis.sram[strategy].fullest.waiting_inputs


@claim(LAB._replace(inputs=13))
def test_with_whole_tensors_some_inputs_must_arrive_during_the_run(it):
    return 1 + waiting(it, "tensor") < it.inputs


@claim(LAB._replace(inputs=46))
def test_with_row_streaming_all_inputs_fit(it):
    return 1 + waiting(it, "tensor, streamed") >= it.inputs


# ------------------------------------------------ page 6


@claim(LAB.on(nodes=2), LAB.on(nodes=8))
def test_on_a_ring_each_all_gather_and_the_gather_take_three_times_as_long(it):
    steps = zip(tensor_steps(it), tensor_steps(it, topology="ring"), strict=True)
    return all(there.link_bytes == 3 * here.link_bytes for here, there in steps)


# 563,712 bytes take 3.0471 ms, and computing 3.0333
@claim(links(185))
def test_a_rings_exchanges_take_less_time_than_computing(it):
    ring = it.result("tensor", 1, "ring")
    return ring.communication_s < ring.compute_s


@claim(LAB.on(nodes=8))
def test_on_a_ring_only_the_gathers_bytes_change_to_twice_as_many(it):
    here, there = tensor_steps(it), tensor_steps(it, topology="ring")
    stay = [step.traffic_bytes for step in here[:-1]] == [step.traffic_bytes for step in there[:-1]]
    return stay and there[-1].traffic_bytes == 2 * here[-1].traffic_bytes


def test_on_a_ring_nothing_changes_for_the_pipeline():
    here, there = (
        Analysis(LAB).result("pipeline", 32, topology) for topology in ("all-to-all", "ring")
    )
    assert here._replace(topology="ring") == there
    plan = plans.strategy_plans(*LAB[:2])["pipeline"]
    jobs = schedule.schedule(*LAB[:2], plan)
    links_used = {link for job in jobs if job.work == "send" for link in job.where}
    assert links_used == {"link 1 to 2", "link 2 to 3", "link 3 to 4"}


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


@claim(LAB.on(nodes=2))
def test_on_links_that_take_no_time_streamed_tensor_parallelism_is_faster(it):
    return streamed_s(it, 10**30) < longest_compute_s(it)


# 1,024 filters in layer 4 take 27.18 ms there, and its shards of 294,912 bytes 34.79 ms
@claim(with_filters(128, 128, 128, 1024))
def test_where_the_pipelines_two_bounds_meet_streamed_tensor_parallelism_is_faster(it):
    return streamed_s(it, most_sent_bytes(it) / longest_compute_s(it)) < longest_compute_s(it)


# (230,400 + 200,704 + 173,056 + 1,179,648) / 4 = 445,952 bytes
@claim(with_filters(128, 128, 128, 1024))
def test_on_slower_links_the_pipelines_time_grows_faster(it):
    per_link_bytes = Fraction(sum(layer.output_bytes for layer in it.network), it.system.nodes)
    return most_sent_bytes(it) > per_link_bytes
