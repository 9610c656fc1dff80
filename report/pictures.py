#!/usr/bin/env python3
"""Pictures of any network on any machine: who works when, latency, plans, what nodes must hold.

A colour means the same in all of them, and no meaning is its alone: marks also differ in place,
shape, dash, hatch or filling, and have their names beside them. Text stays text in an SVG.
"""

from __future__ import annotations

import whatif  # first, since it finds lab3

# isort: split
import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from io import BytesIO
from itertools import pairwise, product
from math import ceil
from pathlib import Path
from typing import NamedTuple

import lab3
from figures import sram_uses
from lab3 import Network, Rate, System
from plans import (
    Plan,
    PlanFigures,
    add_plan_option,
    best_plans,
    every_plan,
    plan_figures,
    plan_latency,
)
from rows import compute_bound, streamed_latency
from schedule import TimedStep, interval, layer_nodes, plan_name, plans_or_strategies, timed_steps
from sram import SramUse
from whatif import Question, count

PICTURES = ("timeline", "latency", "plans", "sram")
ENDINGS = (".svg", ".png")


def _option_parser() -> argparse.ArgumentParser:
    parser = whatif.option_parser(
        "Draw who works when (each input sets out just in time), latency per input, all plans, or"
        " what nodes must hold.",
        [
            "python3 report/pictures.py timeline --nodes 8 --plan 1-2:4,3-4:4",
            "python3 report/pictures.py latency --link-gbs 0.05 --output latency.png",
        ],
    )
    parser.usage = "%(prog)s {timeline,latency,plans,sram} [options]"  # as --layer takes all words
    parser.add_argument("picture", choices=PICTURES)
    parser.add_argument("--output", metavar="FILE", type=Path, help="FILE.svg or FILE.png")
    add_plan_option(parser)
    return parser


try:
    import matplotlib.style
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch
    from matplotlib.ticker import NullLocator
    from matplotlib.transforms import Bbox
except ImportError as error:
    if __name__ == "__main__":
        _option_parser().parse_args()  # --help needs no matplotlib
    sys.exit(f"pictures.py needs matplotlib, pip install -r report/requirements.txt: {error}")

# After Okabe and Ito, whom the colour-blind can tell apart, darkened until each has 3 : 1 or more
# against white. The second of two is for every other one of bars that follow without a gap.
COLOURS = {
    "tensor": ("#0069A6", "#3D97CC"),
    "pipeline": ("#B34700", "#D9702B"),
    "plan": ("#00704F", "#2E9470"),  # any other
    "link": ("#222222", "#7A7A7A"),
    "data": ("#222222",),
}
PARTS = {"weights": ("#505050", ""), "input": ("#7A7A7A", "///"), "output": ("#949494", "\\\\\\")}
ALARM = "#C00020"  # what does not fit
INK, PALE = "#222222", "#E4E4E4"  # limits; what only guides the eye

TICKS = "{x:,g}"  # numbers of an axis
FONT_PT = 11
LINE_PT = 1.5 * FONT_PT
STYLE = {
    "font.size": FONT_PT,
    "axes.titlesize": FONT_PT,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
    "svg.fonttype": "none",  # text, not its outlines
    "svg.hashsalt": "lab3",  # the same bytes on every run
}
in_style = matplotlib.style.context(STYLE, after_reset=True)  # whatever the user's own settings

Size = tuple[float, float]  # width and height in points


class Unit(NamedTuple):
    """What an axis counts; so many are a second, or a byte."""

    name: str
    factor: Rate

    def of(self, value: Rate) -> float:
        """Where the seconds or bytes are on the axis."""
        return float(value * self.factor)

    def text(self, value: Rate) -> str:
        """The seconds or bytes, rounded."""
        return f"{Decimal(lab3.plain(Fraction(value * self.factor), 4)):,} {self.name}"


SECONDS = (Unit("s", 1), Unit("ms", 10**3), Unit("µs", 10**6), Unit("ns", 10**9))
BYTES = (
    Unit("GB", Fraction(1, 10**9)),
    Unit("MB", Fraction(1, 10**6)),
    Unit("kB", Fraction(1, 10**3)),
    Unit("bytes", 1),
)


def _unit(units: Sequence[Unit], most: Rate) -> Unit:
    """The largest of which there are 10 or more, else the smallest."""
    return next((unit for unit in units if most * unit.factor >= 10), units[-1])


def _figure(size_pt: Size) -> Figure:
    width_pt, height_pt = size_pt
    return Figure(figsize=(width_pt / 72, height_pt / 72), layout="constrained")


# ------------------------------------------------ who works when

SHOWN_INPUTS = 4  # more are too narrow to read
MOST_NODES = 8  # that have a row each; of more nodes each group has one
TALLEST_PT = 1000


class Bar(NamedTuple):
    """A step in one of its rows."""

    row: str
    number: int  # of its input; of its layer, if only one input is shown
    is_link: bool
    start: float
    end: float


class Panel(NamedTuple):
    """A plan's part of a timeline."""

    axes: Axes
    rows: list[str]
    bars: list[Bar]
    colours: tuple[str, ...]


@in_style
def timeline(
    network: Network,
    system: System,
    plans: Sequence[Plan],
    inputs: int = 1,
    size_pt: Size | None = None,
) -> Figure:
    """The first inputs on the nodes and links of each plan, all on one axis of time.

    Raises ValueError as schedule.timed_steps does.
    """
    lab3.check(network, system, inputs)
    shown = min(inputs, SHOWN_INPUTS)
    timed = [timed_steps(network, system, plan, shown) for plan in plans]
    end_s = max(steps[-1].end_s for steps in timed)
    unit = _unit(SECONDS, end_s)
    bars = [_bars(plan, steps, unit) for plan, steps in zip(plans, timed, strict=True)]
    rows = [list(dict.fromkeys(bar.row for bar in each)) for each in bars]
    heights_pt = [LINE_PT * (3 + len(names)) for names in rows]
    size_pt = size_pt or (640, min(sum(heights_pt) + 2 * LINE_PT, TALLEST_PT))
    figure = _figure(size_pt)
    all_axes = figure.subplots(len(plans), sharex=True, squeeze=False, height_ratios=heights_pt)
    colours = [COLOURS[_kind(network, system, plan)] for plan in plans]
    panels = list(map(Panel, all_axes[:, 0], rows, bars, colours))
    every = ceil(0.9 * sum(heights_pt) / size_pt[1])  # row is named, if they are too low for all
    for panel, plan in zip(panels, plans, strict=True):
        title = _pace(network, system, plan, inputs, unit)
        panel.axes.set_title(title, color=panel.colours[0])
        _draw_bars(panel, every)
    which = f"the first {shown} of " if shown < inputs else ""
    panels[-1].axes.set_xlabel(f"time of {which}{count(inputs, 'input')}, {unit.name}")
    panels[-1].axes.set_xlim(0, unit.of(end_s))
    panels[-1].axes.xaxis.set_major_formatter(TICKS)
    figure.draw_without_rendering()  # which finds the places of everything
    for panel in panels:
        _label_bars(panel, "input" if shown > 1 else "layer")
    return figure


def _kind(network: Network, system: System, plan: Plan) -> str:
    """tensor, pipeline or plan, whichever has a colour of its own."""
    return plan_name(network, system, plan).split()[0]


def _pace(network: Network, system: System, plan: Plan, inputs: int, unit: Unit) -> str:
    first_s = plan_latency(network, system, plan)
    said = f"{plan_name(network, system, plan)}: an output after {unit.text(first_s)}"
    if inputs > 1:
        said += f", then one every {unit.text(interval(network, system, plan))}"
    return said


def _bars(plan: Plan, steps: Sequence[TimedStep], unit: Unit) -> list[Bar]:
    """Each step in the row of each of its nodes, or in that of all of them, or of its links."""
    nodes = layer_nodes(plan)
    each_node = sum(used for _, used in plan) <= MOST_NODES
    bars = []
    for step, number, start_s, end_s in steps:
        group = nodes[step.layer]
        if step.work == "send":
            receivers = nodes[step.layer + 1]
            links = "link" if len(group) == len(receivers) == 1 else "links"
            names = [f"{links} {_numbers(group)} to {_numbers(receivers)}"]
        elif step.work != "compute":
            names = [f"links among {_numbers(group)}"]
        elif each_node or len(group) == 1:
            names = [f"node {node}" for node in group]
        else:
            names = [f"nodes {_numbers(group)}"]
        label = number if steps[-1].input > 1 else step.layer
        times = unit.of(start_s), unit.of(end_s)
        bars += [Bar(name, label, step.work != "compute", *times) for name in names]
    return bars


def _numbers(nodes: range) -> str:
    return f"{nodes[0]}-{nodes[-1]}" if len(nodes) > 1 else f"{nodes[0]}"


def _draw_bars(panel: Panel, every: int) -> None:
    """Bars of one input, or layer, after the other in two shades; every so many rows are named."""
    axes, rows, bars, colours = panel
    axes.set_yticks(range(0, len(rows), every), rows[::every])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params("y", length=0)
    axes.grid(axis="x", color=PALE)
    axes.barh(
        [rows.index(bar.row) for bar in bars],
        [bar.end - bar.start for bar in bars],
        [0.4 if bar.is_link else 0.9 for bar in bars],
        [bar.start for bar in bars],
        color=[(COLOURS["link"] if bar.is_link else colours)[1 - bar.number % 2] for bar in bars],
    )


def _label_bars(panel: Panel, word: str) -> None:
    """Number each input, or layer, in each row of nodes where that is wide and high enough."""
    axes, rows, bars, colours = panel
    parts = defaultdict(list)
    for bar in bars:
        if not bar.is_link:
            parts[rows.index(bar.row), bar.number].append(bar)
    for (row, number), its in parts.items():
        start, end = its[0].start, its[-1].end
        if sum(bar.end - bar.start for bar in its) < 0.9 * (end - start):  # there are wide gaps
            *_, start, end = max(its, key=lambda bar: bar.end - bar.start)
        room = Bbox(axes.transData.transform([(start, row + 0.45), (end, row - 0.45)]))
        for said in (f"{word} {number}", f"{number}"):
            text = axes.text(
                (start + end) / 2,
                row + 0.04,
                said,
                ha="center",
                va="center",
                color="white" if number % 2 else "black",
                bbox={"color": colours[1 - number % 2], "pad": 0},  # over narrow gaps
            )
            needed = text.get_window_extent()
            if needed.width < 0.95 * room.width and needed.height < room.height:
                break
            text.remove()


# ------------------------------------------------ latency per input


@in_style
def latency(
    network: Network, system: System, inputs: int = 1, size_pt: Size = (640, 320)
) -> Figure:
    """Latency per input against the number of inputs, of all that is possible, and the limit.

    Raises ValueError where neither strategy is possible.
    """
    lab3.check(network, system, inputs)
    counts = [2**power for power in range(inputs.bit_length()) if 1.4 * 2**power < inputs]
    counts.append(inputs)
    curves = _curves(network, system, counts)
    slowest_s, limit_s = max(map(max, curves.values())), compute_bound(network, system)
    unit = _unit(SECONDS, slowest_s)
    figure = _figure(size_pt)
    axes = figure.subplots()
    axes.set_xscale("log")
    axes.set_xticks(counts[:: -ceil(len(counts) * len(f"{inputs:,}") / 50)])  # as names have room
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("inputs")
    axes.set_ylim(0, 1.05 * unit.of(slowest_s))
    axes.set_ylabel(f"latency per input, {unit.name}")
    axes.axhspan(0, unit.of(limit_s), color=PALE)
    axes.axhline(unit.of(limit_s), color=INK, linewidth=2)
    ends = [("no schedule is faster", limit_s, INK)]  # of curves, and of the line
    for (strategy, rows), values in curves.items():
        colour, is_whole = COLOURS[strategy][0], rows == "whole tensors"
        axes.plot(
            counts,
            [unit.of(value) for value in values],
            color=colour,
            linestyle="-" if is_whole else "--",
            marker="o" if is_whole else "s",
            markersize=5,
            markerfacecolor=colour if is_whole else "white",
        )
        ends.append((f"{strategy}, {rows}", values[-1], colour))
    figure.draw_without_rendering()  # which finds the places of everything
    _name_ends(axes, inputs, sorted(ends, key=lambda end: end[1]), unit)
    return figure


def _curves(
    network: Network, system: System, counts: Sequence[int]
) -> dict[tuple[str, str], list[Fraction]]:
    """Seconds per input for so many inputs, by strategy and by what is sent at a time."""
    possible, reasons = lab3.possible_strategies(network, system)
    if not possible:
        raise ValueError(". ".join(reasons.values()))
    curves = {}
    for strategy, stages in possible.items():
        whole = [lab3.latency(stages, system, number) / number for number in counts]
        curves[strategy, "whole tensors"] = whole
        with suppress(ValueError):  # where that is not modelled
            streamed = [streamed_latency(strategy, network, system, n) / n for n in counts]
            curves[strategy, "rows streamed"] = streamed
    return curves


def _name_ends(
    axes: Axes, inputs: int, ends: Sequence[tuple[str, Fraction, str]], unit: Unit
) -> None:
    """Right of the curves their names and last values, from the lowest up, none on another."""
    line = LINE_PT / 72 * axes.figure.dpi / axes.bbox.height
    places = [unit.of(value) / axes.get_ylim()[1] for _, value, _ in ends]
    for _ in range(50):
        for lower, upper in pairwise(range(len(places))):
            lack = max(0, line - (places[upper] - places[lower]))
            places[lower], places[upper] = places[lower] - lack / 2, places[upper] + lack / 2
    for place, (name, value, colour) in zip(places, ends, strict=True):
        axes.annotate(
            f"{name} {unit.text(value)}",
            (inputs, unit.of(value)),
            (1.06, place),
            textcoords="axes fraction",
            color=colour,
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.6, "relpos": (0, 0.5)},
        )


# ------------------------------------------------ which plan

MOST_PLANS = 1_000  # of more only the best are drawn
MARKERS = {"tensor": "s", "pipeline": "D", "plan": "o"}

Point = tuple[float, float]


@in_style
def plans(network: Network, system: System, inputs: int = 1, size_pt: Size = (640, 420)) -> Figure:
    """Latency against traffic of every plan, or of the best where there are too many.

    Raises ValueError as best_plans does.
    """
    best = best_plans(network, system, inputs)
    every = _every_plan(network, system, inputs)
    shown = every or best
    times = _unit(SECONDS, max(it.latency_s for it in shown))
    sizes = _unit(BYTES, max(it.traffic_bytes for it in shown))
    points = {it.text: (sizes.of(it.traffic_bytes), times.of(it.latency_s)) for it in shown}
    kinds = {it.text: _kind(network, system, it.plan) for it in shown}
    figure = _figure(size_pt)
    axes = figure.subplots()
    for kind, fits in product(MARKERS, (True, False)):
        alike = [points[it.text] for it in shown if kinds[it.text] == kind and it.fits == fits]
        if alike:
            _draw_points(axes, alike, kind, fits)
    front = zip(*(points[it.text] for it in best), strict=True)
    label = "no plan is better in both"
    axes.plot(*front, drawstyle="steps-pre", color=INK, linewidth=1, zorder=1, label=label)
    which = count(len(shown), "plan" if every else "best plan")
    can_run = f"{sum(it.fits for it in shown)} of {which} can run"
    axes.set_title(f"{can_run} in {count(system.sram_bytes, 'byte')} of SRAM, one input at a time")
    axes.set_xlabel(f"traffic of {count(inputs, 'input')}, {sizes.name}")
    axes.set_ylabel(f"latency of {count(inputs, 'input')}, {times.name}")
    axes.set_xlim(0)
    axes.set_ylim(0)
    axes.xaxis.set_major_formatter(TICKS)
    axes.yaxis.set_major_formatter(TICKS)
    figure.legend(loc="outside lower left", ncols=2)
    figure.draw_without_rendering()  # which finds the places of everything
    strategies = [text for text, kind in kinds.items() if kind != "plan"]
    names = dict.fromkeys([*strategies, *(it.text for it in best)])
    _name_points(axes, {text: points[text] for text in names}, list(points.values()))
    return figure


def _every_plan(network: Network, system: System, inputs: int) -> list[PlanFigures]:
    """An empty list, where there are more than MOST_PLANS."""
    try:
        found = every_plan(network, system)
    except ValueError:
        return []
    if len(found) > MOST_PLANS:
        return []
    return [plan_figures(network, system, plan, inputs) for plan in found]


def _draw_points(axes: Axes, points: Sequence[Point], kind: str, fits: bool) -> None:
    name = "other plans" if kind == "plan" else f"{kind} parallelism"
    axes.plot(
        *zip(*points, strict=True),
        linestyle="",
        marker=MARKERS[kind],
        markersize=6 if kind == "plan" else 9,
        color=COLOURS[kind][0],
        markerfacecolor=COLOURS[kind][0] if fits else "white",
        label=f"{name}, {'fits' if fits else 'too large'}",
        clip_on=False,
        zorder=2 if kind == "plan" else 3,
    )


def _name_points(axes: Axes, names: dict[str, Point], points: Sequence[Point]) -> None:
    """Each name beside its point, where it covers no point and no other name; else nowhere."""
    covered = [Bbox.from_bounds(x - 5, y - 5, 10, 10) for x, y in axes.transData.transform(points)]
    for name, point in names.items():
        for x, y in ((8, 9), (-8, 0), (8, -9), (-8, -9), (-8, 9)):
            text = axes.annotate(
                name,
                point,
                (x, y),
                textcoords="offset points",
                ha="left" if x > 0 else "right",
                va="center",
            )
            box = text.get_window_extent()
            is_inside = all(axes.bbox.contains(*corner) for corner in box.corners())
            if is_inside and not box.count_overlaps(covered):
                covered.append(box)
                break
            text.remove()


# ------------------------------------------------ what nodes must hold

MOST_FULL = 8  # nodes of a strategy that are shown


@in_style
def sram(network: Network, system: System, size_pt: Size | None = None) -> Figure:
    """Weights, input and output on each node when it is fullest, with one input at a time."""
    lab3.check(network, system)
    rows: list[tuple[str, SramUse | None]] = []  # a strategy's name, then those of its nodes
    for scheme, uses in sram_uses(network, system).items():
        strategy, _, streamed = scheme.partition(", ")
        head = f"{strategy} parallelism, {'rows streamed' if streamed else 'whole tensors'}"
        nodes = _fullest(strategy, uses)
        few = f", fullest {MOST_FULL} of {len(uses)} nodes" if 1 < len(nodes) < len(uses) else ""
        rows += [(head + few, None), *nodes.items()]
    most = max(use.total_bytes for _, use in rows if use)
    unit = _unit(BYTES, most)
    figure = _figure(size_pt or (640, LINE_PT * (len(rows) + 6)))
    axes = figure.subplots()
    is_near = system.sram_bytes < 2 * most  # or else too far to be drawn
    for row, (name, use) in enumerate(rows):
        if use:
            _stack(axes, row, use, system.sram_bytes, is_near, unit)
        else:
            colour = COLOURS[name.split()[0]][0]
            axes.text(0, row, name, color=colour, va="center_baseline", weight="bold")
    at = unit.of(system.sram_bytes if is_near else most)
    said = f"SRAM of a node, {count(system.sram_bytes, 'byte')}{'' if is_near else ' →'}"
    axes.text(at, -0.8, said, ha="center" if is_near else "right")
    axes.set_yticks(
        [row for row, (_, use) in enumerate(rows) if use], [name for name, use in rows if use]
    )
    axes.tick_params("y", length=0)
    axes.set_ylim(len(rows) - 0.4, -0.7)
    axes.xaxis.set_major_formatter(TICKS)
    axes.set_xlabel(f"what a node holds with one input at a time, {unit.name}")
    parts = [
        Patch(facecolor=colour, edgecolor="white", hatch=hatch, label=part)
        for part, (colour, hatch) in PARTS.items()
    ]
    if any(use and use.total_bytes > system.sram_bytes for _, use in rows):
        parts.append(Patch(color=ALARM, label="more than the SRAM"))
    figure.legend(handles=parts, loc="outside lower left", ncols=4)
    return figure


def _fullest(strategy: str, uses: Sequence[SramUse]) -> dict[str, SramUse]:
    """By node, what the fullest nodes hold, in the order of the nodes."""
    if strategy == "pipeline":
        fullest = sorted(uses, key=lambda use: use.total_bytes)[-MOST_FULL:]
        return {f"node {use.layer}": use for use in sorted(fullest)}
    use = max(uses, key=lambda use: use.total_bytes)
    return {"gathering node" if use.work == "gather" else "every node": use}


def _stack(axes: Axes, row: int, use: SramUse, sram_bytes: int, is_near: bool, unit: Unit) -> None:
    """A bar of the parts, red beyond the SRAM, whose end is marked, and the total behind both."""
    end = 0
    for (colour, hatch), size in zip(PARTS.values(), use[2:], strict=True):
        start, end = end, end + size
        inside = min(max(sram_bytes, start), end)
        for left, right, fill in ((start, inside, colour), (inside, end, ALARM)):
            if left < right:
                axes.barh(
                    row,
                    unit.of(right - left),
                    left=unit.of(left),
                    facecolor=fill,
                    hatch=hatch,
                    edgecolor="white",
                    linewidth=0.5,
                )
    if is_near:
        axes.vlines(unit.of(sram_bytes), row - 0.5, row + 0.5, color=INK)
    beyond = end - sram_bytes
    axes.annotate(
        f"{end:,} bytes, {beyond:,} too many" if beyond > 0 else f"{end:,} bytes",
        (unit.of(max(end, sram_bytes) if is_near else end), row),
        (5, 0),
        textcoords="offset points",
        color=ALARM if beyond > 0 else INK,
        va="center_baseline",
    )


# ------------------------------------------------ the script


def draw(picture: str, question: Question, texts: Sequence[str] = ()) -> Figure:
    """One of the PICTURES; a timeline of these plans, or of both strategies."""
    network, system, inputs = question
    if picture == "timeline":
        return timeline(network, system, plans_or_strategies(texts, network, system), inputs)
    if picture == "latency":
        return latency(network, system, inputs)
    return plans(network, system, inputs) if picture == "plans" else sram(network, system)


@in_style
def image(figure: Figure, ending: str) -> bytes:
    """The file for ".svg" or ".png", the same on every run."""
    file = BytesIO()
    figure.savefig(file, format=ending[1:], dpi=200, metadata={"Date": None})
    return file.getvalue()


def respond(argv: Sequence[str] | None) -> str:
    """Write the picture. Returns what was asked, and where it is."""
    options = _option_parser().parse_args(argv)
    output = options.output or Path(f"{options.picture}.svg")
    if output.suffix not in ENDINGS:
        name = whatif.shown(str(output))
        raise ValueError(f"--output: {name} does not end in {' or '.join(ENDINGS)}")
    if options.plan and options.picture != "timeline":
        raise ValueError(f"--plan: only a timeline is of a plan, not {options.picture}")
    question = whatif.question(options)
    output.write_bytes(image(draw(options.picture, question, options.plan), output.suffix))
    return "\n".join(filter(None, [whatif.asked(question), f"drawn: {output}"]))


if __name__ == "__main__":
    sys.exit(whatif.run(respond))
