"""The machines of the tests: the lab, whose numbers are worked out in test_lab3.py and in
deck/test_pages.py, and ODD, which differs from it in everything, worked out here."""

from unittest.mock import patch

import lab3
from lab3 import ConvLayer, System

NETWORK = (
    ConvLayer(128, 3, 3, 3, 32, 32, 2),
    ConvLayer(128, 128, 3, 3, 30, 30, 2),
    ConvLayer(128, 128, 3, 3, 28, 28, 2),
    ConvLayer(128, 128, 3, 3, 26, 26, 2),
)
SYSTEM = System(4, 50 * 10**9, 2 * 10**9, 512 * 1024)
INPUTS = 32

# The tests of report/ ask about this lab, whatever lab3.py's constants are. report/ takes those
# when it is imported, which conftest.py does before any test is read. Processes of their own run in
# a copy that has this lab, too: see program.py.
with patch.multiple(lab3, NETWORK=NETWORK, SYSTEM=SYSTEM, INPUTS=INPUTS):
    from report.question import Question

LAB = Question(NETWORK, SYSTEM, INPUTS)

# ------------------------------------------------ everything differs
#
# Six nodes, three of which have no layer in a pipeline; its bottleneck is a send; data parallelism
# alone does not fit in the SRAM. Elements are of 3 bytes.
#
#   layer  output  weights                MACs             ops C   bytes A  S    weights  input
#   1      8 x 5   6 *  1 * 2 * 4 =    48  * 40 =  1,920   3,840   720      120    144    216
#   2      5 x 3  12 *  6 * 4 * 3 =   864  * 15 = 12,960  25,920   540       90  2,592    720
#   3      3 x 2  36 * 12 * 3 * 2 = 2,592  *  6 = 15,552  31,104   648      108  7,776    540

ODD = Question(
    (
        ConvLayer(6, 1, 2, 4, 9, 8, 3),
        ConvLayer(12, 6, 4, 3, 8, 5, 3),
        ConvLayer(36, 12, 3, 2, 5, 3, 3),
    ),
    System(6, ops_per_s=62_500, link_bytes_per_s=1_250, sram_bytes=9 * 1024),
    8,
)
ODD_OPTIONS = (
    "--inputs 8 --nodes 6 --gops 0.0000625 --link-gbs 0.00000125 --sram-kib 9 --element-bytes 3"
    " --layer 6,1,2,4,9,8 --layer 12,6,4,3,8,5 --layer 36,12,3,2,5,3"
)

# Steps: layer, work, where, microseconds, bytes of the busiest link, bytes of all links.
# Numbers by inputs: tensor parallelism's seconds and bytes, then the pipeline's. On a one-way ring,
# as in Q4, those of tensor parallelism are others.
# SRAM: where, layer, bytes of weights, input and output, their sum.

# In a millisecond a node does 62.5 ops and a link carries 1.25 bytes. Each node does a sixth of the
# ops, 640, 4,320 and 5,184. Each of 30 links carries one shard, five the last: 162.304 + 254.4 ms.
ODD_TENSOR_STEPS = [
    (1, "compute", "all nodes", "10240", 0, 0),
    (1, "all-gather", "all links", "96000", 120, 3_600),
    (2, "compute", "all nodes", "69120", 0, 0),
    (2, "all-gather", "all links", "72000", 90, 2_700),
    (3, "compute", "all nodes", "82944", 0, 0),
    (3, "gather", "all links", "86400", 108, 540),
]
# 973.824 + 1,008 ms, and 7 * 576 ms for 8 inputs.
ODD_PIPELINE_STEPS = [
    (1, "compute", "node 1", "61440", 0, 0),
    (1, "send", "link 1 to 2", "576000", 720, 720),
    (2, "compute", "node 2", "414720", 0, 0),
    (2, "send", "link 2 to 3", "432000", 540, 540),
    (3, "compute", "node 3", "497664", 0, 0),
]
ODD_NUMBERS = {
    1: ("0.416704", 6_840, "1.981824", 1_260),
    8: ("3.333632", 54_720, "6.013824", 10_080),
}
# Five shards cross each link, one after the other: 5 * 254.4 ms; in the gather, shards cross 1 + 2
# + 3 + 4 + 5 = 15 links: 1,620 bytes.
ODD_RING_NUMBERS = {
    1: ("1.434304", 7_920, "1.981824", 1_260),
    8: ("11.474432", 63_360, "6.013824", 10_080),
}
# All weights are 10,512 bytes, a sixth of them 1,752.
ODD_SRAM = {
    "tensor": [
        ("every node", 1, 1_752, 216, 120, 2_088),
        ("every node", 2, 1_752, 720, 90, 2_562),
        ("every node", 3, 1_752, 540, 108, 2_400),
        ("one node", 3, 1_752, 0, 648, 2_400),
    ],
    "pipeline": [
        ("node 1", 1, 144, 216, 720, 1_080),
        ("node 2", 2, 2_592, 720, 540, 3_852),
        ("node 3", 3, 7_776, 540, 648, 8_964),
    ],
    "data": [
        ("every node", 1, 10_512, 216, 720, 11_448),
        ("every node", 2, 10_512, 720, 540, 11_772),
        ("every node", 3, 10_512, 540, 648, 11_700),
    ],
}

# ------------------------------------------------ lab3.py
CLOSED_FORMS = {
    "tensor": (lab3.tensor_parallel_latency, lab3.tensor_parallel_traffic),
    "pipeline": (lab3.pipeline_parallel_latency, lab3.pipeline_parallel_traffic),
}


def closed_forms(*question):
    """Seconds and bytes of tensor parallelism, then of the pipeline."""
    return [function(*question) for functions in CLOSED_FORMS.values() for function in functions]
