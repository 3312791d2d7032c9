"""All sequences of tags at once: their sum by the forward algorithm, their marginals, and the best by Viterbi's."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class Chain:
    """Scores of tags (C) of the positions of rows, and of one tag after another."""

    scores_BTC: Tensor
    transitions_CC: Tensor  # from, to
    first_C: Tensor
    last_C: Tensor
    lengths_B: Tensor

    def only(self, tags_BT: Tensor) -> Chain:
        """The same, where no tag but those given can be; a negative one may be any."""
        tags_C = torch.arange(self.scores_BTC.shape[-1], device=tags_BT.device)
        others_BTC = (tags_BT >= 0)[..., None] & (tags_C != tags_BT[..., None])
        return replace(self, scores_BTC=self.scores_BTC.masked_fill(others_BTC, -torch.inf))

    @property
    def real_BT(self) -> Tensor:
        return torch.arange(self.scores_BTC.shape[1], device=self.lengths_B.device) < self.lengths_B[:, None]

    def inside(self, t: int) -> Tensor:
        """(B, 1): which rows have a position t."""
        return (t < self.lengths_B)[:, None]


def log_sum(chain: Chain) -> Tensor:
    r"""(B,): ln Σ_y exp score(y), by the forward algorithm.

    α₁(j) = b_j + s₁(j),   α_t(j) = s_t(j) + ln Σ_i exp(α_{t−1}(i) + A_ij),   ln Z = ln Σ_j exp(α_T(j) + e_j)

    Rabiner 1989, "A tutorial on hidden Markov models", eq. 19–21, in logarithms.
    """
    return (_forward(chain)[-1] + chain.last_C).logsumexp(-1)


def log_marginals(chain: Chain) -> Tensor:
    r"""(B, T, C): ln p(y_t = j) = α_t(j) + β_t(j) − ln Z,   β_t(i) = ln Σ_j exp(A_ij + s_{t+1}(j) + β_{t+1}(j))."""
    beta_BC = chain.last_C.expand(len(chain.scores_BTC), -1)
    backward = [beta_BC]
    for t in range(chain.scores_BTC.shape[1] - 1, 0, -1):
        ahead_BC = beta_BC + chain.scores_BTC[:, t]
        before_BC = (chain.transitions_CC + ahead_BC[:, None, :]).logsumexp(-1)
        beta_BC = torch.where(chain.inside(t), before_BC, beta_BC)
        backward.append(beta_BC)
    return (torch.stack(_forward(chain), 1) + torch.stack(backward[::-1], 1)).log_softmax(-1)


def _forward(chain: Chain) -> list[Tensor]:
    """α of each position (B, C), behind the end of a row that of its last."""
    alpha_BC = chain.first_C + chain.scores_BTC[:, 0]
    found, into_CC = [alpha_BC], chain.transitions_CC.T.contiguous()  # sums run over memory in its order
    for t in range(1, chain.scores_BTC.shape[1]):
        next_BC = (alpha_BC[:, None, :] + into_CC).logsumexp(-1) + chain.scores_BTC[:, t]
        alpha_BC = torch.where(chain.inside(t), next_BC, alpha_BC)
        found.append(alpha_BC)
    return found


def log_sum_of(chain: Chain, tags_BT: Tensor) -> Tensor:
    """(B,): score(y) of these tags; ln Σ exp score over all that an unknown one, which is negative, may be."""
    real_BT = chain.real_BT
    if bool(((tags_BT < 0) & real_BT).any()):
        return log_sum(chain.only(tags_BT))
    tags_BT = tags_BT.clamp(min=0)
    of_tags_BT = chain.scores_BTC.gather(2, tags_BT[..., None])[..., 0]
    of_pairs_BT = chain.transitions_CC[tags_BT[:, :-1], tags_BT[:, 1:]]
    last_B = tags_BT.gather(1, (chain.lengths_B - 1).clamp(min=0)[:, None])[:, 0]
    return (of_tags_BT.masked_fill(~real_BT, 0.0).sum(1) + of_pairs_BT.masked_fill(~real_BT[:, 1:], 0.0).sum(1)
            + chain.first_C[tags_BT[:, 0]] + chain.last_C[last_B])


def mean_score(chain: Chain) -> Tensor:
    """(B,): the mean of score(y) over every y."""
    of_tags_B = chain.scores_BTC.mean(-1).masked_fill(~chain.real_BT, 0.0).sum(1)
    return of_tags_B + chain.first_C.mean() + chain.last_C.mean() + (chain.lengths_B - 1) * chain.transitions_CC.mean()


def best(chain: Chain) -> list[np.ndarray]:
    r"""The y of each row with the highest score: the recursion of `log_sum` with max in the place of the sum.

    Viterbi 1967, "Error bounds for convolutional codes", §IV; of equals the lowest tag.
    """
    delta_BC, came = chain.first_C + chain.scores_BTC[:, 0], []
    into_CC = chain.transitions_CC.T.contiguous()
    for t in range(1, chain.scores_BTC.shape[1]):
        top_BC, from_BC = (delta_BC[:, None, :] + into_CC).max(-1)
        inside_B1 = chain.inside(t)
        delta_BC = torch.where(inside_B1, top_BC + chain.scores_BTC[:, t], delta_BC)
        came.append(torch.where(inside_B1, from_BC, torch.arange(from_BC.shape[1], device=from_BC.device)))
    tag_B = (delta_BC + chain.last_C).argmax(-1)
    path = [tag_B]
    for from_BC in reversed(came):
        tag_B = from_BC.gather(1, tag_B[:, None])[:, 0]
        path.append(tag_B)
    tags_BT = torch.stack(path[::-1], 1).cpu().numpy()
    return [own[:length] for own, length in zip(tags_BT, chain.lengths_B.tolist(), strict=True)]
