"""The deck's chart of the verdict: the latency of all inputs against the link bandwidth."""

from fractions import Fraction
from typing import TYPE_CHECKING

from report.model import RING, Model
from report.pictures import COLOURS, DOTS, INK, make_axes, write
from report.question import Question
from report.results import list_verdicts
from report.text import GIGA, MS, format_rounded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SLOWEST, FASTEST = 0.01, 4.0  # GB/s
LOWEST, HIGHEST = 50, 1_000  # ms
HEIGHT_PT, LEFT_PT, RIGHT_PT = 100, 38, 395  # the page's words are on the right
ON_RING = "tensor on a ring"
FASTER = [["tensor", "pipeline", "tensor"], ["pipeline", "tensor"]]  # from slow links to fast links


def draw_verdict(question: Question) -> "tuple[Figure, str]":
    """Draw both strategies, and tensor parallelism on a one-way ring. A dot marks where a curve
    meets the pipeline's; a circle marks the lab."""
    slow, fast, ring = map(float, find_flips(question))
    lab = float(question.system.link_bytes_per_s / GIGA)
    title = f"Latency of {question.inputs} inputs, ms, against link bandwidth, GB/s (log-log)"
    figure, axes = make_axes(question, HEIGHT_PT, LEFT_PT, RIGHT_PT, title)
    axes.set(xscale="log", xlim=(SLOWEST, FASTEST), yscale="log", ylim=(LOWEST, HIGHEST))
    axes.set_yticks([100, 200, 500], ["100", "200", "500"])
    labels = [format_rounded(gbs, 3) for gbs in find_flips(question)]
    axes.set_xticks([slow, fast, ring, lab], [*labels, f"{lab:g} (lab)"])
    axes.minorticks_off()
    axes.axvspan(slow, fast, color=COLOURS["pipeline"][1], alpha=0.5, lw=0)
    words = {"color": COLOURS["pipeline"][0], "ha": "center", "va": "bottom", "linespacing": 1}
    write(axes, "pipeline wins\n(all-to-all)", (slow * fast) ** 0.5, LOWEST, 0, 1, **words)
    curve = [SLOWEST * (FASTEST / SLOWEST) ** (dot / DOTS) for dot in range(DOTS + 1)]
    named = (("tensor", "-", 0.5, -12), (ON_RING, "--", 0.1, 10), ("pipeline", "-", 0.65, 12))
    for name, style, label_gbs, up_pt in named:
        colour = COLOURS[name.split()[0]][0]
        latencies_ms = [compute_ms(question, name, gbs) for gbs in curve]
        axes.plot(curve, latencies_ms, label=name, color=colour, ls=style, lw=2.5)
        height_ms = compute_ms(question, name, label_gbs)
        write(axes, name, label_gbs, height_ms, 0, up_pt, color=colour, weight="bold")
    for gbs in (slow, fast, ring, lab):
        ends = LOWEST, compute_ms(question, "pipeline", gbs)
        fill = "white" if gbs == lab else INK
        axes.plot([gbs] * 2, ends, "o:", color=INK, mfc=fill, lw=1, ms=6, markevery=[1])
    return figure, (
        f"{title}: the pipeline is faster from {labels[0]} to {labels[1]}, on a one-way ring below"
        f" {labels[2]}; else tensor parallelism."
    )


def find_flips(question: Question) -> list[Fraction]:
    """Find the link bandwidths in GB/s at which the verdict flips: two all-to-all, one on a ring.
    Raises ValueError if there are other flips."""
    inputs = question.inputs
    verdicts = [verdict for verdict in list_verdicts(question) if verdict.inputs == inputs]
    if [verdict.faster for verdict in verdicts] != FASTER:
        raise ValueError(
            "the deck's page 4 says that the verdict flips twice all-to-all and once on a ring,"
            " which is not so: change report/deck"
        )
    return [equal / GIGA for verdict in verdicts for equal in verdict.equal_bytes_per_s]


def compute_ms(question: Question, name: str, gbs: float) -> float:
    """Compute the latency of all inputs on links of this bandwidth."""
    network, system, inputs = question
    system = system._replace(link_bytes_per_s=gbs * GIGA)
    model = Model(name.split()[0], network, system, inputs, float)
    return MS * float(model.edit(RING if name == ON_RING else "")["latency"])
