"""Two kinds of diagram: what the links of a ring carry, and how an input flows through nodes and
layers."""

from __future__ import annotations

from itertools import product
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from report.pictures import COLOURS, INK, PALE, Picture, Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOM = 0.28  # half a cell of a flow is so wide, where the next cell's middle is 1 away


def ring(nodes: int, style: Style) -> Picture:
    """Nodes clockwise from the top left, each with its shard, and beside each one-way link the
    shards that it carries in an all-gather, in order: its sender's own, then what arrives there."""
    from matplotlib.patches import Circle

    height_pt = style.height_pt or style.width_pt
    wide = style.width_pt / height_pt
    figure, axes = _sheet(style.width_pt, height_pt, (-wide, wide), (-1, 1))
    shards = ascii_lowercase[:nodes]
    corner = 0.9 * complex(-1, 1) / 2**0.5
    places = [corner * complex(0, -1) ** (4 * node / nodes) for node in range(nodes)]
    for node, place in enumerate(places):
        end = places[(node + 1) % nodes]
        along, middle = (end - place) / abs(end - place), (place + end) / 2
        tail, tip = place + 0.24 * along, end - 0.24 * along
        _arrow(axes, (tail.real, tail.imag), (tip.real, tip.imag), 0.2)
        carried = ", ".join(shards[node - turn] for turn in range(nodes - 1))
        outside = middle + 0.17j * along
        side = ["right", "center", "left"][1 + round(outside.real / abs(outside))]
        _write(axes, (outside.real, outside.imag), carried, style, ha=side, fontstyle="italic")
        axes.add_patch(Circle((place.real, place.imag), 0.22, color=PALE))
        x, y = place.real, place.imag
        _write(axes, (x + 0.02, y), f"{node + 1}:", style, ha="right")
        _write(axes, (x + 0.06, y), shards[node], style, ha="left", fontstyle="italic")
    links = "one-way links from each to the next, and from the last to the first"
    told = "The link from node 1 carries its own shard first, then those that arrive there."
    return Picture(figure, f"Nodes 1 to {nodes}, each with a shard, and {links}. {told}")


def flow(strategy: str, layers: int, nodes: int, style: Style) -> Picture:
    """A row per node and a column per layer: what a node computes, an arrow per transfer and,
    hollow, where the output is in the end."""
    from matplotlib.patches import Rectangle

    is_split, output = strategy == "tensor", layers + 1
    every = range(1, nodes + 1)
    holders = {layer: every if is_split else [layer] for layer in range(1, output)}
    holders[output] = [1 if is_split else layers]
    height_pt = style.height_pt or style.width_pt
    figure, axes = _sheet(style.width_pt, height_pt, (-0.5, output + 0.5), (nodes + 0.5, -0.5))
    dark = COLOURS[strategy][0]
    names = {1: "layer 1", output: "output"}
    for layer, there in holders.items():
        _write(axes, (layer, 0), names.get(layer, f"{layer}"), style)
        for node in there:
            at, face = (layer - ROOM, node - 0.4), "white" if layer == output else dark
            axes.add_patch(Rectangle(at, 2 * ROOM, 0.8, ec=dark, fc=face))
        for sender, receiver in product(holders.get(layer - 1, []), there):
            if sender != receiver:
                _arrow(axes, (layer - 1 + ROOM, sender), (layer - ROOM, receiver), 0.12)
    for node in every:
        _write(axes, (0.5, node), "node 1" if node == 1 else f"{node}", style, ha="right")
    told = "Each node computes a layer and sends the output to the next; the last output stays."
    if is_split:
        told = (
            "Each node computes a share of every layer's filters and sends its shard to all others"
        )
        told = f"{told}; after the last layer, to node 1 alone."
    return Picture(figure, told)


def _sheet(
    width_pt: float, height_pt: float, x: tuple[float, float], y: tuple[float, float]
) -> tuple[Any, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width_pt / 72, height_pt / 72))
    axes = figure.add_axes((0, 0, 1, 1), xlim=x, ylim=y)
    axes.axis("off")
    return figure, axes


def _arrow(axes: Axes, tail: tuple[float, float], tip: tuple[float, float], head: float) -> None:
    style = f"-|>,head_width={head},head_length={2 * head}"
    looks = {"arrowstyle": style, "color": INK, "shrinkA": 0, "shrinkB": 0, "lw": 4 * head}
    axes.annotate("", tip, tail, arrowprops=looks)


def _write(axes: Axes, at: tuple[float, float], text: str, style: Style, **more: Any) -> None:
    looks = {"size": style.font_pt, "family": style.faces[0], "color": INK, "ha": "center", **more}
    axes.text(*at, text, va="center_baseline", **looks)
