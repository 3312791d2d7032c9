"""A head that writes a token of its own or copies one of the source: the pointer-generator."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from chainrule.parts.heads._head import IGNORED
from chainrule.parts.heads._softmax import precise
from chainrule.parts.heads._source import SeenSource
from chainrule.parts.heads.tied import Tied
from chainrule.parts.linear import Linear
from chainrule.parts.place import Place
from chainrule.recipe.registry import part
from chainrule.watching import note

LEAST = 1e-35  # a probability whose logarithm is a number


@part
class Copying(Tied):
    r"""Each token is chosen from the vocabulary, or copied from the source.

    p(w | h) = g p_vocabulary(w | h) + (1 − g) Σ_{s: source_s = w} α_s
    g = σ(u·h + b),   α = softmax_s(Q h · K v_s / √D)

    See, Liu & Manning 2017, arXiv:1704.04368, eq. 8–9; g sees h alone, and α is the head's own attention. p_vocabulary
    is that of `tied`, so source and target share a vocabulary. b starts at 1: little is copied at first. Without a
    source it is `tied`.
    """

    looks_at_source = True

    def __init__(self, place: Place, embedding: Any, *, bias: bool = False):
        super().__init__(place, embedding, bias=bias)
        self.query = Linear(place.width, place.width, bias=False)
        self.key = Linear(place.source_width or place.width, place.width, bias=False)
        self.gate = Linear(place.width, 1)
        with torch.no_grad():
            self.gate.bias.fill_(1.0)

    def loss(self, hidden: Tensor, targets: Tensor, *, smoothing: float = 0.0, source: SeenSource | None = None
             ) -> Tensor:
        if source is None:
            return super().loss(hidden, targets, smoothing=smoothing)
        log_p, real = self.log_probs(hidden, source=source), targets != IGNORED
        chosen = log_p.gather(-1, targets.clamp(min=0)[..., None])[..., 0]
        return -((1 - smoothing) * chosen + smoothing * log_p.mean(-1)).masked_fill(~real, 0.0).sum()

    def log_probs(self, hidden: Tensor, never: tuple[int, ...] = (), source: SeenSource | None = None) -> Tensor:
        own = super().log_probs(hidden, never)
        if source is None:
            return own
        gate, copied = precise(self.gate(hidden)), self._copied(hidden, source, never).to(own.dtype)
        p = (F.logsigmoid(gate) + own).exp() + (-gate).sigmoid() * copied
        log_p = p.clamp(min=LEAST).log()
        for each in never:
            log_p[..., each] = -torch.inf
        return log_p

    def _copied(self, hidden: Tensor, source: SeenSource, never: tuple[int, ...]) -> Tensor:
        """(B, …, V): Σ α of each token of the source, but for those that are never chosen."""
        rows = hidden if hidden.dim() == 3 else hidden[:, None]
        score_BTS = self.query(rows) @ self.key(source.vectors).transpose(1, 2) * rows.shape[-1]**-0.5
        hides = torch.zeros_like(source.ids, dtype=torch.bool)
        if source.lengths is not None:
            hides = torch.arange(source.ids.shape[1], device=hidden.device) >= source.lengths[:, None]
        for each in never:
            hides = hides | (source.ids == each)
        score_BTS = score_BTS.masked_fill((hides & ~hides.all(1, keepdim=True))[:, None], -torch.inf)
        weight_BTS = precise(score_BTS).softmax(-1)
        note("copying", weight_BTS)
        found = weight_BTS.new_zeros(*weight_BTS.shape[:2], self.outputs)
        found = found.scatter_add(-1, source.ids[:, None].expand_as(weight_BTS), weight_BTS)
        return found if hidden.dim() == 3 else found[:, 0]
