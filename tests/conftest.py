"""Which tests an old Python leaves out, and settings that all share. Runs on Python 3.6 and pytest
7.0, which suffice for test_lab3.py.
"""

import os
import sys
from importlib.util import find_spec

if sys.version_info >= (3, 11):
    import machines  # noqa: F401 - makes report/ ask about the lab of the tests
else:
    collect_ignore = ["deck", "oracles", "report", "test_readme.py", "test_transcripts.py"]

if find_spec("hypothesis"):
    from hypothesis import settings

    # the suite draws the same cases every time, "thorough" 20 times as many, new ones each time
    settings.register_profile("suite", max_examples=120, derandomize=True, deadline=None)
    settings.register_profile("thorough", max_examples=2400, deadline=None)
    settings.load_profile("suite")


def pytest_addoption(parser):
    parser.addoption("--update", action="store_true", help="write transcripts and rule.txt anew")
    says = "write the numbers of a strategy in mistakes.json anew"
    parser.addoption("--update-mistakes", choices=["tensor", "pipeline"], help=says)


def pytest_configure(config):
    """Make a test that does not end red, where pytest-timeout is installed."""
    is_thorough = config.getoption("--hypothesis-profile", None) == "thorough"
    os.environ.setdefault("PYTEST_TIMEOUT", "2400" if is_thorough else "120")  # seconds
