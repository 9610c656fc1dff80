"""Plans side by side: the best ones, both strategies and those asked for, as text or JSON."""

from __future__ import annotations

import itertools
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from fractions import Fraction

import lab3
from report import question
from report.plans import add_plan_option, plans_asked
from report.question import Impossible, Question, headed, question_of
from report.search import Comparison, Links, PlanResult, compare
from report.terminal import MB, MS, count, filled, json_text, rounded, short, table

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
    links = "" if asked.system.topology == lab3.RING else " on direct links"
    pace = ", tensor parallelism taking inputs one by one" * (asked.inputs > 1)
    title = (
        f"Link bandwidths at which a plan is faster than tensor parallelism for"
        f" {count(asked.inputs, 'input')}, with whole-tensor transfers{links}{pace} (ends rounded;"
        f" here {short(Fraction(asked.system.link_bytes_per_s) / MB)} MB/s):"
    )
    rows = [[links_text(links), name] for name, links in comparison.faster.items()]
    return [filled(title), table(["link bandwidth", "plan"], rows)]


def best_plans_text(
    comparison: Comparison,
    asked: Question,
    most: int | None = MOST_SHOWN,
    more: str = "--all lists them",
) -> list[str]:
    """What the words mean, and the best plans, at most so many, or why there was no search. What
    lists more of them is said."""
    blocks = [
        filled(
            "A plan is groups of layers, each on its own nodes, which share the filters evenly:"
            " 1-2:2,3,4 is layers 1 and 2 on two nodes, 3 and 4 on one each. SRAM bytes: what the"
            f" fullest node holds, of {asked.system.sram_bytes:,}; whole-tensor transfers, one"
            " input at a time."
        )
    ]
    if asked.system.topology == lab3.RING and asked.system.nodes > 2:
        modelled = "On a ring, only one group on all nodes and groups of one node are modelled"
        blocks.append(filled(f"{modelled}."))
    if isinstance(comparison.best, Impossible) or isinstance(comparison.fitting, Impossible):
        assert isinstance(comparison.best, Impossible)
        return [*blocks, filled(f"{comparison.best.reason}.")]
    best, fitting = comparison.best, comparison.fitting
    if not fitting:
        blocks.append("No plan fits.")
    if listed := sorted({*best, *fitting}, key=lambda it: (it.latency_s, it.traffic_bytes)):
        ranks = {it: rank for rank, it in enumerate(best, 1)}
        rows = [[ranks.get(it), *_cells(it), it.text] for it in listed[:most]]
        title = f"Pareto-optimal plans (latency, traffic) for {count(asked.inputs, 'input')}"
        if len(ranks) < len(listed):
            title += "; those without a number are so only among plans that fit"
        blocks += [filled(f"{title}:"), table(["#", *NUMBERS, "plan"], rows)]
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
    rows = [[*_cells(it), _beaten_by(it, best), name] for name, it in compared.items()]
    title = "Side by side; what beats a plan is no worse in both, and better in one:"
    return [title, table([*NUMBERS, "beaten by", "plan"], rows)]


def _cells(plan: PlanResult) -> list[object]:
    return [plan.latency_s * MS, plan.traffic_bytes, plan.nodes, plan.sram_bytes, plan.fits]


def _beaten_by(plan: PlanResult, best: Sequence[PlanResult]) -> str:
    """The fastest of the best that sends no more bytes: as one of the best, it is not slower."""
    rival = next(it for it in best if it.traffic_bytes <= plan.traffic_bytes)
    as_good = (rival.latency_s, rival.traffic_bytes) == (plan.latency_s, plan.traffic_bytes)
    return "none" if as_good else rival.text


def links_text(links: Links | None) -> str:
    """What faster_between returns, in MB/s, with three digits or as many as tell both apart."""
    if links is None:
        return "never"
    low, high = links
    digits = next(n for n in itertools.count(3) if rounded(low, n) < rounded(high, n))
    below = f"{short(high / MB, digits)} MB/s"
    return f"{short(low / MB, digits)} to {below}" if low else f"below {below}"


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
