"""Settings that all tests share."""

from hypothesis import settings

# The suite draws the same cases every time; "thorough" draws new ones, thousands of them;
# "mutation" draws few, since it runs more than a thousand times.
REPEATABLE = {"derandomize": True, "deadline": None, "database": None}
settings.register_profile("suite", max_examples=200, **REPEATABLE)
settings.register_profile("thorough", max_examples=3000, deadline=None)
settings.register_profile("mutation", max_examples=20, **REPEATABLE)
settings.load_profile("suite")
