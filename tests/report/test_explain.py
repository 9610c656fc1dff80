"""report/explain.py and derivations.py: what they say holds on random questions, and numbers that
are worked out by hand. What the pages look like is in tests/transcripts."""

import json
import re
from fractions import Fraction
from math import ceil, prod

import pytest

pytest.importorskip("hypothesis")

from hypothesis import given
from hypothesis import strategies as st

import lab3
from lab3 import ALL_TO_ALL, RING
from machines import CLOSED_FORMS, ODD_OPTIONS
from program import output, python, refusal
from random_machines import questions
from report import sram
from report.check.mistakes import MISTAKES
from report.explain import DERIVATIONS, TOPICS, explain_topics
from report.question import LAB, Question, find_impossible

HEADS = ("strategy", "strategy, node", "layer", "part", "latency, us", "what", "1 input s", "case")


def read_tables(text):
    """Read each table: its heads, and its rows of cells, to which columns below it belong."""
    tables, above, is_table = [], [], False
    for line in text.splitlines():
        cells = re.split(r" {2,}", line.strip())
        is_table = cells[0] in HEADS or (is_table and line != "")
        if len(cells) > 1 and cells[0] in HEADS:
            further = iter(tables[-1][1]) if above[1:] and tables[-1][0][0] == cells[0] else None
            if further:
                tables[-1][0].extend(cells[1:])
            else:
                tables.append((cells, []))
        elif len(cells) > 1 and is_table:
            if further:
                next(further).extend(cells[1:])
            else:
                tables[-1][1].append(cells)
        above = cells
    return tables


def read_number(cell):
    return Fraction(cell.split()[0].replace(",", ""))


def is_near(found, expected, digits=8):
    """Say whether two numbers differ at most by a rounding to so many digits."""
    return abs(found - expected) <= abs(expected) * Fraction(5, 10**digits)


# ------------------------------------------------ by hand

# N * 162.304 ms; N * (497.664 - 162.304); all computing, because a send is the bottleneck; 432 and
# N * (576 - 497.664). Data parallelism takes 2 rounds.
ODD_TABLES = """
tensor    1.434304  7,920  162.304  1,272
pipeline  1.981824  1,260  973.824  1,008
tensor    11.474432  63,360  1,434.304  none  11.32
pipeline  6.013824  10,080  576  link 1 to 2  21.59
tensor, every node  2  1,752  720  90  2,562  6,654 free
pipeline, node 1    1  144  216  720  1,080  8,136 free
pipeline, node 2    2  2,592  720  540  3,852  5,364 free
pipeline, node 3    3  7,776  540  648  8,964  252 free
data, every node    2  10,512  720  540  11,772  2,556 over
tensor    all-to-all  254.4  0.416704  6,840
tensor    ring  1,272  1.434304  7,920
pipeline  either  1,008  1.981824  1,260
ideal compute   1,298,432  21.59
load imbalance  2,682,880  44.61
fill and drain  973,824  16.19
communication   1,058,688  17.60
sum             6,013,824
lower bound   162,304  1,298,432
tensor        1,434,304  11,474,432
slowest node  497,664  3,981,312
pipeline      1,981,824  6,013,824
data          973,824  1,947,648
"""


def test_tables_by_hand():
    wanted = [re.split(r" {2,}", row) for row in ODD_TABLES.strip().splitlines()]
    tables = read_tables(output(f"explain Q1 Q2 Q3 Q4 pipeline bounds {ODD_OPTIONS}"))
    tables = [(heads, rows) for heads, rows in tables if "step" not in heads and heads[0] != "case"]
    rows = [row for _, found in tables for row in found]
    # formulas, the last cells, are not compared
    assert [row[: len(cells)] for row, cells in zip(rows, wanted, strict=True)] == wanted


@pytest.mark.parametrize(
    ("line", "numbers"),
    [
        # 1,981.824 - 576; per input 1,434.304; 8 * 162.304
        (f"Q2 {ODD_OPTIONS}", ["1,298.43 ms", "1,434 ms with tensor", "576.0 ms", "1,405.8 / N"]),
        (f"Q4 {ODD_OPTIONS}", ["162.304", "5 * 254.4", "= 1,434.304 ms"]),
        (f"tensor {ODD_OPTIONS}", ["rounds = 5 ", "gather_hops = 15"]),
        # 2,463,721,536.276 has more digits than are printed
        ("tensor --gops 64 --inputs 999999", ["= 2,463.724", "~ 2,463,721,536 us"]),
    ],
)
def test_numbers_in_sentences_by_hand(line, numbers):
    text = " ".join(output(f"explain {line}").split())
    for number in numbers:  # in this order
        assert number in text
        text = text.partition(number)[2]


# ------------------------------------------------ random: what is said holds

LATENCIES = {name: latency for name, (latency, _) in CLOSED_FORMS.items()}
TRAFFIC = {name: traffic for name, (_, traffic) in CLOSED_FORMS.items()}


def ask(question, *topics):
    """Read topics as one line, and find which strategies are possible."""
    text = " ".join(explain_topics(question, topics).split())
    return text, [name for name in CLOSED_FORMS if name not in find_impossible(question)]


def is_told(text, pattern, value, digits=8):
    """Say whether a text tells a value to so many digits where a pattern has #, and nothing of it
    if there is none (None)."""
    found = re.search(pattern.replace("#", r"(\d[\d,]*(?:\.\d+)?)"), text)
    if value is None or not found:
        return value is None and not found
    return is_near(read_number(found[1]), value, digits)


@given(questions())
def test_q1_and_q2_compare_by_the_closed_forms(question):
    network, system, inputs = question
    for topic, many in {"q1": 1, "q2": inputs}.items():
        if topic == "q2" and inputs == 1:
            continue
        text, possible = ask(question, topic)
        times_s = {name: LATENCIES[name](network, system, many) for name in possible}
        fastest = min(possible, key=times_s.get)
        ratio = max(times_s.values()) / times_s[fastest]
        is_faster = ratio > Fraction("1.005")
        told = ratio if is_faster else None
        assert is_told(text, f"{fastest.capitalize()} parallelism is # times as fast", told, 3)
        assert ("about the same time" in text) == (ratio > 1 and not is_faster)
        assert ("take the same time" in text) == (ratio == 1 and len(possible) == 2)


@given(questions().filter(lambda question: question.inputs > 1))
def test_the_time_per_input_adds_up_as_it_is_printed(question):
    text, possible = ask(question, "q2")
    found = re.search(r"in the pipeline (\S+) ms(?: \+ (\S+) / N ms \(its filling.*?\))?[,.]", text)
    assert bool(found) == ("pipeline" in possible)
    if found:
        each, rest = read_number(found[1]), read_number(found[2] or "0")
        one_s, two_s = (lab3.pipeline_parallel_latency(*question[:2], inputs) for inputs in (1, 2))
        assert is_near(each, (two_s - one_s) * 1000, digits=3)
        assert is_near(each + rest, one_s * 1000, digits=3)
        assert ("more for any N" in text) == (
            "tensor" in possible and LATENCIES["tensor"](*question[:2]) < two_s - one_s
        )


@given(questions())
def test_q1_says_why_tensor_parallelism_sends_more_and_what_does_not_fit(question):
    network, system, _ = question
    text, possible = ask(question, "q1")
    ratio = share = None
    if len(possible) == 2 and len(network) > 1:  # so on more nodes than one
        ops = sum(layer.ops for layer in network)
        tensor_s = LATENCIES["tensor"](network, system) - Fraction(ops, system.nodes) / (
            system.ops_per_s
        )
        pipeline_s = LATENCIES["pipeline"](network, system) - Fraction(ops) / system.ops_per_s
        ratio = Fraction(*(TRAFFIC[name](network, system) for name in possible))
        if system.topology == ALL_TO_ALL and tensor_s < Fraction("0.995") * pipeline_s:
            share = 100 * tensor_s / pipeline_s
    is_notable = ratio and ratio > Fraction("1.005")
    assert is_told(text, "sends # times the bytes", ratio if is_notable else None, 3)
    assert ("sends slightly more bytes" in text) == bool(ratio and not is_notable)
    assert is_told(text, "communication takes # % as long as the pipeline's", share, 2)
    links = system.nodes * (system.nodes - 1)
    assert is_told(text, "on up to # links at once", links if share else None)
    assert ("because each part" in text) == bool(ratio and system.nodes > 2)
    for name, hold in (("Tensor", sram.tensor_sram), ("pipeline", sram.pipeline_sram)):
        held = hold(network, system) if name.lower() in possible else []
        is_unfit = any(use.total_bytes > system.sram_bytes for use in held)
        assert bool(re.search(f"{name}( parallelism)? does not fit", text)) == is_unfit


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--layer 8,3,3,3,10,10 --layer 8,8,3,3,8,8", "because each part of an output goes to all"),
        ("--nodes 2 --layer 8,3,3,3,10,10 --layer 8,8,3,3,8,8", "because half of the last output"),
        (
            "--nodes 3 --layer 6,3,3,3,9,9 --layer 6,6,3,3,7,7",
            "because each part of an output goes",
        ),
    ],
)
def test_why_more_bytes_are_sent_is_a_matter_of_nodes_not_of_layers(options, said):
    assert said in " ".join(output(f"explain Q1 {options}").split())


@pytest.mark.parametrize(
    ("options", "signs"),  # 8 ops / 3 GOPS and 16 bytes / 3 GB/s are 8 ns; 187,904 / 7 is rounded
    [
        (
            "--nodes 5 --topology ring --gops 3 --link-gbs 3 --element-bytes 1 --layer 5,1,1,1,2,2",
            "~~",
        ),
        ("--link-gbs 7", "~~"),
        ("--gops 7", "~~"),
        ("", "=="),
    ],
)
def test_a_sum_of_rounded_numbers_is_not_equal(options, signs):
    text = " ".join(output(f"explain tensor {options}").split())
    line = re.search(r"1 input: [^=~]+([=~]) \S+ \(compute\) \+ \S+ \(communication\) ([=~])", text)
    assert "".join(line.groups()) == signs


def test_where_both_take_equally_long():
    alike = "--nodes 1 --layer 6,6,1,1,2,2"  # one node computes, whatever the links are
    found = " ".join(output(f"explain bounds {alike}").split())
    assert "neither every link bandwidth" in found and "no link" not in found
    assert "1 input, all-to-all tensor no link bandwidth" in " ".join(
        output("explain bounds").split()
    )


def test_the_sizes_of_all_layers_are_added_up():
    """1,920 + 12,960 + 15,552 MACs, twice the ops; weights and outputs of machines.py."""
    text = output(f"explain model {ODD_OPTIONS}")
    [row] = [line.split() for line in text.splitlines() if line.split()[:1] == ["sum"]]
    assert row == ["sum", "30,432", "60,864", "10,512", "1,908"]


def test_about_the_same_time():
    text = output("explain Q2 --link-gbs 0.0925")  # 0.0925870418: equally long
    assert "Both take about the same time." in text and "times as fast" not in text


def test_without_docstrings_topics_say_nothing_in_their_place():
    result = python("-OO", "report", "explain", "tensor", "pipeline", "readings")
    assert (result.returncode, result.stderr) == (0, "") and "None" not in result.stdout


@pytest.mark.parametrize(
    ("layers", "said"),  # on 2 nodes half of the last output is sent, too, and halves take half
    [
        ("--layer=4,1,1,1,10,10 --layer=4,4,10,10,10,10", "sends slightly more bytes"),  # 2 / 400
        ("--layer=4,1,1,1,10,10 --layer=6,4,10,10,10,10", "sends 1.01 times the bytes"),
        ("--layer=2,1,1,1,100,1 --layer=2,2,3,1,100,1", "takes 99 % as long"),  # 198 / 200
        ("--layer=2,1,1,1,100,1 --layer=2,2,2,1,100,1", "sent, too."),  # 199 / 200
    ],
)
def test_what_is_about_the_same_is_said_so(layers, said):
    text = " ".join(output(f"explain Q1 --nodes=2 {layers}").split())
    assert said in text
    assert ("communication takes" in text) == ("100,1 --layer=2,2,2" not in layers)


@given(questions())
def test_q3_says_what_fits_and_what_would_be_held(question):
    network, system, inputs = question
    text, possible = ask(question, "q3")
    room, weights = system.sram_bytes, sum(layer.weight_bytes for layer in network)
    data = max(use.total_bytes for use in sram.data_sram(network, system))
    output_bytes = inputs * network[-1].output_bytes
    kept = waiting = following = None
    if "tensor" in possible:
        kept = sram.tensor_sram_input_kept(network, system) if system.nodes > 1 else None
        waiting = sram.tensor_sram_inputs_waiting(*question) if inputs > 1 else None
    if "pipeline" in possible and inputs > 1:
        use = sram.pipeline_sram_overlapping(network, system)
        following = use and use.total_bytes
    outcome = r" \((?:[\d,]+) (?:free|over)\)"
    assert is_told(text, "of [0-9,]* by #", weights - room if weights > room else None)
    assert is_told(text, "but # bytes of", data - room if weights <= room < data else None)
    assert is_told(text, "possible: # ms", 1000 * alone_s(question) if data <= room else None, 2)
    assert is_told(text, f"kept, a node holds #{outcome}", kept)
    assert is_told(text, f"tensor parallelism needs #{outcome}", waiting)
    assert is_told(text, "With # waiting inputs? in every", inputs - 1 if waiting else None)
    assert is_told(text, f"holds at least #{outcome}", following)
    leaves = output_bytes if output_bytes > system.nodes * room else None
    assert is_told(text, "outputs?, # bytes, exceeds? the SRAM", leaves)
    for held, told, word in re.findall(r"([\d,]+) \(([\d,]+) (free|over)\)", text):
        free = room - read_number(held)
        assert abs(free) == read_number(told) and (free >= 0) == (word == "free")


def alone_s(question):
    """Compute what data parallelism takes: rounds of one input on one node."""
    alone = question.system._replace(nodes=1)
    rounds = ceil(Fraction(question.inputs, question.system.nodes))
    return rounds * LATENCIES["tensor"](question.network, alone)


@given(questions())
def test_q4_says_what_a_ring_changes(question):
    network, system, _ = question
    text, possible = ask(question, "q4")
    direct, ring = (system._replace(topology=it) for it in (ALL_TO_ALL, RING))
    percent = more = None
    if "tensor" in possible and system.nodes > 2:
        of = LATENCIES["tensor"]
        percent = 100 * (of(network, ring) / of(network, direct) - 1)
        more = TRAFFIC["tensor"](network, ring) - TRAFFIC["tensor"](network, direct)
    others = system.nodes - 1 if more else None
    assert is_told(text, "carries # shards", others) and is_told(text, "for # times", others)
    assert is_told(text, "# % more", percent, 3) and is_told(text, "adds # bytes", more)
    is_unaffected = "pipeline" in possible and len(network) > 1 and system.nodes > 2
    assert ("pipeline is unaffected" in text) == is_unaffected
    rows = [
        row[:2] for heads, rows in read_tables(explain_topics(question, ["q4"])) for row in rows
    ]
    both = [["tensor", "all-to-all"], ["tensor", "ring"]] if more else [["tensor", "either"]]
    assert rows == both * ("tensor" in possible) + [["pipeline", "either"]] * (
        "pipeline" in possible
    )


# ------------------------------------------------ random: every sum is added up again

EQUATION = r": (\d[^:=~]*) ([=~]) ([\d,.]+) (?:us|ms|bytes)"


def evaluate(text):
    """Evaluate a sum of products, without the words in parentheses."""
    products = re.sub(r" \(.*?\)|,", "", text).split(" + ")
    return sum(prod(map(Fraction, product.split(" * "))) for product in products)


@given(questions())
def test_sums_add_up(question):
    possible = [name for name in LATENCIES if name not in find_impossible(question)]
    text = explain_topics(question, [*possible, "q4", "bounds", "q3"])
    for left, sign, right in re.findall(EQUATION, " ".join(text.split())):
        found, told = evaluate(left), read_number(right)
        assert found == told if sign == "=" else is_near(found, told)
    latencies_us = {name: LATENCIES[name](*question) * 10**6 for name in possible}
    for heads, rows in read_tables(text):
        if heads[0] == "strategy, node":
            for _, _, *sizes, told, free in rows:
                assert sum(map(read_number, sizes)) == read_number(told)
                assert abs(question.system.sram_bytes - read_number(told)) == read_number(free)
        if heads[0] in ("layer", "part"):
            columns = [
                [read_number(row[n]) for row in rows[:-1]]
                for n in range(1, len(heads))
                if heads[n] not in ("step", "%", "formula")
            ]
            for column, told in zip(columns, rows[-1][1:], strict=True):
                assert is_near(sum(column), read_number(told))
        if heads[0] == "part":
            assert is_near(read_number(rows[-1][1]), latencies_us["pipeline"])
        if heads[0] == "latency, us":
            bounds_us = {row[0]: read_number(row[-2]) for row in rows}
            for name, latency_us in latencies_us.items():
                assert is_near(bounds_us[name], latency_us)
                assert bounds_us["lower bound"] <= bounds_us[name]


@given(questions())
def test_the_page_begins_with_the_answers(question):
    answers = re.findall(r"is (\S+) seconds\nTotal .* is (\d+) bytes", lab3.answers(*question))
    tables = read_tables(explain_topics(question))
    found = [
        (row[1].replace(",", ""), row[2].replace(",", ""))
        for heads, rows in tables
        if heads[1] == "latency s"
        for row in rows
    ]
    assert found == answers
    for _, latency_s, _, compute_ms, communication_ms in tables[0][1]:
        parts_ms = read_number(compute_ms) + read_number(communication_ms)
        assert is_near(parts_ms, 1000 * read_number(latency_s))


# ------------------------------------------------ topics


@given(questions(), st.sampled_from([1, 64]), st.sampled_from([1, 10**6]), st.integers(1, 10**12))
def test_whatever_the_numbers_80_columns_suffice(question, element_bytes, faster, sram_bytes):
    network = tuple(layer._replace(element_bytes=element_bytes) for layer in question.network)
    system = question.system._replace(
        ops_per_s=faster * question.system.ops_per_s, sram_bytes=1024 * sram_bytes
    )
    wide = Question(network, system, question.inputs)
    names = [it for it in TOPICS if it not in find_impossible(wide)]
    for topic in names if wide.inputs > 1 else set(names) - {"q2"}:
        text = explain_topics(wide, [topic])
        assert [line for line in text.splitlines() if len(line) > 80] == []


def test_the_largest_numbers_fit_in_80_columns():
    line = "--gops 0.000001 --link-gbs 0.000001 --inputs 1000000 --nodes 1000 --element-bytes 64"
    line += " --sram-kib 1000000000 --layer 1000000,1000000,500000,500000,1000000,1000000"
    assert output(f"explain all mistakes {line}")


@pytest.mark.parametrize(
    ("line", "most"),
    [
        ("", 53),
        ("--nodes 64 --topology ring --gops 70", 60),
        ("--sram-kib 2000 --link-gbs 0.03", 60),
    ],
)
def test_a_page_fits_a_terminal(line, most):
    assert output(f"explain {line}").count("\n") <= most


def test_a_topic_of_an_impossible_strategy_is_refused():
    for topic, nodes in (("tensor", 5), ("pipeline", 2)):
        reason = refusal(f"explain {topic} --nodes {nodes}")
        text = output(f"explain all --nodes {nodes}")
        assert " ".join(text.split()).count(reason) == 1
        assert topic not in {row[0].split(",")[0] for _, rows in read_tables(text) for row in rows}


def test_topics_come_in_the_order_asked_and_once():
    def tables(topics):
        return [
            table for topic in topics.split() for table in read_tables(explain_topics(LAB, [topic]))
        ]

    assert read_tables(output("explain q4 model Q4")) == tables("q4 model")
    assert read_tables(output("explain")) == tables("q1 q2 q3 q4")
    everything = tables(f"q1 q2 q3 q4 {' '.join(DERIVATIONS)}")
    assert read_tables(output("explain all")) == everything
    assert read_tables(output("explain mistakes all")) == tables("mistakes") + everything


def test_the_readings_are_lab3s_list_and_what_others_would_give():
    text = output("explain readings --inputs 5")
    assert "traffic is that of 5 inputs" in text and "that of 5 inputs" in " ".join(
        output("explain mistakes --inputs 5").split()
    )
    listed = lab3.__doc__.partition("follows:\n\n")[2].partition("\n\n")[0].splitlines()
    assert len(listed) > 12 and {line.strip() for line in listed} <= {
        line.strip() for line in text.splitlines()
    }
    for mistake in MISTAKES:
        words = mistake.clause.split()[-4:]
        assert (" ".join(words) in " ".join(text.split())) == bool(mistake.handout)


# ------------------------------------------------ JSON


def test_the_json_has_everything_whatever_the_topics():
    text = output(f"explain --json {ODD_OPTIONS}")
    assert output(f"explain Q4 --json {ODD_OPTIONS}") == text
    found = json.loads(text)
    *_, tensor = found["strategies"]["tensor"]["results"]
    assert (tensor["latency_s"], tensor["traffic_bytes"]) == (11.474432, 63_360)
    # a ring, all in ms: 8 * (162.304 + 1,590 / B) = 973.824 + 7 * 497.664 + 1,260 / B
    *_, verdict = found["verdicts"]
    assert verdict["equal_bytes_per_s"] == [11_460 / 3.15904]
    assert verdict["faster"] == ["pipeline", "tensor"]
    assert {it["strategy"] for it in found["readings"]} == {"tensor", "pipeline"}


def test_json_of_one_strategy_and_whole_sizes():
    text = output("explain --json --nodes 2")
    sizes, _ = text.split('"readings"')
    assert re.findall(r'"(?:\w*bytes|\w*ops|layer|inputs|nodes|filters)": .*[.e].*', sizes) == []
    found = json.loads(text)
    assert [*found["impossible"]] == ["pipeline"] and found["losses"] is None
    assert [*found["strategies"]] == ["tensor"] and [*found["sram"]] == ["tensor", "data"]
