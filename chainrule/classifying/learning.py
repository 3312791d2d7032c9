"""Learning a classifier: threads take pieces of the texts and write to the same rows without asking (hogwild)."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from chainrule.classifying.features import Bags
from chainrule.threads import side_by_side
from chainrule.vectors.huffman import Tree, huffman, no_tree
from chainrule.vectors.plan import Plan, Progress, padded
from chainrule.vectors.windows import seed_of

LOSSES = ("softmax", "hierarchical_softmax", "one_vs_all")
CHUNK = 20_000  # members of texts between two looks at the step's size
ROWS = 1 << 15  # rows that a thread fills with random numbers at a time


@dataclass(frozen=True)
class Targets:
    """Text t has the labels labels[starts[t]:starts[t + 1]]; `counts` says how often each label occurs."""

    starts: np.ndarray
    labels: np.ndarray
    counts: np.ndarray

    def tree(self, loss: str) -> Tree:
        """Frequent labels have short ways; empty where the loss needs none."""
        return huffman(self.counts) if loss == "hierarchical_softmax" else no_tree()


def fresh(rows: int, outputs: int, plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """Inputs between −1/D and 1/D, outputs of zero; rows are padded to whole cache lines."""
    from chainrule.kernels.classifier_training import fill_random

    inputs, seed = padded(rows, plan.dimension), seed_of(plan.seed, 0)
    fill_random(inputs, 0, 0, plan.dimension, seed)
    side_by_side(lambda low: fill_random(inputs, low, min(low + ROWS, rows), plan.dimension, seed),
                 range(0, rows, ROWS))
    return inputs, padded(outputs, plan.dimension)


def learn(bags: Bags, targets: Targets, plan: Plan, loss: str, inputs: np.ndarray, outputs: np.ndarray
          ) -> dict[str, Any]:
    """Trains the tables in place; facts for the report. One thread and a seed give the same bytes again.

    The step falls linearly from α to 0 with the features that were read: Joulin et al. 2016, §2.
    """
    from chainrule.kernels.classifier_training import learn_texts

    tree, number = targets.tree(loss), LOSSES.index(loss)
    total = float(bags.sizes.sum(dtype=np.float64)) * plan.epochs
    progress, lock = Progress(plan, total), Lock()

    def work(piece: tuple[int, int, int]) -> None:
        low, high, count = piece
        alpha = plan.alpha * (1 - progress.share)
        read = learn_texts(inputs, outputs, bags.starts, bags.members, bags.weights, bags.sizes, targets.starts,
                           targets.labels, low, high, np.float32(alpha), np.float32(plan.alpha / max(total, 1)),
                           number, tree.starts, tree.nodes, tree.codes, seed_of(plan.seed, count))
        with lock:
            progress.add(read)

    work((0, 0, 0))  # compiles, or loads what was compiled before
    if plan.threads == 1:
        for piece in _pieces(bags, plan.epochs):
            work(piece)
    else:
        with ThreadPoolExecutor(plan.threads) as pool:
            for _ in pool.map(work, _pieces(bags, plan.epochs)):  # raises what a worker raised
                pass
    return {"features_per_second": round(progress.words_per_second)}


def _pieces(bags: Bags, epochs: int) -> Iterator[tuple[int, int, int]]:
    """Ranges of texts with about CHUNK members, in their order, again and again; each with its number."""
    cuts = np.unique(np.searchsorted(bags.starts, np.arange(0, int(bags.starts[-1]), CHUNK)))
    edges = [*cuts.tolist(), len(bags)] if len(cuts) and cuts[-1] < len(bags) else cuts.tolist()
    edges[0] = 0
    for epoch in range(epochs):
        for number in range(len(edges) - 1):
            yield edges[number], edges[number + 1], 1 + epoch * len(edges) + number
