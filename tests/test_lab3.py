"""lab3.py against numbers worked out by hand (the working is in the comments), its output to the
byte, and what it refuses. Needs pytest and nothing else.

No expected value is computed by the code under test. Exact decimals are written as strings, since
Fraction("0.1") is 1/10.
"""

import decimal
import os
import re
import runpy
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import lab3
from lab3 import NETWORK, SYSTEM, ConvLayer, System

SCRIPT = Path(lab3.__file__)
RING = SYSTEM._replace(topology="ring")
FOUR_FUNCTIONS = [
    lab3.tensor_parallel_latency,
    lab3.tensor_parallel_traffic,
    lab3.pipeline_parallel_latency,
    lab3.pipeline_parallel_traffic,
]


def four_numbers(network, system, inputs):
    """Tensor parallelism's seconds and bytes, then pipeline parallelism's."""
    return [function(network, system, inputs) for function in FOUR_FUNCTIONS]


def exact(*numbers):
    """Latencies are decimals in the text."""
    return [Fraction(number) if isinstance(number, str) else number for number in numbers]


# ------------------------------------------------ the lab


def test_the_handouts_machine():
    assert SYSTEM == (4, 50_000_000_000, 2_000_000_000, 524_288, "all-to-all")  # 512 * 1,024
    assert lab3.INPUTS == 32


def test_the_handouts_layers():
    # Layer 1: 128 filters of 3 x 3 x 3 = 27 weights on 30 x 30 = 900 places: 3,456 * 900 MACs; an
    # input of 3 * 32 * 32 = 3,072 elements of 2 bytes, an output of 128 * 900 = 115,200.
    # Others: 128 filters of 128 * 9 = 1,152, 147,456 weights, on 784, 676 and 576 places.
    names = ["out_x", "out_y", "macs", "ops", "weight_bytes", "input_bytes", "output_bytes"]
    assert [tuple(getattr(layer, name) for name in names) for layer in NETWORK] == [
        (30, 30, 3_110_400, 6_220_800, 6_912, 6_144, 230_400),
        (28, 28, 115_605_504, 231_211_008, 294_912, 230_400, 200_704),
        (26, 26, 99_680_256, 199_360_512, 294_912, 200_704, 173_056),
        (24, 24, 84_934_656, 169_869_312, 294_912, 173_056, 147_456),
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
#   ring 3 * 93.952 = 281.856 us, as each link carries three quarters one after the other;
#     691,200 + 602,112 + 519,168 bytes, and in the gather (1 + 2 + 3) * 36,864 = 221,184
#   32 inputs: 32 times 3,127.26016 or 3,315.16416 us, and 32 times the bytes
# Pipeline: 6,220,800 ops of one node take 124.416 us, 230,400 bytes on one link 115.2 us.
#   Compute 124.416 + 4,624.22016 + 3,987.21024 + 3,397.38624 = 12,133.23264 us, sends
#   115.2 + 100.352 + 86.528 = 302.08 us, 230,400 + 200,704 + 173,056 bytes
#   32 inputs: 12,435.31264 + 31 * 4,624.22016 = 12,435.31264 + 143,350.82496 us
@pytest.mark.parametrize(
    ("system", "inputs", "numbers"),
    [
        (SYSTEM, 1, ("0.00312726016", 1_923_072, "0.01243531264", 604_160)),
        (SYSTEM, 32, ("0.10007232512", 61_538_304, "0.1557861376", 19_333_120)),
        (RING, 1, ("0.00331516416", 2_033_664, "0.01243531264", 604_160)),
        (RING, 32, ("0.10608525312", 65_077_248, "0.1557861376", 19_333_120)),
    ],
)
def test_the_labs_numbers(system, inputs, numbers):
    found = four_numbers(NETWORK, system, inputs)
    assert found == exact(*numbers)
    assert [type(number) for number in found] == [Fraction, int, Fraction, int]


def test_one_input_is_the_default():
    for check in (lab3.check, lab3.check_tensor_parallel, lab3.check_pipeline_parallel):
        check(NETWORK, SYSTEM)
    assert [function(NETWORK, SYSTEM) for function in FOUR_FUNCTIONS] == exact(
        "0.00312726016", 1_923_072, "0.01243531264", 604_160
    )


# ------------------------------------------------ a machine on which everything differs
#
# Two layers on three nodes, elements of 5 bytes. Layer 1: 6 filters of 2 x 4 x 3 on 10 x 8, so 7 x
# 6 = 42 places. Layer 2: 9 filters of 6 x 5 x 2 on 7 x 6, so 3 x 5 = 15 places.

OTHER = (ConvLayer(6, 2, 4, 3, 10, 8, 5), ConvLayer(9, 6, 5, 2, 7, 6, 5))
R, B = Fraction(1_200, 7), Fraction(50, 3)
DIRECT = System(nodes=3, ops_per_s=R, link_bytes_per_s=B, sram_bytes=999)
AROUND = DIRECT._replace(topology="ring")


def printed(documented, formula):
    """Whether a docstring has the formula, not as a part of a longer one."""
    return re.search(rf"(^|[=;a-z] |\s){re.escape(formula)}(?![ ]?[*+/-])", documented.__doc__)


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("out_x", 10 - 4 + 1, 7 - 5 + 1),
        ("out_y", 8 - 3 + 1, 6 - 2 + 1),
        ("weights", 6 * 2 * 4 * 3, 9 * 6 * 5 * 2),
        ("macs", 144 * 7 * 6, 540 * 3 * 5),
        ("ops", 2 * 6_048, 2 * 8_100),
        ("weight_bytes", 144 * 5, 540 * 5),
        ("input_bytes", 2 * 10 * 8 * 5, 6 * 7 * 6 * 5),
        ("output_bytes", 6 * 7 * 6 * 5, 9 * 3 * 5 * 5),
    ],
)
def test_the_sizes_of_a_layer(name, first, second):
    assert [getattr(layer, name) for layer in OTHER] == [first, second]


def test_the_formulas_of_the_strategies():
    # Tensor: compute 12,096 / 3 = 4,032 ops in 23.52 s, 16,200 / 3 = 5,400 in 31.5 s; shards
    # 1,260 / 3 = 420 bytes in 25.2 s, 675 / 3 = 225 in 13.5 s, around the ring twice as long.
    direct, around = (four_numbers(OTHER, system, 5) for system in (DIRECT, AROUND))
    first_s, second_s = 12_096 / (3 * R), 16_200 / (3 * R)
    formula = "N * (sum(C) / (P * R) + rounds * sum(A) / (P * B)) seconds"
    assert printed(lab3.tensor_parallel_latency, formula)
    latency_s = 5 * ((first_s + 420 / B) + (second_s + 225 / B))
    assert direct[0] == latency_s == Fraction("468.6")
    latency_s = 5 * ((first_s + (3 - 1) * 420 / B) + (second_s + (3 - 1) * 225 / B))
    assert around[0] == latency_s == Fraction("662.1")

    formula = "N * (P * (P - 1) * (S_1 + ... + S_(L-1)) + gather_hops * S_L) bytes"
    assert printed(lab3.tensor_parallel_traffic, formula)
    assert direct[1] == 5 * (3 * (3 - 1) * 420 + (3 - 1) * 225) == 14_850
    assert around[1] == 5 * (3 * (3 - 1) * 420 + (1 + 2) * 225) == 15_975

    # Pipeline: 70.56 s, 1,260 bytes in 75.6 s, 94.5 s: 240.66 s, and 4 * 94.5 = 378 s more
    formula = "sum(C / R) + sum(A / B) + (N - 1) * max(C / R, A / B) seconds, A_L left out"
    assert printed(lab3.pipeline_parallel_latency, formula)
    first_s, sent_s, second_s = 12_096 / R, 1_260 / B, 16_200 / R
    latency_s = (first_s + second_s) + sent_s + (5 - 1) * max(first_s, second_s, sent_s)
    assert direct[2] == around[2] == latency_s == Fraction("618.66")
    assert printed(lab3.pipeline_parallel_traffic, "N * (A_1 + ... + A_(L-1)) bytes")
    assert direct[3] == around[3] == 5 * 1_260


def test_a_pipeline_whose_bottleneck_is_a_send():
    # Elements of 3 bytes, 96 ops/s, 12 bytes/s.
    # 8 filters of 1 x 1 x 2 on 5 x 4, so 15 places: 480 ops in 5 s, 360 bytes in 30 s.
    # 4 filters of 8 x 2 x 1 on 5 x 3, so 12 places: 1,536 ops in 16 s, 144 bytes in 12 s.
    # 12 filters of 4 x 3 x 3 on 4 x 3, so 2 places: 1,728 ops in 18 s.
    # Pipeline: 5 + 30 + 16 + 12 + 18 = 81 s, 2 * 30 s more; 504 bytes, three times.
    # Tensor: 1.25 + 7.5 + 4 + 3 + 4.5 + 18 / 12 = 21.75 s; 12 * 90 + 12 * 36 + 3 * 18 = 1,566 bytes
    network = (
        ConvLayer(8, 1, 1, 2, 5, 4, 3),
        ConvLayer(4, 8, 2, 1, 5, 3, 3),
        ConvLayer(12, 4, 3, 3, 4, 3, 3),
    )
    system = System(nodes=4, ops_per_s=96, link_bytes_per_s=12)
    assert four_numbers(network, system, 3) == exact("65.25", 4_698, "141", 1_512)


@pytest.mark.parametrize("topology", ["all-to-all", "ring"])
def test_one_node_sends_nothing(topology):
    # 12,096 + 16,200 ops at 1,200 / 7 ops/s: 165.06 s; as a pipeline, it has one layer.
    system = DIRECT._replace(nodes=1, topology=topology)
    assert lab3.tensor_parallel_latency(OTHER, system, 2) == 2 * Fraction("165.06")
    assert lab3.tensor_parallel_traffic(OTHER, system, 2) == 0
    assert lab3.pipeline_parallel_latency(OTHER[:1], system, 2) == 2 * Fraction("70.56")
    assert lab3.pipeline_parallel_traffic(OTHER[:1], system, 2) == 0


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


def run(*command, cwd=SCRIPT.parent, env=PLAIN):
    """Exit status, and the bytes of stdout and stderr, of a process of its own."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    words = map(str, command)
    done = subprocess.run([*words], cwd=str(cwd), env=env, check=False, timeout=60, **pipes)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("flags", ["-I -S", "-OO", "-bb -W error -X dev"])
def test_the_answers_from_any_folder(tmp_path, flags):
    result = run(sys.executable, *flags.split(), SCRIPT, cwd=tmp_path, env={**PLAIN, "LC_ALL": "C"})
    assert result == (0, ANSWERS.encode(), b"")
    assert list(tmp_path.iterdir()) == []


def test_it_is_a_program():
    path = os.pathsep.join([str(Path(sys.executable).parent), PLAIN["PATH"]])
    assert run(SCRIPT, env={"PATH": path})[1] == ANSWERS.encode()


def test_its_import_prints_nothing():
    assert run(sys.executable, "-B", "-c", "import lab3") == (0, b"", b"")


@pytest.mark.parametrize(("inputs", "latency_s"), [(2, "264.84"), (5, "662.1")])
def test_the_answers_say_how_many_inputs(inputs, latency_s):
    # one takes 662.1 / 5 = 132.42 s
    q2 = f"--------Q2 {inputs} inputs------\nTotal latency of tensor parallelism is {latency_s} s"
    assert q2 in lab3.answers(OTHER, AROUND, inputs)


# Two nodes take twice as long for each step of tensor parallelism; an all-gather moves 2 shards,
# the gather one, of halves: 230,400 + 200,704 + 173,056 + 73,728 = 677,888 bytes, 32 times.
TENSOR = """\
Total latency of tensor parallelism is 0.20014465024 seconds
Total network traffic of tensor parallelism is 21692416 bytes"""
NO_TENSOR = (
    "Tensor parallelism is not possible: layer 1's 128 filters cannot be split evenly over {} nodes"
)
NO_PIPELINE = "Pipeline parallelism is not possible: 4 layers need 4 nodes or more, not {}"


@pytest.mark.parametrize(
    ("nodes", "tensor", "pipeline"),
    [
        (2, TENSOR, NO_PIPELINE.format(2)),
        (3, NO_TENSOR.format(3), NO_PIPELINE.format(3)),
        (5, NO_TENSOR.format(5), "\n".join(ANSWERS.splitlines()[-2:])),
    ],
)
def test_a_strategy_that_is_not_possible_has_its_reason(nodes, tensor, pipeline):
    text = lab3.answers(NETWORK, SYSTEM._replace(nodes=nodes), 32)
    assert text.startswith("-----Q1 single input-----\n")
    assert text.split("--------Q2 32 inputs------\n")[1] == f"{tensor}\n{pipeline}"


def with_constant(folder, name, value):
    """A copy of lab3.py, in which this is what a constant is."""
    copy, source = folder / "lab3.py", SCRIPT.read_text(encoding="utf-8")
    before, after = source.split(f"\n{name} = ")
    copy.write_text(f"{before}\n{name} = {value}\n_ = {after}", encoding="utf-8")
    return copy


def test_its_constants_can_be_changed_in_the_file(tmp_path):
    q1 = "".join(ANSWERS.splitlines(keepends=True)[:5])
    copy = with_constant(tmp_path, "INPUTS", "1")
    assert run(sys.executable, "-B", copy, cwd=tmp_path) == (0, q1.encode(), b"")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("INPUTS", "0", "inputs: 0 must be a positive int"),
        (
            "NETWORK",
            "ConvLayer(8, 3, 3, 3, 9, 9)",
            "network must be a list or tuple of ConvLayers",
        ),
        ("SYSTEM", "System(ops_per_s=25e9)", "ops_per_s: 25000000000.0 must be a positive int or"),
    ],
)
def test_wrong_constants_are_named_in_one_sentence(tmp_path, name, value, said):
    status, out, err = run(sys.executable, "-B", with_constant(tmp_path, name, value))
    assert (status, out, err.count(b"\n")) == (2, b"", 1)
    assert err.startswith(f"lab3.py: error: {said}".encode())


@pytest.mark.parametrize("digits", [400, 5_000])  # Python may refuse to print more than 4,300
def test_very_many_inputs_are_answered_or_refused(tmp_path, digits):
    status, _, err = run(sys.executable, with_constant(tmp_path, "INPUTS", f"10**{digits}"))
    assert (status, err.count(b"\n")) in ((0, 0), (2, 1))
    assert digits > 400 or status == 0


@pytest.mark.parametrize(
    ("arguments", "status", "printed", "said"),
    [
        ([], 0, ANSWERS, ""),
        (["-h"], 2, "", "lab3.py: error: takes no arguments"),
        (["--nodes", "8"], 2, "", "lab3.py: error: takes no arguments"),
    ],
)
def test_it_takes_no_arguments(monkeypatch, capsys, arguments, status, printed, said):
    monkeypatch.setattr(sys, "argv", ["lab3.py", *arguments])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    out, err = capsys.readouterr()
    assert (ended.value.code, out, err.count("\n")) == (status, printed, status > 0)
    assert err.startswith(said)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (Fraction(-1, 8), "-0.125"),
        (Fraction(2, 3), "0.66666666666666667"),
        (Fraction(10**20, 3), "33333333333333333000"),
        (Fraction(12345678901234567, 10**17), "0.12345678901234567"),  # 17 digits: exact
        (Fraction(123456789012345675, 10**18), "0.12345678901234568"),  # half, to even
        (Fraction(123456789012345665, 10**18), "0.12345678901234566"),
        (Fraction(1, 10**100), "0." + "0" * 99 + "1"),
    ],
)
def test_a_number_is_rounded_once(value, text):
    assert lab3.plain(value) == text
    with decimal.localcontext() as context:  # whatever the caller's settings
        context.prec, context.rounding = 1, decimal.ROUND_UP
        context.traps[decimal.Inexact] = context.traps[decimal.FloatOperation] = True
        assert lab3.plain(value) == text


# ------------------------------------------------ what it refuses


class Int64(int):
    """As NumPy's: counts like an int, and is none."""

    def __repr__(self):
        return f"np.int64({int(self)})"


LAYER, NEXT = ConvLayer(8, 3, 3, 3, 16, 16), ConvLayer(8, 8, 3, 3, 14, 14)
ALL = [*FOUR_FUNCTIONS, lab3.check, lab3.answers]
NO_COUNTS = [0, -1, 1.0, True, "1", None, Int64(3)]
NO_RATES = [0, Fraction(-1, 3), 5e10, True, "1", None, Int64(3), decimal.Decimal(1)]


def refused(*question):
    """Why: one sentence, the same from every function."""
    reasons = set()
    for function in ALL:
        with pytest.raises(ValueError) as caught:
            function(*question)
        reasons.add(str(caught.value))
    (reason,) = reasons
    assert reason.isprintable() and len(reason) < 250
    return reason


@pytest.mark.parametrize(
    ("name", "values", "accepted"),
    [
        ("inputs", NO_COUNTS, "a positive int"),
        ("nodes", NO_COUNTS, "a positive int"),
        ("sram_bytes", NO_COUNTS, "a positive int"),
        ("ops_per_s", NO_RATES, "a positive int or Fraction, such as "),
        ("link_bytes_per_s", NO_RATES, "a positive int or Fraction, such as "),
        ("topology", ["star", None, ["ring"], "Ring"], "'all-to-all' or 'ring'"),
        *((f"layer 2 {field}", NO_COUNTS, "a positive int") for field in ConvLayer._fields),
    ],
)
def test_a_wrong_value_is_named_with_what_would_be_right(name, values, accepted):
    for value in values:
        network, system, inputs = (LAYER, NEXT), SYSTEM, 1
        if name == "inputs":
            inputs = value
        elif name.startswith("layer 2 "):
            network = (LAYER, NEXT._replace(**{name.split()[-1]: value}))
        else:
            system = SYSTEM._replace(**{name: value})
        text = refused(network, system, inputs)
        assert text.startswith(f"{name}: {value!r} must be {accepted}")


@pytest.mark.parametrize(
    "network", [(), None, {}, iter(NETWORK), 4, LAYER, [tuple(LAYER)], [*NETWORK[:3], None]]
)
def test_what_is_no_network(network):
    assert refused(network, SYSTEM, 1).startswith("network must be a list or tuple of ConvLayers")


@pytest.mark.parametrize("system", [None, tuple(SYSTEM), System])
def test_what_is_no_system(system):
    assert refused(NETWORK, system, 1).startswith("system must be a System, such as ")


OUTPUT = "must be (8, 14, 14, 2), layer 1's output (stride 1, no padding, no pooling)"


@pytest.mark.parametrize(
    ("network", "said"),
    [
        ([LAYER, LAYER], f"layer 2: in_channels, x, y, element_bytes = (3, 16, 16, 2) {OUTPUT}"),
        (
            [LAYER, NEXT._replace(y=13)],
            f"in_channels, x, y, element_bytes = (8, 14, 13, 2) {OUTPUT}",
        ),
        ([LAYER, NEXT._replace(x=2)], f"in_channels, x, y, element_bytes = (8, 2, 14, 2) {OUTPUT}"),
        ([LAYER, NEXT._replace(element_bytes=1)], f"bytes = (8, 14, 14, 1) {OUTPUT}"),
        ([LAYER, NEXT, LAYER], "(3, 16, 16, 2) must be (8, 12, 12, 2), layer 2's output (stride"),
        ([ConvLayer(1, 2, 5, 4, 4, 7)], "layer 1: fx, fy = 5, 4 exceed x, y = 4, 7"),
        ([ConvLayer(1, 2, 3, 8, 4, 7)], "layer 1: fx, fy = 3, 8 exceed x, y = 4, 7"),
        ([ConvLayer(1, 2, 3, 5, 7, 4)], "layer 1: fx, fy = 3, 5 exceed x, y = 7, 4"),
        ([LAYER, NEXT._replace(fy=15)], "layer 2: fx, fy = 3, 15 exceed x, y = 14, 14"),
    ],
)
def test_layers_that_cannot_be_modelled(network, said):
    text = refused(network, SYSTEM, 1)
    assert said in text and text.startswith(f"layer {len(network)}: ")


def test_the_smallest_that_can_be_modelled():
    # 2 ops and 2 bytes, at 1 op/s
    numbers = four_numbers([ConvLayer(1, 1, 1, 1, 1, 1)], System(1, 1, 1, 1), 1)
    assert numbers == [2, 0, 2, 0]


def test_what_an_error_tells_to_write_is_right():
    text = refused(NETWORK, System(ops_per_s=5e10), 1)
    for example in text.split("such as ")[1].split(" or "):
        rate = eval(example, {"Fraction": Fraction})
        assert lab3.answers(NETWORK, System(ops_per_s=rate), 1)
    text = refused(NETWORK, None, 1)
    assert lab3.answers(NETWORK, eval(text.split("such as ")[1], {"System": System}), 1)


@pytest.mark.parametrize(
    ("filters", "nodes", "named"),
    [
        (12, 8, "layer 2's 12 filters cannot be split evenly over 8 nodes"),
        (1, 8, "layer 2's 1 filter cannot be split evenly over 8 nodes"),
        (2, 8, "layer 2's 2 filters cannot be split evenly over 8 nodes"),
        (12_000, 7_000, "layer 1's 7,001 filters cannot be split evenly over 7,000 nodes"),
    ],
)
def test_the_layer_whose_filters_cannot_be_split_is_named(filters, nodes, named):
    first = nodes + (nodes > 8)
    layers = ConvLayer(first, 3, 3, 3, 16, 16), ConvLayer(filters, first, 3, 3, 14, 14)
    for function in FOUR_FUNCTIONS[:2]:
        with pytest.raises(ValueError, match=f"^Tensor parallelism is not possible: {named}$"):
            function(layers, System(nodes=nodes))


def test_the_pipelines_missing_nodes_are_counted():
    layers = [ConvLayer(1, 1, 1, 1, 1, 1)] * 2_000
    reason = (
        "Pipeline parallelism is not possible: 2,000 layers need 2,000 nodes or more, not 1,999"
    )
    for function in FOUR_FUNCTIONS[2:]:
        with pytest.raises(ValueError, match=f"^{reason}$"):
            function(layers, System(nodes=1_999))
