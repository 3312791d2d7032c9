"""How far the vectors of a text are from all being the same, sublayer by sublayer: the collapse of rank."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chainrule.models.stack import Stack
from chainrule.parts.reading import Reading

ALONE, FED, SKIPS, WHOLE = "attention alone", "with feed-forward", "with skips", "whole model"
MIXERS = "parts/mixers"


@dataclass(frozen=True)
class Collapse:
    """For each way of running the same weights, the residual after the embedding (0) and after sublayers (1, 2, …)."""

    layers: tuple[str, ...]  # `0 attention`, `1 mlp`, …
    weights_differ: bool  # attention is causal or has positions in its scores: rows of weights differ by place
    after: dict[str, tuple[int, ...]]  # which sublayers were run, counted from 1; 0 is the embedding
    residuals: dict[str, tuple[float, ...]]


def residual(x_TD: Tensor) -> Tensor:
    r"""How far the rows of a matrix are from being one and the same vector, relative to the matrix.

    ‖X − 1 x̄ᵀ‖ / ‖X‖,   ‖·‖ = √(‖·‖₁ ‖·‖_∞)

    Dong, Cordonnier & Loukas 2021, arXiv:2103.03404, §2.1. They take the x that makes the norm least; here x̄ is the
    mean of the rows, which does so for the Euclidean norm. 0: the matrix has rank one, and all positions say the same.
    """
    return composite_norm(x_TD - x_TD.mean(-2, keepdim=True)) / composite_norm(x_TD)


def composite_norm(x_TD: Tensor) -> Tensor:
    """√(‖X‖₁ ‖X‖_∞): the largest sum of absolute values of a column, and that of a row."""
    size = x_TD.abs()
    return (size.sum(-2).amax(-1) * size.sum(-1).amax(-1)).sqrt()


@torch.no_grad()
def measure(stack: Stack, ids_BT: np.ndarray | Tensor) -> Collapse:
    """The residuals of the same weights run in four ways; the geometric mean over rows, in float64.

    Without skips, what a sublayer computes is all that is passed on: its wiring still gives it its inputs (normalized,
    where it does so), and its output is the next stream. Feed-forwards are left out where attention is alone.
    """
    model = copy.deepcopy(stack).double().eval()
    x = model.embedding(torch.as_tensor(ids_BT, device=stack.device))
    reading = replace(Reading(model.shape.causal), position=model.position).from_start(x.shape[1], x.device)
    x = model.position.embed(x, reading.positions)
    every = list(range(len(model.sublayers)))
    wired = [n for n in every if model.sublayers[n].wiring is not None]  # not what changes the stream itself
    mixing = [n for n in wired if model.shape.kind(model.letters[n]) == MIXERS]
    ways: dict[str, tuple[list[int], Callable[..., Any]]] = {
        ALONE: (mixing, _passed_on), FED: (wired, _passed_on), SKIPS: (mixing, _wired), WHOLE: (every, _wired)}
    differ = stack.shape.causal or model.position.turns or model.position.biases
    return Collapse(stack.shape.layer_names, bool(differ),
                    {name: (0, *(n + 1 for n in numbers)) for name, (numbers, _) in ways.items()},
                    {name: _run(model, x, reading, numbers, step) for name, (numbers, step) in ways.items()})


def _run(model: Any, x: Tensor, reading: Reading, numbers: list[int], step: Callable[..., Any]) -> tuple[float, ...]:
    found = [residual(x)]
    x = model.opened(x) if step is _wired else x
    for n in numbers:
        x, reading = step(model.sublayers[n], x, reading)
        found.append(residual(model.closed(x) if step is _wired else x))
    return tuple(torch.stack(found).clamp(min=1e-300).log().mean(-1).exp().tolist())


def _wired(layer: Any, x: Tensor, reading: Reading) -> tuple[Tensor, Reading]:
    """The stream after a sublayer in its own wiring."""
    x, added, _, reading = layer(x, None, None, reading)
    return x if added is None else x + added, reading


def _passed_on(layer: Any, x: Tensor, reading: Reading) -> tuple[Tensor, Reading]:
    """What the sublayer computes of the inputs that its wiring gives it; nothing goes past it."""
    found: list[Tensor] = []

    def body(inward: Tensor) -> tuple[Tensor, Any]:
        y, state = layer.body(inward, None, reading)
        found.append(y)
        return y, state

    layer.wiring.flow(layer.wiring.open(x), None, body)
    return found[0], reading
