"""What the deck says: each number where it stands, worked out by hand; and each claim, which holds
for the lab and just inside its bounds, but not just outside them, so that it can fail."""

import re
import unicodedata
from collections.abc import Callable
from fractions import Fraction
from io import BytesIO
from itertools import chain, pairwise, permutations

import pypdfium2
import pytest
from pypdf import PdfReader

import lab3
from oracles.simulation import Machine
from report import pictures, schedule
from report.analysis import Analysis, strategy_stages
from report.deck import build, facts
from report.plans import STRATEGIES
from report.question import LAB

# ------------------------------------------------ what is read

# Of each page in reading order: numbers, also in words, their units, signs of sums, formulas,
# strategies, heads of tables. Behind a # stands the working. The foot of each page is left out.
PAGES = {
    1: """
        tensor 32 100.07 ms 155.79 ms
        Q1 1 Q2 32 latency s traffic bytes latency s traffic bytes
        tensor 0.00312726016 1,923,072 0.10007232512 61,538,304     # from page 3's sums
        pipeline 0.01243531264 604,160 0.15578613760 19,333,120
        latency 1 tensor 3.13 ms pipeline 12.44 ms
        tensor 3.98 times four          # 12.43531264 / 3.12726016 = 3.9764...
        latency 32 tensor 100.07 ms pipeline 155.79 ms
        1.56 times pipeline             # 155.7861376 / 100.07232512 = 1.5567...
        traffic 1 tensor 1.92 MB pipeline 0.60 MB
        3.18 times bytes 1 3 three one 4        # 1,923,072 / 604,160 = 3.1830...
        1 32 traffic tensor latency 32 pipeline latency 12.5    # 0.1557861376 / 0.01243531264
        tensor 3.13 ms 4.62 ms pipeline 2 tensor one 5 pipeline latency
        Q3 data  Q4 one ring triples tensor communication pipeline ring
    """,
    2: """
        compute pipeline tensor pipeline
        1 2 3 4  1 2 3 4  1 2 3 4  1 2 3 4      # layers and nodes in both diagrams
        seconds bytes  32 128 C/(PR)  all-gather S/B P(P 1 )S  gather one S/B (P 1 )S
        seconds bytes  128 C/R  A/B
        = 4 = 1 + = 4 = 1 + 3 = 1 + 1   # sums over 4 layers, the outputs of 3, and N - 1
        bytes = A/P = 4 = 50 10 = 2 10 bytes 4
        all-gather three gather one tensor communication 3 %    # 93.952 / 3,127.26 = 0.0300...
        pipeline
    """,
    3: """
        2 38 % pipeline 2               # 231,211,008 / 606,661,632 = 0.3811...
        tensor pipeline bytes compute µs gathers µs bytes compute µs send µs bytes
        # 2 * 128 * channels * 3 * 3 * x * y; 2 * 128 * x * y
        # operations / 200,000 us, shards / 2,000 us, 12 or 3 shards
        # operations / 50,000 us, outputs / 2,000 us
        1 128 30 30   6,220,800 230,400    31.10400 28.80000 691,200    124.41600 115.20000 230,400
        2 128 28 28 231,211,008 200,704 1,156.05504 25.08800 602,112  4,624.22016 100.35200 200,704
        3 128 26 26 199,360,512 173,056   996.80256 21.63200 519,168  3,987.21024  86.52800 173,056
        4 128 24 24 169,869,312 147,456   849.34656 18.43200 110,592  3,397.38624
        606,661,632 3,033.30816 93.95200 1,923,072  12,133.23264 302.08000 604,160
        1 µs 3,033.30816 + 93.95200 = 3,127.26016  12,133.23264 + 302.08000 = 12,435.31264
        32 µs 32 3,127.26016 = 100,072.32512  12,435.31264 + 31 4,624.22016 = 155,786.13760
        µs 32 12,435.31264 = 397,930.00448
        1 bytes 691,200 + 602,112 + 519,168 + 110,592 = 1,923,072
        230,400 + 200,704 + 173,056 = 604,160
        32 bytes 32 1,923,072 = 61,538,304  32 604,160 = 19,333,120
        1 128 128 3 3 3 = 3,456 = 2 = 2 3,456 30 30 = 2 bytes 128 30 30 16 1
        bytes 1 all-gather 12 gather three 93.95 µs pipeline 302.08 µs one
    """,
    4: """
        32 tensor 3 % pipeline 60 %     # 100.072 / 97.066 = 1.0309..., 155.786 / 97.066 = 1.6049...
        1 4  1 1 1  2 2 2  3 3 3  4 4 4  5 5 5  6 6  tensor 3.13 ms one 3.13 ms
        0 2 4 6 8 10 12 14 16 18  1 2 3 4  ms  1 1 1  2 2 2  3 3  4  pipeline 12.44 ms one 4.62 ms
        1 pipeline 2
        97.066 ms tensor pipeline
        compute 97.066 + communication 3.006 = 100.072 ms
        compute 97.066 50.909 + 7.509 + communication 0.302 = 155.786 ms
        four compute 32 606,661,632 4 50 10 s = 97.066 ms
        60 % 2 4,624.220 µs 3,033.308 32 1,590.912 µs = 50.909 ms
        one 12,133.233 4,624.220 µs = 7.509 ms  # 7,509.01248
        communication 32 93.952 µs = 3.006 ms pipeline one 302.080 µs   # 3,006.464
    """,
    5: """
        Q3 data + + bytes
        222,912 + 230,400 + 50,176 = 503,488    # 891,648 / 4, layer 2's input, 200,704 / 4
        6,912 + 6,144 + 230,400 = 243,456       # 3,456 weights and 3 * 32 * 32 values of 2 bytes
        294,912 + 230,400 + 200,704 = 726,016   # 128 * 128 * 3 * 3 weights of 2 bytes
        294,912 + 200,704 + 173,056 = 668,672
        294,912 + 173,056 + 147,456 = 615,424
        891,648 + 230,400 + 200,704 = 1,322,752 # 6,912 + 3 * 294,912
        524,288 bytes                   # 512 * 1,024
        tensor pipeline 1 pipeline 2 pipeline 3 pipeline 4 data
        891,648 bytes 512 1,024 = 524,288 bytes
        367,360 bytes                   # 891,648 - 524,288
        tensor 654,016 bytes pipeline 2 4 latency       # 222,912 + 230,400 + 200,704
        tensor data 2 one
        32 4,718,592 bytes 2,097,152 one        # 32 * 147,456, 4 * 524,288
    """,
    6: """
        Q4 one ring triples tensor communication pipeline ring  1 2 3 4
        tensor pipeline 1 all-to-all one ring all-to-all ring
        communication µs 93.952 281.856 302.080         # 3 * 93.952
        latency µs 3,127.260 3,315.164 12,435.313       # 3,033.30816 + 281.856
        traffic bytes 1,923,072 2,033,664 604,160       # 1,923,072 + 110,592
        all-gather one three
        tensor one three one
        32 communication 9.02 ms 3.01   # 32 * 281.856 = 9,019.392
        latency 6.0 % 187.904 3,127.260 µs      # 281.856 - 93.952, 0.0600...
        gather bytes gather + 110,592 one two three
        pipeline ring three three times bytes 2 302.080 µs
        4.9 % 1                         # 2 * 302.08 / 12,435.31264 = 0.0485...
        0.4 % 32                        # 2 * 302.08 / 155,786.1376 = 0.0038...
        tensor 3.32 ms pipeline 2 4.62
        4 one 12 one
    """,
}
TOKEN = re.compile(
    r"[CAS]/(?:\(PR\)|[PRB]\b)|P?\(P\b|\)S|seconds|"
    r"Q\d|\d[\d,.]*\d|\d|[+=<%]|(?<!\S)[mµ]?s\b|\bMB\b|"
    r"\b(?:one|two|three|four|twice|triples)\b|"
    r"\b(?:bytes|times|[Tt]ensor|[Pp]ipeline|data|[Ll]atency|[Tt]raffic|compute|send|"
    r"[Cc]ommunication|all-gather|gathers?|ring|all-to-all)\b"
)
MOST_WORDS = 245


def page_text(pdf, number):
    return pypdfium2.PdfDocument(pdf)[number - 1].get_textpage().get_text_range()


@pytest.mark.parametrize("number", PAGES)
def test_each_number_of_a_page_is_in_its_place(pdf, number):
    text, foot, _ = page_text(pdf, number).partition("Lab 3: distributed")
    wanted = " ".join(line.split("#")[0] for line in PAGES[number].splitlines())
    assert foot and " ".join(TOKEN.findall(text)).lower().split() == wanted.lower().split()


@pytest.mark.parametrize("number", PAGES)
def test_a_page_has_few_words(pdf, number):
    assert len(page_text(pdf, number).split()) <= MOST_WORDS


def test_formulas_are_lab3s(pdf):
    letters = "".join(unicodedata.normalize("NFKC", page_text(pdf, 2)).split())
    tensor = "T=N\u22c5\u22114l=1(ClPR+SlB)"
    pipeline = "T=\u22114l=1ClR+\u22113l=1AlB+(N\u22121)\u22c5maxl(ClR,AlB)"
    assert f"{tensor}{pipeline}C:" in letters


def test_letters_have_three_sizes_but_for_indices_and_limits_of_sums(pdf):
    sizes = {}

    def note(text, cm, tm, _, size):
        sizes.setdefault(round(size * abs(cm[3] * tm[3]), 3), []).append(text.strip())

    for page in PdfReader(BytesIO(pdf)).pages:
        page.extract_text(visitor_text=note)
    smaller = {size: "".join(texts) for size, texts in sizes.items() if any(texts)}
    assert [smaller.pop(size) for size in (15, 17, 24)]
    [letters] = smaller.values()
    assert {*unicodedata.normalize("NFKC", letters)} == {*"l=134"}


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


# ------------------------------------------------ numbers in words


def jobs(strategy, topology="all-to-all", inputs=1):
    network, system, _ = LAB.on(topology=topology)
    plan = STRATEGIES[strategy](network, system)
    return schedule.schedule(network, system, plan, inputs)


def busy(strategy, work, of="", topology="all-to-all"):
    """How many nodes or links every such job keeps busy, or those of them that match."""
    found = [job.where for job in jobs(strategy, topology) if job.work == work]
    [count] = {sum(bool(re.search(of, place)) for place in where) for where in found}
    return count


def ring_gather_shards():
    """How many shards each link carries when the last output is gathered on a ring."""
    shard_bytes = lab3.NETWORK[3].output_bytes // 4
    return [job.traffic_bytes // shard_bytes for job in jobs("tensor", "ring")[-3:]]


NAMES = ("no", "one", "two", "three", "four")
SENT_BY_NODE_2, RECEIVED_BY_NODE_1 = "2 to", "to 1"


@pytest.mark.parametrize(
    ("page", "words", "numbers"),
    [
        (1, "all {} nodes work on the same layer", [busy("tensor", "compute")]),
        (1, "go to {} nodes, not", [busy("tensor", "all-gather", SENT_BY_NODE_2)]),
        (1, "nodes, not {};", [busy("pipeline", "compute")]),
        (2, "sends its shard over {} links", [busy("tensor", "all-gather", SENT_BY_NODE_2)]),
        (2, "in the last gather, over {}.", [busy("tensor", "gather", SENT_BY_NODE_2)]),
        (2, "gather: {} gets all", [len({job.where[0][-1] for job in jobs("tensor")[-1:]})]),
        (3, "the last gather {}:", [busy("tensor", "gather")]),
        (3, "{} link at a time", [busy("pipeline", "send")]),
        (4, "no schedule beats {} nodes", [LAB.system.nodes]),
        (6, "over {} link only", [busy("tensor", "all-gather", RECEIVED_BY_NODE_1, "ring")]),
        (6, "the {} shards that it lacks", [LAB.system.nodes - 1]),
        (6, "cross {}, {} and {} links", ring_gather_shards()),
        (6, "carries the {} shards", [LAB.system.nodes - 1]),
    ],
)
def test_a_number_in_words_is_the_schedules(pdf, page, words, numbers):
    names = (NAMES[number] for number in numbers)
    assert words.format(*names) in " ".join(page_text(pdf, page).split())


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


def node_2_s(analysis):
    return Fraction(analysis.network[1].ops) / analysis.system.ops_per_s


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
test_only_tensor_parallelism_fits = claim(sram(503_488, 726_015), sram(503_487, 726_016))(
    lambda it: it.sram["tensor"].fullest.fits and not it.sram["pipeline"].fullest.fits
)


def test_all_but_the_pipelines_latency_grow_as_the_inputs():
    (one, one_pipeline), (tensor, pipeline) = (
        [Analysis(LAB).result(strategy, count) for strategy in STRATEGIES] for count in (1, 32)
    )
    assert tensor.latency_s == 32 * one.latency_s
    assert pipeline.latency_s < 32 * one_pipeline.latency_s
    for few, many in ((one, tensor), (one_pipeline, pipeline)):
        assert many.traffic_bytes == 32 * few.traffic_bytes


# page 2
def test_overlap_could_save_tensor_parallelism_at_most_its_communication():
    it = Analysis(LAB)
    tensor = it.result("tensor", 32)
    assert tensor.latency_s - it.lower_bound_s == 32 * tensor.communication_s


# The first three outputs are sent: the lab's pace is the same with any last one, of 10 MB as well.
def test_the_last_output_does_not_set_the_pipelines_pace():
    last = LAB.network[3]._replace(filters=128 * 70)  # 10 MB in 5 ms, computed in 0.24 s
    wide = LAB.on(ops_per_s=50 * 10**12)._replace(network=(*LAB.network[:3], last))
    sends_s = Fraction(last.output_bytes) / wide.system.link_bytes_per_s
    assert Analysis(wide).result("pipeline", 1).interval_s < sends_s


# page 3; layer 1's output takes as long as node 2 at 49.8 MB/s
test_node_2_sets_the_pipelines_pace = claim(links(50), links(49))(
    lambda it: it.result("pipeline", 1).interval_s == node_2_s(it)
)


# 93.952 us per input, against 302.08 us for any number
@pytest.mark.parametrize(("count", "is_less"), [(1, True), (3, True), (4, False)])
def test_more_bytes_take_less_time_for_one_input(count, is_less):
    it = Analysis(LAB._replace(inputs=count))
    sent, sent_pipeline = (it.result(strategy, count).traffic_bytes for strategy in STRATEGIES)
    tensor_s = it.result("tensor", count).latency_s - it.lower_bound_s
    assert sent > sent_pipeline and (tensor_s < it.losses.sending_s) == is_less


@claim([], [RING])
def test_all_gathers_use_all_12_links_at_once(it):
    plan = STRATEGIES["tensor"](*it.question[:2])
    found = schedule.schedule(*it.question[:2], plan)
    return {len(job.where) for job in found if job.work == "all-gather"} == {12}


# page 4
def test_short_bars_of_the_timeline_without_a_number_are_layer_1():
    lanes = pictures.timeline(Analysis(LAB), until_s=build.TIMELINE_S).figure.axes
    numbers = [[it.get_text() for it in axes.texts if it.get_text().isdigit()] for axes in lanes]
    # until 18 ms layers 2 to 4 of inputs 1 to 5, 2 and 3 of input 6; nodes 2 to 4
    assert numbers[0] == [*"111222333444555", "6", "6"]
    assert sorted(numbers[1]) == sorted("1234" + "123" + "12")


def test_the_pipelines_node_1_starts_just_in_time_for_node_2():
    found = jobs("pipeline", inputs=32)
    arrived_s = {job.input: job.end_s for job in found if job[1:3] == ("send", 1)}
    started_s = {job.input: job.start_s for job in found if job[1:3] == ("compute", 2)}
    assert arrived_s == started_s


# each input's imbalance is 1,590.912 us, the rest 7,811.09248
test_the_pipelines_distance_is_mostly_load_imbalance = claim(inputs(5), inputs(4))(
    lambda it: (
        2 * it.losses.load_imbalance_s
        > it.result("pipeline", it.inputs).latency_s - it.lower_bound_s
    )
)
# of all inputs but one the sends take no time, as long as no send is the bottleneck
test_other_inputs_sends_overlap = claim(links(50), links(49))(
    lambda it: (
        it.result("pipeline", 32).latency_s
        == it.result("pipeline", 1).communication_s
        + it.result("pipeline", 1).compute_s
        + 31 * node_2_s(it)
    )
)

# page 5
test_no_node_can_hold_all_weights = claim(sram(891_647), sram(891_648))(
    lambda it: sum(layer.weight_bytes for layer in it.network) > it.system.sram_bytes
)
test_tensor_parallelism_does_not_fit_beside_the_input = claim(sram(654_015), sram(654_016))(
    lambda it: any(
        it.totals.weight_bytes // 4 + layer.input_bytes + layer.output_bytes > it.system.sram_bytes
        for layer in it.network
    )
)
test_whole_tensors_do_not_fit_nodes_2_to_4 = claim(sram(243_456, 615_423), sram(243_455, 615_424))(
    lambda it: (
        [use.total_bytes > it.system.sram_bytes for use in it.sram["pipeline"].uses]
        == [False, True, True, True]
    )
)
test_all_outputs_exceed_all_sram = claim(inputs(15), inputs(14))(
    lambda it: it.inputs * it.network[3].output_bytes > 4 * it.system.sram_bytes
)


def test_tensor_and_data_parallelism_hold_most_for_layer_2():
    found = Analysis(LAB).sram
    assert found["tensor"].fullest.layer == found["data"].fullest.layer == 2


# page 6; 3,033.30816 us and 563,712 bytes, against 4,624.22016 us
test_tensor_parallelism_stays_faster_on_a_ring = claim(links(355), links(354))(
    lambda it: it.result("tensor", 1, "ring").latency_s < node_2_s(it)
)


@claim([], [LAB.on(nodes=2), LAB.on(nodes=8)])
def test_on_a_ring_exchanges_take_three_times_as_long_and_gathers_send_twice_the_bytes(it):
    here, there = (
        chain(*strategy_stages("tensor", *it.question.on(topology=topology)[:2]))
        for topology in ("all-to-all", "ring")
    )
    pairs = [both for both in zip(here, there, strict=True) if both[0].link_bytes]
    times = [after.link_bytes / before.link_bytes for before, after in pairs]
    sent = [after.traffic_bytes / before.traffic_bytes for before, after in pairs]
    return times == [3, 3, 3, 3] and sent == [1, 1, 1, 2]


def test_on_a_ring_nothing_changes_for_the_pipeline():
    here, there = (Analysis(LAB).result("pipeline", 32, name) for name in ("all-to-all", "ring"))
    assert here._replace(topology="ring") == there
    used = {link for job in jobs("pipeline") if job.work == "send" for link in job.where}
    assert used == {"link 1 to 2", "link 2 to 3", "link 3 to 4"}


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
