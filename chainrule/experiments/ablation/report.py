"""The report of an ablation: rows, differences from the base, curves and the answer, as report.json and a page."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from chainrule.errors import ChainruleError
from chainrule.experiments.ablation.combined import combined
from chainrule.experiments.ablation.curves import EARLY, TRAINING, gain_at_equal_flops
from chainrule.experiments.ablation.effects import corrected, effect
from chainrule.experiments.ablation.judges import described
from chainrule.experiments.ablation.pictures import Ablation, pictures
from chainrule.experiments.ablation.rows import Scores, scores
from chainrule.experiments.ablation.search import Found, of_search
from chainrule.experiments.ablation.terms import AblationTerms
from chainrule.experiments.ablation.variants import Variants
from chainrule.experiments.ablation.words import answer
from chainrule.experiments.convergence import FEW_STEPS
from chainrule.experiments.folder import DETAILS, PAGE, REPORT, point_to_best
from chainrule.experiments.measuring import write
from chainrule.experiments.pictures import write_figures
from chainrule.experiments.planning import Comparison
from chainrule.experiments.running import Setting, Trial
from chainrule.experiments.standings import off_budget
from chainrule.jobs import learns_from_validation
from chainrule.storage.environment import environment
from chainrule.storage.json_text import json_value

log = logging.getLogger("chainrule")


@dataclass(frozen=True)
class Asked:
    """What was asked for: the variants, the terms, the command, and what a search for learning rates found."""

    variants: Variants
    terms: AblationTerms
    command: str
    search: Found | None = None


def written(asked: Asked, comparison: Comparison, trials: Mapping[str, Sequence[Trial]],
            outcomes: Mapping[str, Sequence[dict[str, Any]]], setting: Setting) -> Ablation:
    """Puts all results together, writes the files and returns the report."""
    found = scores(comparison, trials, outcomes, setting)
    search = asked.search.facts if asked.search else None
    _put_effects(found, search)
    rows = [each.row for each in found.variants]
    best = _best(rows, found)
    report = {
        "format": 1, "kind": "ablation", "command": asked.command, "base": asked.variants.base.name,
        "combine": asked.terms.combine, "options": _options(asked.variants), "drawn": list(asked.variants.drawn),
        "data": _data(comparison), "budget": {"kind": comparison.budget.kind, "amount": comparison.budget.amount},
        "seeds": comparison.seeds, "measure": described(found.judge), "units": found.units, "early_at": EARLY,
        "curves_of": found.curves_of, "environment": environment(),
        "combined": combined({each.contestant.changes: each for each in found.variants}, found.judge),
        "search": search, "rows": rows, "best": best["name"] if best else None,
        "notes": _notes(asked, comparison, found)}
    report = json_value(report | {"answer": answer(report)})
    curves = json_value({each.row["name"]: each.curve for each in found.variants if each.curve})
    point_to_best(setting.out, best["run"] if best else None)
    write(setting.out / DETAILS, {"curves": curves})
    write(setting.out / REPORT, report)
    _page(setting, report, curves)
    return Ablation(report)


def _put_effects(found: Scores, search: Mapping[str, Any] | None) -> None:
    """Sets the difference of each variant from the base, what it gains at equal FLOPs, and its learning rate."""
    base, *others = found.variants
    effects = corrected({each.row["name"]: effect(each.tables, base.tables, found.judge) for each in others},
                        found.judge)
    for each in found.variants:
        each.row["rate"] = search["rates"].get(each.row["name"], {}).get("rate") if search else None
    for each in others:
        each.row["effect"] = effects[each.row["name"]]
        each.row["gain_at_equal_flops"] = gain_at_equal_flops(each.curve, base.curve)


def _best(rows: Sequence[dict[str, Any]], found: Scores) -> dict[str, Any] | None:
    known = [row for row in rows if row["value"] is not None]
    return min(known, key=lambda row: -row["value"] if found.judge.higher else row["value"], default=None)


def _options(variants: Variants) -> list[dict[str, Any]]:
    """What the command line varies: each option with its values, and the row that each value is."""
    found: dict[str, list[dict[str, str]]] = {}
    for change, row in variants.rows.items():
        path, _, value = change.partition("=")
        found.setdefault(path, []).append({"value": value, "row": row})
    return [{"option": path, "values": values} for path, values in found.items()]


def _data(comparison: Comparison) -> dict[str, Any]:
    source = comparison.source
    facts = {"spec": list(source.data), "valid": source.valid and list(source.valid)}
    if comparison.contest is not None:
        return facts | comparison.contest.facts()
    return facts | {"held_out_bytes": sum(map(len, comparison.documents)),
                    "train_bytes": sum(len(chunk.data) for chunk in comparison.train.chunks())}


def _notes(asked: Asked, comparison: Comparison, found: Scores) -> list[str]:
    """Notes that a reader needs to interpret the rows."""
    rows, base = [each.row for each in found.variants], asked.variants.base.name
    notes = [*comparison.notes, *found.notes]
    if asked.search:
        notes += [of_search(asked.search.facts, comparison.budget), *asked.search.notes]
    if same := [change for change, row in asked.variants.rows.items() if row == base]:
        notes.append(f"{', '.join(same)}: {base} has that already, so it was not trained again.")
    notes += off_budget(rows, comparison.budget)
    if few := [row["name"] for row in rows if row["steps"] and row["steps"] < FEW_STEPS]:
        notes.append(f"{', '.join(few)}: fewer than {FEW_STEPS} steps within the budget, too few to learn much.")
    if learning := [each.name for each in comparison.entries if each.recipe and learns_from_validation(each.recipe)]:
        notes.append(f"{', '.join(learning)}: learns from validation data, for which a tenth of the training data was "
                     "used.")
    if found.curves_of == TRAINING and any(row["early"] is not None for row in rows):
        notes.append("early losses, curves and gains at equal FLOPs are of the training data.")
    if comparison.budget.kind == "seconds" and asked.terms.side_by_side > 1:
        notes.append(f"{asked.terms.side_by_side} trainings ran side by side: each had a share of the machine in its "
                     "seconds.")
    return notes


def _page(setting: Setting, report: dict[str, Any], curves: dict[str, Any]) -> None:
    """Writes the figures and report.html; if that fails, one line says why."""
    from chainrule.pages.page import write_page

    try:
        write_figures(setting.out, pictures(report, curves))
    except ChainruleError as error:
        log.info(str(error))
    recipes = {row["name"]: (setting.out / row["run"] / "recipe.yaml").read_text(encoding="utf-8")
               for row in report["rows"] if row["run"]}
    dated = {**report, "created": datetime.now(UTC).isoformat(timespec="seconds")}
    title = f"What helps {report['base']} on {', '.join(report['data']['spec'])}?"
    try:
        write_page(setting.out / PAGE, view="ablation", title=title,
                   data={"report": dated, "curves": curves, "recipes": recipes})
    except ChainruleError as error:
        log.info(f"{PAGE} was not written: {error}")
