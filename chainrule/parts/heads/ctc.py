"""Connectionist temporal classification: texts from frames without knowing which frame says what."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.heads._ctc_search import best_path, prefix_search
from chainrule.parts.heads._head import IGNORED, SequenceHead, real_lengths
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class CTC(SequenceHead):
    r"""Each frame says a token or nothing, the blank; a text is summed over all ways to say it.

    p(y | x) = Σ_{π: B(π) = y} Π_t p_t(π_t),   p_t = softmax(W h_t + b),   loss = −ln p(y | x)

    B leaves out repetitions, then blanks. Graves et al. 2006, "Connectionist temporal classification", eq. 2–3; the sum
    is `_alignments.log_likelihood`, fused in torch. The blank is the last output. W starts as N(0, deviation²), b at 0.
    A row with too few frames for its text has no alignment, and adds nothing to the loss. Smoothing ε adds
    ε Σ_t −1/V Σ_k ln p_t(k) to 1 − ε of the loss, as Kim et al. 2017, arXiv:1711.02212.
    """

    aligned = False

    def __init__(self, place: Place, embedding: Any, *, deviation: float = 0.02):
        super().__init__()
        if place.outputs < 2:
            raise OptionError("model.head", "ctc", "at least one token beside the blank")
        self.outputs, self.blank = place.outputs, place.outputs - 1
        self.weight = nn.Parameter(torch.empty(place.outputs, place.width).normal_(0.0, deviation))
        self.bias = nn.Parameter(torch.zeros(place.outputs))

    def log_probs(self, hidden: Tensor, never: tuple[int, ...] = (), lengths: Tensor | None = None) -> Tensor:
        """(…, outputs): ln p of what each frame says by itself, the blank last."""
        scores = F.linear(hidden, self.weight, self.bias)
        for each in never:
            scores[..., each] = -torch.inf
        return scores.log_softmax(-1, dtype=torch.promote_types(scores.dtype, torch.float32))

    def loss(self, hidden: Tensor, targets: Tensor, *, smoothing: float = 0.0, lengths: Tensor | None = None) -> Tensor:
        """Σ −ln p(y | x) over the rows (B, T, D), of which `lengths` frames are real; targets (B, U), then IGNORED."""
        log_p_BTV, lengths_B = self.log_probs(hidden), real_lengths(hidden, lengths)
        losses_B = self._losses(log_p_BTV, targets, lengths_B)
        total = torch.where(losses_B.isfinite(), losses_B, 0).sum()
        if not smoothing:
            return total
        real_BT = torch.arange(hidden.shape[1], device=hidden.device) < lengths_B[:, None]
        return (1 - smoothing) * total - smoothing * log_p_BTV.mean(-1)[real_BT].sum()

    def losses(self, hidden: Tensor, targets: Tensor, lengths: Tensor | None = None) -> Tensor:
        """(B,): −ln p(y | x) of each row; infinite where it has too few frames."""
        return self._losses(self.log_probs(hidden), targets, real_lengths(hidden, lengths))

    def _losses(self, log_p_BTV: Tensor, targets: Tensor, lengths_B: Tensor) -> Tensor:
        counts_B = (targets != IGNORED).sum(1)
        possible_B = counts_B + _repeated(targets) <= lengths_B
        found = F.ctc_loss(log_p_BTV.transpose(0, 1), targets.clamp(min=0), lengths_B, counts_B, self.blank, "none",
                           zero_infinity=True)  # or gradients of rows without an alignment would be NaN
        return torch.where(possible_B, found, torch.inf)

    def decode(self, hidden: Tensor, lengths: Tensor | None = None) -> list[np.ndarray]:
        """The best path of each row, as ids."""
        return [best_path(own, self.blank) for own in self._rows(hidden, lengths)]

    def search(self, hidden: Tensor, lengths: Tensor | None, beams: int) -> list[list[tuple[np.ndarray, float]]]:
        """The likeliest texts of each row by a prefix search, as ids with ln p."""
        return [prefix_search(own, self.blank, beams) for own in self._rows(hidden, lengths)]

    def _rows(self, hidden: Tensor, lengths: Tensor | None) -> list[np.ndarray]:
        """(T, outputs) ln p of the real frames of each row."""
        log_p = self.log_probs(hidden).detach().float().cpu().numpy()
        return [own[:length] for own, length in zip(log_p, real_lengths(hidden, lengths).tolist(), strict=True)]


def _repeated(targets: Tensor) -> Tensor:
    """(B,): tokens that follow themselves, between which a blank must stand."""
    return ((targets[:, 1:] == targets[:, :-1]) & (targets[:, 1:] != IGNORED)).sum(1)
