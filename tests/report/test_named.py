"""report/named.py: the values that explain names, by hand."""

import re
from fractions import Fraction

import pytest

from lab3 import ConvLayer, System
from odd_machines import ODD, ONE_LAYER, SENDS
from report.analysis import Analysis
from report.named import named
from report.question import LAB, Question

# Formulas of numbers that odd_machines.py has worked out. odd: a ring of 6, 8 inputs. sends: a ring
# of 5, 3 inputs; 61.5 + 90 s of a pipeline; 82 + 60 + 12 bytes on a node of 300.
MACHINES = {"the lab": LAB, "odd": ODD, "sends": SENDS}
WORKED = """
name                  the lab                        odd                          sends
many                  32                             8                            3
later                 31                             7                            2
tensor_one_times      12435.31264 / 3127.26016       3357 / 1111.5                151.5 / 108.3
tensor_all_times      155786.1376 / 100072.32512     13563 / 8892                 None
pipeline_one_times    None                           None                         None
pipeline_all_times    None                           None                         324.9 / 271.5
bytes_times           604160 ** -1 * 1923072         7920 / 1260                  420 / 90
rounds                1                              5                            4
gather_hops           3                              15                           10
tensor_unfit          None                           None                         None
pipeline_unfit        "the pipeline"                 None                         None
weights_excess_bytes  367360                         1296                         110
ring_shards           3                              5                            4
ring_longer_percent   100 * 187.904 / 3127.26016     100 * 1111.5 / 602.7 - 100   100 * 72 / 36.3
lower_bound_s         0.09706586112                  3804                         36.9
by_rows_s             0.14829315072                  12754.8                      210.5
"""


def worked(formula):
    """The value of a formula, in which every number is exact."""
    return eval(re.sub(r"(?<!\*\* )(?<![\w.-])\d+\.?\d*", r"Fraction('\g<0>')", formula))


@pytest.mark.parametrize("machine", MACHINES)
def test_values_of_the_hand_worked_machines(machine):
    found = named(Analysis(MACHINES[machine]))
    heads, *rows = (re.split(" {2,}", line) for line in WORKED.strip().splitlines())
    for name, *formulas in rows:
        assert found[name] == worked(formulas[heads.index(machine) - 1]), name


@pytest.mark.parametrize(
    ("sram_bytes", "weights", "tensors", "alone_ms", "data_ms"),
    [  # 891,648 bytes of weights; 1,322,752 with layer 2's input and output
        (891_647, 1, None, None, None),
        (891_648, None, 431_104, None, None),
        (1_322_751, None, 1, None, None),
        (1_322_752, None, None, "388.26344448", "97.06586112"),
    ],
)
def test_what_one_node_has_room_for(sram_bytes, weights, tensors, alone_ms, data_ms):
    found = named(Analysis(LAB.on(sram_bytes=sram_bytes)))
    assert found["weights_excess_bytes"] == weights
    assert found["tensors_excess_bytes"] == tensors
    assert found["alone_s"] == (alone_ms and Fraction(alone_ms) / 1000)
    assert found["data_s"] == (data_ms and Fraction(data_ms) / 1000)


def test_what_there_is_nothing_to_say_of():
    found = named(Analysis(LAB.on(nodes=2)._replace(inputs=1)))
    names = "pipeline many later by_rows_s by_rows_reason ring_shards ring_latency_s tensor_reason"
    assert [name for name in names.split() if found[name] is not None] == []
    alone = named(Analysis(ONE_LAYER))  # a pipeline that sends nothing; both take 12 s
    names = "bytes_times tensor_one_times pipeline_one_times"
    assert [name for name in names.split() if alone[name] is not None] == []


def test_rows_beyond_what_is_computed_have_a_reason():
    tall = Question((ConvLayer(1, 1, 1, 1, 1, 30_000),) * 2, System(2))
    found = named(Analysis(tall))
    assert found["by_rows_s"] is None and "60,000" in found["by_rows_reason"]
