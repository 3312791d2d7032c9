"""A mixture of experts: each token passes a few of many feedforwards, chosen by a learned router."""

from __future__ import annotations

from typing import Annotated

from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.feedforwards._routed import Routed
from chainrule.parts.place import Place
from chainrule.recipe.choices import Choice, PartOf
from chainrule.recipe.registry import build, part


@part
class MixtureOfExperts(Routed):
    r"""Each token passes a few of many feedforwards, chosen by a learned router.

    y = Σ_s f_s(x) + Σ_{e ∈ top k} g_e f_e(x),   p = softmax(W x),   g = p / Σ_{e ∈ top k} p_e

    Shazeer et al. 2017, arXiv:1701.06538, §2.1, without noise. In training an expert has ⌈capacity · k N / E⌉ slots for
    the N tokens of a batch, first choices first (Lepikhin et al. 2020, arXiv:2006.16668, §2.2); a choice that finds
    none counts for nothing. Outside training no token is left out, so that outputs do not depend on other rows. While
    training, balance · E Σ_e (share of the choices that are e) · (mean of p_e) is added to the loss of each token,
    which is smallest where all experts get as many: Fedus, Zoph & Shazeer 2022, arXiv:2101.03961, eq. 4. `shared`
    feedforwards s are passed by every token: Dai et al. 2024 (DeepSeekMoE), arXiv:2401.06066, §3.2. Router and softmax
    are computed in float32. W starts as N(0, 1/D), experts as they would alone.
    """

    def __init__(self, place: Place, *, experts: int = 8, chosen: int = 2, shared: int = 0, capacity: float = 1.25,
                 balance: float = 0.01, expert: Annotated[Choice, PartOf("parts/feedforwards")] = "swiglu"):
        super().__init__(place, expert, experts=experts, chosen=chosen, capacity=capacity, balance=balance)
        if shared < 0:
            raise OptionError("MixtureOfExperts.shared", shared, "0 or more")
        self.shared = nn.ModuleList(build("parts/feedforwards", expert, place) for _ in range(shared))

    def gates(self, best: Tensor) -> Tensor:
        return best / best.sum(-1, keepdim=True)

    def through(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        y = super().through(x, real)
        for each in self.shared:
            y = y + each.through(x)  # type: ignore[operator]
        return y
