"""The `explain` command: Q1 to Q4 on one page, topics that derive every number, and JSON."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from fractions import Fraction

import lab3
from report import question, sram
from report.question import Question, prefix_question, read_options
from report.results import VERSION, Result, Results, compute_results
from report.steps import Step, gather_hops, rounds
from report.text import (
    GIGA,
    MS,
    US,
    count,
    equals,
    format_json,
    format_ms,
    format_number,
    format_rounded,
    format_table,
    quote,
    round_to,
    suggest,
    wrap,
)

MOST_NODES = 8  # of a pipeline whose SRAM is listed; of a longer one the fullest

# ------------------------------------------------ what is asked


def explain_asked(results: Results) -> str:
    """The question, and which strategy is not possible."""
    network, system, inputs = results.asked
    asked = (
        f"{count(inputs, 'input')}, {count(len(network), 'layer')}, {count(system.nodes, 'node')},"
        f" {system.topology}, {format_number(Fraction(system.ops_per_s) / GIGA)} GOPS per node,"
        f" {format_number(Fraction(system.link_bytes_per_s) / GIGA)} GB/s per link"
    )
    return "\n".join(map(wrap, [asked, *(f"{why}." for why in results.impossible.values())]))


def find_results(results: Results, inputs: int) -> dict[str, Result]:
    """Of the possible strategies, on the machine as it is."""
    topology = results.asked.system.topology
    return {name: it.find(inputs, topology) for name, it in results.strategies.items()}


# ------------------------------------------------ Q1 and Q2


def explain_q1(results: Results) -> str:
    """One input: latency, traffic, and why."""
    found = find_results(results, 1)
    heads = "strategy", "latency s", "traffic bytes", "compute s", "communication s"
    rows = [
        (name, round_to(it.latency_s, 17), it.traffic_bytes, it.compute_s, it.communication_s)
        for name, it in found.items()
    ]
    why = [compare_latencies(found), compare_traffic(results), warn_of_sram(results)]
    return join("Q1: 1 INPUT", format_table(heads, rows), " ".join(filter(None, why)))


def explain_q2(results: Results) -> str:
    """All inputs: latency, traffic, interval, bottleneck and utilisation."""
    inputs = results.asked.inputs
    found = find_results(results, inputs)
    heads = "strategy", "latency s", "traffic bytes", "interval ms", "bottleneck", "used %"
    rows = [
        (
            *(name, round_to(it.latency_s, 17), it.traffic_bytes, it.interval_s * MS),
            *(it.bottleneck, round_to(it.utilisation * 100)),
        )
        for name, it in found.items()
    ]
    times = {
        "tensor": "of all steps with tensor parallelism",
        "pipeline": "of the bottleneck in a pipeline",
    }
    adds = ", ".join(times[name] for name in found)
    why = [
        compare_latencies(found),
        f"Each further input adds one interval: the time {adds}.",
        describe_time_per_input(found),
        f"Lower bound (all nodes always compute): {format_ms(results.bounds[-1].lower_bound_s)}.",
        "Used: the share of time in which nodes compute, on average.",
        warn_of_sram(results),
    ]
    return join(f"Q2: {inputs:,} INPUTS", format_table(heads, rows), " ".join(filter(None, why)))


def compare_latencies(found: dict[str, Result]) -> str:
    """Which strategy is faster."""
    if len(found) < 2:
        return ""
    (fast, fast_s), (_, slow_s) = sorted(
        ((name, it.latency_s) for name, it in found.items()), key=lambda pair: pair[1]
    )
    if slow_s < fast_s * Fraction("1.005"):
        return "Both take about the same time."
    what = {"tensor": "all nodes on each layer", "pipeline": "one node per layer"}[fast]
    times = format_rounded(slow_s / fast_s, 3)
    return f"{fast.capitalize()} parallelism, {what}, is {times} times as fast."


def compare_traffic(results: Results) -> str:
    """Why tensor parallelism sends more bytes, and yet may communicate for less time."""
    found = find_results(results, 1)
    system = results.asked.system
    if len(found) < 2 or not (found["pipeline"].traffic_bytes and found["tensor"].traffic_bytes):
        return ""
    bytes_ratio = Fraction(found["tensor"].traffic_bytes, found["pipeline"].traffic_bytes)
    time_ratio = found["tensor"].communication_s / found["pipeline"].communication_s
    text = (
        f"Tensor parallelism sends {format_rounded(bytes_ratio, 3)} times the bytes, because a"
        " shard (the part of an output that one node computes) goes to all other nodes; only"
        " the last output's shards go to one."
    )
    if system.topology == lab3.ALL_TO_ALL and time_ratio < 1 < bytes_ratio:
        links = system.nodes * (system.nodes - 1)
        text += (
            f" Yet it communicates for {format_rounded(100 * time_ratio, 2)} % of the pipeline's"
            f" time, because up to {links:,} links work at once."
        )
    return text


def describe_time_per_input(found: dict[str, Result]) -> str:
    """latency / N for any number of inputs, N."""
    if "pipeline" not in found:
        return ""
    it = found["pipeline"]
    fill_s = it.compute_s + it.communication_s - it.interval_s
    each, fill = (format_rounded(part_s * MS) for part_s in (it.interval_s, fill_s))
    text = f"Time per input, for any N: {each} + {fill} / N ms in the pipeline"
    if "tensor" in found:
        each = format_rounded(found["tensor"].interval_s * MS)
        text += f", {each} ms with tensor parallelism"
    return f"{text}."


def warn_of_sram(results: Results) -> str:
    """Which strategies do not fit."""
    names = {"tensor": "Tensor parallelism", "pipeline": "The pipeline"}
    unfit = [names[name] for name in results.strategies if results.sram[name].free_bytes < 0]
    return " ".join(f"{it} does not fit in SRAM (Q3); its latency assumes enough." for it in unfit)


# ------------------------------------------------ Q3: SRAM


def explain_q3(results: Results) -> str:
    """Why the work is distributed, what each node holds, and whether it fits."""
    room = results.asked.system.sram_bytes
    heads = "strategy, node", "layer", "weights", "input", "output", "sum", f"of {room:,}"
    rows = []
    for name, held in results.sram.items():
        is_listed = name == "pipeline" and len(held.uses) <= MOST_NODES
        for use in held.uses if is_listed else [held.fullest]:
            sizes = use.weight_bytes, use.input_bytes, use.output_bytes, use.total_bytes
            rows.append(
                (f"{name}, {use.where}", use.layer, *sizes, compare_room(use.total_bytes, room))
            )
    return join(
        "Q3: WHY DISTRIBUTE, AND DATA PARALLELISM",
        explain_why_distribute(results),
        format_table(heads, rows),
        " ".join(list_sram_notes(results)),
    )


def compare_room(held_bytes: int, room_bytes: int) -> str:
    """How many bytes are free, or too many."""
    free = room_bytes - held_bytes
    return f"{free:,} free" if free >= 0 else f"{-free:,} over"


def explain_why_distribute(results: Results) -> str:
    """Whether one node alone could do the work, and with it data parallelism."""
    totals, data = results.totals, results.sram["data"]
    inputs = count(results.asked.inputs, "input")
    data_ms = format_ms(results.bounds[-1].data_parallel_s)
    weights = f"All weights, {totals.weight_bytes:,} bytes,"
    room = f"a node's SRAM of {results.asked.system.sram_bytes:,} bytes"
    if data.free_bytes >= 0:
        return (
            f"{weights} fit in {room} beside any layer's input and output, so the work need not be"
            f" distributed, and data parallelism is possible: {data_ms} for {inputs}."
        )
    if totals.weights_excess_bytes > 0:
        why = f"{weights} exceed {room} by {totals.weights_excess_bytes:,}"
    else:
        excess = -data.free_bytes
        why = f"{weights} fit in {room}, but {excess:,} bytes of a layer's input and output do not"
    return (
        f"{why}: so the work is distributed, and data parallelism is impossible. With enough SRAM"
        f" it would take {data_ms} for {inputs}."
    )


def list_sram_notes(results: Results) -> list[str]:
    """What is not counted, each with a size and whether it fits."""
    network, system, inputs = results.asked
    room = system.sram_bytes

    def judge(held_bytes: int, room_bytes: int = room) -> str:
        return f"{held_bytes:,} bytes, {compare_room(held_bytes, room_bytes)}"

    notes = [
        "Counted for one input at a time, which is in the SRAM of every node that needs it when it"
        " is needed, at no cost; inputs that wait and outputs that are done are not counted."
    ]
    if "tensor" in results.strategies and system.nodes > 1:
        kept = sram.tensor_sram_input_kept(network, system)
        notes.append(
            "Tensor parallelism drops a layer's input before it gathers the output; else a node"
            f" would hold {judge(kept)}."
        )
    if "tensor" in results.strategies and inputs > 1:
        held = sram.tensor_sram_inputs_waiting(network, system, inputs)
        waiting = count(inputs - 1, "input")
        notes.append(f"With the {waiting} that wait, every node would hold {judge(held)}.")
    if "pipeline" in results.strategies and inputs > 1 and len(network) > 1:
        use = sram.pipeline_sram_overlapping(network, system)
        notes.append(
            "A pipeline's node receives its next input while it computes:"
            f" {use.where} then holds {judge(use.total_bytes)}."
        )
    held, everywhere = results.totals.output_bytes, results.totals.sram_bytes
    outcome = (
        "exceed all SRAM, {:,}: outputs leave" if held > everywhere else "fit in all SRAM, {:,}"
    )
    notes.append(f"All outputs, {held:,} bytes, {outcome.format(everywhere)}.")
    return notes


# ------------------------------------------------ Q4: ring


def explain_q4(results: Results) -> str:
    """Both topologies side by side, and why only tensor parallelism differs."""
    heads = "inputs", "strategy", "topology", "communication s", "latency s", "traffic bytes"
    rows = []
    for inputs in sorted({1, results.asked.inputs}):
        for name, strategy in results.strategies.items():
            direct, ring = (strategy.find(inputs, it) for it in (lab3.ALL_TO_ALL, lab3.RING))
            is_same = direct._replace(topology=lab3.RING) == ring
            for it in [direct] if is_same else [direct, ring]:
                topology = "either" if is_same else it.topology
                latency_s = round_to(it.latency_s, 17)
                rows.append(
                    (inputs, name, topology, it.communication_s, latency_s, it.traffic_bytes)
                )
    return join("Q4: A ONE-WAY RING", format_table(heads, rows), explain_ring(results))


def explain_ring(results: Results) -> str:
    """What a ring changes, and why."""
    nodes = results.asked.system.nodes
    if nodes < 3:
        return f"A ring of {count(nodes, 'node')} has the links of all-to-all."
    text = []
    if "tensor" in results.strategies:
        direct, ring = (
            results.strategies["tensor"].find(1, it) for it in (lab3.ALL_TO_ALL, lab3.RING)
        )
        sums = [it * US for it in (ring.compute_s, direct.communication_s, ring.latency_s)]
        compute, communication, latency = map(format_number, sums)
        percent = format_rounded(100 * (ring.latency_s / direct.latency_s - 1), 3)
        text.append(
            f"On a ring, the busiest link carries {nodes - 1:,} shards one after the other;"
            " all-to-all, it carries 1. So tensor parallelism communicates for"
            f" {nodes - 1:,} times as long: {compute} (compute) + {nodes - 1:,} * {communication}"
            f" (communication) {equals(*sums)} {latency} us for 1 input, {percent} % more. The last"
            " output's shards cross more links, which adds"
            f" {ring.traffic_bytes - direct.traffic_bytes:,} bytes."
        )
    if "pipeline" in results.strategies and len(results.asked.network) > 1:
        text.append("A pipeline along the ring is unaffected: each node sends only to the next.")
    return " ".join(text)


# ------------------------------------------------ topics that derive

SYMBOLS = """\
N  inputs           C  ops of a layer (1 MAC is 2 ops)
L  layers           A  bytes of a layer's output; A_L of the last one's
P  nodes            S  A / P: bytes of a shard, the part that one node computes
R  ops/s of a node  B  bytes/s of a one-way link
sum and max are over all layers"""
SIZES = """\
out_x = x - fx + 1
out_y = y - fy + 1
weights = filters * in_channels * fx * fy
macs = weights * out_x * out_y
ops = C = 2 * macs
weight_bytes = weights * element_bytes
input_bytes = in_channels * x * y * element_bytes
output_bytes = A = filters * out_x * out_y * element_bytes"""


def explain_model(results: Results) -> str:
    """The layers' sizes."""
    number, *heads = results.layers[0]
    fields, amounts = [number, *heads[:9]], [number, *heads[10:]]
    summed = "macs", "ops", "weight_bytes", "output_bytes"
    return join_paragraphs(
        "THE MODEL",
        "Layers are convolutions of stride 1, without padding or pooling, one after the other.",
        SIZES,
        format_table(fields, [[layer[it] for it in fields] for layer in results.layers]),
        format_table(amounts, [[layer[it] for it in amounts] for layer in results.layers], summed),
    )


def explain_tensor(results: Results) -> str:
    """Tensor parallelism: its steps and sums."""
    if "tensor" in results.impossible:
        return ""
    system = results.asked.system
    return join_paragraphs(
        "TENSOR PARALLELISM",
        "Each node has 1 / P of each layer's filters: it computes C / P ops; the result is a shard"
        " of S bytes. Between layers an all-gather sends each shard to the P - 1 other nodes; after"
        " the last layer a gather sends P - 1 shards to one node. Only then does the next input"
        " start.",
        *list_paragraphs(lab3.tensor_parallel_latency, lab3.tensor_parallel_traffic),
        f"Here rounds = {rounds(system):,} and gather_hops = {gather_hops(system):,}.",
        format_steps(results.strategies["tensor"].steps),
        *add_up(results, "tensor"),
    )


def explain_pipeline(results: Results) -> str:
    """Pipeline parallelism: its steps and sums, and where its time goes."""
    if results.losses is None:
        return ""
    losses = results.losses
    parts = (
        (
            "ideal compute",
            losses.ideal_compute_s,
            "N * sum(C) / (P * R): all nodes compute all the time",
        ),
        (
            "load imbalance",
            losses.load_imbalance_s,
            "N * (max(C / R) - sum(C) / (P * R)): unequal layers, idle nodes",
        ),
        ("fill and drain", losses.fill_and_drain_s, "sum(C / R) of 1 input without the bottleneck"),
        (
            "communication",
            losses.communication_s,
            "sum(A / B) of 1 input without the bottleneck, and N * (interval - max(C / R))",
        ),
    )
    latency_s = sum(part_s for _, part_s, _ in parts)
    rows = [
        (part, part_s * US, round_to(part_s / latency_s * 100), what)
        for part, part_s, what in parts
    ]
    return join_paragraphs(
        "PIPELINE PARALLELISM",
        "Each layer has its own node, which computes C ops, then sends A bytes to the next layer's"
        " node while it computes the next input. The last output, A_L, is not sent.",
        *list_paragraphs(lab3.pipeline_parallel_latency, lab3.pipeline_parallel_traffic),
        format_steps(results.strategies["pipeline"].steps),
        *add_up(results, "pipeline"),
        f"Where the time of {count(results.asked.inputs, 'input')} goes:",
        format_table(("part", "us", "%", "formula"), rows, summed=["us"]),
    )


def list_paragraphs(*functions: Callable[..., object]) -> list[str]:
    """The docstrings of lab3.py's formulas."""
    texts = [function.__doc__ or "" for function in functions]  # none with python -OO
    return [" ".join(part.split()) for text in texts for part in text.split("\n\n") if part.strip()]


def format_steps(steps: list[Step]) -> str:
    """A row each, and their sum."""
    heads = "layer", "step", "ops of a node", "bytes of a link", "time us", "traffic bytes"
    rows = [(f"{it.layer}", *it[1:4], it.time_s * US, it.traffic_bytes) for it in steps]
    return format_table(heads, rows, summed=heads[2:])


def add_up(results: Results, strategy: str) -> list[str]:
    """The sums of one input and of all, to be checked by hand."""
    inputs = results.asked.inputs
    one, many = (find_results(results, it)[strategy] for it in (1, inputs))
    one_us, many_us, interval_us = (
        it * US for it in (one.latency_s, many.latency_s, one.interval_s)
    )
    parts_us = one.compute_s * US, one.communication_s * US
    compute, communication, latency = map(format_number, (*parts_us, one_us))
    lines = [
        f"1 input: {compute} (compute) + {communication} (communication)"
        f" {equals(*parts_us, one_us)} {latency} us"
    ]
    if inputs > 1:
        first = "" if strategy == "tensor" else f"{latency} (1 input) + "
        times = inputs if strategy == "tensor" else inputs - 1
        each = f" (the interval, {one.bottleneck})" if strategy == "pipeline" else ""
        lines += [
            f"{inputs:,} inputs: {first}{times:,} * {format_number(interval_us)}{each}"
            f" {equals(one_us, interval_us, many_us)} {format_number(many_us)} us",
            f"{inputs:,} inputs: {inputs:,} * {one.traffic_bytes:,} = {many.traffic_bytes:,} bytes",
        ]
    return lines


def explain_bounds(results: Results) -> str:
    """How far from the lower bound."""
    heads = ["latency, us", *(count(it.inputs, "input") for it in results.bounds), "formula"]
    rows: list[tuple[object, ...]] = []

    def add(name: str, latencies_s: list[Fraction], formula: str) -> None:
        rows.append((name, *(it * US for it in latencies_s), formula))

    def latencies(strategy: str) -> list[Fraction]:
        return [find_results(results, it.inputs)[strategy].latency_s for it in results.bounds]

    add("lower bound", [it.lower_bound_s for it in results.bounds], "N * sum(C) / (P * R)")
    text = [
        "No schedule takes less than the lower bound: each input costs sum(C) ops, 2 per MAC, and P"
        " nodes do at most R ops per second each."
    ]
    if "tensor" in results.strategies:
        add("tensor", latencies("tensor"), "lower bound + N * communication")
        communication_us = find_results(results, 1)["tensor"].communication_s * US
        text.append(
            "Tensor parallelism takes N * communication more, on either topology; here 1 input"
            f" communicates for {format_number(communication_us)} us."
        )
    if "pipeline" in results.strategies:
        slowest_s = [it.slowest_node_s for it in results.bounds if it.slowest_node_s is not None]
        add("slowest node", slowest_s, "N * max(C / R)")
        add("pipeline", latencies("pipeline"), "1 input + (N - 1) * interval")
        text.append("A pipeline takes at least as long as its slowest node computes.")
    text.append("Data parallelism sends nothing, but needs enough SRAM (Q3).")
    data_s = [it.data_parallel_s for it in results.bounds]
    add("data", data_s, "ceil(N / P) * sum(C) / R")
    return join_paragraphs("LOWER BOUNDS", " ".join(text), format_table(heads, rows))


# ------------------------------------------------ readings of the handout

READINGS = (  # what, how it is read, and the clauses of `check` that read it otherwise
    ("Q2's lines", "the same four as Q1's; the sample repeats two, and lacks pipeline traffic"),
    ("precision", "activations are FP16 like the weights: 2 bytes per element"),
    ('"reduced by 2"', "x - fx + 1: stride 1, no padding, no pooling"),
    ("GOPS", "10^9 ops/s", "GOPS are 2^30 ops/s"),
    ("GB/s", "10^9 bytes/s", "GB/s are 2^30 bytes/s", "GB/s are Gbit/s"),
    ("KB of SRAM", "1,024 bytes"),
    (
        *("initial inputs", "each is in the SRAM where it is needed when it is needed, at no cost"),
        "the network's input is sent, too",
    ),
    (
        *("one by one", "no batches: a pipeline overlaps inputs, tensor parallelism does not"),
        *("a node does not compute while it sends", "inputs do not overlap"),
    ),
    ("transfers", "start when a whole output, or a node's shard of it, is computed"),
    ("traffic", "a byte counts on each link that it crosses"),
    ("final output", "complete on one node", "the last output goes to all nodes"),
    ("ring", "one-way, from each node to the next, like the 12 one-way links of all-to-all"),
)


def explain_readings(results: Results) -> str:
    """How the handout is read, and what other readings and common mistakes would give."""
    from report.check.model import list_readings  # only this topic needs it

    rows = [
        (what, "; another reading: ".join(filter(None, [read_as, " or ".join(others)])))
        for what, read_as, *others in READINGS
    ]
    inputs = [it.inputs for it in results.bounds]
    heads = [*(f"{count(it, 'input')} s" for it in inputs), "traffic bytes", "reading"]
    blocks = []
    for name in results.strategies:
        changed = [it for it in list_readings(results.asked) if it.strategy == name]
        cells = [
            (
                *(round_to(it, 9) for it in found.latencies_s),
                found.traffic_bytes,
                found.clause or "as read here",
            )
            for found in changed
        ]
        blocks += [f"{name.capitalize()} parallelism:", format_table(heads, cells)]
    return join_paragraphs(
        "READINGS OF THE HANDOUT",
        format_table(("what", "read as"), rows),
        "Other readings and common mistakes, one at a time; traffic is that of"
        f" {count(results.asked.inputs, 'input')}.",
        *blocks,
    )


# ------------------------------------------------ the page, the topics


def join(*blocks: str) -> str:
    """Blocks of an answer, one below the other; sentences are wrapped."""
    return "\n".join(it if "\n" in it else wrap(it) for it in blocks if it)


def join_paragraphs(*blocks: str) -> str:
    """Blocks of a topic, with empty lines between them."""
    return "\n\n".join(it if "\n" in it else wrap(it) for it in blocks if it)


QUESTIONS = {"q1": explain_q1, "q2": explain_q2, "q3": explain_q3, "q4": explain_q4}
DERIVATIONS = {
    "model": explain_model,
    "tensor": explain_tensor,
    "pipeline": explain_pipeline,
    "sram": explain_q3,
    "ring": explain_q4,
    "bounds": explain_bounds,
    "readings": explain_readings,
}
TOPICS = {**QUESTIONS, **DERIVATIONS}
WITH_SYMBOLS = {"model", "tensor", "pipeline", "bounds"}
ALL = "all"
NAMES = [*DERIVATIONS, ALL, "Q1", "Q2", "Q3", "Q4"]


def explain(question: Question, topics: list[str] | tuple[str, ...] = ()) -> str:
    """Topics by their names, or the page if there are none. Raises ValueError for Q2 of one input,
    for a topic of an impossible strategy, and if neither strategy is possible."""
    results = compute_results(question)
    for topic in topics:
        if topic in results.impossible:
            raise ValueError(results.impossible[topic])
        if topic == "q2" and question.inputs == 1:
            raise ValueError("Q2 needs --inputs 2 or more")
    chosen = [*DERIVATIONS] if ALL in topics else topics
    page = ["q1", *["q2"] * (question.inputs > 1), "q3", "q4"]
    more = f"python3 report explain TOPIC derives the numbers: {', '.join(NAMES)}"
    return join_paragraphs(
        explain_asked(results),
        SYMBOLS if WITH_SYMBOLS & {*chosen} else "",
        *(explain_it(results) for explain_it in dict.fromkeys(TOPICS[it] for it in chosen or page)),
        "" if topics else more,
    )


def parse_topic(text: str) -> str:
    """A topic's name, in small letters or not."""
    if text.lower() in (*TOPICS, ALL):
        return text.lower()
    raise ArgumentTypeError(f"{quote(text)} is not a topic; {suggest(text, NAMES)}")


def add_options(parser: ArgumentParser) -> None:
    """Topics, what if, and --json."""
    parser.add_argument(
        "topics",
        metavar="TOPIC",
        nargs="*",
        type=parse_topic,
        default=[],
        help=f"{', '.join(NAMES)} (default: Q1 to Q4 on one page)",
    )
    question.add_options(parser)
    parser.add_argument(
        "--json", action="store_true", help="print all numbers as JSON, whatever the topics"
    )


def run(options: Namespace) -> int:
    """Print the page, topics, or every number as JSON: Fractions as the nearest floats."""
    asked = read_options(options)
    if options.json:
        from report.check.model import list_readings

        results = compute_results(asked)
        readings = list_readings(asked)
        print(format_json({"version": VERSION, **results._asdict(), "readings": readings}))
    else:
        print(prefix_question(asked, explain(asked, options.topics)))
    return 0
