"""Submissions that somebody made with known mistakes: what was put in comes out, and no more."""

import pytest

pytest.importorskip("numpy")


from report.check.mistakes import MISTAKES
from submissions import LINES, STRATEGIES, judge, list_ways, write

OF = {of: {mistake.clause for mistake in MISTAKES if of in mistake.strategies} for of in STRATEGIES}
MADE = """\
a node sends and receives one shard at a time & ops are counted with the input's x and y
  0.00379720704 1923072 0.01436348416 604160 0.12151062528 61538304 0.17892438016 19333120
an element is 4 bytes (FP32) & inputs do not overlap & the last output is not gathered
  0.0031843 3624960 0.012737 1208320 0.10190 115998720 0.40760 38666240
GB/s are 2^30 bytes/s & a node sends and receives one shard at a time & inputs do not overlap
  0.0032958070155908203 1923072 0.012414566563339844 604160 \
0.10546582449890625 61538304 0.397266130026875 19333120
all shards go over one link & inputs do not overlap
  0.003995 1923072 0.01244 604160 0.1278 61538304 0.3979 19333120
the last output is sent, too & traffic counts each output once
  0.00312726016 751616 0.01250904064 751616 0.10007232512 24051712 0.1558598656 24051712
"""  # the changes; then the numbers that were printed, in the handout's order
ROWS = MADE.splitlines()


@pytest.mark.parametrize(("clauses", "numbers"), [*zip(ROWS[::2], ROWS[1::2], strict=True)])
def test_what_was_made_is_told(tmp_path, clauses, numbers):
    _, found = judge(tmp_path, write(dict(zip(LINES, numbers.split(), strict=True))))
    made = {of: {*clauses.split(" & ")} & OF[of] for of in STRATEGIES}
    assert list_ways(found) == {of: [made[of]] for of in STRATEGIES if made[of]}
    assert found["unexplained"] == []
