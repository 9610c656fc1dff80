"""lab3.py against numbers worked out by hand, with the working in comments; its output byte for
byte; what it refuses. Needs pytest alone. Exact decimals are strings: Fraction("0.1") is 1/10."""

import decimal
import os
import runpy
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import lab3
from lab3 import NETWORK, SYSTEM, ConvLayer, System

SCRIPT = Path(lab3.__file__)
TENSOR = [lab3.tensor_parallel_latency, lab3.tensor_parallel_traffic]
PIPELINE = [lab3.pipeline_parallel_latency, lab3.pipeline_parallel_traffic]

# ------------------------------------------------ numbers by hand
#
# The lab. Layer 1: 128 filters of 3 x 3 x 3 = 27 weights on 30 x 30 = 900 places: 3,456 * 900 MACs;
#   an input of 3 * 32 * 32 = 3,072 elements of 2 bytes, an output of 128 * 900 = 115,200.
#   Others: 128 filters of 128 * 9 = 1,152, 147,456 weights, on 784, 676 and 576 places.
# In a microsecond a node does 50,000 ops and a link carries 2,000 bytes.
# Tensor: a node computes a quarter, 1,555,200 ops of layer 1 in 31.104 us, and sends a quarter of
#   the output to three others at once: 230,400 / 4 = 57,600 bytes a link, 28.8 us; 12 links carry
#   691,200. After layer 4, three nodes send 147,456 / 4 = 36,864 bytes to the fourth: 18.432 us,
#   3 * 36,864 = 110,592 bytes.
#   Compute 31.104 + 1,156.05504 + 996.80256 + 849.34656 = 3,033.30816 us, and communication
#   28.8 + 25.088 + 21.632 + 18.432 = 93.952 us; 691,200 + 602,112 + 519,168 + 110,592 bytes
#   32 inputs: 32 times 3,127.26016 us, and 32 times the bytes
# Pipeline: 6,220,800 ops of one node take 124.416 us, 230,400 bytes on one link 115.2 us.
#   Compute 124.416 + 4,624.22016 + 3,987.21024 + 3,397.38624 = 12,133.23264 us, sends
#   115.2 + 100.352 + 86.528 = 302.08 us, 230,400 + 200,704 + 173,056 bytes
#   32 inputs: 12,435.31264 + 31 * 4,624.22016 = 12,435.31264 + 143,350.82496 us
#
# A machine that differs in everything: two layers on three nodes, elements of 5 bytes. Layer 1: 6
#   filters of 2 x 4 x 3 on 10 x 8, so 7 x 6 = 42 places. Layer 2: 9 filters of 6 x 5 x 2 on 7 x 6,
#   so 3 x 5 = 15 places.
# Tensor: compute 12,096 / 3 = 4,032 ops in 23.52 s, 16,200 / 3 = 5,400 in 31.5 s; shards 1,260 / 3
#   = 420 bytes in 33.6 s, 675 / 3 = 225 in 18 s: 106.62 s; 3 * 2 * 420 + 2 * 225 = 2,970 bytes
# Pipeline: 70.56 s, 1,260 bytes in 100.8 s, 94.5 s: 265.86 s, and, as the send is the bottleneck,
#   4 * 100.8 = 403.2 s more for 5 inputs

OTHER = (ConvLayer(6, 2, 4, 3, 10, 8, 5), ConvLayer(9, 6, 5, 2, 7, 6, 5))
SLOW = System(3, Fraction(1_200, 7), Fraction(25, 2), 999)
SMALLEST = ConvLayer(1, 1, 1, 1, 1, 1)  # 2 ops, 2 bytes


def test_the_handouts_machine():
    assert SYSTEM == (4, 50_000_000_000, 2_000_000_000, 524_288)  # 512 * 1,024
    assert lab3.INPUTS == 32


@pytest.mark.parametrize(
    ("layer", "out_x", "out_y", "macs", "ops", "output_bytes"),
    [
        (NETWORK[0], 30, 30, 3_110_400, 6_220_800, 230_400),
        (NETWORK[1], 28, 28, 115_605_504, 231_211_008, 200_704),
        (NETWORK[2], 26, 26, 99_680_256, 199_360_512, 173_056),
        (NETWORK[3], 24, 24, 84_934_656, 169_869_312, 147_456),
        (OTHER[0], 7, 6, 144 * 42, 2 * 6_048, 6 * 42 * 5),
        (OTHER[1], 3, 5, 540 * 15, 2 * 8_100, 9 * 15 * 5),
    ],
)
def test_the_sizes_of_a_layer(layer, out_x, out_y, macs, ops, output_bytes):
    assert (layer.out_x, layer.out_y) == (out_x, out_y)
    assert (layer.macs, layer.ops, layer.output_bytes) == (macs, ops, output_bytes)


@pytest.mark.parametrize(
    ("question", "tensor_s", "tensor_bytes", "pipeline_s", "pipeline_bytes"),
    [
        ((NETWORK, SYSTEM), "0.00312726016", 1_923_072, "0.01243531264", 604_160),
        ((NETWORK, SYSTEM, 32), "0.10007232512", 61_538_304, "0.1557861376", 19_333_120),
        ((NETWORK, System(4, 50e9, 2e9), 1), "0.00312726016", 1_923_072, "0.01243531264", 604_160),
        ((OTHER, SLOW, 5), "533.1", 14_850, "669.06", 6_300),
        # one node sends nothing: 12,096 ops at 1,200 / 7 ops/s, twice; 2 ops at 1 op/s
        ((OTHER[:1], SLOW._replace(nodes=1), 2), "141.12", 0, "141.12", 0),
        (([SMALLEST], System(1, 1, 1, 1)), 2, 0, 2, 0),
    ],
)
def test_the_four_numbers(question, tensor_s, tensor_bytes, pipeline_s, pipeline_bytes):
    found = [function(*question) for function in TENSOR + PIPELINE]
    assert found == [Fraction(tensor_s), tensor_bytes, Fraction(pipeline_s), pipeline_bytes]
    assert [type(number) for number in found] == [Fraction, int, Fraction, int]
    assert lab3.validate(*question) is None


# ------------------------------------------------ its output
ANSWERS = """\
-----Q1 single input-----
Total latency of tensor parallelism is 0.00312726016 seconds
Total network traffic of tensor parallelism is 1923072 bytes
Total latency of pipeline parallelism is 0.01243531264 seconds
Total network traffic of pipeline parallelism is 604160 bytes
--------Q2 32 inputs------
Total latency of tensor parallelism is 0.10007232512 seconds
Total network traffic of tensor parallelism is 61538304 bytes
Total latency of pipeline parallelism is 0.1557861376 seconds
Total network traffic of pipeline parallelism is 19333120 bytes
"""


def run(*command, **options):
    """Exit status, and the bytes of stdout and stderr, of a process with no PYTHON* variables."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    options.update(stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={"PATH": path}, timeout=60)
    done = subprocess.run([str(word) for word in command], check=False, **options)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("python", ["", "python3 -I -S", "python3 -OO -bb -W error -X dev"])
def test_it_prints_the_answers_from_any_folder(tmp_path, python):
    assert run(*python.split(), SCRIPT, cwd=str(tmp_path)) == (0, ANSWERS.encode(), b"")
    assert list(tmp_path.iterdir()) == []


def test_it_takes_no_arguments(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["lab3.py", "-h"])
    with pytest.raises(SystemExit, match="2"):
        runpy.run_path(str(SCRIPT), run_name="__main__")
    reason = "takes no arguments; edit NETWORK, SYSTEM or INPUTS in it"
    assert capsys.readouterr() == ("", f"lab3.py: error: {reason}\n")


@pytest.mark.parametrize(
    ("inputs", "status", "out", "err"),
    [
        (1, 0, ANSWERS[: ANSWERS.index("--------Q2")], ""),
        (0, 2, "", "lab3.py: error: inputs: 0 must be a positive int\n"),
    ],
)
def test_its_constants_can_be_changed(monkeypatch, capsys, inputs, status, out, err):
    monkeypatch.setattr(lab3, "INPUTS", inputs)
    monkeypatch.setattr(sys, "argv", ["lab3.py"])
    assert lab3.main() == status
    assert capsys.readouterr() == (out, err)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a full disk")
@pytest.mark.parametrize("python", ["python3", "python3 -u"])
def test_a_full_disk_is_told_and_a_closed_pipe_is_no_error(python):
    status, out, err = run("sh", "-c", f"{python} '{SCRIPT}' >/dev/full")
    assert (status, out) == (1, b"")
    assert err.startswith(b"lab3.py: error: ") and err.count(b"\n") == 1
    piped = f"{{ sleep 0.1; {python} '{SCRIPT}'; echo $? >&2; }} | :"
    assert run("sh", "-c", piped) == (0, b"", b"0\n")


FAILED = [(OSError("full"), "lab3.py: error: full"), (BrokenPipeError("closed"), 0)]


@pytest.mark.parametrize(("error", "code"), FAILED)
def test_main_writes_nothing_more_if_it_cannot_write(monkeypatch, capsys, error, code):
    copies = []
    monkeypatch.setattr(os, "dup2", lambda _, number: copies.append(number))
    monkeypatch.setattr(lab3, "answers", lambda *_: (_ for _ in ()).throw(error))
    monkeypatch.setattr(sys, "argv", ["lab3.py"])
    with pytest.raises(SystemExit) as ended:
        sys.exit(lab3.main())
    assert (ended.value.code, copies, capsys.readouterr()) == (code, [1], ("", ""))


# Two nodes take twice as long for each step of tensor parallelism; an all-gather moves 2 shards,
# the gather one, of halves: 230,400 + 200,704 + 173,056 + 73,728 = 677,888 bytes. All this twice.
ON_TWO = """
--------Q2 2 inputs------
Total latency of tensor parallelism is 0.01250904064 seconds
Total network traffic of tensor parallelism is 1355776 bytes
Pipeline parallelism is not possible: 4 layers need 4 nodes or more, not 2"""
ON_FIVE = """
--------Q2 32 inputs------
Tensor parallelism is not possible: layer 1's 128 filters cannot be split evenly over 5 nodes
Total latency of pipeline parallelism is 0.1557861376 seconds
Total network traffic of pipeline parallelism is 19333120 bytes"""


@pytest.mark.parametrize(("nodes", "inputs", "expected"), [(2, 2, ON_TWO), (5, 32, ON_FIVE)])
def test_a_strategy_that_is_not_possible_has_its_reason(nodes, inputs, expected):
    assert lab3.answers(NETWORK, SYSTEM._replace(nodes=nodes), inputs).endswith(expected)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (Fraction(-1, 8), "-0.125"),
        (Fraction(2, 3), "0.66666666666666667"),
        (Fraction(10**20, 3), "33333333333333333000"),
        (Fraction(300000000000000015, 7), "42857142857142859"),  # not the numerator before
        (Fraction(123456789012345665, 10**18), "0.12345678901234566"),  # half, to even
        (Fraction(1, 10**100), "0." + "0" * 99 + "1"),
        (Fraction(10**40 + 1, 4 * 10**40), "0.25"),  # no zeros behind it
        (0.25, "0.25"),  # of a formula that was edited
    ],
)
def test_a_number_is_rounded_once_whatever_the_callers_settings(value, text):
    with decimal.localcontext() as context:
        assert lab3.format_decimal(value) == text
        context.prec, context.rounding = 1, decimal.ROUND_UP
        context.traps[decimal.Inexact] = context.traps[decimal.FloatOperation] = True
        assert lab3.format_decimal(value) == text


# ------------------------------------------------ what it refuses
class Int64(int):
    """As NumPy's: counts like an int, and is none."""


LAYER, NEXT = ConvLayer(8, 3, 3, 3, 16, 16), ConvLayer(8, 8, 3, 3, 14, 14)


def refusal(*question, functions=(*TENSOR, *PIPELINE, lab3.validate, lab3.answers)):
    """Why: one sentence, the same from every function, of which answers() prints some."""
    reasons = set()
    for function in functions:
        with pytest.raises(ValueError) as caught:
            function(*question)
        reasons.add((type(caught.value), str(caught.value)))
    [(kind, reason)] = reasons
    assert kind is (lab3.ImpossibleError if "not possible" in reason else ValueError)
    return reason


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "1", None, Int64(3)])
def test_what_is_no_count(value):
    wrong = f"{value!r} must be a positive int"
    assert refusal((LAYER, NEXT), SYSTEM, value) == f"inputs: {wrong}"
    for name in ("nodes", "sram_bytes"):
        system = SYSTEM._replace(**{name: value})
        assert refusal((LAYER, NEXT), system, 1) == f"{name}: {wrong}"
    for name in ConvLayer._fields:
        network = LAYER, NEXT._replace(**{name: value})
        assert refusal(network, SYSTEM, 1) == f"layer 2 {name}: {wrong}"


NO_RATES = 0, -2e9, Fraction(-1, 3), 0.5, float("inf"), float("nan"), True, "1", Int64(3)


@pytest.mark.parametrize("name", ["ops_per_s", "link_bytes_per_s"])
@pytest.mark.parametrize("value", NO_RATES)
def test_what_is_no_rate(name, value):
    reason = refusal(NETWORK, SYSTEM._replace(**{name: value}), 1)
    wanted = "positive and whole, or a Fraction, such as Fraction(83, 10) * 10**9"
    assert reason == f"{name}: {value!r} must be {wanted}"


NO_NETWORK = "network must be a list or tuple of ConvLayers, such as (ConvLayer(...),)"
NO_SYSTEM = "system must be a System, such as System(nodes=8)"
NO_NETWORKS = (), None, {}, iter(NETWORK), 4, LAYER, [tuple(LAYER)], [*NETWORK[:3], None]
OUTPUT = "(8, 14, 14, 2), layer 1's output (stride 1, no padding, no pooling)"
UNFIT = f"layer 2: in_channels, x, y, element_bytes = {{}} must be {OUTPUT}"


@pytest.mark.parametrize(
    ("network", "system", "reason"),
    [
        *((network, SYSTEM, NO_NETWORK) for network in NO_NETWORKS),
        *((NETWORK, system, NO_SYSTEM) for system in [None, tuple(SYSTEM), System]),
        ([LAYER, LAYER], SYSTEM, UNFIT.format("(3, 16, 16, 2)")),
        ([LAYER, NEXT._replace(x=3)], SYSTEM, UNFIT.format("(8, 3, 14, 2)")),
        ([LAYER, NEXT._replace(y=15)], SYSTEM, UNFIT.format("(8, 14, 15, 2)")),
        ([LAYER, NEXT._replace(element_bytes=1)], SYSTEM, UNFIT.format("(8, 14, 14, 1)")),
        ([ConvLayer(1, 2, 5, 4, 4, 7)], SYSTEM, "layer 1: fx, fy = 5, 4 exceed x, y = 4, 7"),
        ([ConvLayer(1, 2, 3, 5, 7, 4)], SYSTEM, "layer 1: fx, fy = 3, 5 exceed x, y = 7, 4"),
    ],
)
def test_what_cannot_be_modelled(network, system, reason):
    assert refusal(network, system, 1) == reason


UNEVEN = [(2, 8, "2 filters"), (1, 8, "1 filter"), (7_001, 7_000, "7,001 filters")]


@pytest.mark.parametrize(("filters", "nodes", "named"), UNEVEN)
def test_the_layer_whose_filters_cannot_be_split_is_named(filters, nodes, named):
    network = ConvLayer(nodes, 1, 1, 1, 1, 1), ConvLayer(filters, nodes, 1, 1, 1, 1)
    reason = f"layer 2's {named} cannot be split evenly over {nodes:,} nodes"
    assert refusal(network, System(nodes), functions=TENSOR).endswith(f"not possible: {reason}")


def test_a_pipeline_with_too_few_nodes_is_refused():
    reason = "not possible: 2,000 layers need 2,000 nodes or more, not 1,999"
    network = [SMALLEST] * 2_000
    assert refusal(network, System(1_999), functions=PIPELINE).endswith(reason)
