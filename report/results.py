"""The exact numbers of a question: steps, verdicts, and both strategies' results.

Code that prints some numbers calls their function; `list_numbers` lists all numbers.
"""

from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise, zip_longest
from typing import Any, NamedTuple

from report.model import BOUNDS, LOSSES, Model, join, list_layers
from report.question import (
    ALL_TO_ALL,
    ONE_WAY_RING,
    Question,
    find_impossible,
    list_possible,
    make_models,
)
from report.sram import list_sram, list_uncounted

VERSION = 12  # of the JSON's shape


class Result(NamedTuple):
    """Latency and traffic of a strategy for some inputs on a topology."""

    strategy: str
    topology: str
    inputs: int
    latency_s: Fraction
    traffic_bytes: int
    compute_s: Fraction  # of one input's steps
    communication_s: Fraction
    interval_s: Fraction  # time that each further input adds
    bottleneck: str | None  # of a pipeline, "node 2" or "link 2 to 3"
    utilisation: Fraction  # lower bound / latency: the share of time in which nodes compute


@lru_cache(maxsize=8)
def list_results(question: Question) -> list[Result]:
    """List the possible strategies' results. Raises the ValueErrors of make_models."""
    models = make_models(question)
    intervals_s = {case[:2]: model.interval_s for case, model in models.items() if case[2] == 1}
    return [
        Result(
            *case,
            latency_s=Fraction(model["latency"]),
            traffic_bytes=int(model["traffic"]),
            compute_s=Fraction(sum(model["compute"])),
            communication_s=Fraction(sum(model["transfer"])),
            interval_s=intervals_s[case[:2]],
            bottleneck=find_bottleneck(model),
            utilisation=model.evaluate(BOUNDS["lower bound"]) / model["latency"],
        )
        for case, model in models.items()
    ]


def find_results(question: Question, inputs: int, topology: str = ALL_TO_ALL) -> dict[str, Result]:
    """Map strategies' names to their results for one input or for all."""
    return {
        result.strategy: result
        for result in list_results(question)
        if (result.topology, result.inputs) == (topology, inputs)
    }


def compute_bound(question: Question, name: str, inputs: int) -> Fraction:
    """Compute a lower bound of some inputs' time, or data parallelism's time, in seconds."""
    model = Model("pipeline", question.network, question.system, inputs)
    return Fraction(model.evaluate(BOUNDS[name]))


def compute_losses(question: Question) -> dict[str, Fraction]:
    """Divide a pipeline's latency into ideal compute time and losses, in seconds."""
    model = make_models(question)["pipeline", ALL_TO_ALL, question.inputs]
    return {name: Fraction(model.evaluate(formula)) for name, (formula, _) in LOSSES.items()}


# ------------------------------------------------ who works when
class Step(NamedTuple):
    """The computation of a layer, or the transfer of its output, for one input."""

    strategy: str
    input: int  # inputs, layers and nodes are counted from 1
    layer: int
    work: str  # "compute", "all-gather", "gather" or "send"
    where: str  # "all nodes", "all links", "node 2" or "link 2 to 3"
    start_s: Fraction
    time_s: Fraction
    link_bytes: int  # over the busiest link
    traffic_bytes: int  # over all links

    @property
    def end_s(self) -> Fraction:
        """Compute when the step ends; the last step ends at the latency."""
        return self.start_s + self.time_s


def list_steps(model: Model, inputs: int = 1) -> list[Step]:
    """List the steps of each input, one input after the other. Input i starts (i - 1) intervals
    after the first, so that it never waits."""
    steps, interval_s = list_first_steps(model), model.interval_s
    return [
        step._replace(input=number, start_s=step.start_s + (number - 1) * interval_s)
        for number in range(1, inputs + 1)
        for step in steps
    ]


def list_first_steps(model: Model) -> list[Step]:
    """List the steps of the first input, each of which starts when the step before it ends. A
    transfer of no bytes is not a step."""
    is_tensor = model.strategy == "tensor"
    sent = join(model["all_gathers"], model["gather"]) if is_tensor else model["sent"]
    rows = [*zip_longest(model["compute"], model["transfer"], sent, fillvalue=Fraction(0))]
    steps, clock_s = [], Fraction(0)
    for layer, (compute_s, transfer_s, traffic_bytes) in enumerate(rows, 1):
        node, work, link = f"node {layer}", "send", f"link {layer} to {layer + 1}"
        if is_tensor:
            node, link = "all nodes", "all links"
            work = "gather" if layer == len(rows) else "all-gather"
        case, link_bytes = (model.strategy, 1, layer), int(transfer_s * model["B"])
        steps.append(Step(*case, "compute", node, clock_s, compute_s, 0, 0))
        if traffic_bytes:
            sizes = link_bytes, int(traffic_bytes)
            steps.append(Step(*case, work, link, steps[-1].end_s, transfer_s, *sizes))
        clock_s = steps[-1].end_s
    return steps


def find_bottleneck(model: Model) -> str | None:
    """Find the place of a pipeline's first longest step, "node 2" or "link 2 to 3", where its
    interval is spent. Tensor parallelism has none, as each step waits for the one before it."""
    if model.strategy == "tensor":
        return None
    return max(list_first_steps(model), key=lambda step: step.time_s).where


# ------------------------------------------------ on which links which strategy is faster
class Verdict(NamedTuple):
    """Which strategy is faster for some inputs on a topology, from slow links to fast links."""

    topology: str
    inputs: int
    equal_bytes_per_s: list[Fraction]  # link bandwidths at which both take equally long, ascending
    faster: list[str]  # below the first, between, above the last: "tensor", "pipeline", "neither"


def list_verdicts(question: Question) -> list[Verdict]:
    """If both strategies are possible, list verdicts for one input and all, on both topologies."""
    if find_impossible(question):
        return []
    models = make_models(question)
    return [
        find_verdict(
            models["tensor", topology, inputs], models["pipeline", topology, inputs], topology
        )
        for topology in (ALL_TO_ALL, ONE_WAY_RING)
        for inputs in question.amounts
    ]


def find_verdict(tensor: Model, pipeline: Model, topology: str) -> Verdict:
    """Find the link bandwidths at which both strategies take equally long, and the faster one below
    the first, between, and above the last.

    If transfers take x times as long, tensor parallelism's latency is a line, fixed_s + sent_s * x;
    the pipeline's is the higher of two lines, paced by the slowest node and by the busiest link.
    """
    inputs, later = tensor.inputs, tensor.inputs - 1
    compute_s, sends_s = pipeline["compute"], join(pipeline["transfer"], 0)
    lines = [
        (inputs * sum(tensor["compute"]), inputs * sum(tensor["transfer"])),
        (sum(compute_s) + later * max(compute_s), sum(sends_s)),
        (sum(compute_s), sum(sends_s) + later * max(sends_s)),
    ]

    def compute_lag(x: Fraction) -> Fraction:
        """Compute how much longer the pipeline takes."""
        tensor_s, *pipeline_s = (fixed_s + sent_s * x for fixed_s, sent_s in lines)
        return Fraction(max(pipeline_s) - tensor_s)

    crossings = {
        (fixed_s - other_s) / Fraction(other_sent_s - sent_s)
        for (fixed_s, sent_s), (other_s, other_sent_s) in combinations(lines, 2)
        if sent_s != other_sent_s
    }
    equal = sorted((x for x in crossings if x > 0 and not compute_lag(x)), reverse=True)
    edges = [2 * max(equal, default=Fraction(1)), *equal, Fraction(0)]  # slow links first
    lags = [compute_lag((above + below) / 2) for above, below in pairwise(edges)]
    faster = ["tensor" if lag > 0 else "pipeline" if lag < 0 else "neither" for lag in lags]
    link_bytes_per_s = Fraction(tensor.system.link_bytes_per_s)
    return Verdict(topology, inputs, [link_bytes_per_s / x for x in equal], faster)


# ------------------------------------------------ everything
def list_numbers(question: Question) -> dict[str, Any]:
    """List every number of a question in flat tables, for JSON and the deck."""
    models = make_models(question)
    possible = list_possible(question)
    return {
        "version": VERSION,
        **question._asdict(),
        "impossible": find_impossible(question),
        "layers": list_layers(question.network),
        "results": list_results(question),
        "steps": [step for name in possible for step in list_steps(models[name, ALL_TO_ALL, 1])],
        "verdicts": list_verdicts(question),
        "bounds": [
            {"inputs": inputs, **{name: compute_bound(question, name, inputs) for name in BOUNDS}}
            for inputs in question.amounts
        ],
        "losses": compute_losses(question) if "pipeline" in possible else {},
        "sram": [use for name in [*possible, "data"] for use in list_sram(question, name)],
        "uncounted": list_uncounted(question),
    }
