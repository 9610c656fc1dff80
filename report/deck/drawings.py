"""Pictures that only the deck has, in points of its pages. slides.typ tells what they show."""

from __future__ import annotations

import whatif  # first, since it finds lab3

# isort: split
import re
from collections.abc import Sequence
from fractions import Fraction
from io import StringIO
from itertools import accumulate, chain, pairwise, permutations
from math import ceil, floor
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

import lab3
import plans
import schedule
from facts import SHOWN_INPUTS, faster_between, results, same_traffic_plan, shown_s, slow_ring_mb
from figures import balanced_pipeline_latency, losses, sram_uses
from pictures import ALARM, COLOURS, INK, PARTS, in_style
from whatif import Question

MS, MB = 10**3, 10**6
SMALL_PT, FACE = 13, "Libertinus Serif"
INCH_PT = 72
NOTE, PALE = "#595959", "#E4E4E4"  # what only guides the eye
LEADER = {"arrowstyle": "-", "relpos": (0, 0.5), "shrinkA": 2, "shrinkB": 4}  # from text to mark
SAME_TRAFFIC = "layers 1-2 on two nodes, 3 and 4 on one each"
LABEL: dict[str, Any] = {"size": SMALL_PT, "color": INK, "va": "center"}


def page(width: float, height: float, **margins: float) -> tuple[Figure, Axes]:
    """A figure and its axes, without a frame, with margins (left, right, top, bottom) in points."""
    figure = Figure(figsize=(width / INCH_PT, height / INCH_PT))
    left, right, top, bottom = (margins.get(it, 0) for it in ("left", "right", "top", "bottom"))
    axes = figure.add_axes(
        (left / width, bottom / height, 1 - (left + right) / width, 1 - (top + bottom) / height)
    )
    axes.spines[:].set_visible(False)
    axes.tick_params(labelsize=SMALL_PT, colors=NOTE, length=3, pad=2)
    return figure, axes


def bar(
    axes: Axes, row: float, name: str, parts: Sequence[float], said: str, colour: str, **style: Any
) -> None:
    """Parts end to end, their name on the left and what is said behind them; hollow or not."""
    face = "white" if "edgecolor" in style else colour
    ends = [*accumulate(parts, initial=0.0)]
    for start, end in pairwise(ends):
        axes.barh(row, end - start, 0.76, start, label=name, facecolor=face, **style)
    for end in ends[1:-1]:
        axes.vlines(end, row - 0.4, row + 0.4, "white")
    beside(axes, 0, row, name, -6, ha="right", color=colour)
    beside(axes, ends[-1], row, said, 5)


def beside(
    axes: Axes, x: float, y: float, text: str, right_pt: float, up_pt: float = 0, **style: Any
) -> None:
    """A text so many points from a place."""
    axes.annotate(
        text,
        (x, y),
        (right_pt, up_pt),
        textcoords="offset points",
        annotation_clip=False,
        **{**LABEL, **style},
    )


# ------------------------------------------------ page 1: latency per input


@in_style
def per_input(question: Question, width: float = 770, height: float = 107) -> Figure:
    """For one input and for all, of both strategies with whole tensors, on one scale."""
    figure, axes = page(width, height, left=216, top=17)
    found = dict(zip((0.0, 1, 2.4, 3.4), results(question), strict=True))
    ms = {row: float(it.latency_s * MS / it.inputs) for row, it in found.items()}
    for row, it in found.items():
        name = f"{whatif.count(it.inputs, 'input')}, {it.strategy} parallelism"
        bar(axes, row, name, [ms[row]], f"{ms[row]:.2f} ms", COLOURS[it.strategy][0])
    beside(axes, 0, -0.95, "Latency ÷ number of inputs", -6, ha="right", weight="bold")
    axes.set(xlim=(0, 1.3 * max(ms.values())), ylim=(3.9, -0.5), xticks=[], yticks=[])
    return figure


# ------------------------------------------------ pages 2 and 6: the machine


@in_style
def machine(topology: str, nodes: int, size: float = 100) -> Figure:
    """Nodes at the corners, clockwise from the top left, and an arrow for each one-way link."""
    figure, axes = page(size, size)
    axes.set(xlim=(-1.1, 1.1), ylim=(-1.1, 1.1), xticks=[], yticks=[])
    corner = complex(-1, 1) / 2**0.5
    places = [1.15 * corner * complex(0, -1) ** (4 * node / nodes) for node in range(nodes)]
    is_ring = topology == lab3.RING
    for sender, receiver in permutations(range(nodes), 2):
        if is_ring and receiver != (sender + 1) % nodes:
            continue
        start, end = places[sender], places[receiver]
        along = (end - start) / abs(end - start)
        aside = 0 if is_ring else 0.06j * along  # so that the way back lies beside it
        tail, tip = start + 0.3 * along + aside, end - 0.3 * along + aside
        arrow = {"arrowstyle": "-|>,head_width=0.2", "color": INK, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", (tip.real, tip.imag), (tail.real, tail.imag), arrowprops=arrow)
    for number, place in enumerate(places, 1):
        axes.add_patch(Circle((place.real, place.imag), 0.26, color=PALE))
        axes.text(place.real, place.imag, str(number), ha="center", **LABEL)
    return figure


# ------------------------------------------------ page 3: both schedules


@in_style
def timelines(question: Question, width: float = 770, height: float = 148) -> Figure:
    """Both strategies on one axis, a row a node; dark where an input is on links. Shown is the time
    of the pipeline's first inputs."""
    figure, axes = page(width, height, left=58, bottom=20)
    lab, nodes = (question.network, question.system), question.system.nodes
    both = plans.strategy_plans(*lab)
    end_s = shown_s(question)
    tops = {"tensor": 0.0, "pipeline": nodes + 0.5}
    for strategy, plan in both.items():
        interval_s = schedule.interval(*lab, plan)
        inputs = int(end_s / interval_s) if strategy == "tensor" else SHOWN_INPUTS
        for job in schedule.schedule(*lab, plan, inputs):
            where = _rows_of(job, strategy, nodes)
            length = float((job.end_s - job.start_s) * MS)
            axes.barh(
                [tops[strategy] + row for row in where],
                length,
                0.86 if job.work == "compute" else 1,
                float(job.start_s * MS),
                color=COLOURS[strategy][0] if job.work == "compute" else INK,
                label=f"{job.work} {job.layer}, input {job.input}",
            )
            if strategy == "pipeline" and job.work == "compute" and length > 2:
                _name_input(axes, job.input, job.start_s, job.end_s, tops[strategy] + where[0])
        if strategy == "tensor":
            for number in range(inputs):
                _name_input(axes, number + 1, number * interval_s, (number + 1) * interval_s, -0.95)
    axes.set(xlim=(0, float(end_s * MS)), ylim=(tops["pipeline"] + nodes - 0.3, -1.5))
    rows = [top + node for top in tops.values() for node in range(nodes)]
    axes.set_yticks(rows, [f"node {number}" for _ in tops for number in range(1, nodes + 1)])
    axes.tick_params(axis="y", length=0)
    axes.spines["bottom"].set_visible(True)
    axes.set_xticks(range(0, int(end_s * MS) + 1, 5))
    beside(axes, 0, tops["pipeline"] + nodes + 0.42, "ms", -36, color=NOTE)
    return figure


def _rows_of(job: schedule.Job, strategy: str, nodes: int) -> list[float]:
    """Of its nodes, or of those that wait for its links: in a pipeline none, so between them."""
    if job.work == "compute":
        return [int(name.split()[1]) - 1 for name in job.where]
    return [*range(nodes)] if strategy == "tensor" else [job.layer - 0.5]


def _name_input(axes: Axes, number: int, start_s: Fraction, end_s: Fraction, row: float) -> None:
    colour = INK if row < 0 else "white"
    middle = float((start_s + end_s) / 2 * MS)
    axes.text(middle, row, f"input {number}", ha="center", **{**LABEL, "color": colour})


# ------------------------------------------------ page 4: the limit, and other plans


@in_style
def limits(question: Question, width: float = 770, height: float = 146) -> Figure:
    """Latency of all inputs, whole tensors and rows streamed apart, against the limit; the
    pipeline's whole tensors in the parts of which its time is made."""
    figure, axes = page(width, height, left=244, top=18)
    tensor, pipeline = results(question)[-2:]
    parts = losses(question)
    for row, name, kind, parts_s in (
        (0.0, "tensor parallelism", "tensor", [tensor.latency_s]),
        (
            1,
            "perfectly balanced pipeline, links ignored",
            "none",
            [balanced_pipeline_latency(*question)],
        ),
        (2, SAME_TRAFFIC, "plan", [same_traffic_plan(question).latency_s]),
        (3, "pipeline parallelism", "pipeline", [*parts.values()]),
        (5, "tensor parallelism", "tensor", [tensor.streamed_latency_s]),
        (6, "pipeline parallelism", "pipeline", [pipeline.streamed_latency_s]),
    ):
        parts_ms = [float(part_s * MS) for part_s in parts_s]
        colour = {**COLOURS, "none": (NOTE,)}[kind][0]
        style = {"edgecolor": colour, "linewidth": 1} if kind == "none" else {"linewidth": 0}
        bar(axes, row, name, parts_ms, f"{sum(parts_ms):.2f} ms", colour, **style)
    limit_ms, imbalance_ms = (float(it * MS) for it in (tensor.limit_s, parts["imbalance"]))
    said = f"imbalance {imbalance_ms:.2f} ms"
    axes.text(limit_ms + imbalance_ms / 2, 3, said, ha="center", **{**LABEL, "color": "white"})
    filling_ms, end_ms = (float(it * MS) for it in (parts["fill and drain"], sum(parts.values())))
    said = f"fill and drain {filling_ms:.2f} ms"
    line = {**LEADER, "relpos": (1, 0.5), "shrinkB": 0}
    beside(axes, end_ms - filling_ms / 2, 3.38, said, -14, -11, ha="right", arrowprops=line)
    axes.axvline(limit_ms, color=INK, linestyle="--")
    said = f"no schedule is faster than {limit_ms:.2f} ms"
    axes.text(limit_ms, -0.95, said, ha="center", **LABEL)
    for row, name in ((-0.95, "whole tensors"), (4.05, "rows streamed")):
        beside(axes, 0, row, name, -6, ha="right", weight="bold")
    axes.set(xlim=(0, 1.16 * end_ms), ylim=(6.45, -0.5), xticks=[], yticks=[])
    return figure


@in_style
def plan_space(question: Question, width: float = 350, height: float = 196) -> Figure:
    """Latency against traffic of all inputs: every plan, filled if it fits, and the best."""
    figure, axes = page(width, height, left=30, bottom=32, top=24, right=8)
    network, system, inputs = question

    def place(it: plans.PlanFigures) -> tuple[float, float]:
        return it.traffic_bytes / MB, float(it.latency_s * MS)

    best = [place(it) for it in plans.best_plans(*question)]
    axes.step(*zip(*best, strict=True), where="pre", color=NOTE, label="best", zorder=1)
    axes.set(xlim=(-0.02 * best[0][0], 1.02 * best[0][0]), ylim=(0, 1.05 * best[-1][1]))
    tensor, pipeline = map(plans.plan_text, plans.strategy_plans(network, system).values())
    named = {  # with how far a name is, and from where of it a line sets out
        tensor: ("tensor", (-12, -27), (1, 0.7), "tensor parallelism, the only one that fits"),
        pipeline: ("pipeline", (44, 33), (0, 0.5), "pipeline parallelism"),
        same_traffic_plan(question).text: ("plan", (-100, -22), (0.42, 1), SAME_TRAFFIC),
    }
    for plan in plans.every_plan(network, system):
        it = plans.plan_figures(network, system, plan, inputs)
        kind, away_pt, start, name = named.get(it.text, ("", (0, 0), (0, 0), ""))
        colour = COLOURS[kind][0] if kind else NOTE
        axes.plot(
            *place(it),
            marker="o",
            markersize=6 if kind else 4,
            color=colour,
            markerfacecolor=colour if it.fits else "white",
            label=it.text,
            zorder=3 if kind else 2,
        )
        if kind:
            line = {**LEADER, "relpos": start, "color": colour}
            side = "right" if kind == "tensor" else "left"
            beside(axes, *place(it), name, *away_pt, ha=side, color=colour, arrowprops=line)
    for up_pt, said in (
        (-8, "line: no plan is faster with as few bytes"),
        (-24, "filled: fits the SRAM"),
    ):
        beside(axes, axes.get_xlim()[1], axes.get_ylim()[1], said, 0, up_pt, ha="right", color=NOTE)
    axes.locator_params(nbins=4)
    beside(axes, 0, axes.get_ylim()[1], f"latency of {inputs} inputs, ms", -34, 12, color=NOTE)
    axes.set_xlabel("traffic, MB", size=SMALL_PT, color=NOTE, labelpad=0)
    return figure


# ------------------------------------------------ page 5: SRAM


@in_style
def sram(question: Question, width: float = 770, height: float = 163) -> Figure:
    """What nodes must hold when they are fullest, one input at a time, with the sum; red is what
    their SRAM cannot hold."""
    figure, axes = page(width, height, left=200, top=18, right=250)
    uses = sram_uses(question.network, question.system)
    limit = question.system.sram_bytes
    right_end = 1.01 * max(use.total_bytes for use in chain(*uses.values()))
    row = 0.0
    for scheme, held in uses.items():
        strategy = scheme.split(",")[0]
        fullest = max(held, key=lambda use: use.total_bytes)
        for use in held if scheme == "pipeline" else [fullest]:
            where = f"node {use.layer}" if strategy == "pipeline" else "each node"
            name = f"{scheme.replace('streamed', 'rows streamed')}, {where}"
            beside(axes, 0, row, name, -6, ha="right", color=COLOURS[strategy][0])
            start = 0
            for (part, (colour, hatch)), size in zip(PARTS.items(), use[2:], strict=True):
                end, inside = start + size, max(start, min(start + size, limit))
                for left, right, fill in ((start, inside, colour), (inside, end, ALARM)):
                    style: dict[str, Any] = {"hatch": hatch, "edgecolor": "white", "linewidth": 0}
                    axes.barh(row, right - left, 0.76, left, color=fill, label=part, **style)
                start = end
            said = " + ".join(f"{size:,}" for size in use[2:]) + f" = {start:,}"
            colour = ALARM if start > limit else INK
            beside(axes, right_end, row, said, 250, ha="right", color=colour)
            row += 1
    key = [*PARTS.items(), ("more than the SRAM", (ALARM, ""))]
    key_x, width = 0.64 * right_end, 0.033 * right_end
    for at, (part, (colour, hatch)) in enumerate(key):
        style = {"hatch": hatch, "edgecolor": "white", "linewidth": 0}
        axes.barh(at, width, 0.76, key_x, color=colour, label="key", **style)
        beside(axes, key_x + width, at, part, 6)
    axes.axvline(limit, color=INK, linewidth=1.5)
    axes.text(limit, -1, f"SRAM of a node: {limit:,} bytes", ha="center", **LABEL)
    beside(axes, right_end, -1, "weights + input + output, bytes", 250, ha="right", color=NOTE)
    axes.set(xlim=(0, right_end), ylim=(row - 0.5, -0.6), xticks=[], yticks=[])
    return figure


# ------------------------------------------------ page 6: links


@in_style
def links(question: Question, width: float = 380, height: float = 128) -> Figure:
    """On which links the pipeline is faster for all inputs, in MB/s; an arrow where on all slower
    ones."""
    figure, axes = page(width, height, left=176, right=4, top=18, bottom=38)
    low_mb, high_mb = (float(it / MB) for it in faster_between(question))
    _, ring_high = faster_between(question.on(topology=lab3.RING))
    ring_mb, slow_mb = floor(ring_high / MB), slow_ring_mb(question)
    here, colour = float(question.system.link_bytes_per_s / MB), COLOURS["pipeline"][0]
    axes.set_xscale("log")
    for row, name, start, end, said in (
        (0, "whole tensors, all-to-all", low_mb, high_mb, f"{ceil(low_mb)} to {floor(high_mb)}"),
        (1, "whole tensors, one-way ring", 10, float(ring_high / MB), f"up to {ring_mb}"),
        (2, "rows streamed, all-to-all", 10, 10, "never"),
        (3, "rows streamed, one-way ring", 10, slow_mb, f"surely up to {slow_mb}"),
    ):
        axes.barh(row, end - start, 0.76, start, color=colour, label=name)
        beside(axes, 10, row, name, -14, ha="right")
        beside(axes, end, row, said, 5)
        if start == 10 < end:
            axes.plot(10, row, marker=8, markersize=9, color=colour, clip_on=False)
    axes.axvline(here, color=INK, linewidth=1.5)
    beside(axes, here, -1, f"this lab: {here:,.0f}", 4, ha="right")
    axes.set(xlim=(10, 2100), ylim=(3.5, -0.5), yticks=[], xticks=[10, 100, 1000])
    axes.minorticks_off()
    axes.xaxis.set_major_formatter("{x:,.0f}")
    said = "bandwidth of links, MB/s (log scale)"
    axes.set_xlabel(said, size=SMALL_PT, color=NOTE, loc="right")
    return figure


# ------------------------------------------------ all of them


def pictures(question: Question) -> dict[str, dict[str, Any]]:
    """Every picture by name: its SVG, set in the deck's font, and its size in points."""
    drawn = {
        "all-to-all": machine(lab3.ALL_TO_ALL, question.system.nodes),
        "ring": machine(lab3.RING, question.system.nodes),
        **{
            draw.__name__: draw(question)
            for draw in (per_input, timelines, limits, plan_space, sram, links)
        },
    }
    return {name: svg(figure) for name, figure in drawn.items()}


@in_style
def svg(figure: Figure) -> dict[str, Any]:
    """As slides.typ shows it."""
    file = StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    width, height = figure.get_size_inches() * INCH_PT
    text = re.sub("font-family: [^;]*", f"font-family: '{FACE}'", file.getvalue())
    return {"svg": text, "width": width, "height": height}


def looks() -> dict[str, Any]:
    """What text and pictures have in common."""
    shades = {name: shades[0] for name, shades in COLOURS.items()}
    return {"face": FACE, "small_pt": SMALL_PT, "colours": {**shades, "ink": INK, "note": NOTE}}
