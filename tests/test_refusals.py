"""Each public function of lab3 and report/ refuses a network, system, inputs, question, plan or
strategy that cannot be modelled, with ValueError and one sentence: no answer, no other error.

The functions are found by the names of their parameters, so a new one is tested, too.
"""

import inspect
import pkgutil
import re
from fractions import Fraction
from importlib import import_module

import pytest

import lab3
import report
from lab3 import NETWORK, SYSTEM
from report.plans import Group
from report.question import LAB, Question
from report.steps import Step

MODULES = ["lab3", *(f"report.{it.name}" for it in pkgutil.iter_modules(report.__path__))]

RIGHT = {
    "network": NETWORK,
    "system": SYSTEM,
    "inputs": 2,
    "question": LAB,
    "plan": (Group(4, 4),),
    "strategy": "tensor",
    "most_changes": 1,
    "layer": 1,
    "shard_bytes": 10,
    "steps": (Step(1, "compute", 10),),
    "stages": ((Step(1, "compute", 10),),),
    "text": "100",
    "texts": (),
}

HUGE = 10**5_000  # more digits than Python prints
NO_COUNTS = [0, -3, 1.5, True, "2", [2], HUGE, -HUGE]
LAYER, *LATER = NETWORK
NO_NETWORKS = [
    *(None, 4, "lab", (), {}, LAYER, [None], ["layer"], [tuple(LAYER)], [HUGE], iter(NETWORK)),
    *([LAYER._replace(filters=wrong), *LATER] for wrong in [None, *NO_COUNTS]),
    (LAYER, LAYER),
    (LAYER._replace(fx=33),),
]
NO_SYSTEMS = [
    *(None, 4, "lab", [], tuple(SYSTEM), HUGE, lab3.System),
    *(SYSTEM._replace(nodes=wrong) for wrong in [None, *NO_COUNTS]),
    *(SYSTEM._replace(sram_bytes=wrong) for wrong in [None, *NO_COUNTS]),
    *(SYSTEM._replace(ops_per_s=wrong) for wrong in (None, 0, -1, 5e10, "50", HUGE)),
    *(SYSTEM._replace(link_bytes_per_s=wrong) for wrong in (Fraction(-1, 2), Fraction(1, HUGE))),
    *(SYSTEM._replace(topology=wrong) for wrong in ("star", None, 4, ["ring"])),
]
NO_PLANS = [
    *(None, 4, "1-4:4", (), {}, [1], [None], [(4,)], [(4, 4, 4)], [("4", 4)], HUGE, [HUGE]),
    *([(4, wrong)] for wrong in [None, *NO_COUNTS[:-2], -HUGE]),
    *([(wrong, 4)] for wrong in [None, *NO_COUNTS[:-2], -HUGE]),
]
NO_PLANS_OF_THE_LAB = [
    *([(3, 4)], [(5, 4)], [(4, 5)], [(4, 3)], [(2, 4), (2, 1)], [(4, HUGE)], [(HUGE, 4)])
]
WRONG = {
    "network": NO_NETWORKS,
    "system": NO_SYSTEMS,
    "inputs": NO_COUNTS,
    "question": [
        *(None, 4, "lab", (), [LAB], tuple(LAB), HUGE, Question),
        *(LAB._replace(network=wrong) for wrong in NO_NETWORKS),
        *(LAB._replace(system=wrong) for wrong in NO_SYSTEMS),
        *(LAB._replace(inputs=wrong) for wrong in [None, *NO_COUNTS]),
    ],
    "plan": NO_PLANS,
    "strategy": [None, 4, "", "star", [], ["tensor"], HUGE],
    "most_changes": [None, -1, 1.5, "1", HUGE],
}


# What a refusal begins with: which of the parameters is wrong, or what in it.
FIELDS = "nodes|sram_bytes|ops_per_s|link_bytes_per_s|topology"
NAMED = {
    "network": "network|layer [12]",
    "system": f"system|{FIELDS}",
    "inputs": "inputs",
    "question": f"question|network|layer [12]|system|inputs|{FIELDS}",
    "plan": "plan|group [12]",
    "strategy": "strategy",
    "most_changes": "most_changes",
}


def parameters(function):
    """The names of those that must be given, and of those that can be wrong."""
    found = inspect.signature(function).parameters.values()
    needed = [it.name for it in found if it.default is it.empty]
    return needed, [it.name for it in found if it.name in WRONG]


def public(module):
    """The functions and classes that can be called with RIGHT and take what can be wrong."""
    for name, it in vars(module).items():
        if name.startswith("_") or getattr(it, "__module__", "") != module.__name__:
            continue
        if inspect.isfunction(it) or (inspect.isclass(it) and "__init__" in vars(it)):
            needed, wrong = parameters(it)
            if wrong and {*needed} <= {*RIGHT}:
                yield it


CASES = {
    f"{module.removeprefix('report.')}.{function.__qualname__} {name}": (function, name)
    for module in MODULES
    if "__main__" not in module
    for function in public(import_module(module))
    for name in parameters(function)[1]
}


def test_functions_are_found():
    assert {
        *("lab3.answers network", "steps.gather system", "steps.latency inputs"),
        *("question.asked question", "plans.plan_latency system", "streaming.compute_bound inputs"),
        *("sram.data_parallel_sram network", "schedule.events inputs", "plans.plan_text plan"),
    } <= {*CASES}


@pytest.mark.parametrize("case", sorted(CASES))
def test_what_cannot_be_modelled_is_refused(case):
    function, name = CASES[case]
    right = {it: RIGHT[it] for it in parameters(function)[0]}
    if case.startswith("check.check "):
        right["text"] = "Total latency of tensor parallelism is 0.1 seconds"
    function(**right)
    of_the_lab = name == "plan" and "network" in right and function.__name__ != "plan_name"
    default = inspect.signature(function).parameters[name].default
    for wrong in WRONG[name] + NO_PLANS_OF_THE_LAB * of_the_lab:
        if wrong is default:  # None, where it has a meaning
            continue
        with pytest.raises(ValueError) as caught:
            function(**{**right, name: wrong})
        said = str(caught.value)
        assert re.match(NAMED[name], said)
        assert said.isascii() and said.isprintable() and 10 < len(said) < 300
        assert type(caught.value) is ValueError and "Exceeds the limit" not in said
