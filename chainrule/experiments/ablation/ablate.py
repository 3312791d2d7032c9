"""Ablate: a recipe and its changes, each alone or combined, under one budget: what helps on this data?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from chainrule.experiments.ablation.pictures import Ablation
from chainrule.experiments.ablation.report import Asked, written
from chainrule.experiments.ablation.search import check_search, searched
from chainrule.experiments.ablation.terms import AblationTerms
from chainrule.experiments.ablation.variants import variants
from chainrule.experiments.again import command_again
from chainrule.experiments.budget import parse_budget
from chainrule.experiments.folder import check_folder, locked, write_plan
from chainrule.experiments.planning import plan_of, planned_of
from chainrule.experiments.progress import TrialProgress
from chainrule.experiments.running import outcomes_of, setting_of, trials_by_name


def ablate(words: str | Sequence[str], data: str | Path | Sequence[str | Path], out: str | Path, *,
           budget: str = "1m", terms: AblationTerms | None = None, force: bool = False,
           progress: TrialProgress | None = None) -> Ablation:
    """Trains a recipe, and the recipe with each change, under one budget; returns the content of REPORT/report.json.

    `words` are the recipe and its changes with their values: `["transformer", "model.norm=layer,rms"]`.
    """
    terms, out = terms or AblationTerms(), Path(out)
    words = words.split() if isinstance(words, str) else list(words)
    spent, engine = parse_budget(budget), terms.engine()
    check_folder(out)
    asked = variants(words, terms)
    if terms.search:
        check_search([each.resolved(()) for each in asked.entries])
    comparison = planned_of(asked.entries, data, spent, replace(terms, changes=()))  # each has them already
    with locked(out) as lock:
        write_plan(out, plan_of(comparison) | {"ablation": terms.combine, "search": terms.search}, force=force)
        setting = setting_of(comparison, out, lock, progress)
        found = searched(comparison, setting, engine) if terms.search else None
        comparison = found.comparison if found else comparison
        trials = trials_by_name(comparison)
        outcomes = outcomes_of(trials, setting, engine, comparison.held_out_words())
        command = command_again("ablate", words, data, out, budget, terms)
        return written(Asked(asked, terms, command, found), comparison, trials, outcomes, setting)
