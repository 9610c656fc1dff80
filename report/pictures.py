"""The `picture` command: who works when, and the time per input against the number of inputs.

A colour means the same in all pictures and in the deck, and no meaning rests on colour alone. Text
stays text in an SVG. Floats are only positions on paper; printed numbers are exact until rounded.
"""

import logging
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from fractions import Fraction
from io import BytesIO
from itertools import product
from math import ceil, inf
from textwrap import fill
from typing import TYPE_CHECKING, Any

from report import InputError
from report.files import write_files
from report.options import add_question_options, read_options
from report.question import Question, describe_question, find_impossible, make_models
from report.results import Result, Step, compute_bound, find_results, list_steps
from report.text import count, find_name, format_path, format_rounded, quote

if TYPE_CHECKING:  # matplotlib is imported where something is drawn
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

    Draw = Callable[[Question], tuple[Figure, str]]

Unit = tuple[str, int]  # of time: its name, and how many make a second
UNITS = [("s", 1), ("ms", 10**3), ("µs", 10**6), ("ns", 10**9), ("ps", 10**12), ("fs", 10**15)]
# Luminances differ, for grey print and the colour-blind; every other input has the second shade.
COLOURS = {"tensor": ("#003A70", "#A9C4E0"), "pipeline": ("#C25700", "#F8CFA6")}
INK, NOTE, PALE = "#222222", "#595959", "#E6E6E6"
FACES = ["Libertinus Serif", "STIXGeneral"]  # the deck has the first, matplotlib the second

PER_INCH = 72
WIDTH_PT, FONT_PT, LINE_PT = 770, 14.75, 17
MARGIN_PT = 10  # around a picture in a file of its own
LETTER_PT = FONT_PT / 2  # width of a letter
LINE_LETTERS = 112  # with spaces, which are narrower
HEAD_PT, AXIS_PT = 6, 22  # below the text above axes; for the numbers of an axis


def render(
    draw_figure: "Draw", question: Question, ending: str, margin_pt: float = 0
) -> tuple[bytes, str]:
    """Draw a picture as ".svg" or ".png", independent of the user's matplotlib settings, and return
    it with its alternative text. Raises the InputErrors of draw_figure."""
    logging.getLogger("matplotlib").setLevel(logging.CRITICAL)  # a font or setting may be wrong
    os.environ.pop("MPLBACKEND", None)  # set by notebooks; matplotlib may not know it

    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rc("font", family=FACES, size=FONT_PT)
        matplotlib.rc("svg", fonttype="none", hashsalt="lab3")
        (figure, alt), file = draw_figure(question), BytesIO()
        page, about = figure.bbox_inches.padded(margin_pt / PER_INCH), {"Title": alt, "Date": None}
        figure.savefig(file, format=ending[1:], dpi=200, bbox_inches=page, metadata=about)
    return file.getvalue(), alt


# ------------------------------------------------ what pictures share
def make_axes(
    question: Question, height_pt: float, left_pt: float, right_pt: float, title: str = ""
) -> "tuple[Figure, Axes]":
    """Make axes of this height, with room on both sides. The text above them says how the question
    differs from the lab's and why a strategy is missing, and ends with the title."""
    from matplotlib.figure import Figure

    difference = describe_question(question)
    texts = [difference and f"what if: {difference}", *find_impossible(question).values(), title]
    text = "\n".join(fill(text, LINE_LETTERS, subsequent_indent="  ") for text in texts if text)
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
    """Write a text, offset from a position by points to the right and upwards."""
    looks = {"color": NOTE, "va": "center_baseline", "textcoords": "offset points"} | looks
    return axes.annotate(text, (x, y), (right_pt, up_pt), **looks)


def find_unit(most_s: Fraction) -> Unit:
    """Find the largest unit of which there is at least one, or else the smallest."""
    return next((unit for unit in UNITS if most_s * unit[1] >= 1), UNITS[-1])


def format_time(value_s: Fraction, unit: Unit) -> str:
    """Format a time in the unit of its picture, with three digits, or with four from 10 on."""
    value = value_s * unit[1]
    digits = format_rounded(value, 4 if value >= 10 else 3) if 1_000 * value >= 1 else "<0.001"
    return f"{digits} {unit[0]}"


# ------------------------------------------------ who works when
NODES_PT, END_PT = 112, 26  # left of a timeline, and right of it
TIME_PT = WIDTH_PT - NODES_PT - END_PT
LEAST_PT = 0.5  # of a communication's width, but at most a quarter of the computation before it
GAP_PT = 1.5  # between a link's sends without a pause
MOST_BARS = 1_000  # of a strategy


def draw_timeline(question: Question) -> "tuple[Figure, str]":
    """Draw the steps that start before the slowest strategy's second output is done. Each node has
    a line; nodes that work alike share a line, and so do idle nodes."""
    inputs, paces = question.inputs, find_results(question, 1)
    end_s = max(pace.latency_s + pace.interval_s * (inputs > 1) for pace in paces.values())
    unit, lines = find_unit(end_s), {name: list_lines(question, name, end_s) for name in paces}
    labels = [label for name in paces for label in ("", *lines[name])] + [""]  # titles, and notes
    figure, axes = make_timeline_axes(question, labels, float(end_s * unit[1]), unit[0])
    title, messages = 0, []
    for name, pace in paces.items():
        messages.append(describe_pace(pace, inputs, unit))
        write(axes, messages[-1], 0, title, -NODES_PT, color=COLOURS[name][0], weight="bold")
        for line, steps in enumerate(lines[name].values(), title + 1):
            draw_line(axes, line, steps, inputs, unit[1])
        title += 1 + len(lines[name])
    starts, pipeline = "", paces.get("pipeline")
    if inputs > 1 and pipeline and pipeline.bottleneck != "node 1":
        starts = "Inputs from 2 on could start earlier, but would not be done earlier."
    is_numbered = any(text.get_text().isdigit() for text in axes.texts)
    is_sent = any(pace.communication_s for pace in paces.values())
    notes = ["Number: input."] * is_numbered + ["Black: communication."] * is_sent
    write(axes, " ".join(filter(None, [*notes, starts])), 0, title, -NODES_PT)
    alt = f"Timeline of the first {format_time(end_s, unit)}. {'; '.join(messages)}. {starts}"
    return figure, alt.strip()


def make_timeline_axes(
    question: Question, labels: list[str], end: float, unit: str
) -> "tuple[Figure, Axes]":
    """Make axes with a label for each line and an axis of time."""
    figure, axes = make_axes(question, LINE_PT * (len(labels) + 0.2), NODES_PT, END_PT)
    axes.set_yticks(range(len(labels)), labels)
    axes.tick_params("y", labelcolor=INK)
    axes.set(xlim=(0, end), ylim=(len(labels) - 0.3, -0.5))
    axes.xaxis.set_major_formatter("{x:,.12g}")
    write(axes, f"time, {unit}", 0, 0, -10, -6, xycoords="axes fraction", va="top", ha="right")
    return figure, axes


def list_lines(question: Question, strategy: str, end_s: Fraction) -> dict[str, list[Step]]:
    """List a strategy's lines by label, with the steps of the inputs that start before the end.
    Raises InputError for too many steps."""
    layers, nodes = len(question.network), question.system.nodes
    model = make_models(question)[strategy, 1]
    started = min(question.inputs, ceil(end_s / model["interval"]))
    bars = started * len(list_steps(model))
    if bars > MOST_BARS:
        raise InputError(f"--inputs: a timeline has at most {MOST_BARS:,} bars, not {bars:,}")
    steps = list_steps(model, started)
    if strategy == "tensor":
        return {"all nodes" if nodes > 1 else "node 1": steps}
    order = range(1, layers + 1)
    lines = {f"node {layer}": [step for step in steps if step.layer == layer] for layer in order}
    if nodes > layers:
        lines[count(nodes - layers, "idle node")] = []
    return lines


def describe_pace(pace: Result, inputs: int, unit: Unit) -> str:
    """Describe when a strategy's outputs are done."""
    first, later = format_time(pace.latency_s, unit), format_time(pace.interval_s, unit)
    when = f"after {first}, then one every {later}" if inputs > 1 else f"after {first}"
    if inputs > 1 and pace.latency_s == pace.interval_s:
        when = f"every {first}"
    return f"{pace.strategy.capitalize()} parallelism: an output {when}"


def draw_line(axes: "Axes", line: int, steps: list[Step], inputs: int, per_s: int) -> None:
    """Draw a line's bars, those of communication wide enough to be seen, each input's number on its
    widest bar if there is room, and an ellipsis after a line that goes on."""
    end, computing, sent_s = axes.get_xlim()[1], 0.0, Fraction(0)
    pt = end / TIME_PT
    widest: dict[int, tuple[float, float]] = {}  # of each input: its length, and where it starts
    for step in (step for step in steps if float(step.start_s * per_s) < end):
        start, length = float(step.start_s * per_s), float(step.time_s * per_s)
        computing = length if step.work == "compute" else computing
        length = min(max(length, min(LEAST_PT * pt, computing / 4)), end - start)
        if step.work == "compute":
            widest[step.input] = max((length, start), widest.get(step.input, (0.0, 0.0)))
        elif step.work == "send":
            gap = min(GAP_PT * pt, length / 4) * (step.start_s == sent_s)
            start, length, sent_s = start + gap, length - gap, step.end_s
        draw_bar(axes, line, step, start, length)
    for number, (length, start) in widest.items():
        if inputs > 1 and length > LETTER_PT * (len(f"{number:,}") + 0.5) * pt:
            colour = "white" if number % 2 else INK
            write(axes, f"{number:,}", start + length / 2, line, color=colour, ha="center")
    if steps and (steps[-1].input < inputs or float(steps[-1].end_s * per_s) > end):
        write(axes, "\N{HORIZONTAL ELLIPSIS}", end, line, 3)


def draw_bar(axes: "Axes", line: int, step: Step, start: float, length: float) -> None:
    """Draw computing in its input's shade, communication in black, a send between two lines."""
    if step.work == "compute":
        colour = COLOURS[step.strategy][(step.input - 1) % 2]
        axes.barh(line, length, 0.76, start, color=colour, label=step.work)
    else:
        up, height = (0.5, 0.24) if step.work == "send" else (0, 0.76)
        axes.barh(line + up, length, height, start, color=INK, label=step.work, zorder=2)


# ------------------------------------------------ time per input
DOTS = 200  # that make a curve
CURVE_PT = 2.5
MARKS: Any = {"ms": 7}, {"ms": 11, "mew": 2, "mfc": "none"}  # a dot, and a ring around another
LIMITS_LINES, ENDS_PT = 9.8, 195  # how high; for the text on the right


def draw_limits(question: Question) -> "tuple[Figure, str]":
    """Draw latency / N up to ten times the inputs: dots for Q1 and Q2, floors dashed, the number of
    inputs from which the pipeline is faster dotted, times that no schedule can reach as an area."""
    paces, most = find_results(question, 1), 10 * question.inputs
    most_s = max(pace.latency_s for pace in paces.values())
    unit, lead = find_unit(most_s), find_lead(paces)
    title = f"Time per input, {unit[0]} (latency / inputs)"
    if lead:
        title += f"; the pipeline is faster from {count(lead, 'input')} on"
    figure, axes = make_limits_axes(question, 1.15 * float(most_s * unit[1]), title)
    bound_s = compute_bound(question, "lower bound", 1)
    bound = float(bound_s * unit[1])
    axes.axhspan(0, bound, color=PALE, label="lower bound")
    ends = [(bound, f"lower bound: {format_time(bound_s, unit)}", NOTE)]
    ends += [draw_curve(axes, pace, unit) for pace in paces.values()]
    if 1 < lead <= most:
        axes.axvline(lead, ls=":", lw=1, label="lead", color=INK)
    texts = "; ".join(text for _, text, _ in ends)
    write_ends(axes, [*ends, (bound, "(no node ever idles)", NOTE)])
    draw_dots(axes, question, unit)
    return figure, f"{title}, for up to {most:,} inputs: {texts}."


def find_lead(paces: dict[str, Result]) -> int:
    """Find from how many inputs on the pipeline is faster; 0 if it never is."""
    tensor, pipeline = paces.get("tensor"), paces.get("pipeline")
    if not tensor or not pipeline or tensor.interval_s <= pipeline.interval_s:
        return 0
    lead_s = tensor.interval_s - pipeline.interval_s  # of each further input
    return (pipeline.latency_s - pipeline.interval_s) // lead_s + 1


def make_limits_axes(question: Question, highest: float, title: str) -> "tuple[Figure, Axes]":
    """Make axes for up to ten times the inputs, with those powers of ten that have room."""
    left_pt = LETTER_PT * (max(4, len(f"{highest:,.0f}")) + 1.5)
    figure, axes = make_axes(question, LINE_PT * LIMITS_LINES, left_pt, ENDS_PT, title)
    most = 10 * question.inputs
    counts, room = {*question.amounts, most}, most ** (1 / 7.5)
    powers = (10**zeros for zeros in range(1, len(f"{most}")))
    counts |= {power for power in powers if all(max(power / n, n / power) > room for n in counts)}
    axes.set(xscale="log", xlim=(1, most), ylim=(0, highest))
    axes.set_xticks(sorted(counts), [f"{n:,}" for n in sorted(counts)])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:,.12g}")
    write(axes, "N", 1, 0, 42, -6, xycoords="axes fraction", va="top", style="italic")
    write(axes, "inputs (log scale)", 1, 0, 57, -6, xycoords="axes fraction", va="top")
    return figure, axes


def draw_curve(axes: "Axes", pace: Result, unit: Unit) -> tuple[float, str, str]:
    """Draw a strategy's time per input, and its floor; return its end's height, text and colour."""
    name, colour, most = pace.strategy, COLOURS[pace.strategy][0], axes.get_xlim()[1]
    floor, rest_s = float(pace.interval_s * unit[1]), pace.latency_s - pace.interval_s
    counts = [most ** (dot / DOTS) for dot in range(DOTS + 1)]
    times = [floor + float(rest_s * unit[1]) / n for n in counts]
    axes.plot(counts, times, lw=CURVE_PT, label=name, color=colour)
    axes.axhline(floor, ls="--", lw=1, label=f"{name} floor", color=colour)
    word = "nears" if rest_s else "stays at"
    return floor, f"{name} {word} {format_time(pace.interval_s, unit)}", colour


def write_ends(axes: "Axes", ends: list[tuple[float, str, str]]) -> None:
    """Write a text at the end of each curve: as high as its value, but below the text above it and
    with room for the texts below it."""
    gap, height = axes.get_ylim()[1] / LIMITS_LINES, inf
    looks: Any = {"xycoords": ("axes fraction", "data"), "va": "center", "weight": "bold"}
    for below, (value, text, colour) in reversed([*enumerate(sorted(ends))]):
        height = max(min(value, height - gap), (below + 0.5) * gap)
        write(axes, text, 1, height, 14, color=colour, **looks)


def draw_dots(axes: "Axes", question: Question, unit: Unit) -> None:
    """Draw a dot or a ring around another dot, and its number if there is room, for Q1 and Q2."""
    for n in question.amounts:
        times = {result.latency_s / n: name for name, result in find_results(question, n).items()}
        spread = float((max(times) - min(times)) * unit[1]) / axes.get_ylim()[1]
        marks = MARKS if spread * LIMITS_LINES < 0.5 else MARKS[:1] * 2  # less than half a line
        for (name, result), mark in zip(find_results(question, n).items(), marks, strict=False):
            looks = {"color": COLOURS[name][0], "clip_on": False, "zorder": 3, **mark}
            axes.plot(n, float(result.latency_s / n * unit[1]), "o", **looks)
        for time_s, up in zip(sorted(times, reverse=True), (1, -1), strict=False):
            text, y = format_time(time_s, unit).split()[0], float(time_s * unit[1])
            looks = {"color": COLOURS[times[time_s]][0], "weight": "bold"}
            for up_pt, right_pt in product((5 * up, -5 * up, 22 * up, -22 * up), (7, -7)):
                va, ha = "bottom" if up_pt > 0 else "top", "left" if right_pt > 0 else "right"
                number = write(axes, text, n, y, right_pt, up_pt, va=va, ha=ha, **looks)
                if is_free(axes, number):
                    break
                number.remove()


def is_free(axes: "Axes", text: "Annotation") -> bool:
    """Return whether a text is in the axes, on no other text, and near no line."""
    box = text.get_window_extent()
    paths = [line.get_transform().transform_path(line.get_path()) for line in axes.lines]
    is_near = any(path.intersects_bbox(box.padded(4), filled=False) for path in paths)
    others = [other.get_window_extent() for other in axes.texts if other is not text]
    is_inside = axes.bbox.count_contains(box.corners()) == 4
    return is_inside and not is_near and not box.count_overlaps(others)


# ------------------------------------------------ the command
PICTURES: "dict[str, Draw]" = {"timeline": draw_timeline, "limits": draw_limits}


def add_options(parser: ArgumentParser) -> None:
    """Add which picture, the what-if options, and the file."""
    what = "timeline: who works when; limits: the time per input against the number of inputs"
    parser.add_argument("picture", metavar="{timeline,limits}", help=what)
    add_question_options(parser)
    parser.add_argument("--output", metavar="FILE", help="FILE.svg or FILE.png (default: .svg)")


def run(options: Namespace) -> int:
    """Write the picture, and print where it is."""
    picture = find_name(options.picture, "picture", PICTURES)
    name = f"{picture}.svg" if options.output is None else options.output
    ending = name[-4:].lower()
    if ending not in (".svg", ".png"):
        raise InputError(f"--output: {quote(name)} does not end in .svg or .png")
    file, _ = render(PICTURES[picture], read_options(options), ending, MARGIN_PT)
    write_files({name: file})
    print(f"wrote {format_path(name)}")
    return 0
