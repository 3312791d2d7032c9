"""One step of the long short-term memory."""

from __future__ import annotations

import numpy as np

from chainrule.engine.modules._gate import sigmoid
from chainrule.engine.modules._recurrent import Cell, Kind, States
from chainrule.engine.tensor import Array
from chainrule.recipe.registry import part


class LSTMKind(Kind):
    """The equations of the long short-term memory and of its gradient."""

    gates, states = 4, 2

    @staticmethod
    def ahead(z: Array, u: Array, states: States) -> tuple[States, tuple[Array, ...]]:
        (_, c), a = states, z + u
        i, f, g, o = (a[:, place:place + c.shape[1]] for place in range(0, a.shape[1], c.shape[1]))
        i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
        after = f * c + i * g
        bent = np.tanh(after)
        return (o * bent, after), (i, f, g, o, c, bent)

    @staticmethod
    def back(d_states: States, saved: tuple[Array, ...]) -> tuple[Array, Array, States]:
        (dh, dc), (i, f, g, o, c, bent) = d_states, saved
        dc = dc + dh * o * (1 - bent * bent)
        dz = np.concatenate([dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g * g),
                             dh * bent * o * (1 - o)], axis=1)
        return dz, dz, (0.0, dc * f)  # type: ignore[return-value]


@part
class LSTMCell(Cell):
    r"""One step: a recurrence with a cell that is added to, and three gates around it.

    i, f, o = σ(…),   g = tanh(…)   of W x + b + U h in the order i, f, g, o;   c′ = f ⊙ c + i ⊙ g,   h′ = o ⊙ tanh c′
    dc ← dc′ + dh′ o (1 − tanh² c′),   di = dc g i (1 − i),   df = dc c f (1 − f),   dg = dc i (1 − g²)
    do = dh′ tanh c′ o (1 − o),   the former cell gets f ⊙ dc,   and W, U, b as in a linear map

    Hochreiter & Schmidhuber 1997; forget gate of Gers et al. 2000.
    """

    kind = LSTMKind

    @staticmethod
    def example(random: np.random.Generator) -> tuple[LSTMCell, list[Array]]:
        return LSTMCell(3, 5, random=random), [random.normal(size=(2, 3)), *random.normal(size=(2, 2, 5))]
