"""report/question.py: what the options ask, what is refused, and the `whatif` command."""

import re
from fractions import Fraction

import pytest

import lab3
from machines import INPUTS, LAB, NETWORK, ODD, ODD_OPTIONS, SYSTEM
from program import ask, output, refusal
from report import InputError, question
from report.model import CODE
from report.question import describe_question, make_models

LONG = "1.000000000000000000000000001"  # as many digits as an option may have are not rounded
ONE_BYTE = tuple(layer._replace(element_bytes=1) for layer in NETWORK)


def on(network=NETWORK, inputs=INPUTS, **system):
    """Make the lab's question with something else in it."""
    return question.Question(network, SYSTEM._replace(**system), inputs)


# ------------------------------------------------ what is asked
@pytest.mark.parametrize(
    ("line", "expected", "described"),
    [
        # the lab's numbers are no difference
        (" ".join(f"--layer {','.join(map(str, it[:6]))}" for it in NETWORK), LAB, ""),
        ("--nodes 4 --gops 5e1 --link-gbs 2.0 --sram-kib 512 --element-bytes 2", LAB, ""),
        ("--inputs 7 --inputs=1", on(inputs=1), "1 input"),
        ("--nodes 8 --inputs 1000", on(inputs=1000, nodes=8), "1,000 inputs, 8 nodes"),
        ("--gops .5", on(ops_per_s=5 * 10**8), "0.5 GOPS"),
        ("--link-gbs 1e-6", on(link_bytes_per_s=1000), "0.000001 GB/s"),
        (f"--gops {LONG}", on(ops_per_s=10**9 + Fraction(1, 10**18)), f"{LONG} GOPS"),
        ("--link-gbs 1.2345e-6", on(link_bytes_per_s=Fraction(2469, 2)), "0.0000012345 GB/s"),
        ("--sram-kib 3", on(sram_bytes=3_072), "3 KiB of SRAM"),
        ("--element-bytes 1", on(ONE_BYTE), "elements of 1 byte"),
        (
            ODD_OPTIONS,
            ODD,
            "8 inputs, 6 nodes, 0.0000625 GOPS, 0.00000125 GB/s, 9 KiB of SRAM, elements of 3"
            " bytes, 6x1x2x4 on 9x8, 12x6x4x3 on 8x5, 36x12x3x2 on 5x3",
        ),
    ],
)
def test_options_ask_a_question_that_is_described_and_answered(line, expected, described):
    found = ask(line)
    assert found == expected
    assert [*map(type, found.system)] == [*map(type, expected.system)]  # a whole rate is an int
    assert describe_question(found) == described
    above, heading, answers = output(f"whatif {line}").partition("-----Q1")
    assert " ".join(above.split()) == (described and f"what if: {described}")
    assert "\n\n" not in above
    own, fits, _ = f"{heading}{answers}".partition("Fits in ")
    assert own == f"{lab3.answers(*expected)}\n" and fits


@pytest.mark.parametrize(
    ("options", "fits"),  # 503,488 bytes with tensor parallelism; node 2's 726,016 are 709 KiB
    [
        ("--sram-kib 491", "none"),
        ("--sram-kib 492", "tensor parallelism"),
        ("--sram-kib 708", "tensor parallelism"),
        ("--sram-kib 709", "tensor parallelism and pipeline parallelism"),
        ("--sram-kib 1709 --nodes 6", "pipeline parallelism"),
        ("--sram-kib 759 --nodes 2", "tensor parallelism"),  # 445,824 + 230,400 + 100,352 bytes
    ],
)
def test_whatif_says_what_fits_in_sram(options, fits):
    row = " ".join(output(f"whatif {options}").split()).rpartition(" Fits in ")[2]
    assert row == f"{int(options.split()[1]):,} KiB of SRAM per node, one input at a time: {fits}."


def test_whatif_wraps_no_answer_so_that_check_finds_no_other_format(tmp_path):
    options = "--nodes 1000 --element-bytes 64 --layer 1000000,1,1,1,1000000,1000000"
    options += " --layer 1000000,1000000,1,1,1000000,1000000 --inputs 1000000"  # 10^30 bytes
    out = output(f"whatif {options}")
    assert lab3.answers(*ask(options)) in out and max(map(len, out.splitlines())) > 80
    (tmp_path / "output.txt").write_text(out)
    assert "numbers are right" in output(f"check {tmp_path / 'output.txt'} {options}")


def test_the_lab_of_the_tests_is_that_of_lab3():
    assert question.LAB == question.Question() == LAB  # also while they differ


@pytest.mark.parametrize(("layer", "field"), [(3, "filters"), (0, "fx"), (2, "y")])
def test_a_layer_that_differs_is_described(layer, field):
    network = [*NETWORK]
    network[layer] = network[layer]._replace(**{field: 64})
    assert describe_question(on(network)).endswith("1 more layer")


# ------------------------------------------------ what is possible
def test_if_neither_strategy_is_possible_the_refusal_says_what_would_be():
    for command in ("whatif", "explain", "explain --json"):
        assert all(part in refusal(f"{command} --nodes 3") for part in ("128", "4 nodes"))
    layers = "--layer 4,1,1,1,4,4 --layer 10,4,1,1,4,4 --layer 14,10,1,1,4,4 --layer 4,14,1,1,4,4"
    message = refusal(f"whatif --nodes 3 {layers}")
    assert " 2 nodes or a divisor of it," in message and "needs 4 nodes or more" in message


# ------------------------------------------------ what is refused
BOUNDS = {
    "--inputs": ("1", "1000000"),
    "--nodes": ("1", "1024"),
    "--sram-kib": ("1", "1000000000"),
    "--element-bytes": ("1", "64"),
    "--gops": ("0.000001", "100000000"),
    "--link-gbs": ("0.000001", "100000"),
}
BAD = ["", "a", "0", "-1", "0x10", "1/3", "1,000", "1_000", "1 GB/s", "nan", "inf", "1e1000"]
BAD += ["\u0663\u0662", "9" * 40_000]  # 32 in Arabic


@pytest.mark.parametrize("option", BOUNDS)
def test_the_bounds_are_accepted_and_a_bad_value_is_refused_with_them(option):
    least, most = BOUNDS[option]
    for value in (least, most, f"{1:030}"):
        assert output(f"whatif {option} {value} --layer 1024,1,1,1,1,1")
    beyond = ["1.5", "1e3", f"{int(most) + 1}"] if least == "1" else ["9e-7", f"{most}.000001"]
    for value in [*BAD, *beyond, "--", f"{1:031}"]:
        message = refusal(["whatif", f"{option}={value}"])
        assert all(part in message for part in (option, ascii(value)[1:25]))
        if value != "--":
            assert f"from {least} to {int(most):,}" in message
            assert ("it has more than 30 characters" in message) == (len(value) > 30)


def test_a_hundred_layers_are_accepted():
    assert output(f"whatif --nodes 100 {'--layer 100,100,1,1,8,8 ' * 100}")


@pytest.mark.parametrize(
    ("layers", "named"),
    [
        (["8,8,1,1,4,4", "1,2,3,4,5"], "'1,2,3,4,5' is not six numbers"),
        (["1,2,3,4,5,6,7"], "'1,2,3,4,5,6,7' is not six numbers"),
        (["--"], "--"),
        (["8,3,0,3,32,32"], "'0' is not a whole number of fx"),
        (["8,3,3,3.0,32,32"], "'3.0' is not a whole number of fy"),
        (["8,3,3,3,1000001,32"], "'1000001' is not a whole number of x"),
        (["4,3,3,3,8,8", "4,5,3,3,6,6"], "--layer 2: "),  # has 4 input channels
        (["4,3,9,3,8,8"], "--layer 1: fx, fy = 9, 3"),
        (["8,8,1,1,8,8"] * 101, "101 layers"),
    ],
)
def test_a_bad_layer_is_refused_and_named(layers, named):
    message = refusal(["whatif", *(f"--layer={layer}" for layer in layers)])
    assert "--layer" in message and named in message


@pytest.mark.parametrize(("inputs", "wrong_for"), [(1, 1), (1, 2), (7, 7)])
@pytest.mark.parametrize("case", CODE, ids=str)
def test_a_lab3_that_is_wrong_by_little_is_refused(monkeypatch, case, inputs, wrong_for):
    right, little = CODE[case], Fraction(1, 10**20) if "latency" in case else 1

    def compute(*question):
        return right(*question) + (question[2] == wrong_for) * little

    monkeypatch.setitem(CODE, case, compute)
    make_models.cache_clear()
    system = ODD.system._replace(ops_per_s=70_000)  # in decimals, no latency ends
    told = rf"for {wrong_for} input.* {right.__name__} gives ([\d.]+) .* docstring ([\d.]+):"
    with pytest.raises(InputError, match=told) as refused:
        make_models(ODD._replace(system=system, inputs=inputs))
    computed, stated = map(Fraction, re.search(told, str(refused.value)).groups())
    assert round(computed - stated, 22) == little
