"""Rows of the table: each contestant's measure over the units that all could answer, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.evaluation.measures._measure import Measure
from chainrule.evaluation.ranking import Answers, Entry
from chainrule.experiments.by_measure.answers import read_answers
from chainrule.experiments.contestants import Contestant
from chainrule.experiments.running import Setting, Trial
from chainrule.experiments.standings import NEEDED, UNTIMED


@dataclass(frozen=True)
class Row:
    """A row of the report, and the answers of each seed behind it; none if it failed."""

    row: dict[str, Any]
    answers: tuple[Answers, ...] = ()

    def entry(self, common: np.ndarray) -> Entry:
        """Its tables over the units that all rows answered."""
        return Entry(self.row["name"], tuple(each.table[common] for each in self.answers))


def row_of(contestant: Contestant, trials: Sequence[Trial], outcomes: Sequence[Mapping[str, Any]], setting: Setting
           ) -> Row:
    """The results of one contestant's seeds; it failed only if all of them did."""
    done = [(trial, facts) for trial, facts in zip(trials, outcomes, strict=True) if "failed" not in facts]
    problem = contestant.problem or next((facts["failed"] for facts in outcomes if "failed" in facts), None)
    family = contestant.recipe.family if contestant.recipe else None
    if not done:
        return Row(empty_row(contestant.name, "model", family) | {
            "status": "failed", "why": problem or "nothing was trained."})
    answers = tuple(read_answers(setting.result(trial), facts) for trial, facts in done)
    reports, run = [facts["report"] for _, facts in done], setting.run(done[0][0])
    return Row(empty_row(contestant.name, "model", family) | {
        "why": problem, "run": f"runs/{done[0][0].folder}", "beside": _mean([each.beside for each in answers]),
        "seeds": [{"seed": trial.seed, "value": None, "run": f"runs/{trial.folder}"} for trial, _ in done],
        "passes": reports[0].get("passes"),
        "disk_bytes": sum(path.stat().st_size for name in NEEDED if (path := run / name).exists()),
        "measured": {"training_seconds": round(float(np.mean([_seconds(each) for each in reports])), 3),
                     "peak_memory": max(each["peak_memory"] for each in reports)}}, answers)


def baseline(name: str, answers: Answers) -> Row:
    """The row of a rule that needs no training."""
    return Row(empty_row(name, "baseline", None) | {"beside": dict(answers.beside)}, (answers,))


def empty_row(name: str, kind: str, family: str | None) -> dict[str, Any]:
    """Every key that a row has."""
    return {"name": name, "kind": kind, "family": family, "status": "ok", "why": None, "run": None, "value": None,
            "interval": None, "spread": None, "beside": {}, "seeds": [], "passes": None, "disk_bytes": None,
            "measured": {"training_seconds": None, "peak_memory": None}}


def common_units(rows: Sequence[Row]) -> np.ndarray:
    """(R,): which units every model could answer, so that all are measured on the same."""
    return np.logical_and.reduce([each.known for row in rows for each in row.answers])


def put_values(row: Row, common: np.ndarray, measure: Measure) -> None:
    """Sets the measure of a row: the mean of its seeds, each of them, and how far they lie apart."""
    values = [measure.value(table) for table in row.entry(common).tables]
    known = [None if np.isnan(value) else value for value in values]
    for seed, value in zip(row.row["seeds"], known, strict=False):
        seed["value"] = value
    if None not in known:
        row.row["value"] = float(np.mean(values))
        row.row["spread"] = float(np.std(values, ddof=1)) if len(values) > 1 else None


def _mean(each: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for key in each[0]:
        values = [own[key] for own in each]
        found[key] = None if None in values else float(np.mean([value for value in values if value is not None]))
    return found


def _seconds(report: Mapping[str, Any]) -> float:
    return sum(spent for step, spent in report["seconds"].items() if step not in UNTIMED)
