"""The simple recurrent network over whole sequences."""

from __future__ import annotations

import numpy as np

from chainrule.engine.modules._recurrent import Sequence
from chainrule.engine.modules.elman_cell import ElmanKind
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class Elman(Sequence):
    r"""The simple recurrent network: one state, recomputed at every step.

    At each step, from the first to the last, and from the last to the first on the way back (through time):
    h′ = tanh(W x + b + U h)
    da = dh′ (1 − h′²),   dx = Wᵀ da,   dh = Uᵀ da,   dW = da xᵀ,   dU = da hᵀ,   db = da

    Elman 1990, "Finding structure in time", Cognitive Science 14.
    """

    kind = ElmanKind

    @staticmethod
    def example(random: np.random.Generator) -> tuple[Elman, list[Array]]:
        return Elman(3, 5, random=random), [random.normal(size=(2, 4, 3)), *random.normal(size=(1, 2, 5))]
