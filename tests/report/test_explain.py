"""explain: tables against the JSON, on drawn questions; the lab's numbers, and what is said of some
questions only, by hand; printed formulas by what they give."""

import json
import math
import re
from fractions import Fraction
from functools import reduce

import numpy
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import lab3
from lab3 import ConvLayer
from machines import TOPOLOGIES, questions
from odd_machines import EVERYTHING, ODD, SENDS
from program import call, output, python, refusal
from report import explain, terminal
from report.analysis import SIZES, as_dict
from report.blocks import When
from report.question import LAB, headed

TOPICS = explain.TOPICS


def said(line):
    """Everything that explain says, as one line."""
    return " ".join(output(f"explain {line}").split())


def wide(question, topics=()):
    """The text on lines as long as they are, with tables as rows of cells."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terminal, "COLUMNS", 10**6)
        return explain.explain(question, topics)


# ------------------------------------------------ tables against the JSON

FIRST_HEADS = ("strategy", "layer", "inputs", "part", "latency, us", "twice", "1 input s")
FACTORS = {"ms": 10**3, "us": 10**6, "%": 100}


def verbatim(blocks):
    """Lines that are printed as they stand."""
    for block in blocks:
        if isinstance(block, When):
            yield from verbatim(block.blocks)
        elif "\n" in block:
            yield from block.splitlines()


VERBATIM = {
    *explain.SYMBOLS.splitlines(),
    *(line for it in TOPICS.values() for line in verbatim(it)),
}


def tables(text):
    """Each table: its heads, and its rows of cells."""
    found = []
    for line in text.splitlines():
        cells = re.split(r" {2,}", line.strip())
        if len(cells) > 1 and cells[0] in FIRST_HEADS:
            found.append((cells, []))
        elif len(cells) > 1 and found and line not in VERBATIM:
            found[-1][1].append(cells)
    return found


def is_said(cell, value, head):
    """Whether the cell is this value, whole or rounded once. Formulas are not in the JSON."""
    if isinstance(value, (bool, str)):
        return cell == {True: "yes", False: "NO"}.get(value, value)
    value *= FACTORS.get(head.rpartition(" ")[2], 1)
    digits = (4, 9, 12, 17, len(str(int(value))))
    rounded = (Fraction(terminal.rounded(value, each)) for each in digits)
    return Fraction(cell.replace(",", "")) in {value, *rounded}


def expected_tables(data):
    """Rows of values of each table of the page and all topics, in order; ... is a formula."""
    inputs, system = data["asked"]["inputs"], data["asked"]["system"]
    nodes, here, layers = system["nodes"], system["topology"], data["layers"]
    counts, several = sorted({1, inputs}), inputs > 1
    strategies = {name: it for name, it in data["strategies"].items() if "reason" not in it}
    pipeline, steps = "pipeline" in strategies, [it["steps"] for it in strategies.values()]
    results = {
        (name, it["topology"], it["inputs"]): {"strategy": name, **it}
        for name, strategy in strategies.items()
        for it in strategy["results"]
    }

    def rows(records, names):
        return [[record[name] for name in names.split()] for record in records]

    def cases(*of):
        return [results[name, here, count] for count in of for name in strategies]

    answers = "strategy latency_s traffic_bytes"
    yield rows(cases(1), f"{answers} compute_s communication_s")
    if several:
        yield rows(cases(inputs), f"{answers} interval_s bottleneck utilisation")
    held = [
        {"strategy": name.replace(", streamed", " by rows"), **it["fullest"]}
        for name, it in data["sram"].items()
        if "reason" not in it
    ]
    yield rows(held, "strategy where total_bytes free_bytes fits")
    on_both = [
        {**results[name, where, count], "links": "both" if is_same else where}
        for count in counts
        for name in strategies
        for is_same in [name == "pipeline" or nodes < 3]
        for where in (["ring"] if is_same else ["all-to-all", "ring"])
    ]
    of_one = [it for it in on_both if it["inputs"] == 1]
    yield rows(of_one, "strategy links communication_s latency_s traffic_bytes")
    yield rows(layers, "layer filters in_channels fx fy x y element_bytes out_x out_y")
    yield rows(layers, "layer macs ops weight_bytes input_bytes output_bytes")
    for each in steps:
        yield rows(each, "layer work node_ops link_bytes time_s traffic_bytes")
    if pipeline:
        names = {"sending_s": "communication"}
        total_s = sum(data["losses"].values())
        yield [
            [names.get(name, name[:-2].replace("_", " ")), part_s, part_s / total_s, ...]
            for name, part_s in data["losses"].items()
            if part_s
        ]
    held_parts = "weight_bytes input_bytes output_bytes total_bytes free_bytes fits"
    yield rows(held, f"strategy layer {held_parts}")
    yield rows(on_both, "inputs strategy links communication_s latency_s traffic_bytes")

    def latencies(found):
        return [[name, *(it["latency_s"] * 10**6 for it in each), ...] for name, each in found]

    bounds = {"lower bound": data["lower_bound"]}
    if "tensor" in strategies:
        bounds["tensor"] = [results["tensor", here, count] for count in counts]
    if pipeline:
        longest_s = Fraction(max(step["node_ops"] for step in steps[-1])) / system["ops_per_s"]
        bounds["slowest node"] = [{"latency_s": count * longest_s} for count in counts]
        bounds["pipeline by rows"] = data["streamed_pipeline"]
        bounds["pipeline"] = [results["pipeline", here, count] for count in counts]
    yield latencies(bounds.items())
    if pipeline:
        yield None  # of rows, which the JSON does not have
    speed_ups = [it for it in cases(*counts) if it["inputs"] == 1 or it["strategy"] == "pipeline"]
    yield rows(speed_ups, "inputs strategy latency_s speed_up utilisation bottleneck")
    names = ("one node", "data parallelism", "P equal stages")
    others = (data["one_node"], data["data_parallel"], data["balanced_pipeline"])
    yield latencies(zip(names, others, strict=True))
    yield [
        [it["twice"], it["inputs"], name, it["latency_s"], it["speed_up"]]
        for name, strategy in strategies.items()
        for it in strategy["doubling"]
        if it["inputs"] == 1 or name == "pipeline"
    ]
    for strategy in strategies:
        found = {}
        for it in data["readings"]:
            if it["strategy"] == strategy:
                found.setdefault(", ".join(it["changes"]) or "as read here", []).append(it)
        yield [
            [*(it["latency_s"] for it in answers), answers[-1]["traffic_bytes"], reading]
            for reading, answers in found.items()
        ]


@settings(
    max_examples=settings.default.max_examples * 5 // 6,  # 100, thorough 2,000
    phases=[Phase.generate],
)
@given(is_lab=st.booleans(), topology=TOPOLOGIES, data=st.data())
def test_tables_are_what_the_json_says(is_lab, topology, data):
    question = data.draw(questions(is_lab, topology))
    found = tables(f"{wide(question)}\n\n{wide(question, ['all'])}")
    for (heads, rows), expected in zip(found, expected_tables(as_dict(question)), strict=True):
        sums = rows.pop() if rows[-1][0] in ("sum", "~ sum") else None
        if expected is not None:
            assert len(rows) == len(expected)
            for row, values in zip(rows, expected, strict=True):
                for head, cell, value in zip(heads, row, values, strict=True):
                    assert value is ... or is_said(cell, value, head), row
        if sums and sums[0] == "sum":
            assert sums_are_exact(heads, rows, sums)


def sums_are_exact(heads, rows, sums):
    """Whether each number of the last row is the sum of a column, in order."""
    columns = [
        sum(Fraction(cell.replace(",", "")) for cell in column)
        for head, column in zip(heads, zip(*rows, strict=True), strict=True)
        if head not in ("layer", "step", "part", "%", "formula", "rows", "us per row")
    ]
    printed = [Fraction(each.replace(",", "")) for each in sums[1:]]
    left = iter(columns)
    return all(each in left for each in printed)


@settings(max_examples=settings.default.max_examples // 3)
@given(is_lab=st.booleans(), topology=TOPOLOGIES, data=st.data())
def test_the_text_fits_a_terminal_and_begins_with_the_answers(is_lab, topology, data):
    question = data.draw(questions(is_lab, topology))
    page = explain.explain(question)
    text = f"{page}\n\n{explain.explain(question, ['all'])}"
    assert text.isascii()
    assert max(map(len, headed(question, text).splitlines())) <= 80
    answers = re.findall(r"is (\S+) seconds\nTotal .* is (\d+) bytes", lab3.answers(*question))
    cells = [
        (row[1], row[2].replace(",", ""))
        for heads, rows in tables(wide(question))
        if "latency s" in heads[:2] and "links" not in heads
        for row in rows
    ]
    assert cells == answers


# ------------------------------------------------ the lab, by hand

# Of the page and each topic in reading order: rows of tables, and of sentences numbers with their
# units, strategies, and "not". Behind a # stands the working. The first line, what was asked, is
# left out, and so are formulas and readings, which have tests of their own.
LAB_TOLD = {
    "": """
        Q1 1
        strategy latency s traffic bytes computing s communication s
        tensor 0.00312726016 1,923,072 0.00303330816 0.000093952  # 187,904 bytes
        pipeline 0.01243531264 604,160 0.01213323264 0.00030208  # 115.2 + 100.352 + 86.528 us
        Tensor 3.98 times Tensor 3.18 times tensor tensor pipeline not Q3
        Q2 32
        strategy latency s traffic bytes interval ms bottleneck used %
        tensor 0.10007232512 61,538,304 3.12726016 all steps 97.00  # 3,033.3 / 3,127.3
        pipeline 0.1557861376 19,333,120 4.62422016 node 2 62.31  # 32 * 3.03330816 / 155.7861376
        Tensor 1.56 times pipeline tensor pipeline not Q3 97.066 ms
        Q3
        strategy fullest node total bytes free bytes fits
        tensor every node 503,488 20,800 yes  # 891,648 / 4 + 230,400 + 200,704 / 4, of 524,288
        pipeline node 2 726,016 -201,728 NO  # 294,912 + 230,400 + 200,704
        pipeline by rows node 4 462,336 61,952 yes  # 294,912 + 3 * 128 * 26 * 2 + 147,456
        data every node 1,322,752 -798,464 NO  # 891,648 + 230,400 + 200,704
        891,648 bytes 524,288 bytes 367,360 data not pipeline 148.29 ms 32 inputs
        Q4
        strategy links communication s latency s traffic bytes
        tensor all-to-all 0.000093952 0.00312726016 1,923,072
        tensor ring 0.000281856 0.00331516416 2,033,664  # 3 * 93.952 us; 1,923,072 + 110,592
        pipeline both 0.00030208 0.01243531264 604,160
        3 shards tensor 3 times 1 input 6.01 % Pipeline
        tensor pipeline Q1 Q4
    """,
    "model": """
        1
        layer filters in_channels fx fy x y element_bytes out_x out_y
        1 128 3 3 3 32 32 2 30 30
        2 128 128 3 3 30 30 2 28 28
        3 128 128 3 3 28 28 2 26 26
        4 128 128 3 3 26 26 2 24 24
        layer macs ops weight_bytes input_bytes output_bytes
        1 3,110,400 6,220,800 6,912 6,144 230,400
        2 115,605,504 231,211,008 294,912 230,400 200,704
        3 99,680,256 199,360,512 294,912 200,704 173,056
        4 84,934,656 169,869,312 294,912 173,056 147,456
        sum 303,330,816 606,661,632 891,648 751,616
    """,
    "tensor": """
        1 1 1 shards
        = 1 = 3
        layer step ops of a node bytes of a link time us traffic bytes
        1 compute 1,555,200 0 31.104 0  # a quarter of 6,220,800, at 50 per ns
        1 all-gather 0 57,600 28.8 691,200  # a quarter of 230,400, at 2 per ns; 12 of them
        2 compute 57,802,752 0 1,156.05504 0
        2 all-gather 0 50,176 25.088 602,112
        3 compute 49,840,128 0 996.80256 0
        3 all-gather 0 43,264 21.632 519,168
        4 compute 42,467,328 0 849.34656 0
        4 gather 0 36,864 18.432 110,592  # three of them
        sum 151,665,408 187,904 3,127.26016 1,923,072
        1 input 3,033.30816 + 93.952 = 3,127.26016 us
        32 inputs 32 * 3,127.26016 = 100,072.32512 us
        32 inputs 32 * 1,923,072 = 61,538,304 bytes
    """,
    "pipeline": """
        not
        layer step ops of a node bytes of a link time us traffic bytes
        1 compute 6,220,800 0 124.416 0  # at 50 per ns
        1 send 0 230,400 115.2 230,400  # at 2 per ns
        2 compute 231,211,008 0 4,624.22016 0
        2 send 0 200,704 100.352 200,704
        3 compute 199,360,512 0 3,987.21024 0
        3 send 0 173,056 86.528 173,056
        4 compute 169,869,312 0 3,397.38624 0
        sum 606,661,632 604,160 12,435.31264 604,160
        1 input 12,133.23264 + 302.08 = 12,435.31264 us
        32 inputs 12,435.31264 1 input + 31 * 4,624.22016 2 = 155,786.1376 us
        32 inputs 32 * 604,160 = 19,333,120 bytes
        32 inputs
        part us %
        ideal compute 97,065.86112 62.31
        load imbalance 50,909.184 32.68
        fill and drain 7,509.01248 4.820
        communication 302.08 0.1939
        sum 155,786.1376
    """,
    "sram": """
        Q3
        524,288 bytes
        strategy layer weights input output total free fits
        tensor 2 222,912 230,400 50,176 503,488 20,800 yes
        pipeline 2 294,912 230,400 200,704 726,016 -201,728 NO
        pipeline by rows 4 294,912 19,968 147,456 462,336 61,952 yes
        data 2 891,648 230,400 200,704 1,322,752 -798,464 NO
        Tensor
        Pipeline
        Pipeline * *
        Data
    """,
    "ring": """
        Q4
        3 shards tensor 3 times 1 input 6.01 % Pipeline
        inputs strategy links communication us latency us traffic bytes
        1 tensor all-to-all 93.952 3,127.26016 1,923,072
        1 tensor ring 281.856 3,315.16416 2,033,664  # 3,033.30816 + 281.856
        1 pipeline both 302.08 12,435.31264 604,160
        32 tensor all-to-all 93.952 100,072.32512 61,538,304
        32 tensor ring 281.856 106,085.25312 65,077,248  # 32 times
        32 pipeline both 302.08 155,786.1376 19,333,120
        1 input 3,033.30816 + 3 * 93.952 = 3,315.16416 us
        1 input pipeline 32 inputs
    """,
    "streaming": """
        2
        Tensor + * 1 input 93.952 us
        Pipeline not 4,624.22016 us
        latency, us 1 input 32 inputs
        lower bound 3,033.30816 97,065.86112
        tensor 3,127.26016 100,072.32512
        slowest node 4,624.22016 147,975.04512  # node 2, 32 times
        pipeline by rows 4,942.32576 148,293.15072
        pipeline 12,435.31264 155,786.1376
        + 1 0
        * *
        layer step rows us per row time us
        1 compute 3 4.1472 12.4416  # 124.416 / 30, as many as a filter is high
        1 send 1 3.84 3.84  # 115.2 / 30
        2 compute 28 165.15072 4,624.22016  # all of them
        2 send 1 3.584 3.584
        3 compute 1 153.35424 153.35424
        3 send 1 3.328 3.328
        4 compute 1 141.55776 141.55776
        sum 4,942.32576
    """,
    "speedup": """
        tensor
        inputs strategy latency us speed-up used % bottleneck
        1 tensor 3,127.26016 3.880 97.00 all steps
        1 pipeline 12,435.31264 0.9757 24.39 node 2
        32 pipeline 155,786.1376 2.492 62.31 node 2
        pipeline
        latency, us 1 input 32 inputs
        one node 12,133.23264 388,263.44448
        data parallelism 12,133.23264 97,065.86112  # 8 times
        P equal stages 12,133.23264 106,165.7856  # 35 * 3,033.30816
        twice inputs strategy latency us times as fast
        ops/s 1 tensor 1,610.60608 1.942  # 3,033.30816 / 2 + 93.952
        link bandwidth 1 tensor 3,080.28416 1.015  # 3,033.30816 + 93.952 / 2
        nodes (and their links) 1 tensor 1,563.63008 2  # both halves
        ops/s 1 pipeline 6,368.69632 1.953
        ops/s 32 pipeline 78,044.1088 1.996  # (12,133.23264 + 31 * 4,624.22016) / 2 + 302.08
        link bandwidth 1 pipeline 12,284.27264 1.012
        link bandwidth 32 pipeline 155,635.0976 1.001  # 155,786.1376 - 151.04
        nodes (and their links) 1 pipeline 12,435.31264 1
        nodes (and their links) 32 pipeline 155,786.1376 1
    """,
}

UNIT = "GOPS|GB/s|bytes?|inputs?|layers?|nodes?|shards?|times|[mu]?s|%"
TOKEN = re.compile(
    r"\bnot\b|[Tt]ensor|[Pp]ipeline|[Dd]ata|Q\d|(?<= )[+*=](?= )|"
    rf"(?<![\w.])-?(?:\d[\d,.]*\d|\d)(?: (?:{UNIT})(?![\w/]))?"
)


@pytest.mark.parametrize("topic", LAB_TOLD)
def test_each_number_of_the_lab_is_in_its_place(topic):
    found, has_prose = [], False
    for line in wide(LAB, [topic] if topic else []).splitlines()[1:]:
        cells = re.split(r" {2,}", line)
        if line in VERBATIM:
            continue
        if len(cells) > 1:
            has_prose = cells[-1] == "formula" or (has_prose and cells[0] != "sum")
            found += " ".join(cells[:-1] if has_prose else cells).split()
        else:
            has_prose = False
            found += " ".join(TOKEN.findall(line)).split()
    wanted = "\n".join(line.split("  # ")[0] for line in LAB_TOLD[topic].splitlines())
    assert found == wanted.split()


# ------------------------------------------------ a page, and topics


def test_the_page_is_short_and_names_every_topic():
    text = output("explain")
    assert text.count("\n") <= 45
    assert re.findall(r"^(Q\d): ", text, re.M) == ["Q1", "Q2", "Q3", "Q4"]
    assert [name for name in TOPICS if name not in text.split("`python3 report explain")[1]] == []


@pytest.mark.parametrize("number", range(1, 5))
def test_a_question_as_a_topic_is_its_block_of_the_page(number):
    for line in ("", "--nodes 5 --inputs 3"):
        [block] = re.findall(rf"^Q{number}: .*\n(?:.+\n)+", output(f"explain {line}"), re.M)
        for name in (f"Q{number}", f"q{number}"):
            assert output(f"explain {name} {line}").endswith(f"\n\n{block}")


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_is_short_and_uses_no_symbol_that_it_does_not_define(topic):
    text = output(f"explain {topic}")
    assert text.count("\n") <= (130 if topic == "readings" else 60)
    defined = {*re.findall(r"(?:^|  )([A-Z])  \S", text, re.M)}
    assert {*re.findall(r"\b([B-Z])(?:_\w+)?\b", text)} <= defined


def test_topics_are_told_in_the_order_asked_for_and_once():
    def parts(*topics):
        """Of topics that have symbols, what stands below these."""
        return explain.explain(LAB, topics).split("\n\n")[2:]

    assert parts("ring", "model", "ring") == parts("ring") + parts("model")
    text = explain.explain(LAB, ["q1", "all", "ring"])
    titles = [block for block in text.split("\n\n") if block.isupper()]
    assert len(titles) == len(TOPICS)
    assert text.split("\n\n")[2:3] == explain.explain(LAB, ["q1"]).split("\n\n")[1:]


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("tenser", "did you mean tensor?"),
        ("stream", "did you mean streaming?"),
        ("q5", f"there are {', '.join(TOPICS)}, all, q1, q2, q3, q4"),
    ],
)
def test_an_unknown_topic_is_refused_with_the_nearest_or_all(word, told):
    for line in (f"explain {word}", f"explain ring {word} --json"):
        assert refusal(line) == f"argument TOPIC: '{word}' is not a topic; {told}"
    with pytest.raises(ValueError, match=rf"^topic: '{word}' is not a topic; "):
        explain.explain(LAB, ["all", word])


def test_there_is_no_q2_of_one_input():
    assert "Q2" in refusal("explain Q2 --inputs 1")
    assert "Q2:" not in output("explain --inputs 1")


def test_the_json_is_that_of_the_question_whatever_the_topics():
    found = json.loads(output("explain --nodes 2 --inputs 5 --json"))
    assert found["asked"]["system"]["nodes"] == 2
    assert found["asked"]["inputs"] == 5
    # 5 * 6,254,520.32 ns; a float prints as it was computed
    assert found["strategies"]["tensor"]["results"][1]["latency_s"] == 0.0312726016
    assert set(found["strategies"]["pipeline"]) == {"reason"}
    assert output("explain ring --json") == output("explain --json")


def test_the_page_imports_nothing_that_it_does_not_need():
    unneeded = "{'matplotlib', 'report.search', 'report.check.readings', 'report.compare'}"
    program = "import sys; from report.explain import explain; from report.question import LAB"
    done = python("-c", f"{program}; explain(LAB); print({unneeded} & set(sys.modules))")
    assert done.stdout == "set()\n"


# ------------------------------------------------ what is said of some questions only

FIT = "does not fit in SRAM (Q3); its latency assumes enough."


@pytest.mark.parametrize(
    ("line", "phrases", "others"),
    [
        (
            "",
            [f"pipeline {FIT}", "must be distributed"],
            [f"tensor parallelism {FIT}", "possible:"],
        ),
        ("--sram-kib 400", [f"tensor parallelism {FIT}", f"pipeline {FIT}"], []),
        # 1,322,752 - 1,116,160; 8 times 12.13323264 ms
        ("Q3 --sram-kib 1090", ["leave 206,592 bytes too few"], ["must be", "need not"]),
        ("Q3 --sram-kib 1292", ["need not be", "possible: 97.066 ms"], ["must be", "too few"]),
        ("Q3 --sram-kib 1292 --nodes 1", ["one node takes 388.26 ms"], ["Data"]),
        ("Q3 --inputs 1", ["4.9423 ms for 1 input in ample SRAM;"], []),
        # (12.13323264 + 40 * 0.30208 + 31 * 4.62422016 ms, of 32 * (3.03330816 + 40 * 0.093952)
        ("Q2 --link-gbs 0.0928", ["Lower bound"], ["times"]),  # 1.0008 times
        ("Q2 --link-gbs 0.05", ["Pipeline parallelism is 1.30 times"], ["Tensor parallelism is"]),
        (
            "--nodes 1",
            ["Pipeline parallelism is not possible"],
            ["times", "Pipeline parallelism is u"],
        ),
        ("--nodes 6", ["Tensor parallelism is not possible"], ["times", "shards", "% longer"]),
        ("Q4", ["Pipeline parallelism is unaffected if consecutive layers are"], []),
        ("Q4 --nodes 8", ["carries 7 shards", "for 7 times", "18.0 % longer"], ["has the links"]),
        (
            "Q4 --nodes 2",
            ["A ring of 2 nodes has the links of all-to-all."],
            ["shards", "unaffected"],
        ),
        ("sram", ["first node its whole input, the last node its whole output"], []),
        ("sram --nodes 2", ["Tensor parallelism: each node"], ["Pipeline parallelism:", "by rows"]),
        ("sram --nodes 6", ["Pipeline parallelism: each node"], ["Tensor parallelism:"]),
        ("ring --nodes 1", ["A ring of 1 node"], ["S / B"]),
        ("ring --inputs 1", ["S / B"], ["overlaps"]),
        ("streaming --nodes 2", ["lower bound + N *"], ["slowest node", "By rows", "none"]),
        ("streaming --nodes 6", ["slowest node", "By rows"], ["lower bound + N *"]),
    ],
)
def test_what_is_said_of_some_questions_only(line, phrases, others):
    text = said(line)
    assert [phrase for phrase in phrases if phrase not in text] == []
    assert [phrase for phrase in others if phrase in text] == []


@pytest.mark.parametrize(
    ("line", "topic", "reason"),
    [
        ("--nodes 6", "tensor", "128 filters cannot be split evenly over 6 nodes"),
        ("--nodes 1", "pipeline", "4 layers need 4 nodes or more, not 1"),
        ("--nodes 2 --topology ring", "pipeline", "4 layers need 4 nodes or more, not 2"),
    ],
)
def test_a_strategy_that_is_not_possible_has_its_reason_once_and_no_derivation(line, topic, reason):
    for topics in ("", "sram", "all", topic):
        text = said(f"{topics} {line}")
        assert text.count(f"{topic.capitalize()} parallelism is not possible: ") == 1
        assert text.count(reason) == 1
    assert "time us" not in said(f"{topic} {line}")


def test_where_neither_strategy_is_possible_there_is_nothing_to_explain():
    for line in ("explain --nodes 3", "explain ring --nodes 3"):
        status, out, err = call(line)
        assert (status, out) == (2, "")
        assert "3 nodes" in err and "4 layers need 4 nodes" in err


# ------------------------------------------------ formulas give the numbers

SYMBOLS = {
    "C": numpy.array([3_840, 25_920, 31_104]) * Fraction(1),
    "A": numpy.array([720, 540, 648]) * Fraction(1),
    "S": numpy.array([120, 90, 108]) * Fraction(1),
    "S_L": 108,
    "out_y": numpy.array([5, 3, 2]),
    "N": 8,
    "P": 6,
    "L": 3,
    "R": Fraction(64, 3),
    "B": Fraction(5, 2),
    "interval": 1_458,
    "sum": sum,
    "max": lambda *several: max(map(max, several)),
    "ceil": math.ceil,
}
SENT = {**SYMBOLS, "A": SYMBOLS["A"][:-1]}  # in a pipeline
DIRECT = ODD.on(topology="all-to-all")


def value_of(formula, symbols=SYMBOLS):
    """Of a formula as it is printed."""
    written = formula.replace("S_1 + ... + S_(L-1)", "sum(S) - S_L").partition(":")[0]
    return eval(re.sub(" (seconds|bytes)$", "", written), {}, symbols)


def formulas_of(topic):
    """Those of lines "name = formula"."""
    lines = (line for line in verbatim(TOPICS[topic]) if " = " in line)
    return dict(line.split(" = ", 1) for line in lines)


@pytest.mark.parametrize(
    ("question", "rounds", "hops", "latency_s", "traffic_bytes"),
    [(ODD, 5, 15, 8_892, 63_360), (DIRECT, 1, 5, Fraction("4821.6"), 54_720)],
)
def test_formulas_of_tensor_parallelism(question, rounds, hops, latency_s, traffic_bytes):
    symbols = {**SYMBOLS, "rounds": rounds, "gather_hops": hops}
    formulas = formulas_of("tensor")
    assert value_of(formulas["latency"], symbols) == latency_s
    assert value_of(formulas["traffic"], symbols) == traffic_bytes
    assert f"rounds = {rounds} and gather_hops = {hops}." in wide(question, ["tensor"])
    lines = [line.split("  ") for line in verbatim(TOPICS["tensor"]) if line[:5] == "    P"]
    assert [value_of(formula) for _, _, formula, *_ in lines] == [5, 5, 15]


def test_formulas_of_the_pipeline():
    formulas = formulas_of("pipeline")
    assert value_of(formulas["latency"], SENT) == 13_563
    assert value_of(formulas["traffic"], SENT) == 10_080
    assert value_of(formulas["interval"], SENT) == 1_458
    sent = numpy.array([30, 60])  # of SENDS, whose longest stage is a send
    assert value_of(formulas["interval"], {**SENT, "C": SENT["C"] / 1000, "A": sent, "B": 1}) == 60


def test_formulas_of_an_exchange():
    _, *lines = verbatim(TOPICS["ring"])
    cells = [re.split(" {2,}", line)[1:] for line in lines]
    found = [[value_of(formula).tolist() for formula in both] for both in cells]
    times = [[48, 36, Fraction("43.2")], [240, 180, 216]]
    assert found[0] == found[2] == times
    assert found[1] == [[3_600, 2_700, 3_240]] * 2
    assert found[3] == [[600, 450, 540], [1_800, 1_350, 1_620]]


@pytest.mark.parametrize(
    ("topic", "symbols"),
    [("pipeline", {}), ("streaming", {"bound": 3_804, "communication": 636}), ("speedup", {})],
)
def test_formulas_of_tables(topic, symbols):
    evaluated = 0
    for heads, rows in tables(wide(ODD, [topic])):
        column = 1 if heads[0] == "part" else 2
        for row in rows if "formula" in heads else ():
            one, printed, formula = row[1], Fraction(row[column].replace(",", "")), row[-1]
            if row[0] != "sum" and not formula.startswith("sum("):
                written = formula.replace("lower bound", "bound")
                written = written.replace("1 input", one.replace(",", "") + " / 10 ** 6")
                assert value_of(written, {**SYMBOLS, **symbols}) * 10**6 == printed, row
                evaluated += 1
    assert evaluated == {"pipeline": 3, "streaming": 5, "speedup": 3}[topic]


def test_formula_of_waiting_for_a_link():
    [(_, rows)] = (table for table in tables(wide(SENDS, ["pipeline"])) if "formula" in table[0])
    [(printed, formula)] = [(row[1], row[-1]) for row in rows if row[0] == "waiting for a link"]
    sends = {"N": 3, "C": numpy.array([60, 1_200, 1_200]), "R": 40, "interval": 60, "max": max}
    assert value_of(formula, sends) == Fraction(printed.replace(",", "")) / 10**6 == 90


def test_formulas_of_rows():
    text = wide(ODD, ["streaming"])
    formulas = re.findall(r"\b[CA] / \(out_y.*?\)", text)
    expected_s = "36 405 729", "57.6 72 129.6"
    assert [[*value_of(it)] for it in formulas] == [
        [*map(Fraction, it.split())] for it in expected_s
    ]


def test_formulas_of_the_model():
    formulas = formulas_of("model")
    shapes = {
        name: text.removeprefix("C = ").removeprefix("A = ") for name, text in formulas.items()
    }
    sizes = {row.layer: [*vars(row).values()][2:] for row in EVERYTHING.layers}
    for values in zip(*sizes.values(), strict=True):
        expected = dict(zip(sizes, values, strict=True))
        scope = {name: expected[name] for name in ConvLayer._fields}
        for name in SIZES:
            scope[name] = eval(shapes[name], {}, scope)
        assert scope == expected

    steps = [step for step in EVERYTHING.steps if step.group == "pipeline"]
    words = {"ops of a node": "ops", "bytes of the busiest link": "sent", "step times": "times"}
    words["traffic bytes of the steps"] = "sent_bytes"
    named = {
        name: reduce(lambda text, each: text.replace(*each), words.items(), formula)
        for name, formula in formulas.items()
    }
    for step in steps:
        scope = {**SYMBOLS, "ops": step.node_ops, "sent": step.link_bytes}
        assert value_of(named["step time"], scope) == step.time_s
    scope = {**SYMBOLS, "times": [step.time_s for step in steps]}
    scope["sent_bytes"] = [step.traffic_bytes for step in steps]
    assert value_of(named["latency"], scope) == 13_563
    assert value_of(named["traffic"], scope) == 10_080
