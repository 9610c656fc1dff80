"""Submissions that somebody made with known mistakes: what was put in comes out, and no more."""

import pytest

from report.check.changes import CHANGES
from submissions import LINES, STRATEGIES, judge, list_ways, write

OF = {change.clause: change.strategies for change in CHANGES}
MADE = """\
inputs do not overlap & the last output goes to all nodes
  0.00312726 2254848 0.0124353 604160 0.100072 72155136 0.397930 19333120
1 MAC is 1 op & a node does not compute while it sends & ms are printed as seconds
  1.61061 1923072 6.36870 604160 51.5394 61538304 81.1550 19333120
N times the slowest stage is added to the first input, not N - 1 times
  0.00312726016 1923072 0.01243531264 604160 0.10007232512 61538304 0.16041035776 19333120
computing is not divided by the nodes
  0.01222718464 1923072 0.01243531264 604160 0.39126990848 61538304 0.1557861376 19333120
a node sends and receives one shard at a time & ops are counted with the input's x and y
  0.00379720704 1923072 0.01436348416 604160 0.12151062528 61538304 0.17892438016 19333120
inputs do not overlap & the last output is sent, too
  0.00312726016 1923072 0.01250904064 751616 0.10007232512 61538304 0.40028930048 24051712
an element is 4 bytes (FP32) & inputs do not overlap & the last output is not gathered
  0.0031843 3624960 0.012737 1208320 0.10190 115998720 0.40760 38666240
GB/s are 2^30 bytes/s & a node sends and receives one shard at a time & inputs do not overlap
  0.0032958070155908203 1923072 0.012414566563339844 604160 \
0.10546582449890625 61538304 0.397266130026875 19333120
inputs do not overlap & ops are counted with the input's x and y & the last output is sent, too
  0.00360930 1923072 0.0144372 751616 0.115498 61538304 0.461991 24051712
GB/s are 2^30 bytes/s & a node does not compute while it sends & an element is 4 bytes (FP32)
  0.00320831 3846144 0.0126959 1208320 0.102666 123076608 0.161841 38666240
an element is 4 bytes (FP32) & \
each output is as large (x and y) as its layer's input & the last output is sent, too
  0.0037319 4419072 0.014928 1732608 0.11942 141410304 0.17949 55443456
1 MAC is 1 op & GB/s are 2^30 bytes/s & the last output is not gathered
  0.0015870 1812480 0.0063480 604160 0.050784 57999360 0.078023 19333120
N inputs take N times the slowest stage & the last output is sent, too
  0.0031273 1923072 0.012509 751616 0.10007 61538304 0.14798 24051712
1 MAC is 1 op & GB/s are Gbit/s
  0.00226827008 1923072 0.00848325632 604160 0.07258464256 61538304 0.0801586688 19333120
all shards go over one link & inputs do not overlap
  0.003995 1923072 0.01244 604160 0.1278 61538304 0.3979 19333120
the last output is sent, too & traffic counts each output once
  0.00312726016 751616 0.01250904064 751616 0.10007232512 24051712 0.1558598656 24051712
N inputs take (N + layers - 1) times the slowest stage & an element is 4 bytes (FP32)
  0.00322121 3846144 0.0127374 1208320 0.103079 123076608 0.161848 38666240
an element is 4 bytes (FP32) & traffic also counts a node's own shards, which are not sent
  0.00322121216 5128192 0.01273739264 1208320 0.10307878912 164102144 0.1560882176 38666240
"""  # the changes; then the numbers that were printed, in the handout's order
ROWS = MADE.splitlines()


@pytest.mark.parametrize(("clauses", "numbers"), [*zip(ROWS[::2], ROWS[1::2], strict=True)])
def test_what_was_made_is_told(tmp_path, clauses, numbers):
    _, found = judge(tmp_path, write(dict(zip(LINES, numbers.split(), strict=True))))
    made = {of: {it for it in clauses.split(" & ") if of in OF[it]} for of in STRATEGIES}
    assert list_ways(found) == {of: [(made[of], None)] for of in STRATEGIES if made[of]}
    assert found["unexplained"] == []
