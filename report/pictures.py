"""Four pictures of any question: who works when, how far from the lower bound, which plan, and what
nodes must hold.

matplotlib's constrained layout gives each text its place. A colour means the same in all pictures,
and no meaning rests on colour alone: marks also differ in place, shape, hatch or shade of grey.
Text stays text in an SVG. What is too large to be read is refused.
"""

from __future__ import annotations

import logging
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from functools import wraps
from io import BytesIO
from math import ceil
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import lab3
from lab3 import Rate
from report import plans as planning
from report import question as asking
from report import schedule, search
from report.analysis import Analysis, Latency, Losses, Result
from report.plans import Plan
from report.question import Impossible, Question
from report.search import PlanResult
from report.terminal import MS, US, count, one_of, path_text, shown

if TYPE_CHECKING:  # matplotlib is imported where something is drawn
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# After Okabe and Ito, whom the colour-blind can tell apart, darkened until each has 3 : 1 or more
# against white. The second shade is for every other input.
COLOURS = {
    "tensor": ("#0069A6", "#3D97CC"),
    "pipeline": ("#B34700", "#D9702B"),
    "plan": ("#00704F", "#2E9470"),  # any other
    "link": ("#222222", "#5E5E5E"),
    "data": ("#222222", "#5E5E5E"),
}
INK, NOTE, PALE = "#222222", "#595959", "#E4E4E4"
PALE_PIPELINE = "#F3C6A8"
ALARM, PALE_ALARM = "#C00020", "#F7CDD3"  # what does not fit
IS_DARK = 1.25  # a colour whose red, green and blue are less together has white text

ENDINGS = (".svg", ".png")
POINTS = 72  # per inch; a pixel until a picture is written, so that sizes are in points
EDGE_PT = 8  # left and right of all, as letters of another face may be wider
MOST_LINES = 32  # of nodes in a timeline, or bars with a name
MOST_BARS = 1_000  # of a timeline


class Picture(NamedTuple):
    """A picture, and the same in one to three sentences for those who cannot see it."""

    figure: Figure
    alt: str


class Style(NamedTuple):
    """How large a picture is, and its type. With a height it is a slide's: without notes, key in
    words and row streaming. Any other picture is as high as what it shows."""

    width_pt: float = 720
    height_pt: float | None = None
    font_pt: float = 11
    faces: tuple[str, ...] = ("DejaVu Sans",)  # the first of them that there is
    letter: float = 0.6  # how wide it is, of the size of type

    def filled(self, text: str, share: float = 1) -> str:
        """On lines that take this share of the width."""
        return fill(text, int(share * self.width_pt / (self.letter * self.font_pt)))


DEFAULT = Style()


@contextmanager
def _settings(style: Style) -> Iterator[None]:
    """matplotlib's for a style, whatever the user's own are."""
    import matplotlib

    # where a face is missing the next is taken
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rc("font", family=style.faces, size=style.font_pt)
        matplotlib.rc("figure", titlesize="medium")
        matplotlib.rc("figure.constrained_layout", h_pad=3 / POINTS, w_pad=EDGE_PT / POINTS)
        matplotlib.rc("figure.constrained_layout", hspace=0)
        matplotlib.rc("axes", edgecolor=NOTE, facecolor="none", labelcolor=NOTE, labelpad=2)
        matplotlib.rc("axes", titlelocation="left", titlepad=3, titlesize="medium")
        matplotlib.rc("axes.spines", left=False, right=False, top=False, bottom=False)
        matplotlib.rc("xtick", color=NOTE)
        matplotlib.rc("ytick", color=NOTE)
        matplotlib.rc("legend", frameon=False, borderpad=0, borderaxespad=0.3, labelspacing=0.3)
        matplotlib.rc("legend", handlelength=1.6, handletextpad=0.5, columnspacing=1.4)
        matplotlib.rc("hatch", linewidth=0.6)
        matplotlib.rc("svg", fonttype="none", hashsalt="lab3")  # text; the same bytes on every run
        yield


def _in_style(draw: Callable[..., Picture]) -> Callable[..., Picture]:
    @wraps(draw)
    def drawn(analysis: Analysis, style: Style = DEFAULT, **options: Any) -> Picture:
        with _settings(style):
            return draw(analysis, style, **options)

    return drawn


def image(picture: Picture, ending: str) -> bytes:
    """The file for ".svg" or ".png", the same on every run; its title is the alternative text."""
    file = BytesIO()
    with _settings(DEFAULT):
        about = {"Title": picture.alt, "Date": None}
        picture.figure.savefig(file, format=ending[1:], dpi=200, metadata=about)
    return file.getvalue()


# ------------------------------------------------ values and their units


class Unit(NamedTuple):
    """What an axis counts."""

    name: str
    factor: Rate  # units per second, or per byte

    def number(self, value: Rate, decimals: int = 2) -> str:
        """Rounded once: to so many decimals, or where these are fewer to two digits."""
        scaled = Fraction(value) * self.factor
        if 0 < scaled < Fraction(10, 10**decimals):
            return lab3.plain(scaled, 2)
        return f"{Decimal(round(scaled * 10**decimals)).scaleb(-decimals):,f}"

    def text(self, value: Rate, decimals: int = 2) -> str:
        """The number and its unit."""
        return f"{self.number(value, decimals)} {self.name}"


SECONDS = [Unit("s", 1), Unit("ms", MS), Unit("µs", US), Unit("ns", 10**9)]
BYTES = [Unit(f"{prefix}B", Fraction(1, 1000**n)) for n, prefix in ((3, "G"), (2, "M"), (1, "k"))]


def _unit(units: Sequence[Unit], most: Rate, least: int = 1) -> Unit:
    """The largest of which there are at least so many, else the smallest."""
    return next((unit for unit in units if most * unit.factor >= least), units[-1])


def _time(value_s: Rate) -> str:
    """In its own unit."""
    return _unit(SECONDS, value_s).text(value_s)


# ------------------------------------------------ a sheet of paper


def _check_size(found: int, most: int, what: str, instead: str) -> None:
    """Raise ValueError for more than can be read."""
    if found > most:
        raise ValueError(f"{found:,} {what} are too many to draw: the limit is {most}; {instead}")


def _sheet(
    question: Question, notes: Sequence[str], style: Style, lines: float, **grid: Any
) -> tuple[Figure, list[Axes]]:
    """Axes of so many lines of type, below notes and how the question differs from the lab's."""
    from matplotlib.figure import Figure

    if difference := asking.asked(question):
        notes = [*notes, f"what if: {difference}"]
    head = "" if style.height_pt else "\n".join(map(style.filled, notes))
    height_pt = style.height_pt or 1.4 * style.font_pt * (lines + len(head.splitlines()))
    size = style.width_pt / POINTS, height_pt / POINTS
    figure = Figure(size, dpi=POINTS, layout="constrained")
    if head:
        figure.suptitle(head, x=EDGE_PT / style.width_pt, ha="left", color=NOTE)
    return figure, list(figure.subplots(squeeze=False, **grid).flat)


# ------------------------------------------------ who works when

# Top and height of a bar in lines: a send is between its line and the next.
BARS, ACROSS = {"compute": (-0.38, 0.76), "send": (0.35, 0.3)}, (-0.45, 0.9)
TIMELINE_KEY = "Number: the input; black or grey: a transfer"


class Lane(NamedTuple):
    """A plan's part of a timeline."""

    plan: Plan
    title: str
    colours: tuple[str, str]
    nodes: dict[int, range]  # of each layer
    lines: list[range]  # groups of nodes, which work alike, one below the other
    first: list[schedule.TimedStep]  # the steps of the first input
    interval_s: Fraction

    def started(self, inputs: int, end_s: Fraction) -> int:
        """How many of the inputs start before the end."""
        return min(inputs, ceil(end_s / self.interval_s))


@_in_style
def timeline(
    analysis: Analysis, style: Style, plans: Iterable[Plan] = (), until_s: Rate | None = None
) -> Picture:
    """All inputs that run in a window, on the nodes and links of each plan, by default of both
    strategies as far as they are possible; until the second output of the slowest and a little
    more. Raises ValueError for more than MOST_LINES or MOST_BARS."""
    question, notes, chosen = analysis.question, [], [*plans]
    if not chosen:
        notes = [impossible.reason for impossible in analysis.impossible.values()]
        chosen = schedule.possible_plans(question.network, question.system)
    lanes = [_lane(question, plan) for plan in chosen]
    heights = [len(lane.lines) for lane in lanes]
    _check_size(sum(heights), MOST_LINES, "lines", "ask for fewer layers or plans")
    later = min(question.inputs - 1, 1)
    second_s = max(lane.first[-1].end_s + later * lane.interval_s for lane in lanes)
    end_s = Fraction(until_s or Fraction(21, 20) * second_s)
    bars = sum(len(lane.first) * lane.started(question.inputs, end_s) for lane in lanes)
    _check_size(bars, MOST_BARS, "bars", "end the timeline earlier, with --until")

    alt = f"Timeline of the first {_time(end_s)}: {'; '.join(lane.title for lane in lanes)}"
    alt = " ".join(f"{text}." for text in [alt, *notes])
    lines = 1.2 * sum(heights) + 1.1 * len(lanes) + 1.5
    grid = {"nrows": len(lanes), "sharex": True, "height_ratios": heights}
    figure, areas = _sheet(question, [*notes, TIMELINE_KEY], style, lines, **grid)
    unit = _unit(SECONDS, end_s)
    for axes, lane in zip(areas, lanes, strict=True):
        names = [
            f"nodes {nodes[0]:,} to {nodes[-1]:,}" if len(nodes) > 1 else f"node {nodes[0]:,}"
            for nodes in lane.lines
        ]
        axes.set(xlim=(0, float(end_s * unit.factor)), ylim=(len(names) - 0.5, -0.5))
        axes.set_title(style.filled(lane.title, 0.8), color=lane.colours[0])
        axes.set_yticks(range(len(names)), names, color=INK)
        axes.tick_params("both", length=0)
    axes.spines["bottom"].set_visible(True)
    axes.tick_params("x", length=3)
    axes.xaxis.set_major_formatter("{x:,g}")
    looks: Any = {"textcoords": "offset points", "ha": "right", "va": "top", "color": NOTE}
    axes.annotate(f"time, {unit.name}", (0, 0), (-12, -6), xycoords="axes fraction", **looks)
    figure.draw_without_rendering()  # which gives axes their places
    for axes, lane in zip(areas, lanes, strict=True):
        _draw_lane(axes, lane, question, end_s, unit, style)
    return Picture(figure, alt)


def _lane(question: Question, plan: Plan) -> Lane:
    network, system, inputs = question
    interval_s = schedule.interval(network, system, plan)
    first = schedule.timed_steps(network, system, plan)
    name = schedule.plan_name(network, system, plan)
    title = f"{name}: an output after {_time(first[-1].end_s)}"
    if inputs > 1:
        title += f", then one every {_time(interval_s)}"
    if idle := system.nodes - sum(nodes for _, nodes in plan):
        title += f"; {count(idle, 'idle node')}"
    nodes = schedule.layer_nodes(network, system, plan)
    lines = list(dict.fromkeys(nodes.values()))
    return Lane(plan, title, COLOURS[name.split()[0]], nodes, lines, first, interval_s)


def _draw_lane(
    axes: Axes, lane: Lane, question: Question, end_s: Fraction, unit: Unit, style: Style
) -> None:
    """The bars of each input in its shade, and its number in each that has room."""
    network, system, inputs = question
    steps = schedule.timed_steps(network, system, lane.plan, lane.started(inputs, end_s))
    for step, number, start_s, stop_s in steps:
        if start_s >= end_s:
            continue
        line = lane.lines.index(lane.nodes[step.layer])
        start, end = (float(at_s * unit.factor) for at_s in (start_s, min(stop_s, end_s)))
        is_compute, shade = step.work == "compute", (number - 1) % 2
        colour = (lane.colours if is_compute else COLOURS["link"])[shade]
        top, height = BARS.get(step.work, ACROSS)
        (bar,) = axes.barh(line + top, end - start, height, start, align="edge", color=colour)
        bar.set(zorder=1 + (not is_compute), label=step.work)
        if is_compute:
            middle, below = ((start + end) / 2, line), (0, -0.33 * style.font_pt)
            looks: Any = {"textcoords": "offset points", "ha": "center", "va": "baseline"}
            text = axes.annotate(f"{number:,}", middle, below, **looks, zorder=3, in_layout=False)
            text.set_color(("white", "black")[shade])
            if text.get_window_extent().width + 3 > bar.get_window_extent().width:
                text.remove()


# ------------------------------------------------ bars with names and values


class Part(NamedTuple):
    """A part of a bar, or an entry of a key."""

    name: str
    face: str
    size: Rate = 0  # in seconds or bytes
    edge: str = "white"
    hatch: str = ""


class Bar(NamedTuple):
    """A bar right of its name, which begins with the strategy, or the reason why there is none."""

    name: str
    parts: Sequence[Part] = ()
    reason: str = ""

    @property
    def size(self) -> Rate:
        """The sum of all parts."""
        return sum(part.size for part in self.parts)


def _no_bar(name: str, found: Impossible) -> Bar:
    """With the reason, but not its subject, which is the bar's name."""
    _, is_not, rest = found.reason.partition(" is not ")
    return Bar(name, reason=f"not {rest}" if is_not else found.reason)


def _draw_bars(
    axes: Axes, bars: Sequence[Bar], limit: Rate, limit_text: str, above: float = 0
) -> None:
    """Bars one below the other, and a limit across, with its text above them and so much room."""
    axes.set_ylim(len(bars) - 0.5, -0.5 - above)
    axes.xaxis.tick_top()
    axes.set_xticks([float(limit)], [limit_text])
    axes.set_yticks(range(len(bars)), [bar.name for bar in bars])
    axes.tick_params("both", length=0, labelcolor=INK)
    for line, (bar, name) in enumerate(zip(bars, axes.get_yticklabels(), strict=True)):
        name.set_color(COLOURS[bar.name.partition(",")[0]][0])
        start: Rate = 0
        for part in bar.parts:
            looks: Any = {"fc": part.face, "ec": part.edge, "lw": part.edge != "white"}
            (drawn,) = axes.barh(line, float(part.size), 0.76, float(start), **looks)
            drawn.set(hatch=part.hatch, label=f"{bar.name}: {part.name}")
            start += part.size
        if bar.reason:
            axes.text(0, line, f" {bar.reason}", va="center_baseline", in_layout=False)
        else:
            top = line - 0.5 - above * (line == 0)
            axes.vlines(float(limit), top, line + 0.5, INK, label=limit_text)


# ------------------------------------------------ how far from the lower bound

PARTS_DECIMALS = 3  # with two the lab's parts do not add up
BARS_SHARE = 0.66  # of the width; the rest is for sums
ORANGE = COLOURS["pipeline"][0]
COMMUNICATION = Part("communication", INK)
LOST = (  # in the order of Losses
    Part("idle nodes", PALE, edge=ORANGE),
    Part("load imbalance", PALE_PIPELINE, edge=ORANGE),
    Part("waiting for a link", COLOURS["link"][1]),
    Part("fill and drain", "white", edge=ORANGE),
    COMMUNICATION,
)


@_in_style
def limits(analysis: Analysis, style: Style) -> Picture:
    """Latency of all inputs in parts, the first of which is the lower bound. Raises ValueError if
    neither strategy is possible."""
    asking.check_possible(analysis.network, analysis.system)
    inputs, bound_s = analysis.inputs, analysis.lower_bound_s
    found: dict[str, Any] = {
        "tensor": analysis.result("tensor", inputs),
        "pipeline": analysis.losses,
        "pipeline, row streaming": analysis.streamed_pipeline,
    }
    if style.height_pt:
        del found["pipeline, row streaming"]
    bars = [_latency_bar(name, result, bound_s) for name, result in found.items()]
    what = f"Latency of {count(inputs, 'input')}"
    unit = _unit(SECONDS, bound_s)
    bound = unit.text(bound_s, PARTS_DECIMALS)
    figure, [axes] = _sheet(analysis.question, [what], style, 3.5 * len(bars) + 1.5)
    axes.set_xlim(0, float(max(bar.size for bar in bars)) / BARS_SHARE)
    _draw_bars(axes, bars, bound_s, f"lower bound {bound}")
    figure.draw_without_rendering()  # which gives the bars their places
    sums = [_name_parts(axes, line, bar, unit, style) for line, bar in enumerate(bars)]
    told = "; ".join(f"{bar.name}, {text}" for bar, text in zip(bars, sums, strict=True))
    return Picture(figure, f"{what}: {told}. The lower bound is {bound}.")


def _latency_bar(
    name: str, found: Result | Losses | Sequence[Latency] | Impossible, bound_s: Fraction
) -> Bar:
    if isinstance(found, Impossible):
        return _no_bar(name, found)
    if isinstance(found, Result):
        lost = [COMMUNICATION._replace(size=found.inputs * found.communication_s)]
    elif isinstance(found, Losses):
        lost = [part._replace(size=size_s) for part, size_s in zip(LOST, found[1:], strict=True)]
    else:
        lost = [Part("waiting", "white", found[-1].latency_s - bound_s, edge=ORANGE)]
    ideal = Part("ideal compute", COLOURS[name.partition(",")[0]][0], bound_s)
    return Bar(name, [ideal, *(part for part in lost if part.size)])


def _name_parts(axes: Axes, line: int, bar: Bar, unit: Unit, style: Style) -> str:
    """Name each part on its bar with its value, those that have no room right of it, before the
    sum. Returns all of it."""
    from matplotlib.colors import to_rgb

    if bar.reason:
        return bar.reason
    per_pt = axes.get_xlim()[1] / axes.bbox.width
    terms = [f"{part.name} {unit.number(part.size, PARTS_DECIMALS)}" for part in bar.parts]
    total = f"= {unit.text(bar.size, PARTS_DECIMALS)}"
    end, beside = 0.0, []
    for part, term in zip(bar.parts, terms, strict=True):
        start, end = end, end + float(part.size)
        colour = "white" if sum(to_rgb(part.face)) < IS_DARK else "black"
        looks: Any = {"va": "center_baseline", "color": colour, "in_layout": False}
        text = axes.text(start + 4 * per_pt, line, term, **looks)
        if start + (text.get_window_extent().width + 8) * per_pt > end:
            text.remove()
            beside.append(f"+ {term}")
    room = 1 - end / axes.get_xlim()[1]
    unbroken = " ".join(text.replace(" ", "\xa0") for text in [*beside, total])
    sums = style.filled(unbroken, room * axes.bbox.width / style.width_pt)
    looks = {"va": "center", "linespacing": 1.1, "in_layout": False, "color": INK}
    axes.text(end + 6 * per_pt, line, sums, **looks)
    return f"{' + '.join(terms)} {total}"


# ------------------------------------------------ which plan

MOST_NAMES = 10
PLAN_TOLD = "1-2:2,3 would be layers 1-2 on 2 nodes, 3 on 1"
MARKERS = {"tensor": "s", "pipeline": "D", "plan": "o"}


@_in_style
def pareto(analysis: Analysis, style: Style) -> Picture:
    """Latency against traffic of every plan. Those of _named_plans are in the key; their number
    stands left below them, too, if there is room. Raises ValueError as search.every_result does."""
    every = search.every_result(*analysis.question)
    best = search.unbeaten(every)
    named = _named_plans(analysis, every, best)
    sizes = _unit(BYTES, max(plan.traffic_bytes for plan in every))
    times = _unit(SECONDS, max(plan.latency_s for plan in every), 10)
    what = f"latency of {count(analysis.inputs, 'input')}"
    fit = sum(plan.fits for plan in every)
    head = f"{count(len(every), 'plan')}; filled: {fit:,} that fit in the SRAM"
    bound = f"lower bound {times.text(analysis.lower_bound_s)}"
    figure, [axes] = _sheet(analysis.question, [], style, min(MOST_NAMES, len(best)) + 11)

    def places(plans: Iterable[PlanResult]) -> list[list[float]]:
        return [
            [float(plan.traffic_bytes * sizes.factor) for plan in plans],
            [float(plan.latency_s * times.factor) for plan in plans],
        ]

    def draw(plans: Sequence[PlanResult], marker: str, colour: str, **looks: Any) -> None:
        face = colour if plans[0].fits else "white"
        looks = {"linestyle": "none", "clip_on": False, "markerfacecolor": face, **looks}
        axes.plot(*places(plans), marker, color=colour, **looks)

    right, top = (1.05 * max(ends) or 1 for ends in places(every))
    axes.set(xlim=(-0.05 * right, right), ylim=(0, top))
    axes.set_title(f"{what}, {times.name}", color=NOTE)
    axes.set_xlabel(f"traffic, {sizes.name}", loc="right")
    axes.spines[["left", "bottom"]].set_visible(True)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,g}")
    for name, plan in named.items():
        kind = name.split(": ")[-1].split()[0]
        draw([plan], MARKERS[kind], COLOURS[kind][0], label=name, zorder=3)
    for fits in (False, True):
        if others := [p for p in every if p.fits == fits and p not in named.values()]:
            draw(others, "o", NOTE, markersize=4.5)
    if len(every) > len(named):
        axes.plot([], [], "o", color=NOTE, mfc="white", markersize=4.5, label="other plans")
    if len(best) > 1:
        axes.step(*places(best), INK, where="pre", lw=1, zorder=1, label="Pareto front")
    bound_at = float(analysis.lower_bound_s * times.factor)
    axes.axhline(bound_at, color=INK, ls="--", lw=1, zorder=1, label=bound)
    looks: Any = {"alignment": "left", "loc": "upper left", "bbox_to_anchor": (1.02, 1)}
    axes.legend(title=f"{head}\n{PLAN_TOLD}", **looks)
    numbers = [name.split(": ")[0] if plan in best else "" for name, plan in named.items()]
    _number_dots(figure, numbers, zip(*places(named.values()), strict=True), bound_at)

    told = "; ".join(
        f"{name} ({times.text(plan.latency_s)}, {count(plan.traffic_bytes, 'byte')})"
        for name, plan in named.items()
        if plan in best
    )
    alt = f"{what.capitalize()} against traffic: {head}. Pareto-optimal by number: {told}"
    return Picture(figure, f"{alt}. The {bound.replace('bound', 'bound is')}.")


def _named_plans(
    analysis: Analysis, every: Iterable[PlanResult], best: Sequence[PlanResult]
) -> dict[str, PlanResult]:
    """Up to MOST_NAMES of the Pareto-optimal, evenly spread, and both strategies, by their names;
    before the name of a Pareto-optimal one stands its number in the table of `plans`."""
    strategies = (plan for plan in every if plan.plan in analysis.possible.values())
    named = {}
    for plan in [*best[:: ceil(len(best) / MOST_NAMES)], *strategies]:
        name = schedule.plan_name(analysis.network, analysis.system, plan.plan)
        named[f"{best.index(plan) + 1:,}: {name}" if plan in best else name] = plan
    return named


def _number_dots(
    figure: Figure, numbers: Iterable[str], places: Iterable[tuple[float, float]], bound: float
) -> None:
    """Left below each dot, where neither another number nor a line is."""
    [axes] = figure.axes
    figure.draw_without_rendering()  # which gives the dots their places
    _, bound_pt = axes.transData.transform((0, bound))
    taken: list[Any] = []
    for number, place in zip(numbers, places, strict=True):
        looks: Any = {"textcoords": "offset points", "ha": "right", "va": "top"}
        text = axes.annotate(number, place, (-4, -4), **looks)
        extent = text.get_window_extent()
        on_line = extent.y0 <= bound_pt <= extent.y1 or extent.y0 < axes.bbox.y0
        if not number or on_line or extent.count_overlaps(taken):
            text.remove()
        else:
            taken.append(extent)


# ------------------------------------------------ what nodes must hold

PARTS = (
    Part("weights", "#505050"),
    Part("input", "#7A7A7A", hatch="///"),
    Part("output", "#949494", hatch="\\\\\\"),
)
EXCESS = Part("excess", PALE_ALARM, edge=ALARM)


@_in_style
def sram(analysis: Analysis, style: Style) -> Picture:
    """Weights, input and output on each node when it is fullest, with one input at a time, of both
    strategies and data parallelism. Raises ValueError for more than MOST_LINES bars."""
    from matplotlib.patches import Patch

    bars, sums = [], []
    room = analysis.system.sram_bytes
    for strategy, found in analysis.sram.items():
        name = strategy.replace("streamed", "row streaming")
        if style.height_pt and name != strategy:
            continue
        if isinstance(found, Impossible):
            bars.append(_no_bar(name, found))
            sums.append("")
            continue
        for use in found.uses if strategy == "pipeline" else [found.fullest]:
            sizes = use.weight_bytes, use.input_bytes, use.output_bytes
            bars.append(Bar(f"{name}, {use.where}", _held(sizes, room)))
            sums.append(f"{' + '.join(f'{size:,}' for size in sizes)} = {use.total_bytes:,}")
    _check_size(len(bars), MOST_LINES, "bars", "`python3 report explain sram` has them all")
    what = "Bytes that a node holds when it is fullest, one input at a time"
    head = f"{' + '.join(part.name for part in PARTS)}, bytes"
    limit = f"SRAM of a node: {count(room, 'byte')}"

    figure, [axes] = _sheet(analysis.question, [what], style, 1.25 * len(bars) + 4)
    _draw_bars(axes, bars, room, limit, above=0.9)
    column = axes.secondary_yaxis("right")
    column.spines["right"].set_visible(False)
    column.set_yticks(range(-1, len(bars)), [head, *sums], ha="right")
    labels = column.get_yticklabels()
    for bar, label in zip(bars, labels[1:], strict=True):
        label.set_color(ALARM if bar.size > room else INK)
    widest_pt = max(label.get_window_extent().width for label in labels)
    column.tick_params("y", length=0, pad=widest_pt + style.font_pt / 2)
    key = [*PARTS, *[EXCESS] * any(bar.size > room for bar in bars)]
    boxes = [Patch(fc=part.face, ec=part.edge, hatch=part.hatch, label=part.name) for part in key]
    figure.legend(handles=boxes, ncols=len(boxes), loc="outside lower left")

    told = "; ".join(
        f"{bar.name}, {bar.reason or f'{bar.size:,}'}{' (too many)' * (bar.size > room)}"
        for bar in bars
    )
    return Picture(figure, f"{what}: {told}. The {limit.replace(':', ' is')}.")


def _held(sizes: Iterable[int], room: int) -> list[Part]:
    """Pale and red beyond the SRAM."""
    parts = []
    for part, size in zip(PARTS, sizes, strict=True):
        inside = min(room, size)
        room -= inside
        excess = EXCESS._replace(name=part.name, size=size - inside, hatch=part.hatch)
        parts += [part._replace(size=inside), excess]
    return [part for part in parts if part.size]


# ------------------------------------------------ the command: picture

PICTURES = {"timeline": timeline, "limits": limits, "plans": pareto, "sram": sram}


def add_options(parser: ArgumentParser) -> None:
    """Which picture, what if, and where to."""
    picture = one_of("picture", PICTURES)
    parser.add_argument("picture", type=picture, metavar="{timeline,limits,plans,sram}")
    asking.add_options(parser)
    planning.add_plan_option(parser)
    ms = asking.decimal("ms", 14, 10**12, Fraction(1, MS))
    parser.add_argument(
        "--until", metavar="MS", type=ms.parse, help="where a timeline ends, ms (timeline only)"
    )
    parser.add_argument(
        "--output", metavar="FILE", type=Path, help="FILE.svg or FILE.png (default: PICTURE.svg)"
    )


def run(options: Namespace) -> str:
    """Write the picture. Says what was asked, and where it is."""
    name, question = options.picture, asking.question_of(options)
    output = options.output or Path(f"{name}.svg")
    if output.suffix.lower() not in ENDINGS:
        raise ValueError(f"--output: {shown(str(output))} does not end in {' or '.join(ENDINGS)}")
    taken: dict[str, Any] = {}
    if name == "timeline":
        plans = planning.plans_asked(options.plan, question.network, question.system)
        taken = {"plans": plans.values(), "until_s": options.until}
    elif options.plan or options.until:
        option = "--plan" if options.plan else "--until"
        raise ValueError(f"{option} works only with timeline, not {name}")
    picture = PICTURES[name](Analysis(question), **taken)
    output.write_bytes(image(picture, output.suffix.lower()))
    return asking.headed(question, f"wrote {path_text(output)}")
