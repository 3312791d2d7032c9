"""Classifiers on the same held-out texts: what `compare` ranks them by."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from chainrule.classifying.measuring import together
from chainrule.errors import DataError
from chainrule.evaluation.ranking import Answers, Column
from chainrule.inputs.labeled import Example, labeled, layout_of
from chainrule.inputs.rows import parted
from chainrule.protocols import Classifier
from chainrule.recipe.registry import build

LIKELY = 0.5  # a label with at least this probability is given, where texts have several
BASELINE = "most frequent label"


@dataclass(frozen=True)
class HeldOut:
    """Texts with their labels, none of which is learned from."""

    examples: tuple[Example, ...]
    name: str

    def fingerprint(self) -> str:
        found = hashlib.sha256()
        for each in self.examples:
            found.update(repr((each.text, each.labels)).encode())
        return found.hexdigest()


class LabeledTexts:
    """Accuracy where each text has one label, micro-F1 where some have several; macro-F1 and log loss beside.

    A text is given its likeliest label; where texts have several, each label of probability 0.5 or more as well.
    """

    beside: Mapping[str, Column] = {"macro_f1": Column("macro-F1"), "log_loss": Column("log loss")}

    def __init__(self, task: Any, recipe: Any, data: Sequence[str], valid: Sequence[str] | None, fraction: float,
                 seed: int):
        self.layout, self.seed, self.split = layout_of(recipe), seed, fraction
        self.units: str = task.modality.plural
        self.train: Any = task.open(list(data), recipe)
        if valid is not None:
            held, self.split = task.open(list(valid), recipe), 0.0
        else:
            self.train, held = parted(self.train, fraction, seed)
        self.held_out = HeldOut(tuple(labeled(held, self.layout)), held.name)
        self._check(data)
        self.several = self._learned[2] or any(len(set(each.labels)) > 1 for each in self.held_out.examples)
        self.measure = build("evaluation/measures", "micro_f1" if self.several else "accuracy")
        self.notes: Sequence[str] = [sentence for sentence in [self._of_unseen(), self._of_copies()] if sentence]

    def _check(self, data: Sequence[str]) -> None:
        learned, held = self.counted, len(self.held_out.examples)
        if not learned or not held:
            raise DataError(f"{', '.join(data)}: {learned} labeled {self.units} to learn from and {held} held out, "
                            f"expected some of each. Give more {self.units}, or name the held-out ones with --valid "
                            "FILE.")

    @cached_property
    def _learned(self) -> tuple[int, Counter[str], bool, set[bytes]]:
        """Of the texts to learn from: how many, how often each label occurs, whether some have several, all hashes."""
        count, labels, several, seen = 0, Counter[str](), False, set[bytes]()
        for each in labeled(self.train, self.layout):
            own = set(each.labels)
            count, several = count + 1, several or len(own) > 1
            labels.update(own)
            seen.add(_key(each))
        return count, labels, several, seen

    @property
    def counted(self) -> int:
        return self._learned[0]

    def _of_unseen(self) -> str | None:
        known = self._learned[1]
        unseen = sum(label not in known for each in self.held_out.examples for label in set(each.labels))
        return (f"{unseen:,} labels of held-out {self.units} never occur in the training {self.units}, so no model can "
                "give them."
                if unseen else None)

    def _of_copies(self) -> str | None:
        copies = sum(_key(each) in self._learned[3] for each in self.held_out.examples)
        return (f"{copies:,} of the {len(self.held_out.examples):,} held-out {self.units} are also in the training "
                f"{self.units}{', word for word' if self.units == 'texts' else ''}: a model that memorizes "
                f"{self.units} looks better than it is.") if copies else None

    def for_validation(self) -> tuple[Any, Any]:
        return parted(self.train, 0.1, self.seed + 1)

    def answers(self, run: Any) -> Answers:
        model = run.offering(Classifier, "compare")
        return self._judged(model.labels, lambda texts: model.log_probabilities([each.text for each in texts]))

    def baselines(self) -> dict[str, Answers]:
        """Every text gets the label that is most frequent in training; its log loss is that of the frequencies."""
        counts = self._learned[1]
        labels = [label for label, _ in counts.most_common()]
        share = np.log(np.array([counts[label] for label in labels]) / sum(counts.values()))
        return {BASELINE: self._judged(labels, lambda texts: np.tile(share, (len(texts), 1)))}

    def _judged(self, labels: Sequence[str], logs_of: Any) -> Answers:
        every = sorted({*labels, *(label for each in self.held_out.examples for label in each.labels)})
        number = {label: n for n, label in enumerate(every)}
        place = np.array([number[label] for label in labels])
        tally, lost, known, rows = np.zeros((3, len(every)), np.int64), 0.0, 0, []
        ids = {label: n for n, label in enumerate(labels)}
        for texts in together(self.held_out.examples):
            logs = logs_of(texts)
            for own, likeliest, each in zip(logs, logs.argmax(1), texts, strict=True):
                given = {int(place[likeliest])}
                if self.several:
                    given |= set(place[np.flatnonzero(own >= np.log(LIKELY))].tolist())
                true = {number[label] for label in each.labels}
                for kind, some in enumerate((given & true, given, true)):
                    tally[kind, list(some)] += 1
                rows.append((len(given & true), len(given), len(true)))
                costs = [float(own[ids[label]]) for label in set(each.labels) if label in ids]
                lost, known = lost - sum(costs), known + len(costs)
        table = np.array(rows, np.float64)
        if not self.several:  # right or wrong
            table = table[:, :2]
        seen = tally[1] + tally[2] > 0
        f1 = 2 * tally[0, seen] / (tally[1, seen] + tally[2, seen])
        return Answers(table, {"macro_f1": float(f1.mean()), "log_loss": lost / known if known else None})

    def facts(self) -> dict[str, Any]:
        count, labels, _, _ = self._learned
        return {"train_texts": count, "held_out_texts": len(self.held_out.examples), "labels": len(labels)}


def _key(each: Example) -> bytes:
    return hashlib.blake2b(b" ".join(each.text.split()), digest_size=16).digest()
