"""report/explain.py and derivations.py: numbers by hand, sums on random questions, topics, JSON."""

import json
import re
from fractions import Fraction
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab3
import machines
from machines import ODD_OPTIONS, questions
from program import output, refusal
from report import derivations
from report.check.changes import CHANGES
from report.explain import DERIVATIONS, TOPICS, explain_topics
from report.question import LAB, Question, find_impossible

HEADS = ("strategy", "strategy, node", "layer", "part", "latency, us", "what", "1 input s", "case")


def read_tables(text):
    """Read each table: its heads, and its rows of cells, to which columns below it belong."""
    tables, above = [], []
    for line in text.splitlines():
        cells = re.split(r" {2,}", line.strip())
        if len(cells) > 1 and cells[0] in HEADS:
            further = iter(tables[-1][1]) if above[1:] and tables[-1][0][0] == cells[0] else None
            if further:
                tables[-1][0].extend(cells[1:])
            else:
                tables.append((cells, []))
        elif len(cells) > 1 and tables:
            if further:
                next(further).extend(cells[1:])
            else:
                tables[-1][1].append(cells)
        above = cells
    return tables


def read_number(cell):
    return Fraction(cell.split()[0].replace(",", ""))


def is_near(found, expected):
    """Say whether two numbers differ at most by roundings to 9 digits."""
    return abs(found - expected) <= abs(expected) / 10**7


# ------------------------------------------------ by hand

# Where the pipeline's time goes: N * 3,033.30816; N * (4,624.22016 - 3,033.30816); all but node 2;
# the sends. Data parallelism takes 8 rounds.
LAB_TABLES = """
tensor    0.00312726016  1,923,072  3.03330816  0.093952
pipeline  0.01243531264  604,160  12.13323264  0.30208
tensor    0.10007232512  61,538,304  3.12726016  all steps  97.00
pipeline  0.1557861376  19,333,120  4.62422016  node 2  62.31
tensor, every node  2  222,912  230,400  50,176  503,488  20,800 free
pipeline, node 1    1  6,912  6,144  230,400  243,456  280,832 free
pipeline, node 2    2  294,912  230,400  200,704  726,016  201,728 over
pipeline, node 3    3  294,912  200,704  173,056  668,672  144,384 over
pipeline, node 4    4  294,912  173,056  147,456  615,424  91,136 over
data, every node    2  891,648  230,400  200,704  1,322,752  798,464 over
tensor    all-to-all  0.093952  0.00312726016  1,923,072
tensor    ring  0.281856  0.00331516416  2,033,664
pipeline  either  0.30208  0.01243531264  604,160
ideal compute   97,065.86112  62.31
load imbalance  50,909.184  32.68
fill and drain  7,509.01248  4.820
communication   302.08  0.1939
sum             155,786.1376
lower bound   3,033.30816  97,065.86112
tensor        3,127.26016  100,072.32512
slowest node  4,624.22016  147,975.04512
pipeline      12,435.31264  155,786.1376
data          12,133.23264  97,065.86112
"""
# N * 162.304 ms; N * (497.664 - 162.304); all computing, because a send is the bottleneck; 432 and
# N * (576 - 497.664). Data parallelism takes 2 rounds.
ODD_TABLES = """
tensor    1.434304  7,920  162.304  1,272
pipeline  1.981824  1,260  973.824  1,008
tensor    11.474432  63,360  1,434.304  all steps  11.32
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


@pytest.mark.parametrize(("line", "expected"), [("", LAB_TABLES), (ODD_OPTIONS, ODD_TABLES)])
def test_tables_by_hand(line, expected):
    wanted = [re.split(r" {2,}", row) for row in expected.strip().splitlines()]
    tables = read_tables(output(f"explain Q1 Q2 Q3 Q4 pipeline bounds {line}"))
    tables = [(heads, rows) for heads, rows in tables if "step" not in heads and heads[0] != "case"]
    rows = [row for _, found in tables for row in found]
    # formulas, the last cells, are not compared
    assert [row[: len(cells)] for row, cells in zip(rows, wanted, strict=True)] == wanted


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tensor", machines.LAB_TENSOR_STEPS),
        ("pipeline", machines.LAB_PIPELINE_STEPS),
        (f"tensor {ODD_OPTIONS}", machines.ODD_TENSOR_STEPS),
        (f"tensor {ODD_OPTIONS} --topology all-to-all", machines.ODD_TENSOR_STEPS_ALL_TO_ALL),
        (f"pipeline {ODD_OPTIONS}", machines.ODD_PIPELINE_STEPS),
    ],
)
def test_steps_by_hand(line, expected):
    (_, (*rows, sums)), *_ = read_tables(output(f"explain {line}"))
    found = [(row[1], *map(read_number, [row[0], *row[2:]])) for row in rows]
    assert found == [
        (work, layer, ops, link, Fraction(time_us), traffic)
        for layer, work, ops, link, traffic, time_us in expected
    ]
    assert [*map(read_number, sums[1:])] == [
        sum(column) for column in [*zip(*found, strict=True)][2:]
    ]


def test_sizes_by_hand():
    fields, amounts = read_tables(output(f"explain model {ODD_OPTIONS}"))
    assert fields[1][0] == ["1", "6", "1", "2", "4", "9", "8", "3", "8", "5"]
    assert amounts[1][0] == ["1", "1,920", "3,840", "144", "216", "720"]
    # 1,920 + 12,960 + 15,552 MACs; 144 + 2,592 + 7,776 and 720 + 540 + 648 bytes
    assert amounts[1][-1] == ["sum", "30,432", "60,864", "10,512", "1,908"]


@pytest.mark.parametrize(
    ("line", "numbers"),
    [
        ("Q1", ["3.98 times", "3.18 times", "31 %", "12 links"]),
        (
            "Q2",
            [
                "Tensor parallelism is 1.56 times",
                "4.624 + 7.811 / N",
                "12.435",
                "3.127 ms",
                "97.07 ms",
            ],
        ),
        ("Q3", ["891,648", "524,288", "367,360", "97.07 ms", "654,016", "129,728 over"]),
        (
            "Q3",
            ["31 waiting", "693,952", "169,664 over", "node 2", "at least 956,416", "432,128 over"],
        ),
        ("Q3", ["32 outputs", "4,718,592", "2,097,152"]),
        ("Q4", ["3 shards", "3 times", "3.03330816", "3 * 0.093952", "= 3.31516416 ms"]),
        ("Q4", ["6.01 %", "110,592", "pipeline", "unaffected"]),
        ("tensor", ["rounds = 1 ", "gather_hops = 3", "32 * 3,127.26016", "32 * 1,923,072"]),
        ("pipeline", ["31 * 4,624.22016", "node 2", "= 155,786.1376", "= 19,333,120"]),
        # 1,981.824 / 1,434.304; 7,920 / 1,260; 11,474.432 / 6,013.824
        (f"Q1 {ODD_OPTIONS}", ["1.38 times", "6.29 times"]),
        (
            f"Q2 {ODD_OPTIONS}",
            ["Pipeline parallelism is 1.91 times", "576.0", "1,405.8 / N", "1,981.8"],
        ),
        (f"Q2 {ODD_OPTIONS}", ["1,434 ms", "1,298.43 ms"]),
        # 1,752 + 720 + 540; 2,562 + 7 * 216; 8,964 + 540
        (f"Q3 {ODD_OPTIONS}", ["10,512", "9,216", "1,296", "1,947.65 ms", "3,012", "6,204 free"]),
        (f"Q3 {ODD_OPTIONS}", ["7 waiting", "4,074", "5,142 free", "9,504", "288 over"]),
        (f"Q4 {ODD_OPTIONS}", ["5 shards", "162.304", "5 * 254.4", "244 %", "1,080"]),
        (f"tensor {ODD_OPTIONS}", ["rounds = 5 ", "gather_hops = 15"]),
        # 2,463,721,536.276 has more digits than are printed
        ("tensor --gops 64 --inputs 999999", ["= 2,463.724", "~ 2,463,721,536 us"]),
        # weights fit, but not with 431,104 bytes more; all fit
        ("Q3 --sram-kib 1090", ["891,648", " 206,592 bytes"]),
        ("Q3 --sram-kib 1292", ["possible: 97.07 ms"]),
        # 32 * 32 * 2 + 32 * 4 * 4 * 2 + 32 * 4 * 4 * 2
        ("Q3 --nodes 1 --sram-kib 4 --layer 32,32,1,1,4,4", ["2,048 1,024 1,024 4,096 0 free"]),
        # (12.13323264 + 40 * 0.30208 + 31 * 4.62422016) ms and 32 * (3.03330816 + 40 * 0.093952)
        ("Q2 --link-gbs 0.05", ["Pipeline parallelism is 1.30 times"]),
        ("Q2 --link-gbs 0.0928", ["about the same"]),  # 1.0008 times
        # 16, then 32 outputs of 2 bytes: a ratio of exactly 1.005
        ("Q1 --nodes 2 --layer 4,1,1,1,4,4 --layer 4,4,1,1,4,4 --gops 995", ["about the same"]),
        ("Q3 --link-gbs 0.05", ["node 2 holds at least 956,416"]),  # while it sends, 1,157,120
        # one layer: 4,096 ops; nothing but the bottleneck
        ("Q2 --nodes 1 --layer 8,8,1,1,4,4", ["any N: 0.00004096 ms in the pipeline"]),
        ("bounds", ["1 input, all-to-all tensor no link bandwidth 32 inputs"]),
        ("bounds", ["all-to-all tensor, pipeline, tensor 0.0204118491, 0.0925870418 1 input"]),
        ("bounds", ["32 inputs, ring pipeline, tensor 0.298445092"]),
        ("bounds --nodes 1 --layer 8,8,1,1,4,4", ["1 input, ring neither every link bandwidth"]),
        ("Q4 --nodes 8", ["7 shards", "7 * 0.046976", "18.0 %"]),
        ("Q4 --nodes 2", ["ring of 2 nodes"]),
    ],
)
def test_numbers_in_sentences_by_hand(line, numbers):
    text = " ".join(output(f"explain {line}").split())
    for number in numbers:  # in this order
        assert number in text
        text = text.partition(number)[2]


def test_only_what_does_not_fit_is_said_not_to_fit():
    def unfit(line):
        text = " ".join(output(f"explain Q1 {line}").split())
        return re.findall(r"(\w+)(?: parallelism)? does not fit", text)

    assert unfit("") == ["pipeline"]
    assert unfit("--sram-kib 400") == ["Tensor", "pipeline"]
    assert unfit("--sram-kib 710") == []  # node 2 holds 726,016 of 727,040


def test_links_work_at_once_only_where_that_is_why_less_time_is_needed():
    assert "at once" in output("explain Q1")
    for line in ("--topology ring", "--nodes 2 --layer 2,1,1,1,4,4 --layer 8,2,1,1,4,4"):
        assert "at once" not in output(f"explain Q1 {line}")


# ------------------------------------------------ random: every sum is added up again

LATENCIES = {"tensor": lab3.tensor_parallel_latency, "pipeline": lab3.pipeline_parallel_latency}
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
    found = [
        (row[1].replace(",", ""), row[2].replace(",", ""))
        for heads, rows in read_tables(explain_topics(question))
        if heads[1] == "latency s"
        for row in rows
    ]
    assert found == answers
    one, *_ = read_tables(explain_topics(question, ["q1"]))
    for _, latency_s, _, compute_ms, communication_ms in one[1]:
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


def test_the_labs_page_has_53_lines():
    assert output("explain").count("\n") <= 53


LINES = [
    *("", "--nodes 1 --gops 33", "--nodes 128", "--nodes 64 --topology ring --gops 70"),
    *("--inputs 1", "--inputs 1000000", "--sram-kib 2000 --link-gbs 0.03", ODD_OPTIONS),
    "--layer 64,3,5,5,224,224 --layer 128,64,3,3,220,220",
]


@pytest.mark.parametrize("line", LINES)
def test_ordinary_questions_fit_a_terminal(line):
    assert output(f"explain {line}").count("\n") <= 60
    assert output(f"explain all {line}")


@pytest.mark.parametrize(
    ("nodes", "impossible", "possible"), [(2, "pipeline", "tensor"), (5, "tensor", "pipeline")]
)
def test_an_impossible_strategy_has_its_reason_once_and_no_numbers(nodes, impossible, possible):
    reason = refusal(f"explain {impossible} --nodes {nodes}")
    for topic in ("", "all"):
        text = output(f"explain {topic} --nodes {nodes}")
        assert " ".join(text.split()).count(reason) == 1
        names = {row[0].split(",")[0] for _, rows in read_tables(text) for row in rows}
        assert possible in names and impossible not in names


def test_there_is_no_q2_of_one_input():
    assert "--inputs" in refusal("explain Q2 --inputs 1")
    assert "Q2" not in output("explain --inputs 1")


def test_topics_come_in_the_order_asked_and_once():
    def tables(topics):
        return [
            table for topic in topics.split() for table in read_tables(explain_topics(LAB, [topic]))
        ]

    assert read_tables(output("explain q4 model Q4")) == tables("q4 model")
    assert read_tables(output("explain")) == tables("q1 q2 q3 q4")
    assert "report explain all" in output("explain") and "report" not in output("explain Q4")
    assert "S  A / P" in output("explain tensor") and "S  A / P" not in output("explain Q4")
    everything = tables(f"q1 q2 q3 q4 {' '.join(DERIVATIONS)}")
    assert read_tables(output("explain all")) == everything
    assert read_tables(output("explain mistakes all")) == tables("mistakes") + everything


def test_check_names_the_same_other_readings():
    others = {clause for _, _, *clauses in derivations.READINGS for clause in clauses}
    assert others == {change.clause for change in CHANGES if change.is_reading}


def test_the_readings_have_those_of_the_design():
    def rows(topic):
        tables = read_tables(output(f"explain {topic}"))
        tensor, pipeline = [rows for heads, rows in tables if heads[0] == "1 input s"]
        assert {len(row) for row in [*tensor, *pipeline]} == {4}
        return [row[:3] for row in tensor], [row[:3] for row in pipeline]

    # as read; GiB/s; Gbit/s; the input, 18,432 and 6,144 bytes, is sent; 331,776 bytes more at the
    # end; a node that sends does not compute; inputs do not overlap
    tensor, pipeline = rows("readings")
    assert tensor == [
        ["0.00312726016", "0.10007232512", "61,538,304"],
        ["0.00312080778", "0.0998658489", "61,538,304"],
        ["0.00378492416", "0.12111757312", "61,538,304"],
        ["0.00313033216", "0.10017062912", "62,128,128"],
        ["0.00312726016", "0.10007232512", "72,155,136"],
    ]
    assert pipeline == [
        ["0.01243531264", "0.1557861376", "19,333,120"],
        ["0.0124145666", "0.155765392", "19,333,120"],
        ["0.01454987264", "0.1579006976", "19,333,120"],
        ["0.01243838464", "0.1557892096", "19,529,728"],
        ["0.01243531264", "0.1588970496", "19,333,120"],
        ["0.01243531264", "0.39793000448", "19,333,120"],
    ]
    of_tensor, of_pipeline = rows("mistakes")
    assert all(row in of_tensor for row in tensor) and all(row in of_pipeline for row in pipeline)
    # INT8; a node that receives does not compute
    assert ["0.00308028416", "0.09856909312", "30,769,152"] in of_tensor
    assert ["0.01243531264", "0.1593573376", "19,333,120"] in of_pipeline


# ------------------------------------------------ JSON


def test_the_json_has_everything_whatever_the_topics():
    text = output(f"explain --json {ODD_OPTIONS}")
    assert output(f"explain Q4 --json {ODD_OPTIONS}") == text
    found = json.loads(text)
    assert type(found["version"]) is int
    assert found["asked"]["system"]["nodes"] == 6 and found["asked"]["inputs"] == 8
    assert [layer["output_bytes"] for layer in found["layers"]] == [720, 540, 648]
    *_, tensor = found["strategies"]["tensor"]["results"]
    assert (tensor["topology"], tensor["inputs"]) == ("ring", 8)
    assert (tensor["latency_s"], tensor["traffic_bytes"]) == (11.474432, 63_360)
    assert found["strategies"]["pipeline"]["steps"][1]["time_s"] == 0.576
    assert found["impossible"] == {}
    # a ring, all in ms: 8 * (162.304 + 1,590 / B) = 973.824 + 7 * 497.664 + 1,260 / B
    *_, verdict = found["verdicts"]
    assert verdict["equal_bytes_per_s"] == [11_460 / 3.15904]
    assert verdict["faster"] == ["pipeline", "tensor"]
    # all-to-all: 8 * (162.304 + 318 / B) is less whatever B is
    assert found["verdicts"][1] == {
        "topology": "all-to-all",
        "inputs": 8,
        "equal_bytes_per_s": [],
        "faster": ["tensor"],
    }
    assert found["uncounted"]["inputs_waiting_bytes"] == 4_074
    assert found["bounds"][1]["data_parallel_s"] == 1.947648
    assert found["losses"]["communication_s"] == 1.058688
    assert found["sram"]["data"]["free_bytes"] == -2_556
    assert found["totals"]["weights_excess_bytes"] == 1_296
    assert {it["strategy"] for it in found["readings"]} == {"tensor", "pipeline"}


def test_json_of_one_strategy_and_whole_sizes():
    text = output("explain --json --nodes 2")
    sizes, _ = text.split('"readings"')
    assert re.findall(r'"(?:\w*bytes|\w*ops|layer|inputs|nodes|filters)": .*[.e].*', sizes) == []
    found = json.loads(text)
    assert [*found["impossible"]] == ["pipeline"] and found["losses"] is None
    assert [*found["strategies"]] == ["tensor"] and [*found["sram"]] == ["tensor", "data"]
