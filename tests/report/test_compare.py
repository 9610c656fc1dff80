"""report/compare.py: what the command plans prints, read back by its heads; directions by hand."""

import json
import re
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab3 import ConvLayer, System
from machines import TOPOLOGIES, questions
from program import PLAIN, output, python, refusal
from report import search, terminal
from report.compare import links_text
from report.compare import text as compare_text
from report.plans import parse_plan
from report.question import Question
from report.search import Links, compare

# A machine that differs from the lab's in everything. Both layers have 96 ops, 1 ms of a node; a
# link carries 240 bytes in one. Elements of 20 bytes: layer 1 has 160 bytes of weights, 240 of
# input, 480 of output; layer 2 has 320, 480 and 120.
OTHER = (
    "plans --inputs 5 --nodes 2 --gops 0.000096 --link-gbs 0.00024 --sram-kib 1 --element-bytes 20"
    " --layer 4,2,1,1,2,3 --layer 2,4,2,1,2,3"
)
# Tensor parallelism: halves in 0.5 + 0.5 ms, 240 bytes in 1 ms, 60 in 0.25 ms: 5 * 2.25 ms; 5 *
# (2 * 240 + 60) bytes. A half of all weights, layer 2's input, half its output: 240 + 480 + 60.
TENSOR = ["11.25", "2,700", "2", "780", "yes"]
# The pipeline: 1 + 2 + 1 ms, and 4 * 2 ms more; 5 * 480 bytes. Layer 2: 320 + 480 + 120.
PIPELINE = ["12", "2,400", "2", "920", "yes"]
# One node: 5 * 2 ms; all weights and layer 1's input and output, 480 + 240 + 480, above 1,024.
ALONE = ["10", "0", "1", "1,200", "NO"]
NUMBERS = ["latency ms", "traffic bytes", "nodes", "SRAM bytes", "fits"]
EQUAL = " --layer 128,128,1,1,4,4"


def tables(text):
    """Each table as its title, the block before it, and its rows, heads first."""
    blocks = text.strip().split("\n\n")
    found = []
    for title, block in pairwise(blocks):
        rows = [re.split(r" {2,}", line.strip()) for line in block.splitlines()]
        if len(rows) > 1 and rows[0][-1] == "plan":
            found.append((" ".join(title.split()), rows))
    return found


def test_every_number_of_another_machine():
    text = output(f"{OTHER} --plan 1-2 --plan tensor")
    (title, best), (_, compared), (condition, links) = tables(text)
    assert "1,024" in text.split("Pareto")[0]
    assert "for 5 inputs. " in title and "Without a number: 2 plans, beaten only by" in title
    assert best == [
        ["#", *NUMBERS, "plan"],
        ["1", *ALONE, "1-2"],
        ["-", *TENSOR, "1-2:2"],
        ["-", *PIPELINE, "1,2"],
    ]
    assert compared == [
        [*NUMBERS, "beaten by", "plan"],
        [*TENSOR, "1-2", "tensor"],
        [*PIPELINE, "1-2", "pipeline"],
        [*ALONE, "none", "1-2"],
    ]
    # Tensor parallelism takes 5 + 1,500 / B ms, B in bytes a ms. The pipeline takes the longer of
    # 6 + 480 / B and 2 + 2,400 / B. One node takes 10 ms.
    assert "for 5 inputs; " in condition and "in GB/s (here 0.00024)" in condition
    assert links == [
        ["link GB/s", "plan"],
        ["0.0003 to 0.00102", "pipeline"],
        ["below 0.0003", "1-2"],
    ]


@settings(max_examples=settings.default.max_examples // 2)
@given(is_lab=st.booleans(), topology=TOPOLOGIES, data=st.data())
def test_tables_are_the_comparison(is_lab, topology, data):
    question = data.draw(questions(is_lab, topology))
    found = compare(question)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terminal, "COLUMNS", 10**6)
        (_, [_, *best]), (_, [_, *compared]), *links = tables(compare_text(found, question, None))
    ranks = {plan.text: str(rank) for rank, plan in enumerate(found.best, 1)}
    unranked = [plan for plan in found.fitting if plan.text not in ranks]
    every = sorted([*found.best, *unranked], key=lambda it: (it.latency_s, it.traffic_bytes))
    assert best == [[ranks.get(plan.text, "-"), *cells(plan), plan.text] for plan in every]
    plans = [(name, plan) for name, plan in found.compared.items() if not hasattr(plan, "reason")]
    assert [[*row[:-2], row[-1]] for row in compared] == [[*cells(p), name] for name, p in plans]
    for (_, plan), row in zip(plans, compared, strict=True):
        rivals = [other for other in found.best if other.text == row[-2]]
        assert len(rivals) == (row[-2] != "none")
        for rival in rivals or [plan]:
            assert rival.latency_s <= plan.latency_s and rival.traffic_bytes <= plan.traffic_bytes
    assert [row[-1] for _, [_, *rows] in links for row in rows] == [*found.faster]


def cells(plan):
    """A plan's numbers as they are printed."""
    fits = "yes" if plan.fits else "NO"
    numbers = (plan.traffic_bytes, plan.nodes, plan.sram_bytes)
    return [terminal.number(plan.latency_s * 1000), *map(terminal.number, numbers), fits]


@pytest.mark.parametrize(
    ("links", "text"),
    [
        (None, "none"),
        (Links(Fraction(0), Fraction(2_500_000)), "below 0.0025"),
        (Links(Fraction(1_234_567_000), Fraction(1_236_000_000)), "1.23 to 1.24"),
        (Links(Fraction(1_234_567_000), Fraction(1_234_987_000)), "1.2346 to 1.2350"),
    ],
)
def test_links_in_words(links, text):
    assert links_text(links) == text


def test_the_first_plans_and_all():
    text, full = output("plans --nodes 8"), output("plans --nodes 8 --all")
    (_, best), (_, every) = tables(text)[0], tables(full)[0]
    assert len(every) == 1 + 12
    assert best == every[:11]
    assert [row[0] for row in every[1:]] == [str(rank) for rank in range(1, 13)]
    assert re.findall(r"^2 more: .*--all", text, re.M)
    assert " more: " not in full + output("plans")
    # plans that only those that do not fit beat are counted, too
    (_, fewer), (_, both) = (
        tables(output(f"plans --nodes 16 --sram-kib 420{options}"))[0] for options in ("", " --all")
    )
    [more] = re.findall(r"^(\d+) more:", output("plans --nodes 16 --sram-kib 420"), re.M)
    assert len(both) - len(fewer) == int(more) > 0
    assert "-" in [row[0] for row in both]


def test_a_plan_without_a_number_stands_where_its_latency_belongs():
    # 6.25452032 ms (test_search.py), as 1-4:2, which beats it with fewer bytes but does not fit
    _, *best = tables(output("plans --inputs 1 --sram-kib 600"))[0][1]
    assert [(row[0], row[-1]) for row in best[:4]] == [
        ("1", "1-4:4"),
        ("2", "1-4:2"),
        ("-", "1-2:2,3-4:2"),
        ("3", "1-3:2,4"),
    ]
    assert best[2][1] == "6.25452032"


def beaten_by(text):
    return {row[-1]: row[-2] for row in tables(text)[-1][1] if row[-2] != "beaten by"}


def test_a_plan_as_fast_as_a_best_one_that_sends_more_is_beaten():
    # One input. Layer 1 has 480 ops and 480 bytes of output, layer 2 has 96 ops and 120 bytes; a
    # node does 96 ops and a link carries 120 bytes in 1 ms. Two nodes: 2.5 ms for layer 1 and 2 ms
    # to exchange its halves or to send them on. Layer 2 takes 1 ms on one node; on two 0.5 ms, and
    # 0.5 ms to gather halves: 5.5 ms in any case. 1:2,2 sends 480 bytes, 1-2:2 another 60, 1:2,2:2
    # 2 * 480 + 60. One node takes 6 ms. One node a layer: 5 + 4 + 1 ms, as many bytes as 1:2,2.
    plans_asked = ("1-2:2", "1:2,2", "1:2,2:2", "1-2", "1,2")
    text = output(
        "plans --inputs 1 --nodes 4 --gops 0.000096 --link-gbs 0.00012 --element-bytes 20"
        " --layer 4,2,5,1,6,3 --layer 2,4,2,1,2,3 --plan " + " --plan ".join(plans_asked)
    )
    best = tables(text)[0][1][1:]
    assert [row[1:3] + row[-1:] for row in best] == [["5.5", "480", "1:2,2"], ["6", "0", "1-2"]]
    same = {"1-2:2": "1:2,2", "1:2,2": "none", "1:2,2:2": "1:2,2", "1-2": "none", "1,2": "1:2,2"}
    assert beaten_by(text) == {"pipeline": "1:2,2", **same}


def test_another_plan_with_the_numbers_of_a_best_one_is_not_beaten():
    # worked by hand in test_search.py, test_fewer_nodes_come_before_less_sram
    sizes = [8, 4, 4, 1, 1]
    network = tuple(ConvLayer(out, into, 1, 1, 2, 2, 1) for into, out in pairwise(sizes))
    question = Question(network, System(nodes=4, ops_per_s=2, link_bytes_per_s=1), 2)
    plan = "1:2,2,3-4"
    found = compare(question, {plan: parse_plan(plan)})
    assert plan not in [it.text for it in found.best]
    assert beaten_by(compare_text(found, question))[plan] == "none"


def test_a_plan_that_ties_with_a_best_one_is_not_beaten():
    rows = tables(output("plans --plan 1-3:2,4 --plan 1-4:4"))[1][1]
    rival = "1-2:2,3,4"
    beaten = [("tensor", "none"), ("pipeline", rival), ("1-3:2,4", rival), ("1-4:4", "none")]
    assert [(row[-1], row[-2]) for row in rows[1:]] == beaten


def test_a_ring_says_which_plans_are_modelled():
    for nodes in (3, 4):
        assert f"On a ring of {nodes} nodes, only" in output(
            f"plans --topology ring --nodes {nodes}"
        )
    for options in ("", "--topology ring --nodes 1", "--topology ring --nodes 2"):
        assert "On a ring" not in output(f"plans {options}")  # every plan is modelled


def test_conditions_stand_beside_every_range_of_bandwidths():
    for options, where in (("", "on direct links"), ("--topology ring", "around the ring")):
        title, _ = tables(output(f"plans {options}"))[-1]
        assert f"Outputs are sent whole, {where}; " in title and "one input at a time" in title


def test_the_same_question_has_the_same_bytes():
    # plans that are equal in latency and bytes: which one stands for all must not depend on hashes
    command = "plans --nodes 7 --inputs 3 --gops 0.000024 --link-gbs 0.000096 --element-bytes 64"
    command += " --sram-kib 40 --plan 1:3,2:2,3:2" + " --layer 24,24,1,1,3,3" * 3
    texts = {
        python("report", *command.split(), env={**PLAIN, "PYTHONHASHSEED": seed}).stdout
        for seed in "123"
    }
    [text] = texts
    # it has the numbers of number 4 (or of a plan that fits), and is not beaten
    assert beaten_by(text)["1:3,2:2,3:2"] == "none"


def test_impossible_strategies_leave_the_plans():
    text = output("plans --nodes 3 --sram-kib 400")
    (title, rows), *others = tables(text)
    assert "Without a number" not in title and {row[5] for row in rows[1:]} == {"NO"} and not others
    assert "\n\nNo plan fits.\n\n" in text
    for name in ("Tensor", "Pipeline"):
        assert re.search(f"^{name} parallelism is not possible: ", text, re.M)
    found = json.loads(output("plans --nodes 3 --json"))["plans"]
    assert [*found["compared"]["tensor"]] == ["reason"]
    assert (found["fitting"], found["faster"]) == ([], {})
    text = output("plans --nodes 5")
    assert [row[-1] for row in tables(text)[-1][1]] == ["plan", "pipeline"]  # nothing to be faster


def test_a_search_that_is_refused_leaves_the_rest(monkeypatch):
    # 524,288 ops a layer, 10.48576 / 4 = 2.62144 us on four nodes, and 4,096 / 4 bytes to each
    # other in 0.512 us as at the end: 32 * 300 * 3.13344 us; 32 * (299 * 12 + 3) * 1,024 bytes. On
    # two nodes 5.24288 and 1.024 us; 32 * (299 * 2 + 1) * 2,048 bytes.
    monkeypatch.setattr(search, "MOST_PLANS", 1_000)
    text = output("plans --plan 1-300:2" + EQUAL * 300)
    assert text.count("too many to compare") == 1
    assert "#" not in text and "fits." not in text
    (_, compared), (_, links) = tables(text)
    assert [(row[0], row[1], row[-1]) for row in compared] == [
        ("latency ms", "traffic bytes", "plan"),
        ("30.081024", "117,669,888", "tensor"),
        ("60.162048", "39,256,064", "1-300:2"),
    ]
    assert "beaten by" not in compared[0]
    assert links[1:] == [["none", "1-300:2"]]
    found = json.loads(output("plans --json" + EQUAL * 300))["plans"]
    assert [*found["best"]] == [*found["fitting"]] == ["reason"]


@pytest.mark.parametrize(
    "options",
    [
        "--link-gbs 1e-6 --gops 1e8 --inputs 1000000000",
        "--gops 1e-6 --nodes 1000000 --plan pipeline",
        "--layer 1000000,1000000,1000,1000,1000000,1000000 --element-bytes 64 --inputs 1000000000",
        "--layer 720720,3,3,3,32,32 --nodes 1000000 --link-gbs 0.000777 --plan 1:360360",
    ],
)
def test_numbers_of_any_size_fit_in_80_columns(options):
    output(f"plans {options} --all")


def test_json_is_the_comparison():
    data = json.loads(output(f"{OTHER} --plan 1-2 --json"))
    assert [*data] == ["version", "asked", "plans"]
    assert data["asked"]["inputs"] == 5 and data["asked"]["system"]["sram_bytes"] == 1024
    found = data["plans"]
    [best] = found["best"]
    assert best.pop("plan") == [{"layers": 2, "nodes": 1}]
    names = ["text", "latency_s", "traffic_bytes", "nodes", "sram_bytes", "fits"]
    assert [*best.items()] == [*zip(names, ["1-2", 0.01, 0, 1, 1200, False], strict=True)]
    assert [plan["text"] for plan in found["fitting"]] == ["1-2:2", "1,2"]
    compared = {name: plan["text"] for name, plan in found["compared"].items()}
    assert compared == {"tensor": "1-2:2", "pipeline": "1,2", "1-2": "1-2"}

    faster = {name: [*links.values()] for name, links in found["faster"].items()}
    assert faster == {"pipeline": [300_000, 1_020_000], "1-2": [0, 300_000]}


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("--plan 1-4 --plan 1-2,3", ["--plan '1-2,3'", "group 2"]),
        (
            "--nodes 3 --plan pipeline",
            ["--plan 'pipeline'", "4 layers need 4 nodes or more, not 3"],
        ),
        (f"--plan {'1' * 9_999}", ["--plan '1111", "group 1"]),
        ("--plan=--", ["--plan"]),
        ("--plan 1-4 " * 21, ["--plan", "21", "20"]),
    ],
)
def test_a_wrong_plan_is_refused_in_one_sentence(line, parts):
    said = refusal(f"plans {line}")
    assert [part for part in parts if part not in said] == []


def test_a_plan_that_does_not_fit_stands_beside_the_one_that_does():
    # 2 filters of one weight on 2 x 2 places: one node holds 2 + 4 + 8 bytes, each of two 1 + 4 + 4
    question = Question((ConvLayer(2, 1, 1, 1, 2, 2, 1),), System(2, 4, 1, sram_bytes=9), 1)
    _, rows = tables(compare_text(compare(question), question))[0]
    assert [(row[0], row[-2], row[-1]) for row in rows[1:]] == [
        ("1", "NO", "1"),
        ("-", "yes", "1:2"),
    ]
