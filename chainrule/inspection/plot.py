"""Line charts as self-contained SVG: a small plotting layer that needs nothing installed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 760, 340  # of one chart, in pixels
LEFT, RIGHT, TOP, BOTTOM = 72, 230, 36, 48  # what is kept around the plot; the legend stands at the right
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c564b")
# Okabe & Ito's, which people with color blindness can distinguish, and a brown
DASHES = ("", "6 3", "2 3", "8 3 2 3")  # more lines than colors go on with these
MARKS = ("m-3 0l3-3 3 3-3 3z", "m-3-3h6v6h-6z", "m-3 3h6l-3-6z", "m-3-3l6 6m0-6l-6 6")  # the same of lone points
MOST_NAMED, LONGEST_NAME = 14, 28  # lines in the legend, and characters of a name


@dataclass(frozen=True)
class Line:
    """Points joined in their order; the line is broken where a value cannot be shown."""

    label: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True)
class Chart:
    """Lines over one pair of axes; with `log` the y axis is logarithmic, and values of 0 are left out."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    log: bool = False


@dataclass(frozen=True)
class Axis:
    """From values to pixels; `ticks` are the values that are written beside it."""

    low: float
    high: float
    begin: float
    end: float
    log: bool
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        low, high, here = (math.log10(v) for v in (self.low, self.high, value)) if self.log else (
            self.low, self.high, value)
        return self.begin + (self.end - self.begin) * (here - low) / (high - low)


def svg(charts: Sequence[Chart]) -> str:
    """The charts, one below the other, as one SVG file."""
    body = "".join(f'<g transform="translate(0 {HEIGHT * n})">{_drawn(chart)}</g>\n' for n, chart in enumerate(charts))
    high = HEIGHT * len(charts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {high}" width="{WIDTH}" height="{high}" '
            f'font-family="sans-serif" font-size="12"><rect width="{WIDTH}" height="{high}" fill="white"/>\n'
            f"{body}</svg>\n")


def html(title: str, charts: Sequence[Chart]) -> str:
    """A page with the charts and, below each, its numbers."""
    body = "".join(f"{svg([chart])}{_numbers(chart)}" for chart in charts)
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
            "<style>body{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
            "table{border-collapse:collapse;font-size:small}td,th{padding:.1em .6em;text-align:right}</style>"
            f"<h1>{escape(title)}</h1>{body}</html>\n")


def _drawn(chart: Chart) -> str:
    x_axis = _axis([v for line in chart.lines for v in line.x], LEFT, WIDTH - RIGHT, log=False)
    y_axis = _axis([v for line in chart.lines for v in line.y], HEIGHT - BOTTOM, TOP, log=chart.log)
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    marks = [f'<text x="{LEFT}" y="22" font-size="15">{escape(chart.title)}</text>']
    for tick in x_axis.ticks:
        marks.append(f'<text x="{x_axis.at(tick):.1f}" y="{bottom + 17}" text-anchor="middle">{tick:g}</text>')
    for tick in y_axis.ticks:
        high = f"{y_axis.at(tick):.1f}"
        marks.append(f'<path d="M{LEFT} {high}H{right}" stroke="#ddd"/>'
                     f'<text x="{LEFT - 7}" y="{high}" dy="4" text-anchor="end">{tick:.3g}</text>')
    middle = (TOP + bottom) / 2
    marks.append(f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="#444"/>'
                 f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 10}" text-anchor="middle">{escape(chart.x_label)}</text>'
                 f'<text transform="translate(16 {middle}) rotate(-90)" text-anchor="middle">{escape(chart.y_label)}'
                 "</text>")
    for n, line in enumerate(chart.lines):
        again = n // len(COLORS) % len(DASHES)
        look = f'stroke="{COLORS[n % len(COLORS)]}" stroke-dasharray="{DASHES[again]}"'
        marks.append(f'<path d="{_path(line, x_axis, y_axis, MARKS[again])}" fill="none" stroke-width="1.8" {look}/>')
        if n < MOST_NAMED:
            y = TOP + 8 + 18 * n
            name = line.label if n < MOST_NAMED - 1 or len(chart.lines) <= MOST_NAMED else "…"
            name = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME - 1]}…"
            marks.append(f'<path d="M{right + 12} {y}h22" stroke-width="2.5" {look}/>'
                         f'<text x="{right + 40}" y="{y + 4}">{escape(name)}</text>')
    return "\n".join(marks)


def _path(line: Line, x_axis: Axis, y_axis: Axis, mark: str) -> str:
    """Points that stand alone have a mark around them."""
    pieces: list[list[str]] = [[]]
    for x, y in zip(line.x, line.y, strict=True):
        if _shown(y, y_axis.log):
            pieces[-1].append(f"{x_axis.at(x):.1f} {y_axis.at(y):.1f}")
        else:
            pieces.append([])
    return "".join("M" + "L".join(piece) + (mark if len(piece) == 1 else "") for piece in pieces if piece)


def _shown(value: float, log: bool) -> bool:
    return math.isfinite(value) and (value > 0 or not log)


def _axis(values: Sequence[float], begin: float, end: float, *, log: bool) -> Axis:
    shown = [v for v in values if _shown(v, log)] or [1.0]
    if log:
        least, most = math.floor(math.log10(min(shown))), math.ceil(math.log10(max(shown)))
        most = max(most, least + 1)
        apart = -(-(most - least) // 8)  # at most nine powers of ten are written
        return Axis(10.0**least, 10.0**most, begin, end, True, tuple(10.0**e for e in range(least, most + 1, apart)))
    low, high = min(shown), max(shown)
    step = _round_step((high - low) / 6)
    step = max(step, 1.0) if all(float(value).is_integer() for value in shown) else step  # between layers there is none
    ticks = tuple(step * n for n in range(math.ceil(low / step), math.floor(high / step) + 1))
    return Axis(low, high if high > low else low + 1, begin, end, False, ticks)


def _round_step(least: float) -> float:
    """The next of …, 1, 2, 5, 10, … that is not below."""
    if least <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * m for m in (1, 2, 5, 10) if power * m >= least * 0.999)


def _numbers(chart: Chart) -> str:
    """The chart's values as a table: a row for each x."""
    table = [dict(zip(line.x, line.y, strict=True)) for line in chart.lines]
    head = "".join(f"<th>{escape(text)}</th>" for text in [chart.x_label, *(line.label for line in chart.lines)])
    rows = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in [f"{x:g}", *(
        f"{column[x]:.4g}" if x in column else "" for column in table)]) + "</tr>"
        for x in sorted({x for line in chart.lines for x in line.x}))
    return f"<table><tr>{head}</tr>{rows}</table>"
