"""What adaptive softmaxes share: the first softmax chooses a frequent token or a cluster, others choose inside it."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from chainrule.parts.heads._head import IGNORED, Head
from chainrule.parts.heads._softmax import precise


class Clustered(Head):
    """p(w | h) = p(w), or p(its cluster) p(w | cluster); a head says how both are scored."""

    bounds: list[int]  # where the frequent tokens end, then each cluster

    def first(self, hidden: Tensor) -> Tensor:
        """(…, D) to the scores of the frequent tokens, then those of the clusters."""
        raise NotImplementedError

    def rare(self, cluster: int, hidden: Tensor) -> Tensor:
        """(…, D) to the scores of the tokens of a cluster, from 0."""
        raise NotImplementedError

    def summed(self, hidden: Tensor, targets: Tensor, smoothing: float) -> Tensor:
        if smoothing:
            log_p = self.log_probs(hidden)
            real = targets != IGNORED
            chosen = log_p.gather(1, targets.clamp(min=0)[:, None])[:, 0]
            return -((1 - smoothing) * chosen + smoothing * log_p.mean(1))[real].sum()
        first = self.bounds[0]
        place = targets.clamp(max=first)  # in the first softmax: the token itself, or its cluster
        total = torch.zeros((), dtype=precise(hidden).dtype, device=hidden.device)
        for i, begin, end in self._clusters():
            mine = (begin <= targets) & (targets < end)
            place = torch.where(mine, first + i, place)
            total = total + F.cross_entropy(precise(self.rare(i, hidden[mine])), targets[mine] - begin, reduction="sum")
        scores = precise(self.first(hidden))
        return total + F.cross_entropy(scores, place, ignore_index=IGNORED, reduction="sum")

    def log_probs(self, hidden: Tensor, never: tuple[int, ...] = ()) -> Tensor:
        first = self.bounds[0]
        empty = [i for i, begin, end in self._clusters() if {*range(begin, end)} <= {*never}]
        among = (*(each for each in never if each < first), *(first + i for i in empty))
        frequent = _without(precise(self.first(hidden)), among).log_softmax(-1)
        found = [frequent[..., :first]]
        for i, begin, end in self._clusters():
            if i in empty:
                found.append(frequent.new_full((*frequent.shape[:-1], end - begin), -torch.inf))
                continue
            inside = _without(precise(self.rare(i, hidden)), tuple(each - begin for each in never)).log_softmax(-1)
            found.append(frequent[..., first + i:first + i + 1] + inside)
        return torch.cat(found, dim=-1)

    def _clusters(self) -> Iterator[tuple[int, int, int]]:
        """The number, the first token and the end of each."""
        for i, (begin, end) in enumerate(zip(self.bounds, self.bounds[1:], strict=False)):
            yield i, begin, end


def _without(scores: Tensor, never: tuple[int, ...]) -> Tensor:
    """Outputs that are never chosen get no probability; the others of a cluster share it."""
    for each in never:
        if 0 <= each < scores.shape[-1]:
            scores[..., each] = -torch.inf
    return scores
