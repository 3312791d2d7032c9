"""The labels of training texts as numbers, collected while the texts are streamed."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from chainrule.classifying.labeled import Example
from chainrule.classifying.tree import label_tree
from chainrule.errors import DataError
from chainrule.vectors.huffman import Tree, no_tree


@dataclass(frozen=True)
class Targets:
    """Text t has the labels labels[starts[t]:starts[t + 1]]; `counts` says how often each label occurs."""

    starts: np.ndarray
    labels: np.ndarray
    counts: np.ndarray
    grown: Tree | None = None  # of an earlier training, which goes on

    def tree(self, loss: str) -> Tree:
        """The Huffman tree: frequent labels have short paths; empty if the loss needs no tree."""
        if self.grown is not None:
            return self.grown
        return label_tree(self.counts) if loss == "hierarchical_softmax" else no_tree()


class Gathered:
    """Labels by their numbers, in the order in which they came."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.labels, self.ends = array("i"), array("q", [0])

    def texts(self, examples: Iterable[Example]) -> Iterator[bytes]:
        """The texts, one by one; their labels are collected here."""
        for each in examples:
            self.labels.extend([self.ids.setdefault(label, len(self.ids)) for label in each.labels])
            self.ends.append(len(self.labels))
            yield each.text

    def finished(self, name: str) -> tuple[list[str], Targets]:
        """Labels by falling frequency, then spelling."""
        found = np.frombuffer(self.labels, np.int32) if self.labels else np.zeros(0, np.int32)
        counts, spelled = np.bincount(found, minlength=len(self.ids)), list(self.ids)
        if len(spelled) < 2:
            had = f"only one label, {spelled[0]!r}" if spelled else "no text with a label"
            raise DataError(f"{name}: {had}, expected at least 2 different labels.")
        order = sorted(range(len(spelled)), key=lambda each: (-counts[each], spelled[each]))
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order))
        return [spelled[each] for each in order], Targets(np.array(self.ends, np.int64), place[found], counts[order])
