"""report/plans.py on the command line: what it says of any machine, and what it refuses."""

import json
import re
from fractions import Fraction

import pytest

import plans
import rows
import whatif
from plans import best_plans, bounds_text, parse_plan, plan_text
from program import PROJECT, call, output, python, refusal

# A machine that differs from the lab's in everything. Both layers have 96 ops, 1 ms of a node; a
# link carries 240 bytes in one. Elements of 20 bytes: layer 1 has 160 bytes of weights, 240 of
# input, 480 of output; layer 2 has 320, 480 and 120.
OTHER = (
    "--inputs 5 --nodes 2 --gops 0.000096 --link-gbs 0.00024 --sram-kib 1 --element-bytes 20"
    " --layer 4,2,1,1,2,3 --layer 2,4,2,1,2,3"
)
# Tensor parallelism: halves in 0.5 + 0.5 ms, 240 bytes in 1 ms, 60 in 0.25 ms: 5 * 2.25 ms; 5 *
# (2 * 240 + 60) bytes. A half of all weights, layer 2's input, half its output: 240 + 480 + 60.
TENSOR = ["11.25", "2,700", "2", "780", "yes"]
# The pipeline: 1 + 2 + 1 ms, and 4 * 2 ms more; 5 * 480 bytes. Layer 2: 320 + 480 + 120.
PIPELINE = ["12", "2,400", "2", "920", "yes"]
# One node: 5 * 2 ms; all weights and layer 1's input and output, 480 + 240 + 480, above 1,024.
ALONE = ["10", "0", "1", "1,200", "NO"]


def said(line=""):
    return output(line, plans.respond)


def data(line):
    status, out, err = call(f"{line} --json", plans.respond)
    assert (status, err) == (0, "")
    return json.loads(out)


def flat(text):
    return " ".join(text.split())


def rows_of(text):
    """The rows of each table, heads included: blocks of lines with two spaces in them."""
    blocks = [block.splitlines() for block in text.split("\n\n")]
    split = [[re.split(r"\s{2,}", line.strip()) for line in block] for block in blocks]
    return [block for block in split if len(block) > 1 and len(block[0]) > 2]


def test_every_figure_of_another_machine():
    text = said(f"{OTHER} --plan 1-2 --plan tensor")
    assert text.startswith(f"{whatif.asked(asked(OTHER))}\n\nA plan is ")
    assert "are of 5 inputs, with whole tensors." in flat(text)
    assert "holds more than 1,024 bytes of SRAM with one input at a time" in flat(text)
    figures = ["latency ms", "traffic bytes", "nodes", "SRAM bytes", "fits"]
    fitting, best, compared, streamed, links = rows_of(text)
    assert fitting == [
        ["#", *figures, "plan"],
        ["1", *TENSOR, "1-2:2"],
        ["2", *PIPELINE, "1,2"],
    ]
    assert best == [["#", *figures, "plan"], ["1", *ALONE, "1-2"]]
    assert compared == [
        [*figures, "beaten by", "plan"],
        [*TENSOR, "#1", "tensor"],
        [*PIPELINE, "#1", "pipeline"],
        [*ALONE, "none", "1-2"],
    ]
    assert "1-2 leaves 1 of 2 nodes idle." in text
    assert text.count("idle") == 1
    # All compute all the time: 5 * 2 ms by 2 nodes.
    assert "No schedule takes less than 5 ms," in flat(text)
    # Three rows of 1 / 3 ms on a node, 2 / 3 ms on the link: the first input after 1 / 3 + 2 + 1 /
    # 3 ms, each further one 2 ms later. Tensor parallelism has tests of its own.
    tensor_s = rows.streamed_latency("tensor", *asked(OTHER))
    assert streamed[0] == ["strategy", "whole tensors ms", "rows streamed ms"]
    [tensor, pipeline] = streamed[1:]
    assert tensor[:2] == ["tensor", "11.25"]
    assert float(tensor[2]) == pytest.approx(float(tensor_s * 1000), rel=1e-8)
    assert pipeline == ["pipeline", "12", "10.6666667"]
    # Tensor parallelism takes 5 + 1,500 / B ms, B in bytes a ms; in the limit 1 + 300 / B an input.
    # The pipeline takes the longer of 6 + 480 / B and 2 + 2,400 / B; in the limit of 1 and 480 / B.
    # One node takes 10 ms, 2 ms an input.
    assert links == [
        ["5 inputs", "ever more inputs", "plan"],
        ["0.3 to 1.02 MB/s", "above 0.18 MB/s", "pipeline"],
        ["below 0.3 MB/s", "below 0.3 MB/s", "1-2"],
    ]


def asked(line):
    return whatif.question(whatif.option_parser("", []).parse_args(line.split()))


def test_the_lab():
    text = said("--plan '1-3:2, 4:1' --plan=1-4:4")
    assert text.startswith("A plan is ")  # nothing differs
    fitting, best, compared, *_ = rows_of(text)
    assert [row[-1] for row in fitting] == ["plan", "1-4:4"]
    assert [row[0] for row in best] == ["#", *"12345678"]
    assert {row[-1]: row[-2] for row in compared} == {
        "plan": "beaten by",
        "tensor": "none",
        "pipeline": "#3",
        "1-3:2,4": "#3",
        "1-4:4": "none",
    }


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        (None, "never"),
        ((0, None), "always"),
        ((Fraction(1, 3), None), "above 3.33333333e-7 MB/s"),
        ((0, Fraction(2500000)), "below 2.5 MB/s"),
        ((Fraction(1500000), Fraction(2500000)), "1.5 to 2.5 MB/s"),
    ],
)
def test_links_in_words(bounds, text):
    assert bounds_text(bounds) == text


def test_the_first_plans_and_all():
    _, best, *_ = rows_of(said("--nodes 8"))
    _, every, *_ = rows_of(said("--nodes 8 --all"))
    assert len(every) == 1 + 12
    assert best == every[:11]
    assert [row[0] for row in every[1:]] == [str(rank) for rank in range(1, 13)]
    assert re.findall(r"^.* more: --all$", said("--nodes 8"), re.M) == ["2 more: --all"]
    assert "more: --all" not in said("--nodes 8 --all") + said()


def test_what_is_not_possible_is_said():
    text = flat(said("--nodes 3 --sram-kib 400"))
    assert "Plans that fit, and that no other that fits beats in latency and traffic: none." in text
    assert "Tensor parallelism is not possible: 3 nodes do not divide" in text
    assert "Pipeline parallelism is not possible: 4 layers need 4 nodes or more, not 3." in text
    assert "faster than tensor" not in text and "rows streamed ms" not in text
    text = said("--nodes 5")
    assert "pipeline leaves 1 of 5 nodes idle." in text
    assert [row[0] for row in rows_of(text)[-1]] == ["strategy", "pipeline"]


@pytest.mark.parametrize("topology", ["ring", "all-to-all"])
def test_a_ring(topology):
    text = said(f"--topology {topology}")
    assert ("On a ring a plan is" in text) == (topology == "ring")
    refused = re.search("Tensor parallelism with rows streamed is not", text)
    assert bool(refused) == (topology == "ring")


def test_a_search_that_is_refused_leaves_the_comparison():
    # 2,654,208 ops a layer, in 13.27104 us on four nodes, and 5,184 bytes to each other in 2.592 us
    # as at the end: 32 * 65 * 15.86304 = 32,995.1232 us; 32 * (64 * 12 + 3) * 5,184 bytes. On two
    # nodes 26.54208 and 5.184 us: 65,990.2464 us; 32 * (64 * 2 + 1) * 10,368 bytes. A node has 65
    # layers' weights of 32,768 bytes, or its share, an input of 20,736 bytes and its output.
    layers = " --layer=128,128,1,1,9,9" * 65
    text = said(f"--plan 1-65:2{layers}")
    assert "65 layers on 4 nodes have too many plans: the limit is 64 layers," in flat(text)
    compared, streamed, links = rows_of(text)
    assert compared[1:] == [
        ["32.9951232", "127,899,648", "4", "558,400", "NO", "?", "tensor"],
        ["65.9902464", "42,799,104", "2", "1,096,064", "NO", "?", "1-65:2"],
    ]
    assert [row[0] for row in streamed] == ["strategy", "tensor"]
    assert links[1:] == [["never", "never", "1-65:2"]]


# ------------------------------------------------ in a terminal


@pytest.mark.parametrize(
    "options",
    [
        "--nodes 1",
        "--nodes 2",
        "--nodes 16 --inputs 1",
        "--topology ring --nodes 3",
        "--link-gbs 1e-6 --gops 1e8 --inputs 1000000000",
        "--gops 1e-6 --nodes 1000000 --plan pipeline",
        "--nodes 128 --gops 1e-6 --link-gbs 1.23456789 --inputs 999999937",
        "--layer 1,1,1,1,1,1",
        "--layer 1000000,1000000,1000,1000,1000000,1000000 --element-bytes 64 --inputs 1000000000",
        "--layer 720720,3,3,3,32,32 --layer 720720,720720,1,1,30,30 --nodes 1000000 --gops 0.777777"
        " --inputs 999999937 --link-gbs 0.000777 --sram-kib 999999999 --plan 1:360360,2:360360",
        "--sram-kib 1",
        "--nodes 12 --inputs 1000 --all" + " --layer 128,128,1,1,4,4" * 12,
    ],
)
def test_any_machine_has_an_answer_in_80_columns(options):
    text = said(options)
    for strategy in ("tensor", "pipeline"):
        reason = f"{strategy.capitalize()} parallelism is not possible"
        assert re.search(rf"  {strategy}$|^{reason}", text, re.M)
    for name in {*named(text)} - {"tensor", "pipeline"}:
        assert plan_text(parse_plan(name)) == name


def named(text):
    """The plans in the last column of tables, where they may be broken after a comma."""
    for block in text.split("\n\n"):
        head, *lines = block.splitlines()
        if re.search("fits .*plan$", head):
            cells = "\n".join(line[head.rindex("plan") :] for line in lines)
            yield from cells.replace(",\n", ",").split("\n")


# ------------------------------------------------ for programs


def test_json():
    found = data(f"{OTHER} --plan 1-2")
    network, system, inputs = asked(OTHER)
    assert found["version"] == 1
    assert found["asked"] == {
        "network": [layer._asdict() for layer in network],
        "system": system._asdict(),
        "inputs": inputs,
    }
    alone = {
        "plan": [{"layers": 2, "nodes": 1}],
        "text": "1-2",
        "latency_s": 0.01,
        "traffic_bytes": 0,
        "nodes": 1,
        "sram_bytes": 1200,
        "fits": False,
    }
    assert found["best"] == [alone]
    assert [plan["text"] for plan in found["fitting"]] == ["1-2:2", "1,2"]
    assert {name: plan["text"] for name, plan in found["compared"].items()} == {
        "tensor": "1-2:2",
        "pipeline": "1,2",
        "1-2": "1-2",
    }
    assert found["faster"] == {
        "pipeline": [[300_000, 1_020_000], [180_000, None]],
        "1-2": [[0, 300_000], [0, 300_000]],
    }
    assert found["limit_s"] == 0.005
    assert found["streamed"]["pipeline"] == float(Fraction(32, 3000))
    assert found["streamed"]["tensor"] == float(rows.streamed_latency("tensor", *asked(OTHER)))


def test_json_of_what_is_not_possible():
    found = data("--nodes 3")
    assert found["compared"]["tensor"].startswith("Tensor parallelism is not possible: ")
    assert (found["fitting"], found["streamed"], found["faster"]) == ([], {}, {})
    found = data(" --layer=128,128,1,1,9,9" * 65)
    assert found["best"] == found["fitting"]
    assert "too many plans" in found["best"]
    found = data("--nodes 8")
    network, system, inputs = asked("--nodes 8")
    texts = [plan.text for plan in best_plans(network, system, inputs)]
    assert [plan["text"] for plan in found["best"]] == texts  # all of them


# ------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("--plan 1-2:3,3,4", ["--plan '1-2:3,3,4'", "group 1"]),
        ("--plan 1-4 --plan 1-2,3", ["--plan '1-2,3'", "group 2"]),
        ("--plan x", ["--plan 'x'", "group 1"]),
        ("--plan ''", ["--plan ''", "group 1"]),
        ("--nodes 3 --plan tensor", ["--plan 'tensor'", "128", "3"]),
        ("--nodes 3 --plan pipeline", ["--plan 'pipeline'", "group 4", "3"]),
        ("--topology ring --plan 1-2:2,3,4", ["group 1", "ring"]),
        (f"--plan {'1' * 9_999}", ["--plan '1111", "group 1"]),
        ("--link-gbs 100MB/s", ["--link-gbs", "100MB/s"]),
        ("--plans 1-4", ["--plans"]),
    ],
)
def test_one_sentence_and_status_2(line, parts):
    sentence = refusal(line, plans.respond)
    for part in parts:
        assert part in sentence


def test_help():
    status, text, err = call("--help", plans.respond)
    assert (status, err) == (0, "")
    assert max(map(len, text.splitlines())) <= 80
    examples = re.findall(r"^ +python3 report/plans\.py (.+)$", text, re.M)
    assert examples
    for example in examples:
        assert call(example, plans.respond)[0] == 0


def test_as_a_script_from_any_folder(tmp_path):
    result = python("-B", PROJECT / "report" / "plans.py", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert "1-2:2,3,4" in result.stdout
