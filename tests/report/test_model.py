"""report/model.py: lab3.py's docstrings, evaluated, against numbers worked out by hand and against
its code; docstrings that cannot be evaluated; what follows a formula that is changed."""

import re
from fractions import Fraction

import pytest

pytest.importorskip("hypothesis")

from hypothesis import given
from hypothesis import strategies as st

import lab3
import machines
from machines import CLOSED_FORMS, LAB, ODD, ODD_OPTIONS
from program import LAB3, PROJECT, copy_project, play, python
from random_machines import cases_of_both
from report.model import RING, Model, compare_with_code, compute_bound, list_layers

INPUTS = st.sampled_from([1, 2, 3, 32, 10**6])


def find_totals(network, system, inputs, *edits):
    """Find seconds and bytes of tensor parallelism, with edits, then of the pipeline."""
    tensor = Model("tensor", network, system, inputs).edit(*edits)
    pipeline = Model("pipeline", network, system, inputs)
    return [tensor["latency"], tensor["traffic"], pipeline["latency"], pipeline["traffic"]]


# ------------------------------------------------ by hand
@pytest.mark.parametrize(
    ("edits", "expected"), [([], machines.ODD_NUMBERS), ([RING], machines.ODD_RING_NUMBERS)]
)
def test_the_totals_by_hand(edits, expected):
    for inputs, (tensor_s, tensor_bytes, pipeline_s, pipeline_bytes) in expected.items():
        exact = [Fraction(tensor_s), tensor_bytes, Fraction(pipeline_s), pipeline_bytes]
        assert find_totals(*ODD[:2], inputs, *edits) == exact
        if not edits:
            assert machines.closed_forms(*ODD[:2], inputs) == exact


def test_numbers_by_their_names():
    tensor, pipeline = Model("tensor", *ODD), Model("pipeline", *ODD)
    assert tensor["S"] == (120, 90, 108) and tensor["L"] == 3 and tensor["links"] == 30
    assert tensor["one_input"] == tensor.interval_s == Fraction("0.416704")
    assert pipeline["interval"] == pipeline.interval_s == Fraction("0.576")
    with pytest.raises(KeyError, match="gather"):
        pipeline["gather"]


def test_the_sizes_of_layers():
    sizes = {"out_x": 3, "out_y": 2, "weights": 2_592, "macs": 15_552, "ops": 31_104}
    sizes |= {"weight_bytes": 7_776, "input_bytes": 540, "output_bytes": 648}
    assert list_layers(ODD.network)[2] == {"layer": 3, **ODD.network[2]._asdict(), **sizes}


def test_the_lower_bound():
    # 606,661,632 ops by four nodes in 3,033.30816 us; 60,864 by six at 62.5 per ms; one input
    assert compute_bound(*LAB) == Fraction("0.09706586112")  # unless told
    assert compute_bound(*ODD) == 8 * compute_bound(*ODD[:2]) == 8 * Fraction("0.162304")


@pytest.mark.usefixtures("as_delivered")
@pytest.mark.parametrize(
    ("edit", "latency_s", "traffic_bytes"),
    [  # of ODD's pipeline: computing 973.824 ms, the longest 497.664; sends 576 and 432 ms
        ("compute = 2 * compute", "9.922944", 10_080),  # 2,955.648 ms, and 7 times 2 * 497.664
        ("latency = latency + 1; traffic = traffic + P", "7.013824", 10_086),
        ("transfer = transfer, 0; sent = 9, sent", "6.013824", 10_152),
        ("ops = put(ops, 0, 0)", "5.952384", 10_080),  # without layer 1's 61.44 ms
        ("element_bytes = 6", "11.053824", 20_160),  # sends 1,152 and 864 ms: 2,989.824 + 7 * 1,152
        ("x = x - 1", None, None),  # layers need not follow from each other
    ],
)
def test_an_edit_changes_what_depends_on_its_names(edit, latency_s, traffic_bytes):
    model = Model("pipeline", *ODD)
    before = model["latency"], model["traffic"]
    found = model.edit(edit)
    if latency_s:
        assert (found["latency"], found["traffic"]) == (Fraction(latency_s), traffic_bytes)
    else:
        assert found["latency"] != before[0]
    assert (model["latency"], model["traffic"]) == before
    floats = Model("pipeline", *ODD, float).edit(edit)
    assert floats["latency"] == pytest.approx(float(found["latency"]), rel=1e-12)


# ------------------------------------------------ docstrings and code
@given(cases_of_both(), INPUTS)
def test_docstrings_and_code_are_two_statements_of_the_same(case, inputs):
    assert find_totals(*case, inputs) == machines.closed_forms(*case, inputs)
    for strategy in CLOSED_FORMS:
        compare_with_code(Model(strategy, *case, inputs))


def report(folder, command):
    """Exit status and message of a command."""
    done = python("report", *command.split(), cwd=folder)
    assert "Traceback" not in done.stderr and done.stderr.count("\n") == (done.returncode > 0)
    return done.returncode, done.stderr


def edit_lab3(*edits):
    """Replace texts of lab3.py, each of which is there once."""
    text = LAB3
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


LATENCY_T, TRAFFIC_T, LATENCY_P, TRAFFIC_P = (
    function.__name__ for functions in CLOSED_FORMS.values() for function in functions
)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        (LATENCY_T, '"""latency = N * one_input', '"""latency = 2 * N * one_input'),
        (LATENCY_T, "sum(transfer)\n    compute = C / (P", "max(transfer)\n    compute = C / (P"),
        (LATENCY_T, "compute = C / (P * R)", "compute = C / R"),
        (LATENCY_T, "transfer = (P > 1) * S / B", "transfer = (P > 1) * A / B"),
        (TRAFFIC_T, "traffic = N * (sum", "traffic = (sum"),
        (TRAFFIC_T, "all_gathers = P * (P - 1) * S[:-1]", "all_gathers = (P - 1) * S[:-1]"),
        (TRAFFIC_T, "gather = (P - 1) * S[-1]", "gather = P * (P - 1) * S[-1]"),
        (LATENCY_P, "one_input + (N - 1) * interval", "one_input + N * interval"),
        (LATENCY_P, "sum(transfer)\n    interval", "max(transfer)\n    interval"),
        (LATENCY_P, "interval = max(compute, transfer)", "interval = max(compute)"),
        (LATENCY_P, "compute = C / R\n", "compute = C / (P * R)\n"),
        (LATENCY_P, "transfer = A[:-1] / B", "transfer = A / B"),
        (TRAFFIC_P, "traffic = N * sum(sent)", "traffic = sum(sent)"),
        (TRAFFIC_P, "sent = A[:-1]", "sent = A"),
        (LATENCY_T, "shards) / Fraction(system.l", "shards) / 2 / Fraction(system.l"),
        (TRAFFIC_T, "sum(shards[:-1]) + shards[-1]", "sum(shards)"),
        (LATENCY_P, "max(compute_s + transfer_s)", "max(compute_s)"),
        (TRAFFIC_P, "inputs * sum(place_layers", "(inputs + 1) * sum(place_layers"),
    ],
)
def test_one_that_is_changed_alone_is_named_with_both_numbers(tmp_path, name, old, new):
    folder = copy_project(tmp_path, edit_lab3((old, new)))
    for command in ("whatif", "explain Q3"):
        status, message = report(folder, f"{command} {ODD_OPTIONS}")
        assert status == 2 and f"lab3.py's {name} gives " in message
        assert len({*re.findall(r"([\d.]+) (?:s|bytes)\b", message)}) == 2
        assert "change its docstring, too" in message


@pytest.mark.parametrize(
    "command", ["explain --json", "picture limits", "check", "deck --output ."]
)
def test_every_command_says_if_code_and_docstring_differ(tmp_path, command):
    folder = copy_project(tmp_path, edit_lab3(("sent = A[:-1]", "sent = A")))
    before = {*folder.iterdir()}
    status, message = report(folder, command)
    assert status == 2 and "for 1 input, lab3.py's pipeline_parallel_traffic gives" in message
    assert {*folder.iterdir()} == before


def test_a_size_that_is_changed_alone_is_named(tmp_path):
    folder = copy_project(tmp_path, edit_lab3(("return 2 * self.macs", "return self.macs")))
    status, message = report(folder, "whatif")
    assert status == 2 and "'ops = 2 * macs'" in message and "ConvLayer" in message


COMPUTE, GATHER = "    compute = C / (P * R)\n", "    gather = (P - 1) * S[-1]\n"


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("sum(transfer)\n" + COMPUTE, "\n        sum(transfer)\n" + COMPUTE, "sum(compute) +"),
        ("    All shards of", "    P = 4 nodes have\n    all shards of", "P = 4 nodes have"),
        (COMPUTE, COMPUTE + "    where R is a rate\n", "where R is a rate"),
        (COMPUTE, COMPUTE + "    P = 3\n", "P has a meaning already"),
        (COMPUTE, COMPUTE + "    sum = 3\n", "sum has a meaning already"),
        (COMPUTE, COMPUTE + "    printed_latency = 3\n", "printed_latency has a meaning"),
        (COMPUTE, COMPUTE + "    compute = C / R\n", "'compute = C / R'"),
        (COMPUTE, "    compute = C / (P * Q)\n", "Q is unknown"),
        (COMPUTE, "    compute = open(C)\n", "open is unknown"),
        (COMPUTE, "    compute = C.count(P)\n", "count is unknown"),
        (COMPUTE, "    compute = compute / P\n", "compute depends on itself"),
        (COMPUTE, "    compute = one_input * C\n", "depends on itself"),
        (COMPUTE, "    compute = C / (P * R) ms\n", "C / (P * R) ms"),
        (COMPUTE, "    compute = 1.0 * C / (P * R)\n", "1.0 * C / (P * R)': it is not exact"),
        (COMPUTE, "    compute = C / (P - P)\n", "C / (P - P)"),
        (COMPUTE, "    compute = (C\n", "compute = (C"),
        (COMPUTE, "\n", "no formula of compute"),
        (GATHER, "    gather = (P - 1) * S[9]\n", "(P - 1) * S[9]"),
        (GATHER, "    gather = S[-1] / 7\n", "no whole number of bytes"),
        (GATHER, "    gather = (P - 1) * S\n", "a number for each layer, not one"),
        (GATHER, "    gather == (P - 1) * S[-1]\n", "gather =="),
        ("interval = max(compute, t", "interval = max(compute + t", "4 and 3 numbers do not fit"),
        ('"""latency = N * one_input s', '"""Latency is N * one_input s', "no formula of latency"),
        ("one_input seconds\n", "one_input minutes\n", "latency = N * one_input minutes"),
        ('"""traffic = N * sum(sent) bytes\n\n    sent = A[:-1]\n    """', "", "no docstring"),
    ],
)
def test_a_docstring_that_cannot_be_evaluated_is_refused_with_its_line(tmp_path, old, new, named):
    folder = copy_project(tmp_path, edit_lab3((old, new)))
    status, message = report(folder, "whatif")
    assert status == 2 and re.search(r"lab3.py's (tensor|pipeline)_parallel_", message)
    assert named in message


def test_without_docstrings_the_commands_say_so():
    done = python("-OO", "report", "explain", "tensor")
    assert (done.returncode, done.stdout) == (2, "") and "python -OO" in done.stderr


def test_one_place_evaluates_and_no_text_of_a_user_gets_there():
    sources = {path: path.read_text(encoding="utf-8") for path in PROJECT.glob("report/**/*.py")}
    evaluating = r"(?<!re\.)\b(?:eval|exec|compile)\("
    found = {path.name for path, text in sources.items() if re.search(evaluating, text)}
    assert found - {"build.py"} == {"model.py"}  # build.py compiles slides.typ


# ------------------------------------------------ the handout, read otherwise in lab3.py alone

OLD_ANSWERS = lab3.answers(*LAB)
TO_ALL = [  # the last output goes to all nodes; only the traffic is another
    (GATHER, "    gather = P * (P - 1) * S[-1]\n"),
    ("(system.nodes * sum(shards[:-1]) + shards[-1])", "system.nodes * sum(shards)"),
]
BLOCKING = [  # a node does not compute while it sends
    ("interval = max(compute, transfer)", "interval = max(compute[:-1] + transfer, compute[-1])"),
    ("max(compute_s + transfer_s)", "max(map(sum, zip(compute_s, transfer_s + [0])))"),
]
BACK = [  # the pipeline's last node sends its output back
    ("transfer = A[:-1] / B", "transfer = A / B"),
    ("    sent = A[:-1]\n", "    sent = A\n"),
    ("for layer in network[:-1]]", "for layer in network]"),
]

DELAYED = [  # each of the 4 transfers takes 5 us longer, which is no float
    ("transfer = (P > 1) * S / B", "transfer = (P > 1) * S / B + 5 / 10**6"),
    (
        "inputs * (compute_s + transfer_s)",
        "inputs * (compute_s + transfer_s + Fraction(20, 10**6))",
    ),
]
ALONE = [  # of several inputs, the first takes as long as the others
    ("one_input + (N - 1) * interval", "one_input if N == 1 else N * interval"),
    (
        "return sum(compute_s) + sum(transfer_s) + (inputs - 1) * max(compute_s + transfer_s)",
        "return (sum if inputs == 1 else max)(compute_s + transfer_s) * inputs",
    ),
]
OVERLAPPING = [  # a layer takes the longer of computing and sending
    (
        "one_input = sum(compute) + sum(transfer)\n    compute = C / (P",
        "one_input = sum(longer)\n    longer = map(max, compute, transfer)\n    compute = C / (P",
    ),
    (
        "    return inputs * (compute_s + transfer_s)",
        "    rates = system.nodes * Fraction(system.ops_per_s), Fraction(system.link_bytes_per_s)\n"
        "    steps = ((layer.ops, size) for layer, size in zip(network, shards))\n"
        "    return inputs * sum(max(ops / rates[0], size / rates[1]) for ops, size in steps)",
    ),
]


@pytest.mark.parametrize(
    ("edits", "numbers"),
    [
        # 4 * 3 * 36,864 bytes, not 3 * 36,864
        (TO_ALL, "0.00312726016 2254848 0.01243531264 604160 0.10007232512 72155136"),
        # 12,435.31264 + 31 * (4,624.22016 + 100.352) us
        (
            BLOCKING,
            "0.00312726016 1923072 0.01243531264 604160 0.10007232512 61538304 0.1588970496",
        ),
        # 147,456 bytes more, 73.728 us
        (BACK, "0.00312726016 1923072 0.01250904064 751616 0.10007232512 61538304 0.1558598656"),
        (DELAYED, "0.00314726016 1923072 0.01243531264 604160 0.10071232512 61538304"),
        # 32 * 4,624.22016 us
        (ALONE, "0.00312726016 1923072 0.01243531264 604160 0.10007232512 61538304 0.14797504512"),
        # 3,033.30816 us, as each layer's shard takes less
        (OVERLAPPING, "0.00303330816 1923072 0.01243531264 604160 0.09706586112 61538304"),
    ],
    ids=["to all nodes", "blocking", "back", "delayed", "alone", "overlapping"],
)
def test_a_reading_that_is_changed_in_lab3_is_followed(tmp_path, edits, numbers):
    folder = copy_project(tmp_path, edit_lab3(*edits))
    answers = play("python3 report whatif", folder)
    assert " ".join(re.findall(r" is (\S+) ", answers)).startswith(numbers)
    page = play("python3 report explain", folder)
    first, latency, traffic = numbers.split()[0], numbers.split()[2], numbers.split()[3]
    assert f"tensor    {first}" in page and f"pipeline  {latency}" in page
    assert f"{int(traffic):,}" in page and "is not as delivered" in " ".join(page.split())
    everything = play("python3 report explain all", folder)
    quoted = edits[0][1].strip().partition("\n")[0]
    assert quoted in everything and "verdict flips:" not in everything
    assert play("python3 lab3.py | python3 report check", folder).startswith("All 8 numbers")
    (folder / "old.txt").write_text(OLD_ANSWERS, encoding="utf-8")
    old = " ".join(play("python3 report check old.txt", folder).split())
    assert "is not as delivered, its mistakes are not looked for" in old and "if:" not in old


def test_a_list_has_numbers_of_layers(tmp_path):
    listed = edit_lab3(("    sent = A[:-1]\n", "    sent = [size for size in A[:-1]]\n"))
    folder = copy_project(tmp_path, listed)
    assert "= 32 * 604,160 = 19,333,120" in play("python3 report explain pipeline", folder)


def test_the_lab_itself_has_nothing_left_out(tmp_path):
    assert "as delivered" not in play("python3 report explain all", copy_project(tmp_path))
