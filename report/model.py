"""The formulas of both strategies, their evaluation, and edits of them.

A formula is a line of text, `name = expression`. A strategy's formulas are lines of the docstrings
of lab3.py's functions. A name such as C holds one number per layer: arithmetic on it is
element-wise, and a comma concatenates.

An edit consists of formulas, too. Each is evaluated after the formula of the same name, and in its
expression that name is the earlier value. The ring of Q4 is an edit, and so is each mistake of
report/check/mistakes.py. Bounds and losses are expressions of the same names.
"""

import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from itertools import chain
from math import ceil, inf
from operator import add, floordiv, mul, sub
from typing import Any, NamedTuple

import lab3
from lab3 import Network, System
from report import InputError
from report.text import count

STRATEGIES = "tensor", "pipeline"
KINDS = {"latency": "seconds", "traffic": "bytes"}
LAYER_FIELDS = "filters", "in_channels", "fx", "fy", "x", "y"  # of a --layer
USED = {  # formulas that other modules take by name
    ("tensor", "latency"): ["one_input", "compute", "transfer"],
    ("tensor", "traffic"): ["all_gathers", "gather"],
    ("pipeline", "latency"): ["one_input", "interval", "compute", "transfer"],
    ("pipeline", "traffic"): ["sent"],
}
NAMES = {case: "{}_parallel_{}".format(*case) for case in USED}  # of lab3.py's functions
CODE: dict[tuple[str, str], Any] = {case: getattr(lab3, name) for case, name in NAMES.items()}
FORMULAS = {  # of their docstrings, where the first one is followed by its unit
    case: "\n".join(re.findall(r"^ *(\w+ = .*?)(?: seconds| bytes)?$", f"{code.__doc__}", re.M))
    for case, code in CODE.items()
}
LAYER_SIZES = """\
out_x = x - fx + 1
out_y = y - fy + 1
weights = filters * in_channels * fx * fy
macs = weights * out_x * out_y
ops = 2 * macs
weight_bytes = weights * element_bytes
input_bytes = in_channels * x * y * element_bytes
output_bytes = filters * out_x * out_y * element_bytes"""
SYMBOLS = """\
C = ops; A = output_bytes; L = len(A); S = A / P; links = max(1, P * (P - 1))
interval = one_input"""  # what a further input adds, unless a docstring says otherwise
PRINTED = "printed_latency = latency; printed_traffic = traffic"  # in the handout's units
RING = "transfer = (P - 1) * S / B; gather = P * (P - 1) / 2 * S[-1]"  # not for pipelines
BOUNDS = {  # seconds that no strategy can beat, that no pipeline can, and of data parallelism
    "lower bound": "N * sum(C) / (P * R)",
    "slowest node": "N * max(C / R)",
    "data": "ceil(N / P) * sum(C) / R",  # each node computes whole inputs of its own
}
STEPS = "sum(compute) + sum(transfer) + (N - 1) * interval"  # seconds
LOSSES = {  # seconds that add up to a pipeline's latency, and their causes
    "ideal compute": ("N * sum(C) / (P * R)", "all nodes compute all the time"),
    "load imbalance": ("N * max(compute) - N * sum(C) / (P * R)", "unequal layers, idle nodes"),
    "fill and drain": ("sum(compute) - max(compute)", "1 input, on all nodes but the slowest"),
    "communication": (
        "sum(transfer) + (N - 1) * (interval - max(compute))",
        "1 input's sends; waiting, if a link is the bottleneck",
    ),
}


# ------------------------------------------------ one number per layer
class Each(tuple[Any, ...]):
    """One number per layer; arithmetic is element-wise, and an int divided by an int is exact."""

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
    __truediv__ = _lift(lambda one, other: (Fraction(one) if type(one) is int else one) / other)
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


# ------------------------------------------------ a strategy's numbers
class Formula(NamedTuple):
    """A line `name = expression`."""

    name: str
    expression: str


@cache
def parse(text: str) -> list[Formula]:
    """Split a text into formulas, which are separated by line ends or semicolons."""
    lines = [line.strip().split(" = ", 1) for line in text.replace(";", "\n").splitlines() if line]
    return [Formula(*line) for line in lines]


# the second argument is what a traceback names
compile_expression = cache(lambda expression: compile(expression, expression, "eval"))


class Model(dict[str, Any]):
    """A strategy's numbers by name, exact or floats, each evaluated when it is first asked for."""

    def __init__(
        self, strategy: str, network: Network, system: System, inputs: int = 1, real: Any = Fraction
    ) -> None:
        super().__init__()
        self.strategy, self.question, self.real = strategy, (network, system, inputs), real
        numbers = system.nodes, system.ops_per_s, system.link_bytes_per_s, inputs
        self.given: dict[str, Any] = dict(zip("PRBN", map(real, numbers), strict=True))
        self.given["Q2"] = inputs > 1  # for edits with "if Q2"
        for name in (*LAYER_FIELDS, "element_bytes"):
            self.given[name] = Each(real(getattr(layer, name)) for layer in network)
        texts = LAYER_SIZES, SYMBOLS, *(FORMULAS[strategy, kind] for kind in KINDS), PRINTED
        self.formulas = {formula.name: [formula] for text in texts for formula in parse(text)}

    def __missing__(self, name: str) -> Any:
        if name in self.given:
            self[name] = self.given[name]
        elif name not in self.formulas:
            raise KeyError(name)
        for formula in self.formulas.get(name, ()):
            value = self.evaluate(formula.expression)
            if self.real is Fraction and type(value) is float:
                raise ValueError(f"{name} = {formula.expression} is not exact")
            if name in self.given and type(value) is int:  # N = 1, or 1 / N would be a float
                value = self.real(value)
            self[name] = join(*value) if type(value) is tuple else value  # "a, b"
        return self[name]

    def evaluate(self, expression: str) -> Any:
        """Evaluate an expression of names, such as "sum(C) / R"."""
        return eval(compile_expression(expression), FUNCTIONS, self)

    def edit(self, *edits: str) -> "Model":
        """Make a model with edits; none of its numbers is evaluated yet."""
        model = Model.__new__(Model)
        model.__dict__ = {**self.__dict__, "formulas": {**self.formulas}}
        for formula in chain.from_iterable(map(parse, edits)):
            model.formulas[formula.name] = [*model.formulas.get(formula.name, []), formula]
        return model


def list_layers(network: Network) -> list[dict[str, int]]:
    """List each layer's number, fields and sizes by name."""
    names = [*LAYER_FIELDS, "element_bytes", *(formula.name for formula in parse(LAYER_SIZES))]
    model = Model("pipeline", network, System(), real=int)
    rows = zip(range(1, len(network) + 1), *(model[name] for name in names), strict=True)
    return [dict(zip(["layer", *names], row, strict=True)) for row in rows]


# ------------------------------------------------ lab3.py's code and docstrings
def compute_latency(strategy: str, network: Network, system: System, inputs: int) -> Any:
    """Compute a latency. Raises ImpossibleError, and InputError if it is no positive number."""
    function = CODE[strategy, "latency"]
    latency_s = function(network, system, inputs) if callable(function) else function
    if not isinstance(latency_s, (int, float, Fraction)) or not 0 < latency_s < inf:
        wanted = f"a function that returns a positive number, not {latency_s!r}"
        raise InputError(f"lab3.py: {NAMES[strategy, 'latency']} must be {wanted}")
    return latency_s


def state(model: Model, kind: str) -> Fraction:
    """Evaluate what lab3.py's docstring states. Raises InputError if that cannot be done."""
    case = model.strategy, kind
    try:
        for name in [*(formula.name for formula in parse(FORMULAS[case])), *USED[case], kind]:
            model.evaluate(name)
        return Fraction(model[kind])
    except Exception as error:
        why = f"cannot be evaluated: {type(error).__name__}: {error}"
    if not CODE[case].__doc__:
        why = "is missing; python -OO removes it"
    elif not FORMULAS[case]:
        why = "has no formulas, which are lines such as: sent = A[:-1]"
    raise InputError(f"lab3.py: the docstring of {NAMES[case]} {why}")


def check_lab3(model: Model) -> None:
    """Raise InputError if lab3.py's functions do not compute what their docstrings state, or if a
    latency is below its lower bound or is not its steps' sum, or traffic is no whole number."""
    for kind, unit in KINDS.items():
        stated, value = state(model, kind), CODE[model.strategy, kind](*model.question)
        bound_s, steps_s = map(model.evaluate, (BOUNDS["lower bound"], STEPS))
        if value != stated:
            why = f"but its docstring {lab3.format_decimal(stated, 25)}: the two must say the same"
        elif kind == "latency" and stated < bound_s:
            why = f"less than its lower bound, {lab3.format_decimal(bound_s)}, with no node idle"
        elif kind == "latency" and stated != steps_s:
            why = f"but the docstring's {STEPS} is {lab3.format_decimal(steps_s)}"
        elif kind == "traffic" and (not isinstance(value, int) or value < 0):
            why = "which must be an int, 0 or more"
        else:
            continue
        # 25 digits distinguish a float from the exact number
        is_number = isinstance(value, (int, float, Fraction))
        shown = lab3.format_decimal(value, 25) if is_number else repr(value)
        case = f"for {count(model.question[2], 'input')}, lab3.py's {NAMES[model.strategy, kind]}"
        raise InputError(f"{case} gives {shown} {unit}, {why}")
