"""report/whatif.py: what its options ask for, what it says and answers, and what is refused.

A refusal is status 2 and one sentence, which names the option, the value and what would be right.
"""

import re
import shlex
from fractions import Fraction

import pytest

import lab3
import whatif
from lab3 import NETWORK, SYSTEM, ConvLayer
from program import call, output, refusal
from whatif import Question

LAB = Question(NETWORK, SYSTEM, 32)
OTHERS = (ConvLayer(64, 3, 5, 5, 32, 32), ConvLayer(32, 64, 3, 3, 28, 28))


def of_system(**fields):
    return LAB._replace(system=SYSTEM._replace(**fields))


def of_elements(size, network=NETWORK):
    return LAB._replace(network=tuple(layer._replace(element_bytes=size) for layer in network))


# ------------------------------------------------ what is asked, said and answered


@pytest.mark.parametrize(
    ("line", "asked", "said"),
    [
        ("", LAB, ""),
        ("--inputs 7", LAB._replace(inputs=7), "7 inputs"),
        ("--inputs=1", LAB._replace(inputs=1), "1 input"),
        ("--inputs 1 --inputs 1000000000", LAB._replace(inputs=10**9), "1,000,000,000 inputs"),
        ("--nodes 8", of_system(nodes=8), "8 nodes"),
        ("--nodes 1", of_system(nodes=1), "1 node"),
        ("--topology ring", of_system(topology="ring"), "ring"),
        ("--topology=ring --topology all-to-all", LAB, ""),
        ("--gops 0.5", of_system(ops_per_s=500_000_000), "0.5 GOPS"),
        ("--gops 100000000", of_system(ops_per_s=10**17), "100000000 GOPS"),
        ("--gops 0.000001", of_system(ops_per_s=1000), "0.000001 GOPS"),
        ("--link-gbs .1", of_system(link_bytes_per_s=10**8), "0.1 GB/s"),
        ("--link-gbs 1e-6", of_system(link_bytes_per_s=1000), "0.000001 GB/s"),
        (
            "--link-gbs 2.00000000001",
            of_system(link_bytes_per_s=2 * 10**9 + Fraction(1, 100)),
            "2.00000000001 GB/s",
        ),
        ("--link-gbs 100000", of_system(link_bytes_per_s=10**14), "100000 GB/s"),
        ("--sram-kib 3", of_system(sram_bytes=3_072), "3 KiB of SRAM"),
        ("--sram-kib 1000000000", of_system(sram_bytes=1024 * 10**9), "1000000000 KiB of SRAM"),
        ("--element-bytes 1", of_elements(1), "elements of 1 byte"),
        ("--element-bytes 64", of_elements(64), "elements of 64 bytes"),
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
def test_each_difference(line, asked, said):
    parser = whatif.option_parser("", [])
    question = whatif.question(parser.parse_args(shlex.split(line)))
    assert question._replace(network=tuple(question.network)) == asked
    assert [type(rate) for rate in question.system[1:3]] == [
        type(rate) for rate in asked.system[1:3]
    ]
    first_lines = [f"what if: {said}"] if said else []
    assert output(line).splitlines() == [*first_lines, *lab3.answers(*asked).splitlines()]


# 3 nodes on a ring, 36,000 ops/s each, links of 54,000 bytes/s, 3 bytes an element.
# Layer 1: 6 filters of 2 x 2 x 1 on 4 x 3, so 3 x 3: 216 MACs, 432 ops, 54 elements, 162 bytes.
# Layer 2: 9 filters of 6 x 1 x 3 on 3 x 3, so 3 x 1: 486 MACs, 972 ops, 27 elements, 81 bytes.
# Tensor parallelism: 144 ops 4 ms; 2 shards of 54 bytes in turn 2 ms; 324 ops 9 ms; 2 shards of 27
# bytes 1 ms: 16 ms, five times that 80. Bytes: 3 * 2 * 54 + (1 + 2) * 27 = 405, and 2,025.
# Pipeline: 12 ms, 162 bytes in 3 ms, 27 ms: 42 ms, and 4 * 27 more: 150. Bytes: 162, and 810.
ODD = (
    "--inputs 5 --nodes 3 --topology ring --gops 0.000036 --link-gbs 0.000054 --sram-kib 1"
    " --element-bytes 3 --layer 6,2,2,1,4,3 --layer 9,6,1,3,3,3"
)


def test_a_machine_that_differs_in_everything():
    asked, _, answers = output(ODD).partition("-----Q1")
    assert " ".join(asked.split()) == (
        "what if: 5 inputs, 3 nodes, ring, 0.000036 GOPS, 0.000054 GB/s, 1 KiB of SRAM, "
        "elements of 3 bytes, 6x2x2x1 on 4x3, 9x6x1x3 on 3x3"
    )
    numbers = " ".join(re.findall(r"is (\S+)", answers))
    assert numbers == "0.016 405 0.042 162 0.08 2025 0.15 810"
    assert "Q2 5 inputs" in answers


def test_layers_that_differ_from_the_labs_in_y_alone():
    taller = LAB._replace(network=[layer._replace(y=layer.y + 1) for layer in NETWORK])
    assert "128x3x3x3 on 32x33, 128x128x3x3 on 30x31" in whatif.asked(taller)


def test_of_many_layers_three_are_spelled_out():
    assert "more" not in output("--layer 8,8,1,1,8,8 " * 3)
    said = output("--layer 8,8,1,1,8,8 " * 5 + "--nodes 8").partition("\n-")[0]
    spelled_out = ", ".join(["8x8x1x1 on 8x8"] * 3)
    assert " ".join(said.split()) == f"what if: 8 nodes, {spelled_out}, and 2 more layers"
    assert "on 8x8, and 1 more layer\n" in output("--layer 8,8,1,1,8,8 " * 4)


def test_the_longest_numbers_are_said_in_full():
    line = "--gops 10.00000000000000000000000001 --link-gbs 0.0000010000000000000000000001"
    line += " --nodes 1000000 --sram-kib 999999999 --layer 1000000,1,1,1,1,1"
    said = output(line).partition("\n-")[0].replace(",", "")
    assert [number for number in line.split()[1:8:2] if number not in said] == []


# ------------------------------------------------ forms of --layer

FORMS = ["128,3,3,3,32,32", "128, 3, 3, 3, 32, 32", "128,3,3,3 32,32", "128 3 3 3 32 32"]


@pytest.mark.parametrize(
    "words", [shlex.split(form) for form in FORMS] + [[FORMS[1]], [" 128,3 ,3,3, 32,32 "]]
)
def test_forms_of_a_layer(words):
    expected = output("--layer 128,3,3,3,32,32 --nodes 2")
    assert output(["--layer", *words, "--nodes", "2"]) == expected
    assert output(["--nodes", "2", f"--layer={' '.join(words)}"]) == expected


@pytest.mark.parametrize("layer", ["''", "128", "1,2,3,4,5", "1,2,3,4,5,6,7", "1x2x3x4x5x6"])
@pytest.mark.parametrize("before", [0, 2])
def test_a_layer_of_other_than_six(layer, before):
    message = refusal("--layer 8,8,1,1,4,4 " * before + f"--layer {layer}")
    assert f"--layer {before + 1}:" in message and "six whole numbers" in message
    assert all(part in message for part in (layer.strip("'"), *ConvLayer._fields[:6]))


def test_twelve_numbers_are_no_layer():
    twelve = "128,3,3,3,32,32 128,128,3,3,30,30"
    for words in (twelve, f"'{twelve}'", twelve.replace(",", " ")):
        assert "six" in refusal(f"--layer {words}")


@pytest.mark.parametrize("size", ["0", "-1", "3.0", "1e1", "x", "1000001"])
def test_a_layer_with_a_bad_size(size):
    message = refusal(f"--layer 8,3,1,1,34,34 --layer 8,3,{size},3,32,32")
    assert "--layer 2:" in message and f"'{size}'" in message and "1,000,000" in message


def test_layers_that_do_not_chain():
    message = refusal("--layer 4,3,3,3,8,8 --layer 4,5,3,3,6,6")
    parts = ["layer 2", "layer 1", "4, 6, 6", "5, 6, 6", "stride 1", "no padding", "no pooling"]
    assert [part for part in parts if part not in message] == []
    assert "layer 1" in refusal("--layer 4,3,3,5,4,4")  # the filter exceeds its input


# ------------------------------------------------ values

COUNTS = {"--inputs": ("inputs", 10**9), "--nodes": ("nodes", 10**6)}
COUNTS |= {"--sram-kib": ("KiB", 10**9), "--element-bytes": ("bytes", 64)}
RATES = {"--gops": ("GOPS", 10**8), "--link-gbs": ("GB/s", 10**5)}


def check_value(option, value):
    """It is refused with its unit, upper bound and examples, which are accepted."""
    unit, high = {**COUNTS, **RATES}[option]
    message = refusal([f"{option}={value}"])
    assert [part for part in (option, value[:20], unit, f"{high:,}") if part not in message] == []
    _, suggested = message.split("such as ")
    for example in suggested.split(" or "):
        output(f"{option} {example}")


@pytest.mark.parametrize("option", [*COUNTS, *RATES])
@pytest.mark.parametrize(
    "value", ["", "a", "0", "-1", "0x10", "1/3", "1,5", "nan", "inf", "1e1000"]
)
def test_what_is_no_number_within_the_bounds(option, value):
    check_value(option, value)


@pytest.mark.parametrize("option", [*COUNTS, *RATES])
def test_what_is_too_long_for_a_number(option):
    check_value(option, "9" * 31)
    check_value(option, "9" * 40_000)  # not parsed, which would take a minute


@pytest.mark.parametrize("option", COUNTS)
def test_bounds_of_counts(option):
    _, high = COUNTS[option]
    for value in (str(high + 1), "1.5", "1e3"):
        check_value(option, value)
    # the bounds themselves are right, if not for the lab's network
    for bound in (1, high):
        output(f"{option} {bound} --layer 1000000,1,1,1,1,1")


@pytest.mark.parametrize("option", RATES)
def test_bounds_of_rates(option):
    _, high = RATES[option]
    for value in (f"{high}.000001", "0.0000009", "50e9"):
        check_value(option, value)


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("--topology star", ["--topology", "star", "all-to-all", "ring"]),
        ("--inp 3", ["--inp"]),  # abbreviations are none
        ("--node=3", ["--node"]),
        ("--layers 1,1,1,1,1,1", ["--layers"]),
        ("3", ["3"]),
        *((option, [option]) for option in [*COUNTS, *RATES, "--topology", "--layer"]),
        ("--nodes 3", ["tensor", "pipeline", "3 nodes", "128", "layer 1", "4 layers", "4 nodes"]),
    ],
)
def test_what_is_refused(line, parts):
    message = refusal(line).lower()
    assert [part for part in parts if part not in message] == []


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
def test_one_strategy_is_possible(nodes, possible, reason):
    _, *lines = output(f"--nodes {nodes}").splitlines()
    for header, *answers in (lines[:4], lines[4:]):
        assert header.startswith("--")
        answers.remove(reason)
        latency, traffic = answers
        assert f"latency of {possible}" in latency and f"traffic of {possible}" in traffic


def test_thirty_characters_are_a_number():
    for option, value in [("--inputs", "7"), ("--gops", "1.")]:
        zeros = "0" * (30 - len(value))
        whole = value + zeros if "." in value else zeros + value
        assert output(f"{option} {whole}") == output(f"{option} {value}")
        check_value(option, f"0{whole}")


def test_how_a_value_is_shown():
    assert whatif.shown("x" * 38) == f"'{'x' * 38}'"
    assert whatif.shown("x" * 39) == f"'{'x' * 30}'..."
    assert whatif.shown("\n\u0661") == r"'\n\u0661'"
    assert whatif.shown([10**50]) == f"[1{'0' * 28}..."


def test_how_a_paragraph_is_filled():
    assert whatif.filled("x" * 39 + " " + "y" * 40) == "x" * 39 + " " + "y" * 40
    assert whatif.filled("x" * 75 + " all-to-all", "  ") == "x" * 75 + "\n  all-to-all"


# ------------------------------------------------ --help


def test_help():
    status, text, err = call("--help")
    assert (status, err) == (0, "") and max(map(len, text.splitlines())) <= 80
    text_on_one_line = " ".join(text.split())
    for fact in ("SRAM changes what fits, and no latency", "stride 1, no padding, no pooling"):
        assert fact in text_on_one_line
    defaults = {"--inputs": 32, "--nodes": 4, "--gops": 50, "--link-gbs": 2, "--sram-kib": 512}
    for option, default in {**defaults, "--element-bytes": 2}.items():
        (line,) = [line for line in text.splitlines() if line.strip().startswith(f"{option} ")]
        assert f"({default})" in line


def test_the_examples_of_the_help_work():
    examples = re.findall(r"^  python3 report/whatif\.py (.*)$", call("-h")[1], re.MULTILINE)
    assert len(examples) == 3
    for example in examples:
        assert output(example).startswith("what if: ")


def test_sram_changes_no_answer():
    assert output("--sram-kib 1").partition("\n")[2] == output("")
