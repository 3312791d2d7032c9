"""Many feedforwards of one make as a single one: their linear maps are batched, and tokens are sorted to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError


class BatchedLinear(nn.Module):
    """N linear maps as one product: (N, C, inputs) to (N, C, outputs), y_n = W_n x_n + b_n."""

    def __init__(self, maps: Sequence[nn.Linear]):
        super().__init__()
        self.weight = nn.Parameter(torch.stack([each.weight.detach() for each in maps]))
        biased = maps[0].bias is not None
        self.bias = nn.Parameter(torch.stack([each.bias.detach()[None] for each in maps])) if biased else None

    def forward(self, x: Tensor) -> Tensor:
        if self.bias is None:
            return torch.bmm(x, self.weight.mT)
        return torch.baddbmm(self.bias.to(x.dtype), x, self.weight.mT)


def batched(parts: Sequence[nn.Module], where: str) -> Any:
    """One module that computes what each of the parts computes, for inputs (N, C, D); they must be alike.

    It is the first of them with its linear maps made wider by an axis: `through` is written for (…, D), so it serves.
    """
    first = parts[0]
    for name, child in list(first.named_children()):
        alike = [each.get_submodule(name) for each in parts]
        setattr(first, name, BatchedLinear(alike) if isinstance(child, nn.Linear) else batched(alike, where))  # type: ignore[arg-type]
    if any(True for _ in first.parameters(recurse=False)):
        raise OptionError(where, type(first).__name__, "a feedforward that is made of linear maps", "For example mlp.")
    return first


def some(experts: nn.Module, which: Tensor) -> dict[str, Tensor]:
    """The parameters of some of the experts, one after the other."""
    return {name: each[which] for name, each in experts.named_parameters()}


class Slots(NamedTuple):
    """Where each token goes: every expert has as many slots, and a token that finds none goes nowhere.

    Nowhere is the number behind the last one: E · C in `of_token`, N in `token` and k · N in `choice`.
    """

    of_token: Tensor  # (k, N): the slot of each choice
    choice: Tensor  # (E · C,): which choice has the slot, counted choice by choice, k · N of them
    token: Tensor  # (E · C,): which token has it


def fewest(which_kN: Tensor, experts: int) -> int:
    """How many slots an expert needs so that no token is left out. Looks at the numbers, which waits for a GPU."""
    return int((which_kN.flatten()[:, None] == torch.arange(experts, device=which_kN.device)).sum(0).max())


def slots(which_kN: Tensor, experts: int, capacity: int, real_N: Tensor | None = None) -> Slots:
    """Slots of the chosen experts: first choices before second ones, then by the order of the tokens.

    Sorting by expert puts the choices of each side by side; how far one stands behind the first of its expert is its
    slot. Shapes do not depend on the choices. Padding goes nowhere.
    """
    (choices, tokens), device = which_kN.shape, which_kN.device
    every, none = choices * tokens, experts * capacity
    which = which_kN if real_N is None else which_kN.masked_fill(~real_N, experts)
    expert, order = which.flatten().sort(stable=True)
    begin = torch.searchsorted(expert, torch.arange(experts + 1, device=device))
    behind = torch.arange(every, device=device) - begin[expert]
    slot = (expert * capacity + behind).masked_fill((behind >= capacity) | (expert == experts), none)
    of_token = torch.empty_like(slot).scatter(0, order, slot).view(choices, tokens)
    choice = torch.full((none + 1,), every, device=device).scatter(0, slot, order)[:none]
    return Slots(of_token, choice, (choice % tokens).masked_fill(choice == every, tokens))


class Moved(torch.autograd.Function):
    """y_i = x[there_i], or 0 where there_i = len(x); the gradient is gathered, too: dx_j = Σ_r dy[back_rj].

    torch's own gradient of indexing adds row by row, which is slower, and on a GPU differs from run to run.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, there: Tensor, back: Tensor) -> Tensor:
        ctx.save_for_backward(back)
        return _rows(x, there)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        (dy,), (back,) = grads, ctx.saved_tensors
        first, *others = (_rows(dy, each) for each in back.unbind(0))
        for each in others:
            first = first + each
        return first, None, None


def _rows(x: Tensor, index: Tensor) -> Tensor:
    return x.index_select(0, index.clamp(max=len(x) - 1)).masked_fill((index == len(x))[:, None], 0)


def to_experts(x_ND: Tensor, found: Slots, experts: int) -> Tensor:
    """(N, D) to (E, C, D): the tokens in their slots, 0 in those that are free."""
    return Moved.apply(x_ND, found.token, found.of_token).view(experts, -1, x_ND.shape[-1])


def from_experts(y_ECD: Tensor, found: Slots) -> Tensor:
    """(E, C, D) back to (k, N, D): what each choice of each token has become, 0 where it went nowhere."""
    y = Moved.apply(y_ECD.flatten(0, 1), found.of_token.flatten(), found.choice[None])
    return y.view(*found.of_token.shape, -1)
