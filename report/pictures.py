"""The `picture` command: who works when, and the time per input against the number of inputs.

A colour means the same in all pictures and in the deck, and no meaning rests on colour alone. Text
stays text in an SVG. Floats are only places on paper: what is printed is exact until it is rounded.
"""

import logging
import os
from argparse import ArgumentParser, Namespace
from decimal import Decimal
from fractions import Fraction
from io import BytesIO
from math import ceil
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

from report.question import (
    Question,
    add_question_options,
    describe_question,
    make_number_parser,
    read_options,
)
from report.results import Result, Results, compute_results
from report.text import MS, format_path, format_places, format_rounded, make_word_parser, quote
from report.timeline import Job, jobs

if TYPE_CHECKING:  # matplotlib is imported where something is drawn
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
LETTER_PT = FONT_PT / 2  # how wide a letter is
BOTTOM_PT = 22  # for the numbers of an axis
MOST_BARS = 1_000  # of a timeline
UNITS = {"s": 1, "ms": 10**3, "µs": 10**6, "ns": 10**9}


class Picture(NamedTuple):
    """A file, its size, and its message for those who cannot see it."""

    file: bytes
    width_pt: float
    height_pt: float
    alt: str


def draw(name: str, question: Question, ending: str, until_s: Fraction | None = None) -> Picture:
    """Draw a picture as ".svg" or ".png", the same on every run, whatever the user's settings for
    matplotlib are. Raises ValueError for too many bars, and as compute_results does."""
    logging.getLogger("matplotlib").setLevel(logging.CRITICAL)  # a face or setting may be wrong
    os.environ["MATPLOTLIBRC"] = os.devnull
    os.environ.pop("MPLBACKEND", None)  # of notebooks, which matplotlib may not know

    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rc("font", family=FACES, size=FONT_PT)
        matplotlib.rc("svg", fonttype="none", hashsalt="lab3")
        results = compute_results(question)
        is_timeline = name == "timeline"
        figure, alt = draw_timeline(results, until_s) if is_timeline else draw_limits(results)
        width, height = figure.get_size_inches() * PER_INCH
        file = BytesIO()
        about = {"Title": alt} | ({"Date": None} if ending == ".svg" else {})
        figure.savefig(file, format=ending[1:], dpi=200, metadata=about)
    return Picture(file.getvalue(), width, height, alt)


# ------------------------------------------------ what both share


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
    all_pt = LINE_PT * (len(head.splitlines()) + bool(title)) + height_pt + BOTTOM_PT
    figure = Figure((WIDTH_PT / PER_INCH, all_pt / PER_INCH))
    figure.text(0, 1, head, color=NOTE, va="top", linespacing=1)
    width = (WIDTH_PT - left_pt - right_pt) / WIDTH_PT
    place = left_pt / WIDTH_PT, BOTTOM_PT / all_pt, width, height_pt / all_pt
    axes = figure.add_axes(place, facecolor="none")
    axes.set_title(title, x=-left_pt / (width * WIDTH_PT), loc="left", pad=4, size=FONT_PT)
    axes.spines[["left", "right", "top"]].set_visible(False)
    axes.spines["bottom"].set_color(NOTE)
    axes.tick_params(color=NOTE, labelcolor=NOTE)
    axes.tick_params("y", length=0)
    return figure, axes


def choose_unit(most_s: Fraction) -> str:
    """Choose the largest unit of which there is at least one."""
    return next((unit for unit, per_s in UNITS.items() if most_s * per_s >= 1), "ns")


def format_time(value_s: Fraction, unit: str) -> str:
    """Format a time with two decimals, or with two digits if there is little of the unit."""
    value = value_s * UNITS[unit]
    return format_places(value, 2) if value >= Fraction(1, 10) else format_rounded(value, 2)


def describe_time(value_s: Fraction) -> str:
    """Format a time with the unit that suits it."""
    unit = choose_unit(value_s)
    return f"{format_time(value_s, unit)} {unit}"


# ------------------------------------------------ who works when


def draw_timeline(results: Results, until_s: Fraction | None) -> "tuple[Figure, str]":
    """Draw what starts before the end, by default the second output of the slowest strategy: a line
    for each node, but one for nodes that work alike, and one for those that have no layer."""
    network, system, inputs = results.asked
    paces = results.find(1)
    later = min(inputs - 1, 1)
    end_s = until_s or max(pace.latency_s + later * pace.interval_s for pace in paces.values())
    started = {name: min(inputs, ceil(end_s / pace.interval_s)) for name, pace in paces.items()}
    bars = sum(started[name] * len(results.strategies[name].steps) for name in paces)
    if bars > MOST_BARS:
        raise ValueError(
            f"--until: a timeline of {bars:,} bars cannot be read; end it earlier, so that it has"
            f" at most {MOST_BARS:,}"
        )
    lines = {"tensor": [name_nodes(1, system.nodes)]}
    lines["pipeline"] = [f"node {node}" for node in range(1, len(network) + 1)]
    if system.nodes > len(network):
        lines["pipeline"].append(name_nodes(len(network) + 1, system.nodes))
    labels: dict[float, str] = {}  # by their line; between two strategies is half a line
    titles = {}
    for name in paces:
        titles[name] = max(labels, default=-1.5) + 1.5
        labels |= {titles[name] + below: label for below, label in enumerate(lines[name], 1)}
    if why := explain_starts(results):
        labels[max(labels) + 1] = ""
    left_pt, unit = 104, choose_unit(end_s)
    figure, axes = make_axes(results, LINE_PT * (max(labels) + 1.3), left_pt, 14)
    axes.set(xlim=(0, float(end_s * UNITS[unit])), ylim=(max(labels) + 0.7, -0.6))
    axes.set_yticks(list(labels), labels.values())
    axes.tick_params("y", labelcolor=INK)
    axes.xaxis.set_major_formatter("{x:,g}")
    looks: Any = {"textcoords": "offset points", "color": NOTE, "ha": "right"}
    axes.annotate(f"time, {unit}", (0, 0), (-10, -6), "axes fraction", va="top", **looks)
    looks |= {"xycoords": ("axes fraction", "data"), "va": "center_baseline"}
    axes.annotate("number: input; black: communication", (1, 0), (0, 0), **looks)
    note: Any = {"color": NOTE, "va": "center_baseline"}
    longest = max(range(len(network)), key=lambda at: network[at].ops) + 1
    if "pipeline" in titles and system.nodes > len(network):
        line = titles["pipeline"] + len(lines["pipeline"])
        axes.annotate("idle", (0, line), (3, 0), textcoords="offset points", **note)
    if why:
        axes.annotate(why, (0, max(labels)), (-left_pt, 0), textcoords="offset points", **note)
    messages = []
    for name, line in titles.items():
        messages.append(describe_pace(name, paces[name], inputs))
        looks = {"color": COLOURS[name][0], "weight": "bold", "va": "center_baseline"}
        axes.annotate(messages[-1], (0, line), (-left_pt, 0), textcoords="offset points", **looks)
        for job in jobs(network, system, name, started[name]):
            if job.start_s < end_s:
                draw_job(axes, job, name, line, longest, end_s, unit)
    alt = f"Timeline of the first {describe_time(end_s)}. {'; '.join(messages)}."
    return figure, " ".join(filter(None, [alt, why]))


def name_nodes(first: int, last: int) -> str:
    """Name consecutive nodes."""
    return f"nodes {first:,} to {last:,}" if first < last else f"node {first:,}"


def explain_starts(results: Results) -> str:
    """Say why a pipeline's first node idles between inputs, if it does."""
    if "pipeline" not in results.strategies or results.asked.inputs == 1:
        return ""
    bottleneck = results.find(1)["pipeline"].bottleneck
    if bottleneck == "node 1":
        return ""
    return (
        "Node 1 idles because each input starts just in time: earlier, it would only wait before"
        f" {bottleneck}."
    )


def describe_pace(strategy: str, pace: Result, inputs: int) -> str:
    """Say when a strategy's outputs are done."""
    first, later = describe_time(pace.latency_s), describe_time(pace.interval_s)
    when = f"after {first}, then one every {later}" if inputs > 1 else f"after {first}"
    if inputs > 1 and pace.latency_s == pace.interval_s:
        when = f"every {first}"
    return f"{strategy.capitalize()} parallelism: an output {when}"


def draw_job(
    axes: "Axes", job: Job, strategy: str, title: float, longest: int, end_s: Fraction, unit: str
) -> None:
    """Draw a bar, some lines below a title; for a transfer a black one, between two lines if nodes
    compute meanwhile. It has the input's number if there is room, once if all nodes work alike."""
    start = float(job.start_s * UNITS[unit])
    length = float(min(job.end_s, end_s) * UNITS[unit]) - start
    line, shade = title + (1 if strategy == "tensor" else job.layer), (job.input - 1) % 2
    colour = COLOURS[strategy][shade] if job.work == "compute" else INK
    below, height = (0.5, 0.24) if job.work == "send" else (0, 0.76)
    axes.barh(line + below, length, height, start, color=colour, label=job.work)
    if job.work != "compute" or (strategy == "tensor" and job.layer != longest):
        return
    number = f"{job.input:,}"
    length_pt = length / axes.get_xlim()[1] * axes.get_position().width * WIDTH_PT
    if length_pt > LETTER_PT * (len(number) + 0.5):
        looks: Any = {"ha": "center", "va": "center_baseline"}
        axes.text(start + length / 2, line, number, color=("white", INK)[shade], **looks)


# ------------------------------------------------ time per input

DOTS = 200  # that make a curve
LIMITS_LINES = 9.8


def draw_limits(results: Results) -> "tuple[Figure, str]":
    """Draw latency / N up to ten times the inputs, with dots for Q1 and Q2; dashed, what a curve
    falls to; an area, what no schedule can reach."""
    paces, inputs = results.find(1), results.asked.inputs
    bound_s = results.bounds[0].lower_bound_s
    unit = choose_unit(max(pace.latency_s for pace in paces.values()))

    def scale(value_s: Fraction) -> float:
        return float(value_s * UNITS[unit])

    highest = 1.15 * max(scale(pace.latency_s) for pace in paces.values())
    title = f"Time per input, {unit} (latency ÷ inputs)"
    left_pt = max(30, LETTER_PT * (len(f"{ceil(highest):,}") + 1))
    right_pt = 180 + LETTER_PT * max(0, len(f"{int(highest):,}") - 3)
    figure, axes = make_axes(results, LINE_PT * LIMITS_LINES, left_pt, right_pt, title)
    axes.set(xscale="log", xlim=(1, 10 * inputs), ylim=(0, highest))
    asked = sorted({1, inputs})
    decades = (10**power for power in range(1, len(f"{10 * inputs - 1}")))
    ticks = [*asked, *(n for n in decades if n >= 2 * inputs or 2 * n <= inputs)]
    axes.set_xticks(ticks, [f"{n:,}" for n in ticks])
    axes.minorticks_off()
    axes.locator_params("y", nbins=5)
    axes.yaxis.set_major_formatter("{x:,g}")
    looks: Any = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "top"}
    axes.annotate("N", (1, 0), (13, -6), **looks, color=NOTE, style="italic", family=SYMBOLS)
    axes.annotate("inputs (log scale)", (1, 0), (28, -6), **looks, color=NOTE)

    axes.axhspan(0, scale(bound_s), color=PALE, label="lower bound")
    label, ends = f"lower bound: {format_time(bound_s, unit)}", {}
    if scale(bound_s) * LIMITS_LINES > 2 * highest:  # room in the area, below a dot's number
        looks |= {"ha": "right", "va": "baseline", "color": NOTE, "weight": "bold"}
        axes.annotate(label, (1, 0), (-8, 5), **looks)
    else:
        ends[label] = scale(bound_s), NOTE
    counts = [(10 * inputs) ** (dot / DOTS) for dot in range(DOTS + 1)]
    each_s = {(name, n): it.latency_s / n for n in asked for name, it in results.find(n).items()}
    lines = [scale(it.interval_s) for it in paces.values()]
    room = highest / LIMITS_LINES  # for a number above or below its dot
    for name, pace in paces.items():
        colour, interval_s = COLOURS[name][0], pace.interval_s
        floor, rest = scale(interval_s), scale(pace.latency_s - interval_s)
        axes.plot(counts, [floor + rest / n for n in counts], color=colour, lw=2.5, label=name)
        if rest:
            axes.axhline(floor, color=colour, ls="--", lw=1, label=f"{name} floor")
        for n in asked:
            place = n, scale(each_s[name, n])
            is_highest = each_s[name, n] == max(each_s[it, n] for it in paces)
            below, above = (
                sum(0.1 < abs(it - place[1]) / room < 1.2 and (it > place[1]) == up for it in lines)
                for up in (False, True)
            )
            is_above = below > above or (below == above and is_highest) or place[1] < 1.5 * room
            axes.plot(*place, "o", color=colour, ms=7, clip_on=False, zorder=3)
            looks = {"va": "bottom"} if is_above else {"va": "top"}
            looks |= {"textcoords": "offset points", "color": colour, "weight": "bold"}
            axes.annotate(
                format_time(each_s[name, n], unit), place, (7, 5 if is_above else -6), **looks
            )
        word = "falls to" if rest else "stays at"
        ends[f"{name} {word} {format_time(interval_s, unit)}"] = (floor, colour)
    draw_labels(axes, ends, highest)
    return figure, f"{title}, for up to {10 * inputs:,} inputs: {'; '.join({label: 0} | ends)}."


def draw_labels(axes: "Axes", labels: dict[str, tuple[float, str]], highest: float) -> None:
    """Write labels right of the axes, each as high as its value, but none on another."""
    gap = highest / LIMITS_LINES
    lowest = 0.5 * gap
    for text, (value, colour) in sorted(labels.items(), key=lambda label: label[1][0]):
        place = max(value, lowest)
        lowest = place + gap
        looks: Any = {"va": "center", "color": colour, "weight": "bold"}
        axes.text(1.025, place, text, transform=axes.get_yaxis_transform(), **looks)


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
