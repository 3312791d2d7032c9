"""What recurrences have in common: one step as a cell, and a whole sequence with back-propagation through time."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainrule.engine.module import Module
from chainrule.engine.tensor import Array, Parameter
from chainrule.errors import OptionError, UsageError

States = tuple[Array, ...]


class Kind:
    """The equations of a recurrence, between z = W x + b, u = U h (+ b′) and the states, of which h is the first."""

    gates, states = 1, 1
    recurrent_bias = False

    @staticmethod
    def ahead(z: Array, u: Array, states: States) -> tuple[States, Any]:
        """The next states, and what the backward pass needs."""
        raise NotImplementedError

    @staticmethod
    def back(d_states: States, saved: Any) -> tuple[Array, Array, States]:
        """dz, du, and the part of the previous states' gradient that does not pass through u."""
        raise NotImplementedError


class Recurrent(Module):
    """The parameters: W (gates · H, inputs), U (gates · H, H), b; uniform within ±1/√H, biases 0."""

    kind: type[Kind]

    def __init__(self, inputs: int, hidden: int, *, random: np.random.Generator | None = None):
        if inputs < 1 or hidden < 1:
            raise OptionError(f"{type(self).__name__}.inputs, hidden", (inputs, hidden), "at least 1 each")
        draw, wide = random or np.random.default_rng(), self.kind.gates * hidden
        self.hidden = hidden
        self.inward = Parameter(draw.uniform(-1, 1, (wide, inputs)).astype(np.float32) * np.float32(hidden**-0.5))
        self.recurrent = Parameter(draw.uniform(-1, 1, (wide, hidden)).astype(np.float32) * np.float32(hidden**-0.5))
        self.bias = Parameter(np.zeros(wide, np.float32))
        if self.kind.recurrent_bias:
            self.recurrent_bias = Parameter(np.zeros(wide, np.float32))

    def start(self, batch: int) -> list[Array]:
        """The states before the first step: 0."""
        return [np.zeros((batch, self.hidden), self.bias.value.dtype) for _ in range(self.kind.states)]

    def split(self, x: Array, given: tuple[Array, ...]) -> tuple[States, Array, Array, Array, Array | float]:
        """States, W, U, b and b′ of what forward is given behind x."""
        states, rest = given[:self.kind.states], given[self.kind.states:]
        if len(given) - len(self.own) != self.kind.states:
            raise UsageError(f"{type(self).__name__} was given {len(given) - len(self.own)} states, expected "
                             f"{self.kind.states}: module.start(batch) makes them.")
        if any(each.shape != (x.shape[0], self.hidden) for each in states):
            raise UsageError(f"{type(self).__name__} was given states of shapes {[each.shape for each in states]}, "
                             f"expected {(x.shape[0], self.hidden)}.")
        return (states, *rest) if self.kind.recurrent_bias else (states, *rest, 0.0)  # type: ignore[return-value]


class Cell(Recurrent):
    """One step: cell(x, *states) gives the next states."""

    def forward(self, x: Array, *given: Array) -> tuple[Any, Any]:
        states, w, u, b, b2 = self.split(x, given)
        if x.ndim != 2 or x.shape[-1] != w.shape[1]:
            raise UsageError(f"{type(self).__name__} was given shape {x.shape}, expected (batch, {w.shape[1]}).")
        after, saved = self.kind.ahead(x @ w.T + b, states[0] @ u.T + b2, states)
        return after if len(after) > 1 else after[0], (x, states[0], w, u, saved)

    def backward(self, dy: Any, memory: Any) -> tuple[Array, ...]:
        x, h, w, u, saved = memory
        dz, du, d_states = self.kind.back(dy if isinstance(dy, tuple) else (dy,), saved)
        biases = [dz.sum(axis=0), du.sum(axis=0)][:1 + self.kind.recurrent_bias]
        return (dz @ w, d_states[0] + du @ u, *d_states[1:], dz.T @ x, du.T @ h, *biases)


class Sequence(Recurrent):
    """All steps: layer(x, *states) gives y (B, T, H) and the last states; without states it starts at 0.

    Back-propagation through time (Werbos 1990). With `reach` the gradient is cut every so many steps, and at the
    beginning only if the states that come in are constants: truncated, Williams & Peng 1990.
    """

    def __init__(self, inputs: int, hidden: int, *, reach: int | None = None,
                 random: np.random.Generator | None = None):
        super().__init__(inputs, hidden, random=random)
        if reach is not None and reach < 1:
            raise OptionError(f"{type(self).__name__}.reach", reach, "at least 1")
        self.reach = reach

    def __call__(self, x: Any, *states: Any) -> Any:
        return super().__call__(x, *(states or self.start(x.shape[0])))

    def forward(self, x: Array, *given: Array) -> tuple[Any, Any]:
        states, w, u, b, b2 = self.split(x, given)
        if x.ndim != 3 or x.shape[-1] != w.shape[1] or not x.shape[1]:
            raise UsageError(f"{type(self).__name__} was given shape {x.shape}, expected (batch, time, {w.shape[1]}).")
        x_TBI = np.ascontiguousarray(x.swapaxes(0, 1))
        z_TBG = (x_TBI.reshape(-1, x.shape[-1]) @ w.T + b).reshape(*x_TBI.shape[:2], len(w))
        h_TBH = np.empty((len(x_TBI) + 1, *states[0].shape), z_TBG.dtype)
        h_TBH[0], saved = states[0], []
        across = np.ascontiguousarray(u.T)  # with u.T itself small products take 2.6 times as long
        for t, z in enumerate(z_TBG):
            states, kept = self.kind.ahead(z, h_TBH[t] @ across + b2, states)
            h_TBH[t + 1] = states[0]
            saved.append(kept)
        return (h_TBH[1:].swapaxes(0, 1), *states), (x_TBI, h_TBH, w, u, saved)

    def backward(self, dy: tuple[Array, ...], memory: Any) -> tuple[Array, ...]:
        x_TBI, h_TBH, w, u, saved = memory
        dz_TBG = np.empty((*x_TBI.shape[:2], len(w)), h_TBH.dtype)
        du_TBG = np.empty_like(dz_TBG) if self.kind.recurrent_bias else dz_TBG
        d_states = list(dy[1:])
        for t in reversed(range(len(x_TBI))):
            d_states[0] = d_states[0] + dy[0][:, t]
            dz, du, before = self.kind.back(tuple(d_states), saved[t])
            dz_TBG[t] = dz
            if self.kind.recurrent_bias:
                du_TBG[t] = du
            cut = t and self.reach is not None and t % self.reach == 0
            d_states = [np.zeros_like(each) for each in d_states] if cut else [before[0] + du @ u, *before[1:]]
        dz, du = dz_TBG.reshape(-1, len(w)), du_TBG.reshape(-1, len(w))
        dx = (dz @ w).reshape(x_TBI.shape).swapaxes(0, 1)
        biases = [dz.sum(axis=0), du.sum(axis=0)][:1 + self.kind.recurrent_bias]
        return (dx, *d_states, dz.T @ x_TBI.reshape(len(dz), w.shape[1]),
                du.T @ h_TBH[:-1].reshape(len(dz), u.shape[1]), *biases)
