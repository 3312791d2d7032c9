"""Where a classifier goes wrong on labeled texts: the labels it confuses, and the texts it is most wrong about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import DataError
from chainrule.protocols import Classifier
from chainrule.runs import LoadedRun, opened, task_of

MOST = 60  # labels in the matrix: those with the most mistakes
PAIRS, WRONG = 20, 10


def confusions(run: str | Path | LoadedRun, data: str | Path | Sequence[str | Path], *, wrong: int = WRONG
               ) -> dict[str, Any]:
    """How often each label was given in the place of each other, and the texts whose own label was least likely.

    A text with several labels counts under the likeliest of them that the model should have given.
    """
    from chainrule.classifying.measuring import together
    from chainrule.inputs.labeled import labeled, layout_of

    loaded = opened(run)
    model, recipe, task = loaded.offering(Classifier, "inspect --data"), loaded.recipe, task_of(loaded)
    corpus = task.open(data, recipe)
    counts, worst, texts, right = Counter[tuple[str, str]](), list[dict[str, Any]](), 0, 0
    ids = {label: n for n, label in enumerate(model.labels)}
    for some in together(labeled(corpus, layout_of(recipe))):
        logs = model.log_probabilities([each.text for each in some])
        for own, each in zip(logs, some, strict=True):
            given = model.labels[int(own.argmax())]
            true = given if given in each.labels else max(each.labels, key=lambda label: _log(own, ids, label))
            texts, right = texts + 1, right + (true == given)
            counts[true, given] += 1
            if true != given:
                worst.append({"text": each.text.decode(errors="replace"), "source": each.source, "line": each.line,
                              "labels": list(each.labels), "given": given, "probability": float(np.exp(own.max())),
                              "log_probability": _finite(_log(own, ids, true))})
        worst = sorted(worst, key=_likelihood)[:wrong]
    if not texts:
        raise DataError(f"{corpus.name}: no {task.modality.called} with a label.")
    return {"data": corpus.name, "units": task.modality.plural, "texts": texts, "right": right,
            "accuracy": right / texts, **_matrix(counts),
            "pairs": [{"true": true, "given": given, "count": count} for (true, given), count in counts.most_common()
                      if true != given][:PAIRS], "wrong": worst}


def _matrix(counts: Counter[tuple[str, str]]) -> dict[str, Any]:
    """Rows are true labels, columns given ones; of many labels those with the most mistakes."""
    every = {label for pair in counts for label in pair}
    mistakes, seen = Counter[str](), Counter[str]()
    for (true, given), count in counts.items():
        seen[true] += count
        if true != given:
            mistakes[true] += count
            mistakes[given] += count
    kept = sorted(sorted(every, key=lambda label: (-mistakes[label], -seen[label], label))[:MOST])
    return {"labels": kept, "of": len(every), "matrix": [[counts[true, given] for given in kept] for true in kept]}


def _log(own: np.ndarray, ids: dict[str, int], label: str) -> float:
    return float(own[ids[label]]) if label in ids else -np.inf


def _likelihood(row: dict[str, Any]) -> float:
    return -np.inf if row["log_probability"] is None else row["log_probability"]


def _finite(value: float) -> float | None:
    """None for a label that training never had."""
    return value if np.isfinite(value) else None
