"""What `chainrule inspect --gradients` does: measure, draw, print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.cli.terminal.console import emit, say, table
from chainrule.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from chainrule.inspection.plot import Chart, Line
    from chainrule.models.inside.norms import Gradients, Norms

SHOWN_CLIPPED = 0.1  # gradients that clipping makes at least ten times smaller are drawn a second time
SHOWN = (0, 1, 2, 5, 10, 20, 30, 50, 100, 200, 500)  # distances in the table; --json and pictures have all


def show_gradients(what: list[str], data: str, *, distance: int, rows: int, clip: float | None, out: Path | None,
                   json: bool) -> None:
    """Several models share one picture, each with its first layer."""
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
    from chainrule.inspection.gradient_examples import EXAMPLES
    from chainrule.inspection.subject import subject
    from chainrule.recipe.overrides import with_changes
    from chainrule.recipe.recipe import shipped

    found = {}
    for name, overrides in with_changes(what):
        if not (name in EXAMPLES or name in shipped() or Path(name).suffix or Path(name).exists()):
            raise UsageError(f"no run folder, recipe or example is named {name!r}."
                             f"{did_you_mean(name, [*shipped(), *EXAMPLES])}")
        for label, (recipe, changes) in EXAMPLES.get(name, {"": (name, [])}).items():
            looked_at = subject(recipe, [*changes, *overrides], data, length=distance + 1, rows=rows)
            found[label or looked_at.name] = looked_at.gradients(clip)
    return found


def charts(found: dict[str, Gradients]) -> list[Chart]:
    """One model: a line for each layer, and the layers' own gradients; several: a line for each model."""
    from chainrule.inspection.plot import Chart

    if len(found) == 1:
        (title, only), = found.items()
        lines = [_line(*pair) for pair in zip(only.layers, only.by_distance, strict=True)]
    else:
        lines = _with_clipped(found, lambda each: each.by_distance[0])
        title = "the first layer of each model"
    time = Chart(f"Gradient through time: {title}", "distance d, tokens", "‖∂loss(t) / ∂h(t − d)‖", lines, log=True)
    depth = Chart("Gradient of each layer's parameters", "layer", "‖∂loss / ∂θ‖",
                  _with_clipped(found, lambda each: each.by_layer), log=True)
    return [time, depth] if any(any(line.y[1:]) for line in lines) else [depth]  # some mix no tokens


def _with_clipped(found: dict[str, Gradients], of: Callable[[Gradients], Norms]) -> list[Line]:
    """A line for each model, and one more where clipping changes it much."""
    lines = []
    for name, each in found.items():
        lines.append(_line(name, of(each)))
        if each.factor < SHOWN_CLIPPED:
            lines.append(_line(f"clipped: {name}", tuple(norm * each.factor for norm in of(each))))
    return lines


def _line(label: str, norms: Norms) -> Line:
    from chainrule.inspection.plot import Line

    return Line(label, range(len(norms)), norms)


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
