"""Points with names on a plane, as many names as find room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainrule.figures.drawing import INK, MUTE, SERIES, SOFT, WIDTH, Figure, cut, heading, words

HEIGHT, MARGIN, FONT = 620, 40, 11  # pixels


@dataclass(frozen=True)
class Points:
    """Places with their names; `groups` are numbers of `legend`, −1 for none; `first` are named before others."""

    places: Sequence[Sequence[float]]
    names: Sequence[str]
    groups: Sequence[int] = ()
    legend: Sequence[str] = ()
    first: Sequence[int] = ()
    strong: Sequence[int] = ()


def scatter(title: str, caption: str, points: Points) -> Figure:
    """Both axes have the same scale: distances are distances."""
    top = 58 + 17 * len(points.legend)
    spots = _spots(points.places, top)
    marks = [heading(title), words(16, 40, cut(caption, 125), color=SOFT, size=11)]
    for n, name in enumerate(points.legend):
        marks.append(f'<circle cx="22" cy="{54 + 17 * n}" r="4.5" fill="{SERIES[n % len(SERIES)]}"/>\n'
                     + words(34, 58 + 17 * n, cut(name, 110), size=11))
    colors = [MUTE if not points.groups or points.groups[n] < 0 else SERIES[points.groups[n] % len(SERIES)]
              for n in range(len(spots))]
    strong = set(points.strong)
    for n, (x, y) in enumerate(spots):
        marks.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{4 if n in strong else 2}" fill="{colors[n]}"/>\n')
    return Figure(title, WIDTH, top + HEIGHT, "".join([*marks, *_names(points, spots, strong)]))


def _spots(places: Sequence[Sequence[float]], top: float) -> list[tuple[float, float]]:
    xs, ys = [each[0] for each in places], [each[1] for each in places]
    spans = (max(xs) - min(xs)) or 1.0, (max(ys) - min(ys)) or 1.0
    k = min((WIDTH - 2 * MARGIN - 60) / spans[0], (HEIGHT - 2 * MARGIN) / spans[1])  # names stand at the right
    left = (WIDTH - 60 - k * spans[0]) / 2
    down = top + (HEIGHT - k * spans[1]) / 2
    return [(left + k * (x - min(xs)), down + k * (max(ys) - y)) for x, y in zip(xs, ys, strict=True)]


def _names(points: Points, spots: Sequence[tuple[float, float]], strong: set[int]) -> list[str]:
    """In the order of importance; a name that would cover another is left out."""
    taken: set[tuple[int, int]] = set()
    drawn = []
    for n in dict.fromkeys([*points.strong, *points.first, *range(len(spots))]):
        x, y = spots[n][0] + 6, spots[n][1] + 4
        wide = len(points.names[n]) * FONT * 0.62
        cells = {(row, column) for row in range(int((y - FONT) // FONT), int(y // FONT) + 1)
                 for column in range(int(x // FONT), int((x + wide) // FONT) + 1)}
        if x + wide > WIDTH or cells & taken:
            continue
        taken |= cells
        drawn.append(words(x, y, points.names[n], size=FONT, color=INK if n in strong else SOFT,
                           more=' font-weight="600"' if n in strong else ""))
    return drawn
