"""One step of the simple recurrent network."""

from __future__ import annotations

import numpy as np

from chainrule.engine.modules._recurrent import Cell, Kind, States
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


class ElmanKind(Kind):
    """The equations of the simple recurrent network and of its gradient."""

    gates, states = 1, 1

    @staticmethod
    def ahead(z: Array, u: Array, states: States) -> tuple[States, Array]:
        h = np.tanh(z + u)
        return (h,), h

    @staticmethod
    def back(d_states: States, h: Array) -> tuple[Array, Array, States]:
        da = d_states[0] * (1 - h * h)
        return da, da, (0.0,)  # type: ignore[return-value]


@part
class ElmanCell(Cell):
    r"""One step: the simple recurrent network: one state, recomputed at every step.

    h′ = tanh(W x + b + U h)
    da = dh′ (1 − h′²),   dx = Wᵀ da,   dh = Uᵀ da,   dW = da xᵀ,   dU = da hᵀ,   db = da

    Elman 1990, "Finding structure in time", Cognitive Science 14.
    """

    kind = ElmanKind

    @staticmethod
    def example(random: np.random.Generator) -> tuple[ElmanCell, list[Array]]:
        return ElmanCell(3, 5, random=random), [random.normal(size=(2, 3)), *random.normal(size=(1, 2, 5))]
