"""The loss along training as a figure: each step of training, and the validation between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chainrule.figures.drawing import Figure
from chainrule.figures.lines import Chart, Line, chart

SERIES = {"loss": "training", "valid_loss": "validation"}
MOST = 600  # points of a line: of more, every second, third, … is drawn


def loss_curve(rows: Sequence[Mapping[str, Any]]) -> Figure | None:
    """The rows of metrics.jsonl; None where nothing was stepped."""
    lines = []
    for key, name in SERIES.items():
        points = [(row["step"], row[key]) for row in rows if row.get(key) is not None and row.get("step") is not None]
        every = max(1, -(-len(points) // MOST))
        kept = points[::every] + (points[-1:] if points and (len(points) - 1) % every else [])
        if kept:
            lines.append(Line(name, [x for x, _ in kept], [y for _, y in kept]))
    return chart(Chart("Loss along training", "step", "nats a token", lines)) if lines else None
