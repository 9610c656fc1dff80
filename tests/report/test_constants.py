"""What is changed in lab3.py, as its error message advises, holds in every command of report/."""

import json
import shutil
from fractions import Fraction
from itertools import product

import pytest

import lab3
from lab3 import NETWORK, SYSTEM, ConvLayer, System
from program import PROJECT, python

SIX = (
    ConvLayer(12, 5, 2, 3, 20, 18, 3),
    *(ConvLayer(12, 12, 1, 1, 19, 16, 3) for _ in range(4)),
    ConvLayer(6, 12, 3, 2, 19, 16, 3),
)
MAIN = 'if __name__ == "__main__":'
CONSTANTS = {
    "rates below one unit": {"SYSTEM": SYSTEM._replace(ops_per_s=1, link_bytes_per_s=5 * 10**8)},
    "rates with fractions": {
        "SYSTEM": SYSTEM._replace(
            ops_per_s=Fraction(10**11, 3), link_bytes_per_s=25 * 10**8, sram_bytes=500_000
        )
    },
    "more than options take": {
        "SYSTEM": System(4 * 10**6, 10**20, 10**25, 10**13),
        "NETWORK": [layer._replace(filters=4 * 10**6) for layer in NETWORK[:1]],
        "INPUTS": 10**12,
    },
    "one input on a ring": {"SYSTEM": SYSTEM._replace(topology="ring"), "INPUTS": 1},
    "six layers of 3 bytes": {
        "NETWORK": SIX,
        "SYSTEM": SYSTEM._replace(nodes=6, sram_bytes=1),
        "INPUTS": 7,
    },
    "one layer of 80 bytes": {"NETWORK": [NETWORK[0]._replace(element_bytes=80)]},
}


@pytest.fixture
def changed(tmp_path):
    """A function that copies the project with other constants."""

    def copy(constants):
        shutil.copytree(PROJECT / "report", tmp_path / "report")
        before, main = (PROJECT / "lab3.py").read_text(encoding="utf-8").split(MAIN)
        lines = "".join(f"{name} = {value!r}\n" for name, value in constants.items())
        (tmp_path / "lab3.py").write_text(f"{before}{lines}\n{MAIN}{main}", encoding="utf-8")
        return tmp_path

    return copy


@pytest.mark.parametrize("constants", CONSTANTS.values(), ids=CONSTANTS)
def test_changed_constants_hold_in_every_command(changed, constants):
    question = [
        constants.get("NETWORK", NETWORK),
        constants.get("SYSTEM", SYSTEM),
        constants.get("INPUTS", lab3.INPUTS),
    ]
    project = changed(constants)

    def out(*arguments, **more):
        result = python(*arguments, cwd=project, **more)
        assert (result.returncode, result.stderr) == (0, "")
        return result.stdout

    printed = out("lab3.py")
    assert printed == f"{lab3.answers(*question)}\n" and "not possible" not in printed
    assert out("report", "whatif") == printed  # without a line that says what differs
    amount = printed.count("Total")
    assert (
        out("report", "check", input=printed)
        == f"All {amount} numbers are right, as read here (python3 report explain readings).\n"
    )

    network, system, inputs = question
    strategies = json.loads(out("report", "explain", "--json"))["strategies"]
    for strategy, n in product(("tensor", "pipeline"), {1, inputs}):
        (found,) = (
            (each["latency_s"], each["traffic_bytes"])
            for each in strategies[strategy]["results"]
            if (each["topology"], each["inputs"]) == (system.topology, n)
        )
        latency, traffic = (
            getattr(lab3, f"{strategy}_parallel_{kind}") for kind in ("latency", "traffic")
        )
        assert found == (float(latency(network, system, n)), traffic(network, system, n))


def test_options_change_nothing_else(changed):
    """What no option names stays lab3.py's, also where an option takes no such value."""
    system = System(6, Fraction(10**11, 3), 5 * 10**8, 500_000)
    constants = {"NETWORK": SIX, "SYSTEM": system, "INPUTS": 7}
    result = python("report", "whatif", "--inputs", "2", cwd=changed(constants))
    assert result.stdout == f"what if: 2 inputs\n{lab3.answers(SIX, system, 2)}\n"


def test_the_help_says_the_constants(changed):
    system = System(6, Fraction(10**11, 3), 5 * 10**8, 500_000)
    project = changed({"NETWORK": SIX, "SYSTEM": system, "INPUTS": 7})
    said = python("report", "whatif", "--help", cwd=project).stdout
    defaults = [line.split("(default: ")[1] for line in said.splitlines() if "(default: " in line]
    assert defaults[:6] == ["7)", "6)", "lab3.py's)", "0.5)", "488.28125)", "3)"]


def test_constants_that_cannot_be_modelled_are_refused(changed):
    project = changed({"NETWORK": ()})
    for command in ("whatif", "check"):
        result = python("report", command, cwd=project, input="")
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr.startswith("python3 report: error: lab3.py: network: must be ")
        assert result.stderr.count("\n") == 1
