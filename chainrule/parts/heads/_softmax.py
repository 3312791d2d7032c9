"""One softmax over all outputs: what heads with a score for each output share."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from chainrule.parts.heads._head import IGNORED, Head


class Softmax(Head):
    """p(w | h) = softmax(scores(h))[w]; a head says how scores are computed."""

    def scores(self, hidden: Tensor) -> Tensor:
        """(…, D) to (…, outputs)."""
        raise NotImplementedError

    def summed(self, hidden: Tensor, targets: Tensor, smoothing: float) -> Tensor:
        return F.cross_entropy(precise(self.scores(hidden)), targets, ignore_index=IGNORED, reduction="sum",
                               label_smoothing=smoothing)

    def log_probs(self, hidden: Tensor, never: tuple[int, ...] = ()) -> Tensor:
        scores = self.scores(hidden)
        for each in never:
            scores[..., each] = -torch.inf
        return scores.log_softmax(-1, dtype=torch.promote_types(scores.dtype, torch.float32))


def precise(scores: Tensor) -> Tensor:
    """Scores in which an exponential is exact enough."""
    return scores if scores.dtype == torch.float64 else scores.float()
