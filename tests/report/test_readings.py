"""report/readings.py: what other readings of the handout give, against numbers worked out by hand.

Tables have the numbers of the lab, of its ring and of a machine with every parameter changed, one
change at a time, then changes together; mistakes.py has all sets of them in its own way.
"""

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
from report import readings
from report.question import LAB, Question

GIGA = Fraction(2**30, 10**9)
RING = LAB.on(topology="ring")
CHANGES = {  # by what the tables call them
    "INT8": "an element is 1 byte (INT8)",
    "FP16": "an element is 2 bytes (FP16)",
    "FP32": "an element is 4 bytes (FP32)",
    "MAC": "1 MAC is 1 op",
    "GOPS": "GOPS are 2^30 ops/s",
    "GB": "GB/s are 2^30 bytes/s",
    "Gbit": "GB/s are Gbit/s",
    "links": "communication takes no time",
    "size": "each output has its layer's input size (x and y)",
    "size of ops": "ops are counted with the input's x and y",
    "channels": "layer 1 has as many input channels as filters",
    "bits": "traffic is counted in bits",
    "once": "traffic is that of one input",
    "start": "the network's input is sent, too",
    "every": "the last output goes to all nodes",
    "ungathered": "the last output is not gathered",
    "last": "the last output is sent, too",
    "whole": "whole outputs are sent, not shards",
    "one link": "all shards go over one link",
    "in turn": "a node sends its shards one after the other",
    "collects": "one node collects each output and sends it to all",
    "spread": "the bytes are spread over all links",
    "undivided": "computing is not divided by the nodes",
    "outputs": "traffic counts each output once",
    "a link's": "traffic is that of one link",
    "gathers": "traffic counts gathers to one node only",
    "own": "traffic counts a node's own shards, too",
    "sending": "a node does not compute while it sends",
    "alone": "inputs do not overlap",
    "N / P": "N inputs take N / P times as long as one",
    "N further": "N further stages follow the first input, not N - 1",
    "N slowest": "N inputs take N times the slowest stage",
    "any slowest": "any number of inputs takes N times the slowest stage",
    "slots": "N inputs take N + L - 1 times the slowest stage",
    "any slots": "any number of inputs takes N + L - 1 times the slowest stage",
    "equal": "each layer takes as long as the slowest",
}
SHORT = {name: short for short, name in CHANGES.items()}
MS = Fraction(1, 1000)


def by_changes(question, strategy):
    """Seconds for one input and for all, bytes for one and for all, of each change."""
    found = {}
    for it in readings.answers(question):
        if it.strategy == strategy:
            assert type(it.latency_s) is Fraction
            both = found.setdefault(", ".join(SHORT[name] for name in it.changes), {})
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


def expected(table, inputs, unit_s=1):
    """A table of latencies for one input and for all, and of bytes for one, in that form."""
    return {
        changes: (
            *(Fraction(one) * unit_s, Fraction(many) * unit_s),
            *(one_bytes, one_bytes * (1 if "once" in changes else inputs)),
        )
        for changes, (one, many, one_bytes) in table.items()
    }


# ------------------------------------------------ the lab, one change at a time

# ms for 1 and for 32 inputs, bytes for 1. Ops: 606,661,632, in 4 * 50 GOPS 3.03330816 ms, in 50
# 12.13323264, layer 2 alone 4.62422016. Shards 57,600, 50,176, 43,264, 36,864: 187,904 bytes, in
# 2 GB/s 93.952 us; the pipeline sends 604,160 bytes, 302.08 us.
SHARED, SHARDS, COMPUTE, SENDS_MS, LONGEST = map(
    Fraction, ("3.03330816", "0.093952", "12.13323264", "0.30208", "4.62422016")
)
LAB_TENSOR = {
    "": ("3.12726016", "100.07232512", 1_923_072),
    "INT8": ("3.08028416", "98.56909312", 961_536),
    "FP32": ("3.22121216", "103.07878912", 3_846_144),
    "MAC": ("1.61060608", "51.53939456", 1_923_072),
    "GOPS": (*(n * (SHARED / GIGA + SHARDS) for n in (1, 32)), 1_923_072),
    "GB": (*(n * (SHARED + SHARDS / GIGA) for n in (1, 32)), 1_923_072),
    "Gbit": ("3.78492416", "121.11757312", 1_923_072),
    "links": ("3.03330816", "97.06586112", 1_923_072),
    # 7,077,888 + 265,420,800 + 231,211,008 + 199,360,512 ops; shards of 65,536 + 57,600 + 50,176
    # + 43,264 bytes
    "size": ("3.62363904", "115.95644928", 2_209_536),
    "size of ops": ("3.60930304", "115.49769728", 1_923_072),
    "channels": ("4.42326016", "141.54432512", 1_923_072),
    "bits": ("3.12726016", "100.07232512", 15_384_576),
    "once": ("3.12726016", "100.07232512", 1_923_072),
    "start": ("3.13033216", "100.17062912", 1_941_504),  # + 3 * 6,144 bytes
    "every": ("3.12726016", "100.07232512", 2_254_848),  # + 9 * 36,864
    "ungathered": ("3.10882816", "99.48250112", 1_812_480),  # - 3 * 36,864
    "whole": ("3.40911616", "109.09171712", 7_692_288),
    "one link": ("3.99484416", "127.83501312", 1_923_072),  # 961.536 us
    "in turn": ("3.31516416", "106.08525312", 1_923_072),  # 3 * 93.952 us
    "collects": ("3.42934016", "109.73888512", 2_376_192),
    "spread": ("3.11343616", "99.62995712", 1_923_072),  # 160,256 bytes a link
    "undivided": ("12.22718464", "391.26990848", 1_923_072),
    "outputs": ("3.12726016", "100.07232512", 751_616),
    "a link's": ("3.12726016", "100.07232512", 187_904),
    "gathers": ("3.12726016", "100.07232512", 563_712),  # 3 * 187,904
    "own": ("3.12726016", "100.07232512", 2_564_096),  # + 4 * 151,040 + 36,864
}
LAB_PIPELINE = {
    "": ("12.43531264", "155.7861376", 604_160),
    "INT8": ("12.28427264", "155.6350976", 302_080),
    "FP32": ("12.73739264", "156.0882176", 1_208_320),
    "MAC": ("6.36869632", "78.0441088", 604_160),
    "GOPS": (*((COMPUTE + n * LONGEST) / GIGA + SENDS_MS for n in (0, 31)), 604_160),
    "GB": (*(COMPUTE + n * LONGEST + SENDS_MS / GIGA for n in (0, 31)), 604_160),
    "Gbit": ("14.54987264", "157.9006976", 604_160),
    "links": ("12.13323264", "155.4840576", 604_160),
    "size": ("14.40802816", "178.96892416", 693_248),  # layer 2 takes 5.308416 ms
    "size of ops": ("14.36348416", "178.92438016", 604_160),
    "channels": ("17.61931264", "182.18020864", 604_160),
    "bits": ("12.43531264", "155.7861376", 4_833_280),
    "once": ("12.43531264", "155.7861376", 604_160),
    "start": ("12.43838464", "155.7892096", 610_304),
    "last": ("12.50904064", "155.8598656", 751_616),
    "sending": ("12.43531264", "158.8970496", 604_160),  # 31 * (4.62422016 + 0.100352)
    "alone": ("12.43531264", "397.93000448", 604_160),
    "N / P": ("12.43531264", "99.48250112", 604_160),
    "N further": ("12.43531264", "160.41035776", 604_160),
    "N slowest": ("12.43531264", "147.97504512", 604_160),
    "any slowest": ("4.62422016", "147.97504512", 604_160),
    "slots": ("12.43531264", "161.8477056", 604_160),  # 35 * 4.62422016
    "any slots": ("18.49688064", "161.8477056", 604_160),
    "equal": ("18.79896064", "162.1497856", 604_160),
}
# On the ring links carry three times as much, 281.856 us, and shards of the last output pass 6
# links. A node sends one shard at a time there anyway.
RING_TENSOR = {
    "": ("3.31516416", 2_033_664),
    "INT8": ("3.17423616", 1_016_832),
    "FP32": ("3.59702016", 4_067_328),
    "MAC": ("1.79851008", 2_033_664),
    "GOPS": (SHARED / GIGA + 3 * SHARDS, 2_033_664),
    "GB": (SHARED + 3 * SHARDS / GIGA, 2_033_664),
    "Gbit": ("5.28815616", 2_033_664),
    "links": ("3.03330816", 2_033_664),
    "size": ("3.84021504", 2_339_328),  # 3 * 216,576 bytes; 12 * 173,312 + 6 * 43,264
    "size of ops": ("3.79720704", 2_033_664),
    "channels": ("4.61116416", 2_033_664),
    "bits": ("3.31516416", 16_269_312),
    "once": ("3.31516416", 2_033_664),
    "start": ("3.32438016", 2_052_096),
    "every": ("3.31516416", 2_254_848),
    "ungathered": ("3.25986816", 1_812_480),
    "whole": ("4.16073216", 8_134_656),
    "one link": ("4.05014016", 2_033_664),
    "collects": ("4.22140416", 2_939_904),
    "spread": ("3.28751616", 2_033_664),
    "undivided": ("12.41508864", 2_033_664),
    "outputs": ("3.31516416", 751_616),
    "a link's": ("3.31516416", 563_712),
    "gathers": ("3.31516416", 1_127_424),  # 6 * 187,904
    "own": ("3.31516416", 2_674_688),
}


@pytest.mark.parametrize(
    ("question", "strategy", "table"),
    [
        (LAB, "tensor", LAB_TENSOR),
        (LAB, "pipeline", LAB_PIPELINE),
        (
            RING,
            "tensor",
            {name: (ms, 32 * Fraction(ms), each) for name, (ms, each) in RING_TENSOR.items()},
        ),
        (RING, "pipeline", LAB_PIPELINE),
    ],
)
def test_each_change_on_the_lab(question, strategy, table):
    assert by_changes(question, strategy) == expected(table, 32, MS)


# ------------------------------------------------ a machine with every parameter changed

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
#   in turn    5 * 318 bytes
#   collects   link: 5 * (210 + 1,260) + 5 * 108 bytes, or a fifth; traffic: 15 * 210 + 5 * 1,260 +
#              15 * 108, or 5 * (210 + 1,260 + 108)
#   spread     7,920 bytes over 6 links, 6,840 over 30
#   gathers    15 * 318, or 5 * 318
#   own        6 * 210 + 108 bytes more
ODD_RING_TENSOR = {
    "": ("1111.5", 7_920),
    "INT8": ("687.5", 2_640),
    "FP16": ("899.5", 5_280),
    "FP32": ("1323.5", 10_560),
    "MAC": ("873.75", 7_920),
    "GOPS": (Fraction("475.5") / GIGA + 636, 7_920),
    "GB": (Fraction("475.5") + 636 / GIGA, 7_920),
    "Gbit": ("5563.5", 7_920),
    "links": ("475.5", 7_920),
    "size": ("2653.5", 17_730),  # 1,201.5 s; 5 * 726 bytes; 30 * 456 + 15 * 270
    "size of ops": ("1837.5", 7_920),
    "channels": ("1261.5", 7_920),
    "bits": ("1111.5", 63_360),
    "once": ("1111.5", 7_920),
    "start": ("1543.5", 9_000),
    "every": ("1111.5", 9_540),
    "ungathered": ("895.5", 6_300),
    "whole": ("4291.5", 47_520),
    "one link": ("3643.5", 7_920),
    "collects": ("3631.5", 11_070),
    "spread": ("1003.5", 7_920),
    "undivided": ("3489", 7_920),
    "outputs": ("1111.5", 1_908),
    "a link's": ("1111.5", 1_590),
    "gathers": ("1111.5", 4_770),
    "own": ("1111.5", 9_288),
}
ODD_TENSOR = {
    "": ("602.7", 6_840),
    "INT8": ("517.9", 2_280),
    "FP16": ("560.3", 4_560),
    "FP32": ("645.1", 9_120),
    "MAC": ("364.95", 6_840),
    "GOPS": (Fraction("475.5") / GIGA + Fraction("127.2"), 6_840),
    "GB": (Fraction("475.5") + Fraction("127.2") / GIGA, 6_840),
    "Gbit": ("1493.1", 6_840),
    "links": ("475.5", 6_840),
    "size": ("1491.9", 15_030),  # 726 bytes; 30 * 456 + 5 * 270
    "size of ops": ("1328.7", 6_840),
    "channels": ("752.7", 6_840),
    "bits": ("602.7", 54_720),
    "once": ("602.7", 6_840),
    "start": ("689.1", 7_920),
    "every": ("602.7", 9_540),
    "ungathered": ("559.5", 6_300),
    "whole": ("1238.7", 41_040),
    "one link": ("3211.5", 6_840),
    "in turn": ("1111.5", 6_840),
    "collects": ("1106.7", 7_890),
    "spread": ("566.7", 6_840),
    "undivided": ("2980.2", 6_840),
    "outputs": ("602.7", 1_908),
    "a link's": ("602.7", 318),
    "gathers": ("602.7", 1_590),
    "own": ("602.7", 8_208),
}
# First 2,853 + 504 s, then 1,458 s for each further input.
#   MAC        half of 2,853 and of 1,458 s
#   Gbit       8 * 504 s; sends of 8 * 288 = 2,304 s are the longest stage
#   size       324, 3,240 and 3,645 s, sends of 1,296 and 1,440 bytes
#   channels   1,080 s in place of 180
#   start      216 bytes more, 86.4 s
#   last       648 bytes more, 259.2 s
#   N / P      8 / 6 * 3,357 s
#   slots      10 * 1,458, 3 * 1,458 s
#   equal      3 * 1,458 + 504 s
ODD_PIPELINE = {
    "": (3_357, 13_563, 1_260),
    "INT8": (3_021, 13_227, 420),
    "FP16": (3_189, 13_395, 840),
    "FP32": (3_525, 13_731, 1_680),
    "MAC": ("1930.5", "7033.5", 1_260),
    "GOPS": (*((2_853 + n * 1_458) / GIGA + 504 for n in (0, 7)), 1_260),
    "GB": (*(2_853 + n * 1_458 + 504 / GIGA for n in (0, 7)), 1_260),
    "Gbit": (6_885, 23_013, 1_260),
    "links": (2_853, 13_059, 1_260),
    "size": ("8303.4", "33818.4", 2_736),
    "size of ops": (7_713, 33_228, 1_260),
    "channels": (4_257, 14_463, 1_260),
    "bits": (3_357, 13_563, 10_080),
    "once": (3_357, 13_563, 1_260),
    "start": ("3443.4", "13649.4", 1_476),
    "last": ("3616.2", "13822.2", 1_908),
    "alone": (3_357, 26_856, 1_260),  # a node that only sends does compute for as long as before
    "N / P": (3_357, 4_476, 1_260),
    "N further": (3_357, 15_021, 1_260),
    "N slowest": (3_357, 11_664, 1_260),
    "any slowest": (1_458, 11_664, 1_260),
    "slots": (3_357, 14_580, 1_260),
    "any slots": (4_374, 14_580, 1_260),
    "equal": (4_878, 15_084, 1_260),
}


@pytest.mark.parametrize(
    ("question", "strategy", "table"),
    [
        *(
            (question, "tensor", {name: (s, 8 * Fraction(s), each) for name, (s, each) in table})
            for question, table in [
                (ODD, ODD_RING_TENSOR.items()),
                (ODD_ALL_TO_ALL, ODD_TENSOR.items()),
            ]
        ),
        (ODD, "pipeline", ODD_PIPELINE),
        (ODD_ALL_TO_ALL, "pipeline", ODD_PIPELINE),
    ],
)
def test_each_change_on_an_odd_machine(question, strategy, table):
    assert by_changes(question, strategy) == expected(table, 8)


def test_a_pipeline_whose_longest_stage_is_a_send():
    # 1.5, 30, 30 s and sends of 30, 60 s; 3 inputs. Node 2 computes and sends for 90 s.
    found = by_changes(SENDS, "pipeline")
    for change, one_s, all_s in [
        ("", "151.5", "271.5"),
        ("links", "61.5", "121.5"),
        ("last", "181.5", "301.5"),
        ("sending", "151.5", "331.5"),
        ("N / P", "151.5", "90.9"),  # 3 / 5
        ("N further", "151.5", "331.5"),
        ("any slowest", 60, 180),
        ("any slots", 180, 300),
        ("equal", 180, 300),
    ]:
        assert found[change][:2] == (Fraction(one_s), Fraction(all_s)), change


# ------------------------------------------------ changes together

# ms for 1 and 32 inputs, bytes for 1. Whatever a machine takes for one input, tensor parallelism
# takes 32 times for 32.
TOGETHER_TENSOR = """
all-to-all
FP32, every                3.22121216   4,509,696   # twice the bytes
INT8, start                3.08182016     970,752   # 97,024 bytes on a link; half of 1,941,504
MAC, spread                1.59678208   1,923,072   # 1.51665408 ms + 80.128 us
channels, links            4.32930816   1,923,072   # 265,420,800 ops in layer 1
start, spread              3.11420416   1,941,504   # 161,792 bytes on a link
start, one link            4.00406016   1,941,504
start, whole               3.41218816   7,710,720   # 4 * 187,904 + 6,144 bytes
start, in turn             3.32438016   1,941,504   # 3 * (187,904 + 6,144) bytes
start, collects            3.43241216   2,394,624
every, whole               3.40911616   9,019,392
every, collects            3.50306816   2,818,560   # 187,904 + 751,616 bytes; 3 times
every, own                 3.12726016   3,006,464   # 16 * 187,904
ungathered, in turn        3.25986816   1,812,480   # 3 * 151,040 bytes
ungathered, own            3.10882816   2,416,640   # 16 * 151,040
whole, own                 3.40911616  10,256,384   # 4 times 2,564,096
collects, own              3.42934016   3,017,216   # 2,376,192 + 4 * 151,040 + 36,864
collects, gathers          3.42934016     563,712
start, outputs             3.13033216     751,616
spread, a link's           3.11343616     160,256
Gbit, whole                6.03977216   7,692,288
FP32, start, whole         3.79106816  15,421,440   # 2 * 757,760 bytes
MAC, every, one link       2.64407808   2,254,848
start, every, collects     3.50614016   2,836,992   # 945,664 bytes
size of ops, FP32, gathers 3.70325504   1,127,424   # 3.51535104 ms
undivided, INT8, MAC       6.11359232     961,536   # 6.06661632 ms
bits, gathers, INT8        3.08028416   2,254,848
ring
FP32, one link             5.06697216   4,067,328
start, every               3.32438016   2,273,280   # 3 * (187,904 + 6,144) bytes
start, spread              3.28982016   2,052,096   # (2,033,664 + 18,432) / 4
MAC, collects              2.70475008   2,939,904   # 3 * 755,200 + 3 * 36,864 bytes
every, collects            4.44258816   3,382,272   # 3 * 939,520 bytes; 6 * 187,904 + 3 * 751,616
ungathered, whole          3.93954816   7,249,920   # 4 * 3 * 151,040 bytes
links, a link's            3.03330816     563,712
INT8, ungathered, a link's 3.14658816     226,560   # 3 * 151,040 / 2
"""
# Layers compute for 0.124416, 4.62422016, 3.98721024 and 3.39738624 ms, their outputs are sent in
# 115.2, 100.352, 86.528 and 73.728 us, the network's input in 3.072.
TOGETHER_PIPELINE = """
sending, slots         12.43531264  165.3600256   604,160  # 35 * 4.72457216
sending, any slots     18.89828864  165.3600256   604,160
sending, any slowest   4.72457216   151.18630912  604,160  # 1, 32
sending, equal         18.79896064  165.7209856   604,160  # + 31 * 4.73942016
sending, last          12.50904064  158.9707776   751,616
sending, last, equal   18.87268864  165.7947136   751,616
alone, last            12.50904064  400.28930048  751,616
N further, last        12.50904064  160.48408576  751,616
channels, equal        21.535744    186.09664     604,160  # 4 * 5.308416 + 0.30208; 5.308416
MAC, Gbit              8.48325632   80.1586688    604,160  # 6.06661632 + 2.41664; 2.31211008
start, last            12.51211264  155.8629376   757,760
start, sending         12.43838464  158.9001216   610,304
start, alone, INT8     12.28580864  393.14587648  305,152  # 32 times
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
    names = tuple(it.name for it in readings.CHANGES if it.name in asked)
    assert len(names) == len(asked)
    taken = readings.taken_by_sets(LAB.on(topology=topology), strategy)[names]
    one_ms, all_ms, one_bytes = (Fraction(it.replace(",", "")) for it in map(str, numbers))
    assert [*taken.values()] == [one_ms * MS, one_bytes, all_ms * MS, 32 * one_bytes]


# Sets of up to two changes. Tensor parallelism: 1 + 25 + 300 - 22 that exclude each other; the
# pipeline: 1 + 23 + 253 - 33. Elements of 3 bytes have one more other size.
@pytest.mark.parametrize(
    ("question", "most", "sets"),
    [
        (LAB, 3, 2_128 + 1_436),
        (RING, 2, 304 + 244),
        (ODD, 2, 328 + 266),
        (ODD_ALL_TO_ALL, 2, 328 + 266),
        (ODD.on(nodes=1), 2, 328),
    ],
)
def test_all_sets_by_messages_and_inputs(question, most, sets):
    found = 0
    for strategy in ("tensor", "pipeline")[: 1 + (question.system.nodes > 1)]:
        for names, taken in readings.taken_by_sets(question, strategy, most).items():
            its = getattr(mistakes.Mistaken(frozenset(names), question), strategy)
            assert [*taken.values()] == [*its(1), *its(question.inputs)], (strategy, names)
            found += 1
    assert found == sets


def test_traffic_that_is_that_of_one_input():
    # 8 * 1,923,072; 751,616
    for strategy, together, traffic_bytes in [
        ("tensor", ("bits", "once"), 15_384_576),
        ("pipeline", ("once", "last", "alone"), 751_616),
    ]:
        names = tuple(CHANGES[short] for short in together)
        taken = readings.taken_by_sets(LAB, strategy)[names]
        assert [taken[asked, "traffic"] for asked in ("Q1", "Q2")] == [traffic_bytes] * 2


def test_a_change_of_both_strategies_is_in_both_parts_of_a_set_or_in_neither():
    sets = readings.sets_of_changes(LAB, ("tensor", "pipeline"))
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
        *mistakes.OF_BOTH,
    ]
    sets = {names for names, _ in readings.sets_of_changes(LAB, ("tensor", "pipeline"), 2)}
    for one in CHANGES.values():
        for other in CHANGES.values():
            if "FP16" not in one + other and (one, other) in sets:
                assert not any({one, other} <= {*names} for names in all_things)
    last = CHANGES["every"], CHANGES["last"]  # of one thing, but in different strategies
    assert last in sets
    # without pairs of elements, links, sizes, ends, what is sent, what counts, and formulas
    assert len(sets) == 1 + 35 + 35 * 34 // 2 - (1 + 3 + 1 + 1 + 10 + 6 + 28)


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
    # 2,853 s; with the input's x and y 153,792 ops, 7,209 s; with 6 channels 80,064, 3,753 s; three
    # layers are no pipeline
    table = {
        "": (2_853, 22_824, 0),
        "MAC": (Fraction("1426.5"), 11_412, 0),
        "GOPS": (2_853 / GIGA, 22_824 / GIGA, 0),
        "size": (7_209, 57_672, 0),
        "size of ops": (7_209, 57_672, 0),
        "channels": (3_753, 30_024, 0),
    }
    for one in (ODD.on(nodes=1), ODD_ALL_TO_ALL.on(nodes=1)):
        assert {it.strategy for it in readings.answers(one)} == {"tensor"}
        assert by_changes(one, "tensor") == expected(table, 8)


def test_one_layer_on_one_node():
    # 180 s; with 72 places 324, with 6 channels 1,080; 9 stages in place of 8
    one = ODD.on(nodes=1)._replace(network=ODD.network[:1])
    table = {
        "": (180, 1_440, 0),
        "MAC": (90, 720, 0),
        "GOPS": (180 / GIGA, 1_440 / GIGA, 0),
        "size": (324, 2_592, 0),
        "size of ops": (324, 2_592, 0),
        "channels": (1_080, 8_640, 0),
    }
    assert by_changes(one, "tensor") == expected(table, 8)
    assert by_changes(one, "pipeline") == expected(table | {"N further": (180, 1_620, 0)}, 8)


@pytest.mark.parametrize("element_bytes", [1, 2, 3, 4])
def test_elements_have_the_other_sizes(element_bytes):
    # 3.03330816 ms, and shards of 93,952 elements together; 961,536 elements cross the network
    network = [layer._replace(element_bytes=element_bytes) for layer in LAB.network]
    found = by_changes(LAB._replace(network=network), "tensor")
    sizes = {"INT8": 1, "FP16": 2, "FP32": 4}
    others = {name: size for name, size in sizes.items() if size != element_bytes}
    assert {*sizes} & {*found} == {*others}
    for name, size in {"": element_bytes, **others}.items():
        one_s, _, one_bytes, _ = found[name]
        assert one_s == (SHARED + Fraction(93_952 * size, 2 * 10**6)) * MS
        assert one_bytes == 961_536 * size


def test_with_one_input_what_changes_further_ones_is_left_out():
    further = {"once", "alone", "sending", "N / P", "N further", "N slowest", "slots"}
    for strategy, table in [("tensor", LAB_TENSOR), ("pipeline", LAB_PIPELINE)]:
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
        (None, "Question"),
        (tuple(LAB), "Question"),
        (LAB._replace(inputs=0), "inputs: 0"),
        (LAB._replace(inputs=1.5), r"inputs: 1\.5"),
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
