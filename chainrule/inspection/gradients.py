"""How far gradients reach: their norms by layer and by distance in time, measured on real text."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.inspection.norms import Gradients, Norms
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
    loss_BT = F.cross_entropy(model.head(hidden_BTD).flatten(0, 1), wanted_BT.flatten(), reduction="none")
    loss_BT = loss_BT.view_as(wanted_BT)
    by_distance = _through_time(loss_BT[:, -1].sum(), carried)  # rows are apart: one pass back serves them all
    by_layer, norm = _by_layer(loss_BT.mean(), model)
    clipped = norm if clip is None else min(norm, clip)
    return Gradients(layer_names(stack), by_distance, by_layer, norm, clip, clipped, loss_BT.mean().item())


def layer_names(stack: Stack) -> tuple[str, ...]:
    """`0 attention`, `1 swiglu`, …: the number that watching uses, and the part."""
    choices = [getattr(stack.shape, letter) for letter in stack.letters]
    return tuple(f"{n} {c if isinstance(c, str) else c['name']}" for n, c in enumerate(choices))


def _read(model: Stack, ids_BT: Tensor) -> tuple[Tensor, list[list[Tensor]]]:
    """The hidden states for the head, and for each layer what it carries: T tensors (B, D), or one (B, T, D)."""
    inputs: dict[int, Tensor] = {}

    def keep(n: int) -> Any:
        def hook(module: nn.Module, given: tuple[Any, ...]) -> None:
            inputs[n] = given[0]
        return hook

    handles = [layer.register_forward_pre_hook(keep(n)) for n, layer in enumerate(model.sublayers)]
    with watch() as seen:
        hidden_BTD, _ = model(ids_BT)
    for handle in handles:
        handle.remove()
    steps = [seen.get(f"sublayers.{n}/steps") for n in range(len(handles))]
    return hidden_BTD, [list(own[0]) if own else [inputs[n]] for n, own in enumerate(steps)]


def _through_time(loss: Tensor, carried: list[list[Tensor]]) -> tuple[Norms, ...]:
    flat = [each for layer in carried for each in layer]
    grads = iter(torch.autograd.grad(loss, flat, retain_graph=True, allow_unused=True))
    found = []
    for layer in carried:
        parts = [torch.zeros_like(each) if grad is None else grad for each, grad in zip(layer, grads, strict=False)]
        grad_BTD = parts[0] if parts[0].dim() == 3 else torch.stack(parts, dim=1)
        found.append(tuple(grad_BTD.norm(dim=-1).mean(0).flip(0).tolist()))
    return tuple(found)


def _by_layer(loss: Tensor, model: Stack) -> tuple[Norms, float]:
    named = dict(model.named_parameters())
    grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
    squares = {name: 0.0 if grad is None else float(grad.square().sum())
               for name, grad in zip(named, grads, strict=True)}
    layers = [sum(s for name, s in squares.items() if name.startswith(f"sublayers.{n}."))
              for n in range(len(model.sublayers))]
    return tuple(square**0.5 for square in layers), sum(squares.values()) ** 0.5
