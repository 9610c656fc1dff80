"""Plans side by side: the best ones, both strategies and those asked for, as text or JSON."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from fractions import Fraction

import lab3
from report import question
from report.plans import (
    Comparison,
    Links,
    PlanResult,
    add_plan_option,
    compare,
    plans_asked,
    ring_plans,
)
from report.question import Impossible, Question, headed, question_of
from report.terminal import MB, MS, count, filled, json_text, number, table

MOST_SHOWN = 10  # of the best plans, unless all are asked for
NUMBERS = ("latency ms", "traffic bytes", "nodes", "SRAM bytes", "fits")


def text(comparison: Comparison, asked: Question, most: int | None = MOST_SHOWN) -> str:
    """All of it, but at most so many of the best plans."""
    compared = {name: it for name, it in comparison.compared.items() if isinstance(it, PlanResult)}
    blocks = best_plans_text(comparison, asked, most)
    blocks += _side_by_side(compared, comparison.best)
    notes = [f"{it.reason}." for it in comparison.compared.values() if isinstance(it, Impossible)]
    nodes = asked.system.nodes
    for name, it in compared.items():
        if it.nodes < nodes:
            notes.append(f"{name} leaves {nodes - it.nodes:,} of {count(nodes, 'node')} idle.")
    blocks += map(filled, notes)
    return "\n\n".join([*blocks, *faster_text(comparison, asked)])


def faster_text(comparison: Comparison, asked: Question) -> list[str]:
    """Between which link bandwidths plans are faster than tensor parallelism, and on what that
    depends."""
    if not comparison.faster:
        return []
    links = ", each output sent on its direct links"
    others = " or detours over idle links"
    if asked.system.topology == lab3.RING:
        links, others = "", ""
    here = number(Fraction(asked.system.link_bytes_per_s) / MB)
    title = (
        "Link bandwidths between which a plan is faster than tensor parallelism, ends excluded"
        f" (MB/s: 10^6 bytes/s; here: {here} MB/s). These hold for whole-tensor transfers{links},"
        " and tensor parallelism that takes inputs one by one. With row streaming"
        f"{others}, they could differ."
    )
    columns = [count(asked.inputs, "input"), "steady state (N large)", "plan"]
    rows = [
        [*(links_text(it.links) for it in both), name] for name, both in comparison.faster.items()
    ]
    return [filled(title), table(columns, rows)]


def best_plans_text(
    comparison: Comparison,
    asked: Question,
    most: int | None = MOST_SHOWN,
    more: str = "--all lists every Pareto-optimal plan",
) -> list[str]:
    """What the words mean, and the best plans, at most so many, or why there was no search. What
    lists more of them is said."""
    blocks = [
        filled(
            "A plan is groups of consecutive layers, each with its own nodes: 1-2:2,3,4 is layers 1"
            " and 2 on two nodes, then layers 3 and 4 on one each. A group's nodes have equal"
            " shares of each layer's filters: 43, 43 and 42 filters on three nodes are no plan"
            " here. Latency and traffic are for"
            f" {count(asked.inputs, 'input')}, with whole-tensor transfers. SRAM is what the"
            " fullest node of a plan needs for one input at a time; queued inputs and stored"
            f" outputs are not counted. A plan fits if that is at most the"
            f" {count(asked.system.sram_bytes, 'byte')} of a node."
        )
    ]
    if asked.system.topology == lab3.RING and asked.system.nodes > 2:
        modelled = "On a ring, only one group on all nodes and groups of one node are modelled"
        searched = count(ring_plans(asked.network, asked.system), "plan")
        is_known = not isinstance(comparison.best, Impossible)
        blocks.append(filled(f"{modelled}{f': {searched} in all' * is_known}."))
    both = [(comparison.fitting, "of those that fit"), (comparison.best, "whether they fit or not")]
    if comparison.fitting == comparison.best:
        both = [(comparison.best, "all of which fit")]
    for listed, which in both:
        title = f"Pareto-optimal plans (latency, traffic), {which}:"
        if isinstance(listed, Impossible):
            blocks.append(filled(f"{listed.reason}."))
        elif not listed:
            blocks.append(f"{title} none.")
        else:
            rows = [[rank, *_cells(it), it.text] for rank, it in enumerate(listed[:most], 1)]
            blocks += [title, table(["#", *NUMBERS, "plan"], rows)]
            if len(rows) < len(listed):
                blocks.append(f"{len(listed) - len(rows):,} more: {more}")
    return blocks


def _side_by_side(
    compared: dict[str, PlanResult], best: Sequence[PlanResult] | Impossible
) -> list[str]:
    if not compared:
        return []
    if isinstance(best, Impossible):
        rows = [[*_cells(it), name] for name, it in compared.items()]
        return ["Side by side:", table([*NUMBERS, "plan"], rows)]
    title = (
        'Side by side. "Beaten by" names a plan of the table above (--all lists all of it) that is'
        " no worse in latency and traffic, and better in one of them."
    )
    rows = [[*_cells(it), _beaten_by(it, best), name] for name, it in compared.items()]
    return [filled(title), table([*NUMBERS, "beaten by", "plan"], rows)]


def _cells(plan: PlanResult) -> list[object]:
    return [plan.latency_s * MS, plan.traffic_bytes, plan.nodes, plan.sram_bytes, plan.fits]


def _beaten_by(plan: PlanResult, best: Sequence[PlanResult]) -> str:
    """The fastest of the best that sends no more bytes: as one of the best, it is not slower."""
    ranked = enumerate(best, 1)
    rank, rival = next(each for each in ranked if each[1].traffic_bytes <= plan.traffic_bytes)
    as_good = (rival.latency_s, rival.traffic_bytes) == (plan.latency_s, plan.traffic_bytes)
    return "none" if as_good else f"#{rank:,}"


def links_text(links: Links | None) -> str:
    """What faster_between returns, in MB/s."""
    if links is None:
        return "never"
    low, high = (number(each / MB) if each else "" for each in links)
    if high:
        return f"{low} to {high} MB/s" if low else f"below {high} MB/s"
    return f"above {low} MB/s" if low else "always"


# ------------------------------------------------ the command: plans


def add_options(parser: ArgumentParser) -> None:
    """What if, --plan, --all and --json."""
    question.add_options(parser)
    add_plan_option(parser)
    parser.add_argument("--all", action="store_true", help="list all Pareto-optimal plans")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: Namespace) -> str:
    """The comparison."""
    asked = question_of(options)
    comparison = compare(asked, plans_asked(options.plan, asked.network, asked.system))
    if options.json:
        from report.analysis import head  # takes as long to load as all the rest

        return json_text({**head(asked), "plans": comparison})
    return headed(asked, text(comparison, asked, None if options.all else MOST_SHOWN))
