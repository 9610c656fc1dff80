"""tests/mistakes.py against figures worked out by hand."""

from fractions import Fraction

import pytest

import mistakes
from machines import ODD, ODD_ALL_TO_ALL
from report.question import LAB

LAB_RING = LAB._replace(system=LAB.system._replace(topology="ring"))
ONE_NODE = ODD._replace(network=ODD.network[:1], system=ODD.system._replace(nodes=1))

# Changes | tensor parallelism | pipeline: ms of 1 input, ms of all, bytes of 1; bytes of all behind
# all: if they are not N times as many. = as without a change, ~ rounded, ? not worked out.
THE_LAB = """
                               | 3.12726016 100.07232512 1923072  | 12.43531264 155.7861376 604160
an element is 1 byte (INT8)    | 3.08028416 98.56909312 961536    | 12.28427264 155.6350976 302080
an element is 2 bytes (FP16)   | = = =                            | = = =
an element is 4 bytes (FP32)   | 3.22121216 103.07878912 3846144  | 12.73739264 156.0882176 1208320
an element is 16 bytes         | 3.78492416 121.11757312 15384576 | 14.54987264 157.9006976 4833280
1 MAC is 1 op                  | 1.61060608 51.53939456 =         | 6.36869632 78.0441088 =
each output's bias is an op more | 3.1291392 100.1324544 =        | 12.4428288 155.855872 =
an output of K products has K - 1 additions | 3.12538112 100.01219584 = | 12.42779648 155.7164032 =
GOPS are 2^30 ops/s            | ~2.91894037 ~93.40609169 =       | ~11.60203346 ~145.10789284 =
GB/s are 2^30 bytes/s          | ~3.12080778 ~99.86584891 =       | ~12.41456656 ~155.76539152 =
GB/s are Gbit/s                | 3.78492416 121.11757312 =        | 14.54987264 157.9006976 =
all links together have the bandwidth of one \
                               | 4.16073216 133.14342912 =        | 15.75819264 159.1090176 =
links have half the bandwidth  | 3.22121216 103.07878912 =        | 12.73739264 156.0882176 =
communication takes no time    | 3.03330816 97.06586112 =         | 12.13323264 155.4840576 =
each output is as large (x and y) as its layer's input \
                               | 3.62363904 115.95644928 2209536  | 14.40802816 178.96892416 693248
ops are counted with the input's x and y \
                               | 3.60930304 115.49769728 =        | 14.36348416 178.92438016 =
outputs are sent with the input's x and y \
                               | 3.14159616 100.53107712 2209536  | 12.47985664 155.8306816 693248
the + 1 is forgotten in the output's x and y \
                               | 2.89282944 92.57054208 1787328   | 11.50360576 144.79793152 561920
x and y are halved by each layer | 0.90590976 28.98911232 552384  | 3.60200704 44.74223104 173312
the last output is as large (x and y) as its layer's input \
                               | 3.27791616 104.89331712 1942272  | 13.02513664 156.3759616 =
each layer's input is sent, not its output \
                               | 3.10959616 99.50707712 1441536   | 12.35185664 155.7026816 437248
layer 1 has as many input channels as filters \
                               | 4.42326016 141.54432512 =        | 17.61931264 182.18020864 =
the input channels are forgotten | 0.12777472 4.08879104 =        | 0.43737088 4.00857088 =
a filter's height is forgotten | 1.10505472 35.36175104 =         | 4.34649088 52.1300992 =
layer 1 is not computed        | 3.09615616 99.07699712 =         | 12.31089664 155.6617216 =
the last layer is not computed | 2.2779136 72.8932352 =           | 9.0379264 152.38875136 =
layer 1 is missing             | 3.06735616 98.15539712 1231872   | 12.19569664 155.5465216 373760
the last layer is missing      | 2.2594816 72.3034112 1423104     | 8.9513984 152.30222336 431104
layer 1's output is not sent   | 3.09846016 99.15072512 1231872   | 12.32011264 155.6709376 373760
the last but one layer's output is not sent \
                               | 3.10562816 99.38010112 1403904   | 12.34878464 155.6996096 431104
traffic is counted in bits     | = = 15384576                     | = = 4833280
traffic counts what is sent and what is received | = = 3846144    | = = 1208320
traffic is that of one node on average | = = 480768               | = = 151040
traffic is that of one input   | = = =all:1923072                 | = = =all:604160
the weights are sent, too      | = = 2814720all:62429952          | = = 1495808all:20224768
ms are printed as seconds      | 3127.26016 100072.32512 =        | 12435.31264 155786.1376 =
us are printed as seconds      | 3127260.16 100072325.12 =        | 12435312.64 155786137.6 =
KB are printed as bytes        | = = 1923.072                     | = = 604.16
KiB are printed as bytes       | = = 1878                         | = = 590
MB are printed as bytes        | = = 1.923072                     | = = 0.60416
MiB are printed as bytes       | = = 1.833984375                  | = = 0.576171875
Q2 is of one input             | = 3.12726016 =all:1923072        | = 12.43531264 =all:604160
Q2 is of N - 1 inputs          | = 96.94506496 =all:59615232      | = 151.16191744 =all:18728960
Q2 is of N + 1 inputs          | = 103.19958528 =all:63461376     | = 160.41035776 =all:19937280
Q2's latency is per input, not of all | = 3.12726016 =            | = 4.8683168 =
the network's input is sent, too | 3.13033216 100.17062912 1941504 | 12.43838464 155.7892096 610304
the last output goes to all nodes                   | = = 2254848 |
the last output's shards arrive one after the other | 3.16412416 101.25197312 = |
the last output is not gathered                     | 3.10882816 99.48250112 1812480 |
each node sends a whole last output                 | 3.18255616 101.84179712 2254848 |
the last gather takes no time                       | 3.10882816 99.48250112 = |
the last output is sent, too                        | | 12.50904064 155.8598656 751616
whole outputs are sent, not shards                  | 3.40911616 109.09171712 7692288 |
sending takes the time of whole outputs, not shards | 3.40911616 109.09171712 = |
all shards go over one link                         | 3.99484416 127.83501312 = |
a node sends and receives one shard at a time       | 3.31516416 106.08525312 = |
a node sends to one node after the other            | 3.27830016 104.90560512 = |
one node collects each output and sends it to all   | 3.42934016 109.73888512 2376192 |
the bytes are spread over all links                 | 3.11343616 99.62995712 = |
only the last output is gathered, nothing is sent between layers \
                                                    | 3.05174016 97.65568512 110592 |
outputs are all-reduced along a ring                | 3.59702016 115.10464512 4509696 |
a node's links work as one                          | ~3.06462549 ~98.06801579 = |
computing is not divided by the nodes               | 12.22718464 391.26990848 = |
the next input is computed while this one's outputs are sent | = 97.15981312 = |
traffic counts each output once                     | = = 751616 |
traffic counts each shard once                      | = = 714752 |
traffic is that of one link                         | = = 187904 |
traffic is what one node sends                      | = = 489984 |
traffic counts gathers to one node only             | = = 563712 |
traffic also counts a node's own shards, which are not sent | = = 2564096 |
each output is sent to all other nodes              | | = = 1812480
computing is divided by the nodes                   | | 3.33538816 39.1730944 =
a node does not compute while it sends              | | = 158.8970496 =
a node does not compute while it receives           | | = 159.3573376 =
a node does not compute while it receives or sends  | | = 162.4682496 =
a later input takes the last stage's time, not the slowest's    | | = 117.75428608 =
a later input takes the average stage's time, not the slowest's | | = 106.4678656 =
inputs do not overlap                               | | = 397.93000448 =
all inputs take as long as one                      | | = 12.43531264 =
N inputs take N / nodes times as long as one        | | = 99.48250112 =
N inputs take (N + layers - 1) / layers times as long as one | | = 108.8089856 =
N times the slowest stage is added to the first input, not N - 1 times | | = 160.41035776 =
N times the slowest stage is added to the first input, not N - 1 times, also for N = 1 \
                                                    | | 17.0595328 160.41035776 =
N inputs take N times the slowest stage             | | = 147.97504512 =
N inputs take N times the slowest stage, also for N = 1 | | 4.62422016 147.97504512 =
N inputs take (N + layers - 1) times the slowest stage  | | = 161.8477056 =
N inputs take (N + layers - 1) times the slowest stage, also for N = 1 \
                                                    | | 18.49688064 161.8477056 =
the network's input is sent, too & whole outputs are sent, not shards | 3.41218816 ? 7710720 |
the network's input is sent, too & one node collects each output and sends it to all \
                                                    | 3.43241216 ? 2394624 |
the network's input is sent, too & all shards go over one link | 4.00406016 ? 1941504 |
the network's input is sent, too & the bytes are spread over all links | 3.11420416 ? 1941504 |
the network's input is sent, too & a node sends and receives one shard at a time \
                                                    | 3.32438016 ? 1941504 |
the network's input is sent, too & an element is 1 byte (INT8) | 3.08182016 ? 970752 |
the last output goes to all nodes & one node collects each output and sends it to all \
                                                    | 3.50306816 ? 2818560 |
N inputs take N times the slowest stage & a node does not compute while it sends \
                                                    | | = 151.18630912 =
N inputs take (N + layers - 1) times the slowest stage & a node does not compute while it sends \
                                                    | | = 165.3600256 =
"""
ON_ITS_RING = """
                                                  | 3.31516416 ? 2033664 |
whole outputs are sent, not shards                | 4.16073216 ? 8134656 |
one node collects each output and sends it to all | 4.22140416 ? 2939904 |
all shards go over one link                       | 4.05014016 ? = |
the bytes are spread over all links               | 3.28751616 ? = |
the network's input is sent, too                  | 3.32438016 ? 2052096 |
traffic is that of one link                       | = = 563712 |
traffic counts gathers to one node only           | = = 1127424 |
traffic also counts a node's own shards, which are not sent | = = 2674688 |
"""
# ODD's outputs are of 240, 180 and 216 elements, of 8, 72 and 72 products each. The next rows of
# the table of machines.py, if x and y are halved: 16, 8 and 2 elements of a filter, 1,536 + 13,824
# + 10,368 ops; if layer 3's output is as large as its input: 77,760 ops, 1,620 bytes.
THE_ODD_ONE = """
                                  | 1434.304 11474.432 7920  | 1981.824 6013.824 1260
an output of K products has K - 1 additions | 1432.608 11460.864 = | 1971.648 6003.648 =
x and y are halved by each layer  | 596.608 4772.864 3420    | 872.448 2485.248 576
the last output is as large (x and y) as its layer's input \
                                  | 2206.72 17653.76 10350   | 2728.32 11437.44 =
the input channels are forgotten  | 1300.672 10405.376 =     | 1180.032 5212.032 =
a filter's height is forgotten    | 1339.072 10712.576 =     | 1410.432 5442.432 =
layer 1 is missing                | 944.064 7552.512 4320    | 1344.384 4828.032 540
the last layer is missing         | 919.36 7354.88 4950      | 1052.16 5084.16 720
all links together have the bandwidth of one | 7794.304 62354.432 = | 7021.824 31213.824 =
sending takes the time of whole outputs, not shards | 7794.304 62354.432 = |
the last gather takes no time     | 1002.304 8018.432 =      |
N times the slowest stage is added to the first input, not N - 1 times, also for N = 1 \
                                  | | 2557.824 6589.824 =
N inputs take (N + layers - 1) times the slowest stage, also for N = 1 | | 1728 5760 =
the weights are sent, too         | = = 18432all:73872       | = = 11772all:20592
each node sends a whole last output  | 3594.304 28754.432 16020 |
outputs are all-reduced along a ring | 2706.304 21650.432 19080 |
a node's links work as one        | = = = |
the next input is computed while this one's outputs are sent | = 10338.304 = |
traffic is what one node sends    | = = 1590 |
a node does not compute while it receives or sends | | = 11940.864 =
a later input takes the last stage's time, not the slowest's    | | = 5465.472 =
a later input takes the average stage's time, not the slowest's | | = 4254.08 =
outputs are all-reduced along a ring & the last output is not gathered \
                                  | 1842.304 14738.432 12600 |
outputs are all-reduced along a ring \
& traffic also counts a node's own shards, which are not sent | 2706.304 21650.432 20988 |
each node sends a whole last output \
& traffic also counts a node's own shards, which are not sent | 3594.304 28754.432 17928 |
a node does not compute while it receives or sends & the network's input is sent, too \
& the last output is sent, too    | | 2673.024 12809.472 2124
"""
THE_ODD_ONE_ALL_TO_ALL = """
                                     | 416.704 3333.632 6840 |
all links together have the bandwidth of one | 7794.304 62354.432 = |
a node's links work as one           | 213.184 1705.472 = |
outputs are all-reduced along a ring | 2706.304 21650.432 19080 |
traffic is what one node sends       | = = 1158 |
"""
ITS_LAYER_1_ON_ONE_NODE = """
                                     | 61.44 491.52 0  | 61.44 491.52 0
layer 1 is missing                   | = = =           | = = =
the last layer is missing            | = = =           | = = =
the weights are sent, too            | = = 144all:144  | = = 144all:144
each node sends a whole last output  | = = =           |
outputs are all-reduced along a ring | = = =           |
a node's links work as one           | = = =           |
the next input is computed while this one's outputs are sent | = = = |
traffic is what one node sends       | = = =           |
traffic counts each output once      | = = =           |
traffic also counts a node's own shards, which are not sent  | = = = |
a node does not compute while it receives or sends & the last output is sent, too | | = = =
"""


def by_hand(question, table):
    for row in table.replace("\\\n", "").strip("\n").splitlines():
        clauses, *cells = row.split("|")
        clauses = tuple(filter(None, map(str.strip, clauses.split(" & "))))
        for strategy, cell in zip(("tensor", "pipeline"), cells, strict=True):
            if cell.strip():
                yield question, strategy, clauses, cell.split()


@pytest.mark.parametrize(
    ("question", "strategy", "clauses", "cells"),
    [
        *by_hand(LAB, THE_LAB),
        *by_hand(LAB_RING, ON_ITS_RING),
        *by_hand(ODD, THE_ODD_ONE),
        *by_hand(ODD_ALL_TO_ALL, THE_ODD_ONE_ALL_TO_ALL),
        *by_hand(ONE_NODE, ITS_LAYER_1_ON_ONE_NODE),
    ],
)
def test_figures_by_hand(question, strategy, clauses, cells):
    found, plain = (mistakes.compute(question, strategy, these) for these in (clauses, ()))
    one_ms, all_ms, traffic = cells
    one_bytes, _, all_bytes = traffic.partition("all:")
    if all_bytes == "" and one_bytes != "=":
        all_bytes = str(question.inputs * Fraction(one_bytes))
    expected = {
        ("Q1", "latency"): one_ms,
        ("Q2", "latency"): all_ms,
        ("Q1", "traffic"): one_bytes,
        ("Q2", "traffic"): all_bytes or "=",
    }
    for key, value in expected.items():
        number = found[key] * (1000 if key[1] == "latency" else 1)
        if value == "=":
            assert found[key] == plain[key]
        elif value[:1] == "~":
            assert round(number, 8) == Fraction(value[1:])
        elif value != "?":
            assert number == Fraction(value)
