"""What mixtures of experts have in common: a router, slots for tokens, and a loss that balances the experts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import torch
from torch import Tensor
from torch.func import functional_call
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.feedforwards._experts import batched, fewest, from_experts, slots, some, to_experts
from chainrule.parts.feedforwards._pointwise import Pointwise
from chainrule.parts.heads._softmax import precise
from chainrule.parts.linear import Linear, without_autocast
from chainrule.parts.losses import add_loss
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.choices import Choice
from chainrule.recipe.registry import build
from chainrule.watching import note


class Routed(Pointwise):
    """y = Σ_{e ∈ top k} g_e f_e(x),   p = softmax(W x); a part says how the gates g follow from p.

    In training an expert has ⌈capacity · k N / E⌉ slots for the N tokens of a batch. Tokens that find none pass by:
    only the residual stream carries them on. Outside training no token is left out, so an output does not depend on
    other rows, nor on how a text is cut. The router computes in float32 at least, whatever the precision of the rest.
    """

    def __init__(self, place: Place, expert: Choice, *, experts: int, chosen: int, capacity: float, balance: float):
        super().__init__()
        part = type(self).__name__
        if experts < 1:
            raise OptionError(f"{part}.experts", experts, "at least 1")
        if not 1 <= chosen <= experts:
            raise OptionError(f"{part}.chosen", chosen, f"1 to experts = {experts}")
        if capacity <= 0:
            raise OptionError(f"{part}.capacity", capacity, "above 0", "1 is as many slots as there are choices.")
        if balance < 0:
            raise OptionError(f"{part}.balance", balance, "0 or more")
        self.count, self.chosen, self.balance = experts, chosen, balance
        self.capacity = Fraction(capacity).limit_denominator(1000)  # whole numbers, which a compiler takes as they are
        self.router = Linear(place.width, experts, bias=False)
        self.experts = batched([build("parts/feedforwards", expert, place) for _ in range(experts)], f"{part}.expert")

    def gates(self, best: Tensor) -> Tensor:
        """What the chosen experts count, from their probabilities (…, k)."""
        raise NotImplementedError

    def routed(self, x: Tensor) -> Tensor:
        """What the router reads."""
        return x

    def stream_weights(self) -> list[Tensor]:
        """The weights between the input and the residual stream: all but the router."""
        return [each for name, each in self.named_parameters() if name.endswith("weight") and "router" not in name]

    def forward(self, x: Tensor, state: Any, reading: Reading) -> tuple[Tensor, None]:
        return self.through(x, reading.real(x.shape[-2])), None

    def through(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        """(…, D) to (…, D); padding is not routed in training."""
        p = self.probabilities(self.routed(x))
        best, which = p.topk(self.chosen, dim=-1)
        note("router", p)
        if self.training:
            add_loss("balance", self.balance * self.uneven(p, which, real))
        if not x.numel():
            return x
        flat, of_token = x.flatten(0, -2), which.flatten(0, -2).T
        y_kND = self._few(flat, of_token) if self._are_few(len(flat)) else self._many(flat, of_token, real)
        gates_kN1 = self.gates(best).flatten(0, -2).T[..., None].to(y_kND.dtype)
        return (gates_kN1 * y_kND).sum(0).view_as(x)

    def probabilities(self, x: Tensor) -> Tensor:
        """(…, E)"""
        with without_autocast(x):
            return F.linear(precise(x), precise(self.router.weight)).softmax(-1)

    def uneven(self, p: Tensor, which: Tensor, real: Tensor | None) -> Tensor:
        """E Σ_e (share of the choices that are e) · (mean of p_e): 1 where all experts get as many, at most E."""
        counts = torch.ones_like(p[..., 0]) if real is None else real.to(p.dtype)
        total = counts.sum().clamp_min(1)
        chosen = (which[..., None] == torch.arange(self.count, device=p.device)).sum(-2).to(p.dtype)
        share, mean = ((each * counts[..., None]).flatten(0, -2).sum(0) / total for each in (chosen / self.chosen, p))
        return self.count * (share * mean).sum()

    def _are_few(self, tokens: int) -> bool:
        """Whether fewer experts than there are would be read: when single tokens are written."""
        return not self.training and tokens * self.chosen < self.count

    def _few(self, x: Tensor, which: Tensor) -> Tensor:
        """Each choice with a copy of its expert's weights: (k, N, D)."""
        each = x.repeat(self.chosen, 1)[:, None]
        y, _ = functional_call(self.experts, some(self.experts, which.flatten()), (each, None, Reading()))
        return y.view(self.chosen, *x.shape)

    def _many(self, x: Tensor, which: Tensor, real: Tensor | None) -> Tensor:
        """Every expert with the tokens in its slots: (k, N, D)."""
        tokens = real.flatten() if self.training and real is not None else None
        found = slots(which, self.count, self._slots(x, which), tokens)
        return from_experts(self.experts.through(to_experts(x, found, self.count)), found)

    def _slots(self, x: Tensor, which: Tensor) -> int:
        """Of each expert."""
        choices, tokens = which.shape
        if self.training or x.is_meta:  # where nothing is computed outside training, as many go to each
            more, of = self.capacity.as_integer_ratio() if self.training else (1, 1)
            return min(tokens, -(-choices * tokens * more // (self.count * of)))
        if torch.compiler.is_compiling() or x.is_cuda and tokens <= 4 * self.count:
            return tokens  # without looking at what was chosen, which would wait for a GPU
        return fewest(which, self.count)
