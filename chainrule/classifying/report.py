"""What a classifier's answers on labeled inputs amount to: macro-F1, intervals, calibration, confusions, mistakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from chainrule.evaluation.calibration import calibration_error
from chainrule.evaluation.measures.accuracy import Accuracy
from chainrule.inputs.labeled import Example

PAIRS, WRONG, SHOWN = 50, 10, 300  # confusions and mistakes that are kept; characters of a text
DRAWS = 2_000
OUTSIDE = "(out of scope)"  # in the place of a label: what a rejected input is given, and one with unknown labels has


class Answered:
    """Collects the likeliest label of each input beside its own; one with several counts under the likeliest of them.

    With a threshold, an input whose likeliest label has a smaller probability is rejected, which is right for one that
    has only labels which training never had.
    """

    def __init__(self, labels: Sequence[str], threshold: float | None = None):
        self.labels, self.threshold = labels, threshold
        self.pairs = Counter[tuple[str, str]]()  # own label, given label
        self.sure: list[np.ndarray] = []
        self.right: list[np.ndarray] = []
        self.kept: list[np.ndarray] = []
        self.worst: list[dict[str, Any]] = []

    def add(self, logs: np.ndarray, examples: Sequence[Example], ids: dict[str, int]) -> None:
        """The model's ln p of some inputs."""
        best, sure = logs.argmax(1), np.exp(logs.max(1))
        right, kept = np.zeros(len(best), bool), sure >= (self.threshold or 0)
        for row, (each, own) in enumerate(zip(examples, logs, strict=True)):
            given = self.labels[best[row]] if kept[row] else OUTSIDE
            known = self.threshold is None or any(label in ids for label in each.labels)
            labels = each.labels if known else (OUTSIDE,)
            right[row] = given in labels
            true = given if right[row] else max(labels, key=lambda label: _log(own, ids, label))
            self.pairs[true, given] += 1
            if not right[row]:
                self.worst.append({"source": each.source, "line": each.line, "labels": list(each.labels),
                                   "given": given, "probability": float(np.exp(own.max())),
                                   "log_probability": _log(own, ids, true),
                                   "text": each.text[:SHOWN].decode(errors="replace")})
        self.worst = sorted(self.worst, key=lambda row: row["log_probability"])[:WRONG]
        self.sure.append(sure)
        self.right.append(right)
        self.kept.append(kept)

    def figures(self, draws: int = DRAWS, seed: int = 0) -> dict[str, Any]:
        """Macro-F1 over all labels that occur or were given, 95 % intervals, the calibration error, and mistakes."""
        right, kept, cells = np.concatenate(self.right), np.concatenate(self.kept), list(self.pairs.items())
        interval: dict[str, Any] = {"accuracy": list(Accuracy().interval(
            np.array([[right.sum(), len(right)]], float)))}
        found = {"macro_f1": float(_macro_f1(cells, np.array([[count for _, count in cells]]))[0])}
        if draws and len(right) > 3:
            interval["macro_f1"] = _resampled(cells, len(right), min(draws, DRAWS), seed)
        mistakes = [{"true": true, "given": given, "count": count}
                    for (true, given), count in self.pairs.most_common() if true != given][:PAIRS]
        wrong = [row | {"log_probability": row["log_probability"] if np.isfinite(row["log_probability"]) else None}
                 for row in self.worst]
        error = calibration_error(np.concatenate(self.sure)[kept], right[kept]) if kept.any() else None
        return found | {"interval": interval, "calibration_error": error, "confusions": mistakes, "most_wrong": wrong}


def _log(own: np.ndarray, ids: dict[str, int], label: str) -> float:
    """−∞ for a label that training never had."""
    return float(own[ids[label]]) if label in ids else -np.inf


def _macro_f1(cells: Sequence[tuple[tuple[str, str], int]], counts_DK: np.ndarray) -> np.ndarray:
    """(D,): the mean over labels of 2 hits / (own + given), of D ways to count the same cells."""
    labels = sorted({label for pair, _ in cells for label in pair})
    number = {label: n for n, label in enumerate(labels)}
    hits, sums = np.zeros((2, len(counts_DK), len(labels)))
    for k, ((true, given), _) in enumerate(cells):
        sums[:, number[true]] += counts_DK[:, k]
        sums[:, number[given]] += counts_DK[:, k]
        if true == given:
            hits[:, number[true]] += counts_DK[:, k]
    with np.errstate(invalid="ignore"):
        return np.nanmean(2 * hits / sums, axis=1)


def _resampled(cells: Sequence[tuple[tuple[str, str], int]], total: int, draws: int, seed: int) -> list[float]:
    """Inputs drawn with replacement: how many fall into each cell is multinomial."""
    shares = np.array([count for _, count in cells], float) / total
    found = _macro_f1(cells, np.random.default_rng(seed).multinomial(total, shares, draws))
    return [float(each) for each in np.quantile(found, [0.025, 0.975])]
