"""How fast lab3 is: `.venv/bin/python -m tests.tools.benchmark`, some five seconds.

Times of this machine, and what they are multiples of: those can be compared between machines.
"""

import subprocess
import sys
import timeit

import lab3
from lab3 import NETWORK, SYSTEM, ConvLayer, System

ANSWERS = lab3.answers(NETWORK, SYSTEM, lab3.INPUTS)
PROCESSES = {"python -c pass": ["-c", "pass"], "lab3.py": ["lab3.py"]}
PROCESSES |= {f"report {it}": ["report", it] for it in ("whatif", "explain", "check")}
QUESTIONS = {
    "the lab": (NETWORK, SYSTEM, 32),
    "100 layers": ([ConvLayer(100, 100, 1, 1, 1, 1)] * 100, System(nodes=100), 32),
}


def run_process(command):
    """Run Python without the virtual environment's packages."""
    whole = [sys.executable, "-E", "-S", *command]
    subprocess.run(whole, input=ANSWERS, stdout=subprocess.DEVNULL, text=True, check=True)


def call_four_functions(question):
    lab3.tensor_parallel_latency(*question)
    lab3.tensor_parallel_traffic(*question)
    lab3.pipeline_parallel_latency(*question)
    lab3.pipeline_parallel_traffic(*question)


def show(title, unit, per_s, function, cases, number):
    """Print the least time of a call in each case, of 20, and how many times the first it is."""
    print(title)
    first_s = None
    for what, case in cases.items():
        times_s = timeit.repeat(lambda case=case: function(case), number=number, repeat=20)
        seconds = min(times_s) / number
        first_s = first_s or seconds
        print(f"  {what:20}{seconds * per_s:10.1f} {unit}{seconds / first_s:10.1f} times")


if __name__ == "__main__":
    show("whole processes", "ms", 1e3, run_process, PROCESSES, 1)
    show("the four functions", "us", 1e6, call_four_functions, QUESTIONS, 20)
