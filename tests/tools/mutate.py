"""Does a test notice each small change of what computes?

    .venv/bin/python tests/tools/mutate.py                              all of it
    .venv/bin/python tests/tools/mutate.py --only lab3.py --sample 100  a quick look

cosmic-ray makes the changes, one at a time, in copies of the project, and the module's tests run.
The changes that they do not notice must be those of equivalent_mutants.txt, which says why each
makes no difference: then the exit status is 0. Of what cosmic-ray knows, an arithmetic operator is
replaced by its kin only, not by bits and shifts, and a comparison by its opposite and at its bound.
Left out are report/figures.py and report/build.py, which draw and lay out.

Each core has a copy and a worker, which loads pytest once and forks for each mutant.
"""

import argparse
import contextlib
import difflib
import json
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
from math import ceil
from pathlib import Path

import cosmic_ray.plugins
import pytest
from cosmic_ray.commands.init import _all_work_items
from cosmic_ray.mutating import mutate_code

PROJECT = Path(__file__).resolve().parents[2]
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.txt")
PROGRAM = "tests/program/test_"
# The quickest first: most mutants fall at once. The tests of bytes are not among them.
SUITES = {
    "lab3.py": [
        "tests/test_hand_computed.py",
        *(f"{PROGRAM}{name}.py" for name in ("errors", "json", "explain", "command_line")),
        *(f"{PROGRAM}{name}.py" for name in ("module", "required_output", "streams")),
        "tests/oracles/test_laws.py",
    ],
    "report/plans.py": ["tests/test_hand_computed.py", "tests/oracles/test_plans.py"],
    "report/rows_streamed.py": ["tests/oracles/test_rows_streamed.py"],
    "report/analysis.py": ["tests/deck/test_analysis.py"],
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


# ------------------------------------------------ a worker


def work(folder, number, modules, sample):
    """Try every so-manieth mutant of the modules, and tell what becomes of it."""
    import hypothesis  # noqa: F401 - it and numpy are loaded once, not for each mutant
    import numpy as np  # noqa: F401

    os.chdir(folder)
    for module in modules:
        started = time.monotonic()
        if run_tests(module, seconds=600, write_bytecode=True) != 0:
            tell(module=module, fails=True)
            return
        seconds = 5 + 3 * (time.monotonic() - started)
        source = Path(module).read_text(encoding="utf-8")
        for mutation in chosen(module, sample)[number :: os.cpu_count() or 1]:
            operator = cosmic_ray.plugins.get_operator(mutation.operator_name)()
            mutant = mutate_code(source, operator, mutation.occurrence)
            Path(module).write_text(mutant, encoding="utf-8")
            key = [module, mutation.definition_name or "the module", *changed(source, mutant)]
            tell(module=module, key=key, survives=run_tests(module, seconds) == 0)
        Path(module).write_text(source, encoding="utf-8")


def chosen(module, sample):
    mutations = [item.mutations[0] for item in _all_work_items([Path(module)], {})]
    mutations = [each for each in mutations if TRIED.fullmatch(each.operator_name)]
    return mutations[:: max(1, len(mutations) // sample)] if sample else mutations


def tell(**result):
    """A line in one write: the workers share a pipe, and lines must not mix."""
    os.write(sys.stdout.fileno(), f"{json.dumps(result)}\n".encode())


def run_tests(module, seconds, write_bytecode=False):
    """The exit status of pytest in a process of its own, which ends in time."""
    child = os.fork()
    if child == 0:
        # The first run leaves the compiled tests. A mutant must leave nothing: another may have
        # its size and its time.
        sys.dont_write_bytecode = not write_bytecode
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        resource.setrlimit(resource.RLIMIT_CPU, (ceil(seconds), ceil(seconds)))
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
        signal.alarm(ceil(seconds))
        os._exit(pytest.main([*PYTEST, *SUITES[module]]))
    return os.waitpid(child, 0)[1]


def changed(source, mutant):
    """The lines before and after, which stay the same when others are added above them; but blank
    ones, which go with a decorator."""
    lines = difflib.unified_diff(source.splitlines(), mutant.splitlines(), n=0, lineterm="")
    lines = list(lines)[3:]
    texts = [(line[0], line[1:].strip()) for line in lines]
    return [" | ".join(text for kind, text in texts if kind == sign and text) for sign in "-+"]


# ------------------------------------------------ all of them


def start(folder, number, arguments, results):
    """A worker on a copy of the files that git would commit, in a process group of its own."""
    copy = Path(folder, str(number))
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, text=True)
    for name in listed.stdout.split("\0"):
        if name and (PROJECT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT / name, copy / name)
    command = [sys.executable, __file__, *arguments, "--worker", str(copy), str(number)]
    environment = {**os.environ, "TMPDIR": folder}
    return subprocess.Popen(command, stdout=results, env=environment, start_new_session=True)


def try_all(arguments):
    """What becomes of each mutant. However it ends, no process and no folder is left."""
    with tempfile.TemporaryDirectory() as folder:
        workers = []
        reader, writer = os.pipe()
        try:
            for number in range(os.cpu_count() or 1):
                workers.append(start(folder, number, arguments, writer))
            os.close(writer)
            with open(reader, encoding="utf-8") as results:
                yield from map(json.loads, results)
        finally:
            for worker in workers:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(worker.pid, signal.SIGKILL)
                worker.wait()
        if any(worker.returncode for worker in workers):
            sys.exit("mutate.py: a worker failed")


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


def show(keys):
    for module, definition, before, after in sorted(keys):
        print(f"\n# {module}: {definition}\n- {before}\n+ {after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", choices=SUITES, help="this module; repeatable")
    parser.add_argument("--sample", type=int, metavar="N", help="about N mutants of each module")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    modules = options.only or list(SUITES)
    if options.worker:
        folder, number = options.worker
        work(folder, int(number), modules, options.sample)
        return 0

    signal.signal(signal.SIGTERM, lambda *_: sys.exit("mutate.py: ended"))
    started = time.monotonic()
    tried, survived = Counter(), set()
    fallen = set()
    for result in try_all(sys.argv[1:]):
        if "fails" in result:
            sys.exit(f"mutate.py: the tests of {result['module']} fail without any change")
        tried[result["module"]] += 1
        (survived if result["survives"] else fallen).add(tuple(result["key"]))
        if sys.stderr.isatty():
            print(f"\r{dict(tried)}, {len(survived)} survive", end="", file=sys.stderr)

    equivalent = {key for key in listed_as_equivalent() if key[0] in modules}
    seen = survived | (fallen if options.sample else equivalent)
    new, gone = survived - equivalent, (equivalent & seen) - survived
    print(f"{time.monotonic() - started:.0f} s:", end=" ")
    print(*(f"{count} mutants of {module}," for module, count in tried.items()), end=" ")
    print(f"{len(survived)} kinds survive, {len(new)} of them not known as equivalent")
    show(new)
    if gone:
        print("\nknown as equivalent, yet no longer among those that survive:")
        show(gone)
    return 1 if new or gone else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("mutate.py: interrupted")
