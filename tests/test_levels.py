"""tests/conftest.py: what is not installed is left out, and two lines say so and how to run it."""

import re

import pytest

from program import PLAIN, PROJECT, python

WITHOUT = """
import sys
import pytest
sys.modules[sys.argv[1]] = None  # as if it were not installed
sys.exit(pytest.main(["-q", "--collect-only", "-p", "no:cacheprovider", *sys.argv[2:]]))
"""


@pytest.mark.parametrize(
    ("package", "where", "is_left_out", "told", "readme"),
    [
        ("simpy", "tests", lambda file: file != "tests/test_lab3.py", "of report/", "README.md"),
        ("z3", "tests/oracles", lambda file: "theorems" in file, "test_theo", "tests/README.md"),
    ],
)
def test_what_needs_a_missing_package_is_left_out(package, where, is_left_out, told, readme):
    alone = {**PLAIN, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # other plugins double the time
    result = python("-c", WITHOUT, package, where, env=alone)
    assert (result.returncode, result.stderr) == (0, "")
    collected = set(re.findall("^(tests/.*?)::", result.stdout, re.MULTILINE))
    assert collected and not any(map(is_left_out, collected))
    [(line, command)] = re.findall("^(Not run: .*)\n(.*)", result.stdout, re.MULTILINE)
    assert told in line
    assert command in (PROJECT / readme).read_text(encoding="utf-8").splitlines()
