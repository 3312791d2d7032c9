"""The gated recurrent unit over whole sequences."""

from __future__ import annotations

import numpy as np

from chainrule.engine.modules._recurrent import Sequence
from chainrule.engine.modules.gru_cell import GRUKind
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class GRU(Sequence):
    r"""A recurrence with two gates: what to keep of its state, and what of it to use for the new.

    At each step, from the first to the last, and from the last to the first on the way back (through time):
    r = σ(z_r + u_r),   k = σ(z_k + u_k),   n = tanh(z_n + r ⊙ u_n),   h′ = (1 − k) ⊙ n + k ⊙ h
    with z = W x + b and u = U h + b′
    da = dh′ (1 − k) (1 − n²),   dr = da u_n r (1 − r),   dk = dh′ (h − n) k (1 − k)
    dz = [dr dk da],   du = [dr dk r ⊙ da],   dh = k ⊙ dh′ + Uᵀ du,   and W, b from dz, U, b′ from du

    Cho et al. 2014, arXiv:1406.1078, with the reset gate behind the matrix as in cuDNN, and k the share that is kept.
    """

    kind = GRUKind

    @staticmethod
    def example(random: np.random.Generator) -> tuple[GRU, list[Array]]:
        return GRU(3, 5, random=random), [random.normal(size=(2, 4, 3)), *random.normal(size=(1, 2, 5))]
