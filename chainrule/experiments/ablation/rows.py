"""The rows of an ablation, as Narang et al. 2021 (arXiv:2102.11972, table 1) have them: cost, early and final loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from chainrule.errors import UsageError
from chainrule.experiments.ablation.curves import BYTES, TOKENS, TRAINING, early_loss, mean_curve, seed_curve
from chainrule.experiments.ablation.judges import ByMeasure, ByText, Judge
from chainrule.experiments.by_measure.rows import Row as MeasuredRow
from chainrule.experiments.by_measure.rows import common_units, row_of
from chainrule.experiments.contestants import Contestant
from chainrule.experiments.holdout import piece
from chainrule.experiments.losses import Units, units
from chainrule.experiments.planning import Comparison
from chainrule.experiments.running import Setting, Trial
from chainrule.experiments.standings import UNTIMED, Standing, standing

Trials = Mapping[str, Sequence[Trial]]
Outcomes = Mapping[str, Sequence[dict[str, Any]]]


@dataclass(frozen=True)
class Scored:
    """A variant: its row, and what each of its seeds did on every unit; nothing where all of them failed."""

    contestant: Contestant
    row: dict[str, Any]
    tables: dict[int, np.ndarray] = field(default_factory=dict)
    curve: list[dict[str, float]] = field(default_factory=list)


@dataclass(frozen=True)
class Scores:
    """All variants, the base first, what they are judged by, over which units, and what curves are of."""

    variants: tuple[Scored, ...]
    judge: Judge
    units: str
    curves_of: str
    notes: tuple[str, ...] = ()


def scores(comparison: Comparison, trials: Trials, outcomes: Outcomes, setting: Setting) -> Scores:
    """Everything that was measured, by the text itself or by the task's measure."""
    if comparison.contest is None:
        return _by_text(comparison, trials, outcomes, setting)
    return _by_measure(comparison, trials, outcomes, setting)


def _by_text(comparison: Comparison, trials: Trials, outcomes: Outcomes, setting: Setting) -> Scores:
    drawn = units(comparison.documents, piece(comparison.held_out))
    found = [standing(each, trials.get(each.name, []), outcomes.get(each.name, []), setting, drawn)
             for each in comparison.entries]
    judge, kind, note = _judge(found, drawn)
    of = BYTES if judge.label == BYTES else TOKENS
    scored = []
    for each, own in zip(comparison.entries, found, strict=True):
        tables = dict(zip([seed["seed"] for seed in own.row["seeds"]], own.unit_seeds, strict=True))
        scored.append(_scored(each, own.row, tables, own.outcomes, (judge, of), setting))
    return Scores(tuple(scored), judge, kind, of, tuple(filter(None, [note])))


def _judge(found: Sequence[Standing], drawn: Units) -> tuple[ByText, str, str | None]:
    """Bits per byte; bits per token where the tokens lose text, which must be the same tokens for all."""
    known = [each for each in found if each.unit_seeds]
    lossy = [each for each in known if each.unit_tokens is not None]
    if not lossy:
        return ByText(drawn.bytes), drawn.kind, drawn.note
    ids = {(facts["tokenizer"], facts.get("ids")) for each in known for facts in each.outcomes}
    if len(lossy) < len(known) or len(ids) > 1:
        raise UsageError("the variants have different tokens, and some of them lose text: neither bits per byte nor "
                         "bits per token compares them. Try --tokenizer byte_pair, which is the same for all.")
    return (ByText(np.asarray(lossy[0].unit_tokens), "bits/token"), "blocks",
            "the tokenizer loses text, so the numbers are bits per token: they compare with no other tokenizer's.")


def _by_measure(comparison: Comparison, trials: Trials, outcomes: Outcomes, setting: Setting) -> Scores:
    assert comparison.contest is not None
    found = [row_of(each, trials.get(each.name, []), outcomes.get(each.name, []), setting)
             for each in comparison.entries]
    done: list[MeasuredRow] = [each for each in found if each.answers]
    common = common_units(done) if done else np.zeros(0, bool)
    judge = ByMeasure(comparison.contest.measure, int(common.sum()))
    scored = []
    for each, own in zip(comparison.entries, found, strict=True):
        tables = own.entry(common).tables if own.answers else ()
        seeds = [seed["seed"] for seed in own.row["seeds"]]
        facts = [facts for facts in outcomes.get(each.name, []) if "failed" not in facts]
        scored.append(_scored(each, own.row, dict(zip(seeds, tables, strict=True)), facts, (judge, TRAINING), setting))
    note = None if common.all() else (
        f"{int(common.sum()):,} of {len(common):,} {comparison.contest.units} can be answered by every variant, and "
        "the measure is over those.")
    return Scores(tuple(scored), judge, comparison.contest.units, TRAINING, tuple(filter(None, [note])))


def _scored(contestant: Contestant, old: Mapping[str, Any], tables: dict[int, np.ndarray],
            facts: Sequence[Mapping[str, Any]], by: tuple[Judge, str], setting: Setting) -> Scored:
    judge, of = by
    row = empty_row(contestant.name, contestant.changes) | {name: old[name] for name in ("status", "why", "run")}
    if old["status"] != "ok" or not tables:
        return Scored(contestant, row)
    values = [judge.value(table) for table in tables.values()]
    runs = [seed["run"] for seed in old["seeds"]]
    curves = [seed_curve(setting.out / run, of) for run in runs]
    row |= _costs([each["report"] for each in facts]) | {
        "value": float(np.mean(values)), "spread": float(np.std(values, ddof=1)) if len(values) > 1 else None,
        "early": early_loss(curves, setting.budget),
        "seeds": [{"seed": seed, "value": value, "run": run}
                  for seed, value, run in zip(tables, values, runs, strict=True)]}
    return Scored(contestant, row, tables, mean_curve(curves, setting.budget.kind))


def empty_row(name: str, changes: Sequence[str]) -> dict[str, Any]:
    """Every key that a row has."""
    return {"name": name, "changes": list(changes), "status": "ok", "why": None, "run": None, "parameters": None,
            "steps": None, "tokens": None, "flops": None, "flops_per_token": None, "early": None, "value": None,
            "spread": None, "seeds": [], "effect": None, "gain_at_equal_flops": None, "rate": None,
            "measured": {"steps_per_second": None, "training_seconds": None, "peak_memory": None}}


def _costs(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the first seed's report says, and means over seeds of what depends on the clock."""
    first = reports[0]
    flops, tokens = first.get("flops"), first.get("tokens")
    seconds = [sum(spent for step, spent in each["seconds"].items() if step not in UNTIMED) for each in reports]
    rates = [each["steps"] / each["tokens"] * each["tokens_per_second"] for each in reports
             if each.get("steps") and each.get("tokens") and each.get("tokens_per_second")]
    ngrams = first.get("ngrams")  # a list of counts is the size of an n-gram model
    return {"parameters": first.get("parameters", sum(ngrams) if isinstance(ngrams, list) else None),
            "steps": first.get("steps"), "tokens": tokens, "flops": flops,
            "flops_per_token": round(flops / tokens) if flops and tokens else None,
            "measured": {"steps_per_second": round(float(np.mean(rates)), 3) if rates else None,
                         "training_seconds": round(float(np.mean(seconds)), 3),
                         "peak_memory": max(each["peak_memory"] for each in reports)}}
