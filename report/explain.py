"""The `explain` command: Q1 to Q4 on one page, topics that derive every number, and JSON."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import product

import lab3
from report import InputError, derivations
from report.options import add_question_options, read_options
from report.question import (
    Question,
    find_impossible,
    list_parts,
    list_possible,
    make_models,
    prefix_question,
)
from report.results import ALL_TO_ALL, ONE_WAY_RING, compute_bound, find_results, list_numbers
from report.sram import SramUse, find_fullest, fits, list_sram, list_uncounted
from report.text import (
    MS,
    count,
    find_name,
    format_json,
    format_rounded,
    format_table,
    join_blocks,
    round_apart,
    round_to,
)

MOST_NODES = 8  # of a pipeline listed whole; of a longer one, only the fullest


# ------------------------------------------------ what is asked
def describe_asked(question: Question) -> str:
    """Describe the question, and say why a strategy is impossible."""
    inputs, nodes, gops, gb_per_s, *_ = (text for _, text in list_parts(question))
    layers = count(len(question.network), "layer")
    asked = f"{inputs}, {layers}, {nodes}, {gops} per node, {gb_per_s} per link"
    impossible = [f"{why}." for why in find_impossible(question).values()]
    return join_blocks(asked, *impossible, gap="\n")


# ------------------------------------------------ Q1 and Q2
def explain_q1(question: Question) -> str:
    """Answer Q1: latency and traffic of one input, and why."""
    heads = "strategy", "latency s", "traffic bytes", "compute ms", "communication ms"
    rows = []
    for name, result in find_results(question, 1).items():
        times = result.compute_s * MS, result.communication_s * MS
        rows.append((name, round_latency(result.latency_s), result.traffic_bytes, *times))
    why = [describe_speed(question, 1), describe_traffic(question)]
    if unfit := " and ".join(name for name in list_possible(question) if not fits(question, name)):
        why.append(f"SRAM is too small for {unfit} parallelism (Q3); latency assumes enough.")
    table = format_table(heads, rows)
    return join_blocks("Q1: 1 INPUT", table, " ".join(filter(None, why)), gap="\n")


def explain_q2(question: Question) -> str:
    """Answer Q2: latency, traffic, interval, bottleneck and utilisation of all inputs."""
    heads = "strategy", "latency s", "traffic bytes", "interval ms", "bottleneck", "used %"
    inputs, rows, times = question.inputs, [], []
    for name, result in find_results(question, inputs).items():
        used = round_apart(100 * result.utilisation, 4, 100)
        pace = result.interval_s * MS, result.bottleneck or "none", used
        rows.append((name, round_latency(result.latency_s), result.traffic_bytes, *pace))
        rest_s = result.latency_s - inputs * result.interval_s
        rest = f" + {format_rounded(rest_s * MS, 4)} / N" if rest_s else ""
        times.append(f"{name} {format_rounded(result.interval_s * MS, 4)}{rest}")
    bound_ms = format_rounded(compute_bound(question, "lower bound", inputs) * MS, 4)
    speed, table = describe_speed(question, inputs), format_table(heads, rows)
    words = (
        "Interval: the time that each further input adds. Used: lower bound / latency; the bound,"
        f" with no node idle, is {bound_ms} ms. Latency / N in ms: {', '.join(times)}."
    )
    return join_blocks(f"Q2: {inputs:,} INPUTS", table, f"{speed} {words}".lstrip(), gap="\n")


def round_latency(latency_s: Fraction) -> Decimal:
    """Round a latency as lab3.py prints it."""
    return Decimal(lab3.format_decimal(latency_s))


def describe_speed(question: Question, inputs: int) -> str:
    """Say which strategy is faster, and how many times."""
    if find_impossible(question):
        return ""
    tensor_s, pipeline_s = (result.latency_s for result in find_results(question, inputs).values())
    times = max(pipeline_s / tensor_s, tensor_s / pipeline_s)
    if round_to(times, 3) == 1:
        return f"Both take {'about ' * (times > 1)}the same time."
    faster = "Tensor" if tensor_s < pipeline_s else "Pipeline"
    return f"{faster} parallelism is {format_rounded(times, 3)} times as fast."


def describe_traffic(question: Question) -> str:
    """Compare both strategies' traffic and communication time per input, if both send."""
    results, nodes = find_results(question, 1), question.system.nodes
    if len(results) < 2 or not all(result.traffic_bytes for result in results.values()):
        return ""
    tensor, pipeline = results.values()
    times = round_apart(Fraction(tensor.traffic_bytes, pipeline.traffic_bytes), 3, 1)
    percent = round_apart(100 * tensor.communication_s / pipeline.communication_s, 2, 100)
    return (
        f"Tensor parallelism sends {times:,f} times the bytes: each part of an output goes to all"
        f" other nodes, the last layer's to one. Its communication takes {percent:,f} % as long,"
        f" on up to {nodes * (nodes - 1):,} links at once."
    )


# ------------------------------------------------ Q3: SRAM
def explain_q3(question: Question) -> str:
    """Answer Q3: why the work is distributed, what each node holds, and whether it fits."""
    last = f"of {question.system.sram_bytes:,}"
    heads = "strategy, node", "layer", "weights", "input", "output", "sum", last
    rows = []
    for name in [*list_possible(question), "data"]:
        uses = list_sram(question, name)
        if name != "pipeline" or len(uses) > MOST_NODES:
            uses = [find_fullest(uses)]
        for use in uses:
            sizes = use.weight_bytes, use.input_bytes, use.output_bytes, use.total_bytes
            room = describe_room(question, use)
            rows.append((f"{name}, {use.where}", use.layer, *sizes, room))
    return join_blocks(
        "Q3: WHY DISTRIBUTE, AND DATA PARALLELISM",
        describe_distribution(question),
        format_table(heads, rows),
        " ".join(list_sram_notes(question)),
        gap="\n",
    )


def describe_room(question: Question, use: SramUse) -> str:
    """Say how many bytes are free, or too many."""
    free_bytes = question.system.sram_bytes - use.total_bytes
    return f"{abs(free_bytes):,} {'free' if free_bytes >= 0 else 'over'}"


def describe_distribution(question: Question) -> str:
    """Say whether one node alone could do the work, which data parallelism needs."""
    fullest, room_bytes = find_fullest(list_sram(question, "data")), question.system.sram_bytes
    data_ms = format_rounded(compute_bound(question, "data", question.inputs) * MS, 4)
    yes, no = ("fit in", "need not", "possible"), ("exceed", "must", "impossible")
    fit, need, possible = yes if fits(question, "data") else no
    excess_bytes = fullest.weight_bytes - room_bytes
    alone = f"; the weights alone exceed it by {excess_bytes:,}" if excess_bytes > 0 else ""
    return (
        f"All weights ({fullest.weight_bytes:,}) and a layer's input and output, in all up to"
        f" {count(fullest.total_bytes, 'byte')}, {fit} a node's SRAM of {room_bytes:,}{alone}. So"
        f" the work {need} be distributed, and data parallelism ({data_ms} ms) is {possible}."
    )


def list_sram_notes(question: Question) -> list[str]:
    """List the uses of SRAM that are not counted, each with a size and whether it fits."""
    texts = {
        "input kept": "With tensor parallelism, a layer's input is dropped before its output is"
        " gathered; if it is kept, a node holds {}.",
        "inputs waiting": f"With {count(question.inputs - 1, 'waiting input')} in every node,"
        " tensor parallelism needs {}.",
        "next input": "The pipeline's {where} receives its next input while it computes: it holds"
        " at least {}.",
    }
    notes = [
        "Inputs are in the SRAM when they are needed, at no cost; inputs that wait and"
        " outputs that are done are not counted."
    ]
    for name, use in list_uncounted(question).items():
        held = f"{use.total_bytes:,} ({describe_room(question, use)})"
        notes.append(texts[name].format(held, where=use.where))
    return notes


# ------------------------------------------------ Q4: ring
def explain_q4(question: Question) -> str:
    """Answer Q4: both topologies side by side, and why one strategy differs."""
    rows: list[tuple[object, ...]] = []
    for inputs, name in product(question.amounts, list_possible(question)):
        is_same = name == "pipeline" or question.system.nodes < 3
        for topology in [ALL_TO_ALL] if is_same else [ALL_TO_ALL, ONE_WAY_RING]:
            result = find_results(question, inputs, topology)[name]
            words = "either" if is_same else topology
            communication_ms = result.communication_s * MS if inputs == 1 else ""
            sums = round_latency(result.latency_s), result.traffic_bytes
            rows.append((name, words, f"{inputs:,}", communication_ms, *sums))
    heads = "strategy", "topology", "inputs", "communication ms", "latency s", "traffic bytes"
    table = format_table(heads, rows)
    return join_blocks("Q4: A ONE-WAY RING", table, describe_ring(question), gap="\n")


def describe_ring(question: Question) -> str:
    """Say what a ring changes, and why."""
    nodes = question.system.nodes
    if nodes < 3:
        return "With fewer than 3 nodes, a ring is all-to-all."
    direct, ring = find_results(question, 1), find_results(question, 1, ONE_WAY_RING)
    text = []
    if "tensor" in ring:
        growth = ring["tensor"].latency_s / direct["tensor"].latency_s - 1
        added_bytes = ring["tensor"].traffic_bytes - direct["tensor"].traffic_bytes
        text.append(
            f"On a ring, the busiest link carries {nodes - 1:,} shards (parts of an output) one"
            " after the other; all-to-all, it carries 1. So tensor parallelism takes"
            f" {format_rounded(100 * growth, 3)} % longer. The last output's shards cross more"
            f" links: {count(added_bytes, 'byte')} more per input."
        )
    if "pipeline" in ring and len(question.network) > 1:
        text.append("A pipeline along the ring is unaffected: each node sends only to the next.")
    return " ".join(text)


# ------------------------------------------------ the page, the topics
TOPICS: dict[str, Callable[[Question], str]] = {
    "Q1": explain_q1,
    "Q2": explain_q2,
    "Q3": explain_q3,
    "Q4": explain_q4,
    "model": derivations.explain_model,
    "tensor": partial(derivations.explain_strategy, strategy="tensor"),
    "pipeline": partial(derivations.explain_strategy, strategy="pipeline"),
    "bounds": derivations.explain_bounds,
    "readings": derivations.explain_readings,
    "mistakes": derivations.explain_mistakes,
}
WITH_SYMBOLS = {"model", "tensor", "pipeline", "bounds"}
ALL = "all"  # everything but mistakes


def explain_topics(question: Question, names: Sequence[str] = ()) -> str:
    """Explain topics by their names, or write the page if there are none. Raises InputError for
    Q2 of one input and for a topic of an impossible strategy, and the InputErrors of make_models.
    """
    make_models(question)  # refuses a lab3.py that disagrees with its docstrings
    refusals = {"Q2": "Q2 needs --inputs 2 or more"} if question.inputs == 1 else {}
    refusals |= find_impossible(question)
    for name in names:
        if name in refusals:
            raise InputError(refusals[name])
    possible = [name for name in TOPICS if name not in (*refusals, "mistakes")]
    groups = {ALL: possible, "": [name for name in possible if name.startswith("Q")]}
    chosen = [topic for name in names or [""] for topic in groups.get(name, [name])]
    hint = "How every number is derived: python3 report explain all, or --help for topics."
    return join_blocks(
        describe_asked(question),
        *([] if WITH_SYMBOLS.isdisjoint(chosen) else derivations.quote_lab3("Symbols of formulas")),
        *(TOPICS[name](question) for name in dict.fromkeys(chosen)),
        "" if names else hint,
    )


def add_options(parser: ArgumentParser) -> None:
    """Add topics, the what-if options, and --json."""
    topics = f"{', '.join(TOPICS)}, {ALL} (all but mistakes); by default Q1 to Q4 on one page"
    parser.add_argument("topics", metavar="TOPIC", nargs="*", help=topics)
    add_question_options(parser)
    parser.add_argument("--json", action="store_true", help="print all numbers as JSON instead")


def run(options: Namespace) -> int:
    """Print the page, topics, or every number as JSON: Fractions as the nearest floats."""
    question = read_options(options)
    names = [find_name(word, "topic", [*TOPICS, ALL]) for word in options.topics]
    if options.json:
        print(format_json(list_numbers(question)))
    else:
        print(prefix_question(question, explain_topics(question, names)))
    return 0
