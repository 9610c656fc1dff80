"""What is asked, a network, a machine and a number of inputs: its models, and how it is told."""

from fractions import Fraction
from functools import lru_cache
from math import gcd
from typing import NamedTuple

import lab3
from lab3 import Network, System
from report.model import CODE, RING, STRATEGIES, Model, check_code
from report.text import GIGA, KIB, count, format_number, wrap

ALL_TO_ALL, ONE_WAY_RING = "all-to-all", "ring"
MOST_DESCRIBED = 3  # layers


class Question(NamedTuple):
    """What is asked, by default what the lab asks."""

    network: Network = tuple(lab3.NETWORK) if isinstance(lab3.NETWORK, list) else lab3.NETWORK
    system: System = lab3.SYSTEM
    inputs: int = lab3.INPUTS

    @property
    def amounts(self) -> list[int]:
        """List the numbers of inputs: that of Q1 and, if there are several, that of Q2."""
        return sorted({1, self.inputs})


LAB = Question()


# ------------------------------------------------ what is possible
@lru_cache(maxsize=8)
def find_impossible(question: Question) -> dict[str, str]:
    """Find which strategy is impossible, and why: {"tensor": "Tensor parallelism is not ..."}.

    Raises ValueError if neither strategy is possible; the sentence says what would make one so.
    """
    reasons = {}
    for strategy in STRATEGIES:
        try:
            CODE[strategy, "latency"](*question)
        except lab3.ImpossibleError as reason:
            reasons[strategy] = str(reason)
    if len(reasons) == 2:
        divided = gcd(*(layer.filters for layer in question.network))
        raise ValueError(
            f"{count(question.system.nodes, 'node')} can run neither strategy: tensor parallelism"
            f" needs a number of nodes that divides the filters of each layer, so {divided:,} or a"
            f" divisor of it; pipeline parallelism needs {len(question.network):,} nodes or more"
        )
    return reasons


def list_possible(question: Question) -> list[str]:
    """List the possible strategies. Raises ValueError as find_impossible does."""
    return [strategy for strategy in STRATEGIES if strategy not in find_impossible(question)]


@lru_cache(maxsize=8)
def make_models(question: Question) -> dict[tuple[str, str, int], Model]:
    """Make the possible strategies' models, by strategy, topology and inputs: one, and all. Raises
    ValueError as find_impossible does, and if lab3.py computes anything else than a model."""
    network, system, inputs = question
    models = {
        (strategy, ALL_TO_ALL, amount): Model(strategy, network, system, amount)
        for amount in sorted({1, max(2, inputs)})  # 2 for the interval
        for strategy in list_possible(question)
    }
    for model in models.values():
        check_code(model)
    models = {case: model for case, model in models.items() if model.inputs <= inputs}
    on_ring = {
        (strategy, ONE_WAY_RING, amount): model.edit(RING) if strategy == "tensor" else model
        for (strategy, _, amount), model in models.items()
    }
    return models | on_ring


# ------------------------------------------------ in words
def describe_question(question: Question) -> str:
    """Describe how the question differs from the lab's; empty if it does not."""
    parts = zip(_describe(question), _describe(LAB), strict=True)
    return ", ".join(text for (value, text), (lab_value, _) in parts if value != lab_value)


def _describe(question: Question) -> list[tuple[object, str]]:
    """List each part of the question, in the order of the options: its value, and in words."""
    network, system, inputs = question
    layers = [
        f"{layer.filters}x{layer.in_channels}x{layer.fx}x{layer.fy} on {layer.x}x{layer.y}"
        for layer in network
    ]
    if more := len(layers[MOST_DESCRIBED:]):
        layers[MOST_DESCRIBED:] = [f"and {count(more, 'more layer')}"]
    return [
        (inputs, count(inputs, "input")),
        (system.nodes, count(system.nodes, "node")),
        (system.ops_per_s, f"{format_number(Fraction(system.ops_per_s) / GIGA)} GOPS"),
        (
            system.link_bytes_per_s,
            f"{format_number(Fraction(system.link_bytes_per_s) / GIGA)} GB/s",
        ),
        (system.sram_bytes, f"{format_number(Fraction(system.sram_bytes) / KIB)} KiB of SRAM"),
        (network[0].element_bytes, f"elements of {count(network[0].element_bytes, 'byte')}"),
        ([layer[:6] for layer in network], ", ".join(layers)),
    ]


def prefix_question(question: Question, text: str, gap: str = "\n\n") -> str:
    """Put a line above the text that says what is asked, unless it is what the lab asks."""
    difference = describe_question(question)
    return wrap(f"what if: {difference}", "  ") + gap + text if difference else text
