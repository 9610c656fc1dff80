"""report/readings.py: what other readings of the handout give, against numbers worked out by hand.

Tables have the lab's numbers and those of a machine with every parameter changed, one change at a
time, then changes together; mistakes.py has all of the lab's, up to three changes, in its own way.
"""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lab3
import mistakes
from lab3 import ConvLayer, System
from machines import questions
from odd_machines import ODD, ODD_ALL_TO_ALL, SENDS
from report import readings
from report.question import LAB, Question

GIGA = Fraction(2**30, 10**9)
CHANGES = {  # by what the tables call them
    "INT8": "an element is 1 byte (INT8)",
    "FP16": "an element is 2 bytes (FP16)",
    "FP32": "an element is 4 bytes (FP32)",
    "MAC": "1 MAC is 1 op",
    "GOPS": "GOPS are 2^30 ops/s",
    "GB": "GB/s are 2^30 bytes/s",
    "Gbit": "GB/s are Gbit/s",
    "links": "nothing takes time on links",
    "padding": "outputs keep the input's x and y (padding)",
    "channels": "layer 1 has as many input channels as filters",
    "spread": "the bytes are spread over all links",
    "bits": "traffic is counted in bits",
    "once": "traffic is not multiplied by N",
    "start": "inputs start on one node",
    "every": "the output ends on every node",
    "ungathered": "the output is not gathered",
    "whole": "whole outputs are sent, not shards",
    "one link": "all shards go over one link",
    "one out": "nodes have one link out, one in",
    "collected": "one node collects each output and sends it to all",
    "outputs": "traffic counts each output once",
    "traffic": "traffic is that of one link",
    "last": "the last output is sent, too",
    "alone": "inputs do not overlap",
    "sender": "a node that sends does not compute",
    "receiver": "a node that sends or receives does not compute",
    "N / P": "N inputs take N / P times as long as one",
    "slowest": "nodes take as long as the slowest",
    "longest": "only the longest stage counts",
    "equal": "every stage takes as long as the longest",
    "left out": "the other layers' computing is left out",
    "pace": "N further intervals follow, not N - 1",
    "rows": "row streaming",
    "in turn": "two inputs in turn",
}
SHORT = {name: short for short, name in CHANGES.items()}


def by_changes(question, strategy, most_changes=1):
    """Seconds for one input and for all, bytes for one and for all, of each set of changes."""
    answers = [it for it in readings.answers(question, most_changes) if it.strategy == strategy]
    found = {}
    for it in answers:
        assert type(it.latency_s) is Fraction and type(it.traffic_bytes) in (int, Fraction)
        changes = frozenset(SHORT[name] for name in it.changes)
        assert found.setdefault(changes, {}).setdefault(it.inputs, it) is it  # none comes twice
    one, *_, many = sorted({1, question.inputs}) * 2
    return {
        changes: (
            *(both[inputs].latency_s for inputs in (one, many)),
            *(both[inputs].traffic_bytes for inputs in (one, many)),
        )
        for changes, both in found.items()
    }


def expected(table, inputs, unit_s=1):
    """A table of latencies for one input and for all, and of bytes for one, in that form."""
    found = {}
    for changes, (one, many, one_bytes) in table.items():
        names = frozenset(filter(None, changes.split(", ")))
        all_bytes = one_bytes * (1 if "once" in names else inputs)
        found[names] = (Fraction(one) * unit_s, Fraction(many) * unit_s, one_bytes, all_bytes)
    return found


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
    "padding": ("4.69630976", "150.28191232", 2_555_904),
    "channels": ("4.42326016", "141.54432512", 1_923_072),
    "spread": ("3.11343616", "99.62995712", 1_923_072),  # 160,256 bytes a link
    "bits": ("3.12726016", "100.07232512", 15_384_576),
    "once": ("3.12726016", "100.07232512", 1_923_072),
    "start": ("3.13033216", "100.17062912", 1_941_504),  # + 3 * 6,144 bytes
    "every": ("3.12726016", "100.07232512", 2_254_848),  # + 9 * 36,864
    "ungathered": ("3.10882816", "99.48250112", 1_812_480),  # - 3 * 36,864
    "whole": ("3.40911616", "109.09171712", 7_692_288),
    "one link": ("3.99484416", "127.83501312", 1_923_072),  # 961.536 us
    "one out": ("3.31516416", "106.08525312", 1_923_072),  # 3 * 93.952 us
    "collected": ("3.42934016", "109.73888512", 2_376_192),
    "outputs": ("3.12726016", "100.07232512", 751_616),
    "traffic": ("3.12726016", "100.07232512", 187_904),
    "rows": ("3.03407616", "97.06662912", 1_923_072),
    "in turn": ("3.12726016", "97.08429312", 1_923_072),  # 32 * 3.03330816 ms + 18.432 us
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
    "padding": ("18.65416704", "205.8878976", 786_432),
    "channels": ("17.61931264", "182.18020864", 604_160),
    "spread": (*(COMPUTE + n * LONGEST + SENDS_MS / 12 for n in (0, 31)), 604_160),
    "bits": ("12.43531264", "155.7861376", 4_833_280),
    "once": ("12.43531264", "155.7861376", 604_160),
    "last": ("12.50904064", "155.8598656", 751_616),
    "alone": ("12.43531264", "397.93000448", 604_160),
    "sender": ("12.43531264", "158.8970496", 604_160),
    "receiver": ("12.43531264", "162.4682496", 604_160),
    "N / P": ("12.43531264", "99.48250112", 604_160),
    "slowest": ("18.79896064", "162.1497856", 604_160),
    "longest": ("4.62422016", "147.97504512", 604_160),
    "equal": ("32.36954112", "175.72036608", 604_160),
    "left out": ("4.92630016", "148.27712512", 604_160),
    "pace": ("12.43531264", "160.41035776", 604_160),
    "rows": ("4.94232576", "148.29315072", 604_160),
}
MS = Fraction(1, 1000)


@pytest.mark.parametrize(
    ("strategy", "table"), [("tensor", LAB_TENSOR), ("pipeline", LAB_PIPELINE)]
)
def test_each_change_on_the_lab(strategy, table):
    assert by_changes(LAB, strategy) == expected(table, 32, MS)


# ------------------------------------------------ a machine with every parameter changed

# Seconds for 1 and for 8 inputs, bytes for 1; odd_machines.py has its sizes. Together its shards
# have 318 bytes, those of layers 1 and 2 alone 210; its outputs 1,908 and 1,260. On the ring 5
# shards go over a link one after another, 636 s, and 15 shards of layer 3 pass a link; otherwise 5.
#   FP32       4 / 3 of all bytes
#   MAC        half of 475.5 s
#   Gbit       8 * 636 s; 8 * 127.2 s
#   padding    72 places: 2 * 72 * 3,504 = 504,576 ops in 6 * 64 / 3 ops/s; shards of 216, 432 and
#              1,296 bytes, 777.6 s
#   channels   layer 1 has 6 * 3,840 = 23,040 ops: 80,064 in all, 625.5 s
#   spread     7,920 bytes over 6 links, 6,840 over 30
#   start      5 * 216 bytes one after another, 432 s; at the same time, 86.4 s
#   every      30 * 318 bytes
#   one link   7,920 / 2.5 s; 6,840 / 2.5 s
#   collected  link: 5 * (210 + 1,260) + 5 * 108 bytes, or a fifth; traffic: 15 * 210 + 5 * 1,260 +
#              15 * 108, or 5 * (210 + 1,260 + 108)
ODD_RING_TENSOR = {
    "": ("1111.5", 8_892, 7_920),
    "INT8": ("687.5", 5_500, 2_640),
    "FP16": ("899.5", 7_196, 5_280),
    "FP32": ("1323.5", 10_588, 10_560),
    "MAC": ("873.75", 6_990, 7_920),
    "GOPS": (*(n * (Fraction("475.5") / GIGA + 636) for n in (1, 8)), 7_920),
    "GB": (*(n * (Fraction("475.5") + 636 / GIGA) for n in (1, 8)), 7_920),
    "Gbit": ("5563.5", 44_508, 7_920),
    "links": ("475.5", 3_804, 7_920),
    "padding": (7_830, 62_640, 38_880),
    "channels": ("1261.5", 10_092, 7_920),
    "spread": ("1003.5", 8_028, 7_920),
    "bits": ("1111.5", 8_892, 63_360),
    "once": ("1111.5", 8_892, 7_920),
    "start": ("1543.5", 12_348, 9_000),
    "every": ("1111.5", 8_892, 9_540),
    "ungathered": ("895.5", 7_164, 6_300),
    "whole": ("4291.5", 34_332, 47_520),
    "one link": ("3643.5", 29_148, 7_920),
    "collected": ("3631.5", 29_052, 11_070),
    "outputs": ("1111.5", 8_892, 1_908),
    "traffic": ("1111.5", 8_892, 1_590),
}  # a ring's nodes have one link out, one in
ODD_TENSOR = {
    "": ("602.7", "4821.6", 6_840),
    "INT8": ("517.9", "4143.2", 2_280),
    "FP16": ("560.3", "4482.4", 4_560),
    "FP32": ("645.1", "5160.8", 9_120),
    "MAC": ("364.95", "2919.6", 6_840),
    "GOPS": (*(n * (Fraction("475.5") / GIGA + Fraction("127.2")) for n in (1, 8)), 6_840),
    "GB": (*(n * (Fraction("475.5") + Fraction("127.2") / GIGA) for n in (1, 8)), 6_840),
    "Gbit": ("1493.1", "11944.8", 6_840),
    "links": ("475.5", 3_804, 6_840),
    "padding": ("4719.6", "37756.8", 25_920),
    "channels": ("752.7", "6021.6", 6_840),
    "spread": ("566.7", "4533.6", 6_840),
    "bits": ("602.7", "4821.6", 54_720),
    "once": ("602.7", "4821.6", 6_840),
    "start": ("689.1", "5512.8", 7_920),
    "every": ("602.7", "4821.6", 9_540),
    "ungathered": ("559.5", 4_476, 6_300),
    "whole": ("1238.7", "9909.6", 41_040),
    "one link": ("3211.5", 25_692, 6_840),
    "one out": ("1111.5", 8_892, 6_840),
    "collected": ("1106.7", "8853.6", 7_890),
    "outputs": ("602.7", "4821.6", 1_908),
    "traffic": ("602.7", "4821.6", 318),
    "rows": ("501.9", "3910.8", 6_840),  # test_streaming.py has the working, also of the pipeline
}
# First 2,853 + 504 s, then 1,458 s for each further input.
#   MAC        half of 2,853 and of 1,458 s
#   Gbit       8 * 504 s; sends of 8 * 288 = 2,304 s are the longest stage
#   padding    324, 5,832 and 17,496 s, sends of 1,296 and 2,592 bytes
#   channels   1,080 s in place of 180
#   last       259.2 s and 648 bytes more
#   receiver   node 2: 288 + 1,215 + 216 = 1,719 s. A node that only sends does compute for as long
#              as before: 180 + 288, 1,215 + 216, 1,458
#   N / P      8 / 6 * 3,357 s
#   slowest    3 * 1,458 + 504 s
#   equal      3 + 2 stages of 1,458 s
#   left out   1,458 + 504 s
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
    "padding": ("25207.2", "147679.2", 3_888),
    "channels": (4_257, 14_463, 1_260),
    "bits": (3_357, 13_563, 10_080),
    "once": (3_357, 13_563, 1_260),
    "last": ("3616.2", "13822.2", 1_908),
    "alone": (3_357, 26_856, 1_260),
    "receiver": (3_357, 15_390, 1_260),
    "N / P": (3_357, 4_476, 1_260),
    "slowest": (4_878, 15_084, 1_260),
    "longest": (1_458, 11_664, 1_260),
    "equal": (7_290, 17_496, 1_260),
    "left out": (1_962, 12_168, 1_260),
    "pace": (3_357, 15_021, 1_260),
    "rows": ("2548.8", "12754.8", 1_260),
}
SPREAD_ON_6, SPREAD_ON_30 = (  # 84 and 16.8 s in place of 504
    {"spread": (one, many, 1_260)} for one, many in [(2_937, 13_143), ("2869.8", "13075.8")]
)


@pytest.mark.parametrize(
    ("question", "strategy", "table"),
    [
        (ODD, "tensor", ODD_RING_TENSOR),
        (ODD_ALL_TO_ALL, "tensor", ODD_TENSOR),
        (ODD, "pipeline", ODD_PIPELINE | SPREAD_ON_6),
        (ODD_ALL_TO_ALL, "pipeline", ODD_PIPELINE | SPREAD_ON_30),
    ],
)
def test_each_change_on_an_odd_machine(question, strategy, table):
    assert by_changes(question, strategy) == expected(table, 8)


def test_a_pipeline_whose_longest_stage_is_a_send():
    # 1.5, 30, 30 s and sends of 30, 60 s; 3 inputs. Node 2 computes and sends for 90 s, receives,
    # too, for 120; over all 5 links a send takes 6 or 12 s.
    found = by_changes(SENDS, "pipeline")
    for change, one_s, all_s in [
        ("", "151.5", "271.5"),
        ("links", "61.5", "121.5"),
        ("spread", "79.5", "139.5"),
        ("last", "181.5", "301.5"),
        ("sender", "151.5", "331.5"),
        ("receiver", "151.5", "391.5"),
        ("N / P", "151.5", "90.9"),  # 3 / 5
        ("slowest", 180, 300),
        ("longest", 60, 180),
        ("equal", 300, 420),
        ("left out", 120, 240),
        ("pace", "151.5", "331.5"),
    ]:
        names = frozenset(filter(None, [change]))
        assert found[names][:2] == (Fraction(one_s), Fraction(all_s)), change


# ------------------------------------------------ changes together

# ms for 1 and 32 inputs, bytes for 1. Whatever a machine takes for one input, tensor parallelism
# takes 32 times for 32. The lab's ring triples what its links carry, passes 6 shards of the last
# output and has 4 links; as read here 3.31516416 ms, 2,033,664 bytes.
#   with padding    913,047,552 ops, 4.56523776 ms; 4 shards of 65,536 bytes
#   with channels   265,420,800 ops in layer 1, 5.308416 ms on one node; 4.32930816 ms in all on 4
TOGETHER_TENSOR = """
all-to-all
FP32, every                3.22121216   4,509,696   # twice the bytes
INT8, start                3.08182016     970,752   # 97,024 bytes on a link; half of 1,941,504
MAC, spread                1.59678208   1,923,072   # 1.51665408 ms + 80.128 us
padding, collected         5.08952576   3,145,728   # 3 * (65,536 + 262,144) + 65,536 bytes; 3 times
channels, links            4.32930816   1,923,072
start, spread              3.11420416   1,941,504   # 161,792 bytes on a link
start, one link            4.00406016   1,941,504
start, whole               3.41218816   7,710,720   # 4 * 187,904 + 6,144 bytes
start, one out             3.32438016   1,941,504   # 3 * (187,904 + 6,144) bytes
every, whole               3.40911616   9,019,392
every, collected           3.50306816   2,818,560   # 187,904 + 751,616 bytes; 3 times
ungathered, one out        3.25986816   1,812,480   # 3 * 151,040 bytes
outputs, start             3.13033216     751,616
traffic, spread            3.11343616     160,256
traffic, every             3.12726016     187,904 = traffic
Gbit, whole                6.03977216   7,692,288
ungathered, spread         3.10882816   1,812,480 = ungathered  # 12 shards over 12 links
traffic, one link          3.99484416   1,923,072 = one link
start, whole, FP32         3.79106816  15,421,440   # 2 * 757,760 bytes
every, one link, MAC       2.64407808   2,254,848
start, every, collected    3.50614016   2,836,992   # 945,664 bytes
padding, links, MAC        2.28261888   2,555,904
ring
FP32, one link             5.06697216   4,067,328
every, start               3.32438016   2,273,280   # 3 * (187,904 + 6,144) bytes
start, spread              3.28982016   2,052,096   # (2,033,664 + 18,432) / 4
collected, MAC             2.70475008   2,939,904   # 3 * 755,200 + 3 * 36,864 bytes
collected, every           4.44258816   3,382,272   # 3 * 939,520 bytes; 6 * 187,904 + 3 * 751,616
whole, ungathered          3.93954816   7,249,920   # 4 * 3 * 151,040 bytes
traffic, links             3.03330816     563,712
INT8, outputs              3.17423616     375,808
spread, start, every       3.31746816   2,273,280   # (2,254,848 + 18,432) / 4
INT8, ungathered, traffic  3.14658816     226,560   # 3 * 151,040 / 2
"""
# Layers compute for 0.124416, 4.62422016, 3.98721024 and 3.39738624 ms, their outputs are sent in
# 115.2, 100.352, 86.528 and 73.728 us.
TOGETHER_PIPELINE = """
all-to-all
sender, equal          18.89828864  165.3600256   604,160  # (4, 4 + 31) * 4.72457216
receiver, equal        19.35908864  169.3920256   604,160  # * (0.1152 + 4.72457216)
sender, longest        4.72457216   151.18630912  604,160  # (1, 32)
sender, left out       4.92630016   151.38803712  604,160  # + 31 * 4.72457216
sender, last           12.50904064  158.9707776   751,616
alone, last            12.50904064  400.28930048  751,616
alone, slowest         18.79896064  601.56674048  604,160
alone, equal           32.36954112  1035.82531584 604,160  # (1, 32) * 7 * 4.62422016
alone, longest         4.62422016   147.97504512  604,160  = longest
N / P, left out        4.92630016   39.41040128   604,160
N / P, pace            12.43531264  99.48250112   604,160  = N / P
pace, alone            12.43531264  410.36531712  604,160  # 33 times
pace, slowest          18.79896064  166.77400576  604,160  # + 32 * 4.62422016
equal, last            36.99376128  180.34458624  751,616  # (8, 8 + 31) * 4.62422016
links, longest         4.62422016   147.97504512  604,160  = longest
padding, last          18.78523904  206.0189696   1,048,576  # 18.26095104 + 0.524288; 6.03979776
channels, slowest      21.535744    186.09664     604,160  # 4 * 5.308416 + 0.30208; 5.308416
MAC, Gbit              8.48325632   80.1586688    604,160  # 6.06661632 + 2.41664; 2.31211008
sender, equal, last    18.89828864  165.3600256   751,616
sender, slowest, last  18.87268864  165.7947136   751,616  # 4.62422016 + 0.1152 is longest
receiver, MAC, FP32    6.67077632   91.7104128    1,208,320  # 0.2304 + 2.31211008 + 0.200704
N / P, padding, last   18.78523904  150.28191232  1,048,576
ring
INT8, alone            12.28427264  393.09672448  302,080
spread, receiver       12.20875264  157.2301056   604,160  # 0.0288 + 4.62422016 + 0.025088
last, pace             12.50904064  160.48408576  751,616
spread, sender, equal  18.59723264  162.7257856   604,160  # (4, 35) * 4.64930816
"""


def together():
    """Topology, strategy, changes, their numbers, and the fewer changes that give the same."""
    rows = []
    for strategy, table in [("tensor", TOGETHER_TENSOR), ("pipeline", TOGETHER_PIPELINE)]:
        for line in table.strip().splitlines():
            row, *_ = line.partition("#")
            if row in ("all-to-all", "ring"):
                topology = row
                continue
            row, _, fewer = row.partition("=")
            if strategy == "tensor":
                changes, one_ms, one_bytes = row.rsplit(maxsplit=2)
                all_ms = str(32 * Fraction(one_ms))
            else:
                changes, one_ms, all_ms, one_bytes = row.rsplit(maxsplit=3)
            numbers = one_ms, all_ms, int(one_bytes.replace(",", ""))
            rows.append((topology, strategy, changes, numbers, fewer.strip()))
    return rows


@pytest.fixture(scope="module")
def up_to_three():
    """All sets of up to three changes, on both topologies."""
    return {
        (topology, strategy): by_changes(LAB.on(topology=topology), strategy, 3)
        for topology in ("all-to-all", "ring")
        for strategy in ("tensor", "pipeline")
    }


@pytest.mark.parametrize(("topology", "strategy", "changes", "numbers", "fewer"), together())
def test_changes_together(up_to_three, topology, strategy, changes, numbers, fewer):
    found = up_to_three[topology, strategy]
    [(names, taken)] = expected({changes: numbers}, 32, MS).items()
    if fewer:  # give the same, and the others are left out
        assert names not in found
        names = frozenset([fewer])
    assert found[names] == taken


def test_changes_together_by_messages_and_inputs(up_to_three):
    for strategy in ("tensor", "pipeline"):
        for names, taken in up_to_three["all-to-all", strategy].items():
            if not names & {"rows", "in turn"}:
                it = mistakes.numbers(frozenset(CHANGES[short] for short in names))
                lines = product(("latency", "traffic"), ("Q1", "Q2"))
                assert taken == tuple(it[f"{q} {strategy} {kind}"] for kind, q in lines), names


@pytest.mark.parametrize(
    ("strategy", "things"),
    [
        ("both", "INT8 FP32"),
        ("both", "GB Gbit links"),
        ("tensor", "every ungathered"),
        ("tensor", "whole one_link one_out collected spread"),
        ("tensor", "bits outputs traffic"),
        ("pipeline", "alone sender receiver N_/_P"),
        ("pipeline", "slowest longest equal left_out"),
    ],
)
def test_changes_that_exclude_each_other_do_not_combine(up_to_three, strategy, things):
    excluding = {thing.replace("_", " ") for thing in things.split()}
    for (_, of), found in up_to_three.items():
        if strategy in ("both", of):
            assert [names for names in found if len(excluding & names) > 1] == []


def test_row_streaming_and_inputs_in_turn_stand_alone(up_to_three):
    for found in up_to_three.values():
        assert [names for names in found if names & {"rows", "in turn"} and len(names) > 1] == []


def test_a_set_that_fewer_changes_equal_is_left_out(up_to_three):
    for found in up_to_three.values():
        for names, taken in found.items():
            assert not any(other < names and found[other] == taken for other in found)


def test_traffic_that_is_not_multiplied_is_that_of_one_input(up_to_three):
    # 8 * 1,923,072; 751,616
    tensor, pipeline = (up_to_three["all-to-all", it] for it in ("tensor", "pipeline"))
    assert tensor[frozenset({"once", "bits"})][2:] == (15_384_576, 15_384_576)
    assert pipeline[frozenset({"once", "last", "alone"})][2:] == (751_616, 751_616)


# ------------------------------------------------ without a change


@settings(max_examples=settings.default.max_examples * 25 // 6)  # 500
@given(st.data())
def test_without_a_change_it_is_what_lab3_gives(data):
    is_lab, topology = data.draw(st.booleans()), data.draw(st.sampled_from(["all-to-all", "ring"]))
    question = data.draw(questions(is_lab, topology))
    network, system, _ = question
    formulas = {}
    for strategy, latency_of, traffic_of in (
        ("tensor", lab3.tensor_parallel_latency, lab3.tensor_parallel_traffic),
        ("pipeline", lab3.pipeline_parallel_latency, lab3.pipeline_parallel_traffic),
    ):
        try:
            for inputs in {1, question.inputs}:
                case = network, system, inputs
                formulas[strategy, inputs] = latency_of(*case), traffic_of(*case)
        except ValueError:
            pass
    try:
        answers = readings.answers(question, 0)
    except ValueError:
        answers = []
    assert {it.changes for it in answers} <= {()}
    assert {(it.strategy, it.inputs): it[2:4] for it in answers} == formulas
    assert len(answers) == len(formulas)


# ------------------------------------------------ small machines


def test_one_node_sends_nothing_whatever_is_changed():
    # 2,853 s; with 72 places 2 * 72 * 3,504 / (64 / 3), with 6 channels 80,064 / (64 / 3) s; three
    # layers are no pipeline
    table = {
        "": (2_853, 22_824, 0),
        "GOPS": (2_853 / GIGA, 22_824 / GIGA, 0),
        "MAC": (Fraction("1426.5"), 11_412, 0),
        "padding": (23_652, 189_216, 0),
        "channels": (3_753, 30_024, 0),
    }
    for one in (ODD.on(nodes=1), ODD_ALL_TO_ALL.on(nodes=1)):
        assert {it.strategy for it in readings.answers(one, 3)} == {"tensor"}
        assert by_changes(one, "tensor") == expected(table, 8)


def test_one_layer_on_one_node():
    # 180 s; with 72 places 324, with 6 channels 1,080; 9 intervals in place of 8
    one = ODD.on(nodes=1)._replace(network=ODD.network[:1])
    table = {
        "": (180, 1_440, 0),
        "GOPS": (180 / GIGA, 1_440 / GIGA, 0),
        "MAC": (90, 720, 0),
        "padding": (324, 2_592, 0),
        "channels": (1_080, 8_640, 0),
    }
    assert by_changes(one, "tensor") == expected(table, 8)
    assert by_changes(one, "pipeline") == expected(table | {"pace": (180, 1_620, 0)}, 8)


def test_one_layer_on_six_nodes():
    # The ring's gather: 30 + 5 * 48 s, 15 * 120 bytes; as all-gather 30 * 120. The pipeline sends
    # its only output if the last one is sent: 288 s, 720 bytes.
    one = ODD._replace(network=ODD.network[:1])
    tensor, pipeline = by_changes(one, "tensor", 2), by_changes(one, "pipeline", 2)
    for found, table in [
        (tensor, {"": (270, 2_160, 1_800), "every": (270, 2_160, 3_600)}),
        (tensor, {"ungathered": (30, 240, 0)}),
        # 2 * 5 * 48 s, 3,600 bytes more if collected, then sent to all: 5 * (120 + 720) bytes
        (tensor, {"collected, every": (1_710, 13_680, 5_400)}),
        (pipeline, {"": (180, 1_440, 0), "last": (468, 2_484, 720)}),
        (pipeline, {"N / P": (180, 240, 0), "equal, last": (576, 2_592, 720)}),
        (pipeline, {"sender, last": (468, 3_744, 720), "pace": (180, 1_620, 0)}),
    ]:
        assert expected(table, 8).items() <= found.items()
    assert not {frozenset(["collected"]), frozenset(["spread"])} & pipeline.keys()
    assert frozenset(["collected"]) not in tensor  # it has no output before the last


@pytest.mark.parametrize("element_bytes", [1, 2, 3, 4])
def test_elements_have_the_other_sizes(element_bytes):
    # 3.03330816 ms, and shards of 93,952 elements together; 961,536 elements cross the network
    network = [layer._replace(element_bytes=element_bytes) for layer in LAB.network]
    found = by_changes(LAB._replace(network=network), "tensor")
    sizes = {"INT8": 1, "FP16": 2, "FP32": 4}
    others = {name: size for name, size in sizes.items() if size != element_bytes}
    assert {*sizes} & {name for names in found for name in names} == {*others}
    for name, size in {"": element_bytes, **others}.items():
        one_s, _, one_bytes, _ = found[frozenset(filter(None, [name]))]
        assert one_s == (SHARED + Fraction(93_952 * size, 2 * 10**6)) * MS
        assert one_bytes == 961_536 * size


def test_with_one_input_what_changes_further_ones_is_left_out():
    for strategy, table in [("tensor", LAB_TENSOR), ("pipeline", LAB_PIPELINE)]:
        found = by_changes(LAB._replace(inputs=1), strategy)
        left_out = {*expected(table, 32)} - {*found}
        further = {"once", "alone", "sender", "receiver", "N / P", "pace", "in turn"}
        assert left_out == {frozenset([it]) for it in further & {*table}}


def test_a_strategy_that_is_not_possible_has_no_answers():
    assert {it.strategy for it in readings.answers(LAB.on(nodes=2))} == {"tensor"}
    assert {it.strategy for it in readings.answers(LAB.on(nodes=5))} == {"pipeline"}


def test_two_inputs_in_turn_need_links_as_fast_as_the_first_layer():
    # Layers compute for 31.104, 1156.05504 us ... and exchange 57,600 bytes: from 57,600 / 31.104
    # us on, 1.852 GB/s. The other times are longer, the other shards smaller.
    threshold = Fraction(57_600 * 10**6) / Fraction("31.104")
    slowest, too_slow = LAB.on(link_bytes_per_s=threshold), LAB.on(link_bytes_per_s=threshold - 1)
    in_turn = frozenset(["in turn"])
    assert in_turn in by_changes(slowest, "tensor")
    assert in_turn not in by_changes(too_slow, "tensor")
    assert in_turn not in by_changes(LAB._replace(inputs=33), "tensor")


# ------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("question", "named"),
    [
        (None, "Question"),
        (tuple(LAB), "Question"),
        (LAB._replace(inputs=0), "inputs: 0"),
        (LAB._replace(inputs=-3), "inputs: -3"),
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
    assert {it.latency_s for it in readings.answers(asked, 0)} == {2, 4}
