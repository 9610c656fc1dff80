"""How fast lab3 is: `.venv/bin/python -m tests.tools.benchmark`, half a minute.

Times of this machine, and what they are multiples of: those can be compared between machines.
"""

import statistics
import subprocess
import sys
import time
import timeit
from fractions import Fraction

import lab3
from lab3 import NETWORK, SYSTEM, ConvLayer, System
from report.search import every_result


def process_s(*command, runs=20):
    """Median of whole processes, without the virtual environment's packages."""
    times_s = []
    for _ in range(runs):
        start_s = time.perf_counter()
        whole = [sys.executable, "-E", "-S", *command]
        subprocess.run(whole, stdout=subprocess.DEVNULL, check=True)
        times_s.append(time.perf_counter() - start_s)
    return statistics.median(times_s)


def call_s(function, *arguments):
    """The quickest of several calls."""
    timer = timeit.Timer(lambda: function(*arguments))
    number, _ = timer.autorange()
    return min(timer.repeat(number=number, repeat=3)) / number


def four_functions(network, system, inputs):
    return (
        lab3.tensor_parallel_latency(network, system, inputs),
        lab3.tensor_parallel_traffic(network, system, inputs),
        lab3.pipeline_parallel_latency(network, system, inputs),
        lab3.pipeline_parallel_traffic(network, system, inputs),
    )


def closed_form(network, system, inputs):
    """The same four numbers all-to-all, with neither steps nor checks."""
    ops = [layer.ops for layer in network]
    sent, last = [layer.output_bytes for layer in network[:-1]], network[-1].output_bytes
    nodes, rate, link = system.nodes, system.ops_per_s, system.link_bytes_per_s
    one_s = Fraction(sum(ops), nodes * rate) + Fraction(sum(sent) + last, nodes * link)
    longest_s = max(Fraction(max(ops), rate), Fraction(max(sent), link))
    first_s = Fraction(sum(ops), rate) + Fraction(sum(sent), link)
    return (
        inputs * one_s,
        inputs * (nodes - 1) * (sum(sent) + last // nodes),
        first_s + (inputs - 1) * longest_s,
        inputs * sum(sent),
    )


def show(title, unit, scale, times_s):
    """Each time, and how many times the first it is."""
    print(title)
    first_s = next(iter(times_s.values()))
    for what, seconds in times_s.items():
        print(f"  {what:28}{seconds * scale:10.1f} {unit}{seconds / first_s:10.1f} times")


def main():
    commands = {"python -c pass": ["-c", "pass"], "lab3.py": ["lab3.py"]}
    for command in ("whatif", "explain", "plans"):
        commands[f"report {command}"] = ["report", *command.split()]
    times_s = {what: process_s(*command) for what, command in commands.items()}
    show("whole processes", "ms", 1e3, times_s)

    long = [ConvLayer(10_000, 10_000, 1, 1, 1, 1)] * 10_000
    lab, many = (NETWORK, SYSTEM, 32), (long, System(nodes=10_000), 32)
    assert closed_form(*lab) == four_functions(*lab)
    times_s = {"a bare closed form, the lab": call_s(closed_form, *lab)}
    times_s["the lab"] = call_s(four_functions, *lab)
    times_s["10,000 layers"] = call_s(four_functions, *many)
    show("the four functions", "us", 1e6, times_s)

    mixed = [ConvLayer(16, 16, 3, 3, size, size) for size in range(34, 18, -2)]
    times_s = {"the lab": call_s(every_result, *lab)}
    times_s["8 layers on 16 nodes"] = call_s(every_result, mixed, System(nodes=16), 32)
    show("what every plan takes", "ms", 1e3, times_s)


if __name__ == "__main__":
    main()
