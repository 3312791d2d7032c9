"""Independent outputs: each is right or wrong by itself, so that an input may have several labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.parts.heads._head import IGNORED, Head, real_lengths
from chainrule.parts.heads._softmax import precise
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class Independent(Head):
    r"""Each output is right or wrong by itself: several labels of a text, several notes at a time.

    p(output c | h) = σ(w_c·h + b_c),   loss = −Σ_c [y_c ln p_c + (1 − y_c) ln(1 − p_c)]

    Targets are 0 or 1 for every output. W starts as N(0, deviation²), b at 0. With smoothing ε a target is
    (1 − ε) y + ε/2.
    """

    exclusive = False

    def __init__(self, place: Place, embedding: Any, *, deviation: float = 0.02):
        super().__init__()
        self.outputs = place.outputs
        self.weight = nn.Parameter(torch.empty(place.outputs, place.width).normal_(0.0, deviation))
        self.bias = nn.Parameter(torch.zeros(place.outputs))

    def scores(self, hidden: Tensor) -> Tensor:
        """(…, D) to (…, outputs)."""
        return nn.functional.linear(hidden, self.weight, self.bias)

    def summed(self, hidden: Tensor, targets: Tensor, smoothing: float) -> Tensor:
        scores, real = precise(self.scores(hidden)), targets != IGNORED
        wanted = (1 - smoothing) * targets.to(scores.dtype) + smoothing / 2
        lost = F.binary_cross_entropy_with_logits(scores, wanted, reduction="none")
        return lost.masked_fill(~real, 0.0).sum()

    def log_probs(self, hidden: Tensor, never: tuple[int, ...] = ()) -> Tensor:
        """(…, outputs): ln p of each being right."""
        scores = precise(self.scores(hidden))
        for each in never:
            scores[..., each] = -torch.inf
        return F.logsigmoid(scores)

    def decode(self, hidden: Tensor, lengths: Tensor | None = None) -> list[np.ndarray]:
        """(T, outputs) of each row: which have p > ½."""
        with torch.no_grad():
            chosen_BTC = (self.scores(hidden) > 0).cpu().numpy()
        return [own[:length] for own, length in zip(chosen_BTC, real_lengths(hidden, lengths).tolist(), strict=True)]
