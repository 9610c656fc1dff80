"""report/question.py: what the options ask for, how it is repeated and answered, what is refused.

A refusal names the option, the value and what would be accepted.
"""

import re
import shlex
from argparse import ArgumentParser
from fractions import Fraction

import pytest

import lab3
from lab3 import NETWORK, ConvLayer, System
from program import call, output, refusal
from report import question
from report.question import LAB, Impossible, Question, asked, check_possible, possible_strategies

OTHERS = (ConvLayer(64, 3, 5, 5, 32, 32), ConvLayer(32, 64, 3, 3, 28, 28))


def asked_by(line):
    """The question that a line of options asks."""
    parser = ArgumentParser()
    question.add_options(parser)
    found = question.question_of(parser.parse_args(shlex.split(line)))
    return found._replace(network=tuple(found.network))


def of_elements(size, network=NETWORK):
    return LAB._replace(network=tuple(layer._replace(element_bytes=size) for layer in network))


def said_of(text):
    """The line that says what was asked, if the answer is below one."""
    said, *_ = text.partition("\n-----Q1")
    return " ".join(said.split()).removeprefix("what if: ") if "what if" in said else ""


# ------------------------------------------------ what is asked, said and answered


@pytest.mark.parametrize(
    ("line", "expected", "said"),
    [
        ("", LAB, ""),
        ("--inputs 7 --inputs=1", LAB._replace(inputs=1), "1 input"),
        ("--nodes 8 --inputs 7", LAB._replace(inputs=7).on(nodes=8), "7 inputs, 8 nodes"),
        ("--nodes=1 --gops 7", LAB.on(nodes=1, ops_per_s=7 * 10**9), "1 node, 7 GOPS"),
        ("--topology ring", LAB.on(topology="ring"), "ring"),
        ("--topology Ring", LAB.on(topology="ring"), "ring"),
        ("--gops .5", LAB.on(ops_per_s=500_000_000), "0.5 GOPS"),
        ("--link-gbs 1e-6", LAB.on(link_bytes_per_s=1000), "0.000001 GB/s"),
        ("--gops 1.00000000001", LAB.on(ops_per_s=10**9 + Fraction(1, 100)), "1.00000000001 GOPS"),
        ("--sram-kib 3", LAB.on(sram_bytes=3_072), "3 KiB of SRAM"),
        ("--element-bytes 1", of_elements(1), "elements of 1 byte"),
        (
            "--layer 64,3,5,5,32,32 --element-bytes 4 --layer=32,64,3,3,28,28",
            of_elements(4, OTHERS),
            "elements of 4 bytes, 64x3x5x5 on 32x32, 32x64x3x3 on 28x28",
        ),
        # the lab's layers are no difference, nor are other options with the lab's numbers
        (" --layer ".join(["", *(",".join(map(str, layer[:6])) for layer in NETWORK)]), LAB, ""),
        ("--nodes 4 --gops 50 --link-gbs 2.0 --sram-kib 512 --element-bytes 2", LAB, ""),
    ],
)
def test_each_difference_is_asked_said_and_answered(line, expected, said):
    found = asked_by(line)
    assert found == expected
    assert [*map(type, found.system)] == [*map(type, expected.system)]  # a whole rate is an int
    assert asked(expected) == said
    text = output(f"whatif {line}")
    assert said_of(text) == said
    answers = lab3.answers(*expected)
    assert text.endswith(f"{answers}\n")


def test_layers_that_differ_from_the_labs_in_y_alone_are_said():
    taller = LAB._replace(network=[layer._replace(y=layer.y + 1) for layer in NETWORK])
    assert "128x3x3x3 on 32x33, 128x128x3x3 on 30x31" in asked(taller)


def test_of_many_layers_three_are_spelled_out():
    three = ", ".join(["8x8x1x1 on 8x8"] * 3)
    for layers, more in [(3, ""), (4, ", and 1 more layer"), (5, ", and 2 more layers")]:
        assert asked(Question([ConvLayer(8, 8, 1, 1, 8, 8)] * layers)) == three + more


def test_the_longest_numbers_are_said_in_full():
    line = "--gops 10.00000000000000000000000001 --link-gbs 0.0000010000000000000000000001"
    line += " --nodes 1000000 --sram-kib 999999999 --layer 1000000,1,1,1,1,1"
    said = said_of(output(f"whatif {line}")).replace(",", "")
    assert all(number in said for number in line.split()[1:8:2])


REASONS = {
    "tensor": (
        "Tensor parallelism is not possible: layer 1's 128 filters cannot be split evenly over {}"
        " nodes"
    ),
    "pipeline": "Pipeline parallelism is not possible: 4 layers need 4 nodes or more, not {}",
}


@pytest.mark.parametrize(
    ("nodes", "possible", "other"), [(2, "tensor", "pipeline"), (5, "pipeline", "tensor")]
)
def test_one_strategy_is_possible_and_the_other_has_a_reason(nodes, possible, other):
    machine, reason = (NETWORK, System(nodes)), REASONS[other].format(nodes)
    stages, impossible = possible_strategies(*machine)
    assert stages == {possible: question.STRATEGIES[possible](*machine)}
    assert impossible == {other: Impossible(reason)}
    told = " ".join(output(f"whatif --nodes {nodes}").split())
    assert told.count(reason) == 2  # in Q1 and in Q2


@pytest.mark.parametrize(
    ("line", "is_said"),
    [
        ("--nodes 2", True),  # 1-2,3-4
        ("--nodes 5", True),
        ("--nodes 5 --topology ring", True),
        ("--nodes 1", False),  # one node does all, as in tensor parallelism
        ("--nodes 3 --layer 4,1,1,1,1,1", True),  # 1:2
        ("--nodes 3 --layer 4,1,1,1,1,1 --topology ring", False),
        ("--nodes 3 --layer 5,1,1,1,1,1", False),  # no two nodes divide five filters
        ("--nodes 3 --layer 1,1,1,1,1,1 --layer 4,1,1,1,1,1", True),  # 1,2:2
        ("--nodes 3 --layer 5,1,1,1,1,1 --layer 5,5,1,1,1,1", False),
        ("--nodes 3 --layer 3,1,1,1,1,1 --layer 5,3,1,1,1,1", False),  # 1:3 leaves none for 2
        ("--nodes 4", False),  # both are possible
    ],
)
def test_other_plans_are_named_if_there_are_any(line, is_said):
    words = " has other ways to split the CNN.\n"
    assert output(f"whatif {line}").endswith(words) == is_said


def test_where_neither_strategy_is_possible_both_reasons_are_given():
    said = ". ".join(REASONS.values()).format(3, 3)
    assert refusal("whatif --nodes 3").startswith(
        f"{said}. `python3 report plans`, with the same options, has other ways"
    )
    with pytest.raises(ValueError, match=re.escape(said)):
        check_possible(NETWORK, System(nodes=3))
    assert output("plans --nodes 3")


# ------------------------------------------------ --layer


def test_forms_of_a_layer_are_equal():
    for form in ("'12 3 3 3 5 5'", "' 12,3 ,3,3, 5,5 '"):
        assert asked_by(f"--layer {form} --nodes 2") == asked_by("--nodes 2 --layer=12,3,3,3,5,5")


@pytest.mark.parametrize(
    "layer", ["", "9", "1,2,3,4,5", "1,2,3,4,5,6,7", "1,1,1,1,9,9 1,1,1,1,9,9"]
)
def test_a_layer_of_other_than_six_numbers_is_refused(layer):
    said = refusal(["whatif", "--layer", "8,8,1,1,4,4", "--layer", layer])
    given = len(re.findall(r"\d+", layer))
    needed = f"six numbers (filters,in_channels,fx,fy,x,y), not {given}; one --layer per layer"
    assert said == f"argument --layer: '{layer}' needs {needed}"


def test_a_size_of_a_layer_is_from_1_to_a_million():
    for size in ("0", "3.0", "1e1", "1000001"):
        said = refusal(f"whatif --layer 8,3,1,1,34,34 --layer 8,3,{size},3,32,32")
        wanted = "not a whole number of fx from 1 to 1,000,000"
        assert said.startswith(f"argument --layer: '8,3,{size},3,32,32': '{size}' is {wanted}")
    assert asked_by("--layer 1000000,1,1,1,1,1").network[0].filters == 10**6


def test_layers_that_do_not_chain_are_refused():
    assert refusal("whatif --layer 4,3,3,3,8,8 --layer 4,5,3,3,6,6").startswith("--layer 2: ")


def test_a_thousand_layers_are_the_most():
    layers = ["--layer", "8,8,1,1,8,8"] * 1_000
    assert output(["whatif", *layers, "--nodes", "8"])
    said = refusal(["whatif", *layers, *layers[:2]])
    assert said == "--layer: 1,001 layers are more than 1,000"


# ------------------------------------------------ values

BOUNDS = {  # unit, and from what to what
    "--inputs": ("inputs", "1", "1,000,000,000"),
    "--nodes": ("nodes", "1", "1,000,000"),
    "--sram-kib": ("KiB", "1", "1,000,000,000"),
    "--element-bytes": ("bytes", "1", "64"),
    "--gops": ("GOPS", "0.000001", "100,000,000"),
    "--link-gbs": ("GB/s", "0.000001", "100,000"),
}


def check_refused(option, value):
    """With the value, its unit, bounds and examples, which are accepted."""
    unit, low, high = BOUNDS[option]
    said = refusal(["whatif", f"{option}={value}"])
    assert all(part in said for part in (option, value[:20], f"of {unit} from {low} to {high},"))
    for example in said.split("such as ")[1].split(" or "):
        output(f"whatif {option} {example}")


@pytest.mark.parametrize("option", BOUNDS)
def test_what_is_no_number_within_the_bounds_is_refused(option):
    for value in ("", "a", "0", "-1", "0x10", "1/3", "1,5", "nan", "inf", "1e1000", "9" * 31):
        check_refused(option, value)
    check_refused(option, "9" * 40_000)  # not parsed, which would take a minute


def test_a_negative_number_is_a_value():
    for line in ("whatif --gops -.5", "whatif --gops=-.5"):
        assert refusal(line).startswith("argument --gops: '-.5' is not a number of GOPS")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        *(("50GOPS", ", without a unit"), ("1.5 GB/s", ", without a unit")),
        *(("1,000", ", without commas"), ("20,000,000", ", without commas")),
        *(("nan", " 0.1"), ("50e9", " 0.1"), ("1,5", " 0.1")),
    ],
)
def test_what_is_written_beside_a_number_is_told(value, told):
    assert refusal(["whatif", "--gops", value]).endswith(told)


@pytest.mark.parametrize("option", BOUNDS)
def test_a_bound_is_right(option):
    _, low, high = BOUNDS[option]
    high = high.replace(",", "")
    counts, rates = (str(int(high) + 1), "1.5", "1e3"), (f"{high}.000001", "0.0000009", "50e9")
    for value in counts if low == "1" else rates:
        check_refused(option, value)
    for bound in (low, high):  # if not for the lab's network
        output(f"whatif {option} {bound} --layer 1000000,1,1,1,1,1")


def test_thirty_characters_are_a_number():
    for option, value in (("--inputs", f"{7:030}"), ("--gops", f"{1:030}")):
        assert asked_by(f"{option} {value}") == asked_by(f"{option} {value[-1]}")
        check_refused(option, f"0{value}")
    check_refused("--gops", f"1.{'0' * 28}1e0")
    told = "has too many digits; write a number of GOPS from "
    assert told in refusal(f"whatif --gops 50.{'0' * 28}1")


def test_another_topology_is_refused():
    assert "--topology: invalid choice: 'star'" in refusal("whatif --topology star")


def test_the_help_says_every_default():
    _, text, _ = call("whatif --help")
    defaults = re.findall(r"^  (--\S+) [A-Z] .*\(default: (\d+)\)$", text, re.MULTILINE)
    assert " ".join(" ".join(pair) for pair in defaults) == (
        "--inputs 32 --nodes 4 --gops 50 --link-gbs 2 --sram-kib 512 --element-bytes 2"
    )
