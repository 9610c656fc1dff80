"""Plans side by side: the best ones, both strategies and those asked for, as text or JSON."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

import lab3
from report import question
from report.analysis import head
from report.plans import (
    Comparison,
    Links,
    PlanResult,
    add_plan_option,
    compare,
    plans_asked,
)
from report.question import Impossible, Question, headed, question_of
from report.terminal import MB, MS, count, filled, json_text, number, table

MOST_SHOWN = 10  # of the best plans, unless all are asked for
NUMBERS = ("latency ms", "traffic bytes", "nodes", "SRAM bytes", "fits")


def text(comparison: Comparison, asked: Question, shown: int | None = MOST_SHOWN) -> str:
    """All of it, but only so many of the best plans."""
    compared = {name: it for name, it in comparison.compared.items() if isinstance(it, PlanResult)}
    blocks = best_plans_text(comparison, asked, shown)
    blocks += _side_by_side(compared, comparison.best)
    notes = [f"{it.reason}." for it in comparison.compared.values() if isinstance(it, Impossible)]
    nodes = asked.system.nodes
    for name, it in compared.items():
        if it.nodes < nodes:
            notes.append(f"{name} leaves {nodes - it.nodes:,} of {count(nodes, 'node')} idle.")
    if asked.system.topology == lab3.RING:
        notes.append("On a ring a plan is one group on all nodes, or groups of one node.")
    blocks += map(filled, notes)
    if comparison.faster:
        title = (
            "Link bandwidths at which a plan is faster than tensor parallelism (ends excluded; 1"
            " MB/s is 10^6 bytes/s). Both use whole-tensor transfers, and tensor parallelism takes"
            " inputs one by one; if it worked on two inputs in turn, the ranges could differ."
        )
        columns = [count(asked.inputs, "input"), "steady state (N large)", "plan"]
        rows = [
            [*(links_text(it.links) for it in both), name]
            for name, both in comparison.faster.items()
        ]
        blocks += [filled(title), table(columns, rows)]
    return "\n\n".join(blocks)


def best_plans_text(
    comparison: Comparison,
    asked: Question,
    shown: int | None = MOST_SHOWN,
    more: str = "--all lists every Pareto-optimal plan",
) -> list[str]:
    """The best plans, or why there is no search, and what the words mean; what shows more."""
    blocks = [
        filled(
            "A plan is groups of consecutive layers, each with its own nodes: 1-2:2,3,4 is layers 1"
            " and 2 on two nodes, then layers 3 and 4 on one each. Latency and traffic are for"
            f" {count(asked.inputs, 'input')}, with whole-tensor transfers. SRAM is what the"
            " fullest node of a plan needs for one input at a time; queued inputs and stored"
            f" outputs are not counted. A plan fits if that is at most the"
            f" {count(asked.system.sram_bytes, 'byte')} of a node."
        )
    ]
    both = [(comparison.fitting, "of those that fit"), (comparison.best, "whether they fit or not")]
    if comparison.fitting == comparison.best:
        both = [(comparison.best, "all of which fit")]
    for plans, which in both:
        title = f"Pareto-optimal plans (latency, traffic), {which}:"
        if isinstance(plans, Impossible):
            blocks.append(filled(f"{plans.reason}."))
        elif not plans:
            blocks.append(f"{title} none.")
        else:
            rows = [[rank, *_cells(plan), plan.text] for rank, plan in enumerate(plans, 1)][:shown]
            blocks += [title, table(["#", *NUMBERS, "plan"], rows)]
            if len(rows) < len(plans):
                blocks.append(f"{len(plans) - len(rows):,} more: {more}")
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
        "Side by side, and which of the last table's plans (--all lists them all) beats each: it is"
        " no worse in latency and traffic, and better in at least one of them."
    )
    rows = [[*_cells(it), _beaten_by(it, best), name] for name, it in compared.items()]
    return [filled(title), table([*NUMBERS, "beaten by", "plan"], rows)]


def _cells(plan: PlanResult) -> list[object]:
    return [plan.latency_s * MS, plan.traffic_bytes, plan.nodes, plan.sram_bytes, plan.fits]


def _beaten_by(plan: PlanResult, best: Sequence[PlanResult]) -> str:
    """The fastest that moves no more bytes: being one of the best it is not slower, either."""
    ranked = enumerate(best, 1)
    rank, rival = next(each for each in ranked if each[1].traffic_bytes <= plan.traffic_bytes)
    as_good = (rival.latency_s, rival.traffic_bytes) == (plan.latency_s, plan.traffic_bytes)
    return "none" if as_good else f"#{rank:,}"


def links_text(links: Links | None) -> str:
    """What faster_between returns, in MB/s."""
    if links is None:
        return "never"
    low, high = links
    if high is None:
        return f"above {number(low / MB)} MB/s" if low else "always"
    return (
        f"{number(low / MB)} to {number(high / MB)} MB/s"
        if low
        else f"below {number(high / MB)} MB/s"
    )


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
        return json_text({**head(asked), "plans": comparison})
    return headed(asked, text(comparison, asked, None if options.all else MOST_SHOWN))
