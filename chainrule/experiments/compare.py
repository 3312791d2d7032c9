"""Compare: every recipe under the same budget, on the same split, with the same tokenizer, in one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from chainrule.experiments.again import command_again
from chainrule.experiments.budget import parse_budget
from chainrule.experiments.excerpts import passages, prompts
from chainrule.experiments.folder import check_folder, locked, write_plan
from chainrule.experiments.planning import Comparison, plan_of, planned
from chainrule.experiments.progress import TrialProgress
from chainrule.experiments.running import outcomes_of, setting_of, trials_by_name
from chainrule.experiments.terms import Terms


def compare(recipes: str | Sequence[str], data: str | Path | Sequence[str | Path], out: str | Path, *,
            budget: str = "1m", terms: Terms | None = None, force: bool = False,
            progress: TrialProgress | None = None) -> dict[str, Any]:
    """Trains recipes under one budget and compares them; returns the content of REPORT/report.json.

    `recipes` are names or files, each followed by its changes: `["lstm", "model.width=128", "ngram"]`.
    `progress` is told how far each training is; without it a few lines are logged.
    """
    terms, out = terms or Terms(), Path(out)
    words = recipes.split() if isinstance(recipes, str) else list(recipes)
    spent, engine = parse_budget(budget), terms.engine()
    check_folder(out)
    comparison = planned(words, data, spent, terms)
    with locked(out) as lock:
        write_plan(out, plan_of(comparison), force=force)
        setting = setting_of(comparison, out, lock, progress)
        setting = replace(setting, prompts=prompts(comparison.documents), passages=passages(comparison.documents))
        trials = trials_by_name(comparison)
        outcomes = outcomes_of(trials, setting, engine, comparison.held_out_words())
        return _writer(comparison)(comparison, trials, outcomes, setting,
                                   command_again("compare", words, data, out, budget, terms))


def _writer(comparison: Comparison) -> Any:
    """What puts the results together: a table of bits per byte, or of the task's measure."""
    from chainrule.experiments import report as by_text
    from chainrule.experiments.by_measure import report as by_measure

    return by_text.written if comparison.contest is None else by_measure.written
