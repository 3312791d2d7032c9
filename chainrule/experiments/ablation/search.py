"""A learning rate for each variant by a few short trainings, since a comparison at one rate is unfair to the others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from chainrule.errors import UsageError
from chainrule.experiments.contestants import Contestant
from chainrule.experiments.engines._engine import Engine
from chainrule.experiments.planning import Comparison
from chainrule.experiments.running import Setting, Trial, outcomes_of
from chainrule.experiments.standings import UNTIMED
from chainrule.jobs import learns_from_validation
from chainrule.recipe.recipe import Recipe, make_recipe
from chainrule.recipe.registry import resolve
from chainrule.training.plan import Budget

FACTORS = (1 / 3, 1.0, 3.0)
SHARE = 1 / 8  # of the budget, for each training of the search
RATE, KINDS = "training.optimizer.rate", {"engine": "engine/optimizers"}
LOOKED, SELDOM = 1 << 16, 1 << 30  # tokens of validation text, and steps between evaluations: only the last one counts


@dataclass(frozen=True)
class Found:
    """The variants with their rates, and what the report says of the search."""

    comparison: Comparison
    facts: dict[str, Any]  # `rates` by the name of a variant, `share` of the budget, and the `cost`
    notes: tuple[str, ...]


def check_search(entries: Sequence[Contestant]) -> None:
    """Refuses recipes without a learning rate, and a search for what is varied."""
    for each in entries:
        if each.recipe is not None and rate_of(each.recipe) is None:
            raise UsageError(f"--search: {each.name} has no {RATE}, expected a recipe with a learning rate.")
        if varied := next((change for change in each.changes if change.startswith(f"{RATE}=")), None):
            raise UsageError(f"--search finds the learning rate, which {varied} sets, expected one of the two.")


def rate_of(recipe: Recipe) -> float | None:
    """The learning rate of a recipe, the usual one of its optimizer where it says none; None where it has none."""
    choice = getattr(getattr(recipe, "training", None), "optimizer", None)
    if choice is None:
        return None
    return resolve(KINDS.get(recipe.family, "training/optimizers"), choice).get("rate")


def searched(comparison: Comparison, setting: Setting, engine: Engine) -> Found:
    """Trains each variant with several rates for a part of the budget; the lowest loss in validation gets the rest.

    A tenth of the training data is the validation data: what is held out chooses nothing. The first seed serves all.
    """
    own = replace(setting, out=setting.out / "search", search=True,
                  budget=Budget(**{setting.budget.kind: SHARE * setting.budget.amount}))  # type: ignore[arg-type]
    for folder in ("runs", "trials"):
        (own.out / folder).mkdir(parents=True, exist_ok=True)
    entries = [each for each in comparison.entries if each.recipe is not None]
    trials = {each.name: [_trial(each, factor, own.budget) for factor in FACTORS] for each in entries}
    outcomes = outcomes_of(trials, own, engine, "a tenth of the training data")
    rates = {each.name: _chosen(each, outcomes[each.name]) for each in entries}
    changed = tuple(_with_rate(each, rates[each.name]["rate"]) if each.recipe else each for each in comparison.entries)
    facts = {"share": SHARE, "factors": FACTORS, "cost": _cost(outcomes), "rates": rates}
    return Found(replace(comparison, entries=changed), facts, tuple(_notes(rates)))


def _trial(each: Contestant, factor: float, budget: Budget) -> Trial:
    assert each.recipe is not None
    rate = _rate(each.recipe, factor)
    changes = [f"{RATE}={rate!r}", f"training.budget.{budget.kind}={budget.amount!r}"]
    if not learns_from_validation(each.recipe):
        changes += [f"training.evaluate_tokens={LOOKED}", f"training.evaluate_every={SELDOM}"]
    recipe = make_recipe(each.recipe.model_dump(mode="json"), changes)
    return Trial(f"{each.name}, rate {rate:.3g}", f"{each.folder}-rate-{rate:.3g}", recipe.seed, recipe)


def _rate(recipe: Recipe, factor: float) -> float:
    rate = rate_of(recipe)
    assert rate is not None
    return rate if factor == 1 else float(f"{rate * factor:.3g}")


def _chosen(each: Contestant, outcomes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The rate with the lowest loss; the recipe's own where every training failed."""
    assert each.recipe is not None
    tried = [{"factor": factor, "rate": _rate(each.recipe, factor), "loss": facts.get("loss"),
              "failed": facts.get("failed")} for factor, facts in zip(FACTORS, outcomes, strict=True)]
    best = min(tried, key=lambda one: math.inf if one["loss"] is None else one["loss"])
    best = best if best["loss"] is not None else next(one for one in tried if one["factor"] == 1)
    return {"rate": best["rate"], "factor": best["factor"], "tried": tried}


def _with_rate(each: Contestant, rate: float) -> Contestant:
    assert each.recipe is not None
    return replace(each, recipe=make_recipe(each.recipe.model_dump(mode="json"), [f"{RATE}={rate!r}"]))


def _cost(outcomes: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    reports = [facts["report"] for own in outcomes.values() for facts in own if "report" in facts]
    seconds = sum(spent for each in reports for step, spent in each["seconds"].items() if step not in UNTIMED)
    return {"trainings": sum(map(len, outcomes.values())), "seconds": round(seconds, 3),
            "tokens": sum(each.get("tokens") or 0 for each in reports),
            "flops": sum(each.get("flops") or 0 for each in reports)}


def _notes(rates: Mapping[str, Mapping[str, Any]]) -> list[str]:
    found = []
    if edge := [name for name, each in rates.items() if each["factor"] in (min(FACTORS), max(FACTORS))]:
        found.append(f"{', '.join(edge)}: the best learning rate is the lowest or highest that was tried; one beyond "
                     "it may be better.")
    if none := [name for name, each in rates.items() if all(one["loss"] is None for one in each["tried"])]:
        found.append(f"{', '.join(none)}: every training of the search failed, so the recipe's own rate was kept.")
    return found


def of_search(search: Mapping[str, Any], budget: Budget) -> str:
    """What the search did and cost, in a sentence."""
    cost, each = search["cost"], Budget(**{k: v and SHARE * v for k, v in asdict(budget).items()})
    return (f"--search: each variant got the best of {len(FACTORS)} learning rates, by {cost['trainings']} trainings "
            f"of {each} each, {cost['seconds']:,.0f} s in all, on nine tenths of the training data.")
