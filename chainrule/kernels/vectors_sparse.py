"""A sparse matrix times a dense one, row by row; equals matrix @ dense in NumPy."""

from __future__ import annotations

import numpy as np

from chainrule.kernels.compiled import kernel


@kernel(fastmath=True)
def multiply_rows(starts, columns, values, dense, low, high, out):
    """out[i] = Σ_j values[i, j] dense[j] for rows low to high."""
    for i in range(low, high):
        for d in range(dense.shape[1]):
            out[i, d] = np.float32(0)
        for e in range(starts[i], starts[i + 1]):
            j, value = columns[e], values[e]
            for d in range(dense.shape[1]):
                out[i, d] += value * dense[j, d]
