"""One step of the gated recurrent unit."""

from __future__ import annotations

import numpy as np

from chainrule.engine.modules._gate import sigmoid
from chainrule.engine.modules._recurrent import Cell, Kind, States
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


class GRUKind(Kind):
    """The equations of the gated recurrent unit and of its gradient."""

    gates, states = 3, 1
    recurrent_bias = True

    @staticmethod
    def ahead(z: Array, u: Array, states: States) -> tuple[States, tuple[Array, ...]]:
        (h,), width = states, states[0].shape[1]
        both = sigmoid(z[:, :2 * width] + u[:, :2 * width])
        r, k, u_n = both[:, :width], both[:, width:], u[:, 2 * width:]
        n = np.tanh(z[:, 2 * width:] + r * u_n)
        return (n + k * (h - n),), (h, r, k, n, u_n)

    @staticmethod
    def back(d_states: States, saved: tuple[Array, ...]) -> tuple[Array, Array, States]:
        (dh,), (h, r, k, n, u_n) = d_states, saved
        da = dh * (1 - k) * (1 - n * n)
        dr, dk = da * u_n * r * (1 - r), dh * (h - n) * k * (1 - k)
        return np.concatenate([dr, dk, da], axis=1), np.concatenate([dr, dk, r * da], axis=1), (k * dh,)


@part
class GRUCell(Cell):
    r"""One step: a recurrence with two gates: what to keep of its state, and what of it to use for the new.

    r = σ(z_r + u_r),   k = σ(z_k + u_k),   n = tanh(z_n + r ⊙ u_n),   h′ = (1 − k) ⊙ n + k ⊙ h
    with z = W x + b and u = U h + b′
    da = dh′ (1 − k) (1 − n²),   dr = da u_n r (1 − r),   dk = dh′ (h − n) k (1 − k)
    dz = [dr dk da],   du = [dr dk r ⊙ da],   dh = k ⊙ dh′ + Uᵀ du,   and W, b from dz, U, b′ from du

    Cho et al. 2014, arXiv:1406.1078, with the reset gate behind the matrix as in cuDNN, and k the share that is kept.
    """

    kind = GRUKind

    @staticmethod
    def example(random: np.random.Generator) -> tuple[GRUCell, list[Array]]:
        return GRUCell(3, 5, random=random), [random.normal(size=(2, 3)), *random.normal(size=(1, 2, 5))]
