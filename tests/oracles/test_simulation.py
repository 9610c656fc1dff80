"""The closed forms of lab3.py, the ring of Q4 and the steps against simulation.py, which knows
messages, nodes and links, and no closed form: equal, exactly, in every case."""

import pytest

pytest.importorskip("hypothesis")
pytest.importorskip("simpy")

from hypothesis import given
from hypothesis import strategies as st

from machines import CLOSED_FORMS, NETWORK, ODD, SYSTEM
from oracles.simulation import simulate
from random_machines import cases_of_both
from report.model import RING, Model
from report.results import list_steps


def compare(network, system, strategy, inputs, ring):
    """The latency, all bytes, and the bytes of the busiest link."""
    latency_s, link_bytes = simulate(network, system, strategy, inputs, ring)
    model = Model(strategy, network, system, inputs)
    if ring and strategy == "tensor":
        model = model.edit(RING)
    assert latency_s == model["latency"] and sum(link_bytes.values()) == model["traffic"]
    if not ring:
        found = [function(network, system, inputs) for function in CLOSED_FORMS[strategy]]
        assert found == [model["latency"], model["traffic"]]
    # With tensor parallelism one link is the busiest in each step; each send has its own.
    sent = [step.link_bytes for step in list_steps(model)]
    busiest_bytes = sum(sent) if strategy == "tensor" else max(sent)
    assert max(link_bytes.values(), default=0) == inputs * busiest_bytes


@pytest.mark.parametrize("strategy", CLOSED_FORMS)
@pytest.mark.parametrize("inputs", [1, 32])
@pytest.mark.parametrize("ring", [False, True])
@pytest.mark.parametrize("question", [(NETWORK, SYSTEM), ODD[:2]])
def test_the_machines_by_hand(question, inputs, strategy, ring):
    compare(*question, strategy, inputs, ring)


@given(cases_of_both(), st.sampled_from([*CLOSED_FORMS]), st.integers(1, 6), st.booleans())
def test_random_machines(case, strategy, inputs, ring):
    compare(*case, strategy, inputs, ring)
