"""One step of the update-gate recurrent network."""

from __future__ import annotations

import numpy as np

from chainrule.engine.modules._gate import sigmoid
from chainrule.engine.modules._recurrent import Cell, Kind, States
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


class UGRNNKind(Kind):
    """The equations of the update-gate recurrent network and of its gradient."""

    gates, states = 2, 1

    @staticmethod
    def ahead(z: Array, u: Array, states: States) -> tuple[States, tuple[Array, ...]]:
        (h,), a = states, z + u
        width = h.shape[1]
        c, g = np.tanh(a[:, :width]), sigmoid(a[:, width:])
        return (c + g * (h - c),), (h, c, g)

    @staticmethod
    def back(d_states: States, saved: tuple[Array, ...]) -> tuple[Array, Array, States]:
        (dh,), (h, c, g) = d_states, saved
        dz = np.concatenate([dh * (1 - g) * (1 - c * c), dh * (h - c) * g * (1 - g)], axis=1)
        return dz, dz, (g * dh,)


@part
class UGRNNCell(Cell):
    r"""One step: a recurrence with one gate: how much of its state to keep.

    c = tanh(a),   g = σ(k),   a, k = W x + b + U h,   h′ = g ⊙ h + (1 − g) ⊙ c
    da = dh′ (1 − g) (1 − c²),   dk = dh′ (h − c) g (1 − g)
    dh = g ⊙ dh′ + Uᵀ [da dk],   and W, U, b as in a linear map

    Collins, Sohl-Dickstein & Sussillo 2017, arXiv:1611.09913, eq. 5–7.
    """

    kind = UGRNNKind

    @staticmethod
    def example(random: np.random.Generator) -> tuple[UGRNNCell, list[Array]]:
        return UGRNNCell(3, 5, random=random), [random.normal(size=(2, 3)), *random.normal(size=(1, 2, 5))]
