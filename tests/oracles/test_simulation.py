"""The closed forms of lab3.py and the steps of report/model.py against simulation.py, which knows
messages, nodes and links, and no closed form: equal, exactly, in every case."""

import pytest

pytest.importorskip("hypothesis")
pytest.importorskip("simpy")

from hypothesis import given
from hypothesis import strategies as st

from machines import CLOSED_FORMS, NETWORK, ODD, ODD_ALL_TO_ALL, SYSTEM
from oracles.simulation import simulate
from random_machines import cases_of_both
from report.model import Model


def compare(network, system, strategy, inputs):
    """The latency, all bytes, and the bytes of the busiest link."""
    latency_s, link_bytes = simulate(network, system, strategy, inputs)
    latency, traffic = CLOSED_FORMS[strategy]
    assert latency_s == latency(network, system, inputs)
    assert sum(link_bytes.values()) == traffic(network, system, inputs)
    # With tensor parallelism one link is the busiest in each step; each send has its own.
    sent = [step.link_bytes for step in Model(strategy, network, system).steps]
    busiest_bytes = sum(sent) if strategy == "tensor" else max(sent)
    assert max(link_bytes.values(), default=0) == inputs * busiest_bytes


@pytest.mark.parametrize("strategy", CLOSED_FORMS)
@pytest.mark.parametrize("inputs", [1, 32])
@pytest.mark.parametrize("question", [(NETWORK, SYSTEM), ODD[:2], ODD_ALL_TO_ALL[:2]])
def test_the_machines_by_hand(question, inputs, strategy):
    compare(*question, strategy, inputs)


@given(cases_of_both(), st.sampled_from([*CLOSED_FORMS]), st.integers(1, 6))
def test_random_machines(case, strategy, inputs):
    compare(*case, strategy, inputs)
