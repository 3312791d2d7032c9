"""The charts of measured gradients: through time by distance, and of each layer's own parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from chainrule.figures.bars import lying_bars
from chainrule.figures.drawing import Figure
from chainrule.figures.lines import Chart, Line, chart
from chainrule.models.inside.norms import Gradients, Norms

SHOWN_CLIPPED = 0.1  # gradients that clipping makes at least ten times smaller are drawn a second time
OF_LAYERS = "‖∂loss / ∂θ‖"


@dataclass(frozen=True)
class Bars:
    """One number for each name, where lines would be lone points."""

    title: str
    unit: str
    values: Mapping[str, float]
    looks: Mapping[str, int]  # the colors that the models have in the other charts


def charts(found: Mapping[str, Gradients]) -> list[Chart | Bars]:
    """One model: a line for each layer, and the layers' own gradients; several: a line for each model."""
    if len(found) == 1:
        (title, only), = found.items()
        lines = [_line(*pair) for pair in zip(only.layers, only.by_distance, strict=True)]
    else:
        lines = _with_clipped(found, lambda each: each.by_distance[0])
        title = "the first layer of each model"
    time = Chart(f"Gradient through time: {title}", "distance d, tokens", "‖∂loss(t) / ∂h(t − d)‖", lines, log=True)
    depth = _depth(_with_clipped(found, lambda each: each.by_layer))
    return [time, *depth] if any(any(line.y[1:]) for line in lines) else depth  # some mix no tokens


def _depth(lines: list[Line]) -> list[Chart | Bars]:
    """Models of one layer have no line from layer to layer: they are bars."""
    deep, flat = [line for line in lines if len(line.y) > 1], [line for line in lines if len(line.y) == 1]
    found: list[Chart | Bars] = []
    if deep:
        found.append(Chart("Gradient of each layer's parameters", "layer", OF_LAYERS, deep, log=True))
    if flat:
        title = f"{'Models' if len(flat) > 1 else 'A model'} of one layer: the gradient of the layer's parameters"
        found.append(Bars(title, OF_LAYERS, {line.label: line.y[0] for line in flat},
                          {line.label: line.look or 0 for line in flat}))
    return found


def figures(found: Mapping[str, Gradients]) -> list[Figure]:
    """The charts, drawn."""
    return [chart(each) if isinstance(each, Chart) else
            lying_bars(each.title, each.unit, each.values, log=True, looks=each.looks) for each in charts(found)]


def page_data(found: Mapping[str, Gradients], data: str) -> dict[str, Any]:
    """What the page of gradients draws, and what it says of each model."""
    return {"data": data, "charts": [{**_plain(each), "bars": isinstance(each, Bars)} for each in charts(found)],
            "models": [{"name": name, **asdict(each)} for name, each in found.items()]}


def _plain(each: Chart | Bars) -> dict[str, Any]:
    if isinstance(each, Bars):
        return {"title": each.title, "y_label": each.unit, "values": dict(each.values)}
    return {"title": each.title, "x_label": each.x_label, "y_label": each.y_label,
            "lines": [{"name": line.label, "x": list(line.x), "y": list(line.y)} for line in each.lines]}


def _with_clipped(found: Mapping[str, Gradients], of: Callable[[Gradients], Norms]) -> list[Line]:
    """A line for each model, and one more where clipping changes it much."""
    lines = []
    for name, each in found.items():
        lines.append(_line(name, of(each)))
        if each.factor < SHOWN_CLIPPED:
            lines.append(_line(f"clipped: {name}", tuple(norm * each.factor for norm in of(each))))
    return [replace(line, look=n) for n, line in enumerate(lines)]


def _line(label: str, norms: Norms) -> Line:
    return Line(label, range(len(norms)), norms)
