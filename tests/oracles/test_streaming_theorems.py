"""What holds for row streaming, and for every schedule, whatever the numbers: proved by z3.

As in test_theorems.py the proofs are about formulas written here, induction is ours, each theorem
has a refutation of its own, and a test that lab3 and report/streaming.py compute what was proved.
"""

from fractions import Fraction

import z3
from hypothesis import given
from hypothesis import strategies as st

import lab3
from lab3 import NETWORK, SYSTEM
from machines import cases_of_both, pipeline_parallel_cases
from oracles.proofs import maximum, prove, real, refute
from oracles.row_simulation import simulate
from report.plans import pipeline_parallel, tensor_parallel
from report.steps import duration, plan_stages
from report.streaming import compute_bound, streamed_pipeline_latency

INPUTS = st.integers(1, 9)
n = z3.Real("N")

# ------------------------------------------------ no schedule beats the compute bound
#
# In T seconds k nodes do at most k * R * T operations: one node more, R * T more. N inputs cost
# N * C operations, C being the sum of all layers', so P nodes need N * C / (P * R) seconds.


def test_no_schedule_beats_the_compute_bound():
    ops, done, more, nodes, rate, seconds = z3.Reals("C done more k R T")
    possible = [rate > 0, seconds >= 0, nodes >= 1, done <= nodes * rate * seconds]
    prove(done + more <= (nodes + 1) * rate * seconds, more <= rate * seconds, *possible)

    all_done = [done >= n * ops, ops > 0, n >= 1]
    prove(seconds >= n * ops / (nodes * rate), *possible, *all_done)
    refute(seconds >= n * ops / rate, *possible, *all_done)  # several nodes share the work


@given(cases_of_both(), INPUTS)
def test_no_latency_is_below_the_bound(case, inputs):
    network, system = case
    bound_s = compute_bound(network, system, inputs)
    ops = sum(layer.ops for layer in network)
    assert bound_s * system.nodes * system.ops_per_s == inputs * ops
    # tensor parallelism is above it by its communication, which no overlap can save more of
    [steps] = plan_stages(network, system, tensor_parallel(network, system))
    sent_bytes = inputs * sum(step.link_bytes for step in steps)
    tensor_s = lab3.tensor_parallel_latency(network, system, inputs)
    assert tensor_s == bound_s + Fraction(sent_bytes) / system.link_bytes_per_s
    pipeline_s = streamed_pipeline_latency(network, system, inputs)
    assert bound_s <= pipeline_s <= lab3.pipeline_parallel_latency(network, system, inputs)
    # one node alone meets it
    alone = (network, system._replace(nodes=1), inputs)
    assert lab3.tensor_parallel_latency(*alone) == compute_bound(*alone)


# ------------------------------------------------ a streamed pipeline: T(N) = T(1) + (N - 1) * I
#
# Each node and each link is a place; place k takes t_k for each of its m_k rows of an input, and I
# is the longest m_k * t_k. e(n, k, r) is when it ends row r of input n, a(n, k, r) when the place
# before has ended what that row needs:
#
#     e(n, k, r) = max(e(n, k, r - 1), a(n, k, r)) + t_k       e(n - 1, k, last) before row 0
#
# Not later, e(n, k, r) <= e(1, k, r) + (n - 1) * I: by induction over places, inputs and rows. Row
# 0 needs the premise e(1, k, last) <= a(1, k, 0) + I: the rows of an input take an interval at
# most. They do, as they follow each other by at most the longest t_j of the places so far, and are
# no more than m_j. Not earlier from a place with m_k * t_k = I on: there row r of the next input
# ends m_k rows later, and whoever needs rows that are so much later is so much later.

interval, row_s, needed, needed_first, before, before_first = z3.Reals("I t a_n a_1 e_n e_1")
later = (n - 1) * interval
TIMES = [n >= 2, interval >= 0, row_s > 0]


def ends(before, needed):
    return maximum(before, needed) + row_s


def test_rows_are_not_later_than_an_interval_an_input():
    hypotheses = [needed <= needed_first + later, before <= before_first + later]
    next_row = ends(before, needed) <= ends(before_first, needed_first) + later
    prove(next_row, *hypotheses, *TIMES)
    refute(next_row, hypotheses[0], *TIMES)

    last, last_first = z3.Reals("last_n-1 last_1")  # row, of the input before and of the first
    hypotheses = [needed <= needed_first + later, last <= last_first + later - interval]
    premise = last_first <= needed_first + interval
    first_row = ends(last, needed) <= needed_first + row_s + later
    prove(first_row, premise, *hypotheses, *TIMES)
    refute(first_row, *hypotheses, *TIMES)


def test_an_inputs_rows_take_a_place_an_interval_at_most():
    gap, needed_next, rows, rows_before = z3.Reals("gap a_r+1 m_k m_j")
    ended = ends(before, needed)
    follows = ends(ended, needed_next) <= ended + gap
    prove(follows, needed_next <= needed + gap, row_s <= gap, *TIMES)
    refute(follows, needed_next <= needed + gap, *TIMES)

    # the first row and the gaps of the others, at most the row time of a place with m_j rows
    taken = row_s + (rows - 1) * gap
    within = [gap >= row_s, rows >= 1, rows_before * gap <= interval, *TIMES]
    prove(taken <= interval, rows <= rows_before, *within)
    refute(taken <= interval, *within)


def test_rows_are_not_earlier_from_the_bottleneck_on():
    # the bottleneck: m rows of t each between row r of two inputs
    rows, row_ends, input_before, first = z3.Reals("m e_n e_n-1 e_1")
    lag = [row_ends >= input_before + rows * row_s, input_before >= first + later - interval]
    prove(row_ends >= first + later, rows * row_s == interval, *lag, *TIMES)
    refute(row_ends >= first + later, rows * row_s <= interval, *lag, *TIMES)
    # a place after it, and its first row, which nothing is before for the first input
    hypothesis = needed >= needed_first + later
    prove(ends(before, needed) >= needed_first + row_s + later, hypothesis, *TIMES)
    next_row = ends(before, needed) >= ends(before_first, needed_first) + later
    prove(next_row, hypothesis, before >= before_first + later, *TIMES)
    refute(next_row, hypothesis, *TIMES)


@given(pipeline_parallel_cases(layers=4), INPUTS)
def test_rows_streamed_are_as_proved(case, inputs):
    network, system = case
    ample = system._replace(sram_bytes=10**9)
    run = simulate(network, ample, inputs)
    stages = plan_stages(network, system, pipeline_parallel(network, system))
    interval_s = max(duration(stage, system) for stage in stages)
    is_exact = False  # from the bottleneck on
    in_order = sorted(run.jobs, key=lambda place: place if isinstance(place, tuple) else (place,))
    for place in in_order[: 2 * len(network) - 1]:
        jobs = run.jobs[place]
        rows = len(jobs) // inputs
        is_exact |= rows * jobs[0].seconds == interval_s
        assert jobs[rows - 1].end_s <= jobs[0].start_s + interval_s
        for index, job in enumerate(jobs):
            inputs_before, row = divmod(index, rows)
            latest_s = jobs[row].end_s + inputs_before * interval_s
            assert job.end_s == latest_s if is_exact else job.end_s <= latest_s
    assert is_exact
    assert run.latency_s == streamed_pipeline_latency(network, system, inputs)


# ------------------------------------------------ the lab, all-to-all: which strategy is faster
#
# The pipeline, whatever its SRAM, by rows or not, takes at least N * C_2 / R: node 2's work. Tensor
# parallelism takes N * (sum(C) / (P * R) + sum(A) / (P * B)), which is less where x = 1 / B is
# less than (4.62422016 - 3.03330816) ms / 187,904 bytes: on links of more than 118.1 MB/s.

byte_s, tensor, pipeline = z3.Reals("x tensor pipeline")
BOTTLENECK_S = Fraction(231_211_008, 50 * 10**9)
COMPUTE_S = Fraction(606_661_632, 4 * 50 * 10**9)
TURN = (BOTTLENECK_S - COMPUTE_S) / 187_904  # seconds per byte where both are equal
POSSIBLE = [byte_s > 0, n >= 1]


def test_on_fast_links_tensor_parallelism_is_faster_than_any_pipeline_for_all_inputs():
    tensor_whole = tensor == n * (real(COMPUTE_S) + 187_904 * byte_s)
    at_least = pipeline >= n * real(BOTTLENECK_S)
    prove(tensor < pipeline, byte_s < real(TURN), tensor_whole, at_least, *POSSIBLE)
    refute(tensor < pipeline, byte_s <= real(TURN), tensor_whole, at_least, *POSSIBLE)

    for inputs in (1, 32, 10**6):
        for link_bytes_per_s in (1 / TURN, 2 * 10**9):
            case = NETWORK, SYSTEM._replace(link_bytes_per_s=link_bytes_per_s), inputs
            tensor_s = lab3.tensor_parallel_latency(*case)
            assert tensor_s <= inputs * BOTTLENECK_S < streamed_pipeline_latency(*case)
            assert (tensor_s == inputs * BOTTLENECK_S) == (link_bytes_per_s == 1 / TURN)


def test_on_slow_links_the_pipeline_by_rows_can_be_faster():
    slow = NETWORK, SYSTEM._replace(link_bytes_per_s=80 * 10**6), 32
    assert streamed_pipeline_latency(*slow) < lab3.tensor_parallel_latency(*slow)


# ------------------------------------------------ the law's schedule, for all inputs
#
# The first input is in a stage of time t from o to o + t, input i (i - 1) * I later, I being the
# longest stage. Two inputs never meet there, and the last ends (N - 1) * I after the first, which
# is the law. test_schedule.py has the same of every job.


def test_inputs_an_interval_apart_never_meet():
    i, j = z3.Ints("i j")
    start, stage_s, total_s = z3.Reals("o t S")
    stage = [stage_s > 0, start >= 0, i >= 1, j > i]

    def enters(number):
        return start + (number - 1) * interval

    prove(enters(i) + stage_s <= enters(j), stage_s <= interval, *stage)
    refute(enters(i) + stage_s <= enters(j), stage_s <= 2 * interval, interval > 0, *stage)

    # no stage of an input ends after the law's time for N inputs, and the last ends then
    law_s = total_s + (n - 1) * interval
    goes_on = [start + stage_s <= total_s, i <= n, interval >= 0]
    prove(enters(i) + stage_s <= law_s, *goes_on, *stage)
    prove(enters(n) + stage_s == law_s, start + stage_s == total_s, *stage)
    refute(enters(n) + stage_s == law_s, *goes_on, *stage)
