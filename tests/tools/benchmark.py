"""How fast lab3 is: `.venv/bin/python -m tests.tools.benchmark`, some five seconds.

Times of this machine, and what they are multiples of: those can be compared between machines.
"""

import subprocess
import sys
import timeit
from functools import partial

import lab3

ANSWERS = lab3.answers(lab3.NETWORK, lab3.SYSTEM, lab3.INPUTS)
COMMANDS = ("-c pass", "lab3.py", "report whatif", "report explain", "report check")


def run_python(command):
    """Run Python without the virtual environment's packages."""
    whole = [sys.executable, "-E", "-S", *command.split()]
    subprocess.run(whole, input=ANSWERS, stdout=subprocess.DEVNULL, text=True, check=True)


if __name__ == "__main__":
    first_s = None
    for command in COMMANDS:
        least_s = min(timeit.repeat(partial(run_python, command), number=1, repeat=20))
        first_s = first_s or least_s
        print(f"python {command:16}{least_s * 1000:8.1f} ms{least_s / first_s:8.1f} times")
