"""What `chainrule inspect --gradients` does: measure, draw, print."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.cli.terminal.console import emit, say, table
from chainrule.cli.terminal.outputs import check_out
from chainrule.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from chainrule.models.inside.norms import Gradients

SHOWN = (0, 1, 2, 5, 10, 20, 30, 50, 100, 200, 500)  # distances in the table; --json and pictures have all


def show_gradients(what: list[str], data: str, *, distance: int, rows: int, clip: float | None, out: Path | None,
                   json: bool) -> None:
    """Several models share one picture, each with its first layer."""
    if out is not None:
        check_out(out)
    found = _measured(what, data, distance, rows, clip)
    if out is not None:
        _write(found, data, out)
        say(f"wrote {out}.")
    emit({"data": data, "models": [{"name": name, **asdict(each)} for name, each in found.items()]}, json,
         lambda _: _show(found))


def _write(found: dict[str, Gradients], data: str, out: Path) -> None:
    from chainrule.inspection.gradient_charts import figures, page_data

    if out.suffix == ".html":
        from chainrule.pages.page import write_page

        write_page(out, view="gradients", title=f"Gradients on {data}", data=page_data(found, data))
        return
    from chainrule.figures.drawing import stacked
    from chainrule.figures.files import write_figure

    write_figure(out, stacked(figures(found), "Gradients"))


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
