"""How good a classifier is on labeled texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from chainrule.classifying.model import label_ids
from chainrule.classifying.report import Answered
from chainrule.classifying.spelling import BLOCK
from chainrule.errors import DataError, OptionError, UsageError
from chainrule.evaluation.options import Measuring
from chainrule.inputs.label_notes import say_missing, say_unknown
from chainrule.inputs.labeled import Example
from chainrule.protocols import Classifier
from chainrule.threads import cores

TEXTS = 10_000  # looked at together, at most; and BLOCK bytes for each processor


class Tally:
    """Counts of guesses and hits, from which all figures are made.

    With one label a text, precision, recall and accuracy are one number. Labels that training never saw cannot be
    right; they are counted. With a threshold, a text whose likeliest label has a smaller probability is rejected: it
    gets no label, which is right for a text that has only such unknown labels: it is out of scope.
    """

    def __init__(self, labels: Sequence[str], threshold: float | None = None):
        self.labels, self.ids, self.threshold = labels, label_ids(labels), threshold
        self.texts, self.unknown, self.lost = 0, 0, 0.0
        self.rejected, self.outside, self.outside_rejected = 0, 0, 0
        self.counted, self.guessed, self.correct = (np.zeros(len(labels), np.int64) for _ in range(3))

    def wanted(self, examples: Sequence[Example]) -> np.ndarray:
        """(pairs, 2): a text's number and that of one of its labels, −1 for one that is not known."""
        pairs = [(text, self.ids.get(label, -1)) for text, each in enumerate(examples) for label in set(each.labels)]
        return np.array(pairs, np.int64).reshape(-1, 2)

    def add(self, logs: np.ndarray, pairs: np.ndarray) -> None:
        """Adds texts: the model's ln p, and the true labels."""
        texts, labels = pairs[pairs[:, 1] >= 0].T
        first = logs.argmax(1)
        kept = np.ones(len(logs), bool)
        if self.threshold is not None:
            kept = np.exp(logs[np.arange(len(logs)), first]) >= self.threshold
            outside = ~np.isin(np.arange(len(logs)), texts)
            self.rejected += int((~kept).sum())
            self.outside, self.outside_rejected = (self.outside + int(outside.sum()),
                                                   self.outside_rejected + int((outside & ~kept).sum()))
        self.texts, self.unknown = self.texts + len(logs), self.unknown + len(pairs) - len(texts)
        self.lost -= float(logs[texts, labels].sum(dtype=float))
        hits = labels[(first[texts] == labels) & kept[texts]]
        for sums, found in ((self.counted, labels), (self.guessed, first[kept]), (self.correct, hits)):
            sums += np.bincount(found, minlength=len(sums))

    def figures(self) -> dict[str, Any]:
        """Metrics of the likeliest labels; the log loss is the mean −ln p of labels that the model knows."""
        right, labels = int(self.correct.sum()), int(self.counted.sum())
        guessed = self.texts - self.rejected
        found = {"examples": self.texts, "labels": labels + self.unknown, "unknown_labels": self.unknown,
                 "accuracy": (right + self.outside_rejected) / self.texts,
                 "precision": right / guessed if guessed else None,
                 "recall": right / (labels + self.unknown), "log_loss": self.lost / labels if labels else None}
        if self.threshold is None:
            return found
        return {**found, "threshold": self.threshold, "rejected": self.rejected, "out_of_scope": self.outside,
                "out_of_scope_rejected": self.outside_rejected}

    def by_label(self) -> dict[str, dict[str, Any]]:
        """Precision, recall and F1 of each label; None where the denominator is 0."""
        rows = {}
        for label, texts, said, hits in zip(self.labels, self.counted.tolist(), self.guessed.tolist(),
                                            self.correct.tolist(), strict=True):
            rows[label] = {"count": texts, "predicted": said, "correct": hits,
                           "precision": hits / said if said else None, "recall": hits / texts if texts else None,
                           "f1": 2 * hits / (texts + said) if texts + said else None}
        return rows


def measure(model: Classifier, examples: Iterable[Example], name: str, threshold: float | None = None,
            how: Measuring | None = None) -> dict[str, Any]:
    """Precision and recall of the likeliest label, in all and by label; intervals, calibration, mistakes.

    Inputs are read a few at a time. Those whose likeliest label has a probability below `threshold` are rejected.
    """
    tally, answered, how = Tally(model.labels, threshold), Answered(model.labels, threshold), how or Measuring()
    unknown: tuple[str, str] | None = None
    for some in together(examples):
        logs, before = model.log_probabilities([each.text for each in some]), tally.unknown
        tally.add(logs, tally.wanted(some))
        answered.add(logs, some, dict(tally.ids))
        if unknown is None and tally.unknown > before:
            unknown = next((each.where, label) for each in some for label in each.labels if label not in tally.ids)
    if not tally.texts:
        raise DataError(f"{name}: nothing with a label.")
    say_missing(name, [label for label, count in zip(model.labels, tally.counted, strict=True) if not count],
                len(model.labels))
    if unknown is not None and threshold is None:  # with a threshold, such a text is right if it is rejected
        say_unknown(*unknown, tally.unknown)
    return {**tally.figures(), **answered.figures(how.bootstrap, how.seed), "per_label": tally.by_label()}


def spelled(figures: Mapping[str, Any]) -> str:
    """`accuracy 0.9123`; precision and recall too where texts have several labels, as they differ only there."""
    names = ["accuracy"] if one_number(figures) else ["accuracy", "precision", "recall"]
    return ", ".join(f"{name} {figures[name]:.4f}" for name in names)


def one_number(figures: Mapping[str, Any]) -> bool:
    """Whether accuracy, precision and recall are the same by definition: each text has one label and gets one."""
    return bool(figures["labels"] == figures["examples"] and figures.get("threshold") is None)


def threshold_of(run: Any, threshold: float | str | None) -> float | None:
    """A probability, or with "auto" the one that was calibrated when the run was trained."""
    if threshold != "auto":
        try:
            number = None if threshold is None else float(threshold)
        except ValueError:
            number = -1.0
        if number is not None and not 0 <= number <= 1:
            raise OptionError("threshold", threshold, "a probability from 0 to 1, or auto")
        return number
    found = run.report.get("threshold")
    if type(found) is not float or not 0 <= found <= 1:
        raise UsageError(f"{run.path}: no threshold was calibrated, since it was trained without validation texts. "
                         "Give a probability, such as --threshold 0.5, or train again with --valid FILE.")
    return found


def together(examples: Iterable[Example]) -> Iterator[list[Example]]:
    """Examples in groups that are large enough to keep all processors busy."""
    found, size, most = list[Example](), 0, BLOCK * cores()
    for each in examples:
        found.append(each)
        size += len(each.text)
        if len(found) >= TEXTS or size >= most:
            yield found
            found, size = [], 0
    if found:
        yield found
