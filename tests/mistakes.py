"""What mistakes make of the numbers, in another way than report/model.py: as formulas in lab3.py's
symbols.

A mistake is a line: formulas that take the place of those below; on the right a name is what it was
before. So two mistakes combine unless they are about the same formula. Lists are of all layers: C,
A and S as in lab3.py; F filters, I input channels; FX, FY, X, Y, X1, Y1 the width and height of
filters, inputs and outputs; K products of an output's element. E is bytes of an element, G is
gather_hops, I0 bytes of the network's input, W all weights; Q2 is 1 in Q2 and 0 in Q1; turns is how
many links of a node work at once. An input's bytes are sent over all links, and over the busiest
link, at the start, between layers and in the end.
"""

from fractions import Fraction
from math import ceil

import numpy as np

LAYERS = """
E = E
I0 = E * I[0] * X[0] * Y[0]
X1 = X - FX + 1; Y1 = Y - FY + 1
K = I * FX * FY
C = 2 * K * F * X1 * Y1
A = E * F * X1 * Y1
R = R; B = B
N = N
"""
FORMULAS = {
    "tensor": """
S = A / P
compute = sum(C) / (P * R)
start_sent = 0; start_link = 0
between_sent = P * (P - 1) * sum(S[:-1], 0 * P); between_link = rounds * sum(S[:-1], 0 * P)
end_sent = G * S[-1]; end_link = rounds * S[-1]
sent = start_sent + between_sent + end_sent
link = start_link + between_link + end_link
send = link / B
first = compute + send
interval = first
latency = first + (N - 1) * interval
traffic = N * sent
""",
    "pipeline": """
compute = C / R
links = join([0], A[:-1], [0])
send = links / B
sent = sum(links)
first = sum(compute) + sum(send)
interval = max([*compute, *send])
latency = first + (N - 1) * interval
traffic = N * sent
""",
}

BOTH = {
    "an element is 1 byte (INT8)": "E = 1",
    "an element is 2 bytes (FP16)": "E = 2",
    "an element is 4 bytes (FP32)": "E = 4",
    "16 bits are counted as 16 bytes": "E = 16",
    "each output is as large (x and y) as its layer's input": "X1 = X; Y1 = Y",
    "ops are counted with the input's x and y": "C = 2 * K * F * X * Y",
    "outputs are sent with the input's x and y": "A = E * F * X * Y",
    "the + 1 is forgotten in the output's x and y": "X1 = X - FX; Y1 = Y - FY",
    "x and y are halved by each layer": "X1 = X // 2; Y1 = Y // 2",
    "all outputs are as large (x and y) as the network's input": (
        "X1 = X[0] + 0 * X; Y1 = Y[0] + 0 * Y"
    ),
    "the last output is as large (x and y) as its layer's input": (
        "X1 = join(X1[:-1], X[-1:]); Y1 = join(Y1[:-1], Y[-1:])"
    ),
    "each layer's input is sent, not its output": "A = E * I * X * Y",
    "layer 1 has as many input channels as filters": "K = join(F[:1] * FX[:1] * FY[:1], K[1:])",
    "the input channels are forgotten": "K = FX * FY",
    "layer 1's input channels are forgotten": "K = join(FX[:1] * FY[:1], K[1:])",
    "the filters are forgotten in the bytes": "A = E * X1 * Y1",
    "an output has as many channels as its layer's input": "A = E * I * X1 * Y1",
    "a filter's height is forgotten": "K = I * FX",
    "a filter's width and height are forgotten": "K = I",
    "the output's x and y are forgotten in the ops": "C = 2 * K * F",
    "the filters are forgotten in the ops": "C = 2 * K * X1 * Y1",
    "layer 1 is missing": "C = C[L > 1:]; A = A[L > 1:]",
    "the last layer is missing": "C = C[:max(1, L - 1)]; A = A[:max(1, L - 1)]",
    "1 MAC is 1 op": "C = K * F * X1 * Y1",
    "an op is 2 MACs": "C = K * F * X1 * Y1 / 2",
    "each output's bias is an op more": "C = (2 * K + 1) * F * X1 * Y1",
    "each output's bias is a MAC more": "C = (2 * K + 2) * F * X1 * Y1",
    "an output of K products has K - 1 additions": "C = (K + K - 1) * F * X1 * Y1",
    "layer 1 is not computed": "C = join([0], C[1:])",
    "the last layer is not computed": "C = join(C[:-1], [0])",
    "layer 1's output is not sent": "A = join([0], A[1:])",
    "the last but one layer's output is not sent": "A = join(A[:-2], [0] * (L > 1), A[-1:])",
    "GOPS are 2^30 ops/s": "R = R * 2**30 / 10**9",
    "G is 2^30, in GOPS and in GB/s": "R = R * 2**30 / 10**9; B = B * 2**30 / 10**9",
    "GOPS are 10^6 ops/s": "R = R / 1000",
    "GOPS are 10^12 ops/s": "R = R * 1000",
    "all nodes together have the GOPS of one": "R = R / P",
    "computing takes no time": "compute = 0 * compute",
    "GB/s are 10^6 bytes/s": "B = B / 1000",
    "GB/s are 2^30 bytes/s": "B = B * 2**30 / 10**9",
    "GB/s are read as Gbit/s": "B = B / 8",
    "links have twice the bandwidth, or the time is that of elements, not bytes": "B = 2 * B",
    "bytes take the time of bits": "B = B * 8",
    "links have half the bandwidth": "B = B / 2",
    "all links together have the bandwidth of one": "B = B / links_of_all",
    "communication takes no time": "send = 0 * send",
    "a node's links share the bandwidth of one": "B = B / max(1, P - 1)",
    "traffic counts elements, not bytes": "traffic = traffic / E",
    "all inputs take as long as one": "latency = first",
    "N inputs take N / nodes times as long as one": "latency = first * (N / P if N > 1 else 1)",
    "Q2 is of one input": "N = 1",
    "Q2 is of N - 1 inputs": "N = N - Q2",
    "Q2 is of N + 1 inputs": "N = N + Q2",
    "Q2's latency is per input, not of all": "latency = latency / N",
    "traffic is that of one input": "traffic = sent",
    "Q2's traffic is that of N - 1 inputs": "traffic = max(1, N - 1) * sent",
    "Q2's traffic has Q1's in it": "traffic = (N + Q2) * sent",
    "the weights are sent, too": "traffic = N * sent + W * E",
    "the weights are sent, too, for each input": "traffic = N * (sent + W * E)",
    "traffic is counted in bits": "traffic = 8 * traffic",
    "traffic is twice that, as if counted when sent and when received": "traffic = 2 * traffic",
    "traffic is that of one node on average": "traffic = traffic / P",
    "latency is 1,000 times that, as if ms were printed as seconds": "latency = 1000 * latency",
    "latency is 1,000,000 times that, as if us were printed as seconds": (
        "latency = 10**6 * latency"
    ),
    "KB are printed as bytes": "traffic = traffic / 10**3",
    "KiB are printed as bytes": "traffic = traffic / 2**10",
    "MB are printed as bytes": "traffic = traffic / 10**6",
    "MiB are printed as bytes": "traffic = traffic / 2**20",
}

# Of a ring, the busiest link: rounds is P - 1, and so are the hops from one node to all others.
TENSOR = {
    "the network's input is sent, too": "start_sent = (P - 1) * I0; start_link = rounds * I0",
    "the network's input is sent, too, but takes no time": "start_sent = (P - 1) * I0",
    "whole outputs are sent, not shards": (
        "between_sent = P * between_sent; between_link = P * between_link"
        "; end_sent = P * end_sent; end_link = P * end_link"
    ),
    "a node sends and receives one shard at a time": (
        "start_link = start_sent; between_link = turns * between_link; end_link = turns * end_link"
    ),
    "a node sends to one node after the other": (
        "start_link = start_sent; between_link = turns * between_link"
    ),
    "one node collects each output and sends it to all": (
        "between_sent = between_sent + G * sum(S[:-1])"
        "; between_link = between_link + rounds * sum(A[:-1])"
    ),
    "outputs are all-reduced along a ring": (
        "between_sent = 2 * between_sent; between_link = 2 * turns * between_link"
        "; end_sent = 2 * (P - 1) * A[-1]; end_link = 2 * (P - 1) * S[-1]"
    ),
    "outputs are all-reduced along a ring, but the last is gathered": (
        "between_sent = 2 * between_sent; between_link = 2 * turns * between_link"
    ),
    "outputs are all-reduced, but the last is gathered": (
        "between_sent = 2 * between_sent; between_link = 2 * between_link"
    ),
    "outputs are all-reduced, of the last one each node sends a whole part": (
        "between_sent = 2 * between_sent; between_link = 2 * between_link"
        "; end_sent = P * end_sent; end_link = P * end_link"
    ),
    "a link sends or receives, so that all-gathers take twice as long": (
        "between_link = 2 * between_link"
    ),
    "a link's two directions add up, so that all-gathers take half as long": (
        "between_link = between_link / 2"
    ),
    "each node is sent its part of the weights, once": (
        "latency = latency + rounds * W * E / P / B; traffic = traffic + G * W * E / P"
    ),
    "each node is sent its part of the weights, for each input": (
        "start_sent = start_sent + G * W * E / P; start_link = start_link + rounds * W * E / P"
    ),
    "the last output goes to all nodes": "end_sent = (P - 1) * A[-1]; end_link = rounds * S[-1]",
    "the last output's shards arrive one after the other": "end_link = turns * end_link",
    "the last output is not gathered": "end_sent = 0; end_link = 0",
    "the last gather has the size of its layer's input": (
        "end_sent = G * (A[-2] if L > 1 else I0) / P"
        "; end_link = rounds * (A[-2] if L > 1 else I0) / P"
    ),
    "the last gather counts all shards, one's own, too": (
        "end_sent = end_sent + (S[-1] if P > 1 else 0)"
    ),
    "the last gather takes no time": "end_link = 0",
    "the last gather is not counted in traffic": "end_sent = 0",
    "the last gather is made once, for all inputs": (
        "latency = latency - (N - 1) * end_link / B; traffic = traffic - (N - 1) * end_sent"
    ),
    "each node sends a whole last output": "end_sent = P * end_sent; end_link = P * end_link",
    "the last but one output is gathered, too, not all-gathered": (
        "between_sent = (P - 1) * sum(A[:-2]) + G * sum(S[-2:-1])"
    ),
    "two nodes exchange their shards as one": "between_sent = between_sent / 2",
    "sending is divided by the nodes twice": "send = send / P",
    "sending takes the time of whole outputs, or of one node after the other": (
        "between_link = P * between_link; end_link = P * end_link"
    ),
    "all-gathers take no time": "between_link = 0",
    "only the last output is gathered, nothing is sent between layers": (
        "between_sent = 0; between_link = 0"
    ),
    "all shards go over one link": "link = sent",
    "the bytes are spread over all links": "link = sent / links_of_all",
    "a node's links add up to one fast link": "link = link / (P - 1 if rounds == 1 else 1)",
    "a node's links add up to one fast link, but not in the last gather": (
        "between_link = between_link / (P - 1 if rounds == 1 else 1)"
    ),
    "computing is not divided by the nodes": "compute = sum(C) / R",
    "computing is divided by the nodes twice": "compute = sum(C) / (P * P * R)",
    "one node computes layer 1, and sends its whole output to the others": (
        "compute = (P * C[0] + sum(C[1:])) / (P * R)"
        "; between_link = between_link + (P - rounds) * S[0] * (L > 1)"
    ),
    "from layer 2 on, a node uses only its own shard of the input": (
        "compute = (C[0] + sum(C[1:]) / P) / (P * R)"
    ),
    "a layer takes the longer of computing and sending, not both": (
        "first = sum(max(c / (P * R), rounds * s / B) for c, s in zip(C, S))"
    ),
    "the next input is computed while this one's outputs are sent": "interval = max(compute, send)",
    "a later input takes the slowest layer's time, as in a pipeline": (
        "interval = max(C / (P * R) + rounds * S / B)"
    ),
    "traffic counts each output once": "sent = sum(A) if P > 1 else 0",
    "traffic counts each shard once": "sent = sum(A[:-1]) + end_sent if P > 1 else 0",
    "traffic is that of one link": "sent = start_link + between_link + end_link",
    "traffic is what one node sends": "sent = (start_sent + between_sent) / P + end_link",
    "traffic counts each output as sent to one node only": "sent = G * sum(S)",
    "traffic also counts a node's own shards, which are not sent": (
        "sent = sent + (sum(A[:-1]) + S[-1] if P > 1 else 0)"
    ),
    "traffic counts a node's own shards in all-gathers": (
        "sent = sent + (sum(A[:-1]) if P > 1 else 0)"
    ),
}

PIPELINE = {
    "the network's input is sent, too": "links = join([I0 * (P > 1)], links[1:])",
    "the last output is sent, too": "links = join(links[:-1], A[-1:] * (P > 1))",
    "the last output is sent, too, but not counted in traffic": (
        "links = join(links[:-1], A[-1:] * (P > 1)); sent = sum(A[:-1])"
    ),
    "traffic counts the last output, which is not sent": "sent = sum(A) if P > 1 else 0",
    "the next layer's weights are sent with each output": (
        "links = links + join([0], E * (F * I * FX * FY)[1:], [0])"
    ),
    "each node but the first is sent its layer's weights, once": (
        "latency = latency + max(join([0], E * (F * I * FX * FY)[1:])) / B"
        "; traffic = traffic + E * sum((F * I * FX * FY)[1:])"
    ),
    "the next layer's output is sent, not a layer's own": "links = join([0], A[1:], [0])",
    "only a shard of each output is sent": "links = links / P",
    "each output is sent to all other nodes": "sent = (P - 1) * sent",
    "computing is divided by the nodes": "compute = compute / P",
    "sending is divided by the nodes": "send = send / P",
    "the bytes are spread over all links": "send = send / links_of_all",
    "a node's links add up to one fast link": "send = send / max(1, P - 1)",
    "the first input takes the longest stage and the longest transfer": (
        "first = max(compute) + max(send)"
    ),
    "a stage takes the longer of computing and sending, not both": (
        "first = send[0] + sum(max(c, s) for c, s in zip(compute, send[1:]))"
    ),
    "a node does not compute while it sends": "interval = max(join([0], compute) + send)",
    "a node does not compute while it receives": "interval = max(join(compute, [0]) + send)",
    "a node does not compute while it receives or sends": (
        "interval = max(join([0], compute, [0]) + join(send, [0]) + join([0], send))"
    ),
    "a later input takes the last stage's time, not the slowest's": "interval = compute[-1]",
    "a later input takes the first stage's time, not the slowest's": "interval = compute[0]",
    "a later input takes layer 1's computing and sending": "interval = compute[0] + send[1]",
    "a later input takes the longest computing and the longest transfer": (
        "interval = max(compute) + max(send)"
    ),
    "a later input takes the longest transfer": "interval = max(send)",
    "a later input takes the average stage's time, not the slowest's": (
        "interval = sum(compute) / len(C)"
    ),
    "inputs overlap only in sending": "latency = first + (N - 1) * sum(compute)",
    "inputs do not overlap": "latency = N * first",
    "the pipeline is emptied after as many inputs as nodes": (
        "latency = N * interval + ceil(N / P) * (first - interval) if N > 1 else first"
    ),
    "transfers of all inputs are added": (
        "latency = sum(compute) + N * sum(send) + (N - 1) * max(compute)"
    ),
    "Q2's latency leaves out sending": (
        "latency = sum(compute) + (N - 1) * max(compute) if N > 1 else first"
    ),
    "behind the first stage, later inputs take N - 1 times the slowest": (
        "latency = compute[0] + (N - 1) * interval if N > 1 else first"
    ),
    "N inputs take (N + layers - 1) / layers times as long as one": (
        "latency = (N + len(C) - 1) * first / len(C) if N > 1 else first"
    ),
    "N times the slowest stage is added to the first input, not N - 1 times": (
        "latency = first + N * interval if N > 1 else first"
    ),
    "N times the slowest stage is added to the first input, not N - 1 times, also for N = 1": (
        "latency = first + N * interval"
    ),
    "N - 2 times the slowest stage is added to the first input, not N - 1 times": (
        "latency = first + (N - 2) * interval if N > 1 else first"
    ),
    "N - layers times the slowest stage is added to the first input, not N - 1 times": (
        "latency = first + (N - len(C)) * interval if N > 1 else first"
    ),
    "N inputs take N times the slowest stage": "latency = N * interval if N > 1 else first",
    "one input takes as long as the slowest stage": "latency = latency if N > 1 else interval",
    "N inputs take N times the slowest stage, also for N = 1": "latency = N * interval",
    "the time before the last stage is added to N times the slowest stage": (
        "latency = first - compute[-1] + N * interval if N > 1 else first"
    ),
    "the times before the last stage and after the first are added to N times the slowest": (
        "latency = 2 * first - compute[0] - compute[-1] + N * interval if N > 1 else first"
    ),
    "Q2's traffic is that of N + layers - 1 inputs": (
        "traffic = (N + len(C) - 1 if N > 1 else 1) * sent"
    ),
    "N inputs take (N + layers - 1) times the slowest stage, and the transfers of one": (
        "latency = (N + len(C) - 1) * interval + sum(send) if N > 1 else first"
    ),
    "N inputs take (N + layers - 1) times the slowest stage": (
        "latency = (N + len(C) - 1) * interval if N > 1 else first"
    ),
    "N inputs take (N + layers - 1) times the slowest stage, also for N = 1": (
        "latency = (N + len(C) - 1) * interval"
    ),
}
LINES = {"tensor": BOTH | TENSOR, "pipeline": BOTH | PIPELINE}
for lines in (TENSOR, PIPELINE):  # forgotten for one strategy as for both
    lines["communication takes no time"] = BOTH["communication takes no time"]


def compute(question, strategy, clauses):
    """Return what is computed with these mistakes: {("Q1", "latency"): seconds, ...}."""
    numbers = {}
    for name, inputs in {"Q1": 1, "Q2": question.inputs}.items():
        if name == "Q1" or inputs > 1:
            found = evaluate(question, strategy, clauses, inputs)
            numbers[name, "latency"], numbers[name, "traffic"] = found["latency"], found["traffic"]
    return numbers


def evaluate(question, strategy, clauses, inputs):
    """Evaluate all formulas, those of mistakes behind those whose place they take."""
    names = list_symbols(question, inputs)
    instead = [split(LINES[strategy][clause]) for clause in clauses]
    for name, formula in split(LAYERS + FORMULAS[strategy]):
        names[name] = eval(formula, names)
        for formulas in instead:
            for _, other in (it for it in formulas if it[0] == name):
                names[name] = eval(other, names)
    return names


def split(formulas):
    """Split formulas into names and what they are."""
    lines = filter(None, formulas.replace(";", "\n").splitlines())
    return [tuple(map(str.strip, line.split("=", 1))) for line in lines]


def list_symbols(question, inputs):
    """List what is given."""
    network, (nodes, ops_per_s, link_bytes_per_s, _, topology), _ = question
    is_ring, first = topology == "ring", network[0]
    names = {
        name: np.array([Fraction(getattr(layer, field)) for layer in network])
        for name, field in zip(["F", "I", "FX", "FY", "X", "Y"], first._fields[:6], strict=True)
    }
    weights = sum(names["F"] * names["I"] * names["FX"] * names["FY"])
    return names | {
        "join": lambda *parts: np.concatenate([np.array([*it], dtype=object) for it in parts]),
        "ceil": ceil,
        "E": first.element_bytes,
        "R": Fraction(ops_per_s),
        "B": Fraction(link_bytes_per_s),
        "P": Fraction(nodes),
        "N": Fraction(inputs),
        "L": len(network),
        "Q2": inputs > 1,
        "W": weights,
        "rounds": nodes - 1 if is_ring else min(1, nodes - 1),
        "turns": Fraction(1 if is_ring else nodes - 1),
        "G": sum(range(nodes)) if is_ring else nodes - 1,
        "links_of_all": nodes if is_ring else max(1, nodes * (nodes - 1)),
    }
