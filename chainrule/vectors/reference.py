"""Skip-gram and CBOW in NumPy, written from the equations: the slow reference that the kernels must equal.

Negative sampling (Mikolov et al. 2013, arXiv:1310.4546, eq. 4) maximizes, for a hidden vector h and a word o near it,

    ln σ(h · o) + k E_{n ~ noise} ln σ(−h · n).

A block of centers shares its noise words, each of which then stands for (k · pairs of the center) / shared draws; they
are drawn one from each equal share of the distribution, frequent words first, so that few stand for it well.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainrule.vectors.huffman import Tree
from chainrule.vectors.noise import keep_table, noise_table
from chainrule.vectors.text import UNIT_ENDS, Text
from chainrule.vectors.training_options import TrainingOptions
from chainrule.vectors.windows import Bags, Objective, Tables, block_size, ways

Windows = list[tuple[int, list[int]]]  # each center's place, and the places around it


class Draws:
    """The same random numbers as the kernels': xorshift, Marsaglia 2003."""

    def __init__(self, seed: int):
        self.state = int(seed)

    def next(self) -> int:
        x = self.state
        x ^= x << 13 & 2**64 - 1
        x ^= x >> 7
        x ^= x << 17 & 2**64 - 1
        self.state = x
        return x

    def rows(self, sums: np.ndarray, count: int) -> np.ndarray:
        """A row from each of `count` equal shares of a distribution with these running sums."""
        return np.searchsorted(sums, [(k + (self.next() >> 11) / 2**53) / count for k in range(count)], side="right")


def read_words(text: Text, ids: np.ndarray, options: TrainingOptions, draws: Draws) -> tuple[np.ndarray, Windows]:
    """The words that subsampling keeps, and each one's window."""
    keep = keep_table(text.counts, options.sample)
    words: list[int] = []
    units, reaches = [], []
    unit = 0
    for row in text.row_of[ids].tolist():
        unit += row == UNIT_ENDS
        if row >= 0:
            x = draws.next()
            if x >> 32 <= keep[row]:
                words.append(row)
                units.append(unit)
                reaches.append(1 + x % 2**32 % options.window)
    places = range(len(words))
    windows = [(i, [j for j in places[max(0, i - reaches[i]) : i + reaches[i] + 1] if j != i and units[j] == units[i]])
               for i in places]
    return np.array(words, np.int64), windows


def learn_chunk(text: Text, ids: np.ndarray, options: TrainingOptions, objective: Objective, bags: Bags,
                tables: Tables, *, seed: int, alpha: float) -> None:
    """Trains the tables in place on one stretch of ids."""
    draws = Draws(seed)
    words, windows = read_words(text, ids, options, draws)
    sums, _ = noise_table(text.counts, objective.ns_exponent)
    tree = ways(text, objective, tables)
    size = block_size(text, options, objective)
    for first in range(0, len(words), size):
        drawn = draws.rows(sums, objective.shared if objective.loss == "negative_sampling" else 0)
        learn_block(words, windows[first : first + size], objective, bags, tables, drawn, alpha=alpha, tree=tree)


def learn_block(words: np.ndarray, block: Windows, objective: Objective, bags: Bags, tables: Tables,
                drawn: np.ndarray, *, alpha: float, tree: Tree | None = None) -> None:
    """All hidden vectors are read before any row is written."""
    sources = [[words[j] for j in around] if objective.from_context else [words[i]] for i, around in block]
    targets = [([words[i]] if around else []) if objective.from_context else [words[j] for j in around]
               for i, around in block]
    rows = [[row for word in each for row in rows_of(bags, word)] for each in sources]
    hidden = np.stack([tables.inputs[each].mean(0) if each else np.zeros_like(tables.inputs[0]) for each in rows])
    match objective.loss:
        case "negative_sampling":
            change = negative_sampling(hidden, targets, drawn, tables.outputs, objective.negative, alpha)
        case "hierarchical_softmax":
            assert tree is not None
            change = hierarchical_softmax(hidden, targets, tree, tables.outputs, alpha)
        case _:
            change = softmax(hidden, targets, tables.outputs, alpha)
    for each, moved in zip(rows, change, strict=True):
        np.add.at(tables.inputs, each, moved)


def rows_of(bags: Bags, word: int) -> list[int]:
    """The rows that a word's vector is the mean of."""
    return bags.members[bags.starts[word] : bags.starts[word + 1]].tolist() if len(bags.starts) else [int(word)]


def negative_sampling(hidden: np.ndarray, targets: Any, drawn: np.ndarray, outputs: np.ndarray, negative: int,
                      alpha: float) -> np.ndarray:
    """Moves the outputs; gives what the hidden vectors should move by: three products of matrices, and the pairs."""
    noise, near = outputs[drawn], [outputs[each] for each in targets]
    weights = np.array([alpha * negative * len(each) / max(len(drawn), 1) for each in targets])
    scores = -weights[:, None] * logistic(hidden @ noise.T)
    change = scores @ noise
    np.add.at(outputs, drawn, scores.T @ hidden)
    for i, each in enumerate(targets):
        pull = alpha * (1 - logistic(near[i] @ hidden[i]))
        change[i] += pull @ near[i]
        np.add.at(outputs, each, np.outer(pull, hidden[i]))
    return change


def hierarchical_softmax(hidden: np.ndarray, targets: Any, tree: Tree, outputs: np.ndarray, alpha: float) -> np.ndarray:
    """p(w|h) = Π_n σ((1 − 2 code_n) h · n) over the nodes on w's way: Morin & Bengio 2005; one pair after another."""
    change = np.zeros_like(hidden)
    for i, each in enumerate(targets):
        for word in each:
            path = slice(tree.starts[word], tree.starts[word + 1])
            nodes = tree.nodes[path]
            pull = alpha * (1 - tree.codes[path] - logistic(outputs[nodes] @ hidden[i]))
            change[i] += pull @ outputs[nodes]
            outputs[nodes] += np.outer(pull, hidden[i])
    return change


def softmax(hidden: np.ndarray, targets: Any, outputs: np.ndarray, alpha: float) -> np.ndarray:
    """p(w|h) = exp(h · o_w) / Σ_v exp(h · o_v): the textbook's skip-gram; one center after another."""
    change = np.zeros_like(hidden)
    for i, each in enumerate(targets):
        scores = outputs @ hidden[i]
        chances = np.exp(scores - scores.max())
        pull = -alpha * len(each) * chances / chances.sum()
        np.add.at(pull, each, alpha)
        change[i] = pull @ outputs
        outputs += np.outer(pull, hidden[i])
    return change


def logistic(x: np.ndarray) -> np.ndarray:
    """σ(x)"""
    return 1 / (1 + np.exp(-x))
