"""report/check/mistakes.py: what each mistake makes of the numbers.

mistakes.json has what commit 34a1ded computed in another way: without formulas as text. A row is a
clause, a strategy, then Q1's seconds and bytes and Q2's, of the lab, ODD, WIDE and ALONE. What it
had not is worked out here.
"""

import json
import warnings
from fractions import Fraction
from pathlib import Path

import pytest

from lab3 import ConvLayer, System
from machines import LAB, ODD
from report.check.diagnosis import list_candidates
from report.check.mistakes import MISTAKES, Line, Mistake, compute_line, list_printed
from report.question import Question

RECORD = Path(__file__).parent / "mistakes.json"
MADE = json.loads(RECORD.read_text(encoding="utf-8"))


def find_mistakes(clause, strategy):
    """Find the mistakes of a clause: of a row that is of both strategies, too, more than one."""
    rows = [row for row in MISTAKES if row.clause == clause and strategy in row.strategies]
    assert rows, f"{strategy} parallelism: {clause}"
    return rows


# The network's input, 504 bytes, takes longer to send than all else; a single node sends nothing.
WIDE = Question(
    (ConvLayer(2, 8, 3, 2, 9, 7, 1), ConvLayer(4, 2, 2, 3, 7, 6, 1)), System(2, 5_000, 100), 5
)
ALONE = Question(ODD.network[:1], ODD.system._replace(nodes=1), 8)
RECORDED = LAB, ODD, WIDE, ALONE


@pytest.fixture(scope="module")
def record(pytestconfig):
    """Return what is recorded. --update-mistakes writes a strategy's numbers that differ anew."""
    updated, written = pytestconfig.getoption("update_mistakes"), list[str]()
    for row in MADE:
        for place, question in enumerate(RECORDED, 2):
            if row[1] == updated:
                numbers = list_printed(question, updated, find_mistakes(*row[:2])[0])
                if numbers != [*map(Fraction, row[place].split())]:
                    row[place], written = " ".join(map(str, numbers)), [*written, row[0]]
    if updated:
        rows = ",\n".join(map(json.dumps, MADE))
        RECORD.write_text(f"[\n{rows}\n]\n", encoding="utf-8")
        clauses = "; ".join(dict.fromkeys(written)) or "none"
        warnings.warn(f"{updated}, without a second source from now on: {clauses}", stacklevel=1)
    return {(clause, strategy): numbers for clause, strategy, *numbers in MADE}


# ------------------------------------------------ worked out here
def work_out(question):
    """Work out what mistakes make of a question's numbers, by clause and strategy."""
    network, (nodes, ops_per_s, bytes_per_s, _), inputs = question
    sizes = [layer.output_bytes for layer in network]
    stages = [Fraction(layer.ops, ops_per_s) for layer in network]
    sends = [Fraction(size, bytes_per_s) for size in sizes]
    shared, gathers, sends = sum(stages) / nodes, sum(sends) / nodes, sends[:-1]
    inner, last, sent = sum(sizes[:-1]) // nodes, sizes[-1] // nodes, sum(sizes[:-1])
    gathered = nodes * (nodes - 1) * inner + (nodes - 1) * last
    slowest, one = max(stages + sends), sum(stages) + sum(sends)

    def split(latency, traffic=gathered):
        return [latency, traffic, inputs * latency, inputs * traffic]

    def overlap(latency, interval, traffic=sent):
        return [latency, traffic, latency + (inputs - 1) * interval, inputs * traffic]

    def rescale(compute=1, send=1):
        stages_, sends_ = [compute * each for each in stages], [send * each for each in sends]
        return overlap(sum(stages_ + sends_), max(stages_ + sends_))

    # on a ring, each link carries all other nodes' shards; the last cross 1, 2, ... nodes - 1 links
    crossed = nodes * (nodes - 1) * inner + sum(range(nodes)) * last
    right, apart = split(shared + gathers), sum(map(max, zip(stages, [*sends, 0], strict=True)))
    by_turns = overlap(one, max(stages) + max(sends))
    tensor = {
        "a node has a tenth of its GOPS": split(10 * shared + gathers),
        "a node has half of its GOPS": split(2 * shared + gathers),
        "a node has ten times its GOPS": split(shared / 10 + gathers),
        "links have a tenth of their bandwidth": split(shared + 10 * gathers),
        "links have ten times their bandwidth": split(shared + gathers / 10),
        "links form the ring of Q4": split(shared + (nodes - 1) * gathers, crossed),
        "in Q2, communication is counted once": [*right[:2], inputs * shared + gathers, right[3]],
    }
    pipeline = {
        "a node has a tenth of its GOPS": rescale(compute=10),
        "a node has half of its GOPS": rescale(compute=2),
        "a node has ten times its GOPS": rescale(compute=Fraction(1, 10)),
        "links have a tenth of their bandwidth": rescale(send=10),
        "links have ten times their bandwidth": rescale(send=Fraction(1, 10)),
        "a later input takes the longest computing, then the longest transfer": by_turns,
        "a layer takes the longer of computing and sending, not their sum": overlap(apart, slowest),
    }
    made = {"tensor": tensor, "pipeline": pipeline}
    return {(clause, name): made[name][clause] for name in made for clause in made[name]}


ON_LAB, ON_ODD = work_out(LAB), work_out(ODD)
SOURCES = [*(tuple(row[:2]) for row in MADE), *ON_LAB]


@pytest.mark.parametrize(("clause", "strategy"), SOURCES)
def test_a_mistake_makes_its_numbers(clause, strategy, record):
    made = [[*map(Fraction, row.split())] for row in record.get((clause, strategy), [])]
    made = made or [ON_LAB[clause, strategy], ON_ODD[clause, strategy]]
    for mistake in find_mistakes(clause, strategy):
        printed = [list_printed(question, strategy, mistake) for question in RECORDED]
        assert printed[: len(made)] == made


def test_each_row_has_a_second_source():
    rows = {(row.clause, strategy) for row in MISTAKES for strategy in row.strategies}
    assert rows == {*SOURCES}


# ------------------------------------------------ any network
@pytest.mark.parametrize(("layers", "nodes"), [(1, 1), (1, 2), (2, 1), (2, 2), (100, 100)])
def test_each_row_fits_any_network_and_so_do_pairs(layers, nodes):
    """Outputs are 1 x 1, the smallest."""
    network = [ConvLayer(2, 3, 1, 1, 1, 1)] + [ConvLayer(2, 2, 1, 1, 1, 1)] * (layers - 1)
    question = Question(tuple(network), System(nodes), 3)
    for strategy in "tensor", "pipeline":
        tried = list_candidates(strategy, 1)
        if layers <= 2:
            tried = [*tried, *list_candidates(strategy, 2)[layers + nodes :: 9]]
        lines = [Line("Q2", strategy, kind) for kind in ("latency", "traffic")]
        for mistakes in tried:
            numbers = [compute_line(question, line, mistakes) for line in lines]
            assert all(number >= 0 for number in numbers), mistakes


@pytest.mark.parametrize("edit", ["compute = C / S[:-1]", "compute = computing", "R = 0"])
def test_an_edit_that_does_not_fit_names_its_row(edit):
    with pytest.raises(ValueError, match="'all is lost' for tensor parallelism"):
        list_printed(LAB, "tensor", Mistake("all is lost", edit))
