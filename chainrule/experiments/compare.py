"""Compare: every recipe under the same budget, on the same split, with the same tokenizer, in one table."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from chainrule.errors import OptionError, UsageError
from chainrule.experiments.budget import parse_budget, parse_size
from chainrule.experiments.contestants import Contestant, contestants
from chainrule.experiments.excerpts import passages, prompts
from chainrule.experiments.folder import check_folder, locked, write_plan
from chainrule.experiments.holdout import Source, of_single_lines, source, texts
from chainrule.experiments.running import Setting, Trial, outcome
from chainrule.experiments.terms import (
    OWN,
    Terms,
    applicable,
    chosen_tokenizer,
    reads_alike,
    shared_changes,
    sized,
)
from chainrule.recipe.plugins import folders
from chainrule.recipe.recipe import make_recipe
from chainrule.text.corpora.corpus import Corpus
from chainrule.training.plan import Budget

log = logging.getLogger("chainrule")


@dataclass(frozen=True)
class Comparison:
    """Everything that is decided before the first training."""

    entries: tuple[Contestant, ...]
    budget: Budget
    tokenizer: dict[str, Any] | None  # None where each has its own
    seeds: tuple[int, ...]
    source: Source
    train: Corpus
    held_out: Corpus
    documents: tuple[bytes, ...]  # of the held-out text
    notes: tuple[str, ...]
    grid: tuple[str, ...] = ()  # the options that --grid varies


def compare(recipes: str | Sequence[str], data: str | Path | Sequence[str | Path], out: str | Path, *,
            budget: str = "1m", terms: Terms | None = None, force: bool = False) -> dict[str, Any]:
    """Trains recipes under one budget and compares them; returns the content of REPORT/report.json.

    `recipes` are names or files, each followed by its changes: `["lstm", "model.width=128", "ngram"]`.
    """
    from chainrule.experiments.report import written

    terms, out = terms or Terms(), Path(out)
    words = recipes.split() if isinstance(recipes, str) else list(recipes)
    spent = parse_budget(budget)
    check_folder(out)
    comparison = planned(words, data, spent, terms)
    with locked(out) as lock:
        write_plan(out, _plan_of(comparison), force=force)
        fingerprints = comparison.train.fingerprint(), comparison.held_out.fingerprint()
        setting = Setting(out, comparison.source, fingerprints, spent, prompts(comparison.documents),
                          passages(comparison.documents), lock)
        trials = {each.name: trials_of(each, comparison.seeds) for each in comparison.entries if each.recipe}
        for each in comparison.entries:
            if each.problem:
                log.info(f"{each.name}: cannot be trained: {each.problem}")
        try:
            outcomes = _run_trials(trials, setting)
        except KeyboardInterrupt:
            log.info("stopped; the same command continues from here.")
            raise
        return written(comparison, trials, outcomes, setting, _command(words, data, out, budget, terms))


def planned(words: Sequence[str], data: Any, budget: Budget, terms: Terms) -> Comparison:
    """Reads recipes and text, and makes the recipes comparable."""
    if terms.seeds < 1:
        raise OptionError("--seeds", terms.seeds, "at least 1")
    params = None if terms.params is None else parse_size("--params", terms.params)
    own = terms.tokenizer == OWN
    entries = contestants(words, terms.grid, own_tokenizers=own)
    _check_changes(entries, terms)
    plain = [each.resolved(applicable(each, terms.changes)) for each in entries]
    like = reads_alike(plain)
    where, notes = source(data, terms.valid, like.text, like.split.valid, like.split.seed)
    train, held_out = where.halves()
    documents = texts(held_out)
    notes += [sentence for sentence in [of_single_lines(held_out)] if sentence]
    tokenizer, note = (None, None) if own else chosen_tokenizer(terms.tokenizer, _size(train))
    split = where.fraction if terms.valid is None else 0.0
    resolved = []
    for each in entries:
        found = each.resolved([*shared_changes(each, terms, budget, tokenizer), f"split.valid={split!r}"])
        sentence = None
        if params is not None:
            found, sentence = sized(found, params, train)
        resolved.append(found)
        notes += [sentence] if sentence else []
    return Comparison(tuple(resolved), budget, tokenizer, tuple(range(terms.seeds)), where, train, held_out,
                tuple(documents), tuple([*notes, note] if note else notes), tuple(terms.grid))


def _check_changes(entries: Sequence[Contestant], terms: Terms) -> None:
    """A change that no recipe has an option for is an error."""
    for change in terms.changes:
        if not any(applicable(each, [change]) for each in entries):
            each = entries[0].resolved([change])  # finds out what is wrong with it
            raise UsageError(f"--change {change}: {each.problem or 'no recipe has such an option.'}")


def _size(corpus: Corpus) -> int:
    return sum(len(chunk.data) for chunk in corpus.chunks())


def trials_of(each: Contestant, seeds: Sequence[int]) -> list[Trial]:
    """One trial for each seed; counting models do not depend on the seed, so they get one."""
    assert each.recipe is not None
    seeds = seeds if hasattr(each.recipe, "training") else seeds[:1]
    several = len(seeds) > 1
    return [Trial(f"{each.name}, seed {seed}" if several else each.name,
                  f"{each.folder}-seed{seed}" if several else each.folder, seed,
                  make_recipe({**each.recipe.model_dump(mode="json"), "seed": seed})) for seed in seeds]


def _run_trials(trials: Mapping[str, Sequence[Trial]], setting: Setting) -> dict[str, list[dict[str, Any]]]:
    """Runs all trials, one after the other; the results of each."""
    count = sum(map(len, trials.values()))
    outcomes: dict[str, list[dict[str, Any]]] = {name: [] for name in trials}
    number = 0
    for name, own in trials.items():
        for trial in own:
            number += 1
            place = f"[{number}/{count}]"
            facts = outcome(trial, setting, place)
            outcomes[name].append(facts)
            if "failed" in facts:
                log.info(f"{place} {trial.name}: failed: {facts['failed']}")
    return outcomes


def _plan_of(comparison: Comparison) -> dict[str, Any]:
    """What identifies the comparison when it is continued."""
    return {"budget": asdict(comparison.budget), "tokenizer": comparison.tokenizer or OWN,
            "seeds": list(comparison.seeds),
            "data": comparison.train.fingerprint()[:16], "held out": comparison.held_out.fingerprint()[:16],
            "recipes": {each.name: each.recipe and each.recipe.model_dump(mode="json") for each in comparison.entries}}


def _command(words: Sequence[str], data: Any, out: Path, budget: str, terms: Terms) -> str:
    """The command that runs it again."""
    import shlex

    def options(name: str, values: Any) -> list[str]:
        listed = [values] if isinstance(values, str | Path | int) or values is None else list(values)
        return [part for value in listed if value is not None for part in (name, str(value))]

    tokenizer = None if terms.tokenizer is None else str(terms.tokenizer)
    parts = ["chainrule", "compare", *words, *options("--data", data), *options("--valid", terms.valid), "--budget",
             budget, *options("--tokenizer", tokenizer), *options("--params", terms.params),
             *(options("--seeds", terms.seeds) if terms.seeds > 1 else []), *options("--grid", terms.grid),
             *options("--change", terms.changes), *options("--plugins", map(_near, folders())), "--out", str(out)]
    return shlex.join(parts)


def _near(folder: Path) -> Path:
    """As one would type it here: a folder below this one without the way to it."""
    return folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
