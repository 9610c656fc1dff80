# ruff: noqa: RUF001 (the sign of multiplication is meant)
"""What the pages say, in words, numbers, structure and colours; expected values are by hand."""

import re

import pytest

from reading import Deck, children

TENSOR, PIPELINE, PLAN, ALARM = 0x0069A6, 0xB34700, 0x00704F, 0xC00020

# ------------------------------------------------ the whole

TITLES = [
    "Results, Q1 and Q2 Use tensor parallelism: 32 inputs take 100.07 ms, not 155.79 ms",
    "Approach The model: all steps for the first input, the longest stage for each more",
    "Analysis of Q1 and Q2 The pipeline waits for node 2: an output every 4.62 ms, not 3.13 ms",
    "Analysis for 32 inputs Tensor parallelism is 3 % above the limit, pipeline parallelism 60 %",
    "Answer to Q3 No node can hold all weights, so the network has to be distributed",
    "Answer to Q4 A ring triples the communication time of tensor parallelism only",
]


def test_six_pages_of_16_to_9(deck):
    sizes = [page.mediabox for page in deck.reader.pages]
    assert [float(size.width / size.height) for size in sizes] == [
        pytest.approx(16 / 9, rel=1e-3)
    ] * 6


@pytest.mark.parametrize(("page", "title"), list(enumerate(TITLES, 1)))
def test_titles_and_feet(deck, page, title):
    assert deck.texts[page - 1].startswith(title)
    assert deck.texts[page - 1].endswith(f"Lab 3: distributed CNN inference {page} / 6")


def test_pages_are_not_crowded(deck):
    words = [len(re.findall(r"[^\W\d_]{2,}", text)) for text in deck.texts]
    assert max(words) <= 240, words


def test_no_name_is_invented(deck):
    assert deck.reader.metadata.author is None


def test_committed_files_are_what_is_built(built, committed, deck):
    old = Deck(committed["slides.pdf"])
    assert old.texts == deck.texts
    assert old.alternatives == deck.alternatives
    assert [kind for kind, _ in old.elements] == [kind for kind, _ in deck.elements]
    for page in range(1, 7):
        differ = old.page(page).pixels != deck.page(page).pixels
        assert differ.mean() < 1e-3, page
    assert committed["results.png"] == built["results.png"]


# ------------------------------------------------ structure


def test_it_is_accessible(deck):
    root = deck.reader.trailer["/Root"]
    assert root["/Lang"] == "en"
    assert b"pdfuaid:part" in root["/Metadata"].get_data()
    kinds = [kind for kind, _ in deck.elements]
    assert kinds.count("/H1") == 6
    assert kinds.count("/Table") == 5
    assert kinds.count("/Figure") == 9
    assert all("/Alt" in element for kind, element in deck.elements if kind == "/Figure")


def test_text_is_in_paragraphs_titles_and_tables(deck):
    for kind, element in deck.elements:
        if kind in ("/Document", "/Div", "/Sect", "/Table", "/TR"):
            kids = element["/K"] if isinstance(element["/K"], list) else [element["/K"]]
            assert len(children(element)) == len(kids), kind


def test_rows_have_headers(deck):
    rows = [children(element) for kind, element in deck.elements if kind == "/TR"]
    scopes = [
        [next((it["/Scope"] for it in cell.get("/A", ()) if "/Scope" in it), "") for cell in row]
        for row in rows
    ]
    heads = [row for row in scopes if set(row) == {"/Column"}]
    others = [row for row in scopes if row not in heads]
    assert (len(heads), len(others)) == (8, 20)
    assert all(row[0] == "/Row" and set(row[1:]) == {""} for row in others)
    for row in rows:
        assert row[0]["/S"] == "/TH"


def test_cells_name_the_headers_of_their_row_and_columns(deck):
    tree = deck.reader.trailer["/Root"]["/StructTreeRoot"]["/IDTree"]["/Names"]
    assert tree[::2] == sorted(set(tree[::2]))
    named = {name: it.get_object() for name, it in zip(tree[::2], tree[1::2], strict=True)}
    cells = 0
    for row in (children(element) for kind, element in deck.elements if kind == "/TR"):
        for cell in row:
            if cell["/S"] == "/TD":
                *columns, head = (named[name] for name in cell["/A"][0]["/Headers"])
                assert head == row[0]
                assert {it["/A"][0]["/Scope"] for it in columns} == {"/Column"}
                cells += 1
    assert cells == 83


def test_no_header_is_empty(deck):
    heads = [element for kind, element in deck.elements if kind == "/TH"]
    assert all(element["/K"] for element in heads)


ALTERNATIVES = [  # what each must say, in this order, with nothing else between the numbers
    [
        "latency divided by the number of inputs",
        "1 input: tensor 3.13 pipeline 12.44 32 inputs: tensor 3.13 pipeline 4.87",
    ],
    ["sum of all steps, plus N minus 1 times the longest stage"],
    ["Nodes 1 to 4", "each way, 12 links"],
    [
        "first 26 ms of 32 inputs Tensor 3.13, 6.25, 9.38, 12.51, 15.64, 18.76, 21.89, 25.02 ms",
        "Pipeline 1, 2, 3 4 12.44, 17.06, 21.68, 26.31 ms 2 without a pause",
        "Dark outputs on links 0.09 to 0.12 ms",
    ],
    [
        "32 inputs limit 97.07 ms",
        "Whole tensors: tensor 100.07 ms balanced 106.17 ms layers 1 2 3 4 133.56 ms",
        "pipeline 155.79 ms imbalance 50.91 ms 7.51 ms fill and drain",
        "Rows streamed: tensor 97.07 ms pipeline 148.29 ms",
    ],
    [
        "32 inputs 28 plans",
        "0 bytes 388.26 ms 5,537,792 283.03 ms 6,422,528 241.16 ms 11,960,320 159.53 ms",
        "18,382,848 157.49 19,333,120 133.56 28,114,944 123.20 61,538,304 100.07 last is tensor",
        "Pipeline 155.79 ms for 19,333,120 bytes layers 1 2 3 4 133.56",
    ],
    [
        "SRAM of 524,288",
        "tensor: 222,912 + 230,400 + 50,176 = 503,488. tensor, rows streamed: 222,912 + 230,400",
        "1,792 = 455,104. pipeline, node 1: 6,912 + 6,144 + 230,400 = 243,456. pipeline, node 2:",
        "294,912 + 230,400 + 200,704 = 726,016, too much. pipeline, node 3: 294,912 + 200,704 +",
        "173,056 = 668,672, too much. pipeline, node 4: 294,912 + 173,056 + 147,456 = 615,424, too",
        "pipeline, rows streamed, node 4: 294,912 + 19,968 + 147,456 = 462,336. data: 891,648 +",
        "230,400 + 200,704 = 1,322,752, too much",
    ],
    ["Nodes 1 to 4", "each way, 12 links"],
    ["Nodes 1 to 4", "one-way ring", "from 1 to 2, 2 to 3, 3 to 4 and 4 to 1"],
    [
        "pipeline is faster for 32 inputs",
        "Whole tensors, all-to-all: 21 to 92 MB/s",
        "Whole tensors, one-way ring: up to 298 MB/s",
        "Rows streamed, all-to-all: never",
        "Rows streamed, one-way ring: surely up to 121 MB/s",
        "This lab: 2,000 MB/s",
    ],
]


def in_order(parts):
    """A pattern: the words and numbers of all parts, and no other number before the last."""
    words = " ".join(parts).split()
    return r"(?:(?![0-9]).)*?".join(
        re.escape(word) + (r"(?![0-9,.]*[0-9])" if word[-1].isdigit() else "") for word in words
    )


def test_alternative_texts_say_the_numbers(deck):
    assert len(deck.alternatives) == len(ALTERNATIVES)
    for text, parts in zip(deck.alternatives, ALTERNATIVES, strict=True):
        assert re.search(in_order(parts), text), text


# ------------------------------------------------ tables, cell after cell

ROWS = [
    (
        1,
        "Q1: 1 input Q2: 32 inputs The better of two is bold. latency, s traffic, bytes latency, s",
    ),
    (1, "Tensor parallelism 0.00312726016 1,923,072 0.10007232512 61,538,304"),
    (1, "Pipeline parallelism 0.01243531264 604,160 0.15578613760 19,333,120"),
    (2, "P = 4 nodes, 12 links R = 50 · 10⁹ operations/s a node B = 2 · 10⁹ bytes/s a link"),
    (2, "output A, bytes weights, bytes C, operations 1 128 × 30 × 30 230,400 6,912 6,220,800"),
    (2, "2 128 × 28 × 28 200,704 294,912 231,211,008"),
    (2, "3 128 × 26 × 26 173,056 294,912 199,360,512"),
    (2, "4 128 × 24 × 24 147,456 294,912 169,869,312 all 891,648 606,661,632"),
    (2, "ms inputs do not overlap GB/s are Gbit/s inputs start on one node a sender cannot"),
    (2, "a sender cannot compute neither sender nor receiver can compute tensor 100.07"),
    (2, "tensor 100.07 121.12 100.17 100.07 100.07"),
    (2, "pipeline 397.93 157.90 155.79 158.90 162.47"),
    (3, "Tensor parallelism Pipeline parallelism layer compute, µs exchange, gather, µs bytes"),
    (3, "compute, µs send, µs bytes 1 31.10400 28.80000 691,200 124.41600 115.20000 230,400"),
    (3, "2 1,156.05504 25.08800 602,112 4,624.22016 100.35200 200,704"),
    (3, "3 996.80256 21.63200 519,168 3,987.21024 86.52800 173,056"),
    (3, "4 849.34656 18.43200 110,592 3,397.38624 sum"),
    (3, "sum 3,033.30816 93.95200 1,923,072 12,133.23264 302.08000 604,160"),
    (3, "1 input, µs 3,033.30816 + 93.95200 = 3,127.26016 12,133.23264 + 302.08000 = 12,435.31264"),
    (3, "32 inputs, µs 32 · 3,127.26016 = 100,072.32512 12,435.31264 + 31 · 4,624.22016 ="),
    (3, "= 155,786.13760 32 inputs, bytes 32 · 1,923,072 = 61,538,304 32 · 604,160 = 19,333,120"),
    (6, "Tensor Pipeline 1 input, whole tensors all-to-all one-way ring either"),
    (6, "communication, µs 93.95200 281.85600 302.08000"),
    (6, "latency, µs 3,127.26016 3,315.16416 12,435.31264"),
    (6, "traffic, bytes 1,923,072 2,033,664 604,160"),
]


@pytest.mark.parametrize(("page", "row"), ROWS)
def test_rows_of_tables(deck, page, row):
    assert row in deck.texts[page - 1]


# ------------------------------------------------ sentences: words and numbers in this order

SENTENCES = [
    (1, "Tensor parallelism is 3.98 times as fast as pipeline for 1 input: all not one at a time"),
    (1, "Tensor parallelism is 1.56 times as fast as pipeline for 32 inputs: waits slowest node"),
    (1, "It sends 3.18 times the pipeline's bytes most parts of an output go to three nodes"),
    (1, "go to three nodes, but in 31 % of its time on links for 1 input, up to 12 work at once"),
    (1, "Latency ÷ number of inputs"),
    (1, "Recommendation. Split every layer faster only tensor whole tensors 524,288 bytes"),
    (1, "sent when all of it is computed (whole tensors) SRAM one input at a time"),
    (2, "C operations take C ÷ R a node A bytes take A ÷ B a link"),
    (2, "= ∑ steps + ( − 1) longest stage"),
    (2, "Tensor so each step takes C ÷ (P · R) exchange shards, the parts of an output, S = A ÷ P"),
    (2, "S = A ÷ P bytes in S ÷ B seconds, P · (P − 1) · S bytes in all"),
    (2, "after the last layer one node gathers them, (P − 1) · S bytes"),
    (2, "Pipeline C ÷ R except for the last layer, of A ÷ B"),
    (2, "weight, of 2 bytes, takes a MAC, 2 operations"),
    (2, "costs 27 operations in layer 1 and 1,152 in the others; while a link sends it a node"),
    (2, "while a link sends it, a node does R ÷ B = 25 operations"),
    (2, "change the latency of 32 inputs, not the winner"),
    (2, "one after another into the pipeline, since the handout next input while it passes one on"),
    (3, "Tensor parallelism keeps all nodes computing 97 % of the time"),
    (3, "In the pipeline only node 2 works without a pause; node 1 starts input just in time"),
    (3, "shard of layers 1 to 3 three nodes pipeline to one: 3 · 604,160 + 110,592 = 1,923,072"),
    (3, "The first 26 ms of 32 inputs; dark marks are outputs on links"),
    (4, "pipeline loses 50.91 ms to imbalance, as node 2 7.51 ms to fill and drain, 0.30 ms"),
    (4, "Equal stages without links (4 + 31) · 3.03331 = 106.17 ms"),
    (4, "Tensor parallelism is then 0.768 µs above the limit"),
    (4, "groups, each split by filters over 1, 2 or 4 nodes of its own, at most four in all: 28"),
    (4, "28 plans. Layers 1 2 on two nodes, 3 and 4"),
    (4, "3 and 4 on one each, send as much as the pipeline in 14 % less time"),
    (4, "14 % less time. No plan is faster than tensor parallelism"),
    (4, "fill and drain 7.51 ms"),
    (4, "no schedule is faster than 97.07 ms"),
    (4, "traffic, MB"),
    (4, "latency of 32 inputs, ms"),
    (4, "tensor parallelism, the only one that fits"),
    (5, "SRAM of a node: 524,288 bytes weights + input + output, bytes"),
    (5, "fullest, one input at a time, whole tensors unless said otherwise tensor layer 2: 50,176"),
    (5, "50,176 is a quarter of its output, 1,792 of one row"),
    (5, "rows streamed, the pipeline's node 4 needs most: 19,968 are three input rows"),
    (5, "weights are 891,648 bytes. A node holds 524,288 891,648 ÷ 4 = 222,912 fit"),
    (5, "Data parallelism? No: 367,360 bytes too many 32 output left on its node 97.07 ms, 3 %"),
    (5, "whole tensors no: on node 2 weights and input alone are 1,024 bytes too many"),
    (5, "With rows streamed yes, if a node sends a row only when the next one has room for it"),
    (5, "room for it: with 462,336 bytes on every node, 32 inputs still take 148.29 ms"),
    (5, "on the pipeline's first node all 32 inputs could wait, 196,608 bytes"),
    (5, "Beside tensor whole tensors only 3 more inputs can wait; with rows streamed, 11"),
    (5, "In no case can all outputs stay: 4,718,592 bytes, but all nodes hold 2,097,152"),
    (6, "Tensor one-way ring the busiest link three shards in turn"),
    (6, "each exchange and the gather take three times as long: +6 % latency, whole tensors"),
    (6, "Only the gather moves twice the bytes"),
    (6, "Pipeline parallelism: nothing changes"),
    (6, "For 32 inputs the pipeline is faster only on slow links"),
    (6, "bandwidth of links, MB/s (log scale)"),
    (6, "event simulation same latencies and bytes"),
    (6, "processes messages (MPI) give exactly the outputs of one process move the same bytes"),
    (6, "Twice the nodes, again all-to-all, would halve tensor latency, not the pipeline's"),
    (6, "pipeline's, as its four layers use only four nodes. In twice the SRAM its whole tensors"),
    (6, "twice the SRAM its whole tensors would fit, but it would be no faster"),
    (6, "ASTRA-sim once, ends the four cases of page 1 at the times given there, to 10 ps"),
]


# What a "not" would reverse, so without a gap; pypdf reads a formula's letters as they are.
CONCLUSIONS = [
    (1, "This is faster for any number of inputs, and of the two only tensor parallelism fits"),
    (1, "Inputs are where they are needed, an output is sent when all of it is computed"),
    (1, "Page 4 is on rows sent sooner, page 6 on a ring"),
    (2, "N inputs take 𝑇 = ∑ steps + (𝑁 − 1) ⋅ longest stage."),
    (2, "All wait for each other, so this is one stage."),
    (2, "to send its A bytes. Each step is a stage."),
    (2, "is read as one after another into the pipeline"),
    (3, "dark marks are outputs on links"),
    (3, "node 1 starts each further input just in time"),
    (4, "The limit is what all operations take on four nodes that never wait"),
    (4, "each row of an output is sent once it is computed"),
    (5, "and there is no DRAM"),
    (5, "if a node sends a row only when the next one has room for it"),
    (6, "since each node sends only to the next one"),
    (6, "as its four layers use only four nodes"),
]


@pytest.mark.parametrize(("page", "words"), CONCLUSIONS)
def test_conclusions(deck, page, words):
    assert words in deck.texts[page - 1]


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (0, "the latency divided by the number of inputs"),
        (3, "all four nodes work on the same input"),
        (5, "From left to right these are the best"),
        (9, "on which pipeline parallelism is faster"),
    ],
)
def test_what_alternative_texts_are_of(deck, at, words):
    assert words in deck.alternatives[at]


@pytest.mark.parametrize(("page", "words"), SENTENCES)
def test_sentences(deck, page, words):
    assert re.search(in_order([words.replace("'", "’")]), deck.texts[page - 1])


# ------------------------------------------------ what is seen


def test_the_better_figure_is_bold(deck):
    bold = {}

    def note(text, matrix, _, font, __):
        for number in re.findall(r"[0-9][0-9.,]{5,}", text):
            bold[number] = "Bold" in font["/BaseFont"]

    deck.reader.pages[0].extract_text(visitor_text=note)
    assert bold["0.00312726016"]
    assert bold["604,160"]
    assert bold["0.10007232512"]
    assert bold["19,333,120"]
    assert not bold["0.01243531264"]
    assert not bold["1,923,072"]
    assert not bold["0.15578613760"]
    assert not bold["61,538,304"]


def test_bars_of_page_1(deck):
    page = deck.page(1)
    bars = {
        name: page.bar(name)
        for name in (
            "1 input, tensor parallelism",
            "1 input, pipeline parallelism",
            "32 inputs, tensor parallelism",
            "32 inputs, pipeline parallelism",
        )
    }
    assert [colour for colour, _ in bars.values()] == [TENSOR, PIPELINE, TENSOR, PIPELINE]
    (_, unit), *_ = bars.values()
    shares = [length / unit for _, length in bars.values()]
    assert shares == pytest.approx(
        [1, 12.43531264 / 3.12726016, 1, 4.8683168 / 3.12726016], rel=0.02
    )


def test_bars_of_page_4(deck):
    page = deck.page(4)
    tensor, tensor_streamed = (page.bar("tensor parallelism", number) for number in (1, 2))
    pipeline, pipeline_streamed = (page.bar("pipeline parallelism", number) for number in (2, 3))
    plan = page.bar("layers 1-2 on two nodes, 3 and 4 on one each")
    bars = [tensor, plan, pipeline, tensor_streamed, pipeline_streamed]
    assert [colour for colour, _ in bars] == [TENSOR, PLAN, PIPELINE, TENSOR, PIPELINE]
    shares = [length / tensor[1] for _, length in bars]
    by_hand = [100.07, 133.56, 155.79, 97.07, 148.29]
    assert shares == pytest.approx([ms / 100.07 for ms in by_hand], rel=0.01)
    hollow, *_ = page.box("106.17 ms")
    solid, *_ = page.box("133.56 ms")
    _, top, right, bottom = page.box("perfectly balanced pipeline, links ignored")
    start = right + 6
    assert page.colour(start + 5, (top + bottom) / 2) == 0xFFFFFF
    assert page.text_colour("perfectly balanced pipeline, links ignored") == 0x595959
    assert (hollow - start) / (solid - start) == pytest.approx(106.17 / 133.56, rel=0.01)


@pytest.mark.parametrize(
    ("page", "words", "number", "colour"),
    [
        (1, "3.98 times", 1, TENSOR),
        (1, "Tensor parallelism", 3, TENSOR),
        (1, "Pipeline parallelism", 1, PIPELINE),
        (1, "1 input, pipeline parallelism", 1, PIPELINE),
        (2, "Pipeline parallelism", 1, PIPELINE),
        (3, "Tensor parallelism", 1, TENSOR),
        (4, "pipeline parallelism", 4, PIPELINE),
        (4, "tensor parallelism, the only one that fits", 1, TENSOR),
        (5, "tensor, each node", 1, TENSOR),
        (5, "294,912 + 230,400 + 200,704 = 726,016", 1, ALARM),
        (2, "tensor", 1, TENSOR),
        (2, "pipeline", 1, PIPELINE),
        (3, "pipeline", 2, PIPELINE),
        (6, "Pipeline parallelism", 1, PIPELINE),
        (6, "Tensor", 2, TENSOR),
        (6, "Pipeline", 2, PIPELINE),
    ],
)
def test_colours_of_words(deck, page, words, number, colour):
    assert deck.page(page).text_colour(words, number) == colour


def test_the_ring_has_fewer_arrows(deck):
    page = deck.page(6)
    dark = {}
    for name in ("all-to-all, 12 links", "one-way ring, 4 links"):
        left, top, right, _ = page.box(name)
        middle = (left + right) / 2
        points = [(middle + x, top - 57 + y) for x in range(-25, 26) for y in range(-25, 26)]
        dark[name] = sum(page.colour(*point) < 0x808080 for point in points)
    assert dark["one-way ring, 4 links"] == 0 < dark["all-to-all, 12 links"]


def test_page_2_shows_all_to_all(deck):
    """Of the two networks only it has arrows in the middle."""
    page = deck.page(2)
    (x, top, *_), (_, _, _, bottom) = page.box("2"), page.box("3")  # the right corners
    half, near = (bottom - top) / 2, range(-20, 21)
    middle = (page.colour(x - half + dx, top + half + dy) for dx in near for dy in near)
    assert any(colour < 0x808080 for colour in middle)


def test_what_is_too_much_is_red(deck):
    page = deck.page(5)
    left, _, right, _ = page.box("SRAM of a node: 524,288 bytes")
    line = (left + right) / 2
    rows = {
        name: page.box(name) for name in ("tensor, each node", "pipeline, node 2", "data, each")
    }
    beyond = {name: page.colour(line + 20, (box[1] + box[3]) / 2 + 4) for name, box in rows.items()}
    assert beyond["tensor, each node"] == 0xFFFFFF
    assert beyond["data, each"] == ALARM
    below = {
        name: page.colour(line - 60, (box[1] + box[3]) / 2) != 0xFFFFFF
        for name, box in rows.items()
    }
    assert all(below.values())
