"""Four machines worked out by hand: the lab's, and three small ones that differ from it in
everything. Each has its questions, in the terms of lab3.py, and tables of what is expected, with
the working beside them.
"""

import re
from fractions import Fraction
from types import SimpleNamespace

from lab3 import ALL_TO_ALL, RING, ConvLayer, System
from report.question import LAB, Question

BOTH = (ALL_TO_ALL, RING)


def table(text):
    """Rows by their heads, cells being two blanks apart; behind a # stands the working.

    A row of one cell begins a group, which is its first column from then on. Times are Fractions of
    a second whatever their unit, other whole numbers ints; a dash is None.
    """
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    heads, *rows = (re.split(r" {2,}", line) for line in lines if line)
    units = {"s": 1, "ms": 1000, "us": 10**6}
    per_s = [units.get(head.rpartition("_")[2]) for head in heads]
    names = ["group", *(re.sub(r"(^|_)[mu]s$", r"\1s", head) for head in heads)]
    found, group = [], ""
    for row in rows:
        if len(row) == 1:
            [group] = row
        else:
            cells = (_cell(*cell) for cell in zip(row, per_s, strict=True))
            found.append(SimpleNamespace(**dict(zip(names, (group, *cells), strict=True))))
    return found


def _cell(text, per_s):
    if re.fullmatch(r"-?[\d,]+(\.\d+|/\d+)?", text):
        number = Fraction(text.replace(",", "")) / (per_s or 1)
        return number if per_s or number.denominator > 1 else int(number)
    return None if text == "-" else text


# Heads of the tables, where they are not names of the JSON:
#
#   results   bottleneck and times of one input; a pipeline is the same on both topologies
#   latencies, streamed, others   of so many inputs; streamed is the pipeline by rows, on either
#             topology; others have one and all
#   doubling  latency as it is, and with twice as much
#   steps     from so many seconds on, for so many, on which nodes or links
#   sram      bytes of weights, input and output, their sum; and of the fullest node, the first row
#             with the largest sum, the bytes left


# ================================================ the lab

THE_LAB = SimpleNamespace(question=LAB)

THE_LAB.results = table("""
strategy  topology    compute_us    communication_us  interval_us  idle_nodes  bottleneck
# shards in 28.8 + 25.088 + 21.632 + 18.432 us, on the ring three times as long
tensor    all-to-all   3,033.30816   93.952           3,127.26016  0           all steps
tensor    ring         3,033.30816  281.856           3,315.16416  0           all steps
# sends in 115.2 + 100.352 + 86.528 us
pipeline  both        12,133.23264  302.08            4,624.22016  0           node 2
""")
THE_LAB.latencies = table("""
strategy  topology    inputs  latency_ms    traffic_bytes
tensor    all-to-all   1        3.12726016   1,923,072
tensor    all-to-all  32      100.07232512  61,538,304
tensor    ring         1        3.31516416   2,033,664
tensor    ring        32      106.08525312  65,077,248
pipeline  both         1       12.43531264     604,160
pipeline  both        32      155.7861376   19,333,120
""")
THE_LAB.streamed = table("""
inputs         latency_ms
# After three rows of 4.1472 us, the last one's send 3.84, node 2 computes 4,624.22016 us per input.
# Its last row goes on: sent 3.584, node 3's 153.35424, sent 3.328, node 4's 141.55776: 318.1056 us
1              4.94232576
32             148.29315072
1,000,000,000  4,624,220,160.3181056
""")
THE_LAB.others = table("""
name               one_ms       all_ms
one_node           12.13323264  388.26344448  # 606,661,632 ops at 50 per ns
data_parallel      12.13323264   97.06586112  # 8 rounds
balanced_pipeline  12.13323264  106.1657856   # 35 slots of 3.03330816 ms
lower_bound         3.03330816   97.06586112
""")
THE_LAB.losses = table("""
part                        us
ideal_compute_s       97,065.86112  # 32 * 3,033.30816
idle_nodes_s               0
load_imbalance_s      50,909.184    # 32 * (4,624.22016 - 3,033.30816)
waiting_for_a_link_s       0
fill_and_drain_s       7,509.01248  # 12,133.23264 - 4,624.22016
sending_s                302.08
""")
# All weights are 6,912 + 3 * 294,912 = 891,648 bytes, a quarter of them 222,912; a quarter of layer
# 1's output is 230,400 / 4 = 57,600.
THE_LAB.sram = table("""
where           layer  work     weights  input    output   total      free
tensor
every node      1      compute  222,912    6,144   57,600    286,656         -
every node      2      compute  222,912  230,400   50,176    503,488    20,800
every node      3      compute  222,912  200,704   43,264    466,880         -
every node      4      compute  222,912  173,056   36,864    432,832         -
gathering node  4      gather   222,912        0  147,456    370,368         -
pipeline
node 1          1      compute    6,912    6,144  230,400    243,456         -
node 2          2      compute  294,912  230,400  200,704    726,016  -201,728
node 3          3      compute  294,912  200,704  173,056    668,672         -
node 4          4      compute  294,912  173,056  147,456    615,424         -
pipeline, streamed
# three rows of the input, one of the output: layer 2 reads 3 * (128 * 30 * 2) = 23,040 and makes
# 128 * 28 * 2 = 7,168, layer 1 makes 128 * 30 * 2 = 7,680; but layer 1 has all of its input from
# the start, layer 4 all of its output in the end.
node 1          1      compute    6,912    6,144    7,680     20,736         -
node 2          2      compute  294,912   23,040    7,168    325,120         -
node 3          3      compute  294,912   21,504    6,656    323,072         -
node 4          4      compute  294,912   19,968  147,456    462,336    61,952
data
every node      1      compute  891,648    6,144  230,400  1,128,192         -
every node      2      compute  891,648  230,400  200,704  1,322,752  -798,464
every node      3      compute  891,648  200,704  173,056  1,265,408         -
every node      4      compute  891,648  173,056  147,456  1,212,160         -
""")
THE_LAB.totals = table("""
name              bytes
weight_bytes    891,648
excess_bytes    367,360  # - 524,288
output_bytes  4,718,592  # 32 * 147,456
sram_bytes    2,097,152  # 4 * 524,288
""")


# ================================================ everything differs

# 3 layers, 6 nodes on a ring, 3 of which have no layer in a pipeline, elements of 3 bytes, rates
# that are Fractions, 9 KiB of SRAM, 8 inputs. The last layer takes longest.
ODD = Question(
    (
        ConvLayer(6, 1, 2, 4, 9, 8, 3),
        ConvLayer(12, 6, 4, 3, 8, 5, 3),
        ConvLayer(36, 12, 3, 2, 5, 3, 3),
    ),
    System(6, Fraction(64, 3), Fraction(5, 2), 9 * 1024, RING),
    8,
)
ODD_ALL_TO_ALL = ODD.on(topology=ALL_TO_ALL)

# ODD as a command line can ask it: both rates are 600 times as high, so all times a 600th.
ODD_OPTIONS = (
    "--inputs 8 --nodes 6 --gops 0.0000128 --link-gbs 0.0000015 --sram-kib 9 --element-bytes 3"
    " --topology ring --layer 6,1,2,4,9,8 --layer 12,6,4,3,8,5 --layer 36,12,3,2,5,3"
)
ODD_OPTIONS_TIMES = 600

EVERYTHING = SimpleNamespace(question=ODD)

EVERYTHING.layers = table("""
layer          1      2       3
filters            6      12      36
in_channels        1       6      12
fx                 2       4       3
fy                 4       3       2
x                  9       8       5
y                  8       5       3
element_bytes      3       3       3
out_x              8       5       3
out_y              5       3       2
weights           48     864   2,592  # 6 * 1 * 2 * 4; 12 * 6 * 4 * 3; 36 * 12 * 3 * 2
macs           1,920  12,960  15,552  # * 40; * 15; * 6
ops            3,840  25,920  31,104  # C, in all 60,864
weight_bytes     144   2,592   7,776  # in all 10,512
input_bytes      216     720     540  # 1 * 9 * 8 * 3
output_bytes     720     540     648  # A = 6 * 40 * 3, 12 * 15 * 3, 36 * 6 * 3; S = 120, 90, 108
""")
# C / R 180, 1,215, 1,458 s, in all 2,853; a sixth of it 30, 202.5, 243 s, in all 475.5.
# A / B 288, 216, 259.2 s; S / B 48, 36, 43.2 s, in all 127.2.
EVERYTHING.steps = table("""
layer  work        node_ops  link_bytes  traffic_bytes  start_s  time_s  where
tensor, ring
# A link carries five shards one after the other. Six links carry as much; in the gather shards pass
# 1 + 2 + 3 + 4 + 5 = 15 links.
1      compute       640       0             0     0      30     nodes 1 to 6
1      all-gather      0     600         3,600    30     240     links around
2      compute     4,320       0             0   270     202.5   nodes 1 to 6
2      all-gather      0     450         2,700   472.5   180     links around
3      compute     5,184       0             0   652.5   243     nodes 1 to 6
3      gather          0     540         1,620   895.5   216     link 6 to 1
tensor, all-to-all
# each of 30 links carries one shard
1      compute       640       0             0     0      30     nodes 1 to 6
1      all-gather      0     120         3,600    30      48     links among 1 to 6
2      compute     4,320       0             0    78     202.5   nodes 1 to 6
2      all-gather      0      90         2,700   280.5    36     links among 1 to 6
3      compute     5,184       0             0   316.5   243     nodes 1 to 6
3      gather          0     108           540   559.5    43.2   links to 1
pipeline
1      compute     3,840       0             0     0     180     node 1
1      send            0     720           720   180     288     link 1 to 2
2      compute    25,920       0             0   468   1,215     node 2
2      send            0     540           540  1,683    216     link 2 to 3
3      compute    31,104       0             0  1,899  1,458     node 3
1-2:3,3:2
# Three nodes exchange shards of 240 bytes. Each sends a third of layer 2's output to both others.
# Node 5 sends its half to node 4. The longest stage is the last group's, 858.6 s.
1      compute     1,280       0             0     0      60     nodes 1 to 3
1      all-gather      0     240         1,440    60      96     links among 1 to 3
2      compute     8,640       0             0   156     405     nodes 1 to 3
2      send            0     180         1,080   561      72     links from 1 to 3 on to 4 to 5
3      compute    15,552       0             0   633     729     nodes 4 to 5
3      gather          0     324           324  1,362    129.6   link 5 to 4
""")
EVERYTHING.results = table("""
strategy  topology    compute_s  communication_s  interval_s  idle_nodes  bottleneck
tensor    all-to-all    475.5    127.2              602.7     0           all steps
tensor    ring          475.5    636              1,111.5     0           all steps
pipeline  both        2,853      504              1,458       3           node 3
""")
EVERYTHING.latencies = table("""
strategy  topology    inputs  latency_s  traffic_bytes
tensor    all-to-all  1          602.7    6,840  # 30 * 120 + 30 * 90 + 5 * 108
tensor    all-to-all  8        4,821.6   54,720
tensor    ring        1        1,111.5    7,920
tensor    ring        8        8,892     63,360
pipeline  both        1        3,357      1,260
pipeline  both        8       13,563     10,080  # 7 * 1,458 s more
""")
# The pipeline, on either topology. Rows take C / (out_y * R) = 3,840 / (5 * 64/3) = 36, 405 and 729
# s, their sends A / (out_y * B) = 720 / (5 * 5/2) = 57.6 and 72 s.
#     Layer 1's rows are done at 36, 72, 108, ... and have arrived at 93.6, 151.2, 208.8, ...
#     Layer 2's, from 208.8 on, are done at 613.8, 1,018.8, 1,423.8, arrived at 685.8, 1,090.8,
#     1,495.8. Layer 3's, from 1,090.8 on, are done at 1,819.8 and 2,548.8. Node 3 takes 1,458 s
#     for each further input.
EVERYTHING.streamed = table("""
inputs         latency_s
1              2,548.8
2              4,006.8
3              5,464.8
8              12,754.8  # 2,548.8 + 7 * 1,458
1,000,000,000  1,458,000,001,090.8
""")
EVERYTHING.others = table("""
name               one_s    all_s
one_node           2,853    22,824    # N * sum(C) / R: 60,864 / (64/3)
data_parallel      2,853     5,706    # ceil(8 / 6) * 2,853
balanced_pipeline  2,853     6,181.5  # (6 + 8 - 1) * 475.5
lower_bound          475.5   3,804    # N * sum(C) / (P * R) = 8 * 60,864 / 128
""")
EVERYTHING.losses = table("""
part                      s
ideal_compute_s       3,804
idle_nodes_s          3,804  # 3 of 6 nodes have a layer: 8 * (2,853 / 3 - 475.5)
load_imbalance_s      4,056  # N * (longest C / R - sum(C) / (L * R)) = 8 * (1,458 - 951)
waiting_for_a_link_s      0  # N * (interval - longest C / R)
fill_and_drain_s      1,395  # layers 1 and 2: 180 + 1,215
sending_s               504  # 288 + 216
""")
EVERYTHING.doubling = table("""
topology  twice           inputs  before_s  after_s
tensor
# 237.75 + 636 and 475.5 + 318 s; 12 nodes do not divide 6 filters
ring      ops/s           1        1,111.5     873.75
ring      ops/s           8        8,892     6,990
ring      link bandwidth  1        1,111.5     793.5
ring      link bandwidth  8        8,892     6,348
pipeline
# ops/s 1,426.5 + 504 s and 7 * 729; links 2,853 + 252 s and 7 * 1,458; nodes do nothing
ring      ops/s           1        3,357     1,930.5
ring      ops/s           8       13,563     7,033.5
ring      link bandwidth  1        3,357     3,105
ring      link bandwidth  8       13,563    13,311
ring      nodes (and their links)  1        3,357     3,357
ring      nodes (and their links)  8       13,563    13,563
""")
# A sixth of 10,512 bytes of weights. Rows of input 216 / 8 = 27, 720 / 5 = 144, 540 / 3 = 180
# bytes; of output 144, 180, 648 / 2 = 324 bytes.
EVERYTHING.sram = table("""
where           layer  work     weights  input  output  total   free
tensor
every node      1      compute   1,752   216    120      2,088       -
every node      2      compute   1,752   720     90      2,562   6,654
every node      3      compute   1,752   540    108      2,400       -
gathering node  3      gather    1,752     0    648      2,400       -
pipeline
node 1          1      compute     144   216    720      1,080       -
node 2          2      compute   2,592   720    540      3,852       -
node 3          3      compute   7,776   540    648      8,964     252
pipeline, streamed
# node 1: the whole input and a row; node 2: 3 rows and a row; node 3: 2 rows and all output.
node 1          1      compute     144   216    144        504       -
node 2          2      compute   2,592   432    180      3,204       -
node 3          3      compute   7,776   360    648      8,784     432
data
every node      1      compute  10,512   216    720     11,448       -
every node      2      compute  10,512   720    540     11,772  -2,556
every node      3      compute  10,512   540    648     11,700       -
""")
EVERYTHING.totals = table("""
name           bytes
weight_bytes  10,512
excess_bytes   1,296  # - 9,216
output_bytes   5,184  # 8 * 648
sram_bytes    55,296  # 6 * 9,216
""")


# ================================================ a send decides

# The longest stage is a send, that of layer 2; 5 nodes on a ring, 3 inputs, elements of 1 byte.
#
#   layer  output  weights        MACs        C      A     S    C / R  A / B   C / (5 * R)  S / B
#   1      1 x 3   10 *  1 =  10     30       60    30     6    1.5 s   30 s   0.3 s         6 s
#   2      1 x 3   20 * 10 = 200    600    1,200    60    12   30       60     6            12
#   3      1 x 3   10 * 20 = 200    600    1,200    30     6   30       30     6             6
#   all                     410           2,460          24   61.5            12.3          24
SENDS = Question(
    (
        ConvLayer(10, 1, 1, 1, 1, 3, 1),
        ConvLayer(20, 10, 1, 1, 1, 3, 1),
        ConvLayer(10, 20, 1, 1, 1, 3, 1),
    ),
    System(5, ops_per_s=40, link_bytes_per_s=1, sram_bytes=300, topology=RING),
    3,
)
SEND_DECIDES = SimpleNamespace(question=SENDS)

SEND_DECIDES.results = table("""
strategy  topology    compute_s  communication_s  interval_s  idle_nodes  bottleneck
tensor    all-to-all  12.3       24                36.3       0           all steps
tensor    ring        12.3       96               108.3       0           all steps
pipeline  both        61.5       90                60         2           link 2 to 3  # 30 + 60
""")
SEND_DECIDES.latencies = table("""
strategy  topology    inputs  latency_s  traffic_bytes
tensor    all-to-all  3       108.9      1,152  # 20 * 18 + 4 * 6 = 384 bytes each
tensor    ring        3       324.9      1,260  # 360 + 10 * 6 = 420, slower than one node's 61.5 s
pipeline  both        3       271.5        270  # 61.5 + 90 + 2 * 60 s
""")
# The pipeline: rows 0.5, 10, 10 s, sends 10 and 20 s. Layer 1's rows have arrived at 10.5, 20.5,
# 30.5, layer 2's are done at 20.5, 30.5, 40.5, arrived at 40.5, 60.5, 80.5, layer 3's last done at
# 90.5. The link from node 2 takes 60 s for each further input.
SEND_DECIDES.streamed = table("""
inputs         latency_s
1              90.5
3              210.5
""")
SEND_DECIDES.others = table("""
name         one_s  all_s
one_node     61.5   184.5
lower_bound  12.3    36.9
""")
SEND_DECIDES.losses = table("""
part                   s
ideal_compute_s       36.9  # 3 * 12.3
idle_nodes_s          24.6  # 3 * (61.5 / 3 - 12.3)
load_imbalance_s      28.5  # 3 * (30 - 20.5)
waiting_for_a_link_s  90    # 3 * (60 - 30)
fill_and_drain_s      61.5  # all three layers
sending_s             30    # the other send
""")
SEND_DECIDES.doubling = table("""
topology    twice           inputs  before_s  after_s
tensor
# 6.15 s of computing, then nine shards of 3, of 6 and of 3 bytes on a ring, one all-to-all
ring        nodes (and their links)  3       324.9     342.45
all-to-all  nodes (and their links)  3       108.9      54.45
pipeline
ring        link bandwidth  3       271.5     166.5   # two stages of 30 s: 61.5 + 45 + 2 * 30 s
""")


# ================================================ the gathering node is the fullest

# While it gathers. 1 layer, so that a pipeline sends nothing; 3 nodes, 230 bytes of SRAM, 2 inputs,
# elements of 1 byte. Weights 12 * 5 * 1 * 2 = 120, output 2 x 4, MACs 120 * 8 = 960, C = 1,920, A =
# 12 * 8 = 96, S = 32, input 5 * 2 * 5 = 50. C / R = 12 s, a third of it 4 s, S / B = 8 s.
ONE_LAYER = Question(
    (ConvLayer(12, 5, 1, 2, 2, 5, 1),),
    System(3, ops_per_s=160, link_bytes_per_s=4, sram_bytes=230),
    2,
)
GATHERING = SimpleNamespace(question=ONE_LAYER)

GATHERING.results = table("""
strategy  topology    compute_s  communication_s  interval_s  idle_nodes  bottleneck
tensor    all-to-all   4         8                12          0           all steps
pipeline  both        12         0                12          2           node 1
""")
GATHERING.latencies = table("""
strategy  topology    inputs  latency_s  traffic_bytes
tensor    all-to-all  2       24         128  # 2 * 2 * 32
pipeline  both        2       24           0
""")
GATHERING.streamed = table("""
inputs         latency_s
1              12
2              24
7              84
""")
GATHERING.others = table("""
name         one_s  all_s
one_node     12     24
lower_bound   4      8
""")
GATHERING.losses = table("""
part                   s
ideal_compute_s        8  # 2 * 4
idle_nodes_s          16  # on one of three nodes: 2 * (12 - 4)
load_imbalance_s       0
waiting_for_a_link_s   0
fill_and_drain_s       0
sending_s              0
""")
GATHERING.sram = table("""
where           layer  work     weights  input  output  total  free
tensor
every node      1      compute   40      50     32      122      -
gathering node  1      gather    40       0     96      136     94
pipeline
node 1          1      compute  120      50     96      266    -36
pipeline, streamed
node 1          1      compute  120      50     96      266    -36
data
every node      1      compute  120      50     96      266    -36
""")

# Two layers, 3 * 1 * 2 + 18 * 3 = 60 bytes of weights, 18 * 4 = 72 of output: for pictures alone.
GATHERS = Question(
    (ConvLayer(3, 1, 2, 1, 3, 2, 1), ConvLayer(18, 3, 1, 1, 2, 2, 1)),
    System(3, ops_per_s=8, link_bytes_per_s=4, sram_bytes=100),
    5,
)

# For plans of groups. Seven nodes: 192 ops take a node 5 s, 24 bytes take a link 7 s; elements of 3
# bytes.
# Layer 1: 6 filters of 2 x 1 x 2 = 4 weights on 3 x 4 places: 2 * 24 * 12 = 576 ops; 72 bytes of
# weights, 2 * 15 * 3 = 90 of input, 6 * 12 * 3 = 216 of output. Layer 2: 4 of 6 x 2 x 1 = 12 on 2
# x 4: 2 * 48 * 8 = 768 ops; 144, 216 and 96 bytes. Layer 3: 2 of 4 x 1 x 3 = 12 on 2 x 2: 192 ops;
# 72, 96 and 24 bytes.
OTHER = [
    ConvLayer(6, 2, 1, 2, 3, 5, 3),
    ConvLayer(4, 6, 2, 1, 3, 4, 3),
    ConvLayer(2, 4, 1, 3, 2, 4, 3),
]
SEVEN = System(7, Fraction(192, 5), Fraction(24, 7), sram_bytes=456)

MACHINES = {
    "the lab": THE_LAB,
    "everything differs": EVERYTHING,
    "a send decides": SEND_DECIDES,
    "the gathering node is the fullest": GATHERING,
}


def rows(name):
    """Each row of the machines' tables of this name, and its machine's question."""
    return [
        (machine.question, row)
        for machine in MACHINES.values()
        for row in getattr(machine, name, [])
    ]


def topologies(row):
    """On which it is so."""
    return BOTH if row.topology == "both" else (row.topology,)
