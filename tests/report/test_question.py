"""report/question.py: what the options ask for, how it is repeated and answered, what is refused.

A refusal names the option, the value and what would be accepted.
"""

import re
import shlex
from argparse import ArgumentParser
from fractions import Fraction

import pytest

import lab3
from lab3 import NETWORK, SYSTEM, ConvLayer, System
from program import call, output, refusal
from report import question
from report.question import LAB, Impossible, Question, asked, possible_strategies

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
        ("--inputs 7", LAB._replace(inputs=7), "7 inputs"),
        ("--inputs=1", LAB._replace(inputs=1), "1 input"),
        ("--inputs 1 --inputs 1000000000", LAB._replace(inputs=10**9), "1,000,000,000 inputs"),
        ("--nodes 8", LAB.on(nodes=8), "8 nodes"),
        ("--nodes 1", LAB.on(nodes=1), "1 node"),
        ("--topology ring", LAB.on(topology="ring"), "ring"),
        ("--topology=ring --topology all-to-all", LAB, ""),
        ("--gops 0.5", LAB.on(ops_per_s=500_000_000), "0.5 GOPS"),
        ("--gops 0.000001", LAB.on(ops_per_s=1000), "0.000001 GOPS"),
        ("--link-gbs .1", LAB.on(link_bytes_per_s=10**8), "0.1 GB/s"),
        ("--link-gbs 1e-6", LAB.on(link_bytes_per_s=1000), "0.000001 GB/s"),
        (
            "--link-gbs 2.00000000001",
            LAB.on(link_bytes_per_s=2 * 10**9 + Fraction(1, 100)),
            "2.00000000001 GB/s",
        ),
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
    # a whole rate is an int
    assert [type(rate) for rate in found.system[1:3]] == [
        type(rate) for rate in expected.system[1:3]
    ]
    assert asked(expected) == said
    text = output(f"whatif {line}")
    assert said_of(text) == said
    assert text.endswith(f"{lab3.answers(*expected)}\n")


# 3 nodes on a ring, 36,000 ops/s each, links of 54,000 bytes/s, 3 bytes an element.
# Layer 1: 6 filters of 2 x 2 x 1 on 4 x 3, so 3 x 3: 216 MACs, 432 ops, 54 elements, 162 bytes.
# Layer 2: 9 filters of 6 x 1 x 3 on 3 x 3, so 3 x 1: 486 MACs, 972 ops, 27 elements, 81 bytes.
# Tensor parallelism: 144 ops 4 ms; 2 shards of 54 bytes in turn 2 ms; 324 ops 9 ms; 2 shards of 27
# bytes 1 ms: 16 ms, five times that 80. Bytes: 3 * 2 * 54 + (1 + 2) * 27 = 405, and 2,025.
# Pipeline: 12 ms, 162 bytes in 3 ms, 27 ms: 42 ms, and 4 * 27 more: 150. Bytes: 162, and 810.
def test_a_machine_that_differs_in_everything():
    text = output(
        "whatif --inputs 5 --nodes 3 --topology ring --gops 0.000036 --link-gbs 0.000054"
        " --sram-kib 1 --element-bytes 3 --layer 6,2,2,1,4,3 --layer 9,6,1,3,3,3"
    )
    assert said_of(text) == (
        "5 inputs, 3 nodes, ring, 0.000036 GOPS, 0.000054 GB/s, 1 KiB of SRAM, "
        "elements of 3 bytes, 6x2x2x1 on 4x3, 9x6x1x3 on 3x3"
    )
    numbers = " ".join(re.findall(r"is (\S+)", text))
    assert numbers == "0.016 405 0.042 162 0.08 2025 0.15 810"
    assert "Q2 5 inputs" in text


def test_layers_that_differ_from_the_labs_in_y_alone_are_said():
    taller = LAB._replace(network=[layer._replace(y=layer.y + 1) for layer in NETWORK])
    assert "128x3x3x3 on 32x33, 128x128x3x3 on 30x31" in asked(taller)


@pytest.mark.parametrize(
    ("layers", "more"), [(3, ""), (4, ", and 1 more layer"), (5, ", and 2 more layers")]
)
def test_of_many_layers_three_are_spelled_out(layers, more):
    said = asked(Question([ConvLayer(8, 8, 1, 1, 8, 8)] * layers))
    assert said == ", ".join(["8x8x1x1 on 8x8"] * 3) + more


def test_the_longest_numbers_are_said_in_full():
    line = "--gops 10.00000000000000000000000001 --link-gbs 0.0000010000000000000000000001"
    line += " --nodes 1000000 --sram-kib 999999999 --layer 1000000,1,1,1,1,1"
    said = said_of(output(f"whatif {line}")).replace(",", "")
    assert [number for number in line.split()[1:8:2] if number not in said] == []


def test_sram_changes_no_answer():
    assert output("whatif --sram-kib 1").partition("\n")[2] == output("whatif")


@pytest.mark.parametrize(
    ("nodes", "possible", "reason"),
    [
        (2, "tensor", "Pipeline parallelism is not possible: 4 layers need 4 nodes or more, not 2"),
        (
            5,
            "pipeline",
            "Tensor parallelism is not possible: 5 nodes do not divide layer 1's 128 filters",
        ),
    ],
)
def test_one_strategy_is_possible_and_the_other_has_a_reason(nodes, possible, reason):
    machine = NETWORK, SYSTEM._replace(nodes=nodes)
    stages, impossible = possible_strategies(*machine)
    assert stages == {possible: question.STRATEGIES[possible](*machine)}
    [other] = {"tensor", "pipeline"} - {possible}
    assert impossible == {other: Impossible(reason)}
    assert output(f"whatif --nodes {nodes}").count(f"{reason}\n") == 2  # in Q1 and in Q2


def test_where_neither_strategy_is_possible_both_reasons_are_given():
    said = refusal("whatif --nodes 3")
    assert said == (
        "Tensor parallelism is not possible: 3 nodes do not divide layer 1's 128 filters. "
        "Pipeline parallelism is not possible: 4 layers need 4 nodes or more, not 3"
    )
    with pytest.raises(ValueError, match=re.escape(said)):
        possible_strategies(NETWORK, System(nodes=3))


# ------------------------------------------------ --layer

FORMS = ["128,3,3,3,32,32", "128, 3, 3, 3, 32, 32", "128,3,3,3 32,32", "128 3 3 3 32 32"]


@pytest.mark.parametrize("form", [*FORMS, f"'{FORMS[1]}'", "' 128,3 ,3,3, 32,32 '"])
def test_forms_of_a_layer_are_equal(form):
    expected = asked_by("--layer 128,3,3,3,32,32 --nodes 2")
    assert asked_by(f"--layer {form} --nodes 2") == expected
    together = form.replace("'", "")
    assert asked_by(f"--nodes 2 --layer='{together}'") == expected


@pytest.mark.parametrize(
    ("layer", "given"),
    [
        ("''", "0 numbers"),
        ("128", "1 number"),
        ("1,2,3,4,5", "5 numbers"),
        ("1,2,3,4,5,6,7", "7 numbers"),
        ("1x2x3x4x5x6", "1 number"),
        ("128,3,3,3,32,32 128,128,3,3,30,30", "12 numbers"),  # two layers
        ("'128 3 3 3 32 32 128 128 3 3 30 30'", "12 numbers"),
    ],
)
@pytest.mark.parametrize("before", [0, 2])
def test_a_layer_of_other_than_six_numbers_is_refused(layer, given, before):
    said = refusal("whatif " + "--layer 8,8,1,1,4,4 " * before + f"--layer {layer}")
    assert said.startswith(f"--layer {before + 1}: ")
    parts = [f" has {given}, not six", ",".join(ConvLayer._fields[:6]), "a --layer for each"]
    assert [part for part in [*parts, layer.strip("'")[:30]] if part not in said] == []


@pytest.mark.parametrize("size", ["0", "-1", "3.0", "1e1", "x", "1000001"])
def test_a_size_of_a_layer_is_from_1_to_a_million(size):
    said = refusal(f"whatif --layer 8,3,1,1,34,34 --layer 8,3,{size},3,32,32")
    assert said.startswith(
        f"--layer 2: '{size}' is not a whole number of elements from 1 to 1,000,"
    )
    assert asked_by("--layer 1000000,1,1,1,1,1").network[0].filters == 10**6


def test_layers_that_do_not_chain_are_refused():
    said = refusal("whatif --layer 4,3,3,3,8,8 --layer 4,5,3,3,6,6")
    for part in ("layer 2", "layer 1", "4, 6, 6", "5, 6, 6", "stride 1, no padding, no pooling"):
        assert part in said
    assert "layer 1" in refusal("whatif --layer 4,3,3,5,4,4")  # the filter exceeds its input


def test_a_thousand_layers_are_the_most():
    layers = ["--layer", "8,8,1,1,8,8"] * 1_000
    assert output(["whatif", *layers, "--nodes", "8"])
    said = refusal(["whatif", *layers, "--layer", "8,8,1,1,8,8"])
    assert said == "--layer: 1,001 layers are more than 1,000"


# ------------------------------------------------ values

COUNTS = {"--inputs": ("inputs", 10**9), "--nodes": ("nodes", 10**6)}
COUNTS |= {"--sram-kib": ("KiB", 10**9), "--element-bytes": ("bytes", 64)}
RATES = {"--gops": ("GOPS", 10**8), "--link-gbs": ("GB/s", 10**5)}


def check_refused(option, value):
    """With the value, its unit, upper bound and examples, which are accepted."""
    unit, high = {**COUNTS, **RATES}[option]
    said = refusal(["whatif", f"{option}={value}"])
    assert [part for part in (option, value[:20], unit, f"{high:,}") if part not in said] == []
    for example in said.split("such as ")[1].split(" or "):
        output(f"whatif {option} {example}")


@pytest.mark.parametrize("option", [*COUNTS, *RATES])
def test_what_is_no_number_within_the_bounds_is_refused(option):
    for value in ("", "a", "0", "-1", "0x10", "1/3", "1,5", "nan", "inf", "1e1000", "9" * 31):
        check_refused(option, value)
    check_refused(option, "9" * 40_000)  # not parsed, which would take a minute


@pytest.mark.parametrize("option", COUNTS)
def test_bounds_of_counts(option):
    _, high = COUNTS[option]
    for value in (str(high + 1), "1.5", "1e3"):
        check_refused(option, value)
    for bound in (1, high):  # is right, if not for the lab's network
        output(f"whatif {option} {bound} --layer 1000000,1,1,1,1,1")


@pytest.mark.parametrize("option", RATES)
def test_bounds_of_rates(option):
    _, high = RATES[option]
    for value in (f"{high}.000001", "0.0000009", "50e9"):
        check_refused(option, value)
    for bound in ("0.000001", high):
        output(f"whatif {option} {bound}")


def test_thirty_characters_are_a_number():
    for option, value in [("--inputs", "7"), ("--gops", "1.")]:
        zeros = "0" * (30 - len(value))
        whole = value + zeros if "." in value else zeros + value
        assert asked_by(f"{option} {whole}") == asked_by(f"{option} {value}")
        check_refused(option, f"0{whole}")


def test_another_topology_is_refused():
    said = refusal("whatif --topology star")
    for part in ("--topology", "star", "all-to-all", "ring"):
        assert part in said


def test_the_help_says_every_default():
    _, text, _ = call("whatif --help")
    defaults = {"--inputs": 32, "--nodes": 4, "--gops": 50, "--link-gbs": 2, "--sram-kib": 512}
    for option, default in {**defaults, "--element-bytes": 2}.items():
        (line,) = [line for line in text.splitlines() if line.strip().startswith(f"{option} ")]
        assert f"(default: {default})" in line
