"""The figure of a picture's decision: what spoke for its label, laid over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chainrule.figures.drawing import LINE, SOFT, WIDTH, Figure, cut, heading, words
from chainrule.figures.raster import drawn, heat

SIDE, GAP = 168, 14  # pixels of a picture's longer side, and between two
PALE = 0.35  # of what lies under a map, so that its colors can be seen


def decision_figure(each: Mapping[str, Any]) -> Figure:
    """The picture, then the same under each map, as many in a row as fit."""
    title = f"{each['file']}: " + ", ".join(f"{own['label']} {own['probability']:.4f}" for own in each["labels"][:3])
    return under_maps(title, np.asarray(each["pixels"], np.uint8), _maps(each))


def under_maps(title: str, picture: np.ndarray, maps: Sequence[tuple[str, np.ndarray]], *, side: int = SIDE,
               most: float | None = None) -> Figure:
    """A picture by itself, then pale under each map, named below it; `most` is opaque, in each its own if None."""
    scale = side / max(picture.shape[:2])
    high, wide = picture.shape[0] * scale, picture.shape[1] * scale
    panels = [("the picture", picture, None), *((name, _pale(picture), values) for name, values in maps)]
    in_row = max(1, int((WIDTH - 32 + GAP) // (wide + GAP)))
    marks = [heading(title)]
    for number, (name, under, values) in enumerate(panels):
        left, top = 16 + (number % in_row) * (wide + GAP), 40 + (number // in_row) * (high + 32)
        marks.append(drawn(under, left, top, wide, high))
        if values is not None:
            marks.append(drawn(heat(values, most), left, top, wide, high))
        marks.append(f'<rect x="{left:.1f}" y="{top:.1f}" width="{wide:.1f}" height="{high:.1f}" fill="none" '
                     f'stroke="{LINE}"/>\n')
        marks.append(words(left + wide / 2, top + high + 15, cut(name, int(wide / 6)), size=11, anchor="middle",
                           color=SOFT))
    return Figure(title, WIDTH, 40 + -(-len(panels) // in_row) * (high + 32), "".join(marks))


def _maps(each: Mapping[str, Any]) -> list[tuple[str, np.ndarray]]:
    found = [("gradient × input", each["gradient_times_input"]), ("lost where covered", each["covered"]),
             *((f"attention, {own['name']}", own["weights"]) for own in each["attention"])]
    return [(name, np.asarray(values, float)) for name, values in found]


def _pale(picture: np.ndarray) -> np.ndarray:
    """Gray, and nearer to white."""
    gray = picture.mean(axis=2, keepdims=True)
    return np.round(255 - PALE * (255 - gray)).astype(np.uint8)
