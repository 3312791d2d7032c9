"""The labels of training texts as numbers, collected while the texts are streamed."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from chainrule.classifying.tree import label_tree
from chainrule.errors import DataError
from chainrule.inputs.label_notes import say_single
from chainrule.inputs.labeled import Example
from chainrule.vectors.huffman import Tree, no_tree

FEWEST = 10  # texts that are worth holding out: of fewer, accuracy says little


@dataclass(frozen=True)
class Targets:
    """Text t has the labels labels[starts[t]:starts[t + 1]]; `counts` says how often each label occurs.

    `taught` are the numbers of the texts that are trained on: all of them, unless some are held out.
    """

    starts: np.ndarray
    labels: np.ndarray
    counts: np.ndarray
    grown: Tree | None = None  # of an earlier training, which goes on
    taught: np.ndarray | None = None

    def held_out(self, share: float, seed: int) -> tuple[Targets, np.ndarray]:
        """Targets that teach all but a random share of the texts, and the numbers of the others.

        The first text with a label is taught, so that no label is lost. Of few texts none is held out.
        """
        texts = len(self.starts) - 1
        free = np.ones(texts, bool)
        free[np.searchsorted(self.starts, np.unique(self.labels, return_index=True)[1], side="right") - 1] = False
        chosen = np.random.default_rng(seed).permutation(np.flatnonzero(free))[: round(share * texts)]
        if len(chosen) < FEWEST:
            return self, chosen[:0]
        taught = np.delete(np.arange(texts, dtype=np.int32), chosen)
        return replace(self, taught=taught), np.sort(chosen)

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
        self.first: list[str] = []  # where each label occurs first

    def texts(self, examples: Iterable[Example]) -> Iterator[bytes]:
        """The texts, one by one; their labels are collected here."""
        for each in examples:
            self.labels.extend([self.ids.setdefault(label, len(self.ids)) for label in each.labels])
            self.ends.append(len(self.labels))
            if len(self.first) < len(self.ids):
                self.first += [each.where] * (len(self.ids) - len(self.first))
            yield each.text

    def finished(self, name: str) -> tuple[list[str], Targets]:
        """Labels by falling frequency, then spelling."""
        found = np.frombuffer(self.labels, np.int32) if self.labels else np.zeros(0, np.int32)
        counts, spelled = np.bincount(found, minlength=len(self.ids)), list(self.ids)
        if len(spelled) < 2:
            had = f"only one label, {spelled[0]!r}" if spelled else "no text with a label"
            raise DataError(f"{name}: {had}, expected at least 2 different labels.")
        say_single([(spelled[each], self.first[each]) for each in np.flatnonzero(counts == 1)])
        order = sorted(range(len(spelled)), key=lambda each: (-counts[each], spelled[each]))
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order))
        return [spelled[each] for each in order], Targets(np.array(self.ends, np.int64), place[found], counts[order])
