"""Options: what they ask for, what --help says of them, and what is refused.

A refusal is status 2 and one line on stderr, which names the option, the value and what would be
right. How it says so is free, but for a few sentences at the end.
"""

import re
import runpy
import shlex
import sys
from fractions import Fraction

import pytest

import lab3
from lab3 import NETWORK, SYSTEM, ConvLayer
from program import SCRIPT, figures, output, refusal

# ------------------------------------------------ what if

OTHER_NETWORK = [ConvLayer(64, 3, 5, 5, 32, 32), ConvLayer(32, 64, 3, 3, 28, 28)]
ODD_RATE = Fraction(10_000_000_001, 10)
BYTES_1 = [layer._replace(element_bytes=1) for layer in NETWORK]
BYTES_4 = [layer._replace(element_bytes=4) for layer in OTHER_NETWORK]


@pytest.mark.parametrize(
    ("line", "network", "system", "inputs"),
    [
        ("--inputs 7", NETWORK, {}, 7),
        ("--inputs=007", NETWORK, {}, 7),
        ("--inputs 1 --inputs 9", NETWORK, {}, 9),
        ("--inputs 1000000000", NETWORK, {}, 10**9),
        ("--nodes 8", NETWORK, {"nodes": 8}, 32),
        ("--nodes 2", NETWORK, {"nodes": 2}, 32),
        ("--nodes 5 --inputs 7", NETWORK, {"nodes": 5}, 7),
        ("--gops 0.5", NETWORK, {"ops_per_s": 500_000_000}, 32),
        ("--gops 100000000", NETWORK, {"ops_per_s": 10**17}, 32),
        ("--link-gbs 0.1", NETWORK, {"link_bytes_per_s": 10**8}, 32),
        ("--link-gbs .1", NETWORK, {"link_bytes_per_s": 10**8}, 32),
        ("--link-gbs 1.E-1", NETWORK, {"link_bytes_per_s": 10**8}, 32),
        ("--link-gbs 1e-6", NETWORK, {"link_bytes_per_s": 1000}, 32),
        ("--link-gbs 1.0000000001", NETWORK, {"link_bytes_per_s": ODD_RATE}, 32),
        ("--sram-kib 3", NETWORK, {"sram_bytes": 3_072}, 32),
        ("--topology ring", NETWORK, {"topology": "ring"}, 32),
        ("--topology=ring --topology all-to-all", NETWORK, {}, 32),
        ("--element-bytes 1", BYTES_1, {}, 32),
        ("--layer 64,3,5,5,32,32 --layer 32,64,3,3,28,28", OTHER_NETWORK, {}, 32),
        # as the handout writes it
        ("--layer '64,3,5,5 32,32' --layer ' 32, 64 3 3,28 28 '", OTHER_NETWORK, {}, 32),
        (
            "--layer 64,3,5,5,32,32 --nodes 2 --layer=32,64,3,3,28,28 --element-bytes 4",
            BYTES_4,
            {"nodes": 2},
            32,
        ),
    ],
)
def test_what_if(line, network, system, inputs):
    arguments = shlex.split(line)
    question = (list(network), SYSTEM._replace(**system), inputs)
    assert output(*arguments) == lab3.answers(*question) + "\n"
    assert output(*arguments, "--explain") == lab3.explain(*question) + "\n"
    options = lab3.read_options(arguments, [])
    assert lab3.what_if(options) == question


def test_whole_numbers_are_ints():
    _, system, _ = lab3.what_if({"--gops": ["1e3"], "--link-gbs": ["2.0"]})
    # so that --json shows no point
    assert [type(system.ops_per_s), type(system.link_bytes_per_s)] == [int, int]


def test_sram_does_not_change_the_answers():
    assert output("--sram-kib", "1") == output()
    assert output("--sram-kib", "1", "--explain") != output("--explain")


@pytest.mark.parametrize("arguments", [[], ["--inputs", "7"]])
def test_the_script_reads_its_arguments(monkeypatch, capsys, arguments):
    monkeypatch.setattr(sys, "argv", ["lab3.py", *arguments])
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    assert caught.value.code == 0
    assert capsys.readouterr().out == output(*arguments)


# ------------------------------------------------ each strategy on its own

POSSIBLE = {"tensor": "Total latency of tensor", "pipeline": "Total latency of pipeline"}


@pytest.mark.parametrize(
    ("nodes", "possible", "missing", "limits"),
    [
        (1, "tensor", "pipeline", ["4", "1"]),
        (2, "tensor", "pipeline", ["4", "2"]),
        (5, "pipeline", "tensor", ["5", "128", "1"]),
        (12, "pipeline", "tensor", ["12", "128", "1"]),
    ],
)
def test_one_strategy_is_possible(nodes, possible, missing, limits):
    lines = output("--nodes", str(nodes)).splitlines()
    assert len(lines) == 8  # each header, two figures, one reason; both questions
    for question in (lines[:4], lines[4:]):
        (reason,) = [line for line in question if missing in line.lower()]
        assert set(limits) <= set(figures(reason))
        assert sum(POSSIBLE[possible] in line for line in question) == 1
        assert sum(f"traffic of {possible}" in line for line in question) == 1
        order = [line for line in question if "parallelism" in line]
        assert (order[0] == reason) == (missing == "tensor")


def test_no_strategy_is_possible():
    message = refusal("--nodes", "3")
    for fact in ("tensor", "pipeline", "3 nodes", "128", "layer 1", "4 layers", "4 nodes"):
        assert fact in message.lower()
    assert message.count("Tensor") == message.count("Pipeline") == 1
    for option in ("--json", "--explain"):
        assert refusal("--nodes", "3", option) == message


# ------------------------------------------------ help


def test_help_tells_each_option_and_its_default():
    text = output("--help")
    assert text == output("-h") == output("--inputs", "0", "--help")
    for option, default in {
        "--inputs": "32",
        "--nodes": "4",
        "--gops": "50",
        "--link-gbs": "2",
        "--sram-kib": "512",
        "--element-bytes": "2",
        "--topology": "all-to-all",
        "--layer": "",
        "--explain": "",
        "--json": "",
        "--help": "",
    }.items():
        starts = tuple(f"  {start}{option}" for start in ("", "-h, "))
        (line,) = [line for line in text.splitlines() if line.startswith(starts)]
        assert not default or "default" in line
        assert default in re.split(r"[\s()]+", line)


def test_help_fits_a_terminal_and_starts_with_the_usage():
    text = output("--help")
    assert text.isascii() and max(map(len, text.splitlines())) <= 80
    assert text.lower().startswith("usage: python3 lab3.py")


def test_the_examples_of_the_help_work():
    text = output("--help")
    examples = [line for line in text.splitlines() if line.startswith("  python3 lab3.py ")]
    assert len(examples) >= 3
    assert text.index(examples[0]) < text.index("  --inputs N")
    for example in examples:
        assert output(*shlex.split(example)[2:])


# ------------------------------------------------ values

NEVER = ["", "a", " 1", "1 ", "0x10", "1_000", "\u0661", "\u00b2", "nan", "inf", "1/3", "1,5"]
NEVER += ["1\n", "--", "1e", "e5", ".", "1e1000", "100MB/s"]
COUNTS = {"--inputs": ("inputs", 10**9), "--nodes": ("nodes", 10**6)}
COUNTS |= {"--sram-kib": ("KiB", 10**9), "--element-bytes": ("bytes", 64)}
RATES = {"--gops": ("GOPS", 10**8), "--link-gbs": ("GB/s", 10**5)}


def check_value(option, unit, value):
    message = refusal(option, value)
    assert f"{option}: " in message
    assert (ascii(value) if value in NEVER else value) in message
    assert unit in message
    assert refusal(f"{option}={value}") == message
    assert refusal("--nodes", "8", option, value) == message
    return message


def check_examples(option, message):
    """What the message suggests is accepted."""
    examples = figures(message.split("such as")[1])
    assert examples
    for example in examples:
        output(option, example)
    return examples


@pytest.mark.parametrize("option", COUNTS)
@pytest.mark.parametrize("value", [*NEVER, "1.5", "1e3"])
def test_a_count_that_is_none(option, value):
    unit, _ = COUNTS[option]
    message = check_value(option, unit, value)
    assert "whole" in message
    check_examples(option, message)


@pytest.mark.parametrize("option", RATES)
@pytest.mark.parametrize("value", NEVER)
def test_a_rate_that_is_none(option, value):
    unit, _ = RATES[option]
    message = check_value(option, unit, value)
    assert any("." in example for example in check_examples(option, message))


@pytest.mark.parametrize("option", [*COUNTS, *RATES])
@pytest.mark.parametrize("value", ["0", "-1", "-1000", "+0"])
def test_values_below_the_bounds(option, value):
    unit, high = {**COUNTS, **RATES}[option]
    message = check_value(option, unit, value)
    assert f"{high:,}" in message


@pytest.mark.parametrize("option", [*COUNTS, *RATES])
def test_the_bounds(option):
    unit, high = {**COUNTS, **RATES}[option]
    assert f"{high:,}" in check_value(option, unit, str(high + 1))
    # the bound itself is no mistake, though 10^6 nodes divide no 128 filters
    if option != "--nodes":
        output(option, str(high))
    else:
        output(option, str(high), "--layer", "1000000,1,1,1,1,1")


@pytest.mark.parametrize("option", ["--gops", "--link-gbs"])
def test_a_rate_just_below_the_bound(option):
    output(option, "0.000001")
    assert "0.000001" in refusal(option, "0.0000009")


@pytest.mark.parametrize("option", RATES)
def test_a_rate_that_is_negative_with_a_point(option):
    assert option in refusal(option, "-1.5e3")


def test_ops_and_bytes_per_second_are_not_taken_for_giga():
    assert "GOPS" in refusal("--gops", "50e9")
    assert "GB/s" in refusal("--link-gbs", "2e9")


def test_a_long_value_is_cut_short():
    for value in ("9" * 5000, "9" * 131_000, "x" * 131_000):
        message = refusal("--inputs", value)
        assert "--inputs" in message and len(message) < 120
        assert value[:20] in message
    output("--gops", "1." + "0" * 28)  # 30 characters
    assert "30" in refusal("--gops", "1." + "0" * 29)
    # length is no fault of what is no number anyway
    assert "30" not in refusal("--gops", "fifty billion operations per second")


@pytest.mark.parametrize("option", [*COUNTS, *RATES, "--topology", "--layer"])
@pytest.mark.parametrize("following", ["--nodes", "--json"])
def test_an_option_in_the_place_of_a_value(option, following):
    message = refusal(option, following, "4")
    assert refusal(option, "1", option, following) == message
    assert option in message and following in message and "missing" in message


def test_letters_that_take_ten_to_show_are_cut_short():
    assert len(refusal("--inputs", "\U0001f600" * 30)) < 150


@pytest.mark.parametrize("topology", ["star", "", "Ring", "\u0661"])
def test_a_topology_that_is_none(topology):
    message = refusal("--topology", topology)
    assert all(part in message for part in ("--topology", ascii(topology), "all-to-all", "ring"))


# ------------------------------------------------ layers


@pytest.mark.parametrize(
    "layer", ["", "128", "1,2,3,4,5", "1,2,3,4,5,6,7", "1,2,,4,5,6,7", "128x3x3x3x32x32"]
)
@pytest.mark.parametrize("before", [0, 2])
def test_a_layer_that_is_malformed(layer, before):
    message = refusal(*["--layer", "8,8,1,1,4,4"] * before, "--layer", layer)
    assert f"--layer {before + 1}" in message
    assert all(part in message for part in (ascii(layer), "6", *ConvLayer._fields[:6]))


@pytest.mark.parametrize(
    ("layer", "field", "value"),
    [
        ("0,3,3,3,32,32", "filters", "0"),
        ("-1,3,3,3,32,32", "filters", "-1"),
        ("8,3,,3,32,32", "fx", "''"),
        ("8,x,3,3,32,32", "in_channels", "x"),
        ("8,3,3.0,3,32,32", "fx", "3.0"),
        ("8,3,3,1e1,32,32", "fy", "1e1"),
        ("8,3,3,3,1000001,32", "x", "1000001"),
        ("8,3,3,3,32,\u0663", "y", "\u0663"),
    ],
)
def test_a_layer_with_a_bad_size(layer, field, value):
    message = refusal("--layer", "8,3,1,1,34,34", "--layer", layer)
    assert "--layer 2" in message
    assert field in re.split(r"[\s:]+", message)
    assert (value if value.isascii() else ascii(value)) in message


def test_sizes_of_a_layer_have_a_bound():
    output("--layer", "4,1,1,1,1000000,1000000", "--explain")
    assert "1,000,000" in refusal("--layer", "4,1,1,1,1000001,1")


@pytest.mark.parametrize(
    ("layers", "parts"),
    [
        (["4,3,3,5,4,4"], ["layer 1", "fy", "5", "4"]),
        (["4,3,5,3,4,4"], ["layer 1", "fx", "5", "4"]),
        (["4,3,3,3,8,8", "4,5,3,3,6,6"], ["layer 2", "layer 1", "4, 6, 6", "5, 6, 6"]),
    ],
)
def test_layers_that_do_not_work(layers, parts):
    message = refusal(*[word for layer in layers for word in ("--layer", layer)])
    assert [part for part in parts if part not in message] == []


# ------------------------------------------------ words that are no options


@pytest.mark.parametrize(
    ("word", "nearest"),
    [
        ("--explian", "--explain"),
        ("--jsno", "--json"),
        ("--layers", "--layer"),
        ("--link-bw", "--link-gbs"),
        ("--node", "--nodes"),
        ("--input=3", "--inputs"),
        ("--hel", "--help"),
        ("--expl", "--explain"),
        ("--topolgy", "--topology"),
        ("-nodes", "--nodes"),
    ],
)
def test_a_mistyped_option_gets_the_nearest(word, nearest):
    message = refusal("--gops", "9", word)
    assert word in message
    assert nearest in re.split(r"[\s?;']+", message)


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("--frobnicate", "--frobnicate"),
        ("word", "word"),
        ("--i", "--i"),
        ("32,32", "32,32"),
        ("-x", "-x"),
        ("-2", "-2"),
        ("", "''"),
        ("--", "--"),
        ("a\nb", r"a\nb"),
        ("\x1b[31m", r"\x1b[31m"),
        ("--\u0661\udcff", r"--\u0661\udcff"),
    ],
)
def test_a_stray_word_points_to_help(word, shown):
    message = refusal("--inputs", "3", word, "--nodes", "3")
    assert shown in message and "--help" in message


def test_the_first_mistake_is_named():
    assert "first" in refusal("first", "second")
    assert "second" not in refusal("first", "second")


@pytest.mark.parametrize("word", ["--" + "x" * 131_000, "y" * 131_000, "\u0661" * 131_000])
def test_a_long_word_is_cut_short(word):
    assert len(refusal(word)) < 150


@pytest.mark.parametrize("option", [*lab3.OPTIONS, "--topology", "--layer"])
def test_an_option_without_its_value(option):
    assert option in refusal("--json", option)
    assert option in refusal(f"{option}=")
    # the next word is not taken for it
    assert refusal(f"{option}=", "--json") == refusal(f"{option}=")


@pytest.mark.parametrize("switch", ["--explain", "--json"])
def test_a_switch_takes_no_value(switch):
    assert f"{switch}=3" in refusal(f"{switch}=3")


def test_explain_and_json_exclude_each_other():
    message = refusal("--explain", "--json")
    assert "--explain" in message and "--json" in message


# ------------------------------------------------ a few sentences in full


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("--topology star", "--topology: 'star' is not all-to-all or ring"),
        ("--gops 50e9", "--gops: 50e9 is not between 0.000001 and 100,000,000 GOPS"),
        ("--explian", "'--explian' is not an option; try --explain"),
    ],
)
def test_sentences(line, sentence):
    assert refusal(*line.split()) == f"lab3.py: error: {sentence}\n"
