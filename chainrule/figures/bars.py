"""Bars: lying ones with a name and a number each, or groups of upright ones beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chainrule.figures.axes import axis, can_be_shown, number
from chainrule.figures.drawing import LINE, SERIES, SOFT, WIDTH, Figure, cut, cut_inside, heading, words
from chainrule.figures.lines import BOTTOM, HEIGHT, LEFT, LONGEST_NAME, RIGHT, TOP

ROW, NAMES, ROOM = 26, 230, 90  # pixels: of a lying bar, of its name at the left and of its number at the right


def lying_bars(title: str, unit: str, values: Mapping[str, float], *, log: bool = False,
               looks: Mapping[str, int] | None = None) -> Figure:
    """A bar for each name; on a logarithmic axis they begin at a power of ten below the smallest."""
    across = axis([*values.values(), *([] if log else [0.0])], NAMES, WIDTH - ROOM, log=log)
    bottom = TOP + 8 + ROW * len(values)
    marks = [heading(title)]
    for tick in across.ticks:
        marks.append(f'<path d="M{across.at(tick):.1f} {TOP}V{bottom}" stroke="{LINE}"/>\n')
        marks.append(words(across.at(tick), bottom + 16, number(tick), anchor="middle", color=SOFT))
    for n, (name, value) in enumerate(values.items()):
        y = TOP + 6 + ROW * n
        marks.append(words(NAMES - 8, y + 14, cut_inside(name, 34), anchor="end"))
        shown = can_be_shown(value, log)
        end = across.at(value) if shown else across.begin
        marks.append(f'<rect x="{NAMES}" y="{y}" width="{max(1.0, end - NAMES):.1f}" height="{ROW - 8}" '
                     f'fill="{SERIES[(looks or {}).get(name, n) % len(SERIES)]}"/>\n')
        marks.append(words(end + 6, y + 14, f"{value:.3g}"))
    marks.append(words((NAMES + WIDTH - ROOM) / 2, bottom + 34, unit, anchor="middle", color=SOFT))
    return Figure(title, WIDTH, bottom + 46, "".join(marks))


def grouped_bars(title: str, labels: Sequence[str], series: Mapping[str, Sequence[float | None]], *, x_label: str,
                 y_label: str, below: Sequence[str] = ()) -> Figure:
    """A group for each label, in it a bar for each series; `below` is a second line under each label."""
    right, bottom = (WIDTH - RIGHT if len(series) > 1 else WIDTH - 20), HEIGHT - BOTTOM - (14 if below else 0)
    up = axis([0.0, *(v for own in series.values() for v in own if v is not None)], bottom, TOP)
    step = (right - LEFT) / max(len(labels), 1)
    wide = 0.76 * step / max(len(series), 1)
    marks = [heading(title, left=LEFT)]
    for tick in up.ticks:
        marks.append(f'<path d="M{LEFT} {up.at(tick):.1f}H{right}" stroke="{LINE}"/>\n')
        marks.append(words(LEFT - 7, up.at(tick) + 4, number(tick), anchor="end"))
    for s, (name, own) in enumerate(series.items()):
        color = SERIES[s % len(SERIES)]
        for n, value in enumerate(own):
            if value is not None and can_be_shown(value):
                x = LEFT + step * (n + 0.12) + wide * s
                marks.append(f'<rect x="{x:.1f}" y="{up.at(value):.1f}" width="{max(1.0, wide * 0.9):.1f}" '
                             f'height="{max(0.0, bottom - up.at(value)):.1f}" fill="{color}"/>\n')
        if len(series) > 1:
            y = TOP + 8 + 18 * s
            marks.append(f'<rect x="{right + 12}" y="{y - 5}" width="12" height="10" fill="{color}"/>\n'
                         + words(right + 32, y + 4, cut_inside(name, LONGEST_NAME)))
    for n, label in enumerate(labels):
        marks.append(words(LEFT + step * (n + 0.5), bottom + 17, cut(label, max(2, int(step / 6.6))), anchor="middle"))
        if below:
            marks.append(words(LEFT + step * (n + 0.5), bottom + 32, cut(below[n], max(2, int(step / 6))), size=11,
                               anchor="middle", color=SOFT))
    marks.append(words((LEFT + right) / 2, HEIGHT - 8, x_label, anchor="middle", color=SOFT))
    marks.append(words(0, 0, y_label, anchor="middle", color=SOFT,
                       more=f' transform="translate(16 {(TOP + bottom) / 2}) rotate(-90)"'))
    return Figure(title, WIDTH, HEIGHT, "".join(marks))
