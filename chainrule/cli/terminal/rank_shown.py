"""What `chainrule inspect --rank` does: how fast all positions become the same, with and without skips."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.cli.terminal.console import emit, say, table
from chainrule.errors import UsageError

if TYPE_CHECKING:
    from chainrule.figures.lines import Chart
    from chainrule.models.inside.rank import Collapse

ROUNDING = 1e-14  # residuals below this are what is left of float64
Y_LABEL = "‖X − 1x̄ᵀ‖ / ‖X‖"


def show_rank(what: list[str], data: str, *, tokens: int, rows: int, out: Path | None, json: bool) -> None:
    """One model, or several below each other."""
    from chainrule.figures.files import check_figure
    from chainrule.inspection.stacks import opened
    from chainrule.models.inside.rank import measure
    from chainrule.recipe.overrides import with_changes

    if out is not None:
        check_figure(out)
    found: dict[str, Collapse] = {}
    for name, overrides in with_changes(what):
        looked_at = opened(name, overrides, data)
        if not looked_at.stack.sublayers:
            raise UsageError(f"{name}: it has no sublayers.")
        found[looked_at.name] = measure(looked_at.stack, looked_at.windows(data, tokens, rows))
    if out is not None:
        from chainrule.figures.drawing import stacked
        from chainrule.figures.files import write_figure
        from chainrule.figures.lines import chart

        write_figure(out, stacked([chart(chart_of(*each)) for each in found.items()], "Rank"))
        say(f"wrote {out}.")
    emit({"data": data, "models": [{"name": name, **asdict(each)} for name, each in found.items()]}, json,
         lambda _: _show(found))


def chart_of(name: str, found: Collapse) -> Chart:
    """A line for each way of running the weights."""
    from chainrule.figures.lines import Chart, Line

    lines = [Line(way, found.after[way], values) for way, values in found.residuals.items()]
    return Chart(f"Residual to rank one by depth: {name}", "sublayer", Y_LABEL, lines, log=True)


def _show(found: dict[str, Collapse]) -> None:
    for name, each in found.items():
        print(f"{name}: residual to rank one, relative ({Y_LABEL}); 0: all positions say the same")
        rows: list[list[Any]] = []
        for n in range(len(each.layers) + 1):
            here = {way: dict(zip(each.after[way], values, strict=True)).get(n) for way, values in
                    each.residuals.items()}
            rows.append([n, "embedding" if n == 0 else each.layers[n - 1].partition(" ")[2],
                         *("" if value is None else _number(value) for value in here.values())])
        table(["", "after", *each.residuals], rows)
        if each.weights_differ:
            print("Without skips the residual falls exponentially here, not doubly: attention from left to right, or "
                  "with positions in its scores, weighs the tokens of two places differently even where all say the "
                  "same.")


def _number(value: float) -> str:
    return "< 1e-14" if value < ROUNDING else f"{value:.2g}"
