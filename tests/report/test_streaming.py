"""Row streaming in the pipeline, and the lower bound: by the tables of odd_machines.py, and at the
edges."""

from fractions import Fraction

import pytest
from hypothesis import given

from lab3 import NETWORK, SYSTEM, ConvLayer
from machines import pipeline_parallel_cases
from odd_machines import BOTH, ODD, SENDS, rows
from report import streaming
from report.question import LAB
from report.streaming import compute_bound, critical_runs, streamed_pipeline_latency


@pytest.mark.parametrize(("question", "row"), rows("streamed"))
def test_what_the_hand_worked_machines_take(question, row):
    for topology in BOTH:
        network, system, _ = question.on(topology=topology)
        assert streamed_pipeline_latency(network, system, row.inputs) == row.latency_s
        if row.inputs == 1:  # unless told
            assert streamed_pipeline_latency(network, system) == row.latency_s


@pytest.mark.parametrize("inputs", [1, 32, 10**9])
def test_the_labs_lower_bound(inputs):
    # 606,661,632 ops at 200 per ns
    assert compute_bound(NETWORK, SYSTEM, inputs) == inputs * Fraction("0.00303330816")


TALL = (ConvLayer(4, 1, 1, 1, 1, 50_001),)


@pytest.mark.parametrize(
    ("network", "system", "said"),
    [
        (NETWORK, SYSTEM._replace(nodes=3), "4 layers need 4 nodes"),
        (TALL, SYSTEM, "beyond 50,000 rows .* has 50,001"),
    ],
)
def test_what_cannot_be_modelled_is_refused(network, system, said):
    with pytest.raises(ValueError, match=said):
        streamed_pipeline_latency(network, system)


def test_as_many_rows_as_the_limit_can_be_streamed(monkeypatch):
    # the lab has 30 + 28 + 26 + 24 rows of output
    monkeypatch.setattr(streaming, "MOST_ROWS", 108)
    assert streamed_pipeline_latency(NETWORK, SYSTEM)
    monkeypatch.setattr(streaming, "MOST_ROWS", 107)
    with pytest.raises(ValueError, match="beyond 107 rows of output; this CNN has 108"):
        streamed_pipeline_latency(NETWORK, SYSTEM)


# ------------------------------------------------ the rows that decide


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # the working is in odd_machines.py, above the tables "streamed"; us and s of a row
        (LAB, "3x4.1472 1x3.84 28x165.15072 1x3.584 1x153.35424 1x3.328 1x141.55776"),
        (ODD, "1x36 3x57.6 2x405 1x72 2x729"),
        (SENDS, "1x0.5 1x10 1x10 3x20 1x10"),
    ],
    ids=["the lab", "odd", "sends"],
)
def test_runs_of_the_hand_worked_machines(question, expected):
    runs = critical_runs(question.network, question.system)
    per_s = 10**6 if question is LAB else 1
    assert [(run.rows, run.row_s * per_s) for run in runs] == [
        (int(rows), Fraction(row)) for rows, row in (run.split("x") for run in expected.split())
    ]
    assert [run.time_s for run in runs] == [run.rows * run.row_s for run in runs]
    places = [(run.layer, run.work) for run in runs]
    assert (
        places
        == [
            (layer, work)
            for layer in range(1, len(question.network) + 1)
            for work in ("compute", "send")
        ][:-1]
    )


@given(pipeline_parallel_cases())
def test_runs_add_up_to_the_latency_of_one_input(case):
    assert sum(run.time_s for run in critical_runs(*case)) == streamed_pipeline_latency(*case)
