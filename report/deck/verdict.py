"""The deck's chart of the verdict: the time of all inputs against the link bandwidth."""

from itertools import chain
from typing import TYPE_CHECKING

from report.model import RING, Model
from report.pictures import COLOURS, DOTS, INK, make_axes, write
from report.question import Question
from report.results import list_verdicts
from report.text import GIGA, MS, format_rounded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SLOWEST, FASTEST = 0.01, 4.0  # GB/s
LOWEST, HIGHEST = 65, 1_000  # ms
HEIGHT_PT, LEFT_PT, RIGHT_PT = 122, 38, 340  # on the right is room for the page's words
ON_RING = "tensor on a ring"


def draw_verdict(question: Question) -> "tuple[Figure, str]":
    """Draw both strategies, and tensor parallelism on a one-way ring; mark the lab, and where a
    curve meets the pipeline's."""
    inputs, lab_gbs = question.inputs, float(question.system.link_bytes_per_s / GIGA)
    equal = [it.equal_bytes_per_s for it in list_verdicts(question) if it.inputs == inputs]
    flips = {float(it / GIGA): format_rounded(it / GIGA, 3) for it in chain(*equal)}
    title = "Time in ms against link GB/s (log)"
    figure, axes = make_axes(question, HEIGHT_PT, LEFT_PT, RIGHT_PT, title)
    axes.set(xscale="log", xlim=(SLOWEST, FASTEST), yscale="log", ylim=(LOWEST, HIGHEST))
    axes.set_yticks([100, 200, 500], ["100", "200", "500"])
    axes.set_xticks([*flips, lab_gbs], [*flips.values(), f"{lab_gbs:g} GB/s (lab)"])
    axes.minorticks_off()
    slow, fast, ring = flips
    axes.axvspan(slow, fast, color=COLOURS["pipeline"][1], alpha=0.5, lw=0)
    words = {"color": COLOURS["pipeline"][0], "ha": "center"}
    write(axes, "pipeline wins", (slow * fast) ** 0.5, LOWEST, 0, 12, **words)
    curve = [SLOWEST * (FASTEST / SLOWEST) ** (dot / DOTS) for dot in range(DOTS + 1)]
    named = (("tensor", "-", 0.5, -12), (ON_RING, "--", 0.1, 10), ("pipeline", "-", 0.5, 12))
    for name, style, at_gbs, up_pt in named:
        ms, colour = [take_ms(question, name, gbs) for gbs in curve], COLOURS[name.split()[0]][0]
        axes.plot(curve, ms, label=name, color=colour, ls=style, lw=2.5)
        height = take_ms(question, name, at_gbs)
        write(axes, name, at_gbs, height, 0, up_pt, color=colour, weight="bold")
    for gbs in [*flips, lab_gbs]:
        ends = LOWEST, take_ms(question, "pipeline", gbs)
        axes.plot([gbs] * 2, ends, "o:", color=INK, lw=1, ms=6, markevery=[1])
    return figure, (
        f"{title}, of {inputs} inputs: the pipeline is faster from {flips[slow]} to"
        f" {flips[fast]}, on a one-way ring below {flips[ring]}; else tensor parallelism."
    )


def take_ms(question: Question, name: str, gbs: float) -> float:
    """Compute how long all inputs take with other links."""
    network, system, inputs = question
    system = system._replace(link_bytes_per_s=gbs * GIGA)
    model = Model(name.split()[0], network, system, inputs, float)
    return MS * float(model.edit(RING if name == ON_RING else "")["latency"])
