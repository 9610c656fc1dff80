"""The `picture` command: who works when, and the time per input against the number of inputs.

A colour means the same in all pictures and in the deck, and no meaning rests on colour alone. Text
stays text in an SVG. Floats are only places on paper: what is printed is exact until it is rounded.
"""

import logging
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from io import BytesIO
from itertools import product
from math import ceil
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

from report.model import Model
from report.question import (
    Question,
    add_question_options,
    describe_question,
    make_number_parser,
    read_options,
)
from report.results import Result, Results, compute_results
from report.text import MS, format_path, format_short, make_word_parser, quote
from report.timeline import Job, list_jobs

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
SYMBOLS = ["New Computer Modern", "STIXGeneral"]  # likewise, of formulas

PER_INCH = 72
WIDTH_PT, FONT_PT, LINE_PT = 770, 14.75, 17
LETTER_PT, DIGIT_PT = FONT_PT / 2, 0.66 * FONT_PT  # how wide a letter, how high a digit is
BOTTOM_PT = 22  # for the numbers of an axis
MOST_BARS = 1_000  # of a timeline
UNITS = {"s": 1, "ms": 10**3, "µs": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15}


class Picture(NamedTuple):
    """A file, its size, and its message for those who cannot see it."""

    file: bytes
    width_pt: float
    height_pt: float
    alt: str


def draw(name: str, question: Question, ending: str, until_s: Fraction | None = None) -> Picture:
    """Draw a picture as ".svg" or ".png". Raises ValueError for too many bars, for formulas that
    are not as delivered, and as compute_results does."""
    results = compute_results(question)
    if results.changes:
        raise ValueError(f"picture {name} is not drawn: {results.changes[0]} is not as delivered")
    if name == "limits":
        return render(lambda: draw_limits(results), ending)
    return render(lambda: draw_timeline(results, until_s), ending)


def render(draw_figure: "Callable[[], tuple[Figure, str]]", ending: str) -> Picture:
    """Draw a figure, which comes with its message, the same on every run, whatever the user's
    settings for matplotlib are."""
    logging.getLogger("matplotlib").setLevel(logging.CRITICAL)  # a face or setting may be wrong
    os.environ["MATPLOTLIBRC"] = os.devnull
    os.environ.pop("MPLBACKEND", None)  # of notebooks, which matplotlib may not know

    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rc("font", family=FACES, size=FONT_PT)
        matplotlib.rc("svg", fonttype="none", hashsalt="lab3")
        figure, alt = draw_figure()
        width, height = figure.get_size_inches() * PER_INCH
        file = BytesIO()
        about = {"Title": alt} | ({"Date": None} if ending == ".svg" else {})
        figure.savefig(file, format=ending[1:], dpi=200, metadata=about)
    return Picture(file.getvalue(), width, height, alt)


# ------------------------------------------------ what pictures share


def make_axes(
    results: Results, height_pt: float, left_pt: float, right_pt: float, title: str = ""
) -> "tuple[Figure, Axes]":
    """Make axes of this height, with room on both sides. Above them stand how the question differs
    from the lab's, why a strategy is missing, and a title."""
    from matplotlib.figure import Figure

    notes = list(results.impossible.values())
    if difference := describe_question(results.asked):
        notes.insert(0, f"what if: {difference}")
    head = "\n".join(fill(note, int(WIDTH_PT / LETTER_PT)) for note in notes)
    title_pt = (LINE_PT + 6) * bool(title)
    all_pt = LINE_PT * len(head.splitlines()) + title_pt + height_pt + BOTTOM_PT
    figure = Figure((WIDTH_PT / PER_INCH, all_pt / PER_INCH))
    figure.text(0, 1, head, color=NOTE, va="top", linespacing=1)
    width = (WIDTH_PT - left_pt - right_pt) / WIDTH_PT
    place = left_pt / WIDTH_PT, BOTTOM_PT / all_pt, width, height_pt / all_pt
    axes = figure.add_axes(place, facecolor="none")
    axes.set_title(title, x=-left_pt / (width * WIDTH_PT), loc="left", pad=10, size=FONT_PT)
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


def choose_unit(most_s: Fraction) -> str:
    """Choose the largest unit of which there is at least one."""
    return next((unit for unit, per_s in UNITS.items() if most_s * per_s >= 1), "fs")


def describe_time(value_s: Fraction) -> str:
    """Format a time with the unit that suits it."""
    unit = choose_unit(value_s)
    return f"{format_short(value_s * UNITS[unit])} {unit}"


# ------------------------------------------------ who works when

NODES_PT, END_PT = 112, 26  # left of a timeline, and right of it
TIME_PT = WIDTH_PT - NODES_PT - END_PT


def draw_timeline(results: Results, until_s: Fraction | None) -> "tuple[Figure, str]":
    """Draw what starts before the end, by default the second output of the slowest strategy: a line
    for each node, but one for nodes that work alike, and one for those that have no layer."""
    network, system, inputs = results.asked
    paces, later = results.find(1), min(inputs - 1, 1)
    end_s = until_s or max(pace.latency_s + later * pace.interval_s for pace in paces.values())
    drawn = list_drawn(results, end_s)
    titles, labels = list_lines(results)
    last, why = max(labels), explain_starts(results)
    lowest = last + bool(why)
    figure, axes = make_axes(results, LINE_PT * (lowest + 1.3), NODES_PT, END_PT)
    axes.set_ylim(lowest + 0.7, -0.6)
    axes.tick_params("y", labelcolor=INK)
    add_time(axes, end_s)
    is_sent = any(job.work != "compute" for found in drawn.values() for job in found)
    legend = "number: input" + "; black: communication" * is_sent
    write(axes, legend, 0, 0, TIME_PT, ha="right")
    write(axes, why, 0, last + 1, -NODES_PT)
    if "pipeline" in paces and system.nodes > len(network):
        write(axes, "idle", 0, last, 3)
    longest = max(range(len(network)), key=lambda at: network[at].ops) + 1
    messages = [describe_pace(name, pace, inputs) for name, pace in paces.items()]
    for (name, line), message in zip(titles.items(), messages, strict=True):
        write(axes, message, 0, line, -NODES_PT, color=COLOURS[name][0], weight="bold")
        for job in drawn[name]:
            draw_job(axes, job, name, line, longest, end_s)
    notes: Any = axes.texts
    numbered = {note.xy[1] for note in notes}  # there may be no room for a layer's number
    labels = {line: it for line, it in labels.items() if it != "layer" or line in numbered}
    axes.set_yticks(list(labels), labels.values())
    alt = f"Timeline of the first {describe_time(end_s)}. {'; '.join(messages)}."
    return figure, " ".join(filter(None, [alt, why]))


def list_drawn(results: Results, end_s: Fraction) -> dict[str, list[Job]]:
    """List each strategy's jobs that start before the end. Raises ValueError for too many."""
    network, system, inputs = results.asked
    paces = results.find(1).items()
    started = {name: min(inputs, ceil(end_s / pace.interval_s)) for name, pace in paces}
    bars = sum(amount * len(results.strategies[name].steps) for name, amount in started.items())
    if bars > MOST_BARS:
        raise ValueError(
            f"--until: a timeline of {bars:,} bars cannot be read; end it earlier, so that it has"
            f" at most {MOST_BARS:,}"
        )
    jobs = {name: list_jobs(Model(name, network, system), it) for name, it in started.items()}
    return {name: [job for job in found if job.start_s < end_s] for name, found in jobs.items()}


def list_lines(results: Results) -> tuple[dict[str, float], dict[float, str]]:
    """List the line of each strategy's title, and by their lines, what is below it; between two
    strategies is half a line."""
    network, system, _ = results.asked
    names = {"tensor": [name_nodes(1, system.nodes), "layer"]}
    names["pipeline"] = [f"node {node}" for node in range(1, len(network) + 1)]
    if system.nodes > len(network):
        names["pipeline"].append(name_nodes(len(network) + 1, system.nodes))
    titles: dict[str, float] = {}
    labels: dict[float, str] = {}
    for strategy in results.strategies:
        titles[strategy] = max(labels, default=-1.2) + 1.2
        labels |= {titles[strategy] + below: it for below, it in enumerate(names[strategy], 1)}
    return titles, labels


def name_nodes(first: int, last: int) -> str:
    """Name consecutive nodes."""
    return f"nodes {first:,} to {last:,}" if first < last else f"node {first:,}"


def add_time(axes: "Axes", end_s: Fraction) -> None:
    """Add an axis in the unit that suits the end."""
    unit = choose_unit(end_s)
    end = float(end_s * UNITS[unit])
    axes.set_xlim(0, end)
    axes.locator_params("x", nbins=10)
    axes.xaxis.set_major_formatter("{x:,.12g}")
    looks: Any = {"xycoords": "axes fraction", "va": "top", "ha": "right"}
    write(axes, f"time, {unit}", 0, 0, -10, -6, **looks)


def explain_starts(results: Results) -> str:
    """Say why a pipeline's first node idles between inputs, if it does."""
    pace = results.find(1).get("pipeline")
    if not pace or results.asked.inputs == 1 or pace.bottleneck == "node 1":
        return ""
    return f"Node 1 starts inputs just in time for {pace.bottleneck}."


def describe_pace(strategy: str, pace: Result, inputs: int) -> str:
    """Say when a strategy's outputs are done."""
    first, later = describe_time(pace.latency_s), describe_time(pace.interval_s)
    when = f"after {first}, then one every {later}" if inputs > 1 else f"after {first}"
    if inputs > 1 and pace.latency_s == pace.interval_s:
        when = f"every {first}"
    return f"{strategy.capitalize()} parallelism: an output {when}"


def draw_job(
    axes: "Axes", job: Job, strategy: str, title: float, longest: int, end_s: Fraction
) -> None:
    """Draw a bar, some lines below a title; for a transfer a black one, between two lines if nodes
    compute meanwhile. If there is room, it has the input's number, once if all nodes work alike,
    and below the first input the layer's."""
    per_s = axes.get_xlim()[1] / float(end_s)
    start, length = float(job.start_s) * per_s, float(min(job.end_s, end_s) - job.start_s) * per_s
    is_tensor, shade = strategy == "tensor", (job.input - 1) % 2
    line = title + (1 if is_tensor else job.layer)
    below, height = (0.5, 0.24) if job.work == "send" else (0, 0.76)
    colour = COLOURS[strategy][shade] if job.work == "compute" else INK
    axes.barh(line + below, length, height, start, color=colour, label=job.work)
    if job.end_s > end_s and job.work != "send":  # it goes on
        write(axes, "\N{HORIZONTAL ELLIPSIS}", start + length, line, 3)
    bar = start, length
    if job.work == "compute" and (not is_tensor or job.layer == longest):
        write_number(axes, job.input, bar, line, ("white", INK)[shade])
    if job.work == "compute" and is_tensor and job.input == 1:
        write_number(axes, job.layer, bar, line + 1, NOTE)


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
LIMITS_LINES, ENDS_PT = 9.8, 180  # how high; for what stands right of it


def draw_limits(results: Results) -> "tuple[Figure, str]":
    """Draw latency / N up to ten times the inputs, with dots for Q1 and Q2; dashed, what a curve
    falls to; an area, what no schedule can reach."""
    paces, most = results.find(1), 10 * results.asked.inputs
    most_s = max(pace.latency_s for pace in paces.values())
    unit = choose_unit(most_s)
    scale, title = UNITS[unit], f"Time per input, {unit} (latency / inputs)"
    highest, bound = 1.15 * float(most_s * scale), results.bounds[0].lower_bound_s * scale
    label, ends = f"lower bound: {format_short(bound)}", {}
    for name, pace in paces.items():
        word = "stays at" if pace.latency_s == pace.interval_s else "falls to"
        lowest = pace.interval_s * scale
        ends[f"{name} {word} {format_short(lowest)}"] = float(lowest), COLOURS[name][0]
    alt = f"{title}, for up to {most:,} inputs: {'; '.join([label, *ends])}."
    is_inside = bound * LIMITS_LINES > 2 * highest  # the area has room
    if not is_inside:
        ends[label] = float(bound), NOTE
    figure, axes = make_limits_axes(results, highest, ends, title)
    axes.axhspan(0, float(bound), color=PALE, label="lower bound")
    looks: Any = {"xycoords": "axes fraction", "va": "baseline", "ha": "right", "weight": "bold"}
    write(axes, label * is_inside, 1, 0, -8, 5, **looks)
    counts = [most ** (dot / DOTS) for dot in range(DOTS + 1)]
    for name, pace in paces.items():
        first, floor = float(pace.latency_s * scale), float(pace.interval_s * scale)
        each, colour = [floor + (first - floor) / n for n in counts], COLOURS[name][0]
        axes.plot(counts, each, lw=2.5, label=name, color=colour)
        if pace.latency_s > pace.interval_s:
            axes.axhline(floor, ls="--", lw=1, label=f"{name} floor", color=colour)
    draw_dots(axes, results, scale)
    return figure, alt


def make_limits_axes(
    results: Results, highest: float, ends: dict[str, tuple[float, str]], title: str
) -> "tuple[Figure, Axes]":
    """Make axes for up to ten times the inputs, with texts at the end of curves: each as high as
    its value, but none on another."""
    most, gap = 10 * results.asked.inputs, highest / LIMITS_LINES
    left_pt = LETTER_PT * (max(4, len(f"{highest:,.0f}")) + 1.5)
    figure, axes = make_axes(results, LINE_PT * LIMITS_LINES, left_pt, ENDS_PT, title)
    axes.set(xscale="log", xlim=(1, most), ylim=(0, highest))
    axes.locator_params("y", nbins=5)
    axes.yaxis.set_major_formatter("{x:,.12g}")
    apart = most ** (60 / (WIDTH_PT - left_pt - ENDS_PT))  # so many times as many have room beside
    counts, decades = sorted({1, most // 10}), [10**power for power in range(1, 8)]
    kept = [*counts, most]
    counts += [n for n in decades if n < most and all(max(n / it, it / n) > apart for it in kept)]
    axes.set_xticks(counts, [f"{n:,}" for n in counts])
    axes.minorticks_off()
    looks: Any = {"xycoords": "axes fraction", "va": "top"}
    write(axes, "N", 1, 0, 13, -6, style="italic", family=SYMBOLS, **looks)
    write(axes, "inputs (log scale)", 1, 0, 28, -6, **looks)
    lowest = gap / 2
    looks = {"xycoords": ("axes fraction", "data"), "va": "center", "weight": "bold"}
    for text, (value, colour) in sorted(ends.items(), key=lambda end: end[1][0]):
        place = max(value, lowest)
        lowest = place + gap
        write(axes, text, 1, place, 14, color=colour, **looks)
    return figure, axes


def draw_dots(axes: "Axes", results: Results, scale: int) -> None:
    """Draw a dot for each strategy's Q1 and Q2, and beside it the number: above the highest dot of
    the question, below others, or wherever there is room."""
    dots = [
        (n, found.latency_s * scale / n, name)
        for n in sorted({1, results.asked.inputs})
        for name, found in results.find(n).items()
    ]
    for n, value, name in dots:
        looks: Any = {"color": COLOURS[name][0], "ms": 7, "clip_on": False, "zorder": 3}
        axes.plot(n, float(value), "o", **looks)
    for n, value, name in sorted(dots, reverse=True):
        looks = {"color": COLOURS[name][0], "weight": "bold"}
        number = write(axes, format_short(value), n, float(value), **looks)
        up = 1 if value == max(it for asked, it, _ in dots if asked == n) else -1
        for distance, way, side in product(range(5, 150, 3), (up, -up), (1, -1)):
            number.set(va="bottom" if way > 0 else "top", ha="left" if side > 0 else "right")
            number.xyann = 7 * side, way * distance
            if is_free(axes, number):
                break


def is_free(axes: "Axes", text: "Annotation") -> bool:
    """Whether a text is in the axes, but on no other text, and on no line."""
    box, area = text.get_window_extent(), axes.bbox
    paths = [it.get_transform().transform_path(it.get_path()) for it in axes.lines]
    return (
        (area.x0 < box.x0 and area.y0 < box.y0 and box.y1 < area.y1)
        and not any(box.overlaps(it.get_window_extent()) for it in axes.texts if it is not text)
        and not any(path.intersects_bbox(box, filled=False) for path in paths)
    )


# ------------------------------------------------ the command


def add_options(parser: ArgumentParser) -> None:
    """Add which picture, the what-if options, where a timeline ends, and the file."""
    pictures = "; ".join(f"{name}: {what}" for name, what in PICTURES.items())
    picture = make_word_parser("picture", PICTURES)
    parser.add_argument("picture", metavar="{timeline,limits}", type=picture, help=pictures)
    add_question_options(parser)
    parser.add_argument(
        "--until",
        metavar="MS",
        type=make_number_parser("ms", Decimal("0.000001"), 10**12),
        help="where a timeline ends (default: the second output of the slowest strategy)",
    )
    parser.add_argument("--output", metavar="FILE", help="FILE.svg or FILE.png (default: .svg)")


def run(options: Namespace) -> int:
    """Write the picture, and print where it is."""
    question = read_options(options)
    name = f"{options.picture}.svg" if options.output is None else options.output
    ending = name[-4:].lower()
    if ending not in (".svg", ".png"):
        raise ValueError(f"--output: {quote(name)} does not end in .svg or .png")
    if options.until and options.picture != "timeline":
        raise ValueError(f"--until: {options.picture} has no end; only a timeline has")
    until_s = Fraction(options.until) / MS if options.until else None
    Path(name).write_bytes(draw(options.picture, question, ending, until_s).file)
    print(f"wrote {format_path(name)}")
    return 0
