"""How good a classifier is on labeled texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from chainrule.classifying.labeled import Example
from chainrule.classifying.model import TextClassifier, label_ids
from chainrule.errors import DataError


def measure(model: TextClassifier, examples: Iterable[Example], name: str) -> dict[str, Any]:
    """Of the likeliest label: the share that is right, the share of all labels that was found, and both by label.

    With one label a text, precision, recall and accuracy are one number. Labels that training never saw cannot be
    right; they are counted.
    """
    found = list(examples)
    if not found:
        raise DataError(f"{name}: no text with a label.")
    ids = label_ids(model.labels)
    chances = model.probabilities([each.text for each in found])
    first = chances.argmax(1)
    wanted = [[ids.get(label, -1) for label in each.labels] for each in found]
    right = np.array([guess in own for guess, own in zip(first.tolist(), wanted, strict=True)])
    every = np.array([label for own in wanted for label in own])
    return {"examples": len(found), "labels": len(every), "unknown_labels": int((every < 0).sum()),
            "accuracy": float(right.mean()), "precision": float(right.mean()),
            "recall": float(right.sum() / len(every)), "log_loss": _log_loss(chances, wanted),
            "per_label": _by_label(model, first, right, every)}


def _log_loss(chances: np.ndarray, wanted: list[list[int]]) -> float | None:
    """−ln p of the labels that the model knows, in nats; the mean over them."""
    pairs = [(text, label) for text, own in enumerate(wanted) for label in own if label >= 0]
    if not pairs:
        return None
    texts, labels = np.array(pairs).T
    return float(-np.log(np.maximum(chances[texts, labels].astype(float), 1e-300)).mean())


def _by_label(model: TextClassifier, first: np.ndarray, right: np.ndarray, every: np.ndarray
              ) -> dict[str, dict[str, Any]]:
    size = len(model.labels)
    counted = np.bincount(every[every >= 0], minlength=size)
    guessed, correct = np.bincount(first, minlength=size), np.bincount(first[right], minlength=size)
    rows = {}
    for number, label in enumerate(model.labels):
        texts, said, hits = int(counted[number]), int(guessed[number]), int(correct[number])
        rows[label] = {"count": texts, "predicted": said, "correct": hits, "precision": hits / said if said else None,
                       "recall": hits / texts if texts else None,
                       "f1": 2 * hits / (texts + said) if texts + said else None}
    return rows
