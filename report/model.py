"""lab3.py's formulas: the docstrings of its four functions, evaluated, and what edits make of them.

A formula is a line `name = expression`. Numbers of all layers, such as C, have one name: arithmetic
is layer by layer, and a comma joins. An edit is formulas, too, each evaluated after the one of its
name, so that on its right the name is what it was until then. The ring of Q4 is such an edit, and
so is each mistake of report/check/mistakes.py. What is evaluated is text of lab3.py and report/.
"""

import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from operator import add, floordiv, mul, sub, truediv
from types import CodeType
from typing import Any, NamedTuple

import lab3
from lab3 import ConvLayer, Network, System
from report.text import count, format_exactly

STRATEGIES = "tensor", "pipeline"
KINDS = {"latency": "s", "traffic": "bytes"}
NEEDED = {"latency": ("latency", "compute", "transfer"), "traffic": ("traffic",)}  # by report/
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
PRINTED = "printed_latency = latency; printed_traffic = traffic"  # in the units that are asked for
RING = "transfer = (P - 1) * S / B; gather = P * (P - 1) / 2 * S[-1]"  # a pipeline follows the ring
GIVEN = {*ConvLayer._fields, *"PRBN", "Q2"}  # Q2: whether there are several inputs


# ------------------------------------------------ numbers of all layers
class Each(tuple[Any, ...]):
    """A number for each layer; arithmetic is layer by layer."""

    @staticmethod
    def _each(operate: Callable[[Any, Any], Any], is_right: bool = False) -> Any:
        def operated(own: "Each", other: Any) -> "Each":
            others = other if isinstance(other, Each) else (other,) * len(own)
            if len(own) != len(others):
                raise TypeError(f"{len(own)} and {len(others)} numbers do not fit together")
            return Each(map(operate, others, own) if is_right else map(operate, own, others))

        return operated

    __add__, __radd__ = _each(add), _each(add, True)
    __sub__, __rsub__ = _each(sub), _each(sub, True)
    __mul__, __rmul__ = _each(mul), _each(mul, True)
    __truediv__, __rtruediv__ = _each(truediv), _each(truediv, True)
    __floordiv__ = _each(floordiv)

    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(at)
        return Each(found) if isinstance(at, slice) else found


def join(*parts: Any) -> Each:
    """Join numbers, and numbers of layers, one behind the other."""
    return Each(chain.from_iterable(it if isinstance(it, Iterable) else (it,) for it in parts))


def largest(*parts: Any) -> Any:
    """Find the largest of numbers, and of numbers of layers."""
    if numbers := join(*parts):
        return max(numbers)
    raise TypeError("max has no numbers")


def put(numbers: Each, at: Any, number: Any) -> Each:
    """Put a number in a place, counted from 0, if there is such a place."""
    return Each(number if place == at else own for place, own in enumerate(numbers))


FUNCTIONS: dict[str, Any] = {"join": join, "put": put, "max": largest, "len": len, "map": map}
FUNCTIONS["exact"] = Fraction  # of a constant that is divided
FUNCTIONS["sum"] = lambda *parts: sum(join(*parts))
FUNCTIONS["__builtins__"] = {}


# ------------------------------------------------ formulas
class Formula(NamedTuple):
    """A line `name = expression`."""

    name: str
    expression: str
    code: CodeType
    place: str  # a function of lab3.py

    def refuse(self, why: object) -> ValueError:
        """Make the error that says where the formula is, and what is wrong with it."""
        return ValueError(f"{self.place}: '{self.name} = {self.expression}': {why}")


FORMULA = re.compile(r"(\w+) *= *([^\s=].*?)(?: seconds| bytes)?")
DIVIDED = re.compile(r"(?<![\w.*])(\d+)(?= */)")  # a constant: 1 / 2 is no float


@cache
def parse(text: str, place: str = "report/") -> list[Formula]:
    """Parse formulas, one a line or between semicolons. Raises ValueError for what is none."""
    formulas = []
    for line in map(str.strip, text.replace(";", "\n").splitlines()):
        found = FORMULA.fullmatch(line)
        name, expression = found.groups() if found else ("", "")
        try:
            exact = DIVIDED.sub(lambda number: f"exact({number[0]})", expression)
            code = compile(exact, place, "eval")
        except SyntaxError:
            wanted = "a formula such as 'sent = A[:-1]', one a line"
            raise ValueError(f"{place}: {line!a} is not {wanted}") from None
        formulas.append(Formula(name, expression, code, place))
    return formulas


@cache
def read_docstring(strategy: str, kind: str) -> list[Formula]:
    """Read the formulas in a docstring of lab3.py: the paragraphs that begin with one."""
    name = f"{strategy}_parallel_{kind}"
    text = getattr(lab3, name).__doc__
    if text is None:
        raise ValueError(f"lab3.py's {name} has no docstring: is it python -OO?")
    paragraphs = [paragraph.strip() for paragraph in text.split("\n\n")]
    return parse("\n".join(filter(FORMULA.match, paragraphs)), f"lab3.py's {name}")


@cache
def read_formulas(strategy: str) -> dict[str, Formula]:
    """Read a strategy's formulas, by name: lab3.py's, with what a layer computes and sends; each
    behind those that it depends on. Raises ValueError, with lab3.py's function and line, for one
    that cannot be evaluated."""
    formulas = {formula.name: formula for formula in parse(LAYER_SIZES) + parse(SYMBOLS)}
    known = {*GIVEN, *FUNCTIONS, *formulas, *(formula.name for formula in parse(PRINTED))}
    for kind in KINDS:
        for formula in read_docstring(strategy, kind):
            if formula.name in known | formulas.keys():
                raise formula.refuse(f"{formula.name} has a meaning already")
            formulas[formula.name] = formula
        for name in NEEDED[kind]:
            if name not in formulas:
                raise ValueError(f"lab3.py's {strategy}_parallel_{kind} has no formula of {name}")
    for formula in formulas.values():
        if unknown := {*formula.code.co_names} - formulas.keys() - known:
            raise formula.refuse(f"{min(unknown)} is unknown")
    try:
        order = TopologicalSorter({it.name: it.code.co_names for it in formulas.values()})
        formulas = {name: formulas[name] for name in order.static_order() if name in formulas}
    except CycleError as error:
        name = error.args[1][0]
        raise formulas[name].refuse(f"{name} depends on itself") from None
    return formulas | {formula.name: formula for formula in parse(PRINTED)}


@cache
def find_dependents(strategy: str, name: str) -> set[str]:
    """Find a name and all whose formulas depend on it."""
    found, formulas = {name}, read_formulas(strategy).values()
    while more := {it.name for it in formulas if found & {*it.code.co_names}} - found:
        found |= more
    return found


# ------------------------------------------------ a strategy's numbers
class Model(dict[str, Any]):
    """A possible strategy's numbers by name, evaluated when they are asked for, exact or floats."""

    def __init__(
        self, strategy: str, network: Network, system: System, inputs: int = 1, real: Any = Fraction
    ) -> None:
        super().__init__()
        self.strategy, self.network, self.system, self.inputs = strategy, network, system, inputs
        columns = map(Each, zip(*(map(real, layer) for layer in network), strict=True))
        self.given: dict[str, Any] = dict(zip(ConvLayer._fields, columns, strict=True))
        self.given |= zip("PRBN", map(real, (*system[:3], inputs)), strict=True)
        self.given["Q2"] = inputs > 1
        self.formulas = {name: [formula] for name, formula in read_formulas(strategy).items()}

    def __missing__(self, name: str) -> Any:
        if name in self.given:
            self[name] = self.given[name]
        for formula in self.formulas.get(name, []):
            try:
                found = eval(formula.code, FUNCTIONS, self)
                if isinstance(found, Iterable) and not isinstance(found, Each):
                    found = join(*found)  # of a comma, a list or a map
            except (ArithmeticError, LookupError, NameError, RecursionError, TypeError) as error:
                raise formula.refuse(error) from None
            self[name] = found
        if name not in self:
            raise KeyError(name)
        return self[name]

    def edit(self, *edits: str) -> "Model":
        """Make a model with edits; numbers that do not depend on them stay."""
        model = Model.__new__(Model)
        model.__dict__ = {**self.__dict__, "formulas": {**self.formulas}}
        changed: set[str] = set()
        for formula in chain.from_iterable(map(parse, edits)):
            model.formulas[formula.name] = [*model.formulas.get(formula.name, []), formula]
            changed |= find_dependents(self.strategy, formula.name)
        model.update((name, number) for name, number in self.items() if name not in changed)
        return model

    @property
    def interval_s(self) -> Fraction:
        """Compute what a second input adds, and by lab3.py's formulas each further one."""
        one, two = (self.edit(f"N = {inputs}; Q2 = N > 1")["latency"] for inputs in (1, 2))
        return Fraction(two - one)


def list_layers(network: Network) -> list[dict[str, int]]:
    """List each layer's number, fields and sizes, by name."""
    names = [*ConvLayer._fields, *(formula.name for formula in parse(LAYER_SIZES))]
    model = Model("pipeline", network, System(), real=int)
    rows = zip(range(1, len(network) + 1), *(model[name] for name in names), strict=True)
    return [dict(zip(["layer", *names], row, strict=True)) for row in rows]


def compare_with_code(model: Model) -> None:
    """Raise ValueError if lab3.py's code computes anything else than its formulas say."""
    for formula in read_formulas(model.strategy).values():
        found = join(model[formula.name])
        if not all(isinstance(number, (int, Fraction)) for number in found):
            raise formula.refuse("it is not exact: it needs whole numbers, such as 1 / 2")
        if formula.name in KINDS and isinstance(model[formula.name], Each):
            raise formula.refuse("it gives a number for each layer, not one")
        if formula.name == "traffic" and model["traffic"] % 1:
            raise formula.refuse("it gives no whole number of bytes")
        own = [getattr(layer, formula.name, None) for layer in model.network]
        if formula.place == "report/" and None not in own and own != [*found]:
            raise formula.refuse("lab3.py's ConvLayer has other numbers: change both")
    for kind, unit in KINDS.items():
        place, case = f"{model.strategy}_parallel_{kind}", count(model.inputs, "input")
        computed = getattr(lab3, place)(model.network, model.system, model.inputs)
        if computed != model[kind]:
            raise ValueError(
                f"for {case}, lab3.py's {place} gives {format_exactly(computed)} {unit}, its"
                f" docstring {format_exactly(model[kind])} {unit}: change its docstring, too, or"
                " its code"
            )


# ------------------------------------------------ bounds
def compute_bound(network: Network, system: System, inputs: int = 1) -> Fraction:
    """Compute the lower bound, N * sum(C) / (P * R) seconds. No schedule takes less, because each
    input costs sum(C) ops, 2 per MAC as in the handout, and P nodes do at most R ops/s each."""
    ops = inputs * sum(layer.ops for layer in network)
    return ops / (system.nodes * Fraction(system.ops_per_s))
