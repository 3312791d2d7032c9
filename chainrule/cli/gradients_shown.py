"""What `chainrule inspect --gradients` does: measure, draw, print."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.cli.console import emit, say, table
from chainrule.errors import UsageError

if TYPE_CHECKING:
    from chainrule.inspection.gradients import Gradients
    from chainrule.inspection.plot import Chart

SHOWN = (0, 1, 2, 5, 10, 20, 30, 50, 100, 200, 500)  # distances in the table; --json and pictures have all


def show_gradients(what: list[str], data: str, *, distance: int, rows: int, clip: float | None, out: Path | None,
                   json: bool) -> None:
    """Several models are put into one picture, each by its first layer."""
    if out is not None and out.suffix not in (".svg", ".html"):
        raise UsageError(f"--out = {str(out)!r}, expected a name that ends in .svg or .html.")
    found = _measured(what, data, distance, rows, clip)
    if out is not None:
        from chainrule.inspection.plot import html, svg
        from chainrule.storage.files import created

        shown = charts(found)
        with created(out) as write:
            write((svg(shown) if out.suffix == ".svg" else html("Gradients", shown)).encode())
        say(f"wrote {out}.")
    emit({"data": data, "models": [{"name": name, **asdict(each)} for name, each in found.items()]}, json,
         lambda _: _show(found))


def _measured(what: list[str], data: str, distance: int, rows: int, clip: float | None) -> dict[str, Gradients]:
    from chainrule.inspection.gradients import measure
    from chainrule.inspection.subject import subject
    from chainrule.overrides import with_changes

    found = {}
    for name, overrides in with_changes(what):
        looked_at = subject(name, overrides, data, length=distance + 1, rows=rows)
        found[looked_at.name] = measure(looked_at.stack, looked_at.ids, clip=looked_at.clip if clip is None else clip)
    return found


def charts(found: dict[str, Gradients]) -> list[Chart]:
    """One model: a line for each layer, and the layers' own gradients; several: a line for each model."""
    from chainrule.inspection.plot import Chart, Line

    def over_time(label: str, norms: tuple[float, ...]) -> Line:
        return Line(label, range(len(norms)), norms)

    if len(found) == 1:
        (name, only), = found.items()
        lines = [over_time(*pair) for pair in zip(only.layers, only.by_distance, strict=True)]
        title = name
    else:
        lines = [over_time(name, each.by_distance[0]) for name, each in found.items()]
        title = "the first layer of each model"
    numbers = [Line(name, range(len(each.by_layer)), each.by_layer) for name, each in found.items()]
    return [Chart(f"Gradient through time: {title}", "distance d, tokens", "‖∂loss(t) / ∂h(t − d)‖", lines, log=True),
            Chart("Gradient of each layer's parameters", "layer", "‖∂loss / ∂θ‖", numbers, log=True)]


def _show(found: dict[str, Gradients]) -> None:
    for name, each in found.items():
        reach = max(map(len, each.by_distance))
        distances = [d for d in SHOWN if d < reach - 1] + [reach - 1]
        after = "not clipped" if each.clip is None else f"{each.clipped:.3g} after clipping at {each.clip:g}"
        print(f"{name}: loss {each.loss:.3f}, norm of the gradient {each.norm:.3g}, {after}")
        layers = zip(each.layers, each.by_layer, each.by_distance, strict=True)
        rows: list[list[Any]] = [[layer, f"{own:.2g}", *(f"{norms[d]:.2g}" for d in distances)]
                                 for layer, own, norms in layers]
        table(["layer", "parameters", *(f"d={d}" for d in distances)], rows)
