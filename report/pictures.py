"""Four pictures of any question: who works when, how far from the lower bound, which plan, and what
nodes must hold.

Names stand on the left, values on the right and keys below, so that no label can meet another. A
colour means the same in all pictures, and no meaning is its alone: marks also differ in place,
shape, hatch or filling. Text stays text in an SVG.
"""

from __future__ import annotations

import logging
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache, wraps
from html import escape
from io import BytesIO
from itertools import chain, groupby
from math import floor, log10
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lab3 import Rate
from report import plans as planning
from report import question as asking
from report import schedule
from report.analysis import Analysis, Losses, Result
from report.plans import Plan, PlanResult, add_plan_option, plans_asked, strategy_plans
from report.question import Impossible, Question, asked, headed, question_of
from report.schedule import TimedStep
from report.terminal import MS, US, count, filled, shown

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
MARGIN_PT, GAP_PT = 4, 6
BOX = (1.6, 0.8)  # of a key, in sizes of the type
LEAST_PT = 140  # a picture with long names or numbers is wider, so that bars have this


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
        return 1.4 * self.font_pt


DEFAULT = Style()


@contextmanager
def _settings(style: Style) -> Iterator[None]:
    """Of matplotlib, whatever the user's own are."""
    import matplotlib.style

    settings = {
        "font.family": [style.face, "STIXGeneral" if "Serif" in style.face else "DejaVu Sans"],
        "font.size": style.font_pt,
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

    def of(self, value: Rate) -> float:
        """Where seconds or bytes are on the axis."""
        return float(value * self.factor)

    def text(self, value: Rate) -> str:
        """Rounded once: to two decimals, or where these are fewer to two digits."""
        scaled = Fraction(value * self.factor)
        places = max(2, 1 - floor(log10(scaled))) if scaled else 2
        return f"{float(round(scaled, places)):,.{places}f}"

    def said(self, value: Rate) -> str:
        """With its name; bytes whole."""
        if self.name == "bytes":
            return count(int(value), "byte")
        return f"{self.text(value)} {self.name}"


SECONDS = (Unit("s", 1), Unit("ms", MS), Unit("µs", US), Unit("ns", 10**9))
PREFIXES = {"EB": 18, "PB": 15, "TB": 12, "GB": 9, "MB": 6, "kB": 3, "bytes": 0}
BYTES = [Unit(name, Fraction(1, 10**zeros)) for name, zeros in PREFIXES.items()]


def _unit(units: Sequence[Unit], most: Rate, least: int = 10) -> Unit:
    """The largest of which there are so many, else the smallest."""
    return next((unit for unit in units if most * unit.factor >= least), units[-1])


def _own(units: Sequence[Unit], value: Rate) -> str:
    """In its own unit."""
    return _unit(units, value, 1).said(value)


# ------------------------------------------------ a sheet of paper


class Mark(NamedTuple):
    """A part of a bar, or an entry of a key, with a box if it has a colour."""

    text: str
    face: str = ""
    size: Rate = 0  # in seconds or bytes
    edge: str = "white"
    hatch: str = ""


class Sheet:
    """A figure on which places are points from the top left."""

    def __init__(self, width_pt: float, height_pt: float, style: Style) -> None:
        from matplotlib.figure import Figure

        self.width_pt, self.height_pt, self.style = width_pt, height_pt, style
        self.figure = Figure(figsize=(width_pt / 72, height_pt / 72))
        self.paper = self.axes(0, 0, width_pt, height_pt)
        self.paper.set(xlim=(0, width_pt), ylim=(height_pt, 0))

    def axes(self, left: float, top: float, width: float, height: float) -> Axes:
        """Axes without frame and ticks."""
        place = (left / self.width_pt, 1 - (top + height) / self.height_pt)
        axes = self.figure.add_axes((*place, width / self.width_pt, height / self.height_pt))
        axes.spines[:].set_visible(False)
        axes.spines[:].set_color(NOTE)
        axes.patch.set_visible(False)
        axes.tick_params(colors=NOTE, length=3, pad=2)
        axes.set(xticks=[], yticks=[])
        return axes

    def say(self, x: float, y: float, text: str, colour: str = INK, ha: str = "left") -> None:
        """A line of text, y its middle."""
        self.paper.text(x, y, text, color=colour, ha=ha, va="center_baseline")

    def key(self, x: float, y: float, marks: Iterable[Mark]) -> None:
        """Marks side by side."""
        from matplotlib.patches import Rectangle

        width, height = (size * self.style.font_pt for size in BOX)
        for mark in marks:
            if mark.face:
                box = Rectangle((x, y - height / 2), width, height, label="key")
                box.set(facecolor=mark.face, edgecolor=mark.edge, hatch=mark.hatch)
                self.paper.add_patch(box)
            self.say(x + bool(mark.face) * (width + GAP_PT / 2), y, mark.text)
            x += _mark_pt(mark, self.style)

    def below(self, y: float, keys: Iterable[Iterable[Mark]], notes: Iterable[str]) -> None:
        """Rows of marks, then notes."""
        for marks in keys:
            self.key(MARGIN_PT, y, marks)
            y += self.style.line_pt
        for text in notes:
            self.say(MARGIN_PT, y, text, NOTE)
            y += self.style.line_pt


@lru_cache(maxsize=10_000)
def _width_pt(text: str, style: Style) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=style.font_pt)  # and the face of the settings
    room = 1.05  # hinted letters, or those of another face, are wider
    return room * float(text_to_path.get_text_width_height_descent(text, font, False)[0])


def _widest(texts: Iterable[str], style: Style) -> float:
    return max((_width_pt(text, style) for text in texts), default=0)


def _mark_pt(mark: Mark, style: Style) -> float:
    box = BOX[0] * style.font_pt + GAP_PT / 2 if mark.face else 0
    return box + _width_pt(mark.text, style) + 2 * GAP_PT


def _rows_of(
    words: Iterable[Any], width_of: Callable[[Any], float], width_pt: float
) -> list[list[Any]]:
    """In rows that are no wider, as far as the words allow."""
    rows: list[list[Any]] = []
    used = width_pt
    for word in words:
        used += width_of(word)
        if used > width_pt or not rows:
            rows.append([])
            used = width_of(word)
        rows[-1].append(word)
    return rows


def _wrapped(text: str, width_pt: float, style: Style) -> list[str]:
    rows = _rows_of(text.split(), lambda word: _width_pt(f"{word} ", style), width_pt)
    return [" ".join(row) for row in rows]


def _key_rows(marks: Sequence[Mark], width_pt: float, style: Style) -> list[list[Mark]]:
    return _rows_of(marks, lambda mark: _mark_pt(mark, style), width_pt)


def _foot(question: Question, notes: Sequence[str], width_pt: float, style: Style) -> list[str]:
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
    if name.startswith("plan "):
        words = ", ".join(_group_names(plan))
        name = words if len(words) <= LONGEST_NAME else name
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."


def _group_names(plan: Plan) -> Iterator[str]:
    """layers 1-2 on 2 nodes, then 3 on 1, then 4 on 1."""
    done = 0
    for layers, nodes in plan:
        numbers = f"{done + 1}-{done + layers}" if layers > 1 else f"{done + 1}"
        noun = "layers" if layers > 1 else "layer"
        yield f"{numbers} on {nodes:,}" if done else f"{noun} {numbers} on {count(nodes, 'node')}"
        done += layers


# ------------------------------------------------ who works when

MOST_BARS = 10_000  # of a timeline
MOST_PLANS = 8
MOST_ROWS = 32  # of all plans, if that leaves each as many as a group may have
MOST_NODES = 8  # of a group, that have a row each


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
        """How many are drawn until then."""
        return sum(
            schedule.started(it, self.interval_s, self.inputs, until_s)
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
    little more. The window is shorter where it would have more than MOST_BARS.

    Raises ValueError as plans.plan_stages does, and for more than MOST_PLANS.
    """
    if until_s is not None and until_s <= 0:
        raise ValueError(f"until_s: {shown(until_s)} must be above 0")
    question, notes = analysis.question, []
    if plans is None:
        strategies = strategy_plans(analysis.network, analysis.system)
        plans = dict.fromkeys(strategies[name] for name in analysis.possible).keys()  # or both one
        notes = [it.reason for it in analysis.impossible.values()]
    chosen = list(plans.values() if isinstance(plans, Mapping) else plans)
    if not 1 <= len(chosen) <= MOST_PLANS:
        raise ValueError(f"plan: a timeline shows 1 to {MOST_PLANS} plans, not {len(chosen)}")
    most_rows = max(MOST_NODES, MOST_ROWS // len(chosen))
    lanes = [_lane(question, plan, most_rows) for plan in chosen]
    wanted_s = Fraction(until_s or Fraction(11, 10) * max(it.first[-1].end_s for it in lanes))
    end_s = wanted_s
    while sum(lane.bars(end_s) for lane in lanes) > MOST_BARS:
        end_s /= 2
    if end_s < wanted_s:
        notes.append(f"time ends here, since {_own(SECONDS, wanted_s)} would have too many bars")

    foot = _foot(question, notes, style.width_pt, style)
    left = _widest(chain(*(lane.rows for lane in lanes)), style) + MARGIN_PT + GAP_PT
    line, n_rows = style.line_pt, sum(len(lane.rows) for lane in lanes)
    key = [Mark("numbers: inputs"), Mark("on links", COLOURS["link"][0])]
    key_pt = sum(_mark_pt(mark, style) for mark in key)
    is_beside = left + _width_pt(lanes[0].title, style) + key_pt < style.width_pt  # its title
    heads = [_wrapped(lane.title, style.width_pt - left, style) for lane in lanes]
    n_lines = sum(len(head) + bool(lane.note) for head, lane in zip(heads, lanes, strict=True))
    fixed = line * (n_lines + 0.4 * len(lanes) + 0.9 + len(foot) + (not is_beside))
    row_pt = (style.height_pt - fixed) / n_rows if style.height_pt else 1.2 * line
    sheet = Sheet(style.width_pt, fixed + row_pt * n_rows, style)
    unit = _unit(SECONDS, end_s, 1)
    width = style.width_pt - left - 2.5 * style.font_pt  # half of the axis' last number
    y = 0.0
    for head, lane in zip(heads, lanes, strict=True):
        colours = [COLOURS[lane.kind][0]] * len(head) + [NOTE]
        for text, colour in zip([*head, *filter(None, [lane.note])], colours, strict=False):
            sheet.say(left, y + line / 2, text, colour)
            y += line
        axes = sheet.axes(left, y, width, row_pt * len(lane.rows))
        axes.set(xlim=(0, unit.of(end_s)), ylim=(len(lane.rows) - 0.5, -0.5))
        for number, name in enumerate(lane.rows):
            sheet.say(left - GAP_PT, y + row_pt * (number + 0.5), name, ha="right")
        _draw_lane(axes, lane, end_s, unit, style)
        y += row_pt * len(lane.rows) + 0.4 * line
    _number_time(axes, unit)
    if is_beside:
        sheet.key(style.width_pt - key_pt, line / 2, key)
    sheet.below(y + 1.4 * line, [] if is_beside else [key], foot)
    told = "; ".join(lane.title.replace(":", ",", 1) for lane in lanes)
    alt = f"Timeline of the first {_own(SECONDS, end_s)}: {told}"
    return Picture(sheet.figure, " ".join(f"{text}." for text in [alt, *notes]))


def _lane(question: Question, plan: Plan, most_rows: int) -> Lane:
    network, system, inputs = question
    steps = schedule.timed_steps(network, system, plan)
    interval_s = schedule.interval(network, system, plan)
    title = f"{_name(question, plan)}: an output after {_own(SECONDS, steps[-1].end_s)}"
    if inputs > 1:
        title += f", then one every {_own(SECONDS, interval_s)}"
    idle = system.nodes - sum(nodes for _, nodes in plan)
    if idle:
        title += f"; {count(idle, 'idle node')}"

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
    is_all = len(places) == len(network)
    note = "" if is_all else f"only the first {len(places)} of {len(network):,} layers are shown"
    kind = _kind(question, plan)
    return Lane(title, kind, note, rows, places, first, interval_s, inputs)


def _draw_lane(axes: Axes, lane: Lane, end_s: Fraction, unit: Unit, style: Style) -> None:
    """Bars of one input after the other in two shades; the number in each that has room."""
    spans = defaultdict(list)  # by height and colour
    width_pt, height_pt = (size * 72 / axes.figure.dpi for size in axes.bbox.size)
    points = width_pt / unit.of(end_s)
    is_high = 0.7 * height_pt / len(lane.rows) > 0.72 * style.font_pt  # a digit
    for it in schedule.steps_until(lane.first, lane.interval_s, lane.inputs, end_s):
        rows = lane.layers[it.step.layer]
        start, end = unit.of(it.start_s), unit.of(min(it.end_s, end_s))
        shade = (it.input - 1) % 2
        if it.step.work == "send":  # between two rows
            places = [(rows[-1] + 0.35, 0.3)]
        elif it.step.work == "compute":
            places = [(row - 0.35, 0.7) for row in rows]
        else:
            places = [(rows[0] - 0.42, len(rows) - 0.16)]
        kind = lane.kind if it.step.work == "compute" else "link"
        for place in places:
            spans[place, COLOURS[kind][shade], it.step.work].append((start, end - start))
        if (
            kind != "link"
            and is_high
            and (end - start) * points > _width_pt(f"{it.input:,}", style) + 2
        ):
            for row in rows:
                text = axes.text((start + end) / 2, row, f"{it.input:,}", ha="center")
                text.set(color=("white", "black")[shade], va="center_baseline")
    for (place, colour, work), found in spans.items():
        axes.broken_barh(found, place, facecolors=colour, linewidth=0, label=work)


def _number_time(axes: Axes, unit: Unit) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.spines["bottom"].set_visible(True)
    axes.xaxis.set_major_locator(MaxNLocator(7))
    axes.xaxis.set_major_formatter(f"{{x:,g}} {unit.name}")


# ------------------------------------------------ bars with names and values


class Row(NamedTuple):
    """A bar in parts between its name and its value, or the reason why there is none."""

    name: str
    kind: str
    parts: Sequence[Mark]
    value: str = ""
    why: str = ""

    @property
    def size(self) -> Rate:
        """Of all parts."""
        return sum(part.size for part in self.parts)


def _row(name: str, kind: str, parts: Sequence[Mark] | Impossible, value: str = "") -> Row:
    """With the parts that there are, or the reason without its subject, which is the name."""
    if not isinstance(parts, Impossible):
        return Row(name, kind, [part for part in parts if part.size], value)
    _, found, rest = parts.reason.partition(" is not ")
    return Row(name, kind, (), why=f"not {rest}" if found else parts.reason)


def _draw_rows(
    question: Question,
    rows: Sequence[Row],
    end: Rate,
    limit: Mark,
    keys: Sequence[Sequence[Mark]],
    style: Style,
    notes: Sequence[str] = (),
    head: str = "",
) -> Figure:
    """Bars on an axis to an end, where longer ones are cut, and a limit across. With a head, values
    are a column below it, else each is behind its bar."""
    line = style.line_pt
    left = _widest((row.name for row in rows), style) + MARGIN_PT + GAP_PT
    right = _widest([head, *(row.value for row in rows)], style) + MARGIN_PT + GAP_PT
    full = max(style.width_pt, left + right + LEAST_PT)
    width = full - left - right
    key_rows = [row for key in keys for row in _key_rows(key, full, style)]
    foot = _foot(question, notes, full, style)
    whys = [_wrapped(row.why, full - left - MARGIN_PT, style) for row in rows]
    extra = line * sum(max(0, len(why) - 1) for why in whys)
    is_near = limit.size <= end
    label = limit.text if is_near else f"{limit.text} →"
    label_pt = _width_pt(label, style)
    at = left + width * min(1, float(limit.size / Fraction(end)))
    label_at = min(at, full - MARGIN_PT - label_pt)
    is_beside = label_at + label_pt + GAP_PT < full - MARGIN_PT - _width_pt(head, style)
    top = line * (1 if is_beside or not head else 2)
    fixed = top + extra + line * (0.4 + len(key_rows) + len(foot))
    row_pt = (style.height_pt - fixed) / len(rows) if style.height_pt else 1.25 * line
    sheet = Sheet(full, fixed + row_pt * len(rows), style)
    height = row_pt * len(rows) + extra
    axes = sheet.axes(left, top, width, height)
    axes.set(xlim=(0, float(end)), ylim=(height, 0))
    sheet.say(full - MARGIN_PT, line / 2, head, NOTE, "right")
    sheet.say(label_at, top - line / 2, label)
    y = 0.0
    for row, why in zip(rows, whys, strict=True):
        deep = row_pt + line * max(0, len(why) - 1)
        middle = y + deep / 2
        sheet.say(left - GAP_PT, top + middle, row.name, COLOURS[row.kind][0], "right")
        for number, text in enumerate(why):
            sheet.say(left, top + middle + line * (number - (len(why) - 1) / 2), text)
        if not why:
            _draw_bar(axes, middle, 0.76 * row_pt, row, end)
            if is_near:
                axes.vlines(float(limit.size), y, y + deep, INK, linewidth=1.5, label=limit.text)
            at = left + width * min(1, float(row.size / Fraction(end))) + GAP_PT / 2
            colour = ALARM if any(part.face == ALARM for part in row.parts) else INK
            place = (full - MARGIN_PT, "right") if head else (at, "left")
            sheet.say(place[0], top + middle, row.value, colour, place[1])
        y += deep
    sheet.below(top + height + 0.9 * line, key_rows, foot)
    return sheet.figure


def _draw_bar(axes: Axes, middle: float, height: float, row: Row, end: Rate) -> None:
    start: Rate = 0
    for part in row.parts:
        (bar,) = axes.barh(middle, float(part.size), height, float(start))
        bar.set(facecolor=part.face, edgecolor=part.edge, hatch=part.hatch)
        bar.set(linewidth=0 if part.edge == "white" else 1, label=f"{row.name}: {part.text}")
        start += part.size
    if start > end:
        for share in (0.955, 0.97):
            aslant = [(share + lean) * float(end) for lean in (0.004, -0.004)]
            axes.plot(aslant, [middle - height / 2, middle + height / 2], "white", linewidth=3)


# ------------------------------------------------ how far from the lower bound


@_in_style
def limits(analysis: Analysis, style: Style) -> Picture:
    """Latency of all inputs against the lower bound: of whole-tensor transfers in parts, of the
    best other plan that sends no more than the pipeline, and of row streaming."""
    results = [analysis.result(name, analysis.inputs) for name in ("tensor", "pipeline")]
    rows = [
        _row("tensor parallelism", "tensor", _tensor_parts(results[0])),
        *_other_plan(analysis, results[1]),
        _row("pipeline parallelism", "pipeline", _pipeline_parts(analysis.losses)),
        _row("tensor, row streaming", "tensor", _streamed_parts("tensor", results[0])),
        _row("pipeline, row streaming", "pipeline", _streamed_parts("pipeline", results[1])),
    ]
    longest = max(row.size for row in rows)
    unit = _unit(SECONDS, longest)
    keys, told = [], []
    rows = [row._replace(value="" if row.why else unit.said(row.size)) for row in rows]
    for row in rows:
        told.append(f"{row.name}: {row.why or row.value}")
        if len(row.parts) > 1:
            parts = [
                part._replace(text=f"{part.text} {unit.text(part.size)}") for part in row.parts
            ]
            keys.append([Mark(f"{row.kind}, {unit.name}:"), *parts])
            told[-1] += f" ({', '.join(part.text for part in parts)})"
    bound = unit.said(analysis.limit_s)
    limit = Mark(f"lower bound {bound}", size=analysis.limit_s)
    figure = _draw_rows(analysis.question, rows, longest, limit, keys, style)
    what = f"Latency of {count(analysis.inputs, 'input')}"
    return Picture(figure, f"{what}. {'; '.join(told)}. The lower bound is {bound}.")


def _tensor_parts(result: Result | Impossible) -> Sequence[Mark] | Impossible:
    if isinstance(result, Impossible):
        return result
    return [
        Mark("computing", COLOURS["tensor"][0], result.inputs * result.compute_s),
        Mark("exchanging", COLOURS["link"][0], result.inputs * result.communication_s),
    ]


def _pipeline_parts(losses: Losses | Impossible) -> Sequence[Mark] | Impossible:
    if isinstance(losses, Impossible):
        return losses
    (dark, light), (black, grey) = COLOURS["pipeline"], COLOURS["link"]
    return [
        Mark("ideal compute", dark, losses.ideal_compute_s),
        Mark("load imbalance", light, losses.load_imbalance_s),
        Mark("waiting for a link", grey, losses.busiest_link_s),
        Mark("fill and drain", "white", losses.fill_and_drain_s, edge=dark),
        Mark("sending", black, losses.sending_s),
    ]


def _streamed_parts(kind: str, result: Result | Impossible) -> Sequence[Mark] | Impossible:
    found = result if isinstance(result, Impossible) else result.streamed
    if isinstance(found, Impossible):
        return found
    return [Mark("latency", COLOURS[kind][0], found.latency_s)]


def _other_plan(analysis: Analysis, pipeline: Result | Impossible) -> list[Row]:
    """The fastest that sends no more than the pipeline, if that is neither strategy."""
    best = analysis.plans.best
    if isinstance(pipeline, Impossible):
        return []
    if isinstance(best, Impossible):
        return [_row("best other plan", "plan", best)]
    found = next(it for it in best if it.traffic_bytes <= pipeline.traffic_bytes)
    name, kind = _name(analysis.question, found.plan), _kind(analysis.question, found.plan)
    return [_row(name, kind, [Mark("latency", COLOURS[kind][0], found.latency_s)])] * (
        kind == "plan"
    )


# ------------------------------------------------ which plan

MOST_POINTS = 1_000  # of more plans only the best are drawn
MOST_NAMES = 10
DEEPEST_PILE, PILE_PT = 4, 2.5
MARKERS = {"tensor": ("s", 7.0), "pipeline": ("D", 7.0), "plan": ("o", 6.0), "other": ("o", 4.5)}
OTHERS = "other plans (piled up where they coincide)"


class Dot(NamedTuple):
    """A plan in the picture."""

    text: str
    name: str
    kind: str
    x: float
    y: float
    fits: bool
    told: str


@_in_style
def plans(analysis: Analysis, style: Style) -> Picture:
    """Latency against traffic of every plan, or of the best where there are too many; the best are
    numbered on the left below, where no other can be."""
    question, best = analysis.question, analysis.plans.best
    notes = [best.reason] if isinstance(best, Impossible) else []
    best = [] if isinstance(best, Impossible) else best
    both = [it for it in analysis.plans.compared.values() if isinstance(it, PlanResult)]
    every = _every_plan(question)
    found = {it.text: it for it in [*both, *best, *every]}
    times = _unit(SECONDS, max(it.latency_s for it in found.values()))
    sizes = _unit(BYTES, max(it.traffic_bytes for it in found.values()), 1)
    dots = {text: _dot(question, it, times, sizes) for text, it in found.items()}
    front, strategies = ([dots[it.text] for it in them] for them in (best, both))
    bound = times.said(analysis.limit_s)
    which = count(len(dots), "plan") if every else f"{len(dots):,} of very many plans"
    fitting = sum(dot.fits for dot in dots.values())
    head = f"{which}; filled: fits in the SRAM ({fitting:,})"

    line, font = style.line_pt, style.font_pt
    names = [head, OTHERS, f"lower bound {bound}", *(f"10 {it.name}" for it in strategies + front)]
    key_pt = _widest(names, style) + 3 * font
    left = _width_pt("100,000", style) + 2 * MARGIN_PT
    full = max(style.width_pt, left + key_pt + LEAST_PT)
    foot = _foot(question, notes, full, style)
    n_names = min(MOST_NAMES, len({*strategies, *front}))
    height = style.height_pt or line * (max(n_names + 4.5, 12) + len(foot))
    sheet = Sheet(full, height, style)
    what = f"latency of {count(analysis.inputs, 'input')}"
    sheet.say(MARGIN_PT, line / 2, f"{what}, {times.name}, against traffic", NOTE)
    axes = sheet.axes(
        left, 1.2 * line, full - left - key_pt - line, height - line * (2.8 + len(foot))
    )
    bound_y = times.of(analysis.limit_s)
    _scale(axes, [*dots.values()], bound_y, sizes.name, 1.6 * font)
    if front:
        axes.step([it.x for it in front], [it.y for it in front], INK, where="pre", label="front")
    axes.axhline(bound_y, color=INK, linestyle="--", label="lower bound")
    for drawn in axes.lines:
        drawn.set(linewidth=1, zorder=1)

    most = min(MOST_NAMES, int(height / line - len(foot) - 4))
    numbered = _numbered(axes, front, strategies, most, font)
    for number, dot in enumerate(numbered, 1):
        away: dict[str, Any] = {"xytext": (-5, -4), "textcoords": "offset points"}
        axes.annotate(f"{number}", (dot.x, dot.y), ha="right", va="top", zorder=1.5, **away)
    named = {dot: f"{number} {dot.name}" for number, dot in enumerate(numbered, 1)}
    named |= {dot: dot.name for dot in strategies if dot not in named}
    others = [dot._replace(kind="other") for dot in dots.values() if dot not in named]
    _draw_dots(axes, [*named, *others])
    if others:
        named[others[0]._replace(fits=False)] = OTHERS
    x, y = full - key_pt, line / 2
    sheet.say(x, y, head)
    for dot, text in named.items():
        y += line
        _draw_dot(sheet.paper, dot._replace(x=x + font, y=y, text="key"))
        sheet.say(x + 2.6 * font, y, text)
    for text, dash in (("Pareto front", "-"), (f"lower bound {bound}", "--")):
        y += line
        sheet.paper.plot([x, x + 2 * font], [y, y], INK, linewidth=1, linestyle=dash)
        sheet.say(x + 2.6 * font, y, text)
    sheet.below(height - line * (len(foot) - 0.5), [], foot)
    told = "; ".join(dot.told for dot in numbered)
    second = f"Pareto-optimal, fastest first: {told}" if told else notes[0]
    alt = f"{what.capitalize()} against traffic: {head}. {second}. The lower bound is {bound}."
    return Picture(sheet.figure, alt)


def _every_plan(question: Question) -> list[PlanResult]:
    """An empty list, where there are more than MOST_POINTS."""
    network, system, inputs = question
    with suppress(ValueError):
        found = planning.every_plan(network, system)
        if len(found) <= MOST_POINTS:
            return [planning.plan_result(network, system, plan, inputs) for plan in found]
    return []


def _dot(question: Question, it: PlanResult, times: Unit, sizes: Unit) -> Dot:
    name, kind = _name(question, it.plan), _kind(question, it.plan)
    x, y = sizes.of(it.traffic_bytes), times.of(it.latency_s)
    told = f"{name} ({times.said(it.latency_s)}, {_own(BYTES, it.traffic_bytes)})"
    return Dot(it.text, name, kind, x, y, it.fits, told)


def _scale(axes: Axes, dots: Sequence[Dot], bound: float, unit: str, room_pt: float) -> None:
    """Axes from 0, with room for numbers left of it; latencies that are far apart are on a
    logarithmic one."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    right, high = max(it.x for it in dots), max(it.y for it in dots)
    is_log = high > 20 * min(it.y for it in dots)
    room = room_pt * axes.figure.dpi / 72
    across, up = (room / (size - 2 * room) for size in (axes.bbox.width, axes.bbox.height))
    axes.set_xlim(-across * (right or 1), (1 + across) * (right or 1))
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.xaxis.set_major_formatter(f"{{x:,g}} {unit}")
    if not right:
        axes.set_xticks([0])
    axes.set_yscale("log" if is_log else "linear")
    beyond = (high / bound) ** up
    axes.set_ylim(*((bound / beyond, high * beyond) if is_log else (0, (1 + up) * high)))
    axes.yaxis.set_major_locator(
        LogLocator(subs=(1, 2, 5) if high < 300 * bound else (1,)) if is_log else MaxNLocator(5)
    )
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.minorticks_off()
    axes.spines[["left", "bottom"]].set_visible(True)


def _numbered(
    axes: Axes, front: Sequence[Dot], strategies: Sequence[Dot], most: int, font_pt: float
) -> list[Dot]:
    """Those of the best plans that have a number: the strategies, and as many others as have a
    name and room for it."""
    most -= len({*strategies} - {*front})
    room = [part * font_pt * axes.figure.dpi / 72 for part in (1.6, 1.2)]
    chosen = {dot: axes.transData.transform((dot.x, dot.y)) for dot in front if dot in strategies}
    for dot in front:
        place = axes.transData.transform((dot.x, dot.y))
        if len(chosen) < most and all(any(abs(place - it) >= room) for it in chosen.values()):
            chosen[dot] = place
    return [dot for dot in front if dot in chosen]


def _draw_dots(axes: Axes, dots: Sequence[Dot]) -> None:
    """Plans too near to one another to be told apart are piled up."""
    piles: dict[tuple[float, float], int] = {}
    for dot in dots:
        x, y = axes.transData.transform((dot.x, dot.y)) * 72 / axes.figure.dpi
        pile = next((it for it in piles if max(abs(it[0] - x), abs(it[1] - y)) < PILE_PT), (x, y))
        piles[pile] = piles.get(pile, -1) + 1
        _draw_dot(axes, dot, min(piles[pile], DEEPEST_PILE))


def _draw_dot(axes: Axes, dot: Dot, below: int = 0) -> None:
    from matplotlib.transforms import ScaledTranslation

    marker, size = MARKERS[dot.kind]
    colour = NOTE if dot.kind == "other" else COLOURS[dot.kind][0]
    inches = below * PILE_PT / 72
    away = ScaledTranslation(inches, inches, axes.figure.dpi_scale_trans)
    (line,) = axes.plot(dot.x, dot.y, marker, color=colour, markersize=size, label=dot.text)
    line.set(markerfacecolor=colour if dot.fits else "white", clip_on=False)
    line.set(zorder=3 - below / 10 - (dot.kind == "other"), transform=axes.transData + away)


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
            rows.append(_row(f"{name}, {use.where}", kind, _held(sizes, limit_bytes), said))
    longest, second, *_ = *sorted({row.size for row in rows}, reverse=True), 0
    end = _axis_end(longest, second, limit_bytes)
    key = [Mark(part, face, hatch=hatch) for part, (face, hatch) in PARTS.items()]
    key += [Mark("more than the SRAM", ALARM)] * (longest > limit_bytes)
    key += [Mark("//: longer than shown")] * (longest > end)
    limit = Mark(f"SRAM of a node: {count(limit_bytes, 'byte')}", size=limit_bytes)
    head = "weights + input + output, bytes"
    figure = _draw_rows(analysis.question, rows, end, limit, [key], style, notes, head)
    held = "; ".join(
        f"{row.name}: {row.why or f'{row.size:,}'}{', too many' * (row.size > limit_bytes)}"
        for row in rows
    )
    what = "Bytes that a node holds when it is fullest, one input at a time"
    return Picture(figure, f"{what}. {held}. The {limit.text.replace(':', ' is')}.")


def _axis_end(longest: Rate, second: Rate, limit: Rate) -> Rate:
    """Where bars end: one that is twice as long as all others is cut, a limit that is beyond shown
    if it is near."""
    rest = max(second, min(limit, longest))
    end = longest if longest <= 2 * rest else Fraction(5, 4) * rest
    return max(end, limit) if limit <= Fraction(3, 2) * end else end


def _held(sizes: Sequence[int], room: int) -> list[Mark]:
    """The parts of a bar, red beyond the SRAM."""
    parts = []
    for (part, (face, hatch)), size in zip(PARTS.items(), sizes, strict=True):
        inside = min(room, size)
        room -= inside
        parts += [
            Mark(part, face, inside, hatch=hatch),
            Mark(part, ALARM, size - inside, hatch=hatch),
        ]
    return parts


# ------------------------------------------------ the command: picture

PICTURES = {"timeline": timeline, "limits": limits, "plans": plans, "sram": sram}


def add_options(parser: ArgumentParser) -> None:
    """Which picture, what if, and where to."""
    parser.add_argument("picture", choices=PICTURES)
    asking.add_options(parser)
    add_plan_option(parser)
    parser.add_argument("--until", metavar="MS", type=_ms, help="where a timeline ends, ms")
    parser.add_argument("--output", metavar="FILE", type=Path, help="FILE.svg or FILE.png")


def _ms(text: str) -> Fraction:
    """So many ms, in seconds."""
    try:
        if len(text) <= asking.MOST_CHARACTERS and Decimal("1e-9") <= Decimal(text) <= 10**12:
            return Fraction(text) / MS
    except InvalidOperation:
        pass
    raise ArgumentTypeError(f"{shown(text)} is not a number of ms from 1e-9 to 1e12, such as 14")


def answer(options: Namespace) -> str:
    """Write the picture. Says what was asked, what is drawn, and where it is."""
    name, question = options.picture, question_of(options)
    output = options.output or Path(f"{name}.svg")
    if output.suffix.lower() not in ENDINGS:
        raise ValueError(f"--output: {shown(str(output))} does not end in {' or '.join(ENDINGS)}")
    drawn: dict[str, Any] = {}
    if name == "timeline":
        asked_for = plans_asked(options.plan, question.network, question.system)
        drawn = {"plans": asked_for or None, "until_s": options.until}
    elif options.plan or options.until:
        option = "--plan" if options.plan else "--until"
        raise ValueError(f"{option}: only a timeline takes it, not {name}")
    picture = PICTURES[name](Analysis(question), **drawn)
    output.write_bytes(image(picture, output.suffix))
    told = filled(picture.alt.replace("µ", "u"))
    return headed(question, f"{told}\n\ndrawn: {output}")
