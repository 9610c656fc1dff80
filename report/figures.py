"""The deck's charts as SVG, byte for byte the same each time, drawn from what analysis computes."""

import io
from collections.abc import Iterable
from fractions import Fraction
from itertools import accumulate, permutations
from math import sqrt
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

import analysis
from lab3 import (
    GIGA,
    INPUTS,
    KIB,
    NETWORK,
    SYSTEM,
    Stage,
    pipeline_parallel_latency,
    pipeline_parallel_traffic,
    tensor_parallel_latency,
    tensor_parallel_traffic,
)

# Okabe and Ito's palette, which colour-blind readers tell apart; "rows" are a pipeline's, too.
COLOURS = {"tensor": "#0072B2", "pipeline": "#D55E00", "data": "#009E73", "ink": "#333333"}
COLOURS["rows"] = COLOURS["pipeline"]
INK = COLOURS["ink"]
GREY = "#8A8A8A"

# matplotlib measures text in a font of its own, Typst draws it in the deck's: the look and the
# bytes depend on no font of the machine.
MEASURED_FONT, DRAWN_FONT = "DejaVu Serif", "Libertinus Serif"
STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "lab3",
    "font.family": MEASURED_FONT,
    "font.size": 13,
    "patch.linewidth": 0.6,
    "text.color": INK,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.color": GREY,
    "ytick.labelcolor": INK,
}
POINTS_PER_INCH = 72
MS_PER_S = 1000
US_PER_S = MEGA = 10**6


def draw_all() -> dict[str, str]:
    """Every chart's SVG by name."""
    nodes = range(SYSTEM.nodes)
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        figures = {
            "all-to-all": machine(permutations(nodes, 2)),
            "ring": machine((node, (node + 1) % SYSTEM.nodes) for node in nodes),
            "results": results(),
            "tensor": tensor_timeline(),
            "pipeline": pipeline_gantt(),
            "losses": pipeline_losses(),
            "bandwidth": bandwidth(),
            "sram": sram(),
        }
        return {name: to_svg(figure) for name, figure in figures.items()}


def to_svg(figure: Figure) -> str:
    """The figure as text, without a date."""
    file = io.StringIO()
    figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return file.getvalue().replace(MEASURED_FONT, DRAWN_FONT)


def canvas(width_pt: float, height_pt: float) -> Figure:
    """A figure that the deck shows at its own size, so that a point of its text is a point."""
    return Figure(figsize=(width_pt / POINTS_PER_INCH, height_pt / POINTS_PER_INCH))


def place(figure: Figure, left_pt: float, bottom_pt: float, right_pt: float, top_pt: float) -> Axes:
    """Axes that keep these margins."""
    width_pt, height_pt = figure.get_size_inches() * POINTS_PER_INCH
    size_pt = (width_pt - left_pt - right_pt, height_pt - bottom_pt - top_pt)
    return figure.add_axes(
        (
            left_pt / width_pt,
            bottom_pt / height_pt,
            size_pt[0] / width_pt,
            size_pt[1] / height_pt,
        )
    )


def tint(colour: str, share: float) -> str:
    """So much of the colour, the rest white."""
    red, green, blue = (1 - share * (1 - part) for part in to_rgb(colour))
    return to_hex((red, green, blue))


def label_rows(axes: Axes, names: list[str], colours: list[str]) -> None:
    """Rows named from the top, without ticks or an axis line."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params("y", length=0)
    axes.spines.left.set_visible(False)
    for text, colour in zip(axes.get_yticklabels(), colours, strict=True):
        text.set_color(colour)


def write(
    axes: Axes,
    text: str,
    at: tuple[float, float],
    offset_pt: tuple[float, float] = (0, 0),
    **style: Any,
) -> None:
    """Text so many points away from a place of the axes."""
    axes.annotate(text, at, offset_pt, textcoords="offset points", annotation_clip=False, **style)


# ------------------------------------------------ page 1 and 6: the machine


def machine(links: Iterable[tuple[int, int]]) -> Figure:
    """Nodes at the corners of a square, clockwise from the top left, and an arrow for each link."""
    figure = canvas(170, 124)
    axes = place(figure, 0, 0, 0, 0)
    corners = [(0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.0, 0.0)]
    for sender, receiver in links:
        (x, y), (to_x, to_y) = corners[sender], corners[receiver]
        # To the side of its line, so that the way back lies beside it.
        side_x, side_y = 0.045 * (to_y - y), -0.045 * (to_x - x)
        axes.annotate(
            "",
            (to_x + side_x, to_y + side_y),
            (x + side_x, y + side_y),
            arrowprops={
                "arrowstyle": "-|>,head_length=0.45,head_width=0.2",
                "color": INK,
                "linewidth": 1.1,
                "shrinkA": 19,
                "shrinkB": 19,
            },
        )
    for number, (x, y) in enumerate(corners, 1):
        axes.plot(x, y, "o", markersize=34, color=tint(INK, 0.12), markeredgecolor=INK)
        axes.text(x, y, str(number), fontsize=16, ha="center", va="center_baseline")
    axes.set(xlim=(-0.3, 1.3), ylim=(-0.25, 1.25))
    axes.set_axis_off()
    return figure


# ------------------------------------------------ page 2: results


def results() -> Figure:
    """Latency and traffic, for 1 input and for many."""
    figure = canvas(770, 168)
    for column, (inputs, count) in enumerate(((1, "1 input"), (INPUTS, f"{INPUTS} inputs"))):
        left_pt, right_pt = 62 + 390 * column, 453 - 390 * column
        latency = place(figure, left_pt, 92, right_pt, 22)
        traffic = place(figure, left_pt, 0, right_pt, 114)
        draw_pair(latency, f"latency of {count}", latencies_ms(inputs), "ms")
        draw_pair(traffic, f"traffic of {count}", traffics_mb(inputs), "MB")
    return figure


def latencies_ms(inputs: int) -> list[float]:
    """Tensor and pipeline parallelism."""
    functions = (tensor_parallel_latency, pipeline_parallel_latency)
    return [float(latency_s(NETWORK, SYSTEM, inputs) * MS_PER_S) for latency_s in functions]


def traffics_mb(inputs: int) -> list[float]:
    """Tensor and pipeline parallelism."""
    functions = (tensor_parallel_traffic, pipeline_parallel_traffic)
    return [traffic_bytes(NETWORK, SYSTEM, inputs) / MEGA for traffic_bytes in functions]


def draw_pair(axes: Axes, title: str, values: list[float], unit: str) -> None:
    """A bar for each strategy, its value at its end."""
    colours = [COLOURS["tensor"], COLOURS["pipeline"]]
    axes.barh([0, 1], values, color=colours, height=0.78)
    label_rows(axes, ["tensor", "pipeline"], colours)
    axes.set_xlim(0, max(values))
    axes.xaxis.set_visible(False)
    axes.spines.bottom.set_visible(False)
    axes.set_title(f"{title}, {unit}", fontsize=13, loc="left", pad=2)
    for row, value in enumerate(values):
        write(axes, f"{value:.2f} {unit}", (value, row), (5, 0), va="center_baseline")


# ------------------------------------------------ page 3: tensor parallelism


def tensor_timeline() -> Figure:
    """One input on all nodes and links, to scale."""
    figure = canvas(770, 168)
    axes = place(figure, 62, 36, 20, 18)
    for job in analysis.tensor_schedule():
        if job.stage.work == "compute":
            draw_on_all_nodes(axes, job)
        else:
            draw_on_links(axes, job)
    names = [f"node {node + 1}" for node in range(SYSTEM.nodes)] + [f"{SYSTEM.links} links"]
    label_rows(axes, names, [INK] * len(names))
    axes.set_xlim(0, float(analysis.AS_READ.tensor_q1_s * US_PER_S))
    axes.set_xlabel("time, µs", labelpad=1)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    return figure


def draw_on_all_nodes(axes: Axes, job: analysis.Job) -> None:
    """A layer's computation; the first is too short to hold its name."""
    start_us, length_us = float(job.start_s * US_PER_S), float(job.stage.latency_s * US_PER_S)
    text = f"layer {job.stage.layer}"
    if job.stage.layer == 1:
        write(axes, text, (start_us, -0.5), (0, 4))
    for node in range(SYSTEM.nodes):
        colour = tint(COLOURS["tensor"], 0.8)
        axes.barh(node, length_us, left=start_us, height=0.8, color=colour)
        if job.stage.layer > 1:
            at = (start_us + length_us / 2, node)
            write(axes, text, at, color="white", ha="center", va="center_baseline")


def draw_on_links(axes: Axes, job: analysis.Job) -> None:
    """A collective, its name where there is room."""
    start_us, end_us = float(job.start_s * US_PER_S), float(job.end_s * US_PER_S)
    row, style = SYSTEM.nodes, {"color": COLOURS["tensor"], "va": "center_baseline"}
    axes.barh(row, end_us - start_us, left=start_us, height=0.8, color=COLOURS["tensor"])
    text = f"{job.stage.work} {end_us - start_us:.1f} µs"
    if job.stage.work == "gather":
        write(axes, text, (start_us, row), (-4, 0), ha="right", **style)
    else:
        write(axes, text, (end_us, row), (4, 0), **style)


# ------------------------------------------------ page 4: pipeline parallelism

GANTT_INPUTS = 4
INPUT_TINTS = (0.65, 0.52, 0.39, 0.26)  # light enough for dark text


def pipeline_gantt() -> Figure:
    """The first inputs on every node and link, to scale."""
    figure = canvas(770, 198)
    axes = place(figure, 62, 36, 14, 18)
    jobs = analysis.pipeline_schedule(GANTT_INPUTS)
    for job in jobs:
        row = gantt_row(job.stage)
        start_ms, length_ms = float(job.start_s * MS_PER_S), float(job.stage.latency_s * MS_PER_S)
        is_compute = job.stage.work == "compute"
        colour = tint(COLOURS["pipeline"], INPUT_TINTS[job.input - 1]) if is_compute else INK
        axes.barh(row, length_ms, left=start_ms, height=0.86, color=colour, edgecolor="white")
        if is_compute and job.stage.layer > 1:
            at = (start_ms + length_ms / 2, row)
            write(axes, f"input {job.input}", at, ha="center", va="center_baseline")
        elif job.input == GANTT_INPUTS:
            at = (start_ms + length_ms, row)
            write(axes, f"{length_ms:.2f} ms each", at, (5, 0), va="center_baseline")
        if job.stage.layer == len(NETWORK):
            end_ms = float(job.end_s * MS_PER_S)
            axes.axvline(end_ms, color=GREY, linewidth=0.8, dashes=(4, 3), zorder=0)
            write(axes, f"output {job.input}: {end_ms:.2f} ms", (end_ms, -0.5), (0, 4), ha="right")
    names = {gantt_row(job.stage): gantt_name(job.stage) for job in jobs}
    label_rows(axes, list(names.values()), [INK] * len(names))
    axes.set_xlim(0, float(jobs[-1].end_s * MS_PER_S))
    axes.set_xlabel("time, ms", labelpad=1)
    return figure


def gantt_row(stage: Stage) -> int:
    """A node's row and then, if it sends, its link's."""
    return 2 * (stage.layer - 1) + (stage.work == "send")


def gantt_name(stage: Stage) -> str:
    """Where the stage's work is done."""
    if stage.work == "send":
        return f"link {stage.layer} → {stage.layer + 1}"
    return f"node {stage.layer}"


def pipeline_losses() -> Figure:
    """What the latency of many inputs is made of."""
    figure = canvas(770, 46)
    axes = place(figure, 0, 1, 0, 18)
    losses_ms = [float(loss_s * MS_PER_S) for loss_s in analysis.pipeline_losses_s(INPUTS).values()]
    ends_ms = list(accumulate(losses_ms))
    colours = [*(tint(COLOURS["pipeline"], share) for share in (0.65, 0.45, 0.25)), INK]
    names = ("all nodes busy", "filling", "imbalance", "sending")
    for name, loss_ms, end_ms, colour in zip(names, losses_ms, ends_ms, colours, strict=True):
        axes.barh(0, loss_ms, left=end_ms - loss_ms, height=1, color=colour)
        text = f"{name} {loss_ms:.2f} ms"
        if name in ("filling", "sending"):  # too short to hold it
            write(axes, text, (end_ms, 0.5), (0, 4), ha="right")
        else:
            at = (end_ms - loss_ms / 2, 0)
            write(axes, text, at, ha="center", va="center_baseline")
    axes.set(xlim=(0, ends_ms[-1]), ylim=(-0.5, 0.5))
    axes.set_axis_off()
    return figure


# ------------------------------------------------ page 5: link bandwidth

LOWEST_MB_PER_S, DECADES, STEPS_PER_DECADE = 4, 3, 40
LOWEST_MS, HIGHEST_MS = 70, 2000
LAB_MB_PER_S = float(SYSTEM.link_bytes_per_s / MEGA)


def bandwidth() -> Figure:
    """Both latencies of many inputs against the links' bandwidth, and where they meet."""
    figure = canvas(350, 250)
    axes = place(figure, 42, 36, 10, 22)
    axes.set(xscale="log", yscale="log", ylim=(LOWEST_MS, HIGHEST_MS))
    low_mb, high_mb = (float(speed / MEGA) for speed in analysis.crossovers_bytes_per_s(INPUTS))
    colour = COLOURS["pipeline"]
    axes.axvspan(low_mb, high_mb, color=tint(colour, 0.15), linewidth=0)
    top = (sqrt(low_mb * high_mb), HIGHEST_MS)
    write(axes, "pipeline", top, (0, -20), color=colour, ha="center")
    write(axes, "is faster", top, (0, -36), color=colour, ha="center")
    draw_latency(axes, "pipeline", 7)
    draw_latency(axes, "tensor", -16)
    mark_crossover(axes, low_mb, (8, 5), "left")
    mark_crossover(axes, high_mb, (2, -19), "right")
    lab_gb = float(Fraction(SYSTEM.link_bytes_per_s, GIGA))
    axes.axvline(LAB_MB_PER_S, color=INK, linewidth=1, dashes=(4, 3), zorder=0)
    write(axes, f"the lab: {lab_gb:g} GB/s", (LAB_MB_PER_S, HIGHEST_MS), (-5, -20), ha="right")
    axes.set_xticks([10, 100, 1000], ["10", "100", "1,000"])
    axes.set_yticks([100, 200, 500, 1000, 2000], ["100", "200", "500", "1,000", "2,000"])
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("bandwidth of a link, MB/s", labelpad=1)
    axes.set_title(f"latency of {INPUTS} inputs, ms", fontsize=13, loc="left", x=-0.13)
    return figure


def draw_latency(axes: Axes, strategy: str, text_rise_pt: float) -> None:
    """A strategy's curve, and its latency on the lab's links."""
    steps = range(DECADES * STEPS_PER_DECADE + 1)
    speeds_mb = [LOWEST_MB_PER_S * 10 ** (step / STEPS_PER_DECADE) for step in steps]
    colour, at = COLOURS[strategy], (LAB_MB_PER_S, latency_ms(strategy, LAB_MB_PER_S))
    axes.plot(
        speeds_mb, [latency_ms(strategy, mb) for mb in speeds_mb], color=colour, linewidth=2.4
    )
    axes.plot(*at, "o", markersize=6, color=colour)
    write(axes, f"{strategy} {at[1]:.2f} ms", at, (-5, text_rise_pt), color=colour, ha="right")
    axes.set_xlim(speeds_mb[0], speeds_mb[-1])


def mark_crossover(axes: Axes, speed_mb: float, offset_pt: tuple[float, float], align: str) -> None:
    """Where both strategies take equally long."""
    at = (speed_mb, latency_ms("tensor", speed_mb))
    axes.plot(*at, "o", markersize=8, color="white", markeredgecolor=INK)
    write(axes, f"{speed_mb:.2f} MB/s", at, offset_pt, ha=align)


def latency_ms(strategy: str, link_mb_per_s: float) -> float:
    """A strategy's latency of many inputs."""
    latency_s = {"tensor": tensor_parallel_latency, "pipeline": pipeline_parallel_latency}[strategy]
    system = analysis.with_bandwidth(Fraction(link_mb_per_s) * MEGA)
    return float(latency_s(NETWORK, system, INPUTS) * MS_PER_S)


# ------------------------------------------------ page 6: SRAM

STRATEGY_NAMES = {
    "tensor": "tensor",
    "pipeline": "pipeline,\nwhole\ntensors",
    "rows": "pipeline,\nrows\nstreamed",
    "data": "data",
}
SRAM_AXIS_KB = 1300
PART_TINTS = {"weights": 1, "input": 0.6, "output": 0.3}


def sram() -> Figure:
    """What each node must hold, for each strategy, against what it can."""
    figure = canvas(452, 212)
    axes = place(figure, 96, 20, 76, 16)
    row, ticks = 0.0, {}
    for strategy, name in STRATEGY_NAMES.items():
        nodes = [node for node in analysis.node_srams() if node.strategy == strategy]
        middle = row + (len(nodes) - 1) / 2
        write(axes, name, (0, middle), (-96, 0), color=COLOURS[strategy], va="center_baseline")
        for node in nodes:
            draw_parts(axes, row, node)
            ticks[row] = node.nodes
            row += 1
        row += 0.5
    axes.set_yticks(list(ticks), list(ticks.values()))
    axes.tick_params("y", length=0, pad=2)
    axes.spines.left.set_visible(False)
    axes.set_ylim(row - 0.9, -0.6)
    sram_kb = SYSTEM.sram_bytes // KIB
    axes.axvline(sram_kb, color=INK, linewidth=1.4)
    write(axes, f"{sram_kb} KB of SRAM", (sram_kb, -0.6), (0, 4), ha="center")
    write(axes, "node", (0, -0.6), (-3, 4), ha="right")
    axes.set_xlim(0, SRAM_AXIS_KB)
    write(axes, "bytes", (SRAM_AXIS_KB, -0.6), (76, 4), ha="right")
    axes.set_xticks(
        range(0, SRAM_AXIS_KB, 256), [f"{kb:,} KB" for kb in range(0, SRAM_AXIS_KB, 256)]
    )
    return figure


def draw_parts(axes: Axes, row: float, node: analysis.NodeSram) -> None:
    """A node's weights, input and output in a row, and their sum."""
    parts_bytes = (node.weight_bytes, node.input_bytes, node.output_bytes)
    left_kb = 0.0
    for (name, share), part_bytes in zip(PART_TINTS.items(), parts_bytes, strict=True):
        length_kb = part_bytes / KIB
        colour = tint(COLOURS[node.strategy], share)
        axes.barh(row, length_kb, left=left_kb, height=0.9, color=colour)
        if node.strategy == "data":
            text_colour = "white" if share == 1 else INK
            write(axes, name, (left_kb, row), (5, 0), color=text_colour, va="center_baseline")
        left_kb += length_kb
    weight = "bold" if node.total_bytes > SYSTEM.sram_bytes else "normal"
    write(
        axes,
        f"{node.total_bytes:,}",
        (SRAM_AXIS_KB, row),
        (76, 0),
        ha="right",
        va="center_baseline",
        weight=weight,
    )
