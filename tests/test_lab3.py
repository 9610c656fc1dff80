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


def four_numbers(*question):
    """Tensor parallelism's seconds and bytes, then the pipeline's, and the types that they have."""
    found = [function(*question) for function in TENSOR + PIPELINE]
    assert [type(number) for number in found] == [Fraction, int, Fraction, int]
    return found


def exact(tensor_s, tensor_bytes, pipeline_s, pipeline_bytes):
    return [Fraction(tensor_s), tensor_bytes, Fraction(pipeline_s), pipeline_bytes]


# ------------------------------------------------ the lab


def test_the_handouts_machine():
    assert SYSTEM == (4, 50_000_000_000, 2_000_000_000, 524_288, "all-to-all")  # 512 * 1,024
    assert lab3.INPUTS == 32


def sizes(layer):
    names = "out_x out_y weights macs ops weight_bytes input_bytes output_bytes"
    return tuple(getattr(layer, name) for name in names.split())


def test_the_handouts_layers():
    # Layer 1: 128 filters of 3 x 3 x 3 = 27 weights on 30 x 30 = 900 places: 3,456 * 900 MACs; an
    # input of 3 * 32 * 32 = 3,072 elements of 2 bytes, an output of 128 * 900 = 115,200.
    # Others: 128 filters of 128 * 9 = 1,152, 147,456 weights, on 784, 676 and 576 places.
    assert [sizes(layer) for layer in NETWORK] == [
        (30, 30, 3_456, 3_110_400, 6_220_800, 6_912, 6_144, 230_400),
        (28, 28, 147_456, 115_605_504, 231_211_008, 294_912, 230_400, 200_704),
        (26, 26, 147_456, 99_680_256, 199_360_512, 294_912, 200_704, 173_056),
        (24, 24, 147_456, 84_934_656, 169_869_312, 294_912, 173_056, 147_456),
    ]


# In a microsecond a node does 50,000 ops and a link carries 2,000 bytes.
#
# Tensor: a node computes a quarter, 1,555,200 ops of layer 1 in 31.104 us, and sends a quarter of
#   the output to three others at once: 230,400 / 4 = 57,600 bytes a link, 28.8 us; 12 links carry
#   691,200. After layer 4, three nodes send 147,456 / 4 = 36,864 bytes to the fourth: 18.432 us,
#   3 * 36,864 = 110,592 bytes.
#   Compute 31.104 + 1,156.05504 + 996.80256 + 849.34656 = 3,033.30816 us, and communication
#   all-to-all 28.8 + 25.088 + 21.632 + 18.432 = 93.952 us,
#     691,200 + 602,112 + 519,168 + 110,592 bytes
#   ring 3 * 93.952 = 281.856 us, because each link carries three quarters one after the other;
#     691,200 + 602,112 + 519,168 bytes, and in the gather (1 + 2 + 3) * 36,864 = 221,184
#   32 inputs: 32 times 3,127.26016 or 3,315.16416 us, and 32 times the bytes
# Pipeline: 6,220,800 ops of one node take 124.416 us, 230,400 bytes on one link 115.2 us.
#   Compute 124.416 + 4,624.22016 + 3,987.21024 + 3,397.38624 = 12,133.23264 us, sends
#   115.2 + 100.352 + 86.528 = 302.08 us, 230,400 + 200,704 + 173,056 bytes
#   32 inputs: 12,435.31264 + 31 * 4,624.22016 = 12,435.31264 + 143,350.82496 us
@pytest.mark.parametrize(
    ("topology", "inputs", "numbers"),
    [
        ("all-to-all", [], ("0.00312726016", 1_923_072, "0.01243531264", 604_160)),
        ("all-to-all", [32], ("0.10007232512", 61_538_304, "0.1557861376", 19_333_120)),
        ("ring", [1], ("0.00331516416", 2_033_664, "0.01243531264", 604_160)),
        ("ring", [32], ("0.10608525312", 65_077_248, "0.1557861376", 19_333_120)),
    ],
)
def test_the_labs_numbers(topology, inputs, numbers):
    question = [NETWORK, SYSTEM._replace(topology=topology), *inputs]
    assert four_numbers(*question) == exact(*numbers)
    for check in (lab3.check, lab3.check_tensor_parallel, lab3.check_pipeline_parallel):
        check(*question)


# ------------------------------------------------ a machine on which everything differs
#
# Two layers on three nodes, elements of 5 bytes, 5 inputs. Layer 1: 6 filters of 2 x 4 x 3 on 10 x
# 8, so 7 x 6 = 42 places. Layer 2: 9 filters of 6 x 5 x 2 on 7 x 6, so 3 x 5 = 15 places.
#
# Tensor: compute 12,096 / 3 = 4,032 ops in 23.52 s, 16,200 / 3 = 5,400 in 31.5 s; shards 1,260 / 3
#   = 420 bytes in 33.6 s, 675 / 3 = 225 in 18 s, around the ring twice as long: 106.62 s and
#   158.22 s; 3 * 2 * 420 + 2 * 225 = 2,970 bytes, around the ring 3 * 2 * 420 + (1 + 2) * 225
# Pipeline: 70.56 s, 1,260 bytes in 100.8 s, 94.5 s: 265.86 s, and, as the send is the bottleneck,
#   4 * 100.8 = 403.2 s more

OTHER = (ConvLayer(6, 2, 4, 3, 10, 8, 5), ConvLayer(9, 6, 5, 2, 7, 6, 5))
DIRECT = System(3, Fraction(1_200, 7), Fraction(25, 2), 999)
AROUND = DIRECT._replace(topology="ring")


def test_the_sizes_of_other_layers():
    assert [sizes(layer) for layer in OTHER] == [
        (7, 6, 6 * 2 * 4 * 3, 144 * 42, 2 * 6_048, 144 * 5, 2 * 10 * 8 * 5, 6 * 42 * 5),
        (3, 5, 9 * 6 * 5 * 2, 540 * 15, 2 * 8_100, 540 * 5, 6 * 7 * 6 * 5, 9 * 15 * 5),
    ]


def test_the_numbers_of_another_machine():
    assert four_numbers(OTHER, DIRECT, 5) == exact("533.1", 14_850, "669.06", 6_300)
    assert four_numbers(OTHER, AROUND, 5) == exact("791.1", 15_975, "669.06", 6_300)


@pytest.mark.parametrize("topology", ["all-to-all", "ring"])
def test_one_node_sends_nothing(topology):
    # layer 1 alone: 12,096 ops at 1,200 / 7 ops/s; the smallest there is: 2 ops at 1 op/s
    system = DIRECT._replace(nodes=1, topology=topology)
    assert four_numbers(OTHER[:1], system, 2) == exact("141.12", 0, "141.12", 0)
    smallest = [ConvLayer(1, 1, 1, 1, 1, 1)], System(1, 1, 1, 1, topology)
    assert four_numbers(*smallest) == exact(2, 0, 2, 0)


@pytest.mark.parametrize(
    ("layers", "inputs", "slots"), [(2, 3, 5), (1, 7, 7), (4, 1, 7), (3, 6, 10)]
)
def test_a_pipeline_of_equal_stages(layers, inputs, slots):
    # L layers are M = 2 L - 1 stages, computing and sending by turns: M + N - 1 slots, not M * N;
    # 3 stages and 3 inputs take 5, not 9. One filter of 1 x 1 on 1 x 1 makes 2 ops and 2 bytes.
    network, system = [ConvLayer(1, 1, 1, 1, 1, 1)] * layers, System(layers, 2, 2)
    assert lab3.pipeline_parallel_latency(network, system, inputs) == slots


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
PLAIN = {"PATH": os.environ["PATH"]}  # no PYTHON* variables


def run(*command, **more):
    """Exit status, and the bytes of stdout and stderr, of a process of its own."""
    options = {"cwd": str(SCRIPT.parent), "env": PLAIN, "timeout": 60, **more}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    done = subprocess.run([str(word) for word in command], check=False, **pipes, **options)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("flags", ["-I -S", "-OO", "-bb -W error -X dev"])
def test_the_answers_from_any_folder(tmp_path, flags):
    result = run(sys.executable, *flags.split(), SCRIPT, cwd=str(tmp_path))
    assert result == (0, ANSWERS.encode(), b"")
    assert list(tmp_path.iterdir()) == []


def test_it_is_a_program():
    path = os.pathsep.join([str(Path(sys.executable).parent), PLAIN["PATH"]])
    assert run(SCRIPT, env={"PATH": path})[1] == ANSWERS.encode()


def test_its_import_prints_nothing():
    assert run(sys.executable, "-B", "-c", "import lab3") == (0, b"", b"")


@pytest.mark.parametrize(
    ("arguments", "status", "printed", "error"),
    [
        ([], 0, ANSWERS, ""),
        (["-h"], 2, "", "lab3.py: error: takes no arguments"),
        (["--nodes", "8"], 2, "", "lab3.py: error: takes no arguments"),
    ],
)
def test_it_takes_no_arguments(monkeypatch, capsys, arguments, status, printed, error):
    monkeypatch.setattr(sys, "argv", ["lab3.py", *arguments])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    out, err = capsys.readouterr()
    assert (ended.value.code, out, err.count("\n")) == (status, printed, status > 0)
    assert err.startswith(error)


@pytest.mark.parametrize(
    ("constant", "status", "out", "err"),
    [
        ("INPUTS = 1", 0, "".join(ANSWERS.splitlines(keepends=True)[:5]), ""),
        ("INPUTS = 0", 2, "", "lab3.py: error: inputs: 0 must be a positive int\n"),
    ],
)
def test_constants_can_be_changed_in_the_file(tmp_path, constant, status, out, err):
    before, after = SCRIPT.read_text(encoding="utf-8").split("\nINPUTS = 32")
    copy = tmp_path / "lab3.py"
    copy.write_text(f"{before}\n{constant}{after}", encoding="utf-8")
    assert run(sys.executable, "-B", copy) == (status, out.encode(), err.encode())


@pytest.mark.parametrize(("inputs", "latency_s"), [(2, "316.44"), (5, "791.1")])
def test_the_answers_say_how_many_inputs(inputs, latency_s):
    q2 = f"--------Q2 {inputs} inputs------\nTotal latency of tensor parallelism is {latency_s} s"
    assert q2 in lab3.answers(OTHER, AROUND, inputs)


# Two nodes take twice as long for each step of tensor parallelism; an all-gather moves 2 shards,
# the gather one, of halves: 230,400 + 200,704 + 173,056 + 73,728 = 677,888 bytes, 32 times.
ON_TWO = """\
Total latency of tensor parallelism is 0.20014465024 seconds
Total network traffic of tensor parallelism is 21692416 bytes
Pipeline parallelism is not possible: 4 layers need 4 nodes or more, not 2"""
ON_FIVE = """\
Tensor parallelism is not possible: layer 1's 128 filters cannot be split evenly over 5 nodes
Total latency of pipeline parallelism is 0.1557861376 seconds
Total network traffic of pipeline parallelism is 19333120 bytes"""


@pytest.mark.parametrize(("nodes", "expected"), [(2, ON_TWO), (5, ON_FIVE)])
def test_a_strategy_that_is_not_possible_has_its_reason(nodes, expected):
    text = lab3.answers(NETWORK, SYSTEM._replace(nodes=nodes), 32)
    assert text.split("--------Q2 32 inputs------\n")[1] == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (Fraction(-1, 8), "-0.125"),
        (Fraction(2, 3), "0.66666666666666667"),
        (Fraction(10**20, 3), "33333333333333333000"),
        (Fraction(300000000000000015, 7), "42857142857142859"),  # not the numerator before
        (Fraction(12345678901234567, 10**17), "0.12345678901234567"),  # 17 digits: exact
        (Fraction(123456789012345675, 10**18), "0.12345678901234568"),  # half, to even
        (Fraction(123456789012345665, 10**18), "0.12345678901234566"),
        (Fraction(1, 10**100), "0." + "0" * 99 + "1"),
        (0.25, "0.25"),  # of a formula that was edited
    ],
)
def test_a_number_is_rounded_once(value, text):
    assert lab3.plain(value) == text
    with decimal.localcontext() as context:  # whatever the caller's settings
        context.prec, context.rounding = 1, decimal.ROUND_UP
        context.traps[decimal.Inexact] = context.traps[decimal.FloatOperation] = True
        assert lab3.plain(value) == text


def test_unbuffered_it_is_silent_if_its_reader_stops():
    environment = dict(os.environ, PYTHONUNBUFFERED="1")
    for _ in range(5):
        writer = subprocess.Popen(
            [sys.executable, lab3.__file__],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        with writer:
            assert writer.stdout.readline() == b"-----Q1 single input-----\n"
            writer.stdout.close()
            assert (writer.wait(), writer.stderr.read()) == (0, b"")


# ------------------------------------------------ what it refuses


class Int64(int):
    """As NumPy's: counts like an int, and is none."""


LAYER, NEXT = ConvLayer(8, 3, 3, 3, 16, 16), ConvLayer(8, 8, 3, 3, 14, 14)


def refusal(*question, **more):
    """Why: one sentence, the same from every function."""
    reasons = set()
    for function in more.get("functions", [*TENSOR, *PIPELINE, lab3.check, lab3.answers]):
        with pytest.raises(ValueError) as caught:
            function(*question)
        reasons.add(str(caught.value))
    [reason] = reasons
    assert reason.isprintable() and len(reason) < 250
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


@pytest.mark.parametrize("name", ["ops_per_s", "link_bytes_per_s"])
@pytest.mark.parametrize("value", [0, Fraction(-1, 3), 5e10, True, "1", Int64(3)])
def test_what_is_no_rate(name, value):
    reason, examples = refusal(NETWORK, SYSTEM._replace(**{name: value}), 1).split(", such as ")
    assert reason == f"{name}: {value!r} must be a positive int or Fraction"
    for example in examples.split(" or "):
        rate = eval(example, {"Fraction": Fraction})
        assert lab3.answers(NETWORK, SYSTEM._replace(**{name: rate}), 1)


@pytest.mark.parametrize(
    "network", [(), None, {}, iter(NETWORK), 4, LAYER, [tuple(LAYER)], [*NETWORK[:3], None]]
)
def test_what_is_no_network(network):
    wanted = "network must be a list or tuple of ConvLayers (a tuple of one needs a comma: "
    assert refusal(network, SYSTEM, 1) == wanted + "(ConvLayer(...),))"


@pytest.mark.parametrize("system", [None, tuple(SYSTEM), System])
def test_what_is_no_system(system):
    reason, example = refusal(NETWORK, system, 1).split(", such as ")
    assert reason == "system must be a System" and isinstance(eval(example), System)


@pytest.mark.parametrize("topology", ["star", None, ["ring"], "Ring"])
def test_what_is_no_topology(topology):
    expected = f"topology: {topology!r} must be 'all-to-all' or 'ring'"
    assert refusal(NETWORK, SYSTEM._replace(topology=topology), 1) == expected


@pytest.mark.parametrize(
    ("network", "reason"),
    [
        ([LAYER, LAYER], "(3, 16, 16, 2) must be (8, 14, 14, 2), layer 1's output"),
        ([LAYER, NEXT._replace(y=15)], "(8, 14, 15, 2) must be (8, 14, 14, 2), layer 1's output"),
        ([LAYER, NEXT._replace(x=2)], "(8, 2, 14, 2) must be (8, 14, 14, 2), layer 1's output"),
        ([LAYER, NEXT._replace(element_bytes=1)], "(8, 14, 14, 1) must be (8, 14, 14, 2), layer"),
        ([LAYER, NEXT, LAYER], "(3, 16, 16, 2) must be (8, 12, 12, 2), layer 2's output"),
        ([ConvLayer(1, 2, 5, 4, 4, 7)], "fx, fy = 5, 4 exceed x, y = 4, 7"),
        ([ConvLayer(1, 2, 3, 8, 4, 7)], "fx, fy = 3, 8 exceed x, y = 4, 7"),
        ([ConvLayer(1, 2, 3, 5, 7, 4)], "fx, fy = 3, 5 exceed x, y = 7, 4"),
        ([LAYER, NEXT._replace(fy=15)], "fx, fy = 3, 15 exceed x, y = 14, 14"),
    ],
)
def test_layers_that_cannot_be_modelled(network, reason):
    named = "" if reason.startswith("fx") else "in_channels, x, y, element_bytes = "
    assert refusal(network, SYSTEM, 1).startswith(f"layer {len(network)}: {named}{reason}")


@pytest.mark.parametrize(
    ("filters", "nodes", "named"),
    [
        (12, 8, "12 filters"),
        (2, 8, "2 filters"),
        (1, 8, "1 filter"),
        (7_001, 7_000, "7,001 filters"),
    ],
)
def test_the_layer_whose_filters_cannot_be_split_is_named(filters, nodes, named):
    network = ConvLayer(nodes, 1, 1, 1, 1, 1), ConvLayer(filters, nodes, 1, 1, 1, 1)
    reason = f"layer 2's {named} cannot be split evenly over {nodes:,} nodes"
    assert refusal(network, System(nodes), functions=TENSOR).endswith(f"not possible: {reason}")


def test_a_pipeline_with_too_few_nodes_is_refused():
    reason = "not possible: 2,000 layers need 2,000 nodes or more, not 1,999"
    network = [ConvLayer(1, 1, 1, 1, 1, 1)] * 2_000
    assert refusal(network, System(1_999), functions=PIPELINE).endswith(reason)
