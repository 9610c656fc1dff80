"""The machine: nodes, and an arrow for each one-way link."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import lab3
from report.pictures import INK, PALE, Picture, Style


def machine(topology: str, nodes: int, style: Style) -> Picture:
    """Nodes clockwise from the top left, each with its number; as high as wide."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle

    figure = Figure(figsize=(style.width_pt / 72, style.width_pt / 72))
    axes = figure.add_axes((0, 0, 1, 1), xlim=(-1.1, 1.1), ylim=(-1.1, 1.1))
    axes.axis("off")
    corner = 1.15 * complex(-1, 1) / 2**0.5
    places = [corner * complex(0, -1) ** (4 * node / nodes) for node in range(nodes)]
    is_ring = topology == lab3.RING
    for sender, receiver in permutations(range(nodes), 2):
        if is_ring and receiver != (sender + 1) % nodes:
            continue
        start, end = places[sender], places[receiver]
        along = (end - start) / abs(end - start)
        aside = 0 if is_ring else 0.06j * along  # so that the way back lies beside it
        tail, tip = start + 0.3 * along + aside, end - 0.3 * along + aside
        arrow = {"arrowstyle": "-|>,head_width=0.2", "color": INK, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", (tip.real, tip.imag), (tail.real, tail.imag), arrowprops=arrow)
    for number, place in enumerate(places, 1):
        axes.add_patch(Circle((place.real, place.imag), 0.26, color=PALE))
        looks: dict[str, Any] = {"size": style.font_pt, "family": style.face, "color": INK}
        axes.text(place.real, place.imag, str(number), ha="center", va="center", **looks)
    links = f"a one-way link each way between any two, {nodes * (nodes - 1)} links in all"
    if is_ring:
        links = "one-way links from each to the next, and from the last to the first"
    return Picture(figure, f"Nodes 1 to {nodes} with {links}.")
