"""Rows of the table: the results of each contestant, with the losses that intervals and pairs are computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.evaluation.resampling import FEW, first_lines, stretch_bytes
from chainrule.evaluation.significance import studentized
from chainrule.experiments.contestants import Contestant
from chainrule.experiments.convergence import FEW_STEPS, still_falling
from chainrule.experiments.losses import Losses, Units
from chainrule.experiments.running import Setting, Trial
from chainrule.storage.tensors import open_tensors
from chainrule.training.plan import Budget

WORSE = 1.02  # last loss of a curve divided by its best: below this it may be chance
NEAR = 0.01  # of the budget
UNTIMED = ("reading", "saving", "validating", "total")  # steps of a job that are not training
NEEDED = ("model.safetensors", "tokenizer.json")  # files that belong to the model itself


@dataclass(frozen=True)
class Standing:
    """A row, and what intervals and pairs are computed from.

    A comparable row has the losses of each seed along the text, and the bits of each unit. One whose tokens lose text
    has the bits and tokens of stretches of it.
    """

    row: dict[str, Any]
    outcomes: tuple[dict[str, Any], ...] = ()
    losses: tuple[Losses, ...] = ()
    unit_bits: np.ndarray | None = None  # the mean over seeds
    unit_tokens: np.ndarray | None = None
    seed_bits: tuple[float, ...] = ()  # of the whole text, for each seed
    unit_seeds: tuple[np.ndarray, ...] = ()  # the bits of each unit, for each seed


def standing(contestant: Contestant, trials: Sequence[Trial], outcomes: Sequence[dict[str, Any]], setting: Setting,
             units: Units) -> Standing:
    """The results of one contestant's seeds; it failed only if all of them did."""
    done = [(trial, facts) for trial, facts in zip(trials, outcomes, strict=True) if "failed" not in facts]
    problem = contestant.problem or next((facts["failed"] for facts in outcomes if "failed" in facts), None)
    if not done:
        return Standing(failed(contestant, problem or "nothing was trained."))
    facts = tuple(each for _, each in done)
    if why := next((found for each in facts if (found := _unusable(each, setting.budget))), None):
        return Standing(failed(contestant, why))
    arrays = [open_tensors(setting.result(trial).with_suffix(".safetensors")) for trial, _ in done]
    comparable = all(each["lossless"] for each in facts)
    rated = [_per_byte(array, units) for array in arrays]
    row = _row(contestant, done, setting) | {
        "bits_per_byte": float(np.mean([rate for rate, _ in rated])),
        "perplexity": float(2 ** np.mean([np.asarray(array["bits"]).mean() for array in arrays])),
        "comparable": comparable, "why": problem,
        "seeds": [{"seed": trial.seed, "bits_per_byte": rate, "run": f"runs/{trial.folder}"}
                  for (trial, _), (rate, _) in zip(done, rated, strict=True)]}
    row["spread"] = float(np.std([rate for rate, _ in rated], ddof=1)) if len(rated) > 1 else None
    if not comparable:
        each_bits, tokens, size = _of_blocks(arrays)
        bits = np.mean(each_bits, axis=0)
        row["interval"] = of_loss(studentized(bits[:, None], size)[0])
        return Standing(row, facts, (), bits, tokens, tuple(float(np.sum(each["bits"])) for each in arrays), each_bits)
    losses = tuple(Losses(np.asarray(array["ends"]), np.asarray(array["bits"])) for array in arrays)
    of_seeds = tuple(each.between(units.places) for each in losses)
    return Standing(row, facts, losses, np.mean(of_seeds, axis=0), unit_seeds=of_seeds)


def failed(contestant: Contestant, why: str) -> dict[str, Any]:
    """A row that says why it has no numbers."""
    family = contestant.recipe.family if contestant.recipe else None
    return empty_row(contestant.name, "model", family) | {"status": "failed", "why": why, "comparable": False}


def empty_row(name: str, kind: str, family: str | None) -> dict[str, Any]:
    """Every key that a row has."""
    return {"name": name, "kind": kind, "family": family, "status": "ok", "why": None, "run": None,
            "bits_per_byte": None, "interval": None,
            "perplexity": None, "perplexity_interval": None, "perplexity_spread": None,
            "comparable": True, "seeds": [], "spread": None, "still_falling": None,
            "parameters": None, "steps": None, "flops": None, "tokens": None, "disk_bytes": None, "weights": None,
            "measured": {"training_seconds": None, "tokens_per_second": None, "peak_memory": None,
                         "generation_tokens_per_second": None}}


def _unusable(facts: Mapping[str, Any], budget: Budget) -> str | None:
    """Why a finished training gives no number."""
    report = facts["report"]
    if facts["impossible"]:
        return (f"calls {facts['impossible']:,} held-out tokens impossible, so its bits per byte are infinite. Try "
                "another smoothing.")
    spent = report.get(budget.kind) if budget.kind != "seconds" else None
    if report.get("steps") == 1 and spent and spent > 1.5 * budget.amount:
        return f"the budget of {budget} is too small to train anything: a single step takes {spent:,.3g} {budget.kind}."
    seconds = report["seconds"].get("training", 0.0)
    if budget.kind == "seconds" and report.get("steps", FEW_STEPS) < 3 and seconds > 1.03 * budget.amount + 2:
        return f"the budget of {budget} is too small to train anything: {report['steps']} steps took {seconds:,.1f} s."
    return None


def overfitted(standing: Standing) -> str | None:
    """A note about a row that was better earlier in its training: too little text for its budget."""
    for report in (facts["report"] for facts in standing.outcomes):
        best, last = report.get("best") or {}, report.get("last") or {}
        if not {"step", "bits_per_byte"} <= best.keys() & last.keys() or report.get("kept") != last["step"]:
            continue
        if last["bits_per_byte"] > WORSE * best["bits_per_byte"]:
            return (f"{standing.row['name']} was better at step {best['step']:,} of {last['step']:,} (its curve: "
                    f"{best['bits_per_byte']:.3f} bits per byte, then {last['bits_per_byte']:.3f}): it overfitted the "
                    "training text. training.patience=3 after its name stops it early, by validation on a tenth of "
                    "the training text.")
    return None


def off_budget(rows: Sequence[Mapping[str, Any]], budget: Budget) -> list[str]:
    """Notes about rows whose steps are so large that they missed the budget: one for all that spent the same share."""
    shares: dict[str, list[str]] = {}
    for row in rows:
        spent = row.get(budget.kind) if row["steps"] else None
        if spent and budget.kind != "seconds" and abs(spent / budget.amount - 1) > NEAR:
            shares.setdefault(f"{spent / budget.amount:.1%}", []).append(row["name"])
    verbs = {True: "it trains", False: "they train"}
    return [f"{', '.join(names)} spent {share} of the budget, because {verbs[len(names) == 1]} in whole steps."
            for share, names in shares.items()]


def _per_byte(array: Mapping[str, np.ndarray], units: Units) -> tuple[float, int]:
    size = int(array["unit_bytes"].sum()) if "unit_bytes" in array else int(units.bytes.sum())
    return float(np.asarray(array["bits"]).sum() / size), size


def _of_blocks(arrays: Sequence[Mapping[str, np.ndarray]]
               ) -> tuple[tuple[np.ndarray, ...], np.ndarray, np.ndarray]:
    """Bits (of each seed), tokens and bytes of stretches of a text whose tokenizer loses some of it."""
    ends, size = np.asarray(arrays[0]["unit_ends"]), np.asarray(arrays[0]["unit_bytes"], np.float64)
    firsts = first_lines(size)
    stops = np.append(ends[firsts[1:] - 1], ends[-1])
    if len(firsts) < FEW:  # too few units: equal numbers of tokens, as `evaluation.resampling` has it
        step = max(1, round(ends[-1] / size.sum() * stretch_bytes(int(size.sum()))))
        stops = np.append(np.arange(step, ends[-1], step), ends[-1])
    starts = np.append(0, stops[:-1])
    bits = tuple(np.add.reduceat(np.asarray(each["bits"]), starts) for each in arrays)
    places = np.interp(np.append(0, stops), np.append(0, ends), np.append(0, np.cumsum(size)))
    return bits, stops - starts, np.diff(places)


def finite(found: Any) -> list[float] | None:
    """An interval, or nothing where there is too little to have one."""
    return [found.low, found.high] if np.isfinite([found.low, found.high]).all() else None


def of_loss(found: Any) -> list[float] | None:
    """The interval of a loss, which is never below 0: cutting it there leaves out no value that the loss may have."""
    ends = finite(found)
    return ends and [max(0.0, end) for end in ends]


def _row(contestant: Contestant, done: Sequence[tuple[Trial, dict[str, Any]]], setting: Setting) -> dict[str, Any]:
    assert contestant.recipe is not None
    reports = [facts["report"] for _, facts in done]
    first = reports[0]
    row = empty_row(contestant.name, "model", contestant.recipe.family)
    return row | {
        "run": f"runs/{done[0][0].folder}", "parameters": first.get("parameters", sum(first.get("ngrams", ())) or None),
        "steps": first.get("steps"), "still_falling": still_falling([setting.run(trial) for trial, _ in done]),
        "flops": first.get("flops"), "tokens": first.get("tokens"),
        "disk_bytes": sum(_size(setting.run(done[0][0]) / name) for name in NEEDED),
        "measured": _measured(reports, [facts for _, facts in done])}


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _measured(reports: Sequence[Mapping[str, Any]], facts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    seconds = [sum(spent for step, spent in report["seconds"].items() if step not in UNTIMED) for report in reports]
    speeds = [report.get("tokens_per_second") or report.get("tokens", 0) / max(spent, 1e-9)
              for report, spent in zip(reports, seconds, strict=True)]
    return {"training_seconds": round(float(np.mean(seconds)), 3), "tokens_per_second": round(float(np.mean(speeds))),
            "peak_memory": max(report["peak_memory"] for report in reports),
            "generation_tokens_per_second": round(float(np.mean([each["generation_tokens_per_second"]
                                                                 for each in facts])), 1)}
