"""The exact numbers of a question: both strategies' results, their steps, and all in one."""

from fractions import Fraction
from functools import lru_cache
from itertools import product, zip_longest
from typing import Any, NamedTuple

from report.model import BOUNDS, LOSSES, RING, Model, join, list_layers
from report.question import Question, find_impossible, list_possible, make_models
from report.sram import list_sram, list_uncounted

VERSION = 13  # of the JSON's shape
ALL_TO_ALL, ONE_WAY_RING = "all-to-all", "ring"


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


@lru_cache(maxsize=32)
def find_results(question: Question, inputs: int, topology: str = ALL_TO_ALL) -> dict[str, Result]:
    """Map possible strategies to results, for one input or all. Raises make_models' InputErrors."""
    models, results = make_models(question), {}
    for strategy in list_possible(question):
        model = models[strategy, inputs]
        if (strategy, topology) == ("tensor", ONE_WAY_RING):
            model = model.edit(RING)
        results[strategy] = Result(
            strategy,
            topology,
            inputs,
            latency_s=Fraction(model["latency"]),
            traffic_bytes=int(model["traffic"]),
            compute_s=Fraction(sum(model["compute"])),
            communication_s=Fraction(sum(model["transfer"])),
            interval_s=Fraction(model["interval"]),
            bottleneck=find_bottleneck(model),
            utilisation=model.evaluate(BOUNDS["lower bound"]) / model["latency"],
        )
    return results


def compute_bound(question: Question, name: str, inputs: int) -> Fraction:
    """Compute a lower bound of some inputs' time, or data parallelism's time, in seconds."""
    model = Model("pipeline", question.network, question.system, inputs)
    return Fraction(model.evaluate(BOUNDS[name]))


def compute_losses(question: Question) -> dict[str, Fraction]:
    """Divide a pipeline's latency into ideal compute time and losses, in seconds."""
    model = make_models(question)["pipeline", question.inputs]
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
    link_bytes: int  # over the busiest link, which sends for the whole step, also on a ring
    traffic_bytes: int  # over all links

    @property
    def end_s(self) -> Fraction:
        """Compute when the step ends; the last step ends at the latency."""
        return self.start_s + self.time_s


def list_steps(model: Model, inputs: int = 1) -> list[Step]:
    """List the steps of each input, one input after the other. A step starts when the step before
    it ends. Input i starts (i - 1) intervals after the first, so that it never waits. A transfer of
    no bytes is not a step."""
    is_tensor = model.strategy == "tensor"
    sent = join(model["all_gathers"], model["gather"]) if is_tensor else model["sent"]
    rows = [*zip_longest(model["compute"], model["transfer"], sent, fillvalue=Fraction(0))]
    steps = []
    for number in range(1, inputs + 1):
        clock_s = (number - 1) * model["interval"]
        for layer, (compute_s, transfer_s, traffic_bytes) in enumerate(rows, 1):
            node, work, link = f"node {layer}", "send", f"link {layer} to {layer + 1}"
            if is_tensor:
                work = "gather" if layer == len(rows) else "all-gather"
                node, link = "all nodes", "all links"
            case = model.strategy, number, layer
            steps.append(Step(*case, "compute", node, clock_s, compute_s, 0, 0))
            clock_s += compute_s
            if traffic_bytes:
                sizes = int(transfer_s * model["B"]), int(traffic_bytes)
                steps.append(Step(*case, work, link, clock_s, transfer_s, *sizes))
                clock_s += transfer_s
    return steps


def find_bottleneck(model: Model) -> str | None:
    """Find the place of a pipeline's first longest step, "node 2" or "link 2 to 3", where its
    interval is spent. Tensor parallelism has none, as each step waits for the one before it."""
    if model.strategy == "tensor":
        return None
    return max(list_steps(model), key=lambda step: step.time_s).where


# ------------------------------------------------ everything
def list_numbers(question: Question) -> dict[str, Any]:
    """List every number of a question in flat tables, for JSON and the deck."""
    models, possible = make_models(question), list_possible(question)
    cases = product([ALL_TO_ALL, ONE_WAY_RING], question.amounts)
    results = [find_results(question, inputs, topology) for topology, inputs in cases]
    return {
        "version": VERSION,
        **question._asdict(),
        "impossible": find_impossible(question),
        "layers": list_layers(question.network),
        "results": [result for strategies in results for result in strategies.values()],
        "steps": [step for name in possible for step in list_steps(models[name, 1])],
        "bounds": [
            {"inputs": inputs, **{name: compute_bound(question, name, inputs) for name in BOUNDS}}
            for inputs in question.amounts
        ],
        "losses": compute_losses(question) if "pipeline" in possible else {},
        "sram": [use for name in [*possible, "data"] for use in list_sram(question, name)],
        "uncounted": list_uncounted(question),
    }
