"""Traffic and SRAM against runs on MPI ranks, which must give the undistributed outputs.

Open MPI counts the bytes on every link. NumPy's allocator counts those that a rank holds in weights
and activations, after every computation and exchange; what MPI itself buffers is not among them.
"""

import json
import os
import platform
import re
import subprocess
import sys
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import lab3
import mpi_ranks
from lab3 import (
    NETWORK,
    SYSTEM,
    pipeline_parallel_traffic,
    sram_uses,
    tensor_parallel_traffic,
)
from plans import plan_sram, plan_traffic

pytestmark = pytest.mark.skipif(
    (sys.platform, platform.machine())
    not in {("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64")},
    reason="PyPI has Open MPI for Linux on x86_64 and aarch64 and for macOS on arm64 only",
)

INPUTS = 4  # as many as pipeline stages, so that all of them work at once
TIMEOUT_S = 120  # a run takes about a second: only a deadlock gets here
MCA_PARAMETERS = {
    "btl": "self,sm",  # shared memory: no network interface is looked for
    "pml_monitoring_enable": "2",  # the program's messages apart from Open MPI's own
    "pml_monitoring_enable_output": "3",  # at the end, to a file for each rank
}


RUNS = {  # the plan as (layers, ranks) of each group, and the topology
    "tensor": ([(4, 4)], "all-to-all"),
    "tensor, ring": ([(4, 4)], "ring"),
    "pipeline": ([(1, 1)] * 4, "ring"),  # ranks that send to their neighbour alone
    "1-2:2,3,4": ([(2, 2), (1, 1), (1, 1)], "all-to-all"),
    "undistributed": ([(4, 1)], "all-to-all"),
}
every_run = pytest.mark.parametrize("name", RUNS)


class Run(NamedTuple):
    """What a run left behind."""

    link_bytes: dict  # (sending rank, receiving rank): bytes
    ledgers: list  # of each rank
    outputs: np.ndarray


def mpirun(directory, plan, topology):
    """Run INPUTS inputs on as many ranks as the plan has."""
    ranks = sum(ranks for _, ranks in plan)
    parameters = MCA_PARAMETERS | {
        "pml_monitoring_filename": directory / "sent",
        "btl_sm_backing_directory": directory,  # a container's /dev/shm can be tiny
    }
    command = [Path(sys.executable).with_name("mpirun"), "-n", str(ranks)]
    command += ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
    command += ["--timeout", str(TIMEOUT_S)]
    for name, value in parameters.items():
        command += ["--mca", name, value]
    # -m mpi4py: an exception in one rank ends them all, where the others would wait for it
    command += [sys.executable, "-m", "mpi4py", mpi_ranks.__file__]
    command += [json.dumps(plan), topology, str(INPUTS), directory]
    done = subprocess.run(
        command,
        env=os.environ | {"PYTHONPATH": str(Path(lab3.__file__).parent), "HOME": str(directory)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=2 * TIMEOUT_S,  # should mpirun itself hang
        check=False,
    )
    assert done.returncode == 0, done.stdout
    ledgers = [(directory / f"ledger.{rank}.json").read_text() for rank in range(ranks)]
    return Run(
        link_bytes(directory, ranks),
        [json.loads(text) for text in ledgers],
        np.stack([np.load(directory / f"output{index}.npy") for index in range(INPUTS)]),
    )


def link_bytes(directory, ranks):
    """Read what Open MPI counted on each link, and see that it counted nothing else."""
    counted = {}
    for rank in range(ranks):
        for line in (directory / f"sent.{rank}.prof").read_text().splitlines():
            if message := re.match(r"E\t(\d+)\t(\d+)\t(\d+) bytes\t", line):  # E: the program's own
                sender, receiver, size_bytes = map(int, message.groups())
                counted[sender, receiver] = size_bytes
            elif "msgs sent" in line:  # by Open MPI itself, one-sided or collectively
                assert "\t0 msgs sent" in line
    return counted


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Every run, by its name."""
    return {
        name: mpirun(tmp_path_factory.mktemp("run"), plan, topology)
        for name, (plan, topology) in RUNS.items()
    }


# ------------------------------------------------ traffic

# A quarter of the outputs of layers 1 to 3 is 57,600 + 50,176 + 43,264 = 151,040 bytes, of layer 4
# 36,864. All-to-all, each rank sends the first to all others and the second to rank 0.
# Around the ring three of each pass every link, and the last ones come together on their way to
# rank 0: none from rank 0, one from rank 1, two from rank 2, three from rank 3.
LINK_BYTES = {  # for one input
    "tensor": {
        (sender, receiver): 151_040 + (36_864 if receiver == 0 else 0)
        for sender, receiver in permutations(range(4), 2)
    },
    "tensor, ring": {
        (0, 1): 453_120,
        (1, 2): 453_120 + 36_864,
        (2, 3): 453_120 + 73_728,
        (3, 0): 453_120 + 110_592,
    },
    "pipeline": {(0, 1): 230_400, (1, 2): 200_704, (2, 3): 173_056},
    "1-2:2,3,4": {
        (0, 1): 115_200,  # halves of layer 1's output
        (1, 0): 115_200,
        (0, 2): 100_352,  # halves of layer 2's
        (1, 2): 100_352,
        (2, 3): 173_056,
    },
    "undistributed": {},
}


@every_run
def test_bytes_on_every_link(runs, name):
    expected = {link: INPUTS * size for link, size in LINK_BYTES[name].items()}
    assert runs[name].link_bytes == expected


@every_run
def test_lab3s_traffic(runs, name):
    plan, topology = RUNS[name]
    system = SYSTEM._replace(topology=topology)
    alone = system._replace(nodes=1)
    calculated = {
        "tensor": tensor_parallel_traffic(NETWORK, system, INPUTS),
        "tensor, ring": tensor_parallel_traffic(NETWORK, system, INPUTS),
        "pipeline": pipeline_parallel_traffic(NETWORK, system, INPUTS),
        "1-2:2,3,4": plan_traffic(NETWORK, system, plan, INPUTS),
        "undistributed": tensor_parallel_traffic(NETWORK, alone, INPUTS),
    }[name]
    assert sum(runs[name].link_bytes.values()) == calculated


# ------------------------------------------------ memory

# Weights + what a computation reads and makes; weights + what an exchange leaves. First of tensor
# parallelism, 222,912 bytes of weights: a layer's input and a quarter of its output, 6,144 and
# 57,600; then all of that output, 230,400; and so on.
TENSOR = [286_656, 453_312, 503_488, 423_616, 466_880, 395_968, 432_832]
# 294,912 bytes of weights: 200,704 received, 173,056 made; 173,056 received, 147,456 made and left.
LAYER_3, LAYER_4 = [495_616, 668_672], [467_968, 615_424, 442_368]
# 891,648 bytes of weights: 6,144 read, 230,400 made and left; and so on.
UNDISTRIBUTED = [1_128_192, 1_122_048, 1_322_752, 1_092_352]
UNDISTRIBUTED += [1_265_408, 1_064_704, 1_212_160, 1_039_104]
HELD_BYTES = {  # for each rank: through one input; more than that, the output before being sent
    "tensor": [
        ([*TENSOR, 370_368], 0),  # 222,912 + 147,456 gathered
        *[([*TENSOR, 259_776], 0)] * 3,  # 222,912 + the own 36,864
    ],
    "tensor, ring": [
        ([*TENSOR, 370_368], 0),
        ([*TENSOR, 259_776], 0),
        ([*TENSOR, 296_640], 0),  # and one of 36,864 passed on
        ([*TENSOR, 333_504], 0),  # and two
    ],
    "pipeline": [
        ([243_456], 230_400),  # 6,912 + 6,144 + 230,400
        ([525_312, 726_016], 200_704),  # 294,912 + 230,400, + 200,704
        (LAYER_3, 173_056),
        (LAYER_4, 0),
    ],
    # 6,912 / 2 + 294,912 / 2 = 150,912 of weights; + 6,144 + 115,200; + 230,400; + 100,352
    "1-2:2,3,4": [
        *[([272_256, 381_312, 481_664], 100_352)] * 2,
        (LAYER_3, 173_056),
        (LAYER_4, 0),
    ],
    "undistributed": [(UNDISTRIBUTED, 0)],
}


@every_run
def test_held_bytes(runs, name):
    for ledger, (first, waiting_bytes) in zip(runs[name].ledgers, HELD_BYTES[name], strict=True):
        further = [held_bytes + waiting_bytes for held_bytes in first]
        assert ledger["held_bytes"] == first + (INPUTS - 1) * further
        # Between two notes no array more was there: the smallest shard has 36,864 bytes.
        assert ledger["unseen_bytes"] < 36_864


def totals(uses):
    return [use.total_bytes for use in uses]


def test_lab3s_sram():
    """What lab3 says of one input, "compute" by "compute", and of the whole."""
    root, *_ = held = [first for first, _ in HELD_BYTES["tensor"]]
    uses = totals(sram_uses("tensor", NETWORK, SYSTEM))
    assert uses == [*root[::2], root[-1]]
    assert max(uses) == max(max(rank) for rank in held) == 503_488

    ranks = [first for first, _ in HELD_BYTES["pipeline"]]
    assert totals(sram_uses("pipeline", NETWORK, SYSTEM)) == [max(rank) for rank in ranks]

    ranks = [first for first, _ in HELD_BYTES["1-2:2,3,4"]]
    two, *others = [totals(uses) for uses in plan_sram(NETWORK, SYSTEM, RUNS["1-2:2,3,4"][0])]
    assert two == ranks[0][::2]
    assert others == [[max(rank)] for rank in ranks[2:]]

    alone = totals(sram_uses("data", NETWORK, SYSTEM))
    assert alone == UNDISTRIBUTED[::2]
    assert max(alone) == max(UNDISTRIBUTED)


# ------------------------------------------------ outputs


@every_run
def test_outputs_do_not_depend_on_the_distribution(runs, name):
    assert runs[name].outputs.tobytes() == runs["undistributed"].outputs.tobytes()


def test_outputs_are_worth_comparing(runs):
    outputs = runs["undistributed"].outputs
    assert outputs.dtype == np.float16
    assert outputs.shape == (INPUTS, 128, 24, 24)
    assert np.isfinite(outputs).all()
    assert np.ptp(outputs, axis=(2, 3)).all()  # no filter gives the same everywhere
    assert np.ptp(outputs, axis=0).any(axis=(1, 2)).all()  # or the same for every input


def test_convolution_is_exact_on_small_integers():
    rng = np.random.default_rng(0)
    activation = rng.integers(-8, 9, (3, 7, 6))
    weights = rng.integers(-8, 9, (5, 3, 3, 2))
    windows = sliding_window_view(activation, (3, 2), axis=(1, 2))
    expected = np.einsum("cxyij,fcij->fxy", windows, weights)
    shards = np.split(activation.astype(np.float16), [1])
    outputs = mpi_ranks.convolve(shards, weights.astype(np.float16))
    np.testing.assert_array_equal(outputs, expected)
