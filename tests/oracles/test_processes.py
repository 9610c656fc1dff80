"""The lab's CNN itself, distributed: each node is an operating-system process with a memory of its
own, each link a queue between two. Outputs equal one node's bit by bit; the arrays that cross each
link and that each computation needs have the bytes that lab3 says. Elements are 2-byte integers
that wrap around, because then no order of a sum rounds differently."""

import multiprocessing
from collections import Counter
from functools import partial
from itertools import permutations

import pytest

pytest.importorskip("numpy")
pytest.importorskip("simpy")

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from machines import LAB, NETWORK, SYSTEM
from oracles.simulation import simulate
from report import sram
from report.model import Model

NODES, LAYERS = range(4), range(4)
TIMEOUT_S = 60  # a run takes a second: only if a node fails do others wait so long
# Random, and the same in every process.
draw = partial(np.random.default_rng(0).integers, -(2**15), 2**15, dtype=np.int16)
INPUTS = [draw(size=(NETWORK[0].in_channels, NETWORK[0].x, NETWORK[0].y)) for _ in range(3)]
WEIGHTS = [draw(size=layer[:4]) for layer in NETWORK]  # filters, in_channels, fx, fy


def convolve(activation, weights):
    """In float64, which has room for all 1,152 products of 2^30: every sum is exact."""
    windows = sliding_window_view(activation.astype(float), weights.shape[2:], axis=(1, 2))
    sums = np.tensordot(weights.astype(float), windows, ((1, 2, 3), (0, 3, 4)))
    return sums.astype(np.int64).astype(np.int16)


class Node:
    """What a process works with. It holds the weights of some layers, or a part of them."""

    def __init__(self, number, weights, links):
        self.number, self.weights, self.links = number, weights, links
        self.weight_bytes = sum(each.nbytes for each in weights.values())
        self.link_bytes = Counter()  # received, by link
        self.needed = []  # bytes of weights, input and output, at each computation

    def send(self, other, array):
        self.links[self.number, other].put(array)  # while this node goes on

    def receive(self, other):
        array = self.links[other, self.number].get(timeout=TIMEOUT_S)
        self.link_bytes[other, self.number] += array.nbytes
        return array

    def compute(self, index, activation):
        output = convolve(activation, self.weights[index])
        self.needed.append(self.weight_bytes + activation.nbytes + output.nbytes)
        return output


def run_node(number, answer, links):
    """Do this node's part of both strategies."""
    shards = {index: np.split(WEIGHTS[index], 4)[number] for index in LAYERS}
    for run, weights in ((run_tensor, shards), (run_pipeline, {number: WEIGHTS[number]})):
        node = Node(number, weights, links)
        outputs = [run(node, activation) for activation in INPUTS]
        answer.put((outputs, node.needed, node.link_bytes))


def run_tensor(node, activation):
    for index in LAYERS:
        shards = {node.number: node.compute(index, activation)}
        collectors = {*NODES} if index < 3 else {0}
        for other in collectors - {node.number}:
            node.send(other, shards[node.number])
        if node.number in collectors:
            shards |= {other: node.receive(other) for other in {*NODES} - {node.number}}
        activation = np.concatenate([shards[number] for number in sorted(shards)])
    if node.number == 0:
        node.needed.append(node.weight_bytes + activation.nbytes)
    return activation


def run_pipeline(node, activation):
    if node.number > 0:
        activation = node.receive(node.number - 1)
    output = node.compute(node.number, activation)
    if node.number < 3:
        node.send(node.number + 1, output)
    return output


def run_all():
    """Yield each strategy, and what each node answers."""
    context = multiprocessing.get_context("spawn")
    links = {link: context.Queue() for link in permutations(NODES, 2)}
    answers = [context.Queue() for _ in NODES]
    for each in enumerate(answers):
        context.Process(target=run_node, args=(*each, links), daemon=True).start()
    for strategy in ("tensor", "pipeline"):
        yield strategy, [answer.get(timeout=TIMEOUT_S) for answer in answers]


def test_four_processes_give_one_nodes_outputs_and_the_bytes_of_lab3(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # else threads of all wait for two cores
    alone, expected = Node(0, dict(enumerate(WEIGHTS)), {}), INPUTS
    for index in LAYERS:
        expected = [alone.compute(index, activation) for activation in expected]
    assert len(np.unique(expected)) > 60_000  # of 65,536: nothing is equal by accident
    assert alone.needed[::3] == [use.total_bytes for use in sram.list_sram(LAB, "data")]

    tensor = [use.total_bytes for use in sram.list_sram(LAB, "tensor")]
    needed_by_node = {
        "tensor": [tensor, *[tensor[:-1]] * 3],  # one node gathers
        "pipeline": [[use.total_bytes] for use in sram.list_sram(LAB, "pipeline")],
    }
    for strategy, answers in run_all():
        outputs, needed, link_bytes = zip(*answers, strict=True)
        assert np.array_equal(outputs[0 if strategy == "tensor" else 3], expected)
        assert needed == tuple(3 * of_one_input for of_one_input in needed_by_node[strategy])
        crossed = sum(link_bytes, Counter())
        assert sum(crossed.values()) == Model(strategy, NETWORK, SYSTEM, 3)["traffic"]
        assert crossed == Counter(simulate(NETWORK, SYSTEM, strategy, 3)[1])
