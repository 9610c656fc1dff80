"""Options, bad input, pipes: what a shell sees."""

import io
import os
import runpy
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import lab3
from lab3 import NETWORK, SYSTEM, ConvLayer, main

SCRIPT = Path(lab3.__file__)


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, SCRIPT, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **options,
    )


@pytest.fixture
def output(capsys):
    def of(*arguments):
        assert main(arguments) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        return printed.out

    return of


@pytest.fixture
def refusal(capsys):
    def of(*arguments):
        assert main(arguments) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith("lab3.py: error: ") and printed.err.count("\n") == 1
        assert printed.err.isascii() and len(printed.err) < 300
        return printed.err

    return of


# ------------------------------------------------ what if

OTHER_LAYERS = ("--layer", "64,3,5,5,32,32", "--layer", "32,64,3,3,28,28")
OTHER_NETWORK = (ConvLayer(64, 3, 5, 5, 32, 32), ConvLayer(32, 64, 3, 3, 28, 28))
BYTES_1 = tuple(layer._replace(element_bytes=1) for layer in NETWORK)


@pytest.mark.parametrize(
    ("arguments", "network", "system", "inputs"),
    [
        (["--inputs", "7"], NETWORK, SYSTEM, 7),
        (["--inputs=007"], NETWORK, SYSTEM, 7),
        (["--inputs", "1", "--inputs", "9"], NETWORK, SYSTEM, 9),
        (["--inputs", "9" * 400], NETWORK, SYSTEM, 10**400 - 1),
        (["--inputs", "9" * 640], NETWORK, SYSTEM, 10**640 - 1),
        (["--gops", "1." + "0" * 638], NETWORK, SYSTEM._replace(ops_per_s=10**9), 32),
        (["--nodes", "8"], NETWORK, SYSTEM._replace(nodes=8), 32),
        (["--gops", "0.5"], NETWORK, SYSTEM._replace(ops_per_s=500_000_000), 32),
        (["--gops", "1/3"], NETWORK, SYSTEM._replace(ops_per_s=Fraction(10**9, 3)), 32),
        (["--gops", "1e999"], NETWORK, SYSTEM._replace(ops_per_s=10**1008), 32),
        (["--link-gbs", "0.1"], NETWORK, SYSTEM._replace(link_bytes_per_s=10**8), 32),
        (["--link-gbs", ".1"], NETWORK, SYSTEM._replace(link_bytes_per_s=10**8), 32),
        (["--link-gbs", "1.E-1"], NETWORK, SYSTEM._replace(link_bytes_per_s=10**8), 32),
        (["--sram-kib", "0.5"], NETWORK, SYSTEM._replace(sram_bytes=512), 32),
        (["--topology", "ring"], NETWORK, SYSTEM._replace(topology="ring"), 32),
        (["--element-bytes", "1"], BYTES_1, SYSTEM, 32),
        (OTHER_LAYERS, OTHER_NETWORK, SYSTEM, 32),
        (
            [*OTHER_LAYERS, "--element-bytes", "4", "--nodes", "2"],
            tuple(layer._replace(element_bytes=4) for layer in OTHER_NETWORK),
            SYSTEM._replace(nodes=2),
            32,
        ),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else None,
)
def test_what_if(output, arguments, network, system, inputs):
    assert output(*arguments) == lab3.answers(network, system, inputs) + "\n"
    assert output(*arguments, "--explain") == lab3.explain(network, system, inputs) + "\n"
    report = lab3.to_json(lab3.report(network, system, inputs))
    assert output("--json", *arguments) == report + "\n"


def test_the_header_tells_the_number_of_inputs(output):
    assert "\n--------Q2 5 inputs------\n" in output("--inputs", "5")


@pytest.mark.parametrize("arguments", [[], ["--inputs", "32"]])
def test_the_script_reads_its_arguments(monkeypatch, capsys, arguments):
    monkeypatch.setattr(sys, "argv", ["lab3.py", *arguments])
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    assert caught.value.code == 0
    assert capsys.readouterr().out == lab3.answers(NETWORK, SYSTEM, 32) + "\n"


# ------------------------------------------------ help


def test_help_shows_the_defaults(output):
    text = output("--help")
    assert text == output("-h") == output("--inputs", "0", "--help")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    for line in (
        "--inputs N number of inputs in Q2 (default: 32)",
        "--nodes P number of nodes (default: 4)",
        "--gops X 10^9 ops/s of a node (default: 50)",
        "--link-gbs X 10^9 bytes/s of a one-way link (default: 2)",
        "--sram-kib X KiB, 1,024 bytes, of a node's SRAM (default: 512)",
        "--topology T all-to-all or ring (default: all-to-all)",
        "--element-bytes B bytes of a weight or an activation (default: 2)",
    ):
        assert line in lines
    assert max(map(len, text.splitlines())) <= 80


def test_the_examples_of_the_help_work(output):
    examples = [line for line in output("--help").splitlines() if line.startswith("  python3 ")]
    assert len(examples) >= 2
    for example in examples:
        assert output(*example.split()[2:])


# ------------------------------------------------ bad input

COUNTS = ["0", "-1", "1.5", "", " 1", "1 ", "+1", "0x10", "1_000", "1e3", "\u0661", "\u00b2", "a"]
RATES = ["0", "0.0", "-1", "-1e5", "-.5", "nan", "-nan", "inf", "-inf", "1/0", "0/1", "1/-2"]
RATES += [
    "",
    " 1",
    "1e",
    "e5",
    ".",
    "1_0",
    "0x1",
    "\u0661",
    "1e1000",
    "1e999999999",
    "1e-999999999",
]


@pytest.mark.parametrize("option", ["--inputs", "--nodes", "--element-bytes"])
@pytest.mark.parametrize("value", [*COUNTS, "9" * 641, "9" * 5000])
def test_a_count_that_is_none(refusal, option, value):
    message = refusal(option, value)
    assert f"{option}: {ascii(value)[:40]}" in message
    assert "is not a whole number above 0, of at most 640 digits 0-9" in message
    assert refusal(f"{option}={value}") == message
    assert refusal("--gops", "1", option, value) == message


@pytest.mark.parametrize("option", ["--gops", "--link-gbs", "--sram-kib"])
@pytest.mark.parametrize("value", [*RATES, "1" * 641])
def test_a_rate_that_is_none(refusal, option, value):
    message = refusal(option, value)
    assert f"{option}: {ascii(value)[:40]}" in message
    assert "is not a number above 0, such as 50, 0.1, 1/3 or 2e-9" in message
    assert refusal("--inputs", "1", option, value) == message


def test_sram_is_whole_bytes(refusal):
    assert refusal("--sram-kib", "0.0001") == (
        "lab3.py: error: --sram-kib: '0.0001' is not a multiple of 1/1024\n"
    )


@pytest.mark.parametrize("layer", ["", "128", "1,2,3,4,5", "1,2,3,4,5,6,7", "128x3x3x3x32x32"])
def test_a_layer_that_is_malformed(refusal, layer):
    assert refusal("--layer", layer) == (
        f"lab3.py: error: --layer: {layer!a} is not 6 counts FILTERS,IN_CHANNELS,FX,FY,X,Y\n"
    )


@pytest.mark.parametrize(
    ("layer", "field", "value"),
    [
        ("0,3,3,3,32,32", "FILTERS", "0"),
        ("-1,3,3,3,32,32", "FILTERS", "-1"),
        ("8,,3,3,32,32", "IN_CHANNELS", ""),
        ("8,3,3.0,3,32,32", "FX", "3.0"),
        ("8,3,3, 3,32,32", "FY", " 3"),
        ("8,3,3,3,x,32", "X", "x"),
        ("8,3,3,3,32,\u0663", "Y", "\u0663"),
    ],
)
def test_a_layer_with_a_bad_count(refusal, layer, field, value):
    assert f"--layer {field}: {value!a} is not a whole number" in refusal("--layer", layer)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--bogus"], ["option --bogus not recognized", "--help"]),
        (["word", "other"], ["'word' is not an option"]),
        (["--nodes=8", "a\nb"], ["'a\\nb' is not an option"]),
        (["-x"], ["option -x not recognized", "--help"]),
        (["--nodes", "8", "-2"], ["option -2 not recognized"]),
        (["--bogus=\u0661\n"], ["option --bogus not recognized"]),
        (["--\u0661\n"], ["option --\\u0661\\n not recognized"]),
        (["--topology", "star"], ["--topology: 'star' is not all-to-all or ring"]),
        (["--topology="], ["--topology: '' is not all-to-all or ring"]),
        (["--explain", "--json"], ["--explain and --json exclude each other"]),
        (["--explain", "-1"], ["option -1 not recognized"]),
        (["--explain=3"], ["option --explain must not have an argument"]),
        (["--nodes", "5"], ["nodes: 128 filters of layer 1 do not divide evenly over 5 nodes"]),
        (["--nodes", "2"], ["nodes: 4 layers need 4 nodes or more"]),
        (
            ["--layer", "4,3,3,5,4,4"],
            ["layer 1: a filter of fx, fy = 3, 5 is larger than its input"],
        ),
        (
            ["--layer", "4,3,3,3,8,8", "--layer", "4,5,3,3,6,6"],
            ["layer 2: in_channels, x, y = 5, 6, 6 do not chain, as layer 1 gives 4, 6, 6"],
        ),
    ],
    ids=str,
)
def test_other_bad_input(refusal, arguments, parts):
    message = refusal(*arguments)
    for part in parts:
        assert part in message
    assert refusal("--inputs", "3", *arguments) == message


@pytest.mark.parametrize("option", [*lab3.DEFAULTS, "--layer"])
def test_an_option_without_its_value(refusal, option):
    assert refusal(option) == (
        f"lab3.py: error: option {option} requires argument; lab3.py --help lists the options\n"
    )


def test_a_unique_beginning_of_an_option_is_enough(output):
    assert output("--inp", "3") == output("--inputs", "3")


def test_bad_input_in_a_real_process():
    result = run("--inputs", "\u0663", env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "1"})
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("lab3.py: error: --inputs: '\\u0663' is not a whole number")


# ------------------------------------------------ standard output


def write_to(stream, monkeypatch):
    monkeypatch.setattr(sys, "stdout", stream)
    status = main([])
    stream.close()  # what an interpreter does at exit: it must not fail again
    return status


def test_a_reader_that_leaves(monkeypatch, capsys):
    reader, writer = os.pipe()
    os.close(reader)
    assert write_to(os.fdopen(writer, "w"), monkeypatch) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk(monkeypatch, capsys):
    writer = os.open("/dev/full", os.O_WRONLY)
    assert write_to(os.fdopen(writer, "w"), monkeypatch) == 1
    message = "lab3.py: error: cannot write the output: No space left on device\n"
    assert capsys.readouterr().err == message


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize("arguments", ["", "--explain", "--json", "--help"])
def test_in_a_shell(arguments):
    command = f'"{sys.executable}" "{SCRIPT}" {arguments}'
    shell = {"shell": True, "capture_output": True, "text": True, "timeout": 60}
    piped = subprocess.run(f"{command} | head -n 1", check=True, **shell)
    assert len(piped.stdout.splitlines()) == 1
    assert piped.stderr == ""
    full = subprocess.run(f"{command} > /dev/full", check=False, **shell)
    assert full.returncode == 1
    assert full.stderr.count("\n") == 1
    assert "No space left on device" in full.stderr


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
def test_closed_streams():
    command = f'"{sys.executable}" "{SCRIPT}"'

    def shell(line):
        return subprocess.run(
            line, shell=True, capture_output=True, text=True, timeout=60, check=False
        )

    silent = shell(f"{command} --inputs 0 2>&-")
    assert (silent.returncode, silent.stdout, silent.stderr) == (2, "", "")
    unheard = shell(f"{command} --inputs 0 2>/dev/full")
    assert (unheard.returncode, unheard.stdout) == (2, "")
    closed = shell(f"{command} >&-")
    assert closed.returncode == 1
    assert closed.stderr == "lab3.py: error: cannot write the output: it is closed\n"


def test_no_streams_at_all(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert main([]) == 1
    monkeypatch.setattr(sys, "stderr", None)
    assert main([]) == 1
    assert main(["--inputs", "0"]) == 2


def test_an_ascii_only_output(monkeypatch):
    for option in ("--explain", "--json", "--help"):
        stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
        monkeypatch.setattr(sys, "stdout", stream)
        assert main([option]) == 0
