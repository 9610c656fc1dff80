"""What the deck says: each number where it stands, worked out by hand; and each claim, which holds
for the lab and just inside its bounds, but not just outside them, so that it can fail."""

import re
from collections.abc import Callable
from fractions import Fraction
from io import BytesIO
from itertools import pairwise, permutations

import pypdfium2
import pytest
from pypdf import PdfReader

import lab3
from oracles.simulation import Machine
from report import pictures, plans, schedule, steps, streaming
from report.analysis import Analysis, balanced_pipeline_latency
from report.deck import build, facts
from report.question import LAB

# ------------------------------------------------ what is read

# Of each page in reading order: numbers, their units, signs of sums, formulas, strategies, heads of
# tables.
# Behind a # stands the working. The foot of each page is left out.
PAGES = {
    1: """
        tensor 32 100.07 ms 155.79 ms
        1 3.98 times pipeline           # 12.43531264 / 3.12726016 = 3.9764...
        32 1.56 times pipeline          # 155.7861376 / 100.07232512 = 1.5567...
        3.18 times bytes 1 3            # 1,923,072 / 604,160 = 3.1830...
        Q1 1 Q2 32 latency s traffic bytes latency s traffic bytes
        tensor 0.00312726016 1,923,072 0.10007232512 61,538,304     # from page 3's sums
        pipeline 0.01243531264 604,160 0.15578613760 19,333,120
        1 32 tensor latency 32          # 0.10007232512 / 0.00312726016
        pipeline 12.5 traffic 32        # 0.1557861376 / 0.01243531264 = 12.5277...
        tensor 93.95 µs 302.08 12
        tensor pipeline 2 4.62 ms tensor 3.13 ms tensor 5
        Q3 data  Q4 ring tensor communication pipeline  latency
    """,
    2: """
        bytes = times + 1
        seconds bytes
        tensor compute 1 C/(PR)  all-gather = A/P S/B P(P 1 )S  gather S/B (P 1 )S
        pipeline C/R  send A/B
        A, bytes weights, bytes
        # 128 * x * y * 2; 128 * channels * 3 * 3 * 2; its half * 2 * x * y
        1 128 30 30 230,400 6,912 6,220,800
        2 128 28 28 200,704 294,912 231,211,008
        3 128 26 26 173,056 294,912 199,360,512
        4 128 24 24 147,456 294,912 169,869,312
        891,648 606,661,632
        = 2 1 2 6,912 2 30              # 2 * 128 * 3 * 3 * 3 * 30 * 30 = 6,220,800
        16 1 3 32 32 6,144 bytes        # 3 * 32 * 32 * 2
        1 2 3 4  1 2 3 4  1 2 3 4  1 2 3 4  1 2 4 3     # layers and nodes in diagrams
        = 4 12 = 50 10 = 2 10 bytes
        tensor 32 128 times communication 3 % 4 pipeline  3 times
    """,
    3: """
        Q1 Q2 pipeline 4.62 ms tensor 3.13 ms
        tensor pipeline compute µs all-gather gather µs bytes compute µs send µs bytes
        # operations / 200,000 us, shards / 2,000 us, 12 or 3 shards
        # operations / 50,000 us, outputs / 2,000 us
        1    31.10400 28.80000 691,200    124.41600 115.20000 230,400
        2 1,156.05504 25.08800 602,112  4,624.22016 100.35200 200,704
        3   996.80256 21.63200 519,168  3,987.21024  86.52800 173,056
        4   849.34656 18.43200 110,592  3,397.38624
        3,033.30816 93.95200 1,923,072  12,133.23264 302.08000 604,160
        1 µs 3,033.30816 + 93.95200 = 3,127.26016  12,133.23264 + 302.08000 = 12,435.31264
        32 µs 32 3,127.26016 = 100,072.32512  12,435.31264 + 31 4,624.22016 = 155,786.13760
        32 bytes 32 1,923,072 = 61,538,304  32 604,160 = 19,333,120
        1-4  1 1 1  2 2 2  3 3 3  4 4 4  5  tensor 3.13 ms 3.13 ms
        0 2 4 6 8 10 12  1 2 3 4  ms  1 2 3  1 2  1  pipeline 12.44 ms 4.62 ms
        1 2 4 pipeline 1 2 latency
    """,
    4: """
        32 tensor 3 % pipeline 60 %     # 100.072 / 97.066 = 1.0309..., 155.786 / 97.066 = 1.6049...
        100.072 ms 155.786 ms 97.066 ms tensor pipeline
        97.066 ms compute 97.066 ms 50.909 ms communication 3.006 ms 7.509 ms 0.302 ms
        32 606,661,632 4 50 10 s = 97.066 ms
        tensor 3 % communication 32 93.95 µs = 3.006 ms     # 32 * 93.952 = 3,006.464
        pipeline 60 % 2 38 %            # 231,211,008 / 606,661,632 = 0.3811...
        2 4,624.22 µs 3,033.31 32 4,624.22 3,033.31 µs = 50.909 ms      # 32 * 1,590.912
        12,133.23 4,624.22 µs = 7.509 ms 302.08 µs      # 7,509.01248
        32 4 + 31 3,033.31 µs = 106.166 ms 100.072      # 35 * 3,033.30816 = 106,165.7856
        97 100 3,033.31 < 97 3,127.26 µs    # 3 * 3,033.30816 is 96 to 97 times 93.952
    """,
    5: """
        Q3 data + + bytes
        222,912 + 230,400 + 50,176 = 503,488    # 891,648 / 4, layer 2's input, 200,704 / 4
        6,912 + 6,144 + 230,400 = 243,456
        294,912 + 230,400 + 200,704 = 726,016
        294,912 + 200,704 + 173,056 = 668,672
        294,912 + 173,056 + 147,456 = 615,424
        891,648 + 230,400 + 200,704 = 1,322,752
        524,288 bytes                   # 512 * 1,024
        tensor pipeline 1 pipeline 2 pipeline 3 pipeline 4 data
        891,648 bytes 524,288 tensor
        367,360 bytes                   # 891,648 - 524,288
        pipeline 2 4 3 2
        294,912 + 3 230,400 30 + 200,704 = 518,656
        3 4 489,472                     # 294,912 + 3 * 200,704 / 28 + 173,056
        462,336                         # 294,912 + 3 * 173,056 / 26 + 147,456
        4.62 ms 3.13
        32 4,718,592 bytes 2,097,152    # 32 * 147,456, 4 * 524,288
    """,
    6: """
        Q4 ring tensor communication pipeline  1 2 4 3
        tensor pipeline 1 all-to-all ring all-to-all ring
        communication µs 93.952 281.856 302.080         # 3 * 93.952
        latency µs 3,127.260 3,315.164 12,435.313       # 3,033.30816 + 281.856
        traffic bytes 1,923,072 2,033,664 604,160       # 1,923,072 + 110,592
        tensor times all-gather gather
        32 communication 9.019 ms 3.006         # 32 * 281.856 = 9,019.392
        latency 6.0 % send bytes gather      # 187.904 / 3,127.26016 = 0.0600...
        pipeline ring times bytes
        + 4.9 % latency 1               # 2 * 302.08 / 12,435.31264 = 0.0485...
        + 0.4 % 32                      # 2 * 302.08 / 155,786.1376 = 0.0038...
        tensor 3,315.164 µs pipeline 2 4,624.22  4 12
    """,
}
TOKEN = re.compile(
    r"[CAS]/(?:\(PR\)|[PRB]\b)|P?\(P\b|\)S|seconds|(?:A|weights), bytes|"
    r"Q\d|1-4|\d[\d,.]*\d|\d|[+=<%]|(?<!\S)[mµ]?s\b|"
    r"\b(?:bytes|times|[Tt]ensor|[Pp]ipeline|data|latency|traffic|compute|send|"
    r"communication|all-gather|gather|ring|all-to-all)\b"
)
MOST_WORDS = [230, 290, 260, 200, 200, 200]


@pytest.fixture(scope="module")
def pdf():
    return build.build(dict.fromkeys(build.BYLINE, ""))["slides.pdf"]


def page_text(pdf, number):
    return pypdfium2.PdfDocument(pdf)[number - 1].get_textpage().get_text_range()


@pytest.mark.parametrize("number", PAGES)
def test_each_number_of_a_page_is_in_its_place(pdf, number):
    text, foot, _ = page_text(pdf, number).partition("Lab 3: distributed")
    wanted = " ".join(line.split("#")[0] for line in PAGES[number].splitlines())
    assert foot and " ".join(TOKEN.findall(text)).lower().split() == wanted.lower().split()


@pytest.mark.parametrize(("number", "most"), [*enumerate(MOST_WORDS, 1)])
def test_a_page_has_few_words(pdf, number, most):
    assert len(page_text(pdf, number).split()) <= most


def test_letters_have_three_sizes(pdf):
    sizes = set()

    def note(text, cm, tm, _, size):
        if text.strip():
            sizes.add(size * abs(cm[3] * tm[3]))

    for page in PdfReader(BytesIO(pdf)).pages:
        page.extract_text(visitor_text=note)
    assert {round(size, 3) for size in sizes} == {13.5, 17, 24}


def test_the_readmes_alternative_text_has_numbers_of_page_1(pdf):
    readme = (build.HERE.parents[1] / "README.md").read_text()
    [alt] = re.findall(r"!\[([^]]+)\]\(report/results.png\)", readme)
    numbers = re.findall(r"\d[\d,.]*\d", alt)
    assert len(numbers) > 8 and {*numbers} <= {*TOKEN.findall(page_text(pdf, 1))}


def test_every_fact_is_said():
    words = (build.HERE / "slides.typ").read_text()
    said = set(re.findall(r"\bf\.([a-z]+(?:-[a-z0-9]+)*)", words))
    assert set(facts.facts(Analysis(LAB))) == said


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (Fraction(1, 8), 2, "0.12"),
        (Fraction(3, 8), 2, "0.38"),
        (1234567, 0, "1,234,567"),
        (Fraction(999_996, 1000), 2, "1,000.00"),
    ],
)
def test_a_number_is_rounded_once_and_grouped(value, places, text):
    assert facts.said(value, places) == text


# ------------------------------------------------ what is claimed


def claim(inside=(), outside=()):
    """A test that the decorated condition holds for the lab and inside, and not outside."""

    def decorate(condition: Callable[[Analysis], bool]):
        @pytest.mark.parametrize("question", [LAB, *inside, *outside])
        def test(question):
            assert condition(Analysis(question)) == (question not in outside)

        return test

    return decorate


def sram(*sizes):
    return [LAB.on(sram_bytes=size) for size in sizes]


def links(*mb_per_s):
    return [LAB.on(link_bytes_per_s=mb * 10**6) for mb in mb_per_s]


def inputs(*counts):
    return [LAB._replace(inputs=count) for count in counts]


def node_2_s(it):
    return Fraction(it.network[1].ops) / it.system.ops_per_s


def tensor_steps(it, **changes):
    [found] = steps.tensor_parallel_stages(*it.question.on(**changes)[:2])
    return found


RING = LAB.on(topology="ring")

# page 1; 3,033.30816 us and 187,904 bytes, against 4,624.22016 us
test_node_2_alone_takes_longer_than_tensor_parallelism = claim(links(119), links(118))(
    lambda it: it.result("tensor", 1).latency_s < node_2_s(it)
)
test_an_output_goes_to_three_nodes_and_the_last_is_gathered = claim([], [LAB.on(nodes=8)])(
    lambda it: (
        it.result("tensor", 1).traffic_bytes
        == 3 * it.result("pipeline", 1).traffic_bytes + 3 * it.network[3].output_bytes // 4
    )
)


@claim([], [RING])
def test_all_gathers_use_all_12_links_at_once(it):
    plan = plans.strategy_plans(*it.question[:2])["tensor"]
    jobs = [job for job in schedule.schedule(*it.question[:2], plan) if job.work == "all-gather"]
    return {len(job.where) for job in jobs} == {12}


# page 3; layer 1's output takes as long as node 2 at 49.8 MB/s
@claim(links(50), links(49))
def test_node_2_sets_the_pipelines_pace(it):
    return it.result("pipeline", 1).interval_s == node_2_s(it)


def test_short_bars_of_the_timeline_without_a_number_are_layer_1():
    lanes = pictures.timeline(Analysis(LAB), until_s=build.TIMELINE_S).figure.axes
    numbers = [[it.get_text() for it in axes.texts if it.get_text().isdigit()] for axes in lanes]
    # until 13.5 ms layers 2 to 4 of inputs 1 to 4, and layer 2 of input 5; nodes 2 to 4
    assert [*map(sorted, numbers)] == [sorted("111222333444" + "5"), sorted("123" + "12" + "1")]


def test_the_pipelines_node_1_starts_just_in_time_for_node_2():
    jobs = schedule.schedule(*LAB[:2], plans.strategy_plans(*LAB[:2])["pipeline"], 32)
    arrived_s = {job.input: job.end_s for job in jobs if job[1:3] == ("send", 1)}
    started_s = {job.input: job.start_s for job in jobs if job[1:3] == ("compute", 2)}
    assert arrived_s == started_s


# page 4; each input's imbalance is 1,590.912 us, the rest 7,811.09248
test_the_pipelines_distance_is_mostly_load_imbalance = claim(inputs(5), inputs(4))(
    lambda it: (
        2 * it.losses.load_imbalance_s
        > it.result("pipeline", it.inputs).latency_s - it.lower_bound_s
    )
)
test_up_to_96_inputs_four_equal_stages_are_slower = claim(inputs(96), inputs(97))(
    lambda it: balanced_pipeline_latency(*it.question) > it.result("tensor", it.inputs).latency_s
)

# page 5
test_no_node_can_hold_all_weights = claim(sram(891_647), sram(891_648))(
    lambda it: sum(layer.weight_bytes for layer in it.network) > it.system.sram_bytes
)
test_tensor_parallelism_fits = claim(sram(503_488), sram(503_487))(
    lambda it: it.sram["tensor"].fullest.fits
)
test_whole_tensors_do_not_fit_nodes_2_to_4 = claim(sram(243_456, 615_423), sram(243_455, 615_424))(
    lambda it: (
        [use.total_bytes > it.system.sram_bytes for use in it.sram["pipeline"].uses]
        == [False, True, True, True]
    )
)
test_with_three_rows_of_their_inputs_they_fit = claim(sram(518_656), sram(518_655))(
    lambda it: all(
        layer.weight_bytes + 3 * layer.input_bytes // layer.y + layer.output_bytes
        <= it.system.sram_bytes
        for layer in it.network[1:]
    )
)
test_all_outputs_exceed_all_sram = claim(inputs(15), inputs(14))(
    lambda it: it.inputs * it.network[3].output_bytes > 4 * it.system.sram_bytes
)


def test_rows_sent_once_computed_cut_the_pipelines_latency_but_not_to_node_2s_time():
    for count in (1, 32):
        case = lab3.NETWORK, lab3.SYSTEM, count
        streamed_s = streaming.streamed_latency("pipeline", *case)
        least_s = count * Fraction("0.00462422016")
        assert least_s < streamed_s < lab3.pipeline_parallel_latency(*case)


# page 6; 3,033.30816 us and 563,712 bytes, against 4,624.22016 us
test_tensor_parallelism_stays_faster_on_a_ring = claim(links(355), links(354))(
    lambda it: it.result("tensor", 1, "ring").latency_s < node_2_s(it)
)


@claim([], [LAB.on(nodes=2), LAB.on(nodes=8)])
def test_on_a_ring_exchanges_take_three_times_as_long_and_gathers_send_twice_the_bytes(it):
    here, there = tensor_steps(it), tensor_steps(it, topology="ring")
    times = [b.link_bytes / a.link_bytes for a, b in zip(here, there, strict=True) if a.link_bytes]
    sent = [b.traffic_bytes / a.traffic_bytes for a, b in zip(here, there, strict=True) if a[4]]
    return times == [3, 3, 3, 3] and sent == [1, 1, 1, 2]


def test_on_a_ring_nothing_changes_for_the_pipeline():
    here, there = (Analysis(LAB).result("pipeline", 32, name) for name in ("all-to-all", "ring"))
    assert here._replace(topology="ring") == there
    jobs = schedule.schedule(*LAB[:2], plans.strategy_plans(*LAB[:2])["pipeline"])
    links_used = {link for job in jobs if job.work == "send" for link in job.where}
    assert links_used == {"link 1 to 2", "link 2 to 3", "link 3 to 4"}


def test_in_reverse_the_worst_order_outputs_cross_three_links():
    def crossed(order):
        return [(after - before) % 4 for before, after in pairwise(order)]

    assert max(map(crossed, permutations(range(4)))) == crossed((3, 2, 1, 0)) == [3, 3, 3]


@pytest.mark.parametrize("count", [1, 32])
def test_in_reverse_the_pipeline_takes_twice_its_sends_longer(count):
    machine = Machine(RING.system)

    def work():
        for node, layer in zip((3, 2, 1, 0), lab3.NETWORK, strict=True):
            yield from machine.compute(node, layer.ops)
            if node:
                way = [(node + step) % 4 for step in range(4)]
                yield from machine.deliver(way, layer.output_bytes)

    more_s = machine.run([work() for _ in range(count)]) - lab3.pipeline_parallel_latency(
        lab3.NETWORK, lab3.SYSTEM, count
    )
    assert more_s * 10**6 == 2 * Fraction("302.08")
    assert sum(machine.link_bytes.values()) == count * 3 * 604_160
