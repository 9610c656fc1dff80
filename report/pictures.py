"""Four pictures of any question: who works when, how far from the lower bound, which plan, and what
nodes must hold.

matplotlib's constrained layout gives each text its place, so that none meets another. A colour
means the same in all pictures, and no meaning rests on colour alone: marks also differ in place,
shape, hatch or filling. Text stays text in an SVG.
"""

from __future__ import annotations

import logging
from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from functools import wraps
from html import escape
from io import BytesIO
from itertools import groupby, islice
from math import ceil, inf
from operator import itemgetter
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import lab3
from lab3 import Rate
from report import plans as planning
from report import question as asking
from report import schedule, search
from report.analysis import Analysis, Need
from report.plans import STRATEGIES, Plan
from report.question import Impossible, Question
from report.schedule import TimedStep
from report.search import PlanResult
from report.sram import SramUse
from report.terminal import MS, US, count, filled, one_of, path_text, shown

if TYPE_CHECKING:  # matplotlib is imported where something is drawn
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# After Okabe and Ito, whom the colour-blind can tell apart, darkened until each has 3 : 1 or more
# against white. The second shade is for every other input, and for time that is lost.
COLOURS = {
    "tensor": ("#0069A6", "#3D97CC"),
    "pipeline": ("#B34700", "#D9702B"),
    "plan": ("#00704F", "#2E9470"),  # any other
    "link": ("#222222", "#5E5E5E"),
    "data": ("#222222", "#5E5E5E"),
}
INK, NOTE, PALE = "#222222", "#595959", "#E4E4E4"
ALARM = "#C00020"  # what does not fit
IS_DARK = 1.25  # a colour whose red, green and blue are less together has white text

ENDINGS = (".svg", ".png")
POINTS = 72  # per inch; a pixel until a picture is written, so that sizes are in points
EDGE_PT = 8  # left and right of all, as letters of another face may be wider
KEY_COLUMNS = 3  # of parts with values
LETTER = 0.6  # of the size of type: how wide a letter is, or a little less


class Picture(NamedTuple):
    """A picture, and the same in one to three sentences for those who cannot see it."""

    figure: Figure
    alt: str


class Style(NamedTuple):
    """How large a picture is, and its type; without a height, as high as what it shows."""

    width_pt: float = 720
    font_pt: float = 11
    face: str = "DejaVu Sans"
    height_pt: float | None = None


DEFAULT = Style()


@contextmanager
def _settings(style: Style) -> Iterator[None]:
    """Of matplotlib, whatever the user's own are."""
    import matplotlib

    # a face that is missing has another in its place
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    fallback = "STIXGeneral" if "Serif" in style.face else "DejaVu Sans"
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rc("font", family=[style.face, fallback], size=style.font_pt)
        pads = {"hspace": 0, "h_pad": 3 / POINTS, "w_pad": EDGE_PT / POINTS}
        matplotlib.rc("figure.constrained_layout", **pads)
        matplotlib.rc("axes", edgecolor=NOTE, facecolor="none", labelcolor=NOTE, labelpad=2)
        matplotlib.rc("axes", titlelocation="left", titlepad=3, titlesize="medium")
        matplotlib.rc("figure", titlesize="medium")
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
    def drawn(analysis: Analysis, *args: Any, style: Style = DEFAULT, **options: Any) -> Picture:
        with _settings(style):
            return draw(analysis, style, *args, **options)

    return drawn


def image(picture: Picture, ending: str) -> bytes:
    """The file for ".svg" or ".png", the same on every run."""
    file = BytesIO()
    with _settings(DEFAULT):
        picture.figure.savefig(file, format=ending[1:], dpi=200, metadata={"Date": None})
    if ending == ".png":
        return file.getvalue()
    start, end = file.getvalue().decode().split(' version="1.1">', 1)
    title, desc = (escape(text, quote=False) for text in (picture.alt.split(":")[0], picture.alt))
    told = f"\n <title>{title}</title>\n <desc>{desc}</desc>"
    return f'{start} version="1.1" role="img">{told}{end}'.encode()


# ------------------------------------------------ values and their units


class Unit(NamedTuple):
    """What an axis counts."""

    name: str
    factor: Rate  # units per second, or per byte

    def text(self, value: Rate, decimals: int = 2) -> str:
        """Rounded once: to so many decimals, or where these are fewer to two digits."""
        scaled = Fraction(value) * self.factor
        if 0 < scaled < Fraction(10, 10**decimals):
            return f"{lab3.plain(scaled, 2)} {self.name}"
        rounded = Decimal(round(scaled * 10**decimals)).scaleb(-decimals)
        return f"{rounded:,f} {self.name}"


SIZES = (("GB", 10**9), ("MB", 10**6), ("kB", 10**3))
SECONDS = (Unit("s", 1), Unit("ms", MS), Unit("µs", US), Unit("ns", 10**9))
BYTES = tuple(Unit(name, Fraction(1, size)) for name, size in SIZES)


def _unit(units: Sequence[Unit], most: Rate, least: int = 1) -> Unit:
    """The largest of which there are at least so many, else the smallest."""
    return next((unit for unit in units if most * unit.factor >= least), units[-1])


def _time(value_s: Rate) -> str:
    """In its own unit."""
    return _unit(SECONDS, value_s).text(value_s)


# ------------------------------------------------ a sheet of paper


class Mark(NamedTuple):
    """A part of a bar, or an entry of a key."""

    text: str
    face: str = "white"
    size: Rate = 0  # in seconds or bytes
    edge: str = "white"
    hatch: str = ""


def _sheet(
    question: Question, notes: Iterable[str], style: Style, letters: int, **grid: Any
) -> tuple[Figure, list[Axes]]:
    """Axes below notes and how the question differs from the lab's, on paper that is wide enough
    for so many letters; _lay_out sets its height."""
    from matplotlib.figure import Figure

    letter_pt = LETTER * style.font_pt
    width_pt = max(style.width_pt, letter_pt * letters)
    figure = Figure((width_pt / POINTS, 1), dpi=POINTS, layout="constrained")
    said = asking.asked(question)
    if lines := [*notes, *([f"what if: {said}"] if said else [])]:
        text = "\n".join(fill(line, int(width_pt / letter_pt)) for line in lines)
        figure.suptitle(text, x=EDGE_PT / width_pt, ha="left", color=NOTE)
    return figure, list(figure.subplots(squeeze=False, **grid).flat)


def _lay_out(figure: Figure, style: Style, lines: float) -> None:
    """Cut the paper to the style's height, or to so many lines below the notes."""
    notes = figure.get_suptitle()
    lines += (notes.count("\n") + 1) * bool(notes)
    height_pt = style.height_pt or 1.4 * style.font_pt * lines
    figure.set_figheight(height_pt / POINTS)
    figure.draw_without_rendering()  # which gives axes and texts their places


def _draw_key(figure: Figure, marks: Sequence[Mark], columns: int) -> int:
    """Below all. Returns how many lines it has."""
    from matplotlib.patches import Patch

    boxes = [Patch(fc=it.face, ec=it.edge, hatch=it.hatch, label=it.text) for it in marks]
    figure.legend(handles=boxes, ncols=columns, loc="outside lower left")
    return ceil(len(boxes) / columns)


LONGEST_NAME = 40  # letters


def _name(question: Question, plan: Plan) -> str:
    """A plan's, if need be cut."""
    name = schedule.plan_name(question.network, question.system, plan)
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."


def _kind(question: Question, plan: Plan) -> str:
    """tensor, pipeline or plan, whichever has a colour of its own."""
    strategy, _, kind = schedule.plan_name(question.network, question.system, plan).partition(" ")
    return strategy if kind == "parallelism" else "plan"


# ------------------------------------------------ who works when

MOST_BARS = 20_000  # of a plan
MOST_LINES = 64  # of all plans together
# Top and height of a bar in lines: a send is between its line and the next.
BARS, ACROSS = {"compute": (-0.38, 0.76), "send": (0.35, 0.3)}, (-0.45, 0.9)
HAIR_PT = 0.6


class Lane(NamedTuple):
    """A plan's part of a timeline."""

    name: str
    pace: str
    kind: str
    note: str  # where not all of it is shown
    lines: list[str]  # names of groups of nodes, which work alike, one below the other
    places: dict[int, int]  # the line of each layer that is shown
    steps: list[TimedStep]  # of the first input, those that are shown
    interval_s: Fraction
    inputs: int


@_in_style
def timeline(
    analysis: Analysis, style: Style, plans: Iterable[Plan] = (), until_s: Rate | None = None
) -> Picture:
    """All inputs that run in a window, on the nodes and links of each plan, by default of both
    strategies as far as they are possible; until the first input of the slowest is done and a
    little more. The window is shorter where a plan would have more than MOST_BARS.

    Raises ValueError as plans.plan_stages does.
    """
    notes, chosen = [], [*plans]
    if not chosen:
        notes = [it.reason for it in analysis.impossible.values()]
        chosen = schedule.possible_plans(analysis.network, analysis.system)
    lanes = [_lane(analysis.question, plan, ceil(MOST_LINES / len(chosen))) for plan in chosen]
    notes += [lane.note for lane in lanes if lane.note]
    wanted_s = until_s or Fraction(11, 10) * max(it.steps[-1].end_s for it in lanes)
    most_s = min(it.interval_s * (MOST_BARS // len(it.steps)) for it in lanes)
    if most_s < wanted_s:
        notes.append(f"The window ends early, because {_time(wanted_s)} would have too many bars")
    end_s = Fraction(min(wanted_s, most_s))
    figure = _draw_lanes(analysis.question, lanes, end_s, notes, style)
    told = "; ".join(f"{lane.name}, {lane.pace}" for lane in lanes)
    alt = f"Timeline of the first {_time(end_s)}: {told}"
    return Picture(figure, " ".join(f"{text}." for text in [alt, *notes]))


def _lane(question: Question, plan: Plan, most_lines: int) -> Lane:
    network, system, inputs = question
    name = _name(question, plan)
    steps = schedule.timed_steps(network, system, plan)
    interval_s = schedule.interval(network, system, plan)
    pace = f"an output after {_time(steps[-1].end_s)}"
    if inputs > 1:
        pace += f", then one every {_time(interval_s)}"
    if idle := system.nodes - sum(nodes for _, nodes in plan):
        pace += f"; {count(idle, 'idle node')}"
    lines: list[str] = []
    places: dict[int, int] = {}
    groups = groupby(schedule.layer_nodes(network, system, plan).items(), itemgetter(1))
    for line, (nodes, layers) in enumerate(islice(groups, most_lines)):
        lines.append(f"nodes {nodes[0]:,}-{nodes[-1]:,}" if len(nodes) > 1 else f"node {nodes[0]}")
        places |= dict.fromkeys((layer for layer, _ in layers), line)
    # without a send to a node that is not shown
    steps = [it for it in steps if it.step.layer + (it.step.work == "send") in places]
    note = ""
    if len(places) < len(network):
        note = f"{name}: only the first {len(places)} of {len(network):,} layers are shown"
    kind = _kind(question, plan)
    return Lane(name, pace, kind, note, lines, places, steps, interval_s, inputs)


def _draw_lanes(
    question: Question, lanes: Sequence[Lane], end_s: Fraction, notes: list[str], style: Style
) -> Figure:
    """One below the other, above one axis of time."""
    heights = [len(lane.lines) for lane in lanes]
    letters = max(len(lane.name + lane.pace) for lane in lanes) + 15  # and a line's name
    grid = {"nrows": len(lanes), "sharex": True, "height_ratios": heights}
    figure, areas = _sheet(question, notes, style, letters, **grid)
    unit = _unit(SECONDS, end_s)
    for axes, lane in zip(areas, lanes, strict=True):
        axes.set(xlim=(0, float(end_s * unit.factor)), ylim=(len(lane.lines) - 0.5, -0.5))
        axes.set_title(f"{lane.name}: {lane.pace}", color=COLOURS[lane.kind][0])
        axes.set_yticks(range(len(lane.lines)), lane.lines, color=INK)
        axes.tick_params("both", length=0)
    axes.spines["bottom"].set_visible(True)
    axes.tick_params("x", length=3)
    axes.xaxis.set_major_formatter("{x:,g}")
    looks: Any = {"textcoords": "offset points", "ha": "right", "va": "top", "color": NOTE}
    axes.annotate(f"time, {unit.name}", (0, 0), (-12, -6), xycoords="axes fraction", **looks)
    computing = Mark("computing; number: the input", COLOURS[lanes[0].kind][0])
    _draw_key(figure, [computing, Mark("transfer", COLOURS["link"][0])], 2)
    _lay_out(figure, style, 1.2 * sum(heights) + 1.1 * len(lanes) + 2.5)
    for axes, lane in zip(areas, lanes, strict=True):
        _draw_lane(axes, lane, end_s, unit, style)
    return figure


def _draw_lane(axes: Axes, lane: Lane, end_s: Fraction, unit: Unit, style: Style) -> None:
    """The bars of each input in its shade, and its number in each that has room. What is shorter
    than a hair is drawn as one, unless these came so thick that nothing else would be seen."""
    from matplotlib.transforms import offset_copy

    to_pt = axes.bbox.width / axes.get_xlim()[1]
    pitch_pt = float(lane.interval_s * unit.factor) * to_pt / len(lane.steps)
    shortest = HAIR_PT / to_pt if pitch_pt > 4 * HAIR_PT else 0
    figure, half_digit_pt = axes.get_figure(root=True), 0.34 * style.font_pt  # high
    low = offset_copy(axes.transData, figure, y=-half_digit_pt, units="points")
    bars = defaultdict(list)  # start and length of those that look alike
    for it in lane.steps:
        line, work = lane.places[it.step.layer], it.step.work
        for before in range(min(lane.inputs, ceil((end_s - it.start_s) / lane.interval_s))):
            later_s, shade, number = before * lane.interval_s, before % 2, f"{before + 1:,}"
            start = float((it.start_s + later_s) * unit.factor)
            end = float(min(it.end_s + later_s, end_s) * unit.factor)
            bars[line, work, shade].append((start, max(end - start, shortest)))
            room = (end - start) * to_pt / style.font_pt  # a digit is as wide as 0.65
            if work == "compute" and room > 0.65 * len(number) + 0.3:
                looks: Any = {"color": ("white", "black")[shade], "transform": low, "zorder": 3}
                axes.text((start + end) / 2, line, number, ha="center", **looks)
    for (line, work, shade), spans in bars.items():
        colour = COLOURS[lane.kind if work == "compute" else "link"][shade]
        top, height = BARS.get(work, ACROSS)
        place = line + top, height
        drawn = axes.broken_barh(spans, place, facecolors=colour, linewidth=0, label=work)
        # if bars were snapped to whole pixels, some of equal ones would go
        drawn.set(zorder=1 + (work != "compute"), snap=False)


# ------------------------------------------------ bars with names and values


class Row(NamedTuple):
    """A bar in parts between its name and its value, or the reason why there is none."""

    name: str
    kind: str
    parts: Sequence[Mark] = ()
    value: str = ""
    why: str = ""

    @property
    def size(self) -> Rate:
        """Of all parts."""
        return sum(part.size for part in self.parts)


def _without_bar(name: str, kind: str, found: Impossible) -> Row:
    """With the reason, but not its subject, which is the row's name."""
    _, is_not, rest = found.reason.partition(" is not ")
    return Row(name, kind, why=f"not {rest}" if is_not else found.reason)


def _draw_rows(
    question: Question,
    notes: Sequence[str],
    rows: Sequence[Row],
    limit: Mark,
    style: Style,
    head: str = "",
    key: Sequence[Mark] = (),
) -> Figure:
    """Bars, below a head of their values, and a limit across. Without a key their parts are named
    where they are or, if they have no room, in one."""
    letters = [len(row.name) + max(len(row.value) + 25, len(row.why)) for row in rows]
    letters += [KEY_COLUMNS * (len(part.text) + 5) for row in rows for part in row.parts]
    figure, [axes] = _sheet(question, notes, style, max(letters))
    end = max(limit.size, *(row.size for row in rows))
    axes.set(xlim=(0, float(end)), ylim=(len(rows) - 0.5, -0.5 - bool(head)))
    axes.xaxis.tick_top()
    axes.set_xticks([float(limit.size)], [limit.text])
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    values = axes.secondary_yaxis("right")
    values.set_yticks(range(-1, len(rows)), [head, *(row.value for row in rows)], ha="right")
    for each in (axes, values):
        each.tick_params("both", length=0, labelcolor=INK)
    values.spines["right"].set_visible(False)
    _, *sums = labels = values.get_yticklabels()
    widest_pt = max(it.get_window_extent().width for it in labels)
    values.tick_params("y", pad=widest_pt + style.font_pt / 2)
    for number, (row, name, value) in enumerate(
        zip(rows, axes.get_yticklabels(), sums, strict=True)
    ):
        name.set_color(COLOURS[row.kind][0])
        if any(part.edge == ALARM for part in row.parts):
            value.set_color(ALARM)
        _draw_bar(axes, number, row)
        if not row.why:
            top = number - 0.5 - (number == 0 and bool(head))
            axes.vlines(float(limit.size), top, number + 0.5, INK, label=limit.text)
    lines = 1.25 * (len(rows) + bool(head)) + 1.5
    columns = len(key) or KEY_COLUMNS
    if not key:
        _lay_out(figure, style, lines)
        key = _name_parts(axes, rows)
    lines += 1.2 * _draw_key(figure, key, columns)
    _lay_out(figure, style, lines)
    return figure


def _draw_bar(axes: Axes, number: int, row: Row) -> None:
    start: Rate = 0
    for part in row.parts:
        (bar,) = axes.barh(number, float(part.size), 0.76, float(start))
        bar.set(facecolor=part.face, edgecolor=part.edge, hatch=part.hatch)
        bar.set(linewidth=int(part.edge != "white"), label=f"{row.name}: {part.text}")
        start += part.size
    if row.why:
        axes.text(0, number, f" {row.why}", va="center_baseline", in_layout=False)


def _name_parts(axes: Axes, rows: Sequence[Row]) -> list[Mark]:
    """Name each part on its bar. Returns those with too little room, or with a hatch."""
    from matplotlib.colors import to_rgb

    per_pt = axes.get_xlim()[1] / axes.bbox.width
    left: dict[str, Mark] = {}
    for number, row in enumerate(rows):
        start = 0.0
        for part in row.parts:
            end = start + float(part.size)
            colour = "white" if sum(to_rgb(part.face)) < IS_DARK else "black"
            looks: Any = {"color": colour, "va": "center_baseline", "in_layout": False}
            name = axes.text(start + 4 * per_pt, number, part.text, **looks)
            name_end = start + (name.get_window_extent().width + 8) * per_pt
            if part.hatch or name_end > end:
                name.remove()
                left[part.text] = part
            start = end
    return [*left.values()]


# ------------------------------------------------ how far from the lower bound

PARTS_DECIMALS = 3  # with two the lab's parts do not add up
TENSOR, PIPELINE, LINK = (COLOURS[kind] for kind in ("tensor", "pipeline", "link"))
RESULT_PARTS = {
    "compute_s": Mark("computing", TENSOR[0]),
    "communication_s": Mark("communication", LINK[0]),
}
LOSSES_PARTS = {
    "ideal_compute_s": Mark("ideal compute", PIPELINE[0]),
    "idle_nodes_s": Mark("idle nodes", PALE, edge=PIPELINE[0]),
    "load_imbalance_s": Mark("load imbalance", PIPELINE[1]),
    "waiting_for_a_link_s": Mark("waiting for a link", LINK[1]),
    "fill_and_drain_s": Mark("fill and drain", "white", edge=PIPELINE[0]),
    "sending_s": Mark("sending", LINK[0]),
}


@_in_style
def limits(analysis: Analysis, style: Style, is_brief: bool = False) -> Picture:
    """Latency of all inputs against the lower bound, with whole-tensor transfers in parts and,
    unless it is to be brief, of row streaming."""
    asking.check_possible(analysis.network, analysis.system)
    unit, inputs = _unit(SECONDS, analysis.lower_bound_s), analysis.inputs
    results = {kind: analysis.result(kind, inputs) for kind in STRATEGIES}
    rows = [
        _row("tensor parallelism", "tensor", results["tensor"], RESULT_PARTS, unit, inputs),
        _row("pipeline parallelism", "pipeline", analysis.losses, LOSSES_PARTS, unit),
    ]
    if not is_brief:
        streamed = analysis.streamed_pipeline
        total = Mark("row streaming, total", "white", edge=COLOURS["pipeline"][0], hatch="//")
        last = streamed if isinstance(streamed, Impossible) else streamed[-1]
        rows.append(_row("pipeline, row streaming", "pipeline", last, {"latency_s": total}, unit))
    bound = unit.text(analysis.lower_bound_s, PARTS_DECIMALS)
    limit = Mark(f"lower bound {bound}", size=analysis.lower_bound_s)
    what = f"Latency of {count(inputs, 'input')}"
    figure = _draw_rows(analysis.question, [what] * (not is_brief), rows, limit, style)
    told = "; ".join(
        f"{row.name}, {row.why or row.value}"
        + f" ({', '.join(part.text for part in row.parts)})" * (len(row.parts) > 1)
        for row in rows
    )
    return Picture(figure, f"{what}: {told}. The lower bound is {bound}.")


def _row(
    name: str, kind: str, found: Any, marks: Mapping[str, Mark], unit: Unit, inputs: int = 1
) -> Row:
    """With a part for each of these fields that is not 0, times the inputs; or the reason."""
    if isinstance(found, Impossible):
        return _without_bar(name, kind, found)
    parts = []
    for field, mark in marks.items():
        if size := inputs * getattr(found, field):
            value = unit.text(size, PARTS_DECIMALS)
            # the one part with a hatch is all of its bar
            text = mark.text if mark.hatch else f"{mark.text} {value}"
            parts.append(mark._replace(size=size, text=text))
    row = Row(name, kind, parts)
    return row._replace(value=unit.text(row.size, PARTS_DECIMALS))


# ------------------------------------------------ which plan

MOST_LAYERS = 8_000  # of every plan together
MOST_NAMES = 10
PLAN_TOLD = "plan 1-2:2,3: layers 1-2 on 2 nodes, 3 on 1"
MARKERS = {"tensor": "s", "pipeline": "D", "plan": "o"}


class Cloud(NamedTuple):
    """The plans of a picture, and the units in which it has them."""

    drawn: list[PlanResult]  # each once
    best: list[PlanResult]  # of these the Pareto-optimal ones, fastest first
    named: dict[str, PlanResult]  # with its name, which is in the key
    which: str
    sizes: Unit
    times: Unit

    def place(self, it: PlanResult) -> tuple[float, float]:
        """Traffic and latency."""
        sizes, times = self.sizes.factor, self.times.factor
        return float(it.traffic_bytes * sizes), float(it.latency_s * times)


@_in_style
def pareto(analysis: Analysis, style: Style) -> Picture:
    """Latency against traffic of every plan or, where these have more than MOST_LAYERS, of the
    Pareto-optimal ones and both strategies. Up to MOST_NAMES Pareto-optimal plans, evenly spread,
    are in the key with their number in the table of `plans`, which as far as there is room they
    have on their left below, too, where no other plan can be.

    Raises ValueError as plans.best_plans does.
    """
    question, cloud = analysis.question, _cloud(analysis)
    head = f"{cloud.which}; filled: fits in the SRAM ({sum(it.fits for it in cloud.drawn):,})"
    what = f"latency of {count(analysis.inputs, 'input')}"
    bound = cloud.times.text(analysis.lower_bound_s)

    figure, [axes] = _sheet(question, (), style, 0)
    _draw_axes(axes, cloud)
    axes.set_title(f"{what}, {cloud.times.name}", color=NOTE)
    _draw_dots(axes, question, cloud)
    limit = float(analysis.lower_bound_s * cloud.times.factor)
    axes.axhline(limit, color=INK, ls="--", lw=1, zorder=1, label=f"lower bound {bound}")
    looks: Any = {"alignment": "left", "loc": "upper left", "bbox_to_anchor": (1.02, 1)}
    axes.legend(title=f"{head}\n{PLAN_TOLD}", **looks)
    _lay_out(figure, style, min(MOST_NAMES, len(cloud.best)) + 10)
    _number_front(axes, cloud, limit, style)

    told = "; ".join(
        f"{name} ({cloud.times.text(it.latency_s)}, {count(it.traffic_bytes, 'byte')})"
        for name, it in cloud.named.items()
        if it in cloud.best
    )
    alt = f"{what.capitalize()} against traffic: {head}. Pareto-optimal by number: {told}"
    return Picture(figure, f"{alt}. The lower bound is {bound}.")


def _cloud(analysis: Analysis) -> Cloud:
    question = analysis.question
    every = search.every_result(*question)
    best = search.unbeaten(every)
    strategies = _results(question, schedule.possible_plans(*question[:2]))
    drawn = list({it.text: it for it in [*best, *strategies, *every]}.values())
    numbers = {it.text: f"{number:,}: " for number, it in enumerate(best, 1)}
    in_key = [*best[:: ceil(len(best) / MOST_NAMES)], *strategies]
    return Cloud(
        drawn=drawn,
        best=best,
        named={numbers.get(it.text, "") + _name(question, it.plan): it for it in in_key},
        which=count(len(drawn), "plan"),
        sizes=_unit(BYTES, max(it.traffic_bytes for it in drawn)),
        times=_unit(SECONDS, max(it.latency_s for it in drawn), 10),
    )


def _results(question: Question, plans: Iterable[Plan]) -> list[PlanResult]:
    network, system, inputs = question
    return [search.plan_result(network, system, plan, inputs) for plan in plans]


def _draw_axes(axes: Axes, cloud: Cloud) -> None:
    """From 0, with room for numbers on the left below, where the axes do not go."""
    from matplotlib.ticker import MaxNLocator

    right, top = (1.05 * max(ends) for ends in zip(*map(cloud.place, cloud.drawn), strict=True))
    axes.set(xlim=(-0.1 * (right or 1), right or 1), ylim=(-0.1 * top, top))
    for axis, side, end in ((axes.xaxis, "bottom", right), (axes.yaxis, "left", top)):
        ticks = MaxNLocator(5).tick_values(0, end)
        axis.set_ticks([tick for tick in ticks if 0 <= tick <= end])
        axis.set_major_formatter("{x:,g}")
        axes.spines[side].set(visible=True, bounds=(0, end))
    axes.set_xlabel(f"traffic, {cloud.sizes.name}", loc="right")


def _number_front(axes: Axes, cloud: Cloud, limit: float, style: Style) -> None:
    """Number those plans that have room, from the fastest on; what would be on the line of the
    lower bound is below it."""
    high = 1.1 * style.font_pt
    bound = axes.transData.transform((0, limit))[1]
    left, top = inf, -inf  # of the last number
    for name, it in cloud.named.items():  # further left and higher than the last
        number, colon, _ = name.partition(": ")
        at = axes.transData.transform(cloud.place(it))
        x, y = at - 4
        y = bound - 2 if y - high < bound < y + 2 else y
        if colon and (x < left or y - high > top):
            left, top = x - 0.65 * style.font_pt * len(number) - 2, y
            offset: Any = {"xytext": (x, y) - at, "textcoords": "offset points"}
            axes.annotate(number, cloud.place(it), ha="right", va="top", **offset)


def _draw_dots(axes: Axes, question: Question, cloud: Cloud) -> None:
    """Those in the key, each with its name; the others; the front."""

    def draw(found: Sequence[PlanResult], marker: str, colour: str, **looks: Any) -> None:
        face = colour if found[0].fits else "white"
        looks = {"linestyle": "none", "clip_on": False, "markerfacecolor": face, **looks}
        axes.plot(*zip(*map(cloud.place, found), strict=True), marker, color=colour, **looks)

    for name, it in cloud.named.items():
        kind = _kind(question, it.plan)
        draw([it], MARKERS[kind], COLOURS[kind][0], label=name, gid=it.text, zorder=3)
    others = [it for it in cloud.drawn if it not in cloud.named.values()]
    for fits in (False, True):
        if found := [it for it in others if it.fits == fits]:
            draw(found, "o", NOTE, markersize=4.5)
    if others:
        axes.plot([], [], "o", color=NOTE, mfc="white", markersize=4.5, label="other plans")
    if len(cloud.best) > 1:
        places = zip(*map(cloud.place, cloud.best), strict=True)
        axes.step(*places, INK, where="pre", lw=1, zorder=1, label="Pareto front")


# ------------------------------------------------ what nodes must hold

PARTS = (
    Mark("weights", "#505050"),
    Mark("input", "#7A7A7A", hatch="///"),
    Mark("output", "#949494", hatch="\\\\\\"),
)
MOST_FULL = 8  # nodes of a pipeline that are shown


@_in_style
def sram(analysis: Analysis, style: Style, is_brief: bool = False) -> Picture:
    """Weights, input and output on each node when it is fullest, with one input at a time, of both
    strategies and data parallelism, unless it is to be brief with row streaming, too."""
    rows: list[Row] = []
    what = "Bytes that a node holds when it is fullest, one input at a time"
    notes = [what] * (not is_brief)
    limit_bytes = analysis.system.sram_bytes
    for strategy, found in analysis.sram.items():
        kind, _, is_streamed = strategy.partition(", ")
        if is_brief and is_streamed:
            continue
        name = f"{kind}, row streaming" if is_streamed else kind
        if isinstance(found, Impossible):
            rows.append(_without_bar(name, kind, found))
            continue
        uses: Sequence[Need | SramUse] = [found.fullest]
        if strategy == "pipeline":  # each node
            fullest = sorted(found.uses, key=lambda use: -use.total_bytes)[:MOST_FULL]
            uses = sorted(fullest, key=lambda use: use.layer)
            if len(uses) < len(found.uses):
                notes.append(f"{name}: the {MOST_FULL} fullest of {len(found.uses):,}")
        rows += [_held_row(f"{name}, {use.where}", kind, use, limit_bytes) for use in uses]
    key = list(PARTS)
    if any(row.size > limit_bytes for row in rows):
        key.append(Mark("excess", edge=ALARM))
    head = " + ".join(part.text for part in PARTS) + ", bytes"
    limit = Mark(f"SRAM of a node: {count(limit_bytes, 'byte')}", size=limit_bytes)
    figure = _draw_rows(analysis.question, notes, rows, limit, style, head, key)
    told = "; ".join(
        f"{row.name}, {row.why or f'{row.size:,}'}{' (too many)' * (row.size > limit_bytes)}"
        for row in rows
    )
    return Picture(figure, f"{what}: {told}. The {limit.text.replace(':', ' is')}.")


def _held_row(name: str, kind: str, use: Need | SramUse, room: int) -> Row:
    """Hollow and red beyond the SRAM."""
    sizes = (use.weight_bytes, use.input_bytes, use.output_bytes)
    parts: list[Mark] = []
    for part, size in zip(PARTS, sizes, strict=True):
        inside = min(room, size)
        room -= inside
        excess = part._replace(size=size - inside, face="white", edge=ALARM)
        parts += [part._replace(size=inside), excess]
    value = f"{' + '.join(f'{size:,}' for size in sizes)} = {use.total_bytes:,}"
    return Row(name, kind, [part for part in parts if part.size], value)


# ------------------------------------------------ the command: picture

PICTURES = {"timeline": timeline, "limits": limits, "plans": pareto, "sram": sram}


def add_options(parser: ArgumentParser) -> None:
    """Which picture, what if, and where to."""
    picture = one_of("picture", PICTURES)
    parser.add_argument("picture", type=picture, metavar="{timeline,limits,plans,sram}")
    asking.add_options(parser)
    planning.add_plan_option(parser)
    ms = asking.decimal("ms", 14, 10**12, Fraction(1, MS))
    parser.add_argument("--until", metavar="MS", type=ms, help="where a timeline ends, ms")
    parser.add_argument("--output", metavar="FILE", type=Path, help="FILE.svg or FILE.png")


def run(options: Namespace) -> str:
    """Write the picture. Says what was asked, what is drawn, and where it is."""
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
    told = filled(picture.alt.replace("µ", "u"))
    return asking.headed(question, f"{told}\n\ndrawn: {path_text(output)}")
