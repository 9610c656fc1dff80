"""What the deck says: titles, and each figure in its place, worked out by hand; what diagrams show,
and the texts for those who cannot see them."""

import re

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("pypdf")
pytest.importorskip("pypdfium2")
pytest.importorskip("typst")

from pypdfium2.raw import FPDF_PAGEOBJ_PATH

# Of each page its title, then, in reading order, numbers of two digits or more, %, ms, us,
# strategies, and three and four in words. Behind a # is the working; the foot is left out.
PAGES = [
    """Tensor parallelism is faster for any number of inputs   # 3.127 < 4.624 ms for each input
        tensor 32
        tensor 0.00312726016 1,923,072 0.10007232512 61,538,304 32.0    # sums: page 3
        pipeline 0.01243531264 604,160 0.1557861376 19,333,120 12.5    # 155.786 / 12.435 = 12.52..
        tensor pipeline 3.98 3.18       # 12.43531264 / 3.12726016 = 3.9764..; 1,923,072 / 604,160
        1.56 3.18                       # 155.7861376 / 100.07232512 = 1.5567..
        10 32 100  10                   # axes
        3.03 3.13 3.13 12.44 4.87       # 606,661,632 / 200,000 us; 155.7861376 / 32 = 4.8683..
        tensor 3.13 pipeline 4.62 ms
        pipeline 4.624 7.811 ms         # 12.43531264 - 4.62422016 = 7.81109248
        38 % 25 % pipeline 101          # 231,211,008 / 606,661,632 = 0.3811..
        # of four equal layers 12,435.31264 + (N - 1) * 3,033.30816 < N * 3,127.26016 us: N > 100.07
        tensor 3.13 4.62 ms four three
        tensor pipeline  tensor pipeline
    """,
    """Split every layer over all four nodes, or give each node a layer
        four tensor 32 128 pipeline     # 128 / 4
        12 us 50 50,000 us 2,000 us     # giga is 10^9
        tensor 3.01 ms 32               # 32 * 93.952 us = 3.006464 ms
        16 pipeline 32 397.93 ms        # 32 * 12.43531264 = 397.93000448
    """,
    """The pipeline waits for node 2: it has 38 % of the operations, not 25 %
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
    """Tensor parallelism is 3 % above the lower bound, the pipeline 60 %
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
        # both take 97,065.86112 us + 6,012,928 bytes, and: 12,133.23264 us + 7,746,560 bytes, where
        # sends are the bottleneck; 155,484.0576 us + 604,160 bytes; of 2 GB/s 1.02 and 4.63 %
        32 pipeline 0.0204 0.0926 1.0 4.6 %
        0.0204 tensor 187,904 pipeline 230,400      # 57,600 + 50,176 + 43,264 + 36,864; output 1
        pipeline 0.298  # 97,065.86112 us + 3 * 6,012,928 bytes, and 155,484.0576 us + 604,160 bytes
    """,
    """No node can hold all weights, so data parallelism is impossible
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
    """On a one-way ring, tensor parallelism sends for three times as long
        12 tensor three  tensor 12 tensor four pipeline  us us
        tensor 93.95 3,127.26 1,923,072
        tensor 281.86 3,315.16 6.0 % 2,033,664  # 3 * 93.952; 187.904 / 3,127.26 = 0.0600..
        pipeline 302.08 12,435.31 604,160
        tensor three 9.02 ms 32 3.01 110,592 three  # 32 * 281.856; 3 * 36,864
        pipeline three three 4.9 % 0.4 % 32     # 604.16 / 12,435.3 = 0.0485.., / 155,786 = 0.0038..
        tensor 3.32 ms pipeline 4.62  four
    """,
]
TOKEN = re.compile(
    r"\d[\d,.]*\d|\d(?= %)|%|(?<!\w)[mµ]s\b|\b(?:three|four|tensor|pipeline)\b", re.IGNORECASE
)


def find_text(page):
    """Find a page's text without its foot."""
    text, foot, _ = page.get_textpage().get_text_range().partition("Lab 3: distributed")
    assert foot
    return " ".join(text.replace("\N{RIGHT SINGLE QUOTATION MARK}s", "").split())


@pytest.mark.parametrize("number", range(1, 7))
def test_a_page_has_its_title_and_each_figure_in_its_place(pages, number):
    lines = [line.partition("#")[0].strip() for line in PAGES[number - 1].splitlines()]
    text = find_text(pages[number - 1])
    assert lines[0] in text
    found = [token.lower().replace("µ", "u") for token in TOKEN.findall(text)]
    assert found == " ".join(lines[1:]).split()


# ------------------------------------------------ diagrams


@pytest.fixture(scope="module")
def alternatives(elements):
    """Find the alternative texts of the deck's figures."""
    return [element["/Alt"] for element in elements if element["/S"] == "/Figure"]


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


@pytest.mark.parametrize(
    ("step", "holds", "sends"),
    [(1, "a b c d", "abcd"), (2, "ad ab bc cd", "dabc"), (3, "acd abd abc bcd", "cdab")],
)
def test_a_ring_passes_shards_on(pages, alternatives, step, holds, sends):
    """A node, here clockwise, sends its own shard first, then each that has arrived."""
    nodes = holds.split()
    boxes = " ".join(" ".join(nodes[at]) for at in (0, 1, 3, 2))  # row by row
    assert f"ring step {step} {boxes} {' '.join(sends)} " in find_text(pages[5])
    told = [f"the node with {', '.join(it)} sends {s}" for it, s in zip(nodes, sends, strict=True)]
    assert f"Ring, step {step}: {'; '.join(told)}." in alternatives


def test_alternative_texts_say_what_pictures_show(alternatives):
    limits, tensor, pipeline, timeline, all_to_all, *_, ring_pipeline = alternatives
    assert "pipeline falls to 4.62" in limits and "tensor stays at 3.13" in limits
    assert "after layers 1 to 3 an all-gather, after layer 4 a gather" in tensor
    assert "nodes 1 to 3 send to the next node; the output stays on node 4" in pipeline
    assert "then one every 4.62 ms" in timeline
    assert "each of four nodes sends its shard to the three others" in all_to_all
    assert "layer 1 sends to layer 2, 2 to 3, 3 to 4" in ring_pipeline
