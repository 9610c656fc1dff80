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
    ("name", "formula", "first", "second"),  # as its docstring prints it, and of both layers
    [
        ("out_x", "x - fx + 1", 10 - 4 + 1, 7 - 5 + 1),
        ("out_y", "y - fy + 1", 8 - 3 + 1, 6 - 2 + 1),
        ("weights", "filters * in_channels * fx * fy", 6 * 2 * 4 * 3, 9 * 6 * 5 * 2),
        ("macs", "weights * out_x * out_y", 144 * 7 * 6, 540 * 3 * 5),
        ("ops", "2 * macs", 2 * 6_048, 2 * 8_100),
        ("weight_bytes", "weights * element_bytes", 144 * 5, 540 * 5),
        ("input_bytes", "in_channels * x * y * element_bytes", 2 * 10 * 8 * 5, 6 * 7 * 6 * 5),
        ("output_bytes", "filters * out_x * out_y * element_bytes", 6 * 7 * 6 * 5, 9 * 3 * 5 * 5),
    ],
)
def test_the_formulas_of_a_layer(name, formula, first, second):
    assert printed(getattr(ConvLayer, name), formula)
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
    done = subprocess.run(command, cwd=cwd, env=env, check=False, timeout=60, capture_output=True)
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


def test_the_answers_say_how_many_inputs():
    q2 = "--------Q2 5 inputs------\nTotal latency of tensor parallelism is 662.1 seconds\n"
    assert q2 in lab3.answers(OTHER, AROUND, 5)


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


def test_its_constants_can_be_changed_in_the_file(tmp_path):
    copy, source = tmp_path / "lab3.py", SCRIPT.read_text(encoding="utf-8")
    copy.write_text(source.replace("INPUTS = 32", "INPUTS = 1"), encoding="utf-8")
    q1 = "".join(ANSWERS.splitlines(keepends=True)[:5])
    assert run(sys.executable, "-B", copy, cwd=tmp_path) == (0, q1.encode(), b"")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("INPUTS", 0, "inputs: 0 must be a positive int"),
        ("NETWORK", (), "network: () must be a list or tuple of at least one ConvLayer"),
        ("SYSTEM", System(ops_per_s=5e10), "ops_per_s: 50000000000.0 must be an int or Fraction"),
    ],
)
def test_constants_that_cannot_be_modelled(monkeypatch, capsys, name, value, said):
    monkeypatch.setattr(lab3, name, value)
    monkeypatch.setattr(sys, "argv", ["lab3.py"])
    assert lab3.main() == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"lab3.py: error: {said}")


@pytest.mark.parametrize(
    ("arguments", "status", "printed", "said"),
    [
        ([], 0, ANSWERS, ""),
        (["--nodes", "8"], 2, "", "lab3.py: error: takes no arguments"),
    ],
)
def test_it_takes_no_arguments(monkeypatch, capsys, arguments, status, printed, said):
    monkeypatch.setattr(sys, "argv", ["lab3.py", *arguments])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    out, err = capsys.readouterr()
    assert (ended.value.code, out, err.count("\n")) == (status, printed, status > 0)
    assert err.isascii() and err.startswith(said)


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
ALL = [
    *FOUR_FUNCTIONS,
    lab3.check,
    lambda network, system: lab3.answers(network, system, 1),
]
HUGE = 10**5_000  # more digits than Python prints
NO_COUNTS = [0, -1, 1.0, True, "1", None, Int64(3), "9" * 10_000, 10**30 + 1, HUGE, -HUGE]
NO_RATES = [0, Fraction(-1, 3), 5e10, True, "1", Int64(3), decimal.Decimal(1), 10**30 + 1, HUGE]
NO_RATES += [-HUGE, Fraction(1, 10**30 + 1), Fraction(1, HUGE)]


def refused(function, *arguments):
    """Why: one sentence, in ASCII, which is short whatever it shows."""
    with pytest.raises(ValueError) as caught:
        function(*arguments)
    text = str(caught.value)
    assert text.isascii() and text.isprintable() and len(text) < 250
    return text


def start_of(value):
    try:
        return ascii(value)[:25]
    except ValueError:  # of HUGE
        return "an int of very many digits"


@pytest.mark.parametrize("inputs", NO_COUNTS, ids=start_of)
def test_inputs_that_are_no_count(inputs):
    for function in (*FOUR_FUNCTIONS, lab3.answers):
        text = refused(function, NETWORK, SYSTEM, inputs)
        assert text.startswith(f"inputs: {start_of(inputs)}") and "positive int" in text


@pytest.mark.parametrize(
    ("network", "parts"),
    [
        *((value, ["network: ", start_of(value)]) for value in ((), None, {}, iter(NETWORK))),
        (LAYER, ["network: ConvLayer(filters=8"]),  # not a list of one
        ([tuple(LAYER)], ["network: item 1, (8, 3, "]),
        ([*NETWORK[:3], "x" * 10_000], ["network: item 4, 'xxx", "a ConvLayer"]),
        ([HUGE], ["network: item 1, an int of very many digits"]),
        ([LAYER._replace(filters=0)], ["layer 1 filters: 0", "positive int"]),
        ([LAYER, NEXT._replace(y=Int64(14))], ["layer 2 y: np.int64(14)", "such as 4"]),
        ([LAYER, NEXT._replace(element_bytes=-2)], ["layer 2 element_bytes: -2"]),
        ([LAYER, LAYER], ["layer 2: ", "layer 1", "(8, 14, 14, 2)", "(3, 16, 16, 2)"]),
        ([LAYER, NEXT._replace(y=13)], ["(8, 14, 13, 2)", "stride 1, no padding, no pooling"]),
        ([LAYER, NEXT, LAYER], ["layer 3: ", "layer 2", "(8, 12, 12, 2)", "(3, 16, 16, 2)"]),
        ([LAYER, NEXT._replace(element_bytes=1)], ["element_bytes", "(8, 14, 14, 1)"]),
        ([ConvLayer(1, 2, 5, 4, 4, 7)], ["layer 1: fx, fy = 5, 4 exceed x, y = 4, 7"]),
        ([ConvLayer(1, 2, 3, 8, 4, 7)], ["layer 1: fx, fy = 3, 8 exceed x, y = 4, 7"]),
        ([ConvLayer(1, 2, 3, 5, 7, 4)], ["layer 1: fx, fy = 3, 5 exceed x, y = 7, 4"]),
    ],
)
def test_networks_that_cannot_be_modelled(network, parts):
    for function in ALL:
        text = refused(function, network, SYSTEM)
        assert all(part in text for part in parts)


@pytest.mark.parametrize(
    ("name", "values", "accepted"),
    [
        ("nodes", NO_COUNTS, "must be a positive int"),
        ("sram_bytes", NO_COUNTS, "must be a positive int"),
        ("ops_per_s", NO_RATES, "an int or Fraction from 10**-30 to 10**30, such as "),
        ("link_bytes_per_s", NO_RATES, "an int or Fraction from 10**-30 to 10**30, such as "),
        ("topology", ["star", None, ["ring"], "Ring"], "must be 'all-to-all' or 'ring'"),
        ("system", [None, tuple(SYSTEM), System], "must be a System"),
    ],
)
def test_systems_that_cannot_be_modelled(name, values, accepted):
    for value in values:
        system = value if name == "system" else SYSTEM._replace(**{name: value})
        for function in ALL:
            text = refused(function, NETWORK, system)
            assert text.startswith(f"{name}: {start_of(value)}") and accepted in text


def test_what_a_float_is_told_to_write_is_right():
    text = refused(lab3.check, NETWORK, System(ops_per_s=5e10))
    for example in text.split("such as ")[1].split(" or "):
        rate = eval(example, {"Fraction": Fraction})
        assert lab3.answers(NETWORK, System(ops_per_s=rate), 1)


def test_the_largest_that_can_be_modelled():
    # A weight on 1 x most places, elements of a byte: 2 * most ops and most bytes, one op and byte
    # in most seconds, most inputs: 2 * most**3 s on one node.
    most = 10**30
    layer, slowest = ConvLayer(1, 1, 1, 1, 1, most, 1), Fraction(1, most)
    system = System(1, slowest, slowest, most)
    assert lab3.tensor_parallel_latency([layer], system, most) == 2 * most**3
    assert lab3.pipeline_parallel_latency([layer], system, most) == 2 * most**3
    for function in ALL:
        assert refused(function, [layer._replace(x=2)], system).startswith("layer 1 output_bytes: ")


@pytest.mark.parametrize(
    ("filters", "named"), [(12, "layer 2's 12 filters"), (1, "layer 2's 1 filter")]
)
def test_the_layer_whose_filters_cannot_be_split_is_named(filters, named):
    for function in FOUR_FUNCTIONS[:2]:
        text = refused(function, (LAYER, NEXT._replace(filters=filters)), System(nodes=8))
        assert text.endswith(f"not possible: {named} cannot be split evenly over 8 nodes")
