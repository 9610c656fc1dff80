"""The formulas of both strategies, their evaluation, and edits of them.

A formula is a line of text, `name = expression`. FORMULAS holds those of both strategies, which are
also in the docstrings of lab3.py's four functions. A name such as C holds one number per layer:
arithmetic on it is element-wise, and a comma concatenates.

An edit consists of formulas, too. Each is evaluated after the formula of the same name, and in its
expression that name is the earlier value. The ring of Q4 is an edit, and so is each mistake of
report/check/mistakes.py. Bounds and losses are expressions of the same names.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from itertools import chain
from math import ceil
from operator import add, floordiv, mul, sub, truediv
from types import CodeType
from typing import Any, NamedTuple

import lab3
from lab3 import ConvLayer, Network, System
from report.text import count

STRATEGIES = "tensor", "pipeline"
KINDS = {"latency": "seconds", "traffic": "bytes"}
LAYER_SIZES = """\
out_x = x - fx + 1
out_y = y - fy + 1
weights = filters * in_channels * fx * fy
macs = weights * out_x * out_y
ops = 2 * macs
weight_bytes = weights * element_bytes
input_bytes = in_channels * x * y * element_bytes
output_bytes = filters * out_x * out_y * element_bytes"""
SYMBOLS = "C = ops; A = output_bytes; L = len(A); S = A / P; links = max(1, P * (P - 1))"
FORMULAS = {
    ("tensor", "latency"): """\
latency = N * one_input
one_input = sum(compute) + sum(transfer)
compute = C / (P * R)
transfer = (P > 1) * S / B""",
    ("tensor", "traffic"): """\
traffic = N * (sum(all_gathers) + gather)
all_gathers = P * (P - 1) * S[:-1]
gather = (P - 1) * S[-1]""",
    ("pipeline", "latency"): """\
latency = one_input + (N - 1) * interval
one_input = sum(compute) + sum(transfer)
interval = max(compute, transfer)
compute = C / R
transfer = A[:-1] / B""",
    ("pipeline", "traffic"): """\
traffic = N * sum(sent)
sent = A[:-1]""",
}
PRINTED = "printed_latency = latency; printed_traffic = traffic"  # in the handout's units
RING = "transfer = (P - 1) * S / B; gather = P * (P - 1) / 2 * S[-1]"  # not for pipelines
BOUNDS = {  # seconds; the same for both strategies
    "lower bound": "N * sum(C) / (P * R)",
    "slowest node": "N * max(C / R)",
    "data": "ceil(N / P) * sum(C) / R",  # each node computes whole inputs of its own
}
LOSSES = {  # seconds that add up to a pipeline's latency, and their causes
    "ideal compute": ("N * sum(C) / (P * R)", "all nodes compute all the time"),
    "load imbalance": ("N * max(compute) - N * sum(C) / (P * R)", "unequal layers, idle nodes"),
    "fill and drain": ("sum(compute) - max(compute)", "1 input, on all nodes but the slowest"),
    "communication": (
        "sum(transfer) + (N - 1) * (interval - max(compute))",
        "1 input's sends; waiting, if a link is the bottleneck",
    ),
}
CODE: dict[tuple[str, str], Callable[..., Any]] = {  # must agree with FORMULAS
    ("tensor", "latency"): lab3.tensor_parallel_latency,
    ("tensor", "traffic"): lab3.tensor_parallel_traffic,
    ("pipeline", "latency"): lab3.pipeline_parallel_latency,
    ("pipeline", "traffic"): lab3.pipeline_parallel_traffic,
}


# ------------------------------------------------ one number per layer
class Each(tuple[Any, ...]):
    """One number per layer; arithmetic is element-wise."""

    @staticmethod
    def _lift(operate: Callable[[Any, Any], Any]) -> Any:
        """Make an operator's method from an operation on two numbers."""

        def method(numbers: "Each", other: Any) -> "Each":
            others = other if isinstance(other, Each) else (other,) * len(numbers)
            if len(numbers) != len(others):
                raise ValueError(f"{len(numbers)} and {len(others)} numbers do not fit together")
            return Each(map(operate, numbers, others))

        return method

    __add__ = __radd__ = _lift(add)
    __sub__ = _lift(sub)
    __mul__ = __rmul__ = _lift(mul)
    __truediv__ = _lift(truediv)
    __floordiv__ = _lift(floordiv)

    def __getitem__(self, place: Any) -> Any:
        number = super().__getitem__(place)
        return Each(number) if isinstance(place, slice) else number


def join(*operands: Any) -> Each:
    """Concatenate numbers, and names that hold one number per layer."""
    lists = [operand if isinstance(operand, Iterable) else (operand,) for operand in operands]
    return Each(chain.from_iterable(lists))


def put(numbers: Each, place: Any, number: Any) -> Each:
    """Replace the number, if any, at an index."""
    return Each(number if other == place else old for other, old in enumerate(numbers))


FUNCTIONS: dict[str, Any] = {
    "join": join,
    "put": put,
    "len": len,
    "map": map,
    "ceil": ceil,
    "max": lambda *operands: max(join(*operands)),
    "sum": lambda *operands: sum(join(*operands)),
    "__builtins__": {},
}


# ------------------------------------------------ formulas
class Formula(NamedTuple):
    """A line `name = expression`."""

    name: str
    expression: str
    code: CodeType


@cache
def parse(text: str) -> list[Formula]:
    """Parse formulas, which are separated by line ends or semicolons."""
    lines = [line.split(" = ", 1) for line in text.replace(";", "\n").splitlines() if line]
    return [Formula(name.strip(), line, compile(line, name, "eval")) for name, line in lines]


@cache
def list_formulas(strategy: str) -> dict[str, Formula]:
    """List a strategy's formulas by name."""
    texts = LAYER_SIZES, SYMBOLS, *(FORMULAS[strategy, kind] for kind in KINDS), PRINTED
    return {formula.name: formula for formula in chain.from_iterable(map(parse, texts))}


# ------------------------------------------------ a strategy's numbers
class Model(dict[str, Any]):
    """A strategy's numbers by name, exact or floats, each evaluated when it is first asked for."""

    def __init__(
        self, strategy: str, network: Network, system: System, inputs: int = 1, real: Any = Fraction
    ) -> None:
        super().__init__()
        self.strategy, self.network, self.system, self.inputs = strategy, network, system, inputs
        self.given: dict[str, Any] = {"Q2": inputs > 1}  # for edits with "if Q2"
        numbers = system.nodes, system.ops_per_s, system.link_bytes_per_s, inputs
        self.given |= zip("PRBN", map(real, numbers), strict=True)
        for name in ConvLayer._fields:
            self.given[name] = Each(real(getattr(layer, name)) for layer in network)
        self.formulas = {name: [formula] for name, formula in list_formulas(strategy).items()}

    def __missing__(self, name: str) -> Any:
        if name in self.given:
            self[name] = self.given[name]
        for formula in self.formulas.get(name, []):
            value = self.evaluate(formula.code)
            self[name] = join(*value) if type(value) is tuple else value  # "a, b"
        if name not in self:
            raise KeyError(name)
        return self[name]

    def evaluate(self, expression: str | CodeType) -> Any:
        """Evaluate an expression of names, such as "sum(C) / R"."""
        return eval(expression, FUNCTIONS, self)

    def edit(self, *edits: str) -> "Model":
        """Make a model with edits; none of its numbers is evaluated yet."""
        model = Model.__new__(Model)
        model.__dict__ = {**self.__dict__, "formulas": {**self.formulas}}
        for formula in chain.from_iterable(map(parse, edits)):
            model.formulas[formula.name] = [*model.formulas.get(formula.name, []), formula]
        return model

    @property
    def interval_s(self) -> Fraction:
        """Compute the time that each further input adds: latency of 2 less latency of 1."""
        one, two = (self.edit(f"N = {inputs}; Q2 = N > 1")["latency"] for inputs in (1, 2))
        return Fraction(two - one)


def list_layers(network: Network) -> list[dict[str, int]]:
    """List each layer's number, fields and sizes by name."""
    names = [*ConvLayer._fields, *(formula.name for formula in parse(LAYER_SIZES))]
    model = Model("pipeline", network, System(), real=int)
    rows = zip(range(1, len(network) + 1), *(model[name] for name in names), strict=True)
    return [dict(zip(["layer", *names], row, strict=True)) for row in rows]


def check_code(model: Model) -> None:
    """Raise ValueError if lab3.py disagrees with the formulas."""
    for kind, unit in KINDS.items():
        function, expected = CODE[model.strategy, kind], model[kind]
        value = function(model.network, model.system, model.inputs)
        if value != expected:
            is_finite = isinstance(value, (int, float, Fraction)) and value - value == 0
            # 25 digits distinguish a float from the exact number
            computed = lab3.format_decimal(value, 25) if is_finite else repr(value)
            raise ValueError(
                f"for {count(model.inputs, 'input')}, lab3.py's {function.__name__} gives"
                f" {computed} {unit}, but the formula in report/model.py"
                f" {lab3.format_decimal(expected, 25)}: the two must say the same"
            )
