"""report/check/mistakes.py: what each mistake makes of the numbers.

mistakes.json has what commit 34a1ded computed in another way: without formulas as text. A row is a
clause, a strategy, then on the lab and on ODD Q1's seconds and bytes and Q2's. What it had not is
worked out here.
"""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from machines import LAB, ODD
from report.check.mistakes import MISTAKES, compute

MADE = json.loads((Path(__file__).parent / "mistakes.json").read_text(encoding="utf-8"))


def compute_with(question, strategy, *clauses):
    """Compute a strategy's numbers with the mistakes that have these clauses."""
    rows = [it for it in MISTAKES if it.clause in clauses and strategy in it.strategies]
    edits = {it.clause: it.edit for it in rows}
    assert {*edits} == {*clauses}
    return compute(question, strategy, [edits[clause] for clause in clauses])


@pytest.mark.parametrize(("clause", "strategy", "on_lab", "on_odd"), MADE)
def test_a_mistake_makes_what_was_recorded(clause, strategy, on_lab, on_odd):
    for question, numbers in ((LAB, on_lab), (ODD, on_odd)):
        assert compute_with(question, strategy, clause) == [*map(Fraction, numbers.split())]


# ------------------------------------------------ worked out by hand

# Ops C and output bytes A of each layer; nodes P, ops/s R, bytes/s B, inputs N, bytes per element E
LAB_SIZES = (
    [6_220_800, 231_211_008, 199_360_512, 169_869_312],
    [230_400, 200_704, 173_056, 147_456],
    (4, 50 * 10**9, 2 * 10**9, 32, 2),
)
ODD_SIZES = ([3_840, 25_920, 31_104], [720, 540, 648], (6, 62_500, 1_250, 8, 3))


def work_out_tensor(C, A, machine):  # noqa: N803
    P, R, B, N, E = machine  # noqa: N806
    compute, send = Fraction(sum(C), P * R), Fraction(sum(A), P * B)
    inner, last = sum(A[:-1]) // P, A[-1] // P
    one, moved = compute + send, P * (P - 1) * inner + (P - 1) * last

    def each(latency, traffic=moved):
        return [latency, traffic, N * latency, N * traffic]

    return {
        "1 MAC is 4 ops": each(2 * compute + send),
        "links have twice the bandwidth": each(compute + send / 2),
        "sending takes the time of elements, not bytes": each(compute + send / E),
        "sending takes the time of whole outputs, not shards": each(compute + P * send),
        # each link carries P - 1 shards in turn; the last cross 1 + 2 + ... + (P - 1) links
        "links form the ring of Q4": each(
            compute + (P - 1) * send, P * (P - 1) * inner + sum(range(P)) * last
        ),
        "in Q2, communication is counted once": [one, moved, N * compute + send, N * moved],
        "Q2's numbers have Q1's in them": [one, moved, (N + 1) * one, (N + 1) * moved],
    }


def work_out_pipeline(C, A, machine):  # noqa: N803
    _, R, B, N, E = machine  # noqa: N806
    stages, sends = [Fraction(ops, R) for ops in C], [Fraction(size, B) for size in A[:-1]]
    one, slowest, moved = sum(stages) + sum(sends), max(stages + sends), sum(A[:-1])
    both = [stage + send for stage, send in zip(stages, [*sends, 0], strict=True)]
    longer = sum(max(stage, send) for stage, send in zip(stages, [*sends, 0], strict=True))

    def overlap(stages, sends):
        first = sum(stages) + sum(sends)
        return [first, moved, first + (N - 1) * max(stages + sends), N * moved]

    return {
        "1 MAC is 4 ops": overlap([2 * stage for stage in stages], sends),
        "links have twice the bandwidth": overlap(stages, [send / 2 for send in sends]),
        "sending takes the time of elements, not bytes": overlap(
            stages, [send / E for send in sends]
        ),
        "a layer takes the longer of computing and sending, not both": [
            *(longer, moved, longer + (N - 1) * slowest, N * moved)
        ],
        "Q2's numbers have Q1's in them": [
            *(one, moved, one + (N - 1) * slowest + one, (N + 1) * moved)
        ],
        "N inputs take N - 1 times the slowest stage": [
            *(one, moved, (N - 1) * slowest, N * moved)
        ],
        "N inputs take (N + layers - 1) times the slowest computing and sending": [
            *(one, moved, (N + len(C) - 1) * max(both), N * moved)
        ],
    }


WORKED_OUT = {"tensor": work_out_tensor, "pipeline": work_out_pipeline}


@pytest.mark.parametrize(("question", "sizes"), [(LAB, LAB_SIZES), (ODD, ODD_SIZES)])
@pytest.mark.parametrize("strategy", WORKED_OUT)
def test_a_mistake_makes_what_is_worked_out(strategy, question, sizes):
    for clause, numbers in WORKED_OUT[strategy](*sizes).items():
        assert compute_with(question, strategy, clause) == numbers, clause


def test_each_row_has_a_second_source():
    known = {(clause, strategy) for clause, strategy, *_ in MADE}
    known |= {
        (clause, of) for of, work_out in WORKED_OUT.items() for clause in work_out(*LAB_SIZES)
    }
    assert {(it.clause, strategy) for it in MISTAKES for strategy in it.strategies} == known


# ------------------------------------------------ two mistakes, worked out on the lab
#
# Shards are of 57,600, 50,176, 43,264 and 36,864 bytes, 187,904 in all; a node computes 3,033.30816 us.

PAIRS = [
    (  # 3 * 93.952 us; 12 * 187,904 bytes
        "a node sends and receives one shard at a time",
        "the last output goes to all nodes",
        ["0.00331516416", 2_254_848, "0.10608525312", 72_155_136],
    ),
    (  # 230,400 + 200,704 + 173,056 + 147,456 = 751,616 bytes over a link: 375.808 us
        "all shards go over one link",
        "traffic counts each output once",
        ["0.00340911616", 751_616, "0.10909171712", 24_051_712],
    ),
    # Outputs of 32 x 32, 30 x 30 and 28 x 28 have shards of 65,536, 57,600 and 50,176 bytes; of the
    # last is gathered what layer 4's input of 26 x 26 has, 43,264: 108.288 us; 12 * 173,312 + 3 *
    # 43,264 bytes. Ops are 54 * 128 * 1,024 = 7,077,888, and 2,304 * 128 = 294,912 times 900, 784
    # and 676: 703,070,208 in all, 3,515.35104 us.
    (
        "each output is as large (x and y) as its layer's input",
        "the last gather has the size of its layer's input",
        ["0.00362363904", 2_209_536, "0.11595644928", 70_705_152],
    ),
]


@pytest.mark.parametrize(("one", "other", "numbers"), PAIRS)
def test_two_mistakes_are_both_edits(one, other, numbers):
    assert compute_with(LAB, "tensor", one, other) == [*map(Fraction, numbers)]
