#!/usr/bin/env python3
"""Why: the answers in sentences, and every figure derived, for people and as JSON.

Figures are computed in figures.py; formulas are printed from the docstrings of what computes them.
"""

from __future__ import annotations

import whatif  # first, since it finds lab3

# isort: split
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from inspect import getdoc
from itertools import chain

import figures
import lab3
import plans
import rows
import sram
from figures import Need, Result
from lab3 import ConvLayer
from tables import figure, json_text, table
from whatif import Question, count, filled

MS, US = 10**3, 10**6  # in a second
Blocks = Iterator["str | None"]

READINGS = """\
Q2's sample block   the same four lines as Q1's
GOPS, GB/s, KB      10^9 ops/s, 10^9 bytes/s, 1,024 bytes
one by one          no batching; only a pipeline has several inputs on their way
initial inputs      already wherever they are needed
final output        on one node: gathered, or where the last layer is
ring of 4 links     one-way, like the 12 links all-to-all
SRAM                one input at a time: nothing of others that wait or are done"""

# ------------------------------------------------ in short


def in_short(question: Question) -> Blocks:
    """The answers, and what follows from them, in sentences."""
    network, system, inputs = question
    found = figures.results(question)
    yield "IN SHORT"
    yield filled(
        f"{count(inputs, 'input')}, {count(len(network), 'layer')}, {count(system.nodes, 'node')}"
        f" {system.topology}, R = {figure(system.ops_per_s)} ops/s a node, B ="
        f" {figure(system.link_bytes_per_s)} bytes/s a link, {figure(system.sram_bytes)} bytes of"
        " SRAM a node. Figures are exact, or rounded to 9 digits."
    )
    head = ["inputs", "strategy", "latency ms", "traffic bytes", "streamed ms", "limit ms"]
    yield table(
        head,
        [
            [
                it.inputs,
                it.strategy,
                _in(MS, it.latency_s),
                it.traffic_bytes,
                _in(MS, it.streamed_latency_s),
                _in(MS, it.limit_s),
            ]
            for it in found
        ],
    )
    yield filled(
        "Latency is with whole tensors: an output is sent when all of it is computed. Streamed:"
        " each row is sent as soon as it is computed. No schedule is below the limit."
    )
    yield from map(filled, chain(_speed(found), _distribution(question), _ring(question)))


def _speed(found: Sequence[Result]) -> Iterator[str]:
    """Q1 and Q2: who is faster, by how much, why, and at what cost in bytes."""
    yield from dict.fromkeys(f"{it.reason}." for it in found if it.reason)
    yield from dict.fromkeys(f"{it.streamed_reason}." for it in found if it.streamed_reason)
    for number, (tensor, pipeline) in enumerate(zip(found[::2], found[1::2], strict=True), 1):
        if tensor.utilisation and pipeline.utilisation:
            yield (
                f"Q{number}: {_faster(tensor, pipeline, 'latency_s', 'with whole tensors')}"
                f" Tensor parallelism keeps the nodes computing {_percent(tensor.utilisation)} of"
                f" the time, pipeline parallelism {_percent(pipeline.utilisation)}."
            )
        if tensor.streamed_latency_s and pipeline.streamed_latency_s:
            yield _faster(tensor, pipeline, "streamed_latency_s", "with rows streamed")
    *_, tensor, pipeline = found  # of all inputs
    if tensor.interval_s and pipeline.interval_s:
        yield (
            f"Pipeline parallelism gives an output every {_time(pipeline.interval_s)}, the time of"
            f" its bottleneck ({pipeline.bottleneck}), tensor parallelism every"
            f" {_time(tensor.interval_s)}."
        )
    if tensor.traffic_bytes and pipeline.traffic_bytes:
        times = Fraction(tensor.traffic_bytes, pipeline.traffic_bytes)
        yield (
            f"Tensor parallelism sends {_short(times)} times the bytes of pipeline parallelism, and"
            f" communicates for {_us(tensor.communication_s)} an input instead of"
            f" {_us(pipeline.communication_s)}."
        )
    for it in (tensor, pipeline):
        if it.streamed_latency_s and it.limit_s:
            above_s = it.streamed_latency_s - it.limit_s
            yield (
                f"{it.strategy.capitalize()} parallelism with rows streamed is"
                f" {_time(above_s)} above the limit for {count(it.inputs, 'input')}."
            )


def _faster(tensor: Result, pipeline: Result, field: str, how: str) -> str:
    fast, slow = sorted((tensor, pipeline), key=lambda it: getattr(it, field))
    fast_s, slow_s = getattr(fast, field), getattr(slow, field)
    start = f"For {count(fast.inputs, 'input')} {how}"
    if fast_s == slow_s:
        return f"{start} both take {_ms(fast_s)}."
    return (
        f"{start} {fast.strategy} parallelism is {_short(slow_s / fast_s)} times as fast:"
        f" {_ms(fast_s)} against {_ms(slow_s)}."
    )


def _distribution(question: Question) -> Iterator[str]:
    """Q3: what fits the SRAM, why to distribute, and data parallelism."""
    network, system, inputs = question
    needs = {need.scheme: need for need in figures.needs(network, system)}
    for fits, verb in ((True, "fits"), (False, "does not fit")):
        texts = [_need_text(need) for need in needs.values() if need.fits == fits]
        sram_text = f"the {figure(system.sram_bytes)} bytes of SRAM of a node"
        said = "; ".join(texts) if texts else "nothing"
        yield f"What {verb} {sram_text}, one input at a time: {said}."
    weights, lacking = sum(layer.weight_bytes for layer in network), -needs["data"].free_bytes
    over = weights - system.sram_bytes
    all_weights = f"all weights, {figure(weights)} bytes"
    latency_s = figures.data_parallel_latency(*question)
    if over > 0:
        yield (
            f"Q3: The work must be distributed, since no node can hold {all_weights}. Data"
            f" parallelism is not possible for the same reason: each node lacks {figure(over)}"
            f" bytes for the weights alone, {figure(lacking)} with the fullest layer's input and"
            f" output. With room it would take {_ms(latency_s)} for {count(inputs, 'input')}."
        )
    elif lacking > 0:
        yield (
            f"Q3: A node can hold {all_weights}, but lacks {count(lacking, 'byte')} for the fullest"
            " layer's input and output besides, so the work must be distributed, and data"
            f" parallelism, {_ms(latency_s)} for {count(inputs, 'input')}, is not possible."
        )
    else:
        yield (
            f"Q3: A node can hold {all_weights}, and the tensors, so distribution only saves time,"
            f" and data parallelism is possible: {_ms(latency_s)} for {count(inputs, 'input')}."
        )


def _need_text(need: Need) -> str:
    return f"{need.scheme} ({need.where}, {figure(need.total_bytes)} bytes)"


def _ring(question: Question) -> Iterator[str]:
    """Q4: what a ring changes for one input."""
    nodes = question.system.nodes
    if nodes < 3:
        yield f"Q4: A ring of {count(nodes, 'node')} is all-to-all, so nothing changes."
        return
    one = question._replace(inputs=1)
    [before, *_], [after, pipeline] = (
        figures.results(one.on(topology=topology)) for topology in (lab3.ALL_TO_ALL, lab3.RING)
    )
    if before.latency_s and before.communication_s and after.latency_s and after.communication_s:
        yield (
            f"Q4: On a one-way ring tensor parallelism communicates {_us(after.communication_s)}"
            f" for 1 input instead of {_us(before.communication_s)},"
            f" {_short(after.communication_s / before.communication_s)} times as long, since each"
            " link passes on the shards of all in turn; its latency is"
            f" {_percent(after.latency_s / before.latency_s - 1)} longer."
        )
    if pipeline.latency_s:
        yield "Q4: A ring changes nothing for pipeline parallelism: nodes send to their neighbours."


# ------------------------------------------------ derivations, to be followed with a pencil


def law_and_network(question: Question) -> Blocks:
    """Symbols first; then the layers: what they compute, hold and hand on."""
    yield "1. THE LAW"
    yield _told(lab3)
    yield _told(lab3.latency)
    layers = [*enumerate(question.network, 1)]
    yield "2. THE NETWORK"
    yield _told(ConvLayer)
    yield "\n".join(f"{name:<12}  {_told(getattr(ConvLayer, name))}" for name in figures.SIZES)
    names = [*ConvLayer._fields, "out_x", "out_y"]
    yield table(
        ["layer", *names], [[n, *(getattr(it, name) for name in names)] for n, it in layers]
    )
    names = [*figures.SIZES[2:]]
    cells = [[n, *(getattr(it, name) for name in names)] for n, it in layers]
    sums = _sums("sum", cells)
    sums[names.index("input_bytes") + 1] = ""  # which is the output before it
    yield table(["layer", *names], [*cells, sums])
    ratios = ", ".join(figure(figures.ops_a_byte(it)) for _, it in layers)
    ridge = figures.ops_while_a_byte_is_sent(question.system)
    yield filled(
        f"C / A, the ops for a byte of output, by layer: {ratios}. While a link carries a byte, a"
        f" node does R / B = {figure(ridge)} ops. A layer of more ops a byte computes for longer"
        " than its output takes on a link; where P - 1 shards pass a link in turn, around a ring,"
        " of P - 1 times more."
    )


def tensor_parallelism(question: Question) -> Blocks:
    """Its steps and their sums."""
    yield "3. TENSOR PARALLELISM"
    yield from map(_told, (lab3.tensor_parallel_stages, lab3.all_gather, lab3.gather))
    yield from _derivation("tensor", question)


def pipeline_parallelism(question: Question) -> Blocks:
    """Its steps and their sums, and where the time goes."""
    yield "4. PIPELINE PARALLELISM"
    yield _told(lab3.pipeline_parallel_stages)
    yield from _derivation("pipeline", question)
    if len(question.network) <= question.system.nodes:
        parts = figures.losses(question)
        total_s = sum(parts.values())
        yield _told(figures.losses)
        yield table(
            [f"part of {count(question.inputs, 'input')}", "ms", "% of the latency"],
            [[name, _in(MS, part_s), 100 * part_s / total_s] for name, part_s in parts.items()],
        )
        balanced_s = figures.balanced_pipeline_latency(*question)
        yield filled(
            f"A perfectly balanced pipeline would take {_ms(balanced_s)} for"
            f" {count(question.inputs, 'input')}: {_told(figures.balanced_pipeline_latency)}"
        )


def _derivation(strategy: str, question: Question) -> Blocks:
    possible, reasons = lab3.possible_strategies(question.network, question.system)
    if strategy in reasons:
        yield filled(f"{reasons[strategy]}.")
        return
    cells = [
        [
            step.layer,
            step.work,
            step.node_ops,
            step.link_bytes,
            _in(US, lab3.duration([step], question.system)),
            step.traffic_bytes,
        ]
        for step in chain(*possible[strategy])
    ]
    head = ["layer", "step", "ops of a node", "bytes of a link", "time us", "traffic bytes"]
    yield table(head, [*cells, _sums("sum", cells)])
    found = [it for it in figures.results(question) if it.strategy == strategy]
    yield "Computing + communicating + (N - 1) * interval, and N * traffic:"
    for it in found:
        compute, communication, interval, total = (
            figure(_in(US, part_s))
            for part_s in (it.compute_s, it.communication_s, it.interval_s, it.latency_s)
        )
        law = f"{compute} + {communication} + {it.inputs - 1:,} * {interval} = {total} us"
        bytes_ = f"{figure(found[0].traffic_bytes)} = {figure(it.traffic_bytes)} bytes"
        yield f"{filled(law)}\n{it.inputs:,} * {bytes_}"
    yield filled(f"The interval is that of the bottleneck: {found[0].bottleneck}.")


def streaming(question: Question) -> Blocks:
    """Rows streamed, the limit, and how far the nodes are used."""
    yield "5. ROWS STREAMED, AND THE LIMIT"
    yield _told(rows)
    yield _told(rows.compute_bound)
    for it in figures.results(question):
        yield _streamed_sum(it, question)


def _streamed_sum(it: Result, question: Question) -> str | None:
    """Of tensor parallelism the limit and what is above it, of the pipeline the law."""
    if it.streamed_latency_s is None or it.limit_s is None or it.interval_s is None:
        return None
    last, system = question.network[-1], question.system
    share_bytes = Fraction(last.output_bytes, last.out_y * system.nodes)
    above_s = it.streamed_latency_s - it.limit_s
    is_share = above_s == share_bytes / system.link_bytes_per_s
    first_s = it.streamed_latency_s - (it.inputs - 1) * it.interval_s
    parts = {
        "tensor": f"{_us(it.limit_s)} (the limit) + {_us(above_s)}"
        + " (the last row's share, A / (P * out_y * B))" * is_share,
        "pipeline": f"{_us(first_s)} (the first input) + {it.inputs - 1:,} * {_us(it.interval_s)}",
    }
    total = _us(it.streamed_latency_s)
    return filled(f"{it.strategy}, N = {it.inputs:,}: {parts[it.strategy]} = {total}")


def changes(question: Question) -> Blocks:
    """How far the nodes are used, and what more of everything would change."""
    found = figures.results(question)
    yield "6. UTILISATION, AND WHAT WOULD CHANGE IT"
    yield filled(
        "With whole tensors. Speed-up over one node: N * sum(C) / R / latency. Utilisation:"
        " speed-up / P. Spare: nodes without a layer."
    )
    yield table(
        ["inputs", "strategy", "speed-up", "utilisation %", "spare", "bottleneck"],
        [
            [
                it.inputs,
                it.strategy,
                it.speed_up,
                None if it.utilisation is None else 100 * it.utilisation,
                it.idle_nodes,
                it.bottleneck,
            ]
            for it in found
        ],
    )
    yield "Speed-up over the machine as it is by twice as much of one thing:"
    yield table(["inputs", "strategy", "speed-up", "twice"], figures.doubling(question))


def what_fits(question: Question) -> Blocks:
    """Q3: every byte that a node must hold."""
    yield "7. SRAM (Q3)"
    yield _told(sram)
    yield "The fullest node of each. Waiting: for so many more inputs there is room."
    head = ["scheme", "where", "layer", "bytes", "fits", "bytes left", "waiting"]
    yield table(head, figures.needs(question.network, question.system))
    for scheme, uses in figures.sram_uses(question.network, question.system).items():
        yield f"{scheme.upper()}\n{_told(figures.SCHEMES[scheme])}"
        head = ["layer", "work", "weight_bytes", "input_bytes", "output_bytes", "total_bytes"]
        yield table(head, [[*use, use.total_bytes] for use in uses])
    inputs, last = question.inputs, question.network[-1]
    yield filled(
        f"{count(inputs, 'waiting input')}: {figure(inputs * question.network[0].input_bytes)}"
        f" bytes; as many outputs: {figure(inputs * last.output_bytes)} bytes; all nodes together"
        f" hold {figure(question.system.nodes * question.system.sram_bytes)} bytes."
    )


def ring(question: Question) -> Blocks:
    """Q4: both topologies side by side."""
    yield "8. RING (Q4)"
    found = [
        it
        for topology in (lab3.ALL_TO_ALL, lab3.RING)
        for it in figures.results(question.on(topology=topology))
    ]
    yield table(
        ["topology", "inputs", "strategy", "communication us", "latency ms", "traffic bytes"],
        [
            [
                it.topology,
                it.inputs,
                it.strategy,
                _in(US, it.communication_s),
                _in(MS, it.latency_s),
                it.traffic_bytes,
            ]
            for it in sorted(found, key=lambda it: (it.inputs, it.strategy != "tensor"))
        ],
    )
    yield "Communication is of one input; those of a pipeline overlap with computing."
    if found[0].latency_s:
        times = " and ".join(
            f"{_ms(figures.two_way_ring_latency(question.network, question.system, inputs))} for"
            f" {count(inputs, 'input')}"
            for inputs in sorted({1, question.inputs})
        )
        yield filled(f"{_told(figures.two_way_ring_latency)} That takes {times}.")


def which_plan(question: Question) -> Blocks:
    """The plans that fit, the best whether they fit or not, and slower links."""
    found = plans.compare(question)
    yield "9. WHICH PLAN"
    yield from plans.best_plans_text(found, more="report/plans.py --all")
    if "pipeline" in found.faster:
        these, many = map(plans.bounds_text, found.faster["pipeline"])
        yield filled(
            "Links on which pipeline parallelism is faster than tensor parallelism, whole tensors"
            f" in both: {these} for {count(question.inputs, 'input')}, {many} for very many."
        )


def readings(question: Question) -> Blocks:
    """What a grader compares other numbers with."""
    yield "10. READINGS OF THE HANDOUT"
    yield READINGS
    for inputs in sorted({1, question.inputs}):
        yield f"Read otherwise, one change at a time, whole tensors, {count(inputs, 'input')}:"
        cells = []
        for reading in figures.readings(question.network, question.system):
            answers = {it.strategy: it for it in reading.answers(inputs)}
            numbers = [
                answers[name][-2:] if name in answers else (None, None) for name in lab3.STRATEGIES
            ]
            cells.append([*(it for s, n in numbers for it in (_in(MS, s), n)), reading.name])
        yield table(["tensor ms", "bytes", "pipeline ms", "bytes", "reading"], cells)


# ------------------------------------------------ words and numbers


def _told(formula: object) -> str:
    """What a docstring tells of a formula, without the paragraph on errors; tables stay as they
    are."""
    paragraphs = (getdoc(formula) or "").split("\n\n")  # python -OO strips it
    told = [text for text in paragraphs if not text.startswith("Raises")]
    return "\n\n".join(text if "  " in text else filled(text) for text in told)


def _in(unit: int, seconds: Fraction | None) -> Fraction | None:
    return None if seconds is None else seconds * unit


def _ms(seconds: Fraction) -> str:
    return f"{figure(seconds * MS)} ms"


def _us(seconds: Fraction | None) -> str:
    return f"{figure(_in(US, seconds))} us"


def _percent(share: Fraction) -> str:
    return f"{_short(100 * share)} %"


def _time(seconds: Fraction) -> str:
    return _ms(seconds) if seconds * MS >= 1 else _us(seconds)


def _short(value: Fraction) -> str:
    return lab3.plain(value, 4)


def _sums(name: str, cells: Sequence[Sequence[object]]) -> list[object]:
    """Of the columns of numbers after the first."""
    columns = [*zip(*cells, strict=True)][1:]
    return [name, *("" if isinstance(column[0], str) else sum(column) for column in columns)]


# ------------------------------------------------ the script

SECTIONS = (
    in_short,
    law_and_network,
    tensor_parallelism,
    pipeline_parallelism,
    streaming,
    changes,
    what_fits,
    ring,
    which_plan,
    readings,
)


def explain(question: Question) -> str:
    """Everything, in the order in which a student asks."""
    lab3.answers(*question)  # raises where neither strategy is possible
    blocks = [whatif.asked(question), *chain(*(section(question) for section in SECTIONS))]
    return "\n\n".join(block for block in blocks if block)  # python -OO strips the formulas


def respond(argv: Sequence[str] | None) -> str:
    """The explanation, or every figure as JSON: Fractions as the nearest float."""
    parser = whatif.option_parser(
        "Why the answers are what they are: in sentences, and every figure derived.",
        [
            "python3 report/explain.py",
            "python3 report/explain.py --nodes 8 --link-gbs 0.1",
            "python3 report/explain.py --json",
        ],
    )
    parser.add_argument("--json", action="store_true", help="every figure, for programs")
    options = parser.parse_args(argv)
    question = whatif.question(options)
    if options.json:
        return json_text(figures.figures(question))
    return explain(question)


if __name__ == "__main__":
    sys.exit(whatif.run(respond))
