"""Learning from windows: skip-gram and CBOW on threads that update the same rows without locks (hogwild).

Niu et al. 2011, arXiv:1106.5730: sparse updates seldom meet, and losing one of them does no harm.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from chainrule.errors import OptionError
from chainrule.vectors.huffman import Tree, branches, huffman, no_tree, tree_of
from chainrule.vectors.noise import keep_table, noise_table
from chainrule.vectors.text import Text
from chainrule.vectors.training_options import Progress, TrainingOptions, fill_small_random, padded

CHUNK = 20_000  # ids between two updates of the learning rate
LOSSES = ("negative_sampling", "hierarchical_softmax", "softmax")
BLOCK = 64  # centers that share their noise words, at most
FOR_TWO = 2  # or two for each noise word: with fewer different ones vectors get worse
FARTHEST = 0.5  # of a step: see block_size
FEW = 0.25  # of the words, left to learn from: worth a line
log = logging.getLogger("chainrule")


@dataclass(frozen=True)
class Objective:
    """What is predicted from what, and with which loss."""

    from_context: bool  # True: CBOW, a word from those around it; False: skip-gram
    loss: str = "negative_sampling"
    negative: int = 5
    ns_exponent: float = 0.75

    @property
    def shared(self) -> int:
        """Noise words of a block, in eights.

        A center of skip-gram has about six pairs, and each would have `negative` of its own. With 16 words instead of
        these 32, or of the 24 of CBOW, analogies lost one to two points.
        """
        return -(-self.negative * (4 if self.from_context else 6) // 8) * 8


@dataclass(frozen=True)
class Bags:
    """The rows that a word's vector is the mean of: members[starts[w]:starts[w + 1]]; no starts: each its own."""

    starts: np.ndarray
    members: np.ndarray
    rows: int  # of the table that members point into


@dataclass(frozen=True)
class Tables:
    """What is learned, each row padded to whole cache lines."""

    inputs: np.ndarray
    outputs: np.ndarray
    tree: np.ndarray | None = None  # `branches` of the words, whose inner nodes the outputs then are


def own_rows(size: int) -> Bags:
    """Every word has one row."""
    return Bags(np.zeros(0, np.int64), np.zeros(0, np.int32), size)


def block_size(text: Text, options: TrainingOptions, objective: Objective) -> int:
    """So many centers that the changes of one row, added up over a block, stay a small step even for frequent words.

    In a block all rows are read before any is written. A row that has a share p of the words gets about
    α · negative · pairs · p · block of change at once; with a few dozen different words (a small graph) this would
    diverge for large blocks.
    """
    kept = text.counts * (keep_table(text.counts, options.sample) / 2.0**32)
    share = max(float(kept.max() / kept.sum()), float(np.diff(noise_table(text.counts, objective.ns_exponent)[0],
                                                              prepend=0.0).max()))
    pairs = 1 if objective.from_context else options.window + 1
    most = min(BLOCK, FOR_TWO * objective.shared) if objective.loss == "negative_sampling" else BLOCK
    return int(np.clip(FARTHEST / (options.alpha * max(objective.negative, 1) * pairs * share), 1, most))


def fresh(text: Text, options: TrainingOptions, objective: Objective, bags: Bags) -> Tables:
    """Small random inputs, outputs of zero."""
    tree = branches(text.counts) if objective.loss == "hierarchical_softmax" else None
    inputs = padded(bags.rows, options.dimension)
    fill_small_random(inputs, options.dimension, options.seed)
    return Tables(inputs, padded(text.vocabulary_size - (tree is not None), options.dimension), tree)


def ways(text: Text, objective: Objective, tables: Tables) -> Tree:
    """Down the tables' own tree, or where they have none down that of the text; for other losses there are none."""
    if objective.loss != "hierarchical_softmax":
        return no_tree()
    return huffman(text.counts) if tables.tree is None else tree_of(tables.tree)


def check_kept(text: Text, options: TrainingOptions) -> None:
    """With few different words all are frequent, so subsampling may leave too few."""
    kept = float(text.counts @ (keep_table(text.counts, options.sample) / 2.0**32))
    if kept * options.epochs < 1:
        raise OptionError("training.sample", options.sample, "more, or 0, which keeps all words",
                          f"With this value none of the {text.tokens:,} words is left to learn from.")
    if kept < FEW * text.tokens:
        log.warning(f"training.sample = {options.sample:g} leaves about {kept:,.0f} of the {text.tokens:,} words in "
                    "each epoch, because this text has few different words. training.sample=0 keeps all.")


def learn(text: Text, options: TrainingOptions, objective: Objective, bags: Bags, tables: Tables) -> dict[str, Any]:
    """Trains the tables in place; facts for the report. One thread and a seed give the same bytes again."""
    check_kept(text, options)
    step = chunk_step(text, options, objective, bags, tables)
    step(text.ids[:0], np.float32(0), np.uint64(1))  # compiles, or loads what was compiled before
    progress, lock = Progress(options, text.tokens * options.epochs), Lock()

    def work(piece: tuple[int, int, int]) -> None:
        low, high, number = piece
        read = step(text.ids[low:high], np.float32(options.alpha_at(progress.share)), seed_of(options.seed, number))
        with lock:
            progress.add(read)

    if options.threads == 1:
        for piece in _pieces(len(text.ids), options.epochs):
            work(piece)
    else:
        with ThreadPoolExecutor(options.threads) as pool:
            for _ in pool.map(work, _pieces(len(text.ids), options.epochs)):  # raises what a worker raised
                pass
    return {"words_per_second": round(progress.words_per_second)}


def chunk_step(text: Text, options: TrainingOptions, objective: Objective, bags: Bags, tables: Tables) -> Any:
    """step(ids, alpha, seed) → words read: the kernel with all that stays the same."""
    from chainrule.kernels.vectors_blocks import logistic_table
    from chainrule.kernels.vectors_training import learn_chunk

    keep, block = keep_table(text.counts, options.sample), block_size(text, options, objective)
    sums, guide = noise_table(text.counts, objective.ns_exponent)
    tree = ways(text, objective, tables)
    table, loss = logistic_table(), LOSSES.index(objective.loss)

    def step(ids: np.ndarray, alpha: np.float32, seed: np.uint64) -> int:
        return learn_chunk(np.array(ids, np.int32), text.row_of, keep, options.window, alpha, seed,
                           objective.from_context, loss, tables.inputs, tables.outputs, options.dimension, bags.starts,
                           bags.members, sums, guide, objective.negative, objective.shared, block, tree.starts,
                           tree.nodes, tree.codes, table)

    return step


def _pieces(length: int, epochs: int) -> Iterator[tuple[int, int, int]]:
    starts = range(0, length, CHUNK)
    for epoch in range(epochs):
        for number, low in enumerate(starts):
            yield low, min(low + CHUNK, length), epoch * len(starts) + number


def seed_of(seed: int, number: int) -> np.uint64:
    """A chunk's own beginning for xorshift, never 0: splitmix64 (Steele et al. 2014) of the seed and its number."""
    x = (seed * 0x9E3779B97F4A7C15 + (number + 1) * 0xD1B54A32D192ED03) % 2**64
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return np.uint64((x ^ (x >> 31)) or 1)
