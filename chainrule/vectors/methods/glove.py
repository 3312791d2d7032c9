"""GloVe: vectors whose products are the logarithms of how often words occur near each other."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, Literal

import numpy as np

from chainrule.errors import OptionError
from chainrule.recipe.registry import part
from chainrule.vectors.cooccurrence import count_pairs, distance_weights, most_events
from chainrule.vectors.memory_limit import memory_of, scratch_for
from chainrule.vectors.methods._method import Learned, Tensors
from chainrule.vectors.shuffled import Entries, shuffled
from chainrule.vectors.text import Source, Text, read_text
from chainrule.vectors.training_options import Progress, TrainingOptions, padded, small_random

FIXED = np.float32(1e38)  # a square so large that its number never moves


@part
class Glove:
    r"""Fits the logarithms of weighted counts of pairs of words by products of vectors, with AdaGrad.

    J = ½ Σ_{ij} f(X_ij) (w_i · c_j + b_i + b'_j − ln X_ij)²,   f(x) = min(1, (x / x_max)^exponent)
    w ← w − g / √(1 + Σ of earlier g²),   g = α ∂J_ij/∂w
    Pennington, Socher & Manning 2014, eq. 8 and 9; X counts a pair d words apart as 1/d, to both sides. The vectors are
    w + c (§4.2). As in their program, and other than in Duchi et al. 2011, α is in the sum of squares too.
    """

    usual: Mapping[str, float] = {"epochs": 25, "alpha": 0.05}
    continues: ClassVar[bool] = False

    def __init__(self, *, x_max: float = 10.0, exponent: float = 0.75,
                 weighting: Literal["harmonic", "dynamic", "flat"] = "harmonic", memory: int | str = "1.5G") -> None:
        if x_max <= 0:
            raise OptionError("model.method.x_max", x_max, "above 0")
        self.x_max, self.exponent, self.weighting, self.memory = x_max, exponent, weighting, memory_of(memory)

    def read(self, source: Source) -> Text:
        return read_text(source)

    def learn(self, text: Text, options: TrainingOptions, before: Tensors | None) -> Learned:
        scratch = scratch_for(most_events(text, options.window), self.memory, options.folder)
        pairs = count_pairs(text, distance_weights(options.window, self.weighting), scratch)
        entries = shuffled(pairs, x_max=self.x_max, exponent=self.exponent, scratch=scratch,
                           bytes_a_word=4 * 4 * padded(0, options.dimension + 2).shape[1])
        del pairs  # and its files
        table = fresh(text.vocabulary_size, options)
        costs = descend(entries, table, options)
        return Learned({"vectors": table[:, 0, : options.dimension] + table[:, 2, : options.dimension]},
                       {"pairs": len(entries), "cost": round(costs[-1], 6)})


def fresh(size: int, options: TrainingOptions) -> np.ndarray:
    """(V, 4, width): words, their squares, contexts, and their squares, which begin with 1.

    Two numbers more than asked for are the biases: (b, 1) of a word and (1, b') of a context, where 1 stays 1.
    """
    d = options.dimension
    width = padded(0, d + 2).shape[1]
    table = padded(size * 4, width).reshape(size, 4, width)
    table[:, (1, 3)] = 1
    for stream, (values, bias, one) in enumerate(((0, d, d + 1), (2, d + 1, d))):
        begin = small_random(size, d + 1, options.seed, stream)
        table[:, values, :d], table[:, values, bias], table[:, values, one] = begin[:, :-1], begin[:, -1], 1
        table[:, values + 1, one] = FIXED
    return table


def descend(entries: Entries, table: np.ndarray, options: TrainingOptions) -> list[float]:
    """All entries in a new order each epoch; the mean cost of each. One thread and a seed give the same bytes.

    Several threads update the same rows without locks (hogwild).
    """
    from chainrule.kernels import vectors_glove

    kernel: Any = vectors_glove.descend
    progress, costs = Progress(options, len(entries) * options.epochs), []
    with ThreadPoolExecutor(options.threads) as pool:
        run: Any = map if options.threads == 1 else pool.map
        for epoch in range(options.epochs):
            random, total = np.random.default_rng([options.seed, 2, epoch]), 0.0
            order, seed = random.permutation(len(entries.starts) - 1), int(random.integers(1 << 62))

            def work(number: int, seed: int = seed) -> tuple[int, float]:
                some = entries.piece(number, seed)
                return len(some), kernel(some, table, np.float32(options.alpha))

            for done, cost in run(work, order.tolist()):
                total += cost
                progress.add(done)
                entries.scratch.relax()
            costs.append(total / max(len(entries), 1))
    return costs


def step_plainly(entry: tuple[int, int, float, float], table: np.ndarray, alpha: float) -> None:
    """One entry in NumPy, both ways round: what the kernel must equal."""
    one, other, weight, log = entry
    for i, j in dict.fromkeys([(one, other), (other, one)]):
        word, word_squares, context, context_squares = table[i, 0], table[i, 1], table[j, 2], table[j, 3]
        step = alpha * weight * (word @ context - log)
        for_word, for_context = step * context, step * word
        word -= for_word / np.sqrt(word_squares)
        context -= for_context / np.sqrt(context_squares)
        word_squares += for_word**2
        context_squares += for_context**2
