"""Why: Q1 to Q4 on one page, and topics that derive every number, for people and as JSON.

Numbers are computed in analysis.py. What does not apply to a question is left out.
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, groupby, product
from operator import attrgetter

import lab3
from lab3 import ALL_TO_ALL, RING, ConvLayer
from report import analysis, question, streaming
from report.analysis import Analysis, Need, Result, SramResult, Strategy
from report.plans import STRATEGIES
from report.question import Impossible, Question, check_possible, headed, question_of
from report.terminal import (
    EXACT_DIGITS,
    GIGA,
    MS,
    NS,
    US,
    count,
    filled,
    is_exact,
    json_text,
    number,
    one_of,
    rounded,
    short,
    table,
)

Blocks = Iterator[str]

# ------------------------------------------------ Q1 to Q4 on one page


def page(it: Analysis) -> Blocks:
    """The answers, each with its reason."""
    yield "\n".join([filled(_asked(it)), *_terms(it)])
    for answer in QUESTIONS.values():
        yield from answer(it)
    yield f"LOWER BOUND{' AND ROW STREAMING' * bool(_streams(it))}\n{_bounds(it)}"
    sent = " except with row streaming, an output is sent once all of it is computed;"
    yield filled(
        f"Assumed: inputs are already where they are needed;{sent * _sends(it)} for latency, the"
        " SRAM is ample."
    )
    yield filled(
        f"Derivations: `python3 report explain TOPIC ...`: {', '.join(TOPICS)}, {ALL}, Q1 to Q4"
    )


def _asked(it: Analysis) -> str:
    system = it.system
    gops, gbs = (Fraction(each) / GIGA for each in (system.ops_per_s, system.link_bytes_per_s))
    return (
        f"N = {count(it.inputs, 'input')}, L = {count(len(it.network), 'layer')},"
        f" P = {count(system.nodes, 'node')}, {system.topology},"
        f" R = {number(gops)} GOPS, B = {number(gbs)} GB/s"
    )


def _terms(it: Analysis) -> Blocks:
    """What is needed to read on, if anything is sent."""
    if _sends(it):
        what = "an output"
        if "tensor" in it.possible:
            what = "an output or shard"
            yield "Shard: the part of a layer's output that one of the P nodes computes."
        yield f"Whole-tensor transfers: {what} is sent once all of it is computed."
        yield f"Row streaming: each row of {what} is sent once that row is computed."


def _sends(it: Analysis) -> bool:
    return any(each.communication_s for each in _results(it, 1).values())


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


def single(it: Analysis) -> Blocks:
    """Q1: all steps of an input follow each other."""
    said = [*_comparison(it, 1)]
    how = {"tensor": "all nodes share each layer", "pipeline": "one node at a time"}
    for name, each in _results(it, 1).items():
        if it.system.nodes > 1:
            sends = "sends nothing"
            if each.communication_s:
                sends = f"communicates for {_time(each.communication_s)}"
            computes = f"computes for {_time(each.compute_s)} ({how[name]})"
            said.append(f"{name.capitalize()} parallelism {computes} and {sends}.")
    yield f"Q1: 1 INPUT\n{_answers(it, 1)}\n{filled(' '.join(said))}"


def several(it: Analysis) -> Blocks:
    """Q2: inputs follow each other by an interval. Nothing if there is one input."""
    if it.inputs > 1:
        results = _results(it, it.inputs)
        later = ", ".join(
            f"{_time(each.interval_s)} with {name} parallelism ({each.bottleneck})"
            for name, each in results.items()
        )
        busy = ", ".join(
            f"{short(100 * each.utilisation)} % ({name})" for name, each in results.items()
        )
        said = [*_comparison(it, it.inputs), f"Each further input adds {later}."]
        said.append(f"Utilisation: {busy}.")
        head = f"Q2: {count(it.inputs, 'input').upper()}"
        yield f"{head}\n{_answers(it, it.inputs)}\n{filled(' '.join(said))}"


def _comparison(it: Analysis, inputs: int) -> Iterator[str]:
    """Which strategy is faster; for one input also that tensor parallelism sends more, which it
    does on two nodes or more."""
    results = _results(it, inputs)
    if it.system.nodes == 1 and inputs == 1:
        yield "One node does all the work and sends nothing."
    elif it.system.nodes > 1 and len(results) == 2:
        tensor, pipeline = results["tensor"], results["pipeline"]
        ratio, joint = tensor.latency_s / pipeline.latency_s, "; tensor parallelism"
        said = f"Pipeline parallelism is {short(ratio)} times as fast"
        if ratio == 1:
            said = "Both take the same time"
        elif ratio < 1:
            said, joint = f"Tensor parallelism is {short(1 / ratio)} times as fast", ", but"
        if inputs == 1:
            said += f"{joint} sends {_more(tensor.traffic_bytes, pipeline.traffic_bytes)}"
        yield f"{said}."


def _more(many_bytes: int, few_bytes: int) -> str:
    if few_bytes:
        return f"{short(Fraction(many_bytes, few_bytes))} times as many bytes"
    return f"{count(many_bytes, 'byte')} more"


def distribution(it: Analysis) -> Blocks:
    """Q3: why to distribute, data parallelism, and which answers fit."""
    needs = _fullest(it)
    said = [*_why_distribute(it)]
    for how, is_streamed in (
        ("One input at a time, whole-tensor transfers", False),
        ("Row streaming", True),
    ):
        fits = (
            _fits(name, need)
            for name, need in needs.items()
            if name != "data" and name.endswith("streamed") == is_streamed
        )
        if told := ", ".join(fits):
            said.append(f"{how}: {told}.")
    if not any(need.fits for need in needs.values()):
        said.append("None of these fits on this machine.")
    yield f"Q3: WHY DISTRIBUTE, AND DATA PARALLELISM\n{filled(' '.join(said))}"


def _why_distribute(it: Analysis) -> Iterator[str]:
    over, data = it.totals.excess_bytes, it.sram["data"]
    assert isinstance(data, SramResult)
    lacking = -data.fullest.free_bytes
    weights = f"All weights, {count(it.totals.weight_bytes, 'byte')},"
    space = f"the {count(it.system.sram_bytes, 'byte')} of SRAM per node"
    pair = "the largest layer's input and output"
    if over > 0:
        yield f"{weights} exceed {space} by {count(over, 'byte')}."
        if it.system.nodes > 1:
            yield "So the work must be distributed, and data parallelism is not possible."
    elif lacking > 0:
        yield f"{weights} fit in {space}, but leave {count(lacking, 'byte')} too few for {pair}."
        if it.system.nodes > 1:
            yield "So with whole tensors, neither one node alone nor data parallelism is possible."
    else:
        yield f"{weights} fit in {space} with {pair}, so the work need not be distributed."
        if it.system.nodes > 1:
            data_s = _time(analysis.data_parallel_latency(*it.question))
            yield f"Data parallelism is possible: {data_s} for {count(it.inputs, 'input')}."


def _fullest(it: Analysis) -> dict[str, Need]:
    """Of each strategy that is possible; where it sends nothing, without row streaming, and data
    parallelism on several nodes."""
    applies = {
        "pipeline, streamed": len(it.network) > 1,
        "data": it.system.nodes > 1,
    }
    return {
        name: found.fullest
        for name, found in it.sram.items()
        if isinstance(found, SramResult) and applies.get(name, True)
    }


def _fits(name: str, need: Need) -> str:
    """Whether the fullest node fits, and on which condition."""
    size, fits = count(need.total_bytes, "byte"), "fits" if need.fits else "does not fit"
    if name == "pipeline, streamed" and need.fits:
        fits = "fits if a row is sent only when the next node has room"
    return f"{name.split(',')[0]} {fits} ({need.where}: {size})"


def one_way_ring(it: Analysis) -> Blocks:
    """Q4: what a ring changes for one input."""
    yield f"Q4: A ONE-WAY RING\n{filled(' '.join(_ring(it)))}"


def _ring(it: Analysis) -> Iterator[str]:
    nodes = it.system.nodes
    if nodes < 3:
        links = "the same links as all-to-all" if nodes == 2 else "no links"
        yield f"A ring of {count(nodes, 'node')} has {links}, so it changes nothing."
        return
    before, after = (_results(it, 1, topology) for topology in (ALL_TO_ALL, RING))
    if "tensor" in after:
        was, now = before["tensor"], after["tensor"]
        yield (
            f"Tensor parallelism communicates for {_time(now.communication_s)} per input on a"
            f" ring, for {_time(was.communication_s)} all-to-all: {nodes - 1:,} times as long,"
            f" because the busiest link carries {nodes - 1:,} shards one after the other. So an"
            f" input takes {short(100 * (now.latency_s / was.latency_s - 1))} % longer."
        )
    if "pipeline" in after and after["pipeline"].communication_s:
        yield "Pipeline parallelism is unaffected if its layers follow the ring."
    if not _sends(it):
        yield "Nothing is sent, so a ring changes nothing."


def _bounds(it: Analysis) -> str:
    """A small table of one input and of all."""
    times_s = {
        "lower bound for any schedule": [
            each.latency_s for each in it.latencies(streaming.compute_bound)
        ]
    }
    if _streams(it):
        streamed = it.streamed_pipeline
        assert not isinstance(streamed, Impossible)
        times_s["pipeline parallelism, row streaming"] = [each.latency_s for each in streamed]
    # as many digits in each, so that none looks smaller than the bound
    rows = [
        [name, *(rounded(time_s * MS, EXACT_DIGITS) for time_s in row)]
        for name, row in times_s.items()
    ]
    return table(["latency", *(f"{count(n, 'input')} ms" for n in it.counts)], rows)


def _streams(it: Analysis) -> bool:
    """Whether a pipeline sends anything, and its rows are modelled."""
    pipeline = _results(it, 1).get("pipeline")
    has_sends = pipeline is not None and pipeline.communication_s > 0
    return has_sends and not isinstance(it.streamed_pipeline, Impossible)


QUESTIONS = {"q1": single, "q2": several, "q3": distribution, "q4": one_way_ring}

# ------------------------------------------------ topics


MODEL = """\
An input goes through steps: each computes a layer or transfers its output. A
stage is a run of steps that one input must finish before the next may start it.
The first input takes all steps one after the other; each later one finishes one
interval, the time of the longest stage, after the one before.

step time = ops of a node / R + bytes of the busiest link / B seconds
latency = sum(step times) + (N - 1) * interval
traffic = N * sum(traffic bytes of the steps)

Layers are convolutions of stride 1, without padding or pooling.

out_x = x - fx + 1
out_y = y - fy + 1
weights = filters * in_channels * fx * fy
macs = weights * out_x * out_y
ops = C = 2 * macs
weight_bytes = weights * element_bytes
input_bytes = in_channels * x * y * element_bytes
output_bytes = A = filters * out_x * out_y * element_bytes"""


def model(it: Analysis) -> Blocks:
    """The law; then the layers: what they compute, hold and send."""
    yield f"THE MODEL\n\n{MODEL}"
    head = ["layer", *ConvLayer._fields, *analysis.SIZES[:2]]
    yield table(head, _attributes(it, head[1:]))
    head = ["layer", *analysis.SIZES[3:], *analysis.BYTES]
    cells = _attributes(it, head[1:])
    sums = _sums(cells)
    sums[head.index("input_bytes")] = ""  # which is the output before it
    yield table(head, [*cells, sums])


def _attributes(it: Analysis, names: Sequence[str]) -> list[list[object]]:
    """Of each layer, behind its number."""
    return [[n, *(getattr(layer, name) for name in names)] for n, layer in enumerate(it.network, 1)]


ONE_STAGE = """\
Each node has 1 / P of each layer's filters: it computes C / P ops, which give a
shard of S bytes. Between layers an all-gather sends each shard to the P - 1
other nodes; after the last layer a gather sends P - 1 shards to one node. Only
then does the next input start, so all steps are one stage."""
COLLECTIVES = {
    ALL_TO_ALL: """\
all-gather  S / B seconds, P * (P - 1) * S bytes: each pair of nodes has a link
gather      S / B seconds, (P - 1) * S bytes

latency = N * (sum(C) / (P * R) + sum(A) / (P * B)) seconds
traffic = N * (P * (P - 1) * (S_1 + ... + S_(L-1)) + (P - 1) * S_L) bytes""",
    RING: """\
all-gather  (P - 1) * S / B seconds, P * (P - 1) * S bytes: all shards that a
            node lacks come over the one link to it
gather      (P - 1) * S / B seconds, P * (P - 1) / 2 * S bytes: shards cross 1,
            2, ... P - 1 links

latency = N * (sum(C) / (P * R) + (P - 1) * sum(A) / (P * B)) seconds
traffic = N * (P * (P - 1) * (S_1 + ... + S_(L-1)) + P * (P - 1) / 2 * S_L)
          bytes""",
}
EACH_A_STAGE = """\
Each layer has its own node, which computes C ops, then sends A bytes to the
next layer's node while it computes the next input. The last output, A_L, is not
sent. Each step is a stage, because a node or link takes one input at a time.

latency = sum(C / R) + sum(A / B) + (N - 1) * max(C / R, A / B) seconds, without
          A_L
traffic = N * (A_1 + ... + A_(L-1)) bytes"""


def tensor(it: Analysis) -> Blocks:
    """Its steps and their sums."""
    yield "TENSOR PARALLELISM"
    if "tensor" not in it.possible:
        yield from _reasons(it.impossible.values())
        return
    if it.system.nodes == 1:
        yield "One node computes all layers: latency = N * sum(C) / R seconds."
    else:
        yield f"{ONE_STAGE}\n\n{COLLECTIVES[it.system.topology]}"
    yield from _derivation("tensor", it)


def pipeline(it: Analysis) -> Blocks:
    """Its steps and their sums, and where the time goes."""
    yield "PIPELINE PARALLELISM"
    if isinstance(it.losses, Impossible):
        yield from _reasons([it.losses])
        return
    if len(it.network) == 1:
        yield "One node computes the layer and sends nothing: latency = N * C / R seconds."
    else:
        yield EACH_A_STAGE
    yield from _derivation("pipeline", it)
    if it.system.nodes == 1:
        return
    inputs, total_s = count(it.inputs, "input"), sum(it.losses)
    rows = [
        [name[:-2].replace("_", " "), part_s * MS, rounded(100 * part_s / total_s), LOSSES[name]]
        for name, part_s in it.losses._asdict().items()
        if part_s
    ]
    yield table([f"part of {inputs}", "ms", "%", "what it is"], rows)
    balanced_s = analysis.balanced_pipeline_latency(*it.question)
    yield filled(
        "P equal stages with free communication would take (P + N - 1) * sum(C) / (P * R) seconds:"
        f" {_us(balanced_s)} for {inputs}."
    )


LOSSES = {
    "ideal_compute_s": "N * sum(C) / (P * R): all nodes compute all the time",
    "idle_nodes_s": "N * (sum(C) / (L * R) - sum(C) / (P * R)): only L of P nodes have a layer",
    "load_imbalance_s": "N * (longest C / R - sum(C) / (L * R)): the L layers are unequal",
    "waiting_for_a_link_s": "N * (interval - longest C / R): a send takes longest",
    "fill_and_drain_s": "computing of one input, except for the longest step",
    "sending_s": "sends of one input, except for the longest step",
}


def _derivation(name: str, it: Analysis) -> Blocks:
    """The steps that take time, and how they add up."""
    strategy = it.strategies[name]
    assert isinstance(strategy, Strategy)
    cells: list[list[object]] = [
        [*step[:4], step.time_s * US, step.traffic_bytes] for step in strategy.steps if step.time_s
    ]
    head = ["layer", "step", "ops of a node", "bytes of a link", "time us", "traffic bytes"]
    yield table(head, [*cells, _sums(cells)])
    one, every = _results(it, 1)[name], _results(it, it.inputs)[name]
    if one.communication_s:
        parts = [("computing", 1, one.compute_s), ("communicating", 1, one.communication_s)]
        yield filled(f"1 input: {_sum_us(parts, one.latency_s)}")
    if it.inputs > 1:
        longest = f"the longest stage, {one.bottleneck}"
        parts = [("1 input", 1, one.latency_s), (longest, it.inputs - 1, one.interval_s)]
        yield filled(f"{count(it.inputs, 'input')}: {_sum_us(parts, every.latency_s)}")
    if it.inputs > 1 and one.traffic_bytes:
        sent, total = number(one.traffic_bytes), number(every.traffic_bytes)
        yield filled(f"{it.inputs:,} * {sent} = {total} bytes")


HELD = {
    "tensor": "1 / P of all weights, a layer's input, a shard of its output; finally, on the"
    " gathering node, the whole output",
    "pipeline": "its layer's weights, input and output",
    "pipeline, streamed": "its layer's weights, as many input rows as a filter is high, one row of"
    " output; but the first node holds its whole input, the last its whole output",
    "data": "all weights, a layer's input and output",
}


def what_fits(it: Analysis) -> Blocks:
    """Q3: what the fullest node of each strategy holds."""
    yield "SRAM (Q3)"
    yield filled(
        "There is no DRAM: weights stay in the SRAM throughout. Activations count for one input at"
        f" a time, not counting queued inputs or stored outputs. A node has"
        f" {count(it.system.sram_bytes, 'byte')}; for each strategy, the fullest node:"
    )
    needs = _fullest(it)
    held = HELD | ({"tensor": HELD["data"]} if it.system.nodes == 1 else {})
    names = {name: name.replace("streamed", "row streaming") for name in needs}
    for fields in (
        ("where", "layer", "total_bytes", "fits", "free_bytes"),
        ("weight_bytes", "input_bytes", "output_bytes", "total_bytes"),
    ):
        rows = [
            [names[name], *(getattr(need, field) for field in fields)]
            for name, need in needs.items()
        ]
        yield table(["strategy", *(field.replace("_", " ") for field in fields)], rows)
    yield table(["strategy", "a node holds"], [[names[name], held[name]] for name in needs])
    yield from _reasons(it.sram.values())
    if "pipeline, streamed" in needs:
        yield filled(
            "With row streaming, the pipeline needs only this much if a row is sent only when the"
            " next node has room. Then it can take longer than with ample SRAM, where rows are sent"
            " as soon as they are computed."
        )


def ring(it: Analysis) -> Blocks:
    """Q4: both topologies side by side."""
    yield "RING (Q4)"
    yield filled(" ".join(_ring(it)))
    if it.system.nodes > 2:
        head = ["topology", "inputs", "strategy", "communication us", "latency ms", "traffic bytes"]
        rows = []
        for inputs, name, topology in product(it.counts, it.possible, (ALL_TO_ALL, RING)):
            each = _results(it, inputs, topology)[name]
            times = (each.communication_s * US, each.latency_s * MS)
            rows.append([topology, inputs, name, *times, each.traffic_bytes])
        yield table(head, rows)
        if it.inputs > 1 and any(name == "pipeline" and us for _, _, name, us, *_ in rows):
            yield filled(
                "Communication is that of one input; in a pipeline it overlaps with the computing"
                " of other inputs."
            )


STREAMING = """\
With row streaming, each of a layer's out_y output rows (all filters, all x, one
y) is sent as soon as it is computed; row r of the next layer, whose filters are
fy rows high, needs the rows r to r + fy - 1. All inputs are there at time 0,
the SRAM is ample, rows keep the order of layers and inputs, and a row starts

on a node  once the node's previous row is done and the last input row that it
           needs has arrived
on a link  once it is computed and the link's previous row is gone

Pipeline parallelism: each node computes a row of its layer in C / (out_y * R)
seconds and sends it in A / (out_y * B). Each later input takes one interval
more: the longest C / R, or A / B of an output that is sent."""


def row_streaming(it: Analysis) -> Blocks:
    """Row streaming, and the lower bound."""
    yield "ROW STREAMING, AND THE LOWER BOUND"
    yield filled(
        "lower bound = N * sum(C) / (P * R) seconds: each input costs sum(C) ops, 2 per MAC, and P"
        " nodes do at most R ops per second each."
    )
    if _streams(it):
        yield STREAMING
        streamed = it.streamed_pipeline
        assert not isinstance(streamed, Impossible)
        interval_s = _results(it, 1)["pipeline"].interval_s
        for inputs, total_s in streamed:
            parts = [("1 input", 1, streamed[0].latency_s), ("interval", inputs - 1, interval_s)]
            yield filled(f"pipeline, {count(inputs, 'input')}: {_sum_us(parts, total_s)}")
    yield from _reasons([*it.impossible.values(), it.streamed_pipeline])


def speed_up(it: Analysis) -> Blocks:
    """How far the nodes are used, and what more of everything would change."""
    yield "SPEED-UP"
    yield filled(
        "With whole-tensor transfers and ample SRAM. Speed-up: how many times as fast as one node"
        " alone. Utilisation: speed-up / P, the share of the time in which the nodes compute. Idle:"
        " nodes without a layer. Bottleneck: the longest stage."
    )
    for alone, latency_of in (
        ("One node alone takes N * sum(C) / R", analysis.one_node_latency),
        ("Data parallelism takes ceil(N / P) * sum(C) / R", analysis.data_parallel_latency),
    )[: it.system.nodes]:
        found = it.latencies(latency_of)
        times = (f"{_us(each.latency_s)} for {count(each.inputs, 'input')}" for each in found)
        yield filled(f"{alone} seconds: {', '.join(times)}.")
    head = ["inputs", "strategy", "speed-up", "utilisation %", "idle", "bottleneck"]
    rows: list[list[object]] = [
        [inputs, name, *map(rounded, ratios), each.idle_nodes, each.bottleneck]
        for inputs in it.counts
        for name, each in _results(it, inputs).items()
        for ratios in [(each.speed_up, 100 * each.utilisation)]
    ]
    yield table(head, rows)
    yield "Speed-up from doubling one resource, if that is possible:"
    rows = [
        [each.inputs, name, rounded(each.speed_up), each.twice]
        for name, strategy in it.strategies.items()
        if isinstance(strategy, Strategy)
        for each in strategy.doubling
    ]
    yield table(["inputs", "strategy", "speed-up", "twice"], rows)
    yield from _reasons(it.impossible.values())


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
    inputs = count(it.inputs, "input")
    told = f"Other readings and common mistakes, one at a time; bytes are of {inputs}."
    yield f"{READINGS}\n{filled(f'{told} `python3 report check` recognises them.')}"
    head = [*(f"{count(n, 'input')} s" for n in it.counts), "bytes", "reading"]
    for strategy in it.possible:
        found = [each for each in it.readings if each.strategy == strategy]
        rows = []
        for changes, group in groupby(found, key=attrgetter("changes")):
            answers = [*group]  # of one input and of all
            times_s = [each.latency_s for each in answers]
            reading = ", ".join(changes) or "as read here"
            rows.append([*times_s, answers[-1].traffic_bytes, reading])
        yield f"{strategy.upper()} PARALLELISM\n{table(head, rows)}"
    yield from _reasons(it.impossible.values())


# ------------------------------------------------ words and numbers


def _legend(it: Analysis) -> str:
    """What was asked, and the meaning of what formulas are made of."""
    return filled(
        f"{_asked(it)}. R: ops/s of a node (GOPS: 10^9). B: bytes/s of a one-way link (GB/s: 10^9)."
        " C: ops of a layer (1 MAC is 2 ops). A: bytes of its output. S: A / P, bytes of a shard, a"
        " node's part of it."
    )


def _reasons(found: Iterable[object]) -> Blocks:
    """Why some of it is not possible, each reason once."""
    impossible = (each for each in found if isinstance(each, Impossible))
    yield from (filled(f"{each.reason}.") for each in dict.fromkeys(impossible))


def _time(seconds: Fraction) -> str:
    """Rounded, for a sentence, in the largest unit of which there is one or more."""
    units = {"s": 1, "ms": MS, "us": US, "ns": NS}
    unit = next((unit for unit, per_s in units.items() if seconds * per_s >= 1), "ns")
    return f"{short(seconds * units[unit], 5)} {unit}"


def _us(seconds: Fraction) -> str:
    return f"{number(seconds * US)} us"


Part = tuple[str, int, Fraction]  # what it is, how often it counts, its seconds


def _sum_us(parts: Sequence[Part], total_s: Fraction) -> str:
    """The parts above 0 added up, with ~ if a number is rounded."""
    counted = [(name, times, part_s * US) for name, times, part_s in parts if times * part_s]
    is_equal = all(map(is_exact, [total_s * US, *(value for *_, value in counted)]))
    terms = [
        f"{f'{times:,} * ' if times > 1 else ''}{number(value)} ({name})"
        for name, times, value in counted
    ]
    sums = f"{' + '.join(terms)} {'=' if is_equal else '~'} " if len(terms) > 1 else ""
    return f"{sums}{_us(total_s)}"


def _sums(cells: Sequence[Sequence[object]]) -> list[object]:
    """Of the columns of numbers after the first; with ~ if a number of it is rounded."""
    columns = [*zip(*cells, strict=True)][1:]
    sums = ["" if isinstance(column[0], str) else sum(column) for column in columns]
    every = chain(*columns, sums)
    is_rounded = any(isinstance(each, Fraction) and not is_exact(each) for each in every)
    return ["~ sum" if is_rounded else "sum", *sums]


# ------------------------------------------------ the command: explain

TOPICS = {
    "model": model,
    "tensor": tensor,
    "pipeline": pipeline,
    "sram": what_fits,
    "ring": ring,
    "streaming": row_streaming,
    "speedup": speed_up,
    "readings": readings,
}
ALL = "all"
_topic = one_of("topic", [*TOPICS, ALL, *QUESTIONS])


def explain(question: Question, topics: Sequence[str] = ()) -> str:
    """Topics by their names, or the page if there are none. Raises ValueError as Analysis does, and
    if neither strategy is possible."""
    it = Analysis(question)
    check_possible(it.network, it.system)
    try:
        names = dict.fromkeys(map(_topic, topics))
    except ArgumentTypeError as error:
        raise ValueError(f"topic: {error}") from None
    if "q2" in names and it.inputs == 1:
        raise ValueError("topic: Q2 is about more than 1 input")
    if not names:
        return "\n\n".join(page(it))
    every = {**QUESTIONS, **TOPICS}
    chosen = dict.fromkeys(chain(*(TOPICS if name == ALL else [name] for name in names)))
    return "\n\n".join([_legend(it), *chain(*(every[name](it) for name in chosen))])


def add_options(parser: ArgumentParser) -> None:
    """Topics, what if, and --json."""
    parser.add_argument(
        "topics",
        metavar="TOPIC",
        nargs="*",
        type=_topic,
        default=(),
        help=f"{', '.join(TOPICS)}, {ALL}, or Q1 to Q4 (default: Q1 to Q4 on one page)",
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
