"""Why: the answers in sentences, and every number derived, for people and as JSON.

Numbers are computed in analysis.py; formulas are printed from the docstrings of what computes them.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from fractions import Fraction
from inspect import getdoc
from itertools import chain

import lab3
from lab3 import ALL_TO_ALL, RING, ConvLayer
from report import analysis, compare, question, readings, sram, streaming
from report.analysis import Analysis, Result, SramResult, Strategy
from report.question import Impossible, Question, check_possible, headed, question_of
from report.terminal import MS, NS, US, count, filled, json_text, number, short, table

Blocks = Iterator[str]
READINGS = """\
Q2's sample block   the same four lines as Q1's
GOPS, GB/s, KB      10^9 ops/s, 10^9 bytes/s, 1,024 bytes
one by one          no batches; only a pipeline works on several inputs at once
initial inputs      already wherever they are needed
final output        on one node: gathered, or where the last layer is
ring of 4 links     one-way, like the 12 links all-to-all
SRAM                one input at a time, without queued inputs, stored outputs"""

# ------------------------------------------------ in short


def in_short(it: Analysis) -> Blocks:
    """The answers, and what follows from them, in sentences."""
    system = it.system
    yield "IN SHORT"
    yield filled(
        f"{count(it.inputs, 'input')}, {count(len(it.network), 'layer')},"
        f" {count(system.nodes, 'node')}, {system.topology}. Per node: R ="
        f" {number(system.ops_per_s)} ops/s, {count(system.sram_bytes, 'byte')} of SRAM. Per link:"
        f" B = {number(system.link_bytes_per_s)} bytes/s. Tables are exact, or rounded to 9 digits"
        " or whole numbers."
    )
    head = ["inputs", "strategy", "latency ms", "traffic bytes", "streamed ms", "lower bound ms"]
    cells = []
    for inputs in it.counts:
        for strategy, result in _results(it, inputs).items():
            streamed = result.streamed
            streamed_ms = None if isinstance(streamed, Impossible) else streamed.latency_s * MS
            limit_ms = streaming.compute_bound(it.network, system, inputs) * MS
            latency_ms = result.latency_s * MS
            cells.append(
                [inputs, strategy, latency_ms, result.traffic_bytes, streamed_ms, limit_ms]
            )
    yield table(head, cells)
    yield filled(
        "Latency assumes enough SRAM, whole-tensor transfers (a layer's output is sent when all of"
        " it is computed), and that tensor parallelism takes inputs one by one. Streamed: each"
        " output row is sent as soon as it is computed. No schedule is faster than the lower bound."
    )
    yield from map(filled, chain(_why_not(it), _speed(it), _distribution(it), _ring(it)))


def _results(it: Analysis, inputs: int, topology: str = "") -> dict[str, Result]:
    """Of the strategies that are possible, on the machine's own topology unless told."""
    results = {name: it.result(name, inputs, topology) for name in it.strategies}
    return {name: each for name, each in results.items() if isinstance(each, Result)}


def _why_not(it: Analysis) -> Iterator[str]:
    streamed = [each.streamed for each in _results(it, it.inputs).values()]
    for each in dict.fromkeys([*it.impossible.values(), *streamed]):
        if isinstance(each, Impossible):
            yield f"{each.reason}."


def _speed(it: Analysis) -> Iterator[str]:
    """Q1 and Q2: which is faster, by how much, why, and at what cost in bytes."""
    for n, inputs in enumerate(it.counts, 1):
        results = _results(it, inputs)
        whole_s = {name: each.latency_s for name, each in results.items()}
        if len(whole_s) == 2:
            yield f"Q{n}: {_faster(whole_s, inputs, 'whole-tensor transfers')}"
        streamed_s = {
            name: each.streamed.latency_s
            for name, each in results.items()
            if not isinstance(each.streamed, Impossible)
        }
        if len(streamed_s) == 2:
            yield _faster(streamed_s, inputs, "row streaming")
    if len(it.possible) == 2 and len(it.network) > 1:
        yield "For 1 input, with whole-tensor transfers, one node of the pipeline works at a time."
    for name, each in _results(it, it.inputs).items():
        pace = "all its steps" if name == "tensor" else f"its bottleneck, the {each.bottleneck}"
        said = (
            f"{name.capitalize()} parallelism keeps the nodes computing"
            f" {_percent(each.utilisation)} of the time for {count(it.inputs, 'input')}."
        )
        if it.inputs > 1:
            said += f" It finishes one input every {_time(each.interval_s)}, the time of {pace}."
        yield said
    yield from _bytes(_results(it, 1))
    for name, each in _results(it, it.inputs).items():
        if not isinstance(each.streamed, Impossible):
            above_s = each.streamed.above_limit_s
            distance = f"is {_time(above_s)} above" if above_s else "reaches"
            yield (
                f"{name.capitalize()} parallelism with row streaming {distance} the lower bound for"
                f" {count(it.inputs, 'input')}."
            )


def _faster(latencies_s: dict[str, Fraction], inputs: int, how: str) -> str:
    (fast, fast_s), (slow, slow_s) = sorted(latencies_s.items(), key=lambda item: item[1])
    start = f"For {count(inputs, 'input')} with {how},"
    if fast_s == slow_s:
        return f"{start} both strategies take {_time(fast_s)}."
    if short(slow_s / fast_s) == "1":
        return f"{start} {fast} parallelism is faster by {_time(slow_s - fast_s)}."
    return (
        f"{start} {fast} parallelism is {short(slow_s / fast_s)} times as fast as {slow}"
        f" parallelism: {_time(fast_s)} against {_time(slow_s)}."
    )


def _bytes(one_input: dict[str, Result]) -> Iterator[str]:
    if len(one_input) < 2:
        return
    tensor, pipeline = one_input["tensor"], one_input["pipeline"]
    against = f"{number(tensor.traffic_bytes)} against {number(pipeline.traffic_bytes)}"
    if pipeline.traffic_bytes:
        ratio = short(Fraction(tensor.traffic_bytes, pipeline.traffic_bytes))
        sent = f"{ratio} times as many bytes as pipeline parallelism: {against}"
    else:
        sent = f"{count(tensor.traffic_bytes, 'byte')}, pipeline parallelism none"
    yield (
        f"Per input, tensor parallelism sends {sent}. It communicates for"
        f" {_time(tensor.communication_s)}, pipeline parallelism for"
        f" {_time(pipeline.communication_s)}."
    )


def _distribution(it: Analysis) -> Iterator[str]:
    """Q3: what fits in the SRAM, why to distribute, and data parallelism."""
    fullest = {name: use.fullest for name, use in _sram(it).items()}
    space = f"in the {count(it.system.sram_bytes, 'byte')} of SRAM per node, one input at a time"
    for fits, verb in ((True, "fits"), (False, "does not fit")):
        said = [
            f"{name} ({need.where}, {count(need.total_bytes, 'byte')})"
            for name, need in fullest.items()
            if need.fits == fits
        ]
        if said:
            yield f"This {verb} {space}: {'; '.join(said)}."
    inputs = count(it.inputs, "input")
    data_s = _time(analysis.data_parallel_latency(*it.question))
    all_weights = f"all weights, {count(it.totals.weight_bytes, 'byte')}"
    over, lacking = it.totals.excess_bytes, -fullest["data"].free_bytes
    if lacking <= 0:
        alone_s = analysis.one_node_latency(*it.question)
        yield (
            f"Q3: A node can hold {all_weights}, and the fullest layer's input and output, so data"
            f" parallelism is possible: {data_s} for {inputs}. The work need not be distributed to"
            f" fit: one node alone takes {_time(alone_s)}."
        )
        return
    lacks = f"the fullest layer's input and output by {count(lacking, 'byte')}"
    if over > 0:
        yield (
            f"Q3: A node cannot hold {all_weights}, so the work must be distributed. Data"
            " parallelism is not possible for the same reason: the weights alone exceed a node's"
            f" SRAM by {count(over, 'byte')}, with {lacks}."
        )
    else:
        yield (
            f"Q3: A node can hold {all_weights}, but these exceed its SRAM with {lacks}. So, if"
            " whole tensors are held, the work must be distributed, and data parallelism is not"
            " possible."
        )
    yield f"If everything fitted, data parallelism would take {data_s} for {inputs}."
    if not any(need.fits for need in fullest.values()):
        yield f"No strategy counted here fits on {count(it.system.nodes, 'node')}."


def _sram(it: Analysis) -> dict[str, SramResult]:
    return {name: use for name, use in it.sram.items() if isinstance(use, SramResult)}


def _ring(it: Analysis) -> Iterator[str]:
    """Q4: what a ring changes for one input."""
    nodes = it.system.nodes
    if nodes < 3:
        links = "the same links as all-to-all" if nodes == 2 else "no links"
        yield f"Q4: A ring of {count(nodes, 'node')} has {links}, so it changes nothing."
        return
    before, after = (_results(it, 1, topology) for topology in (ALL_TO_ALL, RING))
    if "tensor" in after:
        was, now = before["tensor"], after["tensor"]
        yield (
            f"Q4: On a one-way ring, tensor parallelism communicates for"
            f" {_time(now.communication_s)} per input instead of {_time(was.communication_s)},"
            f" {nodes - 1:,} times as long, because the busiest link carries {nodes - 1:,} shards"
            f" one after another. Its latency for 1 input is"
            f" {_percent(now.latency_s / was.latency_s - 1)} longer."
        )
    if "pipeline" in after:
        yield (
            "Q4: Pipeline parallelism takes as long on a ring, because each node sends at most to"
            " the next one."
        )


# ------------------------------------------------ readings


def readings_of_the_handout(it: Analysis) -> Blocks:
    """What a grader compares other numbers with."""
    yield "READINGS OF THE HANDOUT"
    yield READINGS
    for strategy in it.possible:
        found: dict[str, dict[int, readings.Answer]] = {}
        for each in it.readings:
            if each.strategy == strategy:
                reading = ", ".join(each.changes) or "as read here"
                found.setdefault(reading, {})[each.inputs] = each
        counts = " and ".join(count(inputs, "input") for inputs in it.counts)
        yield f"{strategy.upper()} PARALLELISM\nOther readings, one change at a time, for {counts}:"
        head = ["one input s", "all inputs s"][: len(it.counts)]
        yield table(
            [*head, "bytes per input", "reading"],
            [
                [
                    *(by[n].latency_s if n in by else None for n in it.counts),
                    next(each.traffic_bytes // n for n, each in by.items()),
                    reading,
                ]
                for reading, by in found.items()
            ],
        )
    yield filled("`python3 report find NUMBER` finds which reading gives a number.")


# ------------------------------------------------ derivations, to be checked by hand


def law_and_cnn(it: Analysis) -> Blocks:
    """Symbols first; then the layers: what they compute, hold and send."""
    yield "1. THE LAW"
    yield _told(lab3, 2)
    yield _told(lab3.latency)
    yield _told(lab3.traffic)
    yield "2. THE CNN"
    yield _told(ConvLayer)
    sizes = [*analysis.SIZES, *analysis.BYTES]
    yield "\n".join(f"{name} = {_told(getattr(ConvLayer, name))}" for name in sizes)
    names = [*ConvLayer._fields, *analysis.SIZES[:2]]
    yield table(["layer", *names], _attributes(it, names))
    names = [*analysis.SIZES[3:], *analysis.BYTES]
    cells = _attributes(it, names)
    sums = _sums(cells)
    sums[names.index("input_bytes") + 1] = ""  # which is the output before it
    yield table(["layer", *names], [*cells, sums])
    yield table(
        ["layer", "C / A, ops per byte of output"],
        [[n, analysis.ops_per_byte(layer)] for n, layer in enumerate(it.network, 1)],
    )
    yield filled(
        f"While a link carries a byte, a node does R / B ="
        f" {number(analysis.machine_balance(it.system))} ops. A layer with more ops per byte takes"
        " longer to compute than its output takes on a link."
        + " With tensor parallelism on a ring, the threshold is P - 1 times as high."
        * (it.system.nodes > 1)
    )


def _attributes(it: Analysis, names: Sequence[str]) -> list[list[object]]:
    """Of each layer, behind its number."""
    return [[n, *(getattr(layer, name) for name in names)] for n, layer in enumerate(it.network, 1)]


def tensor_parallelism(it: Analysis) -> Blocks:
    """Its steps and their sums."""
    yield "3. TENSOR PARALLELISM"
    functions = (
        lab3.tensor_parallel_stages,
        lab3.shards_in_turn,
        lab3.all_gather,
        lab3.gather,
        lab3.tensor_parallel_latency,
        lab3.tensor_parallel_traffic,
    )
    yield from map(_told, functions)
    yield from _derivation("tensor", it)


def pipeline_parallelism(it: Analysis) -> Blocks:
    """Its steps and their sums, and where the time goes."""
    yield "4. PIPELINE PARALLELISM"
    functions = (
        lab3.pipeline_parallel_stages,
        lab3.pipeline_parallel_latency,
        lab3.pipeline_parallel_traffic,
    )
    yield from map(_told, functions)
    yield from _derivation("pipeline", it)
    if not isinstance(it.losses, Impossible):
        total_s = sum(it.losses)
        yield _told(analysis.Losses)
        yield table(
            [f"part of {count(it.inputs, 'input')}", "ms", "% of the latency"],
            [
                [name[:-2].replace("_", " "), part_s * MS, 100 * part_s / total_s]
                for name, part_s in it.losses._asdict().items()
            ],
        )
    balanced_s = analysis.balanced_pipeline_latency(*it.question)
    yield filled(
        f"A perfectly balanced pipeline would take {_exact(balanced_s)} for"
        f" {count(it.inputs, 'input')}: {_told(analysis.balanced_pipeline_latency)}"
    )


def _derivation(name: str, it: Analysis) -> Blocks:
    strategy = it.strategies[name]
    if isinstance(strategy, Impossible):
        yield filled(f"{strategy.reason}.")
        return
    cells: list[list[object]] = [
        [*step[:4], step.time_s * US, step.traffic_bytes] for step in strategy.steps
    ]
    head = ["layer", "step", "ops of a node", "bytes of a link", "time us", "traffic bytes"]
    yield table(head, [*cells, _sums(cells)])
    yield "Computing + communicating + (N - 1) * interval, and N * traffic:"
    results = [each for each in strategy.results if each.topology == it.system.topology]
    for each in results:
        parts_s = (each.compute_s, each.communication_s, each.interval_s, each.latency_s)
        compute, communication, interval, total = (number(part_s * US) for part_s in parts_s)
        law = f"{compute} + {communication} + {each.inputs - 1:,} * {interval} = {total} us"
        sent = f"{number(results[0].traffic_bytes)} = {count(each.traffic_bytes, 'byte')}"
        yield f"{filled(law)}\n{filled(f'{each.inputs:,} * {sent}')}"
    yield filled(f"The interval is the time of the bottleneck: {results[0].bottleneck}.")


def row_streaming(it: Analysis) -> Blocks:
    """Row streaming, and the lower bound."""
    yield "5. ROW STREAMING, AND THE LOWER BOUND"
    yield _told(streaming)
    yield _told(streaming.streamed_latency)
    yield _told(streaming.compute_bound)
    for inputs in it.counts:
        for name, each in _results(it, inputs).items():
            if not isinstance(each.streamed, Impossible):
                yield filled(f"{name}, N = {inputs:,}: {_streamed_sum(name, each, it)}")


def _streamed_sum(name: str, result: Result, it: Analysis) -> str:
    """Of tensor parallelism the lower bound and what is above it, of the pipeline the law."""
    assert not isinstance(result.streamed, Impossible)
    total_s, above_s = result.streamed
    if name == "tensor":
        share_s = analysis.last_row_share_s(it.network, it.system)
        is_share = above_s == share_s and it.system.nodes > 1
        said = " (the last row's share, A / (P * out_y * B))" * is_share
        return (
            f"{_exact(total_s - above_s)} (lower bound) + {_exact(above_s)}{said}"
            f" = {_exact(total_s)}"
        )
    further = result.inputs - 1
    first = f"{_exact(total_s - further * result.interval_s)} (the first input)"
    return f"{first} + {further:,} * {_exact(result.interval_s)} (interval) = {_exact(total_s)}"


def utilisation(it: Analysis) -> Blocks:
    """How far the nodes are used, and what more of everything would change."""
    yield "6. UTILISATION, AND WHAT WOULD CHANGE IT"
    yield filled(
        "With whole-tensor transfers. Speed-up over one node: N * sum(C) / R / latency."
        " Utilisation: speed-up / P. Idle: nodes without a layer."
    )
    yield table(
        ["inputs", "strategy", "speed-up", "utilisation %", "idle", "bottleneck"],
        [
            [inputs, name, each.speed_up, 100 * each.utilisation, each.idle_nodes, each.bottleneck]
            for inputs in it.counts
            for name, each in _results(it, inputs).items()
        ],
    )
    yield "Speed-up from doubling one resource, where that is possible:"
    doubled = [
        [each.inputs, name, each.speed_up, each.twice]
        for name, strategy in it.strategies.items()
        if isinstance(strategy, Strategy)
        for each in strategy.doubling
    ]
    yield table(["inputs", "strategy", "speed-up", "twice"], doubled)


def what_fits(it: Analysis) -> Blocks:
    """Q3: every byte that a node must hold."""
    yield "7. SRAM (Q3)"
    yield _told(sram)
    yield filled(
        "The fullest node of each strategy. Waiting: how many more inputs fit where inputs wait, on"
        " a pipeline's first node, otherwise on every node."
    )
    head = ["strategy", "fullest", "layer", "bytes", "fits", "bytes left", "waiting"]
    yield table(head, [[name, *use.fullest[:-1]] for name, use in _sram(it).items()])
    for name, use in it.sram.items():
        yield f"{name.upper()}\n{_told(analysis.SRAM[name])}"
        if isinstance(use, Impossible):
            yield filled(f"{use.reason}.")
        else:
            head = ["where", "layer", "work", "weights", "input", "output", "total bytes"]
            yield table(head, [[*each, each.total_bytes] for each in use.uses])
    yield filled(_queue(it))


def _queue(it: Analysis) -> str:
    """Whether all inputs and outputs have room beside the weights."""
    weights, _, inputs, outputs, held = it.totals
    free = held - weights
    said = (
        f"{count(it.inputs, 'input')}: {count(inputs, 'byte')};"
        f" {count(it.inputs, 'output')}: {count(outputs, 'byte')}; all nodes together:"
        f" {count(held, 'byte')} of SRAM,"
    )
    if free < 0:
        return f"{said} less than all weights."
    said += f" {number(free)} beside the weights, held once."
    late = [("inputs must arrive", inputs), ("outputs must leave", outputs)]
    must = " and ".join(words for words, needed in late if needed > free)
    return (
        f"{said} So {must} during the run." if must else f"{said} Layers in work need some of it."
    )


def ring(it: Analysis) -> Blocks:
    """Q4: both topologies side by side."""
    yield "8. RING (Q4)"
    yield table(
        ["topology", "inputs", "strategy", "communication us", "latency ms", "traffic bytes"],
        [
            [
                topology,
                inputs,
                name,
                each.communication_s * US,
                each.latency_s * MS,
                each.traffic_bytes,
            ]
            for inputs in it.counts
            for name in it.possible
            for topology in (ALL_TO_ALL, RING)
            for each in [_results(it, inputs, topology)[name]]
        ],
    )
    yield filled(
        "Communication is that of one input; in a pipeline it overlaps with the computing of"
        " others."
    )
    if not isinstance(it.two_way_ring, Impossible):
        times = " and ".join(
            f"{_exact(each.latency_s)} for {count(each.inputs, 'input')}"
            for each in it.two_way_ring
        )
        yield filled(f"{_told(analysis.two_way_ring_latency)} That takes {times}.")


def which_plan(it: Analysis) -> Blocks:
    """The Pareto-optimal plans, and slower links."""
    yield "9. WHICH PLAN"
    yield from compare.best_plans_text(
        it.plans, it.question, more="the command plans lists them with --all"
    )
    for each in it.plans.faster.get("pipeline", ()):
        inputs = count(each.inputs, "input") if each.inputs else "very many inputs"
        yield filled(
            f"Links on which pipeline parallelism is faster than tensor parallelism for {inputs},"
            " whole-tensor transfers, tensor parallelism taking inputs one by one:"
            f" {compare.links_text(each.links)}."
        )


# ------------------------------------------------ words and numbers


def _told(formula: object, paragraph: int | None = None) -> str:
    """A docstring without its paragraph on errors, or one paragraph of it; tables stay as they
    are."""
    paragraphs = (getdoc(formula) or "").split("\n\n")  # python -OO strips it
    told = [text for text in paragraphs if not text.startswith("Raises")]
    if paragraph is not None:
        told = told[paragraph : paragraph + 1]
    return "\n\n".join(text if "  " in text else filled(text) for text in told)


def _time(seconds: Fraction) -> str:
    """Rounded, for a sentence, in the largest unit of which there is one or more."""
    units = {"s": 1, "ms": MS, "us": US, "ns": NS}
    unit = next((unit for unit, per_s in units.items() if seconds * per_s >= 1), "ns")
    return f"{short(seconds * units[unit], 5)} {unit}"


def _exact(seconds: Fraction) -> str:
    return f"{number(seconds * US)} us"


def _percent(share: Fraction) -> str:
    rounded = short(100 * share)
    return "over 99.99 %" if rounded == "100" and share < 1 else f"{rounded} %"


def _sums(cells: Sequence[Sequence[object]]) -> list[object]:
    """Of the columns of numbers after the first."""
    columns = [*zip(*cells, strict=True)][1:]
    return ["sum", *("" if isinstance(column[0], str) else sum(column) for column in columns)]


# ------------------------------------------------ the command: explain

SECTIONS = (
    in_short,
    readings_of_the_handout,
    law_and_cnn,
    tensor_parallelism,
    pipeline_parallelism,
    row_streaming,
    utilisation,
    what_fits,
    ring,
    which_plan,
)


def explain(question: Question) -> str:
    """Everything, in the order in which a student asks. Raises ValueError as Analysis does."""
    it = Analysis(question)
    check_possible(it.network, it.system)
    blocks = chain(*(section(it) for section in SECTIONS))
    return "\n\n".join(block for block in blocks if block)  # python -OO strips the formulas


def add_options(parser: ArgumentParser) -> None:
    """What if, and --json."""
    question.add_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: Namespace) -> str:
    """The explanation, or every number as JSON: Fractions as the nearest float."""
    asked = question_of(options)
    if options.json:
        return json_text(analysis.as_dict(asked))
    return headed(asked, explain(asked))
