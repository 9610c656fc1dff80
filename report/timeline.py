"""Who works when: the steps of an input, and the jobs of all inputs.

What is said here holds for lab3.py's formulas as they were delivered; ask find_change first.
"""

from fractions import Fraction
from itertools import chain, zip_longest
from typing import NamedTuple

from report.model import KINDS, Model, join, parse, read_docstring

DELIVERED = {  # compared with lab3.py's formulas, and not evaluated
    "tensor": "latency = N * one_input; one_input = sum(compute) + sum(transfer);"
    " compute = C / (P * R); transfer = (P > 1) * S / B;"
    " traffic = N * (sum(all_gathers) + gather);"
    " all_gathers = P * (P - 1) * S[:-1]; gather = (P - 1) * S[-1]",
    "pipeline": "latency = one_input + (N - 1) * interval; interval = max(compute, transfer);"
    " one_input = sum(compute) + sum(transfer); compute = C / R; transfer = A[:-1] / B;"
    " traffic = N * sum(sent); sent = A[:-1]",
}


def find_change(strategy: str) -> str:
    """Find a formula of lab3.py that is not as delivered, and quote it; empty if there is none."""
    delivered = [formula[:2] for formula in parse(DELIVERED[strategy])]
    for name, expression, _, place in chain(*(read_docstring(strategy, kind) for kind in KINDS)):
        if (name, expression) not in delivered:
            return f"{place}: '{name} = {expression}'"
    return ""


class Step(NamedTuple):
    """The computation of a layer, or the transfer of its output, for one input."""

    layer: int  # counted from 1
    work: str  # "compute", "all-gather", "gather" or "send"
    node_ops: int  # that each node at work computes
    link_bytes: int  # that the busiest link carries
    traffic_bytes: int  # that all links carry together
    time_s: Fraction
    where: str  # "all nodes", "all links", "node 2" or "link 2 to 3"


def list_steps(model: Model) -> list[Step]:
    """List the steps of an input, one after the other; what sends nothing is no step."""
    is_tensor = model.strategy == "tensor"
    sent = join(model["all_gathers"], model["gather"]) if is_tensor else model["sent"]
    numbers = zip_longest(model["compute"], model["transfer"], sent, fillvalue=Fraction(0))
    steps = []
    for layer, (compute_s, transfer_s, traffic_bytes) in enumerate(numbers, 1):
        node, send, link = f"node {layer}", "send", f"link {layer} to {layer + 1}"
        if is_tensor:
            node, link = "all nodes", "all links"
            send = "gather" if layer == len(model.network) else "all-gather"
        node_ops, link_bytes = int(compute_s * model["R"]), int(transfer_s * model["B"])
        steps.append(Step(layer, "compute", node_ops, 0, 0, compute_s, node))
        if traffic_bytes:
            steps.append(Step(layer, send, 0, link_bytes, int(traffic_bytes), transfer_s, link))
    return steps


def find_bottleneck(model: Model) -> str:
    """Find where the interval is spent: "node 2" or "link 2 to 3", the first longest step of a
    pipeline; "none" with tensor parallelism, where each step waits for the one before."""
    if model.strategy == "tensor":
        return "none"
    return max(list_steps(model), key=lambda step: step.time_s).where


class Job(NamedTuple):
    """A step of one input, where it is done, and when."""

    where: str  # "all nodes", "all links", "node 2" or "link 2 to 3"
    work: str  # "compute", "all-gather", "gather" or "send"
    layer: int  # counted from 1
    input: int  # counted from 1
    start_s: Fraction
    end_s: Fraction


def list_jobs(model: Model, inputs: int = 1) -> list[Job]:
    """List the jobs of all inputs; the last end is the latency. Input i starts (i - 1) intervals
    after the first, just in time: then it never waits on its way."""
    steps, interval_s, jobs = list_steps(model), model.interval_s, []
    for number in range(1, inputs + 1):
        end_s = (number - 1) * interval_s
        for step in steps:
            start_s, end_s = end_s, end_s + step.time_s
            jobs.append(Job(step.where, step.work, step.layer, number, start_s, end_s))
    return jobs
