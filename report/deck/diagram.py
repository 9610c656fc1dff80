"""Two kinds of diagram: the machine's links, and how an input flows through nodes and layers."""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import lab3
from lab3 import Network
from report.pictures import COLOURS, INK, PALE, Picture, Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOM = 0.28  # half a cell of a flow is so wide, where the next cell's middle is 1 away


def machine(topology: str, nodes: int, style: Style) -> Picture:
    """Nodes clockwise from the top left, each with its number; as high as wide."""
    from matplotlib.patches import Circle

    figure, axes = _sheet(style.width_pt, style.width_pt, (-1.1, 1.1), (-1.1, 1.1))
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
        _arrow(axes, (tail.real, tail.imag), (tip.real, tip.imag), 0.2)
    for number, place in enumerate(places, 1):
        axes.add_patch(Circle((place.real, place.imag), 0.26, color=PALE))
        _write(axes, (place.real, place.imag), f"{number}", style)
    links = f"a one-way link each way between any two, {nodes * (nodes - 1)} links in all"
    if is_ring:
        links = "one-way links from each to the next, and from the last to the first"
    return Picture(figure, f"Nodes 1 to {nodes} with {links}.")


def flow(strategy: str, network: Network, nodes: int, style: Style) -> Picture:
    """A row per node and a column per layer: what a node computes, an arrow per transfer, and, hollow,
    where the output is in the end."""
    from matplotlib.patches import Rectangle

    layers = range(1, len(network) + 1)
    every = range(1, nodes + 1)
    holders = {layer: every if strategy == "tensor" else [layer] for layer in layers}
    holders[len(network) + 1] = [1 if strategy == "tensor" else len(network)]
    height_pt = style.height_pt or style.width_pt
    bottom_up = (nodes + 0.5, -0.5)
    figure, axes = _sheet(style.width_pt, height_pt, (-0.5, len(holders) + 0.5), bottom_up)
    dark = COLOURS[strategy][0]
    for layer, there in holders.items():
        is_output = layer not in layers
        for node in there:
            at = (layer - ROOM, node - 0.4)
            axes.add_patch(Rectangle(at, 2 * ROOM, 0.8, ec=dark, fc="white" if is_output else dark))
        name = "output" if is_output else f"layer {layer}" if layer == 1 else f"{layer}"
        _write(axes, (layer, 0), name, style)
        for sender, receiver in product(holders.get(layer - 1, []), there):
            if sender != receiver:
                _arrow(axes, (layer - 1 + ROOM, sender), (layer - ROOM, receiver), 0.12)
    for node in every:
        name = f"node {node}" if node == 1 else f"{node}"
        _write(axes, (0.5, node), name, style, ha="right")
    told = (
        "Each node computes a share of every layer's filters and sends its shard of the output to"
    )
    told += " all others; after the last layer, to node 1 alone."
    if strategy == "pipeline":
        told = (
            "Node 1 computes layer 1, sends its output to node 2 for layer 2, and so on; the last"
        )
        told += " output stays."
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
    looks = {"size": style.font_pt, "family": style.face, "color": INK, "ha": "center", **more}
    axes.text(*at, text, va="center_baseline", **looks)
