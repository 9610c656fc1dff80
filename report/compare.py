"""Plans side by side: the best ones, both strategies and those asked for, as text or JSON."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from fractions import Fraction
from itertools import count
from typing import Any

import lab3
from report import question
from report.blocks import Block, Table, When, texts
from report.plans import add_plan_option, plans_asked
from report.question import Impossible, Question, headed, question_of
from report.search import Comparison, Links, PlanResult, compare
from report.terminal import GIGA, MS, json_text, rounded, short

MOST_SHOWN = 10  # of the best plans, unless all are asked for
NUMBERS = ("latency ms", "traffic bytes", "nodes", "SRAM bytes", "fits")
TEXTS: Sequence[Block] = (
    (
        "A plan splits the layers into consecutive groups.",
        "Each group has its own nodes, which share its filters evenly: 1-2:2,3,4 is layers 1 and 2"
        " on two nodes, 3 and 4 on one each.",
        "SRAM bytes: what the fullest node holds, of {sram_bytes}, with whole-tensor transfers, one"
        " input at a time.",
    ),
    "On a ring of {ring_nodes:node}, only one group on all nodes and groups of one node are"
    " modelled.",
    "{refused}.",
    When("nothing_fits", ["No plan fits."]),
    When(
        "best",
        [
            (
                "Plans that no other beats in latency and traffic (Pareto-optimal), for"
                " {inputs:input}.",
                "A plan beats another if it is no worse in both, and better in one.",
                "Without a number: {unranked:plan}, beaten only by plans that do not fit.",
            ),
            "{best}",
            "{hidden} more: --all lists them",
        ],
    ),
    When("compared", ["Side by side.", "{compared}"]),
    "{tensor_reason}.",
    "{pipeline_reason}.",
    When(
        "faster",
        [
            (
                "Link bandwidths in GB/s (here {link_bytes_per_s:GB/s}) at which a plan is"
                " faster than tensor parallelism, for {inputs:input}; ends are rounded.",
                "Tensors are sent whole, {links}; tensor parallelism takes one input at a time.",
            ),
            "{faster}",
        ],
    ),
)


def text(comparison: Comparison, asked: Question, most: int | None = MOST_SHOWN) -> str:
    """All of it, but at most so many of the best plans."""
    return "\n\n".join(texts(TEXTS, named(comparison, asked, most)))


def named(comparison: Comparison, asked: Question, most: int | None = MOST_SHOWN) -> dict[str, Any]:
    """The values that TEXTS name, None where there is nothing to say."""
    compared, system = comparison.compared, asked.system
    is_ring = system.topology == lab3.RING and system.nodes > 2
    best, fitting = (
        [] if isinstance(plans, Impossible) else plans
        for plans in (comparison.best, comparison.fitting)
    )
    ranked = [(rank, plan) for rank, plan in enumerate(best, 1)]
    unranked = [(None, plan) for plan in fitting if plan not in best]
    listed = sorted([*ranked, *unranked], key=lambda it: (it[1].latency_s, it[1].traffic_bytes))
    shown = [(rank, *_numbers(plan), plan.text) for rank, plan in listed[:most]]
    beside = [
        (*_numbers(plan), *([_beaten_by(plan, best)] if best else []), name)
        for name, plan in compared.items()
        if isinstance(plan, PlanResult)
    ]
    rivals = ["beaten by"] if best else []
    faster = [(links_text(links), name) for name, links in comparison.faster.items()]
    return {
        **system._asdict(),
        "inputs": asked.inputs,
        "links": "around the ring" if is_ring else "on direct links",
        "ring_nodes": system.nodes if is_ring else None,
        "tensor_reason": _reason(compared["tensor"]),
        "pipeline_reason": _reason(compared["pipeline"]),
        "refused": _reason(comparison.best),
        "nothing_fits": True if best and not fitting else None,
        "best": Table(("#", *NUMBERS, "plan"), shown) if shown else None,
        "unranked": len(unranked) or None,
        "hidden": len(listed) - len(shown) or None,
        "compared": Table((*NUMBERS, *rivals, "plan"), beside) if beside else None,
        "faster": Table(("link GB/s", "plan"), faster) if faster else None,
    }


def _numbers(plan: PlanResult) -> Sequence[object]:
    """Below NUMBERS."""
    return plan.latency_s * MS, plan.traffic_bytes, plan.nodes, plan.sram_bytes, plan.fits


def _reason(found: object) -> str | None:
    return found.reason if isinstance(found, Impossible) else None


def _beaten_by(plan: PlanResult, best: Sequence[PlanResult]) -> str:
    """The fastest of the best that sends no more bytes: as one of the best, it is not slower."""
    rival = next(other for other in best if other.traffic_bytes <= plan.traffic_bytes)
    is_equal = (rival.latency_s, rival.traffic_bytes) == (plan.latency_s, plan.traffic_bytes)
    return "none" if is_equal else rival.text


def links_text(links: Links | None) -> str:
    """What faster_between returns, in GB/s, with three digits or as many as tell both apart."""
    if links is None:
        return "none"
    low, high = (Fraction(end, GIGA) for end in links)
    digits = next(n for n in count(3) if rounded(low, n) < rounded(high, n))
    return (
        f"{short(low, digits)} to {short(high, digits)}" if low else f"below {short(high, digits)}"
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
        from report.analysis import head  # takes as long to load as all the rest

        return json_text({**head(asked), "plans": comparison})
    return headed(asked, text(comparison, asked, None if options.all else MOST_SHOWN))
