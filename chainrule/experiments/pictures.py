"""The figures of a report: intervals, the grid, curves and breakdowns, as files and in notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chainrule.errors import StorageError
from chainrule.figures.bars import grouped_bars
from chainrule.figures.cards import card, line, table
from chainrule.figures.drawing import INK, MUTE, SERIES, Figure
from chainrule.figures.files import write_figure
from chainrule.figures.intervals import Measured, intervals
from chainrule.figures.lines import Chart, Line, chart

FOLDER = "figures"  # of a report
BITS = "bits per byte"
WIDE = 6  # of the largest to the smallest value of an option: from there its axis is logarithmic
AXES = {"seconds": "training time, s", "tokens": "tokens read", "flops": "FLOPs spent"}
LIKELIEST = 2.2  # times the best: the first steep fall of a curve, where every network still guesses, is left out


@dataclass(frozen=True)
class Ranked:
    """The number that a report ranks by: bits per byte, perplexity over shared tokens, or the measure of a task."""

    label: str
    better: str
    number: str  # its name in a row
    interval: str

    @classmethod
    def of(cls, report: Mapping[str, Any]) -> Ranked:
        if measure := report.get("measure"):
            return cls(measure["label"], "higher" if measure["higher_is_better"] else "lower", "value", "interval")
        if report["ranked_by"] == "perplexity":
            return cls("perplexity", "lower", "perplexity", "perplexity_interval")
        return cls(BITS, "lower", "bits_per_byte", "interval")

    def value(self, row: Mapping[str, Any]) -> float | None:
        """None where a row has no number that can be compared."""
        return row[self.number] if row.get("comparable", True) or self.number != "bits_per_byte" else None

    def ends(self, row: Mapping[str, Any]) -> tuple[float | None, float | None]:
        return tuple(row[self.interval] or (None, None))


class Report(dict[str, Any]):
    """What `compare` gives: the content of report.json. A notebook shows its table and intervals."""

    def _repr_html_(self) -> str:
        by = Ranked.of(self)
        rows = [[row["name"], by.value(row), row.get("parameters"), row["measured"]["training_seconds"],
                 row["why"] or ""] for row in self["rows"]]
        shown = [drawn for drawn in [_intervals(self)] if drawn]
        return card(f"Which model for {', '.join(map(str, self['data']['spec']))}?",
                    *(line(sentence) for sentence in self["advice"]),
                    table(["model", by.label, "parameters", "training, s", ""], rows), *shown)


def pictures(report: Mapping[str, Any], details: Mapping[str, Any]) -> dict[str, Figure]:
    """Each figure by the name of its file."""
    names = [row["name"] for row in report["rows"]]
    found = {"intervals": _intervals(report)}
    for each in details.get("grid") or ():
        found[f"grid-{each['option']}"] = _along(each, report)
    for axis, label in AXES.items():
        found[f"curves-{axis}"] = _curves(details.get("curves") or {}, axis, label, names)
    found["by-position"] = _by_position(details.get("by_position"), names)
    found["by-frequency"] = _by_frequency(details.get("by_frequency"), names)
    return {name: figure for name, figure in found.items() if figure is not None}


def write_pictures(out: Path, report: Mapping[str, Any], details: Mapping[str, Any]) -> None:
    """All of them as SVG files."""
    write_figures(out, pictures(report, details))


def write_figures(out: Path, figures: Mapping[str, Figure]) -> None:
    """Figures as SVG files; those of an older report are removed."""
    folder = out / FOLDER
    try:
        folder.mkdir(exist_ok=True)
        for old in folder.glob("*.svg"):
            old.unlink()
    except OSError as error:
        raise StorageError(f"{folder}: the figures were not written: {error.strerror or error}.") from error
    for name, figure in figures.items():
        write_figure(folder / f"{name}.svg", figure)


def _intervals(report: Mapping[str, Any]) -> Figure | None:
    rows, models, by = [], 0, Ranked.of(report)
    for row in report["rows"]:
        color = {"mixture": INK, "compressor": MUTE, "baseline": MUTE}.get(row["kind"], SERIES[models % len(SERIES)])
        models += row["kind"] == "model"
        if (value := by.value(row)) is not None:
            rows.append(Measured(row["name"], value, *by.ends(row), color, color == MUTE))
    rows.sort(key=lambda each: each.value, reverse=by.better == "higher")
    title = f"{_capital(by.label)} on what is held out, with 95 % intervals"
    return intervals(title, f"{by.label}, {by.better} is better", rows) if rows else None


def _along(option: Mapping[str, Any], report: Mapping[str, Any]) -> Figure | None:
    """The number against the values of one option, a line for each recipe."""
    by = Ranked.of(report)
    rows = {row["name"]: row for row in report["rows"] if by.value(row) is not None}
    numbers = [_number(value) for value in option["values"]]
    values = [value for value in numbers if value is not None]
    numeric = len(values) == len(numbers) > 1
    place = dict(zip(option["values"], values if numeric else range(len(numbers)), strict=True))
    lines = []
    for each in option["lines"]:
        points = [(place[point["value"]], rows[point["row"]]) for point in each["points"] if point["row"] in rows]
        points.sort(key=lambda point: point[0])
        ends = [by.ends(row) for _, row in points]
        if points:
            lines.append(Line(each["name"], [x for x, _ in points], [row[by.number] for _, row in points],
                              [low for low, _ in ends], [high for _, high in ends]))
    if not lines:
        return None
    log = numeric and min(values) > 0 and max(values) >= WIDE * min(values)
    return chart(Chart(_capital(f"{by.label} by {option['option']}"), option["option"], by.label, lines, x_log=log,
                       at_values=numeric, names=() if numeric else option["values"]))


def _curves(curves: Mapping[str, Any], axis: str, label: str, names: Sequence[str]) -> Figure | None:
    lines = []
    for name in names:
        points = sorted((point[axis], point["bits_per_byte"]) for point in curves.get(name, ())
                        if point.get(axis) and point["bits_per_byte"] is not None)
        if points:
            lines.append((name, points))
    if not lines:
        return None
    top = LIKELIEST * min(y for _, points in lines for _, y in points)
    kept = [Line(name, [x for x, y in points if y <= top or len(points) == 1],
                 [y for _, y in points if y <= top or len(points) == 1]) for name, points in lines]
    return chart(Chart("How fast each one learns", label, BITS, kept, x_log=True))


def _by_position(by: Mapping[str, Any] | None, names: Sequence[str]) -> Figure | None:
    if not by:
        return None
    edges = by["edges"]
    middle = [(max(low, edges[1] / 4) * high) ** 0.5 for low, high in zip(edges, edges[1:], strict=False)]
    lines = [Line(name, middle[:len(own)], [float("nan") if value is None else value for value in own])
             for name in names if (own := by["values"].get(name))]
    x_label = f"{by.get('unit', 'tokens')} since the document began"
    return chart(Chart("By position in the document", x_label, BITS, lines, x_log=len(middle) > 2)) if lines else None


def _by_frequency(by: Mapping[str, Any] | None, names: Sequence[str]) -> Figure | None:
    if not by:
        return None
    series = {name: by["values"][name] for name in names if name in by["values"]}
    below = [f"{100 * share:.0f} %" for share in by["shares"]] if by.get("shares") else ()
    return grouped_bars("By frequency of the word; below, the share of the held-out bytes", by["labels"], series,
                        x_label="times seen in training", y_label=BITS, below=below) if series else None


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None
