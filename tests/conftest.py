"""Settings that all tests share."""

from hypothesis import Phase, settings

# The suite draws the same cases every time; "thorough" draws new ones, thousands of them;
# "mutation" draws few and does not simplify what fails, since it runs thousands of times.
REPEATABLE = {"derandomize": True, "deadline": None, "database": None}
settings.register_profile("suite", max_examples=120, **REPEATABLE)
settings.register_profile("thorough", max_examples=2400, deadline=None)
QUICK = [Phase.explicit, Phase.generate]
settings.register_profile("mutation", max_examples=20, phases=QUICK, **REPEATABLE)
settings.load_profile("suite")
