"""A trained text classifier: from texts to labels with their probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from chainrule.classifying.explaining import Feature, contributions, features_of
from chainrule.classifying.features import JIT_PAYS_FROM, NO_ROW, Bags, Features
from chainrule.classifying.reference import hidden_of, log_chances
from chainrule.classifying.spelling import blocks
from chainrule.errors import OptionError
from chainrule.threads import frozen, side_by_side
from chainrule.vectors.huffman import Tree


class Rows(Protocol):
    """The input table, whole or quantized."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        """(R, D) of these rows."""
        ...


@dataclass(frozen=True)
class TextClassifier:
    """p(label | text) from h, the mean of the text's features; Joulin et al. 2016, arXiv:1607.01759."""

    labels: Sequence[str]
    features: Features
    inputs: Rows
    outputs: np.ndarray
    loss: str
    tree: Tree

    def probabilities(self, texts: Sequence[str | bytes]) -> np.ndarray:
        """(texts, labels); a row sums to 1, but for one_vs_all, where each label has its own probability."""
        logs = self.log_probabilities(texts)
        return np.exp(logs, out=logs)

    def log_probabilities(self, texts: Sequence[str | bytes]) -> np.ndarray:
        """(texts, labels): ln p, also where p itself is too small for a float."""
        logs, parts, low = np.zeros((len(texts), len(self.labels)), np.float32), [], 0
        for some in blocks(map(_on_one_line, texts)):
            parts.append((low, some))
            low += len(some)

        def work(part: tuple[int, list[bytes]]) -> None:
            logs[part[0] : part[0] + len(part[1])] = self.logs_of(self.features.bags(part[1]))

        side_by_side(work, parts)
        return logs

    def predict(self, texts: Sequence[str | bytes], *, top: int = 1, threshold: float = 0.0
                ) -> list[list[tuple[str, float]]]:
        """For each text its `top` likeliest labels and their probabilities, likeliest first; none below `threshold`."""
        if isinstance(texts, str | bytes):
            texts = [texts]
        if top < 1:
            raise OptionError("top", top, "at least 1")
        logs = self.log_probabilities(texts)  # of two labels with p = 1.0 in a float, ln p knows the likelier
        best, chances = np.argsort(-logs, axis=1, kind="stable")[:, :top], np.exp(logs)
        return [[(self.labels[c], float(chances[text, c])) for c in row if chances[text, c] >= threshold]
                for text, row in enumerate(best.tolist())]

    evidence_is = "exact"

    def evidence(self, text: bytes, label: str, other: str) -> list[tuple[Feature, float]] | None:
        """Each feature of a text with what it adds to the score of `label` less that of `other`.

        Of a softmax the sum is ln p(label) − ln p(other), where each label has its own probability it is the difference
        of their logits. None for a tree of labels, whose probabilities are products and not linear in the features.
        """
        if len(self.outputs) != len(self.labels):
            return None
        found, ids = list(features_of(self.features, text)), label_ids(self.labels)
        rows = np.array([each.row for each in found], np.int64)
        direction = self.outputs[ids[label]].astype(np.float64) - self.outputs[ids[other]]
        added = contributions(rows, np.asarray(self.inputs[rows[rows != NO_ROW]]), direction, len(found))
        return list(zip(found, added.tolist(), strict=True))

    def hidden(self, texts: Sequence[bytes]) -> np.ndarray:
        """(texts, D): the mean of each text's rows; what fastText calls the vector of a sentence."""
        return self._hidden(self.features.bags(texts))

    def logs_of(self, bags: Bags) -> np.ndarray:
        """(texts, labels): ln p from features that were computed before."""
        return log_chances(self._hidden(bags), self.outputs, self.loss, self.tree)

    def _hidden(self, bags: Bags) -> np.ndarray:
        if isinstance(self.inputs, np.ndarray):
            return means(self.inputs, bags)
        used, where = np.unique(bags.members, return_inverse=True)
        return means(self.inputs[used], Bags(bags.starts, where.astype(np.int32), bags.weights, bags.sizes))


def means(table: np.ndarray, bags: Bags) -> np.ndarray:
    """(texts, D): the mean of the rows of each bag; a bag without any is zero."""
    found = np.zeros((len(bags), table.shape[1]), np.float32)
    if len(bags.members) * table.shape[1] < 8 * JIT_PAYS_FROM:
        for text, (low, high) in enumerate(zip(bags.starts[:-1], bags.starts[1:], strict=True)):
            if high > low:
                found[text] = hidden_of(table, bags.members[low:high], bags.weights[low:high], bags.sizes[text])
        return found
    from chainrule.kernels.classifier_training import all_means

    all_means(frozen(np.ascontiguousarray(table)), bags.starts, bags.members, bags.weights, bags.sizes, found)
    return found


def _on_one_line(text: str | bytes) -> bytes:
    data = text if isinstance(text, bytes) else text.encode(errors="replace")
    return data.replace(b"\n", b" ") if b"\n" in data else data


def label_ids(labels: Sequence[str]) -> Mapping[str, int]:
    """The number of each label."""
    return {label: number for number, label in enumerate(labels)}
