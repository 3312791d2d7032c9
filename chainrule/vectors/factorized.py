"""A large sparse matrix by its largest singular vectors, without ever making it dense."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chainrule.threads import side_by_side

PIECES = 64  # of the rows, for the threads


@dataclass(frozen=True)
class Sparse:
    """Rows of (columns, values); `turned` are the values of the transpose, which has the same places."""

    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    turned: np.ndarray

    def times(self, dense: np.ndarray) -> np.ndarray:
        """M · dense"""
        return self._product(self.values, dense)

    def transposed_times(self, dense: np.ndarray) -> np.ndarray:
        """Mᵀ · dense"""
        return self._product(self.turned, dense)

    def _product(self, values: np.ndarray, dense: np.ndarray) -> np.ndarray:
        from chainrule.kernels.vectors_sparse import multiply_rows

        dense, size = np.ascontiguousarray(dense, np.float32), len(self.starts) - 1
        out = np.empty((size, dense.shape[1]), np.float32)
        edges = np.searchsorted(self.starts, np.linspace(0, self.starts[-1], PIECES + 1)[1:-1])
        cuts = [0, *sorted({int(edge) for edge in edges if 0 < edge < size}), size]
        side_by_side(lambda piece: multiply_rows(self.starts, self.columns, values, dense, *piece, out),
                     list(zip(cuts[:-1], cuts[1:], strict=True)))
        return out


def truncated_svd(matrix: Sparse, rank: int, *, seed: int = 0, extra: int = 20,
                  rounds: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """U (V, rank) and σ (rank,) of the best approximation of that rank, by random projection.

    Q spans (M Mᵀ)^rounds M Ω for random Ω with `extra` columns more than asked for; the SVD of the small Qᵀ M gives the
    rest. Halko, Martinsson & Tropp 2011, arXiv:0909.4061, algorithms 4.4 and 5.1. Signs are such that the largest
    number of each column of U is positive.
    """
    size = len(matrix.starts) - 1
    width = min(size, rank + extra)
    q = np.linalg.qr(matrix.times(np.random.default_rng(seed).standard_normal((size, width), np.float32)))[0]
    for _ in range(rounds):
        q = np.linalg.qr(matrix.transposed_times(q))[0]
        q = np.linalg.qr(matrix.times(q))[0]
    left, sizes, _ = np.linalg.svd(matrix.transposed_times(q).T, full_matrices=False)
    u = q @ left[:, :rank]
    signs = np.sign(u[np.abs(u).argmax(0), np.arange(u.shape[1])])
    return u * np.where(signs == 0, 1, signs), sizes[:rank]
