"""A learned vector for each token."""

from __future__ import annotations

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array, Parameter
from chainrule.errors import OptionError, UsageError
from chainrule.recipe.registry import part


@part
class Embedding(Module):
    r"""A table with a row for each token.

    y_t = E[w_t],   dE[w] = Σ_{t: w_t = w} dy_t. E (rows, width) starts as N(0, deviation²).
    """

    def __init__(self, rows: int, width: int, *, deviation: float = 0.02, random: np.random.Generator | None = None):
        if rows < 1 or width < 1:
            raise OptionError("Embedding.rows, width", (rows, width), "at least 1 each")
        draw = (random or np.random.default_rng()).standard_normal((rows, width), np.float32)
        self.weight = Parameter(draw * np.float32(deviation))

    def forward(self, ids: Array, weight: Array) -> tuple[Array, tuple[Array, Array]]:
        if ids.dtype.kind not in "iu":
            raise UsageError(f"embedding was given numbers of type {ids.dtype}, expected whole ones: ids of tokens.")
        if ids.size and not (ids.min() >= 0 and ids.max() < len(weight)):
            raise UsageError(f"embedding was given ids from {ids.min()} to {ids.max()}, expected 0 to "
                             f"{len(weight) - 1}.")
        return weight[ids], (ids, weight)

    def backward(self, dy: Array, memory: tuple[Array, Array]) -> tuple[None, Array]:
        ids, weight = memory
        return None, rows_added(ids.reshape(-1), dy.reshape(-1, weight.shape[1]), len(weight))

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Embedding, list[Array]]:
        return Embedding(5, 3, deviation=1.0, random=random), [np.array([[1, 0, 1, 4], [2, 1, 4, 4]])]


def rows_added(ids: Array, given: Array, rows: int) -> Array:
    """(rows, width): at each id the sum of what was given to it. Sorted, because `add.at` is many times as slow."""
    total = np.zeros((rows, given.shape[1]), given.dtype)
    if ids.size:
        order = np.argsort(ids, kind="stable")
        present, starts = np.unique(ids[order], return_index=True)
        total[present] = np.add.reduceat(given[order], starts, axis=0)
    return total
