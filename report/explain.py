"""The `explain` command: Q1 to Q4 on one page, topics that derive every number, and JSON."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product

import lab3
from report import derivations
from report.question import Question, add_question_options, prefix_question, read_options
from report.results import ALL_TO_ALL, ONE_WAY_RING, VERSION, Result, Results, compute_results
from report.text import (
    GIGA,
    MS,
    count,
    format_json,
    format_ms,
    format_number,
    format_rounded,
    format_table,
    join,
    join_paragraphs,
    make_word_parser,
    round_to,
    wrap,
)

SAME = Fraction("1.005")  # times as much is about the same
MOST_NODES = 8  # of a pipeline whose SRAM is listed; of a longer one the fullest


# ------------------------------------------------ what is asked
def explain_asked(results: Results) -> str:
    """Say what is asked, why a strategy is impossible, and what is left out."""
    network, system, inputs = results.asked
    asked = (
        f"{count(inputs, 'input')}, {count(len(network), 'layer')}, {count(system.nodes, 'node')},"
        f" {format_number(Fraction(system.ops_per_s) / GIGA)} GOPS per node,"
        f" {format_number(Fraction(system.link_bytes_per_s) / GIGA)} GB/s per link"
    )
    left_out = [
        f"{change} is not as delivered. What is known of this strategy's delivered formulas alone"
        " is left out: reasons, the bottleneck, where the time goes, verdict flips, the ring,"
        " other readings and mistakes."
        for change in results.changes
    ]
    impossible = [f"{why}." for why in results.impossible.values()]
    return "\n".join(map(wrap, [asked, *impossible, *left_out]))


# ------------------------------------------------ Q1 and Q2
def explain_q1(results: Results) -> str:
    """Answer Q1: latency and traffic of one input, and why."""
    found = results.find(1)
    more = {
        "compute ms": [result.compute_s * MS for result in found.values()],
        "communication ms": [result.communication_s * MS for result in found.values()],
    }
    why = [compare_latencies(results, 1), compare_traffic(results), warn_of_sram(results)]
    return join("Q1: 1 INPUT", tabulate(found, more), " ".join(filter(None, why)))


def explain_q2(results: Results) -> str:
    """Answer Q2: latency, traffic, interval, bottleneck and utilisation of all inputs."""
    inputs = results.asked.inputs
    found = results.find(inputs)
    more: dict[str, Sequence[object]] = {
        "interval ms": [result.interval_s * MS for result in found.values()],
        "bottleneck": [result.bottleneck or "unknown" for result in found.values()],
        "used %": [round_to(result.utilisation * 100) for result in found.values()],
    }
    why = [
        compare_latencies(results, inputs),
        "Interval: what a second input adds. Used = lower bound / latency; the bound, no node idle,"
        f" is {format_ms(results.bounds[-1].lower_bound_s)}.",
        describe_time_per_input(results, found),
    ]
    return join(f"Q2: {inputs:,} INPUTS", tabulate(found, more), " ".join(filter(None, why)))


def tabulate(found: dict[str, Result], more: Mapping[str, Sequence[object]]) -> str:
    """Make a table of each strategy's latency and traffic, and more columns."""
    latencies = [round_latency(result.latency_s) for result in found.values()]
    traffics = [result.traffic_bytes for result in found.values()]
    heads = "strategy", "latency s", "traffic bytes", *more
    return format_table(heads, [*zip(found, latencies, traffics, *more.values(), strict=True)])


def round_latency(latency_s: Fraction) -> Decimal:
    """Round a latency as lab3.py prints it."""
    return Decimal(lab3.format_decimal(latency_s))


def compare_latencies(results: Results, inputs: int) -> str:
    """Say which strategy is faster, and how many times; up to 1.005 times is about the same."""
    if len(results.strategies) < 2:
        return ""
    ratio = results.compare(inputs, "latency_s")
    times = max(ratio, 1 / ratio)
    if times <= SAME:
        return f"Both take {'about ' * (times > 1)}the same time."
    fast = "Tensor" if ratio > 1 else "Pipeline"
    return f"{fast} parallelism is {format_rounded(times, 3)} times as fast."


def compare_traffic(results: Results) -> str:
    """Say why tensor parallelism sends more bytes, and yet may communicate for less time."""
    found, nodes = results.find(1), results.asked.system.nodes
    if len(found) < 2 or results.changes or not found["pipeline"].traffic_bytes or nodes == 1:
        return ""
    bytes_ratio = 1 / results.compare(1, "traffic_bytes")
    time_ratio = 1 / results.compare(1, "communication_s")
    why = "each part of an output goes to all other nodes, the last layer's only to one"
    if nodes == 2:
        why = "half of the last output is sent, too"
    more = f"{format_rounded(bytes_ratio, 3)} times the" if bytes_ratio > SAME else "slightly more"
    is_faster = results.compare(1, "latency_s") > SAME
    text = f"{'It' if is_faster else 'Tensor parallelism'} sends {more} bytes, because {why}."
    if time_ratio < 2 - SAME:
        text += (
            f" Yet its communication takes {format_rounded(100 * time_ratio, 2)} % as long as the"
            f" pipeline's, on up to {nodes * (nodes - 1):,} links at once."
        )
    return text


def describe_time_per_input(results: Results, found: dict[str, Result]) -> str:
    """Give latency / N for any number of inputs, N."""
    if "pipeline" not in found or results.changes:
        return ""
    pipeline = found["pipeline"]
    interval = format_rounded(pipeline.interval_s * MS)
    fill = f" + {format_rounded(pipeline.fill_s * MS)} / N" if pipeline.fill_s else ""
    text = f"{interval}{fill} ms in the pipeline"
    if "tensor" in found:
        tensor_s = found["tensor"].interval_s
        more = ", more for any N" if tensor_s < pipeline.interval_s else ""
        text = f"{format_rounded(tensor_s * MS)} ms with tensor parallelism, {text}{more}"
    return f"Latency / N: {text}."


def warn_of_sram(results: Results) -> str:
    """Say which strategies do not fit in SRAM."""
    names = {"tensor": "Tensor parallelism", "pipeline": "The pipeline"}
    unfit = [names[name] for name in results.strategies if results.sram[name].free_bytes < 0]
    text = "does not fit in SRAM (Q3); its latency is as if it did."
    return " ".join(f"{name} {text}" for name in unfit)


# ------------------------------------------------ Q3: SRAM
def explain_q3(results: Results) -> str:
    """Answer Q3: why the work is distributed, what each node holds, and whether it fits."""
    room = results.asked.system.sram_bytes
    heads = "strategy, node", "layer", "weights", "input", "output", "sum", f"of {room:,}"
    rows = []
    for name, held in results.sram.items():
        is_listed = name == "pipeline" and len(held.uses) <= MOST_NODES
        for use in held.uses if is_listed else [held.fullest]:
            sizes = use.weight_bytes, use.input_bytes, use.output_bytes, use.total_bytes
            outcome = compare_room(use.total_bytes, room)
            rows.append((f"{name}, {use.where}", use.layer, *sizes, outcome))
    return join(
        "Q3: WHY DISTRIBUTE, AND DATA PARALLELISM",
        explain_why_distribute(results),
        format_table(heads, rows),
        " ".join(list_sram_notes(results)),
    )


def compare_room(held_bytes: int, room_bytes: int) -> str:
    """Say how many bytes are free, or too many."""
    free = room_bytes - held_bytes
    return f"{free:,} free" if free >= 0 else f"{-free:,} over"


def explain_why_distribute(results: Results) -> str:
    """Say whether one node alone could do the work, which data parallelism needs."""
    totals, lacking = results.totals, -results.sram["data"].free_bytes
    data_ms = format_ms(results.bounds[-1].data_parallel_s)
    weights = f"All weights, {totals.weight_bytes:,} bytes,"
    room = f"a node's SRAM of {results.asked.system.sram_bytes:,}"
    if lacking <= 0:
        return (
            f"{weights} fit in {room} beside any layer's input and output, so the work need not be"
            f" distributed, and data parallelism is possible: {data_ms} for"
            f" {count(results.asked.inputs, 'input')}."
        )
    why = f"fit in {room}, but {lacking:,} bytes of a layer's input and output do not"
    if totals.weights_excess_bytes > 0:
        why = f"exceed {room} by {totals.weights_excess_bytes:,}"
    nothing = " Nothing fits." if all(it.free_bytes < 0 for it in results.sram.values()) else ""
    return (
        f"{weights} {why}: so the work must be distributed, and data parallelism ({data_ms}) is"
        f" impossible.{nothing}"
    )


def list_sram_notes(results: Results) -> list[str]:
    """List what is not counted, each with a size and whether it fits."""
    inputs, room_bytes = results.asked.inputs, results.asked.system.sram_bytes
    kept, waiting, following = results.uncounted

    def judge(held_bytes: int) -> str:
        return f"{held_bytes:,} ({compare_room(held_bytes, room_bytes)})"

    notes = [
        "Inputs are in the SRAM when they are needed, at no cost; inputs that wait and"
        " outputs that are done are not counted."
    ]
    if kept:
        notes.append(
            "With tensor parallelism, a layer's input is dropped before its output is gathered; if"
            f" it is kept, a node holds {judge(kept)}."
        )
    if waiting:
        others = count(inputs - 1, "waiting input")
        notes.append(f"With {others} in every node, tensor parallelism needs {judge(waiting)}.")
    if following:
        notes.append(
            f"The pipeline's {following.where} receives its next input while it computes: it holds"
            f" at least {judge(following.total_bytes)}."
        )
    if results.totals.output_bytes > results.totals.sram_bytes and inputs > 1:
        notes.append(
            f"{count(inputs, 'output')}, {results.totals.output_bytes:,} bytes, exceed the SRAM of"
            f" all nodes together ({results.totals.sram_bytes:,}), so results must leave."
        )
    return notes


# ------------------------------------------------ Q4: ring
def explain_q4(results: Results) -> str:
    """Answer Q4: both topologies side by side, and why one strategy differs."""
    if not results.find(1, ONE_WAY_RING):
        return ""
    rows = []
    for bound, (name, strategy) in product(results.bounds, results.strategies.items()):
        direct, *rings = (it for it in strategy.results if it.inputs == bound.inputs)
        is_same = [ring._replace(topology=ALL_TO_ALL) for ring in rings] == [direct]
        for result in [direct] if is_same else [direct, *rings]:
            topology = "either" if is_same else result.topology
            times = result.communication_s * MS, round_latency(result.latency_s)
            rows.append((name, topology, f"{bound.inputs:,}", *times, result.traffic_bytes))
    heads = "strategy", "topology", "inputs", "communication ms", "latency s", "traffic bytes"
    return join("Q4: A ONE-WAY RING", format_table(heads, rows), explain_ring(results))


def explain_ring(results: Results) -> str:
    """Say what a ring changes, and why."""
    nodes = results.asked.system.nodes
    if nodes < 3:
        return "One node has no links." if nodes == 1 else "A ring of 2 nodes is all-to-all."
    direct, ring = results.find(1), results.find(1, ONE_WAY_RING)
    text = ["Communication is that of 1 input."]
    if "tensor" in ring:
        more = results.compare_ring("latency_s") - 1
        more_bytes = ring["tensor"].traffic_bytes - direct["tensor"].traffic_bytes
        text.append(
            f"On a ring, the busiest link carries {nodes - 1:,} shards (parts of an output) one"
            " after the other, all-to-all 1: so tensor parallelism takes"
            f" {format_rounded(100 * more, 3)} % longer. The last output's shards cross more links:"
            f" {more_bytes:,} bytes more per input."
        )
    if "pipeline" in ring and len(results.asked.network) > 1:
        text.append("A pipeline along the ring is unaffected: each node sends only to the next.")
    return " ".join(text)


# ------------------------------------------------ the page, the topics


QUESTIONS = {"q1": explain_q1, "q2": explain_q2, "q3": explain_q3, "q4": explain_q4}
DERIVATIONS = {
    "model": derivations.explain_model,
    "tensor": lambda results: derivations.explain_strategy(results, "tensor"),
    "pipeline": lambda results: derivations.explain_strategy(results, "pipeline"),
    "bounds": derivations.explain_bounds,
    "readings": derivations.explain_readings,
}
TOPICS = {**QUESTIONS, **DERIVATIONS, "mistakes": derivations.explain_mistakes}
WITHOUT_SYMBOLS = {"readings", "mistakes", *QUESTIONS}
ALL = "all"  # everything but mistakes
NAMES = ["Q1", "Q2", "Q3", "Q4", *DERIVATIONS, ALL, "mistakes"]
LISTED = ", ".join(NAMES).replace(ALL, f"{ALL} (everything but mistakes)")


def explain_topics(question: Question, names: Sequence[str] = ()) -> str:
    """Explain topics by their names, or write the page if there are none.

    Raises ValueError for Q2 of one input, for a topic of an impossible strategy, and as
    compute_results does.
    """
    results = compute_results(question)
    for topic in names:
        if topic in results.impossible:
            raise ValueError(results.impossible[topic])
        if topic == "q2" and question.inputs == 1:
            raise ValueError("Q2 needs --inputs 2 or more")
    page = ["q1", *["q2"] * (question.inputs > 1), "q3", "q4"]
    chosen = [it for name in names for it in ([*page, *DERIVATIONS] if name == ALL else [name])]
    more = "How every number is derived: python3 report explain all, or --help for topics."
    return join_paragraphs(
        explain_asked(results),
        *([] if {*chosen} <= WITHOUT_SYMBOLS else derivations.list_symbols()),
        *(explain_it(results) for explain_it in dict.fromkeys(TOPICS[it] for it in chosen or page)),
        "" if names else more,
    )


def add_options(parser: ArgumentParser) -> None:
    """Add topics, the what-if options, and --json."""
    parser.add_argument(
        "topics",
        metavar="TOPIC",
        nargs="*",
        type=make_word_parser("topic", NAMES),
        default=[],
        help=f"{LISTED} (default: Q1 to Q4 on one page)",
    )
    add_question_options(parser)
    parser.add_argument(
        "--json", action="store_true", help="print all numbers as JSON, whatever the topics"
    )


def run(options: Namespace) -> int:
    """Print the page, topics, or every number as JSON: Fractions as the nearest floats."""
    question = read_options(options)
    if options.json:
        print(format_json({"version": VERSION, **compute_results(question)._asdict()}))
    else:
        print(prefix_question(question, explain_topics(question, options.topics)))
    return 0
