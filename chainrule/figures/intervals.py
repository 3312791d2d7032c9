"""Numbers with their intervals on one axis, which is cut where a far value would flatten all others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chainrule.figures.axes import axis
from chainrule.figures.drawing import INK, LINE, SOFT, WIDTH, Figure, cut_inside, heading, words

ROW, NAMES, ROOM, TOP = 26, 252, 150, 40  # pixels: of a row, of its name at the left and of its numbers at the right
FAR = 0.6  # spans of all others: a value that lies further from them is beyond the cut


@dataclass(frozen=True)
class Measured:
    """A number with its interval, if there is one; with `aside` it never widens the axis."""

    name: str
    value: float
    low: float | None
    high: float | None
    color: str
    aside: bool = False


def shown_range(rows: Sequence[Measured]) -> tuple[float, float]:
    """From the lowest to the highest end of what is shown; rows `aside` that lie far off are cut.

    Far is more than FAR times the span of the others: then their intervals would become dots.
    """
    near = [each for each in rows if not each.aside] or list(rows)
    ends = [end for each in near for end in (each.value, each.low, each.high) if end is not None]
    low, high = min(ends), max(ends)
    span = (high - low) or abs(high) * 0.1 or 1.0
    beside = [each.value for each in rows if each.aside and low - FAR * span <= each.value <= high + FAR * span]
    return min([low, *beside]), max([high, *beside])


def intervals(title: str, unit: str, rows: Sequence[Measured]) -> Figure:
    """A dot and a line for each row; what lies beyond the cut is an arrow with its number, and a line says so."""
    low, high = shown_range(rows)
    across = axis([low, high], NAMES + 8, WIDTH - ROOM - 8)
    bottom = TOP + ROW * len(rows)
    marks = [heading(title)]
    for tick in across.ticks:
        marks.append(f'<path d="M{across.at(tick):.1f} {TOP - 6}V{bottom}" stroke="{LINE}"/>\n')
        marks.append(words(across.at(tick), bottom + 16, f"{tick:.4g}", anchor="middle", color=SOFT))
    for n, row in enumerate(rows):
        marks.append(_row(row, TOP + ROW * n + ROW / 2, across.at, low, high))
    marks.append(words((NAMES + WIDTH - ROOM) / 2, bottom + 34, unit, anchor="middle", color=SOFT))
    beyond = [row.name for row in rows if not low <= row.value <= high]
    if beyond:
        marks.append(words(16, bottom + 54, f"The axis is cut: {', '.join(beyond)} "
                                            f"{'lies' if len(beyond) == 1 else 'lie'} beyond it, at the arrow.",
                           color=SOFT))
    return Figure(title, WIDTH, bottom + (64 if beyond else 46), "".join(marks))


def _row(row: Measured, y: float, at: Callable[[float], float], low: float, high: float) -> str:
    inside = low <= row.value <= high
    x = at(min(max(row.value, low), high))
    marks = [words(NAMES - 12, y + 4, cut_inside(row.name, 33), anchor="end")]
    if inside and row.low is not None and row.high is not None:
        marks.append(f'<path d="M{at(max(row.low, low)):.1f} {y}H{at(min(row.high, high)):.1f}" stroke="{row.color}" '
                     'stroke-width="2"/>\n')
    way = math.copysign(1, row.value - high) if not inside else 0
    marks.append(f'<circle cx="{x:.1f}" cy="{y}" r="4" fill="{row.color}"/>\n' if inside else
                 f'<path d="M{x - 6 * way:.1f} {y - 5}l{8 * way:.0f} 5l{-8 * way:.0f} 5z" fill="{row.color}"/>\n')
    spread = "" if row.low is None or row.high is None else f" [{row.low:.3f}, {row.high:.3f}]"
    return "".join(marks) + words(WIDTH - ROOM + 14, y + 4, f"{row.value:.3f}{spread}", size=11, color=INK)
