"""A computation graph drawn as SVG: columns by depth, values above in green, gradients below in red."""

from __future__ import annotations

from collections import defaultdict
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chainrule.engine.picture import Graph, Node

ACROSS, DOWN, HEIGHT, MARGIN = 60, 26, 58, 16
ARCH = 66  # how high an edge is lifted that goes over other nodes
LETTER = 6.6  # width of a letter, in pixels
FILL = {"module": "#eef2fb", "input": "#fff8e6", "parameter": "#fdeeea", "constant": "#f4f4f4"}


def svg(graph: Graph) -> str:
    """One picture, with a title for readers who cannot see it."""
    at, width, height = places(graph)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
             f'height="{height:.0f}" font-family="sans-serif" font-size="12" role="img">',
             f"<title>A computation graph of {len(graph.nodes)} nodes, with values and gradients</title>",
             f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>']
    for before, after in graph.edges:
        (x, y, wide), (u, v, _) = at[before], at[after]
        start, end, middle = x + wide, u, (x + wide + u) / 2
        y, v = y + HEIGHT / 2, v + HEIGHT / 2
        near, far = (middle, middle) if not skips(graph, before, after) else (start + ACROSS, end - ACROSS)
        lift = ARCH if skips(graph, before, after) else 0
        parts.append(f'<path d="M{start:.1f} {y:.1f}C{near:.1f} {y - lift:.1f} {far:.1f} {v - lift:.1f} '
                     f'{end:.1f} {v:.1f}" fill="none" stroke="#7a8699"/>')
    parts += [_box(node, *at[number]) for number, node in enumerate(graph.nodes)]
    return "\n".join([*parts, "</svg>"]) + "\n"


def places(graph: Graph) -> tuple[list[tuple[float, float, float]], float, float]:
    """Left, top and width of each node, then the size of the whole.

    Within a column nodes are put beside the mean place of what they are made from, so that few edges cross.
    """
    columns: dict[int, list[int]] = defaultdict(list)
    for number, node in enumerate(graph.nodes):
        columns[node.column].append(number)
    uses = defaultdict(list)
    for before, after in graph.edges:
        uses[after].append(before)
    rows: dict[int, float] = {}
    at = [(0.0, 0.0, 0.0)] * len(graph.nodes)
    left, tallest = float(MARGIN), max(map(len, columns.values()))
    top = MARGIN + (ARCH // 2 if any(skips(graph, *edge) for edge in graph.edges) else 0)
    for column in sorted(columns):
        def target(number: int) -> float:
            known = [rows[each] for each in uses[number] if each in rows]
            return sum(known) / len(known) if known else float(number)
        members = sorted(columns[column], key=target)
        wide = max(_width(graph.nodes[number]) for number in members)
        for row, number in enumerate(members):
            rows[number] = row + (tallest - len(members)) / 2
            at[number] = (left, top + rows[number] * (HEIGHT + DOWN), wide)
        left += wide + ACROSS
    return at, left - ACROSS + MARGIN, top + MARGIN + tallest * (HEIGHT + DOWN) - DOWN


def skips(graph: Graph, before: int, after: int) -> bool:
    """Whether an edge passes other columns: it is drawn as an arch."""
    return graph.nodes[after].column - graph.nodes[before].column > 1


def _width(node: Node) -> float:
    return 16 + LETTER * max(len(node.label), len(node.value), len(node.gradient), 6)


def _box(node: Node, x: float, y: float, wide: float) -> str:
    round_ = 4 if node.kind == "module" else 14
    lines = [(node.label, "#1c2733", 34), (node.value, "#0b6e3b", 16)]
    if node.gradient:
        lines.append((node.gradient, "#b3261e", 51))
    texts = "".join(f'<text x="{x + wide / 2:.1f}" y="{y + down:.1f}" text-anchor="middle" fill="{color}">'
                    f"{escape(text)}</text>" for text, color, down in lines)
    return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{HEIGHT}" rx="{round_}" '
            f'fill="{FILL[node.kind]}" stroke="#7a8699"/>{texts}')
