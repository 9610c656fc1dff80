"""Settings that all tests share; tests/test_lab3.py needs no hypothesis."""

try:
    from hypothesis import settings
except ModuleNotFoundError:
    pass
else:
    # the suite draws the same cases every time, "thorough" 20 times as many, new ones each time
    settings.register_profile(
        "suite", max_examples=120, derandomize=True, deadline=None, database=None
    )
    settings.register_profile("thorough", max_examples=2400, deadline=None)
    settings.load_profile("suite")
