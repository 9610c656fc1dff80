"""Run the lab's CNN on MPI ranks, one for each node, in FP16 on random weights and inputs.

    mpirun -n RANKS python -m mpi4py mpi_ranks.py {tensor,pipeline} INPUTS DIRECTORY

A single tensor-parallel rank runs the undistributed network. Into DIRECTORY go the outputs, from
the rank that ends up with them, and how many bytes each rank held. Only activations are sent.
"""

import json
import math
import sys
import tracemalloc
from pathlib import Path

import numpy as np
from numpy.random import default_rng

from lab3 import NETWORK

ROOT = 0  # the rank that gathers the tensor-parallel outputs


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


def convolve(activation, weights):
    """FP16 convolution with FP32 sums, every one in the order (in_channel, fx, fy).

    BLAS might choose the order by the number of filters, and so round a share of them differently.
    """
    filters, in_channels, fx, fy = weights.shape
    out_x, out_y = activation.shape[1] - fx + 1, activation.shape[2] - fy + 1
    sums = np.zeros((filters, out_x, out_y), np.float32)
    for channel, i, j in np.ndindex(in_channels, fx, fy):
        window = activation[channel, i : i + out_x, j : j + out_y].astype(np.float32)
        sums += weights[:, channel, i, j, None, None].astype(np.float32) * window
    return sums.astype(np.float16)


def array_bytes():
    """Bytes of all arrays alive, wherever referenced: NumPy's allocator tells tracemalloc."""
    arrays = tracemalloc.DomainFilter(inclusive=True, domain=np.lib.tracemalloc_domain)
    return sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces([arrays]).traces)


def octets(array):
    """View the array in a type that MPI has: it has no FP16."""
    return array.view(np.uint8)


def wait_for(requests):
    """Block until every send and receive is complete."""
    for request in requests:
        request.Wait()


def exchange_shards(comm, shard, receivers):
    """All shards in rank order, on the receivers: one direct message from each of their peers."""
    peers = [rank for rank in range(comm.size) if rank != comm.rank]
    requests = [comm.Isend(octets(shard), rank) for rank in peers if rank in receivers]
    if comm.rank not in receivers:
        wait_for(requests)
        return None
    shards = np.empty((comm.size, *shard.shape), np.float16)
    shards[comm.rank] = shard
    wait_for(requests + [comm.Irecv(octets(shards[rank]), rank) for rank in peers])
    return shards.reshape(-1, *shard.shape[1:])


def tensor_parallel(comm, inputs, directory):
    """Run with a share of each layer's filters on every rank.

    Returns the bytes held: of each input, after every layer and after the gather.
    """
    weights = []
    for layer_index, layer in enumerate(NETWORK):
        share = layer.filters // comm.size
        filters = range(comm.rank * share, (comm.rank + 1) * share)
        weights.append(random_weights(layer_index, filters))

    held_bytes = []
    for index in range(inputs):
        activation = random_input(index)
        for layer_weights in weights:
            shard = convolve(activation, layer_weights)
            held_bytes.append(array_bytes())
            del activation  # the next layer's input needs its room
            receivers = [ROOT] if layer_weights is weights[-1] else range(comm.size)
            activation = exchange_shards(comm, shard, receivers)
            del shard
        held_bytes.append(array_bytes())
        if comm.rank == ROOT:
            np.save(directory / f"output{index}.npy", activation)
    return held_bytes


def pipeline_parallel(comm, inputs, directory):
    """Run with one layer on every rank, which sends an output while it computes the next.

    Returns the bytes held: of each input, after the layer.
    """
    layer = NETWORK[comm.rank]
    weights = random_weights(comm.rank, range(layer.filters))

    held_bytes, sending = [], []
    for index in range(inputs):
        if comm.rank == 0:
            activation = random_input(index)
        else:
            activation = np.empty((layer.in_channels, layer.x, layer.y), np.float16)
            comm.Recv(octets(activation), comm.rank - 1)
        output = convolve(activation, weights)
        wait_for(sending)
        held_bytes.append(array_bytes())
        if comm.rank == len(NETWORK) - 1:
            np.save(directory / f"output{index}.npy", output)
        else:
            sending = [comm.Isend(octets(output), comm.rank + 1)]
    wait_for(sending)
    return held_bytes


def main(comm, parallelism, inputs, directory):
    """Run this rank's part and note what it held."""
    tracemalloc.start()
    run = {"tensor": tensor_parallel, "pipeline": pipeline_parallel}[parallelism]
    held_bytes = run(comm, int(inputs), Path(directory))
    Path(directory, f"held_bytes.{comm.rank}.json").write_text(json.dumps(held_bytes))


if __name__ == "__main__":
    from mpi4py import MPI  # starts MPI, which a test that imports a function here must not

    main(MPI.COMM_WORLD, *sys.argv[1:])
