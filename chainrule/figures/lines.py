"""Lines or points over two axes, with the interval of each point where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chainrule.figures.axes import Axis, axis, can_be_shown, close_axis, number
from chainrule.figures.drawing import LINE, SERIES, SOFT, WIDTH, Figure, cut, cut_inside, heading, words

HEIGHT = 340  # of one chart, in pixels
LEFT, RIGHT, TOP, BOTTOM = 72, 230, 36, 48  # what is kept around the plot; the legend stands at the right
DASHES = ("", "6 3", "2 3", "8 3 2 3")  # more lines than colors go on with these
MARKS = ("m-3 0l3-3 3 3-3 3z", "m-3-3h6v6h-6z", "m-3 3h6l-3-6z", "m-3-3l6 6m0-6l-6 6")  # the same of lone points
ASIDE = 5  # pixels between the intervals of two lines at the same place
MOST_NAMED, LONGEST_NAME = 14, 28  # lines in the legend, and characters of a name


@dataclass(frozen=True)
class Line:
    """Points joined in their order; the line is broken where a value cannot be shown."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float | None] = ()  # the interval of each point
    high: Sequence[float | None] = ()
    look: int | None = None  # which color it has; by default its place among the lines


@dataclass(frozen=True)
class Chart:
    """Lines over one pair of axes; on a logarithmic axis values of 0 are left out.

    `names` are written along the x axis in the place of 0, 1, 2, …; `at_values` writes each x that there is.
    """

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    log: bool = False
    x_log: bool = False
    at_values: bool = False
    names: Sequence[str] = ()


def chart(shown: Chart) -> Figure:
    """The chart as a figure."""
    x_axis, y_axis = _x_axis(shown), _y_axis(shown)
    marks = [heading(shown.title, left=LEFT), _frame(shown, x_axis, y_axis)]
    for n, line in enumerate(shown.lines):
        chosen = n if line.look is None else line.look
        again, color = chosen // len(SERIES) % len(DASHES), SERIES[chosen % len(SERIES)]
        look = f'stroke="{color}" stroke-dasharray="{DASHES[again]}"'
        own = _aside(x_axis, n, len(shown.lines)) if line.low else x_axis
        marks.append(_whiskers(line, own, y_axis, color))
        marks.append(f'<path d="{_path(line, own, y_axis, MARKS[again])}" fill="none" stroke-width="1.8" {look}/>\n')
        if n < MOST_NAMED:
            marks.append(_named(line, n, len(shown.lines), look))
    return Figure(shown.title, WIDTH, HEIGHT, "".join(marks))


def _x_axis(shown: Chart) -> Axis:
    values = [v for line in shown.lines for v in line.x]
    if shown.names:
        last = max(len(shown.names) - 1, 1)
        return Axis(-0.3, last + 0.3, LEFT, WIDTH - RIGHT, False, tuple(range(len(shown.names))))
    if shown.at_values:
        found = close_axis(values, LEFT, WIDTH - RIGHT) if shown.x_log else axis(values, LEFT, WIDTH - RIGHT)
        return Axis(found.low, found.high, LEFT + 24, WIDTH - RIGHT - 24, found.log, tuple(sorted(set(values))))
    return axis(values, LEFT, WIDTH - RIGHT, log=shown.x_log)


def _y_axis(shown: Chart) -> Axis:
    values = [v for line in shown.lines for part in (line.y, line.low, line.high) for v in part if v is not None]
    if any(line.low for line in shown.lines) and values and not shown.log:  # no interval ends at the frame
        gap = 0.04 * (max(values) - min(values))
        values += [min(values) - gap, max(values) + gap]
    return axis(values, HEIGHT - BOTTOM, TOP, log=shown.log)


def _frame(shown: Chart, x_axis: Axis, y_axis: Axis) -> str:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    marks = []
    for tick in x_axis.ticks:
        name = shown.names[int(tick)] if shown.names else number(tick)
        marks.append(words(x_axis.at(tick), bottom + 17, cut(name, 18), anchor="middle"))
    for tick in y_axis.ticks:
        high = f"{y_axis.at(tick):.1f}"
        marks.append(f'<path d="M{LEFT} {high}H{right}" stroke="{LINE}"/>\n')
        marks.append(words(LEFT - 7, y_axis.at(tick) + 4, number(tick), anchor="end"))
    upward = f' transform="translate(16 {(TOP + bottom) / 2}) rotate(-90)"'
    return "".join(marks) + (
        f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="{SOFT}"/>\n'
        + words((LEFT + right) / 2, HEIGHT - 10, shown.x_label, anchor="middle", color=SOFT)
        + words(0, 0, shown.y_label, anchor="middle", color=SOFT, more=upward))


def _named(line: Line, n: int, count: int, look: str) -> str:
    y, left = TOP + 8 + 18 * n, WIDTH - RIGHT + 12
    name = line.label if n < MOST_NAMED - 1 or count <= MOST_NAMED else "…"
    return (f'<path d="M{left} {y}h22" stroke-width="2.5" {look}/>\n'
            + words(left + 28, y + 4, cut_inside(name, LONGEST_NAME)))


def _path(line: Line, x_axis: Axis, y_axis: Axis, mark: str) -> str:
    """Points that stand alone, and points with an interval, have a mark around them."""
    pieces: list[list[str]] = [[]]
    for x, y in zip(line.x, line.y, strict=True):
        if can_be_shown(y, y_axis.log) and can_be_shown(x, x_axis.log):
            pieces[-1].append(f"{x_axis.at(x):.1f} {y_axis.at(y):.1f}")
        else:
            pieces.append([])
    joined = "".join("M" + "L".join(piece) + (mark if len(piece) == 1 else "") for piece in pieces if piece)
    marked = (f"M{place}{mark}" for piece in pieces for place in piece) if line.low else ()
    return joined + "".join(marked)


def _aside(x_axis: Axis, n: int, count: int) -> Axis:
    """The axis of the n-th line, moved by a few pixels so that no interval hides another."""
    moved = ASIDE * (n - (count - 1) / 2)
    return replace(x_axis, begin=x_axis.begin + moved, end=x_axis.end + moved)


def _whiskers(line: Line, x_axis: Axis, y_axis: Axis, color: str) -> str:
    drawn = []
    for x, low, high in zip(line.x, line.low, line.high, strict=False):
        if can_be_shown(low, y_axis.log) and can_be_shown(high, y_axis.log):
            assert low is not None and high is not None
            drawn.append(f"M{x_axis.at(x):.1f} {y_axis.at(low):.1f}V{y_axis.at(high):.1f}")
    return f'<path d="{"".join(drawn)}" stroke="{color}" stroke-width="1.4" opacity="0.75"/>\n' if drawn else ""
