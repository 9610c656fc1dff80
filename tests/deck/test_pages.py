"""What the deck says: each number where it stands, worked out by hand; and each title, which is
true for a reason that is computed here in another way."""

import re
import unicodedata

import pytest

import lab3
from report.deck import build, facts
from report.question import LAB
from report.results import compute_results

# Of each page in reading order: numbers, some of them words, units and strategies. Behind a # is
# the working. The foot of each page is left out.
PAGES = {
    1: """
        1 2 tensor
        1 1 2 32 2 1  s bytes s bytes
        tensor 0.00312726016 1,923,072 0.10007232512 61,538,304 32.0    # sums: page 3
        pipeline 0.01243531264 604,160 0.15578613760 19,333,120 12.5    # 155.786 / 12.435 = 12.52..
        tensor 3.98 3.18                # 12.43531264 / 3.12726016 = 3.9764..; 1,923,072 / 604,160
        1.56 3.18                       # 155.7861376 / 100.07232512 = 1.5567..
        1 10 32 100  0 5 10             # axes
        3.03 3.13 3.13 12.44 4.87       # 606,661,632 / 200,000 us; 155.7861376 / 32 = 4.8683..
        tensor 3.13 pipeline 4.62
        ms pipeline 4.624 7.811 ms 2 4.624 ms   # 12.43531264 - 4.62422016 = 7.81109248
        tensor 3.13 4.62 ms four 1 3 three one 4
        tensor one pipeline  3  4 one tensor pipeline
    """,
    2: """
        four
        tensor 32 128 pipeline one      # 128 / 4
        1 2 3 4 1 2 3 4 1 3  1 2 3 4 1 2 3 4    # layers, nodes, all-gathers
        4 1  4 1 3 1 1                  # limits of sums, and N - 1
        1 1 2 3 4  1 2 3                # P - 1, S_1 to S_4, A_1 to A_3
        three 4
        us bytes 2 bytes 2 4 50 50,000 us 2 s 2,000 bytes us   # giga is 10^9
        16 1 one one tensor 3 %         # 93.952 / 3,127.26 = 0.0300..
        pipeline 397.93 ms 32           # 32 * 12.43531264 = 397.93000448
    """,
    3: """
        pipeline 2 2 38 %               # 231,211,008 / 606,661,632 = 0.3811..
        0 2 4 6 8 10 12 14 16 18  1 4 1 2 3 4 ms  1 2
        tensor 3.13 ms 1 2 3 4 5 6
        pipeline 12.44 ms one 4.62 ms 1 1 1 2 2 2 3 3 4
        1 tensor us bytes pipeline us bytes  bytes
        # 2 * 128 * channels * 3 * 3 * x * y; 2 * 128 * x * y
        # operations / 200,000 us, shards / 2,000 us, 12 or 3 shards
        # operations / 50,000 us, outputs / 2,000 us
        1 128 30 30   6,220,800 230,400    31.10400 28.80000 691,200    124.41600 115.20000 230,400
        2 128 28 28 231,211,008 200,704 1,156.05504 25.08800 602,112  4,624.22016 100.35200 200,704
        3 128 26 26 199,360,512 173,056   996.80256 21.63200 519,168  3,987.21024  86.52800 173,056
        4 128 24 24 169,869,312 147,456   849.34656 18.43200 110,592  3,397.38624 0 0
        606,661,632 3,033.30816 93.95200 1,923,072  12,133.23264 302.08000 604,160
        1 us 3,033.30816 93.95200 3,127.26016  12,133.23264 302.08000 12,435.31264
        32 us 32 3,127.26016 100,072.32512  12,435.31264 31 4,624.22016 155,786.13760
        32 bytes 32 1,923,072 61,538,304  32 604,160 19,333,120
        1 128 3 3 3 3,456 2 3,456 30 30 2 bytes 128 30 30 tensor 12 57,600  # 230,400 / 4
    """,
    4: """
        32 tensor 3 % pipeline 60 %     # 100.072 / 97.066 = 1.0309.., 155.786 / 97.066 = 1.6049..
        97.066 ms 32 606,661,632 4 50,000 us
        3.006 ms 32 93.95200 us         # 3,006.464
        tensor 100.072 ms 97.0 %        # 97.06586112 / 100.07232512 = 0.96995..
        97.066 ms
        50.909 ms 32 4,624.22016 3,033.30816 us     # 32 * 1,590.912 = 50,909.184
        7.509 ms 12,133.23264 4,624.22016 us        # 7,509.01248
        0.302 ms 302.08000 us
        pipeline 155.786 ms 62.3 %      # 97.06586112 / 155.7861376 = 0.62307..
        four
        2 87 %                          # 50.909184 / 58.72027648 = 0.8669..
        one 2
        bytes 12 three 1,923,072 bytes 93.952 us pipeline 604,160 bytes one 302.080 us
    """,
    5: """
        3
        bytes 524,288                   # 512 * 1,024; 20,800 below it, 201,728 above it
        tensor 222,912 230,400 50,176 503,488 20,800    # 891,648 / 4, layer 2's input, 200,704 / 4
        pipeline 1 6,912 6,144 230,400 243,456 280,832  # 3,456 weights, 3 * 32 * 32 values
        pipeline 2 294,912 230,400 200,704 726,016 201,728      # 128 * 128 * 3 * 3 weights
        pipeline 3 294,912 200,704 173,056 668,672 144,384
        pipeline 4 294,912 173,056 147,456 615,424 91,136
        891,648 230,400 200,704 1,322,752 798,464       # 6,912 + 3 * 294,912
        891,648 bytes 512 1,024 524,288
        367,360 bytes                   # 891,648 - 524,288
        tensor 654,016                  # 222,912 + 230,400 + 200,704
        891,648 4 222,912 bytes pipeline 2 4
        one tensor 2
        2 956,416                       # 726,016 + 230,400
        32 4,718,592 bytes 2,097,152    # 32 * 147,456, 4 * 524,288
    """,
    6: """
        4 4 one 12  one tensor three
        tensor one 12 tensor 1 2 one 3  # the ring's steps
        pipeline 1 2 4 3 one            # layers, clockwise
        1 us us bytes
        tensor 93.95200 3,127.26016 1,923,072
        tensor one 281.85600 3,315.16416 6.0 % 2,033,664    # 3 * 93.952, 1,923,072 + 110,592
        pipeline 302.08000 12,435.31264 604,160
        tensor three one one 32 9.02 ms 3.01    # 187.904 / 3,127.26 = 0.0600..; 32 * 281.856
        bytes 110,592 one three         # 3 * 36,864
        pipeline three bytes 4.9 % 1 0.4 % 32   # 604.16 / 12,435.3 = 0.0485.., / 155,786 = 0.0038..
        tensor 3.32 ms pipeline 4.62
    """,
}
TOKEN = re.compile(
    r"\d[\d,.]*\d|\d|%|(?<!\w)[mµ]?s\b|"
    r"\b(?:one|two|three|four|bytes|tensor|pipeline)\b",
    re.IGNORECASE,
)
MOST_WORDS = 160  # those in diagrams and tables, too


def find_text(page):
    """Without the foot."""
    text, foot, _ = page.get_textpage().get_text_range().partition("Lab 3: distributed")
    assert foot
    return " ".join(text.replace("\N{RIGHT SINGLE QUOTATION MARK}s", "").split())


@pytest.mark.parametrize("number", PAGES)
def test_each_number_of_a_page_is_in_its_place(pages, number):
    wanted = " ".join(line.split("#")[0] for line in PAGES[number].splitlines())
    found = [
        token.lower().replace("µ", "u") for token in TOKEN.findall(find_text(pages[number - 1]))
    ]
    assert found == wanted.split()


@pytest.mark.parametrize("number", PAGES)
def test_a_page_has_few_words(pages, number):
    """Symbols and numbers are none."""
    words = find_text(pages[number - 1]).split()
    assert sum(len(re.findall(r"[^\W\d_]", word)) > 1 for word in words) <= MOST_WORDS


def test_formulas_are_lab3s(pages):
    letters = "".join(unicodedata.normalize("NFKC", find_text(pages[1])).split())
    for formula in (
        "T=N\u22114l=1(ClPR+SlB)",
        "T=\u22114l=1ClR+\u22113l=1AlB+(N\u22121)maxl(ClR,AlB)",
        "D=N(P\u22121)(P(S1+S2+S3)+S4)",
        "D=N(A1+A2+A3)",
    ):
        assert formula in letters


def test_every_fact_is_said():
    words = (build.HERE / "slides.typ").read_text()
    assert {*re.findall(r"\bf\.([a-z]+(?:-[a-z0-9]+)*)", words)} == {
        *facts.compute_facts(compute_results(LAB))
    }


# ------------------------------------------------ titles

C = [6_220_800, 231_211_008, 199_360_512, 169_869_312]
A = [230_400, 200_704, 173_056, 147_456]
WEIGHT_BYTES = [6_912, 294_912, 294_912, 294_912]


def simulate_pipeline(inputs):
    """Seconds, by hand over each input: a node takes the next once it is done with this one."""
    free = [0.0] * 7
    for _ in range(inputs):
        now = 0.0
        steps = [C[0] / 50e9, A[0] / 2e9, C[1] / 50e9, A[1] / 2e9, C[2] / 50e9, A[2] / 2e9]
        for step, time_s in enumerate([*steps, C[3] / 50e9]):
            now = free[step] = max(now, free[step]) + time_s
    return now


def tensor_s(rounds=1):
    return sum(C) / 200e9 + rounds * sum(A) / 4 / 2e9


TITLES = {
    "Tensor parallelism is faster for any number of inputs": (
        tensor_s() < max(C) / 50e9  # of which the pipeline needs one per input
        and all(n * tensor_s() < simulate_pipeline(n) for n in (1, 2, 3, 32, 1000))
    ),
    "Split every layer over all four nodes, or give each node a layer": (
        len(C) == 4 and 128 % 4 == 0
    ),
    "The pipeline waits for node 2: layer 2 has 38 % of the operations": (
        C[1] == max(C) and C[1] / 50e9 > max(A) / 2e9 and round(100 * C[1] / sum(C)) == 38
    ),
    "Tensor parallelism is 3 % above the lower bound, the pipeline 60 %": (
        [round(100 * it / (32 * sum(C) / 200e9)) for it in (32 * tensor_s(), simulate_pipeline(32))]
        == [103, 160]
    ),
    "No node can hold all weights, so data parallelism is impossible": (
        sum(WEIGHT_BYTES) > 512 * 1024
    ),
    "On a one-way ring, tensor parallelism sends for three times as long": (
        abs((tensor_s(3) - tensor_s(0)) / (tensor_s() - tensor_s(0)) - 3) < 1e-9
        and lab3.pipeline_parallel_latency(lab3.NETWORK, lab3.System(topology="ring"), 32)
        == lab3.pipeline_parallel_latency(lab3.NETWORK, lab3.System(), 32)
    ),
}


@pytest.mark.parametrize(("number", "title"), list(enumerate(TITLES)))
def test_a_title_is_true(pages, number, title):
    assert title in find_text(pages[number])
    assert TITLES[title]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1, "only tensor parallelism fits"),
        (5, "Only tensor parallelism fits, if a layer input is dropped"),
    ],
)
def test_what_fits_is_said_with_its_condition(pages, number, words):
    weights = sum(WEIGHT_BYTES) // 4
    assert weights + 230_400 + 200_704 // 4 <= 512 * 1024 < weights + 230_400 + 200_704
    assert 294_912 + 230_400 + 200_704 > 512 * 1024  # node 2 of the pipeline
    assert words in find_text(pages[number - 1])


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
    assert all(len(held) == 4 for held in holds.values()) and "then has a to d" in text
