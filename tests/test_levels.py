"""tests/conftest.py: what is not installed is left out, and a line says so."""

import re

import pytest

from program import python

WITHOUT = """
import sys
import pytest
sys.modules[sys.argv[1]] = None  # as if it were not installed
sys.exit(pytest.main(["-q", "--collect-only", "-p", "no:cacheprovider", *sys.argv[2:]]))
"""


@pytest.mark.parametrize(
    ("package", "where", "is_left_out", "told"),
    [
        ("simpy", "tests", lambda file: file != "tests/test_lab3.py", "tests of report/"),
        ("z3", "tests/oracles", lambda file: "theorems" in file, "test_theorems.py in "),
    ],
)
def test_what_needs_a_missing_package_is_left_out(package, where, is_left_out, told):
    result = python("-c", WITHOUT, package, where)
    assert (result.returncode, result.stderr) == (0, "")
    collected = set(re.findall("^(tests/.*?)::", result.stdout, re.MULTILINE))
    assert collected and not any(map(is_left_out, collected))
    (line,) = re.findall("^Not run: .*", result.stdout, re.MULTILINE)
    assert told in line
