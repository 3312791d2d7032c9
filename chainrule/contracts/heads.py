"""Contract of heads: probabilities, and the loss that belongs to them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from chainrule.contracts.contract import check, require, require_close
from chainrule.contracts.sublayers import B, D, T, inputs, moved
from chainrule.parts.heads._head import IGNORED
from chainrule.parts.place import Place
from chainrule.recipe.registry import build

KIND, V = "parts/heads", 29


def made(name: str) -> Any:
    torch.manual_seed(0)
    table = SimpleNamespace(weight=nn.Parameter(torch.randn(V, D)))
    return moved(build(KIND, name, Place(D, vocabulary=V, outputs=V), table)).double()


def targets() -> torch.Tensor:
    found = torch.arange(B * T).view(B, T) % V  # every output is a target at least once
    found[0, 3] = found[2, 1] = IGNORED
    return found


@check(KIND)
@torch.no_grad()
def sums_to_one(kind: str, name: str) -> None:
    """Probabilities sum to one, and an output that is never chosen has none."""
    head, hidden = made(name), inputs()
    log_p = head.log_probs(hidden)
    require(log_p.shape == (B, T, V), f"ln p has the shape {tuple(log_p.shape)}, expected {(B, T, V)}")
    require_close(log_p.exp().sum(-1), torch.ones(B, T, dtype=log_p.dtype), "the sum of all probabilities")
    for never in range(V):
        without = head.log_probs(hidden, (never,))
        require(bool((without[..., never] == -torch.inf).all()), f"output {never} has probability, though never chosen")
        require_close(without.exp().sum(-1), torch.ones(B, T, dtype=log_p.dtype), f"the sum without {never}")


@check(KIND)
def loss_is_minus_log_probability(kind: str, name: str) -> None:
    """The loss is the sum of −ln p of the targets, with label smoothing too, and ignored targets count nothing."""
    head, hidden, wanted = made(name), inputs(), targets()
    log_p, real = head.log_probs(hidden), wanted != IGNORED
    chosen = log_p.gather(-1, wanted.clamp(min=0)[..., None])[..., 0]
    for smoothing in (0.0, 0.1):
        expected = -((1 - smoothing) * chosen + smoothing * log_p.mean(-1))[real].sum()
        require_close(head.loss(hidden, wanted, smoothing=smoothing), expected, f"the loss with smoothing {smoothing}",
                      1e-7)


@check(KIND)
def loss_in_chunks(kind: str, name: str) -> None:
    """A loss that is computed in chunks has the gradients of one that is not."""
    found = []
    for at_once in (None, 5 * V):
        head, hidden = made(name), inputs().requires_grad_()
        head.scores_at_once = at_once
        loss = head.loss(hidden, targets())
        (2 * loss).backward()
        with torch.no_grad():
            require_close(head.loss(hidden, targets()), loss, "the loss without gradients", 1e-7)
        found.append([loss, hidden.grad, *(each.grad for each in head.parameters())])
    for one, other in zip(*found, strict=True):
        require_close(one, other, "the loss and its gradients in chunks", 1e-7)


@check(KIND)
def head_gradients(kind: str, name: str) -> None:
    """Gradients reach every parameter and the input."""
    head, hidden = made(name), inputs().requires_grad_()
    head.loss(hidden, targets()).backward()
    for parameter_name, parameter in [*head.named_parameters(), ("the input", hidden)]:
        require(parameter.grad is not None and bool(parameter.grad.any()), f"no gradient reaches {parameter_name}")
