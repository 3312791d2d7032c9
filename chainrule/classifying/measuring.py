"""How good a classifier is on labeled texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from chainrule.classifying.labeled import Example
from chainrule.classifying.model import TextClassifier, label_ids
from chainrule.classifying.spelling import BLOCK
from chainrule.errors import DataError
from chainrule.threads import cores

TEXTS = 10_000  # looked at together, at most; and BLOCK bytes for each processor


def measure(model: TextClassifier, examples: Iterable[Example], name: str) -> dict[str, Any]:
    """Of the likeliest label: the share that is right, the share of all labels that was found, and both by label.

    With one label a text, precision, recall and accuracy are one number. Labels that training never saw cannot be
    right; they are counted. Texts are read a few at a time.
    """
    size, texts, lost, unknown = len(model.labels), 0, 0.0, 0
    counted, guessed, correct = (np.zeros(size, np.int64) for _ in range(3))
    ids = label_ids(model.labels)
    for some in _together(examples):
        chances = model.probabilities([each.text for each in some])
        pairs = np.array([(text, ids.get(label, -1)) for text, each in enumerate(some) for label in set(each.labels)])
        known = pairs[pairs[:, 1] >= 0]
        first = chances.argmax(1)
        hits = known[first[known[:, 0]] == known[:, 1], 1]
        texts, unknown = texts + len(some), unknown + len(pairs) - len(known)
        lost -= float(np.log(np.maximum(chances[known[:, 0], known[:, 1]].astype(float), 1e-300)).sum())
        counted += np.bincount(known[:, 1], minlength=size)
        guessed += np.bincount(first, minlength=size)
        correct += np.bincount(hits, minlength=size)
    if not texts:
        raise DataError(f"{name}: no text with a label.")
    right, labels = int(correct.sum()), int(counted.sum())
    return {"examples": texts, "labels": labels + unknown, "unknown_labels": unknown, "accuracy": right / texts,
            "precision": right / texts, "recall": right / (labels + unknown),
            "log_loss": lost / labels if labels else None,  # −ln p of the labels that the model knows
            "per_label": _by_label(model, counted, guessed, correct)}


def _together(examples: Iterable[Example]) -> Iterator[list[Example]]:
    found, size, most = list[Example](), 0, BLOCK * cores()
    for each in examples:
        found.append(each)
        size += len(each.text)
        if len(found) >= TEXTS or size >= most:
            yield found
            found, size = [], 0
    if found:
        yield found


def _by_label(model: TextClassifier, counted: np.ndarray, guessed: np.ndarray, correct: np.ndarray
              ) -> dict[str, dict[str, Any]]:
    rows = {}
    for number, label in enumerate(model.labels):
        texts, said, hits = int(counted[number]), int(guessed[number]), int(correct[number])
        rows[label] = {"count": texts, "predicted": said, "correct": hits, "precision": hits / said if said else None,
                       "recall": hits / texts if texts else None,
                       "f1": 2 * hits / (texts + said) if texts + said else None}
    return rows
