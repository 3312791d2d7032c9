"""What `chainrule inspect --importance` and `--probe TAGGED` do: what parts of a model are worth, what layers know."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from chainrule.cli.terminal.console import emit, say, table
from chainrule.errors import UsageError

TEXT = "pydoc"  # a recipe, which is not trained, gets a tokenizer of it

if TYPE_CHECKING:
    from chainrule.figures.drawing import Figure
    from chainrule.inspection.importance import Cost, Importance
    from chainrule.inspection.probing import Known, Probed


def show_importance(what: list[str], data: str, *, tokens: int, out: Path | None, json: bool) -> None:
    """Every sublayer and every head, removed in turn."""
    from chainrule.figures.files import check_figure
    from chainrule.inspection.importance import importance
    from chainrule.inspection.stacks import opened

    run = _one(what)
    if out is not None:
        check_figure(out)
    found = importance(opened(run, [], data), data, tokens)
    if out is not None:
        _written(out, [_intervals(f"What each {what} is worth: {run}", f"{found.unit} more without it", costs)
                       for what, costs in (("sublayer", found.sublayers), ("head", _flat(found))) if costs])
    emit({"run": run, "data": data, **asdict(found)}, json, lambda _: _show_importance(found))


def _one(what: list[str]) -> str:
    if len(what) > 1:
        raise UsageError(f"{what[1]!r} after the run, expected nothing: it looks at one run.")
    return what[0]


def _flat(found: Importance) -> list[Cost]:
    return [head for layer in found.heads for head in layer]


def _show_importance(found: Importance) -> None:
    print(f"{found.whole:.4f} {found.unit} on {found.tokens:,} tokens; how many more without")
    rows = [[each.name, f"{each.bits:+.4f}", f"{each.low:+.4f} to {each.high:+.4f}"]
            for each in (*found.sublayers, *_flat(found))]
    table(["without", "more", "95 % interval"], rows)


def show_probe(what: list[str], data: str, *, words: int, out: Path | None, json: bool) -> None:
    """A probe for each layer, beside what needs no model."""
    from chainrule.figures.files import check_figure
    from chainrule.inspection.probing import probe
    from chainrule.inspection.stacks import opened

    run = _one(what)
    if out is not None:
        check_figure(out)
    found = probe(opened(run, [], TEXT), data, words)
    if out is not None:
        _written(out, [_known(f"What layers know of the tags: {run}", found)])
    emit({"run": run, "data": data, **asdict(found)}, json, lambda _: _show_probe(found))


def _show_probe(found: Probed) -> None:
    print(f"{len(found.tags)} tags, probes trained on {found.words:,} words, measured on {found.tested:,} others")
    rows = [[each.name, f"{100 * each.accuracy:.1f} %", f"{100 * each.low:.1f} to {100 * each.high:.1f}"]
            for each in (*found.baselines, *found.layers)]
    table(["after", "right", "95 % interval"], rows)


def _known(title: str, found: Probed) -> Figure:
    from chainrule.figures.drawing import SERIES
    from chainrule.figures.intervals import Measured, intervals

    def row(each: Known, color: str) -> Measured:
        return Measured(each.name, 100 * each.accuracy, 100 * each.low, 100 * each.high, color, color == SERIES[1])

    rows = [*(row(each, SERIES[1]) for each in found.baselines), *(row(each, SERIES[0]) for each in found.layers)]
    return intervals(title, "% of the held-out words", rows)


def _intervals(title: str, unit: str, costs: list[Cost] | tuple[Cost, ...]) -> Figure:
    from chainrule.figures.drawing import SERIES
    from chainrule.figures.intervals import Measured, intervals

    return intervals(title, unit, [Measured(each.name, each.bits, each.low, each.high, SERIES[0]) for each in costs])


def _written(out: Path, figures: list[Figure]) -> None:
    from chainrule.figures.drawing import stacked
    from chainrule.figures.files import write_figure

    write_figure(out, stacked(figures, "Anatomy"))
    say(f"wrote {out}.")
