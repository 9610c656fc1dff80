"""Why: Q1 to Q4 on one page, and topics that derive every number, for people and as JSON.

Numbers are computed in analysis.py; formulas are printed from the docstrings of what computes them.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, product
from typing import TYPE_CHECKING

import lab3
from lab3 import ALL_TO_ALL, RING, ConvLayer
from report import analysis, question, sram, streaming
from report.analysis import Analysis, Latency, Result, SramResult, Strategy
from report.question import STRATEGIES, Impossible, Question, check_possible, headed, question_of
from report.steps import (
    all_gather,
    duration,
    gather,
    latency,
    pipeline_parallel_stages,
    tensor_parallel_stages,
    traffic,
)
from report.terminal import GIGA, MS, NS, US, count, filled, json_text, number, short, shown, table

if TYPE_CHECKING:
    from report.readings import Answer

Blocks = Iterator[str]

# ------------------------------------------------ Q1 to Q4 on one page


def page(it: Analysis) -> Blocks:
    """The answers, each with its reason: whole-tensor transfers."""
    yield filled(_in_symbols(it))
    for n, inputs in enumerate(it.counts, 1):
        why = _why_all if n > 1 else _why_one
        reason = _joined(_comparison(it, inputs), *why(it), *_faster_than_both(it, inputs))
        yield f"Q{n}: {count(inputs, 'input').upper()}\n{_answers(it, inputs)}\n{reason}"
    yield f"Q3: WHY DISTRIBUTE, AND DATA PARALLELISM\n{_joined(*_distribution(it))}"
    yield f"Q4: A ONE-WAY RING\n{_joined(*_ring(it))}"
    assumed = (
        "Assumed: whole-tensor transfers (a layer's output is sent when complete), enough SRAM,"
        " inputs already wherever needed, tensor parallelism taking them one by one."
    )
    yield f"{_lower_bound(it)}\n{_joined(*_with_row_streaming(it))}\n{filled(assumed)}"
    topics = "\n".join(f"  {name:<11}{what}" for name, (_, what) in TOPICS.items())
    yield f"`python3 report explain TOPIC ...` derives the numbers; topics, or {ALL}:\n{topics}"


def _in_symbols(it: Analysis) -> str:
    """What was asked."""
    system = it.system
    gops, gbs = (Fraction(each) / GIGA for each in (system.ops_per_s, system.link_bytes_per_s))
    return (
        f"N = {count(it.inputs, 'input')}, L = {count(len(it.network), 'layer')},"
        f" P = {count(system.nodes, 'node')}, {system.topology},"
        f" R = {number(gops)} GOPS, B = {number(gbs)} GB/s"
    )


def _joined(*sentences: str) -> str:
    return filled(" ".join(filter(None, sentences)))


def _results(it: Analysis, inputs: int, topology: str = "") -> dict[str, Result]:
    """Of the strategies that are possible, on the machine's own topology unless told."""
    results = {name: it.result(name, inputs, topology) for name in STRATEGIES}
    return {name: each for name, each in results.items() if isinstance(each, Result)}


def _answers(it: Analysis, inputs: int) -> str:
    """A line for each strategy, its numbers as lab3.py prints them."""
    lines = []
    for name in STRATEGIES:
        found = it.result(name, inputs)
        if isinstance(found, Impossible):
            lines.append(filled(f"{found.reason}."))
        else:
            subject = f"{name.capitalize()} parallelism:"
            seconds = f"{lab3.plain(found.latency_s)} seconds"
            lines.append(filled(f"{subject:<22}{seconds}, {found.traffic_bytes} bytes", "  "))
    return "\n".join(lines)


def _comparison(it: Analysis, inputs: int) -> str:
    """Which strategy is faster; for one input also that tensor parallelism sends more, which it
    does on two nodes or more."""
    results = _results(it, inputs)
    if it.system.nodes == 1 and inputs == 1:
        return "One node does all the work and sends nothing."
    if len(results) < 2:
        return ""
    tensor, pipeline = results["tensor"], results["pipeline"]
    fastest = "tensor" if tensor.latency_s <= pipeline.latency_s else "pipeline"
    fast_s, slow_s = sorted([tensor.latency_s, pipeline.latency_s])
    ratio, gap_s = slow_s / fast_s, slow_s - fast_s
    if not gap_s:
        said = "Both take the same time"
    elif short(ratio) == "1":
        said = f"{fastest.capitalize()} parallelism is faster by {_time(gap_s)}"
    else:
        said = f"{fastest.capitalize()} parallelism is {short(ratio)} times as fast"
    if inputs > 1:
        return f"{said}."
    joint = ", but" if gap_s and fastest == "tensor" else "; tensor parallelism"
    return f"{said}{joint} sends {_more(tensor.traffic_bytes, pipeline.traffic_bytes)}."


def _more(many_bytes: int, few_bytes: int) -> str:
    ratio = short(Fraction(many_bytes, few_bytes)) if few_bytes else "1"
    if ratio == "1":
        return f"{count(many_bytes - few_bytes, 'byte')} more"
    return f"{ratio} times as many bytes"


def _why_one(it: Analysis) -> Iterator[str]:
    """All steps of an input follow each other."""
    if it.system.nodes == 1:
        return
    how = {"tensor": "all nodes share each layer", "pipeline": "at most one node at a time"}
    for name, each in _results(it, 1).items():
        sends = "sends nothing"
        if each.communication_s:
            sends = f"communicates for {_time(each.communication_s)}"
        subject = f"{name.capitalize()} parallelism"
        yield f"{subject} computes for {_time(each.compute_s)} ({how[name]}) and {sends}."


def _why_all(it: Analysis) -> Iterator[str]:
    """Inputs follow each other by an interval."""
    said = []
    for name, each in _results(it, it.inputs).items():
        pace = "all its steps" if name == "tensor" else f"its bottleneck, {each.bottleneck}"
        share = f"utilisation {_percent(each.utilisation)}"
        said.append(f"every {_time(each.interval_s)} with {name} parallelism ({pace}; {share})")
    yield f"Inputs finish {', '.join(said)}."


def _faster_than_both(it: Analysis, inputs: int) -> Iterator[str]:
    """All other ways that are faster than the strategies: row streaming, one node alone, and data
    parallelism that fits. Nothing if that is only row streaming of the faster strategy."""
    results = _results(it, inputs)
    best = min(results, key=lambda name: results[name].latency_s)
    streamed = {name: f"{name} parallelism with row streaming" for name in results}
    others_s = {
        streamed[name]: each.streamed.latency_s
        for name, each in results.items()
        if not isinstance(each.streamed, Impossible)
    }
    one_node_fits = _sram(it)["data"].fullest.fits
    if inputs > 1 and one_node_fits:
        data_s = analysis.data_parallel_latency(it.network, it.system, inputs)
        others_s["data parallelism"] = data_s
    alone_s = analysis.one_node_latency(it.network, it.system, inputs)
    others_s["one node alone" + ", if all fitted its SRAM" * (not one_node_fits)] = alone_s
    best_s = results[best].latency_s
    faster = [name for name in others_s if others_s[name] < best_s]
    if {*faster} - {streamed[best]}:
        ranked = sorted(faster, key=others_s.__getitem__)
        said = ", ".join(f"{name} ({_time(others_s[name])})" for name in ranked)
        yield f"Faster{' than both' * (len(results) == 2)}: {said}."


def _distribution(it: Analysis) -> Iterator[str]:
    """Q3: why to distribute, data parallelism, and which answers fit."""
    weights = f"All weights, {count(it.totals.weight_bytes, 'byte')},"
    space = f"the {count(it.system.sram_bytes, 'byte')} of SRAM per node"
    over, lacking = it.totals.excess_bytes, -_sram(it)["data"].fullest.free_bytes
    pair = "the largest layer's input and output"
    if lacking <= 0:
        data_s = _time(analysis.data_parallel_latency(*it.question))
        yield f"{weights} fit {space} together with {pair}, so the work need not be distributed."
        yield f"Data parallelism is possible: {data_s} for {count(it.inputs, 'input')}."
    else:
        one_node = it.system._replace(nodes=1)
        rows = analysis.sram_result("tensor, streamed", it.network, one_node)
        one_suffices = isinstance(rows, SramResult) and rows.fullest.fits
        short_by = count(lacking, "byte")
        if over > 0:
            exceed = f"alone exceed {space} by {count(over, 'byte')}, and by {short_by} with {pair}"
            yield f"{weights} {exceed}."
        else:
            yield f"{weights} fit {space}, but not with {pair}: it is {short_by} short."
        so = "Holding whole tensors," if one_suffices else "So"
        yield f"{so} the work must be distributed, and data parallelism is not possible."
        if one_suffices:
            yield "With input rows freed after their last use, one node suffices."
    yield f"One input at a time, whole-tensor transfers: {_fits(it)}."
    if streamed := _fits(it, ", streamed"):
        yield f"With row streaming: {streamed}."


def _fits(it: Analysis, how: str = "") -> str:
    """Of each strategy, whether its fullest node fits."""
    said = []
    for name in it.possible:
        if need := _sram(it).get(f"{name}{how}"):
            size = count(need.fullest.total_bytes, "byte")
            fits = "fits" if need.fullest.fits else "does not fit"
            if how and name == "tensor" and sram.is_upper_bound(it.network, it.system):
                size, fits = f"at most {size}", fits.replace("does not", "may")
            said.append(f"{name} {fits} ({need.fullest.where}: {size})")
    return ", ".join(said)


def _sram(it: Analysis) -> dict[str, SramResult]:
    return {name: use for name, use in it.sram.items() if isinstance(use, SramResult)}


def _ring(it: Analysis) -> Iterator[str]:
    """Q4: what a ring changes for one input."""
    if it.system.nodes < 3:
        yield _no_ring(it.system.nodes)
        return
    before, after = (_results(it, 1, topology) for topology in (ALL_TO_ALL, RING))
    if "tensor" in after:
        was, now = before["tensor"], after["tensor"]
        shards = f"{it.system.nodes - 1:,}"
        yield (
            f"Tensor parallelism communicates for {_time(now.communication_s)} per input instead of"
            f" {_time(was.communication_s)}, {shards} times as long (the busiest link carries"
            f" {shards} shards), so 1 input takes"
            f" {_percent(now.latency_s / was.latency_s - 1)} longer."
        )
    if "pipeline" in after:
        yield "Pipeline parallelism is unaffected if its layers follow the ring."


def _no_ring(nodes: int) -> str:
    links = "the same links as all-to-all" if nodes == 2 else "no links"
    return f"A ring of {count(nodes, 'node')} has {links}, so it changes nothing."


def _with_row_streaming(it: Analysis) -> Iterator[str]:
    """The latencies of each strategy that can."""
    said, reasons = [], []
    for name in it.possible:
        found = [_results(it, inputs)[name].streamed for inputs in it.counts]
        times = [_time(each.latency_s) for each in found if not isinstance(each, Impossible)]
        if times:
            said.append(f"{name} {' and '.join(times)}")
        reasons += [f"{each.reason}." for each in found[:1] if isinstance(each, Impossible)]
    if said:
        yield f"Row streaming: {', '.join(said)}."
    yield from reasons


def _lower_bound(it: Analysis) -> str:
    bounds = it.latencies(streaming.compute_bound)
    times = (f"{_time(each.latency_s)} for {count(each.inputs, 'input')}" for each in bounds)
    return filled(f"Lower bound for any schedule: {', '.join(times)}.")


# ------------------------------------------------ topics


def model(it: Analysis) -> Blocks:
    """The law; then the layers: what they compute, hold and send."""
    yield "THE MODEL"
    yield _told(duration)
    yield _told(latency)
    yield _told(traffic)
    yield _told(ConvLayer)
    sizes = [*analysis.SIZES, *analysis.BYTES]
    yield "\n".join(f"{name} = {_told(getattr(ConvLayer, name))}" for name in sizes)
    head = ["layer", *ConvLayer._fields, *analysis.SIZES[:2]]
    yield table(head, _attributes(it, head[1:]))
    head = ["layer", *analysis.SIZES[3:], *analysis.BYTES]
    cells = _attributes(it, head[1:])
    sums = _sums(cells)
    sums[head.index("input_bytes")] = ""  # which is the output before it
    yield table(head, [*cells, sums])
    yield table(
        ["layer", "C / A, ops per byte of output"],
        [[n, analysis.ops_per_byte(layer)] for n, layer in enumerate(it.network, 1)],
    )
    balance = number(analysis.machine_balance(it.system))
    on_ring = "With tensor parallelism on a ring, the threshold is P - 1 times as high."
    yield _joined(
        f"While a link carries a byte, a node does R / B = {balance} ops. A layer with more ops per"
        " byte takes longer to compute than its output takes on a link.",
        on_ring * ("tensor" in it.possible and it.system.nodes > 2),
    )


def _attributes(it: Analysis, names: Sequence[str]) -> list[list[object]]:
    """Of each layer, behind its number."""
    return [[n, *(getattr(layer, name) for name in names)] for n, layer in enumerate(it.network, 1)]


def tensor(it: Analysis) -> Blocks:
    """Its steps and their sums."""
    yield "TENSOR PARALLELISM"
    functions = (
        tensor_parallel_stages,
        all_gather,
        gather,
        lab3.tensor_parallel_latency,
        lab3.tensor_parallel_traffic,
    )
    yield from _derivation("tensor", it, functions)


def pipeline(it: Analysis) -> Blocks:
    """Its steps and their sums, and where the time goes."""
    yield "PIPELINE PARALLELISM"
    functions = (
        pipeline_parallel_stages,
        lab3.pipeline_parallel_latency,
        lab3.pipeline_parallel_traffic,
    )
    yield from _derivation("pipeline", it, functions)
    if isinstance(it.losses, Impossible):
        return
    inputs, total_s = count(it.inputs, "input"), sum(it.losses)
    yield _told(analysis.Losses)
    yield table(
        [f"part of {inputs}", "ms", "% of the latency"],
        [
            [name[:-2].replace("_", " "), part_s * MS, 100 * part_s / total_s]
            for name, part_s in it.losses._asdict().items()
        ],
    )
    balanced_s = analysis.balanced_pipeline_latency(*it.question)
    told = _told(analysis.balanced_pipeline_latency)
    yield filled(f"{told} For {inputs} that is {_exact(balanced_s)}.")


def _derivation(name: str, it: Analysis, functions: Sequence[object]) -> Blocks:
    strategy = it.strategies[name]
    if isinstance(strategy, Impossible):
        yield from _reasons([strategy])
        return
    yield from map(_told, functions)
    cells: list[list[object]] = [
        [*step[:4], step.time_s * US, step.traffic_bytes] for step in strategy.steps
    ]
    head = ["layer", "step", "ops of a node", "bytes of a link", "time us", "traffic bytes"]
    yield table(head, [*cells, _sums(cells)])
    results = [each for each in strategy.results if each.topology == it.system.topology]
    yield filled(
        "Each later input finishes one interval after the one before: the time of the longest"
        f" stage (consecutive steps on the same nodes and links), here {results[0].bottleneck}."
        " Computing + communicating + (N - 1) * interval, and N * traffic:"
    )
    for each in results:
        parts_s = (each.compute_s, each.communication_s, each.interval_s, each.latency_s)
        compute, communication, interval, total = (number(part_s * US) for part_s in parts_s)
        law = f"{compute} + {communication} + {each.inputs - 1:,} * {interval} = {total} us"
        sent = f"{number(results[0].traffic_bytes)} = {count(each.traffic_bytes, 'byte')}"
        yield f"{filled(law)}\n{filled(f'{each.inputs:,} * {sent}')}"


def what_fits(it: Analysis) -> Blocks:
    """Q3: every byte that a node must hold."""
    yield "SRAM (Q3)"
    yield _told(sram)
    found = _sram(it)
    printed = {name: name.replace("streamed", "row streaming") for name in found}
    held = {name: _told(analysis.SRAM[name]).partition("\n\n")[0] for name in found}
    rows = [[printed[name], what.replace("\n", " ")] for name, what in held.items()]
    yield table(["strategy", "what a node holds"], rows)
    yield from _reasons(it.sram.values())
    yield filled(
        "The fullest node of each strategy, and what is left of its"
        f" {count(it.system.sram_bytes, 'byte')}. More: further inputs that also fit (pipeline: on"
        " node 1; others: a copy on every node)."
    )
    head = ["strategy", "fullest", "layer", "bytes", "fits", "left", "more"]
    yield table(head, [[printed[name], *use.fullest[:-1]] for name, use in found.items()])
    streamed = found.get("tensor, streamed")
    if streamed and sram.is_upper_bound(it.network, it.system):
        may = "" if streamed.fullest.fits else ", so it may fit"
        yield filled(
            "A row takes longer to send than another to compute, so the fullest node of tensor,"
            f" row streaming holds at most {count(streamed.fullest.total_bytes, 'byte')}{may}."
        )
    head = ["strategy", "layer", "work", "weights", "input", "output", "total bytes"]
    uses = [
        [printed[name], *use[1:], use.total_bytes] for name in found for use in found[name].uses
    ]
    yield table(head, uses)
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
    said += f" of which one copy of the weights leaves {count(free, 'byte')}."
    late = [("inputs must arrive", inputs), ("outputs must leave the machine", outputs)]
    must = " and ".join(words for words, needed in late if needed > free)
    if must:
        return f"{said} So {must} during the run (not timed)."
    return f"{said} Activations of the current input need part of this, too."


def ring(it: Analysis) -> Blocks:
    """Q4: both topologies side by side."""
    yield "RING (Q4)"
    if it.system.nodes < 3:
        yield filled(_no_ring(it.system.nodes))
        return
    yield _joined(*_ring(it))
    head = ["topology", "inputs", "strategy", "communication us", "latency ms", "traffic bytes"]
    rows: list[list[object]] = []
    for inputs, name, topology in product(it.counts, it.possible, (ALL_TO_ALL, RING)):
        each = _results(it, inputs, topology)[name]
        times = (each.communication_s * US, each.latency_s * MS)
        rows.append([topology, inputs, name, *times, each.traffic_bytes])
    yield table(head, rows)
    yield filled(
        "Communication is that of one input; in a pipeline it overlaps with the computing of other"
        " inputs."
    )
    if not isinstance(it.two_way_ring, Impossible):
        yield _told(all_gather)
        yield _told(gather)
        yield _with_times(analysis.two_way_ring_latency, it.two_way_ring)


def row_streaming(it: Analysis) -> Blocks:
    """Row streaming, and the lower bound."""
    yield "ROW STREAMING, AND THE LOWER BOUND"
    yield _told(streaming)
    streams = {name: each.streamed for name, each in _results(it, 1).items()}
    told, rows = _told(streaming.streamed_latency).split("\n\n")
    known = [
        row
        for row in re.split(r"\n(?=\S)", rows)
        if isinstance(streams.get(row.split()[0]), analysis.Streamed)
    ]
    if known:
        yield told
        yield "\n".join(known)
    yield _told(streaming.compute_bound)
    if not isinstance(it.last_row_share_s, Impossible):
        yield _told(analysis.last_row_share_s)
    for inputs in it.counts:
        for name, each in _results(it, inputs).items():
            if not isinstance(each.streamed, Impossible):
                yield filled(f"{name}, N = {inputs:,}: {_streamed_sum(name, each, it)}")
    yield from _reasons([*it.impossible.values(), *streams.values()])


def _streamed_sum(name: str, result: Result, it: Analysis) -> str:
    """Of tensor parallelism the lower bound and what is above it, of the pipeline the law."""
    assert not isinstance(result.streamed, Impossible)
    total_s, above_s = result.streamed
    if name == "pipeline":
        further, interval_s = result.inputs - 1, result.interval_s
        first = f"{_exact(total_s - further * interval_s)} (the first input)"
        return f"{first} + {further:,} * {_exact(interval_s)} (interval) = {_exact(total_s)}"
    share_s = it.last_row_share_s
    assert not isinstance(share_s, Impossible)
    parts_s = {
        "lower bound": total_s - above_s,
        "last row's share": share_s,
        "waiting for links": above_s - share_s,
    }
    terms = (f"{_exact(part_s)} ({part})" for part, part_s in parts_s.items() if part_s)
    return f"{' + '.join(terms)} = {_exact(total_s)}"


def speed_up(it: Analysis) -> Blocks:
    """How far the nodes are used, and what more of everything would change."""
    yield "SPEED-UP"
    yield filled(
        "With whole-tensor transfers and ample SRAM. Speed-up: how many times as fast as one node"
        " alone. Utilisation: speed-up / P, the share of the time in which the nodes compute. Idle:"
        " nodes without a layer. Bottleneck: the longest stage, that is, the longest time for which"
        " an input keeps the same nodes and links busy."
    )
    for latency_of in (analysis.one_node_latency, analysis.data_parallel_latency):
        yield _with_times(latency_of, it.latencies(latency_of))
    head = ["inputs", "strategy", "speed-up", "utilisation %", "idle", "bottleneck"]
    rows = [
        [inputs, name, each.speed_up, 100 * each.utilisation, each.idle_nodes, each.bottleneck]
        for inputs in it.counts
        for name, each in _results(it, inputs).items()
    ]
    yield table(head, rows)
    yield "Speed-up from doubling one resource, if that is possible:"
    doubled = [
        [each.inputs, name, each.speed_up, each.twice]
        for name, strategy in it.strategies.items()
        if isinstance(strategy, Strategy)
        for each in strategy.doubling
    ]
    yield table(["inputs", "strategy", "speed-up", "twice"], doubled)
    yield from _reasons(it.impossible.values())


def best_plans(it: Analysis) -> Blocks:
    """Other ways to split the layers, and slower links."""
    from report import compare  # the page needs no search

    yield "PLANS"
    more = "`python3 report plans --all`"
    yield from compare.best_plans_text(it.plans, it.question, more=more)
    yield from compare.faster_text(it.plans, it.question)


READINGS = """\
Q2's sample block   four lines as in Q1 (the sample repeats two and omits one)
GOPS, GB/s, KB      10^9 ops/s, 10^9 bytes/s, 1,024 bytes
one by one          no batches; tensor parallelism takes one input at a time
initial inputs      already wherever they are needed
final output        on one node: gathered, or where the last layer is
ring of 4 links     one-way, like the 12 links all-to-all
SRAM                one input at a time, without queued inputs or stored outputs"""


def readings(it: Analysis) -> Blocks:
    """What a grader compares other numbers with."""
    yield "READINGS OF THE HANDOUT"
    counts = " and for ".join(count(inputs, "input") for inputs in it.counts)
    told = (
        f"Other readings and common mistakes, one change at a time: seconds for {counts}, bytes for"
        f" {count(it.inputs, 'input')}. `python3 report check` recognises them."
    )
    yield f"{READINGS}\n{filled(told)}"
    for strategy in it.possible:
        found: dict[str, dict[int, Answer]] = {}
        for each in it.readings:
            if each.strategy == strategy:
                reading = ", ".join(each.changes) or "as read here"
                found.setdefault(reading, {})[each.inputs] = each
        head = [*["one input s", "all inputs s"][: len(it.counts)], "all inputs bytes", "reading"]
        rows = [
            [*(by[n].latency_s for n in it.counts), by[it.inputs].traffic_bytes, reading]
            for reading, by in found.items()
        ]
        yield f"{strategy.upper()} PARALLELISM\n{table(head, rows)}"
    yield from _reasons(it.impossible.values())


# ------------------------------------------------ words and numbers


def _legend(it: Analysis) -> str:
    """What was asked, and the meaning of what formulas are made of."""
    return filled(
        f"{_in_symbols(it)}. R: ops/s of a node (GOPS: 10^9). B: bytes/s of a one-way link (GB/s:"
        " 10^9). A layer costs C ops (1 MAC is 2 ops) and has A bytes of output; a shard of it, a"
        " node's part, has S = A / P bytes."
    )


def _told(formula: object) -> str:
    """A docstring without its paragraph on errors; tables stay as they are."""
    from inspect import getdoc  # a slow import that the page does not need

    told = [text for text in (getdoc(formula) or "").split("\n\n") if not text.startswith("Raises")]
    return "\n\n".join(text if "  " in text else filled(text) for text in told)


def _with_times(formula: object, found: Sequence[Latency]) -> str:
    """The docstring, and what one input and all take by it."""
    times = (f"{_exact(each.latency_s)} for {count(each.inputs, 'input')}" for each in found)
    return filled(f"{_told(formula)} That takes {' and '.join(times)}.")


def _reasons(found: Iterable[object]) -> Blocks:
    """Why some of it is not possible, each reason once."""
    impossible = (each for each in found if isinstance(each, Impossible))
    yield from (filled(f"{each.reason}.") for each in dict.fromkeys(impossible))


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

TOPICS = {
    "model": (model, "the latency formula, and the CNN layer by layer"),
    "tensor": (tensor, "tensor parallelism, step by step"),
    "pipeline": (pipeline, "pipeline parallelism, step by step, and where its time goes"),
    "sram": (what_fits, "what each node must hold (Q3)"),
    "ring": (ring, "both topologies side by side (Q4)"),
    "streaming": (
        row_streaming,
        "row streaming (each row sent once it is computed), the lower bound",
    ),
    "speedup": (speed_up, "speed-up over one node, and from doubling a resource"),
    "plans": (best_plans, "other ways to split the layers over the nodes"),
    "readings": (readings, "other readings of the handout, and what they give"),
}
ALL = "all"


def explain(question: Question, topics: Sequence[str] = ()) -> str:
    """Topics by their names, or the page if there are none. Raises ValueError as Analysis does, and
    if neither strategy is possible."""
    it = Analysis(question)
    check_possible(it.network, it.system)
    if not topics:
        return "\n\n".join(page(it))
    try:
        names = dict.fromkeys(map(_topic, topics))
    except ArgumentTypeError as error:
        raise ValueError(f"topic: {error}") from None
    chosen = TOPICS if ALL in names else names
    return "\n\n".join([_legend(it), *chain(*(TOPICS[name][0](it) for name in chosen))])


def _topic(name: str) -> str:
    if name not in (*TOPICS, ALL):
        raise ArgumentTypeError(f"{shown(name)} is not one of {', '.join(TOPICS)}, {ALL}")
    return name


def add_options(parser: ArgumentParser) -> None:
    """Topics, what if, and --json."""
    parser.add_argument(
        "topics",
        metavar="TOPIC",
        nargs="*",
        type=_topic,
        default=(),
        help=f"{', '.join(TOPICS)}, or {ALL} (default: Q1 to Q4 on one page)",
    )
    question.add_options(parser)
    parser.add_argument(
        "--json", action="store_true", help="print all numbers as JSON, whatever the topics"
    )


def run(options: Namespace) -> str:
    """The page, topics, or every number as JSON: Fractions as the nearest float."""
    asked = question_of(options)
    if options.json:
        return json_text(analysis.as_dict(asked))
    return headed(asked, explain(asked, options.topics))
