"""What explain says of a question: its sentences' values and its tables by name, None if there is
nothing to say."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby
from typing import Any

import lab3
from lab3 import ALL_TO_ALL, RING
from report.analysis import (
    Analysis,
    Latency,
    Result,
    balanced_pipeline_latency,
    data_parallel_latency,
    one_node_latency,
    slowest_node_latency,
)
from report.blocks import Table
from report.plans import STRATEGIES
from report.question import Impossible, possible
from report.steps import gather, shards_in_turn
from report.streaming import compute_bound, critical_runs
from report.terminal import MS, US, Digits, count, rounded

LEAST_TIMES = Fraction("1.005")  # told as "1.01 times as fast"; below it nothing is told
UNFIT = {"tensor": "tensor parallelism", "pipeline": "the pipeline"}  # in a sentence
LOSSES = (  # in the order of analysis.Losses
    ("ideal compute", "N * sum(C) / (P * R): all nodes compute all the time"),
    ("idle nodes", "N * (sum(C) / (L * R) - sum(C) / (P * R)): only L of P nodes have a layer"),
    ("load imbalance", "N * (max(C / R) - sum(C) / (L * R)): the L layers are unequal"),
    ("waiting for a link", "N * (interval - max(C / R)): a transfer takes longest"),
    ("fill and drain", "sum(C / R) of 1 input without the longest step"),
    ("communication", "sum(A / B) of 1 input without the longest step"),
)
Row = dict[str, Any]  # cells by their heads


def named(analysis: Analysis) -> dict[str, Any]:
    """All of them but the readings."""
    system, inputs, layers = analysis.system, analysis.inputs, analysis.layers
    number, *heads = layers[0]
    sums = ("macs", "ops", "weight_bytes", "output_bytes")
    found = {
        **system._asdict(),
        "inputs": inputs,
        "many": inputs if inputs > 1 else None,
        "later": inputs - 1 or None,
        "other_nodes": system.nodes - 1 or None,
        "layers": len(layers),
        "layer_sizes": _table(layers, number, *heads[:9]),
        "layer_amounts": _table(layers, number, *heads[10:], summed=sums),
        "rounds": shards_in_turn(system),
        "gather_hops": gather(1, 1, system).traffic_bytes,
        "lower_bound_s": analysis.lower_bound_s,
    }
    for strategy in STRATEGIES:
        found |= _of_strategy(analysis, strategy)
    for part in (_of_both, _of_sram, _of_a_ring, _of_latencies):
        found |= part(analysis)
    return found


# ------------------------------------------------ the strategies


def _of_strategy(analysis: Analysis, strategy: str) -> dict[str, Any]:
    """Its name; its results' fields, as tensor_one_latency_s of one input and tensor_all_latency_s;
    how many times as fast as the other strategy it is, if it is faster; its steps."""
    found, name = analysis.strategies[strategy], f"{strategy} parallelism"
    told: dict[str, Any] = dict.fromkeys((strategy, f"{strategy}_reason", f"{strategy}_unfit"))
    for when, inputs in (("one", 1), ("all", analysis.inputs)):
        result = analysis.result(strategy, inputs)
        for field in Result._fields:
            told[f"{strategy}_{when}_{field}"] = getattr(result, field, None)
        latencies_s = [possible(analysis.result(it, inputs)).latency_s for it in analysis.possible]
        times = 0 if isinstance(result, Impossible) else max(latencies_s) / result.latency_s
        told[f"{strategy}_{when}_times"] = times if times >= LEAST_TIMES else None
    if isinstance(found, Impossible):
        return {**told, f"{strategy}_reason": found.reason}
    heads = ("layer", "step", "ops of a node", "bytes of a link", "time us", "traffic bytes")
    steps = [(*step[:4], step.time_s * US, step.traffic_bytes) for step in found.steps]
    is_fit = possible(analysis.sram[strategy]).fullest.fits
    return {
        **told,
        strategy: name.capitalize(),
        f"{strategy}_unfit": None if is_fit else UNFIT[strategy],
        f"{strategy}_steps": Table(heads, steps, summed=heads[2:]),
    }


def _of_both(analysis: Analysis) -> dict[str, Any]:
    """Both strategies side by side, as far as they are possible; where the pipeline's time goes."""
    cases = [_case(analysis, name, each) for each in analysis.counts for name in analysis.possible]
    one = [case for case in cases if case["inputs"] == 1]
    every = [case for case in cases if case["inputs"] == analysis.inputs]
    answers = ("strategy", "latency s", "traffic bytes")
    sent_bytes = [case["traffic bytes"] for case in one]
    lost_s = () if isinstance(analysis.losses, Impossible) else analysis.losses
    return {
        "bytes_times": Fraction(*sent_bytes) if len(one) == 2 and sent_bytes[1] else None,
        "cases_of_one": _table(one, *answers, "computing s", "communication s"),
        "cases_of_all": _table(every, *answers, "interval ms", "bottleneck", "used %"),
        "speed_ups": _table(
            [case for case in cases if case["inputs"] == 1 or case["strategy"] == "pipeline"],
            *("inputs", "strategy", "latency us", "speed-up", "used %", "bottleneck"),
        ),
        "doubling": Table(
            ("twice", "inputs", "strategy", "latency us", "times as fast"),
            [
                (it.twice, it.inputs, name, it.latency_s * US, rounded(it.speed_up))
                for name in analysis.possible
                for it in possible(analysis.strategies[name]).doubling
                if it.inputs == 1 or name == "pipeline"
            ],
        ),
        "losses": Table(
            ("part", "us", "%", "formula"),
            [
                (part, part_s * US, rounded(part_s / sum(lost_s) * 100), formula)
                for (part, formula), part_s in zip(LOSSES, lost_s, strict=False)
                if part_s
            ],
            summed=("us",),
        ),
    }


def _case(analysis: Analysis, strategy: str, inputs: int, topology: str = "") -> Row:
    """What a strategy takes, by default on the machine's own topology."""
    result = possible(analysis.result(strategy, inputs, topology))
    return {
        "inputs": inputs,
        "strategy": strategy,
        "links": topology or "both",
        "latency s": Digits(lab3.plain(result.latency_s)),  # all of them, as lab3.py prints it
        "latency us": result.latency_s * US,
        "traffic bytes": result.traffic_bytes,
        "computing s": result.compute_s,
        "communication s": result.communication_s,
        "communication us": result.communication_s * US,
        "interval ms": result.interval_s * MS,
        "bottleneck": result.bottleneck,
        "speed-up": rounded(result.speed_up),
        "used %": rounded(result.utilisation * 100),
    }


def _table(rows: Sequence[Row], *heads: str, summed: Sequence[str] = ()) -> Table:
    """Some cells of each row."""
    return Table(heads, [[row[head] for head in heads] for row in rows], summed)


# ------------------------------------------------ SRAM, ring


def _of_sram(analysis: Analysis) -> dict[str, Any]:
    """The fullest nodes; whether one node has room for all weights, and for a layer's input and
    output beside them."""
    fullest = [
        (name.replace(", streamed", " by rows"), found.fullest)
        for name, found in analysis.sram.items()
        if not isinstance(found, Impossible)
    ]
    alone = possible(analysis.sram["data"]).fullest
    excess, data_s = analysis.totals.excess_bytes, data_parallel_latency(*analysis.question)
    return {
        "fullest_nodes": Table(
            ("strategy", "fullest node", "total bytes", "free bytes", "fits"),
            [(name, it.where, it.total_bytes, it.free_bytes, it.fits) for name, it in fullest],
        ),
        "fullest_parts": Table(
            ("strategy", "layer", "weights", "input", "output", "total", "free", "fits"),
            [(name, it.layer, *it[2:6], it.free_bytes, it.fits) for name, it in fullest],
        ),
        "weight_bytes": analysis.totals.weight_bytes,
        "weights_excess_bytes": excess if excess > 0 else None,
        "tensors_excess_bytes": -alone.free_bytes if excess <= 0 and not alone.fits else None,
        "alone_s": one_node_latency(*analysis.question) if alone.fits else None,
        "data_s": data_s if alone.fits and analysis.system.nodes > 1 else None,
    }


def _of_a_ring(analysis: Analysis) -> dict[str, Any]:
    """Both topologies; what is equal on both once."""
    nodes = analysis.system.nodes
    differs = nodes > 2 and "tensor" in analysis.possible
    cases = [
        _case(analysis, name, inputs, links)
        for inputs in analysis.counts
        for name in analysis.possible
        for links in ((ALL_TO_ALL, RING) if name == "tensor" and differs else ("",))
    ]
    names = ("ring_shards", "ring_latency_s", "ring_longer_percent", "direct_communication_s")
    found = dict.fromkeys(names)
    if differs:
        direct, around = (possible(analysis.result("tensor", 1, it)) for it in (ALL_TO_ALL, RING))
        percent = 100 * (around.latency_s / direct.latency_s - 1)
        values = (nodes - 1, around.latency_s, percent, direct.communication_s)
        found = dict(zip(names, values, strict=True))
    return {
        **found,
        "few_nodes": nodes if nodes < 3 else None,
        "ring_cases_of_one": _table(
            [case for case in cases if case["inputs"] == 1],
            *("strategy", "links", "communication s", "latency s", "traffic bytes"),
        ),
        "ring_cases": _table(
            cases,
            *("inputs", "strategy", "links", "communication us", "latency us", "traffic bytes"),
        ),
    }


# ------------------------------------------------ latencies, and what bounds them


def _of_latencies(analysis: Analysis) -> dict[str, Any]:
    """Tables of latencies with what each is; the pipeline by rows, and which rows decide."""
    heads = ("latency, us", *(count(inputs, "input") for inputs in analysis.counts), "formula")

    def table(*rows: tuple[str, list[Latency] | Impossible, str]) -> Table:
        cells = [
            (what, *(each.latency_s * US for each in latencies), formula)
            for what, latencies, formula in rows
            if not isinstance(latencies, Impossible)
        ]
        return Table(heads, cells)

    of, by_rows = analysis.latencies, analysis.streamed_pipeline
    later = "1 input + (N - 1) * interval"
    reason = by_rows.reason if isinstance(by_rows, Impossible) else None
    runs = [] if reason else critical_runs(analysis.network, analysis.system)
    return {
        "bounds": table(
            ("lower bound", of(compute_bound), "N * sum(C) / (P * R)"),
            ("tensor", of(lab3.tensor_parallel_latency), "lower bound + N * communication"),
            ("slowest node", of(slowest_node_latency), "N * max(C / R)"),
            ("pipeline by rows", by_rows, later),
            ("pipeline", of(lab3.pipeline_parallel_latency), later),
        ),
        "others": table(
            ("one node", of(one_node_latency), "N * sum(C) / R"),
            ("data parallelism", of(data_parallel_latency), "ceil(N / P) * sum(C) / R"),
            ("P equal stages", of(balanced_pipeline_latency), "(P + N - 1) * sum(C) / (P * R)"),
        ),
        "by_rows_reason": reason if "pipeline" in analysis.possible else None,
        "by_rows_s": None if isinstance(by_rows, Impossible) else by_rows[-1].latency_s,
        "runs": Table(
            ("layer", "step", "rows", "us per row", "time us"),
            [(*run[:3], run.row_s * US, run.time_s * US) for run in runs],
            summed=("time us",),
        ),
    }


# ------------------------------------------------ readings of the handout


def readings(analysis: Analysis) -> dict[str, Table]:
    """What they give, as tensor_readings and pipeline_readings."""
    heads = (*(f"{count(it, 'input')} s" for it in analysis.counts), "traffic bytes", "reading")
    rows: dict[str, list[Sequence[object]]] = {strategy: [] for strategy in STRATEGIES}
    for (strategy, changes), found in groupby(
        analysis.readings, lambda answer: (answer.strategy, answer.changes)
    ):
        answers = [*found]
        reading = ", ".join(changes) or "as read here"
        latencies_s = [answer.latency_s for answer in answers]
        rows[strategy].append((*latencies_s, answers[-1].traffic_bytes, reading))
    return {f"{strategy}_readings": Table(heads, rows[strategy]) for strategy in STRATEGIES}
