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
from math import ceil, copysign, log10
from textwrap import fill
from typing import TYPE_CHECKING, Any

from report.files import write_files
from report.options import add_question_options, read_options
from report.question import ALL_TO_ALL, Question, describe_question, find_impossible, make_models
from report.results import Result, Step, compute_bound, find_results, list_steps
from report.text import count, find_name, format_path, format_rounded, quote

if TYPE_CHECKING:  # matplotlib is imported where something is drawn
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

    Draw = Callable[[Question], tuple[Figure, str]]

PICTURES = {
    "timeline": "who works when",
    "limits": "the time per input against the number of inputs, and what bounds it",
}
Unit = tuple[str, int]  # of time: its name, and how many make a second
UNITS = {"s": 1, "ms": 10**3, "µs": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15}
TINY = Fraction(1, 1_000)  # less is not written out
# Their luminance differs clearly, for grey print and the colour-blind. The second shade is that of
# every other input.
COLOURS = {"tensor": ("#003A70", "#A9C4E0"), "pipeline": ("#C25700", "#F8CFA6")}
INK, NOTE, PALE = "#222222", "#595959", "#E6E6E6"
FACES = ["Libertinus Serif", "STIXGeneral"]  # the deck has the first, matplotlib the second

PER_INCH = 72
WIDTH_PT, FONT_PT, LINE_PT = 770, 14.75, 17
MARGIN_PT = 10  # around a picture in a file of its own
LETTER_PT, DIGIT_PT = FONT_PT / 2, 0.66 * FONT_PT  # how wide a letter, how high a digit is
HEAD_PT, AXIS_PT = 6, 22  # below what stands above axes; for the numbers of an axis
MOST_BARS = 1_000  # of a timeline


def draw(name: str, question: Question, ending: str, margin_pt: float = 0) -> tuple[bytes, str]:
    """Draw a picture as ".svg" or ".png": a file, and its message for those who cannot see it.
    Raises ValueError for too many bars, and as make_models does."""
    draw_figure = draw_limits if name == "limits" else draw_timeline
    return render(draw_figure, question, ending, margin_pt)


def render(
    draw_figure: "Draw", question: Question, ending: str, margin_pt: float = 0
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
        matplotlib.rc("savefig", dpi=200)
        (figure, alt), file = draw_figure(question), BytesIO()
        page, about = figure.bbox_inches.padded(margin_pt / PER_INCH), {"Title": alt, "Date": None}
        figure.savefig(file, format=ending[1:], bbox_inches=page, metadata=about)
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


def find_unit(most_s: Fraction) -> Unit:
    """Find the largest unit of which there is at least one."""
    return next((unit for unit in UNITS.items() if most_s * unit[1] >= 1), ("fs", UNITS["fs"]))


def format_time(value_s: Fraction, unit: Unit) -> str:
    """Format a time in the unit of its picture: with three digits, four from 10 on, none if it is
    tiny."""
    value = value_s * unit[1]
    digits = format_rounded(value, 4 if value >= 10 else 3) if value >= TINY else f"<{float(TINY)}"
    return f"{digits} {unit[0]}"


# ------------------------------------------------ who works when

NODES_PT, END_PT = 112, 26  # left of a timeline, and right of it
TIME_PT = WIDTH_PT - NODES_PT - END_PT
LEAST_PT = 0.5  # how wide a communication is, but at most a quarter of its layer's computation


def draw_timeline(question: Question) -> "tuple[Figure, str]":
    """Draw what starts before the slowest strategy's second output is done: a line for each node,
    but one for nodes that work alike, and one for those that have no layer."""
    inputs, paces = question.inputs, find_results(question, 1)
    end_s = max(pace.latency_s + pace.interval_s * (inputs > 1) for pace in paces.values())
    unit, steps, why = find_unit(end_s), list_drawn(question, end_s), describe_starts(question)
    named = list_named(steps.get("tensor", []), end_s)
    lines = list_lines(question, bool(named))
    labels = [label for name in paces for label in lines[name]] + [""] * bool(why)
    figure, axes = make_axes(question, LINE_PT * (len(labels) + 0.2), NODES_PT, END_PT)
    axes.set_yticks(range(len(labels)), labels)
    axes.tick_params("y", labelcolor=INK)
    axes.set(xlim=(0, float(end_s * unit[1])), ylim=(len(labels) - 0.3, -0.5))
    axes.locator_params("x", nbins=10)
    axes.xaxis.set_major_formatter("{x:,.12g}")
    write(axes, f"time, {unit[0]}", 0, 0, -10, -6, xycoords="axes fraction", va="top", ha="right")
    write(axes, why, 0, len(labels) - 1, -NODES_PT)
    title, messages = 0, []
    for name, pace in paces.items():
        messages.append(describe_pace(name, pace, inputs, unit))
        write(axes, messages[-1], 0, title, -NODES_PT, color=COLOURS[name][0], weight="bold")
        lines_done_s = draw_steps(axes, steps[name], title, named, unit[1])
        for line, done_s in lines_done_s.items():
            if done_s + (inputs - 1) * pace.interval_s > end_s:  # it goes on
                write(axes, "\N{HORIZONTAL ELLIPSIS}", axes.get_xlim()[1], line, 3)
        title += len(lines[name])
    is_numbered = inputs > 1 and any(text.get_text().isdigit() for text in axes.texts)
    black = "black: communication" * any(pace.communication_s for pace in paces.values())
    legend = "; ".join(filter(None, ["number: input" * is_numbered, black]))
    write(axes, legend, 0, 0, TIME_PT, ha="right")
    alt = f"Timeline of the first {format_time(end_s, unit)}. {'; '.join(messages)}. {why}"
    return figure, alt.strip()


def list_drawn(question: Question, end_s: Fraction) -> dict[str, list[Step]]:
    """List each strategy's steps that start before the end. Raises ValueError for too many."""
    paces = find_results(question, 1)
    started = {name: min(question.inputs, ceil(end_s / paces[name].interval_s)) for name in paces}
    models = {name: make_models(question)[name, ALL_TO_ALL, 1] for name in paces}
    bars = sum(started[name] * len(list_steps(models[name])) for name in paces)
    if bars > MOST_BARS:
        raise ValueError(
            f"--inputs: a timeline of {bars:,} bars cannot be read; ask for fewer inputs, so that"
            f" it has at most {MOST_BARS:,}"
        )
    return {
        name: [step for step in list_steps(models[name], started[name]) if step.start_s < end_s]
        for name in paces
    }


def list_named(steps: list[Step], end_s: Fraction) -> list[int]:
    """List the layers with room for the longest layer number below them; none if it is alone."""
    firsts = [step for step in steps if (step.input, step.work) == (1, "compute")]
    most = len(firsts)
    return [step.layer for step in firsts if most > 1 and has_room(most, step.time_s / end_s)]


def list_lines(question: Question, is_named: bool) -> dict[str, list[str]]:
    """List the labels of each strategy's lines, behind one for its title."""
    network, system, inputs = question
    nodes = [f"node {node}" for node in range(1, len(network) + 1)]
    if system.nodes > len(network):
        nodes.append(count(system.nodes - len(network), "idle node"))
    layers = ["layers of input 1" if inputs > 1 else "layers"] * is_named
    return {
        "tensor": ["", "all nodes" if system.nodes > 1 else "node 1", *layers],
        "pipeline": ["", *nodes],
    }


def describe_starts(question: Question) -> str:
    """Say why a pipeline's first node idles between inputs, if it does."""
    pace = find_results(question, 1).get("pipeline")
    if not pace or question.inputs == 1 or pace.bottleneck == "node 1":
        return ""
    return f"Node 1 idles: started earlier, an input would only wait for {pace.bottleneck}."


def describe_pace(strategy: str, pace: Result, inputs: int, unit: tuple[str, int]) -> str:
    """Say when a strategy's outputs are done."""
    first, later = format_time(pace.latency_s, unit), format_time(pace.interval_s, unit)
    when = f"after {first}, then one every {later}" if inputs > 1 else f"after {first}"
    if inputs > 1 and pace.latency_s == pace.interval_s:
        when = f"every {first}"
    return f"{strategy.capitalize()} parallelism: an output {when}"


def draw_steps(
    axes: "Axes", steps: list[Step], title: int, named: list[int], per_s: int
) -> dict[int, Fraction]:
    """Draw bars below a title, black ones for communication, between two lines if nodes compute
    meanwhile; those too short to be seen are wider. If there is room, they have the input's number,
    once if all nodes work alike, and below the first input the layers'. Return when each line is
    done with the first input."""
    end, is_tensor, computing = axes.get_xlim()[1], steps[0].strategy == "tensor", 0.0
    longest = max(steps, key=lambda step: (step.work == "compute", step.time_s)).layer
    done_s = {}
    for step in steps:
        line, shade = title + (1 if is_tensor else step.layer), (step.input - 1) % 2
        start, length = float(step.start_s * per_s), float(step.time_s * per_s)
        if step.work != "compute":
            length = max(length, min(LEAST_PT / TIME_PT * end, computing / 4))
            up, height = (0.5, 0.24) if step.work == "send" else (0, 0.76)
            looks: Any = {"color": INK, "label": step.work, "zorder": 2}
            axes.barh(line + up, min(length, end - start), height, start, **looks)
            continue
        computing, bar = length, (start, min(length, end - start))
        colour = COLOURS[step.strategy][shade]
        axes.barh(line, bar[1], 0.76, start, color=colour, label=step.work)
        if steps[-1].input > 1 and (not is_tensor or step.layer == longest):
            write_number(axes, step.input, bar, line, ("white", INK)[shade])
        if step.input == 1:
            done_s[line] = step.end_s
            if is_tensor and step.layer in named:
                write_number(axes, step.layer, bar, line + 1, NOTE)
    return done_s


def write_number(
    axes: "Axes", number: int, bar: tuple[float, float], line: float, colour: str
) -> None:
    """Write a number in the middle of a bar's length, if it has room."""
    start, length = bar
    if has_room(number, length / axes.get_xlim()[1]):
        looks: Any = {"color": colour, "va": "baseline", "ha": "center"}
        write(axes, f"{number:,}", start + length / 2, line, 0, -DIGIT_PT / 2, **looks)


def has_room(number: int, share: float | Fraction) -> bool:
    """Return whether a number has room, and half a letter, in this share of a timeline."""
    return share * TIME_PT > LETTER_PT * (len(f"{number:,}") + 0.5)


# ------------------------------------------------ time per input

DOTS = 200  # that make a curve
CURVE_PT = 2.5
LIMITS_LINES, ENDS_PT = 9.8, 195  # how high; for what stands right of it


def draw_limits(question: Question) -> "tuple[Figure, str]":
    """Draw latency / N up to ten times the inputs, with dots for Q1 and Q2; dashed, what a curve
    nears; dotted, from where on the pipeline is faster; an area, what no schedule can reach."""
    paces, most = find_results(question, 1), 10 * question.inputs
    most_s = max(pace.latency_s for pace in paces.values())
    unit, lead = find_unit(most_s), find_lead(paces)
    title = f"Time per input, {unit[0]} (latency / inputs)"
    if lead:
        amount = f"from {lead:,} inputs on" if lead > 1 else "for any number of inputs"
        title += f"; the pipeline is faster {amount}"
    figure, axes = make_limits_axes(question, 1.15 * float(most_s * unit[1]), title)
    bound_s = compute_bound(question, "lower bound", 1)
    ends = {f"lower bound: {format_time(bound_s, unit)}": (float(bound_s * unit[1]), NOTE)}
    axes.axhspan(0, float(bound_s * unit[1]), color=PALE, label="lower bound")
    counts = [most ** (dot / DOTS) for dot in range(DOTS + 1)]
    for name, pace in paces.items():
        floor, rest_s = float(pace.interval_s * unit[1]), pace.latency_s - pace.interval_s
        each, colour = [floor + float(rest_s * unit[1]) / n for n in counts], COLOURS[name][0]
        axes.plot(counts, each, lw=CURVE_PT, label=name, color=colour)
        if rest_s:
            axes.axhline(floor, ls="--", lw=1, label=f"{name} floor", color=colour)
        word = "nears" if rest_s else "stays at"
        ends[f"{name} {word} {format_time(pace.interval_s, unit)}"] = floor, colour
    if 1 < lead <= most:
        axes.axvline(lead, ls=":", lw=1, label="lead", color=INK)
    write_ends(axes, ends)
    looks: Any = {"ha": "right", "va": "bottom"}
    reason = write(axes, "all nodes always compute", most, 0, -6, 2, **looks)
    if not is_free(axes, reason, ""):
        reason.remove()
    draw_dots(axes, question, unit)
    return figure, f"{title}, for up to {most:,} inputs: {'; '.join(ends)}."


def find_lead(paces: dict[str, Result]) -> int:
    """Find from how many inputs on the pipeline is faster; 0 if it never is."""
    tensor, pipeline = paces.get("tensor"), paces.get("pipeline")
    if not tensor or not pipeline or tensor.interval_s <= pipeline.interval_s:
        return 0
    lead_s = tensor.interval_s - pipeline.interval_s  # of each further input
    return (pipeline.latency_s - pipeline.interval_s) // lead_s + 1


def make_limits_axes(question: Question, highest: float, title: str) -> "tuple[Figure, Axes]":
    """Make axes for up to ten times the inputs, with powers of ten as far as there is room."""
    left_pt = LETTER_PT * (max(4, len(f"{highest:,.0f}")) + 1.5)
    figure, axes = make_axes(question, LINE_PT * LIMITS_LINES, left_pt, ENDS_PT, title)
    most = 10 * question.inputs
    counts, gap = {*question.amounts, most}, log10(most) / 7.5
    for power in (10**zeros for zeros in range(1, len(f"{most}"))):
        if all(abs(log10(power / n)) > gap for n in counts):
            counts.add(power)
    axes.set(xscale="log", xlim=(1, most), ylim=(0, highest))
    axes.set_xticks(sorted(counts), [f"{n:,}" for n in sorted(counts)])
    axes.minorticks_off()
    axes.locator_params("y", nbins=5)
    axes.yaxis.set_major_formatter("{x:,.12g}")
    looks: Any = {"xycoords": "axes fraction", "va": "top", "style": "italic"}
    write(axes, "N inputs (log scale)", 1, 0, 42, -6, **looks)
    return figure, axes


def write_ends(axes: "Axes", ends: dict[str, tuple[float, str]]) -> None:
    """Write a text at the end of each curve, as high as its value; those above and below the second
    lowest make room for it."""
    gap = axes.get_ylim()[1] / LIMITS_LINES
    looks: Any = {"xycoords": ("axes fraction", "data"), "va": "center", "weight": "bold"}
    order = sorted(ends.items(), key=lambda end: end[1][0])
    lowest, second, *highest = (value for _, (value, _) in order)
    second = max(second, 1.5 * gap)
    lowest = max(min(lowest, second - gap), 0.5 * gap)
    heights = [lowest, second, *(max(value, second + gap) for value in highest)]
    for (text, (_, colour)), height in zip(order, heights, strict=True):
        write(axes, text, 1, height, 14, color=colour, **looks)


def draw_dots(axes: "Axes", question: Question, unit: tuple[str, int]) -> None:
    """Draw a dot for each strategy's Q1 and Q2, one if they are equal, and its number, if there is
    room: above the question's highest dot, below another, or on the other side."""
    for n in question.amounts:
        results = find_results(question, n)
        dots = {result.latency_s: name for name, result in results.items()}
        for (latency_s, name), up in zip(sorted(dots.items(), reverse=True), (1, -1), strict=False):
            each, colour = float(latency_s * unit[1] / n), COLOURS[name][0]
            axes.plot(n, each, "o", color=colour, ms=7, clip_on=False, zorder=3)
            text, _ = format_time(latency_s / n, unit).split()
            number = write(axes, text, n, each, color=colour, weight="bold")
            for distance, way, side in product(range(5, 150, 3), (up, -up), (1, -1)):
                number.set(va="bottom" if way > 0 else "top", ha="left" if side > 0 else "right")
                number.xyann = 7 * side, way * distance
                if is_free(axes, number, name):
                    break
            else:
                number.remove()


def is_free(axes: "Axes", text: "Annotation", name: str) -> bool:
    """Return whether a text is in the axes, on no other text and near no line, and whether no other
    strategy's curve is between it and its dot."""
    from matplotlib.transforms import Bbox

    (x, y), box = axes.transData.transform(text.xy), text.get_window_extent()
    edge = Bbox.from_extents(x, y, x, y + copysign(3, text.xyann[1]))  # of the dot
    near, reach = box.padded(3), Bbox.union([box.padded(3), edge])
    for line in axes.lines:
        path = line.get_transform().transform_path(line.get_path())
        is_another = str(line.get_label()).split()[0] in {*COLOURS} - {name}
        if path.intersects_bbox(reach if is_another else near, filled=False):
            return False
    others = [other.get_window_extent() for other in axes.texts if other is not text]
    is_inside = axes.bbox.contains(*box.min) and axes.bbox.contains(*box.max)
    return is_inside and not any(box.overlaps(other) for other in others)


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
    file, _ = draw(picture, question, ending, MARGIN_PT)
    write_files({name: file})
    print(f"wrote {format_path(name)}")
    return 0
