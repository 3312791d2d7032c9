"""Multi-token prediction: further heads learn the tokens after the next, and only the first is used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import torch
from torch import Tensor, nn

from chainrule.errors import OptionError
from chainrule.parts.heads._head import IGNORED, Head
from chainrule.parts.losses import add_loss
from chainrule.parts.place import Place
from chainrule.parts.reading import Reading
from chainrule.recipe.choices import Choice, PartOf
from chainrule.recipe.registry import build, part


@part
class MultiToken(Head):
    r"""Each position also learns the tokens after the next one; what it has learned of them is only used in training.

    p(w_{t+i} | h_t) = inside(h_t + fᵢ(norm(h_t)))[w_{t+i}],  i = 2 … `tokens`
    loss = −Σ_t ln inside(h_t)[w_{t+1}] + weight · Σ_t Σ_i −ln p(w_{t+i} | h_t)

    Gloeckle, Youbi Idrissi, Rozière, Lopez-Paz & Synnaeve 2024, arXiv:2404.19737, eq. 2 and §2: heads that share the
    output matrix, here the head `inside`. Two departures: fᵢ is one feedforward (`layer`) with its norm, where the
    paper has a whole Transformer layer; and the next token has none of its own, so that scores, evaluation and
    generation are those of `inside` alone. A row's last positions have no such targets. fᵢ starts as its part says.
    """

    def __init__(self, place: Place, embedding: Any, *, tokens: int = 4, weight: float = 1.0,
                 inside: Annotated[Choice, PartOf("parts/heads")] = "tied",
                 layer: Annotated[Choice, PartOf("parts/feedforwards")] = "swiglu"):
        super().__init__()
        if tokens < 2:
            raise OptionError("MultiToken.tokens", tokens, "at least 2", "1 is the head inside alone.")
        if weight <= 0:
            raise OptionError("MultiToken.weight", weight, "more than 0")
        if not place.causal:
            raise OptionError("model.head", "multi_token", "another head here", "What reads both ways has seen the "
                              "tokens that follow.")
        self.outputs, self.share = place.outputs, weight
        self.inside: Any = build("parts/heads", inside, place, embedding)
        if self.inside.sequential or self.inside.looks_at_source or not self.inside.exclusive:
            name = inside if isinstance(inside, str) else inside["name"]
            raise OptionError("MultiToken.inside", name, "tied, untied or another with one token for each position")
        self.norms = nn.ModuleList(build("parts/norms", "rms", place) for _ in range(tokens - 1))
        self.layers = nn.ModuleList(build("parts/feedforwards", layer, place) for _ in range(tokens - 1))

    def loss(self, hidden: Tensor, targets: Tensor, *, smoothing: float = 0.0) -> Tensor:
        """Of the next tokens; that of those behind them is added as the loss of a part, in training."""
        if hidden.dim() != 3:
            raise OptionError("model.head", "multi_token", "another head here", "There is one output for a whole row.")
        self.inside.compiled, self.inside.scores_at_once = self.compiled, self.scores_at_once
        if self.training and torch.is_grad_enabled():
            lost = [self.inside.loss(own, targets[:, ahead:], smoothing=smoothing)
                    for ahead, own in self._others(hidden)]
            counted = (targets != IGNORED).sum().clamp(min=1)  # what is added counts for each target of the batch
            add_loss("multi_token", self.share * sum(lost, start=hidden.new_zeros(())) / counted)
        return self.inside.loss(hidden, targets, smoothing=smoothing)

    def further(self, hidden: Tensor) -> Tensor:
        """ln p of the tokens after the next, (…, outputs), one distance after the other: for `chainrule cost`."""
        return torch.cat([self.inside.log_probs(own) for _, own in self._others(hidden)], dim=1)

    def _others(self, hidden: Tensor) -> Iterator[tuple[int, Tensor]]:
        """h_t + f(norm(h_t)) for each distance beyond the next token, of the positions that have such a token."""
        for ahead, (norm, layer) in enumerate(zip(self.norms, self.layers, strict=True), start=1):
            seen = hidden[:, :max(0, hidden.shape[1] - ahead)]
            yield ahead, seen + layer(norm(seen), None, Reading().from_start(seen.shape[1], seen.device))[0]

    def summed(self, hidden: Tensor, targets: Tensor, smoothing: float) -> Tensor:
        return self.inside.summed(hidden, targets, smoothing)

    def log_probs(self, hidden: Tensor, never: tuple[int, ...] = ()) -> Tensor:
        return self.inside.log_probs(hidden, never)

    def decode(self, hidden: Tensor, lengths: Tensor | None = None) -> list[np.ndarray]:
        return self.inside.decode(hidden, lengths)
