"""Contract of heads: probabilities, and the loss that belongs to them."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from chainrule.contracts.contract import check, require, require_close
from chainrule.contracts.sublayers import LENGTHS, B, D, T, inputs, moved
from chainrule.parts.heads._head import IGNORED
from chainrule.parts.heads._source import SeenSource
from chainrule.parts.losses import collected_losses
from chainrule.parts.place import Place
from chainrule.recipe.registry import build

KIND, V = "parts/heads", 29


def made(name: str) -> Any:
    torch.manual_seed(0)
    table = SimpleNamespace(weight=nn.Parameter(torch.randn(V, D)))
    return moved(build(KIND, name, Place(D, vocabulary=V, outputs=V), table)).double()


def given_to(head: Any) -> dict[str, Any]:
    """What a head's `loss` and `log_probs` take besides: a source, if it copies from one."""
    if not head.looks_at_source:
        return {}
    torch.manual_seed(3)
    vectors = torch.randn(B, 5, D, dtype=torch.float64)
    return {"source": SeenSource(vectors, torch.randint(1, V, (B, 5)), torch.tensor([5, 2, 4]))}


def targets(head: Any) -> torch.Tensor:
    if head.sequential and not head.aligned:
        return 1 + torch.arange(B * 3).view(B, 3)  # neither the first output nor the last, which may be a blank
    found = torch.arange(B * T).view(B, T) % V  # every output is a target at least once
    if not head.exclusive:  # each is right or wrong by itself
        found = nn.functional.one_hot(found, V) | nn.functional.one_hot((found + 3) % V, V)
    found[0, 3] = found[2, 1] = IGNORED
    return found


def whole_loss(head: Any, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What is differentiated in training, the loss with what the head adds to it; and the loss alone."""
    with collected_losses() as added:
        loss = head.loss(hidden, targets(head), **given_to(head))
    return loss + sum(added.values()), loss


def expected_loss(head: Any, log_p: torch.Tensor, wanted: torch.Tensor, smoothing: float) -> torch.Tensor:
    """Of the targets, from the probabilities that the head gives."""
    real = wanted != IGNORED
    if head.exclusive:
        chosen = log_p.gather(-1, wanted.clamp(min=0)[..., None])[..., 0]
        return -((1 - smoothing) * chosen + smoothing * log_p.mean(-1))[real].sum()
    share = (1 - smoothing) * wanted + smoothing / 2
    return -(share * log_p + (1 - share) * torch.log(-torch.expm1(log_p)))[real].sum()


@check(KIND)
@torch.no_grad()
def sums_to_one(kind: str, name: str) -> None:
    """Probabilities sum to one, unless outputs are independent, and an output that is never chosen has none."""
    head, hidden = made(name), inputs()
    more = given_to(head)
    log_p = head.log_probs(hidden, **more)
    require(log_p.shape == (B, T, V), f"ln p has the shape {tuple(log_p.shape)}, expected {(B, T, V)}")
    require(bool((log_p <= 0).all()), "a probability is above one")
    for never in ((), *((each,) for each in range(V))):
        without = head.log_probs(hidden, never, **more)
        require(bool((without[..., list(never)] == -torch.inf).all()), f"output {never} has probability, though never "
                "chosen")
        if head.exclusive:
            require_close(without.exp().sum(-1), torch.ones(B, T, dtype=log_p.dtype), f"the sum without {never}")


@check(KIND)
def loss_is_minus_log_probability(kind: str, name: str) -> None:
    """The loss is the sum of −ln p of the targets, with label smoothing too, and ignored targets count nothing."""
    head, hidden = made(name), inputs()
    if head.sequential:
        return  # the loss is of whole sequences
    wanted, more = targets(head), given_to(head)
    log_p = head.log_probs(hidden, **more)
    for smoothing in (0.0, 0.1):
        found, expected = head.loss(hidden, wanted, smoothing=smoothing, **more), expected_loss(head, log_p, wanted,
                                                                                              smoothing)
        require_close(found, expected, f"the loss with smoothing {smoothing}", 1e-7)


@check(KIND)
def loss_in_chunks(kind: str, name: str) -> None:
    """A loss that is computed in chunks has the gradients of one that is not."""
    found = []
    if made(name).sequential:
        return
    for at_once in (None, 5 * V):
        head, hidden = made(name), inputs().requires_grad_()
        head.scores_at_once = at_once
        loss, own = whole_loss(head, hidden)
        (2 * loss).backward()
        with torch.no_grad():
            require_close(head.loss(hidden, targets(head), **given_to(head)), own, "the loss without gradients", 1e-7)
        found.append([loss, hidden.grad, *(each.grad for each in head.parameters())])
    for one, other in zip(*found, strict=True):
        require_close(one, other, "the loss and its gradients in chunks", 1e-7)


@check(KIND)
def sequence_by_sequence(kind: str, name: str) -> None:
    """A head of whole sequences gives each row the loss and the outputs that it has by itself, whatever pads it."""
    head, hidden, lengths = made(name), inputs(), torch.tensor(LENGTHS)
    if not head.sequential:
        return
    wanted = targets(head)
    if head.aligned:
        wanted = wanted.masked_fill(torch.arange(T) >= lengths[:, None], IGNORED)
    whole, log_p, best = head.loss(hidden, wanted, lengths=lengths), head.log_probs(hidden, lengths=lengths), \
        head.decode(hidden, lengths)
    rows = [(hidden[n:n + 1, :length], wanted[n:n + 1, :length] if head.aligned else wanted[n:n + 1])
            for n, length in enumerate(LENGTHS)]
    require_close(sum(head.loss(*row) for row in rows), whole, "the sum of the losses of single rows")
    require(bool(whole > 0), f"the loss is {whole.item()}, expected −ln p, above 0")
    for n, (row, own) in enumerate(rows):
        require_close(head.log_probs(row)[0], log_p[n, :LENGTHS[n]], f"ln p of row {n} by itself")
        require(list(head.decode(row)[0]) == list(best[n]), f"row {n} has other outputs by itself")
        if head.aligned:
            require(len(best[n]) == LENGTHS[n], f"{len(best[n])} outputs for {LENGTHS[n]} vectors")
            require(bool(head.loss(row, torch.from_numpy(best[n])[None]) <= head.loss(row, own) + 1e-9),
                    "the outputs that were chosen are less likely than others")


@check(KIND)
@torch.no_grad()
def chosen_outputs(kind: str, name: str) -> None:
    """A head that chooses each output by itself takes the likeliest, and none behind the end of a row."""
    head, hidden = made(name), inputs()
    if head.sequential:
        return
    log_p = head.log_probs(hidden)
    likeliest = log_p.argmax(-1) if head.exclusive else log_p > math.log(0.5)
    for n, own in enumerate(head.decode(hidden, torch.tensor(LENGTHS))):
        require(own.tolist() == likeliest[n, :LENGTHS[n]].tolist(), f"row {n} has other outputs than the likeliest")


@check(KIND)
def head_gradients(kind: str, name: str) -> None:
    """Gradients reach every parameter and the input."""
    head, hidden = made(name), inputs().requires_grad_()
    whole_loss(head, hidden)[0].backward()
    for parameter_name, parameter in [*head.named_parameters(), ("the input", hidden)]:
        require(parameter.grad is not None and bool(parameter.grad.any()), f"no gradient reaches {parameter_name}")
