"""Which tests are left out, and settings that the others share. Runs on Python 3.6 and pytest 7.0.

tests/test_lab3.py needs pytest alone.
"""

import sys
from importlib.util import find_spec

REPORT = ["hypothesis", "matplotlib", "numpy", "pypdf", "pypdfium2", "simpy", "typst"]
ORACLES = {"test_peers.py": "heteropipe", "test_theorems.py": "z3"}
RUNS_REPORT = sys.version_info >= (3, 11) and all(map(find_spec, REPORT))
LEFT_OUT = [name for name, package in ORACLES.items() if not find_spec(package)]

if find_spec("hypothesis"):
    from hypothesis import settings

    # the suite draws the same cases every time, "thorough" 20 times as many, new ones each time
    settings.register_profile(
        "suite", max_examples=120, derandomize=True, deadline=None, database=None
    )
    settings.register_profile("thorough", max_examples=2400, deadline=None)
    settings.load_profile("suite")


def pytest_addoption(parser):
    parser.addoption("--update", action="store_true", help="write tests/transcripts anew")


def pytest_ignore_collect(collection_path):
    """Whether a test needs what is not here; None leaves that to others."""
    name = collection_path.name
    needs_report = collection_path.suffix == ".py" and name != "test_lab3.py"
    return (needs_report and not RUNS_REPORT) or name in LEFT_OUT or None


def pytest_terminal_summary(terminalreporter):
    """Say what is left out, also with -q."""
    if not RUNS_REPORT:
        terminalreporter.write_line("Not run: tests of report/ and the deck. See tests/README.md")
    elif LEFT_OUT:
        terminalreporter.write_line(f"Not run: {', '.join(LEFT_OUT)}. See tests/README.md")
