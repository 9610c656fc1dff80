"""Why: Q1 to Q4 on one page, and topics that derive every number, for people and as JSON.

Sentences are true of every question; numbers stand in tables. What a question does not have is left
out (blocks.py). The values that are named here are computed in named.py.
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from itertools import chain

import lab3
from report import question
from report.analysis import Analysis, as_dict
from report.blocks import Block, When, texts
from report.named import named, readings
from report.question import Question, check_possible, headed, question_of
from report.terminal import json_text, one_of

ASKED = (
    "{inputs:input}, {layers:layer}, {nodes:node}, {topology}, {ops_per_s:GOPS} GOPS per node,"
    " {link_bytes_per_s:GB/s} GB/s per link"
)
REASONS = ("{tensor_reason}.", "{pipeline_reason}.")  # why a strategy is not possible

# ------------------------------------------------ Q1 to Q4 on one page

UNFIT = (
    "With whole tensors, {tensor_unfit} does not fit in SRAM (Q3); its latency assumes enough.",
    "With whole tensors, {pipeline_unfit} does not fit in SRAM (Q3); its latency assumes enough.",
)
A_RING = (
    "On a ring the busiest link carries {ring_shards:shard} (a shard: a node's part of an output)"
    " one after the other, all-to-all one, so tensor parallelism communicates for {ring_shards}"
    " times as long, and 1 input takes {ring_longer_percent} % longer.",
    "A ring of {few_nodes:node} has the links of all-to-all.",
    "{pipeline} is unaffected if consecutive layers are on consecutive nodes.",
)
Q2: list[Block] = [
    "Q2: {many} INPUTS",
    "{cases_of_all}",
    (
        "Tensor parallelism is {tensor_all_times} times as fast.",
        "Pipeline parallelism is {pipeline_all_times} times as fast.",
        "Each further input adds one interval: all steps, or the pipeline's slowest node or link.",
        "Used: how much of the time the nodes compute.",
        *UNFIT,
        "Lower bound (all nodes always compute): {lower_bound_s}.",
    ),
]
QUESTIONS: dict[str, Sequence[Block]] = {
    "q1": [
        "Q1: 1 INPUT",
        "{cases_of_one}",
        (
            "Tensor parallelism, all nodes on each layer, is {tensor_one_times} times as fast.",
            "Pipeline parallelism, one node per layer, is {pipeline_one_times} times as fast.",
            "Tensor parallelism sends {bytes_times} times the bytes: each node's part of an"
            " output goes to all other nodes, its part of the last output to one.",
            "Whole tensors are sent: an output, or a node's part of it, once all of it is"
            " computed.",
            *UNFIT,
        ),
    ],
    "q2": [When("many", Q2)],
    "q3": [
        "Q3: WHY DISTRIBUTE, AND DATA PARALLELISM",
        "{fullest_nodes}",
        (
            "All weights, {weight_bytes:byte}, exceed a node's SRAM of"
            " {sram_bytes:byte} by {weights_excess_bytes}: the work must be"
            " distributed, and data parallelism is not possible.",
            "All weights, {weight_bytes:byte}, fit in a node's SRAM of"
            " {sram_bytes:byte}, but leave {tensors_excess_bytes:byte} too few for a"
            " layer's input and output: with whole tensors, neither one node alone nor data"
            " parallelism is possible.",
            "All weights, {weight_bytes:byte}, fit in a node's SRAM of"
            " {sram_bytes:byte} beside any layer's input and output, so the work need"
            " not be distributed: one node takes {alone_s} for {inputs:input}.",
            "Data parallelism is possible: {data_s} for {inputs:input}.",
            "Counted: one input at a time, a layer's input dropped before its output is gathered.",
            "The pipeline by rows sends each output row once it is computed:"
            " {by_rows_s} for {inputs:input} in ample SRAM; in the table's, rows wait for"
            " room, which can take longer.",
        ),
    ],
    "q4": ["Q4: A ONE-WAY RING", "{ring_cases_of_one}", A_RING],
}

# ------------------------------------------------ topics

SYMBOLS = """\
N  inputs           C  ops of a layer (1 MAC is 2 ops)
L  layers           A  bytes of a layer's output; A_L of the last one's
P  nodes            S  A / P: bytes of a shard, the part that one node computes
R  ops/s of a node  B  bytes/s of a one-way link
sum and max are over all layers"""
COLLECTIVES = """\
            all-to-all             one-way ring
all-gather  S / B seconds          (P - 1) * S / B seconds
            P * (P - 1) * S bytes  P * (P - 1) * S bytes
gather      S / B seconds          (P - 1) * S / B seconds
            (P - 1) * S bytes      P * (P - 1) / 2 * S bytes"""
BY_ROWS: list[Block] = [
    (
        "By rows, or with row streaming, each of a layer's out_y output rows (all filters, all x,"
        " one y) is sent as soon as it is computed.",
        "Row r of the next layer, whose filters are fy rows high, needs the rows r to r + fy - 1.",
        "All inputs are there at time 0, the SRAM is ample, rows keep the order of layers and"
        " inputs, and a row starts",
    ),
    """\
on a node  once the node's previous row is done and the last input row that it
           needs has arrived
on a link  once it is computed and the link's previous row is gone""",
    (
        "A node computes a row in C / (out_y * R) seconds; a link sends it in A / (out_y * B).",
        "These rows follow each other without a pause, from the start of the first input to its"
        " end:",
    ),
    "{runs}",
]
TENSOR: list[Block] = [
    "TENSOR PARALLELISM",
    (
        "Each node has 1 / P of each layer's filters: it computes C / P ops, which give a shard"
        " of S bytes.",
        "Between layers an all-gather sends each shard to the P - 1 other nodes; after the last"
        " layer a gather sends P - 1 shards to one node.",
        "Only then does the next input start, so all steps are one stage: what one input must"
        " finish before the next may start it.",
    ),
    """\
latency = N * (sum(C) / (P * R) + rounds * sum(A) / (P * B)) seconds
traffic = N * (P * (P - 1) * (S_1 + ... + S_(L-1)) + gather_hops * S_L) bytes

rounds: shards that the busiest link carries, one after the other
    1      all-to-all, where each node has a link to each other node
    P - 1  on a ring, where all shards that a node lacks arrive over one link
    0      for a single node
gather_hops: links that the last layer's shards cross, all added up
    P - 1            all-to-all
    P * (P - 1) / 2  on a ring""",
    "Here rounds = {rounds} and gather_hops = {gather_hops}.",
    "{tensor_steps}",
    "1 input: {tensor_one_compute_s:us} (computing) + {tensor_one_communication_s:us}"
    " (communication) = {tensor_one_latency_s:us} us",
    "{many:input}: {many} * {tensor_one_latency_s:us} = {tensor_all_latency_s:us} us",
    "{many:input}: {many} * {tensor_one_traffic_bytes} = {tensor_all_traffic_bytes:byte}",
]
PIPELINE: list[Block] = [
    "PIPELINE PARALLELISM",
    (
        "Each layer has its own node, which computes C ops, then sends A bytes to the next"
        " layer's node while it computes the next input.",
        "The last output, A_L, is not sent.",
        "A node or a link works on one input at a time, so each step is a stage: what one input"
        " must finish before the next may start it.",
    ),
    """\
latency = sum(C / R) + sum(A / B) + (N - 1) * interval seconds
traffic = N * sum(A) bytes
interval = max(C / R, A / B)
sums and maximum without A_L""",
    "{pipeline_steps}",
    "1 input: {pipeline_one_compute_s:us} (computing) + {pipeline_one_communication_s:us}"
    " (communication) = {pipeline_one_latency_s:us} us",
    "{many:input}: {pipeline_one_latency_s:us} (1 input) + {later} *"
    " {pipeline_one_interval_s:us} (the interval, {pipeline_one_bottleneck}) ="
    " {pipeline_all_latency_s:us} us",
    "{many:input}: {many} * {pipeline_one_traffic_bytes} = {pipeline_all_traffic_bytes:byte}",
    "Where the time of {inputs:input} goes:",
    "{losses}",
]
TOPICS: dict[str, Sequence[Block]] = {
    "model": [
        "THE MODEL",
        (
            "An input goes through steps: each computes a layer or transfers its output.",
            "A stage is a run of steps that one input must finish before the next may start it.",
            "The first input takes all steps, one after the other.",
            "Each later input is done one interval after the one before it; the interval is the"
            " time of the longest stage.",
        ),
        """\
step time = ops of a node / R + bytes of the busiest link / B seconds
latency = sum(step times) + (N - 1) * interval
traffic = N * sum(traffic bytes of the steps)""",
        "Layers are convolutions of stride 1, without padding or pooling.",
        """\
out_x = x - fx + 1
out_y = y - fy + 1
weights = filters * in_channels * fx * fy
macs = weights * out_x * out_y
ops = C = 2 * macs
weight_bytes = weights * element_bytes
input_bytes = in_channels * x * y * element_bytes
output_bytes = A = filters * out_x * out_y * element_bytes""",
        "{layer_sizes}",
        "{layer_amounts}",
    ],
    "tensor": [When("tensor", TENSOR)],
    "pipeline": [When("pipeline", PIPELINE)],
    "sram": [
        "SRAM (Q3)",
        (
            "There is no DRAM: weights stay in the SRAM throughout.",
            "Activations count for one input at a time, without queued inputs and stored outputs.",
            "A node has {sram_bytes:byte}.",
            "The fullest node of each strategy, in bytes, at the layer at which it holds most:",
        ),
        "{fullest_parts}",
        "{tensor}: each node holds an equal share of all weights, a layer's input and its own part"
        " of the output. The input is dropped before the parts are sent. Finally one node holds the"
        " whole output.",
        "{pipeline}: each node holds its layer's weights, input and output.",
        "{pipeline} by rows, where each row of an output is sent as soon as it is computed: each"
        " node holds its layer's weights, as many input rows (in_channels * x * element_bytes bytes"
        " each) as a filter is high, and one row of output; but the first node its whole input, the"
        " last node its whole output. This is enough if rows wait until the next node has room,"
        " which can take longer than in ample SRAM.",
        "Data parallelism: each node holds all weights, a layer's input and output.",
    ],
    "ring": [
        "RING (Q4)",
        A_RING,
        When("other_nodes", [COLLECTIVES]),
        "{ring_cases}",
        "1 input on a ring: {tensor_one_compute_s:us} (computing) + {ring_shards} *"
        " {direct_communication_s:us} (communication) = {ring_latency_s:us} us",
        "Communication is that of 1 input; in a pipeline of {many:input}, it overlaps with the"
        " computing of others.",
    ],
    "streaming": [
        "LOWER BOUND, AND ROW STREAMING",
        "No schedule takes less than the lower bound: each input costs sum(C) ops, 2 per MAC, and P"
        " nodes do at most R ops per second each.",
        "{tensor} takes the lower bound + N * communication, on a ring, too; its communication of"
        " 1 input takes {tensor_one_communication_s:us} us.",
        "{pipeline} takes at least as long as its slowest node computes, by rows or not. Each later"
        " input is done one interval after the one before: {pipeline_one_interval_s:us} us, the"
        " longest C / R, or A / B of an output that is sent.",
        "{bounds}",
        "{by_rows_reason}.",
        When("by_rows_s", BY_ROWS),
    ],
    "speedup": [
        "SPEED-UP",
        "Speed-up: how many times as fast as one node, with ample SRAM. Used: speed-up / P, how"
        " much of the time the nodes compute, on average. With tensor parallelism, both are the"
        " same for any number of inputs.",
        "{speed_ups}",
        "For comparison, without communication; P equal stages are a balanced pipeline:",
        "{others}",
        "How many times as fast with twice as much of one resource, if that is possible:",
        "{doubling}",
    ],
    "readings": [
        "READINGS OF THE HANDOUT",
        "lab3.py opens with them:",
        (lab3.__doc__ or "").strip(),  # none with python -OO
        "Other readings and common mistakes, one at a time; traffic is that of {inputs:input}.",
        "{tensor}:",
        "{tensor_readings}",
        "{pipeline}:",
        "{pipeline_readings}",
    ],
}
NO_SYMBOLS = {"sram", "readings", *QUESTIONS}  # topics without formulas of symbols
ALL = "all"
MORE = (
    f"Derivations and sums: `python3 report explain TOPIC ...`: {', '.join(TOPICS)}, {ALL}, Q1 to"
    " Q4"
)

# ------------------------------------------------ the command: explain

_topic = one_of("topic", [*TOPICS, ALL, *QUESTIONS])


def explain(question: Question, topics: Sequence[str] = ()) -> str:
    """Topics by their names, or the page if there are none. Raises ValueError for a name that is no
    topic, for Q2 of one input, and if neither strategy is possible."""
    check_possible(question.network, question.system)
    try:
        names = dict.fromkeys(map(_topic, topics))
    except ArgumentTypeError as error:
        raise ValueError(f"topic: {error}") from None
    if "q2" in names and question.inputs == 1:
        raise ValueError("topic: Q2 is about more than 1 input")
    numbers = Analysis(question)
    values, blocks = named(numbers), {**QUESTIONS, **TOPICS}
    chosen = dict.fromkeys(chain(*(TOPICS if name == ALL else [name] for name in names)))
    if "readings" in chosen:
        values |= readings(numbers)
    symbols = [] if {*chosen} <= NO_SYMBOLS else [SYMBOLS]
    said = [*texts([ASKED, REASONS, *symbols], values)]
    for name in chosen or QUESTIONS:
        found = texts(blocks[name], values)
        said += ["\n".join(found)] if name in QUESTIONS else found
    said += [] if names else texts([MORE], values)
    return "\n\n".join(filter(None, said))


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
        return json_text(as_dict(asked))
    return headed(asked, explain(asked, options.topics))
