"""Classification with frozen vectors: labels of texts from the mean of their words' vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import DataError
from chainrule.recipe.registry import part
from chainrule.vectors.evaluations._labeled import Labeled, files_of, looks_labeled, read_labeled
from chainrule.vectors.evaluations._texts import Means
from chainrule.vectors.logistic import Logistic, fit
from chainrule.vectors.store import Vectors

L2 = (1e-1, 1e-2, 1e-3, 1e-4)  # from the strongest: the next begins where it ended
FOLDS = 10
HELD_OUT = 0.1  # of the training texts, to choose l2 by, where there is no file for that


@part
class Classification:
    """Labeled texts: logistic regression on the mean of each text's frozen word vectors.

    −mean ln p(y|x) + l2/2 · Σ w², x standardized, l2 chosen on held-out texts. A file whose name has `train` is learned
    from and its `test` tested on, with `dev` or `valid` to choose by; a file alone, and `x.pos` with `x.neg`, are
    cross-validated in 10 folds.
    """

    units, measured_by = "texts", "accuracy"

    @staticmethod
    def recognizes(path: Path) -> bool:
        """By a label at the beginning of each line, or by its name: x.pos beside x.neg."""
        return looks_labeled(path)

    @staticmethod
    def files(path: Path) -> list[Path]:
        """All that is read with this file."""
        return files_of(path).all()

    def measure(self, vectors: Vectors, path: Path) -> dict[str, Any]:
        return self._measured(vectors, path)[0]

    def answers(self, vectors: Vectors, path: Path) -> np.ndarray:
        """(texts, 2): whether the label is right, and 1."""
        right = self._measured(vectors, path)[1]
        return np.stack([right, np.ones(len(right))], axis=1).astype(np.float64)

    def _measured(self, vectors: Vectors, path: Path) -> tuple[dict[str, Any], np.ndarray]:
        files, means = files_of(path), Means(vectors)
        train = read_labeled(files.train)
        if len(train.classes) < 2:
            raise DataError(f"{path}: {len(train.classes)} label, expected at least 2.")
        x = means.of(train.texts)
        if files.test is None:
            found, right = _in_folds(x, train.labels, len(train.classes))
        else:
            test = read_labeled([files.test], train.classes)
            held = None if files.valid is None else read_labeled([files.valid], train.classes)
            given = None if held is None else (means.of(held.texts), held.labels)
            found, right = _tested(x, train, (means.of(test.texts), test.labels), given)
        return {"classes": len(train.classes), **found, "coverage": means.coverage}, right


Given = tuple[np.ndarray, np.ndarray]  # features (B, D) and classes (B,)


def _tested(x: np.ndarray, train: Labeled, test: Given, valid: Given | None
            ) -> tuple[dict[str, Any], np.ndarray]:
    learned, scale, l2 = _learned((x, train.labels), len(train.classes), valid)
    right = learned.predict(scale(test[0])) == test[1]
    return {"train": len(x), "valid": 0 if valid is None else len(valid[1]), "test": len(right),
            **_figures(right, test[1]), "l2": l2}, right


def _in_folds(x: np.ndarray, y: np.ndarray, classes: int) -> tuple[dict[str, Any], np.ndarray]:
    """Each text is classified by a model that was not trained on it; the folds are the same every time."""
    fold = np.random.default_rng(0).permutation(len(y)) % FOLDS
    right = np.zeros(len(y), bool)
    for number in range(min(FOLDS, len(y))):
        out = fold == number
        learned, scale, _ = _learned((x[~out], y[~out]), classes, None)
        right[out] = learned.predict(scale(x[out])) == y[out]
    return {"texts": len(y), "folds": FOLDS, **_figures(right, y)}, right


def _learned(given: Given, classes: int, valid: Given | None) -> tuple[Logistic, Any, float]:
    """A model, how its inputs are standardized, and the l2 that was best on held-out texts."""
    x, y = given
    mean, deviation = x.mean(0), x.std(0)
    deviation[deviation == 0] = 1

    def scale(x: np.ndarray) -> np.ndarray:
        return (x - mean) / deviation

    x = scale(x)
    if valid is None:
        out = np.random.default_rng(1).permutation(len(y)) < HELD_OUT * len(y)
        inner, judged = (x[~out], y[~out]), (x[out], y[out])
    else:
        inner, judged = (x, y), (scale(valid[0]), valid[1])
    model, best = None, (-1.0, L2[0], None)
    for l2 in L2:
        model = fit(*inner, classes, l2=l2, start=model)
        accuracy = float((model.predict(judged[0]) == judged[1]).mean())
        best = max(best, (accuracy, l2, model), key=lambda each: each[0])  # type: ignore[assignment]
    _, l2, model = best
    return (fit(x, y, classes, l2=l2, start=model) if valid is None else model), scale, l2  # type: ignore[return-value]


def _figures(right: np.ndarray, y: np.ndarray) -> dict[str, float]:
    share = float(right.mean())
    return {"accuracy": share, "standard_error": float(np.sqrt(share * (1 - share) / len(right))),
            "most_frequent": float(np.bincount(y[y >= 0]).max() / len(y))}
