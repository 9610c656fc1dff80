"""What the deck says: each figure in its place, worked out by hand; titles, and what pages 1 and 4
say of equal layers and of slow links, by lab3.py's closed forms; what diagrams show, counted.
"""

import re
from fractions import Fraction

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("pypdf")
pytest.importorskip("pypdfium2")
pytest.importorskip("typst")

from pypdfium2.raw import FPDF_PAGEOBJ_PATH

from deck.conftest import find_elements
from machines import NETWORK, SYSTEM, closed_forms
from report.deck import build, facts
from report.question import LAB
from report.results import compute_results

# Of each page in reading order: numbers of two digits or more, %, ms, us, strategies, and three and
# four in words. Behind a # is the working. The foot of each page is left out.
PAGES = {
    1: """
        tensor 32
        tensor 0.00312726016 1,923,072 0.10007232512 61,538,304 32.0    # sums: page 3
        pipeline 0.01243531264 604,160 0.1557861376 19,333,120 12.5    # 155.786 / 12.435 = 12.52..
        tensor pipeline 3.98 3.18       # 12.43531264 / 3.12726016 = 3.9764..; 1,923,072 / 604,160
        1.56 3.18                       # 155.7861376 / 100.07232512 = 1.5567..
        10 32 100  10                   # axes
        3.03 3.13 3.13 12.44 4.87       # 606,661,632 / 200,000 us; 155.7861376 / 32 = 4.8683..
        tensor 3.13 pipeline 4.62 ms
        pipeline 4.624 7.811 ms         # 12.43531264 - 4.62422016 = 7.81109248
        38 % 25 % four pipeline 101     # 231,211,008 / 606,661,632 = 0.3811..; EQUAL
        tensor 3.13 4.62 ms four three
        tensor pipeline  tensor pipeline
    """,
    2: """
        four tensor 32 128 pipeline     # 128 / 4
        12 us 50 50,000 us 2,000 us     # giga is 10^9
        tensor 3.01 ms 32               # 32 * 93.952 us = 3.006464 ms
        16 pipeline 32 397.93 ms        # 32 * 12.43531264 = 397.93000448
    """,
    3: """
        pipeline 38 % 25 %              # 231,211,008 / 606,661,632 = 0.3811..
        10 12 14 16 18 ms               # axis
        tensor 3.13 ms pipeline 12.44 ms 4.62 ms  us tensor pipeline
        # 2 * 128 * channels * 3 * 3 * x * y; 2 * 128 * x * y
        # operations / 200,000 us, shards / 2,000 us, 12 or 3 shards
        # operations / 50,000 us, outputs / 2,000 us
        128 30 30   6,220,800 230,400    31.104   28.8   691,200    124.416   115.2   230,400
        128 28 28 231,211,008 200,704 1,156.05504 25.088 602,112  4,624.22016 100.352 200,704
        128 26 26 199,360,512 173,056   996.80256 21.632 519,168  3,987.21024  86.528 173,056
        128 24 24 169,869,312 147,456   849.34656 18.432 110,592  3,397.38624
        606,661,632 3,033.30816 93.952 1,923,072  12,133.23264 302.08 604,160
        us 3,033.30816 93.952 3,127.26016  12,133.23264 302.08 12,435.31264
        32 us 32 3,127.26016 100,072.32512  12,435.31264 31 4,624.22016 155,786.1376
        32 32 1,923,072 61,538,304  32 604,160 19,333,120
        128 30 30 128 30 30 tensor 12 57,600 57,600 2,000 28.8 us   # 230,400 / 4
    """,
    4: """
        32 tensor 3 % pipeline 60 %
        97.066 ms 32 606,661,632 50,000 us
        3.006 ms 32 93.952 us         # 3,006.464
        tensor 100.072 ms 97.0 %        # 97.06586112 / 100.07232512 = 0.96995..
        97.066 ms
        50.909 ms 32 4,624.22016 3,033.30816 us     # 32 * 1,590.912 = 50,909.184
        7.509 ms 12,133.23264 4,624.22016 us        # 7,509.01248
        0.302 ms 302.08 us
        pipeline 155.786 ms 62.3 %      # 97.06586112 / 155.7861376 = 0.62307..
        four  87 %                      # 50.909184 / 58.72027648 = 0.8669..
        tensor 1,923,072 93.95 us 12 three pipeline 604,160 302.08 us   # sums: page 3
        32 pipeline 0.0204 0.0926 1.0 4.6 %         # FLIPS
        tensor 187,904 pipeline 230,400             # 57,600 + 50,176 + 43,264 + 36,864; output 1
        pipeline 0.298                                    # FLIPS
    """,
    5: """
        524,288                         # 512 * 1,024; 20,800 below it, 201,728 above it
        tensor 222,912 230,400 50,176 503,488 20,800    # 891,648 / 4, layer 2's input, 200,704 / 4
        pipeline 6,912 6,144 230,400 243,456 280,832    # 3,456 weights, 3 * 32 * 32 values
        pipeline 294,912 230,400 200,704 726,016 201,728        # 128 * 128 * 3 * 3 weights
        pipeline 294,912 200,704 173,056 668,672 144,384
        pipeline 294,912 173,056 147,456 615,424 91,136
        891,648 230,400 200,704 1,322,752 798,464       # 6,912 + 3 * 294,912
        891,648 512 1,024 524,288
        367,360                         # 891,648 - 524,288
        tensor 891,648 222,912 654,016 pipeline     # 222,912 + 230,400 + 200,704
        tensor
        32 4,718,592 2,097,152   # 32 * 147,456, 4 * 524,288
        pipeline 956,416                # 726,016 + 230,400
    """,
    6: """
        12 tensor three  tensor 12 tensor four pipeline  us us
        tensor 93.95 3,127.26 1,923,072
        tensor 281.86 3,315.16 6.0 % 2,033,664  # 3 * 93.952; 187.904 / 3,127.26 = 0.0600..
        pipeline 302.08 12,435.31 604,160
        tensor three 9.02 ms 32 3.01 110,592 three  # 32 * 281.856; 3 * 36,864
        pipeline three three 4.9 % 0.4 % 32     # 604.16 / 12,435.3 = 0.0485.., / 155,786 = 0.0038..
        tensor 3.32 ms pipeline 4.62  four
    """,
}
TOKEN = re.compile(
    r"\d[\d,.]*\d|\d(?= %)|%|(?<!\w)[mµ]s\b|\b(?:three|four|tensor|pipeline)\b", re.IGNORECASE
)
MOST_WORDS = 168  # those in diagrams and tables, too


def find_text(page):
    """Find a page's text without its foot."""
    text, foot, _ = page.get_textpage().get_text_range().partition("Lab 3: distributed")
    assert foot
    return " ".join(text.replace("\N{RIGHT SINGLE QUOTATION MARK}s", "").split())


@pytest.mark.parametrize("number", PAGES)
def test_each_figure_of_a_page_is_in_its_place(pages, number):
    wanted = " ".join(line.split("#")[0] for line in PAGES[number].splitlines())
    found = TOKEN.findall(find_text(pages[number - 1]))
    assert [token.lower().replace("µ", "u") for token in found] == wanted.split()


@pytest.mark.parametrize("number", PAGES)
def test_a_page_has_few_words(pages, number):
    """Symbols and numbers are none."""
    words = find_text(pages[number - 1]).split()
    assert sum(len(re.findall(r"[^\W\d_]", word)) > 1 for word in words) <= MOST_WORDS


def test_every_fact_is_said():
    words = (build.HERE / "slides.typ").read_text(encoding="utf-8")
    assert {*re.findall(r"\bf\.([a-z]+(?:-[a-z0-9]+)*)", words)} == {
        *facts.compute_facts(compute_results(LAB))
    }


# ------------------------------------------------ claims

C = [6_220_800, 231_211_008, 199_360_512, 169_869_312]
A = [230_400, 200_704, 173_056, 147_456]
WEIGHT_BYTES = [6_912, 294_912, 294_912, 294_912]
BOUND_S = Fraction(sum(C), 200 * 10**9)  # of one input


def latencies_s(inputs=1, **changes):
    """Ask lab3.py's closed forms: seconds of tensor parallelism, then of the pipeline."""
    tensor_s, _, pipeline_s, _ = closed_forms(NETWORK, SYSTEM._replace(**changes), inputs)
    return tensor_s, pipeline_s


TENSOR_S, RING_S = latencies_s()[0], latencies_s(topology="ring")[0]
TITLES = {
    "Tensor parallelism is faster for any number of inputs": (
        Fraction(max(C), 50 * 10**9) > TENSOR_S  # the pipeline takes more for each input
    ),
    "Split every layer over all four nodes, or give each node a layer": (
        len(C) == SYSTEM.nodes and all(layer.filters % SYSTEM.nodes == 0 for layer in NETWORK)
    ),
    "The pipeline waits for node 2: it has 38 % of the operations, not 25 %": (
        C[1] == max(C) and C[1] / 50e9 > max(A) / 2e9 and round(100 * C[1] / sum(C)) == 38
    ),
    "Tensor parallelism is 3 % above the lower bound, the pipeline 60 %": (
        [round(100 * it / (32 * BOUND_S)) for it in latencies_s(32)] == [103, 160]
    ),
    "No node can hold all weights, so data parallelism is impossible": (
        sum(WEIGHT_BYTES) > 512 * 1024
    ),
    "On a one-way ring, tensor parallelism sends for three times as long": (
        RING_S - BOUND_S == 3 * (TENSOR_S - BOUND_S)
    ),
}


@pytest.mark.parametrize(("number", "title"), list(enumerate(TITLES)))
def test_a_title_is_true(pages, number, title):
    assert title in find_text(pages[number])
    assert TITLES[title]


def test_tensor_parallelism_fits_unless_inputs_are_kept_and_the_pipeline_does_not():
    weights = sum(WEIGHT_BYTES) // 4
    assert weights + 230_400 + 200_704 // 4 <= 512 * 1024 < weights + 230_400 + 200_704
    assert 294_912 + 230_400 + 200_704 > 512 * 1024  # node 2 of the pipeline


def test_overlap_would_save_at_most_what_page_2_says():
    assert Fraction("3") < 32_000 * (TENSOR_S - BOUND_S) <= Fraction("3.01")


def find_faster(inputs, topology, bandwidth):
    tensor_s, pipeline_s = latencies_s(inputs, topology=topology, link_bytes_per_s=bandwidth)
    return "tensor" if tensor_s < pipeline_s else "pipeline"


FLIPS = [  # what page 4 says, bytes/s of one of it, and which is faster below and above
    ("0.0204", 10**9, "all-to-all", ["tensor", "pipeline"]),
    ("0.0926", 10**9, "all-to-all", ["pipeline", "tensor"]),
    ("1.0", 2 * 10**7, "all-to-all", ["tensor", "pipeline"]),  # % of 2 GB/s
    ("4.6", 2 * 10**7, "all-to-all", ["pipeline", "tensor"]),
    ("0.298", 10**9, "ring", ["pipeline", "tensor"]),
]


@pytest.mark.parametrize(("said", "unit", "topology", "faster"), FLIPS)
def test_the_verdict_flips_within_half_a_digit_of_what_page_4_says(said, unit, topology, faster):
    half = Fraction(1, 2 * 10 ** len(said.partition(".")[2]))
    edges = [unit * (Fraction(said) - half), unit * (Fraction(said) + half)]
    assert [find_faster(32, topology, edge) for edge in edges] == faster


EQUAL = 101  # inputs, which page 1 says


@pytest.mark.parametrize(("inputs", "faster"), [(EQUAL - 1, "tensor"), (EQUAL, "pipeline")])
def test_with_equal_layers_the_pipeline_would_be_faster(inputs, faster):
    """Of the same sums of C and A: 12.43531264 ms, and 3.03330816 for each further input."""
    pipeline_s = latencies_s()[1] + (inputs - 1) * max(BOUND_S, Fraction(max(A[:-1]), 2 * 10**9))
    assert (pipeline_s < inputs * TENSOR_S) == (faster == "pipeline")


def test_if_tensor_parallelisms_sends_overlapped_too_it_would_not_flip():
    """Its pace would be all computing or all sends, each less than the pipeline's."""
    assert sum(C) / 4 < max(C) and sum(A) / 4 < max(A[:-1])


@pytest.mark.parametrize("topology", ["all-to-all", "ring"])
def test_for_1_input_it_flips_at_no_bandwidth(topology):
    """On slow links bytes decide, on fast ones operations: both are fewer."""
    assert {find_faster(1, topology, 10**power) for power in range(19)} == {"tensor"}
    assert sum(A) * (3 if topology == "ring" else 1) < 4 * sum(A[:-1])


def test_a_ring_passes_shards_on(pages):
    """Boxes row by row and arrows clockwise, of three steps: a node sends its own shard first, then
    each that has arrived."""
    holds, sends = {node: [node] for node in "abcd"}, {node: node for node in "abcd"}
    text = find_text(pages[5])
    for step in (1, 2, 3):
        boxes = [" ".join(sorted(holds[node])) for node in "abdc"]
        arrows = [sends[node] for node in "abcd"]
        wanted = f"ring step {step} {' '.join([*boxes, *arrows])} "
        assert wanted in text
        sends = {node: sends[before] for before, node in zip("dabc", "abcd", strict=True)}
        for node, shard in sends.items():
            holds[node].append(shard)
    assert all(len(held) == 4 for held in holds.values())


# ------------------------------------------------ diagrams


def find_alternatives(reader):
    """Find the alternative texts of figures, by the words with which they begin."""
    elements = find_elements(reader.trailer["/Root"]["/StructTreeRoot"])
    texts = [element["/Alt"] for element in elements if element["/S"] == "/Figure"]
    return {re.split("[:,]", text)[0]: text for text in texts} | {
        text.partition(":")[0]: text for text in texts
    }


def count_arrowheads(page):
    """Count the filled triangles of a page: paths whose box is as small as an arrow's head."""
    boxes = [it.get_bounds() for it in page.get_objects([FPDF_PAGEOBJ_PATH])]
    sizes = [(right - left, top - bottom) for left, bottom, right, top in boxes]
    return sum(min(size) > 3 and max(size) < 7.2 for size in sizes)


def test_arrows_are_as_many_as_messages(pages):
    # to an exchange from each of 4 nodes after 4 layers, from it to each before 3, to the output;
    # of the pipeline three sends
    assert count_arrowheads(pages[1]) == 4 * 4 + 3 * 4 + 1 + 3
    # 12 links, 3 steps of 4 sends, 3 sends of the pipeline
    assert count_arrowheads(pages[5]) == 12 + 3 * 4 + 3


def test_alternative_texts_of_the_ring_are_what_is_drawn(pages, reader):
    """A step's text names what each node holds and sends, as the boxes and arrows do."""
    texts, drawn = find_alternatives(reader), find_text(pages[5])
    for step in (1, 2, 3):
        told = re.findall(r"the node with ([a-d, ]+) sends ([a-d])", texts[f"Ring, step {step}"])
        holds = [held.replace(", ", " ") for held, _ in told]
        boxes = [holds[node] for node in (0, 1, 3, 2)]  # row by row
        arrows = [sent for _, sent in told]
        assert f"ring step {step} {' '.join([*boxes, *arrows])} " in drawn
    sends = re.findall(r"(\d) to (?:layer )?(\d)", texts["Pipeline"].replace("sends to", "to"))
    assert sends == [("1", "2"), ("2", "3"), ("3", "4")]
    assert "each of four nodes sends its shard to the three others" in texts["All-to-all"]


def test_alternative_texts_of_page_2_are_what_is_drawn(reader):
    texts = " ".join({*find_alternatives(reader).values()})
    assert "after layers 1 to 3 an all-gather, after layer 4 a gather" in texts
    assert "nodes 1 to 3 send to the next node; the output stays on node 4" in texts
