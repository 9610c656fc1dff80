"""report/check/readings.py: what other readings of the handout give, against numbers by hand.

Tables have the numbers of the lab, of its ring and of a machine with every parameter changed, one
change at a time, then changes together; mistakes.py has all sets of them in its own way.
"""

import re
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab3
import mistakes
from lab3 import ConvLayer, System
from machines import questions
from odd_machines import ODD, ODD_ALL_TO_ALL, SENDS
from report.check import readings
from report.check.changes import CHANGES as ALL_CHANGES
from report.check.readings import Course
from report.question import LAB, Question

GIGA = Fraction(2**30, 10**9)
MS = Fraction(1, 1000)
RING = LAB.on(topology="ring")

# ------------------------------------------------ one change at a time

# By change, none first: tensor parallelism for one input and its bytes, all-to-all and on the ring;
# the pipeline for one input and for all, and its bytes for one.
# Rows GOPS and GB follow from these: computing is what "links" has, sending is what it lacks.

# ms. Ops: 606,661,632, in 4 * 50 GOPS 3.03330816 ms, in 50 12.13323264, layer 2 alone 4.62422016.
# Shards 57,600, 50,176, 43,264, 36,864: 187,904 bytes, in 2 GB/s 93.952 us; on the ring links carry
# three times as much, and shards of the last output pass 6 links. The pipeline sends 604,160 bytes,
# 302.08 us.
#   size       7,077,888 + 265,420,800 + 231,211,008 + 199,360,512 ops; shards of 65,536 + 57,600 +
#              50,176 + 43,264 bytes; the pipeline's layer 2 takes 5.308416 ms
#   start      + 3 * 6,144 bytes
#   every      + 9 * 36,864 bytes; ungathered - 3 * 36,864
#   one link   961.536 us
#   shared     60.6661632 / 50 * 10 ms, as undivided; the pipeline's 12.13323264 ms and its slowest
#              stage's 4.62422016 four times
#   half       twice 93.952 us, on the ring 281.856; twice 302.08
#   many       31 inputs: 30 further stages of 4.62422016 ms
#   one shard  3 * 93.952 us, as on a ring anyway
#   one node   3 * 151,040 + 36,864 bytes
#   spread     160,256 bytes a link
#   gathers    3 * 187,904, or 6 *
#   own        + 4 * 151,040 + 36,864
#   divided    a quarter of 12.13323264 ms; layer 2 takes 1.15605504
#   sending    31 * (4.62422016 + 0.100352)
#   receiving  31 * (4.62422016 + 0.1152)
#   last stage 31 * 3.39738624
#   slots      35 * 4.62422016
LAB_TABLE = """
none          3.12726016   1,923,072   3.31516416   2,033,664  12.43531264   155.7861376    604,160
FP16                   -           -            -           -            -             -          -
INT8          3.08028416     961,536   3.17423616   1,016,832  12.28427264   155.6350976    302,080
FP32          3.22121216   3,846,144   3.59702016   4,067,328  12.73739264   156.0882176  1,208,320
MAC           1.61060608   1,923,072   1.79851008   2,033,664   6.36869632    78.0441088    604,160
shared       12.22718464   1,923,072  12.41508864   2,033,664  48.83501056   622.2383104    604,160
Gbit          3.78492416   1,923,072   5.28815616   2,033,664  14.54987264   157.9006976    604,160
half          3.22121216   1,923,072   3.59702016   2,033,664  12.73739264   156.0882176    604,160
links         3.03330816   1,923,072   3.03330816   2,033,664  12.13323264   155.4840576    604,160
size          3.62363904   2,209,536   3.84021504   2,339,328  14.40802816  178.96892416    693,248
size of ops   3.60930304   1,923,072   3.79720704   2,033,664  14.36348416  178.92438016    604,160
channels      4.42326016   1,923,072   4.61116416   2,033,664  17.61931264  182.18020864    604,160
bits          3.12726016  15,384,576   3.31516416  16,269,312  12.43531264   155.7861376  4,833,280
once          3.12726016   1,923,072   3.31516416   2,033,664  12.43531264   155.7861376    604,160
many          3.12726016   1,923,072   3.31516416   2,033,664  12.43531264  151.16191744    604,160
start         3.13033216   1,941,504   3.32438016   2,052,096  12.43838464   155.7892096    610,304
every         3.12726016   2,254,848   3.31516416   2,254,848            -             -          -
ungathered    3.10882816   1,812,480   3.25986816   1,812,480            -             -          -
whole         3.40911616   7,692,288   4.16073216   8,134,656            -             -          -
one link      3.99484416   1,923,072   4.05014016   2,033,664            -             -          -
one shard     3.31516416   1,923,072            -           -            -             -          -
one node      3.27830016   1,923,072            -           -            -             -          -
collects      3.42934016   2,376,192   4.22140416   2,939,904            -             -          -
spread        3.11343616   1,923,072   3.28751616   2,033,664            -             -          -
undivided    12.22718464   1,923,072  12.41508864   2,033,664            -             -          -
outputs       3.12726016     751,616   3.31516416     751,616            -             -          -
a link's      3.12726016     187,904   3.31516416     563,712            -             -          -
gathers       3.12726016     563,712   3.31516416   1,127,424            -             -          -
own           3.12726016   2,564,096   3.31516416   2,674,688            -             -          -
last                   -           -            -           -  12.50904064   155.8598656    751,616
divided                -           -            -           -   3.33538816    39.1730944    604,160
sending                -           -            -           -  12.43531264   158.8970496    604,160
receiving              -           -            -           -  12.43531264   159.3573376    604,160
last stage             -           -            -           -  12.43531264  117.75428608    604,160
alone                  -           -            -           -  12.43531264  397.93000448    604,160
N / P                  -           -            -           -  12.43531264   99.48250112    604,160
N further              -           -            -           -  12.43531264  160.41035776    604,160
N slowest              -           -            -           -  12.43531264  147.97504512    604,160
all slowest            -           -            -           -   4.62422016  147.97504512    604,160
slots                  -           -            -           -  12.43531264   161.8477056    604,160
all slots              -           -            -           -  18.49688064   161.8477056    604,160
"""

# Seconds for 1 and for 8 inputs, bytes for 1; odd_machines.py has its sizes. Together its shards
# have 318 bytes, those of layers 1 and 2 alone 210; its outputs 1,908 and 1,260. On the ring 5
# shards go over a link one after another, 636 s, and 15 shards of layer 3 pass a link; otherwise 5.
#   FP32       4 / 3 of all bytes
#   MAC        half of 475.5 s
#   Gbit       8 * 636 s; 8 * 127.2 s
#   size       72, 40 and 15 places: 6,912, 69,120 and 77,760 ops in 6 * 64 / 3 ops/s; shards of
#              216, 240 and 270 bytes
#   channels   layer 1 has 6 * 3,840 = 23,040 ops: 80,064 in all, 625.5 s
#   start      5 * 216 bytes one after another, 432 s; at the same time, 86.4 s
#   every      30 * 318 bytes
#   one link   7,920 / 2.5 s; 6,840 / 2.5 s
#   shared     6 times 475.5 s
#   half       twice 636 s; twice 127.2 s
#   one shard  5 * 318 bytes
#   one node   5 * 210 + 108 bytes
#   collects   link: 5 * (210 + 1,260) + 5 * 108 bytes, or a fifth; traffic: 15 * 210 + 5 * 1,260 +
#              15 * 108, or 5 * (210 + 1,260 + 108)
#   spread     7,920 bytes over 6 links, 6,840 over 30
#   gathers    15 * 318, or 5 * 318
#   own        6 * 210 + 108 bytes more
# First 2,853 + 504 s, then 1,458 s for each further input.
#   MAC        half of 2,853 and of 1,458 s
#   Gbit       8 * 504 s; sends of 8 * 288 = 2,304 s are the longest stage
#   size       324, 3,240 and 3,645 s, sends of 1,296 and 1,440 bytes
#   channels   1,080 s in place of 180
#   start      216 bytes more, 86.4 s
#   last       648 bytes more, 259.2 s
#   N / P      8 / 6 * 3,357 s
#   slots      10 * 1,458, 3 * 1,458 s
#   shared     6 times 2,853 and 1,458 s
#   half       twice 504 s
#   many       6 further inputs
#   divided    a sixth of 2,853 s; a send of 288 s is the longest stage
#   receiving  1,458 + 216 s
ODD_TABLE = """
none          602.7   6,840  1111.5   7,920    3357    13563   1,260
FP16          560.3   4,560   899.5   5,280    3189    13395     840
INT8          517.9   2,280   687.5   2,640    3021    13227     420
FP32          645.1   9,120  1323.5  10,560    3525    13731   1,680
MAC          364.95   6,840  873.75   7,920  1930.5   7033.5   1,260
shared       2980.2   6,840    3489   7,920   17622    78858   1,260
Gbit         1493.1   6,840  5563.5   7,920    6885    23013   1,260
half          729.9   6,840  1747.5   7,920    3861    14067   1,260
links         475.5   6,840   475.5   7,920    2853    13059   1,260
size         1491.9  15,030  2653.5  17,730  8303.4  33818.4   2,736
size of ops  1328.7   6,840  1837.5   7,920    7713    33228   1,260
channels      752.7   6,840  1261.5   7,920    4257    14463   1,260
bits          602.7  54,720  1111.5  63,360    3357    13563  10,080
once          602.7   6,840  1111.5   7,920    3357    13563   1,260
many          602.7   6,840  1111.5   7,920    3357    12105   1,260
start         689.1   7,920  1543.5   9,000  3443.4  13649.4   1,476
every         602.7   9,540  1111.5   9,540       -        -       -
ungathered    559.5   6,300   895.5   6,300       -        -       -
whole        1238.7  41,040  4291.5  47,520       -        -       -
one link     3211.5   6,840  3643.5   7,920       -        -       -
one shard    1111.5   6,840       -       -       -        -       -
one node      938.7   6,840       -       -       -        -       -
collects     1106.7   7,890  3631.5  11,070       -        -       -
spread        566.7   6,840  1003.5   7,920       -        -       -
undivided    2980.2   6,840    3489   7,920       -        -       -
outputs       602.7   1,908  1111.5   1,908       -        -       -
a link's      602.7     318  1111.5   1,590       -        -       -
gathers       602.7   1,590  1111.5   4,770       -        -       -
own           602.7   8,208  1111.5   9,288       -        -       -
last              -       -       -       -  3616.2  13822.2   1,908
divided           -       -       -       -   979.5   2995.5   1,260
sending           -       -       -       -       -        -       -
receiving         -       -       -       -    3357    15075   1,260
last stage        -       -       -       -       -        -       -
alone             -       -       -       -    3357    26856   1,260
N / P             -       -       -       -    3357     4476   1,260
N further         -       -       -       -    3357    15021   1,260
N slowest         -       -       -       -    3357    11664   1,260
all slowest       -       -       -       -    1458    11664   1,260
slots             -       -       -       -    3357    14580   1,260
all slots           -       -       -       -    4374    14580   1,260
"""


def read_table(table):
    """Rows by change, in numbers; None for one that there is not."""

    split = (re.split("  +", row.replace(",", "")) for row in table.strip().splitlines())
    rows = {row[0]: [None if it == "-" else Fraction(it) for it in row[1:]] for row in split}
    for change, compute, send in [("GOPS", 1 / GIGA, 1), ("GB", 1, 1 / GIGA)]:
        rows[change] = [
            both if n in (1, 3, 6) else compute * alone + send * (both - alone)
            for n, (both, alone) in enumerate(zip(rows["none"], rows["links"], strict=True))
        ]
    return rows


LAB_ROWS, ODD_ROWS = read_table(LAB_TABLE), read_table(ODD_TABLE)
GIGAS = ["GOPS are 2^30 ops/s", "GB/s are 2^30 bytes/s"]
NAMES = [name for things in mistakes.THINGS.values() for names in things for name in names]
NAMES = ["an element is 2 bytes (FP16)", *(it for it in NAMES if it not in GIGAS), *GIGAS]
CHANGES = dict(zip([*LAB_ROWS][1:], NAMES, strict=True))
SHORT = {name: short for short, name in CHANGES.items()}


def by_changes(question, strategy):
    """Seconds for one input and for all, bytes for one and for all, of each change."""
    found = {}
    for it in readings.answers(question):
        if it.strategy == strategy:
            assert type(it.latency_s) is Fraction
            both = found.setdefault(", ".join(SHORT[name] for name in it.changes) or "none", {})
            assert it.inputs not in both  # none comes twice
            both[it.inputs] = it
    one, many = min(1, question.inputs), question.inputs
    return {
        changes: (
            *(both[n].latency_s for n in (one, many)),
            *(both[n].traffic_bytes for n in (one, many)),
        )
        for changes, both in found.items()
    }


def expected(rows, question, strategy):
    """A table's numbers of a strategy, in that form."""
    inputs, found = question.inputs, {}
    first = 4 if strategy == "pipeline" else 2 if question.system.topology == "ring" else 0
    for change, row in rows.items():
        one, *several, one_bytes = row[first : first + (3 if first == 4 else 2)]
        if one is not None:
            many = several[0] if several else inputs * one
            times = {"once": 1, "many": inputs - 1}.get(change, inputs)
            if change == "many" and not several:
                many = times * one
            found[change] = one, many, one_bytes, one_bytes * times
    return found


@pytest.mark.parametrize("strategy", ["tensor", "pipeline"])
@pytest.mark.parametrize("question", [LAB, RING, ODD, ODD_ALL_TO_ALL])
def test_each_change(question, strategy):
    is_odd = question.system.nodes != LAB.system.nodes
    unit_s = 1 if is_odd else MS
    table = expected(ODD_ROWS if is_odd else LAB_ROWS, question, strategy)
    assert by_changes(question, strategy) == {
        change: (one * unit_s, many * unit_s, *traffic)
        for change, (one, many, *traffic) in table.items()
    }


def test_a_pipeline_whose_longest_stage_is_a_send():
    # 1.5, 30, 30 s and sends of 30, 60 s; 3 inputs. Node 2 computes and sends for 90 s.
    found = by_changes(SENDS, "pipeline")
    for change, one_s, all_s in [
        ("none", "151.5", "271.5"),
        ("links", "61.5", "121.5"),
        ("half", "241.5", "481.5"),
        ("last", "181.5", "301.5"),
        ("divided", "102.3", "222.3"),  # a fifth of 61.5
        ("last stage", "151.5", "211.5"),
        ("receiving", "151.5", "331.5"),  # node 3 for 90 s
        ("sending", "151.5", "331.5"),
        ("N / P", "151.5", "90.9"),  # 3 / 5
        ("N further", "151.5", "331.5"),
        ("all slowest", 60, 180),
        ("all slots", 180, 300),
    ]:
        assert found[change][:2] == (Fraction(one_s), Fraction(all_s)), change


# ------------------------------------------------ changes together

# ms for 1 and 32 inputs, bytes for 1. Whatever a machine takes for one input, tensor parallelism
# takes 32 times for 32.
TOGETHER_TENSOR = """
all-to-all
INT8, start                3.08182016     970,752   # 97,024 bytes on a link; half of 1,941,504
start, spread              3.11420416   1,941,504   # 161,792 bytes on a link
start, one link            4.00406016   1,941,504
start, whole               3.41218816   7,710,720   # 4 * 187,904 + 6,144 bytes
start, one shard           3.32438016   1,941,504   # 3 * (187,904 + 6,144) bytes
start, collects            3.43241216   2,394,624
every, collects            3.50306816   2,818,560   # 187,904 + 751,616 bytes; 3 times
every, own                 3.12726016   3,006,464   # 16 * 187,904
start, one node            3.28751616   1,941,504   # 3 * (151,040 + 6,144) + 36,864 bytes
ungathered, one node       3.25986816   1,812,480
whole, own                 3.40911616  10,256,384   # 4 times 2,564,096
collects, own              3.42934016   3,017,216   # 2,376,192 + 4 * 151,040 + 36,864
spread, a link's           3.11343616     160,256
ring
FP32, one link             5.06697216   4,067,328
start, spread              3.28982016   2,052,096   # (2,033,664 + 18,432) / 4
every, collects            4.44258816   3,382,272   # 3 * 939,520 bytes; 6 * 187,904 + 3 * 751,616
ungathered, whole          3.93954816   7,249,920   # 4 * 3 * 151,040 bytes
INT8, ungathered, a link's 3.14658816     226,560   # 3 * 151,040 / 2
"""
# Layers compute for 0.124416, 4.62422016, 3.98721024 and 3.39738624 ms, their outputs are sent in
# 115.2, 100.352, 86.528 and 73.728 us, the network's input in 3.072.
TOGETHER_PIPELINE = """
sending, slots         12.43531264  165.3600256   604,160  # 35 * 4.72457216
sending, all slots       18.89828864  165.3600256   604,160
sending, all slowest   4.72457216   151.18630912  604,160  # 1, 32
sending, last          12.50904064  158.9707776   751,616
receiving, last        12.50904064  159.4310656   751,616  # 31 * 4.73942016
receiving, divided     3.33538816   42.74429440   604,160  # 31 * 1.27125504
receiving, start       12.43838464  159.3604096   610,304
start, sending         12.43838464  158.9001216   610,304
"""


def together():
    """Topology, strategy, changes, their numbers."""
    topology = ""
    for strategy, table in [("tensor", TOGETHER_TENSOR), ("pipeline", TOGETHER_PIPELINE)]:
        for line in table.strip().splitlines():
            row, *_ = line.partition("#")
            if row in ("all-to-all", "ring"):
                topology = row
            elif strategy == "tensor":
                changes, one_ms, one_bytes = row.rsplit(maxsplit=2)
                yield topology, strategy, changes, (one_ms, 32 * Fraction(one_ms), one_bytes)
            else:
                changes, *numbers = row.rsplit(maxsplit=3)
                yield "all-to-all", strategy, changes, numbers


@pytest.mark.parametrize(("topology", "strategy", "changes", "numbers"), [*together()])
def test_changes_together(topology, strategy, changes, numbers):
    asked = {CHANGES[short] for short in changes.split(", ")}
    names = tuple(it.name for it in ALL_CHANGES if it.name in asked)
    assert len(names) == len(asked)
    taken = readings.taken_by_sets(Course(LAB.on(topology=topology)), strategy)[names]
    one_ms, all_ms, one_bytes = (Fraction(it.replace(",", "")) for it in map(str, numbers))
    assert [*taken.values()] == [one_ms * MS, one_bytes, all_ms * MS, 32 * one_bytes]


# Sets of up to two changes. Tensor parallelism: 1 + 29 + 406 - 31 that exclude each other; the
# pipeline: 1 + 28 + 378 - 38. Elements of 3 bytes have one more other size.
@pytest.mark.parametrize(
    ("question", "most", "sets"),
    [
        (LAB, 3, 3_278 + 2_777),
        (RING, 2, 405 + 369),
        (ODD, 2, 433 + 396),
        (ODD_ALL_TO_ALL, 2, 433 + 396),
        (ODD.on(nodes=1), 2, 433),
    ],
)
def test_all_sets_by_messages_and_inputs(question, most, sets):
    found = 0
    for strategy in ("tensor", "pipeline")[: 1 + (question.system.nodes > 1)]:
        for names, taken in readings.taken_by_sets(Course(question), strategy, most).items():
            its = getattr(mistakes.Mistaken(frozenset(names), question), strategy)
            assert [*taken.values()] == [*its(1), *its(question.inputs)], (strategy, names)
            found += 1
    assert found == sets


def test_a_change_of_both_strategies_is_in_both_parts_of_a_set_or_in_neither():
    sets = readings.sets_of_changes(Course(LAB), ("tensor", "pipeline"))
    of_both = {name for things in mistakes.OF_BOTH for name in things}
    for names, parts in sets:
        tensor, pipeline = (set(part) for _, part in parts)
        assert tensor | pipeline == {*names}
        assert tensor & pipeline == of_both & {*names}
    assert len({names for names, _ in sets}) == len(sets)
    sizes = [len(names) for names, _ in sets]
    assert sizes == sorted(sizes) and {*sizes} == {0, 1, 2, 3}


def test_changes_of_one_thing_exclude_each_other():
    all_things = [
        *(things for of in ("tensor", "pipeline") for things in mistakes.THINGS[of]),
        *mistakes.EXCLUDED,
    ]
    sets = {names for names, _ in readings.sets_of_changes(Course(LAB), ("tensor", "pipeline"), 2)}
    for one in CHANGES.values():
        for other in CHANGES.values():
            if "FP16" not in one + other and (one, other) in sets:
                assert not any({one, other} <= {*names} for names in all_things)
    last = CHANGES["every"], CHANGES["last"]  # of one thing, but in different strategies
    assert last in sets
    # without pairs of elements, ops, links, sizes, ends, what is sent, is divided, counts as
    # traffic, when a node computes, and formulas
    assert len(sets) == 1 + 41 + 41 * 40 // 2 - (1 + 1 + 6 + 1 + 1 + 15 + 1 + 6 + 1 + 28)


# ------------------------------------------------ without a change


@given(st.data())
def test_without_a_change_it_is_what_lab3_gives(data):
    is_lab, topology = data.draw(st.booleans()), data.draw(st.sampled_from(["all-to-all", "ring"]))
    question = data.draw(questions(is_lab, topology))
    formulas = {}
    for strategy in ("tensor", "pipeline"):
        for inputs in {1, question.inputs}:
            case = question.network, question.system, inputs
            with suppress(ValueError):
                formulas[strategy, inputs] = tuple(
                    getattr(lab3, f"{strategy}_parallel_{kind}")(*case)
                    for kind in ("latency", "traffic")
                )
    try:
        answers = readings.answers(question)
    except ValueError:
        answers = []
    as_read = {(it.strategy, it.inputs): it[2:4] for it in answers if not it.changes}
    assert as_read == formulas


# ------------------------------------------------ small machines


def test_one_node_sends_nothing_whatever_is_changed():
    # 2,853 s; with the input's x and y 153,792 ops, 7,209 s; with 6 channels 80,064, 3,753 s. Its
    # first layer alone 180 s; with 72 places 324, with 6 channels 1,080; 9 stages in place of 8
    changes = "none", "MAC", "GOPS", "size", "size of ops", "channels"
    three = 2_853, Fraction("1426.5"), 2_853 / GIGA, 7_209, 7_209, 3_753
    first = 180, 90, 180 / GIGA, 324, 324, 1_080
    for one in (ODD.on(nodes=1), ODD_ALL_TO_ALL.on(nodes=1)):
        assert {it.strategy for it in readings.answers(one)} == {"tensor"}
        for network, seconds in [(ODD.network, three), (ODD.network[:1], first)]:
            table = {it: (s, 8 * s, 0, 0) for it, s in zip(changes, seconds, strict=True)}
            table["many"] = seconds[0], 7 * seconds[0], 0, 0
            assert by_changes(one._replace(network=network), "tensor") == table
        layer = one._replace(network=ODD.network[:1])
        assert by_changes(layer, "pipeline") == table | {"N further": (180, 1_620, 0, 0)}


@pytest.mark.parametrize("element_bytes", [1, 2, 3, 4])
def test_elements_have_the_other_sizes(element_bytes):
    # 3.03330816 ms, and shards of 93,952 elements together; 961,536 elements cross the network
    network = [layer._replace(element_bytes=element_bytes) for layer in LAB.network]
    found = by_changes(LAB._replace(network=network), "tensor")
    sizes = {"INT8": 1, "FP16": 2, "FP32": 4}
    others = {name: size for name, size in sizes.items() if size != element_bytes}
    assert {*sizes} & {*found} == {*others}
    for name, size in {"none": element_bytes, **others}.items():
        one_s, _, one_bytes, _ = found[name]
        assert one_s == (Fraction("3.03330816") + Fraction(93_952 * size, 2 * 10**6)) * MS
        assert one_bytes == 961_536 * size


def test_with_one_input_what_changes_further_ones_is_left_out():
    further = {"once", "many", "alone", "sending", "receiving", "last stage", "N / P", "N further"}
    further |= {"N slowest", "slots"}
    for strategy in ("tensor", "pipeline"):
        table = expected(LAB_ROWS, LAB, strategy)
        found = by_changes(LAB._replace(inputs=1), strategy)
        assert {*table} - {*found} == further & {*table}
        assert {*found} <= {*table}


def test_a_strategy_that_is_not_possible_has_no_answers():
    assert {it.strategy for it in readings.answers(LAB.on(nodes=2))} == {"tensor"}
    assert {it.strategy for it in readings.answers(LAB.on(nodes=5))} == {"pipeline"}


# ------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("question", "named"),
    [
        (LAB._replace(network=[]), "network"),
        (LAB.on(nodes=3), "cannot be split evenly over 3 nodes"),
    ],
)
def test_a_question_that_is_refused(question, named):
    with pytest.raises(ValueError, match=named):
        readings.answers(question)


def test_a_network_may_be_a_list():
    asked = Question([ConvLayer(1, 1, 1, 1, 1, 1)], System(1, 1, 1), 2)
    as_read = {it.latency_s for it in readings.answers(asked) if not it.changes}
    assert as_read == {2, 4}
