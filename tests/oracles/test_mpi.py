"""Traffic and SRAM against the lab's CNN itself, run on MPI ranks (mpi_ranks.py), which must give
the undistributed outputs. The ranks take the layers' shapes from lab3 and none of its numbers.

Open MPI counts the bytes on every link. NumPy's allocator counts those that a rank holds in weights
and activations, after every computation and exchange; what MPI itself buffers is not among them.
"""

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import lab3
from lab3 import NETWORK, SYSTEM
from oracles import mpi_ranks
from oracles.simulation import simulate
from report.plans import pipeline_parallel, tensor_parallel
from report.search import plan_result
from report.sram import data_parallel_sram, plan_sram

INPUTS = 3  # so that a pipeline's ranks compute, send and receive at once
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


@pytest.fixture(scope="module", params=RUNS)
def name(request):
    """Of a run; all tests of one stand together, where one worker has them."""
    return request.param


@cache
def run_of(name):
    with TemporaryDirectory() as directory:
        return mpirun(Path(directory), *RUNS[name])


# ------------------------------------------------ what lab3 says of them


def test_bytes_on_every_link(name):
    plan, topology = RUNS[name]
    system = SYSTEM._replace(topology=topology)
    _, simulated = simulate(NETWORK, system, plan, INPUTS)
    sent = run_of(name).link_bytes
    assert sent == {link: size for link, size in simulated.items() if size}
    assert sum(sent.values()) == plan_result(NETWORK, system, plan, INPUTS).traffic_bytes


[TENSOR] = plan_sram(NETWORK, SYSTEM, tensor_parallel(NETWORK, SYSTEM))
FIRST_TWO, *OTHERS = plan_sram(NETWORK, SYSTEM, RUNS["1-2:2,3,4"][0])
SRAM = {  # of each rank
    "tensor": [TENSOR] * 4,
    "tensor, ring": [TENSOR] * 4,
    "pipeline": plan_sram(NETWORK, SYSTEM, pipeline_parallel(NETWORK, SYSTEM)),
    "1-2:2,3,4": [FIRST_TWO, FIRST_TWO, *OTHERS],
    "undistributed": [data_parallel_sram(NETWORK, SYSTEM)],
}


def test_held_bytes(name):
    for rank, (ledger, uses) in enumerate(zip(run_of(name).ledgers, SRAM[name], strict=True)):
        computing = [use for use in uses if use.work == "compute"]
        computed = [use.total_bytes for use in computing]
        exchanged = [use.weight_bytes + use.input_bytes for use in computing if use.layer > 1]
        output, waiting_bytes = uses[-1], 0
        if output.layer < len(NETWORK):  # a pipeline's, sent while the next input is computed
            waiting_bytes = output.output_bytes
        else:
            exchanged.append(output.weight_bytes + left_bytes(output, rank, name))
        for held_bytes, of_one_input in [("computed", computed), ("exchanged", exchanged)]:
            further = [size + waiting_bytes for size in of_one_input] * (INPUTS - 1)
            assert ledger[f"{held_bytes}_bytes"] == of_one_input + further
        # Between two notes no array more was there: the smallest shard has 36,864 bytes.
        assert ledger["unseen_bytes"] < 36_864


def left_bytes(output, rank, name):
    """Of the last output: all that is gathered, else the own shard and those passed on."""
    if output.work == "gather" and rank:
        return output.output_bytes // 4 * (rank if name == "tensor, ring" else 1)
    return output.output_bytes


# ------------------------------------------------ outputs


def test_outputs_do_not_depend_on_the_distribution(name):
    assert run_of(name).outputs.tobytes() == run_of("undistributed").outputs.tobytes()


def test_outputs_are_worth_comparing():
    outputs = run_of("undistributed").outputs
    assert (outputs.dtype, outputs.shape) == (np.float16, (INPUTS, 128, 24, 24))
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
