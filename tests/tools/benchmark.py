"""How fast lab3 is: .venv/bin/python tests/tools/benchmark.py, half a minute on a quiet machine.

Ratios within one run, since they tell the same on any machine, and one time in microseconds.
"""

import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "lab3.py"
sys.path.insert(0, str(SCRIPT.parent))

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


def process_s(*command):
    start_s = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start_s


def process_ratio(pairs=100):
    """Median of paired runs, in a virtual environment without packages."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        python = str(next(Path(folder).glob("*/python")))
        return statistics.median(
            process_s(python, SCRIPT) / process_s(python, "-c", "pass") for _ in range(pairs)
        )


def evaluation_s(network, system, inputs):
    """The quickest of several evaluations of all four functions."""

    def evaluate():
        tensor_parallel_latency(network, system, inputs)
        tensor_parallel_traffic(network, system, inputs)
        pipeline_parallel_latency(network, system, inputs)
        pipeline_parallel_traffic(network, system, inputs)

    number, _ = timeit.Timer(evaluate).autorange()
    return min(timeit.repeat(evaluate, number=number, repeat=7)) / number


# 10,000 layers on as many nodes, which must divide the filters
FOR_CHAINS = System(nodes=10_000)


def chain(layers):
    return [ConvLayer(FOR_CHAINS.nodes, FOR_CHAINS.nodes, 1, 1, 1, 1)] * layers


def main():
    print(f"whole process / python -c pass: {process_ratio():.2f} (at most 2.4)")
    lab_s = evaluation_s(NETWORK, SYSTEM, 1)
    print(f"all four functions on the lab: {lab_s * 1e6:.0f} us (at most 100)")
    many_s = evaluation_s(NETWORK, SYSTEM, 10**12)
    print(f"10^12 inputs / 1 input: {many_s / lab_s:.2f} (about 1)")
    layers_s = [evaluation_s(chain(layers), FOR_CHAINS, 1) / layers for layers in (100, 10_000)]
    print(f"time a layer, 10,000 layers / 100 layers: {layers_s[1] / layers_s[0]:.2f} (about 1)")
    wide = [layer._replace(filters=10**12) for layer in NETWORK[:1]]
    few_s = evaluation_s(wide, System(nodes=4), 1)
    many_s = evaluation_s(wide, System(nodes=10**12), 1)
    print(f"10^12 nodes / 4 nodes: {many_s / few_s:.2f} (about 1)")


if __name__ == "__main__":
    main()
