"""GloVe: vectors whose products are the logarithms of how often words occur near each other."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, Literal

import numpy as np

from chainrule.errors import OptionError
from chainrule.registry import part
from chainrule.vectors.cooccurrence import Pairs, count_pairs, distance_weights
from chainrule.vectors.methods._method import Learned, Tensors
from chainrule.vectors.plan import Plan, Progress, small_random
from chainrule.vectors.text import Source, Text, read_text

PIECE = 1 << 16  # entries handed to a thread at a time


@part
class Glove:
    r"""Fits the logarithms of weighted counts of pairs of words by products of vectors, with AdaGrad.

    J = Σ_{ij} f(X_ij) (w_i · c_j + b_i + b'_j − ln X_ij)²,   f(x) = min(1, (x / x_max)^exponent)
    Pennington, Socher & Manning 2014, eq. 8 and 9; X counts a pair d words apart as 1/d, to both sides. The vectors are
    w + c (§4.2).
    """

    usual: Mapping[str, float] = {"epochs": 25, "alpha": 0.05}
    continues: ClassVar[bool] = False

    def __init__(self, *, x_max: float = 100.0, exponent: float = 0.75,
                 weighting: Literal["harmonic", "dynamic", "flat"] = "harmonic", memory: int = 1024) -> None:
        if x_max <= 0:
            raise OptionError("model.method.x_max", x_max, "above 0")
        self.x_max, self.exponent, self.weighting, self.memory = x_max, exponent, weighting, memory

    def read(self, source: Source) -> Text:
        return read_text(source)

    def learn(self, text: Text, plan: Plan, before: Tensors | None) -> Learned:
        pairs = count_pairs(text, distance_weights(plan.window, self.weighting), memory=self.memory << 20)
        tables = fresh(text.vocabulary_size, plan)
        costs = descend(self.entries(pairs), tables, plan)
        words, contexts = tables[0][:, :-1], tables[1][:, :-1]
        return Learned({"vectors": words + contexts}, {"pairs": len(pairs.keys), "cost": round(costs[-1], 6)})

    def entries(self, pairs: Pairs) -> tuple[np.ndarray, ...]:
        """Row, column, f(x) and ln x of each pair."""
        weights = np.minimum(1, (pairs.weights / self.x_max) ** self.exponent)
        return pairs.rows, pairs.columns, weights.astype(np.float32), np.log(pairs.weights).astype(np.float32)


def fresh(size: int, plan: Plan) -> list[np.ndarray]:
    """Words, contexts, and the sums of squares of both, which begin with 1; the last column is the bias."""
    shape = size, plan.dimension + 1
    return [small_random(*shape, plan.seed, 0), small_random(*shape, plan.seed, 1),
            np.ones(shape, np.float32), np.ones(shape, np.float32)]


def descend(entries: tuple[np.ndarray, ...], tables: list[np.ndarray], plan: Plan) -> list[float]:
    """All entries in a new order each epoch; the mean cost of each. One thread and a seed give the same bytes."""
    from chainrule.kernels import vectors_glove

    kernel: Any = vectors_glove.descend
    count, progress = len(entries[0]), Progress(plan, len(entries[0]) * plan.epochs)
    random = np.random.default_rng([plan.seed, 2])

    def work(order: np.ndarray) -> tuple[int, float]:
        return len(order), kernel(order, *entries, *tables, np.float32(plan.alpha))

    costs = []
    with ThreadPoolExecutor(plan.threads) as pool:
        run: Any = map if plan.threads == 1 else pool.map
        for _ in range(plan.epochs):
            order, total = random.permutation(count), 0.0
            for done, cost in run(work, np.array_split(order, -(-count // PIECE))):
                total += cost
                progress.add(done)
            costs.append(total / max(count, 1))
    return costs


def step_plainly(entry: tuple[int, int, float, float], tables: list[np.ndarray], alpha: float) -> None:
    """One entry in NumPy, both ways round: what the kernel must equal."""
    one, other, weight, log = entry
    words, contexts, word_squares, context_squares = tables
    for i, j in dict.fromkeys([(one, other), (other, one)]):
        pull = weight * (words[i, :-1] @ contexts[j, :-1] + words[i, -1] + contexts[j, -1] - log)
        for_word = pull * np.append(contexts[j, :-1], np.float32(1))
        for_context = pull * np.append(words[i, :-1], np.float32(1))
        words[i] -= alpha * for_word / np.sqrt(word_squares[i])
        contexts[j] -= alpha * for_context / np.sqrt(context_squares[j])
        word_squares[i] += for_word**2
        context_squares[j] += for_context**2
