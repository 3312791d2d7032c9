"""The long short-term memory over whole sequences."""

from __future__ import annotations

import numpy as np

from chainrule.engine.modules._recurrent import Sequence
from chainrule.engine.modules.lstm_cell import LSTMKind
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


@part
class LSTM(Sequence):
    r"""A recurrence with a cell that is added to, and three gates around it.

    At each step, from the first to the last, and from the last to the first on the way back (through time):
    i, f, o = σ(…),   g = tanh(…)   of W x + b + U h in the order i, f, g, o;   c′ = f ⊙ c + i ⊙ g,   h′ = o ⊙ tanh c′
    dc ← dc′ + dh′ o (1 − tanh² c′),   di = dc g i (1 − i),   df = dc c f (1 − f),   dg = dc i (1 − g²)
    do = dh′ tanh c′ o (1 − o),   the former cell gets f ⊙ dc,   and W, U, b as in a linear map

    Hochreiter & Schmidhuber 1997; forget gate of Gers et al. 2000.
    """

    kind = LSTMKind

    @staticmethod
    def example(random: np.random.Generator) -> tuple[LSTM, list[Array]]:
        return LSTM(3, 5, random=random), [random.normal(size=(2, 4, 3)), *random.normal(size=(2, 2, 5))]
