"""The deck's pictures as marks: bars, lines, dots and texts at points of a page, for slides.typ.

A picture is drawn from (label, value) pairs or records that analysis computes; colours have names
here and nowhere else, sizes of text are slides.typ's. Every picture carries a text that tells
what it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import log
from typing import Any

from analysis import MB, MS, US, Analysis, grouped
from lab3 import Step

Place = tuple[float, float]
Scale = Callable[[float | Fraction], float]

# After Okabe and Ito, whom colour-blind readers can tell apart, darkened until each is read on
# white, and ink on each of the tints, at 4.5 to 1 or better.
COLOURS = {
    "ink": "#222222",
    "grey": "#595959",
    "line": "#BFBFBF",
    "white": "#FFFFFF",
    "tensor": "#0069A6",
    "pipeline": "#B34700",
    "same": "#00704F",
    "alarm": "#A3001B",
    "fewer": "#7A3E9D",
    "tensor-tint": "#A3CBE5",
    "tensor-light": "#D3E7F4",
    "pipeline-tint": "#F2C3A0",
    "pipeline-light": "#FAE3D3",
    "idle": "#E4E4E4",
    "weights": "#8C8C8C",
    "input": "#BDBDBD",
    "output": "#E4E4E4",
}
ROW_PT = 17
FULL_PT = 770  # between a page's margins
SHOWN_INPUTS = 4  # on the pipeline's timeline
PLANS_PT, KEY_PT = 262, 232  # the height of the space of plans, and where its key begins
LABELS_PT = 78  # left of a timeline's bars


class Picture:
    """Marks in points from the top left corner, drawn in the order in which they are added."""

    def __init__(self, width: float, height: float, alt: str) -> None:
        self.width, self.height, self.alt = width, height, alt
        self.marks: list[dict[str, Any]] = []

    def add(self, mark: str, **values: Any) -> None:
        """Lengths are rounded, so that no platform's logarithm shows."""
        self.marks.append({"mark": mark, **{name: _rounded(it) for name, it in values.items()}})

    def bar(self, x: float, y: float, width: float, height: float, fill: str) -> None:
        """A filled rectangle around the line y, from x on."""
        self.add("bar", x=x, y=y - height / 2, width=width, height=height, fill=fill)

    def line(
        self, points: Iterable[Place], colour: str, width: float = 1, dash: bool = False
    ) -> None:
        """Through the points."""
        self.add("line", points=list(points), colour=colour, width=width, dash=dash)

    def dot(self, x: float, y: float, radius: float, colour: str, filled: bool = True) -> None:
        """Around a point."""
        self.add("dot", x=x, y=y, radius=radius, colour=colour, fill=colour if filled else "white")

    def text(self, x: float, y: float, text: str, colour: str = "ink", align: str = "left") -> None:
        """Left of, right of or around x, on the middle of its height at y."""
        self.add("text", x=x, y=y, text=text, colour=colour, align=align)

    def axis(
        self, y: float, scale: Scale, ticks: Sequence[int], label: str, end: float | Fraction = 0
    ) -> None:
        """A horizontal axis from the first tick to the last or the end, its label on the left."""
        self.line([(scale(ticks[0]), y), (scale(max(ticks[-1], end)), y)], "grey")
        for tick in ticks:
            self.line([(scale(tick), y), (scale(tick), y + 3)], "grey")
            self.text(scale(tick), y + 11, grouped(tick), "grey", "center")
        self.text(0, y + 11, label, "grey")

    def side_axis(
        self, x: float, scale: Scale, ticks: Sequence[int], label: str, end: float | Fraction
    ) -> None:
        """A vertical axis from the first tick to the end, its label at the top left."""
        self.line([(x, scale(ticks[0])), (x, scale(end))], "grey")
        for tick in ticks:
            self.line([(x - 3, scale(tick)), (x, scale(tick))], "grey")
            self.text(x - 7, scale(tick), grouped(tick), "grey", "right")
        self.text(0, 8, label, "grey")

    def key(self, y: float, entries: Iterable[tuple[str, str]]) -> None:
        """A row of names from the left edge, each behind a square in its colour if it has one."""
        self.add("key", y=y, entries=list(entries))


def scale(
    low: float | Fraction, high: float | Fraction, start: float, end: float, of: Any = float
) -> Scale:
    """Return the place between two points on the page of a value between two others."""
    return lambda value: start + (of(value) - of(low)) / (of(high) - of(low)) * (end - start)


def _rounded(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    return round(float(value), 2) if not isinstance(value, bool | str) else value


def draw_all(lab: Analysis) -> dict[str, dict[str, Any]]:
    """Every picture by name."""
    pictures = {
        "latency": latency(lab),
        "all-to-all": machine(lab, ring=False),
        "ring": machine(lab, ring=True),
        "tensor-steps": tensor_steps(lab),
        "tensor-timeline": tensor_timeline(lab),
        "pipeline-timeline": pipeline_timeline(lab),
        "losses": losses(lab),
        "sram": sram(lab),
        "plans": plan_space(lab),
        "links": links(lab),
    }
    return {name: vars(picture) for name, picture in pictures.items()}


# ------------------------------------------------ page 1


def latency(lab: Analysis) -> Picture:
    """Latency per input against the number of inputs."""
    counts = sorted({2**power for power in range(lab.inputs.bit_length())} | {lab.inputs})
    names = {
        "pipeline": "pipeline, whole tensors",
        "streamed": "pipeline, rows streamed",
        "tensor": "tensor parallelism",
    }
    curves = {
        strategy: [lab.latency(strategy, count) * MS / count for count in counts]
        for strategy in names
    }
    told = [
        f"{names[strategy]} {grouped(values[0], 2)} ms for 1 and {grouped(values[-1], 2)} ms for"
        f" {counts[-1]} inputs"
        for strategy, values in curves.items()
    ]
    picture = Picture(390, 216, f"Latency per input: {'; '.join(told)}.")
    slowest = max(map(max, curves.values()))
    x, y = scale(counts[0], counts[-1], 62, 352, of=log), scale(0, slowest, 190, 28)
    picture.axis(190, x, counts, "inputs")
    picture.side_axis(44, y, range(0, int(slowest), 5), "latency per input, ms", slowest)
    for strategy, values in curves.items():
        colour = colour_of(strategy)
        points = [(x(count), y(value)) for count, value in zip(counts, values, strict=True)]
        above = strategy == "pipeline"
        picture.line(points, colour, 1.6, dash=strategy == "streamed")
        for point in points:
            picture.dot(*point, 3, colour, filled=strategy != "pipeline")
        picture.text(
            points[0][0] + 8, points[0][1] + (0 if above else 11), grouped(values[0], 2), colour
        )
        end = points[-1]
        picture.text(end[0] + 7, end[1] + (-6 if above else 6), grouped(values[-1], 2), colour)
        near = points[1]
        name_at = (near[0] + 14, near[1] - 6) if above else (near[0], near[1] + 11)
        picture.text(*name_at, names[strategy], colour)
    return picture


# ------------------------------------------------ pages 2 and 6


def machine(lab: Analysis, ring: bool) -> Picture:
    """Nodes at the corners of a square, clockwise from the top left, and an arrow for each link."""
    corners = [(18, 18), (132, 18), (132, 94), (18, 94)]
    count = len(corners)
    kind = "a ring of one-way links" if ring else "one-way links both ways between all pairs"
    picture = Picture(150, 112, f"{count} nodes joined by {kind}.")
    places = [complex(*corner) for corner in corners]
    for sender, start in enumerate(places):
        for receiver, end in enumerate(places):
            if receiver == sender or (ring and receiver != (sender + 1) % count):
                continue
            along = (end - start) / abs(end - start)
            side = along * (0 if ring else 3.5j)  # so that the way back lies beside it
            tail, tip = start + 20 * along + side, end - 20 * along + side
            head = [tip, tip - along * (7 + 2.6j), tip - along * (7 - 2.6j)]
            picture.line([(tail.real, tail.imag), (tip.real, tip.imag)], "ink")
            picture.add("area", points=[(it.real, it.imag) for it in head], fill="ink")
    for number, (x, y) in enumerate(corners, 1):
        picture.add("dot", x=x, y=y, radius=17, colour="ink", fill="idle")
        picture.text(x, y, str(number), align="center")
    return picture


# ------------------------------------------------ pages 3 and 4


def tensor_steps(lab: Analysis) -> Picture:
    """One input on nodes and links; a bar on the links is as high as there are links at work."""
    steps = lab.steps("tensor")
    us = {step: f"{grouped(lab.seconds(step) * US, 1)} µs" for step in steps}
    told = (f"{step.work} of layer {step.layer} {us[step]}" for step in steps)
    picture = Picture(FULL_PT, 84, f"One input, step by step: {', '.join(told)}.")
    total = lab.latency("tensor") * US
    x = scale(0, total, LABELS_PT, FULL_PT)
    picture.text(0, 28, f"nodes 1 to {lab.system.nodes}")
    picture.text(0, 52, "links")
    for step, start, end in in_turn(lab, steps, US):
        left, right = x(start), x(end)
        if step.work == "compute":
            picture.bar(left, 28, right - left, ROW_PT, "tensor-tint")
            if right - left > 60:
                picture.text((left + right) / 2, 28, f"layer {step.layer}", align="center")
            else:
                picture.text(left, 10, f"layer {step.layer}")
            continue
        at_work = links_at_work(lab, step)
        picture.bar(left, 52, right - left, ROW_PT * at_work / lab.links, "ink")
        name = f"{step.work} on {at_work} links, {us[step]}"
        if step == steps[-1]:
            picture.text(left - 4, 52, name, align="right")
        else:
            picture.text(right + 4, 52, name if step.layer == 1 else us[step])
    picture.axis(66, x, range(0, int(total), 500), "1 input, µs", total)
    return picture


def tensor_timeline(lab: Analysis) -> Picture:
    """As many inputs as are done in the time of pipeline_timeline."""
    shown_ms, one_ms = lab.latency("pipeline", SHOWN_INPUTS) * MS, lab.latency("tensor") * MS
    count = int(shown_ms / one_ms)
    picture = Picture(
        FULL_PT,
        88,
        f"{count} inputs, one after the other, the last output at {grouped(count * one_ms, 2)} ms;"
        f" the pipeline's {SHOWN_INPUTS} inputs on the next page take {grouped(shown_ms, 2)} ms.",
    )
    x = timeline_scale(lab)
    picture.text(0, 30, f"nodes 1 to {lab.system.nodes}")
    picture.text(0, 54, "links")
    for number in range(count):
        fill = "tensor-light" if number % 2 else "tensor-tint"
        for step, start, end in in_turn(lab, lab.steps("tensor"), MS):
            left, width = x(number * one_ms + start), x(end) - x(start)
            if step.work == "compute":
                picture.bar(left, 30, width, ROW_PT, fill)
            else:
                height = ROW_PT * links_at_work(lab, step) / lab.links
                picture.bar(left, 54, width, height, "ink")
        picture.text(
            x((number + Fraction(1, 2)) * one_ms), 12, f"input {number + 1}", align="center"
        )
    picture.axis(68, x, range(0, int(shown_ms) + 1, 5), f"{count} inputs, ms", shown_ms)
    return picture


def pipeline_timeline(lab: Analysis) -> Picture:
    """Input i sets out i - 1 intervals after the first and never waits."""
    interval_ms, one_ms = lab.seconds(lab.slowest) * MS, lab.latency("pipeline") * MS
    ends = [grouped(one_ms + number * interval_ms, 2) for number in range(SHOWN_INPUTS)]
    picture = Picture(
        FULL_PT,
        156,
        f"{SHOWN_INPUTS} inputs pass nodes 1 to {lab.system.nodes} one behind the other; outputs at"
        f" {', '.join(ends)} ms. Only node {lab.slowest.layer} is busy without a pause.",
    )
    x = timeline_scale(lab)
    for step, start, end in in_turn(lab, lab.steps("pipeline"), MS):
        is_compute, row = step.work == "compute", 10 + 32 * (step.layer - 1)
        if is_compute:
            picture.text(0, row, f"node {step.layer}")
        for number in range(SHOWN_INPUTS):
            left, width = x(start + number * interval_ms), x(end) - x(start)
            if not is_compute:
                picture.bar(left, row + 16, width, 11, "ink")
                continue
            fill = "pipeline-light" if number % 2 else "pipeline-tint"
            picture.bar(left, row, width, ROW_PT, fill)
            if width > 40:
                picture.text(left + width / 2, row, f"input {number + 1}", align="center")
            if step.layer == lab.system.nodes:
                picture.text(left + width, row + 17, f"out at {ends[number]}", align="right")
    shown_ms = lab.latency("pipeline", SHOWN_INPUTS) * MS
    ticks = range(0, int(shown_ms) + 1, 5)
    picture.axis(138, x, ticks, f"{SHOWN_INPUTS} inputs, ms", shown_ms)
    return picture


def losses(lab: Analysis) -> Picture:
    """What the pipeline's latency of all inputs is made of."""
    parts = [(f"{name} {grouped(seconds * MS, 2)} ms", seconds) for name, seconds in lab.losses()]
    picture = Picture(FULL_PT, 42, f"The latency's parts: {', '.join(name for name, _ in parts)}.")
    x = scale(0, sum(seconds for _, seconds in parts), 0, FULL_PT)
    fills = ("pipeline-tint", "idle", "weights", "ink")
    start = Fraction(0)
    for (_, seconds), fill in zip(parts, fills, strict=True):
        picture.bar(x(start), 10, x(start + seconds) - x(start), ROW_PT, fill)
        start += seconds
    entries = zip((name for name, _ in parts), fills, strict=True)
    picture.key(32, [(f"latency of {lab.inputs} inputs:", ""), *entries])
    return picture


def in_turn(
    lab: Analysis, steps: Iterable[Step], unit: int
) -> Iterator[tuple[Step, Fraction, Fraction]]:
    """Each step with its start and end."""
    end = Fraction(0)
    for step in steps:
        start, end = end, end + lab.seconds(step) * unit
        yield step, start, end


def links_at_work(lab: Analysis, step: Step) -> int:
    """All in an all-gather, one from each peer in a gather."""
    return lab.links if step.work == "all-gather" else lab.system.nodes - 1


def timeline_scale(lab: Analysis) -> Scale:
    """The same milliseconds for both strategies: until the pipeline's last input drawn is out."""
    return scale(0, lab.latency("pipeline", SHOWN_INPUTS) * MS, LABELS_PT, FULL_PT)


# ------------------------------------------------ page 5


def sram(lab: Analysis) -> Picture:
    """What a node holds, against what it can."""
    needs, limit = lab.needs(), lab.system.sram_bytes
    told = [f"{it.strategy}, {it.node}: {grouped(it.use.total_bytes)}" for it in needs]
    picture = Picture(
        375, 190, f"Bytes that a node must hold, of {grouped(limit)}: {'; '.join(told)}."
    )
    x = scale(0, max(it.use.total_bytes for it in needs), 108, 315)
    parts = ("weights", "input", "output")
    picture.key(8, [*zip(parts, parts, strict=True), ("too much", "alarm")])
    picture.text(x(limit) + 5, 30, f"SRAM of a node, {grouped(limit)} bytes")
    row = 32.0
    for before, need in zip([None, *needs], needs, strict=False):
        row += 17 if before and before.strategy == need.strategy else 20
        total = need.use.total_bytes
        picture.text(0, row, f"{need.strategy}, {need.node}", colour_of(need.strategy))
        left = x(0)
        for part, bytes_ in zip(parts, need.use[2:], strict=True):
            picture.bar(left, row, x(bytes_) - x(0), 13, part)
            left += x(bytes_) - x(0)
        at_least = "at least " if need.strategy == "streamed" else ""
        colour = "ink" if total <= limit else "alarm"
        picture.text(375, row, at_least + grouped(total), colour, "right")
    picture.line([(x(limit), 24), (x(limit), row + 9)], "ink", 1.2)
    return picture


def colour_of(strategy: str) -> str:
    """Rows streamed are a pipeline, too, and data parallelism has none of its own."""
    return {"streamed": "pipeline", "data": "ink"}.get(strategy, strategy)


def plan_space(lab: Analysis) -> Picture:
    """Latency against traffic of every plan."""
    named = {
        lab.tensor_point: ("tensor", "tensor, "),
        lab.pipeline_point: ("pipeline", "pipeline, "),
        lab.beating(lab.system.nodes - 1): ("fewer", ""),
        lab.beating(lab.system.nodes): ("same", ""),
    }
    best, limit = lab.best_points, lab.system.sram_bytes
    picture = Picture(
        375,
        PLANS_PT,
        f"Latency against traffic of {len(lab.points)} plans for {lab.inputs} inputs. No plan beats"
        f" these in both: {'; '.join(it.name for it in best)}. Within the SRAM:"
        f" {'; '.join(it.name for it in lab.points if it.sram_bytes <= limit)}.",
    )
    slowest = max(it.latency_s for it in lab.points) * MS
    most = max(it.traffic_bytes for it in lab.points) / MB
    x, y = scale(0, most, 78, 369), scale(0, slowest, PLANS_PT - 20, 26)
    places = {it: (x(it.traffic_bytes / MB), y(it.latency_s * MS)) for it in lab.points}
    picture.axis(y(0), x, range(0, int(most), 20), "traffic, MB", most)
    label = f"latency of {lab.inputs} inputs, ms"
    picture.side_axis(70, y, range(0, int(slowest), 100), label, slowest)
    front = [places[it] for it in best]
    corners = [(after[0], at[1]) for at, after in pairwise(front)]
    picture.line([*sum(zip(front, corners, strict=False), ()), front[-1]], "grey", 1.2)
    picture.text(front[1][0] + 6, front[0][1] + 11, "no plan is better in both", "grey")
    for it in sorted(lab.points, key=lambda it: it in named):
        colour, _ = named.get(it, ("ink", ""))
        picture.dot(*places[it], 4 if it in named else 3, colour, it.sram_bytes <= limit)
    for number, (it, (colour, name)) in enumerate(named.items()):
        row = 24 + 17 * number
        picture.dot(KEY_PT, row, 4, colour, it.sram_bytes <= limit)
        picture.text(KEY_PT + 10, row, name + it.name, colour)
        picture.text(375, row, grouped(it.latency_s * MS, 2), colour, "right")
    for row, text, fits in ((102, "fits the SRAM", True), (119, "does not fit", False)):
        picture.dot(KEY_PT, row, 3, "ink", fits)
        picture.text(KEY_PT + 10, row, text)
    return picture


# ------------------------------------------------ page 6


def links(lab: Analysis) -> Picture:
    """The links on which a pipeline is faster."""
    rows = lab.link_rows
    link_mb = lab.system.link_bytes_per_s / MB
    most_mb = 1.3 * link_mb
    names = [
        f"whole tensors, {rows[0][1]} inputs or fewer",
        f"whole tensors, {rows[1][1]} inputs",
        "rows streamed, 1 input",
        f"rows streamed, {rows[3][1]} inputs",
    ]
    wins = [f"{bounds[0]} to {bounds[1]}" if bounds else "never" for *_, bounds in rows]
    told = "; ".join(f"{name}: {win}" for name, win in zip(names, wins, strict=True))
    picture = Picture(375, 116, f"MB/s of a link at which a pipeline is faster: {told}.")
    x = scale(10, most_mb, 200, 375, of=log)
    picture.text(0, 8, "all-to-all links on which a pipeline wins, MB/s", "grey")
    for number, (name, win, (*_, bounds)) in enumerate(zip(names, wins, rows, strict=True)):
        row = 29 + 18 * number
        picture.text(0, row, name)
        if bounds:
            picture.bar(x(bounds[0]), row, x(bounds[1]) - x(bounds[0]), 12, "pipeline-tint")
        picture.text(x(bounds[1]) + 5 if bounds else x(10), row, win, "pipeline")
    picture.line([(x(link_mb), 20), (x(link_mb), 98)], "ink", 1, dash=True)
    picture.text(x(link_mb) - 5, 29, f"here {grouped(link_mb)}", align="right")
    picture.axis(98, x, (10, 30, 100, 300, 1000), "", most_mb)
    return picture
