"""The update-gate recurrent network over whole sequences."""

from __future__ import annotations

import numpy as np

from chainrule.engine.modules._recurrent import Sequence
from chainrule.engine.modules.ugrnn_cell import UGRNNKind
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class UGRNN(Sequence):
    r"""A recurrence with one gate: how much of its state to keep.

    At each step, from the first to the last, and from the last to the first on the way back (through time):
    c = tanh(a),   g = σ(k),   a, k = W x + b + U h,   h′ = g ⊙ h + (1 − g) ⊙ c
    da = dh′ (1 − g) (1 − c²),   dk = dh′ (h − c) g (1 − g)
    dh = g ⊙ dh′ + Uᵀ [da dk],   and W, U, b as in a linear map

    Collins, Sohl-Dickstein & Sussillo 2017, arXiv:1611.09913, eq. 5–7.
    """

    kind = UGRNNKind

    @staticmethod
    def example(random: np.random.Generator) -> tuple[UGRNN, list[Array]]:
        return UGRNN(3, 5, random=random), [random.normal(size=(2, 4, 3)), *random.normal(size=(1, 2, 5))]
