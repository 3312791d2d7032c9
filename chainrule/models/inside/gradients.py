"""How far gradients reach: their norms by layer and by distance in time, measured on real text."""

from __future__ import annotations

import copy

import torch
from torch import Tensor

from chainrule.models.inside.norms import Gradients, Norms
from chainrule.models.stack import Stack
from chainrule.watching import watch


def measure(stack: Stack, ids_BT: Tensor, *, clip: float | None = None) -> Gradients:
    """What a step of training on these rows would see, and how much of each last token's loss reaches back in time.

    h is what a layer carries through time: the hidden state of a recurrence; for the others, what they read. All is
    computed in float64, so that neither what vanishes nor what explodes is cut off by the arithmetic.
    """
    model = copy.deepcopy(stack).double().eval().requires_grad_(True)
    read_BT, wanted_BT = ids_BT[:, :-1], ids_BT[:, 1:]
    hidden_BTD, carried = _read(model, read_BT)
    loss_BT = -model.head.log_probs(hidden_BTD).gather(-1, wanted_BT[..., None])[..., 0]
    by_distance = _through_time(loss_BT[:, -1].sum(), carried)  # rows are apart: one pass back serves them all
    by_layer, norm = _by_layer(loss_BT.mean(), model)
    clipped = norm if clip is None else min(norm, clip)
    return Gradients(stack.shape.layer_names, by_distance, by_layer, norm, clip, clipped, loss_BT.mean().item())


def _read(model: Stack, ids_BT: Tensor) -> tuple[Tensor, list[list[Tensor]]]:
    """The hidden states for the head, and for each layer what it carries: T tensors (B, D), or one (B, T, D)."""
    with watch() as seen:
        hidden_BTD, _ = model(ids_BT)
    layers = range(len(model.sublayers))
    steps = [seen.get(f"sublayers.{n}/steps") for n in layers]
    return hidden_BTD, [list(own[0]) if own else [seen[f"sublayers.{n}/inward"][0]]
                        for n, own in zip(layers, steps, strict=True)]


def _through_time(loss: Tensor, carried: list[list[Tensor]]) -> tuple[Norms, ...]:
    flat = [each for layer in carried for each in layer]
    grads = iter(torch.autograd.grad(loss, flat, retain_graph=True, allow_unused=True))
    found = []
    for layer in carried:
        parts = [torch.zeros_like(each) if grad is None else grad for each, grad in zip(layer, grads, strict=False)]
        grad_BTD = torch.stack(parts, dim=1) if len(parts) > 1 or parts[0].dim() < 3 else parts[0].flatten(2)
        found.append(tuple(grad_BTD.norm(dim=-1).mean(0).flip(0).tolist()))
    return tuple(found)


def _by_layer(loss: Tensor, model: Stack) -> tuple[Norms, float]:
    """Of each layer's own parameters, and of all; layers that share weights have the same gradient."""
    parameters = list(model.parameters())
    grads = torch.autograd.grad(loss, parameters, allow_unused=True)
    squares = {parameter: 0.0 if grad is None else float(grad.square().sum())
               for parameter, grad in zip(parameters, grads, strict=True)}
    layers = [sum(squares[each] for each in layer.parameters()) for layer in model.sublayers]
    return tuple(square**0.5 for square in layers), sum(squares.values()) ** 0.5
