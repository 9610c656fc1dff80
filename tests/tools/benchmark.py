"""How fast lab3 is: .venv/bin/python tests/tools/benchmark.py, half a minute on a quiet machine."""

import statistics
import subprocess
import sys
import time
import timeit
from functools import partial
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(PROJECT), str(PROJECT / "report")]

from lab3 import (  # noqa: E402 - found through the line above
    NETWORK,
    SYSTEM,
    ConvLayer,
    System,
    pipeline_parallel_latency,
    pipeline_parallel_traffic,
    tensor_parallel_latency,
    tensor_parallel_traffic,
)
from plans import best_plans  # noqa: E402


def process_s(*command, runs=50):
    """Median of whole processes, without the virtual environment's packages."""
    times_s = []
    for _ in range(runs):
        start_s = time.perf_counter()
        command_line = [sys.executable, "-E", "-S", *command]
        subprocess.run(command_line, stdout=subprocess.DEVNULL, check=True)
        times_s.append(time.perf_counter() - start_s)
    return statistics.median(times_s)


def call_s(function, *arguments):
    """The quickest of several calls."""
    timer = timeit.Timer(partial(function, *arguments))
    number, seconds = timer.autorange()
    return min(timer.repeat(number=number, repeat=5 if seconds < 1 else 1)) / number


def four_functions(network, system, inputs):
    tensor_parallel_latency(network, system, inputs)
    tensor_parallel_traffic(network, system, inputs)
    pipeline_parallel_latency(network, system, inputs)
    pipeline_parallel_traffic(network, system, inputs)


def chain(layers, filters=10_000):
    """Layers whose filters 10,000 nodes divide."""
    return [ConvLayer(filters, filters, 1, 1, 1, 1)] * layers


def mixed(layers, filters=16):
    """Layers of which none is like another."""
    return [
        ConvLayer(filters, filters, 3, 3, 2 * rest + 2, 2 * rest + 2)
        for rest in range(layers, 0, -1)
    ]


def main():
    bare_s = process_s("-c", "pass")
    print("whole processes")
    print(f"  python -c pass        {bare_s * 1e3:8.1f} ms")
    for script in ("lab3.py", "report/whatif.py", "report/explain.py", "report/plans.py"):
        script_s = process_s(PROJECT / script)
        print(f"  {script:20}  {script_s * 1e3:8.1f} ms, {script_s / bare_s:.1f} times that")

    wide, large = System(nodes=10_000), System(nodes=10**6)
    print("the four functions")
    for what, *question in [
        ("the lab, 1 input", NETWORK, SYSTEM, 1),
        ("the lab, 10^12 inputs", NETWORK, SYSTEM, 10**12),
        ("1 layer, 4 nodes", chain(1, 10**6), SYSTEM, 1),
        ("1 layer, 10^6 nodes", chain(1, 10**6), large, 1),
        ("100 layers", chain(100), wide, 1),
        ("10,000 layers", chain(10_000), wide, 1),
    ]:
        seconds, layers = call_s(four_functions, *question), len(question[0])
        print(f"  {what:22}{seconds * 1e6:10.1f} us, {seconds / layers * 1e6:.1f} a layer")

    print("the search of plans")
    for what, *question in [
        ("the lab", NETWORK, SYSTEM, 32),
        ("8 equal layers, 16 nodes", chain(8, 16), System(nodes=16), 32),
        ("16 others, 16 nodes", mixed(16), System(nodes=16), 32),
    ]:
        print(f"  {what:26}{call_s(best_plans, *question) * 1e3:10.1f} ms")


if __name__ == "__main__":
    main()
