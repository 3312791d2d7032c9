"""Adaptive softmax: frequent tokens are scored directly, rare ones only within their cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.errors import OptionError
from chainrule.parts.heads._head import IGNORED, Head
from chainrule.parts.heads._softmax import precise
from chainrule.parts.linear import Linear
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class Adaptive(Head):
    r"""Frequent tokens are scored at once, rare ones by clusters whose vectors are narrower.

    p(w | h) = softmax(W₀ h)[w]  for w below the first cutoff,
    p(w | h) = softmax(W₀ h)[cluster i] · softmax(Wᵢ Pᵢ h)[w]  for w in cluster i,   Pᵢ: D → D / factor^i

    Grave, Joulin, Cissé, Grangier & Jégou 2017, arXiv:1609.04309, §4. Tokens must be numbered by their frequency, as
    those of `words` are, and of byte pairs nearly so. Without `cutoffs` the frequent tokens are a tenth of all, and
    there are two clusters: up to four tenths, and the rest. Matrices start as N(0, 1/inputs).
    """

    def __init__(self, place: Place, embedding: Any, *, cutoffs: tuple[int, ...] | None = None, factor: float = 4.0):
        super().__init__()
        size = self.outputs = place.outputs
        inner = (max(1, size // 10), max(2, 4 * size // 10)) if cutoffs is None else tuple(cutoffs)
        if not inner or list(inner) != sorted({*inner}) or not 0 < inner[0] <= inner[-1] < size:
            raise OptionError("Adaptive.cutoffs", cutoffs, f"numbers that grow, from 1 to {size - 1}")
        if factor < 1:
            raise OptionError("Adaptive.factor", factor, "at least 1", "1 leaves the vectors of rare tokens as wide.")
        self.bounds = [*inner, size]
        self.frequent = Linear(place.width, inner[0] + len(inner), bias=False)
        self.clusters = nn.ModuleList()
        for i, (begin, end) in enumerate(zip(self.bounds, self.bounds[1:], strict=False), start=1):
            narrow = max(1, int(place.width / factor**i))
            self.clusters.append(nn.Sequential(Linear(place.width, narrow, bias=False),
                                               Linear(narrow, end - begin, bias=False)))

    def summed(self, hidden: Tensor, targets: Tensor, smoothing: float) -> Tensor:
        if smoothing:
            log_p = self.log_probs(hidden)
            real = targets != IGNORED
            chosen = log_p.gather(1, targets.clamp(min=0)[:, None])[:, 0]
            return -((1 - smoothing) * chosen + smoothing * log_p.mean(1))[real].sum()
        first = self.bounds[0]
        place = targets.clamp(max=first)  # in the first softmax: the token itself, or its cluster
        total = torch.zeros((), dtype=precise(hidden).dtype, device=hidden.device)
        for i, (begin, end, cluster) in enumerate(self._parts()):
            mine = (begin <= targets) & (targets < end)
            place = torch.where(mine, first + i, place)
            total = total + F.cross_entropy(precise(cluster(hidden[mine])), targets[mine] - begin, reduction="sum")
        scores = precise(self.frequent(hidden))
        return total + F.cross_entropy(scores, place, ignore_index=IGNORED, reduction="sum")

    def log_probs(self, hidden: Tensor, never: tuple[int, ...] = ()) -> Tensor:
        first = self.bounds[0]
        empty = [i for i, (begin, end, _) in enumerate(self._parts()) if {*range(begin, end)} <= {*never}]
        among = (*(each for each in never if each < first), *(first + i for i in empty))
        frequent = _without(precise(self.frequent(hidden)), among).log_softmax(-1)
        found = [frequent[..., :first]]
        for i, (begin, end, cluster) in enumerate(self._parts()):
            if i in empty:
                found.append(frequent.new_full((*frequent.shape[:-1], end - begin), -torch.inf))
                continue
            inside = _without(precise(cluster(hidden)), tuple(each - begin for each in never)).log_softmax(-1)
            found.append(frequent[..., first + i:first + i + 1] + inside)
        return torch.cat(found, dim=-1)

    def _parts(self) -> Iterator[tuple[int, int, nn.Module]]:
        return zip(self.bounds, self.bounds[1:], self.clusters, strict=False)


def _without(scores: Tensor, never: tuple[int, ...]) -> Tensor:
    """Outputs that are never chosen get no probability; the others of a cluster share it."""
    for each in never:
        if 0 <= each < scores.shape[-1]:
            scores[..., each] = -torch.inf
    return scores
