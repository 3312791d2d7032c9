"""The figures of an ablation: differences from the base with their intervals, and learning curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chainrule.experiments.ablation.tables import headers, printed
from chainrule.experiments.pictures import AXES, LIKELIEST
from chainrule.figures.cards import card, line, table
from chainrule.figures.drawing import INK, MUTE, SERIES, Figure
from chainrule.figures.intervals import Measured, intervals
from chainrule.figures.lines import Chart, Line, chart

COLORS = {"helps": SERIES[2], "hurts": SERIES[1], "noise": MUTE}


class Ablation(dict[str, Any]):
    """What `ablate` gives: the content of report.json. A notebook shows its answer, table and differences."""

    def _repr_html_(self) -> str:
        rows = [list(printed(self, row)) for row in self["rows"]]
        return card(f"What helps {self['base']} on {', '.join(map(str, self['data']['spec']))}?",
                    *(line(sentence) for sentence in self["answer"]), table(list(headers(self)), rows),
                    *filter(None, [_differences(self)]))


def pictures(report: Mapping[str, Any], curves: Mapping[str, Any]) -> dict[str, Figure]:
    """Each figure by the name of its file."""
    found = {"differences": _differences(report)}
    for axis, label in AXES.items():
        found[f"curves-{axis}"] = _curves(report, curves, axis, label)
    return {name: figure for name, figure in found.items() if figure is not None}


def _differences(report: Mapping[str, Any]) -> Figure | None:
    """The best first; the base is the zero."""
    higher, label = report["measure"]["higher_is_better"], report["measure"]["label"]
    rows = [Measured(row["name"], effect["difference"], effect["low"], effect["high"], COLORS[effect["verdict"]])
            for row in report["rows"] if (effect := row["effect"]) is not None]
    rows.sort(key=lambda each: -each.value if higher else each.value)
    rows.append(Measured(report["base"], 0.0, None, None, INK))
    title = f"Difference from {report['base']} with 95 % intervals"
    return intervals(title, f"{label} more than the base, {'higher' if higher else 'lower'} is better", rows) if (
        len(rows) > 1) else None


def _curves(report: Mapping[str, Any], curves: Mapping[str, Any], axis: str, label: str) -> Figure | None:
    names = [row["name"] for row in report["rows"] if any(point[axis] for point in curves.get(row["name"], ()))]
    losses = [point["loss"] for name in names for point in curves[name]]
    if not losses:
        return None
    top = LIKELIEST * min(losses) if min(losses) > 0 else max(losses)
    lines = [Line(name, [p[axis] for p in own], [p["loss"] for p in own]) for name in names
             if (own := [p for p in curves[name] if p["loss"] <= top or len(curves[name]) == 1])]
    return chart(Chart("How fast each one learns, the mean over seeds", label, report["curves_of"], lines, x_log=True))
