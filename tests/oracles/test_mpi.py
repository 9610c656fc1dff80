"""Traffic and SRAM against a run on MPI ranks, which must give the undistributed outputs.

Open MPI counts the bytes on every link, NumPy's allocator those that a rank holds.
"""

import json
import os
import platform
import re
import subprocess
import sys
from itertools import accumulate, permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import lab3
import mpi_ranks
from lab3 import NETWORK, SYSTEM

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


class Run(NamedTuple):
    """What a run left behind."""

    link_bytes: dict  # (sending rank, receiving rank): bytes
    held_bytes: list  # for each rank, the bytes of its arrays at each of its steps
    outputs: np.ndarray


def mpirun(directory, ranks, parallelism):
    """Run INPUTS inputs on so many ranks."""
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
    command += [parallelism, str(INPUTS), directory]
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
    held_bytes = [(directory / f"held_bytes.{rank}.json").read_text() for rank in range(ranks)]
    return Run(
        link_bytes(directory, ranks),
        [json.loads(text) for text in held_bytes],
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
def tensor(tmp_path_factory):
    """Each of 4 ranks has a quarter of every layer's filters."""
    return mpirun(tmp_path_factory.mktemp("tensor"), 4, "tensor")


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    """Each of 4 ranks has a layer."""
    return mpirun(tmp_path_factory.mktemp("pipeline"), 4, "pipeline")


@pytest.fixture(scope="module")
def undistributed(tmp_path_factory):
    """One rank has everything."""
    return mpirun(tmp_path_factory.mktemp("undistributed"), 1, "tensor")


def test_tensor_parallel_traffic(tensor):
    to_each_peer, to_root = 151_040, 36_864  # a quarter of the outputs of layers 1 to 3, and of 4
    assert tensor.link_bytes == {
        (sender, receiver): INPUTS * (to_each_peer + (to_root if receiver == 0 else 0))
        for sender, receiver in permutations(range(4), 2)
    }
    traffic_bytes = sum(tensor.link_bytes.values())
    assert traffic_bytes == INPUTS * 1_923_072
    assert traffic_bytes == lab3.tensor_parallel_traffic(NETWORK, SYSTEM, INPUTS)

    *gathered_by_all, gathered_by_one = [layer.output_bytes for layer in NETWORK]
    assert 4 * to_each_peer == sum(gathered_by_all)
    assert 4 * to_root == gathered_by_one


def test_pipeline_parallel_traffic(pipeline):
    assert pipeline.link_bytes == {
        (0, 1): INPUTS * 230_400,
        (1, 2): INPUTS * 200_704,
        (2, 3): INPUTS * 173_056,
    }
    assert sum(pipeline.link_bytes.values()) == INPUTS * 604_160
    assert list(accumulate(pipeline.link_bytes.values())) == [
        lab3.pipeline_parallel_traffic(NETWORK[:layers], SYSTEM, INPUTS) for layers in (2, 3, 4)
    ]


def test_single_rank_sends_nothing(undistributed):
    assert undistributed.link_bytes == {}
    assert lab3.tensor_parallel_traffic(NETWORK, SYSTEM._replace(nodes=1), INPUTS) == 0


def test_tensor_parallel_sram(tensor):
    layers, gathered = [286_656, 503_488, 466_880, 432_832], 370_368
    weight_bytes = 222_912  # all that the other ranks hold once the outputs are gathered
    root, *others = tensor.held_bytes
    assert root == INPUTS * [*layers, gathered]
    assert others == 3 * [INPUTS * [*layers, weight_bytes]]

    calculated = lab3.tensor_parallel_sram(NETWORK, SYSTEM)
    assert [use.total_bytes for use in calculated] == [*layers, gathered]
    assert {use.weight_bytes for use in calculated} == {weight_bytes}


def test_pipeline_parallel_sram(pipeline):
    ranks = [243_456, 726_016, 668_672, 615_424]  # weights, input and output of a layer
    assert pipeline.held_bytes == [INPUTS * [held_bytes] for held_bytes in ranks]
    calculated = lab3.pipeline_parallel_sram(NETWORK, SYSTEM)
    assert [use.total_bytes for use in calculated] == ranks


def test_undistributed_sram(undistributed):
    layers, gathered = [1_128_192, 1_322_752, 1_265_408, 1_212_160], 1_039_104
    assert undistributed.held_bytes == [INPUTS * [*layers, gathered]]
    calculated = lab3.tensor_parallel_sram(NETWORK, SYSTEM._replace(nodes=1))
    assert [use.total_bytes for use in calculated] == [*layers, gathered]


def test_outputs_do_not_depend_on_the_distribution(tensor, pipeline, undistributed):
    outputs = undistributed.outputs
    assert tensor.outputs.tobytes() == outputs.tobytes()
    assert pipeline.outputs.tobytes() == outputs.tobytes()

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
    outputs = mpi_ranks.convolve(activation.astype(np.float16), weights.astype(np.float16))
    np.testing.assert_array_equal(outputs, expected)
