"""report/check/mistakes.py: what each mistake makes of the numbers.

mistakes.json has what commit 34a1ded computed in another way: without formulas as text. A row is a
clause, a strategy, then Q1's seconds and bytes and Q2's, of the lab, ODD, WIDE and ALONE. What it
had not is worked out here.
"""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from lab3 import ConvLayer, System
from machines import LAB, ODD
from report.check.mistakes import MISTAKES, compute
from report.question import Question

MADE = json.loads((Path(__file__).parent / "mistakes.json").read_text(encoding="utf-8"))


def list_edits(clause, strategy):
    """List the edits of a clause: of a row that is of both strategies, too, more than one."""
    edits = [it.edit for it in MISTAKES if it.clause == clause and strategy in it.strategies]
    assert edits, f"{strategy} parallelism: {clause}"
    return edits


# The network's input, 504 bytes, takes longer to send than all else; a single node sends nothing.
WIDE = Question(
    (ConvLayer(2, 8, 3, 2, 9, 7, 1), ConvLayer(4, 2, 2, 3, 7, 6, 1)), System(2, 5_000, 100), 5
)
ALONE = Question(ODD.network[:1], ODD.system._replace(nodes=1), 8)


@pytest.mark.parametrize(("clause", "strategy", "on_lab", "on_odd", "on_wide", "alone"), MADE)
def test_a_mistake_makes_what_was_recorded(clause, strategy, on_lab, on_odd, on_wide, alone):
    recorded = {LAB: on_lab, ODD: on_odd, WIDE: on_wide, ALONE: alone}
    for edit in list_edits(clause, strategy):
        for question, numbers in recorded.items():
            assert compute(question, strategy, [edit]) == [*map(Fraction, numbers.split())]


# ------------------------------------------------ worked out here
def work_out(ops, sizes, nodes, ops_per_s, bytes_per_s, inputs, element_bytes):
    """Work out what mistakes make of layers' ops and output bytes, by clause and strategy."""
    shared = Fraction(sum(ops), nodes * ops_per_s)
    sends = [Fraction(size, bytes_per_s) for size in sizes]
    gathers, stages = sum(sends) / nodes, [Fraction(own, ops_per_s) for own in ops]
    inner, last, sent = sum(sizes[:-1]) // nodes, sizes[-1] // nodes, sum(sizes[:-1])
    gathered, sends = nodes * (nodes - 1) * inner + (nodes - 1) * last, sends[:-1]
    slowest, one = max(stages + sends), sum(stages) + sum(sends)
    steps = [*zip(stages, [*sends, 0], strict=True)]

    def split(latency, traffic=gathered):
        return [latency, traffic, inputs * latency, inputs * traffic]

    def overlap(latency, interval):
        return [latency, sent, latency + (inputs - 1) * interval, inputs * sent]

    tensor = {
        "1 MAC is 4 ops": split(2 * shared + gathers),
        "links have twice the bandwidth": split(shared + gathers / 2),
        "sending takes the time of elements, not bytes": split(shared + gathers / element_bytes),
        "sending takes the time of whole outputs, not parts": split(shared + nodes * gathers),
        # each link carries all other nodes' shards; the last cross 1, 2, ... nodes - 1 links
        "links form the ring of Q4": split(
            shared + (nodes - 1) * gathers, nodes * (nodes - 1) * inner + sum(range(nodes)) * last
        ),
        "in Q2, communication is counted once": [
            *split(shared + gathers)[:2],
            *(inputs * shared + gathers, inputs * gathered),
        ],
        "Q2's numbers have Q1's in them": [
            *split(shared + gathers)[:2],
            *((inputs + 1) * (shared + gathers), (inputs + 1) * gathered),
        ],
    }
    half, elements = ([send / part for send in sends] for part in (2, element_bytes))
    slots = inputs + len(ops) - 1
    pipeline = {
        "1 MAC is 4 ops": overlap(one + sum(stages), max(2 * max(stages), *sends)),
        "links have twice the bandwidth": overlap(sum(stages + half), max(stages + half)),
        "sending takes the time of elements, not bytes": overlap(
            sum(stages + elements), max(stages + elements)
        ),
        "a layer takes the longer of computing and sending, not both": overlap(
            sum(map(max, steps)), slowest
        ),
        "Q2's numbers have Q1's in them": [
            *(one, sent, 2 * one + (inputs - 1) * slowest, (inputs + 1) * sent)
        ],
        "N inputs take N - 1 times the slowest stage": [
            *(one, sent, (inputs - 1) * slowest, inputs * sent)
        ],
        "N inputs take (N + layers - 1) times the slowest computing and sending": [
            *(one, sent, slots * max(map(sum, steps)), inputs * sent)
        ],
    }
    return {(clause, "tensor"): tensor[clause] for clause in tensor} | {
        (clause, "pipeline"): pipeline[clause] for clause in pipeline
    }


LAB_OPS, ODD_OPS = [6_220_800, 231_211_008, 199_360_512, 169_869_312], [3_840, 25_920, 31_104]
LAB_BYTES, ODD_BYTES = [230_400, 200_704, 173_056, 147_456], [720, 540, 648]
ON_LAB = work_out(LAB_OPS, LAB_BYTES, 4, 50 * 10**9, 2 * 10**9, 32, 2)
ON_ODD = work_out(ODD_OPS, ODD_BYTES, 6, 62_500, 1_250, 8, 3)


@pytest.mark.parametrize(("clause", "strategy"), ON_LAB)
def test_a_mistake_makes_what_is_worked_out(clause, strategy):
    for edit in list_edits(clause, strategy):
        assert compute(LAB, strategy, [edit]) == ON_LAB[clause, strategy]
        assert compute(ODD, strategy, [edit]) == ON_ODD[clause, strategy]


def test_each_row_has_a_second_source():
    rows = {(it.clause, strategy) for it in MISTAKES for strategy in it.strategies}
    assert rows == {(clause, strategy) for clause, strategy, *_ in MADE} | ON_LAB.keys()


PAIRS = [  # of the lab, whose shards are 57,600, 50,176, 43,264 and 36,864 bytes, 187,904 in all
    (  # 3,033.30816 + 3 * 93.952 us; 12 * 187,904 bytes
        "a node sends and receives one part at a time",
        "the last output goes to all nodes",
        "0.00331516416 2254848 0.10608525312 72155136",
    ),
    (  # 230,400 + 200,704 + 173,056 + 147,456 = 751,616 bytes over a link: 375.808 us
        "all parts of outputs go over one link",
        "traffic counts each output once",
        "0.00340911616 751616 0.10909171712 24051712",
    ),
    # Shards of 32 x 32, 30 x 30 and 28 x 28 are 65,536, 57,600 and 50,176 bytes; in the gather, one
    # is of layer 4's input, 43,264 bytes: 108.288 us, 12 * 173,312 + 3 * 43,264 bytes. Ops are 54 *
    # 128 * 1,024, and 2,304 * 128 * (900 + 784 + 676): 703,070,208, which take 3,515.35104 us.
    (
        "each output is as large (x and y) as its layer's input",
        "the last gather has the size of its layer's input",
        "0.00362363904 2209536 0.11595644928 70705152",
    ),
]


@pytest.mark.parametrize(("one", "other", "numbers"), PAIRS)
def test_two_mistakes_are_both_edits(one, other, numbers):
    edits = [*list_edits(one, "tensor"), *list_edits(other, "tensor")]
    assert compute(LAB, "tensor", edits) == [*map(Fraction, numbers.split())]
