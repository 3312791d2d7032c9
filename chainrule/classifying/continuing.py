"""Going on with a classifier: earlier words, n-grams and labels keep their rows, those of the new texts are added."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from chainrule.classifying.beginning import Beginning
from chainrule.classifying.features import Features
from chainrule.classifying.model import TextClassifier
from chainrule.classifying.targets import Gathered, Targets
from chainrule.errors import DataError, UsageError


@dataclass(frozen=True)
class Earlier(Beginning):
    """A trained classifier, and how often each of its labels occurred."""

    model: TextClassifier
    label_counts: np.ndarray

    def gathered(self) -> MoreLabels:
        """What collects the labels of new texts while they are read."""
        return MoreLabels(self)

    def more(self) -> dict[str, Any]:
        return {"more": self.model.features.words, "more_buckets": self.model.features.used}

    def put_into(self, features: Features, inputs: np.ndarray, outputs: np.ndarray) -> None:
        """Copies the rows of known features and labels; the others stay as they begin."""
        model, width = self.model, self.model.outputs.shape[1]
        table = model.inputs[np.arange(len(model.inputs))]
        rows, old = features.row_of, model.features
        inputs[0, :width] = table[0]
        places = np.array([rows[word] for word in old.words], np.int64)
        inputs[places, :width] = table[1 : 1 + len(old.words)]
        inputs[features.row_of_bucket[old.used], :width] = table[1 + len(old.words) :]
        outputs[: len(model.outputs), :width] = model.outputs


class MoreLabels(Gathered):
    """The labels of new texts as numbers, those of the earlier classifier first."""

    def __init__(self, earlier: Earlier):
        super().__init__()
        self.earlier, self.ids = earlier, {label: number for number, label in enumerate(earlier.model.labels)}

    def finished(self, name: str) -> tuple[list[str], Targets]:
        """All labels, and those of the texts; what is new comes last, by falling frequency, then spelling."""
        before, found, spelled = self.earlier.label_counts, np.array(self.labels, np.int32), list(self.ids)
        if not len(found):
            raise DataError(f"{name}: no text with a label, expected at least 1.")
        counts = np.bincount(found, minlength=len(spelled))
        new = sorted(range(len(before), len(spelled)), key=lambda each: (-counts[each], spelled[each]))
        order = [*range(len(before)), *new]
        place = np.argsort(order).astype(np.int32)
        counts = counts[order]
        counts[: len(before)] += before
        targets = Targets(np.array(self.ends, np.int64), place[found], counts)
        return [spelled[each] for each in order], self._with_tree(targets, [spelled[each] for each in new], name)

    def _with_tree(self, targets: Targets, new: list[str], name: str) -> Targets:
        """A hierarchical softmax keeps its tree, which has a leaf for each earlier label, and the counts it is of."""
        if self.earlier.model.loss != "hierarchical_softmax":
            return targets
        if new:
            raise UsageError(f"{name}: the label {new[0]!r} is new, expected only labels of the run: the tree of "
                             "its hierarchical softmax has no leaf for another. Train anew, with model.loss=softmax.")
        return replace(targets, counts=self.earlier.label_counts, grown=self.earlier.model.tree)
