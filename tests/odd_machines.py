"""Small questions that differ from the lab's in everything, for tests that work numbers out by
hand: the sizes of their layers, in the terms of lab3.py.
"""

from fractions import Fraction

from lab3 import ALL_TO_ALL, RING, ConvLayer, System
from report.question import Question

# Everything differs: 3 layers, 6 nodes on a ring, 3 of which have no layer in a pipeline, elements
# of 3 bytes, rates that are Fractions, 9 KiB of SRAM, 8 inputs. The last layer takes longest.
#
#   layer  output  weights                    MACs                  C       A             S = A / 6
#   1      8 x 5    6 *  1 * 2 * 4 =    48     48 * 40 =  1,920    3,840   6 * 40 * 3 = 720     120
#   2      5 x 3   12 *  6 * 4 * 3 =   864    864 * 15 = 12,960   25,920  12 * 15 * 3 = 540      90
#   3      3 x 2   36 * 12 * 3 * 2 = 2,592  2,592 *  6 = 15,552   31,104  36 *  6 * 3 = 648     108
#   all                              3,504                        60,864
#
# Bytes of weights 144, 2,592, 7,776, in all 10,512; of the first input 1 * 9 * 8 * 3 = 216.
# C / R 180, 1,215, 1,458 s, in all 2,853; a sixth of it 30, 202.5, 243 s, in all 475.5.
# A / B 288, 216, 259.2 s; S / B 48, 36, 43.2 s, in all 127.2.
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

# The gathering node is the fullest, while it gathers: 3 nodes, 100 bytes of SRAM, 5 inputs.
#
#   layer  output  weights             MACs        C    A    S   weight bytes   row of input, output
#   1      2 x 2    3 * 1 * 2 * 1 =  6  6 * 4      48   12    4    6              3           6
#   2      2 x 2   18 * 3 * 1 * 1 = 54  54 * 4    432   72   24   54              6          36
#   all                             60            480              60
GATHERS = Question(
    (ConvLayer(3, 1, 2, 1, 3, 2, 1), ConvLayer(18, 3, 1, 1, 2, 2, 1)),
    System(3, ops_per_s=8, link_bytes_per_s=4, sram_bytes=100),
    5,
)

# With row streaming the gathering node is the fullest while it computes: 1 layer on 3 nodes, 150
# bytes of SRAM, 2 inputs. Weights 6 * 4 * 1 * 2 = 48, output 2 x 4, MACs 48 * 8 = 384, C = 768,
# A = 6 * 8 = 48, S = 16, input 4 * 2 * 5 = 40; a row of input 8 bytes, of output 12.
ONE_LAYER = Question(
    (ConvLayer(6, 4, 1, 2, 2, 5, 1),),
    System(3, ops_per_s=64, link_bytes_per_s=2, sram_bytes=150),
    2,
)
