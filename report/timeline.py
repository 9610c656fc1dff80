"""Who works when: every job of a strategy's nodes and links.

Input i starts (i - 1) intervals after the first, just in time: then it never waits on its way. The
interval is the time of all steps with tensor parallelism, of the longest one in a pipeline.
"""

from fractions import Fraction
from typing import NamedTuple

from lab3 import Network, System
from report.model import Model


class Job(NamedTuple):
    """A step of one input, where it is done, and when."""

    where: str  # "all nodes", "all links", "node 2" or "link 2 to 3"
    work: str  # "compute", "all-gather", "gather" or "send"
    layer: int  # counted from 1
    input: int  # counted from 1
    start_s: Fraction
    end_s: Fraction


def jobs(network: Network, system: System, strategy: str, inputs: int = 1) -> list[Job]:
    """List the jobs of all inputs with a strategy that is possible; the last end is the latency."""
    model = Model(strategy, network, system)
    steps, found = model.steps, []
    for number in range(1, inputs + 1):
        end_s = Fraction((number - 1) * model.interval_s)
        for step in steps:
            start_s, end_s = end_s, end_s + step.time_s
            found.append(Job(step.where, step.work, step.layer, number, start_s, end_s))
    return found
