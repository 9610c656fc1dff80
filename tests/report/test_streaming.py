"""Row streaming in the pipeline, and the lower bound: by the tables of odd_machines.py, and at the
edges."""

from fractions import Fraction

import pytest

from lab3 import NETWORK, SYSTEM, ConvLayer
from odd_machines import BOTH, rows
from report import streaming
from report.streaming import compute_bound, streamed_pipeline_latency


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
