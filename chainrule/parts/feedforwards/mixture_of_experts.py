"""A mixture of experts: each token passes a few of many feedforwards, chosen by a learned router."""

from __future__ import annotations

from typing import Annotated

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.feedforwards._pointwise import Pointwise
from chainrule.parts.heads._softmax import precise
from chainrule.parts.linear import Linear
from chainrule.parts.losses import add_loss
from chainrule.parts.place import Place
from chainrule.recipe.choices import Choice, PartOf
from chainrule.recipe.registry import build, part
from chainrule.watching import note


@part
class MixtureOfExperts(Pointwise):
    r"""Each token passes a few of many feedforwards, chosen by a learned router.

    y = Σ_{e ∈ top k} g_e f_e(x),   p = softmax(W x),   g = p / Σ_{e ∈ top k} p_e

    Shazeer et al. 2017, arXiv:1701.06538, §2.1, without noise; no token is dropped. While training,
    balance · N Σ_e (share of the tokens that go to e) · (mean of p_e) is added to the loss of each token, which is
    smallest where all experts get as many: Fedus, Zoph & Shazeer 2022, arXiv:2101.03961, eq. 4. W starts as N(0, 1/D).
    """

    def __init__(self, place: Place, *, experts: int = 8, chosen: int = 2, balance: float = 0.01,
                 expert: Annotated[Choice, PartOf("parts/feedforwards")] = "swiglu"):
        super().__init__()
        if experts < 1:
            raise OptionError("MixtureOfExperts.experts", experts, "at least 1")
        if not 1 <= chosen <= experts:
            raise OptionError("MixtureOfExperts.chosen", chosen, f"1 to experts = {experts}")
        if balance < 0:
            raise OptionError("MixtureOfExperts.balance", balance, "0 or more")
        self.chosen, self.balance = chosen, balance
        self.router = Linear(place.width, experts, bias=False)
        self.experts = nn.ModuleList(build("parts/feedforwards", expert, place) for _ in range(experts))

    def stream_weights(self) -> list[Tensor]:
        """The weights between the input and the residual stream: all but the router."""
        return [each for each in self.experts.parameters() if each.dim() > 1]

    def through(self, x: Tensor) -> Tensor:
        p = precise(self.router(x)).softmax(-1)
        best, which = p.topk(self.chosen, dim=-1)
        gates = torch.zeros_like(p).scatter(-1, which, best / best.sum(-1, keepdim=True)).to(x.dtype)
        note("router", p)
        if self.training:
            share = (gates > 0).flatten(0, -2).to(p.dtype).mean(0) / self.chosen
            add_loss("balance", self.balance * len(self.experts) * (share * p.flatten(0, -2).mean(0)).sum())
        if x.is_cuda and x.shape[-2] == 1 or torch.compiler.is_compiling():
            return self._all(x, gates)  # without reading what was chosen, which would wait for a GPU
        return self._chosen(x.flatten(0, -2), gates.flatten(0, -2)).view_as(x)

    def _all(self, x: Tensor, gates: Tensor) -> Tensor:
        """Every expert for every token, most of them times 0: shapes do not depend on what is chosen."""
        each: list[Tensor] = [expert.through(x) for expert in self.experts]  # type: ignore[operator]
        return torch.einsum("...ed,...e->...d", torch.stack(each, dim=-2), gates)

    def _chosen(self, x: Tensor, gates: Tensor) -> Tensor:
        """Each expert for its own tokens."""
        y = torch.zeros_like(x)
        even = -(-len(x) * self.chosen // len(self.experts))  # where nothing is computed, as many go to each
        for e, expert in enumerate(self.experts):
            mine = torch.arange(even, device=x.device) if x.is_meta else gates[:, e].nonzero()[:, 0]
            of_expert = expert.through(x[mine]) * gates[mine, e, None]  # type: ignore[operator]
            y = y.index_add(0, mine, of_expert.to(y.dtype))
        return y
