"""The report of a comparison by a task's measure: rows, pairs, notes and advice, as report.json and a page."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.errors import ChainruleError
from chainrule.evaluation.measures._measure import Measure
from chainrule.evaluation.ranking import compared, intervals
from chainrule.experiments.budget import has_budget
from chainrule.experiments.by_measure.advice import advice
from chainrule.experiments.by_measure.rows import Row, baseline, common_units, put_values, row_of
from chainrule.experiments.folder import PAGE, REPORT, point_to_best
from chainrule.experiments.grid import grid_of
from chainrule.experiments.measuring import write
from chainrule.experiments.pictures import Report, pictures, write_pictures
from chainrule.experiments.running import Setting, Trial
from chainrule.jobs import learns_from_validation
from chainrule.recipe.registry import build
from chainrule.storage.environment import environment
from chainrule.storage.json_text import json_value

if TYPE_CHECKING:
    from chainrule.contests import Contest
    from chainrule.experiments.planning import Comparison

log = logging.getLogger("chainrule")


def written(comparison: Comparison, trials: Mapping[str, Sequence[Trial]],
            outcomes: Mapping[str, Sequence[dict[str, Any]]], setting: Setting, command: str) -> dict[str, Any]:
    """Puts all results together, writes the files and returns the report."""
    contest = comparison.contest
    assert contest is not None
    models = [row_of(each, trials.get(each.name, []), outcomes.get(each.name, []), setting)
              for each in comparison.entries]
    rows, pairs, common = _ranked(models, contest)
    best = next((row["name"] for row in rows if row["kind"] == "model" and row["value"] is not None), None)
    task = next(each.recipe.task for each in comparison.entries if each.recipe)
    report = json_value({
        "format": 1, "command": command, "task": task["name"], "measure": _described(contest.measure),
        "beside": {key: {"label": each.label, "digits": each.digits} for key, each in contest.beside.items()},
        "data": _data(comparison, contest, common), "budget": {"kind": comparison.budget.kind,
                                                              "amount": comparison.budget.amount},
        "seeds": comparison.seeds, "environment": environment(), "units": contest.units,
        "notes": [*comparison.notes, *_notes(rows, comparison, common)], "advice": advice(rows, pairs, contest.measure),
        "best": best, "rows": rows, "pairs": pairs, "uses": list(build("tasks", task).uses)})
    point_to_best(setting.out, next((row["run"] for row in rows if row["name"] == best), None) if best else None)
    write(setting.out / REPORT, report)
    grid = {"grid": grid_of(comparison.entries, comparison.grid)}
    try:
        write_pictures(setting.out, report, grid)
    except ChainruleError as error:
        log.info(str(error))
    _page(comparison, setting, report, {
        "next": [f"chainrule {use.format(run=setting.out / 'best')}" for use in build("tasks", task).uses],
        "grid": {name.removeprefix("grid-"): figure.svg() for name, figure in pictures(report, grid).items()
                 if name.startswith("grid-")}})
    return Report(report)


def _ranked(models: Sequence[Row], contest: Contest
            ) -> tuple[list[dict[str, Any]], list[dict[str, Any]], np.ndarray]:
    """All rows, the best first, with their intervals and pairs; and which units they were measured on."""
    done = [each for each in models if each.answers]
    if not done:
        return [each.row for each in models], [], np.zeros(0, bool)
    measure, rules = contest.measure, [baseline(name, each) for name, each in contest.baselines().items()]
    measured, common = [*done, *rules], common_units([*done, *rules])
    for each in measured:
        put_values(each, common, measure)
    entries = {each.row["name"]: each.entry(common) for each in measured if each.row["value"] is not None}
    for name, interval in zip(entries, intervals(list(entries.values()), measure), strict=True):
        next(each for each in measured if each.row["name"] == name).row["interval"] = interval
    sign = -1 if measure.higher else 1
    ranked = sorted(models, key=lambda each: (each.row["value"] is None, sign * (each.row["value"] or 0)))
    order = [each.row["name"] for each in [*ranked, *rules] if each.row["name"] in entries]
    return ([each.row for each in [*ranked, *rules]], compared([entries[name] for name in order], measure), common)


def _described(measure: Measure) -> dict[str, Any]:
    return {"label": measure.label, "higher_is_better": measure.higher, "digits": measure.digits}


def _data(comparison: Comparison, contest: Contest, common: np.ndarray) -> dict[str, Any]:
    source = comparison.source
    return {"spec": list(source.data), "valid": source.valid and list(source.valid),
            "split": {"valid": contest.split, "seed": source.seed} if contest.split else None, **contest.facts(),
            "units": len(common), "compared_units": int(common.sum())}


def _notes(rows: Sequence[Mapping[str, Any]], comparison: Comparison, common: np.ndarray) -> list[str]:
    """Notes that a reader needs to interpret the rows."""
    assert comparison.contest is not None
    units, found = comparison.contest.units, []
    if len(common) and not common.all():
        found.append(f"{int(common.sum()):,} of {len(common):,} {units} can be answered by every model, and the "
                     "measure is over those: a word that a model does not know makes the rest incomparable.")
    if unmeasured := [row["name"] for row in rows if row["status"] == "ok" and row["value"] is None]:
        found.append(f"{', '.join(unmeasured)}: without a number, since too few {units} can be answered. Train on more "
                     "text, or keep rarer words: tokenizer.min_count=1.")
    trained = [row for row in rows if row["kind"] == "model" and row["status"] == "ok"]
    found += _of_budget(trained, comparison)
    if trained and len(comparison.seeds) == 1:
        found.append("each recipe was trained with one seed; results vary with the seed, and --seeds 3 shows by how "
                     "much.")
    if len(comparison.seeds) > 1:
        found.append("a row's number is the mean over its seeds; its interval is for the choice of held-out "
                     f"{units}; ± is the standard deviation over seeds.")
    if learning := [each.name for each in comparison.entries if each.recipe and learns_from_validation(each.recipe)]:
        found.append(f"{', '.join(learning)}: stops by validation, for which a tenth of its training {units} was used.")
    return found


def _of_budget(trained: Sequence[Mapping[str, Any]], comparison: Comparison) -> list[str]:
    """Whom the budget stopped, and who has no such budget."""
    budget, found = comparison.budget, []
    training = {each.name: getattr(each.recipe, "training", None) for each in comparison.entries}
    bound = {each.name for each in comparison.entries if has_budget(each.recipe, budget)}
    if free := [row["name"] for row in trained if row["name"] not in bound]:
        found.append(f"{', '.join(free)}: training does what the recipe asks for, whatever the budget.")
    for row in trained:
        passes, asked = row["passes"], getattr(training[row["name"]], "epochs", None)
        if passes is not None:  # only where the time ended training, and no plateau
            found.append(f"{row['name']}: the budget of {budget} ended training after {passes:g} of {asked} passes.")
    return found


def _page(comparison: Comparison, setting: Setting, report: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Writes report.html; if that fails, one line says why."""
    from chainrule.pages.page import write_page

    runs = {row["name"]: row["run"] for row in report["rows"] if row["run"]}
    recipes = {name: (setting.out / run / "recipe.yaml").read_text(encoding="utf-8") for name, run in runs.items()}
    dated = {**report, "created": datetime.now(UTC).isoformat(timespec="seconds")}
    try:
        write_page(setting.out / PAGE, view="ranking", title=f"Which model for {', '.join(comparison.source.data)}?",
                   data={"report": dated, "recipes": recipes, **more})
    except ChainruleError as error:
        log.info(f"{PAGE} was not written: {error}")
