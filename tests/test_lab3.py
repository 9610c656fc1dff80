"""lab3.py against numbers worked out by hand (the working is in the comments), its output to the
byte, and what it refuses. Needs pytest and nothing else.

No expected value is computed by the code under test. Exact decimals are written as strings, since
Fraction("0.1") is 1/10.
"""

import ast
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
from lab3 import NETWORK, SYSTEM, ConvLayer, Step, System

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


# ------------------------------------------------ the lab's layers


def test_the_handouts_machine():
    assert SYSTEM == (4, 50_000_000_000, 2_000_000_000, 524_288, "all-to-all")  # 512 * 1,024
    assert lab3.INPUTS == 32


# Layer 1: 128 filters of 3 x 3 x 3 = 27 weights each, on an output of 30 x 30 = 900 places.
#   MACs 128 * 27 * 900 = 3,456 * 900; weights 3,456 * 2 B
#   input 3 * 32 * 32 = 3,072 * 2 B; output 128 * 900 = 115,200 * 2 B
# Layers 2, 3, 4: 128 filters of 128 * 9 = 1,152 weights each, 147,456 weights in all.
#   places 28 * 28 = 784, 26 * 26 = 676, 24 * 24 = 576
#   MACs 147,456 * 784, * 676, * 576; outputs 128 * 784, * 676, * 576 elements
@pytest.mark.parametrize(
    ("number", "out", "macs", "ops", "weight_bytes", "input_bytes", "output_bytes"),
    [
        (1, 30, 3_110_400, 6_220_800, 6_912, 6_144, 230_400),
        (2, 28, 115_605_504, 231_211_008, 294_912, 230_400, 200_704),
        (3, 26, 99_680_256, 199_360_512, 294_912, 200_704, 173_056),
        (4, 24, 84_934_656, 169_869_312, 294_912, 173_056, 147_456),
    ],
)
def test_each_layer(number, out, macs, ops, weight_bytes, input_bytes, output_bytes):
    layer = NETWORK[number - 1]
    assert (layer.out_x, layer.out_y, layer.macs, layer.ops) == (out, out, macs, ops)
    assert layer.weight_bytes == weight_bytes
    assert (layer.input_bytes, layer.output_bytes) == (input_bytes, output_bytes)


# ------------------------------------------------ the lab's steps
#
# In microseconds: a node does 50,000 ops in one, a link carries 2,000 bytes. Each step is (layer,
# work, ops per node, bytes of the busiest link, bytes of all links) and its time.


def check_stages(stages, system, expected):
    assert stages == [[step for step, _ in stage] for stage in expected]
    for stage, expected_stage in zip(stages, expected, strict=True):
        for step, (_, step_us) in zip(stage, expected_stage, strict=True):
            assert lab3.duration([step], system) == Fraction(step_us) / 10**6
            assert {type(number) for number in step[2:]} == {int}


# A node computes a quarter: 6,220,800 / 4 = 1,555,200 ops in 31.104 us.
COMPUTE = [
    ((1, "compute", 1_555_200, 0, 0), "31.104"),
    ((2, "compute", 57_802_752, 0, 0), "1156.05504"),
    ((3, "compute", 49_840_128, 0, 0), "996.80256"),
    ((4, "compute", 42_467_328, 0, 0), "849.34656"),
]
# All-to-all: it sends a quarter of the output to three others at once: 230,400 / 4 = 57,600 bytes
#   a link, 28.8 us; 12 links carry 691,200. After layer 4, three nodes send their quarter,
#   147,456 / 4 = 36,864 bytes, to the fourth: 18.432 us, 3 * 36,864 = 110,592 bytes.
ALL_TO_ALL_EXCHANGES = [
    ((1, "all-gather", 0, 57_600, 691_200), "28.8"),
    ((2, "all-gather", 0, 50_176, 602_112), "25.088"),
    ((3, "all-gather", 0, 43_264, 519_168), "21.632"),
    ((4, "gather", 0, 36_864, 110_592), "18.432"),
]
# Ring: each link carries three quarters one after the other, 3 * 57,600 = 172,800 bytes in 86.4 us;
#   4 links carry the same 691,200. In the gather the quarters of 36,864 bytes pass 1 + 2 + 3 = 6
#   links, 221,184 bytes, three of them the last link: 110,592 bytes in 55.296 us.
RING_EXCHANGES = [
    ((1, "all-gather", 0, 172_800, 691_200), "86.4"),
    ((2, "all-gather", 0, 150_528, 602_112), "75.264"),
    ((3, "all-gather", 0, 129_792, 519_168), "64.896"),
    ((4, "gather", 0, 110_592, 221_184), "55.296"),
]
# 6,220,800 ops of one node take 124.416 us, 230,400 bytes on one link 115.2 us.
PIPELINE = [
    [((1, "compute", 6_220_800, 0, 0), "124.416")],
    [((1, "send", 0, 230_400, 230_400), "115.2")],
    [((2, "compute", 231_211_008, 0, 0), "4624.22016")],
    [((2, "send", 0, 200_704, 200_704), "100.352")],
    [((3, "compute", 199_360_512, 0, 0), "3987.21024")],
    [((3, "send", 0, 173_056, 173_056), "86.528")],
    [((4, "compute", 169_869_312, 0, 0), "3397.38624")],
]


@pytest.mark.parametrize(
    ("system", "exchanges"), [(SYSTEM, ALL_TO_ALL_EXCHANGES), (RING, RING_EXCHANGES)]
)
def test_each_step(system, exchanges):
    one_stage = [step for pair in zip(COMPUTE, exchanges, strict=True) for step in pair]
    check_stages(lab3.tensor_parallel_stages(NETWORK, system), system, [one_stage])
    check_stages(lab3.pipeline_parallel_stages(NETWORK, system), system, PIPELINE)


# Tensor: compute 31.104 + 1,156.05504 + 996.80256 + 849.34656 = 3,033.30816 us, and communication
#   all-to-all 28.8 + 25.088 + 21.632 + 18.432 = 93.952 us,
#     691,200 + 602,112 + 519,168 + 110,592 bytes
#   ring 86.4 + 75.264 + 64.896 + 55.296 = 281.856 us, 691,200 + 602,112 + 519,168 + 221,184 bytes
#   32 inputs: 32 times 3,127.26016 or 3,315.16416 us, and 32 times the bytes
# Pipeline: compute 124.416 + 4,624.22016 + 3,987.21024 + 3,397.38624 = 12,133.23264 us, sends
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
    assert four_numbers(NETWORK, system, inputs) == exact(*numbers)


def test_one_node_sends_nothing():
    # 606,661,632 ops at 50 per ns, and three times that
    one_node = SYSTEM._replace(nodes=1)
    for inputs, seconds in [(1, "0.01213323264"), (3, "0.03639969792")]:
        assert lab3.tensor_parallel_latency(NETWORK, one_node, inputs) == Fraction(seconds)
        assert lab3.tensor_parallel_traffic(NETWORK, one_node, inputs) == 0
        assert lab3.pipeline_parallel_traffic(NETWORK[:1], one_node, inputs) == 0


@pytest.mark.parametrize(
    ("collective", "nodes", "topology", "shards_in_turn", "shards_moved"),
    [
        ("all-gather", 1, "all-to-all", 0, 0),
        ("all-gather", 2, "all-to-all", 1, 2),
        ("all-gather", 4, "all-to-all", 1, 12),
        ("all-gather", 1, "ring", 0, 0),
        ("all-gather", 2, "ring", 1, 2),
        ("all-gather", 4, "ring", 3, 12),
        ("gather", 1, "all-to-all", 0, 0),
        ("gather", 2, "all-to-all", 1, 1),
        ("gather", 4, "all-to-all", 1, 3),
        ("gather", 1, "ring", 0, 0),
        ("gather", 2, "ring", 1, 1),
        ("gather", 5, "ring", 4, 10),  # 1 + 2 + 3 + 4 links
    ],
)
def test_collectives(collective, nodes, topology, shards_in_turn, shards_moved):
    system = SYSTEM._replace(nodes=nodes, topology=topology)
    step_of = {"all-gather": lab3.all_gather, "gather": lab3.gather}[collective]
    expected = (7, collective, 0, shards_in_turn * 10, shards_moved * 10)
    assert step_of(layer=7, shard_bytes=10, system=system) == expected


# ------------------------------------------------ a machine on which everything differs
#
# Two layers on three nodes, elements of 5 bytes. Layer 1: 6 filters of 2 x 4 x 3 on 10 x 8, so 7 x
# 6 = 42 places. Layer 2: 9 filters of 6 x 5 x 2 on 7 x 6, so 3 x 5 = 15 places.

OTHER = (ConvLayer(6, 2, 4, 3, 10, 8, 5), ConvLayer(9, 6, 5, 2, 7, 6, 5))
R, B = Fraction(1_200, 7), Fraction(50, 3)
DIRECT = System(nodes=3, ops_per_s=R, link_bytes_per_s=B, sram_bytes=999)
AROUND = DIRECT._replace(topology="ring")

# Each formula as its docstring prints it, and both layers' numbers put into it.
LAYER_FORMULAS = [
    ("out_x", "x - fx + 1", 10 - 4 + 1, 7 - 5 + 1, (7, 3)),
    ("out_y", "y - fy + 1", 8 - 3 + 1, 6 - 2 + 1, (6, 5)),
    ("weights", "filters * in_channels * fx * fy", 6 * 2 * 4 * 3, 9 * 6 * 5 * 2, (144, 540)),
    ("macs", "weights * out_x * out_y", 144 * 7 * 6, 540 * 3 * 5, (6_048, 8_100)),
    ("ops", "2 * macs", 2 * 6_048, 2 * 8_100, (12_096, 16_200)),
    ("weight_bytes", "weights * element_bytes", 144 * 5, 540 * 5, (720, 2_700)),
    (
        "input_bytes",
        "in_channels * x * y * element_bytes",
        2 * 10 * 8 * 5,
        6 * 7 * 6 * 5,
        (800, 1_260),
    ),
    (
        "output_bytes",
        "filters * out_x * out_y * element_bytes",
        6 * 7 * 6 * 5,
        9 * 3 * 5 * 5,
        (1_260, 675),
    ),
]


@pytest.mark.parametrize(("name", "formula", "first", "second", "values"), LAYER_FORMULAS)
def test_the_formulas_of_a_layer(name, formula, first, second, values):
    assert printed(getattr(ConvLayer, name), formula)
    assert tuple(getattr(layer, name) for layer in OTHER) == (first, second) == values


def printed(documented, formula):
    """Whether a docstring has the formula, not as a part of a longer one."""
    return re.search(rf"(^|[=;a-z] |\s){re.escape(formula)}(?![ ]?[*+/-])", documented.__doc__)


# Compute: 12,096 / 3 = 4,032 ops in 23.52 s, 16,200 / 3 = 5,400 in 31.5 s. Shards: 1,260 / 3 = 420
# bytes in 25.2 s, 675 / 3 = 225 in 13.5 s, around the ring twice as long.
STEPS_AROUND = [
    ((1, "compute", 4_032, 0, 0), "23.52"),
    ((1, "all-gather", 0, 840, 2_520), "50.4"),  # 2 * 420 bytes, 3 * 2 * 420
    ((2, "compute", 5_400, 0, 0), "31.5"),
    ((2, "gather", 0, 450, 675), "27"),  # 2 * 225 bytes, (1 + 2) * 225
]


def test_each_step_of_the_other_machine():
    in_us = [(step, Fraction(seconds) * 10**6) for step, seconds in STEPS_AROUND]
    check_stages(lab3.tensor_parallel_stages(OTHER, AROUND), AROUND, [in_us])
    [steps] = lab3.tensor_parallel_stages(OTHER, DIRECT)
    assert [step[3:] for step in steps] == [(0, 0), (420, 2_520), (0, 0), (225, 450)]


# Tensor: around 23.52 + 50.4 + 31.5 + 27 = 132.42 s, direct 23.52 + 25.2 + 31.5 + 13.5 = 93.72 s.
# Pipeline: 70.56 s, 1,260 bytes in 75.6 s, 94.5 s: 240.66 s, and 4 * 94.5 = 378 s more.
@pytest.mark.parametrize(
    ("function", "system", "formula", "worked", "value"),
    [
        (
            lab3.tensor_parallel_latency,
            DIRECT,
            "N * sum(C / (P * R) + S / B) seconds",
            5 * ((12_096 / (3 * R) + 420 / B) + (16_200 / (3 * R) + 225 / B)),
            "468.6",
        ),
        (
            lab3.tensor_parallel_latency,
            AROUND,
            "on a ring (P - 1) * S / B",
            5 * ((12_096 / (3 * R) + (3 - 1) * 420 / B) + (16_200 / (3 * R) + (3 - 1) * 225 / B)),
            "662.1",
        ),
        (
            lab3.tensor_parallel_traffic,
            DIRECT,
            "N * (P - 1) * (P * (S_1 + ... + S_(L-1)) + S_L) bytes",
            5 * (3 - 1) * (3 * 420 + 225),
            14_850,
        ),
        (
            lab3.tensor_parallel_traffic,
            AROUND,
            "on a ring S_L counts P / 2 times",
            5 * (3 - 1) * (3 * 420 + 225 * Fraction(3, 2)),
            15_975,
        ),
        (
            lab3.pipeline_parallel_latency,
            AROUND,
            "sum(C / R) + sum(A / B) + (N - 1) * max(C / R, A / B) seconds, A without A_L",
            (12_096 / R + 16_200 / R)
            + 1_260 / B
            + (5 - 1) * max(12_096 / R, 16_200 / R, 1_260 / B),
            "618.66",
        ),
        (
            lab3.pipeline_parallel_traffic,
            AROUND,
            "N * (A_1 + ... + A_(L-1)) bytes",
            5 * 1_260,
            6_300,
        ),
    ],
)
def test_the_formulas_of_the_strategies(function, system, formula, worked, value):
    assert printed(function, formula)
    assert [function(OTHER, system, 5)] == [worked] == exact(value)


def test_the_formulas_of_the_law():
    assert printed(lab3.duration, "sum(node ops / R + link bytes / B) seconds")
    steps = [Step(1, "compute", node_ops=600, link_bytes=25), Step(2, "send", link_bytes=100)]
    # 600 * 7 / 1,200 + 25 * 3 / 50 and 100 * 3 / 50: 3.5 + 1.5 + 6
    assert lab3.duration(steps, DIRECT) == 600 / R + 25 / B + 100 / B == 11

    for where, traffic_bytes in ((lab3, "bytes of the steps"), (lab3.traffic, "traffic bytes")):
        assert printed(where, f"N * sum({traffic_bytes})")
    for where in (lab3, lab3.latency):
        assert printed(where, "sum(steps) + (N - 1) * interval")
    stages = [steps, [Step(2, "compute", node_ops=2_400)]]  # 11 s and 14 s
    assert lab3.latency(stages, DIRECT, 5) == 11 + 14 + (5 - 1) * 14
    stages[0][1] = steps[1]._replace(traffic_bytes=300)
    stages[1][0] = stages[1][0]._replace(traffic_bytes=7)
    assert lab3.traffic(stages, 5) == 5 * (300 + 7)


@pytest.mark.parametrize(
    ("collective", "system", "formulas", "numbers"),
    [
        (lab3.all_gather, DIRECT, ["S / B seconds", "P * (P - 1) * S bytes"], (420, 3 * 2 * 420)),
        (lab3.all_gather, AROUND, ["(P - 1) * S / B seconds"], (2 * 420, 3 * 2 * 420)),
        (lab3.gather, DIRECT, ["S / B seconds, (P - 1) * S bytes"], (420, 2 * 420)),
        (
            lab3.gather,
            AROUND,
            ["(P - 1) * S / B seconds", "P * (P - 1) / 2 * S bytes"],
            (2 * 420, 3 * 420),
        ),
    ],
)
def test_the_formulas_of_the_collectives(collective, system, formulas, numbers):
    assert all(printed(collective, formula) for formula in formulas)
    assert collective(1, 420, system)[3:] == numbers


# ------------------------------------------------ machines whose longest stage is a send


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


def test_the_labs_pipeline_on_slow_links():
    # At 20,000,000 bytes/s, a hundredth, the sends take 11,520, 10,035.2 and 8,652.8 us, and
    # 12,133.23264 + 30,208 = 42,341.23264 us; 31 more inputs 31 * 11,520 = 357,120 us.
    slow = SYSTEM._replace(link_bytes_per_s=20_000_000)
    assert lab3.pipeline_parallel_latency(NETWORK, slow, 32) == Fraction("0.39946123264")


# ------------------------------------------------ the law takes anything that can be gone through


def test_generators_give_the_numbers_of_lists():
    def stages():
        return (
            (step for step in stage) for stage in lab3.pipeline_parallel_stages(NETWORK, SYSTEM)
        )

    assert lab3.latency(stages(), SYSTEM, 32) == Fraction("0.1557861376")
    assert lab3.traffic(stages(), 32) == 19_333_120
    assert lab3.duration((step for stage in stages() for step in stage), SYSTEM) == Fraction(
        "0.01243531264"
    )
    assert {type(number) for number in four_numbers(NETWORK, SYSTEM, 3)} == {Fraction, int}


@pytest.mark.parametrize("nothing", [[], (), iter([])], ids=["list", "tuple", "iterator"])
def test_there_must_be_a_stage(nothing):
    for law in (lambda: lab3.latency(nothing, SYSTEM), lambda: lab3.traffic(nothing)):
        with pytest.raises(ValueError, match="stages"):
            law()


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
    done = subprocess.run(command, cwd=cwd, env=env, check=False, timeout=60, **pipes)
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


def test_python_3_7_can_read_it():
    ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 7))


def test_the_answers_of_the_other_machine():
    assert lab3.answers(OTHER, AROUND, 5).splitlines()[5:] == [
        "--------Q2 5 inputs------",
        "Total latency of tensor parallelism is 662.1 seconds",
        "Total network traffic of tensor parallelism is 15975 bytes",
        "Total latency of pipeline parallelism is 618.66 seconds",
        "Total network traffic of pipeline parallelism is 6300 bytes",
    ]


# Two nodes take twice as long for each step of tensor parallelism; an all-gather moves 2 shards,
# the gather one, of halves: 230,400 + 200,704 + 173,056 + 73,728 = 677,888 bytes, 32 times.
TENSOR = """\
Total latency of tensor parallelism is 0.20014465024 seconds
Total network traffic of tensor parallelism is 21692416 bytes"""
PIPELINE_AS_EVER = "\n".join(ANSWERS.splitlines()[-2:])
NO_TENSOR = "Tensor parallelism is not possible: {} nodes do not divide layer 1's 128 filters"
NO_PIPELINE = "Pipeline parallelism is not possible: 4 layers need 4 nodes or more, not {}"


@pytest.mark.parametrize(
    ("nodes", "tensor", "pipeline"),
    [
        (2, TENSOR, NO_PIPELINE.format(2)),
        (3, NO_TENSOR.format(3), NO_PIPELINE.format(3)),
        (5, NO_TENSOR.format(5), PIPELINE_AS_EVER),
    ],
)
def test_a_strategy_that_is_not_possible_has_its_reason(nodes, tensor, pipeline):
    text = lab3.answers(NETWORK, SYSTEM._replace(nodes=nodes), 32)
    assert text.startswith("-----Q1 single input-----\n")
    assert text.split("--------Q2 32 inputs------\n")[1] == f"{tensor}\n{pipeline}"


@pytest.mark.parametrize(
    ("inputs", "status", "out", "err"),
    [
        (1, 0, "".join(ANSWERS.splitlines(keepends=True)[:5]), ""),
        (0, 2, "", "lab3.py: error: inputs: 0 must be a positive int"),
    ],
)
def test_its_constants_can_be_changed_in_the_file(tmp_path, inputs, status, out, err):
    source = SCRIPT.read_text(encoding="utf-8")
    assert source.count("INPUTS = 32") == 1
    copy = tmp_path / "lab3.py"
    copy.write_text(source.replace("INPUTS = 32", f"INPUTS = {inputs}"), encoding="utf-8")
    ended, printed, said = run(sys.executable, copy, cwd=tmp_path)
    assert (ended, printed.decode()) == (status, out)
    assert said.decode().startswith(err) and said.count(b"\n") == (status > 0)


def status_of(arguments, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["lab3.py", *arguments])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    return ended.value.code


def test_the_answers_end_with_status_0(monkeypatch, capsys):
    assert (status_of([], monkeypatch), *capsys.readouterr()) == (0, ANSWERS, "")


@pytest.mark.parametrize("arguments", [["--nodes", "8"], ["--help"], [""]])
def test_an_argument_is_answered_with_one_sentence(monkeypatch, capsys, arguments):
    status = status_of(arguments, monkeypatch)
    out, err = capsys.readouterr()
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.isascii() and err.startswith("lab3.py: error: ")
    for part in ("no arguments", "constants at the top of this file", "python3 report"):
        assert part in err


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (100, "100"),
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


LAYER = ConvLayer(8, 3, 3, 3, 16, 16)
STAGES = [lab3.tensor_parallel_stages, lab3.pipeline_parallel_stages]
ALL = [
    *FOUR_FUNCTIONS,
    *STAGES,
    lab3.check,
    lambda network, system: lab3.answers(network, system, 1),
]
NO_COUNTS = [0, -1, 1.0, True, "1", None, Int64(3), "9" * 10_000]
NO_RATES = [0, Fraction(-1, 3), 5e10, True, "1", Int64(3), decimal.Decimal(1)]


def refused(function, *arguments):
    """Why: one sentence, in ASCII, which is short whatever it shows."""
    with pytest.raises(ValueError) as caught:
        function(*arguments)
    text = str(caught.value)
    assert text.isascii() and text.isprintable() and len(text) < 250
    return text


def start_of(value):
    return ascii(value)[:25]


@pytest.mark.parametrize("inputs", NO_COUNTS, ids=start_of)
def test_inputs_that_are_no_count(inputs):
    stages = lab3.tensor_parallel_stages(NETWORK, SYSTEM)
    for text in (
        refused(lab3.latency, stages, SYSTEM, inputs),
        refused(lab3.traffic, stages, inputs),
        *(refused(each, NETWORK, SYSTEM, inputs) for each in FOUR_FUNCTIONS),
        refused(lab3.answers, NETWORK, SYSTEM, inputs),
    ):
        assert text.startswith(f"inputs: {start_of(inputs)}")
        assert "must be a positive int" in text


@pytest.mark.parametrize(
    ("network", "part"),
    [
        *((value, start_of(value)) for value in ((), [], None, "layers", {}, iter(NETWORK))),
        (LAYER, "ConvLayer(filters=8"),  # not a list of one
        ([tuple(LAYER)], "item 1, (8, 3, "),
        ([*NETWORK[:3], "x" * 10_000], "item 4, 'xxx"),
        ([NETWORK], "item 1, "),
    ],
)
def test_what_is_no_network(network, part):
    for function in ALL:
        text = refused(function, network, SYSTEM)
        assert text.startswith("network: ") and part in text and "ConvLayer" in text


NEXT = ConvLayer(8, 8, 3, 3, 14, 14)


@pytest.mark.parametrize(
    ("network", "parts"),
    [
        ([LAYER._replace(filters=0)], ["layer 1 filters: 0", "positive int"]),
        ([LAYER._replace(fx=True)], ["layer 1 fx: True", "positive int"]),
        ([LAYER, NEXT._replace(y=Int64(14))], ["layer 2 y: np.int64(14)", "int("]),
        ([LAYER, NEXT._replace(element_bytes=-2)], ["layer 2 element_bytes: -2"]),
        ([LAYER, LAYER], ["layer 2: ", "layer 1", "(8, 14, 14, 2)", "(3, 16, 16, 2)"]),
        ([LAYER, NEXT._replace(y=13)], ["(8, 14, 13, 2)", "stride 1, no padding, no pooling"]),
        ([LAYER, NEXT, LAYER], ["layer 3: ", "layer 2", "(8, 12, 12, 2)", "(3, 16, 16, 2)"]),
        ([LAYER, NEXT._replace(element_bytes=1)], ["element_bytes", "(8, 14, 14, 1)"]),
        ([ConvLayer(1, 2, 5, 4, 4, 7)], ["layer 1: fx, fy = 5, 4 exceed x, y = 4, 7"]),
        ([ConvLayer(1, 2, 3, 8, 4, 7)], ["layer 1: fx, fy = 3, 8 exceed x, y = 4, 7"]),
    ],
)
def test_networks_that_cannot_be_modelled(network, parts):
    for function in ALL:
        text = refused(function, network, SYSTEM)
        assert [part for part in parts if part not in text] == []


@pytest.mark.parametrize("system", [None, tuple(SYSTEM), NETWORK, System], ids=start_of)
def test_what_is_no_system(system):
    for function in ALL:
        assert "must be a System" in refused(function, NETWORK, system)


@pytest.mark.parametrize(
    ("name", "values", "accepted"),
    [
        ("nodes", NO_COUNTS, "must be a positive int"),
        ("sram_bytes", NO_COUNTS, "must be a positive int"),
        ("ops_per_s", NO_RATES, "a positive int or Fraction, such as "),
        ("link_bytes_per_s", NO_RATES, "a positive int or Fraction, such as "),
        ("topology", ["star", None, ["ring"], "Ring"], "all-to-all or ring"),
    ],
)
def test_systems_that_cannot_be_modelled(name, values, accepted):
    stages = lab3.tensor_parallel_stages(NETWORK, SYSTEM)
    for value in values:
        system = SYSTEM._replace(**{name: value})
        for text in (
            refused(lab3.duration, stages[0], system),
            refused(lab3.latency, stages, system),
            *(refused(function, NETWORK, system) for function in ALL),
        ):
            assert text.startswith(f"{name}: {start_of(value)}") and accepted in text


def test_what_a_float_is_told_to_write_is_right():
    text = refused(lab3.check, NETWORK, System(ops_per_s=5e10))
    for example in text.split("such as ")[1].split(" or "):
        rate = eval(example, {"Fraction": Fraction})
        assert lab3.answers(NETWORK, System(ops_per_s=rate), 1)


@pytest.mark.parametrize(
    ("functions", "network", "nodes", "reason"),
    [
        ("tensor", NETWORK, 3, "3 nodes do not divide layer 1's 128 filters"),
        ("tensor", (LAYER, NEXT._replace(filters=12)), 8, "8 nodes do not divide layer 2's 12"),
        ("pipeline", NETWORK, 3, "4 layers need 4 nodes or more, not 3"),
    ],
)
def test_a_strategy_that_is_not_possible_is_refused(functions, network, nodes, reason):
    for function in [*FOUR_FUNCTIONS, *STAGES]:
        if functions in function.__name__:
            text = refused(function, network, System(nodes=nodes))
            assert text.startswith(
                f"{functions.capitalize()} parallelism is not possible: {reason}"
            )


def test_each_strategy_has_its_own_limit():
    # 3 nodes divide no 128 filters, yet hold 3 layers; 1 node divides all, yet holds 1 layer
    assert lab3.pipeline_parallel_latency(NETWORK[:3], System(nodes=3))
    assert lab3.tensor_parallel_latency(NETWORK, System(nodes=1))
