"""Matrices as colors: one with its rows named, or many small ones beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chainrule.figures.drawing import ABOVE, BELOW, HEAT, LINE, SOFT, WIDTH, Figure, cut, heading, mixed, words

Matrix = Sequence[Sequence[float | None]]
NAMED = 40  # more rows than this are not named
ROOM = 100  # pixels for the names of rows


def heat_map(title: str, values: Matrix, names: Sequence[str] = (), *, most: float = 1.0, diverging: bool = False,
             numbers: bool = False) -> Figure:
    """Rows from top to bottom; `most` is drawn darkest, with `diverging` also −`most` in another color."""
    names = names if len(names) <= NAMED else ()
    left, count = (ROOM + 16 if names else 16), max(len(values), 1)
    cell = max(2.0, min(44.0 if numbers else 22.0, (WIDTH - left - 16) / count, 560 / count))
    top = 36 + (70 if names else 0)
    marks = [heading(title), _cells(values, left, top, cell, most, diverging)]
    for n, name in enumerate(names):
        middle = cell * (n + 0.5)
        marks.append(words(left - 6, top + middle + 4, cut(name, 16), size=11, anchor="end", color=SOFT))
        marks.append(words(0, 0, cut(name, 11), size=11, color=SOFT,
                           more=f' transform="translate({left + middle + 4:.1f} {top - 6}) rotate(-90)"'))
    if numbers and cell >= 30:
        marks += [words(left + cell * (c + 0.5), top + cell * (r + 0.5) + 4, f"{value:.2f}", size=10, anchor="middle",
                        color="#ffffff" if abs(value) > 0.6 * most else SOFT)
                  for r, row in enumerate(values) for c, value in enumerate(row) if value is not None]
    return Figure(title, WIDTH, top + cell * count + 16, "".join(marks))


def grid_map(title: str, values: Matrix, rows: Sequence[str], columns: Sequence[str], *, most: float = 1.0) -> Figure:
    """A map whose rows and columns have names of their own: what looked at what."""
    cell = max(6.0, min(28.0, (WIDTH - ROOM - 32) / max(len(columns), 1)))
    left, top = ROOM + 16, 36 + 84
    marks = [heading(title), _cells(values, left, top, cell, most, False)]
    for n, name in enumerate(rows):
        marks.append(words(left - 6, top + cell * (n + 0.5) + 4, cut(name, 16), size=11, anchor="end", color=SOFT))
    for n, name in enumerate(columns):
        across = left + cell * (n + 0.5) + 4
        marks.append(words(0, 0, cut(name, 13), size=11, color=SOFT,
                           more=f' transform="translate({across:.1f} {top - 6}) rotate(-90)"'))
    return Figure(title, max(WIDTH, left + cell * len(columns) + 16), top + cell * len(rows) + 16, "".join(marks))


def small_maps(title: str, rows: Mapping[str, Mapping[str, tuple[Matrix, float]]], *, diverging: bool = False
               ) -> Figure:
    """A row of small maps for each name; each map has its own darkest value."""
    columns = max((len(each) for each in rows.values()), default=1)
    size = max(48.0, min(108.0, (WIDTH - ROOM - 24) / columns - 10))
    wide = max(WIDTH, ROOM + 24 + columns * (size + 10))
    marks, down = [heading(title)], 40.0
    for name, maps in rows.items():
        marks.append(words(ROOM + 4, down + size / 2 + 4, cut(name, 17), size=11, anchor="end", color=SOFT))
        for n, (short, (values, most)) in enumerate(maps.items()):
            left = ROOM + 14 + n * (size + 10)
            marks.append(_cells(values, left, down, size / max(len(values), 1), most, diverging))
            marks.append(words(left + size / 2, down + size + 13, short, size=10, anchor="middle", color=SOFT))
        down += size + 26
    return Figure(title, wide, down, "".join(marks))


def _cells(values: Matrix, left: float, top: float, cell: float, most: float, diverging: bool) -> str:
    """Cells of one color are one path: a map of a long text stays small."""
    runs: dict[str, list[str]] = {}
    for r, row in enumerate(values):
        for c, value in enumerate(row):
            if value is None:
                continue
            share = round(value / (most or 1.0), 2)
            color = mixed(HEAT, share) if not diverging else mixed(ABOVE if share > 0 else BELOW, abs(share))
            if color != "#ffffff":
                runs.setdefault(color, []).append(f"M{left + c * cell:.1f} {top + r * cell:.1f}h{cell:.1f}v{cell:.1f}"
                                                  f"h-{cell:.1f}z")
    edge = cell * len(values)
    drawn = "".join(f'<path d="{"".join(path)}" fill="{color}"/>\n' for color, path in runs.items())
    return (f'<g shape-rendering="crispEdges">\n{drawn}</g>\n<rect x="{left:.1f}" y="{top:.1f}" width="{edge:.1f}" '
            f'height="{edge:.1f}" fill="none" stroke="{LINE}"/>\n')
