"""The Switch feedforward: each token passes one of many feedforwards."""

from __future__ import annotations

from typing import Annotated

import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.feedforwards._routed import Routed
from chainrule.parts.place import Place
from chainrule.recipe.choices import Choice, PartOf
from chainrule.recipe.registry import part


@part
class Switch(Routed):
    r"""Each token passes one of many feedforwards, the one that a learned router gives the greatest probability.

    y = p_e f_e(x),   e = argmax p,   p = softmax(W x̃),   x̃ = x ⊙ U(1 − jitter, 1 + jitter) in training, otherwise x

    Fedus, Zoph & Shazeer 2022, arXiv:2101.03961, §2. In training an expert has ⌈capacity · N/E⌉ slots for the N tokens
    of a batch (eq. 3); tokens that find none pass by the residual stream alone. Outside training no token is left out,
    so that outputs do not depend on other rows: a departure, as the paper drops tokens in evaluation, too. While
    training, balance · E Σ_e (share of the tokens that go to e) · (mean of p_e) is added to the loss of each token (eq.
    4). Router and softmax are computed in float32 (§2.4). W starts as N(0, 0.1/D), experts as they would alone; the
    paper starts all weights with a tenth of the usual variance.
    """

    def __init__(self, place: Place, *, experts: int = 8, capacity: float = 1.25, balance: float = 0.01,
                 jitter: float = 0.01, expert: Annotated[Choice, PartOf("parts/feedforwards")] = "mlp"):
        super().__init__(place, expert, experts=experts, chosen=1, capacity=capacity, balance=balance)
        if not 0 <= jitter < 1:
            raise OptionError("Switch.jitter", jitter, "at least 0 and below 1")
        self.jitter = jitter
        nn.init.normal_(self.router.weight, 0.0, (0.1 / place.width) ** 0.5)

    def gates(self, best: Tensor) -> Tensor:
        return best

    def routed(self, x: Tensor) -> Tensor:
        if not self.training or not self.jitter:
            return x
        return x * torch.empty_like(x).uniform_(1 - self.jitter, 1 + self.jitter)
