"""A question (network, machine and number of inputs), its models and its description."""

from fractions import Fraction
from functools import lru_cache
from math import gcd
from typing import NamedTuple

import lab3
from lab3 import Network, Rate, System
from report import InputError
from report.model import LAYER_FIELDS, STRATEGIES, Model, check_lab3, compute_latency
from report.text import GIGA, KIB, count, format_rounded, wrap

MOST_DIGITS = 30  # of an option's number, with its point and exponent
MOST_DESCRIBED = 3  # layers


class Question(NamedTuple):
    """A network, a machine and a number of inputs, by default the lab's."""

    network: Network = tuple(lab3.NETWORK)
    system: System = lab3.SYSTEM
    inputs: int = lab3.INPUTS

    @property
    def amounts(self) -> list[int]:
        """List the numbers of inputs: 1 for Q1 and, if Q2 has several, the number of Q2."""
        return sorted({1, self.inputs})


LAB = Question()


# ------------------------------------------------ what is possible
@lru_cache(maxsize=8)
def find_impossible(question: Question) -> dict[str, str]:
    """Map each impossible strategy to the reason: {"tensor": "Tensor parallelism is not ..."}.
    Raises InputError if neither strategy is possible, or a latency is not positive."""
    reasons = {}
    for strategy in STRATEGIES:
        try:
            for inputs in question.amounts:
                compute_latency(strategy, question.network, question.system, inputs)
        except lab3.ImpossibleError as reason:
            reasons[strategy] = str(reason)
    if len(reasons) == len(STRATEGIES):
        divisor = gcd(*(layer.filters for layer in question.network))
        needs = f"{count(divisor, 'node')}{' or a divisor of it' * (divisor > 1)}"
        raise InputError(
            f"{count(question.system.nodes, 'node')} can run neither strategy: tensor parallelism"
            f" needs {needs}, because each layer's filters are split evenly; pipeline parallelism"
            f" needs {count(len(question.network), 'node')} or more"
        )
    return reasons


def list_possible(question: Question) -> list[str]:
    """List the possible strategies. Raises the InputErrors of find_impossible."""
    return [strategy for strategy in STRATEGIES if strategy not in find_impossible(question)]


@lru_cache(maxsize=8)
def make_models(question: Question) -> dict[tuple[str, int], Model]:
    """Make the possible strategies' models, by strategy and inputs: 1, 2, which checks the
    interval, and all. Raises the InputErrors of find_impossible and check_lab3."""
    models = {
        (strategy, inputs): Model(strategy, question.network, question.system, inputs)
        for inputs in (1, 2, question.inputs)
        for strategy in list_possible(question)
    }
    for model in models.values():
        check_lab3(model)
    return models


# ------------------------------------------------ in words
def describe_question(question: Question) -> str:
    """Describe how the question differs from the lab's; the text is empty if it does not."""
    pairs = zip(list_parts(question), list_parts(LAB), strict=True)
    return ", ".join(text for (value, text), (lab_value, _) in pairs if value != lab_value)


def list_parts(question: Question) -> list[tuple[object, str]]:
    """List each part of the question, in the order of options: its value and its description."""
    network, system, inputs = question
    layers = [[getattr(layer, name) for name in LAYER_FIELDS] for layer in network]
    shapes = ["{}x{}x{}x{} on {}x{}".format(*sizes) for sizes in layers[:MOST_DESCRIBED]]
    if len(layers) > MOST_DESCRIBED:
        shapes.append(f"and {count(len(layers) - MOST_DESCRIBED, 'more layer')}")
    element_bytes = network[0].element_bytes
    return [
        (inputs, count(inputs, "input")),
        (system.nodes, count(system.nodes, "node")),
        (system.ops_per_s, f"{format_option(system.ops_per_s, GIGA)} GOPS"),
        (system.link_bytes_per_s, f"{format_option(system.link_bytes_per_s, GIGA)} GB/s"),
        (system.sram_bytes, f"{format_option(system.sram_bytes, KIB)} KiB of SRAM"),
        (element_bytes, f"elements of {count(element_bytes, 'byte')}"),
        (layers, ", ".join(shapes)),
    ]


def format_option(value: Rate, unit: int) -> str:
    """Format a value in the unit of its option, with all the digits that an option may have."""
    return format_rounded(Fraction(value) / unit, MOST_DIGITS)


def prefix_question(question: Question, text: str, gap: str = "\n\n") -> str:
    """Put a line that describes the question above the text, unless it is the lab's."""
    difference = describe_question(question)
    return wrap(f"what if: {difference}", "  ") + gap + text if difference else text
