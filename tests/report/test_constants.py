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
    "rates below one unit": {
        "SYSTEM": SYSTEM._replace(ops_per_s=1_000, link_bytes_per_s=5 * 10**8)
    },
    "rates with fractions": {
        "SYSTEM": SYSTEM._replace(
            ops_per_s=Fraction(10**11, 3), link_bytes_per_s=25 * 10**8, sram_bytes=500_000
        )
    },
    "the most that options take": {
        "SYSTEM": System(10**6, 10**17, 10**14, 10**9 * 1024),
        "NETWORK": [layer._replace(filters=10**6, element_bytes=64) for layer in NETWORK[:1]],
        "INPUTS": 10**9,
    },
    "one input on a ring": {"SYSTEM": SYSTEM._replace(topology="ring"), "INPUTS": 1},
    "six layers of 3 bytes": {
        "NETWORK": SIX,
        "SYSTEM": SYSTEM._replace(nodes=6, sram_bytes=1024),
        "INPUTS": 7,
    },
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


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("NETWORK", (), "network must be a list or tuple of ConvLayers"),
        ("INPUTS", 10**9 + 1, "inputs: 1,000,000,001 is not a whole number of inputs from 1 to"),
        ("INPUTS", 10**400, "inputs: 1.00000000000e+400 is not a whole number of inputs"),
        ("SYSTEM", System(nodes=2 * 10**6), "nodes: 2,000,000 is not a whole number of nodes"),
        ("SYSTEM", System(sram_bytes=512), "sram_bytes: 0.5 is not a whole number of KiB from 1"),
        (
            *("SYSTEM", System(ops_per_s=Fraction(1, 10**400))),
            "ops_per_s: 1e-409 is not a number of GOPS from 0.000001 to 100,000,000, such as 50",
        ),
        (
            *("SYSTEM", System(link_bytes_per_s=10**15)),
            "link_bytes_per_s: 1,000,000 is not a number of GB/s from 0.000001 to 100,000, such as",
        ),
        (
            *("NETWORK", [layer._replace(element_bytes=80) for layer in NETWORK]),
            "element_bytes: 80 is not a whole number of bytes from 1 to 64, such as 2",
        ),
        (
            *("NETWORK", [NETWORK[0], NETWORK[1]._replace(filters=1_000_001)]),
            "layer 2: 1,000,001 is not a whole number of filters from 1 to 1,000,000, such as 3",
        ),
        (
            *("NETWORK", [ConvLayer(1, 1, 1, 1, 1, 1)] * 1_001),
            "network: 1,001 layers are more than 1,000",
        ),
    ],
)
def test_constants_that_no_option_takes_are_refused(changed, name, value, said):
    """In the option's sentence, also where an option says otherwise."""
    project = changed({name: value})
    for command in ("whatif --nodes 8 --inputs 2", "check", "trace --help"):
        result = python("report", *command.split(), cwd=project, input="")
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr.startswith(f"python3 report: error: lab3.py: {said}")
        assert result.stderr.count("\n") == 1
