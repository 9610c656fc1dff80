"""Every number of the deck, as it is printed, against hand values."""

import re
from fractions import Fraction

import pytest

import lab3
from report.analysis import Analysis
from report.deck import facts
from report.deck.build import HERE
from report.question import LAB

HAND = {
    # page 1, from page 3's sums
    "inputs": "32",
    "tensor-1-s": "0.00312726016",
    "tensor-1-bytes": "1,923,072",
    "tensor-32-s": "0.10007232512",
    "tensor-32-ms": "100.07",
    "tensor-32-bytes": "61,538,304",
    "pipeline-1-s": "0.01243531264",
    "pipeline-1-bytes": "604,160",
    "pipeline-32-s": "0.15578613760",
    "pipeline-32-ms": "155.79",
    "pipeline-32-bytes": "19,333,120",
    "times-as-fast-1": "3.98",  # 12.43531264 / 3.12726016 = 3.9764...
    "times-as-fast-32": "1.56",  # 155.7861376 / 100.07232512 = 1.5567...
    "times-as-fast-streamed-1": "1.63",  # 4.94232576 / 3.03407616 = 1.6289...
    "times-as-fast-streamed": "1.53",  # 148.29315072 / 97.06662912 = 1.5277...
    "times-the-bytes": "3.18",  # 1,923,072 / 604,160 = 3.1830...
    "communication-percent": "31",  # 93.952 / 302.08 = 0.3110...
    "links": "12",  # 4 * 3
    "readings": [
        # links of 0.25 GB/s take 8 times as long: 32 * (3,033.30816 + 8 * 93.952) us
        # one node sends 6,144 bytes to the others first: 32 * (3,127.26016 + 3.072) us
        ["100.07", "100.07", "100.07", "121.12", "100.17"],
        # 32 * 12.43531264 ms; 12.43531264 + 31 * (4.62422016 + 0.100352), node 2 computing and
        # sending; 31 * 0.1152 more, as it receives; 12,133.23264 + 8 * 302.08 + 31 * 4,624.22016 us
        ["397.93", "158.90", "162.47", "157.90", "155.79"],
    ],
    # page 2
    "nodes": "4",
    "gops": "50",
    "link-gbs": "2",
    "sram": "524,288",  # 512 * 1,024
    "layers": [  # 128 * x * y * 2; 128 * channels * 3 * 3 * 2; its half * x * y * 2
        ["1", "128 x 30 x 30", "230,400", "6,912", "6,220,800"],
        ["2", "128 x 28 x 28", "200,704", "294,912", "231,211,008"],
        ["3", "128 x 26 x 26", "173,056", "294,912", "199,360,512"],
        ["4", "128 x 24 x 24", "147,456", "294,912", "169,869,312"],
    ],
    "weights": "891,648",  # 6,912 + 3 * 294,912
    "ops": "606,661,632",
    "weights-1": "3,456",  # 128 * 3 * 3 * 3
    "side-1": "30",  # 2 * 3,456 * 30 * 30 = 6,220,800
    "ops-per-byte-1": "27",  # 3 * 3 * 3 channels, 2 operations for 2 bytes
    "ops-per-byte-2": "1,152",  # 128 * 3 * 3
    "machine-balance": "25",  # 50 / 2
    # page 3: operations / 200,000 or / 50,000 us, shards / 2,000 or outputs / 2,000 us
    "steps": [
        ["1", "31.10400", "28.80000", "691,200", "124.41600", "115.20000", "230,400"],
        ["2", "1,156.05504", "25.08800", "602,112", "4,624.22016", "100.35200", "200,704"],
        ["3", "996.80256", "21.63200", "519,168", "3,987.21024", "86.52800", "173,056"],
        ["4", "849.34656", "18.43200", "110,592", "3,397.38624", "", ""],
    ],
    "tensor-compute-us": "3,033.30816",
    "tensor-communication-us": "93.95200",
    "tensor-1-us": "3,127.26016",
    "tensor-32-us": "100,072.32512",
    "tensor-interval-ms": "3.13",
    "tensor-busy-percent": "97",  # 3,033.30816 / 3,127.26016 = 0.9699...
    "pipeline-compute-us": "12,133.23264",
    "pipeline-communication-us": "302.08000",
    "pipeline-1-us": "12,435.31264",
    "pipeline-32-us": "155,786.13760",
    "pipeline-interval-us": "4,624.22016",
    "pipeline-interval-ms": "4.62",
    "pipeline-busy-percent": "62",  # 97.06586112 / 155.7861376 = 0.6230...
    "later-inputs": "31",
    "node-1-busy-percent": "3",  # 32 * 0.124416 / 155.7861376 = 0.0255...
    "node-2-busy-percent": "95",  # 32 * 4.62422016 / 155.7861376 = 0.9498...
    "node-3-busy-percent": "82",  # 32 * 3.98721024 / 155.7861376 = 0.8190...
    "node-4-busy-percent": "70",  # 32 * 3.39738624 / 155.7861376 = 0.6978...
    "gather-bytes": "110,592",  # 3 * 147,456 / 4
    # page 4
    "tensor-above-percent": "3",  # 100.07232512 / 97.06586112 = 1.0309...
    "pipeline-above-percent": "60",  # 155.7861376 / 97.06586112 = 1.6049...
    "lower-bound-ms": "97.066",  # 32 * 3.03330816 = 97.06586112
    "waits-us": "93.952",
    "waits-ms": "3.01",  # 32 * 93.952 = 3,006.464
    "gather-us": "18.43",
    "in-turn-ms": "97.084",  # 97.06586112 + 0.018432
    "tensor-sram": "503,488",  # 222,912 + 230,400 + 200,704 / 4
    "largest-input": "230,400",
    "in-turn-sram": "733,888",  # 503,488 + 230,400
    "tensor-streamed-sram": "455,104",  # 222,912 + 230,400 + 128 * 28 * 2 / 4
    "side-4": "24",
    "last-row-bytes": "1,536",  # 147,456 / 24 / 4
    "last-row-us": "0.768",  # 1,536 / 2,000
    "tensor-streamed-ms": "97.067",  # 97.06586112 + 0.000768
    "node-2-percent": "38",  # 231,211,008 / 606,661,632 = 0.3811...
    "busiest-us": "4,624.22",
    "equal-us": "3,033.31",
    "imbalance-ms": "50.91",  # 32 * (4,624.22016 - 3,033.30816) = 50,909.184
    "fill-ms": "7.51",  # 0.124416 + 3.98721024 + 3.39738624 = 7.50901248
    "balanced-ms": "106.17",  # 35 * 3.03330816
    "layer-1-us": "124.416",  # 6,220,800 / 50,000
    "row-1-us": "4.147",  # 124.416 / 30 = 4.1472
    "row-1-bytes": "7,680",  # 230,400 / 30
    "row-1-send-us": "3.84",  # 7,680 / 2,000
    "before-node-2-us": "16.28",  # 3 of layer 1's 30 rows, 12.4416, the third on its link, 3.84
    "before-node-2-sum": "3 . 4.147 + 3.84",  # 124.416 / 30 = 4.1472, 115.2 / 30
    # node 2's last row on its link, 100.352 / 28, node 3's last row and link, (3,987.21024 +
    # 86.528) / 26, node 4's last row, 3,397.38624 / 24: 3.584 + 156.68224 + 141.55776 = 301.824
    "after-node-2-us": "301.82",
    # 100.352 / 28, 3,987.21024 / 26 = 153.3542..., 86.528 / 26 = 3.328, 3,397.38624 / 24 = 141.5577
    "after-node-2-sum": "3.58 + 153.35 + 3.33 + 141.56",
    "tensor-streamed-1-us": "3,034.08",  # 3,033.30816 + 0.768 = 3,034.07616
    "pipeline-streamed-1-us": "4,942.33",  # 16.2816 + 4,624.22016 + 301.824 = 4,942.32576
    "pipeline-streamed-ms": "148.29",  # 0.0162816 + 32 * 4.62422016 + 0.301824
    # one group on 1, 2 or 4 nodes; two groups 3 ways, each on 1 or 2; three groups 3 ways, at most
    # one of them on 2; four groups: 3 + 3 * 4 + 3 * 4 + 1
    "plans-by-groups": "3 + 12 + 12 + 1",
    "plans": "28",
    # (6,220,800 + 231,211,008) / 100,000 + 115.2 / 2, 100.352 / 2, then as in the pipeline
    "frugal-sum": "2,431.91808 + 50.17600 + 3,987.21024 + 86.52800 + 3,397.38624",
    "frugal-1-us": "9,953.21856",
    "frugal-interval-us": "3,987.21024",  # 9,953.21856 + 31 * 3,987.21024 = 133,556.736
    "frugal-ms": "133.56",
    "frugal-plan-percent": "14",
    # page 5
    "weights-per-node": "222,912",  # 891,648 / 4
    "output-2": "200,704",
    "side-2": "28",
    "first-row-bytes": "1,792",  # 200,704 / 28 / 4
    "node-2-lacks": "1,024",  # 294,912 + 230,400 - 524,288
    "pipeline-streamed-bytes": "462,336",  # 294,912 + 3 * 26 * 128 * 2 + 147,456
    "weights-lack": "367,360",  # 891,648 - 524,288
    "inputs-per-node": "8",
    "data-ms": "97.07",  # 8 * 12.13323264
    "data-less-percent": "3",  # 1 - 97.06586112 / 100.07232512 = 0.0300...
    "output": "147,456",
    "input": "6,144",  # 3 * 32 * 32 * 2
    "waiting-exact": "3.4",  # 20,800 / 6,144 = 3.3854...
    "waiting-per-node": "3",  # 20,800 bytes are free, and an input is 6,144
    "waiting": "12",  # 4 * 3
    "copy-us": "3.072",  # 6,144 / 2,000
    "copies-ms": "0.10",  # 32 * 3.072 us
    # page 6
    "ring-communication-us": "281.85600",  # 3 * 93.952
    "ring-1-us": "3,315.16416",
    "ring-1-bytes": "2,033,664",  # 1,923,072 + 110,592
    "tensor-link-bytes": "187,904",  # 751,616 / 4
    "ring-link-bytes": "563,712",  # 3 / 4 of 751,616
    "pipeline-link-bytes": "230,400",
    "ring-more-percent": "6.0",  # 187.904 / 3,127.26016 = 0.0600...
    "ring-halved-us": "281.86",
    "one-communication-us": "93.95",
    "two-way-more-us": "46.98",  # 281.856 / 2 - 93.952 = 46.976
    "two-way-more-percent": "1.5",  # 46.976 / 3,127.26016 = 0.0150...
    "ring-streamed-ms": "97.068",  # 97.06586112 + 3 * 0.000768
    "reverse-us": "906.24",  # 3 * 302.08
    "reverse-more-percent-1": "4.9",  # 604.16 / 12,435.31264 = 0.0485...
    "reverse-more-percent-32": "0.4",  # 604.16 / 155,786.1376 = 0.0038...
    "link-mb": "2,000",
    "pipeline-compute-short-us": "12,133.23",
    "pipeline-communication-short-us": "302.08",
    "first-send-us": "115.2",
    # where 32 * (0.00303330816 + 187,904 / B) is what the pipeline takes: on slow links the sends,
    # 0.012 + (604,160 + 31 * 230,400) / B, on others node 2, 0.155484 + 604,160 / B seconds
    "links-from": "21",  # 1,733,632 / 0.08493262848 = 20.41 million
    "links-to": "92",  # 5,408,768 / 0.05841819648 = 92.58 million
    "ring-links-to": "298",  # (32 * 563,712 - 604,160) / 0.05841819648 = 298.44 million
    "ring-in-turn-to": "112",  # (32 * 563,712 - 604,160) / 0.1554840576 = 112.13 million
    "ring-streamed-to": "121",  # simulated: tests/oracles/test_rows_on_a_ring.py
}


@pytest.fixture(scope="module")
def found():
    return facts.facts(Analysis(LAB))


def ascii_cells(fact):
    """Of a table, with x for the sign of multiplication; of a product, with a full stop."""
    if isinstance(fact, str):
        return fact.replace("\N{MIDDLE DOT}", ".")
    return [[cell.replace("\N{MULTIPLICATION SIGN}", "x") for cell in row] for row in fact]


@pytest.mark.parametrize("name", HAND)
def test_a_number_is_the_hand_value(found, name):
    assert ascii_cells(found[name]) == HAND[name]


def test_every_number_has_a_hand_value_and_is_said(found):
    words = (HERE / "slides.typ").read_text()
    assert set(found) == set(HAND) == set(re.findall(r"\bf\.([a-z]+(?:-[a-z0-9]+)*)", words))


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (Fraction(1, 8), 2, "0.12"),
        (Fraction(3, 8), 2, "0.38"),
        (Fraction(-1, 3), 3, "-0.333"),
        (1234567, 0, "1,234,567"),
        (Fraction(1234567), 1, "1,234,567.0"),
        (Fraction(999_996, 1000), 2, "1,000.00"),
        (0, 2, "0.00"),
    ],
)
def test_a_number_is_rounded_once_and_grouped(value, places, text):
    assert facts.said(value, places) == text


# ------------------------------------------------ what only the deck computes


def is_pipeline_faster(topology, link_mb):
    """For 32 inputs with whole-tensor transfers, by lab3."""
    system = lab3.SYSTEM._replace(topology=topology, link_bytes_per_s=link_mb * 10**6)
    tensor_s = lab3.tensor_parallel_latency(lab3.NETWORK, system, 32)
    return lab3.pipeline_parallel_latency(lab3.NETWORK, system, 32) < tensor_s


@pytest.mark.parametrize(
    ("topology", "said"), [("all-to-all", range(21, 93)), ("ring", range(1, 299))]
)
def test_bandwidths_at_which_the_pipeline_is_faster_are_all_those_said(topology, said):
    rates = [*range(1, 320), 500, 1000, 2000]
    assert [mb for mb in rates if is_pipeline_faster(topology, mb)] == [*said]
