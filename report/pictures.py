"""Four pictures of any question: who works when, how far from the lower bound, which plan, and what
nodes must hold.

Names stand on the left, values on the right and keys below, so that no label can meet another. A
colour means the same in all pictures, and no meaning is its alone: marks also differ in place,
shape, hatch or filling. Text stays text in an SVG.
"""

from __future__ import annotations

import logging
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache, wraps
from html import escape
from io import BytesIO
from itertools import chain
from math import floor, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec

from lab3 import Rate
from report import plans as planning
from report import question as asking
from report import schedule
from report.analysis import Analysis, Result
from report.plans import Plan, PlanResult, add_plan_option, plans_asked, strategy_plans
from report.question import Impossible, Question, asked, headed, question_of
from report.schedule import TimedStep
from report.sram import SramUse
from report.terminal import MS, US, count, filled, shown

if TYPE_CHECKING:  # only what draws needs matplotlib
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Drawing = ParamSpec("Drawing")

# After Okabe and Ito, whom the colour-blind can tell apart, darkened until each has 3 : 1 or more
# against white. The second shade is for every other input, and for time that is lost.
COLOURS = {
    "tensor": ("#0069A6", "#3D97CC"),
    "pipeline": ("#B34700", "#D9702B"),
    "plan": ("#00704F", "#2E9470"),  # any other
    "link": ("#222222", "#7A7A7A"),
    "data": ("#222222", "#7A7A7A"),
}
PARTS = {"weights": ("#505050", ""), "input": ("#7A7A7A", "///"), "output": ("#949494", "\\\\\\")}
INK, NOTE, PALE = "#222222", "#595959", "#E4E4E4"
ALARM = "#C00020"  # what does not fit

ENDINGS = (".svg", ".png")
MARGIN_PT, GAP_PT = 4, 8
LEAST_PT = 200  # a picture with long names or numbers is wider, so that bars have this


class Picture(NamedTuple):
    """A picture, and the same in one to three sentences for those who cannot see it."""

    figure: Figure
    alt: str


class Style(NamedTuple):
    """How large a picture is, and its type; without a height, as high as what it shows."""

    width_pt: float = 640
    font_pt: float = 11
    face: str = "DejaVu Sans"
    height_pt: float | None = None

    @property
    def line_pt(self) -> float:
        """From one line to the next."""
        return 1.5 * self.font_pt


@contextmanager
def _settings(style: Style) -> Iterator[None]:
    """Of matplotlib, whatever the user's own are."""
    import matplotlib.style

    settings = {
        "font.family": [style.face, "STIXGeneral" if "Serif" in style.face else "DejaVu Sans"],
        "font.size": style.font_pt,
        "axes.axisbelow": True,
        "hatch.linewidth": 0.6,
        "svg.fonttype": "none",  # text, not its outlines
        "svg.hashsalt": "lab3",  # the same bytes on every run
    }
    logger = logging.getLogger("matplotlib.font_manager")
    level = logger.level
    logger.setLevel(logging.ERROR)  # a face that is missing has another in its place
    try:
        with matplotlib.style.context(settings, after_reset=True):
            yield
    finally:
        logger.setLevel(level)


def _in_style(
    draw: Callable[Concatenate[Analysis, Style, Drawing], Picture],
) -> Callable[..., Picture]:
    @wraps(draw)
    def drawn(analysis: Analysis, *args: Any, style: Style = Style(), **options: Any) -> Picture:
        with _settings(style):
            return draw(analysis, style, *args, **options)

    return drawn


def image(picture: Picture, ending: str) -> bytes:
    """The file for ".svg" or ".png", the same on every run."""
    file = BytesIO()
    with _settings(Style()):
        picture.figure.savefig(file, format=ending.lower()[1:], dpi=200, metadata={"Date": None})
    if ending.lower() != ".svg":
        return file.getvalue()
    start, end = file.getvalue().decode().split(' version="1.1">', 1)
    title, desc = (escape(text, quote=False) for text in (picture.alt.split(". ")[0], picture.alt))
    told = f"\n <title>{title}</title>\n <desc>{desc}</desc>"
    return f'{start} version="1.1" role="img">{told}{end}'.encode()


# ------------------------------------------------ values and their units


class Unit(NamedTuple):
    """What an axis counts; so many are a second, or a byte."""

    name: str
    factor: Rate

    def of(self, value: Rate) -> float:
        """Where seconds or bytes are on the axis."""
        return float(value * self.factor)

    def text(self, value: Rate) -> str:
        """Rounded once: to two decimals, or where that is fewer to three digits."""
        scaled = Fraction(value * self.factor)
        places = max(2, 2 - floor(log10(scaled))) if scaled else 2
        return f"{float(round(scaled, places)):,.{places}f}"

    def said(self, value: Rate) -> str:
        """With its name."""
        return f"{self.text(value)} {self.name}"


SECONDS = (Unit("s", 1), Unit("ms", MS), Unit("µs", US), Unit("ns", 10**9))
BYTES = tuple(
    Unit(name, Fraction(1, size))
    for name, size in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3), ("bytes", 1))
)


def _unit(units: Sequence[Unit], most: Rate, least: int = 10) -> Unit:
    """The largest of which there are so many, else the smallest."""
    return next((unit for unit in units if most * unit.factor >= least), units[-1])


def _time(value_s: Rate) -> str:
    """In its own unit."""
    return _unit(SECONDS, value_s, 1).said(value_s)


def _size(value_bytes: int) -> str:
    unit = _unit(BYTES, value_bytes, 1)
    return count(value_bytes, "byte") if unit.factor == 1 else unit.said(value_bytes)


# ------------------------------------------------ a sheet of paper


class Mark(NamedTuple):
    """An entry of a key: a box of a colour, if it has one, and what it means."""

    text: str
    face: str = ""
    edge: str = ""
    hatch: str = ""


class Sheet:
    """A figure on which places are points from the top left."""

    def __init__(self, width_pt: float, height_pt: float, style: Style) -> None:
        from matplotlib.figure import Figure

        self.width_pt, self.height_pt, self.style = width_pt, height_pt, style
        self.figure = Figure(figsize=(width_pt / 72, height_pt / 72))
        self.paper = self.axes(0, 0, width_pt, height_pt)
        self.paper.set(xlim=(0, width_pt), ylim=(height_pt, 0))
        self.paper.set_axis_off()

    def axes(self, left: float, top: float, width: float, height: float) -> Axes:
        """Axes without frame and ticks."""
        bottom = self.height_pt - top - height
        shares = (left / self.width_pt, bottom / self.height_pt)
        size = (width / self.width_pt, height / self.height_pt)
        axes = self.figure.add_axes((*shares, *size))
        axes.patch.set_visible(False)  # or it would cover what is said there
        axes.spines[:].set_visible(False)
        axes.tick_params(colors=NOTE, length=3, pad=2)
        axes.set(xticks=[], yticks=[])
        return axes

    def say(self, x: float, y: float, text: str, colour: str = INK, ha: str = "left") -> None:
        """A line of text, y its middle."""
        self.paper.text(x, y, text, color=colour, ha=ha, va="center_baseline")

    def lines(self, y: float, lines: Iterable[str]) -> float:
        """Notes below each other. Returns where the next would be."""
        for text in lines:
            self.say(MARGIN_PT, y, text, NOTE)
            y += self.style.line_pt
        return y

    def key(self, y: float, rows: Iterable[Sequence[Mark]], left: float = MARGIN_PT) -> float:
        """Marks side by side, in rows. Returns where the next row would be."""
        from matplotlib.patches import Rectangle

        for row in rows:
            x = left
            for mark in row:
                if mark.face:
                    size = (1.6 * self.style.font_pt, 0.8 * self.style.font_pt)
                    look = {"facecolor": mark.face, "edgecolor": mark.edge or "white"}
                    at = (x, y - size[1] / 2)
                    box = Rectangle(at, *size, hatch=mark.hatch, linewidth=1, label="key", **look)
                    self.paper.add_patch(box)
                    x += size[0] + GAP_PT / 2
                self.say(x, y, mark.text)
                x += _width_pt(mark.text, self.style) + 2 * GAP_PT
            y += self.style.line_pt
        return y


def _width_pt(text: str, style: Style) -> float:
    return _width(text, style.font_pt, style.face)


@lru_cache(maxsize=10_000)
def _width(text: str, font_pt: float, face: str) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=font_pt)  # of the settings
    width = text_to_path.get_text_width_height_descent(text, font, False)[0]
    return 1.03 * float(width)  # one that stands in for another face may be so much narrower


def _widest(texts: Iterable[str], style: Style) -> float:
    return max((_width_pt(text, style) for text in texts), default=0)


def _wrapped(text: str, width_pt: float, style: Style) -> list[str]:
    """On lines that are no wider, as far as words allow."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and _width_pt(longer, style) > width_pt:
            lines.append(word)
        else:
            lines[-1] = longer
    return [line for line in lines if line]


def _mark_pt(mark: Mark, style: Style) -> float:
    """The width of a mark, with the gap after it."""
    box_pt = 1.6 * style.font_pt + GAP_PT / 2 if mark.face else 0
    return box_pt + _width_pt(mark.text, style) + 2 * GAP_PT


def _key_rows(marks: Sequence[Mark], width_pt: float, style: Style) -> list[list[Mark]]:
    """Marks in rows that are no wider."""
    rows: list[list[Mark]] = [[]]
    used = 0.0
    for mark in marks:
        needed = _mark_pt(mark, style)
        if rows[-1] and used + needed > width_pt:
            rows.append([])
            used = 0
        rows[-1].append(mark)
        used += needed
    return rows


def _foot(question: Question, width_pt: float, style: Style, *notes: str) -> list[str]:
    """Notes, and how the question differs from the lab's."""
    said = asked(question)
    texts = [*notes, f"what if: {said}"] if said else notes
    return [line for text in texts for line in _wrapped(text, width_pt - 2 * MARGIN_PT, style)]


# ------------------------------------------------ plans by name

LONGEST_NAME = 40  # characters


def _kind(question: Question, plan: Plan) -> str:
    """tensor, pipeline or plan, whichever has a colour of its own."""
    return schedule.plan_name(question.network, question.system, plan).split()[0]


def _name(question: Question, plan: Plan) -> str:
    """In words, or where that is too long as --plan reads it, if need be cut."""
    name = schedule.plan_name(question.network, question.system, plan)
    if name.startswith("plan ") and len(plan) < LONGEST_NAME // 6:
        words = []
        done = 0
        for layers, nodes in plan:
            numbers = f"{done + 1}-{done + layers}" if layers > 1 else f"{done + 1}"
            noun = "" if done else "layers " if layers > 1 else "layer "
            on = f"on {nodes:,}" if done else f"on {count(nodes, 'node')}"
            words.append(f"{noun}{numbers} {on}")
            done += layers
        if len(", ".join(words)) <= LONGEST_NAME:
            return ", ".join(words)
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."


# ------------------------------------------------ who works when

MOST_BARS = 10_000  # of a timeline
MOST_TIMELINES = 8
MOST_ROWS = 48  # of all of them, if that leaves each as many as a group may have
MOST_NODES = 8  # of a group, that have a row each


class Lane(NamedTuple):
    """A plan's part of a timeline."""

    name: str
    kind: str
    pace: str
    note: str
    rows: list[str]
    layers: dict[int, range]  # the rows of each that is shown
    first: list[TimedStep]  # of the first input, those that are shown
    interval_s: Fraction

    def bars(self, inputs: int, until_s: Fraction) -> int:
        """How many are drawn until then."""
        return sum(
            schedule.started(it, self.interval_s, inputs, until_s)
            * (len(self.layers[it.step.layer]) if it.step.work == "compute" else 1)
            for it in self.first
        )


@_in_style
def timeline(
    analysis: Analysis,
    style: Style,
    plans: Mapping[str, Plan] | Iterable[Plan] | None = None,
    until_s: Rate | None = None,
) -> Picture:
    """All inputs that run in a window, on the nodes and links of each plan, by default of both
    strategies as far as they are possible; until the first input of the slowest is done and a
    little more. It is shorter where there would be more than MOST_BARS.

    Raises ValueError as plans.plan_stages does.
    """
    question = analysis.question
    lanes, notes = _lanes(analysis, plans)
    end_s = until_s or Fraction(11, 10) * max(lane.first[-1].end_s for lane in lanes)
    wanted_s = end_s = Fraction(end_s)
    while sum(lane.bars(question.inputs, end_s) for lane in lanes) > MOST_BARS:
        end_s /= 2
    if end_s < wanted_s:
        notes.append(f"shown to {_time(end_s)}: until {_time(wanted_s)} there are too many bars")

    foot = _foot(question, style.width_pt, style, *notes)
    key = [Mark("numbers: inputs"), Mark("on links", COLOURS["link"][0])]
    line, n_rows = style.line_pt, sum(len(lane.rows) for lane in lanes)
    left = _widest(chain(*(lane.rows for lane in lanes)), style) + 2 * GAP_PT
    width = style.width_pt - left - 2.5 * style.font_pt
    key_left = left + width - sum(_mark_pt(mark, style) for mark in key) + 2 * GAP_PT
    title = f"{lanes[0].name}: {lanes[0].pace}"
    is_beside = left + _width_pt(title, style) + 2 * GAP_PT < key_left  # the first title, or below
    fixed = line * (len(lanes) * 1.3 + sum(bool(it.note) for it in lanes) + 1.6 + len(foot))
    fixed += 0 if is_beside else line
    row_pt = (style.height_pt - fixed) / n_rows if style.height_pt else 1.2 * line
    sheet = Sheet(style.width_pt, fixed + row_pt * n_rows, style)
    unit = _unit(SECONDS, end_s, 1)
    y = line / 2
    if is_beside:
        sheet.key(y, [key], key_left)
    for lane in lanes:
        sheet.say(left, y, f"{lane.name}: {lane.pace}", COLOURS[lane.kind][0])
        if lane.note:
            y += line
            sheet.say(left, y, lane.note, NOTE)
        y += line / 2
        height = row_pt * len(lane.rows)
        axes = sheet.axes(left, y, width, height)
        for number, name in enumerate(lane.rows):
            sheet.say(left - GAP_PT, y + row_pt * (number + 0.5), name, ha="right")
        axes.set(xlim=(0, unit.of(end_s)), ylim=(len(lane.rows) - 0.5, -0.5))
        _draw_lane(
            axes,
            lane,
            schedule.steps_until(lane.first, lane.interval_s, question.inputs, end_s),
            end_s,
            unit,
            width,
            style,
        )
        y += height + 0.8 * line
    _time_axis(axes, unit)
    y += 0.9 * line
    sheet.lines(y if is_beside else sheet.key(y, [key]), foot)
    paces = "; ".join(f"{lane.name}: {lane.pace}" for lane in lanes)
    alt = f"Timeline of the first {_time(end_s)}, a row per node. {paces}."
    return Picture(sheet.figure, " ".join([alt, *(f"{note}." for note in notes)]))


def _lanes(
    analysis: Analysis, plans: Mapping[str, Plan] | Iterable[Plan] | None
) -> tuple[list[Lane], list[str]]:
    """Each plan's, and why a strategy is not among them."""
    network, system, _ = analysis.question
    notes: list[str] = []
    if plans is None:
        strategies = strategy_plans(network, system)
        plans = dict.fromkeys(strategies[strategy] for strategy in analysis.possible)
        notes = [it.reason for it in analysis.impossible.values()]
    chosen = list(
        plans.values()
        if isinstance(plans, Mapping) and plans and isinstance(next(iter(plans)), str)
        else plans
    )
    if not 0 < len(chosen) <= MOST_TIMELINES:
        raise ValueError(f"plans: {len(chosen)} are not 1 to {MOST_TIMELINES}, as a timeline shows")
    most = max(MOST_NODES, MOST_ROWS // len(chosen))
    return [_lane(analysis.question, plan, most) for plan in chosen], notes


def _lane(question: Question, plan: Plan, most_rows: int) -> Lane:
    network, system, inputs = question
    steps = schedule.timed_steps(network, system, plan)
    interval_s = schedule.interval(network, system, plan)
    rows: list[str] = []
    layers: dict[int, range] = {}
    before = range(0)
    for layer, nodes in schedule.layer_nodes(plan).items():
        if nodes == before:
            layers[layer] = layers[layer - 1]
            continue
        names = [f"node {node}" for node in nodes[: MOST_NODES + 1]]
        if len(names) > MOST_NODES:
            names = [f"nodes {nodes[0]:,}-{nodes[-1]:,}"]
        if len(rows) + len(names) > most_rows:
            break
        layers[layer] = range(len(rows), len(rows) + len(names))
        rows += names
        before = nodes
    first = [it for it in steps if it.step.layer in layers]
    if first[-1].step.work == "send":
        first.pop()  # to a node that is not shown
    pace = f"an output after {_time(steps[-1].end_s)}"
    if inputs > 1:
        pace += f", then one every {_time(interval_s)}"
    used = sum(nodes for _, nodes in plan)
    note = (
        f"the first {count(len(layers), 'layer')} of {len(network):,}"
        if len(layers) < len(network)
        else ""
    )
    name = _name(question, plan)
    if used < system.nodes:
        pace += f"; {count(system.nodes - used, 'idle node')}"
    return Lane(name, _kind(question, plan), pace, note, rows, layers, first, interval_s)


def _draw_lane(
    axes: Axes,
    lane: Lane,
    steps: Sequence[TimedStep],
    end_s: Fraction,
    unit: Unit,
    width_pt: float,
    style: Style,
) -> None:
    """Bars of one input after the other in two shades; the number in each that has room."""
    spans: dict[tuple[float, float, str, str], list[tuple[float, float]]] = {}
    for it in steps:
        rows = lane.layers[it.step.layer]
        start, end = unit.of(it.start_s), unit.of(min(it.end_s, end_s))
        shade = (it.input - 1) % 2
        if it.step.work != "compute":
            is_send = it.step.work == "send"
            low = rows[-1] + 0.35 if is_send else rows[0] - 0.42
            high = rows[-1] + 0.65 if is_send else rows[-1] + 0.42
            place = (low, high - low, COLOURS["link"][shade], it.step.work)
            spans.setdefault(place, []).append((start, end - start))
            continue
        for row in rows:
            place = (row - 0.35, 0.7, COLOURS[lane.kind][shade], lane.rows[row])
            spans.setdefault(place, []).append((start, end - start))
            said = f"{it.input:,}"
            if (end - start) / unit.of(end_s) * width_pt > _width_pt(said, style) + 2:
                colour = "black" if shade else "white"
                place_x = (start + end) / 2
                axes.text(place_x, row, said, color=colour, ha="center", va="center_baseline")
    for (low, height, colour, label), found in spans.items():
        axes.broken_barh(found, (low, height), facecolors=colour, linewidth=0, label=label)


def _time_axis(axes: Axes, unit: Unit) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.spines["bottom"].set_visible(True)
    axes.xaxis.set_major_locator(MaxNLocator(7))
    axes.xaxis.set_major_formatter(f"{{x:,g}} {unit.name}")


# ------------------------------------------------ bars with names and values


class Part(NamedTuple):
    """Of a bar."""

    size: Rate  # in seconds or bytes
    name: str
    face: str
    edge: str = "white"
    hatch: str = ""


class Row(NamedTuple):
    """A bar in parts, between its name and its value; or the reason why there is none."""

    name: str
    colour: str
    parts: Sequence[Part] | Impossible
    value: str = ""
    value_colour: str = INK


class Limit(NamedTuple):
    """A line across the bars."""

    value: Rate
    text: str


def _draw_rows(
    rows: Sequence[Row],
    limit: Limit,
    end: Rate,
    keys: Sequence[Sequence[Mark]],
    foot: Callable[[float], list[str]],
    style: Style,
    head: str = "",
) -> Figure:
    """Bars on an axis to an end; those that are longer are cut there. With a head, values are a
    column below it, else they stand behind their bars."""
    left = _widest((row.name for row in rows), style) + MARGIN_PT + GAP_PT
    right = _widest([head, *(row.value for row in rows)], style) + MARGIN_PT + GAP_PT
    full_pt = max(style.width_pt, left + right + LEAST_PT)
    width = full_pt - left - right
    key_rows = [line for key in keys for line in _key_rows(key, full_pt, style)]
    foot_lines = foot(full_pt)
    reasons = {
        row.name: _wrapped(_why(row.parts), full_pt - left - MARGIN_PT, style)
        for row in rows
        if isinstance(row.parts, Impossible)
    }
    line = style.line_pt
    extra = sum(len(lines) - 1 for lines in reasons.values()) * line
    top = line * (2 if head else 1)
    fixed = top + extra + line * (0.4 + len(key_rows) + len(foot_lines))
    row_pt = (style.height_pt - fixed) / len(rows) if style.height_pt else 1.25 * line
    height = row_pt * len(rows) + extra
    sheet = Sheet(full_pt, fixed + row_pt * len(rows), style)
    axes = sheet.axes(left, top, width, height)
    axes.set(xlim=(0, float(end)), ylim=(height, 0))
    if head:
        sheet.say(full_pt - MARGIN_PT, line / 2, head, NOTE, "right")
    y = 0.0
    for row in rows:
        lines = reasons.get(row.name, [])
        deep = row_pt + max(0, len(lines) - 1) * line
        middle = y + deep / 2
        sheet.say(left - GAP_PT, top + middle, row.name, row.colour, "right")
        for number, text in enumerate(lines):
            above = (len(lines) - 1) / 2 - number
            sheet.say(left, top + middle - above * line, text)
        if not isinstance(row.parts, Impossible):
            length = _draw_bar(axes, middle, 0.76 * row_pt, row, end)
            if limit.value <= end:
                axes.vlines(float(limit.value), y, y + deep, INK, linewidth=1.5, label=limit.text)
            at = full_pt - MARGIN_PT if head else left + width * length + GAP_PT / 2
            ha = "right" if head else "left"
            sheet.say(at, top + middle, row.value, row.value_colour, ha)
        y += deep
    text = limit.text if limit.value <= end else f"{limit.text} →"
    at = left + width * min(1, float(Fraction(limit.value) / end))
    at = min(at, full_pt - MARGIN_PT - _width_pt(text, style))
    sheet.say(at, top - line / 2, text)
    y = sheet.key(top + height + 0.9 * line, key_rows)
    sheet.lines(y, foot_lines)
    return sheet.figure


def _why(impossible: Impossible) -> str:
    """Without the subject, which is the row's name."""
    _, found, rest = impossible.reason.partition(" is not ")
    return f"not {rest}" if found else impossible.reason


def _draw_bar(axes: Axes, middle: float, height: float, row: Row, end: Rate) -> float:
    """Returns where it ends on the axis, as a share."""
    assert not isinstance(row.parts, Impossible)
    start: Rate = 0
    for part in row.parts:
        axes.barh(
            middle,
            float(part.size),
            height,
            float(start),
            facecolor=part.face,
            edgecolor=part.edge,
            hatch=part.hatch,
            linewidth=0 if part.edge == "white" else 1,
            label=f"{row.name}: {part.name}",
        )
        start += part.size
    if start > end:
        for share in (0.955, 0.97):  # a bar that is cut
            x = float(end) * share
            axes.plot(
                [x - 0.004 * float(end), x + 0.004 * float(end)],
                [middle + 0.6 * height, middle - 0.6 * height],
                color="white",
                linewidth=3,
            )
    return min(1.0, float(Fraction(start) / end))


# ------------------------------------------------ how far from the lower bound


@_in_style
def limits(analysis: Analysis, style: Style) -> Picture:
    """Latency of all inputs against the lower bound: of whole-tensor transfers in parts, of the
    best other plan that sends no more than the pipeline, and of row streaming."""
    inputs = analysis.inputs
    results = {name: analysis.result(name, inputs) for name in ("tensor", "pipeline")}
    tensor, pipeline = results.values()
    rows = [
        Row("tensor parallelism", COLOURS["tensor"][0], _tensor_parts(tensor)),
        *_other_plan(analysis, pipeline),
        Row("pipeline parallelism", COLOURS["pipeline"][0], _pipeline_parts(analysis)),
        *(
            Row(f"{name}, row streaming", COLOURS[name][0], _streamed_parts(name, result))
            for name, result in results.items()
        ),
    ]
    totals = {
        row.name: sum(part.size for part in row.parts)
        for row in rows
        if not isinstance(row.parts, Impossible)
    }
    unit = _unit(SECONDS, max(totals.values()))
    rows = [
        row._replace(value=unit.said(totals[row.name])) if row.name in totals else row
        for row in rows
    ]
    keys = [
        [
            Mark(f"{row.name.split()[0]}, {unit.name}:"),
            *(
                Mark(f"{it.name} {unit.text(it.size)}", it.face, it.edge, it.hatch)
                for it in row.parts
            ),
        ]
        for row in rows
        if not isinstance(row.parts, Impossible) and len(row.parts) > 1
    ]
    limit = Limit(analysis.limit_s, f"lower bound {unit.said(analysis.limit_s)}")
    what = f"latency of {count(inputs, 'input')}"

    def foot(width_pt: float) -> list[str]:
        return _foot(analysis.question, width_pt, style)

    figure = _draw_rows(rows, limit, max(totals.values()), keys, foot, style)
    alt = "; ".join(_told(row, unit) for row in rows)
    return Picture(
        figure,
        f"{what[0].upper()}{what[1:]}. {alt}. The {limit.text}.".replace(
            "The lower bound", "The lower bound is"
        ),
    )


def _told(row: Row, unit: Unit) -> str:
    if isinstance(row.parts, Impossible):
        return f"{row.name}: {_why(row.parts)}"
    parts = ", ".join(f"{part.name} {unit.text(part.size)}" for part in row.parts)
    return f"{row.name}: {row.value}" + (f" ({parts})" if len(row.parts) > 1 else "")


def _tensor_parts(result: Result | Impossible) -> Sequence[Part] | Impossible:
    if isinstance(result, Impossible):
        return result
    parts = [
        Part(result.inputs * result.compute_s, "computing", COLOURS["tensor"][0]),
        Part(result.inputs * result.communication_s, "exchanging", COLOURS["link"][0]),
    ]
    return [part for part in parts if part.size]


def _pipeline_parts(analysis: Analysis) -> Sequence[Part] | Impossible:
    losses = analysis.losses
    if isinstance(losses, Impossible):
        return losses
    dark, light = COLOURS["pipeline"]
    parts = [
        Part(losses.ideal_compute_s, "ideal compute", dark),
        Part(losses.load_imbalance_s, "load imbalance", light),
        Part(losses.busiest_link_s, "waiting for a link", COLOURS["link"][1]),
        Part(losses.fill_and_drain_s, "fill and drain", "white", dark),
        Part(losses.sending_s, "sending", COLOURS["link"][0]),
    ]
    return [part for part in parts if part.size]


def _streamed_parts(name: str, result: Result | Impossible) -> Sequence[Part] | Impossible:
    found = result if isinstance(result, Impossible) else result.streamed
    if isinstance(found, Impossible):
        return found
    return [Part(found.latency_s, "row streaming", COLOURS[name][0])]


def _other_plan(analysis: Analysis, pipeline: Result | Impossible) -> list[Row]:
    """The fastest that sends no more than the pipeline, if that is neither strategy."""
    best = analysis.plans.best
    if isinstance(pipeline, Impossible):
        return []
    if isinstance(best, Impossible):
        return [Row("best other plan", COLOURS["plan"][0], best)]
    plan = next((it for it in best if it.traffic_bytes <= pipeline.traffic_bytes), None)
    if not plan or _kind(analysis.question, plan.plan) != "plan":
        return []
    name = _name(analysis.question, plan.plan)
    return [Row(name, COLOURS["plan"][0], [Part(plan.latency_s, "latency", COLOURS["plan"][0])])]


# ------------------------------------------------ which plan

MOST_POINTS = 1_000  # of more plans only the best are drawn
MOST_NAMES = 10
MARKERS = {"tensor": "s", "pipeline": "D", "plan": "o"}
PILE_PT = 2.5


@_in_style
def plans(analysis: Analysis, style: Style) -> Picture:
    """Latency against traffic of every plan, or of the best where there are too many; the best
    numbered, left below, where no other can be."""
    question = analysis.question
    compared = [it for it in analysis.plans.compared.values() if not isinstance(it, Impossible)]
    best = analysis.plans.best
    notes = []
    if isinstance(best, Impossible):
        notes.append(best.reason)
        best = []
    every = _every_plan(question)
    points = {it.text: it for it in [*compared, *best, *every]}
    return _draw_plans(analysis, points, best, bool(every), notes, style)


def _every_plan(question: Question) -> list[PlanResult]:
    """An empty list, where there are more than MOST_POINTS."""
    network, system, inputs = question
    try:
        found = planning.every_plan(network, system)
    except ValueError:
        return []
    if len(found) > MOST_POINTS:
        return []
    return [planning.plan_result(network, system, plan, inputs) for plan in found]


def _draw_plans(
    analysis: Analysis,
    points: Mapping[str, PlanResult],
    best: Sequence[PlanResult],
    is_all: bool,
    notes: Sequence[str],
    style: Style,
) -> Picture:
    question = analysis.question
    line, found = style.line_pt, list(points.values())
    times = _unit(SECONDS, max(it.latency_s for it in found))
    sizes = _unit(BYTES, max(it.traffic_bytes for it in found), 1)
    fits = sum(it.fits for it in found)
    which = count(len(found), "plan") if is_all else f"{len(found):,} best plans"
    head = f"{which}; filled: fits in the SRAM ({fits:,})"
    said = f"latency of {count(question.inputs, 'input')}, {times.name}, against traffic"
    limit = f"lower bound {times.said(analysis.limit_s)}"
    names = {it.text: _name(question, it.plan) for it in found}
    kinds = {it.text: _kind(question, it.plan) for it in found}
    strategies = [text for text, kind in kinds.items() if kind != "plan"]
    key_w = _widest([head, limit, *(f"10 {names[it.text]}" for it in best)], style)
    key_w += 3.5 * style.font_pt
    full_pt = max(style.width_pt, key_w + LEAST_PT + 100)
    foot = _foot(question, full_pt, style, *notes)
    n_names = MOST_NAMES
    if style.height_pt:
        n_names = min(MOST_NAMES, int(style.height_pt / line) - 4 - len(foot))
    height = style.height_pt or line * (
        max(min(n_names, len(best) + len(strategies)) + 5, 12) + len(foot)
    )
    sheet = Sheet(full_pt, height, style)

    axis_w = 4 * style.font_pt + 2 * MARGIN_PT  # numbers of the axis
    width, depth = full_pt - key_w - axis_w - 2 * line, height - line * (2.6 + len(foot))
    axes = sheet.axes(axis_w, 1.2 * line, width, depth)
    _scale(axes, found, times, sizes, width, depth, style)
    sheet.say(axis_w, line / 2, said, NOTE)

    front = [(sizes.of(it.traffic_bytes), times.of(it.latency_s)) for it in best]
    if front:
        axes.step(
            *zip(*front, strict=True), where="pre", color=NOTE, linewidth=1, zorder=1, label="front"
        )
    axes.axhline(
        times.of(analysis.limit_s), color=INK, linewidth=1, linestyle="--", zorder=1, label=limit
    )
    numbered = _numbered(axes, best, strategies, n_names, times, sizes, style)
    is_piled = _draw_points(axes, found, kinds, set(numbered), times, sizes)
    entries = []
    for number, text in enumerate(numbered, 1):
        it = points[text]
        at = (sizes.of(it.traffic_bytes), times.of(it.latency_s))
        axes.annotate(
            f"{number}",
            at,
            (-5, -4),
            textcoords="offset points",
            ha="right",
            va="top",
            color=INK,
            zorder=1.5,
        )
        entries.append((kinds[text], it.fits, f"{number} {names[text]}"))
    entries += [(kinds[it], points[it].fits, names[it]) for it in strategies if it not in numbered]
    others = len(found) - len(entries)
    x, y = full_pt - key_w, line / 2
    sheet.say(x, y, head)
    for kind, is_filled, text in entries:
        y += line
        _point(sheet.paper, x + style.font_pt, y, kind, COLOURS[kind][0], is_filled, "key")
        sheet.say(x + 2.6 * style.font_pt, y, text)
    for text, look in (("Pareto front", "-"), (limit, "--")):
        y += line
        sheet.paper.plot([x, x + 2 * style.font_pt], [y, y], color=INK, linewidth=1, linestyle=look)
        sheet.say(x + 2.6 * style.font_pt, y, text)
    if others:
        y += line
        _point(sheet.paper, x + style.font_pt, y, "plan", NOTE, False, "key")
        piled = "; piled up: near one another" if is_piled else ""
        sheet.say(x + 2.6 * style.font_pt, y, f"other plans{piled}")
    sheet.lines(height - line * (len(foot) - 0.5), foot)
    told = "; ".join(
        f"{number} {names[text]} ({times.said(points[text].latency_s)},"
        f" {_size(points[text].traffic_bytes)})"
        for number, text in enumerate(numbered, 1)
    )
    alt = f"Latency of {count(question.inputs, 'input')} against traffic: {head}."
    more = f" Pareto-optimal: {told}." if told else ""
    return Picture(sheet.figure, f"{alt}{more} The lower bound is{limit[11:]}.")


def _scale(
    axes: Axes,
    found: Sequence[PlanResult],
    times: Unit,
    sizes: Unit,
    width_pt: float,
    depth_pt: float,
    style: Style,
) -> None:
    """Axes from 0 with room for numbers left of 0 and below; of latencies that are far apart a
    logarithmic one."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

    room = 1.6 * style.font_pt
    right = max(sizes.of(it.traffic_bytes) for it in found)
    high = max(times.of(it.latency_s) for it in found)
    low = min(times.of(it.latency_s) for it in found)
    axes.set_xlim(
        -(right or 1) * room / (width_pt - 2 * room),
        (right or 1) * (1 + room / (width_pt - 2 * room)),
    )
    if high > 20 * low:
        axes.set_yscale("log")
        per_pt = (high / low) ** (1 / (depth_pt - 2 * room))
        axes.set_ylim(low / per_pt**room, high * per_pt**room)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.set_ylim(0, high * (1 + room / depth_pt))
        axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.xaxis.set_major_locator(MaxNLocator(5) if right else MaxNLocator(1))
    if not right:
        axes.set_xticks([0])
    axes.xaxis.set_major_formatter(f"{{x:,g}} {sizes.name}")
    axes.spines[["left", "bottom"]].set_visible(True)
    axes.spines[["left", "bottom"]].set_color(NOTE)


def _numbered(
    axes: Axes,
    best: Sequence[PlanResult],
    strategies: Sequence[str],
    most: int,
    times: Unit,
    sizes: Unit,
    style: Style,
) -> list[str]:
    """The best plans with a name, fastest first: both strategies, and others whose numbers have
    room beside those."""
    width, height = (1.6 * style.font_pt, 1.2 * style.font_pt)
    place = {
        it.text: axes.transData.transform((sizes.of(it.traffic_bytes), times.of(it.latency_s)))
        for it in best
    }
    chosen = [text for text in strategies if text in place]
    for text, (x, y) in place.items():
        is_free = all(
            abs(x - place[it][0]) > width or abs(y - place[it][1]) > height for it in chosen
        )
        if is_free and len(chosen) < most - len(set(strategies) - set(place)):
            chosen.append(text)
    return [text for text in place if text in chosen]


def _draw_points(
    axes: Axes,
    found: Sequence[PlanResult],
    kinds: Mapping[str, str],
    numbered: set[str],
    times: Unit,
    sizes: Unit,
) -> bool:
    """Plans that are too near one another to be told apart are a pile. Returns if there is one."""
    piles: list[list[Any]] = []
    for it in sorted(found, key=lambda it: (kinds[it.text] == "plan", it.text not in numbered)):
        at = (sizes.of(it.traffic_bytes), times.of(it.latency_s))
        place = axes.transData.transform(at)
        pile = next((pile for pile in piles if max(abs(pile[0] - place)) < PILE_PT), None)
        if pile is None:
            piles.append(pile := [place])
        kind = kinds[it.text]
        is_named = kind != "plan" or it.text in numbered
        colour = COLOURS[kind][0] if is_named else NOTE
        _point(axes, *at, kind, colour, it.fits, it.text, len(pile) - 1)
        pile.append(place)
    return any(len(pile) > 2 for pile in piles)


def _point(
    axes: Axes, x: float, y: float, kind: str, colour: str, fits: bool, label: str, below: int = 0
) -> None:
    from matplotlib.transforms import ScaledTranslation

    away = below * PILE_PT / 72
    axes.plot(
        x,
        y,
        marker=MARKERS[kind],
        markersize=7 if kind != "plan" else 6 if colour != NOTE else 4.5,
        linestyle="",
        color=colour,
        markerfacecolor=colour if fits else "white",
        label=label,
        clip_on=False,
        zorder=3 - below / 1000,
        transform=axes.transData + ScaledTranslation(away, away, axes.figure.dpi_scale_trans),
    )


# ------------------------------------------------ what nodes must hold

MOST_FULL = 8  # nodes of a pipeline that are shown
NEAR = 2  # a bar more than so many times as long as the others is cut


@_in_style
def sram(analysis: Analysis, style: Style) -> Picture:
    """Weights, input and output on each node when it is fullest, with one input at a time."""
    limit_bytes = analysis.system.sram_bytes
    rows: list[Row] = []
    notes: list[str] = []
    totals: list[int] = []
    for scheme, found in analysis.sram.items():
        strategy, _, streamed = scheme.partition(", ")
        name = f"{strategy}, row streaming" if streamed else strategy
        colour = COLOURS[strategy][0]
        if isinstance(found, Impossible):
            rows.append(Row(name, colour, found))
            continue
        uses = (
            found.uses
            if scheme == "pipeline"
            else [max(found.uses, key=lambda use: use.total_bytes)]
        )
        if len(uses) > MOST_FULL:
            notes.append(f"pipeline: the {MOST_FULL} fullest of {len(uses):,} nodes")
            fullest = sorted(uses, key=lambda use: -use.total_bytes)[:MOST_FULL]
            uses = [use for use in uses if use in fullest]
        for use in uses:
            rows.append(_held(f"{name}, {use.where}", colour, use, limit_bytes))
            totals.append(use.total_bytes)
    longest, *others = sorted({*totals}, reverse=True)
    rest = max([*others[:1], min(limit_bytes, longest)])
    end = Fraction(5, 4) * rest if longest > NEAR * rest else Fraction(longest)
    if limit_bytes <= Fraction(3, 2) * end:
        end = max(end, Fraction(limit_bytes))
    marks = [Mark(part, face, "white", hatch) for part, (face, hatch) in PARTS.items()]
    if longest > limit_bytes:
        marks.append(Mark("more than the SRAM", ALARM))
    if longest > end:
        marks.append(Mark("//: longer than shown"))
    limit = Limit(limit_bytes, f"SRAM of a node: {count(limit_bytes, 'byte')}")

    def foot(width_pt: float) -> list[str]:
        return _foot(analysis.question, width_pt, style, *notes)

    figure = _draw_rows(
        rows,
        limit,
        end,
        [marks],
        foot,
        style,
        "weights + input + output = bytes, one input at a time",
    )
    told = "; ".join(
        f"{row.name}: {_why(row.parts)}"
        if isinstance(row.parts, Impossible)
        else f"{row.name}: {row.value.rpartition(' ')[2]}{', too many' * (row.value_colour == ALARM)}"
        for row in rows
    )
    alt = f"Bytes that a node holds when it is fullest, one input at a time. {told}."
    return Picture(figure, f"{alt} The {limit.text.replace(':', ' is')}.")


def _held(name: str, colour: str, use: SramUse, limit_bytes: int) -> Row:
    """A bar of the parts, red beyond the SRAM, and their sum."""
    sizes = (use.weight_bytes, use.input_bytes, use.output_bytes)
    parts = []
    start = 0
    for (part, (face, hatch)), size in zip(PARTS.items(), sizes, strict=True):
        inside = min(max(limit_bytes - start, 0), size)
        parts += [
            Part(inside, part, face, hatch=hatch),
            Part(size - inside, part, ALARM, hatch=hatch),
        ]
        start += size
    value = " + ".join(f"{size:,}" for size in sizes) + f" = {start:,}"
    value_colour = ALARM if start > limit_bytes else INK
    return Row(name, colour, [part for part in parts if part.size], value, value_colour)


# ------------------------------------------------ the command: picture

PICTURES: dict[str, Callable[..., Picture]] = {
    "timeline": timeline,
    "limits": limits,
    "plans": plans,
    "sram": sram,
}


def add_options(parser: ArgumentParser) -> None:
    """Which picture, what if, and where to."""
    parser.add_argument("picture", choices=PICTURES)
    asking.add_options(parser)
    add_plan_option(parser)
    parser.add_argument("--until", metavar="MS", type=_ms, help="where a timeline ends, ms")
    parser.add_argument("--output", metavar="FILE", type=Path, help="FILE.svg or FILE.png")


def _ms(text: str) -> Fraction:
    """Seconds of so many ms."""
    try:
        value = Decimal(text)
        if len(text) <= asking.MOST_CHARACTERS and Decimal("1e-9") <= value <= 10**12:
            return Fraction(value) / MS
    except InvalidOperation:
        pass
    raise ArgumentTypeError(f"{shown(text)} is not a number of ms from 1e-9 to 1e12, such as 14")


def answer(options: Namespace) -> str:
    """Write the picture. Says what was asked, what it shows, and where it is."""
    name = options.picture
    output = options.output or Path(f"{name}.svg")
    if output.suffix.lower() not in ENDINGS:
        raise ValueError(f"--output: {shown(str(output))} does not end in {' or '.join(ENDINGS)}")
    question = question_of(options)
    drawn: dict[str, Any] = {}
    if name == "timeline":
        asked_for = plans_asked(options.plan, question.network, question.system)
        drawn = {"plans": asked_for or None, "until_s": options.until}
    elif options.plan or options.until:
        option = "plan" if options.plan else "until"
        raise ValueError(f"--{option}: is for a timeline, not for {name}")
    picture = PICTURES[name](Analysis(question), **drawn)
    output.write_bytes(image(picture, output.suffix))
    said = filled(picture.alt.replace("µ", "u"))
    return headed(question, f"{said}\n\ndrawn: {output}")
