"""Mixers on the engine, with states for a few tokens at a time: recurrence, attention, a window."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from chainrule.engine import Composite, Tensor
from chainrule.engine.modules.concatenate import Concatenate
from chainrule.engine.modules.dot_product_attention import DotProductAttention
from chainrule.engine.modules.linear import Linear
from chainrule.engine.modules.multi_head_attention import MultiHeadAttention
from chainrule.engine.modules.rotary import angles, turned
from chainrule.engine.modules.self_attention import heads_of
from chainrule.engine.tensor import taping
from chainrule.errors import OptionError
from chainrule.models.engine_parts.twin import stands_for
from chainrule.parts.place import Place
from chainrule.recipe.registry import find
from chainrule.watching import note, watched

Options = Mapping[str, Any]
Random = np.random.Generator
FORWARD = {"directions": (None, 1)}  # the engine reads in one direction


class Recurrence(Composite):
    """A recurrent sublayer; its state is a constant for the next stretch of text."""

    recurrent = True
    torch_names = {"cell.inward": "cell.fused.weight_ih_l0", "cell.recurrent": "cell.fused.weight_hh_l0",
                   "cell.bias": "cell.fused.bias_ih_l0", "cell.recurrent_bias": "cell.fused.bias_hh_l0"}

    def __init__(self, place: Place, options: Options, random: Random):
        self.cell: Any = find("engine/modules", options["name"])(place.width, place.width, random=random)

    def start(self, batch: int) -> Any:
        return tuple(self.cell.start(batch))

    def forward(self, x: Tensor, state: Any) -> tuple[Tensor, Any]:
        state = self.start(len(x.value)) if state is None else state
        if watched() and taping():
            return self._by_steps(x, state)
        y, *after = self.cell(x, *state)
        return y, tuple(each.value for each in after)

    def _by_steps(self, x: Tensor, state: Any) -> tuple[Tensor, Any]:
        """The same with each step's h as a node of the graph, for gradients through time."""
        steps = []
        for t in range(x.shape[1]):
            _, *state = self.cell(x[:, t:t + 1], *state)
            steps.append(state[0])
        note("steps", tuple(steps))
        y = Concatenate(axis=1)(*(h.reshape(len(h.value), 1, -1) for h in steps))
        return y, tuple(each.value for each in state)


@stands_for("parts/mixers/elman", takes=("gain",), only=FORWARD | {"activation": ("tanh",)},
            training={"recurrent": "orthogonal"})
class Elman(Recurrence):
    """Its recurrent matrix starts orthogonal, so that gradients neither vanish nor explode at first."""

    def __init__(self, place: Place, options: Options, random: Random):
        super().__init__(place, options, random)
        turn = np.linalg.qr(random.normal(size=(place.width,) * 2))[0]
        self.cell.recurrent.value = (options["gain"] * turn).astype(np.float32)


@stands_for("parts/mixers/gru", only=FORWARD, training={"spread": None})
class GRU(Recurrence):
    """Initialized as its cell is."""


@stands_for("parts/mixers/lstm", takes=("forget",), only=FORWARD | {"hidden": (None,)},
            training={"spread": None, "weight_drop": 0.0})
class LSTM(Recurrence):
    """The forget gate's bias starts at `forget`, so that a new network remembers."""

    def __init__(self, place: Place, options: Options, random: Random):
        super().__init__(place, options, random)
        self.cell.bias.value[place.width:2 * place.width] = options["forget"]


@stands_for("parts/mixers/ugrnn", takes=("forget",), only=FORWARD, training={"spread": None})
class UGRNN(LSTM):
    """The same for its one gate; torch has no fused cell for it."""

    torch_names: dict[str, str] = {}


@stands_for("parts/mixers/attention", takes=("heads", "bias"), training={"dropout": 0.0},
            only={"groups": lambda options, place: (None, options["heads"]), "attend": ({"name": "full"},),
                  "qk_norm": ({"name": "none"},)})
class Attention(MultiHeadAttention):
    """With a cache for a few tokens at a time: keys and values (B, H, room, E), and how many of them are there (B,)."""

    bounded = True

    def __init__(self, place: Place, options: Options, random: Random):
        if options["heads"] < 1 or place.width % options["heads"]:
            raise OptionError("Attention.heads", options["heads"], f"a divisor of width {place.width}")
        super().__init__(place.width, place.depth, heads=options["heads"], bias=options["bias"], random=random)

    def start(self, batch: int) -> Any:
        heads, width = self.attend.heads, self.outward.weight.shape[1]
        keys, values = np.empty((2, batch, heads, 0, width // heads), self.outward.weight.value.dtype)
        return keys, values, np.zeros(batch, np.int64)

    def forward(self, x: Tensor, state: Any = None) -> Any:
        if state is None:
            return super().forward(x), None
        lengths = np.unique(state[2])
        if len(lengths) <= 1:
            return self._step(x, state)
        y, after = None, [None] * len(x.value)
        for length in lengths.tolist():  # rows that have read equally much, together
            rows = np.flatnonzero(state[2] == length)
            own, cache = self._step(Tensor(x.value[rows]), tuple(each[rows] for each in state))
            y = np.empty(x.shape, own.value.dtype) if y is None else y
            y[rows] = own.value
            for n, row in enumerate(rows.tolist()):
                after[row] = tuple(each[n:n + 1] for each in cache)  # type: ignore[call-overload]
        return Tensor(y), joined([each for each in after if each is not None])

    def _step(self, x: Tensor, cache: Any) -> tuple[Tensor, Any]:
        """For inference only: outputs are constants, and the cache is written in place."""
        batch, length, width = x.shape
        q, k, v = heads_of(self.inward(x).value, self.attend.heads)
        keys, values, there = cache
        before = int(there.max(initial=0))
        if self.attend.rotary is not None:
            around = angles(length, q.shape[3], self.attend.rotary, before, q.dtype.str)
            q, k = turned(q, *around), turned(k, *around)
        keys, values = (_extended(*pair, before) for pair in ((keys, k), (values, v)))
        y = DotProductAttention(causal=True)(q, *(each[:, :, :before + length] for each in (keys, values))).value
        return (self.outward(y.transpose(0, 2, 1, 3).reshape(batch, length, width)),
                (keys, values, there + length))


def _extended(room: np.ndarray, new: np.ndarray, before: int) -> np.ndarray:
    """Appends new entries to the cache, which doubles if they do not fit."""
    after = before + new.shape[2]
    if after > room.shape[2]:
        larger = np.empty((*room.shape[:2], max(after, 2 * room.shape[2]), room.shape[3]), room.dtype)
        larger[:, :, :before] = room[:, :, :before]
        room = larger
    room[:, :, before:after] = new
    return room


@stands_for("parts/mixers/window", takes=("size", "bias"))
class Window(Composite):
    """y_t = W [x_{t−size+1}; …; x_t] + b. Bengio et al. 2003, JMLR 3, eq. 1; zeros before the text."""

    def __init__(self, place: Place, options: Options, random: Random):
        self.size, self.width = options["size"], place.width
        inputs = self.size * self.width
        self.outward = Linear(inputs, self.width, bias=options["bias"], deviation=(inputs * place.depth) ** -0.5,
                              random=random)

    def start(self, batch: int) -> Any:
        return (np.zeros((batch, self.size - 1, self.width), self.outward.weight.value.dtype),)

    def forward(self, x: Tensor, state: Any) -> tuple[Tensor, Any]:
        state = self.start(len(x.value)) if state is None else state
        whole, length = Concatenate(axis=1)(state[0], x), x.shape[1]
        near = Concatenate(axis=-1)(*(whole[:, offset:offset + length] for offset in range(self.size)))
        return self.outward(near), (whole.value[:, length:],)


def joined(states: Any) -> Any:
    """The rows of several states of a sublayer as one batch; smaller caches are padded."""
    if states[0] is None or len(states) == 1:
        return states[0]
    found = []
    for arrays in zip(*states, strict=True):
        shape = [max(sizes) for sizes in zip(*(each.shape[1:] for each in arrays), strict=True)]
        whole = np.zeros((sum(map(len, arrays)), *shape), arrays[0].dtype)
        at = 0
        for each in arrays:
            whole[(slice(at, at + len(each)), *map(slice, each.shape[1:]))] = each
            at += len(each)
        found.append(whole)
    return tuple(found)
