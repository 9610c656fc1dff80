"""Does a test notice each small change of what computes?

    .venv/bin/python tests/tools/mutate.py                  all of it
    .venv/bin/python tests/tools/mutate.py --only lab3.py   one module

cosmic-ray makes the changes, one at a time, in a copy of the project for each core, and the tests
of the changed module run. The changes that they do not notice must be those of
equivalent_mutants.txt, which says why each makes no difference: then the exit status is 0. Of what
cosmic-ray knows, an arithmetic operator is replaced by its kin only, not by bits and shifts, and a
comparison by its opposite and at its bound. It says at the end how long each module took: on two
cores plans.py some 20 minutes, the others a minute or two each.
"""

import argparse
import difflib
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from math import ceil
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import cosmic_ray.plugins
import hypothesis  # noqa: F401 - it and numpy are loaded once, not for each mutant
import numpy as np  # noqa: F401
import pytest
from cosmic_ray.commands.init import _all_work_items
from cosmic_ray.mutating import mutate_code

PROJECT = Path(__file__).resolve().parents[2]
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.txt")
HAND, ERRORS = "tests/test_hand_computed.py", "tests/program/test_errors.py"
LAWS, ROWS = "tests/oracles/test_laws.py", "tests/oracles/test_rows.py"
# The quickest first: most mutants fall at once.
SUITES = {
    "lab3.py": [HAND, ERRORS, "tests/program/test_lab3.py", LAWS],
    "report/whatif.py": ["tests/program/test_whatif.py", "tests/program/test_endings.py"],
    "report/tables.py": ["tests/program/test_tables.py", "tests/program/test_explain.py"],
    "report/sram.py": [HAND, ERRORS, LAWS, ROWS],
    "report/rows.py": [ROWS],
    "report/plans.py": [HAND, "tests/*/test_plan*.py", "tests/oracles/test_crossovers.py"],
    "report/schedule.py": ["tests/*/test_schedule.py"],
    "report/figures.py": ["tests/test_figures.py"],
    "report/explain.py": ["tests/program/test_explain.py"],
}
PYTEST = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:cov", "--hypothesis-profile=mutation"]
BYTES = 4 * 2**30  # that a mutant may take: some never end
KIN = ["Add_Sub", "Sub_Add", "Mul_Add", "Mul_Div", "Div_Mul", "FloorDiv_Div", "FloorDiv_Mul"]
KIN += ["Mod_FloorDiv", "Pow_Mul"]
BOUNDARY = ["Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt"]
OPPOSITE = ["Eq_NotEq", "NotEq_Eq", "Lt_GtE", "LtE_Gt", "Gt_LtE", "GtE_Lt", "Is_IsNot", "IsNot_Is"]
TRIED = re.compile(
    f"core/(ReplaceBinaryOperator_({'|'.join(KIN)})"
    f"|ReplaceComparisonOperator_({'|'.join(BOUNDARY + OPPOSITE)})"
    "|(?!ReplaceBinary|ReplaceComparison).*)"
)


class Mutant(NamedTuple):
    """The so-manieth place where an operator applies."""

    module: str
    operator: str
    occurrence: int
    definition: str


def mutants_of(module):
    for item in _all_work_items([Path(module)], {}):
        found = item.mutations[0]
        if TRIED.fullmatch(found.operator_name):
            definition = found.definition_name or "the module"
            yield Mutant(module, found.operator_name, found.occurrence, definition)


# ------------------------------------------------ in a copy of the project


def copy_project(copy):
    """The files that git would commit."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, text=True)
    for name in listed.stdout.split("\0"):
        if name and (PROJECT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT / name, copy / name)


def enter_copy(original):
    """A worker's own, which has the compiled tests too."""
    copy = tempfile.mkdtemp(dir=Path(original).parent)
    shutil.copytree(original, copy, dirs_exist_ok=True)
    os.chdir(copy)


def run_tests(module, seconds, write_bytecode=False):
    """The exit status of pytest in a process of its own, which ends in time."""
    child = os.fork()
    if child == 0:
        sys.dont_write_bytecode = not write_bytecode
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        resource.setrlimit(resource.RLIMIT_CPU, (ceil(seconds), ceil(seconds)))
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
        signal.alarm(ceil(seconds))
        tests = [str(each) for suite in SUITES[module] for each in sorted(Path().glob(suite))]
        os._exit(pytest.main([*PYTEST, *tests]))
    return os.waitpid(child, 0)[1]


def try_mutant(original, number, mutant, seconds):
    """Its key (module, definition, lines before and after), and whether it survives."""
    started = time.monotonic()
    file, source = Path(mutant.module), Path(original, mutant.module).read_text(encoding="utf-8")
    operator = cosmic_ray.plugins.get_operator(mutant.operator)()
    mutated = mutate_code(source, operator, mutant.occurrence)
    file.write_text(mutated, encoding="utf-8")
    os.utime(file, (number, number))  # of no other, should a script have left it compiled
    survives = run_tests(mutant.module, seconds) == 0
    shutil.copy2(Path(original, mutant.module), file)
    key = (mutant.module, mutant.definition, *changed(source, mutated))
    return key, survives, time.monotonic() - started


def changed(source, mutated):
    """The lines before and after, which stay the same when others are added above them; but blank
    ones, which go with a decorator."""
    lines = difflib.unified_diff(source.splitlines(), mutated.splitlines(), n=0, lineterm="")
    lines = list(lines)[3:]
    texts = [(line[0], line[1:].strip()) for line in lines]
    return [" | ".join(text for kind, text in texts if kind == sign and text) for sign in "-+"]


# ------------------------------------------------ all of them


def try_all(modules, folder):
    """What becomes of each mutant, one after the other."""
    original = Path(folder, "original")
    copy_project(original)
    os.chdir(original)
    limits_s = {}
    for module in modules:
        started = time.monotonic()
        if run_tests(module, 600, write_bytecode=True) != 0:
            sys.exit(f"mutate.py: the tests of {module} fail without any change")
        limits_s[module] = 5 + 3 * (time.monotonic() - started)
    mutants = [mutant for module in modules for mutant in mutants_of(module)]
    context = get_context("fork")
    with ProcessPoolExecutor(os.cpu_count(), context, enter_copy, (original,)) as workers:
        tried = [
            workers.submit(try_mutant, original, number, mutant, limits_s[mutant.module])
            for number, mutant in enumerate(mutants)
        ]
        try:
            for number, each in enumerate(tried, 1):
                yield number / len(tried), *each.result()
        finally:
            workers.shutdown(cancel_futures=True)


def listed_as_equivalent():
    """Keys (module, definition, line before, line after) of equivalent_mutants.txt."""
    keys = set()
    for line in EQUIVALENT.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            module, _, definition = line[2:].partition(": ")
        elif line.startswith("-"):
            before = line[1:].strip()
        elif line.startswith("+"):
            keys.add((module, definition, before, line[1:].strip()))
    return keys


def show(title, keys):
    if keys:
        print(f"\n{title}:")
    for module, definition, before, after in sorted(keys):
        print(f"\n# {module}: {definition}\n- {before}\n+ {after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", choices=SUITES, help="this module; repeatable")
    modules = parser.parse_args().only or list(SUITES)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("mutate.py: ended"))
    started = time.monotonic()
    tried, seconds, survived, percent = Counter(), Counter(), set(), 0
    with tempfile.TemporaryDirectory() as folder:
        for done, key, survives, took_s in try_all(modules, folder):
            tried[key[0]] += 1
            seconds[key[0]] += took_s / os.cpu_count()
            if survives:
                survived.add(key)
            if done * 100 >= percent:
                so_far = f"{percent:3} %  {time.monotonic() - started:5.0f} s"
                print(f"{so_far}  {tried.total()} tried, {len(survived)} survive", flush=True)
                percent += 5
        os.chdir(PROJECT)
    equivalent = {key for key in listed_as_equivalent() if key[0] in modules}
    for module in modules:
        print(f"{module}: {tried[module]} mutants in {seconds[module]:.0f} s")
    new, gone = survived - equivalent, equivalent - survived
    show("not noticed, and not known as equivalent", new)
    show("known as equivalent, yet no longer among those that survive", gone)
    return 1 if new or gone else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("mutate.py: interrupted")
