"""Adaptive computation time: each position decides after how many steps of a repeated block it is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from chainrule.errors import OptionError
from chainrule.parts.heads._softmax import precise
from chainrule.parts.linear import Linear
from chainrule.parts.losses import add_loss
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.parts.streams._stream import StreamPart
from chainrule.recipe.registry import part
from chainrule.watching import note


@dataclass(frozen=True)
class Pondering:
    """What is carried from step to step: all are (B, T), the mean (B, T, D)."""

    step: int  # how many are done
    left: Tensor  # 1 − Σ p of the steps so far
    running: Tensor  # which positions have not halted
    cost: Tensor  # N + R, as far as it is known
    mean: Tensor  # Σ w_n h_n


@part
class Halting(StreamPart):
    r"""Each position decides after which step of a repeated block it is done; its result is a mean over its steps.

    p_n = σ(w·h_n + b),   N = the first n with p₁ + … + p_n ≥ 1 − ε,   R = 1 − Σ_{n<N} p_n
    y = Σ_{n<N} p_n h_n + R h_N,   loss += ponder · mean over positions of (N + R)

    Graves 2016, arXiv:1603.08983, eq. 5–13; for each position by itself, Dehghani et al. 2019, arXiv:1807.03819, §2.2.
    It stands at the end of the block: `[tsfh]*6` with `model.parts.h=halting`. A position that has halted keeps y,
    which later steps of others still see ("its state is simply copied"); the last step halts all. All steps are
    computed for all positions, so keys and values of every step lie in the caches and decoding token by token gives
    the same. Two departures: the paper's listing decides before a step and goes on changing the states of halted
    positions that others see, and it weighs by w h + (1 − w) y where this is Graves's sum. w starts as N(0, 1/D), b at
    `bias`: 1 lets a position halt after two steps at first.
    """

    def __init__(self, place: Place, *, ponder: float = 0.01, epsilon: float = 0.01, bias: float = 1.0):
        super().__init__()
        if ponder < 0:
            raise OptionError("Halting.ponder", ponder, "0 or more")
        if not 0 < epsilon < 1:
            raise OptionError("Halting.epsilon", epsilon, "above 0 and below 1")
        self.ponder, self.epsilon, self.times, self.key = ponder, epsilon, place.times, f"halting {place.index}"
        self.unit = Linear(place.width, 1)
        with torch.no_grad():
            self.unit.bias.fill_(bias)

    def forward(self, x: Tensor, state: Any, reading: Reading) -> tuple[Tensor, Any, Reading]:
        p = precise(self.unit(x)).sigmoid()[..., 0]
        before = reading.carried.get(self.key) or Pondering(
            0, torch.ones_like(p), torch.ones_like(p, dtype=torch.bool), torch.zeros_like(p), precise(0 * x))
        step = before.step + 1
        halts = before.running & ((before.left - p <= self.epsilon) | (step == self.times))
        running = before.running & ~halts
        weight = torch.where(halts, before.left, torch.where(running, p, 0))
        cost = before.cost + before.running.to(p.dtype) + torch.where(halts, before.left, 0)
        mean = before.mean + weight[..., None] * x
        note("weight", weight)
        y = torch.where(running[..., None], x, mean.to(x.dtype))
        if step < self.times:
            after = Pondering(step, before.left - weight, running, cost, mean)
            return y, None, reading.carrying(self.key, after)
        note("ponder", cost)
        self._add_loss(cost, reading)
        return y, None, reading.carrying(self.key, None)

    def _add_loss(self, cost: Tensor, reading: Reading) -> None:
        if self.training and self.ponder:
            real = reading.real(cost.shape[1])
            add_loss("ponder", self.ponder * (cost.mean() if real is None else
                                              (cost * real).sum() / real.sum().clamp(min=1)))
