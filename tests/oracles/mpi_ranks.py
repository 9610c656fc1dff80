"""Run the lab's CNN on MPI ranks, one for each node, in FP16 on random weights and inputs.

    mpirun -n RANKS python -m mpi4py mpi_ranks.py PLAN {all-to-all,ring} INPUTS DIRECTORY

PLAN is [[layers, ranks], ...] of each group: [[4, 4]] is tensor parallelism, [[1, 1], [1, 1],
[1, 1], [1, 1]] pipeline parallelism, [[4, 1]] the undistributed network. Only activations are sent.
Into DIRECTORY go the outputs, from the rank that ends up with them, and each rank's Ledger.

A layer's input is a list of shards, each where it was computed or received: none is ever copied.
"""

import json
import math
import sys
import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.random import default_rng

from lab3 import NETWORK


def random_input(index):
    """Make an input that is the same on every rank, so that none needs sending."""
    layer = NETWORK[0]
    shape = (layer.in_channels, layer.x, layer.y)
    return default_rng([0, index]).standard_normal(shape).astype(np.float16)


def random_weights(layer_index, filters):
    """Only these filters' weights, scaled so that outputs vary as much as inputs do."""
    layer = NETWORK[layer_index]
    shape = (layer.in_channels, layer.fx, layer.fy)
    weights = np.empty((len(filters), *shape), np.float16)
    for row, filter_index in enumerate(filters):
        normal = default_rng([1, layer_index, filter_index]).standard_normal(shape)
        weights[row] = normal / math.sqrt(normal.size)
    return weights


def convolve(shards, weights):
    """FP16 convolution with FP32 sums, every one in the order (in_channel, fx, fy).

    BLAS might choose the order by the number of filters, and so round a share of them differently.
    """
    planes = [plane for shard in shards for plane in shard]
    filters, _, fx, fy = weights.shape
    out_x, out_y = planes[0].shape[0] - fx + 1, planes[0].shape[1] - fy + 1
    sums = np.zeros((filters, out_x, out_y), np.float32)
    for channel, i, j in np.ndindex(weights.shape[1:]):
        window = planes[channel][i : i + out_x, j : j + out_y].astype(np.float32)
        sums += weights[:, channel, i, j, None, None].astype(np.float32) * window
    return sums.astype(np.float16)


class Ledger:
    """What a rank holds in arrays: weights and activations, not what a convolution scribbles."""

    def __init__(self):
        self.computed_bytes = []  # after every computation
        self.exchanged_bytes = []  # after every exchange
        self.unseen_bytes = 0  # at most so much more at any moment of an exchange

    def note(self, held_bytes):
        """All arrays alive, wherever referenced: NumPy's allocator tells tracemalloc."""
        arrays = tracemalloc.DomainFilter(inclusive=True, domain=np.lib.tracemalloc_domain)
        traces = tracemalloc.take_snapshot().filter_traces([arrays]).traces
        held_bytes.append(sum(trace.size for trace in traces))

    @contextmanager
    def exchange(self):
        """Note what is there at the end of an exchange, and how far that is below its peak."""
        tracemalloc.reset_peak()
        yield
        now_bytes, peak_bytes = tracemalloc.get_traced_memory()
        self.unseen_bytes = max(self.unseen_bytes, peak_bytes - now_bytes)
        self.note(self.exchanged_bytes)


def octets(array):
    """View the array in a type that MPI has: it has no FP16."""
    return array.view(np.uint8)


def wait_for(requests):
    """Block until every send and receive is complete."""
    for request in requests:
        request.Wait()


def receive(comm, senders, shape):
    """A shard from each of these ranks."""
    shards = [np.empty(shape, np.float16) for _ in senders]
    pairs = zip(shards, senders, strict=True)
    wait_for([comm.Irecv(octets(shard), sender) for shard, sender in pairs])
    return shards


def send(comm, shard, receivers):
    """Begin to send the shard to each of these ranks."""
    return [comm.Isend(octets(shard), receiver) for receiver in receivers]


def exchange_directly(comm, shard, ranks, collectors):
    """Every shard goes from its rank to each of the collectors. Returns those that are here."""
    peers = [rank for rank in ranks if rank != comm.rank]
    sending = send(comm, shard, [rank for rank in peers if rank in collectors])
    senders = peers if comm.rank in collectors else []
    shards = [shard, *receive(comm, senders, shard.shape)]
    wait_for(sending)
    return sorted_by_rank([comm.rank, *senders], shards)


def exchange_around(comm, shard, ranks, collectors):
    """As exchange_directly, but each rank sends to the next alone, and passes shards on."""
    place = ranks.index(comm.rank)
    before, after = ranks[place - 1], ranks[(place + 1) % len(ranks)]
    if len(collectors) > 1:  # each shard goes around to the rank before its own
        arriving = leaving = len(ranks) - 1
    else:  # to the first rank, which sends nothing
        arriving, leaving = (place - 1) % len(ranks), place
    shards, sending = [shard], []
    for turn in range(max(arriving, leaving)):
        if turn < leaving:
            sending += send(comm, shards[turn], [after])
        if turn < arriving:
            shards += receive(comm, [before], shard.shape)
    wait_for(sending)
    return sorted_by_rank([ranks[place - steps] for steps in range(len(shards))], shards)


def sorted_by_rank(ranks, shards):
    """The shards in the order of the ranks that made them."""
    by_rank = dict(zip(ranks, shards, strict=True))
    return [by_rank[rank] for rank in sorted(by_rank)]


def groups_of(plan):
    """(numbers of the layers, ranks) of each group of the plan."""
    groups, layer, rank = [], 0, 0
    for layers, ranks in plan:
        groups.append((range(layer, layer + layers), range(rank, rank + ranks)))
        layer, rank = layer + layers, rank + ranks
    return groups


def run(comm, plan, exchange, inputs, directory):
    """Run this rank's part, and return what it held."""
    groups = groups_of(plan)
    number = next(index for index, (_, ranks) in enumerate(groups) if comm.rank in ranks)
    layers, ranks = groups[number]
    senders = groups[number - 1][1] if number else []
    receivers = groups[number + 1][1] if number + 1 < len(groups) else []

    weights = {}
    for index in layers:
        share = NETWORK[index].filters // len(ranks)
        first = ranks.index(comm.rank) * share
        weights[index] = random_weights(index, range(first, first + share))

    ledger, sending = Ledger(), []
    for input_index in range(inputs):
        if senders:
            layer = NETWORK[layers[0]]
            with ledger.exchange():
                shape = (layer.in_channels // len(senders), layer.x, layer.y)
                shards = receive(comm, senders, shape)
        else:
            shards = [random_input(input_index)]

        for index in layers:
            shard = convolve(shards, weights[index])
            ledger.note(ledger.computed_bytes)
            del shards  # the next layer's input needs its room
            if index < layers[-1] or not receivers:
                with ledger.exchange():
                    collectors = ranks if index < layers[-1] else ranks[:1]
                    shards = exchange(comm, shard, ranks, collectors)

        if receivers:
            wait_for(sending)  # of the input before, while this one was computed
            sending = send(comm, shard, receivers)
        elif comm.rank == ranks[0]:
            np.save(directory / f"output{input_index}.npy", np.concatenate(shards))
        shards = shard = None
    wait_for(sending)
    return ledger


def main(comm, plan, topology, inputs, directory):
    """Run this rank's part and write down what it held."""
    tracemalloc.start()
    exchange = {"all-to-all": exchange_directly, "ring": exchange_around}[topology]
    ledger = run(comm, json.loads(plan), exchange, int(inputs), Path(directory))
    Path(directory, f"ledger.{comm.rank}.json").write_text(json.dumps(vars(ledger)))


if __name__ == "__main__":
    from mpi4py import MPI  # starts MPI, which a test that imports a function here must not

    main(MPI.COMM_WORLD, *sys.argv[1:])
