"""The mistakes that `check` knows, and other readings of the handout.

A mistake is a row: a clause after "if", an edit of the formulas (report/model.py), and, if it is
another reading of the handout, what the handout says against it. An edit must work for any network
and number of nodes, and with any other mistake's edit. To add a mistake, see tests/README.md.
"""

import re
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from report import InputError
from report.model import KINDS, RING, STRATEGIES, Model, parse
from report.question import Question, list_possible
from report.text import Exact, format_number


class Line(NamedTuple):
    """A line of the answers. (A text has rows.)"""

    question: str  # Q1 or Q2
    strategy: str
    kind: str  # latency or traffic

    def __str__(self) -> str:
        return " ".join(self)


def list_lines(question: Question) -> list[Line]:
    """List the lines that the handout asks for, without those of impossible strategies."""
    names = ("Q1", "Q2") if question.inputs > 1 else ("Q1",)
    return [Line(*words) for words in product(names, list_possible(question), KINDS)]


class Mistake(NamedTuple):
    """A difference between somebody's computation and lab3.py's."""

    clause: str  # follows "if"; N is the number of inputs
    edit: str
    strategies: tuple[str, ...] = STRATEGIES
    handout: str = ""  # follows "the handout says": its words against this reading

    def describe(self, question: Question) -> str:
        """Return the clause, with numbers in the place of its formulas of N, layers and nodes."""
        model = Model("pipeline", *question)
        model.given |= {"layers": model["L"], "nodes": model["P"]}
        return FORMULA.sub(lambda formula: format_number(model.evaluate(formula[0])), self.clause)

    @property
    def names(self) -> frozenset[str]:
        """Return the names that this mistake edits."""
        return frozenset(formula.name for formula in parse(self.edit))


FORMULA = re.compile(r"(?:\(N [^)]*\)|\bN\b)(?: [-+/] (?:1|layers|nodes)\b)*")  # in a clause
GIGA_IS = '"giga operations per second", and giga is 10^9'
BYTES = '"traffic (in bytes)", so B is a byte'
OVERLAP = 'that a node is "simultaneously working on the next batch"'
INPUT = 'that "the initial inputs are already in the SRAM"'
END = 'that the output is "stored in a single node"'

# fmt: off
BOTH = [
    ("an element is 1 byte", "element_bytes = 1"),
    ("an element is 4 bytes (FP32)", "element_bytes = 4"),
    ("16 bits are counted as 16 bytes", "element_bytes = 16"),
    ("each output is as large (x and y) as its layer's input", "out_x = x; out_y = y"),
    ("ops are counted with the input's x and y, not the output's", "macs = weights * x * y"),
    ("outputs are sent with the input's x and y", "output_bytes = filters * x * y * element_bytes"),
    ("each layer's input is sent, not its output", "output_bytes = input_bytes"),
    ("layer 1 has as many input channels as filters",
     "macs = put(macs, 0, (filters * filters * fx * fy * out_x * out_y)[0])"),
    ("the input channels are forgotten", "macs = macs / in_channels"),
    ("a filter's width and height are forgotten", "macs = macs / fx / fy"),
    ("the filters are forgotten in the ops", "macs = macs / filters"),
    ("the last layer is missing", "C = C[:-1] or C; A = A[:-1] or A"),
    ("a MAC counts as 1 op", "ops = macs"),
    ("each output has an extra op, such as for a bias", "ops = ops + filters * out_x * out_y"),
    ("each output has 2 extra ops, such as for a bias", "ops = ops + 2 * filters * out_x * out_y"),
    ("each output has one addition fewer than products", "ops = ops - filters * out_x * out_y"),
    ("layer 1 is not computed", "C = put(C, 0, 0)"),
    ("the last layer is not computed", "C = put(C, L - 1, 0)"),
    ("layer 1's output is not sent", "A = put(A, 0, 0)"),
    ("GOPS are 2^30 ops/s", "R = R * 2**30 / 10**9", GIGA_IS),
    ("G is 2^30, in GOPS and GB/s", "R = R * 2**30 / 10**9; B = B * 2**30 / 10**9", GIGA_IS),
    ("all nodes together have the GOPS of one", "R = R / P"),
    ("a node has a tenth of its GOPS", "R = R / 10"),
    ("a node has half of its GOPS", "R = R / 2"),
    ("a node has ten times its GOPS", "R = 10 * R"),
    ("GB/s are 2^30 bytes/s", "B = B * 2**30 / 10**9", GIGA_IS),
    ("GB/s are read as Gbit/s", "B = B / 8", BYTES),
    ("links have a tenth of their bandwidth", "B = B / 10"),
    ("links have half the bandwidth", "B = B / 2"),
    ("links have ten times their bandwidth", "B = 10 * B"),
    ("all links together have the bandwidth of one", "B = B / links"),
    ("a node's links share the bandwidth of one", "B = B / max(1, P - 1)"),
    ("communication takes no time", "transfer = 0 * transfer"),
    ("a layer takes the longer of computing and sending, not their sum",
     "one_input = sum(map(max, compute, join(transfer, 0)[:L]))"),
    ("all inputs take as long as one", "latency = one_input"),
    ("N inputs take N / nodes times as long as one", "latency = one_input * (N / P if Q2 else 1)"),
    ("Q2 repeats Q1", "N = 1"),
    ("Q2 is of N - 1 inputs", "N = N - Q2"),
    ("Q2 is of N + 1 inputs, or Q1's number is in it", "N = N + Q2"),
    ("Q2's latency is per input, not of all", "latency = latency / N"),
    ("Q2's traffic repeats Q1's", "traffic = traffic / N"),
    ("the weights are sent, too", "traffic = traffic + sum(weight_bytes)"),
    ("the weights are sent, too, for each input", "traffic = traffic + N * sum(weight_bytes)"),
    ("traffic is in elements, not bytes", "printed_traffic = printed_traffic / max(element_bytes)"),
    ("traffic is counted in bits", "printed_traffic = 8 * printed_traffic"),
    ("traffic counts each byte twice, sent and received", "printed_traffic = 2 * printed_traffic"),
    ("traffic is that of one node on average", "printed_traffic = printed_traffic / P"),
    ("each latency is 1,000 times too large, so its unit is labelled wrongly",
     "printed_latency = 1000 * printed_latency"),
    ("each latency is 1,000,000 times too large, so its unit is labelled wrongly",
     "printed_latency = 10**6 * printed_latency"),
    ("traffic is in KiB, but labelled bytes", "printed_traffic = printed_traffic / 2**10"),
    ("traffic is in MB, but labelled bytes", "printed_traffic = printed_traffic / 10**6"),
]
TENSOR = [  # some clauses are also in BOTH: there they count twice if only one strategy has them
    ("the network's input is sent, too",
     "transfer = (P > 1) * input_bytes[0] / B, transfer; "
     "gather = gather + (P - 1) * input_bytes[0]", INPUT),
    ("whole outputs are sent, not parts",
     "transfer = P * transfer; all_gathers = P * all_gathers; gather = P * gather"),
    ("a node uses one link at a time", "transfer = (P - 1) * transfer"),
    ("a node sends to one node after another", "transfer = (P - 1) * transfer[:-1], transfer[-1]"),
    ("one node collects each output and sends it to all",
     "transfer = (1 + P) * transfer[:-1], transfer[-1]; "
     "all_gathers = all_gathers + (P - 1) * S[:-1]"),
    ("a link sends or receives, so that all-gathers take twice as long",
     "transfer = 2 * transfer[:-1], transfer[-1]"),
    ("the last output goes to all nodes", "gather = P * (P - 1) * S[-1]", END),
    ("the last output is not gathered", "transfer = transfer[:-1], 0; gather = 0"),
    ("the last gather has the size of its layer's input", "S = S[:-1], input_bytes[-1] / P"),
    ("the last gather counts all parts, the node's own, too", "gather = gather + (P > 1) * S[-1]"),
    ("the last gather takes no time", "transfer = transfer[:-1], 0"),
    ("the last gather is not counted in traffic", "gather = 0"),
    ("two nodes exchange their parts as one", "all_gathers = all_gathers / 2"),
    ("sending is divided by the nodes twice", "transfer = transfer / P"),
    ("only the last output is gathered, nothing is sent between layers",
     "transfer = 0 * transfer[:-1], transfer[-1]; all_gathers = 0 * all_gathers"),
    ("all traffic goes over one link", "transfer = join(all_gathers, gather) / B"),
    ("the last gather uses all links", "transfer = join(all_gathers, gather) / links / B"),
    ("a node's links add up to one fast link", "transfer = transfer / max(1, P - 1)"),
    ("communication takes no time", "transfer = 0 * transfer"),
    ("computing is not divided by the nodes", "compute = C / R"),
    ("computing is divided by the nodes twice", "compute = compute / P"),
    ("a layer takes the longer of computing and sending, not their sum",
     "one_input = sum(map(max, compute, transfer))"),
    ("links form the ring of Q4", RING),
    ("in Q2, communication is counted once", "latency = N * sum(compute) + sum(transfer)"),
    ("the next input is computed while this one's outputs are sent",
     "latency = one_input + (N - 1) * max(sum(compute), sum(transfer))"),
    ("traffic counts each output once", "all_gathers = (P > 1) * A[:-1]; gather = (P > 1) * A[-1]"),
    ("traffic counts a part of an output once, not per receiver", "all_gathers = (P > 1) * A[:-1]"),
    ("traffic is that of one link", "all_gathers = (P > 1) * S[:-1]; gather = (P > 1) * S[-1]"),
    ("traffic is what one node sends", "all_gathers = all_gathers / P; gather = (P > 1) * S[-1]"),
    ("traffic counts one node's sends or receives only", "all_gathers = (P - 1) * S[:-1]"),
    ("traffic also counts a node's own parts, which are not sent",
     "all_gathers = all_gathers + (P > 1) * A[:-1]; gather = gather + (P > 1) * S[-1]"),
]
PIPELINE = [
    ("the network's input is sent, too",
     "one_input = one_input + (P > 1) * input_bytes[0] / B; "
     "interval = max(interval, (P > 1) * input_bytes[0] / B); "
     "sent = (P > 1) * input_bytes[0], sent", INPUT),
    ("the last output is sent, too",
     "transfer = transfer, (P > 1) * A[-1] / B; sent = sent, (P > 1) * A[-1]"),
    ("traffic counts the last output, which is not sent", "sent = sent, (P > 1) * A[-1]"),
    ("only a part of each output is sent", "transfer = transfer / P; sent = sent / P"),
    ("each output is sent to all other nodes", "sent = (P - 1) * sent"),
    ("computing is divided by the nodes", "compute = compute / P"),
    ("sending is divided by the nodes", "transfer = transfer / P"),
    ("each transfer is spread over all links", "transfer = transfer / links"),
    ("a node's links add up to one fast link", "transfer = transfer / max(1, P - 1)"),
    ("communication takes no time", "transfer = 0 * transfer"),
    ("a stage takes the longer of computing and sending, not their sum",
     "one_input = sum(map(max, compute, join(transfer, 0)[:L]))"),
    ("a node does not compute while it sends",
     "interval = max(compute + join(transfer, 0)[:L])", OVERLAP),
    ("a node does not compute while it receives",
     "interval = max(compute + join(0, transfer)[:L])"),
    ("a later input takes the longest computing, then the longest transfer",
     "interval = max(compute) + max(0, transfer)"),
    ("a node does not compute while it receives or sends",
     "interval = max(join(0, transfer)[:L] + compute + join(transfer, 0)[:L])"),
    ("a later input takes the last stage's time, not the slowest's", "interval = compute[-1]"),
    ("a later input takes the mean stage's time, not the slowest's", "interval = sum(compute) / L"),
    ("inputs do not overlap", "latency = N * one_input", OVERLAP),
    ("Q2's latency leaves out sending",
     "latency = sum(compute) + (N - 1) * max(compute) if Q2 else one_input"),
    ("N inputs take (N + layers - 1) / layers times as long as one",
     "latency = (N + L - 1) / L * one_input"),
    ("N times the slowest stage is added to the first input, not N - 1 times",
     "latency = one_input + N * interval if Q2 else one_input"),
    ("N inputs take N times the slowest stage", "latency = N * interval if Q2 else one_input"),
    ("one input takes as long as the slowest stage", "latency = latency if Q2 else interval"),
    ("N inputs take (N + layers - 1) times the slowest stage",
     "latency = (N + L - 1) * interval if Q2 else one_input"),
]
# fmt: on
MISTAKES = [
    Mistake(clause, edit, strategies, *handout)
    for strategies, rows in ((STRATEGIES, BOTH), (("tensor",), TENSOR), (("pipeline",), PIPELINE))
    for clause, edit, *handout in rows
]


# ------------------------------------------------ numbers with mistakes
@lru_cache(maxsize=16)
def make_model(question: Question, line: Line, real: Any) -> Model:
    """Make the model of a line that mistakes edit, exact or in floats."""
    inputs = question.inputs if line.question == "Q2" else 1
    return Model(line.strategy, question.network, question.system, inputs, real)


def evaluate_line(model: Model, line: Line, mistakes: Iterable[Mistake]) -> Any:
    """Evaluate a line's number, in seconds or bytes, with mistakes. Raises InputError, with their
    clauses, if an edit does not fit the formulas."""
    try:
        return model.edit(*(mistake.edit for mistake in mistakes))[f"printed_{line.kind}"]
    except Exception as error:
        rows = " and ".join(f"'{mistake.clause}'" for mistake in mistakes)
        where = f"report/check/mistakes.py: the edit of {rows} for {line.strategy} parallelism"
        raise InputError(f"{where} does not fit the formulas: {error}") from error


@lru_cache(maxsize=10_000)
def compute_line(question: Question, line: Line, mistakes: tuple[Mistake, ...] = ()) -> Fraction:
    """Compute a line's number with mistakes, exactly."""
    return Fraction(evaluate_line(make_model(question, line, Fraction), line, mistakes))


def list_printed(question: Question, strategy: str, *mistakes: Mistake) -> list[Exact]:
    """List a strategy's numbers with mistakes: Q1's latency and traffic, then Q2's."""
    lines = [line for line in list_lines(question) if line.strategy == strategy]
    return [compute_line(question, line, mistakes) for line in lines]


def list_examples(
    question: Question, strategy: str, only_readings: bool = False
) -> list[tuple[Mistake, list[Exact]]]:
    """List a strategy's right numbers, with an empty clause, then the numbers with each mistake, or
    only each reading, that changes them and labels no unit wrongly."""
    right = list_printed(question, strategy)
    examples = {"": (Mistake("", ""), right)}
    for mistake in MISTAKES:
        is_asked = (mistake.handout or not only_readings) and "labelled" not in mistake.clause
        if is_asked and strategy in mistake.strategies:
            numbers = list_printed(question, strategy, mistake)
            if numbers != right:
                examples.setdefault(mistake.clause, (mistake, numbers))
    return [*examples.values()]
