"""Four pictures of any question: who works when, how far from the lower bound, which plan, and what
nodes must hold.

Names stand on the left, values on the right and keys below, so that no label can meet another. A
colour means the same in all pictures, and no meaning is its alone: marks also differ in place,
shape, hatch or filling. Text stays text in an SVG.
"""

from __future__ import annotations

import logging
from argparse import ArgumentParser, Namespace
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from functools import lru_cache, wraps
from html import escape
from io import BytesIO
from itertools import groupby
from math import floor, log10
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lab3 import Rate
from report import plans as planning
from report import question as asking
from report import schedule
from report.analysis import Analysis, Result
from report.plans import Plan, PlanResult, add_plan_option, plans_asked, strategy_plans
from report.question import (
    STRATEGIES,
    Impossible,
    Question,
    asked,
    check_possible,
    headed,
    question_of,
)
from report.schedule import TimedStep
from report.terminal import GIGA, MS, US, count, filled, shown

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
PARTS = {"weights": ("#505050", ""), "input": ("#7A7A7A", "///"), "output": ("#949494", "\\\\\\")}
INK, NOTE, PALE = "#222222", "#595959", "#E4E4E4"
ALARM = "#C00020"  # what does not fit

ENDINGS = (".svg", ".png")
Place = tuple[float, float]  # on axes
Split = tuple[str, str, str, str]  # a part of a bar, the field with its seconds, face and edge
MARGIN_PT, GAP_PT = 4, 6
LEAST_PT = 140  # a picture with long names or numbers is wider, so that bars have this


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

    @property
    def line_pt(self) -> float:
        """From one line to the next."""
        return 1.4 * self.font_pt


DEFAULT = Style()


@contextmanager
def _settings(style: Style) -> Iterator[None]:
    """Of matplotlib, whatever the user's own are."""
    import matplotlib.style

    # a face that is missing has another in its place
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    settings = {
        "font.family": [style.face, "STIXGeneral" if "Serif" in style.face else "DejaVu Sans"],
        "font.size": style.font_pt,
        "hatch.linewidth": 0.6,
        "svg.fonttype": "none",  # text, not its outlines
        "svg.hashsalt": "lab3",  # the same bytes on every run
    }
    with matplotlib.style.context(settings, after_reset=True):
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
        picture.figure.savefig(file, format=ending[1:].lower(), dpi=200, metadata={"Date": None})
    if ending.lower() != ".svg":
        return file.getvalue()
    start, end = file.getvalue().decode().split(' version="1.1">', 1)
    title, desc = (escape(text, quote=False) for text in (picture.alt.split(":")[0], picture.alt))
    told = f"\n <title>{title}</title>\n <desc>{desc}</desc>"
    return f'{start} version="1.1" role="img">{told}{end}'.encode()


# ------------------------------------------------ values and their units


class Unit(NamedTuple):
    """What an axis counts; so many are a second, or a byte."""

    name: str
    factor: Rate

    def text(self, value: Rate) -> str:
        """Rounded once: to two decimals, or where these are fewer to two digits."""
        scaled = Fraction(value * self.factor)
        places = max(2, 1 - floor(log10(scaled))) if scaled else 2
        return f"{float(round(scaled, places)):,.{places}f} {self.name}"


SECONDS = (Unit("s", 1), Unit("ms", MS), Unit("µs", US), Unit("ns", 10**9))
BYTES = tuple(
    Unit(f"{prefix}B", Fraction(1, 1_000**n)) for n, prefix in ((3, "G"), (2, "M"), (1, "k"))
)


def _unit(units: Sequence[Unit], most: Rate, least: int = 1) -> Unit:
    """The largest of which there are so many, else the smallest."""
    return next((unit for unit in units if most * unit.factor >= least), units[-1])


def _time(value_s: Rate) -> str:
    """In its own unit."""
    return _unit(SECONDS, value_s).text(value_s)


# ------------------------------------------------ a sheet of paper


class Mark(NamedTuple):
    """A part of a bar, or an entry of a key."""

    text: str
    face: str = ""
    size: Rate = 0  # in seconds or bytes
    edge: str = "white"
    hatch: str = ""


class Sheet:
    """A figure on which places are points from the top left, with a key and notes at its foot."""

    def __init__(self, style: Style, width_pt: float, height_pt: float) -> None:
        from matplotlib.figure import Figure

        self.style, self.width_pt, self.height_pt = style, width_pt, height_pt
        self.figure = Figure(figsize=(width_pt / 72, height_pt / 72))
        self.paper = self.axes(0, 0, width_pt, height_pt)
        self.paper.set(xlim=(0, width_pt), ylim=(height_pt, 0))

    def axes(self, left: float, top: float, width: float, height: float) -> Axes:
        """Axes without frame and ticks."""
        place = (left / self.width_pt, 1 - (top + height) / self.height_pt)
        axes = self.figure.add_axes((*place, width / self.width_pt, height / self.height_pt))
        axes.spines[:].set(visible=False, color=NOTE)
        axes.patch.set_visible(False)
        axes.tick_params(colors=NOTE, length=3, pad=2)
        axes.set(xticks=[], yticks=[])
        return axes

    def say(self, x: float, y: float, text: str, colour: str = INK, ha: str = "left") -> None:
        """A line of text, y its middle."""
        self.paper.text(x, y, text, color=colour, ha=ha, va="center_baseline")

    def foot(self, rows: Sequence[str | Sequence[Mark]]) -> None:
        """Lines of notes or of marks, up to the lower edge."""
        from matplotlib.patches import Patch

        looks: Any = {"loc": "center left", "frameon": False, "borderpad": 0, "borderaxespad": 0}
        looks |= {"handlelength": 1.6, "handletextpad": 0.4, "columnspacing": 1.2}
        for below, row in enumerate(reversed(rows)):
            y = self.height_pt - self.style.line_pt * (below + 0.5)
            if isinstance(row, str):
                self.say(MARGIN_PT, y, row, NOTE)
            else:
                boxes = [Patch(fc=it.face, ec=it.edge, hatch=it.hatch, label=it.text) for it in row]
                at = (MARGIN_PT / self.width_pt, 1 - y / self.height_pt)
                self.figure.legend(handles=boxes, ncols=len(row), bbox_to_anchor=at, **looks)


@lru_cache(maxsize=10_000)
def _width_pt(text: str, style: Style) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=style.font_pt)  # and the face of the settings
    room = 1.05  # hinted letters, or those of another face, are wider
    return room * float(text_to_path.get_text_width_height_descent(text, font, False)[0])


def _widest(texts: Iterable[str], style: Style) -> float:
    return max((_width_pt(text, style) for text in texts), default=0)


def _wrapped(text: str, width_pt: float, style: Style) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        if lines and _width_pt(f"{lines[-1]} {word}", style) <= width_pt:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _notes(question: Question, notes: Sequence[str], width_pt: float, style: Style) -> list[str]:
    """In lines, with how the question differs from the lab's."""
    said = asked(question)
    texts = [*notes, f"what if: {said}"] if said else notes
    return [line for text in texts for line in _wrapped(text, width_pt - 2 * MARGIN_PT, style)]


# ------------------------------------------------ plans by name

LONGEST_NAME = 40  # characters


def _name(question: Question, plan: Plan) -> str:
    """In words, or where that is too long as --plan reads it, if need be cut."""
    name = schedule.plan_name(question.network, question.system, plan)
    if name.startswith("plan "):
        groups = [text.partition(":") for text in planning.plan_text(plan).split(",")]
        words = [f"{layers} on {nodes or 1}" for layers, _, nodes in groups]
        words[0] = f"layer{'s' * (plan[0][0] > 1)} {words[0]} node{'s' * (plan[0][1] > 1)}"
        name = ", ".join(words) if len(", ".join(words)) <= LONGEST_NAME else name
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."


def _kind(question: Question, plan: Plan) -> str:
    """tensor, pipeline or plan, whichever has a colour of its own."""
    return schedule.plan_name(question.network, question.system, plan).split()[0]


# ------------------------------------------------ who works when

MOST_BARS = 10_000  # of a timeline
MOST_PLANS = 8
MOST_ROWS = 32  # of all plans, if that leaves each as many as a group may have
MOST_NODES = 8  # of a group, that have a row each
TIMELINE_KEY = "numbers: inputs; black, grey: on links"


class Lane(NamedTuple):
    """A plan's part of a timeline."""

    title: str
    kind: str
    note: str  # where not all of it is shown
    rows: list[str]
    layers: dict[int, range]  # the rows of each layer that is shown
    first: list[TimedStep]  # of the first input, those that are shown
    interval_s: Fraction
    inputs: int

    def bars(self, until_s: Fraction) -> int:
        """No more are drawn until then."""
        return sum(
            schedule.started(it, self.interval_s, self.inputs, until_s)
            * len(self.layers[it.step.layer])
            for it in self.first
        )


@_in_style
def timeline(
    analysis: Analysis,
    style: Style,
    plans: Iterable[Plan] | None = None,
    until_s: Rate | None = None,
) -> Picture:
    """All inputs that run in a window, on the nodes and links of each plan, by default of both
    strategies as far as they are possible; until the first input of the slowest is done and a
    little more. The window is shorter where it would have more than MOST_BARS.

    Raises ValueError as plans.plan_stages does, and for more than MOST_PLANS.
    """
    if until_s is not None and until_s <= 0:
        raise ValueError(f"until_s: {shown(until_s)} must be above 0")
    notes = []
    if plans is None:
        check_possible(analysis.network, analysis.system)
        strategies = strategy_plans(analysis.network, analysis.system)
        plans = dict.fromkeys(strategies[name] for name in analysis.possible)  # or both are one
        notes = [it.reason for it in analysis.impossible.values()]
    chosen = list(plans)
    if not 1 <= len(chosen) <= MOST_PLANS:
        raise ValueError(f"plan: a timeline shows 1 to {MOST_PLANS} plans, not {len(chosen)}")
    most_rows = max(MOST_NODES, MOST_ROWS // len(chosen))
    lanes = [_lane(analysis.question, plan, most_rows) for plan in chosen]
    notes += [lane.note for lane in lanes if lane.note]
    wanted_s = Fraction(until_s or Fraction(11, 10) * max(it.first[-1].end_s for it in lanes))
    end_s = wanted_s
    while sum(lane.bars(end_s) for lane in lanes) > MOST_BARS:
        end_s /= 2
    if end_s < wanted_s:
        notes.append(f"time ends here, since {_time(wanted_s)} would have too many bars")

    line, names = style.line_pt, [name for lane in lanes for name in lane.rows]
    left = _widest(names, style) + MARGIN_PT + GAP_PT
    key_left = style.width_pt - MARGIN_PT - GAP_PT - _width_pt(TIMELINE_KEY, style)
    heads = [_wrapped(lane.title, key_left - left, style) for lane in lanes]
    foot = _notes(analysis.question, notes, style.width_pt, style)
    fixed = line * (len(foot) + sum(map(len, heads)) + 0.4 * len(lanes) + 0.9)
    row_pt = (style.height_pt - fixed) / len(names) if style.height_pt else 1.2 * line
    sheet = Sheet(style, style.width_pt, fixed + row_pt * len(names))
    sheet.say(style.width_pt - MARGIN_PT, line / 2, TIMELINE_KEY, NOTE, "right")
    sheet.foot(foot)
    unit, y = _unit(SECONDS, end_s), 0.0
    for head, lane in zip(heads, lanes, strict=True):
        for text in head:
            sheet.say(left, y + line / 2, text, COLOURS[lane.kind][0])
            y += line
        high = row_pt * len(lane.rows)  # half of the axis' last number is right of it
        axes = sheet.axes(left, y, style.width_pt - left - 2.5 * style.font_pt, high)
        axes.set(xlim=(0, float(end_s * unit.factor)), ylim=(len(lane.rows) - 0.5, -0.5))
        for number, name in enumerate(lane.rows):
            sheet.say(left - GAP_PT, y + row_pt * (number + 0.5), name, ha="right")
        _draw_lane(axes, lane, end_s, unit, style)
        y += high + 0.4 * line
    _number(axes, "bottom", 7, f" {unit.name}")
    told = "; ".join(lane.title.replace(":", ",", 1) for lane in lanes)
    alt = f"Timeline of the first {_time(end_s)}: {told}"
    return Picture(sheet.figure, " ".join(f"{text}." for text in [alt, *notes]))


def _lane(question: Question, plan: Plan, most_rows: int) -> Lane:
    network, system, inputs = question
    steps = schedule.timed_steps(network, system, plan)
    interval_s = schedule.interval(network, system, plan)
    name, idle = _name(question, plan), system.nodes - sum(nodes for _, nodes in plan)
    title = f"{name}: an output after {_time(steps[-1].end_s)}"
    title += f", then one every {_time(interval_s)}" if inputs > 1 else ""
    title += f"; {count(idle, 'idle node')}" if idle else ""

    rows: list[str] = []
    places: dict[int, range] = {}
    for nodes, layers in groupby(schedule.layer_nodes(plan).items(), itemgetter(1)):
        names = [f"node {node}" for node in nodes[:MOST_NODES]]
        names = [f"nodes {nodes[0]:,}-{nodes[-1]:,}"] if len(nodes) > MOST_NODES else names
        if len(rows + names) > most_rows:
            break
        places |= {layer: range(len(rows), len(rows + names)) for layer, _ in layers}
        rows += names
    first = [it for it in steps if it.step.layer in places]
    if first[-1].step.work == "send":
        first.pop()  # to a node that is not shown
    note = f"{name}: only the first {len(places)} of {len(network):,} layers are shown"
    note = note if len(places) < len(network) else ""
    return Lane(title, _kind(question, plan), note, rows, places, first, interval_s, inputs)


def _draw_lane(axes: Axes, lane: Lane, end_s: Fraction, unit: Unit, style: Style) -> None:
    """Bars of one input after the other in two shades; the number in each that has room."""
    spans = defaultdict(list)  # by height, colour and work
    points = axes.bbox.width * 72 / axes.figure.dpi / axes.get_xlim()[1]
    for it in schedule.steps_until(lane.first, lane.interval_s, lane.inputs, end_s):
        rows, work, shade = lane.layers[it.step.layer], it.step.work, (it.input - 1) % 2
        start, end = (float(min(at, end_s) * unit.factor) for at in it[2:])
        if work == "compute":
            places = [(row - 0.35, 0.7) for row in rows]
            if (end - start) * points > _width_pt(f"{it.input:,}", style) + 2:
                looks: Any = {"ha": "center", "va": "center_baseline", "clip_on": True}
                for row in rows:
                    text = axes.text((start + end) / 2, row, f"{it.input:,}", **looks)
                    text.set_color(("white", "black")[shade])
        elif work == "send":  # between two rows
            places = [(rows[-1] + 0.35, 0.3)]
        else:
            places = [(rows[0] - 0.42, len(rows) - 0.16)]
        colour = COLOURS[lane.kind if work == "compute" else "link"][shade]
        for place in places:
            spans[place, colour, work].append((start, end - start))
    for (place, colour, work), found in spans.items():
        axes.broken_barh(found, place, facecolors=colour, linewidth=0, label=work)


def _number(axes: Axes, side: str, most: int, unit: str = "") -> None:
    """An axis with no more than so many steps."""
    from matplotlib.ticker import MaxNLocator

    axes.spines[side].set_visible(True)
    axis = axes.yaxis if side == "left" else axes.xaxis
    axis.set_major_locator(MaxNLocator(most))
    axis.set_major_formatter(f"{{x:,g}}{unit}")


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


def _row(name: str, kind: str, found: Any, split: Iterable[Split] = (), inputs: int = 1) -> Row:
    """With the parts that there are, or the reason without its subject, which is the name."""
    if isinstance(found, Impossible):
        _, is_not, rest = found.reason.partition(" is not ")
        return Row(name, kind, why=f"not {rest}" if is_not else found.reason)
    split = split or [("latency", "latency_s", COLOURS[kind][0], "white")]
    sizes = [
        (text, face, inputs * getattr(found, field), edge) for text, field, face, edge in split
    ]
    return Row(name, kind, [Mark(*part) for part in sizes if part[2]])


def _draw_rows(
    question: Question,
    rows: Sequence[Row],
    limit: Mark,
    keys: Sequence[Sequence[Mark]],
    style: Style,
    notes: Sequence[str] = (),
) -> Figure:
    """Bars, and a limit across unless it is far beyond them."""
    line = style.line_pt
    left = _widest((row.name for row in rows), style) + MARGIN_PT + GAP_PT
    right = _widest((row.value for row in rows), style) + MARGIN_PT + GAP_PT
    full = max(style.width_pt, left + right + LEAST_PT)
    width, longest = full - left - right, max(row.size for row in rows)
    end = longest if limit.size > 2 * longest else max(longest, limit.size)
    lines = [  # a row each
        row._replace(name=row.name * (not number), why=why)
        for row in rows
        for number, why in enumerate(_wrapped(row.why, full - left - MARGIN_PT, style) or [""])
    ]
    # as foot's legends have it: a box, a gap before the text and one to the next box
    mark_pt = 3.2 * style.font_pt + _widest((mark.text for key in keys for mark in key), style)
    per_row = max(1, int((full + 1.2 * style.font_pt) / mark_pt))
    foot: list[Any] = [key[n : n + per_row] for key in keys for n in range(0, len(key), per_row)]
    foot += _notes(question, notes, full, style)
    fixed = line * (1.4 + len(foot))
    row_pt = (style.height_pt - fixed) / len(lines) if style.height_pt else 1.25 * line
    sheet = Sheet(style, full, fixed + row_pt * len(lines))
    sheet.foot(foot)
    axes = sheet.axes(left, line, width, row_pt * len(lines))
    axes.set(xlim=(0, float(end)), ylim=(len(lines) - 0.5, -0.5))
    label = limit.text if limit.size <= end else f"{limit.text} →"
    at = left + width * min(1, float(limit.size / Fraction(end)))
    sheet.say(min(at, full - MARGIN_PT - _width_pt(label, style)), line / 2, label)
    for number, row in enumerate(lines):
        y = line + row_pt * (number + 0.5)
        sheet.say(left - GAP_PT, y, row.name, COLOURS[row.kind][0], "right")
        sheet.say(left, y, row.why)
        if not row.why:
            start: Rate = 0
            for part in row.parts:
                (bar,) = axes.barh(number, float(part.size), 0.76, float(start))
                bar.set(facecolor=part.face, edgecolor=part.edge, hatch=part.hatch)
                bar.set(linewidth=int(part.edge != "white"), label=f"{row.name}: {part.text}")
                start += part.size
            if limit.size <= end:
                place = (number - 0.5, number + 0.5)
                axes.vlines(float(limit.size), *place, INK, linewidth=1.5, label=limit.text)
            colour = ALARM if any(part.face == ALARM for part in row.parts) else INK
            sheet.say(full - MARGIN_PT, y, row.value, colour, "right")
    return sheet.figure


# ------------------------------------------------ how far from the lower bound

TENSOR_SPLIT: list[Split] = [
    ("computing", "compute_s", COLOURS["tensor"][0], "white"),
    ("exchanging", "communication_s", COLOURS["link"][0], "white"),
]
PIPELINE_SPLIT: list[Split] = [
    ("ideal compute", "ideal_compute_s", COLOURS["pipeline"][0], "white"),
    ("idle nodes", "idle_nodes_s", PALE, COLOURS["pipeline"][0]),
    ("load imbalance", "load_imbalance_s", COLOURS["pipeline"][1], "white"),
    ("waiting for a link", "waiting_for_a_link_s", COLOURS["link"][1], "white"),
    ("fill and drain", "fill_and_drain_s", "white", COLOURS["pipeline"][0]),
    ("sending", "sending_s", COLOURS["link"][0], "white"),
]


@_in_style
def limits(analysis: Analysis, style: Style) -> Picture:
    """Latency of all inputs against the lower bound: of whole-tensor transfers in parts, of the
    best other plan that sends no more than the pipeline, and of row streaming."""
    check_possible(analysis.network, analysis.system)
    tensor, pipeline = (analysis.result(name, analysis.inputs) for name in STRATEGIES)
    rows = [
        _row("tensor parallelism", "tensor", tensor, TENSOR_SPLIT, analysis.inputs),
        *_other_plan(analysis, pipeline),
        _row("pipeline parallelism", "pipeline", analysis.losses, PIPELINE_SPLIT),
    ]
    for kind, found in (("tensor", tensor), ("pipeline", pipeline)):
        streamed = found if isinstance(found, Impossible) else found.streamed
        row = _row(f"{kind}, row streaming", kind, streamed)
        rows.append(row._replace(parts=[part._replace(hatch="//") for part in row.parts]))
    unit = _unit(SECONDS, max(row.size for row in rows), 10)
    rows = [row._replace(value="" if row.why else unit.text(row.size)) for row in rows]
    keys, told = [], []
    for row in rows:
        told.append(f"{row.name}: {row.why or row.value}")
        if len(row.parts) > 1:
            texts = [f"{it.text} {unit.text(it.size)}" for it in row.parts]
            parts = [it._replace(text=text) for it, text in zip(row.parts, texts, strict=True)]
            keys.append(parts)
            told[-1] += f" ({', '.join(texts)})"
    bound = unit.text(analysis.lower_bound_s)
    limit = Mark(f"lower bound {bound}", size=analysis.lower_bound_s)
    figure = _draw_rows(analysis.question, rows, limit, keys, style)
    alt = f"Latency of {count(analysis.inputs, 'input')}. {'; '.join(told)}"
    return Picture(figure, f"{alt}. The lower bound is {bound}.")


def _other_plan(analysis: Analysis, pipeline: Result | Impossible) -> list[Row]:
    """The fastest that sends no more than the pipeline, if that is neither strategy."""
    best = analysis.plans.best
    if isinstance(pipeline, Impossible):
        return []
    if isinstance(best, Impossible):
        return [_row("best other plan", "plan", best)]
    found = next(it for it in best if it.traffic_bytes <= pipeline.traffic_bytes)
    name, kind = _name(analysis.question, found.plan), _kind(analysis.question, found.plan)
    return [_row(name, kind, found)] if kind == "plan" else []


# ------------------------------------------------ which plan

MOST_POINTS = 1_000  # of more plans only the best are drawn
MOST_NAMES = 10
MOST_RINGS, RING_PT = 4, 3
MARKERS = {"tensor": ("s", 6), "pipeline": ("D", 6), "plan": ("o", 6), "other": ("o", 4.5)}
OTHERS = "other plans (rings: several at one point)"


@_in_style
def plans(analysis: Analysis, style: Style) -> Picture:
    """Latency against traffic of every plan, or of the best where there are too many; the best are
    numbered on the left below, where no other can be."""
    question, best = analysis.question, analysis.plans.best
    notes = [best.reason] if isinstance(best, Impossible) else []
    best = [] if isinstance(best, Impossible) else best
    both = [it for it in analysis.plans.compared.values() if isinstance(it, PlanResult)]
    every = _every_plan(question)
    found = list({it.text: it for it in [*best, *both, *every]}.values())
    times = _unit(SECONDS, max(it.latency_s for it in found), 10)
    sizes = _unit(BYTES, max(it.traffic_bytes for it in found))
    names = {it: _name(question, it.plan) for it in [*best, *both]}
    bound = times.text(analysis.lower_bound_s)
    which = count(len(found), "plan") if every else f"{len(found):,} of very many plans"
    head = f"{which}; filled: fits in the SRAM ({sum(it.fits for it in found):,})"

    line, font = style.line_pt, style.font_pt
    texts = [head, OTHERS, f"lower bound {bound}", *(f"10 {name}" for name in names.values())]
    key_pt = _widest(texts, style)
    left, right = _width_pt("100,000,000", style), key_pt + 3.5 * font
    full = max(style.width_pt, left + right + LEAST_PT)
    foot = _notes(question, notes, full, style)
    n_names = min(MOST_NAMES, len(best)) + len(both)
    height = style.height_pt or line * (max(n_names, 8) + 4 + len(foot))
    sheet = Sheet(style, full, height)
    sheet.foot(foot)
    what = f"latency of {count(analysis.inputs, 'input')}"
    sheet.say(MARGIN_PT, line / 2, f"{what}, {times.name}, against traffic", NOTE)
    high = height - line * (2.8 + len(foot))
    axes = sheet.axes(left, 1.2 * line, full - left - right, high)
    at = {
        it: (float(it.traffic_bytes * sizes.factor), float(it.latency_s * times.factor))
        for it in found
    }
    widest, highest = (max(places) or 1 for places in zip(*at.values(), strict=True))
    axes.set(xlim=(-0.1 * widest, 1.05 * widest), ylim=(-0.13 * highest, 1.07 * highest))
    _number(axes, "bottom", 4, f" {sizes.name}")
    _number(axes, "left", 5)
    numbered = _number_front(axes, {it: at[it] for it in best}, font)
    labels = {it: f"{number} {names[it]}" for number, it in enumerate(numbered, 1)}
    labels |= {it: names[it] for it in both if it not in labels}
    _draw_dots(axes, at, {it: (_kind(question, it.plan), text) for it, text in labels.items()})
    limit = float(analysis.lower_bound_s * times.factor)
    axes.axhline(limit, color=INK, linestyle="--", lw=1, zorder=1)
    axes.lines[-1].set_label(f"lower bound {bound}")
    if best:
        places = zip(*(at[it] for it in best), strict=True)
        axes.step(*places, INK, where="pre", lw=1, zorder=1, label="Pareto front")
    key: Any = {"loc": "upper left", "bbox_to_anchor": (1, 1.2 * line / high + 1), "frameon": False}
    axes.legend(title=head, alignment="left", labelspacing=0.25, handlelength=1.6, **key)
    told = "; ".join(
        f"{names[it]} ({times.text(it.latency_s)}, {count(it.traffic_bytes, 'byte')})"
        for it in numbered
    )
    some = f"{len(numbered):,} of {len(best):,} Pareto-optimal plans, fastest first"
    second = f"{some}: {told}" if told else notes[0]
    alt = f"{what.capitalize()} against traffic: {head}. {second}"
    return Picture(sheet.figure, f"{alt}. The lower bound is {bound}.")


def _every_plan(question: Question) -> list[PlanResult]:
    """An empty list, where there are more than MOST_POINTS."""
    network, system, inputs = question
    with suppress(ValueError):
        found = planning.every_plan(network, system)
        if len(found) <= MOST_POINTS:
            return [planning.plan_result(network, system, plan, inputs) for plan in found]
    return []


def _draw_dots(
    axes: Axes, at: Mapping[PlanResult, Place], named: Mapping[PlanResult, tuple[str, str]]
) -> None:
    """First those with a kind and a label; each further one at the same point is a larger ring."""
    rings: Counter[Place] = Counter()
    for it in [*named, *(it for it in at if it not in named)]:
        kind, label = named.get(it, ("other", None))
        ring = min(rings[at[it]], MOST_RINGS)
        rings[at[it]] += 1
        marker, size = MARKERS[kind]
        colour = COLOURS[kind][0] if label else NOTE
        (line,) = axes.plot(*at[it], marker, color=colour, markersize=size + RING_PT * ring)
        line.set(markerfacecolor=colour if it.fits else "white", gid=it.text, label=label)
        line.set(clip_on=False, zorder=(3 if label else 2) - ring / 10)
    if len(named) < len(at):
        marker, size = MARKERS["other"]
        axes.plot([], [], marker, color=NOTE, mfc="white", markersize=size, label=OTHERS)


def _number_front(
    axes: Axes, front: Mapping[PlanResult, Place], font_pt: float
) -> list[PlanResult]:
    """Number the best plans, from the fastest on, and return those whose number has room."""
    room = font_pt * axes.figure.dpi / 72
    looks: Any = {"xytext": (-5, -4), "textcoords": "offset points", "ha": "right", "va": "top"}
    chosen: list[PlanResult] = []
    last = (float("inf"), 0.0)
    for it, place in front.items():  # further left and higher than the last
        x, y = axes.transData.transform(place)
        has_room = last[0] - x >= 1.6 * room or y - last[1] >= 1.2 * room
        if has_room and len(chosen) < MOST_NAMES:
            chosen.append(it)
            last = (x, y)
            axes.annotate(f"{len(chosen)}", place, **looks)
    return chosen


# ------------------------------------------------ what nodes must hold

MOST_FULL = 8  # nodes of a pipeline that are shown


@_in_style
def sram(analysis: Analysis, style: Style) -> Picture:
    """Weights, input and output on each node when it is fullest, with one input at a time."""
    rows: list[Row] = []
    notes: list[str] = []
    limit_bytes = analysis.system.sram_bytes
    for scheme, found in analysis.sram.items():
        kind, _, streamed = scheme.partition(", ")
        name = f"{kind}, row streaming" if streamed else kind
        if isinstance(found, Impossible):
            rows.append(_row(name, kind, found))
            continue
        fullest = sorted(found.uses, key=lambda use: use.total_bytes)[-MOST_FULL:]
        uses = sorted(fullest, key=lambda use: use.layer) if scheme == "pipeline" else fullest[-1:]
        if 1 < len(uses) < len(found.uses):
            notes.append(f"pipeline: the {MOST_FULL} fullest of {len(found.uses):,} nodes")
        for use in uses:
            sizes = [use.weight_bytes, use.input_bytes, use.output_bytes]
            said = f"{' + '.join(f'{size:,}' for size in sizes)} = {use.total_bytes:,}"
            rows.append(Row(f"{name}, {use.where}", kind, _held(sizes, limit_bytes), said))
    key = [Mark(f"{part}, bytes", face, hatch=hatch) for part, (face, hatch) in PARTS.items()]
    key += [Mark("more than the SRAM", ALARM)] * any(row.size > limit_bytes for row in rows)
    limit = Mark(f"SRAM of a node: {count(limit_bytes, 'byte')}", size=limit_bytes)
    figure = _draw_rows(analysis.question, rows, limit, [key], style, notes)
    held = "; ".join(
        f"{row.name}: {row.why or f'{row.size:,}'}{', too many' * (row.size > limit_bytes)}"
        for row in rows
    )
    what = "Bytes that a node holds when it is fullest, one input at a time"
    return Picture(figure, f"{what}. {held}. The {limit.text.replace(':', ' is')}.")


def _held(sizes: Sequence[int], room: int) -> list[Mark]:
    """The parts of a bar, red beyond the SRAM."""
    parts = []
    for (part, (face, hatch)), size in zip(PARTS.items(), sizes, strict=True):
        inside = min(room, size)
        room -= inside
        parts += [(part, face, inside, hatch), (part, ALARM, size - inside, hatch)]
    return [Mark(part, face, size, hatch=hatch) for part, face, size, hatch in parts if size]


# ------------------------------------------------ the command: picture

PICTURES = {"timeline": timeline, "limits": limits, "plans": plans, "sram": sram}


def add_options(parser: ArgumentParser) -> None:
    """Which picture, what if, and where to."""
    parser.add_argument("picture", choices=PICTURES, metavar="{timeline,limits,plans,sram}")
    asking.add_options(parser)
    add_plan_option(parser)
    ms = asking.rate("ms", 14, 10**12)  # in millionths of a ns
    parser.add_argument("--until", metavar="MS", type=ms, help="where a timeline ends, ms")
    parser.add_argument("--output", metavar="FILE", type=Path, help="FILE.svg or FILE.png")


def run(options: Namespace) -> str:
    """Write the picture. Says what was asked, what is drawn, and where it is."""
    name, question = options.picture, question_of(options)
    output = options.output or Path(f"{name}.svg")
    if output.suffix.lower() not in ENDINGS:
        raise ValueError(f"--output: {shown(str(output))} does not end in {' or '.join(ENDINGS)}")
    drawn: dict[str, Any] = {}
    if name == "timeline":
        asked_for = plans_asked(options.plan, question.network, question.system)
        drawn = {
            "plans": asked_for.values() or None,
            "until_s": options.until and Fraction(options.until) / GIGA / MS,
        }
    elif options.plan or options.until:
        option = "--plan" if options.plan else "--until"
        raise ValueError(f"{option}: only a timeline takes it, not {name}")
    picture = PICTURES[name](Analysis(question), **drawn)
    output.write_bytes(image(picture, output.suffix))
    told = filled(picture.alt.replace("µ", "u"))
    return headed(question, f"{told}\n\ndrawn: {output}")
