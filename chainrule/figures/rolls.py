"""Piano rolls as figures: time from left to right, pitch from below to above, a bar for each note."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chainrule.figures.axes import axis, number
from chainrule.figures.drawing import HEAT, INK, LINE, SOFT, SUNK, WIDTH, Figure, heading, mixed, words
from chainrule.figures.raster import drawn, png_bytes

NAMES = ("C", "C♯", "D", "D♯", "E", "F", "F♯", "G", "G♯", "A", "A♯", "B")
BLACK = (1, 3, 6, 8, 10)  # of the twelve
LEFT, RIGHT, TOP = 44.0, 16.0, 40.0  # pixels around the roll
HIGH = 7.0  # pixels of a key
BEATS = 4  # quarter notes between two lines
CELL = 6  # pixels of a key in a picture, and at least of a step
LOWER = 110.0  # of the curve below a roll
Notes = Sequence[tuple[int, int, int]]  # start, pitch, end


def name_of(pitch: int) -> str:
    """`C4` is middle C, 60."""
    return f"{NAMES[pitch % 12]}{pitch // 12 - 1}"


def shown_range(notes: Notes) -> tuple[int, int]:
    """The pitches that a figure shows: those that sound, two more on either side."""
    pitches = [pitch for _, pitch, _ in notes] or [60]
    return max(0, min(pitches) - 2), min(127, max(pitches) + 2)


def roll_figure(title: str, notes: Notes, steps: int, begun: int = 0, per_quarter: int = 1) -> Figure:
    """A roll by itself; what was given, the first `begun` steps, is shaded."""
    marks, bottom = _roll(notes, steps, begun, per_quarter, None)
    return Figure(title, WIDTH, bottom + 40, heading(title) + marks)


def surprise_figure(title: str, notes: Notes, nats: Sequence[float], per_quarter: int = 1,
                    chances: np.ndarray | None = None) -> Figure:
    """A roll, behind it (T, 88) how likely each key was there, and below it the nats of each step."""
    marks, bottom = _roll(notes, len(nats), 0, per_quarter, chances)
    top = bottom + 46
    y = axis([0.0, *nats], top + LOWER, top)
    points = " ".join(f"{_x(t + 0.5, len(nats)):.1f},{y.at(value):.1f}" for t, value in enumerate(nats))
    mean = float(np.mean(nats)) if len(nats) else 0.0
    curve = [f'<polyline points="{points}" fill="none" stroke="{HEAT}" stroke-width="1.4"/>\n',
             f'<path d="M{LEFT} {y.at(mean):.1f}H{WIDTH - RIGHT}" stroke="{SOFT}" stroke-dasharray="3 3"/>\n',
             words(LEFT, top - 8, f"nats of each step, {mean:.2f} in the mean", size=11, color=SOFT)]
    curve += [words(LEFT - 6, y.at(tick) + 4, number(tick), size=11, anchor="end", color=SOFT) for tick in y.ticks]
    return Figure(title, WIDTH, top + LOWER + 16, heading(title) + marks + "".join(curve))


def _roll(notes: Notes, steps: int, begun: int, per_quarter: int, chances: np.ndarray | None) -> tuple[str, float]:
    """The marks of a roll, and where it ends below."""
    low, high = shown_range(notes)
    bottom, step = TOP + HIGH * (high - low + 1), (WIDTH - LEFT - RIGHT) / max(steps, 1)
    marks = []
    for pitch in range(low, high + 1):
        top = TOP + HIGH * (high - pitch)
        if pitch % 12 in BLACK:
            marks.append(f'<rect x="{LEFT}" y="{top:.1f}" width="{WIDTH - LEFT - RIGHT:.1f}" height="{HIGH}" '
                         f'fill="{SUNK}"/>\n')
        if pitch % 12 == 0:
            marks.append(words(LEFT - 6, top + HIGH, name_of(pitch), size=10, anchor="end", color=SOFT))
    if begun:
        marks.append(f'<rect x="{LEFT}" y="{TOP}" width="{step * begun:.1f}" height="{bottom - TOP:.1f}" '
                     f'fill="{mixed(HEAT, 0.08)}"/>\n')
    if chances is not None:
        marks.append(_behind(chances, low, high))
    marks += [f'<path d="M{_x(t, steps):.1f} {TOP}V{bottom:.1f}" stroke="{LINE}"/>\n'
              for t in range(0, steps + 1, BEATS * per_quarter)]
    bars = [f"M{_x(start, steps) + 0.5:.1f} {TOP + HIGH * (high - pitch) + 1:.1f}h{step * (end - start) - 1:.1f}"
            f"v{HIGH - 2}h-{step * (end - start) - 1:.1f}z" for start, pitch, end in notes]
    marks.append(f'<path d="{"".join(bars)}" fill="{HEAT if chances is None else "none"}" stroke="{INK}" '
                 f'stroke-width="{0 if chances is None else 0.8}"/>\n')
    bars_of = BEATS * per_quarter * max(1, -(-steps // (BEATS * per_quarter * 16)))
    marks += [words(_x(t, steps), bottom + 14, str(t), size=10, anchor="middle", color=SOFT)
              for t in range(0, steps + 1, bars_of)]
    marks.append(words(WIDTH - RIGHT, bottom + 28, "steps", size=11, anchor="end", color=SOFT))
    return "".join(marks), bottom


def _behind(chances_TK: np.ndarray, low: int, high: int) -> str:
    """The probabilities of the keys that are shown: the likelier, the darker; 21 is the lowest key of a piano."""
    shown = np.zeros((high - low + 1, len(chances_TK)))
    for row, pitch in enumerate(range(high, low - 1, -1)):
        if 0 <= pitch - 21 < chances_TK.shape[1]:
            shown[row] = chances_TK[:, pitch - 21]
    color = np.array([int(HEAT[n:n + 2], 16) for n in (1, 3, 5)], np.uint8)
    image = np.concatenate([np.broadcast_to(color, (*shown.shape, 3)),
                            np.round(255 * shown).astype(np.uint8)[..., None]], axis=2)
    return drawn(image, LEFT, TOP, WIDTH - LEFT - RIGHT, HIGH * (high - low + 1))


def roll_picture(notes: Notes, steps: int, begun: int = 0, per_quarter: int = 1) -> bytes:
    """The roll as a PNG file, for which nothing has to be installed."""
    low, high = shown_range(notes)
    wide = max(CELL, -(-600 // max(steps, 1)))
    image = np.full(((high - low + 1) * CELL, max(steps, 1) * wide, 3), 255, np.uint8)
    for pitch in range(low, high + 1):
        if pitch % 12 in BLACK:
            image[(high - pitch) * CELL:(high - pitch + 1) * CELL] = _rgb(SUNK)
    image[:, :begun * wide] = image[:, :begun * wide] * 0.92
    image[:, ::BEATS * per_quarter * wide] = _rgb(LINE)
    for start, pitch, end in notes:
        top = (high - pitch) * CELL
        image[top + 1:top + CELL - 1, start * wide + 1:end * wide - 1] = _rgb(HEAT)
    return png_bytes(image)


def _rgb(color: str) -> list[int]:
    return [int(color[n:n + 2], 16) for n in (1, 3, 5)]


def _x(step: float, steps: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * step / max(steps, 1)
