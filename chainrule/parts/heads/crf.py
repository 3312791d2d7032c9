"""A linear-chain conditional random field: the tags of a sentence are chosen together."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chainrule.parts.heads import _chain
from chainrule.parts.heads._head import SequenceHead, real_lengths
from chainrule.parts.heads._softmax import precise
from chainrule.parts.place import Place
from chainrule.recipe.registry import part


@part
class CRF(SequenceHead):
    r"""Tags of a sentence are scored together: which tag a word has, and which tag follows which.

    score(y) = b_{y₁} + Σ_t (W h_t + c)_{y_t} + Σ_{t>1} A_{y_{t−1}, y_t} + e_{y_T}
    p(y | h) = exp score(y) / Z,   Z = Σ_{y′} exp score(y′),   loss = −ln p(y | h)

    Lafferty, McCallum & Pereira 2001, "Conditional random fields", §3; as an output layer Lample et al. 2016,
    arXiv:1603.01360, eq. 1–2. Z is summed by the forward algorithm, the best y found by Viterbi's; `log_probs` are
    p(y_t | h), by forward–backward. A tag that is IGNORED before the end of its row is not known: p is summed over all
    that it may be (Tsuboi et al. 2008). With smoothing ε, ε of the target is spread evenly over all y. W starts as
    N(0, deviation²), A, b, c, e at 0. Computed in float32 or better.
    """

    def __init__(self, place: Place, embedding: Any, *, deviation: float = 0.02):
        super().__init__()
        self.outputs = place.outputs
        self.weight = nn.Parameter(torch.empty(place.outputs, place.width).normal_(0.0, deviation))
        self.bias = nn.Parameter(torch.zeros(place.outputs))
        self.transitions = nn.Parameter(torch.zeros(place.outputs, place.outputs))  # from, to
        self.first = nn.Parameter(torch.zeros(place.outputs))
        self.last = nn.Parameter(torch.zeros(place.outputs))

    def loss(self, hidden: Tensor, targets: Tensor, *, smoothing: float = 0.0, lengths: Tensor | None = None) -> Tensor:
        chain = self._chain(hidden, lengths)
        all_B, wanted_B = _chain.log_sum(chain), _chain.log_sum_of(chain, targets)
        if smoothing:
            wanted_B = (1 - smoothing) * wanted_B + smoothing * _chain.mean_score(chain)
        return torch.where(chain.lengths_B > 0, all_B - wanted_B, 0).sum()

    def log_probs(self, hidden: Tensor, never: tuple[int, ...] = (), lengths: Tensor | None = None) -> Tensor:
        """(B, T, outputs): ln p(y_t | h); behind the end of a row that of its last position."""
        return _chain.log_marginals(self._chain(hidden, lengths, never))

    def decode(self, hidden: Tensor, lengths: Tensor | None = None) -> list[np.ndarray]:
        """argmax_y p(y | h) of each row."""
        with torch.no_grad():
            return _chain.best(self._chain(hidden, lengths))

    def _chain(self, hidden: Tensor, lengths: Tensor | None, never: tuple[int, ...] = ()) -> _chain.Chain:
        scores_BTC = precise(F.linear(hidden, self.weight, self.bias))
        if never:
            scores_BTC[..., list(never)] = -torch.inf
        return _chain.Chain(scores_BTC, precise(self.transitions), precise(self.first), precise(self.last),
                            real_lengths(hidden, lengths))
