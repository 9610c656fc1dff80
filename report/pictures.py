"""The `picture` command: who works when, and the time per input against the number of inputs.

A colour means the same in all pictures and in the deck, and no meaning rests on colour alone. Text
stays text in an SVG. Floats are only places on paper: what is printed is exact until it is rounded.
"""

import logging
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from fractions import Fraction
from io import BytesIO
from itertools import product
from math import ceil, inf
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from report.options import add_question_options, read_options
from report.question import ALL_TO_ALL, Question, describe_question, find_impossible, make_models
from report.results import Result, Step, compute_bound, find_results, list_steps
from report.text import count, find_name, format_path, format_rounded, quote

if TYPE_CHECKING:  # matplotlib is imported where something is drawn
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

PICTURES = {
    "timeline": "who works when",
    "limits": "the time per input against the number of inputs, and what bounds it",
}
# Their luminance differs clearly, for grey print and the colour-blind. The second shade is that of
# every other input.
COLOURS = {"tensor": ("#003A70", "#A9C4E0"), "pipeline": ("#C25700", "#F8CFA6")}
INK, NOTE, PALE = "#222222", "#595959", "#E6E6E6"
FACES = ["Libertinus Serif", "STIXGeneral"]  # the deck has the first, matplotlib the second

PER_INCH = 72
WIDTH_PT, FONT_PT, LINE_PT = 770, 14.75, 17
LETTER_PT, DIGIT_PT = FONT_PT / 2, 0.66 * FONT_PT  # how wide a letter, how high a digit is
HEAD_PT, AXIS_PT = 6, 22  # below what stands above axes; for the numbers of an axis
MOST_BARS = 1_000  # of a timeline
UNITS = {"s": 1, "ms": 10**3, "µs": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15}


def draw(name: str, question: Question, ending: str) -> tuple[bytes, str]:
    """Draw a picture as ".svg" or ".png": a file, and its message for those who cannot see it.
    Raises ValueError for too many bars, and as make_models does."""
    draw_figure = draw_limits if name == "limits" else draw_timeline
    return render(draw_figure, question, ending)


def render(
    draw_figure: "Callable[[Question], tuple[Figure, str]]", question: Question, ending: str
) -> tuple[bytes, str]:
    """Draw a figure, which comes with its message, the same on every run, whatever the user's
    settings for matplotlib are."""
    logging.getLogger("matplotlib").setLevel(logging.CRITICAL)  # a face or setting may be wrong
    os.environ.pop("MPLBACKEND", None)  # of notebooks, which matplotlib may not know

    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rc("font", family=FACES, size=FONT_PT)
        matplotlib.rc("svg", fonttype="none", hashsalt="lab3")
        figure, alt = draw_figure(question)
        file = BytesIO()
        figure.savefig(file, format=ending[1:], dpi=200, metadata={"Title": alt, "Date": None})
    return file.getvalue(), alt


# ------------------------------------------------ what pictures share
def make_axes(
    question: Question, height_pt: float, left_pt: float, right_pt: float, title: str = ""
) -> "tuple[Figure, Axes]":
    """Make axes of this height, with room on both sides. Above them stand how the question differs
    from the lab's, why a strategy is missing, and a title."""
    from matplotlib.figure import Figure

    difference = describe_question(question)
    asked = f"what if: {difference}" if difference else ""
    head = [asked, *find_impossible(question).values(), title]
    lines = [fill(line, int(WIDTH_PT / LETTER_PT)) for line in filter(None, head)]
    text = "\n".join(lines)
    all_pt = LINE_PT * len(text.splitlines()) + HEAD_PT + height_pt + AXIS_PT
    figure = Figure((WIDTH_PT / PER_INCH, all_pt / PER_INCH))
    figure.text(0, 1, text, color=INK, va="top", linespacing=LINE_PT / FONT_PT)
    width = (WIDTH_PT - left_pt - right_pt) / WIDTH_PT
    place = left_pt / WIDTH_PT, AXIS_PT / all_pt, width, height_pt / all_pt
    axes = figure.add_axes(place, facecolor="none")
    axes.spines[["left", "right", "top"]].set_visible(False)
    axes.spines["bottom"].set_color(NOTE)
    axes.tick_params(color=NOTE, labelcolor=NOTE)
    axes.tick_params("y", length=0, pad=6)  # beside a dot
    return figure, axes


def write(
    axes: "Axes", text: str, x: float, y: float, right_pt: float = 0, up_pt: float = 0, **looks: Any
) -> "Annotation":
    """Write a text so many points right of a place and above it."""
    looks = {"color": NOTE, "va": "center_baseline", "textcoords": "offset points"} | looks
    return axes.annotate(text, (x, y), (right_pt, up_pt), **looks)


def find_unit(most_s: Fraction) -> tuple[str, int]:
    """Choose the largest unit of which there is at least one, and how many make a second."""
    return next((unit for unit in UNITS.items() if most_s * unit[1] >= 1), ("fs", UNITS["fs"]))


def format_time(value_s: Fraction) -> str:
    """Format a time with the unit that suits it."""
    unit, per_s = find_unit(value_s)
    return f"{format_rounded(value_s * per_s, 4)} {unit}"


# ------------------------------------------------ who works when

NODES_PT, END_PT = 112, 26  # left of a timeline, and right of it
TIME_PT = WIDTH_PT - NODES_PT - END_PT


def draw_timeline(question: Question) -> "tuple[Figure, str]":
    """Draw what starts before the slowest strategy's second output is done: a line for each node,
    but one for nodes that work alike, and one for those that have no layer."""
    inputs, paces = question.inputs, find_results(question, 1)
    end_s = max(pace.latency_s + pace.interval_s * (inputs > 1) for pace in paces.values())
    steps, lines, why = list_drawn(question, end_s), list_lines(question), describe_starts(question)
    labels = [label for name in paces for label in lines[name]] + [""] * bool(why)
    figure, axes = make_axes(question, LINE_PT * (len(labels) + 0.2), NODES_PT, END_PT)
    axes.set_yticks(range(len(labels)), labels)
    axes.tick_params("y", labelcolor=INK)
    unit, per_s = find_unit(end_s)
    axes.set(xlim=(0, float(end_s * per_s)), ylim=(len(labels) - 0.3, -0.5))
    axes.locator_params("x", nbins=10)
    axes.xaxis.set_major_formatter("{x:,.12g}")
    write(axes, f"time, {unit}", 0, 0, -10, -6, xycoords="axes fraction", va="top", ha="right")
    is_sent = any(pace.communication_s for pace in paces.values())
    write(axes, "number: input" + "; black: communication" * is_sent, 0, 0, TIME_PT, ha="right")
    write(axes, why, 0, len(labels) - 1, -NODES_PT)
    title, messages = 0, []
    for name, pace in paces.items():
        messages.append(describe_pace(name, pace, inputs))
        write(axes, messages[-1], 0, title, -NODES_PT, color=COLOURS[name][0], weight="bold")
        draw_steps(axes, steps[name], name, title, per_s)
        title += len(lines[name])
    alt = f"Timeline of the first {format_time(end_s)}. {'; '.join(messages)}. {why}"
    return figure, alt.strip()


def list_drawn(question: Question, end_s: Fraction) -> dict[str, list[Step]]:
    """List each strategy's steps that start before the end. Raises ValueError for too many."""
    models, paces = make_models(question), find_results(question, 1)
    drawn = {}
    for name, pace in paces.items():
        started = min(question.inputs, ceil(end_s / pace.interval_s))
        drawn[name] = models[name, ALL_TO_ALL, 1], started
    bars = sum(started * len(list_steps(model)) for model, started in drawn.values())
    if bars > MOST_BARS:
        raise ValueError(
            f"--inputs: a timeline of {bars:,} bars cannot be read; ask for fewer inputs, so that"
            f" it has at most {MOST_BARS:,}"
        )
    return {
        name: [step for step in list_steps(model, started) if step.start_s < end_s]
        for name, (model, started) in drawn.items()
    }


def list_lines(question: Question) -> dict[str, list[str]]:
    """List the labels of each strategy's lines, behind one for its title."""
    network, system, _ = question
    nodes = [f"node {node}" for node in range(1, len(network) + 1)]
    if system.nodes > len(network):
        nodes.append(count(system.nodes - len(network), "idle node"))
    return {"tensor": ["", "all nodes", "layer"], "pipeline": ["", *nodes]}


def describe_starts(question: Question) -> str:
    """Say why a pipeline's first node idles between inputs, if it does."""
    pace = find_results(question, 1).get("pipeline")
    if not pace or question.inputs == 1 or pace.bottleneck == "node 1":
        return ""
    return f"Node 1 starts inputs just in time for {pace.bottleneck}."


def describe_pace(strategy: str, pace: Result, inputs: int) -> str:
    """Say when a strategy's outputs are done."""
    first, later = format_time(pace.latency_s), format_time(pace.interval_s)
    when = f"after {first}, then one every {later}" if inputs > 1 else f"after {first}"
    if inputs > 1 and pace.latency_s == pace.interval_s:
        when = f"every {first}"
    return f"{strategy.capitalize()} parallelism: an output {when}"


def draw_steps(axes: "Axes", steps: list[Step], strategy: str, title: int, per_s: int) -> None:
    """Draw bars below a title, black ones for transfers, between two lines if nodes compute
    meanwhile. If there is room, they have the input's number, once if all nodes work alike, and
    below the first input the layers'."""
    end, is_tensor = axes.get_xlim()[1], strategy == "tensor"
    longest = max(steps, key=lambda step: (step.work == "compute", step.time_s)).layer
    for step in steps:
        line, shade = title + (1 if is_tensor else step.layer), (step.input - 1) % 2
        start, stop = float(step.start_s * per_s), float(step.end_s * per_s)
        bar = start, min(stop, end) - start
        if step.work == "send":
            axes.barh(line + 0.5, bar[1], 0.24, start, color=INK, label=step.work)
            continue
        colour = COLOURS[strategy][shade] if step.work == "compute" else INK
        axes.barh(line, bar[1], 0.76, start, color=colour, label=step.work)
        if stop > end:  # it goes on
            write(axes, "\N{HORIZONTAL ELLIPSIS}", end, line, 3)
        if step.work == "compute" and (not is_tensor or step.layer == longest):
            write_number(axes, step.input, bar, line, ("white", INK)[shade])
        if step.work == "compute" and is_tensor and step.input == 1:
            write_number(axes, step.layer, bar, line + 1, NOTE)


def write_number(
    axes: "Axes", number: int, bar: tuple[float, float], line: float, colour: str
) -> None:
    """Write a number in the middle of a bar's length, if it has room."""
    start, length = bar
    if length * TIME_PT > axes.get_xlim()[1] * LETTER_PT * (len(f"{number:,}") + 0.5):
        looks: Any = {"color": colour, "va": "baseline", "ha": "center"}
        write(axes, f"{number:,}", start + length / 2, line, 0, -DIGIT_PT / 2, **looks)


# ------------------------------------------------ time per input

DOTS = 200  # that make a curve
LIMITS_LINES, ENDS_PT = 9.8, 195  # how high; for what stands right of it


def draw_limits(question: Question) -> "tuple[Figure, str]":
    """Draw latency / N up to ten times the inputs, with dots for Q1 and Q2; dashed, what a curve
    falls to; an area, what no schedule can reach."""
    paces, most = find_results(question, 1), 10 * question.inputs
    most_s = max(pace.latency_s for pace in paces.values())
    unit, per_s = find_unit(most_s)
    title = f"Time per input, {unit} (latency / inputs)"
    figure, axes = make_limits_axes(question, 1.15 * float(most_s * per_s), title)
    bound_s = compute_bound(question, "lower bound", 1)
    ends = {f"lower bound: {format_time(bound_s)}": (float(bound_s * per_s), NOTE)}
    axes.axhspan(0, float(bound_s * per_s), color=PALE, label="lower bound")
    counts = [most ** (dot / DOTS) for dot in range(DOTS + 1)]
    for name, pace in paces.items():
        floor, more = float(pace.interval_s * per_s), pace.latency_s - pace.interval_s
        each, colour = [floor + float(more * per_s) / n for n in counts], COLOURS[name][0]
        axes.plot(counts, each, lw=2.5, label=name, color=colour)
        if more:
            axes.axhline(floor, ls="--", lw=1, label=f"{name} floor", color=colour)
        word = "falls to" if more else "stays at"
        ends[f"{name} {word} {format_time(pace.interval_s)}"] = floor, colour
    write_ends(axes, ends)
    draw_dots(axes, question, per_s)
    return figure, f"{title}, for up to {most:,} inputs: {'; '.join(ends)}."


def make_limits_axes(question: Question, highest: float, title: str) -> "tuple[Figure, Axes]":
    """Make axes for up to ten times the inputs."""
    left_pt = LETTER_PT * (max(4, len(f"{highest:,.0f}")) + 1.5)
    figure, axes = make_axes(question, LINE_PT * LIMITS_LINES, left_pt, ENDS_PT, title)
    most = 10 * question.inputs
    counts = sorted({*question.amounts, most})
    axes.set(xscale="log", xlim=(1, most), ylim=(0, highest))
    axes.set_xticks(counts, [f"{n:,}" for n in counts])
    axes.minorticks_off()
    axes.locator_params("y", nbins=5)
    axes.yaxis.set_major_formatter("{x:,.12g}")
    looks: Any = {"xycoords": "axes fraction", "va": "top", "style": "italic"}
    write(axes, "N inputs (log scale)", 1, 0, 42, -6, **looks)
    return figure, axes


def write_ends(axes: "Axes", ends: dict[str, tuple[float, str]]) -> None:
    """Write a text at the end of each curve, as high as its value, but none on another."""
    gap, above = axes.get_ylim()[1] / LIMITS_LINES, inf
    looks: Any = {"xycoords": ("axes fraction", "data"), "va": "center", "weight": "bold"}
    order = sorted(ends.items(), key=lambda end: end[1][0], reverse=True)
    for at, (text, (value, colour)) in enumerate(order):
        above = max(min(value, above - gap), (len(order) - at - 0.5) * gap)
        write(axes, text, 1, above, 14, color=colour, **looks)


def draw_dots(axes: "Axes", question: Question, per_s: int) -> None:
    """Draw a dot for each strategy's Q1 and Q2, and beside it the number: above the question's
    highest dot, below another, or as near as there is room."""
    for n in question.amounts:
        results = find_results(question, n)
        dots = [(result.latency_s, COLOURS[name][0]) for name, result in results.items()]
        for (latency_s, colour), up in zip(sorted(dots, reverse=True), (1, -1), strict=False):
            each = latency_s * per_s / n
            axes.plot(n, float(each), "o", color=colour, ms=7, clip_on=False, zorder=3)
            number = write(
                axes, format_rounded(each, 4), n, float(each), color=colour, weight="bold"
            )
            for distance, way, side in product(range(5, 150, 3), (up, -up), (1, -1)):
                number.set(va="bottom" if way > 0 else "top", ha="left" if side > 0 else "right")
                number.xyann = 7 * side, way * distance
                if is_free(axes, number):
                    break


def is_free(axes: "Axes", text: "Annotation") -> bool:
    """Whether a text is in the axes, but on no other text, and near no line."""
    box, near = text.get_window_extent(), text.get_window_extent().padded(4)
    others = [other for other in axes.texts if other is not text]
    paths = [line.get_transform().transform_path(line.get_path()) for line in axes.lines]
    return (
        (axes.bbox.contains(*box.min) and axes.bbox.contains(*box.max))
        and not any(box.overlaps(other.get_window_extent()) for other in others)
        and not any(path.intersects_bbox(near, filled=False) for path in paths)
    )


# ------------------------------------------------ the command
def add_options(parser: ArgumentParser) -> None:
    """Add which picture, the what-if options, and the file."""
    pictures = "; ".join(f"{name}: {what}" for name, what in PICTURES.items())
    parser.add_argument("picture", metavar="{timeline,limits}", help=pictures)
    add_question_options(parser)
    parser.add_argument("--output", metavar="FILE", help="FILE.svg or FILE.png (default: .svg)")


def run(options: Namespace) -> int:
    """Write the picture, and print where it is."""
    question = read_options(options)
    picture = find_name(options.picture, "picture", PICTURES)
    name = f"{picture}.svg" if options.output is None else options.output
    ending = name[-4:].lower()
    if ending not in (".svg", ".png"):
        raise ValueError(f"--output: {quote(name)} does not end in .svg or .png")
    file, _ = draw(picture, question, ending)
    Path(name).write_bytes(file)
    print(f"wrote {format_path(name)}")
    return 0
