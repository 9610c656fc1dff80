"""How fast lab3 is: `.venv/bin/python -m tests.tools.benchmark`, some five seconds.

Times of this machine, and what they are multiples of: those can be compared between machines.
"""

import statistics
import subprocess
import sys
import time
import timeit

import lab3
from lab3 import NETWORK, SYSTEM, ConvLayer, System


def measure_process(*command):
    """Seconds, the median of 20, of a process without the virtual environment's packages."""
    answers = lab3.answers(NETWORK, SYSTEM, lab3.INPUTS)
    times_s = []
    for _ in range(20):
        start_s = time.perf_counter()
        whole = [sys.executable, "-E", "-S", *command]
        subprocess.run(whole, input=answers, stdout=subprocess.DEVNULL, text=True, check=True)
        times_s.append(time.perf_counter() - start_s)
    return statistics.median(times_s)


def measure_four_functions(network, system, inputs):
    """Seconds, the fewest of several runs."""

    def call():
        lab3.tensor_parallel_latency(network, system, inputs)
        lab3.tensor_parallel_traffic(network, system, inputs)
        lab3.pipeline_parallel_latency(network, system, inputs)
        lab3.pipeline_parallel_traffic(network, system, inputs)

    timer = timeit.Timer(call)
    number, _ = timer.autorange()
    return min(timer.repeat(number=number)) / number


def show(title, unit, scale, times_s):
    """Each time, and how many times the first it is."""
    print(title)
    first_s = next(iter(times_s.values()))
    for what, seconds in times_s.items():
        print(f"  {what:20}{seconds * scale:10.1f} {unit}{seconds / first_s:10.1f} times")


def main():
    commands = {"python -c pass": ["-c", "pass"], "lab3.py": ["lab3.py"]}
    for command in ("whatif", "explain", "check"):
        commands[f"report {command}"] = ["report", command]
    times_s = {what: measure_process(*command) for what, command in commands.items()}
    show("whole processes", "ms", 1e3, times_s)

    long = [ConvLayer(100, 100, 1, 1, 1, 1)] * 100
    times_s = {"the lab": measure_four_functions(NETWORK, SYSTEM, 32)}
    times_s["100 layers"] = measure_four_functions(long, System(nodes=100), 32)
    show("the four functions", "us", 1e6, times_s)


if __name__ == "__main__":
    main()
