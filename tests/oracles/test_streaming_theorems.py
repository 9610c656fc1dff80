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
from report.steps import duration, pipeline_parallel_stages, tensor_parallel_stages
from report.streaming import compute_bound, streamed_latency

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
def test_no_latency_is_below_the_bound_of_rows(case, inputs):
    network, system = case
    system = system._replace(topology="all-to-all")
    bound_s = compute_bound(network, system, inputs)
    ops = sum(layer.ops for layer in network)
    assert bound_s * system.nodes * system.ops_per_s == inputs * ops
    tensor_s = streamed_latency("tensor", network, system, inputs)
    pipeline_s = streamed_latency("pipeline", network, system, inputs)
    assert bound_s <= tensor_s <= lab3.tensor_parallel_latency(network, system, inputs)
    assert bound_s <= pipeline_s <= lab3.pipeline_parallel_latency(network, system, inputs)
    # one node alone meets it, and with whole tensors, too
    alone = (network, system._replace(nodes=1), inputs)
    assert streamed_latency("tensor", *alone) == compute_bound(*alone)
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
    run = simulate("pipeline", network, ample, inputs)
    interval_s = max(duration(stage, system) for stage in pipeline_parallel_stages(network, system))
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
    assert run.latency_s == streamed_latency("pipeline", network, system, inputs)


# ------------------------------------------------ the lab, all-to-all: which strategy is faster
#
# Rows streamed in tensor parallelism, with x = 1 / B, in seconds. Where what a row waits for is
# later by l at most, and the row itself takes m longer, it ends later, by l + m at most. So
#
#   N inputs take at most N * T(x), T being the time for one: no input sets out later than when all
#   before it are done.
#   T rises with x, by at most the bytes that a chain of rows sends: sum(A) / 4 = 187,904, as no row
#   is in it twice.
#
# The pipeline, whatever its SRAM, streamed or not, takes at least N * max(C_2 / R, A_1 * x): node
# 2's work, and its link's. These lines meet at 49.8 MB/s, at 4.62422016 ms, where T is 3.7723452416
# ms. On faster links T is no more and the pipeline's no less; on slower ones the pipeline's rises
# by A_1 = 230,400 bytes, which is more than T does.

byte_s, one_input, tensor, pipeline = z3.Reals("x T tensor pipeline")
OPS, BOTTLENECK_S = 606_661_632, Fraction(231_211_008, 50 * 10**9)
TURN = BOTTLENECK_S / 230_400  # x where the lines meet
TENSOR_AT_TURN_S = Fraction("0.0037723452416")
POSSIBLE = [byte_s > 0, n >= 1]


def pipeline_load(byte_s):
    """What an input costs node 2, or the link to it."""
    return maximum(real(BOTTLENECK_S), 230_400 * byte_s)


def pipeline_whole(inputs, byte_s):
    """The law: with rows streamed a pipeline takes no more."""
    sum_s = real(Fraction(OPS, 50 * 10**9)) + 604_160 * byte_s
    return sum_s + (inputs - 1) * pipeline_load(byte_s)


def lab(byte_s, topology="all-to-all"):
    return NETWORK, SYSTEM._replace(link_bytes_per_s=1 / Fraction(byte_s), topology=topology)


def test_a_row_is_later_by_what_it_waits_for_and_what_it_takes_longer():
    before_late, needed_late, late, longer = z3.Reals("before' needed' l m")
    delay = maximum(before_late, needed_late) + longer - maximum(before, needed)
    waits = [
        *(before <= before_late, before_late <= before + late),
        *(needed <= needed_late, needed_late <= needed + late),
        longer >= 0,
    ]
    prove(z3.And(delay >= 0, delay <= late + longer), *waits)
    refute(delay <= late, *waits)


@given(cases_of_both(layers=4), INPUTS)
def test_row_streaming_obeys_these_bounds(case, inputs):
    network, system = case
    system = system._replace(topology="all-to-all")
    one_s = streamed_latency("tensor", network, system)
    assert streamed_latency("tensor", network, system, inputs) <= inputs * one_s

    slower = system._replace(link_bytes_per_s=Fraction(system.link_bytes_per_s) / 3)
    chain_bytes = Fraction(sum(layer.output_bytes for layer in network), system.nodes)
    rise_s = streamed_latency("tensor", network, slower) - one_s
    assert 0 <= rise_s <= chain_bytes * (3 - 1) / system.link_bytes_per_s


def tensor_at_most(at_turn_s):
    rise_s = maximum(real(0), 187_904 * (byte_s - real(TURN)))
    return [one_input <= real(at_turn_s) + rise_s, tensor <= n * one_input]


def test_with_rows_streamed_tensor_parallelism_is_faster_for_all_bandwidths_and_inputs():
    at_least = pipeline >= n * pipeline_load(byte_s)
    prove(tensor < pipeline, *tensor_at_most(TENSOR_AT_TURN_S), at_least, *POSSIBLE)
    refute(tensor < pipeline, *tensor_at_most(BOTTLENECK_S), at_least, *POSSIBLE)

    assert streamed_latency("tensor", *lab(TURN)) == TENSOR_AT_TURN_S
    for byte in (TURN / 10**6, TURN / 2, TURN, 2 * TURN, TURN * 10**6):
        for inputs in (1, 2, 32, 10**6):
            case = *lab(byte), inputs
            least_s = inputs * max(BOTTLENECK_S, 230_400 * byte)
            pipeline_s = streamed_latency("pipeline", *case)
            assert streamed_latency("tensor", *case) < least_s <= pipeline_s
            assert pipeline_s <= lab3.pipeline_parallel_latency(*case)


def test_with_whole_tensors_in_tensor_parallelism_it_is_not():
    one_s = real(Fraction(OPS, 4 * 50 * 10**9)) + 187_904 * byte_s
    found = refute(tensor <= pipeline_whole(32, byte_s), tensor == 32 * one_s, *POSSIBLE)["x"]
    case = *lab(found), 32
    assert streamed_latency("pipeline", *case) <= lab3.pipeline_parallel_latency(*case)
    assert lab3.pipeline_parallel_latency(*case) < lab3.tensor_parallel_latency(*case)


def test_on_a_ring_it_is_not():
    # Streamed or not, the gathering node's only link in carries three quarters of all outputs.
    [steps] = tensor_parallel_stages(*lab(1, "ring"))
    assert sum(step.link_bytes for step in steps) == 563_712
    at_least = tensor >= 32 * 563_712 * byte_s
    found = refute(tensor <= pipeline_whole(32, byte_s), at_least, *POSSIBLE)["x"]
    for byte in (found, Fraction(1, 121 * 10**6)):  # streamed, the pipeline leads even there
        pipeline_s = streamed_latency("pipeline", *lab(byte, "ring"), 32)
        assert pipeline_s < 32 * 563_712 * byte


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
