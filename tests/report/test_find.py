"""report/find.py: what one number is, against numbers worked out by hand. Those of a change come
from the tables of test_readings.py, where their working stands."""

from fractions import Fraction

import pytest

from lab3 import ConvLayer, System, plain
from odd_machines import ODD, ODD_ALL_TO_ALL
from program import call, output, refusal
from report import analysis
from report.find import find, nearest, results
from report.question import LAB, Question

ONE_BYTE, FOUR_BYTES = "an element is 1 byte (INT8)", "an element is 4 bytes (FP32)"
TWICE = "twice the right number"
ONE_OP, BINARY_OPS = "1 MAC is 1 op", "GOPS are 2^30 ops/s"
LINKS, PADDING = "nothing takes time on links", "outputs keep the input's x and y (padding)"
CHANNELS = "layer 1 has as many input channels as filters"
SPREAD, BITS = "the bytes are spread over all links", "traffic is counted in bits"
START, EVERY = "inputs start on one node", "the output ends on every node"
NOT_GATHERED, WHOLE = "the output is not gathered", "whole outputs are sent, not shards"
ONE_LINK, ONE_OUT = "all shards go over one link", "nodes have one link out, one in"
COLLECTED = "one node collects each output and sends it to all"
EACH_ONCE, NOT_TIMES_N = "traffic counts each output once", "traffic is not multiplied by N"
LAST, ALONE = "the last output is sent, too", "inputs do not overlap"
SENDER, N_OVER_P = (
    "a node that sends does not compute",
    "N inputs take N / P times as long as one",
)
LONGEST, EQUAL = "only the longest stage counts", "every stage takes as long as the longest"
LEFT_OUT = "the other layers' computing is left out"
SLOWEST = "nodes take as long as the slowest"


def found(text, question=LAB, strategy=None):
    """As (strategy, inputs, unit, changes)."""
    matches = find(text, question, strategy)
    amounts = [len(it.changes) for it in matches]
    assert amounts == sorted(amounts)  # fewest come first
    return [(it.strategy, it.inputs, it.unit, it.changes) for it in matches]


def said(line, status=0):
    """What the command prints, on one line."""
    if not status:
        return " ".join(output(line).split())
    ended, out, err = call(line)
    assert (ended, err) == (status, "")
    assert out.isascii() and max(map(len, out.splitlines())) <= 80
    return " ".join(out.split())


# ------------------------------------------------ which answer it is


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        # right, but cut
        ("0.1557", [("pipeline", 32, "seconds", ())]),
        ("0.00312", [("tensor", 1, "seconds", ())]),
        ("155.78 ms", [("pipeline", 32, "ms", ())]),
        # right in another unit
        ("3.12726016 s", [("tensor", 1, "ms", ())]),
        # another element; 2 * 1,208,320 is twice as much by chance
        ("0.00322121216", [("tensor", 1, "seconds", (FOUR_BYTES,))]),
        ("0.10307878912", [("tensor", 32, "seconds", (FOUR_BYTES,))]),
        (
            "3846144",
            [("tensor", 1, "bytes", (it,)) for it in (FOUR_BYTES, TWICE)],
        ),
        (
            "1208320",
            [("pipeline", 1, "bytes", (it,)) for it in (FOUR_BYTES, TWICE)],
        ),
        ("15384576", [("tensor", 1, "bytes", (BITS,))]),
        ("0.00625452032", [("tensor", 1, "seconds", (TWICE,))]),
        ("0.00156363008", [("tensor", 1, "seconds", ("half the right number",))]),
        ("2376192", [("tensor", 1, "bytes", (COLLECTED,))]),
        ("0.00311343616", [("tensor", 1, "seconds", (SPREAD,))]),
        ("0.01761931264", [("pipeline", 1, "seconds", (CHANNELS,))]),
        ("0.1653600256", [("pipeline", 32, "seconds", (SENDER, EQUAL))]),
        ("0.14827712512", [("pipeline", 32, "seconds", (LEFT_OUT,))]),
        (
            "0.09948250112",
            [
                ("tensor", 32, "seconds", (NOT_GATHERED,)),
                ("pipeline", 32, "seconds", (N_OVER_P,)),
            ],
        ),
        ("751616", [("tensor", 1, "bytes", (EACH_ONCE,)), ("pipeline", 1, "bytes", (LAST,))]),
    ],
)
def test_what_is_often_handed_in(text, answers):
    fewest = len(answers[0][3])
    assert [it for it in found(text) if len(it[3]) == fewest] == answers


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("0.39793", ("pipeline", 32, "seconds", (ALONE,))),
        ("397.93 ms", ("pipeline", 32, "ms", (ALONE,))),
        ("397.93ms", ("pipeline", 32, "ms", (ALONE,))),
        ("397,930.00448 us", ("pipeline", 32, "us", (ALONE,))),
        ("3127260.16 ns", ("tensor", 1, "ns", ())),
        ("3,127.26 \u00b5s", ("tensor", 1, "us", ())),  # the micro sign, then the Greek letter
        ("3,127.26\u03bcs", ("tensor", 1, "us", ())),
        ("3.12726 milliseconds", ("tensor", 1, "ms", ())),
        ("3.12726 Milliseconds", ("tensor", 1, "ms", ())),
        ("604.16 KB", ("pipeline", 1, "kB", ())),
        ("61.54 MB", ("tensor", 32, "MB", ())),
        ("0.06154GB", ("tensor", 32, "GB", ())),
        ("590 KiB", ("pipeline", 1, "KiB", ())),  # 604,160 / 1,024
        ("58.6875 MiB", ("tensor", 32, "MiB", ())),  # 61,538,304 / 1,048,576
        ("0.05731 GiB", ("tensor", 32, "GiB", ())),
        ("15,384,576 bits", ("tensor", 1, "bits", ())),
        ("12.74 msec", ("pipeline", 1, "ms", (FOUR_BYTES,))),
        ("1.557861376E-01", ("pipeline", 32, "seconds", ())),
        ("61538304", ("tensor", 32, "bytes", ())),
        ("6.1538e7 B", ("tensor", 32, "bytes", ())),
        ("61_538_304", ("tensor", 32, "bytes", ())),
        ("1923072.0", ("tensor", 1, "bytes", ())),
        ("+1923072", ("tensor", 1, "bytes", ())),
        ("97.0666", ("tensor", 32, "ms", ("row streaming",))),
        ("97.0843", ("tensor", 32, "ms", ("two inputs in turn",))),
        # (32 + 4 - 1) * 4.62422016 ms; 32 * (4.62422016 + 0.100352) ms
        ("0.1618477056", ("pipeline", 32, "seconds", (LINKS, SLOWEST))),
        ("0.15118630912", ("pipeline", 32, "seconds", (SENDER, LONGEST))),
        # 32 * (6.06661632 + 0.30208) ms
        ("0.2037983", ("pipeline", 32, "seconds", (ONE_OP, ALONE))),
        # 1.51665408 / 2^30 * 10^9 + 0.093952 ms
        ("1.506446 ms", ("tensor", 1, "ms", (ONE_OP, BINARY_OPS))),
        ("2.28261888 ms", ("tensor", 1, "ms", (ONE_OP, LINKS, PADDING))),
        ("7,710,720 bytes", ("tensor", 1, "bytes", (START, WHOLE))),
        # over one link all 2,254,848 or 1,941,504 bytes
        ("2644.07808 us", ("tensor", 1, "us", (ONE_OP, EVERY, ONE_LINK))),
        ("4004.06016 us", ("tensor", 1, "us", (START, ONE_LINK))),
        ("3324.38016 us", ("tensor", 1, "us", (START, ONE_OUT))),
    ],
)  # fmt: skip
def test_a_number_in_its_unit(text, answer):
    strategy, inputs, unit, changes = answer
    first = find(text)[0]
    assert (first.strategy, first.inputs, first.unit) == (strategy, inputs, unit)
    assert {*first.changes} == {*changes}


def test_few_digits_are_called_right_only_if_whole():
    # 3.12726016 ms; one weight on one place at 1 GOPS: 2 ns
    assert "latency: agrees, with few digits 3.12726016 ms" in said("find 3.1 ms")
    assert "latency: right 3.12726016 ms" in said("find 3.13 ms")
    assert "latency: right 2 ns" in said("find 2 ns --layer 1,1,1,1,1,1 --nodes 1 --gops 1")


def test_a_unit_rules_out_others():
    # 3.12726016 ms; in seconds it is in the wrong unit, and no more
    assert found("3.127260 ms") == [("tensor", 1, "ms", ())]
    assert found("3.127260 us") == [("tensor", 1, "ms", ())]
    assert found("3.15 s") == []
    assert found("3.13 s") == [("tensor", 1, "ms", ())]
    assert ("tensor", 1, "ms", ()) not in found("3.1 s")  # too few digits for that
    assert ("pipeline", 1, "ms", (LAST,)) in found("12.509 ms")
    assert found("12.509 bytes") == found("12.509 kB") == []


def test_one_strategy_is_asked_for():
    both = found("751616")
    for strategy in ("tensor", "pipeline"):
        assert found("751616", strategy=strategy) == [it for it in both if it[0] == strategy]
        assert f"{strategy} parallelism" in said(f"find 751616 --strategy {strategy}")
    assert "pipeline" not in said("find 0.09948250112 --strategy tensor")


def test_numbers_of_another_machine():
    # 8 * 3,357 s
    assert found("26856", ODD) == [("pipeline", 8, "seconds", (ALONE,))]
    assert found("26856") == []
    assert ("tensor", 8, "seconds", ("row streaming",)) in found("3910.8", ODD_ALL_TO_ALL)


# ------------------------------------------------ digits


def test_an_answer_may_be_rounded_or_cut():
    # 0.10007232512, 0.1557861376 and 12.43531264
    for text in ("0.1001", "0.1000", "0.10007", "0.155786", "12.4", "12.43"):
        assert any(not changes for *_, changes in found(text)), text
    for text in ("0.10011", "0.10006", "0.155784", "0.155788", "12.42", "12.45"):
        assert all(changes for *_, changes in found(text)), text


def test_it_says_how_it_agrees():
    assert "100.07232512 ms, rounded to 4 digits" in said("find 100.1 ms")
    assert "100.07232512 ms, cut to 4 digits" in said("find 100.0 ms")
    assert "digits" not in said("find 100.07232512 ms")
    assert "61,538,304 bytes, rounded to 3 digits" in said("find 6.15e7 bytes")


def test_zeros_at_the_end_count():
    assert ("tensor", 32, "ms", ()) in found("100.1")  # 100.07232512
    assert ("tensor", 32, "ms", ()) not in found("100.10")
    assert ("tensor", 1, "ms", ()) in found("3.1 ms")
    assert ("tensor", 1, "ms", ()) not in found("3.10 ms")


def test_more_than_ten_digits_of_a_time_are_noise():
    as_read = ("tensor", 32, "seconds", ())
    for text in ("0.10007232512000001", "0.1000723251", "0.10007232509"):
        assert found(text)[0] == as_read  # 0.10007232512; the first is as floats print it
    for text in ("0.1000723250", "0.1000723252", "0.10007232519999"):
        assert as_read not in found(text)


def test_bytes_are_whole_beyond_ten_digits():
    assert found("1923073") == []
    many = LAB._replace(inputs=10**9)
    assert ("tensor", 10**9, "bytes", ()) in found("1,923,072,000,000,000", many)
    assert found("1,923,072,000,000,001 bytes", many) == []
    assert ("tensor", 10**9, "bytes", ()) in found("1.923072e15 bytes", many)


def test_a_half_may_have_been_rounded_up_or_down():
    # 2 ops at 0.8 ops/s: 2.5 s
    half = Question((ConvLayer(1, 1, 1, 1, 1, 1),), System(1, Fraction(4, 5)), 1)
    for text in ("2 s", "3 s", "2.5 s", "2.50 s"):
        assert ("tensor", 1, "seconds", ()) in found(text, half)
    for text in ("1 s", "4 s", "2.4 s", "2.6 s"):
        assert ("tensor", 1, "seconds", ()) not in found(text, half)


@pytest.mark.parametrize(
    ("text", "is_found", "most"),
    [
        # 203.7982... ms with two changes, 2.28261888 ms with three
        ("0.204", False, 1), ("0.2038", True, 2), ("0.20380", True, 3),
        ("2.28 ms", False, 1), ("2.283 ms", False, 2), ("2.2826 ms", True, 3),
        ("97", False, 1), ("3 bytes", False, 1),
    ],
)  # fmt: skip
def test_digits_limit_the_changes(text, is_found, most):
    sets = {frozenset(changes) for *_, changes in found(text)}
    assert (
        bool(sets & {frozenset({ONE_OP, ALONE}), frozenset({ONE_OP, LINKS, PADDING})}) is is_found
    )
    assert max(map(len, sets), default=0) <= most
    if not sets:
        words = ["one change,", "two changes,", "three changes,"]
        assert f"with up to {words[most - 1]}" in said(f"find {text}", 1)


def test_what_agrees_without_a_change_is_not_found_with_it():
    # whole outputs, not gathered, 2^30 ops/s: 3.03330816 / 2^30 * 10^9 + 4 * 0.07552, 3.12702... ms
    assert found("0.003127") == [("tensor", 1, "seconds", ())]
    # as read and with each of these one change: 3.08028, 3.10883, 3.11344, 3.12081, 3.13033 ms
    assert [it for it in found("3.1 ms") if it[0] == "tensor"] == [("tensor", 1, "ms", ())]
    assert "5 answers with one change would agree with it, too" in said("find 3.1 ms")
    assert "would agree" not in said("find 0.003127")


def test_changes_of_one_thing_do_not_combine():
    # 3.03330816 ms and 3 * 1,923,072 bytes over one link would be 5.91791616 ms
    assert found("5.91791616 ms") == []
    # 32 * 12.50904064 ms combines
    assert found("400.28930048 ms") == [("pipeline", 32, "ms", (LAST, ALONE))]


def test_no_answer_is_given_twice():
    assert found("1923072", LAB._replace(inputs=1)) == [("tensor", 1, "bytes", ())]
    for text in ("97", "3846144", "751616"):
        assert len(found(text)) == len(set(found(text)))


# ------------------------------------------------ what is none


def test_the_nearest_of_each_strategy_is_so_by_ratio():
    # 1.61060608 and 2.91894037 ms: their geometric mean is 2.168, half their sum 2.265
    assert [it.changes for it in nearest("2.16 ms")] == [(ONE_OP,), (LONGEST,)]
    assert [it.changes for it in nearest("2.18 ms")] == [(BINARY_OPS,), (LONGEST,)]
    assert [it.answer for it in nearest("1 byte")] == [187_904, 302_080]
    assert [it.answer for it in nearest("1 byte", ODD)] == [1_590, 420]
    assert [it.answer for it in nearest("1 byte", ODD, "pipeline")] == [420]
    assert nearest("2850", ODD.on(nodes=1)) == [("tensor", 1, "seconds", 2_853, ())]
    assert nearest("5 bytes", LAB.on(nodes=1)) == []


def test_the_command_says_that_the_nearest_do_not_match():
    text = said("find 0.0786178", 1)
    # 78.0441088 and 93.406... ms
    none, near = text.split("which do not match: ")
    assert "up to three changes" in none and " is 0.0786178." in none
    assert near == (
        f"tensor parallelism, 32 inputs, latency: {BINARY_OPS}"
        " 0.0934060917 seconds; as read here 0.10007232512"
        f" pipeline parallelism, 32 inputs, latency: {ONE_OP}"
        " 0.0780441088 seconds; as read here 0.1557861376"
    )
    assert "tensor" not in said("find 0.0786178 --strategy pipeline", 1)


def test_one_node_sends_no_bytes():
    assert said("find 5 bytes --nodes 1", 1).endswith("is 5 bytes.")


# ------------------------------------------------ other results


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("726,016", "SRAM, pipeline, node 2, layer 2, compute, total bytes 726,016 bytes"),
        ("709 KiB", "SRAM, pipeline, node 2, layer 2, compute, total bytes 709 KiB"),
        ("25.088 us", "strategies, tensor, layer 2, all-gather, time 25.088 us"),
        ("0.00462422016", "strategies, pipeline, layer 2, compute, time 0.00462422016 seconds"),
        ("133.556736 ms", "plans, best, 1-2:2,3,4, latency 133.556736 ms"),
        ("133.5 ms", "plans, best, 1-2:2,3,4, latency 133.556736 ms"),
        ("0.96996", "strategies, tensor, all-to-all, 1 input, utilisation 0.969957089"),
        ("231211008", "layers, layer 2, ops 231,211,008"),
        ("370368 --strategy tensor", "SRAM, tensor, streamed, gathering node, layer 4"),
    ],
)
def test_a_result_is_named_by_its_path(line, path):
    assert path in said(f"find {line}")


def test_a_result_needs_four_digits_if_it_is_not_whole():
    # layer 2's all-gather takes 25.088 us; node 2 of the pipeline holds 726,016 bytes
    for text, is_found in [("25.088 us", 1), ("25.09 us", 1), ("25.1 us", 0), ("709 KiB", 1)]:
        assert bool(results(text)) is bool(is_found), text


def test_a_rate_is_no_time():
    # 1733632 bytes / 0.08493262848 s
    text = said("find 20411849.14")
    assert "plans, faster, pipeline, 32 inputs, links, low bytes per s 20,411,849.1 " in text
    assert "low bytes" not in said("find 20411849.14 s", 1)


def leaves(value, path=()):
    """The numbers of a JSON, each with the names on its way."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from leaves(each, (*path, name))
    elif isinstance(value, list):
        for each in value:
            yield from leaves(each, path)
    elif type(value) in (int, Fraction):
        yield path, value


@pytest.mark.parametrize("question", [LAB, ODD_ALL_TO_ALL])
def test_each_result_of_four_digits_is_found(question):
    everything = analysis.as_dict(question)
    for name in ("version", "asked", "readings"):
        del everything[name]
    looked_up = {}
    for path, value in leaves(everything):
        digits = plain(value, 10).replace(".", "").strip("0")
        if value <= 0 or (len(digits) < 4 and value < 1000):
            continue
        unit = "s" if path[-1].endswith("_s") and not path[-1].endswith("_per_s") else ""
        unit = "bytes" if path[-1].endswith("_bytes") else unit
        text = f"{value if type(value) is int else plain(value, 10)} {unit}"
        if text not in looked_up:
            looked_up[text] = results(text, question)
        names = [name for name in path if name not in ("uses", "steps", "results")]
        assert any(
            it.value == value and [name for name in it.path if name in names] == names
            for it in looked_up[text]
        ), (path, value)
    assert len(looked_up) > 50


# ------------------------------------------------ the command


def test_the_command_repeats_what_was_asked():
    text = said("find 397.93 ms --nodes 8")
    # 12.43531264 ms and 31 times 4.62422016
    assert text.startswith("what if: 8 nodes 397.93 ms agrees with 1 answer: pipeline parallelism,")
    assert "32 inputs, latency: inputs do not overlap 397.93000448 ms, rounded" in text
    assert "as read here 155.7861376" in text and "python3 report check" in text


def test_of_many_answers_five_are_printed():
    text = output("find 751616")
    assert text.count("parallelism, ") == 5 and "6 answers, of which these are 5:" in text
    assert "5 answers:" in output("find 3846144")


def test_the_command_prints_ascii():
    assert said("find 3,127.26 \u00b5s").startswith("3,127.26 us agrees")


def test_a_unit_may_be_a_word_of_its_own():
    texts = {said("find 12.4353 ms"), said(["find", "12.4353 ms"]), said("find 12.4353ms")}
    assert {text.replace("12.4353ms", "12.4353 ms") for text in texts} == {said("find 12.4353 ms")}
    usage, *_ = call("find --help")[1].split("\n\n")
    assert usage.endswith("NUMBER [UNIT]")


# ------------------------------------------------ what is refused


@pytest.mark.parametrize(
    "text",
    ["", "abc", "-3", "0", "0.000 s", "0,39793", "1,23,456", "5 parsecs", "1e99999999", "1" * 199,
     "nan", "inf", "1.2.3", "3 ms 4", "0x10", "3 m s", "\x1b[31m3", "\u0663", None, 0.39793, 5],
)  # fmt: skip
def test_what_is_no_number_is_refused(text):
    for ask in (find, nearest, results):
        with pytest.raises(ValueError, match=r"NUMBER: .* is not a (number above 0|text)"):
            ask(text)


@pytest.mark.parametrize("ask", [find, nearest, results])
def test_a_wrong_question_is_refused(ask):
    for question, named in [
        (None, "Question"),
        (LAB._replace(inputs=-3), "inputs: -3"),
        (LAB._replace(inputs=1.5), r"inputs: 1\.5"),
        (LAB.on(nodes=3), "3 nodes"),
    ]:
        with pytest.raises(ValueError, match=named):
            ask("5", question)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("find 0,39793", "NUMBER '0,39793' bytes MiB"),
        ("find 5 parsecs", "NUMBER '5 parsecs' seconds"),
        ("find", "NUMBER"),
        ("find 5 ms 6", "6"),
        ("find 5 --strategy data", "--strategy 'data' tensor pipeline"),
        ("find 5 --strategy tensor --nodes 5", "5 nodes 128 filters"),
        ("find \u00e9", "NUMBER"),
    ],
)
def test_the_command_refuses(line, named):
    because = refusal(line)
    assert all(part in because for part in named.split())


def test_kill13():
    assert "128 agrees with 8 answers, of which these are 6:" in said("find 128")


def test_kill15():
    assert "right digits, but in ms, not us" in said("find 3.127260 us")


def test_kill16():
    for text in ("726,015 bytes", "726,017 bytes"):
        assert results(text) == []
