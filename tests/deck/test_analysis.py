# ruff: noqa: RUF001 (the sign of multiplication is meant)
"""The deck's figures against numbers worked out by hand, and the claims that its words make."""

from fractions import Fraction

import pytest

import analysis
import build
import lab3
from analysis import Analysis, grouped

LAB = Analysis()


def leaves(value, path=""):
    """Every text of nested facts by its path, such as ring.0.2."""
    if isinstance(value, str):
        return {path: value}
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    found = {}
    for name, part in parts:
        found.update(leaves(part, f"{path}.{name}".lstrip(".")))
    return found


# ------------------------------------------------ every figure, worked by hand

# C = 2 * 128 * 3 * 3 * 3 * 30 * 30 = 6,220,800 and so on, A = 128 * 30 * 30 * 2 = 230,400; a node
# does 50,000 ops and a link carries 2,000 bytes in a µs.
ANSWERS = {
    # 606,661,632 / 200,000 + 751,616 / 8,000 µs; 3 * 604,160 + 3 * 36,864 bytes; * 32
    # 891,648 / 4 of weights + layer 2's 230,400 of input + 200,704 / 4 of output
    "tensor": "0.00312726016 1,923,072 0.10007232512 61,538,304 503,488 fits",
    # 606,661,632 / 50,000 + 604,160 / 2,000 µs, then 31 * 231,211,008 / 50,000 µs more
    # 294,912 + 230,400 + 200,704 on node 2
    "pipeline": "0.01243531264 604,160 0.15578613760 19,333,120 726,016 too much",
    # tests/oracles work these out row by row; 294,912 + 3 * 6,656 + 147,456 bytes on node 4
    "streamed": "0.00494232576 604,160 0.14829315072 19,333,120 462,336 fits",
}

EXPECTED = {
    "inputs": "32",
    "further": "31",
    "sram": "524,288",  # 512 * 1,024
    "faster": {
        "one": "3.98",  # 12,435.31264 / 3,127.26016 = 3.9764
        "many": "1.56",  # 155.7861376 / 100.07232512 = 1.5567
        "streamed_one": "1.58",  # 4.94232576 / 3.12726016 = 1.5804
        "streamed_many": "1.48",  # 148.29315072 / 100.07232512 = 1.4819
        "traffic": "3.18",  # 1,923,072 / 604,160 = 3.1831
    },
    "machine": {"links": "12", "giga_ops": "50", "giga_bytes": "2", "balance": "25"},
    "layers": [
        ["1", "128 × 3 × 3 × 3", "128 × 30 × 30", "6,912", "6,220,800", "230,400", "27"],
        ["2", "128 × 128 × 3 × 3", "128 × 28 × 28", "294,912", "231,211,008", "200,704", "1,152"],
        ["3", "128 × 128 × 3 × 3", "128 × 26 × 26", "294,912", "199,360,512", "173,056", "1,152"],
        ["4", "128 × 128 × 3 × 3", "128 × 24 × 24", "294,912", "169,869,312", "147,456", "1,152"],
    ],
    "layers_sum": ["891,648", "606,661,632"],
    "ops_a_byte": "1,152",
    "first_ops_a_byte": "27",
    "overlap": "3.0 %",  # 93.952 / 3,127.26016 = 3.004 %
    "speed_ups": [
        # 3,127.26016 / (1,516.65408 + 93.952); 155,786.1376 / (12,435.31264 / 2 + 151.04
        # + 31 * 2,312.11008)
        ["ops/s of a node", "1.942", "1.996"],
        # 3,127.26016 / (3,033.30816 + 46.976); 155,786.1376 / (155,786.1376 - 151.04)
        ["bytes/s of a link", "1.015", "1.001"],
        ["nodes", "2.000", "1.000"],  # half the ops, half the shards; still a node a layer
    ],
    "as_read": ["as read here", "100.072", "155.786"],
    "readings": [
        # 32 * (3,033.30816 + 187,904 / 2,147.483648); 12,435.31264 - 302.08 + 604,160
        # / 2,147.483648 + 31 * 4,624.22016 µs
        ["the pipeline takes one at a time", "", "397.930"],
        ["1 GB is 2³⁰ bytes", "99.866", "155.765"],
        # 187,904 and 604,160 / 250 µs
        ["links carry 2 Gbit/s", "121.118", "157.901"],
        # 32 * 6,144 / 2,000 = 98.304 µs more
        ["inputs start on node 1 alone", "100.171", ""],
        # 12,435.31264 + 31 * (4,624.22016 + 100.352) µs
        ["no node sends while it computes", "", "158.897"],
        # 12,435.31264 + 31 * (115.2 + 4,624.22016 + 100.352) µs
        ["… nor receives", "", "162.468"],
        # 32 * 12,435.31264 µs
    ],
    "tensor": {
        "share": "97 %",  # 3,033.30816 / 3,127.26016
        "sending_share": "3 %",
        "rows": [  # C / 200,000; A / 8,000; A / 4; 12 shards, at the end 3
            ["1", "31.10400", "all-gather", "28.80000", "57,600", "691,200"],
            ["2", "1,156.05504", "all-gather", "25.08800", "50,176", "602,112"],
            ["3", "996.80256", "all-gather", "21.63200", "43,264", "519,168"],
            ["4", "849.34656", "gather", "18.43200", "36,864", "110,592"],
        ],
        "compute": "3,033.30816",
        "sending": "93.95200",
        "sending_short": "93.952",
        "many": "100,072.32512",
        "bytes": "1,923,072",
        "bytes_many": "61,538,304",
        "gather_bytes": "110,592",
        "peers": "3",
    },
    "pipeline": {
        "heads": [
            "node 1",
            "send 1 → 2",
            "node 2",
            "send 2 → 3",
            "node 3",
            "send 3 → 4",
            "node 4",
        ],
        "times": [  # C / 50,000 and A / 2,000
            "124.41600",
            "115.20000",
            "4,624.22016",
            "100.35200",
            "3,987.21024",
            "86.52800",
            "3,397.38624",
        ],
        "traffics": ["", "230,400", "", "200,704", "", "173,056", ""],
        "slowest_node": "2",
        "slowest": "4,624.22016",
        "one": "12,435.31264",
        "many": "155,786.13760",
        "bytes": "604,160",
        "bytes_many": "19,333,120",
        "utilisation": "24.4 %",  # 3,033.30816 / 12,435.31264
        "utilisation_many": "62.3 %",  # 97.06586112 / 155.7861376
        "utilisation_limit": "65.6 %",  # 3,033.30816 / 4,624.22016
        "over_one_node": "0.98",  # 12,133.23264 / 12,435.31264
        "sending": "302.08",  # 115.2 + 100.352 + 86.528
        "slots": "35",  # 4 + 32 - 1
        "slot": "3.033",
        "balanced": "106.17",  # 35 * 3.03330816
    },
    "cycle_ps": "10",
    "weights": "891,648",
    "filled": "524,288",  # see test_rows_streamed.py
    "weights_over": "367,360",  # 891,648 - 524,288
    "data_ms": "97.07",  # 8 * 12.13323264
    "data_less": "3 %",  # 1 - 97.06586112 / 100.07232512
    "over": "1,024",  # 294,912 + 230,400 - 524,288
    "outputs": "4,718,592",  # 32 * 147,456
    "all_sram": "2,097,152",  # 4 * 524,288
    "plans": "28",
    "same": ["1-2:2,3,4", "14 %"],  # 1 - 133.556736 / 155.7861376
    "fewer": "1-3:2,4",
    "ring": [
        ["communication, µs", "93.95200", "281.85600", "302.08000"],  # 3 times; the same
        ["latency, µs", "3,127.26016", "3,315.16416", "12,435.31264"],
        ["traffic, bytes", "1,923,072", "2,033,664", "604,160"],  # 110,592 more; the same
    ],
    "ring_more": "6 %",  # 3,315.16416 / 3,127.26016 = 1.0601
    "ring_loads": "0, 1, 2 and 3",
    "ring_gather": "221,184",  # 6 * 36,864
    "two_way": "140.928",  # 281.856 / 2
    "faster_mb": "15 to 116",
}


def test_every_figure():
    facts = analysis.facts(LAB)
    answers = {name: " ".join(figures) for name, figures in facts.pop("answers").items()}
    assert answers == ANSWERS
    found = {path: text.replace("\u00a0", " ") for path, text in leaves(facts).items()}
    assert found == leaves(EXPECTED)


def test_losses():
    # 97,065.86112; 32 * (4,624.22016 - 3,033.30816); 12,133.23264 - 4,624.22016; 302.08 µs
    assert LAB.losses() == [
        ("work ÷ 4 nodes", Fraction("0.09706586112")),
        ("imbalance", Fraction("0.050909184")),
        ("fill and drain", Fraction("0.00750901248")),
        ("sending", Fraction("0.00030208")),
    ]
    assert sum(seconds for _, seconds in LAB.losses()) == Fraction("0.1557861376")


def test_needs_of_sram():
    found = [(need.strategy, need.node, *need.use[2:]) for need in LAB.needs()]
    assert found == [
        ("tensor", "each node", 222_912, 230_400, 50_176),
        ("pipeline", "node 1", 6_912, 6_144, 230_400),
        ("pipeline", "node 2", 294_912, 230_400, 200_704),
        ("pipeline", "node 3", 294_912, 200_704, 173_056),
        ("pipeline", "node 4", 294_912, 173_056, 147_456),
        ("streamed", "node 4", 294_912, 19_968, 147_456),
        ("data", "each node", 891_648, 230_400, 200_704),
    ]


FRONT = [  # latency in ms, traffic, SRAM
    ("1-4:4", 4, "100.07232512", 61_538_304, 503_488),
    ("1-2:2,3-4:2", 4, "123.19973376", 28_114_944, 582_144),
    ("1-2:2,3,4", 4, "133.556736", 19_333_120, 668_672),
    ("1-2,3:2,4", 4, "157.49096448", 18_382_848, 732_928),
    ("1-2,3,4", 3, "159.5278336", 11_960_320, 732_928),
    ("1-2,3-4", 2, "241.15607552", 6_422_528, 963_584),
    ("1-3,4", 2, "283.03099904", 5_537_792, 1_027_840),
    ("1-4", 1, "388.26344448", 0, 1_322_752),
]


def test_plans():
    assert [
        (it.name, it.nodes, it.latency_s * 1000, it.traffic_bytes, it.sram_bytes)
        for it in LAB.best_points
    ] == [(name, nodes, Fraction(ms), *rest) for name, nodes, ms, *rest in FRONT]
    assert (LAB.tensor_point.name, LAB.pipeline_point.name) == ("1-4:4", "1,2,3,4")
    fewer = LAB.beating(3)
    assert (fewer.name, fewer.latency_s, fewer.traffic_bytes) == (
        "1-3:2,4",
        Fraction("0.14666302464"),
        19_333_120,
    )


def test_the_interval_of_a_plan():
    # By which one more input is later: of one stage its sum, of stages the longest.
    assert LAB.tensor_point.interval_s == Fraction("0.00312726016")
    assert LAB.pipeline_point.interval_s == Fraction("0.00462422016")


# ------------------------------------------------ links

# Whole tensors: 1,733,632 / 0.08493262848 and 5,408,768 / 0.05841819648 bytes/s for 32 inputs,
# 1,053,696 / 0.03639969792 and 2,402,304 / 0.03296360448 for 16, on no links for 9 or fewer.
WINS = {
    ("pipeline", 9): None,
    ("pipeline", 10): (44, 54),
    ("pipeline", 16): (29, 72),
    ("pipeline", 32): (21, 92),
    ("streamed", 1): (22, 79),
    ("streamed", 32): (15, 116),
}


@pytest.mark.parametrize("case", WINS)
def test_links_on_which_a_pipeline_is_faster(case):
    bounds = LAB.faster_between_mb(*case)
    assert bounds == WINS[case]
    first, last = bounds or (50, 49)
    for mb in (first - 1, first, last, last + 1):
        lab = LAB.on(link_bytes_per_s=mb * 10**6)
        assert (lab.latency(*case) < lab.latency("tensor", case[1])) == (first <= mb <= last)


def test_links_that_are_shown():
    assert LAB.link_rows == [
        (*case, WINS[case])
        for case in [("pipeline", 9), ("pipeline", 32), ("streamed", 1), ("streamed", 32)]
    ]


def test_a_link_on_which_both_take_as_long_is_not_won():
    # On slow links the pipeline has 32 * 151,665,408 - 606,661,632 ops less in its way, and
    # 604,160 + 31 * 230,400 - 32 * 187,904 bytes more.
    lab = LAB.on(ops_per_s=Fraction(4_246_631_424 * 21 * 10**6, 1_733_632))
    even = lab.on(link_bytes_per_s=21 * 10**6)
    assert even.latency("pipeline", 32) == even.latency("tensor", 32)
    assert lab.faster_between_mb("pipeline", 32) == (22, 95)


@pytest.mark.parametrize(
    ("mb", "ops_less", "bytes_more", "bounds"),
    [
        # Streamed rows of 1 input: on slow links 23,210,496 ops and 244,224 bytes in a row, on fast
        # ones 246,163,968 and 36,864; tensor parallelism 151,665,408 and 187,904.
        (22, 128_454_912, 56_320, (23, 80)),
        (79, -94_498_560, -151_040, (22, 78)),
    ],
)
def test_links_on_which_rows_streamed_take_as_long(mb, ops_less, bytes_more, bounds):
    lab = LAB.on(ops_per_s=Fraction(ops_less * mb * 10**6, bytes_more))
    even = lab.on(link_bytes_per_s=mb * 10**6)
    assert even.latency("streamed", 1) == even.latency("tensor", 1)
    assert lab.faster_between_mb("streamed", 1) == bounds


@pytest.mark.parametrize("strategy", ["pipeline", "streamed"])
def test_no_whole_number_lies_between(strategy):
    # at a 5,000th of the ops/s all bounds are a 5,000th: less than 1 MB/s
    lab = LAB.on(ops_per_s=10**7)
    slow = lab.on(link_bytes_per_s=10**4)
    assert slow.latency(strategy, 10) < slow.latency("tensor", 10)
    assert lab.faster_between_mb(strategy, 10) is None


# On a ring tensor parallelism has three times as much to send, one transfer after the other.
# 3 inputs of two layers with 128 ops and 64 bytes each, on two nodes: tensor parallelism takes 128
# ops and 64 bytes an input, the pipeline 256 ops, 64 bytes and twice the longer of 128 ops and 64
# bytes, which is less on all links on which a byte takes longer than an op.
@pytest.mark.parametrize(
    "lab",
    [
        LAB.on(topology="ring"),
        Analysis([lab3.ConvLayer(2, 2, 1, 1, 4, 4)] * 2, lab3.System(2, 128 * 10**6), 3),
    ],
)
def test_links_without_a_slowest_are_not_told(lab):
    slow = lab.on(link_bytes_per_s=10**6)
    assert slow.latency("pipeline", lab.inputs) < slow.latency("tensor", lab.inputs)
    assert lab.faster_between_mb("pipeline", lab.inputs) is None


# ------------------------------------------------ other readings, text


def test_readings_in_full():
    tensor_s, pipeline_s = Fraction("0.10007232512"), Fraction("0.1557861376")
    computing_s, first_s = 32 * Fraction("0.00303330816"), Fraction("0.15548405760")
    assert [seconds for _, *seconds in LAB.readings()] == [
        [tensor_s, pipeline_s],
        [tensor_s, Fraction("0.39793000448")],
        [computing_s + 32 * Fraction(187_904, 2**31), first_s + Fraction(604_160, 2**31)],
        [Fraction("0.12111757312"), Fraction("0.1579006976")],
        [Fraction("0.10017062912"), pipeline_s],
        [tensor_s, Fraction("0.1588970496")],
        [tensor_s, Fraction("0.1624682496")],
    ]


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (Fraction(5, 2), 0, "2"),  # half to even
        (Fraction(7, 2), 0, "4"),
        (Fraction(1_234_567, 1000), 2, "1,234.57"),
        (Fraction(1, 1000), 2, "0.00"),
        (Fraction(199_999, 100_000), 3, "2.000"),
        (0, 1, "0.0"),
    ],
)
def test_grouped(value, places, text):
    assert grouped(value, places) == text


def test_a_figure_that_does_not_end_is_not_cut():
    assert analysis.exact(Fraction(1, 8), 3) == "0.125"
    with pytest.raises(ValueError, match=r"0\.125.* 2 decimals"):
        analysis.exact(Fraction(1, 8), 2)


# ------------------------------------------------ claims


def test_every_claim_holds_for_the_lab():
    claims = list(analysis.claims(LAB))
    assert len(claims) > 20
    assert [claim for claim, holds in claims if not holds] == []


ODD_LAYER = lab3.ConvLayer(128, 128, 3, 3, 24, 24)


@pytest.mark.parametrize(
    ("network", "changes", "inputs", "words"),
    [
        ((*lab3.NETWORK, ODD_LAYER), {}, 32, "4 layers"),
        (lab3.NETWORK[:3], {}, 32, "4 layers"),
        (lab3.NETWORK, {"nodes": 8}, 32, "4 nodes"),
        (lab3.NETWORK, {"nodes": 1}, 32, "4 nodes"),
        (lab3.NETWORK, {"topology": "ring"}, 32, "all-to-all"),
        (lab3.NETWORK, {}, 31, "32 inputs"),
        (lab3.NETWORK, {}, 10**9, "32 inputs"),
        (lab3.NETWORK, {"sram_bytes": 1024 * 1024}, 32, "holds all weights"),
        (lab3.NETWORK, {"link_bytes_per_s": 60 * 10**6}, 32, "faster than the pipeline"),
        (lab3.NETWORK, {"link_bytes_per_s": 10**12}, 32, "ASTRA-sim"),
        (lab3.NETWORK, {"ops_per_s": 10**12}, 32, "faster than the pipeline"),
        (lab3.NETWORK, {"nodes": 0}, 32, "4 nodes"),
        ((lab3.NETWORK[0]._replace(filters=0), *lab3.NETWORK[1:]), {}, 32, "filters: 0"),
        (tuple(it._replace(x=3, y=3) for it in lab3.NETWORK), {}, 32, "layer 2"),
    ],
)
def test_what_does_not_hold_is_named_in_one_sentence(monkeypatch, network, changes, inputs, words):
    monkeypatch.setattr(lab3, "NETWORK", network)
    monkeypatch.setattr(lab3, "SYSTEM", lab3.System(**changes))
    monkeypatch.setattr(lab3, "INPUTS", inputs)
    with pytest.raises(build.DeckError, match=words) as raised:
        build.build()
    assert "\n" not in str(raised.value)


ONE_LAYER = lab3.NETWORK[:1]
FLAT = lab3.ConvLayer(128, 128, 1, 1, 26, 26)  # 128 ops a byte
MEGA = 10**6
# On which layer 1 alone takes two nodes as long to gather, A / 2 / B, as to compute, C / 2 / R.
EVEN = Fraction(50 * 10**9, 27)
# On links of an eighth of it tensor parallelism's 97,065.86112 us and 32 * 187,904 bytes take as
# long as the pipeline's 155,484.0576 us and 604,160 bytes.
EIGHTFOLD = 8 * 5_408_768 / Fraction("0.05841819648")
# 1-3:2,4 takes 7,765.30944 + 31 * 4,367.9232 us and 302,080 + 31 * 215,552 bytes in turn, the
# pipeline 12,133.23264 + 31 * 4,624.22016 us and 604,160 bytes.
TIE = 6_380_032 / Fraction("0.01231312896")


@pytest.mark.parametrize(
    ("words", "lab", "holds"),
    [
        ("holds all weights", LAB.on(sram_bytes=891_647), True),
        ("holds all weights", LAB.on(sram_bytes=891_648), False),
        ("tensor parallelism fits", LAB.on(sram_bytes=503_488), True),
        ("tensor parallelism fits", LAB.on(sram_bytes=503_487), False),
        ("overflows", LAB.on(sram_bytes=525_311), True),  # 294,912 + 230,400 - 1
        ("overflows", LAB.on(sram_bytes=525_312), False),
        ("overflows", LAB.on(link_bytes_per_s=49 * MEGA), False),  # the first send: 4,702 us
        ("streams rows", LAB.on(sram_bytes=462_336), True),
        ("streams rows", LAB.on(sram_bytes=462_335), False),
        ("all outputs", LAB.on(sram_bytes=1_179_647), True),  # 32 * 147,456 / 4 - 1
        ("all outputs", LAB.on(sram_bytes=1_179_648), False),
        ("1,000 bytes a KB", LAB.on(sram_bytes=515_572), True),  # 503,488 * 1.024 = 515,571.7
        ("1,000 bytes a KB", LAB.on(sram_bytes=515_571), False),
        ("twice the SRAM", LAB.on(sram_bytes=363_008), True),  # 726,016 / 2
        ("twice the SRAM", LAB.on(sram_bytes=363_007), False),
        ("faster than the pipeline", LAB.on(link_bytes_per_s=117 * MEGA), True),
        ("faster than the pipeline", LAB.on(link_bytes_per_s=116 * MEGA), False),
        # One layer on one node is the same in all strategies.
        ("faster than the pipeline", Analysis(ONE_LAYER, lab3.System(nodes=1)), False),
        ("more traffic", Analysis(ONE_LAYER, lab3.System(nodes=1)), False),
        ("would balance", LAB.on(ops_per_s=54 * 10**9 - 1), True),  # layer 1: 27 ops a byte
        ("would balance", LAB.on(ops_per_s=54 * 10**9), False),
        ("would balance", Analysis([*lab3.NETWORK[:3], FLAT]), False),
        ("faster links", Analysis(ONE_LAYER, lab3.System(2, link_bytes_per_s=EVEN + 1)), True),
        ("faster links", Analysis(ONE_LAYER, lab3.System(2, link_bytes_per_s=EVEN)), False),
        ("twice the nodes", LAB.on(topology="ring"), False),
        ("twice the nodes", LAB.on(nodes=128), False),  # 256 nodes do not divide 128 filters
        ("every reading", LAB.on(link_bytes_per_s=EIGHTFOLD + 1), True),
        ("every reading", LAB.on(link_bytes_per_s=EIGHTFOLD), False),
        ("exactly tensor parallelism", LAB.on(sram_bytes=503_487), False),  # see FRONT
        ("exactly tensor parallelism", LAB.on(sram_bytes=503_488), True),
        ("exactly tensor parallelism", LAB.on(sram_bytes=582_143), True),
        ("exactly tensor parallelism", LAB.on(sram_bytes=582_144), False),
        ("no plan is faster", LAB.on(link_bytes_per_s=60 * MEGA), False),
        ("3 nodes", LAB.on(link_bytes_per_s=TIE + 1), True),
        ("3 nodes", LAB.on(link_bytes_per_s=TIE), False),
        ("slower links", Analysis(inputs=10).on(link_bytes_per_s=114 * MEGA), True),
        ("slower links", Analysis(inputs=10).on(link_bytes_per_s=113 * MEGA), False),
        ("slower links", Analysis(inputs=9), False),  # with whole tensors on none
        ("least SRAM", LAB.on(link_bytes_per_s=284 * MEGA), True),
        ("least SRAM", LAB.on(link_bytes_per_s=200 * MEGA), False),  # rows wait for room
    ],
)
def test_a_claim_at_its_bounds(words, lab, holds):
    assert next(found for claim, found in analysis.claims(lab) if words in claim) == holds
